"""Code that stands in for the code of a function: of which code it is, everybody asks here who reads functions.

Light: asked wherever a function's bytecode is looked at.
"""

from __future__ import annotations

import types

_PLAIN: dict[int, tuple[types.CodeType, types.CodeType]] = {}  # by the identity of what stands in


def stands_in(code: types.CodeType, plain: types.CodeType) -> None:
    """`code` does what `plain` does, and something beside it that is nobody's concern."""
    _PLAIN[id(code)] = code, plain


def plain_code(code: types.CodeType) -> types.CodeType:
    """The code that the user wrote."""
    known = _PLAIN.get(id(code))
    return code if known is None else known[1]

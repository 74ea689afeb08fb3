"""Expressions as Python evaluates them and as compiled code does: the same value, the same exception, or a refusal."""

from __future__ import annotations

import contextlib
import copy
import io
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.fuzz.stages import function_of, interpreted
from transkern.errors import NOT_HELD, TOO_LARGE, CompileError
from transkern.fuse.checks.overflow import check_integers
from transkern.fuse.passes import PASSES

CHECKED = PASSES.index(check_integers) + 1
"""The passes behind which every check stands in the program: all that these tests need, and quick."""


def function(text: str, parameters: str = "") -> Callable[..., Any]:
    """A function of an expression's text, or of the statements in it."""
    lines = text.splitlines()
    if not any(line.startswith(("return", "print")) for line in lines):
        lines[-1] = f"return {lines[-1]}"
    body = "\n".join(f"    {line}" for line in lines)
    return function_of(f"import math\nimport numpy as np\ndef f({parameters}):\n{body}\n")


def outcome(call: Callable[..., Any], *args: Any) -> tuple[str, Any]:
    """What a call gives: a described value and what it printed, or an exception's type and text."""
    printed = io.StringIO()
    args = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"), contextlib.redirect_stdout(printed):
            value = call(*args)
    except CompileError as error:
        return "refused", str(error)
    except Exception as error:
        public = next(c for c in type(error).__mro__ if not c.__module__.startswith("numpy._"))
        return public.__name__, str(error)
    return "value", (described(value), printed.getvalue(), described(args))


def described(value: Any) -> Any:
    """A value by its type, its shape and its bits."""
    match value:
        case list() | tuple():
            return type(value).__name__, [described(v) for v in value]
        case dict():
            return "dict", [(described(k), described(v)) for k, v in value.items()]
        case set() | frozenset():
            return type(value).__name__, sorted(map(described, value), key=repr)
        case deque():
            return "deque", value.maxlen, [described(v) for v in value]
        case np.ndarray() | np.generic():
            return isinstance(value, np.ndarray), value.dtype.name, np.shape(value), repr(value.tolist())
        case _ if type(value).__module__.startswith("tests."):
            return type(value).__name__, described(vars(value))
        case _:
            return type(value).__name__, repr(value)


REFUSED = (TOO_LARGE, NOT_HELD, "a power of integers beyond 64 bits, which is not compiled")
"""What Python computes with integers of any size, and compiled code refuses as it runs."""


def difference(
    text: str, parameters: str = "", args: Sequence[Any] = (), texts: bool = True, stage: int = CHECKED
) -> str:  # fmt: skip
    """How compiled code differs from Python in an expression; nothing where it does not, or refuses. With `texts`,
    exceptions agree in their texts, too."""
    plain = function(text, parameters)
    wanted, found = outcome(plain, *args), outcome(interpreted(plain, stage), *args)
    if found == wanted or found[0] == "refused" or found[1] in REFUSED:
        return ""
    if not texts and found[0] == wanted[0] != "value":
        return ""
    shown = [o[1][:2] if o[0] == "value" and found[0] != wanted[0] else o[1] for o in (found, wanted)]
    return f"{text!r}: {found[0]} {shown[0]}, not {wanted[0]} {shown[1]}"


def refused(text: str, parameters: str = "", args: Sequence[Any] = ()) -> bool:
    """Whether compiled code refuses an expression, when it is compiled or as it runs."""
    found = outcome(interpreted(function(text, parameters), CHECKED), *args)
    return found[0] == "refused" or found[1] in REFUSED

"""Whether a call of a function of NumPy's is one that NumPy takes: too many arguments, too few, or wrong names are the
TypeError that Python raises."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Collection
from typing import Any

from transkern.frontend import identity
from transkern.frontend.context import Context
from transkern.ir import build as b


def check_call(ctx: Context, path: str, count: int, names: Collection[str]) -> None:
    """That `count` positional arguments and keywords of these names fit what is written in Python at the path."""
    function = _written(path)
    if function is None:
        return
    try:
        function(*[None] * count, **dict.fromkeys(names))
    except TypeError as error:
        ctx.guard(b.FALSE, "TypeError", str(error).replace("{", "{{").replace("}", "}}"))


@functools.cache
def _written(path: str) -> Any:
    """A function that does nothing, with the name and the parameters of the one at a path; None where that is no
    function of NumPy's that is written in Python."""
    found = identity.resolved(path)
    found = getattr(found, "_implementation", found)
    if not isinstance(found, types.FunctionType) or not identity.is_numpys(found) or not path.startswith("numpy."):
        return None
    parameters = inspect.signature(found, follow_wrapped=False).parameters.values()
    plain = inspect.Signature([
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else None) for p in parameters
    ])  # fmt: skip
    space: dict[str, Any] = {}
    exec(f"def {found.__name__}{plain}: pass", space)  # Python's own words, of what is wrong with a call
    return space[found.__name__]

"""Whether a call of a function of NumPy's is one that NumPy takes: too many arguments, too few, or wrong names are the
TypeError that Python raises; and which of its parameters None may be given for."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern.frontend.sources import identity
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.context import Context


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


@functools.cache
def takes_none(name: str, parameter: str) -> bool:
    """Whether None stands for nothing given, as far as can be told: the default of the parameter of ``np.<name>``, or
    of the method of an array, is None."""
    found = identity.resolved(name.replace("np.", "numpy.", 1)) if name.startswith("np.") else None
    for function in (found, *(getattr(space, name, None) for space in (np.ndarray, np) if found is None)):
        try:
            known = inspect.signature(function).parameters.get(parameter) if callable(function) else None
        except ValueError:  # NumPy has not always had signatures of what is written in C
            continue
        if known is not None and known.default is not known.empty:
            return known.default is None
    return True

"""What stands for a function and, called, does what that function does: only where it is known what the wrapper adds.

A decorator may change arguments and results; ``functools.wraps`` says who was wrapped, and not what became of it. So a
wrapper that is written in Python is a function of its own, which is compiled as it is written. Light: asked when a
function is decorated.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

_CACHES = (type(functools.lru_cache(lambda: None)),)


def same_function(value: Any) -> Any | None:
    """The function that `value` calls with the same arguments, and whose result it gives; None where it is no such
    wrapper. What `is_cache` tells is true of caches besides."""
    if is_cache(value):
        return value.__wrapped__
    if isinstance(value, types.FunctionType):
        return _with_error_state(value)
    ours = sys.modules.get("transkern.runtime.compiled")
    if ours is not None and isinstance(value, ours.Compiled):
        return value.function
    if str(type(value).__module__).startswith("numba.") and isinstance(
        getattr(value, "py_func", None), types.FunctionType
    ):
        return value.py_func
    return None


def is_cache(value: Any) -> bool:
    """``functools.lru_cache`` and ``cache``: a result is computed once, and handed out again and again."""
    return isinstance(value, _CACHES)


def is_cached(value: Any) -> bool:
    """Whether a cache is between a call of `value` and its function."""
    inner = same_function(value)
    return is_cache(value) or (inner is not None and is_cached(inner))


def written_function(value: Any) -> Any:
    """The function that is compiled for `value`: itself, or the one that it only wraps."""
    inner = same_function(value)
    return value if inner is None else written_function(inner)


def _with_error_state(value: types.FunctionType) -> Any | None:
    """The function under ``@np.errstate(all="ignore")``, where it says no more than which warnings there are."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or value.__code__ not in numpy.errstate.__call__.__code__.co_consts:
        return None
    held = dict(zip(value.__code__.co_freevars, (c.cell_contents for c in value.__closure__ or ()), strict=True))
    modes = [getattr(held["self"], name, None) for name in numpy.errstate.__slots__]
    return None if any(mode in ("raise", "call", "print", "log") for mode in modes) else held["func"]

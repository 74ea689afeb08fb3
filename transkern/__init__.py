"""transkern: plain NumPy functions to kernels for the CPU, CUDA and Pallas, with NumPy's exact answer.

@transkern.compile
def f(x, a, b):
    return 1 / (1 + np.exp(-x)) * a + b
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, overload

from transkern.errors import (
    BuildError,
    CompileError,
    InternalError,
    TargetUnavailable,
    TranskernError,
    TypesNeeded,
    VerificationError,
)  # fmt: skip
from transkern.runtime.compiled import Compiled
from transkern.runtime.disabling import disable, enable
from transkern.targets.cpu.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"
__all__ = [
    "BuildError", "CompileError", "Compiled", "InternalError", "TargetUnavailable", "TranskernError", "TypesNeeded",
    "VerificationError", "compile", "disable", "enable", "get_num_threads", "set_num_threads",
]  # fmt: skip


@overload
def compile(function: Callable[..., Any], /, **options: Any) -> Compiled: ...
@overload
def compile(
    function: None = None, /, *, target: str = "auto", types: str | None = None, fallback: str | None = None,
    allow_float32: bool = False, verify: bool = False, boundscheck: bool = True, fastmath: bool = False,
    warnings: str | None = None, threads: int | None = None,
) -> Callable[[Callable[..., Any]], Compiled]: ...  # fmt: skip
def compile(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a plain NumPy function; `function` may be left out to use this as a decorator with options.

    `target` is ``auto`` (cuda where there is a device, else cpu), ``cpu``, ``cuda`` or ``pallas``. `types` gives the
    argument types that `emit` and `explain` use before the first call. With ``fallback="numpy"`` a function that cannot
    be compiled runs in NumPy, and says so once. `allow_float32` lets a target without float64 compute in float32. With
    `verify`, the first call with new types also runs NumPy, on copies, and raises VerificationError where they differ.
    Without `boundscheck` subscripts are not checked, and those outside an array are undefined; `fastmath` lets loops
    add up in any order, and products be fused with sums. With ``warnings="numpy"`` (on the CPU) NumPy's RuntimeWarnings
    come as well, at the price of copies of the arguments and of a second run where there is something to warn of.
    `threads` is how many threads a kernel on the CPU may have at most (`set_num_threads`: all functions together).

    Returns a `Compiled` object; compilation happens at the first call with new types and raises CompileError there.
    """
    for name in options.keys() - (Compiled.__init__.__kwdefaults__ or {}).keys():
        raise TypeError(f"compile() got an unexpected keyword argument {name!r}")
    if function is None:
        return lambda f: _compiled(f, options)
    return _compiled(function, options)


def _compiled(function: Any, options: dict[str, Any]) -> Any:
    """What is compiled of a function; a method stays one of its object or class."""
    match function:
        case staticmethod() | classmethod():
            return type(function)(Compiled(function.__func__, **options))
        case MethodType():
            return MethodType(Compiled(function.__func__, **options), function.__self__)
        case _:
            return Compiled(function, **options)

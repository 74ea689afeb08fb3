"""transkern: plain NumPy functions to kernels for the CPU, CUDA and Pallas, with NumPy's exact answer.

@transkern.compile
def f(x, a, b):
    return 1 / (1 + np.exp(-x)) * a + b
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any, overload

from transkern.version import __version__ as __version__

if TYPE_CHECKING:
    from transkern.dropin.sessions import Session
    from transkern.errors import (
        BuildError,
        CompileError,
        InternalError,
        PerformanceWarning,
        TargetUnavailable,
        TranskernError,
        TypesNeeded,
        VerificationError,
    )  # fmt: skip
    from transkern.runtime.caching.ahead import Warmed
    from transkern.runtime.compiled import Compiled
    from transkern.runtime.disabling import disable, enable
    from transkern.targets.cpu.threads import get_num_threads, set_num_threads

__all__ = [
    "BuildError", "CompileError", "Compiled", "InternalError", "PerformanceWarning", "TargetUnavailable",
    "TranskernError", "TypesNeeded", "VerificationError", "compile", "disable", "enable", "get_num_threads", "install",
    "session", "set_num_threads", "warm",
]  # fmt: skip

_ERRORS = ("Error", "Warning", "Needed", "Unavailable")
_HOMES = {
    **dict.fromkeys([name for name in __all__ if name.endswith(_ERRORS)], "errors"),
    "Compiled": "runtime.compiled", "disable": "runtime.disabling", "enable": "runtime.disabling",
    "get_num_threads": "targets.cpu.threads", "set_num_threads": "targets.cpu.threads",
}  # fmt: skip
"""Where the names are. They are loaded when they are asked for: `transkern run` begins here, and a script that never
needs compiled code is not to wait for what it would need, nor for NumPy."""


def __getattr__(name: str) -> Any:
    if name == "errors":  # which has always been there with the package
        return importlib.import_module("transkern.errors")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"transkern.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


@overload
def compile(function: Callable[..., Any], /, **options: Any) -> Compiled: ...
@overload
def compile(
    function: None = None, /, *, target: str = "auto", types: str | None = None, fallback: str | None = None,
    allow_float32: bool = False, verify: bool = False, boundscheck: bool = True, fastmath: bool = False,
    warnings: str | None = None, threads: int | None = None, profile: bool = False, advice: bool = False,
) -> Callable[[Callable[..., Any]], Compiled]: ...  # fmt: skip
def compile(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a plain NumPy function; `function` may be left out to use this as a decorator with options.

    - `target`: ``auto`` (cuda where there is a device, else cpu), ``cpu``, ``cuda`` or ``pallas``.
    - `types`: the argument types that `emit` and `explain` use before the first call.
    - `fallback`: with ``"numpy"`` what cannot be compiled runs in Python, the parts between are compiled, and that is
      said once.
    - `allow_float32`: a target without float64 computes in float32.
    - `verify`: the first call with new types also runs NumPy, on copies; VerificationError where they differ.
    - `boundscheck`: without it subscripts are not checked, and those outside an array are undefined.
    - `fastmath`: loops may add up in any order, and products are fused with sums.
    - `warnings`: with ``"numpy"`` (on the CPU) NumPy's RuntimeWarnings come as well, at the price of copies of the
      arguments and of a second run where there is something to warn of.
    - `profile`: calls are measured, on the CPU: `Compiled.profile` tells what each kernel and line has taken.
    - `advice`: a PerformanceWarning says what compiles and disappoints: float32 that becomes float64, loops that stay
      in order, copies to a device at each call, code slower than NumPy. Or TRANSKERN_ADVICE=1 in the environment.
    - `threads`: how many threads a kernel on the CPU may have at most (`set_num_threads`: all functions together).

    Returns a `Compiled` object; compilation happens at the first call with new types and raises CompileError there.
    """
    from transkern.runtime.compiled import Compiled

    for name in options.keys() - (Compiled.__init__.__kwdefaults__ or {}).keys():
        raise TypeError(f"compile() got an unexpected keyword argument {name!r}")
    if function is None:
        return lambda f: _compiled(f, options)
    return _compiled(function, options)


def _compiled(function: Any, options: dict[str, Any]) -> Any:
    """What is compiled of a function; a method stays one of its object or class."""
    from transkern.runtime.compiled import Compiled

    match function:
        case staticmethod() | classmethod():
            return type(function)(Compiled(function.__func__, **options))
        case MethodType():
            return MethodType(Compiled(function.__func__, **options), function.__self__)
        case _:
            return Compiled(function, **options)


def warm(*functions: Compiled) -> list[Warmed]:
    """Compile functions before they are called, side by side; without any, all that the calling module defines.

    For the types that earlier runs have compiled them for, else for those that ``types=`` or annotations state; code on
    disk is loaded. Returns what became of each, by function and types (`Warmed`); nothing is raised for what cannot be
    compiled, its call will do that.
    """
    from transkern.runtime.caching import ahead
    from transkern.runtime.compiled import Compiled

    if not functions:
        space = sys._getframe(1).f_globals
        functions = tuple(ahead.compiled_in(Compiled, space, space["__name__"]))
    return ahead.warm(functions)


def install(*modules: ModuleType, target: str = "auto", eager: bool = False) -> Session:
    """Compile functions of `modules` when they are called, where that pays; without any, those of the calling module.

    Functions stay the objects that they are, and what stays in Python runs as ever (docs/run.md). Of a package, the
    functions of all that has been imported of it are meant. With `eager`, what can be compiled is at its first call.
    Returns a session: ``report()`` prints what became of each function, ``close()`` makes them as they were.
    """
    from transkern.dropin import sessions

    return sessions.install(*(modules or (_module_of(sys._getframe(1).f_globals),)), target=target, eager=eager)


def session(
    *modules: ModuleType, target: str = "auto", eager: bool = False, report: bool = False
) -> AbstractContextManager[Session]:
    """`install` for what is done inside a ``with``; with `report`, the table comes at its end, on stderr."""
    from transkern.dropin import sessions

    modules = modules or (_module_of(sys._getframe(1).f_globals),)
    return sessions.session(*modules, target=target, eager=eager, report=report)


def _module_of(space: dict[str, Any]) -> ModuleType:
    return sys.modules[space["__name__"]]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext transkern``: functions of each cell are compiled when they are called, where that pays, and with
    ``%%transkern`` above a cell in any case (docs/howto/notebook.md)."""
    from transkern.dropin.cells import Cells

    shell.user_ns["transkern_session"] = (made := Cells(shell)).session
    _cells.append(made)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext transkern``: functions are as they were."""
    while _cells:
        _cells.pop().close()


_cells: list[Any] = []

"""Functions that exist already, of a module, a package or a notebook, compiled when they are called."""

from __future__ import annotations

import atexit
import contextlib
import linecache
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transkern.dropin import remembered, rewriting
from transkern.standing_in import plain_code
from transkern.targets.table import TARGETS


class Session:
    """Functions that ask at each call whether compiled code takes it (docs/run.md), until `close`."""

    def __init__(self, target: str = "auto", eager: bool = False) -> None:
        if target not in (*TARGETS, "auto"):
            raise ValueError(f"target must be one of auto, {', '.join(TARGETS)}, not {target!r}")
        self.watch, self._memory = remembered.watch(target, True, eager)

    def add(self, *modules: types.ModuleType) -> int:
        """Functions of modules that ask from now on; of packages, those of all that has been imported of them. How many
        there are."""
        roots = tuple(module.__name__ + "." for module in modules)
        parts = [m for name, m in list(sys.modules.items()) if name.startswith(roots)]
        known = [m for m in (*modules, *parts) if isinstance(m, types.ModuleType)]
        return self.add_functions(f for m in known for f in functions_of(vars(m), m.__name__))

    def add_functions(self, functions: Iterable[types.FunctionType]) -> int:
        """The same of functions; those whose text is not found stay as they are."""
        files: dict[str, list[types.FunctionType]] = {}
        for function in functions:
            if plain_code(function.__code__) is function.__code__:
                files.setdefault(function.__code__.co_filename, []).append(function)
        count = 0
        for file, found in files.items():
            lines = linecache.getlines(file, found[0].__globals__)
            with contextlib.suppress(SyntaxError, ValueError, RecursionError):
                count += self._add(file, "".join(lines), found)
        return count

    def _add(self, file: str, text: str, functions: Iterable[types.FunctionType]) -> int:
        codes = rewriting.standing_in(text, file, self.watch.hooks)
        count = len(codes)
        for function in functions:
            if function.__code__ in codes:
                function.__code__, one = codes.pop(function.__code__)
                one.made(function)
        return count - len(codes)

    def report(self) -> None:
        """The table of functions that have been called, on stderr: times in Python and compiled, and what became of
        each."""
        from transkern.dropin.reporting import table

        table(self.watch)

    def close(self) -> None:
        """All functions are as they were; what has been found out is kept for the next time."""
        self._memory.keep(self.watch.functions)
        for one in self.watch.functions:
            one.restore()


def install(*modules: types.ModuleType, target: str = "auto", eager: bool = False) -> Session:
    """`transkern.install`, of given modules."""
    made = Session(target, eager)
    made.add(*modules)
    atexit.register(made.close)
    return made


@contextmanager
def session(
    *modules: types.ModuleType, target: str = "auto", eager: bool = False, report: bool = False
) -> Iterator[Session]:
    """`transkern.session`, of given modules."""
    made = Session(target, eager)
    made.add(*modules)
    try:
        yield made
    finally:
        if report:
            made.report()
        made.close()


def functions_of(space: Mapping[str, Any], module: str) -> Iterator[types.FunctionType]:
    """The functions of a module, and those of its classes, in what wraps them."""
    for value in list(space.values()):
        for inner in _inside(value):
            if getattr(inner, "__module__", None) != module:
                continue
            if isinstance(inner, types.FunctionType):
                yield inner
            elif isinstance(inner, type):
                yield from functions_of(vars(inner), module)


def _inside(value: Any) -> Iterator[Any]:
    """A value, what a property, method or decorator has in it, and so on."""
    for _ in range(_WRAPPERS):
        yield value
        if isinstance(value, type):
            return
        found = (getattr(value, name, None) for name in ("__func__", "fget", "__wrapped__"))
        value = next((one for one in found if one is not None), None)
        if value is None:
            return


_WRAPPERS = 4  # around one function

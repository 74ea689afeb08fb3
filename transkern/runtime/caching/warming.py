"""``transkern cache warm``: the functions of a file or module, compiled in several processes.

Code is found by the live function and all that it depends on, so the module is imported, here and in each process; each
takes the next function when it has done with one, and what it has made is in the disk cache.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import multiprocessing
import os
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from transkern import refusals
from transkern.dropin.recording import read
from transkern.errors import BuildError, CompileError, TypesNeeded
from transkern.frontend.values.types import parse_signature
from transkern.runtime.caching.ahead import Task, Types, Warmed, compiled_in, done, tasks
from transkern.runtime.compiled import Compiled


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be compiled: the functions of the file or module `source` that are decorated, and those with `types`
    or types of a run that is `recorded`; the latter two on `target`, where they are not decorated."""

    source: str
    types: tuple[str, ...] = ()
    recorded: Path | None = None
    target: str = "auto"


def warmed(wanted: Wanted, processes: int, told: Callable[[int, int], None]) -> Iterator[Warmed]:
    """Compiles them in so many processes at most; what became of each, as they are done. `told` hears how many are, and
    of how many.

    Raises CompileError or TypesNeeded where there is no such module, function or type; BuildError where a process is
    killed; what the module raises itself.
    """
    functions = _functions(wanted)
    given = _given(wanted)
    waiting = [task for name in sorted(functions) for task in tasks(functions[name], given.get(name, ()))]
    count = len(waiting)
    told(0, count)
    if min(processes, count) <= 1:
        for k, task in enumerate(waiting):
            yield done(functions[task.name], task)
            told(k + 1, count)
        return
    context = multiprocessing.get_context("spawn")  # not a copy of this one, whose modules may have threads
    try:
        with ProcessPoolExecutor(min(processes, count), context, _begin, (wanted, list(sys.path))) as pool:
            for k, one in enumerate(as_completed([pool.submit(_do, task) for task in waiting])):
                yield one.result()
                told(k + 1, count)
    except BrokenProcessPool:
        raise BuildError("one of the processes that compile has ended; `--jobs 1` compiles in this one") from None


_own: dict[str, Compiled] = {}  # of a process that `warmed` has started


def _begin(wanted: Wanted, path: list[str]) -> None:
    sys.path[:] = path
    _own.update(_functions(wanted))


def _do(task: Task) -> Warmed:
    return done(_own[task.name], task)


def _functions(wanted: Wanted) -> dict[str, Compiled]:
    """The functions that are meant, by name."""
    module = _imported(wanted.source)
    known = {one.function.__qualname__: one for one in compiled_in(Compiled, vars(module), module.__name__)}
    return known | {name: _plain(module, name, wanted.target) for name in _given(wanted).keys() - known.keys()}


def _given(wanted: Wanted) -> Mapping[str, Sequence[Types]]:
    """The types that are given for some, of the module that has been imported."""
    given: dict[str, list[Types]] = defaultdict(list)
    for name, found in map(parse_signature, wanted.types):
        given[name].append(found)
    file = getattr(_imported(wanted.source), "__file__", None)
    if wanted.recorded is not None and file:
        for name, texts in read(wanted.recorded).get(os.path.realpath(file), {}).items():
            given[name].append(parse_signature(f"({', '.join(texts)})")[1])
    return given


def _plain(module: types.ModuleType, name: str, target: str) -> Compiled:
    """A function that is not decorated."""
    if not name:
        raise TypesNeeded("the types need the function's name in front: 'nms(float32[n,4], float32[n])'")
    found = getattr(module, name, None)
    if not isinstance(found, types.FunctionType):
        raise CompileError(refusals.WHICH_FUNCTION, f"{module.__name__} has no function `{name}`", "see its text")
    return Compiled(found, target=target)


@functools.cache
def _imported(source: str) -> types.ModuleType:
    """A module by its name, or by its file as `import` would have it from the file's folder."""
    path = Path(source)
    if path.suffix != ".py" and not path.is_file():
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise
            raise _none(f"there is no file or module {source!r}") from None
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None or not path.is_file():
        raise _none(f"{source} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _none(problem: str) -> CompileError:
    return CompileError(refusals.UNREADABLE, problem, "give the path of a file, or a name as `import` has it")

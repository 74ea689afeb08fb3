"""``transkern cache warm``: the functions of a file or module, compiled in several processes.

Code is found by a function's bytecode and all that it depends on. These are read from the file's text (`from_text`), or
are what an import makes of it, where that is asked for; here and in each process. Each takes the next function when it
has done with one, and what it has made is in the disk cache.
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
from transkern.runtime.caching.from_text import Text
from transkern.runtime.compiled import Compiled


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be compiled: the functions of the file or module `source` that are decorated, and those with `types`
    or types of a run that is `recorded`; the latter two on `target`, where they are not decorated. `imports`: whether
    it is imported; else it is a file."""

    source: str
    types: tuple[str, ...] = ()
    recorded: Path | None = None
    target: str = "auto"
    imports: bool = False


def warmed(wanted: Wanted, processes: int, told: Callable[[int, int], None]) -> Iterator[Warmed]:
    """Compiles them in so many processes at most; what became of each, as they are done. `told` hears how many are, and
    of how many.

    Raises CompileError or TypesNeeded where there is no such module, function or type; BuildError where a process is
    killed; what the module raises itself.
    """
    functions, unknown = _functions(wanted)
    given = _given(wanted)
    yield from unknown
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
    _own.update(_functions(wanted)[0])


def _do(task: Task) -> Warmed:
    return done(_own[task.name], task)


def _functions(wanted: Wanted) -> tuple[dict[str, Compiled], list[Warmed]]:
    """The functions that are meant, by name, and those that only an import would tell."""
    if wanted.imports:
        module = _imported(wanted.source)
        known = {one.function.__qualname__: one for one in compiled_in(Compiled, vars(module), module.__name__)}
        more = {name: _plain(module, name, wanted.target) for name in _given(wanted).keys() - known.keys()}
        return known | more, []
    text, found, unknown = Text(Path(wanted.source)), {}, []
    for name in dict.fromkeys([*text.decorated(), *_given(wanted)]):
        if not name:
            raise _nameless()
        try:
            found[name] = text.compiled(name, wanted.target)
        except CompileError as error:
            if error.kind is refusals.WHICH_FUNCTION:
                raise
            unknown.append(Warmed(name, "", wanted.target, problem=f"{error.problem}; {error.help}"))
    return found, unknown


def _given(wanted: Wanted) -> Mapping[str, Sequence[Types]]:
    """The types that are given for some."""
    given: dict[str, list[Types]] = defaultdict(list)
    for name, found in map(parse_signature, wanted.types):
        given[name].append(found)
    file = getattr(_imported(wanted.source), "__file__", None) if wanted.imports else wanted.source
    if wanted.recorded is not None and file:
        for name, texts in read(wanted.recorded).get(os.path.realpath(file), {}).items():
            given[name].append(parse_signature(f"({', '.join(texts)})")[1])
    return given


def _nameless() -> TypesNeeded:
    return TypesNeeded("the types need the function's name in front: 'nms(float32[n,4], float32[n])'")


def _plain(module: types.ModuleType, name: str, target: str) -> Compiled:
    """A function that is not decorated."""
    if not name:
        raise _nameless()
    found = getattr(module, name, None)
    if not isinstance(found, types.FunctionType):
        problem = f"{module.__name__} has no function `{name}`"
        raise CompileError(refusals.WHICH_FUNCTION, problem, "name one that it has")
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

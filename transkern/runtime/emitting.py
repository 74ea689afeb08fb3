"""What the command line asks of a file: emitted texts, the program after a pass, explanations.

The file is read as text; nothing of it is imported or run.
"""

from __future__ import annotations

import ast
import importlib.machinery
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from transkern import limits, pipeline, refusals
from transkern.analysis.reports.picture import dot
from transkern.debug.timing import Timings
from transkern.errors import CompileError, NeedsConstant, TypesNeeded
from transkern.frontend.refused import with_others
from transkern.frontend.sources.annotations import types_from_annotations, with_defaults
from transkern.frontend.sources.decorators import check_entry, is_ours
from transkern.frontend.sources.source import span_of
from transkern.frontend.sources.texts import TextScope, read_module
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.types import ArgType, parse_signature
from transkern.frontend.values.values import Function
from transkern.fuse.passes import BEFORE_LOOPS
from transkern.ir.printer import program
from transkern.options import DEFAULT, Options
from transkern.runtime import profiling
from transkern.runtime.caching.building import explained, program_texts
from transkern.runtime.calls.stated import types_help
from transkern.runtime.page import page
from transkern.runtime.profiling import Profile


def _function(scope: TextScope, name: str | None, types: str | None) -> Function:
    if name is None and types:
        name = parse_signature(types)[0] or None
    if name is None:
        decorated = [f for f in scope.functions() if is_decorated(scope.function(f))]
        candidates = decorated or scope.functions()
        if len(candidates) != 1:
            raise which(scope.file, candidates)
        name = candidates[0]
    function = scope.function(name)
    check_entry(function, scope)
    return function


def which(file: str, functions: Iterable[str]) -> CompileError:
    """The error for a file whose function nobody named, or none of these."""
    known = ", ".join(functions) or "none"
    problem = f"{file}: which function? It has: {known}"
    return CompileError(refusals.WHICH_FUNCTION, problem, "choose one with --function NAME")


def is_decorated(function: Function) -> bool:
    """Whether one of transkern's decorators stands above a function."""
    return any(map(is_ours, getattr(function.node, "decorator_list", [])))


def _decorator_types(function: Function) -> str | None:
    """``@transkern.compile(types='…')``."""
    for decorator in getattr(function.node, "decorator_list", []):
        if isinstance(decorator, ast.Call) and is_ours(decorator.func):
            for keyword in decorator.keywords:
                if keyword.arg == "types" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return None


def stated_types(function: Function) -> tuple[ArgType, ...] | None:
    """The types that a function's decorator or its annotations state, or None."""
    text = _decorator_types(function)
    return types_from_annotations(function) if text is None else with_defaults(function, parse_signature(text)[1])


def types_for(function: Function, types: str | None) -> tuple[ArgType, ...]:
    """The types that are given, else those that the function states. Raises TypesNeeded where there are none."""
    found = stated_types(function) if types is None else with_defaults(function, parse_signature(types)[1])
    if found is None:
        raise TypesNeeded(types_help(function.name, parameter_names(function.node)))
    return found


def _read(path: Path, name: str | None, types: str | None) -> tuple[Function, AbstractContextManager[None]]:
    """A function of a file, and its compilation."""
    function = _function(read_module(path), name, types)
    return function, _compilation(function)


def _compilation(function: Function) -> AbstractContextManager[None]:
    return limits.compilation(function.name, span_of(function.node, function.scope.file), function.scope.lines)


def _specialised(function: Function, types: str | None, target: str = "cpu", lends: bool = True) -> Any:
    return specialised(function, types_for(function, types), target, lends)


def specialised(function: Function, types: tuple[ArgType, ...], target: str = "cpu", lends: bool = False) -> Any:
    """The program of a function for such arguments. Raises CompileError, with all that is in the way."""
    try:
        return pipeline.translated(function, types, target, lends=lends)
    except NeedsConstant as need:
        raise need.problem from None
    except CompileError as error:
        raise with_others(lambda left_out: pipeline.translated(function, types, target, left_out), error) from None


def emit_files(
    path: Path, function: str | None, target: str, types: str | None, options: Options = DEFAULT,
    timings: Timings | None = None,
) -> dict[str, str]:  # fmt: skip
    """The files of a function on a target: names and texts. `timings` hears how long each stage took."""
    asked, timings = timings is not None, timings or Timings()
    with timings.of("reading the file"):
        read, compilation = _read(path, function, types)
    with compilation:
        with timings.of("front end"):
            program = pipeline.with_options(_specialised(read, types, target, lends=False), options)
        with timings.of("loading the passes"):
            passes = pipeline.passes_for(target)
        timings.begin(program)
        program = pipeline.run(program, passes, timings.after if asked else None)
        with timings.of("printing, with what it loads"):
            return program_texts(program, target, options.allow_float32, read)


def write_files(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files into a folder, each whole; where they are. CompileError where Python would import another one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in texts:
        path = folder / name
        suffixes = importlib.machinery.EXTENSION_SUFFIXES if path.suffix == ".py" else []
        hiding = [path.with_suffix(""), *(path.with_suffix(suffix) for suffix in suffixes)]
        for other in hiding:
            if other.is_file() if other.suffix else (other / "__init__.py").is_file():
                problem = f"`import {path.stem}` would find {other}, and not {path}"
                raise CompileError(refusals.OPTIONS, problem, f"remove {other}")
    for name, text in texts.items():
        part = folder / f".{name}.{secrets.token_hex(4)}"
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)  # at once: who reads it never sees half of it
        finally:
            part.unlink(missing_ok=True)
    return [folder / name for name in texts]


_NORMAL, _SCHEDULE = "normal", "schedule"
"""What `print_after` takes beside passes: the program before decisions, and with all of them."""


def pass_names(target: str = "cpu") -> list[str]:
    """What `print_after` takes."""
    names = dict.fromkeys(["frontend", *(p.__name__ for p in pipeline.passes_for(target))])
    return [*names, _NORMAL, _SCHEDULE]


def print_after(path: Path, function: str | None, types: str | None, pass_name: str, target: str = "cpu") -> str:
    """The program as it is after a pass (the last of that name)."""
    if pass_name not in pass_names(target):
        known = ", ".join(pass_names(target))
        raise CompileError(refusals.OPTIONS, f"there is no pass `{pass_name}`", f"passes: {known}")
    passes, seen = pipeline.passes_for(target), dict[str, str]()
    last = {BEFORE_LOOPS[-1].__name__: _NORMAL, passes[-1].__name__: _SCHEDULE}

    def after(name: str, made: Any) -> None:
        seen[name] = program(made)
        if name in last:
            seen[last[name]] = seen[name]

    read, compilation = _read(path, function, types)
    with compilation:
        made = _specialised(read, types, target)
        after("frontend", made)
        pipeline.run(made, passes, after)
    return seen[pass_name]


def explain_text(
    path: Path, function: str | None, types: str | None, target: str = "cpu", profile: Path | None = None
) -> str:
    """What became of a function, against its lines; with a `profile` of a run, what its calls took there."""
    measured = [] if profile is None else profiling.of_function(profile, path, function)
    function, types = _as_measured(measured, function, types)
    read, compilation = _read(path, function, types)
    with compilation:
        told = explained(_specialised(read, types, target), target)
    return "\n".join([told, *(f"{one}\n{one.beside(read.scope.lines)}" for one in measured)])


def _as_measured(
    measured: Sequence[Profile], function: str | None, types: str | None
) -> tuple[str | None, str | None]:
    """The function and the types that are meant: those of the slowest profile where nobody says others."""
    if not measured:
        return function, types
    return measured[0].name, types or f"({measured[0].types})"


def html_page(
    path: Path, function: str | None, types: str | None, target: str = "cpu", profile: Path | None = None
) -> str:
    """The same as a page, beside the text and the code of a target; times stand beside the lines of the source."""
    measured = [] if profile is None else profiling.of_function(profile, path, function)
    function, types = _as_measured(measured, function, types)
    read, compilation = _read(path, function, types)
    with compilation:
        told = explained(_specialised(read, types, target), target)
    made = emit_files(path, read.name, target, types)
    shown = {name: text for name, text in made.items() if target == "pallas" or not name.endswith(".py")}
    return page(read.node, read.scope.lines, "\n".join([told, *map(str, measured)]), shown, measured[:1])


def dot_text(path: Path, function: str | None, types: str | None) -> str:
    """The statements of a function's loops and their dependences, for graphviz."""
    read, compilation = _read(path, function, types)
    with compilation:
        return dot(pipeline.run(_specialised(read, types), BEFORE_LOOPS))

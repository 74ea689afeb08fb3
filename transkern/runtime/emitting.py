"""What the command line asks of a file: emitted texts, the program after a pass, explanations, what would compile.

The file is read as text; nothing of it is imported or run.
"""

from __future__ import annotations

import ast
import importlib.machinery
import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from transkern import limits, pipeline
from transkern.errors import CompileError, InternalError, NeedsConstant, TypesNeeded
from transkern.frontend.annotations import types_from_annotations
from transkern.frontend.decorators import check_entry
from transkern.frontend.source import TextScope, read_module, span_of
from transkern.frontend.specialise import specialise
from transkern.frontend.syntax import parameter_names
from transkern.frontend.types import ArgType, parse_signature
from transkern.frontend.values import Function
from transkern.ir.printer import program
from transkern.options import DEFAULT, Options
from transkern.runtime.building import explained, program_texts
from transkern.runtime.compiled import types_help


def _function(scope: TextScope, name: str | None, types: str | None) -> Function:
    if name is None and types:
        name = parse_signature(types)[0] or None
    if name is None:
        decorated = [f for f in scope.functions() if _is_decorated(scope, f)]
        candidates = decorated or scope.functions()
        if len(candidates) != 1:
            known = ", ".join(candidates) or "none"
            raise CompileError(f"{scope.file}: which function? It has: {known}", "choose one with --function NAME")
        name = candidates[0]
    function = scope.function(name)
    check_entry(function, scope)
    return function


def _is_decorated(scope: TextScope, name: str) -> bool:
    return any(map(_is_ours, scope.function(name).node.decorator_list))  # type: ignore[union-attr]


def _is_ours(decorator: ast.expr) -> bool:
    """Whether a decorator names transkern."""
    return any(isinstance(x, ast.Name) and "transkern" in x.id for x in ast.walk(decorator))


def _decorator_types(function: Function) -> str | None:
    """``@transkern.compile(types='…')``."""
    for decorator in getattr(function.node, "decorator_list", []):
        if isinstance(decorator, ast.Call) and _is_ours(decorator.func):
            for keyword in decorator.keywords:
                if keyword.arg == "types" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return None


def _types(function: Function, types: str | None) -> tuple[ArgType, ...]:
    text = types or _decorator_types(function)
    if text is not None:
        return parse_signature(text)[1]
    found = types_from_annotations(function)
    if found is None:
        raise TypesNeeded(types_help(function.name, parameter_names(function.node)))
    return found


def _read(path: Path, name: str | None, types: str | None) -> tuple[Function, AbstractContextManager[None]]:
    """A function of a file, and its compilation."""
    function = _function(read_module(path), name, types)
    return function, _compilation(function)


def _compilation(function: Function) -> AbstractContextManager[None]:
    return limits.compilation(function.name, span_of(function.node, function.scope.file), function.scope.lines)


def _specialised(function: Function, types: str | None, target: str = "cpu") -> Any:
    try:
        return specialise(function, _types(function, types), target == "cpu")
    except NeedsConstant as need:
        raise need.problem from None


def emit_files(
    path: Path, function: str | None, target: str, types: str | None, options: Options = DEFAULT
) -> dict[str, str]:
    """The files of a function on a target: names and texts."""
    read, compilation = _read(path, function, types)
    with compilation:
        program = pipeline.with_options(_specialised(read, types, target), options)
        return program_texts(pipeline.run(program, pipeline.passes_for(target)), target, options.allow_float32, read)


def write_files(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files into a folder, each whole; where they are. CompileError where Python would import another one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in texts:
        path = folder / name
        suffixes = importlib.machinery.EXTENSION_SUFFIXES if path.suffix == ".py" else []
        hiding = [path.with_suffix(""), *(path.with_suffix(suffix) for suffix in suffixes)]
        for other in hiding:
            if other.is_file() if other.suffix else (other / "__init__.py").is_file():
                raise CompileError(f"`import {path.stem}` would find {other}, and not {path}", f"remove {other}")
    for name, text in texts.items():
        part = folder / f".{name}.{secrets.token_hex(4)}"
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)  # at once: who reads it never sees half of it
        finally:
            part.unlink(missing_ok=True)
    return [folder / name for name in texts]


def pass_names(target: str = "cpu") -> list[str]:
    """What `print_after` takes."""
    return list(dict.fromkeys(["frontend", *(p.__name__ for p in pipeline.passes_for(target))]))


def print_after(path: Path, function: str | None, types: str | None, pass_name: str, target: str = "cpu") -> str:
    """The program as it is after a pass (the last of that name)."""
    if pass_name not in pass_names(target):
        raise CompileError(f"there is no pass `{pass_name}`", f"passes: {', '.join(pass_names(target))}")
    seen: dict[str, str] = {}

    def after(name: str, made: Any) -> None:
        seen[name] = program(made)

    read, compilation = _read(path, function, types)
    with compilation:
        made = _specialised(read, types, target)
        after("frontend", made)
        pipeline.run(made, pipeline.passes_for(target), after)
    return seen[pass_name]


def explain_text(path: Path, function: str | None, types: str | None) -> str:
    """What became of a function, against its lines."""
    read, compilation = _read(path, function, types)
    with compilation:
        return explained(_specialised(read, types))


def dot_text(path: Path, function: str | None, types: str | None) -> str:
    """The statements of a function's loops and their dependences, for graphviz."""
    from transkern.analysis.picture import dot

    read, compilation = _read(path, function, types)
    with compilation:
        return dot(pipeline.run(_specialised(read, types), pipeline.BEFORE_LOOPS))


def check_file(path: Path, within: Path | None = None) -> list[tuple[str, bool, str]]:
    """For each function of a file: its name, whether it would compile, and the message where it would not.

    A function without known types counts as compiling where its translation needs none to fail: the message says that
    types are missing. `within` is the folder that a file was found in which nobody has named.
    """
    scope = read_module(path, within)
    return [(name, *_checked(scope, scope.function(name))) for name in scope.functions()]


def _checked(scope: TextScope, function: Function) -> tuple[bool, str]:
    if not parameter_names(function.node):  # a script's `main`: nothing that would be compiled by itself
        return True, "takes no arguments: not checked"
    try:
        with _compilation(function):
            check_entry(function, scope)
            pipeline.run(specialise(function, _types(function, None)))
    except TypesNeeded:
        return True, "types not known: give them as annotations to have it checked"
    except NeedsConstant as need:
        return False, str(need.problem)
    except CompileError as error:
        return False, str(error)
    except Exception as error:  # ours: the other functions are still to be checked
        at = span_of(function.node, function.scope.file)
        wrong = InternalError.of(error, function.name, at, function.scope.lines)
        return False, str(error if isinstance(error, InternalError) else wrong)
    return True, ""

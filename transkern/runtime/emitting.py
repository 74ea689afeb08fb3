"""What the command line asks of a file: emitted texts, the program after a pass, explanations, what would compile.

The file is read as text; nothing of it is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transkern import pipeline
from transkern.errors import CompileError, NeedsConstant, TypesNeeded
from transkern.frontend.source import TextScope, read_module
from transkern.frontend.specialise import parameter_names, specialise
from transkern.frontend.types import ArgType, parse_signature, types_from_annotations
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
    return scope.function(name)


def _is_decorated(scope: TextScope, name: str) -> bool:
    return any("transkern" in ast.unparse(d) for d in scope.function(name).node.decorator_list)  # type: ignore[union-attr]


def _decorator_types(function: Function) -> str | None:
    """``@transkern.compile(types='…')``."""
    for decorator in getattr(function.node, "decorator_list", []):
        if isinstance(decorator, ast.Call) and "transkern" in ast.unparse(decorator.func):
            for keyword in decorator.keywords:
                if keyword.arg == "types" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return None


def _types(function: Function, types: str | None) -> tuple[ArgType, ...]:
    text = types or _decorator_types(function)
    if text is not None:
        return parse_signature(text)[1]
    found = types_from_annotations(function.node)
    if found is None:
        raise TypesNeeded(types_help(function.name, parameter_names(function.node)))
    return found


def _specialised(path: Path, name: str | None, types: str | None, target: str = "cpu") -> Any:
    function = _function(read_module(path), name, types)
    try:
        return specialise(function, _types(function, types), target == "cpu")
    except NeedsConstant as need:
        raise need.problem from None


def _program(
    path: Path, name: str | None, types: str | None, target: str, after: Callable[[str, Any], None] | None = None
) -> Any:
    made = _specialised(path, name, types, target)
    if after is not None:
        after("frontend", made)
    return pipeline.run(made, pipeline.passes_for(target), after)


def emit_files(
    path: Path, function: str | None, target: str, types: str | None, options: Options = DEFAULT
) -> dict[str, str]:
    """The files of a function on a target: names and texts."""
    program = pipeline.with_options(_specialised(path, function, types, target), options)
    return program_texts(pipeline.run(program, pipeline.passes_for(target)), target, options.allow_float32)


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

    _program(path, function, types, target, after)
    return seen[pass_name]


def explain_text(path: Path, function: str | None, types: str | None) -> str:
    """What became of a function, against its lines."""
    return explained(_specialised(path, function, types))


def dot_text(path: Path, function: str | None, types: str | None) -> str:
    """The statements of a function's loops and their dependences, for graphviz."""
    from transkern.analysis.picture import dot

    return dot(pipeline.run(_specialised(path, function, types), pipeline.BEFORE_LOOPS))


def check_file(path: Path) -> list[tuple[str, bool, str]]:
    """For each function of a file: its name, whether it would compile, and the message where it would not.

    A function without known types counts as compiling where its translation needs none to fail: the message says that
    types are missing.
    """
    scope = read_module(path)
    found: list[tuple[str, bool, str]] = []
    for name in scope.functions():
        function = scope.function(name)
        if not parameter_names(function.node):  # a script's `main`: nothing that would be compiled by itself
            found.append((name, True, "takes no arguments: not checked"))
            continue
        try:
            types = _types(function, None)
            pipeline.run(specialise(function, types))
        except TypesNeeded:
            found.append((name, True, "types not known: give them as annotations to have it checked"))
        except NeedsConstant as need:
            found.append((name, False, str(need.problem)))
        except CompileError as error:
            found.append((name, False, str(error)))
        else:
            found.append((name, True, ""))
    return found

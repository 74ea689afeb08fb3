"""Functions made of parts: the rewritten function, and a function for each part, with the globals and the closure of
the one that they come from."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transkern import limits
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.refused import all_refusals
from transkern.frontend.sources.module_names import as_written
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import ArgType, OpaqueType, structured, types_of
from transkern.frontend.values.values import Function
from transkern.ir.expr import Span
from transkern.partial.making import Place, function_of, is_around, made_in_place_of, place_of, size_of, written_at
from transkern.partial.splitting import split
from transkern.runtime import arrays, structures


@dataclass(frozen=True, slots=True)
class InParts:
    """A function that calls compiled parts, how many there are, and why the rest runs in Python."""

    function: types.FunctionType
    count: int
    refusals: Sequence[CompileError]


def _read(function: types.FunctionType) -> Function:
    """A function as it is written: what runs in Python looks names of modules up there."""
    read = live_function(function)
    return replace(read, node=as_written(read.node))


def parts_between(
    function: types.FunctionType, arg_types: Sequence[ArgType], reserves: bool,
    compiled: Callable[[types.FunctionType, bool], Callable[..., Any]],
) -> InParts | None:  # fmt: skip
    """The function in parts, where it is refused for arguments of these types; None where it stays whole."""
    read = _read(function)
    if not isinstance(read.node, ast.FunctionDef):
        return None
    found = _refusals(function, read, arg_types, reserves)
    refused = {s for e in found if e.own and (s := written_at(read.node, e.own[0])) is not None}
    made = in_parts(function, read, refused, compiled) if refused else None
    return None if made is None else InParts(*made, found)


def refused_places(
    function: types.FunctionType, arg_types: Sequence[ArgType], reserves: bool
) -> dict[Place, CompileError]:
    """Where the statements of a function's file stand that are refused for arguments of these types, and why."""
    read = _read(function)
    if not isinstance(read.node, ast.FunctionDef):
        return {}
    found = [e for e in _refusals(function, read, arg_types, reserves) if e.own]
    return {place_of(s): e for e in found if (s := written_at(read.node, e.own[0])) is not None}


def places_at(function: types.FunctionType, spans: Collection[Span]) -> set[Place]:
    """Where the statements of a function's file stand that are at these places; none where some are not in it."""
    read = _read(function)
    inside = [place_of(s) for s in ast.walk(read.node) if isinstance(s, ast.stmt) and s is not read.node]
    found = set()
    for span in spans:
        here = span.line, span.column, span.end_line, span.end_column
        around = [place for place in inside if span.file == read.scope.file and is_around(place, here)]
        if not around:
            return set()
        found.add(min(around, key=size_of))
    return found


def _refusals(
    function: types.FunctionType, read: Function, arg_types: Sequence[ArgType], reserves: bool
) -> list[CompileError]:
    """Why a function is refused; nothing where it is none, or takes these types."""
    try:
        with limits.compilation_of(function):
            specialise(read, arg_types, reserves)
        return []
    except NeedsConstant as need:
        first = need.problem
    except CompileError as error:
        first = error
    found = all_refusals(lambda left_out: specialise(read, arg_types, reserves, left_out), first)
    return [e for e in found if e.demand is None]  # a part knows what it is called with


def type_beside(name: str, value: Any, parameters: Collection[str]) -> ArgType:
    """The type of an argument; of one that compiled code does not take, one that says so where it is used."""
    try:
        shape = structures.shape_of(name, value, parameters)
        leaves = [arrays.described(leaf) for leaf in structures.taken_apart((shape,), [value])]
        return structured(shape, iter(types_of(list(shape.leaves()), leaves)))
    except CompileError:
        return OpaqueType(type(value).__name__)


def in_parts(
    function: types.FunctionType, read: Function, refused: Collection[ast.stmt],
    compiled: Callable[[types.FunctionType, bool], Callable[..., Any]],
) -> tuple[types.FunctionType, int] | None:  # fmt: skip
    """A function that does what `function` does, with calls of compiled parts, and how many there are; None where none
    can be made.

    Args:
        function: a plain function.
        read: its text.
        refused: the statements of its text that run in Python.
        compiled: makes a function that calls kernels of a plain one, which has a loop or is brief.
    """
    assert isinstance(read.node, ast.FunctionDef)
    found = split(read.node, refused, [function.__globals__])
    if found is None:
        return None
    parts: dict[str, Any] = {}
    for part in found.parts:
        made = function_of(part, function, read.scope.file, read.scope.lines)
        parts[part.name] = compiled(made, part.brief)
    whole = made_in_place_of(found.node, function, parts)
    whole.__defaults__, whole.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    whole.__dict__.update(function.__dict__)
    whole.__doc__ = function.__doc__
    return whole, len(parts)

"""Functions made of parts: the rewritten function, and a function for each part, with the globals and the closure of
the one that they come from."""

from __future__ import annotations
import __future__

import ast
import copy
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transkern import limits
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.refused import all_refusals
from transkern.frontend.sources.source import live_function
from transkern.frontend.sources.written import Written, given
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import ArgType, OpaqueType, structured, types_of
from transkern.frontend.values.values import Function
from transkern.partial.splitting import split
from transkern.runtime import arrays, structures

_INNER = "transkern function"  # no name of the user's
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


@dataclass(frozen=True, slots=True)
class InParts:
    """A function that calls compiled parts, how many there are, and why the rest runs in Python."""

    function: types.FunctionType
    count: int
    refusals: Sequence[CompileError]


def parts_between(
    function: types.FunctionType, arg_types: Sequence[ArgType], reserves: bool,
    compiled: Callable[[types.FunctionType, bool], Callable[..., Any]],
) -> InParts | None:  # fmt: skip
    """The function in parts, where it is refused for arguments of these types; None where it stays whole."""
    read = live_function(function)
    if not isinstance(read.node, ast.FunctionDef):
        return None
    try:
        with limits.compilation_of(function):
            specialise(read, arg_types, reserves)
        return None
    except NeedsConstant as need:
        first = need.problem
    except CompileError as error:
        first = error
    found = all_refusals(lambda left_out: specialise(read, arg_types, reserves, left_out), first)
    found = [e for e in found if e.demand is None]  # a part knows what it is called with
    refused = {_written_at(read.node, e.own[0]) for e in found if e.own}
    made = in_parts(function, read, refused, compiled) if refused else None
    return None if made is None else InParts(*made, found)


def type_beside(name: str, value: Any, parameters: Collection[str]) -> ArgType:
    """The type of an argument; of one that compiled code does not take, one that says so where it is used."""
    try:
        shape = structures.shape_of(name, value, parameters)
        leaves = [arrays.described(leaf) for leaf in structures.taken_apart((shape,), [value])]
        return structured(shape, iter(types_of(list(shape.leaves()), leaves)))
    except CompileError:
        return OpaqueType(type(value).__name__)


def _written_at(function: ast.FunctionDef, statement: ast.stmt) -> ast.stmt:
    """The statement of a function's text that one of its translation is made of: the innermost one around its place."""
    place = _place(statement)
    inside = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and s is not function]
    around = [s for s in inside if _is_around(_place(s), place)]
    return min(around, key=lambda s: (*_size(_place(s)), type(s) is not type(statement)))


def _place(s: ast.stmt) -> tuple[int, int, int, int]:
    return s.lineno, s.col_offset, s.end_lineno or s.lineno, s.end_col_offset or s.col_offset


def _is_around(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[:2] <= other[:2] and one[2:] >= other[2:]


def _size(place: tuple[int, int, int, int]) -> tuple[int, int]:
    return place[2] - place[0], place[3] - place[1]


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
        made = _function(part.node, function, {})
        given(made.__code__, Written(part.node, read.scope.file, tuple(read.scope.lines)))
        parts[part.name] = compiled(made, part.brief)
    whole = _function(found.node, function, parts)
    whole.__defaults__, whole.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    whole.__dict__.update(function.__dict__)
    whole.__doc__ = function.__doc__
    return whole, len(parts)


def _function(node: ast.FunctionDef, origin: types.FunctionType, parts: Mapping[str, Any]) -> types.FunctionType:
    """A function of a tree in the place of another one: `parts` are names that it has beside those of its closure."""
    cells = dict(zip(origin.__code__.co_freevars, origin.__closure__ or (), strict=True))
    cells |= {name: types.CellType(part) for name, part in parts.items()}
    inner = copy.copy(node)
    inner.name = _INNER
    outer = ast.parse(f"def outer({', '.join(f'p{k}' for k in range(len(cells)))}): pass")
    holder = outer.body[0]
    assert isinstance(holder, ast.FunctionDef)
    for argument, name in zip(holder.args.args, cells, strict=True):
        argument.arg = name
    holder.body = [inner]
    flags = origin.__code__.co_flags & _FUTURE
    module = compile(outer, origin.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    (holding,) = (c for c in module.co_consts if isinstance(c, types.CodeType))
    (code,) = (c for c in holding.co_consts if isinstance(c, types.CodeType))
    code = code.replace(co_name=origin.__code__.co_name, co_qualname=origin.__code__.co_qualname)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, origin.__globals__, origin.__name__, None, closure)
    made.__qualname__, made.__module__ = origin.__qualname__, origin.__module__
    return made

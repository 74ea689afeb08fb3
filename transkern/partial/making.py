"""Functions of trees: parts, and what calls them, with the globals and the closure of the one that they come from."""

from __future__ import annotations
import __future__

import ast
import copy
import types
from collections.abc import Mapping, Sequence
from typing import Any

from transkern.frontend.sources.written import Written, given
from transkern.partial.splitting import Part

Place = tuple[int, int, int, int]
"""The first line and column of a statement, and the last ones."""

_INNER = "transkern function"  # no name of the user's
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


def place_of(s: ast.stmt) -> Place:
    """Where a statement begins and ends."""
    return s.lineno, s.col_offset, s.end_lineno or s.lineno, s.end_col_offset or s.col_offset


def written_at(function: ast.FunctionDef, statement: ast.stmt) -> ast.stmt | None:
    """The statement of a function's text that one of its translation is made of: the innermost one around its place;
    None where it is the function as a whole."""
    place = place_of(statement)
    inside = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and s is not function]
    around = [s for s in inside if is_around(place_of(s), place)]
    return min(around, key=lambda s: (*size_of(place_of(s)), type(s) is not type(statement)), default=None)


def is_around(one: Place, other: Place) -> bool:
    """Whether one place holds the other."""
    return one[:2] <= other[:2] and one[2:] >= other[2:]


def size_of(place: Place) -> tuple[int, int]:
    """Lines and columns from the beginning of a place to its end."""
    return place[2] - place[0], place[3] - place[1]


def function_of(part: Part, origin: types.FunctionType, file: str, lines: Sequence[str]) -> types.FunctionType:
    """A part of a function, which stands in `file`, as a function."""
    made = made_in_place_of(part.node, origin, {})
    given(made.__code__, Written(part.node, file, tuple(lines)))
    return made


def made_in_place_of(node: ast.FunctionDef, origin: types.FunctionType, parts: Mapping[str, Any]) -> types.FunctionType:
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

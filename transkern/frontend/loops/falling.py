"""Loops that end because integers fall: ``while i > 0 and j > 0`` where every iteration lowers i or j, as in tracing a
path back through a table. Their lists have at most as many elements as the integers can fall.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from transkern.frontend.context import Context
from transkern.frontend.values.values import Scalar, Static
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read
from transkern.parsing import all_nodes

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState

_MOST = 64  # paths through an iteration


def falls_at_most(ctx: Context, parts: Sequence[Expr], state: LoopState, body: Sequence[ast.stmt]) -> Expr | None:
    """How often a loop runs while all `parts` hold, where some say that integers are above limits, and each iteration
    lowers one of these by a constant and raises none: at most the sum of what they are above their limits before it."""
    names = {s.expr.name: k for k, s in state.slots.items() if isinstance(s, Scalar) and isinstance(s.expr, Var)}
    above: dict[str, Expr] = {}
    for part in parts:
        match part:
            case Apply("greater" | "greater_equal" as op, (Var(variable), Const(int() as limit)), _):
                if variable not in names:
                    continue
                before = state.before.get(names[variable])
                if isinstance(before, Static) and type(before.value) is int:
                    first: Expr = b.index(before.value)
                elif isinstance(before, Scalar) and before.expr.dtype == "index":
                    first = ctx.facts.unnamed(before.expr)
                else:
                    continue
                if not buffers_read(first) and variables_read(first) <= ctx.facts.entry:
                    room = b.sub(first, b.index(limit if op == "greater" else limit - 1))
                    above[names[variable]] = b.maximum(room, b.ZERO)
            case _:
                pass
    paths = _paths(body, frozenset(above)) if above else None
    if paths is None:
        return None
    for path in paths:
        if not path.leaves and (sum(path.by) >= 0 or max(path.by) > 0):
            return None
    total: Expr = b.ZERO
    for room in above.values():
        total = b.add(total, room)
    return total


class _Path(NamedTuple):
    """By how much the integers change on a way through statements, and whether it ends the iteration, or the loop."""

    by: tuple[int, ...]
    ends: bool = False
    leaves: bool = False


def _paths(body: Sequence[ast.stmt], names: frozenset[str]) -> list[_Path] | None:
    """All ways through `body`; None where an integer changes by anything but a constant."""
    order = sorted(names)
    paths = [_Path((0,) * len(order))]
    for s in body:
        match s:
            case ast.Break() | ast.Return() | ast.Raise():
                more: list[_Path] | None = [_Path((0,) * len(order), True, True)]
            case ast.Continue():
                more = [_Path((0,) * len(order), True)]
            case ast.If(_, then, orelse):
                one, two = _paths(then, names), _paths(orelse, names)
                more = None if one is None or two is None else one + two
            case _:
                step = _step(s, order)
                more = None if step is None else [_Path(step)]
        if more is None:
            return None
        done = [p for p in paths if p.ends]
        done += [
            _Path(tuple(x + y for x, y in zip(p.by, m.by, strict=True)), m.ends, m.leaves)
            for p in paths if not p.ends for m in more
        ]  # fmt: skip
        paths = list(dict.fromkeys(done))
        if len(paths) > _MOST:
            return None
    return paths


def _step(s: ast.stmt, order: list[str]) -> tuple[int, ...] | None:
    """The change that one statement makes."""
    changed = {x.id for x in all_nodes(s) if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load)} & set(order)
    if not changed:
        return (0,) * len(order)
    match s:
        case ast.AugAssign(ast.Name(name), ast.Add() | ast.Sub() as op, ast.Constant(int() as by)):
            found: dict[str, int | None] = {name: by if isinstance(op, ast.Add) else -by}
        case ast.Assign([ast.Name(name)], value):
            found = {name: _by(name, value)}
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            found = {
                t.id: _by(t.id, v) for t, v in zip(targets, values, strict=True)
                if isinstance(t, ast.Name) and t.id in changed
            }  # fmt: skip
        case _:
            return None
    if changed - found.keys() or None in found.values():
        return None
    return tuple(found.get(name) or 0 for name in order)


def _by(name: str, value: ast.expr) -> int | None:
    """k of ``name + k`` and ``name - k``."""
    match value:
        case ast.Name(same) if same == name:
            return 0
        case ast.BinOp(ast.Name(same), ast.Add() | ast.Sub() as op, ast.Constant(int() as k)) if same == name:
            return k if isinstance(op, ast.Add) else -k
        case _:
            return None

"""An array that is made in pieces, and then read element by element, is one array statement:

    lap[i, j] = 0.0  for i < n, j < m
    write lap[i + 1, j + 1] = u[i, j + 1] + …  for i < n - 2, j < m - 2
    v[i, j] = u[i, j] + dt * lap[i, j]

    to

    lap[i, j] = u[i - 1, j] + … if 1 <= i < n - 1 and 1 <= j < m - 1 else 0.0  for i < n, j < m
    v[i, j] = u[i, j] + dt * lap[i, j]

so that it is computed where it is read: what is left of it are conditions on places, of which loops are split into
borders and what is in between (`loops/borders.py`). An array of which something else is read, or of which a piece reads
other elements, is made as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lowering.unchanged import stays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import (
    alone,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_PIECES = 4
"""Pieces of an array, at most."""


def merge_pieces(program: n.Program) -> n.Program:
    """The program with one statement for each such array."""
    writes = [s.buffer for s in walk(program.body) if isinstance(s, n.Write)]
    found = {
        s.buffer: s for s in walk(program.body)
        if isinstance(s, n.Define) and s.buffer in writes and program.buffers[s.buffer].role == "temporary"
        and not buffers_read(s.value)  # a copy, of which a part changes, is a next state
    }  # fmt: skip
    if not found:
        return program
    loads: dict[str, int] = {}
    uses: dict[str, int] = {}
    for s in walk(program.body):
        for name in buffers_written(alone(s)):
            uses[name] = uses.get(name, 0) + 1
    for e in exprs(program.body):
        if isinstance(e, Load):
            loads[e.buffer] = loads.get(e.buffer, 0) + 1

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        rest = [with_bodies(s, block) for s in statements]
        k = 0
        while k < len(rest):
            s = rest[k]
            if isinstance(s, n.Define) and s.buffer in found:
                made = _merged(program, rest, k, loads.get(s.buffer, 0), uses[s.buffer])
                if made is not None:
                    rest = made
                    continue
            k += 1
        return tuple(rest)

    return replace(program, body=block(program.body))


def _merged(
    program: n.Program, block: Sequence[n.Stmt], at: int, loads: int, uses: int
) -> list[n.Stmt] | None:
    """The statements of a block in which the array that the one at `at` defines is made by the last of its pieces."""
    define = block[at]
    assert isinstance(define, n.Define)
    name = define.buffer
    places = [k for k in range(at + 1, len(block)) if name in buffers_written(block[k])]
    pieces = [(k, x) for k in places if isinstance(x := block[k], (n.Write, n.Store))]
    if not 1 <= len(pieces) == len(places) <= _PIECES or uses != 1 + len(pieces):
        return None
    last = places[-1]
    value, own = define.value, 0
    if not _is_still(program, define.value, block[at + 1 : last]):
        return None
    for k, piece in pieces:
        if not _is_still(program, piece.value, block[k + 1 : last]):
            return None
        found = _with_piece(define.axes, value, piece)
        if found is None:
            return None
        value, own = found, own + sum(isinstance(e, Load) and e.buffer == name for e in walk_expr(piece.value))
    between = [x for k, x in enumerate(block[at + 1 : last], at + 1) if k not in places]
    if any(name in buffers_used(x) for x in between):
        return None
    if not _read_in_place(program, name, block[last + 1 :], loads - own):
        return None
    made = replace(define, value=value)
    return [x for k, x in enumerate(block[: last + 1]) if k != at and k not in places] + [made, *block[last + 1 :]]


def _is_still(program: n.Program, value: Expr, between: Sequence[n.Stmt]) -> bool:
    """Whether a value is the same behind some statements."""
    return stays(between, buffers_read(value), variables_read(value), program.buffers)


def part_of(axes: Sequence[Axis], piece: n.Write | n.Store) -> tuple[Expr, dict[str, Expr]] | None:
    """Of a piece that is a range along each axis, or one place: whether an element is in it, and at which point."""
    if len(piece.index) != len(axes) or (isinstance(piece, n.Write) and piece.mask is not None):
        return None
    extents = {a.name: a.extent for a in piece.axes} if isinstance(piece, n.Write) else {}
    inside: Expr = b.TRUE
    there: dict[str, Expr] = {}
    for axis, place in zip(axes, piece.index, strict=True):
        names = variables_read(place) & extents.keys()
        if buffers_read(place) or len(names) > 1 or names & there.keys():
            return None
        if not names:
            inside = b.both(inside, Apply("equal", (axis.var, place), "bool"))
            continue
        (name,) = names
        first = b.sub(place, Var(name, "index"))
        if name in variables_read(first):
            return None  # in steps
        there[name] = b.sub(axis.var, first)
        behind = b.add(first, _without_floor(extents[name]))  # where that is less than `first`, it is none either
        if first != b.ZERO:
            inside = b.both(inside, b.compare("less_equal", first, axis.var))
        if behind != axis.extent:
            inside = b.both(inside, b.compare("less", axis.var, behind))
    if there.keys() != extents.keys():
        return None
    return inside, there


def _with_piece(axes: Sequence[Axis], value: Expr, piece: n.Write | n.Store) -> Expr | None:
    """The value of each element behind a write to a part of the array that is a range along each axis, or one place."""
    part = part_of(axes, piece)
    if part is None:
        return None
    inside, there = part
    here = tuple(a.var for a in axes)
    again = False

    def moved(e: Expr) -> Expr | None:
        nonlocal again
        if isinstance(e, Load) and e.buffer == piece.buffer:
            if tuple(e.index) != tuple(piece.index):
                again = True
                return None
            return value
        return there.get(e.name) if isinstance(e, Var) else None

    mine = b.map_expr(piece.value, moved)
    if again or (any(e == Load(piece.buffer, here, mine.dtype) for e in walk_expr(mine))):
        return None
    if piece.buffer in buffers_read(piece.value) and not isinstance(value, Const):
        return None  # it would be computed on both sides
    return b.where(inside, b.cast(mine, value.dtype), value)


def _without_floor(extent: Expr) -> Expr:
    """An extent that may be less than nothing: ``n - 2`` for ``maximum(n - 2, 0)``."""
    match extent:
        case Apply("maximum", (x, Const(0)), _) | Apply("maximum", (Const(0), x), _):
            return x
        case _:
            return extent


def _read_in_place(program: n.Program, name: str, behind: Sequence[n.Stmt], loads: int) -> bool:
    """Whether all that is read of an array are whole axes in their order, by array statements behind it."""
    dims = program.buffers[name].dims
    found = 0
    for s in behind:
        if name not in buffers_used(s):
            continue
        if not isinstance(s, (n.Define, n.Write, n.Let, n.Assign)):
            return False
        extents = {a.name: a.extent for a in s.axes} if isinstance(s, (n.Define, n.Write)) else {}
        for own in own_exprs(s):
            for e in walk_expr(own):
                if isinstance(e, Reduce):
                    extents |= {a.name: a.extent for a in e.axes}
        for own in own_exprs(s):
            for e in walk_expr(own):
                if not isinstance(e, Load) or e.buffer != name:
                    continue
                names = [i.name for i in e.index if isinstance(i, Var)]
                if len({*names}) != len(dims) or [extents.get(i) for i in names] != list(dims):
                    return False
                found += 1
    return found == loads > 0

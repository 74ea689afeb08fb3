"""What is read of a row at one place, when the row is done, is computed again there:

    for i < n:                                       for i < n:
        for j < m: t[j] = f(j); least argmin= t[j]       for j < m: least argmin= f(j)
        y[i] = t[least]                          to      y[i] = f(least)

A row of numbers that only lives for the place of its least then needs no memory: behind this pass nothing reads it but
what stands beside its store.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.traverse import (
    always_read,
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    map_own,
    own_exprs,
    result_buffers,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_FEW = 2
"""At how many places at most a row is computed again."""


def compute_chosen(program: n.Program) -> n.Program:
    """The program without the rows that are read, when they are done, at single places alone."""
    inside = [x for s in program.body for body in bodies(s) for x in walk(body)]
    rows = {s.buffer for s in inside if isinstance(s, n.Alloc) and program.buffers[s.buffer].role == "temporary"}
    rows -= {x for buffer in program.buffers.values() for d in buffer.dims for x in buffers_read(d)}
    if not rows:
        return program
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        for s in statements:
            if isinstance(s, n.Alloc) and s.buffer in rows:
                statements = _without(s.buffer, statements, program, names)
        return tuple(with_bodies(s, block) for s in statements)

    return replace(program, body=tuple(with_bodies(s, block) for s in program.body))


def _without(row: str, block: tuple[n.Stmt, ...], program: n.Program, names: Names) -> tuple[n.Stmt, ...]:
    """A block with a row computed again where it is read, if it can be."""
    users = [k for k, s in enumerate(block) if _touches(s, row)]
    made = _made(row, block[users[0]], program) if len(users) > 1 else None
    if made is None:
        return block
    axis, lets, value = made
    places: dict[Expr, None] = {}
    for k in users[1:]:
        found = _single(row, block[k])
        if found is None:
            return block
        places |= dict.fromkeys(found)
    parts = [value, *(x.value for x in lets)]
    reads = {name for e in parts for name in buffers_read(e)}
    asks = {v for e in parts for v in variables_read(e)} | {v for p in places for v in variables_read(p)}
    between = block[users[0] : users[-1] + 1]
    if len(places) > _FEW or any(reads & (set(buffers_written(s)) - {row}) for s in between):
        return block
    if any(set(scalars_set(s)) & asks & program.variables.keys() for s in between):
        return block

    def computed(s: n.Stmt) -> list[n.Stmt]:
        before: list[n.Stmt] = []
        for load in dict.fromkeys(_loads(row, s)):
            again = _again(axis, lets, value, load.index[0], names)
            before += again
            s = _with(s, load, Var(again[-1].name, value.dtype))
        return [*before, with_bodies(s, lambda body: tuple(x for y in body for x in computed(y)))]

    return tuple(x for k, s in enumerate(block) for x in (computed(s) if k in users[1:] else [s]))


def _with(s: n.Stmt, load: Load, value: Expr) -> n.Stmt:
    return map_own(s, lambda e: value if e == load else None)


def _touches(s: n.Stmt, row: str) -> bool:
    returned = (x for x in walk((s,)) if isinstance(x, n.Return) and row in result_buffers(x.result))
    return row in buffers_used(s) or row in buffers_written(s) or next(returned, None) is not None


def _made(row: str, s: n.Stmt, program: n.Program) -> tuple[str, list[n.Let], Expr] | None:
    """By which axis, with which names, and of what a loop makes all elements of a row, which it reads, if at all, where
    it has just stored them."""
    if not isinstance(s, n.Loop) or s.kind != "parallel" or s.start != b.ZERO or s.step != b.ONE:
        return None
    if program.buffers[row].dims != (s.stop,):
        return None
    at = next((k for k, x in enumerate(s.body) if _touches(x, row)), 0)
    store, behind = s.body[at], s.body[at + 1 :]
    here = (Var(s.axis),)
    if not isinstance(store, n.Store) or store.index != here or row in buffers_read(store.value):
        return None
    if any(row in buffers_written(x) for x in behind):
        return None
    if any(e.index != here for x in walk(behind) for e in _loads(row, x)):
        return None
    needed = _needed(store.value, [x for x in s.body[:at] if isinstance(x, n.Let)])
    if needed is None:
        return None
    asked = {v for e in (store.value, *(x.value for x in needed)) for v in variables_read(e)}
    return (s.axis, needed, store.value) if not asked & (set(scalars_set(s)) - {x.name for x in needed}) else None


def _needed(value: Expr, lets: Sequence[n.Let]) -> list[n.Let] | None:
    """Those names that a value is made of, in their order; None where it might be another number if computed alone."""
    asked = variables_read(value)
    needed: list[n.Let] = []
    for x in reversed(lets):
        if x.name in asked:
            needed.insert(0, x)
            asked |= variables_read(x.value)
    if any(_may_differ(e) for part in (value, *(x.value for x in needed)) for e in walk_expr(part)):
        return None
    return needed


def _may_differ(e: Expr) -> bool:
    """Whether a value depends on who computes it: sums do, and functions that vectors round in their own way."""
    return isinstance(e, Reduce) or (isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= TRANSCENDENTAL)


def _single(row: str, s: n.Stmt) -> list[Expr] | None:
    """At which places a statement reads a row whenever it runs; None where it does more with it."""
    if not isinstance(s, n.Let | n.Assign | n.Store | n.If) or row in buffers_written(s):
        return None
    sure = {e for own in own_exprs(s) for e in always_read(own)}
    loads = _loads(row, s)
    if any(e not in sure or row in buffers_read(e.index[0]) for e in loads):
        return None
    places = [e.index[0] for e in loads]
    for body in bodies(s):
        for x in body:
            if _touches(x, row):
                inside = _single(row, x)
                if inside is None:
                    return None
                places += inside
    return places


def _loads(row: str, s: n.Stmt) -> list[Load]:
    """Where a statement by itself reads a row."""
    return [e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load) and e.buffer == row]


def _again(axis: str, lets: Sequence[n.Let], value: Expr, place: Expr, names: Names) -> list[n.Let]:
    """The names for a value at a place; the last one is that of the value."""
    made: list[n.Let] = []
    if not isinstance(place, Const):  # which subscripts are to be made of: what is gathered is known by them
        made.append(n.Let(names.fresh("place"), place))
        place = Var(made[0].name)
    values: dict[str, Expr] = {axis: place}
    for x in lets:
        name = names.fresh(x.name)
        made.append(n.Let(name, b.substitute(x.value, values), span=x.span))
        values[x.name] = Var(name, x.value.dtype)
    return [*made, n.Let(names.fresh("chosen"), b.substitute(value, values))]

"""What is read of a row at one place, when the row is done, is computed again there:

    for i < n:                                       for i < n:
        for j < m: t[j] = f(j); least argmin= t[j]       for j < m: least argmin= f(j)
        y[i] = t[least]                          to      y[i] = f(least)

A row of numbers that only lives for the place of its least then needs no memory: behind this pass nothing reads it but
what stands beside its store. An element may be stored in several steps, as where a mask says that it is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
    exprs,
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

_FEW, _FEW_ONCE = 2, 8
"""At how many places at most a row is computed again: in a loop, and outside of all loops."""


@dataclass(frozen=True, slots=True)
class _Made:
    """How a loop makes an element of a row: for a number of its axis, by `steps`, behind which it is in `held`."""

    axis: str
    steps: tuple[n.Stmt, ...]
    held: str


def compute_chosen(program: n.Program) -> n.Program:
    """The program without the rows that are read, when they are done, at single places alone."""
    return _compute_chosen(program, "anywhere")


def compute_chosen_in_kernels(program: n.Program) -> n.Program:
    """`compute_chosen` inside of loops: for devices, from which each element that the host asks for is fetched."""
    return _compute_chosen(program, "in loops")


def compute_chosen_of_batches(program: n.Program) -> n.Program:
    """`compute_chosen` where iterations of a parallel loop have such rows: they would be one array together. For TPUs:
    a row that the next iteration overwrites stays beside the vector unit, and what is read of it costs less than what
    it is made of, computed twice where its extremum is searched."""
    return _compute_chosen(program, "in parallel")


def _compute_chosen(program: n.Program, where: Literal["anywhere", "in loops", "in parallel"]) -> n.Program:
    rows = {
        s.buffer for s in walk(program.body) if isinstance(s, n.Alloc) and program.buffers[s.buffer].role == "temporary"
    }
    rows -= {x for buffer in program.buffers.values() for d in buffer.dims for x in buffers_read(d)}
    if not rows:
        return program
    names, variables = Names.of(program), dict(program.variables)

    def inside(s: n.Stmt, chosen: bool) -> n.Stmt:
        if where != "anywhere" and isinstance(s, n.Loop | n.While):
            chosen = chosen or where == "in loops" or (isinstance(s, n.Loop) and s.kind == "parallel")
        return with_bodies(s, lambda statements: block(statements, chosen))

    def block(statements: tuple[n.Stmt, ...], chosen: bool, few: int = _FEW) -> tuple[n.Stmt, ...]:
        users: dict[str, list[int]] | None = None
        for s in statements:
            if chosen and isinstance(s, n.Alloc) and s.buffer in rows:
                users = _users(statements) if users is None else users
                there = users.get(s.buffer, [])
                without = _without(s.buffer, statements, there, few, program, names, variables)
                statements, users = without, users if without is statements else None
        return tuple(inside(s, chosen) for s in statements)

    return replace(program, body=block(program.body, where == "anywhere", _FEW_ONCE), variables=variables)


def _users(block: Sequence[n.Stmt]) -> dict[str, list[int]]:
    """The positions of the statements that touch an array, by arrays: each statement is asked once for all of them."""
    found: dict[str, list[int]] = {}
    for k, s in enumerate(block):
        results = (result_buffers(x.result) for x in walk((s,)) if isinstance(x, n.Return))
        for name in {*buffers_used(s), *buffers_written(s)}.union(*results):
            found.setdefault(name, []).append(k)
    return found


def _without(
    row: str, block: tuple[n.Stmt, ...], users: Sequence[int], few: int, program: n.Program, names: Names,
    variables: dict[str, str],
) -> tuple[n.Stmt, ...]:  # fmt: skip
    """A block with a row computed again where it is read, if it can be; `users` are the statements that touch it."""
    made = _made(row, block[users[0]], program, names) if len(users) > 1 else None
    if made is None:
        return block
    places: dict[Expr, None] = {}
    asking = [k for k in users[1:] if not _goes_along(row, block[users[0]], block[k])]
    if not asking:
        return block
    for k in asking:
        found = _single(row, block[k])
        if found is None:
            return block
        places |= dict.fromkeys(found)
    last = block[users[-1]]  # what it does itself, it does when it has read
    inner = [body for body in bodies(last) if any(_touches(s, row) for s in body)]
    between = [*block[users[0] : users[-1]], *(s for body in inner for s in body)]
    reads = {name for e in exprs(made.steps) for name in buffers_read(e)}
    asks = {v for e in (*exprs(made.steps), *places) for v in variables_read(e)}
    if len(places) > few or any(reads & (set(buffers_written(s)) - {row}) for s in between):
        return block
    if any(set(scalars_set(s)) & asks & program.variables.keys() for s in between):
        return block

    def computed(s: n.Stmt) -> list[n.Stmt]:
        before: list[n.Stmt] = []
        for load in dict.fromkeys(_loads(row, s)):
            again, value = _again(made, load, names, variables)
            before += again
            s = _with(s, load, value)
        return [*before, with_bodies(s, lambda body: tuple(x for y in body for x in computed(y)))]

    return tuple(x for k, s in enumerate(block) for x in (computed(s) if k in asking else [s]))


def _with(s: n.Stmt, load: Load, value: Expr) -> n.Stmt:
    return map_own(s, lambda e: value if e == load else None)


def _touches(s: n.Stmt, row: str) -> bool:
    returned = (x for x in walk((s,)) if isinstance(x, n.Return) and row in result_buffers(x.result))
    return row in buffers_used(s) or row in buffers_written(s) or next(returned, None) is not None


def _goes_along(row: str, maker: n.Stmt, s: n.Stmt) -> bool:
    """Whether a statement is a loop that reads a row as the one that makes it goes through it: fused, it needs none."""
    if not isinstance(s, n.Loop) or not isinstance(maker, n.Loop) or row in buffers_written(s):
        return False
    if (s.kind, s.start, s.stop, s.step) != (maker.kind, maker.start, maker.stop, maker.step):
        return False
    return all(e.index == (Var(s.axis),) for x in walk((s,)) for e in _loads(row, x))


def _made(row: str, s: n.Stmt, program: n.Program, names: Names) -> _Made | None:
    """How a loop makes all elements of a row, which it reads, if at all, where it has just stored them; None where an
    element might be another number if computed alone."""
    if not isinstance(s, n.Loop) or s.kind != "parallel" or s.start != b.ZERO or s.step != b.ONE:
        return None
    if program.buffers[row].dims != (s.stop,):
        return None
    element, held = Load(row, (Var(s.axis),), program.buffers[row].dtype), names.fresh("chosen")
    first = next((x for x in s.body if _touches(x, row)), None)
    if not isinstance(first, n.Store) or row in buffers_read(first.value):
        return None
    if any(e != element for x in walk(s.body) for e in _loads(row, x)):
        return None
    steps: list[n.Stmt] = []
    asked: set[str] = set()
    for x in reversed(s.body):
        if row in buffers_written(x) or (isinstance(x, n.Let) and x.name in asked):
            step = _step(x, element, Var(held, element.dtype))
            if step is None:
                return None
            steps.insert(0, step)
            asked |= {v for e in exprs((step,)) for v in variables_read(e)}
    own = {x.name for x in walk(steps) if isinstance(x, n.Let)}
    if asked & (set(scalars_set(s)) - own) or any(map(_may_differ, exprs(steps))):
        return None
    return _Made(s.axis, tuple(steps), held)


def _step(s: n.Stmt, element: Load, held: Var) -> n.Stmt | None:
    """A statement that does nothing but store `element`, or find what that is made of, with a variable in its place;
    None where it does more."""
    if isinstance(s, n.Store) and s.buffer == element.buffer and s.index == element.index and not s.atomic:
        return _with(n.Assign(held.name, s.value, span=s.span), element, held)
    if isinstance(s, n.Let):
        return _with(s, element, held)
    if not isinstance(s, n.If):
        return None
    blocks = [[_step(x, element, held) for x in body] for body in (s.then, s.orelse)]
    if any(x is None for body in blocks for x in body):
        return None
    then, orelse = (tuple(x for x in body if x is not None) for body in blocks)
    return replace(_with(s, element, held), then=then, orelse=orelse)


def _may_differ(e: Expr) -> bool:
    """Whether a value depends on who computes it: sums do, and functions that vectors round in their own way."""
    return isinstance(e, Reduce) or (isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= TRANSCENDENTAL)


def _single(row: str, s: n.Stmt) -> list[Expr] | None:
    """At which places a statement reads a row whenever it runs; None where it does more with it."""
    if not isinstance(s, n.Let | n.Assign | n.Store | n.If | n.Return) or row in buffers_written(s):
        return None
    if isinstance(s, n.Return) and row in result_buffers(s.result):
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


def _again(made: _Made, load: Load, names: Names, variables: dict[str, str]) -> tuple[list[n.Stmt], Expr]:
    """The steps for an element at another place, and the name of what they make."""
    out: list[n.Stmt] = []
    place = load.index[0]
    if not isinstance(place, Const):  # which subscripts are to be made of: what is gathered is known by them
        let = n.Let(names.fresh("place"), place)
        out, place = [let], Var(let.name)
    once = sum(isinstance(x, n.Assign) for x in walk(made.steps)) == 1
    chosen = Var(names.fresh("chosen"), load.dtype)
    if not once:
        variables[chosen.name] = load.dtype
    values: dict[str, Expr] = {made.axis: place, made.held: chosen}

    def step(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Let):
            name = names.fresh(s.name)
            here = n.Let(name, b.substitute(s.value, values), span=s.span)
            values[s.name] = Var(name, s.value.dtype)
            return here
        if isinstance(s, n.Assign):
            value = b.substitute(s.value, values)
            return n.Let(chosen.name, value, span=s.span) if once else n.Assign(chosen.name, value, span=s.span)
        assert isinstance(s, n.If)
        then, orelse = (tuple(map(step, body)) for body in (s.then, s.orelse))
        return replace(s, condition=b.substitute(s.condition, values), then=then, orelse=orelse)

    return [*out, *map(step, made.steps)], chosen

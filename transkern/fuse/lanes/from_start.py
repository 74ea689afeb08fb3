"""Places that all count from the start are taken as they are, 1024 iterations at a time:

    for i in 0 .. n:                               for block in 0 .. n by 1024:
        guard -m <= s[i] < m                           from_start = all(0 <= s[i] < m and 0 <= t[i] < m of the block)
        guard -m <= t[i] < m                           if from_start:
        at = s[i] + m if s[i] < 0 else s[i]     to         for i of the block: c[s[i], t[i]] += 1
        to = t[i] + m if t[i] < 0 else t[i]            else:
        c[at, to] += 1                                     for i of the block: as before

The question goes through the block in vectors, and what follows finds it in the first cache. Done for loops in order
with two places and more, and with checks: one is soon checked beside what such a loop waits for. What places are made
of is there for each iteration, whatever comes of those before it: elements at positions that the loop alone decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_TOGETHER = 1024
"""Iterations that are asked about at once: what they read stays in the first cache."""
_PLACES = 2
"""Fewer places are checked as soon as asked about."""
_STATEMENTS = 16
"""A loop with more of them is not written twice."""


def count_from_start(program: n.Program) -> n.Program:
    """The program with loops in order asking first whether all of their places count from the start."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Asking(program)
    body = state.block(program.body, False)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Asking:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(self, statements: Sequence[n.Stmt], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            found = _places(s, inside) if isinstance(s, n.Loop) else {}
            if isinstance(s, n.Loop) and len(found) >= _PLACES and any(found.values()):
                out.append(self.asked(s, found))
            else:
                within = inside or isinstance(s, (n.Loop, n.While))
                out.append(with_bodies(s, partial(self.block, inside=within)))
        return tuple(out)

    def asked(self, s: n.Loop, places: Mapping[Expr, Expr | None]) -> n.Loop:
        start, answer = Var(self.names.fresh(f"{s.axis}_block"), "index"), self.names.fresh("from_start")
        part = replace(s, start=start, stop=b.minimum(b.add(start, b.index(_TOGETHER)), s.stop))
        lets = {x.name: x.value for x in s.body if isinstance(x, n.Let)}
        asked: list[Expr] = []
        for place, size in places.items():
            here = resolved(place, lets)
            asked.append(Apply("greater_equal", (here, b.ZERO), "bool"))
            asked += [Apply("less", (here, size), "bool")] if size is not None else []
        question = asked[0]
        for e in asked[1:]:
            question = Apply("logical_and", (question, e), "bool")
        ask = n.Accumulate(answer, "all", question, span=s.span)
        body = (
            n.Accumulator(answer, "all", "bool", span=s.span),
            self.again(replace(part, kind="parallel", body=(ask,))),
            n.If(
                Var(answer, "bool"),
                (self.again(replace(part, body=_as_they_are(s.body, places))),),
                (self.again(part),),
                span=s.span,
            ),
        )
        return replace(s, axis=start.name, step=b.index(_TOGETHER), body=body)

    def again(self, s: n.Loop) -> n.Loop:
        return with_own_names(s, self.names, self.variables, self.buffers)


def _as_they_are(body: tuple[n.Stmt, ...], places: Mapping[Expr, Expr | None]) -> tuple[n.Stmt, ...]:
    """The statements where no place counts from an end, and each is one."""

    def plain(e: Expr) -> Expr | None:
        found = _wrapped(e)
        return found if found in places else None

    return map_block(tuple(x for x in body if not isinstance(x, n.Guard)), plain)


def _places(s: n.Loop, inside: bool) -> dict[Expr, Expr | None]:
    """The places that count from an end where they are negative, and of how many elements it is checked that they are
    one, if it is; nothing where an iteration checks something else."""
    extent = b.constant(b.sub(s.stop, s.start))
    if s.kind != "sequential" or s.step != b.ONE or s.spare is not None or len(s.body) > _STATEMENTS:
        return {}
    if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.Guard)) for x in s.body) or (extent or _TOGETHER) < _TOGETHER:
        return {}
    bounds = variables_read(s.start) | variables_read(s.stop)
    if (inside and not all(map(b.is_size_name, bounds))) or buffers_read(s.start) | buffers_read(s.stop):
        return {}
    lets = {x.name: x.value for x in s.body if isinstance(x, n.Let)}
    if len(lets) < sum(isinstance(x, n.Let) for x in s.body):
        return {}
    assigned = {name for x in s.body if isinstance(x, n.Assign) for name in scalars_set(x)}
    written = {name for x in s.body for name in buffers_written(x)}
    found: dict[Expr, Expr | None] = {}
    for e in (e for x in s.body for own in own_exprs(x) for e in walk_expr(own)):
        place = _wrapped(e)
        if place is not None and _is_known(resolved(place, lets), s.axis, assigned, written):
            found[place] = None
    for x in (x for x in s.body if isinstance(x, n.Guard)):
        place, size = _checked(x.condition) or (None, b.ZERO)
        if place is None or place not in found or found[place] not in (None, size) or x.changes:
            return {}
        if variables_read(size) & {s.axis, *assigned, *lets} or buffers_read(size):
            return {}
        found[place] = size
    return found


def _wrapped(e: Expr) -> Expr | None:
    """A place as it is given, where it counts from an end if it is negative."""
    match e:
        case Apply("where", (Apply("less", (asked, zero), _), _, place), "index") if asked == place and zero == b.ZERO:
            return place
        case _:
            return None


def _checked(condition: Expr) -> tuple[Expr, Expr] | None:
    """The place that a condition asks about, and of how many elements it has to be one."""
    match condition:
        case Apply("and_then", (Apply("less", (place, size)), Apply("greater_equal", (again, least))), _):
            return (place, size) if again == place and least == b.neg(size) else None
        case _:
            return None


def _is_known(place: Expr, axis: str, assigned: set[str], written: set[str]) -> bool:
    """Whether a place is there for each iteration before any runs."""
    if variables_read(place) & assigned or buffers_read(place) & written:
        return False
    loads = [e for e in walk_expr(place) if isinstance(e, Load)]
    return axis in variables_read(place) and len(loads) == 1 and not any(map(buffers_read, loads[0].index))

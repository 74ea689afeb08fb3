"""The sums in order with which a step begins are added up while the step before computes what goes into them:

    for k in 1 .. n:                                  total = …                       (of the first step)
        total = 0                                     for i in 0 .. 1: total = total + t[i] * x[i]
        for i in 0 .. k:                              for k in 1 .. n:
            total = total + t[i] * x[i]       to          …
        …                                                 if k + 1 < n:
        for i in 0 .. k + 1:                                  next = 0
            x[i] = …                                          for i in 0 .. k + 1:
                                                                  x[i] = …
                                                                  next = next + t[i] * x[i]
                                                              total = next
                                                          else:
                                                              for i in 0 .. k + 1: x[i] = …

Additions in order wait for each other, and a processor has time for a dozen other operations meanwhile: the elements
are computed for nothing, and are at hand. Legal where one loop has as many iterations as the other, but for an element
or two that are stored after the loop (`x[k + 1] = alpha`) and added up after it, and where no iteration of the sums
reads what a later one of the elements stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transkern.analysis.accesses import Level
from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    places_named,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
)
from transkern.records import replace

_OPERATIONS = 24
"""Loads, stores and costs of operations of an iteration, at most: what is done while its additions wait."""


def overlap_sums(program: n.Program) -> n.Program:
    """The program with sums of a next step in the loops that compute what they add up."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Overlapping(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step: variables begin, and are summed up in a loop; what comes between; the loop over elements; single elements
    that are stored after it."""

    starts: tuple[n.Assign, ...]
    sums: n.Loop
    between: tuple[n.Stmt, ...]
    elements: n.Loop
    stores: tuple[n.Store, ...]


class _Overlapping(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.variables = Names.of(program), dict(program.variables)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not (isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE):
            return [self.inside(s)]
        step = _step(s)
        return [self.inside(s)] if step is None or not self.legal(s, step) else self.overlapped(s, step)

    def legal(self, s: n.Loop, step: _Step) -> bool:
        """Whether the next step's sums may be added up where this step's elements are computed."""
        if _later(step.sums.start, s) != step.elements.start or _left(s, step) not in range(_LEFT + 1):
            return False
        stored = buffers_written(step.elements) | {x.buffer for x in step.stores}
        if any(stored & buffers_read(x.value) for x in step.starts):
            return False
        with self.scope():
            self.forget(s.body)
            self.levels.append(Level(s.axis, s.start, s.stop, 1))
            carried = Carried(self.program.buffers, self.joined(s, step, {}), self.surroundings())
            too_early = any(not meeting.first.write for meeting in carried.meetings())  # read before it is stored
            self.levels.append(Level(step.elements.axis, step.elements.start, step.elements.stop, 1))
            too_early = too_early or any(not self.apart(x, self.joined(s, step, {})) for x in step.stores)
            self.levels.pop()
            if _left(s, step):  # then the sums run over what follows the elements, if these are not fewer than none
                none = b.compare("less_equal", step.elements.start, step.elements.stop)
                too_early = too_early or not self.holds(none)
            self.levels.pop()
        return not too_early

    def apart(self, store: n.Store, sums: n.Loop) -> bool:
        """Whether the sums, up to where the elements end, read nothing of what is stored after them."""
        known = places_named(sums.body)
        for e in exprs(sums.body):
            if isinstance(e, Load) and e.buffer == store.buffer:
                pairs = zip((b.substitute(i, known) for i in e.index), store.index, strict=True)
                if not any(self.holds(b.compare("not_equal", x, y)) for x, y in pairs):
                    return False
        return True

    def joined(self, s: n.Loop, step: _Step, names: Mapping[str, str]) -> n.Loop:
        """The loop over this step's elements with the next step's sums, kept in variables under other `names`."""
        sums = with_own_names(step.sums, self.names, {}, {})
        axis = Var(step.elements.axis)
        body = (*step.elements.body, *_of_next(_with_values(sums.body, {sums.axis: axis}), s, names))
        return replace(step.sums, axis=axis.name, start=step.elements.start, stop=step.elements.stop, body=body)

    def overlapped(self, s: n.Loop, step: _Step) -> list[n.Stmt]:
        names = {x.name: self.names.fresh(x.name) for x in step.starts}
        for name, new in names.items():
            self.variables[new] = self.variables[name]
        before = _with_values((*step.starts, with_own_names(step.sums, self.names, {}, {})), {s.axis: s.start})
        if isinstance(sums := before[-1], n.Loop) and b.difference(sums.stop, sums.start) == 1:
            before = (*before[:-1], *_with_values(sums.body, {sums.axis: sums.start}))
        rest: list[n.Stmt] = []
        for k in range(_left(s, step) or 0):  # what is summed up of elements that are stored after the loop
            one = with_own_names(step.sums, self.names, {}, {})
            place = b.add(step.elements.stop, b.index(k))
            rest += _with_values(_of_next(one.body, s, names), {one.axis: place})
        meanwhile = (
            *_of_next(step.starts, s, names),
            self.joined(s, step, names),
            *step.stores,
            *rest,
            *(n.Assign(x.name, Var(names[x.name], self.variables[x.name]), span=x.span) for x in step.starts),
        )
        alone = with_own_names(step.elements, self.names, {}, {})
        goes_on = b.compare("less", b.add(Var(s.axis), b.ONE), s.stop)
        last = n.If(goes_on, meanwhile, (alone, *step.stores), span=step.elements.span)
        loop = replace(s, body=(*step.between, last))
        runs = b.compare("less", s.start, s.stop)
        return [*before, loop] if runs == b.TRUE else [n.If(runs, (*before, loop), (), span=s.span)]


def _step(s: n.Loop) -> _Step | None:
    """The parts of an iteration that begins with sums and ends with a loop over elements, cheap enough together."""
    count = next((k for k, x in enumerate(s.body) if not isinstance(x, n.Assign)), len(s.body))
    if len(s.body) < count + 2 or any(isinstance(x, _EXITS) for x in walk(s.body)):
        return None
    sums, *between = s.body[count:]
    handed: list[n.Stmt] = []  # what the step hands on of its variables: may as well be said before the elements
    stores: list[n.Store] = []
    last: list[n.Stmt] = []
    while len(between) > 1 and (isinstance(x := between[-1], (n.Assign, n.Store)) or _is_place(x)):
        last.insert(0, between.pop())
    elements = between.pop()
    places: dict[str, Expr] = {}
    for x in last:
        match x:
            case n.Let(name, value):
                places[name] = b.substitute(value, places)
            case n.Store():
                stores += [y for y in _with_values((x,), places) if isinstance(y, n.Store)]
            case _:
                handed += _with_values((x,), places)
    if not (isinstance(sums, n.Loop) and isinstance(elements, n.Loop)) or (sums.kind, elements.kind) != (
        "sequential", "parallel",
    ):  # fmt: skip
        return None
    if any(x.step != b.ONE for x in (sums, elements)) or not all(isinstance(x, (n.Let, n.Assign)) for x in sums.body):
        return None
    if not all(isinstance(x, (n.Let, n.Store)) for x in elements.body) or not _cheap((*sums.body, *elements.body)):
        return None
    added = {x.name for x in sums.body if isinstance(x, n.Assign)}
    assigned = [x for x in s.body[:count] if isinstance(x, n.Assign)]
    starts = tuple(x for x in assigned if x.name in added)
    first = [x for x in assigned if x.name not in added]  # may as well be said after the sums
    begun = {x.name for x in starts}
    early = {x.name for x in first}
    if not added <= begun or any(begun & variables_read(x.value) for x in assigned):
        return None
    if early & (scalars_used(sums) | set().union(*(variables_read(x.value) for x in starts))):
        return None
    if any(begun & scalars_set(x) for x in (*between, *handed)):
        return None
    if any(_order_matters(x, elements) or any(_order_matters(x, y) for y in stores) for x in handed):
        return None
    return _Step(starts, sums, (*first, *between, *handed), _aligned(elements, _later(sums.start, s)), tuple(stores))


def _aligned(loop: n.Loop, start: Expr) -> n.Loop:
    """The loop with its variable counting from `start`, where that is a number of elements from where it does."""
    gap = b.index(b.difference(start, loop.start) or 0)
    if gap == b.ZERO:
        return loop
    body = _with_values(loop.body, {loop.axis: b.sub(Var(loop.axis), gap)})
    return replace(loop, start=b.add(loop.start, gap), stop=b.add(loop.stop, gap), body=body)


def _is_place(s: n.Stmt) -> bool:
    return isinstance(s, n.Let) and s.value.dtype == "index"


def _left(s: n.Loop, step: _Step) -> int | None:
    """How many more elements the next step's sums run over than this step's loop computes."""
    return b.difference(_later(step.sums.stop, s), step.elements.stop)


def _order_matters(s: n.Stmt, elements: n.Stmt) -> bool:
    return bool(scalars_set(s) & scalars_used(elements) or buffers_used(s) & buffers_written(elements))


_LEFT = 2
"""Elements at most that are stored after the loop."""

_EXITS = (n.Guard, n.Return, n.Break, n.Continue)


def _cheap(body: tuple[n.Stmt, ...]) -> bool:
    """Whether there is time for the statements while an addition waits for the one before."""
    loads = sum(isinstance(e, Load) for e in exprs(body))
    stores = sum(isinstance(x, n.Store) for x in body)
    operations = [e for e in exprs(body) if isinstance(e, Apply) and e.dtype != "index"]
    return loads + stores + sum(OPS[e.op].cost if e.op in OPS else 1 for e in operations) <= _OPERATIONS


def _later(e: Expr, s: n.Loop) -> Expr:
    """The expression as the next iteration of `s` has it."""
    return b.substitute(e, {s.axis: b.add(Var(s.axis), b.ONE)})


def _of_next(body: tuple[n.Stmt, ...], s: n.Loop, names: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """The statements of the next iteration of `s`, with variables under other `names`."""
    return with_names(_with_values(body, {s.axis: b.add(Var(s.axis), b.ONE)}), names)


def _with_values(body: tuple[n.Stmt, ...], values: Mapping[str, Expr]) -> tuple[n.Stmt, ...]:
    return map_block(body, lambda e: values.get(e.name) if isinstance(e, Var) else None)

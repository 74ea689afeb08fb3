"""A nest of loops whose elements are sums over elements before them goes by the terms of the sums:

    for i in 0 .. n:                              parallel i, j: s[i, j] = a[i, j]
        for j in 0 .. i:                          for t in 0 .. n:
            s := a[i, j]                              parallel i in t + 1 .. n: x[i, t] = s[i, t] / x[t, t]
            for k in 0 .. j:               to         parallel i, j: if t < j < i: s[i, j] = s[i, j] - x[i, t] * x[t, j]
                s := s - x[i, k] * x[k, j]
            x[i, j] = s / x[j, j]

In the order of the program, each element waits for all terms of the one before (the solution of a triangular system,
factorisations row by row). Term `t` of all sums at once needs nothing but the elements that are ready after `t` steps:
each sum takes its terms in the same order, with the same bits, and a step has as many threads as there are sums. What
an iteration keeps in variables gets memory for all of them.

Each statement gets a time: one of the loops around it, or the beginning, or the end. Legal where, of two accesses to
one element of which one writes, the earlier one has the earlier time, or at the same time stands in an earlier part of
the step, whatever the iterations (isl). Done where nothing else makes the outer loop parallel.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from transkern.analysis import integers
from transkern.analysis.accesses import Access
from transkern.analysis.dependence import Carried
from transkern.analysis.integers import Constraint, Form
from transkern.analysis.scalars import exposed
from transkern.analysis.verdicts import MakingWalk, reads_of
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.highest import highest
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_statement,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_LEAST = 64
"""Iterations of the outer loop from which a step has enough to do for its barriers."""
_STATEMENTS = 8
"""Statements that are looked at: with more of them, there are too many ways to give them times."""

Time = str
"""The axis of a loop, or one of the two times below, which no axis is called."""
_BEGIN, _END = "", "."
_Answer = Literal["fine", "equal", "wrong"]


def order_by_terms(program: n.Program) -> n.Program:
    """The program with such nests in steps, one for each term of all sums."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in program.body):
        return program
    state = _ByTerms(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


@dataclass(frozen=True, slots=True, eq=False)
class _Leaf:
    """A store or a check, with the loops around it, outer first."""

    statement: n.Store | n.Guard
    loops: tuple[n.Loop, ...]

    @property
    def term(self) -> str | None:
        """The axis of the terms that a store adds up."""
        s = self.statement
        if isinstance(s, n.Guard):
            return None
        place = Load(s.buffer, s.index, s.value.dtype)
        adds = any(e == place for e in _loads(s.value))
        along = {name for e in s.index for name in variables_read(e)}
        axis = self.loops[-1].axis
        return axis if adds and axis not in along and len(self.loops) > 1 else None


class _ByTerms(MakingWalk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not self.levels and isinstance(s, n.Loop) and s.kind == "sequential":
            made = self.by_terms(s)
            if made is not None:
                return made
        return [s]

    def by_terms(self, loop: n.Loop) -> list[n.Stmt] | None:
        if not _is_nest(loop, self.buffers) or not any(True for _ in _inner(loop)) or self.judged(loop).parallel:
            return None
        known = dict(self.buffers)
        expanded = self.expanded(loop)
        if expanded is not None:
            whole, made = expanded
            leaves = [*_leaves(whole, ())]
            times = self.times(whole, leaves)
            if times is not None:
                return self.steps(loop, leaves, made, *times)
        self.buffers.clear()  # which the walk asks, too
        self.buffers.update(known)
        return None

    # --- memory for what iterations keep in variables

    def expanded(self, loop: n.Loop) -> tuple[n.Loop, list[str]] | None:
        """The loop with elements of arrays for its variables, and these arrays."""
        mine = scalars_set(loop)
        inside = reads_of((loop,))
        if any(self.reads[name] > inside[name] for name in mine):
            return None
        homes: dict[str, tuple[n.Loop, ...]] = {}

        def look(s: n.Stmt, loops: tuple[n.Loop, ...]) -> None:
            if isinstance(s, n.Loop):
                for x in s.body:
                    look(x, (*loops, s))
                return
            touched = {name for e in own_exprs(s) for name in variables_read(e)} | scalars_set(s)
            for name in touched & mine:
                old = homes.get(name, loops)
                homes[name] = tuple(x for x, y in zip(old, loops, strict=False) if x is y)

        look(loop, ())
        places: dict[str, Load] = {}
        made: list[str] = []
        dtypes = {x.name: x.value.dtype for x in walk((loop,)) if isinstance(x, (n.Let, n.Assign))}
        for name, home in homes.items():
            dims = [highest(x.stop, home[:k]) for k, x in enumerate(home)]
            if not home or exposed(home[-1].body, name) or any(d is None for d in dims):
                return None
            if not all(_is_nonnegative(x.start, home[:k]) for k, x in enumerate(home)) or dtypes[name] == "index":
                return None
            buffer = self.names.fresh(f"{name}_all")
            self.buffers[buffer] = n.Buffer(buffer, dtypes[name], tuple(d for d in dims if d is not None))
            made.append(buffer)
            places[name] = Load(buffer, tuple(Var(x.axis, "index") for x in home), dtypes[name])

        def read(e: Expr) -> Expr | None:
            return places.get(e.name) if isinstance(e, Var) else None

        def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
            out: list[n.Stmt] = []
            for s in statements:
                if isinstance(s, n.Loop):
                    out.append(replace(s, body=block(s.body)))
                elif isinstance(s, (n.Let, n.Assign)):
                    value = map_statement(n.Let("", s.value), read)
                    assert isinstance(value, n.Let)
                    place = places[s.name]
                    out.append(n.Store(place.buffer, place.index, value.value, span=s.span))
                else:
                    out.append(map_statement(s, read))
            return tuple(out)

        return replace(loop, body=block(loop.body)), made

    # --- when each statement runs

    def times(self, loop: n.Loop, leaves: Sequence[_Leaf]) -> tuple[dict[_Leaf, Time], list[_Leaf]] | None:
        """A time for each statement, and the order of those that have the same; None where there is none."""
        if len(leaves) > _STATEMENTS or not any(x.term for x in leaves):
            return None
        if any(buffers_read(e) for x in leaves for s in x.loops for e in (s.start, s.stop)):
            return None
        carried = Carried(self.buffers, loop, self.surroundings())
        accesses = _by_leaf(carried.body.accesses, leaves)
        if accesses is None or any(a.index is None for one in accesses for a in one):
            return None
        asking = _Asking(carried, leaves, accesses)
        choices = [_times_of(x) for x in leaves]
        chosen: list[Time] = []

        def search(k: int) -> list[_Leaf] | None:
            if k == len(leaves):
                return _sorted(leaves, chosen, asking)
            for time in choices[k]:
                chosen.append(time)
                if all(asking.fit(j, k, chosen) for j in range(k + 1)) and (found := search(k + 1)) is not None:
                    return found
                chosen.pop()
            return None

        order = search(0)
        return None if order is None else (dict(zip(leaves, chosen, strict=True)), order)

    # --- what is made of it

    def steps(
        self, loop: n.Loop, leaves: Sequence[_Leaf], made: Sequence[str], times: dict[_Leaf, Time],
        order: Sequence[_Leaf],
    ) -> list[n.Stmt] | None:  # fmt: skip
        step = Var(self.names.fresh("step"), "index")
        parts = {x: _part(x, times[x], step) for x in leaves}
        ranges = [_range(x, times[x]) for x in leaves if times[x] not in (_BEGIN, _END)]
        if any(p is None for p in parts.values()) or any(r is None for r in ranges):
            return None
        first = [r[0] for r in ranges if r is not None]
        last = [r[1] for r in ranges if r is not None]
        low, high = first[0], last[0]
        for x, y in zip(first[1:], last[1:], strict=True):
            low = low if x == low else b.minimum(low, x)
            high = high if y == high else b.maximum(high, y)
        body = tuple(p for x in order if times[x] not in (_BEGIN, _END) and (p := parts[x]) is not None)
        before = [p for x in order if times[x] == _BEGIN and (p := parts[x]) is not None]
        behind = [p for x in order if times[x] == _END and (p := parts[x]) is not None]
        along = n.Loop(step.name, low, high, b.ONE, "sequential", body, span=loop.span)
        allocs = [n.Alloc(name, span=loop.span) for name in made]
        whole: list[n.Stmt] = [*allocs, *before, along, *behind]
        enough = b.compare("greater_equal", b.sub(loop.stop, loop.start), b.index(_LEAST))
        plain = with_own_names(loop, self.names, self.variables, self.buffers)
        return [n.If(enough, tuple(whole), (plain,), span=loop.span)]


class _Asking:
    """Whether two statements may have two times, each pair asked once."""

    def __init__(self, carried: Carried, leaves: Sequence[_Leaf], accesses: Sequence[Sequence[Access]]) -> None:
        self.carried, self.leaves, self.accesses = carried, leaves, accesses
        self.answers: dict[tuple[int, int, Time, Time], _Answer] = {}

    def fit(self, one: int, two: int, chosen: Sequence[Time]) -> bool:
        """Whether the statements keep their order at the chosen times, as far as times alone tell."""
        return all(
            self.answer(j, k, chosen[j], chosen[k]) != "wrong" for j, k in ((one, two), (two, one))
        ) and not (one == two and self.answer(one, one, chosen[one], chosen[one]) == "equal")

    def answer(self, one: int, two: int, time1: Time, time2: Time) -> _Answer:
        """What becomes of accesses by statement `one` that come before accesses by statement `two`."""
        key = (one, two, time1, time2)
        if key not in self.answers:
            self.answers[key] = self._answer(*key)
        return self.answers[key]

    def _answer(self, one: int, two: int, time1: Time, time2: Time) -> _Answer:
        found: _Answer = "fine"
        for a, c in itertools.product(self.accesses[one], self.accesses[two]):
            if a.buffer != c.buffer or not (a.write or c.write):
                continue
            question, names1, names2, _ = self.carried.question(a, c)
            for case in self._before(one, two, names1, names2):
                if time1 in (_BEGIN, _END) or time2 in (_BEGIN, _END):
                    rank = {_BEGIN: 0, _END: 2}
                    early, late = rank.get(time1, 1), rank.get(time2, 1)
                    if early >= late and question.possible(*case):
                        if early > late:
                            return "wrong"
                        found = "equal"
                    continue
                t1, t2 = names1[time1], names2[time2]
                if question.possible(*case, integers.less(t2, t1)):
                    return "wrong"
                if question.possible(*case, integers.equal(t1, t2)):
                    found = "equal"
        return found

    def _before(
        self, one: int, two: int, names1: dict[str, Form], names2: dict[str, Form]
    ) -> Iterator[list[Constraint]]:
        """The cases in which an execution of the one comes before one of the other."""
        common = [x.axis for x, y in zip(self.leaves[one].loops, self.leaves[two].loops, strict=False) if x is y]
        equal: list[Constraint] = []
        for axis in common:
            yield [*equal, integers.less(names1[axis], names2[axis])]
            equal.append(integers.equal(names1[axis], names2[axis]))
        if one < two:
            yield equal


def _sorted(leaves: Sequence[_Leaf], chosen: Sequence[Time], asking: _Asking) -> list[_Leaf] | None:
    """The statements so that those which must come first at the same time do; None where they go round."""
    waits: dict[int, set[int]] = {
        k: {
            j for j in range(len(leaves))
            if j != k and asking.answer(j, k, chosen[j], chosen[k]) == "equal"
        }
        for k in range(len(leaves))
    }  # fmt: skip
    out: list[int] = []
    while len(out) < len(leaves):
        ready = next((k for k in range(len(leaves)) if k not in out and waits[k] <= {*out}), None)
        if ready is None:
            return None
        out.append(ready)
    return [leaves[k] for k in out]


# ---- nests -----------------------------------------------------------------------------------------------------------


def _is_nest(loop: n.Loop, buffers: Mapping[str, n.Buffer]) -> bool:
    """Whether it is loops of step 1 around statements of numbers, and nothing else; one check in the outer loop, where
    nobody sees what it leaves."""
    checks = [s for s in walk((loop,)) if isinstance(s, n.Guard)]
    if checks and (len(checks) > 1 or checks[0] not in loop.body):
        return False
    if checks and any(buffers[name].role == "argument" for name in buffers_written(loop)):
        return False
    return all(
        s in checks or
        isinstance(s, (n.Let, n.Assign)) or (isinstance(s, n.Store) and not s.atomic)
        or (isinstance(s, n.Loop) and b.constant(s.step) == 1 and not s.fails)
        for s in walk((loop,))
    )  # fmt: skip


def _inner(loop: n.Loop) -> Iterator[n.Loop]:
    return (s for s in walk(loop.body) if isinstance(s, n.Loop))


def _times_of(x: _Leaf) -> list[Time]:
    """The times that a statement may have: a check comes in the order of the outer loop, whose first one raises."""
    if isinstance(x.statement, n.Guard):
        return [x.loops[0].axis]
    return [x.term] if x.term else [_BEGIN, *(s.axis for s in reversed(x.loops)), _END]


def _is_nonnegative(e: Expr, around: Sequence[n.Loop]) -> bool:
    low = highest(b.neg(e), around)
    return low is not None and b.is_nonnegative(b.neg(low))


def _loads(e: Expr) -> Iterator[Load]:
    return (x for x in walk_expr(e) if isinstance(x, Load))


def _leaves(s: n.Stmt, loops: tuple[n.Loop, ...]) -> Iterator[_Leaf]:
    if isinstance(s, n.Loop):
        for x in s.body:
            yield from _leaves(x, (*loops, s))
    elif isinstance(s, (n.Store, n.Guard)):
        yield _Leaf(s, loops)


def _by_leaf(accesses: Sequence[Access], leaves: Sequence[_Leaf]) -> list[list[Access]] | None:
    """The accesses of each store, where there are no others."""
    out: list[list[Access]] = []
    at = 0
    for x in leaves:
        s = x.statement
        count = isinstance(s, n.Store) + sum(1 for e in own_exprs(s) for _ in _loads(e))
        out.append(list(accesses[at : at + count]))
        at += count
        last = out[-1][-1] if out[-1] else None
        if isinstance(s, n.Store) and (
            last is None or not last.write or last.buffer != s.buffer or last.index != s.index
        ):
            return None
    return out if at == len(accesses) else None


# ---- steps -----------------------------------------------------------------------------------------------------------


def _range(x: _Leaf, time: Time) -> tuple[Expr, Expr] | None:
    """The times that a statement has, at most."""
    at = next(k for k, s in enumerate(x.loops) if s.axis == time)
    around, s = x.loops[:at], x.loops[at]
    low, high = highest(b.neg(s.start), around), highest(s.stop, around)
    return None if low is None or high is None else (b.neg(low), high)


def _part(x: _Leaf, time: Time, step: Var) -> n.Stmt | None:
    """All executions of a statement at one time, as a nest over a box, with a condition for what is not one."""
    others = [s for s in x.loops if s.axis != time]
    mine = next((s for s in x.loops if s.axis == time), None)

    def at(e: Expr) -> Expr:
        return b.substitute(e, {time: step}) if mine is not None else e

    box: list[n.Loop] = []
    conditions: list[Expr] = []
    axes = {s.axis for s in others}
    for s in others:
        start, stop = at(s.start), at(s.stop)
        low, high = highest(b.neg(start), box), highest(stop, box)
        if low is None or high is None:
            return None
        variable = Var(s.axis, "index")
        if variables_read(start) & axes:
            conditions.append(b.compare("less_equal", start, variable))
        if variables_read(stop) & axes:
            conditions.append(b.compare("less", variable, stop))
        box.append(replace(s, start=b.neg(low), stop=high, kind="parallel", body=()))
    if mine is not None:
        conditions += [b.compare("less_equal", mine.start, step), b.compare("less", step, mine.stop)]
        _narrow(box, mine.start, mine.stop, step, b.add(step, b.ONE))
    for k in range(len(others) - 1, -1, -1):
        _narrow(box[:k], at(others[k].start), at(others[k].stop), box[k].start, box[k].stop, box)
    conditions = [c for c in conditions if c != b.TRUE]
    made: n.Stmt = x.statement
    if mine is not None:
        made = map_statement(made, lambda e: b.substitute(e, {time: step}))
    if conditions:
        whole = conditions[0]
        for c in conditions[1:]:
            whole = b.both(whole, c)
        made = n.If(whole, (made,), (), span=made.span)
    for s in reversed(box):
        made = replace(s, body=(made,))
    return made


def _narrow(
    box: list[n.Loop], start: Expr, stop: Expr, low: Expr, high: Expr, into: list[n.Loop] | None = None
) -> None:
    """A box without what has none of ``low .. high`` between `start` and `stop`, where these go along with one of its
    axes: ``start < high`` and ``low < stop``."""
    into = box if into is None else into
    for k, s in enumerate(box):
        axis = Var(s.axis, "index")
        others = {x.axis for x in box} - {s.axis}
        for e, is_start in ((start, True), (stop, False)):
            terms, _ = b.affine(e)
            if terms.get(axis) != 1:
                continue
            rest = b.sub(e, axis)
            if variables_read(rest) & (others | {s.axis}):
                continue
            if is_start:
                into[k] = replace(into[k], stop=b.minimum(into[k].stop, b.sub(high, rest)))
            else:
                bound = b.add(b.sub(low, rest), b.ONE)
                into[k] = replace(into[k], start=b.maximum(into[k].start, bound))

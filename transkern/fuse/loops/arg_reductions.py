"""Running maxima and minima, and what is remembered beside them, as searches that any order may do:

    for i in 0 .. n:                              accumulator at by argmin
        for j in 0 .. m:                          parallel i in 0 .. n:
            d = …                                     accumulator least by min
            if d < best:               to             parallel j in 0 .. m:
                best := d                                 d = …
                a := i                                    least min= (d if d < best else inf)
                b := j                                at argmin= least at i
                                                  if at >= 0:
                                                      for i in at .. at + 1: …as it stands…

Values that are no better than `best` was before the loop have no say, nor has NaN, with which nothing compares. The
iteration that is found runs again as it stands: it sets what the loop as a whole would have set, the sign
of a zero too, since no iteration before it reaches what it does, and none behind it is better. With ``<=`` the last
iteration is the one: then the search goes backwards, or looks for what is best first and for its last place then. What
stands for no value is the worst of its type: where `best` is that, and equal values count, the loop goes in order.

A loop that does other things as well is taken apart: the search reads what the others have stored. That is allowed
where an element that it reads is stored just before, by one statement that stores into another element each time. It is
done where what is left is parallel then, or has constant distances, and goes in waves.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from transkern.analysis.accesses import Level
from transkern.analysis.bands import constant_distances
from transkern.analysis.verdicts import Verdict, Walk, judge, reads_of
from transkern.fuse.choices.extremes import Extreme, extremes, may_look, with_conditions, written_out
from transkern.fuse.choices.jumps import own
from transkern.fuse.loops.parallel import parallelise
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_read,
    buffers_written,
    exprs,
    names_in,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_LEAST = 64
"""Iterations of a loop inside others from which a search in any order is worth its second look."""


def reduce_extremes(program: n.Program) -> n.Program:
    """The program with loops that look for what is most or least, and where, as reductions."""
    return _reduced(program, by_lanes=False)


def reduce_extremes_by_lanes(program: n.Program) -> n.Program:
    """`reduce_extremes` for lanes, which look at few as they do at many, and twice for where an extreme is: where all
    iterations have as many inside, as arrays have."""
    return _reduced(program, by_lanes=True)


def _reduced(program: n.Program, by_lanes: bool) -> n.Program:
    if not any(map(may_look, walk(program.body))):
        return program
    walker = _Reducing(program, by_lanes)
    body = walker.block(program.body)
    if not walker.changed:
        return program
    # what stood beside a search may be parallel without it
    return parallelise(replace(program, body=body, variables=walker.variables, buffers=walker.buffers))


class _Reducing(Walk):
    loops_only = True

    def __init__(self, program: n.Program, by_lanes: bool) -> None:
        self.by_lanes = by_lanes
        self.buffers = dict(program.buffers)
        super().__init__(replace(program, buffers=self.buffers))
        self.names = Names.of(program)
        self.variables = dict(program.variables)
        self.changed = False

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            return [s]  # its iterations have the threads and the lanes
        made = self.searched(s) if isinstance(s, n.Loop) and not s.fails and _has_many(s) else None
        return [self.inside(s)] if made is None else made

    def searched(self, given: n.Loop) -> list[n.Stmt] | None:
        """The loop as searches, and what it does beside; None where it has none, or they are not worth it."""
        before, loop = self.by_value(self.straight(written_out(given)))
        found = [x for x in extremes(loop.body) if _is_alone(loop, x)]
        if not found or any(isinstance(x, (n.Guard, n.Break, n.Continue, n.Return, n.Library)) for x in walk((loop,))):
            return None
        elsewhere = self.read_outside(given)
        rest = _without(loop, found)
        does_more = self.has_effects(rest, elsewhere)
        if does_more and (self.levels or not self.gains(rest)):
            return None
        out = [*before, *(self.statement(rest) if does_more else ())]
        together = self.search(loop, found, elsewhere)  # all by one look at what they are computed from
        for made in [together] if together is not None else [self.search(loop, [x], elsewhere) for x in found]:
            if made is None:
                return None
            out += made
        self.changed = True
        if self.by_lanes:
            return out
        holds: list[Expr] = []
        if self.levels:
            holds.append(b.compare("greater_equal", b.sub(loop.stop, loop.start), b.index(_LEAST)))
        for x in found:
            if x.last and not self.looks_twice(loop):  # what is as good as `best` is told from no value
                best = Var(x.best, x.value.dtype)
                holds.append(b.compare("less" if x.op == "max" else "greater", x.nothing, best))
        if not holds:
            return out
        return [n.If(functools.reduce(b.both, holds), tuple(out), (given,), span=given.span)]

    def straight(self, loop: n.Loop) -> n.Loop:
        """The loop with searches in its body that stand in branches, where nothing in these may fail without them."""
        with self.scope():
            self.forget(loop.body)
            self.levels.append(_level(loop))
            body = with_conditions(loop.body, self.buffers, self.holds)
            self.levels.pop()
        return replace(loop, body=body)

    def is_rectangular(self, loop: n.Loop, found: Sequence[Extreme]) -> bool:
        """Whether a loop, and each inside, runs as often in all iterations of those around it; one that has nothing but
        values and searches may run over what is left of an array, in one loop in order."""
        changing = scalars_set(loop) | {level.axis for level in self.levels}
        loops = [s for s in walk(loop.body) if isinstance(s, n.Loop)]
        changing |= {loop.axis, *(s.axis for s in loops)}
        plain = all(isinstance(s, n.Let) or any(s is x.node for x in found) for s in loop.body)
        if not plain or len(self.levels) > 1:
            loops.append(loop)
        return not any(variables_read(e) & changing or buffers_read(e) for s in loops for e in (s.start, s.stop))

    def by_value(self, loop: n.Loop) -> tuple[list[n.Stmt], n.Loop]:
        """A loop that remembers where the most stands, ``if x[i] > x[k]: k = i``, with the most in a variable, and what
        sets it before the loop."""
        for s in loop.body:
            if isinstance(s, n.If) and not s.orelse and all(isinstance(x, n.Assign) for x in s.then):
                for at in s.then:
                    made = self.held(loop, s, at) if isinstance(at, n.Assign) else None
                    if made is not None:
                        return made
        return [], loop

    def held(self, loop: n.Loop, choice: n.If, at: n.Assign) -> tuple[list[n.Stmt], n.Loop] | None:
        """`by_value` for what one assignment remembers."""
        lets = {s.name: s for s in loop.body if isinstance(s, n.Let)}
        of_place = {at.name}
        for name, let in lets.items():  # each reads those before it
            if variables_read(let.value) & of_place:
                of_place.add(name)
        compared = [c for c in conjuncts(choice.condition) if variables_read(c) & of_place]
        if len(compared) != 1 or not isinstance(compared[0], Apply) or len(compared[0].args) != 2:
            return None
        sides = [e for e in compared[0].args if variables_read(e) & of_place]
        checks = [s for s in loop.body if isinstance(s, n.Guard) and variables_read(s.condition) & of_place]
        if len(sides) != 1:
            return None
        (place,) = sides
        value = next(e for e in compared[0].args if e is not place)
        if not self.comes_to(loop, at.value, checks, of_place, place, value):
            return None
        needed = _behind(place, lets)
        first = [s for s in loop.body if s in checks or (isinstance(s, n.Let) and s.name in needed)]
        changing = (scalars_set(loop) | {loop.axis}) - set(lets) - {at.name}
        read = {name for s in first for e in own_exprs(s) for name in variables_read(e)} | variables_read(place)
        buffers = {name for s in first for e in own_exprs(s) for name in buffers_read(e)} | buffers_read(place)
        counts, own = reads_of((loop,)), reads_of((*first, n.Assign("", place)))
        if read & changing or buffers & buffers_written(loop) or any(counts[name] != own[name] for name in of_place):
            return None
        most = Var(self.names.fresh(f"{at.name}_most"), place.dtype)
        self.variables[most.name] = place.dtype
        renamed = {name: self.names.fresh(name) for name in needed}
        start = with_names((*first, n.Assign(most.name, place, span=loop.span)), renamed)
        runs = b.compare("less", loop.start, loop.stop)
        before: list[n.Stmt] = [
            n.Assign(most.name, Const(0, place.dtype), span=loop.span), n.If(runs, start, span=loop.span),
        ]  # fmt: skip
        condition = b.map_expr(choice.condition, lambda e: most if e == place else None)
        held = replace(choice, condition=condition, then=(*choice.then, n.Assign(most.name, value, span=choice.span)))
        gone = [*checks, *(lets[name] for name in of_place & set(lets))]
        body = tuple(held if s is choice else s for s in loop.body if not any(s is x for x in gone))
        return before, replace(loop, body=body)

    def comes_to(
        self, loop: n.Loop, at: Expr, checks: Sequence[n.Guard], of_place: set[str], place: Expr, value: Expr
    ) -> bool:
        """Whether what is read at the `place` is `value` once `at` is the place, which is in bounds then."""

        def set_now(e: Expr) -> Expr | None:
            return at if isinstance(e, Var) and e.name in of_place else None

        with self.scope():
            self.forget(loop.body)
            self.levels.append(_level(loop))
            known = self.holds(b.compare("greater_equal", at, b.ZERO)) and all(
                self.holds(b.map_expr(s.condition, set_now)) for s in checks
            )
            self.levels.pop()
        return known and at.dtype == "index" and b.map_expr(place, set_now) == value

    def read_outside(self, loop: n.Loop) -> frozenset[str]:
        """The scalars that are read outside the loop."""
        inner = reads_of(loop.body)
        return frozenset(name for name, count in self.reads.items() if count > inner[name])

    def has_effects(self, loop: n.Loop, elsewhere: frozenset[str]) -> bool:
        """Whether a loop does anything that others see."""
        own = {name for s in walk((loop,)) for name in buffers_allocated(s)}
        return bool(buffers_written(loop) - own or scalars_set(loop) & elsewhere)

    def gains(self, rest: n.Loop) -> bool:
        """Whether what is left of a loop need not go in order."""
        verdict = self.judged(rest)
        if verdict.parallel or verdict.reducible:
            return not verdict.raises
        loops = [s for s in rest.body if isinstance(s, n.Loop)]
        if len(loops) != 1 or not verdict.by_memory_alone or verdict.raises or verdict.meeting is None:
            return False
        return constant_distances(verdict, loops[0]) is not None

    def search(self, loop: n.Loop, found: Sequence[Extreme], elsewhere: frozenset[str]) -> list[n.Stmt] | None:
        """The search for extremes, and the iterations that it finds; None where iterations need each other for it."""
        part = _sliced(loop, found)
        if part is None or len({x.last for x in found}) != 1:
            return None
        if self.by_lanes and not self.is_rectangular(part, found):
            return None
        verdict = self.verdict(_without(part, found), elsewhere)
        if not verdict.parallel or verdict.raises:
            return None
        at = [Var(self.names.fresh(f"{x.best}_at"), "index") for x in found]
        pairs = list(zip(at, found, strict=True))
        private = verdict.scalars.private

        def searching(body: tuple[n.Stmt, ...]) -> n.Loop:
            made = replace(part, kind="parallel", body=body)
            return with_own_names(made, self.names, self.variables, self.buffers, private)

        out: list[n.Stmt] = []
        last = found[0].last
        if last and self.looks_twice(loop):
            most = [Var(self.names.fresh(f"{x.best}_most"), x.value.dtype) for x in found]
            out += [n.Accumulator(m.name, x.op, m.dtype, span=loop.span) for m, x in zip(most, found, strict=True)]
            out.append(searching(self.best_of_all(part, dict(zip(most, found, strict=True)), elsewhere)))
            out += [n.Accumulator(a.name, "last", "index", span=loop.span) for a in at]
            second = searching(self.last_of_all(part, list(zip(at, most, found, strict=True)), elsewhere))
            found_any = [
                b.compare("greater_equal" if x.op == "max" else "less_equal", m, Var(x.best, m.dtype))
                for m, x in zip(most, found, strict=True)
            ]
            any_of = functools.reduce(b.either, found_any)
            out.append(second if self.by_lanes else n.If(any_of, (second,), span=loop.span))
        else:
            parallel = searching(self.combined(part, {a.name: x for a, x in pairs}, elsewhere))
            out += [n.Accumulator(a.name, f"arg{x.op}", "index", span=loop.span) for a, x in pairs]
            out.append(_backwards(parallel, self.names) if last else parallel)
        for place, x in pairs:
            turned = last and not self.looks_twice(loop)
            where = b.sub(b.sub(b.add(loop.start, loop.stop), b.ONE), place) if turned else place
            alone = _sliced(loop, [x]) or part
            once = with_own_names(alone, self.names, self.variables, self.buffers, private)
            once = replace(once, start=where, stop=b.add(where, b.ONE))
            out.append(n.If(b.compare("greater_equal", place, b.ZERO), tuple(self.again(once)), span=loop.span))
        return out

    def again(self, once: n.Loop) -> list[n.Stmt]:
        """The iteration that was found: a search of its own where there are loops in it."""
        if self.by_lanes and not any(isinstance(s, n.Loop) for s in walk(once.body)):
            self.variables[once.axis] = "index"
            return [n.Let(once.axis, once.start, span=once.span), *once.body]
        return [self.inside(once)] if any(isinstance(s, n.Loop) for s in walk(once.body)) else [once]

    def verdict(self, loop: n.Loop, elsewhere: frozenset[str]) -> Verdict:
        return judge(self.program, loop, self.surroundings(), elsewhere)

    def combined(self, loop: n.Loop, found: Mapping[str, Extreme], elsewhere: frozenset[str]) -> tuple[n.Stmt, ...]:
        """The body of a loop that looks for some of its iterations, by what they are called."""
        made: dict[int, n.Stmt] = {}
        before: list[n.Stmt] = []
        behind: list[n.Stmt] = []
        for at, x in found.items():
            value = b.where(x.node.condition, x.value, x.nothing)
            if self.is_direct(loop, x):
                made[id(x.node)] = n.Accumulate(at, f"arg{x.op}", value, Var(loop.axis, "index"), span=x.node.span)
                continue
            most = Var(self.names.fresh(f"{x.best}_most"), x.value.dtype)
            made[id(x.node)] = n.Accumulate(most.name, x.op, value, span=x.node.span)
            before.append(n.Accumulator(most.name, x.op, most.dtype, span=loop.span))
            behind.append(n.Accumulate(at, f"arg{x.op}", most, Var(loop.axis, "index"), span=x.node.span))
        return (*before, *self.marked(loop, list(found.values()), made, elsewhere), *behind)

    def looks_twice(self, loop: n.Loop) -> bool:
        """Whether what is best is looked for first, and its last place then: what computes little, and lanes, which
        look for places so anyway. Others go backwards."""
        return self.by_lanes or not any(isinstance(s, n.Loop) for s in walk(loop.body))

    def is_direct(self, loop: n.Loop, x: Extreme) -> bool:
        """Whether an iteration of the loop looks once at most: lanes have masks for branches."""
        return any(s is x.node for s in (own(loop.body) if self.by_lanes else loop.body))

    def best_of_all(
        self, loop: n.Loop, found: Mapping[Var, Extreme], elsewhere: frozenset[str]
    ) -> tuple[n.Stmt, ...]:
        """The body of a loop that looks for what is best in all of its iterations."""
        made: dict[int, n.Stmt] = {}
        for most, x in found.items():
            value = b.where(x.node.condition, x.value, x.nothing)
            made[id(x.node)] = n.Accumulate(most.name, x.op, value, span=x.node.span)
        return self.marked(loop, list(found.values()), made, elsewhere)

    def last_of_all(
        self, loop: n.Loop, found: Sequence[tuple[Var, Var, Extreme]], elsewhere: frozenset[str]
    ) -> tuple[n.Stmt, ...]:
        """The body of a loop that looks for the last iterations which have what is best."""
        made: dict[int, n.Stmt] = {}
        before: list[n.Stmt] = []
        behind: list[n.Stmt] = []
        for at, most, x in found:
            hit = b.both(x.node.condition, b.compare("equal", x.value, most))
            place = Var(loop.axis, "index")
            if self.is_direct(loop, x):
                made[id(x.node)] = n.Accumulate(at.name, "last", hit, place, span=x.node.span)
                continue
            some = Var(self.names.fresh(f"{x.best}_here"), "bool")
            made[id(x.node)] = n.Accumulate(some.name, "any", hit, span=x.node.span)
            before.append(n.Accumulator(some.name, "any", "bool", span=loop.span))
            behind.append(n.Accumulate(at.name, "last", some, place, span=x.node.span))
        return (*before, *self.marked(loop, [x for _, _, x in found], made, elsewhere), *behind)

    def marked(
        self, loop: n.Loop, found: Sequence[Extreme], made: Mapping[int, n.Stmt], elsewhere: frozenset[str]
    ) -> tuple[n.Stmt, ...]:
        """The loop's body with what is made of the extremes, and loops around them parallel where they may be."""

        def inside(s: n.Stmt) -> n.Stmt:
            if id(s) in made:
                return made[id(s)]
            if not any(id(y) in made for y in walk((s,))):
                return s
            if not isinstance(s, n.Loop):
                return with_bodies(s, lambda block: tuple(inside(y) for y in block))
            around = elsewhere | _read_beside(loop, s)
            verdict = self.verdict(_without(s, found), around)
            kind = "parallel" if verdict.parallel and not verdict.raises and b.constant(s.step) == 1 else s.kind
            return replace(s, kind=kind, body=self.marked(s, found, made, around))

        with self.scope():
            self.forget(loop.body)
            self.levels.append(_level(loop))
            out = []
            for s in loop.body:
                out.append(inside(s))
                self.learn(s)
            self.levels.pop()
        return tuple(out)


def _behind(value: Expr, lets: Mapping[str, n.Let]) -> set[str]:
    """The names of the lets that a value is computed from."""
    found = variables_read(value) & set(lets)
    while True:
        more = found | {name for known in found for name in variables_read(lets[known].value) & set(lets)}
        if more == found:
            return set(found)
        found = more


def _has_many(loop: n.Loop) -> bool:
    """Whether a loop may have many iterations."""
    count = b.constant(b.sub(loop.stop, loop.start))
    return b.constant(loop.step) == 1 and (count is None or count >= _LEAST)


def _level(loop: n.Loop) -> Level:
    return Level(loop.axis, loop.start, loop.stop, b.constant(loop.step) or 1)


def _read_beside(loop: n.Loop, inner: n.Stmt) -> frozenset[str]:
    """The scalars that a loop's body reads outside one of its statements."""
    own = reads_of((inner,))
    return frozenset(name for name, count in reads_of(loop.body).items() if count > own[name])


def _is_alone(loop: n.Loop, x: Extreme) -> bool:
    """Whether nothing else in the loop reads or sets what the extreme sets."""
    inside, own = reads_of((loop,)), reads_of((x.node,))
    sets = [s.name for s in walk((loop,)) if isinstance(s, (n.Let, n.Assign, n.Accumulator, n.Accumulate))]
    return all(
        inside[name] == own[name] == (1 if name == x.best else 0) and sets.count(name) == 1 for name in x.names
    )


def _without(loop: n.Loop, found: Sequence[Extreme]) -> n.Loop:
    nodes = [x.node for x in found]

    def left(block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(with_bodies(s, left) for s in block if not any(s is node for node in nodes))

    return replace(loop, body=left(loop.body))


# ---- what one of them needs ------------------------------------------------------------------------------------------


def _sliced(loop: n.Loop, found: Sequence[Extreme]) -> n.Loop | None:
    """The loop with what extremes are computed from alone; None where that changes meanwhile."""
    written = buffers_written(loop) - {name for s in walk((loop,)) for name in buffers_allocated(s)}
    nodes = [x.node for x in found]
    for node in nodes:
        stored = _stored_before(loop, node)
        if any(e.buffer in written and e not in stored for e in exprs((node,)) if isinstance(e, Load)):
            return None
    needed = _named(nodes) - written
    while True:
        kept = _kept(loop.body, nodes, needed)
        more = needed | (_named(kept) | variables_read(loop.start) | variables_read(loop.stop)) - written
        if more == needed:
            break
        needed = more
    part = replace(loop, body=kept)
    others = (e for e in exprs(_without(part, found).body) if isinstance(e, Load))
    return None if buffers_written(part) & written or any(e.buffer in written for e in others) else part


def _named(block: Iterable[n.Stmt]) -> set[str]:
    return {name for s in block for name in names_in(s)}


def _kept(block: Iterable[n.Stmt], nodes: Sequence[n.Stmt], needed: set[str]) -> tuple[n.Stmt, ...]:
    """The statements of a block that set what is needed, or lead to an extreme."""
    out: list[n.Stmt] = []
    for s in block:
        if any(s is node for node in nodes):
            out.append(s)
        elif any(y is node for y in walk((s,)) for node in nodes):
            out.append(with_bodies(s, lambda inner: _kept(inner, nodes, needed)))
        elif (scalars_set(s) | buffers_written(s) | set(buffers_allocated(s))) & needed:
            out.append(s)
    return tuple(out)


def _stored_before(loop: n.Loop, node: n.Stmt) -> set[Expr]:
    """The elements that are stored in front of a statement, whenever it runs, and by nothing else in the loop."""
    found: set[Expr] = set()

    def inside(block: Sequence[n.Stmt], axes: tuple[str, ...]) -> None:
        for k, s in enumerate(block):
            if any(y is node for y in walk((s,))):
                for earlier in block[:k]:
                    if isinstance(earlier, n.Store) and _is_own(loop, earlier, axes):
                        found.add(Load(earlier.buffer, earlier.index, earlier.value.dtype))
                for body in bodies(s):
                    inside(body, (*axes, s.axis) if isinstance(s, n.Loop) else axes)

    inside(loop.body, (loop.axis,))
    return found


def _is_own(loop: n.Loop, store: n.Store, axes: Sequence[str]) -> bool:
    """Whether each iteration of the loops over `axes` stores into another element, and nothing else stores there."""
    if sum(store.buffer in buffers_written(s) for s in walk((loop,)) if not list(bodies(s))) != 1:
        return False
    changing = scalars_set(loop) | {s.axis for s in walk((loop,)) if isinstance(s, n.Loop)}
    rests = [(a, b.sub(e, Var(a))) for e in store.index for a in axes]
    return all(any(a == axis and not variables_read(rest) & changing for a, rest in rests) for axis in axes)


def _backwards(loop: n.Loop, names: Names) -> n.Loop:
    """A search for the last iteration: the iterations are numbered from the end."""
    number = names.fresh(loop.axis)
    place = b.sub(b.sub(b.add(loop.start, loop.stop), b.ONE), Var(number))
    body = tuple(
        replace(s, position=Var(number, "index")) if isinstance(s, n.Accumulate) and s.position is not None else s
        for s in loop.body
    )
    return replace(loop, axis=number, body=(n.Let(loop.axis, place, span=loop.span), *body))

"""Updates of elements which data choose, in the loop's order: for each element by a thread of its own.

    for i in 0 .. n:                                  order := the iterations by the places of sums, stably
        if w[i] > 0:                         to       parallel e in 0 .. k, j in 0 .. d:
            parallel j in 0 .. d:                         for i in order, of those that go to e:
                sums[x[i], j] += v[i, j]                      sums[e, j] += v[i, j]

What goes to one element is brought together by a stable sort of the places; then a thread folds it. Each element sees
what it did in the loop, and has the same bits.

- *Property.* The iterations of a loop in order do nothing but to change elements by two operands of which one is the
  element itself, under conditions that do not change, and read nothing that another iteration changes. Along the axes
  of parallel loops inside, an element's place is the axis itself; data choose the others.
- *Legality.* Two elements have nothing to do with each other. Several updates in one loop go to different arrays, or to
  places of which a subscript is one number here and another there: each is a loop of its own.
- *Schedule.* Where a loop has many iterations for each element. Updates that go to the same places, in one loop or in
  several, have these sorted once; in a loop around that changes nothing of them, in its first iteration. A loop around
  that would run in one kernel runs on the host then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.lowering.kernels import runs_on_host
from transkern.fuse.lowering.updates import combined
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_read,
    buffers_used,
    buffers_written,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

FROM = 4096
"""Iterations from which sorting is worth its launches."""
_EACH = 16
"""Elements for each iteration at most: what is kept for each element must not cost more than the iterations do."""
_MOST = 1 << 27
"""Iterations up to which places are numbers of 32 bits, which are sorted in half the passes."""
_OUT_OF_ORDER = ("float16",)

_Block = tuple[n.Stmt, ...]
_Key = tuple[Expr, ...]


# ---- which loops -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fold:
    """An update of a loop: its store, what stands `around` it in an iteration (names, conditions as branches without a
    body, parallel loops without one), and its operation, the other operand, and whether this one comes first."""

    store: n.Store
    around: _Block
    op: str
    other: Expr
    swapped: bool

    @property
    def axes(self) -> list[n.Loop]:
        return [s for s in self.around if isinstance(s, n.Loop)]

    @property
    def chosen(self) -> list[int]:
        """The dimensions in which data choose the place; one in which it is the same in all iterations is none, where
        there are others."""
        axes = {Var(s.axis, "index") for s in self.axes}
        found = [k for k, e in enumerate(self.store.index) if e not in axes]
        return [k for k in found if not isinstance(self.store.index[k], Const)] or found

    @property
    def outside(self) -> _Block:
        """What stands around the update's parallel loops."""
        first = next((k for k, s in enumerate(self.around) if isinstance(s, n.Loop)), len(self.around))
        return self.around[:first]

    @property
    def is_conditional(self) -> bool:
        return any(isinstance(s, n.If) for s in self.around)


def folds_of(loop: n.Loop, buffers: Mapping[str, n.Buffer]) -> list[Fold]:
    """The updates of a loop in order that does nothing else; nothing where it does."""
    if loop.kind != "sequential" or loop.start != b.ZERO or loop.step != b.ONE:
        return []
    found = _folds(loop.body, (), {loop.axis})
    if not found or not all(_is_apart(f, buffers[f.store.buffer]) for f in found):
        return []
    if any(_may_meet(f.store, g.store) for k, f in enumerate(found) for g in found[:k]):
        return []
    changed = {f.store.buffer for f in found}
    for f in found:
        reads = [f.other, *f.store.index, *(e for s in f.around for e in own_exprs(s))]
        if any(changed & buffers_read(e) for e in reads):
            return []
    return found


def _may_meet(one: n.Store, two: n.Store) -> bool:
    """Whether two updates of a loop may be of one element: not where a subscript is one number here, another there."""
    pairs = zip(one.index, two.index, strict=False)
    apart = any(isinstance(x, Const) and isinstance(y, Const) and x.value != y.value for x, y in pairs)
    return one.buffer == two.buffer and not apart


def in_order_outside(s: n.Loop) -> n.Loop:
    """A parallel loop around nothing but a loop in order, turned inside out."""
    match s.body:
        case (n.Loop(kind="sequential") as inner,) if s.kind == "parallel":
            if s.axis not in variables_read(inner.start) | variables_read(inner.stop):
                return replace(inner, body=(replace(s, body=inner.body),))
        case _:
            pass
    return s


def _folds(body: Sequence[n.Stmt], around: _Block, moving: set[str]) -> list[Fold] | None:
    """The updates among statements; None where these do something else."""
    found: list[Fold] = []
    for s in body:
        match s:
            case n.Let(name):
                around, moving = (*around, s), {*moving, name}
            case n.Store():
                if (made := combined(s)) is None or s.value.dtype in _OUT_OF_ORDER:
                    return None
                index = tuple(_written_out(around, e) for e in s.index)
                found.append(Fold(replace(s, index=index), around, *made))
            case n.If(_, then, ()):
                inner = _folds(then, (*around, replace(s, then=())), moving)
                if inner is None:
                    return None
                found += inner
            case n.Loop(start=start, stop=stop, step=step, kind="parallel", body=inside):
                if start != b.ZERO or step != b.ONE or variables_read(stop) & moving:
                    return None
                inner = _folds(inside, (*around, replace(s, body=())), {*moving, s.axis})
                if inner is None:
                    return None
                found += inner
            case _:
                return None
    return found


def _written_out(around: _Block, e: Expr) -> Expr:
    """A place without the names that are made within parallel loops, which change nothing of it."""
    at = next((k for k, s in enumerate(around) if isinstance(s, n.Loop)), len(around))
    for s in reversed(around[at:]):
        if isinstance(s, n.Let):
            e = b.substitute(e, {s.name: s.value})
    return e


def _is_apart(f: Fold, into: n.Buffer) -> bool:
    """Whether iterations of the parallel loops change different elements, and data choose the rest of the place."""
    if into.layout != "C" or into.element or len(f.store.index) != len(into.dims):
        return False
    axes = {s.axis for s in f.axes}
    inside = f.around[len(f.outside) :]
    fixed = [k for k, e in enumerate(f.store.index) if isinstance(e, Const) and k not in f.chosen]
    if any(isinstance(s, n.If) for s in inside) or not f.chosen:
        return False
    if len(f.store.index) != len(f.chosen) + len(axes) + len(fixed):
        return False
    return not any(variables_read(f.store.index[k]) & axes for k in f.chosen)


# ---- what becomes of them --------------------------------------------------------------------------------------------


def sort_updates(program: n.Program) -> n.Program:
    """The program with such loops by sorted places, where these are on the host or may be."""
    made = _Sorted(program)
    body = made.block(program.body)
    return replace(program, body=body, buffers=made.buffers, variables=made.variables)


@dataclass(frozen=True, slots=True)
class _Order:
    """Places that are sorted: what they are read of, their order, and where each element's begin and end in it."""

    reads: frozenset[str]
    order: str
    begins: str
    ends: str


@dataclass(slots=True)
class _Turn:
    """The statements around an update, with names of their own for an iteration that another name stands for."""

    names: dict[str, Expr]
    around: list[n.Stmt] = field(default_factory=list)

    def of(self, e: Expr) -> Expr:
        return b.substitute(e, self.names)

    def wrapped(self, *inside: n.Stmt) -> _Block:
        body = inside
        for s in reversed(self.around):
            match s:
                case n.If():
                    body = (replace(s, then=body),)
                case n.Loop():
                    body = (replace(s, body=body),)
                case _:
                    body = (s, *body)
        return body


class _Sorted:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.sets = Counter(name for s in walk(program.body) for name in _sets(s))
        self.values = _set_once(program, self.sets)
        self.sure = False  # it has been asked whether loops have many iterations
        self.outside: n.Loop | None = None  # a loop around, in whose iterations places may be the same
        self.kept: list[n.Stmt] = []  # arrays of the orders that it keeps

    def block(self, statements: Sequence[n.Stmt]) -> _Block:
        out: list[n.Stmt] = []
        known: dict[_Key, _Order] = {}  # of the places that loops in this block have gone to
        for s in statements:
            loop = in_order_outside(s) if isinstance(s, n.Loop) else None
            folds = folds_of(loop, self.buffers) if loop is not None else []
            changed = buffers_written(s) | {x.buffer for x in walk((s,)) if isinstance(x, n.Alloc)}
            made: Sequence[n.Stmt] = self.sorted(s, loop, folds, known) if folds and loop is not None else ()
            for key in [k for k, x in known.items() if x.reads & changed]:
                del known[key]
            if not made:
                made = self.inside(s)
            out += made
        return tuple(out)

    def inside(self, s: n.Stmt) -> Sequence[n.Stmt]:
        """A statement that holds such loops, which may come to them in some iterations of the loop around alone."""
        before, self.outside = self.outside, None
        made = (isinstance(s, n.Loop) and self.around(s)) or (with_bodies(s, self.block) if runs_on_host(s) else s,)
        self.outside = before
        return made

    def plain(self, e: Expr) -> Expr:
        """`e` without names for what is known by other names."""

        def value(x: Expr) -> Expr | None:
            return self.plain(self.values[x.name]) if isinstance(x, Var) and x.name in self.values else None

        return b.map_expr(e, value)

    def many(self, s: n.Loop, folds: Sequence[Fold]) -> Expr:
        """Whether the loop has so many iterations that sorting pays."""
        asked: list[Expr] = [
            b.compare("greater_equal", s.stop, b.index(FROM)), b.compare("less", s.stop, b.index(_MOST))
        ]
        for f in folds:
            asked.append(b.compare("less_equal", self.size(f), b.mul(b.index(_EACH), s.stop)))
            asked += [b.compare("greater", x.stop, b.ZERO) for x in f.axes]  # else no place may be there
        return reduce(b.both, asked)

    def size(self, f: Fold) -> Expr:
        """How many places data choose among."""
        return b.product(tuple(self.buffers[f.store.buffer].dims[k] for k in f.chosen))

    def around(self, s: n.Loop) -> Sequence[n.Stmt]:
        """A loop around such loops, which would be one kernel: on the host where they have many iterations."""
        if s.kind != "sequential" or s.fails or runs_on_host(s):
            return ()
        loops = [in_order_outside(x) for x in s.body if isinstance(x, n.Loop)]
        found = [(x, made) for x in loops if (made := folds_of(x, self.buffers))]
        inside = {name for x in walk((s,)) for name in _sets(x)}
        many = [self.many(x, folds) for x, folds in found]
        made_inside = {x.buffer for x in walk((s,)) if isinstance(x, n.Alloc)}
        if not many or any(variables_read(e) & inside or buffers_read(e) for e in many):
            return ()
        if made_inside & _used_outside(self.program.body, s):
            return ()
        copy = with_own_names(s, self.names, self.variables, self.buffers)
        before = self.sure, self.outside, self.kept
        self.sure, self.outside, self.kept = True, copy, []
        body = self.block(copy.body)
        whole = (*self.kept, replace(copy, body=body))
        self.sure, self.outside, self.kept = before
        return (n.If(reduce(b.both, many), whole, (s,), span=s.span),)

    def stays(self, reads: frozenset[str], asked: Sequence[Expr]) -> bool:
        """Whether places are the same in all iterations of the loop around."""
        around = self.outside
        if around is None or reads & (buffers_written(around) | buffers_allocated(around)):
            return False
        inside = {around.axis, *scalars_set(around), *(name for x in walk((around,)) for name in _sets(x))}
        if any(isinstance(x, (n.Break, n.Continue)) for x in walk(around.body)):
            return False  # the first iteration may not come there
        return not any(variables_read(e) & inside for e in asked)

    def sorted(
        self, as_it_was: n.Stmt, s: n.Loop, folds: Sequence[Fold], known: dict[_Key, _Order]
    ) -> Sequence[n.Stmt]:
        """The loop behind a test of how many iterations it has, and what takes its place where these are many."""
        many = self.many(s, folds)
        before: list[n.Stmt] = []
        steps: list[n.Stmt] = []
        for f in folds:
            into, size = self.buffers[f.store.buffer], self.size(f)
            turn = self.turn(f.outside, {s.axis: Var("", "index")}, substitute=True)
            conditions = [x.condition for x in turn.around if isinstance(x, n.If)]
            index = [turn.of(f.store.index[k]) for k in f.chosen]
            asked = (s.stop, *(into.dims[k] for k in f.chosen), *index, *conditions)
            key = tuple(map(self.plain, asked))
            had = known.get(key)
            if had is None or any(self.sets[name] > 1 for e in key for name in variables_read(e)):
                order, begins, ends = (self.names.fresh(base) for base in ("order", "begins", "ends"))
                reads = frozenset(x for e in (*index, *conditions) for x in buffers_read(e))
                had = known[key] = _Order(reads, order, begins, ends)
                once = self.sure and self.stays(reads, asked)
                for name, extent in ((order, s.stop), (begins, size), (ends, size)):  # loops behind read them, too
                    held = extent if self.sure else b.where(many, extent, b.ZERO)
                    self.buffers[name] = n.Buffer(name, "int64", (held,))
                    (self.kept if once else before).append(n.Alloc(name))
                if once and (loop := self.outside) is not None:
                    first = b.compare("equal", Var(loop.axis, "index"), loop.start)
                    steps.append(n.If(first, tuple(self.in_order(s, f, size, had)), (), span=s.span))
                else:
                    steps += self.in_order(s, f, size, had)
            steps += self.steps(s, f, size, had)
        if self.sure:
            return (*before, *steps)
        return (*before, n.If(many, tuple(steps), (as_it_was,), span=s.span))

    def in_order(self, s: n.Loop, f: Fold, size: Expr, had: _Order) -> Iterator[n.Stmt]:
        """Sorts the places, and looks where each element's begin and end. An iteration that changes nothing goes
        behind all elements."""
        into, count = self.buffers[f.store.buffer], s.stop
        places = self.array("places", "int32", count)
        axis = Var(self.names.fresh("k"), "index")
        turn = self.turn(f.outside, {s.axis: axis})
        place = b.ravel([turn.of(f.store.index[k]) for k in f.chosen], tuple(into.dims[k] for k in f.chosen))
        nowhere = [n.Store(places, (axis,), b.cast(size, "int32"))] if f.is_conditional else []
        yield n.Alloc(places)
        stored = turn.wrapped(n.Store(places, (axis,), b.cast(place, "int32")))
        yield _loop(s, axis, count, *nowhere, *stored)
        yield n.Library("argsort", (had.order,), (places,), (("axis", 0), ("kind", "stable")), span=s.span)

        element = Var(self.names.fresh("e"), "index")
        none = Const(0, "int64")
        yield _loop(
            s, element, size, n.Store(had.begins, (element,), none), n.Store(had.ends, (element,), none)
        )
        axis, here = Var(self.names.fresh("k"), "index"), Var(self.names.fresh("here"), "int32")
        target = b.cast(here, "index")

        def at(place: Expr) -> Expr:
            return Load(places, (b.cast(Load(had.order, (place,), "int64"), "index"),), "int32")

        def other_than(neighbour: Expr) -> Expr:
            return Apply("not_equal", (at(neighbour), here), "bool")

        first = b.either(b.compare("equal", axis, b.ZERO), other_than(b.sub(axis, b.ONE)))
        last = b.either(b.compare("equal", axis, b.sub(count, b.ONE)), other_than(b.add(axis, b.ONE)))
        found: _Block = (
            n.If(first, (n.Store(had.begins, (target,), b.cast(axis, "int64")),), ()),
            n.If(last, (n.Store(had.ends, (target,), b.cast(b.add(axis, b.ONE), "int64")),), ()),
        )
        if f.is_conditional:
            found = (n.If(b.compare("less", target, size), found, ()),)
        yield _loop(s, axis, count, n.Let(here.name, at(axis)), *found)

    def array(self, base: str, kind: str, *dims: Expr) -> str:
        name = self.names.fresh(base)
        self.buffers[name] = n.Buffer(name, kind, dims)
        return name

    def steps(self, s: n.Loop, f: Fold, size: Expr, had: _Order) -> Iterator[n.Stmt]:
        """Brings the terms of each element together, and folds them."""
        into, dtype = self.buffers[f.store.buffer], f.store.value.dtype
        count, axes = s.stop, f.axes

        def at(name: str, *place: Expr, kind: str = "int64") -> Expr:
            return Load(name, place, kind)

        kind = f.other.dtype if f.other.dtype != "index" else "int64"
        terms = self.array("terms", kind, count, *(x.stop for x in axes))
        axis, here = Var(self.names.fresh("k"), "index"), Var(self.names.fresh("turn"), "index")
        turn = self.turn(f.around, {s.axis: here})
        along = [turn.of(Var(x.axis, "index")) for x in axes]
        term = n.Store(terms, (axis, *along), b.cast(turn.of(f.other), kind))
        yield n.Alloc(terms)
        yield _loop(s, axis, count, n.Let(here.name, b.cast(at(had.order, axis), "index")), *turn.wrapped(term))

        element, axis = Var(self.names.fresh("e"), "index"), Var(self.names.fresh("k"), "index")
        start, stop = (Var(self.names.fresh(base), "index") for base in ("begin", "end"))
        value = Var(self.names.fresh("value"), dtype)
        self.variables[value.name] = dtype
        turn = self.turn(axes, {})
        along = [turn.of(Var(x.axis, "index")) for x in axes]
        read = b.cast(at(terms, axis, *along, kind=kind), f.other.dtype)
        changed = Apply(f.op, (read, value) if f.swapped else (value, read), dtype)
        places = iter(b.unravel(element, tuple(into.dims[k] for k in f.chosen)))
        where = tuple(next(places) if k in f.chosen else turn.of(e) for k, e in enumerate(f.store.index))
        each = n.Loop(axis.name, start, stop, b.ONE, "sequential", (n.Assign(value.name, changed),), span=s.span)
        folds = (n.Assign(value.name, Load(into.name, where, dtype)), each, n.Store(into.name, where, value))
        yield _loop(
            s, element, size, *turn.wrapped(
                n.Let(start.name, b.cast(at(had.begins, element), "index")),
                n.Let(stop.name, b.cast(at(had.ends, element), "index")),
                n.If(b.compare("greater", stop, start), folds, ()),
            ),
        )  # fmt: skip

    def turn(self, around: Sequence[n.Stmt], names: dict[str, Expr], substitute: bool = False) -> _Turn:
        """The statements with names of their own, or, to `substitute`, without names."""
        made = _Turn(dict(names))
        for s in around:
            match s:
                case n.Let(name, value) if substitute:
                    made.names[name] = made.of(value)
                case n.Let(name, value):
                    own = Var(self.names.fresh(name), value.dtype)
                    made.around.append(replace(s, name=own.name, value=made.of(value)))
                    made.names[name] = own
                case n.If(condition):
                    made.around.append(replace(s, condition=made.of(condition)))
                case n.Loop(axis, stop=stop):
                    own = Var(self.names.fresh(axis), "index")
                    made.around.append(replace(s, axis=own.name, stop=made.of(stop)))
                    made.names[axis] = own
                case _:
                    raise AssertionError(f"around an update: {s}")
        return made


def _loop(s: n.Loop, axis: Var, stop: Expr, *body: n.Stmt) -> n.Stmt:
    return n.Loop(axis.name, b.ZERO, stop, b.ONE, "parallel", body, span=s.span)


def _used_outside(block: Sequence[n.Stmt], loop: n.Loop) -> set[str]:
    """The arrays that statements outside of the loop use."""
    found: set[str] = set()
    for s in block:
        if s is loop:
            continue
        if any(x is loop for x in walk((s,))):
            found |= {name for e in own_exprs(s) for name in buffers_read(e)}
            for body in bodies(s):
                found |= _used_outside(body, loop)
        else:
            found |= set(buffers_used(s)) | buffers_written(s)
    return found


def _set_once(program: n.Program, counts: Mapping[str, int]) -> dict[str, Expr]:
    """The scalars that one statement outside of loops gives another name, or a value of such."""
    found: dict[str, Expr] = {}

    def look(statements: Sequence[n.Stmt]) -> None:
        for s in statements:
            if isinstance(s, (n.Let, n.Assign)) and counts[s.name] == 1 and isinstance(s.value, Var | Const):
                if not isinstance(s.value, Var) or counts.get(s.value.name, 0) <= 1:
                    found[s.name] = s.value

    look(program.body)
    return found


def _sets(s: n.Stmt) -> Iterator[str]:
    if isinstance(s, (n.Let, n.Assign, n.Accumulator)):
        yield s.name
    elif isinstance(s, (n.Loop, n.Scanning)):
        yield s.axis
    elif isinstance(s, n.Compact):
        yield from (s.axis, s.count)

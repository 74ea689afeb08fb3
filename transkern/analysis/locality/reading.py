"""One reading of a program, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from transkern.analysis.locality.held import HIGH, LOW, Context, Extent, Held, Locality, Reason, United, growth, joined
from transkern.analysis.locality.loops import breaks, made_inside, only_checked, places, used_elsewhere
from transkern.analysis.locality.places import Along, Linear, Places
from transkern.analysis.locality.results import close, result
from transkern.analysis.locality.running import Running
from transkern.analysis.locality.steps import library
from transkern.analysis.locality.targets import Target
from transkern.analysis.scalars import exposed
from transkern.ir import nodes as n
from transkern.ir.expr import NOWHERE, Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import buffers_used, buffers_written, continued, scalars_set, walk

_SETTLED = 3  # steps after which growth that has not changed is taken to go on

_MOST = 200

_SHORT = 64  # steps whose counter is taken for an offset: a window


class Reading:
    """One reading of a program, with what is known of axes so far."""

    def __init__(
        self, program: n.Program, numbers: Mapping[str, int], sizes: Mapping[str, int], found: Locality
    ) -> None:
        self.program, self.sizes, self.found = program, sizes, found
        found.axes, found.least, found.results = {}, {}, []
        self.known: dict[str, int | Linear] = dict(numbers)
        self.places = Places(found.axis, set(sizes), self.known, least=found.least)
        self.held: dict[str, Held] = {}
        self.only_checked = only_checked(program)
        self.private: dict[str, int] = {}  # buffers that each iteration has for itself: of how many loops around
        self.loops: list[str] = []  # axes of the loops around, whose iterations know nothing of each other
        self.span = NOWHERE

    def run(self) -> None:
        p = self.program
        for name, buffer in p.buffers.items():
            self.held[name] = Held(tuple(self.extent(d) for d in buffer.dims))
        self.block(p.body, {})
        returned = [s for s in walk(p.body) if isinstance(s, n.Return)]
        if len(returned) != 1:
            self.all_whole("it returns in several places")
            return
        self.span = returned[0].span
        result(self, returned[0].result)
        close(self)

    # --- axes

    def whole(self, size: str, text: str) -> None:
        """Notes that an axis has to be whole."""
        if size and (axis := self.found.axis(size)) not in self.found.whole:
            self.found.whole[axis] = Reason(text, self.span)

    def all_whole(self, text: str) -> None:
        for size in self.sizes:
            self.whole(size, text)

    def is_whole(self, size: str) -> bool:
        return self.found.axis(size) in self.found.whole

    def unite(self, one: str, two: str) -> None:
        """Notes that two sizes, which have to be equal, are one axis."""
        one, two = self.found.axis(one), self.found.axis(two)
        if one == two:
            return
        if self.sizes[one] != self.sizes[two]:
            self.whole(one, "it meets an axis of another length")
            self.whole(two, "it meets an axis of another length")
            return
        self.found.same[two] = one
        self.found.whole.clear()  # said of two axes
        raise United

    def extent(self, dim: Expr) -> Extent:
        form = self.places.linear(dim)
        if form is not None and len(form.terms) == 1 and form.terms[0][1] == 1 and form.terms[0][0] in self.sizes:
            return Extent(self.found.axis(form.terms[0][0]), form.offset)
        return Extent()

    # --- statements

    def block(self, body: Iterable[n.Stmt], context: Context) -> None:
        for s in body:
            self.span = s.span if s.span != NOWHERE else self.span
            self.statement(s, context)

    def statement(self, s: n.Stmt, context: Context) -> None:
        match s:
            case n.Define(buffer, axes, value):
                with Running(self, axes):
                    self.held[buffer] = replace(self.held[buffer], ends=frozenset())
                    index = tuple(a.var for a in axes)
                    extents = tuple(replace(e, low=0, high=0) for e in self.held[buffer].extents)
                    self.store(buffer, index, [value], context, extents)
            case n.Scan(_, buffer, axes, value, along):
                self.whole(self.extent(axes[along].extent).size, "its elements are added up one after the other")
                with Running(self, axes):
                    self.store(buffer, [a.var for a in axes], [value], context)
            case n.Write(buffer, axes, index, value, mask):
                with Running(self, axes):
                    self.store(buffer, index, [value, *([mask] if mask is not None else [])], context)
            case n.Store(buffer, index, value):
                self.store(buffer, index, [value], context)
            case n.Let(name, value) | n.Assign(name, value):
                form = self.places.subscript(value) if value.dtype in ("index", "int64") else None
                if form is not None and isinstance(s, n.Let):
                    self.known[name] = form
                    return
                if name in self.only_checked:
                    self.checked(value, context)
                    return
                self.known.pop(name, None)
                self.scalar(name, value, context)
            case n.Accumulate(name, _, value, position):
                for part in (value, *([position] if position is not None else [])):
                    self.scalar(name, part, context)
            case n.Accumulator(name) | n.Alloc(name):
                pass
            case n.Guard(condition):
                self.guard(condition, context)
            case n.Loop():
                self.loop(s, context)
            case n.While(head, condition, body):
                self.steps((*head, *body), [condition], None, context)
            case n.If(condition, then, orelse):
                self.branch(condition, then, orelse, context)
            case n.Library():
                library(self, s)
            case n.Return() | n.Fetch() | n.Continue():
                pass
            case _:
                for name in buffers_used(s):
                    for e in self.held[name].extents if name in self.held else ():
                        self.whole(e.size, "it is taken apart by what the elements are")
                for axis in getattr(s, "axes", ()):
                    self.whole(self.extent(axis.extent).size, "it is taken apart by what the elements are")

    def guard(self, condition: Expr, context: Context) -> None:
        """A check: two sizes that have to be equal are one axis; others are about elements, or about what is long
        enough in the middle."""
        match condition:
            case Apply("equal", (one, two)):
                left, right = self.places.linear(one), self.places.linear(two)
                if left is not None and right is not None and len(left.terms) == len(right.terms) == 1:
                    (first, a), (second, c) = left.terms[0], right.terms[0]
                    if a == c == 1 and left.offset == right.offset and first in self.sizes and second in self.sizes:
                        self.unite(first, second)
                        return
        if self.places.truth(condition) is None:
            self.checked(condition, context)

    def checked(self, e: Expr, context: Context) -> None:
        """A condition that holds for an array where it holds for each of its chunks."""
        match e:
            case Reduce("any" | "all" | "max" | "min" | "first" | "last", axes, body):
                with Running(self, axes):
                    self.checked(body, context)
            case Apply(_, args):
                for part in args:
                    self.checked(part, context)
            case _:
                self.value(e, context, Target(self, "", (), context))

    def branch(self, condition: Expr, then: tuple[n.Stmt, ...], orelse: tuple[n.Stmt, ...], context: Context) -> None:
        ends = self.ends_of(condition)
        if ends is None:
            self.value(condition, context, Target(self, "", (), context))
            before = dict(self.held)
            self.block(then, context)
            one, self.held = self.held, before
            self.block(orelse, context)
            self.held = {name: joined(one.get(name, h), h) for name, h in self.held.items()}
            return
        inside, outside = (then, orelse) if self.places.truth(condition) else (orelse, then)
        before = dict(self.held)
        self.block(outside, {**context, **ends})
        beside, self.held = self.held, before
        self.block(inside, context)
        self.held = {name: joined(beside.get(name, h), h) for name, h in self.held.items()}

    def ends_of(self, condition: Expr) -> dict[str, str] | None:
        """The ends of axes at which alone a condition is otherwise than in the middle; None where that is not known."""
        axes = self.places.axes
        before = {name: (a.low, a.high) for name, a in axes.items()}
        for a in axes.values():
            a.low = a.high = 0
        truth = self.places.truth(condition)
        ends: dict[str, str] = {}
        for name, a in axes.items():
            if a.low or a.high:
                ends[a.size] = "both" if (a.low and a.high) or a.size in ends else LOW if a.low else HIGH
            a.low, a.high = max(a.low, before[name][0]), max(a.high, before[name][1])
        return ends if truth is not None else None

    # --- loops

    def loop(self, s: n.Loop, context: Context) -> None:
        start, stop, step = (self.places.linear(e) for e in (s.start, s.stop, s.step))
        if start is not None and stop is not None and step == Linear(offset=1) and not start.terms:
            run = stop.plus(start, -1)
            if len(run.terms) == 1 and run.terms[0][1] == 1 and run.terms[0][0] in self.sizes:
                size = self.found.axis(run.terms[0][0])
                if not self.is_whole(size):
                    if self.is_parallel(s, size):
                        name = f"{s.axis}'"
                        self.places.axes[name] = Along(size, run.offset)
                        self.known[s.axis] = Linear(((name, 1),), start.offset)
                        self.loops.append(name)
                        with self.own_buffers(s):
                            self.block(s.body, context)
                        self.loops.pop()
                        del self.places.axes[name], self.known[s.axis]
                        return
                    self.whole(size, "its elements are computed one after the other")
        count = self.count(start, stop, step)
        if count is not None and count <= _SHORT and step is not None and start is not None:
            name = f"{s.axis}'"
            self.places.counters[name] = max(count, 1)
            self.known[s.axis] = Linear(((name, step.offset),)).plus(start)
            self.steps(s.body, [], count, context)
            del self.places.counters[name], self.known[s.axis]
            return
        self.known.pop(s.axis, None)
        for e in (s.start, s.stop, s.step):
            if self.places.linear(e) is None:
                self.value(e, context, Target(self, "", (), context))
        self.steps(s.body, [], count, context)

    def count(self, start: Linear | None, stop: Linear | None, step: Linear | None) -> int | None:
        """How many steps a loop has, where no axis that is cut says so."""
        if start is None or stop is None or step is None or step.terms or not step.offset:
            return None
        ends = []
        for form in (start, stop):
            if not all(name in self.sizes for name, _ in form.terms):
                return None
            for name, _ in form.terms:
                self.whole(name, "its length is a number of steps")
            ends.append(sum(self.sizes[name] * by for name, by in form.terms) + form.offset)
        first, last = ends
        return len(range(first, last, step.offset))

    def steps(
        self, body: Sequence[n.Stmt], conditions: Sequence[Expr], count: int | None, context: Context
    ) -> None:
        """Steps that are taken one after the other: what they overlap adds up."""
        grown: list[dict[tuple[str, int, str], int]] = []
        done = 0
        while count is None or done < count:
            before = dict(self.held)
            for e in conditions:
                self.value(e, context, Target(self, "", (), context))
            self.block(body, context)
            self.held = {name: joined(before.get(name, h), h) for name, h in self.held.items()}
            done += 1
            grown.append(growth(before, self.held))
            if not grown[-1] and self.held == before:
                return
            if done >= _SETTLED and grown[-1] == grown[-2] == grown[-3]:
                if count is None:
                    for name, k, _ in grown[-1]:
                        self.whole(self.held[name].extents[k].size, "nobody knows how many steps there are")
                    return
                self.grow(grown[-1], count - done)
                return
            if done >= _MOST:
                self.all_whole("its steps reach ever further")
                return

    def grow(self, by: Mapping[tuple[str, int, str], int], times: int) -> None:
        for (name, k, end), more in by.items():
            extents = list(self.held[name].extents)
            e = extents[k]
            extents[k] = replace(e, low=e.low + more * times) if end == LOW else replace(e, high=e.high + more * times)
            self.held[name] = replace(self.held[name], extents=tuple(extents))

    def is_parallel(self, s: n.Loop, size: str) -> bool:
        """Whether an iteration uses nothing that another one has made, and nobody later what the last one leaves."""
        inside = list(walk(s.body))
        if any(isinstance(x, (n.Return, n.Scatter, n.Compact)) for x in inside):
            return False
        if any(isinstance(x, n.Filter) and x.append for x in inside):
            return False
        if breaks(s.body) or continued(s.body):
            return False
        own = {name for x in inside for name in scalars_set(x)}
        if any(exposed(s.body, name) for name in own) or own & used_elsewhere(self.program, s):
            return False
        for name in {name for x in inside for name in buffers_written(x)} - made_inside(self.program, s):
            along = [k for k, e in enumerate(self.held[name].extents) if self.found.axis(e.size) == size and e.size]
            behind = {tuple(self.offset_of(i, s.axis) for k, i in enumerate(index) if k in along)
                      for index in places(inside, name)}  # fmt: skip
            if len(along) != 1 or len(behind) != 1 or None in next(iter(behind)):
                return False
        return True

    @contextmanager
    def own_buffers(self, s: n.Loop) -> Iterator[None]:
        """While the body of a loop is read whose iterations know nothing of each other."""
        new = made_inside(self.program, s) - set(self.private)
        for name in new:
            self.private[name] = len(self.loops)
            loops = [self.places.axes[axis] for axis in self.loops]
            outer = tuple(Extent(self.found.axis(a.size), a.more) for a in loops)
            self.held[name] = Held((*outer, *self.held[name].extents))
        yield
        for name in new:
            self.held[name] = Held(self.held[name].extents[self.private.pop(name) :])
        for name in {name for x in walk(s.body) for name in scalars_set(x)}:  # nobody uses them outside
            self.held.pop(name, None)

    def offset_of(self, index: Expr, axis: str) -> int | None:
        """How far a subscript is behind the counter of a loop."""
        self.known[axis] = Linear(((axis, 1),))
        form = self.places.linear(index)
        del self.known[axis]
        return form.offset if form is not None and form.terms == ((axis, 1),) else None

    # --- values

    def scalar(self, name: str, value: Expr, context: Context) -> None:
        """A number: each iteration of the loops around has its own, as if it had their axes."""
        loops = [self.places.axes[axis] for axis in self.loops]
        extents = tuple(Extent(self.found.axis(along.size), along.more) for along in loops)
        before = self.held.get(name, Held(extents))
        target = Target(self, name, before.extents if len(before.extents) == len(extents) else extents, context)
        target.aim(self.iteration())
        self.value(value, context, target)
        self.held[name] = Held(target.landed(), before.ends | target.ends)

    def iteration(self) -> list[Linear | None]:
        return [Linear(((axis, 1),)) for axis in self.loops]

    def own(self, buffer: str) -> list[Linear | None]:
        """Subscripts in front of those of a buffer that each iteration has for itself."""
        return self.iteration()[: self.private.get(buffer, 0)]

    def store(
        self, buffer: str, index: Sequence[Expr], values: Sequence[Expr], context: Context,
        extents: tuple[Extent, ...] | None = None,
    ) -> None:  # fmt: skip
        """Elements of a buffer get values; `extents` are its axes before, where others than those that it has."""
        held = self.held[buffer]
        target = Target(self, buffer, extents if extents is not None else held.extents, context)
        forms = [self.places.subscript(i) for i in index]
        target.aim(self.own(buffer) + forms)
        for i, form in zip(index, forms, strict=True):
            if form is None:
                self.value(i, {}, target)
        for value in values:
            self.value(value, context, target)
        self.held[buffer] = Held(target.landed(), held.ends | target.ends)

    def value(self, e: Expr, context: Context, target: Target) -> None:
        """Everything that a value reads, on the way to `target`."""
        match e:
            case Const():
                return
            case Var(name):
                self.variable(name, target)
            case Load(buffer, index):
                forms = [self.places.subscript(i) for i in index]
                target.reads(buffer, self.own(buffer) + forms, context)
                for i, form in zip(index, forms, strict=True):
                    if form is None:
                        self.value(i, context, target)
            case Reduce(_, axes, body):
                with Running(self, axes):
                    for axis in axes:
                        self.whole(self.extent(axis.extent).size, "all of it goes into one number")
                    self.value(body, context, target)
            case Apply("where", (condition, one, two)):
                ends = self.ends_of(condition)
                if ends is None:
                    for part in (condition, one, two):
                        self.value(part, context, target)
                    return
                inside, outside = (one, two) if self.places.truth(condition) else (two, one)
                self.value(inside, context, target)
                self.value(outside, {**context, **ends}, target)
            case Apply(_, args):
                if e.dtype == "bool" and self.places.truth(e) is not None:
                    return
                for part in args:
                    self.value(part, context, target)

    def variable(self, name: str, target: Target) -> None:
        """A number that is a value: where it says a place or a length, results depend on those."""
        form = self.places.linear(Var(name))
        for part in form.names if form is not None else ():
            if part in self.places.axes:
                self.whole(self.places.axes[part].size, "the value of an element depends on its place")
            elif part in self.sizes:
                self.whole(part, "its length goes into the result")
        if name in self.held:
            target.reads(name, self.iteration()[: len(self.held[name].extents)], target.context)

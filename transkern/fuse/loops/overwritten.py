"""An element that is stored behind the loop that makes its array is chosen in there:

    for p in 0 .. n: keep[p] = c(p)                for p in 0 .. n: keep[p] = v if p == i else c(p)
    keep[i] = v                              to    for p in 0 .. n: … keep[p] …
    for p in 0 .. n: … keep[p] …

So can those along a line be (the diagonal of a matrix). The loops that read the array can then be put together with the
one that makes it, and the array go. That pays where the array is the function's own and read element by element, and it
is legal where the element is one of those that the loop stores (else it would not be stored at all) and where neither
its place nor its value depends on what the loop does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def choose_overwritten(program: n.Program) -> n.Program:
    """The program with stores of single elements as choices in the loops that make their arrays."""
    walked = _Choosing(program)
    return replace(program, body=walked.block(program.body))


class _Choosing(Walk):
    def through(self, statements: Sequence[n.Stmt]) -> list[n.Stmt]:
        left = list(statements)
        out: list[n.Stmt] = []
        while left:
            s = left.pop(0)
            if isinstance(s, n.Loop) and s.kind == "parallel":
                while (found := self.overwriting(s, left)) is not None:
                    s, left = found
            out += super().through([s])
        return out

    def overwriting(self, loop: n.Loop, behind: list[n.Stmt]) -> tuple[n.Loop, list[n.Stmt]] | None:
        """The loop with the first store into what it makes, and the statements behind it without that."""
        made = buffers_written(loop) | scalars_set(loop)
        between: set[str] = set()
        checked: list[Expr] = []
        named: dict[str, Expr] = {}
        for k, s in enumerate(behind):
            store, along = _single_store(s)
            if isinstance(s, n.Guard):  # where it fails, nobody reads the array
                checked += conjuncts(s.condition)
            elif isinstance(s, n.Let):
                named[s.name] = b.substitute(s.value, named)
                continue
            elif store is None:
                return None
            if store is not None and store.buffer in made:
                rest = behind[k + 1 :]
                store = replace(
                    store, index=tuple(b.substitute(i, named) for i in store.index),
                    value=b.substitute(store.value, named),
                )  # fmt: skip
                parts = [*own_exprs(store), *(own_exprs(along) if along is not None else ())]
                read = {name for e in parts for name in variables_read(e) | buffers_read(e)}
                if read & (made | between) or store.buffer in between or read & named.keys():
                    return None
                if not self.is_read_by_element(store.buffer, rest):
                    return None
                with self.scope():
                    self.facts += [c for c in checked if (variables_read(c) | buffers_read(c)).isdisjoint(made)]
                    chosen = self.choosing(loop, store, along)
                return None if chosen is None else (chosen, [*behind[:k], *rest])
            between |= buffers_written(s) | scalars_set(s)
        return None

    def is_read_by_element(self, buffer: str, behind: list[n.Stmt]) -> bool:
        """Whether an array is the function's own, and read by the loops behind element by element, and nowhere else."""
        info = self.program.buffers.get(buffer)
        if info is None or info.role != "temporary":
            return False
        axes = {x.axis for s in behind for x in walk((s,)) if isinstance(x, n.Loop | n.Compact)}
        here = 0
        for x in (x for s in behind for x in walk((s,))):
            if isinstance(x, n.Library | n.Return | n.Filter) and buffer in buffers_used(x):
                return False
            for e in (e for own in own_exprs(x) for e in walk_expr(own)):
                if isinstance(e, Load) and e.buffer == buffer:
                    names = [i.name for i in e.index if isinstance(i, Var)]
                    if len(set(names)) != len(info.dims) or not axes.issuperset(names):
                        return False
                    here += 1
        return here > 0 and here == self.loads[buffer]

    @cached_property
    def loads(self) -> Counter[str]:
        """How often the program reads each array."""
        return Counter(e.buffer for e in exprs(self.program.body) if isinstance(e, Load))

    def choosing(self, loop: n.Loop, s: n.Store, along: n.Loop | None) -> n.Loop | None:
        """The loop that stores the value of `s`, for each iteration of `along`, at its place."""
        store: n.Store | None = None
        nest: list[n.Loop] = []
        at: n.Stmt = loop
        while isinstance(at, n.Loop):
            if at.kind != "parallel" or at.step != b.ONE:
                return None
            nest.append(at)
            inside = [x for x in at.body if s.buffer in buffers_written(x)]
            if len(inside) != 1:
                return None
            (at,) = inside
            store = at if isinstance(at, n.Store) else None
        axes = {x.axis: x for x in nest}
        if store is None or s.buffer in buffers_used(loop):
            return None
        points = [i.name for i in store.index if isinstance(i, Var)]
        if sorted(points) != sorted(axes) or len(points) != len(s.index):
            return None
        if any((variables_read(x.start) | variables_read(x.stop)) & axes.keys() for x in nest):
            return None
        if not all(self.stays_inside(i, axes[name], along) for name, i in zip(points, s.index, strict=True)):
            return None
        here = _where(points, s.index, along)
        dtype = self.program.buffers[s.buffer].dtype
        value = Apply("where", (here, b.cast(s.value, dtype), b.cast(store.value, dtype)), dtype)
        return _with(loop, store, replace(store, value=value))

    def stays_inside(self, place: Expr, axis: n.Loop, along: n.Loop | None) -> bool:
        """Whether a loop comes by the place, or by that of each iteration of `along`."""
        inside = b.both(b.compare("less_equal", axis.start, place), b.compare("less", place, axis.stop))
        if along is None:
            return self.holds(inside)
        self.levels.append(Level(along.axis, along.start, along.stop, 1))
        holds = self.holds(inside)
        self.levels.pop()
        return holds


def _single_store(s: n.Stmt) -> tuple[n.Store | None, n.Loop | None]:
    """A store of one element, or one along a line in an array, whose value is the same for all of them."""
    match s:
        case n.Store():
            return s, None
        case n.Loop(axis, _, _, step, "parallel", (n.Store(_, index, value) as store,)) if step == b.ONE:
            moved = [b.sub(i, Var(axis, "index")) for i in index if axis in variables_read(i)]
            if moved and axis not in {v for e in (*moved, value) for v in variables_read(e)}:
                return store, s
    return None, None


def _where(points: Sequence[str], index: Sequence[Expr], along: n.Loop | None) -> Expr:
    """When the point is one of those that are stored into."""
    places: list[tuple[Expr, Expr]] = [(Var(name, "index"), i) for name, i in zip(points, index, strict=True)]
    here: Expr = b.TRUE
    if along is not None:
        axis = along.axis
        point, i = next((point, i) for point, i in places if axis in variables_read(i))
        which = b.sub(point, b.sub(i, Var(axis, "index")))  # the iteration that stores there, if there is one
        here = b.both(b.compare("less_equal", along.start, which), b.compare("less", which, along.stop))
        places = [(x, b.substitute(y, {axis: which})) for x, y in places if x != point]
    for point, i in places:
        here = b.both(here, b.compare("equal", point, i))
    return here


def _with(loop: n.Loop, old: n.Store, new: n.Store) -> n.Loop:
    """The loop with another store in its place."""

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(new if s is old else with_bodies(s, block) for s in body)

    return replace(loop, body=block(loop.body))

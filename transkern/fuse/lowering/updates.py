"""Loops that add to elements which data choose: on a device all their iterations at once, by atomic operations.

`counts[x[i]] += 1` runs in order where nothing is known of `x`. A sum of integers is the same in any order, though, and
so are their extremes and bits; a device has operations for them that no other thread comes between. A sum of floats is
not: NumPy's order is part of its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transkern.fuse.lowering.kernels import runs_on_host
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_written, own_exprs, variables_read, walk, with_bodies
from transkern.records import replace

ANY_ORDER = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
"""Operations that may be made on one element in any order."""
_DTYPES = ("int32", "uint32", "int64", "uint64")
"""What devices have atomic operations for."""


def update_atomically(program: n.Program) -> n.Program:
    """The program with such loops parallel."""
    return update_at_once(program, lambda _, dtype: dtype in _DTYPES)


def update_at_once(program: n.Program, possible: Callable[[str, str], bool]) -> n.Program:
    """The program with such loops parallel, if their operations are `possible` for the types of the elements."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(one(s) for s in statements)

    def one(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE and _updates(s.body, possible):
            return replace(s, kind="parallel", body=_atomic(s.body))
        return with_bodies(s, block)

    return replace(program, body=block(program.body))


def operand(s: n.Store) -> tuple[str, Expr] | None:
    """The operation by which a statement changes the element it stores to, and its other operand."""
    if (found := _combined(s)) is None:
        return None
    op, other, swapped = found
    commutes = op in ANY_ORDER and (op != "subtract" or not swapped)
    return (op, other) if commutes and other.dtype == s.value.dtype else None


def _combined(s: n.Store) -> tuple[str, Expr, bool] | None:
    """The operation of two operands of which one is the element itself that is stored to, the other operand, and
    whether this one comes first."""
    value = s.value
    if not isinstance(value, Apply) or len(value.args) != 2:
        return None
    swapped = _is_place(value.args[1], s)
    place, other = value.args[::-1] if swapped else value.args
    return (value.op, other, swapped) if _is_place(place, s) else None


def _is_place(e: Expr, s: n.Store) -> bool:
    return isinstance(e, Load) and (e.buffer, e.index) == (s.buffer, s.index) and e.dtype == s.value.dtype


def _updates(body: Sequence[n.Stmt], possible: Callable[[str, str], bool]) -> bool:
    """Whether the iterations only change elements, by operations of any order, and read nothing that they change."""
    stores = [s for s in walk(body) if isinstance(s, n.Store)]
    if not stores or not all(isinstance(s, (n.Let, n.Store, n.If)) for s in walk(body)):
        return False
    changed = {s.buffer for s in stores}
    ways: set[tuple[str, str]] = set()
    for s in stores:
        found = operand(s)
        if found is None or not possible(found[0], s.value.dtype):
            return False
        ways.add((s.buffer, "add" if found[0] == "subtract" else found[0]))
    return len(ways) == len(changed) and not any(buffers_read(e) & changed for e in _other_exprs(body))


def _other_exprs(body: Sequence[n.Stmt]) -> Iterator[Expr]:
    """All that the iterations compute, without the elements themselves that are changed."""
    for s in walk(body):
        if isinstance(s, n.Store):
            found = operand(s)
            assert found is not None
            yield from (*s.index, found[1])
        else:
            yield from own_exprs(s)


def _atomic(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    return tuple(replace(s, atomic=True) if isinstance(s, n.Store) else with_bodies(s, _atomic) for s in body)


# ---- in order, for each element by a thread of its own ---------------------------------------------------------------

FROM = 4096
"""Iterations from which sorting is worth its launches."""
_EACH = 16
"""Elements for each iteration at most: what is kept for each element must not cost more than the iterations do."""
_MOST = 1 << 27
"""Iterations up to which places are numbers of 32 bits, which are sorted in half the passes."""
_OUT_OF_ORDER = ("float16",)


def sort_updates(program: n.Program) -> n.Program:
    """The program with such loops on the host, where the order counts, by sorted places.

    What goes to one element is brought together, in the loop's order, by a stable sort of the places; then a thread
    folds it, for each element another one. Each element sees what it did in the loop, and has the same bits. Loops
    behind each other that go to the same places (two sums by the same groups) have these sorted once.
    """
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


_Key = tuple[Expr, ...]


class _Sorted:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.sets = Counter(name for s in walk(program.body) for name in _sets(s))
        self.values = _set_once(program, self.sets)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        known: dict[_Key, _Order] = {}  # of the places that loops in this block have gone to
        for s in statements:
            made = self.sorted(s, known) if isinstance(s, n.Loop) and s.kind == "sequential" else ()
            changed = buffers_written(s) | {x.buffer for x in walk((s,)) if isinstance(x, n.Alloc)}
            for key in [k for k, x in known.items() if x.reads & changed]:
                del known[key]
            out += made or [with_bodies(s, self.block) if runs_on_host(s) else s]
        return tuple(out)

    def plain(self, e: Expr) -> Expr:
        """`e` without names for what is known by other names."""

        def value(x: Expr) -> Expr | None:
            return self.plain(self.values[x.name]) if isinstance(x, Var) and x.name in self.values else None

        return b.map_expr(e, value)

    def sorted(self, s: n.Loop, known: dict[_Key, _Order]) -> tuple[n.Stmt, ...]:
        """The loop behind a test of how many iterations it has, and what takes its place where these are many."""
        *lets, store = s.body
        if s.start != b.ZERO or s.step != b.ONE or not isinstance(store, n.Store):
            return ()
        if not all(isinstance(x, n.Let) for x in lets) or (found := _folded(store, lets)) is None:
            return ()
        into = self.buffers[store.buffer]
        if into.layout != "C" or into.element or len(store.index) != len(into.dims):
            return ()
        size = b.product(into.dims)
        many = b.both(
            b.both(b.compare("greater_equal", s.stop, b.index(FROM)), b.compare("less", s.stop, b.index(_MOST))),
            b.compare("less_equal", size, b.mul(b.index(_EACH), s.stop)),
        )
        names: dict[str, Expr] = {s.axis: Var("", "index")}
        for x in lets:
            assert isinstance(x, n.Let)
            names[x.name] = b.substitute(x.value, names)
        index = [b.substitute(i, names) for i in store.index]
        key = tuple(map(self.plain, (s.stop, *into.dims, *index)))
        had = known.get(key)
        before: list[n.Stmt] = []
        if had is None or any(self.sets[name] > 1 for e in key for name in variables_read(e)):
            order, begins, ends = (self.names.fresh(base) for base in ("order", "begins", "ends"))
            had = known[key] = _Order(frozenset(x for i in index for x in buffers_read(i)), order, begins, ends)
            for name, extent in ((order, s.stop), (begins, size), (ends, size)):  # loops behind this one read them, too
                self.buffers[name] = n.Buffer(name, "int64", (b.where(many, extent, b.ZERO),))
                before.append(n.Alloc(name))
            steps = [*self.in_order(s, lets, store, size, had), *self.steps(s, lets, store, found, size, had)]
        else:
            steps = [*self.steps(s, lets, store, found, size, had)]
        return (*before, n.If(many, tuple(steps), (s,), span=s.span))

    def in_order(
        self, s: n.Loop, lets: Sequence[n.Stmt], store: n.Store, size: Expr, had: _Order
    ) -> Iterator[n.Stmt]:
        """Sorts the places, and looks where each element's begin and end."""
        into, count = self.buffers[store.buffer], s.stop
        places = self.array("places", "int32", count)
        axis = Var(self.names.fresh("k"), "index")
        inside, names = self.renamed(lets, {s.axis: axis})
        place = b.ravel([b.substitute(i, names) for i in store.index], into.dims)
        yield n.Alloc(places)
        yield _loop(s, axis, count, *inside, n.Store(places, (axis,), b.cast(place, "int32")))
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
        yield _loop(
            s, axis, count, n.Let(here.name, at(axis)),
            n.If(first, (n.Store(had.begins, (target,), b.cast(axis, "int64")),), ()),
            n.If(last, (n.Store(had.ends, (target,), b.cast(b.add(axis, b.ONE), "int64")),), ()),
        )  # fmt: skip

    def array(self, base: str, kind: str, extent: Expr) -> str:
        name = self.names.fresh(base)
        self.buffers[name] = n.Buffer(name, kind, (extent,))
        return name

    def steps(
        self, s: n.Loop, lets: Sequence[n.Stmt], store: n.Store, found: tuple[str, Expr, bool], size: Expr, had: _Order
    ) -> Iterator[n.Stmt]:
        """Brings the terms of each element together, and folds them."""
        op, other, swapped = found
        into, dtype = self.buffers[store.buffer], store.value.dtype
        count = s.stop

        def at(name: str, place: Expr, kind: str = "int64") -> Expr:
            return Load(name, (place,), kind)

        terms = self.array("terms", other.dtype if other.dtype != "index" else "int64", count)
        axis, turn = Var(self.names.fresh("k"), "index"), Var(self.names.fresh("turn"), "index")
        inside, names = self.renamed(lets, {s.axis: turn})
        yield n.Alloc(terms)
        yield _loop(
            s, axis, count, n.Let(turn.name, b.cast(at(had.order, axis), "index")), *inside,
            n.Store(terms, (axis,), b.cast(b.substitute(other, names), self.buffers[terms].dtype)),
        )  # fmt: skip

        element, axis = Var(self.names.fresh("e"), "index"), Var(self.names.fresh("k"), "index")
        start, stop = (Var(self.names.fresh(base), "index") for base in ("begin", "end"))
        value = Var(self.names.fresh("value"), dtype)
        self.variables[value.name] = dtype
        term = b.cast(at(terms, axis, self.buffers[terms].dtype), other.dtype)
        changed = Apply(op, (term, value) if swapped else (value, term), dtype)
        where = b.unravel(element, into.dims)
        each = n.Loop(axis.name, start, stop, b.ONE, "sequential", (n.Assign(value.name, changed),), span=s.span)
        folds = (n.Assign(value.name, Load(into.name, where, dtype)), each, n.Store(into.name, where, value))
        yield _loop(
            s, element, size, n.Let(start.name, b.cast(at(had.begins, element), "index")),
            n.Let(stop.name, b.cast(at(had.ends, element), "index")),
            n.If(b.compare("greater", stop, start), folds, ()),
        )  # fmt: skip

    def renamed(self, lets: Sequence[n.Stmt], names: dict[str, Expr]) -> tuple[list[n.Stmt], dict[str, Expr]]:
        """The statements with names of their own, and what stands for the old ones."""
        out: list[n.Stmt] = []
        for s in lets:
            assert isinstance(s, n.Let)
            made = Var(self.names.fresh(s.name), s.value.dtype)
            out.append(replace(s, name=made.name, value=b.substitute(s.value, names)))
            names = {**names, s.name: made}
        return out, names


def _loop(s: n.Loop, axis: Var, stop: Expr, *body: n.Stmt) -> n.Stmt:
    return n.Loop(axis.name, b.ZERO, stop, b.ONE, "parallel", body, span=s.span)


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


def _folded(s: n.Store, lets: Sequence[n.Stmt]) -> tuple[str, Expr, bool] | None:
    """The operation that an iteration makes on its element, the other operand, and whether this one comes first; None
    where anything else reads what the loop changes."""
    found = _combined(s)
    if found is None or s.value.dtype in _OUT_OF_ORDER:
        return None
    reads = [*s.index, found[1], *(e for x in lets for e in own_exprs(x))]
    return None if any(s.buffer in buffers_read(e) for e in reads) else found

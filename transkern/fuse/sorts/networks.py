"""Sorts of a few elements by compare and exchange, for all rows at once:

    parallel i in 0 .. n:
                                                   let a = x[i, 0]; let b = x[i, 1]; let c = x[i, 2]
    sorted = library sort(x) {axis: 1}    to       let low = a if a <= b else b; let high = b if a <= b else a
    y[i] = sorted[i, 1]                            …
                                                   sorted_1[i] = …
                                               y[i] = sorted_1[i]

A network of exchanges (Batcher's) has no branches: vectors go through it, a row in each lane, where a library sorts row
after row. Where a program names the places that it reads (medians, the largest of a window, ``np.sort(w)[1]``), each of
them is an array of its own, which becomes a number where it is read; exchanges that nobody reads are not there.

NaN comes last, as in NumPy. Of 0.0 and -0.0, which are equal, either may come first, as in NumPy's own networks: a
stable sort, which tells, stays a library's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from transkern.fuse.lowering.copies import element_of
from transkern.fuse.sorts.producers import Made
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_block, touched, walk, with_bodies
from transkern.records import replace

_MOST = 27
"""Elements of a row: 3 x 3 x 3 of them, 5 x 5. What a network of more holds does not fit into the registers."""


def sort_by_networks(program: n.Program) -> n.Program:
    """The program in which short rows of known length are sorted so."""
    if not any(isinstance(s, n.Library) and s.name == "sort" for s in walk(program.body)):
        return program
    state = _Sorting(program)
    body = state.block(program.body)
    if not state.apart:
        return replace(program, body=body)
    body = map_block(body, state.read)
    body = state.without(body)
    gone = state.apart.keys()
    buffers = {name: x for name, x in (program.buffers | state.made).items() if name not in gone}
    return replace(program, body=body, buffers=buffers)


@dataclass(slots=True)
class _Sorting:
    """`apart`: of a sorted array, the axis and the array of each place; `made`: these arrays."""

    program: n.Program
    names: Names = field(init=False)
    places: dict[str, list[tuple[Expr, ...]]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    apart: dict[str, tuple[int, dict[int, str]]] = field(default_factory=dict)
    made: dict[str, n.Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = Names.of(self.program)
        for e in exprs(self.program.body):
            if isinstance(e, Load):
                self.places.setdefault(e.buffer, []).append(e.index)
        self.others.update(x for s in walk(self.program.body) if not isinstance(s, n.Alloc) for x in touched(s))

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Library) and s.name == "sort" and self.suits(s):
                out += self.network(s, Made(out))
            else:
                out.append(with_bodies(s, self.block))
        return tuple(out)

    def suits(self, s: n.Library) -> bool:
        (name,), ((source, view),), attributes = s.outs, s.operands, dict(s.attributes)
        made, axis = self.program.buffers[name], attributes["axis"]
        if source == name and view is not None:
            return False
        if attributes.get("kind", "quicksort") != "quicksort" or not isinstance(axis, int) or is_complex(made.dtype):
            return False
        count = b.constant(made.dims[axis])
        plain = view is None or (len(view.offset) == len(self.dims(source)) and not view.part)
        return count is not None and 2 <= count <= _MOST and plain and not made.element

    def dims(self, name: str) -> tuple[Expr, ...]:
        return self.program.buffers[name].dims

    def network(self, s: n.Library, before: Made) -> tuple[n.Stmt, ...]:
        """The loops over the rows; of one row what is done to it."""
        (name,), ((source, view),), axis = s.outs, s.operands, dict(s.attributes)["axis"]
        made = self.program.buffers[name]
        count = b.constant(made.dims[axis])
        assert count is not None
        rows = tuple(Var(self.names.fresh("row"), "index") for _ in made.dims[1:])
        values: list[Expr] = []
        body: list[n.Stmt] = []
        for k in range(count):
            place: tuple[Expr, ...] = (*rows[:axis], b.index(k), *rows[axis:])
            element = element_of(self.program.buffers[source], view, place)
            value = before.computed(element, rows, self.program.buffers)
            values.append(self.named("one", value, body))
        count_nan = self.without_nan(values, body) if made.dtype.startswith("float") else None
        wanted = self.split(name, axis)
        needed = _needed(exchanges(count), range(count) if wanted is None else wanted)
        for low, high, both in needed:
            one, two = values[low], values[high]
            ordered = b.compare("less", one, two)
            if low in both:
                values[low] = self.named("low", b.where(ordered, one, two), body)
            if high in both:
                values[high] = self.named("high", b.where(ordered, two, one), body)
        for k in range(count) if wanted is None else wanted:
            value = values[k]
            if count_nan is not None:
                behind = b.compare("greater", count_nan, Const(float(count - 1 - k), made.dtype))
                value = b.where(behind, Const(float("nan"), made.dtype), value)
            if wanted is None:
                body.append(n.Store(name, (*rows[:axis], b.index(k), *rows[axis:]), value, span=s.span))
            else:
                body.append(n.Store(wanted[k], rows, value, span=s.span))
        inner: tuple[n.Stmt, ...] = tuple(replace(x, span=s.span) for x in body)
        for x, dim in reversed([*zip(rows, (*made.dims[:axis], *made.dims[axis + 1 :]), strict=True)]):
            inner = (n.Loop(x.name, b.ZERO, dim, b.ONE, "parallel", inner, span=s.span),)
        return inner

    def named(self, name: str, value: Expr, body: list[n.Stmt]) -> Var:
        held = Var(self.names.fresh(name), value.dtype)
        body.append(n.Let(held.name, value))
        return held

    def without_nan(self, values: list[Expr], body: list[n.Stmt]) -> Expr:
        """How many of `values` are NaN; these become infinities."""
        dtype = values[0].dtype
        count: Expr = Const(0.0, dtype)
        for k, x in enumerate(values):
            missing = Apply("isnan", (x,), "bool")
            one = b.where(missing, Const(1.0, dtype), Const(0.0, dtype))
            count = self.named("missing", Apply("add", (count, one), dtype), body) if k else one
            values[k] = self.named("one", b.where(missing, Const(float("inf"), dtype), x), body)
        return count

    def split(self, name: str, axis: int) -> dict[int, str] | None:
        """An array for each place that is read of a sort; None where places are not known, or others see it."""
        made = self.program.buffers[name]
        places = [b.constant(index[axis]) for index in self.places.get(name, ()) if len(index) == len(made.dims)]
        known = {k for k in places if k is not None}
        if made.role != "temporary" or self.others[name] != 1 or None in places or not known:
            return None
        if len(places) != len(self.places[name]):
            return None
        dims = (*made.dims[:axis], *made.dims[axis + 1 :])
        arrays = {k: self.names.fresh(name) for k in sorted(known)}
        self.made |= {x: replace(made, name=x, dims=dims) for x in arrays.values()}
        self.apart[name] = axis, arrays
        return arrays

    def read(self, e: Expr) -> Expr | None:
        """What is read of an array that has been taken apart."""
        if not isinstance(e, Load) or e.buffer not in self.apart:
            return None
        axis, arrays = self.apart[e.buffer]
        index = (*e.index[:axis], *e.index[axis + 1 :])
        at = b.constant(e.index[axis])
        assert at is not None
        return Load(arrays[at], tuple(b.map_expr(i, self.read) for i in index), e.dtype)

    def without(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """Statements with memory for the places instead of the whole."""
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Alloc) and s.buffer in self.apart:
                out += [replace(s, buffer=x) for x in self.apart[s.buffer][1].values()]
            else:
                out.append(with_bodies(s, self.without))
        return tuple(out)


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Batcher's odd-even merge sort of `count` elements: pairs of places, of which the lower gets the lesser."""
    p = 1
    while p < count:
        k = p
        while k >= 1:
            for j in range(k % p, count - k, 2 * k):
                for i in range(min(k, count - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        yield i + j, i + j + k
            k //= 2
        p *= 2


def _needed(pairs: Iterable[tuple[int, int]], wanted: Iterable[int]) -> list[tuple[int, int, set[int]]]:
    """The exchanges that `wanted` places come from, and which of their two results are used."""
    live, out = set(wanted), []
    for low, high in reversed([*pairs]):
        used = live & {low, high}
        if used:
            out.append((low, high, used))
            live |= {low, high}
    return out[::-1]

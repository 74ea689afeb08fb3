"""Array statements to loops:   e[i] = exp(x[i])  for i < n   to   parallel i in 0 .. n: e[i] = exp(x[i])

Reductions inside expressions become accumulators before the statement. A store whose right side reads other elements of
its own target goes through a temporary, as NumPy reads before it writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import islice, product

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Span, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.traverse import always_read, buffers_read, variables_read, walk_expr, with_bodies
from transkern.records import replace

__all__ = ["lower"]


def lower(program: n.Program) -> n.Program:
    """The program with every array statement but library calls as loops."""
    state = _Lowering(dict(program.buffers), Names.of(program))
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


class _Lowering:
    def __init__(self, buffers: dict[str, n.Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names
        self.allocated: set[str] = set()

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            made = self.statement(s)
            out.extend(_placed(m, s.span) for m in made)
        return tuple(out)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.Define(buffer, axes, value):
                allocation: list[n.Stmt] = [n.Alloc(buffer)]
                return allocation + self.nest(axes, buffer, tuple(a.var for a in axes), value, None)
            case n.Write():
                return self.write(s)
            case n.Filter():
                return self.filter(s)
            case n.Scatter(buffer, axes, index, value, mask):
                return self.nest(axes, buffer, index, value, mask, "sequential")
            case n.Scan():
                return self.scan(s)
            case n.While(head, condition, body):
                inner: list[n.Stmt] = list(self.block(head))
                condition = self.expr(condition, inner)
                return [n.While(tuple(inner), condition, self.block(body))]
            case n.Loop() | n.If():
                before: list[n.Stmt] = []
                if isinstance(s, n.If):
                    s = replace(s, condition=self.expr(s.condition, before))
                return [*before, with_bodies(s, self.block)]
            case n.Let() | n.Assign():
                before = []
                value = self.expr(s.value, before)
                return [*before, replace(s, value=value)]
            case n.Store(buffer, index, value):
                before = []
                index = tuple(self.expr(i, before) for i in index)
                value = self.expr(value, before)
                return [*before, replace(s, index=index, value=value)]
            case n.Guard():
                before = []
                condition = self.expr(s.condition, before)
                return [*before, replace(s, condition=condition)]
            case n.Return(result=n.ScalarResult(value, python)):
                before = []
                value = self.expr(value, before)
                return [*before, replace(s, result=n.ScalarResult(value, python))]
            case _:
                return [s]

    # --- expressions

    def expr(self, expr: Expr, before: list[n.Stmt]) -> Expr:
        """`expr` with its reductions computed by loops put into `before`."""

        def change(e: Expr) -> Expr | None:
            return self.reduction(e, before) if isinstance(e, Reduce) else None

        return b.map_expr(expr, change)

    def reduction(self, r: Reduce, before: list[n.Stmt]) -> Expr:
        if r.dtype == "bool" and r.body.dtype == "bool" and r.op in _OF_BOOLS:
            r = replace(r, op=_OF_BOOLS[r.op])
        if any(b.constant(a.extent) == 0 for a in r.axes):
            return _of_nothing(r)
        axes, at = _without_ones(r.axes)
        if not axes and r.op in ("sum", "prod", "max", "min", "any", "all") and r.body.dtype == r.dtype:
            one = self.expr(b.substitute(r.body, at), before)
            return Apply("add", (one, Const(0.0, r.dtype)), r.dtype) if _turns_minus_zero(r) else one
        name = self.names.fresh(r.op if r.op not in ("sum", "any", "all") else {"sum": "total"}.get(r.op, f"is_{r.op}"))
        if (few := _of_few(r)) is not None:
            before.append(n.Let(name, self.expr(few, before)))
            return Var(name, r.dtype)
        before.append(n.Accumulator(name, r.op, r.dtype))
        inner: list[n.Stmt] = []
        body = self.expr(b.substitute(r.body, at), inner)
        position: Expr | None = None
        if r.op in ("argmax", "argmin", "first", "last"):
            position = axes[0].var if axes else b.ZERO
            assert len(axes) <= 1
        inner.append(n.Accumulate(name, r.op, body, position))
        before.extend(_loops(axes, inner))
        return Var(name, r.dtype)

    # --- statements

    def nest(
        self, axes: Sequence[Axis], buffer: str, index: tuple[Expr, ...], value: Expr, mask: Expr | None,
        kind: str = "parallel",
    ) -> list[n.Stmt]:  # fmt: skip
        kept, at = _without_ones(axes)
        inner: list[n.Stmt] = []
        value = self.expr(b.substitute(value, at), inner)
        index = tuple(self.expr(b.substitute(i, at), inner) for i in index)
        store: n.Stmt = n.Store(buffer, index, value)
        if mask is not None:
            store = n.If(self.expr(b.substitute(mask, at), inner), (store,))
        inner.append(store)
        return _loops(kept, inner, kind)

    def write(self, s: n.Write) -> list[n.Stmt]:
        before: list[n.Stmt] = []
        dims, here = tuple(a.extent for a in s.axes), tuple(a.var for a in s.axes)
        s = self._with_own_elements(s, dims, before)
        # where points meet, the last one wins, and all of them have read what stood there before
        if self._overlaps(s) or (not self._injective(s) and s.buffer in buffers_read(s.value)):
            held = self.buffer(f"{s.buffer}_new", s.value.dtype, dims)
            before += [n.Alloc(held), *self.nest(s.axes, held, here, s.value, None)]
            mask = s.mask
            if mask is not None and s.buffer in buffers_read(mask):
                chosen = self.buffer(f"{s.buffer}_where", "bool", dims)
                before += [n.Alloc(chosen), *self.nest(s.axes, chosen, here, mask, None)]
                mask = Load(chosen, here, "bool")
            s = replace(s, value=Load(held, here, s.value.dtype), mask=mask)
        if b.constant(b.product(dims)) != 1 and any(s.buffer in buffers_read(i) for i in s.index):
            index = []
            for i in s.index:  # where a point stores must not be what another one has stored
                if s.buffer in buffers_read(i):
                    at = self.buffer(f"{s.buffer}_at", i.dtype, dims)
                    before += [n.Alloc(at), *self.nest(s.axes, at, here, i, None)]
                    i = Load(at, here, i.dtype)
                index.append(i)
            s = replace(s, index=tuple(index))
        kind = "parallel" if self._injective(s) else "sequential"
        return before + self.nest(s.axes, s.buffer, s.index, s.value, s.mask, kind)

    def _with_own_elements(self, s: n.Write, dims: tuple[Expr, ...], before: list[n.Stmt]) -> n.Write:
        """The store with the elements of its target that all points read, ``d[i, k]`` in a store into row i, as numbers
        that are read before it."""
        names = {a.name for a in s.axes}
        if not names or s.buffer not in buffers_read(s.value) or b.constant(b.product(dims)) == 0:
            return s
        found = [x for x in always_read(s.value) if x.buffer == s.buffer and not variables_read(x) & names]
        if any(buffers_read(i) for load in found for i in load.index):
            return s
        some = b.compare("greater", b.product(dims), b.ZERO)
        numbers: dict[Expr, Expr] = {}
        for load in dict.fromkeys(found):
            name = self.names.fresh("own")
            before.append(n.Let(name, b.where(some, load, b.cast(Const(0, "int64"), load.dtype))))
            numbers[load] = Var(name, load.dtype)
        return replace(s, value=b.map_expr(s.value, numbers.get))

    def _overlaps(self, s: n.Write) -> bool:
        """Whether a point reads an element of the target that another point writes."""
        exprs = [s.value, *s.index] + ([] if s.mask is None else [s.mask])
        for e in exprs:
            for load in walk_expr(e):
                if isinstance(load, Load) and load.buffer == s.buffer and load.index != s.index:
                    if not _disjoint(load.index, s.index, {a.name for a in s.axes}):
                        return True
        return False

    def _injective(self, s: n.Write) -> bool:
        """Whether no two points store to the same element: then their order does not matter."""
        names = {a.name for a in s.axes if b.constant(a.extent) != 1}
        found: set[str] = set()
        for i in s.index:
            terms, _ = b.affine(i)
            mine = [t for t in terms if isinstance(t, Var) and t.name in names]
            others = [t for t in terms if not isinstance(t, Var) and variables_read(t) & names]
            if len(mine) == 1 and not others:
                found.add(mine[0].name)
            elif len(others) == 1 and not mine:
                # a gather through an array without repeats
                match others[0]:
                    case Apply("cast", (Load(buffer, (position,)),), _) if self.buffers[buffer].permutation:
                        inner, _ = b.affine(position)
                        axes = [t for t in inner if isinstance(t, Var) and t.name in names]
                        if len(axes) == 1 and len([t for t in inner if variables_read(t) & names]) == 1:
                            found.add(axes[0].name)
                    case _:
                        pass
            elif len(mine) > 1 and len(s.index) == 1:
                return True  # the linear index of a reshape: made of the axes of the target's own shape
        return names <= found

    def filter(self, s: n.Filter) -> list[n.Stmt]:
        (axis,) = s.axes
        before: list[n.Stmt] = []
        for out in s.outputs:
            if not _reads_ahead(out, axis, [s.mask, *s.values]):
                held = self.buffer(f"{out}_old", self.buffers[out].dtype, self.buffers[out].dims)
                axes = tuple(Axis(self.names.fresh("i"), d) for d in self.buffers[out].dims)
                here = tuple(a.var for a in axes)
                before += [n.Alloc(held), *self.nest(axes, held, here, Load(out, here, self.buffers[out].dtype), None)]

                def change(e: Expr, out: str = out, held: str = held) -> Expr | None:
                    if isinstance(e, Load) and e.buffer == out:
                        return Load(held, tuple(b.map_expr(i, change) for i in e.index), e.dtype)
                    return None

                s = replace(s, mask=b.map_expr(s.mask, change), values=tuple(b.map_expr(v, change) for v in s.values))
        inner: list[n.Stmt] = []
        mask = self.expr(s.mask, inner)
        values = tuple(self.expr(v, inner) for v in s.values)
        stop = self.expr(axis.extent, before)
        compact = n.Compact(
            s.outputs, s.count, axis.name, b.ZERO, stop, tuple(inner), mask, values, s.inner, s.append
        )  # fmt: skip
        return [*before, compact]

    def scan(self, s: n.Scan) -> list[n.Stmt]:
        axis = s.axes[s.along]
        kept, at = _without_ones([a for a in s.axes if a is not axis])
        inner: list[n.Stmt] = []
        value = self.expr(b.substitute(s.value, at), inner)
        index = tuple(b.substitute(a.var, at) for a in s.axes)
        scanning = n.Scanning(s.op, s.buffer, axis.name, axis.extent, tuple(inner), value, index)
        return _loops(kept, [scanning])

    def buffer(self, base: str, dtype: str, dims: tuple[Expr, ...]) -> str:
        name = self.names.fresh(base)
        self.buffers[name] = n.Buffer(name, dtype, dims)
        return name


def _loops(axes: Sequence[Axis], inner: Sequence[n.Stmt], kind: str = "parallel") -> list[n.Stmt]:
    if any(b.constant(a.extent) == 0 for a in axes):
        return []
    body = list(inner)
    for axis in reversed(axes):
        body = [n.Loop(axis.name, b.ZERO, axis.extent, b.ONE, kind, tuple(body))]
    return body


def _placed(s: n.Stmt, span: Span) -> n.Stmt:
    """The statement, and those inside it, at a place in the user's source where they have none yet."""
    s = with_bodies(s, lambda body: tuple(_placed(x, span) for x in body))
    return replace(s, span=span) if s.span.line == 0 else s


_OF_BOOLS = {"sum": "any", "prod": "all", "max": "any", "min": "all"}
"""NumPy adds and multiplies bools as truths; a machine would count them."""


def _of_nothing(r: Reduce) -> Const:
    """What a reduction over no elements is, for an extremum what any `initial` beats (those without an answer are
    guarded)."""
    if r.op in ("max", "min"):
        return lowest(r.dtype) if r.op == "max" else highest(r.dtype)
    value = {"prod": 1, "all": True, "first": -1, "last": -1}.get(r.op, 0)
    if r.dtype.startswith(("float", "complex")):
        return Const(complex(value) if is_complex(r.dtype) else float(value), r.dtype)
    return Const(bool(value) if r.dtype == "bool" else int(value), r.dtype)


_FEW, _FEW_PARTS = 16, 400
"""A reduction over so many elements at most is an expression of them, if it has no more parts."""
_CHOICES, _CHOICE_PARTS = 64, 4000
"""The same where each element is another one of several that stand side by side (a stack of windows): the expression
has no more parts than these."""

_JOINED = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "all": "logical_and", "any": "logical_or",
}  # fmt: skip


def _of_few(r: Reduce) -> Expr | None:
    """A reduction over a few elements as an expression of them: neighbours that reduce the same elements (windows) are
    then computed beside each other, and nothing loops over less than a vector. Sums are in the order of NumPy's over
    contiguous elements (``pairwise_sum`` in loops_utils.h.src), of things side by side in theirs."""
    sizes = [b.constant(a.extent) for a in r.axes]
    if None in sizes or r.op not in _JOINED or is_complex(r.dtype) or r.body.dtype != r.dtype:
        return None
    count, parts = math.prod(s or 0 for s in sizes), list(islice(walk_expr(r.body), _CHOICE_PARTS))
    if not 0 < count <= _CHOICES or len(parts) == _CHOICE_PARTS or any(isinstance(e, Reduce) for e in parts):
        return None
    names = [a.name for a in r.axes]
    may_be_long = count > _FEW or len(parts) * count > _FEW_PARTS
    if may_be_long and not any(isinstance(e, Apply) and e.op == "where" and _reads(e.args[0], names) for e in parts):
        return None
    places = (dict(zip(names, map(b.index, at), strict=True)) for at in product(*(range(s or 0) for s in sizes)))
    terms = [b.substitute(r.body, at) for at in places]
    if may_be_long and sum(1 for t in terms for _ in walk_expr(t)) > len(parts):
        return None

    def joined(x: Expr, y: Expr) -> Expr:
        return Apply(_JOINED[r.op], (x, y), r.dtype)

    if r.op == "sum" and count >= 8 and not may_be_long:
        if count == _FEW:
            terms = [joined(x, y) for x, y in zip(terms[:8], terms[8:], strict=True)]
        pairs = [joined(terms[k], terms[k + 1]) for k in range(0, 8, 2)]
        terms = [joined(joined(pairs[0], pairs[1]), joined(pairs[2], pairs[3])), *terms[8:]]
    made = reduce(joined, terms)
    return Apply("add", (made, Const(0.0, r.dtype)), r.dtype) if _turns_minus_zero(r) else made


def _reads(e: Expr, names: Sequence[str]) -> bool:
    return not variables_read(e).isdisjoint(names)


def _turns_minus_zero(r: Reduce) -> bool:
    """A sum begins with 0.0, so that of one -0.0 it is 0.0."""
    return r.op == "sum" and r.dtype.startswith(("float", "complex"))


def _without_ones(axes: Sequence[Axis]) -> tuple[list[Axis], dict[str, Expr]]:
    """The axes that need a loop, and the position on those of extent 1."""
    kept = [a for a in axes if b.constant(a.extent) != 1]
    return kept, {a.name: b.ZERO for a in axes if b.constant(a.extent) == 1}


def _disjoint(one: tuple[Expr, ...], two: tuple[Expr, ...], axes: set[str]) -> bool:
    """Whether two subscripts never meet, as they differ by a constant where neither depends on the axes."""
    if len(one) != len(two):
        return False
    for x, y in zip(one, two, strict=True):
        gap = b.difference(x, y)
        if gap is not None and gap != 0 and not (variables_read(x) | variables_read(y)) & axes:
            return True
    return False


def _reads_ahead(buffer: str, axis: Axis, exprs: Sequence[Expr]) -> bool:
    """Whether every read of `buffer` at point k is at k or behind it: then compaction may be in place."""
    for e in exprs:
        for load in walk_expr(e):
            if isinstance(load, Load) and load.buffer == buffer:
                terms, total = b.affine(load.index[0])
                if terms != {axis.var: 1} or total < 0:
                    return False
    return True

"""Reductions along rows of memory, for many columns at a time: ``a.max(axis=0)``, ``a.sum(axis=0)``.

    parallel i in 0 .. m:                     parallel i in 0 .. m:
        accumulator max by max                    most := -inf
        parallel j in 0 .. n:                     for j in 0 .. n:
            max max= a[j, i]           to             most := maximum(most, a[j, i])
        s[i] = max                                s[i] = most

What each `i` goes over lies far apart in memory, and what neighbours go over lies side by side: in order, lanes of
neighbours go through whole rows (`lanes.py`). So do windows that slide (``sum(x[i + j] * w[j])``): neighbours go over
almost the same elements. A position of an extremum is two variables: what is best so far, and
where it was. Sums of floats are as exact as before: parts of 512 terms, and no error from adding those:

    high, low := 0, 0
    for j_block in 0 .. n by 512:
        part := 0
        for j in j_block .. min(j_block + 512, n):
            part := part + a[j, i]
        high, low := high + part, and what that rounded away
    s[i] = high + low

Sums of narrow integers, and of conditions on them, have parts in a narrower type.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from transkern.fuse.lanes.blocks import at_most
from transkern.fuse.lanes.memory import contiguous, lies_apart, slides
from transkern.fuse.lowering.flatten import from_zero
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Span, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import buffers_read, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

PART = 512
"""Terms of a sum that are added up in lanes before their total is added exactly."""
_WINDOW = 16
"""Rows of a window whose terms are one part, if it is not wider than what is left of `PART`."""
_TERMS = 16
"""Terms of float32 that are added up as such before a wider total takes them: as many as NumPy's sums have in each of
their eight variables."""
WIDE = "float64"
REDUCTIONS = {
    "sum": "add", "count": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "logical_or",
    "all": "logical_and", "argmax": "greater", "argmin": "less",
}  # fmt: skip
"""How one more term is taken; of positions, what decides."""
_NARROW = {"bool": "int16", "int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32"}
"""What holds the sum of `PART` numbers of a type."""
_BEST = {"argmax": lowest, "argmin": highest}
_FEW = 8
"""Columns below which there is little to gain from lanes."""


def order_columns(program: n.Program) -> n.Program:
    """The program with such sums in order."""
    state = Ordering(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables)


class Ordering:
    """Reductions in order, in the variables of a program; sums of floats `exact` however many terms they have."""

    exact = True
    part = PART  # terms that are added up before their total is added exactly
    narrow = True  # whether a few terms of float32 are added up as such

    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(self.statement(s) for s in statements)

    def statement(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            told = _with_bounds(s.body)
            again = replace(s, body=tuple(_from_zero(x, s.axis) if isinstance(x, n.Loop) else x for x in told))
            if self.suits(again):
                return replace(s, body=self.in_order(again.body, s.axis))
        return with_bodies(s, self.block)

    def suits(self, s: n.Loop) -> bool:
        """Whether all that stands in the loop is reductions of columns, and plain statements around them."""
        extent = b.constant(b.sub(s.stop, s.start))
        if extent is not None and extent < _FEW:
            return False
        found = self.columns(s)
        innermost = [_nest(x)[1] for x in found]
        own = {x.buffer for x in s.body if isinstance(x, n.Alloc)}  # which will lie side by side
        shared = {name: buffer for name, buffer in self.buffers.items() if name not in own}
        return bool(found) and all(
            contiguous(s.axis, (x,), shared) > max(0, contiguous(x.axis, (x,), shared))
            or slides(s.axis, x, shared) or lies_apart(s.axis, x, shared)
            for x in innermost
        )

    def columns(self, s: n.Loop) -> list[n.Loop]:
        """The loops in `s`, if they reduce, store or go in order, and one reduces; around them, plain statements."""
        loops = [x for x in s.body if isinstance(x, n.Loop)]
        declared = {x.name for x in s.body if isinstance(x, n.Accumulator) and x.op in REDUCTIONS}
        plain = (n.Alloc, n.Loop, n.Accumulator, n.Let, n.Assign, n.Store, n.Accumulate)  # of what is reduced around it

        def is_done(x: n.Loop) -> bool:
            shown = replace(x, body=tuple(y for y in x.body if not self.is_inner(y)))
            return _goes_over(x, s.axis) and (_reduces(shown, declared) or _stores(shown, declared))

        reduced = [name for x in loops for name in {y.name for y in walk((x,)) if isinstance(y, n.Accumulate)}]
        suit = (
            len(reduced) == len(set(reduced))  # each in one loop, not in its borders as well
            and all(isinstance(x, plain) for x in s.body)
            and declared == {x.name for x in s.body if isinstance(x, n.Accumulator)}
            and all(_recurs(x, s.axis, declared) or is_done(x) for x in loops)
            and any(isinstance(y, n.Accumulate) for x in loops for y in walk((x,)))
        )
        return loops if suit else []

    def is_inner(self, s: n.Stmt) -> bool:
        """Whether a statement of a reduction is one of a reduction in it, which is in order."""
        return False

    def in_order(self, body: tuple[n.Stmt, ...], axis: str) -> tuple[n.Stmt, ...]:
        """The statements of a loop over `axis` with the sums in order."""
        made: list[n.Stmt] = []
        kinds = {s.name: s for s in body if isinstance(s, n.Accumulator)}
        for s in body:
            if isinstance(s, n.Loop) and not any(isinstance(x, n.Accumulate) for x in walk((s,))):
                made.append(replace(s, kind="sequential", spare=None, large=False))
            elif isinstance(s, n.Loop):
                names = sorted({x.name for x in _nest(s)[1].body if isinstance(x, n.Accumulate)})
                made += self.column(s, [kinds[name] for name in names], axis)
            elif not isinstance(s, n.Accumulator):
                made.append(s)
        return tuple(made)

    def column(self, nest: n.Loop, reductions: list[n.Accumulator], axis: str) -> list[n.Stmt]:
        around, s = _nest(nest)
        span = s.span
        before: list[n.Stmt] = []
        begin: list[n.Stmt] = []
        end: list[n.Stmt] = []
        after: list[n.Stmt] = []
        held: dict[str, tuple[Var, ...]] = {}
        extents = [b.constant(b.sub(x.stop, x.start)) for x in (*around, s)]
        most = [at_most(x) if e is None else e for x, e in zip((*around, s), extents, strict=True)]
        exact = self.exact and (None in most or math.prod(e or 0 for e in most) > self.part)
        few = self.narrow and None not in most and math.prod(e or 0 for e in most) <= _TERMS
        most_terms = self.part
        for x in reductions:
            if is_float_sum(x) and exact and x.dtype == WIDE:
                high, low, part = (self.variable(f"{x.name}_{what}", WIDE) for what in ("high", "low", "part"))
                held[x.name] = (part,)
                zero = Const(0.0, WIDE)
                before += [n.Assign(high.name, zero, span=span), n.Assign(low.name, zero, span=span)]
                begin.append(n.Assign(part.name, zero, span=span))
                end += self.added(x.name, high, low, part, span)
                after.append(n.Let(x.name, b.cast(_add(high, low), x.dtype), span=span))
                continue
            made = self.variable(f"{x.name}_held", WIDE if is_float_sum(x) and not few else x.dtype)
            held[x.name] = (made,)
            widened = made.dtype != x.dtype
            narrow = (x.dtype if self.narrow else None) if widened else narrow_sum(x, s)
            if narrow is not None:
                most_terms = _TERMS if widened else most_terms
                part = self.variable(f"{x.name}_part", narrow)
                held[x.name] = (part,)
                begin.append(n.Assign(part.name, b.cast(Const(0, "int64"), narrow), span=span))
                end.append(n.Assign(made.name, Apply("add", (made, b.cast(part, made.dtype)), made.dtype), span=span))
            before.append(n.Assign(made.name, b.cast(first_of(x, s.start), made.dtype), span=span))
            after.append(n.Let(x.name, b.cast(made, x.dtype), span=span))
            if x.op in _BEST:
                dtype = next(y.value.dtype for y in s.body if isinstance(y, n.Accumulate) and y.name == x.name)
                best = self.variable(f"{x.name}_best", dtype)
                held[x.name] = (made, best)
                before.append(n.Assign(best.name, _BEST[x.op](dtype), span=span))
        inner: list[n.Stmt] = []
        other = {axis} | {y.name for y in s.body if isinstance(y, n.Let)}
        for y in s.body:
            inner += self.some(y, held[y.name], other) if isinstance(y, n.Accumulate) else [y]
        rows = replace(s, kind="sequential", body=tuple(inner), spare=None, large=False)
        if not begin:
            return [*before, _inside(around, rows), *after]
        loops, k, inside = [*around, rows], len(around), 1
        if around and extents[-2:] == [None, None] and slides(axis, s, self.buffers) and _is_even(around[-1], s):
            return [*before, _inside(around[:-1], self.tiled(around[-1], rows, most_terms, begin, end)), *after]
        while k and (extent := extents[k]) is not None and 0 < inside * extent <= most_terms // 2:
            inside, k = inside * extent, k - 1  # short loops are a part together
        size, whole = b.index(most_terms // inside), loops[k]
        block = Var(self.names.fresh(f"{whole.axis}_block"), "index")
        terms = rows if whole is rows else replace(
            whole, kind="sequential", body=(_inside(loops[k + 1 : -1], rows),), spare=None, large=False
        )
        some = replace(terms, start=block, stop=b.minimum(b.add(block, size), whole.stop))
        blocks = n.Loop(block.name, whole.start, whole.stop, size, "sequential", (*begin, some, *end), span=span)
        return [*before, _inside(loops[:k], blocks), *after]

    def tiled(
        self, outer: n.Loop, rows: n.Loop, most_terms: int, begin: list[n.Stmt], end: list[n.Stmt]
    ) -> n.Loop:  # fmt: skip
        """The terms of two loops in parts of a few rows: a window is most often one part, not one for each row."""
        high = min(_WINDOW, math.isqrt(most_terms))
        sides = (high, most_terms // high)
        blocks = [Var(self.names.fresh(f"{x.axis}_block"), "index") for x in (outer, rows)]
        some = [
            replace(x, start=block, stop=b.minimum(b.add(block, b.index(side)), x.stop))
            for x, block, side in zip((outer, rows), blocks, sides, strict=True)
        ]
        body: tuple[n.Stmt, ...] = (*begin, _inside(some[:1], some[1]), *end)
        for x, block, side in reversed(list(zip((outer, rows), blocks, sides, strict=True))):
            body = (n.Loop(block.name, x.start, x.stop, b.index(side), "sequential", body, span=rows.span),)
        (made,) = body
        assert isinstance(made, n.Loop)
        return made

    def some(self, y: n.Accumulate, held: tuple[Var, ...], other: set[str]) -> list[n.Stmt]:
        """One more term, if it is one: of rows that a mask leaves out nothing is read. `other` differs by column."""
        match y.value:
            case Apply("where", (mask, term, Const(0))) if y.op == "sum" and not variables_read(mask) & other:
                return [n.If(mask, tuple(self.taken(replace(y, value=term), held)), (), span=y.span)]
            case _:
                return self.taken(y, held)

    def taken(self, y: n.Accumulate, held: tuple[Var, ...]) -> list[n.Stmt]:
        """One more term in what is held so far."""
        made = held[0]
        if y.op not in _BEST:
            term = narrow_term(y) if made.dtype in _NARROW.values() else y.value
            value = Apply(REDUCTIONS[y.op], (made, b.cast(term, made.dtype)), made.dtype)
            return [n.Assign(made.name, value, span=y.span)]
        best = held[1]
        here = Var(self.names.fresh(f"{y.name}_here"), best.dtype)
        better = Var(self.names.fresh(f"{y.name}_better"), "bool")
        beats = b.compare(REDUCTIONS[y.op], here, best)
        if here.dtype.startswith("float"):  # the first that is not a number is the most, and the least
            beats = b.either(beats, b.both(_is_nan(here), b.logical_not(_is_nan(best))))
        assert y.position is not None
        return [
            n.Let(here.name, y.value, span=y.span),
            n.Let(better.name, beats, span=y.span),
            n.Assign(made.name, b.where(better, y.position, made), span=y.span),
            n.Assign(best.name, b.where(better, here, best), span=y.span),
        ]

    def added(self, name: str, high: Var, low: Var, part: Var, span: Span) -> list[n.Stmt]:
        """Adds a part: what the addition rounds away goes into `low`."""
        total, back, lost = (Var(self.names.fresh(f"{name}_{what}"), WIDE) for what in ("sum", "back", "lost"))
        error = _add(_sub(high, _sub(total, back)), _sub(part, back))
        finite = b.compare("equal", _sub(lost, lost), Const(0.0, WIDE))
        return [
            n.Let(total.name, _add(high, part), span=span),
            n.Let(back.name, _sub(total, high), span=span),
            n.Let(lost.name, error, span=span),
            n.Assign(low.name, b.where(finite, _add(low, lost), low), span=span),
            n.Assign(high.name, total, span=span),
        ]

    def variable(self, base: str, dtype: str) -> Var:
        made = Var(self.names.fresh(base), dtype)
        self.variables[made.name] = dtype
        return made


def _is_even(outer: n.Loop, inner: n.Loop) -> bool:
    """Whether all iterations of a loop have the same range of the loop inside it."""
    return outer.axis not in variables_read(inner.start) | variables_read(inner.stop)


def _nest(s: n.Loop) -> tuple[list[n.Loop], n.Loop]:
    """Loops that are around nothing but the next one, and the innermost."""
    around: list[n.Loop] = []
    while len(s.body) == 1 and isinstance(s.body[0], n.Loop):
        around.append(s)
        s = s.body[0]
    return around, s


def _with_bounds(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    """The statements with loops whose bounds are what names before them stand for (``length = n - lag``)."""
    lets: dict[str, Expr] = {}

    def told(s: n.Stmt) -> n.Stmt:
        s = with_bodies(s, lambda inner: tuple(map(told, inner)))
        if not isinstance(s, n.Loop):
            return s
        return replace(s, start=b.substitute(s.start, lets), stop=b.substitute(s.stop, lets))

    made: list[n.Stmt] = []
    for s in body:
        if isinstance(s, n.Let) and s.value.dtype == "index" and not buffers_read(s.value):
            lets[s.name] = b.substitute(s.value, lets)
        made.append(told(s) if lets else s)
    return tuple(made)


def _from_zero(s: n.Loop, axis: str) -> n.Loop:
    """A loop, and loops inside it, of which only where they begin moves with `axis`, from 0 on."""
    moves = b.constant(s.step) == 1 and axis in variables_read(s.start)
    made = from_zero(s) if moves and axis not in variables_read(b.sub(s.stop, s.start)) else s
    return replace(made, body=tuple(_from_zero(x, axis) if isinstance(x, n.Loop) else x for x in made.body))


def _inside(around: Sequence[n.Loop], s: n.Stmt) -> n.Stmt:
    """A statement inside loops, in order."""
    for loop in reversed(around):
        s = replace(loop, kind="sequential", body=(s,), spare=None, large=False)
    return s


def _goes_over(s: n.Loop, axis: str) -> bool:
    """Whether a loop, and loops inside it, go in any order over ranges that are the same for all of `axis`."""
    around, innermost = _nest(s)
    return all(_is_over_a_range(x, axis) for x in (*around, innermost))


def _recurs(s: n.Loop, axis: str, declared: set[str]) -> bool:
    """Whether a loop of plain statements is in order as it is, over a range that is the same for all of `axis`."""
    plain = all(
        isinstance(x, n.Let | n.Assign | n.Store) or (isinstance(x, n.Accumulate) and x.name in declared)
        for x in s.body
    )
    return plain and s.kind == "sequential" and _is_over_a_range(replace(s, kind="parallel"), axis)


def _is_over_a_range(s: n.Loop, axis: str) -> bool:
    return (
        s.kind == "parallel"
        and s.step == b.ONE
        and axis not in variables_read(s.start) | variables_read(s.stop)
        and not buffers_read(s.start) | buffers_read(s.stop)
    )


def _reduces(s: n.Loop, declared: set[str]) -> bool:
    """Whether a loop, or a nest of them, does nothing but reduce; of a position, it is one loop."""
    around, s = _nest(s)
    return all(
        isinstance(x, n.Let)
        or (isinstance(x, n.Accumulate) and x.name in declared and not (around and x.op in _BEST))
        for x in s.body
    )


def _stores(s: n.Loop, declared: set[str]) -> bool:
    """Whether a loop does nothing but store, and reduce what it stores."""
    return any(isinstance(x, n.Store) for x in s.body) and all(
        isinstance(x, n.Let | n.Store) or (isinstance(x, n.Accumulate) and x.name in declared) for x in s.body
    )


def first_of(s: n.Accumulator, start: Expr) -> Expr:
    """What is held before the first term: of extrema, which have terms, what none is less than, or the first."""
    match s.op:
        case "argmax" | "argmin":
            return start
        case "max":
            return lowest(s.dtype)
        case "min":
            return highest(s.dtype)
        case "any" | "all":
            return Const(s.op == "all", "bool")
        case _:
            return b.cast(Const(1 if s.op == "prod" else 0, "int64"), s.dtype)


def _is_nan(x: Expr) -> Expr:
    return Apply("isnan", (x,), "bool")


def narrow_sum(x: n.Accumulator, s: n.Loop) -> str | None:
    """A narrower type of integers that holds parts of a sum of narrow terms: more of them fit into a vector."""
    if x.op not in ("sum", "count") or x.dtype not in ("int64", "uint64", "index"):
        return None
    terms = [narrow_term(y) for y in s.body if isinstance(y, n.Accumulate) and y.name == x.name]
    kinds = {e.dtype for e in terms}
    dtype = _NARROW.get(kinds.pop()) if len(kinds) == 1 else None
    values = (*terms, *(y.value for y in s.body if isinstance(y, n.Let)))
    loaded = [itemsize(e.dtype) for value in values for e in walk_expr(value) if isinstance(e, Load)]
    width = max(loaded, default=8)  # what is compared in lanes of its own width is counted in them
    return None if dtype is None or width > 4 else "int32" if width == 4 else dtype


def narrow_term(y: n.Accumulate) -> Expr:
    """A term of a sum as it was before it was widened."""
    match y.value:
        case Apply("cast", (narrow,), dtype) if narrow.dtype in _NARROW and (
            dtype == "index" or np.can_cast(narrow.dtype, dtype)
        ):
            return narrow
        case _:
            return y.value


def is_float_sum(s: n.Accumulator) -> bool:
    return s.op == "sum" and s.dtype in ("float64", "float32")


def _add(x: Expr, y: Expr) -> Expr:
    return Apply("add", (x, y), WIDE)


def _sub(x: Expr, y: Expr) -> Expr:
    return Apply("subtract", (x, y), WIDE)

"""Filters of places that are counted, row by row: ``nonzero`` of a matrix, the pairs of a triangle.

What keeps some of ``k in range(n * m)`` and asks for ``k // m`` and ``k % m`` divides for each element, which takes
longer than all the rest of it. A loop over the rows has the quotient; within one the remainder is the place:

    for q in range(n):
        for r in range(m): if mask(q, r): rows[count], columns[count] = q, r; count += 1

A condition that bounds ``r`` by what a row knows, as ``q < r`` does, bounds the loop, and where nothing else is asked
all that is left is kept: a loop that stores, in vectors. Short rows stay as they are, where that is known when the
function is called.
"""

from __future__ import annotations

import functools

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.facts import conjuncts
from transkern.ir.names import Names
from transkern.ir.ops import MIRRORED, OPPOSITE
from transkern.ir.traverse import buffers_read, exprs, map_block, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_LEAST = 16
"""How long rows are at least: what a row begins and ends with takes as long as some divisions."""
_HARMLESS = ("add", "subtract", "multiply", "negative", "maximum", "minimum", "cast")
"""Operations that have a value for all integers."""
_TRUE: Expr = b.TRUE
_ORDERS = ("greater", "greater_equal", "less", "less_equal")


def filter_rows(program: n.Program) -> n.Program:
    """The program with such filters as loops over their rows."""
    rows = _Rows(program)
    body = rows.block(program.body)
    return replace(program, body=body, variables=rows.variables) if rows.found else program


class _Rows:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables = Names.of(program), dict(program.variables)
        self.found = False

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            out += self.filter(s) if isinstance(s, n.Compact) else [with_bodies(s, self.block)]
        return tuple(out)

    def filter(self, s: n.Compact) -> list[n.Stmt]:
        size = _row(s) if s.start == b.ZERO else None
        if size is None or (number := b.quotient(s.stop, size)) is None:
            return [s]
        self.found = True
        self.variables[s.count] = "index"
        by_rows = self.by_rows(s, size, number)
        begun = [] if s.append else [n.Assign(s.count, b.ZERO, span=s.span)]
        if b.constant(size) is not None:
            return [*begun, by_rows]
        whole = replace(s, append=True)
        return [*begun, n.If(b.compare("less", size, b.index(_LEAST)), (whole,), (by_rows,), span=s.span)]

    def by_rows(self, s: n.Compact, size: Expr, number: Expr) -> n.Loop:
        q, r = (Var(self.names.fresh(name), "index") for name in ("row", "place"))

        def change(e: Expr) -> Expr | None:
            match e:
                case Apply("floor_divide", (Var(name), by), "index") if name == s.axis:
                    if by == size:
                        return q
                    of_rows = b.quotient(by, size)
                    return None if of_rows is None else b.floordiv(q, of_rows)
                case Apply("remainder", (Var(name), by), "index") if name == s.axis and by == size:
                    return r
                case Var(name) if name == s.axis:
                    return b.add(b.mul(q, size), r)
                case _:
                    return None

        mask, values = b.map_expr(s.mask, change), tuple(b.map_expr(v, change) for v in s.values)
        body = map_block(s.body, change)
        own = {x.name for x in walk(body) if isinstance(x, n.Let)} | {r.name, s.count}
        left: list[Expr] = []
        start: Expr = b.ZERO
        stop = size
        for part in conjuncts(mask):
            bounds = _bounds(part, r, own)
            if bounds is None:
                left.append(part)
            else:
                start, stop = b.maximum(start, bounds[0] or start), b.minimum(stop, bounds[1] or stop)
        mask = functools.reduce(b.both, left, _TRUE)
        inner: tuple[n.Stmt, ...] = (
            replace(s, axis=r.name, start=start, stop=stop, body=body, mask=mask, values=values, append=True),
        )
        if not left and not s.inner and not any(buffers_read(e) & {*s.outputs} for e in (*values, *exprs(body))):
            inner = self.whole_row(s, r, start, stop, body, values)
        return n.Loop(q.name, b.ZERO, number, b.ONE, "sequential", inner, span=s.span)

    def whole_row(
        self, s: n.Compact, r: Var, start: Expr, stop: Expr, body: tuple[n.Stmt, ...], values: tuple[Expr, ...]
    ) -> tuple[n.Stmt, ...]:
        """What is kept of a row, where that is all within its bounds."""
        first, last = (Var(self.names.fresh(name), "index") for name in ("first", "last"))
        count = Var(s.count, "index")
        at = (b.add(count, b.sub(r, first)),)
        stores = [n.Store(out, at, value, span=s.span) for out, value in zip(s.outputs, values, strict=True)]
        return (
            n.Let(first.name, start, span=s.span),
            n.Let(last.name, b.maximum(first, stop), span=s.span),
            n.Loop(r.name, first, last, b.ONE, "parallel", (*body, *stores), span=s.span),
            n.Assign(s.count, b.add(count, b.sub(last, first)), span=s.span),
        )


def _row(s: n.Compact) -> Expr | None:
    """The length of the rows that a filter takes its places apart by."""
    set_here = {x.name for x in s.body if isinstance(x, n.Let)} | {s.axis, s.count, *(a.name for a in s.inner)}
    every = [e for own in (s.mask, *s.values, *(a.extent for a in s.inner)) for e in walk_expr(own)]
    every += exprs(s.body)
    if Var(s.count, "index") in every:
        return None  # which is how many there were before
    found = [
        e.args[1]
        for e in every
        if isinstance(e, Apply) and e.op == "remainder" and e.dtype == "index" and e.args[0] == Var(s.axis, "index")
    ]
    for size in dict.fromkeys(found):
        constant = b.constant(size)
        if not (variables_read(size) & set_here or buffers_read(size)) and (constant is None or constant >= _LEAST):
            return size
    return None


def _bounds(part: Expr, r: Var, own: set[str]) -> tuple[Expr | None, Expr | None] | None:
    """What a condition says of `r`, where it says no more than that it is at least one number, or less than another,
    which may be computed where what is asked before it does not hold."""
    match part:
        case Apply("logical_not", (Apply(op, (x, y)),)) if op in _ORDERS:
            op = OPPOSITE[op]
        case Apply(op, (x, y)) if op in _ORDERS:
            pass
        case _:
            return None
    x, y = _place(x), _place(y)
    if x.dtype != "index" or y.dtype != "index":
        return None
    terms, offset = b.affine(b.sub(x, y))
    sign = terms.pop(r, 0)
    rest = b.from_affine(terms, offset)
    if abs(sign) != 1 or variables_read(rest) & own or not all(map(_is_harmless, walk_expr(rest))):
        return None
    other = b.neg(rest) if sign == 1 else rest  # r is compared with it
    op = op if sign == 1 else MIRRORED[op]
    match op:
        case "greater":
            return b.add(other, b.ONE), None
        case "greater_equal":
            return other, None
        case "less":
            return None, other
        case _:
            return None, b.add(other, b.ONE)


def _is_harmless(e: Expr) -> bool:
    if e.dtype.startswith(("float", "complex")):
        return False
    return isinstance(e, (Var, Const)) or (isinstance(e, Apply) and e.op in _HARMLESS)


def _place(e: Expr) -> Expr:
    """An integer, without the conversion of a place that it is."""
    return b.as_index(e) if b.is_position(e) else e

"""Places that are counted, and taken apart again, are what they were made of:

    x[(i * m + j) // m, (i * m + j) % m]     x[i, j]      for 0 <= j < m
    x[12 * (i // 12) + i % 12]               x[i]

`reshape` counts and takes apart, so a chain of them divides several times for each element, and nobody sees that
neighbours in memory are read one after the other. A quotient is known where a place is ``q * d + r`` with r from 0 on
and less than d, which is asked of polynomials: an axis is at least 0 and less than its extent, a size at least 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeGuard

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.polynomials import (
    Polynomial,
    divides,
    exact_quotient,
    expression,
    multiplied,
    ordered,
    plus,
    polynomial,
    substituted,
    without,
)
from transkern.ir.traverse import (
    buffers_read,
    exprs,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_DIVISIONS = ("floor_divide", "remainder")
_NODES = 40  # of a place that a name stands for


def simplify_places(program: n.Program) -> n.Program:
    """The program whose subscripts do not divide where what they divide is known."""
    if not any(map(is_division, exprs(program.body))):
        return program
    return replace(program, body=_block(program.body, _Known({}, {}, frozenset(program.variables))))


def simplified(s: n.Stmt, variables: Iterable[str]) -> n.Stmt:
    """One statement, which may be a nest, whose places do not divide where what they divide is known."""
    (made,) = _block((s,), _Known({}, {}, frozenset(variables)))
    return made


def divides_for(reader: n.Stmt, buffer: str) -> bool:
    """Whether a statement reads an array at quotients, which its places in memory may not be."""
    if not any(_reads_quotients(e, buffer) for e in own_exprs(reader)):
        return False
    return any(_reads_quotients(e, buffer) for e in own_exprs(simplified(reader, ())))


def _reads_quotients(e: Expr, buffer: str) -> bool:
    return any(isinstance(x, Load) and x.buffer == buffer and any(map(divides, x.index)) for x in walk_expr(e))


def _block(statements: tuple[n.Stmt, ...], known: _Known) -> tuple[n.Stmt, ...]:
    made: list[n.Stmt] = []
    for s in statements:
        s = _statement(s, known)
        if isinstance(s, n.Let) and s.value.dtype == "index" and known.is_fixed(s.value) and _is_short(s.value):
            place = known.written_out(s.value)
            if _is_short(place):  # names of names of names may stand for more than there is memory
                known = replace(known, lets={**known.lets, s.name: place}, made={})
        made.append(s)
    return tuple(made)


def _statement(s: n.Stmt, known: _Known) -> n.Stmt:
    own = known
    match s:
        case n.Define() | n.Write() | n.Scan() | n.Scatter():
            own = known.within_axes(s.axes)
        case n.Filter():
            own = known.within_axes((*s.axes, *s.inner))
        case _:
            pass
    if any(_divides(e) for e in own_exprs(s)):
        s = map_own(s, own.changed)
    match s:
        case n.Loop(axis, start, stop, Const(step)) if int(step) > 0:  # type: ignore[arg-type]
            around = (Axis(axis, stop),) if b.is_nonnegative(start) else ()
        case n.Compact():
            around = (Axis(s.axis, s.stop),) if b.is_nonnegative(s.start) else ()
        case n.Scanning():
            around = (Axis(s.axis, s.stop),)
        case _:
            around = ()
    inside = known.within_axes(a for a in around if _stays(a.extent, s))
    return with_bodies(s, lambda body: _block(body, inside))


def _stays(extent: Expr, s: n.Stmt) -> bool:
    """Whether the end of a loop is, inside it, what it was when the loop began."""
    return not buffers_read(extent) and not variables_read(extent) & scalars_set(s)


def _is_short(e: Expr) -> bool:
    return sum(1 for _ in islice(walk_expr(e), _NODES + 1)) <= _NODES


def is_division(e: Expr) -> TypeGuard[Apply]:
    """Whether a place is the quotient or the remainder of one."""
    return isinstance(e, Apply) and e.dtype == "index" and e.op in _DIVISIONS


def _divides(e: Expr) -> bool:
    return any(map(is_division, walk_expr(e)))


@dataclass(slots=True)
class _Known:
    """What is known where an expression stands: the axes that start at zero or later, and what they are less than; what
    names stand for. `variables` may change."""

    extents: Mapping[str, Expr]
    lets: Mapping[str, Expr]
    variables: frozenset[str]
    made: dict[Expr, Expr] = field(default_factory=dict)

    def within_axes(self, axes: Iterable[Axis]) -> _Known:
        more = {a.name: a.extent for a in axes}
        return replace(self, extents={**self.extents, **more}, made={}) if more else self

    def is_fixed(self, e: Expr) -> bool:
        """Whether a value stays the same as long as the names in it are known."""
        return not buffers_read(e) and not variables_read(e) & self.variables

    def written_out(self, e: Expr) -> Expr:
        return b.substitute(e, {v: self.lets[v] for v in variables_read(e) & self.lets.keys()})

    def changed(self, e: Expr) -> Expr | None:
        """`e` with its places simplified, as `map_expr` asks: None to look into it."""
        match e:
            case Reduce(op, axes, body, dtype, span) if _divides(e):
                inside = self.within_axes(axes)
                extents = tuple(Axis(a.name, b.map_expr(a.extent, self.changed)) for a in axes)
                return Reduce(op, extents, b.map_expr(body, inside.changed), dtype, span)
            case Apply(_, _, "index") if _divides(e):
                if e not in self.made:
                    self.made[e] = self.place(e)
                return self.made[e]
            case _:
                return None

    def place(self, e: Apply) -> Expr:
        args = tuple(b.map_expr(x, self.changed) for x in e.args)
        if e.op in _DIVISIONS:
            found = self.divided(*args)
            if found is not None:
                return found[e.op == "remainder"]
        made = b.rebuild(e, args)
        return _whole_again(made) if isinstance(made, Apply) and made.op in ("add", "subtract") else made

    def divided(self, place: Expr, by: Expr) -> tuple[Expr, Expr] | None:
        """The quotient and the remainder of a place, where they are known, or known in part."""
        divisor = polynomial(by, by)
        terms = polynomial(self.written_out(place), by)
        if divisor is None or terms is None or len(divisor) != 1:
            return None
        ((factors, times),) = divisor.items()
        if times <= 0:
            return None
        quotient: Polynomial = {}
        rest: Polynomial = {}
        for monomial, count in terms.items():
            left = without(monomial, factors)
            if not monomial and not factors:  # a number by a number
                quotient[()], rest[()] = divmod(count, times)
            elif left is None or count % times:
                rest[monomial] = count
            else:
                quotient[left] = quotient.get(left, 0) + count // times
        if not (quotient or rest):
            return None
        if self.within(rest, divisor, by):
            return expression(quotient), expression(rest)
        if not quotient or not rest:
            return None
        part = expression(rest)  # a multiple of what is divided by comes out
        return b.add(expression(quotient), b.floordiv(part, by)), b.mod(part, by)

    def within(self, rest: Polynomial, divisor: Polynomial, by: Expr) -> bool:
        """Whether a rest is at least 0, and less than what is divided by."""
        if not all(count >= 0 and all(map(self.counts, monomial)) for monomial, count in rest.items()):
            return False
        top: Polynomial | None = rest
        for _ in range(len(self.extents) + 1):
            assert top is not None
            axis = next((x for m in top for x in m if self.extent(x) is not None), None)
            if axis is None:
                break
            if any(axis in m and count < 0 for m, count in top.items()):
                return False
            extent = polynomial(self.extent(axis) or b.ONE, by)
            top = None if extent is None else substituted(top, axis, plus(extent, {(): 1}, -1))
            if top is None:
                return False
        else:
            return False
        gap = plus(divisor, top, -1)
        gap[()] = gap.get((), 0) - 1
        return all(count >= 0 and all(map(self.counts, monomial)) for monomial, count in gap.items() if count)

    def counts(self, e: Expr) -> bool:
        """Whether a factor is at least 0."""
        match e:
            case Apply("floor_divide", (x, by), "index") if b.is_nonnegative(by):
                return self.counts(x)
            case _:
                return b.is_nonnegative(e) or (isinstance(e, Var) and e.name in self.extents)

    def extent(self, e: Expr) -> Expr | None:
        """What a factor is less than."""
        match e:
            case Var(name):
                return self.extents.get(name)
            case Apply("remainder", (_, Const(k) as by), "index") if int(k) > 0:  # type: ignore[arg-type]
                return by
            case Apply("floor_divide", (x, by), "index"):
                extent = self.extent(x)
                return exact_quotient(extent, by) if extent is not None and b.is_nonnegative(by) else None
            case _:
                return None


def _whole_again(e: Expr) -> Expr:
    """``d * (x // d) + x % d`` in a sum is x."""
    terms = polynomial(e)
    if terms is None:
        return e
    again = True
    found = False
    while again:
        again = False
        for monomial, count in list(terms.items()):
            part = next((x for x in monomial if isinstance(x, Apply) and x.op == "remainder"), None)
            if part is None or (divisor := polynomial(part.args[1])) is None or len(divisor) != 1:
                continue
            ((factors, times),) = divisor.items()
            beside = without(monomial, (part,)) or ()
            other = ordered((*beside, *factors, Apply("floor_divide", part.args, "index")))
            whole = polynomial(part.args[0])
            if terms.get(other) != count * times or whole is None:
                continue
            del terms[monomial], terms[other]
            terms = plus(terms, multiplied(whole, {beside: count}), 1)
            again = found = True
            break
    return expression(terms) if found else e

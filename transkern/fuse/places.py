"""Places that are counted, and taken apart again, are what they were made of:

    x[(i * m + j) // m, (i * m + j) % m]     x[i, j]      for 0 <= j < m
    x[12 * (i // 12) + i % 12]               x[i]

`reshape` counts and takes apart, so a chain of them divides several times for each element, and nobody sees that
neighbours in memory are read one after the other. A quotient is known where a place is ``q * d + r`` with r from 0 on
and less than d, which is asked of polynomials: an axis is at least 0 and less than its extent, a size at least 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Reduce, Var
from transkern.ir.traverse import (
    buffers_read,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)

_Monomial = tuple[Expr, ...]  # its factors, in a stable order
_Polynomial = dict[_Monomial, int]
_DIVISIONS = ("floor_divide", "remainder")
_NODES = 40  # of a place that a name stands for
_TERMS = 24  # of a polynomial that is looked at


def simplify_places(program: n.Program) -> n.Program:
    """The program whose subscripts do not divide where what they divide is known."""
    if not any(_divides(e) for s in walk(program.body) for e in own_exprs(s)):
        return program
    return replace(program, body=_block(program.body, _Known({}, {}, frozenset(program.variables))))


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


def _divides(e: Expr) -> bool:
    return any(isinstance(x, Apply) and x.dtype == "index" and x.op in _DIVISIONS for x in walk_expr(e))


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
        """The quotient and the remainder of a place, where they are known."""
        divisor = _polynomial(by, by)
        terms = _polynomial(self.written_out(place), by)
        if divisor is None or terms is None or len(divisor) != 1:
            return None
        ((factors, times),) = divisor.items()
        if times <= 0:
            return None
        quotient: _Polynomial = {}
        rest: _Polynomial = {}
        for monomial, count in terms.items():
            left = _without(monomial, factors)
            if not monomial and not factors:  # a number by a number
                quotient[()], rest[()] = divmod(count, times)
            elif left is None or count % times:
                rest[monomial] = count
            else:
                quotient[left] = quotient.get(left, 0) + count // times
        if not (quotient or rest) or not self.within(rest, divisor, by):
            return None
        return _expression(quotient), _expression(rest)

    def within(self, rest: _Polynomial, divisor: _Polynomial, by: Expr) -> bool:
        """Whether a rest is at least 0, and less than what is divided by."""
        if not all(count >= 0 and all(map(self.counts, monomial)) for monomial, count in rest.items()):
            return False
        top: _Polynomial | None = rest
        for _ in range(len(self.extents) + 1):
            assert top is not None
            axis = next((x for m in top for x in m if self.extent(x) is not None), None)
            if axis is None:
                break
            if any(axis in m and count < 0 for m, count in top.items()):
                return False
            last = _polynomial(b.sub(self.extent(axis) or b.ONE, b.ONE), by)
            top = None if last is None else _substituted(top, axis, last)
            if top is None:
                return False
        else:
            return False
        gap = _sum(divisor, top, -1)
        gap[()] = gap.get((), 0) - 1
        return all(count >= 0 and all(map(self.counts, monomial)) for monomial, count in gap.items() if count)

    def counts(self, e: Expr) -> bool:
        """Whether a factor is at least 0."""
        return b.is_nonnegative(e) or (isinstance(e, Var) and e.name in self.extents)

    def extent(self, e: Expr) -> Expr | None:
        """What a factor is less than."""
        match e:
            case Var(name):
                return self.extents.get(name)
            case Apply("remainder", (_, Const(k) as by), "index") if int(k) > 0:  # type: ignore[arg-type]
                return by
            case _:
                return None


def _whole_again(e: Expr) -> Expr:
    """``d * (x // d) + x % d`` in a sum is x."""
    terms = _polynomial(e)
    if terms is None:
        return e
    again = True
    found = False
    while again:
        again = False
        for monomial, count in list(terms.items()):
            part = next((x for x in monomial if isinstance(x, Apply) and x.op == "remainder"), None)
            if part is None or (divisor := _polynomial(part.args[1])) is None or len(divisor) != 1:
                continue
            ((factors, times),) = divisor.items()
            beside = _without(monomial, (part,)) or ()
            other = _ordered((*beside, *factors, Apply("floor_divide", part.args, "index")))
            whole = _polynomial(part.args[0])
            if terms.get(other) != count * times or whole is None:
                continue
            del terms[monomial], terms[other]
            terms = _sum(terms, _times(whole, {beside: count}), 1)
            again = found = True
            break
    return _expression(terms) if found else e


# --- polynomials over what is neither a sum nor a product


def _polynomial(e: Expr, whole: Expr | None = None) -> _Polynomial | None:
    """`e` multiplied out, but for `whole`, which stays one factor; None where it has many terms."""
    if e == whole and not (isinstance(e, Const) or (isinstance(e, Apply) and e.op == "multiply")):
        return {(e,): 1}
    match e:
        case Const(value):
            return {(): int(value)} if value else {}  # type: ignore[arg-type]
        case Apply("add" | "subtract" as op, (x, y), "index"):
            one, two = _polynomial(x, whole), _polynomial(y, whole)
            made = None if one is None or two is None else _sum(one, two, 1 if op == "add" else -1)
        case Apply("negative", (x,), "index"):
            one = _polynomial(x, whole)
            made = None if one is None else _sum({}, one, -1)
        case Apply("multiply", (x, y), "index"):
            one, two = _polynomial(x, whole), _polynomial(y, whole)
            made = None if one is None or two is None else _times(one, two)
        case _:
            return {(e,): 1}
    return made if made is not None and len(made) <= _TERMS else None


def _ordered(factors: Iterable[Expr]) -> _Monomial:
    return tuple(sorted(factors, key=repr))


def _sum(one: _Polynomial, two: _Polynomial, times: int) -> _Polynomial:
    made = dict(one)
    for monomial, count in two.items():
        made[monomial] = made.get(monomial, 0) + times * count
    return {m: c for m, c in made.items() if c}


def _times(one: _Polynomial, two: _Polynomial) -> _Polynomial:
    made: _Polynomial = {}
    for m1, c1 in one.items():
        for m2, c2 in two.items():
            both = _ordered((*m1, *m2))
            made[both] = made.get(both, 0) + c1 * c2
    return {m: c for m, c in made.items() if c}


def _without(monomial: _Monomial, factors: _Monomial) -> _Monomial | None:
    """A monomial divided by some of its factors; None where it does not have them."""
    left = list(monomial)
    for factor in factors:
        if factor not in left:
            return None
        left.remove(factor)
    return tuple(left)


def _substituted(terms: _Polynomial, factor: Expr, by: _Polynomial) -> _Polynomial | None:
    made: _Polynomial = {}
    for monomial, count in terms.items():
        left, power = monomial, 0
        while (next_left := _without(left, (factor,))) is not None:
            left, power = next_left, power + 1
        product: _Polynomial = {left: count}
        for _ in range(power):
            product = _times(product, by)
        made = _sum(made, product, 1)
    return made if len(made) <= _TERMS else None


def _expression(terms: _Polynomial) -> Expr:
    """A polynomial in the nested form that counting gives: ``(i * m + j) * k + l``."""
    counted = Counter(x for monomial in terms for x in set(monomial))
    shared = max(counted, key=lambda x: (counted[x], repr(x)), default=None)
    if shared is None or counted[shared] == 1:
        made: Expr = b.ZERO
        for monomial, count in terms.items():
            made = b.add(made, b.mul(b.index(count), b.product(monomial)))
        return made
    inner: _Polynomial = {}
    rest: _Polynomial = {}
    for monomial, count in terms.items():
        left = _without(monomial, (shared,))
        if left is None:
            rest[monomial] = count
        else:
            inner[left] = count
    return b.add(b.mul(_expression(inner), shared), _expression(rest))

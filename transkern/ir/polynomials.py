"""Places as polynomials over what is neither a sum nor a product: sizes, axes, quotients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Load, Var

Monomial = tuple[Expr, ...]
"""Its factors, in a stable order."""
Polynomial = dict[Monomial, int]
_TERMS = 24  # of a polynomial that is looked at


def polynomial(e: Expr, whole: Expr | None = None) -> Polynomial | None:
    """`e` multiplied out, but for `whole`, which stays one factor; None where it has many terms."""
    if e == whole and not (isinstance(e, Const) or (isinstance(e, Apply) and e.op == "multiply")):
        return {(e,): 1}
    match e:
        case Const(value):
            return {(): int(value)} if value else {}  # type: ignore[arg-type]
        case Apply("add" | "subtract" as op, (x, y), "index"):
            one, two = polynomial(x, whole), polynomial(y, whole)
            made = None if one is None or two is None else plus(one, two, 1 if op == "add" else -1)
        case Apply("negative", (x,), "index"):
            one = polynomial(x, whole)
            made = None if one is None else plus({}, one, -1)
        case Apply("multiply", (x, y), "index"):
            one, two = polynomial(x, whole), polynomial(y, whole)
            made = None if one is None or two is None else multiplied(one, two)
        case _:
            return {(e,): 1}
    return made if made is not None and len(made) <= _TERMS else None


def ordered(factors: Iterable[Expr]) -> Monomial:
    return tuple(sorted(factors, key=repr))


def plus(one: Polynomial, two: Polynomial, times: int) -> Polynomial:
    made = dict(one)
    for monomial, count in two.items():
        made[monomial] = made.get(monomial, 0) + times * count
    return {m: c for m, c in made.items() if c}


def multiplied(one: Polynomial, two: Polynomial) -> Polynomial:
    made: Polynomial = {}
    for m1, c1 in one.items():
        for m2, c2 in two.items():
            both = ordered((*m1, *m2))
            made[both] = made.get(both, 0) + c1 * c2
    return {m: c for m, c in made.items() if c}


def without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """A monomial divided by some of its factors; None where it does not have them."""
    left = list(monomial)
    for factor in factors:
        if factor not in left:
            return None
        left.remove(factor)
    return tuple(left)


def substituted(terms: Polynomial, factor: Expr, by: Polynomial) -> Polynomial | None:
    made: Polynomial = {}
    for monomial, count in terms.items():
        left, power = monomial, 0
        while (next_left := without(left, (factor,))) is not None:
            left, power = next_left, power + 1
        product: Polynomial = {left: count}
        for _ in range(power):
            product = multiplied(product, by)
        made = plus(made, product, 1)
    return made if len(made) <= _TERMS else None


def expression(terms: Polynomial) -> Expr:
    """A polynomial in the nested form that counting gives: ``(i * m + j) * k + l``."""
    counted = Counter(x for monomial in terms for x in set(monomial))
    shared = max(counted, key=lambda x: (counted[x], repr(x)), default=None)
    if shared is None or counted[shared] == 1:
        made: Expr = b.ZERO
        for monomial, count in terms.items():
            made = b.add(made, b.mul(b.index(count), b.product(monomial)))
        return made
    inner: Polynomial = {}
    rest: Polynomial = {}
    for monomial, count in terms.items():
        left = without(monomial, (shared,))
        if left is None:
            rest[monomial] = count
        else:
            inner[left] = count
    return b.add(b.mul(expression(inner), shared), expression(rest))


def exact_quotient(whole: Expr, by: Expr) -> Expr | None:
    """``whole / by`` where nothing remains; `by` is one product."""
    divisor, terms = polynomial(by, by), polynomial(whole, by)
    if divisor is None or not terms or len(divisor) != 1:
        return None
    ((factors, times),) = divisor.items()
    made: Polynomial = {}
    for monomial, count in terms.items():
        left = without(monomial, factors)
        if left is None or not times or count % times:
            return None
        made[left] = count // times
    return expression(made)


def divides(e: Expr) -> bool:
    """Whether it has a quotient by what is no constant, of more than one axis: of one, its loop becomes a nest."""
    match e:
        case Apply("floor_divide" | "remainder", (divided, by), _) if not isinstance(by, Const):
            while isinstance(divided, Apply) and divided.op in ("floor_divide", "remainder"):
                divided = divided.args[0]
            return not isinstance(divided, Var) or divides(by)
        case Apply(_, args, _) | Load(_, args, _):
            return any(map(divides, args))
        case _:
            return False

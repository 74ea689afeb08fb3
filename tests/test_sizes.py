"""Sizes as they are built: largest and smallest ones of sums are what they say, and none stands in another twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pytest

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Var

N, M = Var("n", "index"), Var("x_0", "index")
PARTS = [N, M, b.index(3), b.ZERO, b.add(N, b.ONE), b.sub(N, b.index(2)), b.add(M, b.index(5))]
SIZES = [{"n": n, "x_0": m} for n, m in ((0, 0), (1, 7), (9, 2), (3, 3), (4, 1))]
PYTHONS: dict[str, Callable[..., int]] = {
    "add": int.__add__, "subtract": int.__sub__, "multiply": int.__mul__, "maximum": max, "minimum": min,
}  # fmt: skip


def _value(expr: Expr, sizes: Mapping[str, int]) -> int:
    match expr:
        case Const(int(value), _):
            return value
        case Var(name, _):
            return sizes[name]
        case Apply(op, arguments, _):
            return PYTHONS[op](*(_value(a, sizes) for a in arguments))
    raise AssertionError(expr)


@pytest.mark.parametrize("names", list(itertools.product(("maximum", "minimum"), repeat=3)), ids=".".join)
def test_largest_of_largest(names: tuple[str, str, str]) -> None:
    (one, two, three), (f, g, h) = (getattr(b, name) for name in names), (PYTHONS[name] for name in names)
    for w, x, y, z in itertools.product(PARTS, repeat=4):
        built = one(two(w, x), three(y, z))
        for sizes in SIZES:
            p, q, r, s = (_value(part, sizes) for part in (w, x, y, z))
            assert _value(built, sizes) == f(g(p, q), h(r, s)), (built, sizes)


def test_no_size_twice() -> None:
    for build in (b.maximum, b.minimum):
        once = build(N, M)
        assert build(build(once, N), M) == build(N, once) == build(M, once) == once

"""float16 on all targets: NumPy's bits, special values included.

The C compiler was at fault for computing what stands in one expression without rounding in between; the front end for
`spacing`, `var` and functions made of several, of which NumPy rounds some once and others at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.registry import difference
from tests.regressions.support import alike
from tests.tools import has, on_target, require

require("cc")

ALL = np.arange(0, 65536, 7, dtype=np.uint16).view(np.float16)
EDGES = np.array(
    [0.0, -0.0, 1, -1, 2, 65504, -65504, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 6.1e-5, 1023.5, 0.1, -3.25], np.float16
)
LEFT, RIGHT = np.repeat(EDGES, EDGES.size), np.tile(EDGES, EDGES.size)
SOME = (np.random.default_rng(0).standard_normal(300) * 9).astype(np.float16)
X, Y = np.concatenate([ALL, LEFT, SOME]), np.concatenate([ALL[::-1], RIGHT, SOME[::-1]])


def of_one(x: Any) -> Any:
    return (
        -x, abs(x), np.sign(x), np.sqrt(x), np.square(x), np.reciprocal(x), x**2, x * 2.5, 1 - x, x // 2, np.rint(x),
        np.floor(x), np.trunc(x), np.spacing(x), np.isnan(x), np.isinf(x), np.signbit(x), x.astype(np.float32),
        x.astype(np.float64), x.astype(bool), np.where(x > 1, x, 0), np.deg2rad(x), np.degrees(x), np.modf(x)[0],
        np.round(x, 1), np.clip(x, -2, 0.3), np.nan_to_num(x), x * np.float32(0.1), x * np.float64(0.1), x[x < 0.1],
        np.ldexp(x, 3), np.nextafter(x, np.float16(1)), ~np.isfinite(x), x.argmax(), x.argmin(), np.fmin.reduce(x),
    )  # fmt: skip


def of_two(x: Any, y: Any) -> Any:
    return (
        x + y, x - y, x * y, x / y, x // y, x % y, np.fmod(x, y), x * y + x - y, x + y - x * y, (x + y) + x == x,
        np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.copysign(x, y), np.nextafter(x, y), np.heaviside(x, y),
        x < y, x == y, np.divmod(x, y)[0],
    )  # fmt: skip


def from_others(d: Any, i: Any, u: Any, k: int, t: float) -> Any:
    return d.astype(np.float16), i.astype(np.float16), u.astype(np.float16), np.float16(t) * k, np.float16(k) + t


def in_order(x: Any, rows: Any, s: Any) -> Any:
    """In float16 at each step."""
    total = np.float16(0)
    for v in x:
        total = total + v * s
    x[1:] += x[:-1]
    return (
        total, np.cumsum(x), np.cumprod(x[:9]), np.maximum.accumulate(x), np.cumsum(rows, axis=0),
        np.cumsum(rows, axis=1), x.max(), x.min(), np.diff(x), np.sort(x), rows.T.max(axis=0), s, x[3],
    )  # fmt: skip


def rounded_once(x: Any, y: Any, rows: Any) -> Any:
    return (
        np.exp(x), np.log(np.abs(x)), np.sin(x), np.tanh(x), np.hypot(x, y), np.logaddexp(x, y), np.logaddexp2(x, y),
        np.abs(x) ** y, x.sum(), x.mean(), rows.mean(axis=0), rows.sum(axis=1), x[:20].prod(), np.arctan2(x, y),
    )  # fmt: skip


def spread(x: Any, rows: Any) -> Any:
    """NumPy rounds the mean, the distances, their squares and the sum to float16; along the first axis all sums, which
    is refused."""
    return x.var(), x.std(ddof=1), rows.var(axis=1), rows.std(axis=1), (x * 40).var()


ROWS = SOME.reshape(20, 15)
WIDE = np.array([0.1, 65519.99, 65520.0, -1e9, 6.1e-5, 2.98e-8, 2.9802323e-8, 1.00048828125, np.nan, np.inf, 3e-320])
CASES: tuple[tuple[Callable[..., Any], float, tuple[Any, ...]], ...] = (
    (of_one, 0, (X,)),
    (of_two, 0, (X, Y)),
    (from_others, 0, (WIDE, np.arange(-70000, 70000, 997), np.array([1, 2**53 + 1, 2**64 - 1], np.uint64), 3, 0.1)),
    (in_order, 0, (SOME, ROWS, np.float16(0.3))),
    (rounded_once, 1, (SOME, SOME[::-1].copy(), ROWS)),
    (spread, 4, (SOME, ROWS)),
)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_halves_are_rounded_where_numpy_rounds_them(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    wrong = []
    for function, ulps, arguments in CASES:
        if target == "pallas" and function is of_two:  # XLA has its own answer to two zeros
            arguments = tuple(a[(X != 0) | (Y != 0)] for a in arguments)
        if target == "cuda" and has("device"):  # whose conversion to float makes one NaN of all
            arguments = tuple(np.where(np.isnan(a), np.abs(a), a) if a is X or a is Y else a for a in arguments)
        one, two = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
        wanted, found = function(*one), transkern.compile(function, target=target)(*two)
        for k, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
            if told := difference(mine, theirs, ulps, 0.0):
                wrong.append(f"{function.__name__}[{k}]: {told}")
        assert not difference(two[0], one[0])
    assert not wrong


def running_beside_a_count(x: Any, y: Any) -> Any:
    count = 0
    for i in range(len(x)):
        z = np.cumsum(y)
        for v in y > y[i]:
            count += v
    return count, z


def test_running_sums_in_a_loop_over_lanes() -> None:
    """`halves`: a variable that a loop changes began as a name."""
    x = np.array([1, 2, 0.5, 3, 1], np.float16)
    alike(running_beside_a_count, x, x[::-1].copy())


def running_extremes(x: Any) -> Any:
    return np.maximum.accumulate(x), np.minimum.accumulate(x)


def test_running_extremes_keep_the_first_of_two_zeros() -> None:
    """`halves`: they took the second."""
    zeros = np.array([[0.0, -0.0], [-0.0, 0.0], [0.0, -0.0], [np.nan, 1.0]], np.float16)
    for at in (zeros, zeros.T.copy(), LEFT):
        found, wanted = transkern.compile(running_extremes)(at), running_extremes(at)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(np.signbit(one) & ~np.isnan(one), np.signbit(other) & ~np.isnan(other))

"""Python's integers know no limit; compiled code has 64 bits for them, and says so where they are not enough."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern.errors import TOO_LARGE
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import variables_read, walk
from transkern.pipeline import program_of
from transkern.targets.pallas.passes.widths import BEYOND

require("cc")


def factorial(n: int) -> int:
    product = 1
    for i in range(1, n + 1):
        product *= i
    return product


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def squares(n: int, k: int) -> int:
    while n > 0:
        k *= k
        n -= 1
    return k


def total(x: Any) -> int:
    v = 0
    for i in range(len(x)):
        v += int(x[i])
    return v


def weighted(x: Any) -> int:
    v = 0
    for item in x:
        v += int(item) * 2
    return v


def chosen(k: int, m: int) -> int:
    return k * m - 1 if abs(m) < 1000 else m


def doubled(values: list[int]) -> list[int]:
    return [2 * v for v in values]


def shifted(k: int, by: int) -> int:
    return (k << by) + 1


def negated(a: int, k: int) -> tuple[int, ...]:
    quotient, rest = divmod(a, k)
    return -a, abs(a), a // k, quotient, rest


def negated_elements(values: list[int], k: int) -> list[int]:
    largest = 0
    for v in values:
        largest = max(largest, abs(v))
    return [-v for v in values] + [v // k for v in values] + [largest]


def hashed(text: Any, k: int) -> int:
    h = k
    for c in text:
        h = (h * 31 + int(c)) % 1000000007
    return h


def pairs(n: int, m: int) -> int:
    product_sum = 0
    for i in range(n):
        for j in range(m):
            product_sum += i * j
    return product_sum


def positions(start: int, stop: int) -> int:
    v = 0
    for i in range(start, stop):
        v += i
    return v


def products(x: Any, y: Any, k: int) -> tuple[int, int]:
    v, largest = k, -5
    for i in range(len(x)):
        if i % 3 != 1:
            v += int(x[i]) * int(y[i]) - k
            largest = max(largest, int(y[i]))
    return v, largest


def packed(x: Any, k: int) -> list[int]:
    counts = [0] * 4
    at = 0
    for i in range(len(x)):
        at = at + int(x[i]) * k if i > 1 else at - k
        counts[i % 4] = at
    return counts


def taken_over(k: int, c: int) -> int:
    v = k
    if c > 0:
        v = 3
    return v * 4


def fibonacci_twice(n: int, m: int) -> int:
    a, b, s = 0, 1, 0
    for _ in range(m):
        for _ in range(n):
            a, b = b, a + b
        s += a % 7
    return s


def collatz(n: int) -> int:
    steps = 0
    while n != 1 and steps < 1000:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def congruential(n: int, seed: int) -> int:
    s = 0
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483648
        s += seed & 255
    return s * 8 + seed % 8


def with_the_last_bits(n: int, seed: int) -> int:
    for _ in range(n):
        seed = (1664525 * seed + 1013904223) & 0xFFFFFFFF
    return seed


def best_run(n: int, step: int) -> list[int]:
    """A sum that has a name before it is kept."""
    s = best = 0
    for i in range(n):
        later = s + step - 3 * i
        if later > best:
            best = later
        if later < -(2**62):
            break
        s = later
    return [best, s]


def counted(c: int, n: int) -> int:
    steps = 0
    for _ in range(c, c + n):
        steps += 1
    return steps


def backwards(c: int, n: int) -> list[int]:
    return list(reversed(range(c - n, c, 2)))


def around_each(values: list[int], n: int) -> int:
    """The ends of loops in a loop, which the data decides."""
    steps = 0
    for v in values:
        for w in range(v - n, v + n):
            steps += w == v
    return steps


def walked(n: int, k: int) -> list[int]:
    """A loop that is there twice, with an end that is checked once."""
    total = 0
    for i in range(1, n * n + 1):
        total += i * k
        if total > 10**6:
            break
    return [total, i if n else 0]


BIG = 2**62
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((factorial, (n,)) for n in (0, 1, 20, 21, 40)),
    *((fibonacci, (n,)) for n in (5, 91, 92, 93, 94, 200)),
    *((fibonacci_twice, (n, m)) for n, m in ((5, 3), (46, 2), (92, 1), (47, 2), (31, 4))),
    *((pairs, (n, m)) for n, m in ((0, 5), (5, 0), (100, 70), (0, 2**40), (-3, 2**40))),
    *((positions, (n, n + k)) for n, k in ((0, 9), (-5, 3), (2**60, 7), (2**60, 8), (-(2**60), 9), (2**62, 1))),
    *(
        (products, (np.array(x, np.int64), np.array(y, np.int64), k))
        for x, y, k in (
            ([], [], 3), ([7], [8], -1), ([BIG] * 4, [1, BIG, 1, -1], 0), ([BIG] * 4, [1, 1, 1, 1], 0),
            ([-(2**63)], [1], 0), ([-(2**63)], [-1], 0), ([2**31] * 3, [2**31 - 1] * 3, 5),
            ([BIG, 0, BIG], [1, 0, -1], BIG),
        )
    ),
    *(
        (packed, (np.array(x, np.int64), k))
        for x, k in (([1, 2, 3, 4, 5], 6), ([1, 2, BIG], 1), ([1, 2, BIG], -3), ([], 2))
    ),
    *((taken_over, (k, c)) for k, c in ((3, 0), (BIG, 0), (5, 1), (-BIG, 0))),
    *((squares, (n, k)) for n, k in ((3, 2), (5, 3), (6, 3), (2, -7), (9, -1), (300, 1))),
    *((total, (np.array(x),)) for x in ([BIG, BIG - 1], [BIG, BIG], [-BIG, -BIG], [-BIG, -BIG, -1], [3, -8])),
    *((weighted, (np.array(x),)) for x in ([3, -8, -1], [BIG // 2, BIG // 2 - 1], [BIG], [-BIG, -1], [-BIG // 2, 5])),
    *((chosen, (k, m)) for k, m in ((BIG // 8, 7), (BIG // 8, 900), (BIG // 8, 10**12), (-5, 3))),
    *((doubled, (x,)) for x in ([1, 2, 3], [4, BIG], [-BIG, 5])),
    *((shifted, (k, by)) for k, by in ((1, 3), (1, 62), (1, 63), (-1, 62), (12345, 60), (0, 3))),
    *((negated, (a, k)) for a in (-(2**63), 1 - 2**63, 2**63 - 1, 7) for k in (-1, 1, -7)),
    *((negated_elements, (x, k)) for x in ([3, -(2**63)], [1 - 2**63, 4], [-5, 2**63 - 1]) for k in (-1, 3)),
    *((hashed, (np.arange(9), k)) for k in (0, 5, -77)),
    *((best_run, (n, k)) for n, k in ((5, 3), (0, 7), (2, BIG), (1, BIG), (3, -BIG), (9, BIG // 5), (9, -BIG // 4))),
    *((f, (c, 4)) for f in (counted, backwards) for c in (5, 2**59, BIG, 2**63 - 3, 2**63 - 1, 2 - 2**63, -BIG)),
    *((around_each, (x, n)) for x in ([], [1, 5], [4, 2**63 - 3], [1 - 2**63]) for n in (0, 2)),
    *((walked, (n, k)) for n, k in ((0, 3), (3, 5), (2**31, 5), (2**32, 7), (-(2**32), 7), (3, BIG))),
    *((collatz, (n,)) for n in (27, 2**59 + 1)),
    *((f, pair) for f in (congruential, with_the_last_bits) for pair in ((0, 7), (40, 7), (3, -(2**31)), (2, 2**59))),
]

ON_THE_WAY = (collatz, fibonacci_twice, congruential, with_the_last_bits, counted, around_each, walked)
"""What has larger numbers than its result."""


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_is_right_or_says_that_64_bits_are_not_enough(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    right_or_too_large(function, arguments, "cpu")


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [factorial, fibonacci, positions, products, packed, doubled, negated, counted])
def test_devices_say_it_too(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for arguments in (arguments for one, arguments in CASES if one is function):
        right_or_too_large(function, arguments, target)


def right_or_too_large(function: Callable[..., Any], arguments: tuple[Any, ...], target: str) -> None:
    wanted = function(*arguments)
    compiled = transkern.compile(function, target=target)
    numbers = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    try:
        found = compiled(*arguments)
    except OverflowError as error:
        if target == "pallas" and BEYOND in str(error):
            return  # its bound is that of all arrays of such a size
        assert str(error) == TOO_LARGE
        largest = max(map(abs, numbers))
        assert largest > 2**61 or function in ON_THE_WAY
    else:
        assert found == wanted


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    n = 0\n    for v in x:\n        if v > 0:\n            n += 1\n    return n",
        "def f(x):\n    i, j = 0, len(x)\n    while i < j:\n        k = (i + j) // 2\n        if x[k] < 0:\n"
        "            i = k + 1\n        else:\n            j = k\n    return i",
        "def f(x):\n    h = 7\n    for i in range(len(x)):\n        h = (h * 1103515245 + 12345) % 2147483648\n"
        "    return h",
        "def f(x, t):\n    return len(x) + int(x[0] < t)",
        "def f(x):\n    k = 0\n    for i in range(len(x) - 1, 0, -1):\n        for j in range(i + 1, len(x) + 3):\n"
        "            k += x[i] < j\n    return k",
        "def f(x):\n    return x[2:-1:2].mean() + x.reshape(-1, 1)[1:].sum() / (2 * len(x) - 1)",
    ],
)
def test_nothing_is_checked_where_64_bits_are_enough(source: str) -> None:
    types = "f(float64[n], float)" if "x, t" in source else "f(float64[n])"
    assert TOO_LARGE not in str(program_of(source, "f", types, PASSES))


@pytest.mark.parametrize("function", [congruential, with_the_last_bits, best_run])
def test_what_a_step_leaves_bounds_the_next(function: Callable[..., Any]) -> None:
    """One test before the loop, of the first number, and then no checks in it."""
    name = function.__name__
    program = program_of(inspect.getsource(function), name, f"{name}(int, int)", PASSES)
    (test,) = [x for x in walk(program.body) if isinstance(x, n.If) and isinstance(x.then[0], n.Loop)]
    assert any(v.startswith(("seed", "step")) for v in variables_read(test.condition))
    assert not any(isinstance(x, n.Guard) for x in walk(test.then))
    assert any(isinstance(x, n.Guard) for x in walk(test.orelse))


@pytest.mark.parametrize(
    ("function", "types"),
    [(pairs, "pairs(int, int)"), (total, "total(int32[n])"), (products, "products(int64[n], int64[n], int)")],
)
def test_sums_that_must_fit_run_in_parallel(function: Callable[..., Any], types: str) -> None:
    loops = transkern.compile(function, target="cpu").explain(types)
    assert " over i in 0 .. " in loops

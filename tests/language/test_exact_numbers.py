"""Python's exact functions of numbers: powers by a modulus, integer roots, sums of floats that are rounded once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("cc")

PRIME = 2**63 - 25


def power(a, d, m):
    return pow(a, d, m)


@pytest.mark.parametrize(
    ("a", "d", "m"),
    [(3, 5, 7), (PRIME - 1, PRIME - 2, PRIME), (2**63 - 1, 2**63 - 1, 2**63 - 1), (-(2**63), 3, 11), (5, -1, 7),
     (4, -1, 6), (3, -2, -7), (-3, 3, -7), (0, 0, 1), (0, 0, -1), (3, 4, 0)],
)  # fmt: skip
def test_powers_by_a_modulus(a, d, m):
    alike(power, a, d, m)


def roots_and_multiples(x, k):
    return [math.isqrt(int(v)) for v in x], math.lcm(int(x[1]), k, 4), math.lcm(k)


def test_roots_are_exact_up_to_the_last_integer():
    squares = [3037000499**2, 3037000499**2 - 1, 94906267**2 - 1, 2**63 - 1]
    alike(roots_and_multiples, np.array([0, 1, 3, *squares]), 6)
    alike(roots_and_multiples, np.array([0, 2, 3]), 0)
    alike(roots_and_multiples, np.array([-1, 2]), -4)


def sums(x):
    return math.fsum(x), math.fsum(v * v for v in x if v > 0)


@pytest.mark.parametrize(
    "x",
    [[], [-0.0], [1e16, 1.0, 1e-16], [1e308, 1e308, -1e308], [1e308] * 2, [math.inf, 1.0], [math.inf, -math.inf],
     [math.nan, 1.0], [1.0, 1e100, 1.0, -1e100]],
)  # fmt: skip
def test_sums_are_rounded_once(x):
    alike(sums, np.array(x))


def test_sums_of_many_sizes():
    rng = np.random.default_rng(0)
    alike(sums, rng.normal(size=200) * 10.0 ** rng.integers(-20, 20, 200))


def products(x, given):
    return math.prod(x), math.prod(int(v) for v in x if v < 3), math.prod(given, start=2)


def test_products_of_what_only_the_run_counts():
    alike(products, np.array([1.5, 2.0, 3.0]), [2, 5])
    alike(products, np.array([]), [])

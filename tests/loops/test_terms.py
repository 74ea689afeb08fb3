"""Sums in order whose terms are computed side by side: Python's bits, whatever is left over after blocks of eight."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.runtime.emitting import emit_files

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


def backwards(w):
    x, y, k = w[0], w[1], w.shape[1]
    total = 0.0
    for i in range(k):
        total += x[k - i - 1] * y[i]
    return total


def two_at_once(w):
    x, y, k = w[0], w[1], w.shape[1]
    rest, grown = x[0], 1.0
    for i in range(1, k):
        scaled = x[i] * 0.5
        rest -= scaled * y[k - i]
        grown *= scaled + 1.25
    return rest, grown


def of_a_row(w):
    x, y, k = w[0], w[1], w.shape[1]
    m = np.outer(x, y)
    total = 0.0
    for i in range(k):
        total = m[0, i] / y[i] + total
    return total


def three(w):
    x, y, k = w[0], w[1], w.shape[1]
    a, b, c = 0.0, 0.0, 0.0
    for i in range(k):
        a += x[i] * y[i]
        b += x[i] * x[i]
        c += y[i] * y[i]
    return a, b, c


def from_the_last(w):
    x, y, k = w[0], w[1], w.shape[1]
    total = 0.0
    for i in range(k):
        total += x[i] * total * y[i]
    return total


def strided(w):
    x, y, k = w[0], w[1], w.shape[1]
    total = 0.0
    for i in range(k // 2):
        total += x[2 * i] * y[i]
    return total


SUMS: dict[Any, bool] = {
    backwards: True, two_at_once: True, of_a_row: True, three: False, from_the_last: False, strided: False,
}  # fmt: skip


@pytest.mark.parametrize("function", SUMS)
def test_terms_that_stand_alone_come_in_blocks(function: Any, tmp_path: Path) -> None:
    source = "import numpy as np\n\n" + inspect.getsource(function)
    (tmp_path / "sums.py").write_text(source)
    types = f"{function.__name__}(float64[2, n])"
    files = emit_files(tmp_path / "sums.py", function.__name__, "cpu", types)
    text = next(v for k, v in files.items() if k.endswith(".c"))
    assert ("_terms[32]" in text or "_rows[1024]" in text) == SUMS[function]  # 1024: terms that take long


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", SUMS)
def test_sums_have_pythons_bits(function: Any, dtype: type) -> None:
    rng = np.random.default_rng(5)
    w = rng.standard_normal((2, 53)).astype(dtype) * 0.5 ** np.arange(53).astype(dtype)
    compiled = transkern.compile(function, target="cpu")
    for special in (0.0, -0.0, np.inf, np.nan, np.finfo(dtype).tiny, np.finfo(dtype).max):
        w[0, 5], w[1, 4] = special, -special
        for k in (2, 7, 15, 16, 17, 32, 40, 53):
            with np.errstate(all="ignore"):
                expected = function(w[:, :k].copy())
            np.testing.assert_array_equal(compiled(w[:, :k].copy()), expected, strict=True)


def test_an_exponential_in_a_sum() -> None:
    def partition(energies):
        total = 0.0
        for i in range(energies.shape[0]):
            total += math.exp(-energies[i])
        return total

    energies = np.random.default_rng(1).uniform(0, 3, 1003)
    expected = partition(energies)
    assert abs(transkern.compile(partition, target="cpu")(energies) - expected) <= 1e-13 * expected


def stored_and_added(z):
    out = np.zeros_like(z)
    sums = np.zeros(len(z))
    for i in range(z.shape[0]):
        s = 0.0
        for j in range(z.shape[1]):
            out[i, j] = math.exp(z[i, j])
            s += out[i, j]
        for j in range(z.shape[1]):
            out[i, j] /= s
        sums[i] = s
    return out, sums


def into_an_argument(z):
    for i in range(z.shape[0]):
        s = 0.0
        for j in range(z.shape[1]):
            z[i, j] = math.exp(z[i, j])
            s += z[i, j]
        z[i, 0] = s


def stored_twice(z):
    out = np.zeros(z.shape[1] + 1)
    s = 0.0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            out[j] = math.sqrt(z[i, j])
            s = s * 0.5 + out[j]
            out[j + 1] = s
            s += out[j] + out[j + 1]
    return out, s


@pytest.mark.parametrize("function", [stored_and_added, into_an_argument, stored_twice], ids=lambda f: f.__name__)
def test_terms_that_may_raise(function: Any) -> None:
    """Values, what is stored before an error, and the error itself are Python's."""
    compiled = transkern.compile(function, target="cpu")
    for shape in ((3, 40), (2, 1030), (1, 2100), (0, 5), (4, 0), (2, 1)):
        if function is into_an_argument and not shape[1]:
            continue
        for bad in (None, 0, 35, 1029):
            for value in (800.0, np.nan, np.inf, -1.0):
                z = np.random.default_rng(3).random(shape)
                if bad is not None and shape[0] and bad < shape[1]:
                    z[-1, bad] = value
                results = []
                for f in (function, compiled):
                    given = z.copy()
                    try:
                        found = f(given)
                    except (OverflowError, ValueError) as error:
                        found = (type(error), str(error))
                    results.append((found, given))
                (wanted, left), (found, also) = results
                np.testing.assert_allclose(also, left, rtol=1e-12)
                if isinstance(wanted, tuple) and isinstance(wanted[0], type):
                    assert found == wanted
                elif wanted is not None:
                    for one, two in zip(found, wanted, strict=True):
                        np.testing.assert_allclose(one, two, rtol=1e-12)


def forces(p, m):
    f = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = p[j] - p[i]
            g = d / (d @ d + 0.25)
            f[i] += m[j] * g
            f[j] -= m[i] * g
    return f


def forces_from_before(p, m):
    f = np.ones_like(p)
    for i in range(len(p)):
        for j in range(i):
            d = p[j] - p[i]
            g = d / (d @ d + 0.25)
            f[i] += m[j] * g
            f[j] -= f[i] * 0.01
    return f


def forces_on_one(p, m):
    f = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(len(p)):
            d = p[j] - p[0]
            f[i] += d / (d @ d + 1)
            f[j] -= d * m[i]
    return f


def rows_by_one_of_their_elements(p, m):
    """GCC 12 makes wrong vectors of 64 bytes of this where terms stand beside it."""
    f = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(i):
            d = p[j] - p[i]
            f[i] -= p[j] / ((d[0] * d[0] + 0.5) * m[i] + 0.25)
            f[j] += p[j, 1] * p[j]
    return f


PAIRS = [forces, forces_from_before, forces_on_one, rows_by_one_of_their_elements]


@pytest.mark.parametrize("function", PAIRS, ids=lambda f: f.__name__)
def test_forces_between_pairs(function: Any) -> None:
    """Rows that two loops update, one fixed and one that moves; where they meet, and where one takes the other."""
    compiled = transkern.compile(function, target="cpu")
    for n in (0, 1, 2, 63, 64, 70, 90):
        for width in (2, 3, 4, 5):
            rng = np.random.default_rng(n)
            p, m = rng.standard_normal((n, width)), rng.random(n)
            if n > 3:
                p[2, 1], p[3] = np.nan, -0.0
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(compiled(p, m), function(p, m), rtol=1e-10, atol=1e-12)


def test_rows_of_pairs_are_terms_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "pairs.py").write_text("import numpy as np\n\n" + inspect.getsource(forces))
    files = emit_files(tmp_path / "pairs.py", "forces", "cpu", "forces(float64[n, 3], float64[n])")
    assert "_rows[1024]" in next(v for k, v in files.items() if k.endswith(".c"))

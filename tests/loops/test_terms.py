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

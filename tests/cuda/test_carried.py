"""Loops in order whose last elements stay in variables: of several arrays, of loops that go down, of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, check_call, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

TEXT = """
import numpy as np

def tridiagonal(a, b, c, d):
    n, m = a.shape
    cs, ds, x = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    for j in range(m):
        cs[0, j] = c[0, j] / b[0, j]
        ds[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            scale = b[i, j] - a[i, j] * cs[i - 1, j]
            cs[i, j] = c[i, j] / scale
            ds[i, j] = (d[i, j] - a[i, j] * ds[i - 1, j]) / scale
        x[n - 1, j] = ds[n - 1, j]
        for i in range(n - 2, -1, -1):
            x[i, j] = ds[i, j] - cs[i, j] * x[i + 1, j]
    return x

def one_system(a, b, c, d):
    for i in range(1, a.shape[0]):
        c[i] = c[i] / (b[i] - a[i] * c[i - 1])
        d[i] = (d[i] - a[i] * d[i - 1]) / (b[i] - a[i] * c[i - 1])
    for i in range(a.shape[0] - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]

def both_ways(x, y, z):
    for i in range(x.shape[0]):
        y[i] = x[i] + (0.5 * y[i - 1] if i > 0 else 0.0) - (0.25 * y[i - 2] if i > 1 else 0.0)
    for i in range(x.shape[0] - 1, -1, -1):
        z[i] = y[i] + (0.5 * z[i + 1] if i < x.shape[0] - 1 else 0.0)

def crossed(p, q, x):
    for j in range(x.shape[1]):
        for i in range(2, x.shape[0]):
            p[i, j] = q[i - 1, j] + x[i, j] - p[i - 2, j]
            q[i, j] = 0.5 * p[i - 1, j] + q[i - 2, j]
            x[i, j] = p[i, j]
"""

TYPES = {
    "tridiagonal": ", ".join(["float64[n, m]"] * 4), "one_system": ", ".join(["float64[n]"] * 4),
    "both_ways": ", ".join(["float64[n]"] * 3), "crossed": ", ".join(["float64[n, m]"] * 3),
}  # fmt: skip


def _call(name: str, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    shape = (n, 5) if "n, m" in TYPES[name] else (n,)
    return tuple(rng.random(shape) + 3 * (k == 1) for k in range(TYPES[name].count("float64")))


@pytest.mark.parametrize("name", TYPES)
def test_to_the_bit(name: str) -> None:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    code, text = emit(program_from(TEXT, f"{name}({TYPES[name]})"))
    assert "_last = " in code
    compiled = launcher_function(name, code, text, simulate=True)
    for n in (1, 2, 3, 4, 9, 70):
        check_call(space[name], compiled, _call(name, n))


def test_nothing_outside_is_read(recorder: Recorder) -> None:
    run_checked(program_from(TEXT, f"both_ways({TYPES['both_ways']})"), _call("both_ways", 6), recorder, "memory")


def test_a_column_goes_down_and_up_without_waiting_for_memory() -> None:
    code, _ = emit(program_from(TEXT, f"tridiagonal({TYPES['tridiagonal']})"))
    kernel = code.partition("__global__")[2]
    assert "cs[i - 1]" not in kernel and "x[(i_1 + 1)" not in kernel and kernel.count("_ahead; base") == 2

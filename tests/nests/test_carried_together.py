"""What several loops around each other carry in several variables is computed in place, whichever comes first."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.fuse.scalars.scalars import coalesce_scalars
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


def windows(x, y):
    out = np.zeros((x.shape[0] - 2, x.shape[1] - 2))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            sx = sy = sxx = syy = sxy = 0.0
            for a in range(3):
                for b in range(3):
                    p, q = x[i + a, j + b], y[i + a, j + b]
                    sx += p
                    sy += q
                    sxx += p * p
                    syy += q * q
                    sxy += p * q
            out[i, j] = sxx * syy - sxy * sxy + sx * sy
    return out


def extremes(x, y):
    low, high, least, most, count = np.inf, -np.inf, np.inf, -np.inf, 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] < y[i, j]:
                count += 1
                low, high = min(low, x[i, j]), max(high, x[i, j])
            else:
                least, most = min(least, y[i, j]), max(most, y[i, j])
    return low, high, least, most, count


def turned(x, y):
    a, b, c = 0.0, 1.0, 2.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a, b, c = b, c + x[i, j], a - y[i, j]
    return a, b, c


@pytest.mark.parametrize("function", [windows, extremes])
def test_no_variable_is_copied(function: Any) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    passes = passes_for("cpu")
    until = passes[: passes.index(coalesce_scalars) + 1]
    program = program_of(source, function.__name__, f"{function.__name__}(float64[n,m], float64[n,m])", until)
    assert not [s for s in walk(program.body) if isinstance(s, n.Assign) and isinstance(s.value, Var)]


@pytest.mark.parametrize("function", [windows, extremes, turned])
def test_values(function: Any) -> None:
    rng = np.random.default_rng(3)
    for shape in ((2, 5), (3, 3), (9, 21), (4, 0)):
        x, y = (rng.integers(-5, 6, shape).astype(float) for _ in range(2))
        if function is not windows or min(shape) > 1:
            alike(function, x, y)
            alike(function, np.where(x > 3, np.nan, x), np.where(y < -3, -0.0, y)[::-1])

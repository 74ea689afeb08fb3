"""`boundscheck=False` and `fastmath=True`: what they leave out, what they keep, and that they are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import transkern
from transkern.cli import cli


def gathered(x, i):
    out = np.zeros(len(i), dtype=x.dtype)
    for k in range(len(i)):
        out[k] = x[i[k]] * 2
    x[i[0]] = 0
    return out, x[-1], x[i]


def dotted(x, y, c):
    s = 0.0
    for k in range(len(x)):
        s += x[k] * y[k]
    p = 1.0
    for _ in range(len(x)):
        p *= c
    return s, p, x * y + c


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_without_checks_nothing_is_raised_and_all_that_is_inside_is_right(target, monkeypatch):
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    compiled = transkern.compile(gathered, target=target, boundscheck=False)
    x, i = np.arange(5, dtype=np.float32), np.array([1, -1, 4, 0], dtype=np.int32)
    mine, theirs = x.copy(), x.copy()
    for found, wanted in zip(compiled(mine, i), gathered(theirs, i), strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(mine, theirs)
    types = "gathered(float32[n], int32[m])"
    assert "IndexError" not in compiled.emit(types=types).partition("---- Python's stable ABI")[0]
    assert "IndexError" in "".join(transkern.compile(gathered, target=target).emit(types=types))


def test_other_exceptions_stay():
    @transkern.compile(target="cpu", boundscheck=False)
    def f(x, k):
        if k < 0:
            raise ValueError("k")
        return x[:k] + x[k:]

    with pytest.raises(ValueError, match="k"):
        f(np.ones(4), -1)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(5), 2)


def test_fastmath_sums_in_any_order_and_keeps_nan():
    exact = transkern.compile(dotted, target="cpu")
    fast = transkern.compile(dotted, target="cpu", fastmath=True)
    x, y = np.random.default_rng(0).standard_normal((2, 10_001))
    assert exact(x, y, 1.0)[0] == dotted(x, y, 1.0)[0]
    np.testing.assert_allclose(fast(x, y, 1.0)[0], exact(x, y, 1.0)[0], rtol=1e-12)
    types = "dotted(float64[n], float64[n], float)"
    assert "reduction(+" in fast.emit(types=types) or "parallel for" in fast.emit(types=types)
    assert "-ffp-contract=fast" in fast.emit(types=types)
    assert "-ffp-contract=fast" not in exact.emit(types=types)
    assert "--fmad=true" in fast.emit("cuda", types) and "--fmad=false" in exact.emit("cuda", types)
    x[17] = np.nan
    assert np.isnan(fast(x, y, 1.0)[0])
    fused = fast(np.array([1 + 2.0**-30]), np.array([1 + 2.0**-30]), -1.0)[2]
    assert fused[0] != (1 + 2.0**-30) ** 2 - 1  # rounded once


def test_on_the_command_line(tmp_path: Path):
    file = tmp_path / "g.py"
    file.write_text("def g(x, k):\n    return x[k]\n")
    emit = ["emit", str(file), "--types", "g(float64[n], int)"]
    plain = CliRunner().invoke(cli, emit).output
    assert "IndexError" in plain and "-ffp-contract=off" in plain
    other = CliRunner().invoke(cli, [*emit, "--no-boundscheck", "--fastmath"]).output
    assert "out of bounds" not in other and "-ffp-contract=fast" in other

"""Reductions: rows in one kernel with what follows, columns, everything, and empty ones."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random

SOFTMAX = """
def f(x):
    m = x.max(axis=1, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=1, keepdims=True)
"""
LAYERNORM = """
def f(x, gamma, beta, eps):
    mu = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mu) / np.sqrt(var + eps) * gamma + beta
"""
NORM = "def f(x): return x / np.sqrt((x * x).sum())"


@pytest.mark.parametrize("shape", [(0, 5), (2, 2), (37, 130), (1000, 257), (5, 0)])
def test_softmax_is_one_kernel(shape):
    x = random(*shape)
    if shape == (37, 130):
        x[3, 4], x[5, 6], x[7] = np.nan, np.inf, -np.inf
    check(SOFTMAX, "f(float32[n,m])", x, exact=False)
    assert compiled(SOFTMAX, "f(float32[n,m])").text.count("= _grid(") == 1


@pytest.mark.parametrize("shape", [(2, 3), (37, 130), (300, 1000)])
def test_layernorm_is_one_kernel(shape):
    types = "f(float32[n,m],float32[m],float32[m],float)"
    check(
        LAYERNORM,
        types,
        random(*shape),
        random(shape[1]),
        random(shape[1], seed=1),
        1e-5,
        exact=False,
        rtol=1e-4,
        atol=1e-5,
    )
    assert compiled(LAYERNORM, types).text.count("= _grid(") == 1


@pytest.mark.parametrize("n", [2, 1000, 1024, 300_001])
def test_a_reduction_of_everything(n):
    check(NORM, "f(float32[n])", random(n), exact=False, rtol=1e-5)


@pytest.mark.parametrize("how", ["sum", "max", "min", "mean", "any", "all"])
@pytest.mark.parametrize("axis", ["0", "1", "None"])
def test_reductions(how, axis):
    x = random(30, 200)
    x[4, 5] = np.nan if how in ("max", "min") else 1.0
    check(
        f"def f(x): return x.{how}(axis={axis})",
        "f(float32[n,m])",
        x,
        exact=how in ("max", "min", "any", "all"),
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("how", ["argmax", "argmin"])
def test_positions(how):
    x = np.round(random(30, 200))
    x[4, 5] = x[4, 9] = np.nan
    check(f"def f(x): return x.{how}(axis=1)", "f(float32[n,m])", x)
    check(f"def f(x): return x.{how}()", "f(float32[n])", x[4].copy())


def test_integer_reductions():
    x = np.random.default_rng(0).integers(-100, 100, (30, 200)).astype(np.int32)
    check("def f(x): return x.max(axis=1), x.min(), x.sum(axis=1), x.mean()", "f(int32[n,m])", x)
    check("def f(x): return (x > 3).sum(), (x > 3).sum(axis=0)", "f(int32[n,m])", x)


def test_empty_reductions():
    check("def f(x): return x.sum(axis=1), x.sum()", "f(float32[n,m])", random(4, 0))
    check("def f(x): return x.max(axis=1)", "f(float32[n,m])", random(4, 0))
    check("def f(x): return x.max()", "f(float32[n])", random(0))


CHOSEN = {
    "gradient": """
def f(x, labels):
    n = x.shape[0]
    e = np.abs(x) + 3
    e[np.arange(n), labels] -= 1
    return e * 2
""",
    "one of all": """
def f(x, labels):
    y = np.zeros_like(x)
    y[np.arange(len(labels)), labels] = labels
    return (x - y) ** 2
""",
    "of truths": """
def f(x, labels):
    y = x > 0
    y[np.arange(len(x)), labels] = labels > 1
    return np.where(y, x, -1)
""",
}


@pytest.mark.parametrize("of", CHOSEN)
def test_one_element_of_each_row_is_stored(of):
    """At a place that data choose: in the kernel of all elements, by comparing places."""
    types = "f(float32[n,m],int64[n])"
    assert "left to XLA" not in compiled(CHOSEN[of], types).text
    rng = np.random.default_rng(2)
    for n, m in ((0, 3), (37, 130)):
        x = np.round(random(n, m) * 8)
        if n > 1:
            x[::5, ::7], x[1::9] = np.inf, np.nan
        check(CHOSEN[of], types, x, rng.integers(-m, m, n))
    check(CHOSEN[of], types, random(2, 3), np.array([1, 3]))


def test_complex_results_come_from_kernels():
    """Real and imaginary parts are two arrays of a kernel, and side by side behind it."""
    source = "def f(x, z, k): return np.cos(x)[:, None] * k - 1j * x[:, None], z * (2 + 1j) - z.conj()"
    types = "f(float64[n],complex128[n,m],float64[m])"
    assert "left to XLA" not in compiled(source, types).text
    z = random(5, 3) + 1j * random(5, 3, seed=1)
    z[1, 2], z[3, 0] = complex(np.nan, -0.0), complex(np.inf, 1)
    check(source, types, random(5).astype(float), z.astype(complex), random(3).astype(float), exact=False)

"""Elementwise functions: one kernel, any size, broadcasting, in place, special values."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random

SIGMOID = "def f(x, a, b): return 1 / (1 + np.exp(-x)) * a + b"
ADAM = """
def f(p, g, m, v, lr, b1, b2, eps, t):
    m[:] = b1 * m + (1 - b1) * g
    v[:] = b2 * v + (1 - b2) * g * g
    mhat = m / (1 - b1 ** t)
    vhat = v / (1 - b2 ** t)
    p -= lr * mhat / (np.sqrt(vhat) + eps)
"""
LSTM = """
def sigmoid(x): return 1 / (1 + np.exp(-x))
def f(gates, c):
    i, f, g, o = np.split(gates, 4, axis=1)
    c_new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c_new)
    return h, c_new
"""


@pytest.mark.parametrize("n", [0, 2, 7, 1000, 1024, 300_000])
def test_sigmoid(n):
    check(SIGMOID, "f(float32[n],float,float)", random(n, special=n > 9), 1.5, 0.25, exact=False, text=["_grid("])


@pytest.mark.parametrize("n", [0, 5, 1000, 70_001])
def test_adam_is_one_kernel_in_place_and_exact(n):
    args = [random(n, seed=k) for k in range(3)] + [np.abs(random(n, seed=3))]
    check(
        ADAM,
        "f(float32[n],float32[n],float32[n],float32[n],float,float,float,float,int)",
        *args,
        1e-3,
        0.9,
        0.999,
        1e-8,
        7,
    )
    assert (
        compiled(ADAM, "f(float32[n],float32[n],float32[n],float32[n],float,float,float,float,int)").text.count(
            "= _grid("
        )
        == 1
    )


@pytest.mark.parametrize("shape", [(2, 3), (37, 100), (64, 128), (300, 130)])
def test_lstm_gates_are_one_kernel(shape):
    rows, hidden = shape
    types = "f(float32[n,m],float32[n,k])"
    check(LSTM, types, random(rows, 4 * hidden), random(rows, hidden, seed=1), exact=False, atol=1e-6)
    assert compiled(LSTM, types).text.count("= _grid(") == 1


@pytest.mark.parametrize("source, types, shapes", [
    ("def f(x, y): return np.maximum(x + y, 0)", "f(float32[n,m],float32[m])", [(20, 300), (300,)]),
    ("def f(x, y): return x[:, None] - y[None, :]", "f(float32[n],float32[m])", [(30,), (500,)]),
    ("def f(x, y): return x * y + x", "f(float32[n,m,k],float32[m,1])", [(3, 5, 130), (5, 1)]),
    ("def f(x, y): return x.T * 2 + y", "f(float32[n,m],float32[m,n])", [(30, 50), (50, 30)]),
    ("def f(x, y): return x[::-1] + y[:, 1]", "f(float32[n],float32[n,3])", [(40,), (40, 3)]),
    ("def f(x, y): return x[1:] - x[:-1], np.where(x > y, x, y)", "f(float32[n],float32[n])", [(500,), (500,)]),
    ("def f(x, y): return x[::2] * 3, np.minimum(x, y), -x, abs(y)", "f(float32[n],float32[n])", [(501,), (501,)]),
    ("def f(x, y): return np.concatenate([x, y * 2])", "f(float32[n],float32[m])", [(50,), (7,)]),
])  # fmt: skip
def test_shapes(source, types, shapes):
    check(source, types, *(random(*s, seed=k, special=1) for k, s in enumerate(shapes)))


OPS = """
def f(x, y):
    return (np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.sign(x), np.abs(x), np.sqrt(x), x * x, np.copysign(x, y),
            np.isnan(x), np.isinf(x), np.isfinite(x),
            np.signbit(x), x < y, x == y, x != y, (x < y) & (y > 0), ~(x < y), np.where(x > 0, x, y), x / y, 1 / x, x / 3)
"""


def test_exact_ops_on_special_values():
    x, y = np.meshgrid(
        np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 0.5, 2.5, 1e30], np.float32), random(10, special=1)
    )
    check(OPS, "f(float32[n],float32[n])", x.ravel().copy(), y.ravel().copy())


def test_largest_and_smallest():
    """Of 0.0 and -0.0 either may come: NumPy's own choice depends on the machine."""
    x, y = np.meshgrid(random(9, special=1), random(9, special=1))
    source = "def f(x, y): return np.fmax(x, y), np.fmin(x, y), np.maximum(x, y), np.minimum(x, y)"
    check(source, "f(float32[n],float32[n])", x.ravel().copy(), y.ravel().copy(), exact=False, rtol=0, atol=0)


CLOSE = """
def f(x):
    return (np.exp(x), np.exp2(x), np.expm1(x), np.log(x), np.log2(x), np.log10(x), np.log1p(x), np.sin(x), np.cos(x), np.tanh(x),
            np.sinh(x), np.cosh(x), np.arctan(x), np.arcsin(x), np.arccos(x), np.cbrt(x), np.power(x, 3.0), np.arcsinh(x), np.square(x))
"""


def test_functions_are_close():
    check(CLOSE, "f(float32[n])", random(200, special=1)[9:], exact=False, rtol=2e-5, atol=2e-6)


INTEGERS = "def f(x, y): return x // y, x % y, x + y, x * y, x & y, x | y, x ^ y, ~x, x << 3, x >> 2, np.maximum(x, y), abs(x), x / y"


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "int64", "uint32"])
def test_integers(dtype):
    values = np.random.default_rng(0).integers(0 if dtype[0] == "u" else -100, 100, 300).astype(dtype)
    others = np.roll(values, 17)
    check(INTEGERS, f"f({dtype}[n],{dtype}[n])", values, others)


def test_products_are_rounded_before_they_are_added():
    source = "def f(a, b, c):\n    p = a * b\n    return c - p, a * b + c, p - a * a"
    check(source, "f(float32[n],float32[n],float32[n])", *(random(4000, seed=k) for k in range(3)))


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize("body", [
    "return y - x * 0.7, y + 0.1 * i",
    "return x * 0.1 + i * 0.3",
    "return y + np.sqrt(i) * 0.3",
    "return y - np.where(x > 1, 1 / 3, 0.1) * 0.7",
    "return y - np.arange(len(y)) / 3 * 0.1",
    "for k in range(len(y)): y[k] -= x[k] * 0.7",
    "s = 0.0\n    for k in range(len(y)): s = s + i[k] * 0.3\n    return s",
])  # fmt: skip
def test_products_of_what_is_never_nan_are_rounded_too(body: str, dtype: str) -> None:
    """LLVM knows that they are no NaN, and folds what asks whether they are."""
    x = np.arange(700).astype(dtype)
    source = f"def f(x, i, y):\n    {body}"
    check(source, f"f({dtype}[n],int32[n],float64[n])", x, np.arange(700, dtype=np.int32) * 37 % 101, random(700).astype("float64"))


@pytest.mark.parametrize("dtype", ["float64", "int64", "float16", "complex64"])
def test_other_dtypes(dtype):
    x = (random(100) * 100).astype(dtype)
    check("def f(x, y): return x * y + x - y", f"f({dtype}[n],{dtype}[n])", x, x[::-1].copy())


def test_mixed_dtypes_follow_numpy():
    check(
        "def f(x, i, s): return x * i, x * s, i + s, x > i",
        "f(float32[n],int32[n],float)",
        random(50),
        np.arange(50, dtype=np.int32),
        2.5,
    )
    check("def f(x, s): return x * s, x + 1", "f(float32[n],float64)", random(50), np.float64(0.1))

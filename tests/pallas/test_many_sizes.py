"""XLA compiles what is emitted with all of its passes, right at every size, and keeps NumPy's bits even so."""

from typing import Any

import jax
import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

_X = np.array([0.0, -0.0, 1, -1, 3.7, 1e300, -1e300, 1e-300, np.inf, -np.inf, np.nan, 1 / 3, 7.1, 0.1, -5.5, 1e17])
_Y = np.roll(_X, 5)[::-1] + 0.25


def differences(a: Any) -> Any:
    out = np.zeros((len(a), len(a)))
    for r in range(len(a)):
        out[r, :] = np.sum(a - a[r, :], 0)
    return out


def test_many_sizes_in_one_process() -> None:
    """With a pass of XLA's switched off, its code for CPUs was wrong for one in ten of these."""
    compiled = transkern.compile(differences, target="pallas")
    rng = np.random.default_rng(0)
    for n in range(3, 103, 3):
        a = rng.integers(-9, 9, (n, n)).astype(np.float64)
        np.testing.assert_array_equal(compiled(a), differences(a), err_msg=str(n))


def constants(x: Any, y: Any, s: Any) -> Any:
    """XLA would add up, multiply and divide the constants first."""
    n, w, z = float(len(x)), x * 1.1, x / 3.0
    sums = x + 1e300 - 1e300, x - 1e300 + 1e300, 1.5 - x + 2.5, x + n - 16.5
    products = x * 1e300 * 1e-300, 2.1 * (x * 3.3), (x * 1.1) * (y * 1.3), (x * 1.1) * s, w * x[4], w * 1.7, x * n * 1.3
    quotients = x / 3.0, x / n, x / 3.0 / 7.0, z / 7.0, z / s, x / np.full(len(x), 3.0), x * np.full(len(x), 3.0) * 1.7
    return sums, products, quotients


def quotients(x: Any, y: Any, s: Any) -> Any:
    """XLA would divide by products, and multiply by reciprocals."""
    chains = x / y / s, x / (y / s), (x / y) / (s / y), 1.0 / (1.0 / x), x / s / x[4]
    return chains, x / x[4], x[3] / y, x / np.sqrt(abs(y)), x / np.sqrt(s * s), np.sqrt(abs(x)) * np.sqrt(abs(x))


def zeros(x: Any, y: Any, k: int) -> Any:
    """XLA would leave out the addition of what it knows for 0.0, and so would keep -0.0."""
    none, one, nothing = 0.0, 0.0, np.zeros(len(x))
    for i in range(k, k):
        none += x[i]
    for i in range(1):
        one += x[i + 1]
    written = x + 0.0, 0.0 + x, x - 0.0, x - (-0.0), x + (-0.0), 0.0 - x, -0.0 - x, x * y * 0.0 + x
    known = x + nothing, x - nothing, x + none, one, x + np.max(np.zeros(3)), x + np.sum(x[:0]), x + float(len(x) - 16)
    chosen = x + np.where(x > 0, 0.0, y), x + np.where(np.arange(len(x)) < 99, 0.0, y), x[1:2] + np.arange(len(x) - 15.0)
    return written, known, chosen, np.sum(-x[2:4]), np.maximum(x, y) + 0.0, x * (y > 0), (x > 0) * 1.0 * y, x * -1.0


def in_loops(x: Any, y: Any, s: Any) -> Any:
    """What passes from one iteration to the next."""
    out, r = np.zeros(len(x)), x.copy()
    for _ in range(3):
        r = r / 3.0
    for i in range(len(x)):
        v = x[i] + 1e17
        v = v - 1e17
        total = -0.0
        for j in range(i):
            total = total + x[j] * y[j]
        out[i] = v / 3.0 / 7.0 + y[i] * 3.3 * s + total / 1.1
    return r, r * 1.3 * 1.7, out


@pytest.mark.parametrize("function", [constants, quotients, zeros, in_loops])
def test_what_xla_would_rewrite(function: Any) -> None:
    for dtype in (np.float64, np.float32):
        last = 2 if function is zeros else dtype(2.9)
        with np.errstate(over="ignore"):
            arguments = _X.astype(dtype), _Y.astype(dtype), last
        alike(function, *arguments, target="pallas")


def elementary(x: Any, y: Any) -> Any:
    return np.log(np.exp(x)), np.exp(x) * np.exp(-x), x / np.exp(y), np.exp(x) / np.exp(y), np.log(x**3.0), x / y**2.0


def test_functions_of_functions_leave_the_range() -> None:
    """XLA would take log(exp(x)) for x, and exp(x) * exp(-x) for 1."""
    x, y = np.array([800.0, -800.0, 2.5, 0.0]), np.array([-750.0, 900.0, 1e-160, 3.0])
    compiled = transkern.compile(elementary, target="pallas")
    np.testing.assert_allclose(compiled(x, y), elementary(x, y), rtol=1e-13)


def test_no_pass_is_switched_off() -> None:
    """Nor does the module depend on being compiled by itself: the same bits come from inside another jit."""
    space: dict[str, Any] = {}
    text = transkern.compile(quotients, target="pallas").emit(types="f(float64[n], float64[n], float)")
    assert "compiler_options" not in text and "xla_" not in text
    exec(compile(text, "<emitted>", "exec"), space)
    with jax.enable_x64(True):
        found = jax.tree.leaves(jax.jit(space["quotients"])(_X, _Y, 2.9))
    wanted = jax.tree.leaves(quotients(_X, _Y, np.float64(2.9)))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)

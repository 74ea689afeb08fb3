"""What the front end got wrong of NumPy's exceptions; the program is interpreted as it comes out of the front end."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.regressions.support import alike, like_numpy
from tests.tools import require

require("cc")

X, Y, Z, A = np.zeros(2), np.ones(3), np.ones(4), np.arange(6.0).reshape(2, 3)
I8, I64 = np.array([-100, 5, 100], np.int8), np.zeros(3, np.int64)


def test_outputs_of_operators_in_place() -> None:
    """NumPy tells the shapes of all operands, the output among them, and does not stretch an output."""
    for line in ("x += y", "x += [1, 2, 3]", "x[...] **= y", "x[:1] += y", "x[[0]] -= y", "x += z[:, None]"):
        like_numpy(line, x=X, y=Y, z=Z)


def test_outputs_of_ufuncs() -> None:
    like_numpy("np.add(x, y, out=z)", x=X, y=Y, z=Z)
    like_numpy("np.add(x, 1, z)", x=X, z=Z)
    like_numpy("np.add(x, x, out=z, where=y > 0)", x=X, y=Y, z=Z)
    like_numpy("np.exp(x, out=z[:1])", x=X, z=Z)
    like_numpy("np.heaviside(x, y)", x=X, y=Y)
    like_numpy("np.divmod(x, y, out=(x, y))", x=X, y=Y)
    like_numpy("np.clip(x, 0, 1, out=z)", x=X, z=Z)
    like_numpy("np.clip(x, 0.5, 7, out=x)", x=I8)
    like_numpy("np.add(x, 1.5, out=x, casting='unsafe')", x=I64)
    like_numpy("np.add.at(x, [0], y)", x=X, y=Y)
    like_numpy("x += x[:, None]", x=X)
    like_numpy("x[x >= 0] += y[y > 0]", x=X, y=Y)


def test_outputs_of_other_functions() -> None:
    """What does not fit what `out=` names was stretched."""
    for axis, y in ((None, Y), (0, X), (0, np.zeros(1)), (1, Y), (0, A)):
        like_numpy(f"np.sum(a, axis={axis}, out=y)", a=A, y=y)
    like_numpy("np.max(a, axis=0, keepdims=True, out=y)", a=A, y=Y)
    like_numpy("np.argmax(a, axis=0, out=y)", a=A, y=I64[:2])
    like_numpy("np.cumsum(a, out=y)", a=A, y=Y)
    like_numpy("np.round(a, 1, out=y)", a=A, y=Y)
    like_numpy("np.round(a, 1, out=y)", a=A, y=A.astype(int))
    like_numpy("np.trace(a, out=y)", a=A, y=Y)
    like_numpy("np.take(a, [0], out=y)", a=A, y=Y)
    like_numpy("np.outer(x, x, out=y)", x=X, y=I64)
    like_numpy("np.concatenate([x, x], out=z)", x=X, z=Z)
    like_numpy("np.concatenate([x, x], out=z)", x=X, z=Z.astype(int))
    like_numpy("np.stack([x, x], out=z)", x=X, z=Z)
    like_numpy("np.matmul(x, x, out=y)", x=A[:, :2], y=np.zeros((2, 2), int))


def test_shapes_that_do_not_go_together() -> None:
    """Each function in its own words, and with numbers among the operands."""
    for line in (
        "np.where(x > 0, 1, z)", "np.clip(x, y, z)", "np.clip(x, 0, z)", "np.select([x > 0], [y])",
        "np.select([x >= 0, x > 1], [1, 2], z)", "np.choose(np.zeros(2, int), [y, 1, z])",
        "np.broadcast_arrays(1, y, z)", "np.linspace(x, y, 4)", "np.nan_to_num(x, nan=y)",
        "np.cross(y[None], np.ones((4, 3)) * np.ones((2, 1, 1)))", "z[x.astype(int), y.astype(int)]", "x[[0, 1]] = y",
        "x[:] = np.ones((2, 1, 3))", "x[:] = np.ones((1, 1, 2))", "np.copyto(x, 1, where=z > 0)",
        "np.copyto(x, 2, where=np.ones((1, 2)) > 0)", "np.copyto(x, y, where=z > 0)", "np.putmask(x, y > 0, 1)",
        "np.putmask(z, np.ones((2, 2)) > 0, y)", "np.array([x, y])", "np.hstack([x, y[None]])", "np.lexsort((x, y))",
        "z.reshape(-1, 3)", "z.reshape(3, -1)", "np.average(x, weights=y)", "np.random.default_rng(0).normal(x, y)",
        "np.random.default_rng(0).uniform(x, y)",
    ):  # fmt: skip
        like_numpy(line, x=X, y=Y, z=Z)


def test_an_array_in_the_place_of_a_number() -> None:
    for line in ("a[0, 1] = y", "a[0, 1] = y[:1]", "a[0, 1] = [1]", "a[0, ...] = y[:1]", "a[1, 2] = y[0]"):
        like_numpy(line, a=A, y=Y)
    like_numpy("x[0] = (1, 2)", x=I64)


def clipped(x: Any, low: int, high: int) -> Any:
    return np.clip(x, low, high), np.clip(x, low, None), np.clip(x, None, high), x.clip(0, high)


def test_bounds_of_run_time_that_a_type_does_not_hold() -> None:
    """NumPy leaves out a bound that no value of the type exceeds, and raises for one that all of them do."""
    for low, high in ((-300, 300), (-300, 5), (0, 300), (300, 5), (0, -300)):
        alike(clipped, I8, low, high)
    alike(clipped, I8.astype(np.uint8), -3, 300)


def test_negative_sizes() -> None:
    """Any negative size is one to be found where `reshape` is asked for it; others have no such sizes."""
    for line in (
        "y.reshape(k, 1)", "y.reshape(1, k - 1)", "y.reshape(k, k)", "y.reshape(2, k)", "np.broadcast_to(y, (k, 3))",
        "np.repeat(y, k)", "np.indices((2, k))", "np.resize(y, (2, k))", "np.split(y, k)", "np.split(y, 0)",
    ):  # fmt: skip
        like_numpy(f"y = {line}", y=Y, k=-1)


def test_elements_of_nothing() -> None:
    """`take` tells that there is nothing to take where something would be taken."""
    for shape in ((0, 0), (0, 2), (2, 0)):
        for line in ("y.take(0, axis=0)", "np.take(y, [1, 0], 0)", "np.take(y, [], 0)", "y.take(0)"):
            like_numpy(f"y = {line}", y=np.ones(shape))

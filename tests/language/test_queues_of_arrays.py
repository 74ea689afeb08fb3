"""Queues of arrays (`collections.deque`): there is less room for them than for numbers, on both sides."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def last_three(x: Any) -> Any:
    last: Any = deque(maxlen=3)
    for k in range(len(x)):
        if x[k, 0] > 0:
            last.append(x[k] * 2)
    return np.array(list(last))


def both_ends(x: Any) -> Any:
    found, taken = deque([x[0]]), []
    for k in range(1, len(x)):
        if x[k, 0] > 0:
            found.append(x[k])
        else:
            found.appendleft(x[k] - 1)
        if len(found) > 2:
            taken.append((found.popleft() if k % 2 else found.pop()).max())
    return np.array(taken), found[0] + found[-1], len(found)


def two_loop(x: Any, y: Any, step: float) -> Any:
    """The directions of a quasi-Newton method (Nocedal & Wright, algorithm 7.4)."""
    w, moves, changes, weights = np.zeros(x.shape[1]), deque(maxlen=4), deque(maxlen=4), deque(maxlen=4)
    gradient = x.T @ (x @ w - y)
    for _ in range(8):
        q, scales = gradient.copy(), []
        for s, c, r in zip(reversed(moves), reversed(changes), reversed(weights)):
            a = r * s.dot(q)
            q -= a * c
            scales.append(a)
        if moves:
            q *= moves[-1].dot(changes[-1]) / changes[-1].dot(changes[-1])
        else:
            q *= step
        for s, c, r, a in zip(moves, changes, weights, scales[::-1]):
            q += s * (a - r * c.dot(q))
        before = gradient
        w = w - q
        gradient = x.T @ (x @ w - y)
        moves.append(-q)
        changes.append(gradient - before)
        weights.append(1.0 / (-q @ (gradient - before)))
    return w, len(moves)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [last_three, both_ends])
def test_rows(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    x = np.random.default_rng(0).normal(size=(12, 3))
    alike(function, x, target=target)
    if function is last_three:
        alike(function, -np.abs(x[:5]), target=target)
        alike(function, np.abs(x[:2]), target=target)


def test_quasi_newton() -> None:
    import transkern

    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    found, wanted = transkern.compile(two_loop)(x, y, 0.01), two_loop(x, y, 0.01)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
    assert found[1] == wanted[1]

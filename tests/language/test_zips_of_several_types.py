"""`zip((a, b, c), x)`: known numbers of several types beside as many elements as the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def weighted(weights, x):
    a, b, c = weights
    total = 0.0
    for w, v in zip((a, b, c), x):
        total += w * v
    return total, [w * v for v, w in zip(x, (1, 2.5, 3))]


def themselves(weights, x):
    a, b, c = weights
    return [w for w, _ in zip((a, b, c), x)], [(w // 2, v) for v, w in zip(x, (True, 2, 7.5, a))]


def named(weights, x):
    kept = []
    for k, (w, v) in enumerate(zip((2, np.float32(0.1), 5, np.int8(3)), x)):
        if v > 0 or v != v:
            kept.append(float(w) + k)
    return kept, sum(w for w, v in zip((0.5, 3, 2), x) if v == v)


def compared(weights, x):
    return max([w * 1.0 for w, _ in zip((1, 2.5, 3), x)], default=-1.0), any(w == v for w, v in zip((1, 2.0, 0), x))


@pytest.mark.parametrize("user", [weighted, themselves, named, compared])
def test_against_python(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for weights in ((1.5, 2, 3), (0, -0.0, 2.0), (1, 2, 3)):
        for x in ([1.0, -0.0, np.nan], [np.inf], [], [1.0, 2.0, 0.0, 5.0, 7.0]):
            alike(user, weights, np.array(x))
    alike(user, (1.5, 2, 3), np.array([1.0, 2.0]), target=on_target("cuda", monkeypatch))


def test_integers_that_floats_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    import transkern

    compiled = transkern.compile(weighted, target="cpu")
    with pytest.raises(OverflowError):
        compiled((1.5, 2**53 + 1, 3), np.ones(2))

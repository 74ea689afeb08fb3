"""What a loop makes of a size that it counts: memory of as much in each iteration (it was of the size before the loop,
and what stood behind it was written over)."""

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require


def through_another(x, u):
    a = x + 1
    s = 0.0
    for k in range(len(u)):
        c = np.append(a, u[k])
        c[0] = k
        s += c[1]
        a = c
    return s, a


def two_ahead(x, u):
    a = x * 2
    for k in range(1, len(u)):
        c = np.concatenate((a, u[k : k + 1], u[k - 1 : k]))
        c[-1] += c[0]
        a = c[::-1].copy()
    return a


def in_a_list(x, u):
    pop = [x + 1, x[1:] * 2]
    s = 0.0
    for k in range(len(u)):
        c = np.append(pop[0], u[k])
        pop = [c, c]
        pop[0][0] = 5.0 + k
        s += pop[1][0]
    return s, pop


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [through_another, two_ahead, in_a_list])
def test_memory_grows_with_the_size(target, function, monkeypatch):
    require("cc")
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    for size in (0, 1, 5, 300):
        alike(function, np.arange(3.0), np.linspace(0.5, 1, size), target=target)

"""`deque(enumerate(x))`, `l.extend(zip(a, b))`, `l += reversed(m)`: lists and queues take what has no elements before it is
asked for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def round_robin(x, quantum=2):
    queue = deque(enumerate(x))
    order, t = [], 0
    while queue:
        who, left = queue.popleft()
        t += min(left, quantum)
        order.append(who)
        if left > quantum:
            queue.append((who, left - quantum))
    return order, t


def pairs(x):
    found = []
    found.extend(zip(x, x[::-1]))
    found.extend(zip(reversed(x), x))
    numbers = [1, 2]
    numbers.extend(reversed(numbers))
    return found, numbers


def known_ones(x):
    queue = deque(zip((1, 2), (3, 4)))
    queue.extend(enumerate(range(len(x))))
    queue.append((len(x), 5))
    return list(queue)


@pytest.mark.parametrize("user", [round_robin, pairs, known_ones])
def test_extended_by_iterators(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([3, 5, 1, 2])
    for size in (4, 1, 0):
        alike(user, x[:size])
    alike(user, x, target=on_target("cuda", monkeypatch))

"""Slices of lists of run-time length that are stored into, and lists in dicts that are not there."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tests.fuzz.stages import function_of
from tests.regressions.support import alike

PARTS = ["i:j", "i:", ":j", "-j:", ":-i", "j:i", "i:i", "0:99", "-99:i", "i:j:1", "99:", ":"]
VALUES = ["t[i:j][::-1]", "[7, 8]", "[]", "(k, k)", "t", "[v * 2 for v in t]", "range(3)", "t[::-1]", "sorted(t)"]


@pytest.mark.parametrize(
    ("part", "value"), [(p, v) for i, p in enumerate(PARTS) for k, v in enumerate(VALUES) if (i + k) % 3 == 0]
)
def test_a_store_into_a_slice(part: str, value: str) -> None:
    body = f"    t = [v for v in range(k)]\n    t[{part}] = {value}\n    return t, len(t)"
    function = function_of(f"import numpy as np\n\n\ndef f(x, i, j, k):\n{body}\n")
    alike(function, np.array([5, 6]), 2, 4, 9)


def two_opt(d, tour):
    better = True
    while better:
        better = False
        for i in range(1, len(tour) - 1):
            for j in range(i + 1, len(tour)):
                a, b, c, e = tour[i - 1], tour[i], tour[j - 1], tour[j]
                if d[a, c] + d[b, e] < d[a, b] + d[c, e] - 1e-9:
                    tour[i:j] = tour[i:j][::-1]
                    better = True
    return tour


def not_iterable(x, k):
    t = list(range(k))
    t[1:2] = k
    return t


def in_an_argument(x, t):
    t[1:3] = [len(x)] * 4
    return len(t)


def test_users_of_slices() -> None:
    points = np.random.default_rng(0).random((9, 2))
    distances = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    alike(two_opt, distances, list(range(9)))
    alike(not_iterable, np.ones(2), 5)
    alike(in_an_argument, np.arange(2), [1, 2, 3, 4])


# ---- dicts of lists --------------------------------------------------------------------------------------------------


def is_none(x, n):
    d = defaultdict(list)
    for i in range(len(x)):
        d[int(x[i])].append(i)
    t = 0
    for k in range(n):
        found = d.get(k)
        if found is None:
            continue
        for j in found:
            t += j
    return t, len(d)


def is_not_none(x, n):
    d = {}
    for i in range(len(x)):
        d.setdefault(int(x[i]), []).append(i)
    out = []
    for k in range(n):
        found = d.get(k)
        out.append(len(found) if found is not None else -1)
    return out


def changed(x, n):
    d = {}
    for i in range(len(x)):
        d.setdefault(int(x[i]), []).append(i)
    for k in range(n):
        found = d.get(k)
        if found is not None:
            found.append(100 + k)
    return [v for k in range(n) if k in d for v in d[k]]


def truth(x, n):
    d = {}
    for i in range(len(x)):
        d.setdefault(int(x[i]), []).append(i)
    t = 0
    for k in range(n):
        found = d.get(k)
        if not found:
            t -= 1
        else:
            t += found[0]
    return t


def of_nothing(x, n):
    d = {}
    for i in range(len(x)):
        if x[i] > 100:
            d.setdefault(int(x[i]), []).append(i)
    found = d.get(n)
    return 0 if found is None else len(found)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [is_none, is_not_none, changed, truth, of_nothing])
def test_lists_in_dicts_that_may_not_be_there(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tools import on_target

    on_target(target, monkeypatch)
    alike(function, np.array([3, 1, 3, 5, 1]), 7, target=target)

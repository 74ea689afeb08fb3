"""Suppression with Python's lists of what is left: a list that an iteration makes anew under a name of its own is the
next one's, which may change it, as long as nobody reads that name before it is bound again."""

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def popped(x, t):
    order = list(np.argsort(x))
    keep = []
    while order:
        i = order.pop()
        keep.append(i)
        rest = []
        for j in order:
            if abs(x[j] - x[i]) > t:
                rest.append(j)
        order = rest
    return keep


def popped_in_front(x, t):
    left = [int(k) for k in np.argsort(-x)]
    keep = []
    for _ in range(4):
        if len(left) == 0:
            break
        i = left.pop(0)
        others = [j for j in left if abs(x[j] - x[i]) > t]
        keep.append(i)
        left = others
    return keep, left


def put_back(x, t):
    todo = [0, 1]
    trail = []
    for k in range(len(x)):
        todo.append(k)
        fresh = []
        for j in todo:
            if x[j] > t:
                fresh.append(j)
        trail.append(len(fresh))
        todo = fresh
    return todo, trail


def seen_behind(x, t):
    """The list stands in another one, which shows what later iterations do to it."""
    todo = [0, 1]
    seen = []
    for k in range(len(x)):
        todo.append(k)
        fresh = [j for j in todo if x[j] > t]
        seen.append(fresh)
        todo = fresh
    return seen, todo


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [popped, popped_in_front, put_back])
def test_a_list_that_is_handed_on_may_change(function, target, monkeypatch):
    on_target(target, monkeypatch)
    x = np.random.default_rng(3).permutation(29) / 29
    for size in (29, 2):
        alike(function, x[:size], 0.1, target=target)


def test_who_still_sees_it_sees_its_changes():
    alike(seen_behind, np.random.default_rng(4).permutation(9) / 9, 0.3)


def test_pops_on_pallas(monkeypatch):
    on_target("pallas", monkeypatch)
    alike(popped, (np.random.default_rng(3).permutation(20) / 20).astype(np.float32), 0.1, target="pallas")

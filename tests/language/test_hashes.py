"""Sets have CPython's order, whatever is put into them, taken out and put in again."""

from __future__ import annotations

import numpy as np
import pytest

import transkern


def changes(keys, steps):
    found, out = set(), []
    for i in range(len(keys)):
        key = int(keys[i])
        if steps[i] < 6:
            found.add(key)
        elif steps[i] == 6:
            found.discard(key)
        elif steps[i] == 7 and len(found) > 0:
            out.append(found.pop())
        else:
            found.update(keys[i : i + 5].tolist())
    for key in found:
        out.append(key)  # noqa: PERF402
    return out


def combinations(one, two):
    p, q = set(one.tolist()), set(two.tolist())
    return list(p | q), list(p & q), list(p - q), list(q - p), list(p ^ q)


def pairs(one, two):
    found = set()
    for i in range(len(one)):
        found.add((int(one[i]), int(two[i])))
    for i in range(0, len(one), 3):
        found.discard((int(one[i]), int(two[i])))
    for i in range(0, len(one), 2):
        found.add((int(one[i]), 1))
    return list(found)


@pytest.mark.parametrize("function", [changes, combinations, pairs], ids=lambda f: f.__name__)
def test_order_is_pythons(function) -> None:
    compiled = transkern.compile(function, target="cpu")
    r = np.random.default_rng(4)
    for _ in range(60):
        most = int(r.choice([10, 100, 10**6, 2**62]))
        one = r.integers(-most, most, int(r.integers(1, 120)))
        two = r.integers(0, 10, len(one)) if function is not combinations else np.concatenate([one[::2], one[:40] + 1])
        assert compiled(one, two) == function(one, two)

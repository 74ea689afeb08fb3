"""Sets have CPython's order, whatever is put into them, taken out and put in again."""

from __future__ import annotations

from collections import defaultdict

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


def with_defaults(a):
    groups, counts, own = defaultdict(list), defaultdict(int), defaultdict(lambda: 5)
    for i, v in enumerate(a):
        groups[v].append(i)
        counts[int(v)] += i
        own[int(v)] += 1
    plain = dict(counts)
    plain[77] = 1
    return groups, counts, counts.copy(), plain, 77 in counts, dict(own), dict({1: 2}, b=3)


def with_a_default_of_its_own(a):
    own = defaultdict(lambda: 5)
    for v in a:
        own[int(v)] += 1
    return own


def test_defaultdicts_are_handed_back() -> None:
    a = np.array([3, 1, 3, 2])
    assert repr(transkern.compile(with_defaults, target="cpu")(a)) == repr(with_defaults(a))
    with pytest.raises(transkern.CompileError, match="a function of its own as a result"):
        transkern.compile(with_a_default_of_its_own, target="cpu")(a)

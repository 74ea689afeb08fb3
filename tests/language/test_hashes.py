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


def changed_in_place(keys, others, steps):
    found, out = set(), []
    also = found
    for i in range(len(steps)):
        one, two, step = keys[i], others[i], steps[i]
        if step == 0:
            found |= {one}
        elif step == 1:
            found -= {one, two}
        elif step == 2:
            few = set()
            for k in range(i):
                few.add(keys[k])
            found &= few
        elif step == 3:
            found ^= {one, two}
        elif step == 4:
            found.difference_update(keys[: i // 2])
        elif step == 5:
            found.intersection_update(others)
        elif step == 6:
            found.symmetric_difference_update([one, two, one])
        else:
            found.update(keys[i : i + 20])
        out += list(also)
        out.append(-7)
    return out


def with_itself(keys):
    found = set()
    for key in keys:
        found.add(key)
    for key in keys[::3]:
        found.discard(key)
    found |= found
    found.update(found)
    as_before = list(found)
    found &= found
    copied, also = list(found), found
    found ^= found
    none = len(also)
    for key in keys:
        also.add(key)
    found -= found
    return as_before, copied, none, len(also), found is also


def with_what_is_no_set(keys, others):
    found = set()
    for key in keys:
        found.add(key)
    made = found.union(others), found.intersection(others), found.difference(others), found.symmetric_difference(others)
    return [list(one) for one in made]


@pytest.mark.parametrize("function", [changed_in_place, with_itself, with_what_is_no_set], ids=lambda f: f.__name__)
def test_order_is_pythons_after_changes_in_place(function) -> None:
    compiled = transkern.compile(function, target="cpu")
    r = np.random.default_rng(5)
    for _ in range(60):
        most = int(r.choice([10, 60, 10**6, 2**61]))
        one = r.integers(-most, most, int(r.choice([3, 20, 90]))).tolist()
        two = [one[int(k)] if k >= 0 else int(k) for k in r.integers(-len(one), len(one), len(one))]
        args = (one, two, r.integers(0, 9, len(one)).tolist())[: function.__code__.co_argcount]
        assert compiled(*args) == function(*args)


def without_edges(count):
    edges = {(0, 1), (7, count)}
    also = edges
    for i in range(count):
        edges -= {(i, i + 1)}
        new = {}
        new[i, 0] = 1
        for a, b in new:
            also |= {(a, b)}
    return edges, also


def test_operators_in_place_change_the_set_itself() -> None:
    for count in (0, 3, 40):
        assert transkern.compile(without_edges, target="cpu")(count) == without_edges(count)

"""`Counter` and `OrderedDict`, and dicts and sets whose keys are floats or bools."""

from __future__ import annotations

import collections
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

Y = np.array([3, 1, 2, 3, 3, 1, 0, 7])
_random = np.random.default_rng(3)
MANY = np.concatenate([
    _random.standard_normal(60) * 10.0 ** _random.integers(-320, 300, 60),
    [0, -0.0, np.inf, -np.inf, 5e-324, 1.5, 3e18, -3, 2.0**61, 2.0**61 - 1024, 2.0**60 + 0.5, 1e300, -1, -2, 2.0**-61],
])  # fmt: skip


def vote(y):
    return Counter(y).most_common(1)[0][0]


def counted_one_by_one(y):
    c = Counter()
    for v in y:
        c[v] += 1
    return c, c[99], len(c), sum(c.values()), c.total()


def in_order(y, k=2):
    c = Counter(y)
    return c.most_common(), c.most_common(k), c.most_common(-1), max(c, key=c.get)


def with_operators(y):
    c = Counter(int(v) for v in y)
    d = Counter(y[::2].tolist())
    return c + d, c - d, c | d, c & d, sorted(c.elements())


def changed(y):
    c = collections.Counter(y.tolist())
    c.update([1, 1, 5])
    c.update({7: 3})
    c.subtract([1, 9])
    c.subtract(Counter([2, 2]))
    del c[3]
    del c[77]
    return c, sorted(c.items()), 5 in c, isinstance(c, dict), isinstance(c, Counter), c.copy(), dict(c)


def entropy(y):
    counts = Counter(y)
    e = 0.0
    for c in counts.values():
        e -= c / len(y) * np.log(c / len(y))
    return e


def pairs(y):
    c = Counter((int(v) % 2, int(v)) for v in y)
    best, number = c.most_common(1)[0]
    return best, number, dict(c)


def weights(y):
    c = Counter()
    for k, x in zip(y, y * 0.5, strict=True):
        c[k] += x
    return c


def least_recently_used(y, room=2):
    cache: OrderedDict[int, int] = OrderedDict()
    hits = 0
    for k in y:
        if k in cache:
            cache.move_to_end(k)
            hits += 1
        else:
            if len(cache) >= room:
                cache.popitem(last=False)
            cache[k] = k * 2
    return hits, cache, list(cache)


def popped(y):
    d = {}
    for k in y:
        d[int(k)] = 1.5 * k
    return [d.popitem() for _ in range(2)], d


def taken_from_an_empty_one(y):
    d = OrderedDict()
    for k in y:
        d[k] = 1
    while len(d) >= 0:
        d.popitem()
    return d


def compared(y):
    c, turned = Counter(y.tolist()), Counter(y[::-1].tolist())
    fewer = Counter(y[1:].tolist())
    zero = Counter(y.tolist())
    zero[99] = 0
    d, e = dict(c), {}
    for v in y:
        e[int(v)] = e.get(int(v), 0) + 1
    return c == turned, c != fewer, c == zero, dict(zero) == d, d == e, c == d, e == {3: 1}, d == 3


def compared_sets(y):
    s, t = {int(v) for v in y}, {int(v) for v in y[1:]}
    return s == t, s != t, s <= t, t < s, s >= t, s == {0, 1, 2, 3, 7}, {3} < s, s == 3


FUNCTIONS = [
    compared, compared_sets, vote, counted_one_by_one, in_order, with_operators, changed, entropy, pairs, weights, least_recently_used, popped,
    taken_from_an_empty_one,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_kinds_of_dicts(function: Any) -> None:
    for y in (Y, Y[:0], -Y):
        alike(function, y)


@pytest.mark.parametrize("function", [counted_one_by_one, pairs], ids=lambda f: f.__name__)
def test_counters_of_lists_and_floats(function: Any) -> None:
    alike(function, Y.tolist())
    alike(function, (Y / 3).astype(np.float32))


def test_kinds_of_dicts_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    alike(vote, Y, target="cuda")
    alike(least_recently_used, Y, target="cuda")


# ---- keys that are floats or bools -----------------------------------------------------------------------------------


def floats(y):
    d = {}
    for v in y:
        d[v] = d.get(v, 0) + 1
    return d, {float(v) for v in y}, 0.0 in d, len(set(y.tolist()))


def order_of_a_set(y):
    s = set()
    for v in y:
        s.add(v / 7)
    return list(s), sorted(s)


def hashes_of_tuples(y):
    s = set()
    for v in y:
        s.add((float(v), v > 1))
    return list(s)


def truths(y):
    c = Counter(v > 1 for v in y)
    k = {True: 0, False: 0}
    groups = {}
    for v in y:
        k[bool(v > 1)] += 1
        groups.setdefault(v > 1, []).append(v)
    return c, k, groups


@pytest.mark.parametrize("function", [floats, order_of_a_set, hashes_of_tuples, truths], ids=lambda f: f.__name__)
def test_keys_of_other_types(function: Any) -> None:
    for y in (MANY, MANY[:0], (Y / 3).astype(np.float32)):
        alike(function, y)


def test_nan_as_a_key_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="NaN as a key"):
        transkern.compile(floats, target="cpu")(np.array([1.0, np.nan]))

"""Dicts and sets that loops bind anew, that are one of two at an iteration's end, and keys that are tuples."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike

LOOPS = {
    "another dict": """
        rank = dict.fromkeys(range(4), 0.25)
        for v in x:
            new = {k: 0.1 for k in range(4)}
            for k in rank:
                new[(k + int(v)) % 4] += 0.5 * rank[k]
            rank = new
        return rank
    """,
    "empty at first": """
        cells, total = {}, 0
        for v in x:
            more = {}
            for k in cells:
                more[k + 1] = cells[k] + int(v)
            more[int(v)] = 1
            cells = more
            for k in cells:
                total = (3 * total + k) % 997
        return cells, total
    """,
    "sets": """
        seen, total = {1, 2, 3}, 0
        for v in x:
            more = {int(v)}
            for k in seen:
                more.add((2 * k) % 11)
                total = (3 * total + k) % 997
            seen = more
        return sorted(seen), total
    """,
    "best of all": """
        best, now = {}, {}
        for v in x:
            now[int(v)] = now.get(int(v), 0) + 1
            if len(now) > 2:
                if len(now) >= len(best):
                    best = now
                now = {}
        return best, now
    """,
    "change places": """
        a, b = {1: 1}, {2: 2.5}
        for v in x:
            a[int(v)] = 5
            a, b = b, a
        return a, b
    """,
    "a key on one path": """
        d = {}
        if x[0] > 3:
            d[1] = 2
        return d
    """,
}

KEYS = """
    left, order = set(d), []
    while left:
        v = min(left, key=lambda k: (d[k], -k))
        order.append(v)
        left.remove(v)
    known = min([1, 2, 3], key=lambda k: (x[k], -k)), max((x[0], 1), (x[1], 2)), max([(x[0], 3), (x[1], 2)])
    return order, known, min(d.items(), key=lambda kv: (kv[1] % 2, kv[0]))
"""

X = np.array([4, 7, 2, 0, 5, 5, 3, 8, 1, 2, 7])


@pytest.mark.parametrize("name", LOOPS)
def test_bound_anew(name: str) -> None:
    body = textwrap.indent(textwrap.dedent(LOOPS[name]), "    ")
    f = function_of(f"import numpy as np\n\n\ndef f(x):\n{body}\n")
    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[:1], X[2:5]):
        alike(f, x, compiled=compiled)


def test_tuples_as_keys_of_extremes() -> None:
    body = textwrap.indent(textwrap.dedent(KEYS), "    ")
    f = function_of(f"def f(x, d):\n{body}\n")
    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[::-1] / 2):
        alike(f, x, {3: 1, 1: 2, 8: 1, 2: 0}, compiled=compiled)


def test_a_set_of_keys_is_in_their_order() -> None:
    def f(x):
        d = {}
        for v in x:
            d[int(v)] = 1
        total = 0
        for k in set(d):
            total = (3 * total + k) % 10007
        return total

    compiled = transkern.compile(f, target="cpu")
    for n in (3, 17, 60):
        alike(f, np.random.default_rng(n).integers(0, 200, n), compiled=compiled)

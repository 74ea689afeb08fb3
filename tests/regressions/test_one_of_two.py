"""Lists, dicts, sets and arrays that are one of two on two paths and changed afterwards, and names with two types."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike

CHANGES = {
    "lists": """
        a, b = [], []
        for i in range(len(x)):
            t = a if x[i] % 3 else b
            t.append(int(x[i]))
            if len(t) > 2:
                t.insert(0, i)
                del t[-1]
            t[0] += 1
        return a, b
    """,
    "key": """
        a, b, filled = [], [], []
        for v in x:
            t = a if v > 0 else b
            while t and v != 2:
                k = min(range(len(t)), key=lambda i: t[i] * v)
                filled.append(t[k])
                del t[k]
            (a if v > 3 else b).append(int(v))
        return a, b, filled
    """,
    "dicts": """
        a, b = {}, {}
        for v in x:
            if v > 3:
                t = a
            else:
                t = b
            t[int(v)] = t.get(int(v), 0) + 1
        return a, b
    """,
    "sets": """
        a, b, s = set(), set(), 0
        for v in x:
            t = a if v > 3 else b
            for k in a:
                s = (3 * s + k) % 1000
            t.add(int(v))
            s += len(t)
        return a, b, s
    """,
    "arrays": """
        a, b = np.zeros(4), np.ones(4)
        for i, v in enumerate(x):
            t = b
            if v > 3:
                t = a
            t[i % 4] += v
            t *= 2
        return a, b
    """,
    "three": """
        a, b, c = [], [], []
        for v in x:
            t = a if v > 5 else b if v > 2 else c
            t.append(int(v))
            u = a or b
            u.reverse()
            if v == 7:
                break
        t = c or b
        t.append(0)
        return a, b, c, len(t)
    """,
    "function": """
        def push(book, v):
            book.append(int(v))
        a, b = [], []
        for v in x:
            push(b if v > 4 else a, v)
        return a, b
    """,
    "function that chooses": """
        def pick(p, q, v):
            if v > 4:
                return p
            return q
        a, b = [], [1]
        for v in x:
            pick(a, b, v).append(int(v))
            t = min(a, b, key=len)
            t.insert(0, 7)
        return a, b
    """,
    "kept": """
        a, b = [], []
        best = a
        for v in x:
            if v > 4:
                best = b
            best.append(int(v))
            b.append(0)
        return a, b, best
    """,
    "by positions": """
        a, b = [], [1]
        both = [a, b]
        for v in x:
            both[int(v) % 2].append(int(v))
            (a, b)[int(v) % 2].reverse()
        return a, b, both
    """,
    "by keys": """
        c, d = [0.5], [2.5]
        books = {0: c, 1: d}
        for v in x:
            t = books[int(v) % 2]
            t.append(0.5 * v)
        return c, d
    """,
    "leaves": """
        a, b = [], [1]
        for v in x:
            t = a if v > 3 else b
            if v == 2:
                continue
            t.append(int(v))
            if len(a) > 1:
                return t, 1
        return a, 2
    """,
}

TYPES = {
    "number or array": """
        w = 1.0
        if x[0] > 3:
            w = 1 / (x + 1)
        return (w * x).max()
    """,
    "keys": """
        d = {"a": 1} if x[0] > 3 else {"b": 2.5}
        return sum(d.values()), "a" in d
    """,
    "shapes": """
        if x.sum() > 3:
            shape = 2, 3
        else:
            shape = (4,)
        return np.ones(shape)
    """,
    "functions": """
        f = np.abs if x[0] > 3 else np.square
        return f(x), np.float32(1) if f is np.abs else 1
    """,
    "result": """
        if x[0] > 3:
            sign = 1
        else:
            sign = "negative"
        return sign
    """,
}

X = np.array([4, 7, 2, 0, 5, 5, 3, 8, 1, 2, 7])


def function(text: str) -> transkern.Compiled:
    body = textwrap.indent(textwrap.dedent(text), "    ")
    return function_of(f"import numpy as np\n\n\ndef f(x):\n{body}\n")


@pytest.mark.parametrize("name", CHANGES)
def test_one_of_two_is_changed(name: str) -> None:
    f = function(CHANGES[name])
    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[:1], X[:0], X[::-1].copy()):
        alike(f, x, compiled=compiled)


@pytest.mark.parametrize("name", TYPES)
def test_a_name_has_two_types(name: str) -> None:
    f = function(TYPES[name])
    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[2:], X[:1]):
        alike(f, x, compiled=compiled)


def test_of_arguments() -> None:
    def f(x, a, b, u, w):
        t, v = (a, u) if x[0] > 3 else (b, w)
        t.append(7)
        v[0] = 5.0
        t = a if x[1] > 3 else b
        t.append(8)
        return len(t)

    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[::-1].copy(), X[1:]):
        alike(f, x, [1], [2, 3], np.zeros(2), np.ones(3), compiled=compiled)


def test_a_count_is_asked_that_others_go_by() -> None:
    """A loop that counts was taken for a sum in any order, though a condition asks how far it has come."""

    def f(x):
        k = s = 0
        for _ in range(len(x)):
            if k > 5:
                s += 1
            k += 1
        return s, k

    alike(f, X)


def test_ranges_in_loops() -> None:
    """What a list holds before a loop said nothing of what later iterations find in it, and yet was taken for it."""

    def stored(x):
        a = [0, 0]
        a.append(0)
        s = 0
        for i in range(len(x)):
            s += int(x[a[0]])
            if i > 200:
                a.append(0)
            a[0] = i - 40
        return s

    def ordered(x):
        a, s = set(), 0
        for v in x:
            for k in a:
                s = (3 * s + k) % 1000
            a.add(int(v))
        return s

    alike(stored, X)
    alike(ordered, X)

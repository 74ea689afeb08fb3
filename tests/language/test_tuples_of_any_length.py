# ruff: noqa: C408, C416, RUF005, RUF007
"""Tuples whose length only the run knows: made of lists, bound anew by loops, in lists; columns by `zip(*rows)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from tests.tools import on_target


def of_list(n):
    out = [k for k in range(n) if k % 3]
    t = tuple(out)
    out.append(5)
    return t, len(t), t + (1, 2), out, isinstance(t, tuple), isinstance(t, list), type(t) is tuple


def of_generator(n):
    t = tuple(k * 0.5 for k in range(n) if k % 3)
    return t[1:], t[::-1] * 2, sorted(t), list(t), sum(t), np.array(t), max(t, default=-1.0), 0.5 in t, bool(t)


def compared(n):
    t = tuple(k for k in range(n) if k % 3)
    u = [k for k in range(n) if k % 3]
    return t == u, t == tuple(u), t < tuple(u) + (1,), t == (1, 2, 4, 5), t != (1, 2, 4, 5), t > (1, 2)


def grown(n):
    t = ()
    k = 0
    while k < n:
        t += (k * 1.5,)
        k += 2
    return t


def chosen(n):
    t = ()
    for i in range(n):
        t = (i, *t) if i % 3 else t
    return t


def best(n):
    found = None
    for i in range(n):
        c = tuple(k for k in range(i) if (k * i) % 3 == 1)
        if found is None or c > found:
            found = c
    return found


def turned(n):
    a, b = (), (1,)
    for i in range(n):
        a, b = b, a + (i,)
    return a, b


def of_two_types(n):
    t = (1, 2.5)
    for i in range(n):
        t = t + (i,)
    return t


def of_pairs(n):
    t = ((0, 0.5),)
    for i in range(n):
        if i != 2:
            t = t + ((i, i * 0.5),)
    return t


def on_paths(n):
    t = tuple(k for k in range(n) if k % 2)
    u = t if n > 4 else (1, 2)
    v = None
    if n % 2:
        v = t[1:]
    return u, v


def in_list(n):
    out = []
    for i in range(n):
        t = tuple(k for k in range(i) if k % 2)
        if t not in out:
            out.append(t)
    if len(out) > 1:
        out[1] += (5,)
    return out, [isinstance(t, tuple) for t in out]


def of_other_lengths(n):
    out = [()]
    for i in range(n):
        out = out + [c + (i,) for c in out if len(c) < 3]
    return out, max(out), min(out), sorted(out, reverse=True)


def on_a_stack(n):
    stack = [(0,)]
    done = []
    while stack:
        p = stack.pop()
        if len(p) >= n:
            done.append(p)
            continue
        for k in range(2):
            stack.append(p + (k,))
    return done


def in_tuples(n):
    queue = [(0, (0,))]
    done = []
    while queue:
        d, p = queue.pop(0)
        if d >= n:
            done.append(p)
            continue
        queue.append((d + 1, p + (d,)))
    return done


def in_dict(n):
    d = {}
    for i in range(n):
        d[i % 3] = d.get(i % 3, ()) + (i,)
    return d


def columns(n):
    rows = [(k, k * 0.5, k % 2 == 0) for k in range(n) if k % 3]
    xs, ys, odd = zip(*rows)
    rows.append((1, 1.5, True))
    return xs, sum(ys), odd, rows


def columns_of_lists(n):
    rows = [[k, k * 2, k * 3] for k in range(n) if k % 3]
    a, b, c = map(list, zip(*rows))
    a.append(0)
    return a, b, c[-1], [max(x) for x in zip(*rows)]


def columns_of_columns(n):
    rows = [(k, (k + 1, k * 0.5)) for k in range(n) if k % 3]
    u, v = zip(*rows)
    w, z = map(np.array, zip(*v))
    return u, w, z, v[0]


def columns_of_dict(n):
    counts = {}
    for k in range(n):
        counts[k % 4] = counts.get(k % 4, 0) + 1
    keys, values = zip(*sorted(counts.items()))
    return keys, np.array(values)


def columns_of_array(n):
    rows = np.arange(12.0).reshape(6, 2)
    x, y = zip(*rows[rows[:, 0] > n])
    return x, max(y)


def tuple_or_list(n):
    t = tuple(k for k in range(n) if k % 3)
    u = t if sum(t) > 3 else list(t)
    return u, len(u), isinstance(u, tuple)


def subscripts(n):
    a = np.arange(12.0).reshape(3, 4)
    rows, columns = zip(*[(i, j) for i in range(3) for j in range(4) if a[i, j] >= n])
    a[rows, 0] = -1
    shape, axes = (), ()
    for k in range(2):
        shape, axes = shape + (k + 2,), (k, *axes)
    return a[rows, columns], a[:, (0, 2)], a[(0, 1), columns[-1]], np.zeros(shape), a.transpose(axes)


def stars(n):
    a = [k for k in range(n) if k % 2]
    d = {k: k * k for k in range(n)}
    return [0, *a], [*a, 5, *a], (7, *a), [*a], {*a, 3}, [*range(2), *d], [*d.items()]


def others(n):
    c = [k for k in range(n) if k % 2]
    names = ["abc"[k % 3] for k in c]
    return list(enumerate(c)), tuple(enumerate(c, 1)), tuple(reversed(c)), tuple(zip(c, c[1:])), max(names + ["a"])


PROGRAMS = [
    of_list, of_generator, compared, grown, chosen, best, turned, of_two_types, of_pairs, on_paths, in_list,
    of_other_lengths, on_a_stack, in_tuples, in_dict, columns, columns_of_lists, columns_of_columns, columns_of_dict,
    columns_of_array, tuple_or_list, subscripts, stars, others,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_tuples(program: Callable[..., Any]) -> None:
    compiled = transkern.compile(program, target="cpu")
    for n in (7, 3, 1, 0):
        alike(program, n, compiled=compiled)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("program", [best, in_list, columns], ids=lambda f: f.__name__)
def test_tuples_on_devices(program: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(program, 7, target=on_target(target, monkeypatch))


@pytest.mark.parametrize("statement", [
    "t[0] = 1", "t.append(1)", "t.sort()", "del t[0]", "t + [1]", "[1] + t", "t[n]", "a, b = t", "t.index(n)",
])  # fmt: skip
def test_what_no_tuple_can_do(statement: str) -> None:
    """The exception is Python's."""
    function = function_of(f"def f(n):\n    t = tuple(k for k in range(n) if k % 3)\n    {statement}\n    return t\n")
    alike(function, 6)


@pytest.mark.parametrize("statement", ["a, b = zip(*rows)", "a, b = map(list, zip(*rows))", "a, b, c = zip(*rows)"])
def test_columns_of_nothing(statement: str) -> None:
    """Without rows there are no columns; with some, the names must be as many."""
    function = function_of(
        f"def f(n):\n    rows = [(k, 1.5) for k in range(n) if k % 2]\n    {statement}\n    return a, b\n"
    )
    for n in (0, 1, 6):
        alike(function, n)


def test_rows_without_columns_are_refused() -> None:
    """Columns that go on to something else than names are those of some rows: where there are none, an error says so."""
    function = function_of(
        "def f(n):\n    rows = [(k, 1.5) for k in range(n) if k % 2]\n    return [sum(c) for c in zip(*rows)]\n"
    )
    compiled = transkern.compile(function, target="cpu")
    alike(function, 6, compiled=compiled)
    with pytest.raises(RuntimeError, match="columns of a list without rows"):
        compiled(0)


@pytest.mark.parametrize("body", [
    "x = np.arange(9.0)\n    return x[t]",
    "out = []\n    for k in t:\n        out.append(t if k == 1 else [k])\n    return out",
    "return np.zeros(t)",
])  # fmt: skip
def test_refused(body: str) -> None:
    """A tuple is no list: where it cannot be a tuple, it is refused."""
    function = function_of(f"import numpy as np\ndef f(n):\n    t = tuple(k for k in range(n) if k % 3)\n    {body}\n")
    with pytest.raises(transkern.CompileError, match="tuple"):
        transkern.compile(function, target="cpu")(6)

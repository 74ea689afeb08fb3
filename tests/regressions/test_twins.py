"""Lists that have the same arrays in them: a store into one is seen in all, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.trust.against_python import function, outcome

BEGIN = "t = []\nfor v in x:\n    if v > 0.5:\n        t.append(x * v)\n"
MADE = (
    "p = list(t)", "p = t.copy()", "p = t[:]", "p = t[1:]", "p = t[::-1]", "p = t + t", "p = [a for a in t]", "p = t",
    "p = list(reversed(t))", "p = t * 2", "p = [t[0], t[1]]", "p = t[0]", "p = t[-1][1:]", "q = t[1:]\np = q[:1]",
    "p = sorted(t, key=lambda a: a[0])", "p = []\np += t\np += t",
)  # fmt: skip
STORES = (
    "for a in t:\n    a[1] = 3.0", "t[0][1] = 5.0", "p[0][1] = 5.0", "t[1] *= 2", "for a in p:\n    a[0] = 1",
    "a = t[1]\na[0] = 9.0", "t.pop()[0] = 7.0", "t.sort(key=lambda a: a[1])",
)  # fmt: skip
CHANGES = ("t.append(x * 2)", "t.pop()", "t[0] = x + 1", "t += [x + 1, x * 2]")
X = np.random.default_rng(0).random(8)


@pytest.mark.parametrize("made", MADE)
def test_an_array_in_several_lists(made: str) -> None:
    """Each list had a copy, and the others did not see what was stored there; views saw another array."""
    found = {}
    for change in (*STORES, *CHANGES):
        plain = function(f"{BEGIN}{made}\n{change}\nreturn p, t", "x, y")
        wanted, found[change] = (outcome(f, X, X) for f in (plain, transkern.compile(plain, target="cpu")))
        assert found[change] == wanted or found[change][0] == "refused", change
    if made.startswith("p = list(t)"):
        assert all(found[change][0] == "value" for change in CHANGES)


ALONE = (
    "p = list(t)\np[0][1] = 5.0\nreturn p",
    "for a in t:\n    a[1] = 3.0\nreturn list(t), t[0]",
    "t[1] *= 2\nt[0] -= x\nreturn t",
    "p = t[1:]\nt = [a * 2 for a in p]\nt[0][0] = 1.0\nreturn t",
    "a = t.pop()\na[0] = 4.0\nreturn t, a",
    "p = [a.copy() for a in t]\nt[0][1] = 5.0\np[1][0] = 2.0\nreturn p, t",
)


@pytest.mark.parametrize("body", ALONE)
def test_where_no_other_list_is_read(body: str) -> None:
    plain = function(BEGIN + body, "x, y")
    wanted, found = (outcome(f, X, X) for f in (plain, transkern.compile(plain, target="cpu")))
    assert found == wanted


# ---- one array or list that is put into two lists --------------------------------------------------------------------


def arrays_in_two_lists(x, y):
    one, two = [], []
    for i in range(len(y)):
        v = x[i] * 1
        one.append(v)
        two.append(v)
    one[0] += 1
    return one, two


def arrays_in_two_dicts(x, y):
    one, two = {}, {}
    for i in range(len(y)):
        v = x[i] * 1
        one[int(y[i])] = v
        two[int(y[i])] = v
    one[0] += 1
    return one, two


def parts_in_two_lists(x, y):
    one, two = [], []
    for i in range(len(y)):
        v = x[i, : y[i]] * 1
        one.append((v, i))
        two.append(v)
    two[1][0] = 5
    return one, two


def lists_in_two_lists(x, y):
    one, two = [], []
    for i in range(len(y)):
        r = [i, 2]
        one.append(r)
        two.append(r)
    one[0][0] = 9
    return one, two


def lists_in_a_dict_and_a_list(x, y):
    one, two = {}, []
    for i in range(len(y)):
        r = [i]
        one[int(y[i])] = r
        two.append(r)
    one[1].append(9)
    return one, two


IN_TWO = [arrays_in_two_lists, arrays_in_two_dicts, parts_in_two_lists, lists_in_two_lists, lists_in_a_dict_and_a_list]
ROWS_OF_TWO = np.arange(18.0).reshape(6, 3), np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("function", IN_TWO)
def test_what_stands_in_two_lists_is_not_changed_in_one(function: Any) -> None:
    with pytest.raises(transkern.CompileError, match="stands in several lists"):
        transkern.compile(function, target="cpu")(*ROWS_OF_TWO)


def one_of_two_is_read(x, y):
    one, two, three = [], [], []
    for i in range(len(y)):
        v = x[i] * 1
        one.append(v)
        two.append(v)
        three.append(x[i] * 1)
    total = sum(v[0] for v in two)
    one[0] += 1
    return one, total, three


def test_what_stands_in_a_list_that_nobody_reads_is_changed() -> None:
    alike(one_of_two_is_read, *ROWS_OF_TWO)

"""`sorted` of a few things that are known one by one, by keys that only the run knows; lists of texts in loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


@dataclass
class Swap:
    maturity: float
    rate: float


def positions(x):
    return sorted([0, 1, 2], key=lambda i: x[i]), max([1, 2, 0], key=lambda i: x[i])


def texts(x):
    return sorted(["a", "bb", "c"], key=lambda name: x[len(name) - 1], reverse=True)


def tuples(x):
    return sorted([(x[0], 1), (x[1], 2), (x[2], 3)], key=lambda p: -p[0])[0]


def unpacked(x):
    low, high = sorted([x[0], x[1]], key=lambda v: abs(v - 0.5))
    return low, high


def of_two_types(x):
    return sorted([x[0], x[1], 1.0], key=lambda v: abs(v - 0.5))[0]


def objects(x):
    total = 0.0
    for swap in sorted([Swap(x[0], 1.0), Swap(x[1], 2.0), Swap(x[2], 3.0)], key=lambda s: s.maturity):
        total = total * 2 + swap.rate
    return total


def items(x):
    return sorted({"a": x[0], "b": x[1]}.items(), key=lambda pair: pair[1])


def by_tuples(x):
    return sorted([x[0], x[1], x[2]], key=lambda v: (v > 1, -v))


def the_best(x):
    names = ("u", "v", "w")
    gain = {n: x[i] for i, n in enumerate(names)}
    top = sorted(names, key=lambda n: gain[n], reverse=True)[:2]
    return top, "u" in top, [n in top for n in names]


FUNCTIONS = [positions, texts, tuples, unpacked, of_two_types, objects, items, by_tuples, the_best]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_sorted_by_keys(function: Any) -> None:
    for x in ([3.0, 1, 2], [1.0, 1, 2], [0.5, -np.inf, 0.5]):
        alike(function, np.array(x))


# ---- lists of texts that an iteration makes --------------------------------------------------------------------------


def rebalanced(prices):
    names = ["a", "b", "c"]
    column = {n: i for i, n in enumerate(names)}
    held = dict.fromkeys(names, 0)
    total = 0.0
    for t in range(len(prices)):
        now = {n: prices[t, column[n]] for n in names}
        if t >= 2:
            gain = {n: now[n] / prices[t - 2, column[n]] for n in names}
            ranked = sorted(names, key=lambda n: gain[n], reverse=True)[:2]
            for n in names:
                held[n] = 2 if n in ranked else 0
        total += sum(held[n] * now[n] for n in names)
    return total, held


def texts_of_an_iteration(x, s):
    found = []
    for i in range(len(x)):
        made = []
        for j in range(3):
            made.append(s[int(x[j]) % 3])
        made.append("-")
        if x[i] > 1:
            made.append("zz")
        found.append(len(made) + made.count("-") + made.count("zz") * 10 + made.count(s[0]) * 100)
    return found


def characters_behind_a_text(x, s):
    found = []
    for i in range(len(x)):
        made = ["-"]
        if x[i] > 1:
            made.append(s[int(x[i]) % 3])
        found.append("-" in made and made[-1] == s[0])
    return found


def test_lists_of_texts_in_loops() -> None:
    alike(rebalanced, np.random.default_rng(0).random((6, 3)))
    alike(texts_of_an_iteration, np.array([3.0, 1, 2, 0]), "abc")
    alike(characters_behind_a_text, np.array([3.0, 1, 2, 0]), "abc")


def test_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    alike(positions, np.array([3.0, 1, 2]), target="cuda")
    alike(texts_of_an_iteration, np.array([3.0, 1, 2, 0]), "abc", target="cuda")

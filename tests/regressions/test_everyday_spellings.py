"""Spellings of public code that were refused or answered in another type."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike

X = np.array([0.2, 0.5, -1.0, 0.7])
NONE = np.array([-0.2, -0.5])


def aligned(one, two, gap=-2):
    """Texts that begin in one statement, and get longer at their beginning, by branches."""
    score = np.zeros((len(one) + 1, len(two) + 1), dtype=int)
    score[:, 0], score[0] = np.arange(len(one) + 1) * gap, np.arange(len(two) + 1) * gap
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            same = 1 if one[i - 1] == two[j - 1] else -1
            score[i, j] = max(score[i - 1, j - 1] + same, score[i - 1, j] + gap, score[i, j - 1] + gap)
    a, b = "", ""
    middle = marks = "|"
    i, j = len(one), len(two)
    while i > 0 or j > 0:
        same = 1 if i and j and one[i - 1] == two[j - 1] else -1
        if i > 0 and j > 0 and score[i, j] == score[i - 1, j - 1] + same:
            a, b = one[i - 1] + a, two[j - 1] + b
            i, j = i - 1, j - 1
            marks = "*" + marks + "."
        elif i > 0 and score[i, j] == score[i - 1, j] + gap:
            a = one[i - 1] + a
            b = "-" + b
            i -= 1
        else:
            a = "-" + a
            b = two[j - 1] + b
            j -= 1
        middle = str(i) + "," + middle
    return a, b, middle, marks, score[-1, -1]


def one_letter_apart(one, two):
    """The same with each text in a statement of its own."""
    a = ""
    b = ""
    for k in range(min(len(one), len(two))):
        if one[k] == two[k]:
            a = one[k] + a
            b = two[k] + "=" + b
        else:
            a = "<" + a + ">"
    return a[::-1], b, len(a)


@pytest.mark.parametrize("function", [aligned, one_letter_apart])
@pytest.mark.parametrize("texts", [("GATTACA", "GCATGCG"), ("A", "TT"), ("", "AC"), ("", "")])
def test_texts_that_get_longer_at_their_beginning(function: Any, texts: tuple[str, str]) -> None:
    alike(function, *texts)


def put_where_it_belongs(x):
    """A list that a condition chooses gets longer, and an element of it changes."""
    low, high, seen = [], [], [0.0]
    for v in x:
        (low if v < 0 else high if v < 0.6 else seen).append(v)
        (seen if v > 0.5 else low if low else seen)[-1] += 1
    return low, high, seen


def asked_first(x):
    """The condition is evaluated before what is appended."""
    one, two, steps = [], [], []
    for v in x:
        (one if steps.append(1) or v > 0 else two).append(len(steps))
    return one, two


@pytest.mark.parametrize("function", [put_where_it_belongs, asked_first])
@pytest.mark.parametrize("x", [X, NONE, X[:0]], ids=["some", "none", "empty"])
def test_a_list_that_a_condition_chooses(function: Any, x: Any) -> None:
    alike(function, x)


def chosen(x):
    return [v if v > 0.3 else 0 for v in x.tolist()]


def appended_and_stored(x):
    made, stored, rows, pairs, kept = [], [0] * len(x), [[0] * 2 for _ in x], [], {}
    for k, v in enumerate(x.tolist()):
        w = v if v > 0.3 else 0
        made.append(w)
        stored[k] = rows[k][1] = kept[k] = w
        pairs.append((w, k))
    return made, stored, rows, pairs, kept, sorted(made)


def least_of(x):
    numbers = [v if v > 0.3 else 0 for v in x.tolist()]
    each = min(v if v > 0.3 else 0 for v in x.tolist()), max(min(v, 0) for v in x.tolist())
    return min(numbers), max(numbers, key=lambda v: -v), each, min(max(v, 0) for v in x.tolist())


def handed_on(x):
    best, total, out = 0, 0, []
    for v in x.tolist():
        out.append((best, total))
        if v > 0.4:
            best = v
        total = total + (v if v > 0.4 else 1)
    return out, best, total


def begins_in_the_loop(x):
    begun, best = False, 3.5
    for v in x.tolist():
        w = v if v > 0.3 else 0
        if not begun or w < least:  # noqa: F821
            least = w
        begun, best = True, best if best < w else w
    return least, best


def made_of_earlier_ones(x):
    numbers, by_number = [], {}
    for k in range(len(x)):
        if k == 0:
            n = 0
        elif k == 1:
            n = 0.5
        else:
            n = 1 + numbers[k - 2]
        numbers.append(n)
        by_number[k] = n if k < 2 else by_number[k - 2]
    return numbers, by_number


def remembered(x):
    @cache
    def steps(k):
        if k == 0:
            return 0
        if k < 0:
            return float("inf")
        return 1 + min(steps(k - c) for c in (2, 3))

    best = steps(len(x) + 3)
    return best if best != float("inf") else -1


def keys_of_two_types(x):
    seen = {k if k % 2 else k + 0.5 for k in range(len(x))}
    counts = {}
    for k in range(len(x)):
        counts[k * 0.5] = counts.get(k * 0.5, 0) + 1
        counts[k] = counts.get(k, 0) + 1
    return sorted(seen), seen, counts, min(counts)


@pytest.mark.parametrize(
    "function",
    [chosen, appended_and_stored, least_of, handed_on, begins_in_the_loop, made_of_earlier_ones, remembered,
     keys_of_two_types],
)  # fmt: skip
@pytest.mark.parametrize("x", [X, NONE], ids=["some", "none"])
def test_ints_and_floats_stay_what_they_are(function: Any, x: Any) -> None:
    alike(function, x)

"""What scripts met that users of NumPy publish: a few lines of each, which were wrong or ended as internal errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.analysis.affine import Question
from transkern.ir import build as b
from transkern.ir.expr import Var

require("cc")


def best_first(scores: Any) -> Any:
    taken = [k for k in sorted(range(len(scores)), key=lambda i: scores[i], reverse=True) if scores[k] > 1]
    return taken, sorted(range(len(scores)), reverse=True), all(range(1, len(scores))), any(range(len(scores)))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("n", [3, 1, 0])
def test_an_empty_range_in_order(n: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was a RuntimeError: NumPy makes float64 of an empty range, but Python's own functions make no array of it."""
    alike(best_first, np.array([3.0, 1.0, 2.0])[:n], target=on_target(target, monkeypatch))


def halves(x: Any, levels: int = 3) -> Any:
    c = x.copy()
    m = len(x)
    for _ in range(levels):
        if m < 2:
            break
        a = (c[:m:2] + c[1:m:2]) / 2
        d = (c[:m:2] - c[1:m:2]) / 2
        c[: m // 2], c[m // 2 : m] = a, d
        m //= 2
    return c


@pytest.mark.parametrize("n", [1, 2, 8])
def test_memory_by_a_size_that_is_named_behind_a_loop(n: int) -> None:
    """`fuse_loops` took an array's memory up with the loop that fills it, and left the size that it needs behind."""
    alike(halves, np.arange(float(n)))


def kept_near(points: Any) -> Any:
    active: list[Any] = []
    for i, (x, y) in enumerate(points):
        for far in [p for p in active if p[0] < x - 1]:
            active.remove(far)
        active.append((x, y, i))
    active.remove((points[-1, 0], points[-1, 1], len(points) - 1))
    return active


@pytest.mark.parametrize("n", [6, 1])
def test_tuples_are_removed_by_what_they_are(n: int) -> None:
    """Only numbers were, of a list that grows: triangles, events and intervals are tuples."""
    alike(kept_near, (np.arange(12.0) * 7 % 5).reshape(6, 2)[:n])
    alike(kept_near, np.zeros((0, 2)))


def entropies(x: Any, y: Any, k: int) -> Any:
    def entropy(y: Any) -> Any:
        p = np.bincount(y) / len(y)
        p = p[p > 0]
        return -(p * np.log2(p)).sum()

    found = [entropy(y)]
    for t in range(k):
        chosen = np.flatnonzero(x > t)
        if len(chosen) > 0:
            found.append(entropy(y[chosen]))
            found.append(entropy(y[chosen][x[chosen] <= t + 1]) if (x[chosen] <= t + 1).any() else 0.0)
    return found


def test_what_a_function_of_numpys_only_reads_is_no_store() -> None:
    """`np.bincount` of a filtered array in a function of the user's was refused as a store into its parameter."""
    x = np.array([0.5, -1.0, 2.5, 3.0, 1.5, 0.25])
    for k in (0, 1, 4):
        alike(entropies, x, np.array([0, 1, 1, 0, 1, 1]), k)


class Seen:
    def __init__(self, place: Any, number: int) -> None:
        self.place = place
        self.number = number
        self.history: list[Any] = []

    def move(self, to: Any) -> None:
        self.history.append(self.place)
        self.place = 0.5 * self.place + 0.5 * to

    def shift(self, by: Any) -> None:
        self.history.append(self.place)
        self.place += by


def moved(xs: Any, n: int) -> Any:
    seen = [Seen(xs[i] * 1.0, i) for i in range(len(xs))]
    for k in range(n):
        for s in seen:
            s.move(xs[k % len(xs)])
    return [s.place for s in seen], [s.history for s in seen]


def shifted(xs: Any, n: int) -> Any:
    seen = [Seen(xs[i] * 1.0, i) for i in range(len(xs))]
    for k in range(n):
        for s in seen:
            s.shift(xs[k % len(xs)])
    return [s.place for s in seen], [s.history for s in seen]


def changed_through_the_history(xs: Any, n: int) -> Any:
    seen = [Seen(xs[i] * 1.0, i) for i in range(len(xs))]
    for k in range(n):
        for s in seen:
            s.history.append(s.place)
            s.history[0][0] = 99.0 + k
    return [s.place for s in seen]


def kept_in_a_dict(xs: Any, n: int) -> Any:
    places = [x * 2 for x in xs]
    before = {}
    for k in range(n):
        before[k] = places[k % 2]
        places[k % 2] = places[1 - k % 2] * 2
    return places, before


@pytest.mark.parametrize("user", [moved, kept_in_a_dict])
def test_what_has_given_its_place_to_another_array_stays_what_it_was(user: Any) -> None:
    """It was refused, as if the array that stands in the list had been changed in place."""
    for n in (0, 1, 4):
        alike(user, np.arange(8.0).reshape(2, 4), n)
        alike(user, np.arange(9.0).reshape(3, 3), n)


@pytest.mark.parametrize("user", [shifted, changed_through_the_history])
def test_arrays_in_objects_that_stand_in_lists_are_changed_nowhere_else(user: Any) -> None:
    """A store through the list left what the object has (a wrong number); with no iteration, nothing was in the lists
    of the result, whose memory was asked for (an internal error)."""
    xs = np.arange(8.0).reshape(2, 4)
    if user is shifted:
        alike(user, xs, 0)
    with pytest.raises(transkern.CompileError, match="TK1405"):
        transkern.compile(user)(xs.copy(), 2)


def test_names_that_stand_for_each_other_in_a_long_row() -> None:
    """The counts of a long list whose items are put into it one by one are each the one before and 1: what they are was
    looked up by recursion, and ended as a refusal of what is nested too deeply (tables of a Galois field)."""
    lets = {f"n{k + 1}": b.add(Var(f"n{k}", "index"), b.ONE) for k in range(3000)}
    question = Question({}, set(), set(), lets)
    near = question.linear(Var("n5", "index"), {}, "")
    far = question.linear(Var("n3000", "index"), {}, "")
    assert near[""] == 5 and len(near) == 2 and far[""] > 5 and len(far) == 2

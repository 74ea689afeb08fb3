"""Names whose type an iteration changes, where all iterations behind the first leave the same one; and branches that
another version of NumPy is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.errors import CompileError

X = np.array([3.0, -1.0, 2.0, 4.0])


def a_flag_that_becomes_a_list(x):
    changed = 1
    k = 0
    while changed:
        changed = []
        for i in range(len(x)):
            if x[i] > k:
                changed.append(i)
        k += 1
    return k


def two_flags_and_tuples(image):
    out = image.copy()
    first = second = True
    while first or second:
        first = []
        for i in range(len(out)):
            for j in range(out.shape[1]):
                if out[i, j] > 2:
                    first.append((i, j))
        for i, j in first:
            out[i][j] -= 2
        second = [(i, j) for i in range(len(out)) for j in range(out.shape[1]) if out[i, j] < -2]
        for i, j in second:
            out[i, j] += 3
    return out, first, second


def lists_of_what_is_more(x):
    more = less = 1
    t = 0
    while more or less:
        more = [v for v in x if v > t]
        less = [v for v in x if v < -t]
        t += 1
        if t > 100:
            break
    return t, more, less


def none_before(x):
    left = None
    while left is None or left:
        left = [] if left is None else left[1:]
        if len(left) == 0 and x[0] > 0:
            left = list(x)
            x[0] = 0
    return left


def a_count_that_becomes_a_list(x):
    found = 0
    for v in x:
        if found:
            v = v + found[0]
        found = [w for w in x if w < v]
    return found


def in_a_loop_around(x):
    total = 0
    for start in range(3):
        todo = 1
        while todo:
            todo = []
            for i in range(start, len(x)):
                if x[i] > start:
                    todo.append(i)
                    x[i] -= 1
            total += len(todo)
    return total, x


def with_continue(x):
    state = 0
    while state == 0 or state[0] < 30:
        if state == 0:
            state = [x[0], x[3]]
            continue
        state = [state[0] * 2, x[1]]
    return state


FUNCTIONS = [
    a_flag_that_becomes_a_list, lists_of_what_is_more, none_before, a_count_that_becomes_a_list, in_a_loop_around,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("values", [X, X[:1], X[::-1], np.array([np.nan, 1.0]), np.zeros(1), np.zeros(0)], ids=str)
def test_a_type_that_settles(function: Any, values: np.ndarray) -> None:
    alike(function, values.copy())


def test_a_type_that_settles_in_two_dimensions() -> None:
    for shape in ((4, 5), (1, 1), (0, 3)):
        alike(two_flags_and_tuples, np.random.default_rng(1).integers(-9, 9, shape))


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_a_type_that_settles_on(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(a_flag_that_becomes_a_list, X.copy(), target=target)
    alike(in_a_loop_around, X.copy(), target=target)


def test_a_type_that_changes_in_each_iteration_is_refused() -> None:
    def longer(x):
        held = x[0]
        for _ in range(len(x)):
            held = (held, x[0])
        return held

    alike(with_continue, X.copy())
    with pytest.raises(CompileError, match="held"):
        transkern.compile(longer, target="cpu")(np.arange(99.0))


def removed_function(x):
    if x.size and x[0] > 100:
        return x[np.in1d(x, x)]  # NumPy 2.4 has it no more
    return x + 1


def test_functions_that_numpy_has_not() -> None:
    for first in (1, 101):
        alike(removed_function, np.array([first, 2, 3]))
    with pytest.raises(CompileError, match=r"did you mean `np.convolve`"):
        transkern.compile(lambda x: np.covolve(x, x), target="cpu")(X)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize(
    ("a", "b"),
    [([3, 1, 2, 3], [3, 3, 7, 2]), ([], [1]), ([1.0, np.nan, -0.0], [0.0, np.nan]), ([5], [5]), ([[1, 2], [3, 4]], [4, 1])],
)
def test_common_elements_and_where(a: list[Any], b: list[Any], unique: bool) -> None:
    def where(x, y):
        return np.intersect1d(x, y, assume_unique=unique, return_indices=True)

    alike(where, np.array(a), np.array(b))
    alike(where, np.array(a, np.float32), np.array(b, np.float64)[::-1])

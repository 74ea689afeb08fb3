"""What is known at one place, or in a translation that was taken back, is not taken for known at another."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


def popped_twice(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    total = found.pop() + found.pop() if len(found) > 0 else -1.0
    return total, len(found)


def _two(queue: Any) -> Any:
    first = queue.popleft()
    return first - queue.popleft()


def popped_by_another(x: Any) -> Any:
    queue = deque()
    for v in x:
        if v > 0:
            queue.append(v)
    return (_two(queue) if queue else -1.0) * 2


def _all_of(found: Any, times: int) -> float:
    total = 0.0
    for _ in range(times):
        total += found.pop()
    return total


def popped_in_a_loop(x: Any) -> Any:
    found = [v for v in x if v > 0]
    return _all_of(found, 2) if len(found) > 0 else -1.0


def _moved(places: Any, x: Any) -> Any:
    places[0] -= 2
    return x[places[0]] > 0


def moved_behind_a_test(places: Any, x: Any) -> Any:
    return (places[0] >= 0) and _moved(places, x)


@pytest.mark.parametrize("function", [popped_twice, popped_by_another, popped_in_a_loop])
def test_a_test_of_a_length_holds_until_the_length_changes(function: Any) -> None:
    for x in ([1.0, 2.0], [1.0], [-1.0], [2.0, -1.0], [3.0, 1.0, 2.0]):
        alike(function, np.array(x))


def test_a_test_of_an_element_holds_until_it_is_stored() -> None:
    for place in (0, 1, 2, 3, -1):
        alike(moved_behind_a_test, np.array([place]), np.array([1.0, -2.0, 3.0, 4.0]))


def size_of_this_translation(x: Any, k: Any, n: int) -> Any:
    best, total = None, 0.0  # the first translation knows that it is None, the second one does not
    for i in range(len(x)):
        if best is not None:
            h = min(int(k[i]), len(x))
            total += np.ones((h, 2)).sum()
        else:
            h = n // 2
            total += 1
        best = x[i]
    return total


def part_of_this_translation(x: Any, k: Any, n: int) -> Any:
    last, total = None, 0.0
    for i in range(len(x)):
        if last is not None:
            h = k[i]
            total += x[:h].sum()
        else:
            h = n // 2
            total += h
        last = x[i]
    return total


@pytest.mark.parametrize("function", [size_of_this_translation, part_of_this_translation])
def test_names_mean_what_the_last_translation_says(function: Any) -> None:
    x, k = np.array([1.0, 2.0, 3.0, 5.0]), np.array([3, 3, 1, 2])
    for n in (4, 9):
        alike(function, x, k, n)


def checked_in_each_translation(x: Any, k: Any) -> Any:
    return [a + b for a, b in zip(x, k, strict=True)]


def test_a_check_is_there_in_the_last_translation() -> None:
    for x, k in (([1.0, 2.0], [3.0, 4.0]), ([1.0, 2.0], [3.0]), ([1.0], [3.0, 4.0])):
        alike(checked_in_each_translation, np.array(x), np.array(k))


def bound_anew_behind_its_test(x: Any) -> Any:
    best, found = None, []
    for v in x:
        if best is not None and ((best := (None if v < 0 else v)) is None or best > 2):
            found.append(1 if best is None else 2)
        else:
            best = v
    return found


def test_a_name_that_was_not_none_may_be_bound_anew_in_the_same_condition() -> None:
    for x in ([1.0, 2.0, 3.0, -1.0, 4.0], [3.0, -1.0, 1.0, 5.0], []):
        alike(bound_anew_behind_its_test, np.array(x))

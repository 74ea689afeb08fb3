"""Lists that are empty at run time, of which NumPy makes float64, whatever they would hold (`frontend/containers/empties.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")

X = np.array([1, 2, 3], np.float32)


def over(x: Any, t: int) -> Any:
    hits = []
    for k in range(len(x)):
        if x[k] > t:
            hits.append(k)
    return hits


def numbers(x: Any, t: int) -> Any:
    hits = over(x, t)
    total = np.sum(hits)
    a = np.array(hits)
    return total, np.prod(hits), a.sum() * 2, float(total), total > 0, a, a * 2, a.mean()


def rows(x: Any, t: int) -> Any:
    parts = []
    for k in range(len(x)):
        if x[k] > t:
            parts.append(x * k)
    a = np.array(parts)
    return a, np.sum(np.roll(parts, 1)), a.sum(axis=0), np.sum(parts, keepdims=True), a + np.float32(1)


def comprehended(x: Any, t: int) -> Any:
    a = np.array([v * 2 for v in x[t:]])
    return a + 1, np.sqrt(np.sum(a)), x[[k // 2 for k in range(len(x) - t)]], np.array([len(x) for _ in x[t:]], np.int8)


def in_a_loop(x: Any, t: int) -> Any:
    best, made = 0, np.zeros(4)
    for j in range(4 - t):
        later = np.array([2 * k for k in range(j)])
        made[j] = (later * 2).sum()
        if np.sum(later) > best:
            best = np.sum(later)
    return best, made


def more(x: Any, t: int) -> Any:
    hits = over(x, t)
    a = np.array(hits)
    chosen = np.where(a > 1, a, 0)
    return np.cumsum(hits), a[a > 1], a[::-1], a @ a, a.reshape(-1, 1), a.clip(0, 1), np.unique(hits), np.diff(hits), chosen, np.zeros_like(hits)


def joined_by_subscripts(x: Any, t: int) -> Any:
    hits = over(x, t)
    a = np.array([v for v in x if v > t])
    return np.r_[hits], np.r_[0, a], np.r_[a[::-1], 0:2], np.c_[hits, hits], np.r_[hits, a, 1]


def in_lists(x: Any, t: int) -> Any:
    found = []
    for k in range(3):
        found.append(np.sum(over(x, t - k)))
    return found, np.array(found, np.float32)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_types_of_what_is_made_of_a_list(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for function in (numbers, rows, comprehended, in_a_loop):
        for t in (0, 2, 3):
            alike(function, X, t, target=target)
    if target != "pallas":  # which has no arrays of such sizes
        for t in (0, 3):
            alike(more, X, t, target=target)
            alike(joined_by_subscripts, X, t, target=target)
            alike(in_lists, X, t, target=target)


def bits(x: Any, t: int) -> Any:
    return np.array(over(x, t)) & 1


def subscript(x: Any, t: int) -> Any:
    return x[np.array(over(x, t))]


def stored_at(x: Any, t: int) -> Any:
    x[np.array(over(x, t))] = 0


def zeros(x: Any, t: int) -> Any:
    return np.zeros(np.sum(over(x, t)))


def trips(x: Any, t: int) -> Any:
    return list(range(np.sum(over(x, t))))


def along(x: Any, t: int) -> Any:
    return np.array([x * k for k in over(x, t)]).sum(axis=1)


def begun_anew(x: Any, t: int) -> Any:
    total = 0
    for k in range(3):
        total += np.sum(over(x, t)) + k
    return total


def beside_others(x: Any, t: int) -> Any:
    return np.append(np.arange(2), over(x, t))


@pytest.mark.parametrize("function", [bits, subscript, stored_at, zeros, trips, along])
def test_errors_of_the_type(function: Callable[..., Any]) -> None:
    for t in (0, 3):
        alike(function, X, t)


def array_of_sums(x: Any, t: int) -> Any:
    found = []
    for k in range(len(x)):
        found.append(np.sum(over(x, t - k)))
    return np.array(found)


def partly_filled(x: Any, t: int) -> Any:
    found = [0.0] * x.size
    for k in range(x.size):
        if x[k] > t:
            found[k] = x[k]
    return np.array(found)


def sum_of_numbers_set(x: Any, t: int) -> Any:
    found = [0] * x.size
    for k in range(x.size):
        if x[k] > t:
            found[k] = float(x[k])
    return np.sum(found), found


@pytest.mark.parametrize("function", [begun_anew, beside_others, array_of_sums, partly_filled, sum_of_numbers_set])
def test_what_has_one_type_is_no_other(function: Callable[..., Any]) -> None:
    """A loop hands on one type, and an array has one: no list must be empty then, or its numbers of other types."""
    alike(function, X, 0)
    with pytest.raises(RuntimeError, match=r"list.* (here|are of types here)"):
        transkern.compile(function, target="cpu")(X, 9)


def _chosen(x: Any, t: int) -> list[Any]:
    return [v for v in x if v > t]


def lowered_and_raised(x: Any, t: int) -> Any:
    return np.sum(_chosen(x, t)) - 1 + 4.0


def in_steps(x: Any, t: int) -> Any:
    total = np.sum(_chosen(x, t))
    total -= 1
    total += 4.0
    return total / 2


def beside_an_array(x: Any, t: int) -> Any:
    total = np.sum(_chosen(x, t)) - 1
    return np.arange(3.0) + total, np.arange(3.0) < total, np.full(2, total)


def asked_about(x: Any, t: int) -> Any:
    total = np.prod(_chosen(x, t)) - 2
    return (total < 5, 1 if total < 0 else 2), np.array([total, 1.5]), float(total), np.float32(total)


def put_away(x: Any, t: int) -> Any:
    y = np.ones(3)
    y[0] = np.sum(_chosen(x, t)) + 0.1
    y[1:] -= np.array(_chosen(x, t)).sum() - 1
    return y


def less_a_number(x: Any, t: int) -> Any:
    total = np.sum(_chosen(x, t)) - t
    return total * 2.0, total + np.ones(2), [total, 3]


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int64", "float32", "float16"])
@pytest.mark.parametrize("function", [
    lowered_and_raised, in_steps, beside_an_array, asked_about, put_away, less_a_number,
])  # fmt: skip
def test_what_is_computed_from_a_sum_of_nothing(function: Callable[..., Any], dtype: str) -> None:
    """An unsigned sum of nothing less one was 2**64 - 1 where it met another type (fuzz, seed 99502255), and a float32
    one and 0.1 rounded. What a list's own type does not hold is refused."""
    alike(function, X.astype(dtype), 1)
    try:
        alike(function, X.astype(dtype), 9)
    except RuntimeError as error:
        assert dtype.startswith("uint") and "empty" in str(error)

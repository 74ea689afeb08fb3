"""Accesses outside an array, on every target: what NumPy raises is raised, and nothing outside the array is touched.

Each argument array lies in the middle of a larger one; what is around it must be the same after the call. (Reads
outside are found by the sanitizers: `test_nothing_outside_is_read` runs the CPU's code under them.) On the CPU the
arguments are then as NumPy leaves them, with what was stored before the exception; a device gives nothing back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.sanitized import found_in
from tests.tools import on_target, require

MARGIN = 64
TABLE: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def access(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        TABLE.append((function, arguments))
        return function

    return register


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


def at(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int32)


# ---- one element: read and written, at both ends, in vectors, matrices and cubes
@access(numbers(5), 5)
def read_behind(x, k):
    return x[k]


@access(numbers(5), -6)
def read_before(x, k):
    return x[k]


@access(numbers(5), 1 << 40)
def read_far(x, k):
    return x[k] + x[0]


@access(numbers(5), 5)
def written_behind(x, k):
    x[k] = 9


@access(numbers(5), -6)
def written_before(x, k):
    x[0] = 7
    x[k] = 9


@access(numbers(5), 5)
def added_behind(x, k):
    x[k] += 1


@access(numbers(0), 0)
def read_of_empty(x, k):
    return x[k]


@access(numbers(0))
def last_of_empty(x):
    return x[-1]


@access(numbers(3, 4), 1, 4)
def matrix_column(m, i, j):
    return m[i, j]


@access(numbers(3, 4), -4, 0)
def matrix_row(m, i, j):
    return m[i, j]


@access(numbers(3, 4), 3)
def whole_row(m, i):
    return m[i] * 2


@access(numbers(3, 4), 4)
def whole_column(m, j):
    return m[:, j] + 1


@access(numbers(3, 4), -5)
def column_written(m, j):
    m[:, j] = 0


@access(numbers(3, 4), 3)
def row_written(m, i):
    m[i] = 1.5


@access(numbers(2, 3, 4), 2)
def cube_read(c, k):
    return c[k, 0, 0] + c[0, k, k]


@access(numbers(2, 3, 4), 4)
def cube_written(c, k):
    c[1, 2, k] = 0


@access(numbers(6), 3)
def view_read(x, k):
    return x[::2][k]


@access(numbers(6), -4)
def reversed_view_read(x, k):
    return x[::-2][k]


@access(numbers(6), 2)
def view_written(x, k):
    x[2:4][k] = 1


@access(numbers(3, 4), 3)
def transposed_read(m, k):
    return m.T[0, k]


@access(numbers(3, 4), 12)
def flat_read(m, k):
    return m.reshape(-1)[k]


# ---- many elements: gathers and scatters
@access(numbers(5), at(0, 5))
def gathered_behind(x, i):
    return x[i]


@access(numbers(5), at(-6, 1))
def gathered_before(x, i):
    return x[i] * 2


@access(numbers(3, 4), at(0, 3))
def gathered_rows(m, i):
    return m[i]


@access(numbers(3, 4), at(1, -5))
def gathered_columns(m, j):
    return m[:, j]


@access(numbers(3, 4), at(0, 1), at(1, 4))
def gathered_pairs(m, i, j):
    return m[i, j]


@access(numbers(5), at(1, 5))
def scattered(x, i):
    x[i] = 0


@access(numbers(5), at(1, -9))
def scattered_sums(x, i):
    x[i] += 1


@access(numbers(5), at(2, 5))
def taken(x, i):
    return np.take(x, i)


@access(numbers(5), at(2, 5, 1))
def added_at(x, i):
    np.add.at(x, i, 1)


# ---- in loops: the first, the last, and one in the middle
@access(numbers(5))
def one_too_far(x):
    s = np.float32(0)
    for i in range(len(x) + 1):
        s += x[i]
    return s


@access(numbers(5))
def neighbour(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] + x[i + 1]
    return y


@access(numbers(5))
def written_on_the_way(x):
    for i in range(len(x)):
        x[2 * i] = 1


@access(numbers(4, 4), numbers(3))
def shorter_operand(m, v):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] += v[j]


@access(numbers(5), at(0, 2, 7, 1))
def through_indices(x, i):
    s = np.float32(0)
    for k in range(len(i)):
        s += x[i[k]]
    return s


@access(numbers(3), at(0, 2, 3))
def histogram(h, bins):
    for k in range(len(bins)):
        h[bins[k]] += 1


@access(numbers(5), 9)
def while_it_grows(x, top):
    k = 0
    while k < top:
        x[k] = k
        k += 2


@access(numbers(5))
def under_a_condition(x):
    for i in range(len(x)):
        if x[i] > 3:
            x[i + 2] = 0


@access(numbers(4, 3))
def rows_in_a_loop(m):
    s = np.float32(0)
    for i in range(1, len(m) + 1):
        s += m[i, 0]
    return s


@access(numbers(6), at(1, 4, 9))
def bound_from_data(x, stops):
    s = np.float32(0)
    for k in range(len(stops)):
        for i in range(stops[k]):
            s += x[i]
    return s


@access([numbers(2), numbers(3)], 2)
def of_a_list(arrays, k):
    return arrays[0][k] + arrays[1][k]


@access(numbers(5))
def of_a_list_that_grew(x):
    found = []
    for i in range(len(x)):
        if x[i] > 2:
            found.append(i)
    return found[3]


def guarded(value: Any) -> tuple[Any, list[tuple[np.ndarray[Any, Any], slice]]]:
    """A copy of an argument in the middle of a larger array, and where."""
    if isinstance(value, list):
        parts = [guarded(v) for v in value]
        return [v for v, _ in parts], [g for _, guards in parts for g in guards]
    if not isinstance(value, np.ndarray):
        return value, []
    around = np.full(value.size + 2 * MARGIN, 77, dtype=value.dtype)
    middle = slice(MARGIN, MARGIN + value.size)
    around[middle] = value.ravel()
    return around[middle].reshape(value.shape), [(around, middle)]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any, list[bool]]:
    """The exception, the arguments after the call, and whether what is around them is as it was."""
    mine, guards = guarded(list(arguments))
    with pytest.raises(IndexError) as caught:
        function(*mine)
    kept = [bool(np.all(np.delete(around, np.r_[middle]) == 77)) for around, middle in guards]
    return str(caught.value), mine, kept


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 40


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize(("function", "arguments"), [pytest.param(*row, id=row[0].__name__) for row in TABLE])
def test_outside(
    function: Callable[..., Any], arguments: tuple[Any, ...], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target(target, monkeypatch)
    wanted, arrays, _ = outcome(function, arguments)
    text, found, kept = outcome(transkern.compile(function, target=target), arguments)
    assert text == wanted
    assert all(kept)
    for before, a, b in zip(arguments, arrays, found, strict=True):
        if isinstance(a, np.ndarray):
            as_before = target != "cpu" and np.array_equal(b, before)
            assert as_before or np.array_equal(b, a)


def test_nothing_outside_is_read() -> None:
    require("cc", "sanitizers")
    assert not found_in([f"bounds-{function.__name__}" for function, _ in TABLE])

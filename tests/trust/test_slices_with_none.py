"""``end = None if k == 0 else -k; x[1:end]``: a bound of a slice that is None or a number, as the arguments decide."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern


def stop(x: Any, k: int) -> Any:
    end = None if k == 0 else -k
    return x[1:end]


def of_sizes(x: Any, k: int) -> Any:
    y = x[k:]
    k = x.shape[0] - y.shape[0]
    end = None if k == 0 else -k
    return x[1:end], x[:end] * 2


def by_statements(x: Any, k: int) -> Any:
    if k > 0:
        end = -k
    else:
        end = None
    return x[:end].sum()


def start(x: Any, k: int) -> Any:
    first = k if k else None
    return x[first:]


def both(x: Any, k: int) -> Any:
    first = k if k else None
    return x[first : -k or None].copy(), x[: -k or None : 2]


def of_a_helper(x: Any, k: int) -> Any:
    def bounds(k: int) -> tuple[int | None, int | None]:
        if k == 0:
            return None, None
        return k, -k

    first, last = bounds(k)
    return x[first:last]


def given_on(x: Any, k: int) -> Any:
    def cut(v: Any, end: int | None) -> Any:
        return v[1:end]

    return cut(x, None if k == 0 else -k).sum()


def backwards(x: Any, k: int) -> Any:
    end = k if k else None
    return x[:end:-1], x[end::-1], x[:end:-2]


def step(x: Any, k: int) -> Any:
    by = -1 if k else None
    return x[::by]


def positive_step(x: Any, k: int) -> Any:
    by = k if k > 1 else None
    return x[::by]


def stored(x: Any, k: int) -> Any:
    end = -k if k else None
    x[1:end] = 0
    x[:end] += 2
    return x


def in_a_loop(x: Any, k: int) -> Any:
    total = 0.0
    for i in range(k + 2):
        end = None if i == 0 else -i
        total += x[:end].sum()
    return total


def kept_in_a_loop(x: Any, k: int) -> Any:
    end = None
    out = np.zeros(5)
    for i in range(5):
        out[i] = x[:end].sum()
        if i >= k:
            end = -i - 1
    return out


def two_dimensions(x: Any, k: int) -> Any:
    a = x.reshape(2, 5)
    end = None if k == 0 else -k
    return a[:, 1:end] + a[:, 1:end], a[..., :end]


def of_a_list(x: Any, k: int) -> Any:
    values = [1, 2, 3, 4, 5]
    end = None if k == 0 else -k
    values[:end] = [7] * len(values[:end])
    del values[end:]
    return values


def of_a_list_that_grows(x: Any, k: int) -> Any:
    values = []
    for v in x:
        if v > 1:
            values.append(v)
    end = None if k == 0 else -k
    return sum(values[:end]), values[:end]


def of_a_text(x: Any, k: int) -> Any:
    end = None if k == 0 else -k
    return "abcdef"[:end]


def of_a_range(x: Any, k: int) -> Any:
    end = None if k == 0 else -k
    total = 0
    for i in range(10)[:end]:
        total += i
    return total


def slice_object(x: Any, k: int) -> Any:
    inner = slice(1, None if k == 0 else -k)
    return x[inner], x[inner].shape


FUNCTIONS: list[Callable[..., Any]] = [
    stop, of_sizes, by_statements, start, both, of_a_helper, given_on, backwards, step, positive_step, stored,
    in_a_loop, kept_in_a_loop, two_dimensions, of_a_list, of_a_list_that_grows, of_a_text, of_a_range, slice_object,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_bounds_that_are_none_at_run_time(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function)
    for k in (0, 2, 1, 0, 4):  # one specialisation after the other, and each again
        x = np.arange(10.0)
        wanted, found = function(x.copy(), k), compiled(copy.copy(x), k)
        np.testing.assert_equal(found, wanted)
        assert type(found) is type(wanted)


def test_no_bound_of_another_kind() -> None:
    def half(x: Any, k: int) -> Any:
        end = None if k == 0 else k / 2
        return x[:end]

    compiled = transkern.compile(half)
    np.testing.assert_array_equal(compiled(np.arange(4.0), 0), np.arange(4.0))
    with pytest.raises(TypeError, match="slice indices must be integers or None"):
        compiled(np.arange(4.0), 2)

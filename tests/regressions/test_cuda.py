"""What the CUDA target got wrong; found by generated programs (`make fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def cut_by_where(x: Any, y: Any, k: int) -> Any:
    """`launcher`: a number that no element takes did not fit into the type of the elements."""
    return np.where(x > 0, y, k)


def never_an_integer(y: Any, s: float) -> None:
    """`launcher`: NaN became an integer before it was known that it is of no use."""
    while y[0] > 1:
        y[1] = int(s)


def running_products(x: Any, y: Any) -> Any:
    """`group.scanning`: a product in another order overflowed, and was NaN behind a zero."""
    return np.cumprod(x), np.cumprod(y, axis=0), np.multiply.accumulate(x[::-1])


def as_long_as_kept(x: Any, y: Any) -> None:
    """`prepare`: a size that the launcher needs was read by the kernels alone."""
    v = x[x > 0]
    y[0] = np.where(v > 1, v, v[::1].astype(float)).sum()


def decided_by(x: Any, y: Any, s: Any) -> Any:
    """`launcher`: NaN and infinities were written as names that are none."""
    if s:
        x, y = y, 1
    x[2] = 0
    return float("inf"), s


_PRODUCTS = np.array([1e300, 1e300, 1e-300, 0.0, 2.0, 1e-300, 3.0] * 12)


def largest_and_filter(y: Any, a: Any) -> Any:
    """`fuse_loops`: a maximum over two axes went into the filter's loop, which combines no threads' parts."""
    return np.max(a), y[y > 0], (a * 2).sum()


def three_of_each(image: Any) -> Any:
    """`kernels`: the size of each thread's memory for a list had the name of the list's number of elements."""
    out = np.empty(image.shape[:2])
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            r, g, b = (float(v) for v in image[i, j])
            out[i, j] = r - g / b
    return out


def first_of_equals(x: Any, u: Any) -> Any:
    """`launcher`: `kind="mergesort"`, another name for "stable", became CuPy's default, which need not be."""
    return np.unique(x, return_index=True), np.argsort(u, kind="mergesort")


def counted_behind(x: Any, a: Any) -> Any:
    """`launcher`: of an array whose second axis is counted at run time, what lay beside its elements came back."""
    v = a[x <= 3].T
    return v, np.sort(v, axis=1), np.linalg.norm(v.astype(np.float64), axis=0), (v * 1j).copy(), v[None] + v[:, None]


def begun_with_a_whole_number(x: Any) -> Any:
    """`host`: a Python integer where a float64 was wanted, of which a launch passes the bytes."""
    best, at = 0.0, 0
    for k in range(len(x)):
        for v in np.unique(x):
            if np.abs(x - v).sum() * k > best:
                best, at = np.abs(x - v).sum() * k, v
    return best, at * x


def told(x: Any, s: Any, m: Any) -> Any:
    """`body`, `launcher`: messages with floats and truths in them were refused."""
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"{x[i]} {x[i]!r} {m[i]} {s!r} {x[i]:.2f} {bool(m[i])!r}")
    if x.sum() > s:
        raise ValueError(f"{x.sum()} > {s}")
    return np.sqrt(x)


@pytest.mark.parametrize(
    "function, arguments",
    [
        (counted_behind, (np.arange(5), (np.arange(15).reshape(5, 3) * 7 % 5).astype(np.uint16))),
        (begun_with_a_whole_number, (np.array([2.0, 1.0, 4.0]),)),
        (told, (np.array([1.0, 0.1, -1e-5, -2.0]), np.float32(0.1), np.array([True, False, True, False]))),
        (told, (np.array([1.0, -np.inf, 3.0]), np.float16(0.1), np.array([1, -2, 3], np.int8))),
        (told, (np.array([1.0, 0.1, 3.0]), 2.0, np.ones(3))),
        (first_of_equals, (np.arange(40) % 7, np.arange(80.0) % 3)),
        (three_of_each, (np.arange(36.0).reshape(3, 4, 3) + 1,)),
        (largest_and_filter, (np.arange(40) % 3, np.arange(120).reshape(40, 3))),
        (cut_by_where, (np.ones(3), np.ones(3, np.uint8), -1)),
        (never_an_integer, (np.ones(3, np.int32), np.nan)),
        (running_products, (_PRODUCTS, _PRODUCTS.reshape(6, -1).astype(np.float32))),
        (as_long_as_kept, (np.array([1.0, -1.0, 3.0]), np.zeros(2))),
        (decided_by, (np.ones(3), np.ones(4), np.nan)),
        (decided_by, (np.ones(3), np.ones(4), np.float32(-np.inf))),
        (decided_by, (np.ones(3), np.ones(4), 0.0)),
        (running_products, (_PRODUCTS[4:] + 0.5, _PRODUCTS[:4, None])),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gives_numpys_answer(
    function: Callable[..., Any], arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target("cuda", monkeypatch)
    alike(function, *arguments, target="cuda")


def joined_in_a_loop(x: Any, y: Any) -> Any:
    """`group`, `body`: the names for counting the kept were declared once for each piece."""
    total = 0
    for k in range(len(x)):
        v = np.concatenate((x, x[y < k], y[y > 0]))
        total += v[-1] * k + len(v)
    return total


def joined_by_one_thread(x: Any, y: Any) -> Any:
    for k in range(len(x)):
        if x[k] > 1:
            v = np.concatenate((x[:k], x[y < x[k]]))
            x[k] = v[0] + len(v)
    return x


def test_pieces_that_are_joined_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    for function in (joined_in_a_loop, joined_by_one_thread):
        alike(function, np.array([2, 0, 3, 1], np.int16), np.array([0, 1, -1, 5], np.int16), target="cuda")


def counted_by_their_weights(x: Any) -> Any:
    """`header`: a loop went on for as long as ``i < n == 1 ? m : n``, which is for ever."""
    values, counts = np.unique(x, return_counts=True)
    return np.bincount(np.arange(counts.size) % 3, weights=counts), values


def test_the_end_of_a_loop_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    for x in (np.arange(7), np.array([3.0, 1.0, 3.0, 2.0, 1.0, 3.0])):
        alike(counted_by_their_weights, x, target="cuda")


def rows_again(y: Any, u: Any) -> None:
    """`rows`: a warp's first lane stored what the others read, or had yet to read, when the warp came back to it."""
    for _ in range(len(u)):
        y[:] = np.sum(u * y[:, None], axis=1, dtype=np.uint32)


def rows_of_two_loops(y: Any, u: Any) -> None:
    for _ in range(2):
        y[:] = np.sum(u * y[:, None], axis=1, dtype=np.uint32)
        y[:] = np.max(u ^ y[:, None], axis=1)


def test_warps_that_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    rng = np.random.default_rng(3)
    for rows, columns in ((7, 9), (40, 33), (3, 100)):
        y, u = (rng.integers(0, 2**32, k, dtype=np.uint32) for k in (rows, columns))
        for function in (rows_again, rows_of_two_loops):
            alike(function, y, u, target="cuda")

"""Arrays of which an iteration, or a path that data choose, decides more than the first size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

SQUARE = np.round(np.random.default_rng(1).random((9, 9)) * 64) / 64  # sums are exact
TALL = np.arange(24.0).reshape(8, 3)
NOTHING = np.zeros((0, 4))


def without_rows_and_columns(d, k):
    order = []
    while len(d) > k + 1:
        i = int(np.argmin(d.sum(axis=1)))
        order.append(i)
        d = np.delete(np.delete(d, i, 0), i, 1)
    return d, order


def smaller(d, k):
    for i in range(k):
        c = d[i : d.shape[0] - i, i : d.shape[1] - i]
        if c.sum() < 10:
            break
    return c + 0


def chosen(d, k):
    rows = np.arange(len(d))
    for i in range(k):
        rows = rows[rows % (i + 2) != 1]
        part = d[rows][:, rows % 3]
        if part.sum() > 4 and len(d) == 9:
            part = d[np.ix_(rows, rows)]
        if part.sum() < 1:
            break
    return part, rows


def framed(d, k):
    for _ in range(k):
        d = np.pad(d, 1, constant_values=0.5)
    return d + 0


def turned(d, k):
    for i in range(k):
        d = d.T + i
        e = d[1:]
    return d, e


def stored(d, k):
    for i in range(k):
        if d.size and d.sum() > 3 * i:
            d = d[:, : d.shape[1] - 1] * 2
            d += 1
        else:
            d = np.concatenate([d, d])
    if d.size:
        d[0, -1] = -1.0
        d[-1] += d[0]
    return d


def seen_under_another_name(d, k):
    first = d
    for i in range(k):
        last = d
        d = d[:, ::2] - i
    return first.sum(), last, d


def of_three(d, k):
    box = d[:, :, None] * np.ones(2)
    for i in range(k):
        box = np.concatenate([box, box[:, :, :1]], axis=2)[:, i % 2 :]
    return box, box.shape, box.sum()


def one_path(d, k):
    found = False
    for i in range(k):
        if d.size and d.max() > 0.1 * i:
            shown = d[: i + 1] @ d[: i + 1].T
            found = True
    if found:
        return shown
    return None


def two_paths(d, k):
    if d.size and d.ravel()[0] * 100 % 2 < 1:
        e = d[::2, ::2]
    else:
        e = np.ones((k, 2))
    return e * 3, e.shape


def in_two_loops(d, k):
    total = 0
    for i in range(k):
        e = d
        while e.shape[1] > i:
            e = e[1:, 1:]
        total += e.shape[0]
    return e, total


def of_truths(d, k):
    marks = d > 0.5
    for _ in range(k):
        marks = np.hstack([marks, ~marks[:, :1]])
    return marks, marks.sum(axis=0)


FUNCTIONS = (
    without_rows_and_columns, smaller, chosen, framed, turned, stored, seen_under_another_name, of_three, one_path,
    two_paths, in_two_loops, of_truths,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy_has_them(function: Callable[..., Any]) -> None:
    for d in (SQUARE, TALL, NOTHING, np.asfortranarray(TALL)[::-2]):
        for k in (0, 1, 3):
            if function is without_rows_and_columns and d.shape[0] != d.shape[1]:
                continue
            alike(function, d, k)


def test_devices_refuse_or_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    for function in (smaller, framed, without_rows_and_columns):
        try:
            alike(function, SQUARE, 3, target="cuda")
        except transkern.CompileError as error:
            assert "shape" in str(error)

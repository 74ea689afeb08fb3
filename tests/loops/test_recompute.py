"""Temporaries that are computed where they are read (`fuse/loops/recompute.py`), and a name for each value
(`fuse/scalars/assigned.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fuzz.meeting import program_of
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern import pipeline
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def chequered(a: Any) -> Any:
    rows, columns = np.indices(a.shape)
    out = a.copy()
    for colour in (0, 1):
        around = np.roll(out, 1, axis=0) + np.roll(out, -1, axis=0)
        around += np.roll(out, 1, axis=1) + np.roll(out, -1, axis=1)
        out[((rows + columns) % 2 == colour) & (around > 1)] *= -1
    return out, rows.sum(), columns[-1]


def deviations(a: Any) -> Any:
    valid = ~np.isnan(a)
    count = valid.sum(axis=0)
    x = np.where(valid, a, 0.0)
    mean = np.floor(x.sum(axis=0) / count)
    d = np.where(valid, x - mean, 0.0)
    return (d * d[::-1]).sum(axis=0), (d**2).sum(axis=0), d.max()


def changed_between(a: Any) -> Any:
    d = a - 1
    first = d.sum(axis=0)
    a *= 2
    return first, d.sum(axis=0) + d[0], a


def changed_in_turn(a: Any) -> Any:
    total = np.zeros(a.shape[1])
    for _ in range(3):
        d = a + 1
        total += d.sum(axis=0) * d[0]
        a[0] = d[1] - d[0]
    return total, a


def changed_by_their_own(a: Any) -> Any:
    d = a * 2
    a[1:] = d[:-1] + d[1:]
    return a, d.min(axis=0)


def halves(a: Any) -> Any:
    t = a[:, 1:] + a[:, :-1]
    t += a[:, 1:]
    t *= t
    t -= 1
    return t, t.sum(axis=1)


def scalars_in_turn(a: Any) -> Any:
    out = np.zeros(len(a))
    for i in range(len(a)):
        v = a[i, 0]
        v = v * 2
        if v > 3:
            v = v - 1
        v = v + a[i, -1]
        out[i] = v
        v = v * v
        out[i] += v
    return out


FUNCTIONS = [
    chequered, deviations, changed_between, changed_in_turn, changed_by_their_own, halves, scalars_in_turn
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_values(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    a = (np.arange(72.0).reshape(6, 12) * 37) % 23 - 7
    alike(function, a, target=target)
    a[2, 3], a[0, 0], a[5, 11] = np.nan, -0.0, np.inf
    alike(function, a, target=target)
    if target == "cpu":
        for other in (a[::-1, ::-1], a[:2, :2], a[:3, :1], np.arange(12.0).reshape(4, 3)):
            alike(function, other, target=target)


def coordinates(a: Any) -> Any:
    rows, columns = np.indices(a.shape)
    return (rows * a).sum(axis=0), np.where(rows < columns, a, 0.0).max(axis=1), (columns - rows) * a


def masked_sums(a: Any) -> Any:
    d = np.where(np.isnan(a), 0.0, a)
    return (d * a[0]).sum(axis=0), d.sum(axis=1)


def with_missing(a: Any) -> Any:
    valid = ~np.isnan(a)
    x, y = np.where(valid, np.arange(len(a))[:, None], 0.0), np.where(valid, a, 0.0)
    mean_x, mean_y = x.sum(axis=0) / valid.sum(axis=0), y.sum(axis=0) / valid.sum(axis=0)
    dx, dy = np.where(valid, x - mean_x, 0.0), np.where(valid, y - mean_y, 0.0)
    return (dx * dy).sum(axis=0), (dx**2).sum(axis=0), (dy**2).sum(axis=0)


def library_of_missing(a: Any) -> Any:
    return np.nanmean(a, axis=0), np.nanstd(a, axis=0)


MISSING = [with_missing, library_of_missing]


@pytest.mark.parametrize(("function", "kept"), [(coordinates, 0), (masked_sums, 0), *((f, 0) for f in MISSING)])
def test_they_take_no_memory(function: Callable[..., Any], kept: int) -> None:
    program = program_of(function, (np.zeros((6, 12)),), pipeline.passes_for("cpu"))
    made = [program.buffers[s.buffer] for s in walk(program.body) if isinstance(s, n.Alloc)]
    assert sum(x.role == "temporary" and len(x.dims) == 2 for x in made) == kept


def counted(x: Any) -> Any:
    return np.bincount(x, minlength=4)



@pytest.mark.parametrize("dtype", ["uint8", "int16", "bool"])
def test_places_of_another_type_are_converted_where_they_are_used(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(counted, (np.zeros(3, dtype),), pipeline.passes_for("cpu"))
    (given,) = (dim for p in program.params if isinstance(p, n.ArrayParam) for dim in p.dims)
    made = [program.buffers[s.buffer] for s in walk(program.body) if isinstance(s, n.Alloc)]
    assert made and not any(given in x.dims for x in made)  # for counts alone
    for target in ("cpu", on_target("cuda", monkeypatch)):
        for values in ([0, 1, 1, 0], [5, 2, 9], [], [-3, 1]):
            alike(counted, np.array(values).astype(dtype), target=target)


def lagged(x: Any) -> Any:
    d = x - x[0]
    return np.correlate(d, d[: len(d) // 2], "full")


def weighted(x: Any) -> Any:
    low = np.where(x < 0, x * 0.5, x)
    return np.convolve(low, x[: len(x) // 3], "valid"), np.correlate(low, x[:2])


def at_three(x: Any) -> Any:
    d = x - 1
    return np.lib.stride_tricks.sliding_window_view(d, 3).max(axis=1)


@pytest.mark.parametrize(("function", "kept"), [(lagged, 1), (weighted, 1), (at_three, 0)])
def test_windows_read_what_has_been_computed(function: Callable[..., Any], kept: int) -> None:
    """Each element is part of as many windows as one has elements: for a few, that the text says, it is computed."""
    program = program_of(function, (np.zeros(12),), pipeline.passes_for("cpu"))
    made = [program.buffers[s.buffer] for s in walk(program.body) if isinstance(s, n.Alloc)]
    assert len({x.name for x in made if x.name in ("d", "low")}) == kept
    for size in (3, 12, 200):
        alike(function, np.arange(size) % 7 - 3.0)

"""What a function's module holds beside it, results in memory that is given, and stores that nobody sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike, like_numpy
from tests.tools import on_target
from transkern.errors import CompileError

TABLE = np.array([1.5, -0.0, 2.0])
OTHER = np.array([0.0, 1.5, 2.0])
LONG, ONES = np.arange(100.0), np.ones(100)


def compared(x: Any) -> Any:
    held = TABLE
    return held[held > 0], held <= x, TABLE == OTHER, held > 0, TABLE == None, TABLE != "a", x == None, x != None  # noqa: E711


def test_comparisons_of_captured_arrays() -> None:
    """They were compared as Python's constants are, with None as a whole (`comparing._compare`)."""
    alike(compared, np.array([0.0, 1.0, np.nan]))


def chosen(x: Any, lines: Any) -> Any:
    table = TABLE if x[0] > 0 else OTHER
    wide = LONG if x[1] > 0 else ONES
    mine = x if x[2] > 0 else TABLE
    total = 0.0
    for k in range(len(lines)):
        row = TABLE
        if lines[k] > 0:
            row = OTHER
        total += (row * lines[k]).sum()
    none = None
    if x[0] > 0:
        none = OTHER
    elif x[2] > 0:
        none = TABLE
    return table * 2, wide[:3] + x, mine + 1, total, x + 0 if none is None else none


def stored(x: Any) -> Any:
    table = TABLE if x[0] > 0 else OTHER
    table[0] = 1
    return table


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_choices_between_captured_arrays(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were refused as things of different types (`branching.join`); what is stored into them would be lost."""
    on_target(target, monkeypatch)
    for x in (np.array([1.0, 0, 1]), np.array([0.0, 1, 0]), np.array([-0.0, 2, 1])):
        alike(chosen, x, np.array([1.0, -1, 0, 2]), target=target)
    compiled = transkern.compile(stored, target=target)
    for x in (np.ones(3), -np.ones(3)):
        before = TABLE.copy(), OTHER.copy()
        wanted = stored(x).copy(), TABLE.copy(), OTHER.copy()
        TABLE[...], OTHER[...] = before
        np.testing.assert_equal((compiled(x), TABLE, OTHER), wanted)
        TABLE[...], OTHER[...] = before


def extremes(x: Any, p: Any) -> Any:
    kept = []
    for v in x:
        if v > 1:
            kept.append(v)
    total = 0.0
    for i in range(len(x)):
        total += max([v * 2 for v in x[:i]], default=0.5)
    best = max((float(v) for v in x if v > 3), default=-1.0)
    whole = min(range(len(p)), default=9), max(p, default=2)
    return max(kept, default=0.0), min(kept, default=-0.0), best, total, whole


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_extremes_of_what_may_be_empty(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for x in (np.array([0.0, 5, 2]), np.array([-0.0, 0, -2]), np.array([np.nan, 5, np.nan])):
        alike(extremes, x, np.array([3, 4]), target=target)


LARGE = np.array([[2**62, 2**62], [2**62, 1]])
ROUNDED = np.array([[2**24, 3], [1, 0.5]], np.float32)
SMALL = np.array([[100, 100], [100, 27]], np.int8)


def test_sums_into_another_type() -> None:
    """NumPy adds up in the type of `out` (`methods._dtype_of_sums`): integers wrapped, and float32 rounded."""
    for x, types in ((LARGE, (float, np.float32, np.int8)), (ROUNDED, (float,)), (SMALL, (float, np.int16))):
        for line in (
            "np.sum(x, axis=0, out=o)", "x.prod(axis=0, out=o)", "np.add.reduce(x, axis=0, out=o)",
            "np.cumsum(x[0], out=o)", "np.multiply.accumulate(x[0], out=o)", "np.nansum(x, axis=0, out=o)",
            "x.max(axis=0, out=o)", "np.sum(x, axis=0, dtype=np.int32, out=o)",
        ):  # fmt: skip
            for dtype in types[:2] if "max" in line else types:
                like_numpy(line, x=x, o=np.zeros(2, dtype))


def test_means_into_another_type() -> None:
    """NumPy rounds a part of the work to it."""
    for line in ("np.mean(x, axis=0, out=o)", "x.std(axis=0, out=o)", "np.ptp(x, axis=0, out=o)"):
        like_numpy(line, x=LARGE + 0.5, o=np.zeros(2))
        with pytest.raises(CompileError, match="with `out=` of int8"):
            like_numpy(line, x=LARGE, o=np.zeros(2, np.int8))


def test_stores_that_nobody_sees() -> None:
    """They may raise all the same (`Assignments.own`)."""
    x, k = np.arange(3, dtype=np.uint8), -1
    for line in ("x[::-1].flatten()[0] = k", "(x + 1)[7] = 2", "(x + 1)[7] += 2", "(x * 2)[:2] = x",
                 "(x + x)[x > 5] = k", "x.copy()[0] += 300"):  # fmt: skip
        like_numpy(line, x=x, k=k)


def test_progressions_from_minus_zero() -> None:
    """NumPy stores the first element as it is (`progressions._by_difference`)."""
    for zero in (-0.0, 0.0):
        for line in ("a = np.arange(s, 3, 0.7)", "a = np.arange(s, -2, -0.5)", "a = np.arange(-0.0, 1, 0.5)",
                     "a = np.arange(s, 1, 0.25, dtype=np.float32)", "a = np.linspace(s, 1, 3)"):  # fmt: skip
            like_numpy(f"{line}; x[:2] = a[:2]", x=np.ones(2), s=zero)


def beyond(y: Any, z: Any) -> Any:
    return y > 1e300, y + 1e300, np.where(y > 0, y, -1e300), z + 1e5, z > 7e4, np.maximum(z, -1e6)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_numbers_that_a_type_does_not_hold(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are infinities (`clike.Writer.constant`); the C compiler found no `inf`."""
    on_target(target, monkeypatch)
    y = np.array([1, np.inf, -np.inf, np.nan])
    alike(beyond, y.astype(np.float32), y.astype(np.float16), target=target)


def summed_while_changed(x: Any) -> None:
    for i in range(2):
        x[len(x) // 2] -= np.sum(x) if i < 2 else np.uint64(x[len(x) // 2])


def test_an_element_that_a_sum_reads_meanwhile() -> None:
    """`promote_elements`: another access of the loop, where no iteration comes by, was asked for all."""
    alike(summed_while_changed, np.arange(7, dtype=np.uint32))

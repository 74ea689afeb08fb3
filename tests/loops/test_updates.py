"""Loops that change elements which data choose: in any order where the answer is the same, else in NumPy's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.fuse.devices.sorting import FROM
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.emit import emit

LONG, SHORT = FROM + 300, 37


def counted(x: Any, w: Any, into: Any) -> Any:
    return np.bincount(x, minlength=len(into)), np.bincount(x, weights=w, minlength=len(into))


def added_at(x: Any, w: Any, into: Any) -> Any:
    np.add.at(into, x, w)
    return into


def extremes_at(x: Any, w: Any, into: Any) -> Any:
    low, high = into.copy(), into.copy()
    np.minimum.at(low, x, w)
    np.maximum.at(high, x, w)
    return low, high


def multiplied(x: Any, w: Any, into: Any) -> Any:
    for k in range(len(x)):
        into[x[k]] = (1 + w[k] / 64) * into[x[k]]
    return into


def taken_away(x: Any, w: Any, into: Any) -> Any:
    for k in range(len(x)):
        into[x[k]] = w[k] - into[x[k]]
    return into


def two_places(x: Any, w: Any, into: Any) -> Any:
    table = np.zeros((len(into), 3), into.dtype)
    for k in range(len(x)):
        table[x[k], k % 3] += w[k]
    return table


def of_integers(x: Any, n: int) -> Any:
    sums, bits, less = np.zeros(n, np.int32), np.full(n, 255), np.zeros(n, np.int32)
    narrow = np.zeros(n, np.int8)
    for k in range(len(x)):
        sums[x[k]] += np.int32(2000000000)
        bits[x[k]] ^= k
        less[x[k]] -= np.int32(-2147483648)
        narrow[x[k]] += np.int8(7)
    return sums, bits, less, narrow


def where_asked(x: Any, w: Any, n: int) -> Any:
    found = np.zeros(n, np.int64)
    largest = np.full(n, -(2**63))
    for k in range(len(x)):
        if w[k] > 0:
            found[x[k]] += 1
            largest[x[k]] = max(largest[x[k]], k)
    return found, largest


def of_rows(x: Any, n: int) -> Any:
    """A histogram of each row: memory that threads share; and of short rows: memory of one thread."""
    counts, most = np.zeros((len(x), 8), np.int64), np.zeros(len(x), np.int64)
    for i in range(len(x)):
        h = np.zeros(8, np.int64)
        for k in range(x.shape[1]):
            h[x[i, k]] += n
        counts[i] = h * 2
    for i in range(len(x)):
        h = np.zeros(4, np.int64)
        for k in range(6):
            h[x[i, k] & 3] += k
        most[i] = h.max()
    return counts, most


def reads_what_it_changes(x: Any, w: Any, into: Any) -> Any:
    """In order: an iteration reads what another one has changed."""
    for k in range(len(x)):
        into[x[k]] += w[k] * into[0]
    return into


def in_a_loop(x: Any, w: Any, into: Any) -> Any:
    for _ in range(3):
        into = np.bincount(x, weights=w * into[x], minlength=len(into)) / 3
    return into


FLOATS = (counted, added_at, extremes_at, multiplied, taken_away, two_places, reads_what_it_changes, in_a_loop)


def _arguments(count: int, bins: int, dtype: type = np.float64) -> tuple[Any, ...]:
    rng = np.random.default_rng(count + bins)
    w = rng.standard_normal(count).astype(dtype)
    if count > 9:
        w[3:9] = np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324
    return rng.integers(0, bins, count), w, rng.standard_normal(bins).astype(dtype)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", FLOATS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_are_combined_in_numpys_order(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = transkern.compile(function, target=on_target(target, monkeypatch))
    sizes = (_arguments(LONG, 5), _arguments(LONG, 3 * LONG), _arguments(SHORT, 4), _arguments(LONG, 600, np.float32))
    for given in sizes:
        if function is counted and given[1].dtype != np.float64:
            continue
        wanted = function(*(a.copy() for a in given))
        found = made(*(a.copy() for a in given))
        for one, two in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, wanted)), strict=True):
            np.testing.assert_array_equal(one, two)
            if one.dtype.kind == "f":
                signs = [np.signbit(v[~np.isnan(v)]) for v in (one, two)]
                np.testing.assert_array_equal(*signs, err_msg="zeros have signs")


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_integers_are_combined_at_once(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for count, bins in ((LONG, 5), (SHORT, 4), (1, 1), (0, 3)):
        x, w, _ = _arguments(count, bins)
        for function, given in ((of_integers, (x, bins)), (where_asked, (x, w, bins))):
            for one, two in zip(transkern.compile(function, target=target)(*given), function(*given), strict=True):
                assert one.dtype == two.dtype
                np.testing.assert_array_equal(one, two)


def test_each_row_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).integers(0, 8, (9, 70))
    made = transkern.compile(of_rows, target=on_target("cuda", monkeypatch))
    for found, wanted in zip(made(x, 3), of_rows(x, 3), strict=True):
        np.testing.assert_array_equal(found, wanted)
    source = Path(__file__).read_text(encoding="utf-8")
    text, _ = emit(program_of(source, "of_rows", "of_rows(int64[n, m], int)", passes_for("cuda")))
    assert "atomicAdd((unsigned long long *)&h[" in text
    assert "long long h_1[4];" in text and "&h_1[" not in text, "a thread's own memory knows no atomic operations"


def test_what_is_read_back_stays_in_order() -> None:
    source = Path(__file__).read_text(encoding="utf-8")

    def text(function: Any) -> str:
        name = function.__name__
        return emit(program_of(source, name, f"{name}(int64[n], float64[n], float64[m])", passes_for("cuda")))[0]

    assert "atomicAdd((unsigned long long *)&" in text(counted)
    assert "places" in text(added_at) and "places" not in text(reads_what_it_changes)


def test_values_of_a_few_bits_are_counted_without_a_search() -> None:
    """How many places there are is asked of the values only where their type does not tell."""

    def counted(x, least):
        return np.bincount(x, minlength=256), np.bincount(x, minlength=least)

    compiled = transkern.compile(counted, target="cpu")
    for dtype, values in ((np.uint8, 256), (bool, 2), (np.uint16, 3000), (np.int8, 90), (np.uint32, 70)):
        for size in (50, 0):
            x = np.random.default_rng(0).integers(0, values, size).astype(dtype)
            for least in (0, 256, 300):
                for mine, theirs in zip(compiled(x, least), counted(x, least), strict=True):
                    np.testing.assert_array_equal(mine, theirs, strict=True)
    with pytest.raises(ValueError, match="no negative elements"):
        compiled(np.array([3, -1], np.int8), 0)

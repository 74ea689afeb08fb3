"""What is known of all elements of an array: checks of subscripts that were made already are not made again, however
they were spelled, and all others are."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

KNOWN: list[Callable[..., Any]] = []
OPEN: list[Callable[..., Any]] = []


def known(function: Callable[..., Any]) -> Callable[..., Any]:
    KNOWN.append(function)
    return function


def still_open(function: Callable[..., Any]) -> Callable[..., Any]:
    OPEN.append(function)
    return function


# ---- checked before


@known
def ends(h: Any, k: Any) -> Any:
    if k.min() < 0 or k.max() >= len(h):
        raise ValueError("bad")
    return h[k]


@known
def anywhere(h: Any, k: Any) -> Any:
    if np.any(k < 0) or np.any(k >= h.shape[0]):
        raise ValueError("bad")
    return h[k] * 2


@known
def all_between(h: Any, k: Any) -> Any:
    if not np.all((k >= 0) & (k < h.size)):
        raise ValueError("bad")
    return h[k]


@known
def one_mask(h: Any, k: Any) -> Any:
    if ((k < 0) | (h.size <= k)).any():
        raise ValueError("bad")
    np.add.at(h, k, 1.0)
    return h


@known
def asserted(h: Any, k: Any) -> Any:
    if not ((k >= 0).all() and (k < len(h)).all()):
        raise ValueError("bad")
    out = np.empty(len(k))
    for i in range(len(k)):
        out[i] = h[k[i]]
    return out


@known
def by_a_loop(h: Any, k: Any) -> Any:
    for i in range(len(k)):
        if k[i] < 0 or k[i] >= len(h):
            raise ValueError("bad")
    return h[k]


@known
def two_checks(h: Any, k: Any) -> Any:
    low, high = k.min(), k.max()
    if low < 0:
        raise ValueError("low")
    if high > h.shape[0] - 1:
        raise ValueError("high")
    s = 0.0
    for j in k:
        s += h[j]
    return s


@known
def negative_too(h: Any, k: Any) -> Any:
    if k.min() < -len(h) or k.max() >= len(h):
        raise ValueError("bad")
    return h[k]


@known
def some_of_them(h: Any, k: Any) -> Any:
    if k.min() < 0 or k.max() >= len(h):
        raise ValueError("bad")
    s = 0.0
    for i in range(len(k) // 2, len(k)):
        s = s * 0.5 + h[k[i]]
    return s


@known
def bins(h: Any, k: Any) -> Any:
    at = np.clip(((h - 3) * 2).astype(int), 0, 15)
    c = np.zeros(16)
    for i in range(len(at)):
        c[at[i]] += h[i]
    return c


@known
def clamped(h: Any, k: Any) -> Any:
    at = np.floor(h).astype(np.int64)
    at[at < 0] = 0
    at[at > 9] = 9
    c = np.zeros(10)
    np.add.at(c, at, 1)
    return c


@known
def kept(h: Any, k: Any) -> Any:
    ok = (k >= 0) & (k < 10)
    c = np.zeros(10)
    np.add.at(c, k[ok], 1)
    return c


@known
def remainders(h: Any, k: Any) -> Any:
    at = k % 7
    c = np.zeros(7)
    for i in range(len(at)):
        c[at[i]] += 1
    return c


@known
def counted(h: Any, k: Any) -> Any:
    return np.bincount(np.abs(k) % 50), np.bincount(k[k >= 0], minlength=3)


@known
def counted_as_a_line(h: Any, k: Any) -> Any:
    image = np.abs(np.stack((k, k))) % 60
    found = np.bincount(image.ravel(), minlength=60)
    return np.cumsum(found)[image]


# ---- not checked, or not for all, or not any more


@still_open
def half_of_them(h: Any, k: Any) -> Any:
    half = k[: len(k) // 2]
    if half.size and (half.min() < 0 or half.max() >= len(h)):
        raise ValueError("bad")
    return h[k]


@still_open
def changed_since(h: Any, k: Any) -> Any:
    if k.min() < 0 or k.max() >= len(h):
        raise ValueError("bad")
    k[-1] = 1000
    return h[k]


@still_open
def of_the_last_row(h: Any, k: Any) -> Any:
    rows = np.stack((k, np.abs(k) % 2))
    most = 0
    for i in range(2):
        most = rows[i].max()
    if most >= len(h) or rows.min() < -len(h):
        raise ValueError("bad")
    s = 0.0
    for i in range(2):
        for j in range(len(k)):
            s += h[rows[i, j]]
    return s


@still_open
def perhaps(h: Any, k: Any) -> Any:
    if h[0] > 0:
        if k.min() < 0 or k.max() >= len(h):
            raise ValueError("bad")
    return h[k]


@still_open
def until_it_ended(h: Any, k: Any) -> Any:
    for i in range(len(k)):
        if i == 2:
            break
        if k[i] < 0 or k[i] >= len(h):
            raise ValueError("bad")
    return h[k]


@still_open
def one_too_many(h: Any, k: Any) -> Any:
    if k.min() < 0 or k.max() > len(h):
        raise ValueError("bad")
    return h[k]


@still_open
def one_is_enough(h: Any, k: Any) -> Any:
    if not np.any((k >= 0) & (k < len(h))):
        raise ValueError("bad")
    return h[k]


@still_open
def clamped_beyond(h: Any, k: Any) -> Any:
    at = k.copy()
    at[at < 0] = 0
    at[at > 9] = -20
    c = np.zeros(10)
    np.add.at(c, at, 1)
    return c


@still_open
def clamped_twice(h: Any, k: Any) -> Any:
    at = k.copy()
    at[at > 9] = -20
    at[at < -20] = 0
    c = np.zeros(10)
    np.add.at(c, at, 1)
    return c


@still_open
def mask_of_before(h: Any, k: Any) -> Any:
    ok = (k >= 0) & (k < 10)
    at = k + 8
    c = np.zeros(10)
    np.add.at(c, at[ok], 1)
    return c


@still_open
def mask_of_others(h: Any, k: Any) -> Any:
    ok = (k >= 0) & (k < 10)
    c = np.zeros(10)
    for i in range(len(k) - 1):
        if ok[i]:
            c[k[i + 1]] += 1
    return c


@still_open
def new_memory(h: Any, k: Any) -> Any:
    at = np.zeros(len(k), np.int64)
    s = 0.0
    for _ in range(3):
        s += h[at].sum()
        at = np.empty(len(k), np.int64)
        at[:] = k
    return s


@still_open
def changed_in_the_loop(h: Any, k: Any) -> Any:
    if k.min() < 0 or k.max() >= len(h):
        raise ValueError("bad")
    s = 0.0
    for i in range(len(k)):
        s += h[k[i]]
        if i + 1 < len(k):
            k[i + 1] += i
    return s


@still_open
def wrapped(h: Any, k: Any) -> Any:
    at = k.astype(np.int8)
    if at.min() < 0 or at.max() >= len(h):
        raise ValueError("bad")
    return h[k]


@still_open
def either_of_them(h: Any, k: Any) -> Any:
    if k.min() < 0 and k.max() >= len(h):
        raise ValueError("bad")
    return h[k]


@still_open
def of_itself(h: Any, k: Any) -> Any:
    for i in range(len(k)):
        k[i] = k[abs(k[i]) % len(k)]
    at = k % 10
    at[:] = at[at % len(at)]
    k[at % len(k)] = at[k % len(k)]
    return h[at[at % len(at)]]


GIVEN = [
    [0, 1, 2], [2, 2, 2, 0], [0], [4, 3, 9, 5], [9, 0, 3, 0], [10, 0, 1], [0, 1, 2, 3, 40], [-1, 3, 4], [0, 1, -11],
    [-10, 9, 0], [300, 256, 257], [1, 1, 1, 1, 1, 1, 1, 1, 1], [2**63 - 1, 0], [-(2**63), 2], [0, 0, -20],
    [0, 5, -21, 12],
]  # fmt: skip


def _same(function: Callable[..., Any], target: str) -> None:
    compiled = transkern.compile(function, target=target)
    for row in GIVEN:
        for first in (-1.0, 1.5):
            for dtype in (np.int64, np.int32) if target == "cpu" else (np.int64,):
                if not np.iinfo(dtype).min <= min(row) <= max(row) <= np.iinfo(dtype).max:
                    continue
                if function is counted and max(row) > 10**6:
                    continue  # memory
                given = [np.arange(10.0) + first, np.array(row, dtype)]
                with np.errstate(all="ignore"):
                    wanted = call(function, copy.deepcopy(given))
                found = call(compiled, copy.deepcopy(given), transkern.TranskernError)
                assert not difference(found, wanted, afterwards=target == "cpu"), (row, first, dtype)


@pytest.mark.parametrize("function", KNOWN, ids=lambda f: f.__name__)
def test_what_was_checked_is_not_checked_again(function: Callable[..., Any]) -> None:
    name = function.__name__
    source = inspect.getsource(function).split("\n", 1)[1].replace(": Any", "").replace(" -> Any", "")
    text = "import numpy as np\n" + source
    program = program_of(text, name, f"{name}(float64[n], int64[m])", PASSES)
    inside = list(walk(program.body))
    assert not [s for s in inside if isinstance(s, n.Guard) and s.error == "IndexError"]
    assert not [s for s in inside if isinstance(s, n.Accumulate) and s.op == "first"]
    _same(function, "cpu")


@pytest.mark.parametrize("function", OPEN, ids=lambda f: f.__name__)
def test_what_was_not_checked_is(function: Callable[..., Any]) -> None:
    _same(function, "cpu")


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [ends, asserted, clamped, kept, half_of_them, changed_since, mask_of_others],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_devices(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _same(function, on_target(target, monkeypatch))

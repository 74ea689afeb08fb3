"""Stable orders, which the CPU makes of NumPy's sorts that are not stable (`ir/library.stable_order`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.ir.library import stable_order

require("cc")

RNG = np.random.default_rng(3)
NORMAL = RNG.standard_normal(3000)
SPECIAL = np.round(NORMAL, 1)
SPECIAL[::7], SPECIAL[1::9], SPECIAL[2::31], SPECIAL[5::100] = np.nan, -0.0, np.inf, -np.nan
SPECIAL[-300:-100] = RNG.permuted([0.0, -0.0] * 100)
WIDE = RNG.integers(-(2**63), 2**63 - 1, 3000)
DATA: dict[str, Any] = {
    "floats": NORMAL,
    "equal ones": np.round(NORMAL, 2),
    "special ones": SPECIAL,
    "all NaN but one": np.where(np.arange(2000) == 999, 1.0, np.where(np.arange(2000) % 2, np.nan, -np.nan)),
    "of 32 bits": SPECIAL.astype(np.float32),
    "halves": SPECIAL.astype(np.float16),
    "wide integers": WIDE,
    "the ends of 64 bits": np.where(WIDE % 3 == 0, -(2**63), np.where(WIDE % 3 == 1, 2**63 - 1, WIDE)),
    "few integers": WIDE % 50 - 20,
    "integers that have room": WIDE >> 13,
    "one bit too many": WIDE >> 11,
    "unsigned": WIDE.view(np.uint64) // 7 * 7,
    "unsigned, of 32 bits": (WIDE & 0xFFFFFFFF).astype(np.uint32),
    "bytes": (WIDE % 100).astype(np.int8),
    "truths": NORMAL > 0,
    "every other one": np.round(NORMAL, 2)[::-2],
    "in order": np.sort(NORMAL),
    "backwards": np.sort(NORMAL)[::-1],
    "runs": np.concatenate([np.sort(NORMAL[k : k + 100]) for k in range(0, 3000, 100)]),
    "few": np.round(NORMAL[:40], 1),
    "none": NORMAL[:0],
}


def order(x):
    return np.argsort(x, kind="stable")


def by_method(x):
    return x[x.argsort(kind="mergesort")], np.argsort(x, stable=True)[::-1]


def of_rows(x):
    y = np.stack((x, x[::-1]))
    return y.argsort(axis=1, kind="stable"), y.argsort(axis=0, kind="stable")


def by_keys(x):
    return np.lexsort((x[::-1], x % x.dtype.type(3), np.abs(x))), np.lexsort((x, np.zeros_like(x)))


def groups(x):
    return np.unique(x, return_inverse=True, return_counts=True)


@pytest.mark.parametrize("function", [order, by_method, of_rows, by_keys, groups])
def test_orders(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    for name, data in DATA.items():
        if function is by_keys and data.dtype.kind == "b":
            continue
        with np.errstate(all="ignore"):
            found, wanted = compiled(data), function(data)
        for f, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
            assert f.dtype == w.dtype and f.tobytes() == w.tobytes(), name


def test_only_stable_ones() -> None:
    assert stable_order("argsort", 0, "stable") and stable_order("lexsort")
    assert not stable_order("argsort", 0, "quicksort") and not stable_order("sort", -1, "stable")

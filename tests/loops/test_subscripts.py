"""Subscripts are checked once each, before what they are asked for, and the errors are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def table(x: Any, r: Any, c: Any) -> Any:
    return x[r[:, None], c]


def crossed(x: Any, r: Any, c: Any) -> Any:
    return x[np.ix_(r, c)] + x[c[None, :], r[:, None]]


def in_three(x: Any, r: Any, c: Any) -> Any:
    cube = np.stack([x, -x, x + 1])
    return cube[c[None, :, None] % 3, r[:, None, None], c]


def corners(x: Any, r: Any, c: Any) -> Any:
    s = np.minimum(r + 1, len(x) - 1)
    t = np.minimum(c + 1, x.shape[1] - 1)
    top = x[r[:, None], c] * 0.5 + x[r[:, None], t] * 0.5
    bottom = x[s[:, None], c] * 0.5 + x[s[:, None], t] * 0.5
    return top + bottom


def stored(x: Any, r: Any, c: Any) -> Any:
    x[r[:, None], c] = 7
    x[c[0], r] += 1
    return x


def one_number(x: Any, r: Any, c: Any) -> Any:
    return x[r[:1], c], x[r[:, None], c[:1] - 1]


FUNCTIONS = (table, crossed, in_three, corners, stored, one_number)
PLACES = {
    "inside": ([0, 3, -1, 2], [1, -5, 4]),
    "the last row": ([0, 1, 4], [0, 1]),
    "a column": ([0, 1], [0, 7, 9]),
    "both": ([9, 1], [8, 0]),
    "far below": ([0, -9], [-8, 0]),
    "one": ([3], [4]),
    "no rows": ([], [1, 2]),
    "no rows, a bad column": ([], [1, 70]),
    "no columns, a bad row": ([5, 70], []),
    "nothing": ([], []),
}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_errors_are_numpys(function: Callable[..., Any], places: str) -> None:
    r, c = (np.array(p, np.int64) for p in PLACES[places])
    alike(function, np.arange(20.0).reshape(4, 5), r, c)
    alike(function, np.arange(0.0).reshape(0, 5), r.astype(np.int32), c)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("places", ["inside", "both", "no rows, a bad column"])
def test_on_devices_too(places: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    r, c = (np.array(p, np.int32) for p in PLACES[places])
    alike(corners, np.arange(20.0).reshape(4, 5), r, c, target=on_target(target, monkeypatch))


def test_each_is_asked_once() -> None:
    signature = "table(float64[n,m],int64[p],int64[q])"
    made = pipeline.run(specialise(live_function(table), parse_signature(signature)[1], True))
    asked = [s for s in walk(made.body) if isinstance(s, n.Accumulate) and s.op == "first"]
    kernels = [s for s in walk(made.body) if isinstance(s, n.Kernel)]
    assert len(asked) == 2 and len(kernels) == 3
    assert all("//" not in str(s.value) and "%" not in str(s.value) for s in asked)


def test_checks_do_not_keep_loops_apart() -> None:
    signature = "corners(float64[n,m],int64[p],int64[q])"
    made = pipeline.run(specialise(live_function(corners), parse_signature(signature)[1], True))
    two = {name for name, x in made.buffers.items() if len(x.dims) == 2 and x.role == "temporary"}
    assert not two & {s.buffer for s in walk(made.body) if isinstance(s, n.Alloc)}


def changed_before(x: Any, r: Any, c: Any) -> Any:
    x[0] = 5
    y = x * 2
    z = y[r] + 1
    x[1] = 6
    return z, y[c]


@pytest.mark.parametrize("places", PLACES)
def test_what_is_seen_is_done_before(places: str) -> None:
    r, c = (np.array(p, np.int64) for p in PLACES[places])
    alike(changed_before, np.arange(5.0), r, c)


def of_the_other(x: Any, p: Any) -> Any:
    return x[p % 3], p[: len(x)].sum()


def test_nothing_has_no_places() -> None:
    """Where each place is outside, the check asks none of them, but its message names the first (fuzz, 100501754)."""
    for size, count in ((0, 4), (0, 0), (2, 4), (3, 4)):
        alike(of_the_other, np.arange(float(size)), np.arange(count, dtype=np.uint8))
        alike(lambda x, p: x[p % len(x)], np.arange(float(size)), np.arange(1, count + 1, dtype=np.uint8))

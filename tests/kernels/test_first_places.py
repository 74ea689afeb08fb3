"""Loops that look for the first or the last place beside their work, shared by threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call
from tests.tools import require
from transkern.targets.cpu.printing import waking

require("cc")


def picked(z: Any, y: Any) -> Any:
    """The rows' softmax at given places: the first place outside is told behind the loop that computes."""
    z = z - z.max(1, keepdims=True)
    e = np.exp(z)
    p = e / e.sum(1, keepdims=True)
    return p[np.arange(len(y)), y]


def less_one(z: Any, y: Any) -> Any:
    g = np.sqrt(np.abs(z)).cumsum(1)
    g[np.arange(len(y)), y] -= 1
    return g


def first_row(z: Any, y: Any) -> Any:
    found = -1
    for k in range(len(z)):
        if found < 0 and z[k].sum() > y[k]:
            found = k
    return found


def last_row(z: Any, y: Any) -> Any:
    found = -1
    for k in range(len(z)):
        if z[k].max() > y[k]:
            found = k
    return found


def nearly_alike(function: Any, *arguments: Any) -> None:
    found, wanted = (call(f, [a.copy() for a in arguments]) for f in (transkern.compile(function), function))
    assert repr(found.error) == repr(wanted.error)
    if wanted.error is None:
        np.testing.assert_allclose(found.result, wanted.result, rtol=1e-13)


@pytest.mark.parametrize("function", [picked, less_one, first_row, last_row])
def test_threads_find_the_first(function: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "ALWAYS", True)
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(3)
    for n in (0, 1, 7, 300):
        z, y = rng.standard_normal((n, 5)), rng.integers(-5, 5, n)
        nearly_alike(function, z, y)
        for outside in ((n // 3, 2 * n // 3), (n - 1,), (0,)) if n else ():
            beyond = y.copy()
            beyond[list(outside)] = [9, -8][: len(outside)]
            nearly_alike(function, z, beyond)


def test_rows_are_shared_and_not_their_elements() -> None:
    """The check of places was in the loop over the rows, which kept it for one thread: each row asked for threads."""
    text = transkern.compile(picked, target="cpu").emit(types="picked(float64[n,40],int64[n])")
    shared = text[text.index("#pragma omp parallel for") :]
    rows = shared[: shared.index("py_paid")]
    assert "i < n" in rows and "j < 40" in rows
    assert "parallel" not in rows.partition("\n")[2]

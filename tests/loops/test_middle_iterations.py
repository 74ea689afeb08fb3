"""The one iteration that others meet has loops, too: they are split as theirs are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.emit import emit

require("c++")


def closed(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def beyond(a):
    for k in range(1, a.shape[0]):
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.5 * a[i, j] + a[i, k - 1] * a[k, j]
    return a


def chosen(a, k):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] -= a[i, k] * a[k, j]
    return a


def numbers(*shape: int) -> Any:
    return np.random.default_rng(1).integers(-3, 9, shape).astype(float)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_rows_and_columns_that_all_meet(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for n in (7, 41):
        alike(closed, numbers(n, n), target=target)  # of which the diagonal is negative in places
    for shape in ((7, 7), (33, 40)):
        alike(beyond, numbers(*shape) / 16, target=target)
        for k in (0, 3, 6, -1):
            alike(chosen, numbers(*shape), k, target=target)


def test_no_thread_goes_over_a_row_alone() -> None:
    source = "def closed(d):\n" + "\n".join(
        (
            "    n = d.shape[0]", "    for k in range(n):", "        for i in range(n):",
            "            for j in range(n):", "                d[i, j] = min(d[i, j], d[i, k] + d[k, j])",
        )
    )  # fmt: skip
    text, _ = emit(program_of(source, "closed", "closed(float64[n, n])", passes_for("cuda")))
    _, _, kernel = text.partition("closed_loop_by(")
    assert "group.rank() == 0" not in kernel and kernel.count("for (") == 12, kernel

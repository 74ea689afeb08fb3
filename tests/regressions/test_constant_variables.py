"""Variables that are one number whatever happens: checks of them do not keep loops in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, source_of
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of


def common(a: Any, b: Any) -> Any:
    out = np.zeros(len(a), np.int32)
    for s in range(len(a)):
        row = np.zeros(b.shape[1] + 1, np.int32)
        for i in range(a.shape[1]):
            prev = 0
            for j in range(b.shape[1]):
                old = row[j + 1]
                if a[s, i] == b[s, j]:
                    row[j + 1] = prev + 1
                else:
                    row[j + 1] = max(row[j], old)
                prev = old
        out[s] = row[-1]
    return out


def zeros_of_either_sign(a: Any, b: Any) -> Any:
    z = 0.0
    for i in range(len(a)):
        if a[i, 0] == b[i, 0]:
            z = -0.0
    return np.copysign(1.0, z), z


def narrow(a: Any, b: Any) -> Any:
    """The constant does not fit."""
    out = np.zeros(len(a), np.int8)
    for i in range(len(a)):
        v = 127
        for j in range(a.shape[1]):
            if a[i, j] == b[i, j]:
                out[i] = v + 1
            v = out[i]
    return out


@pytest.mark.parametrize("target", ("cpu", "cuda", "pallas"))
@pytest.mark.parametrize("f", (common, zeros_of_either_sign, narrow))
def test_they_are_that_number(f: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    compiled = transkern.compile(f, target=on_target(target, monkeypatch))
    for high in (2, 5, 10**6):
        a, b = random.integers(0, high, (4, 7)), random.integers(0, high, (4, 7))
        try:
            wanted = f(a, b)
        except OverflowError as error:
            with pytest.raises(OverflowError, match=str(error)):
                compiled(a, b)
            continue
        assert repr(compiled(a, b)) == repr(wanted)


def test_the_loop_over_problems_is_parallel() -> None:
    text = source_of(common).replace(": Any", "").replace(" -> Any", "")
    program = program_of(text, "common", "common(int64[b,n],int64[b,m])", passes_for("cuda"))
    (kernel,) = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    assert kernel.placement == "grid" and not any(isinstance(s, n.Guard) for s in walk(kernel.body))

"""Kernels of numerical practice in the CUDA text (simulated) and through Pallas (interpreted), at one small size."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from benchmarks.loops.kernels import KERNELS
from tests.kernels.support import difference, outcome
from tests.tools import on_target

SIZE = 5
TOLERANCE = 1e-11

ACCUMULATE = "no kernel computes it"

REFUSED = {
    ("cuda", "levenshtein", "slices"): ACCUMULATE,
    ("cuda", "lcs", "slices"): ACCUMULATE,
}
"""What is not compiled for a target, and what it says; where one of these works at last, it goes from the list."""

FORMS = [(name, form) for name, kernel in KERNELS.items() for form in ("loops", "slices") if getattr(kernel, form)]


@functools.cache
def inputs(name: str) -> tuple[Any, ...]:
    return KERNELS[name].inputs(np.random.default_rng(SIZE), SIZE)


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda v: v)
@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_kernel_gives_numpys_values(target: str, name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    function: Callable[..., Any] = getattr(KERNELS[name], form)
    found = outcome(transkern.compile(function, target=target), inputs(name))
    known = REFUSED.get((target, name, form))
    if known is not None and known in str(found.error):
        pytest.xfail(str(found.error))
    assert not difference(found, outcome(function, inputs(name)), TOLERANCE)

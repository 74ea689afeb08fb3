"""Cases of the language that were wrong on a device, or in its simulator, when all of them ran there first.

All cases run with `TRANSKERN_CORPUS=cuda`, `pallas` or `all`; `tests/cuda/test_on_device.py` takes them to a device.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.language.on_other_targets import compare
from tests.language.test_language import CASES, Case
from tests.tools import on_target
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.emit import emit

WRONG = {
    "cuda": (
        "all_none", "as_deep_as_the_array_is_long", "components", "given_generator", "given_state", "in_object",
        "product_of_lists", "raised_again", "rows_in_two_dicts", "two_sum",
    ),
    "pallas": ("gauss_of_lists",),
}  # fmt: skip
FLUSHED = ("d1", "d2", "logged", "complex_nan")
"""On XLA: subnormal numbers are zeros, and sorted complex numbers with NaN have an order of their own."""


def _cases(target: str) -> list[Any]:
    whole = os.environ.get("TRANSKERN_CORPUS") in (target, "all")
    names = {c.function.__name__ for c in CASES} - {*FLUSHED} if whole else {*WRONG[target]}
    chosen = [c for c in CASES if c.function.__name__ in names]
    return [pytest.param(c, target, id=f"{c.function.__name__}-{target}") for c in chosen]


@pytest.mark.parametrize(("case", "target"), [*_cases("cuda"), *_cases("pallas")])
def test_case_is_numpys(case: Case, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compare(case, target, 1e-9)


def test_loads_of_which_one_is_cached_are_not_merged() -> None:
    """NVRTC makes one load of `x[i + m] if … else out[i]`: where `out` is written, `x` must not be `__restrict__`."""
    source = """
import numpy as np

def shifted(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i + len(y) < len(x):
            out[i] = x[i + len(y)]
    return out

def doubled(x, y):
    return x * 2, y + 1
"""
    text, _ = emit(program_of(source, "shifted", "shifted(float64[n], float64[m])", passes_for("cuda")))
    assert "const double *x, double *__restrict__ out" in text
    text, _ = emit(program_of(source, "doubled", "doubled(float64[n], float64[m])", passes_for("cuda")))
    assert "const double *__restrict__ x" in text

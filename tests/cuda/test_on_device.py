"""The language's cases on a CUDA device, where there is one: the simulator runs the same text, but NVRTC and the
hardware have their own mathematics, their own memory model, and their own limits."""

from __future__ import annotations

import pytest

from tests.language.on_other_targets import compare
from tests.language.test_language import CASES, Case
from tests.tools import require

require("device")

ROUNDING = 1e-5
"""How far an inexact result may be off: the device's functions round differently, by a few units in the last place of
float32."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.function.__name__}-cuda")
def test_case_is_numpys(case: Case) -> None:
    compare(case, "cuda", ROUNDING)

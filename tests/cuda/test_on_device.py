"""The language's cases on a CUDA device, where there is one: the simulator runs the same text, but NVRTC and the
hardware have their own mathematics, their own memory model, and their own limits."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import transkern
from tests.language.registry import CASES, Case
from tests.language.test_language import clone, difference
from tests.tools import require

require("device")

ROUNDING = 1e-5
"""How far an inexact result may be off: the device's functions round differently, by a few units in the last place of
float32."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.function.__name__}-cuda")
def test_case_is_numpys(case: Case) -> None:
    wanted_args, got_args = (tuple(clone(a) for a in case.args) for _ in range(2))
    wanted: Any = None
    failed: Exception | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = case.function(*wanted_args)
        except Exception as error:
            failed = error
        try:
            got = transkern.compile(case.function, target="cuda")(*got_args)
        except transkern.CompileError as error:
            pytest.skip(f"refused: {str(error).splitlines()[0]}")
        except Exception as error:
            assert failed is not None, error
            assert (type(error), str(error)) == (type(failed), str(failed))
        else:
            assert failed is None, f"NumPy raises {failed!r}"
            assert not difference(got, wanted, max(case.tolerance, ROUNDING))
    if failed is not None:  # what a call that fails has stored stays on the device
        return
    for g, w in zip(got_args, wanted_args, strict=True):
        assert not difference(g, w, ROUNDING), "an argument differs after the call"

"""A case of the language on another target than the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import transkern
from tests.language.registry import Case
from tests.language.test_language import clone, difference


def compare(case: Case, target: str, rounding: float) -> None:
    """NumPy's result, arguments and errors, inexact numbers within `rounding`; a refusal skips the test."""
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
            got = transkern.compile(case.function, target=target)(*got_args)
        except transkern.CompileError as error:
            pytest.skip(f"refused: {str(error).splitlines()[0]}")
        except Exception as error:
            assert failed is not None, error
            assert (type(error), str(error)) == (type(failed), str(failed))
        else:
            assert failed is None, f"NumPy raises {failed!r}"
            assert not difference(got, wanted, max(case.tolerance, rounding))
    if failed is not None:  # what a call that fails has stored stays on the device
        return
    for g, w in zip(got_args, wanted_args, strict=True):
        assert not difference(g, w, rounding), "an argument differs after the call"

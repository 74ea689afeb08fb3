"""The same on the other targets: what was put into containers goes there with the exception."""

from __future__ import annotations

import copy

import pytest

import transkern
from tests.language import changes_before_errors
from tests.language.registry import CASES, Case
from tests.language.test_language import difference
from tests.tools import on_target, require

require("jax")
import jax  # noqa: E402

MINE = [case for case in CASES if case.function.__module__ == changes_before_errors.__name__]


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("case", MINE, ids=lambda c: c.function.__name__)
def test_on_devices(case: Case, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    wanted, got = copy.deepcopy(case.args), copy.deepcopy(case.args)
    outcomes = []
    with jax.enable_x64(True):
        for function, args in ((case.function, wanted), (transkern.compile(case.function, target=target), got)):
            try:
                function(*args)
                outcomes.append("")
            except transkern.CompileError:  # both compile all of them
                raise
            except Exception as error:
                outcomes.append(f"{type(error).__name__}: {error}")
    assert outcomes[0] == outcomes[1]
    if target == "pallas" and case.function is changes_before_errors.changed_by_a_helper:
        return  # what fails while JAX traces leaves containers as they were
    assert not difference(got, wanted, 1e-6 if target == "pallas" else 0.0)

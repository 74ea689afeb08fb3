"""Random loop nests: what is said to be parallel carries nothing, examples are true, results are Python's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import transkern
from tests.nests.random_nests import random_nest
from tests.nests.recording import conflicts, recorded
from tests.nests.test_analysis import shown
from tests.nests.test_results import THREADS, ran_alike, threads
from transkern.analysis import loops_of

__all__ = ["threads"]

FOUND = (2063, 2114, 2177)
"""Seeds that have shown a mistake once."""


@pytest.mark.parametrize("seed", range(100))
def test_what_is_said_is_so(seed: int) -> None:
    nest = random_nest(seed)
    records = [recorded(nest, k, sizes) for sizes in nest.shapes for k in range(2)]
    for report in loops_of(nest.source, nest.types):
        if report.kind == "parallel":
            for record in records:
                found = next(conflicts(record, report.line), None)
                assert found is None, f"{report}: {found}\n{nest.source}"
        elif report.conflict is not None and report.conflict.sizes is not None:
            of_these = (recorded(nest, k, report.conflict.sizes) for k in range(6))
            assert any(next(shown(nest, record, report), None) for record in of_these), f"{report}\n{nest.source}"


@pytest.mark.parametrize("seed", [*range(12), *FOUND])
def test_result_is_pythons(seed: int, threads: Callable[[int], None]) -> None:
    nest = random_nest(seed)
    compiled = transkern.compile(nest.function, target="cpu")
    for sizes in nest.shapes:
        for count in THREADS:
            threads(count)
            ran_alike(nest, compiled, 0, sizes, False)

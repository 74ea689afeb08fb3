"""A few of the programs that `make changes` runs by thousands."""

from __future__ import annotations

import pytest

from tests.fuzz.changes import source, verdicts


@pytest.mark.parametrize("first", range(1, 61, 20))
def test_changes(first: int) -> None:
    wrong = [told for seed in range(first, first + 20) for verdict, told in verdicts(seed) if verdict == "wrong"]
    assert not wrong, wrong[0]


def test_programs_are_the_same_for_a_seed() -> None:
    assert source(7) == source(7)

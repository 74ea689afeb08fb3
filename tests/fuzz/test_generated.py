"""Generated programs against NumPy on the CPU: a short run; `python -m tests.fuzz.run` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.complex_programs import complex_arguments, generate_complex
from tests.fuzz.run import check


@pytest.mark.parametrize("block", range(8))
def test_generated_programs_give_numpys_answer(block: int, tmp_path: Path) -> None:
    failures, refused = check(range(block * 12, block * 12 + 12), "cpu", tmp_path)
    assert not failures
    assert refused <= 1


@pytest.mark.parametrize("block", range(3))
def test_generated_programs_of_complex_numbers(block: int, tmp_path: Path) -> None:
    seeds = range(block * 10, block * 10 + 10)
    failures, refused = check(seeds, "cpu", tmp_path, generate_complex, complex_arguments)
    assert not failures
    assert refused <= 1

"""Generated iterations of points that end at different times, in all spellings: NumPy's bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.batch import Batch
from tests.nests.diverging import diverging
from tests.tools import on_target

COUNTS = {"cpu": 40, "cuda": 4}


@pytest.mark.parametrize("target", COUNTS)
def test_results_are_numpys(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    reports = Batch(target, tmp_path).run([diverging(seed) for seed in range(40, 40 + COUNTS[target])])
    wrong = [r for r in reports if r.verdict in ("wrong", "broken")]
    assert not wrong, "\n".join(f"seed {r.program.seed}: {r.message}\n{r.program.text()}" for r in wrong)
    assert sum(r.verdict == "right" for r in reports) >= COUNTS[target] // 2

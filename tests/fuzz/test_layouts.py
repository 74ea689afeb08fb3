"""Arrays of every layout and type: a short run; `make layouts` runs more."""

from __future__ import annotations

from tests.fuzz.layouts import verdicts

PROGRAMS = 1000


def test_every_layout_has_numpys_answer() -> None:
    told = list(verdicts(1, PROGRAMS))
    assert not [text for _, verdict, text in told if verdict == "wrong"]
    assert sum(verdict == "right" for _, verdict, _ in told) > len(told) // 4

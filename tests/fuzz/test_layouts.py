"""Arrays of every layout and type: a short run; `make layouts` runs more."""

from __future__ import annotations

from tests.fuzz.layouts import verdict

PROGRAMS = 1000


def test_every_layout_has_numpys_answer() -> None:
    told = [verdict(seed) for seed in range(1, 1 + PROGRAMS)]
    assert not [text for found, text in told if found == "wrong"]
    assert sum(found == "right" for found, _ in told) > len(told) // 4

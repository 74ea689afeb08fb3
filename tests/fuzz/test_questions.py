"""Questions asked of values: a short run; `make questions` asks more."""

from __future__ import annotations

from tests.fuzz.questions import verdicts

PROGRAMS = 400


def test_questions_have_numpys_answer() -> None:
    told = [(verdict, text) for seed in range(1, 1 + PROGRAMS) for verdict, text in verdicts(seed)]
    assert not [text for verdict, text in told if verdict == "wrong"]
    assert sum(verdict == "refused" for verdict, _ in told) < len(told) // 8

"""Spellings of one function: the rules are sound, and what differs by a name alone meets."""

from __future__ import annotations

import random

import numpy as np

from tests.corpus.registry import difference, outcome
from tests.fuzz.meeting import Subject, compared, loaded, spelling
from transkern.fuse.passes import PASSES

MODULE = '''
import numpy as np

def f(x, y):
    n = len(x)
    total = 0.0
    scaled = np.add(x ** 2, y) * 2.0
    for i in range(n):
        if scaled[i] > y[i] and x[i] > 0:
            total += scaled[i]
        else:
            total -= y[i]
    best = np.where(scaled > y, scaled, y)
    return total, best.sum(), scaled
'''
SUBJECT = Subject("here", MODULE, "f", (np.linspace(-1, 1, 17), np.linspace(0, 2, 17)))


def test_spellings_give_the_same() -> None:
    seen = set()
    for seed in range(60):
        text, rules = spelling(SUBJECT, random.Random(seed), 2)
        seen |= set(rules)
        wanted = outcome(loaded(MODULE, "f"), SUBJECT.arguments)
        found = outcome(loaded(text, "f"), SUBJECT.arguments)
        assert not found.error and not difference(found.result, wanted.result), text
    assert len(seen) > 12


def test_verdicts() -> None:
    """Some spellings meet; what does not is shown with its text."""
    pairs = [compared(SUBJECT, seed, PASSES) for seed in range(6)]
    assert {p.verdict for p in pairs} <= {"met", "apart"}
    assert any(p.verdict == "met" for p in pairs)
    assert all(p.text and p.told for p in pairs if p.verdict == "apart")

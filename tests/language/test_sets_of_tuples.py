"""Sets of tuples that stand outside of a function: what is in them, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

PAIRS = {("A", "G"), ("G", "A"), ("C", "T"), ("T", "C")}
WALLS = frozenset({(1, 2), (3, 4), (0, 0), (-1, 2)})
MIXED = {(1, "a", 2.5), (2, "b", 0.5)}


def changes(s: list[int], t: list[int]) -> Any:
    letters = "ACGT"
    found = 0
    for a, b in zip(s, t, strict=False):
        if (letters[a], letters[b]) in PAIRS:
            found += 1
        elif a != b:
            found -= 10
    return found


def free(n: int, m: int) -> Any:
    count = 0
    for i in range(-1, n):
        for j in range(m):
            if (i, j) not in WALLS:
                count += i * 10 + j
    return count, len(WALLS)


def in_order() -> Any:
    total = 0
    for a, b in sorted(WALLS):
        total = total * 7 + a * 3 + b
    return total, sorted(PAIRS), (1, 2) in WALLS, max(WALLS), PAIRS | {("x", "y")}


def with_texts(k: int) -> Any:
    return (k, "a", 2.5) in MIXED, (2, "b", k / 4) in MIXED, len(MIXED)


def goes_through() -> Any:
    return [a + b for a, b in PAIRS]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_whether_they_are_in_it(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(changes, [0, 2, 1, 3, 1, 0], [2, 0, 3, 1, 0, 3], target=target)
    alike(free, 5, 6, target=target)


def test_what_is_in_it() -> None:
    alike(in_order)
    for k in (1, 2, 3):
        alike(with_texts, k)


def test_their_order_is_each_processs_own() -> None:
    with pytest.raises(transkern.CompileError, match="another one in each process"):
        transkern.compile(goes_through)()

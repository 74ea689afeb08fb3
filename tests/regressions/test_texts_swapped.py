"""Texts that a loop hands on change places at once: `one, two = two, one` gave one of them to both."""

from __future__ import annotations

from typing import Any

import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def swapped(k: int) -> Any:
    one, two, three = "a", "bc", ""
    for i in range(k):
        one, two, three = two, three if i % 3 else "d", one
    return one, two, three


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_texts_change_places(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for k in (0, 1, 5) if target == "cpu" else (5,):
        alike(swapped, k, target=target)

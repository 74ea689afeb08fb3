"""Dicts that grow by the characters of a text, in the order of these: one table says how texts are ordered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target

TEXT = "mississippi aeon"


def by_key(text: Any) -> Any:
    found: dict[str, int] = {}
    for c in text:
        found[c] = found.get(c, 0) + 1
    return sorted(found.items())


def by_count(text: Any) -> Any:
    found: dict[str, int] = {}
    for c in text:
        if c in found:
            found[c] += 1
        else:
            found[c] = 1
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def twice(text: Any, x: Any) -> Any:
    """Two orders in a loop that is translated again, and a table of another text beside them."""
    last: dict[str, int] = {}
    for k in range(len(x)):
        last[text[k % len(text)]] = k
    firsts = sorted(last.items(), key=lambda pair: pair[0])
    return firsts, sorted(last.items(), key=lambda pair: (pair[0], pair[1]), reverse=True)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [by_key, by_count])
def test_keys_of_characters_in_order(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(function, TEXT, target=target)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_two_orders_of_one_dict(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(twice, TEXT, np.zeros(20), target=target)

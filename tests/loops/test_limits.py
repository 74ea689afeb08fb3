"""Checks of places of a few bits are asked of the array's size: NumPy's elements, and its errors where it is short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def looked_up(x: Any, image: Any, table: Any, gain: Any) -> Any:
    h = table[x & 15] & 7
    k = np.clip(x, 0, 15)
    return gain[h] * 2.0 + x, table[(x + 3) % 16], table[k], table[image]


@pytest.mark.parametrize(("length", "gains"), [(256, 8), (200, 8), (16, 8), (15, 8), (256, 7), (0, 8)])
def test_look_ups(length: int, gains: int) -> None:
    x = np.arange(-60, 60)
    image = np.arange(120).astype(np.uint8)
    table, gain = np.arange(length)[::-1].copy() * 3, np.arange(gains) / 3
    compiled = transkern.compile(looked_up, target="cpu")
    for given in (image, image + np.uint8(100), image[:0]):
        try:
            wanted = looked_up(x, given, table, gain)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                compiled(x, given, table, gain)
            continue
        for mine, theirs in zip(compiled(x, given, table, gain), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    if (length, gains) == (256, 8):
        assert "255 < " in compiled.emit()

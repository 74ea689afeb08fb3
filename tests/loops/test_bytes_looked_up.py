"""Short numbers that short numbers look up go one at a time (`costs.looks_up_bytes`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def indexed(table, image):
    return table[image]


def inverted(table, image):
    return np.uint8(255) - np.take(table, image)


def written_out(table, image):
    out = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = table[image[i, j]]
    return out


@pytest.mark.parametrize("function", [indexed, inverted, written_out])
def test_no_vectors_of_single_elements(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(8)
    for shape in ((7, 70), (0, 3), (3, 1)):
        table, image = rng.integers(0, 256, 256, dtype=np.uint8), rng.integers(0, 256, shape, dtype=np.uint8)
        alike(function, table, image, compiled=compiled)
    text = compiled.emit(types=f"{function.__name__}(uint8[256], uint8[n,m])")
    (loop,) = (part for part in text.split("for (int64_t ") if "table[(int64_t)image[" in part and "_part[" not in part)
    assert '__asm__ volatile("");' in loop


def test_longer_numbers_are_looked_up_in_vectors() -> None:
    text = transkern.compile(indexed, target="cpu").emit(types="indexed(float64[256], uint8[n])")
    assert "__asm__" not in text.split("static PyObject")[0]

"""Numbers that are known while a function is translated are rounded as their types round them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trust.against_python import difference

CAST = (
    "np.array(0.1, dtype='f4').astype(float)",
    "np.full(2, 0.1, dtype='f4').astype(float)",
    "np.full(3, 1e-50, 'f4').astype(bool)",
    "np.full(2, 1e39, 'f4').astype(float)",
    "np.full(2, 0.1 + 0.3j, dtype='c8').astype(complex)",
    "np.array([0.1, 0.2], 'f2').astype('f8')",
    "np.float64(np.float16(0.1)) * 3",
    "float(np.float32(0.346)) + x[0]",
    "np.linspace(0.1, 0.7, 5, dtype='f4').astype(float)",
)


@pytest.mark.parametrize("text", CAST)
def test_casts(text: str) -> None:
    found = difference(text, "x", [np.array([0.3, 0.7])], stage=0)
    assert not found, found


@pytest.mark.parametrize("dtype", ["'f2'", "'f4'", "float"])
def test_the_second_element_of_a_range_is_as_it_is_stored(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        start, step = rng.uniform(-2, 2), rng.uniform(0.05, 0.6)
        for text in (f"np.arange(s, 2, d, dtype={dtype})", f"np.arange({start!r}, 2, {step!r}, dtype={dtype})"):
            found = difference(text, "s, d", [start, step], stage=0)
            assert not found, found

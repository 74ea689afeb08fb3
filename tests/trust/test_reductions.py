"""Reductions of ufuncs with the arguments that few use: several axes, types, first values and masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trust.against_python import difference

X = np.array([[1.0, -2.0, 0.0], [3.0, 0.5, 4.0]])
ARRAYS = (X, X.astype("i4"), np.abs(X).astype("u1"), X > 0, X.astype("f4"))
MASK = np.array([[True, False, True], [True, True, False]])
ARGUMENTS = (
    "", "axis=None", "axis=(0, 1)", "axis=-1, keepdims=True", "axis=0, initial=2", "axis=1, where=m",
    "axis=0, where=m, initial=1", "dtype=float", "dtype=np.int8", "axis=1, dtype='i8'", "axis=()",
)  # fmt: skip
UFUNCS = (
    "add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "bitwise_or", "logical_xor", "bitwise_and",
    "subtract", "gcd", "divide", "fmax",
)  # fmt: skip


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_reductions(ufunc: str) -> None:
    for x in ARRAYS:
        for given in ARGUMENTS:
            text = f"return np.{ufunc}.reduce(x{', ' + given if given else ''})"
            found = difference(text, "x, m", [x, MASK], stage=0)
            assert not found, (x.dtype, found)

"""Reductions of ufuncs with the arguments that few use: several axes, types, first values and masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trust.against_python import difference

X = np.array([[1.0, -2.0, 0.0], [3.0, 0.5, 4.0]])
ARRAYS = (X, X.astype("i4"), np.abs(X).astype("u1"), X > 0, X.astype("f4"))
MASK = np.array([[True, False, True], [True, True, False]])
ARGUMENTS = (
    "",
    "axis=None",
    "axis=(0, 1)",
    "axis=-1, keepdims=True",
    "axis=0, initial=2",
    "axis=1, where=m",
    "axis=0, where=m, initial=1",
    "dtype=float",
    "dtype=np.int8",
    "axis=1, dtype='i8'",
    "axis=()",
)
UFUNCS = (
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "bitwise_or",
    "logical_xor",
    "bitwise_and",
    "subtract",
    "gcd",
    "divide",
    "fmax",
)


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_reductions(ufunc: str) -> None:
    for x in ARRAYS:
        for given in ARGUMENTS:
            text = f"return np.{ufunc}.reduce(x{', ' + given if given else ''})"
            found = difference(text, "x, m", [x, MASK], stage=0)
            assert not found, (x.dtype, found)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "outer", "reduceat"])
@pytest.mark.parametrize("ufunc", ["exp2", "negative", "isnan", "divmod", "modf"])
def test_methods_of_ufuncs_that_have_none(ufunc: str, method: str) -> None:
    if (ufunc, method) != ("divmod", "outer"):
        given = {"outer": "(x, x)", "reduceat": "(x, [0])"}.get(method, "(x)")
        assert not difference(f"return np.{ufunc}.{method}{given}", "x", [X], stage=0)


POSITIONS = (
    "np.argmax(x, keepdims=True)",
    "x.argmin(keepdims=True)",
    "np.argmax(x, axis=1, keepdims=True)",
    "np.argmax(x, axis=(0, 1))",
    "np.nanargmax(x, keepdims=True)",
    "np.argmax(3.0, keepdims=True)",
    "np.mean(x, dtype=int)",
    "x.var(dtype='i4')",
    "np.repeat(x, x > 0)",
    "np.triu(2)",
    "np.linalg.solve(x[:, :2], 0)",
    "np.delete(x, x > 0)",
)


@pytest.mark.parametrize("made", POSITIONS)
def test_what_few_ask_for(made: str) -> None:
    found = difference(f"return {made}", "x", [X], stage=0)
    assert not found, found


CHOICES = ([True, False, True], [True] * 5, [], [False] * 7, [True] * 7, [0, 0, 0, 0, 1, 0])


@pytest.mark.parametrize(
    "made",
    (
        "np.compress(c, v)",
        "np.compress(c, x, 1)",
        "np.compress(c, x, 0)",
        "np.extract(c, v)",
        "np.compress(c, x)",
        "v.compress(c)",
        "np.compress(v[1:] > 1, v)",
    ),
)
def test_conditions_of_other_lengths(made: str) -> None:
    """They were masks, which are as long as what they choose of."""
    for choice in CHOICES:
        found = difference(f"return {made}", "x, v, c", [X, np.arange(5.0), np.array(choice)], stage=0)
        assert not found, (choice, found)

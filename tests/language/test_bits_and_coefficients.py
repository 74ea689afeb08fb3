"""Bits of bytes, quotients of polynomials, and NumPy's questions about types, at their corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.registry import difference, outcome
from tests.regressions.support import alike
from tests.tools import require


def _check(plain: Any, *calls: tuple[Any, ...]) -> None:
    require("cc")
    compiled = transkern.compile(plain, target="cpu")
    for arguments in calls:
        with np.errstate(all="ignore"):
            wanted, found = outcome(plain, arguments), outcome(compiled, arguments)
        assert (type(found.error), str(found.error)) == (type(wanted.error), str(wanted.error)), arguments
        assert not difference(found.result, wanted.result), arguments


def test_bits() -> None:
    def packed(x: Any) -> Any:
        return np.packbits(x), np.packbits(x, 0), np.packbits(x, -1, "little")

    def unpacked(x: Any, n: Any) -> Any:
        return np.unpackbits(x), np.unpackbits(x, axis=-1, count=n), np.unpackbits(x, 0, bitorder="little")

    bits = np.random.default_rng(0).integers(-1, 2, (3, 19))
    _check(packed, (bits,), ((bits > 0)[::-1, ::-2],), (bits[:, :0],))
    packed_bits = np.packbits(bits, axis=0)
    _check(unpacked, *((packed_bits[:, ::-1], n) for n in (13, 400, -999)), (packed_bits[:0], 4), (bits, 4))


def test_order_of_bits() -> None:
    _check(lambda x: np.packbits(x, bitorder="x"), (np.ones(3, int),))
    _check(lambda x: np.unpackbits(x, bitorder="x"), (np.ones(3, np.uint8),))


def test_quotients() -> None:
    def divided(u: Any, v: Any) -> Any:
        return np.polydiv(u, v)

    coefficients = [[1.0, 5.0, 6.0, 0.0, 0.0], [1.0, 2.0], [1.0, -1.0], [0.0, 0.0, 5.0], [np.nan, 1.0], [], [-0.0], [1e-9, 2.0]]
    arrays = [np.array(c) for c in coefficients]
    _check(divided, *((u, v) for u in arrays for v in arrays))
    _check(divided, (np.array([3, 2, 1], np.int8), np.array([2, 1])), (np.array([1j, 2.0, 1.0]), np.array([1.0, 1j])))


def test_series() -> None:
    def values(x: Any, c: Any) -> Any:
        of = np.polynomial
        return (
            of.polynomial.polyval(x, c), of.chebyshev.chebval(x, c), of.legendre.legval(x, c), of.hermite.hermval(x, c),
            of.legendre.leggauss(5), of.hermite.hermgauss(3),
        )  # fmt: skip

    x = np.array([[0.5, -2.0, np.nan], [np.inf, -0.0, 3e150]])
    calls = [(x, np.array(c)) for c in ([1.5], [1.0, -2.0], [0.5, -1.0, 2.0, -0.25, 3.0], [-0.0, -0.0, -0.0], [])]
    _check(values, *calls, (2, np.array([3, 1, 2], np.int8)))


def test_series_of_a_smaller_type() -> None:
    x, c = np.ones(2), np.ones(3, np.float32)
    with pytest.raises(transkern.CompileError, match="smaller type"):
        transkern.compile(lambda x, c: np.polynomial.legendre.legval(x, c), target="cpu")(x, c)


def test_types_and_texts_are_known() -> None:
    def told(x: Any) -> Any:
        kinds = np.isdtype(x.dtype, "integral"), np.isdtype(x.dtype, ("bool", np.float64))
        asked = np.iterable(x), np.iterable([1]), np.iterable(3), np.iterable(None), np.iterable("ab"), np.iterable(x[0])
        return kinds, asked, np.base_repr(-255, 16), np.base_repr(0), np.binary_repr(-5, width=8), np.binary_repr(6)

    _check(told, (np.ones(2),), (np.ones(2, bool),), (np.ones(2, np.int8),))
    _check(lambda x: np.isdtype(x.dtype, "whole"), (np.ones(2),))
    _check(lambda x: x + len(np.binary_repr(5, 2)), (1,))


def test_equal_numbers() -> None:
    def all_of(x: Any) -> Any:
        return np.unique_all(x), np.unique_counts(x).counts, np.unique_inverse(x)

    x = np.array([3.0, 1.0, np.nan, 1.0, -0.0, 0.0, np.nan, np.inf])
    _check(all_of, (x[::-1],), (x[:0],), (x[:1],), (np.array([[3, 1], [1, -3]], np.int8),))


def test_vectors_and_matrices_that_do_not_fit() -> None:
    def both(a: Any, x: Any) -> Any:
        return np.matvec(a, x)

    r = np.random.default_rng(0)
    shapes = [((2, 3, 4), (5, 4)), ((3, 4), (3,)), ((4,), (4,)), ((3, 0), (0,)), ((0, 4), (4,))]
    _check(both, *((r.random(a), r.random(x)) for a, x in shapes))
    _check(lambda x, a: np.vecmat(x, a), (r.random((2, 3)), r.random((5, 2, 3, 4))[:, :, :, 0:0]), (r.random(2), r.random(2)))


def of_bytes(x):
    table = np.zeros(256)
    table[np.frombuffer(b"ACGT", dtype=np.uint8)] = np.arange(4)
    return table[65:85] + x[0], np.frombuffer(b"\x01\x00\x02\x00", np.int16, offset=2) * 2, np.frombuffer(b"abc", np.int8).size


def test_bytes_that_are_known() -> None:
    """They are constants, in each type of numbers."""
    alike(of_bytes, np.ones(2))

"""Exponentials and logarithms of what is likely to be special: vectors of ordinary values, NumPy's results."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import between_closed_pages

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

VALUES = [
    0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-310, 5e-324, 87.0, 87.5, 88.0, 88.72, 88.73, 89.0, 90.0, -87.3, -87.4,
    -103.9, -103.98, -104.0, -105.0, 708.0, 709.7, 709.79, 710.0, 711.0, -708.0, -708.5, -745.1, -745.2, -746.0,
    -747.0, 1e9, -1e9, 1e30, -1e30, 1e308, -1e308, np.inf, -np.inf, np.nan, -np.nan,
]  # fmt: skip


def masked(x: Any, away: Any) -> Any:
    return np.exp(np.where(away, -1e9, x))


def masked_in_place(x: Any, away: Any) -> Any:
    x[away] = -np.inf
    e = np.exp(x - 0.25)
    return e, x


def a_score_at_a_time(x: Any, away: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            score = x[i, j]
            if away[i, j]:
                score = -np.inf
            out[i, j] = np.exp(score)
    return out


def decibels(x: Any, away: Any) -> Any:
    loud = np.maximum(x, 0)
    return np.log10(loud), np.log2(np.where(away, 0.0, x))


def asked_before(x: Any, away: Any) -> Any:
    return np.where(x > 0, np.log(x), -1.0), np.where(x >= 0.0, x * np.log(x), x)


def kept_from_zero(x: Any, away: Any) -> Any:
    ordinary = np.where(x > 0, x, 1)
    return np.where(x > 0, np.log(ordinary), 0)


def a_term_at_a_time(x: Any, away: Any) -> Any:
    out = np.zeros(x.shape[0], x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                out[i] -= x[i, j] * np.log(x[i, j])
    return out


def plain(x: Any, away: Any) -> Any:
    return np.exp(x), np.log(x), np.exp(np.where(away, x, -x))


SPECIAL = (masked, masked_in_place, a_score_at_a_time, decibels, asked_before, kept_from_zero, a_term_at_a_time)


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    precision = np.finfo(wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=8 * precision.eps, atol=8 * precision.smallest_subnormal)
    ends = np.isfinite(wanted) & (np.abs(wanted) >= precision.tiny) | np.isinf(wanted) | (wanted == 0)
    np.testing.assert_array_equal(np.signbit(found)[ends], np.signbit(wanted)[ends])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [*SPECIAL, plain], ids=lambda f: f.__name__)
def test_values_are_numpys(function: Callable[..., Any], dtype: str) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    whole = np.repeat(np.array(VALUES, dtype), 40).reshape(len(VALUES), 40)
    mixed = rng.choice(np.array([*VALUES, *rng.standard_normal(40)], dtype), (30, 37))
    for x in (whole, mixed, whole[:, ::-3], mixed[:1, :1], mixed[:0]):
        away = rng.random(x.shape) < 0.3
        same(compiled(x.copy(), away), function(x.copy(), away))


@pytest.mark.parametrize("function", SPECIAL, ids=lambda f: f.__name__)
def test_vectors_see_ordinary_values(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    compiled(np.ones((3, 40)), np.zeros((3, 40), bool))
    assert re.search(r"\b(vector_(exp|log)|select_float)", compiled.emit())


def test_nothing_is_done_where_nothing_hints_at_special_values() -> None:
    compiled = transkern.compile(plain, target="cpu")
    compiled(np.ones((3, 40)), np.zeros((3, 40), bool))
    assert "vector_exp" not in compiled.emit() and "vector_log" not in compiled.emit()


def padded(x: Any, away: Any) -> Any:
    return np.exp(np.pad(np.where(away, -1e9, x), 1)), np.where(np.pad(x, 2) > 0, np.log(np.pad(x, 2)), 0.0)


def before_each(x: Any, away: Any) -> Any:
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if j > 0 and x[i, j - 1] > 0:
                out[i, j] = np.log(x[i, j - 1]) * np.exp(x[i, j])
            elif j + 1 < x.shape[1]:
                out[i, j] = np.exp(x[i, j + 1])
    return out


@pytest.mark.parametrize("function", [padded, before_each], ids=lambda f: f.__name__)
def test_what_is_not_there_is_not_loaded(function: Callable[..., Any]) -> None:
    """A choice between values of which one is of an element beyond the array: its page cannot be read here."""
    compiled = transkern.compile(function, target="cpu", threads=1)
    for columns in (2, 8, 64):
        with between_closed_pages(np.random.default_rng(1).standard_normal((512 // columns, columns))) as x:
            away = np.zeros(x.shape, bool)
            same(compiled(x, away), function(x, away))


def turned(x: Any, angle: Any) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    return c * x - s, s * x + c, np.tan(angle)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sines_beside_cosines_have_vectors(dtype: str) -> None:
    special = np.array([0.0, -0.0, 1e-320, 1.5, -3.0, 1e6, np.inf, -np.inf, np.nan, np.pi / 2] * 4, dtype)
    compiled = transkern.compile(turned)
    x = np.ones_like(special)
    for mine, theirs in zip(compiled(x, special), turned(x, special), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5 if dtype == "float32" else 1e-14, atol=1e-7)
    assert "cos" in compiled.emit() and f"unlike_{dtype}(" in compiled.emit()  # else GCC calls `sincos`


def signs(x: Any) -> Any:
    below = np.signbit(x)
    return below, (below[1:] != below[:-1]).sum()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_signs_have_vectors(dtype: str) -> None:
    x = np.array([0.0, -0.0, 1.0, -1e-320, np.inf, -np.inf, np.nan, -np.nan, -3.0] * 7, dtype)
    compiled = transkern.compile(signs)
    for mine, theirs in zip(compiled(x), signs(x), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert f"below_zero_{dtype}(" in compiled.emit()


def best(x: Any) -> Any:
    return x.argmax(axis=0), x.argmin(axis=0)


def test_vectors_ask_both_conditions() -> None:
    x = np.random.default_rng(0).integers(-3, 3, (50, 300)).astype(float)
    x[[3, 7, 9], [5, 5, 8]] = np.nan
    compiled = transkern.compile(best)
    for mine, theirs in zip(compiled(x), best(x), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    better = [line for line in compiled.emit().splitlines() if "_better = " in line]
    assert better and not any("||" in line or "&&" in line for line in better)

"""Bounds of slices that are made of sizes: halves, parts, what is left of them, and sizes less a number."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def halves(x: Any) -> Any:
    half = len(x) // 2
    return x[:half], x[half:], x[half : half + 3], x[half - 1 : half + 2], x[-half:]


def thirds(x: Any) -> Any:
    third = len(x) // 3
    up = (len(x) + 1) // 2
    return x[third : 2 * third], x[up - 2 :], x[up:]


def less(x: Any) -> Any:
    n = len(x)
    return x[: n - 1], x[0 : n - 2 : 3], x[: n - 3], x[n - 2 :], x[n - 3 : n - 1], x[n - 1 : 0 : -1], x[n - 5 :]


def turned(x: Any, angles: Any) -> Any:
    half = x.shape[-1] // 2
    one, two = x[..., :half], x[..., half:]
    c = np.cos(angles * np.arange(half))
    return np.concatenate([one * c - two, two * c + one], axis=-1)


def parts(x: Any, k: Any) -> Any:
    n = len(x)
    return x[: n // k * k].reshape(-1, k).sum(axis=1), x[n // k * k :]


@functools.cache
def _compiled(f: Any) -> Any:
    return transkern.compile(f, target="cpu")


def _same(f: Any, *args: Any) -> None:
    def called(g: Any) -> Any:
        try:
            return g(*args)
        except ValueError as error:
            return str(error)

    theirs, ours = called(f), called(_compiled(f))
    assert isinstance(theirs, str) == isinstance(ours, str), (args, theirs, ours)
    if not isinstance(theirs, str):
        for one, two in zip(np.atleast_1d(theirs) if isinstance(theirs, np.ndarray) else theirs, ours, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-14)


@pytest.mark.parametrize("f", [halves, thirds, less], ids=lambda f: f.__name__)
def test_bounds_that_are_made_of_sizes(f: Any) -> None:
    with warnings.catch_warnings(action="ignore"):
        for n in (9, 0, 1, 2, 3, 4, 17):
            _same(f, np.arange(n) * 1.0)


def test_halves_that_are_stretched() -> None:
    with warnings.catch_warnings(action="ignore"):
        for d in (6, 8, 3, 5, 2, 1):  # of 3, one half is stretched; those of 5 do not fit
            _same(turned, np.arange(4.0 * d).reshape(4, d), 0.5)


def test_whole_parts() -> None:
    with warnings.catch_warnings(action="ignore"):
        for n, k in ((9, 3), (17, 3), (2, 7), (5, -2), (4, 1), (0, 2)):
            _same(parts, np.arange(n) * 1.0, k)


def test_a_half_needs_no_question_whether_it_is_stretched() -> None:
    compiled = transkern.compile(turned, target="cpu")
    compiled(np.ones((4, 6)), 0.5)
    body = compiled.emit().split("static void turned_result")[1].split("\n}")[0]
    assert "== 1 ?" not in body

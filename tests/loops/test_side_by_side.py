"""Reductions over arrays that stand side by side (stacks of windows): an expression of them, and no choice among all of
them for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def dilated(x):
    p = np.pad(x, 1, mode="edge")
    return np.maximum.reduce([p[i : i + x.shape[0], j : j + x.shape[1]] for i in range(3) for j in range(3)])


def eroded(x):
    p = np.pad(x, 2, constant_values=np.inf)
    h, w = x.shape
    return np.stack([p[i : i + h, j : j + w] for i in range(5) for j in range(5)], axis=-1).min(axis=-1)


def averaged(x):
    p = np.pad(x, 1)
    return np.mean([p[i : i + x.shape[0], j : j + x.shape[1]] for i in range(3) for j in range(3)], axis=0)


def largest(x):
    return np.max(np.array([x * k for k in range(17)]), axis=0)


def anywhere(x):
    return np.any([x[: len(x) - k] > x[k:] if k else x > 9 for k in range(1)], axis=0), np.any(
        np.stack([np.roll(x, k, axis=0) > 1 for k in range(12)]), axis=0
    )


EVERY = (dilated, eroded, averaged, largest, anywhere)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_values(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    x = np.random.default_rng(3).standard_normal((9, 21))
    x[2, 3:6] = np.nan, np.inf, -0.0
    for given in (x, x[::-1, ::2], x[:1], x[:, :1], x.astype(np.float32)):
        alike(function, given, target=target, compiled=compiled)


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_each_is_read_by_its_own_place(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    compiled(np.ones((40, 50)))
    assert " == 1 ? " not in compiled.emit() and " == 7 ? " not in compiled.emit()

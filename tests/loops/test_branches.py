"""Values that branches set are chosen in loops of vectors, and are NumPy's and Python's, whatever the arrays hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir import printer
from transkern.ir.traverse import walk

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def hue(x: Any, y: Any) -> Any:
    out = np.zeros_like(x)
    most, least = np.maximum(x, y), np.minimum(x, y)
    over = most > least
    at = over & (most == x)
    out[at] = ((x[at] - y[at]) / most[at]) % 6
    at = over & (most != x)
    out[at] = y[at] / x[at] + 2
    return out / 6, most - least


def nested(x: Any, y: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        if y[i] > 0:
            w = v * 2
            if w > 1:
                v = w - y[i]
            else:
                v = -v % 0.75
        elif y[i] < -1:
            v = 0.5
        out[i] = v
    return out


def either(x: Any, y: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        if x[i] < y[i]:
            v = x[i] + 1
        else:
            v = y[i] // 0.3
        out[i] = v * v
    return out


def of_neighbours(x: Any, y: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        if i > 0:
            v = x[i - 1]  # not there for the first
        out[i] = v + y[i]
    return out


def divided(x: Any, y: Any) -> Any:
    k = np.trunc(np.clip(np.nan_to_num(y), -3, 3)).astype(np.int64)
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        v = k[i]
        if v != 0:
            v = 7 // v
        out[i] = v
    return out


def dear(x: Any, y: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        if y[i] > 2:
            v = np.exp(v)
        out[i] = v
    return out


def extremes(x: Any, y: Any) -> Any:
    z = np.stack([x, y, y - x, x * y], axis=1)
    return z.max(axis=1), z[:, :3].min(axis=1), np.maximum(np.maximum(x, y), np.maximum(y[::-1], x[::-1]))


def most(x: Any) -> Any:
    return x.max(axis=1)


FUNCTIONS = (hue, nested, either, of_neighbours, divided, extremes)


def made(function: Callable[..., Any]) -> n.Program:
    types = parse_signature("f(float64[n], float64[n])")[1]
    return pipeline.run(specialise(live_function(function), types, True))


@pytest.mark.parametrize("function", [hue, nested, either])
def test_branches_are_choices(function: Callable[..., Any]) -> None:
    loops = [s for s in walk(made(function).body) if isinstance(s, n.Loop)]
    assert loops and not any(isinstance(s, n.If) for loop in loops for s in walk(loop.body))


@pytest.mark.parametrize("function", [divided, dear])
def test_what_must_not_or_should_not_be_computed_stays_in_a_branch(function: Callable[..., Any]) -> None:
    assert any(isinstance(s, n.If) for loop in walk(made(function).body) if isinstance(loop, n.Loop) for s in loop.body)


def test_nan_is_asked_for_once() -> None:
    text = "\n".join(printer.block(made(extremes).body, 0))
    assert "number_maximum" in text and "number_minimum" in text


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any]) -> None:
    special = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan, 1e-320])
    x, y = (g.ravel() for g in np.meshgrid(special, special))
    alike(function, x, y)
    alike(function, x.astype(np.float32), y.astype(np.float32))
    alike(function, x[:1], y[:1])
    alike(function, x[:0], y[:0])


def test_what_is_not_taken_sets_no_flags() -> None:
    x, large = np.zeros(40), np.full(40, 1e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transkern.compile(hue, warnings="numpy")(x, x)
        assert transkern.compile(most, warnings="numpy")(np.stack([large] * 3, axis=1))[0] == 1e308


def test_masked_stores_and_functions_have_vectors() -> None:
    """An array that a mask changes, and functions of it, in one loop: the branch leaves it without vectors."""

    def shades(y: Any, x: Any) -> Any:
        angle = np.arctan2(y, x)
        angle[angle < 0] += 2 * np.pi
        return np.cos(0.3 * angle), (10 * angle).astype(np.int32)

    y, x = np.random.default_rng(0).normal(size=(2, 40))
    compiled = transkern.compile(shades, target="cpu")
    for mine, theirs in zip(compiled(y, x), shades(y, x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)
    assert "#pragma omp parallel for simd" in compiled.emit()

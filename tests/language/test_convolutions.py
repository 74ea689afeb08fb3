"""Convolutions and correlations of which only the run knows which operand is the longer one."""

import time
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def convolved(a: Any, v: Any) -> Any:
    return np.convolve(a, v), np.convolve(a, v, "same"), np.convolve(a, v, mode="valid")


def correlated(a: Any, v: Any) -> Any:
    return np.correlate(a, v, "full"), np.correlate(a, v, "same"), np.correlate(a, v)


def in_an_expression(a: Any, v: Any) -> Any:
    return (np.convolve(v, a, "same") * 2 - np.convolve(a, v, "same")).max()


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [convolved, correlated, in_an_expression])
def test_sizes(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    rng = np.random.default_rng(0)
    a, v = rng.normal(size=40).astype("float32"), rng.normal(size=7).astype("float32")
    pairs = [(a, v), (v, a), (v, v[::-1]), (v[:1], a), (a, v[:1]), (v[:6], a[:5]), (a[::2], v[::-2])]
    if target == "cpu":
        pairs += [(v + 1j, a), (a > 0, v > 0), (v.astype(int), a.astype("int8")), (v, a.astype(float))]
    for x, y in pairs:
        found_all, wanted_all = compiled(x, y), function(x, y)
        if function is in_an_expression:
            found_all, wanted_all = [found_all], [wanted_all]
        for found, wanted in zip(found_all, wanted_all, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_short_first() -> None:
    """The sums go over the shorter operand, wherever it stands."""
    a, v = np.random.default_rng(0).normal(size=30_000), np.ones(5)
    compiled = transkern.compile(convolved)
    taken = {}
    for name, given in (("second", (a, v)), ("first", (v, a))):
        compiled(*given)
        begun = time.perf_counter()
        compiled(*given)
        taken[name] = time.perf_counter() - begun
    assert taken["first"] < 50 * taken["second"]  # it was some thousand times as much

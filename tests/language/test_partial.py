"""`functools.partial`, from outside and made within, and functions of Python's library that are imported by name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from functools import partial
from typing import Any
from warnings import warn

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def line(x: Any, slope: Any, at: Any = 0.0, *, by: Any = 1.0) -> Any:
    return (x * slope + at) * by


steep = functools.partial(line, slope=3.0)
half = partial(partial(line, by=0.5), at=np.arange(3.0))
times = partial(operator.mul, 2.0)
rooted = partial(np.power, 2.0)


def from_outside(x: Any) -> Any:
    return steep(x), steep(x, at=1.0), half(x, 2.0), half(x, 2.0, by=4.0), times(x), rooted(x)


def made_within(x: Any, k: int) -> Any:
    f = partial(line, x, k)
    g = functools.partial(f, by=x[-1])
    x[0] = 7.0
    return f(), f(at=1.0), g(), [h(at=2) for h in (f, g)], f(by=k)


def handed_on(x: Any, k: int) -> Any:
    doubled = list(map(partial(line, slope=2), [1.0, 2.0]))
    return applied(partial(line, at=k), x), doubled, max([3.0, -4.0], key=partial(pow, 2.0))


def applied(f: Callable[..., Any], x: Any) -> Any:
    total = 0.0
    for v in x:
        total += f(v, 2.0)
    return total


def named(x: Any) -> Any:
    if x.sum() < 0:
        warn("negative", stacklevel=2)
    return x * 2


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_partial(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    x = np.array([1.5, -0.0, 2.0])
    alike(from_outside, x, target=target)
    alike(made_within, x, 3, target=target)
    alike(handed_on, x, 3, target=target)
    if target != "pallas":  # which cannot warn
        alike(named, x, target=target)

"""Parts of what a function of NumPy's computes are computed alone: NumPy's values, errors and order in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def lags(x: Any, k: int) -> Any:
    v = x[0]
    return np.correlate(v, v, "full")[v.size - 1 :], np.correlate(v, v, "full")[v.size - 1 : v.size + k]


def first_rows(x: Any, k: int) -> Any:
    return np.sum(x * 2, axis=1)[:k], np.mean(x, axis=0)[k:], np.linalg.norm(x, axis=1)[-2:]


def one_of_them(x: Any, k: int) -> Any:
    return np.sum(x, axis=1)[k], np.max(x, axis=0)[-1], np.convolve(x[0], x[1, :2])[k]


def of_planes(x: Any, k: int) -> Any:
    return np.sum(x[:, None, :] * x[None, :, :], axis=2)[k], np.sum(x[:, None] * x, axis=-1)[k, :2]


def changed(x: Any, k: int) -> Any:
    y = np.sum(x, axis=1)[1:]
    y[0] = 7
    z = y.ravel()
    z[-1] = 9
    return y, z, np.sum(x, axis=0)[::-1], np.sum(x, axis=0)[[0, 0]]


def order_in_memory(x: Any, k: int) -> Any:
    y = np.sum(x[:, None, :] * x[None, :, :], axis=2)[:, 1:]
    z = y.ravel()
    z[0] = 5
    every = np.sum(x, axis=1)[::2]
    flat = every.ravel()
    flat[0] = 6
    return y, every


def into_another(x: Any, k: int) -> Any:
    out = np.zeros(x.shape[0])
    part = np.sum(x, axis=1, out=out)[1:]
    part[0] = 3
    return out, part


def of_its_own(x: Any, k: int) -> Any:
    kept = []

    def total(a: Any) -> Any:
        made = np.sum(a, axis=1)
        kept.append(made)
        return made

    part = total(x)[1:]
    part[0] = 3
    return part, kept[0]


def handed_on(x: Any, k: int) -> Any:
    y = np.sum(x, axis=1)
    z = np.asarray(y)[1:]
    y2 = np.sum(x, axis=0)
    first = np.atleast_1d(y2)[0]
    y3 = np.sum(x, axis=1)
    w = np.ravel(y3)[:2]
    w[0] = 7
    return y, z, y2 * 2, first, y3


def kept_elsewhere(x: Any, k: int) -> Any:
    kept = []

    def total(a: Any) -> Any:
        made = np.sum(a, axis=1)
        kept.append(made)
        return made

    part = np.asarray(total(x))[1:] + 1
    return part, kept[0]


def from_a_place_of_its_own(x: Any, k: int) -> Any:
    return np.sum(x, axis=1)[np.argmax(np.sum(x, axis=1)) :], np.sum(x, axis=0)[: len(np.unique(x))]


FUNCTIONS = (
    lags, first_rows, one_of_them, of_planes, changed, order_in_memory, into_another, of_its_own, handed_on,
    kept_elsewhere, from_a_place_of_its_own,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_does(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for shape in ((5, 4), (3, 3), (2, 7), (1, 1)):
        for k in (0, 1, 2, 6, -1, -4):
            alike(function, rng.integers(-9, 9, shape).astype(float), k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if target == "pallas" and function is from_a_place_of_its_own:
        return  # an array whose size depends on data
    on_target(target, monkeypatch)
    alike(function, np.random.default_rng(0).integers(-9, 9, (5, 4)).astype(float), 1, target=target)


def test_the_rest_is_not_computed() -> None:
    """No array is made but the results."""
    for function in (lags, one_of_them):
        program = specialise(live_function(function), parse_signature("f(float64[n,m],int)")[1], True)
        made = [s.buffer for s in walk(program.body) if isinstance(s, n.Define)]
        assert all(program.buffers[name].role == "result" for name in made), function.__name__

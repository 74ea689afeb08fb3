"""Numbers that kernels draw one at a time, or a few, as NumPy draws them, and from where it goes on."""

import copy
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.frontend.numpy.random.steps import is_numpys_way

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_this_numpy_draws_so() -> None:
    """Where it does not, all numbers are drawn by the library; then this should be looked at."""
    assert is_numpys_way("PCG64")
    assert is_numpys_way("MT19937")


def mixed(rng: Any, n: int) -> Any:
    out = np.zeros((n, 10))
    for i in range(n):
        out[i, 0] = rng.random()
        out[i, 1] = rng.uniform(-2.5, 7.0)
        out[i, 2] = rng.integers(0, 10) if i % 3 else rng.integers(5, 6)
        out[i, 3] = rng.integers(-5, 1 << 40)
        out[i, 4] = rng.integers(3, 4 + i, endpoint=True)
        out[i, 5] = rng.normal(1.0, 2.0)
        out[i, 6] = rng.standard_normal()
        out[i, 7] = rng.gamma(2.0) if i % 7 == 0 else rng.integers(0, 1 << 32)
        out[i, 8:] = rng.exponential(), rng.standard_exponential() + rng.exponential(2.5)
    return out, rng.random(3), rng.integers(7), rng.normal(size=(2, 2)), rng.integers(-(2**63), 2**63 - 1, endpoint=True)


def mixed_legacy(rng: Any, n: int) -> Any:
    out = np.zeros((n, 10))
    for i in range(n):
        out[i, 8:] = rng.exponential(), rng.standard_exponential() + rng.exponential(2.5)
        out[i, 0], out[i, 1], out[i, 2] = rng.rand(), rng.randn(), rng.uniform(-2.0, 7.5)
        out[i, 3] = rng.randint(0, 10) if i % 3 else rng.randint(5, 6)
        out[i, 4], out[i, 5] = rng.randint(-5, 3000000000), rng.normal(1, 2)
        out[i, 6] = rng.gamma(2.0) if i % 7 == 0 else rng.randint(0, 1 << 40)
        out[i, 7] = rng.random_sample()
    return out, rng.rand(3), rng.randn(2, 2), rng.randint(0, 9, size=4), rng.randint(1 << 40)


@pytest.mark.parametrize("legacy", [False, True])
def test_the_same_numbers(legacy: bool) -> None:
    function = mixed_legacy if legacy else mixed
    compiled = transkern.compile(function)
    for seed in range(3):
        ours: Any = np.random.RandomState(seed) if legacy else np.random.default_rng(seed)
        theirs = copy.deepcopy(ours)
        for n in (0, 1, 2, 300, 3000):
            found, wanted = compiled(ours, n), function(theirs, n)
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
                assert type(a) is type(b)
        if legacy:
            a, b = ours.get_state(), theirs.get_state()
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
        else:
            assert ours.bit_generator.state == theirs.bit_generator.state


def errors(what: int, a: float, b: float) -> Any:
    rng = np.random.default_rng(1)
    x = rng.random()
    if what == 0:
        return x, rng.uniform(a, b)
    if what == 1:
        return x, rng.normal(a, b)
    if what == 2:
        return x, rng.integers(int(a), int(b))
    if what == 4:
        return x, rng.exponential(a)
    return x, rng.integers(0, int(b), endpoint=True)


def errors_legacy(what: int, a: float, b: float) -> Any:
    rng = np.random.RandomState(1)
    x = rng.random_sample()
    if what == 0:
        return x, rng.uniform(a, b)
    if what == 4:
        return x, rng.exponential(a)
    return x, rng.normal(a, b) if what == 1 else rng.randint(int(a), int(b))


@pytest.mark.parametrize("legacy", [False, True])
def test_parameters(legacy: bool) -> None:
    function = errors_legacy if legacy else errors
    special = [0.0, -0.0, -1.0, 2.0, np.nan, np.inf, -1e308, 1e308]
    for what in (0, 1):
        for a in special:
            for b in special:
                alike(function, what, a, b)
    for a in special:
        alike(function, 4, a, 0.0)
    for what in (2,) if legacy else (2, 3):
        for a, b in ((0.0, 0.0), (0.0, -3.0), (4.0, 4.0), (5.0, 4.0), (4.0, 5.0), (-9.0, 9.0)):
            alike(function, what, a, b)


def pairs(rng: Any) -> Any:
    return rng.randn(), rng.randn(), rng.normal(3.0)


def test_the_second_of_a_pair() -> None:
    compiled = transkern.compile(pairs)
    for second in (0.0, -0.0, 1.0, -1.5, 5e-324, -1e-310, 1e300):
        results = []
        for function in (compiled, pairs):
            rng = np.random.RandomState(1)
            rng.set_state((*rng.get_state()[:3], 1, second))
            results.append([repr(x) for x in function(rng)])
        assert results[0] == results[1]


def kinds(seed: int) -> Any:
    rng, old = np.random.default_rng(seed), np.random.RandomState(seed)
    made = rng.random(), rng.uniform(1, 2), rng.normal(), rng.standard_exponential(), rng.integers(3), rng.random(dtype=float)
    return *made, old.rand(), old.randn(), old.uniform(), old.exponential(), old.randint(5), old.randint(5, dtype=np.int64)


def inside_circle(n: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.uniform(0, 1)
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


def walk(n: int, seed: int) -> Any:
    rng = np.random.RandomState(seed)
    at = np.zeros((n, 2))
    for i in range(1, n):
        at[i] = at[i - 1] + rng.normal(size=2)
    return at


def test_loops() -> None:
    alike(inside_circle, 5000, 3)
    alike(walk, 500, 4)
    alike(kinds, 1)  # Python's numbers or NumPy's
    assert "np.random.Generator(" not in transkern.compile(inside_circle, target="cpu").emit(types="inside_circle(int, int)")

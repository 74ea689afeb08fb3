"""NumPy's warnings where they are asked for, and a caller's np.errstate, which is never ignored."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern


def logarithms(x: Any, out: Any) -> Any:
    out[0] = 7.0
    y = np.log(x)
    z = x / (x - 1.0)
    return y + z


def overflowing(x: Any) -> Any:
    return np.exp(x) * 1e300


def in_parts(x: Any) -> Any:
    total = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        total[i] = np.sqrt(x[i, 0]) + x[i].sum()
    return total


def integers(x: Any) -> Any:
    return x[::-1] * 2


def inverse(x: Any) -> Any:
    y = 1.0 / x[0, 0]
    return np.linalg.inv(x + 1.0) * y


LARGE = np.ones((1 << 15, 8))
LARGE[-3, 0] = -1.0  # in another thread's part
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (logarithms, (np.array([0.5, 2.0]), np.zeros(2))),
    (logarithms, (np.array([0.0, 1.0, -1.0]), np.zeros(2))),
    (overflowing, (np.array([1000.0]),)),
    (overflowing, (np.array([-1000.0]),)),  # an underflow, which NumPy ignores
    (in_parts, (LARGE,)),
    (in_parts, (np.ones((1 << 15, 8)),)),
    (integers, (np.arange(4),)),
    (inverse, (np.zeros((2, 2)) + np.eye(2) * [0.0, 3.0],)),  # before a step of a library
]


def told(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[tuple[Any, str, str, int]]]:
    args = tuple(a.copy() for a in args)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return (result, args), [(w.category, str(w.message), w.filename, w.lineno) for w in caught]


@pytest.fixture(scope="module")
def compiled() -> dict[Any, Any]:
    return {f: transkern.compile(f, warnings="numpy") for f in {f for f, _ in CALLS}}


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_the_warnings_are_numpys(compiled: dict[Any, Any], function: Any, args: Any) -> None:
    (wanted, after), expected = told(function, args)
    for _ in range(2):
        (found, mine), warned = told(compiled[function], args)
        assert warned == expected
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        for one, two in zip(mine, after, strict=True):
            assert np.array_equal(one, two)


def test_a_filter_that_raises_raises(compiled: dict[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            compiled[logarithms](np.zeros(3), np.zeros(1))


def test_what_the_caller_ignores_is_ignored(compiled: dict[Any, Any]) -> None:
    def call(x: Any, out: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return compiled[logarithms](x, out)

    assert told(call, (np.array([0.0, 1.0, -1.0]), np.zeros(2)))[1] == []


def test_without_the_option_there_are_none() -> None:
    function = transkern.compile(logarithms, target="cpu")
    assert told(function, (np.array([0.0, 1.0, -1.0]), np.zeros(2)))[1] == []


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("option", [None, "numpy"])
def test_errors_that_the_caller_wants_are_never_ignored(
    target: str, option: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option is not None and target != "cpu":
        with pytest.raises(ValueError, match="warnings"):
            transkern.compile(overflowing, target=target, warnings=option)
        return
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    function = transkern.compile(overflowing, target=target, warnings=option)
    x = np.array([1.0, 2.0])
    wanted = overflowing(x)
    for _ in range(2):
        assert np.allclose(function(x), wanted, rtol=1e-6)
        with np.errstate(over="raise"), pytest.raises(transkern.CompileError, match="over='raise'"):
            function(x)
        with np.errstate(all="warn"):
            assert np.allclose(function(x), wanted, rtol=1e-6)
        with np.errstate(all="ignore"):
            assert np.allclose(function(x), wanted, rtol=1e-6)
    before = np.seterr(invalid="print")
    try:
        with pytest.raises(transkern.CompileError, match="invalid='print'"):
            function(x)
    finally:
        np.seterr(**before)
    assert np.allclose(function(x), wanted, rtol=1e-6)


def test_a_fallback_runs_in_numpy_then() -> None:
    function = transkern.compile(overflowing, target="cpu", fallback="numpy")
    function(np.zeros(2))
    told = pytest.warns(UserWarning, match="runs in NumPy")
    with told, np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in exp"):
        function(np.array([1000.0]))


def test_what_raises_within_is_refused() -> None:
    def within(x: Any) -> Any:
        with np.errstate(all="log"):
            return 1.0 / x

    with pytest.raises(transkern.CompileError, match=r"np\.errstate"):
        transkern.compile(within, target="cpu")(np.ones(2))


def test_what_would_happen_twice_is_refused() -> None:
    def tells(x: Any) -> Any:
        print(x[0])
        return 1.0 / x

    with pytest.raises(transkern.CompileError, match="twice"):
        transkern.compile(tells, warnings="numpy")(np.ones(2))


def test_standalone_code_asks_nobody() -> None:
    text = transkern.compile(overflowing).emit(types="overflowing(float64[n])", target="cpu")
    assert "if (!asked) return 0;" in text and "fetestexcept" not in text


def _told(function: Any, *args: Any) -> set[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*args)
    return {str(one.message) for one in found}


def _roots(x: Any) -> Any:
    return np.sqrt(x)


def _products(x: Any) -> Any:
    return x * x


def _sums_of_products(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for j in range(30):
            total += x[i] * j
        out[i] = total * x[i]
    return out


@pytest.mark.parametrize("count", [50, 40_000, 3_000_000])
def test_flags_are_of_the_threads_that_take_part(count: int) -> None:
    """Of the last one's elements as well, and of no call before, whose code reads no flags. Calls for one thread do not
    wake the others to ask."""
    before = transkern.compile(_roots, target="cpu")
    x = np.ones(count)
    large, negative = x.copy(), x.copy()
    large[-1], negative[-1] = 1e200, -1.0
    for function in (_products, _sums_of_products)[: 1 if count > 100_000 else 2]:  # Python says what NumPy warns of
        compiled = transkern.compile(function, target="cpu", warnings="numpy")
        for _ in range(3):
            with np.errstate(all="ignore"):
                before(negative)
            assert _told(compiled, x) == set()
            assert any("overflow" in text for text in _told(compiled, large))
        assert "py_flags_of_all();" in compiled.emit()

"""Complex numbers on the simulated device: NumPy's bits in arithmetic, its special values and digits in functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.language import complex_numbers as cases
from tests.language.test_complex import ONE, arithmetic, differing, functions, inverse_functions
from tests.language.test_language import clone, difference
from tests.tools import require

require("c++")


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")


def _both(function: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = function(*args)
        return transkern.compile(function, target="cuda")(*args), wanted


def same_kind(got: Any, wanted: Any) -> Any:
    """Where both are NaN, the same infinity, or finite."""
    infinite = np.isinf(wanted)
    return (np.isnan(got) == np.isnan(wanted)) & (np.isinf(got) == infinite) & (~infinite | (got == wanted))


def near(got: Any, wanted: Any, ulps: float) -> bool:
    """Finite parts within units in the last place of the number, all others of the same kind, zeros of the same sign
    (beside a part that is not finite C leaves that open)."""
    parts = [(got.real, wanted.real), (got.imag, wanted.imag)]
    finite = np.isfinite(wanted) & np.isfinite(got)
    kinds = all(same_kind(g, w).all() for g, w in parts)
    signs = all((np.signbit(g) == np.signbit(w))[finite & (w == 0)].all() for g, w in parts)
    with np.errstate(all="ignore"):
        gap = np.abs(np.where(finite, got - wanted, 0))
        limit = ulps * np.finfo(wanted.dtype).eps * np.abs(np.where(finite, wanted, 0)) + np.finfo(wanted.dtype).tiny
    return bool(kinds and signs and (gap <= limit).all())


def test_arithmetic_is_numpys() -> None:
    got, wanted = _both(arithmetic, ONE)
    for position, (g, w) in enumerate(zip(got, wanted, strict=True)):
        if w.dtype.kind == "c":  # products may be rounded once less, where the compiler has no instruction for that
            assert near(g, w, 4), position
        else:
            assert not differing(g, w).any(), position


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_functions_have_numpys_digits_and_special_values(dtype: Any) -> None:
    with np.errstate(over="ignore"):
        got, wanted = _both(functions, ONE.astype(dtype))
    bad = [position for position, (g, w) in enumerate(zip(got, wanted, strict=True)) if not near(g, w, 8)]
    assert not bad


def test_inverse_functions_are_refused() -> None:
    with pytest.raises(transkern.CompileError, match=r"arcsin. of complex numbers"):
        transkern.compile(inverse_functions, target="cuda")(ONE)


@pytest.mark.parametrize("name", ["complex_stores", "complex_mandelbrot", "complex_reductions", "complex_scalars",
                                  "complex_transforms", "complex_lists", "complex_number_of_the_host",
                                  "complex_zero_divided"])  # fmt: skip
def test_programs(name: str) -> None:
    case = next(c for c in cases.CASES if c.function.__name__ == name)
    wanted_args, got_args = (tuple(clone(a) for a in case.args) for _ in range(2))
    compiled = transkern.compile(case.function, target="cuda")
    try:
        wanted = case.function(*wanted_args)
    except ZeroDivisionError as error:
        with pytest.raises(ZeroDivisionError, match=str(error)):
            compiled(*got_args)
        return
    assert not difference(compiled(*got_args), wanted, max(case.tolerance, 1e-14))
    for g, w in zip(got_args, wanted_args, strict=True):
        assert not difference(g, w, 1e-14)

"""A function is the one that the object is: not any that has its name, and under whatever name."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import c_ as columns
from numpy import r_
from numpy import where as where_of_numpy
from numpy.fft import fft
from numpy.lib.scimath import sqrt as complex_sqrt
from numpy.linalg import norm
from numpy.ma import array as masked_array
from numpy.ma import divide, log, where
from numpy.polynomial.polynomial import polyfit, polyval
from numpy.random import default_rng, normal

import transkern
from transkern import CompileError
from transkern.runtime.emitting import emit_files

add = np.frompyfunc(lambda a, b: a - b, 2, 1)
total = np.add.reduce
highest = np.array([1.0, 5.0]).max
multiply_all = np.multiply.accumulate


@np.vectorize
def sqrt(x: float) -> float:
    return x + 1


@functools.wraps(np.sum)
def summed(*args: Any, **keywords: Any) -> Any:
    return np.sum(*args, **keywords) + 1


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **keywords: Any) -> Any:
        return 2 * function(*args, **keywords)

    return inner


@doubled
def shifted(x: Any) -> Any:
    return x + 1


@np.errstate(divide="ignore")
def inverse(x: Any) -> Any:
    return 1 / x


@np.errstate(divide="raise")
def checked_inverse(x: Any) -> Any:
    return 1 / x


class Twice:
    """An object that `functools.update_wrapper` makes look like a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, x: Any) -> Any:
        return 2 * self.function(x)


@Twice
def moved(x: Any) -> Any:
    return x + 1


class WithNumPys:
    """NumPy's dispatchers bind themselves to objects, as Python's functions do, and ufuncs do not."""

    extent = np.size
    root = np.sqrt

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return 3


X = np.array([1.0, 2.0, 4.0])

COMPILED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: sqrt(x), "a np.vectorize called sqrt"),
    (lambda x: fft(x), "fft"),
    (lambda x: polyval(x, x) - np.polyval(x, x), "polyval"),
    (lambda x: r_[x, 1.0], "r_"),
    (lambda x: columns[x, x], "c_"),
    (lambda x: norm(x), "norm"),
    (lambda x: where_of_numpy(x > 1, x, 0), "where"),
    (lambda x: default_rng(3).normal(size=2) + x[0], "default_rng"),
    (lambda x: x[: normal(size=2).size], "normal"),
    (lambda x: total(x), "method of a ufunc"),
    (lambda x: multiply_all(x), "another"),
    (lambda x: highest() + x, "method of an array"),
    (lambda x: summed(x), "function that wraps one of NumPy's"),
    (lambda x: shifted(x), "function that wraps one of the user's"),
    (lambda x: moved(x), "object that wraps one"),
    (lambda x: inverse(x), "error state"),
    (lambda x: np.abs(x) - np.absolute(x) + (np.abs is np.absolute), "two names of one function"),
    (lambda x: np.core.numeric.asarray(x) + 1, "old path"),  # type: ignore[attr-defined]
    (shifted, "wrapper itself"),
]
"""What other names lead to."""

REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: polyfit(x, x, 2), "`np.polynomial.polynomial.polyfit`"),
    (lambda x: np.polynomial.polynomial.polyfit(x, x, 2), "`np.polynomial.polynomial.polyfit`"),
    (lambda x: complex_sqrt(-x), "`np.lib.scimath.sqrt`"),
    (lambda x: np.emath.log(-x), "`np.lib.scimath.log`"),
    (lambda x: log(-x), "`np.ma.log`"),
    (lambda x: divide(x, 0), "`np.ma.divide`"),
    (lambda x: where(x > 1, x, 0), "`np.ma.where`"),
    (lambda x: masked_array(x), "`np.ma.array`"),
    (lambda x: add(x, x), "a np.ufunc called"),
    (lambda x: add.reduce(x), "reduce"),
    (lambda x: checked_inverse(x), "checked_inverse"),
]
"""What other functions have the names of, and how it is called."""


@pytest.mark.parametrize(("function", "_"), COMPILED, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_object_is_what_it_is_under_any_name(function: Callable[..., Any], _: str) -> None:
    np.random.seed(1)
    wanted = function(X)
    np.random.seed(1)
    np.testing.assert_array_equal(transkern.compile(function)(X), wanted, strict=True)


@pytest.mark.parametrize(("function", "called"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_what_has_the_name_of_another_is_refused_by_its_own(function: Callable[..., Any], called: str) -> None:
    with pytest.raises(CompileError) as raised:
        transkern.compile(function)(X)
    assert called in str(raised.value)


def test_no_name_of_a_file_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that an `except` or a `hasattr` of a file names is not looked for by importing its module."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "loaded_when_named.py").write_text("raise SystemExit('it has been imported')")
    monkeypatch.syspath_prepend(str(elsewhere))
    (tmp_path / "file.py").write_text(
        "import antigravity\nimport loaded_when_named\nimport numpy as np\n\n\n"
        "def f(x):\n    try:\n        return x[3]\n    except loaded_when_named.Error:\n        return 0.0\n\n\n"
        "def g(x):\n    return x if hasattr(antigravity, 'geohash') else x + 1\n"
    )
    for name in ("f", "g"):
        with pytest.raises(CompileError):
            emit_files(tmp_path / "file.py", name, "cpu", f"{name}(float64[n])")
    assert not {"loaded_when_named", "antigravity"} & set(sys.modules)

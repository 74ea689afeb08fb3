"""Names that are bound to something else than usual, and what stands between a name and its function: each call does
what Python's would, or is refused."""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import CompileError
from transkern.runtime.emitting import emit_files

like_numpy = types.SimpleNamespace(sqrt=lambda x: x * 100, copy=lambda x: x)
ones = np.ones(4)
effects: list[int] = []


def sum(x: Any) -> Any:
    return x


def any(values: Any) -> Any:
    return 5


def enumerate(values: Any) -> Any:
    return [(7, 8)]


def range(count: int) -> Any:
    return [5]


def zeros(count: int) -> Any:
    return ones


class Box:
    def copy(self, x: Any) -> Any:
        return x

    def fill(self, x: Any) -> None:
        x[0] = 9.0

    def sum(self, x: Any) -> Any:
        return x


class list:
    def __init__(self, x: Any) -> None:
        self.x = x


box = Box()


@functools.cache
def next_number(n: Any) -> Any:
    return n + 1


@functools.cache
def window(n: int) -> Any:
    return np.hanning(n)


@functools.cache
def printed(n: int) -> int:
    print(n)
    return n


class Metres(float):
    def __add__(self, other: Any) -> Any:
        return 100.0


class Sevens(tuple):
    def __len__(self) -> int:
        return 7


class WithFunctions:
    root = np.sqrt
    total = staticmethod(np.sum)
    count = next_number
    shape = np.shape

    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Any:
        return other + 1


metres, sevens = Metres(3.0), Sevens((1, 2))
masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])


def of_a_module(x: Any) -> Any:
    y = sum(x)
    y[0] = 7.0
    return x, any(v > 0 for v in x), [i * v for i, v in enumerate(x)], [i for i in range(3)]


def of_an_object(x: Any) -> Any:
    y = box.copy(x)
    y[0] = 7.0
    z = box.sum(x)
    z += 1
    return x


def stored_by_a_method(x: Any) -> Any:
    new = np.zeros(4)
    if x[0] > 0:
        box.fill(new)
    return new


def another_numpy(x: Any) -> Any:
    np = like_numpy
    return np.sqrt(x)


def local_function(x: Any) -> Any:
    def max(v: Any) -> Any:
        return v

    y = max(x)
    y[0] = 5
    return x


def before_its_assignment(x: Any) -> Any:
    y = max(x)  # noqa: F823
    max = 3
    return y + max


def in_a_comprehension(x: Any) -> Any:
    return [max for max in (1, 2)], max(x)


def by_default(x: Any, abs: Callable[..., Any] = np.negative) -> Any:
    return abs(x)


def another_class(x: Any) -> Any:
    return list(x).x + 1


def of_a_class(x: Any) -> Any:
    made = WithFunctions(x)
    return made.root(x) + made.total(x) + next_number(3)


def cached(x: Any) -> Any:
    return next_number(3) + x, next_number(n=4), window(4) * x


def cached_of_an_array(x: Any) -> Any:
    return next_number(x)


ALIKE = [
    of_a_module, of_an_object, stored_by_a_method, another_numpy, local_function, before_its_assignment,
    in_a_comprehension, by_default, another_class, of_a_class, cached, cached_of_an_array,
]  # fmt: skip


def stored_into_the_cached(x: Any) -> Any:
    w = window(4)
    w *= 2
    return window(4) + x


def cached_given_back(x: Any) -> Any:
    return window(4)


def cached_with_effects(x: Any) -> Any:
    return printed(3) + printed(3)


def bound_by_numpys(x: Any) -> Any:
    return WithFunctions(x).shape()


REFUSED = [
    stored_into_the_cached, cached_given_back, cached_with_effects, bound_by_numpys, lambda x: metres + 1.0,
    lambda x: len(sevens) + x, lambda x: masked.sum() + x, lambda x: np.asarray(matrix * matrix) + x[0],
]  # fmt: skip


def outcome(function: Callable[..., Any]) -> Any:
    try:
        return function(np.arange(4.0) + 1)
    except (UnboundLocalError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", ALIKE, ids=lambda f: f.__name__)
def test_names_mean_what_they_mean_in_python(function: Callable[..., Any]) -> None:
    np.testing.assert_equal(outcome(transkern.compile(function)), outcome(function))


@pytest.mark.parametrize("function", REFUSED, ids=[str(k) for k, _ in builtins.enumerate(REFUSED)])
def test_what_has_meanings_of_its_own_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(CompileError):
        transkern.compile(function)(np.arange(4.0) + 1)


DECORATED = """
import builtins
import functools

import numpy as np

import transkern


def doubled(function):
    @functools.wraps(function)
    def inner(*args):
        return 2 * function(*args)

    return inner


@doubled
def shifted(x):
    return x + 1


@doubled
def alone(x):
    return x


@transkern.compile(types="(float64[n])")
def f(x):
    return shifted(x)
"""


def test_decorators_of_a_file(tmp_path: Path) -> None:
    """They are applied where a function is called; a function that is what an unknown one makes of it is refused."""
    file = tmp_path / "decorated.py"
    file.write_text(DECORATED)
    (text,) = [t for name, t in emit_files(file, "f", "cpu", None).items() if name.endswith(".c")]
    assert "= 2.0 * result;" in text and "result = x[i] + 1.0;" in text
    with pytest.raises(CompileError, match="`alone` is what `@doubled` makes of it"):
        emit_files(file, "alone", "cpu", "alone(float64[n])")


def test_a_function_that_is_put_in_numpys_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "cbrt", like_numpy.sqrt)
    monkeypatch.setattr(np, "exp2", np.exp)

    def patched(x: Any) -> Any:
        return np.cbrt(x) + np.exp2(x)

    x = np.arange(4.0)
    np.testing.assert_allclose(transkern.compile(patched)(x), x * 100 + np.exp(x), rtol=1e-15)


def test_modules_that_are_called_as_pythons_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the user's called as a module of Python's library is the user's."""
    (tmp_path / "this.py").write_text("def sqrt(x):\n    return x * 1000\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "this", raising=False)
    import this

    x = np.arange(3.0)
    try:
        np.testing.assert_array_equal(transkern.compile(lambda x: this.sqrt(x))(x), x * 1000)
    finally:
        del sys.modules["this"]

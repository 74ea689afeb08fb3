"""Numbers in lists and tuples on their way into arrays of integers: NumPy converts each by itself, with Python's checks
where the type has a sign, also NumPy's own numbers. What is compiled is run by the interpreter of the IR."""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fuzz.stages import interpreted
from transkern import CompileError

WAYS = (
    "np.array([x[0], x[1]], dtype={d})",
    "np.array((x[0], 1), dtype={d})",
    "np.array([[x[0]], [x[1]]], dtype={d})",
    "np.array([t for t in x], dtype={d})",
    "np.array(list(x), dtype={d})",
    "np.array(x.tolist(), dtype={d})",
    "np.asarray([x[0], 1.5], {d})",
    "y = np.zeros(2, {d}); y[:] = [x[0], x[1]]",
    "y = np.zeros(2, {d}); y[:] = list(x)",
    "y = np.zeros(2, {d}); y[[0, 1]] = [x[0], x[1]]",
    "y = np.zeros(2, {d}); y[0] = x[0]",
    "y = np.zeros(2, {d}); np.put(y, [0, 1], [x[0], x[1]])",
    "np.insert(np.zeros(1, {d}), 0, [x[0]])",
)
VALUES: tuple[tuple[float, float], ...] = (
    (1, 2), (300, 5), (-1, 3), (np.nan, 1), (1, np.nan), (np.inf, 2), (2.7, -3.2), (3e10, 1), (2**53, 1),
)  # fmt: skip


def function_of(way: str, dtype: str) -> Callable[..., Any]:
    *before, last = way.format(d=f"np.{dtype}").split("; ")
    lines = [*before, last, "return y"] if before else [f"return {last}"]
    return written("import numpy as np\n\n\ndef f(x):\n    " + "\n    ".join(lines) + "\n", f"<{way} of {dtype}>")


def written(source: str, file: str) -> Callable[..., Any]:
    """The function `f` of a text."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {}
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def outcome(function: Callable[..., Any], x: Any) -> tuple[str, ...]:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            made = function(x.copy())
    except (OverflowError, ValueError) as error:
        return type(error).__name__, str(error)
    return str(made.dtype), str(made.tolist())


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "float32"])
@pytest.mark.parametrize("source", ["float64", "float32", "int64", "int16", "uint64"])
def test_each_number_is_converted_by_itself(source: str, dtype: str) -> None:
    wrong = []
    for way in WAYS:
        function = function_of(way, dtype)
        for values in VALUES:
            if "int" in source and not all(np.isfinite(values)):
                continue
            with np.errstate(all="ignore"):
                x = np.array(values).astype(source)
            try:
                found = outcome(interpreted(function, 0), x)
            except CompileError:
                continue
            wanted = outcome(function, x)
            if found != wanted and "where it has 64 bits" not in found[1]:
                wrong.append(f"{way} of {x!r}: {found}, not {wanted}")
    assert not wrong, "\n".join(wrong)


STORES = (
    "x[:] = [v, w, 3]", "x[...] = (1, v, w)", "x[1:] = [v, w]", "x[::-1] = [v, w, 2.5]", "x[:] = [x[1], x[0], v]",
    "x[:] = [t for t in (v, w, 7)]", "x[:] = [v, w]", "x[:2] = [300, 1]", "x[:2] = [1, 300]", "x[[0, 1]] = [1, v]",
    "x[:] = [v, w, None][:2] + [-1]", "x[0], x[1:] = 5, [v, w]", "x[:] = []",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("store", STORES)
def test_what_is_stored_before_an_error(store: str, dtype: str) -> None:
    """NumPy converts the numbers of a list in their place, if it is as long: those before the error are there."""
    stores = written(f"def f(x, v, w):\n    {store}\n    return x\n", f"<{store}>")
    for v, w in ((1, 2), (1, 1000), (1000, 1), (1, -1), (-1, 1), (1.5, 3e9), (3e9, 1.5)):
        seen = []
        for function in (stores, interpreted(stores, 0)):
            x = np.array([7, 8, 9], dtype)
            try:
                found: Any = repr(function(x, v, w))
            except (OverflowError, ValueError, TypeError) as error:
                found = type(error), str(error)
            except CompileError:
                found = None
            seen.append((found, x.tolist()))
        assert seen[1][0] is None or seen[0] == seen[1]


def through_positions(y: Any, at: Any, a: Any, s: Any) -> Any:
    y[at] = min(s, a[0])
    return y


@pytest.mark.parametrize("dtype", ["uint64", "int64", "uint8", "int16"])
def test_a_number_of_two_types_before_positions_are_looked_at(dtype: str) -> None:
    """Python's NaN is an error before positions out of bounds are; NumPy's is cast, so these are."""
    for s, a, at in itertools.product((np.nan, -4.0, 1e300), (np.nan, -9.0), ([0, 1], [7], [])):
        given = [(np.zeros(3, dtype), np.array(at, "int64"), np.array([a]), s) for _ in range(2)]
        seen = []
        for function, arguments in zip((through_positions, interpreted(through_positions, 0)), given, strict=True):
            try:
                with np.errstate(all="ignore"):
                    seen.append(repr(function(*arguments)))
            except (OverflowError, ValueError, IndexError) as error:
                seen.append(repr(error))
        assert seen[0] == seen[1]

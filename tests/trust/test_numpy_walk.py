"""Every public callable of NumPy, called with plausible arguments: NumPy's answer, or a refusal by its own name.

What is compiled is run by the interpreter of the IR, so that nothing waits for a C compiler.
"""

from __future__ import annotations

import importlib
import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.fuzz.stages import interpreted
from transkern import CompileError, InternalError
from transkern.frontend.sources import identity
from transkern.frontend.sources.source import from_object
from transkern.frontend.values.values import Known, Static

pytestmark = pytest.mark.slow

MODULES = (
    "", "linalg", "fft", "random", "ma", "polynomial", "polynomial.polynomial", "polynomial.chebyshev",
    "polynomial.legendre", "polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre", "lib", "lib.scimath",
    "lib.stride_tricks", "lib.array_utils", "lib.format", "lib.mixins", "lib.npyio", "lib.introspect", "strings",
    "char", "emath", "rec", "ctypeslib", "testing", "exceptions", "dtypes", "matlib", "typing",
)  # fmt: skip

RNG = np.random.default_rng(0)
X, Y = RNG.random(5) * 0.9 + 0.05, np.sort(RNG.random(5))
A, B = RNG.random((3, 3)) + np.eye(3), RNG.random((3, 3))
P, Q = np.array([3, 1, 2, 2, 0]), np.array([1, 2, 3, 1, 2])
M = X > 0.5
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "x": (X,), "a": (A,), "i": (P,), "xy": (X, Y), "ab": (A, B), "ij": (P, Q), "n": (3,),
    "x2": (X, 2), "mxy": (M, X, Y), "nn": (2, 3), "x01": (X, 0.2, 0.8),
    "ax": (A, X[:3]), "f": (0.5,), "t": ((2, 3),), "a01": (A, 0, 1), "xi": (X, P),
}  # fmt: skip


def public() -> Iterator[tuple[str, Any]]:
    for name in MODULES:
        try:
            with warnings.catch_warnings(action="ignore"):
                module = importlib.import_module(f"numpy.{name}".rstrip("."))
        except ImportError:  # not in this version of NumPy
            continue
        listed = set(getattr(module, "__all__", ())) | {n for n in vars(module) if not n.startswith("_")}
        for member in sorted(listed):
            value = getattr(module, member, None)
            if callable(value):
                yield f"{module.__name__}.{member}", value


PUBLIC = dict(public())


def function_of(path: str, count: int, written: dict[int, str] | None = None) -> Callable[..., Any]:
    """``def f(a0, …): return path(a0, …)``; some arguments as they are `written`."""
    names = [f"a{k}" for k in range(count)]
    given = ", ".join((written or {}).get(k, "{}").format(name) for k, name in enumerate(names))
    source = f"import numpy\n\n\ndef f({', '.join(names)}):\n    return {path}({given})\n"
    file = f"<{path}({given})>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {"__name__": "walked"}
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result and what became of the arguments, or the exception."""
    np.random.seed(0)
    args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return function(*args), args
    except CompileError:
        raise
    except Exception as error:  # NumPy's, or what stands for it
        return error


UNDEFINED = ("numpy.empty", "numpy.empty_like", "numpy.ndarray")
"""What NumPy leaves as it finds it."""


def alike(one: Any, two: Any) -> bool:
    """Whether results have one shape and type."""
    arrays = [v[0] if isinstance(v, tuple) else v for v in (one, two)]
    if any(isinstance(v, Exception) for v in arrays):
        return equal(one, two)
    return arrays[0].shape == arrays[1].shape and arrays[0].dtype == arrays[1].dtype


def equal(one: Any, two: Any) -> bool:
    """Whether results are the same, in their types, too, or both calls raise."""
    if isinstance(one, Exception) or isinstance(two, Exception):
        return isinstance(one, Exception) and isinstance(two, Exception)
    if isinstance(one, (tuple, list)):
        same_type = isinstance(two, tuple) if isinstance(one, tuple) else type(one) is type(two)
        return same_type and len(one) == len(two) and all(map(equal, one, two))
    if one is None or isinstance(one, (str, type, np.dtype, np.finfo, np.iinfo)):
        return type(one) is type(two) and str(one) == str(two)
    if not all(np.asarray(v).dtype.kind in "biufc" for v in (one, two)):
        return False
    one_array, two_array = np.asarray(one), np.asarray(two)
    numbers = isinstance(one, np.generic) and isinstance(two, np.generic)  # `np.longlong` has the dtype of `np.int64`
    if type(one) is not type(two) and not numbers:
        return False
    if one_array.dtype != two_array.dtype or one_array.shape != two_array.shape:
        return False
    return np.allclose(one_array, two_array, rtol=1e-9, atol=1e-12, equal_nan=True)


def test_every_object_resolves_to_itself() -> None:
    """Of one module after the other: what it resolves to leads back to the very object."""
    wrong = []
    for path, value in PUBLIC.items():
        found = from_object(value)
        if isinstance(found, Known):
            back: Any = np
            for name in found.path.split(".")[1:] if found.path.startswith("numpy.") else ():
                back = getattr(back, name, None)
            if found.path.startswith("numpy.") and back is not value:
                wrong.append(f"{path} -> {found.path}")
        elif not (isinstance(found, Static) and found.value is value) and identity.is_known_library(path):
            wrong.append(f"{path} -> {found}")
    assert not wrong


@pytest.mark.parametrize("module", MODULES)
def test_each_is_computed_or_refused_by_its_name(module: str) -> None:
    wrong = []
    for path in (p for p in PUBLIC if p.rpartition(".")[0] == f"numpy.{module}".rstrip(".")):
        if identity.path_of(PUBLIC[path]) not in (path, None):
            continue  # it is walked there
        same = alike if path in UNDEFINED else equal
        names = {path, identity.name_of(PUBLIC[path])}
        for key, args in ARGUMENTS.items():
            function = function_of(path, len(args))
            try:
                found = outcome(interpreted(function, 0), args)
            except CompileError as error:
                text = str(error)
                if "no kernel computes it" in text:
                    if not any(f"`{n.replace('numpy.', 'np.')}`" in text for n in names):
                        wrong.append(f"{path}({key}): {text}")
                    break
                continue
            wanted = outcome(function, args)
            if not same(found, wanted):
                wrong.append(f"{path}({key}): {found!r}, not {wanted!r}")
    assert not wrong, "\n".join(wrong)


OTHER_LIBRARIES = (
    "random",
    "ma",
    "lib.format",
    "lib.npyio",
    "strings",
    "char",
    "rec",
    "ctypeslib",
    "testing",
    "typing",
)
FILTER = "{0}[{0} == {0}]"
"""All elements, of which nobody knows how many they are."""


def _filters(args: tuple[Any, ...]) -> Iterator[dict[int, str]]:
    arrays = [k for k, value in enumerate(args) if isinstance(value, np.ndarray)]
    yield from ({k: FILTER} for k in arrays)
    if len(arrays) > 1:
        yield dict.fromkeys(arrays, FILTER)


@pytest.mark.parametrize("module", [m for m in MODULES if m not in OTHER_LIBRARIES])
def test_filters_are_arrays(module: str) -> None:
    """Where an array may stand, what a mask chooses may stand: its length is a count, not that of the mask."""
    wrong = []
    for number, path in enumerate(p for p in PUBLIC if p.rpartition(".")[0] == f"numpy.{module}".rstrip(".")):
        if identity.path_of(PUBLIC[path]) not in (path, None) or path in UNDEFINED:
            continue
        for args in list(ARGUMENTS.values())[number % 4 :: 4]:  # each with a quarter of them: it takes a minute
            for written in _filters(args):
                function = function_of(path, len(args), written)
                try:
                    found = outcome(interpreted(function, 0), args)
                except CompileError as error:
                    if "no kernel computes it" in str(error):
                        break
                    continue
                wanted = outcome(function, args)
                if isinstance(found, InternalError) or not equal(found, wanted):
                    wrong.append(f"{path} with {written}: {found!r}, not {wanted!r}")
    assert not wrong, "\n".join(wrong)


def _of_methods() -> Iterator[tuple[str, tuple[Any, ...]]]:
    calls = "() (0) (-1) (axis=0) (b) (i) (0, 1) (-1, 1) (keepdims=True) (out=b) (0, out=b) (i, axis=0) (ddof=1) (None)"
    for name in dir(np.ndarray):
        if not name.startswith("_") and name not in ("tofile", "dump", "dumps", "resize"):
            for call in (*calls.replace(", ", ",").split(), ""):
                yield f".{name}{call}", (X, Y, P)
                yield f".{name}{call}", (A, X[:3], P[1:4])
                yield f".{name}{call}", (X[:1], Y[:1], P[-1:])


def test_filters_have_the_methods_of_arrays() -> None:
    wrong = []
    for call, args in _of_methods():
        source = f"def f(a, b, i):\n    return a[a == a]{call}\n"
        file = f"<filter {call}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        space: dict[str, Any] = {"__name__": "walked"}
        exec(compile(source, file, "exec"), space)
        try:
            found = outcome(interpreted(space["f"], 0), args)
        except CompileError:
            continue
        wanted = outcome(space["f"], args)
        if isinstance(found, InternalError) or not (callable(wanted) or equal(found, wanted)):
            wrong.append(f"{call}: {found!r}, not {wanted!r}")
    assert not wrong, "\n".join(wrong)

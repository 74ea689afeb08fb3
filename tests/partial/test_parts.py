"""Functions that compile in part, against Python."""

from __future__ import annotations

import gc
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require

require("cc")

X = np.linspace(0.1, 2.0, 40)


def partly(function: Callable[..., Any], **options: Any) -> Any:
    return transkern.compile(function, fallback="numpy", **options)


def has_parts(compiled: Any) -> bool:
    return any(made is not compiled.function for made in compiled.known.refused.values())


def writes(x: Any, path: Path) -> Any:
    y = np.empty_like(x)
    for k in range(len(x)):
        y[k] = x[k - 1] + 2 * x[k]
    with path.open("a") as out:
        out.write(f"{len(y)}\n")
    total = 0.0
    for v in y:
        total += v * v
    return total, y


def in_a_loop(x: Any, n: int) -> Any:
    kept = []
    for k in range(n):
        x = np.where(x > 0.5, x - 0.25 * k, x * x)
        if gc.is_tracked(x) and k % 2:
            kept.append(float(np.sum(x)))
    return kept, x


def changes_its_argument(x: Any) -> Any:
    x[1:] += x[:-1] * 2
    gc.isenabled()
    x[0] = x.sum()
    view = x[2:5]
    gc.isenabled()
    view *= 3
    return view


def returns_early(x: Any, limit: float) -> Any:
    s = 0.0
    for v in x:
        s += v
    if s > limit:
        return "more"
    gc.isenabled()
    for v in x:
        s -= v * v
    if s > 0:
        return s
    return -s, limit


def generates(x: Any, n: int) -> Iterator[Any]:
    for k in range(n):
        x = np.sort(x * (k + 1))[::-1] + x
        yield x.copy()
    yield x.sum()


def raises(x: Any, k: int) -> Any:
    gc.isenabled()
    s = 0.0
    for i in range(len(x)):
        s += x[i + k]
    return s


def unbound(x: Any, c: bool) -> Any:
    if c:
        y = x * 2
    gc.isenabled()
    return y + x


def scaled(x: Any, *, by: float = 3.0, shift: float = 0.5) -> Any:
    gc.isenabled()
    y = x * by + shift
    return np.cumsum(y)


def grows(x: Any, out: list[float]) -> Any:
    gc.isenabled()
    for v in x:
        if v > 1:
            out.append(v * v)
    gc.isenabled()
    return len(out)


class Model:
    def __init__(self, rate: float) -> None:
        self.rate, self.steps = rate, 0

    def advance(self, x: Any) -> Any:
        gc.isenabled()
        for k in range(len(x)):
            x[k] *= self.rate
        self.steps += len(x)
        gc.isenabled()
        return x.sum()


CALLS: dict[str, tuple[Callable[..., Any], Callable[[Path], list[tuple[Any, ...]]]]] = {
    "writes": (writes, lambda at: [(X.copy(), at / "out"), (X[:0].copy(), at / "out"), (X[::-2], at / "out")]),
    "in_a_loop": (in_a_loop, lambda at: [(X.copy(), 5), (X.astype("f4"), 3), (np.array([np.nan, -0.0]), 4)]),
    "changes_its_argument": (changes_its_argument, lambda at: [(X.copy(),), (np.arange(9),)]),
    "returns_early": (returns_early, lambda at: [(X.copy(), 3.0), (X.copy(), 1e3), (X[:1].copy(), 1.0)]),
    "raises": (raises, lambda at: [(X.copy(), 0), (X.copy(), 1)]),
    "unbound": (unbound, lambda at: [(X.copy(), True), (X.copy(), False)]),
    "scaled": (scaled, lambda at: [(X.copy(),)]),
    "grows": (grows, lambda at: [(X.copy(), [1.0]), (X.copy(), [])]),
}


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments), arguments
        except Exception as error:
            return (type(error), str(error)), arguments


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, (np.ndarray, float)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12 if np.asarray(wanted).dtype != "f4" else 1e-5)
        return type(found) is type(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype
    return bool(found == wanted)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("name", CALLS)
def test_parts_do_what_python_does(name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    function, calls = CALLS[name]
    compiled = partly(function, target=target)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    for mine, theirs in zip(calls(tmp_path / "one"), calls(tmp_path / "two"), strict=True):
        found, wanted = outcome(compiled, mine), outcome(function, theirs)
        assert same(found[0], wanted[0])
        assert all(isinstance(a, Path) or same(a, b) for a, b in zip(mine, theirs, strict=True))
    assert has_parts(compiled) is (function is not unbound)
    read = [[p.read_text() for p in sorted((tmp_path / folder).iterdir())] for folder in ("one", "two")]
    assert read[0] == read[1]


def test_a_generator_runs_on_between_its_parts() -> None:
    compiled = partly(generates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for found, wanted in zip(compiled(X.copy(), 3), generates(X.copy(), 3), strict=True):
            assert same(found, wanted)


def test_a_method_changes_its_object() -> None:
    mine, theirs = Model(1.5), Model(1.5)
    compiled = partly(Model.advance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(compiled(mine, X.copy()), theirs.advance(X.copy()))
    assert vars(mine) == vars(theirs) and has_parts(compiled)


def closing(factor: float) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        gc.isenabled()
        y = x * factor
        return y + factor

    return inner


def test_parts_see_the_closure_as_it_is_now() -> None:
    for factor in (2.0, 5.0):
        function = closing(factor)
        compiled = partly(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert same(compiled(X), function(X))
        assert has_parts(compiled)


def factorial(n: int, x: Any) -> Any:
    gc.isenabled()
    if n < 2:
        return x
    x = np.sort(x * n)
    return factorial(n - 1, x)


def test_a_function_that_calls_itself_finds_itself() -> None:
    compiled = partly(factorial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(compiled(4, X.copy()), factorial(4, X.copy()))


def test_one_warning_names_the_lines_and_all_reasons_can_be_asked_for(tmp_path: Path) -> None:
    compiled = partly(writes)
    with pytest.warns(UserWarning) as caught:
        compiled(X.copy(), tmp_path / "out")
        compiled(X[::2].copy(), tmp_path / "out")
    (one,) = [w for w in caught if "writes" in str(w.message)]
    first = writes.__code__.co_firstlineno
    assert "`writes` is compiled in 2 parts; the rest runs in Python" in str(one.message)
    assert f"test_parts.py:{first + 4}:" in str(one.message) and one.filename == __file__
    assert all("[TK" in str(reason) for reason in compiled.not_compiled)


def test_a_traceback_shows_the_users_line() -> None:
    compiled = partly(raises)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(IndexError) as caught:
            compiled(X, 1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (__file__, "raises", "s += x[i + k]")


def test_without_fallback_it_is_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(transkern.CompileError, match="TK1201"):
        transkern.compile(writes)(X, tmp_path / "out")

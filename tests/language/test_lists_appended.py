"""Lists of arguments that a function only appends to: what they hold takes no part (`runtime/calls/appended.py`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.runtime.calls.appended import Places

require("cc")


class Model:
    def __init__(self) -> None:
        self.w = np.arange(4.0)
        self.history: list[Any] = ["from before", None]
        self.logs: dict[Any, Any] = {"loss": [], 1: [[1.0, "a"], []], "n": 0}
        self.__trace: list[Any] = [{1, 2}]
        self.other: list[Any] = []

    def pairs(self) -> None:
        self.w += 1
        self.history.append((self.w.sum(), int(self.w[0]), self.w.copy()))

    def kinds(self, k: int) -> int:
        if k % 2:
            self.history.append(self.w[0])
        self.logs["loss"].append(self.w.max())
        self.logs[1][1].append((k, 2.0))
        self.logs["n"] += 1
        return k

    def private(self, k: int) -> None:
        for j in range(k):
            self.__trace.append(self.w[j])
        self.__trace.extend([self.w[0], self.w[1]])
        self.noted(k)

    def noted(self, k: int) -> None:
        self.other.append([k, k + 1])

    def itself(self) -> None:
        self.history.append(self.w)
        self.w[0] += 1

    def raising(self, k: int) -> float:
        self.history.append(float(k))
        if self.w[k] > 2:
            raise ValueError("large")
        self.history.append(float(-k))
        return float(self.w[k])

    def read(self) -> int:
        self.other.append(1)
        return len(self.other)

    def read_elsewhere(self) -> int:
        self.other.append(1)
        return self.count()

    def count(self) -> int:
        return len(self.other)


def _of_list(out: list[Any], x: Any) -> None:
    for v in x:
        if v > 1:
            out.append((v, v * 2))


def _of_dict(d: dict[str, list[Any]], x: Any) -> int:
    d["a"].append(x.sum())
    d["b"].extend([x[0], x[1]])
    return x.size


def _called(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return f(*args)
    except ValueError as error:
        return str(error)


def _shown(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value), [_shown(v) for v in value]
    if isinstance(value, dict):
        return {k: _shown(v) for k, v in value.items()}
    if isinstance(value, Model):
        return {k: _shown(v) for k, v in vars(value).items()}
    return type(value), repr(value)


@pytest.mark.parametrize(
    ("function", "more", "codes"),
    [
        (Model.pairs, lambda k: (), 1), (Model.kinds, lambda k: (k,), 1), (Model.private, lambda k: (k % 4,), 1),
        (Model.itself, lambda k: (), 1), (Model.raising, lambda k: (k % 4,), 1), (Model.read, lambda k: (), 3),
        (Model.read_elsewhere, lambda k: (), 3),
    ],
)  # fmt: skip
def test_what_a_list_holds_takes_no_part(function: Any, more: Any, codes: int) -> None:
    f = transkern.compile(function, target="cpu")
    ours, pythons = Model(), Model()
    held = ours.history, ours.logs["loss"], ours.other
    for k in range(7):
        assert _shown(_called(f, (ours, *more(k)))) == _shown(_called(function, (pythons, *more(k))))
        assert _shown(ours) == _shown(pythons)
        assert [v is ours.w for v in ours.history] == [v is pythons.w for v in pythons.history]
    assert ours.history is held[0] and ours.logs["loss"] is held[1] and ours.other is held[2]
    assert len(f.cache_info().specialisations) == codes


@pytest.mark.parametrize("function", [_of_list, _of_dict])
def test_of_lists_and_dicts(function: Any) -> None:
    x = np.array([0.5, 2.0, 3.0])
    made = [["old", x], ["old", x]] if function is _of_list else [{"a": [None], "b": [1, "x"]} for _ in range(2)]
    f = transkern.compile(function, target="cpu")
    for _ in range(3):
        assert f(made[0], x) == function(made[1], x)
        assert _shown(made[0]) == _shown(made[1])
    assert len(f.cache_info().specialisations) == 1


def test_one_list_at_two_places_is_none_to_append_to() -> None:
    model = Model()
    model.other = model.history

    def step(m: Model) -> int:
        m.history.append(1)
        return len(m.other)

    with pytest.raises(transkern.CompileError, match="are one list, which the function changes"):
        transkern.compile(step, target="cpu")(model)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p.a.append(1)", {("a",)}),
        ("p.a['x'].append(p.b); p.a['y'].extend(q)", {("a", "x"), ("a", "y")}),
        ("p.a.append(1); p.a[0]", set()),
        ("p.a.append(len(p.a))", set()),
        ("p.a['x'].append(1); f(p.a)", set()),
        ("p.a['x'].append(1); p.a.items()", set()),
        ("p.a[k].append(1)", set()),
        ("p.a[0].append(1); p.a[-1].pop()", set()),
        ("p.a[p.b].append(1); p.c.append(2)", {("c",)}),
        ("p.a.b.append(1)", set()),
        ("y = p.a.append", set()),
        ("y = p.a.append(1)", set()),
        ("p.a.append(*x)", set()),
        ("p.a.append(1); p.a = []", set()),
        ("p.a += [1]", set()),
        ("p.append(1)", set()),
        ("p.a.append(1); f = lambda p: p.a", set()),
    ],
)
def test_places(text: str, found: set[Any]) -> None:
    places = Places("p", True, str)
    places.visit(ast.parse(text))
    assert places.only_appended() - {()} == found


def test_lists_of_numpys_numbers_are_of_one_type() -> None:
    """A history of losses was of another type after each step."""

    def mean(history: list[Any]) -> Any:
        return sum(history) / len(history), history[-1], [v * 2 for v in history]

    f = transkern.compile(mean, target="cpu")
    for of in (np.float64, np.float32, np.int8, np.bool_, np.complex128):
        for n in (2, 3, 9):
            given = [of(v) for v in range(n)]
            assert _shown(f(given)) == _shown(mean(given))
    assert len(f.cache_info().specialisations) == 5

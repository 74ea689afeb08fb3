"""Arrays that nobody stores into by name need no memory; those that objects, defaults and choices hold, have one."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.regressions.support import alike

X = np.array([1.0, 2.0, 3.0, -1.0, 4.0])


@dataclass
class State:
    w: Any
    v: Any = None

    def put(self, i: int, value: float) -> None:
        self.w[i] = value


class Pair(NamedTuple):
    w: Any
    v: Any


class Adder:
    def add(self, a: Any) -> None:  # named as a function of NumPy's
        a[0] += 1


def in_a_dataclass(x: Any, k: int) -> Any:
    s = State(np.zeros(3), v=np.arange(k + 3))
    s.w[0] = 5.0
    s.v[-1] += 3
    s.put(1, x[0])
    return s.w, s.v


def in_dataclasses_in_a_list(x: Any, k: int) -> Any:
    states = [State(np.zeros(3)) for _ in range(3)]
    for i, s in enumerate(states):
        s.w[i] += k
    return [s.w for s in states]


def in_one_changed_as_a_whole(x: Any, k: int) -> Any:
    s = State(np.zeros(k + 1))
    s.w += 2
    s.w[k] = 7.0
    return s.w


def in_a_default(x: Any, k: int) -> Any:
    y = np.zeros(3)

    def put(i: int, a: Any = y, *, b: Any = y) -> None:
        a[i] = 6.0
        b[i + 1] += 1

    put(0)
    put(1)
    return y


def in_what_a_function_returns(x: Any, k: int) -> Any:
    y = x[:4] * 2
    held = y if k > 1 else np.ones(3)

    def get() -> Any:
        return held

    again = lambda: held  # noqa: E731
    get()[1] = 50.0
    again()[0] += 1
    return get(), y


def in_what_a_default_returns(x: Any, k: int) -> Any:
    y = np.arange(4.0)

    def get(a: Any = y if k > 1 else np.ones(3)) -> Any:  # noqa: B008
        return a

    y[1] = 50.0
    return get(), y


def _itself(a: Any) -> Any:
    return a


def in_what_is_given_already(x: Any, k: int) -> Any:
    y = np.arange(4.0)
    get = functools.partial(_itself, y if k > 1 else np.ones(3))
    y[1] = 50.0
    return get(), y


def in_a_choice(x: Any, k: int) -> Any:
    y, z = np.zeros(3), np.arange(3.0)
    (y if k > 1 else z)[0] = 1.5
    return y, z


def in_a_name_within(x: Any, k: int) -> Any:
    y = np.zeros(3)
    (q := y)[k] = 1.5
    return y, q


def in_a_method_in_a_loop(x: Any, k: int) -> Any:
    y = np.zeros(3)
    for _ in range(len(x)):
        Adder().add(y)
    return y


@pytest.mark.parametrize(
    "function",
    [
        in_a_dataclass, in_dataclasses_in_a_list, in_one_changed_as_a_whole, in_a_default, in_a_choice,
        in_a_name_within, in_a_method_in_a_loop, in_what_a_function_returns, in_what_a_default_returns,
        in_what_is_given_already,
    ],
)  # fmt: skip
def test_what_is_stored_is_seen(function: Any) -> None:
    for k in (2, 1):
        alike(function, X, k)


def beside_the_choice(x: Any, k: int) -> Any:
    y = np.zeros(3)
    s = State(y if k > 1 else np.ones(3), y)
    s.v[0] = 5.0
    return s.w, s.v


def before_the_choice(x: Any, k: int) -> Any:
    y = np.zeros(3)
    p = Pair(y, y if k > 1 else np.ones(3))
    p.w[0] = 5.0
    return p


@pytest.mark.parametrize("function", [beside_the_choice, before_the_choice])
def test_a_choice_shows_what_the_same_statement_holds(function: Any) -> None:
    for k in (2, 1):
        alike(function, X, k)


@dataclass
class Job:
    number: int
    after: list[int] = field(default_factory=list)
    weights: Any = field(default_factory=lambda: np.zeros(2))


def made_by_factories(x: Any, k: int) -> Any:
    one, two, three = Job(1), Job(k, [7]), Job(number=3, weights=x)
    one.after.append(k)
    two.after.append(1)
    one.weights[0] = 4.0
    return one.after, two.after, three.after, one.weights, two.weights, three.weights


def test_each_object_has_what_its_factories_make() -> None:
    alike(made_by_factories, X, 2)


class Halves:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __getitem__(self, i: Any) -> Any:
        return self.w[i] * 0.5

    def __setitem__(self, i: Any, value: Any) -> None:
        self.w[i] = value


def in_place_on_items_made_anew(x: Any, k: int) -> Any:
    h = Halves(x)
    h[1:3] += 5
    h[x > 1] *= k
    return h.w


def in_what_a_lambda_shows(x: Any, k: int) -> Any:
    def make(a: Any) -> Any:
        return lambda: a

    get = make(np.zeros(3))
    get()[0] = 8.0
    return get()


@pytest.mark.parametrize("function", [in_place_on_items_made_anew, in_what_a_lambda_shows])
def test_what_is_made_anew_is_stored(function: Any) -> None:
    alike(function, X, 2)

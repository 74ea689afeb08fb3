"""Lists, dicts and sets from outside a function: what would change one under any name is refused, and never a copy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

W = [1.0]
L = [1.0, 2.0]
NESTED = [[1.0, 2.0], [3.0, 4.0]]
D = {"a": 1.0}
NUMBERS = {0: 1.0, 1: 2.0}
S = {1}
T = ([1.0],)


def _append(a: list[float]) -> float:
    a.append(1.0)
    return float(len(a))


def _put(d: dict[str, float]) -> float:
    d["a"] = d["a"] + 1.0
    return d["a"]


def _of_default(a: list[list[float]] = [[1.0]]) -> float:  # noqa: B006
    a[0].append(2.0)
    return float(len(a[0]))


def _of_dict(d: dict[str, float] = {"a": 1.0}) -> float:  # noqa: B006
    d["a"] += 1
    return d["a"]


def _of_keyword(*, s: set[int] = {1}) -> float:  # noqa: B006
    s.add(len(s) + 1)
    return float(len(s))


def handed_on(x: Any) -> Any:
    return x * _append(W)


def a_dict_handed_on(x: Any) -> Any:
    return x * _put(D)


def a_default(x: Any) -> Any:
    return x * _of_default()


def a_dict_as_default(x: Any) -> Any:
    return x * _of_dict()


def a_set_as_default(x: Any) -> Any:
    return x * _of_keyword()


def another_name(x: Any) -> Any:
    a = W
    a[0] = a[0] + 1
    return x * W[0]


def of_a_tuple(x: Any) -> Any:
    (a,) = T
    a.append(1.0)
    return x * len(a)


def in_a_list(x: Any) -> Any:
    a = [W]
    a[0].append(1.0)
    return x * len(W)


def in_a_slice(x: Any) -> Any:
    a = NESTED[:]
    a[0][0] = 5.0
    return x * NESTED[0][0]


def one_after_the_other(x: Any) -> Any:
    for row in NESTED:
        row.append(1.0)
    return x * len(NESTED[0])


def augmented(x: Any) -> Any:
    a = W
    b = a
    b += [1.0]
    return x * len(a)


def chosen(x: Any) -> Any:
    a = W if x[0] < 0 else [2.0]
    a.append(1.0)
    return x * len(a)


def on_a_path(x: Any) -> Any:
    a = W
    if x[0] > 0:
        a = [3.0]
    a.append(1.0)
    return x * len(a)


def of_another_length_on_a_path(x: Any) -> Any:
    if x[0] < 0:
        a = L
    else:
        a = [3.0]
    a.append(1.0)
    return x * len(a)


def in_a_loop(x: Any) -> Any:
    a = W
    for i in range(len(x)):
        a.append(float(i))
    return x * len(a)


def in_some_turns(x: Any) -> Any:
    a = W
    for i in range(len(x)):
        if x[i] > 0:
            a = [2.0]
        a[0] = x[i]
    return x * a[0]


def keys_of_a_loop(x: Any) -> Any:
    d = NUMBERS
    for i in range(len(x)):
        d[i] = 2.0
    return x * len(d)


def items_of_a_loop(x: Any) -> Any:
    s = S
    for i in range(len(x)):
        s.add(i)
    return x * len(s)


def a_key_of_the_moment(x: Any) -> Any:
    d = NUMBERS
    i = int(abs(x[0]))
    d[i] = d[i] + 1
    return x * d[i]


CHANGES = (
    handed_on, a_dict_handed_on, a_default, a_dict_as_default, a_set_as_default, another_name, of_a_tuple, in_a_list,
    in_a_slice, one_after_the_other, augmented, chosen, on_a_path, of_another_length_on_a_path, in_a_loop,
    in_some_turns, keys_of_a_loop, items_of_a_loop, a_key_of_the_moment,
)  # fmt: skip


@pytest.mark.parametrize("function", CHANGES)
def test_changes_are_refused(function: Callable[..., Any]) -> None:
    before = copy.deepcopy((W, L, NESTED, D, NUMBERS, S, T))
    with pytest.raises(transkern.CompileError, match="a change of a list or dict from outside the function"):
        transkern.compile(function)(np.array([-1.0, -1.0, -1.0]))
    assert before == (W, L, NESTED, D, NUMBERS, S, T)


def copies(x: Any) -> Any:
    a, b, c, d = list(W), W[:], [*W], W + L
    e, f, g = W.copy(), sorted(L), [list(row) for row in NESTED]
    for one in (a, b, c, d, e, f):
        one.append(3.0)
    g[0][0] = 7.0
    h, i, k = dict(D), {**D}, D.copy()
    k["c"] = 3.0
    h["a"] += 1
    i["b"] = 2.0
    j = set(S)
    j.add(5)
    return x * len(a) * len(b) * len(c) * len(d) * len(e) * len(f) * len(h) * len(i) * len(j) * len(k) + g[0][0]


def summed(x: Any) -> Any:
    a = L
    for _ in range(3):
        a = a + W
    total = 0.0
    for v in a:
        total += v
    return x * total


def read_at_the_moment(x: Any) -> Any:
    i = int(x[0])
    return x * L[i] + NUMBERS[i]


@pytest.mark.parametrize("function", [copies, summed, read_at_the_moment])
def test_copies_and_reads_are_not(function: Callable[..., Any]) -> None:
    x = np.array([1.0, 2.0])
    compiled = transkern.compile(function)
    for _ in range(2):
        assert compiled(x).tolist() == function(x).tolist()

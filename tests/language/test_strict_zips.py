"""Loops over `zip(…, strict=True)` of other lengths: what they have done until then is done, and then they raise."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.frontend.syntax.strict_zips import asked_behind

require("cc")


def stored(x, y, out):
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        x[k] = a + b
    return x


def appended(x, y, out):
    for a, b in zip(reversed(x), (2 * v for v in y), strict=True):
        out.append(a * b)
    return len(out)


def returned(x, y, out):
    for a, b in zip(x, y, strict=True):
        if a > b + 2:
            return a
    return 0.5


def left(x, y, out):
    s = 1
    for a, b in zip(x, y, strict=True):
        if b > 0:
            break
        s += int(a * b)
    else:
        s = -s
    return s


def caught(x, y, out):
    n = 0
    try:
        for _ in zip(x, y, strict=True):
            n += 1
    except ValueError as error:
        return n, str(error)
    return n, ""


def bound_anew(x, y, out):
    for a, b, c in zip(x, y, x, strict=True):
        x = y
        y[0] = a + b + c
    return y


def in_a_loop(x, y, out):
    for i in range(2):
        for _, b in zip(x, y[i:], strict=True):
            out.append(b)
    return x


def beside_numbers(x, y, out):
    for k, b in zip(range(5), y, strict=True):
        y[0] += k * b
    return y


def seen_by_nobody(x, y, out):
    total, pairs = 0.0, []
    for a, b in zip(x, y, strict=True):
        total += a * b
        pairs.append(np.maximum(a, b))
    return total, pairs


EVERY = (stored, appended, returned, left, caught, bound_anew, in_a_loop, beside_numbers, seen_by_nobody)


def outcome(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> str:
    args = copy.deepcopy((x, y)), []
    try:
        found = function(*args[0], args[1])
    except ValueError as error:
        found = str(error)
    return repr((found, args))


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_they_raise_where_python_does(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for n, m in ((5, 5), (5, 4), (4, 5), (0, 0), (0, 1), (1, 0), (5, 6)):
        x, y = np.arange(n) + 1.0, np.arange(m) - 2.0
        assert outcome(compiled, x, y) == outcome(function, x, y)


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_lengths_are_asked_for_beforehand_where_nobody_sees_it(function: Callable[..., Any]) -> None:
    """So that the loop knows them."""
    (node,) = ast.parse(inspect.getsource(function)).body
    assert isinstance(node, ast.FunctionDef)
    written = ast.dump(asked_behind(node, lambda name: True))
    assert (written == ast.dump(node)) == (function is seen_by_nobody)

"""What cannot be compiled says so: the line, a caret, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern


def eigenvalues(a: Any) -> Any:
    return np.linalg.eigvals(a)


def grows(x: Any) -> Any:
    out = x
    for _ in range(300):
        out = np.array([out, out])
    return out


def two_names(u: Any) -> Any:
    v = u
    for k in range(3):
        v[0] = 1
        if u[k] > 0:
            continue
        v = v * 2
    return v


def prints(x: Any) -> Any:
    print(x, file=None)
    return x


def with_manager(x: Any) -> Any:
    with open("file") as file:
        file.read()
    return x


def owner(x: Any) -> Any:
    return x.base is None


class Grid:
    step = 0.5


GRID = Grid()


def spaced(x: Any) -> Any:
    return np.sqrt(GRID) * x


CASES = [
    (spaced, (np.ones(2),), "`sqrt` of an object of `Grid`", "np.sqrt(GRID)"),
    (owner, (np.ones(2),), "`.base` of an array", "x.base is None"),
    (eigenvalues, (np.eye(2),), "np.linalg.eigvals", "np.linalg.eigvals(a)"),
    (grows, (np.ones(2),), "changes its type or shape in the loop", "np.array"),
    (two_names, (np.ones(3),), "a store into `v`, which is one of several arrays", "v[0] = 1"),
    (prints, (np.ones(2),), "`print` with `file=`", "print(x, file=None)"),
    (with_manager, (np.ones(2),), "cannot compile `open`", "with open"),
]


@pytest.mark.parametrize(("function", "args", "problem", "line"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_refusal_points_at_the_line(function: Any, args: Any, problem: str, line: str) -> None:
    with pytest.raises(transkern.CompileError) as raised:
        transkern.compile(function, target="cpu")(*args)
    text = str(raised.value)
    assert problem in text
    assert line in text
    assert "test_refusals.py:" in text
    assert "^" in text
    assert raised.value.span.line > 0

"""Loops over elements and rows are array statements: one program, whichever way they were written."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.meeting import work
from tests.fuzz.oracle import call, difference
from tests.fuzz.stages import function_of
from tests.tools import on_target, require
from transkern.fuse.lowering.raised import raise_loops
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")

# of x: float64[n], y: float64[n, m], k: int64[n] within x, and the numbers a and c
GROUPS = {
    "elements": (
        "for i in range(len(x)):\n    x[i] = x[i] * a + i\nreturn x",
        "x[:] = x * a + np.arange(len(x))\nreturn x",
        "i = 0\nwhile i < len(x):\n    x[i] = x[i] * a + i\n    i += 1\nreturn x",
    ),
    "of a range": (
        "out = x.copy()\nfor i in range(1, len(x) - 1):\n    out[i] = x[i - 1] + x[i + 1]\nreturn out",
        "out = x.copy()\nout[1:-1] = x[:-2] + x[2:]\nreturn out",
    ),
    "rows": (
        "out = np.empty(y.shape)\nfor i in range(len(y)):\n    out[i] = np.sqrt(y[i] * y[i]) * x[i]\nreturn out",
        "return np.sqrt(y * y) * x[:, None]",
        "out = np.empty(y.shape)\nfor i in range(len(y)):\n    for j in range(y.shape[1]):\n"
        "        out[i, j] = np.sqrt(y[i, j] * y[i, j]) * x[i]\nreturn out",
        "out = np.empty(y.shape)\nfor i in range(len(y)):\n    r = np.sqrt(y[i] * y[i])\n    out[i] = r * x[i]\n"
        "return out",
    ),
    "a number of all": (
        "for i in range(len(x)):\n    x[i] = x[i] / np.sqrt(np.max(y))\nreturn x",
        "m = np.sqrt(np.max(y))\nx[:] = x / m\nreturn x",
    ),
    "a next state": (
        "for s in range(7):\n    z = x.copy()\n    for i in range(1, len(x) - 1):\n"
        "        z[i] = 0.5 * (x[i] + x[i - 1])\n    x[:] = z\nreturn x",
        "for s in range(7):\n    x[1:-1] = 0.5 * (x[1:-1] + x[:-2])\nreturn x",
    ),
    "through a mask": (
        "for i in range(y.shape[0]):\n    for j in range(y.shape[1]):\n        if y[i, j] > a:\n"
        "            y[i, j] = x[i]\nreturn y",
        "for i in range(y.shape[0]):\n    y[i, y[i] > a] = x[i]\nreturn y",
    ),
    "several stores": (
        "z = np.zeros(len(x))\nfor i in range(len(x)):\n    z[i] = x[i] * a\n    x[i] = z[i] + c\nreturn x, z",
        "z = x * a\nx[:] = z + c\nreturn x, z",
    ),
    "backwards": (
        "for i in range(len(x) - 1, -1, -1):\n    x[i] = x[i] * a + i\nreturn x",
        "for i in range(len(x)):\n    x[i] = x[i] * a + i\nreturn x",
        "x[:] = x * a + np.arange(len(x))\nreturn x",
    ),
    "by twos": (
        "for i in range(0, len(x), 2):\n    x[i] = x[i] * a\nreturn x",
        "x[::2] *= a\nreturn x",
    ),
    "by threes": (
        "i = 1\nwhile i < len(x):\n    x[i] = a\n    i += 3\nreturn x",
        "for i in range(1, len(x), 3):\n    x[i] = a\nreturn x",
        "x[1::3] = a\nreturn x",
    ),
    "numbers on the way": (
        "for i in range(len(x)):\n    v = x[i] * a\n    x[i] = v + c\nreturn x",
        "x[:] = x * a + c\nreturn x",
    ),
}
KEPT = {  # what an iteration touches, another one may write, or it does more than to store
    "of the element before": "for i in range(1, len(x)):\n    x[i] = x[i - 1] * a\nreturn x",
    "of the element behind": "for i in range(len(x) - 1):\n    x[i] = x[i + 1] * a\nreturn x",
    "one place": "for i in range(len(x)):\n    x[0] = x[i] * a\nreturn x",
    "places that are looked up": "for i in range(len(x)):\n    x[k[i]] = y[i, 0]\nreturn x",
    "a triangle": "for i in range(len(y)):\n    y[i, :i] = a\nreturn y",
    "two columns": "for i in range(len(y)):\n    y[i, 0] = y[len(y) - 1 - i, 1]\n    y[i, 1] = x[i]\nreturn y",
    "behind, backwards": "for i in range(len(x) - 1, 0, -1):\n    x[i] = x[i - 1] * a\nreturn x",
    "by twos of the one before": "for i in range(2, len(x), 2):\n    x[i] = x[i - 2] * a\nreturn x",
    "left": "for i in range(len(x)):\n    if x[i] > a:\n        break\n    x[i] = c\nreturn x",
    "a total": "s = 0.0\nfor i in range(len(x)):\n    s += x[i]\n    x[i] = s\nreturn x, s",
    "an error on the way": "for i in range(len(x)):\n    x[i] = y[i, k[i]]\nreturn x",
    "a row that is read twice": "for i in range(len(y)):\n    r = np.sqrt(y[i] * y[i])\n    y[i] = r + r[::-1]\n"
    "return y",
    "a row that changes": "for i in range(len(y)):\n    r = y[i] * a\n    y[i] = c\n    y[i] = y[i] + r\nreturn y",
    "a swap": "for i in range(len(x)):\n    t = x[i]\n    x[i] = y[i, 0]\n    y[i, 0] = t\nreturn x, y",
}
RAISED = {  # and some that are statements, and easily wrong
    "own row, other columns": "for i in range(len(y)):\n    y[i, 0] = y[i, 1] + y[i, 0]\nreturn y",
    "no rows of no columns": "z = y[:0, :0].copy()\nfor i in range(len(z)):\n    z[i, 0] = 1\nreturn z",
    "rows of no columns": "z = y[:, :0].copy()\nfor i in range(len(z)):\n    z[i, 0] = 1\nreturn z",
    "twice": "for i in range(len(x)):\n    x[i] = x[i] * a\n    x[i] = x[i] + i\nreturn x",
    "fewer than none": "for i in range(len(x) - 1, 1):\n    x[i] = a\nreturn x",
    "the number behind it": "i = -1\nfor i in range(len(x)):\n    x[i] = a\nreturn x, i",
    "states of a part": "for s in range(7):\n    z = np.empty(x.shape)\n    for i in range(1, len(x) - 1):\n"
    "        z[i] = 0.5 * (x[i] + x[i - 1])\n    for i in range(1, len(x) - 1):\n        x[i] = z[i]\nreturn x",
    "a number of the last row": "r = 7\nfor i in range(len(x)):\n    r = 2 * i + 1\n    x[i] = r * a\nreturn x, r, i",
    "a read beside": "for i in range(1, len(x)):\n    x[i] = x[0] * a\nreturn x",
    "a row of its own": "for i in range(len(y)):\n    r = y[i] * a\n    y[i] = r[::-1]\nreturn y",
}


def _text(body: str) -> str:
    return f"import numpy as np\ndef f(x, y, k, a, c):\n{textwrap.indent(body, '    ')}\n"


def _function(body: str) -> Any:
    return function_of(_text(body))


def _arguments(size: int) -> list[Any]:
    rng = np.random.default_rng(size)
    x = rng.standard_normal(size)
    x[1 :: 3] = np.array([np.nan, np.inf, -0.0, 1e300])[np.arange(len(x[1::3])) % 4]
    return [x, rng.standard_normal((size, 4)), rng.integers(0, max(1, min(size, 4)), size), 0.75, -0.25]


def _program(body: str, passes: Any = PASSES) -> n.Program:
    return program_of(_text(body), "f", "f(float64[n],float64[n,m],int64[n],float,float)", passes)


@pytest.mark.parametrize("group", GROUPS)
def test_spellings_are_one_program(group: str) -> None:
    first, *others = (work(_program(body)) for body in GROUPS[group])
    for other in others:
        assert other == first, (other - first, first - other)


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_a_loop(name: str) -> None:
    program = _program(KEPT[name], (raise_loops,))
    assert any(isinstance(s, n.Loop) for s in walk(program.body))


@pytest.mark.parametrize("group", GROUPS)
def test_no_loop_is_left(group: str) -> None:
    for body in GROUPS[group]:
        program = _program(body, (raise_loops,))
        assert sum(isinstance(s, n.Loop) for s in walk(program.body)) == (group == "a next state"), body


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("body", [*(x for g in GROUPS.values() for x in g), *KEPT.values(), *RAISED.values()])
def test_numpys_answer(body: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = _function(body)
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size in (7, 0, 1, 2, 64) if target == "cpu" else (7,):
        wanted = call(function, _arguments(size))
        found = call(compiled, _arguments(size))
        assert not difference(found, wanted), (body, found, wanted)


def test_overlapping_arguments() -> None:
    """Memory that arguments share is one array: what one iteration writes, another one may read."""
    body = "for i in range(len(x)):\n    x[i] = k[i] * a\nreturn x"
    function = _function(body)
    compiled = transkern.compile(function)
    for shift in (-1, 0, 1):
        wanted, found = np.arange(12.0), np.arange(12.0)
        for memory, f in ((wanted, function), (found, compiled)):
            f(memory[2:9], np.zeros((7, 4)), memory[2 + shift : 9 + shift], 0.5, 1.0)
        assert np.array_equal(wanted, found)


def test_an_error_leaves_what_came_before_it() -> None:
    """The caller sees the rows that were stored before a subscript was out of bounds."""
    body = "for i in range(len(x)):\n    x[i] = y[i, 0] * a\n    y[i + 1, 0] = c\nreturn x"
    function = _function(body)
    arguments, others = _arguments(6), _arguments(6)
    for f, given in ((function, arguments), (transkern.compile(function), others)):
        with pytest.raises(IndexError):
            f(*given)
    assert np.array_equal(arguments[0], others[0], equal_nan=True) and np.array_equal(arguments[1], others[1])


def test_no_iteration_divides_nothing() -> None:
    """A quotient that all iterations have is not computed before its check."""
    text = "def f(x, a, b):\n    for i in range(len(x)):\n        x[i] = a // b + a % b\n    return x\n"
    compiled = transkern.compile(function_of(text))
    assert compiled(np.zeros(0), 7, 0).shape == (0,) and compiled(np.zeros(3), 7, 2).tolist() == [4.0] * 3
    with pytest.raises(ZeroDivisionError):
        compiled(np.zeros(3), 7, 0)

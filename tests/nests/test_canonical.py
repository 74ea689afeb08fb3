"""Spellings that are one program: branches, truth values, numbers that no loop changes, values looked up."""

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
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.traverse import exprs, walk, walk_expr
from transkern.pipeline import program_of

require("cc")

# of x: float64[n], k: int64[n, m] within x, y: float64[n, m] and the numbers a and c
GROUPS = {
    "branches": (
        "for i in range(len(x)):\n    if not x[i] < a:\n        x[i] = c\n    else:\n        x[i] *= 2\nreturn x",
        "for i in range(len(x)):\n    if x[i] < a:\n        x[i] *= 2\n    else:\n        x[i] = c\nreturn x",
    ),
    "nested branches": (
        "for i in range(len(x)):\n    if x[i] < a:\n        if x[i] > c:\n            x[i] = 0\nreturn x",
        "for i in range(len(x)):\n    if x[i] < a and x[i] > c:\n        x[i] = 0\nreturn x",
        "for i in range(len(x)):\n    if c < x[i] < a:\n        x[i] = 0\nreturn x",
    ),
    "a branch that only has an else": (
        "for i in range(len(x)):\n    if x[i] < a:\n        pass\n    else:\n        x[i] = c\nreturn x",
        "for i in range(len(x)):\n    if not x[i] < a:\n        x[i] = c\nreturn x",
    ),
    "truth values": (
        "return np.where((x < a) & ~(x < c) | (x == 0), x, a)",
        "return np.where(np.logical_or(np.logical_and(x < a, np.logical_not(x < c)), x == 0), x, a)",
    ),
    "numbers": (
        "return y * np.exp(-a / c) - np.sqrt(a) * 2",
        "p = np.exp(-a / c)\nq = np.sqrt(a) * 2\nreturn y * p - q",
        "for i in range(y.shape[0]):\n    y[i] = y[i] * np.exp(-a / c) - np.sqrt(a) * 2\nreturn y",
    ),
    "numbers that some loops change": (
        "for s in range(3):\n    m = np.sqrt(x[0] + s * a)\n    x[:] = x / m\nreturn x",
        "for s in range(3):\n    w = x[0] + s * a\n    for i in range(len(x)):\n        x[i] = x[i] / np.sqrt(w)\n"
        "return x",
    ),
    "squares": ("return (x - a) * (x - a)", "return (x - a) ** 2", "d = x - a\nreturn d * d"),
    "cheap rows": (
        "p = x > a\nreturn np.where(p[:, None], y, c)",
        "return np.where((x > a)[:, None], y, c)",
    ),
    "what is computed without loads": (
        "e = np.eye(len(y), 4)\nz = np.sort(y)\nreturn e + z[:, :1]",
        "z = np.sort(y)\nreturn np.eye(len(y), 4) + z[:, :1]",
    ),
    "a list handed out": (
        "found = []\nfor v in x:\n    if v > a:\n        found.append(v * c)\nreturn np.array(found), len(found)",
        "found = []\nfor v in x:\n    if v > a:\n        found.append(v * c)\np = np.array(found)\n"
        "return p, len(found)",
    ),
    "parts of reductions": (
        "d, e = x - x.max(), x * x.min()\nreturn (d * e).max(), (d * d).min(), (e * e).max()",
        "d = x - x.max()\ne = x * x.min()\nreturn (e * d).max(), (d ** 2).min(), np.max(e ** 2)",
        "m, w = x.max(), x.min()\nreturn ((x - m) * (x * w)).max(), ((x - m) ** 2).min(), ((x * w) ** 2).max()",
    ),
    "a part of a scan": (
        "w = np.floor(y * 8)\nreturn np.cumsum(w, axis=1)", "return np.cumsum(np.floor(y * 8), axis=1)",
    ),
    "a part of the next state": (
        "u = x.copy()\nfor s in range(9):\n    new = u.copy()\n    part = u[:-2] + u[2:]\n"
        "    new[1:-1] = 0.25 * (u[1:-1] + part)\n    u = new\nreturn u",
        "u = x.copy()\nfor s in range(9):\n    u[1:-1] = 0.25 * (u[1:-1] + (u[:-2] + u[2:]))\nreturn u",
    ),
    "tables": (
        "return np.sqrt(np.abs(x) * a)[k] + y",
        "t = np.sqrt(np.abs(x) * a)\nreturn t[k] + y",
        "return np.sqrt(np.abs(x[k]) * a) + y",
    ),
}
SINGLE = {
    "a number in a branch": "for i in range(len(x)):\n    if x[i] < 0:\n        x[i] = a / c\nreturn x",
    "a number that a loop changes": "for i in range(3):\n    x[:] = x * np.exp(-a)\n    a = a + x[0]\nreturn x, a",
    "of the iteration": "for i in range(3):\n    x[:] = x * np.sqrt(a * i)\nreturn x",
    "where no loop runs": "for i in range(int(a) - 7):\n    x[i] = np.log(-a) / c\nreturn x",
    "of a search": "while a / c < 9 * a and a < 50:\n    a = a + c * 2\nreturn a",
    "tables of two arrays": "return (np.sqrt(x * x) + x[::-1])[k]",
    "rows of a table": "return (y * a + np.sqrt(c))[k[:, 0]]",
    "a table of another size": "return np.sqrt(x[1:] * x[1:] + a)[k % (len(x) - 1)]",
    "a list handed out twice": "t = [v * a for v in x if v > a]\np = np.array(t)\nq = np.array(t)\nreturn p, q, t",
    "a list handed out and changed": "t = [v for v in x if v > a]\np = np.array(t)\nt.append(c)\nreturn p, np.array(t)",
    "a list handed out, changed there": "t = [v for v in x if v > a]\np = np.array(t)\np[:1] = c\nreturn p, sum(t)",
    "from its end": "return (np.sqrt(x * x + 2) + a)[k - len(x)]",
    "a list's": "t = [v * a for v in x]\nreturn (np.sqrt(np.array(t)) + c)[k]",
}


def _text(body: str) -> str:
    return f"import numpy as np\ndef f(x, k, y, a, c):\n{textwrap.indent(body, '    ')}\n"


def _function(body: str) -> Any:
    return function_of(_text(body))


def _arguments(size: int) -> list[Any]:
    rng = np.random.default_rng(size)
    x = rng.standard_normal(size)
    x[1 :: 3] = np.array([np.nan, np.inf, -0.0, 1e300])[np.arange(len(x[1::3])) % 4]
    return [x, rng.integers(0, size, (size, 4)), rng.standard_normal((size, 4)), 0.75, -0.25]


def _program(body: str) -> n.Program:
    return program_of(_text(body), "f", "f(float64[n],int64[n,m],float64[n,m],float,float)", PASSES)


@pytest.mark.parametrize("group", GROUPS)
def test_spellings_are_one_program(group: str) -> None:
    first, *others = (work(_program(body)) for body in GROUPS[group])
    for k, other in enumerate(others):
        assert other - first == first - other or (group == "numbers" and k == 1 and not other - first), group


ALL = [*(x for group in GROUPS.values() for x in group), *SINGLE.values()]
FIRST = [*(group[0] for group in GROUPS.values()), *SINGLE.values()]
"""One of each group: the others are the same program, as another test sees to."""


@pytest.mark.parametrize(("body", "target"), [
    *((body, "cpu") for body in ALL), *((body, target) for body in FIRST for target in ("cuda", "pallas")),
])  # fmt: skip
def test_numpys_answer(body: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = _function(body)
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size in (7, 1, 64) if target == "cpu" else (7,):
        wanted = call(function, _arguments(size))
        found = call(compiled, _arguments(size))
        assert not difference(found, wanted), (body, found, wanted)


def test_a_table_is_computed_once() -> None:
    program = _program(GROUPS["tables"][0])
    roots = [e for top in exprs(program.body) for e in walk_expr(top) if getattr(e, "op", "") == "sqrt"]
    assert len(roots) == 1
    assert not any(isinstance(e, Load) and e.buffer == "k" for e in walk_expr(roots[0]))


def test_numbers_leave_loops() -> None:
    program = _program(GROUPS["numbers"][0])
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop)]
    assert loops
    inside = {e.op for s in loops for top in exprs((s,)) for e in walk_expr(top) if hasattr(e, "op")}
    assert not inside & {"exp", "sqrt", "divide"}

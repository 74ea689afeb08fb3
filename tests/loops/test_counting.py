"""A `while` that counts is a loop over a range (`frontend/loops/counting.py`)."""

from __future__ import annotations

import copy
import inspect
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

PLAIN = {
    "up": "while i < n:\n    s += x[i]\n    i += 1",
    "turned": "while n > i:\n    s += x[i]\n    i = 1 + i",
    "not behind": "while not i >= n:\n    s += x[i]\n    i = i + 1",
    "by two": "while i < n:\n    s += x[i]\n    i += 2",
    "to the last": "while i <= n - 1:\n    s += x[i]\n    i -= -1",
    "next within": "while i + 1 < n:\n    s += x[i] * x[i + 1]\n    i += 1",
    "length": "while i < len(x):\n    s += x[i]\n    i += 1",
    "shape": "while i < x.shape[0] - 2:\n    s += x[i + 2]\n    i += 1",
    "size": "while i < x.size // 2:\n    s += x[2 * i]\n    i += 1",
    "down": "i = n - 1\nwhile i >= 0:\n    s += x[i]\n    i -= 1",
    "down by three": "i = n - 1\nwhile i > 1:\n    s += x[i]\n    i -= 3",
    "both ends": "while 0 <= i < n:\n    s += x[i]\n    i += 1",
    "at first": "while i < n:\n    i += 1\n    s += x[i - 1]",
    "in both branches": "while i < n:\n    if x[i] > 0:\n        s += 1\n        i += 1\n    else:\n        i = i + 1",
    "continue": "while i < n:\n    if x[i] < 0:\n        i += 1\n        continue\n    s += x[i]\n    i += 1",
    "break": "while i < n:\n    if x[i] < 0:\n        break\n    s += x[i]\n    i += 1",
    "break behind": "while i < n:\n    i += 1\n    if x[i - 1] < 0:\n        break\n    s += x[i - 1]",
    "exit first": "while True:\n    if i >= n:\n        break\n    s += x[i]\n    i += 1",
    "exit last": "while True:\n    s += x[i - 1]\n    i += 1\n    if i >= n:\n        break",
    "exit last, not": "while True:\n    s += x[i - 1]\n    i += 1\n    if not i < n:\n        break",
    "exit first, of two": "while True:\n    if i >= n or s > 5:\n        break\n    s += x[i]\n    i += 1",
    "and more": "while i < n and x[i] > 0:\n    s += x[i]\n    i += 1",
    "and a name": "while i < n and (v := x[i]) == v:\n    s += v\n    i += 1",
    "else": "while i < n:\n    s += x[i]\n    i += 1\nelse:\n    s += 100",
    "in a loop": "for k in range(3):\n    i = k\n    while i < n:\n        s += x[i] * k\n        i += 1",
    "of another": "j = 0\nwhile j < n:\n    i = j\n    while i < n:\n        s += x[i]\n        i += 1\n    j += 1",
    "from a number": "i = k\nwhile i < n:\n    s += x[i]\n    i += 1",
    "to a number": "while i < k:\n    s += x[i]\n    i += 1",
    "a list": "o = []\nwhile i < n:\n    o.append(x[i])\n    i += 1\ns = sum(o)",
    "tuples": "while i < 3:\n    s += (1, 2.5, 4)[i]\n    i += 1",
}
OTHERS = {
    "bound changes": "while i < n:\n    n -= 1\n    i += 1",
    "bound is read": "k = k + 2\nwhile i < k:\n    k = k - int(x[i] > 0)\n    i += 1",
    "not always": "while i < n:\n    if x[i] > 0 or s > 3:\n        i += 1\n    s += 1",
    "twice": "while i < n:\n    s += x[i]\n    i += 1\n    if s > 1:\n        i += 1",
    "two steps": "while i < n:\n    s += x[i]\n    if s > 1:\n        i += 2\n    else:\n        i += 1",
    "continue before": "while i < n:\n    s += 1\n    if s < 3:\n        continue\n    i += 1",
    "within a loop": "while i < n:\n    for _ in range(2):\n        i += 1",
    "doubled": "i = 1\nwhile i < n:\n    s += x[i]\n    i *= 2",
    "a bound that is far away": "while i < 9223372036854775807:\n    if i >= n:\n        break\n    i += 1",
    "a float": "i = 0.5\nwhile i < n:\n    s += i\n    i += 1",
    "a float's bound": "while i < n / 2:\n    s += x[i]\n    i += 1",
    "a NumPy integer": "i = np.int8(0)\nwhile i < n:\n    s += x[i] / i\n    i += 1",
    "the other way": "i = -1\nwhile i < 0:\n    i -= 1\n    s += 1\n    if s > 5:\n        break",
    "asked before": "while x[i] > -9 and i < n:\n    s += x[i]\n    i += 1",
    "asked behind": "while True:\n    s += 1\n    i += 1\n    if i >= n or x[i] < 0:\n        break",
    "a list's length": "o = [0, 1]\nwhile i < len(o):\n    if len(o) < n:\n        o.append(i)\n    i += 1\ns = len(o)",
    "set in a condition": "while (i := i + 1) < n:\n    s += x[i]",
}
SPECIAL = [1.0, -0.0, 2.5, np.nan, 3.0, np.inf, 1.5]


def _function(body: str, also: str = ", i") -> tuple[Callable[..., Any], str]:
    lines = textwrap.indent(body, "    ")
    text = f"import numpy as np\ndef f(x, k):\n    i = 0\n    s = 0.0\n    n = len(x)\n{lines}\n    return s{also}\n"
    file = f"<counting {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function, text


def _whiles(text: str) -> int:
    program = program_of(text, "f", "f(float64[n],int)")
    return sum(isinstance(s, n.While) for s in walk(program.body))


@pytest.mark.parametrize("name", PLAIN)
def test_it_is_a_loop_over_a_range(name: str) -> None:
    assert not _whiles(_function(PLAIN[name])[1])


@pytest.mark.parametrize("name", OTHERS)
def test_what_does_not_count_is_none(name: str) -> None:
    assert _whiles(_function(OTHERS[name])[1])


@pytest.mark.parametrize(("name", "target"), [
    *((name, "cpu") for name in (*PLAIN, *OTHERS)),  # a loop over a range, as the first test sees to, is one everywhere
    *((name, target) for name in (*[*PLAIN][::3], *OTHERS) for target in ("cuda", "pallas")),
])  # fmt: skip
def test_results(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of the name that counts, and where there is no iteration."""
    function, _ = _function({**PLAIN, **OTHERS}[name])
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    arrays = [SPECIAL, [1.0, 2.0, -3.0, 4.0, 5.0], [2.0], [3.0, 1.0]] + ([[]] if target == "cpu" else [])
    for values in arrays:
        for k in (0, 3, 1, -2, 9) if target == "cpu" else (1,):
            given = [np.array(values), k]
            wanted = call(function, copy.deepcopy(given))
            found = call(compiled, copy.deepcopy(given))
            assert not difference(found, wanted), (values, k, found, wanted)


def test_a_loop_that_counts_is_as_parallel_as_one_over_a_range() -> None:
    def counted(x, y):  # type: ignore[no-untyped-def]
        i = 0
        while i < len(x):
            j = 0
            while j < x.shape[1]:
                y[i, j] = x[i, j] * 2
                j += 1
            i += 1

    source = textwrap.dedent(inspect.getsource(counted)).replace("  # type: ignore[no-untyped-def]", "")
    program = program_of(source, "counted", "counted(float64[n,m],float64[n,m])")
    assert [s.kind for s in walk(program.body) if isinstance(s, n.Loop)] == ["parallel", "parallel"]

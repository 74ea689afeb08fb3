"""Windows of a few neighbours are written out, and truths that branches set are expressions, with Python's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.tools import require
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.choices.truths import ask_all
from transkern.fuse.passes import PASSES
from transkern.ir import printer

require("cc")

WINDOW = """import numpy as np


def f(a, k):
    n, m = a.shape
    out = np.zeros_like(a)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            {begin}
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    {step}
            out[i, j] = {end}
    return out
"""
WINDOWS = {
    "sum": ("c = 0", "c = c + a[i + di, j + dj]", "c % 2"),
    "weighted": ("c = a[i, j]", "c = c * 2 + a[i + di, j + dj] * k[di + 1, dj + 1]", "c"),
    "all": ("c = True", "if a[i + di, j + dj] == a[i, j] and (di != 0 or dj != 0): c = False", "c"),
    "any": ("c = False", "if not a[i + di, j + dj] < a[i, j]: c = True", "c"),
    "first": ("c = 5", "if a[i + di, j + dj] > k[0, 0]:\n                        c = di\n                        break",
              "c"),
    "not itself": ("c = 0", "if di == 0 and dj == 0: continue\n                    c = c + a[i + di, j + dj]", "c % 2"),
    "most": ("c = a[i, j]", "if a[i + di, j + dj] > c: c = a[i + di, j + dj]", "c"),
    "least": ("c = a[i, j]", "c = min(c, a[i + di, j + dj])", "c"),
    "inside": ("c = 0", "if 0 <= i + 2 * di < n and 0 <= j + 2 * dj < m: c = c + a[i + 2 * di, j + 2 * dj]", "c % 2"),
    "round": ("c = 0", "c = c + a[(i + 2 * di) % n, min(max(j + 2 * dj, 0), m - 1)]", "c % 2"),
    "left": ("c = False", "if a[i + di, j + dj] == 0:\n                        c = True\n                        break",
             "c"),
    "left twice": (
        "c = 0",
        "if a[i + di, j + dj] == 0:\n                        c = 2\n                        if di > k[0, 0]:\n"
        "                            c = 1\n                            break", "c",
    ),
}  # fmt: skip


def made(source: str, types: str) -> str:
    program = specialise(live_function(function_of(source)), parse_signature(f"f({types})")[1], True)
    return "\n".join(
        printer.block(pipeline.run(program, PASSES[: PASSES.index(ask_all) + 1]).body, 0)
    )


def window(name: str) -> str:
    begin, step, end = WINDOWS[name]
    return WINDOW.format(begin=begin, step=step, end=end)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_windows_are_pythons(name: str, dtype: str) -> None:
    function = function_of(window(name))
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(3)
    for shape in ((3, 3), (5, 40), (40, 67), (2, 9), (0, 0)):
        a = rng.integers(0, 3, shape).astype(dtype)
        k = rng.integers(-1, 2, (3, 3)).astype(dtype)
        if dtype == "float64" and a.size:
            a.flat[:: 7], a.flat[3:: 11] = np.nan, -0.0
        with np.errstate(all="ignore"):
            wanted, found = outcome(function, a, k), outcome(compiled, a, k)
        assert wanted == found


def outcome(function: Callable[..., Any], a: np.ndarray, k: np.ndarray) -> Any:
    try:
        result = function(a, k)
    except Exception as error:
        return type(error)
    return result.dtype, result.shape, result.tobytes()


@pytest.mark.parametrize("name, left", [
    ("all", False), ("any", False), ("not itself", False), ("left", False), ("sum", False), ("left twice", True),
])  # fmt: skip
def test_windows_are_written_out(name: str, left: bool) -> None:
    text = made(window(name), "int64[n,m], int64[3,3]")
    assert ("dj in" in text) == left


TRUTHS = {
    "t = a[i, j] > 1 and a[i - 1, j] > 1 and a[i, j - 1] > 0": "logical_and",
    "t = a[i, j] > 1 or a[i - 1, j] > 1 or a[i, j - 1] > 0": "logical_or",
    "t = False\n            if a[i, j] > 1:\n                if a[i - 1, j] > 0: t = True": "logical_and",
    "t = True\n            if a[i, j] > 1: t = a[i - 1, j] > 0": "logical_or",
    "t = a[i, j] > 0\n            if a[i - 1, j] > 1: t = not t": "logical_not",
    "t = a[i, j] > 0\n            u = t and a[i - 1, j] > 1\n            t = u or a[i, j - 1] > 1": "logical_or",
}
"""Statements that set a truth, and what it is made by."""


@pytest.mark.parametrize("lines", TRUTHS)
def test_truths_are_expressions(lines: str) -> None:
    source = (
        "import numpy as np\n\n\ndef f(a):\n    out = np.zeros(a.shape, np.bool_)\n    for i in range(1, a.shape[0]):\n"
        f"        for j in range(1, a.shape[1]):\n            {lines}\n            out[i, j] = t\n    return out\n"
    )
    text = made(source, "int64[n,m]")
    assert "if " not in text.replace(" if ", " ") and TRUTHS[lines].removeprefix("logical_") in text
    function = function_of(source)
    a = np.random.default_rng(0).integers(0, 3, (9, 70))
    np.testing.assert_array_equal(transkern.compile(function, target="cpu")(a), function(a))


def test_what_may_not_be_there_is_asked_for_last() -> None:
    source = """import numpy as np


def f(a, n):
    out = np.zeros(len(a), np.bool_)
    for i in range(len(a)):
        out[i] = i + n < len(a) and a[i + n] > 0
    return out
"""
    assert "logical_and" not in made(source, "int64[n], int")
    function = function_of(source)
    a = np.arange(100) - 50
    for n in (0, 3, 100, 1 << 40):
        np.testing.assert_array_equal(transkern.compile(function, target="cpu")(a, n), function(a, n))

"""Arrays of lengths that only the run knows meet element by element, or one has one for all (`states/unswitch.py`)."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def shifted(x, w):
    n = len(x) - w + 1
    out = x[:n].copy()
    for j in range(1, w):
        out = np.maximum(out, x[j : j + n])
    return out


def shrinking(x, w):
    m = x
    for _ in range(w):
        m = np.minimum(m[1:], m[:-1]) + m[: len(m) - 1] * 0.5
    return m


def growing(x, w):
    m = x[:w]
    for k in range(4):
        m = m + x[k : k + len(m) + 1] * 2.0
    return m


def one_for_all(x, w):
    m = x[: len(x) - w]
    for k in range(3):
        m = m * 0.5 + x[w : w + 1 + k * (len(m) - 1)]
    return m


def with_its_first(x, w):
    m = x[w:]
    for _ in range(3):
        m = m - m[: max(len(m) - len(m) // 2 * 2, 1)]
    return m


FUNCTIONS = [shifted, shrinking, growing, one_for_all, with_its_first]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_lengths(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size in (0, 1, 3, 40):
        x = np.random.default_rng(size).standard_normal(size)
        if size > 3:
            x[1], x[2], x[3] = np.nan, -0.0, np.inf
        for given in (x, x[::-1]) if size == 40 else (x,):
            for w in (0, 1, 2, 39, 60):
                try:
                    with np.errstate(all="ignore"):
                        wanted = function(given, w)
                except ValueError as error:
                    with pytest.raises(ValueError) as found:
                        compiled(given, w)
                    assert str(found.value).strip() == str(error).strip()
                    continue
                np.testing.assert_array_equal(compiled(given, w), wanted, strict=True)


def test_a_state_of_its_own_elements_has_no_copy() -> None:
    text = "import numpy as np\n" + inspect.getsource(shifted).replace("(x, w):", "(x, widths):\n    w = widths[0]")
    program = program_of(text, "shifted", "f(float64[n],int64[m])", PASSES)
    branches = [s for s in walk(program.body) if isinstance(s, n.If) and s.orelse]
    assert any(
        not any(isinstance(x, n.Alloc) for x in walk(s.then)) and any(isinstance(x, n.Alloc) for x in walk(s.orelse))
        for s in branches
    )

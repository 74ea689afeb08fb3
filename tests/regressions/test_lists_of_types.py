"""Lists whose numbers are of several types keep them all, found by generated calls."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

import transkern
from tests.trust.against_python import function, outcome

BODIES = {
    "stored": "l[0] = v\nreturn l",
    "appended": "l.append(v)\nreturn l",
    "inserted": "l.insert(0, v)\nreturn l",
    "extended": "l += [v, v]\nreturn l",
    "in a slice": "l[:1] = [v]\nreturn l",
    "of an array": "m = list(x)\nm[0] = v\nreturn m",
    "begun with an element": "m = [x[0]]\nm.append(v)\nreturn m, m[0], m[-1]",
    "in a loop": "m = []\nfor i in range(len(x)):\n    m.append(x[i])\n    if i == 1:\n        m.append(v)\nreturn m",
    "ordered": "l.append(v)\nreturn sorted(l), max(l), min(l)",
    "summed": "l.append(v)\nreturn sum(l)",
    "of one or two": "m = [l[0]]\nif len(x) > 2:\n    m.append(v)\nreturn max(m), min(m), sum(m), m",
}
LISTS = ([np.uint8(200), 1], [200, -1], [2**60 + 1, 3], [0.1, 2.5], [np.float32(0.1)])
ARRAYS = (np.array([200, 1, 2], "u1"), np.array([-100, 1, 2], "i1"), np.array([2**63 + 5, 1], "u8"), np.ones(3, "f4"))
NUMBERS = (-3, 300, 3.5, 2**60 + 1, 0.1, np.uint8(3), np.uint64(3), np.float32(0.1), np.int64(-7))


def _is_refused(found: tuple[str, Any]) -> bool:
    """While it is compiled, or by a check in compiled code."""
    checks = ("an integer beyond 2**53", "Python int too large for compiled code", "the numbers in a list are of types")
    return found[0] == "refused" or str(found[1]).startswith(checks)


@pytest.mark.parametrize("body", BODIES)
def test_lists_of_several_types(body: str) -> None:
    """Python's numbers had the type of NumPy's beside them (253 for -3 among uint8, 1 for 2**60 + 1), integers among
    floats were rounded, and a sum or an extreme had the type of the list's memory."""
    plain = function(BODIES[body], "l, x, v")
    right = 0
    of_list = "l" in BODIES[body].replace("list", "").replace("else", "")
    cases = itertools.product(LISTS if of_list else LISTS[:1], ARRAYS[:1] if of_list else ARRAYS, NUMBERS)
    compiled = transkern.compile(plain, target="cpu")
    for case in cases:
        wanted, found = (outcome(f, *copy.deepcopy(case)) for f in (plain, compiled))
        assert found == wanted or _is_refused(found), case
        right += found == wanted
    assert right > 8


def test_what_memory_does_not_hold_is_refused() -> None:
    f: Any = transkern.compile(function("l.append(v)\nreturn l", "l, v"), target="cpu")
    with pytest.raises(OverflowError, match="beyond 2"):
        f([2**60 + 1, 3], 0.5)
    assert f([2**53, 3], 0.5) == [2**53, 3, 0.5]


ROWS = (
    "rows = [[v, 1] for v in x]\nrows[0][1] = 5\nrows[1][0] = 2\nreturn rows, rows[0][1], rows[0]",
    "rows = []\nfor v in x:\n    rows.append([v, n])\nfor r in rows:\n    r[1] += 1\nreturn rows",
    "rows = [[0, 1.5] for v in x]\nrows[1][0] += 1\nreturn rows, rows[1][0] // 2, rows[0][1]",
    "rows = [[0] * 3 for v in x]\nfor k, v in enumerate(x):\n    rows[k][k] = v\nreturn rows, rows[0][1] + 1",
    "rows = [[0, 0] for v in x]\nrows[1][0] += x[0]\nrows[0][1] -= n\nreturn rows",
    "rows = []\nfor v in x:\n    rows.append([])\n    rows[-1].append(v)\n    rows[-1].append(n)\nreturn rows",
    "l = [n for v in x]\nl[0] = x[1]\nl[1] += 1\nreturn l",
)


@pytest.mark.parametrize("body", ROWS)
@pytest.mark.parametrize("x", [np.array([0.5, 3.0]), np.array([1.5, -0.0], np.float32)])
def test_rows_of_several_types(body: str, x: np.ndarray) -> None:
    """Short lists in a list whose items change were of one type; an integer that this rounded, or an append that it
    did not hold, was lost."""
    plain = function(body, "x, n")
    compiled = transkern.compile(plain, target="cpu")
    for n in (3, 2**53, 2**60 + 1):
        wanted, found = (outcome(f, x.copy(), n) for f in (plain, compiled))
        assert found == wanted or ((n > 3 or x.dtype == np.float32) and _is_refused(found)), n


CHOICES = (
    "n = 1\nif c:\n    n = 1.5\nreturn n ** 2, n * 2, n ** 3", "n = 2 if c else 0.5\nreturn n ** 2, n ** n, 2 ** n",
)  # fmt: skip


@pytest.mark.parametrize("body", CHOICES)
def test_powers_of_an_integer_or_a_float(body: str) -> None:
    """`1 ** 2` was 1.0 where the other path has a float."""
    plain = function(body, "c")
    compiled = transkern.compile(plain, target="cpu")
    for c in (0, 1):
        assert outcome(compiled, c) == outcome(plain, c)

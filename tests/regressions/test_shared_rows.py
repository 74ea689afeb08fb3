"""Lists and arrays that stand in several places of a list, and names of ours that the user has, too.

Compiled lists hold copies; a change in place is seen in all places, or refused, and what nobody changes is compiled.
"""

from __future__ import annotations

import textwrap

import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike

LISTS = "rows = [[float(i)] * k for i in range(k)]\n"
ARRAYS = "rows = [np.zeros(3) + i for i in range(k)]\n"
OTHER = LISTS + "other = [[2.0] * k for _ in range(k)]\n"
NEW = LISTS + "new = [1.0] * k\n"

RIGHT = (
    LISTS + "rows[0] = rows[1]\nrows[1][0] = 5.0\nreturn rows[0][0]\n",
    LISTS + "rows[0] = rows[1]\nrows[0].append(5.0)\nreturn rows\n",
    LISTS + "rows[0] = rows[1]\nfor row in rows:\n    row[0] += 1.0\nreturn rows\n",
    LISTS + "a = rows[1]\nrows[0] = a\na[0] = 1.0\nreturn rows[0][0]\n",
    LISTS + "t = rows[0]\nrows[0] = rows[1]\nrows[1] = t\nrows[1][0] = 5.0\nreturn rows\n",
    LISTS + "rows[0], rows[1] = rows[1], rows[1]\nrows[1][0] = 9.0\nreturn rows[0][0]\n",
    LISTS + "for i in range(1, k):\n    rows[i - 1][0] += 1.0\n    rows[i] = rows[i - 1]\nreturn rows\n",
    LISTS + "rows[0] = rows[1][:]\nrows[1][0] = 9.0\nreturn rows\n",
    LISTS + "for i in range(k):\n    new = [float(i)] * k\n    rows[i] = new\nrows[0][0] = 7.0\nreturn rows\n",
    LISTS + "def put(rows, i, row):\n    rows[i] = row\nput(rows, 0, rows[1])\nrows[1][0] = 9.0\n"
    "return rows\n",
    "rows = [[float(i), 2.0] for i in range(k)]\nrows[0] = rows[1]\nrows[0][1] = 7.0\nreturn rows\n",
    # lists that a loop binds anew
    "rows, cur = [], []\nfor i in range(k * 2):\n    cur.append(float(i))\n    if i % 2:\n"
    "        rows.append(cur)\n        cur = []\nrows[0].append(5.0)\nreturn rows\n",
)  # fmt: skip

UNCHANGED = (
    LISTS + "rows[0] = rows[1]\nbest = rows[0]\nreturn sum(best), rows, best\n",
    LISTS + "for i in range(k - 1):\n    rows[i], rows[i + 1] = rows[i + 1], rows[i]\n    rows[i][0] += 5.0\n"
    "return rows\n",
    LISTS + "prev = [0.0] * k\nfor i in range(k):\n    cur = [0.0] * k\n    for j in range(k):\n"
    "        cur[j] = prev[j] + j\n    rows[i] = cur\n    prev = cur\nreturn rows, prev\n",
    NEW + "for i in range(k):\n    rows[i] = new\nreturn rows\n",
    ARRAYS + "rows[0] = rows[1]\nreturn rows\n",
)  # fmt: skip

REFUSED = (
    NEW + "rows[0] = new\nrows[1] = new\nrows[1][0] = 5.0\nreturn rows[0][0]\n",
    NEW + "rows[0] = new\nrows[0][0] = 7.0\nreturn new[0]\n",
    NEW + "for i in range(k):\n    rows[i] = new\nrows[0][0] = 7.0\nreturn rows[1][0]\n",
    NEW + "out = []\nout.append(new)\nout.append(new)\nout[0][0] = 5.0\nreturn out[1]\n",
    "new = [1.0, 2.0]\nout = []\nfor i in range(k):\n    out.append(new)\nout[0][0] = 5.0\n"
    "return out[1]\n",
    OTHER + "rows[0] = other[1]\nrows[0][0] = 9.0\nreturn other\n",
    OTHER + "rows[0] = other[1]\nother[1][0] = 9.0\nreturn rows\n",
    OTHER + "rows[0] = other[1]\nrows[1] = other[1]\nrows[0][0] = 9.0\nreturn rows\n",
    # values of dicts
    "d = {i: [0.0] * 3 for i in range(k)}\nd[0] = d[1]\nd[1][0] = 1.0\nreturn d[0][0]\n",
    "d = {i: [0.0] * 3 for i in range(k)}\nnew = [1.0] * 3\nfor i in range(k):\n    d[i] = new\n"
    "d[0][0] = 9.0\nreturn d[1]\n",
    # arrays
    ARRAYS + "rows[0] = rows[1]\nrows[1][0] = 1\nreturn rows[0][0]\n",
    ARRAYS + "a = np.ones(3)\nrows[0] = a\nrows[1] = a\nrows[0][0] = 9\nreturn rows[1][0]\n",
    ARRAYS + "a = np.ones(3)\nfor i in range(k):\n    rows[i] = a\nrows[0][0] = 9\nreturn rows[1][0]\n",
    "a, out = np.ones((k, 3)), []\nfor i in range(k):\n    out.append(a[0])\nout[0][1] = 9\n"
    "return out[1]\n",
    # what a loop puts into lists and dicts from before it
    "a, rows = np.zeros(3), [np.ones(3), np.ones(3)]\nfor i in range(k):\n    rows[0] = a\na[1] = 3\n"
    "return rows\n",
    "a = np.zeros(3)\nd = {'p': np.ones(3), 'q': a}\nfor i in range(k):\n    d['p'] = a\n"
    "d['p'][0] = 9\nreturn d\n",
)  # fmt: skip

TAKEN = (
    "rows = [np.zeros(3), np.ones(3)]\nitem = rows[0]\nif k > 2:\n    item = np.ones(3) * k\n"
    "item[0] = 5.0\nreturn rows[0][0] + rows[1][0]\n",
    "rows = [np.zeros(3), np.ones(3)]\nitem = rows[0]\nfor i in range(k):\n    item[0] = 5\n"
    "    item = np.ones(3)\nreturn rows[0][0] + rows[1][0]\n",
    "item = np.zeros(3)\nrows = [item, np.ones(3)]\nfor i in range(k - 2):\n    item = np.ones(3)\n"
    "item[0] = 5\nreturn rows[0], item\n",
    "item = np.zeros(3)\ny = item if k > 2 else np.ones(3) * k\ny[0] = 5.0\nreturn item, y\n",
)  # fmt: skip


def _function(body: str) -> object:
    return function_of("import numpy as np\n\n\ndef f(k):\n" + textwrap.indent(body, "    "))


@pytest.mark.parametrize("body", RIGHT + UNCHANGED)
def test_rows_that_are_shared(body: str) -> None:
    for k in (2, 3):
        alike(_function(body), k)  # type: ignore[arg-type]


@pytest.mark.parametrize("body", REFUSED)
def test_copies_that_would_be_seen(body: str) -> None:
    """Right or refused."""
    for k in (2, 3):
        try:
            alike(_function(body), k)  # type: ignore[arg-type]
        except transkern.CompileError as error:
            assert error.kind.code in ("TK1402", "TK1405", "TK1501"), error


@pytest.mark.parametrize("name", ["item", "chosen", "items", "value", "row", "rest", "held", "next"])
@pytest.mark.parametrize("body", TAKEN)
def test_names_of_ours_that_the_user_has(name: str, body: str) -> None:
    """`item` was the name of whatever stands in a list, and `chosen` of a conditional expression's array."""
    for k in (2, 3):
        alike(_function(body.replace("item", name)), k)  # type: ignore[arg-type]

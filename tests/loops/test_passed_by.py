"""Passes that do nothing but to loops leave out blocks without one: their programs are those of passes that do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transkern.analysis.verdicts import Walk
from transkern.fuse.passes import PASSES
from transkern.pipeline import program_of

CASES: dict[str, tuple[str, str]] = {
    "a_table": (
        "def f(x, n):\n    t = np.zeros((n, n))\n    for i in range(1, n):\n        for j in range(1, n):\n"
        "            if x[i] == x[j]:\n                t[i, j] = t[i - 1, j - 1] + 1\n            else:\n"
        "                t[i, j] = max(t[i - 1, j], t[i, j - 1])\n    return t",
        "f(float64[m], int)",
    ),
    "branches": (
        "def f(x, k):\n    y = np.zeros(len(x))\n    if k > 0:\n        y[0] = k\n        s = 0.0\n"
        "        for i in range(len(x)):\n            s += x[i]\n            y[i] = s\n    else:\n        y[0] = x[0]\n"
        "        for i in range(1, len(x)):\n            y[i] = y[i - 1] * 0.5 + x[i]\n"
        "    y[len(x) - 1] = 2.0\n    return y",
        "f(float64[n], int)",
    ),
    "places_in_an_array": (
        "def f(x, k):\n    p = np.argsort(x)\n    if k > 1:\n        q = p\n    else:\n"
        "        q = p[::-1]\n    s = 0.0\n"
        "    for i in range(len(x)):\n        if q[i] > k:\n            s = s + x[q[i]]\n            if s > 10.0:\n"
        "                s = s * 0.5\n        else:\n            s -= x[p[i]]\n    return s",
        "f(float64[n], int)",
    ),
    "a_dict": (
        "def f(x):\n    d = {}\n    for v in x:\n        if v in d:\n            d[v] += 1\n"
        "        else:\n            d[v] = 1\n"
        "    t = 0\n    for k in d:\n        if d[k] > 1:\n            t += k\n    return t",
        "f(int64[n])",
    ),
    "a_search": (
        "def f(x, w):\n    k, steps = 0, 0\n    while k < len(x) and x[k] < w:\n"
        "        if x[k] > 0.0:\n            steps += 1\n"
        "        k += 1\n    return k, steps",
        "f(float64[n], float)",
    ),
    "filters": (
        "def f(x, w):\n    kept = x[x > w]\n    y = np.zeros(len(kept))\n    for i in range(len(kept)):\n"
        "        y[i] = kept[i] if i == 0 else y[i - 1] + kept[i]\n    return y, kept.sum()",
        "f(float64[n], float)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("source, types", CASES.values(), ids=CASES)
def test_programs_are_the_same(source: str, types: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[bool] = []
    passes_by: Callable[..., bool] = Walk.passes_by

    def counted(self: Walk, statements: Any) -> bool:
        passed.append(passes_by(self, statements))
        return passed[-1]

    made = []
    for answer in (counted, lambda *_: False):
        monkeypatch.setattr(Walk, "passes_by", answer)
        made.append(program_of(f"import numpy as np\n{source}\n", "f", types, PASSES))
    assert any(passed) and not all(passed)
    assert made[0] == made[1]


def test_what_branches_say_of_arrays_is_not_passed_by() -> None:
    """With something known of all elements of an array, a name for it in a block without loops is one, too."""
    walk = Walk.__new__(Walk)
    for only, everywhere in itertools.product((False, True), ([], [np])):
        walk.loops_only, walk.everywhere = only, everywhere  # type: ignore[assignment]
        assert walk.passes_by(()) is (only and not everywhere)

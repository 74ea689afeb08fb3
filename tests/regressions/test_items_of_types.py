"""Items that a type does not have, or does not let go: Python's TypeError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome

DELETED = (
    "t = (x, 2)\ndel t[0]\nreturn len(t)",
    "t = (x, 2)\ndel t[:1]\nreturn len(t)",
    "t = x[0] + 1, 3\ndel t[len(k)]",
    "t = ()\ndel t[7]",
    "del x.shape[0]",
    "del divmod(len(x), 2)[0]",
    "t = {'a': (1, 2)}\ndel t['a'][0]",
    "t = [(v, 2) for v in x]\ndel t[0][0]",
    "t, u = (1, 2), [1, 2]\ndel u[0], t[0]\nreturn u",
    "t = (1, 2)\nfor i in range(len(x)):\n    if x[i] > 0.7: del t[i]\nreturn 1",
    "t = (1, 2)\ntry:\n    del t[0]\nexcept TypeError:\n    return 5",
    "t = 'abc'\ndel t[0]", "t = None\ndel t[0]", "t = range(3)\ndel t[0]", "t = x[0]\ndel t[0]", "t = 3\ndel t[0]",
    "t = {1, 2}\ndel t[1]", "t = len\ndel t[0]", "t = set(k)\ndel t[0]", "del x[0]", "del y[0, 1]", "del x[:1]",
    "t = [1, 2]\ndel t[0, 1]", "t = x.tolist()\ndel t['a']", "t = x.tolist()\ndel t[x[0]]",
)  # fmt: skip
TAKEN = (
    "s = set(k)\nreturn s[0]", "s = set(k)\nreturn s[:1]", "s = set(k)\nreturn s['a']", "s = set(k)\nreturn s[0, 1]",
    "s = set()\nfor v in k: s.add(v)\nreturn s[0]", "s = frozenset(k)\nreturn s[0]", "return {v + 1 for v in k}[k[0]]",
    "s = set(k)\ns[0] += 1", "s = set(k)\nreturn 1 if x[0] > 100 else s[0]",
)
STORED = (
    "s = set(k)\ns[0] = 1", "s = frozenset(k)\ns[0] = 1", "s = {1, 2}\ns[0] = 1", "t = (x, 1)\nt[0] = 1",
    "t = (x, 1)\nt[1] += 1", "t = (x, 1)\nt[0:1] = (1,)", "t = 'abc'\nt[0] = 'd'", "t = None\nt[0] = 1",
    "t = range(3)\nt[0] = 1", "t = len\nt[0] = 1", "t = x.tolist()\nt[0, 1] = 1", "t = x[0]\nt[0] = 1",
)


@pytest.mark.parametrize("body", (*DELETED, *TAKEN, *STORED))
def test_what_has_no_such_items(body: str) -> None:
    plain, compiled = both(body)
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted


def deleted(x: Any) -> Any:
    t = (x, 2)
    del t[0]
    return len(t)


def taken(x: Any) -> Any:
    s = set()
    for v in x:
        s.add(v)
    return s[0]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(deleted, np.arange(3.0), target=on_target(target, monkeypatch))
    alike(taken, np.arange(3), target=on_target(target, monkeypatch))

"""``a[:] = values`` of lists: refused with a message about something else, or an internal error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome

GROWN = "a = [1.0]\nb = []\nfor v in x:\n    b.append(v)\n"
LIST = "a = x.tolist()\n"
RIGHT = (
    GROWN + "    a[:] = b\nreturn a, b",
    GROWN + "a[:] = b\nb[0] = 9.0\nreturn a, b",
    GROWN + "b[:], a[:] = a, b\nreturn a, b",
    "a = [1, 2]\na[:] = x[x > 0.5]\nreturn a",
    "a = [1.0]\na[:] = [v for v in x if v > 0.5]\nreturn a",
    LIST + "a[:] = []\nreturn a",
    LIST + "c = a\na[:] = sorted(a, reverse=True)[:2]\nreturn a, c",
    LIST + "a[:] = np.array(a) * 2\nreturn a",
    LIST + "a[:] = range(len(a))\nreturn a",
    LIST + "a[:] = a[1], a[0], a[0] + a[1]\nreturn a",
    LIST + "a[:] = a\nreturn a",
    LIST + "a[:] = a + a\nreturn a",
    LIST + "n, z = len(a), np.zeros(len(a))\na[:] = [1.0]\nreturn a, n, z",
    LIST + "for v in a:\n    a[:] = [v, v, v]\nreturn a",
    LIST + "while len(a) > 1: a[:] = a[1:]\nreturn a",
    LIST + "if x[0] > 0.5: a[:] = [7.0]\nreturn a",
    LIST + "def g(l): l[:] = [v for v in l if v > 0.5]\ng(a)\nreturn a",
    LIST + "a[:] = 5",
    LIST + "a[:] = None",
    "a = [1, 2]\na[:] = len(x)",
    "a = [1, 2]\na[::2] = 5",
    "a = [1, 2]\na[::2] = [5, 6]",
    "a = [1, 2]\na[::-1] = [5, 6]\nreturn a",
    LIST + "a[1:] = a[:-1]\nreturn a",
    LIST + "a[:1] = [5.0, 6.0]\nreturn a",
    "a = [1, 2]\na[1:] = [v for v in x if v > 0.5]\nreturn a",
)
REFUSED = (
    "a = [1, 2]\na[::2] = [v for v in x if v > 0.5]\nreturn a",
    "a = [x * v for v in x]\na[:] = [x]\nreturn a",
)


@pytest.mark.parametrize("body", (*RIGHT, *REFUSED))
def test_stores_into_slices(body: str) -> None:
    plain, compiled = both(body)
    for which in range(3):
        found, wanted = (outcome(f, *arguments(which)) for f in (compiled, plain))
        if body in RIGHT:
            assert found == wanted
        else:
            assert found[0] == "refused" and "a store into a slice of a list" in found[1]


def filled(x: Any) -> Any:
    a, b = [0.0], []
    for v in x:
        b.append(v)
        a[:] = b
        a.append(v * 2)
    return a


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(filled, np.arange(5.0), target=on_target(target, monkeypatch))

"""Loops over lists, dicts, sets and ranges whose length, or whose elements, their body changes."""

from __future__ import annotations

import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.trust.against_python import outcome

LIST = "l = x.tolist()\nout = []\n"
KNOWN = "l = [1, 2, 3, 4]\nout = []\n"
KEYS = "d = {}\nfor v in k: d[int(v)] = 1\n"

RIGHT = (
    LIST + "for i in range(len(l)):\n    if l[i] > 0.7: del l[i]\nreturn l",
    LIST + "for i in range(len(l)):\n    l.pop()\n    l.pop()\nreturn l",
    LIST + "for i in range(len(l)):\n    l.clear()\n    l[i] = 7.0\nreturn l",
    LIST + "for i in range(len(l) - 1):\n    a = l.pop()\n    if a > 0.5: l.pop()\n    l.append(a)\nreturn l",
    LIST + "for i in range(len(l)):\n    l.append(l[i] * 2)\nreturn l",
    LIST + "for v in l:\n    out.append(v)\n    l.pop()\nreturn l, out",
    LIST + "for v in l:\n    out.append(v)\n    if v < 2 and len(l) < 20: l.append(v + 0.5)\nreturn l, out",
    LIST + "for v in l:\n    if v > 1: continue\n    if len(l) > 9: break\n    l.append(v + 0.5)\nreturn l",
    LIST + "for i, v in enumerate(l, 3):\n    out.append(v)\n    if i < 6: l.append(v)\nreturn l, out",
    KNOWN + "for v in l:\n    out.append(v)\n    if v == 2: l.remove(v)\nreturn l, out",
    KNOWN + "for v in l:\n    out.append(v)\n    del l[0]\nreturn l, out",
    KNOWN + "for v in l:\n    out.append(v)\n    l[2] = 50\nreturn l, out",
    KNOWN + "for i, v in enumerate(l):\n    out.append(v)\n    if v < 3: l.append(v + 5)\nreturn l, out",
    KNOWN + "for a, v in zip(l, l[1:]):\n    out.append((a, v))\n    l[2] = 9\nreturn l, out",
    KNOWN + "return [l.pop() for v in l]",
    "l = [k[0], 2]\nfor v in l:\n    if len(l) < 6: l.append(v)\nreturn l",
    "rows = [[v] for v in x]\nfor r in rows:\n    if r[0] < 1 and len(rows) < 9: rows.append([r[0] + 1])\nreturn rows",
    "d = {'a': 1, 'b': 2}\nout = []\nfor a, v in d.items():\n    out.append(v)\n    d['b'] = 50\nreturn out, d",
    "d = {'a': 1, 'b': 2}\nfor a in d:\n    d[a + 'x'] = 1\nreturn d",
    KEYS + "for a in d:\n    d[a + 100] = 1\nreturn d",
    KEYS + "for a in list(d):\n    d[a + 100] = 1\nreturn d",
    KEYS + "for a in d:\n    d[a] += 1\nreturn d",
    KEYS + "for a in d.keys():\n    d.pop(a)\nreturn d",
    "s = set()\nfor v in k: s.add(int(v))\nfor a in s:\n    s.add(a + 1)\nreturn s",
    "return [a + b for a, b in zip(x, k, strict=True)]",
    "return list(zip([1, 2], [3, 4, 5], strict=True))",
    "return list(zip(x, x * 2, strict=True)), list(zip(x, k, strict=False))",
)
REFUSED = (
    "l = deque(x.tolist())\nfor v in l:\n    l.append(v)\nreturn len(l)",
    LIST + "for v, w in zip(l, k.tolist()):\n    l.pop()\nreturn l",
)


@pytest.mark.parametrize("body", RIGHT + REFUSED)
def test_loops_over_what_changes(body: str) -> None:
    plain, compiled = both(body)
    for which in range(3):
        found, wanted = (outcome(f, *arguments(which)) for f in (compiled, plain))
        assert found == wanted if body in RIGHT else found[0] == "refused", body

"""Loops over lists, dicts, sets and ranges whose length, or whose elements, their body changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
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
    "d = {1: 2, 3: 4}\nfor a in d:\n    d.pop(a)\n    d[a + 50] = 1\nreturn d",
)


@pytest.mark.parametrize("body", RIGHT + REFUSED)
def test_loops_over_what_changes(body: str) -> None:
    plain, compiled = both(body)
    for which in range(3):
        found, wanted = (outcome(f, *arguments(which)) for f in (compiled, plain))
        assert found == wanted if body in RIGHT else found[0] == "refused", body


LISTS = (
    "l = [1.0, 2.0, 3.0]", "l = x.tolist()", "l = [x.item(0), 2.0]", "l = []\nfor v in x: l.append(v)", "l = x[:3] + 1",
)  # fmt: skip
OVER = (
    "reversed(l)", "enumerate(l)", "enumerate(reversed(l))", "enumerate(reversed(l), 4)", "zip(x, l)",
    "zip(l, reversed(l))", "zip([5, 6, 7], reversed(l))", "map(abs, l)", "filter(None, l)", "(v * 2 for v in l)",
    "(v for v in reversed(l))", "(v + w for v in l for w in l if w > 1)", "enumerate(map(abs, l))",
    "enumerate(l[:])",
)  # fmt: skip
MADE_BEFORE = ("zip(map(abs, l), x)", "twice(l)", "zip((v for v in l), x)", "enumerate(twice(l))")
"""Elements of these are made before the loop, or the loop is refused."""
CHANGED = (
    "l[0] = 9.0", "l[-1] = 8.0", "l[1] += x[0]", "if n == 1: l[0] = 7.0", "if x[0] > 0.3: l[-1] = 7.0", "l = l[::-1]",
    "if n == 1: continue\n    l[0] = 5.0", "l[0] = n\n    if n > 1: break",
)
LONGER = (
    "l.append(7.0)", "l.pop()", "l.pop(0)", "l.insert(0, 6.0)", "l.clear()", "if n == 1: del l[0]", "l[:] = [1.0]",
)  # fmt: skip
BODY = (
    "def twice(q): return (v * 2 for v in q)\n{}\nn, got = 0, []\nfor e in {}:\n"
    "    n += 1\n    got.append(e)\n    {}\n"
)


@pytest.mark.parametrize("over", OVER + MADE_BEFORE)
def test_iterators_over_what_changes(over: str) -> None:
    """Elements that an iterator came to later were those from before the loop."""
    right = 0
    for made in LISTS:
        for changed in CHANGED + LONGER * ("x[:3]" not in made):
            plain, compiled = both(BODY.format(made, over, changed) + "    if n > 9: break\nreturn got, n, l")
            found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
            assert found == wanted or found[0] == "refused", (made, changed)
            right += found == wanted
    assert right >= len(LISTS) * len(CHANGED) // 2 * (over in OVER)


DICTS = ("d = {1: 1.0, 2: 2.0}", "d = {v: x[0] + v for v in range(1, len(x) + 1)}")
OVER_DICTS = (
    "d", "d.values()", "d.items()", "enumerate(d)", "enumerate(d.values())", "enumerate(d.items(), 2)", "reversed(d)",
    "reversed(d.values())", "zip(d, x)", "zip(d.values(), x)", "zip(x, d.items())", "map(abs, d.values())",
    "(v for v in d.values())",
)  # fmt: skip
CHANGED_DICTS = (
    "d[2] = 9.0", "d[1] += 1", "if n == 1: d[2] = 7.0", "d[77] = 1.0", "d.pop(2, None)", "d.clear()", "d[2] = n",
)  # fmt: skip


@pytest.mark.parametrize("over", (*OVER_DICTS, "twice(d.values())"))
def test_iterators_over_dicts_that_change(over: str) -> None:
    right = 0
    for made in DICTS:
        for changed in CHANGED_DICTS:
            body = BODY.format(made, over, changed).replace("l.", "d.") + "    if n > 9: break\nreturn got, n, d"
            plain, compiled = both(body)
            found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
            assert found == wanted or found[0] == "refused", (made, changed)
            right += found == wanted
    assert right >= len(CHANGED_DICTS) // 2 * (over in OVER_DICTS)


EFFECTS = (
    "for a in map(print, [1, 2]):\n    print('body', a)",
    "for a in (print(v) for v in (1, 2)):\n    print('body')",
    "c = 2.0\nt = 0.0\nfor a in (v * c for v in x):\n    c = 5.0\n    t += a\nreturn t",
    "c = 2.0\nt = 0.0\nfor a in map(lambda v: v * c, x):\n    c = 5.0\n    t += a\nreturn t",
    "v = 7.0\nfor a in (v + 1 for v in x): pass\nreturn a, v",
    "for a in map(abs, x):\n    if a > 0.5: return a\nreturn 0.0",
    "t = 0.0\nfor a in map(abs, x): t += a\nelse: t += 100\nreturn t",
    "for a in ((lambda w: w * v)(2) for v in x): pass\nreturn a",
)


NAMES = "def g(v): return v * c\ndef same(q): return q\nc, m, got = 2.0, x.tolist(), []\n"
OF_NAMES = (
    "(v * c for v in x)", "(m[0] for v in x)", "(g(v) for v in m)", "map(g, x)", "map(lambda v: v + c, m)",
    "filter(lambda v: v < c, x)", "(len(m) for v in (1, 2))",
)  # fmt: skip
BOUND = ("c = 5.0", "if len(got) == 1: c = 7.0", "m = [1.0]", "x = x * 2")


@pytest.mark.parametrize("made", OF_NAMES)
def test_names_that_elements_are_made_of(made: str) -> None:
    """Elements of an iterator were made of what names stood for before the loop."""
    for loop in ("for e in {}:", "for i, e in enumerate({}):", "for e, w in zip({}, k):", "for e in same({}):"):
        for bound in BOUND:
            plain, compiled = both(NAMES + loop.format(made) + f"\n    got.append(e)\n    {bound}\nreturn got, c, m, x")
            found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
            assert found == wanted or found[0] == "refused", (loop, bound)


@pytest.mark.parametrize("jump", ["break", "if x[0] > 0.3: break", "if x[0] > 3: break", "return n"])
@pytest.mark.parametrize("over", ["d", "d.values()", "enumerate(d)"])
def test_dicts_that_grow_before_a_break(over: str, jump: str) -> None:
    """Python looks at the size when the next element is asked for; it raised where none is."""
    for made in ("{1: 1.0, 2: 2.0}", "{int(v): 1.0 for v in k}"):
        loop = f"for e in {over}:\n    n += 1\n    d[77] = 5.0\n    {jump}\nreturn d, n"
        plain, compiled = both(f"d, n = {made}, 0\n{loop}")
        found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
        assert found == wanted


@pytest.mark.parametrize("body", EFFECTS)
def test_elements_made_one_by_one(body: str) -> None:
    plain, compiled = both(body if "return" in body else f"{body}\nreturn a")
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted


def backwards(x: Any) -> Any:
    out, grown, total = [1.0, 2.0, 3.0], [0.5], 0.0
    for v in x:
        grown.append(v)
    for a in reversed(out):
        out[0] = x[0]
        total += a
    for i, a in enumerate(reversed(grown)):
        grown[1] = 7.0
        total += i * a
    for a in (v * 2 for v in x):
        x[-1] = 4.0
        total += a
    return total, out, grown


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(backwards, np.arange(5.0) + 10, target=on_target(target, monkeypatch))

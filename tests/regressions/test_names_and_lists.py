"""Found by adversaries among programs that people write: lists under two names, iterators, views of dicts, patterns,
errors of keys. Right, or refused; never another answer."""

from __future__ import annotations

import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.trust.against_python import outcome

KEYS = "d = {}\nfor v in k: d[int(v)] = 1\n"

RIGHT = (
    # what a loop makes of None, where it also breaks
    "best = None\nfor v in x:\n    best = (v, v)\n    if v > 1: break\nreturn best",
    "best = None\nfor i in range(len(x)):\n    for j in range(i + 1, len(x)):\n        d = abs(x[i] - x[j])\n"
    "        if best is None or d < best[0]: best = (d, i, j)\n        if d == 0: break\nreturn best",
    "p = None\nfor v in x:\n    p = v, v + 1\n    if v < 0: continue\n    x[0] += 1\nreturn p",
    # lists that are appended before the name gets another
    "out, cur = [], []\nfor v in x:\n    if v > 0.7:\n        out.append(cur)\n        cur = []\n    cur.append(v)\n"
    "out.append(cur)\nreturn out",
    "out, cur = [], np.zeros(2)\nfor v in x:\n    cur[0] += v\n    if v > 0.7:\n        out.append(cur)\n"
    "        cur = np.zeros(2)\nreturn out, cur",
    # one array in a list several times
    "a = np.zeros(3)\nl = [a] * 2\nl[0][1] = 4\nreturn a, l",
    "a = np.ones(3)\nl = (a,) * 2\nl[0][0] = 7\nreturn a, l",
    "a = np.ones((2, 2))\nl = [a] * len(k)\nl[0][0] = 7\nreturn a, l",
    "a = np.ones((2, 2))\nb = []\nb += [a]\nb[0][0] = 7\nreturn a, b",
    "a = np.ones((2, 2))\nb = []\nc = [a]\nb += c\nb[0][0] = 7\nreturn a, b",
    "match int(k[0]):\n    case 0: r = 1\n    case n if n > 2: r = n\n    case _: r = 5\nreturn r",
    "match int(k[0]):\n    case n if n > 1: r = n\n    case 1 | 0: r = 5\nreturn r, n",
    "g = (v * 2 for v in x if v > 0.5)\nn = len(x)\nreturn list(g), n",
    "g = zip(x, k)\nx[0] = 50\nreturn list(g)",
    "d = {'a': 1, 'b': 2}\nks = d.keys()\nreturn list(ks), [q for q in ks]",
    KEYS + "return d[55]",
    KEYS + "return d[k[0] + 9]",
    KEYS + "del d[88]\nreturn d",
    "d = {}\nfor v in k: d[int(v), 1] = 1\nreturn d[int(k[0]), 2]",
    KEYS + "try:\n    return d[55]\nexcept KeyError:\n    return -1",
    "s = set()\nfor v in k: s.add(int(v))\ns.remove(99)\nreturn s",
    "return {1: 1}[int(k[0]) + 5]",
    "return len(x) ** -1, 2 ** -3, int(k[0]) ** 2",
    "return np.histogram(np.array([-106, -66, -99, 54, -89], np.int8), bins=8)",
    "return np.histogram(np.array([-2 ** 63, 2 ** 63 - 1, 0]), bins=8)",
)
MADE = (  # what people write, and was refused
    "return np.delete(x, slice(0, 2)), np.delete(y, slice(1, int(k[0])), axis=0), np.delete(x, np.s_[:2])",
    "t = np.s_[1:, ::2]\nreturn y[t], y[np.index_exp[1:, 0]], x[np.s_[1:]]",
    "return (k > 0).view(np.uint8), (k > 0).view('int8'), (k * 3).view(np.uint64)",
    "a, *rest, z = x\nrest.append(3.0)\nreturn a, rest, z",
    "*rest, z = x[x > 0.1]\nreturn rest, z",
    "a, b, c, d, e, *r = x.tolist()\nreturn a, r",
    "l = [(v, 1) for v in x]\na, *l = l\nreturn a, l",
    "h, *t = [v for v in k]\nwhile t:\n    h, *t = t\nreturn h",
    "d = defaultdict(set)\nfor i, v in enumerate(k): d[int(v)].add(i)\nreturn d",
)
REFUSED = (
    "u = k * 2\nv = u.view(np.uint64)\nv[0] = 5\nreturn u, v",
    "out, cur = [], []\nfor v in x:\n    if v > 0.7:\n        cur = []\n        out.append(cur)\n"
    "    cur.append(v)\nreturn out",
    "cur = []\nout = [cur]\nfor v in x:\n    if v > 0.7:\n        cur = []\n        out.append(cur)\n"
    "    cur.append(v)\n"
    "return out",
    "out, cur = [], np.zeros(2)\nfor v in x:\n    cur[0] += v\n    if v > 0.7:\n        cur = np.zeros(2)\n"
    "        out.append(cur)\nreturn out, cur",
    "out, cur = [], [0]\nfor v in x:\n    if v > 0.7:\n        cur = [0]\n        out.append(cur)\n"
    "    cur[0] += 1\nreturn out",
    "g = (v * 2 for v in x if v > 0.5)\nreturn sum(g), list(g)",
    "g = enumerate(x)\nfor i, v in g:\n    if i == 1: break\nreturn [i for i, _ in g]",
    "l = [1, 2]\ng = (v * 2 for v in l)\nl.append(5)\nreturn list(g)",
    "a = 2\ng = (v * a for v in x)\na = 5\nreturn list(g)",
    "g = map(abs, x)\nx[0] = 50\nreturn list(g)",
    "d = {'a': 1, 'b': 2}\nks, vs = d.keys(), d.values()\nd['c'] = int(k[0])\nreturn list(ks), sum(vs)",
)


@pytest.mark.parametrize("body", RIGHT + MADE + REFUSED)
def test_names_and_lists(body: str) -> None:
    plain, compiled = both(body)
    for which in range(3):
        found, wanted = (outcome(f, *arguments(which)) for f in (compiled, plain))
        assert found == wanted if body not in REFUSED else found[0] == "refused", body

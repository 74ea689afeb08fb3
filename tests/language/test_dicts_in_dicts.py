"""Dicts whose keys are known at run time in lists, in other dicts and in objects: each is one, wherever it stands."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("cc")

EDGES = np.array([(0, 1, 4), (0, 2, 1), (2, 1, 2), (1, 3, 5), (2, 3, 8), (3, 4, 3)])


def graph(e):
    g = {}
    for u, v, w in e.tolist():
        if u not in g:
            g[u] = {}
        g[u][v] = w
    near = g[0]
    near[77] = len(near)
    del g[2][1]
    return g


def counts(e):
    seen = defaultdict(lambda: defaultdict(int))
    for u, v, w in e.tolist():
        seen[u % 2][v] += w
    return [(k, max(d.values())) for k, d in seen.items()], 9 in seen[5]


def missing(e):
    g, n = {}, 0
    for u, v, w in e.tolist():
        try:
            g[u][v] = w
        except KeyError:
            g[u] = {v: -w}
            n += g.get(v, {}).get(u, 0)
    return n, g[0]


class Node:
    def __init__(self):
        self.children = {}
        self.count = 0


def trie(e):
    root = Node()
    for i in range(len(e)):
        node = root
        for key in e[i].tolist():
            if key not in node.children:
                node.children[key] = Node()
            node = node.children[key]
            node.count += 1
    return len(root.children), root.children[0].count, sorted(root.children[2].children)


def rows(e):
    found = [{} for _ in range(4)]
    for u, v, w in e.tolist():
        found[u][v] = w / 2
    found[0].clear()
    first = found[2].popitem()
    copy = dict(found[1])
    copy[8] = 0.0
    return found, first, len(copy), found[1] == copy


@pytest.mark.parametrize("function", [graph, counts, missing, trie, rows], ids=lambda f: f.__name__)
def test_dicts_of_dicts(function):
    alike(function, EDGES)

"""Names that a loop's text binds, and none of its iterations does, as is known of the arguments: they stand for
what they did, or for nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("cc")


def matching(adj):
    n, m = adj.shape
    match = [-1] * m

    def augment(u, seen):
        for v in range(m):
            if adj[u, v] and not seen[v]:
                seen[v] = True
                if match[v] < 0 or augment(match[v], seen):
                    match[v] = u
                    return True
        return False

    return sum(augment(u, [False] * m) for u in range(n)), match


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 2), (3, 3), (4, 2), (0, 1)])
def test_a_function_whose_inner_call_returns_behind_its_loop(shape: tuple[int, int]) -> None:
    alike(matching, np.ones(shape, dtype=np.int64))
    alike(matching, (np.arange(shape[0] * shape[1]).reshape(shape) % 3 > 0).astype(np.int64))


def search(x, mode, wanted):
    found, where, name = False, None, "none"
    for i in range(len(x)):
        if mode == "search" and x[i] == wanted:
            found, where, name = True, i, "some"
            break
    if not found:
        return -1, where, name
    return where, found, name


def unbound(x, mode):
    for v in x:
        if mode == "keep":
            last = v
    return last


@pytest.mark.parametrize("x", [[1.0, np.nan, -0.0], [], [2.0]])
def test_names_that_stay_what_they_are(x: list[float]) -> None:
    for mode in ("search", "other"):
        alike(search, np.array(x), mode, 2.0)
    for mode in ("keep", "other"):
        alike(unbound, np.array(x), mode)

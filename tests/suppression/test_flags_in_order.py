"""Flags that a loop only reaches through an order, and that are looked at by themselves behind it: the loop has a copy
in that order, and moves nothing."""

import inspect

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.traverse import is_in_order, walk, walk_expr
from transkern.pipeline import passes_for, program_of


def looked_at(x, scores, t):
    order = scores.argsort()[::-1]
    alive = np.ones(len(x), dtype=bool)
    for k in range(len(x)):
        i = order[k]
        if not alive[i]:
            continue
        rest = order[k + 1 :]
        alive[rest[np.abs(x[rest] - x[i]) <= t]] = False
    return np.where(alive)[0]


def handed_back(x, scores, t):
    """The result itself, of numbers, by plain loops, and an exit."""
    order = np.argsort(-scores)
    group = np.zeros(len(x), dtype=np.int32)
    count = 0
    for a in range(len(order)):
        if group[order[a]] != 0:
            continue
        count += 1
        if count > 5:
            break
        group[order[a]] = count
        for b in range(a + 1, len(order)):
            if group[order[b]] == 0 and abs(x[order[b]] - x[order[a]]) <= t:
                group[order[b]] = -count
    return group


def begun_before(x, scores, t):
    """What the flags are before, and the loop leaves some of them as they are."""
    order = np.argsort(scores)
    left = scores > 2
    total = int(left.sum())
    for k in range(len(order) - 1):
        if left[order[k]]:
            later = order[k + 1 :]
            left[later] = left[later] & (np.abs(x[later] - x[order[k]]) > t)
    return left, total, x[left].sum()


def filled_in_part(x, scores, t):
    order = np.argsort(scores)
    left = np.empty(len(x), dtype=bool)
    left[:3] = True
    for k in range(3, len(x)):
        left[k] = scores[k] > 2
    for k in range(len(order) - 1):
        if left[order[k]]:
            later = order[k + 1 :]
            left[later[np.abs(x[later] - x[order[k]]) <= t]] = False
    return left[::-1]


def reached_directly(x, scores, t):
    """Places by themselves as well: no copy."""
    order = np.argsort(scores)
    left = np.ones(len(x), dtype=bool)
    for k in range(len(order)):
        left[k] = left[k] and x[k] > -1
        if left[order[k]]:
            later = order[k + 1 :]
            left[later[np.abs(x[later] - x[order[k]]) <= t]] = False
    return np.flatnonzero(left)


def another_order(x, scores, t):
    """The order changes within the loop: no copy."""
    left = np.ones(len(x), dtype=bool)
    for k in range(3):
        order = np.argsort(np.abs(scores - 5 * k))
        for a in range(len(order)):
            if left[order[a]]:
                later = order[a + 1 :]
                left[later[np.abs(x[later] - x[order[a]]) <= t * 0.1]] = False
        left[order[:1]] = True
    return left


COPIED = (looked_at, handed_back, begun_before)
FORMS = (*COPIED, filled_in_part, reached_directly, another_order)
SOURCE = "import numpy as np\n" + "\n".join(map(inspect.getsource, FORMS))


@pytest.mark.parametrize("function", COPIED, ids=lambda f: f.__name__)
def test_the_loop_goes_along(function):
    name = function.__name__
    program = program_of(SOURCE, name, f"{name}(float32[n],float32[n],float)", passes_for("cpu"))
    (loop,) = (s for s in walk(program.body) if is_in_order(s) and any(is_in_order(x) or isinstance(x, n.Loop)
                                                                      for x in walk(s.body)))  # fmt: skip
    for s in walk(loop.body):
        if isinstance(s, n.Store):
            assert not any(isinstance(e, Load) for i in s.index for e in walk_expr(i)), s


@pytest.mark.parametrize("function, target", [
    *((f, "cpu") for f in FORMS), (looked_at, "cuda"), (begun_before, "cuda"), (looked_at, "pallas"),
])  # fmt: skip
def test_flags(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(3)
    for size in (40,) if target == "pallas" else (0, 1, 2, 90):
        x, scores = rng.integers(0, 60, size).astype(np.float32), rng.permutation(size).astype(np.float32)
        for special in (False, True):
            if special:
                x[1::9] = np.inf
            with np.errstate(all="ignore"):
                np.testing.assert_equal(compiled(x, scores, 1.5), function(x, scores, 1.5))

"""What is left of an array is reduced in branches of a step, and column by column: of those alive, as elsewhere."""

import inspect

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of


def mean_of_many(boxes, scores, t):
    left = np.arange(len(boxes))
    found = []
    while left.size:
        i = left[0]
        near = np.abs(boxes[left, 0] - boxes[i, 0]) <= t
        near[0] = True
        if near.sum() >= 3:
            found.append(boxes[left[near]].mean(axis=0))
        left = left[~near]
    return found


def best_of_many(boxes, scores, t):
    order = np.argsort(-scores)
    found, alone = [], 0
    while order.size > 0:
        i = order[0]
        near = np.abs(boxes[order, 1] - boxes[i, 1]) <= t
        if np.count_nonzero(near) > 1:
            members = order[near]
            if scores[members].min() < 9:
                alone += 100
            found.append((i, scores[members].max(), len(members)))
        else:
            alone += 1
        near[0] = True
        order = order[~near]
    return found, alone


def highest_of_rest(boxes, scores, t):
    order = np.argsort(scores)
    out = np.zeros_like(boxes)
    k = 0
    while len(order):
        i, rest = order[-1], order[:-1]
        far = np.abs(boxes[rest, 0] - boxes[i, 0])
        out[k] = boxes[i]
        if rest.size and far.min() <= t:
            out[k] = boxes[rest[far <= t]].max(axis=0)
        k += 1
        order = rest[far > t]
    return out[:k]


FORMS = (mean_of_many, best_of_many, highest_of_rest)
SOURCE = "import numpy as np\n" + "\n".join(map(inspect.getsource, FORMS))


@pytest.mark.parametrize("function, target", [
    (mean_of_many, "cuda"), (best_of_many, "pallas"), (highest_of_rest, "cuda"),
])  # fmt: skip
def test_nothing_is_moved(function, target):
    name = function.__name__
    program = program_of(SOURCE, name, f"{name}(float32[n,4],float32[n],float)", passes_for(target))
    assert not any(isinstance(s, n.Compact) for s in walk(program.body))


@pytest.mark.parametrize("function, target", [
    (mean_of_many, "cpu"), (best_of_many, "cuda"), (highest_of_rest, "cpu"), (mean_of_many, "pallas"),
])  # fmt: skip
def test_of_those_that_are_left(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(3)
    for size in (60,) if target == "pallas" else (0, 1, 2, 90):
        boxes, scores = rng.integers(0, 40, (size, 4)).astype(np.float32), rng.permutation(size).astype(np.float32)
        for special in (False, True):
            if special:
                boxes[::7, 1], boxes[1::9, 0], boxes[2::5, 2:] = np.nan, np.inf, -0.0
            with np.errstate(all="ignore"):
                wanted = function(boxes, scores, 1.5)
                np.testing.assert_equal(compiled(boxes, scores, 1.5), wanted)

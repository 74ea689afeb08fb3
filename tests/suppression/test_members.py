"""What falls is looked for among what is left (`np.isin`): a table of flags, and then the mask itself."""

import inspect

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import is_in_order, walk
from transkern.pipeline import passes_for, program_of


def not_among(x, scores, t):
    order = np.argsort(-scores)
    keep = []
    while len(order) > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        near = rest[np.abs(x[rest] - x[i]) <= t]
        order = rest[~np.isin(rest, near)]
    return keep


def inverted(x, scores, t):
    order = np.argsort(scores)
    keep = []
    while order.size:
        i = order[-1]
        keep.append(i)
        order = order[:-1]
        gone = order[np.where(np.abs(x[order] - x[i]) <= t)[0]]
        order = order[np.isin(order, gone, invert=True)]
    return keep


def flagged(x, scores, t):
    order = np.argsort(-scores)
    keep = []
    while len(order) > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        near = rest[np.abs(x[rest] - x[i]) <= t]
        flags = np.zeros(len(scores), np.bool_)
        flags[near] = True
        order = rest[~flags[rest]]
    return keep


FORMS = (not_among, inverted, flagged)
SOURCE = "import numpy as np\n" + "\n".join(map(inspect.getsource, FORMS))


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_one_masked_loop(function, target):
    name = function.__name__
    program = program_of(SOURCE, name, f"{name}(float32[n],float32[n],float)", passes_for(target))
    (loop,) = (s for s in walk(program.body) if isinstance(s, n.While))
    assert any(loop in walk(s.body) for s in walk(program.body) if isinstance(s, n.Kernel))
    if target != "cpu":  # where what is left moves together now and then
        assert not any(isinstance(s, n.Compact) or is_in_order(s) for s in walk(loop.body))


@pytest.mark.parametrize("function, target", [(not_among, "cpu"), (not_among, "pallas"), (inverted, "cuda"),
                                              (flagged, "cpu")])  # fmt: skip
def test_picks(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(3)
    for size in (40,) if target == "pallas" else (0, 1, 2, 90):
        x, scores = (rng.random(size) * 40).astype(np.float32), rng.permutation(size).astype(np.float32)
        for special in (True,) if target == "pallas" else (False, True):
            if special:
                x[::7], x[1::9], x[2::5] = np.nan, np.inf, -0.0
            with np.errstate(all="ignore"):
                np.testing.assert_equal(compiled(x[::-1], scores, 1.5), function(x[::-1], scores, 1.5))


def places_again(x, y):
    """Places that stand there more than once, below the size of the array that they are of."""
    a, b = x.argmax(axis=1), y.argmin(axis=0)
    return np.isin(a, b), np.isin(b, a, invert=True), np.isin(a, b[b > 3]), np.isin(a[1:], a[:1])


def kept_twice(x, t):
    """What a filter leaves has two readers, or is stored in an order of its own."""
    left = np.argsort(x)
    near = left[x[left] > t]
    out, seen = np.zeros(len(x)), np.zeros(len(x), np.int64)
    for k in range(len(near)):
        out[near[k]] = k
    for k in range(len(near)):
        seen[near[k]] = near[k] + 1
    return out, seen, len(near)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_beside_suppression(target, monkeypatch):
    rng = np.random.default_rng(3)
    for size in (1, 9):
        x, y = rng.random((2, size, size))
        compiled = transkern.compile(places_again, target=on_target(target, monkeypatch))
        np.testing.assert_equal(compiled(x, y), places_again(x, y))
        compiled = transkern.compile(kept_twice, target=on_target(target, monkeypatch))
        np.testing.assert_equal(compiled(x[0], 0.5), kept_twice(x[0], 0.5))

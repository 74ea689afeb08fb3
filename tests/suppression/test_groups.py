"""Suppression in each class, image or column: the sort stands before the loop over them, which is one kernel."""

import inspect

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.fuse.passes import DEVICE_PASSES
from transkern.fuse.sorts.before_loops import sort_before_loops
from transkern.ir import nodes as n
from transkern.ir.traverse import is_in_order, walk
from transkern.pipeline import passes_for, program_of
from transkern.targets.pallas.module.emit import emit

SOURCE = "import numpy as np\n"


def flagged(x, scores, labels, t):
    """Classes that there are; the best first, by an order that is turned round."""
    picked = np.zeros(len(scores), dtype=bool)
    for c in np.unique(labels):
        members = np.nonzero(labels == c)[0]
        order = members[np.argsort(scores[members])[::-1]]
        while len(order) > 0:
            i = order[0]
            picked[i] = True
            order = order[1:][np.abs(x[order[1:]] - x[i]) > t]
    return picked


def left_of(x, scores, t):
    order = np.argsort(-scores)
    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        order = order[np.where(np.abs(x[order[1:]] - x[i]) > t)[0] + 1]
    return keep


def by_helper(x, scores, labels, t):
    """The function for one class has arrays of its own, and tells positions in them."""
    keep = []
    for c in range(4):
        mine = np.where(labels == c)[0]
        if len(mine) == 0:
            continue
        found = left_of(x[mine], scores[mine], t)
        keep.extend(mine[found])
    return keep


def by_columns(x, table, labels, t):
    """A column of scores for each class, of which those count that are high enough."""
    places, of = [], []
    for c in range(table.shape[1]):
        s = table[:, c]
        mine = np.where(s > 0.25)[0]
        order = mine[s[mine].argsort(kind="stable")]
        while order.size > 0:
            i = order[-1]
            places.append(i)
            of.append(c)
            order = order[:-1][np.abs(x[order[:-1]] - x[i]) > t]
    return places, of


def keys_again(x, scores, labels, t):
    """The keys are looked at, too, and so is the last order."""
    found = []
    order = np.argsort(scores)
    for c in range(3):
        mine = np.where(labels == c)[0]
        key = -scores[mine]
        order = np.argsort(key)
        if len(order) > 0:
            found.append(key[order[0]] + t)
    for _ in range(2):
        key = x * t
        order = np.argsort(key)
        found.append(key[order].sum())
    return found, order


def decays(x, scores, labels, t):
    """What is sorted changes in the loop: it stays there."""
    scores, first = scores.copy(), []
    for c in range(3):
        mine = np.where(labels == c)[0]
        order = np.argsort(-scores[mine])
        if len(order) > 0:
            first.append(mine[order[0]])
        scores *= 0.5
        scores[labels == c] = t
    return first


SOURCE += "\n".join(map(inspect.getsource, (left_of, flagged, by_helper, by_columns, keys_again, decays)))
TYPES = dict.fromkeys((flagged, by_helper, keys_again, decays), "(float32[n],float32[n],int64[n],float)")
TYPES[by_columns] = "(float32[n],float32[n,m],int64[n],float)"


def is_loop(s):
    return isinstance(s, n.While) or is_in_order(s)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [flagged, by_helper, by_columns], ids=lambda f: f.__name__)
def test_one_kernel(function, target):
    name = function.__name__
    program = program_of(SOURCE, name, name + TYPES[function], passes_for(target))
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel) and any(map(is_loop, walk(s.body)))]
    outside = [s for s in program.body if is_loop(s)]
    assert (len(kernels), outside) == (1, [])


def test_what_changes_is_sorted_in_the_loop():
    before = DEVICE_PASSES[: DEVICE_PASSES.index(sort_before_loops)]
    for name, moved in (("decays", False), ("flagged", True)):
        program = program_of(SOURCE, name, name + TYPES[globals()[name]], before)
        assert (sort_before_loops(program) != program) == moved


@pytest.mark.parametrize("function", [flagged, by_helper], ids=lambda f: f.__name__)
def test_the_loop_is_a_pallas_kernel(function):
    name = function.__name__
    text = emit(program_of(SOURCE, name, name + TYPES[function], passes_for("pallas")))
    assert "lax.while_loop(go_on, body" in text and f"def {name}_loop(" in text
    assert f"{name}_loop: left to XLA" not in text


CASES = [(flagged, "cuda"), (by_helper, "cuda"), (by_columns, "cuda"), (by_helper, "pallas"), (decays, "cuda"),
         (keys_again, "cuda")]  # fmt: skip


@pytest.mark.parametrize("function, target", CASES, ids=lambda v: getattr(v, "__name__", v))
def test_picks(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(5)
    for size in (40,) if target == "pallas" else (0, 1, 2, 70):
        x = (rng.random(size) * 40).astype(np.float32)
        scores = rng.permutation(size).astype(np.float32) / max(size, 1)
        if function is by_columns:
            scores = np.stack([scores, scores[::-1], rng.permutation(size).astype(np.float32)], axis=1)
        for labels in (rng.integers(0, 4, size), np.full(size, 2)):
            np.testing.assert_equal(compiled(x, scores, labels, 1.5), function(x, scores, labels, 1.5))
    x[::9], x[1::11] = np.nan, np.inf
    scores[3] = np.nan
    scores.flat[20:21] = -0.0
    labels = rng.integers(-1, 5, 2 * size)[::2]
    with np.errstate(all="ignore"):
        np.testing.assert_equal(compiled(x[::-1], scores, labels, 1.5), function(x[::-1], scores, labels, 1.5))

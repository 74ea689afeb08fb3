"""Each spelling of non-maximum suppression: NumPy's picks, and one kernel in which nothing is moved."""

import inspect
import os
from pathlib import Path

import numpy as np
import pytest

import transkern
from tests.calls.functions import shrinking
from tests.suppression import spellings
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

SOURCE = Path(spellings.__file__).read_text()
NAMES = [
    name for name, f in vars(spellings).items() if inspect.isfunction(f) and not name.startswith("_")
]  # fmt: skip


def is_sequential(s):
    return isinstance(s, n.While) or (isinstance(s, n.Loop) and s.kind == "sequential")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_moved(name):
    program = program_of(SOURCE, name, f"{name}(float32[n,4],float32[n],float,int)")
    loops = list(filter(is_sequential, walk(program.body)))
    picking = [s for s in loops if isinstance(s, n.While)] or loops
    assert not any(isinstance(s, n.Compact) for loop in picking for s in walk((loop,)))
    if name != "classes":  # whose boxes are sorted by the library, class by class
        assert sum(isinstance(s, n.Kernel) and any(map(is_sequential, walk(s.body))) for s in walk(program.body)) == 1


def boxes_of(kind, size, rng):
    corner = rng.random((size, 2)) * {"spread": 300, "crowded": 20, "grid": 4}[kind]
    sides = rng.random((size, 2)) * 30 + 1
    scores = rng.permutation(size) / max(size, 1)
    if kind == "grid":  # whole numbers: many ratios are alike, and boxes that are the same
        corner, sides = np.floor(corner), np.floor(sides / 10) + 1
    return np.concatenate([corner, corner + sides], axis=1).astype(np.float32), scores.astype(np.float32)


def compare(function, compiled, *args):
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        wanted, got = function(*args), compiled(*given)
    assert type(got) is type(wanted)
    for g, w in zip(given, args, strict=True):
        np.testing.assert_array_equal(g, w)
    for g, w in zip((got,), (wanted,), strict=True) if isinstance(wanted, list) else zip(got, wanted, strict=True):
        assert len(g) == len(w)
        if w:
            assert type(g[0]) is type(w[0]) and g[0].dtype == w[0].dtype
        np.testing.assert_array_equal(g, w)


def check(name, compiled, sizes, ties=False):
    """`ties`: the library that sorts is NumPy's, which decides the order of equal scores."""
    function = getattr(spellings, name)
    rng = np.random.default_rng(len(name))
    for size in sizes:
        for kind in ("spread", "crowded", "grid"):
            boxes, scores = boxes_of(kind, size, rng)
            for threshold, limit in ((0.5, size), (0.0, 5), (0.9, 0), (1.0, 10**5)):
                compare(function, compiled, boxes, scores, threshold, limit)
    boxes, scores = boxes_of("crowded", 150, rng)
    boxes[::17, 0], boxes[::19, 3], boxes[::23, 2], boxes[5] = np.nan, np.inf, -np.inf, -0.0
    boxes[70:] = boxes[:80]
    compare(function, compiled, boxes, scores, 0.5, 100)
    compare(function, compiled, boxes, scores, np.nan, 100)
    scores[:: 9 if ties else 150] = np.nan
    if "best" not in name:  # takes away the best one by its position; NaN is the best each time
        compare(function, compiled, boxes, scores, 0.5, 100)
    scores = np.arange(150, dtype=np.float32)[::-1] // 3  # equal ones side by side, which sorts leave in place
    if name in ("best_each_time", "best_of_rest"):
        compare(function, compiled, boxes, scores, 0.5, 100)


@pytest.mark.parametrize("name", NAMES)
def test_picks(name):
    check(name, transkern.compile(getattr(spellings, name)), (0, 1, 2, 40, 700), ties=True)


@pytest.mark.parametrize("name", NAMES if os.environ.get("TRANSKERN_CORPUS") in ("cuda", "all") else NAMES[::2])
def test_picks_on_cuda(name, monkeypatch):
    check(name, transkern.compile(getattr(spellings, name), target=on_target("cuda", monkeypatch)), (0, 1, 2, 60))


@pytest.mark.parametrize("name", ["where_as_it_is", "deleted_where", "for_with_break", "order_after_a_filter"])
def test_picks_on_pallas(name, monkeypatch):
    check(name, transkern.compile(getattr(spellings, name), target=on_target("pallas", monkeypatch)), (0, 1, 60))


def test_positions_stay_what_they_are_where_elements_move_together():
    """Of an array that begins as all of them, the positions themselves are picked."""
    compiled = transkern.compile(shrinking, target="cpu")
    for dtype in (np.complex128, np.float64, np.int64):
        x = np.resize(np.arange(17) * 3 % 19, 700).astype(dtype)
        np.testing.assert_array_equal(compiled(x), shrinking(x))

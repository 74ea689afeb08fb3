"""Steps of a suppression in other words, exchanged in one loop: NumPy's picks, and a masked loop that moves nothing."""

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

LOOP = """
def f(boxes, scores, threshold):
    order = scores.argsort()[::-1]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    picked, fallen = [], []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        low = np.maximum(boxes[i, :2], boxes[rest, :2])
        wh = np.clip(np.minimum(boxes[i, 2:], boxes[rest, 2:]) - low, 0, None)
        inter = wh[:, 0] * wh[:, 1]
        iou = inter / (areas[i] + areas[rest] - inter)
        {}
    return picked, fallen
"""
STEPS = {
    "first_left_out": "order = order[np.concatenate(([False], iou <= threshold))]",
    "all_but_the_first": "mask = np.ones(len(order), bool); mask[0] = False; mask[1:] = iou <= threshold; "
    "order = order[mask]",
    "none_but_these": "mask = np.zeros(order.shape, bool); mask[1:] = iou <= threshold; order = order[mask]",
    "sum_of_what_falls": "fallen.append(scores[rest[iou > threshold]].sum()); order = rest[iou <= threshold]",
    "count_of_what_falls": "fallen.append(np.count_nonzero(iou > threshold)); order = rest[iou <= threshold]",
    "leaves_behind_it": "order = rest[iou <= threshold]; if len(picked) == 20: break",
    "norm": "near = np.linalg.norm(boxes[rest, :2] - boxes[i, :2], axis=1) < 9; order = rest[~near]",
}


def source(step):
    return "import numpy as np\n" + LOOP.format(STEPS[step].replace("; ", "\n        "))


@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_moved(step):
    program = program_of(source(step), "f", "f(float32[n,4],float32[n],float)")
    assert not any(isinstance(s, n.Compact) for s in walk(program.body))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_picks(step, target, monkeypatch):
    function = function_of(source(step))
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(2)
    for size in (0, 1, 2, 70):
        corner, sides = rng.integers(0, 30, (size, 2)), rng.integers(1, 20, (size, 2))
        boxes = np.concatenate([corner, corner + sides], axis=1).astype(np.float32)
        scores = rng.permutation(size).astype(np.float32)  # whole numbers, whose sums are exact
        for special in (False, True):
            if special:
                boxes[::9, 0], boxes[1::7, 3], boxes[2::8] = np.nan, np.inf, -0.0
            with np.errstate(all="ignore"):
                np.testing.assert_equal(compiled(boxes, scores, 0.3), function(boxes, scores, 0.3))

"""Whole rows that a loop in order gathers again and again: once before it, so that it is a kernel."""

import numpy as np
import pytest

from tests.fuzz.stages import function_of
from tests.pallas.support import compiled, random
from tests.regressions.support import alike

LANES = """
import numpy as np
def f(rows, scores, t):
    order = np.argsort(-scores, kind="stable")
    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        order = rest[np.abs(rows[rest] - rows[i]).max(axis=1) >= t]
    return keep
"""
POINTS = """
import numpy as np
def f(points, order, t):
    far = np.zeros(len(order), points.dtype)
    for k in range(len(order)):
        d = points[order] - points[order[k]]
        far = np.maximum(far, (d * d).max(axis=(1, 2)))
    return far + t
"""


@pytest.mark.parametrize("size", [1, 40])
def test_rows_in_an_order(size):
    alike(function_of(LANES), random(size, 20), random(size, seed=1), np.float32(1.5), target="pallas")


def test_positions_from_outside():
    function, points = function_of(POINTS), random(9, 5, 2, special=1)
    for order in ([3, 8, 8, 0], [-1, -9], [], [9], [-10, 2]):
        alike(function, points, np.array(order, np.int64), np.float32(0), target="pallas")


def test_the_loop_is_a_kernel():
    text = compiled(LANES, "f(float32[n,m],float32[n],float32)").text
    assert "f_loop: a kernel where VMEM holds its arrays" in text

"""Loops over arrays that shrink, with values of their length that are read and stored at an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require

require("cc")


def first_is_taken_away(boxes, scores, threshold):
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        near = np.abs(boxes[order, 0] - boxes[i, 0])
        size = float(boxes[i, 2])
        keep = near / size > threshold
        keep[0] = False
        order = order[keep]
    return picked


def last_is_taken_away(boxes, scores, threshold):
    order = scores.argsort()
    picked = []
    while order.size > 0:
        i = order[-1]
        picked.append(i)
        near = np.abs(boxes[order, 0] - boxes[i, 0])
        size = float(boxes[i, 2])
        keep = near / size > threshold
        keep[-1] = False
        order = order[keep]
    return picked


def first_is_read(boxes, scores, threshold):
    order = scores.argsort()[::-1]
    picked, sizes = [], []
    while order.size > 0:
        size = boxes[order, 2] * boxes[order, 3]
        picked.append(order[0])
        sizes.append(size[0])
        near = np.abs(boxes[order, 1] - boxes[order[0], 1]) / size[0]
        keep = near > threshold
        keep[0] = False
        order = order[keep]
    return picked, sizes


def second_is_kept(boxes, scores, threshold):
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        keep = np.abs(boxes[order, 0] - boxes[i, 0]) > threshold
        keep[0] = False
        if keep.size > 1:
            keep[1] = True
        order = order[keep]
    return picked


def of_the_rest(boxes, scores, threshold):
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 1:
        i = order[0]
        picked.append(i)
        near = np.abs(boxes[order[1:], 0] - boxes[i, 0])
        size = float(boxes[i, 2])
        keep = near / size > threshold
        keep[0] = scores[i] < 0.5
        order = order[1:][keep]
    return picked


FUNCTIONS = (first_is_taken_away, last_is_taken_away, first_is_read, second_is_kept, of_the_rest)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_edges(function: Callable[..., object], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 70, 300) if target == "cpu" else (70,):
        boxes = rng.random((size, 4)) * 9 + 0.5
        scores = rng.permutation(size) / max(size, 1)
        for threshold in (0.1, 2.0):
            wanted, found = function(boxes, scores, threshold), compiled(boxes, scores, threshold)
            if isinstance(wanted, tuple):
                np.testing.assert_array_equal(found[1], wanted[1])
                wanted, found = wanted[0], found[0]
            np.testing.assert_array_equal(found, wanted)

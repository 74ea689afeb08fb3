"""Non-maximum suppression in four forms: exactly NumPy's answer, on one block and on a grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import transkern
from tests.cuda.support import NMS, Recorder, check_call, example_program, recorder, small_grid
from tests.tools import example, on_target, require
from transkern.ir.traverse import variables_read
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function

require("c++")

__all__ = ["recorder"]

DTYPES = ("float32", "float64")


@cache
def compiled(name: str, dtype: str, grid: bool = False) -> Callable[..., Any]:
    program = example_program(name, NMS[name].format(t=dtype))
    code, text = emit(program)
    return function(program.name, code, small_grid(text) if grid else text, simulate=True)


def boxes(rng: np.random.Generator, count: int, spread: float, dtype: str) -> tuple[Any, Any]:
    """Boxes of up to a tenth of the picture, their corners within `spread`; scores without ties."""
    corner = rng.uniform(0, spread, (count, 2))
    found = np.concatenate([corner, corner + rng.uniform(0.5, 10, (count, 2))], axis=1).astype(dtype)
    return found, rng.permutation(count).astype(dtype)


def arguments(name: str, found: Any, scores: Any, threshold: float, limit: int) -> tuple[Any, ...]:
    match name:
        case "nms":
            return found, scores, limit, threshold
        case "nms_descending":
            return np.column_stack([found, scores]), threshold
        case _:
            return found, scores, threshold


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NMS)
def test_random_boxes(name: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    numpy = getattr(example("nms"), name)
    for count in (0, 2, 3, 31, 32, 33, 64, 100, 257, 1000):
        for spread, threshold in ((100.0, 0.5), (8.0, 0.3), (30.0, 0.0)):
            limit = int(rng.integers(0, count + 2))
            check_call(
                numpy, compiled(name, dtype), arguments(name, *boxes(rng, count, spread, dtype), threshold, limit)
            )


@pytest.mark.parametrize("name", NMS)
def test_all_overlap_none_overlaps_and_special_boxes(name: str) -> None:
    rng = np.random.default_rng(8)
    numpy, ours = getattr(example("nms"), name), compiled(name, "float32")
    one = np.tile(np.float32([[1, 1, 5, 5]]), (300, 1))
    apart = one + np.arange(300, dtype=np.float32)[:, None] * 10
    empty = one * 0
    odd = boxes(rng, 300, 50.0, "float32")[0]
    odd[::7, 2] = np.nan
    odd[3::11, 0] = -np.inf
    odd[5::13] = odd[5::13, ::-1]  # corners exchanged: negative sides
    scores = rng.permutation(300).astype(np.float32)
    for found in (one, apart, empty, odd):
        check_call(numpy, ours, arguments(name, found, scores, 0.5, 300))


@pytest.mark.parametrize("limit", [0, 1, 7, 8192])
def test_many_boxes(limit: int) -> None:
    rng = np.random.default_rng(9)
    args = arguments("nms", *boxes(rng, 8192, 200.0, "float32"), 0.5, limit)
    check_call(example("nms").nms, compiled("nms", "float32"), args)


@pytest.mark.parametrize("name", NMS)
def test_a_grid_gives_the_same(name: str) -> None:
    rng = np.random.default_rng(10)
    numpy = getattr(example("nms"), name)
    for count in (0, 5, 300, 1000):
        args = arguments(name, *boxes(rng, count, 60.0, "float32"), 0.4, count // 2)
        check_call(numpy, compiled(name, "float32", grid=True), args)


def kept(found: Any, scores: Any, threshold: Any) -> Any:
    """The boxes that are left in each picture of a batch."""
    orders = np.argsort(-scores, axis=1)
    keep = np.zeros(scores.shape, dtype=bool)
    for c in range(scores.shape[0]):
        order = orders[c]
        while order.size > 0:
            i = order[0]
            keep[c, i] = True
            rest = order[1:]
            w = np.minimum(found[c, i, 2], found[c, rest, 2]) - np.maximum(found[c, i, 0], found[c, rest, 0])
            h = np.minimum(found[c, i, 3], found[c, rest, 3]) - np.maximum(found[c, i, 1], found[c, rest, 1])
            order = rest[np.maximum(w, 0) * np.maximum(h, 0) <= threshold]
    return keep


def test_each_picture_has_a_block(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    """A batch of problems is one launch."""
    ours = transkern.compile(kept, target=on_target("cuda", monkeypatch))
    rng = np.random.default_rng(11)
    for pictures, count in ((0, 3), (1, 1), (5, 0), (5, 60)):
        found = np.stack([*(boxes(rng, count, 40.0, "float64")[0] for _ in range(pictures)), np.zeros((count, 4))])[:-1]
        found[:1, ::7, 0] = np.nan
        scores = rng.random((pictures, count))
        recorder.launches.clear()
        np.testing.assert_array_equal(ours(found, scores, 9.0), kept(found, scores, 9.0))
    assert [launch.grid for launch, _ in recorder.launches if launch.kernel == "kept_keep_1"] == [(5,)]


def kept_by_class(found: Any, scores: Any, threshold: Any, least: Any) -> Any:
    """The boxes that are left of each class, which has scores of its own; each class is sorted when its turn comes."""
    keep = np.zeros(scores.shape, dtype=bool)
    areas = (found[:, 2] - found[:, 0]) * (found[:, 3] - found[:, 1])
    for c in range(scores.shape[1]):
        order = np.argsort(-scores[:, c])
        order = order[scores[order, c] > least]
        while order.size > 0:
            i = order[0]
            keep[i, c] = True
            rest = order[1:]
            w = np.minimum(found[i, 2], found[rest, 2]) - np.maximum(found[i, 0], found[rest, 0])
            h = np.minimum(found[i, 3], found[rest, 3]) - np.maximum(found[i, 1], found[rest, 1])
            inter = np.maximum(w, 0) * np.maximum(h, 0)
            order = rest[inter / (areas[i] + areas[rest] - inter) <= threshold]
    return keep


def test_each_class_has_a_block(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    """Eighty classes, which are sorted in the loop over them, are one launch."""
    ours = transkern.compile(kept_by_class, target=on_target("cuda", monkeypatch))
    rng = np.random.default_rng(12)
    for classes, count in ((0, 5), (3, 0), (1, 1), (80, 40)):
        found = boxes(rng, count, 30.0, "float32")[0]
        found[:1, 0] = np.nan
        scores = rng.random((count, classes)).astype(np.float32)
        recorder.launches.clear()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(ours(found, scores, 0.4, 0.2), kept_by_class(found, scores, 0.4, 0.2))
    blocks = [launch.grid for launch, _ in recorder.launches if launch.kernel == "kept_by_class_keep_1"]
    assert len(blocks) == 1 and len(recorder.launches) < 8


@pytest.mark.parametrize("name", NMS)
def test_memory_is_linear(name: str) -> None:
    """No array is as large as all pairs of boxes."""
    program = example_program(name, NMS[name].format(t="float32"))
    for buffer in program.buffers.values():
        sizes = [v for d in buffer.dims for v in variables_read(d)]
        assert len(sizes) <= 1, buffer

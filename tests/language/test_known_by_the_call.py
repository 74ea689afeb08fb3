"""What is settled where a function is called: that a list has no None left, formats, shapes, texts that are numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require


def labels(x: Any, least: float) -> Any:
    found = [None] * len(x)
    for k in range(len(x)):
        if x[k] > least:
            found[k] = k
    return np.array(found)


def codes(n: int, digits: int) -> Any:
    return [f"{k ^ (k >> 1):0{n}b}" for k in range(5)], f"{n / 3:.{digits}f}"


def test_an_array_of_a_list_that_may_have_none_in_it() -> None:
    require("cc")
    compiled = transkern.compile(labels)
    x = np.array([0.5, 1.5, 2.5])
    found = compiled(x, 0.0)
    assert found.dtype == np.int64
    assert found.tolist() == labels(x, 0.0).tolist()
    with pytest.raises(RuntimeError, match="a list with None in it has become an array"):
        compiled(x, 1.0)
    assert compiled(x[:0], 0.0).dtype == np.float64


def test_a_format_with_numbers_of_the_call_in_it() -> None:
    require("cc")
    compiled = transkern.compile(codes)
    for given in ((3, 1), (4, 0), (6, 3)):
        assert compiled(*given) == codes(*given)


def spread(points: Any, centre: Any) -> Any:
    return [math.dist(p, centre) for p in points], max(math.dist(points[0], q) for q in points)


def test_the_coordinates_of_points() -> None:
    require("cc")
    compiled = transkern.compile(spread)
    points = np.array([[0.5, 1.5, -2.0], [1e200, np.inf, np.nan], [-0.0, 3e-310, 7.0]])
    for given, centre in ((points, [0.0, 1.0, 2.0]), (points[:, :2], (1, 2)), (points[:1, :0], [])):
        assert str(compiled(given, centre)) == str(spread(given, centre))
    with pytest.raises(ValueError, match="both points must have the same number of dimensions"):
        compiled(points, (1.0, 2.0))


def runs(text: str, shape: Any) -> Any:
    """A mask of runs, as image competitions have them."""
    words = text.split()
    starts, lengths = [np.asarray(part, dtype=int) for part in (words[0:][::2], words[1:][::2])]
    starts -= 1
    mask = np.zeros(shape[0] * shape[1], dtype=np.uint8)
    for low, high in zip(starts, starts + lengths, strict=True):
        mask[low:high] = 1
    return mask.reshape(shape).T, np.array([text.split(), text.split()[::-1]], dtype=np.float32)


def corners(shape: Any, n: int) -> Any:
    return np.ones([2] * len(shape)), np.zeros([n] * n), np.full(shape, 2.5)


def test_arrays_of_texts_that_are_numbers() -> None:
    require("cc")
    compiled = transkern.compile(runs)
    for text in ("3 5 20 2 40 10", "1 1", "7 x"):
        check(compiled, runs, text, (10, 12))


def test_shapes_whose_length_the_call_gives() -> None:
    require("cc")
    compiled = transkern.compile(corners)
    check(compiled, corners, [2, 3], 1)
    check(compiled, corners, [2, 3, 1], 3)


def check(compiled: Any, function: Any, *given: Any) -> None:
    try:
        wanted = function(*given)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            compiled(*given)
        return
    for found, one in zip(compiled(*given), wanted, strict=True):
        assert found.dtype == one.dtype
        assert np.array_equal(found, one)

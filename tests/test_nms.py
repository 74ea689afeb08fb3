"""Non-maximum suppression in four forms against NumPy on random inputs, on each target: the very same boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import example, on_target

FORMS = ("nms", "nms_descending", "nms_delete", "nms_flags")
SIZES = (0, 1, 2, 3, 37, 128, 300, 1024)
"""Few sizes: JAX compiles for each."""


def boxes(rng: np.random.Generator, n: int, dtype: Any, kind: str) -> tuple[Any, Any]:
    """`n` boxes and scores without ties (the order of equal scores is each library's own)."""
    corner, size = rng.random((n, 2)) * 500, rng.random((n, 2)) * 80 + 5
    if kind == "heap":  # every box overlaps every other
        corner *= 0.01
    elif kind == "apart":
        corner = np.stack([np.arange(n) * 100.0, np.zeros(n)], 1)
    scores = rng.permutation(n) / max(n, 1)
    return np.concatenate([corner, corner + size], 1).astype(dtype), scores.astype(dtype)


def inputs(form: str, count: int, large: int, dtypes: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(FORMS.index(form))
    for k in range(count):
        n = 8192 if k < large else int(rng.choice(SIZES, p=[0.05, 0.1, 0.1, 0.1, 0.2, 0.2, 0.15, 0.1]))
        kind = ("random", "random", "heap", "apart")[k % 4] if n < 8192 else ("random", "heap")[k % 2]
        detections, scores = boxes(rng, n, dtypes[k % len(dtypes)], kind)
        threshold = float(rng.choice([0.0, 0.3, 0.5, 0.7, 1.0]))
        if form == "nms":
            limit = n if k % 3 == 0 else int(rng.integers(0, n + 1))
            yield detections, scores, limit if n < 8192 else 200, threshold
        elif form == "nms_descending":
            yield np.concatenate([detections, scores[:, None]], 1), threshold
        else:
            yield detections, scores, threshold


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_three_hundred_random_inputs(form: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(example("nms"), form)
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    count, large = {"cpu": (300, 2), "cuda": (40, 1), "pallas": (16, 1)}[target]
    dtypes = (np.float32, np.float64)
    with np.errstate(all="ignore"):
        for args in inputs(form, count, large, dtypes):
            wanted, got = function(*args), compiled(*args)
            assert type(got) is type(wanted)
            assert len(got) == len(wanted)
            if isinstance(wanted, np.ndarray):
                assert got.dtype == wanted.dtype
            elif wanted:
                assert type(got[0]) is type(wanted[0])
            np.testing.assert_array_equal(got, wanted)

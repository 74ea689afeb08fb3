"""Groups of channels in images: a block or a warp has each, whatever stands behind it in the loop over images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, check_call, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from transkern.ir.expr import Apply
from transkern.ir.polynomials import polynomial
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

RNG = np.random.default_rng(3)


def normalised(x, groups, scale, shift):
    n, c, h, w = x.shape
    y = x.reshape(n, groups, c // groups, h, w)
    y = (y - y.mean(axis=(2, 3, 4), keepdims=True)) / np.sqrt(y.var(axis=(2, 3, 4), keepdims=True) + 1e-5)
    return y.reshape(n, c, h, w) * scale[None, :, None, None] + shift[None, :, None, None]


def by_image(x, scale):
    n, g, k = x.shape
    y = np.empty_like(x)
    out = np.empty((n, k, g))
    for i in range(n):
        for j in range(g):
            y[i, j] = x[i, j] - x[i, j].max()
        for j in range(k):
            for p in range(g):
                out[i, j, p] = y[i, p, j] * scale[p]
    return out


TYPES = {"normalised": "float32[n, c, h, w], int, float32[c], float32[c]", "by_image": "float64[n, g, k], float64[g]"}


def _calls(name: str) -> list[tuple[Any, ...]]:
    if name == "normalised":
        shapes = [((2, 8, 5, 6), 4), ((3, 6, 2, 7), 2), ((1, 4, 3, 3), 4)]
        return [(RNG.random(s, np.float32), g, *RNG.random((2, s[1]), np.float32)) for s, g in shapes]
    return [(RNG.random(s), RNG.random(s[1])) for s in ((3, 5, 40), (1, 2, 3))]


@pytest.mark.parametrize("function", [normalised, by_image], ids=lambda f: f.__name__)
def test_rows_of_images_have_blocks_of_their_own(function: Any, recorder: Recorder) -> None:
    name = function.__name__
    code, text = emit(program_from(function, f"{name}({TYPES[name]})"))
    compiled = launcher_function(name, code, text, simulate=True)
    for args in _calls(name):
        before = len(recorder.launches)
        check_call(function, compiled, args, 1e-5)
        first = recorder.launches[before][0]
        rows = args[0].shape[0] * (args[1] if name == "normalised" else args[0].shape[1])
        assert first.grid[0] >= rows  # not one for an image


def test_no_race(recorder: Recorder) -> None:
    run_checked(program_from(by_image, f"by_image({TYPES['by_image']})"), _calls("by_image")[0], recorder, "race")


def test_equal_strides_are_not_held_for_different() -> None:
    program = program_from(normalised, f"normalised({TYPES['normalised']})")
    for e in program.assumptions:
        if isinstance(e, Apply) and e.op == "not_equal":
            one, two = map(polynomial, e.args)
            assert one != two, e

"""Groups of channels in images: a block or a warp has each, whatever stands behind it in the loop over images."""

from __future__ import annotations

import numpy as np

from tests.cuda.support import Recorder, check_call, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

RNG = np.random.default_rng(3)


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


TYPES = "by_image(float64[n, g, k], float64[g])"


def test_rows_of_images_have_blocks_of_their_own(recorder: Recorder) -> None:
    code, text = emit(program_from(by_image, TYPES))
    compiled = launcher_function("by_image", code, text, simulate=True)
    for shape in ((3, 5, 40), (1, 2, 3)):
        before = len(recorder.launches)
        check_call(by_image, compiled, (RNG.random(shape), RNG.random(shape[1])), 0.0)
        assert recorder.launches[before][0].grid[0] >= shape[0] * shape[1]  # not one for an image


def test_no_race(recorder: Recorder) -> None:
    args = (RNG.random((3, 5, 40)), RNG.random(5))
    run_checked(program_from(by_image, TYPES), args, recorder, "race")

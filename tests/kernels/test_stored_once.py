"""Elements that an iteration stores into several times are stored once (`fuse/states/stored.py`), and places that count
from the end have a name (`fuse/lanes/wrapped.py`)."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.tools import require, source_of
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def patterns_in_place(x):
    code = np.zeros(x.shape[0] - 2, dtype=np.uint8)
    for k in range(3):
        code |= (x[k : len(x) - 2 + k] >= x[1:-1]).astype(np.uint8) << k
    return code


def patterns_by_element(x):
    code = np.empty(len(x) - 2, np.uint8)
    for i in range(len(x) - 2):
        code[i] = 0
        code[i] |= np.uint8(x[i] >= x[i + 1]) << np.uint8(0)
        code[i] |= np.uint8(x[i + 1] >= x[i + 1]) << np.uint8(1)
        code[i] |= np.uint8(x[i + 2] >= x[i + 1]) << np.uint8(2)
    return code


def read_between(x):
    y = x[:-2] * 0
    z = x[:-2] * 0
    for i in range(len(x) - 2):
        y[i] = x[i]
        z[i] = y[i] + 1
        y[i] += z[i] * x[i + 1]
        z[i] = y[i] - z[i]
    return y, z


def two_elements(x):
    y = x * 0
    for i in range(len(x) - 1):
        y[i] = x[i]
        y[i + 1] = y[i] + x[i + 1]
        y[i] = y[i + 1] * 2
    return y


def at_a_place_that_moves(x):
    y, k = x * 0, 0
    for i in range(len(x) - 1):
        y[k] = x[i] + y[k]
        k = k + 1
        y[k] = y[k] + x[i]
    return y


def at_a_place_that_is_stored(x):
    k = np.zeros(3, np.int64)
    y = x * 0
    for i in range(len(x) - 1):
        y[k[0]] = x[i] + y[k[0]]
        k[0] = (k[0] + 2) % len(x)
        y[k[0]] = y[k[0]] * 2 + x[i]
    return y, k


def rounded(x):
    y = x.astype(np.float32)
    for i in range(len(x)):
        y[i] = x[i] / 3
        y[i] = y[i] * 3 - x[i]
    return y


FUNCTIONS = (
    patterns_in_place, patterns_by_element, read_between, two_elements, at_a_place_that_moves,
    at_a_place_that_is_stored, rounded,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_stored_is_numpys(function):
    compiled = transkern.compile(function, target="cpu")
    x = np.random.default_rng(0).integers(-9, 9, 70).astype(float)
    x[20:24] = np.nan, -0.0, np.inf, -np.inf
    for given in (x, x[::-2], x[:3]):
        both = (compiled(given.copy()), function(given.copy()))
        for mine, theirs in zip(*(r if isinstance(r, tuple) else (r,) for r in both), strict=True):
            np.testing.assert_array_equal(mine, theirs, strict=True)


def test_there_is_one_store() -> None:
    for function in (patterns_in_place, patterns_by_element):
        program = pipeline.program_of(source_of(function), function.__name__, "f(uint8[n])", PASSES)
        assert sum(isinstance(s, n.Store) and s.buffer == "code" for s in walk(program.body)) == 1
    for function, stores in ((read_between, 2), (two_elements, 3)):
        program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n])", PASSES)
        loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and len(s.body) > 1]
        assert sum(isinstance(s, n.Store) and s.buffer in ("y", "z") for s in walk(loops)) == stores


def looked_up(x, k):
    return x[k, 0] * x[k, 1] + x[k, 2]


def looked_up_by_element(x, k):
    out = np.empty(k.shape)
    for i in range(len(k)):
        for j in range(k.shape[1]):
            out[i, j] = x[k[i, j], 0] * x[k[i, j], 1] + x[k[i, j], 2]
    return out


def looked_up_where_it_is_there(x, k, n):
    out = np.zeros(k.shape)
    for i in range(len(k)):
        for j in range(k.shape[1]):
            if abs(k[i, j]) < n:
                out[i, j] = x[k[i, j], 1] + x[k[i, j], 2]
    return out


def test_places_are_chosen_first() -> None:
    """A place in the end is chosen once, also for several columns; what a condition asks for first stays behind it."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((17, 3))
    for function, more in ((looked_up, ()), (looked_up_by_element, ()), (looked_up_where_it_is_there, (17,))):
        compiled = transkern.compile(function, target="cpu")
        for k in (rng.integers(-16, 17, (9, 40)), rng.integers(-16, 17, (3, 7))[:, ::-2], np.zeros((0, 4), int)):
            np.testing.assert_array_equal(compiled(x, k, *more), function(x, k, *more))
        if more:
            wide = np.array([[3, 40, -40]])
            np.testing.assert_array_equal(compiled(x, wide, *more), function(x, wide, *more))
        else:
            with pytest.raises(IndexError, match="index 40 is out of bounds"):
                compiled(x, np.array([[3, 40, -40]]))
            assert "const int64_t at =" in compiled.emit()

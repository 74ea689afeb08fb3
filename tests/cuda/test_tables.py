"""Elements that look up places in a table, and rows that data choose, go in words. Against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.targets.cuda.emit import emit

__all__ = ["recorder"]

RNG = np.random.default_rng(6)

pytestmark = [pytest.mark.usefixtures("on_simulator"), pytest.mark.filterwarnings("ignore")]


def mapped(image, table):
    return table[image]


def mapped_twice(image, table):
    return table[table[image]] + table[0]


def above(image, table):
    return np.where(image > 200, table[image] / np.float32(7), np.float32(-1))


def equalised(image):
    share = np.bincount(image.ravel(), minlength=256).cumsum()
    return share[image] / image.size


def embedded(table, tokens, positions):
    return table[tokens] + positions


def by_rows_in_loops(x, order):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        k = order[i]
        for j in range(x.shape[1]):
            out[i, j] = x[k, j] * 2 + j
    return out


def followed(order):
    return order[order[order]]


def backwards(x, table):
    out = np.empty(len(x))
    for i in range(len(x)):
        j = len(x) - 1 - i
        out[i] = x[j] * table[int(x[i]) % 7]
    return out


def _calls(name: str) -> list[tuple[Any, ...]]:
    image = RNG.integers(0, 256, (9, 37)).astype(np.uint8)
    images = [image, image[:, ::-2], image[:, 3:], image[:0], image[:1, :1]]
    match name:
        case "mapped":
            return [(x, RNG.integers(0, 99, 256).astype(np.uint8)) for x in images]
        case "mapped_twice":
            return [(x, RNG.permutation(256).astype(np.uint8)) for x in images]
        case "above":
            return [(x, RNG.random(256).astype(np.float32)) for x in images] + [(image, np.ones(3, np.float32))]
        case "equalised":
            return [(x,) for x in images]
        case "embedded":
            table, tokens = RNG.random((20, 24)).astype(np.float32), RNG.integers(-20, 20, 50)
            return [
                (table, tokens, RNG.random((50, 24)).astype(np.float32)),
                (table[:, 1:], tokens, RNG.random((50, 23)).astype(np.float32)),
                (table, tokens + 1, RNG.random((50, 24)).astype(np.float32)),
                (table, tokens[:0], RNG.random((0, 24)).astype(np.float32)),
            ]
        case "by_rows_in_loops":
            return [(RNG.random((8, m)), RNG.permutation(8)) for m in (40, 17, 0)]
        case "followed":
            return [(RNG.integers(-n, n, n),) for n in (50, 1)]
        case _:
            return [(RNG.random(n) * 9, RNG.random(7)) for n in (50, 1, 0)]


_FUNCTIONS = [mapped, mapped_twice, above, equalised, embedded, by_rows_in_loops, followed, backwards]


@pytest.mark.parametrize("function", _FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy(function: Any) -> None:
    for arguments in _calls(function.__name__):
        alike(function, *arguments, target="cuda")


@pytest.mark.parametrize("function,types,word", [
    (mapped, "uint8[n, m], uint8[256]", "Pack<unsigned char, 16>::load(image"),
    (mapped_twice, "uint8[n, m], uint8[256]", "Pack<unsigned char, 16>::load(image"),
    (equalised, "uint8[n, m]", "Pack<unsigned char, 2>::load(image"),
    (embedded, "float32[v, d], int64[n], float32[n, d]", "Pack<float, 4>::load(table_here"),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_in_words(function: Any, types: str, word: str, recorder: Recorder) -> None:
    program = program_from(function, f"{function.__name__}({types})")
    assert word in emit(program)[0]
    run_checked(program, _calls(function.__name__)[0], recorder, "race")


def test_places_that_are_no_neighbours() -> None:
    code, _ = emit(program_from(backwards, "backwards(float64[n], float64[7])"))
    assert "::load(" not in code  # each thread would have four elements, each beside another thread's

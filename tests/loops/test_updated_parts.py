"""Arrays that are updated part by part, each nearly all of it: one pass over them (`fuse/states/updates.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.debug.staged import Staged
from transkern.fuse.passes import PASSES
from transkern.fuse.states.updates import merge_updates
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of

require("cc")


def toppled(z: Any) -> Any:
    z = z.copy()
    while (z >= 4).any():
        t = z // 4
        z -= 4 * t
        z[1:] += t[:-1]
        z[:-1] += t[1:]
        z[:, 1:] += t[:, :-1]
        z[:, :-1] += t[:, 1:]
    return z


def fluxes(u: Any, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        q = (u[:, 1:] - u[:, :-1]) * 0.25
        u[:, :-1] += q
        u[:, 1:] -= q
    return u


def kept_zeros(x: Any, t: Any) -> Any:
    x = x * 1.0
    x[1:] += t[1:]
    x[:-1] -= t[1:]
    x[2:] *= t[2:]
    x[:-3] = t[:-3] - x[:-3]
    x[:-1] += t[:-1]
    return x


def spread(m: Any) -> Any:
    out, least = m.copy(), m.copy()
    out[1:] |= m[:-1]
    out[:-1] |= m[1:]
    out[:, 1:] = out[:, 1:] | m[:, :-1]
    least[1:] &= m[:-1]
    least[:-1] &= m[1:]
    return out, least


def extremes(x: Any) -> Any:
    high, low = x.copy(), x.copy()
    high[1:] = np.maximum(high[1:], x[:-1])
    high[:-1] = np.maximum(x[1:], high[:-1])
    low[1:-1] = np.minimum(low[1:-1], x[2:])
    low[1:-1] = np.minimum(low[1:-1], x[:-2])
    return high, low


def in_place(z: Any, t: Any) -> None:
    z[1:] += t[:-1]
    z[:-1] += t[1:]


def raised_between(z: Any, k: int) -> None:
    t = z * 2.0
    z[1:] += t[:-1]
    if k > 3:
        raise ValueError(k)
    z[:-1] += t[1:]


def left_between(z: Any, k: int) -> Any:
    t, z = z * 2.0, z.copy()
    for i in range(4):
        z[1:] += t[:-1]
        if i == k:
            break
        z[:-1] += t[1:]
    return z


def looked_at(z: Any) -> Any:
    t, z = z * 2.0, z.copy()
    z[1:] += t[:-1]
    s = z[0] + z[-1]
    z[:-1] += t[1:]
    t *= s
    z[1:] += t[1:]
    t += 1.0
    z[2:] -= t[2:]
    return z, s, t


def of_itself(z: Any) -> Any:
    z = z.copy()
    z[1:] += z[:-1]
    z[:-1] += z[1:]
    return z


def a_few(z: Any, t: Any) -> Any:
    z = z.copy()
    z[0] += t[0]
    z[-1] += t[-1]
    half = len(z) // 2
    z[:half] += t[:half]
    z[half:] -= t[half:]
    z[::2] += t[::2]
    z[1::2] += t[1::2]
    return z


STAGE = PASSES.index(merge_updates) + 1


def _alike(function: Any, *arguments: Any) -> None:
    """By the interpreter, on the program behind the pass."""
    alike(function, *arguments, compiled=Staged(function, STAGE))


def _written(function: Any, types: str) -> int:
    program = program_of(source_of(function), function.__name__, f"{function.__name__}({types})", PASSES[:STAGE])
    return sum(isinstance(s, n.Write) for s in walk(program.body))


@pytest.mark.parametrize(
    ("function", "writes"), [(toppled, 1), (spread, 2), (extremes, 2), (of_itself, 2)]
)
def test_parts_are_one_statement(function: Any, writes: int) -> None:
    assert _written(function, "int64[n,m]") == writes


def test_few_rows_are_updated_alone() -> None:
    assert _written(a_few, "float64[n],float64[n]") == 4  # and an element at either end


SHAPES = [(0, 0), (1, 1), (1, 4), (2, 3), (5, 9)]


def test_integers() -> None:
    for shape in SHAPES:
        _alike(toppled, np.random.default_rng(1).integers(0, 9, shape))
        _alike(spread, np.random.default_rng(1).integers(0, 9, shape))
    _alike(spread, np.random.default_rng(1).random((5, 8)) < 0.4)
    _alike(spread, np.random.default_rng(1).integers(0, 250, (4, 7)).astype(np.uint8))


def test_floats_keep_zeros_and_what_is_no_number() -> None:
    for shape in SHAPES:
        x = np.random.default_rng(2).choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.25], shape)
        _alike(fluxes, x, 3)
        _alike(extremes, x)
        _alike(kept_zeros, x, x[::-1].copy())


def test_what_others_see_of_an_array_in_between() -> None:
    z = np.arange(12.0)
    _alike(in_place, z.copy(), z * 3)
    for one, two in ((slice(1, 11), slice(0, 10)), (slice(0, 10), slice(2, 12))):
        here, there = z.copy(), z.copy()
        in_place(here[one], here[two])
        Staged(in_place, STAGE)(there[one], there[two])
        assert here.tolist() == there.tolist()
    for k in (1, 5):
        _alike(raised_between, z.copy(), k)
        _alike(left_between, z.copy(), k)
    _alike(looked_at, z.copy())
    _alike(of_itself, z.copy())
    _alike(a_few, z.copy(), z * 3)


def test_behind_the_passes_of_a_device() -> None:
    passes = passes_for("cuda")
    assert merge_updates in passes
    for shape in [(1, 3), (5, 6)]:
        x = np.random.default_rng(1).integers(0, 9, shape) * 0.5
        alike(fluxes, x, 2, compiled=Staged(fluxes, len(passes), target="cuda"))


def test_compiled() -> None:
    for shape in [(1, 3), (6, 70)]:
        alike(fluxes, np.random.default_rng(2).choice([-0.0, np.nan, 1.5, -2.25], shape), 2)

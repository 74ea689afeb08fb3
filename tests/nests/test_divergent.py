"""Points whose loops end at different times (`fuse/schedule/leave.py`, `fuse/schedule/divergent.py`): masks that
only shrink are exits, and points go on in lanes, with the bits that each has by itself."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def point_by_point(x, y, most):
    out = np.zeros(x.shape, np.int64)
    for i in range(x.shape[0]):
        a = b = 0.0
        k = 0
        while k < most and a * a + b * b <= 4.0:
            a, b = a * a - b * b + x[i], 2 * a * b + y[i]
            k += 1
        out[i] = k
    return out


def with_a_break(x, y, most):
    out = np.full(x.shape, most)
    for i in range(len(x)):
        a = b = 0.0
        for k in range(most):
            if a * a + b * b > 4.0:
                out[i] = k
                break
            a, b = a * a - b * b + x[i], 2 * a * b + y[i]
    return out


def by_a_mask(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    live = np.ones(x.shape, bool)
    for _ in range(most):
        live = live & (a * a + b * b <= 4.0)
        a[live], b[live] = a[live] ** 2 - b[live] ** 2 + x[live], 2 * a[live] * b[live] + y[live]
        out[live] += 1
    return out


def by_choices(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    live = np.ones(x.shape, bool)
    for _ in range(most):
        live &= a * a + b * b <= 4.0
        a, b = np.where(live, a * a - b * b + x, a), np.where(live, 2 * a * b + y, b)
        out += live
    return out


def by_a_fresh_mask(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    for _ in range(most):
        inside = a * a + b * b <= 4.0
        na = a[inside] * a[inside] - b[inside] * b[inside] + x[inside]
        nb = 2 * a[inside] * b[inside] + y[inside]
        a[inside] = na
        b[inside] = nb
        out[inside] += 1
    return out


def by_falling_out(x, y, most):
    z = np.zeros(x.shape, complex)
    c = x + 1j * y
    out = np.zeros(x.shape, np.int64)
    live = np.ones(x.shape, bool)
    for _ in range(most):
        live[z.real * z.real + z.imag * z.imag > 4.0] = False
        z[live] = z[live] * z[live] + c[live]
        out[live] += 1
    return out


def of_a_matrix(x, y, most):
    a, b = np.zeros((3, len(x))), np.zeros((3, len(x)))
    out = np.zeros(a.shape, np.int64)
    live = np.ones(a.shape, bool)
    for k in range(most):
        live &= a * a + b * b <= 4.0
        t = a[live] ** 2 - b[live] ** 2
        b[live] *= 2 * a[live]
        a[live] = t
        a += x * (live & (k < 5))
        b += live * y
        out[live] += 1
    return out


def roots(x, y, most):
    out = np.empty_like(x)
    for i in range(len(x)):
        r = 1.0
        for _ in range(most):
            step = (r * r * r - x[i] * 20) / (3 * r * r)
            r -= step
            if abs(step) < 1e-12:
                break
        out[i] = r
    return out


def halves(x, y, most):
    out, taken = np.empty_like(x), np.zeros(x.shape, np.int64)
    for i in range(len(x)):
        low, high, k = -2.0, 9.0, 0
        while high - low > 1e-9 and k < most:
            k += 1
            middle = 0.5 * (low + high)
            if middle * middle * middle - middle < x[i]:
                low = middle
                continue
            high = middle
            if middle == y[i]:
                break
        out[i] = 0.5 * (low + high)
        taken[i] = k
    return out, taken


def narrow(x, y, most):
    u, v = x.astype(np.float32), y.astype(np.float32)
    out = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        s, t = u[i], np.float32(1)
        while t > np.float32(1e-3) and s < np.float32(8):
            s = s + t * v[i] * v[i]
            t = t * np.float32(0.75)
        out[i] = s
    return out


def walks(x, y, most):
    """Through an array, at places that the points decide: what lies behind its end is not loaded."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        at, s = i, 0.0
        while at < len(x) and s * s + s * 0.5 - s * 0.25 < 4.0:
            s = s * 1.0625 + x[at] * x[at] + 0.125 * s - 0.5 * s * s * 0.125
            at += 1 + i % 3
        out[i] = s
    return out


def stores(x, y, most):
    out, last = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        s = 0.5
        for k in range(most):
            last[i] = s
            if s * s > y[i] * y[i] + 2.0:
                break
            s = s * 1.25 + x[i] * x[i] * 0.125
            out[i] = s * k
    return out, last


def two_loops(x, y, most):
    out = np.zeros((2, len(x)))
    for i in range(len(x)):
        s, t = x[i], y[i]
        while s * s < 9.0 and s != 0:
            s = s * 1.5 + 0.125 * s
        u = s - t
        while u > 1.0 and u < 1e6:
            u = u * 0.5 + 0.25
        out[0, i], out[1, i] = s, u
    return out


def by_functions(x, y, most):
    out, live = x.copy(), np.ones(x.shape, bool)
    for _ in range(most):
        live = live & (np.hypot(out, y) < 3.0)
        out = np.where(live, np.sqrt(out * out + 0.5), out)
    return out


def until_all_have_left(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    for _ in range(most):
        live = a * a + b * b <= 4.0
        if not live.any():
            break
        a, b = np.where(live, a * a - b * b + x, a), np.where(live, 2 * a * b + y, b)
        out[live] += 1
    return out


def until_none_moves(x, y, most):
    r, active = np.ones_like(x), x > 0
    for _ in range(most):
        d = (r * r * r - x) / (3 * r * r)
        r = np.where(active, r - d, r)
        active = active & (np.abs(d) >= 1e-12)
        if not np.any(active):
            break
    return r


def while_any(x, y, most):
    r, active = np.ones_like(x), x > 0
    while active.any():
        d = (r * r - x) / (2 * r)
        r[active] -= d[active]
        active &= np.abs(d) > 1e-9
    return r, active


def until_all_are_close(x, y, most):
    """All points go on until the last one is close: none leaves before."""
    r = np.abs(x) + 1
    for _ in range(most):
        d = (r * r - np.abs(y)) / (2 * r)
        r = r - d
        if not (np.abs(d) > 1e-9).any():
            break
    return r


def counts_while_any(x, y, most):
    """What counts in a mask's shadow goes on for all of them."""
    a, live, k = np.zeros_like(x), np.ones(x.shape, bool), np.zeros(x.shape)
    while live.any():
        a = np.where(live, a + 0.5 + x * x, a)
        live = live & (a < 3.0)
        k += 1
    return a, k


def counts_on(x, y, most):
    """What goes on after its mask is false is no exit."""
    a, out = np.zeros_like(x), np.zeros(x.shape)
    live = np.ones(x.shape, bool)
    for k in range(most):
        live = live & (a < 2.0)
        a = np.where(live, a + x * x, a)
        out = out + np.where(live, 0.25, 0.5) * k
    return out, a


def comes_back(x, y, most):
    """A mask that may grow again is no exit either."""
    a, out = x.copy(), np.zeros(x.shape, int)
    for k in range(most):
        live = a * a < 1.0 + k % 3
        a = np.where(live, a * 1.5, a)
        out[live] += 1
    return a, out


def signs(x, y, most):
    """Adding 0.0 where the mask is false turns -0.0 into 0.0: it changes what it leaves alone."""
    a, live = np.where(x > 0, x, -0.0), np.ones(x.shape, bool)
    for _ in range(most):
        live = live & (a > 0.5) & (a < 3)
        a = a + np.where(live, x, 0.0)
    return a, np.signbit(a)


LEAVING = (
    point_by_point, with_a_break, by_a_mask, by_choices, by_a_fresh_mask, by_falling_out, roots, halves, narrow,
    stores, two_loops, by_functions, until_all_have_left, until_none_moves, while_any,
)  # fmt: skip
OTHERS = (of_a_matrix, counts_on, comes_back, signs, walks, until_all_are_close, counts_while_any)


def inputs(count: int, special: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(count)
    x, y = rng.uniform(-2, 0.6, count), rng.uniform(-1.2, 1.2, count)
    if special:
        values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e308, -1.0]
        x[: len(values)] = values[: len(x)]
        y[2 : len(values) + 2] = values[: max(0, len(y) - 2)]
    return x, y


def same(found: Any, wanted: Any) -> None:
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
        assert np.array_equal(np.signbit(one), np.signbit(other)) or one.dtype.kind != "f" or np.isnan(one).any()


@pytest.mark.parametrize("function", [*LEAVING, *OTHERS], ids=lambda f: f.__name__)
def test_points_have_the_bits_of_numpy(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for count in (0, 1, 5, 31, 32, 33, 64, 200):
        for special in (False, True):
            x, y = inputs(count, special)
            for most in (0, 1, 40):
                with np.errstate(all="ignore"):
                    same(compiled(x, y, most), function(x, y, most))


@pytest.mark.parametrize("function", [*LEAVING, *OTHERS], ids=lambda f: f.__name__)
def test_points_go_on_in_lanes_until_few_are_left(function: Callable[..., Any]) -> None:
    source, name = "import math\nimport numpy as np\n\n\n" + inspect.getsource(function), function.__name__
    program = pipeline.program_of(source, name, f"{name}(float64[n], float64[n], int)", PASSES)
    counted = {s.name for s in walk(program.body) if isinstance(s, n.Accumulator) and s.name.startswith("going")}
    assert bool(counted) == (function in LEAVING), function.__name__


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [by_a_mask, by_falling_out, halves, while_any], ids=lambda f: f.__name__)
def test_points_on_devices(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    x, y = inputs(45, False)
    same(compiled(x, y, 30), function(x, y, 30))


def test_uneven_points_take_no_nearly_empty_vectors() -> None:
    """One point of many goes on for long: it does so by itself."""

    def long_ones(x, limit):
        out = np.zeros(x.shape, np.int64)
        for i in range(len(x)):
            s, k = x[i], 0
            while s < limit:
                s = s + math.pi * 0.125
                k += 1
            out[i] = k
        return out

    compiled = transkern.compile(long_ones, target="cpu")
    x = np.where(np.arange(1000) % 37 == 0, 0.0, 99.0)
    same(compiled(x, 100.0), long_ones(x, 100.0))


def fades(x, y, most):
    p = (x * 20 + 60).astype(np.uint8)
    for _ in range(most):
        bright = p > 10
        p[bright] -= 3
    return p


def test_lanes_are_as_many_as_the_numbers_of_their_loop_are_narrow() -> None:
    """What is computed once, in front of the loop, may be wide."""
    program = pipeline.program_of(
        "import numpy as np\n\n\n" + inspect.getsource(fades), "fades", "fades(float64[n], float64[n], int)",
        PASSES,
    )  # fmt: skip
    (live,) = (b for name, b in program.buffers.items() if name.startswith("live"))
    assert live.dtype == "int8"
    compiled = transkern.compile(fades, target="cpu")
    for count in (1, 255, 256, 513, 1100):
        x, y = inputs(count, False)
        for most in (0, 1, 12, 40):
            same(compiled(x, y, most), fades(x, y, most))

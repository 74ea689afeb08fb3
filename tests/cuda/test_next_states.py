"""Loops in order over states that neighbours read: the next state has an array of its own, and places that go round are
compared, not divided. Against NumPy."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest

from tests.cuda.support import Recorder, program_from, recorder, simulated
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.targets.cuda.emit import emit

__all__ = ["recorder"]

RNG = np.random.default_rng(5)
ODD = np.array([np.nan, np.inf, -0.0, 0.0, -np.inf, 1e30, -1.5, 2.0, np.nan])


pytestmark = [pytest.mark.usefixtures("on_simulator"), pytest.mark.filterwarnings("ignore")]


def _matrix(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def periodic(u, c, steps):
    for _ in range(steps):
        u = u - c * (u - np.roll(u, 1))
    return u * 1


def two_fields(u, v, first, last):
    for t in range(first, last):
        both = u * v * v
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 1) - 2 * u) - both + t
        v = v + 0.2 * (np.roll(v, -1, 0) - v) + both
    return u * 1, v * 1


def in_place(u, a, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] += a * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u.sum()




def with_border(u, steps):
    for _ in range(steps):
        u[1:-1] = 0.25 * (u[:-2] + 2 * u[1:-1] + u[2:])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


def with_a_partner(u, v, steps):
    for _ in range(steps):
        u[1:] = u[:-1] + v[1:]
        v[0] = u[-1]
        v[1:3] = u[1:3]
    return u, v


def swapped(u, v, steps):
    for _ in range(steps):
        new = 2 * u - v
        new[1:-1] += u[2:] - u[:-2]
        u, v = new, u
    return u * 1, v * 1


def of_one_element(x, steps):
    for k in range(steps):
        x = np.minimum(x, x[k] + 1)
    return x * 1


def looked_at_later(u, steps):
    d = np.zeros_like(u)
    for _ in range(steps):
        d = u - np.roll(u, 2)
        u = u + 0.5 * d
    return u * 1, d


def shapes_differ(u, v, steps):
    for _ in range(steps):
        u[1:] = u[:-1] + v
    return u


def complex_states(z, steps):
    for _ in range(steps):
        z = 0.5j * (np.roll(z, 1) - z)
    return z * 1


def several_shifts(x, k):
    return x - np.roll(x, k) + np.roll(x, (-3, 2), (0, 1)) + np.roll(x, k - 7, 1)


_STEPS = (0, 1, 2, 5)


def test_next_states() -> None:
    for steps in _STEPS:
        for u in (_matrix(1), _matrix(2), _matrix(70), ODD):
            alike(periodic, u, 0.25, steps, target="cuda")
    for steps in _STEPS:
        alike(two_fields, _matrix(5, 7), _matrix(5, 7), -1, steps - 1, target="cuda")
    for steps in _STEPS:
        for shape in ((9, 12), (3, 3), (2, 5)):
            alike(in_place, _matrix(*shape).round(), 0.5, steps, target="cuda")


@pytest.mark.parametrize("function", [with_border, of_one_element, looked_at_later])
def test_states_that_several_store_or_one_element_acts_on(function: Any) -> None:
    for steps in _STEPS:
        alike(function, _matrix(20), steps, target="cuda")


@pytest.mark.parametrize("function", [with_a_partner, swapped])
def test_states_of_several_arrays(function: Any) -> None:
    for steps in _STEPS:
        alike(function, _matrix(20), _matrix(20), steps, target="cuda")


def test_states_of_complex_numbers() -> None:
    alike(complex_states, _matrix(9) + 1j * _matrix(9), 3, target="cuda")


@pytest.mark.parametrize("other", [8, 7])
def test_a_check_that_all_iterations_share(other: int) -> None:
    for steps in _STEPS:
        alike(shapes_differ, _matrix(9), _matrix(other), steps, target="cuda")


def test_memory_that_arguments_share() -> None:
    u = _matrix(20)
    alike(shapes_differ, u, u[1:], 3, target="cuda")
    alike(shapes_differ, u[::-1], u[1:], 3, target="cuda")


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 2), (40, 33)])
def test_places_that_go_round(shape: tuple[int, int]) -> None:
    for k in (0, 1, -1, 5, -2, 100, -(2**40)):
        alike(several_shifts, _matrix(*shape), k, target="cuda")


@pytest.mark.parametrize("function,types", [
    (periodic, "periodic(float64[n], float, int)"),
    (two_fields, "two_fields(float64[n, m], float64[n, m], int, int)"),
    (in_place, "in_place(float64[n, m], float, int)"),
])
def test_threads_meet_once_a_step(function: Any, types: str) -> None:
    code, _ = emit(program_from(function, types))
    (loop,) = re.findall(r"__forceinline__ void \w+_loop_by\(.*?\n}\n", code, re.S)
    assert loop.count("group.sync();") == 2
    assert "floormod" not in code


def test_an_element_that_acts_on_all_has_no_second_array() -> None:
    code, _ = emit(program_from(of_one_element, "of_one_element(float64[n], int)"))
    assert "x_1_next" not in code


def in_turn(a, b, steps):
    for _ in range(steps):
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - a[:-2])
        a[1:-1] = b[1:-1] + 0.1 * (b[2:] - b[:-2])
    return a + b


def with_fields_of_each_other(e, h, steps):
    for _ in range(steps):
        e[1:] = e[1:] + 0.5 * (h[1:] - h[:-1])
        h[:-1] = h[:-1] + 0.5 * (e[1:] - e[:-1])
    return e - h


@pytest.mark.parametrize("function", [in_turn, with_fields_of_each_other])
def test_arrays_made_of_each_other_have_no_second_ones(function: Any) -> None:
    """Threads meet between the two anyway: each was copied, and an odd step was a kernel of its own."""
    code, _ = emit(program_from(function, f"{function.__name__}(float64[n],float64[n],int)"))
    assert "_next" not in code
    for steps in (0, 1, 4, 5):
        alike(function, _matrix(9), _matrix(9), steps, target="cuda")


def test_on_a_grid() -> None:
    call = simulated(two_fields, "two_fields(float64[n, m], float64[n, m], int, int)", grid=True)
    for last in (1, 4, 5):
        alike(two_fields, _matrix(30, 20), _matrix(30, 20), 0, last, compiled=call)


@pytest.mark.parametrize("kind", ["memory", "race"])
def test_sanitized(kind: Literal["memory", "race"], recorder: Recorder) -> None:
    run_checked(program_from(periodic, "periodic(float64[n], float, int)"), (_matrix(70), 0.5, 3), recorder, kind)

"""Next states of arrays (`fuse/states/`): one store in place in whichever spelling, and two arrays where it
pays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse.devices.next_states import double_states
from transkern.fuse.passes import PASSES
from transkern.fuse.states.coalesce import coalesce_copies
from transkern.fuse.states.doubling import double_buffer
from transkern.fuse.states.reading import whole_copy
from transkern.fuse.states.rotation import rotate_states
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def in_place(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
    return u


def into_a_copy(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        u = new
    return u


def from_a_copy(u, steps):
    u = u.copy()
    for _ in range(steps):
        un = np.copy(u)
        u[1:-1] = un[:-2] - 2 * un[1:-1] + un[2:]
    return u


def copied_back(u, steps):
    u = np.array(u)
    k = 0
    while k < steps:
        inner = u[:-2] - 2 * u[1:-1] + u[2:]
        u[1:-1] = inner
        k += 1
    return u


def with_a_name_for_all(u, steps):
    u = u.copy()
    for t in range(steps):
        old = u.copy()
        new = old.copy()
        new[1:-1] = old[:-2] - 2 * old[1:-1] + old[2:]
        u[:] = new
    return u


def with_a_part_named(u, steps):
    u = u.copy()
    for _ in range(steps):
        part = u[:-2] - 2 * u[1:-1]
        u[1:-1] = part + u[2:]
    return u


def neighbours_named(u, steps):
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        slope = np.where(u > 0, u - left, right - u)
        u = u - 2 * slope + (left + right)
    return u


ONE = (
    neighbours_named,in_place, into_a_copy, from_a_copy, copied_back, with_a_name_for_all, with_a_part_named)


def with_numbers_of_its_own(u, steps):
    u, t = u.copy(), 0.5
    for k in range(steps):
        t = t * 2 + k
        by = k - 1
        u[1:-1] = (u[:-2] + u[2:]) * by + t % 3
    return u, t


def a_number_of_the_state(u, steps):
    u, top = u.copy(), 0.0
    for k in range(steps):
        u[1:] = u[:-1] + top
        top = u[0] + k
    return u, top


# what only looks so


def with_the_edges(u, steps):
    for t in range(steps):
        new = u.copy()
        new[1:-1] = u[:-2] + u[2:] * t
        new[0] = new[1]
        new[-1] = new[-2]
        u = new
    return u


def edges_of_the_last(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[:-2] + u[2:]
        new[:1] = u[1:2]
        u = new
    return u


def until_it_stands(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = (u[:-2] + u[2:]) / 2
        gone = np.abs(new - u).max() if u.size else 0
        u = new
        if gone < 0.5:
            break
    return u


def kept_in_a_list(u, steps):
    all_of_them = []
    for _ in range(steps):
        old = u.copy()
        u[1:-1] = old[:-2] + old[2:]
        all_of_them.append(old)
    return u, all_of_them


def the_copy_is_returned(u, steps):
    u = u + 0
    old = u.copy()
    for _ in range(steps):
        old = u.copy()
        u[1:] = old[:-1]
    return u, old


def into_the_argument(u, steps):
    for t in range(steps):
        u[1:-1] = u[:-2] * t + u[2:]


def a_part_that_moves(u, steps):
    u = u.copy()
    for t in range(steps):
        u[t:-1] = u[t + 1 :] + 1
    return u


def read_from_another(u, steps):
    u, w = u.copy(), u * 3
    for t in range(steps):
        u[1:] = u[:-1] + w[1:] * t
    return u, w


def two_of_them(u, steps):
    u, w = u.copy(), u * 3
    for _ in range(steps):
        u[1:] = u[:-1] + w[1:]
        w[:-1] = w[1:] - u[:-1]
    return u, w


def turned(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[:] = u[::-1] + 1
    return u


def where_it_is_positive(u, steps):
    u = u.copy()
    for _ in range(steps):
        old = u.copy()
        u[old > 0] = old[::-1][old > 0] - 1
    return u


def a_check_between(u, steps):
    for t in range(steps):
        old = u.copy()
        u[1:] = old[:-1]
        u[t] = 5
        u[0] = old[t]


def left_before(u, steps):
    for t in range(steps):
        new = u.copy()
        new[1:] = u[:-1] + 1
        if t == 3:
            break
        u = new
    return u


# values and arrays that are named before they are stored


def a_next_value(u, steps):
    u = u + 0
    for t in range(steps):
        u = u * 2 - t
    return u


def of_the_last_elements(u, steps):
    u = u + 0
    for _ in range(steps):
        u = np.roll(u, 1) - u
    return u


def read_behind_it(u, steps):
    u, w = u + 0, u * 2
    for _ in range(steps):
        new = u - w
        w = w + u * 3
        u = new
    return u, w


def read_before_it_is_left(u, steps):
    u = u + 0
    for t in range(steps):
        new = u - 3
        if u[:1].sum() > 2 * t:
            break
        u = new
    return u


def of_differences(u, steps):
    u = u + 0.0
    for _ in range(steps):
        slope = np.diff(u)
        u[1:-1] -= 0.5 * (slope[1:] - slope[:-1])
    return u


def of_one_difference(u, steps):
    u, w = u + 0.0, u * 2.0
    for _ in range(steps):
        slope = np.diff(u)
        w[1:] += slope
        u[:-1] -= np.diff(w)
    return u, w


def of_a_value_that_changes_first(u, steps):
    u, w = u + 0.0, u * 2.0
    for t in range(steps):
        twice = w * 2 + t
        w[:] = u
        u[:] = twice[::-1]
    return u, w


def of_a_number_that_changes_first(u, steps):
    u, by = u + 0.0, 1.0
    for t in range(steps):
        more = u * by
        by = by / 2 - t
        u[::-1] = more + by
    return u, by


def read_again_and_again(u, steps):
    u = u + 0.0
    for _ in range(steps):
        root = np.sqrt(np.abs(u))
        u[:] = np.outer(root, np.ones(len(u)))[:, :1].sum() + root[0]
    return np.round(u, 9)


def at_places(u, steps):
    u = u + 0.0
    at = np.arange(len(u))[::-1] // 2
    for _ in range(steps):
        half = u / 2
        u[:] = half[at]
    return u


def in_a_grid(u, steps):
    e = np.zeros((len(u), len(u))) + u
    hx, hy = e[1:] * 0.5, e[:, 1:] * 0.25
    for _ in range(steps):
        hx = hx - 0.5 * np.diff(e, axis=0)
        hy = hy + 0.5 * np.diff(e, axis=1)
        e[1:-1, 1:-1] += 0.75 * (np.diff(hy, axis=1)[1:-1] - np.diff(hx, axis=0)[:, 1:-1])
    return e, hx, hy


def in_grids_of_other_sizes(u, steps):
    e, hx = np.zeros((len(u), len(u))) + u, np.zeros((len(u) // 2, len(u)))
    for _ in range(steps):
        hx = hx - 0.5 * np.diff(e, axis=0)
    return hx


def of_differences_again(u, steps):
    u = u + 0.0
    for _ in range(steps):
        slope = np.diff(u)
        left, right = slope[:-1], slope[1:]
        u[1:-1] = np.where(left * right > 0, 2 * left * right / (left + right), u[1:-1])
    return u


def filled_and_stored(u, steps):
    out = np.zeros(len(u))
    for t in range(steps):
        part = np.ones(len(u))
        part[:] = u * t
        other = np.full(len(u), 3.0)
        other[:] = other[::-1] + part
        some = np.zeros(len(u))
        some[1:] = part[1:]
        out = out + other - some
    return out


def read_in_a_branch(u, steps):
    u = u + 0.0
    for t in range(steps):
        twice = u * 2 + 1
        if t % 2:
            u[:] = twice[::-1]
        else:
            u[1:] = twice[:-1]
    return u


def of_the_last_two(u, steps):
    v = u - 1
    for _ in range(steps):
        later = np.empty_like(u)
        later[1:-1] = 2 * u[1:-1] - v[1:-1] + (u[2:] - 2 * u[1:-1] + u[:-2])
        later[0] = u[-1]
        later[-1] = later[0] - u[0]
        v = u
        u = later
    return u, v


def of_the_last_two_and_a_count(u, steps):
    v, k = u * 0, 0
    for t in range(2, steps):
        later = u + v * t
        k += t
        if k > 12:
            later[k % 3 : k % 3 + 1] = k
        v = u
        u = later[::-1] - k
    return v, u, k


NAMED = (
    of_differences_again, filled_and_stored, read_in_a_branch,
    a_next_value, of_the_last_elements, read_behind_it, read_before_it_is_left, of_differences, of_one_difference,
    of_a_value_that_changes_first, of_a_number_that_changes_first, read_again_and_again, at_places, in_a_grid,
    in_grids_of_other_sizes,
)  # fmt: skip
OTHERS = (
    *NAMED,
    with_numbers_of_its_own, a_number_of_the_state, with_the_edges, edges_of_the_last, until_it_stands, kept_in_a_list,
    the_copy_is_returned, into_the_argument, a_part_that_moves, read_from_another, two_of_them, turned,
    where_it_is_positive, a_check_between, left_before, of_the_last_two, of_the_last_two_and_a_count,
)  # fmt: skip


def outcome(function: Callable[..., Any], u: Any, steps: int) -> tuple[Any, Any]:
    try:
        found = function(u, steps)
    except (IndexError, ValueError, UnboundLocalError) as error:
        return str(error), u.tolist()
    parts = found if isinstance(found, tuple) else (found,)
    return [np.asarray(p).tolist() for p in parts if p is not None], u.tolist()


@pytest.mark.parametrize("function", (*ONE, *OTHERS), ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_states_are_numpys(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng, number = np.random.default_rng(0), (*ONE, *OTHERS).index(function)
    for size in (40, 9, 3, 2, *((1, 0) if number % 2 else (0,))):  # of one element is code of its own
        for steps in (0, 1, 2, 3, 4, 5, 8, 9):
            given = [rng.integers(-9, 9, size).astype(float), rng.integers(-9, 9, 2 * size).astype(np.int32)[::-2]]
            for u in given[: 2 if size > 2 and number % 3 == 0 else 1]:  # and so is another type
                assert outcome(compiled, u.copy(), steps) == outcome(function, u.copy(), steps), (size, steps)


def from_what_shares_memory(x, y):
    for _ in range(5):
        y[1:] = y[:-1] + x[1:]


def test_arguments_that_share_memory() -> None:
    compiled = transkern.compile(from_what_shares_memory, target="cpu")
    for first, second in ((slice(0, 8), slice(2, 10)), (slice(2, 10), slice(0, 8)), (slice(0, 8), slice(0, 8))):
        one, other = np.arange(10.0), np.arange(10.0)
        compiled(one[first], one[second])
        from_what_shares_memory(other[first], other[second])
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("function", (*ONE, *NAMED, with_the_edges, until_it_stands, turned), ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ("cuda", "pallas"))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size, steps in ((9, 5), (9, 4), (2, 3), (9, 0)):
        u = np.arange(size) ** 2 % 7 * 0.5
        assert outcome(compiled, u.copy(), steps)[0] == outcome(function, u.copy(), steps)[0]


@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_spellings_meet(function: Callable[..., Any]) -> None:
    """In a loop there is one store of the array, that reads it; nothing else is made."""
    program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n], int)", (coalesce_copies,))
    (loop,) = (s for s in walk(program.body) if isinstance(s, n.Loop | n.While))
    arrays = [s for s in walk(loop.body) if isinstance(s, n.Define | n.Write)]
    assert len(arrays) == 1 and isinstance(arrays[0], n.Write)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_value_goes_where_it_is_stored(target: str) -> None:
    """Neither the values that are named nor the next arrays are put anywhere else."""
    for function in (of_one_difference, read_behind_it, in_a_grid):
        passes = tuple(p for p in pipeline.passes_for(target) if p is not double_states)  # has states of its own
        program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n], int)", passes)
        made = {x.buffer for x in walk(program.body) if isinstance(x, n.Alloc)}
        made = {x for x in made if any(b.constant(d) is None for d in program.buffers[x].dims)}  # those of lanes aside
        assert len(made) == (3 if function is in_a_grid else 2)


DOUBLED = (in_place, into_a_copy, from_a_copy, with_numbers_of_its_own)


@pytest.mark.parametrize("function", DOUBLED, ids=lambda f: f.__name__)
def test_two_arrays_change_places(function: Callable[..., Any]) -> None:
    passes = (coalesce_copies, double_buffer)
    program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n], int)", passes)
    steps = [s for s in walk(program.body) if isinstance(s, n.Loop)]
    first, second = (s for s in steps[0].body if isinstance(s, n.Write))
    assert first.buffer != second.buffer and len(steps) == 2


def test_arrays_that_are_handed_on_go_round() -> None:
    passes = (coalesce_copies, double_buffer, rotate_states)
    name = of_the_last_two.__name__
    program = pipeline.program_of(source_of(of_the_last_two), name, "f(float64[n], int)", passes)
    rounds, rest = (s for s in program.body if isinstance(s, n.Loop))
    assert b.constant(rounds.step) == 3
    copies = [[whole_copy(s, program.buffers) for s in loop.body if isinstance(s, n.Write)] for loop in (rounds, rest)]
    assert not any(copies[0]) and sum(c is not None for c in copies[1]) == 2


def looked_up(u, k):
    v = u * 2 + 1
    return v[k]


def looked_up_in_sums(u, k):
    v = 1 - u
    return (v[k] * v[::2][k % 3].sum()).sum()


def of_two_arrays(u, k):
    v = u * u[::-1]
    return v[k]


def of_what_is_dear(u, k):
    v = np.sqrt(u * u) / 3
    return v[k]


def stored_into_before(u, k):
    v = u + 1
    u[k] = 5
    return v[k]


def the_positions_of_another(u, k):
    v = k + 1
    return v[np.argsort(u)[: len(k)] % len(k)], u[k]


LOOKED_UP = (looked_up, looked_up_in_sums, of_two_arrays, of_what_is_dear, stored_into_before, the_positions_of_another)


@pytest.mark.parametrize("function", LOOKED_UP, ids=lambda f: f.__name__)
def test_what_is_looked_up_is_numpys(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size in (40, 7, 1):
        for k in (np.array([0, -1, 0]), np.arange(size)[::-1], np.array([size]), np.array([-size, -size - 1])):
            u = np.linspace(-1, 2, size)
            assert outcome(compiled, u.copy(), k) == outcome(function, u.copy(), k), (size, k)


def test_an_element_is_looked_up_where_it_is_made_of() -> None:
    """No array of all of them is made for it, but where a value is dear, or of several arrays."""
    for function in LOOKED_UP:
        types = "f(float64[n], int64[m])"
        program = pipeline.program_of(source_of(function), function.__name__, types, (coalesce_copies,))
        made = [s for s in walk(program.body) if isinstance(s, n.Define) and "v" in (s.buffer, s.buffer[:1])]
        assert bool(made) == (function in (of_two_arrays, of_what_is_dear, stored_into_before)), function.__name__


def test_memory_of_iterations_is_taken_once() -> None:
    """Before the loop, if it has an iteration: nobody asks for memory that none needs."""

    def spread(u, size, steps):
        total = 0.0
        for t in range(steps):
            padded = np.empty(size)
            for i in range(len(u)):
                padded[len(u) - 1 - i] = u[i] * t
            total += padded[: len(u)].max()
        return total

    compiled = transkern.compile(spread, target="cpu")
    for size, steps in ((9, 4), (4, 1), (9, 0), (2**50, 0), (-1, 0)):
        assert compiled(np.arange(4.0), size, steps) == spread(np.arange(4.0), size, steps)
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(np.arange(4.0), -1, 1)
    program = pipeline.program_of(source_of(spread), "spread", "f(float64[n], int, int)", PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    assert not any(isinstance(s, n.Alloc) for loop in loops for s in walk(loop.body))


def downwards(a, x, steps):
    while steps > 0:
        x = np.dot(a, x) + 0.5
        steps -= 1
    return x


def round_downwards(u, steps):
    v = np.zeros_like(u)
    for t in range(steps, 0, -1):
        w = u * 0.5 + np.roll(v, 1) + t
        v = u
        u = w
    return u, v


def test_loops_that_count_down() -> None:
    rng = np.random.default_rng(3)
    a, x = rng.standard_normal((30, 30)) / 30, rng.standard_normal(30)
    one, two = transkern.compile(downwards, target="cpu"), transkern.compile(round_downwards, target="cpu")
    for steps in (-2, 0, 1, 2, 5):
        np.testing.assert_allclose(one(a, x, steps), downwards(a, x, steps), rtol=1e-12)
        np.testing.assert_allclose(two(x, steps), round_downwards(x, steps), rtol=1e-12)

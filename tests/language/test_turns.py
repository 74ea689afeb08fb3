"""Names that change places in a loop (`places_in_turn`): on all targets, and which array is which afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.language import places_in_turn as p
from tests.regressions.support import alike
from transkern import CompileError

A, B, C = p.A, p.B, p.C


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(p.by_a_call, (A, B, 5)), (p.three_in_turn, (A, B, C, 4)), (p.one_loop_after_another, (A, B, 3))],
)
def test_other_targets(
    function: Callable[..., Any], arguments: tuple[Any, ...], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    alike(function, *arguments, target=target)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_the_argument_itself_is_returned(steps: int) -> None:
    compiled = transkern.compile(p.by_a_call, target="cpu")
    for function in (compiled, p.by_a_call):
        u, v = A.copy(), B.copy()
        assert function(u, v, steps) is (v if steps % 2 else u)


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_arguments_that_overlap(shift: int) -> None:
    ours, wanted = np.tile(A, 2), np.tile(A, 2)
    transkern.compile(p.by_a_call, target="cpu")(ours[:7], ours[shift : shift + 7], 3)
    p.by_a_call(wanted[:7], wanted[shift : shift + 7], 3)
    np.testing.assert_array_equal(ours, wanted)


def test_places_that_a_condition_changes() -> None:
    def sometimes(u: Any, v: Any, steps: int) -> Any:
        for t in range(steps):
            v[:] = u + t
            if t % 2:
                u, v = v, u
        return u

    with pytest.raises(CompileError, match="start the loop with a copy"):
        transkern.compile(sometimes, target="cpu")(A.copy(), B.copy(), 3)


class Wave:
    def __init__(self, u: Any, v: Any) -> None:
        self.u, self.v = u, v

    def step(self) -> None:
        self.v[1:-1] += self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]
        self.u, self.v = self.v, self.u


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_arrays_in_an_argument_change_places(steps: int) -> None:
    """The arrays that the object began with are stored into in turn; they, and no copies, stand in it afterwards."""

    def run(wave: Wave, steps: int) -> Any:
        for _ in range(steps):
            wave.step()
        return wave.u[1]

    ours, wanted = (A.copy(), B.copy()), (A.copy(), B.copy())
    waves = [Wave(*ours), Wave(*wanted)]
    assert transkern.compile(run, target="cpu")(waves[0], steps) == run(waves[1], steps)
    for got, array in zip(ours, wanted, strict=True):
        np.testing.assert_array_equal(got, array)
    assert (waves[0].u is ours[0], waves[0].v is ours[0]) == (steps % 2 == 0, steps % 2 == 1)


def test_arrays_in_an_argument_that_a_loop_may_leave() -> None:
    def run(wave: Wave, limit: float) -> int:
        steps = 0
        while steps < 20:
            wave.step()
            steps += 1
            if wave.u[1] > limit:
                break
        return steps

    with pytest.raises(CompileError, match="that others see"):
        transkern.compile(run, target="cpu")(Wave(A.copy(), B.copy()), 3.0)


def test_arrays_in_a_list_change_places() -> None:
    def run(pair: list[Any], steps: int) -> None:
        for k in range(steps):
            pair[1][1:] = pair[0][:-1] + k
            pair[0], pair[1] = pair[1], pair[0]

    for steps in (1, 4):
        ours, wanted = [A.copy(), B.copy()], [A.copy(), B.copy()]
        first = ours[0]
        transkern.compile(run, target="cpu")(ours, steps)
        run(wanted, steps)
        np.testing.assert_array_equal(ours, wanted)
        assert (ours[0] is first) == (steps % 2 == 0)

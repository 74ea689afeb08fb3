"""A module's generator is drawn from as Python draws from it: it goes on for all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

import transkern
from transkern import CompileError

rng = default_rng(0)
legacy = np.random.RandomState(0)
other = np.random.Generator(np.random.MT19937(3))
draw = rng.normal


class Holder:
    def __init__(self) -> None:
        self.rng = default_rng(1)


holder = Holder()


def mixed(x: Any) -> Any:
    total = rng.normal(size=3) + x
    for k in range(4):
        if rng.random() > 0.5:
            total += rng.integers(0, 10, size=3)
        total[k % 3] += draw()
    return total * legacy.rand(3) + other.uniform(1.0, 2.0), rng.permutation(5), rng.choice(4, 2)


def of_an_object(x: Any) -> Any:
    return x + holder.rng.normal()


def test_a_modules_generator_goes_on() -> None:
    compiled = transkern.compile(mixed)
    x = np.arange(3.0)
    states = rng.bit_generator.state, legacy.get_state(), other.bit_generator.state
    wanted = [mixed(x), rng.random(), mixed(x), mixed(x), rng.random(), legacy.rand(), other.random()]
    rng.bit_generator.state, other.bit_generator.state = states[0], states[2]
    legacy.set_state(states[1])
    found = [compiled(x), rng.random(), compiled(x), mixed(x), rng.random(), legacy.rand(), other.random()]
    np.testing.assert_equal(found, wanted)


def test_another_generator_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(x: Any) -> Any:
        return x + rng.normal(size=2)

    compiled = transkern.compile(drawn)
    compiled(np.zeros(2))
    monkeypatch.setitem(globals(), "rng", default_rng(7))
    np.testing.assert_array_equal(compiled(np.zeros(2)), default_rng(7).normal(size=2))


def test_a_generator_that_no_module_holds_is_refused() -> None:
    with pytest.raises(CompileError, match="generator"):
        transkern.compile(of_an_object)(np.zeros(2))

"""Draws of a `RandomState` that NumPy makes between those of the kernel: the state is handed over word by word."""

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def in_turn(n: int, seed: int) -> Any:
    rng = np.random.RandomState(seed)
    found, total = np.zeros(n), 0.0
    for k in range(n):
        a, b, c = rng.choice(10, 3, replace=False)
        found[k] = a * 100 + b * 10 + c + rng.rand()
        total += rng.normal()
        if k % 3 == 0:
            total += rng.permutation(7)[2] + rng.standard_normal(3)[1]
        if k % 5 == 0:
            total += rng.choice([0.1, 0.5, 2.5], 2, p=[0.2, 0.3, 0.5]).sum() + rng.uniform(size=80)[3]
            total += float(rng.randint(0, 1000, 70)[66])
    return found, total, rng.rand()


def of_the_caller(rng: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += rng.choice(9, 4, replace=False)[1] * rng.randn()
        total += float(rng.randint(5))
    return total


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_in_turn(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(in_turn, 17, 3, target=target)


def test_of_the_caller() -> None:
    """The caller's generator is left where NumPy leaves it, with the second of a pair of normal numbers."""
    import transkern

    one, two = np.random.RandomState(5), np.random.RandomState(5)
    assert one.randn() == two.randn()
    compiled = transkern.compile(of_the_caller)
    for n in (0, 1, 6):
        assert of_the_caller(one, n) == compiled(two, n)
        assert one.randn() == two.randn()


def test_words() -> None:
    """NumPy's generator has its words, and behind them its position, where compiled code writes them."""
    rng = np.random.RandomState(11)
    rng.rand(700)
    state = rng.get_state(legacy=False)
    words = (ctypes.c_uint32 * 625).from_address(rng._bit_generator.ctypes.state_address)  # type: ignore[attr-defined]
    assert list(words[:624]) == state["state"]["key"].tolist() and words[624] == state["state"]["pos"]

"""`random.Random` with a seed: what it draws is what Python's draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import CompileError


@pytest.mark.parametrize("seed", [5, 0, -7, 2**40 + 7])
def test_numbers(seed: int) -> None:
    def drawn(seed: int, n: int) -> Any:
        rng = random.Random(seed)
        numbers = [rng.random() for _ in range(n)]
        return numbers[-3:], rng.sample(range(300), 30), rng.randint(1, 6), rng.uniform(2, 3), rng.randrange(3, 30, 4), rng.getrandbits(40)

    alike(drawn, seed, 400)


def test_of_sequences() -> None:
    def drawn(seed: int, n: int) -> Any:
        rng = random.Random(seed)
        items, x = list(range(n)), np.arange(5.0)
        rng.shuffle(items)
        rng.shuffle(x)
        few = rng.sample(items, 3), rng.choices([1, 2, 3], weights=[1, 2, 3], k=5)
        return items, x, rng.choice(items), rng.choice("ACGT"), few

    alike(drawn, 5, 9)


def test_distributions() -> None:
    def drawn(seed: int) -> Any:
        rng = random.Random(seed)
        normal = [rng.gauss(0.0, 2.0) for _ in range(3)]
        return normal, rng.normalvariate(1, 2), rng.expovariate(0.5), rng.triangular(0, 1, 0.5), rng.gammavariate(2.0, 1.0)

    alike(drawn, 5)


class Walk:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.at = 0

    def step(self, by: int) -> int:
        self.at += by * self.rng.choice([-1, 1])
        return self.at


def test_handed_on() -> None:
    def helped(rng: Any) -> Any:
        rng = rng if isinstance(rng, random.Random) else random.Random(rng)
        return rng.random()

    def drawn(seed: int, n: int) -> Any:
        rng, walks = random.Random(seed), [Walk(seed + k) for k in range(n)]
        return helped(rng), helped(4), rng.random(), [walk.step(2) for walk in walks for _ in range(3)]

    alike(drawn, 5, 4)


def test_errors() -> None:
    def empty(seed: int, n: int) -> Any:
        rng = random.Random(seed)
        return rng.choice(list(range(n))), rng.randint(3, n)

    alike(empty, 5, 0)
    alike(empty, 5, 2)

    def unseeded(n: int) -> Any:
        return random.Random().random() + n

    def returned(n: int) -> Any:
        return random.Random(n)

    for function in (unseeded, returned):
        with pytest.raises(CompileError):
            transkern.compile(function)(1)

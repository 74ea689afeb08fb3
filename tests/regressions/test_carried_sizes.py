"""Arrays that a loop hands on in sizes that change: each is what it was when its name was bound."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.trust.against_python import difference

HANDED_ON = (
    "d = p\nfor _ in range(m + 1):\n    p = d\n    d = p[:-1] * 2\nreturn p, d",
    "d = p\nfor _ in range(m + 1):\n    p = d\n    d = p[1:]\nreturn p, d",
    "d = p\nfor _ in range(m + 1):\n    q = d\n    d = q[:-1] * 2\nreturn q",
    "d = p + 1\nwhile m > 0:\n    m -= 1\n    p = d[:-1] * 2\n    d = p\n    p = d[::-1]\nreturn p, d",
    "d = p\nwhile m > 0:\n    m -= 1\n    p = d\n    d = p[p > 2] * 1.5\nreturn p, d",
)


def picks(x: Any, apart: Any) -> Any:
    rows = [x[:2]]
    for k in range(1, len(x) - 1):
        if x[k] > 0:
            rows.append(x[k : k + 2])
    table = np.array(rows)
    order = np.argsort(table[:, 1])[::-1]
    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        near = np.array([abs(table[i, 0] - table[t, 0]) <= apart for t in order[1:]], dtype=bool)
        order = order[np.where(~near)[0] + 1]
    return table[keep]


def test_an_array_of_unknown_length_is_filtered_in_a_loop() -> None:
    """How long it may be was asked of the loop's condition, which speaks of an array that the function makes; then a
    filter had to be as long as its room before it was counted (`branching.fill`)."""
    for seed in range(4):
        x = np.random.default_rng(seed).permutation(12) - 5.5
        alike(picks, x, 2.25)
    alike(picks, np.array([1.0, 2.0]), 0.5)


@pytest.mark.parametrize("statements", HANDED_ON)
def test_sizes_that_change_together(statements: str) -> None:
    """`carried._as_it_is_now`: `p = d` had the size that `d` got behind it."""
    found = difference(statements, "p, m", [np.arange(1.0, 6), 2], stage=0)
    assert not found, found


class _Loops:
    """Loops over three arrays, whose sizes change."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def name(self) -> str:
        return self.rng.choice("pdq")

    def array(self) -> str:
        v, w = self.name(), self.name()
        return self.rng.choice([
            v, v, f"{v}[:-1]", f"{v}[1:]", f"{v}[:-1] * 2", f"{v}[::-1]", f"{v} + 1", f"np.append({v}, {w}[:1])",
            f"{v}[{v} > 2]", f"{v}.copy()", f"np.concatenate(({v}, {w}))[:4]", f"np.diff({v})",
            f"{v}[{w} > 1] if len({v}) == len({w}) else {w}", f"np.cumsum({v})", f"{v}[:len({w})]",
            f"np.zeros(len({v}))", f"{v}[:k]", f"np.where({v} > 2)[0] * 1.0", f"np.sort({w})[1:]",
            f"{v} * {w} if {v}.size == {w}.size else {v}", f"np.full(k, float(len({w})))",
        ])  # fmt: skip

    def statement(self, depth: int) -> str:
        pad, chance = "    " * depth, self.rng.random()
        if chance < 0.55:
            return f"{pad}{self.name()} = {self.array()}"
        if chance < 0.65:
            one, two = self.rng.sample("pdq", 2)
            return f"{pad}{one}, {two} = " + self.rng.choice([f"{two}, {one}", f"{self.array()}, {self.array()}"])
        if chance < 0.75:
            return f"{pad}k = " + self.rng.choice(["len(p)", "len(d) - 1", "k + 1", "min(k, len(q))"])
        if chance < 0.83:
            return f"{pad}if len({self.name()}) > {self.rng.randrange(4)}:\n{self.statement(depth + 1)}"
        if chance < 0.9:
            either = f"{pad}if k > {self.rng.randrange(3)}:\n{self.statement(depth + 1)}\n"
            return f"{either}{pad}else:\n{self.statement(depth + 1)}"
        if chance < 0.95:
            v = self.name()
            return f"{pad}if len({v}) > 0:\n{pad}    {v}[0] = " + self.rng.choice(["7.0", "k"])
        return f"{pad}s += float({self.name()}.sum())"

    def program(self) -> str:
        begin = self.rng.choice(["p", "p * 1", "p[:2]", "p + 1"]), self.rng.choice(["p", "d", "d[1:]", "np.zeros(2)"])
        head = self.rng.choice(["for _ in range(m):", "while m > 0:\n    m -= 1"])
        body = "\n".join(self.statement(1) for _ in range(self.rng.randrange(2, 5)))
        return f"d = {begin[0]}\nq = {begin[1]}\nk = 2\ns = 0.0\n{head}\n{body}\nreturn p, d, q, k, s"


@pytest.mark.parametrize("seed", range(8))
def test_generated_loops(seed: int) -> None:
    loops = _Loops(seed)
    for _ in range(12):
        program = loops.program()
        found = difference(program, "p, m", [np.arange(1.0, 6), 3], stage=0)
        assert not found or "MemoryError" in found, found  # the interpreter has no memory to set aside

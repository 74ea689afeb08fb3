"""Sizes with bounds within bounds of one size are the one bound that they are (`ir/sizes/piecewise.py`)."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.regressions.support import alike
from tests.tools import require
from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr, Var

require("cc")

M = b.size("m.")
MADE = {"add": b.add, "subtract": b.sub, "multiply": b.mul, "maximum": b.maximum, "minimum": b.minimum}
MEANT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "maximum": max, "minimum": min,
}  # fmt: skip


def test_a_slice_of_a_slices_length_has_that_length() -> None:
    length = b.maximum(b.sub(M, b.index(2)), b.ZERO)
    for begins in (1, 2):
        end = b.minimum(b.add(length, b.index(begins)), M)
        assert b.maximum(b.sub(end, b.index(begins)), b.ZERO) == length
    end = b.minimum(b.add(length, b.index(3)), M)  # one beyond the array
    assert b.maximum(b.sub(end, b.index(3)), b.ZERO) == b.maximum(b.sub(M, b.index(3)), b.ZERO)


def test_no_value_is_another_one() -> None:
    chance = random.Random(1)

    def written(depth: int) -> Expr:
        if depth == 0:
            return M if chance.random() < 0.5 else b.index(chance.randint(-4, 4))
        op = chance.choice(["add", "subtract", "multiply", *["maximum", "minimum"] * 2])
        first = b.index(chance.randint(-2, 3)) if op == "multiply" else written(depth - 1)
        return Apply(op, (first, written(depth - 1)), "index")

    def made(e: Expr) -> Expr:
        return MADE[e.op](*map(made, e.args)) if isinstance(e, Apply) else e

    def value(e: Expr, m: int) -> int:
        if isinstance(e, Var):
            return m
        if isinstance(e, Apply):
            return -value(e.args[0], m) if e.op == "negative" else MEANT[e.op](*(value(a, m) for a in e.args))
        found = b.constant(e)
        assert found is not None
        return found

    for _ in range(400):
        expression = written(chance.randint(1, 5))
        simpler = made(expression)
        assert [value(expression, m) for m in range(50)] == [value(simpler, m) for m in range(50)], expression


def _bits_of_neighbours(x: Any) -> Any:
    inner = x[1:-1, 1:-1]
    out = np.zeros(inner.shape, np.uint8)
    for bit, (dy, dx) in enumerate([(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]):
        there = x[dy : dy + inner.shape[0], dx : dx + inner.shape[1]]
        out |= (there >= inner).astype(np.uint8) << bit
    return out


def _moved_three(x: Any) -> Any:
    n = len(x[2:-1])
    total = x[2:-1].copy()
    for k in range(4):
        total += x[k : k + n]
    return total


def test_neighbours_by_offsets_from_a_slices_length() -> None:
    for shape in [(0, 0), (1, 3), (2, 2), (3, 2), (3, 3), (5, 7)]:
        alike(_bits_of_neighbours, np.random.default_rng(0).integers(0, 9, shape).astype(np.int32))
    for n in range(7):
        alike(_moved_three, np.arange(n, dtype=np.float64))

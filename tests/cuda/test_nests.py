"""What never exceeds what: sizes of arrays made in a loop, in what is known before it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cuda.support import program_from, simulated
from tests.tools import require
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.highest import highest
from transkern.targets.cuda.emit import emit

SIZE = b.size("n.")
ROW, COLUMN = Var("i", "index"), Var("j", "index")


def loop(axis: str, start: Expr, stop: Expr, step: int = 1) -> n.Loop:
    return n.Loop(axis, start, stop, b.index(step), "sequential", ())


UP = loop("i", b.ZERO, SIZE)
DOWN = loop("i", b.sub(SIZE, b.ONE), b.index(-1), -1)
INNER = loop("j", b.add(ROW, b.ONE), SIZE)


@pytest.mark.parametrize("around", [UP, DOWN])
def test_the_most_that_a_size_can_be(around: n.Loop) -> None:
    last = b.sub(SIZE, b.ONE)
    assert highest(b.add(ROW, b.ONE), (around,)) == SIZE
    assert highest(b.sub(SIZE, ROW), (around,)) == SIZE
    assert highest(b.sub(b.mul(b.index(3), ROW), b.index(5)), (around,)) == b.sub(b.mul(b.index(3), last), b.index(5))
    assert highest(b.maximum(b.sub(SIZE, ROW), b.index(4)), (around,)) == b.maximum(SIZE, b.index(4))
    assert highest(b.sub(b.index(9), b.maximum(ROW, b.index(2))), (around,)) == b.index(7)
    assert highest(b.floordiv(ROW, b.index(2)), (around,)) == b.floordiv(last, b.index(2))


def test_inner_loops_end_where_outer_ones_let_them() -> None:
    assert highest(b.sub(COLUMN, ROW), (UP, INNER)) is not None
    assert highest(COLUMN, (UP, INNER)) == b.sub(SIZE, b.ONE)
    either = Apply("where", (Apply("less", (ROW, COLUMN), "bool"), ROW, b.index(3)), "index")
    found = highest(either, (UP,))
    assert found == b.maximum(b.sub(SIZE, b.ONE), b.index(3))


def test_what_is_not_linear_is_open() -> None:
    assert highest(Apply("multiply", (ROW, ROW), "index"), (UP,)) is None
    assert highest(ROW, (n.Loop("i", b.ZERO, SIZE, Var("k", "index"), "sequential", ()),)) is None
    assert highest(Apply("floor_divide", (ROW, Const(-2, "index")), "index"), (UP,)) is None


GROWING = """
import numpy as np

def growing(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        part = x[: i + 1] * 2
        part[0] = 1
        for k in range(2):
            pairs = part[:, None] * part[None, : k + 1]
            part = part + pairs.sum(axis=1)
        out[i] = part.max()
    return out
"""


def test_arrays_whose_size_goes_with_a_loop() -> None:
    require("c++")
    namespace: dict[str, object] = {}
    exec(GROWING, namespace)
    x = np.random.default_rng(3).standard_normal(23) * 0.1
    wanted = namespace["growing"](x)  # type: ignore[operator]
    found = simulated(GROWING, "growing(float64[n])", False)(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_an_array_whose_size_only_the_loop_knows_is_refused() -> None:
    source = """
import numpy as np

def sums(x, counts):
    out = np.zeros(len(x))
    for i in range(len(x)):
        part = np.zeros(counts[i])
        for j in range(counts[i]):
            part[j] = x[i] * j
        out[i] = part.sum()
    return out
"""
    with pytest.raises(CompileError, match="`part` is made in a loop, with a size that is known only there") as refused:
        emit(program_from(source, "sums(float64[n], int64[n])"))
    assert "before the loop" in refused.value.help

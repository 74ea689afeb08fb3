"""What `ir.verify` finds in programs that are not as they must be; `conftest` runs it after each pass of every test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Load, Var
from transkern.ir.verify import violations
from transkern.pipeline import program_of

SOURCE = """
import numpy as np
def f(x, k):
    y = np.zeros(x.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        total = total * 0.5 + x[i]
        y[i] = total
    return y, k
"""
PROGRAM = program_of(SOURCE, "f", "f(float64[n], int)", PASSES)
SIZE, ONE = Var("n."), Const(1.0, "float64")


def loop(*body: n.Stmt) -> n.Loop:
    return n.Loop("i_new", b.ZERO, SIZE, b.ONE, "sequential", body)


BROKEN: dict[str, tuple[tuple[n.Stmt, ...], str]] = {
    "a name without a value": ((n.Store("y", (b.ZERO,), Var("unknown", "float64")),), "`unknown` has no value"),
    "a name of a block, behind it": (
        (loop(n.Let("z", ONE)), n.Store("y", (b.ZERO,), Var("z", "float64"))), "`z` has no value"
    ),
    "a loop variable, behind the loop": ((loop(), n.Store("y", (Var("i_new"),), ONE)), "`i_new` has no value"),
    "a name bound twice": ((n.Let("z", ONE), loop(n.Let("z", ONE))), "`z` is bound twice on a path"),
    "a loop variable that is a size": ((replace(loop(), axis="n."),), "`n.` is bound twice on a path"),
    "another type than the name has": (
        (n.Store("y", (b.ZERO,), Var("k", "float64")),), "`k` is index and read as float64"
    ),
    "an assignment to no variable": ((n.Assign("z", ONE),), "`z` gets a float64 and is no variable"),
    "an array that is none": ((n.Store("z", (b.ZERO,), ONE),), "`z` is no buffer"),
    "too many subscripts": ((n.Store("y", (b.ZERO, b.ZERO), ONE),), "`y` of 1 dimensions has 2 subscripts"),
    "a subscript that is no position": ((n.Store("y", (ONE,), ONE),), "a subscript of `y` is no index"),
    "a value of another type": ((n.Store("y", (b.ZERO,), Const(1, "int64")),), "holds float64, and int64 is stored"),
    "an element read as another type": (
        (n.Let("z", Load("y", (b.ZERO,), "float32")),), "`y` holds float64 and is read as float32"
    ),
    "an array statement": ((n.Define("y", (), ONE),), "Define is left after `lower`"),
    "an accumulator that is none": ((n.Accumulate("z", "sum", ONE),), "accumulator `z` is not declared"),
}  # fmt: skip


def test_a_compiled_program_is_as_it_must_be() -> None:
    assert violations(PROGRAM) == []


@pytest.mark.parametrize("name", BROKEN)
def test_found(name: str) -> None:
    statements, problem = BROKEN[name]
    assert any(problem in found for found in violations(replace(PROGRAM, body=(*PROGRAM.body[:-1], *statements))))


def test_a_pass_that_breaks_one_is_named() -> None:
    from transkern import pipeline

    def forget(program: n.Program) -> n.Program:
        return replace(program, buffers={})

    run: Callable[..., n.Program] = pipeline.run
    with pytest.raises(AssertionError, match=r"after forget: .* is no buffer"):
        run(PROGRAM, (forget,))


def test_memory_is_for_its_block() -> None:
    outside = n.If(b.TRUE, (n.Alloc("y"),))
    found = violations(replace(PROGRAM, body=(outside, *(s for s in PROGRAM.body if not isinstance(s, n.Alloc)))))
    assert any("outside the block that its memory is for" in problem for problem in found)

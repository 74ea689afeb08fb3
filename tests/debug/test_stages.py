"""`python -m transkern.debug stages`: the first pass that is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from transkern.debug.__main__ import main
from transkern.debug.arguments import drawn
from transkern.debug.staged import first_fault, names
from transkern.errors import CompileError
from transkern.frontend.values.types import OpaqueType, parse_signature
from transkern.fuse.lowering.canonical import canonicalise
from transkern.fuse.passes import PASSES
from transkern.ir.expr import Apply, Expr
from transkern.ir.nodes import Program
from transkern.ir.traverse import map_block

TEXT = """
import numpy as np

def smooth(x: "float64[n]", k: int) -> object:
    y = x * 2.0
    for i in range(1, len(x)):
        y[i] = y[i] + y[i - 1] * k
    return y

def other(x):
    return eval("x")
"""


def swapped(program: Program) -> Program:
    """Products for sums: the answer is another one, and the program a proper one."""

    def change(e: Expr) -> Expr | None:
        return dataclasses.replace(e, op="multiply") if isinstance(e, Apply) and e.op == "add" else None

    return dataclasses.replace(program, body=map_block(program.body, change))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "smooth.py"
    path.write_text(TEXT)
    return path


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    at = PASSES.index(canonicalise) + 1
    monkeypatch.setattr("transkern.fuse.passes.PASSES", (*PASSES[:at], swapped, *PASSES[at:]))


def run(*given: str) -> Result:
    return CliRunner().invoke(main, ["stages", *given])


def test_all_are_right(file: Path) -> None:
    found = run(str(file), "-f", "smooth")
    assert found.exit_code == 0, found.output
    assert found.output == f"right behind each of {len(names())} stages, for 5 calls\n"


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_of_other_targets(file: Path, target: str) -> None:
    found = run(str(file), "-f", "smooth", "-t", target, "--draws", "1")
    assert found.output == f"right behind each of {len(names(target))} stages, for 1 call\n"


@pytest.mark.parametrize("given", [(), ("--call", "smooth(np.arange(5.0), k=3)"), ("--types", "(float64[n], int)")])
def test_the_wrong_one_is_named(file: Path, wrong: None, given: tuple[str, ...]) -> None:
    found = run(str(file), "-f", "smooth", *given)
    assert found.exit_code == 1
    assert "wrong behind `swapped`" in found.output and "the result" in found.output
    assert "--print-after canonicalise (and swapped)" in found.output


def test_a_pass_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: Program) -> Program:
        raise KeyError("f_2")

    def double(x: Any) -> Any:
        return x * 2

    monkeypatch.setattr("transkern.fuse.passes.PASSES", (*PASSES[:20], broken, *PASSES[20:]))
    fault = first_fault(double, [[np.arange(3.0)]])
    assert fault is not None and (fault.stage, fault.name) == (21, "broken") and "KeyError" in fault.problem


def test_exceptions_and_changes_are_compared(wrong: None) -> None:
    def changes(x: Any, k: int) -> None:
        x[k] = x[k] + 3.0

    fault = first_fault(changes, [[np.arange(3.0), 1]])
    assert fault is not None and "argument 0 after the call" in fault.problem
    found = first_fault(changes, [[np.arange(3.0), 7]])
    assert found is None, "IndexError in both"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("-f", "other", "--types", "(float64[n])"), "eval"),
        ((), "which function? It has: smooth, other"),
        (("-f", "third"), "choose one with --function NAME"),
        (("-f", "other"), "types"),
        (("-f", "smooth", "--call", "np.zeros(3)"), "0 times"),
    ],
)
def test_what_cannot_be_done_is_said(file: Path, given: tuple[str, ...], told: str) -> None:
    found = run(str(file), *given)
    assert found.exit_code != 0 and told in found.output


def test_arguments_are_of_their_types() -> None:
    text = "f(float32[n,4], int64[n], bool[m] readonly, complex128[:] strided, int, float, 'sum'"
    text += ", [float, …], (int8[n], None))"
    kinds = parse_signature(text)[1]
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, c, d, e, f, g, h, (i, j) = drawn(kinds, rng)
        assert (a.dtype, a.shape[1], len(a)) == (np.float32, 4, len(b)) and len(i) == len(b) and len(b) > 1
        assert c.dtype == bool and not c.flags.writeable and not d.flags.contiguous
        assert (type(e), type(f), g, j) == (int, float, "sum", None)
        assert type(h) is list and all(type(x) is float for x in h) and i.dtype == np.int8
        assert (b >= 0).all()
    with pytest.raises(CompileError, match="--call"):
        drawn([OpaqueType("socket")], rng)

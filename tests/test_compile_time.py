"""What compiling takes grows as a function's length does: Python's calls are counted, which no other work disturbs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from transkern import pipeline
from transkern.frontend.sources.annotations import types_from_annotations
from transkern.frontend.sources.source import TextScope
from transkern.frontend.specialise import specialise
from transkern.ir.expr import Apply, Expr, Var
from transkern.targets.clike import CPrinter
from transkern.targets.cpu.printing.kernels import TYPES
from transkern.targets.cpu.printing.module import emit

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
KINDS: tuple[Callable[[int], str], ...] = importlib.import_module("lengths").KINDS
sys.path.pop(0)


def calls(text: str) -> int:
    """How many functions of Python's are entered while `f` becomes C."""
    function = TextScope(text, "<text>").function("f")
    types = types_from_annotations(function)
    assert types is not None
    count = 0

    def note(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        emit(pipeline.run(specialise(function, types)))
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_compile_time_is_linear(kind: Callable[[int], str]) -> None:
    calls(kind(20))  # what is done once in a process
    shorter, longer = calls(kind(60)), calls(kind(180))
    assert longer < 3 * 1.25 * shorter


def test_deep_conditions_are_printed_once() -> None:
    """Each part of a condition becomes text once, however deep it stands."""
    condition: Expr = Apply("less", (Var("x", "int64"), Var("y", "int64")), "bool")
    for k in range(60):
        condition = Apply("or_else" if k % 2 else "and_then", (condition, Var("z", "bool")), "bool")
    assert len(CPrinter({}, TYPES).expr(condition)) < 2000

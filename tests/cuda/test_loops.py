"""Plain loops that may run in any order, as kernels: NumPy's answer on a grid and on one block, and no race in either.

Each is compiled as any function is, and once more with its loops marked by name and with all its checks: what the
target makes of loops must not depend on what could be proven of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tests.cuda import loops
from tests.cuda.support import Recorder, check_call, program_from, recorder, small_grid, types_of
from tests.cuda.test_sanitized import run_checked
from tests.tools import require
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import CUDA_PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import with_bodies
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function
from transkern.targets.cuda.sass import inspect

require("c++")

__all__ = ["recorder"]

_BY_NAME = {case[0].__name__: case for case in loops.CASES}


def marked(axes: list[str], checks: bool, program: n.Program) -> n.Program:
    """The program with the loops over variables named `axes` parallel, and without checks where not `checks`."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        made = [with_bodies(s, block) for s in statements if checks or not isinstance(s, n.Guard)]
        return tuple(
            replace(s, kind="parallel") if isinstance(s, n.Loop) and re.sub(r"_\d+$", "", s.axis) in axes else s
            for s in made
        )

    return replace(program, body=block(program.body))


_PROVING = ("prove_bounds", "split_loops", "parallelise_for_cuda", "parallelise_with_checks", "lanes_outside")


def program_of(name: str, args: tuple[Any, ...], checks: bool = True) -> n.Program:
    """The program of a case, its loops marked; without `checks`, as if it were proven that none fails."""
    scope = TextScope(Path(loops.__file__).read_text(), "loops.py")
    program = specialise(scope.function(name), parse_signature(types_of(name, args))[1])
    for one in CUDA_PASSES:
        if one.__name__ == "place_kernels_for_cuda":
            program = marked(_BY_NAME[name][1], checks, program)
        if one.__name__ not in _PROVING:
            program = one(program)
    return program


def compiled_as_ever(name: str, args: tuple[Any, ...]) -> n.Program:
    return program_from(Path(loops.__file__).read_text(), types_of(name, args))


@pytest.mark.parametrize("name", _BY_NAME)
@pytest.mark.parametrize("program", [program_of, compiled_as_ever], ids=["marked", "proven"])
def test_loops(program: Callable[..., n.Program], name: str) -> None:
    function, _, calls, tolerance = _BY_NAME[name]
    made: dict[str, list[Callable[..., Any]]] = {}
    for args in calls:
        types = types_of(name, args)
        if types not in made:
            code, text = emit(program(name, args))
            texts = [text, *([small_grid(text)] if "_GRID_FROM = " in text else [])]
            made[types] = [launcher_function(name, code, t, simulate=True) for t in texts]
        for compiled in made[types]:
            check_call(function, compiled, args, max(tolerance, 1e-13))


@pytest.mark.parametrize("name", ["lu", "floyd", "jacobi", "levenshtein_batch", "whole_rows_in_steps", "gather_two"])
def test_proven_loops_have_no_race(name: str, recorder: Recorder) -> None:
    args = _BY_NAME[name][2][0]
    run_checked(compiled_as_ever(name, args), args, recorder, "race")


@pytest.mark.parametrize(
    "name",
    ["lu", "triangular", "shifted_ranges", "growing_ranges", "shifted_rows", "lists_in_rows", "turned_in_rows"],
)
def test_loops_that_need_no_checks(name: str, recorder: Recorder) -> None:
    function, _, calls, tolerance = _BY_NAME[name]
    program = program_of(name, calls[0], checks=False)
    code, text = emit(program)
    assert "failure" not in code
    check_call(function, launcher_function(name, code, text, simulate=True), calls[0], tolerance)
    run_checked(program, calls[0], recorder, "race")


@pytest.mark.parametrize("kind", ["memory", "race"])
@pytest.mark.parametrize(
    "name",
    [
        "lu", "floyd", "gather", "rows_gathered", "used_twice", "levenshtein_batch", "rows_skipped_in_steps",
        "private_in_steps", "checked_in_steps", "rows_of_warps", "gathered_sum", "memory_of_its_own", "steps_in_rows",
        "checked_rows_in_steps", "checked_elements_of_rows", "lists_in_rows", "shifted_elements",
    ],
)  # fmt: skip
def test_loops_under_the_sanitizers(name: str, kind: Literal["memory", "race"], recorder: Recorder) -> None:
    args = _BY_NAME[name][2][0 if name == "lu" else -1]
    run_checked(program_of(name, args), args, recorder, kind)


def test_a_loop_with_checks_is_a_grid_kernel_whose_first_failure_wins() -> None:
    args = _BY_NAME["gather"][2][-1]
    code, text = emit(program_of("gather", args))
    assert "_GRID_FROM" not in text and "blocks, threads = _elements(s700, 1)" in text
    compiled = launcher_function("gather", code, text, simulate=True)
    with pytest.raises(IndexError, match="index 51 is out of bounds for axis 0 with size 50"):
        compiled(*args)
    args[1][:] = 50 + np.arange(len(args[1]))  # every iteration fails
    with pytest.raises(IndexError, match="index 50 is out of bounds for axis 0 with size 50"):
        compiled(*args)


@pytest.mark.parametrize(("name", "form"), [("skipped_otherwise", "_rows"), ("skipped_in_branches", "_elements")])
def test_iterations_with_one_end_are_shared(name: str, form: str) -> None:
    _, text = emit(program_of(name, _BY_NAME[name][2][0]))
    assert re.findall(r"blocks, threads = (\w+)", text)[1:] == [form]  # after the zeros


def test_scalars_of_one_iteration_take_no_memory() -> None:
    code, text = emit(program_of("used_twice", _BY_NAME["used_twice"][2][0]))
    assert "_out" not in code and text.count("_kernel(") == 3  # its definition, and the two loops


def test_subscripts_worked_out_before_they_are_used_count_as_work() -> None:
    _, text = emit(program_of("lu", _BY_NAME["lu"][2][0]))
    assert "_group(s33 * s33" in text or "_group(s33, s33 * s33" in text


@pytest.mark.parametrize("name", ["matmul", "lu", "gather", "rows_gathered", "levenshtein_batch"])
def test_loops_compile_without_spills(name: str) -> None:
    require("nvrtc", "nvdisasm", "cuobjdump")
    code, _ = emit(program_of(name, _BY_NAME[name][2][0]))
    for arch in ("sm_80", "sm_90"):
        assert not [k for k in inspect(code, arch) if k.spills]

"""The launches of examples and forms under the sanitizers: no access out of bounds, nothing undefined, no race."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tests.cuda import functions
from tests.cuda.support import NMS, Recorder, example_program, program_from, recorder, small_grid, small_teams, types_of
from tests.tools import example, require
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function
from transkern.targets.cuda.simulator.check import Launch, check

require("c++", "sanitizers")

__all__ = ["recorder"]

_BY_NAME = {function.__name__: (function, calls) for function, calls, _ in functions.CASES}
_FORMS = (
    "filtered_rows", "running", "extremes", "by_row", "relaxed", "powers", "greedy", "selection_sort",
    "checked_in_order", "sums_and_elements", "row_statistics", "column_statistics", "sums_between_elements",
    "gathered_twice", "counts_of_blocks", "checked_points", "tables_of_rows", "directions",
    "smoothed_twice", "table_of_sums", "strongest", "rows_in_turn", "tree_of_options",
    "averaged_rows", "long_rows",
)  # fmt: skip


def run_checked(program: Any, args: tuple[Any, ...], recorder: Recorder, kind: Literal["memory", "race"]) -> None:
    """Calls the program, on one block and on a grid, and repeats each launch under the sanitizers."""
    code, text = emit(program)
    variants = [text, *([small_grid(text)] if "_GRID_FROM = " in text else [])]
    variants += [small_teams(text)] if "def _sharing(" in text else []
    for variant in variants:
        call: Callable[..., Any] = launcher_function(program.name, code, variant, simulate=True)
        with contextlib.suppress(IndexError, ValueError):  # a check that fails is a launch like any other
            call(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    launches = []
    for number, (launch, given) in enumerate(recorder.launches):
        arrays |= {f"{name}_{number}": value for name, value in given.items()}
        renamed = [f"{a}_{number}" if isinstance(a, str) else a for a in launch.args]
        launches.append(Launch(*launch[:3], renamed, *launch[4:]))
    report = check(code, launches, arrays, kind)
    assert report.ok, report.text


@pytest.mark.parametrize("kind", ["memory", "race"])
@pytest.mark.parametrize("name", _FORMS)
def test_form(name: str, kind: Literal["memory", "race"], recorder: Recorder) -> None:
    function, calls = _BY_NAME[name]
    args = calls[{"checked_in_order": -1, "by_row": 1, "filtered_rows": 1, "checked_points": 1}.get(name, 0)]
    program = program_from(Path(functions.__file__).read_text(), types_of(function.__name__, args))
    run_checked(program, args, recorder, kind)


@pytest.mark.parametrize("name", ["relaxed", "powers", "sums_and_elements"])
def test_no_barrier_is_there_for_nothing(name: str, recorder: Recorder) -> None:
    function, calls = _BY_NAME[name]
    program = program_from(Path(functions.__file__).read_text(), types_of(function.__name__, calls[0]))
    code, text = emit(program)
    launcher_function(program.name, code, text, simulate=True)(*calls[0])
    barriers = [m.start() for m in re.finditer(r"group\.sync\(\);", code)]
    assert barriers
    launches = [launch for launch, _ in recorder.launches]
    arrays = {name: array for _, given in recorder.launches for name, array in given.items()}
    for at in barriers:
        report = check(
            code[:at] + " " * len("group.sync();") + code[at + len("group.sync();") :], launches, arrays, "race"
        )
        assert not report.ok and "race" in report.text


def test_a_barrier_before_a_loop_is_not_in_it() -> None:
    function, calls = _BY_NAME["sums_and_elements"]
    code, _ = emit(program_from(Path(functions.__file__).read_text(), types_of(function.__name__, calls[0])))
    start = code.index("for i in range(k):")
    assert "group.sync();" in code[start - 200 : code.index("{", start)]
    assert "group.sync();" not in code[code.index("{", start) : code.index("}", start)]


@pytest.mark.parametrize("kind", ["memory", "race"])
@pytest.mark.parametrize("name", NMS)
def test_nms(name: str, kind: Literal["memory", "race"], recorder: Recorder) -> None:
    module = example("nms")
    args = module.arguments(150)[getattr(module, name)]
    run_checked(example_program(name, NMS[name].format(t="float32")), args, recorder, kind)


@pytest.mark.parametrize("kind", ["memory", "race"])
@pytest.mark.parametrize("name", ["adam", "lstm", "residual", "softmax", "layernorm"])
def test_example(name: str, kind: Literal["memory", "race"], recorder: Recorder) -> None:
    module = example(name)
    sizes: dict[str, dict[str, int]] = {
        "adam": {"n": 203},
        "lstm": {"batch": 3, "hidden": 9},
        "residual": {"batch": 2, "channels": 3, "height": 5, "width": 7},
    }
    args = module.arguments(**sizes.get(name, {"rows": 3, "columns": 70}), dtype=np.float32)
    parameters = inspect.signature(getattr(module, name)).parameters.values()
    args = (*args, *[p.default for p in list(parameters)[len(args) :]])
    run_checked(example_program(name, types_of(name, args)), args, recorder, kind)

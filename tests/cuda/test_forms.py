"""Each form of a kernel in the simulator against NumPy: values, dtypes, errors, effects; also on a cooperative grid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cuda import functions
from tests.cuda.support import FUSED, check_call, example_program, program_from, small_grid, types_of
from tests.fuzz.simple_run import check as check_generated
from tests.tools import example, require
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function
from transkern.targets.cuda.load import load, printed

require("c++")


@pytest.mark.parametrize("case", functions.CASES, ids=lambda c: c[0].__name__)
def test_form(case: tuple[Callable[..., Any], list[tuple[Any, ...]], float]) -> None:
    function, calls, tolerance = case
    made: dict[str, list[Callable[..., Any]]] = {}
    for args in calls:
        types = types_of(function.__name__, args)
        key = types if any(isinstance(a, np.ndarray) and 0 in a.shape for a in args) else _shape_free(types)
        if key not in made:
            program = program_from(functions.__file__ and Path(functions.__file__).read_text(), types)
            code, text = emit(program)
            made[key] = [launcher_function(program.name, code, text, simulate=True)]
            if "_GRID_FROM = " in text:
                made[key].append(launcher_function(program.name, code, small_grid(text), simulate=True))
        for compiled in made[key]:
            check_call(function, compiled, args, tolerance)


def _shape_free(types: str) -> str:
    return types


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUSED)
def test_examples_on_special_values(name: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 80.0, -120.0], dtype)
    tolerance = {"float32": 3e-6, "float64": 1e-14}[dtype]
    program = example_program(name, FUSED[name].format(t=dtype).replace("[n, 4]", "[n, m]"))
    compiled = load(printed(program), simulate=True)
    shapes: dict[str, list[list[tuple[int, ...]]]] = {
        "sigmoid": [[(n,)] * 3 for n in (0, 2, 7, 1003)],
        "softmax": [[s] for s in ((0, 5), (3, 2), (5, 33), (2, 1025))],
        "layernorm": [[s, s[1:], s[1:]] for s in ((0, 5), (3, 2), (5, 33), (2, 1025))],
        "lstm": [[(n, 4 * k), (n, k)] for n, k in ((0, 3), (2, 5), (3, 64))],
        "residual": [[s, s] for s in ((2, 3, 0, 7), (2, 3, 5, 7))],
    }
    for shape in shapes[name]:
        for kind in range(2):
            args = [rng.standard_normal(s).astype(dtype) for s in shape]
            if kind:
                for a in args:
                    a.reshape(-1)[::3] = np.resize(special, a.reshape(-1)[::3].size)
            more = [1e-5] if name == "layernorm" else []
            check_call(getattr(example(name), name), compiled, (*args, *more), tolerance)


@pytest.mark.parametrize("block", range(3))
def test_generated_programs(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    failures, refused = check_generated(range(1000 + block * 10, 1010 + block * 10), "cuda", tmp_path)
    assert not failures
    assert refused <= 1

"""What the tests of the CUDA target share: programs from examples and text, launches as they happen, small grids."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import example
from transkern.ir import nodes as n
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.prelude import MOST_SHARED
from transkern.targets.cuda.simulator import device
from transkern.targets.cuda.simulator.check import Launch

FUSED = {
    "sigmoid": "sigmoid({t}[n], {t}[n], {t}[n])",
    "softmax": "softmax({t}[n, m])",
    "layernorm": "layernorm({t}[n, m], {t}[m], {t}[m], float)",
    "lstm": "lstm({t}[n, 4], {t}[n, k])",
    "residual": "residual({t}[a, b, c, d], {t}[a, b, c, d])",
}
"""Examples and their types; the types of those that are called come from the arguments."""

NMS = {
    "nms": "nms({t}[n, 4], {t}[n], int, float)",
    "nms_descending": "nms_descending({t}[n, 5], float)",
    "nms_delete": "nms_delete({t}[n, 4], {t}[n], float)",
    "nms_flags": "nms_flags({t}[n, 4], {t}[n], float)",
}


def compiled_for(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[..., Any], str]:
    """The function as it was compiled for CUDA and the arguments, and what was emitted."""
    compiled = transkern.compile(function, target="cuda")
    compiled(*copy.deepcopy(arguments))
    return compiled, compiled.emit()


def types_of(name: str, args: tuple[Any, ...]) -> str:
    """The text of the types of actual arguments; each size that is not 1 gets a name of its own by its value."""

    def one(arg: Any) -> str:
        if isinstance(arg, np.ndarray):
            dims = [str(s) if s <= 1 else f"s{s}" for s in arg.shape]
            return f"{arg.dtype}[{', '.join(dims)}]"
        return type(arg).__name__ if isinstance(arg, (bool, int, float)) else str(arg.dtype)

    return f"{name}({', '.join(map(one, args))})"


def program_from(source: str | Callable[..., Any], types: str) -> n.Program:
    """The program of a function for types as text."""
    text = source if isinstance(source, str) else inspect.getsource(inspect.getmodule(source))  # type: ignore[arg-type]
    return program_of(text, types.partition("(")[0], types, passes_for("cuda"))


def example_program(name: str, types: str) -> n.Program:
    module = example("nms" if name.startswith("nms") else name)
    return program_of(inspect.getsource(module), types.partition("(")[0], types)


def simulated(source: str | Callable[..., Any], types: str, grid: bool = False) -> Callable[..., Any]:
    """The function on the simulator; `grid`: what can run on a cooperative grid does, on a small one."""
    program = program_from(source, types)
    code, text = emit(program)
    return loading.function(program.name, code, small_grid(text) if grid else text, simulate=True)


def small_grid(text: str) -> str:
    """A launcher whose cooperative kernels run whatever the sizes are, on 4 blocks of 64 threads."""
    assert "_GRID_FROM = " in text, "no kernel has a cooperative form"
    blocks = next(line for line in text.splitlines() if line.startswith("    blocks = 1 <<"))
    return (
        text.replace("_GRID_FROM = ", "_GRID_FROM = 0 * ")
        .replace(blocks, "    blocks = 4")
        .replace("return blocks, 1024, ", "return blocks, 64, ")
    )


def small_teams(text: str) -> str:
    """A launcher whose points are shared by two blocks of 32 threads each, whatever the sizes are."""
    assert "def _sharing(" in text, "no kernel shares points"
    return f"""{text}

def _blocks_of(blocks, steps):
    return 2


def _sharing(points, length, along=False):
    parts = 32 if along else 8
    memory = _kept({8 * MOST_SHARED} + 256 * _multiprocessors(), np.uint8)
    return 2 * max(1, min(-(-points * parts // 32), 2)), 32, np.int32(parts), np.int32(2), memory
"""


@dataclass
class Recorder:
    """The launches of the simulated device with copies of their arrays, one text after another."""

    texts: list[str] = field(default_factory=list)
    launches: list[tuple[Launch, dict[str, np.ndarray[Any, Any]]]] = field(default_factory=list)

    def record(self, kernel: Any, grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        given: list[Any] = []
        seen: dict[int, str] = {}
        for parameter, value in zip(kernel._module.kernels[kernel.name], args, strict=True):
            if isinstance(value, np.ndarray):
                name = seen.setdefault(id(value), parameter.name)
                arrays[name] = np.array(value, subok=False)
                given.append(name)
            else:
                given.append(value)
        launch = Launch(kernel.name, grid, block, given, shared_mem, kernel.enable_cooperative_groups)
        self.launches.append((launch, arrays))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Notes every launch made during the test."""
    found = Recorder()
    run = device.RawKernel.__call__

    def call(self: Any, grid: Any, block: Any, args: Any, **options: Any) -> None:
        found.record(self, grid, block, args)
        run(self, grid, block, args, **options)

    monkeypatch.setattr(device.RawKernel, "__call__", call)
    return found


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[Any], Exception | None]:
    """The result, the arguments afterwards, and what was raised."""
    mine = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"):
            return function(*mine), list(mine), None
    except Exception as error:
        return None, list(mine), error


def assert_same(found: Any, wanted: Any, tolerance: float = 0.0) -> None:
    """Equal values of equal types; floats within `tolerance`, NaN where NaN is."""
    assert type(found) is type(wanted), f"{type(found)} instead of {type(wanted)}"
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for mine, theirs in zip(found, wanted, strict=True):
            assert_same(mine, theirs, tolerance)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if tolerance:
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(found, wanted)
    elif isinstance(wanted, float) and wanted != wanted:
        assert found != found
    else:
        assert found == wanted


def check_call(
    function: Callable[..., Any], compiled: Callable[..., Any], args: tuple[Any, ...], tolerance: float = 0.0
) -> None:
    """One call against NumPy: the result, the arguments, or the error."""
    wanted, theirs, error = outcome(function, args)
    found, mine, raised = outcome(compiled, args)
    if error is not None or raised is not None:
        assert type(raised) is type(error) and str(raised) == str(error), f"{raised!r} instead of {error!r}"
        return
    assert_same(found, wanted, tolerance)
    assert_same(mine, theirs, tolerance)

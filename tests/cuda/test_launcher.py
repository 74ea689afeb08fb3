"""The launcher as its user meets it: arguments, results, errors, where arrays live, and files that stand alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cuda.support import example_program, program_from, simulated
from tests.tools import has, require
from transkern.errors import TargetUnavailable
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import load, printed
from transkern.targets.cuda.simulator import device as cp

require("c++")

SOURCE = """
import numpy as np

def scaled(x, a, k):
    return x * a + k

def shift(x, n):
    x += n
    return x

def fill(x, index, value):
    x += 1
    x[index] = value

def parts(x):
    return x[1:-1], [x.sum() * 1.0, x.size], (x > 0).any(), None

def diagonal(m):
    return m.T, m[::-1, 1:]

def grown(k):
    return np.arange(k) * 2

def first_bad(x, index):
    x[:] = 0
    total = 0.0
    for i in range(len(index)):
        total += x[index[i]]
    return total
"""


def test_kinds_of_arguments_are_checked() -> None:
    call = simulated(SOURCE, "scaled(float32[n], float, int)")
    x = np.ones(5, np.float32)
    for args, message in (
        (([1.0], 1.0, 2), "x is a list; an array is needed"),
        ((x.astype(float), 1.0, 2), "x is an array of float64 with 1 dimensions; this code is for float32 with 1"),
        ((x.reshape(1, 5), 1.0, 2), "with 2 dimensions"),
        ((x, 1, 2), "a is of type int; this code is for float"),
        ((x, 1.0, True), "k is of type bool; this code is for int"),
    ):
        with pytest.raises(TypeError, match=message.replace("(", r"\(")):
            call(*args)
    with pytest.raises(OverflowError):
        call(x, 1.0, 2**63)
    with pytest.raises(TypeError, match="axis 1 of dets has size 6; this code is for 5"):
        nms = load(printed(example_program("nms_descending", "nms_descending(float32[n, 5], float)")), simulate=True)
        nms(np.zeros((3, 6), np.float32), 0.5)


def test_arrays_of_any_layout_come_in() -> None:
    call = simulated(SOURCE, "scaled(float32[n], float, int)")
    base = np.arange(40, dtype=np.float32)
    frozen = base[:10].copy()
    frozen.flags.writeable = False
    for x in (base[::3], base[::-1], base[5:9], frozen, base[1:]):
        np.testing.assert_array_equal(call(x, 2.0, 1), x * 2 + 1)


def test_strided_arguments_stay_where_they_are() -> None:
    program = program_from(SOURCE, "shift(float32[n] strided, float)")
    text, launcher = emit(program)
    assert "x_stride0" in text and "strides[0] // x.itemsize" in launcher
    call = load(printed(program), simulate=True)
    base = np.arange(20, dtype=np.float32)
    wanted = base.copy()
    wanted[::-3] += 1.5
    assert call(base[::-3], 1.5).base is base
    np.testing.assert_array_equal(base, wanted)


def test_in_place_results_are_the_very_argument() -> None:
    call = simulated(SOURCE, "shift(float32[n], float)")
    x = np.zeros(7, np.float32)
    assert call(x, 2.0) is x and (x == 2).all()
    view = np.zeros(14, np.float32)[::2]
    assert call(view, 2.0) is view and (view == 2).all()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(x, 2.0)


def test_a_failed_check_leaves_what_came_before_it() -> None:
    call = simulated(SOURCE, "fill(float32[n], int, float)")
    x = np.zeros(4, np.float32)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        call(x, 4, 1.0)
    assert x.tolist() == [1, 1, 1, 1]
    call(x, -1, 7.0)
    assert x.tolist() == [2, 2, 2, 7]
    in_kernel = simulated(SOURCE, "first_bad(float32[n], int64[m])")
    x = np.ones(4, np.float32)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        in_kernel(x, np.array([1, 9, 12]))
    assert not x.any()


def test_arrays_that_share_memory_are_refused_where_one_is_written() -> None:
    call = simulated("def f(x, y):\n    x += y\n", "f(float32[n], float32[n])")
    x = np.ones(8, np.float32)
    with pytest.raises(ValueError, match="shares memory"):
        call(x[:6], x[2:])


def test_prints_on_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    call = simulated("def f(x, k):\n    print('sum', x.sum(), k, sep=': ')\n    return k\n", "f(float32[n], int)")
    assert call(np.ones(8, np.float32), 3) == 3
    assert capsys.readouterr().out == "sum: 8.0: 3\n"


def test_results_are_numpys_kinds() -> None:
    call = simulated(SOURCE, "parts(float32[n])")
    x = np.arange(5, dtype=np.float32)
    view, (total, size), positive, nothing = call(x)
    assert np.shares_memory(view, x) and view.tolist() == [1, 2, 3]
    assert type(total) is np.float32 and total == 10
    assert type(size) is int and size == 5
    assert type(positive) is np.bool_ and positive
    assert nothing is None
    turned, cut = simulated(SOURCE, "diagonal(float32[n, m])")(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert turned.tolist() == [[0, 3], [1, 4], [2, 5]] and cut.tolist() == [[4, 5], [1, 2]]
    grown = simulated(SOURCE, "grown(int)")
    assert grown(4).tolist() == [0, 2, 4, 6] and type(grown(0)) is np.ndarray


def test_device_arrays_come_in_and_out() -> None:
    call = simulated(SOURCE, "scaled(float32[n], float, int)")
    x = cp.asarray(np.arange(5, dtype=np.float32))
    result = call(x, 2.0, 1)
    assert isinstance(result, cp.ndarray) and cp.asnumpy(result).tolist() == [1, 3, 5, 7, 9]
    shift = simulated(SOURCE, "shift(float32[n], float)")
    assert shift(x, 1.0) is x and cp.asnumpy(x).tolist() == [1, 2, 3, 4, 5]
    every = x[::2]
    assert shift(every, 1.0) is every and cp.asnumpy(x).tolist() == [2, 2, 4, 4, 6]


def test_calls_count_from_where_the_last_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    call = simulated("def f(x):\n    return x.sum(), x.min()\n", "f(float64[n])")
    made = []
    zeros = cp.__getattr__("zeros")
    monkeypatch.setattr(cp, "zeros", lambda *args: made.append(args) or zeros(*args), raising=False)
    for size in (1, 5000, 3, 700):
        x = np.arange(size, dtype=np.float64)
        assert call(x) == (x.sum(), 0.0)
    assert len(made) == 1  # what kernels leave at zero is not filled again
    monkeypatch.setattr(cp.cuda.Stream, "is_capturing", lambda self: True)
    assert call(np.ones(600)) == call(np.ones(600)) == (600.0, 1.0)
    assert len(made) == 3  # a graph may run beside what its stream does


def test_sizes_that_need_other_code() -> None:
    program = program_from("def f(x, y):\n    return x[1:-1] + y\n", "f(float32[n], float32[m])")
    call = load(printed(program), simulate=True)
    x = np.ones(3, np.float32)
    assert call(x, np.ones(4, np.float32)) is NotImplemented and call.why() == "sizes"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="other code"):
        simulated("def f(x, y):\n    return x[1:-1] + y\n", "f(float32[n], float32[m])")(x, np.ones(4, np.float32))


def test_without_a_device_the_error_says_what_else_there_is() -> None:
    if has("device"):
        pytest.skip("there is a device")
    with pytest.raises(TargetUnavailable, match=r'TRANSKERN_CUDA_SIM=1.*target="cpu"'):
        load(printed(program_from(SOURCE, "grown(int)")), simulate=False)


FAKE = """
import numpy as np
from numpy import *
class ndarray(np.ndarray):
    pass
def asarray(x, order=None):
    return np.array(x, order=order).view(ndarray)
def empty(shape, dtype):
    return np.zeros(shape, dtype).view(ndarray)
ndarray.get = lambda self: np.array(self)
class Device:
    attributes = {"MultiProcessorCount": 7}
    def __enter__(self): return self
    def __exit__(self, *error): return None
class cuda:
    Device = Device
class RawModule:
    def __init__(self, *, code, backend, options, enable_cooperative_groups):
        assert "__global__" in code and backend == "nvrtc" and options == ("--std=c++17", "--fmad=false")
    def get_function(self, name):
        return lambda grid, block, args: print(name, grid, block, [getattr(a, "size", a) for a in args])
"""


def test_emitted_files_stand_alone(tmp_path: Path) -> None:
    code, text = emit(program_from(SOURCE, "scaled(float32[n], float, int)"))
    (tmp_path / "scaled.cu").write_text(code)
    (tmp_path / "scaled.py").write_text(text)
    (tmp_path / "cupy.py").write_text(FAKE)
    (tmp_path / "transkern.py").write_text("raise ImportError('transkern is not here')")
    run = "import numpy as np, scaled; scaled.scaled(np.ones(5000, np.float32), 2.0, 1)"
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "scaled_result (5,) (256,) [5000, 5000, 5000, 1, 1]"

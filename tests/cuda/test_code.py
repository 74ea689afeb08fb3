"""The text: NVRTC takes it for each architecture, the machine code spills nothing, and it reads as it should."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cuda.support import FUSED, NMS, example_program, program_from, simulated
from tests.tools import require
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.sass import KernelCode, compile_cubin, inspect

require("nvrtc", "nvdisasm", "cuobjdump")

ADAM = "adam({t}[n], {t}[n], {t}[n], {t}[n], float, float, float, float, int)"
LSTM = "lstm({t}[n, m], {t}[n, k])"
EXAMPLES = {**{k: v for k, v in FUSED.items() if k != "lstm"}, "adam": ADAM, "lstm": LSTM, **NMS}


@cache
def texts(name: str, dtype: str = "float32") -> tuple[str, str]:
    return emit(example_program(name, EXAMPLES[name].format(t=dtype)))


@cache
def code(name: str, arch: str, dtype: str = "float32") -> list[KernelCode]:
    return inspect(texts(name, dtype)[0], arch)


def only(text: str, group: str) -> str:
    """The text with only the one of a block kernel's two ways: ``block`` or ``grid``."""
    choice = re.compile(r"    if \(gridDim\.x == 1\) \{\n(.*?)    \} else \{\n(.*?)    \}\n", re.DOTALL)
    cut, count = choice.subn(r"\1" if group == "block" else r"\2", text)
    assert count == 1
    return cut


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_compile_without_spills(name: str, dtype: str, arch: str) -> None:
    kernels = code(name, arch, dtype)
    assert kernels
    assert not [k for k in kernels if k.spills]
    assert all(k.registers <= 64 for k in kernels)


@pytest.mark.parametrize("name", ["sigmoid", "adam", "lstm", "residual"])
def test_elementwise_examples_move_words_of_16_bytes(name: str) -> None:
    (kernel,) = code(name, "sm_90")
    assert kernel.counts["load_128"] >= 2 and kernel.counts["store_128"] >= 1
    assert "barrier" not in kernel.counts and not kernel.shared


@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_rows_take_one_barrier_a_reduction(name: str) -> None:
    (kernel,) = (k for k in code(name, "sm_90") if not k.name.endswith("_shared"))
    assert kernel.counts["barrier"] == 2


@pytest.mark.parametrize("name", NMS)
def test_an_nms_loop_is_one_launch_with_one_barrier_a_step(name: str) -> None:
    text, launcher = texts(name)
    entries = re.findall(r"__global__ void __launch_bounds__\(\d+\) (\w+)\(", text)
    assert text.count("__global__") == len(entries)
    assert [e for e in entries if "loop" in e] == [f"{name}_loop"]  # the others prepare arrays, before it
    user = launcher.partition(f"def {name}(")[2].partition("\ndef ")[0]
    assert not re.search(r"^ *(while|for) ", user, re.MULTILINE)
    assert user.count(f'_kernel("{name}_loop"') == 1
    (loop,) = [k for k in inspect(only(text, "block"), "sm_90") if k.name == f"{name}_loop"]
    assert loop.counts["barrier"] <= 2


@pytest.mark.parametrize("name", NMS)
def test_one_entry_for_block_and_grid_costs_the_block_nothing(name: str) -> None:
    text = texts(name)[0]
    both, block, grid = (
        next(k for k in inspect(t, "sm_90") if k.name == f"{name}_loop")
        for t in (text, only(text, "block"), only(text, "grid"))
    )
    assert both.instructions <= block.instructions + grid.instructions + 16
    # A block of 1024 threads has 64 registers for each: up to there their number is no loss.
    assert both.registers <= 64 and not both.spills


@pytest.mark.parametrize("name", EXAMPLES)
def test_launchers_import_only_cupy_and_numpy(name: str) -> None:
    tree = ast.parse(texts(name)[1])
    found = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert found <= {"cupy", "numpy", "functools", "math", "pathlib", "threading"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_text_is_the_same_each_time_and_fits_a_screen(name: str) -> None:
    program = example_program(name, EXAMPLES[name].format(t="float32"))
    assert emit(program) == emit(program)
    for text in emit(program):
        assert all(line == line.rstrip() and "\t" not in line for line in text.splitlines())


def test_the_users_lines_stand_above_their_code() -> None:
    text, _ = texts("nms")
    assert re.search(r"// \d+: keep\.append\(i\)\n.*keep\[keep_size\] = i", text)
    assert re.search(r"// \d+: order = rest\[iou <= iou_threshold\]\n(#pragma unroll 1\n)? +for \(", text)
    assert "const float iou = inter / " in text


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not needed by anything")
@pytest.mark.parametrize("name", ["nms", "layernorm"])
def test_nvcc_takes_the_same_text(name: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(texts(name)[0])
    command = ["nvcc", "-std=c++17", "--fmad=false", "-arch=sm_80", "-ptx", "kernel.cu", "-o", "kernel.ptx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_of_cuda_and_of_the_launcher_may_be_the_users() -> None:
    source = (
        "def f(block, grid, threads):\n    cp = block * grid\n    error = cp + threads\n    return error.sum(), cp\n"
    )
    text, launcher = emit(program_from(source, "f(float32[n], float32[n], float32[n])"))
    compile_cubin(text)
    compile(launcher, "f.py", "exec")


def test_halves_compile() -> None:
    source = (
        "import numpy as np\n\ndef f(x, y, t):\n    z = x * y - t\n"
        "    return z, x.sum(), x.max(), np.cumsum(x), np.nextafter(x, y), x.argmin(), x[x > 1], x * np.float64(2)\n"
    )
    text, _ = emit(program_from(source, "f(float16[n], float16[n], float16)"))
    assert "Half *__restrict__ x" in text
    compile_cubin(text)


def test_complex_numbers_are_floats_to_the_compiler() -> None:
    source = "import numpy as np\ndef f(z, w, c):\n    return np.exp(z * c) / w, np.power(z, w), np.tan(w).sum()\n"
    text, launcher = emit(program_from(source, "f(complex64[n], complex128[n], complex)"))
    compile_cubin(text)
    assert "_Complex" not in text and "multiply_add_float32" in text
    compile(launcher, "f.py", "exec")


PLACES = """
def stepped(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 1, -1, -2):
            for c in range(1, a.shape[2], 3):
                out[i, j, c] = a[i, j, c] * (i + 2 * j - c)
    return out
"""


def test_points_that_threads_share_are_counted_not_divided() -> None:
    program = program_from("import numpy as np\n" + PLACES, "stepped(float32[n, m, k])")
    text = emit(program)[0]
    assert re.findall(r"quotient\(([^,]*_at\b)", text) == [] and "floormod_index(" not in text
    call = simulated("import numpy as np\n" + PLACES, "stepped(float32[n, m, k])")
    space: dict[str, Any] = {"np": np}
    exec(PLACES, space)  # the text is our own
    for shape in ((3, 4, 7), (2, 5, 8), (3, 1, 4), (0, 3, 4), (3, 0, 4), (2, 2, 0)):
        a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        assert np.array_equal(call(a), space["stepped"](a))


def test_reductions_of_arrays_have_loads_under_way() -> None:
    source = "import numpy as np\ndef f(x, y):\n    return np.abs(x - y).max(), (x * y).sum()\n"
    (kernel,) = inspect(emit(program_from(source, "f(float32[n], float32[n])"))[0], "sm_90")
    assert max(loop.in_flight for loop in kernel.loops) >= 32  # four of each array
    call = simulated(source, "f(float32[n], float32[n])")
    for size in (1, 3, 255, 257, 1029):
        x = np.arange(size, dtype=np.float32) - 7
        assert [float(v) for v in call(x, x[::-1].copy())] == [float(size - 1), float((x * x[::-1]).sum())]


LOOKED_UP = "import numpy as np\ndef f(table, i):\n    return table[i].sum(axis=1)\n"


def test_points_whose_neighbours_are_neighbours_have_a_thread_each() -> None:
    """Each reads one row of the table after the other; the terms of a sum stand far from each other."""
    text = emit(program_from(LOOKED_UP, "f(float32[n, m], int64[k, l])"))[0]
    assert "block.reduce(total" not in text and "Parts " in text
    call = simulated(LOOKED_UP, "f(float32[n, m], int64[k, l])")
    table = np.arange(35, dtype=np.float32).reshape(7, 5)
    for places in (np.array([[0, -1, 3], [6, 6, -7]]), np.zeros((2, 0), np.int64), np.zeros((0, 3), np.int64)):
        assert np.array_equal(call(table, places), table[places].sum(axis=1))
    with pytest.raises(IndexError):
        call(table, np.array([[0, 7]]))


DISTANCES = """
import numpy as np
def f(x, y):
    d = x[:, None, :] - y[None, :, :]
    return (d * d).sum(axis=-1)
"""


def test_short_rows_have_a_thread_each() -> None:
    call = simulated(DISTANCES, "f(float32[n, k], float32[m, k])")
    for size in (1, 3, 31, 32, 33, 130):
        x = ((np.arange(4 * size) * 37) % 11).astype(np.float32).reshape(4, size)
        y = x[1:3] + 1
        assert np.array_equal(call(x, y), ((x[:, None] - y) ** 2).sum(axis=-1))
    empty = np.zeros((0, 5), np.float32)
    assert call(empty, empty).shape == (0, 0)


def test_the_launcher_asks_for_the_length_of_rows() -> None:
    text, launcher = emit(program_from(DISTANCES, "f(float32[n, k], float32[m, k])"))
    names = re.findall(r"__global__ void __launch_bounds__\([^)]*\) (\w+)\(", text)
    assert sum(name.endswith("_shared") for name in names) == launcher.count(" < 32 or ") >= 1
    assert "sum_shared(" not in emit(program_from(DISTANCES, "f(float32[n, 40], float32[m, 40])"))[0]


FOLDS = """
def f(x, w):
    out = 0.0
    for i in range(x.shape[0]):
        best, at = 0.0, 0
        for j in range(x.shape[1]):
            if x[i, j] * w[j] > best + w[j]:
                best, at = x[i, j] * w[j], j
        low = 0.0
        for j in range(x.shape[1]):
            low = low * w[j] + x[i, j]
        out = out * 0.5 + best + low + at
    return out
"""


def test_what_loops_keep_in_shared_memory_fits_a_block() -> None:
    for kernel in inspect(emit(program_from(FOLDS, "f(float64[n, m], float64[m])"))[0], "sm_90"):
        assert kernel.shared <= 48 * 1024


CHANNELS = """
def f(x):
    return x.sum(axis=(0, 2, 3)), x[::2, :, 1:, ::-1].max(axis=(0, 2, 3))
"""


def test_reductions_over_several_axes_divide_in_the_beginning_alone() -> None:
    kernels = inspect(emit(program_from(CHANNELS, "f(float32[a, b, c, d])"))[0], "sm_90")
    assert not any(k.spills for k in kernels)
    assert all(loop.arithmetic.get("special", 0) == 0 for k in kernels for loop in k.loops)
    call = simulated(CHANNELS, "f(float32[a, b, c, d])")
    for shape in ((3, 2, 5, 4), (1, 3, 2, 1), (2, 1, 40, 41), (5, 3, 2, 33)):
        x = ((np.arange(np.prod(shape)) * 37) % 101).astype(np.float32).reshape(shape)
        sums, most = call(x)
        assert np.array_equal(sums, x.sum(axis=(0, 2, 3)))
        assert np.array_equal(most, x[::2, :, 1:, ::-1].max(axis=(0, 2, 3)))

"""`explain`: the bytes that kernels move, against the fewest, and what passes have decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import pipeline
from transkern.analysis.reports.decided import Watch
from transkern.analysis.reports.traffic import Bytes, in_all, traffic
from transkern.fuse.lowering.lower import lower
from transkern.fuse.passes import PASSES
from transkern.ir.nodes import Kernel, Program
from transkern.ir.traverse import walk

CASES: dict[str, tuple[str, str, list[str], str]] = {
    # what each kernel moves, and what goes in and out of all of them; checks have kernels of their own
    "two passes become one": (
        "def f(x):\n    y = x * 2\n    return np.sqrt(y) + y\n", "f(float64[n])", ["16·n"], "16·n",
    ),
    "narrow elements": ("def f(x, y):\n    return x + y\n", "f(int8[n,m], float32[n,m])", ["9·m·n"], "9·m·n"),
    "neighbours are read once": (
        "def f(x):\n    return x[2:] + x[1:-1] + x[:-2]\n", "f(float64[n])", ["16·n"], "16·n",
    ),
    "a row for all": ("def f(x, w):\n    return x * w\n", "f(float64[n,m], float64[m])", ["16·m·n"], "16·m·n"),
    "known sizes": ("def f(x):\n    return x + 1.0\n", "f(float64[10,20])", ["3200"], "3200"),
    "a sum is nothing that is written": ("def f(x):\n    return x.sum()\n", "f(float64[n])", ["8·n"], "8·n"),
    "in place": ("def f(x):\n    x *= 2.0\n", "f(float64[n])", ["16·n"], "16·n"),
    "unrolled steps": (
        "def f(x):\n    for i in range(0, len(x) - 3, 4):\n        x[i] = x[i + 1] + x[i + 2] + x[i + 3]\n",
        "f(float64[n])", ["16·n"], "16·n",
    ),
    "slices between numbers": (
        "def f(x, k):\n    return x[k:] - x[:-k]\n", "f(float64[n], int)", ["16·n - 16·k"], "16·n - 8·k",
    ),
    "elements that data choose": (
        "def f(x, k):\n    out = np.empty(len(k))\n    for i in range(len(k)):\n        j = k[i]\n"
        "        out[i] = x[j]\n    return out\n", "f(float64[n], int64[m])", ["8·m", "24·m", "24·m"], "16·m + 8·n",
    ),
}  # fmt: skip


def compiled(text: str, types: str, target: str = "cuda") -> Program:
    return pipeline.program_of(f"import numpy as np\n{text}", "f", types, pipeline.passes_for(target))


def kernels(program: Program) -> list[Kernel]:
    return [s for s in walk(program.body) if isinstance(s, Kernel)]


@pytest.mark.parametrize("case", CASES)
def test_bytes_are_counted(case: str) -> None:
    text, types, each, whole = CASES[case]
    program = compiled(text, types)
    found = [traffic(program, kernel) for kernel in kernels(program)]
    assert [str(one.moved) for one in found] == each
    assert str(in_all(program)) == whole
    assert all(str(one.fewest) == str(one.moved) for one in found)


def test_turns_move_again() -> None:
    text = (
        "def f(x, k):\n    for _ in range(k):\n        x = np.concatenate((x[:1], x[2:] + x[:-2], x[-1:]))\n"
        "    return x\n"
    )
    program = compiled(text, "f(float64[n], int)")
    told = [str(traffic(program, kernel)) for kernel in kernels(program)]
    assert any("in each of k turns" in one or "in each of 0.5·k turns" in one for one in told), told


def test_temporaries_are_more_than_the_fewest() -> None:
    program = compiled("def f(x):\n    return x / np.sort(x)[0] + x.sum()\n", "f(float64[n])")
    moved = Bytes()
    for kernel in kernels(program):
        moved += traffic(program, kernel).moved
    assert moved.terms[("n",)] > in_all(program).terms[("n",)]


def test_what_only_data_say_is_told() -> None:
    text = (
        "def f(x, t):\n    left = x\n    while len(left) > 1:\n        left = left[left > left[0] * t]\n"
        "    return left\n"
    )
    program = compiled(text, "f(float64[n], float)")
    assert any("as many bytes as the data say in each turn" in str(traffic(program, k)) for k in kernels(program))


def test_sums_of_sizes() -> None:
    n, m = Bytes({("n",): 1}), Bytes({("m",): 2})  # type: ignore[dict-item]
    assert str((n + m) * (n + Bytes({(): 3}))) == "2·m·n + n·n"  # type: ignore[dict-item]
    assert str(Bytes()) == "0" and str(n) == "n"


def test_sizes_of_live_arrays_are_named_by_them() -> None:
    def shifted(image: Any) -> Any:
        return image[1:] - image[:-1]

    function = transkern.compile(shifted, target="cpu")
    function(np.ones((4, 7)))
    assert "moves 16·image.shape[0]·image.shape[1] bytes" in function.explain()


def test_decisions_name_their_lines(tmp_path: Path) -> None:
    text = "import numpy as np\ndef f(x):\n    y = x * 2\n    z = y + 1\n    return z - y\n"
    program = pipeline.program_of(text, "f", "f(float64[n])", ())
    watch = Watch(program, PASSES)
    pipeline.run(program, PASSES, watch.after)
    told = {one.name: one for one in watch.decided()}
    assert told["fuse_loops"].lines and set(told["fuse_loops"].lines) <= {3, 4, 5}
    assert str(told["fuse_loops"]).startswith("fuse_loops (lines ") and "range" in told["fuse_loops"].about
    assert lower.__name__ not in told, "the normal form is no decision"


def test_each_pass_says_what_it_is_about() -> None:
    for target in ("cpu", "cuda", "pallas"):
        passes = pipeline.passes_for(target)
        watch = Watch(compiled("def f(x):\n    return x\n", "f(float64[n])"), passes)
        assert all(len(about) > 10 and "\n" not in about for about in watch._about.values()), watch._about

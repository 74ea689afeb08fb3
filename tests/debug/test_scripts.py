"""Internal errors come with scripts that show them."""

from __future__ import annotations

import ast
import math
import os
import subprocess
import sys
import types
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.debug import scripts
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import PASSES
from transkern.ir.nodes import Program
from transkern.options import Options
from transkern.runtime.caching import cache

WEIGHTS = np.array([1.0, 2.0, 1.0]) / 4
LARGE = np.arange(1000.0)
LEVELS = {"low": 1, "high": 3}
SECRET = object()


@dataclass
class Plate:
    side: float

    def area(self) -> float:
        return sqrt(self.side) + WEIGHTS[0]


def helper(x: Any) -> Any:
    return [v * WEIGHTS[1] for v in x]


def smooth(x: Any, n: int) -> Any:
    total = Plate(x[0]).area() + LARGE[0] + LEVELS["high"]
    for k in range(n):
        total = total + x[k] * math.pi
    return x + total + helper([1.0, 2.0])[0]


square = lambda x: x * x  # noqa: E731


def broken(program: Program) -> Program:
    raise KeyError("f_2")


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the cache, in which reports are written; the pipeline has a pass that goes wrong."""
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("transkern.fuse.passes.PASSES", (*PASSES[:9], broken, *PASSES[9:]))
    return tmp_path


def test_the_message_names_the_pass_and_the_script(bad: Path) -> None:
    with pytest.raises(transkern.InternalError, match="in the pass `broken`") as caught:
        transkern.compile(smooth, target="cpu")(np.arange(4.0), 3)
    (script,) = (bad / "reports").glob("smooth_*.py")
    assert str(script) in str(caught.value) and caught.value.report == str(script)
    text = script.read_text()
    assert "in the pass `broken`" in text and "reproduce(smooth, 'smooth(float64[x_0], int)', 'cpu')" in text
    for part in (
        "class Plate", "def helper", "import math", "from math import sqrt", "@dataclass", "LEVELS = {'low': 1,",
    ):  # fmt: skip
        assert part in text
    assert "LARGE = np.zeros((1000,), np.float64)  # its elements are left out" in text
    assert cache.clear() and not script.exists()


def test_the_script_compiles_the_function(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wrong pass it says that there is no error; with another error, it shows that."""
    with pytest.raises(transkern.InternalError) as caught:
        transkern.compile(smooth, target="cpu")(np.arange(4.0), 3)
    root = str(Path(transkern.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root}
    out = subprocess.run([sys.executable, caught.value.report], capture_output=True, text=True, env=env, timeout=120)
    assert out.returncode == 0 and out.stdout.startswith("no error: smooth.c"), out.stderr
    script = Path(caught.value.report)
    script.write_text(script.read_text().replace("math.pi", "math.no_such_name"))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, env=env, timeout=120)
    assert out.returncode and "no_such_name" in out.stderr and "Traceback" in out.stderr


@pytest.mark.parametrize("function", [smooth, square, helper])
def test_a_script_is_a_module(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = parse_signature("f(float64[n], int)")[1]
    text = scripts.script(function, kinds, "cuda", Options(fastmath=True), 'a "b"\n\\')
    module = types.ModuleType("script")
    monkeypatch.setitem(sys.modules, "script", module)
    exec(compile(text, "script.py", "exec"), vars(module))
    assert callable(vars(module)["f" if function is square else function.__name__])
    assert "fastmath=True" in text


def test_types_without_a_form_are_told() -> None:
    def of_plate(plate: Any) -> Any:
        return plate.side * 2

    from transkern.frontend.values.types import ScalarType, StructType

    kind = StructType("object", (ScalarType("float64", "float"),), ("side",), Plate)
    text = scripts.script(of_plate, (kind,), "cpu", Options(), "wrong")
    assert "# The types (Plate(side=float))" in text
    ast.parse(text)


def test_what_cannot_be_written_is_named() -> None:
    def uses(x: Any) -> Any:
        return x if SECRET is None else x + 1

    text = scripts.script(uses, parse_signature("f(float64[n])")[1], "cpu", Options(), "wrong")
    assert "# SECRET: a object, which is left out here" in text
    ast.parse(text)


def test_only_the_last_are_kept(bad: Path) -> None:
    for k in range(25):
        assert scripts.keep(helper, parse_signature("f(float64[n])")[1], "cpu", Options(), f"error {k}")
    assert len(list((bad / "reports").glob("*.py"))) == 20


def test_an_error_while_a_script_is_written_hides_nothing(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "script", broken)
    with pytest.raises(transkern.InternalError, match="please report it with the function"):
        transkern.compile(smooth, target="cpu")(np.arange(4.0), 3)


def test_rules_are_asked_behind_each_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`TRANSKERN_VERIFY_IR=1`, in a process of its own: the tests ask for it anyway."""
    code = """
import dataclasses, numpy as np, transkern
from transkern.fuse import passes
def f(x):
    return x + 1
def lose(program):
    return dataclasses.replace(program, params=())
passes.PASSES = (*passes.PASSES[:9], lose, *passes.PASSES[9:])
transkern.compile(f, target="cpu")(np.arange(4.0))
"""
    file = tmp_path / "f.py"
    file.write_text(code)
    env = {**os.environ, "PYTHONPATH": str(Path(transkern.__file__).parents[1]), "TRANSKERN_CACHE_DIR": str(tmp_path)}
    out = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, env={**env, "TRANSKERN_VERIFY_IR": "1"}, timeout=120
    )
    assert "in the pass `lose`" in out.stderr and "after lose: " in out.stderr

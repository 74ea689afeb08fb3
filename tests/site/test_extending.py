"""The steps of docs/extending.md, made in a copy of the package: what is added gives NumPy's answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site.pages import DOCS, ROOT, Block, blocks
from tests.tools import require

PREFIX = """
import numpy as np
import transkern
x = np.array([-2.0, -0.0, 0.0, 3.0, np.nan, np.inf, -np.inf])
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the package as it is behind all steps."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "transkern", folder / "transkern", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(DOCS / "extending.md"):
        if block.title:
            changed(folder / block.title, block)
    yield folder


def changed(file: Path, block: Block) -> None:
    """A block's step: a new file, or lines beside others in one that is there."""
    if block.kind == "python":
        assert not file.exists()
        file.parent.mkdir(exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        return
    assert block.kind == "diff"
    lines = block.text.splitlines()
    before = "\n".join(line[1:] for line in lines if line[0] in " -")
    after = "\n".join(line[1:] for line in lines if line[0] in " +")
    text = file.read_text(encoding="utf-8")
    if not any(line[0] == " " for line in lines):  # part of a line
        before, after = before.rstrip(), after.rstrip()
    assert text.count(before) == 1, f"line {block.line}: {before!r} is {text.count(before)} times in {file}"
    file.write_text(text.replace(before, after), encoding="utf-8")


def run(folder: Path, code: str, **more: str) -> str:
    file = folder / "script.py"
    file.write_text(PREFIX + code)
    env = {**os.environ, "PYTHONPATH": str(folder), "TRANSKERN_CACHE_DIR": str(folder / "cache"), **more}
    out = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=env, timeout=300)
    assert out.returncode == 0, out.stderr
    return out.stdout


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas", "interpreted"])
def test_the_operation(extended: Path, target: str) -> None:
    require({"cpu": "cc", "cuda": "c++", "pallas": "jax"}.get(target, "cc"))
    code = f"""
def step(x):
    return np.heaviside(x, 0.5)

f = transkern.compile(step, target={target!r})
found, wanted = f(x), step(x)
assert found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=True), found
assert "heaviside" in f.emit(types="step(float64[n])")
print(f.cache_info().specialisations[0])
"""
    assert run(extended, code, TRANSKERN_CUDA_SIM="1").startswith(target)


def test_the_pass(extended: Path) -> None:
    code = """
def ones(x):
    return x * 1.0, 1.0 * x, x * 2.0, x.astype("int8") * 1

with np.errstate(invalid="ignore"):
    f = transkern.compile(ones, target="cpu")
    for found, wanted in zip(f(x[:4]), ones(x[:4])):
        assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
    print(transkern.compile(ones, target="interpreted").emit(types="ones(float64[n])").count("multiply"))
"""
    run(extended, code)
    file = extended / "ones.py"
    file.write_text("def ones(x):\n    return x * 1.0 + x * 2.0\n")
    command = [sys.executable, "-m", "transkern", "emit", str(file), "--types", "ones(float64[n])", "--print-after"]
    env = {**os.environ, "PYTHONPATH": str(extended)}
    texts = [
        subprocess.run([*command, name], capture_output=True, text=True, env=env, timeout=300).stdout
        for name in ("canonicalise", "drop_ones")
    ]
    assert texts[0].count("1.0") == texts[1].count("1.0") + 1


def test_the_target_is_one_as_others_are(extended: Path) -> None:
    code = """
@transkern.compile(target="interpreted")
def smooth(x, k):
    y = x * 2
    for i in range(1, len(y)):
        y[i] += y[i - 1] * k
    return y, y.sum()

found, wanted = smooth(x[:4], 3), smooth.function(x[:4], 3)
assert all(map(np.array_equal, found, wanted))
try:
    transkern.compile(smooth.function, target="abacus")
except ValueError as error:
    print(error)
"""
    assert "interpreted" in run(extended, code)

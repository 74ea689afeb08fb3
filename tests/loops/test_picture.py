"""The pictures of loops, and how long the analysis takes."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from transkern.analysis import loops_of
from transkern.cli import cli
from transkern.cli.drawing import draw
from transkern.errors import CompileError

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize("name", ["heat", "levenshtein", "smoothed"])
def test_the_pictures_of_the_documents_are_the_graphs(name: str) -> None:
    run = CliRunner().invoke(cli, ["explain", str(PICTURES / "loops.py"), "--function", name, "--dot"])
    assert run.exit_code == 0, run.output
    drawn = html.unescape((PICTURES / f"{name}.svg").read_text(encoding="utf-8"))
    for frame in re.findall(r'label="(line \d+: [^"]*)"; labeljust', run.output):
        assert f">{frame}<" in drawn
    assert len(re.findall(" -> ", run.output)) == drawn.count('class="edge"')
    assert len(re.findall(r"^ *L\d+ \[label", run.output, re.M)) == drawn.count('class="node"')


def test_a_picture_needs_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match="graphviz"):
        draw("digraph {}", tmp_path / "x.svg")


def seconds(source: str, types: str) -> float:
    """Processor time of the analysis, the second time: the first loads isl."""
    loops_of(source, types)
    start = time.process_time()
    loops_of(source, types)
    return time.process_time() - start


def test_a_nest_of_ten_statements_is_analysed_quickly() -> None:
    body = "".join(
        f"                x{s}[i, j] = x{(s + 1) % 10}[i - 1, j] * x{(s + 3) % 10}[i, k] + x{s}[i, j - 1]\n"
        for s in range(10)
    )
    names = [f"x{s}" for s in range(10)]
    source = (
        f"def f({', '.join(names)}):\n    n = x0.shape[0]\n    for i in range(1, n):\n        for j in range(1, n):\n"
        f"            for k in range(1, n):\n{body}"
    )
    # Translation and all; on a machine of its own it takes a fraction.
    assert seconds(source, f"f({', '.join(['float64[n,n]'] * 10)})") < 1.0


def test_a_function_of_300_statements_is_analysed_in_seconds() -> None:
    body = "".join(
        f"    for i in range(1, len(x)):\n        y[i] = x[i - 1] * {s}.0 + y[i]\n        x[i] = x[i] + y[i - 1]\n"
        for s in range(100)
    )
    assert seconds(f"def f(x, y):\n{body}", "f(float64[n], float64[n])") < 5.0


def test_a_question_that_is_too_hard_ends() -> None:
    terms = " + ".join(f"(i * {3 + k}) // {5 + 2 * k} % {7 + k}" for k in range(9))
    source = f"def f(a):\n    for i in range(len(a)):\n        a[({terms}) % 64] = a[({terms}) // 3] + 1.0\n"
    start = time.process_time()
    (report,) = loops_of(source, "f(float64[n])")
    assert report.kind != "parallel"
    assert time.process_time() - start < 20

"""The pictures of loops, and how long the analysis takes."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from transkern import pipeline
from transkern.analysis import loops_of
from transkern.analysis.loops import LoopReport, reports
from transkern.cli import cli
from transkern.cli.drawing import draw
from transkern.errors import CompileError
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import BEFORE_LOOPS

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


def seconds(source: str, types: str) -> tuple[float, tuple[LoopReport, ...]]:
    """Processor time of the analysis alone, the best of three, and its answer."""
    _, parsed = parse_signature(types)
    best = float("inf")
    for _ in range(3):  # a program of its own each time: of no loop anything is known before
        made = specialise(TextScope(source, "<text>").function("f"), parsed)
        program = pipeline.run(made, BEFORE_LOOPS)
        start = time.process_time()
        found = reports(program)
        best = min(best, time.process_time() - start)
    return best, found


def nest(arrays: int, dims: int, ranges: tuple[str, str, str], lines: list[str]) -> tuple[str, str]:
    """Three loops around `lines`, over ``a0``, ``a1``, …: the source and the types."""
    names = [f"a{k}" for k in range(arrays)]
    rows = [f"def f({', '.join(names)}):", "    n = a0.shape[0]"]
    rows += [f"{'    ' * (k + 1)}for {v} in range({r}):" for k, (v, r) in enumerate(zip("ijk", ranges, strict=True))]
    rows += [f"{' ' * 16}{line}" for line in lines]
    kind = f"float64[{','.join(['n'] * dims)}]"
    return "\n".join(rows) + "\n", f"f({', '.join([kind] * arrays)})"


ONE = ("1, n", "1, n", "1, n")
TEN = {
    "mixed": nest(10, 2, ONE, [
        f"a{s}[i, j] = a{(s + 1) % 10}[i - 1, j] * a{(s + 3) % 10}[i, k] + a{s}[i, j - 1]" for s in range(10)
    ]),
    "chain": nest(11, 3, ONE, [
        f"a{s}[i, j, k] = a{s - 1}[i, j, k - 1] + a{s}[i, j, k]" for s in range(1, 11)
    ]),
    "stencil": nest(2, 3, ("1, n - 1", "1, n - 1", "1, n - 1"), [
        "a1[i, j, k] = a1[i, j, k] + a0[i - 1, j, k] * a0[i + 1, j, k] + a0[i, j - 1, k] - a0[i, j, k + 1]"
    ] * 10),
    "stencil in place": nest(1, 3, ("3, n - 1", "3, n - 1", "3, n - 1"), [
        f"a0[i, j, k] = a0[i - 1, j, k] + a0[i, j - 1, k] + a0[i, j, k - {1 + s % 3}]" for s in range(10)
    ]),
    "triangular": nest(11, 3, ("1, n", "i, n", "j, n"), [
        f"a{s}[i, j, k] = a{s - 1}[i, j, k - 1] + a{s}[j, i, k]" for s in range(1, 11)
    ]),
    "coupled": nest(4, 2, ("1, n - 10", "1, n - 10", "1, n - 10"), [
        f"a{s % 4}[i + j, k] = a{(s + 1) % 4}[i, j + {s}] + a{s % 4}[i + k, j]" for s in range(10)
    ]),
    "stepped": nest(4, 2, ("1, n // 2", "1, n // 2", "1, n // 2"), [
        f"a{s % 4}[2 * i, j] = a{(s + 1) % 4}[2 * i + 1, j] + a{s % 4}[2 * i + 1, k]" for s in range(10)
    ]),
    "conditions": nest(11, 3, ONE, [
        line for s in range(1, 11)
        for line in (f"if i > j + {s}:", f"    a{s}[i, j, k] = a{s - 1}[i, j, k - 1]")
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEN)
def test_a_nest_of_ten_statements_is_analysed_quickly(name: str) -> None:
    taken, found = seconds(*TEN[name])
    assert len(found) == 3
    assert taken < 0.25  # on a machine of its own 3 to 40 ms


def test_a_function_of_300_statements_is_analysed_in_a_second() -> None:
    body = "".join(
        f"    for i in range(1, len(x)):\n        y[i] = x[i - 1] * {s}.0 + y[i]\n        x[i] = x[i] + y[i - 1]\n"
        for s in range(100)
    )
    taken, found = seconds(f"def f(x, y):\n{body}", "f(float64[n], float64[n])")
    assert len(found) == 100
    assert taken < 1.5


def test_a_question_that_is_too_hard_ends() -> None:
    terms = " + ".join(f"(i * {3 + k}) // {5 + 2 * k} % {7 + k}" for k in range(9))
    source = f"def f(a):\n    for i in range(len(a)):\n        a[({terms}) % 64] = a[({terms}) // 3] + 1.0\n"
    start = time.process_time()
    (report,) = loops_of(source, "f(float64[n])")
    assert report.kind != "parallel"
    assert time.process_time() - start < 20

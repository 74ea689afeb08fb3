"""`transkern emit --timings`: how long the stages of a compilation take."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from transkern.cli import cli
from transkern.debug.timing import Timings
from transkern.runtime import emitting

TEXT = "def f(x):\n    return x * 2.0 + 1.0\n"


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_each_stage_is_told(tmp_path: Path, target: str) -> None:
    file = tmp_path / "f.py"
    file.write_text(TEXT)
    timings = Timings()
    texts = emitting.emit_files(file, None, target, "f(float64[n])", timings=timings)
    passes = emitting.pass_names(target)[1:-2]
    stages = ("reading the file", "front end", "loading the passes", *passes, "printing, with what it loads")
    assert list(timings.seconds) == list(stages)
    assert all(seconds >= 0 for seconds in timings.seconds.values())
    assert timings.changes["lower"] == 1 and timings.runs["lower"] == 1
    assert texts == emitting.emit_files(file, None, target, "f(float64[n])")


def test_the_table_is_beside_the_code(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(TEXT)
    given = ["emit", str(file), "--types", "f(float64[n])"]
    plain, timed = (CliRunner().invoke(cli, [*given, *more]) for more in ((), ("--timings",)))
    assert timed.stdout == plain.stdout and timed.exit_code == 0
    lines = timed.stderr.splitlines()
    assert lines[0].split() == ["ms", "share", "runs", "changed", "stage"]
    assert any(line.endswith(" all") for line in lines) and any(line.endswith("  front end") for line in lines)

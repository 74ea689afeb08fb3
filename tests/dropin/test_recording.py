"""`transkern run --record` and `transkern check --recorded`: the types of calls, written down and taken up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from transkern.cli import cli
from transkern.frontend.values.types import parse_type

ROOT = Path(__file__).parents[2]

SCRIPT = """
import os
import numpy as np

def area(boxes, scale, pair, *rest, unit="m"):
    return (boxes[:, 2] - boxes[:, 0]) * scale + pair[0]

def mean(values):
    return sum(values) / len(values)

def opaque(x):
    return x

os.chdir("/")
print(area(np.ones((5, 4), "f4"), 2, (1.5, 2)).sum(), mean([1.0, 2.0]), opaque(object) is object)
print(area(np.ones((5, 4)), 2.5, (1.5, 2)).sum())
"""


def test_the_types_of_a_run_are_those_of_a_check(tmp_path: Path) -> None:
    script, record = tmp_path / "a.py", tmp_path / "types.json"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "transkern", "run", "--record", "types.json", "a.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):  # the second run adds to the first one's
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["7.5", "1.5", "True", "7.5"] and not done.stderr
        (found,) = json.loads(record.read_text())["types"].values()
        boxes = "float32[boxes_0,boxes_1]"
        assert found == {"area": [boxes, "int", "(float, int)", "()", "'m'"], "mean": ["[float, …]"]}
    told = CliRunner().invoke(cli, ["check", "--json", "--recorded", str(record), str(script)])
    outcomes = {f["function"]: (f["outcome"], f["types_from"]) for f in json.loads(told.output)["functions"]}
    assert outcomes["area"] == outcomes["mean"] == ("compiles", "recorded")
    assert outcomes["opaque"][1] == "likely"


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "types": {}}', '{"version": 1, "types": {"a": 3}}'])
def test_a_file_that_is_no_record_is_refused(text: str, tmp_path: Path) -> None:
    record = tmp_path / "types.json"
    record.write_text(text)
    told = CliRunner().invoke(cli, ["check", "--recorded", str(record), str(tmp_path)])
    assert told.exit_code == 1 and "not a record of types" in told.stderr


@pytest.mark.parametrize(
    "text",
    ["(float, int)", "(float64[n], (int, bool))", "[int, …]", "[float, float64[n,m]]", "()", "(1, 'a')", "(float,)"],
)
def test_types_of_containers_have_a_text(text: str) -> None:
    assert str(parse_type(text, "x")) == text

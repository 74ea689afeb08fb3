"""The README's Python runs, block after block, and its command lines do too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tools import require
from transkern.cli import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run(tmp_path: Path) -> None:
    require("cc")
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(blocks) >= 4
    path = tmp_path / "readme.py"
    path.write_text("\n\n".join(blocks), encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert "1 kernel, no temporaries" in run.stdout
    assert "__global__" in run.stdout and "#pragma omp" in run.stdout


def command_lines() -> list[str]:
    return re.findall(r"^    transkern (.*)$", README, re.M)


@pytest.mark.parametrize("line", command_lines())
def test_command_lines_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if line.startswith("run "):  # what ends with a process is run as one
        words = [sys.executable, "-m", "transkern", *shlex.split(line)]
        environment = dict(os.environ, PYTHONPATH=str(ROOT))
        run = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
        assert run.stdout and "functions compiled" in run.stderr
        return
    result = CliRunner().invoke(cli, shlex.split(line))
    assert result.exit_code == 0, result.stderr
    assert "Traceback" not in result.output

"""Files read as text: nothing of them runs, whatever they say, and each is done with soon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.trust.hostile import BODIES, CONSTANTS, FILES

pytestmark = pytest.mark.slow

_HEAD = "import itertools, math, antigravity, idlelib, this\nimport numpy as np\n"
_SECONDS, _MEGABYTES = 3.0, 500

CASES: dict[str, str] = {
    **{f"constant: {k}": f"{_HEAD}X = {v}\ndef f(x: float):\n    return x + X\n" for k, v in CONSTANTS.items()},
    **{f"body: {k}": f'{_HEAD}def f(x: float, n: int, m: int, y: "float64[k]"):\n    {v}\n' for k, v in BODIES.items()},
    **{f"file: {k}": v for k, v in FILES.items()},
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process that is watched says of each file."""
    folder = tmp_path_factory.mktemp("hostile")
    outside = tmp_path_factory.mktemp("outside") / "outside.py"
    outside.write_text("X = 'a secret'\n")
    for k, text in enumerate(CASES.values()):
        case = folder / f"{k}-case"
        case.mkdir()
        (case / "file.py").write_text(text, encoding="utf-8")
        os.mkfifo(case / "pipe.py")
        (case / "device.py").symlink_to("/dev/zero")
        (case / "outside.py").symlink_to(outside)
        (case / "secret.txt").write_text("1 2 3")
    root = Path(__file__).parents[2]
    # Bytecode that Python writes of its own modules is nobody's deed: there is none but what others have left.
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust.watched", str(folder)], cwd=root, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(CASES), done.stderr[-2000:]
    return dict(zip(CASES, lines, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_nothing_of_a_file_runs(name: str, told: dict[str, Any]) -> None:
    one = told[name]
    assert one["seen"] == []
    assert one["left"] == ["device.py", "file.py", "outside.py", "pipe.py", "secret.txt"]
    assert isinstance(one["results"], list), one["results"]
    assert "transkern went wrong" not in str(one["results"])
    assert "a secret" not in str(one["results"])
    assert one["seconds"] < _SECONDS and one["megabytes"] < _MEGABYTES
    if name.startswith("constant: "):
        ((_, compiles, message),) = one["results"]
        if name == "constant: nested":
            assert compiles
        else:
            assert not compiles and "file.py:3:" in message and ": the constant `X` is not computed: " in message
            assert "\n  help: " in message

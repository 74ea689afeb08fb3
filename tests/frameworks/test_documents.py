"""The examples of docs/frameworks.md run, section after section."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import optional, require

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")


def blocks(*titles: str) -> str:
    sections = [TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0] for title in titles]
    found = [block for section in sections for block in re.findall(r"```python\n(.*?)```", section, re.S)]
    assert found
    return "\n\n".join(found)


@pytest.mark.parametrize(
    ("titles", "modules"),
    [(("PyTorch", "Gradients"), ["torch"]), (("JAX",), ["jax"]), (("pandas, xarray, Awkward, masked arrays",), [])],
    ids=lambda x: x[0] if x else "",
)
def test_examples_run(titles: tuple[str, ...], modules: list[str], tmp_path: Path) -> None:
    require("cc")
    for module in modules:
        optional(module)
    path = tmp_path / "example.py"
    path.write_text(blocks(*titles), encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(ROOT), JAX_PLATFORMS="cpu")
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]

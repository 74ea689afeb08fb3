"""Pictures, by graphviz."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from transkern import refusals
from transkern.errors import CompileError


def draw(graph: str, path: Path) -> None:
    """A graph in graphviz's language as an SVG file; raises `CompileError` where graphviz is not installed."""
    program = shutil.which("dot")
    if program is None:
        raise CompileError(
            refusals.TOOL,
            "--svg needs graphviz, and there is no program `dot`",
            "install graphviz (on Debian: apt install graphviz), or take --dot and draw it elsewhere",
        )
    subprocess.run([program, "-Tsvg", "-o", str(path)], input=graph, text=True, check=True)

"""Notebooks as modules: their code cells one after the other, and places in them as a cell and a line.

The format is https://nbformat.readthedocs.io/en/latest/format_description.html; of it the code cells' sources are read.
"""

from __future__ import annotations

import dataclasses
import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transkern import refusals
from transkern.errors import CompileError, Placed
from transkern.frontend.sources.reading import read_named


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of all code cells, the line before the first one of each, and the cells' numbers."""

    file: str
    text: str
    starts: Sequence[int]
    numbers: Sequence[int]

    def placed(self, error: Placed) -> Placed:
        """Puts an error in the text to its place in a cell."""
        if error.span.file == self.file and error.span.line:
            cell, lines = self._cell(error.span.line), self.text.split("\n")
            before = self.starts[cell]
            error.span = dataclasses.replace(
                error.span, file=f"{self.file}, cell {self.numbers[cell]}", line=error.span.line - before,
                end_line=error.span.end_line - before,
            )  # fmt: skip
            error.lines = lines[before:]
        return error

    def line(self, line: int) -> int:
        """A line of the text as one of its cell."""
        return line - self.starts[self._cell(line)]

    def _cell(self, line: int) -> int:
        return bisect_right(self.starts, line - 1) - 1


def read_notebook(path: Path, within: Path | None = None) -> Notebook:
    """A notebook's code; raises CompileError where the file is none, or not to be read.

    What IPython alone understands is left out: lines that begin with ``%`` or ``!``, or end with ``?``, and cells that
    begin with ``%%`` and are not transkern's.
    """
    text = read_named(path, within)
    try:
        cells = json.loads(text)["cells"]
        sources = [(k, c["source"]) for k, c in enumerate(cells, 1) if c["cell_type"] == "code"]
        written = [(k, s if isinstance(s, str) else "".join(s)) for k, s in sources]
    except (ValueError, KeyError, TypeError, RecursionError):
        help = "save it as a notebook of format 4"
        raise CompileError(refusals.UNREADABLE, f"{path}: not a notebook", help) from None
    lines: list[str] = []
    starts, numbers = [], []
    for number, source in written:
        starts.append(len(lines))
        numbers.append(number)
        lines += _python(source)
    return Notebook(str(path), "\n".join(lines) + "\n", starts or [0], numbers or [1])


def _python(source: str) -> list[str]:
    """The lines of a cell that are Python, the others empty."""
    lines = source.split("\n")
    if lines[0].split()[:1] == ["%%transkern"]:  # whose cell is Python
        lines[0] = ""
    elif lines[0].lstrip().startswith("%%"):
        return [""] * len(lines)
    return [_pass(line) if _is_of_ipython(line) else line for line in lines]


def _is_of_ipython(line: str) -> bool:
    return line.lstrip().startswith(("%", "!")) or line.rstrip().endswith("?")


def _pass(line: str) -> str:
    """A statement that does nothing, where a line is the only one of a block."""
    return line[: len(line) - len(line.lstrip())] + "pass"

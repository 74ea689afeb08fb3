"""`%%transkern`: a notebook's cell with its functions compiled, and the table behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.dropin.shells import Shell, last_line
from tests.tools import require
from transkern.checking.notebooks import read_notebook
from transkern.dropin.cells import _without_last

SUMS = "def sums(x):\n    s = 0.0\n    for v in x:\n        s += v\n    return s\n"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    require("cc")
    monkeypatch.delenv("TRANSKERN_CUDA_SIM", raising=False)
    made = Shell()
    made.user_ns["np"] = np
    transkern.load_ipython_extension(made)
    yield made
    transkern.unload_ipython_extension(made)
    assert not made.magics["cell"]


def rows(shell: Shell) -> list[list[str]]:
    """The cells of the table that was shown as HTML, below its head; they stand in the text as well."""

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.rows: list[list[str]] = []

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            if tag == "tr":
                self.rows.append([])
            elif tag in ("td", "th"):
                self.rows[-1].append("")

        def handle_data(self, data: str) -> None:
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data

    (shown,) = (one["data"] for one in shell.shown if one["output_type"] == "display_data")
    reader = Reader()
    reader.feed(shown["text/html"])
    for row, line in zip(reader.rows, shown["text/plain"].splitlines()[1:], strict=True):
        assert " ".join(filter(None, row)).split() == line.split()
    return reader.rows[1:]


def test_a_cell_compiles_what_it_defines_and_shows_kernels_and_times(shell: Shell) -> None:
    left = "def left(x):\n    for k in range(2):\n        x = x * np.linalg.eigvals(x)[0]\n    return x\n"
    left += "left(np.eye(2))\n"
    shell.run_cell("%%transkern cpu\n" + SUMS + left + "sums(np.arange(9.0)) + sums(np.ones(3))")
    assert shell.shown[-1]["data"]["text/plain"] == "np.float64(39.0)"
    found = {row[0]: row for row in rows(shell)}
    assert found.keys() == {"sums", "left"}
    name, kernels, calls, seconds, python, _, _, became = found["sums"]
    assert (name, kernels, calls, python) == ("sums", "1", "2", "") and became.startswith("compiled")
    assert re.fullmatch(r"[\d.]+ [mu]?s", seconds)
    assert found["left"][1:4] == ["", "", ""] and found["left"][4] == "1"
    assert found["left"][-1].startswith("Python: line 8") and "eigvals" in found["left"][-1]


def test_only_calls_of_the_cell_are_told(shell: Shell) -> None:
    shell.run_cell(SUMS)
    shell.run_cell("a = sums(np.arange(4.0))")  # too short to be compiled without more
    (one,) = shell.user_ns["transkern_session"].watch.functions
    assert one.state == "undecided"
    shell.run_cell("%%transkern\nb = sums(np.arange(4.0))\nc = sums(np.arange(5.0));")
    assert [row[:3] + row[4:5] for row in rows(shell)] == [["sums", "1", "2", ""]]
    assert (shell.user_ns["b"], shell.user_ns["c"]) == (6, 10)
    shell.run_cell("%%transkern\n1 + 1")
    assert shell.shown[0]["data"]["text/plain"].startswith("transkern: the cell has called no function")
    assert shell.shown[1]["data"]["text/plain"] == "2"
    shell.run_cell(SUMS.replace("sums", "brief") + "d = brief(np.ones(3))")
    assert {f.site.name: f.state for f in shell.user_ns["transkern_session"].watch.functions}["brief"] == "undecided"


def test_errors_are_the_cells_own_and_the_table_comes_all_the_same(shell: Shell) -> None:
    text = "%%transkern\n" + SUMS + "\nsums(np.ones(2))\ndef picks(x, k):\n    return x[k]\npicks(np.ones(3), 7)"
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        shell.run_cell(text)
    assert last_line(caught.value) == ("picks", 9, "return x[k]")
    assert {row[0] for row in rows(shell)} >= {"sums"}
    with pytest.raises(SyntaxError):
        shell.run_cell("%%transkern\ndef f(:")
    with pytest.raises(ValueError, match="name of a target, cpu, cuda, pallas, and not 'gpu'"):
        shell.run_cell("%%transkern gpu\n1")


@pytest.mark.parametrize(
    ("cell", "body", "last"),
    [
        ("a = 1\na", "a = 1\n", "a"), ("a = 1; a + 1", "a = 1; ", "a + 1"), ("a;", "a;", None),
        ("a = 1", "a = 1", None), ("é = 'é'; é", "é = 'é'; ", "é"),
        ("f(\n  1,\n)", "", "f(1)"), ("", "", None), ("def f(:", "def f(:", None),
        ("for k in x:\n    k", "for k in x:\n    k", None),
    ],
)  # fmt: skip
def test_the_last_expression_of_a_cell(cell: str, body: str, last: str | None) -> None:
    import ast

    found, expression = _without_last(cell)
    assert found == body
    assert (None if expression is None else ast.unparse(expression)) == last


def test_check_reads_cells_of_the_magic(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": s} for s in ("%%transkern cpu\ndef f(x):\n    return x", "%%bash\nls")]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert read_notebook(tmp_path / "a.ipynb").text.strip() == "def f(x):\n    return x"

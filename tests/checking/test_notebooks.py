"""`transkern check` of notebooks: places are cells and lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from transkern.checking.functions import check_file
from transkern.errors import CompileError


def notebook(*cells: Any) -> str:
    texts = [c for c in cells if isinstance(c, bytes)]
    made = [{"cell_type": "markdown", "source": c.decode()} if c in texts else {"cell_type": "code", "source": c}
            for c in cells]  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def test_cells_are_one_module(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(notebook(
        b"# A title", "%matplotlib inline\nimport numpy as np\nSCALE = 2.0\n!ls\nnp.sort?", "%%time\nthis is no Python",
        ["# two functions\n", "def good(x):\n", "    return np.sum(x * SCALE)\n", "\n", "def bad(x):\n", "    y = x\n",
         "    return np.busday_count(y, 2)"],
        "if SCALE > 1:\n    %time good(np.ones(3))",
    ))  # fmt: skip
    good, bad = check_file(file)
    assert (good.name, good.outcome, good.line) == ("good", "compiles", 2)
    assert (bad.name, bad.outcome, bad.line) == ("bad", "refused", 5)
    (refusal,) = bad.refusals
    first, source, caret = str(refusal).splitlines()[:3]
    assert first.startswith(f"{file}, cell 4:7:12: cannot compile `np.busday_count`")
    assert source.endswith("    return np.busday_count(y, 2)") and caret.index("^") == source.index("np.busday")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}', '{"worksheets": []}']
)
def test_what_is_no_notebook_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(text)
    with pytest.raises(CompileError, match="not a notebook"):
        list(check_file(file))


def test_a_notebook_without_code(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(notebook(b"nothing"))
    assert list(check_file(file)) == []

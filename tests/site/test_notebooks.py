"""Each notebook of the documents: its cells run, and show what is stored in it, but for times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.notebooks import NOTEBOOKS, executed, read, without_times
from tests.site.pages import DOCS
from tests.tools import require


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    monkeypatch.setenv("COLUMNS", "120")
    stored = read(path)
    assert stored["nbformat"] == 4 and any(cell["cell_type"] == "code" for cell in stored["cells"])
    found = executed(stored)
    for cell, now, then in zip(found["cells"], without_times(found), without_times(stored), strict=True):
        assert now == then, f"{cell['source']}\nmake it anew: python -m tests.site.notebooks"


def test_notebooks_are_linked() -> None:
    """From a page beside them."""
    for path in NOTEBOOKS:
        assert any(f"({path.name})" in page.read_text(encoding="utf-8") for page in path.parent.glob("*.md")), path
    assert NOTEBOOKS and DOCS in NOTEBOOKS[0].parents

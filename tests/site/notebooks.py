"""The notebooks of the documents: their code cells run one after the other, with what they show.

    python -m tests.site.notebooks      writes the outputs into them anew

Cells run in a stand-in for IPython's shell, so that neither the tests nor this need Jupyter.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transkern
from tests.dropin.shells import Shell
from tests.site.pages import DOCS

NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))

_TIMES = re.compile(r"\d[\d.e-]* [mun]?s\b|\d[\d.]*x\b|from the cache|#\d+")
_SPACES = re.compile(r" +")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook with the outputs that its cells have now; raises what they raise."""
    shell = Shell()
    cells = []
    with _fresh_cache():
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    shell.run_cell("".join(cell["source"]))
                    shown = [_in_lines(one) for one in shell.shown]
                    cell = {**cell, "execution_count": shell.execution_count, "outputs": shown}
                cells.append(cell)
        finally:
            transkern.unload_ipython_extension(shell)
    return {**notebook, "cells": cells}


@contextmanager
def _fresh_cache() -> Iterator[None]:
    """So that all is compiled."""
    before = os.environ.get("TRANSKERN_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRANSKERN_CACHE_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("TRANSKERN_CACHE_DIR")
            if before is not None:
                os.environ["TRANSKERN_CACHE_DIR"] = before


def _in_lines(output: dict[str, Any]) -> dict[str, Any]:
    """Texts as lists of lines, as notebooks have them."""
    if "text" in output:
        return {**output, "text": output["text"].splitlines(keepends=True)}
    return {**output, "data": {kind: text.splitlines(keepends=True) for kind, text in output["data"].items()}}


def without_times(notebook: dict[str, Any]) -> list[str]:
    """What the cells show, but for times and numbers of objects."""
    shown = [json.dumps(cell.get("outputs", []), ensure_ascii=False) for cell in notebook["cells"]]
    return [_SPACES.sub(" ", _TIMES.sub("…", text)) for text in shown]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    for path in NOTEBOOKS:
        made = executed(read(path))
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path)

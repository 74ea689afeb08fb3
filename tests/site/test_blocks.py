"""Each page of the documents as its reader would try it, from its first block to its last, in one folder.

- `python` with a title is a file of that name;
- `python` without one goes on from the blocks before it: together they are one script;
- `console` holds commands (`$ transkern …`) and what they say: a line `…` stands for any lines, `…` in a line for any
  text.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.site.pages import DOCS, ELSEWHERE, PAGES, ROOT, Block, blocks, name
from tests.tools import require
from transkern.cli import cli

KINDS = "python", "console"
TRIED = [page for page in PAGES if name(page) not in ELSEWHERE and any(b.kind in KINDS for b in blocks(page))]
NEEDS = {"dask.md": ("dask",), "howto/nms.md": ("c++",)}


@pytest.mark.parametrize("page", TRIED, ids=name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc", *NEEDS.get(name(page), ()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copytree(ROOT / "examples", "examples")
    every = blocks(page)
    for block in every:
        if block.kind == "python" and block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
    run_script(page, [b for b in every if b.kind == "python" and not b.title])
    for block in every:
        if block.kind == "console":
            run_commands(page, block)


def run_script(page: Path, every: list[Block]) -> None:
    """The blocks as one script, whose lines are the page's."""
    if not every:
        return
    lines: list[str] = []
    for block in every:
        lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    Path("script.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = python("script.py")
    assert found.returncode == 0, f"{page}: {found.stdout}{found.stderr}"


def python(*words: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(Path.cwd())]))
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment)


def run_commands(page: Path, block: Block) -> None:
    for command, told in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
        said = said_of(command)
        pattern = "".join(r"(?s:.*?)" if line.strip() == "…" else _line(line) for line in told.splitlines())
        assert re.fullmatch(pattern, said), f"{page}:{block.line}: {command}\n{said}"


def said_of(command: str) -> str:
    """What a command prints on both streams, without spaces at the ends of lines; its variables stand in front."""
    variables, words = {}, shlex.split(command)
    while "=" in words[0]:
        key, _, variables[key] = words.pop(0).partition("=")
    program, *rest = words
    if program == "python" or (program == "transkern" and (rest[0] == "run" or variables)):
        with pytest.MonkeyPatch.context() as patch:
            for key, value in variables.items():
                patch.setenv(key, value)
            found = python(*(["-m", "transkern"] if program == "transkern" else []), *rest)
        said = found.stdout + found.stderr
    elif program == "transkern":
        result = CliRunner().invoke(cli, rest)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        said = result.output
    else:
        found = subprocess.run(words, capture_output=True, text=True, check=True)
        said = found.stdout + found.stderr
    return "".join(line.rstrip() + "\n" for line in said.splitlines())


def _line(line: str) -> str:
    return ".*".join(map(re.escape, line.rstrip().split("…"))) + "\n"


def test_pages_that_are_tried_elsewhere_are_there() -> None:
    assert ELSEWHERE.keys() <= {name(page) for page in PAGES}
    for page in PAGES:
        if name(page) in ELSEWHERE:
            assert blocks(page)


BEFORE = {  # what fragments of the page of codes take for granted
    "TK1002": "",
    "TK1302": """
        import io
        @transkern.compile
        def step(x):
            return x * 2
        masked, file = np.ma.array([1.0, 2.0]), io.StringIO("ab")
        matrix = np.arange(3.0).view(type("Own", (np.ndarray,), {}))
        table = {"x": type("Column", (), {"to_numpy": lambda self: np.ones(2)})()}
    """,
    "TK2001": "",
    "TK2002": "",
    "TK2005": """
        import dask.array as da
        x = da.random.default_rng(0).standard_normal((60, 40), chunks=20)
        def standardise(x):
            return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    """,
    "TK2006": "",
    "TK2007": "",
    "TK9001": "",
}


def fragments() -> dict[str, str]:
    """The blocks of the page of codes that are neither refused nor written instead, by code."""
    found = {}
    for part in (DOCS / "errors.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        head = part.split("\n### ", 1)[0]
        for text in re.findall(r"^```python\n(.*?)^```$", head, re.M | re.S):
            assert found.setdefault(part[:6], text) == text
    return found


def test_fragments_of_the_codes_page_are_known() -> None:
    assert fragments().keys() == BEFORE.keys()


@pytest.mark.parametrize("code", BEFORE)
def test_fragment_of_the_codes_page(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc", *(("dask",) if code == "TK2005" else ()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scaling.py").write_text("def double(x):\n    return 2 * x\n")
    text = f"import numpy as np\nimport transkern\n{textwrap.dedent(BEFORE[code])}\n{fragments()[code]}"
    (tmp_path / "fragment.py").write_text(text, encoding="utf-8")
    found = python("fragment.py")
    assert found.returncode == 0, found.stderr

"""`transkern explain --html`: one page, source beside generated code."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import transkern
from transkern.cli import cli

SOURCE = '''import numpy as np


def helper(v):
    return np.sqrt(v) * 2  # <b>bold</b> & "quoted" $name


def f(x, n):
    """A text </script> with $dollars."""
    y = helper(x) + 1
    for k in range(1, n):
        y[k] = y[k - 1] * x[k]
    return y
'''


class Page(HTMLParser):
    """The rows of each side of a page, with their lines; tags have to be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.side = ""
        self.rows: dict[str, list[tuple[str, str]]] = {"source": [], "made": []}
        self.links: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag not in ("meta", "link"):
            self.open.append(tag)
        if tag == "section":
            self.side = known["class"] or ""
        if (known.get("class") or "") == "row":
            self.rows[self.side].append((known.get("data-line") or "", ""))
        self.links += [v or "" for k, v in attrs if k in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.side and self.rows[self.side] and "pre" in self.open:
            line, text = self.rows[self.side][-1]
            self.rows[self.side][-1] = line, text + data


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    (folder / "a.py").write_text(SOURCE)
    page = folder / "a.html"
    command = ["explain", str(folder / "a.py"), "-f", "f", "--types", "f(float64[n], int)", "--html", str(page)]
    told = CliRunner().invoke(cli, command)
    assert told.exit_code == 0 and told.output.strip() == str(page)
    return page.read_text(encoding="utf-8")


def test_each_line_of_code_has_its_line_of_source(text: str) -> None:
    page = Page(text)
    source = {line: shown for line, shown in page.rows["source"] if line}
    assert source.keys() == {"5", "10", "11", "12"} or source.keys() == {"5", "10", "12"}
    assert "np.sqrt(v) * 2  # <b>bold</b> & \"quoted\" $name" in source["5"]
    assert any("</script> with $dollars" in shown for _, shown in page.rows["source"])
    made = {line: "".join(s for n, s in page.rows["made"] if n == line) for line in source}
    assert "sqrt" in made["5"] and "* " in made["12"] and all(made.values())
    assert not any(line for line, shown in page.rows["made"] if shown.startswith("#include"))


def test_the_page_needs_nothing_else(text: str) -> None:
    page = Page(text)
    assert set(page.links) <= {"#"} and "url(" not in text and "@import" not in text
    assert text.count("<script") == text.count("</script>") == 1
    assert "prefers-color-scheme: dark" in text


@pytest.mark.skipif(shutil.which("node") is None, reason="checks the script's syntax with node")
def test_the_script_is_one(text: str, tmp_path: Path) -> None:
    found = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert found is not None
    (tmp_path / "a.js").write_text(found[1])
    subprocess.run(["node", "--check", str(tmp_path / "a.js")], check=True)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_pages_of_the_examples(target: str, tmp_path: Path) -> None:
    types = "nms(float32[n,4], float32[n], int, float)"
    page = tmp_path / "nms.html"
    file = Path(__file__).parents[1] / "examples" / "nms.py"
    command = ["explain", str(file), "-f", "nms", "--types", types, "--html", str(page), "--target", target]
    assert CliRunner().invoke(cli, command).exit_code == 0
    rows = Page(page.read_text(encoding="utf-8")).rows
    lines = {line for line, _ in rows["source"] if line}
    assert len(lines) > 8 and {line for line, _ in rows["made"] if line} >= lines


def test_a_compiled_function_shows_itself_in_a_notebook() -> None:
    @transkern.compile(fallback="numpy")
    def f(x):  # type: ignore[no-untyped-def]
        return np.sqrt(x) + 1

    assert "compiled when it is called" in f._repr_html_()
    f(np.ones(3))
    assert "float64[x_0]" in f._repr_html_() and "<th>kernels</th>" in f._repr_html_()

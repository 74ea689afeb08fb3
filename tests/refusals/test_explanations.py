"""What is told of each kind of refusal: a text for each, whose examples are refused for it, and compile."""

from __future__ import annotations

import ast
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import transkern
from tests.refusals.pages import PAGE, page
from tests.refusals.test_messages import functions
from transkern import explanations
from transkern.errors import CompileError
from transkern.explanations import explanation
from transkern.refusals import KINDS
from transkern.runtime.emitting import emit_files

FILES = sorted(Path(explanations.__file__).parent.glob("*.md"))
MOST_LINES = 40
ABOUT_TEXT = [file for file in FILES if "\n## Refused\n" in file.read_text(encoding="utf-8")]
OTHERS = {  # no matter of a function's text
    "TK1001", "TK1002", "TK1003", "TK1302", "TK2001", "TK2002", "TK2003", "TK2004", "TK2005", "TK2006",
    "TK2007", "TK3001", "TK3002", "TK3003", "TK3004", "TK3005", "TK9001",
}  # fmt: skip


def block(file: Path, title: str) -> str:
    """The code below a heading."""
    found = re.search(rf"(?ms)^## {title}\n\n```python\n(.*?)^```$", file.read_text(encoding="utf-8"))
    assert found, title
    return found[1]


def names(text: str) -> list[str]:
    """The functions at the top of a text."""
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def compiled(file: Path, title: str, folder: Path) -> None:
    """Compiles a block's function from its text, or from the running module where there is a class: no text has one."""
    text = block(file, title)
    (name,) = names(text)
    path = folder / f"{file.stem.lower()}_{title.lower()}.py"
    path.write_text(text, encoding="utf-8")
    if "\nclass " not in f"\n{text}":
        emit_files(path, name, "cpu", functions(path).get(name))
        return
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        transkern.compile(getattr(module, name), target="cpu").emit()
    finally:
        del sys.modules[path.stem]


def test_each_kind_has_its_text() -> None:
    assert {file.stem for file in FILES} == KINDS.keys()
    assert {file.stem for file in ABOUT_TEXT} == {file.stem for file in FILES} - OTHERS


@pytest.mark.parametrize("file", FILES, ids=lambda x: x.stem)
def test_text(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.split("\n\n", 1)[0] == f"# {file.stem}: {KINDS[file.stem].title}"
    assert len(text.splitlines()) < MOST_LINES and all(len(line) <= 120 for line in text.splitlines())
    assert explanation(file.stem) == explanation(file.stem[2:]) == explanation(file.stem.lower()) == text


def test_no_text_of_what_is_no_kind() -> None:
    assert explanation("TK0000") is explanation("TK0007") is explanation("") is explanation("../TK1001") is None


@pytest.mark.parametrize("file", ABOUT_TEXT, ids=lambda x: x.stem)
def test_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        compiled(file, "Refused", tmp_path)
    assert caught.value.kind.code == file.stem, caught.value


@pytest.mark.parametrize("file", ABOUT_TEXT, ids=lambda x: x.stem)
def test_what_is_written_instead_compiles(file: Path, tmp_path: Path) -> None:
    assert names(block(file, "Refused")) == names(block(file, "Instead"))
    compiled(file, "Instead", tmp_path)


def test_the_page_of_all_codes_is_made_of_them() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()

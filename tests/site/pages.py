"""What stands in the documents: their blocks of code, their links, and the site's navigation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

ELSEWHERE = {
    "extending.md": "tests/site/test_extending.py makes its changes in a copy of the package",
    "errors.md": "tests/refusals/test_explanations.py runs the texts that it is made of",
    "frameworks.md": "tests/frameworks/test_documents.py runs them where their frameworks are installed",
    "language.md": "tests/test_docs.py compiles each block, and each line of its tables",
}
"""Pages whose blocks other tests run."""

_BLOCK = re.compile(
    r'^(?P<indent> *)```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^(?P=indent)```$', re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A block of code: of which kind, under which title, and the line of the page it begins in."""

    kind: str
    title: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    made = []
    for found in _BLOCK.finditer(text):
        inner = re.sub(f"^{found['indent']}", "", found["text"], flags=re.M)
        made.append(Block(found["kind"], found["title"] or "", inner, text.count("\n", 0, found.start("text")) + 1))
    return made


def name(page: Path) -> str:
    """As the navigation has it."""
    return page.relative_to(DOCS).as_posix()


def named() -> list[str]:
    """The pages that the site's navigation names."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return re.findall(r"^ +- .*?: ([\w/-]+\.md)$", text.split("\nnav:\n", 1)[1], re.M)


def prose(text: str) -> str:
    """A page without its code."""
    return re.sub(r"^ *```.*?^ *```$|`[^`\n]+`", "", text, flags=re.M | re.S)


def links(text: str) -> list[str]:
    """Where a page's links and pictures lead."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(text))


def anchors(text: str) -> set[str]:
    """The places of a page that links may name: of headings, as Python-Markdown makes them, and of `<a id>`."""
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found

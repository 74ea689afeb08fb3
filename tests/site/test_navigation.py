"""The site's navigation names each page once, and no link between pages is dead."""

from __future__ import annotations

import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import transkern
from tests.site.pages import DOCS, PAGES, ROOT, anchors, blocks, links, name, named
from tests.tools import require


def test_the_navigation_names_each_page_once() -> None:
    assert sorted(named()) == sorted(map(name, PAGES))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        if ":" in link:
            continue
        file, _, place = link.partition("#")
        target = page.parent / file if file else page
        assert target.is_file(), link
        assert target.resolve().is_relative_to(DOCS.resolve()), f"{link} leads out of the site"
        if place and target.suffix == ".md":
            assert place in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.count("```") == 2 * len(blocks(page)), "a block without a kind, or one that nobody closes"


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    require("mkdocs")
    build(tmp_path)
    for page in PAGES:
        made = (tmp_path / name(page)).with_suffix(".html")
        text = made.read_text(encoding="utf-8")
        assert "<article" in text
        assert "unpkg" not in text and "googleapis" not in text


def build(folder: Path) -> None:
    """The site, into a folder."""
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_page_of_performance_is_what_the_results_say() -> None:
    found = subprocess.run([sys.executable, "benchmarks/page.py", "--check"], cwd=ROOT)
    assert found.returncode == 0, "run python benchmarks/page.py"


def test_the_reference_has_all_public_names() -> None:
    require("dask")
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: ([\w.]+)$", text, re.M)
    for path in named:
        assert pydoc.locate(path) is not None, path
        assert pydoc.getdoc(pydoc.locate(path)), path
    assert {f"transkern.{one}" for one in transkern.__all__} <= set(named)
    for members in re.findall(r"^::: (transkern\.[\w.]+)\n    options:\n      members: \[(.*)\]$", text, re.M):
        assert all(pydoc.locate(f"{members[0]}.{member}") is not None for member in members[1].split(", "))

"""What is released: the same bytes wherever it is built, and all that an installation needs."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.shipping.release import ROOT, built
from tests.tools import require
from transkern.cli.documents import pages

EPOCH = 1_800_000_000


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    require("hatchling")
    return built(tmp_path_factory.mktemp("one"), EPOCH)


def test_building_again_gives_the_same_bytes(release: tuple[Path, Path], tmp_path: Path) -> None:
    again = built(tmp_path / "another" / "place", EPOCH, os_umask=0o077, age=10**6)
    for first, second in zip(release, again, strict=True):
        assert first.name == second.name and first.read_bytes() == second.read_bytes()


def test_the_wheel_has_what_an_installation_needs(release: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(release[1]) as wheel:
        names = set(wheel.namelist())
    for file in (ROOT / "transkern").rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            assert file.relative_to(ROOT).as_posix() in names
    assert {f"transkern/docs/{name}.md" for name in pages()} <= names
    assert all(name.startswith(("transkern/", "transkern-")) for name in names)


def test_the_source_distribution_has_what_tests_and_documents_need(release: tuple[Path, Path]) -> None:
    with tarfile.open(release[0]) as archive:
        names = {member.name.partition("/")[2] for member in archive}
    needed = {"Makefile", "mkdocs.yml", "hatch_build.py", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}
    assert needed | {"docs/howto/nms.md", "docs/pictures/explain.png", "tests/conftest.py", "examples/nms.py"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", "site/"))]


def test_pages_that_messages_name_are_there() -> None:
    named = set()
    for file in (ROOT / "transkern").rglob("*"):
        if file.suffix in (".py", ".md", ".html"):
            named |= set(re.findall(r"`transkern docs (\w+)`", file.read_text(encoding="utf-8")))
    assert named and named <= pages().keys()

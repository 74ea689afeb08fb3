"""`transkern docs`: the pages that messages name, where transkern is installed without its repository."""

from __future__ import annotations

from pathlib import Path

import transkern

_INSTALLED = Path(transkern.__file__).with_name("docs")  # in a wheel: pyproject.toml says which
_CHECKOUT = Path(transkern.__file__).parents[1] / "docs"


def pages() -> dict[str, Path]:
    """The pages by name, as ``language``."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return {path.stem: path for path in sorted(folder.glob("*.md"))}


def title(page: Path) -> str:
    with page.open(encoding="utf-8") as text:
        return text.readline().lstrip("#").strip()

"""Puts the pages of docs/ into wheels, for `transkern docs`: messages name them, and an installation has no docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Pages(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":  # an editable installation reads them where they are
            for page in sorted(Path(self.root, "docs").glob("*.md")):
                build_data["force_include"][str(page)] = f"transkern/docs/{page.name}"

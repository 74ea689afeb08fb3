"""What was found before, by everything that it depends on: a rerun asks no compiler again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transkern import private
from transkern.runtime.caching.cache import usable


def remembered(parts: tuple[str, ...], make: Callable[[], Any]) -> Any:
    """What `make` gives, which goes through JSON, once for the same `parts`."""
    path = _path(parts)
    if path is not None and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    made = make()
    remember(parts, made)
    return made


def recalled(parts: tuple[str, ...]) -> Any:
    """What was remembered, or None."""
    path = _path(parts)
    return json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else None


def remember(parts: tuple[str, ...], made: Any) -> None:
    if (path := _path(parts)) is not None:
        path.write_text(json.dumps(made), encoding="utf-8")


def _path(parts: tuple[str, ...]) -> Path | None:
    folder = usable()
    if folder is None:
        return None
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return private.made(folder / "evidence") / f"{key}.json"

"""``transkern cache``: what is on disk. The simulator keeps its builds in a folder of its own."""

from __future__ import annotations

from pathlib import Path

from transkern.runtime import cache
from transkern.targets.cuda.simulator.compile import cache_folder


def size() -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    files = _files()
    return len(files), sum(path.stat().st_size for path in files)


def clear() -> int:
    """Deletes them; how many went."""
    count = cache.clear()
    for path in _files():
        path.unlink(missing_ok=True)
        count += 1
    return count


def _files() -> list[Path]:
    folders = {cache.directory(), cache_folder()}
    return sorted({path for folder in folders for path in folder.rglob("*") if path.is_file()})

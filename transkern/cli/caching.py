"""``transkern cache``: what is on disk."""

from __future__ import annotations

from transkern.runtime import cache


def size() -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    files = cache.files()
    return len(files), sum(path.lstat().st_size for path in files)

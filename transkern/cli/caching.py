"""``transkern cache``: what is on disk."""

from __future__ import annotations

from contextlib import suppress

from transkern.runtime import cache


def size() -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    sizes = []
    for path in cache.files():
        with suppress(FileNotFoundError):  # another process has deleted it meanwhile
            sizes.append(path.lstat().st_size)
    return len(sizes), sum(sizes)

"""Numbers of lines, in short."""

from __future__ import annotations

from collections.abc import Iterable


def ranges(numbers: Iterable[int]) -> str:
    """``3, 5-8``."""
    parts: list[list[int]] = []
    for k in numbers:
        if parts and k == parts[-1][1] + 1:
            parts[-1][1] = k
        else:
            parts.append([k, k])
    return ", ".join(str(a) if a == z else f"{a}-{z}" for a, z in parts) or "-"

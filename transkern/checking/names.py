"""What the names of parameters say by how they are made: of several things, of two that belong together."""

from __future__ import annotations

import re


def alike(first: str, second: str) -> bool:
    """Whether two names are made alike: ``x`` and ``y``, ``r1`` and ``r2``, ``y_true`` and ``y_pred``."""
    if len(first) == len(second) == 1:
        return abs(ord(first) - ord(second)) == 1
    if first.rstrip("0123456789") == second.rstrip("0123456789"):
        return True
    one, other = (re.split(r"_+|(?<=[a-z])(?=[A-Z])", name) for name in (first, second))
    return len(one) == len(other) > 1 and (one[0] == other[0] or one[-1] == other[-1])


def is_plural(name: str) -> bool:
    """Whether a name is that of several things: ``masses``, ``learning_rates``."""
    last = name.rstrip("0123456789_").rpartition("_")[2]
    return len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is")) and last == last.lower()

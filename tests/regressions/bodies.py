"""Statements as a function of `x`, `k` and `y`, which `tests.fuzz.changes.arguments` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fuzz.stages import function_of
from tests.trust.against_python import CHECKED, interpreted

_HEAD = "import numpy as np\nfrom collections import defaultdict, deque\ndef f(x, k, y):\n"


def both(body: str) -> list[Callable[..., Any]]:
    """A function of these statements, and what it is compiled to."""
    plain = function_of(_HEAD + "".join(f"    {line}\n" for line in body.split("\n")))
    return [plain, interpreted(plain, CHECKED)]

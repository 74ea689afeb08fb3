"""What the scripts of internal errors call."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from transkern.frontend.values.types import parse_signature
from transkern.ir.verify import VERIFY
from transkern.options import Options
from transkern.runtime.caching import building


def reproduce(function: Callable[..., Any], stated: str, target: str, **options: Any) -> None:
    """Compiles a function for stated types without the cache, with the rules of the IR asked behind each pass; an
    error comes with its whole traceback."""
    os.environ[VERIFY] = "1"
    made = building.texts(function, parse_signature(stated)[1], target, Options(**options))
    lines = sum(text.count("\n") for text in made.values())
    print(f"no error: {', '.join(made)} with {lines} lines")

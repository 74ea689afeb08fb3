"""The entry point. Scripts that ``transkern run`` runs begin at once: its options are read here, where all is plain.

The command line's own parser takes as long to load as NumPy; it has the rest, and says what is wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from transkern.targets.table import TARGETS

_FLAGS = {"-m": "is_module", "--report": "report", "--eager": "eager"}
_VALUES = {"--target": "target", "-t": "target", "--record": "record", "--profile": "profile"}


def main() -> None:
    """Runs the command line."""
    run = _script(sys.argv[1:])
    if run is None:
        from transkern.cli import main as with_parser

        with_parser()
    else:
        run()


def _script(words: Sequence[str]) -> Callable[[], None] | None:
    """What runs a script, where the words say no more than that, and nothing wrong."""
    if words[:1] != ["run"]:
        return None
    given: dict[str, str | bool] = {}
    include: list[str] = []
    left = list(words[1:])
    while left and left[0].startswith("-"):
        word, has_value, value = left.pop(0).partition("=")
        if word in _FLAGS and not has_value:
            given[_FLAGS[word]] = True
            continue
        if word not in _VALUES and word != "--include":
            return None
        if not has_value or not word.startswith("--"):
            if has_value or not left:
                return None
            value = left.pop(0)
        if word == "--include":
            include.append(value)
        else:
            given[_VALUES[word]] = value
    files = [str(given[name]) for name in ("record", "profile") if name in given]
    names = [part for package in include for part in package.split(".")]
    if not left or not all(part.isidentifier() for part in names) or any(map(os.path.isdir, files)):
        return None
    target = str(given.get("target", "auto"))
    if target not in ("auto", *TARGETS):
        return None
    from transkern.dropin import running

    record, profile = (Path(str(given[name])) if name in given else None for name in ("record", "profile"))
    return running.prepared(
        left[0], left[1:], "is_module" in given, target, include, "report" in given, "eager" in given, record, profile
    )

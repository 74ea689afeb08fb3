"""``transkern run --record FILE``: the types that functions are called with first, for ``transkern check --recorded``.

A file is JSON: ``{"version": 1, "types": {"/path/a.py": {"f": ["float64[x_0]", "int"]}}}``, types as `--types` takes
them, one for each parameter.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

from transkern import refusals
from transkern.errors import CompileError, TypesNeeded
from transkern.runtime.parameters import Parameters

_VERSION = 1

Recorded = Mapping[str, Mapping[str, list[str]]]
"""The types of parameters, by file and function."""


@dataclass(slots=True)
class Recording:
    """What has been seen so far; of a function with arguments that have no text, nothing."""

    types: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def note(
        self, file: str, name: str, function: FunctionType, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> None:
        """A call of a function."""
        if (file, name) in self.seen:
            return
        self.seen.add((file, name))
        from transkern.frontend.values.types import parse_type
        from transkern.partial.parts import type_beside

        parameters = Parameters(function)
        try:
            values = parameters.bind(args, keywords)
            pairs = [*zip(parameters.names, values, strict=True)]
            texts = [str(type_beside(n, v, parameters.names)) for n, v in pairs]
            for text, (n, _) in zip(texts, pairs, strict=True):
                parse_type(text, n)
        except (TypeError, TypesNeeded):  # a call that Python refuses; something that has no text
            return
        self.types.setdefault(os.path.realpath(file), {})[name] = texts

    def write(self, path: Path) -> None:
        """All of it, beside what an earlier run has left there."""
        kept = {file: dict(known) for file, known in (read(path) if path.exists() else {}).items()}
        for file, found in self.types.items():
            kept.setdefault(file, {}).update(found)
        path.write_text(json.dumps({"version": _VERSION, "types": kept}, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Recorded:
    """What a run has recorded; raises CompileError where the file is none of these."""
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        if made["version"] != _VERSION:
            raise ValueError
        return {
            str(file): {str(name): [str(t) for t in texts] for name, texts in known.items()}
            for file, known in made["types"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        problem = f"{path}: not a record of types"
        raise CompileError(refusals.UNREADABLE, problem, "make one with transkern run --record") from None

"""What `transkern check` found, for programs: JSON, and SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from transkern.checking.functions import Checked
from transkern.errors import Placed, characters
from transkern.version import __version__

Found = Sequence[tuple[Path, Checked]]


def as_json(found: Found) -> dict[str, Any]:
    """All functions: ``{"version", "functions": [{"file", "function", "line", "outcome", "types", …}]}``.

    `outcome` is ``compiles``, ``refused`` or ``unknown``; `parts` is how many parts of a refused one would
    compile; lines and columns count from 1, columns in characters.
    """
    return {"version": __version__, "functions": [_function(path, one) for path, one in found]}


def _function(path: Path, one: Checked) -> dict[str, Any]:
    return {
        "file": str(path), "function": one.name, "line": one.line, "outcome": one.outcome,
        "types": dict(one.types), "types_from": one.origin, "unknown": one.unknown,
        "refusals": [_told(path, one, e) for e in one.refusals], "parts": one.parts,
        "advice": [_told(path, one, e) for e in one.advice],
    }  # fmt: skip


def _told(path: Path, one: Checked, error: Placed) -> dict[str, Any]:
    kind = error.kind
    told = {"code": kind.code, "title": kind.title, "problem": error.problem, "help": error.help}
    return {**told, **_place(path, one, error)}


def _place(path: Path, one: Checked, error: Placed) -> dict[str, Any]:
    """Where an error is: its own place, or the function's."""
    span = error.span
    if not span.line:
        return {"file": str(path), "line": one.line, "column": 1, "end_line": one.line, "end_column": 1}

    def column(line: int, bytes_: int) -> int:
        return 1 + (characters(error.lines[line - 1], bytes_) if 0 < line <= len(error.lines) else bytes_)

    end = max(span.end_line, span.line)
    return {
        "file": span.file or str(path), "line": span.line, "column": column(span.line, span.column),
        "end_line": end, "end_column": column(end, span.end_column),
    }  # fmt: skip


def as_sarif(found: Found) -> dict[str, Any]:
    """All refusals, and advice as notes, as a log that code hosts and editors read."""
    kinds = {e.kind.code: e.kind for _, one in found for e in (*one.refusals, *one.advice)}
    results = [_result(path, one, e) for path, one in found for e in (*one.refusals, *one.advice)]
    rules = [{"id": code, "shortDescription": {"text": kind.title}} for code, kind in sorted(kinds.items())]
    driver = {"name": "transkern", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }  # fmt: skip


def _result(path: Path, one: Checked, error: Placed) -> dict[str, Any]:
    place = _place(path, one, error)
    is_advice = error in one.advice
    text = f"`{one.name}` is not compiled: {error.problem}" if one.name and not is_advice else error.problem
    region = {
        "startLine": max(place["line"], 1), "startColumn": place["column"],
        "endLine": max(place["end_line"], 1), "endColumn": place["end_column"],
    }  # fmt: skip
    file = Path(place["file"])
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": region}}
    if path.suffix == ".ipynb":  # whose lines are those of JSON
        cell = place["file"].removeprefix(f"{path}, ") if place["file"] != str(path) else "a cell"
        named = {"fullyQualifiedName": f"{cell}, line {place['line']}"}
        location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}, "logicalLocations": [named]}
    message = {"text": text + (f"\n{error.help}" if error.help else "")}
    level = "note" if is_advice else "warning"
    return {"ruleId": error.kind.code, "level": level, "message": message, "locations": [location]}


def _uri(file: Path) -> str:
    """A file as SARIF names it: relative to where the command ran, where it was named so."""
    return file.as_uri() if file.is_absolute() else quote(file.as_posix())

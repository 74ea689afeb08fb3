"""What is in the disk cache: how much for each target, and whether all of it is whole and can be loaded."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from transkern import private
from transkern.runtime.caching import bound, cache
from transkern.targets.cpu import build as cc
from transkern.targets.cpu import compiler


@dataclass(slots=True)
class Part:
    """A share of the cache: how many entries it has, and their bytes."""

    count: int = 0
    size: int = 0


@dataclass(slots=True)
class Contents:
    """All of the cache: entries by their targets, other files by the folder that they are in, and the earliest and the
    latest use of one, as `time.time` counts; None where there is none."""

    targets: dict[str, Part] = field(default_factory=lambda: defaultdict(Part))
    others: dict[str, Part] = field(default_factory=lambda: defaultdict(Part))
    oldest: float | None = None
    newest: float | None = None

    @property
    def size(self) -> int:
        """Bytes in all of it."""
        return sum(part.size for part in (*self.targets.values(), *self.others.values()))


def contents(folder: Path) -> Contents:
    """What is in the cache at `folder`."""
    found = Contents()
    known = list(bound.files(folder))
    sizes = {one.path: one.size for one in known}
    for one in known:
        if one.path.parent.parent == folder / "functions" and one.path.suffix == ".json":
            entry = _entry(one.path)
            part = found.targets[str(entry.get("target", "cpu"))]
            part.count += 1
            part.size += sizes.pop(one.path) + sizes.pop(_built(one.path, entry), 0)
    for path, size in sizes.items():
        part = found.others[path.relative_to(folder).parts[0]]
        part.count += 1
        part.size += size
    times = [one.time for one in known]
    found.oldest, found.newest = min(times, default=None), max(times, default=None)
    return found


def _entry(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        entry = json.loads(private.read(path))
        return entry if isinstance(entry, dict) else {}
    return {}


def _built(path: Path, entry: dict[str, Any]) -> Path:
    return path.parent / f"{entry.get('built')}.so"


class Broken(NamedTuple):
    """A file of the cache that does not serve, and why."""

    path: Path
    why: str


def verified(folder: Path, told: Callable[[int, int], None] = lambda done, of: None) -> tuple[int, list[Broken]]:
    """Looks at each entry, and deletes those that do not serve: whose bytes are not those that were written, or that
    cannot be loaded here. How many do, and which do not. `told` hears how many are done, and of how many."""
    parts = {folder / part for part in ("functions", "common", "runs", "types")}
    known = sorted(p for p, _, _ in bound.files(folder) if p.suffix in _CHECKS and not parts.isdisjoint(p.parents))
    count, broken = 0, []
    for k, path in enumerate(known):
        told(k, len(known))
        why = _problem(path)
        if not why:
            count += path.suffix == ".json"
        elif why is not _GONE:
            broken.append(Broken(path, why))
            with suppress(OSError):
                path.unlink()
    told(len(known), len(known))
    return count, broken


_GONE = "it has gone meanwhile"


def _problem(path: Path) -> str:
    try:
        data = private.read(path)
    except FileNotFoundError:
        return _GONE
    except OSError as error:
        return str(error)
    return next(_CHECKS[path.suffix](path, data), "")


def _is_named(path: Path, data: bytes) -> Iterator[str]:
    """A file is named by what is in it."""
    if cache.digest_of(data) != path.stem:
        yield "it is not what was written: changed, or cut off"


def _check_entry(path: Path, data: bytes) -> Iterator[str]:
    named = path.parent.parent.name == "functions"
    if named:
        yield from _is_named(path, data)
    try:
        entry = json.loads(data)
    except ValueError:
        yield "it is not JSON"
        return
    if named and "printed" in entry:
        yield from _check_texts(entry["printed"])
    elif named and "built" in entry:
        yield from _check_built(_built(path, entry), entry)


def _check_texts(texts: dict[str, Any]) -> Iterator[str]:
    """Python's texts are parsed, not run."""
    for name in ("text", "placed", "numbered"):
        try:
            compile(texts.get(name, ""), name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            yield f"its {name} is not Python: {error}"


def _check_built(path: Path, entry: dict[str, Any]) -> Iterator[str]:
    """A shared object is loaded, as a call would load it; one for another machine, as of a home that several share, is
    for that one to load."""
    try:
        data = private.read(path)
    except OSError as error:
        yield f"its code {path.name} cannot be read: {error.strerror or error}"
        return
    yield from _is_named(path, data)
    if entry.get("machine") != compiler.machine():
        return
    try:
        cc.load(data, entry["module"], path)
    except ImportError as error:
        yield f"its code cannot be loaded here: {error}"


_CHECKS: dict[str, Callable[[Path, bytes], Iterator[str]]] = {".json": _check_entry, ".so": _is_named, ".o": _is_named}
"""How a file is looked at, by the end of its name. (The simulator's builds are made anew where they do not load.)"""

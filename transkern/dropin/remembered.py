"""What runs of a script have found out, for the next ones: by the text of each file, in the disk cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import linecache
import math
import os
import time
import types
from collections.abc import Iterable, Mapping
from typing import Any

from transkern.dropin import beside
from transkern.dropin.beside import Outcome
from transkern.dropin.deciding import cost_of
from transkern.dropin.declining import COMPILED, PARTED, PYTHON, UNDECIDED
from transkern.dropin.functions import Parts, Place, Watch, Watched
from transkern.dropin.rewriting import Site
from transkern.runtime.caching import cache
from transkern.runtime.choosing import default_target

_FORGOTTEN = 20
"""Runs after which what stayed in Python is tried again: data change."""


class Memory:
    """What is known of the functions of a run's files."""

    def __init__(self, target: str, has_copies: bool = False) -> None:
        self._target, self._has_copies = target, has_copies
        self._files: dict[str, dict[str, Any]] = {}

    def of(self, site: Site) -> dict[str, Any] | None:
        """What is known of one of them, as `keep` has written it."""
        if site.file not in self._files:
            self._files[site.file] = cache.recalled_run(self._key(site.file))
        known = self._files[site.file].get(f"{site.first} {site.name}")
        known = known if isinstance(known, dict) and _is_sound(known) else None
        if self._has_copies and (known is None or known["state"] in ("", UNDECIDED)):
            found = self.outcome(site)  # a copy of the process of an earlier run may have found it out
            if found is not None and found["state"] != UNDECIDED:
                known = {"python": 0.0, "calls": 0, "runs": 0, "cost": cost_of(site), **(known or {}), **found}
        return known

    def outcome(self, site: Site) -> Outcome | None:
        """What a copy of a run's process (`beside`) has found out of a function."""
        found = cache.recalled_run(self._of_copy(site))
        return found if found and _is_sound({"python": 0, "cost": 0, "runs": 0, "calls": 0, **found}) else None

    def keep_outcome(self, site: Site, found: Outcome) -> None:
        """Write that down."""
        cache.remember_run(self._of_copy(site), found)

    def is_begun(self, site: Site) -> bool:
        """Whether a copy of a run's process is at work on a function."""
        match cache.recalled_run(self._of_copy(site, "begun")):
            case {"process": int(process), "begun": float(begun)}:
                return 0 <= time.time() - begun < beside.LATEST and _is_at_work(process)
        return False

    def begin(self, site: Site) -> None:
        """Write down that this process is."""
        cache.remember_run(self._of_copy(site, "begun"), {"process": os.getpid(), "begun": time.time()})

    def _of_copy(self, site: Site, *what: str) -> str:
        told = " ".join((self._key(site.file), str(site.first), site.name, *what))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def keep(self, functions: Iterable[Watched]) -> None:
        """Write down what a run has found out."""
        files: dict[str, dict[str, Any]] = {}
        whole = list(functions)
        parts = [part for one in whole if one.parts is not None for part in one.parts.all_parts()]
        for one in (*whole, *parts):
            spent = one.record.in_python()
            if not spent.calls and not one.record.in_code().calls and not one.why and one.state is not PARTED:
                continue
            runs = int((self.of(one.site) or {}).get("runs", 0)) + 1
            state = one.state if (runs < _FORGOTTEN or one.state is COMPILED) and not one.gave_up else ""
            kept = {
                "state": state, "why": one.why, "python": one.record.without_code(), "runs": runs if state else 0,
                "calls": one.record.in_python().calls + one.record.in_code().calls, "cost": one.record.cost,
            }  # fmt: skip
            if state not in (COMPILED, PYTHON) and not one.is_beside and not one.gave_up:
                kept["spent"] = one.record.spent + one.record.without_code()
            if one.prints:
                kept["prints"] = True
            if state is COMPILED and (saved := one.record.saved_by_all()) is not None:
                kept["saved"] = saved
            if state is PARTED and one.parts is not None:
                kept["refused"] = [[[*place], why] for place, why in one.parts.refused.items()]
            files.setdefault(one.site.file, {})[f"{one.site.first} {one.site.name}"] = kept
        for file, found in files.items():
            known = self._files.get(file, {})
            if {**known, **found} != known:
                cache.remember_run(self._key(file), {**known, **found})

    def _key(self, file: str) -> str:
        text = "".join(linecache.getlines(file))
        told = repr((cache.compiler_version(), _numpy(), self._target, file, text))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:40]


@functools.cache
def _numpy() -> str:
    """Which NumPy the script would have: it is not loaded for one that needs none."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or not spec.origin:
        return ""
    with contextlib.suppress(OSError):
        return f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}"
    return spec.origin


def _is_at_work(process: int) -> bool:
    """Whether a process is there, and has not ended: who has no parent waits for the system to take note of it."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{process}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def _is_sound(known: dict[str, Any]) -> bool:
    """Whether it is what `keep` writes: it lies in a file."""
    numbers = [known.get(name) for name in ("python", "cost", "runs", "calls")]
    numbers += [known.get(name, 0.0) for name in ("saved", "spent")]
    return (
        isinstance(known.get("state"), str) and isinstance(known.get("why"), str)
        and all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers)
        and isinstance(known.get("refused", []), list) and all(map(_is_refused, known.get("refused", [])))
    )  # fmt: skip


def _is_refused(known: Any) -> bool:
    """Whether it is a statement's place, and why it is refused."""
    match known:
        case [[int(), int(), int(), int()], str()]:
            return True
    return False


def _in_parts(owner: Watched, function: types.FunctionType, refused: Mapping[Place, str]) -> Parts:
    from transkern.dropin.parted import Parted

    return Parted(owner, function, refused)


def watch(target: str, counts: bool, eager: bool, copies: bool = False) -> tuple[Watch, Memory]:
    """A run's watch, which knows what runs before have found out; with `copies`, its process may be copied to compile
    (`beside`)."""
    target = default_target() if target == "auto" else target
    copies = copies and target == "cpu" and not eager and beside.available()
    memory = Memory(target, copies)
    made = Watch(target, counts, eager, remembered=memory.of, parted=_in_parts)
    if copies:
        made.beside = beside.Beside(memory)
    return made, memory

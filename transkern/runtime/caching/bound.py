"""How large the disk cache may become: what has not been used for longest goes first.

A file's time of modification is that of its last use (`used`); files of one key go together. Each write adds a line to
a ledger; where these say that the bound is reached, one process counts what is there, deletes down to nine tenths of
the bound, and begins the ledger anew. So a write costs no look at the other files. Processes that read what another one
deletes have it in memory already, or make it anew; nothing here is waited for, and a disk that cannot be written is
left as it is.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from transkern import private
from transkern.warned import warn_once

VARIABLE = "TRANSKERN_CACHE_LIMIT"
DEFAULT = 1 << 30  # bytes

BOUNDED = ("functions", "common", "refused", "simulator", "runs", "types")
"""The folders of the cache whose files may go. (What is known of compilers is some bytes.)"""

LEDGER, LOCK = "written", "bound.lock"

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SHARE = 0.9  # of the bound, that is left
_LONG = 1 << 16  # bytes of the ledger, behind which it is begun anew
_OPEN = 60.0  # seconds for which the simulator may be about to load what it has found
_ABANDONED = 3600.0  # seconds after which nobody waits for the lock of a function without entries


class Used(NamedTuple):
    """A file, its size in bytes, and the time of its last use."""

    path: Path
    size: int
    time: float


def limit() -> int | None:
    """The bound in bytes: ``TRANSKERN_CACHE_LIMIT`` (``500M``, ``2 GiB``), or 1 GiB; None where that is ``none``."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None:
        problem = f"{VARIABLE} is {text!r}, which is no size such as 500M or 2G, and not `none`"
        warn_once(VARIABLE, f"{problem}: the disk cache may take 1 GiB")
        return DEFAULT
    return int(float(found[1]) * _UNITS[found[2].upper()])


def used(*paths: Path) -> None:
    """Files have just been used."""
    for path in paths:
        with suppress(OSError):
            os.utime(path)


def files(folder: Path) -> Iterator[Used]:
    """What may go of a cache, in any order."""
    for part in BOUNDED:
        for place, _, names in os.walk(folder / part):
            for name in names:
                path = Path(place, name)
                with suppress(OSError):  # another process has deleted it meanwhile
                    info = path.lstat()
                    if name != "lock":
                        yield Used(path, info.st_size, info.st_mtime)


def written(folder: Path, size: int) -> None:
    """So many bytes have been written into a cache: where there are too many now, some go."""
    most = limit()
    if most is None:
        return
    with suppress(OSError):
        total = _noted(folder, size)
        if total is None or total > most:
            shrink(folder, most)


def _noted(folder: Path, size: int) -> int | None:
    """The bytes in a cache, those that have just been written too, by its ledger; None where that does not tell."""
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(folder / LEDGER, flags)
    except FileNotFoundError:
        return None
    with open(handle, "ab", buffering=0) as ledger:
        ledger.write(b"%d\n" % size)  # at once: lines of several processes stay lines
    data = private.read(folder / LEDGER)
    with suppress(ValueError):
        return sum(map(int, data.split())) if len(data) < _LONG else None
    return None


def shrink(folder: Path, most: int) -> int:
    """Deletes what has not been used for longest until at most nine tenths of `most` bytes are left, where there are
    more than `most`; how many files went. None go while another process does this."""
    with private.locked(folder / LOCK, 0) as held:
        if not held:
            return 0
        known = list(files(folder))
        total, count = sum(one.size for one in known), 0
        aim = most * _SHARE if total > most else total
        for group in _oldest_first(folder, known):
            if total <= aim:
                break
            for one in group:
                with suppress(OSError):
                    one.path.unlink()
                    total, count = total - one.size, count + 1
            _leave(group[0].path.parent)
        with private.scratch(private.made(folder / "scratch")) as scratch:
            private.write(folder / LEDGER, b"%d\n" % total, scratch)
    return count


def _oldest_first(folder: Path, known: Iterable[Used]) -> list[list[Used]]:
    """Files that go together, those of one key, by their last use; without those that the simulator may soon load."""
    groups: defaultdict[Path, list[Used]] = defaultdict(list)
    for one in known:
        parts = one.path.relative_to(folder).parts
        if parts[0] != "simulator" or time.time() - one.time > _OPEN:
            groups[Path(*parts[:2])].append(one)
    return sorted(groups.values(), key=lambda group: max(one.time for one in group))


def _leave(folder: Path) -> None:
    """Deletes a folder in which nothing is left but an old lock."""
    lock = folder / "lock"
    with suppress(OSError):
        if time.time() - lock.lstat().st_mtime > _ABANDONED:
            lock.unlink()
    with suppress(OSError):  # there is more in it
        folder.rmdir()

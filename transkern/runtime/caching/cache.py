"""The disk cache: what was compiled before, by everything that it depends on.

An entry is found by a hash of the function's code, the argument types, the target and its toolchain; it lists what else
the translation looked at (globals, inlined functions, what modules hold) with a fingerprint each, which is compared at
every load (`surveys.py`). Entries are plain files (JSON and the target's own format, no pickle), each named by the
hash of all that is in it: what has been changed or cut off is not the file of that name, and is made anew. They are in
a folder that nobody else may write (`transkern/private.py`), and appear whole.

    functions/<key>/<hash>.json    an entry; it names its shared object, or has the texts for a device in it
    functions/<key>/<hash>.so
    functions/<key>/lock           who compiles holds it, the others wait
    toolchains/<hash>              the compiler that was last seen for a value of `CC`
    common/<key>/<hash>.o          what all modules have, from one compiler; it is linked to each (and a lock)
    refused/<name>-<hash>.c        what the C compiler did not take
    runs/<hash>.json               what a run of a script has found out of its functions
    types/<hash>.json              the types that a function was compiled for
    written, bound.lock            how much there is (`bound.py`)
    scratch/                       where compilers work; empty when none does
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from transkern import private
from transkern.runtime.caching import bound
from transkern.version import ROOT, __version__
from transkern.warned import warn_once

if TYPE_CHECKING:
    from transkern.runtime.caching.surveys import Survey

_KEPT = 8
"""Entries of a key: of a function whose globals take turns."""

_PATIENCE = 120.0
"""Seconds to wait for another process that compiles the same. Then it is stopped, or hangs, and is not waited for."""


# ---- the folder ------------------------------------------------------------------------------------------------------


def directory() -> Path | None:
    """``$TRANSKERN_CACHE_DIR``, or ``transkern`` in the user's cache directory; None where there is no home."""
    chosen = os.environ.get("TRANSKERN_CACHE_DIR")
    if chosen:
        return Path(os.path.abspath(chosen))
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "transkern" if os.path.isabs(base) else None  # a relative one is to be ignored, says XDG


def usable() -> Path | None:
    """The cache directory; None where there can be none, or where others may write to it: then nothing is read from
    it, and nothing kept."""
    why = problem()
    if why:
        _without(why)
        return None
    return directory()


def problem() -> str:
    """Why there is no cache; empty where there is one."""
    path = directory()
    if path is None:
        return "there is no home directory, and TRANSKERN_CACHE_DIR is not set"
    try:
        private.made(path)
    except OSError as error:
        return f"{path} cannot be made: {error.strerror or error}"
    why = private.problem(path)
    return f"{path} is not used: {why}" if why else ""


def _without(why: str) -> None:
    warn_once("cache", f"transkern has no disk cache: {why}. What is compiled is compiled again in each process")


def scratch() -> Path | None:
    """The folder in the cache where compilers work, if there can be one."""
    folder = usable()
    with suppress(OSError):
        return None if folder is None else private.made(folder / "scratch")
    return None


# ---- what is in an entry ---------------------------------------------------------------------------------------------


@functools.cache
def compiler_version() -> str:
    """A fingerprint of transkern itself."""
    parts = []
    for folder, _, names in os.walk(ROOT):
        for name in sorted(names):
            if name.endswith((".py", ".h", ".cpp")):
                info = os.stat(os.path.join(folder, name))
                parts.append(f"{name}{info.st_mtime_ns}{info.st_size}")
    return hashlib.sha256("|".join([__version__, *sorted(parts)]).encode()).hexdigest()[:16]


# ---- entries ---------------------------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """An entry, what its translation looked at as it is now, and its shared object: where it is, and what is in it."""

    entry: dict[str, Any]
    survey: Survey
    path: Path | None
    built: bytes


_unkept: dict[str, list[tuple[dict[str, Any], bytes]]] = {}
"""What the disk did not take, for this process."""
_MOST = 500  # keys of it


def read(key: str, unchanged: Callable[[Mapping[str, Any]], Survey | None]) -> Stored | None:
    """The entry of a key whose translation looked at what is still `unchanged`, or None."""
    for kept, code in _unkept.get(key, ()):
        found = unchanged(kept["looked_at"])
        if found is not None:
            return Stored(kept, found, None, code)
    folder = usable()
    if folder is None:
        return None
    folder = folder / "functions" / key
    for path in _newest_first(folder):
        text = _whole(path)
        entry = json.loads(text) if text is not None else None
        survey = unchanged(entry["looked_at"]) if entry is not None else None
        if entry is None or survey is None:
            continue
        if "built" not in entry:
            bound.used(path)
            return Stored(entry, survey, None, b"")
        built = folder / f"{entry['built']}.so"
        whole = _whole(built)
        if whole is not None:
            bound.used(path, built)
            return Stored(entry, survey, built, whole)
    return None


def _newest_first(folder: Path) -> list[Path]:
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                with suppress(OSError):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _whole(path: Path) -> bytes | None:
    """What is in a file, where it is what its name says; else the file goes."""
    try:
        data = private.read(path)
    except OSError:
        return None
    if digest_of(data) == path.stem:
        return data
    with suppress(OSError):
        path.unlink()
    return None


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def turn(key: str, part: str = "functions") -> Iterator[None]:
    """One process, and one thread of it, compiles what has a key; the others wait, and find it here."""
    folder = usable()
    try:
        lock = None if folder is None else private.made(folder / part / key) / "lock"
    except OSError:  # read-only, or full
        lock = None
    with private.locked(lock, _PATIENCE) if lock is not None else nullcontext(False) as held:
        if held:
            yield
            return
    own = _turns.setdefault(key, threading.Lock())  # where no disk has locks, the process has
    held = own.acquire(timeout=_PATIENCE)
    try:
        yield
    finally:
        if held:
            own.release()


_turns: dict[str, threading.Lock] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_turns.clear)  # their owners have stayed behind


def write(key: str, entry: dict[str, Any], built: bytes = b"") -> Path | None:
    """Keep an entry and its shared object; where that is now, or None where it is kept for this process alone."""
    folder = usable()
    if folder is not None:
        data = json.dumps({**entry, **({"built": digest_of(built)} if built else {})}).encode()
        try:
            return _written(folder, key, data, built)
        except OSError as error:
            _without(f"{folder} cannot be written: {error.strerror or error}")
    while len(_unkept) >= _MOST:
        _unkept.pop(next(iter(_unkept)), None)
    others = [kept for kept in _unkept.get(key, ()) if kept[0]["looked_at"] != entry["looked_at"]]
    _unkept[key] = [(entry, built), *others[: _KEPT - 1]]
    return None


def _written(folder: Path, key: str, data: bytes, built: bytes, again: bool = True) -> Path:
    own = folder / "functions" / key
    path = own / f"{digest_of(built)}.so" if built else own / f"{digest_of(data)}.json"
    try:
        private.made(own)
        with private.scratch(private.made(folder / "scratch")) as scratch:
            if built:
                private.write(path, built, scratch)
            private.write(own / f"{digest_of(data)}.json", data, scratch)
    except FileNotFoundError:  # someone has emptied the cache meanwhile
        if again:
            return _written(folder, key, data, built, False)
        raise
    _prune(own)
    bound.written(folder, len(data) + len(built))
    return path


def _prune(folder: Path) -> None:
    """Leaves the newest entries of a key, and what they name."""
    entries = _newest_first(folder)
    named = set()
    for path in entries[:_KEPT]:
        with suppress(OSError, ValueError):
            named.add(f"{json.loads(private.read(path)).get('built')}.so")
    gone = [*entries[_KEPT:], *(p for p in _inside(folder) if p.suffix == ".so" and p.name not in named)]
    for path in gone if len(entries) > _KEPT else ():
        with suppress(OSError):
            path.unlink()


# ---- what modules have in common ------------------------------------------------------------------------------------

_common: dict[str, bytes] = {}
"""What this process has read or made."""


def common(key: str) -> bytes | None:
    """The object file with a key."""
    folder = usable()
    if key not in _common and folder is not None:
        with suppress(OSError):
            for path in (folder / "common" / key).glob("*.o"):
                if (data := _whole(path)) is not None:
                    _common[key] = data
                    bound.used(path)
    return _common.get(key)


def keep_common(key: str, data: bytes) -> None:
    _common[key] = data
    _keep(f"common/{key}", f"{digest_of(data)}.o", data)


# ---- the compiler that was there -------------------------------------------------------------------------------------


def remember_toolchain(setting: str, identity: str) -> None:
    """Keep which compiler a value of `CC` means: what it has compiled serves on when it has gone."""
    if recalled_toolchain(setting) != identity:
        _keep("toolchains", digest_of(setting.encode()), identity.encode())


def recalled_toolchain(setting: str) -> str:
    """The compiler that was last seen for a value of `CC`; empty where none was."""
    with suppress(ValueError):
        return _kept("toolchains", digest_of(setting.encode())).decode()
    return ""


def remember_run(text: str, what: dict[str, Any]) -> None:
    """Keep what a run has found out of the functions in a text."""
    _keep("runs", f"{text}.json", json.dumps(what).encode())


def recalled_run(text: str) -> dict[str, Any]:
    """What the last run has found out of them; nothing where there was none."""
    with suppress(ValueError):
        found = json.loads(_kept("runs", f"{text}.json"))
        return found if isinstance(found, dict) else {}
    return {}


def remember_types(function: str, kinds: list[Any]) -> None:
    """Keep the types that a function was compiled for."""
    _keep("types", f"{function}.json", json.dumps(kinds).encode())


def recalled_types(function: str) -> list[Any]:
    """Those that a function was compiled for."""
    with suppress(ValueError):
        found = json.loads(_kept("types", f"{function}.json"))
        return found if isinstance(found, list) else []
    return []


def _keep(part: str, name: str, data: bytes) -> None:
    """Write a file of a part of the cache, where there is one."""
    folder = usable()
    if folder is not None:
        with suppress(OSError), private.scratch(private.made(folder / "scratch")) as scratch:
            private.write(private.made(folder / part) / name, data, scratch)
        bound.written(folder, len(data))


def _kept(part: str, name: str) -> bytes:
    """What is in such a file; nothing where there is none."""
    folder = usable()
    if folder is not None:
        with suppress(OSError):
            data = private.read(folder / part / name)
            bound.used(folder / part / name)
            return data
    return b""


# ---- all of it -------------------------------------------------------------------------------------------------------

_FOLDERS = (*bound.BOUNDED, "toolchains")
REPORTS = "reports"
"""The folder of scripts that show errors of transkern's own (`debug.scripts`)."""
_EARLIER = re.compile(r"[0-9a-f]{40}(-[0-9a-f]{40})?\.(json|so|so\.\d+|\d+\.tmp)")  # as earlier versions had them
_OWN = re.compile(r"transkern-[a-z0-9_]{8}")  # and their folders for temporary files
_AT_WORK = 3600.0  # seconds for which such a version may still be using one


def files() -> list[Path]:
    """All files of ours, in the cache and what earlier versions left in the folder for temporary ones."""
    folder = directory()
    found: list[Path] = []
    if folder is not None and folder.is_dir():
        for part in (*_FOLDERS, REPORTS, "scratch"):
            found += _inside(folder / part)
        with suppress(OSError):
            own = (bound.LEDGER, bound.LOCK)
            found += [path for path in folder.iterdir() if path.name in own or _EARLIER.fullmatch(path.name)]
    return sorted({*found, *_left_behind()})


def _inside(folder: Path) -> Iterator[Path]:
    """The files and links in a folder, in which others make and delete folders meanwhile."""
    for place, folders, names in os.walk(folder):
        yield from (Path(place, name) for name in names)
        yield from (link for name in folders if (link := Path(place, name)).is_symlink())


def clear() -> int:
    """Delete them, and nothing else that may lie there; how many files went."""
    import shutil

    gone = files()
    folder = directory()
    for path in gone:
        with suppress(OSError):
            if folder is None or folder / "scratch" not in path.parents:
                path.unlink()
    if folder is not None:
        for part in (*_FOLDERS, REPORTS):
            shutil.rmtree(folder / part, ignore_errors=True)
        private.sweep(folder / "scratch")  # not what others are just working in
    for place in {path.parent for path in gone if _OWN.fullmatch(path.parent.name)}:
        with suppress(OSError):
            place.rmdir()
    return sum(not path.exists() for path in gone)


def _left_behind() -> list[Path]:
    """What earlier versions have left of the user's in the folder for temporary files."""
    import tempfile

    found: list[Path] = []
    with suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob("transkern-*"):
            info = path.lstat()
            foreign = hasattr(os, "getuid") and info.st_uid != os.getuid()
            if path.is_symlink() or foreign or time.time() - info.st_mtime < _AT_WORK:
                continue
            if path.is_file() and path.suffix == ".c":
                found += [path] if "by transkern\n" in path.read_text(encoding="utf-8", errors="replace")[:4096] else []
            elif path.is_dir() and _OWN.fullmatch(path.name):
                inner = list(path.iterdir())
                if len({p.stem for p in inner}) == 1 and {p.suffix for p in inner} <= {".c", ".so"}:
                    found += inner
    return found

"""Folders and files that nobody but the user (and root) can have written.

What is loaded from a folder runs: it must be the user's own, others must not be able to write into it or to put
another in its place, and what is written there appears whole or not at all. What a process leaves behind that is killed
in the middle is known by a lock that the system releases.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "transkern-scratch-"  # how the names of scratch folders begin
_STALE = 60  # seconds after which a scratch folder is somebody's who holds its lock, or nobody's

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        """Takes the lock of an open file, or raises OSError. It is the file's, not the process's: threads wait too."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        """Gives it back at once, also where a forked child still has the file open."""
        fcntl.flock(handle, fcntl.LOCK_UN)


# ---- whose it is -----------------------------------------------------------------------------------------------------


def problem(folder: Path) -> str:
    """Why what lies in a folder may be another user's, or why there is no such folder; empty where all is well."""
    try:
        real = folder.resolve(strict=True)
        info = real.stat()
        above = [(parent, parent.stat()) for parent in real.parents]
    except (OSError, RuntimeError) as error:  # RuntimeError: links that go round, before Python 3.13
        return getattr(error, "strerror", None) or str(error)
    if not stat.S_ISDIR(info.st_mode):
        return "it is not a folder"
    if not hasattr(os, "getuid"):
        return ""
    if info.st_uid != os.getuid():
        return f"it belongs to another user (number {info.st_uid})"
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (chmod go-w {real})"
    for parent, of in above:
        if of.st_uid not in (0, os.getuid()):
            return f"{parent}, which it is in, belongs to another user (number {of.st_uid})"
        if of.st_mode & stat.S_ISVTX:  # in /tmp, nobody moves what is another's
            continue
        if of.st_mode & stat.S_IWOTH or (of.st_mode & stat.S_IWGRP and not _is_own_group(of.st_gid)):
            return f"others may write to {parent}, which it is in"
    return ""


def _is_own_group(number: int) -> bool:
    """Whether a group is the one that some systems give to each user alone: its folders are often open to it."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid())
    except (KeyError, OSError):
        return False
    return group.gr_gid == user.pw_gid and group.gr_name == user.pw_name and not group.gr_mem


def read(path: Path) -> bytes:
    """What is in a file of the user's own, which nobody else may write; OSError where it is none."""
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(f"{path} is no file")
        if hasattr(os, "getuid") and (
            info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        ):  # fmt: skip
            raise PermissionError(f"others may have written {path}")
        return file.read()


def made(folder: Path) -> Path:
    """The folder, made where it is missing: for the user alone. OSError where that cannot be."""
    for part in reversed((folder, *folder.parents)):
        if not part.exists():
            part.mkdir(mode=0o700, exist_ok=True)  # those above it too, whatever the umask says
    return folder


def write(path: Path, data: bytes, scratch: Path) -> None:
    """Writes a file for the user alone, whole or not at all; `scratch` is on the same disk."""
    part = scratch / path.name
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with open(handle, "wb") as file:
        file.write(data)
    os.replace(part, path)


# ---- locks -----------------------------------------------------------------------------------------------------------


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[bool]:
    """The lock of a file, for which others wait as long, and whether it was had: then nobody else is within.

    The system releases it where its owner is killed. An owner that has been stopped holds nobody up for longer than
    `seconds`, and where a folder has no locks nobody waits at all.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError:
        yield False
        return
    try:
        held = _wait(handle, time.monotonic() + seconds)
        try:
            yield held
        finally:
            if held:
                with suppress(OSError):
                    _unlock(handle)
    finally:
        os.close(handle)


def _wait(handle: int, until: float) -> bool:
    pause = 0.001
    while True:
        try:
            _lock(handle)
            return True
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                return False
        except OSError:  # a disk without locks
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


# ---- scratch folders -------------------------------------------------------------------------------------------------


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A new folder in `parent` for the user alone, which goes at the end; those that killed processes left go first."""
    import shutil  # here: code from the disk cache needs neither, and they take their time
    import tempfile

    sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with locked(folder / "lock", 0):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> int:
    """Deletes scratch folders whose owner is gone; how many."""
    import shutil

    count = 0
    for folder in _scratch_folders(parent):
        if _is_left(folder):
            shutil.rmtree(folder, ignore_errors=True)
            count += 1
    return count


def _scratch_folders(parent: Path) -> list[Path]:
    """The user's own ones."""
    found = []
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                    if not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid():
                        found.append(Path(entry.path))
    return found


def _is_left(folder: Path) -> bool:
    """Whether the process that made a scratch folder is gone."""
    try:
        if time.time() - folder.stat().st_mtime < _STALE:
            return False  # its owner may be about to take the lock
        handle = os.open(folder / "lock", os.O_RDWR)
    except FileNotFoundError:
        with suppress(OSError):
            folder.rmdir()  # killed before there was anything in it
        return False
    except OSError:
        return False
    try:
        _lock(handle)
        _unlock(handle)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True

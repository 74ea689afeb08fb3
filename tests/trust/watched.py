"""Checks files in a process that is watched: what each makes it open, import, run or connect to, and how long it takes.

``python -m tests.trust.watched FOLDER`` goes through the folders in FOLDER, each with a `file.py`, and prints a line of
JSON for each.
"""

from __future__ import annotations

import difflib  # noqa: F401  (before anybody watches: loaded for the first name that is misspelt)
import json
import os
import resource
import signal
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import islpy  # noqa: F401  (before anybody watches: loaded for the first nest that needs it)
import numpy  # noqa: F401

import transkern
from transkern.checking.functions import check_file
from transkern.runtime.emitting import emit_files

_SECONDS = 20
_OURS = (str(Path(transkern.__file__).parent), *sysconfig.get_paths().values(), sys.base_prefix)
_BYTECODE = (sys.pycache_prefix,) if sys.pycache_prefix else ()
_WATCHED = (
    "open", "import", "exec", "os.", "shutil.", "socket.", "subprocess.", "urllib.", "http.", "ftplib.", "pickle.",
    "ctypes.", "webbrowser.", "tempfile.", "glob.", "mmap.", "code.", "pty.", "sqlite3.", "smtplib.",
)  # fmt: skip
_HARMLESS = ("os.listdir", "os.scandir")

here = ""
seen: list[str] = []


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Notes what an untrusted file must not bring about; to read the file and those beside it is what it is about."""
    if not here or not event.startswith(_WATCHED) or event in _HARMLESS:
        return
    if event == "open" and isinstance(args[0], int):  # what has been opened, once more
        return
    if event == "open":
        path, flags = str(args[0]), args[2] if isinstance(args[2], int) else 0
        reads = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) == 0
        if reads and path.startswith((here, *_OURS, *_BYTECODE)):
            return
    if event == "import" and str(args[0]).startswith(("transkern", "encodings.")):
        return
    if event == "exec" and str(args[0].co_filename).startswith((*_OURS, "<frozen", "<string>")):
        if args[0].co_filename != "<string>" or not args[0].co_names or "evil" not in args[0].co_names:
            return
    seen.append(f"{event} {args[:1]!r}"[:200])


class _Hangs(BaseException):
    pass


def _alarm(*_: object) -> None:
    raise _Hangs


def main(folder: Path) -> None:
    global here
    known = Path(__file__).parents[2] / "examples" / "sigmoid.py"
    emit_files(known, "sigmoid", "cpu", "(float32[n], float32[n], float32[n])")  # what we import ourselves
    sys.addaudithook(watch)
    signal.signal(signal.SIGALRM, _alarm)
    for case in sorted(folder.iterdir(), key=lambda p: int(p.name.partition("-")[0])):
        os.chdir(case)
        file, started = case / "file.py", time.process_time()
        seen.clear()
        here = str(case)
        signal.alarm(_SECONDS)
        try:
            results: Any = []
            for one in check_file(file):
                results.append((one.name, one.outcome == "compiles", "\n".join(map(str, one.refusals)) or one.unknown))
                if one.outcome == "compiles" and one.origin == "stated":
                    with suppress(transkern.CompileError):  # `check` trusts what the module does beside the function
                        emit_files(file, one.name, "cpu", None)
        except transkern.CompileError as error:
            results = [("", False, str(error))]
        except _Hangs:
            results = "hangs"
        except BaseException as error:  # nothing else may come out
            results = f"{type(error).__name__}: {error}"[:500]
        finally:
            signal.alarm(0)
            here = ""
        told = {
            "case": case.name, "results": results, "seen": seen, "seconds": time.process_time() - started,
            "megabytes": most_memory(),
            "left": sorted(p.name for p in case.iterdir()),
        }  # fmt: skip
        print(json.dumps(told), flush=True)


def most_memory() -> float:
    """The most memory that this process has had, in megabytes. (What `getrusage` tells begins with the memory of the
    process that has started this one.)"""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except (OSError, IndexError, ValueError):  # not on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Functions compiled beside a script: by a copy of its process, which has all that the function depends on.

The script waits for the copy to begin, some milliseconds, and goes on in Python; what the copy finds out lies in the
disk cache when it is done, for this run and for later ones: it goes on where the script ends sooner. It has a low
priority, belongs to nobody (so that nobody waits for it), writes to nowhere, and nothing of the script runs in it: no
finaliser, no handler, no function that is registered for the end.

A process is not copied that has threads, which would not be there in the copy; that has so much memory that copying
what it writes would take long; nor where it waits for children in ways of its own.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from transkern.dropin.rewriting import Site
from transkern.warned import unseen

VARIABLE = "TRANSKERN_BESIDE"
"""With 0, a run compiles in its own process alone."""

_LARGEST = 1 << 28  # bytes of a process that is copied
LATEST = 120
"""Seconds that a copy may take."""

_OFTEN = 0.02  # seconds between two looks at what it has found
_LEAST = 2  # processors
_NICE = 10

Outcome = dict[str, Any]
"""What became of a function (`Watched.prepared`)."""


class Kept(Protocol):
    """What runs tell each other of the functions that copies of them compile."""

    def outcome(self, site: Site, /) -> Outcome | None:
        """What has become of a function, once it is known."""

    def keep_outcome(self, site: Site, found: Outcome, /) -> None:
        """Writes that down."""

    def is_begun(self, site: Site, /) -> bool:
        """Whether a copy is at work on it, perhaps one of an earlier run's process."""

    def begin(self, site: Site, /) -> None:
        """Writes down that this process is."""


class Beside:
    """Copies of this process, one at a time."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._process = os.getpid()
        self._site: Site | None = None  # what is being compiled
        self._started = self._looked = 0.0

    def is_busy(self) -> bool:
        """Whether there is a copy that has not said anything yet."""
        if self._site is not None and time.perf_counter() - self._started > LATEST:
            self._site = None
        return self._site is not None

    def recalled(self, site: Site) -> Outcome | None:
        """What a copy of this process, or of an earlier run's, has found out."""
        return self._kept.outcome(site)

    def outcome(self, site: Site) -> Outcome | None:
        """What has become of a function that was begun; None where it is not known yet, or never will be."""
        now = time.perf_counter()
        if self._site is not site or now - self._looked < _OFTEN:
            return None
        self._looked = now
        found = self._kept.outcome(site)
        if found is not None:
            self._site = None
        return found

    def is_waiting_for(self, site: Site) -> bool:
        """Whether a copy is compiling this function."""
        return self.is_busy() and self._site is site

    def may_start(self) -> bool:
        """Whether this process can be copied without harm."""
        return (
            os.getpid() == self._process and threading.active_count() == 1 and _processors() >= _LEAST
            and signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL and 0 < _memory() <= _LARGEST
        )  # fmt: skip

    def start(self, works: Sequence[tuple[Site, Callable[[], Outcome]]]) -> bool:
        """Has a copy do the work of compiling functions, one behind the other, but for what one of an earlier run is at
        work on, which two would only do more slowly; whether there is one."""
        works = [one for one in works if not self._kept.is_begun(one[0])] or works[-1:]
        self._site, self._started = works[-1][0], time.perf_counter()
        if self._kept.is_begun(self._site):
            return True
        try:
            with unseen():  # threads of libraries, which look after themselves
                child = os.fork()
        except OSError:
            self._site = None
            return False
        if child == 0:
            self._in_copy(works)
        with suppress(OSError):
            os.waitpid(child, 0)
        return True

    def _in_copy(self, works: Sequence[tuple[Site, Callable[[], Outcome]]]) -> None:
        try:
            gc.disable()
            os.setsid()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if os.fork():  # so that the copy is nobody's child
                    os._exit(0)
            _quiet()
            for site, _ in works:
                self._kept.begin(site)
            for site, work in works:
                with suppress(Exception):
                    self._kept.keep_outcome(site, work())
        except BaseException:  # nobody listens
            os._exit(1)
        finally:
            os._exit(0)


def available() -> bool:
    """Whether there are copies on this system, and they are not switched off."""
    return sys.platform == "linux" and os.environ.get(VARIABLE, "") != "0"


def _quiet() -> None:
    """The process has no files but for the one that takes everything, no handlers, little of the processor, and an
    end."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)
    signal.alarm(LATEST)
    os.nice(_NICE)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for k in range(3):
        os.dup2(nowhere, k)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with suppress(OSError):
                os.close(int(name))


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _memory() -> int:
    """Bytes of memory that this process uses."""
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0

"""The collector of reference cycles waits while a program is compiled.

A compilation makes hundreds of thousands of nodes and drops nearly all of them by their counts. The collector would
go over those that live again and again, and over all else that the process has: a tenth of a compilation where there
is little else, a quarter where JAX is loaded. What a compilation leaves in cycles (some MB) goes afterwards.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.Lock()
_running = 0  # compilations, of all threads, for which the collector waits
_enabled = False  # whether it was on before the first of them


@contextmanager
def paused() -> Iterator[None]:
    """Inside, cycles are not collected; behind the last of several threads they are as before the first."""
    global _running, _enabled
    with _LOCK:
        if not _running:
            _enabled = gc.isenabled()
            gc.disable()
        _running += 1
    try:
        yield
    finally:
        with _LOCK:
            _running = max(_running - 1, 0)  # 0: of a fork in the middle
            if not _running and _enabled:
                gc.enable()


def _forked() -> None:
    """In the child of a fork there are no other threads: none of their compilations will end."""
    global _LOCK, _running
    _LOCK = threading.Lock()
    if _running and _enabled:
        gc.enable()
    _running = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

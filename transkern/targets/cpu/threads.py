"""How many threads the kernels of this process may use: one number for all emitted modules, which count together."""

from __future__ import annotations

import os
from operator import index
from types import ModuleType

_TOO_MANY = 2**31  # OpenMP counts them in a C int


class _State:
    """`limit`: what the user has set (0: nothing). `shares`: the module whose counts all use, if one is loaded."""

    limit = 0
    shares: ModuleType | None = None


def set_num_threads(threads: int) -> None:
    """How many threads compiled functions on the CPU may use together, from the next call on, in this process.

    The default is OpenMP's: `OMP_NUM_THREADS`, or one for each core that the process may run on. Functions that run at
    the same time, in threads of the caller's, share them; each has one at least. ``compile(threads=…)`` gives one
    function fewer.

    Raises:
        TypeError: `threads` is not an integer.
        ValueError: it is less than 1, or more than a C int holds.
    """
    _State.limit = checked(threads)
    if _State.shares is not None:
        _State.shares.limit(_State.limit)


def get_num_threads() -> int:
    """How many threads compiled functions on the CPU may use together."""
    if _State.limit:
        return _State.limit
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if given.isdigit() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked(threads: int) -> int:
    """`threads`, if it is a number of threads."""
    number = index(threads)
    if number < 1:
        raise ValueError(f"threads must be 1 or more, not {number if number > -_TOO_MANY else 'so far below'}")
    if number >= _TOO_MANY:
        raise ValueError(f"threads is too large: there are at most {_TOO_MANY - 1}")
    return number


def adopt(module: ModuleType) -> None:
    """A module that has been loaded counts its kernels with all others."""
    if not hasattr(module, "share"):  # no kernel of it is ever long
        return
    if _State.shares is None:
        _State.shares = module
        module.limit(_State.limit)
    module.share(_State.shares.share(0))

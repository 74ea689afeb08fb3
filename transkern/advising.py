"""``advice=True``, or TRANSKERN_ADVICE=1: a function that compiles and disappoints says so, once for each reason.

Nobody hears of these who has not asked: of many functions it is known, and of no matter, that a loop is in order.
"""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern import refusals
from transkern.errors import PerformanceWarning, TranskernError
from transkern.runtime.boundary import callers_depth, own_errors

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled
    from transkern.runtime.specialisation import Specialisation

VARIABLE = "TRANSKERN_ADVICE"

_CALLS = 16  # with arrays of NumPy's on a device, or of the same types, after which something is said
_TIMED = 5  # calls, of which the quickest counts
_LOST = 1.2  # times NumPy's time from which code is slower
_SHORT = 2e-5  # seconds that are nobody's concern
_NEVER = float("inf")


def asked_for() -> bool:
    """Whether the environment asks for advice."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


class Adviser:
    """What is said of one function, and what has been said."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._told: set[str] = set()
        self._known: dict[int, tuple[Specialisation, bool]] = {}  # and whether NumPy may run beside it
        self._calls: dict[int, int] = {}
        self._copied = 0  # calls whose arrays were copied to a device

    def around(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Around a call."""
        return _Call(self, args, keywords)

    def count(self) -> int:
        """How often there has been new code."""
        known = self._compiled.cache_info()
        return known.compiled + known.from_disk

    def ended(self, is_new: bool, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """A call has ended, for which there was new code or not."""
        made = self._compiled.known.last
        if made is None:
            return
        if id(made) not in self._known:
            self._known[id(made)] = made, self._says(made)
        if is_new:
            return
        if made.target == "cuda":
            self._count_copies((*args, *keywords.values()))
        elif made.target == "cpu" and self._known[id(made)][1]:
            self._compare(made, args, keywords)

    def _says(self, made: Specialisation) -> bool:
        """What the text tells; whether NumPy may run beside."""
        from transkern.runtime.caching.building import advise

        with suppress(TranskernError), own_errors(self._compiled.function):
            found, may_run = advise(self._compiled.function, made.types, made.target)
            for one in found:
                self._say(str(one))
            return may_run
        return False

    def _count_copies(self, values: Sequence[Any]) -> None:
        """Calls with arrays that are copied to the device."""
        copied = [v for v in values if isinstance(v, np.ndarray)]
        self._copied += bool(copied)
        if self._copied == _CALLS:
            size = sum(v.nbytes for v in copied)
            self._say(
                f"`{self._name}` has been called {_CALLS} times with NumPy arrays: {in_bytes(size)} are copied to the "
                f"device at each call, and results back [{refusals.TRANSFERS.code}]\n"
                "  help: keep them there: x = cupy.asarray(x) once, and x.get() for what is needed here"
            )

    def _compare(self, made: Specialisation, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """The time of a call with NumPy's, once there have been some, on copies of the arguments."""
        self._calls[id(made)] = self._calls.get(id(made), 0) + 1
        if self._calls[id(made)] != _CALLS:
            return
        from transkern.runtime.profiling import in_seconds

        values = self._compiled._parameters.bind(args, keywords)
        pairs = [(_timed(self._compiled._fast, values), _timed(self._compiled.function, values)) for _ in range(_TIMED)]
        mine, numpys = min(a for a, _ in pairs), min(b for _, b in pairs)
        if mine != _NEVER and mine > max(_LOST * numpys, _SHORT):
            self._say(
                f"`{self._name}` takes {in_seconds(mine)} for arguments as these, and {in_seconds(numpys)} in NumPy "
                f"[{refusals.SLOWER.code}]\n"
                "  help: leave it to NumPy, or compile a function around it, which does more with each element; "
                "`explain` says what its kernels do"
            )

    @property
    def _name(self) -> str:
        return self._compiled.function.__name__

    def _say(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            warnings.warn(text, PerformanceWarning, stacklevel=callers_depth())


class _Call:
    """A call. (A generator would have frames of another module's between it and the caller.)"""

    def __init__(self, adviser: Adviser, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        self._adviser, self._args, self._keywords = adviser, args, keywords

    def __enter__(self) -> None:
        self._before = self._adviser.count()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self._adviser.ended(self._adviser.count() != self._before, self._args, self._keywords)


def _timed(function: Callable[..., Any], values: Sequence[Any]) -> float:
    """What a call takes, on copies; endless, where it does not give a result."""
    mine = copy.deepcopy(tuple(values))
    with np.errstate(all="ignore"), warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        if function(*mine) is not NotImplemented:
            return time.perf_counter() - started
    return _NEVER


def in_bytes(count: float) -> str:
    """A number of bytes, as one says it."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


"""Compiled functions as plain Python: for debuggers, coverage, profilers, and to see whether the compiler is to blame.

What a call does is swapped in the class of compiled functions, so that an enabled call asks nobody.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from transkern.runtime.compiled import Compiled
from transkern.warned import warn

VARIABLE = "TRANSKERN_DISABLE"
_ON, _OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")
_compiled_call = Compiled.__call__


def _python_call(self: Compiled, *args: Any, **keywords: Any) -> Any:
    return self.function(*args, **keywords)


def is_disabled() -> bool:
    """Whether compiled functions run as Python."""
    return Compiled.__call__ is not _compiled_call


def enable() -> None:
    """Run compiled functions as compiled code (again), in all threads."""
    Compiled.__call__ = _compiled_call  # type: ignore[method-assign]


class Disabled:
    """What `disable` gives: with it in a ``with`` statement, what was before holds again at its end."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._before:
            enable()


def disable() -> Disabled:
    """Run compiled functions as the Python that they are written in, in all threads, until `enable` is called:

    >>> with transkern.disable():
    ...     f(x)
    """
    before = is_disabled()
    Compiled.__call__ = _python_call  # type: ignore[method-assign]
    return Disabled(before)


def _is_asked_for() -> bool:
    """What the environment says; words that are neither yes nor no are told, and leave compiled code on."""
    text = os.environ.get(VARIABLE, "")
    if (word := text.strip().lower()) in _ON or word in _OFF:
        return word in _ON
    known = f"{', '.join(_ON)} (compiled functions run as Python) or {', '.join(_OFF[1:])}"
    warn(f"{VARIABLE} is {text[:40]!r}, which says nothing: write {known}")
    return False


if _is_asked_for():
    disable()

"""Compiled functions as plain Python: for debuggers, coverage, profilers, and to see whether the compiler is to blame.

What a call does is swapped in the class of compiled functions, so that an enabled call asks nobody. The class says so
itself when it is there (`governs`): whoever brings it in, `TRANSKERN_DISABLE` counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from transkern.warned import warn

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

VARIABLE = "TRANSKERN_DISABLE"
_ON, _OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class _State:
    """The class of compiled functions, once it is there; what a call of one does; whether it is to do that."""

    kind: type[Compiled] | None = None
    call: Callable[..., Any] | None = None
    disabled: bool | None = None  # None: nobody has said anything yet


def _python_call(self: Compiled, *args: Any, **keywords: Any) -> Any:
    return self.function(*args, **keywords)


def governs(kind: type[Compiled]) -> None:
    """`kind` is the class of compiled functions: they begin as the environment says, or who has been here before."""
    _State.kind, _State.call = kind, kind.__call__
    _swap(is_disabled())


def is_disabled() -> bool:
    """Whether compiled functions run as Python."""
    if _State.disabled is None:
        _State.disabled = _is_asked_for()
    return _State.disabled


def enable() -> None:
    """Run compiled functions as compiled code (again), in all threads."""
    _swap(False)


def _swap(disabled: bool) -> None:
    _State.disabled = disabled
    if _State.kind is not None:
        _State.kind.__call__ = _python_call if disabled else _State.call  # type: ignore[method-assign,assignment]


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
    _swap(True)
    return Disabled(before)


def _is_asked_for() -> bool:
    """What the environment says; words that are neither yes nor no are told, and leave compiled code on."""
    text = os.environ.get(VARIABLE, "")
    if (word := text.strip().lower()) in _ON or word in _OFF:
        return word in _ON
    known = f"{', '.join(_ON)} (compiled functions run as Python) or {', '.join(_OFF[1:])}"
    warn(f"{VARIABLE} is {text[:40]!r}, which says nothing: write {known}")
    return False

"""Whether somebody looks at each call, asked in a way that nobody sees.

A tracer or profiler is told of calls, also of those that a function makes to ask whether there is one: a debugger would
stop in code that is none of the user's, and a profile would list it. Of operators nobody is told. What an operator of a
class does may be a function of C, which gets no argument then; `sys.gettrace` and `sys.getprofile` take none.
"""

from __future__ import annotations

import functools
import operator
import sys
from typing import Any

_all_seen: list[None] = [None]
"""Empty once a function has ended, while somebody was looking, without telling so."""


class Probe:
    """``-probe`` is the thread's tracer or None, ``~probe`` its profiler."""

    __neg__: Any = sys.gettrace
    __invert__: Any = sys.getprofile


class Blind(Probe):
    """The same where all calls are to be seen."""

    __neg__: Any = {}.clear
    __invert__: Any = {}.clear


itself: Any = operator.attrgetter("__call__.__self__")
"""Gives a function back, and is none of Python's."""


_missed = functools.partial(_all_seen.clear)
"""A builtin function would be told to a profiler; an object that calls it is not."""


def told_unless_seen(end: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """What is called as a function ends: by whether there is a tracer, and whether there is a profiler."""
    return (end, _missed), (_missed, _missed)


def was_unseen() -> bool:
    """Whether, since this was asked last, a function has ended that has not told so."""
    if _all_seen:
        return False
    _all_seen.append(None)
    return True

"""Arguments of other types than those for which a function has code: compiled beside the script, one after the other.

A layer of a network is called with matrices of three shapes, a helper with a number and with an array. Nobody waits for
the code of the second one: such calls run in Python meanwhile, and are compiled by a copy of the process (`beside.py`)
once they have taken long enough; where the run ends sooner, for the next one. Where most calls of their size are such,
none of this size asks for code, for that takes as long as brief calls do; an object's first call, before it has all of
its attributes, is one of few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from transkern.dropin.beside import Beside, Outcome
from transkern.dropin.deciding import LATER, Record
from transkern.dropin.declining import COMPILED
from transkern.dropin.described import Described, made
from transkern.dropin.rewriting import Site

_MOST = 6  # choices of types for which copies compile one function
_SOME = 3  # declined calls of a size from which most of them may be such

Prepare = Callable[[tuple[Any, ...], dict[str, Any]], Outcome]
Work = tuple[Site, Callable[[], Outcome]]


@dataclass(slots=True)
class _Other:
    site: Site  # that of the function, with the size: what becomes of it is told apart
    call: Described | None
    python: float  # seconds that calls of this size had taken in Python, and the calls that code had taken, when it was
    served: int  # the first that had none
    declined: int = 1
    is_begun: bool = False


class Others:
    """Those of one function, by the size of what it is called with (`size_class`).

    Args:
        prepare: compiles the function for a call, in a copy of the process.
    """

    def __init__(self, site: Site, beside: Beside, prepare: Prepare) -> None:
        self._site, self._beside, self._prepare = site, beside, prepare
        self._found: dict[int, _Other] = {}
        self._refused: set[int] = set()
        self._count = 0  # of those for which code was to be compiled

    def add(self, size: int, record: Record, call: Callable[[], Described | None]) -> bool:
        """A call of this size is of other types; whether there is hope for code for it."""
        if size in self._found:
            self._found[size].declined += 1
            return True
        known = None
        while size not in self._refused and self._count < _MOST:
            site = replace(self._site, name=f"{self._site.name} {size} {self._count}")
            self._count += 1
            known = self._beside.recalled(site)
            if known is None:
                self._found[size] = _Other(site, call(), _in_python(size, record), _served(size, record))
                return True
            if known["state"] != COMPILED:  # else it was compiled for others, of the same size
                self._refused.add(size)
        return False

    def run_in_python(self, size: int, record: Record, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a call runs in Python as its code is not there yet; which it may have come to the turn of."""
        one = self._found.get(size)
        if one is None or one.declined < _SOME or one.declined <= _served(size, record) - one.served:
            return False
        beside = self._beside
        if one.is_begun:
            found = beside.outcome(one.site)
            if found is None and beside.is_waiting_for(one.site):
                return True
            del self._found[size]
            if found is None or found["state"] != COMPILED:
                self._refused.add(size)
            return size in self._refused
        if _is_worth(size, one, record) and not beside.is_busy() and beside.may_start():
            one.is_begun = beside.start([(one.site, lambda: self._prepare(args, keywords))])
        return True

    def left(self, record: Record) -> list[Work]:
        """What is worth compiling now that the run has ended."""
        return [
            (one.site, partial(self._as_described, one.call)) for size, one in self._found.items()
            if one.call is not None and not one.is_begun and _is_worth(size, one, record)
        ]  # fmt: skip

    def _as_described(self, call: Described) -> Outcome:
        return self._prepare(*made(call))


def _is_worth(size: int, one: _Other, record: Record) -> bool:
    return _in_python(size, record) - one.python >= LATER * record.cost


def _in_python(size: int, record: Record) -> float:
    """Seconds that calls of a size have taken in Python."""
    return record.python[size].seconds if size in record.python else 0.0


def _served(size: int, record: Record) -> int:
    """Calls of a size that code has taken."""
    return record.compiled[size].calls if size in record.compiled else 0

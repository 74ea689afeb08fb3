"""Arguments of other types than those for which a function has code: compiled beside the script, one after the other.

A layer of a network is called with matrices of three shapes, a helper with a number and with an array. Nobody waits for
the code of the second one: calls of its size run in Python meanwhile, and are compiled by a copy of the process
(`beside.py`) once they have taken long enough; where the run ends sooner, for the next one.
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

Prepare = Callable[[tuple[Any, ...], dict[str, Any]], Outcome]
Work = tuple[Site, Callable[[], Outcome]]


@dataclass(slots=True)
class _Other:
    site: Site  # that of the function, with the size: what becomes of it is told apart
    call: Described | None
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

    def add(self, size: int, call: Callable[[], Described | None]) -> bool:
        """A call of this size is of other types; whether there is hope for code for it."""
        if size in self._found:
            return True
        known = None
        while size not in self._refused and self._count < _MOST:
            site = replace(self._site, name=f"{self._site.name} {size} {self._count}")
            self._count += 1
            known = self._beside.recalled(site)
            if known is None:
                self._found[size] = _Other(site, call())
                return True
            if known["state"] != COMPILED:  # else it was compiled for others, of the same size
                self._refused.add(size)
        return False

    def run_in_python(self, size: int, record: Record, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a call runs in Python as its code is not there yet; which it may have come to the turn of."""
        one = self._found.get(size)
        if one is None:
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
        if _is_worth(size, record) and not beside.is_busy() and beside.may_start():
            one.is_begun = beside.start([(one.site, lambda: self._prepare(args, keywords))])
        return True

    def left(self, record: Record) -> list[Work]:
        """What is worth compiling now that the run has ended."""
        return [
            (one.site, partial(self._as_described, one.call)) for size, one in self._found.items()
            if one.call is not None and not one.is_begun and _is_worth(size, record)
        ]  # fmt: skip

    def _as_described(self, call: Described) -> Outcome:
        return self._prepare(*made(call))


def _is_worth(size: int, record: Record) -> bool:
    spent = record.python.get(size)
    return spent is not None and spent.seconds >= LATER * record.cost

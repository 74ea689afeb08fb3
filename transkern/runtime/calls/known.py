"""What is known of a function that has been called: its code by types, what was refused, what all of it holds for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from transkern.errors import TypesNeeded
from transkern.runtime.caching.watching import Conditions, unchanged
from transkern.runtime.measuring import Run
from transkern.runtime.specialisation import CacheInfo, Specialisation

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


@dataclasses.dataclass(slots=True)
class Known:
    """The code of a function, by the target and the types that it is for.

    `shaped`: by the number of arguments that are made up of others, what calls with such arguments went to last.
    `demands`: which numbers and sizes must be constants. `refused`: what runs for types that are refused. `outcomes`:
    what is returned for types, where a framework has asked. `verified`: code that has been compared with NumPy, by
    identity. `unchanged` tells whether what `watched` code was compiled with is the same, where there is any.
    """

    code: dict[tuple[Any, ...], Specialisation] = dataclasses.field(default_factory=dict)
    shaped: dict[int, list[Callable[[Sequence[Any]], Any]]] = dataclasses.field(default_factory=dict)
    demands: set[str] = dataclasses.field(default_factory=set)
    refused: dict[tuple[Any, ...], Callable[..., Any]] = dataclasses.field(default_factory=dict)
    outcomes: dict[tuple[Any, ...], Any] = dataclasses.field(default_factory=dict)
    last: Specialisation | None = None
    info: CacheInfo = dataclasses.field(default_factory=CacheInfo)
    verified: set[int] = dataclasses.field(default_factory=set)
    unchanged: Callable[[], bool] | None = None
    watched: list[Specialisation] = dataclasses.field(default_factory=list)

    def forget(self) -> None:
        """What the function was compiled with has changed: the code is not for later calls."""
        self.code.clear()
        self.shaped.clear()
        self.refused.clear()
        self.outcomes.clear()
        self.unchanged, self.watched = None, []

    def watch(self, made: Specialisation) -> None:
        """From now on calls ask whether what `made` was compiled with is the same. Other threads may do this, or forget
        all, meanwhile: so it is done after code has been put where calls find it, and until nobody interfered."""
        if any(known is made for known in self.watched):
            return
        self.watched.append(made)
        known: list[Specialisation] = []
        while len(known) != len(self.watched):
            known = list(self.watched)
            conditions: Conditions = {}
            for one in known:
                conditions.update(one.conditions or {})
            self.unchanged = unchanged(conditions)

    def serve(self, made: Specialisation) -> None:
        """A call goes to code that is known."""
        self.last = made
        self.info.hits += 1

    def count(self, made: Specialisation) -> None:
        """Code that has been compiled, or loaded."""
        self.info.compiled += not made.from_cache
        self.info.from_disk += made.from_cache
        self.info.specialisations.append(f"{made.target}: ({', '.join(map(str, made.types))})")
        if made.profile is not None and Run.active is not None:
            Run.active.sources.append(made.profile)

    def latest(self, name: str) -> Specialisation:
        """The code of the last call of the function that is called `name`. Raises TypesNeeded before the first."""
        if self.last is None:
            raise TypesNeeded(f"`{name}` has not been called yet")
        return self.last


def renew(compiled: Compiled) -> None:
    """Forgets all code of a function where what it was made from has changed, as a call would."""
    unchanged = compiled.known.unchanged
    if compiled._running.__code__ is not compiled._code or (unchanged is not None and not unchanged()):
        compiled._forget()

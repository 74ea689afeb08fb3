"""What is known of a function that has been called: its code by types, what was refused, what all of it holds for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from transkern.errors import TypesNeeded
from transkern.ir.storage import FEW, SMALL_SIZES
from transkern.runtime.caching.watching import Conditions, unchanged
from transkern.runtime.measuring import Run
from transkern.runtime.specialisation import CacheInfo, Specialisation
from transkern.runtime.structures import VARIES, is_of_characters, is_of_integers

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


_SEEN = 2
"""Values of a tuple of integers, or of a text, that there is code for, each."""

_LONG, _MANY_TEXTS = 24, 8
"""Characters from which a text is no option; the same of so many texts."""

_TRIED = 4
"""Code that a call tries before its types are looked at."""


def _in_turn(calls: tuple[Callable[..., Any], ...], *args: Any) -> Any:
    for call in calls:
        result = call(*args)
        if result is not NotImplemented:
            return result
    return NotImplemented


@dataclasses.dataclass(slots=True)
class Known:
    """The code of a function, by the target and the types that it is for.

    `demands`: which numbers and sizes must be constants. `small`: types with sizes that are constants because they are
    small. `seen`: by their paths, the tuples of integers and the texts that there is code for. `fast`: what calls go to
    without a look at their types, by identity of the code, the latest last. `refused`: what runs for types that are not
    compiled.
    `outcomes`: what is returned for types, where a framework has asked. `verified`: code that has been compared with
    NumPy, by identity. `unchanged` tells whether what `watched` code was compiled with is the same, where there is any.
    """

    code: dict[tuple[Any, ...], Specialisation] = dataclasses.field(default_factory=dict)
    demands: set[str] = dataclasses.field(default_factory=set)
    small: set[tuple[Any, ...]] = dataclasses.field(default_factory=set)
    seen: dict[str, set[Any]] = dataclasses.field(default_factory=dict)
    fast: dict[int, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    refused: dict[tuple[Any, ...], Callable[..., Any]] = dataclasses.field(default_factory=dict)
    outcomes: dict[tuple[Any, ...], Any] = dataclasses.field(default_factory=dict)
    only_any_size: bool = False  # as code for small sizes has been refused
    only_known_texts: bool = False  # the same of texts by their characters
    texts_vary: bool = False  # which long ones are taken to do at the first call
    last: Specialisation | None = None
    info: CacheInfo = dataclasses.field(default_factory=CacheInfo)
    verified: set[int] = dataclasses.field(default_factory=set)
    unchanged: Callable[[], bool] | None = None
    watched: list[Specialisation] = dataclasses.field(default_factory=list)

    def forget(self) -> None:
        """What the function was compiled with has changed: the code is not for later calls."""
        self.code.clear()
        self.refused.clear()
        self.outcomes.clear()
        self.small.clear()
        self.seen.clear()
        self.only_any_size = self.only_known_texts = False
        self.fast.clear()
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

    @property
    def takes_small(self) -> bool:
        """Whether there may be more code for small sizes."""
        return not self.only_any_size and len(self.small) < SMALL_SIZES

    def refuse_small(self, demands: set[str]) -> set[str]:
        """Takes those of the demands back that are of small sizes, for good, as code for these is refused (a list of a
        length that is known is another thing than one that grows); which they were."""
        few = {demand for demand in demands if demand.endswith(FEW)}
        if few:
            self.only_any_size = True
            self.small.clear()
            self.demands -= few
        return few

    def types(self, of: Callable[[set[str]], tuple[Any, ...]], demands: set[str]) -> tuple[Any, ...]:
        """The types of a call's arguments, `of` what is demanded: with small sizes as constants, unless there is code
        for many of them."""
        found, general = of(demands), {demand for demand in demands if not demand.endswith(FEW)}
        if self.only_any_size:
            return _without_extents(found)
        if len(general) == len(demands) or found in self.small:
            return found
        for_any = of(general)
        if found == for_any:
            return found
        if not self.takes_small:
            return _without_extents(for_any)
        self.small.add(found)
        return found

    def varying(self, given: Iterable[tuple[str, Any]]) -> set[str]:
        """What is demanded of tuples of integers, for which there is to be more code, as they are others again and
        again (positions, and not shapes or axes), and of such texts (data, and not options): that their numbers or
        characters are arguments."""
        found: set[str] = set()
        for path, value in given:
            if is_of_integers(value) or (not self.only_known_texts and is_of_characters(value)):
                seen = self.seen.setdefault(path, set())
                seen.add(value)
                at_once = self.texts_vary and type(value) is str and len(value) >= _LONG
                if at_once or (len(seen) > _SEEN and _are_data(seen)):
                    found.add(path + VARIES)
        return found - self.demands

    def by_characters(self, given: Iterable[tuple[str, Any]]) -> bool:
        """Whether there are texts among the arguments whose characters are arguments."""
        return any(type(value) is str and path + VARIES in self.demands for path, value in given)

    def refuse_texts(self, demands: set[str]) -> set[str]:
        """Takes those of the demands back that are of texts, for good, as code for these is refused; which they
        were."""
        of_texts = {path + VARIES for path, seen in self.seen.items() if any(type(v) is str for v in seen)}
        texts = demands & of_texts
        if texts:
            self.only_known_texts = True
            self.demands -= texts
        return texts

    def faster(self, made: Specialisation, call: Callable[..., Any]) -> Callable[..., Any]:
        """What tries the code that was called last, and before that, as long as the arguments are for none of it."""
        self.fast.pop(id(made), None)
        self.fast[id(made)] = call
        calls = tuple(self.fast.values())[: -_TRIED - 1 : -1]
        return call if len(calls) == 1 else functools.partial(_in_turn, calls)

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


def _are_data(seen: set[Any]) -> bool:
    """Whether values are not the few that options have."""
    return len(seen) > _MANY_TEXTS or any(not isinstance(v, str) or len(v) >= _LONG for v in seen)


def _without_extents(types: tuple[Any, ...]) -> tuple[Any, ...]:
    """Types of which nobody asks whether their sizes are small."""
    return tuple(dataclasses.replace(t, extents=()) if hasattr(t, "extents") else t for t in types)


def renew(compiled: Compiled) -> None:
    """Forgets all code of a function where what it was made from has changed, as a call would."""
    unchanged = compiled.known.unchanged
    if compiled._running.__code__ is not compiled._code or (unchanged is not None and not unchanged()):
        compiled._forget()

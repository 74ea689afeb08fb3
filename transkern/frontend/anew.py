"""What ends the translation of a block, or of all: then it begins anew, with what has become known."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from transkern.errors import CompileError
from transkern.frontend.values.values import Kind, PoolKey

Site = tuple[Any, ...]
"""Where a list, dict or object is made."""


class Terminated(Exception):
    """The block being translated has ended (return, raise, break, continue)."""


class MustGrow(Exception):
    """A list changes its length in run-time code: the translation begins anew, with the list as one that grows, and
    with the `others` that do so at the same place: else it would begin anew for each of them."""

    def __init__(self, site: Site, problem: CompileError, others: Collection[Site] = ()) -> None:
        self.site, self.problem, self.others = site, problem, others


class MustLoop(Exception):
    """A function calls itself more often than can be written out: the translation begins anew, with the function as a
    loop over a stack (`recursion`)."""

    def __init__(self, node: ast.FunctionDef, problem: CompileError) -> None:
        self.node, self.problem = node, problem


class Shared(CompileError):
    """A loop's first iteration stores into memory that others see, the later ones into the loop's own."""


class NotKnown(CompileError):
    """Something must be known at specialisation: it may be, where a loop is unrolled.

    Where it is not, the translation begins anew, if a list only has to hold numbers of other types (`wanted`), or to be
    one of rows of one length (`table`) or of any length (`ragged`), or to have None in it (`optional`), or a list or
    dict to be one of which only the run knows what is in it (`grown`), or the objects of a class to stand in lists
    (`pooled`: the class, and the names of its attributes).
    """

    wanted: tuple[Site, tuple[str, bool]] | None = None
    table: Site | None = None
    ragged: Site | None = None
    optional: Site | None = None
    grown: Site | None = None  # a list or dict that is known, of which only the run knows which element is meant
    characters: Site | None = None  # a list that has characters in it which only the run knows
    pooled: tuple[PoolKey, tuple[str, ...]] | None = None
    grows: str | None = None  # the name of an array that a loop makes longer, which needs room for that
    settles: bool = False  # an iteration changes the type of a name: behind the first, it may be one for all
    together: frozenset[Site] | None = None  # lists of which a number tells which is meant
    forked: Site | None = None  # a statement behind which each path is translated by itself
    early: Site | None = None  # where a value is evaluated that a loop or a branch beside it would change

    @property
    def begins_anew(self) -> bool:
        lists = self.wanted, self.table, self.ragged, self.optional, self.grown, self.characters, self.pooled
        return any(one is not None for one in (*lists, self.grows, self.together, self.forked, self.early))


class Becomes(NotKnown):
    """A name is a number before a loop, and an array from its first iteration on."""


@dataclass
class Held:
    """The types of the numbers that lists of several types hold, as far as is known, by the lists' sites (None: of any
    list); `told`: what was said when numbers were read. `untold`: lists that get numbers of which nothing tells whether
    they are Python's or NumPy's, so that all are held in NumPy's type."""

    kinds: dict[Site | None, set[Kind]] = field(default_factory=dict)
    told: dict[Site | None, set[Kind]] = field(default_factory=dict)
    untold: set[Site] = field(default_factory=set)
    again: bool = False  # a list has become one of these

    def begin(self) -> None:
        """The function is translated once more."""
        self.told.clear()
        self.again = False

    def leave_untold(self, site: Site) -> None:
        self.again = self.again or site not in self.untold
        self.untold.add(site)

    def note(self, site: Site | None, kinds: Iterable[Kind]) -> None:
        for key in {site, None}:
            self.kinds.setdefault(key, set()).update(kinds)

    def tell(self, site: Site | None) -> set[Kind]:
        known = self.kinds.get(site, set())
        return self.told.setdefault(site, set(known))

    def is_settled(self) -> bool:
        """Whether nothing has become known of a list since numbers were read from it."""
        return not self.again and all(self.kinds.get(site, set()) == kinds for site, kinds in self.told.items())

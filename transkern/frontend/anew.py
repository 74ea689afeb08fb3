"""What ends the translation of a block, or of all: then it begins anew, with what has become known."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from transkern.errors import CompileError
from transkern.frontend.values.values import Kind

Site = tuple[Any, ...]
"""Where a list, dict or object is made."""


TRIED = ("comprehensions in a try",)
"""What `early` has where a handler takes what a comprehension raises: all are computed before their statements."""


class Finding(NamedTuple):
    """What a translation has found out, and the next one begins with: it goes into the set or dict `what` of
    `state.learned.Learned`, as a site, or what else is told apart there, and in a dict with a value."""

    what: str
    of: Any
    value: Any = None


class Terminated(Exception):
    """The block being translated has ended (return, raise, break, continue)."""


class MustGrow(Exception):
    """A list changes its length in run-time code: the translation begins anew, with the list as one that grows, and
    with the `others` that do so at the same place: else it would begin anew for each of them."""

    def __init__(self, site: Site, problem: CompileError, others: Collection[Site] = ()) -> None:
        self.site, self.problem, self.others = site, problem, others


class PutOff(Exception):
    """A translation has ended that was for nobody, as it has looked for what the next one is to know: it may have ended
    by a list that `must` grow."""

    def __init__(self, must: MustGrow | None = None) -> None:
        self.must = must


class MustDraw(Exception):
    """NumPy is to draw from a generator that others share, whose state was lent."""


class MustLoop(Exception):
    """A function calls itself more often than can be written out: the translation begins anew, with the function as a
    loop over a stack (`recursion`)."""

    def __init__(self, node: ast.FunctionDef, problem: CompileError) -> None:
        self.node, self.problem = node, problem


class Shared(CompileError):
    """A loop's first iteration stores into memory that others see, the later ones into the loop's own."""


class NotKnown(CompileError):
    """Something must be known at specialisation: it may be, where a loop is unrolled.

    Where it is not, the translation begins anew, if there is a finding with which the next one does without.
    """

    finding: Finding | None = None
    settles: bool = False  # an iteration changes the type of a name: behind the first, it may be one for all

    @property
    def begins_anew(self) -> bool:
        return self.finding is not None

    def finds(self, *kinds: str) -> bool:
        """Whether the translation begins anew with a finding of one of these kinds."""
        return self.finding is not None and self.finding.what in kinds


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
    put_off: dict[Site, Finding] = field(default_factory=dict)  # what the next translation knows: this looks for more

    def begin(self) -> None:
        """The function is translated once more."""
        self.told.clear()
        self.put_off.clear()
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

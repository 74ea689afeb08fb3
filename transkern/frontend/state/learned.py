"""What earlier translations of the same function have found out, which the present one begins with."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from transkern.frontend.anew import Held, Site
from transkern.frontend.values.values import PoolKey


@dataclass
class Learned:
    """Lists by where they are made, functions that are loops over a stack, and what else makes a translation begin
    anew (`anew`)."""

    growing: set[Site] = field(default_factory=set)  # lists that run-time code appends to
    fixed: set[Site] = field(default_factory=set)  # comprehensions whose lists have been of known lengths so far
    # lists of several types of numbers: one that holds all
    wanted: dict[Site, tuple[str, bool]] = field(default_factory=dict)
    held: Held = field(default_factory=Held)  # and the types
    tables: set[Site] = field(default_factory=set)  # lists of short lists whose items change
    ragged: set[Site] = field(default_factory=set)  # lists of lists that have lengths of their own
    characters: set[Site] = field(default_factory=set)  # lists that have characters in them which only the run knows
    optional: set[Site] = field(default_factory=set)  # lists that have None among their elements
    # classes whose objects stand in lists, and their attributes
    pooled: dict[PoolKey, tuple[str, ...]] = field(default_factory=dict)
    lengthened: set[str] = field(default_factory=set)  # names of arrays that loops make longer
    together: dict[Site, Site] = field(default_factory=dict)  # lists that stand in one memory: one of them for all
    forked: set[Site] = field(default_factory=set)  # statements that choose, whose paths meet at their block's end
    early: set[Site] = field(default_factory=set)  # where values that wait for what is beside them are computed at once
    looping: set[ast.FunctionDef] = field(default_factory=set)  # functions that call themselves: loops over a stack
    not_looping: str = ""  # why such a loop cannot be had
    grows: bool = True  # whether the target has lists without a bound
    spelling: bool = False  # whether texts that grow are lists
    may_spell: bool = False  # whether some might be
    tuples: bool = False  # whether tuples may have a length that only the run knows
    may_have_tuples: bool = False  # whether some might
    # lists that grow since their loops would be long to write out; None: they are written out
    given_up: set[Site] | None = None
    left_out: Collection[ast.stmt] = ()  # statements that are not translated

    def has_tuples(self) -> bool:
        """Whether a tuple may have a length that only the run knows; if not, the next translation may be asked."""
        self.may_have_tuples = True
        return self.tuples

    def recursion(self, chain: Sequence[ast.AST]) -> ast.FunctionDef | None:
        """The innermost function that is called again and again, where it may become a loop over a stack."""
        for position, node in reversed(list(enumerate(chain))):
            if node in chain[:position] and isinstance(node, ast.FunctionDef) and node not in self.looping:
                return node if self.grows and not self.not_looping else None
        return None

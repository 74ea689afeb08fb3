"""What earlier translations of the same function have found out, which the present one begins with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from transkern import limits
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.anew import Finding, Held, MustGrow, MustLoop, Site
from transkern.frontend.syntax.desugar import OF_CALLERS, PLACES
from transkern.frontend.values.values import PoolKey


@dataclass
class Spelling:
    """Whether texts that the run makes are lists of their characters (`begun`), and whether there are such (`asked`);
    `names` are those of texts that grow and do not begin as texts in quotes; `given`: a text among the arguments is
    known by its characters, whose number no constant would tell; `parted`: texts are taken apart into words."""

    begun: bool = False
    given: bool = False
    parted: bool = False
    asked: bool = False
    names: set[str] = field(default_factory=set)

    @property
    def may_copy(self) -> bool:
        """Whether a text may have memory of its own in a loop or behind a branch, which is copied each time: not where
        one that grows may be a list, which nobody copies."""
        return self.begun or not self.asked


@dataclass
class Learned:
    """Lists by where they are made, functions that are loops over a stack, and what else makes a translation begin
    anew (`anew`). One for all translations of a function."""

    grows: bool = True  # whether the target has lists without a bound
    # lists that grow since their loops would be long to write out; None: they are written out
    given_up: set[Site] | None = None

    # findings
    growing: set[Site] = field(default_factory=set)  # lists that run-time code appends to, and dicts with its keys
    # lists of several types of numbers: one that holds all
    wanted: dict[Site, tuple[str, bool]] = field(default_factory=dict)
    held: Held = field(default_factory=Held)  # and the types
    tables: set[Site] = field(default_factory=set)  # lists of short lists whose items change: rows of one length
    ragged: set[Site] = field(default_factory=set)  # lists of lists that have lengths of their own
    characters: set[Site] = field(default_factory=set)  # lists that have characters in them which only the run knows
    formatted: dict[Site, int] = field(default_factory=dict)  # lists of texts: the most run-time numbers in one
    optional: set[Site] = field(default_factory=set)  # lists that have None among their elements
    # classes whose objects stand in lists, and their attributes
    pooled: dict[PoolKey, tuple[str, ...]] = field(default_factory=dict)
    lengthened: set[str] = field(default_factory=set)  # names of arrays that loops make longer, which need room for it
    # lists that stand in one memory, one of them for all; sets that have a name and stand in a list, in that of sets
    together: dict[Site, Site] = field(default_factory=dict)
    forked: set[Site] = field(default_factory=set)  # statements that choose, whose paths meet at their block's end
    # where values that wait for what is beside them are computed at once; `TRIED`: comprehensions in a `try`
    early: set[Site] = field(default_factory=set)

    # functions that call themselves, texts that grow, tuples
    looping: set[ast.FunctionDef] = field(default_factory=set)  # functions that call themselves: loops over a stack
    not_looping: str = ""  # why such a loop cannot be had, behind why the function cannot be written out
    spelling: Spelling = field(default_factory=Spelling)
    tuples: bool = False  # whether tuples may have a length that only the run knows
    # what was in the way before texts were lists, and what must be known where tuples have no such length
    _before: tuple[CompileError | None, NeedsConstant | None] = (None, None)
    budget: limits.Budget = field(default_factory=limits.budget)

    # of the present translation
    _grown: set[Site] = field(default_factory=set)  # what grew when it began: it may be given up for what it finds
    fixed: set[Site] = field(default_factory=set)  # comprehensions whose lists have been of known lengths so far
    may_have_tuples: bool = False  # whether there are tuples that could have a length which only the run knows

    def begin(self) -> None:
        """The function is translated, for the first time or once more."""
        self.held.begin()
        self._grown = set(self.growing)
        self.fixed, self.spelling.asked, self.may_have_tuples = set(), False, False

    def of_list(self, what: str, site: Site | None) -> Finding | None:
        """What to begin anew with, for a list that is made at a place in the function; None where that is known."""
        if site is None or site[0] in ("fixed", "argument") or site in getattr(self, what):
            return None
        return Finding(what, site)

    def learn(self, finding: Finding) -> bool:
        """Whether the next translation begins with something that this one did not know."""
        known = getattr(self, finding.what)
        if finding.what == "together":
            return self._stand_together(finding.of)
        if isinstance(known, dict):
            new = finding.of not in known or known[finding.of] != finding.value
            known[finding.of] = finding.value
        else:
            new = finding.of not in known
            known.add(finding.of)
        return new

    def learn_put_off(self) -> None:
        """The same for what has been put off."""
        for finding in self.held.put_off.values():
            self.learn(finding)

    def _stand_together(self, sites: frozenset[Site]) -> bool:
        """Lists that stand in one memory from now on, with all that stand there with one of them already."""
        if sites <= self.together.keys() and len({self.together[site] for site in sites}) == 1:
            return False
        first = min(sites, key=repr)
        groups = {self.together[site] for site in sites if site in self.together}
        self.together |= {site: first for site, group in self.together.items() if group in groups}
        self.together |= dict.fromkeys(sites, first)
        return True

    def grow(self, must: MustGrow) -> None:
        """Lists grow from now on."""
        if must.site in self._grown:
            raise must.problem from None
        self.growing |= {must.site, *must.others}

    def note_stack(self, site: Site) -> None:
        """A list is made: one that a function which calls itself keeps its frames in grows if another such list does,
        as else each of its calls would begin the translation anew."""
        if _is_stack(site[-1]) and any(_is_stack(other[-1]) for other in self.growing):
            self.growing.add(site)

    def loop(self, must: MustLoop) -> None:
        """A function that calls itself is a loop from now on."""
        self.looping.add(must.node)
        self.budget.begin_again()

    def otherwise(self, problem: CompileError | NeedsConstant) -> bool:
        """Whether to begin anew where `problem` was in the way: with tuples of lengths that only the run knows, with
        texts as lists, without functions as loops, each once. Where that does not help, the problem before it is the
        one to be told of."""
        found = self._with_tuples(problem) or (
            self._without(problem) if isinstance(problem, CompileError) else self._with_lists_of_characters()
        )
        if found:
            self.budget.begin_again()
        return found

    def _with_tuples(self, problem: CompileError | NeedsConstant) -> bool:
        constant = self._before[1]
        if self.tuples and constant is not None:
            raise NeedsConstant(constant.demand, plain(constant.problem))
        if self.tuples or not self.may_have_tuples:
            return False
        self.tuples = True
        self._before = self._before[0], problem if isinstance(problem, NeedsConstant) else None
        return True

    def _with_lists_of_characters(self) -> bool:
        """The same where a number would have to be known: of a text that is given by its characters it is not."""
        if not self.spelling.given or not self.spelling.asked or self.spelling.begun:
            return False
        self.spelling.begun = True
        return True

    def _without(self, problem: CompileError) -> bool:
        unspelled = self._before[0]
        if self.spelling.begun and unspelled is not None:
            raise plain(unspelled)
        if self.spelling.asked and not self.spelling.begun:
            self.spelling.begun, self._before = True, (problem, self._before[1])
            return True
        if not self.looping:
            return False
        self.looping.clear()
        self.not_looping = f" to be written out, and as a loop it cannot be had: {problem.problem}"
        return True

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


def plain(problem: CompileError) -> CompileError:
    """A problem that nothing begins anew for: what the caller sees."""
    made = CompileError(problem.kind, problem.problem, problem.help, problem.span, problem.lines)
    made.path, made.own = problem.path, problem.own
    return made


def _is_stack(name: object) -> bool:
    return isinstance(name, str) and (name == PLACES or name.endswith(OF_CALLERS))

"""When a function of a script is worth compiling, and when compiled code is not worth keeping.

Nothing here runs or compiles anything: what was measured comes in, decisions go out, so that tests can play any run.

A compilation is an investment. It is made where the time that a function is expected to take in Python is several times
what compiling costs, and only out of *credit*: a small advance, a share of the time that the program has run, and what
compiled code has saved so far. A program in which nothing profits is therefore not slowed down by more than that, and
by a part (1 / `SURE`) of what its functions take.
The expected time is what an earlier run of the same text took, what this run has taken so far (who has run for a second
will often run for another), or, for a first call, a guess from the loops and the sizes of the arguments.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from transkern.dropin.rewriting import Head, Site
from transkern.dropin.trials import LOST, Trial

ADVANCE = 0.15
"""Seconds that may be lost in any case; as much again goes for what is loaded before a script begins."""
SHARE = 0.05
"""Of the time that the program has run."""
TIMES = 1.5
"""How many times the cost of compiling a function must be expected to take in Python."""
SURE = 2.0
"""The same where it is so much that credit is not asked for: of the cost, and of what there is in debt."""
GAIN = 0.8
"""The share of the time that an earlier run took in Python which compiled code is taken to save."""
TRUST = 0.3
"""The share of a guess that is relied upon: loops may be left early."""
PART, LEAST = 0.33, 0.5
"""Of the expected time, what translating a function may take before it is given up; seconds that it may in any case."""
LONG = 4.0
"""Times the cost of compiling that one call must take in Python for it to wait, where others can compile."""
LATER = 0.4
"""Times the cost of compiling that a run must have taken in a function to have it compiled when it has ended."""
LASTING = 0.2
"""The share of the cost that one run must save: there will be others, for which the code is kept."""

IMPORTS, COST, NODE_COST, AGAIN_COST = 0.25, 0.3, 2e-3, 0.04
"""Seconds: what is imported for the first compilation, each one, for each node of the syntax tree, and what code costs
that the cache has."""
LOADING = 0.1
"""What is imported for the first code that the cache has."""

ITERATION, OPERATION = 2e-8, 3e-8  # seconds, in Python, at the least
ELEMENT = 1e-9  # the same for each element in an operation of NumPy's
_SAMPLES = 3  # calls before that is said
_MANY_SAMPLES = 32
_WARM, _WARM_SAMPLES = 3e-4, 10  # seconds of a call of which what is new at its first times is a part, and such calls
_NOTABLE = 0.2  # of the time in Python, which a size takes
_SMALL = 2e-4  # seconds of compiled code below which NumPy is tried as well, where nobody knows its time
_TINY = 2e-5  # seconds of Python's below which a call of compiled code can save nothing
_MANY = 200  # calls before that is said
_TIMING, _TIMING_SHARE = 1e-5, 0.02  # seconds that timing a call takes, and the share of the call that it may
_SAMPLED, _BRIEF = 64, 5e-4  # calls from which, and seconds below which some go by untimed
_LARGEST = 10**9  # what is not taken for a count
_FEW = 10  # iterations of which nothing is known
_MOST = 50  # attributes of an object that are looked at


@dataclass(slots=True)
class Account:
    """What the program has cost and saved so far."""

    started: float
    cost: float = 0.0  # seconds spent on compilations
    saved: float = 0.0
    imported: bool = False

    def credit(self, now: float) -> float:
        return ADVANCE + SHARE * (now - self.started) + self.saved - self.cost

    def next_cost(self, record: Record) -> float:
        """What the next compilation of a function will cost."""
        if record.cached:
            return AGAIN_COST + (0.0 if self.imported or self.cost else LOADING)
        return record.cost + (0.0 if self.imported else IMPORTS)

    def charge(self, seconds: float, cached: bool) -> None:
        self.cost += seconds
        self.imported = self.imported or not cached


@dataclass(slots=True)
class Times:
    """Calls, and their seconds."""

    calls: int = 0
    seconds: float = 0.0
    least: float = math.inf
    most: float = 0.0

    def add(self, seconds: float, calls: int = 1) -> None:
        self.calls += calls
        self.seconds += seconds * calls
        self.least, self.most = min(self.least, seconds), max(self.most, seconds)

    @property
    def mean(self) -> float:
        return self.seconds / self.calls

    @property
    def usual(self) -> float:
        """The mean without the longest call: of compiled code the one in which something was loaded."""
        return (self.seconds - self.most) / (self.calls - 1) if self.calls > 1 else self.mean


@dataclass(slots=True)
class Record:
    """What is known of one function, by the size of its arguments (`size_class`)."""

    python: dict[int, Times] = field(default_factory=dict)
    compiled: dict[int, Times] = field(default_factory=dict)
    cost: float = COST  # seconds that it takes to compile
    before: float = 0.0  # seconds that an earlier run took in Python, in all, where it was not compiled
    calls: int = 0  # of that run
    runs: int = 0  # of such runs
    cached: bool = False  # whether an earlier run compiled it
    spent: float = 0.0  # seconds of Python's in all runs before, of which none has had it compiled
    slower: set[int] = field(default_factory=set)  # sizes for which compiled code is slower
    faster: set[int] = field(default_factory=set)  # those of which a trial has said that it is not
    trials: dict[int, Trial] = field(default_factory=dict)
    passing: int = 0  # calls that are to go by untimed
    passed: int = 0  # as many between the last one that was timed and the next
    _all_python: Times = field(default_factory=Times)
    _all_compiled: Times = field(default_factory=Times)

    def in_python(self) -> Times:
        """Its calls in Python, of all sizes: asked for at each call, so it is kept."""
        return self._all_python

    def in_code(self) -> Times:
        return self._all_compiled

    def add_python(self, size: int, seconds: float) -> None:
        """A call that was timed."""
        calls = self._stands_for(seconds)
        self.python.setdefault(size, Times()).add(seconds, calls)
        self._all_python.add(seconds, calls)
        if size in self.trials:
            self.trials[size].add(seconds, is_code=False)

    def let_pass(self) -> None:
        """Has as many calls go by untimed that timing them takes no notable share of what they take. (Not always as
        many, or each that is timed might be of one kind.)"""
        spent = self.in_python()
        if spent.calls >= _SAMPLED:
            self._pass(spent.calls, spent.mean)

    def add_compiled(self, size: int, seconds: float, guess: float) -> float:
        """The time that this call has saved, with those before it that went by untimed."""
        calls = self._stands_for(seconds)
        self.compiled.setdefault(size, Times()).add(seconds, calls)
        self._all_compiled.add(seconds, calls)
        if size in self.trials:
            self.trials[size].add(seconds, is_code=True)
        known = self.python.get(size)
        usual = self.before / self.calls if self.calls else 0.0
        return ((known.mean if known else max(guess, usual, seconds)) - seconds) * calls

    def let_code_pass(self, size: int) -> None:
        """`let_pass` for calls of compiled code, once it is known to be faster."""
        known = self.compiled[size]
        if known.calls >= _MANY_SAMPLES and not self.slower and not self.trials:
            self._pass(known.calls, known.usual)

    def _stands_for(self, seconds: float) -> int:
        """How many calls one is that was timed: with those before it that were not, unless it took long, as few do."""
        calls = 1 + self.passed if seconds < _BRIEF else 1
        self.passing = self.passed = 0
        return calls

    def _pass(self, calls: int, usual: float) -> None:
        if usual < _BRIEF:
            self.passing = self.passed = int(_TIMING / (_TIMING_SHARE * max(usual, _TINY))) + calls % 3

    def without_code(self) -> float:
        """Seconds that the function would have taken in Python, as far as anybody knows."""
        return max(self.before if self.compiled else 0.0, self.in_python().seconds + self.saved(), 0.0)

    def saved(self) -> float:
        """Seconds that compiled calls have saved against Python's for arguments of the same sizes."""
        python, code = self._compared()
        return python - code

    def saved_by_all(self) -> float | None:
        """Seconds that the function has saved where all of its calls were compiled, as far as anybody knows."""
        if self.python or not self.compiled or not self.before:
            return None
        return max(self.without_code() - self.in_code().seconds, 0.0)

    def times(self) -> float:
        """How many times as fast compiled calls were, for sizes that ran in Python too; 0 where there are none."""
        python, code = self._compared()
        return python / code if code else 0.0

    def _compared(self) -> tuple[float, float]:
        """Seconds of Python's, as its calls take for these sizes, for the compiled calls, and those that they took."""
        both = [(self.python[size], code) for size, code in self.compiled.items() if size in self.python]
        return sum(code.calls * known.mean for known, code in both), sum(code.seconds for _, code in both)

    def may_take(self, guess: float, running: float) -> float:
        """Seconds that translating the function may take: a part of what it is expected to take in Python from now on.
        `running`: those of a call that has begun and calls itself."""
        spent = self.in_python().seconds + running
        return max(PART * max(spent, TRUST * guess, self.before - spent), LEAST)

    def is_worth(self, guess: float, running: float, account: Account, now: float) -> bool:
        """Whether the next call is to be compiled."""
        spent = self.in_python().seconds + running
        cost, credit = account.next_cost(self), account.credit(now)
        known = GAIN * (self.before - spent)
        left = ADVANCE if self.runs else 0.0  # that the run before has not used
        if known >= cost or (known >= LASTING * cost and credit + left >= cost - known):
            return True
        expected = max(spent, TRUST * guess)
        return expected >= TIMES * cost and (credit >= cost or expected >= SURE * (cost + max(0.0, -credit)))

    def is_worth_beside(self, guess: float, running: float) -> bool:
        """Whether a copy of the process is to compile the function while the run goes on, for which nobody waits, but
        which takes a processor, and some of what this one could do beside it."""
        spent, cost = self.in_python().seconds + running, self.cost + IMPORTS
        return max(spent, TRUST * guess, self.before - spent) >= TIMES * cost

    def is_worth_later(self) -> bool:
        """The same when the run has ended, with what those before it have spent: a function that takes little each time
        is worth it once there have been many."""
        now = self.in_python().seconds
        return now >= TIMES * (AGAIN_COST + LOADING / 2) and now + self.spent >= LATER * (self.cost + IMPORTS)

    def is_long(self, guess: float, account: Account, now: float) -> bool:
        """Whether the call at hand is expected to take so long in Python that it should wait for compiled code."""
        usual = self.before / self.calls if self.calls else 0.0
        known = self.in_python()
        call = max(TRUST * guess, usual, known.mean if known.calls else 0.0)
        return call >= LONG * (account.next_cost(self) + max(0.0, -account.credit(now)))

    def is_hopeless(self) -> bool:
        """Whether its calls are so short that there is nothing to save."""
        return self.in_python().calls >= _MANY and self.is_brief()

    def is_brief(self) -> bool:
        """The same of its first calls."""
        spent = self.in_python()
        return spent.calls >= _SAMPLES and spent.mean < _TINY

    def wants_python(self, size: int) -> bool:
        """Whether a call is to run in Python, which is faster, or as nobody knows how long that takes."""
        if size in self.slower:
            return True
        if size in self.trials:
            return self.trials[size].is_pythons_turn()
        known, code = self.python.get(size), self.compiled.get(size)
        return code is not None and code.usual < _SMALL and (known is None or known.calls < 2) and code.calls >= 2

    def has_lost(self, size: int) -> bool:
        """Whether compiled code is slower for all sizes that Python takes long for; this one is the last."""
        known, code = self.python.get(size), self.compiled.get(size)
        if known and code:
            self._compare(size, known, code)
            most = _NOTABLE * self.in_python().seconds
            return bool(self.slower) and all(t.seconds < most or s in self.slower for s, t in self.python.items())
        # All that an earlier run took for all of its calls, of whatever sizes, is less than this run's code has taken.
        return self.before > 0 and self.in_code().seconds > LOST * (self.before + LEAST)

    def _compare(self, size: int, known: Times, code: Times) -> None:
        """Looks at whether compiled code is slower for a size: where it seems to be, a trial tells."""
        if size in self.trials:
            lost = self.trials[size].has_lost()
            if lost is not None:
                (self.slower if lost else self.faster).add(size)
                del self.trials[size]
        elif size not in self.faster and size not in self.slower:
            usual = code.least if code.calls < _MANY_SAMPLES else code.usual  # the first calls of code take longer
            enough = _SAMPLES if code.least >= _WARM else _WARM_SAMPLES
            python = known.least if known.calls < _MANY_SAMPLES else known.mean  # so do the first of Python
            if self.calls and len(self.compiled) == 1:
                python = min(python, self.before / self.calls)
            if code.calls >= enough and usual > LOST * python:
                self.trials[size] = Trial()


def cost_of(site: Site) -> float:
    """Seconds that a function takes to compile, as its size tells."""
    return COST + NODE_COST * site.size


# --- what arguments say


def size_class(values: Iterable[Any]) -> int:
    """How many elements there are, as a power of two."""
    return _elements(values).bit_length()


def _elements(values: Iterable[Any]) -> int:
    found = 0
    for value in values:
        if type(value) is int:
            found += abs(value) if abs(value) < _LARGEST else 0
        else:
            size = getattr(value, "size", None)
            if type(size) is int:
                found += size
            elif isinstance(value, (list, tuple, dict, set)):
                found += len(value)
    return found


def guessed(site: Site, names: Iterable[str], values: Iterable[Any], space: Mapping[str, Any]) -> float:
    """Seconds that a call will take in Python, at the least, as its loops and its arguments look."""
    given = dict(zip(names, values, strict=False))
    if not site.nests:
        return ELEMENT * _elements(v for v in given.values() if type(v) is not int)
    sizes = sorted((c for v in given.values() if type(v) is not int for c in _counts(v, True)), reverse=True)
    return sum(
        (ITERATION + OPERATION * nest.work) * _iterations(nest.heads, given, space, sizes) for nest in site.nests
    )


def _iterations(heads: Iterable[Head], given: Mapping[str, Any], space: Mapping[str, Any], sizes: list[int]) -> float:
    """How often a loop runs in all; where the heads do not say it, `sizes` are for the outer ones."""
    found, left = 1.0, list(sizes)
    for head in heads:
        known = [n for n in head if isinstance(n, int)]
        for name in head:
            if isinstance(name, str):
                known += _counts(given[name] if name in given else space.get(name), False)
        known = [n for n in known if n < _LARGEST]
        found *= max(known) if known else left.pop(0) if left else _FEW
    return found


def _counts(value: Any, inside: bool) -> list[int]:
    """The sizes of a value, and of what an object has: one of the user's, as those of a queue or a lock say nothing of
    the data."""
    if type(value) is int:
        return [abs(value)]
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(type(d) is int for d in shape):
        return list(shape)
    if isinstance(value, (list, tuple, dict, set)):
        return [len(value)]
    of_python = type(value).__module__.partition(".")[0] in sys.stdlib_module_names
    held = getattr(value, "__dict__", None) if inside and not of_python else None
    return [c for v in list(held.values())[:_MOST] for c in _counts(v, False)] if isinstance(held, dict) else []

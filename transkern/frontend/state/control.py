"""The loops, branches and `try` statements around the statement that is being translated, and what its checks do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var

UNROLL = 64  # iterations that are translated one by one, where something of their number must be known


class Catch(NamedTuple):
    """A `try` around: the kinds of exceptions that its handlers take, which handlers only raise them again, how deep in
    inlined functions it stands, what leaves it for the handler of a number, and which handlers look at a message."""

    kinds: tuple[tuple[type[BaseException], ...], ...]
    lets_pass: tuple[bool, ...]
    depth: int
    leave: Callable[[int, str, str, Sequence[Expr]], None]
    told: tuple[bool, ...]

    def handler(self, error: type[BaseException]) -> int:
        """The number of the handler of an exception, from 1; 0 where there is none."""
        number = next((k for k, kinds in enumerate(self.kinds, 1) if issubclass(error, kinds)), 0)
        return 0 if number and self.lets_pass[number - 1] else number

    def is_told(self, number: int) -> bool:
        """Whether the handler of a number looks at the message."""
        return self.told[number - 1]


class Crossed(NamedTuple):
    """A loop in a function that is called, how deep that is, and the variable that tells that an exception leaves the
    loop for a `try` outside of the function; it is in `used` where there is one."""

    depth: int
    left: Var
    used: set[str]


class Control:
    """What is around a statement."""

    def __init__(self) -> None:
        self.trips: list[Expr | None] = []  # how often each enclosing run-time loop runs, where known
        self.loop_path: tuple[int, ...] = ()  # the loops around, numbered
        self.loops_begun = 0  # a number is never given twice: what was stored in one loop was not stored in another
        self.in_branch = 0  # branches of run-time conditions around
        self.in_head = 0  # conditions of loops that are being translated
        self.catching: list[Catch] = []  # the `try` statements around, the innermost last
        self.comprehended: list[int] = []  # comprehensions around, by how deep in inlined functions they stand
        self.crossed: list[Crossed] = []  # the loops in functions that are called inside a `try`
        self.deferred: CompileError | None = None  # raised where the loops' types have settled and it still holds
        self.raised: tuple[str, str, tuple[Expr, ...]] | None = None  # the error of every guard
        self.later: list[Callable[[], None]] | None = None  # checks of positions, where others come before them
        self.is_flat = False  # whether subscripts count all elements of an array, and not those along an axis
        self.trusted = False  # while positions in lists are known to be there
        # what the function has put into its arguments so far (set by translators)
        self.changes_now: Callable[[], tuple[n.Result, ...]] | None = None

    def may_be_written_out(self) -> bool:
        """Whether iterations around may be translated one by one, where something in them must be known."""
        known = [None if trips is None else b.constant(trips) for trips in self.trips]
        return any(count is not None and count <= UNROLL for count in known)

    def loop_number(self) -> int:
        """The number of another loop."""
        self.loops_begun += 1
        return self.loops_begun

    @contextmanager
    def trusting(self, trusted: bool) -> Iterator[None]:
        """Inside, subscripts of lists are known to be positions that these have."""
        before, self.trusted = self.trusted, trusted
        try:
            yield
        finally:
            self.trusted = before

    @contextmanager
    def raising(self, error: str, message: str, args: tuple[Expr, ...] = ()) -> Iterator[None]:
        """Inside, every guard raises this error."""
        before, self.raised = self.raised, (error, message, args)
        try:
            yield
        finally:
            self.raised = before

    def check_place(self, check: Callable[[], None]) -> None:
        """Makes a check of positions, or leaves it to who said `bounds_later`."""
        if self.later is None:
            check()
        else:
            self.later.append(check)

    @contextmanager
    def bounds_later(self) -> Iterator[list[Callable[[], None]]]:
        """Collects the checks of positions inside: what was asked for comes before them."""
        before, self.later = self.later, []
        try:
            yield self.later
        finally:
            self.later = before

    @contextmanager
    def counting_all(self) -> Iterator[None]:
        """Inside, subscripts count all elements of an array."""
        before, self.is_flat = self.is_flat, True
        try:
            yield
        finally:
            self.is_flat = before

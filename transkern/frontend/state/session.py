"""Where a translation is: the text, the place in it, the calls on the way there, and how much of it may be made."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from transkern import limits, refusals
from transkern.errors import CompileError
from transkern.frontend.anew import PutOff
from transkern.frontend.sources.source import span_of
from transkern.frontend.values.values import Function
from transkern.ir.expr import NOWHERE, Frame, Span
from transkern.parsing import all_nodes, once_a_tree
from transkern.records import replace

_FEW = 100
"""Steps that nobody minds, of a translation that is for nobody."""


@once_a_tree
def _size(tree: ast.AST) -> int:
    """Of how many nodes it is made."""
    return sum(1 for _ in all_nodes(tree))


class Session:
    """The text that is translated, and the place in it."""

    def __init__(self, lines: Sequence[str], file: str) -> None:
        self.lines, self.file = lines, file
        self.budget = limits.budget()
        self.called: list[Function] = []  # the functions that are being translated in place
        self.called_there: tuple[ast.AST, ...] = ()  # the functions that were being translated there
        # what is known of the arguments of each, `decisions` where it begins, and the tests that were decided in it
        self.told: list[tuple[Any, int, set[Any]]] = []
        self.decided = 0  # how many tests of what stands under names had an outcome that is known
        self.decided_by_user = 0  # those in the user's own text, as NumPy's functions end none of its recursions
        self.depth = 0  # of inlining
        self.frame: Frame | None = None  # the function that is being translated
        self.texts_read: set[ast.AST] = set()  # functions
        self.too_deep: tuple[Span, bool] | None = None  # where Python's own stack has ended; whether by calls
        self.turns: tuple[tuple[int, int, int], ...] = ()  # as in `Span`, of what is being translated
        self._span: Span = NOWHERE
        self.pinned = False  # while a function of NumPy's is written out: all of it is at the user's call
        self.reserves = True  # whether there is memory for arrays that loops make longer
        self.steps_take_views = True  # whether library steps take any strides
        # generators that others share whose states are not lent for a call, as they are found; None: none is
        self.by_library: set[str] | None = None
        self.left_out: Collection[ast.stmt] = ()  # statements that are not translated
        self.begun = self.budget.steps
        self.most: int | None = None  # steps after which a translation ends that is for nobody

    @property
    def span(self) -> Span:
        """The place in the user's source that is being translated."""
        return self._span

    @span.setter
    def span(self, span: Span) -> None:
        if not self.pinned:
            self._span = span

    def decisions(self) -> int:
        """How many tests have been decided that may end a recursion of what is called here."""
        return self.decided if self.pinned else self.decided_by_user

    @contextmanager
    def pin(self) -> Iterator[None]:
        """Inside, everything is at the present place of the user's source."""
        before, self.pinned = self.pinned, True
        try:
            yield
        finally:
            self.pinned = before

    def place(self) -> Span:
        """The present place with all that is known of it: the function, who calls it, the turn of its loop."""
        return replace(self.span, turns=self.turns, frame=self.frame)

    def error(
        self, kind: refusals.Kind, problem: str, help: str = "", node: ast.AST | None = None
    ) -> CompileError:
        """A refusal of what is at `node`, or at the present place."""
        span = span_of(node, self.file) if node is not None and not self.pinned else self.span
        return CompileError(kind, problem, help, span, self.lines)

    def step(self, count: int = 1) -> None:
        """Counts what is translated; raises Exhausted where that is too much for one compilation."""
        if why := self.budget.step(count, not self.pinned):
            where = f" in the call of `{self.called[-1].name}`" if self.called and not self.pinned else ""
            raise limits.exhausted(why + where, self.span, self.lines)
        if self.most is not None and self.budget.steps > self.most:
            raise PutOff

    def look_on(self) -> None:
        """The translation goes on for the sake of what else it finds nearby: for half as long as it has taken."""
        if self.most is None:
            self.most = self.budget.steps + (self.budget.steps - self.begun) // 2 + _FEW

    def read(self, node: ast.AST) -> None:
        """Takes the text of a function: one that is too long is refused before anybody goes through it."""
        if node not in self.texts_read:
            self.texts_read.add(node)
            most = int(limits.STEPS * self.budget.factor)
            if _size(node) > most:
                why = f"a function of more than {most} nodes"
                raise limits.exhausted(why, span_of(node, self.file), self.lines)

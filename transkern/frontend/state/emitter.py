"""The statements of a program as they come: the block that is being filled, and those around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from transkern.frontend.anew import Terminated
from transkern.frontend.values.values import Value
from transkern.ir import nodes as n


class Waits(Protocol):
    """Values of expressions that have no name (`waiting.Waiting`)."""

    values: list[Value]

    def before_change(self, name: str) -> None: ...


class Emitter:
    """The statements so far, and the values that are still to be evaluated before others."""

    def __init__(self) -> None:
        self.out: list[n.Stmt] = []
        self.around: list[list[n.Stmt]] = []  # what blocks outside of this one have so far
        self.root = self.out  # the statements outside branches and loops
        self.waiting: list[Waits] = []  # values of expressions beside those that are being evaluated
        # of the function of a library that was called last: where its statements stand, and where they begin there
        self.last_call: tuple[list[n.Stmt], int] = ([], 0)

    @contextmanager
    def block(self, ended: list[n.Stmt] | None = None) -> Iterator[list[n.Stmt]]:
        """Collects what is emitted inside; into `ended`, too, what does not get to its end, as it raises."""
        outer, self.out = self.out, []
        self.around.append(outer)
        try:
            yield self.out
        except Terminated:
            if ended is not None:
                ended.extend(self.out)
            raise
        finally:
            self.out = outer
            self.around.pop()

    def before_change(self, name: str) -> None:
        """The values beside what is being evaluated are computed now where they read from a buffer, or depend on the
        count of a list."""
        for those in self.waiting:
            those.before_change(name)

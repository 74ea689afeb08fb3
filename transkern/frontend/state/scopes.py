"""What the names in the functions stand for that are being translated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from transkern.frontend.values.values import Function, Value
from transkern.ir import nodes as n
from transkern.ir.expr import Span
from transkern.parsing import child_nodes

Inline: TypeAlias = Callable[[Function, Sequence[Value], dict[str, Value]], Value]
Call: TypeAlias = Callable[[str, Sequence[Value], Mapping[str, Value]], Value]


class Scopes:
    """The local names of the function and of those that are translated in place, and the names of modules that managers
    bind."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Value]] = []
        self.called_in: list[list[n.Stmt]] = []  # the block in which each of these bodies begins
        self.inline: Inline | None = None  # how a function's text is translated in place (set by the translator)
        self.call: Call | None = None  # what a known function gives, by its path (set by the translator)
        self.live_here: frozenset[str] | None = None  # the names live behind the present statement
        self.read_here: frozenset[str] = frozenset()  # the names that it reads itself
        self.statement: ast.stmt | None = None  # it
        self.called: ast.Call | None = None  # the innermost of its calls that is being evaluated
        self.unknown: set[tuple[ast.AST, str]] = set()  # names that statements which are left out bind
        self.places: dict[str, Span] = {}  # where each name was assigned last
        self.globals_now: dict[tuple[int, str], Value] = {}  # names that a manager has bound for its block
        self.globals_first: dict[tuple[int, str], Value | None] = {}  # and what they stand for else
        self.of_modules: dict[int, Value] = {}  # the modules' names that are arguments, by the modules (`module_names`)
        # what has been found in modules, by its identity: it, and what to ask for where it changes
        self.origins: dict[int, tuple[object, str]] = {}
        self.managing: tuple[tuple[int, ...], int] | None = None  # where a manager is entered or left: it may bind them
        self.filters: list[str] | None = None  # what is done with warnings, within `warnings.catch_warnings`

    def still_named(self, shows: Callable[[Value], bool]) -> list[str]:
        """The names that may still be read behind the present statement, and behind the call in it that is being
        evaluated (``return y.fill(4), w[0]``), of values of some kind."""
        live = self.live_here
        if live is not None and self.called is not None:
            live |= _read_beside(self.statement, self.called)
        return [
            name for frame in self.frames for name, value in frame.items()
            if shows(value) and (frame is not self.frames[-1] or live is None or name in live)
        ]  # fmt: skip

    @contextmanager
    def calling(self, node: ast.Call) -> Iterator[None]:
        """Inside, a call of the present statement is evaluated."""
        outer, self.called = self.called, node
        try:
            yield
        finally:
            self.called = outer


def _read_beside(statement: ast.stmt | None, call: ast.Call) -> frozenset[str]:
    """The names that a statement reads, but for those that a call in it is made with."""
    found, pending = set[str](), list[ast.AST]([] if statement is None else [statement])
    while pending:
        node = pending.pop()
        if node is call:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        pending += child_nodes(node)
    return frozenset(found)

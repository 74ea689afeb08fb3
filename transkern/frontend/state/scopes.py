"""What the names in the functions stand for that are being translated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from transkern.frontend.values.values import Function, Value
from transkern.ir import nodes as n
from transkern.ir.expr import Span

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
        """The names that may still be read behind the present statement, of values of some kind."""
        return [
            name for frame in self.frames for name, value in frame.items()
            if shows(value) and (frame is not self.frames[-1] or self.live_here is None or name in self.live_here)
        ]  # fmt: skip

"""What is called, and where the names of functions are looked up."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.errors import CompileError

if TYPE_CHECKING:
    from transkern.frontend.values.values import Value


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of a user's object: `function` with `receiver` as its first argument."""

    function: Function
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial``: a function, and what it is given before and beside the arguments of a call."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def called(
        self, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> tuple[Value, list[Value], dict[str, Value]]:
        """The function and the arguments that a call with these comes to."""
        args, keywords = [*self.args, *args], {**dict(self.keywords), **keywords}
        return self.function.called(args, keywords) if isinstance(self.function, Partial) else (
            self.function, args, keywords
        )


@dataclass(frozen=True, slots=True)
class Function:
    """A plain Python function of the user's, inlined where it is called. `defaults` are what its parameters had as
    they were evaluated, where that was while the compiled function runs: of others the scope knows them."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    closure: Mapping[str, Value] = field(default_factory=dict, compare=False)  # looked into at the call, as Python does
    defaults: tuple[tuple[str, Value], ...] | None = None
    cached: bool = False  # by `functools.cache`: called once for the same arguments
    decorated: bool = False  # it is what its decorators have made of it


@dataclass(frozen=True, slots=True)
class Known:
    """A function or module that the compiler knows: ``numpy.exp``, ``builtins.len``, ``math.pi``'s module."""

    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A bound method of a value: ``x.sum``."""

    receiver: Value
    name: str


FUNCTIONS = (Function, Known, Bound, Partial)
"""What is called."""


class Scope:
    """Where a function's free names are looked up: a module's text, or a live function's globals and closure."""

    file: str = ""
    lines: tuple[str, ...] = ()
    is_live = False
    asserts = True  # whether they are run: not under `python -O`

    def lookup(self, name: str) -> Value | None:
        raise NotImplementedError

    def refusal(self, name: str) -> CompileError | None:
        """Why a name that the module binds is not known, if that is so."""
        return None

    def imported(self, path: str) -> Value | None:
        """What a dotted path (with leading dots where it is relative) stands for in another module of the user's."""
        raise NotImplementedError

    def default(self, name: str) -> Value | None:
        """What a parameter of the live function that this is the scope of has as its default."""
        return None

    def default_of(self, node: ast.expr) -> Value | None:
        """The value of a default in a module's text; None where it is what the expression is in a call."""
        return None

    def is_also(self, other: Scope) -> bool:
        """Whether names that a function there does not bind mean what they mean here."""
        return other is self

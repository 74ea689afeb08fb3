"""What is known of a function body while it is translated, and what the parts of its translation call each other by."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend import recursion
from transkern.frontend.anew import TRIED, Site
from transkern.frontend.context import Context
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.python import accumulated
from transkern.frontend.sources.source import span_of
from transkern.frontend.syntax import counters, generators, nonlocals, strict_zips, suppressed, tried_lists
from transkern.frontend.syntax.desugar import desugared
from transkern.frontend.syntax.hoisting import NotRewritten
from transkern.frontend.syntax.syntax import local_names, parameter_names
from transkern.frontend.translate import attributes, functions
from transkern.frontend.values import classes
from transkern.frontend.values.values import Bound, Function, Known, Scope, Value
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Span

RETURN = "return"  # the pseudo-name that holds an inlined function's value


@dataclass(slots=True)
class Behind:
    """What follows a branch: memory for what its paths have told, and what they put there."""

    memory: list[n.Stmt] = field(default_factory=list)
    then: list[n.Stmt] = field(default_factory=list)
    orelse: list[n.Stmt] = field(default_factory=list)


class Stages(Protocol):
    """What the stages of a translation call each other by: each is a method of a class that is made of `Body`
    (`comparing`, `conditions`, `calling`, `expressions`, `assigning`, `branching`, `looping`, `translate`)."""

    def expr(self, node: ast.expr, /) -> Value: ...
    def meant(self, node: ast.expr, /) -> Value: ...
    def chosen(self, is_and: bool, values: Sequence[ast.expr], /) -> Value: ...
    def either(
        self, condition: Expr, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt],
        node: ast.AST | None = None, /,
    ) -> Value: ...  # fmt: skip
    def inline(
        self, function: Function, positional: Sequence[Value], keywords: dict[str, Value],
        node: ast.AST | None = None, /,
    ) -> Value: ...
    def mapped(self, is_map: bool, function: Value, iterables: Sequence[Value], node: ast.Call, /) -> Value: ...
    def inner_names(
        self, generators: Sequence[ast.comprehension], node: ast.AST, /, *made: ast.stmt
    ) -> AbstractContextManager[None]: ...
    def source_of(self, generators: Sequence[ast.comprehension], /) -> ast.expr: ...
    def operate(self, op: str, left: Value, right: Value, /) -> Value: ...
    def elements(self, value: Value, wanted: int | None, node: ast.AST, /) -> list[Value]: ...
    def run(self) -> Value: ...
    def finish(self) -> bool: ...
    def assign(self, target: ast.expr, value: Value, /) -> None: ...
    def block(self, statements: Sequence[ast.stmt], /) -> bool: ...
    def statement(self, node: ast.stmt, /) -> None: ...
    def settle(self, value: Value, name: str, /) -> Value: ...
    def kept(self, value: Value, name: str, /) -> Value: ...
    def allocate(self, contents: Value, name: str, /) -> Value: ...
    def site(self, name: str, /) -> Site: ...
    def resetting(self) -> Callable[[], None]: ...
    def join(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt], /) -> Value: ...
    def merge(
        self, one: dict[str, Value], two: dict[str, Value], out1: list[n.Stmt], out2: list[n.Stmt],
        live: frozenset[str] | None, /,
    ) -> None: ...  # fmt: skip
    def merge_heaps(
        self, one: dict[int, Value], two: dict[int, Value], out1: list[n.Stmt], out2: list[n.Stmt], /
    ) -> None: ...


class Body(Stages):
    """The state of one body's translation; `env` holds its names."""

    def __init__(
        self, ctx: Context, scope: Scope, node: ast.FunctionDef | ast.Lambda, env: dict[str, Value], inlined: bool
    ):
        self.ctx, self.scope, self.env, self.inlined = ctx, scope, env, inlined
        ctx.session.read(node)
        plain = suppressed.as_tries(nonlocals.passed_on(node, self._is_pythons), self._is_suppress)
        plain = counters.counted(plain, self._is_count, self._is_pythons)
        plain = strict_zips.asked_behind(plain, self._is_pythons)
        known = ctx.learned.spelling.names
        if isinstance(plain, ast.FunctionDef) and not ctx.session.pinned and accumulated.names(plain, known):
            ctx.learned.spelling.asked = True
            plain = accumulated.as_lists(plain, known) if ctx.learned.spelling.begun else plain
        if isinstance(plain, ast.FunctionDef) and TRIED in ctx.learned.early:
            plain = tried_lists.written_out(plain, self._is_pythons)
        written = generators.written_out(plain, self._function_here, self._is_pythons)
        self.node = desugared(self._as_loop(node, written) if node in ctx.learned.looping else written, inlined)
        if plain is not node or node in ctx.learned.looping:
            self.env |= recursion.NAMES | accumulated.NAMES
        self.pending: list[Callable[[], bool]] = []  # what comes after the blocks that are being translated
        self.globals: set[str] = set()  # names that the function declares so
        self.loops: list[LoopState] = []
        self.decides: Expr | None = None  # the condition between the paths that are being joined
        # what stands in lists, as copies, at the ends of two paths: tokens of lists and objects, buffers of arrays
        self.given: tuple[tuple[set[int], set[str]], tuple[set[int], set[str]]] | None = None
        self.choosing: Site | None = None  # the place of the present statement, if others are behind it in its block
        self.swaps = False  # whether the present statement lets two values change places
        self.joining: tuple[dict[str, Value], dict[str, Value], frozenset[str] | None] = ({}, {}, None)  # their names
        self.apart = 0  # loops behind which the function's rest is being translated more than once
        self.last_trips: tuple[ast.For | None, Expr | None] = None, None  # the last loop, and how often it ran
        self.jumps = 0  # unrolled loops so far: their flags are numbered
        self.ended = False
        self.returned_at: Span | None = None  # the last `return` of an inlined function
        # what is in lists, dicts and objects on two paths, until it is joined
        self.behind: Behind | None = None  # where paths are joined: what follows them
        self.unmerged: dict[int, tuple[Value, Value, list[n.Stmt], list[n.Stmt]]] = {}
        self.forked: Collection[int] = ()  # lists, dicts and objects from before the two paths
        self.handed_out: set[str] = set()  # buffers that results stand in
        ctx.scopes.inline = ctx.scopes.inline or self.inline
        ctx.scopes.call = ctx.scopes.call or functools.partial(functions.call, ctx)

    def _function_here(self, name: str) -> ast.FunctionDef | None:
        """The text of the function that a name means, where its own names mean there what they mean here."""
        found = self.env.get(name) or self.scope.lookup(name)
        if isinstance(found, Function) and isinstance(found.node, ast.FunctionDef) and self.scope.is_also(found.scope):
            return found.node
        return None

    def _as_loop(self, node: ast.AST, written: ast.AST) -> ast.FunctionDef:
        """A function that calls itself as a loop over a stack."""
        assert isinstance(node, ast.FunctionDef) and isinstance(written, ast.FunctionDef)
        own = local_names(node)
        found: dict[str, bool] = {}
        cached: set[bool] = set()  # whether it is called through `functools.cache`

        def means(called: ast.expr) -> bool:
            match called:
                case ast.Name(name) if name not in own:
                    value = self.env.get(name) or self.scope.lookup(name)
                case ast.Attribute(ast.Name(name), method) if [name] == parameter_names(node)[:1] and name in self.env:
                    value = attributes.of_class(self.ctx, self.env[name], method)
                    value = value.function if isinstance(value, Bound) else None
                case _:
                    return False
            if not isinstance(value, Function) or value.node is not node:
                return False
            cached.add(value.cached)
            return True

        def is_self(x: ast.AST) -> bool:
            if not isinstance(x, ast.Call) or not isinstance(x.func, (ast.Name, ast.Attribute)):
                return False
            key = ast.dump(x.func)
            if key not in found:
                found[key] = means(x.func)
            return found[key]

        try:
            return recursion.as_loop(written, is_self, self._is_pythons, lambda: True in cached)
        except NotRewritten as problem:
            span = span_of(problem.node or node, self.scope.file)
            help = "write the recursion as a loop"
            raise CompileError(refusals.TOO_LARGE_TO_COMPILE, problem.problem, help, span, self.scope.lines) from None

    def _is_pythons(self, name: str) -> bool:
        """Whether a name means Python's own function."""
        return name not in self.env and self.scope.lookup(name) == Known(f"builtins.{name}")

    def _is_count(self, called: ast.expr) -> bool:
        """Whether an expression means `itertools.count`."""
        return self._means(called, "itertools", "count", itertools.count)

    def _is_suppress(self, called: ast.expr) -> bool:
        """Whether an expression means `contextlib.suppress`."""
        return self._means(called, "contextlib", "suppress", contextlib.suppress)

    def _means(self, called: ast.expr, module: str, of: str, what: object) -> bool:
        """Whether an expression means what a module has under a name."""
        match called:
            case ast.Name(name) if name not in self.env:
                found = self.scope.lookup(name)
            case ast.Attribute(ast.Name(name), attribute) if name not in self.env and attribute == of:
                return self.scope.lookup(name) == Known(module)
            case _:
                return False
        return found is not None and classes.object_at(found) is what


class At:
    """Errors inside point at `node`."""

    def __init__(self, ctx: Context, node: ast.AST, file: str) -> None:
        self.ctx, self.span = ctx, span_of(node, file)

    def __enter__(self) -> None:
        self.outer, self.ctx.session.span = self.ctx.session.span, self.span

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.ctx.session.span = self.outer

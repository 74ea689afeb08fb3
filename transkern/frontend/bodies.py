"""What is known of a function body while it is translated, and what the parts of its translation call each other by."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend import recursion
from transkern.frontend.anew import Site
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import LoopState
from transkern.frontend.python import accumulated
from transkern.frontend.sources.source import span_of
from transkern.frontend.syntax import counters, generators, nonlocals
from transkern.frontend.syntax.desugar import desugared
from transkern.frontend.syntax.hoisting import NotRewritten
from transkern.frontend.syntax.syntax import local_names, parameter_names
from transkern.frontend.translate import attributes
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


class Body:
    """The state of one body's translation; `env` holds its names."""

    # from the classes made of this one (`comparing`, `conditions`, `calling`, `expressions`, `assigning`, `branching`,
    # `looping`, `translate`)
    expr: Callable[[ast.expr], Value]
    meant: Callable[[ast.expr], Value]
    chosen: Callable[[bool, Sequence[ast.expr]], Value]
    either: Callable[..., Value]
    inline: Callable[..., Value]
    mapped: Callable[[bool, Value, Sequence[Value], ast.Call], Value]
    inner_names: Callable[..., AbstractContextManager[None]]
    source_of: Callable[[Sequence[ast.comprehension]], ast.expr]
    operate: Callable[[str, Value, Value], Value]
    elements: Callable[[Value, int | None, ast.AST], list[Value]]
    run: Callable[[], Value]
    finish: Callable[[], bool]
    assign: Callable[[ast.expr, Value], None]
    block: Callable[[Sequence[ast.stmt]], bool]
    statement: Callable[[ast.stmt], None]
    settle: Callable[[Value, str], Value]
    kept: Callable[[Value, str], Value]
    allocate: Callable[[Value, str], Value]
    site: Callable[[str], Site]
    resetting: Callable[[], Callable[[], None]]
    join: Callable[[str, Value, Value, list[n.Stmt], list[n.Stmt]], Value]
    merge: Callable[
        [dict[str, Value], dict[str, Value], list[n.Stmt], list[n.Stmt], frozenset[str] | None], None
    ]
    merge_heaps: Callable[[dict[int, Value], dict[int, Value], list[n.Stmt], list[n.Stmt]], None]

    def __init__(
        self, ctx: Context, scope: Scope, node: ast.FunctionDef | ast.Lambda, env: dict[str, Value], inlined: bool
    ):
        self.ctx, self.scope, self.env, self.inlined = ctx, scope, env, inlined
        ctx.session.read(node)
        plain = counters.counted(nonlocals.passed_on(node, self._is_pythons), self._is_count, self._is_pythons)
        if isinstance(plain, ast.FunctionDef) and not ctx.session.pinned and accumulated.names(plain):
            ctx.learned.may_spell = True
            plain = accumulated.as_lists(plain) if ctx.learned.spelling else plain
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
        self.swaps = False  # whether the present statement lets two values change places
        self.joining: tuple[dict[str, Value], dict[str, Value], frozenset[str] | None] = ({}, {}, None)  # their names
        self.apart = 0  # loops behind which the function's rest is being translated more than once
        self.last_trips: Expr | None = None  # how often the last loop ran
        self.jumps = 0  # unrolled loops so far: their flags are numbered
        self.ended = False
        self.returned_at: Span | None = None  # the last `return` of an inlined function
        # what is in lists, dicts and objects on two paths, until it is joined
        self.behind: Behind | None = None  # where paths are joined: what follows them
        self.unmerged: dict[int, tuple[Value, Value, list[n.Stmt], list[n.Stmt]]] = {}
        self.forked: Collection[int] = ()  # lists, dicts and objects from before the two paths
        self.handed_out: set[str] = set()  # buffers that results stand in
        ctx.scopes.inline = ctx.scopes.inline or self.inline

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
        match called:
            case ast.Name(name) if name not in self.env:
                found = self.scope.lookup(name)
            case ast.Attribute(ast.Name(name), "count") if name not in self.env:
                return self.scope.lookup(name) == Known("itertools")
            case _:
                return False
        return found is not None and classes.object_at(found) is itertools.count


class At:
    """Errors inside point at `node`."""

    def __init__(self, ctx: Context, node: ast.AST, file: str) -> None:
        self.ctx, self.span = ctx, span_of(node, file)

    def __enter__(self) -> None:
        self.outer, self.ctx.session.span = self.ctx.session.span, self.span

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.ctx.session.span = self.outer

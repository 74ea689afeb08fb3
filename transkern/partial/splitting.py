"""A function as parts: the statements between those that are refused, each group a function of its own."""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transkern.frontend.syntax.liveness import live_before, live_behind_each
from transkern.frontend.syntax.syntax import PART, local_names, parameter_names, returns
from transkern.partial.assigned import binds, bound_before, bound_behind

_FRAME = frozenset(["__class__", "dir", "eval", "exec", "globals", "locals", "super", "vars"])
"""Names of what looks at the frame, or may."""

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_OUTSIDE = (
    ast.Global, ast.Nonlocal, ast.Delete, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor,
    ast.AsyncWith, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip
"""What no part holds."""

_CONSUMING = frozenset(["all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"])
"""Functions that are done with a generator expression when they return."""

_LETTING = (open, np.errstate)
"""Managers that let exceptions pass."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part: a function, and the name that the rewritten function has for it.

    `results` are what it returns, in order; with None it returns what the whole function does. `brief`: it has no loop.
    """

    name: str
    node: ast.FunctionDef
    results: tuple[str, ...] | None
    brief: bool


@dataclass(frozen=True, slots=True)
class Split:
    """A function that calls its parts."""

    node: ast.FunctionDef
    parts: tuple[Part, ...]


def split(function: ast.FunctionDef, refused: Collection[ast.stmt], spaces: Sequence[dict[str, Any]]) -> Split | None:
    """The function in parts, or None where there is none to be made.

    Args:
        function: its text, which stays as it is.
        refused: statements of it that run in Python.
        spaces: where its global names are looked for.
    """
    names = {x.id for x in ast.walk(function) if isinstance(x, ast.Name)}
    if names & _FRAME:
        return None
    splitting = _Splitting(function, frozenset(refused), spaces)
    body = splitting.block(function.body, tail=True, looped=False)
    if not splitting.parts:
        return None
    node = copy.copy(function)
    node.body, node.decorator_list, node.returns = body, [], None
    return Split(node, tuple(splitting.parts))


@dataclass(slots=True)
class _Splitting:
    function: ast.FunctionDef
    refused: frozenset[ast.stmt]
    spaces: Sequence[dict[str, Any]]
    parts: list[Part] = field(default_factory=list)
    bound: dict[ast.stmt, frozenset[str]] = field(init=False)
    behind: Mapping[ast.stmt, frozenset[str]] = field(init=False)
    shared: frozenset[str] = field(init=False)  # names that nested functions read or bind, or that are no locals
    changing: frozenset[str] = field(init=False)  # locals that nested functions bind
    locals: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        scopes = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp
        inner = [x for x in ast.walk(self.function) if isinstance(x, scopes) and x is not self.function]
        shared = {y.id for x in inner for y in ast.walk(x) if isinstance(y, ast.Name)}
        declared = {
            name for x in ast.walk(self.function) if isinstance(x, (ast.Global, ast.Nonlocal)) for name in x.names
        }  # fmt: skip
        self.shared = frozenset(shared | declared)
        self.locals = local_names(self.function) | {*parameter_names(self.function)}
        self.changing = self.locals & {
            name for x in inner for y in ast.walk(x) if isinstance(y, ast.Nonlocal) for name in y.names
        }  # fmt: skip
        self.bound = bound_before(self.function, self.lets_pass)
        self.behind = live_behind_each(self.function, self.lets_pass)

    def block(self, statements: Sequence[ast.stmt], tail: bool, looped: bool) -> list[ast.stmt]:
        """The statements of a block, with calls in place of parts.

        `tail`: the function ends behind it; `looped`: it is in a loop that stays Python's.
        """
        out: list[ast.stmt] = []
        group: list[ast.stmt] = []
        end = len(statements)  # from here on the function may return
        while tail and end and self.is_clean(statements[end - 1], True):
            end -= 1
        for position, s in enumerate(statements):
            if self.is_clean(s, position >= end):
                group.append(s)
                continue
            out += self.made(group, False, looped)
            group = []
            out.append(self.python(s, tail and position == len(statements) - 1, looped))
        return out + self.made(group, tail, looped)

    def is_clean(self, s: ast.stmt, may_return: bool) -> bool:
        """Whether a statement may stand in a part."""
        if any(x in self.refused or isinstance(x, _OUTSIDE) for x in ast.walk(s)):
            return False
        if not may_return and returns(s):
            return False
        if self.changing & {x.id for x in ast.walk(s) if isinstance(x, ast.Name)} or any(_lazy(s)):
            return False
        loops = [x for x in ast.walk(s) if isinstance(x, (ast.For, ast.While))]
        if any(map(_is_about_identity, ast.walk(s))) or any(_appended(x) - {*binds(x)} for x in loops):
            return False
        return not any(_leaves(s)) and not self.shared & {*binds(s)}

    def python(self, s: ast.stmt, tail: bool, looped: bool) -> ast.stmt:
        """A statement that stays Python's, with parts in its blocks."""
        if s in self.refused and not isinstance(s, (ast.If, ast.For, ast.While, ast.With)):
            return s
        made = copy.copy(s)
        match made:
            case ast.If():
                made.body = self.block(made.body, tail, looped)
                made.orelse = self.block(made.orelse, tail, looped)
            case ast.For() | ast.While():
                made.body = self.block(made.body, False, True)
                made.orelse = self.block(made.orelse, tail, looped)
            case ast.With() if self.lets_pass(made):
                made.body = self.block(made.body, False, looped)
        return made

    def lets_pass(self, s: ast.With) -> bool:
        """Whether an exception leaves a ``with``: the names that it finds bound do not matter then."""
        called = [self.resolved(i.context_expr.func) for i in s.items if isinstance(i.context_expr, ast.Call)]
        return len(called) == len(s.items) and all(any(c is one for one in _LETTING) for c in called)

    def resolved(self, node: ast.expr) -> Any:
        """What a dotted name stands for, or None."""
        match node:
            case ast.Name(id=name) if name not in self.locals:
                return next((space[name] for space in (*self.spaces, vars(builtins)) if name in space), None)
            case ast.Attribute(value=owner, attr=name):
                held = self.resolved(owner)
                return vars(held).get(name) if isinstance(held, types.ModuleType) else None
        return None

    # --- parts

    def made(self, group: list[ast.stmt], tail: bool, looped: bool) -> list[ast.stmt]:
        """A group of statements as a call of a part, or as they are."""
        while group and not _is_worth([group[0]], looped):  # they may be all that another part needs
            if not _is_worth(group, looped):
                return group
            return [group[0], *self.made(group[1:], tail, looped)]
        if not group:
            return []
        kept: list[ast.stmt] = []
        while not any(map(returns, group)) and not _is_worth([group[-1]], looped):
            kept.insert(0, group.pop())
        return [*self.call(group), *kept]

    def call(self, group: list[ast.stmt]) -> list[ast.stmt]:
        """The call of a part, or the statements where none can be made of them."""
        ends = any(map(returns, group))  # then the function ends behind it
        bound = {name for s in group for name in binds(s)} & self.locals
        behind = self.behind.get(group[-1])
        before = self.bound.get(group[0])
        if behind is None or before is None:
            return group
        results = [] if ends else sorted(bound & behind)
        if any(isinstance(x, (ast.For, ast.While)) and _appended(x) & {*results} for y in group for x in ast.walk(y)):
            return group  # a list may hold it, which the part would return by itself
        certain = bound_behind(group, before) or frozenset()
        read = {x.id for s in group for x in ast.walk(s) if isinstance(x, ast.Name)}
        needed = live_before(self.function, group) & self.locals & read
        needed |= {name for name in results if name not in (bound_behind(group, frozenset()) or ())}
        if not (needed <= before and certain >= {*results}):
            return group
        if len(results) + len(needed) == 0:  # it does something that nobody sees, or prints
            return group
        first, place = group[0], len(self.parts)
        name = f"transkern part {place}"
        arguments = [ast.arg(n) for n in sorted(needed)]
        body = list(group)
        if results:
            value: ast.expr = ast.Tuple([ast.Name(n, ast.Load()) for n in results], ast.Load())
            if len(results) == 1:
                value = ast.Name(results[0], ast.Load())
            body.append(ast.copy_location(ast.Return(value), group[-1]))
        node = ast.FunctionDef(
            self.function.name, ast.arguments([], arguments, None, [], [], None, []), body, [], None, None
        )
        if "type_params" in ast.FunctionDef._fields:
            node.type_params = []  # type: ignore[attr-defined]
        setattr(node, PART, True)
        ast.copy_location(node, first)
        ast.fix_missing_locations(node)
        brief = not any(isinstance(x, _LOOPS) for s in group for x in ast.walk(s))
        self.parts.append(Part(name, node, None if ends else tuple(results), brief))
        called = ast.Call(ast.Name(name, ast.Load()), [ast.Name(n, ast.Load()) for n in sorted(needed)], [])
        if ends:
            made: ast.stmt = ast.Return(called)
        elif not results:
            made = ast.Expr(called)
        else:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in results]
            made = ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], called)
        return [ast.fix_missing_locations(ast.copy_location(made, first))]


def _leaves(s: ast.stmt, depth: int = 0) -> Iterator[ast.stmt]:
    """The ``break`` and ``continue`` of loops around a statement."""
    if isinstance(s, (ast.Break, ast.Continue)) and not depth:
        yield s
    for name, value in ast.iter_fields(s):
        inner = depth + (isinstance(s, (ast.For, ast.While)) and name == "body")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt):
                yield from _leaves(child, inner)


def _lazy(s: ast.stmt) -> Iterator[ast.GeneratorExp]:
    """The generator expressions that may run on when the statement is done, with the names around as they are then."""
    used: set[ast.expr] = set()
    for x in ast.walk(s):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id in _CONSUMING:
            used.update(x.args)
        elif isinstance(x, ast.GeneratorExp) and x not in used:
            yield x


def _appended(s: ast.stmt) -> set[str]:
    """The names that stand for what a statement puts into lists."""
    return {
        a.id for x in ast.walk(s)
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr in ("append", "insert")
        for a in x.args if isinstance(a, ast.Name)
    }  # fmt: skip


def _is_about_identity(x: ast.AST) -> bool:
    """Whether it is asked if two names stand for one object, which what a part is given does not say, or a list has one
    object many times, for which a part would return many (``[row] * n``)."""
    match x:
        case ast.Compare():
            return any(
                isinstance(op, (ast.Is, ast.IsNot)) and not any(isinstance(y, ast.Constant) for y in pair)
                for *pair, op in zip([x.left, *x.comparators], x.comparators, x.ops, strict=False)
            )
        case ast.BinOp(left=ast.List(elts=items), op=ast.Mult()) | ast.BinOp(op=ast.Mult(), right=ast.List(elts=items)):
            return not all(isinstance(y, (ast.Constant, ast.UnaryOp)) for y in items)
    return False


def _is_worth(statements: Sequence[ast.stmt], looped: bool) -> bool:
    """Whether statements do enough for a call: a loop, or arithmetic with something that may be an array; in a loop of
    Python's, calls of methods or of a module's functions at least."""
    for s in statements:
        for x in ast.walk(s):
            if isinstance(x, _LOOPS) or (isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute)):
                return True
            if not looped and isinstance(x, (ast.BinOp, ast.Compare, ast.AugAssign)):
                return True
    return False

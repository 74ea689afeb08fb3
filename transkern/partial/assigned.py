"""Which names are bound for certain where a statement begins (definite assignment, as Java and mypyc have it)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from transkern.frontend.syntax.syntax import parameter_names

Names = frozenset[str]


def bound_before(function: ast.FunctionDef, lets_pass: Callable[[ast.With], bool]) -> dict[ast.stmt, Names]:
    """For each statement of a function, nested functions left out: the names bound on all paths that lead to it.

    `lets_pass`: whether a ``with`` lets exceptions pass; behind others nobody knows what has been bound in them.
    """
    found = _Bound(lets_pass, frozenset(_unbinds(function)))
    found.block(function.body, frozenset(parameter_names(function)) - found.unbound)
    return found.before


def bound_behind(statements: Sequence[ast.stmt], before: Names) -> Names | None:
    """The names bound for certain behind some statements; None where nobody gets there."""
    return _Bound(lambda _: False, frozenset()).block(statements, before)


def binds(node: ast.AST) -> Iterator[str]:
    """The names that a node binds in the function's own scope; those of comprehensions and nested functions are not."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda():
            return
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for x in ast.walk(node):
                if isinstance(x, ast.NamedExpr):
                    yield from binds(x.target)
            return
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str() as name):
            yield name
        case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from binds(child)


class _Bound:
    """The names bound before each statement; None stands for all, where nothing is reached.

    `unbound`: names of which none is known to be bound anywhere, as some statement unbinds them.
    """

    def __init__(self, lets_pass: Callable[[ast.With], bool], unbound: Names) -> None:
        self.lets_pass, self.unbound = lets_pass, unbound
        self.before: dict[ast.stmt, Names] = {}
        self.left: list[list[Names]] = []  # of each loop around: what is bound where it is left

    def block(self, statements: Sequence[ast.stmt], names: Names | None) -> Names | None:
        for s in statements:
            if names is None:
                return None
            self.before[s] = names = names - self.unbound
            names = self.statement(s, names)
        return names if names is None else names - self.unbound

    def statement(self, s: ast.stmt, names: Names) -> Names | None:
        match s:
            case ast.Return() | ast.Raise() | ast.Continue():
                return None
            case ast.Break():
                if self.left:
                    self.left[-1].append(names)
                return None
            case ast.If(test=test, body=body, orelse=orelse):
                names |= {*_for_certain(test)}
                return _both(self.block(body, names), self.block(orelse, names))
            case ast.While(test=test, body=body, orelse=orelse):
                names |= {*_for_certain(test)}
                endless = isinstance(test, ast.Constant) and bool(test.value)
                return self.loop(body, orelse, names, names, endless)
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                names |= {*_for_certain(source)}
                return self.loop(body, orelse, names, names | {*binds(target)}, False)
            case ast.With(items=items, body=body):
                for item in items:
                    names |= {*_for_certain(item)}
                inside = self.block(body, names)
                return inside if self.lets_pass(s) else names  # who swallows what is raised goes on behind it
            case ast.Try() | ast.TryStar():
                self.block(s.body, names)
                for handler in s.handlers:
                    self.block(handler.body, names | ({handler.name} if handler.name else frozenset()))
                self.block(s.orelse, names)
                self.block(s.finalbody, names)
                return names
            case ast.Match():
                for case in s.cases:
                    self.block(case.body, names | {*binds(case.pattern)})
                return names
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                return names | {name}
            case _:
                return names | {*_for_certain(s)}

    def loop(
        self, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], before: Names, inside: Names, endless: bool
    ) -> Names | None:
        """`before`: bound where the loop begins or runs out; `inside`: where an iteration begins."""
        self.left.append([])
        self.block(body, inside)
        left = self.left.pop()
        out = None if endless else self.block(orelse, before)
        for names in left:
            out = _both(out, names)
        return out


def _both(one: Names | None, other: Names | None) -> Names | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _for_certain(node: ast.AST | None) -> Iterator[str]:
    """The names that a simple statement or an expression binds on all paths: of ``a and (b := …)`` none."""
    match node:
        case None:
            return
        case ast.Name() | ast.alias():
            if not isinstance(getattr(node, "ctx", None), ast.Del):
                yield from binds(node)
        case ast.BoolOp(values=[first, *_]):
            yield from _for_certain(first)
        case ast.IfExp(test=test):
            yield from _for_certain(test)
        case ast.Compare(left=left, comparators=[first, *_]):
            yield from _for_certain(left)
            yield from _for_certain(first)
        case ast.AnnAssign(value=None):
            return
        case ast.Assert(test=test):  # not under -O
            return
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _for_certain(child)


def _unbinds(function: ast.FunctionDef) -> Iterator[str]:
    """The names that some statement unbinds, as a handler does at its end."""
    for x in ast.walk(function):
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Del):
            yield x.id
        elif isinstance(x, ast.ExceptHandler) and x.name:
            yield x.name

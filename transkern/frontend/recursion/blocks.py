"""A body cut at the calls of the function by itself: basic blocks, each with what comes behind it.

Statements without such a call stay whole. Loops with one are counted by hand, as an iteration is left and come back to:

    for v in x:        ->        rest = x; at = 0
        f(v)                     while at < len(rest): v = rest[at]; at += 1; f(v)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from transkern.frontend.syntax.desugar import assign, load, placed, without_returns
from transkern.frontend.syntax.hoisting import IsSelf, NotRewritten, is_names
from transkern.parsing import all_nodes, child_nodes, own_nodes

LENGTH, SEQUENCE = "length of", "sequence of"
"""Names in what is made here, whatever the user's own mean: of `len`, and of what makes a list of that which has no
positions (`iterating.sequence`)."""


@dataclass(eq=False)
class Block:
    """Statements, and what comes behind them (None: nothing, they raise)."""

    statements: list[ast.stmt] = field(default_factory=list)
    end: End | None = None


@dataclass(frozen=True)
class Goes:
    to: Block


@dataclass(frozen=True)
class Branches:
    test: ast.expr
    then: Block
    orelse: Block


@dataclass(frozen=True)
class Calls:
    """A call of the function itself; `target` is what its result is bound to, if that is used, behind it comes `to`."""

    call: ast.Call
    target: ast.expr | None
    to: Block

    @property
    def binds(self) -> frozenset[str]:
        return frozenset() if self.target is None else frozenset(stored_in(self.target))


@dataclass(frozen=True)
class Returns:
    value: ast.expr | None
    at: ast.AST


End: TypeAlias = Goes | Branches | Calls | Returns


def following(end: End | None) -> list[Block]:
    """The blocks that may come next in the same frame."""
    match end:
        case Goes(to) | Calls(_, _, to):
            return [to]
        case Branches(_, then, orelse):
            return [then, orelse]
        case _:
            return []


def cut(body: Sequence[ast.stmt], is_self: IsSelf, python: Callable[[str], bool], at: ast.AST) -> Block:
    """The first block of a body of `hoisting.hoisted`. `python` tells whether a name means Python's own function."""
    first = Block()
    last = _Cutting(is_self, python).run(body, first)
    if last is not None:
        last.end = Returns(None, at)
    return first


class _Cutting:
    def __init__(self, is_self: IsSelf, python: Callable[[str], bool]) -> None:
        self.is_self, self.python, self.count = is_self, python, 0
        self.loops: list[tuple[Block, Block]] = []  # where `continue` and `break` go

    def _is_whole(self, s: ast.stmt) -> bool:
        """Whether a statement does not have to be cut."""
        if any(self.is_self(x) or isinstance(x, ast.Return) for x in own_nodes([s])):
            return False
        return not _jumps(s)

    def run(self, body: Sequence[ast.stmt], now: Block) -> Block | None:
        """The block that is reached behind `body`, which goes on in `now`; None where none is."""
        for s in self._without_returns(body):
            if self._is_whole(s):
                now.statements.append(s)
                if isinstance(s, ast.Raise):
                    return None
                continue
            then = self._cut(s, now)
            if then is None:
                return None
            now = then
        return now

    def _without_returns(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """`body` with loops that stay whole: a `return` in one stands behind it."""
        for s in body:
            loop = isinstance(s, (ast.For, ast.While)) and not any(map(self.is_self, all_nodes(s)))
            yield from without_returns(s) if loop else [s]

    def _cut(self, s: ast.stmt, now: Block) -> Block | None:
        match s:
            case ast.Return(value):
                now.end = Returns(value, s)
            case ast.Break() | ast.Continue():
                now.end = Goes(self.loops[-1][isinstance(s, ast.Break)])
            case ast.Expr(ast.Call() as call):
                now.end = Calls(call, None, behind := Block())
                return behind
            case ast.Assign([target], ast.Call() as call) if is_names(target):
                now.end = Calls(call, target, behind := Block())
                return behind
            case ast.If(test, body, orelse):
                then, other, behind = Block(), Block(), Block()
                now.end = Branches(test, then, other)
                ends = [self.run(body, then), self.run(orelse, other)]
                for last in ends:
                    if last is not None:
                        last.end = Goes(behind)
                return None if ends == [None, None] else behind
            case ast.While(test, body, []):
                head, inside, behind = Block(), Block(), Block()
                now.end = Goes(head)
                endless = isinstance(test, ast.Constant) and bool(test.value)
                head.end = Goes(inside) if endless else Branches(test, inside, behind)
                self._inside(body, inside, head, behind)
                return behind
            case ast.For(target, iterable, body, []):
                return self._for(target, iterable, body, s, now)
            case _:
                raise NotRewritten(f"a call of itself, or a `return`, in `{ast.unparse(s).splitlines()[0]}`", s)
        return None

    def _inside(self, body: Sequence[ast.stmt], first: Block, head: Block, behind: Block) -> None:
        self.loops.append((head, behind))
        last = self.run(body, first)
        self.loops.pop()
        if last is not None:
            last.end = Goes(head)

    # --- loops over something

    def _fresh(self, word: str) -> str:
        self.count += 1
        return f"{word}-{self.count}"

    def _for(
        self, target: ast.expr, iterable: ast.expr, body: Sequence[ast.stmt], s: ast.stmt, now: Block
    ) -> Block | None:
        head, inside, behind = Block(), Block(), Block()
        position = self._fresh("position")
        test, element = self._elements(iterable, position, now.statements, s)
        now.statements.append(assign(position, ast.Constant(0), s))
        now.end = Goes(head)
        head.end = Branches(ast.copy_location(test, s), inside, behind)
        inside.statements.append(placed(ast.Assign([target], element), s))
        inside.statements.append(placed(ast.AugAssign(ast.Name(position, ast.Store()), ast.Add(), ast.Constant(1)), s))
        self._inside(body, inside, head, behind)
        return behind

    def _elements(
        self, iterable: ast.expr, position: str, before: list[ast.stmt], s: ast.stmt
    ) -> tuple[ast.expr, ast.expr]:
        """Whether there is an element at a position, and that element."""
        match iterable:
            case ast.Call(ast.Name(name), [_, *_] as args, []) if self.python(name) and not _has_starred(args):
                if name == "range" and len(args) < 4:
                    return self._range(args, iterable, position, before, s)
                if name == "enumerate" and len(args) < 3:
                    first = self._held(args[1], "first", before, s) if args[1:] else None
                    test, element = self._elements(args[0], position, before, s)
                    number = load(position) if first is None else ast.BinOp(first, ast.Add(), load(position))
                    return test, ast.Tuple([number, element], ast.Load())
                if name == "zip":
                    parts = [self._elements(a, position, before, s) for a in args]
                    tests = [test for test, _ in parts]
                    both = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                    return both, ast.Tuple([element for _, element in parts], ast.Load())
            case _:
                pass
        items = self._held(ast.Call(load(SEQUENCE), [iterable], []), "rest", before, s)
        return _is_within(position, items), ast.Subscript(items, load(position), ast.Load())

    def _range(
        self, args: Sequence[ast.expr], whole: ast.expr, position: str, before: list[ast.stmt], s: ast.stmt
    ) -> tuple[ast.expr, ast.expr]:
        named = [self._held(a, "bound", before, s) for a in args]
        numbers = ast.Call(load("range"), named, [])
        count = self._held(ast.Call(load(LENGTH), [numbers], []), "count", before, s)
        element = load(position)
        if len(args) == 3:
            element = ast.BinOp(element, ast.Mult(), named[2])
        if len(args) > 1:
            element = ast.BinOp(named[0], ast.Add(), element)
        return ast.Compare(load(position), [ast.Lt()], [count]), element

    def _held(self, value: ast.expr, word: str, before: list[ast.stmt], s: ast.stmt) -> ast.expr:
        """A value that is what it is now whenever it is read."""
        if isinstance(value, ast.Constant):
            return value
        name = self._fresh(word)
        before.append(assign(name, value, s))
        return load(name)


def stored_in(*targets: ast.expr) -> set[str]:
    """The names that an assignment to these targets binds."""
    names = (x for t in targets for x in all_nodes(t) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store))
    return {x.id for x in names}


def _is_within(position: str, items: ast.expr) -> ast.expr:
    return ast.Compare(load(position), [ast.Lt()], [ast.Call(load(LENGTH), [items], [])])


def _has_starred(args: Sequence[ast.expr]) -> bool:
    return any(isinstance(a, ast.Starred) for a in args)


def _jumps(s: ast.AST) -> bool:
    """Whether a `break` or `continue` of the loop around stands in a statement."""
    if isinstance(s, (ast.Break, ast.Continue)):
        return True
    if isinstance(s, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
        return False
    return any(_jumps(x) for x in child_nodes(s) if isinstance(x, (ast.stmt, ast.ExceptHandler)))

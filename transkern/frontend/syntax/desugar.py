"""Python's rarer control flow in terms of the common: `else` of loops, `return` inside loops, `break` when unrolled.

    for i in r:                        unbroken = True
        if c: break                    for i in r:
    else:                       ->         if c: unbroken = False; break
        s                              if unbroken: s

The names made here are no identifiers, so that none of the user's is meant.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from transkern.frontend.syntax import matching
from transkern.frontend.syntax.own_lists import GrowInPlace, lists_of_one_name
from transkern.parsing import all_nodes, child_nodes

Statement = TypeVar("Statement", bound=ast.stmt)

_DONE = "_transkern_desugared"
RETURNED, RETURNS = "returned value", "has returned"
_AROUND = "_transkern_around"  # on a `try`: the names of those around it
_TOLD = "_transkern_told"  # the names of their messages
WHOLE = "_transkern_whole"  # on a loop of which nothing is gained where its iterations are translated one by one
FOR_ALL = "_transkern_for_all"  # on a loop over the positions of a few values, whose body is long
PLACES, OF_CALLERS = "blocks-to-return-to", "-of-the-callers"
"""The list of where the calls of a function that calls itself go on, and how the names of those end that keep the rest
of their frames."""
CATCHES = "_transkern_catches"
"""On a loop that runs once, the body of a `try`: the name that tells which of its handlers is to run, and these."""


def desugared(node: ast.FunctionDef | ast.Lambda, inlined: bool) -> ast.FunctionDef | ast.Lambda:
    """The function without `else` of loops, and where it is `inlined` without `return` inside loops."""
    if isinstance(node, ast.Lambda):
        return node
    made: dict[bool, ast.FunctionDef] = getattr(node, _DONE, {})
    if inlined not in made:
        lists = lists_of_one_name(node)
        changed = copy.deepcopy(node) if lists or _has_any(node) else node
        if lists:
            changed = GrowInPlace(lists).visit(changed)
        if _has_any(node):
            changed = _Loops(inlined).visit(changed)
        made[inlined] = changed
        setattr(node, _DONE, made)  # the same function twice must be the same tree twice
        setattr(changed, _DONE, made)
    return made[inlined]


def without_returns(loop: ast.stmt) -> list[ast.stmt]:
    """A loop of a desugared function that leaves by a `return` behind it: ``returned value = v; break`` inside."""
    return listed(_Loops(True).visit(copy.deepcopy(loop)))


def _has_any(node: ast.FunctionDef) -> bool:
    return any(isinstance(x, (ast.For, ast.While, ast.Match, ast.Try)) or _chooses(x) for x in all_nodes(node))


def _chooses(x: ast.AST) -> ast.IfExp | None:
    """What a statement calls a method of, or changes in place, where that is `a if c else b`."""
    match x:
        case ast.Expr(ast.Call(ast.Attribute(ast.IfExp() as chosen))):
            return chosen
        case ast.AugAssign(ast.Subscript(ast.IfExp() as chosen) | ast.Attribute(ast.IfExp() as chosen)):
            return chosen
        case _:
            return None


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _breaks(node: ast.AST) -> bool:
    """Whether a `break` of the loop around stands in it."""
    if isinstance(node, ast.Break):
        return True
    inner: Iterable[ast.AST] = child_nodes(node)
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    if isinstance(node, (ast.For, ast.While)):
        inner = node.orelse
    return any(map(_breaks, inner))


def _own(statements: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...], loops: bool = False) -> bool:
    """Whether statements of these kinds stand in `statements`, outside inner functions and (unless `loops`) loops."""
    for s in statements:
        if isinstance(s, kinds):
            return True
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            continue
        if isinstance(s, (ast.For, ast.While)) and not loops:
            if _own(s.orelse, kinds):
                return True
            continue
        for name in ("body", "orelse", "finalbody"):
            if _own(getattr(s, name, []), kinds, loops):
                return True
    return False


def has_jumps(body: Sequence[ast.stmt], *kinds: type[ast.stmt]) -> bool:
    """Whether `break` or `continue` (or one of `kinds`) of the loop around `body` stand in it."""
    return _own(body, kinds or (ast.Break, ast.Continue))


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    return placed(ast.Assign([ast.Name(name, ast.Store())], value), at)


def placed(made: Statement, at: ast.AST) -> Statement:
    """A statement of our own, where it is no part of the user's text at the place of `at`."""
    for x in all_nodes(made):
        if "lineno" in getattr(x, "_attributes", ()) and not hasattr(x, "lineno"):
            ast.copy_location(x, at)
    return made


class _Loops(ast.NodeTransformer):
    def __init__(self, inlined: bool) -> None:
        self.inlined, self.depth, self.count = inlined, 0, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.count or self.depth:
            return node  # an inner function: it is changed where it is called
        self.count = 1
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST | list[ast.stmt]:
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        orelse = [x for s in node.orelse for x in listed(self.visit(s))]
        returning = self.inlined and _own(node.body, (ast.Return,), loops=True)
        endless = isinstance(node, ast.While) and _is_true(node.test) and not any(map(_breaks, node.body))
        self.depth += 1
        node.body = [x for s in node.body for x in listed(self.visit(s))]
        self.depth -= 1
        if orelse:
            self.count += 1
            flag = f"unbroken {self.count}"
            if _own(node.body, (ast.Break,)):
                node.body = _marked_breaks(node.body, flag)
                before.append(assign(flag, ast.Constant(True), node))
                after.append(placed(ast.If(ast.Name(flag, ast.Load()), orelse, []), node))
            else:
                after += orelse
            node.orelse = []
        if returning:
            has = ast.Name(RETURNS, ast.Load())
            leave: ast.stmt = ast.Break() if self.depth else ast.Return(ast.Name(RETURNED, ast.Load()))
            if not self.depth:
                before.append(assign(RETURNS, ast.Constant(False), node))
            # what is behind a loop that only `return` leaves is never reached
            after = [placed(leave, node)] if endless else [placed(ast.If(has, [leave], []), node), *after]
        return [*before, node, *after]

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        """``try: a; except X: b``: a loop that runs once, which an exception of that kind leaves.

            caught = 0                         left = 0
            for once in one trip: a            (`break` and `continue` of the loop around in `a`: left = 1, left = 2)
            if caught == 1: b                  if left == 1: break
        """
        if node.finalbody:
            if not _only_binds(node.finalbody):
                return node
            return [x for s in self._with_finally(node) for x in listed(self.visit(s))]
        self.count += 1
        caught, left = f"caught {self.count}", f"left {self.count}"
        told: list[str | None] = []
        lets_pass: list[bool] = []
        for k, handler in enumerate(node.handlers):
            told.append(None)
            if handler.name is not None and _reads(handler.body, handler.name):
                text = f"message {self.count} {k}"
                shown = _Shown(handler.name, text)
                handler.body = [shown.visit(s) for s in handler.body]
                if _reads(handler.body, handler.name):
                    return node
                told[-1] = text if _reads(handler.body, text) else None
            lets_pass.append(_lets_pass(handler.body))
            if lets_pass[-1]:
                handler.body = [placed(ast.Pass(), handler)]
        around: tuple[str, ...] = getattr(node, _AROUND, ())
        body = _catching(_leaving(node.body, left), caught, [name for name in told if name is not None])
        outside = (*around, *getattr(node, _TOLD, ()))
        body = [*(_never(name, node) for name in (caught, *outside, *filter(None, told))), *body]
        once = ast.For(
            ast.Name(f"once {self.count}", ast.Store()), ast.Name(ONCE, ast.Load()), body, []
        )  # fmt: skip
        handlers: list[ast.stmt] = list(node.orelse)
        for k in range(len(node.handlers), 0, -1):
            test = ast.Compare(ast.Name(caught, ast.Load()), [ast.Eq()], [ast.Constant(k)])
            handlers = [placed(ast.If(test, node.handlers[k - 1].body, handlers), node)]
        before = [assign(caught, ast.Constant(0), node)]
        after = [placed(ast.If(ast.Name(name, ast.Load()), [ast.Break()], []), node) for name in around]
        for number, jump in ((1, ast.Break), (2, ast.Continue)):
            if _own(node.body, (jump,)):
                test = ast.Compare(ast.Name(left, ast.Load()), [ast.Eq()], [ast.Constant(number)])
                after.append(placed(ast.If(test, [jump()], []), node))
        if _own(node.body, (ast.Break, ast.Continue)):
            before.append(assign(left, ast.Constant(0), node))
        placed(once, node)
        setattr(once, CATCHES, (caught, [h.type for h in node.handlers], told, lets_pass))
        made: list[ast.stmt] = [*before, once, *after, *handlers]
        return [x for s in made for x in listed(self.visit(s))]

    def _with_finally(self, node: ast.Try) -> list[ast.stmt]:
        """``try: a finally: b`` as what it does where no exception gets out of it, in which case nobody sees `b`."""
        self.count += 1
        name = f"left with {self.count}"
        body = _ending(node.body, node.finalbody, name)
        if not node.handlers:
            return [*body, *node.finalbody]
        for handler in node.handlers:
            handler.body = _ending(handler.body, node.finalbody, name)
        inner = ast.Try(body, node.handlers, _ending(node.orelse, node.finalbody, name), [])
        setattr(inner, _AROUND, getattr(node, _AROUND, ()))
        return [ast.copy_location(inner, node), *node.finalbody]

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        """Conditions in order: names are bound once all of a pattern holds, before the condition behind it."""
        self.count += 1
        subject = f"subject {self.count}"
        read = [matching.asked(case.pattern, subject) for case in node.cases]
        if not all(read):
            return node
        chain: list[ast.stmt] = []
        for number, (pattern, case) in reversed(list(enumerate(zip(read, node.cases, strict=True)))):
            body = [x for s in case.body for x in listed(self.visit(s))]
            assert pattern is not None
            test, bound = pattern.holds, [assign(name, value, node) for name, value in pattern.names]
            if test is None:  # a name is bound, also where the condition behind it does not hold
                chain = [*bound, *(body if case.guard is None else [placed(ast.If(case.guard, body, chain), node)])]
            elif case.guard is None:
                chain = [placed(ast.If(test, [*bound, *body], chain), node)]
            elif not bound:
                chain = [placed(ast.If(ast.BoolOp(ast.And(), [test, case.guard]), body, chain), node)]
            else:
                holds = f"case {self.count} {number} holds"
                no = assign(holds, ast.Constant(False), node)
                first = placed(ast.If(test, [*bound, assign(holds, case.guard, node)], [no]), node)
                chain = [first, placed(ast.If(ast.Name(holds, ast.Load()), body, chain), node)]
        return [assign(subject, node.subject, node), *chain]

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._written_twice(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._written_twice(node)

    def _written_twice(self, node: Any) -> Any:
        """``(a if c else b).append(v)``: ``if c: a.append(v)``, ``else: b.append(v)``; Python evaluates `c` first."""
        chosen = _chooses(node)
        if chosen is None:
            return node
        then, orelse = copy.deepcopy(node), node
        for way, holds in ((then, True), (orelse, False)):
            holder: Any = getattr(way, "target", None) or way.value.func
            holder.value = holder.value.body if holds else holder.value.orelse
        return placed(ast.If(chosen.test, [self._written_twice(then)], [self._written_twice(orelse)]), node)

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if not (self.inlined and self.depth):
            return node
        value = node.value or ast.Constant(None)
        flag = assign(RETURNS, ast.Constant(True), node)
        return [assign(RETURNED, value, node), flag, placed(ast.Break(), node)]


ONCE = "one trip"


class _Shown(ast.NodeTransformer):
    """The text of an exception, where no more than that is asked for."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def _is_it(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        text = ast.copy_location(ast.Name(self.text, ast.Load()), node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "str" and len(node.args) == 1 and self._is_it(node.args[0]):
            return text
        if called == "print":
            node.args = [text if self._is_it(a) else a for a in node.args]
        return self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        if self._is_it(node.value) and node.conversion in (-1, ord("s")):
            node.value = ast.copy_location(ast.Name(self.text, ast.Load()), node.value)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.cause is not None and self._is_it(node.cause):
            node.cause = None
        return self.generic_visit(node)


def _lets_pass(body: Sequence[ast.stmt]) -> bool:
    """Whether a handler only raises again what it has caught: nobody sees that it did."""
    return len(body) == 1 and isinstance(body[0], ast.Raise) and body[0].exc is None


def _only_binds(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do no more than to bind names to something new."""
    for s in body:
        match s:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=targets, value=value) if all(isinstance(t, ast.Name) for t in targets):
                if any(isinstance(x, ast.Call) for x in all_nodes(value)):
                    return False
            case ast.AugAssign(target=ast.Name(), value=ast.Constant()):
                pass
            case _:
                return False
    return True


def _ending(body: Sequence[ast.stmt], last: Sequence[ast.stmt], name: str, inside: bool = False) -> list[ast.stmt]:
    """`body`, with `last` before each jump out of it; `inside` a loop of its own, only `return` is one."""
    result: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Return):
            held = assign(name, s.value or ast.Constant(None), s)
            left = placed(ast.Return(ast.Name(name, ast.Load())), s)
            result += [held, *copy.deepcopy(list(last)), left]
            continue
        if isinstance(s, (ast.Break, ast.Continue)) and not inside:
            result += copy.deepcopy(list(last))
        if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            s = copy.copy(s)
            loop = inside or isinstance(s, (ast.For, ast.While))
            for field in ("body", "orelse"):
                inner = getattr(s, field, None)
                if isinstance(inner, list):
                    setattr(s, field, _ending(inner, last, name, loop))
        result.append(s)
    return result


def _reads(body: Sequence[ast.stmt], name: str) -> bool:
    return any(isinstance(x, ast.Name) and x.id == name for s in body for x in all_nodes(s))


def _leaving(body: Sequence[ast.stmt], left: str) -> list[ast.stmt]:
    """`body` in a loop of its own: jumps of the loop around it say so, and leave this one."""
    result: list[ast.stmt] = []
    for s in body:
        if isinstance(s, (ast.Break, ast.Continue)):
            result.append(assign(left, ast.Constant(1 if isinstance(s, ast.Break) else 2), s))
            result.append(ast.copy_location(ast.Break(), s))
            continue
        if isinstance(s, (ast.If, ast.With, ast.Try)):
            s = copy.copy(s)
            s.body = _leaving(s.body, left)
            if not isinstance(s, ast.With):
                s.orelse = _leaving(s.orelse, left)
            if isinstance(s, ast.Try):
                s.handlers = [copy.copy(h) for h in s.handlers]
                for h in s.handlers:
                    h.body = _leaving(h.body, left)
        result.append(s)
    return result


def _never(name: str, at: ast.stmt) -> ast.stmt:
    """Makes `name` one that the loop around binds, whatever binds it."""
    return placed(ast.If(ast.Constant(False), [assign(name, ast.Constant(0), at)], []), at)


def _catching(body: Sequence[ast.stmt], caught: str, told: Sequence[str]) -> list[ast.stmt]:
    """`body` where an exception that leaves an inner loop leaves the ones around it, too; the loops hand on who takes
    it, and the message under a name of `told`."""
    result: list[ast.stmt] = []
    for s in body:
        s = copy.copy(s)
        for name in ("body", "orelse"):
            if isinstance(s, (ast.If, ast.With, ast.For, ast.While, ast.Try)) and getattr(s, name, None):
                setattr(s, name, _catching(getattr(s, name), caught, told))
        if isinstance(s, ast.Try):
            s.handlers = [copy.copy(h) for h in s.handlers]
            for h in s.handlers:
                h.body = _catching(h.body, caught, told)
            setattr(s, _AROUND, (*getattr(s, _AROUND, ()), caught))
            setattr(s, _TOLD, (*getattr(s, _TOLD, ()), *told))
        result.append(s)
        if isinstance(s, (ast.For, ast.While)):
            s.body = [*(_never(name, s) for name in (caught, *told)), *s.body]
            result.append(placed(ast.If(ast.Name(caught, ast.Load()), [ast.Break()], []), s))
    return result


def listed(made: object) -> list[ast.stmt]:
    """The statements that a transformer has made of one."""
    return made if isinstance(made, list) else [made]  # type: ignore[list-item]


def _marked_breaks(body: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """`body` where every `break` of its own loop sets `flag` to False first."""
    result: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Break):
            result.append(assign(flag, ast.Constant(False), s))
        elif isinstance(s, (ast.If, ast.With)):
            s.body = _marked_breaks(s.body, flag)
            if isinstance(s, ast.If):
                s.orelse = _marked_breaks(s.orelse, flag)
        result.append(s)
    return result


def without_jumps(body: Sequence[ast.stmt], broken: str, skipped: str) -> list[ast.stmt]:
    """`body` with `break` and `continue` of its own loop as flags, what comes after them under conditions:

    if c: break                  if c: broken = True
    s                     ->     if not broken: s
    """
    result: list[ast.stmt] = []
    for position, s in enumerate(body):
        if isinstance(s, (ast.Break, ast.Continue)):
            result.append(assign(broken if isinstance(s, ast.Break) else skipped, ast.Constant(True), s))
            return result
        if not isinstance(s, (ast.If, ast.With)) or not has_jumps([s]):
            result.append(s)
            continue
        s = copy.copy(s)
        s.body = without_jumps(s.body, broken, skipped)
        if isinstance(s, ast.If):
            s.orelse = without_jumps(s.orelse, broken, skipped)
        result.append(s)
        rest = without_jumps(body[position + 1 :], broken, skipped)
        if rest:
            left = ast.BoolOp(ast.Or(), [ast.Name(broken, ast.Load()), ast.Name(skipped, ast.Load())])
            result.append(placed(ast.If(ast.UnaryOp(ast.Not(), left), rest, []), s))
        return result
    return result


def fresh_name(name: str, taken: set[str]) -> str:
    """A name like `name` that is not among those `taken`, which it is from now on."""
    count, made = 1, name
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    taken.add(made)
    return made


class Rename(ast.NodeTransformer):
    """Other names for names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

"""The walk over a function's `ast`: statements, control flow, names. What a call means is in `functions`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NoReturn

import numpy as np

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.anew import MustGrow, NotKnown, Terminated
from transkern.frontend.bodies import RETURN
from transkern.frontend.containers import hashed, replacing, sequences
from transkern.frontend.loops import trying
from transkern.frontend.loops.looping import Loops
from transkern.frontend.loops.trips import condition_of
from transkern.frontend.python.texts import as_text
from transkern.frontend.refused import LEFT_OUT, leave_out
from transkern.frontend.sources.decorators import decorated
from transkern.frontend.sources.effects import imported_path
from transkern.frontend.sources.identity import is_known_library
from transkern.frontend.sources.measures import NotComputed
from transkern.frontend.sources.module_names import ThroughModule
from transkern.frontend.sources.source import known_object, span_of
from transkern.frontend.state import guards
from transkern.frontend.subscripts.keys import constant_slice, dict_item, key_of
from transkern.frontend.syntax import forking
from transkern.frontend.syntax.iterators import check_iterator
from transkern.frontend.syntax.liveness import live_behind, read_by
from transkern.frontend.syntax.syntax import assigned_names, is_swap
from transkern.frontend.translate import managers
from transkern.frontend.translate.binding import in_place, outside
from transkern.frontend.translate.expressions import BINARY
from transkern.frontend.values import python_types
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Array,
    Dict,
    Function,
    GrowingList,
    Hashed,
    JoinedText,
    Object,
    OneOf,
    Seq,
    Shown,
    Slice,
    Static,
    Text,
    Value,
    deleted,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Expr
from transkern.parsing import all_nodes, child_nodes, parse_expression

_WORDS = {
    "ClassDef": "class", "AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with",
    "TryStar": "except*", "TypeAlias": "type",
}  # fmt: skip
_INSTEAD = {
    "class": "write the class in the module, outside of the function", "match": "use `if` and `elif`",
    "async def": "write a plain function, with `def`", "except*": "use `except`",
}  # fmt: skip
_MESSAGE_NUMBERS = 6  # beside which there is room for what goes into arguments


def _axis_text(axis: ast.expr, ndim: ast.expr) -> ast.expr:
    """The text of an AxisError."""
    parts: list[ast.expr] = []
    for text, number in (("axis ", axis), (" is out of bounds for array of dimension ", ndim)):
        parts += [ast.Constant(text), ast.FormattedValue(number, -1)]
    return ast.copy_location(ast.JoinedStr(parts), axis)


class Translator(Loops):
    """One function body; `inlined` bodies leave their value under the name `RETURN`."""

    def run(self) -> Value:
        """Translate the body; the value returned (inlined functions)."""
        self.ctx.scopes.frames.append(self.env)
        self.ctx.scopes.called_in.append(self.ctx.emitter.out)
        scopes = self.ctx.scopes
        outer = scopes.live_here, scopes.read_here, scopes.statement, scopes.called
        scopes.called = None
        try:
            if isinstance(self.node, ast.Lambda):
                scopes.live_here = None  # those of its caller are others
                return self.expr(self.node.body)
            done = self.block(self.node.body)
            if not done:
                if self.inlined:
                    self.env[RETURN] = Static(None)
                else:
                    self.ctx.emit(n.Return(self.returned(Static(None))))
            if RETURN not in self.env and self.inlined and (self.node, RETURN) not in self.ctx.scopes.unknown:
                raise Terminated  # it raises, whatever happens
            if (self.node, RETURN) in self.ctx.scopes.unknown:
                raise self.ctx.error(refusals.UNKNOWN_NAME, LEFT_OUT)
            return self.env.get(RETURN, Static(None))
        finally:
            self.ctx.scopes.frames.pop()
            self.ctx.scopes.called_in.pop()
            scopes.live_here, scopes.read_here, scopes.statement, scopes.called = outer

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Translate statements; True where the end is not reached."""
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            self.pending.append(lambda rest=rest: self.block(rest))  # type: ignore[misc]
            outer = self.choosing
            place = forking.place_of(statement, self.scope.file) if rest or not isinstance(statement, ast.If) else None
            self.choosing = place
            try:
                if place in self.ctx.learned.forked and (apart := forking.as_branch(statement)) is not None:
                    for part in apart[0]:
                        self.statement(part)
                    self.pending[-1] = lambda: False
                    return self.go_apart(apart[1], rest, statements[-1])
                if statement in self.ctx.session.left_out:
                    raise self.ctx.error(refusals.UNKNOWN_NAME, LEFT_OUT)
                if isinstance(statement, ast.If):
                    if self.branch(statement):
                        return True
                    continue
                self.statement(statement)
            except Terminated:
                return True
            except (NeedsConstant, MustGrow) as error:
                self._came_up(error.problem, statement)
                raise
            except CompileError as error:
                if LEFT_OUT in error.problem:
                    leave_out(self.env, statement)
                    self.ctx.scopes.unknown |= {(self.node, name) for name in assigned_names([statement])}
                    if isinstance(statement, ast.Return):
                        self.ctx.scopes.unknown.add((self.node, RETURN))
                    if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
                        return True
                    continue
                self._came_up(error, statement)
                if not self._meets_none(statement):
                    raise
                self.ctx.control.deferred = self.ctx.control.deferred or error
                return True
            finally:
                self.pending.pop()
                self.choosing = outer
        return False

    def _came_up(self, error: CompileError, statement: ast.stmt) -> None:
        if self.ctx.session.pinned:  # in a function of NumPy's: all of that is one call
            return
        error.path += (statement,)
        if not self.inlined:
            error.own += (statement,)

    def _meets_none(self, statement: ast.stmt) -> bool:
        """Whether a statement uses a name that is None in all iterations known so far: another may give it a value, and
        the loop is then translated again. Until then the statement is one that raises."""
        names = {name for state in self.loops for name in state.only_none()}
        return bool(names) and any(isinstance(x, ast.Name) and x.id in names for x in all_nodes(statement))

    def finish(self) -> bool:
        """Translate all that comes after the present block, to the function's end (where a branch returns in an inlined
        function, the other branch goes on by itself)."""
        held = list(self.pending)
        try:
            while self.pending:
                if self.pending.pop()():
                    return True
            self.env[RETURN] = Static(None)
            self.ended = True
            return True
        finally:
            self.pending[:] = held

    def statement(self, node: ast.stmt) -> None:
        self.ctx.session.span = span_of(node, self.scope.file)
        self.ctx.session.step()
        try:
            self._statement(node)
        except NotComputed as error:
            problem = f"{error}, of what is known while the function is translated"
            self.ctx.fail(refusals.TOO_LARGE_TO_COMPILE, problem, "compute less at once", node)

    def _statement(self, node: ast.stmt) -> None:
        scopes = self.ctx.scopes
        scopes.live_here, scopes.read_here, scopes.statement = live_behind(self.node, node), read_by(node), node
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.expr(value)
            case ast.Assign(targets=targets, value=value):
                if isinstance(value, (ast.GeneratorExp, ast.Call, ast.Tuple)):
                    check_iterator(self.ctx, self.node, node, self.env)
                result = self.expr(value)
                if len(targets) > 1:
                    result = self.settle(result, "value")
                    if isinstance(result, Array) and result.ndim and not result.view:  # one array, of all these names
                        result = self.ctx.define(result, next((t.id for t in targets if isinstance(t, ast.Name)), "a"))
                self.swaps = is_swap(node)
                for target in targets:
                    self.assign(target, result)
                self.swaps = False
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.expr(value))
            case ast.AnnAssign() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._local_import(node)
                elif isinstance(node, ast.Nonlocal):
                    problem = f"`{ast.unparse(node)}`: assigning a name of the function around"
                    self.ctx.fail(refusals.OUTSIDE_CHANGED, problem, "pass the value in and return it", node)
                elif isinstance(node, ThroughModule) or (
                    isinstance(node, ast.Global) and self.ctx.scopes.managing is None
                ):
                    outside.are_arguments(self.ctx, self.scope, node)
                elif isinstance(node, ast.Global):
                    self.globals |= set(node.names)
            case ast.AugAssign(target=target, op=op, value=value):
                in_place.augment(self, target, BINARY.get(type(op), "matmul"), value)
            case ast.While(test=test, body=body, orelse=orelse):
                self.while_loop(node, test, body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.for_loop(node, target, iterable, body, orelse)
            case ast.Return(value=value):
                self.return_(value)
            case ast.Break() | ast.Continue():
                if not self.loops:
                    problem = "`break` or `continue` outside of a run-time loop"
                    self.ctx.fail(refusals.STATEMENT, problem, "use a condition")
                self.loops[-1].leave(self, isinstance(node, ast.Break))
                raise Terminated
            case ast.Raise(exc=exc):
                self.raise_(exc)
            case ast.Assert() if not self.scope.asserts:
                pass
            case ast.Assert(test=test, msg=message):
                holds = condition_of(self.test(test))
                if holds == b.TRUE:
                    return
                made = None
                with self.ctx.emitter.block() as extra, suppress(Terminated):
                    told = Static("") if message is None else self.expr(message)
                    made = self.raised_with("AssertionError", AssertionError, told, True, message or node)
                if made is None:  # the message raises
                    self.ctx.emit(n.If(b.logical_not(holds), tuple(extra)))
                    return
                name, text, args = made
                if any(not isinstance(s, (n.Let, n.Guard)) for s in extra):
                    problem = "a message that needs a computation"
                    self.ctx.fail(refusals.MESSAGE, problem, "compute it before the assert", node)
                if any(isinstance(s, n.Guard) for s in extra):
                    self.ctx.emit(n.If(b.logical_not(holds), (*extra, n.Guard(b.FALSE, name, text, args))))
                    return
                self.ctx.emitter.out.extend(extra)
                self.ctx.guard(holds, name, text, args)
            case ast.With(items=items, body=body):
                managers.with_(self, items, body)
            case ast.Try(handlers=handlers, finalbody=finalbody):
                if finalbody:
                    help = "catch what is raised, and do after the `try` what `finally` does"
                    self.ctx.fail(refusals.EFFECTS, "`finally` with effects that others see", help, node)
                used = next(u for h in handlers for u in _uses(h))
                problem = f"`{ast.unparse(used)}`: of a caught exception compiled code knows its text, and no more"
                help = "use str(e) or f\"{e}\", or test beforehand for what would raise it"
                self.ctx.fail(refusals.MESSAGE, problem, help, used)
            case ast.FunctionDef(name=name):
                written = Function(node.name, node, self.scope, self.env, self.defaults(node.args))
                call = lambda function, given, at: self.apply_function(function, [given], at)  # noqa: E731
                self.env[name] = decorated(written, self.expr, call)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.delete(target)
            case _:
                kind = _WORDS.get(type(node).__name__, type(node).__name__.lower())
                help = _INSTEAD.get(kind, "leave it out, or keep it outside of the function")
                which = f"`{kind}` statements{' with such patterns' * isinstance(node, ast.Match)}"
                self.ctx.fail(refusals.STATEMENT, f"{which} are not compiled", help, node)

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            head = alias.name.split(".")[0]
            if isinstance(node, ast.ImportFrom):
                path = imported_path(node, alias)
                self.env[alias.asname or alias.name] = self._imported(path)
            else:  # `import a.b` binds `a`
                self.env[alias.asname or head] = self._imported(alias.name if alias.asname else head)

    def _imported(self, path: str) -> Value:
        found = None if is_known_library(path) else self.scope.imported(path)
        return known_object(path) if found is None else found

    def raise_(self, exc: ast.expr | None) -> None:
        if exc is None:
            problem = "`raise` without an exception, beside other statements or outside of a handler"
            self.ctx.fail(refusals.STATEMENT, problem, "raise a new one, as in `raise ValueError(…)`")
        called = exc.func if isinstance(exc, ast.Call) else exc
        given = exc.args if isinstance(exc, ast.Call) else []
        kind = self.expr(called)
        error = trying.exception_class(self, kind, exc)
        name = error.__name__ if error.__module__ == "builtins" else self._class_path(error)
        if error is np.exceptions.AxisError and len(given) in (1, 2):  # of a text, or of an axis and a dimension
            given = given if len(given) == 1 else [_axis_text(*given)]
        if isinstance(exc, ast.Call) and exc.keywords:
            problem = f"raising `{error.__name__}` with `{exc.keywords[0].arg}=`"
            self.ctx.fail(refusals.MESSAGE, problem, "give its arguments by position", exc)
        alone = given[0] if len(given) == 1 and not isinstance(given[0], ast.Starred) else None
        several = ast.copy_location(ast.Tuple(list(given), ast.Load()), exc)
        value = self.expr(several if alone is None else alone) if given else Static("")
        shows = isinstance(value, Text) and any(isinstance(a, Shown) for a in value.args)
        if self.ctx.learned.grows and (shows or isinstance(value, JoinedText)):
            self._raise_text(error, name, value)
        name, text, args = self.raised_with(name, error, value, alone is not None, exc)
        if _makes_its_message(error) and self.ctx.control.catching and guards.caught(self.ctx, error) is not None:
            text, args = "{}", (b.ZERO,)  # no handler here may read what its class makes of them
        self.ctx.guard(b.FALSE, name, text, args)

    def _raise_text(self, error: type[BaseException], name: str, value: Value) -> NoReturn:
        """Raises an exception whose message has lists in it: Python makes it of these, as it makes results."""
        ctx = self.ctx
        if ctx.control.catching and guards.caught(ctx, error) is not None:
            ctx.guard(b.FALSE, name, "{}", (b.ZERO,))  # no handler here may read it
        text = as_text(ctx, value)
        guards.raise_made(ctx, name, text.template, [self._in_text(a) for a in text.args])

    def raised_with(
        self, name: str, error: type[BaseException], value: Value, is_one: bool, node: ast.AST
    ) -> tuple[str, str, tuple[Expr, ...]]:
        """An exception's name as a guard has it, its message and the numbers in it, where `value` is its argument, or
        (not `is_one`) the tuple of them. A handler here is told no more than its text."""
        caught = bool(self.ctx.control.catching) and guards.caught(self.ctx, error) is not None
        known = value.value if isinstance(value, Static) and isinstance(value.value, str) else None
        is_empty = is_one and known == ""  # which no argument would look like
        if isinstance(value, Text) or (not is_empty and (caught or known is not None)):
            return name, *self.message(value, node)
        text, args = self.message(Seq((value,)) if is_one else value, node)
        if not _can_be_read(text, len(args)):
            problem = "an argument of an exception that is neither a number nor a text"
            self.ctx.fail(refusals.MESSAGE, problem, "tell it as str(…)", node)
        return n.SEVERAL + name, text, args

    def message(self, value: Value, node: ast.AST | None) -> tuple[str, tuple[Expr, ...]]:
        """An exception's message: a template, and the numbers in it."""
        text = as_text(self.ctx, value)
        args = []
        for value in text.args:
            if isinstance(value, OneOf):
                problem = "one of several texts, or that of a caught exception, in an exception's message"
                self.ctx.fail(refusals.MESSAGE, problem, "raise in each branch, with the text written out", node)
            if isinstance(value, Shown):
                help = "tell numbers of it, such as its length or an element"
                self.ctx.fail(refusals.MESSAGE, f"{describe(value.value)} in an exception's message", help, node)
            expr = scalar_expr(self.ctx, value)
            if is_complex(expr.dtype):
                problem = "a complex number in an exception's message"
                self.ctx.fail(refusals.MESSAGE, problem, "tell its parts: z.real, z.imag", node)
            args.append(b.as_index(expr) if expr.dtype.startswith(("int", "uint")) and expr.dtype != "uint64" else expr)
        if len(args) > _MESSAGE_NUMBERS:
            problem = f"a message of more than {_MESSAGE_NUMBERS} run-time numbers"
            self.ctx.fail(refusals.MESSAGE, problem, "tell fewer", node)
        return text.template, tuple(args)

    def _delete_slice(self, owner: Value, contents: Seq | GrowingList, at: Slice, node: ast.AST) -> None:
        """``del list[a:b]``."""
        if contents.kind != "list":
            help = "make a list of what stays: a[:1] + a[3:]"
            self.ctx.fail(refusals.TARGET, f"deleting a slice of {describe(contents)}", help, node)
        if isinstance(contents, GrowingList):
            return replacing.delete_slice(self.ctx, contents, at)
        kept = list(contents.items)
        try:
            del kept[constant_slice(self.ctx, at)]
        except NotKnown as error:
            if isinstance(owner, Object) and error.finding is None:
                error.finding = self.ctx.growing_at(owner.token)
            raise
        self.ctx.change(owner, Seq(tuple(kept), "list"))

    def delete(self, target: ast.expr) -> None:
        """``del name``, ``del d[key]``, ``del list[k]``."""
        ctx = self.ctx
        match target:
            case ast.Name(id=name):
                self.env[name] = deleted(name)
            case ast.Subscript(value=value, slice=index):
                owner = self.expr(value)
                contents = ctx.deref(owner)
                items = self.items(index, contents)
                item = items[0] if len(items) == 1 else Seq(tuple(items))
                if python_types.is_array(contents):
                    ctx.guard(b.FALSE, "ValueError", "cannot delete array elements")
                python_types.check_item(ctx, operator.delitem, contents, item)
                if isinstance(contents, Hashed):
                    hashed.delete(ctx, contents, item)
                elif isinstance(contents, Dict):
                    key = key_of(ctx, items)
                    dict_item(ctx, contents, key)
                    ctx.change(owner, contents.without(key))
                elif isinstance(contents, (Seq, GrowingList)):
                    if isinstance(item, Slice):
                        self._delete_slice(owner, contents, item, target)
                    else:
                        sequences.method(ctx, owner, "__delitem__", items, {})
                else:
                    help = "make a new one without it: np.delete(a, k) of an array"
                    ctx.fail(refusals.TARGET, f"deleting an item of {describe(contents)}", help, target)
            case ast.Tuple(elts=elts):
                for e in elts:
                    self.delete(e)
            case _:
                problem = f"deleting `{ast.unparse(target)}`"
                ctx.fail(refusals.TARGET, problem, "delete names, and items of lists and dicts", target)


def _uses(handler: ast.ExceptHandler) -> Iterator[ast.expr]:
    """Where a handler looks at its exception: ``e.args[0]``, ``repr(e)``."""
    for node in (x for s in handler.body for x in all_nodes(s)):
        inner = [c.value if isinstance(c, ast.keyword) else c for c in child_nodes(node)]
        if any(isinstance(c, ast.Name) and c.id == handler.name for c in inner):
            yield node if isinstance(node, ast.expr) else next(c for c in inner if isinstance(c, ast.Name))


def _makes_its_message(error: type[BaseException]) -> bool:
    """Whether a class makes its message of its arguments itself: who raises it to the caller calls the class."""
    own = [c for c in error.__mro__ if c.__module__ != "builtins"]
    return error is not np.exceptions.AxisError and any("__init__" in vars(c) or "__str__" in vars(c) for c in own)


def _can_be_read(template: str, count: int) -> bool:
    """Whether a tuple's text is that of numbers, texts and what is made up of them, so that it can be read back."""
    try:
        tree = parse_expression(template.format(*[0] * count))
    except SyntaxError:
        return False
    read = (
        ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator,
        ast.unaryop, ast.Name, ast.Attribute, ast.Call, ast.Load,
    )  # fmt: skip
    names = (node.id for node in all_nodes(tree) if isinstance(node, ast.Name))
    return all(isinstance(node, read) for node in all_nodes(tree)) and {*names} <= {"np", "nan", "inf"}

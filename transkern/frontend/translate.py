"""The walk over a function's `ast`: statements, control flow, names. What a call means is in `functions`."""

from __future__ import annotations

import ast
import builtins
import pydoc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.errors import CompileError, NeedsConstant
from transkern.frontend import attributes, characters, growing, iterating, library_calls, sequences, shaping, storing
from transkern.frontend.carried import LoopState
from transkern.frontend.context import Catch, Change, Context, MustGrow, NotKnown, Site, Terminated
from transkern.frontend.desugar import CATCHES, has_jumps, without_jumps
from transkern.frontend.elementwise import (
    PYTHON_OPERATORS,
    apply,
    as_array,
    describe,
    is_number,
    part,
    present,
    scalar_expr,
    select,
    static_expr,
    type_name,
)  # fmt: skip
from transkern.frontend.expressions import BINARY, RETURN, UNROLLED, Expressions
from transkern.frontend.indexing import Item, SliceValue, array_item, constant_object, dict_item, key_of, subscript
from transkern.frontend.indexing import element as list_element
from transkern.frontend.liveness import live_after, live_behind, live_names
from transkern.frontend.own_lists import IS_SUM
from transkern.frontend.sharing import may_show, shared_stores, stored_before_made
from transkern.frontend.source import known_object, span_of
from transkern.frontend.syntax import (
    assigned_names,
    rebound_names,
    returns,
    stored_in,
)  # fmt: skip
from transkern.frontend.texts import as_text, text_operation
from transkern.frontend.trips import bound_of, condition_of, stable_parts, trip_bound, trip_count
from transkern.frontend.types_of_scalars import scalar_kind
from transkern.frontend.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    Function,
    GrowingList,
    Known,
    Maybe,
    Method,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Scalar,
    Seq,
    Static,
    Text,
    Unbound,
    Value,
    children,
    same_structure,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import REAL, has_part, is_complex
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_read, variables_read, walk_expr

_SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip
_UNROLL, _FEW = 64, 16
_PATIENCE = 5.0  # seconds for a loop's iterations one by one
_MOST_NONE = 4
_MESSAGE_NUMBERS = 6  # what the targets have room for
_ITEM = "loop item"  # no identifier: the value that an unrolled iteration binds


class Translator(Expressions):
    """One function body; `inlined` bodies leave their value under the name `RETURN`."""

    # --- statements

    def run(self) -> Value:
        """Translate the body; the value returned (inlined functions)."""
        self.ctx.frames.append(self.env)
        outer = self.ctx.live_here
        try:
            if isinstance(self.node, ast.Lambda):
                return self.expr(self.node.body)
            done = self.block(self.node.body)
            if not done:
                if self.inlined:
                    self.env[RETURN] = Static(None)
                else:
                    self.ctx.emit(n.Return(self.returned(Static(None))))
            if RETURN not in self.env and self.inlined:
                raise Terminated  # it raises, whatever happens
            return self.env.get(RETURN, Static(None))
        finally:
            self.ctx.frames.pop()
            self.ctx.live_here = outer

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Translate statements; True where the end is not reached."""
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            self.pending.append(lambda rest=rest: self.block(rest))  # type: ignore[misc]
            try:
                if isinstance(statement, ast.If):
                    if self.branch(statement):
                        return True
                    continue
                self.statement(statement)
            except Terminated:
                return True
            except CompileError as error:
                if not self._meets_none(statement):
                    raise
                self.ctx.deferred = self.ctx.deferred or error
                return True
            finally:
                self.pending.pop()
        return False

    def _meets_none(self, statement: ast.stmt) -> bool:
        """Whether a statement uses a name that is None in all iterations known so far: another may give it a value, and
        the loop is then translated again. Until then the statement is one that raises."""
        names = {name for state in self.loops for name in state.only_none()}
        return bool(names) and any(isinstance(x, ast.Name) and x.id in names for x in ast.walk(statement))

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
        self.ctx.span = span_of(node, self.scope.file)
        self.ctx.live_here = live_behind(self.node, node)
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.expr(value)
            case ast.Assign(targets=targets, value=value):
                result = self.expr(value)
                if len(targets) > 1:
                    result = self.settle(result, "value")
                for target in targets:
                    self.assign(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.expr(value))
            case ast.AnnAssign() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._local_import(node)
                elif isinstance(node, (ast.Global, ast.Nonlocal)):
                    self.ctx.fail("assigning a global name", "pass the value in and return it", node)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, BINARY.get(type(op), "matmul"), value)
            case ast.While(test=test, body=body, orelse=orelse):
                self.while_loop(node, test, body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.for_loop(node, target, iterable, body, orelse)
            case ast.Return(value=value):
                self.return_(value)
            case ast.Break() | ast.Continue():
                if not self.loops:
                    self.ctx.fail("break outside a run-time loop")
                self.loops[-1].leave(self, isinstance(node, ast.Break))
                raise Terminated
            case ast.Raise(exc=exc):
                self.raise_(exc)
            case ast.Assert(test=test, msg=message):
                holds = condition_of(self.test(test))
                if holds == b.TRUE:
                    return
                with self.ctx.block() as extra:
                    text, args = self.message(message)
                if any(not isinstance(s, (n.Let, n.Guard)) for s in extra):
                    self.ctx.fail("a message that needs a computation", "compute it before the assert", node)
                if any(isinstance(s, n.Guard) for s in extra):
                    self.ctx.emit(n.If(b.logical_not(holds), (*extra, n.Guard(b.FALSE, "AssertionError", text, args))))
                    return
                self.ctx.out.extend(extra)
                self.ctx.guard(holds, "AssertionError", text, args)
            case ast.With(items=items, body=body):
                self.with_(items, body)
            case ast.Try():
                self.ctx.fail("`finally`, or an exception that is read", "catch it without `as` and `finally`", node)
            case ast.FunctionDef(name=name):
                self.env[name] = Function(name, node, self.scope, self.env)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.delete(target)
            case _:
                self.ctx.fail(f"`{type(node).__name__.lower()}` statements are not compiled", "", node)

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            head = alias.name.split(".")[0]
            if isinstance(node, ast.ImportFrom):
                self.env[alias.asname or alias.name] = known_object(f"{node.module}.{alias.name}")
            else:  # `import a.b` binds `a`
                self.env[alias.asname or head] = known_object(alias.name if alias.asname else head)

    def raise_(self, exc: ast.expr | None) -> None:
        if exc is None:
            self.ctx.guard(b.FALSE, "RuntimeError", "No active exception to reraise")
            return
        called = exc.func if isinstance(exc, ast.Call) else exc
        given = exc.args if isinstance(exc, ast.Call) else []
        kind = self.expr(called)
        error = self.exception_class(kind, exc)
        name = error.__name__ if error.__module__ == "builtins" else self._class_path(error)
        if any("__init__" in vars(c) or "__str__" in vars(c) for c in error.__mro__ if c.__module__ != "builtins"):
            self.ctx.fail(f"raising `{error.__name__}`, which makes its message itself", "raise a plain exception", exc)
        if len(given) == 1 and not isinstance(given[0], ast.Starred):
            text, args = self.message(given[0])
        else:
            text, args = self.message(ast.copy_location(ast.Tuple(list(given), ast.Load()), exc) if given else None)
        changes = self.returned(Static(None))
        if self.ctx.changes:
            # what was put into the arguments before it is handed over with the exception
            assert isinstance(changes, n.TupleResult)
            raised = n.TupleResult(tuple(n.ScalarResult(a, True) for a in args), "raise", (text,), name)
            self.ctx.emit(n.Return(n.TupleResult((raised, *changes.items[1:]))))
            raise Terminated
        self.ctx.guard(b.FALSE, name, text, args)

    def message(self, node: ast.expr | None) -> tuple[str, tuple[Expr, ...]]:
        """An exception's message: a template, and the numbers in it."""
        if node is None:
            return "", ()
        text = as_text(self.ctx, self.expr(node))
        args = []
        for value in text.args:
            expr = scalar_expr(self.ctx, value)
            args.append(b.as_index(expr) if expr.dtype.startswith(("int", "uint")) else expr)
        if len(args) > _MESSAGE_NUMBERS:
            self.ctx.fail(f"a message of more than {_MESSAGE_NUMBERS} run-time numbers", "tell fewer", node)
        return text.template, tuple(args)

    def with_(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
        """``with np.errstate(…)``: there are no warnings here, so that ``ignore`` and ``warn`` are what happens."""
        for item in items:
            call = item.context_expr
            function = self.expr(call.func) if isinstance(call, ast.Call) else None
            if not (isinstance(function, Known) and function.path in ("numpy.errstate", "numpy.printoptions")):
                self.ctx.fail("`with` of this", "np.errstate is known", call)
            assert isinstance(call, ast.Call)
            for keyword in call.keywords:
                mode = self.expr(keyword.value)
                if function.path == "numpy.printoptions" or mode in (Static("raise"), Static("call"), Static("print")):
                    self.ctx.fail("np.errstate that raises, calls or prints", 'use "ignore", and test the result', call)
        if self.block(body):
            raise Terminated

    def delete(self, target: ast.expr) -> None:
        """``del name``, ``del d[key]``, ``del list[k]``."""
        ctx = self.ctx
        match target:
            case ast.Name(id=name):
                self.env[name] = Unbound(f"`{name}` is deleted")
            case ast.Subscript(value=value, slice=index):
                owner = self.expr(value)
                contents = ctx.deref(owner)
                if isinstance(contents, Dict):
                    key = key_of(ctx, self.items(index))
                    dict_item(ctx, contents, key)
                    ctx.change(owner, contents.without(key))
                elif isinstance(contents, (Seq, GrowingList)):
                    sequences.method(ctx, owner, "pop", self.items(index), {})
                else:
                    ctx.fail(f"deleting an item of {describe(contents)}", "", target)
            case ast.Tuple(elts=elts):
                for e in elts:
                    self.delete(e)
            case _:
                ctx.fail("deleting this", "", target)

    def return_(self, value: ast.expr | None) -> None:
        result = Static(None) if value is None else self.expr(value)
        if self.inlined:
            self.env[RETURN] = self.settle(result, "result")
            assert not self.loops, "`return` inside a loop is a flag and a break"
            self.ended = True
            raise Terminated
        self.hand_back(result)
        raise Terminated

    def hand_back(self, value: Value, decided: int = 0) -> None:
        """Return `value` from the compiled function; where something in it may be None, each way by itself."""
        ctx = self.ctx
        found = _or_none(ctx, value)
        if found is None:
            ctx.emit(n.Return(self.returned(value)))
            return
        if decided > _MOST_NONE:
            ctx.fail(f"returning more than {_MOST_NONE} things that may be None", "return fewer")
        for is_none in (True, False):
            heap = dict(ctx.heap)
            with ctx.block() as out:
                self.hand_back(_decided(ctx, value, found.none, is_none), decided + 1)
            ctx.heap = heap
            if is_none:
                ctx.emit(n.If(found.none, tuple(out)))
            else:
                ctx.out.extend(out)

    def returned(self, value: Value) -> n.Result:
        """The result, and with it what was put into the arguments."""
        ctx = self.ctx
        result = self.result(value)
        for token, given in ctx.given.items():
            for change in _changes(ctx.paths[token], given, ctx.heap[token]):
                if change not in ctx.changes:
                    ctx.changes.append(change)
        if not ctx.changes:
            return result
        tokens = {path: token for token, path in ctx.paths.items()}
        parts: list[n.Result] = [result]
        for path, kind, key in ctx.changes:
            token = tokens[path]
            if kind == "without":
                parts.append(n.ConstantResult(None))
                continue
            now, before = ctx.heap[token], ctx.given[token]
            if kind == "list":
                parts.append(self.result(now))
                continue
            assert isinstance(now, (Dict, Record)) and isinstance(before, (Dict, Record))
            item = now.get(key) or before.get(key)
            if item is None:
                ctx.fail(f"`{path}` gets `{key}` on some paths only", "set it on every path")
            parts.append(self.result(item))
        return n.TupleResult(tuple(parts))

    def result(self, value: Value) -> n.Result:
        """What is handed to the caller, of the type that NumPy gives."""
        if isinstance(value, Object):
            if value.token in self.ctx.paths:
                name = f"{self.ctx.paths[value.token]}_itself"
                self.ctx.returned.add(name)
                return n.ArgumentResult(name)
            value = self.ctx.deref(value)
        match value:
            case Static(v) if isinstance(v, np.generic):
                return n.ScalarResult(static_expr(v), False)
            case Static(v) if v is None or isinstance(v, (bool, int, float, complex, str)):
                return n.ConstantResult(v)
            case Seq(kind="set"):
                self.ctx.fail("returning a set", "return a list or a tuple")
            case Scalar(expr, python):
                return n.ScalarResult(expr, python)
            case Seq(items, kind):
                return n.TupleResult(tuple(self.result(i) for i in items), kind)
            case Dict(keys, items):
                return n.TupleResult(tuple(self.result(i) for i in items), "dict", tuple(keys))
            case Record(kind, names, items):
                return n.TupleResult(
                    tuple(self.result(i) for i in items), "record", names, self._class_path(kind)
                )  # fmt: skip
            case GrowingList() as owner:
                if owner.shared:
                    problem = "returning a list whose arrays share memory with an argument"
                    growing.must_be_fixed(self.ctx, owner, problem, "append copies")
                if owner.head:
                    self.ctx.fail("returning a deque", "return a list: list(queue)")
                if (owner.dims and owner.row) or owner.prefix:  # lists in a list
                    kind = "lists of numbers" if owner.python else "lists"
                    return n.TupleResult((self._array_result(as_array(self.ctx, owner)),), kind)
                return _list_result(owner)
            case Char(code):
                return n.TupleResult((n.ScalarResult(code, True),), "character")
            case OneOf(index, options):
                return n.TupleResult((n.ScalarResult(index, True),), "one of", options)
            case Text():
                self.ctx.fail("returning a text made of run-time numbers", "return the numbers")
            case Array(identity=identity) if identity:
                return n.ArgumentResult(identity)
            case Array(view=True) if self.ctx.buffers[value.base].role == "argument":
                return self._view_result(value)
            case Array() | Concatenation() | Static(np.ndarray()):
                return self._array_result(as_array(self.ctx, value))
            case Unbound(why):
                self.ctx.fail(why)
            case _:
                self.ctx.fail(f"returning {describe(value)}")

    def _class_path(self, kind: type) -> str:
        if "<locals>" in kind.__qualname__:
            self.ctx.fail(
                f"returning an instance of `{kind.__name__}`, a class made inside a function",
                "define the class at the top of its module",
            )
        return f"{kind.__module__}:{kind.__qualname__}"

    def _view_result(self, value: Array) -> n.Result:
        base = self.ctx.buffers[value.base]
        if base.name in self.ctx.memories:
            self.ctx.fail("a view of arguments that share memory as a result", "return a copy of it")
        assert isinstance(value.body, Load)
        offset, steps = [], []
        names = [a.name for a in value.axes]
        index, part = value.body.index, ""
        if has_part(index):
            part = "real" if index[-1] == REAL else "imag"
            index = index[:-1]
        for position in index:
            terms, total = b.affine(position)
            along: dict[str, Expr] = dict.fromkeys(names, b.ZERO)
            rest: dict[Expr, int] = {}
            for term, count in terms.items():
                factors = term.args if isinstance(term, Apply) and term.op == "multiply" else (term, b.ONE)
                mine = [f.name for f in factors if isinstance(f, Var) and f.name in along]
                others = [f for f in factors if not (isinstance(f, Var) and f.name in along)]
                if any(variables_read(f) & set(names) for f in others) or len(mine) > 1:
                    return self._array_result(value)
                if mine:
                    along[mine[0]] = b.add(along[mine[0]], b.mul(b.index(count), b.product(tuple(others))))
                else:
                    rest[term] = count
            offset.append(b.from_affine(rest, total))
            steps.append(tuple(along.values()))
        if len(index) != len(base.dims) and (len(index) != 1 or base.layout != "C"):
            return self._array_result(value)
        return n.ViewResult(base.name, value.dims, tuple(offset), tuple(steps), value.dtype, part)

    def _array_result(self, value: Array) -> n.Result:
        ctx = self.ctx
        whole = (
            value.mask is None and isinstance(value.body, Load) and (value.view or self._unshared(value.body.buffer))
            and value.body.index == tuple(a.var for a in value.axes)
        )  # fmt: skip
        dims = value.dims
        if (whole and self._covers(value)) or (
            whole and len(dims) == len(ctx.buffers[value.base].dims) and self._prefix(value)
        ):
            buffer = ctx.buffers[value.base]
        else:
            stored = ctx.define(value, "result")
            dims = stored.dims
            buffer = ctx.buffers[stored.base]
        self.handed_out.add(buffer.name)
        if buffer.role == "temporary" and dims == buffer.dims:
            ctx.buffers[buffer.name] = replace(buffer, role="result")
        return n.ArrayResult(buffer.name, dims, value.dtype, value.empty_dtype)

    def _unshared(self, buffer: str) -> bool:
        """Whether a copy of a temporary that is handed out may be the temporary itself: nobody else will see it."""
        return self.ctx.buffers[buffer].role == "temporary" and buffer not in self.handed_out

    def _covers(self, value: Array) -> bool:
        return value.dims == self.ctx.buffers[value.base].dims

    def _prefix(self, value: Array) -> bool:
        """Whether only the first axis is shorter than the buffer: the data stand together."""
        dims = self.ctx.buffers[value.base].dims
        return value.dims[1:] == dims[1:]

    # --- assignment

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.ctx.places[name] = self.ctx.span
                self.env[name] = self.bind(name, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.unpack(target, targets, value)
            case ast.Subscript():
                self.store(target, value)
            case ast.Attribute():
                self.set_attribute(target, value)
            case _:
                self.ctx.fail("an assignment to this target", "assign to a name or a subscript", target)

    def bind(self, name: str, value: Value) -> Value:
        """`value` as it is kept under a name: evaluated now, but views stay views and filters stay filters."""
        return self.settle(value, name)

    def settle(self, value: Value, name: str) -> Value:
        ctx = self.ctx
        match value:
            case Scalar(expr, True) if _symbolic(ctx, expr):
                return value
            case Scalar(expr, python):
                return Scalar(ctx.let(expr, name), python)
            case Array(axes=()) if not value.view:
                return replace(value, body=ctx.let(value.body, name))
            case Array(mask=None, view=False):
                if isinstance(value.body, Const) or _is_position(value):
                    if isinstance(value.body, Const) and name not in shared_stores(self.node):
                        return value
                    if not isinstance(value.body, Const):
                        return value if name not in shared_stores(self.node) else ctx.define(value, name)
                return ctx.define(value, name)
            case Array(mask=None, view=True, identity="") if self._reordered(value):
                source = ctx.buffers[value.base]
                whole = source.permutation and source.name not in ctx.stored and value.dims == source.dims
                return ctx.define(replace(value, view=False), name, permutation=whole)
            case Array(mask=mask) if mask is not None:
                if name in shared_stores(self.node):
                    return ctx.compact(value, name)
                return value
            case Seq() | Dict() | Record():
                items = tuple(self.kept(i, name) for i in children(value) or ())
                return self.allocate(with_children(value, items), name)
            case Text(template, args):
                return Text(template, tuple(self.settle(a, name) for a in args))
            case GrowingList(site=None, prefix=()) if value.dtype and not value.columns:
                value.site = self.site(name)
                return growing.with_types(ctx, value)
            case Char(code):
                return Char(ctx.let(code, name))
            case OrNone(inner, none):
                return OrNone(self.settle(inner, name), ctx.let(none, f"{name} is None"))
            case _:
                return value

    def kept(self, value: Value, name: str) -> Value:
        """`value` as it is kept in a container: what has a place there can be stored into."""
        settled = self.settle(value, name)
        if not isinstance(settled, Array) or not settled.axes or (settled.view and settled.mask is None):
            return settled
        made = self.ctx.define(settled, name)
        for frame in self.ctx.frames:  # the names it has are names of the same array
            frame.update({k: made for k, v in frame.items() if v is settled})
        return made

    def allocate(self, contents: Value, name: str) -> Value:
        """A list, dict or object that is given a name, or put into another; tuples are values."""
        if (isinstance(contents, Seq) and contents.kind == "tuple") or (
            isinstance(contents, Record) and contents.is_tuple
        ):
            return contents
        site = self.site(name)
        if isinstance(contents, Seq) and site in self.ctx.growing:
            return self.ctx.allocate(growing.new(self.ctx, name, contents.items, site), site)
        return self.ctx.allocate(contents, site)

    def site(self, name: str) -> Site:
        """Where a list is made."""
        span = self.ctx.span
        return (span.file, span.line, span.column, span.end_line, span.end_column, name)

    def _reordered(self, value: Array) -> bool:
        """A view that runs backwards over memory which no other name shows: a copy in order serves all later reads."""
        if not isinstance(value.body, Load) or self.ctx.buffers[value.base].role == "argument":
            return False
        own = {a.name for a in value.axes}
        backwards = any(
            c < 0 for i in value.body.index for t, c in b.affine(i)[0].items() if isinstance(t, Var) and t.name in own
        )
        return backwards and not any(
            isinstance(v, Array) and v.view and v.base == value.base
            for frame in self.ctx.frames
            for v in frame.values()
        )

    def unpack(self, node: ast.expr, targets: Sequence[ast.expr], value: Value) -> None:
        items = self.elements(value, len(targets), node)
        starred = [k for k, t in enumerate(targets) if isinstance(t, ast.Starred)]
        wanted = len(targets) - len(starred)
        few = len(items) < wanted
        if few or (len(items) > wanted and not starred):
            least = "at least " if starred else ""
            text = (
                f"not enough values to unpack (expected {least}{wanted}, got {len(items)})" if few
                else f"too many values to unpack (expected {wanted})"
            )  # fmt: skip
            self.ctx.guard(b.FALSE, "ValueError", text)
        if starred:
            at = starred[0]
            end = len(items) - (len(targets) - at - 1)
            items = [*items[:at], Seq(tuple(items[at:end]), "list"), *items[end:]]
            targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        # all values stand before the first target changes
        settled = [
            self.settle(i, t.id if isinstance(t, ast.Name) else "value") for i, t in zip(items, targets, strict=True)
        ]
        if any(isinstance(t, ast.Subscript) for t in targets):
            settled = [growing.held(self.ctx, i) if isinstance(i, GrowingList) else i for i in settled]
        for target, item in zip(targets, settled, strict=True):
            self.assign(target, item)

    def elements(self, value: Value, wanted: int, node: ast.AST) -> list[Value]:
        """The elements of an iterable whose length is known."""
        ctx = self.ctx
        value = present(ctx, ctx.deref(value), "TypeError", "cannot unpack non-iterable NoneType object")
        match value:
            case Dict(keys):
                return [Static(k) for k in keys]
            case Seq(items) | Record(items=items) if not isinstance(value, Record) or value.is_tuple:
                return list(items)
            case Method():
                counted = iterating.iteration(ctx, value)
                if isinstance(counted, list):
                    return counted
                ctx.fail(f"unpacking {describe(value)} of run-time length", "", node)
            case GrowingList() if (length := b.constant(value.extent or value.length)) is not None:
                return [list_element(ctx, value, b.index(k)) for k in range(length)]
            case GrowingList():
                problem = "unpacking a list of run-time length"
                growing.must_be_fixed(ctx, value, problem, "unpack an array of known shape")
            case Static(tuple() | list() | str() as items):
                return [Static(i) for i in items]
            case Array() | Static(np.ndarray()) | Concatenation():
                array = as_array(ctx, value)
                if not array.ndim:
                    ctx.guard(b.FALSE, "TypeError", "iteration over a 0-d array")
                extent = b.constant(array.dims[0])
                if extent is None:
                    self.demand_dim(array.dims[0], node, "unpacking an array of run-time length")
                return [array_item(ctx, array, [Static(i)]) for i in range(extent or 0)]
            case Range(start, stop, step):
                bounds = [b.constant(e) for e in (start, stop, step)]
                if None not in bounds:
                    return [Static(i) for i in range(*bounds)]  # type: ignore[arg-type]
                ctx.fail("unpacking a range of run-time length", "", node)
            case _:
                ctx.fail(f"unpacking {describe(value)}", "", node)

    def demand_dim(self, dim: Expr, node: ast.AST | None, problem: str) -> None:
        """Ask for a specialisation on the value of a size."""
        error = self.ctx.error(problem, "its length must be known: give it in the types", node)
        if isinstance(dim, Var) and b.is_size_name(dim.name):
            raise NeedsConstant(dim.name, error)
        raise error

    def store(self, target: ast.Subscript, value: Value) -> None:
        """``base[items] = value``."""
        owner = self.expr(target.value)
        base = self.ctx.deref(owner)
        items = self.items(target.slice)
        if isinstance(base, Dict):
            self.ctx.change(owner, base.put(key_of(self.ctx, items), self.kept(value, "item")))
            return
        if isinstance(base, Seq) and base.kind == "list" and not isinstance(owner, Object):
            self._store_inside(target)
        if isinstance(base, Seq) and base.kind == "list":
            self._store_item(owner, base, items, value, target)
            return
        if isinstance(base, GrowingList):
            growing.store_item(self.ctx, base, items, value)
            return
        if not isinstance(base, Array):
            self.ctx.fail(f"a store into {describe(base)}", "", target)
        if not base.view:
            if isinstance(target.value, ast.Name):
                base = self.own(target.value.id, base)
            else:
                return  # a store into a copy: nobody sees it
        storing.write(self.ctx, base, items, value)

    def _store_inside(self, target: ast.Subscript) -> None:
        """``rows[i][k] = value`` where each row is a short list: the rows become those of a table."""
        if isinstance(target.value, ast.Subscript):
            ctx, owner = self.ctx, self.expr(target.value.value)
            rows = ctx.deref(owner)
            if isinstance(rows, GrowingList):
                growing.as_table(ctx, rows)
            elif isinstance(rows, Seq) and isinstance(owner, Object) and ctx.sites[owner.token] not in ctx.growing:
                if all(isinstance(r, Seq) and all(map(_is_numbers, r.items)) for r in map(ctx.deref, rows.items)):
                    ctx.tables.add(ctx.sites[owner.token])
                    ctx.must_grow(owner.token, "a store into a list in a list, which of them is known at run time only")

    def _store_item(self, owner: Value, base: Seq, items: Sequence[Item], value: Value, node: ast.AST) -> None:
        """``list[k] = value``."""
        ctx = self.ctx
        at = items[0] if len(items) == 1 else None
        if isinstance(at, Scalar) or (isinstance(at, Array) and not at.axes):
            problem = "a store into a list at a position that is known at run time only"
            if isinstance(owner, Object) and all(_is_numbers(i) for i in base.items):
                ctx.must_grow(owner.token, problem)
            ctx.must_be_known(Scalar(scalar_expr(ctx, at)), problem)
        if isinstance(at, SliceValue):
            parts = [Static(None) if p is None else p for p in (at.start, at.stop, at.step)]
            bounds = [constant_object(ctx, p, "a slice of a list") for p in parts]
            changed = list(base.items)
            changed[slice(*bounds)] = [self.kept(i, "item") for i in self.elements(value, 0, node)]
            ctx.change(owner, Seq(tuple(changed), "list"))
            return
        if at is None or not isinstance(at, Static):
            ctx.fail(f"a store into {describe(base)}", "", node)
        if not -len(base.items) <= at.value < len(base.items):
            ctx.guard(b.FALSE, "IndexError", "list assignment index out of range")
        changed = list(base.items)
        changed[at.value] = self.kept(value, "item")
        ctx.change(owner, Seq(tuple(changed), "list"))

    def set_attribute(self, target: ast.Attribute, value: Value) -> None:
        """``base.attr = value``."""
        ctx = self.ctx
        owner = self.expr(target.value)
        base = ctx.deref(owner)
        if isinstance(base, Record) and isinstance(owner, Object):
            if _is_frozen(base.kind):
                ctx.guard(b.FALSE, "dataclasses.FrozenInstanceError", f"cannot assign to field '{target.attr}'")
            ctx.change(owner, base.put(target.attr, self.kept(value, target.attr)))
        elif target.attr in ("real", "imag") and isinstance(base, Array) and is_complex(base.dtype):
            if not base.view and isinstance(target.value, ast.Name):
                base = self.own(target.value.id, base)
            if base.view:
                storing.write(ctx, part(base, target.attr), [Static(Ellipsis)], value)
        elif target.attr == "shape" and isinstance(target.value, ast.Name):
            if isinstance(base, Array) and base.identity:
                ctx.fail("assigning the shape of an argument", "make a view: y = x.reshape(…)", target)
            self.env[target.value.id] = shaping.reshape(ctx, as_array(ctx, base), [ctx.deref(value)])
        else:
            problem = f"an assignment to `.{target.attr}` of {describe(base)}"
            ctx.fail(problem, "assign to a name or a subscript", target)

    def own(self, name: str, value: Array) -> Array:
        """The array under `name` in memory of its own, so that it can be stored to."""
        owned = self.ctx.define(value, name) if value.mask is None else self.ctx.compact(value, name)
        self.env[name] = owned
        return owned

    def augment(self, target: ast.expr, op: str, value: ast.expr) -> None:
        ctx = self.ctx
        if isinstance(target, ast.Name):
            old = self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            new = self.expr(value)
            held = ctx.deref(old)
            if op == "add" and _is_list(held) and (not hasattr(target, IS_SUM) or _is_list(ctx.deref(new))):
                sequences.extend(ctx, old, new)
                return
            if isinstance(old, Array) and old.ndim >= 0 and not (old.ndim == 0 and not old.view):
                if not old.view or old.mask is not None:
                    old = self.own(target.id, old)
                result = self.operate(op, old, new)
                storing.write(ctx, old, [Static(Ellipsis)], result, casting=op)
                return
            self.assign(target, self.operate(op, old, new))
            return
        if isinstance(target, ast.Attribute):
            owner = self.expr(target.value)
            if isinstance(owner, Array) and not owner.view and isinstance(target.value, ast.Name):
                owner = self.own(target.value.id, owner)
            old = attributes.attribute(ctx, owner, target.attr)
            if isinstance(old, Array) and not (old.ndim == 0 and not old.view):
                result = self.operate(op, old, self.expr(value))
                storing.write(ctx, old, [Static(Ellipsis)], result, casting=op)
            elif isinstance(ctx.deref(old), (Seq, GrowingList)) and isinstance(old, Object) and op == "add":
                sequences.extend(ctx, old, self.expr(value))
            else:
                self.set_attribute(target, self.operate(op, old, self.expr(value)))
            return
        assert isinstance(target, ast.Subscript)
        owner = self.expr(target.value)
        base = ctx.deref(owner)
        items = [self.settle_item(i) for i in self.items(target.slice)]
        old = subscript(ctx, base, items)
        if isinstance(base, Array) and not base.view and isinstance(target.value, ast.Name):
            base = self.own(target.value.id, base)
            old = subscript(ctx, base, items)
        if isinstance(base, (Seq, Dict)) and isinstance(old, Array) and not (old.ndim == 0 and not old.view):
            storing.write(ctx, old, [Static(Ellipsis)], self.operate(op, old, self.expr(value)), casting=op)
            return
        if isinstance(old, Object) and op == "add" and isinstance(ctx.deref(old), (Seq, GrowingList)):
            sequences.extend(ctx, old, self.expr(value))
            return
        result = self.operate(op, old, self.expr(value))
        if isinstance(base, Dict) and (conditions := characters.matches(base.keys, items[0])) is not None:
            # the key is one of the dict's, as it has been read
            changed = [
                self.either(c, result, v, [], []) for c, v in zip(conditions, base.items, strict=True)
            ]  # fmt: skip
            ctx.change(owner, with_children(base, tuple(self.kept(v, "item") for v in changed)))
            return
        if isinstance(base, Array):
            storing.write(ctx, base, items, result, casting=op if isinstance(old, Array) else None)
        else:
            at = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Store()), target)
            self.store(at, result)

    def settle_item(self, item: Item) -> Item:
        return item if isinstance(item, SliceValue) else self.settle(item, "at")

    def operate(self, op: str, left: Value, right: Value) -> Value:
        ctx = self.ctx
        left, right = ctx.deref(left), ctx.deref(right)
        if isinstance(left, OrNone) or isinstance(right, OrNone):
            left, right = self.operands(op, left, right)
        if op == "matmul":
            return library_calls.matmul(ctx, left, right)
        texts = text_operation(ctx, op, left, right)
        if texts is not None:
            return texts
        if isinstance(left, Seq) or isinstance(right, Seq):
            if op == "add" and isinstance(left, Seq) and isinstance(right, Seq):
                if left.kind != right.kind:
                    names = f'{left.kind} (not "{right.kind}") to {left.kind}'
                    ctx.guard(b.FALSE, "TypeError", f"can only concatenate {names}")
                return Seq(left.items + right.items, left.kind)
            if op == "multiply":
                seq, times = (left, right) if isinstance(left, Seq) else (right, left)
                assert isinstance(seq, Seq)
                if isinstance(times, Static) and isinstance(times.value, (int, np.integer)):
                    return Seq(seq.items * int(times.value), seq.kind)
                if isinstance(times, Scalar) and times.dtype == "index":
                    return sequences.repeated(ctx, seq, times)
        if op == "add" and (isinstance(left, GrowingList) or isinstance(right, GrowingList)):
            return sequences.joined(ctx, left, right)
        if isinstance(left, Static) and isinstance(right, Static) and not (is_number(left) and is_number(right)):
            if isinstance(left.value, (str, tuple, list)):
                return Static(PYTHON_OPERATORS[op](left.value, right.value))
        return apply(ctx, op, [left, right], operator_call=True)

    def operands(self, op: str, left: Value, right: Value) -> tuple[Value, Value]:
        """Operands of which one may be None: Python's error where it is."""
        symbol = {**_SYMBOLS, "power": "** or pow()"}.get(op)
        if symbol is None:
            self.ctx.fail("a matrix product of what may be None", "test it with `is None` first")
        names = [type_name(v.value if isinstance(v, OrNone) else v) for v in (left, right)]
        left = present(
            self.ctx, left, "TypeError", f"unsupported operand type(s) for {symbol}: 'NoneType' and '{names[1]}'"
        )
        text = f"unsupported operand type(s) for {symbol}: '{names[0]}' and 'NoneType'"
        return left, present(self.ctx, right, "TypeError", text)

    # --- branches

    def branch(self, node: ast.If) -> bool:
        """An `if`; True where nothing after it is reached. In an inlined function whose branch returns, what comes
        after it moves into the other branch."""
        self.ctx.span = span_of(node.test, self.scope.file)
        condition = self.test(node.test)
        if isinstance(condition, Static):
            return self.block(node.body if condition.value else node.orelse)
        assert isinstance(condition, Scalar)
        return self.fork(condition.expr, node.body, node.orelse, live_after(self.node, node), node.test)

    def fork(
        self, condition: Expr, then: Sequence[ast.stmt], orelse: Sequence[ast.stmt], live: frozenset[str] | None,
        test: ast.expr | None = None,
    ) -> bool:  # fmt: skip
        """Both branches of a run-time condition; of the names that they bind, those in `live` are joined."""
        ctx = self.ctx
        span = ctx.span
        move = self.inlined and any(returns(s) for s in [*then, *orelse])
        before, heap = dict(self.env), dict(ctx.heap)
        heaps: list[dict[int, Value]] = []
        outcomes: list[tuple[list[n.Stmt], dict[str, Value], bool, bool]] = []
        told: list[dict[str, Value]] = []
        for statements in (then, orelse):
            self.env.clear()
            self.env.update(before)
            told.append(self.told(test, statements is then))
            self.env.update(told[-1])
            ctx.heap = dict(heap)
            self.ended = False
            holds = condition if statements is then else b.logical_not(condition)
            with ctx.block() as out, ctx.knowing(stable_parts(ctx, holds)):
                done = self.block(statements)
                if move and not done:
                    done = self.finish()
                outcomes.append((out, dict(self.env), done, self.ended))
                heaps.append(ctx.heap)
        (out1, env1, done1, ended1), (out2, env2, done2, ended2) = outcomes
        self.decides = condition
        if move and (ended1 or ended2):
            if ended1 and ended2:
                self.merge_heaps(heaps[0], heaps[1], out1, out2)
                self.merge(env1, env2, out1, out2, frozenset([RETURN]))
            else:
                self.env.clear()
                self.env.update(env1 if ended1 else env2)
                ctx.heap = heaps[0] if ended1 else heaps[1]
        elif done1 and done2:
            pass
        elif done1 or done2:
            self.env.clear()
            self.env.update(env2 if done1 else env1)
            ctx.heap = heaps[1] if done1 else heaps[0]
        else:
            for env, known in zip((env1, env2), told, strict=True):
                env.update({k: before[k] for k, v in known.items() if env.get(k) is v})
            self.merge_heaps(heaps[0], heaps[1], out1, out2)
            self.merge(env1, env2, out1, out2, live)
        ctx.span = span
        leaves, stays, when = (out1, out2, condition) if done1 else (out2, out1, b.logical_not(condition))
        if leaves and done1 != done2 and not (move and (ended1 or ended2)):
            match leaves:
                case [n.Guard(Const(False)) as raised]:  # a raise on a condition is a check
                    ctx.emit(replace(raised, condition=b.logical_not(when)))
                case _:
                    ctx.emit(n.If(when, tuple(leaves)))
            ctx.out.extend(stays)  # not in a branch: what it binds holds from here on
        elif out1 or out2:
            ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
        self.ended = move and (ended1 or ended2)
        return done1 and done2

    def merge_heaps(
        self, heap1: dict[int, Value], heap2: dict[int, Value], out1: list[n.Stmt], out2: list[n.Stmt]
    ) -> None:
        """What is in the lists, dicts and objects after one of two paths."""
        ctx = self.ctx
        merged = dict(heap1)
        for token, two in heap2.items():
            one = heap1.get(token)
            if one is None or one is two or one == two:
                merged[token] = two
            elif same_structure(one, two):
                joined = self.join("item", one, two, out1, out2)
                for item in children(joined) or ():
                    if isinstance(item, Unbound):
                        ctx.fail(item.why, "give it one type on both paths")
                merged[token] = joined
            elif isinstance(one, Seq) and isinstance(two, Seq):
                ctx.must_grow(token, "a list that has another length on each of two paths")
            else:
                problem = f"{describe(one)} on one path and {describe(two)} on the other"
                ctx.fail(problem, "give it the same keys on both")
        ctx.heap = merged

    def merge(
        self, env1: dict[str, Value], env2: dict[str, Value], out1: list[n.Stmt], out2: list[n.Stmt],
        live: frozenset[str] | None,
    ) -> None:  # fmt: skip
        merged: dict[str, Value] = {}
        self.joining = (env1, env2, live)
        for name in [*env1, *[k for k in env2 if k not in env1]]:
            one, two = env1.get(name), env2.get(name)
            if one is not None and two is not None and (one is two or one == two):
                merged[name] = one
            elif live is not None and name not in live:
                merged[name] = Unbound(f"`{name}` has different values on two paths")
            elif one is None or two is None:
                merged[name] = self.half(name, two or one, out1, out2, two is None)  # type: ignore[arg-type]
            else:
                merged[name] = self.join(name, one, two, out1, out2)
        self.env.clear()
        self.env.update(merged)

    def join(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """One value that is `one` after `out1` and `two` after `out2`."""
        ctx = self.ctx
        if isinstance(one, Unbound) or isinstance(two, Unbound):
            return one if isinstance(one, Unbound) else two
        differ = Unbound(f"`{name}` is {describe(one)} on one path and {describe(two)} on the other", self.decides)
        if isinstance(one, Maybe) or isinstance(two, Maybe):
            flag = ctx.variable(f"{name} is set", "bool")
            for value, out in ((one, out1), (two, out2)):
                bound = _bound(value)
                out.append(n.Assign(flag.name, bound or b.FALSE, span=ctx.span))
            one, two = (v.value if isinstance(v, Maybe) else v for v in (one, two))
            joined = one if one == two else self.join(name, one, two, out1, out2)
            return joined if isinstance(joined, Unbound) else Maybe(joined, flag)
        if isinstance(one, Object) and isinstance(two, Object):
            contents = self.join(name, ctx.heap[one.token], ctx.heap[two.token], out1, out2)
            return contents if isinstance(contents, Unbound) else self.allocate(contents, name)
        if same_structure(one, two):
            items = tuple(
                x if x == y else self.join(name, x, y, out1, out2)
                for x, y in zip(children(one) or (), children(two) or (), strict=True)
            )
            bad = [i for i in items if isinstance(i, (Unbound, Maybe))]
            return bad[0] if bad else with_children(one, items)
        choices = [_choice(v) for v in (one, two)]
        if None not in choices and not (_is_char(one) and _is_char(two)):
            first, second = choices
            assert first is not None and second is not None
            options = tuple(dict.fromkeys((*first.options, *second.options)))
            variable = ctx.variable(name, "index")
            for choice, out in ((first, out1), (second, out2)):
                out.append(n.Assign(variable.name, _renumbered(choice, options), span=ctx.span))
            return OneOf(variable, options)
        if any(isinstance(v, OrNone) or v == Static(None) for v in (one, two)):
            return self.join_none(name, one, two, out1, out2) or differ
        codes = [characters.code_of(v) for v in (one, two)]
        if codes[0] is not None and codes[1] is not None:
            variable = ctx.variable(name, "index")
            for code, out in ((codes[0], out1), (codes[1], out2)):
                out.append(n.Assign(variable.name, code, span=ctx.span))
            return Char(variable)
        lists = [ctx.deref(v) for v in (one, two)]
        if any(isinstance(v, GrowingList) for v in lists) and all(isinstance(v, (GrowingList, Seq)) for v in lists):
            return self.join_lists(name, lists[0], lists[1], out1, out2)
        kind = scalar_kind(one, two)
        if kind is not None:
            variable = ctx.variable(name, kind[0])
            for value, out in ((one, out1), (two, out2)):
                place = ctx.places.get(name, ctx.span)
                out.append(n.Assign(variable.name, b.cast(scalar_expr(ctx, value), kind[0]), span=place))
            return Scalar(variable, kind[1])
        if isinstance(one, Array) and isinstance(two, Array) and one.ndim == two.ndim and one.dtype == two.dtype:
            return self.join_arrays(name, one, two, out1, out2)
        return differ

    def join_none(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value | None:
        """None or a value: a flag, and the value where there is one."""
        ctx = self.ctx
        nothing = [isinstance(v, Static) and v.value is None for v in (one, two)]
        inner = [v.value if isinstance(v, OrNone) else v for v in (one, two)]
        if any(_is_text(v) for v in inner):
            return None
        none = ctx.variable(f"{name} is None", "bool")
        for value, absent, out in zip((one, two), nothing, (out1, out2), strict=True):
            holds = value.none if isinstance(value, OrNone) else b.TRUE if absent else b.FALSE
            out.append(n.Assign(none.name, holds, span=ctx.span))
        joined: Value
        if any(nothing):
            joined = self.half(name, inner[nothing.index(False)], out1, out2, nothing[1])
        else:
            joined = inner[0] if inner[0] == inner[1] else self.join(name, inner[0], inner[1], out1, out2)
        if isinstance(joined, Unbound):
            return joined
        return OrNone(joined.value if isinstance(joined, Maybe) else joined, none)

    def join_lists(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """A list that grows, with the elements of one of two."""
        ctx = self.ctx
        joined = growing.new(ctx, name)
        for value, out in ((one, out1), (two, out2)):
            with ctx.block() as more:
                growing.extend(ctx, joined, value)
            out.extend(more)
        return joined

    def half(self, name: str, value: Value, out1: list[n.Stmt], out2: list[n.Stmt], first: bool) -> Value:
        """A name that has a value after `out1` only (`first`), or after `out2` only."""
        ctx = self.ctx
        if " " in name and not isinstance(value, (Scalar, Array, Seq)):
            return value  # only read where it was set
        if isinstance(value, (Unbound, Function, Known, GrowingList)):
            return Unbound(f"`{name}` has a value on one of two paths only")
        if children(value):
            parts = [self.half(name, i, out1, out2, first) for i in children(value) or ()]
            if not all(isinstance(p, Maybe) for p in parts):
                return Unbound(f"`{name}` has a value on one of two paths only")
            assert isinstance(parts[0], Maybe)
            inner = tuple(p.value for p in parts if isinstance(p, Maybe))
            return Maybe(with_children(value, inner), parts[0].bound)
        here, there = (out1, out2) if first else (out2, out1)
        bound: Expr = b.TRUE
        if isinstance(value, Maybe):
            bound = value.bound or b.FALSE
            value = value.value
        flag = ctx.variable(f"{name} is set", "bool")
        here.append(n.Assign(flag.name, bound, span=ctx.span))
        there.append(n.Assign(flag.name, b.FALSE, span=ctx.span))
        if isinstance(value, Scalar):
            variable = ctx.variable(name, value.dtype)
            here.append(n.Assign(variable.name, value.expr, span=ctx.span))
            there.append(n.Assign(variable.name, Const(0, value.dtype), span=ctx.span))
            return Maybe(Scalar(variable, value.python), flag)
        if isinstance(value, Array) and not value.identity:
            if value.mask is not None or any(variables_read(d) - ctx.entry for d in value.dims):
                return Unbound(f"`{name}` has a value on one of two paths only")
            buffer = ctx.buffer(name, value.dtype, value.dims)
            here.append(n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body, span=ctx.span))
            ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
            shown = self.shown_elsewhere(name, value)
            if shown:
                ctx.chosen[buffer.name] = name, self.decides
                ctx.note_copy(name, buffer.name, shown, self.decides)
            return Maybe(ctx.whole(buffer), flag)
        return Maybe(value, flag)

    def shown_elsewhere(self, name: str, *values: Array) -> frozenset[str]:
        """The buffers of `values` that other names show, or the caller's: `name` is about to be a copy of one."""
        ctx = self.ctx
        env1, env2, live = self.joining
        found = set()
        for value in values:
            if not value.view:
                continue
            frames = [f for f in ctx.frames if f is not self.env]
            inner = ((k, v) for env in (env1, env2) for k, v in env.items() if live is None or k in live)
            outer = (item for f in frames for item in f.items())
            held = ((" ", v) for contents in ctx.heap.values() for v in children(contents) or ())
            others = (v for k, v in (*inner, *outer, *held) if k != name)
            if ctx.buffers[value.base].role == "argument" or any(
                isinstance(v, Array) and v.view and v.base == value.base for v in others
            ):
                found.add(value.base)
        return frozenset(found)

    def join_arrays(self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        joined = self.joined_arrays(name, one, two, out1, out2)
        shown = self.shown_elsewhere(name, one, two)
        if shown and isinstance(joined, Array):
            self.ctx.note_copy(name, joined.base, shown, self.decides)
        return joined

    def joined_arrays(self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        ctx = self.ctx
        seen = ctx.is_seen(name, one) or ctx.is_seen(name, two)
        if one.mask is None and two.mask is None and one.dims == two.dims:
            buffer = ctx.buffer(name, one.dtype, one.dims)
            if seen:
                ctx.chosen[buffer.name] = name, self.decides
            for value, out in ((one, out1), (two, out2)):
                index = tuple(a.var for a in value.axes)
                out.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.span))
            ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
            return ctx.whole(buffer)
        known = [b.constant(d) for v in (one, two) for d in v.dims]
        if one.mask is None and two.mask is None and any(k is not None for k in known) and not all(known):
            # one is as long as the other happens to be: code for arguments where they agree
            if all(ctx.assume_equal(p, q) for p, q in zip(one.dims, two.dims, strict=True)):
                same = replace(two, axes=tuple(replace(a, extent=d) for a, d in zip(two.axes, one.dims, strict=True)))
                return self.joined_arrays(name, one, same, out1, out2)
        if one.dims[1:] != two.dims[1:]:
            if one.mask is None and two.mask is None and self.same_sizes(one, two):
                axes = tuple(replace(a, extent=d) for a, d in zip(two.axes, one.dims, strict=True))
                return self.joined_arrays(name, one, replace(two, axes=axes), out1, out2)
            return Unbound(f"`{name}` has different shapes on two paths", self.decides)
        bounds = [bound_of(ctx, v.dims[0]) for v in (one, two)]
        if None in bounds:
            return Unbound(f"`{name}` has different sizes on two paths", self.decides)
        bound = b.maximum(bounds[0], bounds[1])  # type: ignore[arg-type]
        buffer = ctx.buffer(name, one.dtype, (bound, *one.dims[1:]))
        if seen:
            ctx.chosen[buffer.name] = name, self.decides
        count = ctx.count(buffer.name, bound)
        ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
        for value, out in ((one, out1), (two, out2)):
            with ctx.block() as extra:
                self.fill(buffer, count, value)
            out.extend(extra)
        return ctx.whole(buffer, (count, *one.dims[1:]))

    def same_sizes(self, one: Array, two: Array) -> bool:
        """Whether two arrays have one shape where the call's sizes are as they may be assumed."""
        pairs = list(zip(one.dims, two.dims, strict=True)) if len(one.dims) == len(two.dims) else [(b.ZERO, b.ONE)]
        return all(self.ctx.assume_equal(x, y) for x, y in pairs)

    def fill(self, buffer: n.Buffer, count: Var, value: Array) -> None:
        """`value` into `buffer`, its length into `count`."""
        ctx = self.ctx
        if value.mask is not None:
            ctx.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
            return
        ctx.emit(n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body))
        ctx.emit(n.Assign(count.name, value.dims[0]))

    # --- loops

    def while_loop(self, node: ast.While, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        assert not orelse, "`else` of a loop is a flag"
        ctx = self.ctx
        forever = isinstance(test, ast.Constant) and bool(test.value)

        def trip(state: LoopState) -> n.Stmt:
            with ctx.block() as head:
                ctx.span = span_of(test, self.scope.file)
                ctx.in_head += 1
                try:
                    condition = condition_of(self.test(test))
                except Terminated:  # it raises
                    return n.While(tuple(head), b.FALSE, ())
                finally:
                    ctx.in_head -= 1
            ctx.trips.append(trip_bound(ctx, condition, state, body))
            try:
                with ctx.block() as inner, ctx.knowing(stable_parts(ctx, condition)):
                    if not self.block(body):
                        state.back(self)
            finally:
                ctx.trips.pop()
            return n.While(tuple(head), condition, tuple(inner))

        saved, env, heap, trips, path = ctx.snapshot(), dict(self.env), dict(ctx.heap), list(ctx.trips), ctx.loop_path
        try:
            self.loop(node, body, trip, (), b.TRUE if forever else None)
        except NotKnown as error:
            if error.wanted is not None or error.table is not None:
                raise
            ctx.restore(saved)
            ctx.heap, ctx.trips, ctx.loop_path = heap, trips, path
            self.env.clear()
            self.env.update(env)
            self.unrolled_while(test, body, error)

    def unrolled_while(self, test: ast.expr, body: Sequence[ast.stmt], error: NotKnown) -> None:
        """A `while` whose iterations are translated one by one, as each time it is known whether there is another."""
        ctx = self.ctx
        with ctx.block():
            try:
                first = self.test(test)
            except Terminated:
                raise error from None
        if isinstance(first, Scalar):
            ctx.must_be_known(first, error.problem, error.help)
        for _ in range(_UNROLL):
            with ctx.block() as extra:
                holds = self.test(test)
            if not isinstance(holds, Static) or has_jumps(body):
                raise error
            ctx.out.extend(extra)
            if not holds.value:
                return
            if self.block(body):
                raise Terminated
        raise error

    def for_loop(
        self, node: ast.For, target: ast.expr, iterable: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> None:
        ctx = self.ctx
        assert not orelse, "`else` of a loop is a flag"
        catches = getattr(node, CATCHES, None)
        source = Range(b.ZERO, b.ONE, b.ONE) if catches else self.expr(iterable)
        counted = iterating.iteration(ctx, source)
        if isinstance(counted, list):
            if len(counted) > _UNROLL and not all(isinstance(i, Static) for i in counted):
                ctx.fail(f"a loop over {len(counted)} different values", "loop over an array or a range", node)
            self.unrolled(target, counted, body)
            return
        start, stop, step, element = counted
        axis = ctx.fresh(target.id if isinstance(target, ast.Name) else "trip")  # no C name begins with step_
        low, high = (start, stop) if (b.constant(step) or 1) > 0 else (b.add(stop, b.ONE), b.add(start, b.ONE))
        ctx.ranges[axis] = (low, high)
        trips = trip_count(start, stop, step)

        def trip(state: LoopState) -> n.Stmt:
            ctx.trips.append(trips)
            try:
                with ctx.block() as inner:
                    ctx.ranges[axis] = (low, high)
                    self.assign(target, element(start if b.constant(trips) == 1 else Var(axis)))
                    if not (self.tried(body, *catches) if catches else self.block(body)):
                        state.back(self)
            finally:
                ctx.trips.pop()
            return n.Loop(axis, start, stop, step, "sequential", tuple(inner))

        self.last_trips = None
        targets = {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
        saved, env, heap = ctx.snapshot(), dict(self.env), dict(ctx.heap)
        count = b.constant(trips)
        if count is not None and count <= _FEW and hasattr(node, UNROLLED):
            items = [_constant(element(b.add(start, b.mul(step, b.index(k))))) for k in range(count)]
            self.unrolled(target, items, body)
            return

        def again(check: Callable[[], None] = lambda: None) -> None:
            """Begin anew, with the iterations one by one."""
            assert count is not None
            ctx.restore(saved)
            ctx.heap, ctx.trips, ctx.loop_path = heap, outer_trips, path
            self.env.clear()
            self.env.update(env)
            items = [_constant(element(b.add(start, b.mul(step, b.index(k))))) for k in range(count)]
            self.unrolled(target, items, body, check)

        outer_trips, path = list(ctx.trips), ctx.loop_path
        try:
            self.loop(node, body, trip, targets, b.compare("greater", trips, b.ZERO))
            self.last_trips = trips
        except MustGrow:
            if count is None or count > _FEW or catches:
                raise
            again()
        except NotKnown as error:
            if catches:
                raise
            # what must be known in the body is known where each iteration is translated by itself
            if count is None and (error.wanted is not None or error.table is not None):
                raise
            if count is None and not isinstance(ctx.deref(source), GrowingList):
                ctx.must_be_known(Scalar(trips, True), error.problem, error.help)
            if count is None or count > _UNROLL:
                raise
            started, first = time.monotonic(), error

            def check() -> None:  # sizes that depend on sizes that depend on … double with each iteration
                if time.monotonic() - started > _PATIENCE:
                    raise first

            again(check)

    def tried(self, body: Sequence[ast.stmt], name: str, types: Sequence[ast.expr | None]) -> bool:
        """The body of a `try`, which exceptions of the handlers' `types` leave; `name` tells the handler's number."""
        ctx = self.ctx
        kinds = tuple((Exception,) if t is None else self.exception_classes(t) for t in types)

        def leave(number: int) -> None:
            before = dict(self.env)
            self.env[name] = Static(number)
            self.loops[-1].leave(self, True)
            self.env.clear()
            self.env.update(before)

        ctx.catching.append(Catch(kinds, ctx.depth, leave))
        try:
            return self.block(body)
        finally:
            ctx.catching.pop()

    def exception_classes(self, node: ast.expr) -> tuple[type[BaseException], ...]:
        """The classes that an `except` names."""
        if isinstance(node, ast.Tuple):
            return tuple(c for e in node.elts for c in self.exception_classes(e))
        return (self.exception_class(self.expr(node), node),)

    def exception_class(self, kind: Value, node: ast.expr) -> type[BaseException]:
        if isinstance(kind, Known) and kind.path.startswith("builtins."):
            kind = Static(getattr(builtins, kind.path.removeprefix("builtins."), None))
        if isinstance(kind, Known) and isinstance(found := pydoc.locate(kind.path), type):
            kind = Static(found)
        if not (isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
            self.ctx.fail("a computed exception", "name an exception class, such as ValueError", node)
        found_class: type[BaseException] = kind.value
        return found_class

    def unrolled(
        self, target: ast.expr, items: Sequence[Value], body: Sequence[ast.stmt],
        check: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """A loop over values that are known one by one: its body once for each."""
        self.jumps += 1
        broken, skipped = f"broken {self.jumps}", f"skipped {self.jumps}"
        jumps = has_jumps(body)
        if jumps:
            body = without_jumps(body, broken, skipped)
            left = ast.copy_location(ast.Name(broken, ast.Load()), target)
            first = ast.Assign([target], ast.Name(_ITEM, ast.Load()))
            around = ast.If(ast.UnaryOp(ast.Not(), left), [first, *body], [])
            for x in ast.walk(around):
                if "lineno" in getattr(x, "_attributes", ()) and not hasattr(x, "lineno"):
                    ast.copy_location(x, target)
            self.env[broken] = Static(False)

        def run(position: int) -> bool:
            """The iterations from `position` on; True where the end is not reached."""
            for at in range(position, len(items)):
                check()
                self.pending.append(lambda at=at: run(at + 1))  # type: ignore[misc]
                try:
                    if jumps:
                        self.env[skipped] = Static(False)
                        decided = self.env[broken]
                        if isinstance(decided, Static) and decided.value:
                            break
                        if isinstance(decided, Static):
                            self.assign(target, items[at])
                            done = self.block(body)
                        else:
                            self.env[_ITEM] = items[at]
                            done = self.block([around])
                    else:
                        self.assign(target, items[at])
                        done = self.block(body)
                    if done:
                        return True
                finally:
                    self.pending.pop()
            return False

        if run(0):
            raise Terminated

    def loop(
        self, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any, runs: Expr | None
    ) -> None:
        """A run-time loop: names that its body assigns become slots; their types are widened until they hold. `runs`
        says, where it is known, whether there is a first iteration."""
        ctx = self.ctx
        span = span_of(node, self.scope.file)
        assigned = assigned_names(body) | set(targets)
        live, _ = live_names(self.node, node)
        assigned -= self._changed_in_place(body, assigned)
        before, heap = dict(self.env), dict(ctx.heap)
        self._check_sharing(body, assigned, before)
        state = LoopState(self, assigned - set(targets), before, live, assigned, stored_in(body), runs)
        ctx.loop_path, outer_path = (*ctx.loop_path, id(state)), ctx.loop_path
        begun, untyped = len(ctx.writes), len(ctx.untyped)
        for _ in range(8):
            # an iteration must not read again what one before it has changed
            for frame in (*ctx.frames[:-1], before):
                for name, filtered in ctx.outdated(frame, set(ctx.writes[begun:])):
                    frame[name] = ctx.define(filtered, name)
            saved = ctx.snapshot()
            del ctx.untyped[untyped:]
            self.env.clear()
            self.env.update(before)
            ctx.heap = dict(heap)
            with ctx.block() as setup:
                state.enter(self)
                self.loops.append(state)
                stored = len(ctx.stored)
                try:
                    ctx.span = span
                    statement = trip(state)
                finally:
                    self.loops.pop()
                changed = set(ctx.writes[begun:])
                if any(ctx.outdated(frame, changed) for frame in (*ctx.frames[:-1], before)):
                    state.widened = True
                if any(owner.dtype or owner.columns for owner in ctx.untyped[untyped:]):
                    state.widened = True
                if len(ctx.stored) > stored:  # what the iteration took for known before its store may not be so
                    state.widened = True
            if not state.widened:
                break
            state.widened = False
            ctx.restore(saved)
            ctx.deferred = None
        else:
            ctx.fail("the types of this loop's variables do not settle", "", node)
        ctx.loop_path = outer_path
        if ctx.deferred is not None and not ctx.trips:
            raise ctx.deferred
        ctx.out.extend(setup)
        ctx.span = span
        ctx.emit(statement)
        self.env.clear()
        self.env.update(state.after(self))
        ctx.heap = {**ctx.heap, **heap, **state.objects}

    def _changed_in_place(self, body: Sequence[ast.stmt], assigned: set[str]) -> set[str]:
        """Names of arrays that the body only changes by ``x += …``: that is a store, not an assignment."""
        rebound = rebound_names(body)
        found: set[str] = set()
        for name in assigned - rebound:
            value = self.env.get(name)
            if isinstance(value, Array) and (value.ndim or value.view):
                if not value.view or value.mask is not None:
                    self.own(name, value)
                found.add(name)
        return found

    def _check_sharing(self, body: Sequence[ast.stmt], assigned: set[str], before: dict[str, Value]) -> None:
        """Names that the loop rebinds get memory of their own. That cannot be told from Python's sharing unless the
        loop also stores into them while somebody else sees the array."""
        stored = {s for s in stored_before_made(body) & assigned if not isinstance(before.get(s), (Static, Scalar))}
        if not stored:
            return
        for name in sorted(assigned):
            value = before.get(name)
            if not isinstance(value, Array) or not value.view:
                continue
            others = [
                k for k, v in before.items() if k != name and isinstance(v, Array) and v.view and v.base == value.base
            ]
            touched = stored & may_show(name, body, [(name, k) for k in others])
            if touched and (self.ctx.buffers[value.base].role == "argument" or others):
                whose = f"also `{others[0]}`" if others else "an argument"
                into = ", ".join(f"`{s}`" for s in sorted(touched))
                self.ctx.fail(
                    f"the loop assigns `{name}` anew and stores into {into}, and `{name}` is {whose} at first",
                    f"start the loop with a copy: {name} = {name}.copy()",
                )


def _is_list(value: Value) -> bool:
    return isinstance(value, GrowingList) or (isinstance(value, Seq) and value.kind == "list")


def _symbolic(ctx: Context, expr: Expr) -> bool:
    """A linear form of sizes that do not change before the end of the iteration, or a product of what the call is
    given: kept as it is, so that what is known of the sizes is known of it."""
    if expr.dtype != "index" or buffers_read(expr):
        return False
    terms, _ = b.affine(expr)
    if terms and variables_read(expr) <= ctx.entry and all(
        isinstance(e, (Const, Var)) or (isinstance(e, Apply) and e.op in ("add", "multiply")) for e in walk_expr(expr)
    ):
        return True
    return bool(terms) and all(
        isinstance(t, Var) and b.is_size_name(t.name) and t.name not in ctx.list_counts for t in terms
    )


def _changes(path: str, given: Value, now: Value) -> list[Change]:
    """What is to be done to an argument so that it holds what it should."""
    if now is given or now == given:
        return []
    if isinstance(given, (Seq, GrowingList)):
        return [(path, "list", None)]
    assert isinstance(given, (Dict, Record)) and isinstance(now, (Dict, Record))
    kind = "item" if isinstance(given, Dict) else "attribute"
    mine, names = (v.keys if isinstance(v, Dict) else v.names for v in (given, now))
    changed = [(path, kind, k) for k in names if now.get(k) != given.get(k)]
    return changed + [(path, "without", k) for k in mine if k not in names]


def _constant(value: Value) -> Value:
    """A Python number that has come out as a constant, and tuples of them."""
    match value:
        case Scalar(Const(number, "index"), True):
            return Static(int(number))  # type: ignore[arg-type]
        case Seq(items, kind):
            return Seq(tuple(_constant(i) for i in items), kind)
        case _:
            return value


def _bound(value: Value) -> Expr | None:
    """The condition under which a name has its value; None where a loop is to be translated again to tell."""
    if not isinstance(value, Maybe):
        return b.TRUE
    if value.bound is None and value.told is not None:
        value.told()
    return value.bound


def _or_none(ctx: Context, value: Value) -> OrNone | None:
    """Something in a result that may be None."""
    value = ctx.deref(value)
    if isinstance(value, OrNone):
        return value
    return next((found for i in children(value) or () if (found := _or_none(ctx, i)) is not None), None)


def _decided(ctx: Context, value: Value, none: Expr, is_none: bool) -> Value:
    """A result in which what depends on `none` is decided."""
    if isinstance(value, Object):
        ctx.heap[value.token] = _decided(ctx, ctx.heap[value.token], none, is_none)
        return value
    if isinstance(value, OrNone):
        if value.none != none:
            return value
        return Static(None) if is_none else _decided(ctx, value.value, none, is_none)
    items = children(value)
    if not items:
        return value
    return with_children(value, tuple(_decided(ctx, i, none, is_none) for i in items))


def _choice(value: Value) -> OneOf | None:
    """A text or None as a choice."""
    if isinstance(value, Static) and (value.value is None or type(value.value) is str):
        return OneOf(b.ZERO, (value.value,))
    return value if isinstance(value, OneOf) else None


def _is_numbers(value: Value) -> bool:
    """A number, or a tuple of numbers."""
    if isinstance(value, Seq) and value.kind == "tuple":
        return all(_is_numbers(i) for i in value.items)
    return is_number(value) or isinstance(value, Scalar)


def _is_text(value: Value) -> bool:
    return isinstance(value, (OneOf, Text)) or (isinstance(value, Static) and isinstance(value.value, str))


def _is_char(value: Value) -> bool:
    return characters.code_of(value) is not None


def _renumbered(choice: OneOf, options: tuple[str | None, ...]) -> Expr:
    """The choice's number among more options."""
    numbers = [b.index(options.index(o)) for o in choice.options]
    return select(choice.index, numbers)


def _is_frozen(kind: type) -> bool:
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters is not None and parameters.frozen)


def _list_result(owner: GrowingList) -> n.Result:
    """A list of run-time length: of numbers, of rows, or of tuples of these."""
    if owner.columns:
        return n.TupleResult(tuple(_list_result(c) for c in owner.columns), f"rows of {owner.row}")
    if owner.tags:
        kinds = n.ListResult(owner.tags, owner.length, "uint8", False)
        return n.TupleResult((n.ListResult(owner.buffer, owner.length, owner.dtype, owner.python), kinds), "tagged")
    if owner.options:
        numbers = n.ListResult(owner.buffer, owner.length, "index", True)
        return n.TupleResult((numbers,), "texts", owner.options)
    return n.ListResult(
        owner.buffer if owner.dtype else "", b.size(owner.count), owner.dtype or "index", owner.python, owner.dims
    )


def _is_position(value: Array) -> bool:
    """A bare arange: kept as arithmetic, not as memory."""
    match value.body:
        case Load():
            return False
        case _:
            return not buffers_read(value.body) and len(value.axes) == 1 and _cheap(value.body)


def _cheap(expr: Expr) -> bool:
    match expr:
        case Const() | Var():
            return True
        case Apply("cast" | "add" | "subtract" | "multiply", args):
            return all(_cheap(a) for a in args)
        case _:
            return False

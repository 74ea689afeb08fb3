"""Expressions: operators, names, displays, subscripts, attributes, comprehensions.

`Expressions` is the lower half of `translate.Translator`, which adds statements and control flow.
"""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown, Site
from transkern.frontend.bodies import At
from transkern.frontend.containers import empties, hashed, sequences
from transkern.frontend.numpy import grids
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.python.texts import as_text, quoted, together
from transkern.frontend.refused import LEFT_OUT
from transkern.frontend.sources.constants import not_told
from transkern.frontend.sources.measures import MOST_KEYS, NotComputed, check_items
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import choices
from transkern.frontend.subscripts.indexing import subscript
from transkern.frontend.subscripts.keys import key_object
from transkern.frontend.syntax import iterators
from transkern.frontend.syntax.parts import part_alone
from transkern.frontend.syntax.syntax import local_names
from transkern.frontend.translate import attributes, object_operators
from transkern.frontend.translate.arguments import TABLE
from transkern.frontend.translate.binding import outside
from transkern.frontend.translate.comprehensions import Comprehensions
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values import python_types
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import present
from transkern.frontend.values.values import (
    ITEM,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Known,
    Maybe,
    Object,
    Range,
    Record,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Unbound,
    Value,
    is_list,
)  # fmt: skip
from transkern.ir import build as b
from transkern.parsing import all_nodes

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
_COMPUTED = "pass it as an argument, or compute less of it at once"
_INSTEAD: dict[type[ast.expr], str] = {
    ast.Yield: "append to a list, and return it",
    ast.YieldFrom: "extend a list, and return it",
    ast.Await: "await it outside the compiled function, and pass what comes of it as an argument",
}
_CALLS = 8  # in each other, from which on they are why Python's stack has ended
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}


_OF_PYTHON = (Seq, GrowingList, Dict, Hashed, Range, Record, Text, Instance)
"""What has subscripts that are Python's; of what is known, texts have."""


class Expressions(Comprehensions):
    """The translation of one function body's expressions, over its names `env`."""

    # --- expressions

    def expr(self, node: ast.expr) -> Value:
        value = self.meant(node)
        if isinstance(value, Known) and isinstance(node, (ast.Name, ast.Attribute)):
            self._check_told(value, node)
        return value

    def _check_told(self, value: Known, node: ast.expr) -> None:
        """A name of a library is no value where the library is not imported: it may stand for a number."""
        if not self.scope.is_live and not self.ctx.session.pinned and (told := not_told(value.path)) is not None:
            self.ctx.fail(refusals.UNKNOWN_NAME, *told, node)

    def meant(self, node: ast.expr) -> Value:
        """What an expression stands for where it is called, or an attribute of it is taken: also a function of a
        library that is not imported."""
        ctx = self.ctx
        span = ctx.session.span
        ctx.session.step()
        try:
            return self._expr(node)
        except NotComputed as error:
            problem = f"{error}, of what is known while the function is translated"
            ctx.fail(refusals.TOO_LARGE_TO_COMPILE, problem, _COMPUTED, node)
        except RecursionError:
            if ctx.session.too_deep is None:
                ctx.session.too_deep = span_of(node, self.scope.file), len(ctx.session.called) > _CALLS
                ctx.session.called_there = tuple(f.node for f in ctx.session.called)
            raise
        finally:
            ctx.session.span = span

    def _expr(self, node: ast.expr) -> Value:
        ctx = self.ctx
        match node:
            case ast.Constant(value=constant):
                return Static(constant)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.BinOp(left=left, op=op, right=right):
                x, y = self.in_order((left, right))
                with At(ctx, node, self.scope.file):
                    return self.operate(BINARY.get(type(op), "matmul"), x, y)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self.test(operand)
                if isinstance(value, Static):
                    return Static(not value.value)
                assert isinstance(value, Scalar)
                return Scalar(b.logical_not(value.expr), True)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.expr(operand)
                with At(ctx, node, self.scope.file):
                    made = object_operators.unary(ctx, _UNARY[type(op)], inner)
                    if made is not None:
                        return made
                    sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
                    inner = present(ctx, inner, "TypeError", f"bad operand type for unary {sign}: 'NoneType'")
                    sign = _UNARY[type(op)]
                    python_types.check(ctx, python_types.UNARY[sign], inner)
                    return empties.operation(ctx, sign, [inner], lambda of: apply(ctx, sign, of, operator_call=True))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.comparison(node, left, ops, comparators)
            case ast.BoolOp(op=op, values=values):
                return self.chosen(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse)
            case ast.Tuple(elts=elts):
                return self._display(elts, "tuple")
            case ast.List(elts=elts):
                return self._display(elts, "list")
            case ast.Set(elts=elts):
                elements = self._display(elts, "list")
                with At(ctx, node, self.scope.file):
                    return TABLE["builtins.set"](ctx, [elements], {})
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.Slice():
                return self.item(node)
            case ast.Subscript(value=value, slice=index):
                base = present(ctx, self.expr(value), "TypeError", "'NoneType' object is not subscriptable")
                called = ctx.emitter.last_call if self._is_numpys(value) else None
                with waiting(ctx) as those:
                    those.put(base)
                    items = self.items(index, base)
                    base = those.values[0]
                with At(ctx, node, self.scope.file):
                    if isinstance(base, Object) and len(items) == 1 and isinstance(items[0], Scalar):
                        self._of_own_lengths(base)
                    if isinstance(base, Known) and base.path in grids.MAKERS:
                        return grids.made_by_subscript(ctx, base.path, items)
                    if isinstance(base, Object):
                        return self.at_key(base, items)
                    part = None if called is None else part_alone(ctx, base, items, called)
                    return subscript(ctx, base, items) if part is None else part
            case ast.Attribute(value=value, attr=attr):
                owner = self.meant(value)
                if attr == "get" and isinstance(value, (ast.Dict, ast.DictComp)):  # of a key that only the run knows
                    owner = self.settle(owner, "table")
                with At(ctx, node, self.scope.file):
                    missing = f"'NoneType' object has no attribute '{attr}'"
                    owner = present(ctx, owner, "AttributeError", missing)
                    return attributes.attribute(ctx, owner, attr)
            case ast.Call():
                with ctx.scopes.calling(node):
                    return self.call(node)
            case ast.ListComp(elt=elt, generators=generators):
                return self.comprehension(node, elt, generators)
            case ast.GeneratorExp(elt=elt, generators=generators):
                make = functools.partial(self.comprehension, node, elt, generators)
                return iterators.made_now(ctx, types.GeneratorType, make, iterators.names_late(node, self.env))
            case ast.DictComp(key=key, value=value, generators=generators):
                at = ast.Name("key made", ast.Load()) if _has_effects(key) and _has_effects(value) else key
                put: ast.stmt = ast.Assign([ast.Subscript(ast.Name("items made", ast.Load()), at, ast.Store())], value)
                if at is not key:  # which is evaluated first
                    held = ast.Assign([ast.Name("key made", ast.Store())], key)
                    put = ast.If(ast.Constant(True), [held, put], [])
                return self.comprehended(node, Dict((), ()), put, generators)
            case ast.SetComp(elt=elt, generators=generators):
                add = ast.Attribute(ast.Name("items made", ast.Load()), "add", ast.Load())
                return self.comprehended(node, Seq((), "set"), ast.Expr(ast.Call(add, [elt], [])), generators)
            case ast.Lambda():
                return Function("<lambda>", node, self.scope, self.env, self.defaults(node.args))
            case ast.JoinedStr(values=parts):
                return together([self._text_part(p) for p in parts])
            case ast.NamedExpr(target=target, value=value):
                result = self.expr(value)
                self.assign(target, result)
                return self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            case _:
                problem = f"`{ast.unparse(node)[:40]}`: this kind of expression is not compiled"
                help = _INSTEAD.get(type(node), "keep it outside the compiled function")
                ctx.fail(refusals.EXPRESSION, problem, help, node)

    def in_order(self, nodes: Iterable[ast.expr]) -> list[Value]:
        """The values of expressions that are evaluated one after the other."""
        with waiting(self.ctx) as those:
            for node in nodes:
                those.put(self.expr(node))
        return those.values

    def _display(self, elts: Sequence[ast.expr], kind: str) -> Value:
        check_items(len(elts))
        lists = []  # the positions of those whose lengths only the run knows
        with waiting(self.ctx) as those:
            for e in elts:
                if isinstance(e, ast.Starred):
                    value = self.expr(e.value)
                    with At(self.ctx, e, self.scope.file):
                        whole = sequences.of_run_time(self.ctx, value, kind)
                    lists += [] if whole is None else [len(those.values)]
                    for item in self.elements(value, None, e) if whole is None else [whole]:
                        those.put(item)
                    continue
                item = self.expr(e)
                with At(self.ctx, e, self.scope.file):  # lists in a display are told apart by their places
                    those.put(self._placed(item, "listed" if isinstance(e, ast.ListComp) else ITEM))
        return sequences.put_together(self.ctx, those.values, lists, kind)

    def _placed(self, value: Value, name: str = ITEM) -> Value:
        """`value` as an item of a display: a list in a list is an object of its own. A comprehension has another `name`
        than the lists in it, which are made at the same place."""
        return self.settle(value, name) if isinstance(value, (Seq, Dict, Record)) else value

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Value:
        ctx, site = self.ctx, self.site("display")
        made = Dict((), ())
        if len(keys) > MOST_KEYS:
            problem = f"a dict of more than {MOST_KEYS} keys"
            ctx.fail(refusals.TOO_LARGE_TO_COMPILE, problem, "pass it as an argument, or use an array")
        if site in ctx.learned.growing:
            return self._hashed(keys, values, site)
        known: list[Any] = []
        with waiting(ctx) as those:
            for key, value in zip(keys, values, strict=True):
                if key is not None:
                    known.append(self._key_of_display(key, site, None in keys))
                inner = self.expr(value)
                if key is None:
                    other = ctx.deref(inner)
                    if not isinstance(other, Dict):
                        help = "copy it, and store the others into the copy: made = dict(d), made[key] = value"
                        ctx.fail(refusals.RUN_TIME_KEYS, f"`**` of {describe(other)}", help, value)
                    for k, v in zip(other.keys, other.items, strict=True):
                        known.append(k)
                        those.put(v)
                else:
                    those.put(self._placed(inner))
        for k, v in zip(known, those.values, strict=True):
            made = made.put(k, v)
        return made

    def _key_of_display(self, key: ast.expr, site: Site, unpacks: bool) -> Any:
        """A key of a dict that is written out; where only the run knows it, the translation begins anew, with such."""
        given = self.expr(key)
        try:
            return key_object(self.ctx, given, "put the items into an empty dict: d[key] = value")
        except NotKnown as error:
            if hashed.is_run_time_key(self.ctx, given) and not unpacks:
                error.finding = Finding("growing", site)
            raise

    def _hashed(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], site: Site) -> Value:
        """A dict that is written out, of whose keys only the run knows some."""
        made = hashed.new(self.ctx, "dict", "dict", site)
        with waiting(self.ctx) as those:
            for key, value in zip(keys, values, strict=True):
                assert key is not None
                those.put(self.expr(key))
                those.put(self.expr(value))
        for k, v in zip(those.values[::2], those.values[1::2], strict=True):
            hashed.store(self.ctx, made, k, self.kept(v, ITEM))
        return made

    def _text_part(self, part: ast.expr) -> Text:
        if isinstance(part, ast.Constant):
            return Text(quoted(str(part.value)), ())
        assert isinstance(part, ast.FormattedValue)
        value = self.expr(part.value)
        spec: Value = Static("") if part.format_spec is None else self.expr(part.format_spec)
        if not isinstance(spec, Static):
            problem, help = "a format that is known at run time only", "write its numbers out: f'{x:.3f}'"
            for number in spec.args if isinstance(spec, Text) else ():
                self.ctx.must_be_known(number, problem, help, refusals.TEXT)
            self.ctx.fail(refusals.TEXT, problem, help, part)
        conversion = chr(part.conversion) if part.conversion > 0 else ""
        return as_text(self.ctx, value, spec.value, conversion)

    def name(self, name: str, node: ast.AST) -> Value:
        value = self.env.get(name)
        if value is None and name not in local_names(self.node):
            value = outside.looked_up(self.ctx, self.scope, name)
        missing = f"cannot access local variable '{name}' where it is not associated with a value"
        if value is None:
            if " " in name or name in local_names(self.node):
                self.ctx.guard(b.FALSE, "UnboundLocalError", missing)
            if (refusal := self.scope.refusal(name)) is not None:
                raise refusal
            if hasattr(builtins, name):
                problem = f"`{name}` in a compiled function"
                self.ctx.fail(refusals.UNKNOWN_FUNCTION, problem, "keep it outside the compiled function", node)
            help = "bind or import it; only constants, functions and modules can be captured"
            self.ctx.fail(refusals.UNKNOWN_NAME, f"`{name}` is not known here", help, node)
        if isinstance(value, Maybe):
            if " " in name:
                return value.value
            if value.bound is None:
                assert value.told is not None
                value.told()
            else:
                if value.unknown:
                    problem = f"{value.unknown}: it is read where it has not been set anew, which is not compiled"
                    self.ctx.guard(value.bound, "RuntimeError", problem)
                elif self.inlined and name not in local_names(self.node):
                    missing = missing.replace("local", "free") + " in enclosing scope"
                    self.ctx.guard(value.bound, "NameError", missing)
                else:
                    self.ctx.guard(value.bound, "UnboundLocalError", missing)
                self.env[name] = value.value
            return value.value
        if (
            isinstance(value, Unbound) and self.ctx.session.left_out
            and (" " in name or (self.node, name) in self.ctx.scopes.unknown)
        ):
            raise self.ctx.error(refusals.UNKNOWN_NAME, LEFT_OUT)
        if isinstance(value, Unbound) and value.decides is not None:
            self.ctx.session.span = span_of(node, self.scope.file)
            choices.must_be_known(self.ctx, value)
        if isinstance(value, Unbound):
            choices.fork_at(self.ctx, value.place, value.why, value.help)
            self.ctx.fail(value.kind, value.why, value.help, node)
        return value

    def defaults(self, args: ast.arguments) -> tuple[tuple[str, Value], ...]:
        """What the parameters of a function that is made here have as their defaults from now on."""
        given = [*args.posonlyargs, *args.args]
        pairs = [*zip(given[len(given) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return tuple((a.arg, self.settle(self.expr(d), a.arg)) for a, d in pairs)

    def _is_numpys(self, node: ast.expr) -> bool:
        """Whether it is a call of a function of NumPy's for an array of its own."""
        if not isinstance(node, ast.Call) or any(k.arg in ("out", None) for k in node.keywords):
            return False
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.env:
            return False
        function = self.meant(node.func)
        return isinstance(function, Known) and function.path.startswith("numpy.")

    def items(self, node: ast.expr, base: Value) -> list[Value]:
        """What stands in the subscript of `base`. A tuple is as many subscripts to NumPy, and one to Python."""
        items, whole = self._items(node)
        of = self.ctx.deref(base)
        is_pythons = isinstance(of, _OF_PYTHON) or (isinstance(of, Static) and isinstance(of.value, (str, tuple, list)))
        if is_pythons and whole is not None and (len(items) == 1 or isinstance(whole, Record)):
            return [whole]
        return items

    def _items(self, node: ast.expr) -> tuple[list[Value], Value | None]:
        """What stands in a subscript; with the tuple, if it is one."""
        if isinstance(node, ast.Tuple):
            items: list[Value] = []
            with waiting(self.ctx) as those:
                for e in node.elts:
                    if isinstance(e, ast.Starred):
                        for item in self.elements(self.expr(e.value), None, e):
                            those.put(_as_subscript(item))
                    else:
                        those.put(self.item(e))
                items = those.values
            return items, Seq(tuple(items))
        item = self.item(node)
        if isinstance(item, Record) and item.is_tuple:
            return list(item.items), item
        if isinstance(item, Seq) and item.kind == "tuple":
            return list(item.items), item
        if isinstance(item, Static) and isinstance(item.value, tuple):
            return [Static(v) for v in item.value], item
        return [item], None

    def item(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Slice):
            parts = [None if p is None else self.expr(p) for p in (node.lower, node.upper, node.step)]
            parts = [None if isinstance(p, Static) and p.value is None else p for p in parts]
            return Slice(*parts)
        return _as_subscript(self.expr(node))

    def at_key(self, owner: Object, items: Sequence[Value]) -> Value:
        """``d[key]``; where that needs a key that is known, `d` becomes a dict whose keys need not be."""
        try:
            return subscript(self.ctx, owner, items)
        except NotKnown:
            key = items[0] if len(items) == 1 else Seq(tuple(items))
            contents = self.ctx.deref(owner)
            held = isinstance(contents, Dict) and not any(isinstance(v, (Known, Function)) for v in contents.items)
            if held and hashed.is_run_time_key(self.ctx, key):
                self.ctx.must_look_up(owner.token)
            raise

    def _of_own_lengths(self, owner: Object) -> None:
        """``lists[k]`` of lists that differ in length, where `k` is known at run time: they are to be rows."""
        ctx, contents = self.ctx, self.ctx.deref(owner)
        lists = [ctx.deref(i) for i in contents.items] if isinstance(contents, Seq) else []
        if not lists or not all(map(is_list, lists)):
            return
        lengths = {len(i.items) if isinstance(i, Seq) else -1 for i in lists}
        if len(lengths) > 1 or not lengths.isdisjoint({0, -1}):
            ctx.learned.ragged.add(ctx.heap.sites[owner.token])
            ctx.must_grow(owner.token, "a list of lists of different lengths, which of them is known at run time only")


def _has_effects(node: ast.expr) -> bool:
    """Whether an expression may do more than to have a value."""
    return any(isinstance(x, (ast.Call, ast.NamedExpr)) for x in all_nodes(node))


def _as_subscript(value: Value) -> Value:
    """A value as it stands in a subscript."""
    if isinstance(value, Static) and isinstance(value.value, slice):
        s = value.value
        return Slice(*(None if p is None else Static(p) for p in (s.start, s.stop, s.step)))
    if isinstance(value, Static) and isinstance(value.value, tuple):  # np.s_[1:, ::2]
        value = Seq(tuple(Static(v) for v in value.value))
    if isinstance(value, Seq) and value.kind == "tuple" and any(map(_is_slice, value.items)):
        return replace(value, items=tuple(_as_subscript(v) for v in value.items))
    return value


def _is_slice(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, slice)

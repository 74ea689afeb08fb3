"""Expressions: operators, names, comparisons, conditionals, comprehensions, and calls of the user's own functions.

`Expressions` is the lower half of `translate.Translator`, which adds statements and control flow.
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.frontend import (
    attributes,
    characters,
    classes,
    doubts,
    empties,
    folds,
    functions,
    generators,
    grids,
    growing,
    hashed,
    iterating,
    objects,
    rows,
    sequences,
    special_methods,
)
from transkern.frontend.carried import LoopState
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context, NotKnown, Site, Terminated
from transkern.frontend.desugar import desugared, placed
from transkern.frontend.elementwise import (
    apply,
    describe,
    is_number,
    is_python_number,
    present,
    scalar_expr,
    truth,
    type_name,
)  # fmt: skip
from transkern.frontend.indexing import Item, SliceValue, constant_object, is_typed, subscript
from transkern.frontend.source import from_object, span_of
from transkern.frontend.syntax import (
    assigned_names,
    results_given,
)  # fmt: skip
from transkern.frontend.texts import as_text, quoted, together
from transkern.frontend.trips import condition_of, trip_count, zero
from transkern.frontend.types_of_scalars import scalar_kind
from transkern.frontend.values import (
    Array,
    Bound,
    Char,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Known,
    Maybe,
    Method,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Row,
    Scalar,
    Scope,
    Seq,
    Static,
    Text,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
INLINE_DEPTH = 32
UNROLLED = "_transkern_unrolled"  # on a loop: a few iterations are better translated one by one
RETURN = "return"  # the pseudo-name that holds an inlined function's value


def _may_store(node: ast.expr) -> bool:
    """Whether an expression may change an array: a function of the user's, or `out=`."""
    calls = (x for x in ast.walk(node) if isinstance(x, ast.Call))
    return any(isinstance(c.func, ast.Name) or bool(results_given(c)) for c in calls)


_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and_": "bitwise_and", "or_": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARISONS_NAMED: dict[str, type[ast.cmpop]] = {
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq,
}  # fmt: skip
_CONTAINERS = (Seq, Dict, GrowingList, Hashed)
_CHANGING = frozenset(["append", "extend", "pop", "insert", "remove", "clear", "sort", "reverse"])


class Expressions:
    """The translation of one function body's expressions, over its names `env`."""

    # from the classes made of this one (`assigning`, `branching`, `looping`, `translate`)
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
    join: Callable[[str, Value, Value, list[n.Stmt], list[n.Stmt]], Value]
    merge: Callable[
        [dict[str, Value], dict[str, Value], list[n.Stmt], list[n.Stmt], frozenset[str] | None], None
    ]
    merge_heaps: Callable[[dict[int, Value], dict[int, Value], list[n.Stmt], list[n.Stmt]], None]

    def __init__(
        self, ctx: Context, scope: Scope, node: ast.FunctionDef | ast.Lambda, env: dict[str, Value], inlined: bool
    ):
        self.ctx, self.scope, self.env, self.inlined = ctx, scope, env, inlined
        self.node = desugared(generators.written_out(node, self._function_here), inlined)
        self.pending: list[Callable[[], bool]] = []  # what comes after the blocks that are being translated
        self.loops: list[LoopState] = []
        self.decides: Expr | None = None  # the condition between the paths that are being joined
        self.joining: tuple[dict[str, Value], dict[str, Value], frozenset[str] | None] = ({}, {}, None)  # their names
        self.apart = 0  # loops behind which the function's rest is being translated more than once
        self.last_trips: Expr | None = None  # how often the last loop ran
        self.jumps = 0  # unrolled loops so far: their flags are numbered
        self.ended = False
        # what is in lists, dicts and objects on two paths, until it is joined
        self.unmerged: dict[int, tuple[Value, Value, list[n.Stmt], list[n.Stmt]]] = {}
        self.handed_out: set[str] = set()  # buffers that results stand in
        ctx.inline = ctx.inline or self.inline

    def _function_here(self, name: str) -> ast.FunctionDef | None:
        """The text of the function that a name means, where its own names mean there what they mean here."""
        found = self.env.get(name) or self.scope.lookup(name)
        if isinstance(found, Function) and isinstance(found.node, ast.FunctionDef) and self.scope.is_also(found.scope):
            return found.node
        return None

    # --- expressions

    def expr(self, node: ast.expr) -> Value:
        ctx = self.ctx
        span = ctx.span
        try:
            return self._expr(node)
        except (RecursionError, MemoryError):
            raise
        finally:
            ctx.span = span

    def _expr(self, node: ast.expr) -> Value:
        ctx = self.ctx
        match node:
            case ast.Constant(value=constant):
                return Static(constant)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.BinOp(left=left, op=op, right=right):
                x, y = self.expr(left), self.expr(right)
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
                    made = special_methods.unary(ctx, _UNARY[type(op)], inner)
                    if made is not None:
                        return made
                    sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
                    inner = present(ctx, inner, "TypeError", f"bad operand type for unary {sign}: 'NoneType'")
                    sign = _UNARY[type(op)]
                    return empties.operation(ctx, sign, [inner], lambda of: apply(ctx, sign, of, operator_call=True))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.comparison(node, left, ops, comparators)
            case ast.BoolOp(op=op, values=values):
                return self.chosen(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse)
            case ast.Tuple(elts=elts):
                return Seq(self._display(elts), "tuple")
            case ast.List(elts=elts):
                return Seq(self._display(elts), "list")
            case ast.Set(elts=elts):
                return Seq(self._display(elts), "set")
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.Slice():
                return self.item(node)
            case ast.Subscript(value=value, slice=index):
                base = present(ctx, self.expr(value), "TypeError", "'NoneType' object is not subscriptable")
                items = self.items(index)
                with At(ctx, node, self.scope.file):
                    if isinstance(base, Object) and len(items) == 1 and isinstance(items[0], Scalar):
                        self._of_own_lengths(base)
                    if isinstance(base, Known) and base.path in grids.MAKERS:
                        return grids.made_by_subscript(ctx, base.path, items)
                    return self._at_key(base, items) if isinstance(base, Object) else subscript(ctx, base, items)
            case ast.Attribute(value=value, attr=attr):
                owner = self.expr(value)
                with At(ctx, node, self.scope.file):
                    missing = f"'NoneType' object has no attribute '{attr}'"
                    owner = present(ctx, owner, "AttributeError", missing)
                    found = attributes.attribute(ctx, owner, attr)
                    if isinstance(found, Bound) and attributes.is_property(ctx, owner, attr):
                        return self.inline(found.function, [found.receiver], {}, node)
                    return found
            case ast.Call():
                return self.call(node)
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return self.comprehension(node, elt, generators)
            case ast.DictComp(key=key, value=value, generators=generators):
                put = ast.Assign([ast.Subscript(ast.Name("items made", ast.Load()), key, ast.Store())], value)
                return self.comprehended(node, Dict((), ()), put, generators)
            case ast.SetComp(elt=elt, generators=generators):
                add = ast.Attribute(ast.Name("items made", ast.Load()), "add", ast.Load())
                return self.comprehended(node, Seq((), "set"), ast.Expr(ast.Call(add, [elt], [])), generators)
            case ast.Lambda():
                return Function("<lambda>", node, self.scope, self.env)
            case ast.JoinedStr(values=parts):
                return together([self._text_part(p) for p in parts])
            case ast.NamedExpr(target=target, value=value):
                result = self.expr(value)
                self.assign(target, result)
                return self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            case _:
                ctx.fail(f"`{ast.unparse(node)[:40]}`: this kind of expression is not compiled", "", node)

    def _display(self, elts: Sequence[ast.expr]) -> tuple[Value, ...]:
        items: list[Value] = []
        calls = [any(isinstance(x, (ast.Call, ast.NamedExpr)) for x in ast.walk(e)) for e in elts]
        for position, e in enumerate(elts):
            if isinstance(e, ast.Starred):
                items += self.elements(self.expr(e.value), None, e)
                continue
            item = self.expr(e)
            with At(self.ctx, e, self.scope.file):  # lists in a display are told apart by their places
                item = self._placed(item)
            later = elts[position + 1 :]
            if isinstance(item, Scalar) and any(calls[position + 1 :]):
                item = self.settle(item, "item")  # a call may change what it is made of
            elif isinstance(item, Array) and item.mask is None and any(map(_may_store, later)):
                item = self.settle(item, "item")
            items.append(item)
        return tuple(items)

    def _placed(self, value: Value) -> Value:
        """`value` as an item of a display: a list in a list is an object of its own."""
        return self.settle(value, "item") if isinstance(value, (Seq, Dict, Record)) else value

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Value:
        ctx = self.ctx
        made = Dict((), ())
        for key, value in zip(keys, values, strict=True):
            inner = self.expr(value)
            if key is None:
                other = ctx.deref(inner)
                if not isinstance(other, Dict):
                    ctx.fail(f"`**` of {describe(other)}", "", value)
                for k, v in zip(other.keys, other.items, strict=True):
                    made = made.put(k, v)
            else:
                known = constant_object(ctx, self.expr(key), "a dict's key that is known at run time only")
                made = made.put(known, self._placed(inner))
        return made

    def _text_part(self, part: ast.expr) -> Text:
        if isinstance(part, ast.Constant):
            return Text(quoted(str(part.value)), ())
        assert isinstance(part, ast.FormattedValue)
        value = self.expr(part.value)
        spec: Value = Static("") if part.format_spec is None else self.expr(part.format_spec)
        if not isinstance(spec, Static):
            self.ctx.fail("a format that is known at run time only", "", part)
        conversion = chr(part.conversion) if part.conversion > 0 else ""
        return as_text(self.ctx, value, spec.value, conversion)

    def name(self, name: str, node: ast.AST) -> Value:
        value = self.env.get(name)
        if value is None:
            value = self.scope.lookup(name)
        missing = f"cannot access local variable '{name}' where it is not associated with a value"
        if value is None:
            body = self.node.body if isinstance(self.node, ast.FunctionDef) else []
            if " " in name or name in assigned_names(body):
                self.ctx.guard(b.FALSE, "UnboundLocalError", missing)
            if hasattr(builtins, name):
                self.ctx.fail(f"`{name}` in a compiled function", "keep it outside the compiled function", node)
            self.ctx.fail(f"`{name}` is not known here", "only constants, functions and modules can be captured", node)
        if isinstance(value, Maybe):
            if " " in name:
                return value.value
            if value.bound is None:
                assert value.told is not None
                value.told()
            else:
                self.ctx.guard(value.bound, "UnboundLocalError", missing)
                self.env[name] = value.value
            return value.value
        if isinstance(value, Unbound) and value.decides is not None:
            self.ctx.span = span_of(node, self.scope.file)
            self.ctx.must_be_known(Scalar(value.decides), value.why, "give it a value of one type on every path")
        if isinstance(value, Unbound):
            self.ctx.fail(value.why, "give it a value of one type on every path", node)
        return value

    def items(self, node: ast.expr) -> list[Item]:
        if isinstance(node, ast.Tuple):
            return [self.item(e) for e in node.elts]
        item = self.item(node)
        if isinstance(item, Record) and item.is_tuple:
            return list(item.items)
        if isinstance(item, Seq) and item.kind == "tuple":
            return list(item.items)
        if isinstance(item, Static) and isinstance(item.value, tuple):
            return [Static(v) for v in item.value]
        return [item]

    def item(self, node: ast.expr) -> Item:
        if isinstance(node, ast.Slice):
            parts = [None if p is None else self.expr(p) for p in (node.lower, node.upper, node.step)]
            parts = [None if isinstance(p, Static) and p.value is None else p for p in parts]
            return SliceValue(*parts)
        value = self.expr(node)
        if isinstance(value, Static) and isinstance(value.value, slice):
            s = value.value
            return SliceValue(*(None if p is None else Static(p) for p in (s.start, s.stop, s.step)))
        return value

    def comparison(
        self, node: ast.Compare, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]
    ) -> Value:
        ctx = self.ctx
        x = self.expr(left)
        result: Value | None = None
        for k, (op, other) in enumerate(zip(ops, others, strict=True)):
            if isinstance(result, Static) and not result.value:
                return result
            if result is not None and not isinstance(other, (ast.Name, ast.Constant)):
                rest = ast.Compare(ast.Name(ctx.fresh("compared"), ast.Load()), list(ops[k:]), list(others[k:]))
                return self._decided_or(node, result, x, rest)
            y = self.expr(other)
            with At(ctx, node, self.scope.file):
                one = self._compare(op, x, y)
            result = one if result is None else self._and(result, one)
            x = y
        assert result is not None
        return result

    def _decided_or(self, node: ast.Compare, result: Value, x: Value, rest: ast.Compare) -> Value:
        """``a < x < f(y)``, whose ``a < x`` is `result`: `rest`, which compares `x`, is evaluated where that holds."""
        assert isinstance(rest.left, ast.Name)
        known = ast.Name(self.ctx.fresh("outcome"), ast.Load())
        names = {known.id: result, rest.left.id: x}
        self.env.update(names)
        for made in (known, rest, rest.left):
            ast.copy_location(made, node)
        try:
            return self.chosen(True, [known, rest])
        finally:
            for name in names:
                self.env.pop(name, None)

    def _compare(self, op: ast.cmpop, x: Value, y: Value) -> Value:
        ctx = self.ctx
        if isinstance(op, (ast.Is, ast.IsNot)):
            for one, two in ((x, y), (y, x)):
                if isinstance(one, OneOf) and isinstance(two, Static) and two.value is None:
                    is_none = one.where(lambda option: option is None)
                    return Scalar(is_none if isinstance(op, ast.Is) else b.logical_not(is_none), True)
                if isinstance(one, OrNone) and isinstance(two, Static) and two.value is None:
                    return Scalar(one.none if isinstance(op, ast.Is) else b.logical_not(one.none), True)
            told = objects.same(x, y)
            if told is not None:
                return told if isinstance(op, ast.Is) else self._not(told)
            same = _identical(x, y)
            if same is None:
                ctx.fail("`is` between run-time values", "use ==")
            return Static(same is isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            made = special_methods.contained(ctx, x, y)
            if made is not None:
                made = truth(ctx, made)
                return made if isinstance(op, ast.In) else self._not(made)
            if isinstance(ctx.deref(y), Dict) and isinstance(y, Object) and hashed.is_run_time_key(ctx, x):
                ctx.must_grow(y.token, "`in` a dict with a key that is known at run time only")
            found = iterating.contains(ctx, x if isinstance(x, Instance) else ctx.deref(x), ctx.deref(y))
            return found if isinstance(op, ast.In) else self._not(found)
        name = _COMPARE[type(op)]
        made = special_methods.compared(ctx, name, x, y)
        if made is not None:
            return made
        if isinstance(x, OrNone) or isinstance(y, OrNone):
            return self._compare_or_none(op, *(v if isinstance(v, Instance) else ctx.deref(v) for v in (x, y)))
        x, y = ctx.deref(x), ctx.deref(y)
        if isinstance(x, (Dict, Record)) and isinstance(y, (Dict, Record)) and name in ("equal", "not_equal"):
            x, y = Seq(x.items), Seq(y.items)
        one_kind, other_kind = classes.object_at(x), classes.object_at(y)
        if one_kind is not None and other_kind is not None:  # `x.dtype == float`
            return Static(bool(_COMPARISONS[name](one_kind, other_kind)))
        if isinstance(x, Known) and isinstance(y, Known):
            return Static((x.path == y.path) is (name == "equal"))
        if isinstance(x, Char) or isinstance(y, Char):
            return characters.compare(ctx, name, x, y)
        for one, two in ((x, y), (y, x)):
            if isinstance(one, OneOf) and isinstance(two, Static):
                wanted = two.value
                condition = one.where(lambda option: option == wanted)  # noqa: B023
                return Scalar(condition if name == "equal" else b.logical_not(condition), True)
        if isinstance(x, Static) and isinstance(y, Static) and not (is_number(x) and is_number(y)):
            try:
                return Static(bool(_COMPARISONS[name](x.value, y.value)))
            except TypeError:
                ctx.fail(f"a comparison of {describe(x)} and {describe(y)}")
        if isinstance(x, Seq) and isinstance(y, Seq) and name in ("equal", "not_equal"):
            if len(x.items) != len(y.items):
                return Static(name == "not_equal")
            result: Value = Static(True)
            for p, q in zip(x.items, y.items, strict=True):
                result = self._and(result, self._are_equal(p, q))
            return result if name == "equal" else self._not(result)
        if isinstance(x, Seq) and isinstance(y, Seq) and x.kind == y.kind:
            return self._order(op, x, y)
        if isinstance(x, (Seq, GrowingList)) or isinstance(y, (Seq, GrowingList)):
            if isinstance(x, (Seq, GrowingList)) and isinstance(y, Static) and y.value is None:
                return Static(name == "not_equal")
            compared = self._compare_lists(name, x, y)
            if compared is not None:
                return compared
        for one, two in ((x, y), (y, x)):
            if isinstance(one, Static) and (one.value is None or isinstance(one.value, str)):
                return Static(name == "not_equal")
            del two
        return empties.operation(ctx, name, [x, y], lambda given: apply(ctx, name, given, operator_call=True))

    def _compare_lists(self, name: str, x: Value, y: Value) -> Value | None:
        """A comparison of lists one of which has a run-time length, or of a list or tuple with something else of
        Python's; None where an array takes part."""
        ctx = self.ctx
        kinds = [
            v.kind if isinstance(v, Seq) else "list" if isinstance(v, GrowingList) and not v.is_queue else ""
            for v in (x, y)
        ]
        if kinds == ["list", "list"]:
            if any(not v.items if isinstance(v, Seq) else not is_typed(ctx, v) for v in (x, y)):  # type: ignore[arg-type]
                lengths = [b.index(len(v.items)) if isinstance(v, Seq) else v.length for v in (x, y)]  # type: ignore
                return Scalar(b.compare(name, *lengths), True)
            match name:
                case "equal" | "not_equal":
                    same = compose(ctx, "lists", "equal", [x, y], {})
                    return same if name == "equal" else self._not(same)
                case "less" | "less_equal":
                    return compose(ctx, "lists", name, [x, y], {})
                case _:
                    return compose(ctx, "lists", {"greater": "less", "greater_equal": "less_equal"}[name], [y, x], {})
        if name in ("equal", "not_equal") and (
            set(kinds) in ({"list", "tuple"}, {"list", "set"}, {"tuple", "set"})
            or any(isinstance(v, (Static, Scalar)) and is_python_number(v) for v in (x, y))
        ):
            return Static(name == "not_equal")
        return None

    def _are_equal(self, one: Value, two: Value) -> Value:
        """Whether items of two tuples (lists) are equal, as those are compared: an object is equal to itself."""
        if iterating.is_one_object(one, two):
            return Static(True)
        made = truth(self.ctx, self._compare(ast.Eq(), one, two))
        return replace(made, python=True) if isinstance(made, Scalar) else made

    def _order(self, op: ast.cmpop, x: Seq, y: Seq) -> Value:
        """The order of two tuples (lists): that of the first items that differ."""
        if not x.items or not y.items:
            return Static(_COMPARISONS[_COMPARE[type(op)]](len(x.items), len(y.items)))
        first, second = x.items[0], y.items[0]
        rest = self._order(op, replace(x, items=x.items[1:]), replace(y, items=y.items[1:]))
        same = self._are_equal(first, second)
        if isinstance(same, Static):
            return rest if same.value else self._compare(op, first, second)
        compared = self._compare(op, first, second)
        here = condition_of(truth(self.ctx, compared))
        python = not isinstance(compared, Scalar) or compared.python
        return Scalar(b.where(condition_of(same), condition_of(rest), here), python)

    def _compare_or_none(self, op: ast.cmpop, x: Value, y: Value) -> Value:
        """A comparison of what may be None: that is equal to None alone, and has no order."""
        ctx = self.ctx
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            symbol = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(op)]
            names = [type_name(v.value if isinstance(v, OrNone) else v) for v in (x, y)]
            for k, one in enumerate((x, y)):
                shown = [("NoneType" if j == k else name) for j, name in enumerate(names)]
                text = f"'{symbol}' not supported between instances of '{shown[0]}' and '{shown[1]}'"
                present(ctx, one, "TypeError", text)
            return self._compare(op, *(v.value if isinstance(v, OrNone) else v for v in (x, y)))
        one, two = (x, y) if isinstance(x, OrNone) else (y, x)
        assert isinstance(one, OrNone)
        if isinstance(two, OrNone):
            ctx.fail("a comparison of two values that may be None", "test them with `is None` first")
        if isinstance(two, Static) and two.value is None:
            return Scalar(one.none if isinstance(op, ast.Eq) else b.logical_not(one.none), True)
        equal = self._compare(ast.Eq(), one.value, two)
        if isinstance(equal, Array) and equal.ndim:
            ctx.fail("a comparison of an array that may be None", "test it with `is None` first")
        is_equal = Scalar(b.both(b.logical_not(one.none), condition_of(truth(ctx, equal))), True)
        return is_equal if isinstance(op, ast.Eq) else self._not(is_equal)

    def _and(self, x: Value, y: Value) -> Value:
        if isinstance(x, Static):
            return y if x.value else x
        if isinstance(y, Static) and isinstance(x, Scalar):
            return x if y.value else y
        if isinstance(x, Scalar) and isinstance(y, Scalar):
            return Scalar(b.both(condition_of(truth(self.ctx, x)), condition_of(truth(self.ctx, y))), y.python)
        self.ctx.fail("a chained comparison of arrays", "use (a < b) & (b < c)")

    def told(self, test: ast.expr | None, holds: bool) -> dict[str, Value]:
        """What the outcome of a test says about names that may be None."""
        match test:
            case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
                value = self.env.get(name)
                if isinstance(value, OrNone):
                    return {name: Static(None) if isinstance(op, ast.Is) is holds else value.value}
            case ast.Name(name) if holds and isinstance(value := self.env.get(name), OrNone):
                return {name: value.value}
            case ast.UnaryOp(ast.Not(), inner):
                return self.told(inner, not holds)
            case ast.BoolOp(op, values) if isinstance(op, ast.And) is holds:
                return {k: v for part in values for k, v in self.told(part, holds).items()}
            case _:
                pass
        return {}

    @contextmanager
    def knowing_none(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """Inside an expression, what the outcome of a test says about names that may be None."""
        known = self.told(test, holds)
        before = {k: self.env[k] for k in known}
        self.env.update(known)
        try:
            yield
        finally:
            self.env.update({k: before[k] for k, v in known.items() if self.env.get(k) is v})

    def _not(self, x: Value) -> Value:
        value = truth(self.ctx, x)
        if isinstance(value, Static):
            return Static(not value.value)
        assert isinstance(value, Scalar)
        return Scalar(b.logical_not(value.expr), True)

    def test(self, node: ast.expr) -> Value:
        """``bool(node)``, as conditions need it."""
        if isinstance(node, ast.BoolOp):
            return truth(self.ctx, self.boolean(isinstance(node.op, ast.And), node.values))
        return truth(self.ctx, self.expr(node))

    def chosen(self, is_and: bool, values: Sequence[ast.expr]) -> Value:
        """``a and b``, ``a or b`` as values: one of the operands."""
        ctx = self.ctx
        one = self.expr(values[0])
        if len(values) == 1:
            return one
        decided = truth(ctx, one)
        if isinstance(decided, Static):
            return one if bool(decided.value) is not is_and else self.chosen(is_and, values[1:])
        assert isinstance(decided, Scalar)
        one = self.settle(one, "chosen")
        condition = condition_of(truth(ctx, one))
        before, other = self._held(), list[n.Stmt]()
        with ctx.block() as out, ctx.knowing(condition if is_and else b.logical_not(condition)):
            try:
                two = self.chosen(is_and, values[1:])
                self._meet(self._held(), before, out, other)
            except Terminated:
                two = one
                self._take(before)
        if isinstance(one, Scalar) and isinstance(two, (Scalar, Static)) and not out:
            bools = is_number(two) or isinstance(two, Scalar)
            if bools and one.dtype == "bool" and scalar_expr(ctx, two).dtype == "bool":
                joined = (b.both if is_and else b.either)(condition, scalar_expr(ctx, two))
                return Scalar(joined, two.python if isinstance(two, Scalar) else is_python_number(two))
        return self.either(condition if is_and else b.logical_not(condition), two, one, out, other)

    # --- expressions that are evaluated on one path only: what they leave in objects, and under names (``:=``)

    def _held(self) -> tuple[dict[int, Value], dict[str, Value]]:
        return dict(self.ctx.heap), dict(self.env)

    def _take(self, held: tuple[dict[int, Value], dict[str, Value]]) -> None:
        self.ctx.heap = dict(held[0])
        self.env.clear()
        self.env.update(held[1])

    def _meet(
        self, one: tuple[dict[int, Value], dict[str, Value]], two: tuple[dict[int, Value], dict[str, Value]],
        out1: list[n.Stmt], out2: list[n.Stmt],
    ) -> None:  # fmt: skip
        """What is left where two paths meet, with what it takes at the ends of them."""
        self._take(one)
        if any(one[0].get(token) is not contents for token, contents in two[0].items()):
            self.joining = (one[1], two[1], None)
            self.merge_heaps(one[0], two[0], out1, out2)
        if one[1].keys() != two[1].keys() or any(one[1][name] is not value for name, value in two[1].items()):
            self.merge(one[1], two[1], out1, out2, None)

    def boolean(self, is_and: bool, values: Sequence[ast.expr]) -> Value:
        """``and``/``or``: the value where it decides at specialisation, else a condition."""
        ctx = self.ctx
        conditions: list[Expr] = []
        last: Value = Static(is_and)
        for position, node in enumerate(values):
            ends = False
            left = ast.BoolOp(ast.And() if is_and else ast.Or(), list(values[:position]))
            before, other = self._held(), list[n.Stmt]()
            with ctx.block() as extra, self.knowing_none(left, is_and):
                try:
                    value = self.test(node) if isinstance(node, ast.BoolOp) else self.expr(node)
                except Terminated:  # it raises, where it is evaluated
                    if not conditions:
                        ends = True
                    value = Static(not is_and)
            if ends:
                ctx.out.extend(extra)
                raise Terminated
            if conditions:
                self._meet(self._held(), before, extra, other)
            if conditions and any(isinstance(s, (n.Define, n.Alloc)) for s in extra):
                conditions = [self._decided_first(is_and, conditions, extra, other, value)]
                continue
            if extra and conditions:
                # what the operand needs runs only where the left side does not decide
                ctx.emit(self._short_circuit(is_and, conditions, extra, other))
            else:
                ctx.out.extend(extra)
            decided = truth(ctx, value)
            last = value
            if isinstance(decided, Static):
                if decided.value is not is_and:
                    if not conditions:
                        return value
                    conditions.append(b.TRUE if decided.value else b.FALSE)
                    break
                if position == len(values) - 1 and not conditions:
                    return value
                continue
            conditions.append(condition_of(decided))
        if not conditions:
            return last
        joined = conditions[0]
        for c in conditions[1:]:
            joined = b.both(joined, c) if is_and else b.either(joined, c)
        return Static(joined == b.TRUE) if isinstance(joined, Const) else Scalar(joined, True)

    def _short_circuit(
        self, is_and: bool, conditions: list[Expr], extra: list[n.Stmt], other: list[n.Stmt]
    ) -> n.Stmt:
        before = conditions[0]
        for c in conditions[1:]:
            before = b.both(before, c) if is_and else b.either(before, c)
        needed = before if is_and else b.logical_not(before)
        for position, s in enumerate(extra):
            if isinstance(s, n.Let):  # used behind the branch: a variable that is set in it
                self.ctx.variables[s.name] = s.value.dtype
                self.ctx.emit(n.Assign(s.name, zero(s.value.dtype)))
                extra[position] = n.Assign(s.name, s.value, span=s.span)
        return n.If(needed, tuple(extra), tuple(other))

    def _decided_first(
        self, is_and: bool, conditions: list[Expr], extra: list[n.Stmt], other: list[n.Stmt], value: Value
    ) -> Expr:
        """``a and b`` where b computes arrays: a flag, which b changes where a does not decide."""
        ctx = self.ctx
        before = conditions[0]
        for c in conditions[1:]:
            before = b.both(before, c) if is_and else b.either(before, c)
        flag = ctx.variable("decided", "bool")
        ctx.emit(n.Assign(flag.name, before))
        with ctx.block() as more:
            holds = condition_of(truth(ctx, value))
        last = n.Assign(flag.name, holds, span=ctx.span)
        branches = (*extra, *more, last), tuple(other)
        ctx.emit(n.If(flag, *branches) if is_and else n.If(b.logical_not(flag), *branches))
        return flag

    def conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        ctx = self.ctx
        condition = self.test(test)
        if isinstance(condition, Static):
            return self.expr(body if condition.value else orelse)
        assert isinstance(condition, Scalar)
        holds = ctx.let(condition.expr, "condition") if buffers_read(condition.expr) else condition.expr
        sides: list[tuple[Value | None, list[n.Stmt]]] = []
        before, left_by = self._held(), []
        for node, known in ((body, holds), (orelse, b.logical_not(holds))):
            self._take(before)
            with ctx.block() as out, ctx.knowing(known), self.knowing_none(test, node is body):
                try:
                    sides.append((self.expr(node), out))
                except Terminated:  # this side raises
                    sides.append((None, out))
            left_by.append(self._held())
        (one, out1), (two, out2) = sides
        if one is not None and two is not None:
            self._meet(left_by[0], left_by[1], out1, out2)
            return self.either(holds, one, two, out1, out2, body)
        if one is None and two is None:
            ctx.emit(n.If(holds, tuple(out1), tuple(out2)))
            raise Terminated
        self._take(left_by[one is None])
        raised, when, kept = (out1, holds, out2) if one is None else (out2, b.logical_not(holds), out1)
        ctx.emit(n.If(when, tuple(raised)))
        ctx.out.extend(kept)
        left = two if one is None else one
        assert left is not None
        return left

    def either(
        self, condition: Expr, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt],
        node: ast.AST | None = None,
    ) -> Value:  # fmt: skip
        """`one` after `out1` where the condition holds, else `two` after `out2`."""
        ctx = self.ctx
        if one == two and not out1 and not out2:
            return one
        one, two = self.number_in(one, out1), self.number_in(two, out2)
        kind = scalar_kind(one, two)
        if kind is not None and not out1 and not out2:
            return Scalar(b.where(
                condition, b.cast(scalar_expr(ctx, one), kind[0]), b.cast(scalar_expr(ctx, two), kind[0])
            ), kind[1], doubt=doubts.of_both(one, two, condition, doubts.chosen(condition, one, two)))  # fmt: skip
        one, two = self.settled_in(one, out1), self.settled_in(two, out2)
        self.decides = condition
        self.joining = (self.env, self.env, self.ctx.live_here)
        joined = self.join("chosen", one, two, out1, out2)
        ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
        if isinstance(joined, (Unbound, Maybe)):
            if node is not None:
                ctx.span = span_of(node, self.scope.file)
            problem = "the two sides of this conditional have different types"
            ctx.must_be_known(Scalar(condition), problem, "make them the same type")
        return joined

    def settled_in(self, value: Value, out: list[n.Stmt]) -> Value:
        """Containers as objects, at the end of `out`."""
        if not isinstance(value, (Seq, Dict, Record)):
            return value
        with self.ctx.block() as more:
            made = self.settle(value, "chosen")
        out.extend(more)
        return made

    def number_in(self, value: Value, out: list[n.Stmt]) -> Value:
        """A number, at the end of `out`, that joins another."""
        with self.ctx.block() as more:
            made = doubts.settled(self.ctx, value)
        out.extend(more)
        return made

    def comprehension(self, node: ast.expr, elt: ast.expr, generators: Sequence[ast.comprehension]) -> Value:
        """The list of a comprehension (a generator's elements are all made at once where it matters to nobody)."""
        ctx = self.ctx
        add = ast.Attribute(ast.Name("items made", ast.Load()), "append", ast.Load())
        value = ctx.deref(self.comprehended(node, Seq((), "list"), ast.Expr(ast.Call(add, [elt], [])), generators))
        trips = self.last_trips
        if isinstance(value, GrowingList) and trips is not None and len(generators) == 1 and not generators[0].ifs:
            if variables_read(trips) <= ctx.entry and not buffers_read(trips):
                value.extent = trips
        return value

    def comprehended(
        self, node: ast.expr, contents: Value, store: ast.stmt, generators: Sequence[ast.comprehension]
    ) -> Value:
        """What a loop over names of its own has put into `contents` with `store`."""
        ctx = self.ctx
        name = "items made"
        for generator in reversed(generators):
            for test in reversed(generator.ifs):
                store = ast.If(test, [store], [])
            store = ast.For(generator.target, generator.iter, [store], [])
            setattr(store, UNROLLED, True)
        with self.inner_names(generators, node, store):
            with At(ctx, node, self.scope.file):
                self.env[name] = self.allocate(contents, "items")
            self.statement(store)
            return self.env[name]

    def mapped(self, is_map: bool, function: Value, iterables: Sequence[Value], node: ast.Call) -> Value:
        """``map(function, *iterables)`` and ``filter(function, iterable)``: comprehensions."""
        names = [f"mapped {k}" for k in range(len(iterables))]
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        target = targets[0] if len(names) == 1 else ast.Tuple(targets, ast.Store())
        source = iterables[0] if len(names) == 1 else Method(Seq(tuple(iterables)), "zip")
        call: ast.expr = ast.Call(ast.Name("mapped by", ast.Load()), [ast.Name(name, ast.Load()) for name in names], [])
        item: ast.expr = call if is_map else ast.Name(names[0], ast.Load())
        if not is_map and function == Static(None):
            call = item
        names = ["mapped by", "mapped from"]
        outer = {k: self.env[k] for k in names if k in self.env}
        self.env["mapped by"], self.env["mapped from"] = function, source
        generator = ast.comprehension(target, ast.Name("mapped from", ast.Load()), [] if is_map else [call], 0)
        made = ast.fix_missing_locations(ast.copy_location(ast.ListComp(item, [generator]), node))
        try:
            return self.comprehension(made, item, [generator])
        finally:
            for k in names:
                self.env.pop(k, None)
            self.env.update(outer)

    @contextmanager
    def inner_names(
        self, generators: Sequence[ast.comprehension], node: ast.AST, *made: ast.stmt
    ) -> Iterator[None]:
        """Inside, a comprehension's own names hide the function's; `made` are its statements, placed at `node`."""
        for statement in made:
            placed(statement, node)
        names = {x.id for g in generators for x in ast.walk(g.target) if isinstance(x, ast.Name)} | {"items made"}
        saved = {k: self.env[k] for k in names if k in self.env}
        for k in names:
            self.env.pop(k, None)
        try:
            yield
        finally:
            for k in names:
                self.env.pop(k, None)
            self.env.update(saved)

    # --- calls

    def _of_base(self, node: ast.expr) -> Value | None:
        """``super().name`` in a method."""
        match node:
            case ast.Attribute(ast.Call(ast.Name("super"), [], []), name):
                kind, arguments = self.scope.lookup("__class__"), self.node.args
                parameters = [*arguments.posonlyargs, *arguments.args]
                if not isinstance(kind, Static) or not parameters:
                    return None
                receiver = self.env.get(parameters[0].arg)
                if receiver is None or not isinstance(self.ctx.deref(receiver), Record):
                    return None
                return special_methods.of_base(self.ctx, kind.value, receiver, name)
            case _:
                return None

    def call(self, node: ast.Call) -> Value:
        if (of_base := self._of_base(node.func)) is not None:
            return self._called(of_base, node)
        return self._called(self.expr(node.func), node)

    def _called(self, function: Value, node: ast.Call) -> Value:
        ctx = self.ctx
        if isinstance(function, Known) and (source := folds.used_up(function.path, node)) is not None:
            folded = folds.folded(self, function.path, source, node)
            if folded is not None:
                return folded
        positional: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                positional += self.elements(self.expr(argument.value), None, argument)
            else:
                positional.append(self.expr(argument))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                given = ctx.deref(self.expr(keyword.value))
                if not isinstance(given, Dict) or not all(isinstance(k, str) for k in given.keys):
                    ctx.fail(f"`**` of {describe(given)} in a call", "", node)
                keywords.update(zip(given.keys, given.items, strict=True))
                continue
            keywords[keyword.arg] = self.expr(keyword.value)
        if function in (Known("builtins.map"), Known("builtins.filter")) and len(positional) > 1 and not keywords:
            return self.mapped(function == Known("builtins.map"), positional[0], positional[1:], node)
        if isinstance(function, Known) and len(positional) == 1 and not keywords:
            with At(ctx, node, self.scope.file):
                made = special_methods.builtin(ctx, function.path, positional[0])
            if made is not None:
                return made
        key = keywords.get("key")
        if isinstance(function, Known) and function.path in ("builtins.min", "builtins.max", "builtins.sorted") and key:
            return self.by_key(function.path.removeprefix("builtins."), positional, keywords, node)
        with At(ctx, node, self.scope.file):
            match function:
                case Function():
                    return self.inline(function, positional, keywords)
                case Known("itertools.product" | "itertools.combinations" | "itertools.permutations" as path):
                    kind = getattr(itertools, path.removeprefix("itertools."))
                    return self.arranged(kind, positional, keywords, node)
                case Known("functools.reduce") if 2 <= len(positional) <= 3:
                    return compose(ctx, "lists", "reduced" if positional[2:] else "reduced_from_first", positional, {})
                case Known(path) if (made := self._operator(path, positional)) is not None:
                    return made
                case Known("collections.deque" | "collections.defaultdict" as path):
                    kind = getattr(collections, path.removeprefix("collections."))
                    return self.construct(kind, positional, keywords, node)
                case Known(path):
                    return functions.call(ctx, path, positional, keywords)
                case Method(receiver, name):
                    if name in _CHANGING and isinstance(node.func, ast.Attribute):
                        self._lists_apart(node.func.value, receiver)
                    if isinstance(ctx.deref(receiver), _CONTAINERS):  # what goes into it is as it is now
                        positional = [self.kept(p, "item") for p in positional]
                        keywords = {k: self.kept(v, "item") for k, v in keywords.items()}
                    return functions.call_method(ctx, receiver, name, positional, keywords)
                case Bound(inner, receiver):
                    return self.inline(inner, [receiver, *positional], keywords, node)
                case Static(type() as kind) if issubclass(kind, np.generic):
                    return functions.scalar_type(ctx, kind, [ctx.deref(p) for p in positional])
                case Static(type() as kind) if issubclass(kind, BaseException):
                    ctx.fail("an exception that is not raised", "", node)
                case Static(type() as kind):
                    return self.construct(kind, positional, keywords, node)
                case Object() if (called := attributes.of_class(ctx, function, "__call__")) is not None:
                    assert isinstance(called, Bound)
                    return self.inline(called.function, [function, *positional], keywords, node)
                case _:
                    ctx.fail(f"a call of {describe(function)}")

    def _at_key(self, owner: Object, items: Sequence[Item]) -> Value:
        """``d[key]``; where that needs a key that is known, `d` becomes a dict whose keys need not be."""
        try:
            return subscript(self.ctx, owner, items)
        except NotKnown:
            key = items[0] if len(items) == 1 else Seq(tuple(items))
            if isinstance(self.ctx.deref(owner), Dict) and hashed.is_run_time_key(self.ctx, key):
                self.ctx.must_grow(owner.token, "a dict's key that is known at run time only")
            raise

    def _of_own_lengths(self, owner: Object) -> None:
        """``lists[k]`` of lists that differ in length, where `k` is known at run time: they are to be rows."""
        ctx, contents = self.ctx, self.ctx.deref(owner)
        lists = [ctx.deref(i) for i in contents.items] if isinstance(contents, Seq) else []
        if not lists or not all(isinstance(i, GrowingList) or (isinstance(i, Seq) and i.kind == "list") for i in lists):
            return
        lengths = {len(i.items) if isinstance(i, Seq) else -1 for i in lists}
        if len(lengths) > 1 or not lengths.isdisjoint({0, -1}):
            ctx.ragged.add(ctx.sites[owner.token])
            ctx.must_grow(owner.token, "a list of lists of different lengths, which of them is known at run time only")

    def _lists_apart(self, node: ast.expr, receiver: Value) -> None:
        """``lists[k].append(value)`` where each list has a length of its own, and `k` is known at run time."""
        if not isinstance(node, ast.Subscript) or isinstance(receiver, (Object, Row)):
            return
        ctx, owner = self.ctx, self.expr(node.value)
        contents, problem = ctx.deref(owner), "a list in a list that changes its length"
        if isinstance(contents, GrowingList) and isinstance(receiver, (Seq, GrowingList)):
            rows.wanted(ctx, contents, problem)
        if isinstance(contents, Seq) and isinstance(owner, Object):
            lists = [ctx.deref(i) for i in contents.items]
            if all(isinstance(i, GrowingList) or (isinstance(i, Seq) and i.kind == "list") for i in lists):
                ctx.ragged.add(ctx.sites[owner.token])
                ctx.must_grow(owner.token, problem)

    def inline(
        self, function: Function, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """A call of a plain function, its body translated in place."""
        ctx = self.ctx
        if ctx.depth >= INLINE_DEPTH:
            problem = f"`{function.name}` calls itself too deeply"
            for name in sorted(ctx.entry):
                if not b.is_size_name(name) and name in ctx.integers:  # what the depth may depend on
                    ctx.must_be_known(Scalar(Var(name), True), problem, "write the recursion as a loop")
            for name in sorted(ctx.entry & ctx.dims):
                ctx.must_be_known(Scalar(Var(name), True), problem, "write the recursion as a loop")
            ctx.fail(problem, "write the recursion as a loop")
        if generators.is_generator(function.node):
            problem = f"the generator `{function.name}`, which no loop or list over the call itself uses up"
            ctx.fail(problem, "write it where it is used: for x in f(…), list(f(…))")
        env = bind_arguments(ctx, function, positional, keywords, self)
        if isinstance(function.node, ast.FunctionDef):
            env = {k: self.settle(v, k) for k, v in env.items()}
        outer = (ctx.lines, ctx.file, ctx.span)
        if not ctx.pinned:
            ctx.lines, ctx.file = function.scope.lines, function.scope.file
        ctx.depth += 1
        try:
            inner = type(self)(ctx, function.scope, function.node, {**function.closure, **env}, True)
            result = inner.run()
            if isinstance(result, (Unbound, Maybe)):
                why = result.why if isinstance(result, Unbound) else "it returns a value on one of two paths only"
                why = f"`{function.name}`: {why}".replace("`return`", "its result")
                if isinstance(result, Unbound) and result.decides is not None:
                    ctx.must_be_known(Scalar(result.decides), why, "return one type on every path")
                ctx.fail(why, "return one type on every path")
            return result
        finally:
            ctx.depth -= 1
            ctx.lines, ctx.file, ctx.span = outer


    def by_key(
        self, name: str, positional: Sequence[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """``min(items, key=f)`` and the like, of items that are known one by one."""
        ctx = self.ctx
        function = keywords["key"]
        items = iterating.iteration(ctx, positional[0]) if len(positional) == 1 else list(positional)
        if not isinstance(items, list):
            source = ctx.deref(positional[0])
            source = hashed.keys(ctx, source) if isinstance(source, Hashed) else functions.listed(ctx, source)
            if name != "sorted":
                if keywords.get("default") is not None:
                    ctx.fail(f"`{name}` with `key=` and `default=`", "test the length first", node)
                return compose(ctx, "lists", f"{name}_by", [source, function], {})
            found = ctx.deref(compose(ctx, "lists", "keys_of", [source, function], {}))
            reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
            return sequences.sorted_list(ctx, source, found, bool(reverse))
        if not items:
            ctx.fail(f"`{name}` with `key=` of nothing", "", node)
        keys = [self.apply_function(function, [item], node) for item in items]
        if name == "sorted":
            if not all(isinstance(k, Static) for k in keys):
                ctx.fail("`sorted` by run-time keys", "sort the keys with np.argsort", node)
            reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
            known = {k: v.value for k, v in enumerate(keys) if isinstance(v, Static)}
            order = sorted(known, key=lambda k: known[k], reverse=bool(reverse))
            return Seq(tuple(items[k] for k in order), "list")
        best: Value = items[0]
        best_key = keys[0]
        for item, value in zip(items[1:], keys[1:], strict=True):
            compared = apply(ctx, "less" if name == "min" else "greater", [value, best_key], operator_call=True)
            better = truth(ctx, compared)
            if isinstance(better, Static):
                best, best_key = (item, value) if better.value else (best, best_key)
                continue
            held = ctx.let(condition_of(better), "better")
            best = self.either(held, item, best, [], [], node)
            best_key = self.either(held, value, best_key, [], [], node)
        return best

    def apply_function(self, function: Value, args: Sequence[Value], node: ast.Call) -> Value:
        """A call of a function that is a value."""
        match function:
            case Function():
                return self.inline(function, args, {}, node)
            case Bound(inner, receiver):
                return self.inline(inner, [receiver, *args], {}, node)
            case Known(path) if (made := self._operator(path, args)) is not None:
                return made
            case Known(path):
                return functions.call(self.ctx, path, args, {})
            case Method(receiver, name) if name not in _CHANGING:
                return functions.call_method(self.ctx, receiver, name, args, {})
            case _:
                self.ctx.fail(f"a call of {describe(function)}", "", node)

    def _operator(self, path: str, args: Sequence[Value]) -> Value | None:
        """A function of the module `operator` that stands for an operator of two operands."""
        module, _, name = path.rpartition(".")
        if module != "operator" or len(args) != 2:
            return None
        if name in _COMPARISONS_NAMED:
            return self._compare(_COMPARISONS_NAMED[name](), *args)
        return self.operate(_OPERATORS[name], *args) if name in _OPERATORS else None

    # --- instances of classes

    def construct(
        self, kind: type, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """``Class(*args)`` of a named tuple, a dataclass, or a plain class with an `__init__`."""
        ctx = self.ctx
        if kind in (itertools.product, itertools.combinations, itertools.permutations):
            return self.arranged(kind, positional, keywords, node)
        if kind is collections.deque:
            given = dict(zip(("iterable", "maxlen"), positional, strict=False)) | keywords
            return growing.queue(ctx, given.get("iterable"), given.get("maxlen"), self.site("queue"))
        if kind is collections.defaultdict and positional and not keywords:
            table = hashed.new(ctx, "dict", "dict", self.site("dict"), positional[0])
            if positional[1:]:
                hashed.update(ctx, table, positional[1])
            return table
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            defaults = {k: from_object(v) for k, v in getattr(kind, "_field_defaults", {}).items()}
            names: tuple[str, ...] = tuple(kind._fields)
            found = self._fields(kind, names, defaults, positional, keywords)
            return Record(kind, names, tuple(found[k] for k in names))
        if dataclasses.is_dataclass(kind):
            return self._dataclass(kind, positional, keywords, node)
        made = ctx.allocate(Record(kind, (), ()), ("fixed",))
        init = attributes.of_class(ctx, made, "__init__")
        if isinstance(init, Bound):
            self.inline(init.function, [made, *positional], keywords, node)
        elif positional or keywords or kind.__module__ == "builtins":
            ctx.fail(f"making a `{kind.__name__}`", "pass it as an argument", node)
        return objects.placed(ctx, made)

    def arranged(
        self, kind: Any, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:  # fmt: skip
        """``itertools.product`` of ranges, and of what is known one by one with `combinations` and `permutations`."""
        ctx = self.ctx
        ranges = [p for p in positional if isinstance(p, Range) and p.start == b.ZERO and p.step == b.ONE]
        if kind is itertools.product and not keywords and positional and len(ranges) == len(positional):
            return Method(Seq(tuple(Scalar(b.maximum(r.stop, b.ZERO), True) for r in ranges)), "ndindex")
        if kind is itertools.combinations and positional[1:] == [Static(2)] and not keywords:
            source = ctx.deref(positional[0])
            if isinstance(source, GrowingList) and source.extent is None:
                return compose(ctx, "lists", "pairs", [source], {})
        pools = list(positional) if kind is itertools.product else list(positional[:1])
        known: list[list[Value]] = []
        for pool in pools:
            items = iterating.iteration(ctx, pool)
            if not isinstance(items, list):
                start, stop, step, element = items
                trips = trip_count(start, stop, step)
                count = b.constant(trips)
                if count is None:
                    ctx.must_be_known(Scalar(trips, True), f"`{kind.__name__}` of a run-time number of things")
                items = [element(b.add(start, b.mul(step, b.index(k)))) for k in range(count)]
                items = [
                    Static(b.constant(i.expr)) if isinstance(i, Scalar) and b.constant(i.expr) is not None else i
                    for i in items
                ]  # fmt: skip
            known.append(items)
        if kind is itertools.product:
            times = constant_object(ctx, keywords.get("repeat", Static(1)), "`repeat=`")
            return Seq(tuple(Seq(tuple(t)) for t in itertools.product(*known, repeat=times)), "list")
        size = positional[1] if len(positional) > 1 else keywords.get("r", Static(None))
        of = constant_object(ctx, size, f"`{kind.__name__}` of a run-time size")
        return Seq(tuple(Seq(tuple(t)) for t in kind(known[0], of)), "list")

    def _fields(
        self, kind: type, names: Sequence[str], defaults: dict[str, Value | None], positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> dict[str, Value]:  # fmt: skip
        ctx = self.ctx
        if len(positional) > len(names):
            ctx.fail(f"{kind.__name__}() takes {len(names)} arguments but {len(positional)} were given")
        found = dict(zip(names, positional, strict=False))
        for name, value in keywords.items():
            if name not in names or name in found:
                ctx.fail(f"{kind.__name__}() got an unexpected argument '{name}'")
            found[name] = value
        for name in names:
            if name not in found:
                default = defaults.get(name)
                if default is None:
                    ctx.fail(f"{kind.__name__}() is missing an argument: '{name}'")
                found[name] = default
        return {k: self.settle(found[k], k) for k in names}

    def _dataclass(
        self, kind: type, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        ctx = self.ctx
        fields = [f for f in dataclasses.fields(kind) if f.init]
        defaults: dict[str, Value | None] = {}
        for f in dataclasses.fields(kind):
            if f.default is not dataclasses.MISSING:
                defaults[f.name] = from_object(f.default)
            elif f.default_factory is not dataclasses.MISSING:
                defaults[f.name] = from_object(f.default_factory())
        found = self._fields(kind, [f.name for f in fields], defaults, positional, keywords)
        for f in dataclasses.fields(kind):
            if not f.init and (default := defaults.get(f.name)) is not None:
                found[f.name] = self.settle(default, f.name)
        names = tuple(f.name for f in dataclasses.fields(kind) if f.name in found)
        made = ctx.allocate(Record(kind, names, tuple(found[k] for k in names)), ("fixed",))
        after = attributes.of_class(ctx, made, "__post_init__")
        if isinstance(after, Bound):
            self.inline(after.function, [made], {}, node)
        return objects.placed(ctx, made)


class At:
    """Errors inside point at `node`."""

    def __init__(self, ctx: Context, node: ast.AST, file: str) -> None:
        self.ctx, self.span = ctx, span_of(node, file)

    def __enter__(self) -> None:
        self.outer, self.ctx.span = self.ctx.span, self.span

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.ctx.span = self.outer


def bind_arguments(
    ctx: Context,
    function: Function,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    caller: Expressions | None,
) -> dict[str, Value]:
    """Python's matching of arguments to parameters, defaults included."""
    args = function.node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args]]
    env: dict[str, Value] = dict(zip(names, positional, strict=False))
    if args.vararg:
        env[args.vararg.arg] = Seq(tuple(positional[len(names) :]))
    elif len(positional) > len(names):
        ctx.fail(f"{function.name}() takes {len(names)} positional arguments but {len(positional)} were given")
    only = [a.arg for a in args.kwonlyargs]
    more = Dict((), ())
    for name, value in keywords.items():
        if name not in names and name not in only and args.kwarg:
            more = more.put(name, value)
            continue
        if name not in names and name not in only:
            ctx.fail(f"{function.name}() got an unexpected keyword argument '{name}'")
        if name in env:
            ctx.fail(f"{function.name}() got multiple values for argument '{name}'")
        env[name] = value
    defaults = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    defaults.update({a: d for a, d in zip(only, args.kw_defaults, strict=True) if d is not None})
    for name in [*names, *only]:
        if name not in env:
            if name not in defaults:
                ctx.fail(f"{function.name}() missing a required argument: '{name}'")
            kind = Expressions if caller is None else type(caller)
            owner = kind(ctx, function.scope, function.node, dict(function.closure), True)
            env[name] = owner.expr(defaults[name])
    if args.kwarg:
        env[args.kwarg.arg] = more
    return env


def dict_of(ctx: Context, pairs: Sequence[Value]) -> Dict:
    """A dict of pairs of a key and a value."""
    made = Dict((), ())
    for pair in pairs:
        pair = ctx.deref(pair)
        if not isinstance(pair, Seq) or len(pair.items) != 2:
            ctx.fail("a dict of these", "give pairs of a key and a value")
        key = constant_object(ctx, pair.items[0], "a dict's key that is known at run time only")
        made = made.put(key, pair.items[1])
    return made


def _identical(x: Value, y: Value) -> bool | None:
    if isinstance(x, Object) and isinstance(y, Object):
        return x.token == y.token
    if (one := classes.object_at(x)) is not None and (two := classes.object_at(y)) is not None:
        return one is two
    if isinstance(x, Known) and isinstance(y, Known):
        return x.path == y.path
    if isinstance(x, Static) and isinstance(y, Static):
        return x.value is y.value or (type(x.value) is type(y.value) and x.value == y.value)
    if (isinstance(x, Static) and x.value is None) or (isinstance(y, Static) and y.value is None):
        return False
    if isinstance(x, Array) and isinstance(y, Array) and x.identity and y.identity:
        return x.identity == y.identity
    return None

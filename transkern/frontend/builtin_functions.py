"""Python's built-in functions, one handler each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from transkern.frontend.arguments import TABLE, Arguments, handles
from transkern.frontend.attributes import static_or
from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    apply,
    as_array,
    describe,
    is_number,
    scalar_expr,
    truth,
)  # fmt: skip
from transkern.frontend.indexing import shape_of
from transkern.frontend.iterating import iteration
from transkern.frontend.methods import rounded
from transkern.frontend.reductions import reduce
from transkern.frontend.trips import trip_count
from transkern.frontend.types_of_scalars import scalar_kind
from transkern.frontend.values import (
    Array,
    Concatenation,
    GrowingList,
    Known,
    Method,
    Range,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr
from transkern.ir.traverse import buffers_read


@handles("builtins.len", names="obj")
def _len(ctx: Context, a: Arguments) -> Value:
    value = a.need("obj")
    match value:
        case Seq(items):
            return Static(len(items))
        case GrowingList(count=count):
            return Scalar(b.size(count), True)
        case Static(str() | tuple() | list() as items):
            return Static(len(items))
        case Range(start, stop, step):
            return static_or(trip_count(start, stop, step))
        case _:
            array = as_array(ctx, value)
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "len() of unsized object")
            return static_or(shape_of(ctx, array)[0])


@handles("builtins.range", names="start stop step")
def _range(ctx: Context, a: Arguments) -> Value:
    exprs = []
    for name in ("start", "stop", "step"):
        value = a.given.get(name)
        if value is None:
            continue
        e = scalar_expr(ctx, value)
        if e.dtype.startswith(("float", "complex")):
            ctx.guard(b.FALSE, "TypeError", "'float' object cannot be interpreted as an integer")
        exprs.append(ctx.let(b.as_index(e), "bound") if not _invariant(e) else b.as_index(e))
    if len(exprs) == 1:
        return Range(b.ZERO, exprs[0], b.ONE)
    return Range(exprs[0], exprs[1], exprs[2] if len(exprs) > 2 else b.ONE)


def _invariant(expr: Expr) -> bool:
    return not buffers_read(expr)


@handles("builtins.enumerate", names="iterable start")
def _enumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.need("iterable"), a.get("start") or Static(0))), "enumerate")


def _zip(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    return Method(Seq(tuple(args)), "zip")


TABLE["builtins.zip"] = _zip


@handles("builtins.reversed", names="sequence")
def _reversed(ctx: Context, a: Arguments) -> Value:
    return Method(a.need("sequence"), "reversed")


@handles("builtins.int", "builtins.float", "builtins.bool", names="x")
def _convert(ctx: Context, a: Arguments) -> Value:
    kind = a.name
    value = a.given.get("x")
    if value is None:
        return Static({"int": 0, "float": 0.0, "bool": False}[kind])
    if isinstance(value, Static) and is_number(value):
        return Static({"int": int, "float": float, "bool": bool}[kind](value.value))
    if isinstance(value, Static) and isinstance(value.value, str):
        return Static({"int": int, "float": float, "bool": bool}[kind](value.value))
    if kind == "bool":
        return truth(ctx, value)
    expr = scalar_expr(ctx, value)
    if kind == "float":
        return Scalar(b.cast(expr, "float64"), True)
    if expr.dtype.startswith("float"):
        held = ctx.let(expr, "x")
        ctx.guard(b.logical_not(Apply("isnan", (held,), "bool")), "ValueError", "cannot convert float NaN to integer")
        ctx.guard(
            b.logical_not(Apply("isinf", (held,), "bool")), "OverflowError", "cannot convert float infinity to integer"
        )
        return Scalar(b.cast(held, "index"), True)
    return Scalar(b.as_index(expr), True)


@handles("builtins.abs", names="x")
def _abs(ctx: Context, a: Arguments) -> Value:
    return apply(ctx, "absolute", [a.need("x")], operator_call=True)


@handles("builtins.round", "numpy.round", "numpy.around", names="number ndigits")
def _round(ctx: Context, a: Arguments) -> Value:
    value, digits = a.need("number"), a.get("ndigits")
    if a.name == "round":
        if digits is not None:
            ctx.fail("round() with digits", "use np.round")
        expr = scalar_expr(ctx, value)
        if expr.dtype.startswith("float"):
            return Scalar(b.cast(Apply("rint", (expr,), expr.dtype), "index"), True)
        return Scalar(b.as_index(expr), True)
    return rounded(ctx, value, digits)


def _extreme(name: str) -> Callable[[Context, Sequence[Value], Mapping[str, Value]], Value]:
    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Python's max and min: the first of equals, comparisons with NaN false."""
        if keywords:
            ctx.fail(f"`{name}` with `{next(iter(keywords))}=`")
        if len(args) == 1:
            if isinstance(args[0], Seq):
                args = args[0].items
            else:
                return reduce(ctx, name, as_array(ctx, args[0]), None, False)
        if all(isinstance(a, Static) and is_number(a) for a in args):
            return Static((max if name == "max" else min)(a.value for a in args))  # type: ignore[union-attr]
        best = args[0]
        for other in args[1:]:
            kind = scalar_kind(best, other)
            if kind is None:
                ctx.fail(f"`{name}` of {describe(best)} and {describe(other)}", f"use np.{name}imum for arrays")
            x, y = b.cast(scalar_expr(ctx, best), kind[0]), b.cast(scalar_expr(ctx, other), kind[0])
            if kind[0] == "index":
                best = Scalar((b.maximum if name == "max" else b.minimum)(x, y), True)
            else:
                better = Apply("greater" if name == "max" else "less", (y, x), "bool")
                best = Scalar(b.where(better, y, x), kind[1])
        return best

    return run


TABLE["builtins.max"], TABLE["builtins.min"] = _extreme("max"), _extreme("min")


@handles("builtins.sum", names="iterable start")
def _sum(ctx: Context, a: Arguments) -> Value:
    total: Value = a.get("start") or Static(0)
    value = a.need("iterable")
    counted = iteration(ctx, value)
    if isinstance(counted, list):
        for item in counted:
            total = apply(ctx, "add", [total, item], operator_call=True)
        return total
    array = as_array(ctx, value)
    if array.ndim == 1:
        return reduce(ctx, "sum", array, None, False)
    return reduce(ctx, "sum", array, Static(0), False)


@handles("builtins.tuple", "builtins.list", names="iterable")
def _tuple(ctx: Context, a: Arguments) -> Value:
    value = a.given.get("iterable")
    if value is None:
        return Seq((), a.name)
    counted = iteration(ctx, value)
    if isinstance(counted, list):
        return Seq(tuple(counted), a.name)
    ctx.fail(f"`{a.name}` of {describe(value)}", "its length is known at run time only")


@handles("builtins.isinstance", names="obj classinfo")
def _isinstance(ctx: Context, a: Arguments) -> Value:
    value, kinds = a.need("obj"), a.need("classinfo")
    wanted = [kinds] if not isinstance(kinds, Seq) else list(kinds.items)
    mine = _python_type(ctx, value)
    for w in wanted:
        name = (
            w.path.removeprefix("builtins.")
            if isinstance(w, Known)
            else getattr(getattr(w, "value", None), "__name__", "")
        )
        if name in mine or name.removeprefix("numpy.") in mine:
            return Static(True)
    return Static(False)


def _python_type(ctx: Context, value: Value) -> set[str]:
    match value:
        case Array() | Concatenation():
            return {"ndarray"}
        case Static(v):
            return {c.__name__ for c in type(v).__mro__}
        case Scalar(expr, True):
            return {{"index": "int", "float64": "float", "bool": "bool", "complex128": "complex"}[expr.dtype]}
        case Scalar(expr, False):
            return {c.__name__ for c in np.dtype(expr.dtype).type.__mro__}
        case Seq(_, kind):
            return {kind}
        case GrowingList():
            return {"list"}
        case _:
            return set()


@handles("builtins.print", names="a b c d e f g h")
def _print(ctx: Context, a: Arguments) -> Value:
    ctx.fail("print in a compiled function", "return the values and print them outside")

"""Methods of arrays, and the NumPy functions of the same name: ``x.sum(axis=0)`` is ``np.sum(x, axis=0)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transkern.frontend.arguments import Arguments
from transkern.frontend.attributes import python_number
from transkern.frontend.context import Context
from transkern.frontend.elementwise import apply, as_array, convert, scalar_expr
from transkern.frontend.indexing import SliceValue, array_item
from transkern.frontend.library_calls import matmul, sort
from transkern.frontend.numpy_functions import nonzero
from transkern.frontend.reductions import axes_of, mean, reduce, sum_dtype, variance
from transkern.frontend.shaping import (
    constant_int,
    dtype_of,
    normal_axis,
    repeat,
    reshape,
    squeeze,
    transpose,
)  # fmt: skip
from transkern.frontend.storing import write
from transkern.frontend.values import Array, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const

METHODS: dict[str, tuple[str, Callable[[Context, Array, Arguments], Value]]] = {}


def method(*names: str, parameters: str = "") -> Callable[[Any], Any]:
    def register(handler: Callable[[Context, Array, Arguments], Value]) -> Any:
        for name in names:
            METHODS[name] = (parameters, handler)
        return handler

    return register


def call_array_method(
    ctx: Context, value: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    if name not in METHODS:
        ctx.fail(f"`.{name}` of an array")
    parameters, handler = METHODS[name]
    return handler(ctx, value, Arguments(ctx, name, parameters.split(), args, keywords))


def _out(ctx: Context, a: Arguments, result: Value) -> Value:
    out = a.get("out")
    if out is None:
        return result
    if not isinstance(out, Array):
        ctx.fail("`out=` that is not an array")
    write(ctx, out, [Static(Ellipsis)], result)
    return out


@method("sum", "prod", "product", parameters="axis dtype out keepdims")
def _sum(ctx: Context, x: Array, a: Arguments) -> Value:
    dtype = a.get("dtype")
    op = "sum" if a.name == "sum" else "prod"
    result = reduce(ctx, op, x, a.get("axis"), a.flag("keepdims"), None if dtype is None else dtype_of(ctx, dtype, ""))
    return _out(ctx, a, result)


@method("max", "min", "amax", "amin", parameters="axis out keepdims")
def _extreme(ctx: Context, x: Array, a: Arguments) -> Value:
    return _out(ctx, a, reduce(ctx, a.name.removeprefix("a"), x, a.get("axis"), a.flag("keepdims")))


@method("any", "all", parameters="axis out keepdims")
def _any(ctx: Context, x: Array, a: Arguments) -> Value:
    return _out(ctx, a, reduce(ctx, a.name, x, a.get("axis"), a.flag("keepdims")))


@method("argmax", "argmin", parameters="axis out keepdims")
def _arg(ctx: Context, x: Array, a: Arguments) -> Value:
    if x.mask is not None:
        x = ctx.compact(x, "kept")
    return _out(ctx, a, reduce(ctx, a.name, x, a.get("axis"), a.flag("keepdims")))


@method("mean", parameters="axis dtype out keepdims")
def _mean(ctx: Context, x: Array, a: Arguments) -> Value:
    dtype = a.get("dtype")
    return _out(
        ctx, a, mean(ctx, x, a.get("axis"), a.flag("keepdims"), None if dtype is None else dtype_of(ctx, dtype, ""))
    )


@method("var", "std", parameters="axis dtype out ddof keepdims")
def _var(ctx: Context, x: Array, a: Arguments) -> Value:
    return _out(ctx, a, variance(ctx, x, a.get("axis"), a.flag("keepdims"), a.get("ddof"), a.name == "std"))


@method("ptp", parameters="axis keepdims")
def _ptp(ctx: Context, x: Array, a: Arguments) -> Value:
    high = reduce(ctx, "max", x, a.get("axis"), a.flag("keepdims"))
    low = reduce(ctx, "min", x, a.get("axis"), a.flag("keepdims"))
    return apply(ctx, "subtract", [high, low])


@method("cumsum", "cumprod", parameters="axis dtype out")
def _cumulative(ctx: Context, x: Array, a: Arguments) -> Value:
    if x.mask is not None:
        x = ctx.compact(x, "kept")
    axis = a.get("axis")
    if axis is None and x.ndim != 1:
        x = reshape(ctx, x, [Static(-1)])
    which = 0 if axis is None else normal_axis(ctx, constant_int(ctx, axis, "an axis"), x.ndim)
    dtype = dtype_of(ctx, a.get("dtype"), sum_dtype(x.dtype))
    x = convert(x, dtype) if x.dtype != dtype else x
    order = [d for d in range(x.ndim) if d != which] + [which]
    turned = x if which == x.ndim - 1 else transpose(ctx, x, order)
    buffer = ctx.buffer(a.name, dtype, turned.dims)
    ctx.emit(n.Alloc(buffer.name))
    ctx.emit(n.Scan("sum" if a.name == "cumsum" else "prod", buffer.name, turned.axes, turned.body))
    result = ctx.whole(buffer)
    if which != x.ndim - 1:
        back = [order.index(d) for d in range(x.ndim)]
        result = transpose(ctx, result, back)
    return _out(ctx, a, result)


@method("argsort", "sort", parameters="axis kind order stable")
def _sorted(ctx: Context, x: Array, a: Arguments) -> Value:
    kind = a.text("kind", "quicksort")
    if a.flag("stable"):
        kind = "stable"
    axis = a.given.get("axis")
    if isinstance(axis, Static) and axis.value is None:
        x, axis = reshape(ctx, x, [Static(-1)]), None
    return sort(ctx, a.name, x, constant_int(ctx, axis or Static(-1), "an axis"), kind)


@method("copy", parameters="order")
def _copy(ctx: Context, x: Array, a: Arguments) -> Value:
    return ctx.define(replace(x, identity="", view=False), "copy") if x.mask is None else ctx.compact(x, "copy")


@method("astype", parameters="dtype order casting subok copy")
def _astype(ctx: Context, x: Array, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.need("dtype"), "float64")
    if x.ndim == 0:
        return Scalar(b.cast(x.body, dtype))
    if dtype == x.dtype and not a.flag("copy", True):
        return x
    made = convert(x, dtype)
    return made if x.mask is not None or made.body is not x.body else ctx.define(made, "copy")


@method("reshape", parameters="shape b c d e f")
def _reshape(ctx: Context, x: Array, a: Arguments) -> Value:
    return reshape(ctx, x, list(a.given.values()))


@method("ravel", "flatten", parameters="order")
def _ravel(ctx: Context, x: Array, a: Arguments) -> Value:
    if a.text("order", "C") != "C":
        ctx.fail(f"`{a.name}` with order=")
    flat = reshape(ctx, x, [Static(-1)])
    return flat if a.name == "ravel" or not flat.view else ctx.define(replace(flat, view=False), "copy")


@method("transpose", parameters="a b c d e f")
def _transpose(ctx: Context, x: Array, a: Arguments) -> Value:
    given = [v for v in a.given.values() if not (isinstance(v, Static) and v.value is None)]
    if len(given) == 1 and isinstance(given[0], Seq):
        given = list(given[0].items)
    return transpose(ctx, x, [constant_int(ctx, v, "an axis") for v in given] or None)


@method("swapaxes", parameters="a b")
def _swapaxes(ctx: Context, x: Array, a: Arguments) -> Value:
    p, q = (normal_axis(ctx, constant_int(ctx, a.need(k), "an axis"), x.ndim) for k in "ab")
    order = list(range(x.ndim))
    order[p], order[q] = order[q], order[p]
    return transpose(ctx, x, order)


@method("moveaxis", parameters="source destination")
def _moveaxis(ctx: Context, x: Array, a: Arguments) -> Value:
    source = normal_axis(ctx, constant_int(ctx, a.need("source"), "an axis"), x.ndim)
    target = normal_axis(ctx, constant_int(ctx, a.need("destination"), "an axis"), x.ndim)
    order = [d for d in range(x.ndim) if d != source]
    order.insert(target, source)
    return transpose(ctx, x, order)


@method("squeeze", parameters="axis")
def _squeeze(ctx: Context, x: Array, a: Arguments) -> Value:
    axis = a.get("axis")
    return squeeze(ctx, x, None if axis is None else list(axes_of(ctx, axis, x.ndim)))


@method("clip", parameters="min max out")
def _clip(ctx: Context, x: Array, a: Arguments) -> Value:
    result: Value = x
    if a.get("min") is not None:
        result = apply(ctx, "maximum", [result, a.need("min")])
    if a.get("max") is not None:
        result = apply(ctx, "minimum", [result, a.need("max")])
    return _out(ctx, a, result)


@method("dot", parameters="b")
def _dot(ctx: Context, x: Array, a: Arguments) -> Value:
    return matmul(ctx, x, a.need("b"))


@method("fill", parameters="value")
def _fill(ctx: Context, x: Array, a: Arguments) -> Value:
    write(ctx, x, [Static(Ellipsis)], a.need("value"))
    return Static(None)


@method("item", parameters="args second third fourth")
def _methodpython_number(ctx: Context, x: Array, a: Arguments) -> Value:
    at = a.get("args")
    several = [v for k in ("args", "second", "third", "fourth") if (v := a.given.get(k)) is not None]
    if isinstance(at, Seq):
        several = list(at.items)
    if len(several) > 1:
        return python_number(ctx, array_item(ctx, x, several))
    if at is not None:
        return python_number(ctx, array_item(ctx, reshape(ctx, x, [Static(-1)]), [at]))
    size = b.product(x.dims)
    ctx.guard(b.compare("equal", size, b.ONE), "ValueError", "can only convert an array of size 1 to a Python scalar")
    return python_number(ctx, Scalar(x.at(tuple(b.ZERO for _ in x.axes))))


@method("nonzero", parameters="")
def _method_nonzero(ctx: Context, x: Array, a: Arguments) -> Value:
    a.given["a"] = x
    return nonzero(ctx, a)


@method("compress", parameters="condition axis")
def _compress(ctx: Context, x: Array, a: Arguments) -> Value:
    return array_item(ctx, x, [a.need("condition")])


@method("take", parameters="indices axis")
def _take(ctx: Context, x: Array, a: Arguments) -> Value:
    axis = a.get("axis")
    if axis is None:
        return array_item(ctx, reshape(ctx, x, [Static(-1)]), [as_array(ctx, a.need("indices"))])
    which = normal_axis(ctx, constant_int(ctx, axis, "an axis"), x.ndim)
    return array_item(ctx, x, [*[SliceValue(None, None, None)] * which, as_array(ctx, a.need("indices"))])


@method("repeat", parameters="repeats axis")
def _repeat(ctx: Context, x: Array, a: Arguments) -> Value:
    axis = a.get("axis")
    times = b.as_index(scalar_expr(ctx, a.need("repeats")))
    return repeat(ctx, x, times, None if axis is None else normal_axis(ctx, constant_int(ctx, axis, "an axis"), x.ndim))


@method("round", parameters="decimals")
def _round(ctx: Context, x: Array, a: Arguments) -> Value:
    return rounded(ctx, x, a.get("decimals"))


def rounded(ctx: Context, value: Value, digits: Value | None) -> Value:
    """``np.round``: scaled, rounded half to even, scaled back, as NumPy does it."""
    array = value if isinstance(value, (Array, Scalar)) else as_array(ctx, value)
    if array.dtype.startswith(("int", "uint")) or array.dtype == "index":
        return array
    places = 0 if digits is None else constant_int(ctx, digits, "decimals")
    if places == 0:
        return apply(ctx, "rint", [array])
    scale = Static(float(10 ** abs(places)))
    first, second = ("multiply", "divide") if places > 0 else ("divide", "multiply")
    return apply(ctx, second, [apply(ctx, "rint", [apply(ctx, first, [array, scale])]), scale])


@method("diagonal", "diag", parameters="offset")
def _diagonal(ctx: Context, x: Array, a: Arguments) -> Value:
    shift = constant_int(ctx, a.get("offset") or Static(0), "offset")
    if x.ndim == 1 and a.name == "diag":
        extent = b.add(x.dims[0], b.index(abs(shift)))
        i, j = ctx.axes((extent, extent))
        row = i.var if shift >= 0 else b.sub(i.var, b.index(-shift))
        on = b.compare("equal", j.var, b.add(i.var, b.index(shift)))
        return Array((i, j), b.where(on, x.at((row,)), b.cast(Const(0, "int64"), x.dtype)))
    rows = b.maximum(b.sub(x.dims[0], b.index(max(0, -shift))), b.ZERO)
    columns = b.maximum(b.sub(x.dims[1], b.index(max(0, shift))), b.ZERO)
    (axis,) = ctx.axes((b.minimum(rows, columns),))
    return Array(
        (axis,), x.at((b.add(axis.var, b.index(max(0, -shift))), b.add(axis.var, b.index(max(0, shift))))), view=x.view
    )


@method("trace", parameters="offset")
def _trace(ctx: Context, x: Array, a: Arguments) -> Value:
    return reduce(ctx, "sum", as_array(ctx, _diagonal(ctx, x, a)), None, False)

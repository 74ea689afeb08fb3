"""Functions that make arrays: of values, filled, counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.functions.joining import behind
from transkern.frontend.numpy.progressions import arange, linspace, linspace_step
from transkern.frontend.numpy.shaping import expand
from transkern.frontend.numpy.sizes import (
    check_integer,
    constant_axis,
    constant_int,
    dims_of,
    dtype_of,
    full,
    normal_axis,
    size_of,
)
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.arrays import shape_of
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.subscripts.storable import check_numbers, each_of_type
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_to
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.strides import copied, in_order_of, laid_out, note_model
from transkern.frontend.values.values import Array, GrowingList, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Const, Expr


@handles("numpy.asarray", "numpy.asanyarray", names="a dtype order copy")
@handles("numpy.ascontiguousarray", "numpy.asfortranarray", names="a dtype")
def _as_array(ctx: Context, a: Arguments) -> Value:
    a.given["object"] = a.need("a")
    return _array(ctx, a)


@handles("numpy.array", names="object dtype copy order ndmin")
def _array(ctx: Context, a: Arguments) -> Value:
    value = a.need("object")
    if isinstance(value, Static) and value.value is None:
        help = "use np.array(np.nan) for a number that is missing"
        ctx.fail(refusals.ARRAY_OF, "np.array(None), an array of an object", help)
    if a.get("dtype") is not None and (texts := _texts(ctx, value)) is not None:
        value = _items(asked(ctx, np.array, texts, dtype=dtype_of(ctx, a.get("dtype"), "float64")))
    array = as_array(ctx, value)
    least = Static(1) if a.name in ("np.ascontiguousarray", "np.asfortranarray") else Static(0)
    for _ in range(constant_int(ctx, a.get("ndmin") or least, "ndmin") - array.ndim):
        array = expand(ctx, array, 0)
    dtype = dtype_of(ctx, a.get("dtype"), array.dtype)
    if dtype != array.dtype:
        check_numbers(ctx, value, dtype)
        if array.ndim == as_array(ctx, value).ndim:
            array = as_array(ctx, each_of_type(ctx, value, dtype))
        return convert(array, dtype)
    given = a.optional("copy") or Static(a.name == "np.array")
    is_new = a.name == "np.fromiter" or not isinstance(given, Static) or bool(given.value)
    if a.name == "np.array" and isinstance(a.given.get("copy"), Static) and a.get("copy") is None:
        is_new = False  # copy=None: where it must be
    order = {"np.ascontiguousarray": "C", "np.asfortranarray": "F"}.get(a.name) or a.text("order", "K")
    if order in ("C", "F"):
        return laid_out(ctx, ctx.kept(array), order, a.name.removeprefix("np."), is_new)
    if order != "K":
        ctx.fail(refusals.OPTION, f"`{a.name}` with order={order!r}", 'say "C" or "F", or leave it out')
    if is_new and array.view and not isinstance(value, GrowingList):
        return copied(ctx, array, "copy")
    if is_new and array.readonly:
        return replace(array, readonly=False)
    if a.name in ("np.asarray", "np.asanyarray") and isinstance(value, Static) and isinstance(value.value, np.ndarray):
        return value if value.value.ndim == array.ndim else array
    return array


def _texts(ctx: Context, value: Value) -> list[Any] | None:
    """A list (of lists) of texts that are known, of which NumPy reads numbers."""
    held = ctx.deref(value)
    if not isinstance(held, Seq) or not held.items:
        return None
    items = [i.value if isinstance(i, Static) else _texts(ctx, i) for i in map(ctx.deref, held.items)]
    return items if all(isinstance(i, (str, list)) for i in items) else None


def _items(numbers: Any) -> Value:
    return Seq(tuple(map(_items, numbers))) if isinstance(numbers, np.ndarray) else Static(numbers)


@handles("numpy.copy", names="a order subok")
def _copy(ctx: Context, a: Arguments) -> Value:
    array = as_array(ctx, a.need("a"))
    if a.text("order", "K") == "C":
        return ctx.define(replace(array, identity=""), "copy")
    return copied(ctx, array, "copy")


@handles("numpy.fromiter", names="iter dtype count")
def _fromiter(ctx: Context, a: Arguments) -> Value:
    if a.given.get("dtype") is None:
        ctx.guard(b.FALSE, "TypeError", "fromiter() missing required argument 'dtype' (pos 2)")
    a.given["object"] = made = a.array("iter")
    if made.ndim != 1:
        ctx.fail(refusals.ARRAY_OF, "np.fromiter of anything but numbers one after the other", "use np.array([…])")
    if a.get("count") not in (None, Static(-1)):
        ctx.fail(refusals.OPTION, "np.fromiter with `count=`", "leave it out, and take a slice of the result: [:count]")
    return _array(ctx, a)


@handles("numpy.require", names="a dtype requirements")
def _require(ctx: Context, a: Arguments) -> Value:
    wanted = a.get("requirements") or Static(None)
    names = wanted.items if isinstance(wanted, Seq) else (wanted,)
    asked = {str(constant_object(ctx, name, "a requirement that is known at run time only")).upper() for name in names}
    asked = set().union(*({x} if len(x) > 1 else set(x) for x in asked))
    if unknown := asked - {"NONE", "C", "C_CONTIGUOUS", "CONTIGUOUS", "A", "ALIGNED", "W", "WRITEABLE"}:
        ctx.fail(refusals.OPTION, f"`np.require` with {sorted(unknown)[0]!r}", "copy the array instead: np.array(x)")
    order = Static("C" if asked & {"C", "C_CONTIGUOUS", "CONTIGUOUS"} else "K")
    return TABLE["numpy.asarray"](ctx, [a.need("a"), a.get("dtype") or Static(None), order], {})


@handles("numpy.zeros", "numpy.ones", "numpy.empty", names="shape dtype order")
def _filled(ctx: Context, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    value = 1 if a.name == "np.ones" else 0
    return _in_order(ctx, a, full(ctx, dims_of(ctx, a.need("shape")), b.cast(Const(value, "int64"), dtype)))


def _in_order(ctx: Context, a: Arguments, made: Array, model: Array | None = None) -> Array:
    """What has been filled, in the memory that `order=` asks for: it decides what `reshape` and `ravel` share."""
    order = a.text("order", "C" if model is None else "K")
    if order in ("C", "None") or made.ndim < 2:
        return made
    if order == "F":
        back = range(made.ndim)[::-1]
        return replace(made.turned(back), origin=None).turned(back)
    if order != "K" or model is None:
        ctx.fail(refusals.OPTION, f"`{a.name}` with order={order!r}", 'say "C" or "F", or leave it out')
    if model.ndim == made.ndim:
        return in_order_of(ctx, made, model)
    return made


@handles("numpy.ndarray", names="shape dtype buffer offset strides order")
def _new_array(ctx: Context, a: Arguments) -> Value:
    for name in ("buffer", "offset", "strides"):
        if a.get(name) is not None:
            ctx.fail(refusals.OPTION, f"`np.ndarray` with `{name}=`", "make a view with slices and reshape")
    return _filled(ctx, a)


@handles("numpy.full", names="shape fill_value dtype order")
def _full(ctx: Context, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.get("dtype"), a.array("fill_value").dtype)
    return _in_order(ctx, a, _filled_with(ctx, dims_of(ctx, a.need("shape")), a.need("fill_value"), dtype))


def _filled_with(ctx: Context, dims: tuple[Expr, ...], given: Value, dtype: str) -> Array:
    value = as_array(ctx, given)
    if is_python_number(given) and value.dtype in ("int64", "uint64"):  # all else is cast
        check_numbers(ctx, given, dtype)
    if value.ndim == 0:
        return full(ctx, dims, b.cast(value.body, dtype))
    made = full(ctx, dims, Const(0, "int64"))
    return convert(Array(*broadcast_to(ctx, ctx.kept(value), made.dims)), dtype)


@handles("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like", names="a dtype order subok shape")
def _filled_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    note_model(ctx, model)
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    value = 1 if a.name == "np.ones_like" else 0
    dims = shape_of(ctx, model) if a.get("shape") is None else dims_of(ctx, a.need("shape"))
    return _in_order(ctx, a, full(ctx, dims, b.cast(Const(value, "int64"), dtype)), model)


@handles("numpy.full_like", names="a fill_value dtype order subok shape")
def _full_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    note_model(ctx, model)
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    dims = shape_of(ctx, model) if a.get("shape") is None else dims_of(ctx, a.need("shape"))
    return _in_order(ctx, a, _filled_with(ctx, dims, a.need("fill_value"), dtype), model)


@handles("numpy.identity", names="n dtype")
def _identity(ctx: Context, a: Arguments) -> Value:
    a.given["N"] = a.need("n")
    return _eye(ctx, a)


@handles("numpy.eye", names="N M k dtype")
def _eye(ctx: Context, a: Arguments) -> Value:
    rows = size_of(ctx, a.need("N"))
    columns = rows if a.get("M") is None else size_of(ctx, a.need("M"))
    k = a.get("k") or Static(0)
    check_integer(ctx, k)
    shift = integer_expr(ctx, k)
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    value = full(ctx, (rows, columns), Const(0, dtype))
    i, j = value.axes
    one, zero = (b.cast(Const(v, "int64"), dtype) for v in (1, 0))
    return replace(value, body=b.where(b.compare("equal", j.var, b.add(i.var, shift)), one, zero))


@handles("numpy.arange", names="start stop step dtype")
def _arange(ctx: Context, a: Arguments) -> Value:
    start, stop, step = a.need("start"), a.get("stop"), a.get("step") or Static(1)
    if stop is None:
        start, stop = Static(0), start
    dtype = a.get("dtype")
    for value in (start, stop, step):
        if dtype is None and isinstance(value, Scalar):
            doubts.agreed(ctx, value, lambda v: np.dtype(as_array(ctx, v).dtype), "np.arange of")
    return arange(ctx, start, stop, step, None if dtype is None else dtype_of(ctx, dtype, ""))


@handles("numpy.linspace", names="start stop num endpoint retstep dtype axis")
def _linspace(ctx: Context, a: Arguments) -> Value:
    dtype = None if a.get("dtype") is None else dtype_of(ctx, a.get("dtype"), "")
    ends = a.need("start"), a.need("stop")
    start, stop = (v if isinstance(v, Scalar) or is_number(v) else as_array(ctx, v) for v in ends)
    count = a.get("num") or Static(50)
    made = linspace(ctx, start, stop, count, a.flag("endpoint", True), dtype)
    axis = constant_axis(ctx, a.get("axis") or Static(0))
    if axis:
        made = behind(ctx, made, normal_axis(ctx, axis, made.ndim))
    if not a.flag("retstep"):
        return made
    return Seq((made, linspace_step(ctx, start, stop, count, a.flag("endpoint", True))))


@handles("numpy.triu", "numpy.tril", names="m k")
def _triangle(ctx: Context, a: Arguments) -> Value:
    value = ctx.kept(a.array("m"))
    if not value.ndim:
        ctx.guard(b.FALSE, "TypeError", "tri() missing 1 required positional argument: 'N'")
    if value.ndim == 1:  # as many rows, all the same
        rows = ctx.names.axis("i", value.dims[0])
        value = Array((rows, *value.axes), value.body)
    k = a.get("k") or Static(0)
    if as_array(ctx, k).dtype.startswith("uint") and not is_python_number(k):
        problem = "a diagonal counted by an unsigned integer, which NumPy computes with in its type"
        ctx.fail(refusals.OPERANDS, problem, "take int(k)")
    if as_array(ctx, k).dtype.startswith(("float", "complex")):
        ctx.fail(refusals.OPERANDS, "a diagonal counted by a number that is no integer", "take int(k)")
    shift = integer_expr(ctx, k)
    i, j = value.axes[-2:]
    edge = b.add(i.var, shift)
    keep = b.compare("greater_equal" if a.name == "np.triu" else "less_equal", j.var, edge)
    return Array(value.axes, b.where(keep, value.body, b.cast(Const(0, "int64"), value.dtype)))

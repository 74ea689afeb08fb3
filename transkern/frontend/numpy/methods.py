"""Methods of arrays, and the NumPy functions of the same name: ``x.sum(axis=0)`` is ``np.sum(x, axis=0)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.choosing import compressed, taken
from transkern.frontend.numpy.elementwise import apply, convert, part, together, warn_discarded
from transkern.frontend.numpy.functions.selecting import clipped, nonzero
from transkern.frontend.numpy.library_calls import sort
from transkern.frontend.numpy.linear import positions_of_order
from transkern.frontend.numpy.products import diagonal
from transkern.frontend.numpy.reductions import axes_of, dtype_into, mean, only_into, reduce, sum_dtype, variance
from transkern.frontend.numpy.shaping import (
    as_line,
    on_axis,
    raveled,
    repeat,
    repeat_counts,
    reshape,
    squeeze,
    transpose,
)
from transkern.frontend.numpy.sizes import constant_axis, constant_int, dtype_of, normal_axis
from transkern.frontend.numpy.ufuncs import scan
from transkern.frontend.python.whole import check_unsigned, python_number
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.subscripts.storable import converted
from transkern.frontend.subscripts.storing import changed_in_place, write
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import classes, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.strides import copied
from transkern.frontend.values.values import Around, Array, GrowingList, Scalar, Seq, Static, Value, lies
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Const

METHODS: dict[str, tuple[str, Callable[[Context, Array, Arguments], Value]]] = {}
_OF_FILTERS: set[str] = set()


def method(*names: str, parameters: str = "", filters: bool = False) -> Callable[[Any], Any]:
    """Registers a method of arrays; one that knows what to do with `filters` is given them as they are."""

    def register(handler: Callable[[Context, Array, Arguments], Value]) -> Any:
        for name in names:
            METHODS[name] = (parameters, handler)
        if filters:
            _OF_FILTERS.update(names)
        return handler

    return register


def call_array_method(
    ctx: Context, value: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    if name not in METHODS:
        help = "`transkern docs language` has what is supported"
        ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of an array", help)
    parameters, handler = METHODS[name]
    value = value if name in _OF_FILTERS else ctx.kept(value)
    return handler(ctx, value, Arguments(ctx, name, parameters.split(), args, keywords))


def _dtype(ctx: Context, a: Arguments) -> str | None:
    dtype = a.get("dtype")
    return None if dtype is None else dtype_of(ctx, dtype, "")


def _plain_where(a: Arguments) -> Value | None:
    where = a.get("where")
    return None if isinstance(where, Static) and where.value is True else where


def _reduced(ctx: Context, x: Array, a: Arguments, ufunc: str, value: Value) -> Value:
    """What a reduction computes, or what `out=` names with it."""
    if (out := a.get("out")) is not None:
        outputs.check_reduced(ctx, out, ufunc, x, axes_of(ctx, a.get("axis"), x.ndim), a.flag("keepdims"))
    return a.result(value)


@method("sum", "prod", "product", parameters="axis dtype out keepdims initial where", filters=True)
def _sum(ctx: Context, x: Array, a: Arguments) -> Value:
    a.check_out()
    op = "sum" if a.name == "sum" else "prod"
    keep, dtype = a.flag("keepdims"), dtype_into(ctx, a, x)
    made = reduce(ctx, op, x, a.get("axis"), keep, dtype, None, a.get("initial"), _plain_where(a))
    return _reduced(ctx, x, a, "add" if op == "sum" else "multiply", made)


@method("max", "min", "amax", "amin", parameters="axis out keepdims initial where", filters=True)
def _extreme(ctx: Context, x: Array, a: Arguments) -> Value:
    a.check_out()
    op, keep, dtype = a.name.removeprefix("a"), a.flag("keepdims"), dtype_into(ctx, a, x)
    x = x if dtype in (None, x.dtype) else convert(x, dtype)
    made = reduce(ctx, op, x, a.get("axis"), keep, None, None, a.get("initial"), _plain_where(a))
    return _reduced(ctx, x, a, f"{op}imum", made)


@method("any", "all", parameters="axis out keepdims where", filters=True)
def _any(ctx: Context, x: Array, a: Arguments) -> Value:
    a.check_out()
    made = reduce(ctx, a.name, x, a.get("axis"), a.flag("keepdims"), None, None, None, _plain_where(a))
    return _reduced(ctx, x, a, "logical_or" if a.name == "any" else "logical_and", made)


@method("argmax", "argmin", parameters="axis out keepdims")
def _arg(ctx: Context, x: Array, a: Arguments) -> Value:
    axis = a.get("axis")
    if x.ndim == 0 and axis not in (None, Static(None)):
        normal_axis(ctx, constant_axis(ctx, axis), 1)  # what has no axes, it takes for an array of one
    if isinstance(axis, Seq):
        ctx.guard(b.FALSE, "TypeError", f"'{axis.kind}' object cannot be interpreted as an integer")
    whole = axis in (None, Static(None))
    made = reduce(ctx, a.name, x, axis, a.flag("keepdims") and not whole)
    if whole and x.ndim and a.flag("keepdims"):  # it is of the elements in a line, which has one axis
        made = Array(ctx.names.axes((b.ONE,) * x.ndim), as_array(ctx, made).body)
    only_into(ctx, a, "int64")
    message = f"output array does not match result of np.{a.name}."
    outputs.check_shape(ctx, a.get("out"), as_array(ctx, made).dims, message)
    return a.result(made)


@method("mean", parameters="axis dtype out keepdims where", filters=True)
def _mean(ctx: Context, x: Array, a: Arguments) -> Value:
    made = mean(ctx, x, a.get("axis"), a.flag("keepdims"), _dtype(ctx, a), _plain_where(a))
    a.check_out()
    only_into(ctx, a, as_array(ctx, made).dtype)
    return _reduced(ctx, x, a, "add", made)


@method("var", "std", parameters="axis dtype out ddof keepdims mean correction", filters=True)
def _var(ctx: Context, x: Array, a: Arguments) -> Value:
    ddof = a.get("correction") or a.get("ddof")
    root, keep = a.name == "std", a.flag("keepdims")
    made = variance(ctx, x, a.get("axis"), keep, ddof, root, _dtype(ctx, a), a.optional("mean"))
    a.check_out()
    only_into(ctx, a, as_array(ctx, made).dtype)
    return _reduced(ctx, x, a, "add", made)


@method("ptp", parameters="axis out keepdims", filters=True)
def _ptp(ctx: Context, x: Array, a: Arguments) -> Value:
    a.check_out()
    outputs.check_apart(ctx, "ptp", a.get("out"), [x])
    high = reduce(ctx, "max", x, a.get("axis"), a.flag("keepdims"))
    low = reduce(ctx, "min", x, a.get("axis"), a.flag("keepdims"))
    only_into(ctx, a, x.dtype)
    return _reduced(ctx, x, a, "maximum", apply(ctx, "subtract", [high, low]))


@method("cumsum", "cumprod", parameters="axis dtype out")
def _cumulative(ctx: Context, x: Array, a: Arguments) -> Value:
    x, which = on_axis(ctx, ctx.kept(x), a.get("axis"))
    a.check_out()
    dtype = dtype_into(ctx, a, x, running=True) or sum_dtype(x.dtype)
    x = convert(x, dtype) if x.dtype != dtype else x
    outputs.check_shape(ctx, a.get("out"), x.dims, "provided out is the wrong size for the accumulation.")
    return a.result(scan(ctx, a.name.removeprefix("cum"), x, which, a.name))


@method("argsort", "sort", parameters="axis kind order stable")
def _sorted(ctx: Context, x: Array, a: Arguments) -> Value:
    kind = a.text("kind", "quicksort")
    if a.flag("stable"):
        kind = "stable"
    axis = a.given.get("axis")
    if not x.ndim and a.name == "argsort":
        ctx.fail(refusals.OPERANDS, "`argsort` of a number", "its order is np.array([0])")
    if isinstance(axis, Static) and axis.value is None:
        x, axis = reshape(ctx, x, [Static(-1)]), None
    return sort(ctx, a.name, x, constant_axis(ctx, axis or Static(-1)), kind)


def change_in_place(
    ctx: Context, receiver: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """``x.sort()``, ``x.partition(k)``, ``x.put(at, v)``: the array itself changes."""
    if not receiver.view:
        problem = f"`.{name}()`, which changes an array in place, of one that has no name"
        ctx.fail(refusals.TARGET, problem, f"give it a name first: y = …; y.{name}(…)")
    if name == "put":
        return TABLE["numpy.put"](ctx, [receiver, *args], keywords)
    if name == "sort":
        if not receiver.ndim:
            normal_axis(ctx, -1, 0)  # which is looked at first
        made = call_array_method(ctx, receiver, name, args, keywords)
        outputs.check_readonly(ctx, receiver, "sort array")
    else:
        args = [positions_of_order(ctx, v) if not k else v for k, v in enumerate(args)]
        outputs.check_readonly(ctx, receiver, "partition array")
        made = TABLE["numpy.partition"](ctx, [receiver, *args], keywords)
    write(ctx, receiver, [Static(Ellipsis)], made)
    return Static(None)


@method("conj", "conjugate", parameters="", filters=True)
def _conjugate(ctx: Context, x: Array, a: Arguments) -> Value:
    if not is_complex(x.dtype):
        return x
    return apply(ctx, "conjugate", [x if x.ndim else Scalar(x.body)])


@method("copy", parameters="order", filters=True)
def _copy(ctx: Context, x: Array, a: Arguments) -> Value:
    if (order := a.optional("order")) is not None and not isinstance(getattr(order, "value", None), str):
        kind = classes.class_of(order)
        shown = "numpy.ndarray" if kind is np.ndarray else getattr(kind, "__name__", "object")
        ctx.guard(b.FALSE, "TypeError", f"order must be str, not {shown}")
    return ctx.define(replace(x, identity="", view=False), "copy") if x.mask is None else ctx.compact(x, "copy")


@method("astype", parameters="dtype order casting subok copy", filters=True)
def _astype(ctx: Context, x: Array, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.need("dtype"), "float64")
    warn_discarded(ctx, x.dtype, dtype)
    if x.ndim == 0:
        return x if dtype == x.dtype and not a.flag("copy", True) else Array((), b.cast(x.body, dtype))
    if dtype == x.dtype and not a.flag("copy", True):
        return x
    made = convert(x, dtype)
    return made if x.mask is not None or made.body is not x.body else copied(ctx, made, "copy")


@method("reshape", parameters="shape b c d e f order copy", filters=True)
def _reshape(ctx: Context, x: Array, a: Arguments) -> Value:
    shape = [v for k, v in a.given.items() if k not in ("order", "copy")]
    if not shape or any(isinstance(v, Static) and isinstance(v.value, str) for v in shape):
        help = "write x.reshape(2, -1), and the order with its name: order='F'"
        ctx.fail(refusals.WRONG_ARGUMENTS, f"`{a.name}` without a shape of integers", help)
    if a.flag("copy"):
        x = replace(ctx.define(x, "copy") if x.mask is None else ctx.compact(x, "copy"), view=False)
    if not _is_fortran(ctx, a):
        return reshape(ctx, x, shape)
    if len(shape) == 1 and isinstance(shape[0], Seq):
        shape = list(shape[0].items)
    return transpose(ctx, reshape(ctx, transpose(ctx, x, None), shape[::-1]), None)


def _is_fortran(ctx: Context, a: Arguments) -> bool:
    """Whether elements are counted with the first axis fastest; where memory lies is not NumPy's meaning, but ours."""
    order = a.text("order", "C")
    if order not in ("C", "F"):
        ctx.fail(refusals.OPTION, f"`{a.name}` with order={order!r}", "give 'C' or 'F'")
    return order == "F"


@method("ravel", "flatten", parameters="order", filters=True)
def _ravel(ctx: Context, x: Array, a: Arguments) -> Value:
    flat = raveled(ctx, transpose(ctx, x, None) if _is_fortran(ctx, a) else x)
    if a.name == "ravel":
        return flat
    flat = replace(flat, readonly=False)
    return ctx.define(replace(flat, view=False), "copy") if flat.view else flat


@method("transpose", parameters="a b c d e f")
def _transpose(ctx: Context, x: Array, a: Arguments) -> Value:
    given = [v for v in a.given.values() if not (isinstance(v, Static) and v.value is None)]
    if len(given) == 1 and isinstance(given[0], Seq):
        given = list(given[0].items)
    if given and len(given) != x.ndim:
        ctx.guard(b.FALSE, "ValueError", "axes don't match array")
    return transpose(ctx, x, [constant_axis(ctx, v) for v in given] or None)


@method("swapaxes", parameters="a b")
def _swapaxes(ctx: Context, x: Array, a: Arguments) -> Value:
    given = [constant_axis(ctx, a.need(k)) for k in "ab"]
    p, q = (normal_axis(ctx, at, x.ndim, f"axis{k}: ") for k, at in enumerate(given, 1))
    order = list(range(x.ndim))
    order[p], order[q] = order[q], order[p]
    return transpose(ctx, x, order)


@method("moveaxis", parameters="source destination")
def _moveaxis(ctx: Context, x: Array, a: Arguments) -> Value:
    if Static(None) in (a.given.get("source"), a.given.get("destination")):
        ctx.guard(b.FALSE, "TypeError", "'NoneType' object is not iterable")
    sources, targets = (axes_of(ctx, a.need(n), x.ndim, False, f"{n}: ") for n in ("source", "destination"))
    if len(sources) != len(targets):
        ctx.guard(b.FALSE, "ValueError", "`source` and `destination` arguments must have the same number of elements")
    order = [d for d in range(x.ndim) if d not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return transpose(ctx, x, order)


@method("squeeze", parameters="axis", filters=True)
def _squeeze(ctx: Context, x: Array, a: Arguments) -> Value:
    axis = a.get("axis")
    return squeeze(ctx, x, None if axis is None else list(axes_of(ctx, axis, x.ndim)))


@method("clip", parameters="min max out", filters=True)
def _clip(ctx: Context, x: Array, a: Arguments) -> Value:
    return a.result(clipped(ctx, x, a.optional("min"), a.optional("max"), a.get("out")))


@method("dot", parameters="b out")
def _dot(ctx: Context, x: Array, a: Arguments) -> Value:
    return TABLE["numpy.dot"](ctx, [x, a.need("b")], {"out": a.given["out"]} if "out" in a.given else {})


@method("fill", parameters="value", filters=True)
def _fill(ctx: Context, x: Array, a: Arguments) -> Value:
    value = a.need("value")
    if isinstance(value, (Seq, GrowingList)) or as_array(ctx, value).ndim:
        ctx.fail(refusals.NEEDED, "`.fill` with several values", "store them: x[...] = values")
    write(ctx, changed_in_place(ctx, x), [Static(Ellipsis)], value)
    return Static(None)


@method("item", parameters="args second third fourth")
def _methodpython_number(ctx: Context, x: Array, a: Arguments) -> Value:
    at = a.get("args")
    for given in (at.items if isinstance(at, Seq) else a.given.values()):
        if (isinstance(given, Array) and given.ndim) or given == Static(None):
            ctx.fail(refusals.NEEDED, "`.item` of what is no integer", "give the place of one element: x.item(k)")
    several = [v for k in ("args", "second", "third", "fourth") if (v := a.given.get(k)) is not None]
    if isinstance(at, Seq):
        several = list(at.items)
    if len(several) > 1:
        right = b.TRUE if len(several) == x.ndim else b.FALSE
        ctx.guard(right, "ValueError", "incorrect number of indices for array")
        return python_number(ctx, array_item(ctx, x, several))
    if at is not None:
        return python_number(ctx, array_item(ctx, reshape(ctx, x, [Static(-1)]), [at]))
    size = b.product(x.dims)
    ctx.guard(b.compare("equal", size, b.ONE), "ValueError", "can only convert an array of size 1 to a Python scalar")
    return python_number(ctx, Scalar(x.at(tuple(b.ZERO for _ in x.axes))))


@method("tolist", parameters="", filters=True)
def _tolist(ctx: Context, x: Array, a: Arguments) -> Value:
    if x.ndim == 0:
        return python_number(ctx, Scalar(x.body))
    x = ctx.kept(x) if x.ndim > 1 else x
    if x.mask is None and all((b.constant(d) or 99) <= 16 for d in x.dims):
        rows = [array_item(ctx, x, [Static(k)]) for k in range(b.constant(x.dims[0]) or 0)]
        return Seq(tuple(_tolist(ctx, as_array(ctx, r), a) for r in rows), "list")
    if x.ndim > 1:
        return compose(ctx, "lists", "rows_of", [x], {})
    check_unsigned(ctx, x)
    dtype = "index" if x.dtype.startswith(("int", "uint")) else "float64" if x.dtype.startswith("float") else x.dtype
    held = ctx.define(Array(x.axes, b.cast(x.body, dtype), x.mask), "values")
    count = ctx.names.count(held.base, bound_of(ctx, held.dims[0]))
    if held.dims[0] != count:
        ctx.emit(n.Assign(count.name, held.dims[0]))
    return GrowingList(held.base, count.name, dtype, (), True, around=Around(len(ctx.control.trips)))


@method("view", parameters="dtype")
def _view(ctx: Context, x: Array, a: Arguments) -> Value:
    if "dtype" not in a.given:
        return replace(x, identity="")
    if a.given["dtype"] == Static(None):
        ctx.fail(refusals.OPTION, "`.view(None)`", "write x.view(), or the type")
    dtype = dtype_of(ctx, a.need("dtype"), "")
    if dtype == x.dtype:
        return replace(x, identity="")
    alike = np.dtype(dtype).itemsize == np.dtype(x.dtype).itemsize and np.dtype(dtype).kind in "iu"
    if not alike or np.dtype(x.dtype).kind not in "iub" or lies(x):
        help = "convert the values with .astype, or take it of what is computed there: (x > 0).view(np.uint8)"
        ctx.fail(refusals.OPTION, "`.view` as another type", help)
    return convert(x, dtype)  # nobody sees what it is a view of


@method("nonzero", parameters="", filters=True)
def _method_nonzero(ctx: Context, x: Array, a: Arguments) -> Value:
    a.given["a"] = x
    return nonzero(ctx, a)


def _compressed(ctx: Context, x: Array, a: Arguments) -> Value:
    if a.get("out") is not None:  # whose length is asked before it is known how many elements there are
        ctx.fail(refusals.OUT, "`compress` with `out=`", "store into it: out[:] = x[mask]")
    return compressed(ctx, x, a.need("condition"), a.get("axis"))


@handles("numpy.compress", names="condition a axis out")
def _compress_function(ctx: Context, a: Arguments) -> Value:
    return _compressed(ctx, a.array("a"), a)


@method("compress", parameters="condition axis out")
def _compress(ctx: Context, x: Array, a: Arguments) -> Value:
    return _compressed(ctx, x, a)


@method("take", parameters="indices axis out mode")
def _take(ctx: Context, x: Array, a: Arguments) -> Value:
    made = taken(ctx, x, a.need("indices"), a.get("axis"), a.text("mode", "raise"))
    if isinstance(out := a.get("out"), Array):
        outputs.check_shape(ctx, out, as_array(ctx, made).dims, "output array does not match result of ndarray.take")
    return a.result(made)


@method("repeat", parameters="repeats axis")
def _repeat(ctx: Context, x: Array, a: Arguments) -> Value:
    times = ctx.deref(a.need("repeats"))
    counts = ctx.kept(as_line(ctx, times, or_number=True))
    x, which = on_axis(ctx, x, a.get("axis"))
    if not python_types.is_array(times):  # numbers become integers one by one
        counts = converted(ctx, times, "int64")
    outputs.check_rule(ctx, counts, "int64", "safe")
    if counts.ndim and b.constant(counts.dims[0]) != 1:
        return repeat_counts(ctx, x, counts, which)
    number = b.as_index(counts.at(tuple(b.ZERO for _ in counts.axes)))
    if not b.is_nonnegative(number):
        ctx.guard(b.compare("greater_equal", number, b.ZERO), "ValueError", "negative dimensions are not allowed")
        number = ctx.extent(number)
    return repeat(ctx, x, number, which)


@method("round", "around", parameters="decimals out", filters=True)
def _round(ctx: Context, x: Array, a: Arguments) -> Value:
    out = a.get("out")
    x = ctx.kept(x) if isinstance(out, Array) else x
    made = rounded(ctx, x, a.get("decimals"))
    if isinstance(out, Array):
        same = b.compare("equal", b.product(out.dims), b.product(x.dims))
        ctx.guard(same, "ValueError", "invalid output shape")
        digits = constant_int(ctx, a.get("decimals") or Static(0), "decimals")
        outputs.check_cast(ctx, "rint" if not digits else "multiply" if digits > 0 else "divide", x.dtype, out.dtype)
        outputs.fitting(ctx, [x, Static(10)] if digits else [x], [out])
    return a.result(Scalar(made.body) if isinstance(made, Array) and not made.axes else made)


def rounded(ctx: Context, value: Value, digits: Value | None) -> Value:
    """``np.round``: scaled, rounded half to even, scaled back, as NumPy does it."""
    array = value if isinstance(value, (Array, Scalar)) else as_array(ctx, value)
    places = 0 if digits is None else constant_int(ctx, digits, "decimals")
    scale = Static(asked(ctx, np.power, 10.0, abs(places)).item())
    if array.dtype.startswith(("int", "uint")) or array.dtype == "index":
        if places < 0:
            scaled = apply(ctx, "multiply", [apply(ctx, "rint", [apply(ctx, "divide", [array, scale])]), scale])
            dtype = "int64" if array.dtype == "index" else array.dtype
            if isinstance(scaled, Array):
                return convert(scaled, dtype)
            return Scalar(b.cast(scalar_expr(ctx, scaled), dtype))
        return replace(array, view=False, identity="") if isinstance(array, Array) else array
    if is_complex(array.dtype):
        parts = [part(ctx, as_array(ctx, array), name) for name in ("real", "imag")]
        return together(ctx, *(rounded(ctx, p if p.ndim else Scalar(p.body), digits) for p in parts))
    if places == 0:
        return apply(ctx, "rint", [array])
    first, second = ("multiply", "divide") if places > 0 else ("divide", "multiply")
    if array.dtype == "bool":
        outputs.check_cast(ctx, first, "float64", "bool")
    return apply(ctx, second, [apply(ctx, "rint", [apply(ctx, first, [array, scale])]), scale])


@method("diagonal", parameters="offset axis1 axis2")
def _diagonal(ctx: Context, x: Array, a: Arguments) -> Value:
    first, second = (constant_axis(ctx, a.get(n) or Static(k)) for k, n in enumerate(("axis1", "axis2")))
    return diagonal(ctx, x, a.get("offset") or Static(0), first, second)


@method("diag", parameters="k")
def _diag(ctx: Context, x: Array, a: Arguments) -> Value:
    x = ctx.kept(x)
    if x.ndim not in (1, 2):
        ctx.guard(b.FALSE, "ValueError", "Input must be 1- or 2-d.")
    if x.ndim != 1:
        return diagonal(ctx, x, a.get("k") or Static(0), 0, 1)
    shift = constant_int(ctx, a.get("k") or Static(0), "k")
    extent = b.add(x.dims[0], b.index(abs(shift)))
    i, j = ctx.names.axes((extent, extent))
    row = i.var if shift >= 0 else b.sub(i.var, b.index(-shift))
    on = b.compare("equal", j.var, b.add(i.var, b.index(shift)))
    return Array((i, j), b.where(on, x.at((row,)), b.cast(Const(0, "int64"), x.dtype)))


@method("trace", parameters="offset axis1 axis2 dtype out")
def _trace(ctx: Context, x: Array, a: Arguments) -> Value:
    line = as_array(ctx, _diagonal(ctx, x, a))
    outputs.check_reduced(ctx, a.get("out"), "add", line, (line.ndim - 1,), False)
    return a.result(reduce(ctx, "sum", line, Static(-1), False, dtype_into(ctx, a, line)))

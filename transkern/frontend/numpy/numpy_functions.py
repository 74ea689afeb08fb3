"""NumPy's functions that are not ufuncs, one handler each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.compositions import compose
from transkern.frontend.containers import empties, growing
from transkern.frontend.context import Context
from transkern.frontend.numpy import elementwise, outputs, shaping
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.choosing import at_least
from transkern.frontend.numpy.elementwise import apply, convert
from transkern.frontend.numpy.products import diagonal
from transkern.frontend.numpy.progressions import arange, linspace, linspace_step
from transkern.frontend.numpy.reductions import axes_of, reduce
from transkern.frontend.numpy.shaping import (
    check_integer,
    concatenate,
    constant_axis,
    constant_int,
    dims_of,
    dtype_of,
    expand,
    flip,
    full,
    normal_axis,
    reshape,
    roll,
    size_of,
    split,
    stack,
    tile,
    transpose,
)  # fmt: skip
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.state.facts import inhabited
from transkern.frontend.subscripts.arrays import array_item, nonzero_positions, positions, scalar_position, shape_of
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.subscripts.slices import settle_slice
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.translate.attributes import attribute, static_or
from transkern.frontend.translate.storing import check_numbers, each_of_type, is_constant_array, write
from transkern.frontend.values import doubts, python_types, scalars
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_dims, broadcast_to
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.strides import copied, laid_out, note_model
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    Dict,
    GrowingList,
    Range,
    Scalar,
    Seq,
    Slice,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.versions import NUMPY_2_5

_NO_AXES = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
_NO_MASK = f"{_NO_AXES} If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."


@handles("numpy.where", names="condition x y")
def _where(ctx: Context, a: Arguments) -> Value:
    condition = a.need("condition")
    if "x" not in a.given:  # None is an object there
        mask = as_array(ctx, condition)
        if not mask.ndim:
            ctx.guard(b.FALSE, "ValueError", _NO_MASK if mask.dtype == "bool" else _NO_AXES)
        if mask.mask is not None:
            mask = ctx.compact(mask, "mask")
        return Seq(tuple(nonzero_positions(ctx, _as_bool(mask))))
    return _select(ctx, condition, a.need("x"), a.need("y"))


def _as_bool(value: Array) -> Array:
    return replace(value, body=scalars.nonzero(value.body), view=False, identity="")


def _select(ctx: Context, condition: Value, x: Value, y: Value) -> Value:
    x, y = (
        v if isinstance(v, (Static, Scalar, Array)) and not is_constant_array(v) else as_array(ctx, v) for v in (x, y)
    )
    dtype = result_type(ctx, [x, y])
    condition = (
        condition if isinstance(condition, (Scalar, Array)) or is_number(condition) else as_array(ctx, condition)
    )
    elements, axes, mask, scalar = elementwise.align(ctx, [condition, x, y])
    values = [
        # an integer must be one of the type, whether an element takes it or not
        elementwise.to_loop(ctx, e, dtype, isinstance(v, (Static, Scalar))) if NUMPY_2_5 else b.cast(e, dtype)
        for e, v in zip(elements[1:], (x, y), strict=True)
    ]
    body = b.where(scalars.nonzero(elements[0]), *values)
    return Array((), body) if scalar else Array(axes, body, mask)


@handles("numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere", names="a")
def nonzero(ctx: Context, a: Arguments) -> Value:
    mask = _as_bool(a.array("a"))
    if mask.mask is not None:
        mask = ctx.compact(mask, "mask")
    if not mask.ndim and a.name == "np.argwhere":
        ctx.fail(refusals.OPERANDS, "np.argwhere of a number", "make it an array: np.atleast_1d")
    if not mask.ndim and a.name != "np.flatnonzero":
        ctx.guard(b.FALSE, "ValueError", _NO_MASK if a.array("a").dtype == "bool" else _NO_AXES)
    if a.name == "np.flatnonzero":
        return nonzero_positions(ctx, reshape(ctx, mask, [Static(-1)]))[0]
    positions = nonzero_positions(ctx, mask)
    if a.name == "np.argwhere":
        (domain,) = positions[0].axes
        column = ctx.names.axis("d", b.index(len(positions)))
        found = [p.candidate((domain.var,)) for p in positions]
        return Array((domain, column), scalars.select(column.var, found), positions[0].mask)
    return Seq(tuple(positions))


@handles("numpy.clip", names="a a_min a_max out min max")
def _clip(ctx: Context, a: Arguments) -> Value:
    for one, other in (("a_min", "a_max"), ("a_max", "a_min")):
        if one in a.given and other not in a.given:
            ctx.guard(b.FALSE, "TypeError", f"clip() missing 1 required positional argument: '{other}'")
    low, high = a.optional("a_min") or a.optional("min"), a.optional("a_max") or a.optional("max")
    return a.result(clipped(ctx, a.need("a"), low, high, a.get("out")))


def clipped(ctx: Context, value: Value, low: Value | None, high: Value | None, out: Value | None = None) -> Value:
    """``np.clip``, as NumPy does it: one bound is `np.maximum` or `np.minimum`; of equal zeros the bound wins
    where one is an array of several elements or complex, and the value where both are numbers. (Where both are
    stretched along an axis, it depends on how NumPy goes through memory.)"""
    if is_python_number(value):
        value = Scalar(as_array(ctx, value).body)  # NumPy makes an array of it
    value = value if isinstance(value, (Static, Scalar)) else as_array(ctx, value)
    low, high = (_of_one_type(ctx, value, bound) for bound in (low, high))
    dtype = np.dtype(as_array(ctx, value).dtype)
    if dtype.kind in "iu":  # bounds that no value of the dtype exceeds
        info = np.iinfo(dtype)
        low = None if (known := _integer(low)) is not None and known <= info.min else low
        high = None if (known := _integer(high)) is not None and known >= info.max else high
        low, high = _brought_into(low, "maximum", info.min), _brought_into(high, "minimum", info.max)
    name = "positive" if low is high is None else "minimum" if low is None else "maximum" if high is None else "clip"
    if isinstance(out, Array) or name == "clip":
        given = [outputs.operand(ctx, v) for v in (value, low, high) if v is not None]
        outs = [out] if isinstance(out, Array) else []
        outputs.check_writable(ctx, outs)
        outputs.check_casts(ctx, name, given, outs)
        value, *bounds = outputs.fitting(ctx, given, outs)
        low = low if low is None else bounds[0]
        high = high if high is None else bounds[-1]
    numbers = all(_is_one_element(bound) for bound in (low, high))
    for bound, op in ((low, "maximum"), (high, "minimum")):
        if bound is None:
            continue
        if low is not None and high is not None and (numbers or is_complex(result_type(ctx, [value, low, high]))):
            value = _bounded(ctx, value, bound, (low, high), "less" if op == "maximum" else "greater")
        else:
            value = apply(ctx, op, [value, bound])
    return apply(ctx, "positive", [value]) if low is None and high is None else value


def _of_one_type(ctx: Context, value: Value, bound: Value | None) -> Value | None:
    """A bound that is a number of Python's or of NumPy's, where the result is of one type of floats all the same."""
    if bound is None or not doubts.doubts_of([bound]) or doubts.doubts_of([value]):
        return bound
    assert isinstance(bound, Scalar)
    made = set(doubts.outcomes([value, bound], lambda given: result_type(ctx, given)))
    only = made.pop()
    return bound if made or not only.startswith("float") else Scalar(b.cast(bound.expr, only))


def _is_one_element(value: Value | None) -> bool:
    one = isinstance(value, Array) and value.mask is None and all(b.constant(d) == 1 for d in value.dims)
    return one or isinstance(value, Scalar) or (value is not None and is_number(value))


def _ordered(x: Expr, y: Expr, op: str) -> Expr:
    """Whether a complex number is before another, where `np.less` and `np.greater` look for NaN first."""
    part = "float32" if x.dtype == "complex64" else "float64"
    (a, c), (p, q) = ([Apply(name, (z,), part) for name in ("real", "imag")] for z in (x, y))
    return b.where(b.compare("equal", a, p), b.compare(op, c, q), b.compare(op, a, p))


def _brought_into(bound: Value | None, op: str, limit: int) -> Value | None:
    """A bound that is a Python integer of run time: NumPy leaves out what no value of the array's type exceeds."""
    if not (isinstance(bound, Scalar) and bound.python and bound.dtype == "index") or not -(2**63) < limit < 2**63 - 1:
        return bound
    return replace(bound, expr=(b.maximum if op == "maximum" else b.minimum)(bound.expr, b.index(limit)))


def _integer(value: Value | None) -> int | None:
    """A constant of Python's type `int`."""
    return value.value if isinstance(value, Static) and type(value.value) is int else None


def _bounded(ctx: Context, value: Value, bound: Value, bounds: tuple[Value, Value], beyond: str) -> Value:
    dtype = result_type(ctx, [value, *bounds])
    elements, axes, mask, scalar = elementwise.align(ctx, [value, bound])
    x, limit = b.cast(elements[0], dtype), elementwise.to_loop(ctx, elements[1], dtype, number=True)
    if not isinstance(limit, Const) and not as_array(ctx, bound).ndim:
        limit = ctx.let(limit, "bound")
    wins: Expr = Apply(beyond, (x, limit), "bool")
    if is_complex(dtype):
        wins = b.logical_not(b.either(_ordered(limit, x, beyond), Apply("isnan", (x,), "bool")))
    if dtype.startswith("float") and not (isinstance(limit, Const) and limit.value == limit.value):
        wins = b.either(wins, Apply("isnan", (limit,), "bool"))
    body = b.where(wins, limit, x)
    return Scalar(body) if scalar else Array(axes, body, mask)


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


@handles("numpy.seterr", names="all divide over under invalid")
def _seterr(ctx: Context, a: Arguments) -> Value:
    """What floats do at their limits is not told: only what raises, calls or prints would be another program."""
    kinds = ("divide", "over", "under", "invalid")
    for name in ("all", *kinds):
        given = a.get(name)
        problem = "a mode of np.seterr that is known at run time only"
        if given is not None and constant_object(ctx, given, problem) not in (None, "ignore", "warn"):
            help = 'use "ignore", and test the result: np.isfinite(…).all()'
            ctx.fail(refusals.WARNINGS, "np.seterr that raises, calls or prints", help)
    return Dict(kinds, tuple(Static(mode) for mode in ("warn", "warn", "ignore", "warn")))


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
    return full(ctx, dims_of(ctx, a.need("shape")), b.cast(Const(value, "int64"), dtype))


@handles("numpy.ndarray", names="shape dtype buffer offset strides order")
def _new_array(ctx: Context, a: Arguments) -> Value:
    for name in ("buffer", "offset", "strides"):
        if a.get(name) is not None:
            ctx.fail(refusals.OPTION, f"`np.ndarray` with `{name}=`", "make a view with slices and reshape")
    return _filled(ctx, a)


@handles("numpy.full", names="shape fill_value dtype order")
def _full(ctx: Context, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.get("dtype"), a.array("fill_value").dtype)
    return _filled_with(ctx, dims_of(ctx, a.need("shape")), a.need("fill_value"), dtype)


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
    return full(ctx, dims, b.cast(Const(value, "int64"), dtype))


@handles("numpy.full_like", names="a fill_value dtype order subok shape")
def _full_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    note_model(ctx, model)
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    dims = shape_of(ctx, model) if a.get("shape") is None else dims_of(ctx, a.need("shape"))
    return _filled_with(ctx, dims, a.need("fill_value"), dtype)


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
        made = _behind(ctx, made, normal_axis(ctx, axis, made.ndim))
    if not a.flag("retstep"):
        return made
    return Seq((made, linspace_step(ctx, start, stop, count, a.flag("endpoint", True))))


def _rows_of_list(ctx: Context, a: Arguments) -> Value | None:
    """Arrays of a list that has grown, put together: they stand one behind the other in its memory."""
    owner = a.need("arrays")
    if not isinstance(owner, GrowingList):
        return None
    is_first = a.optional("axis") in (None, Static(0))
    if owner.rows is not None and owner.rows.kind == "array" and is_first and a.get("dtype") is None:
        flat = not owner.rows.pool.dims
        if a.name == "np.concatenate" or (a.name == "np.hstack" if flat else a.name == "np.vstack"):
            return compose(ctx, "lists", "concatenated", [owner], {})
    if not owner.dims or owner.head:
        return None
    what = "stack" if a.name == "np.stack" else "concatenate"
    ctx.guard(empties.has_some(owner), "ValueError", f"need at least one array to {what}")
    rows = as_array(ctx, owner)
    if (given := a.get("dtype")) is not None:
        dtype = dtype_of(ctx, given, "")
        _check_cast(ctx, a, rows.dtype, dtype)
        rows = as_array(ctx, convert(rows, dtype))
    ndim = rows.ndim - 1
    match a.name:
        case "np.stack":
            return _behind(ctx, rows, normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(0)), rows.ndim))
        case "np.column_stack" if ndim == 1:
            return _behind(ctx, rows, 1)
        case "np.dstack" if ndim <= 2:
            made = _behind(ctx, rows, ndim)
            return expand(ctx, made, 0) if ndim == 1 else made
        case "np.vstack" | "np.row_stack" if ndim == 1:
            return rows
        case "np.concatenate" | "np.concat":
            axis = a.given.get("axis") or Static(0)
            if isinstance(axis, Static) and axis.value is None:
                return reshape(ctx, rows, [Static(-1)])
            return _joined_rows(ctx, rows, normal_axis(ctx, constant_axis(ctx, axis), ndim))
        case name:
            along = {"np.dstack": 2, "np.column_stack": 1, "np.hstack": min(ndim - 1, 1)}
            return _joined_rows(ctx, rows, along.get(name, 0))


def _behind(ctx: Context, rows: Array, axis: int) -> Array:
    """The first axis at the place of another, as a new array."""
    order = [*range(1, axis + 1), 0, *range(axis + 1, rows.ndim)]
    return replace(transpose(ctx, rows, order), view=False, identity="")


def _joined_rows(ctx: Context, rows: Array, axis: int) -> Array:
    """``np.concatenate(rows, axis)``."""
    inner = rows.dims[axis + 1]
    dims = [*rows.dims[1:]]
    dims[axis] = b.mul(rows.dims[0], inner)
    axes = ctx.names.axes(dims)
    at: list[Expr] = [x.var for x in axes]
    row, at[axis] = b.floordiv(at[axis], inner), b.mod(at[axis], inner)
    return Array(axes, rows.at((row, *at)))


def _items_of(ctx: Context, value: Value) -> Sequence[Value]:
    match value:
        case Seq(items):
            return items
        case Array(mask=None) if b.constant(value.dims[0]) is not None:
            return [array_item(ctx, value, [Static(k)]) for k in range(b.constant(value.dims[0]) or 0)]
        case GrowingList():
            growing.must_be_fixed(
                ctx, value, "the pieces of a list of run-time length", "give a tuple or list of arrays"
            )
        case Array() if value.ndim:
            problem = f"putting together the parts of {describe(value)}, whose number only the run knows"
            help = "give a tuple or list of arrays, or change its shape with .reshape"
            ctx.fail(refusals.RUN_TIME_LENGTH, problem, help)
        case _:
            ctx.fail(refusals.NEEDED, f"the pieces of {describe(value)}", "give a tuple or list of arrays")


@handles(
    "numpy.concatenate", "numpy.concat", "numpy.hstack", "numpy.vstack", "numpy.dstack", "numpy.column_stack",
    "numpy.row_stack", names="arrays axis out dtype casting",
)  # fmt: skip
def _concatenate(ctx: Context, a: Arguments) -> Value:
    rows = _rows_of_list(ctx, a)
    if rows is not None:
        return _put_together(ctx, a, rows)
    parts: list[Value] = list(_items_of(ctx, a.need("arrays")))
    outputs.check_apart(ctx, a.name, a.get("out"), parts)
    if a.get("dtype") is not None:
        dtype, arrays = dtype_of(ctx, a.get("dtype"), ""), [as_array(ctx, p) for p in parts]
        for array in arrays:
            _check_cast(ctx, a, array.dtype, dtype)
        parts = [convert(array, dtype) for array in arrays]
    return _put_together(ctx, a, _joined(ctx, a, parts))


def _check_cast(ctx: Context, a: Arguments, source: str, target: str) -> None:
    rule = a.text("casting", "same_kind")
    if not np.can_cast(source, target, rule):  # type: ignore[arg-type]
        types = f"from dtype('{source}') to dtype('{target}')"
        ctx.guard(b.FALSE, "TypeError", f"Cannot cast array data {types} according to the rule '{rule}'")


def _put_together(ctx: Context, a: Arguments, value: Value) -> Value:
    """What was concatenated, or what `out=` names with it."""
    if isinstance(out := a.get("out"), Array):
        made = as_array(ctx, value)
        if out.ndim != made.ndim:
            ctx.guard(b.FALSE, "ValueError", "Output array has wrong dimensionality")
        outputs.check_shape(ctx, out, ctx.kept(made).dims, "Output array is the wrong shape")
        _check_cast(ctx, a, made.dtype, out.dtype)
        value = made
    return a.result(value)


def _joined(ctx: Context, a: Arguments, parts: list[Value]) -> Value:
    match a.name:
        case "np.concatenate" | "np.concat":
            given = a.given.get("axis")
            axis = (
                0
                if given is None
                else None
                if isinstance(given, Static) and given.value is None
                else constant_axis(ctx, given)
            )
            return concatenate(ctx, parts, axis)
        case "np.dstack":
            return concatenate(ctx, [at_least(ctx, p, 3) for p in parts], 2)
        case "np.hstack":
            arrays = [_at_least(ctx, p, 1) for p in parts]
            return concatenate(ctx, arrays, 0 if not arrays or arrays[0].ndim == 1 else 1)
        case "np.column_stack":
            arrays = [as_array(ctx, p) for p in parts]
            arrays = [expand(ctx, v, 0) if v.ndim == 0 else v for v in arrays]
            return concatenate(ctx, [expand(ctx, v, 1) if v.ndim == 1 else v for v in arrays], 1)
        case _:
            return concatenate(ctx, [_at_least(ctx, p, 2) for p in parts], 0)


def _at_least(ctx: Context, value: Value, ndim: int) -> Array:
    array = as_array(ctx, value)
    while array.ndim < ndim:
        array = expand(ctx, array, 0)
    return array


@handles("numpy.stack", names="arrays axis out dtype casting")
def _stack(ctx: Context, a: Arguments) -> Value:
    rows = _rows_of_list(ctx, a)
    if rows is not None:
        return _put_together(ctx, a, rows)
    parts: Sequence[Value] = _items_of(ctx, a.need("arrays"))
    if a.get("dtype") is not None:
        parts = [convert(as_array(ctx, p), dtype_of(ctx, a.get("dtype"), "")) for p in parts]
    return _put_together(ctx, a, stack(ctx, parts, constant_axis(ctx, a.get("axis") or Static(0))))


@handles("numpy.block", names="arrays")
def _block(ctx: Context, a: Arguments) -> Value:
    tree = a.need("arrays")
    if isinstance(tree, Seq) and tree.kind == "tuple":
        text = "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit "
        ctx.guard(b.FALSE, "TypeError", f"{text}conversion from tuple to ndarray.")


    def measure(value: Value) -> tuple[int, int]:
        """How deep lists are nested, and the most dimensions of an array."""
        if isinstance(ctx.deref(value), GrowingList):
            problem = "`np.block` of a list whose length is known at run time only"
            ctx.fail(refusals.RUN_TIME_LENGTH, problem, "use np.concatenate")
        if isinstance(value, Seq) and value.kind == "list":
            inner = [measure(i) for i in value.items]
            return 1 + inner[0][0], max(ndim for _, ndim in inner)
        return 0, as_array(ctx, value).ndim

    depth, most = measure(tree)
    ndim = max(depth, most)

    def join(value: Value, level: int) -> Array:
        if isinstance(value, Seq) and value.kind == "list":
            parts = [join(i, level + 1) for i in value.items]
            return as_array(ctx, concatenate(ctx, parts, ndim - (depth - level)))
        return _at_least(ctx, value, ndim)

    return join(tree, 0)


@handles("numpy.unstack", names="x axis")
def _unstack(ctx: Context, a: Arguments) -> Value:
    if isinstance(a.need("x"), Seq):
        ctx.guard(b.FALSE, "AttributeError", f"'{type_name(a.need('x'))}' object has no attribute 'ndim'")
    value = a.kept("x")
    axis = normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(0)), value.ndim)
    extent = b.constant(value.dims[axis])
    if extent is None:
        help = "loop over that axis, or give its length in the types: float64[3,n]"
        error = ctx.error(refusals.RUN_TIME_LENGTH, "np.unstack along an axis whose length only the run knows", help)
        if isinstance(dim := value.dims[axis], Var):
            raise NeedsConstant(dim.name, error)
        raise error
    whole = Slice(None, None, None)
    return Seq(tuple(array_item(ctx, value, [*[whole] * axis, Static(k)]) for k in range(extent)))


@handles(
    "numpy.split", "numpy.array_split", "numpy.hsplit", "numpy.vsplit", "numpy.dsplit",
    names="ary indices_or_sections axis",
)  # fmt: skip
def _split(ctx: Context, a: Arguments) -> Value:
    given, parts, value = ctx.deref(a.need("ary")), a.need("indices_or_sections"), a.array("ary")
    axis, exact = constant_axis(ctx, a.get("axis") or Static(0)), a.name != "np.array_split"
    least = {"np.hsplit": 1, "np.vsplit": 2, "np.dsplit": 3}.get(a.name, 0)
    if value.ndim < least:
        text = f"{a.name.removeprefix('np.')} only works on arrays of {least} or more dimensions"
        ctx.guard(b.FALSE, "ValueError", text)
    if least:
        axis = {"np.hsplit": min(value.ndim - 1, 1), "np.vsplit": 0, "np.dsplit": 2}[a.name]
    is_listed = not python_types.is_numpy(given)
    missing = "ndim" if a.name == "np.hsplit" else "shape" if exact and not as_array(ctx, parts).ndim else ""
    if is_listed and missing:
        ctx.guard(b.FALSE, "AttributeError", f"'{type_name(given)}' object has no attribute '{missing}'")
    if is_listed and not value.ndim:
        ctx.guard(b.FALSE, "TypeError", f"object of type '{type_name(given)}' has no len()")
    if not is_listed and not -value.ndim <= axis < value.ndim:
        ctx.guard(b.FALSE, "IndexError", "tuple index out of range")
    return split(ctx, value, parts, axis, exact)


@handles("numpy.expand_dims", names="a axis")
def _expand_dims(ctx: Context, a: Arguments) -> Value:
    value, axis = a.array("a"), a.need("axis")
    items = axis.items if isinstance(axis, Seq) else (axis,)
    return shaping.expand_many(ctx, value, [constant_axis(ctx, i) for i in items])


@handles("numpy.broadcast_to", names="array shape")
def _broadcast_to(ctx: Context, a: Arguments) -> Value:
    return shaping.broadcast_arrays_to(ctx, a.array("array"), dims_of(ctx, a.need("shape")))


@handles("numpy.tile", names="A reps")
def _tile(ctx: Context, a: Arguments) -> Value:
    return tile(ctx, a.array("A"), dims_of(ctx, a.need("reps"), bools=True))


@handles("numpy.flip", "numpy.flipud", "numpy.fliplr", names="m axis")
def _flip(ctx: Context, a: Arguments) -> Value:
    value = a.array("m")
    for name, least in (("np.flipud", 1), ("np.fliplr", 2)):
        if a.name == name and value.ndim < least:
            ctx.guard(b.FALSE, "ValueError", f"Input must be >= {least}-d.")
    if not value.ndim and a.get("axis") is not None:
        normal_axis(ctx, constant_int(ctx, a.need("axis"), "an axis"), 0)
    axis = {"np.flipud": Static(0), "np.fliplr": Static(1)}.get(a.name) or a.get("axis")
    made = flip(ctx, value, axes_of(ctx, axis, value.ndim))
    return made if made.ndim else Scalar(made.body)


@handles("numpy.roll", names="a shift axis")
def _roll(ctx: Context, a: Arguments) -> Value:
    value, axis, shift = a.array("a"), a.get("axis"), a.need("shift")
    if axis is None:
        return roll(ctx, value, shift, None)
    axes = list(axis.items) if isinstance(axis, Seq) else [axis]
    shifts = list(shift.items) if isinstance(shift, Seq) else [shift]
    axes, shifts = axes * (len(shifts) if len(axes) == 1 else 1), shifts * (len(axes) if len(shifts) == 1 else 1)
    for one, by in zip(axes, shifts, strict=True):
        value = roll(ctx, value, by, normal_axis(ctx, constant_axis(ctx, one), value.ndim))
    return value


def _several(name: str, change: Callable[[Context, Value], Value]) -> None:
    """A function of any number of arrays: one gives one, several a tuple."""

    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if keywords:
            ctx.fail(refusals.WRONG_ARGUMENTS, f"`np.{name}` with `{next(iter(keywords))}=`", "give it arrays only")
        made = tuple(change(ctx, v) for v in args)
        return made[0] if len(made) == 1 else Seq(made)

    TABLE[f"numpy.{name}"] = run


_several("atleast_1d", lambda ctx, v: at_least(ctx, v, 1))
_several("atleast_2d", lambda ctx, v: at_least(ctx, v, 2))
_several("atleast_3d", lambda ctx, v: at_least(ctx, v, 3))


def _broadcast_arrays(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    arrays = [ctx.kept(as_array(ctx, v)) for v in args]
    dims = broadcast_dims(ctx, [v.dims for v in arrays], "objects")
    return Seq(tuple(replace(shaping.broadcast_arrays_to(ctx, v, dims), readonly=False) for v in arrays))


TABLE["numpy.broadcast_arrays"] = _broadcast_arrays


def _gradient(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    given = dict(keywords)
    options = [given.pop("axis", Static(None)), given.pop("edge_order", Static(1))]
    if given:
        help = "np.gradient(f, *distances, axis=None, edge_order=1)"
        ctx.fail(refusals.WRONG_ARGUMENTS, f"`np.gradient` with `{next(iter(given))}=`", help)
    return compose(ctx, "arithmetic", "_gradient", [args[0], Seq(tuple(args[1:])), *options], {})


TABLE["numpy.gradient"] = _gradient


@handles("numpy.transpose", "numpy.permute_dims", names="a axes")
def _permute_dims(ctx: Context, a: Arguments) -> Value:
    axes, value = a.get("axes"), a.array("a")
    if axes is not None and not isinstance(axes, Seq):
        ctx.fail(refusals.NEEDS_CONSTANT, f"`{a.name}` with axes that are no tuple", "write them one by one: (1, 0)")
    order = None if not isinstance(axes, Seq) else [constant_axis(ctx, v) for v in axes.items]
    if order is not None and len(order) != value.ndim:
        ctx.guard(b.FALSE, "ValueError", "axes don't match array")
    if is_python_number(a.need("a")):
        return value
    made = transpose(ctx, value, order)
    number = isinstance(a.need("a"), Scalar) or isinstance(getattr(a.need("a"), "value", None), np.generic)
    return a.need("a") if not made.ndim and number else made


@handles("numpy.matrix_transpose", "numpy.linalg.matrix_transpose", names="x")
def _matrix_transpose(ctx: Context, a: Arguments) -> Value:
    return attribute(ctx, a.array("x"), "mT")


@handles("numpy.linalg.trace", "numpy.linalg.diagonal", names="x offset")
def _linalg_diagonal(ctx: Context, a: Arguments) -> Value:
    line = diagonal(ctx, a.array("x"), a.get("offset") or Static(0), -2, -1)
    return line if a.name.endswith("diagonal") else reduce(ctx, "sum", line, Static(-1), False)


@handles("numpy.linalg.cross", names="x1 x2 axis")
def _linalg_cross(ctx: Context, a: Arguments) -> Value:
    axis = a.get("axis") or Static(-1)
    return compose(ctx, "arranging", "cross", [a.need("x1"), a.need("x2")], {"axis": axis})


@handles("numpy.real", "numpy.imag", names="val")
def _real(ctx: Context, a: Arguments) -> Value:
    value = a.need("val")
    if isinstance(value, Scalar) and value.python and a.name == "np.imag" and not value.dtype.startswith("complex"):
        return Scalar(b.ZERO if value.dtype in ("index", "bool") else Const(0.0, "float64"), True)
    if not isinstance(value, (Array, Scalar)) and not is_number(value):
        value = as_array(ctx, value)
    return attribute(ctx, value, a.name.removeprefix("np."))


@handles("numpy.lib.stride_tricks.sliding_window_view", names="x window_shape axis")
def _sliding_window_view(ctx: Context, a: Arguments) -> Value:
    value, axis, shape = a.array("x"), a.get("axis"), a.need("window_shape")
    value = value if value.view and value.mask is None else ctx.define(value, "windows")
    widths = dims_of(ctx, shape)
    if not value.ndim and axis is not None and not isinstance(axis, Seq):
        axis = Seq((axis,))  # a number has no axis here
    axes = axes_of(ctx, axis, value.ndim, ordered=False)
    if len(widths) != len(axes):
        ctx.guard(
            b.FALSE, "ValueError",
            "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
            f"{len(widths)} window_shape elements and `x.ndim` is {value.ndim}."
            if axis is None else
            f"Must provide matching length window_shape and axis; got {len(widths)} window_shape elements and "
            f"{len(axes)} axes elements.",
        )  # fmt: skip
    dims = list(value.dims)
    starts: dict[int, Expr] = {}
    sizes = [w if b.is_nonnegative(w) else _checked_size(ctx, w) for w in widths]
    for d, w in zip(axes, sizes, strict=True):
        ctx.guard(
            b.compare("less_equal", w, dims[d]), "ValueError",
            "window shape cannot be larger than input array shape",
        )  # fmt: skip
        dims[d] = b.maximum(b.add(b.sub(dims[d], w), b.ONE), b.ZERO)
    outer, inner = ctx.names.axes(dims), tuple(ctx.names.axis("w", w) for w in sizes)
    for d, x in zip(axes, inner, strict=True):
        starts[d] = b.add(starts.get(d, outer[d].var), x.var)
    at = tuple(starts.get(d, x.var) for d, x in enumerate(outer))
    return replace(value.seen((*outer, *inner), at), readonly=True)


def _checked_size(ctx: Context, size: Expr) -> Expr:
    ctx.guard(
        b.compare("greater_equal", size, b.ZERO), "ValueError", "`window_shape` cannot contain negative values"
    )  # fmt: skip
    return ctx.extent(size)


@handles("numpy.delete", names="arr obj axis")
def _delete(ctx: Context, a: Arguments) -> Value:
    value = a.array("arr")
    axis_given = a.get("axis")
    if axis_given is None and value.ndim != 1:
        value = reshape(ctx, value, [Static(-1)])
    value = ctx.kept(value)
    axis = 0 if axis_given is None else normal_axis(ctx, constant_axis(ctx, axis_given), value.ndim)
    if axis != 0:
        moved = [axis, *[d for d in range(value.ndim) if d != axis]]
        value = transpose(ctx, value, moved)
    removed = a.need("obj")
    if isinstance(removed, Slice):
        removed = array_item(ctx, as_array(ctx, Range(b.ZERO, value.dims[0], b.ONE)), [removed])
    _check_removed(ctx, removed, value.dims[0])
    match removed:
        case Seq((Array() as only,), "tuple" | "list") if only.dtype != "bool":  # a further axis changes nothing
            removed = only
        case _:
            pass
    if isinstance(removed, Static) and isinstance(removed.value, slice):
        removed = _positions(ctx, removed.value, value.dims[0])
    pieces = removed.pieces if isinstance(removed, Concatenation) else (
        (removed,) if isinstance(removed, Scalar) or is_number(removed) else (positions(ctx, removed),)
    )  # fmt: skip
    result = _without(ctx, value, pieces, axis)
    if axis == 0:
        return result
    stored = ctx.kept(result)
    back = [*range(1, axis + 1), 0, *range(axis + 1, value.ndim)]
    return transpose(ctx, stored, back)


def _check_removed(ctx: Context, removed: Value, extent: Expr) -> None:
    """That positions are integers, and a mask is one of the axis."""
    if not (isinstance(removed, (Scalar, Array, Seq)) or is_number(removed)):
        return
    if isinstance(removed, Seq) and (not removed.items or any(isinstance(i, Array) and i.ndim for i in removed.items)):
        return
    dtype = as_array(ctx, removed).dtype
    if dtype.startswith(("float", "complex")):
        ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
    if dtype == "bool":
        mask = ctx.kept(as_array(ctx, removed))
        text = "boolean array argument obj to delete must be one dimensional and match the axis length of {}"
        fits = b.compare("equal", mask.dims[0], extent) if mask.ndim == 1 else b.FALSE
        ctx.guard(fits, "ValueError", text, (extent,))


def _positions(ctx: Context, item: slice, extent: Expr) -> Array:
    """What a slice names, as positions."""
    parts = (None if p is None else Static(p) for p in (item.start, item.stop, item.step))
    span = settle_slice(ctx, Slice(*parts), extent)
    (axis,) = ctx.names.axes((span.length,))
    return Array((axis,), b.cast(b.add(span.start, b.mul(span.step, axis.var)), "int64"))


def _without(ctx: Context, value: Array, pieces: Sequence[Value], axis: int) -> Array:
    """`value` without the positions in `pieces`, as a filter."""
    extent = value.dims[0]
    low: Expr = b.ZERO
    high = extent
    masks: list[Callable[[Expr], Expr]] = []
    removed: list[tuple[Array, Expr]] = []
    flags: Array | None = None
    for piece in pieces:
        if isinstance(piece, Array) and piece.dtype.startswith(("float", "complex")):
            ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
        single = _single_position(ctx, piece)
        if single is not None:
            at = scalar_position(ctx, Scalar(single), extent, axis)
            if b.difference(at, b.sub(high, b.ONE)) == 0:
                high = at
            elif at == low:
                low = b.add(low, b.ONE)
            else:
                masks.append(_other_than(at))
            continue
        assert isinstance(piece, Array)
        behind = _places_behind(piece)
        if behind is not None and b.at_least(extent, b.add(inhabited(piece.domain[0]), behind)):
            removed.append((piece, behind))
            continue
        if flags is None:
            (line,) = ctx.names.axes((extent,))
            flags = ctx.define(Array((line,), b.TRUE), "keep")
        stored = ctx.compact(piece, "removed") if piece.mask is not None else piece
        if stored.dtype == "bool":
            masks.append(_not_in(stored))
            continue
        write(ctx, flags, [stored], Static(False))
    kept = b.sub(high, low)
    axes = ctx.names.axes((b.maximum(kept, b.ZERO), *value.dims[1:]))
    position = b.add(axes[0].var, low)
    body = value.at((position, *(x.var for x in axes[1:])))
    mask: Expr = b.TRUE if flags is None else flags.at((position,))
    masks += [_not_selected(piece, behind, low, high) for piece, behind in removed]
    for m in masks:
        with ctx.facts.axis_ranges(axes[:1]):
            mask = b.both(mask, m(position))
    return Array(axes, body) if mask == b.TRUE else Array(axes, body, mask)


def _other_than(at: Expr) -> Callable[[Expr], Expr]:
    return lambda k: b.compare("not_equal", k, at)


def _not_in(flags: Array) -> Callable[[Expr], Expr]:
    return lambda k: b.logical_not(flags.at((k,)))


def _places_behind(piece: Array) -> Expr | None:
    """Where ``np.where(mask)[0]`` begins to count, for positions that are a mask's or so many behind them."""
    if piece.mask is None:
        return None
    match piece.body:
        case Apply("add", (place, Const(int(behind))), "int64") if behind >= 0:
            pass
        case place:
            behind = 0
    return b.index(behind) if place == b.cast(piece.axes[0].var, "int64") else None


def _not_selected(piece: Array, behind: Expr, low: Expr, high: Expr) -> Callable[[Expr], Expr]:
    """The positions in ``[low, high)`` that ``np.where(mask)[0] + behind`` does not name."""
    end = b.add(inhabited(piece.domain[0]), behind)

    def keep(k: Expr) -> Expr:
        kept = b.logical_not(piece.mask_at(b.sub(k, behind)))
        if b.difference(inhabited(high), end) != 0:
            kept = b.either(b.compare("greater_equal", k, end), kept)
        return kept if b.at_least(low, behind) else b.either(b.compare("less", k, behind), kept)

    return keep


def _single_position(ctx: Context, piece: Value) -> Expr | None:
    return integer_expr(ctx, piece) if _is_one_element(piece) else None


@handles("numpy.append", names="arr values axis")
def _append(ctx: Context, a: Arguments) -> Value:
    axis = a.get("axis")
    parts = [a.array("arr"), a.array("values")]
    if axis is None:
        parts = [reshape(ctx, p, [Static(-1)]) for p in parts]
        return concatenate(ctx, parts, 0)
    return concatenate(ctx, parts, constant_axis(ctx, axis))


@handles("numpy.count_nonzero", names="a axis keepdims")
def _count_nonzero(ctx: Context, a: Arguments) -> Value:
    value = _as_bool(a.array("a"))
    result = reduce(ctx, "sum", convert(value, "int64"), a.get("axis"), a.flag("keepdims"), "int64", "count")
    if isinstance(result, Scalar) and not isinstance(np.count_nonzero(np.zeros(1)), np.generic):  # before NumPy 2.4
        return Scalar(b.as_index(result.expr), True)
    return result


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


@handles("numpy.finfo", "numpy.iinfo", names="dtype")
def _limits(ctx: Context, a: Arguments) -> Value:
    value = a.need("dtype")
    if is_number(value) or (isinstance(value, Scalar) and value.python):
        dtype = "float64" if a.name == "np.finfo" else "int64"
        ctx.fail(refusals.OPERANDS, f"`{a.name}` of a number", f"give it a dtype: {a.name}(np.{dtype})")
    name = value.dtype if isinstance(value, (Array, Scalar)) else dtype_of(ctx, value, "float64")
    return Static(asked(ctx, np.finfo if a.name == "np.finfo" else np.iinfo, np.dtype(name)))


@handles("numpy.dtype", names="dtype")
def _dtype(ctx: Context, a: Arguments) -> Value:
    return Static(np.dtype(dtype_of(ctx, a.need("dtype"), "float64")))


@handles("numpy.shape", "numpy.ndim", "numpy.size", names="a axis")
def _shape(ctx: Context, a: Arguments) -> Value:
    if a.get("axis") is not None:
        value = a.array("a")
        if not value.ndim:
            axes_of(ctx, Seq((a.need("axis"),)) if not isinstance(a.need("axis"), Seq) else a.need("axis"), 0)
        dims = [shape_of(ctx, value)[d] for d in axes_of(ctx, a.get("axis"), value.ndim)]
        return static_or(b.product(tuple(dims)))
    return attribute(ctx, a.array("a"), a.name.removeprefix("np."))

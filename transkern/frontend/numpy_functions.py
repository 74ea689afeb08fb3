"""NumPy's functions that are not ufuncs, one handler each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from transkern.frontend import elementwise, shaping
from transkern.frontend.arguments import Arguments, handles
from transkern.frontend.attributes import attribute
from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    apply,
    as_array,
    convert,
    describe,
    is_number,
    result_type,
    scalar_expr,
)  # fmt: skip
from transkern.frontend.indexing import SliceValue, array_item, nonzero_positions, scalar_position, shape_of
from transkern.frontend.library_calls import matmul
from transkern.frontend.reductions import axes_of, mean, reduce
from transkern.frontend.shaping import (
    arange,
    concatenate,
    constant_int,
    dims_of,
    dtype_of,
    expand,
    flip,
    full,
    linspace,
    normal_axis,
    reshape,
    roll,
    split,
    stack,
    tile,
    transpose,
)  # fmt: skip
from transkern.frontend.storing import is_constant_array, write
from transkern.frontend.values import (
    Array,
    Concatenation,
    GrowingList,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Const, Expr


@handles("numpy.where", names="condition x y")
def _where(ctx: Context, a: Arguments) -> Value:
    condition = a.need("condition")
    if a.get("x") is None:
        mask = as_array(ctx, condition)
        if mask.mask is not None:
            mask = ctx.compact(mask, "mask")
        return Seq(tuple(nonzero_positions(ctx, _as_bool(mask))))
    return _select(ctx, condition, a.need("x"), a.need("y"))


def _as_bool(value: Array) -> Array:
    return replace(value, body=elementwise.nonzero(value.body), view=False, identity="")


def _select(ctx: Context, condition: Value, x: Value, y: Value) -> Value:
    x, y = (
        v if isinstance(v, (Static, Scalar, Array)) and not is_constant_array(v) else as_array(ctx, v) for v in (x, y)
    )
    dtype = result_type(ctx, [x, y])
    condition = (
        condition if isinstance(condition, (Scalar, Array)) or is_number(condition) else as_array(ctx, condition)
    )
    elements, axes, mask, scalar = elementwise.align(ctx, [condition, x, y])
    body = b.where(elementwise.nonzero(elements[0]), b.cast(elements[1], dtype), b.cast(elements[2], dtype))
    return Array((), body) if scalar else Array(axes, body, mask)


@handles("numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere", names="a")
def nonzero(ctx: Context, a: Arguments) -> Value:
    mask = _as_bool(a.array("a"))
    if mask.mask is not None:
        mask = ctx.compact(mask, "mask")
    if a.name == "np.flatnonzero":
        return nonzero_positions(ctx, reshape(ctx, mask, [Static(-1)]))[0]
    positions = nonzero_positions(ctx, mask)
    if a.name == "np.argwhere":
        return concatenate(ctx, [expand(ctx, ctx.compact(p, "where"), 1) for p in positions], 1)
    return Seq(tuple(positions))


@handles("numpy.clip", names="a a_min a_max out min max")
def _clip(ctx: Context, a: Arguments) -> Value:
    value = a.need("a")
    low, high = a.get("a_min") or a.get("min"), a.get("a_max") or a.get("max")
    result: Value = value
    if low is not None:
        result = apply(ctx, "maximum", [result, low])
    if high is not None:
        result = apply(ctx, "minimum", [result, high])
    out = a.get("out")
    if out is not None:
        assert isinstance(out, Array)
        write(ctx, out, [Static(Ellipsis)], result)
        return out
    return result


@handles(
    "numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray", names="object dtype copy order ndmin"
)
def _array(ctx: Context, a: Arguments) -> Value:
    value = a.need("object")
    if isinstance(value, Static) and value.value is None:
        ctx.fail("np.array(None)")
    array = as_array(ctx, value)
    dtype = dtype_of(ctx, a.get("dtype"), array.dtype)
    if dtype != array.dtype:
        return replace(convert(array, dtype), empty_dtype=None)
    if a.get("dtype") is not None:
        array = replace(array, empty_dtype=None)
    if a.name == "np.array" and array.view and not isinstance(value, GrowingList):
        return ctx.define(replace(array, identity=""), "copy")
    return array


@handles("numpy.zeros", "numpy.ones", "numpy.empty", names="shape dtype order")
def _filled(ctx: Context, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    value = 1 if a.name == "np.ones" else 0
    return full(ctx, dims_of(ctx, a.need("shape")), b.cast(Const(value, "int64"), dtype))


@handles("numpy.full", names="shape fill_value dtype order")
def _full(ctx: Context, a: Arguments) -> Value:
    value = a.need("fill_value")
    expr = scalar_expr(ctx, value)
    dtype = dtype_of(ctx, a.get("dtype"), "int64" if expr.dtype == "index" else expr.dtype)
    return full(ctx, dims_of(ctx, a.need("shape")), b.cast(expr, dtype))


@handles("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like", names="a dtype order subok shape")
def _filled_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    value = 1 if a.name == "np.ones_like" else 0
    dims = shape_of(ctx, model) if a.get("shape") is None else dims_of(ctx, a.need("shape"))
    return full(ctx, dims, b.cast(Const(value, "int64"), dtype))


@handles("numpy.full_like", names="a fill_value dtype order subok shape")
def _full_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    return full(ctx, shape_of(ctx, model), b.cast(scalar_expr(ctx, a.need("fill_value")), dtype))


@handles("numpy.eye", "numpy.identity", names="N M k dtype")
def _eye(ctx: Context, a: Arguments) -> Value:
    rows = b.as_index(scalar_expr(ctx, a.need("N")))
    columns = rows if a.get("M") is None else b.as_index(scalar_expr(ctx, a.need("M")))
    shift = b.ZERO if a.get("k") is None else b.as_index(scalar_expr(ctx, a.need("k")))
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
    return arange(ctx, start, stop, step, None if dtype is None else dtype_of(ctx, dtype, ""))


@handles("numpy.linspace", names="start stop num endpoint retstep dtype")
def _linspace(ctx: Context, a: Arguments) -> Value:
    dtype = a.get("dtype")
    return linspace(
        ctx, a.need("start"), a.need("stop"), a.get("num") or Static(50), a.flag("endpoint", True),
        None if dtype is None else dtype_of(ctx, dtype, ""),
    )  # fmt: skip


def _items_of(ctx: Context, value: Value) -> Sequence[Value]:
    match value:
        case Seq(items):
            return items
        case Array(mask=None) if b.constant(value.dims[0]) is not None:
            return [array_item(ctx, value, [Static(k)]) for k in range(b.constant(value.dims[0]) or 0)]
        case _:
            ctx.fail(f"the pieces of {describe(value)}", "give a tuple or list of arrays")


@handles(
    "numpy.concatenate", "numpy.hstack", "numpy.vstack", "numpy.column_stack", "numpy.row_stack", names="arrays axis"
)
def _concatenate(ctx: Context, a: Arguments) -> Value:
    parts = list(_items_of(ctx, a.need("arrays")))
    match a.name:
        case "np.concatenate":
            given = a.given.get("axis")
            axis = (
                0
                if given is None
                else None
                if isinstance(given, Static) and given.value is None
                else constant_int(ctx, given, "an axis")
            )
            return concatenate(ctx, parts, axis)
        case "np.hstack":
            arrays = [_at_least(ctx, p, 1) for p in parts]
            return concatenate(ctx, arrays, 0 if arrays[0].ndim == 1 else 1)
        case "np.column_stack":
            arrays = [as_array(ctx, p) for p in parts]
            return concatenate(ctx, [expand(ctx, v, 1) if v.ndim == 1 else v for v in arrays], 1)
        case _:
            return concatenate(ctx, [_at_least(ctx, p, 2) for p in parts], 0)


def _at_least(ctx: Context, value: Value, ndim: int) -> Array:
    array = as_array(ctx, value)
    while array.ndim < ndim:
        array = expand(ctx, array, 0)
    return array


@handles("numpy.stack", names="arrays axis")
def _stack(ctx: Context, a: Arguments) -> Value:
    return stack(ctx, _items_of(ctx, a.need("arrays")), constant_int(ctx, a.get("axis") or Static(0), "an axis"))


@handles("numpy.split", "numpy.array_split", "numpy.hsplit", "numpy.vsplit", names="ary indices_or_sections axis")
def _split(ctx: Context, a: Arguments) -> Value:
    value = a.array("ary")
    axis = constant_int(ctx, a.get("axis") or Static(0), "an axis")
    if a.name == "np.hsplit":
        axis = 0 if value.ndim == 1 else 1
    return split(ctx, value, a.need("indices_or_sections"), axis, a.name != "np.array_split")


@handles("numpy.expand_dims", names="a axis")
def _expand_dims(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    return expand(ctx, value, normal_axis(ctx, constant_int(ctx, a.need("axis"), "an axis"), value.ndim + 1))


@handles("numpy.broadcast_to", names="array shape")
def _broadcast_to(ctx: Context, a: Arguments) -> Value:
    return shaping.broadcast_arrays_to(ctx, a.array("array"), dims_of(ctx, a.need("shape")))


@handles("numpy.tile", names="A reps")
def _tile(ctx: Context, a: Arguments) -> Value:
    return tile(ctx, a.array("A"), dims_of(ctx, a.need("reps")))


@handles("numpy.flip", "numpy.flipud", "numpy.fliplr", names="m axis")
def _flip(ctx: Context, a: Arguments) -> Value:
    value = a.array("m")
    axis = {"np.flipud": Static(0), "np.fliplr": Static(1)}.get(a.name) or a.get("axis")
    return flip(ctx, value, axes_of(ctx, axis, value.ndim))


@handles("numpy.roll", names="a shift axis")
def _roll(ctx: Context, a: Arguments) -> Value:
    value, axis = a.array("a"), a.get("axis")
    return roll(
        ctx,
        value,
        a.need("shift"),
        None if axis is None else normal_axis(ctx, constant_int(ctx, axis, "an axis"), value.ndim),
    )


@handles("numpy.outer", names="a b")
def _outer(ctx: Context, a: Arguments) -> Value:
    x = reshape(ctx, a.array("a"), [Static(-1), Static(1)])
    y = reshape(ctx, a.array("b"), [Static(1), Static(-1)])
    return apply(ctx, "multiply", [x, y])


@handles("numpy.matmul", "numpy.dot", "numpy.inner", "numpy.vdot", names="a b")
def _matmul(ctx: Context, a: Arguments) -> Value:
    x, y = a.need("a"), a.need("b")
    p, q = as_array(ctx, x), as_array(ctx, y)
    if p.ndim == 0 or q.ndim == 0:
        return apply(ctx, "multiply", [x, y])
    if a.name in ("np.dot", "np.inner") and (p.ndim > 2 or q.ndim > 2):
        ctx.fail(f"`{a.name}` of more than two dimensions", "use @ or np.einsum")
    if a.name == "np.inner" and q.ndim == 2:
        q = transpose(ctx, q, None)
    return matmul(ctx, p, q)


@handles("numpy.delete", names="arr obj axis")
def _delete(ctx: Context, a: Arguments) -> Value:
    value = a.array("arr")
    axis_given = a.get("axis")
    if axis_given is None and value.ndim > 1:
        value = reshape(ctx, value, [Static(-1)])
    if value.mask is not None:
        value = ctx.compact(value, "kept")
    axis = 0 if axis_given is None else normal_axis(ctx, constant_int(ctx, axis_given, "an axis"), value.ndim)
    if axis != 0:
        moved = [axis, *[d for d in range(value.ndim) if d != axis]]
        value = transpose(ctx, value, moved)
    removed = a.need("obj")
    pieces = removed.pieces if isinstance(removed, Concatenation) else (
        (removed,) if isinstance(removed, Scalar) or is_number(removed) else (as_array(ctx, removed),)
    )  # fmt: skip
    result = _without(ctx, value, pieces)
    if axis == 0:
        return result
    stored = ctx.compact(result, "kept") if result.mask is not None else result
    back = [*range(1, axis + 1), 0, *range(axis + 1, value.ndim)]
    return transpose(ctx, stored, back)


def _without(ctx: Context, value: Array, pieces: Sequence[Value]) -> Array:
    """`value` without the positions in `pieces`, as a filter."""
    extent = value.dims[0]
    low: Expr = b.ZERO
    high = extent
    masks: list[Callable[[Expr], Expr]] = []
    flags: Array | None = None
    for piece in pieces:
        single = _single_position(ctx, piece)
        if single is not None:
            at = scalar_position(ctx, Scalar(single), extent, 0)
            if b.difference(at, b.sub(high, b.ONE)) == 0:
                high = at
            elif at == low:
                low = b.add(low, b.ONE)
            else:
                masks.append(_other_than(at))
            continue
        assert isinstance(piece, Array)
        if piece.mask is not None and piece.body == b.cast(piece.axes[0].var, "int64"):
            masks.append(_not_selected(piece, extent))
            continue
        if flags is None:
            (axis,) = ctx.axes((extent,))
            flags = ctx.define(Array((axis,), b.TRUE), "keep")
        stored = ctx.compact(piece, "removed") if piece.mask is not None else piece
        if stored.dtype == "bool":
            masks.append(_not_in(stored))
            continue
        write(ctx, flags, [stored], Static(False))
    kept = b.sub(high, low)
    axes = ctx.axes((b.maximum(kept, b.ZERO), *value.dims[1:]))
    position = b.add(axes[0].var, low)
    body = value.at((position, *(x.var for x in axes[1:])))
    mask: Expr = b.TRUE if flags is None else flags.at((position,))
    for m in masks:
        with ctx.axis_ranges(axes[:1]):
            mask = b.both(mask, m(position))
    return Array(axes, body) if mask == b.TRUE else Array(axes, body, mask)


def _other_than(at: Expr) -> Callable[[Expr], Expr]:
    return lambda k: b.compare("not_equal", k, at)


def _not_in(flags: Array) -> Callable[[Expr], Expr]:
    return lambda k: b.logical_not(flags.at((k,)))


def _not_selected(piece: Array, extent: Expr) -> Callable[[Expr], Expr]:
    """The positions that ``np.where(mask)[0]`` does not name."""
    domain = piece.dims[0]

    def keep(k: Expr) -> Expr:
        selected = piece.mask_at(k)
        terms, total = b.affine(k)
        (axis,) = terms
        del axis
        if domain == extent or total == 0:  # the domain ends where the kept range does, or is the whole
            return b.logical_not(selected)
        return b.either(b.compare("greater_equal", k, domain), b.logical_not(selected))

    return keep


def _single_position(ctx: Context, piece: Value) -> Expr | None:
    if isinstance(piece, Scalar) or is_number(piece):
        return b.as_index(scalar_expr(ctx, piece))
    if isinstance(piece, Array) and piece.mask is None and all(b.constant(d) == 1 for d in piece.dims):
        return b.as_index(scalar_expr(ctx, piece))
    return None


@handles("numpy.append", names="arr values axis")
def _append(ctx: Context, a: Arguments) -> Value:
    axis = a.get("axis")
    parts = [a.array("arr"), a.array("values")]
    if axis is None:
        parts = [reshape(ctx, p, [Static(-1)]) for p in parts]
        return concatenate(ctx, parts, 0)
    return concatenate(ctx, parts, constant_int(ctx, axis, "an axis"))


@handles("numpy.count_nonzero", names="a axis keepdims")
def _count_nonzero(ctx: Context, a: Arguments) -> Value:
    value = _as_bool(a.array("a"))
    result = reduce(ctx, "sum", convert(value, "int64"), a.get("axis"), a.flag("keepdims"), "int64", "count")
    if isinstance(result, Scalar) and not isinstance(np.count_nonzero(np.zeros(1)), np.generic):  # before NumPy 2.4
        return Scalar(b.as_index(result.expr), True)
    return result


@handles("numpy.average", names="a axis weights")
def _average(ctx: Context, a: Arguments) -> Value:
    weights = a.get("weights")
    if weights is None:
        return mean(ctx, a.array("a"), a.get("axis"), False)
    product = apply(ctx, "multiply", [a.array("a"), weights])
    total = reduce(ctx, "sum", as_array(ctx, product), a.get("axis"), False)
    scale = reduce(ctx, "sum", as_array(ctx, weights), a.get("axis"), False)
    return apply(ctx, "divide", [total, scale])


@handles("numpy.diff", names="a n axis")
def _diff(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    times = constant_int(ctx, a.get("n") or Static(1), "n")
    axis = normal_axis(ctx, constant_int(ctx, a.get("axis") or Static(-1), "an axis"), value.ndim)
    whole = SliceValue(None, None, None)
    for _ in range(times):
        upper = array_item(ctx, value, [*[whole] * axis, SliceValue(Static(1), None, None)])
        lower = array_item(ctx, value, [*[whole] * axis, SliceValue(None, Static(-1), None)])
        op = "not_equal" if value.dtype == "bool" else "subtract"
        value = as_array(ctx, apply(ctx, op, [upper, lower]))
    return value


@handles("numpy.triu", "numpy.tril", names="m k")
def _triangle(ctx: Context, a: Arguments) -> Value:
    value = a.array("m")
    shift = b.as_index(scalar_expr(ctx, a.get("k") or Static(0)))
    i, j = value.axes[-2:]
    edge = b.add(i.var, shift)
    keep = b.compare("greater_equal" if a.name == "np.triu" else "less_equal", j.var, edge)
    return Array(value.axes, b.where(keep, value.body, b.cast(Const(0, "int64"), value.dtype)))


@handles("numpy.finfo", "numpy.iinfo", names="dtype")
def _limits(ctx: Context, a: Arguments) -> Value:
    value = a.need("dtype")
    name = value.dtype if isinstance(value, (Array, Scalar)) else dtype_of(ctx, value, "float64")
    return Static(np.finfo(name) if a.name == "np.finfo" else np.iinfo(name))


@handles("numpy.dtype", names="dtype")
def _dtype(ctx: Context, a: Arguments) -> Value:
    return Static(np.dtype(dtype_of(ctx, a.need("dtype"), "float64")))


@handles("numpy.shape", "numpy.ndim", "numpy.size", names="a")
def _shape(ctx: Context, a: Arguments) -> Value:
    return attribute(ctx, a.array("a"), a.name.removeprefix("np."))


@handles("numpy.deg2rad", "numpy.radians", "numpy.rad2deg", "numpy.degrees", names="x")
def _angles(ctx: Context, a: Arguments) -> Value:
    value = a.need("x")
    array = value if isinstance(value, (Scalar, Array)) else as_array(ctx, value)
    to_radians = a.name in ("np.deg2rad", "np.radians")
    result = apply(
        ctx, "multiply", [apply(ctx, "positive", [array], None), Static(math.pi / 180 if to_radians else 180 / math.pi)]
    )
    return result


@handles("numpy.isclose", names="a b rtol atol")
def _isclose(ctx: Context, a: Arguments) -> Value:
    x, y = a.need("a"), a.need("b")
    relative = apply(ctx, "multiply", [a.get("rtol") or Static(1e-5), apply(ctx, "absolute", [y])])
    tolerance = apply(ctx, "add", [a.get("atol") or Static(1e-8), relative])
    close = apply(ctx, "less_equal", [apply(ctx, "absolute", [apply(ctx, "subtract", [x, y])]), tolerance])
    finite = apply(ctx, "logical_and", [close, apply(ctx, "isfinite", [y])])
    return apply(ctx, "logical_or", [finite, apply(ctx, "equal", [x, y])])

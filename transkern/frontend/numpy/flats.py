"""``x.flat``: an array's elements in C order. What is read of it is a copy; what is stored into it begins anew where it
ends, whatever its shape.

    a.flat[[0, 1, 2]] = v   ->   a.flat[[0, 1, 2]] = v.ravel()[np.arange(3) % v.size]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.shaping import reshape
from transkern.frontend.subscripts import storable, storing
from transkern.frontend.subscripts.arrays import (
    array_item,
    as_item,
    fits_as_mask,
    nonzero_positions,
    positions,
    scalar_position,
)
from transkern.frontend.subscripts.slices import settle_slice
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Flat, GrowingList, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read


def item(ctx: Context, source: Flat, items: Sequence[Value]) -> Value:
    """``x.flat[items]``."""
    at = _item(ctx, source, items)
    with ctx.control.counting_all():
        made = array_item(ctx, source.array, [at])
    return replace(made, view=False, identity="") if isinstance(made, Array) else made


def store(ctx: Context, target: Flat, items: Sequence[Value], value: Value) -> None:
    """``x.flat[items] = value``."""
    outputs.check_readonly(ctx, target.array, "underlying array")
    at = _item(ctx, target, items)
    given = ctx.deref(value)
    in_turn = isinstance(at, Array) and at.ndim and at.dtype != "bool"
    if isinstance(given, (Scalar, Static)) and not isinstance(getattr(given, "value", None), np.ndarray):
        with ctx.control.counting_all():
            if in_turn:
                given = storable.converted(ctx, given, target.array.dtype)
            elif not isinstance(at, (Array, Slice)):
                place = scalar_position(ctx, at, target.array.dims[0], 0)
                with ctx.control.raising("ValueError", "Error setting single item of array."):
                    storable.storable(ctx, given, scalar_expr(ctx, given), target.array.dtype, True)
                at = Scalar(place, True)
            elif not is_python_number(given):  # cast as elements of arrays are
                given = Array((), scalar_expr(ctx, given))
            if not in_turn:
                storing.write(ctx, target.array, [at], given)
                return
    values = as_array(ctx, given)
    if not values.ndim and not in_turn:
        with ctx.control.counting_all():
            storing.write(ctx, target.array, [at], replace(values, view=False))  # a cast
        return
    at = _positions(ctx, target, at) if isinstance(at, Array) and at.ndim else at
    dims = _dims(ctx, target, at)
    if dims is None:
        problem = "a store of an array into one element of `.flat`"
        ctx.fail(refusals.TARGET, problem, "store into a slice, or store a number")
    if values.view and values.base == target.array.base:
        problem = "a store into `.flat` of what shares its memory: NumPy reads it while it changes"
        ctx.fail(refusals.SHARED_MEMORY, problem, "store a copy: .copy()")
    _write(ctx, target.array, at, dims, values)


def _write(ctx: Context, target: Array, at: Value, dims: tuple[Expr, ...], values: Array) -> None:
    values = ctx.kept(values)
    if target.base in buffers_read(values.body):
        values = ctx.define(replace(values, view=False), "values")
    line = reshape(ctx, values, [Static(-1)])
    (count,) = line.dims

    def element(place: Expr) -> Expr:
        if b.constant(count) == 1:
            place = b.ZERO
        elif count != b.product(dims):
            place = b.mod(place, count)
        return line.at((place,))

    with storing.where_some(ctx, count), ctx.control.counting_all():
        if isinstance(at, Array):
            storing.write_in_turn(ctx, target, reshape(ctx, at, [Static(-1)]), element)
        else:
            (axis,) = ctx.names.axes(dims)
            storing.write(ctx, target, [at], Array((axis,), element(axis.var)))


def _item(ctx: Context, source: Flat, items: Sequence[Value]) -> Value:
    """The one subscript, of those that NumPy takes in every version."""
    if len(items) != 1:
        text = f"too many indices for flat iterator: flat iterator is 1-dimensional, but {len(items)} were indexed"
        ctx.guard(b.FALSE if items else b.TRUE, "IndexError", text)
        ctx.fail(refusals.SUBSCRIPT, "`.flat` without a subscript", "write x.flat[:]")
    given = ctx.deref(items[0])
    if isinstance(given, (GrowingList, Seq)) and positions(ctx, given).dtype.startswith(("float", "complex")):
        ctx.fail(refusals.SUBSCRIPT, "a subscript of `.flat` that is a list of floats", "take a list of integers")
    at = as_item(ctx, items[0])
    match at:
        case Array() if at.dtype == "bool" and at.ndim != 1:
            text = f"too many indices for flat iterator: flat iterator is 1-dimensional, but {at.ndim} were indexed"
            ctx.guard(b.FALSE, "IndexError", text)
        case Array() if at.ndim or at.dtype.startswith(("int", "uint")):
            return at
        case Slice() | Static(int()) | Static(np.integer()) | Scalar() if getattr(at, "dtype", "") != "bool":
            return at
        case Static(value) if value is Ellipsis:
            return Slice(None, None, None)
    ctx.fail(refusals.SUBSCRIPT, "such a subscript of `.flat`", "take a number, a slice or an array of positions")


def _dims(ctx: Context, target: Flat, at: Value) -> tuple[Expr, ...] | None:
    """The shape of what a subscript takes; None of one element."""
    if isinstance(at, Slice):
        return (settle_slice(ctx, at, target.array.dims[0]).length,)
    return at.dims if isinstance(at, Array) and at.ndim else None


def _positions(ctx: Context, target: Flat, at: Array) -> Array:
    """Positions, as many as are known before the store."""
    if at.dtype == "bool":
        extent = target.array.dims[0]
        text = (
            "boolean index did not match indexed flat iterator along axis 0; size of axis is {} but size of "
            "corresponding boolean axis is {}"
        )
        ctx.guard(fits_as_mask(at.dims[0], extent), "IndexError", text, (extent, at.dims[0]))
        (at,) = nonzero_positions(ctx, ctx.kept(at))
    return ctx.compact(at, "at") if at.mask is not None else at

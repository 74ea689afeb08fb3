"""Functions that arrange elements, or tell of arrays: axes, shapes, limits of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy import shaping
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.choosing import at_least
from transkern.frontend.numpy.products import diagonal
from transkern.frontend.numpy.reductions import axes_of, reduce
from transkern.frontend.numpy.shaping import flip, roll, tile, transpose
from transkern.frontend.numpy.sizes import constant_axis, constant_int, dims_of, dtype_of, normal_axis
from transkern.frontend.subscripts.arrays import shape_of
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.translate.attributes import attribute, static_or
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_dims
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.values import (
    Array,
    Dict,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Const, Expr


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
    if not args:
        return Seq(())
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

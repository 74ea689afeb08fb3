"""Functions that put arrays together, and take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.compositions import compose
from transkern.frontend.containers import empties, growing
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.choosing import at_least
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.shaping import concatenate, expand, reshape, split, stack, transpose
from transkern.frontend.numpy.sizes import constant_axis, dtype_of, normal_axis
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values import python_types
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import type_name
from transkern.frontend.values.values import Array, GrowingList, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr, Var


def _rows_of_list(ctx: Context, a: Arguments) -> Value | None:
    """Arrays of a list that has grown, put together: they stand one behind the other in its memory."""
    owner = a.need("arrays")
    if not isinstance(owner, GrowingList):
        return None
    is_first = a.optional("axis") in (None, Static(0))
    if owner.rows is not None and owner.rows.kind == "array" and a.get("dtype") is None:
        flat = not owner.rows.pool.dims
        if is_first and (a.name == "np.concatenate" or (a.name == "np.hstack" if flat else a.name == "np.vstack")):
            return compose(ctx, "lists", "concatenated", [owner], {})
        if flat and a.name in _STACKED:
            kind = Static("stack" if a.name == "np.stack" else "concatenate")
            made = compose(ctx, "lists", "stacked", [owner, kind, Static(_STACKED[a.name])], {})
            return _side_by_side(ctx, a, as_array(ctx, made))
    if not owner.dims or owner.head:
        return None
    what = "stack" if a.name == "np.stack" else "concatenate"
    ctx.guard(empties.has_some(owner), "ValueError", f"need at least one array to {what}")
    rows = as_array(ctx, owner)
    if (given := a.get("dtype")) is not None:
        dtype = dtype_of(ctx, given, "")
        _check_cast(ctx, a, rows.dtype, dtype)
        rows = as_array(ctx, convert(rows, dtype))
    return _side_by_side(ctx, a, rows)


_STACKED = {"np.stack": 0, "np.column_stack": 0, "np.dstack": 1, "np.vstack": 1, "np.row_stack": 1}
"""What makes one array of several with an axis more: of arrays of one axis, the dimension that errors tell of."""


def _side_by_side(ctx: Context, a: Arguments, rows: Array) -> Value | None:
    """Arrays that are the rows of one, put together."""
    ndim = rows.ndim - 1
    match a.name:
        case "np.stack":
            return behind(ctx, rows, normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(0)), rows.ndim))
        case "np.column_stack" if ndim == 1:
            return behind(ctx, rows, 1)
        case "np.dstack" if ndim <= 2:
            made = behind(ctx, rows, ndim)
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


def behind(ctx: Context, rows: Array, axis: int) -> Array:
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


    def measure(value: Value, place: str = "arrays") -> tuple[int, int]:
        """How deep lists are nested, and the most dimensions of an array."""
        if isinstance(ctx.deref(value), GrowingList):
            problem = "`np.block` of a list whose length is known at run time only"
            ctx.fail(refusals.RUN_TIME_LENGTH, problem, "use np.concatenate")
        if isinstance(value, Seq) and value.kind == "list":
            if not value.items:
                ctx.guard(b.FALSE, "ValueError", f"List at {place} cannot be empty")
            inner = [measure(i, f"{place}[{k}]") for k, i in enumerate(value.items)]
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


@handles("numpy.append", names="arr values axis")
def _append(ctx: Context, a: Arguments) -> Value:
    axis = a.get("axis")
    parts = [a.array("arr"), a.array("values")]
    if axis is None:
        parts = [reshape(ctx, p, [Static(-1)]) for p in parts]
        return concatenate(ctx, parts, 0)
    return concatenate(ctx, parts, constant_axis(ctx, axis))

"""Functions that arrange elements and compute none: reshape, transpose, concatenate, split, stack, repeat, roll."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import NESTED, as_array, result_type
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.sizes import (
    check_single,
    check_size,
    constant_axis,
    constant_int,
    dims_of,
    normal_axis,
    numbers_in,
    size_of,
)
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.values import large, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_to, masks_agree, may_stretch, shape_text, stretched
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.strides import (
    contiguous,
    in_memory,
    is_contiguous,
    lies_elsewhere,
    line_in_memory,
    reshaped_view,
)
from transkern.frontend.values.values import Array, Concatenation, GrowingList, Scalar, Seq, Slice, Static, Value
from transkern.fuse.scalars.places import is_division, simplified
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Const, Expr, Load, Var
from transkern.ir.polynomials import divides
from transkern.ir.traverse import buffers_read, walk_expr


def as_line(ctx: Context, value: Value, or_number: bool = False) -> Array:
    """An array of one dimension, as NumPy's functions in C take what they are given (`or_number`: or of none)."""
    array = as_array(ctx, value)
    if array.ndim > 1:
        is_array = python_types.is_array(ctx.deref(value))
        ctx.guard(b.FALSE, "ValueError", "object too deep for desired array" if is_array else f"{NESTED}1.")
    if array.ndim == 0 and not or_number:
        ctx.guard(b.FALSE, "ValueError", "object of too small depth for desired array")
    return array


def on_axis(ctx: Context, value: Array, axis: Value | None) -> tuple[Array, int]:
    """An array and the axis that a function of NumPy's goes along: without one the elements in a line; a number is an
    array of one."""
    value = ctx.kept(value)
    if axis is None:
        return value if value.ndim == 1 else reshape(ctx, value, [Static(-1)]), 0
    value = value if value.ndim else expand(ctx, value, 0)
    return value, normal_axis(ctx, constant_axis(ctx, axis), value.ndim)


def transpose(ctx: Context, value: Array, order: Sequence[int] | None) -> Array:
    value = ctx.kept(value)
    order = (
        tuple(reversed(range(value.ndim))) if order is None else tuple(normal_axis(ctx, a, value.ndim) for a in order)
    )
    if sorted(order) != list(range(value.ndim)):
        text = "repeated axis in transpose" if len(order) == value.ndim else "axes don't match array"
        ctx.guard(b.FALSE, "ValueError", text)
    return value.turned(order)


def reshape(ctx: Context, value: Array, shape: Sequence[Value]) -> Array:
    """``value.reshape(shape)``, one dim may be -1."""
    if value.mask is not None and tuple(shape) == (Static(-1),) and all(b.constant(d) == 1 for d in value.domain[1:]):
        first: tuple[Expr, ...] = (value.axes[0].var, *[b.ZERO] * (value.ndim - 1))
        return Array(value.axes[:1], value.candidate(first), value.mask)
    value = ctx.kept(value)
    items = shape[0].items if len(shape) == 1 and isinstance(shape[0], Seq) else shape
    if len(items) == 1 and isinstance(items[0], Static) and isinstance(items[0].value, tuple):
        items = tuple(Static(v) for v in items[0].value)
    elif len(shape) == 1 and (numbers := numbers_in(ctx, shape[0])) is not None:
        items = shape = numbers
    elif len(shape) == 1 and isinstance(shape[0], GrowingList):  # how many dimensions there are must be known
        dims_of(ctx, shape[0])
    if any(map(large.is_large, items)):
        asked(ctx, np.zeros(0).reshape, [i.value if isinstance(i, Static) else 0 for i in items])
    if len(shape) == 1:
        check_single(ctx, shape[0])
    dims = [_in_sizes(ctx, size_of(ctx, i)) for i in items]
    total = b.product(value.dims)
    for d in dims:
        if b.constant(d) is None and not ctx.facts.not_negative(d) and not ctx.facts.assume_at_least(d, 0):
            text = "a size that stands for what remains, as it is negative, which a call cannot tell, is not compiled"
            ctx.guard(b.compare("greater_equal", d, b.ZERO), "RuntimeError", text)
    unknown = [p for p, d in enumerate(dims) if (b.constant(d) or 0) < 0]
    known = b.product(tuple(d for p, d in enumerate(dims) if p not in unknown))
    message = f"cannot reshape array of size {{}} into shape {_wanted_text(dims, unknown)}"
    if unknown:
        if len(unknown) > 1:
            ctx.guard(b.FALSE, "ValueError", "can only specify one unknown dimension")
        rest = _cancel(ctx, total, known)
        if rest is None:
            ctx.guard(
                b.both(b.compare("not_equal", known, b.ZERO), b.compare("equal", b.mod(total, known), b.ZERO)),
                "ValueError", message, (total, *(d for p, d in enumerate(dims) if p not in unknown)),
            )  # fmt: skip
            rest = b.floordiv(total, known)
        elif b.constant(known) is None:
            ctx.guard(
                b.compare("not_equal", known, b.ZERO), "ValueError", message,
                (total, *(d for p, d in enumerate(dims) if p not in unknown)),
            )  # fmt: skip
        dims[unknown[0]] = rest
    else:
        ctx.guard(b.compare("equal", total, known), "ValueError", message, (total, *dims))
    if tuple(dims) == value.dims:
        return replace(value, identity="")
    squeezed = _same_without_ones(value, tuple(dims))
    axes = ctx.names.axes(dims)
    if squeezed is not None:
        index = tuple(b.ZERO if p is None else axes[p].var for p in squeezed)
        return value.seen(axes, index)
    if value.ndim == 1:
        value = in_memory(ctx, value, "reshaped")
    if value.ndim and not is_contiguous(ctx, value):
        view = reshaped_view(ctx, value, axes)
        if view is not None:
            return view
        value = contiguous(ctx, value, "reshape", dims)
    elif value.ndim > 1 and value.view and lies_elsewhere(ctx, value.base):
        value = contiguous(ctx, value, "reshape", dims)
    linear = b.ravel([a.var for a in axes], dims)
    if value.ndim > 1 and isinstance(value.body, Load) and (start := line_in_memory(ctx, value)) is not None:
        place = b.add(start, linear)
        return Array(axes, Load(value.body.buffer, (place,), value.dtype), view=value.view, readonly=value.readonly)
    places = b.unravel(linear, value.dims)
    if not value.view and not isinstance(value.body, (Const, Var)) and _divides(value, axes, places):
        value = ctx.define(replace(value, identity=""), "reshaped")  # copied as it is: a division takes longer
    return value.seen(axes, places)


def _divides(value: Array, axes: tuple[Axis, ...], places: tuple[Expr, ...]) -> bool:
    """Whether elements at `places` would be computed at quotients, also where those that are known are none: those of
    one axis count where elements are looked up by others, which no nest of loops makes any easier."""
    if not any(_has_quotient(p) for p in places):
        return False
    made = simplified(n.Define("reshaped", axes, Load("source", places, "bool")), ())
    assert isinstance(made, n.Define) and isinstance(made.value, Load)
    if any(map(divides, made.value.index)):
        return True
    gathers = any(isinstance(x, Load) and any(map(buffers_read, x.index)) for x in walk_expr(value.body))
    return gathers and any(map(_has_quotient, made.value.index))


def _has_quotient(e: Expr) -> bool:
    return any(is_division(x) and not isinstance(x.args[1], Const) for x in walk_expr(e))


def _in_sizes(ctx: Context, size: Expr) -> Expr:
    """A size, by the names of the sizes of arrays that it is made of."""
    made = b.map_expr(ctx.facts.unnamed(size), ctx.facts.extents.get)
    factors = b.factors(made)
    values = [value for value, name in ctx.facts.extents.items() if name in factors]
    if made == size or not values or not all(ctx.facts.assume_at_least(value, 0) for value in values):
        return size
    return made


def _cancel(ctx: Context, total: Expr, known: Expr) -> Expr | None:
    """``total / known`` where it divides without remainder as an expression, unless `known` is 0 at run time."""
    if known == b.ONE:
        return total
    if b.constant(known) == 0:
        return None
    quotient = b.floordiv(total, known)
    if b.mul(quotient, known) == total:
        return quotient
    sizes = set(b.factors(total))
    for factor in b.factors(known):
        size = b.maximum(factor, b.ZERO)
        if size != factor and size in sizes:
            if not ctx.facts.assume_at_least(factor, 0):
                text = "a shape of negative sizes is not compiled"
                ctx.guard(b.compare("greater_equal", factor, b.ZERO), "RuntimeError", text)
            known = b.map_expr(known, {factor: size}.get)
    return b.quotient(total, known)


def _wanted_text(dims: Sequence[Expr], unknown: Sequence[int]) -> str:
    """The shape that `reshape` was asked for, in NumPy's error; one that is to be found is left out if it is first."""
    inner = ",".join("newaxis" if p in unknown else "{}" for p, _ in enumerate(dims) if p or p not in unknown)
    return f"({inner},)" if len(dims) == 1 else f"({inner})"


def raveled(ctx: Context, value: Array) -> Array:
    """``np.ravel``: a copy of all that is not contiguous, also where strides could say it."""
    if value.mask is not None:
        return reshape(ctx, value, [Static(-1)])
    if value.view and (not is_contiguous(ctx, value) or lies_elsewhere(ctx, value.base)):
        value = contiguous(ctx, value, "ravel")
    return reshape(ctx, value, [Static(-1)])


def flat(ctx: Context, value: Array) -> Array:
    """``value.flat``: the elements themselves in C order, however they lie in memory."""
    value = ctx.kept(value)
    if not value.view or is_contiguous(ctx, value):
        return reshape(ctx, value, [Static(-1)])
    axes = ctx.names.axes([b.product(value.dims)])
    return Array(axes, value.at(b.unravel(axes[0].var, value.dims)), view=True, readonly=value.readonly)


def _same_without_ones(value: Array, dims: tuple[Expr, ...]) -> list[int | None] | None:
    """For each axis of `value` the axis of `dims` that it is, where the shapes differ by dims of 1 only."""
    mine = [d for d in value.dims if b.constant(d) != 1]
    positions = [p for p, d in enumerate(dims) if b.constant(d) != 1]
    if mine != [dims[p] for p in positions]:
        return None
    rest = iter(positions)
    return [None if b.constant(d) == 1 else next(rest) for d in value.dims]


def concatenate(ctx: Context, parts: Sequence[Value], axis: int | None) -> Value:
    values: list[Array] = []
    for p in parts:
        values.append(as_array(ctx, p))
    if not values:
        ctx.guard(b.FALSE, "ValueError", "need at least one array to concatenate")
    dtype = result_type(ctx, values)
    if axis is None:  # numbers of Python's have no type of their own there
        dtype = result_type(ctx, [p if is_python_number(p) else v for p, v in zip(parts, values, strict=True)])
        values = [reshape(ctx, v, [Static(-1)]) for v in values]
        axis = 0
    if values[0].ndim == 0:
        ctx.guard(b.FALSE, "ValueError", "zero-dimensional arrays cannot be concatenated")
    ndim = values[0].ndim
    axis = normal_axis(ctx, axis, ndim)
    if any(v.ndim != ndim for v in values):
        other = next(k for k, v in enumerate(values) if v.ndim != ndim)
        ctx.guard(
            b.FALSE, "ValueError",
            f"all the input arrays must have same number of dimensions, but the array at index 0 has {ndim} "
            f"dimension(s) and the array at index {other} has {values[other].ndim} dimension(s)",
        )  # fmt: skip
    values = [convert(v, dtype) if v.dtype != dtype else v for v in values]
    if any(v.mask is not None for v in values):
        if ndim == 1:
            return Concatenation(tuple(values), dtype)
        values = [ctx.kept(v) for v in values]
    for position, v in enumerate(values[1:], 1):
        for d in range(ndim):
            if d != axis:
                ctx.guard(
                    b.compare("equal", v.dims[d], values[0].dims[d]), "ValueError",
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {d}, the array at index 0 has size {{}} and the array at index {position} has size "
                    "{}",
                    (values[0].dims[d], v.dims[d]),
                )  # fmt: skip
    total: Expr = b.ZERO
    starts: list[Expr] = []
    for v in values:
        starts.append(total)
        total = b.add(total, v.dims[axis])
    dims = list(values[0].dims)
    dims[axis] = total
    axes = ctx.names.axes(dims)
    index = [a.var for a in axes]

    def element(k: int) -> Expr:
        at: list[Expr] = list(index)
        at[axis] = b.sub(index[axis], starts[k])
        return values[k].at(tuple(at))

    body = element(len(values) - 1)
    for k in range(len(values) - 2, -1, -1):
        body = b.where(b.compare("less", index[axis], starts[k + 1]), element(k), body)
    return Array(axes, body)


def stack(
    ctx: Context, parts: Sequence[Value], axis: int, message: str = "all input arrays must have the same shape"
) -> Value:
    values = [as_array(ctx, p) for p in parts]
    if not values:
        ctx.guard(b.FALSE, "ValueError", "need at least one array to stack")
    owner = next((v for v in values if v.mask is not None), None)
    if owner is not None and not (all(v.mask for v in values) and masks_agree(values, owner.ndim, owner)):
        values = [ctx.kept(v) for v in values]  # their counts are compared, not what they were filtered of
    for v in values[1:]:
        same: Expr = b.FALSE if v.ndim != values[0].ndim else b.TRUE
        if v.ndim == values[0].ndim:
            for x, y in zip(v.domain, values[0].domain, strict=True):
                same = b.both(same, b.compare("equal", x, y))
        ctx.guard(same, "ValueError", message)
    axis = normal_axis(ctx, axis, values[0].ndim + 1)
    return concatenate(ctx, [expand(ctx, v, axis) for v in values], axis)


def expand(ctx: Context, value: Array, axis: int) -> Array:
    """``np.expand_dims`` at a normalised axis."""
    if value.mask is not None and axis == 0:
        value = ctx.compact(value, "kept")
    new = ctx.names.axis("o", b.ONE)
    return replace(value, axes=(*value.axes[:axis], new, *value.axes[axis:]), identity="")


def expand_many(ctx: Context, value: Array, axes: Sequence[int]) -> Array:
    """``np.expand_dims`` at several axes, counted in the result."""
    ndim = value.ndim + len(axes)
    where = sorted(normal_axis(ctx, a, ndim) for a in axes)
    if len(set(where)) != len(where):
        ctx.guard(b.FALSE, "ValueError", "repeated axis")
    for axis in where:
        value = expand(ctx, value, axis)
    return value


def squeeze(ctx: Context, value: Array, axis: Sequence[int] | None) -> Array:
    if axis is None:
        value = ctx.kept(value)
        drop = {d for d in range(value.ndim) if b.constant(value.dims[d]) == 1}
        if any(may_stretch(ctx, value.dims[d]) for d in range(value.ndim) if d not in drop):
            problem = "`squeeze` of a length that data decides"
            ctx.fail(refusals.RUN_TIME_LENGTH, problem, "say which axis: squeeze(axis=…)")
    else:
        drop = {normal_axis(ctx, a, value.ndim) for a in axis}
        value = ctx.kept(value) if 0 in drop else value
        for d in drop:
            ctx.guard(
                b.compare("equal", value.domain[d], b.ONE), "ValueError",
                "cannot select an axis to squeeze out which has size not equal to one",
            )  # fmt: skip
    keep = tuple(a for d, a in enumerate(value.axes) if d not in drop)
    at = tuple(b.ZERO if d in drop else a.var for d, a in enumerate(value.axes))
    return replace(value, axes=keep, body=value.candidate(at), identity="")


def split(ctx: Context, value: Array, parts: Value, axis: int, exact: bool) -> Seq:
    """``np.split`` (exact) and ``np.array_split``: views."""
    value = ctx.kept(value)
    axis = normal_axis(ctx, axis, value.ndim)
    extent = value.dims[axis]
    bounds: list[Value]
    if isinstance(parts, Seq):
        inner = list(parts.items)
        bounds = [Static(0), *inner, Scalar(extent, True)]
    else:
        count = constant_int(ctx, parts, "the number of parts")
        if exact and not count:
            ctx.guard(b.FALSE, "ZeroDivisionError", "integer modulo by zero")
        if exact:
            ctx.guard(
                b.compare("equal", b.mod(extent, b.index(count)), b.ZERO), "ValueError",
                "array split does not result in an equal division",
            )  # fmt: skip
        if count <= 0:
            ctx.guard(b.FALSE, "ValueError", "number sections must be larger than 0.")
        ctx.session.step(count)
        each, extra = b.floordiv(extent, b.index(count)), b.mod(extent, b.index(count))
        if exact:
            return Seq(tuple(_part(ctx, value, axis, b.mul(each, b.index(k)), each) for k in range(count)), "list")
        ends: list[Value] = [Static(0)]
        total: Expr = b.ZERO
        for k in range(count):
            length = b.add(each, b.where(b.compare("greater", extra, b.index(k)), b.ONE, b.ZERO))
            total = b.add(total, length)
            ends.append(Scalar(total, True))
        bounds = ends
    whole = Slice(None, None, None)
    pieces = []
    for low, high in itertools.pairwise(bounds):
        item = Slice(low, high, None)
        pieces.append(array_item(ctx, value, [*[whole] * axis, item]))
    return Seq(tuple(pieces), "list")


def _part(ctx: Context, value: Array, axis: int, start: Expr, length: Expr) -> Array:
    axes = ctx.names.axes(tuple(length if d == axis else extent for d, extent in enumerate(value.dims)))
    at = tuple(b.add(start, a.var) if d == axis else a.var for d, a in enumerate(axes))
    return value.seen(axes, at)


def repeat(ctx: Context, value: Array, times: Expr, axis: int) -> Array:
    value = ctx.kept(value)
    dims = list(value.dims)
    check_size(ctx, (*dims, times), value.dtype)
    dims[axis] = b.mul(dims[axis], times)
    axes = ctx.names.axes(dims)
    at = tuple(b.floordiv(a.var, times) if d == axis else a.var for d, a in enumerate(axes))
    return Array(axes, value.at(at))


def repeat_counts(ctx: Context, value: Array, counts: Array, axis: int) -> Array:
    """``np.repeat`` with a count for each element: found by where the running sum of the counts stands."""
    value, counts = ctx.kept(value), ctx.kept(counts)
    (number,), size = counts.dims, value.dims[axis]
    fits = b.compare("equal", number, size)
    if b.constant(number) == 1 or may_stretch(ctx, number):
        fits = b.either(b.compare("equal", number, b.ONE), fits)
    message = "operands could not be broadcast together with shape ({},) ({},)"
    ctx.guard(fits, "ValueError", message, (size, number))
    if number != size:
        along = ctx.names.axes((size,))
        counts = Array(along, counts.at(stretched(ctx, (number,), along)))
    order = [axis, *[d for d in range(value.ndim) if d != axis]]
    # by one after the other, or by all at once
    way = "repeated_in_turn" if ctx.session.steps_take_views else "repeated"
    made = as_array(ctx, compose(ctx, "folding", way, [transpose(ctx, value, order), counts], {}))
    return transpose(ctx, made, [order.index(d) for d in range(value.ndim)])


def tile(ctx: Context, value: Array, times: Sequence[Expr]) -> Array:
    value = ctx.kept(value)
    while value.ndim < len(times):
        value = expand(ctx, value, 0)
    for t in times:
        ctx.guard(b.compare("greater_equal", t, b.ZERO), "ValueError", "negative dimensions are not allowed")
    times = [*[b.ONE] * (value.ndim - len(times)), *(ctx.extent(t) for t in times)]
    check_size(ctx, (*value.dims, *times), value.dtype)
    axes = ctx.names.axes(tuple(ctx.short(b.mul(d, t)) for d, t in zip(value.dims, times, strict=True)))
    at = tuple(b.mod(a.var, d) if t != b.ONE else a.var for a, d, t in zip(axes, value.dims, times, strict=True))
    return Array(axes, value.at(at))


def flip(ctx: Context, value: Array, which: Sequence[int]) -> Array:
    value = ctx.kept(value)
    axes = ctx.names.axes(value.dims)
    at = tuple(b.sub(b.sub(a.extent, b.ONE), a.var) if d in which else a.var for d, a in enumerate(axes))
    return value.seen(axes, at)


def roll(ctx: Context, value: Array, shift: Value, axis: int | None) -> Array:
    value = ctx.kept(value)
    shift = ctx.deref(shift)
    if as_array(ctx, shift).ndim:
        ctx.fail(refusals.OPTION, "`np.roll` by several numbers along one axis", "add them up")
    if not as_array(ctx, shift).dtype.startswith(("int", "uint", "bool")):
        ctx.fail(refusals.NEEDED, "`np.roll` by what is no integer", "convert it with int(…)")
    if axis is None:
        flat = roll(ctx, reshape(ctx, value, [Static(-1)]), shift, 0)
        return reshape(ctx, flat, [Scalar(d, True) for d in value.dims])
    by = integer_expr(ctx, shift)
    axes = ctx.names.axes(value.dims)
    at = tuple(b.mod(b.sub(a.var, by), a.extent) if d == axis else a.var for d, a in enumerate(axes))
    return Array(axes, value.at(at))


def broadcast_arrays_to(ctx: Context, value: Array, dims: tuple[Expr, ...]) -> Array:
    """``np.broadcast_to``."""
    value = ctx.kept(value)
    shapes = [shape_text(s) for s in (value.dims, dims)]
    message = (
        f"operands could not be broadcast together with remapped shapes [original->remapped]: {shapes[0]}  and "
        f"requested shape {shapes[1]}"
    )
    for d in dims:
        if not ctx.facts.not_negative(d):
            less = b.compare("greater_equal", d, b.ZERO)
            ctx.guard(less, "ValueError", "all elements of broadcast shape must be non-negative")
    if value.ndim > len(dims):
        text = "input operand has more dimensions than allowed by the axis remapping"
        ctx.guard(b.FALSE, "ValueError", text if dims else "cannot broadcast a non-scalar to a scalar array")
    for own, wanted in zip(value.dims[::-1], dims[::-1], strict=False):
        if b.constant(own) != 1:
            fits = b.either(b.compare("equal", own, wanted), b.compare("equal", own, b.ONE))
            ctx.guard(fits, "ValueError", message, (*value.dims, *dims))
    if not value.view:
        value = ctx.define(value, "stretched")  # of which NumPy, too, shows a view
    axes, body = broadcast_to(ctx, value, dims)
    return Array(axes, body, view=True, readonly=True)

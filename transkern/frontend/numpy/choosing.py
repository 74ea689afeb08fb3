"""Elements chosen by positions and conditions: take, put, choose, select, piecewise, copyto, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import align, apply, convert
from transkern.frontend.numpy.products import diagonal
from transkern.frontend.numpy.shaping import expand, on_axis, reshape
from transkern.frontend.numpy.sizes import dims_of
from transkern.frontend.subscripts.arrays import array_item, names_elements, nonzero_positions, positions
from transkern.frontend.subscripts.storable import converted, storable
from transkern.frontend.subscripts.storing import where_some, write, write_in_turn
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.translate.attributes import static_or
from transkern.frontend.values.broadcasting import broadcast_dims, broadcast_to, masks_agree
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import nonzero, scalar_expr, select
from transkern.frontend.values.strides import is_contiguous, note_model
from transkern.frontend.values.values import Array, Concatenation, Function, Known, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr, Reduce


def taken(ctx: Context, x: Array, indices: Value, axis: Value | None, mode: str) -> Value:
    """``np.take``: a copy, also of a single position."""
    x, which = on_axis(ctx, x, axis)
    x, at = ctx.kept(x), _positions(ctx, indices, "same_kind")
    if at.mask is not None and not (mode == "raise" and names_elements(ctx, at, x.dims[which])):
        at = ctx.kept(at)
    if at.mask is None:
        size = b.product((*at.dims, *(d for k, d in enumerate(x.dims) if k != which)))
        ctx.guard(
            b.either(b.compare("not_equal", x.dims[which], b.ZERO), b.compare("equal", size, b.ZERO)),
            "IndexError", "cannot do a non-empty take from an empty axes.",
        )  # fmt: skip
    if mode != "raise":
        at = replace(at, body=b.cast(_brought_in(b.as_index(at.body), x.dims[which], mode), "int64"), view=False)
    made = array_item(ctx, x, [*[Slice(None, None, None)] * which, at])
    return replace(made, view=False, identity="") if isinstance(made, Array) else made


def _positions(ctx: Context, value: Value, casting: Literal["safe", "same_kind"]) -> Array:
    """Positions, among them truths; an array's type must go over into integers by NumPy's rule, a list's need not."""
    at = positions(ctx, value)
    is_array = isinstance(ctx.deref(value), Array | Concatenation) or at.dtype.startswith("complex")
    if is_array:
        outputs.check_rule(ctx, at, "int64", casting)
    return at if at.dtype == "index" or at.dtype.startswith(("int", "uint")) else convert(at, "int64")


def _brought_in(at: Expr, extent: Expr, mode: str) -> Expr:
    if mode == "wrap":
        return b.mod(at, extent)
    return b.minimum(b.maximum(at, b.ZERO), b.sub(extent, b.ONE))


def _own(ctx: Context, a: Arguments, name: str) -> Array:
    """An argument that is stored to."""
    value = a.need(name)
    if not isinstance(value, Array) or not value.view:
        problem = f"`{a.name}` into something that is no array with memory of its own"
        ctx.fail(refusals.OUT, problem, "give it a name first, as an array: y = np.array(…)")
    return value


def _line(ctx: Context, value: Value, dtype: str) -> Array:
    """Values one after the other, as an array of type `dtype` takes them."""
    return reshape(ctx, ctx.kept(converted(ctx, value, dtype)), [Static(-1)])


def _repeated(line: Array, at: Expr) -> Expr:
    """Element `at` of values that begin anew when they end."""
    return line.at((b.ZERO if b.constant(line.dims[0]) == 1 else b.mod(at, line.dims[0]),))


@handles("numpy.put", names="a ind v mode")
def _put(ctx: Context, a: Arguments) -> Value:
    target = reshape(ctx, _own(ctx, a, "a"), [Static(-1)])
    if not target.view:
        ctx.fail(refusals.OUT, "`np.put` into an array that is not contiguous", "store with a subscript")
    outputs.check_readonly(ctx, target, "put: output array")
    at = ctx.kept(reshape(ctx, _positions(ctx, a.need("ind"), "safe"), [Static(-1)]))
    some = b.compare("greater", target.dims[0], b.ZERO)
    ctx.guard(
        b.either(b.compare("equal", at.dims[0], b.ZERO), some), "IndexError",
        "cannot replace elements of an empty array",
    )
    mode = a.text("mode", "raise")
    if mode != "raise":
        at = replace(at, body=b.cast(_brought_in(b.as_index(at.body), target.dims[0], mode), "int64"), view=False)
    values = _line(ctx, a.need("v"), target.dtype)
    with where_some(ctx, values.dims[0]):
        if is_contiguous(ctx, target):
            as_many = values.dims == at.dims
            write_in_turn(ctx, target, at, lambda k: values.at((k,)) if as_many else _repeated(values, k))
        else:  # NumPy stores into a copy, which it gives back where all went well
            (axis,) = ctx.names.axes((at.dims[0],))
            write(ctx, target, [at], Array((axis,), _repeated(values, axis.var)))
    return Static(None)


@handles("numpy.putmask", names="a mask values")
def _putmask(ctx: Context, a: Arguments) -> Value:
    target, mask = _own(ctx, a, "a"), a.kept("mask")
    size, wanted = b.product(mask.dims), b.product(target.dims)
    ctx.guard(b.compare("equal", size, wanted), "ValueError", "putmask: mask and data must be the same size")
    outputs.check_readonly(ctx, target, "putmask: output array")
    if mask.dims != target.dims:
        mask = reshape(ctx, mask, [Scalar(d, True) for d in target.dims])
    given = ctx.deref(a.need("values"))
    _check_safe(ctx, given, target.dtype)
    axes = ctx.names.axes(target.dims)
    linear = b.ravel([x.var for x in axes], target.dims)
    values = _line(ctx, given, target.dtype)
    with where_some(ctx, values.dims[0]):
        _store_where(ctx, target, mask, Array(axes, _repeated(values, linear)))
    return Static(None)


def _check_safe(ctx: Context, given: Value, dtype: str) -> None:
    """NumPy's error for arrays that have no place in others of a type; numbers and lists are cast."""
    if isinstance(given, Array):
        outputs.check_rule(ctx, given, dtype, "safe")


def _store_where(ctx: Context, target: Array, mask: Array, new: Value) -> None:
    axes, value = broadcast_to(ctx, ctx.kept(as_array(ctx, new)), target.dims)
    places, holds = broadcast_to(ctx, ctx.kept(mask), target.dims, _MASK, leading=False)
    holds = b.substitute(holds, {p.name: a.var for p, a in zip(places, axes, strict=True)})
    old = target.at(tuple(a.var for a in axes))
    write(ctx, target, [Static(Ellipsis)], Array(axes, b.where(nonzero(holds), b.cast(value, target.dtype), old)))


_MASK = "could not broadcast where mask from shape {from} into shape {into}"


@handles("numpy.copyto", names="dst src casting where")
def _copyto(ctx: Context, a: Arguments) -> Value:
    target, source, where = _own(ctx, a, "dst"), ctx.deref(a.need("src")), a.get("where")
    given = as_array(ctx, source)
    outputs.check_readonly(ctx, target, "assignment destination")
    number = is_python_number(source)
    if not (number and given.dtype == "int64" and np.dtype(target.dtype).kind in "iu"):  # whose value is looked at
        outputs.check_rule(ctx, given, target.dtype, a.text("casting", "same_kind"))  # type: ignore[arg-type]
    if given.ndim == 0 and not number:
        source = given  # cast as arrays are
    elif number:
        storable(ctx, source, scalar_expr(ctx, source), target.dtype, True)
    if where is None or (isinstance(where, Static) and where.value is True):
        write(ctx, target, [Static(Ellipsis)], source)
    else:
        _store_where(ctx, target, as_array(ctx, where), source)
    return Static(None)


@handles("numpy.place", names="arr mask vals")
def _place(ctx: Context, a: Arguments) -> Value:
    target, mask = _own(ctx, a, "arr"), a.kept("mask")
    outputs.check_readonly(ctx, target, "WRITEBACKIFCOPY base")
    _check_safe(ctx, ctx.deref(a.need("vals")), target.dtype)
    values = ctx.kept(converted(ctx, a.need("vals"), target.dtype))
    same = b.compare("equal", b.product(mask.dims), b.product(target.dims))
    ctx.guard(same, "ValueError", "place: mask and data must be the same size")
    if values.ndim == 0 or b.constant(b.product(values.dims)) == 1:
        at = tuple(b.ZERO for _ in values.axes)
        write(ctx, target, [_bool(mask)], Array((), values.at(at)))
        return Static(None)
    ctx.fail(refusals.OPTION, "`np.place` of several values", "store through the mask: a[mask] = values")


def _bool(value: Array) -> Array:
    return replace(value, body=nonzero(value.body), view=False, identity="")


@handles("numpy.extract", names="condition arr")
def _extract(ctx: Context, a: Arguments) -> Value:
    mask = _bool(reshape(ctx, a.kept("condition"), [Static(-1)]))
    line = reshape(ctx, a.kept("arr"), [Static(-1)])
    if mask.dims == line.dims:
        return compressed(ctx, line, mask, None)
    return as_array(ctx, taken(ctx, line, nonzero_positions(ctx, mask)[0], Static(0), "raise"))


def compressed(ctx: Context, x: Array, condition: Value, axis: Value | None) -> Value:
    """``np.compress``; the condition may be shorter than the axis."""
    mask = _bool(ctx.kept(as_array(ctx, condition)))
    if mask.ndim != 1:
        ctx.guard(b.FALSE, "ValueError", "condition must be a 1-d array")
    x, which = on_axis(ctx, x, axis)
    own, there = b.constant(mask.dims[0]), b.constant(x.dims[which])
    if mask.dims[0] != x.dims[which] and (own is None or there is None or own > there):
        return as_array(ctx, taken(ctx, x, nonzero_positions(ctx, mask)[0], Static(which), "raise"))
    if own is not None:  # positions known but for which of them count
        at = [Slice(None, Static(own), None)]
        x = as_array(ctx, array_item(ctx, x, [*[Slice(None, None, None)] * which, *at]))
    return array_item(ctx, x, [*[Slice(None, None, None)] * which, mask])


@handles("numpy.choose", names="a choices out mode")
def _choose(ctx: Context, a: Arguments) -> Value:
    at, choices = ctx.kept(a.array("a")), a.need("choices")
    outputs.check_rule(ctx, at, "int64", "safe")  # a list's type, too
    if not isinstance(choices, Seq):
        given = ctx.kept(as_array(ctx, choices))
        length = b.constant(given.dims[0]) if given.ndim else None
        if length is None:
            problem = "`np.choose` from an array whose length is known at run time only"
            ctx.fail(refusals.RUN_TIME_LENGTH, problem, "use np.take_along_axis")
        choices = Seq(tuple(array_item(ctx, given, [Static(k)]) for k in range(length)))
    dtype = result_type(ctx, [c if is_python_number(c) else as_array(ctx, c) for c in choices.items])
    count = b.index(len(choices.items))
    mode = a.text("mode", "raise")
    position = b.as_index(at.body)
    arrays = [*(as_array(ctx, c) for c in choices.items), at]
    if all(v.mask is None for v in arrays):
        dims = broadcast_dims(ctx, [v.dims for v in arrays], "objects")  # goes first
        outputs.check_shape(ctx, a.get("out"), dims, "choose: invalid shape for output array.", "TypeError")
    elif a.get("out") is not None:
        ctx.fail(refusals.OUT, "`np.choose` of what a mask chooses with `out=`", "store into it: out[:] = np.choose(…)")
    if mode == "raise":
        inside = b.both(b.compare("greater_equal", position, b.ZERO), b.compare("less", position, count))
        holds = b.logical_not(Reduce("any", at.axes, b.logical_not(inside), "bool")) if at.axes else inside
        ctx.guard(holds, "ValueError", "invalid entry in choice array")
    else:
        at = replace(at, body=b.cast(_brought_in(position, count, mode), "int64"), view=False)
    elements, axes, mask, _ = align(ctx, [*choices.items, at], "objects")
    body = select(b.as_index(elements[-1]), [b.cast(e, dtype) for e in elements[:-1]])
    return a.result(Array(axes, body, mask) if axes else Scalar(body))


@handles("numpy.select", names="condlist choicelist default")
def _select(ctx: Context, a: Arguments) -> Value:
    conditions, choices = a.need("condlist"), a.need("choicelist")
    if not isinstance(conditions, Seq) or not isinstance(choices, Seq):
        ctx.fail(refusals.NEEDED, "`np.select` of something that is no list", "give lists of conditions and of values")
    if len(conditions.items) != len(choices.items):
        ctx.guard(b.FALSE, "ValueError", "list of cases must be same length as list of conditions")
    if not conditions.items:
        ctx.guard(b.FALSE, "ValueError", "select with an empty condition list is not possible")
    for k, condition in enumerate(conditions.items):
        if as_array(ctx, condition).dtype != "bool":
            ctx.guard(b.FALSE, "TypeError", f"invalid entry {k} in condlist: should be boolean ndarray")
    values = [*choices.items, a.get("default") or Static(0)]
    values = [v if isinstance(v, (Scalar, Array)) or is_number(v) else as_array(ctx, v) for v in values]
    dtype = result_type(ctx, values)
    cases = [as_array(ctx, c) for c in conditions.items]
    arrays = [v for v in (*cases, *values) if isinstance(v, Array)]
    owner = next((v for v in arrays if v.mask is not None), None)
    if owner is None or not masks_agree(arrays, max(v.ndim for v in arrays), owner):  # NumPy's order of checks
        cases = [ctx.kept(c) for c in cases]
        values = [ctx.kept(v) if isinstance(v, Array) else v for v in values]
        shape_of_cases = broadcast_dims(ctx, [c.dims for c in cases], "objects")
        shape = broadcast_dims(ctx, [v.dims if isinstance(v, Array) else () for v in values], "objects")
        broadcast_dims(ctx, [shape_of_cases, shape], "objects")
    elements, axes, mask, _ = align(ctx, [*cases, *values])
    count = len(conditions.items)
    body = b.cast(elements[-1], dtype)
    for k in range(count - 1, -1, -1):
        body = b.where(elements[k], b.cast(elements[count + k], dtype), body)
    return Array(axes, body, mask)


@handles("numpy.piecewise", names="x condlist funclist")
def _piecewise(ctx: Context, a: Arguments) -> Value:
    x = ctx.kept(a.array("x"))
    given, functions = a.need("condlist"), a.need("funclist")
    if not isinstance(functions, Seq):
        problem = "`np.piecewise` with something that is no list of functions"
        ctx.fail(refusals.NEEDED, problem, "give a list of functions, or of numbers, one for each condition")
    conditions: Sequence[Value] = given.items if isinstance(given, Seq) else (given,)
    if isinstance(given, Seq) and conditions and x.ndim and is_number(conditions[0]):
        conditions = (given,)
    if len(functions.items) not in (len(conditions), len(conditions) + 1):
        count = len(conditions)
        ctx.guard(
            b.FALSE, "ValueError", f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    masks = [_bool(ctx.kept(as_array(ctx, c))) for c in conditions]
    if len(functions.items) > len(masks):
        some: Value = masks[0]
        for mask in masks[1:]:
            some = apply(ctx, "logical_or", [some, mask])
        masks.append(as_array(ctx, apply(ctx, "logical_not", [some])))
    note_model(ctx, x)
    made = ctx.define(Array(ctx.names.axes(x.dims), b.cast(b.ZERO, x.dtype)), "pieces")
    for mask, function in zip(masks, functions.items, strict=True):
        held = ctx.define(mask, "where") if not isinstance(function, Static) else mask
        if isinstance(function, Function):
            assert ctx.scopes.inline is not None
            piece = ctx.scopes.inline(function, [array_item(ctx, x, [held])], {})
        elif isinstance(function, Known):
            assert ctx.scopes.call is not None
            piece = ctx.scopes.call(function.path, [array_item(ctx, x, [held])], {})
        else:
            piece = function
        write(ctx, made, [held], piece)
    return made


@handles("numpy.fill_diagonal", names="a val wrap")
def _fill_diagonal(ctx: Context, a: Arguments) -> Value:
    target = _own(ctx, a, "a")
    if target.ndim < 2:
        ctx.guard(b.FALSE, "ValueError", "array must be at least 2-d")
    if target.ndim > 2 or a.flag("wrap"):
        problem = "`np.fill_diagonal` of more than two dimensions, or with wrap="
        ctx.fail(refusals.OPTION, problem, "store the elements in a loop")
    outputs.check_readonly(ctx, target, "underlying array")
    line = replace(diagonal(ctx, target, Static(0), 0, 1), readonly=target.readonly)
    (axis,) = ctx.names.axes(line.dims)
    values = _line(ctx, a.need("val"), line.dtype)
    with where_some(ctx, values.dims[0]):
        write(ctx, line, [Static(Ellipsis)], Array((axis,), _repeated(values, axis.var)))
    return Static(None)


@handles("numpy.broadcast_shapes", names="a b c d")
def _broadcast_shapes(ctx: Context, a: Arguments) -> Value:
    shapes = [dims_of(ctx, v) for v in a.given.values()]
    return Seq(tuple(static_or(d) for d in broadcast_dims(ctx, shapes, "objects")))


def at_least(ctx: Context, value: Value, ndim: int) -> Array:
    """``np.atleast_1d``, …: where the new axes stand is NumPy's choice."""
    array = as_array(ctx, value)
    array = ctx.compact(array, "kept") if array.mask is not None and ndim > 1 else array
    if array.ndim == 0:
        return array.seen(ctx.names.axes((b.ONE,) * ndim), ())
    if array.ndim == 1 and ndim >= 2:
        array = expand(ctx, array, 0)
    if array.ndim == 2 and ndim == 3:
        array = expand(ctx, array, 2)
    return array

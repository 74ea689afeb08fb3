"""What the functions of `primitives` become."""

from __future__ import annotations

import numpy as np

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import align, convert
from transkern.frontend.numpy.library_calls import step, stored
from transkern.frontend.numpy.linear import places_in
from transkern.frontend.numpy.reductions import axes_of
from transkern.frontend.numpy.shaping import as_line, concatenate, expand_many, reshape, transpose
from transkern.frontend.numpy.sizes import constant_axis, constant_int, normal_axis
from transkern.frontend.python.truth import truth
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.arrays import array_item, nonzero_positions
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.broadcasting import broadcast_dims, broadcast_to, shape_text
from transkern.frontend.values.numbers import type_name
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Reduce, Var

_HERE = "transkern.frontend.compositions.primitives."


def _none(value: Value | None) -> Value | None:
    return None if isinstance(value, Static) and value.value is None else value


@handles(f"{_HERE}along", names="a axis start stop")
def _along(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    axis = normal_axis(ctx, constant_axis(ctx, a.need("axis")), value.ndim)
    whole = Slice(None, None, None)
    return array_item(ctx, value, [*[whole] * axis, Slice(a.get("start"), a.get("stop"), None)])


@handles(f"{_HERE}places_below", names="a b")
def _places_below(ctx: Context, a: Arguments) -> Value:
    both = [a.array("a"), a.array("b")]
    if not all(x.ndim == 1 and x.dtype == "int64" for x in both):
        return Static(None)
    ranges = [ctx.facts.array_range(x) for x in both]
    (longest,) = (bound_of(ctx, b.inhabited(x)) for x in both[0].dims)
    most = None if ranges[0] is None else ranges[0][1]
    for one in ranges:
        if one is None or b.constant(one[0]) != 0 or most is None or b.difference(one[1], most) != 0:
            return Static(None)
    if most is None or longest is None or b.difference(most, longest) not in (0, 1):  # one of it was left out
        return Static(None)
    return Scalar(most, True)


@handles(f"{_HERE}axes_of", names="axis ndim")
def _axes_of(ctx: Context, a: Arguments) -> Value:
    ndim = constant_int(ctx, a.need("ndim"), "a number of dimensions")
    return Seq(tuple(Static(d) for d in axes_of(ctx, a.get("axis"), ndim, ordered=False)))


@handles(f"{_HERE}axis_of", names="axis ndim prefix")
def _axis_of(ctx: Context, a: Arguments) -> Value:
    axis, prefix = a.need("axis"), a.text("prefix", "")
    known = isinstance(axis, Static) and isinstance(axis.value, (int, np.integer))
    if not known and not (isinstance(axis, Scalar) and axis.dtype.startswith(("int", "uint", "index"))):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(axis)}' object cannot be interpreted as an integer")
    ndim = constant_int(ctx, a.need("ndim"), "a number of dimensions")
    return Static(normal_axis(ctx, constant_axis(ctx, axis), ndim, f"{prefix}: " if prefix else ""))


@handles(f"{_HERE}chosen", names="condition a position otherwise")
def _chosen(ctx: Context, a: Arguments) -> Value:
    value = stored(ctx, a.array("a"), "values")
    lead = Array(value.axes[:-1], Const(0, "int64"))
    elements, axes, _, scalar = align(ctx, [a.need("condition"), a.need("position"), a.need("otherwise"), lead])
    condition, position, otherwise, _ = elements
    own = axes[len(axes) - lead.ndim :]
    element = value.at((*(x.var for x in own), b.as_index(position)))
    body = b.where(condition, element, b.cast(otherwise, value.dtype))
    return Scalar(body) if scalar else Array(axes, body)


@handles(f"{_HERE}reduced_last", names="a axis")
def _reduced_last(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    value = ctx.kept(value)
    axes = axes_of(ctx, a.get("axis"), value.ndim)
    if not value.ndim and a.get("axis") is not None:  # a number has no axis here
        normal_axis(ctx, constant_axis(ctx, a.need("axis")), 0)
    kept = [d for d in range(value.ndim) if d not in axes]
    turned = transpose(ctx, value, [*kept, *axes]) if kept or axes else value
    if len(axes) == 1:
        return turned
    dims = (*turned.dims[: len(kept)], b.product(turned.dims[len(kept) :]))
    return reshape(ctx, turned, [Scalar(d, True) for d in dims])


@handles(f"{_HERE}with_ones", names="result a axis keepdims")
def _with_ones(ctx: Context, a: Arguments) -> Value:
    if not a.flag("keepdims"):
        return a.need("result")
    axes = axes_of(ctx, a.get("axis"), a.array("a").ndim)
    return expand_many(ctx, a.array("result"), axes)


@handles(f"{_HERE}joined", names="parts axis")
def _joined(ctx: Context, a: Arguments) -> Value:
    parts = a.need("parts")
    assert isinstance(parts, Seq)
    arrays = [as_array(ctx, p) for p in parts.items if _none(p) is not None]
    model = next(v for v in arrays if v.ndim)
    axis = normal_axis(ctx, constant_axis(ctx, a.need("axis")), model.ndim)
    dims = tuple(b.ONE if d == axis else extent for d, extent in enumerate(model.dims))
    return concatenate(ctx, [Array(ctx.names.axes(dims), v.body) if v.ndim == 0 else v for v in arrays], axis)


@handles(f"{_HERE}known", names="size")
def _known(ctx: Context, a: Arguments) -> Value:
    value = a.need("size")
    if isinstance(value, Static):
        return value
    expr = scalar_expr(ctx, value)
    problem, help = "the length of an axis must be known here", "give it in the types"
    if isinstance(expr, Var):
        raise NeedsConstant(expr.name, ctx.error(refusals.NEEDS_CONSTANT, problem, help))
    ctx.must_be_known(Scalar(expr, True), problem, help)


@handles(f"{_HERE}spliced", names="a axis at values")
def _spliced(ctx: Context, a: Arguments) -> Value:
    value, new = a.array("a"), a.array("values")
    axis = normal_axis(ctx, constant_axis(ctx, a.need("axis")), value.ndim)
    at = integer_expr(ctx, a.need("at"))
    more = new.dims[axis]
    middle, body = broadcast_to(ctx, new, tuple(more if d == axis else extent for d, extent in enumerate(value.dims)))
    spread = Array(middle, body)
    axes = ctx.names.axes(tuple(b.add(e, more) if d == axis else e for d, e in enumerate(value.dims)))
    here = axes[axis].var

    def shifted(source: Array, by: Expr) -> Expr:
        return source.at(tuple(b.sub(x.var, by) if d == axis else x.var for d, x in enumerate(axes)))

    late = b.where(b.compare("less", here, b.add(at, more)), shifted(spread, at), shifted(value, more))
    return Array(axes, b.where(b.compare("less", here, at), shifted(value, b.ZERO), late))


@handles(f"{_HERE}line", names="values")
def _line(ctx: Context, a: Arguments) -> Value:
    return as_line(ctx, a.need("values"))


@handles(f"{_HERE}correlation", names="a v mode swapped")
def _correlation(ctx: Context, a: Arguments) -> Value:
    mode = a.text("mode", "full")
    if mode not in ("full", "same", "valid"):
        ctx.guard(b.FALSE, "ValueError", f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")
    x, v = as_line(ctx, a.array("a")), as_line(ctx, a.array("v"))
    dtype = result_type(ctx, [x, v])
    x, v = stored(ctx, convert(x, dtype), "signal"), stored(ctx, convert(v, dtype), "weights")
    size, m = x.dims[0], v.dims[0]
    swapped = a.flag("swapped")
    few = b.constant(m)
    is_longer = few is not None and b.constant(size) is None and ctx.facts.assume_at_least(size, few)
    match mode:
        case "full":
            start, length = b.sub(b.ONE, m), b.sub(b.add(size, m), b.ONE)
        case "same":
            longer = b.TRUE if is_longer else b.compare("greater_equal", size, m)
            half_m, half_n = b.floordiv(m, b.index(2)), b.floordiv(size, b.index(2))
            other = b.sub(b.sub(size, m), half_n) if swapped else b.sub(b.add(half_n, b.ONE), m)
            start, length = b.where(longer, b.neg(half_m), other), size if is_longer else b.maximum(size, m)
        case _:
            gap = b.sub(size, m)
            start = b.ZERO if is_longer else b.minimum(gap, b.ZERO)
            length = b.add(gap if is_longer else b.maximum(gap, b.neg(gap)), b.ONE)
    (axis,) = ctx.names.axes((length,))
    zero = b.cast(Const(0, "int64"), dtype) if dtype != "bool" else Const(False, "bool")

    def total(first: Expr, second: Expr, inner: Axis, inside: Expr) -> Expr:
        product = Apply("multiply", (x.at((first,)), v.at((second,))), dtype)
        of = b.where(inside, product, zero)
        return Reduce("any" if dtype == "bool" else "sum", (inner,), of, dtype, ctx.session.span)

    def within(at: Expr, extent: Expr) -> Expr:
        return b.both(b.compare("greater_equal", at, b.ZERO), b.compare("less", at, extent))

    by_weights, by_signal = ctx.names.axis("r", m), ctx.names.axis("r", size)
    first = b.add(b.add(axis.var, start), by_weights.var)
    inside = b.TRUE if is_longer and mode == "valid" else within(first, size)
    over_weights = total(first, by_weights.var, by_weights, inside)
    longer = b.compare("greater_equal", size, m)
    if is_longer or longer == b.TRUE:
        return ctx.define(Array((axis,), over_weights), "convolved")
    second = b.sub(by_signal.var, b.add(axis.var, start))
    over_signal = total(by_signal.var, second, by_signal, within(second, m))
    if longer == b.FALSE:
        return ctx.define(Array((axis,), over_signal), "convolved")
    made = ctx.buffer("convolved", dtype, (length,))
    ctx.emit(n.Alloc(made.name))
    ways = [(n.Write(made.name, (axis,), (axis.var,), one),) for one in (over_weights, over_signal)]
    ctx.emit(n.If(longer, *ways))  # the sums go over the shorter one
    return ctx.names.whole(made)


@handles(f"{_HERE}require", names="condition error message")
def _require(ctx: Context, a: Arguments) -> Value:
    holds = truth(ctx, a.need("condition"))
    condition = Const(bool(holds.value), "bool") if isinstance(holds, Static) else scalar_expr(ctx, holds)
    ctx.guard(condition, a.text("error", ""), a.text("message", ""))
    return Static(None)


@handles(f"{_HERE}refuse", names="problem help code")
def _refuse(ctx: Context, a: Arguments) -> Value:
    kind = refusals.KINDS[a.text("code", refusals.OPTION.code)]
    ctx.fail(kind, a.text("problem", ""), a.text("help", ""))


@handles(f"{_HERE}least_squares", names="a b rcond")
def _least_squares(ctx: Context, a: Arguments) -> Value:
    x, y = a.array("a"), a.array("b")
    rcond = Array((), b.cast(scalar_expr(ctx, a.need("rcond")), "float64"))
    dims = (x.dims[1], *y.dims[1:])
    return step(ctx, "least_squares", {"matrix": x, "right": y, "rcond": rcond}, {"solution": (x.dtype, dims)})[0]


@handles(f"{_HERE}positions", names="mask")
def _positions(ctx: Context, a: Arguments) -> Value:
    found = nonzero_positions(ctx, stored(ctx, a.array("mask"), "mask"))
    domain = found[0].axes[0]
    buffers = []
    for d, extent in enumerate(a.array("mask").dims):
        buffers.append(ctx.buffer(f"at{d}", "int64", (domain.extent,), low=b.ZERO, high=extent))
        ctx.emit(n.Alloc(buffers[-1].name))
    count = ctx.names.count(buffers[0].name, domain.extent)
    values = tuple(p.candidate((domain.var,)) for p in found)
    assert found[0].mask is not None
    ctx.emit(n.Filter(tuple(x.name for x in buffers), count.name, (domain,), found[0].mask, values))
    return Seq(tuple(ctx.names.whole(x, (count,)) for x in buffers))


@handles(f"{_HERE}element", names="a at")
def _element(ctx: Context, a: Arguments) -> Value:
    value, at = stored(ctx, a.array("a"), "values"), a.need("at")
    if isinstance(at, Array):
        return Array(at.axes, value.at((b.as_index(at.body),)))
    return Scalar(value.at((b.as_index(scalar_expr(ctx, at)),)))


@handles(f"{_HERE}places_in_memory", names="count size")
def _places_in_memory(ctx: Context, a: Arguments) -> Value:
    count, size = (b.as_index(scalar_expr(ctx, a.need(k))) for k in ("count", "size"))
    found = ctx.buffer("places", "int64", (count,), low=b.ZERO, high=b.add(size, b.ONE))
    ctx.emit(n.Alloc(found.name))
    return ctx.names.whole(found)


@handles(f"{_HERE}places", names="a v side order")
def _places(ctx: Context, a: Arguments) -> Value:
    return places_in(ctx, a.array("a"), a.need("v"), a.text("side", "left"), a.text("order", "known"))


@handles(f"{_HERE}fit_together", names="a b matrix")
def _fit_together(ctx: Context, a: Arguments) -> Value:
    x, y, of = a.array("a"), a.array("b"), constant_int(ctx, a.need("matrix"), "an operand's number")
    length = (y.dims[-1] if of else x.dims[-2],)
    batches = (x.dims[: of - 2], y.dims[: -1 - of])
    told = [f"{shape_text(v.dims)}->({'{},' * len(d)}newaxis)" for v, d in zip((x, y), batches, strict=True)]
    text = f"operands could not be broadcast together with remapped shapes [original->remapped]: {' '.join(told)}  "
    shown = (*x.dims, *batches[0], *y.dims, *batches[1], *length)
    if all(batches):
        with ctx.control.raising("ValueError", f"{text}and requested shape ({{}})", shown):
            broadcast_dims(ctx, batches)
    return Static(None)

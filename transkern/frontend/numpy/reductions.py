"""Reductions over axes: sum, mean, max, argmax, any, … with NumPy's dtypes and its errors on empty input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import align, apply, convert, loop_types, part
from transkern.frontend.numpy.shaping import reshape, transpose
from transkern.frontend.numpy.sizes import constant_axis, dtype_of, normal_axis
from transkern.frontend.python.whole import exact_expr
from transkern.frontend.subscripts.storable import storable
from transkern.frontend.translate.arguments import Arguments
from transkern.frontend.values.broadcasting import shape_text
from transkern.frontend.values.scalars import nonzero, scalar_expr
from transkern.frontend.values.strides import in_order_of
from transkern.frontend.values.values import Array, Known, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.complexes import float_of, is_complex
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce
from transkern.ir.extremes import highest, lowest
from transkern.ir.traverse import variables_read, walk_expr

_EMPTY = {
    "max": "zero-size array to reduction operation maximum which has no identity",
    "min": "zero-size array to reduction operation minimum which has no identity",
    "argmax": "attempt to get argmax of an empty sequence",
    "argmin": "attempt to get argmin of an empty sequence",
}


def axes_of(ctx: Context, axis: Value | None, ndim: int, ordered: bool = True, name: str = "") -> tuple[int, ...]:
    """An `axis=` argument as normalised axes, in order of the axes or as given; None is all of them."""
    match axis:
        case None | Static(None):
            return tuple(range(ndim))
        case Seq(items):
            axes = tuple(normal_axis(ctx, constant_axis(ctx, i), ndim, name) for i in items)
        case Static(tuple() | list() as items):
            axes = tuple(normal_axis(ctx, int(i), ndim, name) for i in items)  # type: ignore[arg-type]
        case _:
            if ndim == 0:  # NumPy takes the first and the last axis of a number
                if (at := constant_axis(ctx, axis)) not in (0, -1):
                    normal_axis(ctx, at, 0, name)
                return ()
            return (normal_axis(ctx, constant_axis(ctx, axis), ndim, name),)
    if len(set(axes)) != len(axes):
        ctx.guard(b.FALSE, "ValueError", "duplicate value in 'axis'")
    return tuple(sorted(axes)) if ordered else axes


def reduce(
    ctx: Context, op: str, value: Array, axis: Value | None, keepdims: bool, dtype: str | None = None,
    name: str | None = None, initial: Value | None = None, where: Value | None = None,
) -> Value:  # fmt: skip
    """`op` over axes; the result stands in a buffer (or a scalar), as it is read more than once. `where`: only over the
    elements where it holds; `initial` is combined with them."""
    if where is not None:
        if op in ("max", "min") and initial is None:
            ctx.guard(
                b.FALSE, "ValueError",
                f"reduction operation '{op}imum' does not have an identity, so to use a where mask one has to specify "
                "'initial'",
            )  # fmt: skip
        if op in ("max", "min") and is_complex(value.dtype):
            ctx.fail(refusals.OPTION, f"`{op}` of complex numbers with `where=`", "choose them first: x[where]")
        value = chosen(ctx, op, value, where)
    if isinstance(axis, Seq) and axis.kind == "list":
        ctx.guard(b.FALSE, "TypeError", "'list' object cannot be interpreted as an integer")
    axes = axes_of(ctx, axis, value.ndim)
    if value.mask is not None and axes != tuple(range(value.ndim)) and 0 not in axes:
        value = ctx.compact(value, "kept")
    if op in ("sum", "prod"):
        result = dtype or sum_dtype(value.dtype)
        if result == "float16":
            _check_rounding(ctx, value, axes)
        value = convert(value, result) if value.dtype != result else value
    elif op in ("any", "all"):
        result = "bool"
        value = replace(value, body=nonzero(value.body))
    elif op in ("argmax", "argmin"):
        result = "int64"
        if axis is None or (isinstance(axis, Static) and axis.value is None):
            if value.ndim > 1:
                value = reshape(ctx, value, [Static(-1)])
                axes = (0,)
    elif op == "count":
        result = "index"
    else:
        result = value.dtype
    if op in _EMPTY and initial is None:
        extents = [value.domain[a] for a in axes]
        size: Expr = b.product(tuple(extents))
        if value.mask is not None:
            size = Reduce("count", value.axes[:1], value.mask, "index")
        ctx.guard(b.compare("greater", size, b.ZERO), "ValueError", _EMPTY[op])
    if is_complex(value.dtype) and op in ("prod", "max", "min", "argmax", "argmin"):
        return _in_order(ctx, op, value, axes, keepdims, initial)
    inner = tuple(ctx.names.axis("r", value.domain[a]) for a in axes)
    outer = ctx.names.axes(tuple(d for p, d in enumerate(value.domain) if p not in axes))
    position = dict(zip(axes, inner, strict=True))
    rest = iter(outer)
    at = tuple(position[p].var if p in position else next(rest).var for p in range(value.ndim))
    body = value.candidate(at)
    if value.mask is not None:
        body = _masked(op, value.mask_at(at[0]), body)
    if not inner:
        total: Expr = body if op != "count" else b.cast(body, "index")
        if op in ("argmax", "argmin"):
            total = Const(0, "int64")
        if op == "sum" and result.startswith(("float", "complex")):  # a sum begins with 0.0: it is never -0.0
            total = Apply("add", (Const(0j if is_complex(result) else 0.0, result), total), result)
    else:
        total = Reduce(op, inner, body, "index" if op in ("argmax", "argmin", "count") else result, ctx.session.span)
        if op in ("argmax", "argmin"):
            total = b.cast(total, "int64")
    if initial is not None:
        storable(ctx, initial, exact_expr(ctx, initial), total.dtype, True)
        start = b.cast(exact_expr(ctx, initial), total.dtype)
        combine = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}[op]
        total = Apply(combine, (start, total), total.dtype)
    if not outer and (not keepdims or not value.ndim):
        return Scalar(ctx.let(total, name or op))
    facts = {}
    if op in ("argmax", "argmin"):
        facts = {"low": b.ZERO, "high": inner[0].extent if inner else b.ONE}
    if keepdims:
        kept = iter(outer)
        full = tuple(ctx.names.axis("o", b.ONE) if p in axes else next(kept) for p in range(value.ndim))
        return ctx.define(Array(full, total), name or op, **facts)
    return ctx.define(Array(outer, total), name or op, **facts)


def _check_rounding(ctx: Context, value: Array, axes: tuple[int, ...]) -> None:
    """NumPy adds float16 in float32 and rounds once along the memory; across it, it rounds at each step."""
    if value.ndim < 2 or not axes:
        return
    place = {a.name: k for k, a in enumerate(value.axes)}
    along = axes == tuple(range(value.ndim - len(axes), value.ndim))
    for x in walk_expr(value.body):  # an elementwise function's result lies as its operands do
        if isinstance(x, Load):
            turns = [place[v] for i in x.index for v in sorted(variables_read(i) & place.keys())]
            along = along and turns == sorted(turns) and ctx.names.buffers[x.buffer].layout == "C"
    if not along:
        problem = "a sum or product of float16 over an axis that is not the last: NumPy rounds it at each step"
        ctx.fail(refusals.DTYPE, problem, "compute it in float32: x.sum(0, dtype=np.float32)")


def _in_order(
    ctx: Context, op: str, value: Array, axes: tuple[int, ...], keepdims: bool, initial: Value | None
) -> Value:
    """A reduction of complex numbers that is not one of their parts: from element to element."""
    value = ctx.kept(value)
    rest = [d for d in range(value.ndim) if d not in axes]
    turned = transpose(ctx, value, [*axes, *rest])
    outer, inner = turned.dims[: len(axes)], turned.dims[len(axes) :]
    flat = reshape(ctx, turned, [_extent(b.product(outer)), *map(_extent, inner)])
    if op in ("argmax", "argmin"):
        made = compose(ctx, "folding", "best", [flat, Static(op == "argmax")], {})
    else:
        name = {"prod": "multiply", "max": "maximum", "min": "minimum"}[op]
        made = folded(ctx, name, flat, 0, None, False)
        if initial is not None:
            made = apply(ctx, name, [initial, made])
    if not keepdims or not value.ndim:
        return made
    dims = [Static(1) if d in axes else _extent(value.dims[d]) for d in range(value.ndim)]
    return reshape(ctx, as_array(ctx, made), dims)


def _extent(dim: Expr) -> Value:
    return Scalar(dim, True)


def _check_where(ctx: Context, value: Array, where: Array, counted: bool = False) -> None:
    """NumPy's errors where a mask stretches what is reduced, or does not fit; `counted`: ``np.mean`` asks how many
    elements there are first."""
    if value.mask is not None or where.mask is not None:
        return
    if where.ndim > value.ndim:
        text = "input operand has more dimensions than allowed by the axis remapping"
        if counted and not value.ndim:
            text = "cannot broadcast a non-scalar to a scalar array"
        ctx.guard(b.FALSE, "ValueError", text)
    behind = value.dims[value.ndim - where.ndim :]
    fits: Expr = b.TRUE  # the mask into what is reduced,
    meets: Expr = b.TRUE  # and both into some shape
    shape = list(value.dims[: value.ndim - where.ndim])
    for mine, its in zip(behind, where.dims, strict=True):
        one = b.either(b.compare("equal", its, mine), b.compare("equal", its, b.ONE))
        fits = b.both(fits, one)
        meets = b.both(meets, b.either(one, b.compare("equal", mine, b.ONE)))
        shape.append(b.where(b.compare("equal", mine, b.ONE), its, mine))
    remapped = "operands could not be broadcast together with remapped shapes [original->remapped]: "
    if counted:
        text = f"{remapped}{shape_text(where.dims)}  and requested shape {shape_text(value.dims)}"
        ctx.guard(fits, "ValueError", text, (*where.dims, *value.dims))
        return
    text = f"{remapped}{shape_text(value.dims)} {shape_text(where.dims)} "
    ctx.guard(meets, "ValueError", text, (*value.dims, *where.dims))
    text = f"non-broadcastable operand with shape {shape_text(value.dims)} doesn't match the broadcast shape "
    ctx.guard(fits, "ValueError", f"{text}{shape_text(shape)}", (*value.dims, *shape))


def chosen(ctx: Context, op: str, value: Array, where: Value) -> Array:
    """`value` with what leaves a reduction as it is, wherever `where` does not hold."""
    given = as_array(ctx, where)
    _check_where(ctx, value, given)
    elements, axes, mask, _ = align(ctx, [value, given])
    body = elements[0] if op not in ("any", "all") else nonzero(elements[0])
    if op in ("sum", "prod"):
        body = b.cast(body, sum_dtype(body.dtype))
    return Array(axes, _masked(op, nonzero(elements[1]), body), mask)


def sum_dtype(dtype: str) -> str:
    return str(np.add.reduce(np.zeros(1, dtype=np.dtype(dtype))).dtype.name)


def _masked(op: str, mask: Expr, body: Expr) -> Expr:
    """The element, or what leaves the reduction as it is."""
    match op:
        case "sum" | "any" | "count":
            return b.where(mask, body, _zero(body.dtype))
        case "prod":
            return b.where(mask, body, b.cast(Const(1, "int64"), body.dtype))
        case "all":
            return b.where(mask, body, b.TRUE)
        case "max" | "argmax":
            return b.where(mask, body, lowest(body.dtype))
        case _:
            return b.where(mask, body, highest(body.dtype))


def _zero(dtype: str) -> Const:
    return Const(False, "bool") if dtype == "bool" else Const(0 if dtype.startswith(("int", "uint")) else 0.0, dtype)


def count_over(ctx: Context, value: Array, axes: Sequence[int]) -> Expr:
    """How many elements a reduction over `axes` combines."""
    size = b.product(tuple(value.domain[a] for a in axes if not (value.mask is not None and a == 0)))
    if value.mask is not None and 0 in axes:
        kept = ctx.let(Reduce("count", value.axes[:1], value.mask, "index"), "count")
        size = b.mul(size, kept)
    return size


def _check_counted(ctx: Context, axis: Value | None, ndim: int) -> None:
    """NumPy's error for an axis of what has none, whose elements `mean` and `var` would count."""
    if ndim == 0 and axis not in (None, Static(None)) and not isinstance(axis, Seq):
        normal_axis(ctx, constant_axis(ctx, axis), 0)


def _check_inexact(ctx: Context, dtype: str | None) -> None:
    if dtype is not None and not dtype.startswith(("float", "complex")):
        ctx.fail(refusals.OPTION, f"a mean or a variance of the type {dtype}", "cast the result: .astype(int)")


def mean(
    ctx: Context, value: Array, axis: Value | None, keepdims: bool, dtype: str | None = None, where: Value | None = None
) -> Value:
    """``np.mean``: the sum in float64 for integers, in float32 for float16, divided by the count."""
    _check_counted(ctx, axis, value.ndim)
    _check_inexact(ctx, dtype)
    out = dtype or (value.dtype if value.dtype.startswith(("float", "complex")) else "float64")
    work = "float32" if out == "float16" else out
    value = convert(value, work) if value.dtype != work else value
    if where is not None:
        _check_where(ctx, value, as_array(ctx, where), counted=True)
    total = reduce(ctx, "sum", value, axis, keepdims, work, "total", None, where)
    if where is None:
        size = b.cast(count_over(ctx, value, axes_of(ctx, axis, value.ndim)), work)
        return _named(ctx, _divide(ctx, total, size), out, "mean")
    elements, axes, mask, _ = align(ctx, [as_array(ctx, where), value])
    counted = Array(axes, b.cast(nonzero(elements[0]), work), mask)
    count = reduce(ctx, "sum", counted, axis, keepdims, work, "count")
    return _named(ctx, apply(ctx, "divide", [total, count]), out, "mean")


def _divide(ctx: Context, total: Value, size: Expr) -> Value:
    array = as_array(ctx, total)
    body = Apply("divide", (b.cast(array.body, size.dtype), size), size.dtype)
    return Scalar(body) if isinstance(total, Scalar) else Array(array.axes, body)


def _named(ctx: Context, value: Value, dtype: str, name: str) -> Value:
    if isinstance(value, Scalar):
        return Scalar(ctx.let(b.cast(value.expr, dtype), name))
    assert isinstance(value, Array)
    return ctx.define(convert(value, dtype), name)


def variance(
    ctx: Context, value: Array, axis: Value | None, keepdims: bool, ddof: Value | None, root: bool,
    dtype: str | None = None, centre: Value | None = None,
) -> Value:  # fmt: skip
    """``np.var`` and ``np.std``, in NumPy's two passes; `centre`: the mean, where the caller has it."""
    _check_counted(ctx, axis, value.ndim)
    _check_inexact(ctx, dtype)
    if dtype is not None and (is_complex(dtype) or is_complex(value.dtype)):
        problem = f"`dtype=` in a variance of {value.dtype} as {dtype}"
        ctx.fail(refusals.OPTION, problem, "cast the array, or the result: .astype(…)")
    out = dtype or (value.dtype if value.dtype.startswith(("float", "complex")) else "float64")
    if centre is not None and dtype is None:  # which has a type of its own, and so have the distances from it
        out = result_type(ctx, [value if value.dtype == out else convert(value, out), centre])
        if is_complex(out) and not is_complex(value.dtype):
            problem = "distances of real numbers from a complex `mean=`"
            ctx.fail(refusals.OPTION, problem, "cast the array: .astype(complex)")
    work = "float32" if out == "float16" != value.dtype else out
    if value.dtype != work:
        value = convert(value, work)
    value = ctx.kept(value)
    axes = axes_of(ctx, axis, value.ndim)
    if centre is None and work == "float16":  # which NumPy rounds at each step, but for quotients by sizes
        total = reduce(ctx, "sum", value, axis, True, work, "total")
        centre = _named(ctx, _divide(ctx, total, b.cast(count_over(ctx, value, axes), "float64")), work, "mean")
    elif centre is None:
        centre = mean(ctx, value, axis, True, None)
    deviation = apply(ctx, "subtract", [value, as_array(ctx, centre)])
    if is_complex(work):  # the squared distance, in the dtype of the parts
        work = out = float_of(work)
        parts = [part(ctx, as_array(ctx, deviation), name) for name in ("real", "imag")]
        square = apply(ctx, "add", [apply(ctx, "multiply", [p, p]) for p in parts])
    else:
        square = apply(ctx, "multiply", [deviation, deviation])
    total = reduce(ctx, "sum", as_array(ctx, square), axis, keepdims, work, "total")
    size: Value = Scalar(count_over(ctx, value, axes), True)
    if ddof is not None:
        size = apply(ctx, "subtract", [Scalar(b.cast(scalar_expr(ctx, size), "int64")), ddof], operator_call=True)
        size = apply(ctx, "maximum", [size, Static(0)])
    if work == "float16":
        divided = _named(ctx, _divide(ctx, total, b.cast(scalar_expr(ctx, size), "float64")), work, "var")
    else:
        divided = _divide(ctx, total, b.cast(scalar_expr(ctx, size), work))
    if root:
        divided = apply(ctx, "sqrt", [divided])
    return _named(ctx, divided, out, "std" if root else "var")


def dtype_into(ctx: Context, a: Arguments, x: Array, running: bool = False) -> str | None:
    """The type that a reduction computes in, where `dtype` or `out` say it.

    NumPy finds it from `out` and the array, and holds what it has so far in `out` (not so of `running` sums): where
    that shows, it is refused.
    """
    out = a.get("out")
    out = out.items[0] if isinstance(out, Seq) and len(out.items) == 1 else out
    if (dtype := a.given.get("dtype")) is not None and not (isinstance(dtype, Static) and dtype.value is None):
        return dtype_of(ctx, dtype, "")
    if not isinstance(out, Array):
        return None
    both = str(np.result_type(out.dtype, x.dtype))
    kinds = np.dtype(out.dtype).kind + np.dtype(x.dtype).kind
    if both == out.dtype or running or kinds in ("ff", "fi", "fu", "fb", "cc"):
        return both
    counts = a.name in ("sum", "trace", "prod", "product", "np.add.reduce", "np.multiply.reduce")
    if not counts or kinds not in ("ii", "iu", "ui", "uu", "ib", "ub"):
        only_into(ctx, a, x.dtype)
    return None


def only_into(ctx: Context, a: Arguments, dtype: str) -> None:
    """Refuses an `out` of another type, in which NumPy has a part of the work rounded."""
    out = a.get("out")
    if isinstance(out, Array) and out.dtype != dtype:
        problem = f"`{a.name}` of {dtype} with `out=` of {out.dtype}"
        ctx.fail(refusals.OUT, problem, "store what it gives: out[...] = …")


def check_loop(ctx: Context, name: str, dtype: str | None, made: str) -> None:
    """NumPy's error where a type is asked for of which the ufunc makes another one."""
    if dtype not in (None, made):
        text = f"No loop matching the specified signature and casting was found for ufunc {name}"
        ctx.guard(b.FALSE, "TypeError", text)


def folded(ctx: Context, name: str, value: Array, axis: int, dtype: str | None, running: bool) -> Value:
    """The ufunc over an axis, element after element."""
    ufunc = getattr(np, name)
    if dtype is not None:
        value = convert(value, dtype)
    result = apply_types(ctx, name, value)
    check_loop(ctx, name, dtype, result)
    value = convert(value, result) if value.dtype != result else value
    first = transpose(ctx, value, [axis, *[d for d in range(value.ndim) if d != axis]])
    identity = None if ufunc.identity is None else np.array(ufunc.identity).astype(result)[()]
    made = compose(
        ctx, "folding", "accumulated" if running else "folded",
        [Known(f"numpy.{name}"), first, Static(identity), Static(name)], {},
    )  # fmt: skip
    if not running:
        return made
    back = transpose(ctx, as_array(ctx, made), [*range(1, axis + 1), 0, *range(axis + 1, value.ndim)])
    return in_order_of(ctx, back, value)


def apply_types(ctx: Context, name: str, value: Array) -> str:
    """The dtype of an element combined with another."""
    return loop_types(ctx, getattr(np, name), [value, value], None)[1]

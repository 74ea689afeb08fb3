"""Arithmetic progressions: `np.arange`, `np.linspace`."""

from __future__ import annotations

import math

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import result_type
from transkern.frontend.numpy.elementwise import align, apply
from transkern.frontend.python.whole import check_whole, integer_expr
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Reduce
from transkern.ir.traverse import buffers_read, variables_read


def arange(ctx: Context, start: Value, stop: Value, step: Value, dtype: str | None) -> Array:
    """``np.arange``: NumPy stores the first two elements, and goes on from them by their difference, in their type."""
    given = [v if isinstance(v, (Static, Scalar)) else Scalar(scalar_expr(ctx, v)) for v in (start, stop, step)]
    exprs = [scalar_expr(ctx, v) for v in given]
    if any(is_complex(e.dtype) for e in exprs):
        help = "take np.arange of real ones, and multiply: start + np.arange(n) * step"
        ctx.fail(refusals.OPERANDS, "np.arange of complex numbers", help)
    if not all(e.dtype == "index" or e.dtype.startswith(("int", "uint", "bool")) for e in exprs):
        return _of_floats(ctx, given[0], given[1], given[2], dtype or "float64")
    if dtype is None and all(e.dtype == "bool" for e in exprs[:2]) and not all(map(is_python_number, given[:2])):
        ctx.fail(refusals.OPERANDS, "np.arange of two NumPy booleans", "convert them: int(a)")
    dtype = dtype or str(np.result_type("int64", *(e.dtype for e in exprs if e.dtype != "index")))
    first, last, by = (integer_expr(ctx, v) for v in given)
    size = b.constant(by)
    if size is None:
        ctx.guard(b.compare("not_equal", by, b.ZERO), "ZeroDivisionError", "division by zero")
        up = b.floordiv(b.sub(b.add(b.sub(last, first), by), b.ONE), by)
        down = b.floordiv(b.sub(b.sub(b.sub(first, last), by), b.ONE), b.neg(by))
        length = ctx.extent(b.maximum(b.where(b.compare("greater", by, b.ZERO), up, down), b.ZERO))
        return _by_integers(ctx, length, first, by, dtype, True)
    if size == 0:
        ctx.guard(b.FALSE, "ZeroDivisionError", "division by zero")
    span = b.sub(last, first) if size > 0 else b.sub(first, last)
    length = b.maximum(b.floordiv(b.add(span, b.index(abs(size) - 1)), b.index(abs(size))), b.ZERO)
    if buffers_read(length) or any(
        not b.is_size_name(v) and v not in ctx.facts.entry and v not in ctx.facts.ranges for v in variables_read(length)
    ):
        length = ctx.extent(length)  # computed on the way here
    return _by_integers(ctx, length, first, by, dtype, True)


def _by_integers(ctx: Context, length: Expr, first: Expr, by: Expr, dtype: str, python: bool) -> Array:
    """``first + i * by`` as `dtype`; `python`: NumPy stores Python's integers first, which the type must hold."""
    (axis,) = ctx.names.axes((length,))
    if python and dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        message = f"Python integer {{}} out of bounds for {dtype}"
        for count, value in ((0, first), (1, b.add(first, by))):
            holds = b.compare("less_equal", length, b.index(count))
            inside: Expr = b.TRUE if info.min == -(2**63) else b.compare("greater_equal", value, b.index(info.min))
            if info.max < 2**63 - 1:
                inside = b.both(inside, b.compare("less_equal", value, b.index(info.max)))
            ctx.guard(b.either(holds, inside), "OverflowError", message, (value,))
    exact = first == b.ZERO and abs(b.constant(by) or 0) == 1
    if dtype in ("float16", "float32") and not exact:
        return _by_difference(ctx, axis, first, b.add(first, by), dtype)
    return Array((axis,), b.cast(b.add(first, b.mul(by, axis.var)), dtype))


def _by_difference(ctx: Context, axis: Axis, first: Expr, second: Expr, dtype: str) -> Array:
    """A progression from its first two elements, in the arithmetic of their type (float16: of float32)."""
    work = "float32" if dtype == "float16" else {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    kind = work if is_complex(dtype) else dtype
    one, two = (b.cast(b.cast(e, kind), work) for e in (first, second))
    delta: Expr = Apply("subtract", (two, one), work)
    if not (isinstance(first, Const) and isinstance(second, Const)):  # an endless step leaves the first element alone
        delta = ctx.let(delta, "delta")
        delta = b.where(Apply("isfinite", (delta,), "bool"), delta, Const(0.0, work))
    steps: Expr = Apply("multiply", (b.cast(axis.var, work), delta), work)
    if not isinstance(first, Const) or (first.value == 0 and np.signbit(first.value)):  # -0.0 + 0.0 is 0.0
        steps = b.where(b.compare("equal", axis.var, b.ZERO), Const(-0.0, work), steps)
    value: Expr = Apply("add", (one, steps), work)
    if not _is_sum(one, two, work):
        value = b.where(b.compare("equal", axis.var, b.ONE), two, value)  # as it is stored
    return Array((axis,), b.cast(value, dtype))


def _is_sum(one: Expr, two: Expr, dtype: str) -> bool:
    """Whether a number and its difference from another one are known to add up to that one."""
    if not isinstance(one, Const) or not isinstance(two, Const):
        return False
    x, y = (np.dtype(dtype).type(e.value) for e in (one, two))
    with np.errstate(all="ignore"):
        return bool(x + (y - x) == y)


def _of_floats(ctx: Context, start: Value, stop: Value, step: Value, dtype: str) -> Array:
    if dtype == "bool":
        ctx.fail(refusals.OPTION, "np.arange of floats as truths", "compare instead: np.arange(n) != 0")
    gap = apply(ctx, "subtract", [stop, start], operator_call=True)
    span = apply(ctx, "divide", [gap, step], operator_call=True)
    second = apply(ctx, "add", [start, step], operator_call=True)
    length = _length(ctx, gap, span)
    values = [scalar_expr(ctx, v) for v in (start, second)]
    if dtype.startswith(("int", "uint")):
        one, two = (b.cast(v, "index") for v in values)
        python = is_python_number(start) and is_python_number(second)
        return _by_integers(ctx, length, one, b.sub(two, one), dtype, python)
    (axis,) = ctx.names.axes((length,))
    return _by_difference(ctx, axis, values[0], values[1], dtype)


def _length(ctx: Context, gap: Value, span: Value) -> Expr:
    """How many steps fit: the quotient, rounded up; one, where it vanishes and is not negative."""
    unknown, large = "arange: cannot compute length", "Maximum allowed size exceeded"
    if isinstance(span, Static) and isinstance(gap, Static):
        quotient = float(span.value)
        if math.isnan(quotient) or math.isinf(quotient) or abs(quotient) >= 2.0**63:
            ctx.guard(b.FALSE, "ValueError", unknown if math.isnan(quotient) else large)
        vanishes = gap.value != 0 and quotient == 0
        return b.index(int(math.copysign(1, quotient) > 0) if vanishes else max(math.ceil(quotient), 0))
    value = ctx.let(b.cast(scalar_expr(ctx, span), "float64"), "span")
    ctx.guard(b.logical_not(Apply("isnan", (value,), "bool")), "ValueError", unknown)
    fits = Apply("less_equal", (Apply("absolute", (value,), "float64"), Const(2.0**63, "float64")), "bool")
    ctx.guard(fits, "ValueError", large)
    zero = Const(0.0, "float64")
    vanishes_now = b.both(
        Apply("equal", (value, zero), "bool"),
        Apply("not_equal", (b.cast(scalar_expr(ctx, gap), "float64"), zero), "bool"),
    )
    steps = b.maximum(b.cast(Apply("ceil", (value,), "float64"), "index"), b.ZERO)
    few = b.where(Apply("signbit", (value,), "bool"), b.ZERO, b.ONE)
    name = f"{ctx.names.fresh('length')}.size"
    ctx.emit(n.Let(name, ctx.let(b.where(vanishes_now, few, steps), "length")))
    return b.size(name)


def linspace(ctx: Context, start: Value, stop: Value, count: Value, endpoint: bool, dtype: str | None) -> Array:
    """``np.linspace``; start and stop may be arrays, the points then stand along a new first axis."""
    check_whole(ctx, count)
    number = integer_expr(ctx, count)
    if b.constant(number) is None or (b.constant(number) or 0) < 0:
        ctx.guard(
            b.compare("greater_equal", number, b.ZERO), "ValueError", "Number of samples, {}, must be non-negative.",
            (number,),
        )  # fmt: skip
    parts = b.sub(number, b.ONE) if endpoint else number
    (axis,) = arange(ctx, Static(0), Scalar(number, True), Static(1), None).axes
    work = result_type(ctx, [start, stop, Static(1.0)])
    elements, axes, _, _ = align(ctx, [ctx.kept(v) if isinstance(v, Array) else v for v in (stop, start)])
    z, a = (b.cast(e, work) for e in elements)
    if not axes:
        a, z = ctx.let(a, "start"), ctx.let(z, "stop")
    delta: Expr = Apply("subtract", (z, a), work)
    position = b.cast(axis.var, work)
    several = b.compare("greater", parts, b.ZERO)
    div = b.cast(b.where(several, parts, b.ONE), work)
    step: Expr = Apply("divide", (delta, div), work)
    if not axes:
        delta, step = ctx.let(delta, "span"), ctx.let(step, "step")
    # steps that are too small for their own sum: NumPy divides first where one of them vanishes
    vanishes: Expr = Apply("equal", (step, Const(0.0, work)), "bool")
    if axes:
        inner = ctx.names.axes(tuple(x.extent for x in axes))
        renamed = b.substitute(vanishes, {x.name: y.var for x, y in zip(axes, inner, strict=True)})
        vanishes = ctx.let(Reduce("any", inner, renamed, "bool"), "vanishes")
    slow = Apply("multiply", (Apply("divide", (position, div), work), delta), work)
    body: Expr = b.where(vanishes, slow, Apply("multiply", (position, step), work))
    body = b.where(several, body, Apply("multiply", (position, delta), work))
    body = Apply("add", (body, a), work)
    if endpoint:
        body = b.where(b.both(b.compare("equal", axis.var, parts), several), z, body)
    if dtype is not None and dtype.startswith(("int", "uint")):
        body = Apply("floor", (body,), work)
    return Array((axis, *axes), b.cast(body, dtype or work))


def linspace_step(ctx: Context, start: Value, stop: Value, count: Value, endpoint: bool) -> Value:
    """The second result of ``np.linspace(…, retstep=True)``."""
    number = integer_expr(ctx, count)
    parts = b.sub(number, b.ONE) if endpoint else number
    if b.constant(parts) is not None and b.constant(parts) <= 0:  # type: ignore[operator]
        return Static(float("nan"))
    elements, axes, mask, scalar = align(ctx, [start, stop])
    work = result_type(ctx, [start, stop, Static(1.0)])
    a, z = (b.cast(e, work) for e in elements)
    step = Apply("divide", (Apply("subtract", (z, a), work), b.cast(parts, work)), work)
    body = b.where(b.compare("greater", parts, b.ZERO), step, Const(float("nan"), work))
    return Scalar(body) if scalar else Array(axes, body, mask)

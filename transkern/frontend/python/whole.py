"""Python's integers made of other numbers, as `int`, `round` and `math.floor` make them."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.errors import TOO_LARGE
from transkern.frontend.context import Context
from transkern.frontend.values import doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Reduce
from transkern.ir.ops import OPS
from transkern.ir.traverse import buffers_read, variables_read

NO_POSITION = "cannot fit 'numpy.uint64' into an index-sized integer"
NO_SIZE = "Python int too large to convert to C ssize_t"
"""Python's words for a subscript, and for an argument of a list's method, that 64 bits do not hold."""


def in_64_bits(
    ctx: Context, expr: Expr, error: str = "OverflowError", problem: str = "Python int too large to convert to C long"
) -> Expr:
    """An integer that becomes a signed one of 64 bits, after a check where it may not be one."""
    if expr.dtype != "uint64":
        return expr
    if isinstance(expr, Const) and isinstance(expr.value, int) and expr.value <= extremes.HIGHEST:
        return expr
    held = ctx.let(expr, "at")
    ctx.guard(Apply("less_equal", (held, Const(extremes.HIGHEST, "uint64")), "bool"), error, problem)
    return held


def check_number(ctx: Context, value: Value | None) -> None:
    """NumPy's error for an array of one element as a number, which older versions take."""
    if isinstance(value, Array) and value.ndim:
        asked(ctx, float, np.ones((1,) * value.ndim))


def integer_expr(ctx: Context, value: Value, error: str = "OverflowError", problem: str = TOO_LARGE) -> Expr:
    """An integer that is computed with as a position, a size or one of Python's: one of uint64 does not wrap."""
    return b.as_index(in_64_bits(ctx, scalar_expr(ctx, value), error, problem))


def to_integer(ctx: Context, expr: Expr, rounding: str = "") -> Scalar:
    """``int(x)``, or of ``rint(x)``, ``floor(x)``, …, with Python's errors for NaN and infinities."""
    known = _known_number(expr)
    if isinstance(known, np.floating):
        whole = asked(ctx, int, getattr(np, rounding)(known) if rounding else known)
        if extremes.LOWEST <= whole <= extremes.HIGHEST:
            return Scalar(b.index(whole), True)
    if expr.dtype == "uint64":
        expr = in_64_bits(ctx, expr, "OverflowError", TOO_LARGE)
    if not expr.dtype.startswith("float"):
        return Scalar(b.as_index(expr), True)
    held = _finite(ctx, expr)
    ctx.guard(_within(held, -(2.0**63), 2.0**63), "OverflowError", TOO_LARGE)
    whole = b.cast(Apply(rounding, (held,), held.dtype) if rounding else held, "index")
    if variables_read(whole) <= ctx.facts.entry and not buffers_read(whole):
        whole = ctx.let(whole, "whole")  # often a size: what is made of it would convert it again for each element
    return Scalar(whole, True)


def _known_number(expr: Expr) -> Any:
    """The number of NumPy's that it computes, where all that it is made of is known; None else."""
    if isinstance(expr, Const):
        dtype = np.dtype("int64" if expr.dtype == "index" else expr.dtype)
        return dtype.type(expr.value)
    if not isinstance(expr, Apply):
        return None
    args = [_known_number(a) for a in expr.args]
    function = OPS[expr.op].numpy if expr.op in OPS else None
    if None in args or not (expr.op == "cast" or isinstance(function, np.ufunc)):
        return None
    with np.errstate(all="ignore"):
        made = args[0] if expr.op == "cast" else function(*args)  # type: ignore[misc]
        return np.asarray(made).astype("int64" if expr.dtype == "index" else expr.dtype)[()]


def check_unsigned(ctx: Context, array: Array) -> None:
    """The error where an element of an array of integers becomes one of Python's that 64 bits do not hold."""
    if array.dtype != "uint64":
        return
    inner = ctx.names.axes(array.dims)
    index = tuple(a.var for a in inner)
    large: Expr = Apply("greater", (array.candidate(index), Const(extremes.HIGHEST, "uint64")), "bool")
    if array.mask is not None:
        large = b.both(array.mask_at(index[0]), large)
    ctx.guard(b.logical_not(Reduce("any", inner, large, "bool")), "OverflowError", TOO_LARGE)


def whole_number(ctx: Context, expr: Expr, dtype: str) -> Expr:
    """A float that becomes an integer of `dtype` as by ``int(x)``, after NumPy's checks."""
    held = _finite(ctx, expr)
    try:
        np.zeros(1, dtype)[0] = 2.0**100
    except OverflowError as error:  # the text is that of the C library's types
        ctx.guard(_is_c_integer(held, dtype), "OverflowError", str(error))
    message = f"Python integer {{}} out of bounds for {dtype}"
    ctx.guard(_is_of_type(held, dtype), "OverflowError", message, (b.cast(held, "index"),))
    return held if dtype == "uint64" else b.cast(held, "index")


def becomes(number: Expr, dtype: str) -> Expr:
    """Whether a float becomes an integer of `dtype` without an error of `whole_number`'s."""
    return b.both(_is_c_integer(number, dtype), _is_of_type(number, dtype))


def _is_c_integer(number: Expr, dtype: str) -> Expr:
    return _within(number, -(2.0**63), max(2.0**63, float(np.iinfo(dtype).max)))


def _is_of_type(number: Expr, dtype: str) -> Expr:
    info = np.iinfo(dtype)
    above = Apply("greater", (number, Const(info.min - 1.0, number.dtype)), "bool") if info.min > -(2**63) else b.TRUE
    below = Apply("less", (number, Const(info.max + 1.0, number.dtype)), "bool") if info.max < 2**63 - 1 else b.TRUE
    return b.both(above, below)


def _finite(ctx: Context, expr: Expr) -> Expr:
    held = ctx.let(expr, "x")
    text = "cannot convert float {} to integer"
    ctx.guard(b.logical_not(Apply("isnan", (held,), "bool")), "ValueError", text.format("NaN"))
    ctx.guard(b.logical_not(Apply("isinf", (held,), "bool")), "OverflowError", text.format("infinity"))
    return held


def _within(number: Expr, low: float, high: float) -> Expr:
    """``low <= number < high``; no float16 needs more than 64 bits."""
    if number.dtype == "float16":
        return b.TRUE
    above = Apply("greater_equal", (number, Const(low, number.dtype)), "bool")
    return b.both(above, Apply("less", (number, Const(high, number.dtype)), "bool"))


def check_whole(ctx: Context, value: Value) -> None:
    """Python's error where an integer is needed and a number of another type given."""

    def kind(value: Value) -> str:
        """The type's name, of what is none."""
        dtype = scalar_expr(ctx, value).dtype
        if not dtype.startswith(("float", "complex")):
            return ""
        return dtype.rstrip("0123456789") if is_python_number(value) else f"numpy.{dtype}"

    if found := doubts.agreed(ctx, value, kind, "an integer that is"):
        ctx.guard(b.FALSE, "TypeError", f"'{found}' object cannot be interpreted as an integer")


def exact_expr(ctx: Context, value: Value) -> Expr:
    """A number on its way to where its value matters, and not its type: also where the type that holds it with others
    would round it."""
    if not isinstance(value, Scalar) or value.doubt is None or not doubts.is_rounded(value.doubt, value.dtype):
        return scalar_expr(ctx, value)
    if value.doubt.told is not None:
        value.doubt.told()
    elif value.doubt.split is None:
        doubts.depends(ctx, [value], "a use of")
    if value.doubt.split is None:  # the loop is translated again
        return value.expr
    one, two = (scalar_expr(ctx, v) for v in (value.doubt.split.one, value.doubt.split.two))
    wide = "complex128" if is_complex(value.dtype) else "float64"
    return b.where(value.doubt.split.tag, b.cast(one, wide), b.cast(two, wide))


def python_number(ctx: Context, value: Value) -> Value:
    """``x.item()``."""
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    expr = exact_expr(ctx, value)
    if expr.dtype.startswith(("int", "uint")):
        return to_integer(ctx, expr)
    if expr.dtype.startswith("float"):
        return Scalar(b.cast(expr, "float64"), True)
    if is_complex(expr.dtype):
        return Scalar(b.cast(expr, "complex128"), True)
    return Scalar(expr, True)

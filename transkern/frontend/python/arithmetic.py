"""Python's own arithmetic on Python's own numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from transkern.frontend.context import Context
from transkern.frontend.python import python_complex
from transkern.frontend.state import guards
from transkern.frontend.values import large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.traverse import buffers_read, variables_read

COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
PYTHON_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "invert": operator.invert, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "absolute": abs,
}  # fmt: skip


def may_raise(op: str, args: Sequence[Value]) -> bool:
    """Whether Python's operator raises for some of Python's numbers, whatever NumPy's does."""
    last = args[-1].value if isinstance(args[-1], Static) else None
    if op in ("divide", "floor_divide", "remainder"):
        return not last
    return op == "power" and not (isinstance(last, int) and last >= 0)


def result_type_of(op: str, kinds: Sequence[str]) -> str:
    """The type of what Python's operator makes of Python's numbers."""
    if op in COMPARISONS or (op.startswith("bitwise") and set(kinds) == {"bool"}):
        return "bool"
    if "complex128" in kinds:
        return "float64" if op == "absolute" else "complex128"
    return "float64" if "float64" in kinds or op == "divide" else "index"


def computed(ctx: Context, op: str, args: Sequence[Value]) -> Value:
    """Python's own arithmetic on Python's own numbers."""
    if all(isinstance(a, Static) for a in args):
        return Static(asked(ctx, PYTHON_OPERATORS[op], *(a.value for a in args if isinstance(a, Static))))
    if any(map(large.is_large, args)):
        made = large.operated(ctx, op, args)
        return computed(ctx, op, made) if isinstance(made, list) else made
    exprs = [scalar_expr(ctx, a) for a in args]
    kinds = [e.dtype for e in exprs]
    if "complex128" in kinds and "index" in kinds and op in ("equal", "not_equal"):
        return Scalar(large.compared_with_complex(ctx, op, *sorted(exprs, key=lambda e: e.dtype)), True)
    if "complex128" in kinds:
        return python_complex.operate(ctx, op, exprs)
    if op in ("bitwise_and", "bitwise_or", "bitwise_xor") and set(kinds) == {"bool"}:
        return Scalar(Apply(op, tuple(exprs), "bool"), True)
    exprs = [b.cast(e, "index") if e.dtype == "bool" else e for e in exprs]
    kinds = [e.dtype for e in exprs]
    common = "float64" if "float64" in kinds else "index"
    if op in COMPARISONS and sorted(kinds) == ["float64", "index"]:
        return Scalar(large.compared_with_float(ctx, op, *exprs), True)
    if op in COMPARISONS:
        exprs = [b.cast(e, common) for e in exprs]
        return Scalar(
            b.rebuild(Apply(op, (), "bool"), tuple(exprs)) if common == "index" else Apply(op, tuple(exprs), "bool"),
            True,
        )
    if op in ("divide", "floor_divide", "remainder"):
        zero = {
            "divide": "division by zero",
            "floor_divide": "integer division or modulo by zero",
            "remainder": "integer modulo by zero",
        }
        message = zero[op]
        if common == "float64":
            message = {
                "divide": "float division by zero",
                "floor_divide": "float floor division by zero",
                "remainder": "float modulo by zero",
            }[op]
        divisor = exprs[1]
        if isinstance(divisor, Const):
            if divisor.value == 0:
                ctx.guard(b.FALSE, "ZeroDivisionError", message)
        else:
            ctx.guard(
                b.compare("not_equal", divisor, b.ZERO) if divisor.dtype == "index"
                else Apply("not_equal", (divisor, Const(0.0, divisor.dtype)), "bool"), "ZeroDivisionError", message,
            )  # fmt: skip
    negative = op == "power" and isinstance(args[1], Static) and args[1].value < 0
    if (op == "divide" or negative) and common == "index":
        common = "float64"
    if op == "power" and common == "index":
        exponent = args[1]
        if isinstance(exponent, Static) and exponent.value >= 0:
            result: Expr = b.ONE
            for _ in range(exponent.value):
                result = b.mul(result, exprs[0])
            if exponent.value <= 4:
                return Scalar(result, True)
        if isinstance(args[0], Static) and args[0].value == 2:
            _exponent_is_not_negative(ctx, exprs[1], "2")
            ctx.guard(b.compare("less", exprs[1], b.index(63)), "OverflowError", _TOO_LARGE)
            return Scalar(Apply("left_shift", (b.ONE, exprs[1]), "index"), True)
        if isinstance(args[0], Static) and args[0].value in (1, -1) and ctx.facts.not_negative(exprs[1]):
            odd = b.compare("equal", b.mod(exprs[1], b.index(2)), b.ONE)
            return Scalar(b.where(odd, b.index(args[0].value), b.ONE), True)
        _exponent_is_not_negative(ctx, exprs[1], "an integer")
        size = Apply("power", tuple(b.cast(e, "float64") for e in exprs), "float64")
        fits = Apply("less", (Apply("absolute", (size,), "float64"), Const(2.0**63, "float64")), "bool")
        ctx.guard(fits, "OverflowError", _TOO_LARGE)
        # a loop of products: under a name, so that sizes and places made of it do not compute it again
        return Scalar(ctx.let(Apply("power", tuple(exprs), "index"), "power"), True)
    if op in ("left_shift", "right_shift") and common == "index":
        ctx.guard(b.compare("greater_equal", exprs[1], b.ZERO), "ValueError", "negative shift count")
        if op == "right_shift":  # C has no shifts by more
            exprs[1] = b.minimum(exprs[1], b.index(63))
    exprs = [b.cast(e, common) for e in exprs]
    if op == "power" and common == "float64":
        given = [not buffers_read(e) and variables_read(e) <= ctx.facts.entry for e in exprs]
        exprs = [e if known else ctx.let(e, "base") for e, known in zip(exprs, given, strict=True)]
        return Scalar(_float_power(ctx, exprs[0], exprs[1]), True)
    node = Apply(op, tuple(exprs), common)
    return Scalar(b.rebuild(node, tuple(exprs)) if common == "index" else node, True)


_TOO_LARGE = "a power of integers beyond 64 bits, which is not compiled"


def _exponent_is_not_negative(ctx: Context, exponent: Expr, base: str) -> None:
    """Else the power is a float, and which of the two it is must be known before the call."""
    ctx.guard(
        b.compare("greater_equal", exponent, b.ZERO), "OverflowError",
        f"{base} ** a negative integer is a float in Python, which is not compiled: write float(x) ** y",
    )  # fmt: skip


def _float_power(ctx: Context, base: Expr, exponent: Expr) -> Expr:
    """Python's ``float ** float``: its errors, and no complex results."""
    zero, value = Const(0.0, "float64"), Apply("power", (base, exponent), "float64")
    if isinstance(exponent, Const) and isinstance(exponent.value, float) and 0 <= exponent.value <= 4:
        if exponent.value.is_integer():
            return value
    try:
        0.0**-1.0
    except ZeroDivisionError as error:
        text = str(error)
    bad = b.both(Apply("equal", (base, zero), "bool"), Apply("less", (exponent, zero), "bool"))
    guards.guard_early(ctx, b.logical_not(bad), "ZeroDivisionError", text)
    whole = Apply("equal", (Apply("floor", (exponent,), "float64"), exponent), "bool")
    negative = b.both(Apply("less", (base, zero), "bool"), Apply("isfinite", (base,), "bool"))
    if not (isinstance(exponent, Const) and float(exponent.value).is_integer()):  # type: ignore[arg-type]
        guards.guard_early(
            ctx, b.either(b.logical_not(negative), whole), "ValueError",
            "a negative number to a fractional power is complex in Python, which is not compiled",
        )  # fmt: skip
    finite = b.both(Apply("isfinite", (base,), "bool"), Apply("isfinite", (exponent,), "bool"))
    overflow = b.both(Apply("isinf", (value,), "bool"), finite)  # without a name: such checks move to the front
    guards.guard_early(ctx, b.logical_not(overflow), "OverflowError", "(34, 'Numerical result out of range')")
    return value

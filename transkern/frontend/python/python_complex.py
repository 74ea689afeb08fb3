"""Arithmetic on Python's own complex numbers: CPython's algorithms and errors (`Objects/complexobject.c`)."""

from __future__ import annotations

from collections.abc import Sequence

from transkern.frontend.context import Context
from transkern.frontend.values.values import Scalar, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

_NAMES = {"index": "int", "float64": "float", "complex128": "complex", "bool": "bool"}
_SIGNS = {
    "floor_divide": "//", "remainder": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "left_shift": "<<", "right_shift": ">>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip


def operate(ctx: Context, op: str, exprs: Sequence[Expr]) -> Value:
    """A Python operator on numbers of which one is complex."""
    kinds = [_NAMES[e.dtype] for e in exprs]
    if op in ("less", "less_equal", "greater", "greater_equal"):
        text = f"'{_SIGNS[op]}' not supported between instances of '{kinds[0]}' and '{kinds[1]}'"
        ctx.guard(b.FALSE, "TypeError", text)
    if op in _SIGNS:
        text = f"unsupported operand type(s) for {_SIGNS[op]}: '{kinds[0]}' and '{kinds[1]}'"
        ctx.guard(b.FALSE, "TypeError", text)
    if op == "invert":
        ctx.guard(b.FALSE, "TypeError", "bad operand type for unary ~: 'complex'")
    exprs = [b.cast(e, "complex128") for e in exprs]
    match op:
        case "equal" | "not_equal":
            return Scalar(Apply(op, tuple(exprs), "bool"), True)
        case "absolute":
            return Scalar(absolute(ctx, exprs[0]), True)
        case "multiply":
            return Scalar(Apply("plain_multiply", tuple(exprs), "complex128"), True)
        case "divide":
            _guard_zero(ctx, exprs[1], _message(lambda: 1j / 0j))
            return Scalar(Apply("python_divide", tuple(exprs), "complex128"), True)
        case "power":
            return Scalar(_power(ctx, exprs[0], exprs[1]), True)
        case _:
            return Scalar(Apply(op, tuple(exprs), "complex128"), True)


def absolute(ctx: Context, x: Expr) -> Expr:
    """``abs(x)``, whose overflow is an error."""
    held = ctx.let(x, "z")
    size = ctx.let(Apply("absolute", (held,), "float64"), "size")
    finite = Apply("isfinite", (held,), "bool")
    overflow = b.both(Apply("isinf", (size,), "bool"), finite)
    ctx.guard(b.logical_not(overflow), "OverflowError", "absolute value too large")
    return size


def _message(fails: object) -> str:
    """The text of CPython's own error."""
    try:
        fails()  # type: ignore[operator]
    except (ZeroDivisionError, OverflowError) as error:
        return str(error)
    raise AssertionError


def _guard_zero(ctx: Context, divisor: Expr, message: str) -> None:
    zero = Const(0j, "complex128")
    if isinstance(divisor, Const):
        if divisor.value == 0:
            ctx.guard(b.FALSE, "ZeroDivisionError", message)
        return
    ctx.guard(Apply("not_equal", (divisor, zero), "bool"), "ZeroDivisionError", message)


def _power(ctx: Context, base: Expr, exponent: Expr) -> Expr:
    zero = Const(0j, "complex128")
    if not isinstance(exponent, Const):
        ctx.must_be_known(
            Scalar(exponent, True), "a complex power with a run-time exponent", "use np.power, or cmath.exp"
        )  # fmt: skip
    assert isinstance(exponent, Const)
    value = complex(exponent.value)
    held = ctx.let(base, "base")
    if value.real < 0 or value.imag != 0:
        ctx.guard(Apply("not_equal", (held, zero), "bool"), "ZeroDivisionError", _message(lambda: 0j**-1))
    made = ctx.let(Apply("python_power", (held, exponent), "complex128"), "power")
    overflow = Apply("isinf", (made,), "bool")
    ctx.guard(b.logical_not(overflow), "OverflowError", _message(lambda: (1e200 + 0j) ** 2))
    return made

"""Python's integers that 64 bits do not hold.

While a function is translated, an integer that is known is Python's own, of any size (`Static`). What compiled code
computes with has 64 bits: `whole` is the one way there, and refuses what it does not hold. Before it comes to that,
Python or NumPy is asked what the operation at hand makes of such a number: a slice clips it, a comparison is decided,
an array of floats takes it as a float, one of integers raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeGuard

import numpy as np

from transkern import refusals
from transkern.errors import TOO_LARGE
from transkern.frontend.context import Context
from transkern.frontend.values.asking import asked
from transkern.frontend.values.values import Array, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.ops import MIRRORED
from transkern.ir.traverse import buffers_read, own_exprs, variables_read, walk, walk_expr

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def is_large(value: Value | None) -> TypeGuard[Static]:
    """Whether it is an integer of Python's that 64 bits do not hold."""
    return isinstance(value, Static) and isinstance(value.value, int) and not extremes.fits(value.value)


def is_float(value: int) -> bool:
    """Whether a float holds an integer as it is."""
    try:
        return float(value) == value
    except OverflowError:
        return False


def refuse(ctx: Context, value: int) -> NoReturn:
    shown = str(value) if abs(value) < 10**30 else f"of {value.bit_length()} bits"
    ctx.fail(
        refusals.INTEGER_TOO_LARGE,
        f"the integer {shown} needs more than the 64 bits that integers have in compiled code",
        "write it as a float, or compute with it outside the compiled function",
    )


def whole(ctx: Context, value: int) -> Const:
    """A known integer as a number that compiled code computes with."""
    return b.index(value) if extremes.fits(value) else refuse(ctx, value)


# --- as an operand


def operands(
    ctx: Context, function: Callable[..., Any], args: Sequence[Value], loop: Sequence[str], result: str
) -> list[Value]:
    """What stands for the operands of NumPy's `function` where some are large: numbers of the loop's types, as NumPy
    brings them there, and its error where it does not."""
    made = asked(ctx, function, *map(_example, args))
    if np.asarray(made).dtype != result:
        refuse(ctx, next(a.value for a in args if is_large(a)))
    return [_brought(ctx, a, t) for a, t in zip(args, loop, strict=True)]


def _brought(ctx: Context, value: Value, dtype: str) -> Value:
    if not is_large(value):
        return value
    return Scalar(Const(asked(ctx, np.add, np.zeros((), dtype), value.value).item(), dtype))


def _dtype(e: Expr) -> str:
    return "int64" if e.dtype == "index" else e.dtype


def _example(value: Value) -> Any:
    """A value of NumPy's or Python's of the type of one that only a call knows."""
    match value:
        case Scalar(expr, python):
            one = np.ones((), _dtype(expr))[()]
            return one.item() if python else one
        case Array():
            return np.ones((1,) * value.ndim, _dtype(value.body))
        case Static(known):
            return known
        case Seq(items):
            return [_example(i) for i in items]
        case _:
            raise AssertionError(value)


def compared(op: str, args: Sequence[Value]) -> Value | None:
    """A comparison of which one side is large and the other of a type of integers that does not hold it: the same for
    all of them."""
    if op not in COMPARISONS:
        return None
    examples = [_example(a) for a in args]
    at = 0 if is_large(args[0]) else 1
    other, value = np.asarray(examples[1 - at]), examples[at]
    if other.dtype.kind not in "iu" or (other.dtype == "uint64" and 0 <= value < 2**64):
        return None
    holds = COMPARISONS[op](value, 0) if at == 0 else COMPARISONS[op](0, value)
    shape = args[1 - at]
    if isinstance(shape, Array) and shape.axes:
        return replace(shape, body=Const(holds, "bool"), view=False, identity="")
    is_numpys = isinstance(shape, Array) or (isinstance(shape, Scalar) and not shape.python)
    return Static(np.bool_(holds) if is_numpys else holds)


def operated(ctx: Context, op: str, args: Sequence[Value]) -> Value | list[Value]:
    """Python's operator on its own numbers, of which one is large and the other known at run time only: what it gives,
    or the operands that stand for these."""
    at = 0 if is_large(args[0]) else 1
    large, other = args[at], args[1 - at]
    assert isinstance(large, Static) and isinstance(other, Scalar)
    value, k = large.value, other.expr
    if other.dtype in ("index", "bool") and op in COMPARISONS:
        return Static(COMPARISONS[op](value, 0) if at == 0 else COMPARISONS[op](0, value))
    if other.dtype == "float64" and op in COMPARISONS:
        return Scalar(_float_compared(op if at else MIRRORED[op], k, value), True)
    if other.dtype in ("float64", "complex128"):
        if op in ("equal", "not_equal") and not is_float(value):
            return Static(op == "not_equal")
        near = asked(ctx, float, value)
        return [Static(near) if a is large else a for a in args]
    same_sign = b.compare("greater_equal" if value > 0 else "less_equal", b.cast(k, "index"), b.ZERO)
    if op == "floor_divide" and at == 1:
        return Scalar(b.where(same_sign, b.ZERO, b.index(-1)), True)
    if op == "remainder" and at == 1:
        ctx.guard(same_sign, "OverflowError", TOO_LARGE)
        return Scalar(b.cast(k, "index"), True)
    if op == "bitwise_and" and value > 0:
        ctx.guard(same_sign, "OverflowError", TOO_LARGE)
        return [Static(value & extremes.HIGHEST) if a is large else a for a in args]
    refuse(ctx, value)


def _float_compared(op: str, x: Expr, value: int) -> Expr:
    """``x op value``, exactly: by the floats on both sides of it."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    below = near if near <= value else math.nextafter(near, -math.inf)
    above = near if near >= value else math.nextafter(near, math.inf)
    if below != above and op in ("equal", "not_equal"):
        return b.TRUE if op == "not_equal" else b.FALSE
    if below != above:
        op = "less_equal" if op.startswith("less") else "greater_equal"
    return Apply(op, (x, Const(below if op.startswith("less") else above, "float64")), "bool")


def compared_with_float(ctx: Context, op: str, one: Expr, two: Expr) -> Expr:
    """A comparison of an integer with a float, of Python's: exact, also where the integer as a float would be another.

        k < x    to    float(k) < x or (float(k) == x and (float(k) >= 2.0**63 or k < int(x)))
    """
    if one.dtype == "float64":
        op, one, two = MIRRORED[op], two, one
    if (known := b.constant(one)) is not None:
        return _float_compared(MIRRORED[op], two, known)
    # what is so for one integer is so for all
    if isinstance(two, Const) and not extremes.LOWEST <= float(two.value) <= extremes.HIGHEST:  # type: ignore[arg-type]
        return b.TRUE if bool(getattr(np, op)(0.0, float(two.value))) else b.FALSE  # type: ignore[arg-type]
    near, x = b.cast(one, "float64"), two
    if is_exact(ctx, one):
        return Apply(op, (near, x), "bool")
    if op == "not_equal":
        return b.logical_not(compared_with_float(ctx, "equal", one, two))
    same: Expr = Apply("equal", (near, x), "bool")
    end = Const(2.0**63, "float64")
    beyond = Apply("greater_equal" if op.startswith("less") else "less", (near, end), "bool")
    whole_part = b.cast(x, "index")
    if op == "equal":
        return b.both(same, b.both(beyond, Apply(op, (one, whole_part), "bool")))
    inside = Apply(op, (one, whole_part), "bool")
    tied = b.either(beyond, inside) if op.startswith("less") else b.both(beyond, inside)
    return b.either(Apply(op.removesuffix("_equal"), (near, x), "bool"), b.both(same, tied))


def compared_with_complex(ctx: Context, op: str, z: Expr, k: Expr) -> Expr:
    """Whether a complex number of Python's is an integer, exactly."""
    real, imag = (Apply(part, (z,), "float64") for part in ("real", "imag"))
    same = b.both(compared_with_float(ctx, "equal", real, k), Apply("equal", (imag, Const(0.0, "float64")), "bool"))
    return same if op == "equal" else b.logical_not(same)


def is_exact(ctx: Context, expr: Expr) -> bool:
    """Whether an integer is a position or a size, which a float holds as it is."""
    ends = ctx.facts.range_of(expr) or (expr,)
    return all(b.constant(v) is not None or all(map(b.is_size_name, variables_read(v))) for v in ends) and not any(
        map(buffers_read, ends)
    )


# --- as an element


def elements(ctx: Context, items: Sequence[Value]) -> list[Value]:
    """The elements of ``np.array([…])`` of which some are large: in the type that NumPy finds for all."""
    known = [ctx.deref(i) for i in items]
    plain = all(isinstance(i, (Scalar, Array, Static, Seq)) for i in known)
    found = asked(ctx, np.array, [*map(_example, known)]).dtype if plain else np.dtype(object)
    if found.kind == "O":
        refuse(ctx, next(a.value for a in items if is_large(a)))
    return [Static(asked(ctx, found.type, v.value)) if is_large(v) else v for v in items]


def stored(ctx: Context, value: Value, dtype: str) -> Value:
    """What an array gets where a large integer is stored into it: a number of its type, or NumPy's error."""
    if not is_large(value):
        return value
    held = np.zeros(1, dtype)
    asked(ctx, held.__setitem__, 0, value.value)
    return Static(held[0])


# --- as a subscript


def clipped(item: Slice, extent: Expr) -> Slice:
    """A slice without the bounds and steps that Python clips: none is farther away than just beyond the ends."""
    ends = Scalar(extent, True), Scalar(b.sub(b.neg(extent), b.ONE), True)
    start, stop = (ends[v.value < 0] if _is_far(v, extremes.HIGHEST) else v for v in (item.start, item.stop))
    step = item.step
    if _is_far(step, 2**47):  # from one element to none
        long = b.maximum(extent, b.ONE)
        if step.value < 0:
            long = b.neg(long) if b.constant(long) is not None else b.index(-(2**47))
        step = Scalar(long, True)
    return Slice(start, stop, step)


def _is_far(value: Value | None, least: int) -> TypeGuard[Static]:
    return isinstance(value, Static) and isinstance(value.value, int) and abs(value.value) >= least


# --- in a program


def check_constants(ctx: Context, program: n.Program) -> None:
    """A refusal where index arithmetic has come to a constant that 64 bits do not hold."""
    for s in walk(program.body):
        for e in own_exprs(s):
            for x in walk_expr(e):
                if isinstance(x, Const) and not extremes.is_held(x):
                    ctx.session.span = s.span
                    refuse(ctx, int(x.value))  # type: ignore[arg-type]
    for dim in (d for buffer in program.buffers.values() for d in buffer.dims):
        if any(isinstance(x, Const) and not extremes.is_held(x) for x in walk_expr(dim)):
            ctx.fail(refusals.INTEGER_TOO_LARGE, "an array with more elements than 64 bits can count")

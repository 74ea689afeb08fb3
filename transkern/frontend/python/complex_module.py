"""Python's `cmath`: functions of numbers, complex numbers out, with its ValueErrors and OverflowErrors."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transkern.frontend.context import Context
from transkern.frontend.values.asking import asked
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

_ELEMENTARY = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip
FUNCTIONS = frozenset((*_ELEMENTARY, "phase", "polar", "rect", "isnan", "isinf", "isfinite", "isclose"))


def call(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``cmath.name(*args)``."""
    if all(isinstance(a, Static) for a in [*args, *keywords.values()]):
        given = {k: v.value for k, v in keywords.items() if isinstance(v, Static)}
        result = asked(ctx, getattr(cmath, name), *[a.value for a in args if isinstance(a, Static)], **given)
        return Seq(tuple(Static(r) for r in result)) if isinstance(result, tuple) else Static(result)
    match name:
        case "rect":
            return _rect(ctx, *(ctx.let(b.cast(scalar_expr(ctx, a), "float64"), "x") for a in args))
        case "isclose":
            return _isclose(ctx, args, keywords)
    values = [ctx.let(b.cast(scalar_expr(ctx, a), "complex128"), "z") for a in args]
    z = values[0]
    match name:
        case "isnan" | "isinf" | "isfinite":
            return Scalar(Apply(name, (z,), "bool"), True)
        case "phase":
            return Scalar(_phase(z), True)
        case "polar":
            size = ctx.let(Apply("absolute", (z,), "float64"), "size")
            _no_overflow(ctx, size, z)
            return Seq((Scalar(size, True), Scalar(ctx.let(_phase(z), "phase"), True)))
        case "log" if len(values) == 2:
            over, under = (_elementary(ctx, "log", v) for v in values)
            zero = Const(0j, "complex128")
            ctx.guard(Apply("not_equal", (under, zero), "bool"), "ZeroDivisionError", "complex division by zero")
            return Scalar(Apply("python_divide", (over, under), "complex128"), True)
        case _:
            return Scalar(_elementary(ctx, name, z), True)


def _part(name: str, z: Expr) -> Expr:
    return Apply(name, (z,), "float64")


def _phase(z: Expr) -> Expr:
    return Apply("arctan2", (_part("imag", z), _part("real", z)), "float64")


def _is(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "bool")


def _no_overflow(ctx: Context, value: Expr, z: Expr) -> None:
    overflow = b.both(_is("isinf", value), _is("isfinite", z))
    ctx.guard(b.logical_not(overflow), "OverflowError", "math range error")


def _infinite_turn(turned: str, other: str, stays: Callable[[Expr], Expr]) -> Callable[[Expr], Expr]:
    """The condition that an angle is infinite where the function needs one."""
    return lambda z: b.both(_is("isinf", _part(turned, z)), stays(_part(other, z)))


def _known(x: Expr) -> Expr:
    return b.logical_not(_is("isnan", x))


def _not_low(x: Expr) -> Expr:
    return _is("greater", x, Const(-math.inf, "float64"))


def _finite(x: Expr) -> Expr:
    return _is("isfinite", x)


def _at(*points: complex) -> Callable[[Expr], Expr]:
    def condition(z: Expr) -> Expr:
        found: Expr = b.FALSE
        for point in points:
            found = b.either(found, _is("equal", z, Const(complex(point), "complex128")))
        return found

    return condition


_BAD: dict[str, Callable[[Expr], Expr]] = {
    "exp": _infinite_turn("imag", "real", _not_low), "log": _at(0), "log10": _at(0), "atan": _at(1j, -1j),
    "atanh": _at(1, -1), "sinh": _infinite_turn("imag", "real", _known), "cosh": _infinite_turn("imag", "real", _known),
    "tanh": _infinite_turn("imag", "real", _finite), "sin": _infinite_turn("real", "imag", _known),
    "cos": _infinite_turn("real", "imag", _known), "tan": _infinite_turn("real", "imag", _finite),
}  # fmt: skip
_OVERFLOWING = ("exp", "sinh", "cosh", "sin", "cos")


def _elementary(ctx: Context, name: str, z: Expr) -> Expr:
    if name in _BAD:
        ctx.guard(b.logical_not(_BAD[name](z)), "ValueError", "math domain error")
    value = ctx.let(Apply(_ELEMENTARY[name], (z,), "complex128"), name)
    if name in _OVERFLOWING:
        _no_overflow(ctx, value, z)
    return value


def _rect(ctx: Context, r: Expr, phi: Expr) -> Value:
    """``r * (cos(phi) + 1j * sin(phi))``; an angle of zero leaves no imaginary part but its sign."""
    zero = Const(0.0, "float64")
    nothing = b.both(_is("isinf", phi), b.both(_is("not_equal", r, zero), _known(r)))
    ctx.guard(b.logical_not(nothing), "ValueError", "math domain error")
    flat = _is("equal", phi, zero)
    real = b.where(flat, r, Apply("multiply", (r, Apply("cos", (phi,), "float64")), "float64"))
    sine = b.where(flat, phi, Apply("sin", (phi,), "float64"))
    imag = Apply("multiply", (r, sine), "float64")
    vanishes = b.both(_is("equal", r, zero), b.logical_not(_finite(phi)))
    parts = tuple(b.where(vanishes, zero, part) for part in (real, imag))
    return Scalar(Apply("complex", parts, "complex128"), True)


def _isclose(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    given: dict[str, Any] = dict(zip(("a", "b"), args, strict=False)) | dict(keywords)
    x, y = (ctx.let(b.cast(scalar_expr(ctx, given[k]), "complex128"), k) for k in "ab")
    relative, absolute = (
        ctx.let(b.cast(scalar_expr(ctx, given.get(k, Static(default))), "float64"), k)
        for k, default in (("rel_tol", 1e-09), ("abs_tol", 0.0))
    )
    gap = ctx.let(Apply("absolute", (Apply("subtract", (x, y), "complex128"),), "float64"), "gap")
    near = _is("less_equal", gap, absolute)
    for v in (x, y):
        size = Apply("multiply", (relative, Apply("absolute", (v,), "float64")), "float64")
        near = b.either(near, _is("less_equal", gap, size))
    infinite = b.either(_is("isinf", x), _is("isinf", y))
    return Scalar(b.either(_is("equal", x, y), b.both(b.logical_not(infinite), near)), True)

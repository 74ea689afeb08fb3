"""Python's `math`: functions of numbers, floats out, with its ValueErrors and OverflowErrors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transkern import refusals
from transkern.errors import TOO_LARGE, NeedsConstant
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import iteration
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy import ufuncs
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.python.whole import check_number, exact_expr, in_64_bits, integer_expr, to_integer
from transkern.frontend.values.asking import asked
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Known, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.ops import OPS

# C's and NumPy's name of each
FUNCTIONS = {
    "sqrt": "sqrt", "exp": "exp", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1",
    "erf": "erf", "erfc": "erfc", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "fabs": "absolute", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "pow": "power", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite", "copysign": "copysign", "log": "log", "hypot": "hypot", "fmod": "fmod",
    "exp2": "exp2", "cbrt": "cbrt", "radians": "", "degrees": "", "isclose": "", "gcd": "", "modf": "", "frexp": "",
    "ldexp": "", "prod": "", "dist": "", "factorial": "", "comb": "", "perm": "", "lcm": "", "isqrt": "",
}  # fmt: skip
_CONSTANT = ("factorial", "comb", "perm")  # integers that outgrow 64 bits
_WHOLE = ("lcm", "isqrt")
_FAR = 5000
_ROUNDING = ("floor", "ceil", "trunc")


def call(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``math.name(*args)``."""
    if all(isinstance(a, Static) for a in [*args, *keywords.values()]):
        given = {k: v.value for k, v in keywords.items() if isinstance(v, Static)}
        result = asked(ctx, getattr(math, name), *[a.value for a in args if isinstance(a, Static)], **given)
        return Seq(tuple(Static(r) for r in result)) if isinstance(result, tuple) else Static(result)
    if name in _CONSTANT:
        help = "give it a constant, or compute it in a loop: it may have more bits than the 64 of compiled code"
        unknown = next(a for a in args if not isinstance(a, Static))
        ctx.must_be_known(unknown, f"math.{name} of a run-time number", help)
    if name in _WHOLE:
        return compose(ctx, "numbers/whole", name, [Scalar(integer_expr(ctx, a), True) for a in args], {})
    special = _SPECIAL.get(name)
    if special is not None:
        made: Value = special(ctx, args, keywords)
        return made
    for a in args:
        check_number(ctx, a)
    exprs = [exact_expr(ctx, a) for a in args]
    if name in _ROUNDING:
        return to_integer(ctx, exprs[0], name)
    floats = [ctx.let(b.cast(e, "float64"), "x") for e in exprs]
    _check(ctx, name, floats)
    if name in ("radians", "degrees"):
        factor = math.pi / 180 if name == "radians" else 180 / math.pi
        return Scalar(_apply("multiply", floats[0], _number(factor)), True)
    if name == "log" and len(floats) == 2:
        _check(ctx, name, floats[1:])
        top, bottom = (ctx.let(_apply("log", f), "log") for f in floats)
        ctx.guard(_compare("not_equal", bottom, 0.0), "ZeroDivisionError", "division by zero")
        return Scalar(_apply("divide", top, bottom), True)
    if name == "hypot" and len(floats) != 2:
        return Scalar(_root_of_squares(floats), True)
    result_type = "bool" if OPS[FUNCTIONS[name]].result else "float64"
    value: Expr = Apply(FUNCTIONS[name], tuple(floats), result_type)
    if name in _OVERFLOWING:
        value = ctx.let(value, name)
        finite: Expr = b.TRUE
        for f in floats:
            finite = b.both(finite, Apply("isfinite", (f,), "bool"))
        overflow = b.both(Apply("isinf", (value,), "bool"), finite)
        ctx.guard(b.logical_not(overflow), "OverflowError", "math range error")
    return Scalar(value, True)


# --- errors

_OVERFLOWING = ("exp", "exp2", "expm1", "sinh", "cosh", "pow")
_BAD: dict[str, tuple[tuple[float, ...], Callable[[list[Expr]], Expr]]] = {
    "sqrt": ((-1.0,), lambda x: _compare("less", x[0], 0.0)),
    "log": ((-1.0,), lambda x: _compare("less_equal", x[0], 0.0)),
    "log2": ((-1.0,), lambda x: _compare("less_equal", x[0], 0.0)),
    "log10": ((-1.0,), lambda x: _compare("less_equal", x[0], 0.0)),
    "log1p": ((-2.0,), lambda x: _compare("less_equal", x[0], -1.0)),
    "asin": ((-2.0,), lambda x: _compare("greater", _apply("absolute", x[0]), 1.0)),
    "acos": ((-2.0,), lambda x: _compare("greater", _apply("absolute", x[0]), 1.0)),
    "acosh": ((0.5,), lambda x: _compare("less", x[0], 1.0)),
    "atanh": ((-2.0,), lambda x: _compare("greater_equal", _apply("absolute", x[0]), 1.0)),
    "sin": ((math.inf,), lambda x: Apply("isinf", (x[0],), "bool")),
    "cos": ((math.inf,), lambda x: Apply("isinf", (x[0],), "bool")),
    "tan": ((math.inf,), lambda x: Apply("isinf", (x[0],), "bool")),
    "fmod": ((1.0, 0.0), lambda x: b.both(b.logical_not(_any_nan(x)), b.either(
        Apply("isinf", (x[0],), "bool"), _compare("equal", x[1], 0.0)))),
    "pow": ((-1.0, 0.5), lambda x: b.either(
        b.both(_compare("equal", x[0], 0.0), b.both(_compare("less", x[1], 0.0), Apply("isfinite", (x[1],), "bool"))),
        b.both(
            b.both(_compare("less", x[0], 0.0), Apply("isfinite", (x[0],), "bool")),
            b.both(
                Apply("isfinite", (x[1],), "bool"),
                Apply("not_equal", (_apply("floor", x[1]), x[1]), "bool"),
            ),
        ),
    )),
}  # fmt: skip
"""Arguments that Python refuses: an example, whose message serves for all, and the condition."""


def _check(ctx: Context, name: str, x: list[Expr]) -> None:
    if name not in _BAD:
        return
    example, bad = _BAD[name]
    try:
        getattr(math, name)(*example)
    except ValueError as error:
        text = str(error)
    shown = repr(example[0])
    args = (x[0],) if shown in text else ()  # newer Pythons tell the number
    ctx.guard(b.logical_not(bad(x)), "ValueError", text.replace(shown, "{!r}") if args else text, args)


def _number(value: float) -> Const:
    return Const(value, "float64")


def _apply(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "float64")


def _compare(op: str, x: Expr, value: float) -> Expr:
    return Apply(op, (x, _number(value)), "bool")


def _any_nan(x: list[Expr]) -> Expr:
    return b.either(Apply("isnan", (x[0],), "bool"), Apply("isnan", (x[1],), "bool"))


# --- functions of another form


def _root_of_squares(parts: list[Expr]) -> Expr:
    if not parts:
        return Const(0.0, "float64")
    total: Expr = _apply("absolute", parts[0])
    for part in parts[1:]:
        total = _apply("hypot", total, part)
    return total


def _isclose(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    given = dict(zip(("a", "b"), args, strict=False)) | dict(keywords)
    x, y, relative, absolute = (
        ctx.let(b.cast(exact_expr(ctx, given.get(k, Static(default))), "float64"), k)
        for k, default in (("a", 0.0), ("b", 0.0), ("rel_tol", 1e-09), ("abs_tol", 0.0))
    )
    gap = ctx.let(_apply("absolute", _apply("subtract", x, y)), "gap")
    sizes = [_apply("multiply", relative, _apply("absolute", v)) for v in (x, y)]
    near: Expr = Apply("less_equal", (gap, absolute), "bool")
    for size in sizes:
        near = b.either(near, Apply("less_equal", (gap, size), "bool"))
    finite = b.both(Apply("isfinite", (x,), "bool"), Apply("isfinite", (y,), "bool"))
    return Scalar(b.either(Apply("equal", (x, y), "bool"), b.both(finite, near)), True)


def _gcd(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 2:
        ctx.fail(refusals.OPTION, "math.gcd of other than two numbers", "nest it: math.gcd(math.gcd(a, b), c)")
    big, small = ctx.names.variable("a", "index"), ctx.names.variable("b", "index")
    for variable, arg in ((big, args[0]), (small, args[1])):
        value = b.as_index(in_64_bits(ctx, exact_expr(ctx, arg), "OverflowError", TOO_LARGE))
        negative = b.compare("less", value, b.ZERO)
        ctx.emit(n.Assign(variable.name, b.where(negative, b.neg(value), value)))
    rest = ctx.names.fresh("rest")
    step = (
        n.Let(rest, b.mod(big, small)), n.Assign(big.name, small), n.Assign(small.name, Var(rest)),
    )  # fmt: skip
    ctx.emit(n.While((), b.compare("not_equal", small, b.ZERO), step))
    return Scalar(big, True)


def _modf(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    x = ctx.let(b.cast(exact_expr(ctx, args[0]), "float64"), "x")
    whole = ctx.let(_apply("trunc", x), "whole")
    infinite = Apply("isinf", (x,), "bool")
    part = b.where(infinite, _number(0.0), _apply("subtract", x, whole))
    return Seq((Scalar(_apply("copysign", part, x), True), Scalar(whole, True)))


def _frexp(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    x = Scalar(ctx.let(b.cast(exact_expr(ctx, args[0]), "float64"), "x"))
    found = ufuncs.evaluate(ctx, "frexp", [x])
    assert isinstance(found, Seq)
    part, exponent = (scalar_expr(ctx, v) for v in found.items)
    return Seq((Scalar(part, True), Scalar(b.cast(exponent, "index"), True)))


def _ldexp(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    given = exact_expr(ctx, args[1])
    if not given.dtype.startswith(("index", "int", "uint", "bool")):
        ctx.guard(b.FALSE, "TypeError", "Expected an int as second argument to ldexp.")
    x = ctx.let(b.cast(exact_expr(ctx, args[0]), "float64"), "x")
    exponent = b.as_index(in_64_bits(ctx, given, "OverflowError", TOO_LARGE))
    few = b.maximum(b.minimum(exponent, b.index(_FAR)), b.index(-_FAR))  # all floats are zero or infinite before
    made = apply(ctx, "ldexp", [Scalar(x), Scalar(b.cast(few, "int32"))])
    found = ctx.let(scalar_expr(ctx, made), "found")
    endless = b.both(Apply("isinf", (found,), "bool"), b.logical_not(Apply("isinf", (x,), "bool")))
    ctx.guard(b.logical_not(endless), "OverflowError", "math range error")
    return Scalar(found, True)


def _prod(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    counted = iteration(ctx, args[0])
    total: Value = keywords.get("start", Static(1))
    if not isinstance(counted, list):
        return compose(ctx, "lists", "reduced", [Known("operator.mul"), args[0], total], {})
    for item in counted:
        total = apply(ctx, "multiply", [total, item], operator_call=True)
    return total


def _coordinates(ctx: Context, point: Value) -> list[Value]:
    """What a point of math.dist is made of; the length of an array is one of those that must be known."""
    counted = iteration(ctx, point)
    if isinstance(counted, list):
        return counted
    start, stop, step, element = counted
    trips = trip_count(start, stop, step)
    extent = b.constant(trips)
    if extent is None:
        problem, help = "math.dist of points of run-time length", "use np.linalg.norm(p - q) of two arrays"
        error = ctx.error(refusals.RUN_TIME_LENGTH, problem, help)
        if isinstance(trips, Var) and b.is_size_name(trips.name):
            raise NeedsConstant(trips.name, error)
        ctx.must_be_known(Scalar(trips, True), problem, help, refusals.RUN_TIME_LENGTH)
    return [element(b.add(start, b.mul(step, b.index(k)))) for k in range(extent)]


def _dist(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    points = [_coordinates(ctx, a) for a in args]
    one, two = ([b.cast(exact_expr(ctx, v), "float64") for v in p] for p in points)
    if len(one) != len(two):
        ctx.guard(b.FALSE, "ValueError", "both points must have the same number of dimensions")
    return Scalar(_root_of_squares([_apply("subtract", x, y) for x, y in zip(one, two, strict=True)]), True)


_SPECIAL: dict[str, Any] = {
    "isclose": _isclose, "gcd": _gcd, "modf": _modf, "frexp": _frexp, "ldexp": _ldexp, "prod": _prod, "dist": _dist,
}  # fmt: skip

"""Arithmetic of complex numbers on their real and imaginary parts, as NumPy's loops and CPython's floats do it.

The formulas are those of ``numpy/_core/src/umath/loops.c.src``, ``numpy/_core/src/umath/funcs.inc.src`` and CPython's
``Objects/complexobject.c``: products are the plain four (no recovery of infinities), quotients are Smith's. What NumPy
takes from the C library (square roots, exponentials, …) are the ops ``complex_sqrt_real``, ``complex_sqrt_imag``, ….
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.ops import COMPLEX_FUNCTIONS

Pair: TypeAlias = tuple[Expr, Expr]
Hold: TypeAlias = Callable[[Expr], Expr]
"""Gives an expression that is used more than once a name."""


def _do(op: str, *args: Expr) -> Expr:
    return Apply(op, args, args[0].dtype)


def _is(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "bool")


def _number(value: float, like: Expr) -> Const:
    return Const(value, like.dtype)


def _add(x: Expr, y: Expr) -> Expr:
    return _do("add", x, y)


def _sub(x: Expr, y: Expr) -> Expr:
    return _do("subtract", x, y)


def _mul(x: Expr, y: Expr) -> Expr:
    return _do("multiply", x, y)


def _div(x: Expr, y: Expr) -> Expr:
    return _do("divide", x, y)


def _abs(x: Expr) -> Expr:
    return _do("absolute", x)


def _both(x: Expr, y: Expr) -> Expr:
    """``x & y``: without a jump between them."""
    return _is("logical_and", x, y)


def _either(x: Expr, y: Expr) -> Expr:
    return _is("logical_or", x, y)


def multiply(x: Pair, y: Pair) -> Pair:
    """The four products, as NumPy's scalars and CPython have them."""
    (a, b_), (c, d) = x, y
    return _sub(_mul(a, c), _mul(b_, d)), _add(_mul(a, d), _mul(b_, c))


def multiply_arrays(x: Pair, y: Pair) -> Pair:
    """The product of NumPy's vector loops, which add the second pair of products to the first without rounding it."""
    (a, b_), (c, d) = x, y
    return _do("multiply_add", a, c, _do("negative", _mul(b_, d))), _do("multiply_add", a, d, _mul(b_, c))


def divide(x: Pair, y: Pair, hold: Hold) -> Pair:
    """Smith's method with NumPy's reciprocal of the scale; a division by zero divides both parts by it."""
    (a, b_), (c, d) = x, y
    size_c, size_d = hold(_abs(c)), hold(_abs(d))
    larger = hold(_is("greater_equal", size_c, size_d))
    zero = hold(_both(_is("equal", size_c, _number(0.0, c)), _is("equal", size_d, _number(0.0, c))))
    big, small = hold(b.where(larger, c, d)), hold(b.where(larger, d, c))
    ratio = hold(_div(small, big))
    scale = hold(_div(_number(1.0, c), _add(big, _mul(small, ratio))))
    real = b.where(larger, _add(a, _mul(b_, ratio)), _add(_mul(a, ratio), b_))
    imag = b.where(larger, _sub(b_, _mul(a, ratio)), _sub(_mul(b_, ratio), a))
    return b.where(zero, _div(a, size_c), _mul(real, scale)), b.where(zero, _div(b_, size_c), _mul(imag, scale))


def quotient(x: Pair, y: Pair, hold: Hold) -> Pair:
    """CPython's ``/``: Smith's method, dividing by the scale. (Division by zero is guarded.)"""
    (a, b_), (c, d) = x, y
    size_c, size_d = hold(_abs(c)), hold(_abs(d))
    larger = hold(_is("greater_equal", size_c, size_d))
    unordered = hold(b.logical_not(_either(larger, _is("greater_equal", size_d, size_c))))
    big, small = hold(b.where(larger, c, d)), hold(b.where(larger, d, c))
    ratio = hold(_div(small, big))
    scale = hold(_add(big, _mul(small, ratio)))
    real = b.where(larger, _add(a, _mul(b_, ratio)), _add(_mul(a, ratio), b_))
    imag = b.where(larger, _sub(b_, _mul(a, ratio)), _sub(_mul(b_, ratio), a))
    nan = _number(math.nan, c)
    return b.where(unordered, nan, _div(real, scale)), b.where(unordered, nan, _div(imag, scale))


def reciprocal(x: Pair, hold: Hold) -> Pair:
    a, b_ = x
    larger = hold(_is("less_equal", _abs(b_), _abs(a)))
    big, small = hold(b.where(larger, a, b_)), hold(b.where(larger, b_, a))
    ratio = hold(_div(small, big))
    scale = hold(b.where(larger, _add(a, _mul(b_, ratio)), _add(_mul(a, ratio), b_)))
    one = _number(1.0, a)
    return (
        _div(b.where(larger, one, ratio), scale),
        _div(b.where(larger, _do("negative", ratio), _number(-1.0, a)), scale),
    )


def sign(x: Pair, hold: Hold) -> Pair:
    """``x / |x|``; an infinite part against a finite one wins, two give NaN."""
    a, b_ = x
    size = hold(_do("hypot", a, b_))
    one, zero, nan = _number(1.0, a), _number(0.0, a), _number(math.nan, a)
    wide, high = hold(_is("isinf", a)), hold(_is("isinf", b_))
    infinite, nothing = hold(_is("isinf", size)), hold(_is("equal", size, zero))
    undefined = hold(_either(_is("isnan", size), _both(wide, high)))
    real = b.where(wide, _do("copysign", one, a), b.where(infinite, zero, b.where(nothing, zero, _div(a, size))))
    imag = b.where(high, _do("copysign", one, b_), b.where(infinite, zero, b.where(nothing, zero, _div(b_, size))))
    return b.where(undefined, nan, real), b.where(undefined, nan, imag)


def compare(op: str, x: Pair, y: Pair) -> Expr:
    """NumPy's comparisons: by the real parts, then by the imaginary ones; nothing compares with NaN."""
    (a, b_), (c, d) = x, y
    if op == "equal":
        return _both(_is("equal", a, c), _is("equal", b_, d))
    if op == "not_equal":
        return _either(_is("not_equal", a, c), _is("not_equal", b_, d))
    first = _is("greater" if op.startswith("greater") else "less", a, c)
    known = _both(b.logical_not(_is("isnan", b_)), b.logical_not(_is("isnan", d)))
    return _either(_both(first, known), _both(_is("equal", a, c), _is(op, b_, d)))


def is_nan(x: Pair) -> Expr:
    return _either(_is("isnan", x[0]), _is("isnan", x[1]))


def nonzero(x: Pair) -> Expr:
    zero = _number(0.0, x[0])
    return _either(_is("not_equal", x[0], zero), _is("not_equal", x[1], zero))


def extremum(op: str, x: Pair, y: Pair, hold: Hold) -> Pair:
    """``maximum``, ``minimum`` (NaN wins), ``fmax``, ``fmin`` (NaN loses)."""
    better = compare("greater_equal" if op in ("maximum", "fmax") else "less_equal", x, y)
    first = hold(_either(better, is_nan(x if op in ("maximum", "minimum") else y)))
    return b.where(first, x[0], y[0]), b.where(first, x[1], y[1])


def whole_power(x: Pair, exponent: int, hold: Hold, python: bool) -> Pair:
    """A small constant power: products in NumPy's order, or in CPython's."""
    zero = _number(0.0, x[0])
    one = (_number(1.0, x[0]), zero)
    if exponent == 0:
        return one
    if not python:
        nothing = hold(_both(_is("equal", x[0], zero), _is("equal", x[1], zero)))
        limit = zero if exponent > 0 else _number(math.nan, x[0])
        made = products(x, exponent, hold, python)
        return b.where(nothing, limit, made[0]), b.where(nothing, limit, made[1])
    return products(x, exponent, hold, python)


def products(x: Pair, exponent: int, hold: Hold, python: bool) -> Pair:
    """A whole power (not 0) as products."""

    def kept(pair: Pair) -> Pair:
        return hold(pair[0]), hold(pair[1])

    one = (_number(1.0, x[0]), _number(0.0, x[0]))
    if not python and exponent in (1, 2, 3):
        squared = x if exponent == 1 else multiply(x, x)
        return multiply(x, kept(squared)) if exponent == 3 else squared
    left, factor = abs(exponent), x
    total: Pair = one
    while True:
        if left & 1:
            total = kept(multiply(total, factor))
        left >>= 1
        if not left:
            break
        factor = kept(multiply(factor, factor))
    if exponent > 0:
        return total
    return quotient(one, total, hold) if python else divide(one, total, hold)


def python_power(x: Pair, y: Pair, hold: Hold) -> Pair:
    """CPython's ``**`` for exponents that are no small integers: by way of the polar form."""
    (a, b_), (c, d) = x, y
    size, angle = hold(_do("hypot", a, b_)), hold(_do("arctan2", b_, a))
    turned = hold(_is("not_equal", d, _number(0.0, d)))
    length, phase = hold(_do("power", size, c)), hold(_mul(angle, c))
    length = hold(b.where(turned, _mul(length, _do("exp", _mul(_do("negative", angle), d))), length))
    phase = hold(b.where(turned, _add(phase, _mul(d, _do("log", size))), phase))
    nothing = hold(_both(_is("equal", a, _number(0.0, a)), _is("equal", b_, _number(0.0, a))))
    zero = _number(0.0, a)
    real, imag = _mul(length, _do("cos", phase)), _mul(length, _do("sin", phase))
    return b.where(nothing, zero, real), b.where(nothing, zero, imag)


def scaled(name: str, x: Pair, hold: Hold, function: Callable[[str, Pair], Pair]) -> Pair:
    """``exp2``, ``log2`` and ``log10``, as NumPy makes them of ``exp`` and ``log``."""
    if name == "exp2":
        factor = _number(math.log(2.0), x[0])
        return function("exp", (hold(_mul(x[0], factor)), hold(_mul(x[1], factor))))
    factor = _number(math.log2(math.e) if name == "log2" else math.log10(math.e), x[0])
    real, imag = function("log", x)
    return _mul(real, factor), _mul(imag, factor)


def function(name: str, x: Pair, hold: Hold) -> Pair:
    """An elementary function; those that NumPy takes from the C library are ops of their own."""
    if name in COMPLEX_FUNCTIONS:
        return _do(f"complex_{name}_real", *x), _do(f"complex_{name}_imag", *x)
    return scaled(name, x, hold, lambda of, y: function(of, y, hold))

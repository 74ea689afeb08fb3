"""Complex functions written out in real ones, for targets without a C library: their special values are C's (Annex G).

The formulas are the textbook's, guarded where they overflow or cancel (glibc's `math/s_c*_template.c` was the guide).
The inverse functions of sines and tangents are not here: their formulas lose digits where the C library does not.
"""

from __future__ import annotations

import math

from transkern.fuse.lowering.complex_parts import Hold, Pair, products
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

WRITTEN_OUT = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p")


def _do(op: str, *args: Expr) -> Expr:
    return Apply(op, args, args[0].dtype)


def _is(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "bool")


def _both(x: Expr, y: Expr) -> Expr:
    return _is("logical_and", x, y)


def _number(value: float, like: Expr) -> Const:
    return Const(value, like.dtype)


def _mul(x: Expr, y: Expr) -> Expr:
    return _do("multiply", x, y)


def _add(x: Expr, y: Expr) -> Expr:
    return _do("add", x, y)


def _neg(x: Expr) -> Expr:
    return _do("negative", x)


def _is_zero(x: Expr) -> Expr:
    return _is("equal", x, _number(0.0, x))


def _limits(x: Expr) -> tuple[float, float]:
    """From where on an exponential is scaled, and by how much less its argument then is."""
    return (700.0, 600.0) if x.dtype == "float64" else (85.0, 60.0)


def _scaled_exp(x: Expr, factor: Expr, hold: Hold, times: float = 1.0) -> Expr:
    """``exp(x) * times * factor``, where only the product must not overflow."""
    high, less = _limits(x)
    huge = hold(_is("greater", x, _number(high, x)))
    reduced = hold(_do("exp", b.where(huge, _do("subtract", x, _number(less, x)), x)))
    return _mul(reduced, _mul(b.where(huge, _number(math.exp(less) * times, x), _number(times, x)), factor))


def exp(z: Pair, hold: Hold) -> Pair:
    x, y = z
    flat, turned = hold(_is_zero(y)), hold(_is("isfinite", y))
    low, high = hold(_is("equal", x, _number(-math.inf, x))), hold(_is("equal", x, _number(math.inf, x)))
    zero, nan = _number(0.0, x), _number(math.nan, x)
    real = b.where(turned, _scaled_exp(x, _do("cos", y), hold), b.where(low, zero, b.where(high, x, nan)))
    imag = b.where(turned, _scaled_exp(x, _do("sin", y), hold), b.where(low, _do("copysign", zero, y), nan))
    return b.where(flat, _do("exp", x), real), b.where(flat, y, imag)


def log(z: Pair, hold: Hold) -> Pair:
    """Near the unit circle by way of ``x * x + y * y - 1``, so that the digits stay."""
    x, y = z
    p, q = hold(_do("absolute", x)), hold(_do("absolute", y))
    size = hold(_do("hypot", x, y))
    big, small = hold(_do("fmax", p, q)), hold(_do("fmin", p, q))
    one, half = _number(1.0, x), _number(0.5, x)
    excess = _add(_mul(_do("subtract", big, one), _add(big, one)), _mul(small, small))
    near = _both(_is("greater", size, half), _is("less", size, _number(2.0, x)))
    over = _both(_is("isinf", size), _both(_is("isfinite", x), _is("isfinite", y)))
    tiny = hold(_is("less", size, _number(1e-290 if x.dtype == "float64" else 1e-30, x)))
    power = 108 if x.dtype == "float64" else 48
    scale = hold(b.where(tiny, _number(2.0**power, x), half))
    back = b.where(tiny, _number(-power * math.log(2), x), _number(math.log(2), x))
    scaled = _add(_do("log", _do("hypot", _mul(x, scale), _mul(y, scale))), back)
    plain = b.where(near, _mul(half, _do("log1p", excess)), _do("log", size))
    return b.where(_is("logical_or", over, tiny), scaled, plain), _do("arctan2", y, x)


def sqrt(z: Pair, hold: Hold) -> Pair:
    x, y = z
    wide = x.dtype == "float64"
    size = hold(_do("fmax", _do("absolute", x), _do("absolute", y)))
    huge = hold(_is("greater", size, _number(1e300 if wide else 1e37, x)))
    tiny = hold(_is("less", size, _number(1e-290 if wide else 1e-30, x)))
    up, down = (2.0**108, 2.0**-54) if wide else (2.0**48, 2.0**-24)
    scale = hold(b.where(huge, _number(0.0625, x), b.where(tiny, _number(up, x), _number(1.0, x))))
    back = hold(b.where(huge, _number(4.0, x), b.where(tiny, _number(down, x), _number(1.0, x))))
    p, q = hold(_mul(x, scale)), hold(_mul(y, scale))
    root = hold(_do("sqrt", _mul(_add(_do("absolute", p), _do("hypot", p, q)), _number(0.5, x))))
    other = hold(_do("divide", q, _mul(_number(2.0, x), root)))
    right = hold(_is("greater_equal", x, _number(0.0, x)))
    real = b.where(right, _mul(root, back), _mul(_do("absolute", other), back))
    imag = b.where(right, _mul(other, back), _do("copysign", _mul(root, back), y))
    nothing, endless = hold(_both(_is_zero(x), _is_zero(y))), hold(_is("isinf", y))
    real = b.where(endless, _number(math.inf, x), b.where(nothing, _number(0.0, x), real))
    return real, b.where(nothing, y, b.where(endless, y, imag))


def _hyperbolic(x: Expr, factor: Expr, even: bool, hold: Hold) -> Expr:
    """``cosh(x) * factor``, or ``sinh(x) * factor``, where only the product must not overflow."""
    size = hold(_do("absolute", x))
    high, _ = _limits(x)
    huge = hold(_is("greater", size, _number(high, x)))
    far = _scaled_exp(size, factor, hold, 0.5)
    if not even:
        far = _mul(_do("copysign", _number(1.0, x), x), far)
    return b.where(huge, far, _mul(_do("cosh" if even else "sinh", x), factor))


def sinh(z: Pair, hold: Hold, endless_is: float = math.inf) -> Pair:
    """`endless_is`: the real part at an infinity whose angle is not known."""
    x, y = z
    turned, endless = hold(_is("isfinite", y)), hold(_is("isinf", x))
    nan = _number(math.nan, x)
    real = _hyperbolic(x, _do("cos", y), False, hold)
    imag = _hyperbolic(x, _do("sin", y), True, hold)
    lost = b.where(_is_zero(x), x, b.where(endless, _number(endless_is, x), nan))
    return b.where(turned, real, lost), b.where(_is_zero(y), y, b.where(turned, imag, nan))


def cosh(z: Pair, hold: Hold) -> Pair:
    x, y = z
    turned, endless = hold(_is("isfinite", y)), hold(_is("isinf", x))
    nan = _number(math.nan, x)
    real = _hyperbolic(x, _do("cos", y), True, hold)
    imag = _hyperbolic(x, _do("sin", y), False, hold)
    flat = _mul(y, _do("copysign", _number(1.0, x), x))
    lost = b.where(_is_zero(x), _number(0.0, x), nan)
    return (
        b.where(turned, real, b.where(endless, _number(math.inf, x), nan)),
        b.where(_is_zero(y), flat, b.where(turned, imag, lost)),
    )


def tanh(z: Pair, hold: Hold) -> Pair:
    x, y = z
    one, nan = _number(1.0, x), _number(math.nan, x)
    sine, cosine, size = hold(_do("sin", y)), hold(_do("cos", y)), hold(_do("absolute", x))
    far = hold(_is("greater", size, _number(22.0 if x.dtype == "float64" else 10.0, x)))
    slope = hold(_do("sinh", x))
    below = hold(_add(_mul(slope, slope), _mul(cosine, cosine)))
    decay = hold(_do("exp", _neg(size)))
    turn = hold(_mul(sine, cosine))
    real = b.where(far, _do("copysign", one, x), _do("divide", _mul(slope, _do("cosh", x)), below))
    imag = b.where(far, _mul(_mul(_mul(_number(4.0, x), turn), decay), decay), _do("divide", turn, below))
    turned, endless = hold(_is("isfinite", y)), hold(_is("isinf", x))
    flat = hold(_is_zero(y))
    unknown = hold(_is("isnan", x))
    real = b.where(turned, real, b.where(endless, _do("copysign", one, x), b.where(_is_zero(x), x, nan)))
    real = b.where(_both(unknown, flat), x, real)
    return real, b.where(flat, y, b.where(turned, imag, b.where(endless, _do("copysign", _number(0.0, x), y), nan)))


def expm1(z: Pair, hold: Hold) -> Pair:
    x, y = z
    half = hold(_do("sin", _mul(y, _number(0.5, y))))
    real = _mul(_do("expm1", x), _do("cos", y))
    return _do("subtract", real, _mul(_mul(_number(2.0, x), half), half)), _mul(_do("exp", x), _do("sin", y))


def log1p(z: Pair, hold: Hold) -> Pair:
    x, y = z
    shifted = hold(_add(x, _number(1.0, x)))
    return _do("log", _do("hypot", shifted, y)), _do("arctan2", y, shifted)


def _turned(z: Pair) -> Pair:
    """``1j * z``."""
    return _neg(z[1]), z[0]


def written_out(name: str, z: Pair, hold: Hold) -> Pair:
    """One of `WRITTEN_OUT` on parts that are cheap to read."""
    match name:
        case "sin" | "tan":  # -1j * sinh(1j * z)
            x, y = _turned(z)
            turned = (hold(x), y)
            real, imag = sinh(turned, hold, -math.inf) if name == "sin" else tanh(turned, hold)
            return imag, _neg(real)
        case "cos":
            x, y = _turned(z)
            return cosh((hold(x), y), hold)
        case _:
            functions = {
                "exp": exp, "log": log, "sqrt": sqrt, "sinh": sinh, "cosh": cosh, "tanh": tanh, "expm1": expm1,
                "log1p": log1p,
            }  # fmt: skip
            return functions[name](z, hold)


def _recovered(z: Pair, w: Pair, hold: Hold) -> Pair:
    """The product as C has it (Annex G): infinities are not lost to NaN. The C library's power is made with it."""
    (p, q), (c, d) = z, w
    products = [hold(_mul(x, y)) for x, y in ((p, c), (q, d), (p, d), (q, c))]
    real, imag = hold(_do("subtract", products[0], products[1])), hold(_add(products[2], products[3]))
    lost = hold(_both(_is("isnan", real), _is("isnan", imag)))
    first = hold(_is("logical_or", _is("isinf", p), _is("isinf", q)))
    second = hold(_is("logical_or", _is("isinf", c), _is("isinf", d)))
    grown: Expr = b.FALSE
    for product in products:
        grown = _is("logical_or", grown, _is("isinf", product))
    zero, one = _number(0.0, p), _number(1.0, p)

    def boxed(x: Expr, infinite: Expr) -> Expr:
        """A part of an infinite factor as one of the unit square; NaN beside an infinity is nothing."""
        corner = b.where(_is("isinf", x), one, zero)
        size = b.where(infinite, corner, b.where(_is("isnan", x), zero, _do("absolute", x)))
        return hold(_do("copysign", size, x))

    a, e = boxed(p, first), boxed(q, first)
    f, g = boxed(c, second), boxed(d, second)
    again = hold(_both(lost, _is("logical_or", _is("logical_or", first, second), grown)))
    endless = _number(math.inf, p)
    return (
        hold(b.where(again, _mul(endless, _do("subtract", _mul(a, f), _mul(e, g))), real)),
        hold(b.where(again, _mul(endless, _add(_mul(a, g), _mul(e, f))), imag)),
    )


def power(z: Pair, w: Pair, hold: Hold) -> Pair:
    """``exp(w * log(z))``, with NumPy's powers of zero and to zero, and its smallest whole ones as products."""
    (x, y), (c, d) = z, w
    zero, one, nan = _number(0.0, x), _number(1.0, x), _number(math.nan, x)
    p, q = (hold(part) for part in log(z, hold))
    made = exp(_recovered(w, (p, q), hold), hold)
    if not isinstance(c, Const):  # a constant that is whole has been written out before
        real = hold(_is_zero(d))
        for exponent in (1, 2, 3, -1):
            here = hold(_both(real, _is("equal", c, _number(float(exponent), x))))
            product = products(z, exponent, hold, python=False)
            made = b.where(here, product[0], made[0]), b.where(here, product[1], made[1])
    nothing, trivial = hold(_both(_is_zero(x), _is_zero(y))), hold(_both(_is_zero(c), _is_zero(d)))
    limit = hold(b.where(_is("greater", c, zero), zero, nan))
    return (
        b.where(trivial, one, b.where(nothing, limit, made[0])),
        b.where(trivial, zero, b.where(nothing, limit, made[1])),
    )

"""What is known of operands where an expression becomes C: what a compiler may find out, what is done at once."""

from __future__ import annotations

from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.traverse import walk_expr
from transkern.targets.chelpers import HELPERS, MATH, PRODUCTS, VECTOR_MATH

OF_VECTORS = ("float32", "float64")
"""The types of which there are vectors in functions."""


def kind_of(dtype: str) -> str:
    """``f`` float, ``i`` signed, ``u`` unsigned, ``b`` bool, ``x`` index, ``c`` complex."""
    return "x" if dtype == "index" else "c" if dtype.startswith("complex") else dtype[0]


def is_bit(e: Expr) -> bool:
    """Whether an integer is 0 or 1, as its lowest bit."""
    match e:
        case Apply("remainder", (_, Const(2)), dtype) | Apply("bitwise_and", (_, Const(1)), dtype):
            return kind_of(dtype) in "iux"
        case _:
            return False


def is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and str(e.value) in ("0", "0.0")


def may_be_zero(e: Expr) -> bool:
    """Whether `e` may be 0.0 or -0.0 once a C compiler has read it."""
    return e.value == 0 if isinstance(e, Const) else _is_known(e)


def _is_known(e: Expr) -> bool:
    """Whether a C compiler may find, as it reads an expression, that it has always one value (``k - k`` of integers).

    What it reads is one expression at a time: loads and variables have no value there.
    """
    match e:
        case Const():
            return True
        case Apply("where", (_, first, second)):
            return _is_known(first) or _is_known(second)
        case Apply("multiply", args) if any(isinstance(a, Const) and a.value == 0 for a in args):
            return True  # 0.0 * (double)k of an unsigned integer
        case Apply(_, args, dtype):
            return dtype[0] not in "fc" or all(map(_is_known, args))
        case _:
            return False


def is_called(e: Expr) -> bool:
    """Whether there is a function in `e` of which there are vector versions."""
    return any(isinstance(x, Apply) and _has_vectors(x.op, x.dtype) for x in walk_expr(e))


def _has_vectors(op: str, dtype: str) -> bool:
    return MATH.get(op) in VECTOR_MATH or (op in ("remainder", "floor_divide", "fmod") and dtype in OF_VECTORS)


def is_soon(e: Expr) -> bool:
    """Whether an operation is done at once, and with any operands."""
    return isinstance(e, Apply) and OPS[e.op].cost == 1


def is_plain(e: Expr) -> bool:
    """Whether `e` is nothing that is computed."""
    return isinstance(e, (Const, Var, Load))


def is_number(e: Expr) -> bool:
    """Whether `e` is a literal other than NaN."""
    return isinstance(e, Const) and not isinstance(e.value, complex) and e.value == e.value


_DIVISORS = 1 << 10


def by_constant(divisor: Expr) -> int:
    """The constant by which a quotient may be had from the constant's inverse; 0 where it may not.

    For an odd integer ``c < 2**10``: the product of ``x`` and the rounded inverse is within 1.5 units of the last place
    of ``x / c``, so that ``rest = x - q * c`` is a small multiple of such a unit: exact in a fused multiply-add. Then
    ``q + rest * inverse`` differs from ``x / c`` by less than 2**-20 units before it is rounded, and ``x / c`` is at
    least ``0.5 / c`` units from where rounding changes: it never stands there itself, since an odd multiple of half a
    unit times ``c`` has a bit more than ``x`` can have. This holds for subnormal quotients too.
    """
    match divisor:
        case Const(int() | float() as value, "float64" | "float32") if value == value // 1 and abs(value) < _DIVISORS:
            return int(value) if value % 2 and abs(value) != 1 else 0
        case _:
            return 0


def product_for(e: Expr) -> str:
    """The helper that computes powers of float32 or float64 by an exponent as products, quotients and roots, if any."""
    match e:
        case Const(int() | float() as value, "float32" | "float64") if abs(value) < PRODUCTS.stop:
            whole, rest = divmod(abs(value), 1)
            name = f"power_{'minus_' * (value < 0)}{int(whole)}{'_half' * (rest == 0.5)}"
            return name if rest in (0, 0.5) and name in HELPERS else ""
        case _:
            return ""


def power_of_two(e: Expr) -> int:
    """Which power of two a constant is, up to the 61st; 0 where it is none, or one."""
    match e:
        case Const(int(value)) if 1 < value < 2**62 and value & (value - 1) == 0:
            return value.bit_length() - 1
    return 0


def is_int(e: Expr) -> bool:
    """Whether C takes a number of 64 bits for an int: it has no more than small constants in it."""
    match e:
        case Const(value, "index" | "int64"):
            return abs(int(value)) < 2**31  # type: ignore[arg-type]
        case Apply("where", (_, x, y), _):
            return is_int(x) and is_int(y)
        case Apply("negative" | "positive", (x,), _):
            return is_int(x)
        case _:
            return False

"""The op table: one row for what an operation means. Targets say only how it is spelled.

`numpy` is the ufunc that answers typing and is the oracle. `pure_python` ops work on `index` (Python's integers) and on
Python floats with Python's own rules. `cost` is in units of one addition, for the fusion model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Op:
    name: str
    numpy: Callable[..., Any]
    arity: int
    cost: int = 1
    commutes: bool = False
    result: str = ""  # dtype of the result where it is not that of the loop


OPPOSITE = {
    "less": "greater_equal", "less_equal": "greater", "greater": "less_equal", "greater_equal": "less",
    "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip
"""The comparison that holds where one does not, of integers."""

MIRRORED = {
    "less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal",
    "equal": "equal", "not_equal": "not_equal",
}  # fmt: skip
"""The comparison that says the same of its operands in the other order."""


def _where(condition: Any, then: Any, orelse: Any) -> Any:
    return np.where(condition, then, orelse)


def _together(real: Any, imag: Any) -> Any:
    return real + 1j * imag


def _multiply_add(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


TRANSCENDENTAL = 20
"""The cost from which on a function is many operations, which vectors may round otherwise than libraries do."""
_DIVISION = 4

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op("add", np.add, 2, commutes=True),
        Op("subtract", np.subtract, 2),
        Op("multiply", np.multiply, 2, commutes=True),
        Op("divide", np.divide, 2, _DIVISION),
        Op("floor_divide", np.floor_divide, 2, _DIVISION),
        Op("remainder", np.remainder, 2, _DIVISION),
        Op("fmod", np.fmod, 2, _DIVISION),
        Op("power", np.power, 2, TRANSCENDENTAL),
        Op("negative", np.negative, 1),
        Op("positive", np.positive, 1),
        Op("absolute", np.absolute, 1),
        Op("sign", np.sign, 1),
        Op("square", np.square, 1),
        Op("reciprocal", np.reciprocal, 1, _DIVISION),
        Op("sqrt", np.sqrt, 1, _DIVISION),
        Op("cbrt", np.cbrt, 1, TRANSCENDENTAL),
        Op("exp", np.exp, 1, TRANSCENDENTAL),
        Op("exp2", np.exp2, 1, TRANSCENDENTAL),
        Op("expm1", np.expm1, 1, TRANSCENDENTAL),
        Op("log", np.log, 1, TRANSCENDENTAL),
        Op("log2", np.log2, 1, TRANSCENDENTAL),
        Op("log10", np.log10, 1, TRANSCENDENTAL),
        Op("log1p", np.log1p, 1, TRANSCENDENTAL),
        Op("erf", np.vectorize(math.erf, otypes=["float64"]), 1, TRANSCENDENTAL),
        Op("erfc", np.vectorize(math.erfc, otypes=["float64"]), 1, TRANSCENDENTAL),
        Op("sin", np.sin, 1, TRANSCENDENTAL),
        Op("cos", np.cos, 1, TRANSCENDENTAL),
        Op("tan", np.tan, 1, TRANSCENDENTAL),
        Op("arcsin", np.arcsin, 1, TRANSCENDENTAL),
        Op("arccos", np.arccos, 1, TRANSCENDENTAL),
        Op("arctan", np.arctan, 1, TRANSCENDENTAL),
        Op("arctan2", np.arctan2, 2, TRANSCENDENTAL),
        Op("hypot", np.hypot, 2, TRANSCENDENTAL),
        Op("sinh", np.sinh, 1, TRANSCENDENTAL),
        Op("cosh", np.cosh, 1, TRANSCENDENTAL),
        Op("tanh", np.tanh, 1, TRANSCENDENTAL),
        Op("arcsinh", np.arcsinh, 1, TRANSCENDENTAL),
        Op("arccosh", np.arccosh, 1, TRANSCENDENTAL),
        Op("arctanh", np.arctanh, 1, TRANSCENDENTAL),
        Op("floor", np.floor, 1),
        Op("ceil", np.ceil, 1),
        Op("trunc", np.trunc, 1),
        Op("rint", np.rint, 1),
        Op("copysign", np.copysign, 2),
        Op("nextafter", np.nextafter, 2),
        Op("ldexp", np.ldexp, 2, _DIVISION),
        Op("gcd", np.gcd, 2, TRANSCENDENTAL),
        Op("lcm", np.lcm, 2, TRANSCENDENTAL),
        Op("bitwise_count", np.bitwise_count, 1, result="uint8"),
        Op("maximum", np.maximum, 2),
        Op("minimum", np.minimum, 2),
        Op("number_maximum", lambda a, b: np.where(a > b, a, b), 2),  # where the first is not NaN
        Op("number_minimum", lambda a, b: np.where(a < b, a, b), 2),
        Op("maximum_number", lambda a, b: np.where(~(a <= b), a, b), 2),  # where the second is not NaN
        Op("minimum_number", lambda a, b: np.where(~(a >= b), a, b), 2),
        Op("fmax", np.fmax, 2),
        Op("fmin", np.fmin, 2),
        Op("less", np.less, 2, result="bool"),
        Op("less_equal", np.less_equal, 2, result="bool"),
        Op("greater", np.greater, 2, result="bool"),
        Op("greater_equal", np.greater_equal, 2, result="bool"),
        Op("equal", np.equal, 2, commutes=True, result="bool"),
        Op("not_equal", np.not_equal, 2, commutes=True, result="bool"),
        Op("logical_and", np.logical_and, 2, commutes=True, result="bool"),
        Op("logical_or", np.logical_or, 2, commutes=True, result="bool"),
        Op("logical_xor", np.logical_xor, 2, commutes=True, result="bool"),
        Op("logical_not", np.logical_not, 1, result="bool"),
        Op("isnan", np.isnan, 1, result="bool"),
        Op("isinf", np.isinf, 1, result="bool"),
        Op("isfinite", np.isfinite, 1, result="bool"),
        Op("signbit", np.signbit, 1, result="bool"),
        Op("bitwise_and", np.bitwise_and, 2, commutes=True),
        Op("bitwise_or", np.bitwise_or, 2, commutes=True),
        Op("bitwise_xor", np.bitwise_xor, 2, commutes=True),
        Op("invert", np.invert, 1),
        Op("left_shift", np.left_shift, 2),
        Op("right_shift", np.right_shift, 2),
        Op("conjugate", np.conjugate, 1),
        # of complex numbers; `fuse.split_complex` makes pairs of floats of them, and then these are gone
        Op("complex", _together, 2),
        Op("real", np.real, 1),
        Op("imag", np.imag, 1),
        Op("plain_multiply", np.multiply, 2),  # of scalars; NumPy's vectors fuse the additions
        Op("python_divide", np.divide, 2, _DIVISION),
        Op("python_power", np.power, 2, TRANSCENDENTAL),
        # x * y + z, rounded once where the machine has an instruction for it, as in NumPy's complex products
        Op("multiply_add", _multiply_add, 3),
        Op("where", _where, 3),  # where(condition, then, orelse); only the chosen side need be valid
        Op("cast", np.asarray, 1),  # to the Apply's dtype, as ndarray.astype does
        # Python's own `and`/`or` on conditions: the right side is evaluated only where the left does not decide
        Op("and_then", np.logical_and, 2, result="bool"),
        Op("or_else", np.logical_or, 2, result="bool"),
    )
}

COMPLEX_FUNCTIONS = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
    "arccosh", "arctanh", "expm1", "log1p",
)  # fmt: skip
"""The complex functions that are no arithmetic: ``complex_sqrt_real(x, y)`` is the real part of one. All but
the last two are the C library's in NumPy."""


def _part_of(function: Callable[..., Any], part: str) -> Callable[..., Any]:
    return lambda *parts: getattr(function(*(_together(*parts[k : k + 2]) for k in range(0, len(parts), 2))), part)


OPS |= {
    f"complex_{name}_{part}": Op(f"complex_{name}_{part}", _part_of(getattr(np, name), part), arity, TRANSCENDENTAL)
    for name, arity in (*((f, 2) for f in COMPLEX_FUNCTIONS), ("power", 4))
    for part in ("real", "imag")
}

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "first", "last", "count")
"""`first`/`last`: the smallest/largest position where the body holds, or -1; `count`: how often it holds."""

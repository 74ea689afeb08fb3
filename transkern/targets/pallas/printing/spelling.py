"""How each operation of `ir.ops` is spelled with jax.numpy, and what Mosaic, the TPU's kernel compiler, lacks."""

from __future__ import annotations

import numpy as np

MODULES = {"jnp", "np", "jax", "lax", "pl", "pltpu", "functools"}
"""Names that generated code uses for itself."""

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip

FLOAT: dict[str, str] = {
    **{op: f"_0 {sign} _1" for op, sign in _INFIX.items()},
    **{
        op: f"jnp.{op}(_0)"
        for op in (
            "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
            "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc",
            "rint", "isnan", "isinf", "isfinite", "signbit",
        )
    },
    **{
        op: f"jnp.{op}(_0, _1)"
        for op in (
            "fmod", "remainder", "power", "arctan2", "hypot", "copysign", "maximum", "minimum", "fmax", "fmin",
            "floor_divide", "nextafter", "ldexp",
        )
    },
    "negative": "-_0",
    "positive": "_0",
    "absolute": "jnp.abs(_0)",
    "square": "_0 * _0",
    "reciprocal": "1 / _0",
    "erf": "lax.erf(_0)",
    "erfc": "lax.erfc(_0)",
    "multiply_add": "_0 * _1 + _2",
    "sign": "jnp.where(_0 > 0, 1, jnp.where(_0 < 0, -1, jnp.where(_0 == 0, 0, _0)))",
    "where": "jnp.where(_0, _1, _2)",
    "logical_and": "(_0 != 0) & (_1 != 0)",
    "logical_or": "(_0 != 0) | (_1 != 0)",
    "logical_xor": "(_0 != 0) ^ (_1 != 0)",
    "logical_not": "_0 == 0",
    "and_then": "_0 & _1",
    "or_else": "_0 | _1",
}  # fmt: skip
"""Over floats, and wherever nothing else is said."""

INTEGER: dict[str, str] = {
    **FLOAT,
    # XLA leaves division by zero open; NumPy answers 0 (and warns)
    "floor_divide": "_floor_divided(_0, _1)",
    "remainder": "jnp.where(_1 == 0, 0, jnp.remainder(_0, jnp.where(_1 == 0, 1, _1)))",
    "fmod": "jnp.where(_1 == 0, 0, jnp.fmod(_0, jnp.where(_1 == 0, 1, _1)))",
    "sign": "jnp.where(_0 > 0, 1, jnp.where(_0 < 0, -1, 0)).astype(_0.dtype)",
    "invert": "~_0",
    "left_shift": "jnp.left_shift(_0, _1)",
    "right_shift": "jnp.right_shift(_0, _1)",
    "reciprocal": "_reciprocal(_0)",
    "gcd": "jnp.gcd(_0, _1)", "lcm": "jnp.lcm(_0, _1)", "bitwise_count": "lax.population_count(jnp.abs(_0))",
    "floor": "_0", "ceil": "_0", "trunc": "_0", "rint": "_0",
    "fmax": "jnp.maximum(_0, _1)", "fmin": "jnp.minimum(_0, _1)",
    "isnan": "jnp.zeros_like(_0, dtype=bool)", "isinf": "jnp.zeros_like(_0, dtype=bool)",
    "isfinite": "jnp.ones_like(_0, dtype=bool)",
}  # fmt: skip

BOOLEAN: dict[str, str] = {
    **FLOAT,
    "logical_and": "_0 & _1", "logical_or": "_0 | _1", "logical_xor": "_0 ^ _1", "logical_not": "~_0",
    "add": "_0 | _1", "multiply": "_0 & _1", "maximum": "_0 | _1", "minimum": "_0 & _1", "invert": "~_0",
    "equal": "_0 == _1", "not_equal": "_0 ^ _1", "absolute": "_0", "square": "_0", "floor": "_0",
    "ceil": "_0", "trunc": "_0", "less": "~_0 & _1",
    "less_equal": "~_0 | _1", "greater": "_0 & ~_1", "greater_equal": "_0 | ~_1",
}  # fmt: skip

STATIC: dict[str, str] = {
    **{op: f"_0 {sign} _1" for op, sign in _INFIX.items()},
    "floor_divide": "_0 // _1", "remainder": "_0 % _1", "maximum": "max(_0, _1)", "minimum": "min(_0, _1)",
    "negative": "-_0", "positive": "_0", "absolute": "abs(_0)", "where": "_1 if _0 else _2", "logical_not": "not _0",
    "logical_and": "_0 and _1", "and_then": "_0 and _1", "logical_or": "_0 or _1", "or_else": "_0 or _1",
    "power": "_0 ** _1", "square": "_0 * _0", "left_shift": "_0 << _1", "right_shift": "_0 >> _1", "invert": "~_0",
    "logical_xor": "bool(_0) != bool(_1)", "sign": "(_0 > 0) - (_0 < 0)", "fmod": "int(np.fmod(_0, _1))",
    "fmax": "max(_0, _1)", "fmin": "min(_0, _1)", "gcd": "int(np.gcd(_0, _1))", "lcm": "int(np.lcm(_0, _1))",
    "bitwise_count": "abs(_0).bit_count()", "isnan": "_0 != _0", "isinf": "_0 != _0", "isfinite": "_0 == _0",
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), "_0"),
}  # fmt: skip
"""Over Python's integers: sizes, known when the function is traced."""

STATIC_BOOLEAN: dict[str, str] = {
    **STATIC, "add": "_0 or _1", "multiply": "_0 and _1", "invert": "not _0", "absolute": "_0", "square": "_0",
}  # fmt: skip
"""Over Python's truth values."""

HOST: dict[str, str] = {
    **FLOAT,
    **{op: s.replace("jnp.", "xp.") for op, s in FLOAT.items()},
    "logical_and": "xp.logical_and(_0, _1)", "logical_or": "xp.logical_or(_0, _1)", "logical_not": "xp.logical_not(_0)",
    "and_then": "xp.logical_and(_0, _1)", "or_else": "xp.logical_or(_0, _1)", "where": "_1 if _0 else _2",
    "maximum": "xp.maximum(_0, _1)", "floor_divide": "xp.floor_divide(_0, _1)", "remainder": "xp.remainder(_0, _1)",
    "divide": "xp.divide(_0, _1)",  # not Python's, which raise an error where NumPy's give infinity
    "invert": "~_0", "left_shift": "_0 << _1", "right_shift": "_0 >> _1", "sign": "xp.sign(_0)",
}  # fmt: skip
"""Over scalar arguments before the call, with NumPy (``xp`` is jax.numpy while JAX traces)."""

NOT_IN_MOSAIC = {
    "erf", "erfc", "cbrt", "expm1", "sinh", "cosh", "arcsinh", "arccosh", "arctanh",
    "nextafter", "ldexp", "gcd", "lcm", "bitwise_count",
}  # fmt: skip
"""Ops that do not lower in a TPU kernel (or only with a local TPU); XLA has them all."""

IN_MOSAIC = {op: f"_{op}" for op in ("arcsin", "arccos", "arctan")}
"""Helpers for ops that a TPU kernel has in other words."""

MOSAIC_DTYPES = {"float32", "int32", "bool", "index", "int64", "float64"}
"""What a kernel computes with: 64-bit integers only as positions, float64 only interpreted."""


def table(dtype: str) -> dict[str, str]:
    """The spellings for operands of `dtype`."""
    if dtype == "bool":
        return BOOLEAN
    return INTEGER if dtype.startswith(("int", "uint", "index")) else FLOAT


REDUCE = {
    "sum": "jnp.sum(_0{axis})", "prod": "jnp.prod(_0{axis})", "max": "jnp.max(_0{axis})", "min": "jnp.min(_0{axis})",
    "any": "jnp.any(_0{axis})", "all": "jnp.all(_0{axis})",
}  # fmt: skip
COMBINE = {
    "sum": "_0 + _1", "prod": "_0 * _1", "max": "jnp.maximum(_0, _1)", "min": "jnp.minimum(_0, _1)", "any": "_0 | _1",
    "all": "_0 & _1", "count": "_0 + _1", "first": "jnp.where(_0 >= 0, _0, _1)", "last": "jnp.maximum(_0, _1)",
}  # fmt: skip


def identity(op: str, dtype: str) -> bool | int | float:
    """What `op` leaves unchanged."""
    match op:
        case "sum" | "count":
            return False if dtype == "bool" else 0.0 if dtype.startswith("float") else 0
        case "prod":
            return 1.0 if dtype.startswith("float") else 1
        case "any":
            return False
        case "all":
            return True
        case "first" | "last":
            return -1
        case _:
            low = op in ("max", "argmax")
            if dtype.startswith("float"):
                return float("-inf") if low else float("inf")
            if dtype == "bool":
                return not low
            info = np.iinfo(dtype)
            return int(info.min if low else info.max)

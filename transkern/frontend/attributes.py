"""Attributes of values: shapes, dtypes, transposes; anything else is a method."""

from __future__ import annotations

import math

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    apply,
    as_array,
    describe,
    scalar_expr,
)  # fmt: skip
from transkern.frontend.indexing import shape_of
from transkern.frontend.shaping import (
    reshape,
    transpose,
)  # fmt: skip
from transkern.frontend.source import known_object
from transkern.frontend.values import (
    Array,
    Concatenation,
    GrowingList,
    Known,
    Method,
    Range,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr


def attribute(ctx: Context, value: Value, name: str) -> Value:
    match value:
        case Known(path):
            found = known_object(f"{path}.{name}")
            if (
                isinstance(found, Known)
                and path in ("numpy", "math")
                and not hasattr(np if path == "numpy" else math, name)
            ):
                ctx.fail(f"`{path}` has no `{name}`")
            return found
        case Static(np.dtype() as dtype):
            return Static(getattr(dtype, name))
        case Static(v) if name in ("eps", "max", "min", "tiny", "resolution", "bits", "smallest_normal"):
            return Static(getattr(v, name))
        case Static(str()):
            return Method(value, name)
        case Array() | GrowingList() | Static(np.ndarray()) | Scalar() | Concatenation() | Static():
            if isinstance(value, GrowingList):
                return Method(value, name)
            if name in ("shape", "ndim", "size", "T", "dtype", "real", "imag", "flat", "nbytes", "itemsize"):
                return _property(ctx, as_array(ctx, value), name, value)
            return Method(value, name)
        case Seq() | Range():
            return Method(value, name)
        case _:
            ctx.fail(f"`.{name}` of {describe(value)}")


def _property(ctx: Context, value: Array, name: str, original: Value) -> Value:
    match name:
        case "shape":
            return Seq(tuple(static_or(d) for d in shape_of(ctx, value)))
        case "ndim":
            return Static(value.ndim)
        case "size":
            return static_or(b.product(shape_of(ctx, value)))
        case "T":
            return original if value.ndim < 2 else transpose(ctx, value, None)
        case "dtype":
            return Static(np.dtype(value.dtype))
        case "flat":
            return reshape(ctx, value, [Static(-1)])
        case "itemsize":
            return Static(np.dtype(value.dtype).itemsize)
        case "real" | "imag":
            if value.dtype.startswith("complex"):
                ctx.fail("complex numbers")
            return original if name == "real" else apply(ctx, "multiply", [value, Static(0)])
        case _:
            ctx.fail(f"`.{name}`")


def static_or(dim: Expr) -> Value:
    value = b.constant(dim)
    return Static(value) if value is not None else Scalar(dim, True)


def python_number(ctx: Context, value: Value) -> Value:
    """``x.item()``."""
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    expr = scalar_expr(ctx, value)
    if expr.dtype.startswith(("int", "uint")):
        return Scalar(b.as_index(expr), True)
    if expr.dtype.startswith("float"):
        return Scalar(b.cast(expr, "float64"), True)
    return Scalar(expr, True)

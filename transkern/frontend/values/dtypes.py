"""Questions about types, all answered while translating: `np.result_type`, `np.issubdtype`, `np.isscalar`, …"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.sizes import dtype_of
from transkern.frontend.sources import identity
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import classes
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    GrowingList,
    Known,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b


def _kind(ctx: Context, value: Value) -> Any:
    """A value or a dtype as `np.result_type` takes it: numbers of Python's are weak."""
    match value:
        case Scalar(expr, True):
            return {"index": 0, "float64": 0.0, "complex128": 0j, "bool": np.dtype(bool)}[expr.dtype]
        case Scalar(expr, _):
            return np.dtype("int64" if expr.dtype == "index" else expr.dtype)
        case Static(v) if isinstance(v, (int, float, complex)) and not isinstance(v, np.generic):
            return np.dtype(bool) if isinstance(v, bool) else v
        case Static(np.generic() as v):
            return v.dtype
        case Array() | Concatenation() | GrowingList() | Static(np.ndarray()):
            return np.dtype(as_array(ctx, value).dtype)
        case Seq():
            return np.dtype(as_array(ctx, value).dtype)
        case _:
            return np.dtype(dtype_of(ctx, value, "float64"))


def _result_type(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if not args:
        ctx.guard(b.FALSE, "ValueError", "at least one array or dtype is required")
    return Static(np.result_type(*[_kind(ctx, a) for a in args]))


TABLE["numpy.result_type"] = _result_type


@handles("numpy.promote_types", names="type1 type2")
def _promote_types(ctx: Context, a: Arguments) -> Value:
    one, two = (np.dtype(dtype_of(ctx, a.need(n), "float64")) for n in ("type1", "type2"))
    return Static(np.promote_types(one, two))


@handles("numpy.can_cast", names="from_ to casting")
def _can_cast(ctx: Context, a: Arguments) -> Value:
    kind = _kind(ctx, a.need("from_"))
    casting: Any = a.text("casting", "safe")
    target = np.dtype(dtype_of(ctx, a.need("to"), "float64"))
    return Static(np.can_cast(kind if isinstance(kind, np.dtype) else np.dtype(type(kind)), target, casting))


@handles("numpy.issubdtype", names="arg1 arg2")
def _issubdtype(ctx: Context, a: Arguments) -> Value:
    types: list[Any] = []
    for name in ("arg1", "arg2"):
        value = a.need(name)
        if isinstance(value, Known) and value.path.startswith("numpy."):
            types.append(identity.resolved(value.path))
        elif isinstance(value, Static) and isinstance(value.value, type):
            types.append(value.value)
        else:
            types.append(np.dtype(dtype_of(ctx, value, "float64")))
    return Static(bool(np.issubdtype(*types)))


_SCALARS = (numbers.Number, np.generic, str, bytes, memoryview)


@handles("numpy.isscalar", names="element")
def _isscalar(ctx: Context, a: Arguments) -> Value:
    return classes.is_instance(ctx, ctx.deref(a.need("element")), _SCALARS, "np.isscalar")


@handles("numpy.iscomplexobj", "numpy.isrealobj", names="x")
def _iscomplexobj(ctx: Context, a: Arguments) -> Value:
    is_complex = as_array(ctx, a.need("x")).dtype.startswith("complex")
    return Static(is_complex is (a.name == "np.iscomplexobj"))

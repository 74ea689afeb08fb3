"""Attributes of values: shapes, dtypes, transposes; anything else is a method."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from transkern.frontend import objects, special_methods
from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    as_array,
    describe,
    exact_expr,
    is_number,
    part,
)  # fmt: skip
from transkern.frontend.indexing import shape_of
from transkern.frontend.observed import note
from transkern.frontend.shaping import (
    flat,
    transpose,
)  # fmt: skip
from transkern.frontend.source import TextScope, from_object, known_object, live_function
from transkern.frontend.values import (
    Array,
    Bound,
    Concatenation,
    Dict,
    Function,
    Generator,
    GrowingList,
    Hashed,
    Instance,
    Known,
    Method,
    Range,
    Record,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Const, Expr

_LIMITS = ("eps", "max", "min", "tiny", "resolution", "bits", "smallest_normal")
_NUMPYS = (np.generic, np.ndarray, np.dtype, str, np.finfo, np.iinfo)


def of_class(ctx: Context, value: Value, name: str) -> Value | None:
    """A method, a property's value or a constant of the class of an object, if it has one of that name."""
    contents = ctx.deref(value)
    if not isinstance(contents, Record):
        return None
    try:
        found = inspect.getattr_static(contents.kind, name)
    except AttributeError:
        return None
    if isinstance(found, types.FunctionType):
        return Bound(live_function(found), value)
    if isinstance(found, staticmethod):
        return from_object(found.__func__)
    if isinstance(found, classmethod):
        return Bound(live_function(found.__func__), Static(contents.kind))
    if isinstance(found, (property, functools.cached_property)):
        return Bound(live_function(found.fget if isinstance(found, property) else found.func), value)  # type: ignore
    return from_object(found)


def is_property(ctx: Context, value: Value, name: str) -> bool:
    """Whether the attribute is computed by the class."""
    contents = ctx.deref(value)
    if not isinstance(contents, Record) or contents.get(name) is not None:
        return False
    return isinstance(inspect.getattr_static(contents.kind, name, None), (property, functools.cached_property))


def attribute(ctx: Context, value: Value, name: str) -> Value:
    if isinstance(value, Instance) and name in value.pool.names:
        return objects.attribute(ctx, value, name)
    contents = ctx.deref(value)
    if isinstance(contents, Record):
        found = contents.get(name)
        if found is None and name in ("_replace", "_asdict", "index", "count") and contents.is_tuple:
            return Method(value, name)
        if found is None and name == "_fields" and contents.is_tuple:
            return Seq(tuple(Static(f) for f in contents.names))
        found = of_class(ctx, value, name) if found is None else found
        if found is None:
            if name == "__class__":
                return Static(contents.kind)
            text = f"'{contents.kind.__name__}' object has no attribute '{name}'"
            ctx.guard(b.FALSE, "AttributeError", text)
            raise AssertionError
        if isinstance(found, Unbound):
            ctx.fail(found.why, "keep what needs it outside")
        return found
    if isinstance(value, Static) and not isinstance(value.value, _NUMPYS):
        if isinstance(value.value, (bool, int, float, complex)):
            return _number_attribute(ctx, value, name)
        return _host_attribute(ctx, value.value, name)
    if isinstance(contents, (Seq, Dict, GrowingList, Hashed)):
        return Method(value, name)
    match value:
        case Function() | Bound() if name in ("__name__", "__qualname__"):
            return Static(value.name if isinstance(value, Function) else value.function.name)
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
        case Static(np.finfo() | np.iinfo() as limits) if name in _LIMITS:
            return Static(getattr(limits, name))
        case Static(str()) | Text() | Generator():
            return Method(value, name)
        case Slice(start, stop, step) if name in ("start", "stop", "step"):
            return {"start": start, "stop": stop, "step": step}[name] or Static(None)
        case Array() | GrowingList() | Static(np.ndarray()) | Scalar() | Concatenation() | Static():
            if isinstance(value, GrowingList):
                return Method(value, name)
            if name in ("shape", "ndim", "size", "T", "mT", "dtype", "real", "imag", "flat", "nbytes", "itemsize"):
                return _property(ctx, as_array(ctx, value), name, value)
            if isinstance(value, (Array, Concatenation)) or (
                isinstance(value, Static) and isinstance(value.value, np.ndarray)
            ):
                _check_method(ctx, name)
            return Method(value, name)
        case Seq() | Range():
            return Method(value, name)
        case _:
            ctx.fail(f"`.{name}` of {describe(value)}")


def _check_method(ctx: Context, name: str) -> None:
    """That arrays have a method of this name: how they lie in memory (`strides`, `base`, `flags`) is not known here."""
    if not hasattr(np.ndarray, name):
        ctx.guard(b.FALSE, "AttributeError", f"'numpy.ndarray' object has no attribute '{name}'")
    if not callable(getattr(np.ndarray, name)):
        ctx.fail(f"`.{name}` of an array", "arrays have `shape`, `ndim`, `size`, `dtype`, `itemsize`, `nbytes` here")


def _number_attribute(ctx: Context, value: Static, name: str) -> Value:
    """``(3).real``; methods of numbers."""
    if name in ("real", "imag", "numerator", "denominator"):
        return Static(getattr(value.value, name))
    if not hasattr(value.value, name):
        ctx.guard(b.FALSE, "AttributeError", f"'{type(value.value).__name__}' object has no attribute '{name}'")
    return Method(value, name)


def _host_attribute(ctx: Context, owner: object, name: str) -> Value:
    """An attribute of a Python object that is known at specialisation: a class, an enum's member, a module."""
    if isinstance(owner, types.ModuleType):
        note(vars(owner), name)
        if (id(vars(owner)), name) in ctx.globals_now:
            return ctx.globals_now[id(vars(owner)), name]
    if isinstance(owner, TextScope):  # a module read as text
        known = owner.member(name)
        if known is None:
            ctx.fail(f"`{name}` of the module {owner.file}", "its functions, imports and literals are read")
        return known
    try:
        found = getattr(owner, name)
    except AttributeError:
        text = f"'{type(owner).__name__}' object"
        if isinstance(owner, (type, types.ModuleType)):
            text = f"{'type object' if isinstance(owner, type) else 'module'} '{owner.__name__}'"
        ctx.guard(b.FALSE, "AttributeError", f"{text} has no attribute '{name}'")
        raise
    if isinstance(owner, type) and isinstance(inspect.getattr_static(owner, name), classmethod):
        return Bound(live_function(found.__func__), Static(owner))
    mapping = special_methods.captured_mapping(Static(owner))
    if mapping is not None and name in ("items", "keys", "values") and callable(found):
        held = from_object(dict(mapping))
        assert held is not None
        return Method(held, name)
    if mapping is not None and name == "get":
        return Bound(live_function(_got), Static(owner))
    if isinstance(found, types.MethodType) and found.__self__ is owner:
        written = found.__func__
        if isinstance(written, types.FunctionType):
            return Bound(live_function(written), Static(owner))
    value = from_object(found)
    if value is None:
        ctx.fail(f"`.{name}`, a {type(found).__name__}, cannot take part", "pass what is needed of it as an argument")
    return value


def _got(mapping: Mapping[Any, Any], key: Any, default: Any = None) -> Any:
    return mapping[key] if key in mapping else default  # noqa: SIM401  (its own subscript says what a key is)


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
        case "mT":
            if value.ndim < 2:
                ctx.guard(b.FALSE, "ValueError", "matrix transpose with ndim < 2 is undefined")
            return transpose(ctx, value, [*range(value.ndim - 2), value.ndim - 1, value.ndim - 2])
        case "nbytes":
            return static_or(b.mul(b.product(shape_of(ctx, value)), b.index(np.dtype(value.dtype).itemsize)))
        case "dtype":
            return Static(np.dtype(value.dtype))
        case "flat":
            return flat(ctx, value)
        case "itemsize":
            return Static(np.dtype(value.dtype).itemsize)
        case "real" | "imag":
            if is_complex(value.dtype):
                if isinstance(original, Static):
                    return Static(getattr(original.value, name))
                made = part(value, name)
                return Scalar(made.body, original.python) if isinstance(original, Scalar) else made
            if name == "real":
                return original
            zero = b.cast(Const(0, "int64"), value.dtype) if value.dtype != "bool" else b.FALSE
            number = isinstance(original, Scalar) or is_number(original)
            return Scalar(zero) if number else Array(value.axes, zero, value.mask)
        case _:
            ctx.fail(f"`.{name}`")


def static_or(dim: Expr) -> Value:
    value = b.constant(dim)
    return Static(value) if value is not None else Scalar(dim, True)


def python_number(ctx: Context, value: Value) -> Value:
    """``x.item()``."""
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    expr = exact_expr(ctx, value)
    if expr.dtype.startswith(("int", "uint")):
        return Scalar(b.as_index(expr), True)
    if expr.dtype.startswith("float"):
        return Scalar(b.cast(expr, "float64"), True)
    if is_complex(expr.dtype):
        return Scalar(b.cast(expr, "complex128"), True)
    return Scalar(expr, True)

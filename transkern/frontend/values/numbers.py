"""What values are numbers, whose they are, and the types that they are computed in."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from transkern.frontend.values.values import Array, GrowingList, Scalar, Seq, Static, Value

_WEAK: dict[str, Any] = {"index": int, "float64": float, "complex128": complex, "bool": np.dtype(bool)}


def is_number(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, (bool, int, float, complex, np.generic))


def is_of_numbers(value: Value) -> TypeGuard[Seq]:
    """Whether a value is a tuple of a known number of numbers."""
    if not isinstance(value, Seq) or value.kind != "tuple":
        return False
    return all(is_number(i) or isinstance(i, Scalar) for i in value.items)


def is_python_number(value: Value) -> bool:
    if isinstance(value, Static):
        return isinstance(value.value, (bool, int, float, complex)) and not isinstance(value.value, np.generic)
    return isinstance(value, Scalar) and value.python


def is_python_complex(value: Value) -> bool:
    if isinstance(value, Static):
        return type(value.value) is complex
    return isinstance(value, Scalar) and value.python and value.dtype == "complex128"


def is_float64(value: Value) -> bool:
    """Whether it is a number of NumPy's that is one of Python's floats, too."""
    if isinstance(value, Static):
        return isinstance(value.value, np.float64)
    return isinstance(value, Scalar) and not value.python and value.dtype == "float64" and value.doubt is None


def static_dtype(value: Any) -> str:
    """The type that a Python or NumPy number is computed in."""
    if isinstance(value, np.generic):
        return value.dtype.name
    kinds = ((bool, "bool"), (int, "index"), (float, "float64"), (complex, "complex128"))
    return next(dtype for kind, dtype in kinds if isinstance(value, kind))


def type_name(value: Value) -> str:
    """The name of a value's type in Python's messages about operands."""
    match value:
        case Static(v) if isinstance(v, (bool, int, float, complex)):
            return type(v).__name__
        case Scalar() | Array():
            kind = "i" if value.dtype == "index" else np.dtype(value.dtype).kind
            return {"b": "bool", "i": "int", "u": "int", "c": "complex"}.get(kind, "float")
        case Seq(kind=kind) | GrowingList(kind=kind):
            return kind
        case _:
            return "NoneType" if value == Static(None) else "object"


def dtype_or_weak(value: Value) -> Any:
    match value:
        case Static(v) if not isinstance(v, np.generic):
            kinds = {bool: np.dtype(bool), int: int, float: float, complex: complex}
            return next(kind for python, kind in kinds.items() if isinstance(v, python))
        case Scalar(expr, True):
            return _WEAK[expr.dtype]
        case Static(v):
            return np.dtype(type(v))
        case Scalar(expr, _):
            return np.dtype("int64" if expr.dtype == "index" else expr.dtype)
        case Array():
            return np.dtype("int64" if value.dtype == "index" else value.dtype)
        case _:
            raise AssertionError(value)

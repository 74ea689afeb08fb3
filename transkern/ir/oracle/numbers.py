"""The interpreter's numbers: what nodes compute, and how reductions go on from value to value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from transkern.ir.complexes import PART, is_complex
from transkern.ir.containers import OF_NUMPY
from transkern.ir.expr import Expr
from transkern.ir.extremes import highest, lowest
from transkern.ir.storage import storage


class Invalid(Exception):
    """The program does what no correct program does: a bug of the pass that made it."""


ON_INDICES: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "floor_divide": lambda x, y: x // y if y else 0,
    "remainder": lambda x, y: x % y if y else 0,
    "negative": lambda x: -x,
    "absolute": abs,
    "maximum": max,
    "minimum": min,
    "less": lambda x, y: np.bool_(x < y),
    "less_equal": lambda x, y: np.bool_(x <= y),
    "greater": lambda x, y: np.bool_(x > y),
    "greater_equal": lambda x, y: np.bool_(x >= y),
    "equal": lambda x, y: np.bool_(x == y),
    "not_equal": lambda x, y: np.bool_(x != y),
}
"""What positions do without NumPy's wrapping."""


def typed(value: Any, dtype: str) -> Any:
    if dtype == PART:
        return "imag" if value else "real"
    return int(value) if dtype == "index" else np.dtype(dtype).type(value)


def shown(value: Any) -> Any:
    """A number in a message: Python's, but where NumPy shows it in another way."""
    return value if isinstance(value, np.generic) and value.dtype.name in OF_NUMPY else plain(value)


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def checked(value: Any, dtype: str, e: Expr) -> Any:
    """`value`, which a node of `dtype` has computed."""
    if dtype == "index":
        return int(value)
    kind = np.dtype(dtype)
    found = value.dtype if isinstance(value, (np.generic, np.ndarray)) else None
    if found != kind:
        raise Invalid(f"{e} is {found or type(value).__name__}, not {dtype}")
    return kind.type(value)


def cast(value: Any, dtype: str) -> Any:
    if dtype == "index":
        return int(value) if math.isfinite(value) else -(2**63)
    return np.asarray(value).astype(dtype)[()]


def begin(op: str, dtype: str) -> Any:
    """The state of a reduction over nothing."""
    match op:
        case "sum" | "count":
            return [] if np.dtype(storage(dtype)).kind in "fc" else typed(0, dtype)
        case "prod":
            return typed(1, dtype)
        case "any" | "all":
            return typed(op == "all", dtype)
        case _:
            return typed((lowest if op == "max" else highest)(dtype).value, dtype)


def combined(op: str, state: Any, value: Any, dtype: str) -> Any:
    match op:
        case "sum" | "count":
            if isinstance(state, list):
                return [*state, value]
            return state + int(value) if isinstance(state, int) else np.add(state, np.dtype(dtype).type(value))
        case "prod":
            return state * int(value) if isinstance(state, int) else np.multiply(state, np.dtype(dtype).type(value))
        case "any":
            return typed(bool(state or value), dtype)  # flags as wide as the lanes that set them are integers
        case "all":
            return typed(bool(state and value), dtype)
        case "max" | "min":
            return typed((np.maximum if op == "max" else np.minimum)(state, value), dtype)
        case _:
            raise Invalid(f"a reduction by {op}")


def finished(state: Any, dtype: str) -> Any:
    if isinstance(state, list):
        wide = np.clongdouble if is_complex(dtype) else np.longdouble
        return np.dtype(dtype).type(np.sum(np.array(state, dtype), dtype=wide))
    return state


def is_better(op: str, value: Any, best: Any, position: int, at: int) -> bool:
    """Whether a value is what an arg-reduction prefers: NaN first, then the extreme, then the earliest."""
    nans = bool(value != value), bool(best != best)
    if nans[0] != nans[1]:
        return nans[0]
    if nans[0] or value == best:
        return position < at
    return bool(value > best) == (op == "argmax")


def continued(op: str, running: Any, value: Any, dtype: str) -> Any:
    """A running reduction's next value."""
    if running is None:
        return typed(value, dtype) if not isinstance(value, np.generic) else value
    function = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op]
    return np.dtype(dtype).type(function(running, value))

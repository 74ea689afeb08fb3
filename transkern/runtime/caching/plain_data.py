"""Results and argument types as plain data, for JSON: what the disk cache tells other processes.

    ScalarResult(Var("n"), True)   ->   ["ScalarResult", ["Var", "n", "index"], true]
    (1, 2)                         ->   ["", 1, 2]

Numbers of NumPy's, complex ones and `...` have entries of their own. What is none of these has no plain data.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from transkern.frontend.values import types as t
from transkern.ir import expr as e
from transkern.ir import nodes as n

_NODES: dict[str, type] = {
    of.__name__: of
    for of in (
        e.Const, e.Var, e.Load, e.Apply, e.Axis, e.Reduce, n.ArrayResult, n.ViewResult, n.ScalarResult, n.ListResult,
        n.TupleResult, n.ArgumentResult, n.ConstantResult, t.ArrayType, t.ScalarType, t.ConstantType, t.NumbersType,
        t.StructType,
    )
}  # fmt: skip


class NotPlain(Exception):
    """Something has no plain data."""


def as_plain(value: Any) -> Any:
    """A result, a type, or what stands in one, as what JSON can hold, without places in the source. Raises NotPlain."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is tuple:
        return ["", *map(as_plain, value)]
    if value is Ellipsis:
        return ["..."]
    if kind is complex:
        return ["complex", value.real, value.imag]
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return ["numpy", value.dtype.str, value.tobytes().hex()]
    if _NODES.get(kind.__name__) is kind:
        return [kind.__name__, *(as_plain(getattr(value, name)) for name in _told(kind))]
    raise NotPlain(repr(value))


def from_plain(data: Any) -> Any:
    """What `as_plain` was given."""
    if not isinstance(data, list):
        return data
    kind, *inner = data
    match kind:
        case "":
            return tuple(map(from_plain, inner))
        case "...":
            return ...
        case "complex":
            return complex(*inner)
        case "numpy":
            return np.frombuffer(bytes.fromhex(inner[1]), np.dtype(inner[0]))[0]
    of = _NODES[kind]
    return of(**dict(zip(_told(of), map(from_plain, inner), strict=True)))


def _told(of: type) -> list[str]:
    return [f.name for f in fields(of) if f.name != "span"]

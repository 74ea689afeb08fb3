"""The type of a scalar that is one of two values: Python's numbers take the type of NumPy's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transkern.frontend.values.numbers import is_number, is_python_number, static_dtype
from transkern.frontend.values.values import Array, Kind, Scalar, Static, Value


def join_dtypes(d1: str, p1: bool, d2: str, p2: bool) -> tuple[str, bool] | None:
    """The type of a scalar that is one of two types; a Python number takes the type of a NumPy scalar. Two different
    types of NumPy's have none."""
    if (d1, p1) == (d2, p2):
        return d1, p1
    if p1 and p2:
        order = ["bool", "index", "float64", "complex128"]
        if "bool" in (d1, d2):
            return None
        return order[max(order.index(d1), order.index(d2))], True
    weak = {"index": 0, "float64": 0.0, "complex128": 0j}
    if p1 != p2:
        python, other = (d1, d2) if p1 else (d2, d1)
        if python == "bool" or other == "bool":
            return ("bool", False) if python == other else None
        joined = np.result_type(weak[python], np.dtype(other)).name
        return str(joined), False
    return None  # what holds both would not wrap and round as they do


def holding(d1: str, p1: bool, d2: str, p2: bool) -> tuple[str, bool] | None:
    """The type of memory for numbers of both types, each of which is known to be of the one or the other: it holds them
    all (integers among floats as far as floats hold them, bools as 0 and 1), also Python's in NumPy's narrow types."""
    found = join_dtypes(d1, p1, d2, p2)
    if found is None and "bool" in (d1, d2):
        other, python = (d2, p2) if d1 == "bool" else (d1, p1)
        return other, python
    if found is None or found[1] or (d1, p1) == (d2, p2):
        return found
    names = ["int64" if d == "index" else d for d in (d1, d2)]
    return str(np.result_type(*names).name), False


def holding_exactly(d1: str, p1: bool, d2: str, p2: bool) -> tuple[str, bool] | None:
    """The type that holds numbers of two types of which neither holds the other's: what is made of them is computed in
    the type that each has (`Doubt`), and this one is none of them."""
    names = ["int64" if d == "index" else d for d in (d1, d2)]
    kinds = {np.dtype(name).kind for name in names}
    if not (kinds <= {"i", "u"} or kinds == {"f"}) or (p1 and p2):
        return None
    wide = np.result_type(*names)
    return (str(wide.name), False) if wide.kind in kinds or wide.kind == "i" else None


def joined(kinds: Sequence[Kind]) -> Kind | None:
    """The one type of a scalar that is of one of several."""
    found: Kind | None = kinds[0]
    for kind in kinds[1:]:
        found = None if found is None else join_dtypes(*found, *kind)
    return found


def of_doubted(one: Sequence[Kind], two: Sequence[Kind]) -> Kind | None:
    """The type that holds a number that has one of some types, or of some others, where one of the two is held in
    another type than it may have: a float of Python's or an integer of NumPy's, as a float of NumPy's."""
    kinds = sorted({*one, *two})
    if len(one) < 2 and len(two) < 2:
        return None
    found = joined(kinds)
    return None if found is None or (np.dtype(found[0]).kind in "iu" and ("index", True) in kinds) else found


def _kinds(value: Value, held: Kind) -> tuple[Kind, ...]:
    return value.doubt.kinds if isinstance(value, Scalar) and value.doubt is not None else (held,)


def scalar_kind(one: Value, two: Value) -> tuple[str, bool] | None:
    kinds = []
    for v in (one, two):
        if isinstance(v, Static) and is_number(v):
            kinds.append((static_dtype(v.value), is_python_number(v)))
        elif isinstance(v, Scalar):
            kinds.append((v.dtype, v.python))
        elif isinstance(v, Array) and v.ndim == 0 and not v.view:
            kinds.append((v.dtype, False))
        else:
            return None
    found = join_dtypes(*kinds[0], *kinds[1])
    if (
        found is not None
        and not found[1]
        and not (_held(one, *kinds[0], found[0]) and _held(two, *kinds[1], found[0]))
    ):
        found = None
    found = found or of_doubted(_kinds(one, kinds[0]), _kinds(two, kinds[1]))
    return found or holding_exactly(*kinds[0], *kinds[1])


def _held(value: Value, dtype: str, python: bool, by: str) -> bool:
    """Whether a Python integer is one of the type `by`."""
    if not python or dtype != "index" or np.dtype(by).kind not in "iu":
        return True
    if isinstance(value, Static):
        return bool(np.iinfo(by).min <= value.value <= np.iinfo(by).max)
    return by == "int64"

"""What a call gave, and the first difference between two such."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.oracle import arrays_in, public_class, refused_at_run_time


@dataclass
class Outcome:
    """A call's result or exception, and its arguments afterwards."""

    result: Any
    error: Exception | None
    arguments: Sequence[Any]


def outcome(
    function: Callable[..., Any], arguments: Sequence[Any], passed: tuple[type[BaseException], ...] = ()
) -> Outcome:
    """The outcome of a call; exceptions of the types `passed` are handed on."""
    try:
        return Outcome(function(*arguments), None, arguments)
    except passed:
        raise
    except Exception as error:
        return Outcome(None, error, arguments)


def difference(found: Outcome, wanted: Outcome) -> str:
    """The first difference, in words, or nothing."""
    if refused_at_run_time(found.error):
        return ""
    if (found.error is None) != (wanted.error is None):
        return f"{_told(found)}, with Python {_told(wanted)}"
    if found.error is not None:
        same = public_class(found.error) is public_class(wanted.error)
        if not (same and (str(found.error) == str(wanted.error) or _names_another(found, wanted))):
            return f"{_told(found)}, with Python {_told(wanted)}"
    elif problem := _differ(found.result, wanted.result, "the result"):
        return problem
    for k, (mine, theirs) in enumerate(zip(found.arguments, wanted.arguments, strict=True)):
        if problem := _differ(mine, theirs, f"argument {k} afterwards"):
            return problem
    if found.error is None:
        return _shares_otherwise(found, wanted)
    return ""


_INDEX = re.compile(r"index (-?\d+) (is out of bounds for axis \d+ with size \d+)")


def _names_another(found: Outcome, wanted: Outcome) -> bool:
    """Whether two errors name two positions of one array that NumPy casts before it looks for the first of those that
    are outside: it goes through the copy in an order of its own (docs/trust.md)."""
    one, two = (_INDEX.fullmatch(str(o.error)) for o in (found, wanted))
    if not one or not two or one[2] != two[2]:
        return False
    cast = [a for a in arrays_in(wanted.arguments) if a.dtype.kind in "iu" and a.dtype != np.intp]
    return any({int(one[1]), int(two[1])} <= set(a.ravel().tolist()) for a in cast)


def _told(one: Outcome) -> str:
    return f"{type(one.error).__name__}: {one.error}" if one.error is not None else f"{shown(one.result)}"


def _is_joined(found: Any, wanted: Any) -> bool:
    """A number of Python's that a loop may replace by one of NumPy's has NumPy's type (docs/language.md)."""
    return isinstance(found, np.generic) and type(wanted) in (int, float) and bool(found == wanted)


def _differ(found: Any, wanted: Any, what: str) -> str:
    if _is_joined(found, wanted):
        return ""
    if type(found) is not type(wanted):
        return f"{what} is {shown(found)}, with Python {shown(wanted)}"
    if isinstance(wanted, np.ndarray):
        return _arrays_differ(found, wanted, what)
    if isinstance(wanted, (tuple, list)):
        if len(found) != len(wanted):
            return f"{what} has {len(found)} items, with Python {len(wanted)}"
        pairs = enumerate(zip(found, wanted, strict=True))
        return next((d for k, (f, w) in pairs if (d := _differ(f, w, f"{what}[{k}]"))), "")
    if isinstance(wanted, dict):
        if list(found) != list(wanted):
            return f"{what} has the keys {list(found)}, with Python {list(wanted)}"
        return next((d for k in wanted if (d := _differ(found[k], wanted[k], f"{what}[{k!r}]"))), "")
    if isinstance(wanted, (float, complex, np.generic)):
        return "" if _bits(found) == _bits(wanted) else f"{what} is {found!r}, with Python {wanted!r}"
    if hasattr(wanted, "__dict__") and not isinstance(wanted, type) and not callable(wanted):
        return _differ(vars(found), vars(wanted), what)
    if hasattr(type(wanted), "__eq__") and type(wanted).__eq__ is not object.__eq__:
        try:
            differs = isinstance(same := found == wanted, (bool, np.bool_)) and not same
        except ValueError:  # there are arrays in it
            return _differ(list(found), list(wanted), what) if isinstance(wanted, Iterable) else ""
        return f"{what} is {shown(found)}, with Python {shown(wanted)}" if differs else ""
    return ""


def _bits(number: Any) -> Any:
    """What tells a number from others: NaN is NaN, -0.0 is not 0.0."""
    if isinstance(number, float):
        return "nan" if math.isnan(number) else (float(number), math.copysign(1, number))
    if isinstance(number, complex):
        return _bits(number.real), _bits(number.imag)
    made = np.asarray(number)
    return (made.dtype.str, "nan") if made.dtype.kind == "f" and np.isnan(made) else (made.dtype.str, made.tobytes())


def _arrays_differ(found: Any, wanted: Any, what: str) -> str:
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{what} is {found.dtype}{list(found.shape)}, with Python {wanted.dtype}{list(wanted.shape)}"
    if found.flags.writeable != wanted.flags.writeable:
        return f"{what} is {'' if found.flags.writeable else 'not '}writeable, with Python otherwise"
    if isinstance(wanted, np.ma.MaskedArray):
        if not np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted)):
            return f"{what} is masked otherwise"
    one, two = np.asarray(found), np.asarray(wanted)
    if two.dtype.kind in "fc":
        parts = [(one.real, two.real), (one.imag, two.imag)]
        same = np.ones(two.shape, bool)
        for f, w in parts:
            same &= (f == w) & (np.signbit(f) == np.signbit(w)) | (np.isnan(f) & np.isnan(w))
    elif two.dtype.kind in "Mm":
        same = one.view("int64") == two.view("int64")
    else:
        same = np.asarray(one == two)
    if np.all(same):
        return ""
    at = tuple(int(k) for k in np.argwhere(~np.atleast_1d(same))[0])[: one.ndim]
    return f"{what}{list(at)} is {one[at]!r}, with Python {two[at]!r} ({np.sum(~same)} of {same.size} differ)"


def _shares_otherwise(found: Outcome, wanted: Outcome) -> str:
    """Whether results share memory with arguments as Python's do."""
    for k, (mine, theirs) in enumerate(zip(arrays_in(found.result), arrays_in(wanted.result), strict=True)):
        given = zip(arrays_in(list(found.arguments)), arrays_in(list(wanted.arguments)), strict=True)
        for j, (of_mine, of_theirs) in enumerate(given):
            one, two = np.may_share_memory(mine, of_mine), np.may_share_memory(theirs, of_theirs)
            if one != two:
                return f"array {k} of the result {'shares' if one else 'does not share'} memory with argument array {j}"
    return ""


def shown(value: Any) -> str:
    """An argument in short, with what tells arrays apart."""
    if isinstance(value, np.ndarray):
        kind = "" if type(value) is np.ndarray else f"{type(value).__name__} "
        aligned = "" if value.flags.aligned else " unaligned"
        frozen = "" if value.flags.writeable else " read-only"
        elements = np.array2string(np.asarray(value), threshold=6, edgeitems=2, separator=",").replace("\n", "")
        return f"{kind}{value.dtype.str}{list(value.shape)} steps {list(value.strides)}{aligned}{frozen} {elements}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(shown(v) for v in value)})"
    if isinstance(value, dict):
        return f"{type(value).__name__}({', '.join(f'{k!r}: {shown(v)}' for k, v in value.items())})"
    return repr(value)[:80]

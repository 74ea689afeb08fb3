"""The functions that make constants of a module that is read as text: of their arguments alone, without reading or
writing anything else. Before each is called, the size of what it makes is known to be small.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from transkern.frontend.sources.measures import (
    MOST_ELEMENTS,
    NUMERIC,
    NotComputed,
    check_arithmetic,
    check_items,
    check_math,
    check_number,
    check_shape,
    check_text_of,
    only_numbers,
)
from transkern.frontend.values.set_order import is_in_any_order

_NOT_LARGER = frozenset([
    "abs", "absolute", "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "around", "array", "asarray",
    "ascontiguousarray", "atleast_1d", "atleast_2d", "ceil", "clip", "copy", "cumprod", "cumsum", "diff", "expand_dims",
    "flip", "fliplr", "flipud", "imag", "isclose", "max", "mean", "median", "min", "moveaxis", "nan_to_num", "prod",
    "ravel", "real", "reshape", "roll", "rot90", "round", "sinc", "sort", "squeeze", "std", "sum", "swapaxes",
    "transpose", "tril", "triu", "unique", "var", "where", "ones_like", "zeros_like",
])  # fmt: skip
"""NumPy's functions of which the result is not larger than their arguments, broadcast."""
_JOINING = frozenset(["column_stack", "concatenate", "dstack", "hstack", "stack", "vstack"])
_FILLING = frozenset(["full", "ones", "zeros"])
_SPACED = frozenset(["geomspace", "linspace", "logspace"])
_WINDOWS = frozenset(["bartlett", "blackman", "hamming", "hanning", "identity"])
_KEYWORDS = frozenset([
    "axis", "base", "copy", "ddof", "decimals", "endpoint", "fill_value", "k", "keepdims", "M", "N", "ndmin", "num",
    "order", "reps", "repeats", "shape",
])  # fmt: skip
_MOST_DIFFERENCES = 100
_TYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}

METHODS = frozenset([
    "all", "any", "argmax", "argmin", "astype", "clip", "copy", "cumprod", "cumsum", "flatten", "item", "max", "mean",
    "min", "prod", "ravel", "reshape", "round", "squeeze", "std", "sum", "swapaxes", "tolist", "transpose", "var",
])  # fmt: skip
_OF_PYTHON: dict[str, Callable[..., Any]] = {f.__name__: f for f in (
    abs, all, any, divmod, len, max, min, pow, range, round, slice, sum, bool, complex, float, int, str,
    dict, frozenset, list, set, sorted, tuple,
)}  # fmt: skip
_IN_ANY_ORDER = frozenset(["all", "any", "bool", "frozenset", "len", "set", "sorted"])


def call(path: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """``path(*args, **named)``, or NotImplemented where that is none of the functions; raises NotComputed."""
    module, _, name = path.rpartition(".")
    match module:
        case "numpy":
            return _numpy(name, args, named)
        case "math" | "cmath":
            return NotImplemented if named else _math(math if module == "math" else cmath, name, args)
        case "builtins":
            return _builtin(name, args, named)
        case _:
            return NotImplemented


def of_dict(owner: dict[Any, Any], name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """``owner.name(*args, **named)`` of a dict, or NotImplemented; its views are lists here."""
    match name, args:
        case "keys" | "values" | "items", []:
            return NotImplemented if named else list(getattr(owner, name)())
        case ("get", [_] | [_, _]) | ("copy", []):
            return NotImplemented if named else getattr(owner, name)(*args)
    return NotImplemented


def method(owner: np.ndarray[Any, Any], name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """``owner.name(*args, **named)`` of an array."""
    if name not in METHODS or not _are_plain(named):
        return NotImplemented
    args = [_dtype(a) if name == "astype" else a for a in args]
    if name == "tolist":
        check_items(owner.size)
    elif name == "round":
        _check_decimals([*args, named.get("decimals", 0)][0])
    _check_together([owner, *(a for a in args if isinstance(a, NUMERIC))])
    return _quietly(getattr(owner, name), *args, **_typed(named))


def _numpy(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    function: Any = vars(np).get(name)
    if isinstance(function, type) and issubclass(function, (np.bool_, np.number)):  # np.float32(x)
        if named or len(args) > 1 or not all(isinstance(a, NUMERIC) for a in map(_array_of, args)):
            return NotImplemented
        return _quietly(np.dtype(function).type, *args)
    if name == "dtype" and len(args) == 1 and not named:
        return _dtype(args[0])
    if name in ("iinfo", "finfo") and len(args) == 1 and not named:
        return function(_dtype(args[0]))
    if not _are_plain(named):
        return NotImplemented
    given = _typed(named)
    if isinstance(function, np.ufunc) and function.signature is None and not named and len(args) == function.nin:
        arrays = [_array_of(a) for a in args]
        _check_together(arrays)
        return _quietly(function, *arrays)
    if not _is_known(name) or not all(map(_is_plain, args)):
        return NotImplemented
    parts = list(args)
    _check_made(name, parts, given)
    if name in ("zeros", "ones", "array", "asarray", "full"):  # dtype is their second argument, or third
        at = 2 if name == "full" else 1
        parts[at : at + 1] = map(_dtype, parts[at : at + 1])
    return _quietly(function, *parts, **given)


def _is_known(name: str) -> bool:
    return name in _NOT_LARGER | _JOINING | _FILLING | _SPACED | _WINDOWS or name in (
        "arange", "eye", "tri", "diag", "outer", "kron", "tile", "repeat",
    )  # fmt: skip


def _check_made(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """That what a function of NumPy's makes of the arguments is not too large."""
    given: dict[int | str, Any] = dict(enumerate(args))
    given.update(named)
    if name in _JOINING:
        check_shape([sum(_array_of(a).size for a in args[0])])
        return
    sizes = [_array_of(a).size for a in args if isinstance(a, (*NUMERIC, list, tuple))]
    if name in _FILLING:
        shape = given.get(0, named.get("shape", 0))
        check_shape(tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))
    elif name == "arange":
        numbers = [float(v) for k, v in given.items() if k != "dtype" and v is not None]
        start, stop, step = ([0.0] * (len(numbers) == 1) + numbers + [1.0])[:3]
        steps = (stop - start) / step
        check_shape([max(0, math.ceil(steps)) if math.isfinite(steps) else MOST_ELEMENTS + 1])
    elif name in _SPACED:
        check_shape([int(given.get(2, given.get("num", 50))), *sizes[:2]])
    elif name in _WINDOWS:
        check_shape([int(args[0])] * (1 + (name == "identity")))
    elif name in ("eye", "tri"):
        rows = int(given.get(0, given.get("N", 0)))
        columns = given.get(1, given.get("M"))
        check_shape((rows, rows if columns is None else int(columns)))
    elif name == "diag":
        check_shape((sizes[0] + abs(int(given.get(1, given.get("k", 0)))),) * (1 + (_array_of(args[0]).ndim == 1)))
    elif name in ("outer", "kron"):
        check_shape((math.prod(sizes),))
    elif name in ("tile", "repeat"):
        times = _array_of(given.get(1, named.get("reps", named.get("repeats", 1))))
        count = int(times.max(initial=1)) if name == "repeat" else math.prod(max(1, int(t)) for t in times.ravel())
        check_shape([sizes[0], int(count)])
    else:
        _check_together([_array_of(a) for a in args if isinstance(a, (*NUMERIC, list))])
        if name == "diff" and int(given.get(1, 1)) > _MOST_DIFFERENCES:  # it goes on when nothing is left
            raise NotComputed(f"more than {_MOST_DIFFERENCES} differences of differences")
        elif name in ("around", "round"):
            _check_decimals(given.get(1, given.get("decimals", 0)))


def _check_decimals(decimals: Any) -> None:
    """That few places are rounded to: NumPy multiplies by ten for each."""
    check_number("round", [0, int(decimals)])


def _check_together(values: Iterable[Any]) -> None:
    """That arrays are not too large when they are broadcast."""
    check_shape(np.broadcast_shapes(*(np.shape(v) for v in values)))


def _array_of(value: Any) -> Any:
    """An argument with what it holds of numbers as an array."""
    if isinstance(value, (list, tuple, range)):
        if not only_numbers(value):
            raise NotComputed("a list of other things than numbers")
        return _of_numbers(np.array(value))
    if not isinstance(value, NUMERIC):
        raise NotComputed(f"a {type(value).__name__}, where a number or an array is wanted")
    return _of_numbers(np.asarray(value))


def _of_numbers(array: Any) -> Any:
    if array.dtype.kind not in "biufc":
        raise NotComputed("an integer that no array of numbers holds")
    return array


def _is_plain(value: Any) -> bool:
    """Whether NumPy makes of a value nothing but numbers."""
    if isinstance(value, (list, tuple, range)):
        return only_numbers(value)
    return value is None or isinstance(value, (*NUMERIC, np.dtype)) or _is_type(value)


def _is_type(value: Any) -> bool:
    return isinstance(value, type) and (value in _TYPES or issubclass(value, (np.bool_, np.number)))


def _are_plain(named: Mapping[str, Any]) -> bool:
    return all(k == "dtype" or (k in _KEYWORDS and (_is_plain(v) or k == "order")) for k, v in named.items())


def _typed(named: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _dtype(v) if k == "dtype" else v for k, v in named.items()}


def _dtype(value: Any) -> Any:
    """A dtype of numbers, as it may be written."""
    if value is None:
        return None
    if isinstance(value, str) and len(value) > 16:
        raise NotComputed("no dtype of numbers")
    if not isinstance(value, (str, np.dtype)) and not _is_type(value):
        raise NotComputed("no dtype of numbers")
    made = np.dtype(value)
    if made.kind not in "biufc" or made.names is not None:
        raise NotComputed("no dtype of numbers")
    return made


def _math(module: Any, name: str, args: Sequence[Any]) -> Any:
    function = vars(module).get(name)
    if not callable(function) or name.startswith("_") or not all(_is_plain(a) for a in args):
        return NotImplemented
    check_math(name, args)
    return function(*args)


def _builtin(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    function = _OF_PYTHON.get(name)
    if function is None or (named and name not in ("dict", "round", "sum", "sorted")) or "key" in named:
        return NotImplemented
    check_builtin(name, args)
    if name not in _IN_ANY_ORDER and any(map(is_in_any_order, args)):
        raise NotComputed("the order of a set of texts is another one in each process: use sorted()")
    return function(*args, **named)


def check_builtin(name: str, args: Sequence[Any]) -> None:
    """That one of Python's functions makes nothing that is too large."""
    for a in args:
        if isinstance(a, range) and name != "len":
            check_items(len(a))
        if isinstance(a, np.ndarray) and name in ("list", "tuple", "set", "frozenset", "sorted", "sum", "str"):
            check_items(a.size)
    if name in ("int", "float", "complex", "round"):
        check_number(name, args)
    if name == "str":
        for a in args:
            check_text_of(a)
    if name == "pow" and len(args) == 2:
        check_arithmetic("Pow", *args)
    if name == "sum" and not all(isinstance(a, NUMERIC) or only_numbers(a) for a in args):
        raise NotComputed("sum() of other things than numbers is not computed")


def _quietly(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*args, **named)

"""What calls, methods and attributes mean; NumPy's and Python's functions are in tables of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from transkern.frontend import (  # noqa: F401  (their handlers are in TABLE)
    builtin_functions,
    choosing,
    complex_module,
    dtypes,
    empties,
    grids,
    growing,
    hashed,
    linear,
    math_module,
    numpy_functions,
    padding,
    products,
    sequences,
    transforms,
)
from transkern.frontend.arguments import TABLE
from transkern.frontend.attributes import python_number
from transkern.frontend.compositions import (
    compose,
    handlers,  # noqa: F401
)
from transkern.frontend.context import Context
from transkern.frontend.drawing import draw
from transkern.frontend.elementwise import (
    as_array,
    convert,
    describe,
    exact_expr,
    is_number,
    is_python_number,
    scalar_expr,
    simplify,
)  # fmt: skip
from transkern.frontend.indexing import array_item
from transkern.frontend.iterating import iteration
from transkern.frontend.methods import METHODS, call_array_method, change_in_place
from transkern.frontend.storing import storable
from transkern.frontend.texts import text_method
from transkern.frontend.ufuncs import UFUNC_METHODS, UFUNCS, call_ufunc
from transkern.frontend.values import (
    Array,
    Concatenation,
    Dict,
    Generator,
    GrowingList,
    Hashed,
    Method,
    Record,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Apply

_DEPENDING = {
    "numpy.roots": (
        "whether the result is complex, and its size, depend on the values",
        "take np.linalg.eigvals of the companion matrix, as complex numbers",
    ),
    "numpy.real_if_close": ("whether the result is complex depends on the values", "take np.real"),
}
"""Functions whose result has no dtype before they have run: why, and what to write."""


_OVER_KEYS = frozenset([
    "all", "any", "enumerate", "list", "max", "min", "reversed", "sorted", "sum", "tuple", "zip",
])  # fmt: skip
"""Python's functions that go over a dict's or a set's keys."""


def listed(ctx: Context, value: Value) -> Value:
    """What ``zip`` and ``enumerate`` give, as a list where its length is known at run time; others as they are."""
    if not isinstance(value, Method) or value.name not in ("zip", "enumerate", "reversed"):
        return value
    if isinstance(iteration(ctx, value), list):
        return value
    return ctx.deref(compose(ctx, "lists", "listed", [value], {}))


def scalar_type(ctx: Context, kind: type[np.generic], args: Sequence[Value]) -> Value:
    """``np.float32(x)``."""
    name = np.dtype(kind).name
    if not args:
        return Static(kind())
    value = args[0]
    if isinstance(value, Static) and is_number(value):
        with np.errstate(all="ignore"):
            try:
                return Static(kind(value.value))
            except (OverflowError, ValueError) as error:
                ctx.guard(b.FALSE, type(error).__name__, str(error))
    if isinstance(value, Scalar):
        return Scalar(b.cast(storable(ctx, value, exact_expr(ctx, value), name, basic=False), name))
    array = as_array(ctx, value)
    return Scalar(b.cast(array.body, name)) if array.ndim == 0 else convert(array, name)


def call(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    # NumPy sees through lists of lists; what Python's own functions hand on are the very objects
    path = path.replace("_heapq.", "heapq.").replace("_bisect.", "bisect.")
    look = ctx.deref if path.startswith("builtins.") else ctx.contents
    if not path.startswith(("heapq.", "bisect.")):  # these change the list that they are given
        args = [look(a) for a in args]
        keywords = {k: look(v) for k, v in keywords.items()}
    if path.removeprefix("builtins.") in _OVER_KEYS:
        args = [hashed.keys(ctx, a) if isinstance(a, Hashed) else a for a in args]
    if path in ("builtins.list", "builtins.sorted", "builtins.max", "builtins.min"):
        args = [listed(ctx, a) for a in args]
    if path == "builtins.range" or not all(isinstance(a, (Scalar, Static)) for a in args) or path in TABLE:
        return empties.known(ctx, path, args, keywords, lambda given, named: _known(ctx, path, given, named))
    return _known(ctx, path, args, keywords)


def _known(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A call of a function that the compiler knows."""
    handler = TABLE.get(path)
    if handler is not None:
        return handler(ctx, args, keywords)
    module, _, name = path.rpartition(".")
    if module == "numpy" and name in UFUNCS:
        return call_ufunc(ctx, name, args, keywords)
    if module.startswith("numpy.") and name in UFUNC_METHODS and module.removeprefix("numpy.") in UFUNCS:
        return UFUNC_METHODS[name](ctx, module.removeprefix("numpy."), args, keywords)
    if module == "cmath" and name in complex_module.FUNCTIONS:
        return complex_module.call(ctx, name, args, keywords)
    if module == "math" and name in math_module.FUNCTIONS:
        return math_module.call(ctx, name, args, keywords)
    if module == "numpy" and name in METHODS and args:
        made = call_array_method(ctx, as_array(ctx, args[0]), name, args[1:], keywords)
        return made if name == "copy" else _of_number(args[0], made)
    if path in _DEPENDING:
        ctx.fail(f"`{path.replace('numpy.', 'np.')}`: {_DEPENDING[path][0]}", _DEPENDING[path][1])
    ctx.fail(f"cannot compile `{path.replace('numpy.', 'np.').replace('builtins.', '')}`: no kernel computes it",
             'keep it outside the compiled function, or use fallback="numpy"')  # fmt: skip


def call_method(
    ctx: Context, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    contents = ctx.deref(receiver)
    if isinstance(contents, (Seq, GrowingList, Hashed, Dict, Record)):
        found = sequences.method(ctx, receiver, name, args, keywords)
        if found is not None:
            return found
        kind = "list" if isinstance(contents, GrowingList) else getattr(contents, "kind", "dict")
        ctx.fail(f"`{getattr(kind, '__name__', kind)}.{name}`")
    args = [ctx.contents(a) for a in args]
    keywords = {k: ctx.contents(v) for k, v in keywords.items()}
    match receiver:
        case Static(str()) | Text():
            made = text_method(ctx, receiver, name, args, keywords)
            if made is not None:
                return made
        case Generator():
            return draw(ctx, receiver, name, args, keywords)
        case Array() | Scalar() | Static() | Concatenation():
            if name == "tolist":
                return tolist(ctx, receiver)
            if name in ("sort", "partition", "put", "fill") and isinstance(receiver, Static):
                ctx.fail("a change of an array from outside the function", "pass it as an argument, or copy it first")
            if name in ("sort", "partition", "put") and isinstance(receiver, Array):
                return change_in_place(ctx, receiver, name, args, keywords)
            if name == "conjugate" and isinstance(receiver, Scalar) and receiver.python:
                return Scalar(simplify(Apply(name, (receiver.expr,), receiver.dtype)), True)
            if name == "conjugate" and is_python_number(receiver) and isinstance(receiver, Static):
                return Static(receiver.value.conjugate())
            if name not in METHODS and f"numpy.{name}" in TABLE and hasattr(np.ndarray, name):
                return empties.told(
                    ctx, lambda of, *given, **named: getattr(of, name)(*given, **named), [receiver, *args], keywords,
                    lambda given, named: TABLE[f"numpy.{name}"](ctx, [as_array(ctx, given[0]), *given[1:]], named),
                )  # fmt: skip
            if name in METHODS or name == "item":
                if name == "item" and isinstance(receiver, (Scalar, Static)):
                    return python_number(ctx, receiver)
                made = empties.told(
                    ctx, lambda of, *given, **named: getattr(of, name)(*given, **named), [receiver, *args], keywords,
                    lambda given, named: call_array_method(ctx, as_array(ctx, given[0]), name, given[1:], named),
                )  # fmt: skip
                return _of_number(receiver, made)
        case _:
            pass
    ctx.fail(f"`.{name}` of {describe(receiver)}", "see docs/language.md for what is supported")


def _of_number(receiver: Value, made: Value) -> Value:
    """What a method of NumPy's number gives: a number, where that of an array without axes gives such an array."""
    number = (isinstance(receiver, Scalar) and not receiver.python) or (
        isinstance(receiver, Static) and isinstance(receiver.value, np.generic)
    )
    return Scalar(made.body) if number and isinstance(made, Array) and not made.axes else made


def tolist(ctx: Context, value: Value) -> Value:
    """``x.tolist()``: nested lists of Python numbers."""
    array = as_array(ctx, value)
    if array.ndim == 0:
        return python_number(ctx, Scalar(array.body))
    if array.ndim == 1 and b.constant(array.dims[0]) is None:
        numbers = scalar_expr(ctx, python_number(ctx, Scalar(array.body)))
        return growing.list_of(ctx, replace(array, body=numbers, view=False, identity=""), True)
    extent = b.constant(array.dims[0])
    if extent is None:
        dim = array.dims[0]
        ctx.must_be_known(Scalar(dim, True), "`.tolist()` of an array whose number of rows is not known")
    rows = [array_item(ctx, array, [Static(k)]) for k in range(extent)]
    return Seq(tuple(tolist(ctx, r) for r in rows), "list")

"""What calls, methods and attributes mean; NumPy's and Python's functions are in tables of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import (
    compose,
    handlers,  # noqa: F401
)
from transkern.frontend.containers import dict_types, empties, hashed, making, sequences
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import all_of, is_lazy, iteration
from transkern.frontend.numpy import choosing, grids, linear, padding, products, questions, transforms  # noqa: F401  (their handlers are in TABLE)
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import convert, simplify
from transkern.frontend.numpy.functions import arranging, creating, deleting, joining, selecting  # noqa: F401  (their handlers are in TABLE)
from transkern.frontend.numpy.methods import METHODS, call_array_method, change_in_place
from transkern.frontend.numpy.random.drawing import captured, draw
from transkern.frontend.numpy.ufuncs import UFUNC_METHODS, UFUNCS, call_ufunc, call_ufunc_method
from transkern.frontend.python import (  # noqa: F401  (their handlers are in TABLE)
    builtin_functions,
    characters,
    complex_module,
    converting,
    math_module,
    of_objects,
    printing,
    reducing,
    spelling,
)
from transkern.frontend.python.texts import text_method
from transkern.frontend.python.whole import check_unsigned, exact_expr, python_number
from transkern.frontend.sources.identity import is_known_library
from transkern.frontend.sources.signatures import check_call
from transkern.frontend.state import handing
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.subscripts.storable import converted, storable
from transkern.frontend.translate.arguments import TABLE, Arguments
from transkern.frontend.values import doubts, dtypes, python_types  # noqa: F401  (their handlers are in TABLE)
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import present, scalar_expr
from transkern.frontend.values.types import dtype_name
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    Flat,
    Generator,
    GrowingList,
    Hashed,
    JoinedText,
    Object,
    OneOf,
    OrNone,
    Record,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
    View,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Apply

_DEPENDING = {
    "numpy.roots": (
        "whether the result is complex, and its size, depend on the values",
        "take np.linalg.eigvals of the companion matrix, as complex numbers",
    ),
    "numpy.real_if_close": ("whether the result is complex depends on the values", "take np.real"),
} | {
    f"numpy.lib.scimath.{name}": (
        "whether the result is complex depends on the values",
        f"take np.{name} for what has a real result, and of complex numbers, x + 0j, where it has none",
    )
    for name in ("sqrt", "log", "log2", "log10", "power", "arccos", "arcsin", "arctanh")
}  # fmt: skip
"""Functions whose result has no dtype before they have run: why, and what to write."""


_OVER_KEYS = frozenset([
    "all", "any", "enumerate", "list", "max", "min", "reversed", "sorted", "sum", "tuple", "zip",
])  # fmt: skip
"""Python's functions that go over a dict's or a set's keys."""
_OVER_ITERATORS = _OVER_KEYS | {"dict", "frozenset", "set"}
_GOING_OVER = frozenset([
    *(f"builtins.{name}" for name in _OVER_ITERATORS), "collections.deque", "functools.reduce", "heapq.nlargest",
    "heapq.nsmallest", "math.fsum", "math.prod", "numpy.fromiter",
])  # fmt: skip
"""Functions that take iterators: all others take them for objects of their own."""


_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    f"builtins.{f.__name__}": f
    for f in (abs, complex, divmod, float, int, len, max, min, ord, chr, pow, round, sorted, sum)
} | {f"math.{name}": getattr(math, name) for name in math_module.FUNCTIONS if hasattr(math, name)}
"""Functions that Python has for some types only."""


def listed(ctx: Context, value: Value) -> Value:
    """What ``zip`` and ``enumerate`` give, as a list where its length is known at run time; others as they are."""
    if not is_lazy(value) or isinstance(iteration(ctx, value), list):
        return value
    return ctx.deref(compose(ctx, "lists", "listed", [value], {}))


_ORDER_ALONE = ("argmax", "argmin", "any", "all")  # whose results no type decides
_METHODS_OF_NUMBERS = ("bit_length", "bit_count", "is_integer")
"""Of Python's integers and floats, for which there are compositions."""
_ABSTRACT = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
    np.complexfloating, np.flexible, np.character,
)  # fmt: skip


def scalar_type(ctx: Context, kind: type[np.generic], args: Sequence[Value]) -> Value:
    """``np.float32(x)``."""
    if kind in _ABSTRACT:
        ctx.guard(b.FALSE, "TypeError", f"cannot create 'numpy.{kind.__name__}' instances")
    name = dtype_name(np.dtype(kind))
    if len(args) > 1 and issubclass(kind, (np.number, np.bool_)):
        if issubclass(kind, np.complexfloating):
            ctx.fail(refusals.OPTION, f"`np.{kind.__name__}` of two parts", "write x + 1j * y, and convert it")
        text = f"{kind.__name__}() takes at most 1 argument ({len(args)} given)"
        ctx.guard(b.FALSE, "TypeError", text)
    if not args:
        return Static(kind())
    value = args[0]
    if isinstance(value, Static) and is_number(value):
        return Static(asked(ctx, kind, value.value))
    if isinstance(value, Scalar):
        return Scalar(b.cast(storable(ctx, value, exact_expr(ctx, value), name, basic=False), name))
    is_list = isinstance(value, (Seq, GrowingList))
    array = converted(ctx, value, name) if is_list else convert(as_array(ctx, value), name)
    return array if array.ndim else Scalar(array.body)


def call(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    out, begun = ctx.emitter.out, len(ctx.emitter.out)
    result = _call(ctx, path, args, keywords)
    ctx.emitter.last_call = out, begun
    return result


def _call(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    of_lists = path == "builtins.sum" and len(args) > 1 and isinstance(ctx.deref(args[1]), (Seq, GrowingList))
    if not keywords and path in _OF_NUMBERS and not of_lists:  # whose examples have numbers for what is in lists
        python_types.check(ctx, _OF_NUMBERS[path], *args)
    # NumPy sees through lists of lists; what Python's own functions hand on are the very objects
    path = path.replace("_heapq.", "heapq.").replace("_bisect.", "bisect.")
    if any(isinstance(a, Flat) for a in args) and path not in _OF_ITERATORS:
        args = [_elements(ctx, path, a) for a in args]
    if path in _OF_ITEMS and len(args) == 1 and isinstance(args[0], OrNone):
        missing = "'NoneType' object is not iterable"
        missing = "object of type 'NoneType' has no len()" if path == "builtins.len" else missing
        args = [present(ctx, args[0], "TypeError", missing)]
    look = ctx.deref if path.startswith("builtins.") else ctx.contents
    if not path.startswith(("heapq.", "bisect.")):  # these change the list that they are given
        goes_over = path in _LATE  # which see what changes in a list meanwhile
        args = [a if goes_over and isinstance(a, Object) else look(a) for a in args]
        keywords = {k: look(v) for k, v in keywords.items()}
    if path == "builtins.reversed":
        python_types.check(ctx, reversed, *args)
    if path == "builtins.len":
        args = [ctx.deref(a.owner) if isinstance(a, View) else a for a in args]
        args = [all_of(ctx, a) if isinstance(a, Seq) else a for a in args]
    if path in _GOING_OVER and path not in _LATE:
        args = [ctx.deref(all_of(ctx, a)) for a in args]
    elif path.startswith("numpy."):
        _check_no_views(ctx, args)
    if path.removeprefix("builtins.") in _OVER_KEYS:
        ordered = path in ("builtins.sorted", "builtins.min", "builtins.max")  # the same of keys in any order
        args = [hashed.keys(ctx, a, in_any_order=ordered) if isinstance(a, Hashed) else a for a in args]
    if path in ("builtins.list", "builtins.sorted", "builtins.max", "builtins.min"):
        args = [listed(ctx, a) for a in args]
    if not is_known(path):
        return _known(ctx, path, args, keywords)  # which refuses it: NumPy must not be asked
    if path == "builtins.range" or not all(isinstance(a, (Scalar, Static)) for a in args) or path in TABLE:
        return empties.known(ctx, path, args, keywords, lambda given, named: _known(ctx, path, given, named))
    return _known(ctx, path, args, keywords)


def _check_no_views(ctx: Context, args: Sequence[Value]) -> None:
    """Refuses views of dicts that NumPy is given: to it they are objects, and no sequences."""
    for value in args:
        if isinstance(value, Seq) and value.kind.startswith("dict_"):
            ctx.fail(refusals.OPERANDS, f"a {value.kind} as an array", "make a list of it: list(…)")


_OF_ITEMS = frozenset(
    f"builtins.{name}" for name in ("len", "sum", "min", "max", "sorted", "list", "tuple", "set", "any", "all")
)
_LATE = ("builtins.enumerate", "builtins.reversed", "builtins.zip")
_OF_ITERATORS = ("builtins.isinstance", "builtins.type", "builtins.hasattr", "builtins.getattr", "builtins.callable")


def _elements(ctx: Context, path: str, value: Value) -> Value:
    """What a function finds in ``x.flat``."""
    if not isinstance(value, Flat):
        return value
    if path in ("builtins.next", "builtins.iter", "builtins.reversed", "builtins.print") or (
        value.named and path.startswith("builtins.") and path != "builtins.len"
    ):
        help = "write x.ravel()[0]" if path == "builtins.next" else "write x.ravel()"
        ctx.fail(refusals.ITERATOR, f"`{path.removeprefix('builtins.')}` of `.flat`, an iterator", help)
    return value.array


def is_known(path: str) -> bool:
    """Whether the compiler has a meaning for a function."""
    module, _, name = path.rpartition(".")
    of = module.removeprefix("numpy.")
    return (
        path in TABLE or (module == "numpy" and (name in UFUNCS or name in METHODS))
        or (module != of and of in UFUNCS and name in UFUNC_METHODS)
        or (module == "cmath" and name in complex_module.FUNCTIONS)
        or (module == "math" and name in math_module.FUNCTIONS)
    )


def _known(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A call of a function that the compiler knows."""
    check_call(ctx, path, len(args), keywords)
    handler = TABLE.get(path)
    if handler is not None:
        return handler(ctx, args, keywords)
    module, _, name = path.rpartition(".")
    if module == "numpy" and name in UFUNCS:
        return call_ufunc(ctx, name, args, keywords)
    if module.startswith("numpy.") and name in UFUNC_METHODS and module.removeprefix("numpy.") in UFUNCS:
        return call_ufunc_method(ctx, module.removeprefix("numpy."), name, args, keywords)
    if module == "cmath" and name in complex_module.FUNCTIONS:
        return complex_module.call(ctx, name, args, keywords)
    if module == "math" and name in math_module.FUNCTIONS:
        return math_module.call(ctx, name, args, keywords)
    if module == "numpy" and name in METHODS and args:
        if name == "reshape" and len(args) > 2:  # of the method, they are one shape
            args, keywords = args[:2], {"order": args[2], **keywords}
        first = doubts.in_one_type(ctx.deref(args[0])) if name in _ORDER_ALONE else args[0]
        made = call_array_method(ctx, as_array(ctx, first), name, args[1:], keywords)
        return made if name in ("copy", "transpose") else _of_number(args[0], made)
    if path in _DEPENDING:
        why, help = _DEPENDING[path]
        ctx.fail(refusals.VALUES_DECIDE, f"`{path.replace('numpy.', 'np.')}`: {why}", help)
    shown = path.replace("numpy.", "np.").replace("builtins.", "")
    help = 'keep it outside the compiled function, or use fallback="numpy"'
    error = ctx.error(refusals.UNKNOWN_FUNCTION, f"cannot compile `{shown}`: no kernel computes it", help)
    error.as_text = not is_known_library(path)  # where it runs, it may be a function that is written in Python
    raise error


def _has_items(value: Value) -> bool:
    """Whether a value has a `__getitem__`."""
    if isinstance(value, (Seq, Hashed)):
        return value.kind in ("tuple", "list", "dict")
    return isinstance(value, (GrowingList, Dict, Array, Concatenation))


def call_method(
    ctx: Context, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    contents = ctx.deref(receiver)
    if name == "__getitem__" and len(args) == 1 and not keywords and _has_items(contents):
        return compose(ctx, "lists", "item_of", [receiver, *args], {})
    if isinstance(contents, (Seq, GrowingList, Hashed, Dict, Record)):
        if isinstance(contents, Hashed) and contents.of is not None:
            made = dict_types.method(ctx, contents, name, args, keywords)
            if made is not None:
                return made
        found = sequences.method(ctx, receiver, name, args, keywords)
        if found is not None:
            return found
        kind = getattr(contents, "kind", "dict")
        help = "write a loop for it; `transkern docs language` has the methods that are compiled"
        ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`{getattr(kind, '__name__', kind)}.{name}`", help)
    args = [ctx.contents(a) for a in args]
    keywords = {k: ctx.contents(v) for k, v in keywords.items()}
    match receiver:
        case Static(str()) | Text() | JoinedText():
            receiver = spelling.spelled(ctx, receiver)
            args = [ctx.contents(all_of(ctx, a)) for a in args] if name == "join" else args
            made = text_method(ctx, receiver, name, args, keywords)
            if made is not None:
                return made
        case Char() if not args and not keywords and (made := characters.method(ctx, receiver, name)) is not None:
            return made
        case OneOf() if not keywords and (made := characters.method_of_choice(ctx, receiver, name, args)) is not None:
            return made
        case Generator():
            return draw(ctx, receiver, name, args, keywords)
        case Static(np.random.Generator() | np.random.RandomState() as shared):
            return draw(ctx, captured(ctx, shared), name, args, keywords)
        case Array() | Scalar() | Static() | Concatenation():
            _check_no_views(ctx, args)
            if name == "tolist":
                Arguments(ctx, name, (), args, keywords)
                return tolist(ctx, receiver)
            if name in ("sort", "partition", "put", "fill") and isinstance(receiver, (Static, Scalar)):
                if isinstance(receiver, Scalar):
                    help = "call it of an array"
                    ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}()` of {describe(receiver)}", help)
                handing.fail_outside(ctx, receiver, "an array")
            if name == "resize" and isinstance(receiver, Array):
                problem = "`.resize()`, which changes the size of an array in place"
                ctx.fail(refusals.UNKNOWN_ATTRIBUTE, problem, "make an array of the new size")
            if name in ("sort", "partition", "put") and isinstance(receiver, Array):
                return change_in_place(ctx, receiver, name, args, keywords)
            if name == "conjugate" and isinstance(receiver, Scalar) and receiver.python:
                of = b.cast(receiver.expr, "index") if receiver.dtype == "bool" else receiver.expr
                return Scalar(simplify(Apply(name, (of,), of.dtype)), True)
            if is_python_number(receiver) and isinstance(receiver, Static):
                given = [constant_object(ctx, v, f"`.{name}` with a run-time number") for v in args]
                return Static(asked(ctx, getattr(receiver.value, name), *given))
            if is_python_number(receiver) and isinstance(receiver, Scalar) and name in _METHODS_OF_NUMBERS:
                Arguments(ctx, name, (), args, keywords)
                is_float = receiver.dtype.startswith("float")
                if is_float == (name == "is_integer"):
                    number = receiver if is_float else Scalar(b.cast(receiver.expr, "int64"))
                    return python_number(ctx, compose(ctx, "arithmetic", f"_{name}", [number], {}))
            if is_python_number(receiver) and name != "conjugate":
                help = "keep it outside the compiled function, or compute it with operators"
                ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of {describe(receiver)}", help)
            if name not in METHODS and f"numpy.{name}" in TABLE and hasattr(np.ndarray, name):
                return empties.told(
                    ctx, lambda of, *given, **named: getattr(of, name)(*given, **named), [receiver, *args], keywords,
                    lambda given, named: TABLE[f"numpy.{name}"](ctx, [as_array(ctx, given[0]), *given[1:]], named),
                )  # fmt: skip
            if name in METHODS or name == "item":
                if name in ("all", "any") and len(args) > 1:
                    ctx.fail(refusals.OPTION, f"`.{name}` with {len(args)} arguments by place", "name them: out=…")
                if name == "item" and isinstance(receiver, (Scalar, Static)):
                    return python_number(ctx, receiver)
                made = empties.told(
                    ctx, lambda of, *given, **named: getattr(of, name)(*given, **named), [receiver, *args], keywords,
                    lambda given, named: call_array_method(ctx, as_array(ctx, given[0]), name, given[1:], named),
                )  # fmt: skip
                return _of_number(receiver, made)
        case _:
            pass
    help = "keep it outside the compiled function; `transkern docs language` has what is supported"
    ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of {describe(receiver)}", help)


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
    check_unsigned(ctx, array)
    if array.ndim == 1 and (array.mask is not None or b.constant(array.dims[0]) is None):
        whole = array.dtype.startswith(("int", "uint"))
        numbers = b.as_index(array.body) if whole else scalar_expr(ctx, python_number(ctx, Scalar(array.body)))
        return making.list_of(ctx, replace(array, body=numbers, view=False, identity=""), True)
    array = ctx.kept(array)
    extent = b.constant(array.dims[0])
    if extent is None:
        return compose(ctx, "lists", "rows_of", [array], {})
    ctx.session.step(extent)
    rows = [array_item(ctx, array, [Static(k)]) for k in range(extent)]
    return Seq(tuple(tolist(ctx, r) for r in rows), "list")

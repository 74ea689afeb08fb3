"""Elementwise operations: NumPy's types (asked of NumPy) and broadcasting."""

from __future__ import annotations

import enum
import math
import operator
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.python import python_complex
from transkern.frontend.sources.observed import note_array
from transkern.frontend.state import guards
from transkern.frontend.translate import special_methods
from transkern.frontend.values import doubts, large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import Words, broadcast_dims, masks_agree, shape_text, stretched
from transkern.frontend.values.types import are_aligned
from transkern.frontend.values.values import (
    FUNCTIONS,
    OPTIONAL,
    Array,
    Bound,
    Char,
    Concatenation,
    Dict,
    Flat,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Iterated,
    JoinedText,
    Known,
    Method,
    Object,
    OneOf,
    OrNone,
    Partial,
    Range,
    Record,
    Row,
    Rows,
    Scalar,
    Scope,
    Seq,
    Shown,
    Static,
    Text,
    Unbound,
    Value,
    View,
    children,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import IMAG, REAL, complex_of, float_of, is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce
from transkern.ir.nodes import Buffer
from transkern.ir.ops import MIRRORED, OPS
from transkern.ir.traverse import buffers_read, variables_read

_WEAK: dict[str, Any] = {"index": int, "float64": float, "complex128": complex, "bool": np.dtype(bool)}
_CAPTURED = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_SHOWN_TEXTS = 8
_NUMBER = "write a number there: of an array one of its elements, or x.sum()"
_ARRAY = "write an array of numbers there, or a list or tuple of numbers"
_CONVERT = "convert what it is given first, with .astype(…)"
_BITS = "give it integers or bools: compare first, as in (x > 0) & (y > 0), or convert with .astype(int)"
_OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
_KNOWN = 64  # elements of an array from outside whose values are part of the code
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")

PYTHON_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "invert": operator.invert, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "absolute": abs,
}  # fmt: skip


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


_ORDERS = ("less", "less_equal", "greater", "greater_equal")


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


def static_expr(ctx: Context, value: Any) -> Const:
    """A Python or NumPy number as a constant of its own type."""
    dtype = static_dtype(value)
    if isinstance(value, np.generic):
        return Const(value.item(), dtype)
    return large.whole(ctx, int(value)) if dtype == "index" else Const(value, dtype)  # an enum's member, too


def present(ctx: Context, value: Value, error: str = "TypeError", message: str = "") -> Value:
    """`value` where it is used as something that is not None: Python's error where it is."""
    if not isinstance(value, OrNone):
        return value
    if not message:  # what Python or NumPy make of None there
        error, message = "RuntimeError", "this is None here, where a value is needed, which is not compiled"
    ctx.guard(b.logical_not(value.none), error, message)
    return value.value


def ordered(ctx: Context, symbol: str, x: Value, y: Value) -> tuple[Value, Value]:
    """Two values of which Python asks which is first: its error where one is None."""
    if not isinstance(x, OrNone) and not isinstance(y, OrNone):
        return x, y
    sides = [(v.value, v.none) if isinstance(v, OrNone) else (v, b.FALSE) for v in (x, y)]
    names, nones = [type_name(v) for v, _ in sides], [none for _, none in sides]
    cases = ((b.both(*nones), (0, 1)), (nones[0], (0,)), (nones[1], (1,)))
    for holds, absent in cases:
        if holds != b.FALSE:
            shown = ["NoneType" if k in absent else name for k, name in enumerate(names)]
            text = f"'{symbol}' not supported between instances of '{shown[0]}' and '{shown[1]}'"
            ctx.guard(b.logical_not(holds), "TypeError", text)
    return sides[0][0], sides[1][0]


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


def exact_expr(ctx: Context, value: Value) -> Expr:
    """A number on its way to where its value matters, and not its type: also where the type that holds it with others
    would round it."""
    if not isinstance(value, Scalar) or value.doubt is None or not doubts.is_rounded(value.doubt, value.dtype):
        return scalar_expr(ctx, value)
    if value.doubt.told is not None:
        value.doubt.told()
    elif value.doubt.split is None:
        doubts.depends(ctx, [value], "a use of")
    if value.doubt.split is None:  # the loop is translated again
        return value.expr
    one, two = (scalar_expr(ctx, v) for v in (value.doubt.split.one, value.doubt.split.two))
    wide = "complex128" if is_complex(value.dtype) else "float64"
    return b.where(value.doubt.split.tag, b.cast(one, wide), b.cast(two, wide))


def scalar_expr(ctx: Context, value: Value) -> Expr:
    """The expression of a scalar value (an array without dims counts)."""
    value = present(ctx, value)
    match value:
        case Static(v) if isinstance(v, (bool, int, float, complex, np.generic)):
            return static_expr(ctx, v)
        case Scalar(expr):
            return expr
        case Array(axes=(), body=body):
            return body
        case Array(axes=axes, mask=None) if all(b.constant(a.extent) == 1 for a in axes):
            return value.at(tuple(b.ZERO for _ in axes))
        case _:
            ctx.fail(refusals.NEEDED, f"a number is needed here, not {describe(value)}", _instead(value, _NUMBER))


def describe(value: Value) -> str:
    """What a value is, in the user's words."""
    match value:
        case Object() | Row():
            return "a list, dict or object"
        case Instance(pool):
            return f"an object of `{pool.kind.__name__}`"
        case Dict():
            return "a dict"
        case Record(kind):
            return f"an object of `{kind.__name__}`"
        case JoinedText():
            return "a text joined of a list"
        case Text():
            return "a text made of run-time numbers"
        case OneOf(_, options):
            more = [f"{len(options) - _SHOWN_TEXTS} more"] if len(options) > _SHOWN_TEXTS else []
            return f"one of {', '.join([*map(repr, options[:_SHOWN_TEXTS]), *more])}"
        case Char():
            return "a character"
        case Shown(held):
            return f"{describe(held)} in a text"
        case Flat():
            return "the iterator `.flat`"
        case Iterated(kind):
            return f"a {kind.__name__} object, which is an iterator"
        case View(_, name):
            return f"`.{name}()` of a dict"
        case OrNone(inner):
            return f"{describe(inner)} or None"
        case Static(found):
            return _described(found)
        case Scalar(expr, python):
            kinds = {"index": "int", "float64": "float", "bool": "bool", "complex128": "complex"}
            return f"a Python {kinds.get(expr.dtype, expr.dtype)}" if python else f"a NumPy {expr.dtype}"
        case Array():
            return f"an array of {value.dtype} with {value.ndim} dimension" + ("" if value.ndim == 1 else "s")
        case Seq(items, kind):
            return f"a {kind} of {len(items)}"
        case GrowingList(kind=kind):
            return f"a {kind}"
        case Hashed(kind):
            return f"a {kind} whose keys are known at run time"
        case Known(path):
            return f"`{path.replace('numpy.', 'np.', 1).removeprefix('builtins.')}`"
        case Function(name):
            return "a lambda" if name == "<lambda>" else f"the function `{name}`"
        case Method(Seq(), name) if name in _ITERATORS:
            return _ITERATORS[name]
        case Method(_, "reversed"):
            return "a `reversed`"
        case Method(_, name):
            return f"the method `.{name}`"
        case Bound(function):
            return f"the method `.{function.name}`"
        case Unbound(why):
            return f"something without a value: {why}"
        case _:
            return f"a {type(value).__name__.lower()}"


_ITERATORS = {
    "zip": "a zip", "enumerate": "an enumerate", "ndenumerate": "an `np.ndenumerate`", "ndindex": "an `np.ndindex`",
}  # fmt: skip


_TWO_FUNCTIONS = "functions", "write both calls: f(x) if condition else g(x), or np.where(condition, f(x), g(x))"


def difference(one: Value, two: Value, side: str = "path") -> tuple[str, str]:
    """What a name is where it has one of two values, each on a path (side) of its own; and what helps."""
    shown = [describe(v) for v in (one, two)]
    types = [isinstance(v, Static) and isinstance(v.value, type) for v in (one, two)]
    if all(types) or (isinstance(one, FUNCTIONS) and isinstance(two, FUNCTIONS)):
        what, help = ("types", "take one of them, or write a function for each") if all(types) else _TWO_FUNCTIONS
        which = ", " + " and ".join(s.removeprefix("the type ") for s in shown) if shown[0] != shown[1] else ""
        return f"one of two {what}{which}, as a run-time condition decides", help
    return f"{shown[0]} on one {side} and {shown[1]} on the other", f"give it a value of one type on every {side}"


def _instead(value: Value, help: str) -> str:
    """What helps where a value is none: `help`, unless it may become one."""
    match value:
        case Method(Seq(), name) if name in _ITERATORS:
            return "make a list of it: list(…)"
        case Method(_, name) if name != "reversed":
            return f"call it: .{name}(…)"
        case _:
            return help


def _described(found: object) -> str:
    """What an object that is known is. Nothing of a class of the user's is asked, and no addresses are told."""
    match found:
        case None:
            return "None"
        case np.ndarray():
            return "a constant array"
        case type():
            shown = f"{found.__module__}.{found.__qualname__}".removeprefix("builtins.")
            return f"the type `{shown.replace('numpy.', 'np.', 1) if shown.startswith('numpy.') else found.__name__}`"
        case enum.Enum():
            return f"`{type(found).__name__}.{found.name}`"
        case bool() | int() | float() | complex() | str() | np.generic() | slice() | tuple() | list():
            return f"the {type(found).__name__} {found!r}"
        case np.dtype():
            return f"the dtype {found}"
        case types.ModuleType():
            return f"the module `{found.__name__}`"
        case Scope():
            return f"the module {Path(found.file).name}"
        case _:
            return f"an object of `{type(found).__name__}`"


def as_array(ctx: Context, value: Value) -> Array:
    """Any array-like value as an array."""
    value = present(ctx, ctx.deref(value))
    match value:
        case Record(items=items) if value.is_tuple:
            return _sequence_array(ctx, items)
        case Array():
            return value
        case Flat(array):
            return array
        case Static(np.ndarray() as constant):
            return _constant_array(ctx, constant)
        case Static(number) if large.is_large(value) and np.asarray(number).dtype != object:
            return Array((), Const(number, np.asarray(number).dtype.name))
        case Scalar() | Static() if isinstance(value, Scalar) or is_number(value):
            expr = scalar_expr(ctx, value)
            doubts.certain(ctx, [value], lambda given: str(np.dtype(_dtype_or_weak(given[0])).name), "an array of")
            return Array((), b.cast(expr, "int64") if expr.dtype == "index" else expr)
        case Seq(items, "tuple" | "list"):
            return _sequence_array(ctx, items)
        case GrowingList() as owner:
            if owner.buffer in ctx.lists.doubted:
                problem = "an array of a list whose elements differ in type: its own type depends on which they are"
                ctx.fail(refusals.LIST_OF_TYPES, problem, "append elements of one type: x.dtype.type(0) for 0")
            array = list_array(ctx, owner)
            dtype = ctx.lists.array_types.get(owner.buffer, array.dtype)
            return array if dtype == array.dtype else replace(array, body=b.cast(array.body, dtype))
        case Range() if b.constant(value.step):
            made = range_array(ctx, value)
            text = "a range is empty here: NumPy makes float64 of it (np.arange makes integers), which is not compiled"
            ctx.guard(b.compare("greater", made.dims[0], b.ZERO), "RuntimeError", text)
            return made
        case Concatenation(pieces, dtype):
            from transkern.frontend.numpy.shaping import concatenate_now

            return concatenate_now(ctx, pieces, dtype)
        case _:
            ctx.fail(refusals.NEEDED, f"an array is needed here, not {describe(value)}", _instead(value, _ARRAY))


def range_array(ctx: Context, value: Range) -> Array:
    """A range as an array of integers, also where it is empty."""
    from transkern.frontend.loops.trips import trip_count

    axis = ctx.names.axis("i", trip_count(value.start, value.stop, value.step))
    return Array((axis,), b.cast(b.add(value.start, b.mul(value.step, axis.var)), "int64"))


def list_array(ctx: Context, owner: GrowingList) -> Array:
    """A growing list as an array of its present elements (a copy, as NumPy makes)."""
    ctx.hold(owner)
    if owner.objects is not None:
        help = "make it of their attributes: np.array([o.x for o in objects])"
        ctx.fail(refusals.ARRAY_OF, "an array of objects", help)
    if owner.rows is not None:
        if owner.rows.pool.dtype or owner.rows.pool.columns:
            return _even_rows(ctx, owner, owner.rows)
        owner = owner.rows.pool
    if not owner.dtype and not owner.columns:
        ctx.lists.untyped.append(owner.original)
        # what a loop appends further down is seen when it is translated again
        return Array((ctx.names.axis("i", b.ZERO),), Const(0.0, "float64"))
    if owner.columns:
        return _table(ctx, owner, owner.length)
    if owner.options:
        ctx.fail(refusals.ARRAY_OF, "an array of texts", "keep the texts in a list")
    axes = ctx.names.axes((owner.length, *owner.dims))
    body: Expr = ctx.names.load(owner.buffer, (*owner.index(axes[0].var), *(a.var for a in axes[1:])))
    if owner.dtype == "index":
        body = b.cast(body, "int64")
    return Array(axes, body)


def _even_rows(ctx: Context, owner: GrowingList, rows: Rows) -> Array:
    """A list of lists (arrays) of their own lengths, which have to be equal, as an array."""
    pool = rows.pool
    if pool.columns or pool.options or pool.rows:
        problem = "an array of a list of lists that hold something else than numbers"
        ctx.fail(refusals.ARRAY_OF, problem, "make arrays of the lists in it")

    def size(k: Expr) -> Expr:
        return Load(rows.sizes.buffer, (Load(owner.buffer, owner.index(k), "index"),), "index")

    some = b.compare("greater", owner.length, b.ZERO)
    first = ctx.names.variable("length", "index")
    with ctx.emitter.block() as out:
        ctx.emit(n.Assign(first.name, size(b.ZERO)))
    ctx.emit(n.Assign(first.name, b.ZERO))
    ctx.emit(n.If(some, tuple(out)))
    extent = ctx.extent(first)
    (axis,) = ctx.names.axes((owner.length,))
    even = b.logical_not(Reduce("any", (axis,), b.compare("not_equal", size(axis.var), extent), "bool"))
    ctx.guard(even, "ValueError", _UNEVEN, (owner.length,))
    axes = ctx.names.axes((owner.length, extent, *pool.dims))
    number = Load(owner.buffer, owner.index(axes[0].var), "index")
    at = b.add(Load(rows.starts.buffer, (number,), "index"), axes[1].var)
    body: Expr = ctx.names.load(pool.buffer, (at, *(a.var for a in axes[2:])))
    return Array(axes, b.cast(body, "int64") if pool.dtype == "index" else body)


NESTED = (
    "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of "
)
_UNEVEN = (
    "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 dimensions. "
    "The detected shape was ({},) + inhomogeneous part."
)


def captured_array(ctx: Context, constant: np.ndarray[Any, Any]) -> Array:
    """An array from outside the function in its memory: an argument that the compiled function brings along."""
    if not _can_be_passed(constant):
        problem = f"an array of {constant.dtype} from outside the function"
        ctx.fail(refusals.DTYPE, problem, "convert it where it is made, such as with .astype(np.float64)")
    note_array(constant, passed=True)
    name = next((name for name, known in ctx.inputs.captured if known is constant), None)
    if name is None:
        name = ctx.names.fresh("table")
        ctx.inputs.captured.append((name, constant))
    dims = tuple(b.index(d) for d in constant.shape)
    ctx.names.taken.add(name)
    aligned = are_aligned([constant])
    layout = "C" if constant.flags.c_contiguous else "strided"
    ctx.names.buffers[name] = Buffer(name, constant.dtype.name, dims, "argument", layout, aligned=aligned)
    return ctx.names.whole(ctx.names.buffers[name])


def _can_be_passed(constant: np.ndarray[Any, Any]) -> bool:
    return constant.dtype.name in _CAPTURED and constant.dtype.isnative


def opened(ctx: Context, value: Value) -> Value:
    """What a name from outside stands for: large arrays in it are in their own memory, of others the elements count."""
    match value:
        case Static(np.ndarray() as constant):
            if constant.size > _KNOWN and _can_be_passed(constant):
                return captured_array(ctx, constant)
            note_array(constant, passed=False)
        case Seq() | Dict() | Record():
            return with_children(value, tuple(opened(ctx, v) for v in children(value) or ()))
    return value


def _table(ctx: Context, owner: GrowingList, count: Expr) -> Array:
    """A list of tuples of numbers as an array with a column for each item."""
    columns: list[Value] = [Scalar(Load(c.buffer, (b.ZERO,), c.dtype), c.python) for c in owner.columns]
    if owner.row == OPTIONAL:
        help = "take np.nan, or a number that stands for it"
        ctx.fail(refusals.MAY_BE_NONE, "an array of a list with None in it", help)
    if any(c.dims or c.columns or not c.dtype or c.options for c in owner.columns):
        ctx.fail(refusals.ARRAY_OF, "an array of tuples of something else than numbers", "append tuples of numbers")
    dtype = result_type(ctx, columns)
    axes = ctx.names.axes((count, b.index(len(columns))))
    parts = [b.cast(Load(c.buffer, c.index(axes[0].var), c.dtype), dtype) for c in owner.columns]
    return Array(axes, select(axes[1].var, parts))


def _constant_array(ctx: Context, constant: np.ndarray[Any, Any]) -> Array:
    if constant.size > _KNOWN or constant.dtype.name not in _CAPTURED:
        return captured_array(ctx, constant)
    if constant.ndim == 0:
        made = Array((), static_expr(ctx, constant[()]))
    elif constant.size == 0:
        made = Array(
            ctx.names.axes(tuple(map(b.index, constant.shape))), b.cast(Const(0, "int64"), constant.dtype.name)
        )
    else:
        made = _sequence_array(ctx, tuple(Static(v) for v in constant))
    ctx.inputs.outside.append((made, constant))
    return replace(made, origin=(made, tuple(a.var for a in made.axes)))


def _sequence_array(ctx: Context, items: Sequence[Value]) -> Array:
    """``np.array`` of a display: a select over the position."""
    if not items:
        return Array((ctx.names.axis("i", b.ZERO),), Const(0.0, "float64"))
    ctx.session.step(1 + len(items) // 2)
    if any(isinstance(ctx.deref(item), Seq) for item in items):
        check_even(ctx, items)
    if any(map(large.is_large, items)):
        items = large.elements(ctx, items)
    parts = _parts(ctx, items)
    dtype = result_type(ctx, parts)  # Python's numbers are of their own types here, not weak
    ndim = parts[0].ndim
    if any(p.ndim != ndim for p in parts):
        ctx.fail(refusals.ARRAY_OF, "np.array of a ragged sequence", "all its elements must have the same shape")
    axis = ctx.names.axis("i", b.index(len(items)))
    inner = ctx.names.axes(parts[0].dims)
    index = tuple(a.var for a in inner)
    for d, first in enumerate(parts[0].dims):
        shape = (axis.extent, *parts[0].dims[:d])
        for p in parts[1:]:
            ctx.guard(b.compare("equal", p.dims[d], first), "ValueError", _uneven(shape), shape)
    elements = [b.cast(p.at(index), dtype) for p in parts]
    return Array((axis, *inner), select(axis.var, elements))


def _parts(ctx: Context, items: Sequence[Value]) -> list[Array]:
    """Each item as an array: one and the same list, which may stand there a thousand times, is made one once."""
    made: dict[int, Array] = {}
    parts = []
    for item in [ctx.deref(item) for item in items]:
        key = id(item)
        if key not in made or not isinstance(item, Seq):
            part = as_array(ctx, item)
            made[key] = ctx.compact(part, "part") if part.mask is not None else part
        else:
            ctx.session.step(1 + len(item.items) // 2)  # what is made of it grows all the same
        parts.append(made[key])
    return parts


def _uneven(shape: Sequence[Expr]) -> str:
    return (
        f"setting an array element with a sequence. The requested array has an inhomogeneous shape after {len(shape)} "
        f"dimensions. The detected shape was {shape_text(shape, ', ')} + inhomogeneous part."
    )


def check_even(ctx: Context, items: Sequence[Value]) -> None:
    """NumPy's error for lists in lists of which some are longer than others: it tells the outermost of these."""
    shape: tuple[Expr, ...] = (b.index(len(items)),)
    level = [ctx.deref(v) for v in items]
    while not all(map(_is_one, level)):
        lengths = [_length(v) for v in level]
        first = lengths[0]
        if any(length is None and not _is_one(v) for v, length in zip(level, lengths, strict=True)):
            return  # of something else
        for length in lengths:
            same = b.FALSE if first is None or length is None else b.compare("equal", length, first)
            ctx.guard(same, "ValueError", _uneven(shape), shape)
        if first is None or None in lengths:
            return
        shape = (*shape, first)
        rows = {id(v): v for v in level}.values()  # one and the same list may stand there a thousand times
        level = [child for v in rows for child in _within(ctx, v)]


def _is_one(value: Value) -> bool:
    return isinstance(value, Scalar) or is_number(value) or (isinstance(value, Array) and not value.axes)


def _length(value: Value) -> Expr | None:
    match value:
        case Seq(items=items):
            return b.index(len(items))
        case Array(mask=None, axes=[first, *_]):
            return first.extent
    return None


def _within(ctx: Context, value: Value) -> list[Value]:
    """The items of a sequence; of an array one that stands for all of its rows."""
    match value:
        case Seq(items=items):
            return [ctx.deref(v) for v in items]
        case Array(axes=[_, *rest]):
            return [Array(tuple(rest), Const(0, "int64")) if rest else Static(0)]
    return []


def select(position: Expr, elements: Sequence[Expr]) -> Expr:
    """The element at a position in a short list."""
    value = elements[-1]
    for at in range(len(elements) - 2, -1, -1):
        value = b.where(b.compare("equal", position, b.index(at)), elements[at], value)
    return value


def _dtype_or_weak(value: Value) -> Any:
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


def result_type(ctx: Context, values: Sequence[Value]) -> str:
    """NumPy's common dtype of several values."""
    weak = {int: 0, float: 0.0, complex: 0j}
    for value in values:
        if isinstance(value, Static) and not isinstance(value.value, (np.generic, bool, int, float, complex)):
            ctx.fail(refusals.ARRAY_OF, f"an array with {describe(value)} in it", "put numbers alone into it")

    def of(given: Sequence[Value]) -> str:
        kinds = [_dtype_or_weak(v) for v in given]
        return str(np.result_type(*[weak.get(k, k) if isinstance(k, type) else k for k in kinds]).name)

    found = doubts.certain(ctx, values, of, "an array with")
    for v in doubts.doubts_of(values) and values:
        if isinstance(v, Scalar) and v.doubt is not None and found != v.dtype and doubts.is_rounded(v.doubt, v.dtype):
            doubts.depends(ctx, [v], "an array with")
    return found


def apply(ctx: Context, op: str, args: Sequence[Value], dtype: str | None = None, operator_call: bool = False) -> Value:
    """``np.<op>(*args)``, or with `operator_call` the Python operator, with NumPy's types and broadcasting."""
    args = [a if isinstance(a, (Static, Scalar, Array)) else as_array(ctx, a) for a in args]
    args = [as_array(ctx, a) if isinstance(a, Static) and isinstance(a.value, np.ndarray) else a for a in args]
    for a in args:
        if isinstance(a, Static) and not is_number(a):
            ctx.fail(refusals.OPERANDS, f"`{op}` of {describe(a)}", "give it numbers, or arrays of them")
    if operator_call and len(args) == 2 and op not in _ORDERS and is_float64(args[1]) and is_python_complex(args[0]):
        args = [args[0], Scalar(scalar_expr(ctx, args[1]), True)]  # to Python's `complex` it is a float of its own
    if doubts.doubts_of(args):
        return _doubtful(ctx, op, args, dtype, operator_call)
    if operator_call and all(is_python_number(a) for a in args):
        return _python(ctx, op, args)
    if any(map(large.is_large, args)):
        return _of_large(ctx, op, args, dtype, operator_call)
    if op in ("power", "float_power") and len(args) == 2:
        special = _power(ctx, args, operator_call)
        if special is not None:
            return special
    loop, result = loop_types(ctx, OPS[op].numpy, args, dtype)
    exprs_in, axes, mask, scalar = align(ctx, args)
    body: Expr
    casted = tuple(to_loop(ctx, e, t, not isinstance(a, Array)) for e, t, a in zip(exprs_in, loop, args, strict=True))
    _check_integer_power(ctx, op, casted, axes, mask)
    if op == "multiply" and scalar and operator_call and is_complex(result):
        op = "plain_multiply"
    body = _mixed_comparison(op, *casted) if set(loop) == {"int64", "uint64"} else Apply(op, casted, result)
    body = simplify(body)
    if scalar:
        return Scalar(body)
    return Array(axes, body, mask)


def _of_large(
    ctx: Context, op: str, args: Sequence[Value], dtype: str | None, operator_call: bool
) -> Value:  # fmt: skip
    """`apply`, where 64 bits do not hold one of Python's integers among the operands."""
    decided = large.compared(op, args)
    if decided is not None:
        return decided
    if all(isinstance(a, Static) for a in args) and dtype is None:
        return Static(asked(ctx, OPS[op].numpy, *(a.value for a in args if isinstance(a, Static))))
    function = PYTHON_OPERATORS[op] if operator_call else OPS[op].numpy
    loop, result = loop_types(ctx, OPS[op].numpy, args, dtype)
    return apply(ctx, op, large.operands(ctx, function, args, loop, result), dtype, operator_call)


def _doubtful(ctx: Context, op: str, args: Sequence[Value], dtype: str | None, operator_call: bool) -> Value:
    """`apply`, where run-time conditions decide about operands' types."""
    from transkern.frontend.values.types_of_scalars import joined

    def types(given: Sequence[Value]) -> doubts.Types:
        if operator_call and all(is_python_number(a) for a in given):
            kinds = [static_dtype(a.value) if isinstance(a, Static) else a.dtype for a in given]  # type: ignore
            return (), (_python_result(op, kinds), True)
        loop, result = loop_types(ctx, OPS[op].numpy, given, dtype)
        return loop, (result, False)

    def compute(given: Sequence[Value]) -> Value:
        return apply(ctx, op, given, dtype, operator_call)

    if op == "power" and all(any(k[0].startswith(("i", "u")) for k in doubts.kinds_of(a)) for a in args):
        if not (isinstance(args[1], Static) and args[1].value >= 0):  # NumPy's integers raise, Python's become floats
            doubts.depends(ctx, args, "a negative power of")
    python = PYTHON_OPERATORS.get(op) if operator_call else None
    raises = operator_call and _may_raise(op, args)
    return doubts.computed(ctx, args, types, joined, python, compute, f"`{op}` of", raises)


def _may_raise(op: str, args: Sequence[Value]) -> bool:
    """Whether Python's operator raises for some of Python's numbers, whatever NumPy's does."""
    last = args[-1].value if isinstance(args[-1], Static) else None
    if op in ("divide", "floor_divide", "remainder"):
        return not last
    return op == "power" and not (isinstance(last, int) and last >= 0)


def _python_result(op: str, kinds: Sequence[str]) -> str:
    """The type of what Python's operator makes of Python's numbers."""
    if op in COMPARISONS or (op.startswith("bitwise") and set(kinds) == {"bool"}):
        return "bool"
    if "complex128" in kinds:
        return "float64" if op == "absolute" else "complex128"
    return "float64" if "float64" in kinds or op == "divide" else "index"


def _mixed_comparison(op: str, x: Expr, y: Expr) -> Expr:
    """A comparison of int64 with uint64, by value as NumPy's: a negative number is below all that have no sign."""
    if x.dtype == "int64":
        op, x, y = MIRRORED[op], y, x
    negative: Expr = Apply("less", (y, Const(0, "int64")), "bool")
    if isinstance(y, Const):
        negative = Const(int(y.value) < 0, "bool")  # type: ignore[arg-type]
    unsigned = Apply(op, (x, b.cast(y, "uint64")), "bool")
    if op in ("greater", "greater_equal", "not_equal"):
        return b.either(negative, unsigned)
    return b.both(b.logical_not(negative), unsigned)


def check_range(ctx: Context, expr: Expr, dtype: str) -> None:
    """NumPy's error for a Python integer of run time that an array's type does not hold."""
    info = np.iinfo(dtype)
    low, high = ctx.facts.range_of(expr) or (None, None)
    condition: Expr = b.TRUE
    if info.min > -(2**63) and not (
        ctx.facts.not_negative(expr)
        or (low is not None and b.compare("greater_equal", low, b.index(info.min)) == b.TRUE)
    ):
        condition = b.compare("greater_equal", expr, b.index(info.min))
    if info.max < 2**63 - 1 and not _stays_below(ctx, high, info.max):
        condition = b.both(condition, b.compare("less_equal", expr, b.index(info.max)))
    condition = b.either(b.logical_not(ctx.lists.of_elements), condition)  # an empty list is one of float64
    ctx.guard(condition, "OverflowError", f"Python integer {{}} out of bounds for {dtype}", (expr,))


def _stays_below(ctx: Context, high: Expr | None, most: int) -> bool:
    """Whether what is less than `high` is at most `most`: for certain, or as long as no size needs over 31 bits."""
    if high is None:
        return False
    below = b.compare("less_equal", b.sub(high, b.ONE), b.index(most))
    if below == b.TRUE:
        return True
    if most < 2**31 - 1 or buffers_read(high) or not variables_read(high) <= ctx.facts.entry - ctx.inputs.integers:
        return False
    ctx.facts.assume(below)
    return True


def to_loop(ctx: Context, expr: Expr, dtype: str, number: bool = False) -> Expr:
    """An operand in its loop's type; `number`: it is no array, and a Python integer must be one of the type."""
    if number and expr.dtype == "index" and not isinstance(expr, Const) and dtype.startswith(("int", "uint")):
        check_range(ctx, expr, dtype)
    if isinstance(expr, Const) and dtype.startswith(("int", "uint")) and isinstance(expr.value, int):
        info = np.iinfo(dtype)
        if not info.min <= expr.value <= info.max:
            ctx.guard(b.FALSE, "OverflowError", f"Python integer {expr.value} out of bounds for {dtype}")
    return b.cast(expr, dtype)


def loop_types(ctx: Context, ufunc: Any, args: Sequence[Value], dtype: str | None) -> tuple[tuple[str, ...], str]:
    """NumPy's choice of types for a ufunc: those of its operands, and that of its (last) result."""
    kinds = [_dtype_or_weak(a) for a in args]
    op = ufunc.__name__
    none = (None,) * ufunc.nout
    if all(isinstance(k, type) for k in kinds):
        kinds = [np.dtype({int: "int64", float: "float64", complex: "complex128"}[k]) for k in kinds]
    if op in COMPARISONS and any(k is int for k in kinds):  # NumPy compares Python integers by value
        for position, value in enumerate(args):
            other = kinds[1 - position]
            if kinds[position] is int and isinstance(other, np.dtype) and other.kind in "iu":
                if not (isinstance(value, Static) and np.iinfo(other).min <= value.value <= np.iinfo(other).max):
                    signed = "int64" if other.kind == "i" or other.itemsize < 8 else "uint64"
                    return (("int64", signed) if position == 0 else (signed, "int64")), "bool"
    try:
        if dtype is None:
            resolved = ufunc.resolve_dtypes((*kinds, *none))
        else:
            signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
            resolved = ufunc.resolve_dtypes((*kinds, *none), signature=signature)
    except TypeError as error:
        ctx.fail(refusals.OPERANDS, str(error).splitlines()[0], _BITS if op in _OF_BITS else _CONVERT)
    names = tuple(str(d.name) for d in resolved)
    for name in names:
        if name not in ("bool",) and np.dtype(name).kind not in "iufcb":
            ctx.fail(refusals.OPERANDS, f"`{op}` of {', '.join(describe(a) for a in args)}", _CONVERT)
    return names[: ufunc.nin], names[-1]


def _dtype_of(value: Scalar | Array) -> str:
    """NumPy's type of what is held."""
    return "int64" if value.dtype == "index" else value.dtype


def _power(ctx: Context, args: Sequence[Value], operator_call: bool) -> Value | None:
    """The exponents that NumPy's ``**`` treats as other functions."""
    base, exponent = args
    if isinstance(exponent, Static) and is_python_number(exponent) and isinstance(base, (Array, Scalar)):
        kind = np.dtype("int64" if base.dtype == "index" else base.dtype).kind
        value = exponent.value
        if kind == "c":
            return _complex_power(ctx, base, value)
        if kind == "f" or (kind in "iu" and isinstance(value, int)):
            if value == 2:
                return apply(ctx, "square", [base])
            if value == 1 and kind == "f":
                return apply(ctx, "positive", [base])
            if kind == "f" and value == 0.5:
                return apply(ctx, "sqrt", [base]) if isinstance(base, Array) else _root_of_number(base)
            if kind == "f" and value == -1:
                return apply(ctx, "reciprocal", [base])
        if kind == "b" and operator_call and isinstance(base, Array) and isinstance(value, int) and value == 2:
            return apply(ctx, "square", [base])  # int8, where any other power is an int64
        least = -np.inf if kind != "i" else np.iinfo(_dtype_of(base)).min
        if kind in "ib" and isinstance(value, int) and least <= value < 0:
            ctx.guard(_is_empty(base), "ValueError", _NEGATIVE_POWER)
            dtype = loop_types(ctx, np.power, args, None)[1]
            return replace(as_array(ctx, base), body=b.cast(as_array(ctx, base).body, dtype), view=False, identity="")
    return None


_NEGATIVE_POWER = "Integers to negative integer powers are not allowed."


def _is_empty(value: Array | Scalar) -> Expr:
    """Whether an operation on `value` has nothing to look at."""
    if isinstance(value, Scalar):
        return b.FALSE
    rest = b.product(value.dims if value.mask is None else value.domain[1:])
    empty: Expr = b.compare("equal", rest, b.ZERO)
    if value.mask is not None:
        empty = b.either(empty, b.logical_not(Reduce("any", value.axes[:1], value.mask, "bool")))
    return empty


def _root_of_number(base: Scalar) -> Scalar:
    """``x ** 0.5`` of a number is the C library's `pow`, which knows no negative zero and no negative infinity."""
    x, dtype = base.expr, base.dtype
    root = Apply("sqrt", (Apply("add", (x, Const(0.0, dtype)), dtype),), dtype)
    endless = Apply("equal", (x, Const(-math.inf, dtype)), "bool")
    return Scalar(b.where(endless, Const(math.inf, dtype), root))


def _complex_power(ctx: Context, base: Array | Scalar, exponent: complex) -> Value | None:
    """``z ** 2`` of arrays is a square, and so on; scalars take all exponents by way of `npy_cpow`."""
    function = {2: "square", 0.5: "sqrt", -1: "reciprocal"}.get(exponent)  # type: ignore[call-overload]
    return apply(ctx, function, [base]) if function and isinstance(base, Array) and base.ndim else None


def _check_integer_power(
    ctx: Context, op: str, args: tuple[Expr, ...], axes: tuple[Axis, ...], mask: Expr | None
) -> None:  # fmt: skip
    if op != "power" or not args[1].dtype.startswith("int"):
        return
    if isinstance(args[1], Const):
        return
    negative: Expr = Apply("less", (args[1], Const(0, args[1].dtype)), "bool")
    if mask is not None:
        negative = b.both(mask, negative)
    if axes:
        negative = Reduce("any", axes, negative, "bool")
    ctx.guard(b.logical_not(negative), "ValueError", _NEGATIVE_POWER)


def simplify(expr: Expr) -> Expr:
    """Folds what does not change a result: constants of Python's own arithmetic, double negation of conditions."""
    match expr:
        case Apply("logical_not", (Apply("logical_not", (x,), _),), _) if x.dtype == "bool":
            return x
        case Apply("positive", (x,), dtype) if x.dtype == dtype:
            return x
        case Apply("conjugate", (x,), dtype) if x.dtype == dtype and not is_complex(dtype):
            return x
        case _:
            return expr


def _python(ctx: Context, op: str, args: Sequence[Value]) -> Value:
    """Python's own arithmetic on Python's own numbers."""
    if all(isinstance(a, Static) for a in args):
        return Static(asked(ctx, PYTHON_OPERATORS[op], *(a.value for a in args if isinstance(a, Static))))
    if any(map(large.is_large, args)):
        made = large.operated(ctx, op, args)
        return _python(ctx, op, made) if isinstance(made, list) else made
    exprs = [scalar_expr(ctx, a) for a in args]
    kinds = [e.dtype for e in exprs]
    if "complex128" in kinds and "index" in kinds and op in ("equal", "not_equal"):
        return Scalar(large.compared_with_complex(ctx, op, *sorted(exprs, key=lambda e: e.dtype)), True)
    if "complex128" in kinds:
        return python_complex.operate(ctx, op, exprs)
    if op in ("bitwise_and", "bitwise_or", "bitwise_xor") and set(kinds) == {"bool"}:
        return Scalar(Apply(op, tuple(exprs), "bool"), True)
    exprs = [b.cast(e, "index") if e.dtype == "bool" else e for e in exprs]
    kinds = [e.dtype for e in exprs]
    common = "float64" if "float64" in kinds else "index"
    if op in COMPARISONS and sorted(kinds) == ["float64", "index"]:
        return Scalar(large.compared_with_float(ctx, op, *exprs), True)
    if op in COMPARISONS:
        exprs = [b.cast(e, common) for e in exprs]
        return Scalar(
            b.rebuild(Apply(op, (), "bool"), tuple(exprs)) if common == "index" else Apply(op, tuple(exprs), "bool"),
            True,
        )
    if op in ("divide", "floor_divide", "remainder"):
        zero = {
            "divide": "division by zero",
            "floor_divide": "integer division or modulo by zero",
            "remainder": "integer modulo by zero",
        }
        message = zero[op]
        if common == "float64":
            message = {
                "divide": "float division by zero",
                "floor_divide": "float floor division by zero",
                "remainder": "float modulo by zero",
            }[op]
        divisor = exprs[1]
        if isinstance(divisor, Const):
            if divisor.value == 0:
                ctx.guard(b.FALSE, "ZeroDivisionError", message)
        else:
            ctx.guard(
                b.compare("not_equal", divisor, b.ZERO) if divisor.dtype == "index"
                else Apply("not_equal", (divisor, Const(0.0, divisor.dtype)), "bool"), "ZeroDivisionError", message,
            )  # fmt: skip
    negative = op == "power" and isinstance(args[1], Static) and args[1].value < 0
    if (op == "divide" or negative) and common == "index":
        common = "float64"
    if op == "power" and common == "index":
        exponent = args[1]
        if isinstance(exponent, Static) and exponent.value >= 0:
            result: Expr = b.ONE
            for _ in range(exponent.value):
                result = b.mul(result, exprs[0])
            if exponent.value <= 4:
                return Scalar(result, True)
        if isinstance(args[0], Static) and args[0].value == 2:
            _exponent_is_not_negative(ctx, exprs[1], "2")
            ctx.guard(b.compare("less", exprs[1], b.index(63)), "OverflowError", _TOO_LARGE)
            return Scalar(Apply("left_shift", (b.ONE, exprs[1]), "index"), True)
        if isinstance(args[0], Static) and args[0].value in (1, -1) and ctx.facts.not_negative(exprs[1]):
            odd = b.compare("equal", b.mod(exprs[1], b.index(2)), b.ONE)
            return Scalar(b.where(odd, b.index(args[0].value), b.ONE), True)
        _exponent_is_not_negative(ctx, exprs[1], "an integer")
        size = Apply("power", tuple(b.cast(e, "float64") for e in exprs), "float64")
        fits = Apply("less", (Apply("absolute", (size,), "float64"), Const(2.0**63, "float64")), "bool")
        ctx.guard(fits, "OverflowError", _TOO_LARGE)
        return Scalar(Apply("power", tuple(exprs), "index"), True)
    if op in ("left_shift", "right_shift") and common == "index":
        ctx.guard(b.compare("greater_equal", exprs[1], b.ZERO), "ValueError", "negative shift count")
        if op == "right_shift":  # C has no shifts by more
            exprs[1] = b.minimum(exprs[1], b.index(63))
    exprs = [b.cast(e, common) for e in exprs]
    if op == "power" and common == "float64":
        given = [not buffers_read(e) and variables_read(e) <= ctx.facts.entry for e in exprs]
        exprs = [e if known else ctx.let(e, "base") for e, known in zip(exprs, given, strict=True)]
        return Scalar(_float_power(ctx, exprs[0], exprs[1]), True)
    node = Apply(op, tuple(exprs), common)
    return Scalar(b.rebuild(node, tuple(exprs)) if common == "index" else node, True)


_TOO_LARGE = "a power of integers beyond 64 bits, which is not compiled"


def _exponent_is_not_negative(ctx: Context, exponent: Expr, base: str) -> None:
    """Else the power is a float, and which of the two it is must be known before the call."""
    ctx.guard(
        b.compare("greater_equal", exponent, b.ZERO), "OverflowError",
        f"{base} ** a negative integer is a float in Python, which is not compiled: write float(x) ** y",
    )  # fmt: skip


def _float_power(ctx: Context, base: Expr, exponent: Expr) -> Expr:
    """Python's ``float ** float``: its errors, and no complex results."""
    zero, value = Const(0.0, "float64"), Apply("power", (base, exponent), "float64")
    if isinstance(exponent, Const) and isinstance(exponent.value, float) and 0 <= exponent.value <= 4:
        if exponent.value.is_integer():
            return value
    try:
        0.0**-1.0
    except ZeroDivisionError as error:
        text = str(error)
    bad = b.both(Apply("equal", (base, zero), "bool"), Apply("less", (exponent, zero), "bool"))
    guards.guard_early(ctx, b.logical_not(bad), "ZeroDivisionError", text)
    whole = Apply("equal", (Apply("floor", (exponent,), "float64"), exponent), "bool")
    negative = b.both(Apply("less", (base, zero), "bool"), Apply("isfinite", (base,), "bool"))
    if not (isinstance(exponent, Const) and float(exponent.value).is_integer()):  # type: ignore[arg-type]
        guards.guard_early(
            ctx, b.either(b.logical_not(negative), whole), "ValueError",
            "a negative number to a fractional power is complex in Python, which is not compiled",
        )  # fmt: skip
    finite = b.both(Apply("isfinite", (base,), "bool"), Apply("isfinite", (exponent,), "bool"))
    overflow = b.both(Apply("isinf", (value,), "bool"), finite)  # without a name: such checks move to the front
    guards.guard_early(ctx, b.logical_not(overflow), "OverflowError", "(34, 'Numerical result out of range')")
    return value


# --- broadcasting


def align(
    ctx: Context, values: Sequence[Value], words: Words = "operands"
) -> tuple[list[Expr], tuple[Axis, ...], Expr | None, bool]:
    """The values' elements over common axes: (elements, axes, mask, whether all are scalars)."""
    arrays = [v for v in values if isinstance(v, Array)]
    ndim = max((a.ndim for a in arrays), default=0)
    if ndim == 0:
        return [scalar_expr(ctx, v) for v in values], (), None, True
    mask_owner = next((a for a in arrays if a.mask is not None), None)
    if mask_owner is not None and not masks_agree(arrays, ndim, mask_owner):
        values = [ctx.kept(v) if isinstance(v, Array) else v for v in values]
        arrays = [v for v in values if isinstance(v, Array)]
        mask_owner = None
    dims = broadcast_dims(ctx, [v.domain if isinstance(v, Array) else () for v in values], words)
    axes = ctx.names.axes(dims)
    elements: list[Expr] = []
    for v in values:
        if not isinstance(v, Array):
            elements.append(scalar_expr(ctx, v))
            continue
        elements.append(v.candidate(stretched(ctx, v.domain, axes)))
    if any(a.is_turned or a.axes in ctx.aliasing.operands for a in arrays):
        ctx.aliasing.operands[axes] = arrays
    mask = None if mask_owner is None else mask_owner.mask_at(axes[0].var)
    return elements, axes, mask, False


def truth(ctx: Context, value: Value) -> Value:
    """``bool(value)``: a Static bool, or a Scalar of dtype bool."""
    told = special_methods.truth_of(ctx, value)
    if told is not None:
        return truth(ctx, told)
    value = ctx.deref(value)
    match value:
        case Dict(keys):
            return Static(bool(keys))
        case Record(items=items):
            return Static(bool(items) if value.is_tuple else True)
        case Function() | Known() | Bound() | Partial() | Iterated() | Method(Seq(), "zip" | "enumerate"):
            return Static(True)
        case View(owner):
            return truth(ctx, owner)
        case OneOf():
            return Scalar(value.where(bool), True)
        case Char():
            return Static(True)
        case OrNone(inner, none):
            holds = truth(ctx, inner)
            inside = holds.expr if isinstance(holds, Scalar) else Const(bool(holds.value), "bool")  # type: ignore
            return Scalar(b.both(b.logical_not(none), inside), True)
        case Static(v):
            if isinstance(v, np.ndarray):
                ctx.fail(refusals.TRUTH, "the truth value of an array", "use .any() or .all()")
            return Static(bool(v))
        case Seq(items):
            return Static(bool(items))
        case GrowingList():
            return Scalar(b.compare("greater", value.length, b.ZERO), True)
        case Hashed():
            return Scalar(b.compare("greater", Load(value.info.buffer, (b.ZERO,), "index"), b.ZERO), True)
        case Scalar(expr) if expr.dtype == "bool":
            return Scalar(expr, True)
        case Scalar(expr):
            return Scalar(nonzero(expr), True)
        case Array():
            if value.mask is None and all(b.constant(d) == 1 for d in value.dims):
                return truth(ctx, Scalar(scalar_expr(ctx, value)))
            if value.ndim == 0:
                return truth(ctx, Scalar(value.body))
            problem = "the truth value of an array with more than one element is ambiguous"
            ctx.fail(refusals.TRUTH, problem, "use .any() or .all()")
        case _:
            help = "write out what is asked: v is not None, len(v) > 0"
            ctx.fail(refusals.TRUTH, f"the truth value of {describe(value)}", help)


def nonzero(expr: Expr) -> Expr:
    """``expr != 0``."""
    if expr.dtype == "bool":
        return expr
    if expr.dtype == "index":
        return b.compare("not_equal", expr, b.ZERO)
    zero: Any = 0 if expr.dtype.startswith(("int", "uint")) else 0.0
    return Apply("not_equal", (expr, Const(zero, expr.dtype)), "bool")


def part(ctx: Context, value: Array, name: str) -> Array:
    """``z.real``, ``z.imag`` of complex numbers: of memory a view."""
    dtype = float_of(value.dtype)
    if value.view and isinstance(value.body, Load):
        index, dims = value.body.index, ctx.names.buffers[value.body.buffer].dims
        if len(index) != len(dims):  # counted in memory, which a part behind it would make a subscript of two axes
            [place] = index
            index = b.unravel(place, dims)
        index = (*index, REAL if name == "real" else IMAG)
        return replace(value, body=Load(value.body.buffer, index, dtype), identity="")
    return replace(value, body=Apply(name, (value.body,), dtype), identity="")


def together(ctx: Context, real: Value, imag: Value) -> Value:
    """``real + 1j * imag``, exactly."""
    elements, axes, mask, scalar = align(ctx, [real, imag])
    body = Apply("complex", tuple(elements), complex_of(elements[0].dtype))
    return Scalar(body) if scalar else Array(axes, body, mask)


def warn_discarded(ctx: Context, source: str, target: str) -> None:
    """NumPy's ComplexWarning for a cast that leaves imaginary parts out, once a call; a cast in a loop or a branch is
    silent."""
    if not is_complex(source) or is_complex(target) or target == "bool" or ctx.emitter.out is not ctx.emitter.root:
        return
    if any(ctx.scopes.filters or ()):
        if ctx.scopes.filters and ctx.scopes.filters[-1] == "ignore":
            return
        ctx.fail(refusals.WARNINGS, "NumPy's ComplexWarning where a filter may choose it", "take the real part: z.real")
    said = n.Library("discarded", (), ())
    if said not in ctx.emitter.root:
        ctx.emitter.root.insert(0, said)


def convert(value: Array, dtype: str) -> Array:
    """``value.astype(dtype)`` (never a view)."""
    return replace(value, body=b.cast(value.body, dtype), view=False, readonly=False, identity="")

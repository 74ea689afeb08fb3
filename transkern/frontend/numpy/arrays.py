"""Values as arrays: lists, ranges, sequences of numbers and arrays from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.sources.observed import note_array
from transkern.frontend.values import doubts, large
from transkern.frontend.values.broadcasting import shape_text
from transkern.frontend.values.describing import describe, instead
from transkern.frontend.values.numbers import dtype_or_weak, is_number
from transkern.frontend.values.scalars import present, scalar_expr, select, static_expr
from transkern.frontend.values.types import are_aligned
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Concatenation,
    Dict,
    Flat,
    GrowingList,
    Range,
    Record,
    Rows,
    Scalar,
    Seq,
    Static,
    Value,
    children,
    with_children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Const, Expr, Load, Reduce
from transkern.ir.nodes import Buffer

_CAPTURED = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_ARRAY = "write an array of numbers there, or a list or tuple of numbers"
_KNOWN = 64  # elements of an array from outside whose values are part of the code


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
            doubts.certain(ctx, [value], lambda given: str(np.dtype(dtype_or_weak(given[0])).name), "an array of")
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
            return concatenate_now(ctx, pieces, dtype)
        case _:
            ctx.fail(refusals.NEEDED, f"an array is needed here, not {describe(value)}", instead(value, _ARRAY))


def elements_array(ctx: Context, value: Value) -> Array:
    """What Python's own functions go through, as an array: of an empty range they make no float64."""
    found = ctx.deref(value)
    return range_array(ctx, found) if isinstance(found, Range) and b.constant(found.step) else as_array(ctx, found)


def range_array(ctx: Context, value: Range) -> Array:
    """A range as an array of integers, also where it is empty."""
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
    if owner.columns and owner.row == OPTIONAL:
        flags, held = owner.columns
        (axis,) = ctx.names.axes((owner.length,))
        absent = Reduce("any", (axis,), ctx.names.load(flags.buffer, flags.index(axis.var)), "bool")
        ctx.guard(b.logical_not(absent), "RuntimeError", _WITH_NONE)
        return list_array(ctx, held)
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
_WITH_NONE = "a list with None in it has become an array, which NumPy makes one of objects: that is not compiled"
_UNEVEN = (
    "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 dimensions. "
    "The detected shape was ({},) + inhomogeneous part."
)


def table(ctx: Context, numbers: Sequence[int] | np.ndarray[Any, Any]) -> Array:
    """Integers that the translation has made as an array in memory: one, however often they are made."""
    made = np.asarray(numbers, dtype=np.int64)
    return captured_array(ctx, ctx.inputs.tables.setdefault(made.tobytes(), made))


def captured_array(ctx: Context, constant: np.ndarray[Any, Any]) -> Array:
    """An array from outside the function in its memory: an argument that the compiled function brings along."""
    if not _can_be_passed(constant):
        problem = f"an array of {constant.dtype} from outside the function"
        ctx.fail(refusals.DTYPE, problem, "convert it where it is made, such as with .astype(np.float64)")
    note_array(constant, passed=True)
    name = next((name for name, known in ctx.inputs.captured if known is constant), None)
    if name is None:
        name = ctx.names.fresh("table")
        ctx.names.lasting.add(name)  # a loop that is translated again must not give it to another array
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
    """A list of tuples (short lists) of numbers, or of such, as an array with a column for each item."""
    leaves = list(_leaves(owner))
    if OPTIONAL in (owner.row, *(c.row for c in leaves)):
        help = "take np.nan, or a number that stands for it"
        ctx.fail(refusals.MAY_BE_NONE, "an array of a list with None in it", help)
    if any(not c.dtype or c.options or c.objects or c.rows for c in leaves):
        ctx.fail(refusals.ARRAY_OF, "an array of tuples of something else than numbers", "append tuples of numbers")
    dtype = result_type(ctx, [Scalar(Load(c.buffer, (b.ZERO,) * (1 + len(c.dims)), c.dtype), c.python) for c in leaves])
    axes = ctx.names.axes((count, *_places(ctx, owner)))

    def body(held: GrowingList, places: Sequence[Axis]) -> Expr:
        if held.columns:
            return select(places[0].var, [body(c, places[1:]) for c in held.columns])
        index = (*held.index(axes[0].var), *(a.var for a in places))
        return b.cast(Load(held.buffer, index, held.dtype), dtype)

    return Array(axes, body(owner, axes[1:]))


def _leaves(owner: GrowingList) -> Iterator[GrowingList]:
    """The lists that the numbers stand in of a list of tuples, which may have tuples in them."""
    for column in owner.columns:
        if column.columns and column.row != OPTIONAL:
            yield from _leaves(column)
        else:
            yield column


def _places(ctx: Context, owner: GrowingList) -> tuple[Expr, ...]:
    """The shape of one element of a list."""
    if not owner.columns:
        return owner.dims
    first, *others = (_places(ctx, c) for c in owner.columns)
    if any(o != first for o in others):
        problem = "an array of tuples whose items differ in shape"
        ctx.fail(refusals.ARRAY_OF, problem, "append tuples of numbers, or of tuples of one length")
    return (b.index(len(owner.columns)), *first)


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


def result_type(ctx: Context, values: Sequence[Value]) -> str:
    """NumPy's common dtype of several values."""
    weak = {int: 0, float: 0.0, complex: 0j}
    for value in values:
        if isinstance(value, Static) and not isinstance(value.value, (np.generic, bool, int, float, complex)):
            ctx.fail(refusals.ARRAY_OF, f"an array with {describe(value)} in it", "put numbers alone into it")

    def of(given: Sequence[Value]) -> str:
        kinds = [dtype_or_weak(v) for v in given]
        return str(np.result_type(*[weak.get(k, k) if isinstance(k, type) else k for k in kinds]).name)

    found = doubts.certain(ctx, values, of, "an array with")
    for v in doubts.doubts_of(values) and values:
        if isinstance(v, Scalar) and v.doubt is not None and found != v.dtype and doubts.is_rounded(v.doubt, v.dtype):
            doubts.depends(ctx, [v], "an array with")
    return found


def concatenate_now(ctx: Context, pieces: Sequence[Array], dtype: str, name: str = "joined") -> Array:
    """Pieces of run-time length, one after the other in one buffer."""
    bound: Expr = b.ZERO
    for p in pieces:
        bound = b.add(bound, p.domain[0])
    ranges = [ctx.facts.array_range(p) for p in pieces]
    facts = {}
    if all(r is not None for r in ranges):
        low, high = ranges[0]  # type: ignore[misc]
        for r in ranges[1:]:
            low, high = b.minimum(low, r[0]), b.maximum(high, r[1])  # type: ignore[index]
        facts = {"low": low, "high": high}
    buffer = ctx.buffer(name, dtype, (bound,), **facts)
    count = ctx.names.count(buffer.name, bound)
    ctx.emit(n.Alloc(buffer.name))
    ctx.emit(n.Assign(count.name, b.ZERO))
    for p in pieces:
        mask = b.TRUE if p.mask is None else p.mask
        ctx.emit(n.Filter((buffer.name,), count.name, p.axes, mask, (b.cast(p.body, dtype),), (), True))
    return ctx.names.whole(buffer, (count,))

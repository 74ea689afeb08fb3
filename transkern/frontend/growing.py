"""Lists whose length is known at run time only: a buffer with a bound, and a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from transkern.frontend.context import Context, MustGrow
from transkern.frontend.elementwise import as_array, describe, is_python_number, list_array, scalar_expr
from transkern.frontend.indexing import Item, element
from transkern.frontend.trips import bound_of, trip_count
from transkern.frontend.values import Array, Concatenation, GrowingList, Range, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr

_COLUMNS = 16


def new(ctx: Context, name: str, items: Sequence[Value] = ()) -> GrowingList:
    """A list with `items` in it."""
    buffer = ctx.fresh(name)
    count = ctx.count(buffer, b.index(len(items)))
    ctx.list_counts.add(count.name)
    ctx.emit(n.Assign(count.name, b.ZERO))
    owner = GrowingList(buffer, count.name, depth=len(ctx.trips))
    ctx.emit(n.Alloc(buffer))
    for item in items:
        append(ctx, owner, item)
    return owner


def _own(ctx: Context, owner: GrowingList) -> None:
    """The list must not be an argument's own memory, which is as long as it is."""
    buffer = ctx.buffers.get(owner.buffer)
    if buffer is not None and buffer.role == "argument":
        raise MustGrow(("argument", owner.buffer), ctx.error("this list cannot be changed", "pass an array"))


def must_be_fixed(ctx: Context, owner: GrowingList, problem: str, help: str) -> NoReturn:
    """The list's length must be known at specialisation."""
    ctx.must_be_known(Static(None) if owner.grown_by is None else Scalar(owner.grown_by, True), problem, help)


def append(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.append``: one more element behind the others."""
    _own(ctx, owner)
    _put(ctx, owner, value, b.size(owner.count))
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), b.ONE)))


def _put(ctx: Context, owner: GrowingList, value: Value, count: Expr) -> None:
    """`value` as the element at `count`, where there is room made for it."""
    value = ctx.deref(value)
    if isinstance(value, Seq):
        for column, item in zip(_columns(ctx, owner, value), value.items, strict=True):
            _put(ctx, column, item, count)
        return
    if owner.columns:
        ctx.fail("a list whose elements differ in type", "append elements of one type and shape")
    if isinstance(value, GrowingList):
        must_be_fixed(ctx, value, "a list of lists of run-time length", "use an array with two dimensions")
    if isinstance(value, (Array, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        array = as_array(ctx, value)
        array = ctx.compact(array, "row") if array.mask is not None else array
        if array.view:
            ctx.note_append(array.base)
            owner.shared = owner.shared or ctx.buffers[array.base].role == "argument"
        _list_type(ctx, owner, array.dtype, array.dims, False)
        ctx.emit(
            n.Write(owner.buffer, array.axes, (count, *(a.var for a in array.axes)), b.cast(array.body, owner.dtype))
        )
        return
    expr = scalar_expr(ctx, value)
    _list_type(ctx, owner, expr.dtype, (), is_python_number(value))
    _widen(ctx, owner, expr)
    ctx.emit(n.Store(owner.buffer, (count,), b.cast(expr, owner.dtype)))


def _columns(ctx: Context, owner: GrowingList, value: Seq) -> list[GrowingList]:
    """The lists that the items of tuples stand in."""
    if owner.dtype or len(value.items) > _COLUMNS or (owner.columns and len(owner.columns) != len(value.items)):
        ctx.fail("a list whose elements differ in type", "append elements of one type and shape")
    if not owner.columns:
        owner.row = value.kind
        for k in range(len(value.items)):
            buffer = ctx.fresh(f"{owner.buffer}_{k}")
            owner.columns.append(GrowingList(buffer, owner.count, depth=owner.depth))
        ctx.columns[owner.buffer] = [c.buffer for c in owner.columns]
    if owner.row != value.kind:
        ctx.fail("a list of lists and tuples", "append elements of one type")
    return owner.columns


def _widen(ctx: Context, owner: GrowingList, expr: Expr) -> None:
    """What is known of the numbers in the list, after one more."""
    low_high = ctx.range_of(expr)
    buffer = ctx.buffers[owner.buffer]
    if low_high is None:
        ctx.buffers[owner.buffer] = replace(buffer, low=None, high=None)
    elif buffer.low is not None and buffer.high is not None and (buffer.low, buffer.high) != low_high:
        low, high = b.minimum(buffer.low, low_high[0]), b.maximum(buffer.high, low_high[1])
        ctx.buffers[owner.buffer] = replace(buffer, low=low, high=high)


def _list_type(
    ctx: Context, owner: GrowingList, dtype: str, dims: tuple[Expr, ...], python: bool, times: Expr | None = b.ONE
) -> None:
    """Room for `times` more elements of a type, wherever the loops around lead."""
    trips: Expr | None = times
    for trip in ctx.trips[owner.depth :]:
        if trip is not None and b.constant(trip) is None:
            owner.grown_by = trip
        trips = None if trips is None or trip is None else b.mul(trips, trip)
    bound = ctx.bounds.get(owner.count)
    known = owner.buffer in ctx.buffers
    if trips is None:
        problem = ctx.error(
            "a list whose length cannot be bounded", "loop over a range, or over an array that every iteration shortens"
        )
        if not ctx.trips:
            raise problem
        ctx.deferred = ctx.deferred or problem
        trips = b.ONE
    if not known:
        owner.dtype, owner.dims, owner.python = dtype, dims, python
        bound = trips if bound is None or b.constant(bound) == 0 else b.add(bound, trips)
        ctx.buffers[owner.buffer] = n.Buffer(
            owner.buffer, dtype, (bound, *dims), line=ctx.span.line, low=b.ZERO, high=b.ZERO
        )
        ctx.bounds[owner.count] = bound
        return
    buffer = ctx.buffers[owner.buffer]
    if (owner.dtype, owner.dims) != (dtype, dims) or owner.python != python:
        if dims == owner.dims and not dims and owner.python and python and {dtype, owner.dtype} <= {"index", "float64"}:
            ctx.must_be_known(Static(None), "a list of ints and floats", "append float(x)")
        ctx.must_be_known(Static(None), "a list whose elements differ in type", "append elements of one type and shape")
    assert bound is not None
    bound = b.add(bound, trips)
    ctx.buffers[owner.buffer] = replace(buffer, dims=(bound, *dims))
    ctx.bounds[owner.count] = bound


def extend(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.extend``."""
    _own(ctx, owner)
    contents = ctx.deref(value)
    if isinstance(contents, (Seq, Static)) and not (isinstance(contents, Static) and hasattr(contents.value, "shape")):
        items = contents.items if isinstance(contents, Seq) else [Static(v) for v in contents.value]
        for item in items:
            append(ctx, owner, item)
        return
    array, python = _numbers(ctx, contents)
    extent = bound_of(ctx, array.dims[0])
    _list_type(ctx, owner, array.dtype, array.dims[1:], python, extent)
    buffer = ctx.buffers[owner.buffer]
    ctx.buffers[owner.buffer] = replace(buffer, low=None, high=None)
    count = b.size(owner.count)
    index = (b.add(count, array.axes[0].var), *(a.var for a in array.axes[1:]))
    ctx.emit(n.Write(owner.buffer, array.axes, index, b.cast(array.body, owner.dtype)))
    ctx.emit(n.Assign(owner.count, b.add(count, array.dims[0])))


def _numbers(ctx: Context, value: Value) -> tuple[Array, bool]:
    """The elements of an iterable of run-time length, and whether they are Python's numbers."""
    if isinstance(value, Range):
        axis = ctx.axis("i", trip_count(value.start, value.stop, value.step))
        return Array((axis,), b.add(value.start, b.mul(value.step, axis.var))), True
    if isinstance(value, GrowingList) and not value.columns:
        array = list_array(ctx, value)
        body = array.body
        return replace(array, body=b.cast(body, "index") if value.dtype == "index" else body), value.python
    if isinstance(value, (Array, Concatenation)):
        array = as_array(ctx, value)
        return ctx.compact(array, "kept") if array.mask is not None else array, False
    ctx.fail(f"extending a list by {describe(value)}", "append in a loop, or use np.concatenate")


def numbers(ctx: Context, value: Value) -> Array:
    """The elements of an iterable of run-time length, of their own type."""
    return _numbers(ctx, value)[0]


def list_of(ctx: Context, array: Array, python: bool) -> GrowingList:
    """A new list of an array's elements (its rows)."""
    owner = new(ctx, "items")
    array = ctx.compact(array, "kept") if array.mask is not None else array
    _hold(ctx, owner, array, python)
    ctx.emit(n.Assign(owner.count, array.dims[0]))
    return owner


def _hold(ctx: Context, owner: GrowingList, array: Array, python: bool) -> None:
    """The elements of an array in the memory of a new list, or of one of its columns."""
    owner.depth = len(ctx.trips)
    ctx.bounds[owner.count] = b.ZERO
    _list_type(ctx, owner, array.dtype, array.dims[1:], python, bound_of(ctx, array.dims[0]))
    ctx.buffers[owner.buffer] = replace(ctx.buffers[owner.buffer], low=None, high=None)
    ctx.emit(n.Write(owner.buffer, array.axes, tuple(a.var for a in array.axes), array.body))


def changed(ctx: Context, owner: GrowingList, part: Callable[[Array], Array]) -> GrowingList:
    """A new list of `part` of the elements, which `part` takes of each column."""
    if not owner.columns:
        array, python = _numbers(ctx, owner)
        return list_of(ctx, part(array), python)
    made = new(ctx, "items")
    made.row = owner.row
    length: Expr = b.ZERO
    for column in owner.columns:
        array, python = _numbers(ctx, column)
        array = part(array)
        buffer = ctx.fresh(made.buffer)
        ctx.emit(n.Alloc(buffer))
        made.columns.append(GrowingList(buffer, made.count))
        _hold(ctx, made.columns[-1], array, python)
        length = array.dims[0]
    ctx.columns[made.buffer] = [c.buffer for c in made.columns]
    ctx.emit(n.Assign(made.count, length))
    return made


def reverse(ctx: Context, owner: GrowingList) -> None:
    """``list.reverse``."""
    _own(ctx, owner)
    if not owner.dtype and not owner.columns:
        return
    last = b.sub(b.size(owner.count), b.ONE)

    def turn(column: GrowingList) -> None:
        axes = ctx.axes((b.size(column.count), *column.dims))
        rest = tuple(a.var for a in axes[1:])
        held = ctx.load(column.buffer, (b.sub(last, axes[0].var), *rest))
        turned = ctx.define(Array(axes, held), "reversed")
        ctx.emit(n.Write(column.buffer, turned.axes, tuple(a.var for a in turned.axes), turned.body))

    each(owner, turn)


def copied(ctx: Context, owner: GrowingList) -> GrowingList:
    """``list.copy``."""
    if not owner.dtype and not owner.columns:
        return new(ctx, "items")
    return changed(ctx, owner, lambda array: array)


def from_items(ctx: Context, value: Value) -> GrowingList:
    """A list of what a tuple or list holds."""
    assert isinstance(value, Seq)
    return new(ctx, "items", value.items)


def each(owner: GrowingList, change: Callable[[GrowingList], None]) -> None:
    for column in owner.columns or [owner]:
        change(column)


def clear(ctx: Context, owner: GrowingList) -> None:
    _own(ctx, owner)
    ctx.emit(n.Assign(owner.count, b.ZERO))


def pop(ctx: Context, owner: GrowingList, position: Value | None) -> Value:
    """``list.pop``: the last element, or one further in front, behind which the others move up."""
    _own(ctx, owner)
    count = b.size(owner.count)
    ctx.guard(b.compare("greater", count, b.ZERO), "IndexError", "pop from empty list")
    if not owner.dtype and not owner.columns:
        ctx.fail("pop from a list before anything is appended to it")
    last = b.sub(count, b.ONE)
    if position is None or (isinstance(position, Static) and position.value == -1):
        value = _held(ctx, element(ctx, owner, last))
        ctx.emit(n.Assign(owner.count, last))
        return value
    at = _position(ctx, owner, position, "pop index out of range")
    value = _held(ctx, element(ctx, owner, at))

    def move(column: GrowingList) -> None:
        axes = ctx.axes((b.sub(last, at), *column.dims))
        here = b.add(at, axes[0].var)
        rest = tuple(a.var for a in axes[1:])
        ctx.emit(n.Write(column.buffer, axes, (here, *rest), ctx.load(column.buffer, (b.add(here, b.ONE), *rest))))

    each(owner, move)
    ctx.emit(n.Assign(owner.count, last))
    return value


def _held(ctx: Context, value: Value) -> Value:
    """`value` now, as the list is about to change."""
    match value:
        case Scalar(expr, python):
            return Scalar(ctx.let(expr, "popped"), python)
        case Seq(items, kind):
            return Seq(tuple(_held(ctx, i) for i in items), kind)
        case Array():
            return ctx.define(replace(value, view=False), "popped")
        case _:
            return value


def _position(ctx: Context, owner: GrowingList, position: Value, message: str) -> Expr:
    count = b.size(owner.count)
    at = ctx.let(b.as_index(scalar_expr(ctx, position)), "at")
    inside = b.both(b.compare("less", at, count), b.compare("greater_equal", at, b.neg(count)))
    ctx.guard(inside, "IndexError", message)
    return b.wrap_index(at, count)


def insert(ctx: Context, owner: GrowingList, position: Value, value: Value) -> None:
    """``list.insert``: the elements from `position` on move down."""
    _own(ctx, owner)
    held = ctx.deref(value)
    if not isinstance(held, (Scalar, Static)) or owner.columns:
        ctx.fail("`insert` of this into a list", "append, or use an array")
    count = b.size(owner.count)
    at = b.as_index(scalar_expr(ctx, position))
    place = ctx.let(b.maximum(b.minimum(b.wrap_index(at, count), count), b.ZERO), "at")
    expr = ctx.let(scalar_expr(ctx, held), "value")
    _list_type(ctx, owner, expr.dtype, (), is_python_number(held))
    _widen(ctx, owner, expr)
    axis = ctx.axis("i", b.sub(count, place))
    here = b.add(place, axis.var)
    ctx.emit(n.Write(owner.buffer, (axis,), (b.add(here, b.ONE),), ctx.load(owner.buffer, (here,))))
    ctx.emit(n.Store(owner.buffer, (place,), b.cast(expr, owner.dtype)))
    ctx.emit(n.Assign(owner.count, b.add(count, b.ONE)))


def store_item(ctx: Context, owner: GrowingList, items: Sequence[Item], value: Value) -> None:
    """``list[k] = value``."""
    _own(ctx, owner)
    value = ctx.deref(value)
    if len(items) != 1 or isinstance(items[0], Range):
        ctx.fail("a store into a slice of a growing list", "make it an array: np.array(list)")
    at = _position(ctx, owner, ctx.deref(items[0]), "list assignment index out of range")
    if owner.columns or owner.dims or isinstance(value, (Seq, GrowingList)):
        if isinstance(value, Seq) and len(value.items) == len(owner.columns):
            for column, item in zip(owner.columns, value.items, strict=True):
                ctx.emit(n.Store(column.buffer, (at,), b.cast(scalar_expr(ctx, item), column.dtype)))
            return
        ctx.fail(f"a store of {describe(value)} into a growing list", "use an array")
    expr = scalar_expr(ctx, value)
    if (expr.dtype, is_python_number(value)) != (owner.dtype, owner.python):
        ctx.must_be_known(value, "a list whose elements differ in type", "store elements of the type it has")
    _widen(ctx, owner, expr)
    ctx.emit(n.Store(owner.buffer, (at,), expr))

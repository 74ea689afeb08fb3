"""Stores into arrays: ``x[…] = v``, ``x += v``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.containers import empties
from transkern.frontend.containers.nested import check_depth, into_element, list_into_element
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import warn_discarded
from transkern.frontend.python.whole import exact_expr
from transkern.frontend.state import aliasing, handing, stores
from transkern.frontend.subscripts.arrays import check_count, first_place, names_elements, outside_text, place
from transkern.frontend.subscripts.positions import check_subscripts
from transkern.frontend.subscripts.storable import Before, check_numbers, check_same_kind, each_of_type, storable
from transkern.frontend.values import large
from transkern.frontend.values.broadcasting import broadcast_to
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.reach import shows
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    GrowingList,
    Range,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
    is_list,
    lies,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import affine
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import buffers_read, variables_read


def is_repeated(base: Array) -> bool:
    """Whether elements show one place in memory, as those of `broadcast_to` and of windows do."""
    if not isinstance(base.body, Load):
        return False
    long = {a.var for a in base.axes if b.constant(a.extent) != 1}
    together = [{t for t, factor in affine(i)[0].items() if factor == 1} & long for i in base.body.index]
    return any(len(axes) > 1 for axes in together) or any(a.name not in variables_read(base.body) for a in long)


def changed_in_place(ctx: Context, value: Array) -> Array:
    """An array that a function changes. One that does not lie in memory gets a place there: nobody will see the change,
    unless a name stands for it, or for what it is a part of."""
    if lies(value):
        return value
    read = _read(value)
    named = ((k, v) for frame in ctx.scopes.frames for k, v in frame.items())
    others = [k for k, v in named if shows(ctx.heap.contents, v, lambda a: not lies(a) and _read(a) == read)]
    if others:
        problem = f"a change in place of an array that `{others[0]}` may show"
        ctx.fail(refusals.TARGET, problem, f"copy it first: {others[0]} = {others[0]}.copy()")
    return replace(ctx.define(value, "copy"), readonly=value.readonly)


def _read(value: Array) -> frozenset[str]:
    return buffers_read(value.body) | (frozenset() if value.mask is None else buffers_read(value.mask))


@contextmanager
def where_some(ctx: Context, count: Expr) -> Iterator[None]:
    """What is stored inside is stored where there is something to store: of nothing NumPy stores nothing."""
    raises = True
    with ctx.emitter.block() as out, suppress(Terminated):
        yield
        raises = False
    if b.constant(count) is None:
        ctx.emit(n.If(b.compare("greater", count, b.ZERO), tuple(out)))
    elif b.constant(count):
        ctx.emitter.out.extend(out)
        if raises:
            raise Terminated


def as_result(value: Value) -> Value:
    """The result of an operation on its way into an array: a number of NumPy's is cast as arrays are."""
    of_numpy = isinstance(value, Scalar) and not value.python and value.doubt is None
    return Array((), value.expr) if of_numpy else value  # type: ignore[union-attr]


def write(ctx: Context, base: Array, items: Sequence[Value], value: Value, casting: str | None = None) -> None:
    """``base[items] = value``; `casting` names the in-place operator, whose cast must be same-kind."""
    empties.told(ctx, lambda *at: np.zeros([0] * base.ndim)[at], items, {}, lambda *_: Static(None))
    value = ctx.deref(value)
    if is_repeated(base):
        if any(b.constant(d) == 0 for d in base.dims):  # what `reshape` gives looks the same
            problem = "a store into an array without elements, which NumPy may make read-only"
            ctx.fail(refusals.SHARED_MEMORY, problem, "test its size first")
        if not base.readonly:  # of `broadcast_arrays`, say
            problem = "a store into an array whose elements may share memory"
            ctx.fail(refusals.SHARED_MEMORY, problem, "store into a copy of it")
    if casting is None:
        outputs.check_readonly(ctx, base, "assignment destination")
    check_subscripts(ctx, items)
    _check_masks(ctx, base, items)
    number: Expr | None = None
    by_positions = any(_is_positions(ctx.deref(i)) for i in items)
    if by_positions:
        check_count(ctx, base, [i for i in map(ctx.deref, items) if not _is_truth(i)])
    with ctx.control.bounds_later() as bounds:
        plan = place(ctx, base, items)
    if not (by_positions or any(map(_is_mask, map(ctx.deref, items)))):  # else they are looked at last
        _all(bounds)
    value = large.stored(ctx, value, base.dtype)
    value = value if casting is None else as_result(value)
    is_doubtful = isinstance(value, Scalar) and value.doubt is not None
    if by_positions and (is_python_number(value) or is_doubtful):
        number = storable(ctx, value, exact_expr(ctx, value), base.dtype, False)
    elif by_positions and isinstance(value, (Seq, GrowingList)):
        check_numbers(ctx, value, base.dtype)
    aliasing.note_store(ctx, base.base)
    aliasing.check_held(ctx, base.base)
    outputs.note_written(ctx, base)
    if base.base in ctx.inputs.written:
        ctx.inputs.in_place.setdefault(base.base, casting is not None)
    target_index = base.at(plan.index)
    assert isinstance(target_index, Load)
    buffer = ctx.names.buffers[target_index.buffer]
    is_array = isinstance(value, (Array, Concatenation, Seq, GrowingList, Range, Record)) or is_constant_array(value)
    source = value if is_array else None
    whole = any(isinstance(i, Static) and i.value is Ellipsis for i in items)
    is_element = not plan.axes and not whole
    is_sequence = isinstance(source, (Seq, GrowingList)) or (isinstance(source, Record) and source.is_tuple)
    if source is not None and is_sequence and is_element and not by_positions:
        source = list_into_element(ctx, source, target_index.dtype)
    elif isinstance(source, (Seq, GrowingList, Record)) and casting is None and not (plan.mask or plan.advanced):
        check_depth(ctx, source, len(plan.axes))
    if source is not None:
        warn_discarded(ctx, as_array(ctx, source).dtype, target_index.dtype)
    if isinstance(source, (Seq, GrowingList)) and not by_positions:
        in_turn = casting is None and len(plan.axes) == 1 and not (plan.mask or plan.advanced)
        check_numbers(ctx, source, base.dtype, Before(target_index, plan.axes[0], source) if in_turn else None)
    if casting is not None:
        check_same_kind(ctx, casting, value, target_index.dtype)
        outputs.check_readonly(ctx, base, "output array")
    if source is not None:
        array = as_array(ctx, each_of_type(ctx, source, target_index.dtype) if casting is None else source)
        if is_element:
            array = into_element(ctx, array, target_index.dtype)
        if array.ndim > 1 and len(items) == 1 and _chooses_elements(ctx, items[0], base):
            text = "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has"
            ctx.guard(b.FALSE, "TypeError", f"{text} {array.ndim} dimensions")
        if array.mask is not None or plan.mask is not None:
            _filtered_write(ctx, plan, target_index, array, buffer, bounds)
            return
        axes, body = broadcast_to(ctx, array, tuple(a.extent for a in plan.axes), _INDEXED if plan.advanced else "")
    else:
        axes, body = ctx.names.axes(tuple(a.extent for a in plan.axes)), exact_expr(ctx, value)
        warn_discarded(ctx, body.dtype, target_index.dtype)
        if number is None:
            number = storable(ctx, value, body, target_index.dtype, plan.mask is None and not plan.advanced)
        body = number
    index = tuple(
        b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target_index.index
    )
    mask = None
    if plan.mask is not None:
        mask = b.substitute(plan.mask, {plan.axes[0].name: axes[0].var})
    _all(bounds)
    stores.before_write(ctx, buffer.name)
    body = b.cast(body, target_index.dtype)
    if not axes and mask is None:
        if body != Load(buffer.name, index, target_index.dtype):
            ctx.emit(n.Store(buffer.name, index, body))
        return
    ctx.emit(n.Write(buffer.name, axes, index, body, mask))


def write_in_turn(ctx: Context, target: Array, at: Array, element: Callable[[Expr], Expr]) -> None:
    """Stores `element(k)` at position `at[k]` of a line, one ``k`` after the other: of positions, the first that lies
    outside raises NumPy's error, and what stands before it has been stored."""
    (extent,), (count,) = target.dims, at.dims
    if names_elements(ctx, at, extent):
        (axis,) = ctx.names.axes((count,))
        write(ctx, target, [at], Array((axis,), element(axis.var)))
        return
    at = ctx.define(at, "at")

    def position(k: Expr) -> Expr:
        return b.as_index(at.at((k,)))

    def outside(k: tuple[Expr, ...]) -> Expr:
        low = b.compare("less", position(*k), b.neg(extent))
        return b.either(low, b.compare("greater_equal", position(*k), extent))

    first, (bad,) = first_place(ctx, at.dims, outside)
    holds = b.compare("less", first, b.ZERO)
    near, axis = ctx.names.axes((ctx.let(b.where(holds, count, first), "stored"),) * 2)
    write(ctx, target, [Array((near,), at.at((near.var,)))], Array((axis,), element(axis.var)))
    ctx.guard(holds, "IndexError", outside_text(ctx, 0), (position(bad), extent))


def _chooses_elements(ctx: Context, item: Value, base: Array) -> bool:
    """Whether a subscript is a mask of all axes."""
    item = ctx.deref(item)
    if isinstance(item, Static) and isinstance(item.value, (bool, np.bool_)):
        return not base.ndim
    if not isinstance(item, (Array, Seq, GrowingList)) and not is_constant_array(item):
        return False
    mask = as_array(ctx, item)
    return mask.dtype == "bool" and mask.ndim == base.ndim


_INDEXED = "shape mismatch: value array of shape {from} could not be broadcast to indexing result of shape {into}"


def _check_masks(ctx: Context, base: Array, items: Sequence[Value]) -> None:
    """A mask that is itself part of the array: NumPy reads on in it while it stores."""
    for item in items:
        if isinstance(item, Array) and item.view and item.mask is None and item.dtype == "bool":
            if item.base == base.base and item.with_axes(base.axes[: item.ndim]).body != base.body:
                ctx.fail(
                    refusals.SHARED_MEMORY,
                    "a store through a mask that shares memory with the array: NumPy reads it while it stores",
                    "copy the mask: x[mask.copy()] = value",
                )


def _all(checks: list[Callable[[], None]]) -> None:
    """Makes checks that were left for later, once."""
    while checks:
        checks.pop(0)()


def _is_truth(item: Value) -> bool:
    """Whether a subscript is True or False, which is for no axis."""
    if isinstance(item, Static):
        return isinstance(item.value, (bool, np.bool_))
    return isinstance(item, (Scalar, Array)) and item.dtype == "bool" and not (isinstance(item, Array) and item.axes)


def _is_mask(item: Value) -> bool:
    return isinstance(item, Array) and bool(item.axes) and item.dtype == "bool"


def _is_positions(item: Value) -> bool:
    """Whether a subscript is an array of positions, or a list, which is made one."""
    if isinstance(item, Array):
        return bool(item.axes) and item.dtype != "bool"
    return is_list(item)


def is_constant_array(value: Value) -> bool:
    """A NumPy array captured as a constant."""
    return isinstance(value, Static) and isinstance(value.value, np.ndarray)


def check_own(ctx: Context, value: Value, node: ast.AST | None = None) -> None:
    """Raises CompileError where `value`, which is about to change, is an array of the module's."""
    if is_constant_array(value):
        handing.fail_outside(ctx, value, "an array", node)


def _filtered_write(
    ctx: Context, plan: Any, target: Load, array: Array, buffer: n.Buffer, bounds: list[Callable[[], None]]
) -> None:
    """A store through a mask or of a filter: element by element in order; `bounds` are checked before it."""
    if plan.mask is None:
        value = ctx.compact(array, "kept")
        message = _INDEXED if plan.advanced else ""
        axes, body = broadcast_to(ctx, value, tuple(a.extent for a in plan.axes), message)
        index = tuple(
            b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target.index
        )
        _all(bounds)
        stores.before_write(ctx, buffer.name)
        ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, target.dtype)))
        return
    same = (
        array.mask is not None and array.ndim == len(plan.axes) and array.domain == tuple(a.extent for a in plan.axes)
        and array.mask_at(plan.axes[0].var) == plan.mask
    )  # fmt: skip
    if same or (array.mask is None and (array.ndim < len(plan.axes) or all(b.constant(d) == 1 for d in array.dims))):
        plain = replace(array, mask=None) if same else array
        while plain.ndim > len(plan.axes):
            plain = Array(plain.axes[1:], plain.at((b.ZERO, *(a.var for a in plain.axes[1:]))))
        axes, body = broadcast_to(ctx, plain, tuple(a.extent for a in plan.axes), _INDEXED)
        index = tuple(
            b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target.index
        )
        mask = b.substitute(plan.mask, {plan.axes[0].name: axes[0].var})
        _all(bounds)
        stores.before_write(ctx, buffer.name)
        ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, target.dtype), mask))
        return
    # positions of the mask first, then one value a position
    positions = ctx.compact(Array(plan.axes[:1], b.cast(plan.axes[0].var, "int64"), plan.mask), "where")
    value = ctx.kept(array)
    dims = (positions.dims[0], *(a.extent for a in plan.axes[1:]))
    if value.ndim == len(dims):
        ctx.guard(
            b.either(b.compare("equal", value.dims[0], dims[0]), b.compare("equal", value.dims[0], b.ONE)),
            "ValueError",
            "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the "
            "mask is true", (value.dims[0], dims[0]),
        )  # fmt: skip
    axes, body = broadcast_to(ctx, value, dims, _INDEXED)
    at = b.as_index(positions.at((axes[0].var,)))
    renamed = {old.name: new.var for old, new in zip(plan.axes[1:], axes[1:], strict=True)}
    index = tuple(b.substitute(i, {plan.axes[0].name: at, **renamed}) for i in target.index)
    _all(bounds)
    stores.before_write(ctx, buffer.name)
    ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, target.dtype)))

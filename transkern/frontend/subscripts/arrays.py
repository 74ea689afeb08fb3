"""Subscripts of arrays, by NumPy's rules for slices, None, arrays and masks: where the result's elements stand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, list_array, range_array
from transkern.frontend.numpy.elementwise import align
from transkern.frontend.python.whole import in_64_bits
from transkern.frontend.subscripts.positions import check_subscripts
from transkern.frontend.subscripts.slices import settle_slice
from transkern.frontend.values import large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    GrowingList,
    OrNone,
    Range,
    Scalar,
    Seq,
    Slice,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir.expr import Axis, Const, Expr, Reduce
from transkern.ir.traverse import variables_read


def array_item(ctx: Context, base: Array, items: Sequence[Value]) -> Value:
    """``base[items]`` as a value: a scalar where nothing is left of the shape, a view for basic subscripts."""
    by_array = any(isinstance(item, Array) and not item.axes for item in items)  # NumPy copies there
    check_subscripts(ctx, items)
    items = [as_item(ctx, item) for item in items]
    if base.mask is not None:
        early = _filtered_item(ctx, base, items)
        if early is not None:
            return early
        base = ctx.compact(base, "kept")
    plan = _plan(ctx, base, items)
    if not plan.axes and not any(isinstance(item, Static) and item.value is Ellipsis for item in items):
        return Scalar(base.at(plan.index))
    if plan.advanced or by_array or plan.mask is not None:
        return Array(plan.axes, base.at(plan.index), plan.mask)
    return base.seen(plan.axes, plan.index)


def positions(ctx: Context, value: Value) -> Array:
    """An array of positions: of a list without elements NumPy makes integers here."""
    made = as_array(ctx, value)
    is_empty = isinstance(ctx.deref(value), Seq) and any(b.constant(d) == 0 for d in made.dims)
    return Array(made.axes, Const(0, "int64")) if is_empty else made


def as_item(ctx: Context, item: Value) -> Value:
    """Lists and such in a subscript are arrays."""
    item = ctx.deref(item)
    if isinstance(item, OrNone):
        text = "a subscript that is None, where it may be a number as well: it would add an axis, and is not compiled"
        ctx.guard(b.logical_not(item.none), "RuntimeError", text)
        item = item.value
    match item:
        case GrowingList() | Seq(_, "list" | "tuple"):  # a tuple alone has been taken apart
            array = list_array(ctx, item) if isinstance(item, GrowingList) else positions(ctx, item)
            if array.dtype == "bool" and array.ndim > 1:
                text = "a list of truths that is empty as a subscript, which NumPy takes for integers, is not compiled"
                ctx.guard(b.compare("not_equal", b.product(array.dims), b.ZERO), "RuntimeError", text)
            if not array.dtype.startswith(("float", "complex")):
                return array
            return Array(array.axes, b.cast(array.body, "int64"))  # empty (`check_subscripts`): it is one of positions
        case Range() if b.constant(item.step):
            return range_array(ctx, item)
        case Static(np.ndarray()) | Concatenation() | Range():
            return as_array(ctx, item)
        case Static(bool() | np.bool_() as known):
            return _Truth(Const(bool(known), "bool"))  # type: ignore[return-value]
        case Scalar(expr) if expr.dtype == "bool":
            return _Truth(expr)  # type: ignore[return-value]
        case Array(axes=()) if item.dtype == "bool":
            return _Truth(item.body)  # type: ignore[return-value]
        case Array(axes=()):
            return Scalar(item.body)
        case _:
            return item


@dataclass(frozen=True, slots=True)
class Plan:
    """Where an element of the result stands in the base: `index` over `axes`."""

    axes: tuple[Axis, ...]
    index: tuple[Expr, ...]
    mask: Expr | None
    advanced: bool


def check_count(ctx: Context, base: Array, items: Sequence[Value]) -> int:
    """How many axes subscripts are for; NumPy's IndexError where the array has fewer."""
    if any(map(large.is_large, items)) or any(map(_is_beyond, items)):
        asked(ctx, operator.getitem, np.empty((1,) * base.ndim), tuple(map(_example, items)))
    used = sum(axes_used(item) for item in items)
    if used > base.ndim:
        for item in items:
            if isinstance(item, Scalar):
                in_64_bits(ctx, item.expr)  # which is looked at first
        ctx.guard(
            b.FALSE, "IndexError",
            f"too many indices for array: array is {base.ndim}-dimensional, but {used} were indexed",
        )  # fmt: skip
    return used


def _plan(ctx: Context, base: Array, items: Sequence[Value]) -> Plan:
    used = check_count(ctx, base, items)
    if any(isinstance(item, _Truth) for item in items):
        return _plan_of_truth(ctx, base, items)
    full = Slice(None, None, None)
    expanded: list[Value] = []
    seen = False
    for item in items:
        if isinstance(item, Static) and item.value is Ellipsis:
            if not seen:
                expanded += [full] * (base.ndim - used)
            seen = True
        else:
            expanded.append(item)
    expanded += [full] * (base.ndim - sum(axes_used(i) for i in expanded))
    expanded = _masks_to_positions(ctx, base, expanded)
    advanced = any(isinstance(i, (Array, _Positions)) for i in expanded)
    return _advanced_plan(ctx, base, expanded) if advanced else _basic_plan(ctx, base, expanded)


def _is_beyond(item: Value) -> bool:
    """Whether it is a known number of NumPy's that no position can be."""
    return isinstance(item, Static) and isinstance(item.value, np.integer) and not extremes.fits(int(item.value))


def _example(item: Value) -> Any:
    """A subscript of the kind of one that only a call knows."""
    match item:
        case Static(known):
            return known
        case Slice():
            return slice(None)
        case Array():
            return np.zeros((1,) * item.ndim, item.dtype)
        case _:
            return 0


@dataclass(frozen=True, slots=True)
class _Truth:
    """A bool that is no array with axes as a subscript: an axis of length 1 where it holds, of length 0 where not."""

    condition: Expr


def _plan_of_truth(ctx: Context, base: Array, items: Sequence[Value]) -> Plan:
    """``x[c, :]`` is ``x[None][np.array([c]), :]``."""
    at = next(k for k, item in enumerate(items) if isinstance(item, _Truth))
    others = [*items[:at], *items[at + 1 :]]
    if not all(isinstance(i, Slice) or (isinstance(i, Static) and i.value in (None, Ellipsis)) for i in others):
        problem = "a bool as a subscript beside numbers or arrays"
        ctx.fail(refusals.SUBSCRIPT, problem, "use `if`, or a boolean array")
    dots = any(isinstance(i, Static) and i.value is Ellipsis for i in items[:at])
    axis = base.ndim - sum(axes_used(i) for i in items[at:]) if dots else sum(axes_used(i) for i in items[:at])
    truth = items[at]
    assert isinstance(truth, _Truth)
    new = ctx.names.axis("o", b.ONE)
    condition = truth.condition
    known = Slice(None, Static(int(bool(condition.value))), None) if isinstance(condition, Const) else None
    mask = known or Array((new,), condition)
    wide = replace(base, axes=(*base.axes[:axis], new, *base.axes[axis:]), identity="")
    plan = _plan(ctx, wide, [*items[:at], mask, *items[at + 1 :]])
    return replace(plan, index=(*plan.index[:axis], *plan.index[axis + 1 :]), advanced=True)


@dataclass(frozen=True, slots=True)
class _Positions:
    """One of the index arrays that a boolean mask stands for: positions over a filtered domain."""

    array: Array


def axes_used(item: Value) -> int:
    match item:
        case Static(None):
            return 0
        case Static(v) if v is Ellipsis:
            return 0
        case _Truth():
            return 0
        case Array() if item.dtype == "bool":
            return item.ndim
        case _:
            return 1


def _masks_to_positions(ctx: Context, base: Array, items: list[Value]) -> list[Value]:
    result: list[Value] = []
    axis = 0
    for item in items:
        if isinstance(item, Array) and item.dtype == "bool":
            if item.mask is not None:
                item = ctx.compact(item, "mask")
            for offset, dim in enumerate(item.dims):
                ctx.guard(
                    fits_as_mask(dim, base.dims[axis + offset]), "IndexError",
                    f"boolean index did not match indexed array along axis {axis + offset}; size of axis is {{}} but "
                    "size of corresponding boolean axis is {}", (base.dims[axis + offset], dim),
                )  # fmt: skip
            result += [_Positions(p) for p in nonzero_positions(ctx, item)]  # type: ignore[misc]
            axis += item.ndim
        else:
            result.append(item)
            axis += axes_used(item)
    return result


def fits_as_mask(length: Expr, extent: Expr) -> Expr:
    """Whether NumPy takes a mask of this length for an axis: an empty one for each."""
    return b.either(b.compare("equal", length, extent), b.compare("equal", length, b.ZERO))


def nonzero_positions(ctx: Context, mask: Array) -> list[Array]:
    """``np.nonzero``: one filter a dimension, over the flattened domain. NumPy's are the columns of one array."""
    domain = ctx.names.axis("k", b.product(mask.dims))
    index = b.unravel(domain.var, mask.dims)
    condition = mask.at(index)
    return [Array((domain,), b.cast(i, "int64"), condition, spaced=len(index) > 1) for i in index]


def names_elements(ctx: Context, at: Array, extent: Expr) -> bool:
    """Whether all positions are seen to be within an axis: then there are none in an empty one."""
    with ctx.facts.axis_ranges(at.axes):
        return all(ctx.facts.within(b.as_index(at.body), extent))


def first_place(
    ctx: Context, dims: tuple[Expr, ...], holds: Callable[[tuple[Expr, ...]], Expr]
) -> tuple[Expr, tuple[Expr, ...]]:
    """Where something `holds` first, of all places in C order: the number of the place, negative where there is none,
    and the place."""
    domain = ctx.names.axis("k", b.product(dims))
    first = ctx.let(Reduce("first", (domain,), holds(b.unravel(domain.var, dims)), "index"), "outside")
    return first, b.unravel(first, dims)


def _basic_plan(ctx: Context, base: Array, items: list[Value]) -> Plan:
    axes: list[Axis] = []
    index: list[Expr] = []
    for item in items:
        if isinstance(item, Static) and item.value is None:
            axes.append(ctx.names.axis("o", b.ONE))
            continue
        axis, position = _basic_item(ctx, item, base.dims[len(index)], len(index))
        index.append(position)
        if axis is not None:
            axes.append(axis)
    return Plan(tuple(axes), tuple(index), None, False)


def _basic_item(ctx: Context, item: Value, extent: Expr, axis_number: int) -> tuple[Axis | None, Expr]:
    match item:
        case Slice():
            span = settle_slice(ctx, item, extent)
            axis = ctx.names.axis("ijklm"[min(axis_number, 4)], span.length)
            if b.constant(span.length) == 1:
                return axis, span.start
            return axis, b.add(span.start, b.mul(span.step, axis.var))
        case Scalar() | Static():
            return None, scalar_position(ctx, item, extent, axis_number)
        case _:
            help = "take integers, slices, or arrays of integers or bools"
            ctx.fail(refusals.SUBSCRIPT, f"a subscript that is {describe(item)}", help)


def outside_text(ctx: Context, axis: int) -> str:
    """What is said of a position outside of an axis, and outside of all elements of `.flat`."""
    return f"index {{}} is out of bounds for {'' if ctx.control.is_flat else f'axis {axis} with '}size {{}}"


def scalar_position(ctx: Context, item: Value, extent: Expr, axis: int) -> Expr:
    """A scalar subscript, checked against the extent and counted from the end where negative."""
    expr = scalar_expr(ctx, item)
    if not (expr.dtype == "index" or expr.dtype.startswith(("int", "uint"))):
        ctx.guard(
            b.FALSE, "IndexError",
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices",
        )  # fmt: skip
    at = b.as_index(in_64_bits(ctx, expr))
    value = b.constant(at)
    message = outside_text(ctx, axis)
    if value is not None:
        long = b.compare("greater_equal", extent, b.index(value + 1 if value >= 0 else -value))
        ctx.guard(long, "IndexError", message, (at, extent))
        return b.wrap_index(at, extent)
    gap = b.difference(at, extent)
    if gap is not None and gap < 0 and (gap == -1 or ctx.facts.assume_at_least(extent, -gap)):  # n - c: from the end
        long = b.compare("greater_equal", extent, b.index(-gap))
        ctx.guard(long, "IndexError", message, (at, extent))
        return at
    low, high = ctx.facts.within(at, extent)
    if low and high:
        return at
    inside = b.TRUE if high else b.compare("less", at, extent)
    if not low:
        inside = b.both(inside, b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", message, (at, extent))
    return at if low else ctx.let(b.wrap_index(at, extent), "at")


def _advanced_plan(ctx: Context, base: Array, items: list[Value]) -> Plan:
    """Positions among the subscripts: that they go together is checked before where they are."""
    with ctx.control.bounds_later() as checks:
        plan = _plan_of_positions(ctx, base, items)
    for check in checks:
        ctx.control.check_place(check)
    return plan


def _plan_of_positions(ctx: Context, base: Array, items: list[Value]) -> Plan:
    advanced: list[tuple[int, Array]] = []  # (position among items, index array)
    numbers: dict[int, Expr] = {}  # checked first, also where there is nothing to take
    here = 0  # the axis that the item is for
    for position, item in enumerate(items):
        is_number_here = isinstance(item, Scalar) or is_number(item)
        if is_number_here and here < base.ndim:
            numbers[position] = scalar_position(ctx, item, base.dims[here], here)
        here += item != Static(None)
        if isinstance(item, Array):
            advanced.append((position, item))
        elif isinstance(item, _Positions):
            advanced.append((position, item.array))
        elif is_number_here:
            advanced.append((position, Array((), numbers.get(position, b.ZERO))))
    places = [p for p, _ in advanced]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    arrays = [a for _, a in advanced]
    elements, mask, adv_axes = _index_arrays(ctx, arrays)
    if mask is not None and not (adjacent and places[0] == 0):
        # the filtered axis must stay first to remain a filter
        if any(not isinstance(i, (Scalar, Array, _Positions, Static)) for i in items[: places[0]]) and adjacent:
            arrays = [ctx.kept(a) for a in arrays]
            elements, mask, adv_axes = _index_arrays(ctx, arrays)
    positions = iter(elements)
    axes_before: list[Axis] = []
    axes_after: list[Axis] = []
    index: list[Expr] = []
    passed = False
    for position, item in enumerate(items):
        extent = base.dims[len(index)] if len(index) < base.ndim else b.ONE
        if position in places:
            passed = True
            value = next(positions)
            value = b.as_index(b.cast(value, "int64") if value.dtype == "uint64" else value)  # NumPy's wrap
            if not isinstance(item, _Positions):  # of a mask they are within its dims, which are the array's
                value = numbers.get(position) or _checked(ctx, value, extent, len(index), adv_axes, mask)
            index.append(value)
        elif isinstance(item, Static) and item.value is None:
            (axes_after if passed else axes_before).append(ctx.names.axis("o", b.ONE))
        else:
            axis, at = _basic_item(ctx, item, extent, len(index))
            index.append(at)
            if axis is not None:
                (axes_after if passed else axes_before).append(axis)
    if adjacent:
        axes = (*axes_before, *adv_axes, *axes_after)
    else:
        axes = (*adv_axes, *axes_before, *axes_after)
    return Plan(axes, tuple(index), mask, True)


def _index_arrays(ctx: Context, arrays: Sequence[Array]) -> tuple[list[Expr], Expr | None, tuple[Axis, ...]]:
    """Index arrays over common axes: (elements, mask, axes)."""
    for a in arrays:
        if not (a.dtype == "index" or a.dtype.startswith(("int", "uint"))):
            ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
    elements, axes, mask, _ = align(ctx, list(arrays), "indices")
    return elements, mask, axes


def _checked(ctx: Context, value: Expr, extent: Expr, axis: int, axes: tuple[Axis, ...], mask: Expr | None) -> Expr:
    """An index-array element, with a check before the statement where its range is not known."""
    with ctx.facts.axis_ranges(axes):
        low, high = ctx.facts.within(value, extent)
    if low and high:
        return value
    message = outside_text(ctx, axis)
    if low and mask is None and len(axes) == 1 and value == axes[0].var:  # sizes decide, and nothing is looked at
        fits = b.compare("less_equal", axes[0].extent, extent)
        ctx.control.check_place(lambda: ctx.guard(fits, "IndexError", message, (extent, extent)))
        return value
    inside: Expr = b.TRUE if high else b.compare("less", value, extent)
    if not low:
        inside = b.both(inside, b.compare("greater_equal", value, b.neg(extent)))
    bad = b.logical_not(inside)
    if mask is not None:
        bad = b.both(mask, bad)

    def check() -> None:
        # Each element is asked once, however often other index arrays repeat it: of none, if they have none.
        own = [a for a in axes if a.name in variables_read(bad) | variables_read(value)]
        nobody = [b.compare("less_equal", a.extent, b.ZERO) for a in axes if a not in own]
        holds, offending = b.logical_not(bad), value
        if own:
            names = [a.name for a in own]
            dims = tuple(a.extent for a in own)
            first, at = first_place(ctx, dims, lambda at: b.substitute(bad, dict(zip(names, at, strict=True))))
            holds, offending = b.compare("less", first, b.ZERO), b.substitute(value, dict(zip(names, at, strict=True)))
        for empty in nobody:
            holds = b.either(empty, holds)
        ctx.guard(holds, "IndexError", message, (offending, extent))

    ctx.control.check_place(check)
    return value if low else b.where(b.compare("less", value, b.ZERO), b.add(value, extent), value)


def _filtered_item(ctx: Context, base: Array, items: Sequence[Value]) -> Value | None:
    """Subscripts of a filter that leave it a filter: a further mask over the same elements, or other axes only."""
    if not items:
        return base
    first = items[0]
    if (
        isinstance(first, Array)
        and first.dtype == "bool"
        and first.ndim == 1
        and first.mask is not None
        and len(items) == 1
    ):
        if first.domain[0] == base.domain[0] and first.mask_at(base.axes[0].var) == base.mask:
            assert base.mask is not None
            return replace(base, mask=b.both(base.mask, first.candidate((base.axes[0].var,))), view=False)
    full = Slice(None, None, None)
    if first == full or (isinstance(first, Static) and first.value is Ellipsis and len(items) == base.ndim):
        rest = [as_item(ctx, i) for i in items[1:]]
        if any(isinstance(i, Array) for i in rest) or any(isinstance(i, Static) and i.value is None for i in rest[:0]):
            return None
        plain = replace(base, mask=None)
        value = array_item(ctx, plain, [full, *rest])
        if isinstance(value, Array):
            return replace(value, mask=base.mask_at(value.axes[0].var), view=False)
    return None


def place(ctx: Context, base: Array, items: Sequence[Value]) -> Plan:
    """``base[items]`` as a place to store to: the plan of its elements."""
    check_subscripts(ctx, items)
    items = [as_item(ctx, item) for item in items]
    return _plan(ctx, base, items)


def shape_of(ctx: Context, value: Array) -> tuple[Expr, ...]:
    """The dims with a filter's count in place of its domain."""
    if value.mask is None:
        return value.dims
    count: Expr = Reduce("count", value.axes[:1], value.mask, "index")
    return (ctx.let(count, "count"), *value.domain[1:])

"""Lists in order: `sorted` and `list.sort`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing, hashed, making, pools
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.containers.list_types import check_order
from transkern.frontend.context import Context
from transkern.frontend.numpy import library_calls
from transkern.frontend.numpy.arrays import as_array, elements_array, table
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.state import aliasing
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate.arguments import TABLE
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    CHARACTERS,
    OPTIONAL,
    Array,
    Concatenation,
    GrowingList,
    Range,
    Scalar,
    Seq,
    Slice,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr

_FEW = 64  # numbers in a list of one length that are compared one by one


def ordered(ctx: Context, items: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``sorted`` of what is known; a few run-time numbers are compared pairwise (a stable network), tuples of numbers
    are ordered as those of a list of run-time length."""
    reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
    key = keywords.get("key")
    if key is None and all(isinstance(i, Static) for i in items):
        values = sorted((i.value for i in items if isinstance(i, Static)), reverse=bool(reverse))
        return Seq(tuple(Static(v) for v in values), "list")
    found = list(items)
    kinds = {(i.dtype, i.python) if isinstance(i, Scalar) else None for i in found}
    objects = [pools.is_object(ctx, i) for i in found]
    alike = all(objects) or all(isinstance(i, GrowingList) or _is_sequence(i) for i in map(ctx.deref, found))
    if found and (key is not None or alike):
        made = growing.from_items(ctx, Seq(tuple(found), "list"), hashed.site_of(ctx, "in order"))
        keys = made if key is None else ctx.deref(compose(ctx, "lists", "keys_of", [made, key], {}))
        return sorted_list(ctx, made, keys, bool(reverse))
    if None in kinds or len(kinds) > 1:
        problem = "`sorted` of a few run-time values that are not all numbers of one type"
        help = "convert numbers to one type; of tuples, take np.argsort of their first items"
        ctx.fail(refusals.SORT_KEY, problem, help)
    if len(found) > 8:
        in_order = sorted_array(ctx, as_array(ctx, Seq(tuple(found))), bool(reverse))
        is_python = isinstance(found[0], Scalar) and found[0].python
        numbers = [in_order.at((b.index(k),)) for k in range(len(found))]
        if is_python and in_order.dtype == "int64":
            numbers = [b.as_index(e) for e in numbers]
        return Seq(tuple(Scalar(ctx.let(e, "sorted"), is_python) for e in numbers), "list")
    exprs: list[Expr] = [scalar_expr(ctx, i) for i in found]
    for end in range(len(exprs) - 1, 0, -1):
        for k in range(end):
            one, two = ctx.let(exprs[k], "low"), ctx.let(exprs[k + 1], "high")
            compared = apply(ctx, "less", [Scalar(one), Scalar(two)] if reverse else [Scalar(two), Scalar(one)])
            swap = ctx.let(scalar_expr(ctx, compared), "swap")
            exprs[k], exprs[k + 1] = b.where(swap, two, one), b.where(swap, one, two)
    python = bool(found) and isinstance(found[0], Scalar) and found[0].python
    return Seq(tuple(Scalar(e, python) for e in exprs), "list")


def _is_sequence(value: Value) -> bool:
    return isinstance(value, Seq) and value.kind in ("tuple", "list")


def sorted_array(ctx: Context, array: Array, reverse: bool) -> Array:
    """The numbers of an array as `sorted` orders them: equal ones stay in order. NaN has no order, and Python's is
    by chance then."""
    if array.mask is not None:
        array = ctx.compact(array, "values")
    if array.ndim != 1 or array.dtype.startswith("complex"):
        rows = "order its rows by a column: a[np.argsort(a[:, 0])]"
        help = "use np.sort, whose result is an array" if array.ndim == 1 else rows
        ctx.fail(refusals.SORT_KEY, f"`sorted` of {describe(array)}", help)
    whole = [Slice(None, None, Static(-1))]
    if array.dtype.startswith("float"):
        _no_nan(ctx, array)
    if reverse:  # equal ones stay in order: turned before and after
        turned = array_item(ctx, array, whole)
        assert isinstance(turned, Array)
        array = turned
    made = library_calls.sort(ctx, "sort", array, 0, "stable")
    if reverse:
        back = array_item(ctx, made, whole)
        assert isinstance(back, Array)
        return back
    return made


def sorted_list(ctx: Context, items: Value, keys: Value, reverse: bool) -> Value:
    """``sorted(items, key=f)``, where `keys` are what `f` makes of them."""
    if isinstance(items, (Array, Concatenation, Range)):
        rows = elements_array(ctx, items)
        items = making.list_of(ctx, rows, isinstance(items, Range))
        if rows.view and rows.ndim > 1:
            aliasing.note_append(ctx, rows.base)
            aliasing.note_held(ctx, items.buffer, rows.base)
            items.shared = aliasing.holds_arguments(ctx, rows.base)
    if not isinstance(items, GrowingList) or not isinstance(keys, GrowingList):
        ctx.fail(refusals.SORT_KEY, f"`sorted` of {describe(items)} with `key=`", "sort the keys with np.argsort")
    if not is_typed(ctx, items) or not is_typed(ctx, keys):
        return making.new(ctx, "sorted")
    return growing.gathered(ctx, items, _order(ctx, keys, reverse))


_BY_NUMBER = "give a key= that makes such a number of each, as in key=lambda r: r[0]"


def _order(ctx: Context, keys: GrowingList, reverse: bool) -> Array:
    """The positions of a list's elements as `sorted` orders them; of tuples (lists of one length) the first items that
    differ decide, and nothing behind keys of a dict."""
    check_order(ctx, keys, "an order")
    columns: list[Array] = []
    if not _take_columns(ctx, keys, columns) and not (columns and keys.distinct):
        for array in _floats_in(ctx, keys):
            _no_nan(ctx, array)
        return as_array(ctx, compose(ctx, "lists", "in_order", [keys, Static(reverse)], {}))
    whole = [Slice(None, None, Static(-1))]
    turned = [array_item(ctx, column, whole) if reverse else column for column in columns]
    order = as_array(ctx, TABLE["numpy.lexsort"](ctx, [Seq(tuple(reversed(turned)))], {}))
    if not reverse:
        return order
    back = array_item(ctx, order, whole)
    assert isinstance(back, Array)
    last = b.sub(keys.length, b.ONE)
    return replace(back, body=b.sub(last, b.as_index(back.body)), view=False)


def _take_columns(ctx: Context, one: GrowingList, columns: list[Array]) -> bool:
    """The numbers that decide about the order of a list's elements; False where they are followed by lists, or by
    objects, whose class says how they compare."""
    if one.row == OPTIONAL:
        ctx.fail(refusals.MAY_BE_NONE, "`sorted` of a list that may have None in it", "leave None out")
    if formatted.is_formatted(one):
        _fail_order(ctx)
    if one.columns:
        return all(_take_columns(ctx, column, columns) for column in one.columns)
    if one.row == "list" and len(one.dims) == 1 and 0 < (b.constant(one.dims[0]) or 0) <= _FEW:
        rows = as_array(ctx, replace(one, tags="", options=()))
        for k in range(int(b.constant(one.dims[0]) or 0)):
            _take(ctx, Array(rows.axes[:1], rows.at((rows.axes[0].var, b.index(k)))), columns)
        return True
    if one.dims or one.rows is not None or one.objects is not None:
        return False
    if None in one.options or one.dtype.startswith("complex"):
        _fail_order(ctx)
    array = as_array(ctx, replace(one, tags="", options=()))
    if one.options and one.options != CHARACTERS:  # a text is the number of one: that in their order decides
        ranks = np.argsort(np.argsort(np.array(one.options), kind="stable"), kind="stable")
        array = as_array(ctx, array_item(ctx, table(ctx, ranks), [array]))
    _take(ctx, array, columns)
    return True


def _take(ctx: Context, array: Array, columns: list[Array]) -> None:
    if array.dtype.startswith("float"):
        _no_nan(ctx, array)
    columns.append(ctx.define(replace(array, view=False), "keys"))


def _floats_in(ctx: Context, one: GrowingList) -> list[Array]:
    """The floats in a list, all of which its order may depend on. Arrays have no order."""
    if one.objects is not None:
        return [array for column in one.objects.owner.columns if column.dtype.startswith("float") and not column.dims
                for array in _floats_in(ctx, column)]  # fmt: skip
    if one.columns:
        return [array for column in one.columns for array in _floats_in(ctx, column)]
    if one.rows is not None:
        if one.rows.kind == "array":
            _fail_order(ctx)
        return _floats_in(ctx, one.rows.pool)
    if (one.dims and one.row != "list") or None in one.options or one.dtype.startswith("complex"):
        _fail_order(ctx)
    return [as_array(ctx, replace(one, tags=""))] if one.dtype.startswith("float") else []


def _fail_order(ctx: Context) -> NoReturn:
    problem = "an order by keys that are neither real numbers nor tuples of them"
    ctx.fail(refusals.SORT_KEY, problem, _BY_NUMBER)


def _no_nan(ctx: Context, array: Array) -> None:
    found = apply(ctx, "isnan", [array])
    none = b.logical_not(scalar_expr(ctx, reduce(ctx, "any", as_array(ctx, found), None, False)))
    ctx.guard(none, "RuntimeError", "NaN in a list that is sorted: its order there is chance, and is not compiled")


def sort_growing(ctx: Context, owner: GrowingList, keywords: Mapping[str, Value]) -> None:
    """``list.sort`` of a list of run-time length."""
    reverse = constant_object(ctx, keywords.get("reverse", Static(False)), "`reverse=`")
    key = keywords.get("key")
    if not is_typed(ctx, owner):
        return
    if key is not None or owner.columns or owner.tags or owner.options:
        keys = owner if key is None else ctx.deref(compose(ctx, "lists", "keys_of", [owner, key], {}))
        assert isinstance(keys, GrowingList)
        growing.put_back(ctx, owner, growing.gathered(ctx, owner, _order(ctx, keys, bool(reverse))))
        return
    if owner.dims or owner.rows or owner.objects is not None:
        growing.put_back(ctx, owner, growing.gathered(ctx, owner, _order(ctx, owner, bool(reverse))))
        return
    array = as_array(ctx, owner)
    made = sorted_array(ctx, ctx.define(replace(array, view=False), "values"), bool(reverse))
    growing.put_all(ctx, owner, made)



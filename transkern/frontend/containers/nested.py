"""Lists and arrays on their way into one element, and lists that are nested deeper than what they are stored in."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import NESTED, as_array
from transkern.frontend.python.truth import truth
from transkern.frontend.values.broadcasting import may_stretch
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
    as_plain_tuple,
)
from transkern.ir import build as b


def check_depth(ctx: Context, value: Value, ndim: int) -> None:
    """NumPy's error for a list that is nested deeper than a part has axes, before it looks at what is deeper; but after
    that for items of several shapes down to there."""
    shape, deeper = _down_to(ctx, value, ndim)
    if deeper:
        as_array(ctx, shape)
        ctx.guard(b.FALSE, "ValueError", f"{NESTED}{ndim}.")


def _down_to(ctx: Context, value: Value, ndim: int) -> tuple[Value, bool]:
    """A value of which what is nested deeper than `ndim` is a number, and whether there is such."""
    value = as_plain_tuple(ctx.deref(value))
    match value:
        case Seq(items=items) if ndim:
            cut = [_down_to(ctx, i, ndim - 1) for i in items]
            return replace(value, items=tuple(i for i, _ in cut)), any(deeper for _, deeper in cut)
        case Array() | Concatenation() | Seq() | GrowingList() | Range() | Static(np.ndarray()):
            if isinstance(value, Seq):
                return Static(0), True
            array = as_array(ctx, value)
            if array.ndim <= ndim:
                return value, False
            return Array(ctx.names.axes(array.dims[:ndim]), b.ZERO), True
    return value, False


def list_into_element(ctx: Context, value: Value, dtype: str) -> Array:
    """A list or tuple on its way into one element, whatever is in it: its truth, or NumPy's error."""
    if dtype == "bool":
        holds = truth(ctx, value)
        return Array((), holds.expr if isinstance(holds, Scalar) else b.TRUE if holds.value else b.FALSE)  # type: ignore
    given: Any = [0]
    if isinstance(value, Record):
        given = type(value.kind.__name__, (tuple,), {})(0 for _ in value.items)
    elif isinstance(value, Seq):
        given = (list if value.kind == "list" else tuple)(0 for _ in value.items)
    _ask_element(ctx, given, dtype)
    raise AssertionError("an element that holds a list")


def into_element(ctx: Context, array: Array, dtype: str) -> Array:
    """An array on its way into one element: what NumPy here says of it (2.3 takes one of size 1)."""
    if dtype == "bool" and (array.mask is not None or any(may_stretch(ctx, d) for d in array.dims)):
        problem = "a store of an array into one element, which NumPy does where it has one element only"
        ctx.fail(refusals.NEEDED, problem, "store one element of it: x[k] = values[0]")
    long = array.mask is not None or any(b.constant(d) != 1 for d in array.dims)
    _ask_element(ctx, np.zeros((1 + long,) * array.ndim, "int64" if array.dtype == "index" else array.dtype), dtype)
    return array


def _ask_element(ctx: Context, given: Any, dtype: str) -> None:
    """NumPy's error for a store of something like `given` into an element."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.zeros(1, dtype)[0] = given
    except (TypeError, ValueError) as error:
        ctx.guard(b.FALSE, type(error).__name__, str(error))

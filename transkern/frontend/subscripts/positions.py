"""What stands where Python and NumPy need positions: their errors for what cannot be one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.values import doubts
from transkern.frontend.values.asking import asked, told
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Known,
    Record,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Value,
)
from transkern.ir import build as b
from transkern.ir.expr import Expr

_UNKNOWN = object()


def check_position(ctx: Context, value: Value, use: Callable[[Any], object], allowed: Expr = b.FALSE) -> None:
    """Python's TypeError where a value is no integer (nor a slice), unless `allowed`; `use` is what needs one."""

    def refusal(value: Value) -> tuple[str, str] | None:
        example = _example(ctx, value)
        if example is _UNKNOWN:
            return None
        try:
            use(example)
        except TypeError as error:
            return told(error)
        except (IndexError, OverflowError):  # of the example: what is there is seen where it is looked for
            pass
        return None

    if (found := doubts.agreed(ctx, ctx.deref(value), refusal, "a position that is")) is not None:
        ctx.guard(allowed, *found)


def check_subscripts(ctx: Context, items: Sequence[Value]) -> None:
    """NumPy's IndexError for subscripts of an array that are of another type; it comes before all others."""
    for given in items:
        item = ctx.deref(given)
        if isinstance(given, Instance) or (isinstance(item, Record) and not item.is_tuple):
            # what NumPy asks it for comes before all errors, too
            problem = f"a subscript that is {describe(item)}"
            ctx.fail(refusals.SUBSCRIPT, problem, "subscript with an integer that it holds")
        if isinstance(item, GrowingList) and item.kind == "tuple" and len(items) == 1:  # among others it is a list
            problem = "a tuple whose length only the run knows as a subscript"
            ctx.fail(refusals.SUBSCRIPT, problem, "make it an array of positions: np.array(t)")
        if isinstance(item, Scalar) and item.doubt is not None:
            doubts.agreed(ctx, item, lambda v: _sort_of_subscript(_example(ctx, v)), "a subscript that is")
        example = _example(ctx, item)
        if example is _UNKNOWN or example is None or isinstance(example, (int, np.integer, slice, type(...))):
            continue
        if isinstance(item, GrowingList) and item.tags:
            dtypes = {dtype for dtype, _ in ctx.learned.held.tell(item.site)}
            if "bool" in dtypes and len(dtypes) > 1:
                problem = "a subscript that is a list of bools and other numbers: a mask, or positions"
                ctx.fail(refusals.SUBSCRIPT, problem, "say which: np.array(values, dtype=bool)")
        if isinstance(item, GrowingList) and item.dtype:
            array = list_array(ctx, item)
            if np.dtype("int64" if array.dtype == "index" else array.dtype).kind in "fc":
                text = told(_refusal([1.0]))
                ctx.guard(b.compare("equal", array.dims[0], b.ZERO), *text)  # without elements it is one of integers
        elif isinstance(item, Seq) and item.kind in ("list", "tuple"):
            made = as_array(ctx, item)
            if made.dtype.startswith(("float", "complex")):
                text = told(_refusal(np.ones((1,) * made.ndim, made.dtype).tolist()))
                ctx.guard(b.compare("equal", b.product(made.dims), b.ZERO), *text)
        elif not isinstance(item, GrowingList) and np.asarray(example).dtype.kind not in "iub":
            asked(ctx, operator.getitem, np.zeros(1), example)


def _sort_of_subscript(example: Any) -> str:
    """What a number is as a subscript of an array: a position, or a mask of no dimensions."""
    return {"i": "position", "u": "position", "b": "mask"}.get(np.asarray(example).dtype.kind, "")


def _refusal(example: Any) -> Exception:
    try:
        np.zeros(1)[example]
    except IndexError as error:
        return error
    raise AssertionError(example)


def _example(ctx: Context, value: Value) -> Any:
    """A value of the type of this one."""
    match ctx.deref(value):
        case Static(known):
            return known
        case Scalar(expr, True):
            return {"index": 1, "bool": True, "complex128": 1j}.get(expr.dtype, 1.0)
        case Scalar(expr, False):
            return np.ones((), "int64" if expr.dtype == "index" else expr.dtype)[()]
        case Array() as array:
            return np.ones((1,) * array.ndim, "int64" if array.dtype == "index" else array.dtype)
        case Concatenation(dtype=dtype):
            return np.ones(1, dtype)
        case Seq(kind="tuple") | GrowingList(kind="tuple"):
            return ()
        case Seq(kind="list") | GrowingList():
            return []
        case Slice():
            return slice(None)
        case Text() | JoinedText() | Char():
            return "a"
        case Dict() | Hashed():
            return {}
        case Known():
            return len
        case _:
            return _UNKNOWN

"""How an array lies in memory: ``x.strides``, ``x.flags``, and what ``as_strided`` makes of steps: an array over the
memory of another."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.sizes import dims_of
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.asking import asked
from transkern.frontend.values.numbers import is_number, type_name
from transkern.frontend.values.strides import (
    depends_on_strides,
    in_memory,
    is_argument,
    is_contiguous,
    lies_elsewhere,
    steps_in_memory,
)  # fmt: skip
from transkern.frontend.values.values import Array, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr, Load, variables_read

_OUTSIDE = "as_strided reaches beyond its array, or from one row to the next, which is not compiled"


def strides(ctx: Context, value: Array) -> list[Expr]:
    """``value.strides``: in bytes."""
    size = b.index(np.dtype(value.dtype).itemsize)
    return [b.mul(step, size) for step in _in_memory(ctx, value)[1]]


_NAMES = {
    "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F", "W": "WRITEABLE", "A": "ALIGNED",
    "O": "OWNDATA", "X": "WRITEBACKIFCOPY", "B": "BEHAVED", "CA": "CARRAY", "FA": "FARRAY",
}  # fmt: skip
"""NumPy's other names of its flags."""


def flag(ctx: Context, value: Array, name: object, is_key: bool) -> Value:
    """``value.flags[name]``, or in small letters ``value.flags.name``: whether the elements stand in C or in Fortran
    order without gaps, and whether they may be stored into."""
    asked(ctx, operator.getitem if is_key else getattr, np.empty(0).flags, name)
    match _NAMES.get(str(name).upper(), str(name).upper()):
        case "C" | "F" as order:
            return Static(_stands_in(ctx, value, order))
        case "FORC":
            return Static(_stands_in(ctx, value, "C") or _stands_in(ctx, value, "F"))
        case "FNC":
            return Static(not _stands_in(ctx, value, "C") and _stands_in(ctx, value, "F"))
        case "WRITEABLE" if value.readonly != "here" and not _is_outside(ctx, value):
            return Static(not value.readonly)
    problem = f"the flag {name!r} of an array"
    ctx.fail(refusals.UNKNOWN_ATTRIBUTE, problem, "ask whether it is contiguous, or pass the answer as an argument")


def _is_outside(ctx: Context, value: Array) -> bool:
    """Whether an array shows memory that others have made."""
    if not isinstance(value.body, Load):
        return False
    info = ctx.names.buffers.get(value.body.buffer)
    return info is None or info.role != "temporary"


def _stands_in(ctx: Context, value: Array, order: str) -> bool:
    """Whether elements stand in an order without gaps. Sizes that decide it are assumed to be what they are in the call
    that is compiled for: of what is empty NumPy says that it stands in both."""
    held = ctx.names.buffers.get(value.base) if isinstance(value.body, Load) else None
    if is_argument(ctx, value) and held is not None and held.layout != "C" and (order == "C" or value.ndim < 2):
        return False
    array = _in_memory(ctx, value)[0]
    if order == "F":
        array = array.turned(range(array.ndim)[::-1])
    if is_contiguous(ctx, array):
        return True
    sizes = [d for d in array.dims if b.constant(d) is None]
    if depends_on_strides(ctx, array) or not all(variables_read(d) <= ctx.facts.entry for d in sizes):
        ctx.fail(refusals.NEEDS_CONSTANT, _UNKNOWN_ORDER, "use np.ascontiguousarray(x), which copies where it must")
    if any(b.constant(d) == 0 for d in array.dims):
        return True
    for d in sizes:
        ctx.facts.assume(b.compare("not_equal", d, b.ZERO))
    return False


_UNKNOWN_ORDER = "whether an array is contiguous, which only a call knows"


def _in_memory(ctx: Context, value: Array) -> tuple[Array, list[Expr], Expr]:
    """The array, where it stands in memory, with its steps there and its start, in elements."""
    value = in_memory(ctx, ctx.kept(value), "strided")
    if not value.view:
        value = ctx.define(value, "strided")
    assert isinstance(value.body, Load)
    found = steps_in_memory(ctx, value)
    if found is None or lies_elsewhere(ctx, value.base):
        problem = "the strides of an array that only a call knows to stand in C order"
        ctx.fail(refusals.NEEDS_CONSTANT, problem, "use np.ascontiguousarray(x)")
    return value, *found


@handles("numpy.lib.stride_tricks.as_strided", names="x shape strides subok writeable")
def _as_strided(ctx: Context, a: Arguments) -> Value:
    given = as_array(ctx, a.need("x"))
    for name in ("shape", "strides"):
        part = ctx.deref(a.get(name) or Static(None))
        if is_number(part) or isinstance(part, Scalar):
            ctx.guard(b.FALSE, "TypeError", f"'{type_name(part)}' object is not iterable")
    value, own, start = _in_memory(ctx, given)
    assert isinstance(value.body, Load)
    dims = list(value.dims) if a.get("shape") is None else list(dims_of(ctx, a.need("shape")))
    for d in dims:
        ctx.guard(b.compare("greater_equal", d, b.ZERO), "ValueError", "negative dimensions are not allowed")
    steps = own if a.get("strides") is None else _steps(ctx, a.need("strides"), np.dtype(value.dtype).itemsize)
    if len(steps) != len(dims):
        ctx.guard(b.FALSE, "ValueError", "mismatch in length of strides and shape")
    axes = ctx.names.axes(dims)
    buffer = ctx.names.buffers[value.body.buffer]
    sizes = list(buffer.dims) if len(value.body.index) > 1 else [b.product(buffer.dims)]
    lengths = [b.product(tuple(sizes[d + 1 :])) for d in range(len(sizes))]
    places: list[tuple[int, Expr]] | None = None
    if len(sizes) > 1 and start == b.ZERO:
        places = _along_axes(steps, sizes, lengths)
    if places is None:
        sizes, lengths, places = [b.product(buffer.dims)], [b.ONE], [(0, step) for step in steps]
    first = start if len(sizes) == 1 else b.ZERO
    index: list[Expr] = [first, *[b.ZERO] * (len(sizes) - 1)]
    low, high = list(index), list(index)
    for axis, (at, step) in zip(axes, places, strict=True):
        index[at] = b.add(index[at], b.mul(axis.var, step))
        reach = b.mul(b.sub(axis.extent, b.ONE), step)
        low[at] = b.add(low[at], b.minimum(reach, b.ZERO))
        high[at] = b.add(high[at], b.maximum(reach, b.ZERO))
    inside: Expr = b.TRUE
    for at, size in enumerate(sizes):
        inside = b.both(inside, b.compare("greater_equal", low[at], b.ZERO))
        inside = b.both(inside, b.compare("less", high[at], size))
    is_empty = b.compare("equal", b.product(tuple(dims)), b.ZERO)
    ctx.guard(b.either(is_empty, inside), "RuntimeError", _OUTSIDE)
    body = replace(value.body, index=tuple(index))
    return Array(axes, body, view=True, readonly="here" if a.flag("writeable", True) else True, empty=given.empty)


def _steps(ctx: Context, value: Value, itemsize: int) -> list[Expr]:
    """Strides in bytes as steps in elements."""
    steps = []
    size = b.index(itemsize)
    for item in value.items if isinstance(value, Seq) else [Static(s) for s in _constants(ctx, value)]:
        stride = integer_expr(ctx, item, "OverflowError", "Python int too large to convert to C long")
        step = b.quotient(stride, size)
        if step is None:
            step = b.floordiv(stride, size)
            text = "as_strided by a part of an element is not compiled"
            ctx.guard(b.compare("equal", b.mul(step, size), stride), "RuntimeError", text)
        steps.append(step)
    return steps


def _constants(ctx: Context, value: Value) -> Sequence[int]:
    if isinstance(value, Static) and isinstance(value.value, (tuple, list)):
        return list(value.value)
    ctx.fail(refusals.NEEDED, "strides that are no tuple of integers", "write them as a tuple: (8, 8)")


def _along_axes(
    steps: Sequence[Expr], sizes: Sequence[Expr], lengths: Sequence[Expr]
) -> list[tuple[int, Expr]] | None:
    """For each step the axis of the array that it goes along, and how far; None where one is none of an axis."""
    found: list[tuple[int, Expr]] = []
    for step in steps:
        if b.constant(step) == 0:
            found.append((0, b.ZERO))
            continue
        along = (
            (d, q) for d, length in enumerate(lengths)
            if b.constant(sizes[d]) != 1 and (q := b.quotient(step, length)) is not None
        )  # fmt: skip
        here = next(along, None)
        if here is None:
            return None
        found.append(here)
    return found

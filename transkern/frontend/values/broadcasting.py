"""Shapes that go together: NumPy's broadcasting, and its errors where sizes do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from transkern.frontend.context import Context
from transkern.frontend.values.values import Array
from transkern.ir import build as b
from transkern.ir.expr import Apply, Axis, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read


def stretched(ctx: Context, dims: tuple[Expr, ...], axes: tuple[Axis, ...]) -> tuple[Expr, ...]:
    """The index into an array of `dims` at a point of the broadcast `axes`."""
    own = axes[len(axes) - len(dims) :]
    index: list[Expr] = []
    for d, a in zip(dims, own, strict=True):
        if b.constant(d) == 1:
            index.append(b.ZERO)
        elif d == a.extent or not may_stretch(ctx, d):
            index.append(a.var)
        else:
            index.append(b.where(b.compare("equal", d, b.ONE), b.ZERO, a.var))
    return tuple(index)


def masks_agree(arrays: Sequence[Array], ndim: int, owner: Array) -> bool:
    """Whether the arrays that are filters keep the elements that `owner` keeps, and no other is as long as they."""
    for a in arrays:
        if a.mask is not None:
            if a.ndim != ndim or a.domain[0] != owner.domain[0] or a.mask_at(Var("?")) != owner.mask_at(Var("?")):
                return False
        elif a.ndim == ndim and b.constant(a.dims[0]) != 1:
            return False
    return True


def may_stretch(ctx: Context, dim: Expr) -> bool:
    """Whether a dim not known to be 1 may still be 1 at run time.

    Sizes of arguments are not 1 (a size of 1 has its own specialisation). What is computed from them is assumed not to
    be, and the assumption is checked before the call; a size found at run time may be.
    """
    if b.constant(dim) is not None:
        return False
    if isinstance(dim, Var) and not dim.name.endswith(".size"):
        return False
    if buffers_read(dim) or any(v in ctx.names.variables or v not in ctx.facts.entry for v in variables_read(dim)):
        return True
    ctx.facts.assume(b.compare("not_equal", dim, b.ONE))
    return False


Words: TypeAlias = Literal["operands", "objects", "indices"]
"""How NumPy puts it that shapes do not fit: a ufunc; what broadcasts without one; an index of several arrays."""


def broadcast_dims(
    ctx: Context, shapes: Sequence[tuple[Expr, ...]], words: Words = "operands"
) -> tuple[Expr, ...]:
    """NumPy's broadcast shape; raises NumPy's error, at run time, where the sizes do not fit."""
    ndim = max(len(s) for s in shapes)
    padded = [(*(b.ONE,) * (ndim - len(s)), *s) for s in shapes]
    dims: list[Expr] = []
    for column in zip(*padded, strict=True):
        dim: Expr = b.ONE
        first = 0  # whose size `dim` is
        for position, d in enumerate(column):
            if b.constant(d) == 1 or d == dim:
                continue
            if b.constant(dim) == 1:
                dim, first = d, position
                continue
            condition = b.compare("equal", d, dim)
            may = may_stretch(ctx, d), may_stretch(ctx, dim)
            if may[0]:
                condition = b.either(condition, b.compare("equal", d, b.ONE))
            if may[1]:
                condition = b.either(condition, b.compare("equal", dim, b.ONE))
            _shape_guard(ctx, condition, shapes, (first, position), words)
            if may[1] and not may[0]:
                dim = d  # they are equal, or `dim` is 1
                continue
            if may[1] and isinstance(dim, Apply):
                dim = ctx.extent(dim)  # a name: what is stretched again and again would double each time
            if may[1]:
                dim = b.where(b.compare("equal", dim, b.ONE), d, dim)
            elif b.constant(d) is not None:
                dim = d
        dims.append(dim)
    return tuple(dims)


def _shape_guard(
    ctx: Context, condition: Expr, shapes: Sequence[tuple[Expr, ...]], pair: tuple[int, int], words: Words
) -> None:
    if words == "objects":
        one, two = (f"arg {k} with shape {shape_text(shapes[k], ', ')}" for k in pair)
        message = f"objects cannot be broadcast to a single shape.  Mismatch is between {one} and {two}."
        ctx.guard(condition, "ValueError", f"shape mismatch: {message}", (*shapes[pair[0]], *shapes[pair[1]]))
        return
    texts = " ".join(shape_text(s) for s in shapes)
    what = "operands" if words == "operands" else "shape mismatch: indexing arrays"
    message = f"{what} could not be broadcast together with shapes {texts} "
    error = "ValueError" if words == "operands" else "IndexError"
    ctx.guard(condition, error, message, tuple(d for s in shapes for d in s))


def shape_text(shape: Sequence[Expr], comma: str = ",") -> str:
    """A shape in a message of NumPy's, with places for the sizes."""
    inner = comma.join("{}" for _ in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def broadcast_to(
    ctx: Context, value: Array, dims: tuple[Expr, ...], message: str = "", leading: bool = True
) -> tuple[tuple[Axis, ...], Expr]:
    """`value` stretched to exactly `dims` (for a store); raises NumPy's error where it does not fit.

    `message` tells the shapes in the place of ``{from}`` and ``{into}``. What is stored may have more dimensions than
    its target has, if they are 1 (`leading`).
    """
    axes = ctx.names.axes(dims)
    shape, own = value.dims, value.dims
    conditions: Expr = b.TRUE
    while len(own) > len(dims):
        one = b.compare("equal", own[0], b.ONE) if leading else b.FALSE
        if message:
            conditions = b.both(conditions, one)
        else:  # where NumPy tells the shape without the dimensions that it has left out
            ctx.guard(one, "ValueError", _unfit(own, dims), (*own, *dims))
        value = Array(value.axes[1:], value.at((b.ZERO, *(a.var for a in value.axes[1:]))))
        own = value.dims
    shape = shape if message else own
    target = dims[len(dims) - len(own) :]
    for d, t in zip(own, target, strict=True):
        if b.constant(d) == 1:
            continue
        fits = b.compare("equal", d, t)
        if may_stretch(ctx, d):
            fits = b.either(fits, b.compare("equal", d, b.ONE))
        conditions = b.both(conditions, fits)
    ctx.guard(conditions, "ValueError", _unfit(shape, dims, message), (*shape, *dims))
    return axes, value.at(stretched(ctx, own, axes))


def _unfit(shape: Sequence[Expr], dims: Sequence[Expr], message: str = "") -> str:
    """NumPy's words for what cannot be stretched."""
    message = message or "could not broadcast input array from shape {from} into shape {into}"
    return message.replace("{from}", shape_text(shape)).replace("{into}", shape_text(dims))

"""Subscripts sorted by what they walk: an axis of the block (with offset and stride), one place, or anything else."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.targets.pallas.forms.values import Inexpressible

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.vector import Vector


@dataclass(frozen=True, slots=True)
class Span_:
    """``offset + stride * axis`` for all of the axis; `whole` where that is all of the dimension."""

    slot: int
    offset: Expr
    stride: int
    extent: Expr
    whole: bool


@dataclass(frozen=True, slots=True)
class Place:
    """One place, the same for all of the block: `static` where known when JAX traces."""

    at: Expr
    static: bool


@dataclass(frozen=True, slots=True)
class Gather:
    """A place that differs within the block in another way."""

    at: Expr


Subscript = Span_ | Place | Gather


def sort(vector: Vector, index: tuple[Expr, ...], dims: tuple[Expr, ...], beyond: bool = False) -> list[Subscript]:
    """One `Subscript` a dimension. `beyond`: what leaves its dimension where nobody looks is a walk, too."""
    if len(index) != len(dims):
        raise Inexpressible("a position in memory instead of a subscript for each dimension")
    return [_one(vector, at, dim, beyond) for at, dim in zip(index, dims, strict=True)]


def _one(vector: Vector, at: Expr, dim: Expr, beyond: bool) -> Subscript:
    if not vector.varies(at):
        return Place(at, vector.is_static(at))
    terms, _ = b.affine(at)
    walked = [t for t in terms if vector.varies(t)]
    if len(walked) == 1 and isinstance(walked[0], Var) and walked[0].name in vector.axes:
        info = vector.axes[walked[0].name]
        stride = terms[walked[0]]
        offset = b.sub(at, b.mul(b.index(stride), walked[0]))
        sure = not vector.unsure or not vector.mosaic or _inside(offset, stride, info.extent, dim)
        sure = beyond or (sure and not _outside(offset, stride, info.extent, dim))
        if vector.is_static(offset) and stride and sure:
            whole = stride == 1 and b.constant(offset) == 0 and b.difference(dim, info.extent) == 0
            return Span_(info.slot, offset, stride, info.extent, whole)
    return Gather(at)


def _outside(offset: Expr, stride: int, extent: Expr, dim: Expr) -> bool:
    """Whether the walk surely leaves the dimension (under a `where` it may): then it is a gather, which clips."""
    first = offset
    last = b.add(offset, b.mul(b.index(stride), b.sub(extent, b.ONE)))
    low, high = (first, last) if stride > 0 else (last, first)
    below, above = b.constant(low), b.difference(high, dim)
    return (below is not None and below < 0) or (above is not None and above >= 0)


def _inside(offset: Expr, stride: int, extent: Expr, dim: Expr) -> bool:
    """Whether the walk surely stays within the dimension, where it takes a step at all."""
    match extent:
        case Apply("maximum", (x, Const(0)) | (Const(0), x), _):
            extent = x
        case _:
            pass
    last = b.add(offset, b.mul(b.index(stride), b.sub(extent, b.ONE)))
    match extent:
        case Apply("floor_divide", (x, Const(k)), _) if k == stride:  # k steps of x // k are x at most
            last = b.sub(b.add(offset, x), b.index(stride))
        case _:
            pass
    low, high = (offset, last) if stride > 0 else (last, offset)
    return b.at_least(low, b.ZERO) and b.at_least(b.sub(dim, b.ONE), high)


def is_inside(s: Span_, dim: Expr) -> bool:
    """Whether a walk surely stays within its dimension."""
    return s.whole or _inside(s.offset, s.stride, s.extent, dim)


@dataclass(frozen=True, slots=True)
class Turn:
    """By how much an `axis`, which has the `slot`, is shifted; `ends`: it ends there, and does not go round."""

    shift: Expr
    ends: bool
    slot: int
    axis: Var


def turn(vector: Vector, s: Subscript, dim: Expr) -> Turn | None:
    """By how much a subscript turns its dimension, ``(axis + shift) % dim`` for all of that, or moves it, where what
    lies beyond the ends is the last element there (``max(axis - 1, 0)``), or is not looked at."""
    if not isinstance(s, Gather):
        return None
    at, ends = s.at, True
    match at:
        case Apply("remainder", (inner, size), _) if size == dim:
            at, ends = inner, False
        case Apply("maximum", (inner, Const(0)) | (Const(0), inner), "index"):
            at = inner
        case Apply("minimum", (inner, end), "index"):
            at = inner if b.difference(dim, end) == 1 else end if b.difference(dim, inner) == 1 else at
        case _:
            pass
    terms, _ = b.affine(at)
    walked = [t for t in terms if vector.varies(t)]
    if len(walked) == 1 and isinstance(walked[0], Var) and walked[0].name in vector.axes:
        info, shift = vector.axes[walked[0].name], b.sub(at, walked[0])
        known = b.constant(shift) is not None
        if not ends:  # XLA slices where only the run knows, too
            known = vector.is_static(shift) or not vector.mosaic
        known = known and b.constant(info.start) == 0 and info.step == 1
        if terms[walked[0]] == 1 and info.extent == dim and known:
            return Turn(shift, ends, info.slot, walked[0])
    return None


def slice_of(vector: Vector, s: Span_) -> ast.expr:
    """The `slice` of a walk with positive stride."""
    start = vector.size(s.offset)
    stop = vector.size(b.add(s.offset, b.mul(b.index(s.stride), s.extent)))
    if s.whole:
        return ast.Slice()
    step = None if s.stride == 1 else ast.Constant(s.stride)
    return ast.Slice(None if b.constant(s.offset) == 0 else start, stop, step)


def reversed_slice(vector: Vector, s: Span_) -> ast.expr:
    """The ascending `slice` that a walk with stride -1 takes backwards."""
    start = b.add(b.sub(s.offset, s.extent), b.ONE)
    stop = b.add(s.offset, b.ONE)
    return ast.Slice(None if b.constant(start) == 0 else vector.size(start), vector.size(stop))

"""Elements of arrays over a block: slices, gathers, and arrays that have the block's dimensions already."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir.expr import Expr, Load
from transkern.targets.pallas.forms.pieces import as_index, constant_tuple, subscript
from transkern.targets.pallas.forms.subscripts import (
    Place,
    Span_,
    Subscript,
    is_inside,
    reversed_slice,
    slice_of,
    sort,
)
from transkern.targets.pallas.forms.values import Inexpressible, Value
from transkern.targets.pallas.printing.quote import call, name, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.vector import Array, Vector


def load_aligned(vector: Vector, e: Load, array: Array) -> Value:
    assert array.slots is not None
    dims = vector.program.buffers[e.buffer].dims
    subscripts = sort(vector, e.index, dims)
    if vector.mask is not None and any_may_leave(vector, subscripts, dims):
        raise Inexpressible("a slice that a mask keeps within its array")
    items: list[ast.expr] = [ast.Slice() for _ in range(vector.rank)]
    axes = set()
    for s, slot in zip(subscripts, array.slots, strict=True):
        match s:
            case Span_(slot=at, stride=1) if at == slot:
                axes.add(slot)
                items[slot] = slice_of(vector, s)
            case Place(at, True):
                items[slot] = ast.Slice(vector.size(at), vector.size(b.add(at, b.ONE)))
            case _:
                raise Inexpressible("a subscript that is not a slice")
    node: ast.expr = name(array.name)
    if not all(isinstance(i, ast.Slice) and i.lower is None and i.upper is None for i in items):
        node = subscript(node, items)
    return Value(node, e.dtype, frozenset(axes))


def load_gathered(vector: Vector, e: Load, node: ast.expr, dims: tuple[Expr, ...]) -> Value:
    if vector.mosaic:
        raise Inexpressible("a gather")
    index = [vector.expr(i) for i in e.index]
    axes = frozenset[int]().union(*(i.axes for i in index))
    return Value(subscript(node, [i.node for i in index]), e.dtype, axes)


def load_slices(vector: Vector, e: Load, node: ast.expr, subscripts: list[Subscript], dims: tuple[Expr, ...]) -> Value:
    items: list[ast.expr] = []
    slots: list[int] = []
    flips: list[int] = []
    for axis, (s, dim) in enumerate(zip(subscripts, dims, strict=True)):
        if isinstance(s, Place):
            items.append(vector.expr(s.at).node)
        elif isinstance(s, Span_):
            if s.stride < 0:
                flips.append(len(slots))
            slots.append(s.slot)
            items.append(slice_of(vector, s) if s.stride > 0 else reversed_slice(vector, s))
            if not vector.mosaic and may_leave(vector, s, dim):
                node = call(vector.module.helper("_part"), [node, ast.Constant(axis), as_index([items.pop()])])
                items.append(ast.Slice())
    if not all(isinstance(i, ast.Slice) and i.lower is None and i.upper is None for i in items):
        node = subscript(node, items)
    if flips:
        node = subscript(
            node, [quote("slice(None, None, -1)") if k in flips else ast.Slice() for k in range(len(slots))]
        )
    return Value(align(vector, node, slots), e.dtype, frozenset(slots))


def align(vector: Vector, node: ast.expr, slots: list[int]) -> ast.expr:
    """An array whose dims walk `slots`, in that order, with the block's dimensions."""
    if slots != sorted(slots):
        order = sorted(range(len(slots)), key=lambda k: slots[k])
        node = quote("jnp.transpose(_0, _1)", node, constant_tuple(order))
    if slots and len(slots) < vector.rank:
        node = subscript(node, [ast.Slice() if s in slots else ast.Constant(None) for s in range(vector.rank)])
    return node


def maybe_empty(vector: Vector, subscripts: list[Subscript], dims: tuple[Expr, ...]) -> list[int]:
    """The dimensions that one place is looked up in, and that may have none: JAX does not trace that, even where
    it never takes place."""
    return [
        k for k, (s, dim) in enumerate(zip(subscripts, dims, strict=True))
        if not isinstance(s, Span_) and not (b.at_least(dim, b.ONE) or dim in vector.nonempty)
    ]  # fmt: skip


def may_leave(vector: Vector, s: Subscript, dim: Expr) -> bool:
    """Whether a walk is within its dimension only because a check holds or a mask says so, which JAX knows nothing
    of when it traces."""
    return is_doubtful(vector) and isinstance(s, Span_) and not is_inside(s, dim)


def any_may_leave(vector: Vector, subscripts: Sequence[Subscript], dims: Sequence[Expr]) -> bool:
    """The same for one of several walks, each in its dimension."""
    return any(may_leave(vector, s, dim) for s, dim in zip(subscripts, dims, strict=False))


def is_doubtful(vector: Vector) -> bool:
    """Whether what is written now may not apply to all of the block, or not be reached."""
    return vector.mask is not None or vector.unsure > 0 or "error." in vector.env

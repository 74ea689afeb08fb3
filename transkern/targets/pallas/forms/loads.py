"""Elements of arrays over a block: slices, gathers, and arrays that have the block's dimensions already."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.polynomials import expression, polynomial, without
from transkern.targets.pallas.forms.pieces import as_index, constant_tuple, subscript
from transkern.targets.pallas.forms.subscripts import (
    Gather,
    Place,
    Span_,
    Subscript,
    Turn,
    is_inside,
    reversed_slice,
    slice_of,
    sort,
    turn,
)
from transkern.targets.pallas.forms.values import Inexpressible, Value
from transkern.targets.pallas.printing.quote import call, name, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.vector import Array, Vector

_FEW = 8
"""Up to how many neighbours are looked up one by one."""
_PADDED = ("float32", "float64", "int32", "int64", "uint32", "uint64")
"""What a kernel adds zeros to: words, which truths and short integers are not."""


def load_aligned(vector: Vector, e: Load, array: Array) -> Value:
    assert array.slots is not None
    dims = vector.program.buffers[e.buffer].dims
    subscripts = sort(vector, e.index, dims, is_doubtful(vector))
    if any_may_leave(vector, subscripts, dims) and vector.held_as(e.dtype) not in _PADDED:
        raise Inexpressible("a slice that a mask keeps within its array")
    node: ast.expr = name(array.name)
    items: list[ast.expr] = [ast.Slice() for _ in range(vector.rank)]
    axes = set()
    for s, slot, dim in zip(subscripts, array.slots, dims, strict=True):
        match s:
            case Span_(slot=at, stride=1) if at == slot:
                axes.add(slot)
                if may_leave(vector, s, dim):
                    walk = as_index([slice_of(vector, s)])
                    node = call(vector.module.helper("_part"), [node, ast.Constant(slot), walk])
                else:
                    items[slot] = slice_of(vector, s)
            case Place(at, True):
                items[slot] = ast.Slice(vector.size(at), vector.size(b.add(at, b.ONE)))
            case _:
                raise Inexpressible("a subscript that is not a slice")
    if not all(isinstance(i, ast.Slice) and i.lower is None and i.upper is None for i in items):
        node = subscript(node, items)
    return Value(node, e.dtype, frozenset(axes))


def load_gathered(vector: Vector, e: Load, node: ast.expr, dims: tuple[Expr, ...]) -> Value:
    if vector.mosaic:
        raise Inexpressible("a gather")
    index = [vector.expr(i) for i in e.index]
    axes = frozenset[int]().union(*(i.axes for i in index))
    if is_looked_up(vector, e, dims):
        places = [vector.typed(i, "index") for i in index]
        return Value(call(vector.module.helper("_looked_up"), [node, *places]), e.dtype, axes)
    return Value(subscript(node, [i.node for i in index]), e.dtype, axes)


def is_looked_up(vector: Vector, e: Load, dims: Sequence[Expr]) -> bool:
    """Whether data choose each element by itself: no rows of neighbours go with a place, which XLA moves as rows."""
    if len(e.index) != len(dims) or vector.program.buffers[e.buffer].element:
        return False
    subscripts = sort(vector, e.index, tuple(dims))
    last = subscripts[-1]
    few = isinstance(last, Span_) and (b.constant(last.extent) or _FEW + 1) <= _FEW
    return any(isinstance(x, Gather) for x in subscripts) and (few or not isinstance(last, Span_))


def is_slice(vector: Vector, e: Load) -> bool:
    """Whether XLA takes an operand apart when a kernel loads its blocks: a slice of an array as it lies."""
    subscripts = sort(vector, e.index, vector.program.buffers[e.buffer].dims)
    slots = [x.slot for x in subscripts if isinstance(x, Span_)]
    return vector.rank > 1 and slots == sorted(slots)


def load_moved(vector: Vector, e: Load, dims: tuple[Expr, ...]) -> Value | None:
    """All of an array along an axis or several, which turn or are moved (`np.roll`), as it stands and then moved."""
    turns = turns_of(vector, e, dims)
    if not turns:
        return None
    if vector.mosaic and e.dtype != "bool" and vector.held_as(e.dtype) not in _PADDED:
        raise Inexpressible("a gather")
    value = vector.load(replace(e, index=tuple(turns[k].axis if k in turns else i for k, i in enumerate(e.index))))
    truths = vector.mosaic and e.dtype == "bool"  # Mosaic cannot join vectors of truths
    node = quote("jnp.where(_0, 1, 0)", value.node) if truths else value.node
    for found in turns.values():
        given = [node, vector.expr(found.shift).node, ast.Constant(found.ends), ast.Constant(found.slot)]
        node = call(vector.module.helper("_moved"), given)
    return Value(quote("_0 != 0", node) if truths else node, e.dtype, value.axes)


def turns_of(vector: Vector, e: Load, dims: Sequence[Expr]) -> dict[int, Turn]:
    """The dimensions that an access has turned or moved, each for all of an axis of its own; none where another one is
    a gather."""
    if len(e.index) != len(dims):
        return {}
    subscripts = sort(vector, e.index, tuple(dims), is_doubtful(vector))
    turns = {k: found for k, x in enumerate(subscripts) if (found := turn(vector, x, dims[k])) is not None}
    slots = [turns[k].slot if k in turns else getattr(x, "slot", None) for k, x in enumerate(subscripts)]
    walked = [s for s in slots if s is not None]
    rest_is_plain = all(k in turns or not isinstance(x, Gather) for k, x in enumerate(subscripts))
    return turns if rest_is_plain and len(walked) == len(set(walked)) else {}


def load_counted(vector: Vector, e: Load, node: ast.expr) -> Value | None:
    """Elements whose places in memory are counted along axes (`reshape`), as XLA sees them: a shape, a slice and an
    order. None where the places are anything else."""
    found = counted(vector, e)
    if found is None:
        return None
    start, walks = found
    infos = {axis: vector.axes[axis] for axis in walks}
    items: list[ast.expr] = [
        ast.Tuple([vector.size(stride), vector.size(infos[axis].extent), ast.Constant(infos[axis].slot)], ast.Load())
        for axis, stride in walks.items()
    ]  # fmt: skip
    arguments = [node, vector.size(start), ast.List(items, ast.Load()), ast.Constant(vector.rank)]
    axes = frozenset(info.slot for info in infos.values())
    return Value(call(vector.module.helper("_elements"), arguments), e.dtype, axes)


def counted(vector: Vector, e: Load) -> tuple[Expr, dict[str, Expr]] | None:
    """Where the places begin, and by what they move along each axis; None where subscripts say it as well."""
    dims = vector.program.buffers[e.buffer].dims
    if len(e.index) != len(dims):
        return _walks(vector, e.index[0])
    made = _place(e.index, dims)
    if made is None:
        return None
    place, divided = made
    return _walks(vector, place) if divided or any(len(vector.axes_of(i)) > 1 for i in e.index) else None


def in_order(vector: Vector, walks: Mapping[str, Expr]) -> bool:
    """Whether walks that together count the elements of an array seem to take them as they lie in memory: what moves
    further is made of more sizes."""
    factors = {vector.axes[axis].slot: max(map(len, polynomial(stride) or ((),))) for axis, stride in walks.items()}
    sizes = [factors[slot] for slot in sorted(factors)]
    return sizes == sorted(sizes, reverse=True)


def _walks(vector: Vector, place: Expr) -> tuple[Expr, dict[str, Expr]] | None:
    """Where a place begins, and what it moves by along each axis; all of it is known when JAX traces."""
    terms = polynomial(place)
    if terms is None:
        return None
    start, walks = dict[tuple[Expr, ...], int](), dict[str, dict[tuple[Expr, ...], int]]()
    for factors, count in terms.items():
        varying = [x for x in factors if vector.varies(x)]
        if not varying:
            start[factors] = count
            continue
        (axis, *others) = varying
        if others or not isinstance(axis, Var) or axis.name not in vector.axes:
            return None
        rest = without(factors, (axis,))
        assert rest is not None
        walks.setdefault(axis.name, {})[rest] = count
    infos = [vector.axes[axis] for axis in walks]
    if not infos or any(info.step != 1 or b.constant(info.start) != 0 for info in infos):
        return None
    found = expression(start), {axis: expression(stride) for axis, stride in walks.items()}
    sizes = (found[0], *found[1].values(), *(info.extent for info in infos))
    return found if all(map(vector.is_static, sizes)) else None


def _place(index: Sequence[Expr], dims: Sequence[Expr]) -> tuple[Expr, bool] | None:
    """The place in memory, and whether subscripts are its quotients and remainders; None where only some are."""
    place: Expr = b.ZERO
    stride: Expr = b.ONE
    k, divided = len(dims) - 1, False
    while k >= 0:
        whole, step = index[k], stride
        if k and isinstance(whole, Apply) and whole.op == "remainder" and whole.args[1] == dims[k]:
            left = whole = whole.args[0]
            while k and index[k] == b.mod(left, dims[k]):
                left, stride, k = b.floordiv(left, dims[k]), b.mul(stride, dims[k]), k - 1
            if index[k] != left:
                return None
            divided = True
        place = b.add(place, b.mul(whole, step))
        stride, k = b.mul(stride, dims[k]), k - 1
    return place, divided


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

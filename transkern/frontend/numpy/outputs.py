"""What NumPy checks before a ufunc stores into arrays that are there already (`a += b`, `out=`): their types and shapes
together with the operands'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from transkern import refusals
from transkern.errors import EMPTY
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import loop_types
from transkern.frontend.values import doubts
from transkern.frontend.values.broadcasting import broadcast_dims, masks_agree, may_stretch, shape_text
from transkern.frontend.values.numbers import is_number
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
    lies,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr


def check_readonly(ctx: Context, base: Array, what: str) -> None:
    """NumPy's error for a store into an argument that is not to be written, where the store is."""
    if base.base in ctx.inputs.handed_out:
        problem = "a store into what a cached function has made, which others have, too"
        ctx.fail(refusals.TWO_NAMES, problem, "store into a copy of it: y = f(x).copy()")
    if base.readonly == "here":
        problem = "a store through as_strided, by which several elements may be one"
        ctx.fail(refusals.SHARED_MEMORY, problem, "store into the array itself, or into a .copy() of the view")
    if base.readonly or base.base in ctx.inputs.readonly or base.identity in ctx.inputs.readonly:
        ctx.guard(b.FALSE, "ValueError", f"{what} is read-only")
    elif base.base in ctx.inputs.memories and ctx.inputs.readonly and not base.identity:
        problem = "a store into arguments that share memory, of which one is read-only"
        ctx.fail(refusals.SHARED_MEMORY, problem, "pass copies")
    note_written(ctx, base)


def note_written(ctx: Context, base: Array) -> None:
    """Notes that an argument is stored into, also where the store raises an error that comes later."""
    if base.identity or ctx.names.buffers[base.base].role == "argument":
        ctx.inputs.written.add(base.base)


def check_writable(ctx: Context, outs: Sequence[Value | None]) -> None:
    """NumPy's error for what `out=` names and nobody may write: ufuncs look at it as soon as their operands are arrays,
    reductions before all else."""
    for out in outs:
        if isinstance(out, Seq):
            check_writable(ctx, out.items)
        elif isinstance(out, Array) and lies(out):
            check_readonly(ctx, out, "output array")


def fitting(ctx: Context, args: Sequence[Value], outs: Sequence[Array], where: Array | None = None) -> list[Value]:
    """The operands of a ufunc, after NumPy's errors where they, the outputs and `where` do not go together.

    NumPy's message tells the shapes of all of them.
    """
    operands = [operand(ctx, a) for a in args]
    arrays = [v for v in (*operands, *outs, where) if isinstance(v, Array)]
    owner = next((a for a in arrays if a.mask is not None), None)
    if owner is not None:
        if masks_agree(arrays, max(a.ndim for a in arrays), owner):
            return operands
        kept = {id(v): ctx.kept(v) for v in arrays}
        operands = [kept[id(v)] if isinstance(v, Array) else v for v in operands]
        outs, where = [kept[id(o)] for o in outs], where if where is None else kept[id(where)]
    shapes = [v.dims if isinstance(v, Array) else () for v in (*operands, *outs)]
    dims = broadcast_dims(ctx, shapes if where is None else [*shapes, where.dims])
    for out in outs:
        _check_output(ctx, out.dims, dims)
    return operands


def operand(ctx: Context, value: Value) -> Value:
    """What a ufunc is given, as the array that it makes of it; numbers stay Python's."""
    value = ctx.deref(value)
    if isinstance(value, (Seq, Concatenation, GrowingList, Range, Record)):
        return as_array(ctx, value)
    return as_array(ctx, value) if isinstance(value, Static) and isinstance(value.value, np.ndarray) else value


def check_casts(
    ctx: Context, name: str, args: Sequence[Value], outs: Sequence[Array], dtype: str | None = None
) -> None:
    """NumPy's TypeError where an output cannot take what the ufunc `name` computes; it comes before those of shapes."""
    ufunc, operands = getattr(np, name), [operand(ctx, a) for a in args]
    into_integers = any(not np.can_cast("float64", o.dtype, "same_kind") for o in outs)
    for a in map(ctx.deref, args):
        if isinstance(a, GrowingList) and a.dtype and into_integers:
            ctx.guard(b.compare("greater", a.length, b.ZERO), "RuntimeError", EMPTY)
    plain = all(isinstance(v, (Array, Scalar)) or is_number(v) for v in operands)
    if len(outs) != 1 or not plain or doubts.doubts_of(operands):
        return
    is_ufunc = isinstance(ufunc, np.ufunc)
    source = loop_types(ctx, ufunc, operands, dtype)[1] if is_ufunc else dtype or result_type(ctx, operands)
    check_cast(ctx, name, source, outs[0].dtype)


def check_cast(ctx: Context, name: str, source: str, dtype: str) -> None:
    """NumPy's error where the result of an operation in place is not of a kind that the target can hold."""
    if not np.can_cast(source, dtype, "same_kind"):
        ctx.guard(
            b.FALSE, "TypeError",
            f"Cannot cast ufunc '{name}' output from dtype('{source}') to dtype('{dtype}') with casting rule "
            "'same_kind'",
        )  # fmt: skip


_Rule: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


def check_rule(ctx: Context, given: Array, dtype: str, rule: _Rule) -> None:
    """NumPy's error where an array's type does not go over into another one by a rule."""
    if given.dtype != "index" and not np.can_cast(given.dtype, dtype, rule):
        what = "array data" if given.ndim else "scalar"
        types = f"from dtype('{given.dtype}') to dtype('{dtype}')"
        ctx.guard(b.FALSE, "TypeError", f"Cannot cast {what} {types} according to the rule '{rule}'")


def _check_output(ctx: Context, own: tuple[Expr, ...], dims: tuple[Expr, ...]) -> None:
    """An output is not stretched."""
    condition: Expr = b.TRUE if len(own) == len(dims) else b.FALSE
    for mine, d in zip(reversed(own), reversed(dims), strict=False):
        if mine != d and (b.constant(mine) is not None or may_stretch(ctx, mine)):
            condition = b.both(condition, b.compare("equal", mine, d))
    ctx.guard(
        condition, "ValueError",
        f"non-broadcastable output operand with shape {shape_text(own)} doesn't match the broadcast shape "
        f"{shape_text(dims)}", (*own, *dims),
    )  # fmt: skip


def check_shape(ctx: Context, out: Value | None, dims: Sequence[Expr], message: str, error: str = "ValueError") -> None:
    """NumPy's error where what `out=` names has not just this shape."""
    if not isinstance(out, Array):
        return
    same: Expr = b.TRUE if out.ndim == len(dims) else b.FALSE
    for mine, d in zip(out.dims, dims, strict=False):
        same = b.both(same, b.compare("equal", mine, d))
    ctx.guard(same, error, message)


def check_apart(ctx: Context, name: str, out: Value | None, operands: Sequence[Value]) -> None:
    """Refuses an output that is a part of an operand, where NumPy stores into it before it has read all of that."""
    for operand in map(ctx.deref, operands):
        if isinstance(out, Array) and isinstance(operand, Array) and lies(operand) and operand.base == out.base:
            ctx.fail(refusals.OUT, f"`{name}` with `out=` a part of what it reads", "give it an array of its own")


def check_reduced(
    ctx: Context, out: Value | None, ufunc: str, operand: Array, reduced: Sequence[int], keepdims: bool
) -> None:
    """NumPy's errors where a reduction over the axes `reduced` does not fit what `out=` names."""
    if not isinstance(out, Array):
        return
    wanted = operand.ndim if keepdims else operand.ndim - len(reduced)
    if out.ndim != wanted:
        more = " (must match the operand's when keepdims=True)" if keepdims else ""
        ctx.guard(
            b.FALSE, "ValueError",
            f"output parameter for reduction operation {ufunc} has the wrong number of dimensions: Found {out.ndim} "
            f"but expected {wanted}{more}",
        )  # fmt: skip
    if operand.mask is not None:
        return
    own = list(out.dims)
    along = own if keepdims else [b.ONE if d in reduced else own.pop(0) for d in range(operand.ndim)]
    shown = ["{}" if keepdims or d not in reduced else "newaxis" for d in range(operand.ndim)]
    while shown and shown[0] == "newaxis":
        del shown[0]
    text = (
        f"operands could not be broadcast together with remapped shapes [original->remapped]: {shape_text(out.dims)}->"
        f"({','.join(shown)}) {shape_text(operand.dims)} "
    )
    shapes = (*out.dims, *out.dims, *operand.dims)
    for d in sorted(reduced) if keepdims else ():
        told = f"operand was set up as a reduction along axis {d}, but the length of the axis is {{}} (it has to be 1)"
        ctx.guard(b.compare("equal", own[d], b.ONE), "ValueError", told, (own[d],))
    position = 0  # among the dimensions of the output
    for d, (mine, extent) in enumerate(zip(along, operand.dims, strict=True)):
        if d not in reduced and b.constant(mine) == 1 and b.constant(extent) != 1:
            ctx.guard(
                b.compare("equal", extent, b.ONE), "ValueError",
                f"output operand requires a reduction along dimension {position}, but the reduction is not enabled. "
                "The dimension size of 1 does not match the expected output shape.",
            )  # fmt: skip
        elif d not in reduced:
            ctx.guard(b.compare("equal", mine, extent), "ValueError", text, shapes)
        position += keepdims or d not in reduced

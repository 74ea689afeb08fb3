"""Matrix products and sorts: steps that a library owns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    as_array,
    broadcast_dims,
    convert,
    result_type,
    stretched,
)  # fmt: skip
from transkern.frontend.shaping import (
    normal_axis,
)  # fmt: skip
from transkern.frontend.values import (
    Array,
    Scalar,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Load, Reduce


def matmul(ctx: Context, left: Value, right: Value) -> Value:
    """``left @ right``: small inner sizes as a sum, the rest a library's."""
    x, y = as_array(ctx, left), as_array(ctx, right)
    x, y = (ctx.compact(v, "kept") if v.mask is not None else v for v in (x, y))
    if x.ndim == 0 or y.ndim == 0:
        ctx.guard(b.FALSE, "ValueError", "matmul: Input operand 0 does not have enough dimensions")
    dtype = result_type(ctx, [x, y])
    x, y = convert(x, dtype), convert(y, dtype)
    inner_x, inner_y = x.dims[-1], y.dims[-2] if y.ndim > 1 else y.dims[0]
    ctx.guard(
        b.compare("equal", inner_x, inner_y), "ValueError",
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
        "(size {} is different from {})", (inner_y, inner_x),
    )  # fmt: skip
    if x.ndim == 1 and y.ndim == 1:
        axis = ctx.axis("r", inner_x)
        product = Apply("multiply", (x.at((axis.var,)), y.at((axis.var,))), dtype)
        return Scalar(ctx.let(Reduce("sum", (axis,), product, dtype, ctx.span), "dot"))
    if x.ndim <= 2 and y.ndim <= 2 and not (b.constant(inner_x) is not None and (b.constant(inner_x) or 0) <= 4):
        ins = [ctx.define(v, name) if not _plain(ctx, v) else v for v, name in ((x, "left"), (y, "right"))]
        dims = (*(x.dims[:-1] if x.ndim > 1 else ()), *(y.dims[1:] if y.ndim > 1 else ()))
        out = ctx.buffer("product", dtype, dims)
        ctx.emit(n.Alloc(out.name))
        ctx.emit(n.Library("matmul", (out.name,), tuple(v.base for v in ins)))
        return ctx.whole(out)
    batch_x, batch_y = x.axes[:-2], y.axes[:-2]
    batch = (
        ctx.axes(broadcast_dims(ctx, [tuple(a.extent for a in batch_x), tuple(a.extent for a in batch_y)]))
        if batch_x or batch_y
        else ()
    )
    rows = ctx.axes((x.dims[-2],)) if x.ndim > 1 else ()
    columns = ctx.axes((y.dims[-1],)) if y.ndim > 1 else ()
    axis = ctx.axis("r", inner_x)
    at_x = (*stretched(ctx, x.dims[:-2], batch), *(a.var for a in rows), axis.var) if x.ndim > 1 else (axis.var,)
    at_y = (*stretched(ctx, y.dims[:-2], batch), axis.var, *(a.var for a in columns)) if y.ndim > 1 else (axis.var,)
    product = Apply("multiply", (x.at(at_x), y.at(at_y)), dtype)
    return ctx.define(Array((*batch, *rows, *columns), Reduce("sum", (axis,), product, dtype, ctx.span)), "product")


def _plain(ctx: Context, value: Array) -> bool:
    """Whether `value` is a whole buffer, as library calls take it."""
    return (
        value.view and isinstance(value.body, Load) and value.body.index == tuple(a.var for a in value.axes)
        and value.dims == ctx.buffers[value.body.buffer].dims and ctx.buffers[value.body.buffer].layout == "C"
    )  # fmt: skip


def sort(ctx: Context, name: str, value: Array, axis: int, kind: str) -> Array:
    """``np.sort``/``np.argsort`` along an axis, by the library: the order of equal elements is its own."""
    if value.mask is not None:
        value = ctx.compact(value, "kept")
    axis = normal_axis(ctx, axis, value.ndim)
    source = value if _plain(ctx, value) else ctx.define(replace(value, view=False), "keys")
    facts: dict[str, Any] = {}
    if name == "argsort":
        facts = {"low": b.ZERO, "high": value.dims[axis], "permutation": value.ndim == 1}
    dtype = "int64" if name == "argsort" else value.dtype
    out = ctx.buffer("order" if name == "argsort" else "sorted", dtype, source.dims, **facts)
    ctx.emit(n.Alloc(out.name))
    attributes = (("axis", axis), ("kind", kind))
    ctx.emit(n.Library(name, (out.name,), (source.base,), attributes))
    return ctx.whole(out)

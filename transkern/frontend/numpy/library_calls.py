"""Matrix products, sorts and searches: steps that a library owns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import apply, convert
from transkern.frontend.numpy.sizes import normal_axis
from transkern.frontend.state import guards
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_dims, stretched
from transkern.frontend.values.strides import from_outside, in_memory, place_in_memory
from transkern.frontend.values.values import (
    Array,
    Scalar,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce
from transkern.ir.library import FAILING

_FAILURES = {
    "solve": "Singular matrix", "inv": "Singular matrix", "cholesky": "Matrix is not positive definite",
    "svd": "SVD did not converge", "svdvals": "SVD did not converge", "pinv": "SVD did not converge",
    "lstsq": "SVD did not converge in Linear Least Squares", "eig": "Eigenvalues did not converge",
}  # fmt: skip
"""What NumPy says of a step that fails."""


def matmul(ctx: Context, left: Value, right: Value, by: str = "matmul") -> Value:
    """``left @ right``: small inner sizes as a sum, the rest a library's. `by`: NumPy's ``matmul`` or its ``dot``; they
    round differently where the strides are not those of BLAS."""
    x, y = as_array(ctx, left), as_array(ctx, right)
    x, y = (ctx.kept(v) for v in (x, y))
    if x.ndim == 0 or y.ndim == 0:
        apply(ctx, "multiply", [left, right])  # a number of Python's that the other's type does not hold comes first
        asked(ctx, np.matmul, *(np.ones((1,) * v.ndim) for v in (x, y)))
    dtype = result_type(ctx, [x, y])
    x, y = (v if v.dtype == dtype else convert(v, dtype) for v in (x, y))  # as they lie, where nothing changes
    inner_x, inner_y = x.dims[-1], y.dims[-2] if y.ndim > 1 else y.dims[0]
    ctx.guard(
        b.compare("equal", inner_x, inner_y), "ValueError",
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
        "(size {} is different from {})", (inner_y, inner_x),
    )  # fmt: skip
    if x.ndim == 1 and y.ndim == 1:
        axis = ctx.names.axis("r", inner_x)
        product = Apply("multiply", (x.at((axis.var,)), y.at((axis.var,))), dtype)
        return Scalar(ctx.let(Reduce("sum", (axis,), product, dtype, ctx.session.span), "dot"))
    inner = b.constant(inner_x)
    of_columns = inner == 1 and by == "dot" and is_complex(dtype) and x.ndim == y.ndim == 2  # BLAS adds nothing to zero
    # of infinite parts a library makes other parts NaN; in a loop, a call for each product of a few is too much
    of_complex = is_complex(dtype) and ctx.session.steps_take_views and not ctx.control.trips
    if x.ndim <= 2 and y.ndim <= 2 and (inner is None or inner > 4 or of_columns or of_complex):
        dims = (*(x.dims[:-1] if x.ndim > 1 else ()), *(y.dims[1:] if y.ndim > 1 else ()))
        name = by if ctx.session.steps_take_views else "matmul"
        return step(ctx, name, {"left": x, "right": y}, {"product": (dtype, dims)})[0]
    batch_x, batch_y = x.axes[:-2], y.axes[:-2]
    batch: tuple[Axis, ...] = ()
    if batch_x and batch_y:
        with ctx.control.raising("ValueError", *_batches_differ(x, y)):
            batch = ctx.names.axes(
                broadcast_dims(ctx, [tuple(a.extent for a in batch_x), tuple(a.extent for a in batch_y)])
            )
    elif batch_x or batch_y:
        batch = ctx.names.axes(tuple(a.extent for a in (*batch_x, *batch_y)))
    of_blas = np.dtype(dtype).kind in "fc" and dtype != "float16" and x.ndim > 1 and y.ndim > 1
    # many products, each of them a library's; on a device a loop with a library's step is no kernel
    by_library = ctx.session.steps_take_views or not ctx.control.trips
    if by_library and of_blas and (inner is None or inner > 4):
        dims = (*(a.extent for a in batch), x.dims[-2], y.dims[-1])
        return step(ctx, "matmul", {"left": x, "right": y}, {"product": (dtype, dims)})[0]
    rows = ctx.names.axes((x.dims[-2],)) if x.ndim > 1 else ()
    columns = ctx.names.axes((y.dims[-1],)) if y.ndim > 1 else ()
    axis = ctx.names.axis("r", inner_x)
    at_x = (*stretched(ctx, x.dims[:-2], batch), *(a.var for a in rows), axis.var) if x.ndim > 1 else (axis.var,)
    at_y = (*stretched(ctx, y.dims[:-2], batch), axis.var, *(a.var for a in columns)) if y.ndim > 1 else (axis.var,)
    product = Apply("multiply", (x.at(at_x), y.at(at_y)), dtype)
    return ctx.define(
        Array((*batch, *rows, *columns), Reduce("sum", (axis,), product, dtype, ctx.session.span)), "product"
    )


def _batches_differ(x: Array, y: Array) -> tuple[str, tuple[Expr, ...]]:
    """What NumPy says where the axes before the matrices do not fit: its text, and the sizes in it."""

    def shape(sizes: int, new: int = 0) -> str:
        inside = ",".join(["{}"] * sizes + ["newaxis"] * new)
        return f"({inside},)" if sizes + new == 1 else f"({inside})"

    told, args = "", list[Expr]()
    for v in (x, y):
        told += f" {shape(v.ndim)}->{shape(v.ndim - 2, 2)}"
        args += [*v.dims, *v.dims[:-2]]
    text = f"operands could not be broadcast together with remapped shapes [original->remapped]:{told}  and requested"
    return f"{text} shape {shape(2)}", (*args, x.dims[-2], y.dims[-1])


def _operand(ctx: Context, value: Array, base: str) -> tuple[str, n.View | None]:
    """An array as a library step takes it: as it is where it lies in memory, else put there as NumPy would have it."""
    if value.mask is not None:
        value = ctx.compact(value, base)
    if not value.view and ctx.session.steps_take_views and from_outside(ctx, value) is None:
        value = in_memory(ctx, value, base)
    if value.view and isinstance(value.body, Load):
        buffer = ctx.names.buffers[value.base]
        if is_plain(ctx, value) or (ctx.session.steps_take_views and value.identity == value.base):
            return value.base, None
        is_whole_word = buffer.aligned or value.base not in ctx.inputs.memories
        view = place_in_memory(ctx, value) if ctx.session.steps_take_views and is_whole_word else None
        if view is not None:
            return value.base, view
    return ctx.define(replace(value, view=False), base).base, None


def is_plain(ctx: Context, value: Array) -> bool:
    """Whether `value` is a whole buffer in C order."""
    return (
        value.view and isinstance(value.body, Load) and value.body.index == tuple(a.var for a in value.axes)
        and value.dims == ctx.names.buffers[value.body.buffer].dims
        and ctx.names.buffers[value.body.buffer].layout == "C"
    )  # fmt: skip


def sort(ctx: Context, name: str, value: Array, axis: int, kind: str) -> Array:
    """``np.sort``/``np.argsort`` along an axis, by the library: the order of equal elements is its own."""
    value = ctx.kept(value)
    axis = normal_axis(ctx, axis, value.ndim)
    facts: dict[str, Any] = {}
    if name == "argsort":
        facts = {"low": b.ZERO, "high": value.dims[axis], "permutation": value.ndim == 1}
    out = ("order", "int64") if name == "argsort" else ("sorted", value.dtype)
    return step(ctx, name, {"keys": value}, {out[0]: (out[1], value.dims)}, facts, axis=axis, kind=kind)[0]


def step(
    ctx: Context, name: str, ins: dict[str, Array], outs: dict[str, tuple[str, tuple[Expr, ...]]],
    facts: dict[str, Any] | None = None, **attributes: Any,
) -> list[Array]:  # fmt: skip
    """A library step: `ins` are arrays by the names that they get where they must be put into memory first, `outs` the
    dtypes and dims of what it makes, by name; `facts` hold for the first of these."""
    sources = [_operand(ctx, value, base) for base, value in ins.items()]
    buffers: list[n.Buffer] = []
    for base, (dtype, dims) in outs.items():
        buffers.append(ctx.buffer(base, dtype, dims, **(facts or {} if not buffers else {})))
        ctx.emit(n.Alloc(buffers[-1].name))
    names = tuple(buffer for buffer, _ in sources)
    views = tuple(view for _, view in sources) if any(view for _, view in sources) else ()
    outs_of = tuple(o.name for o in buffers)
    given = tuple(attributes.items())
    caught = guards.caught(ctx, np.linalg.LinAlgError) if ctx.control.catching and name in FAILING else None
    if caught is None:
        ctx.emit(n.Library(name, outs_of, names, given, views))
    else:
        failed = ctx.buffer("failed", "bool", (b.ONE,))
        ctx.emit(n.Alloc(failed.name))
        ctx.emit(n.Library("attempt", (*outs_of, failed.name), names, (("of", name), ("given", given)), views))
        fails = ctx.let(Load(failed.name, (b.ZERO,), "bool"), "failed")
        message = _FAILURES.get(name, _FAILURES["eig"])
        guards.leave_try(ctx, b.logical_not(fails), *caught, "LinAlgError", message)
    return [ctx.names.whole(o) for o in buffers]


def stored(ctx: Context, value: Array, base: str) -> Array:
    """`value` in memory, where it is not already: it will be read more than once an element."""
    if value.mask is not None:
        return ctx.compact(value, base)
    return value if isinstance(value.body, (Load, Const)) else ctx.define(value, base)

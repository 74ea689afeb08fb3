"""Coordinates: `np.mgrid`, `np.ogrid`, `np.r_`, `np.c_`, `np.meshgrid`, `np.indices`, `np.ix_`, linear positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.containers import empties
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.numpy.progressions import arange, linspace
from transkern.frontend.numpy.shaping import concatenate, expand, reshape
from transkern.frontend.numpy.sizes import dims_of, dtype_of, full
from transkern.frontend.subscripts.arrays import first_place, nonzero_positions
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.values import Array, Function, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Reduce

MAKERS = ("numpy.mgrid", "numpy.ogrid", "numpy.r_", "numpy.c_", "numpy.s_", "numpy.index_exp")
"""What is subscripted to make something."""


def made_by_subscript(ctx: Context, path: str, items: Sequence[Value]) -> Value:
    """``np.mgrid[…]``, ``np.r_[…]``, …"""
    items = [i if isinstance(i, Slice) else ctx.contents(i) for i in items]
    match path.removeprefix("numpy."):
        case "r_":
            return empties.told(
                ctx, lambda *given: np.r_[given], items, {},
                lambda given, _: _joined(ctx, [_piece(ctx, i) for i in given], 1),
            )  # fmt: skip
        case "c_":
            return empties.told(
                ctx, lambda *given: np.c_[given], items, {},
                lambda given, _: _joined(ctx, [_column(ctx, _piece(ctx, i)) for i in given], -1),
            )  # fmt: skip
        case "mgrid" | "ogrid" as name:
            return _grid(ctx, items, name == "ogrid")
        case name:
            kept = [_kept_item(ctx, i) for i in items]
            if len(kept) == 1 and name != "index_exp":
                return kept[0]
            if all(isinstance(i, Static) for i in kept):
                return Static(tuple(i.value for i in kept if isinstance(i, Static)))
            return Seq(tuple(kept), "tuple")


def _kept_item(ctx: Context, item: Value) -> Value:
    """One of the items of ``np.s_[…]``."""
    if not isinstance(item, Slice):
        return item
    parts = (item.start, item.stop, item.step)
    if all(p is None or isinstance(p, Static) for p in parts):
        return Static(slice(*(p.value if isinstance(p, Static) else None for p in parts)))
    return Slice(*parts)


def _piece(ctx: Context, item: Value) -> Value:
    if isinstance(item, Slice):
        return _line(ctx, item)
    if isinstance(item, Static) and isinstance(item.value, str):
        ctx.fail(refusals.OPTION, f"np.r_ with the directive {item.value!r}", "use np.concatenate or np.stack")
    return item


def _line(ctx: Context, item: Slice) -> Array:
    """The numbers that a slice stands for; an imaginary step is a number of points."""
    start, step = item.start or Static(0), item.step or Static(1)
    if item.stop is None:
        ctx.fail(refusals.SUBSCRIPT, "a slice without an end in np.r_ or np.mgrid", "write where it ends: 0:n")
    if isinstance(step, Static) and isinstance(step.value, complex):
        return linspace(ctx, start, item.stop, Static(int(abs(step.value))), True, None)
    if isinstance(step, Scalar) and step.dtype.startswith("complex"):
        ctx.must_be_known(step, "a number of points that is known at run time only", "use np.linspace")
    return arange(ctx, start, item.stop, step, None)


def _grid_line(ctx: Context, item: Slice, among_others: bool) -> Array:
    """The numbers along one axis of np.mgrid: position * step + start, whose last bits are not np.linspace's."""
    line = _line(ctx, item)
    start, step = item.start or Static(0), item.step or Static(1)
    points = isinstance(step, Static) and isinstance(step.value, complex)
    if not line.dtype.startswith("float") or not (points or among_others):
        return line
    if points:
        count = b.constant(line.dims[0])
        assert count is not None and item.stop is not None
        width = apply(ctx, "subtract", [item.stop, start], operator_call=True)
        gaps = Static(float(count - 1))
        step = Static(1.0) if count == 1 else apply(ctx, "divide", [width, gaps], operator_call=True)
    first, by = (b.cast(scalar_expr(ctx, v), line.dtype) for v in (start, step))
    position = b.cast(line.axes[0].var, line.dtype)
    moved = Apply("multiply", (position, by), line.dtype)
    return Array(line.axes, Apply("add", (moved, first), line.dtype))


def _column(ctx: Context, value: Value) -> Value:
    array = as_array(ctx, value)
    array = ctx.kept(array)
    if array.ndim == 0:
        return Array(ctx.names.axes((b.ONE, b.ONE)), array.body)
    return expand(ctx, array, 1) if array.ndim == 1 else array


def _joined(ctx: Context, parts: Sequence[Value], axis: int) -> Value:
    weak = [p for p in parts if is_python_number(p)]
    arrays = [as_array(ctx, p) for p in parts]
    arrays = [Array(ctx.names.axes((b.ONE,)), v.body) if v.ndim == 0 else v for v in arrays]
    if weak:  # numbers of Python's take the dtype of the others
        dtype = result_type(ctx, [p if is_python_number(p) else v for p, v in zip(parts, arrays, strict=True)])
        arrays = [
            Array(v.axes, b.cast(v.body, dtype)) if is_python_number(p) else v
            for p, v in zip(parts, arrays, strict=True)
        ]
    return concatenate(ctx, arrays, 0 if axis == 1 else arrays[0].ndim - 1)


def _grid(ctx: Context, items: Sequence[Value], is_open: bool) -> Value:
    slices = [i for i in items if isinstance(i, Slice)]
    if len(slices) != len(items):
        help = "give it slices, or use np.meshgrid(x, y, indexing='ij')"
        ctx.fail(refusals.SUBSCRIPT, "np.mgrid with something that is no slice", help)
    lines = [_grid_line(ctx, s, len(slices) > 1) for s in slices]
    dtype = str(np.result_type(*[v.dtype for v in lines]).name)
    lines = [Array(v.axes, b.cast(v.body, dtype)) for v in lines]
    if len(lines) == 1:
        return lines[0]
    axes = ctx.names.axes(tuple(v.dims[0] for v in lines))
    elements = [v.at((x.var,)) for v, x in zip(lines, axes, strict=True)]
    if is_open:
        return Seq(tuple(_standing(ctx, v, d, len(lines)) for d, v in enumerate(lines)))
    first = ctx.names.axis("d", b.index(len(lines)))
    return Array((first, *axes), select(first.var, elements))


def _standing(ctx: Context, line: Array, axis: int, ndim: int) -> Array:
    """A one-dimensional array along one of several axes."""
    for d in range(ndim):
        if d != axis:
            line = expand(ctx, line, d)
    return line


def _meshgrid(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "np.meshgrid", ("copy", "sparse", "indexing"), (), keywords)
    lines = [as_array(ctx, v) for v in args]
    lines = [ctx.kept(v) for v in lines]
    lines = [v if v.ndim else v.seen(ctx.names.axes((b.ONE,)), ()) for v in lines]
    lines = [v if v.ndim == 1 else reshape(ctx, v, [Static(-1)]) for v in lines]
    order = list(range(len(lines)))
    indexing = a.text("indexing", "xy")
    if indexing not in ("xy", "ij"):
        ctx.guard(b.FALSE, "ValueError", "Valid values for `indexing` are 'xy' and 'ij'.")
    if indexing == "xy" and len(lines) > 1:
        order[:2] = [1, 0]
    place = {line: order.index(line) for line in order}
    if a.flag("sparse"):
        grids = [_standing(ctx, v, place[k], len(lines)) for k, v in enumerate(lines)]
        if a.flag("copy", True):
            grids = [replace(g, view=False, identity="") for g in grids]
        return Seq(tuple(grids))
    dims = tuple(lines[k].dims[0] for k in order)
    copy = a.flag("copy", True)
    grids = []
    for k, v in enumerate(lines):
        axes = ctx.names.axes(dims)
        line = v if copy or v.view else ctx.define(v, "line")
        grids.append(Array(axes, line.at((axes[place[k]].var,)), view=not copy))
    return Seq(tuple(grids))


TABLE["numpy.meshgrid"] = _meshgrid


@handles("numpy.indices", names="dimensions dtype sparse")
def _indices(ctx: Context, a: Arguments) -> Value:
    if isinstance(a.need("dimensions"), Scalar) or is_number(a.need("dimensions")):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(a.need('dimensions'))}' object is not iterable")
    dims = dims_of(ctx, a.need("dimensions"))
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    sparse = a.flag("sparse")
    if not sparse:
        full(ctx, dims, b.ZERO)  # no size is negative
    lines = [arange(ctx, Static(0), Scalar(d, True), Static(1), dtype) for d in dims]
    if sparse:
        return Seq(tuple(_standing(ctx, v, d, len(lines)) for d, v in enumerate(lines)))
    if a.given.get("dtype") == Static(None):  # NumPy makes an array for the lines first, with `np.empty`
        dtype = "float64"
        lines = [replace(v, body=b.cast(v.body, dtype)) for v in lines]
    if not lines:
        return full(ctx, (b.ZERO,), Const(0, dtype))
    axes = ctx.names.axes(tuple(v.dims[0] for v in lines))
    first = ctx.names.axis("d", b.index(len(lines)))
    return Array((first, *axes), select(first.var, [v.at((x.var,)) for v, x in zip(lines, axes, strict=True)]))


def _fromfunction(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "np.fromfunction", ("function", "shape", "dtype"), args, keywords)
    function = a.need("function")
    if not isinstance(function, Function):
        help = "give it a function or a lambda: lambda i, j: np.hypot(i, j)"
        ctx.fail(refusals.PYTHON_CALL, "np.fromfunction of something that is no plain function", help)
    dims = dims_of(ctx, a.need("shape"))
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    coordinates: list[Value] = []
    for d in range(len(dims)):
        axes = ctx.names.axes(dims)
        coordinates.append(Array(axes, b.cast(axes[d].var, dtype)))
    assert ctx.scopes.inline is not None
    return ctx.scopes.inline(function, coordinates, {})


TABLE["numpy.fromfunction"] = _fromfunction


def _ix(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    lines: list[Array] = []
    for value in args:
        line = as_array(ctx, value)
        if line.ndim != 1:
            ctx.guard(b.FALSE, "ValueError", "Cross index must be 1 dimensional")
        line = ctx.kept(line)
        if line.dtype == "bool":
            line = ctx.compact(nonzero_positions(ctx, line)[0], "where")
        lines.append(line)
    return Seq(tuple(_standing(ctx, v, d, len(lines)) for d, v in enumerate(lines)))


TABLE["numpy.ix_"] = _ix


# --- positions


def _all_hold(condition: Expr, array: Array) -> Expr:
    return b.logical_not(Reduce("any", array.axes, b.logical_not(condition), "bool")) if array.axes else condition


def _element(value: Array, k: tuple[Expr, ...]) -> Expr:
    return b.as_index(value.at(k))


def _is_inside(at: Expr, size: Expr) -> Expr:
    return b.both(b.compare("greater_equal", at, b.ZERO), b.compare("less", at, size))


@handles("numpy.unravel_index", names="indices shape order")
def _unravel_index(ctx: Context, a: Arguments) -> Value:
    if a.text("order", "C") != "C":
        help = "for order='F' write np.unravel_index(k, shape[::-1])[::-1]"
        ctx.fail(refusals.OPTION, "np.unravel_index with order=", help)
    dims = dims_of(ctx, a.need("shape"))
    total = b.product(dims)
    given = a.need("indices")
    value = as_array(ctx, given)
    if not value.dtype.startswith(("int", "uint", "bool")):
        ctx.guard(b.FALSE, "TypeError", "only int indices permitted")
    value = ctx.kept(value)
    at = b.as_index(value.body)
    if not value.axes:
        at = ctx.let(at, "at")
    inside = _is_inside(at, total)
    with ctx.facts.axis_ranges(value.axes):
        certain = all(ctx.facts.within(at, total))
    if not certain:
        shown = at
        if value.axes:
            place, where = first_place(ctx, value.dims, lambda k: b.logical_not(_is_inside(_element(value, k), total)))
            inside, shown = b.compare("less", place, b.ZERO), _element(value, where)
        ctx.guard(inside, "ValueError", "index {} is out of bounds for array with size {}", (shown, total))
    parts = [b.cast(i, "int64") for i in b.unravel(at, dims)]
    return Seq(tuple(Array(value.axes, p) if value.axes else Scalar(p) for p in parts))


@handles("numpy.ravel_multi_index", names="multi_index dims mode order")
def _ravel_multi_index(ctx: Context, a: Arguments) -> Value:
    if a.text("mode", "raise") != "raise" or a.text("order", "C") != "C":
        help = "for 'wrap' give it i % n, for 'clip' np.clip(i, 0, n - 1), for 'F' both tuples reversed"
        ctx.fail(refusals.OPTION, "np.ravel_multi_index with mode= or order=", help)
    dims = dims_of(ctx, a.need("dims"))
    index = a.need("multi_index")
    if not isinstance(index, Seq) or len(index.items) != len(dims) or not dims:
        problem = "np.ravel_multi_index needs a tuple of as many indices as there are dims"
        help = "write them out: np.ravel_multi_index((p[0], p[1]), (rows, columns))"
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, help)
    if any(b.constant(d) == 0 for d in dims):
        text = "cannot unravel if shape has zero entries (is empty)."
        ctx.guard(b.FALSE, "ValueError", text)
    zero = apply(ctx, "multiply", [index.items[0], Static(0)])
    parts = [as_array(ctx, apply(ctx, "add", [i, zero])) for i in index.items]
    if any(p.dtype.startswith(("float", "complex")) for p in parts):
        ctx.guard(b.FALSE, "TypeError", "only int indices permitted")
    axes = parts[0].axes
    at = [b.as_index(p.at(tuple(x.var for x in axes))) for p in parts]
    for i, d in zip(at, dims, strict=True):
        inside = b.both(b.compare("greater_equal", i, b.ZERO), b.compare("less", i, d))
        ctx.guard(_all_hold(inside, Array(axes, i)), "ValueError", "invalid entry in coordinates array")
    linear = b.cast(b.ravel(at, dims), "int64")
    return Array(axes, linear) if axes else Scalar(linear)

"""What calls, methods and attributes mean: one table entry a NumPy, `math` or built-in function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.frontend import shaping
from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    apply,
    as_array,
    broadcast_to,
    convert,
    describe,
    is_number,
    is_python_number,
    list_array,
    result_type,
    scalar_expr,
    static_expr,
    truth,
)  # fmt: skip
from transkern.frontend.indexing import Item, SliceValue, array_item, nonzero_positions, place, shape_of
from transkern.frontend.reductions import axes_of, mean, reduce
from transkern.frontend.shaping import (
    arange,
    concatenate,
    constant_int,
    dims_of,
    dtype_of,
    expand,
    flip,
    full,
    linspace,
    normal_axis,
    reshape,
    roll,
    split,
    stack,
    tile,
    transpose,
)  # fmt: skip
from transkern.frontend.source import known_object
from transkern.frontend.values import (
    Array,
    Concatenation,
    Function,
    GrowingList,
    Known,
    Method,
    Range,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.ops import OPS
from transkern.ir.traverse import buffers_read

__all__ = [
    "append", "attribute", "call", "call_method", "contains", "extend", "iteration", "matmul", "reshape", "scalar_type",
    "write",
]  # fmt: skip

Keywords = dict[str, Value]


class Arguments:
    """A call's arguments by NumPy's parameter names."""

    def __init__(self, ctx: Context, name: str, names: Sequence[str], positional: Sequence[Value], keywords: Mapping[str, Value]):
        self.ctx, self.name = ctx, name
        if len(positional) > len(names):
            ctx.fail(f"`{name}` with {len(positional)} arguments")
        self.given: Keywords = dict(zip(names, positional, strict=False))
        for key, value in keywords.items():
            if key not in names:
                ctx.fail(f"`{name}` with `{key}=`", f"supported here: {', '.join(names)}")
            self.given[key] = value

    def get(self, name: str) -> Value | None:
        value = self.given.get(name)
        return None if isinstance(value, Static) and value.value is None else value

    def need(self, name: str) -> Value:
        value = self.given.get(name)
        if value is None:
            self.ctx.fail(f"`{self.name}` needs `{name}`")
        return value

    def array(self, name: str) -> Array:
        return as_array(self.ctx, self.need(name))

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, Static):
            self.ctx.fail(f"`{name}=` must be a constant")
        return bool(value.value)

    def text(self, name: str, default: str) -> str:
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, Static):
            self.ctx.fail(f"`{name}=` must be a constant")
        return str(value.value)


# --- stores


def write(ctx: Context, base: Array, items: Sequence[Item], value: Value, casting: str | None = None) -> None:
    """``base[items] = value``; `casting` names the in-place operator, whose cast must be same-kind."""
    plan = place(ctx, base, items)
    if base.identity or ctx.buffers[base.base].role == "argument":
        ctx.written.add(base.base)
    target_index = base.at(plan.index)
    assert isinstance(target_index, Load)
    buffer = ctx.buffers[target_index.buffer]
    source = value if isinstance(value, (Array, Concatenation, Seq, GrowingList)) or _constant_array(value) else None
    if casting is not None:
        _same_kind(ctx, casting, value, buffer.dtype)
    if source is not None:
        array = as_array(ctx, source)
        if array.mask is not None or plan.mask is not None:
            _filtered_write(ctx, plan, target_index, array, buffer)
            return
        axes, body = broadcast_to(ctx, array, tuple(a.extent for a in plan.axes))
    else:
        axes, body = ctx.axes(tuple(a.extent for a in plan.axes)), scalar_expr(ctx, value)
        if isinstance(value, Static) and is_number(value):
            _range_checked(ctx, value, buffer.dtype)
    index = tuple(
        b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target_index.index
    )
    mask = None
    if plan.mask is not None:
        mask = b.substitute(plan.mask, {plan.axes[0].name: axes[0].var})
    ctx.before_write(buffer.name)
    body = b.cast(body, buffer.dtype)
    if not axes and mask is None:
        if body != Load(buffer.name, index, buffer.dtype):
            ctx.emit(n.Store(buffer.name, index, body))
        return
    ctx.emit(n.Write(buffer.name, axes, index, body, mask))


def _constant_array(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, np.ndarray)


def _range_checked(ctx: Context, value: Static, dtype: str) -> None:
    if is_python_number(value) and dtype.startswith(("int", "uint")) and isinstance(value.value, int):
        info = np.iinfo(dtype)
        if not info.min <= value.value <= info.max:
            ctx.guard(b.FALSE, "OverflowError", f"Python integer {value.value} out of bounds for {dtype}")


def _same_kind(ctx: Context, op: str, value: Value, dtype: str) -> None:
    if isinstance(value, (Array, Scalar)) and not is_python_number(value):
        source = "int64" if value.dtype == "index" else value.dtype
        if not np.can_cast(source, dtype, "same_kind"):
            ctx.guard(
                b.FALSE, "TypeError",
                f"Cannot cast ufunc '{op}' output from dtype('{source}') to dtype('{dtype}') with casting rule 'same_kind'",
            )  # fmt: skip


def _filtered_write(ctx: Context, plan: Any, target: Load, array: Array, buffer: n.Buffer) -> None:
    """A store through a mask or of a filter: element by element in order."""
    if plan.mask is None:
        value = ctx.compact(array, "kept")
        axes, body = broadcast_to(ctx, value, tuple(a.extent for a in plan.axes))
        index = tuple(
            b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target.index
        )
        ctx.before_write(buffer.name)
        ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, buffer.dtype)))
        return
    same = (
        array.mask is not None and array.ndim == len(plan.axes) and array.dims == tuple(a.extent for a in plan.axes)
        and array.mask_at(plan.axes[0].var) == plan.mask
    )  # fmt: skip
    if same or (array.mask is None and array.ndim < len(plan.axes)) or all(b.constant(d) == 1 for d in array.dims):
        plain = replace(array, mask=None) if same else array
        while plain.ndim > len(plan.axes):
            plain = Array(plain.axes[1:], plain.at((b.ZERO, *(a.var for a in plain.axes[1:]))))
        axes, body = broadcast_to(ctx, plain, tuple(a.extent for a in plan.axes))
        index = tuple(
            b.substitute(i, {o.name: a.var for o, a in zip(plan.axes, axes, strict=True)}) for i in target.index
        )
        mask = b.substitute(plan.mask, {plan.axes[0].name: axes[0].var})
        ctx.before_write(buffer.name)
        ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, buffer.dtype), mask))
        return
    # positions of the mask first, then one value a position
    positions = ctx.compact(Array(plan.axes[:1], b.cast(plan.axes[0].var, "int64"), plan.mask), "where")
    value = ctx.compact(array, "kept") if array.mask is not None else array
    dims = (positions.dims[0], *(a.extent for a in plan.axes[1:]))
    if value.ndim == len(dims):
        ctx.guard(
            b.either(b.compare("equal", value.dims[0], dims[0]), b.compare("equal", value.dims[0], b.ONE)), "ValueError",
            "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the mask "
            "is true", (value.dims[0], dims[0]),
        )  # fmt: skip
    axes, body = broadcast_to(ctx, value, dims)
    at = b.as_index(positions.at((axes[0].var,)))
    index = tuple(
        b.substitute(i, {plan.axes[0].name: at, **{o.name: a.var for o, a in zip(plan.axes[1:], axes[1:], strict=True)}})
        for i in target.index
    )  # fmt: skip
    ctx.before_write(buffer.name)
    ctx.emit(n.Write(buffer.name, axes, index, b.cast(body, buffer.dtype)))


# --- lists


def append(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.append``: one more element behind the others."""
    count = b.size(owner.count)
    if isinstance(value, (Array, Seq, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        array = as_array(ctx, value)
        array = ctx.compact(array, "row") if array.mask is not None else array
        _list_type(ctx, owner, array.dtype, array.dims, False)
        ctx.emit(n.Write(owner.buffer, array.axes, (count, *(a.var for a in array.axes)), b.cast(array.body, owner.dtype)))
    else:
        expr = scalar_expr(ctx, value)
        _list_type(ctx, owner, expr.dtype, (), is_python_number(value))
        low_high = ctx.range_of(expr)
        buffer = ctx.buffers[owner.buffer]
        if low_high is None:
            ctx.buffers[owner.buffer] = replace(buffer, low=None, high=None)
        elif buffer.low is not None and (buffer.low, buffer.high) != low_high:
            ctx.buffers[owner.buffer] = replace(
                buffer, low=b.minimum(buffer.low, low_high[0]), high=b.maximum(buffer.high, low_high[1])  # type: ignore[arg-type]
            )
        ctx.emit(n.Store(owner.buffer, (count,), b.cast(expr, owner.dtype)))
    ctx.emit(n.Assign(owner.count, b.add(count, b.ONE)))


def _list_type(ctx: Context, owner: GrowingList, dtype: str, dims: tuple[Expr, ...], python: bool) -> None:
    trips: Expr | None = b.ONE
    for trip in ctx.trips[owner.depth :]:
        trips = None if trips is None or trip is None else b.mul(trips, trip)
    bound = ctx.bounds.get(owner.count)
    known = owner.buffer in ctx.buffers
    if trips is None:
        ctx.deferred = ctx.deferred or ctx.error(
            "a list whose length cannot be bounded", "loop over a range, or over an array that every iteration shortens"
        )
        trips = b.ONE
    if not known:
        owner.dtype, owner.dims, owner.python = dtype, dims, python
        bound = trips if bound is None or b.constant(bound) == 0 else b.add(bound, trips)
        ctx.buffers[owner.buffer] = n.Buffer(owner.buffer, dtype, (bound, *dims), line=ctx.span.line, low=b.ZERO, high=b.ZERO)
        ctx.bounds[owner.count] = bound
        return
    buffer = ctx.buffers[owner.buffer]
    if (owner.dtype, owner.dims) != (dtype, dims) or owner.python != python:
        if dims == owner.dims and not dims and owner.python and python and {dtype, owner.dtype} <= {"index", "float64"}:
            ctx.fail("a list of ints and floats", "append float(x)")
        ctx.fail("a list whose elements differ in type", "append elements of one type and shape")
    assert bound is not None
    bound = b.add(bound, trips)
    ctx.buffers[owner.buffer] = replace(buffer, dims=(bound, *dims))
    ctx.bounds[owner.count] = bound


def extend(ctx: Context, owner: GrowingList, value: Value) -> None:
    if isinstance(value, Seq):
        for item in value.items:
            append(ctx, owner, item)
        return
    ctx.fail("extending a list by an array", "append in a loop, or use np.concatenate")


# --- iteration


def iteration(ctx: Context, source: Value) -> Any:
    """What a `for` runs over: a list of values, or (start, stop, step, element at a position)."""
    match source:
        case Seq(items):
            return list(items)
        case Static(tuple() | list() | str() as items):
            return [Static(i) for i in items]
        case Range(start, stop, step):
            return start, stop, step, lambda v: Scalar(v, True)
        case Array() | Static(np.ndarray()) | Concatenation():
            array = as_array(ctx, source)
            array = ctx.compact(array, "kept") if array.mask is not None else array
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "iteration over a 0-d array")
            return b.ZERO, array.dims[0], b.ONE, lambda v: _row(array, v)
        case GrowingList():
            array = list_array(ctx, source)
            return b.ZERO, b.size(source.count), b.ONE, lambda v: (
                replace(_row(array, v), python=source.python) if not source.dims else _row(array, v)  # type: ignore[call-arg]
            )
        case Method(receiver, "enumerate"):
            assert isinstance(receiver, Seq)
            inner = iteration(ctx, receiver.items[0])
            offset = receiver.items[1]
            if isinstance(inner, list):
                first = constant_int(ctx, offset, "enumerate's start")
                return [Seq((Static(first + k), item)) for k, item in enumerate(inner)]
            start, stop, step, element = inner
            number = b.as_index(scalar_expr(ctx, offset))

            def numbered(v: Expr) -> Value:
                count = b.floordiv(b.sub(v, start), step) if step != b.ONE else b.sub(v, start)
                return Seq((Scalar(b.add(count, number), True), element(v)))

            return start, stop, step, numbered
        case Method(receiver, "zip"):
            assert isinstance(receiver, Seq)
            inners = [iteration(ctx, item) for item in receiver.items]
            if all(isinstance(i, list) for i in inners):
                return [Seq(tuple(items)) for items in zip(*inners, strict=False)]
            counted: list[tuple[Expr, Any]] = []
            for i in inners:
                if isinstance(i, list):
                    table = as_array(ctx, Seq(tuple(i)))
                    counted.append((b.index(len(i)), lambda v, t=table: _row(t, v)))
                else:
                    start, stop, step, element = i
                    from transkern.frontend.trips import trip_count

                    counted.append((
                        trip_count(start, stop, step),
                        lambda v, s=start, t=step, e=element: e(b.add(s, b.mul(t, v))),
                    ))  # fmt: skip
            length = counted[0][0]
            for other, _ in counted[1:]:
                length = b.minimum(length, other)
            return b.ZERO, length, b.ONE, lambda v: Seq(tuple(e(v) for _, e in counted))
        case Method(receiver, "reversed"):
            inner = iteration(ctx, receiver)
            if isinstance(inner, list):
                return inner[::-1]
            start, stop, step, element = inner
            from transkern.frontend.trips import trip_count

            count = trip_count(start, stop, step)
            last = b.add(start, b.mul(step, b.sub(count, b.ONE)))
            return last, b.sub(start, step if b.constant(step) in (1, -1) else step), b.neg(step), element
        case _:
            ctx.fail(f"a loop over {describe(source)}")


def _row(array: Array, position: Expr) -> Value:
    body = array.at((position, *(a.var for a in array.axes[1:])))
    return Scalar(body) if array.ndim == 1 else Array(array.axes[1:], body, view=array.view)


def contains(ctx: Context, value: Value, container: Value) -> Value:
    """``value in container``."""
    match container:
        case Seq(items):
            if all(isinstance(i, Static) for i in items) and isinstance(value, Static):
                return Static(value.value in [i.value for i in items])  # type: ignore[union-attr]
            result: Expr = b.FALSE
            for i in items:
                result = b.either(result, scalar_expr(ctx, apply(ctx, "equal", [value, i], operator_call=True)))
            return Scalar(result, True)
        case Static(v):
            if isinstance(value, Static):
                return Static(value.value in v)
        case Array() | GrowingList():
            array = as_array(ctx, container)
            return Scalar(scalar_expr(ctx, reduce(ctx, "any", as_array(ctx, apply(ctx, "equal", [array, value])), None, False)), True)
        case _:
            pass
    ctx.fail(f"`in` of {describe(container)}")


# --- matrix products, sorts: the library's


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
        axis = Axis(ctx.fresh("r"), inner_x)
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
    from transkern.frontend.elementwise import broadcast_dims, stretched

    batch = ctx.axes(broadcast_dims(ctx, [tuple(a.extent for a in batch_x), tuple(a.extent for a in batch_y)])) if batch_x or batch_y else ()
    rows = ctx.axes((x.dims[-2],)) if x.ndim > 1 else ()
    columns = ctx.axes((y.dims[-1],)) if y.ndim > 1 else ()
    axis = Axis(ctx.fresh("r"), inner_x)
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


def _sort(ctx: Context, name: str, value: Array, axis: int, kind: str) -> Array:
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


# --- attributes


def attribute(ctx: Context, value: Value, name: str) -> Value:
    match value:
        case Known(path):
            found = known_object(f"{path}.{name}")
            if isinstance(found, Known) and path in ("numpy", "math") and not hasattr(np if path == "numpy" else math, name):
                ctx.fail(f"`{path}` has no `{name}`")
            return found
        case Static(np.dtype() as dtype):
            return Static(getattr(dtype, name))
        case Static(v) if name in ("eps", "max", "min", "tiny", "resolution", "bits", "smallest_normal"):
            return Static(getattr(v, name))
        case Static(str()):
            return Method(value, name)
        case Array() | GrowingList() | Static(np.ndarray()) | Scalar() | Concatenation() | Static():
            if isinstance(value, GrowingList):
                return Method(value, name)
            if name in ("shape", "ndim", "size", "T", "dtype", "real", "imag", "flat", "nbytes", "itemsize"):
                return _property(ctx, as_array(ctx, value), name, value)
            return Method(value, name)
        case Seq() | Range():
            return Method(value, name)
        case _:
            ctx.fail(f"`.{name}` of {describe(value)}")


def _property(ctx: Context, value: Array, name: str, original: Value) -> Value:
    match name:
        case "shape":
            return Seq(tuple(_static_or(d) for d in shape_of(ctx, value)))
        case "ndim":
            return Static(value.ndim)
        case "size":
            return _static_or(b.product(shape_of(ctx, value)))
        case "T":
            return original if value.ndim < 2 else transpose(ctx, value, None)
        case "dtype":
            return Static(np.dtype(value.dtype))
        case "flat":
            return reshape(ctx, value, [Static(-1)])
        case "itemsize":
            return Static(np.dtype(value.dtype).itemsize)
        case "real" | "imag":
            if value.dtype.startswith("complex"):
                ctx.fail("complex numbers")
            return original if name == "real" else apply(ctx, "multiply", [value, Static(0)])
        case _:
            ctx.fail(f"`.{name}`")


def _static_or(dim: Expr) -> Value:
    value = b.constant(dim)
    return Static(value) if value is not None else Scalar(dim, True)


# --- calls


def scalar_type(ctx: Context, kind: type[np.generic], args: Sequence[Value]) -> Value:
    """``np.float32(x)``."""
    name = np.dtype(kind).name
    if not args:
        return Static(kind())
    value = args[0]
    if isinstance(value, Static) and is_number(value):
        with np.errstate(all="ignore"):
            try:
                return Static(kind(value.value))  # type: ignore[call-arg]
            except OverflowError as error:
                ctx.guard(b.FALSE, "OverflowError", str(error))
    if isinstance(value, Scalar):
        return Scalar(b.cast(value.expr, name))
    array = as_array(ctx, value)
    return Scalar(b.cast(array.body, name)) if array.ndim == 0 else convert(array, name)


def call(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    handler = _TABLE.get(path)
    if handler is not None:
        return handler(ctx, args, keywords)
    module, _, name = path.rpartition(".")
    if module == "numpy" and (op := _UFUNCS.get(name)) is not None:
        return _ufunc(ctx, op, args, keywords)
    if module == "math" and name in _MATH:
        return _math(ctx, name, args)
    from transkern.frontend.methods import METHODS, call_array_method

    if module == "numpy" and name in METHODS and args:
        return call_array_method(ctx, as_array(ctx, args[0]), name, args[1:], keywords)
    ctx.fail(f"cannot compile `{path.replace('numpy.', 'np.').replace('builtins.', '')}`: no kernel computes it",
             'keep it outside the compiled function, or use fallback="numpy"')  # fmt: skip


def call_method(ctx: Context, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    from transkern.frontend.methods import METHODS, call_array_method

    match receiver:
        case GrowingList():
            if name == "append" and len(args) == 1:
                append(ctx, receiver, args[0])
                return Static(None)
            if name == "extend" and len(args) == 1:
                extend(ctx, receiver, args[0])
                return Static(None)
            ctx.fail(f"`list.{name}` of a growing list", "append is supported")
        case Seq(items, kind):
            if name == "index" and isinstance(args[0], Static):
                for position, item in enumerate(items):
                    if isinstance(item, Static) and item.value == args[0].value:
                        return Static(position)
            if name == "copy":
                return receiver
            ctx.fail(f"`{kind}.{name}`")
        case Static(str() as text):
            if all(isinstance(a, Static) for a in args):
                return Static(getattr(text, name)(*[a.value for a in args]))  # type: ignore[union-attr]
        case Array() | Scalar() | Static() | Concatenation():
            if name in METHODS or name in ("item", "tolist"):
                if name == "item" and isinstance(receiver, (Scalar, Static)):
                    return _item(ctx, receiver)
                return call_array_method(ctx, as_array(ctx, receiver), name, args, keywords)
        case _:
            pass
    ctx.fail(f"`.{name}` of {describe(receiver)}", "see docs/language.md for what is supported")


def _item(ctx: Context, value: Value) -> Value:
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    expr = scalar_expr(ctx, value)
    if expr.dtype.startswith(("int", "uint")):
        return Scalar(b.as_index(expr), True)
    if expr.dtype.startswith("float"):
        return Scalar(b.cast(expr, "float64"), True)
    return Scalar(expr, True)


def _ufunc(ctx: Context, op: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    keywords = dict(keywords)
    out = keywords.pop("out", None)
    dtype = keywords.pop("dtype", None)
    for key in keywords:
        ctx.fail(f"`np.{op}` with `{key}=`", "supported: out=, dtype=")
    arity = OPS[op].arity
    if len(args) == arity + 1 and out is None:
        out, args = args[-1], args[:-1]
    if len(args) != arity:
        ctx.fail(f"np.{op} takes {arity} argument{'s' if arity > 1 else ''}, {len(args)} given")
    result = apply(ctx, op, args, dtype_of(ctx, dtype, "") or None)
    if out is None or (isinstance(out, Static) and out.value is None):
        return result
    if isinstance(out, Seq):
        out = out.items[0]
    if not isinstance(out, Array) or not out.view:
        ctx.fail("`out=` that is not an array with memory of its own")
    write(ctx, out, [Static(Ellipsis)], result, casting=op)
    return out


_UFUNCS = {name: name for name in OPS if name not in ("where", "cast", "and_then", "or_else")}
_UFUNCS |= {
    "abs": "absolute", "true_divide": "divide", "mod": "remainder", "fabs": "absolute", "bitwise_not": "invert",
    "bitwise_invert": "invert", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power",
    "fix": "trunc", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip

_MATH = {
    "sqrt": "sqrt", "exp": "exp", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "fabs": "absolute",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "pow": "power", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "copysign": "copysign", "log": "log", "hypot": "hypot", "fmod": "fmod", "exp2": "exp2",
    "cbrt": "cbrt", "radians": "", "degrees": "",
}  # fmt: skip


def _math(ctx: Context, name: str, args: Sequence[Value]) -> Value:
    """`math`'s functions: on numbers only, with floats out and its domain errors."""
    exprs = [scalar_expr(ctx, a) for a in args]
    if all(isinstance(a, Static) for a in args):
        try:
            return Static(getattr(math, name)(*[a.value for a in args]))  # type: ignore[union-attr]
        except ValueError as error:
            ctx.guard(b.FALSE, "ValueError", str(error))
    if name in ("floor", "ceil", "trunc"):
        if not exprs[0].dtype.startswith("float"):
            return Scalar(b.as_index(exprs[0]), True)
        return Scalar(b.cast(Apply(name, (b.cast(exprs[0], "float64"),), "float64"), "index"), True)
    floats = [ctx.let(b.cast(e, "float64"), "x") for e in exprs]
    if name in ("radians", "degrees"):
        factor = math.pi / 180 if name == "radians" else 180 / math.pi
        return Scalar(Apply("multiply", (floats[0], Const(factor, "float64")), "float64"), True)
    if name == "log" and len(floats) == 2:
        top, bottom = (Apply("log", (f,), "float64") for f in floats)
        return Scalar(Apply("divide", (top, bottom), "float64"), True)
    zero = Const(0.0, "float64")
    if name in ("sqrt", "log", "log2", "log10"):
        bad = Apply("less" if name == "sqrt" else "less_equal", (floats[0], zero), "bool")
        text = "expected a nonnegative input" if name == "sqrt" else "expected a positive input"
        ctx.guard(b.logical_not(bad), "ValueError", text)
    result = "bool" if OPS[_MATH[name]].result else "float64"
    return Scalar(Apply(_MATH[name], tuple(floats), result), True)


# --- tables of the functions that are not ufuncs

_TABLE: dict[str, Callable[[Context, Sequence[Value], Mapping[str, Value]], Value]] = {}


def handles(*paths: str, names: str = "") -> Callable[[Any], Any]:
    """Registers a handler for NumPy functions with the parameters `names`."""

    def register(handler: Callable[[Context, Arguments], Value]) -> Any:
        for path in paths:

            def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value], path: str = path) -> Value:
                return handler(ctx, Arguments(ctx, path.replace("numpy.", "np.").replace("builtins.", ""), names.split(), args, keywords))

            _TABLE[path] = run
        return handler

    return register


@handles("numpy.where", names="condition x y")
def _where(ctx: Context, a: Arguments) -> Value:
    condition = a.need("condition")
    if a.get("x") is None:
        mask = as_array(ctx, condition)
        if mask.mask is not None:
            mask = ctx.compact(mask, "mask")
        return Seq(tuple(nonzero_positions(ctx, _as_bool(mask))))
    return _select(ctx, condition, a.need("x"), a.need("y"))


def _as_bool(value: Array) -> Array:
    from transkern.frontend.elementwise import nonzero

    return replace(value, body=nonzero(value.body), view=False, identity="")


def _select(ctx: Context, condition: Value, x: Value, y: Value) -> Value:
    from transkern.frontend.elementwise import align, nonzero

    x, y = (v if isinstance(v, (Static, Scalar, Array)) and not _constant_array(v) else as_array(ctx, v) for v in (x, y))
    dtype = result_type(ctx, [x, y])
    condition = condition if isinstance(condition, (Scalar, Array)) or is_number(condition) else as_array(ctx, condition)
    elements, axes, mask, scalar = align(ctx, [condition, x, y])
    body = b.where(nonzero(elements[0]), b.cast(elements[1], dtype), b.cast(elements[2], dtype))
    return Array((), body) if scalar else Array(axes, body, mask)


@handles("numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere", names="a")
def _nonzero(ctx: Context, a: Arguments) -> Value:
    mask = _as_bool(a.array("a"))
    if mask.mask is not None:
        mask = ctx.compact(mask, "mask")
    if a.name == "np.flatnonzero":
        return nonzero_positions(ctx, reshape(ctx, mask, [Static(-1)]))[0]
    positions = nonzero_positions(ctx, mask)
    if a.name == "np.argwhere":
        return concatenate(ctx, [expand(ctx, ctx.compact(p, "where"), 1) for p in positions], 1)
    return Seq(tuple(positions))


@handles("numpy.clip", names="a a_min a_max out min max")
def _clip(ctx: Context, a: Arguments) -> Value:
    value = a.need("a")
    low, high = a.get("a_min") or a.get("min"), a.get("a_max") or a.get("max")
    result: Value = value
    if low is not None:
        result = apply(ctx, "maximum", [result, low])
    if high is not None:
        result = apply(ctx, "minimum", [result, high])
    out = a.get("out")
    if out is not None:
        assert isinstance(out, Array)
        write(ctx, out, [Static(Ellipsis)], result)
        return out
    return result


@handles("numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray", names="object dtype copy order ndmin")
def _array(ctx: Context, a: Arguments) -> Value:
    value = a.need("object")
    if isinstance(value, Static) and value.value is None:
        ctx.fail("np.array(None)")
    array = as_array(ctx, value)
    dtype = dtype_of(ctx, a.get("dtype"), array.dtype)
    if dtype != array.dtype:
        return replace(convert(array, dtype), empty_dtype=None)
    if a.get("dtype") is not None:
        array = replace(array, empty_dtype=None)
    if a.name == "np.array" and array.view and not isinstance(value, GrowingList):
        return ctx.define(replace(array, identity=""), "copy")
    return array


@handles("numpy.zeros", "numpy.ones", "numpy.empty", names="shape dtype order")
def _filled(ctx: Context, a: Arguments) -> Value:
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    value = 1 if a.name == "np.ones" else 0
    return full(ctx, dims_of(ctx, a.need("shape")), b.cast(Const(value, "int64"), dtype))


@handles("numpy.full", names="shape fill_value dtype order")
def _full(ctx: Context, a: Arguments) -> Value:
    value = a.need("fill_value")
    expr = scalar_expr(ctx, value)
    dtype = dtype_of(ctx, a.get("dtype"), "int64" if expr.dtype == "index" else expr.dtype)
    return full(ctx, dims_of(ctx, a.need("shape")), b.cast(expr, dtype))


@handles("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like", names="a dtype order subok shape")
def _filled_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    value = 1 if a.name == "np.ones_like" else 0
    dims = shape_of(ctx, model) if a.get("shape") is None else dims_of(ctx, a.need("shape"))
    return full(ctx, dims, b.cast(Const(value, "int64"), dtype))


@handles("numpy.full_like", names="a fill_value dtype order subok shape")
def _full_like(ctx: Context, a: Arguments) -> Value:
    model = a.array("a")
    dtype = dtype_of(ctx, a.get("dtype"), model.dtype)
    return full(ctx, shape_of(ctx, model), b.cast(scalar_expr(ctx, a.need("fill_value")), dtype))


@handles("numpy.eye", "numpy.identity", names="N M k dtype")
def _eye(ctx: Context, a: Arguments) -> Value:
    rows = b.as_index(scalar_expr(ctx, a.need("N")))
    columns = rows if a.get("M") is None else b.as_index(scalar_expr(ctx, a.need("M")))
    shift = b.ZERO if a.get("k") is None else b.as_index(scalar_expr(ctx, a.need("k")))
    dtype = dtype_of(ctx, a.get("dtype"), "float64")
    value = full(ctx, (rows, columns), Const(0, dtype))
    i, j = value.axes
    one, zero = (b.cast(Const(v, "int64"), dtype) for v in (1, 0))
    return replace(value, body=b.where(b.compare("equal", j.var, b.add(i.var, shift)), one, zero))


@handles("numpy.arange", names="start stop step dtype")
def _arange(ctx: Context, a: Arguments) -> Value:
    start, stop, step = a.need("start"), a.get("stop"), a.get("step") or Static(1)
    if stop is None:
        start, stop = Static(0), start
    dtype = a.get("dtype")
    return arange(ctx, start, stop, step, None if dtype is None else dtype_of(ctx, dtype, ""))


@handles("numpy.linspace", names="start stop num endpoint retstep dtype")
def _linspace(ctx: Context, a: Arguments) -> Value:
    dtype = a.get("dtype")
    return linspace(
        ctx, a.need("start"), a.need("stop"), a.get("num") or Static(50), a.flag("endpoint", True),
        None if dtype is None else dtype_of(ctx, dtype, ""),
    )  # fmt: skip


def _items_of(ctx: Context, value: Value) -> Sequence[Value]:
    match value:
        case Seq(items):
            return items
        case Array(mask=None) if b.constant(value.dims[0]) is not None:
            return [array_item(ctx, value, [Static(k)]) for k in range(b.constant(value.dims[0]) or 0)]
        case _:
            ctx.fail(f"the pieces of {describe(value)}", "give a tuple or list of arrays")


@handles("numpy.concatenate", "numpy.hstack", "numpy.vstack", "numpy.column_stack", "numpy.row_stack", names="arrays axis")
def _concatenate(ctx: Context, a: Arguments) -> Value:
    parts = list(_items_of(ctx, a.need("arrays")))
    match a.name:
        case "np.concatenate":
            given = a.given.get("axis")
            axis = 0 if given is None else None if isinstance(given, Static) and given.value is None else constant_int(ctx, given, "an axis")
            return concatenate(ctx, parts, axis)
        case "np.hstack":
            arrays = [_at_least(ctx, p, 1) for p in parts]
            return concatenate(ctx, arrays, 0 if arrays[0].ndim == 1 else 1)
        case "np.column_stack":
            arrays = [as_array(ctx, p) for p in parts]
            return concatenate(ctx, [expand(ctx, v, 1) if v.ndim == 1 else v for v in arrays], 1)
        case _:
            return concatenate(ctx, [_at_least(ctx, p, 2) for p in parts], 0)


def _at_least(ctx: Context, value: Value, ndim: int) -> Array:
    array = as_array(ctx, value)
    while array.ndim < ndim:
        array = expand(ctx, array, 0)
    return array


@handles("numpy.stack", names="arrays axis")
def _stack(ctx: Context, a: Arguments) -> Value:
    return stack(ctx, _items_of(ctx, a.need("arrays")), constant_int(ctx, a.get("axis") or Static(0), "an axis"))


@handles("numpy.split", "numpy.array_split", "numpy.hsplit", "numpy.vsplit", names="ary indices_or_sections axis")
def _split(ctx: Context, a: Arguments) -> Value:
    value = a.array("ary")
    axis = constant_int(ctx, a.get("axis") or Static(0), "an axis")
    if a.name == "np.hsplit":
        axis = 0 if value.ndim == 1 else 1
    return split(ctx, value, a.need("indices_or_sections"), axis, a.name != "np.array_split")


@handles("numpy.expand_dims", names="a axis")
def _expand_dims(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    return expand(ctx, value, normal_axis(ctx, constant_int(ctx, a.need("axis"), "an axis"), value.ndim + 1))


@handles("numpy.broadcast_to", names="array shape")
def _broadcast_to(ctx: Context, a: Arguments) -> Value:
    return shaping.broadcast_arrays_to(ctx, a.array("array"), dims_of(ctx, a.need("shape")))


@handles("numpy.tile", names="A reps")
def _tile(ctx: Context, a: Arguments) -> Value:
    return tile(ctx, a.array("A"), dims_of(ctx, a.need("reps")))


@handles("numpy.flip", "numpy.flipud", "numpy.fliplr", names="m axis")
def _flip(ctx: Context, a: Arguments) -> Value:
    value = a.array("m")
    axis = {"np.flipud": Static(0), "np.fliplr": Static(1)}.get(a.name) or a.get("axis")
    return flip(ctx, value, axes_of(ctx, axis, value.ndim))


@handles("numpy.roll", names="a shift axis")
def _roll(ctx: Context, a: Arguments) -> Value:
    value, axis = a.array("a"), a.get("axis")
    return roll(ctx, value, a.need("shift"), None if axis is None else normal_axis(ctx, constant_int(ctx, axis, "an axis"), value.ndim))


@handles("numpy.outer", names="a b")
def _outer(ctx: Context, a: Arguments) -> Value:
    x = reshape(ctx, a.array("a"), [Static(-1), Static(1)])
    y = reshape(ctx, a.array("b"), [Static(1), Static(-1)])
    return apply(ctx, "multiply", [x, y])


@handles("numpy.matmul", "numpy.dot", "numpy.inner", "numpy.vdot", names="a b")
def _matmul(ctx: Context, a: Arguments) -> Value:
    x, y = a.need("a"), a.need("b")
    p, q = as_array(ctx, x), as_array(ctx, y)
    if p.ndim == 0 or q.ndim == 0:
        return apply(ctx, "multiply", [x, y])
    if a.name in ("np.dot", "np.inner") and (p.ndim > 2 or q.ndim > 2):
        ctx.fail(f"`{a.name}` of more than two dimensions", "use @ or np.einsum")
    if a.name == "np.inner" and q.ndim == 2:
        q = transpose(ctx, q, None)
    return matmul(ctx, p, q)


@handles("numpy.delete", names="arr obj axis")
def _delete(ctx: Context, a: Arguments) -> Value:
    value = a.array("arr")
    axis_given = a.get("axis")
    if axis_given is None and value.ndim > 1:
        value = reshape(ctx, value, [Static(-1)])
    if value.mask is not None:
        value = ctx.compact(value, "kept")
    axis = 0 if axis_given is None else normal_axis(ctx, constant_int(ctx, axis_given, "an axis"), value.ndim)
    if axis != 0:
        moved = [axis, *[d for d in range(value.ndim) if d != axis]]
        value = transpose(ctx, value, moved)
    removed = a.need("obj")
    pieces = removed.pieces if isinstance(removed, Concatenation) else (
        (removed,) if isinstance(removed, Scalar) or is_number(removed) else (as_array(ctx, removed),)
    )  # fmt: skip
    result = _without(ctx, value, pieces)
    if axis == 0:
        return result
    stored = ctx.compact(result, "kept") if result.mask is not None else result
    back = list(range(1, axis + 1)) + [0] + list(range(axis + 1, value.ndim))
    return transpose(ctx, stored, back)


def _without(ctx: Context, value: Array, pieces: Sequence[Value]) -> Array:
    """`value` without the positions in `pieces`, as a filter."""
    extent = value.dims[0]
    low, high = b.ZERO, extent
    masks: list[Callable[[Expr], Expr]] = []
    flags: Array | None = None
    for piece in pieces:
        single = _single_position(ctx, piece)
        if single is not None:
            from transkern.frontend.indexing import scalar_position

            at = scalar_position(ctx, Scalar(single), extent, 0)
            if b.difference(at, b.sub(high, b.ONE)) == 0:
                high = at
            elif at == low:
                low = b.add(low, b.ONE)
            else:
                masks.append(lambda k, at=at: b.compare("not_equal", k, at))
            continue
        assert isinstance(piece, Array)
        if piece.mask is not None and piece.body == b.cast(piece.axes[0].var, "int64"):
            masks.append(_not_selected(piece, extent))
            continue
        if flags is None:
            (axis,) = ctx.axes((extent,))
            flags = ctx.define(Array((axis,), b.TRUE), "keep")
        stored = ctx.compact(piece, "removed") if piece.mask is not None else piece
        if stored.dtype == "bool":
            masks.append(lambda k, s=stored: b.logical_not(s.at((k,))))
            continue
        write(ctx, flags, [stored], Static(False))
    kept = b.sub(high, low)
    axes = ctx.axes((b.maximum(kept, b.ZERO), *value.dims[1:]))
    position = b.add(axes[0].var, low)
    body = value.at((position, *(x.var for x in axes[1:])))
    mask: Expr = b.TRUE if flags is None else flags.at((position,))
    for m in masks:
        with ctx.axis_ranges(axes[:1]):
            mask = b.both(mask, m(position))
    return Array(axes, body) if mask == b.TRUE else Array(axes, body, mask)


def _not_selected(piece: Array, extent: Expr) -> Callable[[Expr], Expr]:
    """The positions that ``np.where(mask)[0]`` does not name."""
    domain = piece.dims[0]

    def keep(k: Expr) -> Expr:
        selected = piece.mask_at(k)
        terms, total = b.affine(k)
        (axis,) = terms
        del axis
        if domain == extent or total == 0:  # the domain ends where the kept range does, or is the whole
            return b.logical_not(selected)
        return b.either(b.compare("greater_equal", k, domain), b.logical_not(selected))

    return keep


def _single_position(ctx: Context, piece: Value) -> Expr | None:
    if isinstance(piece, Scalar) or is_number(piece):
        return b.as_index(scalar_expr(ctx, piece))
    if isinstance(piece, Array) and piece.mask is None and all(b.constant(d) == 1 for d in piece.dims):
        return b.as_index(scalar_expr(ctx, piece))
    return None


@handles("numpy.append", names="arr values axis")
def _append(ctx: Context, a: Arguments) -> Value:
    axis = a.get("axis")
    parts = [a.array("arr"), a.array("values")]
    if axis is None:
        parts = [reshape(ctx, p, [Static(-1)]) for p in parts]
        return concatenate(ctx, parts, 0)
    return concatenate(ctx, parts, constant_int(ctx, axis, "an axis"))


@handles("numpy.count_nonzero", names="a axis keepdims")
def _count_nonzero(ctx: Context, a: Arguments) -> Value:
    value = _as_bool(a.array("a"))
    result = reduce(ctx, "sum", convert(value, "int64"), a.get("axis"), a.flag("keepdims"), "int64", "count")
    return Scalar(b.as_index(result.expr), True) if isinstance(result, Scalar) else result


@handles("numpy.average", names="a axis weights")
def _average(ctx: Context, a: Arguments) -> Value:
    weights = a.get("weights")
    if weights is None:
        return mean(ctx, a.array("a"), a.get("axis"), False)
    product = apply(ctx, "multiply", [a.array("a"), weights])
    total = reduce(ctx, "sum", as_array(ctx, product), a.get("axis"), False)
    scale = reduce(ctx, "sum", as_array(ctx, weights), a.get("axis"), False)
    return apply(ctx, "divide", [total, scale])


@handles("numpy.diff", names="a n axis")
def _diff(ctx: Context, a: Arguments) -> Value:
    value = a.array("a")
    times = constant_int(ctx, a.get("n") or Static(1), "n")
    axis = normal_axis(ctx, constant_int(ctx, a.get("axis") or Static(-1), "an axis"), value.ndim)
    whole = SliceValue(None, None, None)
    for _ in range(times):
        upper = array_item(ctx, value, [*[whole] * axis, SliceValue(Static(1), None, None)])
        lower = array_item(ctx, value, [*[whole] * axis, SliceValue(None, Static(-1), None)])
        op = "not_equal" if value.dtype == "bool" else "subtract"
        value = as_array(ctx, apply(ctx, op, [upper, lower]))
    return value


@handles("numpy.triu", "numpy.tril", names="m k")
def _triangle(ctx: Context, a: Arguments) -> Value:
    value = a.array("m")
    shift = b.as_index(scalar_expr(ctx, a.get("k") or Static(0)))
    i, j = value.axes[-2:]
    edge = b.add(i.var, shift)
    keep = b.compare("greater_equal" if a.name == "np.triu" else "less_equal", j.var, edge)
    return Array(value.axes, b.where(keep, value.body, b.cast(Const(0, "int64"), value.dtype)))


@handles("numpy.finfo", "numpy.iinfo", names="dtype")
def _limits(ctx: Context, a: Arguments) -> Value:
    value = a.need("dtype")
    name = value.dtype if isinstance(value, (Array, Scalar)) else dtype_of(ctx, value, "float64")
    return Static(np.finfo(name) if a.name == "np.finfo" else np.iinfo(name))


@handles("numpy.dtype", names="dtype")
def _dtype(ctx: Context, a: Arguments) -> Value:
    return Static(np.dtype(dtype_of(ctx, a.need("dtype"), "float64")))


@handles("numpy.shape", "numpy.ndim", "numpy.size", names="a")
def _shape(ctx: Context, a: Arguments) -> Value:
    return attribute(ctx, a.array("a"), a.name.removeprefix("np."))


@handles("numpy.deg2rad", "numpy.radians", "numpy.rad2deg", "numpy.degrees", names="x")
def _angles(ctx: Context, a: Arguments) -> Value:
    value = a.need("x")
    array = value if isinstance(value, (Scalar, Array)) else as_array(ctx, value)
    to_radians = a.name in ("np.deg2rad", "np.radians")
    result = apply(ctx, "multiply", [apply(ctx, "positive", [array], None), Static(math.pi / 180 if to_radians else 180 / math.pi)])
    return result


@handles("numpy.isclose", names="a b rtol atol")
def _isclose(ctx: Context, a: Arguments) -> Value:
    x, y = a.need("a"), a.need("b")
    tolerance = apply(ctx, "add", [
        a.get("atol") or Static(1e-8), apply(ctx, "multiply", [a.get("rtol") or Static(1e-5), apply(ctx, "absolute", [y])]),
    ])  # fmt: skip
    close = apply(ctx, "less_equal", [apply(ctx, "absolute", [apply(ctx, "subtract", [x, y])]), tolerance])
    finite = apply(ctx, "logical_and", [close, apply(ctx, "isfinite", [y])])
    return apply(ctx, "logical_or", [finite, apply(ctx, "equal", [x, y])])


# --- built-ins


@handles("builtins.len", names="obj")
def _len(ctx: Context, a: Arguments) -> Value:
    value = a.need("obj")
    match value:
        case Seq(items):
            return Static(len(items))
        case GrowingList(count=count):
            return Scalar(b.size(count), True)
        case Static(str() | tuple() | list() as items):
            return Static(len(items))
        case Range(start, stop, step):
            from transkern.frontend.trips import trip_count

            return _static_or(trip_count(start, stop, step))
        case _:
            array = as_array(ctx, value)
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "len() of unsized object")
            return _static_or(shape_of(ctx, array)[0])


@handles("builtins.range", names="start stop step")
def _range(ctx: Context, a: Arguments) -> Value:
    exprs = []
    for name in ("start", "stop", "step"):
        value = a.given.get(name)
        if value is None:
            continue
        e = scalar_expr(ctx, value)
        if e.dtype.startswith(("float", "complex")):
            ctx.guard(b.FALSE, "TypeError", "'float' object cannot be interpreted as an integer")
        exprs.append(ctx.let(b.as_index(e), "bound") if not _invariant(e) else b.as_index(e))
    if len(exprs) == 1:
        return Range(b.ZERO, exprs[0], b.ONE)
    return Range(exprs[0], exprs[1], exprs[2] if len(exprs) > 2 else b.ONE)


def _invariant(expr: Expr) -> bool:
    return not buffers_read(expr)


@handles("builtins.enumerate", names="iterable start")
def _enumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.need("iterable"), a.get("start") or Static(0))), "enumerate")


def _zip(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    return Method(Seq(tuple(args)), "zip")


_TABLE["builtins.zip"] = _zip


@handles("builtins.reversed", names="sequence")
def _reversed(ctx: Context, a: Arguments) -> Value:
    return Method(a.need("sequence"), "reversed")


@handles("builtins.int", "builtins.float", "builtins.bool", names="x")
def _convert(ctx: Context, a: Arguments) -> Value:
    kind = a.name
    value = a.given.get("x")
    if value is None:
        return Static({"int": 0, "float": 0.0, "bool": False}[kind])
    if isinstance(value, Static) and is_number(value):
        return Static({"int": int, "float": float, "bool": bool}[kind](value.value))
    if isinstance(value, Static) and isinstance(value.value, str):
        return Static({"int": int, "float": float, "bool": bool}[kind](value.value))
    if kind == "bool":
        return truth(ctx, value)
    expr = scalar_expr(ctx, value)
    if kind == "float":
        return Scalar(b.cast(expr, "float64"), True)
    if expr.dtype.startswith("float"):
        held = ctx.let(expr, "x")
        ctx.guard(b.logical_not(Apply("isnan", (held,), "bool")), "ValueError", "cannot convert float NaN to integer")
        ctx.guard(
            b.logical_not(Apply("isinf", (held,), "bool")), "OverflowError", "cannot convert float infinity to integer"
        )
        return Scalar(b.cast(held, "index"), True)
    return Scalar(b.as_index(expr), True)


@handles("builtins.abs", names="x")
def _abs(ctx: Context, a: Arguments) -> Value:
    return apply(ctx, "absolute", [a.need("x")], operator_call=True)


@handles("builtins.round", "numpy.round", "numpy.around", names="number ndigits")
def _round(ctx: Context, a: Arguments) -> Value:
    value, digits = a.need("number"), a.get("ndigits")
    if a.name == "round":
        if digits is not None:
            ctx.fail("round() with digits", "use np.round")
        expr = scalar_expr(ctx, value)
        if expr.dtype.startswith("float"):
            return Scalar(b.cast(Apply("rint", (expr,), expr.dtype), "index"), True)
        return Scalar(b.as_index(expr), True)
    from transkern.frontend.methods import rounded

    return rounded(ctx, value, digits)


def _extreme(name: str) -> Callable[[Context, Sequence[Value], Mapping[str, Value]], Value]:
    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Python's max and min: the first of equals, comparisons with NaN false."""
        if keywords:
            ctx.fail(f"`{name}` with `{next(iter(keywords))}=`")
        if len(args) == 1:
            if isinstance(args[0], Seq):
                args = args[0].items
            else:
                return reduce(ctx, name, as_array(ctx, args[0]), None, False)
        if all(isinstance(a, Static) and is_number(a) for a in args):
            return Static((max if name == "max" else min)(a.value for a in args))  # type: ignore[union-attr]
        from transkern.frontend.types_of_scalars import scalar_kind

        best = args[0]
        for other in args[1:]:
            kind = scalar_kind(best, other)
            if kind is None:
                ctx.fail(f"`{name}` of {describe(best)} and {describe(other)}", f"use np.{name}imum for arrays")
            x, y = b.cast(scalar_expr(ctx, best), kind[0]), b.cast(scalar_expr(ctx, other), kind[0])
            if kind[0] == "index":
                best = Scalar((b.maximum if name == "max" else b.minimum)(x, y), True)
            else:
                better = Apply("greater" if name == "max" else "less", (y, x), "bool")
                best = Scalar(b.where(better, y, x), kind[1])
        return best

    return run


_TABLE["builtins.max"], _TABLE["builtins.min"] = _extreme("max"), _extreme("min")


@handles("builtins.sum", names="iterable start")
def _sum(ctx: Context, a: Arguments) -> Value:
    total: Value = a.get("start") or Static(0)
    value = a.need("iterable")
    counted = iteration(ctx, value)
    if isinstance(counted, list):
        for item in counted:
            total = apply(ctx, "add", [total, item], operator_call=True)
        return total
    array = as_array(ctx, value)
    if array.ndim == 1:
        return reduce(ctx, "sum", array, None, False)
    return reduce(ctx, "sum", array, Static(0), False)


@handles("builtins.tuple", "builtins.list", names="iterable")
def _tuple(ctx: Context, a: Arguments) -> Value:
    value = a.given.get("iterable")
    if value is None:
        return Seq((), a.name)
    counted = iteration(ctx, value)
    if isinstance(counted, list):
        return Seq(tuple(counted), a.name)
    ctx.fail(f"`{a.name}` of {describe(value)}", "its length is known at run time only")


@handles("builtins.isinstance", names="obj classinfo")
def _isinstance(ctx: Context, a: Arguments) -> Value:
    value, kinds = a.need("obj"), a.need("classinfo")
    wanted = [kinds] if not isinstance(kinds, Seq) else list(kinds.items)
    mine = _python_type(ctx, value)
    for w in wanted:
        name = w.path.removeprefix("builtins.") if isinstance(w, Known) else getattr(getattr(w, "value", None), "__name__", "")
        if name in mine or name.removeprefix("numpy.") in mine:
            return Static(True)
    return Static(False)


def _python_type(ctx: Context, value: Value) -> set[str]:
    match value:
        case Array() | Concatenation():
            return {"ndarray"}
        case Static(v):
            return {c.__name__ for c in type(v).__mro__}
        case Scalar(expr, True):
            return {{"index": "int", "float64": "float", "bool": "bool", "complex128": "complex"}[expr.dtype]}
        case Scalar(expr, False):
            return {c.__name__ for c in np.dtype(expr.dtype).type.__mro__}
        case Seq(_, kind):
            return {kind}
        case GrowingList():
            return {"list"}
        case _:
            return set()


@handles("builtins.print", names="a b c d e f g h")
def _print(ctx: Context, a: Arguments) -> Value:
    ctx.fail("print in a compiled function", "return the values and print them outside")


_ = (static_expr, Var, Function)

"""What is chosen by conditions, where conditions hold, and what is brought between bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy import elementwise, outputs
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import apply, convert
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.numpy.shaping import reshape
from transkern.frontend.subscripts.arrays import nonzero_positions
from transkern.frontend.subscripts.storing import is_constant_array
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values import doubts, scalars
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.values import Array, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr
from transkern.versions import NUMPY_2_5

_NO_AXES = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
_NO_MASK = f"{_NO_AXES} If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."


@handles("numpy.where", names="condition x y")
def _where(ctx: Context, a: Arguments) -> Value:
    condition = a.need("condition")
    if "x" not in a.given:  # None is an object there
        mask = as_array(ctx, condition)
        if not mask.ndim:
            ctx.guard(b.FALSE, "ValueError", _NO_MASK if mask.dtype == "bool" else _NO_AXES)
        if mask.mask is not None:
            mask = ctx.compact(mask, "mask")
        return Seq(tuple(nonzero_positions(ctx, _as_bool(mask))))
    return _select(ctx, condition, a.need("x"), a.need("y"))


def _as_bool(value: Array) -> Array:
    return replace(value, body=scalars.nonzero(value.body), view=False, identity="")


def _select(ctx: Context, condition: Value, x: Value, y: Value) -> Value:
    x, y = (
        v if isinstance(v, (Static, Scalar, Array)) and not is_constant_array(v) else as_array(ctx, v) for v in (x, y)
    )
    dtype = result_type(ctx, [x, y])
    condition = (
        condition if isinstance(condition, (Scalar, Array)) or is_number(condition) else as_array(ctx, condition)
    )
    elements, axes, mask, scalar = elementwise.align(ctx, [condition, x, y])
    values = [
        # an integer must be one of the type, whether an element takes it or not
        elementwise.to_loop(ctx, e, dtype, isinstance(v, (Static, Scalar))) if NUMPY_2_5 else b.cast(e, dtype)
        for e, v in zip(elements[1:], (x, y), strict=True)
    ]
    body = b.where(scalars.nonzero(elements[0]), *values)
    return Array((), body) if scalar else Array(axes, body, mask)


@handles("numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere", names="a")
def nonzero(ctx: Context, a: Arguments) -> Value:
    mask = _as_bool(a.array("a"))
    if mask.mask is not None:
        mask = ctx.compact(mask, "mask")
    if not mask.ndim and a.name == "np.argwhere":
        ctx.fail(refusals.OPERANDS, "np.argwhere of a number", "make it an array: np.atleast_1d")
    if not mask.ndim and a.name != "np.flatnonzero":
        ctx.guard(b.FALSE, "ValueError", _NO_MASK if a.array("a").dtype == "bool" else _NO_AXES)
    if a.name == "np.flatnonzero":
        return nonzero_positions(ctx, reshape(ctx, mask, [Static(-1)]))[0]
    positions = nonzero_positions(ctx, mask)
    if a.name == "np.argwhere":
        (domain,) = positions[0].axes
        column = ctx.names.axis("d", b.index(len(positions)))
        found = [p.candidate((domain.var,)) for p in positions]
        return Array((domain, column), scalars.select(column.var, found), positions[0].mask)
    return Seq(tuple(positions))


@handles("numpy.clip", names="a a_min a_max out min max")
def _clip(ctx: Context, a: Arguments) -> Value:
    for one, other in (("a_min", "a_max"), ("a_max", "a_min")):
        if one in a.given and other not in a.given:
            ctx.guard(b.FALSE, "TypeError", f"clip() missing 1 required positional argument: '{other}'")
    low, high = a.optional("a_min") or a.optional("min"), a.optional("a_max") or a.optional("max")
    return a.result(clipped(ctx, a.need("a"), low, high, a.get("out")))


def clipped(ctx: Context, value: Value, low: Value | None, high: Value | None, out: Value | None = None) -> Value:
    """``np.clip``, as NumPy does it: one bound is `np.maximum` or `np.minimum`; of equal zeros the bound wins
    where one is an array of several elements or complex, and the value where both are numbers. (Where both are
    stretched along an axis, it depends on how NumPy goes through memory.)"""
    if is_python_number(value):
        value = Scalar(as_array(ctx, value).body)  # NumPy makes an array of it
    value = value if isinstance(value, (Static, Scalar)) else as_array(ctx, value)
    low, high = (_of_one_type(ctx, value, bound) for bound in (low, high))
    dtype = np.dtype(as_array(ctx, value).dtype)
    if dtype.kind in "iu":  # bounds that no value of the dtype exceeds
        info = np.iinfo(dtype)
        low = None if (known := _integer(low)) is not None and known <= info.min else low
        high = None if (known := _integer(high)) is not None and known >= info.max else high
        low, high = _brought_into(low, "maximum", info.min), _brought_into(high, "minimum", info.max)
    name = "positive" if low is high is None else "minimum" if low is None else "maximum" if high is None else "clip"
    if isinstance(out, Array) or name == "clip":
        given = [outputs.operand(ctx, v) for v in (value, low, high) if v is not None]
        outs = [out] if isinstance(out, Array) else []
        outputs.check_writable(ctx, outs)
        outputs.check_casts(ctx, name, given, outs)
        value, *bounds = outputs.fitting(ctx, given, outs)
        low = low if low is None else bounds[0]
        high = high if high is None else bounds[-1]
    numbers = all(is_one_element(bound) for bound in (low, high))
    for bound, op in ((low, "maximum"), (high, "minimum")):
        if bound is None:
            continue
        if low is not None and high is not None and (numbers or is_complex(result_type(ctx, [value, low, high]))):
            value = _bounded(ctx, value, bound, (low, high), "less" if op == "maximum" else "greater")
        else:
            value = apply(ctx, op, [value, bound])
    return apply(ctx, "positive", [value]) if low is None and high is None else value


def _of_one_type(ctx: Context, value: Value, bound: Value | None) -> Value | None:
    """A bound that is a number of Python's or of NumPy's, where the result is of one type of floats all the same."""
    if bound is None or not doubts.doubts_of([bound]) or doubts.doubts_of([value]):
        return bound
    assert isinstance(bound, Scalar)
    made = set(doubts.outcomes([value, bound], lambda given: result_type(ctx, given)))
    only = made.pop()
    return bound if made or not only.startswith("float") else Scalar(b.cast(bound.expr, only))


def is_one_element(value: Value | None) -> bool:
    one = isinstance(value, Array) and value.mask is None and all(b.constant(d) == 1 for d in value.dims)
    return one or isinstance(value, Scalar) or (value is not None and is_number(value))


def _ordered(x: Expr, y: Expr, op: str) -> Expr:
    """Whether a complex number is before another, where `np.less` and `np.greater` look for NaN first."""
    part = "float32" if x.dtype == "complex64" else "float64"
    (a, c), (p, q) = ([Apply(name, (z,), part) for name in ("real", "imag")] for z in (x, y))
    return b.where(b.compare("equal", a, p), b.compare(op, c, q), b.compare(op, a, p))


def _brought_into(bound: Value | None, op: str, limit: int) -> Value | None:
    """A bound that is a Python integer of run time: NumPy leaves out what no value of the array's type exceeds."""
    if not (isinstance(bound, Scalar) and bound.python and bound.dtype == "index") or not -(2**63) < limit < 2**63 - 1:
        return bound
    return replace(bound, expr=(b.maximum if op == "maximum" else b.minimum)(bound.expr, b.index(limit)))


def _integer(value: Value | None) -> int | None:
    """A constant of Python's type `int`."""
    return value.value if isinstance(value, Static) and type(value.value) is int else None


def _bounded(ctx: Context, value: Value, bound: Value, bounds: tuple[Value, Value], beyond: str) -> Value:
    dtype = result_type(ctx, [value, *bounds])
    elements, axes, mask, scalar = elementwise.align(ctx, [value, bound])
    x, limit = b.cast(elements[0], dtype), elementwise.to_loop(ctx, elements[1], dtype, number=True)
    if not isinstance(limit, Const) and not as_array(ctx, bound).ndim:
        limit = ctx.let(limit, "bound")
    wins: Expr = Apply(beyond, (x, limit), "bool")
    if is_complex(dtype):
        wins = b.logical_not(b.either(_ordered(limit, x, beyond), Apply("isnan", (x,), "bool")))
    if dtype.startswith("float") and not (isinstance(limit, Const) and limit.value == limit.value):
        wins = b.either(wins, Apply("isnan", (limit,), "bool"))
    body = b.where(wins, limit, x)
    return Scalar(body) if scalar else Array(axes, body, mask)


@handles("numpy.count_nonzero", names="a axis keepdims")
def _count_nonzero(ctx: Context, a: Arguments) -> Value:
    value = _as_bool(a.array("a"))
    result = reduce(ctx, "sum", convert(value, "int64"), a.get("axis"), a.flag("keepdims"), "int64", "count")
    if isinstance(result, Scalar) and not isinstance(np.count_nonzero(np.zeros(1)), np.generic):  # before NumPy 2.4
        return Scalar(b.as_index(result.expr), True)
    return result

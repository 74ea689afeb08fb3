"""NumPy's ufuncs: calls with `out=`, `where=` and `dtype=`, and their methods `reduce`, `accumulate`, `outer`, `at`, …

What has no op of its own is made of others in `COMPOSITE`; dtypes are NumPy's answer in any case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import align, apply, convert, loop_types, part, together
from transkern.frontend.numpy.reductions import apply_types, axes_of, check_loop, dtype_into, folded, reduce, sum_dtype
from transkern.frontend.numpy.shaping import expand, reshape, transpose
from transkern.frontend.numpy.sizes import constant_axis, dtype_of, normal_axis
from transkern.frontend.state import memory, stores
from transkern.frontend.subscripts.arrays import Plan, place
from transkern.frontend.subscripts.storing import is_repeated
from transkern.frontend.translate.arguments import Arguments, check_nones, into, kept_outputs
from transkern.frontend.values.broadcasting import broadcast_to, masks_agree
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import nonzero, scalar_expr
from transkern.frontend.values.strides import in_order_of
from transkern.frontend.values.values import Array, Known, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Load
from transkern.ir.ops import OPS
from transkern.ir.traverse import buffers_read, variables_read

Composite: TypeAlias = Callable[[Context, Sequence[Value]], Value]


def _float_of(ctx: Context, name: str, args: Sequence[Value]) -> list[Value]:
    """The operands in the type that the ufunc computes in."""
    loop, _ = loop_types(ctx, getattr(np, name), args, None)
    return [_as(ctx, a, t) for a, t in zip(args, loop, strict=True)]


def _as(ctx: Context, value: Value, dtype: str) -> Value:
    if isinstance(value, Scalar) or is_number(value):
        return Scalar(b.cast(scalar_expr(ctx, value), dtype))
    return convert(as_array(ctx, value), dtype)


def _where(ctx: Context, condition: Value, x: Value, y: Value) -> Value:
    dtype = result_type(ctx, [x, y])
    elements, axes, mask, scalar = align(ctx, [condition, x, y])
    body = b.where(nonzero(elements[0]), b.cast(elements[1], dtype), b.cast(elements[2], dtype))
    return Scalar(body) if scalar else Array(axes, body, mask)


def _heaviside(ctx: Context, args: Sequence[Value]) -> Value:
    x, h = _float_of(ctx, "heaviside", args)
    zero = Static(0)
    side = _where(ctx, apply(ctx, "less", [x, zero]), _like(ctx, x, 0.0), _like(ctx, x, 1.0))
    value = _where(ctx, apply(ctx, "equal", [x, zero]), h, side)
    return _where(ctx, apply(ctx, "isnan", [x]), x, value)


def _like(ctx: Context, model: Value, number: float) -> Value:
    return Scalar(Const(number, as_array(ctx, model).dtype))


def _logaddexp(ctx: Context, args: Sequence[Value], base: int = 0) -> Value:
    """NumPy's way: the larger operand plus the logarithm of one plus a small exponential."""
    x, y = _float_of(ctx, "logaddexp2" if base else "logaddexp", args)
    exp = "exp2" if base else "exp"
    gap = apply(ctx, "subtract", [x, y])
    size = apply(ctx, "exp" if not base else exp, [apply(ctx, "negative", [apply(ctx, "absolute", [gap])])])
    small = apply(ctx, "log1p", [size])
    if base:
        small = apply(ctx, "multiply", [_like(ctx, x, 1 / math.log(2)), small])
    larger = _where(ctx, apply(ctx, "greater", [gap, Static(0)]), x, y)
    value = apply(ctx, "add", [larger, small])
    value = _where(ctx, apply(ctx, "isnan", [gap]), gap, value)
    same = apply(ctx, "add", [x, _like(ctx, x, 1.0 if base else math.log(2))])
    return _where(ctx, apply(ctx, "equal", [x, y]), same, value)


def _divmod(ctx: Context, args: Sequence[Value]) -> Value:
    return Seq((apply(ctx, "floor_divide", args), apply(ctx, "remainder", args)))


def _modf(ctx: Context, args: Sequence[Value]) -> Value:
    (x,) = _float_of(ctx, "modf", args)
    whole = apply(ctx, "trunc", [x])
    rest = _where(ctx, apply(ctx, "isinf", [x]), _like(ctx, x, 0.0), apply(ctx, "subtract", [x, whole]))
    return Seq((apply(ctx, "copysign", [rest, x]), whole))


def _frexp(ctx: Context, args: Sequence[Value]) -> Value:
    """The exponent by the logarithm, of which a unit more or less is put right: the parts are exact."""
    (x,) = _float_of(ctx, "frexp", args)
    given = as_array(ctx, x).dtype
    wide = _as(ctx, x, "float32") if given == "float16" else x
    dtype = as_array(ctx, wide).dtype
    digits = np.finfo(dtype).nmant + 1
    usable = apply(ctx, "logical_and", [apply(ctx, "isfinite", [wide]), apply(ctx, "not_equal", [wide, Static(0)])])
    size = apply(ctx, "absolute", [wide])
    small = apply(ctx, "less", [size, _like(ctx, wide, float(np.finfo(dtype).tiny))])
    size = _where(ctx, small, apply(ctx, "multiply", [size, _like(ctx, wide, 2.0**digits)]), size)
    size = _where(ctx, usable, size, _like(ctx, wide, 1.0))
    exponent = _as(ctx, apply(ctx, "floor", [apply(ctx, "log2", [size])]), "int32")
    part = apply(ctx, "ldexp", [size, apply(ctx, "negative", [exponent])])
    large, low = (apply(ctx, op, [part, _like(ctx, wide, end)]) for op, end in (("greater_equal", 1.0), ("less", 0.5)))
    one, zero = Scalar(Const(1, "int32")), Scalar(Const(0, "int32"))
    shift = apply(ctx, "subtract", [_where(ctx, large, one, zero), _where(ctx, low, one, zero)])
    exponent = apply(ctx, "add", [exponent, shift])
    part = apply(ctx, "ldexp", [part, apply(ctx, "negative", [shift])])
    exponent = apply(ctx, "subtract", [exponent, _where(ctx, small, Scalar(Const(digits, "int32")), zero)])
    signed = apply(ctx, "copysign", [part, wide])
    return Seq((_as(ctx, _where(ctx, usable, signed, wide), given), _where(ctx, usable, exponent, zero)))


def _float_power(ctx: Context, args: Sequence[Value]) -> Value:
    base, exponent = args
    is_root = isinstance(exponent, Static) and exponent.value == 0.5
    if is_root and isinstance(base, Array) and not is_complex(base.dtype) and _raises_to_a_half():
        x = apply(ctx, "add", [_as(ctx, base, "float64"), Static(0.0)])
        endless = apply(ctx, "equal", [x, Static(-math.inf)])
        return _where(ctx, endless, _like(ctx, x, math.inf), apply(ctx, "sqrt", [x]))
    return apply(ctx, "power", [_as(ctx, a, "float64") for a in args])


def _raises_to_a_half() -> bool:
    """Whether NumPy's ``float_power(x, 0.5)`` is the C library's `pow`; in some versions it is the square root."""
    with np.errstate(invalid="ignore"):
        return bool(np.isinf(np.float_power(np.array([-math.inf]), 0.5)[0]))


def _spacing(ctx: Context, args: Sequence[Value]) -> Value:
    (x,) = _float_of(ctx, "spacing", args)
    if as_array(ctx, x).dtype == "float16":  # NumPy's own function for it: always upwards
        gap = apply(ctx, "subtract", [apply(ctx, "nextafter", [x, _like(ctx, x, math.inf)]), x])
        return _where(ctx, apply(ctx, "isinf", [x]), _like(ctx, x, math.nan), gap)
    away = apply(ctx, "copysign", [_like(ctx, x, math.inf), x])
    gap = apply(ctx, "subtract", [apply(ctx, "nextafter", [x, away]), x])
    return _where(ctx, apply(ctx, "equal", [x, Static(0)]), apply(ctx, "absolute", [gap]), gap)


def _fabs(ctx: Context, args: Sequence[Value]) -> Value:
    return apply(ctx, "absolute", _float_of(ctx, "fabs", args))


def _angle(to_radians: bool) -> Composite:
    def run(ctx: Context, args: Sequence[Value]) -> Value:
        (x,) = _float_of(ctx, "deg2rad", args)
        return apply(ctx, "multiply", [x, Static(math.pi / 180 if to_radians else 180 / math.pi)])

    return run


COMPOSITE: dict[str, Composite] = {
    "heaviside": _heaviside, "logaddexp": _logaddexp, "logaddexp2": lambda ctx, args: _logaddexp(ctx, args, 2),
    "divmod": _divmod, "modf": _modf, "frexp": _frexp, "float_power": _float_power, "spacing": _spacing, "fabs": _fabs,
    "deg2rad": _angle(True), "radians": _angle(True), "rad2deg": _angle(False), "degrees": _angle(False),
}  # fmt: skip

UFUNCS = {name: name for name, op in OPS.items() if isinstance(op.numpy, np.ufunc) and op.numpy.__name__ == name}
UFUNCS |= {
    "abs": "absolute", "true_divide": "divide", "mod": "remainder", "bitwise_not": "invert",
    "bitwise_invert": "invert", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2",
    "pow": "power", "fix": "trunc", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "conj": "conjugate",
} | {name: name for name in COMPOSITE}  # fmt: skip
"""The functions of NumPy's that are ufuncs (or as good as one) and the op that each is."""


def evaluate(ctx: Context, name: str, args: Sequence[Value], dtype: str | None = None) -> Value:
    """The ufunc `name` of operands."""
    op = UFUNCS[name]
    if op in COMPOSITE:
        if dtype is not None:
            args = [_as(ctx, a, dtype) for a in args]
        return _composed(ctx, name, args)
    return apply(ctx, op, args, dtype)


def _composed(ctx: Context, name: str, args: Sequence[Value]) -> Value:
    """A composite ufunc; NumPy rounds one of float16 once, at its end."""
    composite = COMPOSITE[UFUNCS[name]]
    loop, result = loop_types(ctx, getattr(np, name), args, None)
    if result != "float16" or composite in (_spacing, _frexp):
        return composite(ctx, args)
    made = composite(ctx, [_as(ctx, a, "float32" if t == "float16" else t) for a, t in zip(args, loop, strict=True)])
    if isinstance(made, Seq):
        return Seq(tuple(_as(ctx, m, "float16") for m in made.items))
    return _as(ctx, made, "float16")


def call_ufunc(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``np.<name>(*args, out=…, where=…, dtype=…)``."""
    given = dict(keywords)
    check_nones(ctx, f"np.{name}", given)
    if getattr(getattr(np, name), "nout", 1) > 1 and given.get("out") == Static(None):
        ctx.fail(refusals.OPTION, f"`np.{name}` with `out=None`", "leave it out")
    out, where, dtype = (_given(given.pop(key, None)) for key in ("out", "where", "dtype"))
    casting = given.pop("casting", Static("same_kind"))
    if casting not in (Static("same_kind"), Static("unsafe")):
        ctx.fail(refusals.OPTION, f"`np.{name}` with this `casting=`", "supported: 'same_kind', 'unsafe'")
    for key in ("order", "subok"):  # where memory lies is ours
        given.pop(key, None)
    for key in given:
        ctx.fail(refusals.OPTION, f"`np.{name}` with `{key}=`", "supported: out=, where=, dtype=")
    arity = getattr(np, name).nin if isinstance(getattr(np, name), np.ufunc) else 1
    results = getattr(getattr(np, name), "nout", 1)
    if arity < len(args) <= arity + results and out is None:
        outs = (*args[arity:], *[Static(None)] * (arity + results - len(args)))
        out, args = Seq(outs) if results > 1 else outs[0], args[:arity]
    out = out if out is None else kept_outputs(ctx, out)
    if len(args) != arity:
        ctx.guard(
            b.FALSE, "TypeError",
            f"{name}() takes from {arity} to {arity + 1} positional arguments but {len(args)} were given",
        )  # fmt: skip
    if isinstance(where, Static) and where.value is True:
        where = None
    as_type = dtype_of(ctx, dtype, "") or None
    if out is not None or UFUNCS[name] in COMPOSITE:
        given_outs = [o for o in (out.items if isinstance(out, Seq) else [out]) if isinstance(o, Array)]
        args = [outputs.operand(ctx, x) for x in args]
        outputs.check_writable(ctx, given_outs)
        chosen = None if where is None else as_array(ctx, where)
        if casting == Static("same_kind"):
            outputs.check_casts(ctx, name, args, given_outs, as_type)
        args = outputs.fitting(ctx, args, given_outs, chosen)
    result = evaluate(ctx, name, args, as_type)
    if where is not None:
        if out is None:
            ctx.fail(
                refusals.OPTION, f"`np.{name}` with `where=` and without `out=`",
                "NumPy leaves the other elements undefined: give out=, or use np.where",
            )
        if isinstance(out, Seq) or isinstance(result, Seq):
            help = "choose with np.where from each result: a[:] = np.where(mask, result, a)"
            ctx.fail(refusals.OPTION, f"`np.{name}` with `where=` and several results", help)
        kept = as_array(ctx, out)
        elements, axes, mask, _ = align(ctx, [as_array(ctx, where), as_array(ctx, result), kept])
        result = Array(axes, b.where(nonzero(elements[0]), b.cast(elements[1], kept.dtype), elements[2]), mask)
    if out is None:
        return result
    if isinstance(result, Seq):
        if not isinstance(out, Seq):
            help = "give one array for each result: out=(a, b)"
            ctx.fail(refusals.OUT, f"`np.{name}` with `out=` that is no tuple", help)
        results = [ctx.define(r, "result") if isinstance(r, Array) and r.axes else r for r in result.items]
        pairs = zip(results, out.items, strict=True)  # computed before the first is stored, perhaps over an operand
        return Seq(tuple(r if _given(o) is None else into(ctx, o, r, name, name) for r, o in pairs))
    return into(ctx, out, result, f"np.{name}", UFUNCS[name] if casting == Static("same_kind") else None)


def _given(value: Value | None) -> Value | None:
    return None if isinstance(value, Static) and value.value is None else value


# --- methods

_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_INSTEAD = {
    "keepdims": "give the result its axis with np.expand_dims",
    "where": "put an element that changes nothing elsewhere, with np.where",
    "initial": "call the function once more with the result and it",
}
"""Without which other reductions are compiled: what to write instead."""
_SCANS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _reduce(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    parameters = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
    a = Arguments(ctx, f"np.{name}.reduce", parameters, args, keywords)
    a.check_out()
    value, op = a.array("array"), UFUNCS[name]
    axis = a.given.get("axis") or Static(0)
    dtype = None if a.get("dtype") is None else dtype_of(ctx, a.get("dtype"), "")
    logical = name.startswith("logical_")
    if logical:
        check_loop(ctx, name, dtype, "bool")
    dtype = dtype if logical else dtype_into(ctx, a, value)
    if op in _REDUCTIONS:
        if dtype is not None and dtype != value.dtype:
            value = convert(value, dtype)
        first = None if logical else a.get("initial")
        result = reduce(ctx, _REDUCTIONS[op], value, axis, a.flag("keepdims"), dtype, None, first, a.get("where"))
        if logical and (initial := a.get("initial")) is not None:
            result = call_ufunc(ctx, name, [result, initial], {})
        if out := a.get("out"):
            outputs.check_reduced(ctx, out, op, value, axes_of(ctx, axis, value.ndim), a.flag("keepdims"))
        return a.result(result)
    if op in ("fmax", "fmin") and a.get("where") is None and a.get("initial") is None:
        which = "nanmax" if op == "fmax" else "nanmin"
        value = value if dtype is None else convert(value, dtype)
        return a.result(compose(ctx, "statistics", which, [value, axis, Static(None), Static(a.flag("keepdims"))], {}))
    axes = axes_of(ctx, axis, value.ndim) if value.ndim else (0,)
    if len(axes) != 1:
        apply_types(ctx, name, value)  # what it has no loop for is told first
    if len(axes) > 1 and getattr(np, name).identity is None:
        ctx.guard(
            b.FALSE, "ValueError",
            f"reduction operation '{name}' is not reorderable, so at most one axis may be specified",
        )  # fmt: skip
    for key, help in _INSTEAD.items():
        if a.flag(key) if key == "keepdims" else a.get(key) is not None:
            ctx.fail(refusals.OPTION, f"`{a.name}` with `{key}=`", help)
    if len(axes) != 1:
        rest = [d for d in range(value.ndim) if d not in axes]
        value = transpose(ctx, value, [*axes, *rest])
        value = reshape(ctx, value, [Static(-1), *(Scalar(d, True) for d in value.dims[len(axes) :])])
    return a.result(folded(ctx, name, value, axes[0] if len(axes) == 1 else 0, dtype, False))


def _accumulate(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, f"np.{name}.accumulate", ("array", "axis", "dtype", "out"), args, keywords)
    a.check_out()
    value, op = a.array("array"), UFUNCS[name]
    value = ctx.kept(value)
    axis = normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(0)), value.ndim)
    dtype = dtype_into(ctx, a, value, running=True)
    if op in _SCANS and not (is_complex(value.dtype) and op != "add"):
        if op in ("add", "multiply"):
            dtype = dtype or sum_dtype(value.dtype)
        value = convert(value, dtype) if dtype is not None and value.dtype != dtype else value
        return a.result(scan(ctx, _SCANS[op], value, axis, f"running_{_SCANS[op]}"))
    return a.result(folded(ctx, name, value, axis, dtype, True))


def scan(ctx: Context, op: str, value: Array, axis: int, base: str) -> Array:
    """A running reduction along an axis."""
    if value.dtype == "bool":  # truths are not counted
        name = {"sum": "logical_or", "max": "logical_or", "prod": "logical_and", "min": "logical_and"}[op]
        return as_array(ctx, folded(ctx, name, value, axis, None, True))
    if is_complex(value.dtype):
        if op != "sum":
            return as_array(ctx, folded(ctx, {"prod": "multiply"}[op], value, axis, None, True))
        real, imag = (scan(ctx, op, part(ctx, value, name), axis, f"{base}_{name}") for name in ("real", "imag"))
        return as_array(ctx, together(ctx, real, imag))
    low, high = ctx.facts.running_range(op, value, axis) or (None, None)
    buffer = ctx.buffer(base, value.dtype, value.dims, low=low, high=high)
    ctx.emit(n.Alloc(buffer.name))
    ctx.emit(n.Scan(op, buffer.name, value.axes, value.body, axis))
    return in_order_of(ctx, ctx.names.whole(buffer), value)


def _outer(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 2:
        given = f"{len(args)} array{'' if len(args) == 1 else 's'}"
        ctx.fail(refusals.WRONG_ARGUMENTS, f"`np.{name}.outer` of {given}", "give two")
    x, y = as_array(ctx, args[0]), as_array(ctx, args[1])
    x = ctx.kept(x)
    for _ in range(y.ndim):
        x = expand(ctx, x, x.ndim)
    return call_ufunc(ctx, name, [x, y], keywords)


def _at_casts() -> bool:
    """Whether this NumPy's ``ufunc.at`` stores what its target's type does not hold."""
    try:
        np.add.at(np.zeros(1, np.int64), [0], [0.5])
    except TypeError:
        return False
    return True


_AT_CASTS = _at_casts()


_NOT_AS_WIDE = "array is not broadcastable to correct shape"


def _at(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``np.add.at(a, indices, b)``: element after element, in order."""
    a = Arguments(ctx, f"np.{name}.at", ("a", "indices", "b"), args, keywords)
    target, at, op = a.need("a"), a.need("indices"), UFUNCS[name]
    if not isinstance(target, Array) or not target.view:
        problem = f"`{a.name}` of something that is no array with memory of its own"
        ctx.fail(refusals.OUT, problem, "make an array of it first: a = np.array(…)")
    if op in COMPOSITE:
        ctx.fail(refusals.UNKNOWN_FUNCTION, f"cannot compile `{a.name}`", "use a loop over the positions")
    items = list(at.items) if isinstance(at, Seq) and at.kind == "tuple" else [at]
    # the positions are read before the first store
    items = [
        ctx.define(replace(i, view=False), "at") if isinstance(i, Array) and memory.reads(i, target.base) else i
        for i in items
    ]
    if is_repeated(target):
        ctx.fail(refusals.SHARED_MEMORY, f"`{a.name}` of an array whose elements share memory", "make a copy of it")
    other = outputs.operand(ctx, a.need("b")) if OPS[op].arity == 2 else None
    plan = place(ctx, target, items)
    if plan.mask is not None and isinstance(other, Array) and other.ndim > 0:
        kept = Array(plan.axes, Const(0, "index"), plan.mask)
        if other.mask is None or memory.reads(other, target.base) or not masks_agree([kept, other], kept.ndim, kept):
            plan = _compacted(ctx, plan)
    element = target.at(plan.index)
    assert isinstance(element, Load)
    operands: list[Value] = [Array(plan.axes, element, plan.mask)]
    if other is not None:
        if is_python_number(other):
            other = Scalar(as_array(ctx, other).body)  # `at` makes an array of it: of int64 or float64
        if isinstance(other, Array):
            more = other
            if plan.mask is None:
                if more.mask is not None or element.buffer in buffers_read(more.body):
                    more = ctx.define(replace(more, view=False), "operand")
                axes, body = broadcast_to(ctx, more, tuple(x.extent for x in plan.axes), _NOT_AS_WIDE, leading=False)
                more = Array(axes, body)
            other = more
        elif isinstance(other, Scalar) and buffers_read(other.expr):
            other = replace(other, expr=ctx.let(other.expr, "operand"))  # read once, before the first store
        operands.append(other)
    outputs.check_readonly(ctx, target, "array")
    stores.before_write(ctx, element.buffer)
    loop, result = loop_types(ctx, OPS[op].numpy, operands, None)
    if not _AT_CASTS:
        outputs.check_cast(ctx, op, result, element.dtype)
    elements, axes, mask, _ = align(ctx, operands)
    names = {o.name: x.var for o, x in zip(plan.axes, axes[len(axes) - len(plan.axes) :], strict=True)}
    body = b.cast(Apply(op, tuple(b.cast(e, t) for e, t in zip(elements, loop, strict=True)), result), element.dtype)
    index = tuple(b.substitute(i, names) for i in element.index)
    ctx.emit(n.Scatter(element.buffer, axes, index, body, mask))
    return Static(None)


def _compacted(ctx: Context, plan: Plan) -> Plan:
    """Places out of a filter as places in arrays of their own, beside what is no filter of the same elements."""
    first, new = plan.axes[0], None
    index: list[Expr] = []
    for place_ in plan.index:
        if first.name in variables_read(place_):
            kept = ctx.kept(Array((first,), b.cast(place_, "int64"), plan.mask))
            new = new or ctx.names.axis("k", kept.dims[0])
            place_ = b.cast(kept.at((new.var,)), "index")
        index.append(place_)
    assert new is not None
    return Plan((new, *plan.axes[1:]), tuple(index), None, plan.advanced)


def _reduceat(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, f"np.{name}.reduceat", ("array", "indices", "axis", "dtype", "out"), args, keywords)
    a.check_out()
    value = a.array("array")
    axis = normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(0)), value.ndim)
    dtype = None if a.get("dtype") is None else dtype_of(ctx, a.get("dtype"), "")
    if dtype is None:
        dtype = sum_dtype(value.dtype) if UFUNCS[name] in ("add", "multiply") else apply_types(ctx, name, value)
    value = convert(value, dtype) if value.dtype != dtype else value
    first = transpose(ctx, value, [axis, *[d for d in range(value.ndim) if d != axis]])
    made = compose(ctx, "folding", "reduced_at", [Known(f"numpy.{name}"), first, a.array("indices"), Static(name)], {})
    return a.result(transpose(ctx, as_array(ctx, made), [*range(1, axis + 1), 0, *range(axis + 1, value.ndim)]))


UFUNC_METHODS: dict[str, Callable[[Context, str, Sequence[Value], Mapping[str, Value]], Value]] = {
    "reduce": _reduce, "accumulate": _accumulate, "outer": _outer, "at": _at, "reduceat": _reduceat,
}  # fmt: skip


def call_ufunc_method(
    ctx: Context, name: str, method: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """``np.<name>.<method>(…)``; most methods are there for functions of two arguments with one result only."""
    ufunc: np.ufunc = getattr(np, name)
    if method != "at" and args:
        what = "outer product" if method == "outer" else method
        ctx.guard(Const(ufunc.nin == 2, "bool"), "ValueError", f"{what} only supported for binary functions")
    if method not in ("at", "outer") and args:
        text = f"{method} only supported for functions returning a single value"
        ctx.guard(Const(ufunc.nout == 1, "bool"), "ValueError", text)
    return UFUNC_METHODS[method](ctx, name, args, keywords)

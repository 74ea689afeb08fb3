"""Elementwise operations: NumPy's types (asked of NumPy) and broadcasting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python.arithmetic import COMPARISONS, PYTHON_OPERATORS, computed, may_raise, result_type_of
from transkern.frontend.state.widening import note
from transkern.frontend.values import doubtful, doubts, large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import Words, broadcast_dims, masks_agree, stretched
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import (
    dtype_or_weak,
    is_float64,
    is_number,
    is_python_complex,
    is_python_number,
    static_dtype,
)
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.types_of_scalars import joined
from transkern.frontend.values.values import (
    Array,
    Scalar,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import IMAG, REAL, complex_of, float_of, is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce
from transkern.ir.ops import MIRRORED, OPS
from transkern.ir.traverse import buffers_read, variables_read

_CONVERT = "convert what it is given first, with .astype(…)"
_BITS = "give it integers or bools: compare first, as in (x > 0) & (y > 0), or convert with .astype(int)"
_OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")


_ORDERS = ("less", "less_equal", "greater", "greater_equal")


def apply(ctx: Context, op: str, args: Sequence[Value], dtype: str | None = None, operator_call: bool = False) -> Value:
    """``np.<op>(*args)``, or with `operator_call` the Python operator, with NumPy's types and broadcasting."""
    args = [a if isinstance(a, (Static, Scalar, Array)) else as_array(ctx, a) for a in args]
    args = [as_array(ctx, a) if isinstance(a, Static) and isinstance(a.value, np.ndarray) else a for a in args]
    for a in args:
        if isinstance(a, Static) and not is_number(a):
            ctx.fail(refusals.OPERANDS, f"`{op}` of {describe(a)}", "give it numbers, or arrays of them")
    if operator_call and len(args) == 2 and op not in _ORDERS and is_float64(args[1]) and is_python_complex(args[0]):
        args = [args[0], Scalar(scalar_expr(ctx, args[1]), True)]  # to Python's `complex` it is a float of its own
    if doubts.doubts_of(args):
        return _doubtful(ctx, op, args, dtype, operator_call)
    if operator_call and all(is_python_number(a) for a in args):
        return computed(ctx, op, args)
    if any(map(large.is_large, args)):
        return _of_large(ctx, op, args, dtype, operator_call)
    if op in ("power", "float_power") and len(args) == 2:
        special = _power(ctx, args, operator_call)
        if special is not None:
            return special
    loop, result = loop_types(ctx, OPS[op].numpy, args, dtype)
    exprs_in, axes, mask, scalar = align(ctx, args)
    body: Expr
    casted = tuple(to_loop(ctx, e, t, not isinstance(a, Array)) for e, t, a in zip(exprs_in, loop, args, strict=True))
    _check_integer_power(ctx, op, casted, axes, mask)
    if op == "multiply" and scalar and operator_call and is_complex(result):
        op = "plain_multiply"
    body = _mixed_comparison(op, *casted) if set(loop) == {"int64", "uint64"} else Apply(op, casted, result)
    body = simplify(body)
    if scalar:
        return Scalar(body)
    return Array(axes, body, mask)


def _of_large(
    ctx: Context, op: str, args: Sequence[Value], dtype: str | None, operator_call: bool
) -> Value:  # fmt: skip
    """`apply`, where 64 bits do not hold one of Python's integers among the operands."""
    decided = large.compared(op, args)
    if decided is not None:
        return decided
    if all(isinstance(a, Static) for a in args) and dtype is None:
        return Static(asked(ctx, OPS[op].numpy, *(a.value for a in args if isinstance(a, Static))))
    function = PYTHON_OPERATORS[op] if operator_call else OPS[op].numpy
    loop, result = loop_types(ctx, OPS[op].numpy, args, dtype)
    return apply(ctx, op, large.operands(ctx, function, args, loop, result), dtype, operator_call)


def _doubtful(ctx: Context, op: str, args: Sequence[Value], dtype: str | None, operator_call: bool) -> Value:
    """`apply`, where run-time conditions decide about operands' types."""
    def types(given: Sequence[Value]) -> doubts.Types:
        if operator_call and all(is_python_number(a) for a in given):
            kinds = [static_dtype(a.value) if isinstance(a, Static) else a.dtype for a in given]  # type: ignore
            return (), (result_type_of(op, kinds), True)
        loop, result = loop_types(ctx, OPS[op].numpy, given, dtype)
        return loop, (result, False)

    def compute(given: Sequence[Value]) -> Value:
        return apply(ctx, op, given, dtype, operator_call)

    if op == "power" and all(any(k[0].startswith(("i", "u")) for k in doubts.kinds_of(a)) for a in args):
        if not (isinstance(args[1], Static) and args[1].value >= 0):  # NumPy's integers raise, Python's become floats
            doubts.depends(ctx, args, "a negative power of")
    python = PYTHON_OPERATORS.get(op) if operator_call else None
    raises = operator_call and may_raise(op, args)
    return doubtful.computed(ctx, args, types, joined, python, compute, f"`{op}` of", raises)


def _mixed_comparison(op: str, x: Expr, y: Expr) -> Expr:
    """A comparison of int64 with uint64, by value as NumPy's: a negative number is below all that have no sign."""
    if x.dtype == "int64":
        op, x, y = MIRRORED[op], y, x
    negative: Expr = Apply("less", (y, Const(0, "int64")), "bool")
    if isinstance(y, Const):
        negative = Const(int(y.value) < 0, "bool")  # type: ignore[arg-type]
    unsigned = Apply(op, (x, b.cast(y, "uint64")), "bool")
    if op in ("greater", "greater_equal", "not_equal"):
        return b.either(negative, unsigned)
    return b.both(b.logical_not(negative), unsigned)


def check_range(ctx: Context, expr: Expr, dtype: str) -> None:
    """NumPy's error for a Python integer of run time that an array's type does not hold."""
    info = np.iinfo(dtype)
    low, high = ctx.facts.range_of(expr) or (None, None)
    condition: Expr = b.TRUE
    if info.min > -(2**63) and not (
        ctx.facts.not_negative(expr)
        or (low is not None and b.compare("greater_equal", low, b.index(info.min)) == b.TRUE)
    ):
        condition = b.compare("greater_equal", expr, b.index(info.min))
    if info.max < 2**63 - 1 and not _stays_below(ctx, high, info.max):
        condition = b.both(condition, b.compare("less_equal", expr, b.index(info.max)))
    condition = b.either(b.logical_not(ctx.lists.of_elements), condition)  # an empty list is one of float64
    ctx.guard(condition, "OverflowError", f"Python integer {{}} out of bounds for {dtype}", (expr,))


def _stays_below(ctx: Context, high: Expr | None, most: int) -> bool:
    """Whether what is less than `high` is at most `most`: for certain, or as long as no size needs over 31 bits."""
    if high is None:
        return False
    below = b.compare("less_equal", b.sub(high, b.ONE), b.index(most))
    if below == b.TRUE:
        return True
    if most < 2**31 - 1 or buffers_read(high) or not variables_read(high) <= ctx.facts.entry - ctx.inputs.integers:
        return False
    ctx.facts.assume(below)
    return True


def to_loop(ctx: Context, expr: Expr, dtype: str, number: bool = False) -> Expr:
    """An operand in its loop's type; `number`: it is no array, and a Python integer must be one of the type."""
    if number and expr.dtype == "index" and not isinstance(expr, Const) and dtype.startswith(("int", "uint")):
        check_range(ctx, expr, dtype)
    if isinstance(expr, Const) and dtype.startswith(("int", "uint")) and isinstance(expr.value, int):
        info = np.iinfo(dtype)
        if not info.min <= expr.value <= info.max:
            ctx.guard(b.FALSE, "OverflowError", f"Python integer {expr.value} out of bounds for {dtype}")
    return b.cast(expr, dtype)


def loop_types(ctx: Context, ufunc: Any, args: Sequence[Value], dtype: str | None) -> tuple[tuple[str, ...], str]:
    """NumPy's choice of types for a ufunc: those of its operands, and that of its (last) result."""
    kinds = [dtype_or_weak(a) for a in args]
    op = ufunc.__name__
    none = (None,) * ufunc.nout
    if all(isinstance(k, type) for k in kinds):
        kinds = [np.dtype({int: "int64", float: "float64", complex: "complex128"}[k]) for k in kinds]
    if op in COMPARISONS and any(k is int for k in kinds):  # NumPy compares Python integers by value
        for position, value in enumerate(args):
            other = kinds[1 - position]
            if kinds[position] is int and isinstance(other, np.dtype) and other.kind in "iu":
                if not (isinstance(value, Static) and np.iinfo(other).min <= value.value <= np.iinfo(other).max):
                    signed = "int64" if other.kind == "i" or other.itemsize < 8 else "uint64"
                    return (("int64", signed) if position == 0 else (signed, "int64")), "bool"
    try:
        if dtype is None:
            resolved = ufunc.resolve_dtypes((*kinds, *none))
        else:
            signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
            resolved = ufunc.resolve_dtypes((*kinds, *none), signature=signature)
    except TypeError as error:
        ctx.fail(refusals.OPERANDS, str(error).splitlines()[0], _BITS if op in _OF_BITS else _CONVERT)
    names = tuple(str(d.name) for d in resolved)
    if dtype is None:
        note(ctx, args, kinds, names[: ufunc.nin])
    for name in names:
        if name not in ("bool",) and np.dtype(name).kind not in "iufcb":
            ctx.fail(refusals.OPERANDS, f"`{op}` of {', '.join(describe(a) for a in args)}", _CONVERT)
    return names[: ufunc.nin], names[-1]


def _dtype_of(value: Scalar | Array) -> str:
    """NumPy's type of what is held."""
    return "int64" if value.dtype == "index" else value.dtype


def _power(ctx: Context, args: Sequence[Value], operator_call: bool) -> Value | None:
    """The exponents that NumPy's ``**`` treats as other functions."""
    base, exponent = args
    if isinstance(exponent, Static) and is_python_number(exponent) and isinstance(base, (Array, Scalar)):
        kind = np.dtype("int64" if base.dtype == "index" else base.dtype).kind
        value = exponent.value
        if kind == "c":
            return _complex_power(ctx, base, value)
        if kind == "f" or (kind in "iu" and isinstance(value, int)):
            if value == 2:
                return apply(ctx, "square", [base])
            if value == 1 and kind == "f":
                return apply(ctx, "positive", [base])
            if kind == "f" and value == 0.5:
                return apply(ctx, "sqrt", [base]) if isinstance(base, Array) else _root_of_number(base)
            if kind == "f" and value == -1:
                return apply(ctx, "reciprocal", [base])
        if kind == "b" and operator_call and isinstance(base, Array) and isinstance(value, int) and value == 2:
            return apply(ctx, "square", [base])  # int8, where any other power is an int64
        least = -np.inf if kind != "i" else np.iinfo(_dtype_of(base)).min
        if kind in "ib" and isinstance(value, int) and least <= value < 0:
            ctx.guard(_is_empty(base), "ValueError", _NEGATIVE_POWER)
            dtype = loop_types(ctx, np.power, args, None)[1]
            return replace(as_array(ctx, base), body=b.cast(as_array(ctx, base).body, dtype), view=False, identity="")
    return None


_NEGATIVE_POWER = "Integers to negative integer powers are not allowed."


def _is_empty(value: Array | Scalar) -> Expr:
    """Whether an operation on `value` has nothing to look at."""
    if isinstance(value, Scalar):
        return b.FALSE
    rest = b.product(value.dims if value.mask is None else value.domain[1:])
    empty: Expr = b.compare("equal", rest, b.ZERO)
    if value.mask is not None:
        empty = b.either(empty, b.logical_not(Reduce("any", value.axes[:1], value.mask, "bool")))
    return empty


def _root_of_number(base: Scalar) -> Scalar:
    """``x ** 0.5`` of a number is the C library's `pow`, which knows no negative zero and no negative infinity."""
    x, dtype = base.expr, base.dtype
    root = Apply("sqrt", (Apply("add", (x, Const(0.0, dtype)), dtype),), dtype)
    endless = Apply("equal", (x, Const(-math.inf, dtype)), "bool")
    return Scalar(b.where(endless, Const(math.inf, dtype), root))


def _complex_power(ctx: Context, base: Array | Scalar, exponent: complex) -> Value | None:
    """``z ** 2`` of arrays is a square, and so on; scalars take all exponents by way of `npy_cpow`."""
    function = {2: "square", 0.5: "sqrt", -1: "reciprocal"}.get(exponent)  # type: ignore[call-overload]
    return apply(ctx, function, [base]) if function and isinstance(base, Array) and base.ndim else None


def _check_integer_power(
    ctx: Context, op: str, args: tuple[Expr, ...], axes: tuple[Axis, ...], mask: Expr | None
) -> None:  # fmt: skip
    if op != "power" or not args[1].dtype.startswith("int"):
        return
    if isinstance(args[1], Const):
        return
    negative: Expr = Apply("less", (args[1], Const(0, args[1].dtype)), "bool")
    if mask is not None:
        negative = b.both(mask, negative)
    if axes:
        negative = Reduce("any", axes, negative, "bool")
    ctx.guard(b.logical_not(negative), "ValueError", _NEGATIVE_POWER)


def simplify(expr: Expr) -> Expr:
    """Folds what does not change a result: constants of Python's own arithmetic, double negation of conditions."""
    match expr:
        case Apply("logical_not", (Apply("logical_not", (x,), _),), _) if x.dtype == "bool":
            return x
        case Apply("positive", (x,), dtype) if x.dtype == dtype:
            return x
        case Apply("conjugate", (x,), dtype) if x.dtype == dtype and not is_complex(dtype):
            return x
        case _:
            return expr


# --- broadcasting


def align(
    ctx: Context, values: Sequence[Value], words: Words = "operands"
) -> tuple[list[Expr], tuple[Axis, ...], Expr | None, bool]:
    """The values' elements over common axes: (elements, axes, mask, whether all are scalars)."""
    arrays = [v for v in values if isinstance(v, Array)]
    ndim = max((a.ndim for a in arrays), default=0)
    if ndim == 0:
        return [scalar_expr(ctx, v) for v in values], (), None, True
    mask_owner = next((a for a in arrays if a.mask is not None), None)
    if mask_owner is not None and not masks_agree(arrays, ndim, mask_owner):
        values = [ctx.kept(v) if isinstance(v, Array) else v for v in values]
        arrays = [v for v in values if isinstance(v, Array)]
        mask_owner = None
    dims = broadcast_dims(ctx, [v.domain if isinstance(v, Array) else () for v in values], words)
    axes = ctx.names.axes(dims)
    elements: list[Expr] = []
    for v in values:
        if not isinstance(v, Array):
            elements.append(scalar_expr(ctx, v))
            continue
        elements.append(v.candidate(stretched(ctx, v.domain, axes)))
    if any(a.is_turned or a.axes in ctx.aliasing.operands for a in arrays):
        ctx.aliasing.operands[axes] = arrays
    mask = None if mask_owner is None else mask_owner.mask_at(axes[0].var)
    return elements, axes, mask, False


def part(ctx: Context, value: Array, name: str) -> Array:
    """``z.real``, ``z.imag`` of complex numbers: of memory a view."""
    dtype = float_of(value.dtype)
    if value.view and isinstance(value.body, Load):
        index, dims = value.body.index, ctx.names.buffers[value.body.buffer].dims
        if len(index) != len(dims):  # counted in memory, which a part behind it would make a subscript of two axes
            [place] = index
            index = b.unravel(place, dims)
        index = (*index, REAL if name == "real" else IMAG)
        return replace(value, body=Load(value.body.buffer, index, dtype), identity="")
    return replace(value, body=Apply(name, (value.body,), dtype), identity="")


def together(ctx: Context, real: Value, imag: Value) -> Value:
    """``real + 1j * imag``, exactly."""
    elements, axes, mask, scalar = align(ctx, [real, imag])
    body = Apply("complex", tuple(elements), complex_of(elements[0].dtype))
    return Scalar(body) if scalar else Array(axes, body, mask)


def warn_discarded(ctx: Context, source: str, target: str) -> None:
    """NumPy's ComplexWarning for a cast that leaves imaginary parts out, once a call; a cast in a loop or a branch is
    silent."""
    if not is_complex(source) or is_complex(target) or target == "bool" or ctx.emitter.out is not ctx.emitter.root:
        return
    if any(ctx.scopes.filters or ()):
        if ctx.scopes.filters and ctx.scopes.filters[-1] == "ignore":
            return
        ctx.fail(refusals.WARNINGS, "NumPy's ComplexWarning where a filter may choose it", "take the real part: z.real")
    said = n.Library("discarded", (), ())
    if said not in ctx.emitter.root:
        ctx.emitter.root.insert(0, said)


def convert(value: Array, dtype: str) -> Array:
    """``value.astype(dtype)`` (never a view)."""
    return replace(value, body=b.cast(value.body, dtype), view=False, readonly=False, identity="")

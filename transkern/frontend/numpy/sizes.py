"""Sizes, axes and dtypes among the arguments of NumPy's functions, and arrays of a size."""

from __future__ import annotations

import math
import operator

import numpy as np

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python.texts import as_text
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.values import doubts, large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_python_number, type_name
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.types import dtype_name
from transkern.frontend.values.values import Array, GrowingList, Known, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read

_PYTHON_DTYPES = {
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.bool": "bool",
    "builtins.complex": "complex128",
}
_DTYPES_TAKEN = "give one of NumPy's types of numbers, such as np.float64 or np.int64"


def dtype_of(ctx: Context, value: Value | None, default: str) -> str:
    """A `dtype=` argument as a dtype name."""
    match value:
        case None | Static(None):
            return default
        case Known(path) if path in _PYTHON_DTYPES:
            return _PYTHON_DTYPES[path]
        case Static(v):
            try:
                return dtype_name(np.dtype(v))
            except TypeError as error:
                ctx.fail(refusals.DTYPE, str(error), _DTYPES_TAKEN)
            except CompileError as error:
                ctx.fail(error.kind, error.problem, error.help)
        case _:
            ctx.fail(refusals.DTYPE, f"{describe(value)} as a dtype", _DTYPES_TAKEN)


def constant_int(ctx: Context, value: Value, what: str) -> int:
    """An integer that must be known at specialisation (an axis, a count of parts)."""
    if isinstance(value, Static) and isinstance(value.value, (int, np.integer)):
        return int(large.whole(ctx, int(value.value)).value)  # type: ignore[arg-type]
    if isinstance(value, Static) and isinstance(value.value, np.ndarray) and value.value.ndim == 0:
        return int(value.value)
    ctx.must_be_known(value, f"{what} must be a constant", "write it as a literal")


def constant_axis(ctx: Context, value: Value) -> int:
    """An axis, which must be known at specialisation; NumPy's error for one that C's integers do not hold."""
    if large.is_large(value) or abs(axis := constant_int(ctx, value, "an axis")) > np.iinfo("intc").max:
        asked(ctx, np.zeros(1).sum, axis=value.value)  # type: ignore[union-attr]
    return axis


def normal_axis(ctx: Context, axis: int, ndim: int, name: str = "") -> int:
    """An axis counted from 0; `name` is what NumPy's message begins with."""
    if not -ndim <= axis < ndim:
        text = f"{name}axis {axis} is out of bounds for array of dimension {ndim}"
        ctx.guard(b.FALSE, "np.exceptions.AxisError", text)
    return axis % ndim


def dims_of(ctx: Context, value: Value, bools: bool = False) -> tuple[Expr, ...]:
    """A shape argument: an integer or a sequence of them; `bools`: also of Booleans."""
    of_size = whole_size if bools else size_of
    if isinstance(value, Seq) and value.kind not in ("tuple", "list"):
        ctx.fail(refusals.NEEDED, f"a shape that is a {value.kind}", "give a tuple")
    sizes = value.items if isinstance(value, Seq) else [value]
    for k, size in enumerate(sizes):
        if isinstance(size, Static) and large.is_large(size):
            asked(ctx, np.empty, [0] * k + [size.value])
    match value:
        case Seq(items):
            return tuple(of_size(ctx, i) for i in items)
        case Static(tuple() | list() as items):
            given = [Static(i) for i in items]
            return tuple(large.whole(ctx, i.value) if large.is_large(i) else of_size(ctx, i) for i in given)
        case Scalar() | Static():
            if not bools:
                check_single(ctx, value)
            return (whole_size(ctx, value),)
        case _:
            problem = f"a shape is needed here, not {describe(value)}"
            help = "give an integer, or a tuple of integers: tuple(shape) of an array of known size"
            if isinstance(value, GrowingList):  # how many dimensions there are must be known
                ctx.must_be_known(Scalar(value.length, True), problem, help, refusals.NEEDED)
            ctx.fail(refusals.NEEDED, problem, help)


def numbers_in(ctx: Context, value: Value) -> list[Value] | None:
    """The elements of a line of integers, whose length must be known; None for anything else."""
    if not isinstance(value, Array) or value.ndim != 1 or not value.dtype.startswith(("int", "uint")):
        return None
    array = ctx.kept(value)
    dim = array.dims[0]
    if (extent := b.constant(dim)) is None:
        problem, help = "a shape in an array of run-time length", "its length must be known: give it in the types"
        error = ctx.error(refusals.RUN_TIME_LENGTH, problem, help)
        raise NeedsConstant(dim.name, error) if isinstance(dim, Var) and b.is_size_name(dim.name) else error
    return [Scalar(array.at((b.index(k),))) for k in range(extent)]


def check_single(ctx: Context, value: Value) -> None:
    """NumPy's error for a number that is given for a shape and is no integer."""
    problem = "expected a sequence of integers or a single integer, got '{}'"
    _check_kind(ctx, value, ("bool", "float", "complex"), problem)


def size_of(ctx: Context, value: Value) -> Expr:
    """A size in a shape: an integer, and no Boolean."""
    _check_kind(ctx, value, ("bool",), "an integer is required")
    return whole_size(ctx, value)


def _check_kind(ctx: Context, value: Value, wrong: tuple[str, ...], problem: str) -> None:
    """NumPy's error for a number of a wrong kind, which it may show: `{}`."""
    if isinstance(value, (Scalar, Static)) and as_array(ctx, value).dtype.startswith(wrong):
        shown = as_text(ctx, value, "", "r")
        args = tuple(scalar_expr(ctx, v) for v in shown.args) if "{}" in problem else ()
        if any(is_complex(e.dtype) for e in args):
            ctx.fail(refusals.NEEDED, "a size that is a complex number", "give an integer")
        ctx.guard(b.FALSE, "TypeError", problem.replace("{}", shown.template), args)


def whole_size(ctx: Context, value: Value) -> Expr:
    """A size: an integer."""
    check_integer(ctx, value)
    return integer_expr(ctx, value, "ValueError", "Maximum allowed dimension exceeded")


def check_integer(ctx: Context, value: Value) -> None:
    """Python's error for what is no integer, and no Boolean."""

    def kind(value: Value) -> str:
        """The type's name, of what is none."""
        if isinstance(value, Array) and value.ndim:
            asked(ctx, operator.index, np.ones((1,) * value.ndim, value.dtype))
        dtype = scalar_expr(ctx, value).dtype
        if dtype in ("index", "bool") or dtype.startswith(("int", "uint")):
            return ""
        return type_name(value) if is_python_number(value) else f"numpy.{dtype}"

    if found := doubts.agreed(ctx, value, kind, "a size that is"):
        ctx.guard(b.FALSE, "TypeError", f"'{found}' object cannot be interpreted as an integer")


def full(ctx: Context, dims: tuple[Expr, ...], value: Expr) -> Array:
    sizes: list[Expr] = []
    check_size(ctx, dims, value.dtype)
    for d in dims:
        if not b.is_nonnegative(d):
            low_high = ctx.facts.range_of(d)
            if low_high is None or not b.is_nonnegative(low_high[0]):
                ctx.guard(b.compare("greater_equal", d, b.ZERO), "ValueError", "negative dimensions are not allowed")
            d = _as_size(ctx, d)
        sizes.append(d)
    return Array(ctx.names.axes(sizes), value)


def check_size(ctx: Context, dims: tuple[Expr, ...], dtype: str) -> None:
    """NumPy's error for an array of more bytes than there are addresses, where numbers that are no sizes say how long
    it is; what is made of sizes is checked where it gets memory."""
    given = ctx.inputs.dims
    counted = [isinstance(d, Const) or variables_read(d) <= given or ctx.facts.range_of(d) is not None for d in dims]
    if all(counted) and not all(isinstance(d, Const) for d in dims):
        return
    most = extremes.HIGHEST // np.dtype("int64" if dtype == "index" else dtype).itemsize
    known = math.prod(max(b.constant(d) or 1, 1) for d in dims)
    if known > most:
        asked(ctx, np.empty, extremes.HIGHEST)
    size: Expr = Const(float(known), "float64")
    for d in dims:
        if b.constant(d) is None:
            size = Apply("multiply", (size, b.cast(b.maximum(d, b.ONE), "float64")), "float64")
    if not isinstance(size, Const):
        ctx.guard(Apply("less_equal", (size, Const(float(most), "float64")), "bool"), "ValueError", _TOO_BIG)


_TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def _as_size(ctx: Context, dim: Expr) -> Expr:
    """A run-time integer as a size: from here on known not to be negative, and bounded by itself. What is made of sizes
    has the form that a slice's length has, so that ``np.zeros(n - 2)`` and ``x[1:-1]`` are seen to be of one size."""
    if b.constant(dim) is not None:
        return dim
    made = ctx.facts.unnamed(dim)
    if variables_read(made) <= ctx.facts.entry and not buffers_read(made):
        dim = made  # one name for all sizes that are made alike
    if variables_read(dim) <= ctx.inputs.dims:
        return b.maximum(dim, b.ZERO)
    return ctx.extent(dim)

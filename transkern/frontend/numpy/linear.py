"""`numpy.linalg`: decompositions and solutions, steps of a library between kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers.nested import check_depth
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.library_calls import step
from transkern.frontend.numpy.shaping import as_line, expand, reshape, stack
from transkern.frontend.numpy.sizes import constant_axis, normal_axis
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.broadcasting import broadcast_dims
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Record, Scalar, Seq, Static, Unbound, Value
from transkern.ir import build as b
from transkern.ir.complexes import float_of, is_complex
from transkern.ir.expr import Expr


def _matrices(ctx: Context, value: Value, square: bool = False) -> Array:
    """A stack of matrices in the type that the library computes in."""
    array = as_array(ctx, value)
    array = ctx.kept(array)
    if array.ndim < 2:
        ctx.guard(
            b.FALSE, "np.linalg.LinAlgError",
            f"{array.ndim}-dimensional array given. Array must be at least two-dimensional",
        )  # fmt: skip
    if square:
        ctx.guard(
            b.compare("equal", array.dims[-1], array.dims[-2]), "np.linalg.LinAlgError",
            "Last 2 dimensions of the array must be square",
        )  # fmt: skip
    return _inexact(ctx, array)


def _inexact(ctx: Context, array: Array) -> Array:
    if array.dtype == "float16":
        ctx.fail(refusals.DTYPE, "linear algebra in float16", "convert with .astype(np.float32)")
    dtype = array.dtype if array.dtype.startswith(("float", "complex")) else "float64"
    return array if array.dtype == dtype else convert(array, dtype)


def _real(dtype: str) -> str:
    return float_of(dtype) if is_complex(dtype) else dtype


def _value(made: Array) -> Value:
    """What NumPy hands back: a scalar where no dim is left."""
    return made if made.ndim else Scalar(made.body)


def _named(function: Callable[..., Any], items: Sequence[Value]) -> Value:
    """The named tuple that the function gives."""
    kind: Any = type(function(np.eye(1)))
    return Record(kind, tuple(kind._fields), tuple(items))


@handles("numpy.linalg.inv", names="a")
def _inv(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    return step(ctx, "inv", {"matrix": x}, {"inverse": (x.dtype, x.dims)})[0]


@handles("numpy.linalg.det", names="a")
def _det(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    return _value(step(ctx, "det", {"matrix": x}, {"determinant": (x.dtype, x.dims[:-2])})[0])


@handles("numpy.linalg.slogdet", names="a")
def _slogdet(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    outs = {"sign": (x.dtype, x.dims[:-2]), "logdet": (_real(x.dtype), x.dims[:-2])}
    made = step(ctx, "slogdet", {"matrix": x}, outs)
    return _named(np.linalg.slogdet, list(map(_value, made)))


@handles("numpy.linalg.cholesky", names="a")
def _cholesky(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    return step(ctx, "cholesky", {"matrix": x}, {"factor": (x.dtype, x.dims)})[0]


@handles("numpy.linalg.solve", names="a b")
def _solve(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    y = as_array(ctx, a.need("b"))
    y = ctx.kept(y)
    if not y.ndim:
        ctx.fail(refusals.NEEDED, f"`{a.name}` of a number", "give it a vector: np.array([number])")
    dtype = result_type(ctx, [x, _inexact(ctx, y)])
    x, y = convert(x, dtype) if x.dtype != dtype else x, convert(y, dtype) if y.dtype != dtype else y
    vector = y.ndim == 1
    inner = y.dims[0] if vector else y.dims[-2]
    signature = "(m,m),(m)->(m)" if vector else "(m,m),(m,n)->(m,n)"
    ctx.guard(
        b.compare("equal", inner, x.dims[-1]), "ValueError",
        f"solve{'1' if vector else ''}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
        f"{signature} (size {{}} is different from {{}})", (inner, x.dims[-1]),
    )  # fmt: skip
    dims: tuple[Expr, ...]
    if vector:
        dims = (*x.dims[:-2], y.dims[0])
    else:
        batch = broadcast_dims(ctx, [x.dims[:-2], y.dims[:-2]]) if x.ndim > 2 or y.ndim > 2 else ()
        dims = (*batch, *y.dims[-2:])
    return step(ctx, "solve", {"matrix": x, "right": y}, {"solution": (dtype, dims)})[0]


@handles("numpy.linalg.eigh", "numpy.linalg.eigvalsh", names="a UPLO")
def _eigh(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    values = (_real(x.dtype), x.dims[:-1])
    uplo = a.text("UPLO", "L").upper()
    if uplo not in ("L", "U"):
        ctx.guard(b.FALSE, "ValueError", "UPLO argument must be 'L' or 'U'")
    if a.name.endswith("eigvalsh"):
        return step(ctx, "eigvalsh", {"matrix": x}, {"eigenvalues": values}, uplo=uplo)[0]
    outs = {"eigenvalues": values, "eigenvectors": (x.dtype, x.dims)}
    return _named(np.linalg.eigh, step(ctx, "eigh", {"matrix": x}, outs, uplo=uplo))


@handles("numpy.linalg.eig", "numpy.linalg.eigvals", names="a")
def _eig(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"), True)
    if not is_complex(x.dtype):
        ctx.fail(
            refusals.VALUES_DECIDE,
            f"`{a.name}` of real numbers: whether the result is complex depends on the values",
            "a.astype(complex) has a complex result; eigh and eigvalsh are for symmetric matrices",
        )  # fmt: skip
    if a.name.endswith("eigvals"):
        return step(ctx, "eigvals", {"matrix": x}, {"eigenvalues": (x.dtype, x.dims[:-1])})[0]
    outs = {"eigenvalues": (x.dtype, x.dims[:-1]), "eigenvectors": (x.dtype, x.dims)}
    return _named(np.linalg.eig, step(ctx, "eig", {"matrix": x}, outs))


@handles("numpy.linalg.svd", "numpy.linalg.svdvals", names="a full_matrices compute_uv hermitian")
def _svd(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"))
    m, n = x.dims[-2:]
    k = b.minimum(m, n)
    values = (_real(x.dtype), (*x.dims[:-2], k))
    if a.flag("hermitian"):
        help = "leave it out; np.linalg.eigh is for such matrices"
        ctx.fail(refusals.OPTION, f"`{a.name}` with hermitian=", help)
    if a.name.endswith("svdvals") or not a.flag("compute_uv", True):
        return step(ctx, "svdvals", {"matrix": x}, {"singular": values})[0]
    full = a.flag("full_matrices", True)
    left = (*x.dims[:-2], m, m if full else k)
    right = (*x.dims[:-2], n if full else k, n)
    outs = {"left": (x.dtype, left), "singular": values, "right": (x.dtype, right)}
    return _named(np.linalg.svd, step(ctx, "svd", {"matrix": x}, outs, full=full))


@handles("numpy.linalg.qr", names="a mode")
def _qr(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"))
    m, n = x.dims[-2:]
    mode = a.text("mode", "reduced")
    if mode not in ("reduced", "complete", "r"):
        ctx.fail(refusals.OPTION, f"np.linalg.qr with mode={mode!r}", "supported: 'reduced', 'complete', 'r'")
    k = m if mode == "complete" else b.minimum(m, n)
    upper = (x.dtype, (*x.dims[:-2], k, n))
    if mode == "r":
        return step(ctx, "qr", {"matrix": x}, {"upper": upper}, mode=mode)[0]
    outs = {"orthogonal": (x.dtype, (*x.dims[:-2], m, k)), "upper": upper}
    return _named(np.linalg.qr, step(ctx, "qr", {"matrix": x}, outs, mode=mode))


@handles("numpy.linalg.pinv", names="a rcond")
def _pinv(ctx: Context, a: Arguments) -> Value:
    x = _matrices(ctx, a.need("a"))
    out = {"inverse": (x.dtype, (*x.dims[:-2], x.dims[-1], x.dims[-2]))}
    return step(ctx, "pinv", {"matrix": x}, out, rcond=_constant(ctx, a, "rcond"))[0]


def _constant(ctx: Context, a: Arguments, name: str) -> float | None:
    value = a.get(name)
    if value is None:
        return None
    if not isinstance(value, Static) or not is_number(value):
        ctx.fail(refusals.NEEDS_CONSTANT, f"`{name}=` must be a constant", f"write the number there: {name}=1e-10")
    return float(value.value)


@handles("numpy.linalg.lstsq", names="a b rcond")
def _lstsq(ctx: Context, a: Arguments) -> Value:
    """The solution and the rank's companions; the residuals' number depends on the rank, so they are left out."""
    x = _matrices(ctx, a.need("a"))
    y = as_array(ctx, a.need("b"))
    y = ctx.kept(y)
    if not y.ndim:
        ctx.fail(refusals.NEEDED, f"`{a.name}` of a number", "give it a vector: np.array([number])")
    dtype = result_type(ctx, [x, _inexact(ctx, y)])
    x, y = convert(x, dtype) if x.dtype != dtype else x, convert(y, dtype) if y.dtype != dtype else y
    ctx.guard(b.compare("equal", x.dims[0], y.dims[0]), "np.linalg.LinAlgError", "Incompatible dimensions")
    rcond = _constant(ctx, a, "rcond")
    outs = {"solution": (dtype, (x.dims[1], *y.dims[1:])), "rank": ("int32", ())}
    made = step(ctx, "lstsq", {"matrix": x, "right": y}, outs, rcond=rcond)
    residuals = Unbound("the residuals and singular values of np.linalg.lstsq are not computed")
    return Seq((made[0], residuals, Scalar(made[1].body), residuals))


@handles("numpy.searchsorted", names="a v side sorter")
def _searchsorted(ctx: Context, a: Arguments) -> Value:
    values, sought = as_line(ctx, a.array("a")), a.need("v")
    sorter = a.get("sorter")
    if sorter is not None:
        values = as_array(ctx, array_item(ctx, values, [as_array(ctx, sorter)]))
    side = a.text("side", "left")
    if side not in ("left", "right"):
        ctx.guard(b.FALSE, "ValueError", f"search side must be 'left' or 'right' (got '{side}')")
    return places_in(ctx, values, sought, side)


def places_in(ctx: Context, values: Array, sought: Value, side: str, order: str = "asked for") -> Value:
    """Where numbers would stand in a line: it is in order (`order` is "known"), or that is to be asked for, or not
    ("unknown"), as NumPy has a way through what is in none, too."""
    v = ctx.kept(as_array(ctx, sought))
    dtype = result_type(ctx, [values, v])  # a Python number is an int64 or a float64 here
    values, v = (x if x.dtype == dtype else convert(x, dtype) for x in (values, v))
    single = v.ndim == 0
    values = ctx.kept(values)
    if ctx.session.steps_take_views and not is_complex(dtype):  # else a library would have to be asked for each
        behind = Static(side == "right")
        if single:
            made = compose(ctx, "searching", "_place_of", [values, Scalar(scalar_expr(ctx, v)), behind], {})
            return Scalar(ctx.let(scalar_expr(ctx, made), "at"))
        if order != "unknown":
            search = "_places_in_order" if order == "known" else "_places_where_in_order"
            return compose(ctx, "searching", search, [values, v, behind], {})
    if single:
        v = expand(ctx, Array((), scalar_expr(ctx, v)), 0)
    facts = {"low": b.ZERO, "high": b.add(values.dims[0], b.ONE)}
    found = step(ctx, "searchsorted", {"sorted": values, "sought": v}, {"at": ("int64", v.dims)}, facts, side=side)[0]
    return Scalar(ctx.let(found.at((b.ZERO,)), "at")) if single else found


def positions_of_order(ctx: Context, value: Value) -> Array:
    """What a partition is asked for: a position or a line of them."""
    if not isinstance(value, Array):
        check_depth(ctx, value, 1)
    elif value.ndim > 1:
        ctx.guard(b.FALSE, "ValueError", "object too deep for desired array")
    return as_array(ctx, value)


@handles("numpy.partition", "numpy.argpartition", names="a kth axis")
def _partition(ctx: Context, a: Arguments) -> Value:
    x = a.array("a")
    x = ctx.kept(x)
    axis = a.given.get("axis") or Static(-1)
    if isinstance(axis, Static) and axis.value is None:
        x, axis = reshape(ctx, x, [Static(-1)]), Static(-1)
    at = normal_axis(ctx, constant_axis(ctx, axis), x.ndim)
    kth = positions_of_order(ctx, a.need("kth"))
    if kth.dtype == "bool":
        ctx.guard(b.FALSE, "ValueError", "Booleans unacceptable as partition index")
    if not kth.dtype.startswith(("int", "uint")):
        ctx.guard(b.FALSE, "TypeError", "Partition index must be integer")
    kth = convert(kth, "int64")
    name = a.name.removeprefix("np.")
    out = ("order", "int64") if name == "argpartition" else ("partitioned", x.dtype)
    facts = {"low": b.ZERO, "high": x.dims[at]} if name == "argpartition" else {}
    return step(ctx, name, {"keys": x, "kth": kth}, {out[0]: (out[1], x.dims)}, facts, axis=at)[0]


@handles("numpy.lexsort", names="keys axis")
def _lexsort(ctx: Context, a: Arguments) -> Value:
    """The library sorts a stack of keys; keys of several types keep their order in their common type."""
    if a.get("axis") is not None:
        help = "give it the keys as a tuple of vectors: np.lexsort((second, first))"
        ctx.fail(refusals.OPTION, "np.lexsort with axis=", help)
    keys = a.need("keys")
    made = stack(ctx, keys.items, 0, "all keys need to be the same shape") if isinstance(keys, Seq) else keys
    x = ctx.kept(as_array(ctx, made))
    if x.ndim < 2:
        ctx.fail(refusals.OPTION, "np.lexsort of one key", "use np.argsort(key, kind='stable')")
    facts = {"low": b.ZERO, "high": x.dims[1], "permutation": x.ndim == 2}
    return step(ctx, "lexsort", {"keys": x}, {"order": ("int64", x.dims[1:])}, facts)[0]

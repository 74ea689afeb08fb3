"""`numpy.fft`: transforms, which a library computes."""

from __future__ import annotations

from collections.abc import Sequence

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.library_calls import step
from transkern.frontend.numpy.reductions import axes_of
from transkern.frontend.numpy.sizes import constant_axis, dims_of, normal_axis
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.values import Array, Static, Value
from transkern.ir import build as b
from transkern.ir.complexes import complex_of, float_of, is_complex
from transkern.ir.expr import Expr

_NORMS = (None, "backward", "ortho", "forward")


def _inexact(ctx: Context, x: Array, name: str, real: bool) -> Array:
    """The operand in the precision of the transform: single where it is, else double."""
    x = ctx.kept(x)
    if real and is_complex(x.dtype):
        ctx.guard(b.FALSE, "TypeError", f"ufunc '{name}_n_even' did not contain a loop with signature matching types")
    if x.dtype == "float16":
        ctx.fail(refusals.DTYPE, f"`np.fft.{name}` in float16", "convert with .astype(np.float32)")
    kind = x.dtype if x.dtype.startswith(("float", "complex")) else "float64"
    return x if x.dtype == kind else convert(x, kind)


def _norm(ctx: Context, a: Arguments) -> str | None:
    value = a.get("norm")
    norm = None if value is None else a.text("norm", "backward")
    if norm not in _NORMS:
        ctx.guard(b.FALSE, "ValueError", f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return norm


def _complex(dtype: str) -> str:
    return dtype if is_complex(dtype) else complex_of(dtype)


def _real(dtype: str) -> str:
    return float_of(dtype) if is_complex(dtype) else dtype


def _half(extent: Expr) -> Expr:
    """The length of the spectrum of so many real numbers."""
    return b.add(b.floordiv(extent, b.index(2)), b.ONE)


def _whole(extent: Expr) -> Expr:
    """How many real numbers a spectrum of this length stands for."""
    return b.mul(b.index(2), b.sub(extent, b.ONE))


@handles(*(f"numpy.fft.{n}" for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")), names="a n axis norm out")
def _one(ctx: Context, a: Arguments) -> Value:
    name = a.name.removeprefix("np.fft.")
    x = _inexact(ctx, a.array("a"), name, name in ("rfft", "ihfft"))
    if not x.ndim:
        ctx.guard(b.FALSE, "IndexError", "tuple index out of range")
    axis = normal_axis(ctx, constant_axis(ctx, a.get("axis") or Static(-1)), x.ndim)
    given = a.get("n")
    inverse = name in ("irfft", "hfft")
    n = dims_of(ctx, given)[0] if given is not None else _whole(x.dims[axis]) if inverse else x.dims[axis]
    ctx.guard(
        b.compare("greater_equal", n, b.ONE), "ValueError", "Invalid number of FFT data points ({}) specified.", (n,)
    )  # fmt: skip
    extent = _half(n) if name in ("rfft", "ihfft") else n
    dtype = _real(x.dtype) if inverse else _complex(x.dtype)
    dims = (*x.dims[:axis], extent, *x.dims[axis + 1 :])
    if name in ("rfft", "ihfft"):  # the length cannot be read off the result: an operand of this very length
        x = _fitted(ctx, x, {axis: n})
    kind = "halved" if name in ("rfft", "ihfft") else "transform"
    made = step(ctx, kind, {"signal": x}, {"spectrum": (dtype, dims)}, call=name, axis=axis, norm=_norm(ctx, a))
    return a.result(made[0])


def _fitted(ctx: Context, x: Array, extents: dict[int, Expr]) -> Array:
    """`x` with zeros behind it, or without its end, up to these extents."""
    for axis, extent in extents.items():
        if extent == x.dims[axis]:
            continue
        axes = ctx.names.axes((*x.dims[:axis], extent, *x.dims[axis + 1 :]))
        inside = b.compare("less", axes[axis].var, x.dims[axis])
        index = tuple(v.var for v in axes)
        zero = b.cast(b.index(0), x.dtype)
        x = Array(axes, b.where(inside, x.at(index), zero))
    return x


@handles(
    *(f"numpy.fft.{n}" for n in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")),
    names="a s axes norm out",
)
def _several(ctx: Context, a: Arguments) -> Value:
    name = a.name.removeprefix("np.fft.")
    if not a.array("a").ndim:
        ctx.fail(refusals.NEEDED, f"`{a.name}` of a number, which has no axes", "give an array")
    x = _inexact(ctx, a.array("a"), name.replace("2", "").removesuffix("n"), name.startswith("r"))
    default = (-2, -1) if name.endswith("2") else None
    sizes: Sequence[Expr] | None = None if a.get("s") is None else dims_of(ctx, a.need("s"))
    axes = a.get("axes") or Static(default)
    if sizes is not None and default is None and a.get("axes") is None:
        ctx.fail(refusals.OPTION, f"`{a.name}` with s= and without axes=", "NumPy deprecates it: give axes=")
    chosen = axes_of(ctx, axes, x.ndim, ordered=False)
    inverse = name.startswith("irfft")
    dims = list(x.dims)
    for position, axis in enumerate(chosen):
        dims[axis] = sizes[position] if sizes is not None else x.dims[axis]
    if sizes is None and inverse:
        dims[chosen[-1]] = _whole(x.dims[chosen[-1]])
    for axis in chosen:
        text = "Invalid number of FFT data points ({}) specified."
        ctx.guard(b.compare("greater_equal", dims[axis], b.ONE), "ValueError", text, (dims[axis],))
    if name.startswith("rfft"):
        x = _fitted(ctx, x, {axis: dims[axis] for axis in chosen})
        dims[chosen[-1]] = _half(dims[chosen[-1]])
    dtype = _real(x.dtype) if inverse else _complex(x.dtype)
    made = step(
        ctx, "halved_all" if name.startswith("rfft") else "transforms", {"signal": x},
        {"spectrum": (dtype, tuple(dims))}, call=name.replace("2", "n"), axes=chosen, norm=_norm(ctx, a),
    )  # fmt: skip
    return a.result(made[0])

"""`np.random.default_rng(seed)`: numbers drawn by NumPy on the host between kernels, the same ones as without us.

A generator is its state, eight words in memory: a step reads them, draws, and writes them back. So it may be drawn from
in loops and branches, and by several kernels, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transkern.frontend.arguments import Arguments, handles
from transkern.frontend.context import Context
from transkern.frontend.elementwise import as_array, broadcast_dims, convert, scalar_expr
from transkern.frontend.shaping import dims_of, dtype_of, full
from transkern.frontend.storing import write
from transkern.frontend.values import Array, Generator, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr

_DRAWS = {
    # name: (parameters, the first of which may be left out from the end; the dtype of a draw; a Python number?)
    "random": ("", "float64", True),
    "standard_normal": ("", "float64", True),
    "standard_exponential": ("", "float64", True),
    "normal": ("loc=0.0 scale=1.0", "float64", True),
    "uniform": ("low=0.0 high=1.0", "float64", True),
    "exponential": ("scale=1.0", "float64", True),
    "laplace": ("loc=0.0 scale=1.0", "float64", True),
    "logistic": ("loc=0.0 scale=1.0", "float64", True),
    "gumbel": ("loc=0.0 scale=1.0", "float64", True),
    "lognormal": ("mean=0.0 sigma=1.0", "float64", True),
    "rayleigh": ("scale=1.0", "float64", True),
    "gamma": ("shape scale=1.0", "float64", True),
    "beta": ("a b", "float64", True),
    "chisquare": ("df", "float64", True),
    "standard_t": ("df", "float64", True),
    "weibull": ("a", "float64", True),
    "pareto": ("a", "float64", True),
    "poisson": ("lam=1.0", "int64", True),
    "binomial": ("n p", "int64", True),
    "geometric": ("p", "int64", True),
}
_LAST = {
    "random": "size dtype out", "standard_normal": "size dtype out", "standard_exponential": "size dtype method out",
}  # fmt: skip
METHODS = (*_DRAWS, "integers", "permutation", "choice", "shuffle")


@handles("numpy.random.default_rng", names="seed")
def _default_rng(ctx: Context, a: Arguments) -> Value:
    seed = a.get("seed")
    if isinstance(seed, Generator):
        return seed
    if seed is None:
        ctx.fail("np.random.default_rng without a seed", "give it one, or draw outside and pass the numbers in")
    state = ctx.buffer("generator", "uint64", (b.index(6),))
    ctx.emit(n.Alloc(state.name))
    given = as_array(ctx, seed)
    if not given.dtype.startswith(("int", "uint")):
        ctx.guard(b.FALSE, "TypeError", "SeedSequence expects int or sequence of ints for entropy")
    held = _held(ctx, convert(given, "int64"), "seed")
    ctx.emit(n.Library("seeded", (state.name,), (held.base,)))
    return Generator(state.name)


def _held(ctx: Context, value: Array, base: str) -> Array:
    from transkern.frontend.library_calls import is_plain

    value = ctx.compact(value, base) if value.mask is not None else value
    if is_plain(ctx, value):
        return value
    return ctx.define(Array(value.axes, value.body), base)


def draw(
    ctx: Context, generator: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """A call of one of the generator's methods."""
    match name:
        case "integers":
            return _integers(ctx, generator, args, keywords)
        case "permutation" | "shuffle":
            return _permutation(ctx, generator, name, args, keywords)
        case "choice":
            return _choice(ctx, generator, args, keywords)
        case _ if name not in _DRAWS:
            ctx.fail(f"`.{name}` of a random generator", f"supported: {', '.join(METHODS)}")
    described, dtype, python = _DRAWS[name]
    parameters = [p.partition("=") for p in described.split()]
    last = _LAST.get(name, "size").split()
    a = Arguments(ctx, f"Generator.{name}", [*(p for p, _, _ in parameters), *last], args, keywords)
    if a.get("method") is not None or a.get("out") is not None:
        ctx.fail(f"`{a.name}` with method= or out=")
    values = []
    for parameter, _, default in parameters:
        given = a.get(parameter)
        if given is None and not default:
            a.need(parameter)
        values.append(as_array(ctx, given if given is not None else Static(float(default))))
    dtype = dtype_of(ctx, a.get("dtype"), dtype)
    values = [convert(v, "int64" if name == "binomial" and k == 0 else "float64") for k, v in enumerate(values)]
    dims = _size(ctx, a, [v.dims for v in values])
    made = _step(ctx, generator, name, values, dims, dtype, _typed(name, dtype))
    return _result(ctx, made, python and a.get("dtype") is None)


def _typed(name: str, dtype: str) -> str:
    return f", dtype='{dtype}'" if name in _LAST else ""


def _size(ctx: Context, a: Arguments, shapes: Sequence[tuple[Expr, ...]] = ()) -> tuple[Expr, ...]:
    size = a.get("size")
    if size is not None:
        return full(ctx, dims_of(ctx, size), b.ZERO).dims
    return broadcast_dims(ctx, [*shapes, ()])


def _step(
    ctx: Context, generator: Generator, name: str, values: Sequence[Array], dims: tuple[Expr, ...], dtype: str,
    more: str = "", only: str = "", sized: bool = True,
) -> Array:  # fmt: skip
    """A draw; `more` and `only` are texts for the call, over the parameters ``a``."""
    ins = [_held(ctx, v, "parameter") for v in values]
    out = ctx.buffer("drawn", dtype, dims)
    ctx.emit(n.Alloc(out.name))
    names = (generator.state, *(v.base for v in ins))
    ctx.before_write(generator.state)
    taken = only or ", ".join(f"a[{k}]" for k in range(len(ins)))
    call = f"{name}({taken}{', ' if taken and sized else ''}{'shape' if sized else ''}{more})"
    ctx.emit(n.Library("drawn", (out.name, generator.state), names, (("call", call),)))
    return ctx.whole(out)


def _result(ctx: Context, made: Array, python: bool) -> Value:
    """A number where no size was given."""
    if made.ndim:
        return made
    held = ctx.let(made.body, "drawn")
    if not python:
        return Scalar(held)
    return Scalar(b.as_index(held) if made.dtype == "int64" else held, True)


def _integers(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "Generator.integers", ("low", "high", "size", "dtype", "endpoint"), args, keywords)
    low, high = a.need("low"), a.get("high")
    if high is None:
        low, high = Static(0), low
    values = [convert(as_array(ctx, v), "int64") for v in (low, high)]
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    made = _step(
        ctx, generator, "integers", values, _size(ctx, a, [v.dims for v in values]), dtype,
        f", endpoint={a.flag('endpoint')}, dtype='{dtype}'",
    )  # fmt: skip
    return _result(ctx, made, False)


def _permutation(
    ctx: Context, generator: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    a = Arguments(ctx, f"Generator.{name}", ("x", "axis"), args, keywords)
    if a.get("axis") is not None:
        ctx.fail(f"`{a.name}` with axis=")
    given = a.need("x")
    value = as_array(ctx, given)
    if name == "permutation" and value.ndim == 0:
        (count,) = full(ctx, (b.as_index(scalar_expr(ctx, given)),), b.ZERO).dims
        held = Array(ctx.axes((count,)), Const(0, "int64"))
        value = Array(held.axes, b.cast(held.axes[0].var, "int64"))
    made = _step(ctx, generator, "permutation", [value], value.dims, value.dtype, sized=False)
    if name == "permutation":
        return made
    if not isinstance(given, Array) or not given.view:
        ctx.fail("`Generator.shuffle` of something that is no array with memory of its own")
    write(ctx, given, [Static(Ellipsis)], made)
    return Static(None)


def _choice(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "Generator.choice", ("a", "size", "replace", "p", "axis", "shuffle"), args, keywords)
    if a.get("axis") is not None or a.get("shuffle") is not None:
        ctx.fail("`Generator.choice` with axis= or shuffle=")
    given = as_array(ctx, a.need("a"))
    if given.ndim > 1:
        ctx.fail("`Generator.choice` from several dimensions", "choose positions, and gather with them")
    values = [given if given.ndim else convert(given, "int64")]
    more = f", replace={a.flag('replace', True)}"
    if a.get("p") is not None:
        values.append(convert(as_array(ctx, a.need("p")), "float64"))
        more += ", p=a[1]"
    dims = _size(ctx, a)
    dtype = given.dtype if given.ndim else "int64"
    made = _step(ctx, generator, "choice", values, dims, dtype, more, "a[0]" if given.ndim else "int(a[0])")
    return _result(ctx, made, False)


"""`np.random.default_rng(seed)`: numbers drawn by NumPy on the host between kernels, the same ones as without us.

A generator is its state, eight words in memory: a step reads them, draws, and writes them back. So it may be drawn from
in loops and branches, and by several kernels, in the order of the program.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.compositions.random import drawing, ziggurat
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, captured_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.library_calls import is_plain
from transkern.frontend.numpy.random.seeds import seed_array
from transkern.frontend.numpy.shaping import constant_axis, dims_of, dtype_of, full, normal_axis
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.sources.observed import note
from transkern.frontend.state import stores
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.translate.storing import changed_in_place, write
from transkern.frontend.values import large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_dims
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Concatenation, Generator, GrowingList, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.generators import state_of

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
    "triangular": ("left mode right", "float64", True),
    "vonmises": ("mu kappa", "float64", True),
    "power": ("a", "float64", True),
    "wald": ("mean scale", "float64", True),
    "f": ("dfnum dfden", "float64", True),
    "zipf": ("a", "int64", True),
    "logseries": ("p", "int64", True),
    "negative_binomial": ("n p", "int64", True),
    "standard_cauchy": ("", "float64", True),
    "standard_gamma": ("shape", "float64", True),
    "noncentral_chisquare": ("df nonc", "float64", True),
    "noncentral_f": ("dfnum dfden nonc", "float64", True),
    "hypergeometric": ("ngood nbad nsample", "int64", True),
}
_WHOLE = {"binomial": ("n",), "hypergeometric": ("ngood", "nbad", "nsample")}
"""Parameters that are integers."""
_VECTORS = {
    # name: (parameters, the one whose length is that of a draw, the dtype of a draw)
    "multivariate_normal": ("mean cov", "mean", "float64"),
    "dirichlet": ("alpha", "alpha", "float64"),
    "multinomial": ("n pvals", "pvals", "int64"),
    "multivariate_hypergeometric": ("colors nsample", "colors", "int64"),
}
_OPTIONS = {
    "multivariate_normal": ("check_valid", "tol", "method"), "multivariate_hypergeometric": ("method",),
}  # fmt: skip
"""What these take besides, known while translating."""
_LAST = {
    "random": "size dtype out", "standard_normal": "size dtype out", "standard_exponential": "size dtype method out",
    "standard_gamma": "size dtype out",
}  # fmt: skip
_NEW = ("integers", "permuted", "multivariate_hypergeometric")
"""What a `RandomState` does not have."""
METHODS = (*_DRAWS, "integers", "permutation", "permuted", "choice", "shuffle", *_VECTORS)
_LEGACY_METHODS = {
    "rand": "random_sample", "randn": "standard_normal", "random_sample": "random_sample", "random": "random_sample",
    "ranf": "random_sample", "sample": "random_sample",
}  # fmt: skip
"""What `RandomState` has other names for."""
LEGACY = (*(m for m in METHODS if m not in _NEW), *_LEGACY_METHODS, "randint", "seed")
_DRAWN_HERE = {
    "random": "number", "uniform": "number_between", "standard_normal": "normal", "normal": "normal_around",
    "standard_exponential": "exponential", "exponential": "exponential_of_mean",
}  # fmt: skip
"""The compositions for what kernels draw."""
_TABLES = {
    "normal": ziggurat.NORMAL, "normal_around": ziggurat.NORMAL, "exponential": ziggurat.EXPONENTIAL,
    "exponential_of_mean": ziggurat.EXPONENTIAL,
}  # fmt: skip
"""The tables that some of them look up."""
_MANY = 65
"""Numbers of which a library draws faster, with its call."""
STATE_WORDS = {"PCG64": 6, "MT19937": 627, "global": 1}


@handles("numpy.random.default_rng", names="seed")
def _default_rng(ctx: Context, a: Arguments) -> Value:
    seed = a.get("seed")
    if isinstance(seed, Generator) or (isinstance(seed, Static) and isinstance(seed.value, np.random.Generator)):
        return seed
    if seed in (None, Static(None)):
        return _seeded(ctx, None, "PCG64")
    return _seeded(ctx, seed, "PCG64")


@handles("numpy.random.RandomState", names="seed")
def _random_state(ctx: Context, a: Arguments) -> Value:
    seed = a.get("seed")
    if seed in (None, Static(None)):
        return _seeded(ctx, None, "MT19937")
    return _seeded(ctx, seed, "MT19937")


def _seeded(ctx: Context, seed: Value | None, kind: str) -> Generator:
    """A new generator, of an integer or several, or of none."""
    state = ctx.buffer("generator", "uint64", (b.index(STATE_WORDS[kind]),))
    ctx.emit(n.Alloc(state.name))
    legacy = kind != "PCG64"
    ins: tuple[str, ...] = ()
    known: tuple[tuple[str, Any], ...] = ()
    if seed is not None and large.is_large(seed):
        known = (("seed", seed.value),)
    elif seed is not None:
        given, listed = seed_array(ctx, seed, legacy)
        ins = (_held(ctx, given, "seed").base,)
        known = (("listed", True),) if listed else ()
    ctx.emit(n.Library("seeded", (state.name,), ins, (("kind", kind), *known)))
    return Generator(state.name, kind, legacy=legacy)


def captured(ctx: Context, generator: np.random.Generator | np.random.RandomState) -> Generator:
    """A generator that a module holds: each draw asks the module for it, so that it goes on for others, too."""
    for module, space in [(m, vars(s)) for m, s in list(sys.modules.items()) if isinstance(s, types.ModuleType)]:
        for name, value in list(space.items()):
            if value is generator:
                note(space, name)
                of = f"__import__('sys').modules[{module!r}].__dict__[{name!r}]"
                return _global(ctx, of, isinstance(generator, np.random.RandomState))
    problem = "a random generator from outside that is no global of a module"
    ctx.fail(refusals.RANDOM, problem, "pass it as an argument")


def _global(ctx: Context, of: str = "np.random", legacy: bool = True) -> Generator:
    """A generator that others share: the one behind ``np.random.rand()``, or what the text `of` finds. The memory only
    says in what order they are drawn from."""
    if not ctx.inputs.global_generator:
        ctx.inputs.global_generator = ctx.names.fresh("global_generator")
    name = ctx.inputs.global_generator
    if name not in ctx.names.buffers:
        ctx.names.buffers[name] = n.Buffer(name, "uint64", (b.index(STATE_WORDS["global"]),))
    return Generator(name, "global", of, legacy)


def _register(name: str) -> None:
    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        return draw(ctx, _global(ctx), name, args, keywords)

    TABLE[f"numpy.random.{name}"] = run


for _name in LEGACY:
    _register(_name)


def _held(ctx: Context, value: Array, base: str) -> Array:
    value = ctx.compact(value, base) if value.mask is not None else value
    if is_plain(ctx, value):
        return value
    return ctx.define(Array(value.axes, value.body), base)


def draw(
    ctx: Context, generator: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """A call of one of the generator's methods."""
    legacy = generator.legacy
    if legacy:
        if name in ("rand", "randn") and not keywords:
            args = [Seq(tuple(args))] if args else []
        name = _LEGACY_METHODS.get(name, name)
        if name in ("permuted", "multivariate_hypergeometric"):
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of a RandomState", "take np.random.default_rng(seed)")
        if name in ("integers", "default_rng"):
            help = "write .randint(low, high); np.random.default_rng(seed) has `.integers`, and draws other numbers"
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of a RandomState", help)
    match name:
        case "randint" if legacy:
            return _randint(ctx, generator, args, keywords)
        case "seed" if legacy:
            return _seed(ctx, generator, args, keywords)
        case "random_sample" if legacy:
            a = Arguments(ctx, "random_sample", ("size",), args, keywords)
            dims = _size(ctx, a)
            if _is_drawn_here(ctx, generator, [], dims):
                return _result(ctx, _drawn(ctx, generator, "number", [], dims, "float64"), True)
            return _result(ctx, _step(ctx, generator, name, [], dims, "float64"), True)
        case _ if name in _VECTORS:
            return _vectors(ctx, generator, name, args, keywords)
        case "integers":
            return _integers(ctx, generator, args, keywords)
        case "permuted":
            return _permuted(ctx, generator, args, keywords)
        case "permutation" | "shuffle":
            return _permutation(ctx, generator, name, args, keywords)
        case "choice":
            return _choice(ctx, generator, args, keywords)
        case _ if name not in _DRAWS:
            known = LEGACY if legacy else METHODS
            help = f"draw it outside the compiled function; supported: {', '.join(known)}"
            ctx.fail(refusals.RANDOM, f"`.{name}` of a random generator", help)
    described, dtype, python = _DRAWS[name]
    parameters = [p.partition("=") for p in described.split()]
    last = _LAST.get(name, "size").split() if not legacy else ["size"]
    a = Arguments(ctx, f"Generator.{name}", [*(p for p, _, _ in parameters), *last], args, keywords)
    method = "" if legacy or a.get("method") is None else f", method={a.text('method', '')!r}"
    if not legacy and a.get("out") is not None:
        ctx.fail(refusals.OPTION, f"`{a.name}` with out=", f"store what it draws: x[...] = rng.{name}(x.shape)")
    values = []
    for parameter, _, default in parameters:
        given = a.get(parameter)
        if given is None and not default:
            a.need(parameter)
        values.append(as_array(ctx, given if given is not None else Static(float(default))))
    dtype = dtype_of(ctx, None if legacy else a.get("dtype"), dtype)
    whole = _WHOLE.get(name, ())
    for parameter in (p for p in whole if a.get(p) is not None):
        _check_whole(ctx, a, parameter)
    values = [
        _taken(ctx, v, "int64" if p in whole else "float64") for v, (p, _, _) in zip(values, parameters, strict=True)
    ]
    if name == "uniform" and a.get("size") is None:  # it takes the difference of its limits
        broadcast_dims(ctx, [v.dims for v in reversed(values)])
    dims = _size(ctx, a, [v.dims for v in values])
    if name in _DRAWN_HERE and not method and dtype == "float64" and _is_drawn_here(ctx, generator, values, dims):
        made = _drawn(ctx, generator, _DRAWN_HERE[name], values, dims, dtype)
    else:
        made = _step(ctx, generator, name, values, dims, dtype, "" if legacy else _typed(name, dtype) + method)
    return _result(ctx, made, python and (legacy or a.get("dtype") is None))


def _taken(ctx: Context, value: Array, dtype: str) -> Array:
    """A parameter of a draw as NumPy takes it: of arrays nothing may be lost, and numbers are real."""
    if value.ndim and not np.can_cast(value.dtype, dtype, "safe"):
        types = f"from dtype('{value.dtype}') to dtype('{dtype}')"
        ctx.guard(b.FALSE, "TypeError", f"Cannot cast array data {types} according to the rule 'safe'")
    if is_complex(value.dtype):
        ctx.guard(b.FALSE, "TypeError", "float() argument must be a string or a real number, not 'complex'")
    return convert(value, dtype)


def _typed(name: str, dtype: str) -> str:
    return f", dtype='{dtype}'" if name in _LAST else ""


def _size(ctx: Context, a: Arguments, shapes: Sequence[tuple[Expr, ...]] = ()) -> tuple[Expr, ...]:
    size = a.get("size")
    if size is not None:
        return full(ctx, dims_of(ctx, size), b.ZERO).dims
    return broadcast_dims(ctx, [*shapes, ()], "objects")


def _step(
    ctx: Context, generator: Generator, name: str, values: Sequence[Array], dims: tuple[Expr, ...], dtype: str,
    more: str = "", only: str = "", sized: bool = True, then: str = "",
) -> Array:  # fmt: skip
    """A draw; `more`, `only` and `then` are texts for the call and what follows it, over the parameters ``a``."""
    ins = [_held(ctx, v, "parameter") for v in values]
    out = ctx.buffer("drawn", dtype, dims)
    ctx.emit(n.Alloc(out.name))
    names = (generator.state, *(v.base for v in ins))
    stores.before_write(ctx, generator.state)
    outputs.note_written(ctx, ctx.names.whole(ctx.names.buffers[generator.state]))
    taken = only or ", ".join(f"a[{k}]" for k in range(len(ins)))
    shape = "" if not sized or not dims else "size=shape or None" if generator.legacy else "shape"
    given = f"{', '.join(part for part in (taken, shape) if part)}{more}"
    call = f"{name}({given.removeprefix(', ')}){then}"
    attributes = (("call", call), ("kind", generator.kind), ("of", generator.of), ("single", not dims))
    ctx.emit(n.Library("drawn", (out.name, generator.state), names, attributes))
    return ctx.names.whole(out)


def _is_drawn_here(ctx: Context, generator: Generator, values: Sequence[Array], dims: tuple[Expr, ...]) -> bool:
    """Whether the kernel draws, one number or a few alike: a library would take a call of Python's."""
    few = (b.constant(b.product(dims)) if dims else 1) or _MANY
    if not ctx.session.steps_take_views or generator.kind == "global" or few >= _MANY or any(v.dims for v in values):
        return False
    return is_numpys_way(generator.kind)


@functools.cache
def is_numpys_way(kind: str) -> bool:
    """Whether the NumPy that is here draws as the compositions do: it promises no stream for all of its versions."""
    theirs: Any = np.random.default_rng(1) if kind == "PCG64" else np.random.RandomState(1)
    state, legacy = state_of(theirs), kind != "PCG64"
    integers, prefix = ("randint", "twister_") if legacy else ("integers", "")
    given: Sequence[tuple[str, str, tuple[Any, ...]]] = (
        ("random", "number", ()), ("uniform", "number_between", (-2.0, 3.0)), (integers, "integer_between", (-2, 100)),
        (integers, "integer_between", (0, 1 << 40)), ("standard_normal", "normal", ()),
        ("normal", "normal_around", (1.0, 2.0)), (integers, "integer_between", (0, (1 << 31) + 7)),
        ("standard_exponential", "exponential", ()), ("exponential", "exponential_of_mean", (3.0,)),
    )  # fmt: skip
    with np.errstate(over="ignore"):
        for _ in range(30):
            for name, by, parameters in given:
                wanted = getattr(theirs, "random_sample" if legacy and name == "random" else name)(*parameters)
                last = tuple(np.int64(p - k) for k, p in enumerate(parameters)) if name == integers else parameters
                more = () if legacy else _TABLES.get(by, ())
                if getattr(drawing, prefix + by)(state, *last, *more) != wanted:
                    return False
        likely = np.array([0.2, 0.1, 0.3, 0.4])
        if any(drawing.chosen(state, f"{prefix}number", likely) != theirs.choice(4, p=likely) for _ in range(30)):
            return False
    return bool(np.array_equal(state, state_of(theirs)))


def _drawn(
    ctx: Context, generator: Generator, by: str, values: Sequence[Array], dims: tuple[Expr, ...], dtype: str
) -> Array:
    state = ctx.names.whole(ctx.names.buffers[generator.state])
    numbers = [Scalar(ctx.let(v.body, "parameter")) for v in values]
    tables = () if generator.legacy else _TABLES.get(by, ())
    by = f"twister_{by}" if generator.legacy else by
    given: list[Value] = [state, *numbers, *(captured_array(ctx, t) for t in tables)]
    if not dims:
        return as_array(ctx, compose(ctx, "random/drawing", by, given, {}))
    made = ctx.buffer("drawn", dtype, dims)
    ctx.emit(n.Alloc(made.name))
    compose(ctx, "random/drawing", "fill", [ctx.names.whole(made), Static(by), *given], {})
    return ctx.names.whole(made)


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
    values = [_taken(ctx, as_array(ctx, v), "int64") for v in (low, high)]
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    dims, closed = _size(ctx, a, [v.dims for v in values]), a.flag("endpoint")
    if dtype == "int64" and _is_drawn_here(ctx, generator, values, dims):
        return _result(ctx, _integers_here(ctx, generator, values, closed, dims), False)
    made = _step(
        ctx, generator, "integers", values, dims, dtype, f", endpoint={closed}, dtype='{dtype}'"
    )  # fmt: skip
    return _result(ctx, made, False)


def _randint(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "randint", ("low", "high", "size", "dtype"), args, keywords)
    low, high = a.need("low"), a.get("high")
    if high is None:
        low, high = Static(0), low
    values = [convert(as_array(ctx, v), "int64") for v in (low, high)]
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    dims = _size(ctx, a, [v.dims for v in values])
    if dtype == "int64" and _is_drawn_here(ctx, generator, values, dims):
        made = _integers_here(ctx, generator, values, False, dims)
    else:
        made = _step(ctx, generator, "randint", values, dims, dtype, f", dtype='{dtype}'")
    return _result(ctx, made, a.get("dtype") is None)


def _integers_here(
    ctx: Context, generator: Generator, values: Sequence[Array], closed: bool, dims: tuple[Expr, ...]
) -> Array:
    """Integers from the first value up to the second, or with it (`closed`)."""
    first, last = (v.body for v in values)
    fits, equal = b.compare("less_equal" if closed else "less", first, last), "" if closed else "="
    ctx.guard(b.either(b.compare("not_equal", first, Const(0, "int64")), fits), "ValueError", f"high <{equal} 0")
    ctx.guard(fits, "ValueError", f"low >{equal} high")
    last = last if closed else Apply("subtract", (last, Const(1, "int64")), "int64")
    return _drawn(ctx, generator, "integer_between", [Array((), first), Array((), last)], dims, "int64")


def _seed(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "seed", ("seed",), args, keywords)
    given = a.get("seed")
    seed, listed = (None, False) if given is None else seed_array(ctx, given, True)
    only = "a[0].tolist()" if listed else ""
    _step(ctx, generator, "seed", [] if seed is None else [seed], (), "int64", only=only, sized=False, then=" or 0")
    return Static(None)


def _vectors(
    ctx: Context, generator: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """Draws that are vectors."""
    described, like, dtype = _VECTORS[name]
    options = [o for o in _OPTIONS.get(name, ()) if o != "method" or not generator.legacy]
    a = Arguments(ctx, name, (*described.split(), "size", *options), args, keywords)
    whole = described.split() if name == "multivariate_hypergeometric" else ["n"]
    values = {p: as_array(ctx, a.need(p)) for p in described.split()}
    if name == "multinomial":
        _check_whole(ctx, a, "n")
    if whole[0] == like:
        values[like] = _colors(ctx, values[like])
    values = {p: _taken(ctx, v, "int64" if p in whole else "float64") for p, v in values.items()}
    several = name == "multinomial" and not generator.legacy and values["pvals"].ndim > 0
    if not several and (values[like].ndim != 1 or ("n" in values and values["n"].ndim)):
        problem = f"`{name}` with the parameters of several vectors at once"
        ctx.fail(refusals.RANDOM, problem, "draw in a loop, with the parameters of one vector each time")
    batches = [values["n"].dims, values["pvals"].dims[:-1]] if several else []
    dims, width = _size(ctx, a, batches), values[like].dims[-1]
    more = f", size={'shape[:-1] or None' if generator.legacy else 'shape[:-1]'}"
    for option in options:
        if (given := a.get(option)) is not None:
            more += f", {option}={np.asarray(constant_object(ctx, given, f'`{option}=`')).item()!r}"
    return _step(ctx, generator, name, list(values.values()), (*dims, width), dtype, more, sized=False)


def _check_whole(ctx: Context, a: Arguments, name: str) -> None:
    """Refuses sequences and arrays of numbers that are no integers, some of which NumPy takes for integers."""
    given = ctx.deref(a.need(name))
    if isinstance(given, (Array, Seq, GrowingList)) and not np.can_cast(as_array(ctx, given).dtype, "int64"):
        ctx.fail(refusals.RANDOM, f"`{a.name}` with `{name}` of no integers", "make them integers: np.array(n, int)")


def _colors(ctx: Context, value: Array) -> Array:
    """Numbers of balls, which NumPy asks whether they are integers."""
    if not np.can_cast(value.dtype, "int64"):
        asked(ctx, np.random.default_rng(0).multivariate_hypergeometric, np.zeros(1, value.dtype), 0)
    return convert(value, "int64")


def _permuted(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) > 1:
        text = f"permuted() takes exactly 1 positional argument ({len(args)} given)"
        ctx.guard(b.FALSE, "TypeError", text)
    a = Arguments(ctx, "Generator.permuted", ("x", "axis", "out"), args[:1], keywords)
    if a.get("out") is not None:
        ctx.fail(refusals.OPTION, f"`{a.name}` with out=", "store what it gives: x[...] = rng.permuted(x)")
    value = as_array(ctx, a.need("x"))
    if a.get("axis") is None and value.ndim > 1:
        problem = "`Generator.permuted` without axis=: it goes through an array as that lies in memory"
        ctx.fail(refusals.RANDOM, problem, "give it one dimension: rng.permuted(x.ravel()).reshape(x.shape)")
    axis = None if a.get("axis") is None else normal_axis(ctx, constant_axis(ctx, a.need("axis")), value.ndim)
    return _step(ctx, generator, "permuted", [value], value.dims, value.dtype, f", axis={axis}", sized=False)


def _permutation(
    ctx: Context, generator: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    a = Arguments(ctx, f"Generator.{name}", ("x",) if generator.legacy else ("x", "axis"), args, keywords)
    given = a.need("x")
    value = as_array(ctx, given)
    if a.given.get("axis") == Static(None):
        ctx.guard(b.FALSE, "TypeError", "'NoneType' object cannot be interpreted as an integer")
    axis = 0 if a.get("axis") is None or not value.ndim else constant_axis(ctx, a.need("axis"))
    axis = normal_axis(ctx, axis, value.ndim) if value.ndim else 0
    if name == "shuffle" and isinstance(ctx.deref(given), (Array, Concatenation)) and value.ndim:
        given = value = changed_in_place(ctx, value)
    if value.ndim == 0 and not value.dtype.startswith(("int", "uint")):
        ctx.fail(refusals.RANDOM, f"`{a.name}` of a number that is no integer", "give it an integer, or an array")
    if name == "permutation" and value.ndim == 0:
        (count,) = full(ctx, (integer_expr(ctx, given),), b.ZERO).dims
        held = Array(ctx.names.axes((count,)), Const(0, "int64"))
        value = Array(held.axes, b.cast(held.axes[0].var, "int64"))
    if name == "shuffle" and isinstance(given, Array):
        outputs.check_readonly(ctx, given, "array")
    more = f", axis={axis}" if axis else ""
    made = _step(ctx, generator, "permutation", [value], value.dims, value.dtype, more, sized=False)
    if name == "permutation":
        return made
    if not isinstance(given, Array) or not given.view:
        problem = "`Generator.shuffle` of something that is no array with memory of its own"
        ctx.fail(refusals.RANDOM, problem, "make an array of it first: x = np.array(items), and rng.shuffle(x)")
    write(ctx, given, [Static(Ellipsis)], made)
    return Static(None)


def _choice(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    names = ("a", "size", "replace", "p", *(() if generator.legacy else ("axis", "shuffle")))
    a = Arguments(ctx, "RandomState.choice" if generator.legacy else "Generator.choice", names, args, keywords)
    given = as_array(ctx, a.need("a"))
    shuffled = generator.legacy or a.flag("shuffle", True)
    if given.ndim and a.given.get("axis") == Static(None):
        ctx.guard(b.FALSE, "TypeError", "tuple indices must be integers or slices, not NoneType")
    axis = 0 if a.get("axis") is None else constant_axis(ctx, a.need("axis"))
    if given.ndim and not -given.ndim <= axis < given.ndim:
        ctx.guard(b.FALSE, "IndexError", "tuple index out of range")
        axis = 0
    if given.ndim > 1 and generator.legacy:
        help = "choose positions, and gather with them: x[rng.choice(len(x), size)]"
        ctx.fail(refusals.RANDOM, "`RandomState.choice` from several dimensions", help)
    if not given.ndim and not given.dtype.startswith(("int", "uint")):
        problem = "`Generator.choice` from a number that is no integer"
        ctx.fail(refusals.RANDOM, problem, "give it an integer, or an array")
    values = [given if given.ndim else convert(given, "int64")]
    more = f", replace={a.flag('replace', True)}"
    tolerance = np.sqrt(np.finfo(np.float64).eps)
    if (likely := a.get("p")) is not None:
        p = as_array(ctx, likely)
        if p.dtype.startswith("float") and not isinstance(ctx.deref(likely), (Seq, GrowingList)):
            tolerance = max(tolerance, np.sqrt(np.finfo(p.dtype).eps))  # as NumPy has it for arrays
        values.append(_taken(ctx, p, "float64"))
        more += ", p=a[1]"
    if given.ndim > 1 or not shuffled:
        return _choice_of_parts(ctx, generator, a, values, axis, more, shuffled)
    if a.get("size") is None and a.flag("replace", True) and _is_drawn_here(ctx, generator, [], ()):
        at = _chosen(ctx, generator, given, values, float(tolerance))
        if not given.ndim:
            return Scalar(b.as_index(ctx.let(at.expr, "drawn")), True)
        return compose(ctx, "random/drawing", "picked", [given, at], {})
    dims = _size(ctx, a)
    dtype = given.dtype if given.ndim else "int64"
    made = _step(ctx, generator, "choice", values, dims, dtype, more, "a[0]" if given.ndim else "a[0].item()")
    return _result(ctx, made, not given.ndim)


def _choice_of_parts(
    ctx: Context, generator: Generator, a: Arguments, values: Sequence[Array], axis: int, more: str, shuffled: bool
) -> Value:
    """A `choice` of what stands on an axis (of an array of several dimensions: rows), or without a shuffle."""
    given, size = values[0], a.get("size")
    axis = normal_axis(ctx, axis, given.ndim) if given.ndim else 0
    many = () if size is None else _size(ctx, a)
    dims = (*given.dims[:axis], *many, *given.dims[axis + 1 :])
    shape = "None" if size is None else f"shape[{axis}:{axis + len(many)}]"
    more = f", size={shape}{more}, axis={axis}, shuffle={shuffled}"
    only = "a[0]" if given.ndim else "a[0].item()"
    made = _step(ctx, generator, "choice", values, dims, given.dtype, more, only, sized=False)
    return _result(ctx, made, not given.ndim)


def _chosen(
    ctx: Context, generator: Generator, given: Array, values: Sequence[Array], tolerance: float
) -> Scalar:
    """The position of one that is chosen: from so many, or from those in an array, alike or by probabilities, whose sum
    may be so far from 1."""
    says = _complaints(generator.legacy)
    many = given.dims[0] if given.ndim else b.as_index(values[0].body)
    ctx.guard(b.compare("greater", many, b.ZERO), "ValueError", says["empty" if given.ndim else "none"])
    if len(values) == 1:
        bounds = [Array((), Const(0, "int64")), Array((), b.cast(many, "int64"))]
        return Scalar(ctx.let(_integers_here(ctx, generator, bounds, False, ()).body, "chosen"))
    likely = values[1]
    if likely.ndim != 1:
        ctx.guard(b.FALSE, "ValueError", says["dimensions"])
    ctx.guard(b.compare("equal", likely.dims[0], many), "ValueError", says["size"])
    likely = _held(ctx, likely, "probabilities")
    trouble = scalar_expr(ctx, compose(ctx, "random/drawing", "trouble_with", [likely, Static(tolerance)], {}))
    for number, of in enumerate(("nan", "negative", "sum"), 1):
        ctx.guard(b.compare("not_equal", b.as_index(trouble), b.index(number)), "ValueError", says[of])
    by = Static("twister_number" if generator.legacy else "number")
    state = ctx.names.whole(ctx.names.buffers[generator.state])
    return Scalar(scalar_expr(ctx, compose(ctx, "random/drawing", "chosen", [state, by, likely], {})))


@functools.cache
def _complaints(legacy: bool) -> Mapping[str, str]:
    """What this NumPy says of a `choice` that cannot be made."""
    theirs: Any = np.random.RandomState(0) if legacy else np.random.default_rng(0)
    wrong: Mapping[str, tuple[Any, Any]] = {
        "none": (0, None), "empty": (np.zeros(0), None), "dimensions": (2, [[0.5, 0.5]]), "size": (3, [0.5, 0.5]),
        "nan": (2, [np.nan, 1.0]), "negative": (2, [-0.5, 1.5]), "sum": (2, [0.5, 0.4]),
    }  # fmt: skip
    found = {}
    for of, (given, likely) in wrong.items():
        try:
            theirs.choice(given, p=likely)
        except ValueError as error:
            found[of] = str(error)
    return found


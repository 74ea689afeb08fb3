"""`np.random.default_rng(seed)`: numbers drawn by NumPy on the host between kernels, the same ones as without us.

A generator is its state, eight words in memory: a step reads them, draws, and writes them back. So it may be drawn from
in loops and branches, and by several kernels, in the order of the program.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.random import shared
from transkern.frontend.numpy.random.orders import choice, permutation, permuted
from transkern.frontend.numpy.random.seeds import seed_array
from transkern.frontend.numpy.random.steps import (
    DRAWN_HERE,
    LAST,
    STATE_WORDS,
    drawn,
    held,
    integers_here,
    is_drawn_here,
    is_numpys_way,
    result_of,
    size_of_draws,
    step,
    taken,
    typed,
)
from transkern.frontend.numpy.sizes import dtype_of
from transkern.frontend.sources.observed import note
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import large
from transkern.frontend.values.asking import asked
from transkern.frontend.values.broadcasting import broadcast_dims
from transkern.frontend.values.values import Array, Generator, GrowingList, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n

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
_NEW = ("integers", "permuted", "multivariate_hypergeometric")
"""What a `RandomState` does not have."""
METHODS = (*_DRAWS, "integers", "permutation", "permuted", "choice", "shuffle", *_VECTORS)
_LEGACY_METHODS = {
    "rand": "random_sample", "randn": "standard_normal", "random_sample": "random_sample", "random": "random_sample",
    "ranf": "random_sample", "sample": "random_sample",
}  # fmt: skip
"""What `RandomState` has other names for."""
LEGACY = (*(m for m in METHODS if m not in _NEW), *_LEGACY_METHODS, "randint", "seed")


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
        ins = (held(ctx, given, "seed").base,)
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
    """A generator that others share: the one behind ``np.random.rand()``, or what the text `of` finds. Where it is not
    lent, its memory only says in what order it is drawn from."""
    kind = "MT19937" if legacy else "PCG64"
    if is_numpys_way(kind) and (lent := shared.lent(ctx, of, kind, legacy)) is not None:
        return lent
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
            dims = size_of_draws(ctx, a)
            if is_drawn_here(ctx, generator, [], dims):
                return result_of(ctx, drawn(ctx, generator, "number", [], dims, "float64"), True)
            return result_of(ctx, step(ctx, generator, name, [], dims, "float64"), True)
        case _ if name in _VECTORS:
            return _vectors(ctx, generator, name, args, keywords)
        case "integers":
            return _integers(ctx, generator, args, keywords)
        case "permuted":
            return permuted(ctx, generator, args, keywords)
        case "permutation" | "shuffle":
            return permutation(ctx, generator, name, args, keywords)
        case "choice":
            return choice(ctx, generator, args, keywords)
        case _ if name not in _DRAWS:
            known = LEGACY if legacy else METHODS
            help = f"draw it outside the compiled function; supported: {', '.join(known)}"
            ctx.fail(refusals.RANDOM, f"`.{name}` of a random generator", help)
    described, dtype, python = _DRAWS[name]
    parameters = [p.partition("=") for p in described.split()]
    last = LAST.get(name, "size").split() if not legacy else ["size"]
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
        taken(ctx, v, "int64" if p in whole else "float64") for v, (p, _, _) in zip(values, parameters, strict=True)
    ]
    if name == "uniform" and a.get("size") is None:  # it takes the difference of its limits
        broadcast_dims(ctx, [v.dims for v in reversed(values)])
    dims = size_of_draws(ctx, a, [v.dims for v in values])
    if name in DRAWN_HERE and not method and dtype == "float64" and is_drawn_here(ctx, generator, values, dims):
        made = drawn(ctx, generator, DRAWN_HERE[name], values, dims, dtype)
    else:
        made = step(ctx, generator, name, values, dims, dtype, "" if legacy else typed(name, dtype) + method)
    return result_of(ctx, made, python and (legacy or a.get("dtype") is None))


def _integers(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "Generator.integers", ("low", "high", "size", "dtype", "endpoint"), args, keywords)
    low, high = a.need("low"), a.get("high")
    if high is None:
        low, high = Static(0), low
    values = [taken(ctx, as_array(ctx, v), "int64") for v in (low, high)]
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    dims, closed = size_of_draws(ctx, a, [v.dims for v in values]), a.flag("endpoint")
    if dtype == "int64" and is_drawn_here(ctx, generator, values, dims):
        return result_of(ctx, integers_here(ctx, generator, values, closed, dims), False)
    made = step(
        ctx, generator, "integers", values, dims, dtype, f", endpoint={closed}, dtype='{dtype}'"
    )  # fmt: skip
    return result_of(ctx, made, False)


def _randint(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "randint", ("low", "high", "size", "dtype"), args, keywords)
    low, high = a.need("low"), a.get("high")
    if high is None:
        low, high = Static(0), low
    values = [convert(as_array(ctx, v), "int64") for v in (low, high)]
    dtype = dtype_of(ctx, a.get("dtype"), "int64")
    dims = size_of_draws(ctx, a, [v.dims for v in values])
    if dtype == "int64" and is_drawn_here(ctx, generator, values, dims):
        made = integers_here(ctx, generator, values, False, dims)
    else:
        made = step(ctx, generator, "randint", values, dims, dtype, f", dtype='{dtype}'")
    return result_of(ctx, made, a.get("dtype") is None)


def _seed(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    a = Arguments(ctx, "seed", ("seed",), args, keywords)
    given = a.get("seed")
    seed, listed = (None, False) if given is None else seed_array(ctx, given, True)
    only = "a[0].tolist()" if listed else ""
    step(ctx, generator, "seed", [] if seed is None else [seed], (), "int64", only=only, sized=False, then=" or 0")
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
    values = {p: taken(ctx, v, "int64" if p in whole else "float64") for p, v in values.items()}
    several = name == "multinomial" and not generator.legacy and values["pvals"].ndim > 0
    if not several and (values[like].ndim != 1 or ("n" in values and values["n"].ndim)):
        problem = f"`{name}` with the parameters of several vectors at once"
        ctx.fail(refusals.RANDOM, problem, "draw in a loop, with the parameters of one vector each time")
    batches = [values["n"].dims, values["pvals"].dims[:-1]] if several else []
    dims, width = size_of_draws(ctx, a, batches), values[like].dims[-1]
    more = f", size={'shape[:-1] or None' if generator.legacy else 'shape[:-1]'}"
    for option in options:
        if (given := a.get(option)) is not None:
            more += f", {option}={np.asarray(constant_object(ctx, given, f'`{option}=`')).item()!r}"
    return step(ctx, generator, name, list(values.values()), (*dims, width), dtype, more, sized=False)


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



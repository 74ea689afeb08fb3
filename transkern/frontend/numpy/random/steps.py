"""Steps of generators: by a library of NumPy's, or by what kernels draw themselves."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from transkern.frontend.compositions import compose
from transkern.frontend.compositions.random import drawing, ziggurat
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, captured_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.library_calls import is_plain
from transkern.frontend.numpy.random import shared
from transkern.frontend.numpy.sizes import dims_of, full
from transkern.frontend.state import stores
from transkern.frontend.translate.arguments import Arguments
from transkern.frontend.values.broadcasting import broadcast_dims
from transkern.frontend.values.values import Array, Generator, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.generators import WORDS, state_of

LAST = {
    "random": "size dtype out", "standard_normal": "size dtype out", "standard_exponential": "size dtype method out",
    "standard_gamma": "size dtype out",
}  # fmt: skip
DRAWN_HERE = {
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
STATE_WORDS = {**WORDS, "global": 1}


def held(ctx: Context, value: Array, base: str) -> Array:
    value = ctx.compact(value, base) if value.mask is not None else value
    if is_plain(ctx, value):
        return value
    return ctx.define(Array(value.axes, value.body), base)


def taken(ctx: Context, value: Array, dtype: str) -> Array:
    """A parameter of a draw as NumPy takes it: of arrays nothing may be lost, and numbers are real."""
    if value.ndim and not np.can_cast(value.dtype, dtype, "safe"):
        types = f"from dtype('{value.dtype}') to dtype('{dtype}')"
        ctx.guard(b.FALSE, "TypeError", f"Cannot cast array data {types} according to the rule 'safe'")
    if is_complex(value.dtype):
        ctx.guard(b.FALSE, "TypeError", "float() argument must be a string or a real number, not 'complex'")
    return convert(value, dtype)


def typed(name: str, dtype: str) -> str:
    return f", dtype='{dtype}'" if name in LAST else ""


def size_of_draws(ctx: Context, a: Arguments, shapes: Sequence[tuple[Expr, ...]] = ()) -> tuple[Expr, ...]:
    size = a.get("size")
    if size is not None:
        return full(ctx, dims_of(ctx, size), b.ZERO).dims
    return broadcast_dims(ctx, [*shapes, ()], "objects")


def step(
    ctx: Context, generator: Generator, name: str, values: Sequence[Array], dims: tuple[Expr, ...], dtype: str,
    more: str = "", only: str = "", sized: bool = True, then: str = "",
) -> Array:  # fmt: skip
    """A draw; `more`, `only` and `then` are texts for the call and what follows it, over the parameters ``a``."""
    shared.note_step(ctx, generator, name)
    ins = [held(ctx, v, "parameter") for v in values]
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


def is_drawn_here(ctx: Context, generator: Generator, values: Sequence[Array], dims: tuple[Expr, ...]) -> bool:
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


def drawn(
    ctx: Context, generator: Generator, by: str, values: Sequence[Array], dims: tuple[Expr, ...], dtype: str
) -> Array:
    shared.note_drawn(ctx, generator, by)
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


def result_of(ctx: Context, made: Array, python: bool) -> Value:
    """A number where no size was given."""
    if made.ndim:
        return made
    held = ctx.let(made.body, "drawn")
    if not python:
        return Scalar(held)
    return Scalar(b.as_index(held) if made.dtype == "int64" else held, True)


def integers_here(
    ctx: Context, generator: Generator, values: Sequence[Array], closed: bool, dims: tuple[Expr, ...]
) -> Array:
    """Integers from the first value up to the second, or with it (`closed`)."""
    first, last = (v.body for v in values)
    fits, equal = b.compare("less_equal" if closed else "less", first, last), "" if closed else "="
    ctx.guard(b.either(b.compare("not_equal", first, Const(0, "int64")), fits), "ValueError", f"high <{equal} 0")
    ctx.guard(fits, "ValueError", f"low >{equal} high")
    last = last if closed else Apply("subtract", (last, Const(1, "int64")), "int64")
    return drawn(ctx, generator, "integer_between", [Array((), first), Array((), last)], dims, "int64")

"""Elements that generators choose, and orders that they put them in."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.numpy.random.steps import (
    held,
    integers_here,
    is_drawn_here,
    result_of,
    size_of_draws,
    step,
    taken,
)
from transkern.frontend.numpy.sizes import constant_axis, full, normal_axis
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.storing import changed_in_place, write
from transkern.frontend.translate.arguments import Arguments
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Concatenation, Generator, GrowingList, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Const


def permuted(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
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
    return step(ctx, generator, "permuted", [value], value.dims, value.dtype, f", axis={axis}", sized=False)


def permutation(
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
    made = step(ctx, generator, "permutation", [value], value.dims, value.dtype, more, sized=False)
    if name == "permutation":
        return made
    if not isinstance(given, Array) or not given.view:
        problem = "`Generator.shuffle` of something that is no array with memory of its own"
        ctx.fail(refusals.RANDOM, problem, "make an array of it first: x = np.array(items), and rng.shuffle(x)")
    write(ctx, given, [Static(Ellipsis)], made)
    return Static(None)


def choice(ctx: Context, generator: Generator, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
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
        values.append(taken(ctx, p, "float64"))
        more += ", p=a[1]"
    if given.ndim > 1 or not shuffled:
        return _choice_of_parts(ctx, generator, a, values, axis, more, shuffled)
    if a.get("size") is None and a.flag("replace", True) and is_drawn_here(ctx, generator, [], ()):
        at = _chosen(ctx, generator, given, values, float(tolerance))
        if not given.ndim:
            return Scalar(b.as_index(ctx.let(at.expr, "drawn")), True)
        return compose(ctx, "random/drawing", "picked", [given, at], {})
    dims = size_of_draws(ctx, a)
    dtype = given.dtype if given.ndim else "int64"
    made = step(ctx, generator, "choice", values, dims, dtype, more, "a[0]" if given.ndim else "a[0].item()")
    return result_of(ctx, made, not given.ndim)


def _choice_of_parts(
    ctx: Context, generator: Generator, a: Arguments, values: Sequence[Array], axis: int, more: str, shuffled: bool
) -> Value:
    """A `choice` of what stands on an axis (of an array of several dimensions: rows), or without a shuffle."""
    given, size = values[0], a.get("size")
    axis = normal_axis(ctx, axis, given.ndim) if given.ndim else 0
    many = () if size is None else size_of_draws(ctx, a)
    dims = (*given.dims[:axis], *many, *given.dims[axis + 1 :])
    shape = "None" if size is None else f"shape[{axis}:{axis + len(many)}]"
    more = f", size={shape}{more}, axis={axis}, shuffle={shuffled}"
    only = "a[0]" if given.ndim else "a[0].item()"
    made = step(ctx, generator, "choice", values, dims, given.dtype, more, only, sized=False)
    return result_of(ctx, made, not given.ndim)


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
        return Scalar(ctx.let(integers_here(ctx, generator, bounds, False, ()).body, "chosen"))
    likely = values[1]
    if likely.ndim != 1:
        ctx.guard(b.FALSE, "ValueError", says["dimensions"])
    ctx.guard(b.compare("equal", likely.dims[0], many), "ValueError", says["size"])
    likely = held(ctx, likely, "probabilities")
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

"""Seeds of random generators: integers and sequences of them; NumPy's errors for others, asked by examples of types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import convert
from transkern.frontend.python.texts import as_text, quoted
from transkern.frontend.values import python_types
from transkern.frontend.values.asking import asked, told
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, GrowingList, Range, Scalar, Seq, Value
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Expr


def seed_array(ctx: Context, given: Value, legacy: bool) -> tuple[Array, bool]:
    """A seed as an array of integers, and whether it is no array but a sequence of Python's, of which a `RandomState`
    (`legacy`) makes something else."""
    value = ctx.deref(given)
    takes: Callable[[Any], Any] = np.random.RandomState if legacy else np.random.SeedSequence
    if is_number(value) or isinstance(value, Scalar):
        found = python_types.example(ctx, value)
        if not legacy and not isinstance(found, (int, np.integer)):
            _refuse_number(ctx, value)
        asked(ctx, takes, found)
        return _integers(as_array(ctx, value)), False
    if isinstance(value, Seq) and value.kind in ("list", "tuple"):
        asked(ctx, takes, _example(ctx, value))
        return _integers(as_array(ctx, value)), True
    array = ctx.kept(as_array(ctx, value))
    listed = isinstance(value, (GrowingList, Range))
    if not array.ndim:
        asked(ctx, takes, np.ones((), array.dtype))
    elif not (array.dtype.startswith(("int", "uint", "index")) or (listed and _are_truths(value))):
        _check_elements(ctx, takes, array, listed, legacy)
    return _integers(array), listed


def _are_truths(value: Value) -> bool:
    """Whether a list's elements are truth values of Python's, which are integers."""
    return isinstance(value, GrowingList) and value.python and value.dtype == "bool"


def _integers(array: Array) -> Array:
    return convert(array, "uint64" if array.dtype == "uint64" else "int64")


def _refuse_number(ctx: Context, value: Value) -> None:
    """The error of what is no integer, which has its text."""
    shown = as_text(ctx, value)
    args = [scalar_expr(ctx, a) for a in shown.args]
    if any(is_complex(a.dtype) for a in args):
        ctx.fail(refusals.MESSAGE, "a complex number as a seed, and in an exception's message", "give it an integer")
    name, text = _error(np.random.SeedSequence, 1.5) or ("TypeError", "")
    ctx.guard(b.FALSE, name, f"{quoted(text.removesuffix('1.5'))}{shown.template}", tuple(args))


def _error(takes: Callable[[Any], Any], example: Any) -> tuple[str, str] | None:
    """What NumPy says of an example, if it does not take it."""
    try:
        takes(example)
    except (TypeError, ValueError) as error:
        return told(error)
    return None


def _example(ctx: Context, value: Value) -> Any:
    """A list of examples of the types of a list's elements."""
    contents = ctx.deref(value)
    if isinstance(contents, Seq):
        return [_example(ctx, item) for item in contents.items]
    if is_number(contents) or isinstance(contents, Scalar):
        return python_types.example(ctx, contents)
    array = as_array(ctx, contents)
    if not array.dtype.startswith(("int", "uint", "index")):
        problem = f"a seed in which there is {describe(contents)}"
        ctx.fail(refusals.RANDOM, problem, "give it an integer, or a list of integers")
    return np.ones((1,) * array.ndim, "int64" if array.dtype == "index" else array.dtype)


def _check_elements(ctx: Context, takes: Callable[[Any], Any], array: Array, listed: bool, legacy: bool) -> None:
    """The error of an array, or of a list of run-time length, whose elements are no integers. Without elements it has
    none for most generators; one for `RandomState`, which takes an array of one element for a number."""
    size = b.product(array.dims)
    for count, condition in ((1, b.compare("not_equal", size, b.ONE)), (2, b.FALSE)):
        example: Any = np.ones((count, *(1,) * (array.ndim - 1)), array.dtype)
        found = _error(takes, list(example) if listed else example)
        if found is not None:
            if legacy and (empty := _error(takes, [])) is not None:
                ctx.guard(b.compare("greater", size, b.ZERO), *empty)
            allowed: Expr = b.FALSE if legacy else b.compare("equal", size, b.ZERO)
            ctx.guard(b.either(condition, allowed), *found)

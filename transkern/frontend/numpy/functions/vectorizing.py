"""``np.vectorize(function)``, and calls of what it makes: loops that call the function (`compositions.folding`)."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.sizes import dtype_of
from transkern.frontend.translate.arguments import Arguments
from transkern.frontend.values import doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds.vectorized import TYPES, vectorized
from transkern.frontend.values.kinds.vectorized import VECTORIZED as VECTORIZED
from transkern.frontend.values.values import Array, GrowingList, Partial, Scalar, Seq, Static, Value

if TYPE_CHECKING:
    from transkern.frontend.translate.calling import Calls

_OF = {1: "vectorized_of_one", 2: "vectorized_of_two", 3: "vectorized_of_three"}


def made(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Partial:
    """``np.vectorize(function, otypes)``."""
    a = Arguments(ctx, "np.vectorize", ["pyfunc", TYPES, "doc"], args, keywords)
    if (function := a.given.get("pyfunc")) is None:
        ctx.fail(refusals.OPTION, "`np.vectorize` as a decorator with arguments", "give it the function")
    return vectorized(function, _types(ctx, ctx.deref(a.given.get(TYPES, Static(None)))))


def _types(ctx: Context, given: Value) -> Sequence[Any] | None:
    """The types of results that are given."""
    if isinstance(given, Static) and (given.value is None or isinstance(given.value, str)):
        found: Sequence[Any] | None = asked(ctx, np.vectorize, len, given.value).otypes
        return found
    if not isinstance(given, Seq):
        ctx.fail(refusals.OPTION, f"`{TYPES}=` that is {describe(given)}", "give a list of types: otypes=[float]")
    return [dtype_of(ctx, one, "") for one in given.items]


def called(body: Calls, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.expr) -> Value:
    """A call with numbers, arrays or lists of them."""
    ctx = body.ctx
    function, *given = args
    types = keywords.get(TYPES, Static(None))
    if len(keywords) > 1 or len(given) not in _OF:
        help = "write the loop that calls the function"
        ctx.fail(refusals.OPTION, f"an `np.vectorize` with {len(given)} arguments by place, or one by name", help)
    arrays = [_array(ctx, value) for value in given]
    if all(not array.ndim for array in arrays):
        ctx.fail(refusals.OPTION, "an `np.vectorize` of numbers alone", "call the function itself")
    if types == Static(None):
        firsts = [compose(ctx, "folding", "first_vectorized", [array], {}) for array in arrays]
        dtype = _type_of(ctx, body.apply_function(function, firsts, node))
    else:
        assert isinstance(types, Static)
        if len(types.value) != 1:
            ctx.fail(refusals.OPTION, "an `np.vectorize` of several results", "call it once for each of them")
        (dtype,) = types.value
    return compose(ctx, "folding", _OF[len(arrays)], [function, Static(np.dtype(dtype)), *arrays], {})


def _array(ctx: Context, value: Value) -> Array:
    value = ctx.deref(value)
    if not isinstance(value, (Array, Scalar, Seq, GrowingList)) and not (
        isinstance(value, Static) and isinstance(value.value, (bool, int, float, complex, np.generic, np.ndarray))
    ):
        ctx.fail(refusals.OPERANDS, f"an `np.vectorize` of {describe(value)}", "give it numbers and arrays")
    return ctx.kept(as_array(ctx, value))


def _type_of(ctx: Context, value: Value) -> str:
    """The type of the array that NumPy makes of results like the first one."""
    value = ctx.deref(value)
    kinds = doubts.kinds_of(value)
    if not kinds or (isinstance(value, Array) and value.ndim):
        help = "let it return a number, or write the loop that calls the function"
        ctx.fail(refusals.OPERANDS, f"an `np.vectorize` of a function that returns {describe(value)}", help)
    names = {"int64" if dtype == "index" else dtype for dtype, _ in kinds}
    if len(names) > 1:
        doubts.depends(ctx, [value], "an `np.vectorize` whose first result is")
    return names.pop()

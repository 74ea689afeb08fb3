"""Functions whose results are known while a function is translated, and those that give named tuples."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import captured_array
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Dict,
    GrowingList,
    Hashed,
    JoinedText,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
)


@handles("numpy.isdtype", names="dtype kind")
def _isdtype(ctx: Context, a: Arguments) -> Value:
    return Static(asked(ctx, np.isdtype, _known(ctx, a.need("dtype")), _known(ctx, a.need("kind"))))


def _known(ctx: Context, value: Value) -> Any:
    """A type, a text that names several, or a tuple of these."""
    if isinstance(value, Seq) and value.kind == "tuple":
        return tuple(_known(ctx, v) for v in value.items)
    if not isinstance(value, Static):
        ctx.fail(refusals.OPERANDS, "`np.isdtype` of what is no dtype", "give it x.dtype")
    return value.value


@handles("numpy.base_repr", names="number base padding")
def _base_repr(ctx: Context, a: Arguments) -> Value:
    return Static(asked(ctx, np.base_repr, *_numbers(ctx, a, number=None, base=2, padding=0)))


@handles("numpy.binary_repr", names="num width")
def _binary_repr(ctx: Context, a: Arguments) -> Value:
    number, width = a.need("num"), a.given.get("width", Static(None))
    if isinstance(number, Scalar):
        check_position(ctx, number, np.binary_repr)
        width = width if width == Static(None) else Scalar(integer_expr(ctx, width), True)
        given = [Scalar(integer_expr(ctx, number), True), width]
        digits = ctx.deref(compose(ctx, "texts", "binary_repr", given, {}))
        assert isinstance(digits, GrowingList)
        return JoinedText(digits, "")
    return Static(asked(ctx, np.binary_repr, *_numbers(ctx, a, num=None, width=None)))


def _numbers(ctx: Context, a: Arguments, **defaults: Any) -> list[Any]:
    """Arguments that must be known."""
    found = []
    for name, default in defaults.items():
        value = a.need(name) if name == next(iter(defaults)) else a.given.get(name)
        if value is not None and not isinstance(value, Static):
            problem = f"`{a.name}` of a number that only the run knows"
            ctx.fail(refusals.NEEDS_CONSTANT, problem, "take its digits: (k >> np.arange(n)) & 1")
        found.append(default if value is None else value.value)
    return found


@handles("numpy.unique_counts", "numpy.unique_inverse", "numpy.unique_all", names="x")
def _unique(ctx: Context, a: Arguments) -> Value:
    kind: Any = type(asked(ctx, getattr(np, a.name.removeprefix("np.")), np.zeros(1)))
    flags = {f"return_{name}": Static(True) for name in ("index", "inverse", "counts") if _is_asked(name, kind._fields)}
    made = compose(ctx, "searching", "unique", [a.need("x")], {**flags, "equal_nan": Static(False)})
    assert isinstance(made, Seq)
    return Record(kind, tuple(kind._fields), made.items)


def _is_asked(name: str, fields: tuple[str, ...]) -> bool:
    return name in fields or ("inverse_indices" if name == "inverse" else "indices") in fields


@handles("numpy.iterable", names="y")
def _iterable(ctx: Context, a: Arguments) -> Value:
    match a.need("y"):
        case Static(value=value):
            return Static(np.iterable(value))
        case Scalar():
            return Static(False)
        case Array() as value:
            return Static(value.ndim > 0)
        case Seq() | GrowingList() | Dict() | Hashed():
            return Static(True)
        case value:
            ctx.fail(refusals.OPERANDS, f"`np.iterable` of {describe(value)}", "test what it is made of")


@handles("numpy.frombuffer", names="buffer dtype count offset")
def _frombuffer(ctx: Context, a: Arguments) -> Value:
    buffer = a.need("buffer")
    if not isinstance(buffer, Static) or not isinstance(buffer.value, bytes):
        help = "see its memory as another type: x.view(np.uint8)"
        ctx.fail(refusals.NEEDS_CONSTANT, f"`np.frombuffer` of {describe(buffer)}", help)
    more = {k: constant_object(ctx, v, f"`{k}=` of np.frombuffer") for k, v in a.given.items() if k != "buffer"}
    made: np.ndarray[Any, Any] = asked(ctx, lambda known: np.frombuffer(known, **more), buffer.value)
    return captured_array(ctx, made)


_RULES = {
    "numpy.polynomial.legendre.leggauss": np.polynomial.legendre.leggauss,
    "numpy.polynomial.hermite.hermgauss": np.polynomial.hermite.hermgauss,
    "numpy.polynomial.chebyshev.chebgauss": np.polynomial.chebyshev.chebgauss,
    "numpy.polynomial.laguerre.laggauss": np.polynomial.laguerre.laggauss,
}
"""Points and weights of quadratures."""


@handles(*_RULES, names="deg")
def _quadrature(ctx: Context, a: Arguments) -> Value:
    degree = constant_object(ctx, a.need("deg"), "the degree of a quadrature")
    rule = _RULES[a.name.replace("np.", "numpy.", 1)]
    return Seq(tuple(captured_array(ctx, made) for made in asked(ctx, rule, degree)))

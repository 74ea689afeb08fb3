"""What is true of values: numbers, containers, objects."""

from __future__ import annotations

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.translate import special_methods
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import nonzero, scalar_expr
from transkern.frontend.values.values import (
    Array,
    Bound,
    Char,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Iterated,
    JoinedText,
    Known,
    Method,
    OneOf,
    OrNone,
    Partial,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
    View,
)
from transkern.ir import build as b
from transkern.ir.expr import Const, Load


def truth(ctx: Context, value: Value) -> Value:
    """``bool(value)``: a Static bool, or a Scalar of dtype bool."""
    told = special_methods.truth_of(ctx, value)
    if told is not None:
        return truth(ctx, told)
    value = ctx.deref(value)
    match value:
        case Dict(keys):
            return Static(bool(keys))
        case Record(items=items):
            return Static(bool(items) if value.is_tuple else True)
        case Function() | Known() | Bound() | Partial() | Iterated() | Method(Seq(), "zip" | "enumerate"):
            return Static(True)
        case View(owner):
            return truth(ctx, owner)
        case OneOf():
            return Scalar(value.where(bool), True)
        case Char():
            return Static(True)
        case OrNone(inner, none):
            holds = truth(ctx, inner)
            inside = holds.expr if isinstance(holds, Scalar) else Const(bool(holds.value), "bool")  # type: ignore
            return Scalar(b.both(b.logical_not(none), inside), True)
        case Static(v):
            if isinstance(v, np.ndarray):
                ctx.fail(refusals.TRUTH, "the truth value of an array", "use .any() or .all()")
            return Static(bool(v))
        case Seq(items):
            return Static(bool(items))
        case JoinedText(characters=GrowingList() as held):
            return truth(ctx, held)
        case GrowingList():
            return Scalar(b.compare("greater", value.length, b.ZERO), True)
        case Hashed():
            return Scalar(b.compare("greater", Load(value.info.buffer, (b.ZERO,), "index"), b.ZERO), True)
        case Scalar(expr) if expr.dtype == "bool":
            return Scalar(expr, True)
        case Scalar(expr):
            return Scalar(nonzero(expr), True)
        case Array():
            if value.mask is None and all(b.constant(d) == 1 for d in value.dims):
                return truth(ctx, Scalar(scalar_expr(ctx, value)))
            if value.ndim == 0:
                return truth(ctx, Scalar(value.body))
            problem = "the truth value of an array with more than one element is ambiguous"
            ctx.fail(refusals.TRUTH, problem, "use .any() or .all()")
        case _:
            help = "write out what is asked: v is not None, len(v) > 0"
            ctx.fail(refusals.TRUTH, f"the truth value of {describe(value)}", help)

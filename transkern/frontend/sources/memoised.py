"""Functions under `functools.cache`: what they did once, and handed out again and again.

For numbers that is as if they were called each time. An array that one call makes is the same array in all calls with
the same arguments, so that nobody may store into it; what has effects has them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import type_name
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Known,
    OneOf,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

_HELP = "call a function without the decorator here, or call it outside and pass what it makes"


def called(
    ctx: Context, function: Function, args: Sequence[Value], keywords: Mapping[str, Value], call: Callable[[], Value]
) -> Value:
    """What `call`, a call of the function without its cache, gives."""
    for value in (*args, *keywords.values()):
        _check_hashable(ctx, value)
    written, heap = set(ctx.inputs.written), dict(ctx.heap.contents)
    with ctx.emitter.block(ctx.emitter.out) as out:
        made = _immutable(ctx, function, call())
    effects = any(isinstance(s, n.Library) and s.name in ("print", "drawn", "seeded") for s in walk(out))
    if (
        effects or ctx.inputs.written != written
        or any(ctx.heap.contents.get(token) is not value for token, value in heap.items())
    ):
        problem = f"`{function.name}`, which is cached and has effects: they happen at its first call only"
        ctx.fail(refusals.EFFECTS, problem, _HELP)
    ctx.emitter.out.extend(out)
    return made


def _check_hashable(ctx: Context, value: Value) -> None:
    held = ctx.deref(value)
    if isinstance(held, (Array, Concatenation)) or (isinstance(held, Static) and type(held.value).__hash__ is None):
        name = "numpy.ndarray" if not isinstance(held, Static) else type(held.value).__name__
        ctx.guard(b.FALSE, "TypeError", f"unhashable type: '{name}'")
    if isinstance(held, (Row, Hashed, Dict)) or (isinstance(held, (Seq, GrowingList)) and held.kind != "tuple"):
        ctx.guard(b.FALSE, "TypeError", f"unhashable type: '{type_name(held)}'")
    if isinstance(held, Seq):
        for item in held.items:
            _check_hashable(ctx, item)
    if isinstance(held, (Record, Instance)) and not (isinstance(held, Record) and held.is_tuple):
        problem = "a cached function of an object: what it has found of it stays when the object changes"
        ctx.fail(refusals.OBJECT, problem, _HELP)


def _immutable(ctx: Context, function: Function, value: Value) -> Value:
    """The result, where it does not matter that it is the same each time."""
    held = ctx.deref(value)
    match held:
        case Array() if held.ndim:
            made = ctx.define(replace(held, view=False, identity=""), function.name)
            ctx.inputs.handed_out.add(made.base)
            return made
        case Seq(items, "tuple"):
            return replace(held, items=tuple(_immutable(ctx, function, i) for i in items))
        case Record(items=items) if held.is_tuple:
            return replace(held, items=tuple(_immutable(ctx, function, i) for i in items))
        case Scalar() | Static() | Text() | OneOf() | Known() | Function() | Array():
            return value
        case _:
            problem = f"`{function.name}`, which is cached and gives {describe(held)}, the same one each time"
            ctx.fail(refusals.TWO_NAMES, problem, _HELP)

"""Python's functions that ask what objects are, and what they have."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import is_lazy
from transkern.frontend.sources.source import from_object
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.translate.attributes import attribute
from transkern.frontend.values import classes, doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import Bound, Function, Known, Method, Record, Scalar, Seq, Static, Value


@handles("builtins.callable", names="obj")
def _callable(ctx: Context, a: Arguments) -> Value:
    value = a.need("obj")
    if isinstance(ctx.deref(value), Record):
        return Static(special_methods.method(ctx, value, "__call__") is not None)
    is_function = isinstance(value, (Function, Known, Bound, Method)) and not is_lazy(value)
    return Static(is_function or isinstance(getattr(value, "value", None), type))


def _name(a: Arguments) -> str:
    a.need("name")
    return a.text("name", "")


@handles("builtins.hasattr", names="obj name")
def _hasattr(ctx: Context, a: Arguments) -> Value:
    value, name = ctx.deref(a.need("obj")), _name(a)
    match value:
        case Static(known_value):
            return Static(hasattr(known_value, name))
        case Known(path) if (found := classes.named_object(path)) is not None:
            return Static(hasattr(found, name))
        case Record() if value.get(name) is not None:
            return Static(True)

    def has(value: Value) -> bool:
        kind = classes.class_of(value)
        help = "ask outside, and pass the answer as an argument"
        if kind is None:
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`hasattr` of {describe(value)}", help)
        found = any(name in vars(c) for c in kind.__mro__)  # an object has not what its class has of `type`
        if not found and (kind is types.FunctionType or hasattr(kind, "__getattr__")):
            problem = f"`hasattr` of {describe(value)}, which may have been given anything"
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, problem, help)
        return found

    found = doubts.whether(ctx, value, has, "`hasattr` of")
    return Static(found) if isinstance(found, bool) else Scalar(found, True)


@handles("builtins.getattr", names="obj name default")
def _getattr(ctx: Context, a: Arguments) -> Value:
    value, name = a.need("obj"), _name(a)
    held = ctx.deref(value)
    if isinstance(held, Record) and held.get(name) is None and not hasattr(held.kind, name) and "default" in a.given:
        return a.given["default"]
    return attribute(ctx, value, name)


@handles("builtins.type", names="obj")
def _type(ctx: Context, a: Arguments) -> Value:
    value = ctx.deref(a.need("obj"))
    kind = doubts.agreed(ctx, value, classes.class_of, "the type of")
    if kind is None:
        help = "types are known of numbers, arrays, texts, lists, dicts and objects"
        ctx.fail(refusals.OPERANDS, f"the type of {describe(value)}", help)
    named = from_object(kind)
    return named if named is not None and classes.object_at(named) is kind else Static(kind)


@handles("builtins.isinstance", names="obj classinfo")
def _isinstance(ctx: Context, a: Arguments) -> Value:
    wanted = tuple(_classes(ctx, a.need("classinfo")))
    return classes.is_instance(ctx, a.need("obj"), wanted)


def _classes(ctx: Context, value: Value) -> Iterator[Any]:
    """The classes of an `isinstance`; what is no class of Python's, NumPy's or the user's is nobody's here."""
    value = ctx.deref(value)
    if isinstance(value, Seq):
        for item in value.items:
            yield from _classes(ctx, item)
    elif (found := classes.object_at(value)) is not None:
        yield found


@handles("functools.namedtuple", "collections.namedtuple", names="typename field_names rename defaults module")
def _namedtuple(ctx: Context, a: Arguments) -> Value:
    """A class that is made in the function: one for the same names, as no call can tell it from that of another."""
    given = [ctx.deref(a.need(name)) for name in ("typename", "field_names")]
    given += [ctx.deref(a.get(name) or Static(None)) for name in ("rename", "defaults", "module")]
    given = [replace(v, kind="tuple") if isinstance(v, Seq) and v.kind == "list" else v for v in given]
    return Static(asked(ctx, _class_of_tuples, *(constant_object(ctx, v, "`namedtuple`") for v in given)))


@functools.cache
def _class_of_tuples(typename: Any, names: Any, rename: Any, defaults: Any, module: Any) -> type:
    make: Any = collections.namedtuple
    made: type = make(typename, names, rename=bool(rename), defaults=defaults, module=module)
    made.__qualname__ = f"<locals>.{typename}"  # nobody else finds it: none of its objects is a result
    return made

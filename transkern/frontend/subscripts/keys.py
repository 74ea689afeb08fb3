"""Keys and other objects that must be known while a function is translated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.state import choices
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Char,
    Dict,
    Hashed,
    Known,
    OneOf,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Value,
    View,
)
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.containers import with_text


def key_of(ctx: Context, items: Sequence[Value]) -> Any:
    """The key of a dict's subscript."""
    return key_object(ctx, items[0] if len(items) == 1 else Seq(tuple(items)))


def key_object(ctx: Context, value: Value, help: str = "") -> Any:
    """A key of a dict, which must be known here; `help` is for an integer that is not."""
    value = ctx.deref(value)
    if isinstance(value, Static):
        return value.value
    if isinstance(value, Seq) and value.kind == "tuple":
        ctx.session.step(1 + len(value.items) // 16)
        return tuple(key_object(ctx, i, help) for i in value.items)
    choices.fork_for(ctx, value)
    problem, instead = "a dict's key that is known at run time only", help
    if not (isinstance(value, Scalar) and not is_complex(value.dtype)):
        problem, instead = f"{describe(value)} as a key that is known at run time only", key_help(value)
    return constant_object(ctx, value, problem, refusals.RUN_TIME_KEYS, instead)


_PARTS_OF_KEY = "take a tuple of its parts: (z.real, z.imag)"


def key_help(value: Value) -> str:
    """What to write for a key that is no real number, in a dict or set whose keys are known at run time."""
    match value:
        case Static(complex()):
            return _PARTS_OF_KEY
        case Scalar() if is_complex(value.dtype):
            return _PARTS_OF_KEY
        case Text():
            return "take the numbers that the text is made of"
        case OneOf():
            return "choose between the values, and not between keys: d[a] if condition else d[b]"
        case Char():
            return "write d[key], without a default"
        case Array():
            return "take numbers, or tuples of them: tuple(row) of a known length"
        case _:
            return "take keys that are numbers, or tuples of them"


def constant_object(
    ctx: Context, value: Value, problem: str, kind: refusals.Kind = refusals.NEEDS_CONSTANT, help: str = ""
) -> Any:
    """The Python object that a value is at specialisation."""
    value = ctx.deref(value)
    match value:
        case Static(known):
            return known
        case Seq(items, "tuple"):
            ctx.session.step(1 + len(items) // 16)
            return tuple(constant_object(ctx, i, problem, kind, help) for i in items)
        case Known(path):
            return path
        case _:
            ctx.must_be_known(value, problem, help, kind)


def constant_slice(ctx: Context, item: Slice) -> slice:
    """A slice of what is known one by one."""
    parts = [Static(None) if p is None else p for p in (item.start, item.stop, item.step)]
    return slice(*(constant_object(ctx, p, "a slice of a list with run-time bounds") for p in parts))


VIEWS = ("keys", "values", "items")


def view(ctx: Context, owner: Value, name: str) -> Value | None:
    """``owner.keys()``, ``owner.values()``, ``owner.items()`` of a dict; None of anything else."""
    contents = ctx.deref(owner)
    if isinstance(contents, Hashed) and contents.kind == "dict":
        return View(owner, name)
    if not isinstance(contents, Dict):
        return None
    keys = tuple(map(Static, contents.keys))
    pairs = tuple(Seq(pair) for pair in zip(keys, contents.items, strict=True))
    items: tuple[Value, ...] = {"keys": keys, "values": contents.items, "items": pairs}[name]
    return Seq(items, f"dict_{name}", shows=owner)


def dict_item(ctx: Context, base: Dict, key: Any) -> Value:
    found = base.get(key)
    if found is None:
        if not isinstance(key, str):
            help = "take one of its keys: " + ", ".join(map(repr, base.keys))
            ctx.fail(refusals.SUBSCRIPT, f"the dict has no key {key!r}", help)
        ctx.guard(b.FALSE, *with_text("KeyError", key))
        raise AssertionError
    return found

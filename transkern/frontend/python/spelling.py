"""Texts with integers in them, as lists of their characters."""

from __future__ import annotations

import string

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.python import characters
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import Char, GrowingList, JoinedText, OneOf, Scalar, Seq, Static, Text, Value


def spelled(ctx: Context, value: Value) -> Value:
    """A text with integers in it, as they are without a format, as one that is joined of its characters; any other
    value as it is."""
    if not isinstance(value, Text) or not all(isinstance(a, Scalar) and a.dtype == "index" for a in value.args):
        return value
    parts = list(string.Formatter().parse(value.template))
    if any(spec or conversion not in (None, "s") or name for _, name, spec, conversion in parts):
        return value
    pieces = [""]  # before each number, and behind the last: a brace ends a part as a number does
    for text, name, _, _ in parts:
        pieces[-1] += text
        pieces += [] if name is None else [""]
    texts, numbers = Seq(tuple(map(Static, pieces))), Seq(value.args)
    made = ctx.deref(compose(ctx, "texts", "characters_of", [texts, numbers], {}))
    return JoinedText(made, "") if isinstance(made, GrowingList) else value


def listed(ctx: Context, value: Value) -> Value:
    """The characters of a text as a list."""
    value = spelled(ctx, ctx.deref(value))
    match value:
        case JoinedText(characters=GrowingList() as found):
            return found
        case Static(str() as text):
            return Seq(tuple(map(Static, text)), "list")
        case Char():
            return Seq((value,), "list")
        case OneOf(index, options) if all(isinstance(o, str) and len(o) == 1 for o in options):
            return Seq((characters.chosen(ctx, options, index),), "list")  # type: ignore[arg-type]
        case _:
            ctx.fail(refusals.TEXT, f"{describe(value)} as a piece of a text", "append its characters to a list")


def part(ctx: Context, text: str, start: Value, stop: Value) -> Value:
    """``text[start:stop]``, between bounds that only the run knows."""
    held = ctx.deref(compose(ctx, "texts", "part_of", [Static(text), start, stop], {}))
    return JoinedText(held, "") if isinstance(held, GrowingList) else Static("")

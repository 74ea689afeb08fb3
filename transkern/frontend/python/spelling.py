"""Texts with integers in them, as lists of their characters."""

from __future__ import annotations

import re
import string

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.python import characters
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Char, GrowingList, JoinedText, OneOf, Scalar, Seq, Static, Text, Value
from transkern.ir import build as b

_FORMAT = re.compile(r"(0?)(\d{0,3})([bodxX]?)")  # of integers
_BASES = {"b": 2, "o": 8, "x": 16, "X": 16}
_WHOLE = ("index", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def spelled(ctx: Context, value: Value) -> Value:
    """A text with integers in it, as they are without a format, or with zeros in front and in other bases, as one that
    is joined of its characters; any other value as it is."""
    if not isinstance(value, Text) or not all(isinstance(a, Scalar) and a.dtype in _WHOLE for a in value.args):
        return value
    parts = list(string.Formatter().parse(value.template))
    if any(conversion not in (None, "s") or name for _, name, _, conversion in parts):
        return value
    pieces, formats = [""], []  # before each number, and behind the last: a brace ends a part as a number does
    for text, name, spec, conversion in parts:
        pieces[-1] += text
        if name is None:
            continue
        meant = _FORMAT.fullmatch(spec or "")
        if meant is None or (spec and conversion):
            return value
        zero, width, base = meant.groups()
        known = (_BASES.get(base, 10), int(width or 0), "0" if zero else " ", base == "X")
        formats.append(Seq(tuple(map(Static, known))))
        pieces.append("")
    numbers = [Scalar(b.as_index(scalar_expr(ctx, a)), True) for a in value.args]
    given = [Seq(tuple(map(Static, pieces))), Seq(tuple(numbers)), Seq(tuple(formats))]
    made = ctx.deref(compose(ctx, "texts", "characters_of", given, {}))
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

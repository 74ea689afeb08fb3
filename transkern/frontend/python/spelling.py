"""Texts with integers in them, as lists of their characters."""

from __future__ import annotations

import re
import string

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing
from transkern.frontend.context import Context
from transkern.frontend.python import characters
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Char, GrowingList, JoinedText, OneOf, Scalar, Seq, Static, Text, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr

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
        case OneOf(options=options) if all(isinstance(o, str) for o in options):
            return characters_of_choice(ctx, value)
        case _:
            ctx.fail(refusals.TEXT, f"{describe(value)} as a piece of a text", "append its characters to a list")


def characters_of_choice(ctx: Context, choice: OneOf) -> GrowingList:
    """The characters of one of several texts, as a list."""
    texts = "".join(o for o in choice.options if o is not None)
    start = ctx.let(characters.start_of_choice(choice), "start")
    stop = b.add(start, characters.length_of_choice(choice))
    held = ctx.deref(compose(ctx, "texts", "part_of", [Static(texts), Scalar(start, True), Scalar(stop, True)], {}))
    return held if isinstance(held, GrowingList) else growing.from_items(ctx, Seq((), "list"))


def place_among(ctx: Context, text: JoinedText, options: tuple[str, ...]) -> Expr | None:
    """The position of a text that the run makes among known ones, -1 where it is none of them."""
    if text.characters is None:
        return None
    given: list[Value] = [text.characters, Seq(tuple(map(Static, options)))]
    return ctx.let(scalar_expr(ctx, compose(ctx, "texts", "place_among", given, {})), "place")


def part(ctx: Context, text: str, start: Value, stop: Value) -> Value:
    """``text[start:stop]``, between bounds that only the run knows."""
    held = ctx.deref(compose(ctx, "texts", "part_of", [Static(text), start, stop], {}))
    return JoinedText(held, "") if isinstance(held, GrowingList) else Static("")

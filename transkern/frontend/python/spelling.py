"""Texts with integers in them, as lists of their characters."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

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


_STRIPS = {"strip": (True, True), "lstrip": (True, False), "rstrip": (False, True)}
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
METHODS = (
    "count", "zfill", "find", "index", "startswith", "endswith", "lower", "upper", "replace", "split", *_STRIPS
)  # fmt: skip
"""Those of a text whose characters only the run knows."""


def method(ctx: Context, text: Value, name: str, args: Sequence[Value]) -> Value | None:
    """``text.name(*args)``, where the run alone knows the text, or one among the arguments; None where it is not
    compiled."""
    held = _given(ctx, text)
    if held is None or name not in METHODS:
        return None
    ctx.learned.spelling.parted |= name == "split" or name in _STRIPS
    match name, [*map(ctx.deref, args)]:
        case "lower" | "upper", []:
            return _joined_of(ctx, name, [held])
        case "zfill", [width] if not isinstance(held, Static):
            return _joined_of(ctx, name, [held, width])
        case "count", [one] if characters.code_of(one) is not None:
            return compose(ctx, "lists", "count", [held, one], {})
        case "split", [] if isinstance(text, JoinedText):
            return compose(ctx, "texts", "words", [text], {})
        case "split", [Static(str() as between)] if isinstance(text, JoinedText) and len(between) == 1:
            return compose(ctx, "texts", "parts", [text, Static(between)], {})
        case ("strip" | "lstrip" | "rstrip"), [*what] if isinstance(text, JoinedText) and len(what) < 2:
            ends = map(Static, _STRIPS[name])
            return compose(ctx, "texts", "strip", [text, *(what or [Static(_SPACES)]), *ends], {})
        case "startswith" | "endswith", [part_] if (given := _given(ctx, part_)) is not None:
            return compose(ctx, "texts", name, [held, given], {})
        case "find" | "index", [part_, *start] if len(start) < 2 and (given := _given(ctx, part_)) is not None:
            found = compose(ctx, "texts", "find", [held, given, *(start or [Static(0)])], {})
            if name == "index":
                place = scalar_expr(ctx, found)
                ctx.guard(b.compare("greater_equal", place, b.ZERO), "ValueError", "substring not found")
            return found
        case "replace", [Static(str() as old), new] if old and old.isascii():
            given = _given(ctx, new)
            return None if given is None else _joined_of(ctx, name, [held, Static(old), given])
    return None


def contained(ctx: Context, part: Value, text: Value) -> Value | None:
    """``part in text`` where the run alone knows one of them; None where neither is such a text, or it is not
    compiled."""
    if not isinstance(part, JoinedText) and not isinstance(text, JoinedText):
        return None
    held, given = _given(ctx, text), _given(ctx, part)
    if given is None or held is None:
        return None
    found = compose(ctx, "texts", "find", [held, given, Static(0)], {})
    return Scalar(b.compare("greater_equal", scalar_expr(ctx, found), b.ZERO), True)


def joined(ctx: Context, one: Value, other: Value) -> Value | None:
    """``one + other`` where the characters of one are known to the run alone; None where neither is such a text, or it
    is not compiled."""
    if not isinstance(one, JoinedText) and not isinstance(other, JoinedText):
        return None
    first, second = _given(ctx, one), _given(ctx, other)
    return None if first is None or second is None else _joined_of(ctx, "joined", [first, second])


def repeated(ctx: Context, text: Value, times: Value) -> Value | None:
    """``text * times`` where the run knows how often, or which text; None where it is not compiled."""
    is_known = isinstance(times, Static) and isinstance(times.value, int)
    if not is_known and not (isinstance(times, Scalar) and times.python and times.dtype in _WHOLE):
        return None
    given = _given(ctx, text)
    if not isinstance(given, Static) or not isinstance(times, Scalar):
        return None if given is None else _joined_of(ctx, "again", [given, times])
    if not given.value:
        return given
    count = b.mul(b.index(len(given.value)), b.maximum(b.as_index(times.expr), b.ZERO))
    # twice the text: so a place in it is known to the run alone, as is the character there
    return _joined_of(ctx, "repeated", [Static(given.value * 2), Scalar(count, True)])


def _given(ctx: Context, value: Value) -> Value | None:
    """A text as a composition takes it: its characters, where the run knows them alone."""
    value = ctx.deref(value)
    match value:
        case JoinedText():
            return value.characters
        case Static(str() as text):
            return value if text.isascii() else None
        case Char():
            return Seq((value,), "list")
        case OneOf(options=options) if all(isinstance(o, str) and o.isascii() for o in options):
            return listed(ctx, value)
    return None


def _joined_of(ctx: Context, name: str, given: list[Value]) -> Value | None:
    made = ctx.deref(compose(ctx, "texts", name, given, {}))
    if isinstance(made, Seq):  # of as many as are known
        made = growing.from_items(ctx, made) if made.items else Static("")
    return JoinedText(made, "") if isinstance(made, GrowingList) else made


def put_together(ctx: Context, between: str, texts: GrowingList) -> Value | None:
    """``between.join(texts)`` of texts that the run makes."""
    return _joined_of(ctx, "put_together", [Static(between), texts]) if between.isascii() else None


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

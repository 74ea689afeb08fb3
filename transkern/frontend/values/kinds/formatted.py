"""Texts with run-time numbers in lists: as named tuples of their template, and of the numbers (texts) that stand in it.

    lines.append(f"{name}: {x:.2f}")    ->    lines.append(Formatted2("{}: {:.2f}", name, x))

What is read from the list is a text again. Where texts of a list have fewer numbers than others, zeros follow, which
`str.format` does not look at. How many there are at most, the translation begins anew with (`Learned.formatted`).
"""

from __future__ import annotations

import functools
import string
from typing import NoReturn

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.context import Context
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Char,
    GrowingList,
    OneOf,
    Record,
    Scalar,
    Static,
    Text,
    Value,
)
from transkern.ir import build as b
from transkern.ir.containers import OF_NUMPY

_MOST = 15  # numbers in a text: a tuple in a list has so many items, and the template


class Formatted(tuple):  # type: ignore[type-arg]
    """What stands for a text: never made, but the class of the tuples."""

    _fields: tuple[str, ...] = ()


@functools.cache
def _kind(count: int) -> type:
    return type(f"Formatted{count}", (Formatted,), {"_fields": ("template", *(f"part{k}" for k in range(count)))})


def is_formatted(owner: GrowingList) -> bool:
    """Whether a list's elements are such texts."""
    return owner.of is not None and issubclass(owner.of, Formatted)


def as_element(ctx: Context, owner: GrowingList, value: Value) -> Value:
    """A text as what stands for it in a list; anything else as it is, and where it is a text that is known, or one of
    several that are, unless the list has others in it."""
    if isinstance(value, Text):
        text = value
    elif not is_formatted(owner) and (owner.site is None or owner.site not in ctx.learned.formatted):
        return value
    elif isinstance(value, Static) and isinstance(value.value, str):
        text = Text(value.value.replace("{", "{{").replace("}", "}}"), ())
    elif isinstance(value, (Char, OneOf)):
        text = Text("{}", (value,))
    else:
        return value
    count, known = len(text.args), 0 if owner.site is None else ctx.learned.formatted.get(owner.site, 0)
    if count > _MOST:
        ctx.fail(refusals.TEXT, f"a text with more than {_MOST} run-time numbers in a list", "make two texts of it")
    now = len(_fields_of(owner)) - 1 if is_formatted(owner) else None
    if (now is None and (owner.of or owner.columns or owner.dtype)) or (now is not None and count > now):
        _begin_anew(ctx, owner, max(count, known, now or 0))
    count = max(count, known) if now is None else now
    parts = [_part(ctx, text, part) for part in text.args]
    parts += [Static(0)] * (count - len(parts))
    kind = _kind(count)
    return Record(kind, kind._fields, (Static(text.template), *parts))  # type: ignore[attr-defined]


def _fields_of(owner: GrowingList) -> tuple[str, ...]:
    return getattr(owner.of, "_fields", ())


def _begin_anew(ctx: Context, owner: GrowingList, count: int) -> NoReturn:
    """The list holds such texts from now on, with so many numbers at most."""
    error = NotKnown(
        refusals.LIST_OF_TYPES, "a text made of run-time numbers, in a list of other things", "append texts alone",
        ctx.session.span, ctx.session.lines,
    )  # fmt: skip
    if owner.site is not None and owner.site[0] not in ("fixed", "argument"):
        error.finding = Finding("formatted", owner.site, count)
    raise error


def _part(ctx: Context, text: Text, part: Value) -> Value:
    """What a text holds, as it is formatted: a number of Python's, or of NumPy's where its texts have other digits."""
    if not isinstance(part, Scalar):
        if not isinstance(part, (Char, OneOf)):
            ctx.fail(refusals.TEXT, f"a text with {describe(part)} in it, in a list", "put numbers and texts into it")
        return part
    if part.dtype in OF_NUMPY or part.python:
        return part
    if part.dtype == "uint64":
        if "!r" in text.template:
            ctx.fail(refusals.TEXT, "the `repr` of a NumPy uint64 in a text in a list", "leave !r out")
        return part
    return Scalar(b.cast(part.expr, "index") if part.dtype.startswith(("int", "uint")) else part.expr, True)


def element(ctx: Context, items: tuple[Value, ...]) -> Value:
    """The text that an element of a list is."""
    template, *parts = items
    options = template.options if isinstance(template, OneOf) else ()
    if len(options) != 1:
        problem = "one of several texts with run-time numbers, as an element of a list"
        ctx.fail(refusals.TEXT, problem, "join them, return the list, or make the text where it is shown")
    (text,) = options
    assert isinstance(text, str)
    fields = sum(name is not None for _, name, _, _ in string.Formatter().parse(text))
    return Text(text, tuple(parts[:fields])) if fields else Static(text.format())

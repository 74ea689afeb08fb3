"""Texts: known ones, and those with run-time numbers in them (for messages of exceptions, and for `print`)."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend import classes, special_methods
from transkern.frontend.asking import asked
from transkern.frontend.context import Context
from transkern.frontend.elementwise import describe, is_number, is_python_number
from transkern.frontend.measures import check_characters, check_format, check_text_of
from transkern.frontend.set_order import check_order
from transkern.frontend.values import (
    Array,
    Concatenation,
    Dict,
    GrowingList,
    Known,
    OneOf,
    Record,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
)
from transkern.ir.containers import OF_NUMPY

_HELD = "texts can hold numbers, texts, tuples and lists of them"


def quoted(text: str) -> str:
    """`text` as a part of a template."""
    return text.replace("{", "{{").replace("}", "}}")


def as_text(ctx: Context, value: Value, spec: str = "", conversion: str = "") -> Text:
    """``format(value, spec)``, with `conversion` ``r`` its ``repr``."""
    if not conversion and special_methods.method(ctx, value, "__format__") is not None:
        ctx.fail(refusals.OBJECT, "a text of an object with a `__format__`", "call a method of another name")
    own = special_methods.text(ctx, value, conversion == "r")
    if own is not None:
        if not (is_text(own) or isinstance(own, OneOf)):
            problem = "a text of an object whose `__str__` or `__repr__` returns no text"
            ctx.fail(refusals.OBJECT, problem, "return str(…) from it")
        if spec and not conversion:
            problem = "a format of an object that has no `__format__`"
            ctx.fail(refusals.OBJECT, problem, "format a number of it: f'{o.x:>5}'")
        return as_text(ctx, own, spec)
    value = ctx.deref(value)
    match value:
        case Text():
            if spec:
                ctx.fail(refusals.TEXT, "a format of a text made of run-time numbers", "format the numbers: f'{x:>10}'")
            return value
        case Static(known):
            check_text_of(known)
            check_format(spec)
            return _of_known(ctx, known, spec, conversion)
        case Known(path) if (found := classes.named_object(path)) is not None:
            return _of_known(ctx, found, spec, conversion)
        case OneOf(index, options):  # as one of the shown texts
            shown = [as_text(ctx, Static(o), spec, conversion).template.format() for o in options]
            return Text("{}", (OneOf(index, tuple(shown)),))
        case Scalar():
            return _of_number(ctx, value, spec, conversion)
        case Array(axes=()) if value.mask is None and conversion != "r":
            return _of_number(ctx, Scalar(value.body), spec, conversion)
        case Seq(items, kind):
            parts = [as_text(ctx, i, "", "r") for i in items]
            inner = ", ".join(p.template for p in parts)
            if kind not in ("tuple", "list"):
                ctx.fail(refusals.TEXT, f"a {kind} in a text", _HELD)
            inner = f"({inner}{',' if len(items) == 1 else ''})" if kind == "tuple" else f"[{inner}]"
            return Text(inner, tuple(a for p in parts for a in p.args))
        case Dict(keys, items):
            parts = [as_text(ctx, i, "", "r") for i in items]
            inner = ", ".join(f"{quoted(repr(k))}: {p.template}" for k, p in zip(keys, parts, strict=True))
            return Text(f"{{{{{inner}}}}}", tuple(a for p in parts for a in p.args))
        case Record(kind, names, items) if value.is_tuple:
            parts = [as_text(ctx, i, "", "r") for i in items]
            inner = ", ".join(f"{n}={p.template}" for n, p in zip(names, parts, strict=True))
            return Text(f"{kind.__name__}({inner})", tuple(a for p in parts for a in p.args))
        case Array() | Concatenation() | GrowingList():
            what = "a list of run-time length" if isinstance(value, GrowingList) else describe(value)
            ctx.fail(refusals.TEXT, f"{what} in a text", "show numbers of it, such as its length or an element")
        case _:
            ctx.fail(refusals.TEXT, f"{describe(value)} in a text", _HELD)


def _of_known(ctx: Context, value: Any, spec: str, conversion: str) -> Text:
    """An object that is known at specialisation in a text."""
    shown: Any = repr(value) if conversion == "r" else str(value) if conversion == "s" else value
    made: str = asked(ctx, format, shown, spec)
    if not isinstance(value, str) and re.search(r" at 0x[0-9a-fA-F]+>", made):
        problem = "an address in a text, which is another one in each process"
        ctx.fail(refusals.TEXT, problem, "write its name, as in `f.__name__`")
    return Text(quoted(made), ())


def _of_number(ctx: Context, value: Scalar, spec: str, conversion: str) -> Text:
    """A number in a text. What is formatted at run time is a number of Python's, or NumPy's where its texts have other
    digits (`ir.containers.number_class`); the name of its type in a `repr` stands in the template."""
    if conversion == "r" and not value.python and value.dtype not in OF_NUMPY:
        if spec:
            problem = "a format of the `repr` of a number of NumPy's"
            ctx.fail(refusals.TEXT, problem, "leave !r out, or format it by itself")
        return Text("np.{!r}_" if value.dtype == "bool" else f"np.{_name(value)}({{!r}})", (value,))
    return Text(f"{{{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}", (value,))


def _name(value: Scalar) -> str:
    return "int64" if value.dtype == "index" else value.dtype


def known(text: Text) -> Value:
    """A text without run-time numbers is a constant."""
    return text if text.args else Static(text.template.format())


def together(parts: Sequence[Text]) -> Value:
    check_characters(sum(len(p.template) for p in parts))
    return known(Text("".join(p.template for p in parts), tuple(a for p in parts for a in p.args)))


def is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Static) and isinstance(value.value, str))


def text_operation(ctx: Context, op: str, left: Value, right: Value) -> Value | None:
    """``+``, ``*`` and ``%`` of texts; None where `left` and `right` are none."""
    if op == "remainder" and isinstance(left, Static) and isinstance(left.value, str):
        return _percent(ctx, left.value, right)
    if op == "add" and is_text(left) and is_text(right):
        return together([as_text(ctx, left), as_text(ctx, right)])
    return None


_EMPTY: dict[str, object] = {"list": [], "tuple": (), "set": set()}
_PERCENT = re.compile(r"%(?:(%)|([-+ 0#]*)(\d*)(?:\.(\d+))?([sdifgGeErx]))")


def _percent(ctx: Context, template: str, right: Value) -> Value:
    """``template % right``."""
    values = list(right.items) if isinstance(right, Seq) and right.kind == "tuple" else [right]
    if all(isinstance(v, Static) for v in values):
        return Static(asked(ctx, operator.mod, template, tuple(v.value for v in values if isinstance(v, Static))))
    parts: list[Text] = []
    end = 0
    for match in _PERCENT.finditer(template):
        parts.append(Text(quoted(template[end : match.start()]), ()))
        end = match.end()
        percent, flags, width, precision, kind = match.groups()
        if percent:
            parts.append(Text("%", ()))
            continue
        if not values:
            ctx.fail(refusals.WRONG_ARGUMENTS, "not enough arguments for this format string", "give one for each %")
        value = values.pop(0)
        if kind in "sr":
            if flags or width or precision:
                ctx.fail(refusals.TEXT, "a width in a %s of a run-time number", "use an f-string: f'{x:>10}'")
            parts.append(as_text(ctx, value, "", kind))
            continue
        sign = "+" if "+" in flags else " " if " " in flags else ""
        side = "<" if "-" in flags else "0" if "0" in flags else ">" if width else ""
        if side == "0":
            side = ""
            width = "0" + width
        spec = side + sign + width
        if kind in "di":
            if not (isinstance(value, Scalar) and value.dtype.startswith(("index", "int", "uint"))) and not (
                is_number(value) and isinstance(value, Static) and isinstance(value.value, (int, np.integer))
            ):
                ctx.fail(refusals.TEXT, "%d of a float in a text", "use int(x)")
            parts.append(as_text(ctx, value, spec + ("d" if spec else "")))
        elif kind == "x":
            parts.append(as_text(ctx, value, spec + "x"))
        else:
            contents = ctx.deref(value)
            if isinstance(contents, Seq) and contents.kind in _EMPTY:
                asked(ctx, operator.mod, f"%{kind}", (_EMPTY[contents.kind],))
            parts.append(as_text(ctx, value, f"{spec}.{precision or 6}{kind}"))
    parts.append(Text(quoted(template[end:]), ()))
    is_tuple = isinstance(right, Seq) and right.kind == "tuple"
    if values and (is_tuple or is_python_number(right)):  # anything with subscripts may be left over
        asked(ctx, operator.mod, "", (None,))
    return together(parts)


_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)(![rs])?(?::([^{}]*))?\}")


def text_method(
    ctx: Context, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """``text.name(*args)``."""
    if isinstance(receiver, Static) and all(isinstance(a, Static) for a in [*args, *keywords.values()]):
        given = {k: v.value for k, v in keywords.items() if isinstance(v, Static)}
        held = [a.value for a in args if isinstance(a, Static)]
        if name.startswith("format"):
            check_format(receiver.value, *held, *given.values())
        made = asked(ctx, getattr(receiver.value, name), *held, **given)
        return Seq(tuple(Static(m) for m in made), "list") if isinstance(made, list) else Static(made)
    if isinstance(receiver, Static) and name == "format":
        return _format(ctx, receiver.value, args, keywords)
    if isinstance(receiver, Static) and name == "join" and len(args) == 1:
        check_order(ctx, args[0])
        items = args[0].items if isinstance(args[0], Seq) else None
        if items is not None and all(is_text(i) for i in items):
            between = Text(quoted(receiver.value), ())
            parts = [p for k, i in enumerate(items) for p in ([between] if k else []) + [as_text(ctx, i)]]
            return together(parts)
    return None


def _format(ctx: Context, template: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    parts: list[Text] = []
    end = count = 0
    for match in _FIELD.finditer(template):
        parts.append(Text(quoted(template[end : match.start()]), ()))
        end = match.end()
        if match.group() in ("{{", "}}"):
            parts.append(Text(match.group(), ()))
            continue
        field, conversion, spec = match.groups()
        if field and not field.isdigit():
            value = keywords.get(field)
        else:
            position = int(field) if field else count
            count += 1
            value = args[position] if position < len(args) else None
        if value is None:
            problem = f"the field {match.group()} of this format string has no argument"
            ctx.fail(refusals.WRONG_ARGUMENTS, problem, "give one for each field")
        parts.append(as_text(ctx, value, spec or "", (conversion or "").removeprefix("!")))
    parts.append(Text(quoted(template[end:]), ()))
    return together(parts)

"""Texts: known ones, and those with run-time numbers in them (for messages of exceptions, and for `print`)."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import shown as shown_lists
from transkern.frontend.python import spelling
from transkern.frontend.sources.measures import check_characters, check_format, check_text_of
from transkern.frontend.translate import special_methods
from transkern.frontend.values import classes, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.set_order import check_order
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    Char,
    Concatenation,
    Dict,
    GrowingList,
    Hashed,
    Iterated,
    JoinedText,
    Known,
    Method,
    OneOf,
    Record,
    Scalar,
    Seq,
    Shown,
    Static,
    Text,
    Value,
    View,
)
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.containers import OF_NUMPY

_ASCII = "a character beyond ASCII in a text is not compiled"
_ESCAPED = "the repr of a character that is no letter, digit or sign of ASCII is not compiled"
_HELD = "texts can hold numbers, texts, tuples and lists of them"


def quoted(text: str) -> str:
    """`text` as a part of a template."""
    return text.replace("{", "{{").replace("}", "}}")


_AS_IT_IS = ("", "s", "r")  # the conversions of what is shown by `str` or `repr`


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
        case Char(code) if spec:
            ctx.guard(b.compare("less", code, b.index(len(CHARACTERS))), "RuntimeError", _ASCII)
            return as_text(ctx, OneOf(code, CHARACTERS), spec, conversion)
        case Char(code):
            if conversion == "r":
                plain = b.both(b.compare("greater_equal", code, b.index(32)), b.compare("less", code, b.index(127)))
                for escaped in "'\\":
                    plain = b.both(plain, b.compare("not_equal", code, b.index(ord(escaped))))
                ctx.guard(plain, "RuntimeError", _ESCAPED)
            return Text("'{:c}'" if conversion == "r" else "{:c}", (Scalar(code, True),))
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
        case GrowingList() | Hashed() | Array(axes=(_, *_)) | Concatenation() if not spec and conversion in _AS_IT_IS:
            value = as_array(ctx, value) if isinstance(value, Concatenation) else value
            if (held := shown_lists.held(ctx, value)) is not None:
                return Text("{!r}" if conversion == "r" else "{}", (Shown(value, tuple(held)),))
            ctx.fail(refusals.TEXT, f"{describe(value)} of run-time length in a text", _HELD)
        case JoinedText() if not spec and conversion != "r" and (held := shown_lists.held(ctx, value)) is not None:
            return Text("{}", (Shown(value, tuple(held)),))
        case Array() | Concatenation() | GrowingList():
            what = f"a format of {describe(value)}" if spec else f"{describe(value)} in a text"
            ctx.fail(refusals.TEXT, what, "show numbers of it, such as its length or an element")
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
    if op == "add":
        return spelling.joined(ctx, left, right)
    if op == "multiply":
        is_count = isinstance(left, Scalar) or (isinstance(left, Static) and isinstance(left.value, int))
        return spelling.repeated(ctx, right, left) if is_count else spelling.repeated(ctx, left, right)
    return None


_PERCENT = re.compile(r"%([-+ 0#]*)(\*|\d*)(?:(\.)(\*|\d*))?[hlL]?([%sdiuoxXeEfFgGr])")


def _percent(ctx: Context, template: str, right: Value) -> Value:
    """``template % right``."""
    values = list(right.items) if isinstance(right, Seq) and right.kind == "tuple" else [right]
    if all(isinstance(v, Static) for v in values):
        return Static(asked(ctx, operator.mod, template, tuple(v.value for v in values if isinstance(v, Static))))

    def taken() -> Value:
        if not values:
            ctx.fail(refusals.WRONG_ARGUMENTS, "not enough arguments for this format string", "give one for each %")
        return values.pop(0)

    parts: list[Text] = []
    end = 0
    for match in _PERCENT.finditer(template):
        parts.append(_between(ctx, template[end : match.start()], "%"))
        end = match.end()
        flags, width, point, precision, kind = match.groups()
        if kind == "%" and not match.group()[1:-1]:
            parts.append(Text("%", ()))
            continue
        if width == "*" and (width := str(_measure(ctx, taken()))).startswith("-"):
            flags, width = f"{flags}-", width[1:]
        if precision == "*":
            precision = str(max(_measure(ctx, taken()), 0))
        parts.append(_converted(ctx, taken(), flags, width, (precision or "0") if point else "", kind))
    parts.append(_between(ctx, template[end:], "%"))
    is_tuple = isinstance(right, Seq) and right.kind == "tuple"
    if values and (is_tuple or is_python_number(right) or is_text(right)):  # what has subscripts may be left over
        asked(ctx, operator.mod, "", (None,))
    return together(parts)


def _between(ctx: Context, text: str, signs: str) -> Text:
    """What stands between the fields of a format, none of whose signs may be left in it."""
    if any(sign in text for sign in signs):
        help = "use an f-string, f'{x:>10.3f}'; a sign that is no field is written twice"
        ctx.fail(refusals.TEXT, f"a format with such a field: {text!r}", help)
    return Text(quoted(text), ())


def _measure(ctx: Context, value: Value) -> int:
    """A width or a precision that is given with the values."""
    if isinstance(value, Scalar) and value.python and value.dtype == "index":
        ctx.must_be_known(value, "the width of a number in a text", "write it out: f'{x:>10.3f}'", refusals.TEXT)
    if not isinstance(value, Static) or type(value.value) not in (int, bool):
        ctx.guard(b.FALSE, "TypeError", "* wants int")
        raise AssertionError
    return int(value.value)


def _converted(ctx: Context, value: Value, flags: str, width: str, precision: str, kind: str) -> Text:
    """A value as ``%`` shows it, by the format that says the same."""
    if kind in "%sr":
        if flags or width or precision or kind == "%":
            ctx.fail(refusals.TEXT, f"a width in a %{kind} of a run-time number", "use an f-string: f'{x:>10}'")
        return as_text(ctx, value, "", kind)
    python_types.check(ctx, lambda shown: f"%{kind}" % (shown,), value)
    contents = ctx.deref(value)
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags else ""
    side = "<" if "-" in flags else ">" if width and not zeros else ""
    spec = f"{side}{sign}{'#' if '#' in flags and kind not in 'diu' else ''}{zeros}{width}"
    if kind in "eEfFgG":
        if isinstance(contents, (Array, Scalar)) and is_complex(contents.dtype):
            ctx.fail(refusals.TEXT, f"%{kind} of {describe(contents)} in a text", "tell its parts: z.real, z.imag")
        return as_text(ctx, value, f"{spec}.{precision or 6}{kind}")
    if not (isinstance(contents, Scalar) and contents.dtype.startswith(("index", "int", "uint"))) and not (
        is_number(contents) and isinstance(contents, Static) and isinstance(contents.value, (int, np.integer))
    ):
        ctx.fail(refusals.TEXT, f"%{kind} of {describe(contents)} in a text", "use int(x)")
    if precision:
        ctx.fail(refusals.TEXT, f"a precision of a %{kind}", "use an f-string: f'{k:03}'")
    kind = "d" if kind in "iu" else kind
    return as_text(ctx, contents, spec + kind if spec or kind != "d" else "")


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
        return _joined(ctx, receiver.value, args[0])
    if not keywords and isinstance(receiver, (JoinedText, Static)):
        return spelling.method(ctx, receiver, name, args)
    return None


def _joined(ctx: Context, between: str, given: Value) -> Value | None:
    """``between.join(given)`` of texts that only the run knows; None where `given` is no list of texts."""
    held = ctx.deref(given)
    if isinstance(held, (Method, Iterated, View)):
        held = ctx.deref(compose(ctx, "lists", "listed", [given], {}))
    if isinstance(held, Seq) and not held.items:
        return Static("")
    if isinstance(held, Seq) and all(is_character_or_text(i) for i in held.items):
        held = growing.from_items(ctx, held)
    if isinstance(held, GrowingList) and formatted.is_formatted(held):
        return JoinedText(growing.copied(ctx, held), between)
    if isinstance(held, GrowingList) and held.rows is not None and held.rows.kind == "text":
        return spelling.put_together(ctx, between, held)
    if not isinstance(held, GrowingList) or held.columns or held.rows is not None:
        return None
    if not is_typed(ctx, held):
        return Static("")
    return JoinedText(growing.copied(ctx, held), between) if held.options and None not in held.options else None


def is_character_or_text(value: Value) -> bool:
    return isinstance(value, (Char, OneOf)) or (isinstance(value, Static) and isinstance(value.value, str))


def _format(ctx: Context, template: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    parts: list[Text] = []
    end = count = 0
    ways: list[str] = []
    for match in _FIELD.finditer(template):
        parts.append(_between(ctx, template[end : match.start()], "{}"))
        end = match.end()
        if match.group() in ("{{", "}}"):
            parts.append(Text(match.group(), ()))
            continue
        field, conversion, spec = match.groups()
        if field and not field.isdigit():
            value = keywords.get(field)
        else:
            ways += ["{0}" if field else "{}"]
            if ways[-1] != ways[0]:
                asked(ctx, f"{ways[0]}{ways[-1]}".format, 1, 1)
            position = int(field) if field else count
            count += 1
            value = args[position] if position < len(args) else None
        if value is None:
            problem = f"the field {match.group()} of this format string has no argument"
            ctx.fail(refusals.WRONG_ARGUMENTS, problem, "give one for each field")
        parts.append(as_text(ctx, value, spec or "", (conversion or "").removeprefix("!")))
    parts.append(_between(ctx, template[end:], "{}"))
    return together(parts)

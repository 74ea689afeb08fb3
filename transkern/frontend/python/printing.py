"""Python's functions that make texts, and what is printed or warned of."""

from __future__ import annotations

import string
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import shown as shown_lists
from transkern.frontend.python.texts import as_text, known, quoted
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import classes
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    GrowingList,
    JoinedText,
    OneOf,
    Scalar,
    Shown,
    Static,
    Text,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import OF_NUMPY


@handles("builtins.ord", names="c")
def _ord(ctx: Context, a: Arguments) -> Value:
    value = a.need("c")
    if isinstance(value, Static) and isinstance(value.value, str) and len(value.value) == 1:
        return Static(ord(value.value))
    if isinstance(value, Char):
        return Scalar(value.code, True)
    ctx.fail(refusals.TEXT, f"`ord` of {describe(value)}", "give one character of a text that is known: ord(text[k])")


@handles("builtins.chr", names="i")
def _chr(ctx: Context, a: Arguments) -> Value:
    value = a.need("i")
    if isinstance(value, Static) and isinstance(value.value, int):
        return Static(asked(ctx, chr, value.value))
    check_position(ctx, value, chr)
    code = integer_expr(ctx, value)
    inside = b.both(b.compare("greater_equal", code, b.ZERO), b.compare("less", code, b.index(0x110000)))
    ctx.guard(inside, "ValueError", "chr() arg not in range(0x110000)")
    return Char(ctx.let(code, "code"))


_IN_BASES: dict[str, tuple[Callable[[Any], str], int]] = {"bin": (bin, 2), "oct": (oct, 8), "hex": (hex, 16)}


@handles("builtins.bin", "builtins.oct", "builtins.hex", names="number")
def _in_base(ctx: Context, a: Arguments) -> Value:
    value = a.need("number")
    python, base = _IN_BASES[a.name]
    if isinstance(value, Static):
        return Static(asked(ctx, python, value.value))
    check_position(ctx, value, python)
    given: list[Value] = [Scalar(integer_expr(ctx, value), True), Static(base), Static(python(0)[:2])]
    digits = ctx.deref(compose(ctx, "texts", "in_base", given, {}))
    assert isinstance(digits, GrowingList)
    return JoinedText(digits, "")


@handles("builtins.str", "builtins.repr", names="object")
def _str(ctx: Context, a: Arguments) -> Value:
    if "object" not in a.given and a.name == "str":
        return Static("")
    return known(as_text(ctx, a.need("object"), "", "r" if a.name == "repr" else "s"))


@handles("builtins.format", names="value spec")
def _format(ctx: Context, a: Arguments) -> Value:
    return known(as_text(ctx, a.need("value"), a.text("spec", "")))


def _print(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``print``: a step on the host, in order with everything that writes what it shows."""
    unknown = set(keywords) - {"sep", "end", "flush"}
    if unknown:
        ctx.fail(refusals.OPTION, f"`print` with `{sorted(unknown)[0]}=`", "supported: sep=, end=, flush=")
    between, end = (
        str(default if (given := keywords.get(k)) is None else constant_object(ctx, given, f"`{k}=` of print"))
        for k, default in (("sep", " "), ("end", "\n"))
    )
    _printed(ctx, [_shown(ctx, value) for value in args], between, end)
    return Static(None)


def _shown(ctx: Context, value: Value) -> Value:
    """What `print` shows for a value: an array, or a text."""
    if isinstance(value, (Array, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        return value
    return as_text(ctx, value, "", "s")


@handles("warnings.warn", names="message category stacklevel source skip_file_prefixes")
def _warn(ctx: Context, a: Arguments) -> Value:
    """A step on the host, as `print` is; the warning's place is the line that warns, whatever `stacklevel` says."""
    kind: Any = UserWarning if a.get("category") is None else classes.object_at(a.need("category"))
    if not (isinstance(kind, type) and issubclass(kind, Warning)):
        problem = f"a category of warnings that is {describe(a.need('category'))}"
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, "name a class, such as UserWarning")
    if getattr(sys.modules.get(kind.__module__), kind.__name__, None) != kind:
        problem = f"warnings of `{kind.__name__}`, which is no name of a module"
        ctx.fail(refusals.MESSAGE, problem, "define the class in a module")
    if ctx.scopes.filters and ctx.scopes.filters[-1] == "ignore":
        return Static(None)
    if any(ctx.scopes.filters or ()):
        problem, help = "a warning where a filter may choose it", 'ignore all: warnings.simplefilter("ignore")'
        ctx.fail(refusals.WARNINGS, problem, help)
    message = as_text(ctx, a.need("message"))
    where = (kind.__module__, kind.__name__, ctx.session.span.file, ctx.session.span.line)
    _printed(ctx, [message], "", "", (("warns", where),))
    return Static(None)


def _printed(
    ctx: Context, shown: Sequence[Value], between: str, end: str, more: tuple[tuple[str, Any], ...] = ()
) -> None:
    """Prints arrays and texts; a text that is one of several by a branch for each of them."""
    for position, text in enumerate(shown):
        if not isinstance(text, Text):
            continue
        for k, choice in enumerate(text.args):
            if not isinstance(choice, OneOf):
                continue
            for at, option in enumerate(choice.options):
                fixed = replace(text, args=(*text.args[:k], Static(option), *text.args[k + 1 :]))
                with ctx.emitter.block() as out, suppress(Terminated):
                    _printed(ctx, [*shown[:position], fixed, *shown[position + 1 :]], between, end, more)
                ctx.emit(n.If(b.compare("equal", choice.index, b.index(at)), tuple(out)))
            return
    template, held, kinds = "", list[Array](), list[str | tuple[str, int]]()
    for position, value in enumerate(shown):
        template += quoted(between) if position else ""
        if not isinstance(value, Text):
            template += "{}"
            held.append(as_array(ctx, value))
            kinds.append("array")
            continue
        known = [a.value if isinstance(a, Static) and isinstance(a.value, str) else None for a in value.args]
        template += _filled(value.template, known)
        for number in value.args:
            if isinstance(number, Static) and isinstance(number.value, str):
                continue
            if isinstance(number, Shown):
                made, arrays = shown_lists.text_of(ctx, number)
                held += arrays
                kinds.append((made, len(arrays)))
                continue
            expr = scalar_expr(ctx, number)
            python = isinstance(number, Scalar) and number.python
            held.append(Array((), b.cast(expr, "int64") if expr.dtype == "index" else expr))
            kinds.append("scalar" if not python and held[-1].dtype in OF_NUMPY else "python")
    template += quoted(end)
    ins = tuple(ctx.define(replace(v, view=False, identity=""), "shown").base for v in held)
    ctx.emit(n.Library("print", (), ins, (("template", template), ("kinds", tuple(kinds)), *more)))


def _filled(template: str, known: Sequence[str | None]) -> str:
    """A template with some of its fields filled in."""
    made, fields = "", iter(known)
    for literal, field, spec, conversion in string.Formatter().parse(template):
        made += quoted(literal)
        if field is not None:
            text = next(fields)
            shape = f"{{{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"
            made += shape if text is None else quoted(text)
    return made


TABLE["builtins.print"] = _print

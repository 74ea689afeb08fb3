"""Characters of texts that are known: ``text[i]`` with a run-time `i` is the code of a character."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from transkern import refusals
from transkern.frontend.asking import asked
from transkern.frontend.context import Context
from transkern.frontend.elementwise import as_array, captured_array, describe, select
from transkern.frontend.values import Char, Dict, Scalar, Seq, Static, Value
from transkern.frontend.whole import NO_POSITION, integer_expr
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr

_FEW = 8


def item(ctx: Context, text: str, position: Value) -> Value:
    """``text[position]``."""
    if isinstance(position, Static):
        return Static(asked(ctx, operator.getitem, text, position.value))
    at, extent = integer_expr(ctx, position, "IndexError", NO_POSITION), b.index(len(text))
    inside = b.both(b.compare("less", at, extent), b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", "string index out of range")
    return at_position(ctx, text, b.wrap_index(at, extent))


def at_position(ctx: Context, text: str, at: Expr) -> Value:
    """The character at a position that the text has."""
    known = b.constant(at)
    if known is not None:
        return Static(text[known])
    codes = ctx.texts.setdefault(text, np.array([ord(c) for c in text], np.int64))
    table = captured_array(ctx, codes) if len(text) > _FEW else as_array(ctx, Seq(tuple(Static(int(c)) for c in codes)))
    return Char(b.as_index(table.at((at,))))


def code_of(value: Value) -> Expr | None:
    """The code of a character, known or not; None of anything else."""
    match value:
        case Char(code):
            return code
        case Static(str() as text) if len(text) == 1:
            return b.index(ord(text))
        case _:
            return None


def compare(ctx: Context, name: str, x: Value, y: Value) -> Value:
    """The comparison `name` of a character with another, or with a text."""
    one, two = code_of(x), code_of(y)
    if one is None or two is None:  # a longer text, or no text at all
        if name not in ("equal", "not_equal"):
            problem = f"a comparison of {describe(x)} and {describe(y)}"
            ctx.fail(refusals.OPERANDS, problem, "compare with one character")
        return Static(name == "not_equal")
    return Scalar(b.compare(name, one, two), True)


def contained(ctx: Context, value: Char, texts: list[Value]) -> Value:
    """Whether a character is one of some texts."""
    found: Expr = b.FALSE
    for text in texts:
        code = code_of(text)
        if code is not None:
            found = b.either(found, b.compare("equal", value.code, code))
    return Scalar(found, True)


def matches(keys: tuple[object, ...], key: Value) -> list[Expr] | None:
    """For each key of a dict the condition that it is a character, integer or bool that is known at run time only."""
    if isinstance(key, Char) and all(isinstance(k, str) for k in keys):
        return [
            b.compare("equal", key.code, b.index(ord(k))) if len(k) == 1 else b.FALSE  # type: ignore[arg-type]
            for k in keys
        ]  # fmt: skip
    if isinstance(key, Scalar) and key.dtype == "index" and all(type(k) is int for k in keys):
        return [b.compare("equal", key.expr, b.index(k)) for k in keys]  # type: ignore[arg-type]
    if isinstance(key, Scalar) and key.dtype == "bool" and sorted(map(repr, keys)) == ["False", "True"]:
        return [key.expr if k else b.logical_not(key.expr) for k in keys]
    return None


def looked_up(ctx: Context, base: Dict, key: Value, join: Callable[[list[Value], Expr], Value]) -> Value | None:
    """``base[key]`` with a key known at run time only; `join` makes one value of several and the position of one."""
    found = matches(base.keys, key)
    if not found:
        return None
    any_of: Expr = b.FALSE
    position: Expr = b.ZERO
    for k, condition in enumerate(found):
        any_of = b.either(any_of, condition)
        position = b.where(condition, b.index(k), position)
    code = key.code if isinstance(key, Char) else key.expr  # type: ignore[union-attr]
    if isinstance(key, Char):
        ctx.guard(any_of, "KeyError", "a character that is no key of the dict")
    else:
        ctx.guard(any_of, f"{n.SEVERAL}KeyError", "({},)", (code,))
    return join(list(base.items), ctx.let(position, "key"))


def chosen(ctx: Context, options: tuple[str, ...], at: Expr) -> Value:
    """One of several characters."""
    codes: list[Expr] = [Const(ord(c), "index") for c in options]
    return Char(ctx.let(select(at, codes), "code"))

"""Characters of texts that are known: ``text[i]`` with a run-time `i` is the code of a character."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, table
from transkern.frontend.python.whole import NO_POSITION, integer_expr
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import select
from transkern.frontend.values.values import Char, Dict, OneOf, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import with_text
from transkern.ir.expr import Const, Expr
from transkern.ir.ops import MIRRORED

_FEW = 8
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def item(ctx: Context, text: str, position: Value) -> Value:
    """``text[position]``."""
    if isinstance(position, Static):
        return Static(asked(ctx, operator.getitem, text, position.value))
    at, extent = integer_expr(ctx, position, "IndexError", NO_POSITION), b.index(len(text))
    inside = b.both(b.compare("less", at, extent), b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", "string index out of range")
    return at_position(ctx, text, b.wrap_index(at, extent))


def item_of_choice(ctx: Context, choice: OneOf, position: Value) -> Value:
    """``text[position]`` of one of several texts: of all of them, one behind the other."""
    texts = [o for o in choice.options if o is not None]
    at, extent = integer_expr(ctx, position, "TypeError", NO_POSITION), ctx.let(length_of_choice(choice), "length")
    inside = b.both(b.compare("less", at, extent), b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", "string index out of range")
    return at_position(ctx, "".join(texts), b.add(start_of_choice(choice), b.wrap_index(at, extent)))


def length_of_choice(choice: OneOf) -> Expr:
    """``len(text)`` of one of several texts."""
    return _by_option(choice, [len(o or "") for o in choice.options])


def start_of_choice(choice: OneOf) -> Expr:
    """Where one of several texts begins, if they stand one behind the other."""
    lengths = [len(o or "") for o in choice.options]
    if len(set(lengths)) == 1:
        return b.mul(choice.index, b.index(lengths[0]))
    return _by_option(choice, [sum(lengths[:k]) for k in range(len(lengths))])


def _by_option(choice: OneOf, numbers: list[int]) -> Expr:
    same = len(set(numbers)) == 1
    return b.index(numbers[0]) if same else select(choice.index, [b.index(number) for number in numbers])


def byte(ctx: Context, known: bytes, position: Value) -> Value:
    """``known[position]`` of bytes."""
    if isinstance(position, Static):
        return Static(asked(ctx, operator.getitem, known, position.value))
    at, extent = integer_expr(ctx, position, "IndexError", NO_POSITION), b.index(len(known))
    inside = b.both(b.compare("less", at, extent), b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", "index out of range")
    return Scalar(b.as_index(table(ctx, [*known]).at((b.wrap_index(at, extent),))), True)


def at_position(ctx: Context, text: str, at: Expr) -> Value:
    """The character at a position that the text has."""
    known = b.constant(at)
    if known is not None:
        return Static(text[known])
    codes = [ord(c) for c in text]
    held = table(ctx, codes) if len(text) > _FEW else as_array(ctx, Seq(tuple(map(Static, codes))))
    return Char(b.as_index(held.at((at,))))


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
        if one is None and two is not None:
            return compare(ctx, MIRRORED[name], y, x)
        if name not in ("equal", "not_equal") and isinstance(y, Static) and isinstance(y.value, str):
            if not y.value:
                return Static(name.startswith("greater"))
            assert one is not None  # where the first character is the same, the longer text is the greater one
            by = "less_equal" if name.startswith("less") else "greater"
            return Scalar(b.compare(by, one, b.index(ord(y.value[0]))), True)
        if name not in ("equal", "not_equal"):
            problem = f"a comparison of {describe(x)} and {describe(y)}"
            ctx.fail(refusals.OPERANDS, problem, "compare with one character")
        return Static(name == "not_equal")
    return Scalar(b.compare(name, one, two), True)


def compare_chosen(ctx: Context, name: str, x: Value, y: Value) -> Value | None:
    """The comparison `name` of one of several texts with another, a character or a text; None where one of them is no
    text, and they are compared for their order."""
    if not isinstance(x, OneOf):
        return compare_chosen(ctx, MIRRORED[name], y, x)
    if isinstance(y, Static):
        by = COMPARISONS[name]
        if name not in ("equal", "not_equal") and not all(isinstance(o, str) for o in (*x.options, y.value)):
            return None
        return Scalar(x.where(lambda option: bool(by(option, y.value))), True)
    if not isinstance(y, (OneOf, Char)):
        return None
    holds: Expr = b.FALSE
    for k, option in enumerate(x.options):
        each = compare_chosen(ctx, MIRRORED[name], y, Static(option)) if isinstance(y, OneOf) else compare(
            ctx, name, Static(option), y
        )  # fmt: skip
        if each is None:
            return None
        condition = each.expr if isinstance(each, Scalar) else Const(bool(each.value), "bool")  # type: ignore[union-attr]
        holds = b.either(holds, b.both(b.compare("equal", x.index, b.index(k)), condition))
    return Scalar(holds, True)


TESTS = ("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "isupper")
_CASES = {"lower": ("A", "Z", 32), "upper": ("a", "z", -32)}


def method(ctx: Context, value: Char, name: str) -> Value | None:
    """``character.name()`` of one that is ASCII; None of other methods."""
    if name == "isascii":
        return Scalar(b.compare("less", value.code, b.index(128)), True)
    if name in TESTS:
        _must_be_ascii(ctx, value, name)
        return Scalar(_among(value.code, [bool(getattr(chr(c), name)()) for c in range(128)]), True)
    if name in _CASES:
        _must_be_ascii(ctx, value, name)
        first, last, step = _CASES[name]
        inside = _within(value.code, ord(first), ord(last))
        return Char(ctx.let(b.where(inside, b.add(value.code, b.index(step)), value.code), "code"))
    return None


def method_of_choice(ctx: Context, choice: OneOf, name: str, args: Sequence[Value]) -> Value | None:
    """``text.name(*args)`` of one of several texts: one of what it is of each. None where these are no texts or
    integers, or where one of them raises."""
    given = [a.value for a in args if isinstance(a, Static)]
    if len(given) < len(args):
        return None
    try:
        made = [getattr(option, name)(*given) for option in choice.options]
    except Exception:
        return None
    if all(isinstance(m, bool) for m in made):
        held = {option for option, m in zip(choice.options, made, strict=True) if m}
        return Scalar(choice.where(held.__contains__), True)
    if all(type(m) is str for m in made):
        options = tuple(dict.fromkeys(made))
        return OneOf(select(choice.index, [b.index(options.index(m)) for m in made]), options)
    if all(type(m) is int for m in made):
        return Scalar(_by_option(choice, made), True)
    return None


def digit(ctx: Context, value: Char) -> Value:
    """``int(character)``."""
    _must_be_ascii(ctx, value, "int()")
    text = "invalid literal for int() with base 10: '{:c}'"
    ctx.guard(_within(value.code, ord("0"), ord("9")), "ValueError", text, (value.code,))
    return Scalar(b.sub(value.code, b.index(ord("0"))), True)


def _must_be_ascii(ctx: Context, value: Char, what: str) -> None:
    problem = f"{what} of a character that is not ASCII is not compiled"
    ctx.guard(b.compare("less", value.code, b.index(128)), "RuntimeError", problem)


def _within(code: Expr, first: int, last: int) -> Expr:
    least = b.compare("greater_equal", code, b.index(first))
    return b.both(least, b.compare("less_equal", code, b.index(last)))


def _among(code: Expr, holds: list[bool]) -> Expr:
    """Whether a code is one of those that hold: in one of the ranges that these make."""
    found: Expr = b.FALSE
    starts = [k for k, h in enumerate(holds) if h and not (k and holds[k - 1])]
    for start in starts:
        stop = next((k for k in range(start, len(holds)) if not holds[k]), len(holds))
        found = b.either(found, _within(code, start, stop - 1))
    return found


def contained(ctx: Context, value: Char, texts: list[Value]) -> Value:
    """Whether a character is one of some texts."""
    found: Expr = b.FALSE
    for text in texts:
        found = b.either(found, equal(ctx, value, text))
    return Scalar(found, True)


def equal(ctx: Context, x: Value, y: Value) -> Expr:
    """Whether a character, or one of several texts, is the same as another value, which may be no text."""
    chosen = isinstance(x, OneOf) or isinstance(y, OneOf)
    same = (compare_chosen if chosen else compare)(ctx, "equal", x, y)
    return same.expr if isinstance(same, Scalar) else b.TRUE if same == Static(True) else b.FALSE


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
    if isinstance(key, OneOf):
        return _of_options(ctx, base, key, join)
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


def _of_options(ctx: Context, base: Dict, key: OneOf, join: Callable[[list[Value], Expr], Value]) -> Value | None:
    """The same of a text that is one of several, of which some may be no keys."""
    known = [k for k, option in enumerate(key.options) if option in base.keys]
    if not known:
        return None
    for k, option in enumerate(key.options):
        if k not in known:
            error = (f"{n.SEVERAL}KeyError", "(None,)") if option is None else with_text("KeyError", option)
            ctx.guard(b.compare("not_equal", key.index, b.index(k)), *error)
    places: list[Expr] = [b.index(known.index(k) if k in known else 0) for k in range(len(key.options))]
    values = [base.items[base.keys.index(key.options[k])] for k in known]
    return join(values, ctx.let(select(key.index, places), "key"))


def chosen(ctx: Context, options: tuple[str, ...], at: Expr) -> Value:
    """One of several characters."""
    codes: list[Expr] = [Const(ord(c), "index") for c in options]
    return Char(ctx.let(select(at, codes), "code"))

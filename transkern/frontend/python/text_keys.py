"""Texts as keys of dicts and sets of which only the run knows which one it is: what they are looked up by, and what
errors show of them."""

from __future__ import annotations

from typing import TypeGuard

from transkern import refusals
from transkern.errors import NOT_COMPILED
from transkern.frontend.compositions import compose
from transkern.frontend.compositions.texts import code_of_text
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import table
from transkern.frontend.state import guards
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.values import Array, Char, GrowingList, JoinedText, OneOf, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr

_FEW = 8
"""So many texts stand in the code, one by one: more of them, in a table."""


_NO_KEY = f"a text made at run time that is no key of the dict: {NOT_COMPILED}"
"""What is raised for a KeyError whose text a handler here would need, or which shows a text among others."""


def is_text(key: Value) -> TypeGuard[Char | OneOf | Static | JoinedText]:
    return isinstance(key, (Char, OneOf, JoinedText)) or (isinstance(key, Static) and isinstance(key.value, str))


def hold(keys: GrowingList) -> bool:
    """Whether keys are texts, known ones or such as the run makes."""
    return bool(keys.options) or (keys.rows is not None and keys.rows.kind == "text")


def number(ctx: Context, text: Char | OneOf | Static | JoinedText) -> Expr:
    """What a text is looked up by. Python's is another one each run: it orders sets, over which nobody loops here."""
    match text:
        case OneOf(index, options) if len(options) > _FEW:
            return b.as_index(table(ctx, [_number_of_text(t) for t in options]).at((index,)))
        case OneOf(index, options):
            return select(index, [b.index(_number_of_text(t)) for t in options])
        case Char(code):
            return code
        case JoinedText(items):
            return b.as_index(scalar_expr(ctx, compose(ctx, "texts", "code_of_text", [items], {})))
        case _:
            return b.index(_number_of_text(text.value))


def numbered(ctx: Context, items: Seq) -> tuple[Array, tuple[str, ...]] | None:
    """More than a few texts that are known, each as its number among those that differ, and these."""
    texts = [i.value for i in items.items if isinstance(i, Static) and type(i.value) is str]
    if not _FEW < len(items.items) == len(texts):
        return None
    of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return table(ctx, [of[t] for t in texts]), tuple(of)


def _number_of_text(text: str | None) -> int:
    assert text is not None
    return int(code_of_text(text))


def shown(ctx: Context, key: Value) -> tuple[Expr | None, str]:
    """The number that a key, or an item of one, is in a message, and the Python expression around it."""
    match ctx.deref(key):
        case Char(code):
            return code, "chr({})"
        case OneOf(index, options):
            return index, f"{_quoted(options)}[{{}}]"
        case Static(str() as text):
            return None, _quoted(text)
        case number:
            expr = scalar_expr(ctx, number)
            return expr, "{}" if is_python_number(number) else f"np.{expr.dtype}({{}})"


def must_be_a_key(ctx: Context, is_one: Expr, key: Value) -> None:
    """Python's error where a text that the run makes, or a tuple with one in it, is no key of a dict."""
    caught = guards.caught(ctx, KeyError) if ctx.control.catching else None
    if isinstance(key, Seq) or (caught is not None and caught[0].is_told(caught[1])):
        ctx.guard(is_one, "RuntimeError", _NO_KEY)
        return
    compose(ctx, "texts", "must_be_a_key", [Scalar(is_one, True), key], {})


def _quoted(what: object) -> str:
    return repr(what).replace("{", "{{").replace("}", "}}")


def refuse_order(ctx: Context, keys: GrowingList) -> None:
    """Refuses what the order of a set decides, where there are texts in it."""
    if any(map(hold, keys.leaves)):
        problem = "the order of a set of texts, which is another one in each run of Python"
        ctx.fail(refusals.VALUES_DECIDE, problem, "keep them in a list, or as keys of a dict")

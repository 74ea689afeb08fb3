"""Lists, dicts and arrays in texts: Python makes them of the arrays that they stand in, and shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transkern.frontend.containers import growing, hashed
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import list_array
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.values import CHARACTERS, OPTIONAL, Array, GrowingList, Hashed, JoinedText, Shown
from transkern.ir import nodes as n
from transkern.ir.containers import array_place, container_text


def held(ctx: Context, value: GrowingList | Hashed | Array | JoinedText) -> Sequence[GrowingList | Array] | None:
    """The lists, or the array, that show what a value holds now; None where they cannot. A set is shown in an order
    that its keys do not tell."""
    if isinstance(value, Array):
        return [ctx.define(replace(value, view=False, identity=""), "shown")]
    if isinstance(value, JoinedText):
        return [value.items] if _text(ctx, value.items, []) is not None else None
    if isinstance(value, GrowingList):
        return [growing.copied(ctx, value)] if _text(ctx, value, []) is not None else None
    if value.kind != "dict" or any(_text(ctx, one, []) is None for one in (value.keys, value.values) if one):
        return None
    return [growing.copied(ctx, one) for one in hashed.lists_of(ctx, value)]


def text_of(ctx: Context, shown: Shown) -> tuple[str, list[Array]]:
    """Python text that makes a list, dict or array of arrays, whose places in it are `array_place`, and these."""
    arrays = [one for one in shown.held if isinstance(one, Array)]
    texts = [_text(ctx, one, arrays) or "" for one in shown.held if isinstance(one, GrowingList)]
    match shown.value:
        case Array():
            return array_place(0), arrays
        case GrowingList(kind=kind):
            return (f"tuple({texts[0]})" if kind == "tuple" else texts[0]), arrays
        case JoinedText(_, between):
            return f"{between!r}.join({texts[0]})", arrays
        case Hashed() as owner:
            made = n.TupleResult((), "dict of lists", (), hashed.factory(ctx, owner.default, owner.of))
            return f"({container_text(made)})({', '.join(texts)})", arrays


def _text(ctx: Context, owner: GrowingList, arrays: list[Array]) -> str | None:
    """Python text of a list, whose arrays are put behind those before."""
    if owner.rows is not None or owner.objects is not None or owner.is_queue or owner.row == OPTIONAL:
        return None
    if not is_typed(ctx, owner):
        return "[]"
    if owner.columns:
        is_formatted = formatted.is_formatted(owner)
        if owner.of is not None and not is_formatted:
            return None
        parts = [_text(ctx, replace(c, count=owner.count), arrays) for c in owner.columns]
        made = container_text(n.TupleResult((), "formatted" if is_formatted else f"rows of {owner.row}"))
        return None if None in parts else f"({made})({', '.join(part or '' for part in parts)})"
    numbers = replace(owner, tags="", options=(), kind="list")
    place = _put(ctx, numbers, arrays)
    text = f"{place}.tolist()" if owner.python or owner.options else f"[*{place}]"
    if owner.tags:
        kinds = _put(ctx, replace(numbers, buffer=owner.tags, dtype="uint8", python=False), arrays)
        return f"({container_text(n.TupleResult((), 'tagged'))})({text}, {kinds}.tolist())"
    if owner.options:
        kind = "characters" if owner.options == CHARACTERS else "texts"
        return f"({container_text(n.TupleResult((), kind, owner.options))})({text})"
    if owner.dims and owner.row and not owner.python:
        return f"({container_text(n.TupleResult((), 'lists'))})({place})"
    return text


def _put(ctx: Context, owner: GrowingList, arrays: list[Array]) -> str:
    arrays.append(list_array(ctx, owner))
    return array_place(len(arrays) - 1)

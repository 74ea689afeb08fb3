"""`collections.Counter` and `collections.OrderedDict`: what they do beside dicts whose keys are known at run time."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

from transkern import refusals
from transkern.frontend.anew import Site
from transkern.frontend.compositions import compose
from transkern.frontend.containers import hashed, making, ordering
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.values.values import Dict, Hashed, Seq, Static, Value

KINDS = (collections.Counter, collections.OrderedDict)

_OPERATORS = {
    "add": "sum_of_counts", "subtract": "difference_of_counts", "bitwise_or": "union_of_counts",
    "bitwise_and": "intersection_of_counts",
}  # fmt: skip


def made(ctx: Context, kind: type, args: Sequence[Value], site: Site) -> Value:
    """``Counter(…)`` or ``OrderedDict(…)``."""
    owner = hashed.new(ctx, "dict", "dict", site, of=kind)
    if args and ctx.deref(args[0]) != Static(None):
        _update(ctx, owner, args[0])
    return owner


def method(
    ctx: Context, owner: Hashed, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """``owner.name(*args)`` where it is not what a dict does."""
    counts = owner.of is collections.Counter
    match name, list(args), dict(keywords):
        case "update", [other], {} if counts:
            _update(ctx, owner, other)
            return Static(None)
        case "subtract", [other], {} if counts:
            pairs = _pairs(ctx, other)
            if pairs is None:
                compose(ctx, "hashes", "count_down", [owner, iterating.all_of(ctx, other)], {})
            else:
                compose(ctx, "hashes", "subtract_counts", [owner, pairs], {})
            return Static(None)
        case "most_common", [] | [_], {} if counts:
            return _most_common(ctx, owner, args[0] if args else Static(None))
        case "elements", [], {} if counts:
            if not is_typed(ctx, owner.keys):
                return making.new(ctx, "elements")
            return compose(ctx, "hashes", "repeated", hashed.lists_of(ctx, owner), {})
        case "total", [], {} if counts:
            return compose(ctx, "hashes", "total", [hashed.lists_of(ctx, owner)[1]], {})
        case "popitem", given, named if not counts and len(given) + len(named) == 1 and set(named) <= {"last"}:
            last = given[0] if given else named["last"]
            if isinstance(last, Static):
                return hashed.popped(ctx, owner, bool(last.value))
        case "move_to_end", [key, *rest], named if not counts and len(rest) + len(named) <= 1:
            last = rest[0] if rest else named.get("last", Static(True))
            if isinstance(last, Static) and last.value:
                hashed.move_to_end(ctx, owner, key)
                return Static(None)
            ctx.fail(refusals.OPTION, "`move_to_end` to the beginning", "put the items into a new dict")
    return None


def combined(ctx: Context, op: str, one: Value, two: Value, site: Site) -> Value | None:
    """``one + two`` and the like of two Counters."""
    counters = [isinstance(v, Hashed) and v.of is collections.Counter for v in (one, two)]
    if not all(counters) or op not in _OPERATORS:
        return None
    found = hashed.new(ctx, "counts", "dict", site, of=collections.Counter)
    compose(ctx, "hashes", _OPERATORS[op], [found, one, two], {})
    return found


def equal(ctx: Context, one: Value, two: Value) -> Value | None:
    """``one == two`` of two dicts; None where one of them is none, or their order counts."""
    if isinstance(one, Hashed) and isinstance(two, Hashed) and hashed.is_same(one, two):
        return Static(True)
    dicts: list[Value] = []
    for value in (one, two):
        if isinstance(value, Dict):
            value = hashed.of_items(ctx, "dict", value, hashed.site_of(ctx, "operand"))
        if not isinstance(value, Hashed) or value.kind != "dict":
            return Static(False)
        dicts.append(value)
    kinds = [value.of for value in dicts if isinstance(value, Hashed)]
    if kinds == [collections.OrderedDict] * 2:
        return None
    counts = kinds == [collections.Counter] * 2
    return compose(ctx, "hashes", "same_counts" if counts else "same_items", dicts, {})


def _update(ctx: Context, owner: Hashed, other: Value) -> None:
    if owner.of is not collections.Counter:
        hashed.update(ctx, owner, iterating.all_of(ctx, other))
        return
    pairs = _pairs(ctx, other)
    if pairs is None:
        compose(ctx, "hashes", "count", [owner, hashed.in_memory(ctx, iterating.all_of(ctx, other))], {})
    else:
        compose(ctx, "hashes", "add_counts", [owner, pairs], {})


def _pairs(ctx: Context, other: Value) -> Value | None:
    """The keys and numbers of a dict; None for what is not one."""
    contents = ctx.deref(other)
    if isinstance(contents, Dict):
        pairs = zip(contents.keys, contents.items, strict=True)
        return Seq(tuple(Seq((hashed.key_value(key), value)) for key, value in pairs))
    return hashed.items(ctx, contents) if isinstance(contents, Hashed) and contents.kind == "dict" else None


def _most_common(ctx: Context, owner: Hashed, number: Value) -> Value:
    items = hashed.items(ctx, owner)
    if not is_typed(ctx, items):
        return items
    ordered = ordering.sorted_list(ctx, items, hashed.lists_of(ctx, owner)[1], True)
    if ctx.deref(number) == Static(None):
        return ordered
    return compose(ctx, "hashes", "first_of", [ordered, number], {})

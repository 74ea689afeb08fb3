"""Operators and methods of sets whose keys are known at run time (`hashed`): they have CPython's order afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import hashed
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.python import text_keys
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Hashed, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.ops import MIRRORED

OPERATORS = frozenset(("bitwise_or", "bitwise_and", "subtract", "bitwise_xor"))


def combined(ctx: Context, op: str, one: Value, two: Value) -> Value | None:
    """``one | two`` and the like, of two sets; None where neither is known at run time only."""
    if not any(isinstance(v, Hashed) and v.kind == "set" for v in (one, two)):
        return None
    sets = [v if isinstance(v, Hashed) else hashed.as_set(ctx, v) for v in (one, two)]
    if op not in OPERATORS or any(s is None or s.kind != "set" for s in sets):
        help = "compare, join or subtract two sets; others can be added to one in a loop"
        ctx.fail(refusals.OPERANDS, f"this operator between {describe(one)} and {describe(two)}", help)
    first, second = (s for s in sets if s is not None)
    made = hashed.new(ctx, "set", "set", hashed.site_of(ctx, op))
    _combine(ctx, made, op, first, second)
    return hashed.as_frozen(made) if isinstance(one, (Hashed, Seq)) and one.frozen else made


def compare(ctx: Context, name: str, one: Value, two: Value) -> Value | None:
    """``one == two``, ``one <= two`` and the like, of two sets; None where neither is known at run time only."""
    if name.startswith("greater"):
        return compare(ctx, MIRRORED[name], two, one)
    if not any(isinstance(v, Hashed) and v.kind == "set" for v in (one, two)):
        return None
    given = [v if isinstance(v, Hashed) else hashed.as_set(ctx, v) for v in (one, two)]
    sets = [s for s in given if s is not None and s.kind == "set"]
    if len(sets) < 2:
        return Static(name == "not_equal") if name in ("equal", "not_equal") else None
    inside = scalar_expr(ctx, compose(ctx, "hashes", "all_in", list[Value](sets), {}))
    lengths = [scalar_expr(ctx, hashed.length(ctx, s)) for s in sets]
    if name == "less_equal":
        return Scalar(inside, True)
    holds = b.both(inside, b.compare("less" if name == "less" else "equal", *lengths))
    return Scalar(b.logical_not(holds) if name == "not_equal" else holds, True)


def _combine(ctx: Context, made: Hashed, op: str, one: Hashed, two: Hashed) -> None:
    """Puts ``one op two`` into an empty set."""
    match op:
        case "bitwise_or":
            hashed.update(ctx, made, one)
            hashed.update(ctx, made, two)
        case "bitwise_xor":
            hashed.update(ctx, made, two)
            compose(ctx, "hashes", "exchange", [made, one], {})
        case "bitwise_and" if hashed.is_same(one, two):
            hashed.update(ctx, made, one)
        case "bitwise_and":
            compose(ctx, "hashes", "intersection", [made, one, two], {})
        case _:
            compose(ctx, "hashes", "difference", [made, one, two], {})


def change(ctx: Context, owner: Hashed, op: str, other: Value) -> None:
    """``owner op= other``: of a set itself, whoever else knows it. `other` may be anything that can be gone over."""
    contents = ctx.deref(other)
    if isinstance(contents, Seq) and contents.kind == "set":
        contents = hashed.as_set(ctx, contents) or contents
    if isinstance(contents, Hashed) and hashed.is_same(owner, contents) and op in ("subtract", "bitwise_xor"):
        hashed.clear(ctx, owner)
    elif op == "bitwise_or":
        hashed.update(ctx, owner, contents)
    elif op == "subtract":
        compose(ctx, "hashes", "remove_all", [owner.itself, contents], {})
        compose(ctx, "hashes", "forget_removed", owner.lists[1:], {})
    elif op == "bitwise_xor":
        compose(ctx, "hashes", "exchange", [owner.itself, _set_of(ctx, contents)], {})
    else:
        assert op == "bitwise_and", op
        made = _intersection(ctx, owner, contents)
        if is_typed(ctx, made.keys):
            compose(ctx, "hashes", "take", [*owner.lists[:5], *made.lists[:5]], {})
        else:
            hashed.clear(ctx, owner)


def _intersection(ctx: Context, owner: Hashed, other: Value) -> Hashed:
    made = hashed.new(ctx, "set", "set", hashed.site_of(ctx, "bitwise_and"))
    if isinstance(other, Hashed) and other.kind == "set":
        _combine(ctx, made, "bitwise_and", owner, other)
    else:  # in the order of the other one
        compose(ctx, "hashes", "common", [made, owner, other], {})
    return made


def method(ctx: Context, owner: Hashed, name: str, args: Sequence[Value]) -> Value | None:
    match name, list(args):
        case "add", [key]:
            hashed.add(ctx, owner, key)
        case "remove", [key]:
            hashed.delete(ctx, owner, key)
        case "discard", [key]:
            number = hashed.find(ctx, owner, key)
            compose(ctx, "hashes", "discard", [owner.lists[1], owner.lists[4], number], {})
        case "pop", []:
            text_keys.refuse_order(ctx, owner.keys)
            lists = [owner.lists[1], owner.lists[3], owner.lists[4]]
            return hashed.taken_out(ctx, owner, [owner.keys], "pop from an empty set", "next_in_table", lists)[0]
        case "update", others:
            for other in others:
                hashed.update(ctx, owner, other)
        case "difference_update", others:
            for other in others:
                change(ctx, owner, "subtract", other)
        case "intersection_update", [other]:
            change(ctx, owner, "bitwise_and", other)
        case "symmetric_difference_update", [other]:
            change(ctx, owner, "bitwise_xor", other)
        case "union" | "intersection" | "difference" | "symmetric_difference" as op, [other]:
            return _made_of(ctx, owner, op, other)
        case "issubset", [other]:
            return compose(ctx, "hashes", "all_in", [owner, _set_of(ctx, other)], {})
        case "issuperset", [other]:
            return compose(ctx, "hashes", "all_in", [_set_of(ctx, other), owner], {})
        case "isdisjoint", [other]:
            return compose(ctx, "hashes", "none_in", [_set_of(ctx, other), owner], {})
        case _:
            return None
    return Static(None)


def _made_of(ctx: Context, owner: Hashed, op: str, other: Value) -> Value | None:
    """``owner.union(other)`` and the like: what is no set is gone over as it is, if only once."""
    contents = ctx.deref(other)
    symbol = {"union": "bitwise_or", "intersection": "bitwise_and", "difference": "subtract"}.get(op, "bitwise_xor")
    if isinstance(contents, Seq) and contents.kind == "set":
        contents = _set_of(ctx, contents)
    if isinstance(contents, Hashed) and contents.kind == "set":
        return combined(ctx, symbol, owner, contents)
    if op == "symmetric_difference":
        made = _set_of(ctx, contents)
        compose(ctx, "hashes", "exchange", [made, owner], {})
        return hashed.as_frozen(made) if owner.frozen else made
    if op == "intersection":
        made = _intersection(ctx, owner, contents)
    else:
        made = hashed.new(ctx, "set", "set", hashed.site_of(ctx, op))
        hashed.update(ctx, made, owner)
        change(ctx, made, symbol, contents)
    return hashed.as_frozen(made) if owner.frozen else made


def _set_of(ctx: Context, value: Value) -> Hashed:
    contents = ctx.deref(value)
    if isinstance(contents, Hashed) and contents.kind == "set":
        return contents
    made = hashed.new(ctx, "set", "set", hashed.site_of(ctx, "operand"))
    hashed.update(ctx, made, contents)
    return made

"""Objects for which numbers stand where a list or a loop holds them: which of them, and what tells their kinds.

So do sets: the lists of one whose keys are known at run time only (`compositions.hashes`) are rows in one memory each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.compositions import hashes
from transkern.frontend.context import Context
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    KeyedDict,
    Object,
    OneOf,
    OrNone,
    Pool,
    PoolKey,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Value,
    is_list,
)
from transkern.ir import build as b
from transkern.ir.expr import Expr

SET_PARTS = ("keys", "alive", "codes", "table", "info")
DICT_PARTS = (*SET_PARTS, "values")


def is_object(ctx: Context, value: Value) -> bool:
    """Whether a value is an object of a class, and no named tuple."""
    if isinstance(value, Instance):
        return True
    contents = ctx.deref(value) if isinstance(value, Object) else value
    return isinstance(contents, Record) and not contents.is_tuple


def key_of(contents: Value) -> PoolKey | None:
    """What tells the objects that stand in the same lists: their class; of a dict of texts its keys."""
    if isinstance(contents, Record) and not contents.is_tuple:
        return contents.kind
    if isinstance(contents, Dict) and contents.keys and all(isinstance(k, str) for k in contents.keys):
        return contents.keys
    return None


def wanted(ctx: Context, value: Value, problem: str) -> NoReturn:
    """An object is where a number must stand for it: the translation begins anew, with all of its class in lists."""
    record = ctx.deref(value)
    key = key_of(record)
    assert isinstance(record, (Record, Dict)) and key is not None
    help = "keep its numbers in lists, or its number in a list"
    error = NotKnown(refusals.OBJECT, problem, help, ctx.session.span, ctx.session.lines)
    if isinstance(value, Object) and value.token in ctx.inputs.paths:
        raise ctx.error(refusals.OBJECT, f"{problem}: it is an argument", "pass its numbers in arrays")
    if key in ctx.learned.pooled:
        when = "before its `__init__` has ended" if isinstance(record, Record) else "which gets its keys one by one"
        raise ctx.error(refusals.OBJECT, f"{problem}, {when}", "do it after it has been made, with all that it holds")
    error.finding = Finding("pooled", key, record.names if isinstance(record, Record) else record.keys)
    raise error


def wanted_among(ctx: Context, kinds: Iterable[Any], problem: str) -> None:
    """The same for the first object that a loop carries, if there is one: `kinds` as in `loops/carried/kinds.py`."""
    for kind in kinds:
        match kind:
            case ("object", Object() as value) if is_object(ctx, value):
                record = ctx.deref(value)
                if (
                    isinstance(record, Record) and record.kind not in ctx.learned.pooled
                    and value.token not in ctx.inputs.paths
                ):
                    wanted(ctx, value, problem)
            case ("fresh" | "or none", inner):
                wanted_among(ctx, (inner,), problem)
            case ("items", shell, inner):
                wanted_among(ctx, inner, problem)
                if isinstance(shell, Record) and not shell.is_tuple and shell.kind not in ctx.learned.pooled:
                    error = NotKnown(
                        refusals.OBJECT, problem, "keep its numbers in lists", ctx.session.span, ctx.session.lines
                    )
                    error.finding = Finding("pooled", shell.kind, shell.names)
                    raise error
            case _:
                pass


def same(one: Value, two: Value) -> Value | None:
    """Whether two objects (or None) are the same; None where neither is known by its number."""
    if not any(isinstance(v.value if isinstance(v, OrNone) else v, Instance) for v in (one, two)):
        return None
    held = [v.value if isinstance(v, OrNone) else v for v in (one, two)]
    none = [v.none if isinstance(v, OrNone) else b.FALSE for v in (one, two)]
    equal: Expr = b.FALSE
    if isinstance(held[0], Instance) and isinstance(held[1], Instance) and held[0].pool is held[1].pool:
        equal = b.compare("equal", held[0].number, held[1].number)
    some = b.both(b.both(b.logical_not(none[0]), b.logical_not(none[1])), equal)
    return Scalar(b.either(b.both(none[0], none[1]), some), True)


def is_list_now(ctx: Context, value: Value) -> bool:
    contents = ctx.deref(value) if isinstance(value, (Object, Row)) else value
    return is_list(contents)


def check_attribute(ctx: Context, held: Pool, field: str, value: Value) -> None:
    """Attributes are what may stand in lists."""
    inner = value.value if isinstance(value, OrNone) else value
    contents = ctx.deref(inner) if isinstance(inner, Object) else inner
    match contents:
        case Static(v) if v is None or isinstance(v, str) or is_number(contents):
            return
        case Scalar() | Array() | Concatenation() | GrowingList() | Instance() | Row() | OneOf() | Record():
            return
        case Seq(kind="list" | "tuple") | Char() | JoinedText(characters=GrowingList()):
            return
        case _ if is_keyed(ctx, contents):
            return
        case _:
            problem = f"{describe(contents)} as `{field}` of a `{held.kind.__name__}` in a list of run-time length"
            ctx.fail(refusals.OBJECT, problem, "give it numbers, texts, arrays, lists and other objects")


def is_set(ctx: Context, value: Value) -> bool:
    """Whether a value is a set that may stand in a list: one that can be changed."""
    contents = ctx.deref(value) if isinstance(value, Object) else value
    return isinstance(contents, (Seq, Hashed)) and contents.kind == "set" and not contents.frozen


def is_keyed(ctx: Context, value: Value) -> bool:
    """Whether a value is a set, or a dict whose keys the run knows, or that has none yet, which may stand in a list."""
    contents = ctx.deref(value) if isinstance(value, Object) else value
    if isinstance(contents, Dict):
        return key_of(contents) is None and not any(isinstance(k, str) for k in contents.keys)
    return is_set(ctx, value) or (isinstance(contents, Hashed) and contents.kind == "dict" and not contents.is_callers)


def pool_of(ctx: Context, contents: Value, problem: str) -> Pool:
    """The lists of all sets, or of all dicts whose keys the run knows; where there are none yet, the translation begins
    anew."""
    is_dict = isinstance(contents, Dict) or (isinstance(contents, Hashed) and contents.kind == "dict")
    kind, parts = (KeyedDict, DICT_PARTS) if is_dict else (set, SET_PARTS)
    held = ctx.lists.pools.get(kind)
    if held is None:
        help = "keep lists in it, or take keys that are pairs: d[a, b] = value"
        error = NotKnown(refusals.RUN_TIME_KEYS, problem, help, ctx.session.span, ctx.session.lines)
        error.finding = Finding("pooled", kind, parts)
        raise error
    return held


def check_like(ctx: Context, held: Pool, contents: Value) -> None:
    """Checks that all dicts in lists are of one class, and have one default."""
    if held.kind is not KeyedDict:
        return
    like = (contents.default, contents.of) if isinstance(contents, Hashed) else (None, None)
    held.like = held.like or like
    known = [getattr(default, "node", default) for default, _ in (held.like, like)]
    if known[0] != known[1] or held.like[1] is not like[1]:
        problem = "dicts of two kinds in lists or dicts of run-time length"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "make all of them alike: of one class, with one default")


def parts_of(ctx: Context, value: Value) -> dict[str, Value]:
    """The lists of a set or a dict, as it stands in memory: a copy has the same order."""
    contents = ctx.deref(value)
    if isinstance(contents, Hashed):
        values = () if contents.values is None else (contents.values,)
        return dict(zip(DICT_PARTS, (*contents.lists[:5], *values), strict=False))
    assert isinstance(contents, (Seq, Dict))
    lists: list[list[Any]] = [[] for _ in SET_PARTS]
    keys, alive, codes, table, info = lists
    hashes.start(table, info)
    known = contents.keys if isinstance(contents, Dict) else [getattr(i, "value", "") for i in contents.items]
    for key in known:
        if isinstance(key, (str, bytes)):
            ctx.fail(refusals.RUN_TIME_KEYS, "a set of texts in a list or dict of run-time length", "keep a list in it")
        hashes.add(keys, alive, codes, table, info, [], key, hash(key))
    made: dict[str, Value] = {
        part: Seq(tuple(map(_known, held)), "list") for part, held in zip(SET_PARTS, lists, strict=True)
    }
    return made | ({"values": Seq(contents.items, "list")} if isinstance(contents, Dict) else {})


def _known(value: Any) -> Value:
    return Seq(tuple(map(_known, value))) if isinstance(value, tuple) else Static(value)

"""Dicts and sets whose keys are known at run time: real numbers, texts of which only the choice among known ones is
the run's, or tuples of such (`compositions.hashes`)."""

from __future__ import annotations

import builtins
import collections
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import NotKnown, Site
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing, list_types, making, pools, putting
from transkern.frontend.containers.elements import element, is_typed
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.python import text_keys
from transkern.frontend.subscripts.keys import key_help
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Array,
    Char,
    Dict,
    Function,
    GrowingList,
    Hashed,
    JoinedText,
    Known,
    OneOf,
    OrNone,
    Row,
    Scalar,
    Seq,
    Static,
    Value,
    as_outside,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Expr


def new(
    ctx: Context, name: str, kind: str, site: Site, default: Value | None = None, of: type | None = None
) -> Hashed:
    """An empty dict or set."""
    parts = ("keys", "alive", "codes", "table", "info", "spare", *(["values"] if kind == "dict" else []))
    lists: dict[str, GrowingList] = {}
    for part in parts:
        lists[part] = making.new(ctx, f"{name}_{part}", (*site, part), unbounded=part != "info")
        if part in ("alive", "codes", "spare"):
            list_types.of_integers(ctx, lists[part])
    made = Hashed(kind, **lists, default=default, of=of)  # type: ignore[arg-type]
    compose(ctx, "hashes", "start", [made.table, made.info], {})
    return made


def of_items(ctx: Context, name: str, contents: Dict | Seq, site: Site) -> Hashed:
    """What a dict or a set holds, whose keys have been known so far."""
    made = new(ctx, name, "dict" if isinstance(contents, Dict) else "set", site)
    if isinstance(contents, Dict):
        for key, value in zip(contents.keys, contents.items, strict=True):
            store(ctx, made, key_value(key), value)
    else:
        for item in contents.items:
            add(ctx, made, item)
    return made


def of_argument(ctx: Context, name: str, contents: Dict) -> Hashed:
    """A copy of a dict that is an argument, in which keys are looked up that only the run knows."""
    return replace(of_items(ctx, name, contents, ("looked up", name)), is_callers=True)


def _check_own(ctx: Context, owner: Hashed) -> None:
    """Refuses to change the copy of a dict that is an argument."""
    if owner.is_callers:
        problem = "a change of a dict that is an argument, in which keys are looked up that only the run knows"
        raise NotKnown(
            refusals.RUN_TIME_KEYS, problem, "copy it first: d = dict(d)", ctx.session.span, ctx.session.lines
        )


def key_value(key: Any) -> Value:
    return Seq(tuple(key_value(k) for k in key)) if isinstance(key, tuple) else Static(key)


def is_key(ctx: Context, key: Value) -> bool:
    """Whether a value may be a key that is known at run time."""
    key = ctx.deref(key)
    match key:
        case Seq(items, "tuple"):
            return bool(items) and all(is_key(ctx, i) for i in items)
        case Char() | Static(str()) | JoinedText(characters=GrowingList()):
            return True
        case OneOf(options=options):
            return None not in options
        case Static(v):
            return isinstance(v, (int, float, np.integer, np.floating, np.bool_))
        case Scalar(expr, tag=tag):
            return not is_complex(expr.dtype) and (tag is None or not expr.dtype.startswith("float"))
        case Array(axes=(), body=body):
            return not is_complex(body.dtype)
        case _:
            return False


def is_run_time_key(ctx: Context, key: Value) -> bool:
    """Whether a value is a key that is known at run time only."""
    key = ctx.deref(key)
    if isinstance(key, Seq):
        return is_key(ctx, key) and any(is_run_time_key(ctx, i) for i in key.items)
    return is_key(ctx, key) and not isinstance(key, Static)


def _key(ctx: Context, key: Value) -> Value:
    """A key as it is kept, evaluated once."""
    key = ctx.deref(key)
    if not is_key(ctx, key):
        problem = f"{describe(key)} as a key among others that are known at run time"
        ctx.fail(refusals.RUN_TIME_KEYS, problem, key_help(key))
    match key:
        case Seq(items):
            return Seq(tuple(_key(ctx, i) for i in items))
        case Char(code):
            return Char(ctx.let(code, "key"))
        case OneOf(index, options):
            return OneOf(ctx.let(index, "key"), options)
        case Static() | JoinedText():
            return key
        case _:
            kept = ctx.let(scalar_expr(ctx, key), "key")
            return replace(key, expr=kept) if isinstance(key, Scalar) else Scalar(kept, is_python_number(key))


def _code(ctx: Context, key: Value) -> Value:
    if isinstance(key, Seq):
        return compose(ctx, "hashes", "code_of_tuple", [Seq(tuple(_code(ctx, i) for i in key.items))], {})
    if text_keys.is_text(key):
        return Scalar(ctx.let(text_keys.number(ctx, key), "code"), True)
    floating = scalar_expr(ctx, key).dtype.startswith("float")
    return compose(ctx, "hashes", "code_of_float" if floating else "code_of_number", [key], {})


def _is_of_another_kind(owner: Hashed, key: Value) -> bool:
    """Whether a key is a text among numbers, or a number among texts."""
    simple = owner.keys.dtype and not (isinstance(key, Seq) or owner.keys.columns)
    return bool(simple) and text_keys.is_text(key) is not text_keys.hold(owner.keys)


def find(ctx: Context, owner: Hashed, key: Value) -> Scalar:
    """The number of a key, or one below 0."""
    key = _key(ctx, key)
    if not is_typed(ctx, owner.keys) or _is_of_another_kind(owner, key):
        return Scalar(b.index(-1), True)
    found = compose(
        ctx, "hashes", "find", [*owner.lists[:4], key, _code(ctx, key)], {}
    )  # fmt: skip
    return Scalar(ctx.let(scalar_expr(ctx, found), "number"), True)


def contains(ctx: Context, owner: Hashed, key: Value) -> Value:
    """``key in owner``."""
    return Scalar(b.compare("greater_equal", find(ctx, owner, key).expr, b.ZERO), True)


def add(ctx: Context, owner: Hashed, key: Value) -> Scalar:
    """The number of a key, which is in from now on."""
    _check_own(ctx, owner)
    key = _key(ctx, key)
    if _is_of_another_kind(owner, key):
        problem = f"{describe(key)} as a key beside {'texts' if text_keys.hold(owner.keys) else 'numbers'}"
        ctx.fail(refusals.RUN_TIME_KEYS, problem, "keep numbers and texts in a dict, or a set, each")
    found = compose(ctx, "hashes", "add", [*owner.lists, key, _code(ctx, key)], {})
    return Scalar(ctx.let(scalar_expr(ctx, found), "number"), True)


def store(ctx: Context, owner: Hashed, key: Value, value: Value) -> None:
    """``owner[key] = value``."""
    compose(ctx, "hashes", "put", [owner.held_values, add(ctx, owner, key), value], {})


def item(ctx: Context, owner: Hashed, key: Value) -> Value:
    """``owner[key]``."""
    if owner.default is not None:
        return _set_default(ctx, owner, key, _default(ctx, owner.default))
    number = find(ctx, owner, key)
    if owner.of is collections.Counter:
        return get(ctx, owner, number, Static(0))
    return _value(ctx, owner, _present(ctx, number, key))


def _default(ctx: Context, factory: Value) -> Value:
    """What a defaultdict makes where a key is not in."""
    if isinstance(factory, Known):
        if factory.path == "builtins.list":
            return Seq((), "list")
        assert ctx.scopes.call is not None
        return ctx.scopes.call(factory.path, [], {})
    if not isinstance(factory, Function):
        problem = f"a defaultdict of {describe(factory)}"
        ctx.fail(refusals.PYTHON_CALL, problem, "give it a type, or a function: defaultdict(int)")
    assert ctx.scopes.inline is not None
    with ctx.control.trusting(False):  # it is the user's
        return ctx.scopes.inline(factory, [], {})


def factory(ctx: Context, default: Value | None, of: type | None) -> str:
    """The type that a defaultdict calls which is handed back, as ``module:name``; or that of another kind of dict."""
    if of is not None:
        return f"collections:{of.__name__}"
    match default:
        case None:
            return ""
        case Known(path) if isinstance(getattr(builtins, path.removeprefix("builtins."), None), type):
            return path.replace(".", ":")
        case Static(None):
            return "builtins:None"
        case _:
            ctx.fail(refusals.RESULT, "a defaultdict with a function of its own as a result", "return dict(d)")


def _present(ctx: Context, number: Scalar, key: Value) -> Scalar:
    key = ctx.deref(key)
    parts = [k for k in (key.items if isinstance(key, Seq) else (key,)) if not isinstance(k, Seq)]
    there = b.compare("greater_equal", number.expr, b.ZERO)
    if any(isinstance(ctx.deref(k), JoinedText) for k in parts):
        text_keys.must_be_a_key(ctx, there, key)
        return number
    exprs, texts = zip(*(text_keys.shown(ctx, k) for k in parts), strict=True)
    shown = ", ".join(texts)
    shown = f"({shown}{',' if len(parts) == 1 else ''})" if isinstance(key, Seq) else shown
    ctx.guard(
        there, f"{n.SEVERAL}KeyError", f"({shown},)",  # of the key itself
        tuple(b.as_index(e) for e in exprs if e is not None),
    )  # fmt: skip
    return number


def _value(ctx: Context, owner: Hashed, number: Scalar) -> Value:
    values = ctx.deref(owner.held_values)
    assert isinstance(values, GrowingList)
    if not is_typed(ctx, values):
        ctx.guard(b.FALSE, "KeyError", "")
    return element(ctx, values, number.expr)


def _set_default(ctx: Context, owner: Hashed, key: Value, default: Value) -> Value:
    made = ctx.deref(default)
    kind = made.kind if isinstance(made, (Hashed, Seq)) else "list"
    if kind not in ("list", "tuple", "set", "dict"):
        ctx.fail(refusals.RUN_TIME_KEYS, f"a dict whose values are {describe(made)}", "keep lists in it")
    number = add(ctx, owner, key)
    compose(ctx, "hashes", "put_new", [owner.held_values, number, default], {})
    return _value(ctx, owner, number)


def length(ctx: Context, owner: Hashed) -> Value:
    return element(ctx, owner.info, b.ZERO)


def _numbers(ctx: Context, owner: Hashed, in_any_order: bool = False) -> Array:
    """The numbers of the keys, in the order of loops."""
    if owner.kind == "set" and not in_any_order:
        text_keys.refuse_order(ctx, owner.keys)
    alive = list_array(ctx, owner.alive)
    if owner.kind == "set":
        found = compose(ctx, "hashes", "numbers_in_table", [alive, list_array(ctx, owner.table)], {})
    else:
        found = compose(ctx, "hashes", "numbers_as_put", [alive], {})
    return ctx.compact(as_array(ctx, found), "numbers")


def keys(ctx: Context, owner: Hashed, in_any_order: bool = False) -> GrowingList:
    """The keys as a list."""
    if not is_typed(ctx, owner.keys):
        return making.new(ctx, "keys")
    return growing.gathered(ctx, owner.keys, _numbers(ctx, owner, in_any_order))


def _values(ctx: Context, owner: Hashed) -> GrowingList:
    assert owner.values is not None
    if not is_typed(ctx, owner.values):
        return making.new(ctx, "values")
    return growing.gathered(ctx, owner.values, _numbers(ctx, owner))


def items(ctx: Context, owner: Hashed) -> GrowingList:
    assert owner.values is not None
    if not (is_typed(ctx, owner.keys) and is_typed(ctx, owner.values)):
        return making.new(ctx, "items")
    numbers = _numbers(ctx, owner)
    lists = [growing.gathered(ctx, one, numbers) for one in (owner.keys, owner.values)]
    made = growing.of_columns(ctx, lists, "tuple", numbers.dims[0])
    made.distinct = True
    return made


def viewed(ctx: Context, owner: Value, name: str) -> GrowingList:
    """What ``owner.keys()``, ``owner.values()`` or ``owner.items()`` shows now, as a list."""
    assert isinstance(owner, Hashed)
    return {"keys": keys, "values": _values, "items": items}[name](ctx, owner)


def live(ctx: Context, owner: Hashed, name: str) -> tuple[Expr, Expr, Expr, Callable[[Expr], Value]]:
    """The same for a loop: its values are those of the moment."""
    numbers = _numbers(ctx, owner)

    def item(v: Expr) -> Value:
        at = b.as_index(numbers.at((v,)))
        made = [element(ctx, one, at) for one in (owner.keys, owner.values) if one is not None]
        return Seq(tuple(made)) if name == "items" else made[name == "values"]

    return b.ZERO, numbers.dims[0], b.ONE, item


def move_to_end(ctx: Context, owner: Hashed, key: Value) -> None:
    """Puts a key behind all others, with its value."""
    store(ctx, owner, key, _pop(ctx, owner, key))


def _pop(ctx: Context, owner: Hashed, key: Value, default: Value | None = None) -> Value:
    """``owner.pop(key)`` or ``owner.pop(key, default)``."""
    _check_own(ctx, owner)
    number = find(ctx, owner, key)
    if default is None:
        value, how = _value(ctx, owner, _present(ctx, number, key)), "remove"
    else:
        value, how = get(ctx, owner, number, default), "discard"
    value = making.held(ctx, value)
    compose(ctx, "hashes", how, [owner.lists[1], owner.lists[4], number], {})
    return value


def lists_of(ctx: Context, owner: Hashed) -> list[GrowingList]:
    """The keys and the values of a dict."""
    return [keys(ctx, owner), _values(ctx, owner)]


def delete(ctx: Context, owner: Hashed, key: Value) -> None:
    """``del owner[key]``."""
    _check_own(ctx, owner)
    if owner.of is collections.Counter:
        compose(ctx, "hashes", "discard", [owner.lists[1], owner.lists[4], find(ctx, owner, key)], {})
        return
    number = _present(ctx, find(ctx, owner, key), key)
    compose(ctx, "hashes", "remove", [owner.lists[1], owner.lists[4], number], {})


def copied(ctx: Context, owner: Hashed, site: Site) -> Hashed:
    """Another one with the same keys (and values)."""
    made = new(ctx, "copy", owner.kind, site, owner.default)
    update(ctx, made, owner)
    made = replace(made, of=owner.of)
    return as_frozen(made) if owner.frozen else made


def update(ctx: Context, owner: Hashed, other: Value) -> None:
    """``owner.update(other)``."""
    contents = ctx.deref(other)
    if owner.kind == "dict":
        if isinstance(contents, Dict):
            for key, value in zip(contents.keys, contents.items, strict=True):
                store(ctx, owner, key_value(key), value)
            return
        _check_own(ctx, owner)
        pairs = items(ctx, contents) if isinstance(contents, Hashed) and contents.kind == "dict" else contents
        compose(ctx, "hashes", "update_dict", [owner, pairs], {})
        return
    if isinstance(contents, Seq) and contents.kind == "set":
        contents = as_set(ctx, contents) or contents
    if isinstance(contents, Hashed):
        if is_same(owner, contents):
            return
        if contents.kind == "set" and is_typed(ctx, contents.keys):
            compose(ctx, "hashes", "merge", [*owner.lists, *contents.lists[:-1]], {})
        elif contents.kind == "dict" and contents.default is None and contents.of is None:
            compose(ctx, "hashes", "update_from_dict", [*owner.lists[1:], owner.itself, keys(ctx, contents)], {})
        elif contents.kind == "dict":  # of another class: one key after the other
            compose(ctx, "hashes", "update_set", [owner.itself, keys(ctx, contents)], {})
        return
    if isinstance(contents, Dict):
        contents = Seq(tuple(key_value(k) for k in contents.keys))
    compose(ctx, "hashes", "update_set", [owner.itself, in_memory(ctx, contents)], {})


def in_memory(ctx: Context, items: Value) -> Value:
    """Many texts that are known as a list in memory, over which one loop goes; anything else as it is."""
    contents = ctx.deref(items)
    numbers = text_keys.numbered(ctx, contents) if isinstance(contents, Seq) and contents.kind != "set" else None
    if numbers is None:
        return items
    made = making.list_of(ctx, numbers[0], True)
    made.options = numbers[1]
    return made


def is_same(one: Hashed, two: Hashed) -> bool:
    return one.keys.count == two.keys.count


def as_frozen(made: Hashed) -> Hashed:
    """A set as a frozenset, which nobody changes."""
    as_outside(made)
    return replace(made, frozen=True)


def as_set(ctx: Context, value: Value) -> Hashed | None:
    if not (isinstance(value, Seq) and value.kind == "set"):
        return None
    return of_items(ctx, "set", value, site_of(ctx, "operand"))


def site_of(ctx: Context, name: str) -> Site:
    """A place for what is made in the middle of an expression."""
    span = ctx.session.span
    return (span.file, span.line, span.column, span.end_line, span.end_column, name)


def method(
    ctx: Context, owner: Hashed, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """``owner.name(*args)`` of a dict, or what sets have, too; None where there is no such method here."""
    if keywords:
        return None
    if name == "copy" and not args:
        return copied(ctx, owner, (*(owner.keys.site or ()), "copy"))
    if name == "clear" and not args:
        clear(ctx, owner)
        return Static(None)
    match name, list(args):
        case "popitem", []:
            return popped(ctx, owner, True)
        case "get", [key, *rest]:
            return get(ctx, owner, find(ctx, owner, key), rest[0] if rest else Static(None))
        case "setdefault", [key, default]:
            return _set_default(ctx, owner, key, default)
        case "pop", [key, *rest] if len(rest) <= 1:
            return _pop(ctx, owner, key, *rest)
        case "update", [other]:
            update(ctx, owner, other)
        case _:
            return None
    return Static(None)


def popped(ctx: Context, owner: Hashed, last: bool) -> Value:
    """A key that is taken out, the last or the first, with its value."""
    assert owner.values is not None
    empty = f"{'' if owner.of is collections.OrderedDict else 'popitem(): '}dictionary is empty"
    name, lists = ("last_alive", owner.lists[1:2]) if last else ("first_alive", [owner.lists[1], owner.lists[4]])
    return Seq(tuple(taken_out(ctx, owner, [owner.keys, owner.values], empty, name, lists)))


def taken_out(
    ctx: Context, owner: Hashed, held: Sequence[GrowingList], empty: str, name: str, lists: Sequence[Value]
) -> list[Value]:
    """What the lists in `held` have of a key that is taken out, which the composition `name` chooses; `empty` is the
    text of the KeyError where there is none."""
    _check_own(ctx, owner)
    some = b.compare("greater", scalar_expr(ctx, length(ctx, owner)), b.ZERO)
    ctx.guard(some, "KeyError", empty)
    if not all(is_typed(ctx, one) for one in held):
        ctx.guard(b.FALSE, "KeyError", empty)
    found = compose(ctx, "hashes", name, lists, {})
    number = Scalar(ctx.let(scalar_expr(ctx, found), "number"), True)
    values = [making.held(ctx, element(ctx, one, number.expr)) for one in held]
    compose(ctx, "hashes", "remove", [owner.lists[1], owner.lists[4], number], {})
    return values


def clear(ctx: Context, owner: Hashed) -> None:
    _check_own(ctx, owner)
    if owner.values is not None:
        compose(ctx, "hashes", "forget", [owner.held_values], {})
    compose(ctx, "hashes", "clear", owner.lists[:5], {})


def get(ctx: Context, owner: Hashed, number: Scalar, default: Value) -> Value:
    """The value of a number, or another one where it is below 0."""
    assert owner.values is not None
    if not is_typed(ctx, owner.values):
        return default
    if owner.values.objects is not None and pools.is_keyed(ctx, default):
        default = putting.placed_keyed(ctx, default)
    rows = owner.values.rows
    if rows is not None and default == Static(None):
        there = Apply("greater_equal", (number.expr, b.ZERO), "bool")  # else there is no list, and nobody looks at one
        at = Apply(
            "where", (there, ctx.names.load(owner.values.buffer, owner.values.index(number.expr)), b.ZERO), "index"
        )
        return OrNone(Row(rows, ctx.let(at, "number")), Apply("logical_not", (there,), "bool"))
    return compose(ctx, "hashes", "get", [owner.held_values, number, default], {})

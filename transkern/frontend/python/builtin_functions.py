"""Python's built-in functions over sequences, and those that make containers; others stand in files of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import hashed, sequences
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.loops.iterating import iteration
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import characters, spelling
from transkern.frontend.python.whole import check_whole, integer_expr, to_integer
from transkern.frontend.subscripts.arrays import shape_of
from transkern.frontend.subscripts.keys import key_object
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.translate.attributes import static_or
from transkern.frontend.values import classes, doubts, set_order
from transkern.frontend.values.asking import asked
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Char,
    Dict,
    GrowingList,
    Hashed,
    JoinedText,
    Method,
    OneOf,
    Range,
    Record,
    Scalar,
    Seq,
    Slice,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read


@handles("builtins.len", names="obj")
def _len(ctx: Context, a: Arguments) -> Value:
    value = spelling.spelled(ctx, a.need("obj"))
    match value:
        case Char():
            return Static(1)
        case Seq(items) | Dict(items=items) | Record(items=items) if not isinstance(value, Record) or value.is_tuple:
            return Static(len(items))
        case JoinedText(characters=GrowingList() as held):
            return static_or(held.length)
        case OneOf(options=options) if all(isinstance(o, str) for o in options):
            return static_or(characters.length_of_choice(value))
        case GrowingList():
            return static_or(value.length)
        case Hashed():
            return hashed.length(ctx, value)
        case Static(str() | tuple() | list() | bytes() as items):
            return Static(len(items))
        case Static(kind) if classes.is_plain_enum(kind):
            return Static(len(kind))
        case Range(start, stop, step):
            return static_or(trip_count(start, stop, step))
        case Scalar() | Static() if is_number(value) or isinstance(value, Scalar):
            kind = doubts.agreed(ctx, value, classes.class_of, "the length of")
            assert kind is not None
            module = "" if is_python_number(value) else "numpy."
            ctx.guard(b.FALSE, "TypeError", f"object of type '{module}{kind.__name__}' has no len()")
            raise AssertionError
        case _:
            array = as_array(ctx, value)
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "len() of unsized object")
            return static_or(shape_of(ctx, array)[0])


@handles("builtins.range", names="start stop step")
def _range(ctx: Context, a: Arguments) -> Value:
    a.need("start")
    exprs = []
    for name in ("start", "stop", "step"):
        value = a.given.get(name)
        if value is None:
            continue
        check_position(ctx, value, range)
        check_whole(ctx, value)
        e = scalar_expr(ctx, value)
        e = to_integer(ctx, e).expr
        exprs.append(ctx.let(e, "bound") if not _invariant(e) else e)
    if len(exprs) == 1:
        return Range(b.ZERO, exprs[0], b.ONE)
    if len(exprs) > 2:
        ctx.guard(b.compare("not_equal", exprs[2], b.ZERO), "ValueError", "range() arg 3 must not be zero")
    return Range(exprs[0], exprs[1], exprs[2] if len(exprs) > 2 else b.ONE)


def _invariant(expr: Expr) -> bool:
    return not buffers_read(expr)


@handles("builtins.enumerate", names="iterable start")
def _enumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.need("iterable"), a.get("start") or Static(0))), "enumerate")


def _steps(ctx: Context, value: Value) -> Expr:
    """How many steps a loop over a value takes."""
    found = iteration(ctx, value)
    return b.index(len(found)) if isinstance(found, list) else trip_count(*found[:3])


def _zip(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    strict = keywords.get("strict", Static(False))
    if not isinstance(strict, Static):
        ctx.fail(refusals.NEEDS_CONSTANT, "`zip` with a `strict` that is known at run time only", "write strict=True")
    if strict.value:
        lengths = [_steps(ctx, a) for a in args]
        for k, (length, first) in enumerate(zip(lengths[1:], lengths, strict=False), 2):
            before = "argument 1" if k == 2 else f"arguments 1-{k - 1}"
            for op, text in (("greater_equal", "shorter"), ("less_equal", "longer")):
                ctx.guard(b.compare(op, length, first), "ValueError", f"zip() argument {k} is {text} than {before}")
    return Method(Seq(tuple(args)), "zip")


TABLE["builtins.zip"] = _zip


def _ndindex(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    shape = args[0].items if len(args) == 1 and isinstance(args[0], Seq) else tuple(args)
    for d in shape:
        holds = b.compare("greater_equal", integer_expr(ctx, d), b.ZERO)
        ctx.guard(holds, "ValueError", "negative dimensions are not allowed")
    return Method(Seq(shape), "ndindex")


TABLE["numpy.ndindex"] = _ndindex


@handles("numpy.ndenumerate", names="arr")
def _ndenumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.array("arr"),)), "ndenumerate")


@handles("builtins.reversed", names="sequence")
def _reversed(ctx: Context, a: Arguments) -> Value:
    given = a.need("sequence")
    contents = ctx.deref(given)
    if isinstance(contents, (Seq, Hashed)) and contents.kind == "set":
        asked(ctx, reversed, set())
    if isinstance(contents, Scalar) or (isinstance(contents, Static) and is_number(contents)):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(contents)}' object is not reversible")
    return Method(given, "reversed")


_FILLED = "put the items into an empty dict: d[key] = value"


def _dict(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    made = Dict((), ())
    if args:
        given = ctx.deref(args[0])
        if isinstance(given, Hashed) and given.kind == "dict" and not keywords:
            return replace(hashed.copied(ctx, given, (*(given.keys.site or ()), "dict")), default=None, of=None)
        pairs = given if isinstance(given, Dict) else None
        if pairs is None:
            counted = iteration(ctx, given)
            if not isinstance(counted, list):
                if keywords:
                    ctx.fail(refusals.RUN_TIME_KEYS, "a dict with a run-time number of keys", "fill it in a loop")
                held = hashed.new(ctx, "dict", "dict", hashed.site_of(ctx, "pairs"))
                hashed.update(ctx, held, iterating.all_of(ctx, given))
                return held
            for item in counted:
                pair = ctx.deref(item)
                if not isinstance(pair, Seq) or len(pair.items) != 2:
                    ctx.fail(refusals.NEEDED, "a dict of what is no pairs", "give pairs of a key and a value")
                made = made.put(key_object(ctx, pair.items[0], _FILLED), pair.items[1])
        else:
            made = replace(pairs, outside=False)
    for key, value in keywords.items():
        made = made.put(key, value)
    return made


TABLE["builtins.dict"] = _dict


@handles("builtins.dict.fromkeys", names="iterable value")
def _fromkeys(ctx: Context, a: Arguments) -> Value:
    counted = iteration(ctx, a.need("iterable"))
    made, value = Dict((), ()), a.get("value") or Static(None)
    if not isinstance(counted, list):
        return compose(ctx, "lists", "from_keys", [iterating.all_of(ctx, a.need("iterable")), value], {})
    for item in counted:
        made = made.put(key_object(ctx, item, _FILLED), value)
    return made


@handles("builtins.slice", names="start stop step")
def _slice(ctx: Context, a: Arguments) -> Value:
    a.need("start")
    parts = [a.get(k) for k in ("start", "stop", "step") if k in a.given]
    if len(parts) == 1:
        return Slice(None, parts[0], None)
    return Slice(parts[0], parts[1], parts[2] if len(parts) > 2 else None)


@handles("builtins.set", "builtins.frozenset", names="iterable")
def _set(ctx: Context, a: Arguments) -> Value:
    frozen = a.name == "frozenset"
    if "iterable" not in a.given:
        return Seq((), "set", outside=frozen, frozen=frozen)
    source = ctx.deref(a.need("iterable"))
    items = None if isinstance(source, Hashed) else iteration(ctx, set_order.in_any_order(source))
    if items is not None and not isinstance(items, list):
        items = _few_known(items) or items
    if isinstance(items, list) and all(isinstance(i, Static) for i in items):
        known = tuple(Static(v) for v in {i.value for i in items if isinstance(i, Static)})
        return Seq(known, "set", outside=frozen, frozen=frozen)
    span = ctx.session.span
    made = hashed.new(ctx, "set", "set", (span.file, span.line, span.column, span.end_line, span.end_column, "set"))
    hashed.update(ctx, made, source)
    return hashed.as_frozen(made) if frozen else made


def _few_known(counted: tuple[Expr, Expr, Expr, Callable[[Expr], Value]]) -> list[Value]:
    """The integers of a range, such as that of an array's axes, where they are few and known; nothing else."""
    start, stop, step, element = counted
    count = b.constant(trip_count(start, stop, step))
    if count is None or not 0 < count <= _FEW:
        return []
    found = [element(b.add(start, b.mul(step, b.index(k)))) for k in range(count)]
    known = [b.constant(v.expr) if isinstance(v, Scalar) and is_python_number(v) else None for v in found]
    return [Static(int(k)) for k in known if k is not None] if None not in known else []


_FEW = 32  # as many axes as an array has, at the most


@handles("builtins.tuple", "builtins.list", names="iterable")
def _tuple(ctx: Context, a: Arguments) -> Value:
    value = a.given.get("iterable")
    if value is None:
        return Seq((), a.name)
    return sequences.listed(ctx, value, a.name)

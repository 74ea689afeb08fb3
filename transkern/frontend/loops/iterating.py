"""What a `for` runs over: ranges, arrays, lists, enumerate, zip, reversed; and membership."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.errors import NOT_HELD
from transkern.frontend.compositions import compose
from transkern.frontend.containers import hashed
from transkern.frontend.containers.elements import element as list_element
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.numpy.sizes import constant_int
from transkern.frontend.python import characters, spelling
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.sources.measures import check_items
from transkern.frontend.subscripts.keys import key_object, view
from transkern.frontend.translate import special_methods
from transkern.frontend.values import classes, doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.doubtful import is_held_by_floats
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import present, scalar_expr
from transkern.frontend.values.set_order import check_order
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    Flat,
    GrowingList,
    Hashed,
    Iterated,
    JoinedText,
    Known,
    Method,
    Object,
    OneOf,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Trips,
    Value,
    View,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr, Var

_FEW_CHARACTERS = 8
_MANY = 64  # values that differ in type, one by one


def one_by_one(counted: Any) -> Any:
    """What a loop runs over as a list, where it is known how many there are, and they are not too many."""
    start, stop, step, element = counted
    count = b.constant(trip_count(start, stop, step))
    if count is None or count > _MANY:
        return counted
    return [element(b.add(start, b.mul(step, b.index(k)))) for k in range(count)]


def made_now(ctx: Context, value: Value) -> Value:
    """What an iterator goes over, also one whose elements are not made before a loop comes to them, as a list."""
    value = all_of(ctx, value)
    if not is_lazy(value):
        return value
    counted = iteration(ctx, value)
    return Seq(tuple(counted), "list") if isinstance(counted, list) else compose(ctx, "lists", "listed", [value], {})


def is_lazy(value: Value) -> bool:
    """Whether a value is what ``zip``, ``enumerate``, ``reversed`` or ``product`` makes, whose elements are not made
    before a loop comes to them."""
    return isinstance(value, Method) and value.name in ("zip", "enumerate", "reversed", "product", "ndindex")


def all_of(ctx: Context, value: Value) -> Value:
    """What an iterator, or a view of a dict, goes over, as a list; any other value as it is."""
    match value:
        case Iterated(value=made, some=some):
            if some is not None:
                text = "the columns of a list without rows, whose number is 0, where it has been compiled for others"
                ctx.guard(some, "RuntimeError", text)
            return made
        case View(owner, name):
            return hashed.viewed(ctx, ctx.deref(owner), name)
        case Seq(kind=kind, shows=Object() as owner):
            return view(ctx, owner, kind.removeprefix("dict_")) or value
        case _:
            return value


_WITH_POSITIONS = (GrowingList, Array, Row, Text)


def sequence(ctx: Context, value: Value) -> Value:
    """What has the elements that a `for` goes over at their positions: the value itself, or a list."""
    over = special_methods.iterated(ctx, all_of(ctx, value))
    found = all_of(ctx, value) if over is None else over
    held = ctx.deref(present(ctx, ctx.deref(found), "TypeError", "'NoneType' object is not iterable"))
    has_positions = held.kind in ("tuple", "list") if isinstance(held, Seq) else isinstance(held, _WITH_POSITIONS)
    if has_positions or (isinstance(held, Record) and held.is_tuple):
        return found
    assert ctx.scopes.call is not None
    return ctx.scopes.call("builtins.list", [found], {})


def iteration(ctx: Context, source: Value) -> Any:
    """What a `for` runs over: a list of values, or (start, stop, step, element at a position)."""
    source = all_of(ctx, source)
    over = special_methods.iterated(ctx, source)
    source = source if over is None else over
    source = ctx.deref(present(ctx, ctx.deref(source), "TypeError", "'NoneType' object is not iterable"))
    source = spelling.spelled(ctx, source)
    match source:
        case JoinedText(characters=GrowingList() as held):
            return iteration(ctx, held)
        case Trips():
            return source.counted
        case Dict(keys):
            return [Static(k) for k in keys]
        case Hashed():
            return iteration(ctx, hashed.keys(ctx, source))
        case Record(items=items) if source.is_tuple:
            return list(items)
        case Method(Seq(items), "ndindex"):
            return _grid(ctx, items, lambda index: index)
        case Method(Seq(items), "product"):
            ranges = [r for r in items if isinstance(r, Range)]
            return _grid(ctx, [Scalar(trip_count(r.start, r.stop, r.step), True) for r in ranges], _of_ranges(ranges))
        case Method(Seq((of,)), "ndenumerate"):
            array = as_array(ctx, of)
            array = ctx.kept(array)
            dims = tuple(Scalar(d, True) for d in array.dims)

            def pair(index: Seq) -> Value:
                at = tuple(integer_expr(ctx, i) for i in index.items)
                return Seq((index, Scalar(array.at(at))))

            return _grid(ctx, dims, pair)
        case Seq(items):
            check_order(ctx, source)
            return list(items)
        case Flat(array, named):
            if named:
                problem = "a loop over `.flat` that has a name: it goes on where it was"
                ctx.fail(refusals.ITERATOR, problem, "write x.flat in the loop")
            return iteration(ctx, array)
        case Static(kind) if classes.is_plain_enum(kind):
            return [Static(member) for member in kind]
        case Static(str() as text) if len(text) > _FEW_CHARACTERS:
            return b.ZERO, b.index(len(text)), b.ONE, lambda v: characters.at_position(ctx, text, v)
        case OneOf(options=options) if all(isinstance(o, str) for o in options):
            texts, begin = "".join(o or "" for o in options), ctx.let(characters.start_of_choice(source), "start")
            length = characters.length_of_choice(source)
            return b.ZERO, length, b.ONE, lambda v: characters.at_position(ctx, texts, b.add(begin, v))
        case Static(tuple() | list() | str() | bytes() as items):
            return [Static(i) for i in items]
        case Range(start, stop, step):
            if b.constant(step) is None:  # counted: the sign of the step decides which way
                trips = ctx.let(trip_count(start, stop, step), "trips")
                return b.ZERO, trips, b.ONE, lambda v: Scalar(b.add(start, b.mul(step, v)), True)
            return start, stop, step, lambda v: Scalar(v, True)
        case Array() | Static(np.ndarray()) | Concatenation():
            array = as_array(ctx, source)
            array = ctx.kept(array)
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "iteration over a 0-d array")
            return b.ZERO, array.dims[0], b.ONE, lambda v: _row(array, v)
        case GrowingList():
            if not is_typed(ctx, source):
                return []
            return b.ZERO, source.length, b.ONE, lambda v: list_element(ctx, source, v)
        case Method(receiver, "enumerate"):
            assert isinstance(receiver, Seq)
            inner = iteration(ctx, receiver.items[0])
            offset = receiver.items[1]
            if isinstance(inner, list):
                first = constant_int(ctx, offset, "enumerate's start")
                return [Seq((Static(first + k), item)) for k, item in enumerate(inner)]
            start, stop, step, element = inner
            number = integer_expr(ctx, offset)

            def numbered(v: Expr) -> Value:
                count = b.floordiv(b.sub(v, start), step) if step != b.ONE else b.sub(v, start)
                return Seq((Scalar(b.add(count, number), True), element(v)))

            return start, stop, step, numbered
        case Method(receiver, "zip"):
            assert isinstance(receiver, Seq)
            inners = [iteration(ctx, item) for item in receiver.items]
            if any(isinstance(i, list) and not all(is_number(x) or isinstance(x, Scalar) for x in i) for i in inners):
                inners = [i if isinstance(i, list) else one_by_one(i) for i in inners]
            if all(isinstance(i, list) for i in inners):
                return [Seq(tuple(items)) for items in zip(*inners, strict=False)]
            counted: list[tuple[Expr, Any]] = []
            for i in inners:
                if isinstance(i, list) and not all(is_number(x) or isinstance(x, Scalar) for x in i):
                    other = next(trip_count(*o[:3]) for o in inners if not isinstance(o, list))
                    problem = "zip of values of different types with a run-time number"
                    help = "give it an array or list of numbers, or loop over their positions"
                    ctx.must_be_known(Scalar(other, True), problem, help, refusals.LIST_OF_TYPES)
                if isinstance(i, list):
                    counted.append((b.index(len(i)), _from_table(ctx, i)))
                else:
                    start, stop, step, element = i
                    counted.append((
                        trip_count(start, stop, step),
                        lambda v, s=start, t=step, e=element: e(b.add(s, b.mul(t, v))),
                    ))  # fmt: skip
            length = counted[0][0]
            for other, _ in counted[1:]:
                length = b.minimum(length, other)
            return b.ZERO, length, b.ONE, lambda v: Seq(tuple(e(v) for _, e in counted))
        case Method(receiver, "reversed"):
            inner = iteration(ctx, receiver)
            if isinstance(inner, list):
                return inner[::-1]
            start, stop, step, element = inner
            count = trip_count(start, stop, step)
            last = b.add(start, b.mul(step, b.sub(count, b.ONE)))
            return last, b.sub(start, step), b.neg(step), element
        case _:
            help = "loop over a range, an array, a list or a dict"
            ctx.fail(refusals.NEEDED, f"a loop over {describe(source)}", help)


def _from_table(ctx: Context, items: Sequence[Value]) -> Callable[[Expr], Value]:
    """One of several numbers by its position."""
    table = as_array(ctx, Seq(tuple(items)))
    given = [doubts.kinds_of(item) for item in items]
    kinds = tuple(sorted({kind for one in given for kind in one}))
    if len(kinds) < 2:
        python = any(map(is_python_number, items))
        dtype = "index" if python and table.dtype == "int64" else table.dtype
        return lambda v: Scalar(b.cast(table.at((v,)), dtype), python)
    if any(len(one) > 1 for one in given) or table.dtype.startswith("complex"):
        problem = "zip of numbers of several types with something of run-time length"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "make an array of them")
    for item in items:
        number = scalar_expr(ctx, item)
        if table.dtype == "float64" and number.dtype in ("index", "int64", "uint64"):
            ctx.guard(is_held_by_floats(number), "OverflowError", NOT_HELD)
    python = all(of_python for _, of_python in kinds)
    tags = as_array(ctx, Seq(tuple(Static(doubts.tag_number(kind)) for (kind,) in given)))
    return lambda v: doubts.told_by(kinds, table.at((v,)), python, b.cast(tags.at((v,)), "uint8"))


def _grid(ctx: Context, dims: Sequence[Value], element: Callable[[Seq], Value]) -> Any:
    """All indices of a shape in C order, as one loop."""
    sizes = [integer_expr(ctx, d) for d in dims]

    def at(position: Expr) -> Value:
        return element(Seq(tuple(Scalar(i, True) for i in b.unravel(position, tuple(sizes)))))

    return b.ZERO, b.product(tuple(sizes)), b.ONE, at


def _of_ranges(ranges: Sequence[Range]) -> Callable[[Seq], Value]:
    """One item of each of some ranges, by their positions."""

    def items(index: Seq) -> Value:
        positions = [i.expr for i in index.items if isinstance(i, Scalar)]
        numbers = (b.add(r.start, b.mul(r.step, at)) for r, at in zip(ranges, positions, strict=True))
        return Seq(tuple(Scalar(number, True) for number in numbers))

    return items


def _row(array: Array, position: Expr) -> Value:
    body = array.at((position, *(a.var for a in array.axes[1:])))
    return Scalar(body) if array.ndim == 1 else array.seen(array.axes[1:], (position, *(a.var for a in array.axes[1:])))


_UNKNOWN = object()


def _known(ctx: Context, value: Value) -> Any:
    """The object that a constant or a function is, or `_UNKNOWN`."""
    value = ctx.deref(value)
    if isinstance(value, Static):
        return value.value
    if isinstance(value, Seq):
        inner = tuple(_known(ctx, i) for i in value.items)
        return _UNKNOWN if _UNKNOWN in inner else inner
    if isinstance(value, Known):
        return classes.object_at(value) or value.path
    return _UNKNOWN


def is_one_object(one: Value, two: Value) -> bool:
    """Whether two numbers are sure to be one object, which Python's containers take for equal to itself: NaN, too.

    What is computed, or read from an array, each time anew has a variable of its own, or none.
    """
    if isinstance(one, Scalar):
        return one is two or (one == two and isinstance(one.expr, Var))
    return isinstance(one, Static) and isinstance(two, Static) and one.value is two.value


def _equal(ctx: Context, one: Value, two: Value) -> Expr:
    """Whether a container takes two numbers or texts, or two tuples of them, for equal."""
    if is_one_object(one, two):
        return b.TRUE
    if isinstance(one, (Char, OneOf)) or isinstance(two, (Char, OneOf)):
        return characters.equal(ctx, one, two)
    for known, other in ((one, two), (two, one)):
        if _is_text_or_none(known) and isinstance(other, (Static, Scalar, Seq)):
            return b.TRUE if _is_text_or_none(other) and known == other else b.FALSE
    if isinstance(one, Seq) and isinstance(two, Seq):
        if len(one.items) != len(two.items):
            return b.FALSE
        holds: Expr = b.TRUE
        for x, y in zip(one.items, two.items, strict=True):
            holds = b.both(holds, _equal(ctx, ctx.deref(x), ctx.deref(y)))
        return holds
    if isinstance(one, Seq) != isinstance(two, Seq) and (is_number(one) or is_number(two)):
        return b.FALSE
    return scalar_expr(ctx, apply(ctx, "equal", [one, two], operator_call=True))


def _is_text_or_none(value: Value) -> bool:
    return isinstance(value, Static) and (value.value is None or isinstance(value.value, str))


def _is_one(ctx: Context, value: Value) -> bool:
    """Whether a value is a number, of which a comparison with an array's elements asks all of them."""
    return isinstance(ctx.deref(value), (Scalar, Array)) or is_number(value)


def _is_of_others(owner: GrowingList) -> bool:
    """Whether a list holds anything but numbers, or arrays of them."""
    return bool(owner.columns or owner.row or owner.rows or owner.objects)


def _known_texts(container: Value) -> tuple[str, ...] | None:
    """The elements of a container, or the keys of a dict, where all of them are texts that are known."""
    match container:
        case Seq(items) if items and all(isinstance(i, Static) and isinstance(i.value, str) for i in items):
            return tuple(i.value for i in items if isinstance(i, Static))
        case Dict(keys) if keys and all(isinstance(k, str) for k in keys):
            return tuple(str(k) for k in keys)
        case Static(tuple() | list() | set() | frozenset() as held) if held and all(isinstance(k, str) for k in held):
            return tuple(held)
    return None


def contains(ctx: Context, value: Value, container: Value) -> Value:
    """``value in container``."""
    if isinstance(value, Char):
        match container:
            case Static(str() as text):
                return characters.contained(ctx, value, [Static(c) for c in text])
            case Seq(items):
                return characters.contained(ctx, value, list(items))
            case Dict(keys):
                return characters.contained(ctx, value, [Static(k) for k in keys])
            case Static(tuple() | list() | set() | frozenset() as items):
                return characters.contained(ctx, value, [Static(k) for k in items])
            case _:
                pass
    if isinstance(container, (JoinedText, Static)):
        part = spelling.contained(ctx, value, container)
        if part is not None:
            return part
    texts = _known_texts(container) if isinstance(value, JoinedText) else None
    if isinstance(value, JoinedText) and texts is not None:
        place = spelling.place_among(ctx, value, texts)
        if place is not None:
            return Scalar(b.compare("greater_equal", place, b.ZERO), True)
    if isinstance(value, Seq) and value.kind == "dict_values":  # which equals itself alone
        ctx.fail(refusals.OPERANDS, "`in` with a dict_values before it", "make a list of it: list(…)")
    if isinstance(container, View) and container.name == "keys":
        container = ctx.deref(container.owner)
    container = ctx.deref(all_of(ctx, container))
    is_array = isinstance(value, (Array, Concatenation)) or (
        isinstance(value, Static) and isinstance(value.value, np.ndarray)
    )
    if is_array and (isinstance(container, (Hashed, Dict)) or (isinstance(container, Seq) and container.kind == "set")):
        asked(ctx, hash, np.zeros(0))
    match container:
        case Hashed():
            return hashed.contains(ctx, container, value)
        case Dict(keys):
            return Static(key_object(ctx, value) in keys)
        case Seq(items):
            known = [_known(ctx, i) for i in items]
            if isinstance(value, (Static, Known)) and all(k is not _UNKNOWN for k in known):
                return Static(_known(ctx, value) in known)
            result: Expr = b.FALSE
            if isinstance(value, Scalar) and any(map(_may_be_no_number, map(ctx.deref, items))):
                _told_apart(ctx, value)
            for i in items:
                result = b.either(result, _equal(ctx, value, ctx.deref(i)))
            return Scalar(result, True)
        case Static(v) if not isinstance(v, np.ndarray):
            if isinstance(value, Static):
                return Static(asked(ctx, operator.contains, v, value.value))
        case GrowingList() if not is_typed(ctx, container):
            return Static(False)
        case GrowingList(dims=[_, *_]) if _is_one(ctx, value) and not is_array:
            help = "say what it is to be compared with: any((v == 1.0).all() for v in rows)"
            ctx.fail(refusals.OPERANDS, "`in` a list of arrays, of a number", help)
        case GrowingList() if is_array and as_array(ctx, value).ndim:
            help = "say what it is to be compared with, and `.any()` or `.all()`: any((v == x).all() for v in rows)"
            ctx.fail(refusals.OPERANDS, "`in` a list, of an array", help)
        case GrowingList() if _is_of_others(container) or not _is_one(ctx, value):
            return compose(ctx, "lists", "contains", [container, value], {})
        case Array() | GrowingList() | Concatenation() | Static(np.ndarray()):
            array = as_array(ctx, container)
            if isinstance(container, GrowingList) and array.dtype.startswith("float"):
                _told_apart(ctx, value)
            return Scalar(
                scalar_expr(ctx, reduce(ctx, "any", as_array(ctx, apply(ctx, "equal", [array, value])), None, False)),
                True,
            )
        case Range(start, stop, step):
            bounds = [b.constant(e) for e in (start, stop, step)]
            if isinstance(value, Static) and None not in bounds:
                return Static(_is_in_range(value.value, range(*bounds)))  # type: ignore[arg-type]
            if isinstance(value, (Static, Scalar)) and bounds[2] == 1:
                above = apply(ctx, "greater_equal", [value, Scalar(start, True)])
                below = apply(ctx, "less", [value, Scalar(stop, True)])
                whole = apply(ctx, "equal", [apply(ctx, "floor", [value]), value])
                held = [scalar_expr(ctx, x) for x in (above, below, whole)]
                return Scalar(b.both(b.both(held[0], held[1]), held[2]), True)
        case _:
            pass
    help = "ask it of a list, a tuple, a set, a dict, an array or a text"
    if isinstance(container, Range):
        help = "compare with its ends: start <= k < stop and (k - start) % step == 0"
    ctx.fail(refusals.OPERANDS, f"`in` of {describe(container)}", help)


def _told_apart(ctx: Context, value: Value) -> None:
    """Refuses NaN at run time, which is in a container if it is the very object that is there."""
    same = scalar_expr(ctx, apply(ctx, "equal", [value, value]))
    ctx.guard(same, "RuntimeError", "NaN `in` a list: whether it is the same object is not compiled")


def _may_be_no_number(item: Value) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (float, complex, np.inexact)) and item.value != item.value
    return isinstance(item, Scalar) and item.dtype.startswith(("float", "complex"))


def _is_in_range(value: Any, numbers: range) -> bool:
    """``value in numbers``: of what is no int, Python compares each number with it."""
    if type(value) is float:
        return value.is_integer() and int(value) in numbers
    if type(value) not in (int, bool) and numbers:
        check_items((numbers[-1] - numbers[0]) // numbers.step + 1)
    return value in numbers

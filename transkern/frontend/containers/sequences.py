"""What lists, tuples and dicts can do: methods, `+`, `*`, sorting."""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import NotKnown
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing, hashed, hashed_sets, making, ordering, putting, tuples
from transkern.frontend.containers.elements import is_typed, numbers
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import spelling
from transkern.frontend.python.whole import NO_POSITION, NO_SIZE, integer_expr
from transkern.frontend.state import choices, twins
from transkern.frontend.subscripts.keys import VIEWS, constant_object, dict_item, key_object, view
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.values import doubts, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    GrowingList,
    Hashed,
    JoinedText,
    Kind,
    Object,
    OneOf,
    Range,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
    is_list,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr

_FEW = 64
_OVER_ITERATORS = frozenset([
    "difference", "difference_update", "extend", "extendleft", "fromkeys", "intersection", "intersection_update",
    "isdisjoint", "issubset", "issuperset", "symmetric_difference", "symmetric_difference_update", "union", "update",
])  # fmt: skip
"""Methods that go over what they are given; others put it somewhere as it is."""


def method(ctx: Context, owner: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """``owner.name(*args)`` of a list, tuple or dict; None where there is no such method here."""
    contents = ctx.deref(owner)
    if name in _OVER_ITERATORS:
        args = [iterating.all_of(ctx, a) for a in args]
    match contents:
        case GrowingList():
            return _growing_method(ctx, contents, name, args, keywords)
        case Hashed(kind="dict") if name in VIEWS and not args and not keywords:
            return view(ctx, owner, name)
        case Hashed(kind="set") if name not in ("copy", "clear"):
            return None if keywords else hashed_sets.method(ctx, contents, name, args)
        case Hashed():
            return hashed.method(ctx, contents, name, args, keywords)
        case Seq(items, "set"):
            return _set_method(ctx, owner, items, name, args)
        case Seq(items, kind):
            found = _read(ctx, items, kind, name, args)
            if found is not None or kind == "tuple":
                return found
            return _list_method(ctx, owner, items, name, args, keywords)
        case Dict():
            return _dict_method(ctx, owner, contents, name, args, keywords)
        case Record() if contents.is_tuple:
            if name == "_replace":
                for key, value in keywords.items():
                    contents = contents.put(key, value)
                return contents
            if name == "_asdict":
                return Dict(contents.names, contents.items)
            return _read(ctx, contents.items, "tuple", name, args)
        case _:
            return None


def _is_of_the_run(ctx: Context, value: Value) -> bool:
    """Whether it is a number or text that only the run knows, or a tuple with one in it."""
    held = ctx.deref(value)
    inside = held.items if isinstance(held, Seq) and held.kind == "tuple" else ()
    return isinstance(value, (Scalar, OneOf, Char)) or any(_is_of_the_run(ctx, i) for i in inside)


def _read(ctx: Context, items: tuple[Value, ...], kind: str, name: str, args: Sequence[Value]) -> Value | None:
    looking = (name == "count" or (name == "index" and kind == "list")) and len(args) == 1
    if looking and any(_is_of_the_run(ctx, v) for v in (*items, args[0])):
        return compose(ctx, "lists", name, [Seq(items, kind), args[0]], {})
    if name in ("index", "count") and args:
        wanted = constant_object(ctx, args[0], f"`{kind}.{name}` of a run-time value")
        known = [constant_object(ctx, i, f"`{kind}.{name}` in run-time values") for i in items]
        if name == "count":
            return Static(known.count(wanted))
        if wanted not in known:
            text = f"{wanted!r} is not in list" if kind == "list" else "tuple.index(x): x not in tuple"
            ctx.guard(b.FALSE, "ValueError", text)
        return Static(known.index(wanted))
    return Seq(items, kind) if name == "copy" and kind == "list" else None


def _list_method(
    ctx: Context, owner: Value, items: tuple[Value, ...], name: str, args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> Value | None:  # fmt: skip
    result: Value = Static(None)
    changed = list(items)
    at_run_time = not items and args and isinstance(ctx.deref(args[0]), Scalar)
    match name:
        case "pop" if at_run_time:  # what is appended further down in a loop comes when that is translated again
            check_position(ctx, args[0], list[int]().pop)
            integer_expr(ctx, ctx.deref(args[0]), "OverflowError", NO_SIZE)
            ctx.guard(b.FALSE, "IndexError", "pop from empty list")
        case "__delitem__" if at_run_time:
            check_position(ctx, args[0], list[int]().__delitem__)
            integer_expr(ctx, ctx.deref(args[0]), "IndexError", NO_POSITION)
            ctx.guard(b.FALSE, "IndexError", "list assignment index out of range")
        case "append":
            changed.append(args[0])
        case "extend":
            extend(ctx, owner, args[0])
            return result
        case "insert":
            at = _place(ctx, owner, args[0], "an insertion at a run-time position")
            asked(ctx, changed.insert, at, args[1])
        case "pop":
            at = _place(ctx, owner, args[0], "pop of a run-time position") if args else -1
            result = asked(ctx, changed.pop, at)
        case "__delitem__":
            asked(ctx, changed.__delitem__, _place(ctx, owner, args[0], "deleting an item at a run-time position"))
        case "remove":
            try:
                known = [constant_object(ctx, i, "remove from run-time values") for i in items]
                wanted = constant_object(ctx, args[0], "remove of a run-time value")
            except NotKnown as error:
                if isinstance(owner, Object):
                    error.finding = ctx.growing_at(owner.token)
                raise
            if wanted not in known:
                ctx.guard(b.FALSE, "ValueError", "list.remove(x): x not in list")
            changed.pop(known.index(wanted))
        case "clear":
            changed = []
        case "reverse":
            changed.reverse()
        case "sort":
            if keywords.get("key") is not None and isinstance(owner, Object):
                ctx.must_grow(owner.token, "`list.sort` with `key=`")
            made = ordering.ordered(ctx, items, keywords)
            if not isinstance(made, Seq):
                assert isinstance(owner, Object)
                ctx.must_grow(owner.token, "a list of tuples that is sorted in place")
            changed = list(made.items)
        case _:
            return None
    ctx.change(owner, Seq(tuple(changed), "list"))
    return result


def _place(ctx: Context, owner: Value, position: Value, what: str) -> Any:
    """A position in a list whose items are known; where only the run knows it, the list is one of run-time length."""
    try:
        return constant_object(ctx, position, what)
    except NotKnown as error:
        if isinstance(owner, Object) and error.finding is None:
            error.finding = ctx.growing_at(owner.token)
        raise


def _set_method(ctx: Context, owner: Value, items: tuple[Value, ...], name: str, args: Sequence[Value]) -> Value | None:
    """A method of a set whose elements are known."""
    if not isinstance(owner, Object):
        return None
    known = all(isinstance(ctx.deref(a), Static) for a in args)
    if not known or name not in ("add", "discard", "clear"):
        ctx.must_grow(owner.token, f"`set.{name}` of a value that is known at run time only")
    values = {i.value for i in items if isinstance(i, Static)}
    getattr(values, name)(*(a.value for a in map(ctx.deref, args) if isinstance(a, Static)))
    ctx.change(owner, Seq(tuple(Static(v) for v in values), "set"))
    return Static(None)


def _growing_method(
    ctx: Context, owner: GrowingList, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    match name:
        case "append":
            putting.append(ctx, owner, args[0])
        case "extend":
            more = ctx.deref(args[0])
            more = hashed.keys(ctx, more) if isinstance(more, Hashed) else iterating.made_now(ctx, args[0])
            growing.extend(ctx, owner, more)
        case "clear":
            growing.clear(ctx, owner)
        case "pop":
            return growing.pop(ctx, owner, args[0] if args else None)
        case "__delitem__":
            growing.delete(ctx, owner, args[0])
        case "insert":
            growing.insert(ctx, owner, args[0], args[1])
        case "reverse":
            growing.reverse(ctx, owner)
        case "sort":
            ordering.sort_growing(ctx, owner, keywords)
        case "appendleft" if owner.is_queue:
            growing.append_left(ctx, owner, args[0])
        case "popleft" if owner.is_queue:
            return growing.pop_left(ctx, owner)
        case "rotate" if owner.is_queue:
            python_types.check(ctx, collections.deque([0]).rotate, *args)
            steps = Scalar(integer_expr(ctx, args[0]) if args else b.ONE, True)
            if is_typed(ctx, owner):
                compose(ctx, "lists", "rotate", [owner, steps], {})
        case "copy" if owner.is_queue:
            ctx.fail(refusals.DEQUE, "a copy of a deque", "make a list, list(queue), or another deque of it")
        case "copy":
            return growing.copied(ctx, owner)
        case "index" | "count" | "remove" if len(args) == 1 and (owner.row or not owner.dims):
            if name == "index" and owner.objects is not None:
                name = "index_of_object"
            if name == "index" and owner.kind == "tuple":
                name = "index_in_tuple"
            return compose(ctx, "lists", name, [owner, args[0]], {})
        case _:
            return None
    return Static(None)


def _dict_method(
    ctx: Context, owner: Value, contents: Dict, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    match name:
        case "keys" | "values" | "items":
            return view(ctx, owner, name)
        case "copy":
            return replace(contents, outside=False)
        case "get" | "pop" | "setdefault":
            choices.fork_for(ctx, args[0])
            if isinstance(owner, Object) and hashed.is_run_time_key(ctx, args[0]):
                if name == "get":
                    ctx.must_look_up(owner.token)
                ctx.must_grow(owner.token, "a dict's key that is known at run time only")
            key = key_object(ctx, args[0])
            found = contents.get(key)
            default: Value = args[1] if len(args) > 1 else Static(None)
            if name == "pop":
                if found is None and len(args) < 2:
                    return dict_item(ctx, contents, key)
                ctx.change(owner, contents.without(key))
            elif name == "setdefault" and found is None:
                ctx.change(owner, contents.put(key, default))
            return default if found is None else found
        case "update":
            changed = contents
            for other in [*args, Dict(tuple(keywords), tuple(keywords.values()))]:
                given = ctx.deref(other)
                if isinstance(given, Hashed) and given.kind == "dict" and isinstance(owner, Object):
                    ctx.must_grow(owner.token, "`update` with a dict whose keys only the run knows")
                if not isinstance(given, Dict):
                    help = "set the items one by one: d[key] = value"
                    problem = "`update` of a dict whose keys are known with something else than such a dict"
                    ctx.fail(refusals.RUN_TIME_KEYS, problem, help)
                for key, value in zip(given.keys, given.items, strict=True):
                    changed = changed.put(key, value)
            ctx.change(owner, changed)
            return Static(None)
        case "clear":
            ctx.change(owner, Dict((), ()))
            return Static(None)
        case _:
            return None


def extend(ctx: Context, owner: Value, value: Value) -> None:
    """``list.extend`` and ``list += …``."""
    contents, value = ctx.deref(owner), iterating.made_now(ctx, value)
    if isinstance(contents, GrowingList):
        growing.extend(ctx, contents, value)
        return
    assert isinstance(contents, Seq)
    counted = iterating.iteration(ctx, value)
    if not isinstance(counted, list):
        if isinstance(owner, Object):
            ctx.must_grow(owner.token, "a list extended by something of run-time length")
        ctx.fail(
            refusals.RUN_TIME_LENGTH, "a list extended by something of run-time length",
            "append in a loop to a list of its own",
        )
    ctx.change(owner, Seq((*contents.items, *counted), "list"))


def joined(ctx: Context, left: Seq | GrowingList, right: Value) -> Value:
    """``list + list`` (or of two tuples) where one of them has a run-time length."""
    if left.kind == "list" and _have_lists_of_their_own(ctx, left, ctx.deref(right)):
        return ctx.deref(compose(ctx, "lists", "together", [left, right], {}))
    site = hashed.site_of(ctx, "together")
    if _differ([left, ctx.deref(right)]):
        made = making.new(ctx, "items", site)
        growing.extend(ctx, made, left)
        made.extent = _fixed_length(left)
    else:
        made = growing.copied(ctx, left) if isinstance(left, GrowingList) else growing.from_items(ctx, left, site)
    lengths = [made.extent, _fixed_length(ctx.deref(right))]
    growing.extend(ctx, made, right)
    if lengths[0] is not None and lengths[1] is not None:
        made.extent = b.add(lengths[0], lengths[1])
    made.kind = left.kind
    return made


def of_run_time(ctx: Context, value: Value, kind: str) -> GrowingList | None:
    """What stands behind a star in a display, as a list, where only the run knows how much it is."""
    counted = iterating.iteration(ctx, value)
    if isinstance(counted, list):
        return None
    trips = trip_count(*counted[:3])
    contents = ctx.deref(iterating.sequence(ctx, value))
    is_matrix = isinstance(contents, (Array, Concatenation)) and as_array(ctx, contents).ndim != 1
    if b.constant(trips) is not None or is_matrix:
        return None
    if kind == "tuple" and (ctx.facts.is_of_arguments(trips) or not ctx.learned.has_tuples()):
        return None
    made = ctx.deref(listed(ctx, contents, "list"))
    return replace(made, kind=kind) if isinstance(made, GrowingList) else None


def put_together(ctx: Context, items: Sequence[Value], lists: Sequence[int], kind: str) -> Value:
    """A display of `items`, some of which, at the positions `lists`, stand for what is in them."""
    nothing, bounds = Seq((), kind), [*lists, len(items)]
    made: Value = Seq(tuple(items[: bounds[0]]), kind)
    for at, behind in itertools.pairwise(bounds):
        whole = items[at]
        assert isinstance(whole, GrowingList)
        for more in (whole, Seq(tuple(items[at + 1 : behind]), kind)):
            if made != nothing and more != nothing:
                assert isinstance(made, (Seq, GrowingList))
                made = joined(ctx, made, more)
            else:
                made = more if made == nothing else made
    return made


def _differ(lists: Sequence[Value]) -> bool:
    """Whether lists that are put together hold numbers of several types."""
    kinds: set[Kind] = set()
    for one in lists:
        if isinstance(one, GrowingList) and one.tags:
            return True
        if isinstance(one, GrowingList) and one.dtype and not (one.dims or one.rows or one.objects or one.options):
            kinds.add((one.dtype, one.python))
        elif isinstance(one, Seq):
            kinds.update(kind for item in one.items for kind in doubts.kinds_of(item))
    return len(kinds) > 1


def _have_lists_of_their_own(ctx: Context, *lists: Value) -> bool:
    """Whether lists that are put together hold lists that are, or become, of different lengths."""
    known = [one.rows for one in lists if isinstance(one, GrowingList) and one.rows is not None]
    if known:
        return not all(isinstance(one, GrowingList) and one.rows is known[0] for one in lists)
    lengths = [_lengths_of_lists(ctx, one) for one in lists]
    empty = any(isinstance(one, GrowingList) and not (one.dtype or one.columns) for one in lists)
    return (all(lengths) or empty) and len(set().union(*lengths)) > (0 if empty else 1)


def _lengths_of_lists(ctx: Context, value: Value) -> set[Expr]:
    """How long the lists in a list are; nothing where it holds something else."""
    if isinstance(value, GrowingList):
        if value.row != "list" or not (value.columns or value.dims):  # a row of numbers is one in such a list
            return set()
        return {b.index(len(value.columns)) if value.columns else value.dims[0]}
    held = [ctx.deref(item) for item in value.items] if isinstance(value, Seq) else []
    if not all(map(is_list, held)):
        return set()
    return {b.index(len(one.items)) if isinstance(one, Seq) else one.length for one in held}  # type: ignore[union-attr]


def _fixed_length(value: Value) -> Expr | None:
    """The length of a list where it is known."""
    if isinstance(value, Seq):
        return b.index(len(value.items))
    return value.extent if isinstance(value, GrowingList) else None


_SHORT = 64  # as many dimensions has an array at most


def repeated(ctx: Context, seq: Seq, times: Scalar) -> Value:
    """``[x, y] * n`` with a run-time `n`, which texts had rather known; what has two names then must have it known."""
    known = b.constant(times.expr)
    if known is not None and known * len(seq.items) <= _SHORT:
        return Seq(seq.items * known, seq.kind)
    if seq == Seq((Static(None),), "list"):
        return making.nothings(ctx, ctx.extent(b.maximum(times.expr, b.ZERO)))
    plain = all(isinstance(v, Scalar) or (isinstance(v, Static) and not isinstance(v.value, str)) for v in seq.items)
    if seq.items and seq.kind == "list" and (plain or not ctx.facts.is_of_arguments(times.expr)):
        number = is_number(seq.items[0]) or isinstance(seq.items[0], Scalar)
        if len(seq.items) != 1 or not number:
            return compose(ctx, "lists", "repeated", [seq, times], {})
        axis: Axis = ctx.names.axis("i", ctx.extent(b.maximum(times.expr, b.ZERO)))
        return making.list_of(ctx, Array((axis,), scalar_expr(ctx, seq.items[0])), is_python_number(seq.items[0]))
    help = "write a comprehension: [v for _ in range(n) for v in values]" if seq.items else "write []"
    ctx.must_be_known(times, f"{describe(seq)} times a run-time number", help, refusals.RUN_TIME_LENGTH)
    return Seq(seq.items * (known or 0), seq.kind)


def is_count(value: Value) -> bool:
    """Whether a value can say how often a list is repeated."""
    if isinstance(value, Static):
        return isinstance(value.value, (int, np.integer))
    if not isinstance(value, Scalar):
        return False
    return value.dtype.startswith(("index", "int", "uint")) or (value.python and value.dtype == "bool")


def how_often(ctx: Context, times: Value) -> Expr:
    """A count of `is_count` as Python takes it."""
    return integer_expr(ctx, times, "OverflowError", NO_POSITION)


def repeated_list(ctx: Context, owner: GrowingList, times: Value) -> Value:
    """``numbers * n``, of Python's or NumPy's integers."""
    if isinstance(times, Static):
        asked(ctx, operator.mul, [], times.value)
    number = ctx.let(b.maximum(how_often(ctx, times), b.ZERO), "times")
    count = ctx.let(owner.length, "count")
    most = b.floordiv(b.index(n.RESERVED), b.maximum(count, b.ONE))
    ctx.guard(b.compare("less_equal", number, most), "MemoryError", "")
    extent = ctx.extent(b.mul(number, count))

    def part(array: Array) -> Array:
        axis: Axis = ctx.names.axis("i", extent)
        return Array((axis, *array.axes[1:]), array.at((b.mod(axis.var, count), *(a.var for a in array.axes[1:]))))

    made = growing.changed(ctx, owner, part)
    twins.note(ctx, made, owner, again=True)
    made.kind = owner.kind
    return made


def listed(ctx: Context, value: Value, kind: str) -> Value:
    """``list(value)`` or ``tuple(value)``."""
    value = spelling.spelled(ctx, value)
    if isinstance(value, JoinedText) and value.characters is not None:
        value = value.characters
    counted = iterating.iteration(ctx, value)
    if isinstance(counted, list):
        return Seq(tuple(counted), kind)
    if isinstance(value, Range):
        bounds = [b.constant(e) for e in (value.start, value.stop, value.step)]
        if None not in bounds and len(range(*bounds)) <= _FEW:  # type: ignore[arg-type]
            return Seq(tuple(Static(k) for k in range(*bounds)), kind)  # type: ignore[arg-type]
    contents = ctx.deref(value)
    if kind == "tuple":
        items = iterating.one_by_one(counted)
        if isinstance(items, list):
            return Seq(tuple(items), kind)
        start, stop, step, _ = counted
        trips = trip_count(start, stop, step)
        if ctx.facts.is_of_arguments(trips) or not ctx.learned.has_tuples():
            problem, help = f"a tuple of {describe(contents)}", "its length is known at run time only: make a list"
            ctx.must_be_known(Scalar(trips, True), problem, help)
        return tuples.as_tuple(ctx.deref(listed(ctx, value, "list")))
    if isinstance(contents, Range):
        return making.list_of(ctx, numbers(ctx, contents), True)
    if isinstance(contents, GrowingList):
        return growing.copied(ctx, contents)
    if isinstance(contents, (Array, Concatenation)) and as_array(ctx, contents).ndim == 1:
        array = as_array(ctx, contents)
        length = None if array.mask is not None else b.constant(array.dims[0])
        items = iterating.one_by_one(counted) if length is not None and length <= _FEW else None
        if isinstance(items, list):
            return Seq(tuple(items), kind)
        return making.list_of(ctx, array, False)
    if iterating.is_lazy(contents) and not isinstance(counted, list):
        count = b.constant(trip_count(*counted[:3]))
        items = iterating.one_by_one(counted) if count is not None and count <= _FEW else None
        return Seq(tuple(items), kind) if isinstance(items, list) else compose(ctx, "lists", "listed", [contents], {})
    help = "write a comprehension, with copies of arrays: [row.copy() for row in a]"
    ctx.fail(refusals.OPERANDS, f"a list of {describe(contents)}", help)

"""Subscripts of values of any kind: lists, tuples, dicts, texts, ranges, objects by what they hold, arrays as NumPy."""

from __future__ import annotations

import collections
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers import empties, growing, hashed, objects, pools, rows
from transkern.frontend.containers.elements import element, is_typed, list_position
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy import flats, strided
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import characters, spelling, text_keys
from transkern.frontend.python.texts import is_character_or_text
from transkern.frontend.python.whole import NO_POSITION, integer_expr
from transkern.frontend.state import choices
from transkern.frontend.subscripts.arrays import array_item, as_item, axes_used
from transkern.frontend.subscripts.keys import constant_object, dict_item, key_of
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.subscripts.slices import bound, settle_slice
from transkern.frontend.translate import special_methods
from transkern.frontend.values import classes, doubts, large, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.scalars import present, scalar_expr, select
from transkern.frontend.values.values import (
    FUNCTIONS,
    Array,
    Char,
    Concatenation,
    Dict,
    Flags,
    Flat,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Slice,
    Split,
    Static,
    Text,
    Value,
    children,
    is_list,
    same_structure,
    with_children,
)  # fmt: skip
from transkern.ir import build as b


def subscript(ctx: Context, base: Value, items: Sequence[Value]) -> Value:
    """``base[items]``."""
    made = special_methods.item(ctx, base, items)
    if made is not None:
        return made
    if isinstance(base, Instance) and base.pool.kind is dict and len(items) == 1 and isinstance(items[0], Static):
        if items[0].value in base.pool.names:
            return objects.attribute(ctx, base, items[0].value)
    if isinstance(base, Static) and classes.is_plain_enum(base.value) and len(items) == 1:
        name = constant_object(ctx, items[0], "a member of an enum by a run-time name")
        return Static(asked(ctx, operator.getitem, base.value, name))
    if isinstance(base, OrNone):
        base = present(ctx, base, "TypeError", "'NoneType' object is not subscriptable")
    given, base = base, ctx.deref(base)
    python_types.check_item(ctx, operator.getitem, base, items[0] if len(items) == 1 else Seq(tuple(items)))
    if len(items) == 1 and large.is_large(items[0]) and isinstance(base, (GrowingList, Range)):
        asked(ctx, operator.getitem, range(0) if isinstance(base, Range) else [], items[0].value)
    match base:
        case Hashed():
            return hashed.item(ctx, base, items[0] if len(items) == 1 else Seq(tuple(items)))
        case Dict():
            items = [_as_one_of(ctx, base.keys, items[0])] if len(items) == 1 else items
            if len(items) == 1 and isinstance(items[0], (Char, OneOf, Scalar)):
                choices.fork_for(ctx, items[0])
                found = characters.looked_up(
                    ctx, base, items[0],
                    lambda values, at: _sequence_item(ctx, tuple(values), "list", [Scalar(at)], "dict"),
                )  # fmt: skip
                if found is not None:
                    return found
            return dict_item(ctx, base, key_of(ctx, items))
        case Record(items=elements) if base.is_tuple:
            return _sequence_item(ctx, elements, "tuple", items)
        case Static(tuple() as known):  # a key of a dict
            return _sequence_item(ctx, tuple(map(Static, known)), "tuple", items)
        case Seq(elements, kind):
            try:
                return _sequence_item(ctx, elements, kind, items)
            except NotKnown as error:
                if not error.begins_anew and _are_alike(ctx, elements):
                    if base.row_of is not None:
                        rows.wanted(ctx, base.row_of, error.problem)
                    # it would be put back
                    if isinstance(given, Object) and ctx.heap.sites[given.token][0] != "argument":
                        if any(pools.is_set(ctx, e) for e in elements):  # the text of each would be long
                            ctx.must_grow(given.token, error.problem, refusals.SUBSCRIPT)
                        error.finding = ctx.growing_at(given.token)
                raise
        case GrowingList():
            return _list_item(ctx, base, items)
        case Flat():
            return flats.item(ctx, base, items)
        case Flags(array) if len(items) == 1:
            return strided.flag(ctx, array, constant_object(ctx, items[0], "a flag of a run-time name"), is_key=True)
        case Static(bytes() as known) if len(items) == 1 and isinstance(items[0], (Static, Scalar)):
            return characters.byte(ctx, known, items[0])
        case Static(str() as text) if len(items) == 1 and isinstance(items[0], (Static, Scalar)):
            return characters.item(ctx, text, items[0])
        case Static(str() | bytes() as text) if len(items) == 1 and isinstance(items[0], Slice):
            parts = [Static(None) if p is None else p for p in (items[0].start, items[0].stop, items[0].step)]
            try:
                within = slice(*(constant_object(ctx, p, "a slice of a text") for p in parts))
            except NotKnown:
                learned = ctx.learned.spelling
                learned.asked = learned.asked or isinstance(text, str)
                if isinstance(text, bytes) or (ctx.control.may_be_written_out() and not learned.begun):
                    raise  # where iterations are written out, the bounds may be known
                return _part_of_text(ctx, text, items[0])
            return Static(asked(ctx, operator.getitem, text, within))
        case Text():
            made = spelling.spelled(ctx, base)
            if made is not base:
                return subscript(ctx, made, items)
            ctx.fail(refusals.SUBSCRIPT, f"a subscript of {describe(base)}", "take a part of the number instead")
        case JoinedText(characters=GrowingList() as joined) if len(items) == 1:
            return _joined_item(ctx, joined, items[0])
        case OneOf(options=options) if len(items) == 1 and all(isinstance(o, str) for o in options):
            if isinstance(items[0], Slice):
                return _joined_item(ctx, spelling.characters_of_choice(ctx, base), items[0])
            return characters.item_of_choice(ctx, base, items[0])
        case Range(start, stop, step) if len(items) == 1 and b.constant(step):
            trips = trip_count(start, stop, step)
            if isinstance(items[0], Slice):
                part = settle_slice(ctx, items[0], trips)
                first, each = b.add(start, b.mul(step, part.start)), b.mul(step, part.step)
                return Range(first, b.add(first, b.mul(each, part.length)), each)
            at = ctx.let(integer_expr(ctx, items[0], "IndexError", "range object index out of range"), "at")
            inside = b.both(b.compare("less", at, trips), b.compare("greater_equal", at, b.neg(trips)))
            ctx.guard(inside, "IndexError", "range object index out of range")
            return Scalar(b.add(start, b.mul(step, b.wrap_index(at, trips))), True)
        case Scalar() | Static() if isinstance(base, Scalar) or is_number(base):
            return _number_item(ctx, base, items)
        case Static(np.ndarray()) | Array() | Concatenation():
            return empties.told(
                ctx, lambda of, *at: of[at], [base, *items], {},
                lambda given, _: array_item(ctx, as_array(ctx, given[0]), given[1:]),
            )  # fmt: skip
        case _:
            help = "take one of an array, a list, a tuple or a dict"
            ctx.fail(refusals.SUBSCRIPT, f"a subscript of {describe(base)}", help)


def _as_one_of(ctx: Context, keys: Sequence[Any], key: Value) -> Value:
    """A text that the run makes as one of the keys of a dict, after a check that it is one; any other key as it is."""
    if not isinstance(key, JoinedText) or not keys or not all(isinstance(k, str) for k in keys):
        return key
    place = spelling.place_among(ctx, key, tuple(keys))
    if place is None:
        return key
    text_keys.must_be_a_key(ctx, b.compare("greater_equal", place, b.ZERO), key)
    return OneOf(place, tuple(keys))


def _number_item(ctx: Context, base: Value, items: Sequence[Value]) -> Value:
    """A NumPy number in its subscript is an array without axes, of which the subscript may make some."""
    if is_python_number(base):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(base)}' object is not subscriptable")
    if not items:
        return base
    if any(axes_used(as_item(ctx, item)) for item in items):
        ctx.guard(b.FALSE, "IndexError", "invalid index to scalar variable.")
    return array_item(ctx, as_array(ctx, base), items)


def _different(ctx: Context, elements: Sequence[Value]) -> tuple[str, str]:
    """What things of different types are, of which a run-time number is to choose one; and what to write."""
    held = [ctx.deref(e) for e in elements]
    if all(isinstance(e, Array) for e in held):
        return "of arrays", "stack arrays of one shape, np.stack(arrays)[k], or choose one with `if`"
    if all(isinstance(e, FUNCTIONS) for e in held):
        return "of functions", "choose with `if`: np.sin(x) if k == 0 else np.cos(x)"
    one, *others = dict.fromkeys(map(describe, held))
    what = f"with {one} and {others[0]} in it" if others else f"of things that are each {one}"
    return what, "keep things of one type in it, or choose with `if`"


def _sequence_item(
    ctx: Context, elements: tuple[Value, ...], kind: str, items: Sequence[Value], shown: str = ""
) -> Value:
    of: Any = [] if kind == "list" else ()
    item = items[0] if len(items) == 1 else Seq(tuple(items))
    check_position(ctx, item, lambda at: of[at])
    match item:
        case Static(int() as position):
            chosen: Value = asked(ctx, operator.getitem, [*elements] if kind == "list" else elements, position)
            return chosen
        case Slice(start, stop, step):
            parts = []
            for part in (start, stop, step):
                if part is not None:
                    check_position(ctx, part, lambda at: of[at:])
                if part is not None and not isinstance(part, Static):
                    help = "write constants there"
                    if all(is_number(e) or isinstance(e, Scalar) for e in elements):
                        help = "slice an array of the numbers: np.array(values)[first:last]"
                    ctx.must_be_known(part, f"a slice of a {kind} with run-time bounds", help, refusals.SUBSCRIPT)
                parts.append(None if part is None else part.value)
            return Seq(elements[slice(*parts)], kind)
        case Scalar() if elements and all(is_number(e) or isinstance(e, Scalar) for e in elements):
            return _chosen(ctx, elements, kind, item)
        case Scalar() if elements and all(isinstance(e, Static) and isinstance(e.value, str) for e in elements):
            options = tuple(e.value for e in elements if isinstance(e, Static))
            at = _chosen(ctx, tuple(Static(k) for k in range(len(options))), kind, item)
            assert isinstance(at, Scalar)
            if all(len(o) == 1 for o in options):
                return characters.chosen(ctx, options, at.expr)
            return OneOf(ctx.let(at.expr, "choice"), options)
        case Scalar() if elements and all(isinstance(e, Instance) for e in elements):
            return _chosen_object(ctx, elements, kind, item)
        case Scalar() if elements and all(isinstance(e, Object) and isinstance(ctx.deref(e), Record) for e in elements):
            pools.wanted(ctx, elements[0], f"a {kind} of objects subscripted with a number known at run time only")
        case Scalar() if elements and all(isinstance(e, Row) for e in elements):
            return _chosen_row(ctx, elements, kind, item)
        case Scalar() if elements and (found := _same_column(ctx, elements, item)) is not None:
            return found
        case Scalar() if not elements:
            list_position(ctx, item)  # or it is too large for any list
            ctx.guard(b.FALSE, "IndexError", f"{kind} index out of range")
            raise AssertionError
        case Scalar():
            if kind == "tuple" or shown:
                problem = f"a {shown or kind} of lists, subscripted with what is known at run time only"
                choices.stand_together(ctx, choices.sites_of(ctx, elements), problem)
            what, help = _different(ctx, elements)
            problem = f"a {shown or kind} {what}, subscripted with what is known at run time only"
            ctx.must_be_known(item, problem, help, refusals.SUBSCRIPT)
        case Array(axes=()):
            return _sequence_item(ctx, elements, kind, [Scalar(item.body)], shown)
        case Static(np.integer() as position):
            known: Value = asked(ctx, operator.getitem, [*elements] if kind == "list" else elements, position)
            return known
        case _:
            ctx.fail(refusals.SUBSCRIPT, f"a {kind} subscripted with {describe(item)}", "take an integer, or a slice")


def _chosen(ctx: Context, elements: tuple[Value, ...], kind: str, item: Scalar) -> Value:
    """One of several numbers at a run-time position."""
    types = {(scalar_expr(ctx, e).dtype, is_python_number(e)) for e in elements}
    if len(types) > 1:
        if types != {("index", True), ("float64", True)} or any(doubts.doubts_of([e]) for e in elements):
            problem = f"a {kind} of numbers of different types, subscripted at run time"
            ctx.must_be_known(item, problem, "give them one type: np.array(…)[k]", refusals.LIST_OF_TYPES)
        return _chosen_of_two(ctx, elements, kind, item)
    size, at = b.index(len(elements)), list_position(ctx, item)
    inside, below = ctx.facts.within(at, size)
    at = at if inside and below else ctx.let(at, "at")
    condition = b.both(b.compare("less", at, size), b.compare("greater_equal", at, b.neg(size)))
    ctx.guard(b.TRUE if inside and below else condition, "IndexError", f"{kind} index out of range")
    where = at if inside else b.wrap_index(at, size)
    return Scalar(select(where, [scalar_expr(ctx, e) for e in elements]), types.pop()[1])


def _chosen_of_two(ctx: Context, elements: tuple[Value, ...], kind: str, item: Scalar) -> Value:
    """One of several numbers of Python's, integers and floats, at a run-time position: it is known then which it is."""
    exprs = [scalar_expr(ctx, e) for e in elements]
    at = _chosen(ctx, tuple(Static(k) for k in range(len(exprs))), kind, item)
    where = ctx.let(scalar_expr(ctx, at), "at")
    whole = [e if e.dtype == "index" else b.ZERO for e in exprs]
    floats = [b.cast(e, "float64") for e in exprs]
    is_whole = select(where, [b.TRUE if e.dtype == "index" else b.FALSE for e in exprs])
    one, two = Scalar(select(where, whole), True), Scalar(select(where, floats), True)
    split = Split(is_whole, one, two, exact=True)
    made = doubts.doubt((("index", True), ("float64", True)), None)
    return Scalar(two.expr, True, None, made and replace(made, split=split))


def _chosen_object(ctx: Context, elements: tuple[Value, ...], kind: str, item: Scalar) -> Value:
    """One of several objects at a run-time position."""
    found = [e for e in elements if isinstance(e, Instance)]
    if any(e.pool is not found[0].pool for e in found):
        problem = f"a {kind} of objects of several classes subscripted with a run-time number"
        ctx.must_be_known(item, problem, "take one class, with a field that tells them apart", refusals.SUBSCRIPT)
    at = _chosen(ctx, tuple(Scalar(e.number, True) for e in found), kind, item)
    return Instance(found[0].pool, ctx.let(scalar_expr(ctx, at), "number"))


def _chosen_row(ctx: Context, elements: tuple[Value, ...], kind: str, item: Scalar) -> Value:
    """One of several lists in one memory at a run-time position."""
    found = [e for e in elements if isinstance(e, Row)]
    if any(e.rows is not found[0].rows for e in found):
        ctx.must_be_known(item, f"a {kind} of lists of several lists", "put them into one", refusals.SUBSCRIPT)
    at = _chosen(ctx, tuple(Scalar(e.number, True) for e in found), kind, item)
    return Row(found[0].rows, ctx.let(scalar_expr(ctx, at), "number"))


def _are_alike(ctx: Context, elements: Sequence[Value]) -> bool:
    """Whether a list of run-time length may hold all elements of a list: arrays of one dtype and number of dimensions,
    lists, sets, None and numbers, or tuples of numbers and texts."""
    held = [ctx.deref(e) for e in elements]
    if all(isinstance(e, Array) and e.axes for e in held):
        return len({(e.dtype, e.ndim) for e in held if isinstance(e, Array)}) == 1
    if all(map(is_list, held)) or all(pools.is_keyed(ctx, e) for e in held):
        return True
    if any(isinstance(e, Seq) for e in held):
        return _are_alike_tuples(ctx, held)
    inner = [e.value if isinstance(e, OrNone) else e for e in held if e != Static(None)]
    return len(inner) < len(held) and all(is_number(e) or isinstance(e, Scalar) for e in inner)


def _are_alike_tuples(ctx: Context, held: Sequence[Value]) -> bool:
    """Whether tuples have numbers, texts, lists, or tuples of these, in the same places."""
    if not all(isinstance(e, Seq) and e.kind == "tuple" for e in held):
        return False
    tuples = [children(e) or () for e in held]
    if len({len(items) for items in tuples}) != 1:
        return False
    columns = [[ctx.deref(i) for i in column] for column in zip(*tuples, strict=True)]
    return all(
        all(is_number(i) or isinstance(i, Scalar) for i in column) or all(map(is_character_or_text, column))
        or all(map(is_list, column)) or _are_alike_tuples(ctx, column) for column in columns
    )  # fmt: skip


def _same_column(ctx: Context, elements: tuple[Value, ...], item: Scalar) -> Value | None:
    """One of several tuples (or lists) of numbers at a run-time position: each of its items by itself."""
    rows = [ctx.deref(e) for e in elements]
    first = rows[0]
    if not isinstance(first, (Seq, Record)) or not all(same_structure(first, r) for r in rows):
        return None
    if not children(first):
        return None
    columns = zip(*(children(r) or () for r in rows), strict=True)
    items = []
    for column in columns:
        if all(is_number(v) or isinstance(v, Scalar) for v in column):
            items.append(_sequence_item(ctx, tuple(column), "list", [item]))
        elif (inner := _same_column(ctx, tuple(column), item)) is not None:
            items.append(inner)
        else:
            return None
    made = with_children(first, tuple(items))
    is_list = isinstance(made, Seq) and made.kind == "list" and all(isinstance(e, Object) for e in elements)
    return replace(made, of=elements) if is_list and isinstance(made, Seq) else made


def _list_item(ctx: Context, owner: GrowingList, items: Sequence[Value]) -> Value:
    if len(items) == 1 and isinstance(items[0], Slice):
        return _list_slice(ctx, owner, items[0])
    of: Any = collections.deque() if owner.is_queue else () if owner.kind == "tuple" else []
    check_position(ctx, items[0] if len(items) == 1 else Seq(tuple(items)), lambda at: of[at])
    if len(items) == 1 and isinstance(items[0], (Static, Scalar)):
        count = owner.length
        at = list_position(ctx, items[0])
        message = f"{'deque' if owner.is_queue else owner.kind} index out of range"
        if not is_typed(ctx, owner):
            ctx.guard(b.FALSE, "IndexError", message)
        if ctx.control.trusted:
            return element(ctx, owner, at)
        ctx.guard(
            b.both(b.compare("less", at, count), b.compare("greater_equal", at, b.neg(count))), "IndexError", message
        )
        return element(ctx, owner, b.wrap_index(at, count))
    ctx.fail(refusals.SUBSCRIPT, "this subscript of a list", "make it an array: np.array(list)")


def _joined_item(ctx: Context, owner: GrowingList, item: Value) -> Value:
    """``text[item]`` of a text joined of characters."""
    if isinstance(item, Slice):
        part = _list_slice(ctx, owner, item)
        assert isinstance(part, GrowingList)
        return JoinedText(part, "")
    at, length = integer_expr(ctx, item, "TypeError", NO_POSITION), owner.length
    inside = b.both(b.compare("less", at, length), b.compare("greater_equal", at, b.neg(length)))
    ctx.guard(inside, "IndexError", "string index out of range")
    return element(ctx, owner, b.wrap_index(at, length))


def _part_of_text(ctx: Context, text: str, part: Slice) -> Value:
    """A slice of a text between bounds that only the run knows, as a text joined of its characters."""
    step = Static(1) if part.step is None else part.step
    problem = "a slice of a text with a step, between bounds that are known at run time only"
    may_be_none = any(isinstance(p, OrNone) for p in (part.start, part.stop))
    if may_be_none or constant_object(ctx, step, problem) not in (1, None):
        ctx.fail(refusals.TEXT, problem, "take the part first, and then every so many of it: s[a:b][::2]")
    start, stop = (
        Static(default) if p is None or p == Static(None) else Scalar(bound(ctx, p), True)
        for p, default in ((part.start, 0), (part.stop, len(text)))
    )
    return spelling.part(ctx, text, start, stop)


def _list_slice(ctx: Context, owner: GrowingList, item: Slice) -> Value:
    def part(array: Array) -> Array:
        chosen = array_item(ctx, array, [item])
        assert isinstance(chosen, Array)
        return chosen

    made = growing.changed(ctx, owner, part)
    made.kind = owner.kind
    return made


# --- arrays


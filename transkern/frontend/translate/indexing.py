"""Subscripts: ``x[…]`` as a value and as a place to store, with NumPy's rules for slices, None, arrays and masks."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.errors import NOT_COMPILED
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers.elements import element, is_typed, list_position
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, list_array, range_array
from transkern.frontend.numpy.elementwise import align
from transkern.frontend.python import characters
from transkern.frontend.python.whole import NO_POSITION, in_64_bits, integer_expr
from transkern.frontend.state import choices
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.positions import check_position, check_subscripts
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
    Flat,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Known,
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
from transkern.ir.complexes import is_complex
from transkern.ir.containers import with_text
from transkern.ir.expr import Apply, Axis, Const, Expr, Reduce
from transkern.ir.traverse import variables_read

SliceValue = Slice
Item = Value


@dataclass(frozen=True, slots=True)
class _Span:
    """A slice settled against an extent: positions ``start + step * axis`` for ``axis < length``."""

    start: Expr
    length: Expr
    step: Expr


def settle_slice(ctx: Context, item: SliceValue, extent: Expr) -> _Span:
    """``slice.indices`` on expressions; the length's form is canonical, so that equal slices have equal sizes."""
    item = large.clipped(item, extent)
    step_value = _step(ctx, item.step)
    step = b.constant(step_value)
    if step == 0:
        ctx.guard(b.FALSE, "ValueError", "slice step cannot be zero")
    start = None if item.start is None else _bound(ctx, item.start)
    stop = None if item.stop is None else _bound(ctx, item.stop)
    if step is None or step > 0:
        begin = _or_default(item.start, _from_end(ctx, start, extent, b.ZERO), b.ZERO)
        if item.stop is None:
            length = b.maximum(b.sub(extent, begin), b.ZERO)
        else:
            last = _or_default(item.stop, _from_end(ctx, stop, extent, extent), extent)
            # length = max(min(last, extent) - begin, 0): the clip of `begin` at extent changes nothing
            length = b.maximum(b.sub(b.minimum(last, extent), begin), b.ZERO)
            gap = b.difference(last, begin)
            if gap is not None and gap > 0 and ctx.facts.within(b.sub(last, b.ONE), extent)[1]:
                length = b.index(gap)  # a[k : k + 3] that is seen to be inside
        if step != 1:
            length = b.floordiv(b.add(length, b.sub(step_value, b.ONE)), step_value)
        return _Span(begin, length, step_value)  # it is only used where the slice holds an element: no clip above
    top = b.sub(extent, b.ONE)
    begin = top if start is None else b.minimum(_from_end(ctx, start, extent, top, floor=-1), top)
    end = b.index(-1) if stop is None else b.minimum(_from_end(ctx, stop, extent, b.index(-1), floor=-1), top)
    begin, end = _or_default(item.start, begin, top), _or_default(item.stop, end, b.index(-1))
    length = b.maximum(b.sub(begin, end), b.ZERO)
    if step != -1:
        length = b.floordiv(b.add(length, b.index(-step - 1)), b.index(-step))
    return _Span(begin, length, b.index(step))


def _is_positive(ctx: Context, step: Expr) -> bool:
    low_high = ctx.facts.range_of(step)
    if low_high is not None and b.at_least(low_high[0], b.ONE):
        return True
    return ctx.facts.not_negative(b.sub(step, b.ONE))


def _step(ctx: Context, given: Value | None) -> Expr:
    """A slice's step: a constant, or positive."""
    if given is None:
        return b.ONE
    step = _bound(ctx, given)
    positive = (b.constant(step) or 0) > 0 or _is_positive(ctx, step)
    known = b.constant(step) is not None and not isinstance(given, OrNone)
    if not known and not positive:
        try:
            ctx.must_be_known(
                given, "a slice with a run-time step that may be negative or zero",
                "use a constant step, one of a loop over range(1, n), or index: x[np.arange(0, len(x), step)]",
            )  # fmt: skip
        except NotKnown:
            if any(trips is not None for trips in ctx.control.trips):  # whose iterations may be translated one by one
                raise
            step = _positive(ctx, _or_default(given, step, b.ONE))
    return _or_default(given, step, b.ONE)


def _positive(ctx: Context, step: Expr) -> Expr:
    """A step that nothing tells before the call, after a check that it goes forwards."""
    step = ctx.let(step, "step")
    ctx.guard(b.compare("not_equal", step, b.ZERO), "ValueError", "slice step cannot be zero")
    text = f"a slice with a negative step that only the run knows is {NOT_COMPILED}"
    ctx.guard(b.compare("greater", step, b.ZERO), "RuntimeError", text)
    return ctx.let(b.maximum(step, b.ONE), "step")


def _bound(ctx: Context, value: Value) -> Expr:
    """A bound, which may be None at run time: what it is where it is not."""
    missing, value = (value.none, value.value) if isinstance(value, OrNone) else (b.FALSE, value)
    check_position(ctx, value, lambda at: range(0)[at:], missing)
    expr = scalar_expr(ctx, value)
    if expr.dtype == "uint64":  # beyond the end of every array
        expr = Apply("minimum", (expr, Const(b.HIGHEST, "uint64")), "uint64")
    return b.as_index(expr)


def _or_default(given: Value | None, bound: Expr, default: Expr) -> Expr:
    """A bound, or what stands for None at its place where it is that at run time."""
    return b.where(given.none, default, bound) if isinstance(given, OrNone) else bound


def _from_end(ctx: Context, bound: Expr | None, extent: Expr, default: Expr, floor: int = 0) -> Expr:
    """A slice bound with negative values counted from the end and nothing below `floor`; not clipped above."""
    if bound is None:
        return default
    value = b.constant(bound)
    if value is not None:
        if value >= 0:
            return bound
        return b.maximum(b.add(extent, bound), b.index(floor))
    certain, _ = ctx.facts.within(bound, b.add(extent, b.ONE))
    if certain:
        return bound
    gap = b.sub(extent, bound)  # n - k with k a size: at worst negative, then it counts from the end twice
    if floor == 0 and b.is_nonnegative(gap) and ctx.facts.not_negative(bound):
        return bound
    return b.where(b.compare("less", bound, b.ZERO), b.maximum(b.add(extent, bound), b.index(floor)), bound)


def subscript(ctx: Context, base: Value, items: Sequence[Item]) -> Value:
    """``base[items]``."""
    made = special_methods.item(ctx, base, items)
    if made is not None:
        return made
    if isinstance(base, Instance) and base.pool.kind is dict and len(items) == 1 and isinstance(items[0], Static):
        from transkern.frontend.containers import objects

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
            from transkern.frontend.containers.hashed import item

            return item(ctx, base, items[0] if len(items) == 1 else Seq(tuple(items)))
        case Dict():
            if len(items) == 1 and isinstance(items[0], (Char, Scalar)):
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
                        from transkern.frontend.containers.rows import wanted

                        wanted(ctx, base.row_of, error.problem)
                    # it would be put back
                    if isinstance(given, Object) and ctx.heap.sites[given.token][0] != "argument":
                        error.grown = ctx.grows_at(given.token)
                raise
        case GrowingList():
            return _list_item(ctx, base, items)
        case Flat():
            from transkern.frontend.numpy import flats

            return flats.item(ctx, base, items)
        case Static(bytes() as known) if len(items) == 1 and isinstance(items[0], (Static, Scalar)):
            return characters.byte(ctx, known, items[0])
        case Static(str() as text) if len(items) == 1 and isinstance(items[0], (Static, Scalar)):
            return characters.item(ctx, text, items[0])
        case Static(str() | bytes() as text) if len(items) == 1 and isinstance(items[0], Slice):
            parts = [Static(None) if p is None else p for p in (items[0].start, items[0].stop, items[0].step)]
            try:
                within = slice(*(constant_object(ctx, p, "a slice of a text") for p in parts))
            except NotKnown:
                if isinstance(text, bytes) or any(trips is not None for trips in ctx.control.trips):  # see `_step`
                    raise
                return _part_of_text(ctx, text, items[0])
            return Static(asked(ctx, operator.getitem, text, within))
        case Text():
            from transkern.frontend.python import spelling

            made = spelling.spelled(ctx, base)
            if made is not base:
                return subscript(ctx, made, items)
            ctx.fail(refusals.SUBSCRIPT, f"a subscript of {describe(base)}", "take a part of the number instead")
        case JoinedText(characters=GrowingList() as joined) if len(items) == 1:
            return _joined_item(ctx, joined, items[0])
        case Range(start, stop, step) if len(items) == 1 and b.constant(step):
            from transkern.frontend.loops.trips import trip_count

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
            from transkern.frontend.containers import empties

            return empties.told(
                ctx, lambda of, *at: of[at], [base, *items], {},
                lambda given, _: array_item(ctx, as_array(ctx, given[0]), given[1:]),
            )  # fmt: skip
        case _:
            help = "take one of an array, a list, a tuple or a dict"
            ctx.fail(refusals.SUBSCRIPT, f"a subscript of {describe(base)}", help)


def _number_item(ctx: Context, base: Value, items: Sequence[Item]) -> Value:
    """A NumPy number in its subscript is an array without axes, of which the subscript may make some."""
    if is_python_number(base):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(base)}' object is not subscriptable")
    if not items:
        return base
    if any(_consumes(as_item(ctx, item)) for item in items):
        ctx.guard(b.FALSE, "IndexError", "invalid index to scalar variable.")
    return array_item(ctx, as_array(ctx, base), items)


def key_of(ctx: Context, items: Sequence[Item]) -> Any:
    """The key of a dict's subscript."""
    return key_object(ctx, items[0] if len(items) == 1 else Seq(tuple(items)))


def key_object(ctx: Context, value: Value, help: str = "") -> Any:
    """A key of a dict, which must be known here; `help` is for an integer that is not."""
    value = ctx.deref(value)
    if isinstance(value, Static):
        return value.value
    if isinstance(value, Seq) and value.kind == "tuple":
        ctx.session.step(1 + len(value.items) // 16)
        return tuple(key_object(ctx, i, help) for i in value.items)
    problem, instead = "a dict's key that is known at run time only", help
    if not (isinstance(value, Scalar) and not is_complex(value.dtype)):
        problem, instead = f"{describe(value)} as a key that is known at run time only", key_help(value)
    return constant_object(ctx, value, problem, refusals.RUN_TIME_KEYS, instead)


_PARTS_OF_KEY = "take a tuple of its parts: (z.real, z.imag)"


def key_help(value: Value) -> str:
    """What to write for a key that is no real number, in a dict or set whose keys are known at run time."""
    match value:
        case Static(complex()):
            return _PARTS_OF_KEY
        case Scalar() if is_complex(value.dtype):
            return _PARTS_OF_KEY
        case Text():
            return "take the numbers that the text is made of"
        case OneOf():
            return "choose between the values, and not between keys: d[a] if condition else d[b]"
        case Char():
            return "write d[key], without a default"
        case Array():
            return "take numbers, or tuples of them: tuple(row) of a known length"
        case _:
            return "take keys that are numbers, or tuples of them"


def constant_object(
    ctx: Context, value: Value, problem: str, kind: refusals.Kind = refusals.NEEDS_CONSTANT, help: str = ""
) -> Any:
    """The Python object that a value is at specialisation."""
    value = ctx.deref(value)
    match value:
        case Static(known):
            return known
        case Seq(items, "tuple"):
            ctx.session.step(1 + len(items) // 16)
            return tuple(constant_object(ctx, i, problem, kind, help) for i in items)
        case Known(path):
            return path
        case _:
            ctx.must_be_known(value, problem, help, kind)


def constant_slice(ctx: Context, item: SliceValue) -> slice:
    """A slice of what is known one by one."""
    parts = [Static(None) if p is None else p for p in (item.start, item.stop, item.step)]
    return slice(*(constant_object(ctx, p, "a slice of a list with run-time bounds") for p in parts))


def dict_item(ctx: Context, base: Dict, key: Any) -> Value:
    found = base.get(key)
    if found is None:
        if not isinstance(key, str):
            help = "take one of its keys: " + ", ".join(map(repr, base.keys))
            ctx.fail(refusals.SUBSCRIPT, f"the dict has no key {key!r}", help)
        ctx.guard(b.FALSE, *with_text("KeyError", key))
        raise AssertionError
    return found


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
    ctx: Context, elements: tuple[Value, ...], kind: str, items: Sequence[Item], shown: str = ""
) -> Value:
    of: Any = [] if kind == "list" else ()
    item = items[0] if len(items) == 1 else Seq(tuple(items))
    check_position(ctx, item, lambda at: of[at])
    match item:
        case Static(int() as position):
            chosen: Value = asked(ctx, operator.getitem, [*elements] if kind == "list" else elements, position)
            return chosen
        case SliceValue(start, stop, step):
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
            from transkern.frontend.containers import pools

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
    lists, or None and numbers."""
    held = [ctx.deref(e) for e in elements]
    if all(isinstance(e, Array) and e.axes for e in held):
        return len({(e.dtype, e.ndim) for e in held if isinstance(e, Array)}) == 1
    if all(map(is_list, held)):
        return True
    inner = [e.value if isinstance(e, OrNone) else e for e in held if e != Static(None)]
    return len(inner) < len(held) and all(is_number(e) or isinstance(e, Scalar) for e in inner)


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


def _list_item(ctx: Context, owner: GrowingList, items: Sequence[Item]) -> Value:
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


def _joined_item(ctx: Context, owner: GrowingList, item: Item) -> Value:
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
        Static(default) if p is None or p == Static(None) else Scalar(_bound(ctx, p), True)
        for p, default in ((part.start, 0), (part.stop, len(text)))
    )
    from transkern.frontend.python import spelling

    return spelling.part(ctx, text, start, stop)


def _list_slice(ctx: Context, owner: GrowingList, item: Slice) -> Value:
    from transkern.frontend.containers import growing

    def part(array: Array) -> Array:
        chosen = array_item(ctx, array, [item])
        assert isinstance(chosen, Array)
        return chosen

    made = growing.changed(ctx, owner, part)
    made.kind = owner.kind
    return made


# --- arrays


def array_item(ctx: Context, base: Array, items: Sequence[Item]) -> Value:
    """``base[items]`` as a value: a scalar where nothing is left of the shape, a view for basic subscripts."""
    by_array = any(isinstance(item, Array) and not item.axes for item in items)  # NumPy copies there
    check_subscripts(ctx, items)
    items = [as_item(ctx, item) for item in items]
    if base.mask is not None:
        early = _filtered_item(ctx, base, items)
        if early is not None:
            return early
        base = ctx.compact(base, "kept")
    plan = _plan(ctx, base, items)
    if not plan.axes and not any(isinstance(item, Static) and item.value is Ellipsis for item in items):
        return Scalar(base.at(plan.index))
    if plan.advanced or by_array or plan.mask is not None:
        return Array(plan.axes, base.at(plan.index), plan.mask)
    return base.seen(plan.axes, plan.index)


def positions(ctx: Context, value: Value) -> Array:
    """An array of positions: of a list without elements NumPy makes integers here."""
    made = as_array(ctx, value)
    is_empty = isinstance(ctx.deref(value), Seq) and any(b.constant(d) == 0 for d in made.dims)
    return Array(made.axes, Const(0, "int64")) if is_empty else made


def as_item(ctx: Context, item: Item) -> Item:
    """Lists and such in a subscript are arrays."""
    item = ctx.deref(item)
    if isinstance(item, OrNone):
        text = "a subscript that is None, where it may be a number as well: it would add an axis, and is not compiled"
        ctx.guard(b.logical_not(item.none), "RuntimeError", text)
        item = item.value
    match item:
        case GrowingList() | Seq(_, "list" | "tuple"):  # a tuple alone has been taken apart
            array = list_array(ctx, item) if isinstance(item, GrowingList) else positions(ctx, item)
            if array.dtype == "bool" and array.ndim > 1:
                text = "a list of truths that is empty as a subscript, which NumPy takes for integers, is not compiled"
                ctx.guard(b.compare("not_equal", b.product(array.dims), b.ZERO), "RuntimeError", text)
            if not array.dtype.startswith(("float", "complex")):
                return array
            return Array(array.axes, b.cast(array.body, "int64"))  # empty (`check_subscripts`): it is one of positions
        case Range() if b.constant(item.step):
            return range_array(ctx, item)
        case Static(np.ndarray()) | Concatenation() | Range():
            return as_array(ctx, item)
        case Static(bool() | np.bool_() as known):
            return _Truth(Const(bool(known), "bool"))  # type: ignore[return-value]
        case Scalar(expr) if expr.dtype == "bool":
            return _Truth(expr)  # type: ignore[return-value]
        case Array(axes=()) if item.dtype == "bool":
            return _Truth(item.body)  # type: ignore[return-value]
        case Array(axes=()):
            return Scalar(item.body)
        case _:
            return item


@dataclass(frozen=True, slots=True)
class Plan:
    """Where an element of the result stands in the base: `index` over `axes`."""

    axes: tuple[Axis, ...]
    index: tuple[Expr, ...]
    mask: Expr | None
    advanced: bool


def check_count(ctx: Context, base: Array, items: Sequence[Item]) -> int:
    """How many axes subscripts are for; NumPy's IndexError where the array has fewer."""
    if any(map(large.is_large, items)) or any(map(_is_beyond, items)):
        asked(ctx, operator.getitem, np.empty((1,) * base.ndim), tuple(map(_example, items)))
    used = sum(_consumes(item) for item in items)
    if used > base.ndim:
        for item in items:
            if isinstance(item, Scalar):
                in_64_bits(ctx, item.expr)  # which is looked at first
        ctx.guard(
            b.FALSE, "IndexError",
            f"too many indices for array: array is {base.ndim}-dimensional, but {used} were indexed",
        )  # fmt: skip
    return used


def _plan(ctx: Context, base: Array, items: Sequence[Item]) -> Plan:
    used = check_count(ctx, base, items)
    if any(isinstance(item, _Truth) for item in items):
        return _plan_of_truth(ctx, base, items)
    full = SliceValue(None, None, None)
    expanded: list[Item] = []
    seen = False
    for item in items:
        if isinstance(item, Static) and item.value is Ellipsis:
            if not seen:
                expanded += [full] * (base.ndim - used)
            seen = True
        else:
            expanded.append(item)
    expanded += [full] * (base.ndim - sum(_consumes(i) for i in expanded))
    expanded = _masks_to_positions(ctx, base, expanded)
    advanced = any(isinstance(i, (Array, _Positions)) for i in expanded)
    return _advanced_plan(ctx, base, expanded) if advanced else _basic_plan(ctx, base, expanded)


def _is_beyond(item: Item) -> bool:
    """Whether it is a known number of NumPy's that no position can be."""
    return isinstance(item, Static) and isinstance(item.value, np.integer) and not b.fits(int(item.value))


def _example(item: Item) -> Any:
    """A subscript of the kind of one that only a call knows."""
    match item:
        case Static(known):
            return known
        case Slice():
            return slice(None)
        case Array():
            return np.zeros((1,) * item.ndim, item.dtype)
        case _:
            return 0


@dataclass(frozen=True, slots=True)
class _Truth:
    """A bool that is no array with axes as a subscript: an axis of length 1 where it holds, of length 0 where not."""

    condition: Expr


def _plan_of_truth(ctx: Context, base: Array, items: Sequence[Item]) -> Plan:
    """``x[c, :]`` is ``x[None][np.array([c]), :]``."""
    at = next(k for k, item in enumerate(items) if isinstance(item, _Truth))
    others = [*items[:at], *items[at + 1 :]]
    if not all(isinstance(i, SliceValue) or (isinstance(i, Static) and i.value in (None, Ellipsis)) for i in others):
        problem = "a bool as a subscript beside numbers or arrays"
        ctx.fail(refusals.SUBSCRIPT, problem, "use `if`, or a boolean array")
    dots = any(isinstance(i, Static) and i.value is Ellipsis for i in items[:at])
    axis = base.ndim - sum(_consumes(i) for i in items[at:]) if dots else sum(_consumes(i) for i in items[:at])
    truth = items[at]
    assert isinstance(truth, _Truth)
    new = ctx.names.axis("o", b.ONE)
    condition = truth.condition
    known = SliceValue(None, Static(int(bool(condition.value))), None) if isinstance(condition, Const) else None
    mask = known or Array((new,), condition)
    wide = replace(base, axes=(*base.axes[:axis], new, *base.axes[axis:]), identity="")
    plan = _plan(ctx, wide, [*items[:at], mask, *items[at + 1 :]])
    return replace(plan, index=(*plan.index[:axis], *plan.index[axis + 1 :]), advanced=True)


@dataclass(frozen=True, slots=True)
class _Positions:
    """One of the index arrays that a boolean mask stands for: positions over a filtered domain."""

    array: Array


def _consumes(item: Item) -> int:
    match item:
        case Static(None):
            return 0
        case Static(v) if v is Ellipsis:
            return 0
        case _Truth():
            return 0
        case Array() if item.dtype == "bool":
            return item.ndim
        case _:
            return 1


def _masks_to_positions(ctx: Context, base: Array, items: list[Item]) -> list[Item]:
    result: list[Item] = []
    axis = 0
    for item in items:
        if isinstance(item, Array) and item.dtype == "bool":
            if item.mask is not None:
                item = ctx.compact(item, "mask")
            for offset, dim in enumerate(item.dims):
                ctx.guard(
                    fits_as_mask(dim, base.dims[axis + offset]), "IndexError",
                    f"boolean index did not match indexed array along axis {axis + offset}; size of axis is {{}} but "
                    "size of corresponding boolean axis is {}", (base.dims[axis + offset], dim),
                )  # fmt: skip
            result += [_Positions(p) for p in nonzero_positions(ctx, item)]  # type: ignore[misc]
            axis += item.ndim
        else:
            result.append(item)
            axis += _consumes(item)
    return result


def fits_as_mask(length: Expr, extent: Expr) -> Expr:
    """Whether NumPy takes a mask of this length for an axis: an empty one for each."""
    return b.either(b.compare("equal", length, extent), b.compare("equal", length, b.ZERO))


def nonzero_positions(ctx: Context, mask: Array) -> list[Array]:
    """``np.nonzero``: one filter a dimension, over the flattened domain. NumPy's are the columns of one array."""
    domain = ctx.names.axis("k", b.product(mask.dims))
    index = b.unravel(domain.var, mask.dims)
    condition = mask.at(index)
    return [Array((domain,), b.cast(i, "int64"), condition, spaced=len(index) > 1) for i in index]


def names_elements(ctx: Context, at: Array, extent: Expr) -> bool:
    """Whether all positions are seen to be within an axis: then there are none in an empty one."""
    with ctx.facts.axis_ranges(at.axes):
        return all(ctx.facts.within(b.as_index(at.body), extent))


def first_place(
    ctx: Context, dims: tuple[Expr, ...], holds: Callable[[tuple[Expr, ...]], Expr]
) -> tuple[Expr, tuple[Expr, ...]]:
    """Where something `holds` first, of all places in C order: the number of the place, negative where there is none,
    and the place."""
    domain = ctx.names.axis("k", b.product(dims))
    first = ctx.let(Reduce("first", (domain,), holds(b.unravel(domain.var, dims)), "index"), "outside")
    return first, b.unravel(first, dims)


def _basic_plan(ctx: Context, base: Array, items: list[Item]) -> Plan:
    axes: list[Axis] = []
    index: list[Expr] = []
    for item in items:
        if isinstance(item, Static) and item.value is None:
            axes.append(ctx.names.axis("o", b.ONE))
            continue
        axis, position = _basic_item(ctx, item, base.dims[len(index)], len(index))
        index.append(position)
        if axis is not None:
            axes.append(axis)
    return Plan(tuple(axes), tuple(index), None, False)


def _basic_item(ctx: Context, item: Item, extent: Expr, axis_number: int) -> tuple[Axis | None, Expr]:
    match item:
        case SliceValue():
            span = settle_slice(ctx, item, extent)
            axis = ctx.names.axis("ijklm"[min(axis_number, 4)], span.length)
            if b.constant(span.length) == 1:
                return axis, span.start
            return axis, b.add(span.start, b.mul(span.step, axis.var))
        case Scalar() | Static():
            return None, scalar_position(ctx, item, extent, axis_number)
        case _:
            help = "take integers, slices, or arrays of integers or bools"
            ctx.fail(refusals.SUBSCRIPT, f"a subscript that is {describe(item)}", help)


def outside_text(ctx: Context, axis: int) -> str:
    """What is said of a position outside of an axis, and outside of all elements of `.flat`."""
    return f"index {{}} is out of bounds for {'' if ctx.control.is_flat else f'axis {axis} with '}size {{}}"


def scalar_position(ctx: Context, item: Value, extent: Expr, axis: int) -> Expr:
    """A scalar subscript, checked against the extent and counted from the end where negative."""
    expr = scalar_expr(ctx, item)
    if not (expr.dtype == "index" or expr.dtype.startswith(("int", "uint"))):
        ctx.guard(
            b.FALSE, "IndexError",
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices",
        )  # fmt: skip
    at = b.as_index(in_64_bits(ctx, expr))
    value = b.constant(at)
    message = outside_text(ctx, axis)
    if value is not None:
        long = b.compare("greater_equal", extent, b.index(value + 1 if value >= 0 else -value))
        ctx.guard(long, "IndexError", message, (at, extent))
        return b.wrap_index(at, extent)
    gap = b.difference(at, extent)
    if gap is not None and gap < 0 and (gap == -1 or ctx.facts.assume_at_least(extent, -gap)):  # n - c: from the end
        long = b.compare("greater_equal", extent, b.index(-gap))
        ctx.guard(long, "IndexError", message, (at, extent))
        return at
    low, high = ctx.facts.within(at, extent)
    if low and high:
        return at
    inside = b.TRUE if high else b.compare("less", at, extent)
    if not low:
        inside = b.both(inside, b.compare("greater_equal", at, b.neg(extent)))
    ctx.guard(inside, "IndexError", message, (at, extent))
    return at if low else ctx.let(b.wrap_index(at, extent), "at")


def _advanced_plan(ctx: Context, base: Array, items: list[Item]) -> Plan:
    """Positions among the subscripts: that they go together is checked before where they are."""
    with ctx.control.bounds_later() as checks:
        plan = _plan_of_positions(ctx, base, items)
    for check in checks:
        ctx.control.check_place(check)
    return plan


def _plan_of_positions(ctx: Context, base: Array, items: list[Item]) -> Plan:
    advanced: list[tuple[int, Array]] = []  # (position among items, index array)
    numbers: dict[int, Expr] = {}  # checked first, also where there is nothing to take
    here = 0  # the axis that the item is for
    for position, item in enumerate(items):
        is_number_here = isinstance(item, Scalar) or is_number(item)
        if is_number_here and here < base.ndim:
            numbers[position] = scalar_position(ctx, item, base.dims[here], here)
        here += item != Static(None)
        if isinstance(item, Array):
            advanced.append((position, item))
        elif isinstance(item, _Positions):
            advanced.append((position, item.array))
        elif is_number_here:
            advanced.append((position, Array((), numbers.get(position, b.ZERO))))
    places = [p for p, _ in advanced]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    arrays = [a for _, a in advanced]
    elements, mask, adv_axes = _index_arrays(ctx, arrays)
    if mask is not None and not (adjacent and places[0] == 0):
        # the filtered axis must stay first to remain a filter
        if any(not isinstance(i, (Scalar, Array, _Positions, Static)) for i in items[: places[0]]) and adjacent:
            arrays = [ctx.kept(a) for a in arrays]
            elements, mask, adv_axes = _index_arrays(ctx, arrays)
    positions = iter(elements)
    axes_before: list[Axis] = []
    axes_after: list[Axis] = []
    index: list[Expr] = []
    passed = False
    for position, item in enumerate(items):
        extent = base.dims[len(index)] if len(index) < base.ndim else b.ONE
        if position in places:
            passed = True
            value = next(positions)
            value = b.as_index(b.cast(value, "int64") if value.dtype == "uint64" else value)  # NumPy's wrap
            if not isinstance(item, _Positions):  # of a mask they are within its dims, which are the array's
                value = numbers.get(position) or _checked(ctx, value, extent, len(index), adv_axes, mask)
            index.append(value)
        elif isinstance(item, Static) and item.value is None:
            (axes_after if passed else axes_before).append(ctx.names.axis("o", b.ONE))
        else:
            axis, at = _basic_item(ctx, item, extent, len(index))
            index.append(at)
            if axis is not None:
                (axes_after if passed else axes_before).append(axis)
    if adjacent:
        axes = (*axes_before, *adv_axes, *axes_after)
    else:
        axes = (*adv_axes, *axes_before, *axes_after)
    return Plan(axes, tuple(index), mask, True)


def _index_arrays(ctx: Context, arrays: Sequence[Array]) -> tuple[list[Expr], Expr | None, tuple[Axis, ...]]:
    """Index arrays over common axes: (elements, mask, axes)."""
    for a in arrays:
        if not (a.dtype == "index" or a.dtype.startswith(("int", "uint"))):
            ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
    elements, axes, mask, _ = align(ctx, list(arrays), "indices")
    return elements, mask, axes


def _checked(ctx: Context, value: Expr, extent: Expr, axis: int, axes: tuple[Axis, ...], mask: Expr | None) -> Expr:
    """An index-array element, with a check before the statement where its range is not known."""
    with ctx.facts.axis_ranges(axes):
        low, high = ctx.facts.within(value, extent)
    if low and high:
        return value
    message = outside_text(ctx, axis)
    if low and mask is None and len(axes) == 1 and value == axes[0].var:  # sizes decide, and nothing is looked at
        fits = b.compare("less_equal", axes[0].extent, extent)
        ctx.control.check_place(lambda: ctx.guard(fits, "IndexError", message, (extent, extent)))
        return value
    inside: Expr = b.TRUE if high else b.compare("less", value, extent)
    if not low:
        inside = b.both(inside, b.compare("greater_equal", value, b.neg(extent)))
    bad = b.logical_not(inside)
    if mask is not None:
        bad = b.both(mask, bad)

    def check() -> None:
        # Each element is asked once, however often other index arrays repeat it: of none, if they have none.
        own = [a for a in axes if a.name in variables_read(bad) | variables_read(value)]
        nobody = [b.compare("less_equal", a.extent, b.ZERO) for a in axes if a not in own]
        holds, offending = b.logical_not(bad), value
        if own:
            names = [a.name for a in own]
            dims = tuple(a.extent for a in own)
            first, at = first_place(ctx, dims, lambda at: b.substitute(bad, dict(zip(names, at, strict=True))))
            holds, offending = b.compare("less", first, b.ZERO), b.substitute(value, dict(zip(names, at, strict=True)))
        for empty in nobody:
            holds = b.either(empty, holds)
        ctx.guard(holds, "IndexError", message, (offending, extent))

    ctx.control.check_place(check)
    return value if low else b.where(b.compare("less", value, b.ZERO), b.add(value, extent), value)


def _filtered_item(ctx: Context, base: Array, items: Sequence[Item]) -> Value | None:
    """Subscripts of a filter that leave it a filter: a further mask over the same elements, or other axes only."""
    if not items:
        return base
    first = items[0]
    if (
        isinstance(first, Array)
        and first.dtype == "bool"
        and first.ndim == 1
        and first.mask is not None
        and len(items) == 1
    ):
        if first.domain[0] == base.domain[0] and first.mask_at(base.axes[0].var) == base.mask:
            assert base.mask is not None
            return replace(base, mask=b.both(base.mask, first.candidate((base.axes[0].var,))), view=False)
    full = SliceValue(None, None, None)
    if first == full or (isinstance(first, Static) and first.value is Ellipsis and len(items) == base.ndim):
        rest = [as_item(ctx, i) for i in items[1:]]
        if any(isinstance(i, Array) for i in rest) or any(isinstance(i, Static) and i.value is None for i in rest[:0]):
            return None
        plain = replace(base, mask=None)
        value = array_item(ctx, plain, [full, *rest])
        if isinstance(value, Array):
            return replace(value, mask=base.mask_at(value.axes[0].var), view=False)
    return None


def place(ctx: Context, base: Array, items: Sequence[Item]) -> Plan:
    """``base[items]`` as a place to store to: the plan of its elements."""
    check_subscripts(ctx, items)
    items = [as_item(ctx, item) for item in items]
    return _plan(ctx, base, items)


def shape_of(ctx: Context, value: Array) -> tuple[Expr, ...]:
    """The dims with a filter's count in place of its domain."""
    if value.mask is None:
        return value.dims
    count: Expr = Reduce("count", value.axes[:1], value.mask, "index")
    return (ctx.let(count, "count"), *value.domain[1:])


__all__ = ["Plan", "SliceValue", "array_item", "check_count", "place", "shape_of", "subscript"]

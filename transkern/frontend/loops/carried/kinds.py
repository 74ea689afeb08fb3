"""The kinds of slots that a loop's names need: of a value, and of what two iterations leave."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import Becomes, Finding, NotKnown
from transkern.frontend.containers import list_types, pools, rows
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import dicts as carried_dicts
from transkern.frontend.loops.carried import lists as carried_lists
from transkern.frontend.loops.carried.dicts import has_other_keys, is_hashed, is_known_dict
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.state import guards
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import static_expr
from transkern.frontend.values.types_of_scalars import holding_exactly, join_dtypes, of_doubted
from transkern.frontend.values.values import (
    Array,
    Char,
    Dict,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Object,
    OneOf,
    OrNone,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    children,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr
from transkern.ir.traverse import variables_read


def kind_of(ctx: Context, value: Value) -> Any:
    """The type of a carried value: what a slot for it must be."""
    match value:
        case OneOf(_, options):
            return ("choice", options)
        case Static(None) | Static(str()):
            return ("choice", (value.value,))
        case Char():
            return ("character",)
        case OrNone(inner):
            return ("or none", kind_of(ctx, inner))
        case Static() if is_number(value):
            expr = static_expr(ctx, value.value)
            return ("scalar", expr.dtype, is_python_number(value), ctx.facts.range_of(expr), doubts.kinds_of(value))
        case Scalar(expr, python):
            return ("scalar", expr.dtype, python, ctx.facts.range_of(expr), doubts.kinds_of(doubts.carried(value)))
        case Array():
            low_high = ctx.facts.range_of(value.body)
            facts = {} if low_high is None else {"low": low_high[0], "high": low_high[1]}
            if value.mask is None:
                return ("array", value.dtype, value.dims, facts)
            return ("dynamic", value.dtype, bound_of(ctx, value.domain[0]), value.domain[1:], facts)
        case Seq(items=items) | Dict(items=items) | Record(items=items):
            return ("items", with_children(value, ()), tuple(kind_of(ctx, i) for i in items))
        case Object():
            return ("object", value)
        case Row(rows):
            return ("row", rows)
        case Instance(pool):
            return ("instance", pool)
        case JoinedText(characters=GrowingList()):
            return ("text",)
        case GrowingList(kind="tuple"):
            return ("tuple", ("same", replace(value, kind="list")))
        case GrowingList() if value.prefix:
            return ("same", Unbound("a name that stands for another list of a list in each iteration of a loop"))
        case _:
            return ("same", value)


def ranges_of(kind: Any) -> list[tuple[Expr, Expr]] | None:
    """The ranges in the kind of a number, of a text, of a tuple of such, or of one of these or None, which may stand in
    another translation of a loop; None of any other kind."""
    match kind:
        case ("scalar", _, _, low_high, _):
            return [] if low_high is None else [low_high]
        case ("choice", _):
            return []
        case ("or none", inner):
            return ranges_of(inner)
        case ("items", Seq(kind="tuple"), inner):
            found = [ranges_of(k) for k in inner]
            return None if None in found else [low_high for one in found for low_high in one or ()]
        case _:
            return None


def _held(dtype: str, python: bool, known: tuple[Expr, Expr] | None, by: str) -> bool:
    """Whether a Python integer, within a known range, is one of the type `by`."""
    if not python or dtype != "index" or np.dtype(by).kind not in "iu" or by == "int64":
        return True
    low, high = (None, None) if known is None else (b.constant(known[0]), b.constant(known[1]))
    return low is not None and high is not None and np.iinfo(by).min <= low and high - 1 <= np.iinfo(by).max


def _is_plain_list(value: GrowingList) -> bool:
    special = value.dims or value.columns or value.prefix or value.head or value.options or value.rows
    return bool(value.dtype) and not special


def _is_untyped(value: GrowingList) -> bool:
    """Whether nothing is known to have been put into a list."""
    return not (value.dtype or value.columns or value.head or value.rows)


def _is_first_filled(one: GrowingList, two: GrowingList) -> bool:
    """Whether one of two lists is empty, as far as is known, and the other one of numbers."""
    return (_is_untyped(one) and _is_plain_list(two)) or (_is_plain_list(one) and _is_untyped(two))


def _table_of_both(
    ctx: Context, name: str, one: carried_lists.Table | GrowingList, two: GrowingList
) -> carried_lists.Table | None:
    """What a list of tuples or of lists is like that is one or the other of two; None where there is no such list.
    Lists of one length among those of another begin anew, as such of lengths of their own."""
    if isinstance(one, GrowingList) and _is_untyped(one):
        return carried_lists.shape_of_table(two)
    first = carried_lists.shape_of_table(one) if isinstance(one, GrowingList) else one
    if _is_untyped(two):
        return first
    second = carried_lists.shape_of_table(two)
    both = None if first is None or second is None else carried_lists.joined(first, second)
    if first is not None and second is not None and carried_lists.has_shared(first):
        if not carried_lists.has_shared(second):  # behind the first iteration the arguments are not in it any more
            return None
    for fixed in carried_lists.of_one_length(one, two) if both is None else ():
        rows.wanted(ctx, fixed, f"`{name}`, a list of lists of other lengths in each iteration")
    for fixed, dtype, python in carried_lists.of_one_type(one, two) if both is None else ():
        if fixed.site is not None:
            list_types.mixed(ctx, fixed, dtype, python, "give its elements one type")
    for fixed in carried_lists.of_arrays(one, two) if both is None else ():
        rows.wanted(ctx, fixed, f"`{name}`, a list of arrays that is another one in each iteration")
    return both


def _tuple_of_both(ctx: Context, name: str, old: Any, new: Any) -> Any:
    """The kind of tuples whose length only the run knows, one of which is the other in the next iteration; None where
    they are no such."""
    if old[0] == new[0] == "items" and len(old[2]) == len(new[2]):
        return None
    lists = [_list_in_tuple(ctx, kind) for kind in (old, new)]
    if None in lists or not ctx.learned.has_tuples():
        return None
    match known := [kind for kind in lists if kind != _NOTHING]:
        case []:
            return old if old[0] == "tuple" else new
        case [both]:
            return ("tuple", both)
        case [("list", *_), ("list", *_)]:
            return ("tuple", _list_of_both(ctx, name, *known))
        case [("table", one), ("table", two)] if (table := carried_lists.joined(one, two)) is not None:
            return ("tuple", ("table", table))
        case _:
            return None


_NOTHING = ("list",)  # of which nothing is known: it is empty so far


def _list_in_tuple(ctx: Context, kind: Any) -> Any:
    """The kind of list that a tuple is whose length only the run knows; None where it can be no such."""
    match kind:
        case ("tuple", ("same", GrowingList() as made)) if _is_untyped(made):
            return _NOTHING
        case ("tuple", inner):
            own = of_its_own(ctx, inner)
            return own if own[0] in ("list", "table") else None
        case ("items", Seq(kind="tuple"), []):
            return _NOTHING
        case ("items", Seq(kind="tuple"), [first, *more]):
            found = _element(first)
            for other in map(_element, more):
                found = None if found is None or other is None else carried_lists.joined(found, other)
            if found is None:
                return None
            return ("table", found) if found.columns else ("list", found.dtype, found.python, None, None)
        case _:
            return None


def _element(kind: Any) -> carried_lists.Table | None:
    """What a list of elements of a kind is like: of numbers, and of tuples of these."""
    match kind:
        case ("scalar", dtype, python, _, types) if len(types) == 1:
            return carried_lists.Table(dtype, python, "", None, None, (), False, (), None)
        case ("items", Seq(kind="tuple"), [_, *_] as inner):
            columns = tuple(found for k in inner if (found := _element(k)) is not None)
            if len(columns) == len(inner):
                return carried_lists.Table("", False, "tuple", None, None, (), False, columns, None)
    return None


def _list_kind(value: GrowingList) -> Any:
    return ("list", value.dtype, value.python, value.objects, value.site if value.tags else None)


def _list_of_both(ctx: Context, name: str, one: Any, two: Any) -> Any:
    (_, d1, p1, of1, site1), (_, d2, p2, of2, site2) = one, two
    joined = join_dtypes(d1, p1, d2, p2)
    if joined is None or of1 is not of2:
        shown = [d if of is None else of.kind.__name__ for d, of in ((d1, of1), (d2, of2))]
        problem = f"`{name}` is a list of {shown[0]} in one iteration and of {shown[1]} in another"
        ctx.must_be_known(Unbound(""), problem, "give its elements one type", refusals.LIST_OF_TYPES)
    carried_lists.share_kinds(ctx, site1, site2)
    return ("list", *joined, of1, site1 or site2)


def _grows(ctx: Context, kind: Any) -> bool:
    """Whether it is a list whose length is a variable."""
    match kind:
        case ("list" | "table" | "tuple", *_) | ("same", GrowingList()):
            return True
        case ("object", Object() as value):
            return isinstance(ctx.deref(value), GrowingList)
        case _:
            return False


def _is_short_list(ctx: Context, value: Object) -> bool:
    """Whether it is a list that is written out: `[start]`."""
    items = ctx.deref(value)
    return isinstance(items, Seq) and items.kind == "list"


def _length(ctx: Context, value: Object) -> int:
    return len(children(ctx.deref(value)) or ())


def _has_other_length(ctx: Context, kind: Any, value: Object) -> bool:
    """Whether two lists that are written out are of different lengths."""
    if not _is_short_list(ctx, value):
        return False
    match kind:
        case ("object", Object() as one):
            return _is_short_list(ctx, one) and _length(ctx, one) != _length(ctx, value)
        case ("fresh", ("items", Seq(kind="list"), kinds)):
            return len(kinds) != _length(ctx, value)
        case _:
            return False


def _may_be_none(kind: Any) -> bool:
    """Whether a name of this kind may be None in other iterations."""
    return kind[0] in (
        "scalar", "array", "dynamic", "shaped", "items", "list", "table", "tuple", "hashed", "fresh", "instance",
    )  # fmt: skip


def of_its_own(ctx: Context, kind: Any) -> Any:
    """The kind with lists and objects of its own in place of those that one iteration makes."""
    match kind:
        case ("same", GrowingList() as made) if _is_plain_list(made):
            return _list_kind(made)
        case ("same", GrowingList() as made) if (shape := carried_lists.shape_of_table(made)) is not None:
            return ("table", shape)
        case ("same", Hashed() as made) if (keyed := carried_dicts.shape_of(made)) is not None:
            return ("hashed", keyed)
        case ("object", Object() as made):
            return ("fresh", of_its_own(ctx, kind_of(ctx, ctx.deref(made))))
        case ("or none" | "tuple" as which, inner):
            return (which, of_its_own(ctx, inner))
        case ("items", shell, kinds):
            return ("items", shell, tuple(of_its_own(ctx, k) for k in kinds))
        case _:
            return kind


def without_made(ctx: Context, kind: Any, known: Collection[int]) -> Any:
    """The kind with lists and objects of its own in place of those that are not `known` before the loop: the next
    translation of the loop does not have them."""
    match kind:
        case ("object", Object() as made) if made.token not in known:
            return ("fresh", without_made(ctx, kind_of(ctx, ctx.deref(made)), known))
        case ("fresh" | "or none" | "tuple" as which, inner):
            return (which, without_made(ctx, inner, known))
        case ("items", shell, kinds):
            return ("items", shell, tuple(without_made(ctx, k, known) for k in kinds))
        case _:
            return kind


def join_kinds(ctx: Context, name: str, old: Any, new: Any, value: Value, slot: Value) -> Any:
    if old == new:
        return old
    match old, new:
        case ("scalar", d1, p1, r1, k1), ("scalar", d2, p2, r2, k2):
            joined = join_dtypes(d1, p1, d2, p2)
            if joined is not None and not joined[1] and not (
                _held(d1, p1, r1, joined[0]) and _held(d2, p2, r2, joined[0])
            ):  # fmt: skip
                joined = None
            joined = joined or of_doubted(k1, k2) or holding_exactly(d1, p1, d2, p2)
            if joined is None:
                ctx.must_be_known(
                    Unbound(""), f"`{name}` changes its type in the loop, from {d1} to {d2}",
                    "give it one type before the loop", refusals.TYPE_DIFFERS,
                )  # fmt: skip
            return ("scalar", *joined, r1 if r1 == r2 else None, tuple(sorted({*k1, *k2})))
        case ("array", d1, s1, f1), ("array", d2, s2, f2) if d1 == d2 and len(s1) == len(s2):
            facts = f1 if f1 == f2 else {}
            if s1 == s2:
                return ("array", d1, s1, facts)
            if s1[1:] == s2[1:]:
                return _dynamic(ctx, name, d1, s1[0], s2[0], s1[1:], facts, slot)
            if all(map(functools.partial(_may_be_equal, ctx), s1, s2)) and all(map(ctx.facts.assume_equal, s1, s2)):
                return ("array", d1, s1, facts)
            if ctx.session.reserves:
                return of_any_shape(ctx, name, d1, len(s1))
        case ("shaped", d1, ndim), ("array", d2, s2, _) if d1 == d2 and ndim == len(s2):
            return old
        case ("shaped", d1, ndim), ("dynamic", d2, _, rest, _) if d1 == d2 and ndim == 1 + len(rest):
            return old
        case ("array", d1, (), _), ("scalar", d2, p2, r2, k2):
            return join_kinds(ctx, name, ("scalar", d1, False, None, ((d1, False),)), new, value, slot)
        case ("scalar", d1, p1, r1, k1), ("array", d2, (), _):
            return join_kinds(ctx, name, old, ("scalar", d2, False, None, ((d2, False),)), value, slot)
        case ("array", d1, s1, f1), ("dynamic", d2, bound, rest, f2) if d1 == d2 and s1[1:] == rest:
            return _dynamic(ctx, name, d1, s1[0], bound, rest, f1 if f1 == f2 else {}, slot, counted=True)
        case ("dynamic", d1, bound, rest, f1), ("array", d2, s2, f2) if d1 == d2 and s2[1:] == rest:
            inner = bound_of(ctx, s2[0])
            return _as_long(ctx, name, ("dynamic", d1, bound, rest, f1 if f1 == f2 else {}), inner)
        case ("dynamic", d1, bound, rest, f1), ("dynamic", d2, inner, rest2, f2) if d1 == d2 and rest == rest2:
            return _as_long(ctx, name, ("dynamic", d1, bound, rest, f1 if f1 == f2 else {}), inner)
        case (
            ("array", d1, (_, *rest1), _) | ("dynamic", d1, _, rest1, _),
            ("array", d2, (_, *rest2), _) | ("dynamic", d2, _, rest2, _),
        ) if ctx.session.reserves and d1 == d2 and len(rest1) == len(rest2):  # fmt: skip
            return of_any_shape(ctx, name, d1, 1 + len(rest1))
        case ("items", shell, k1), ("items", other, k2) if len(k1) == len(k2) and shell == other:
            slots = children(ctx.deref(slot)) or (slot,) * len(k1)
            return ("items", shell, tuple(
                join_kinds(ctx, name, x, y, value, s) for x, y, s in zip(k1, k2, slots, strict=True)
            ))  # fmt: skip
        case ("items" | "tuple", *_), ("items" | "tuple", *_) if (
            (both := _tuple_of_both(ctx, name, old, new)) is not None
        ):  # fmt: skip
            return both
        case ("or none", _), ("choice", (None,)):
            return old
        case ("choice", (None,)), ("or none", _):
            return of_its_own(ctx, new)
        case ("or none", k1), ("or none", k2):
            return ("or none", join_kinds(ctx, name, k1, k2, value, slot))
        case ("or none", k1), (kind, *_) if kind != "choice":
            return ("or none", join_kinds(ctx, name, k1, new, value, slot))
        case (kind, *_), ("or none", k2) if _may_be_none(old):
            return ("or none", join_kinds(ctx, name, old, k2, value, slot))
        case ("choice", (None,)), (kind, *_) if _may_be_none(own := of_its_own(ctx, new)):
            return ("or none", own)
        case (kind, *_), ("choice", (None,)) if _may_be_none(own := of_its_own(ctx, old)):
            return ("or none", own)
        case ("character",), ("choice", (str() as text,)) if len(text) == 1:
            return old
        case ("choice", (str() as text,)), ("character",) if len(text) == 1:
            return new
        case _ if (of_texts := carried_lists.text_of_both(ctx, old, new)) is not None:
            return of_texts
        case ("same", GrowingList() as v1), ("same", GrowingList() as v2) if _is_plain_list(v1) and _is_plain_list(v2):
            carried_lists.tell_types(ctx, v1, v2)
            return _list_of_both(ctx, name, _list_kind(v1), _list_kind(v2))
        case ("same", GrowingList() as v1), ("same", GrowingList() as v2) if _is_first_filled(v1, v2):
            return _list_kind(v1 if v1.dtype else v2)
        case ("list", *_), ("same", GrowingList() as v2) if _is_untyped(v2):
            return old
        case ("list", *_), ("same", GrowingList() as v2) if _is_plain_list(v2):
            return _list_of_both(ctx, name, old, _list_kind(v2))
        case ("table", _) | ("same", GrowingList()), ("same", GrowingList()) if (
            (table := _table_of_both(ctx, name, old[1], new[1])) is not None
        ):  # fmt: skip
            return ("table", table)
        case ("choice", o1), ("choice", o2):
            return ("choice", tuple(dict.fromkeys((*o1, *o2))))
        case ("object", Object() as v1), _ if _grows(ctx, new) and _is_short_list(ctx, v1):
            ctx.must_grow(v1.token, f"`{name}`, a list of a length that an iteration decides")
        case _, ("object", Object() as v2) if _grows(ctx, old) and _is_short_list(ctx, v2):
            ctx.must_grow(v2.token, f"`{name}`, a list of a length that an iteration decides")
        case ("object" | "fresh", _), ("object", Object() as v2) if _has_other_length(ctx, old, v2):
            for made in (old[1], v2):
                if isinstance(made, Object) and ctx.grows_at(made.token) is not None:
                    ctx.must_grow(made.token, f"`{name}`, a list of a length that an iteration decides")
        case ("same", Hashed() as v1), ("same", Hashed() as v2) if (
            (shape := carried_dicts.joined(ctx, v1, v2)) is not None
        ):  # fmt: skip
            return ("hashed", shape)
        case ("hashed", shape), ("same", Hashed() as v2) if (
            (both := carried_dicts.joined(ctx, shape, v2)) is not None
        ):  # fmt: skip
            return ("hashed", both)
        case ("object", Object() as v1), _ if is_known_dict(ctx, v1) and is_hashed(ctx, new):
            ctx.must_grow(v1.token, f"`{name}`, a dict (set) whose keys an iteration decides", refusals.RUN_TIME_KEYS)
        case _, ("object", Object() as v2) if is_known_dict(ctx, v2) and is_hashed(ctx, old):
            ctx.must_grow(v2.token, f"`{name}`, a dict (set) whose keys an iteration decides", refusals.RUN_TIME_KEYS)
        case ("object" | "fresh", _), ("object", Object() as v2) if has_other_keys(ctx, old, v2):
            for made in (old[1], v2):
                if isinstance(made, Object) and ctx.grows_at(made.token) is not None:
                    ctx.must_grow(made.token, f"`{name}`, a dict (set) whose keys an iteration decides")
        case ("object", v1), ("object", v2):
            kinds = kind_of(ctx, ctx.deref(v1)), kind_of(ctx, ctx.deref(v2))
            return ("fresh", join_kinds(ctx, name, kinds[0], kinds[1], value, slot))
        case ("fresh", k1), ("object", v2):
            return ("fresh", join_kinds(ctx, name, k1, kind_of(ctx, ctx.deref(v2)), value, slot))
        case ("same", GrowingList()) | ("list", *_), ("object", v2) if isinstance(ctx.deref(v2), GrowingList):
            return ("fresh", join_kinds(ctx, name, old, kind_of(ctx, ctx.deref(v2)), value, slot))
        case ("object", v1), ("same", GrowingList()) if isinstance(ctx.deref(v1), GrowingList):
            return ("fresh", join_kinds(ctx, name, kind_of(ctx, ctx.deref(v1)), new, value, slot))
        case ("same", Hashed()) | ("hashed", _), ("object", v2) if isinstance(ctx.deref(v2), Hashed):
            return ("fresh", join_kinds(ctx, name, old, kind_of(ctx, ctx.deref(v2)), value, slot))
        case ("object", v1), ("same", Hashed()) if isinstance(ctx.deref(v1), Hashed):
            return ("fresh", join_kinds(ctx, name, kind_of(ctx, ctx.deref(v1)), new, value, slot))
        case ("fresh", (("same" | "list" | "table" | "hashed"), *_) as k1), ("same", GrowingList() | Hashed()):
            return ("fresh", join_kinds(ctx, name, k1, new, value, slot))
        case _:
            pass
    pools.wanted_among(ctx, (old, new), f"`{name}` is another object in each iteration")
    before, after = (describe(ctx.deref(v)) for v in (slot, value))
    help = "give it one dtype and one number of dimensions before the loop"
    if before == after and isinstance(value, Array):
        after = "one of other sizes"
        help = "only its first axis may change: append the parts to a list, and put them together after the loop"
    elif isinstance(slot, Object) or isinstance(value, Object):
        after = after if before != after else "another kind of it"
        help = "give it one type before the loop and in it, or use another name"
    problem = f"`{name}` changes its type or shape in the loop: {before} before, {after} after"
    kind = Becomes if old[0] == "scalar" and new[0] in ("array", "dynamic") else NotKnown
    error = kind(refusals.TYPE_DIFFERS, problem, help, ctx.session.span, ctx.session.lines)
    error.settles = True
    raise error


def _as_long(ctx: Context, name: str, kind: Any, inner: Expr | None) -> Any:
    """The kind of an array of any length when it has at most `inner` elements in the next iteration."""
    _, dtype, bound, rest, _ = kind
    if bound == guards.room(ctx, rest):
        return kind  # which is checked when it is put there
    if inner is not None and (b.at_least(bound, inner) or ctx.facts.assume_equal(bound, inner)):
        return kind
    return of_any_length(ctx, name, dtype, rest)


def of_any_length(ctx: Context, name: str, dtype: str, rest: Sequence[Expr]) -> Any:
    """The kind of an array that a loop makes longer than anybody knows: the translation begins anew, with room for it.
    """
    if name not in ctx.learned.lengthened:
        error = NotKnown(
            refusals.RUN_TIME_LENGTH, f"`{name}` may grow in the loop",
            "allocate it at its final size before the loop, or append to a list",
            ctx.session.span, ctx.session.lines,
        )  # fmt: skip
        error.finding = Finding("lengthened", name)
        raise error
    return ("dynamic", dtype, guards.room(ctx, rest), tuple(rest), {})


def of_any_shape(ctx: Context, name: str, dtype: str, ndim: int) -> Any:
    """The same for an array of which a loop changes other sizes than the first, too. For targets that reserve memory:
    devices would need to know how large what iterations make of it may be."""
    of_any_length(ctx, name, dtype, ())
    return ("shaped", dtype, ndim)


def _may_be_equal(ctx: Context, one: Expr, two: Expr) -> bool:
    """Whether a call can tell whether two sizes are equal."""
    return b.difference(one, two) in (0, None) and variables_read(one) | variables_read(two) <= ctx.facts.entry


def _dynamic(
    ctx: Context, name: str, dtype: str, before: Expr, after: Expr | None, rest: tuple[Expr, ...],
    facts: dict[str, Any], slot: Value, counted: bool = False,
) -> Any:  # fmt: skip
    """The kind of an array whose first extent is `before` in one iteration and `after` in the next; with `counted`,
    `after` is only a bound of what is counted there, or None where it has none."""
    bound = bound_of(ctx, before)
    inner = None if after is None else bound_of(ctx, after)
    if after is None or bound is None or inner is None or not b.at_least(bound, inner):
        if after is not None and ctx.facts.assume_equal(before, after):
            return ("dynamic", dtype, before, rest, facts) if counted else ("array", dtype, (before, *rest), facts)
        return of_any_length(ctx, name, dtype, rest)
    return ("dynamic", dtype, bound, rest, facts)

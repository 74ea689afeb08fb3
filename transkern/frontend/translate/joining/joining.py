"""Two values as one: what stands for either, in a form that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.errors import NOT_COMPILED
from transkern.frontend.containers import growing, list_types, rows
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import characters
from transkern.frontend.state.choices import note_chosen
from transkern.frontend.subscripts.storing import is_constant_array
from transkern.frontend.translate.joining.arrays import join_arrays
from transkern.frontend.translate.joining.dicts import dicts_joined, must_be_hashed
from transkern.frontend.translate.joining.halves import half
from transkern.frontend.translate.joining.lists import as_given, join_lists, note_choice, stays
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import difference
from transkern.frontend.values.numbers import is_of_numbers
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.types_of_scalars import scalar_kind
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    Char,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Maybe,
    Object,
    OneOf,
    OrNone,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Unbound,
    Value,
    as_outside,
    children,
    is_outside,
    same_structure,
    with_children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr

if TYPE_CHECKING:
    from transkern.frontend.translate.branching import Branches


def join(body: Branches, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
    """One value that is `one` after `out1` and `two` after `out2`."""
    ctx = body.ctx
    if isinstance(one, Unbound) or isinstance(two, Unbound):
        return one if isinstance(one, Unbound) else two
    differs, help = difference(one, two)
    differ = Unbound(f"`{name}` is {differs}", body.decides, help)
    if isinstance(one, Maybe) or isinstance(two, Maybe):
        flag = ctx.names.variable(f"{name} is set", "bool")
        for value, out in ((one, out1), (two, out2)):
            bound = _bound(value)
            out.append(n.Assign(flag.name, bound or b.FALSE, span=ctx.session.span))
        unknown = next((v.unknown for v in (one, two) if isinstance(v, Maybe) and v.unknown), "")
        one, two = (v.value if isinstance(v, Maybe) else v for v in (one, two))
        joined = one if one == two else join(body, name, one, two, out1, out2)
        return joined if isinstance(joined, Unbound) else Maybe(joined, flag, unknown=unknown)
    if isinstance(one, Row) or isinstance(two, Row):
        return growing.joined_rows(ctx, name, one, two, out1, out2) or differ
    if isinstance(one, Instance) and isinstance(two, Instance):
        if one.pool is not two.pool:
            return differ
        number = ctx.names.variable(name, "index")
        for reference, out in ((one, out1), (two, out2)):
            out.append(n.Assign(number.name, reference.number, span=ctx.session.span))
        return Instance(one.pool, number)
    if isinstance(one, Object) and isinstance(two, Object):
        for token in (one.token, two.token):
            body.merge_contents(token)
    must_be_hashed(body, name, one, two)
    keyed = [ctx.deref(v) if isinstance(v, Object) else v for v in (one, two)]
    if not (isinstance(one, Object) and isinstance(two, Object)) and all(isinstance(v, Hashed) for v in keyed):
        of_both = dicts_joined(body, name, keyed[0], keyed[1], out1, out2)
        if of_both is not None and any(stays(body, name, v) for v in (one, two)):
            note_choice(body, name, one, two, of_both)
        return of_both or differ
    if isinstance(one, Object) and isinstance(two, Object):
        seen = any(stays(body, name, v) for v in (one, two))
        for mine, other in ((one, two), (two, one)):
            if (
                _of_other_lengths(ctx.deref(mine), ctx.deref(other))
                and ctx.heap.sites[mine.token] not in ctx.learned.growing
            ):
                ctx.must_grow(mine.token, differ.why)
        for mine in (one, two) if has_texts_of_numbers(ctx.deref(one), ctx.deref(two)) else ():
            if ctx.heap.sites[mine.token] not in ctx.learned.growing:
                ctx.must_grow(mine.token, differ.why)
        contents = join(body, name, ctx.heap.contents[one.token], ctx.heap.contents[two.token], out1, out2)
        if isinstance(contents, Unbound):
            return contents
        made = body.allocate(contents, name)
        if any(is_outside(ctx.deref(v)) for v in (one, two)) and isinstance(made, Object):
            ctx.heap.contents[made.token] = as_outside(ctx.heap.contents[made.token])
        if seen:  # it is a copy of what is seen elsewhere, too
            note_choice(body, name, one, two, made)
        as_given(body, one, two, made)
        return made
    if isinstance(one, Hashed) and isinstance(two, Hashed):
        return dicts_joined(body, name, one, two, out1, out2) or differ
    if same_structure(one, two):
        items = tuple(
            x if x == y else join(body, name, x, y, out1, out2)
            for x, y in zip(children(one) or (), children(two) or (), strict=True)
        )
        bad = [i for i in items if isinstance(i, (Unbound, Maybe))]
        made = with_children(one, items)
        return bad[0] if bad else as_outside(made) if is_outside(two) else made
    choices = [_choice(v) for v in (one, two)]
    if None in choices and not (_is_char(one) and _is_char(two)):
        choices = [_ascii(body, v, out) if isinstance(v, Char) else c for v, c, out in zip(
            (one, two), choices, (out1, out2), strict=True
        )]  # fmt: skip
    if None not in choices and not (_is_char(one) and _is_char(two)):
        first, second = choices
        assert first is not None and second is not None
        options = tuple(dict.fromkeys((*first.options, *second.options)))
        variable = ctx.names.variable(name, "index")
        for choice, out in ((first, out1), (second, out2)):
            out.append(n.Assign(variable.name, _renumbered(choice, options), span=ctx.session.span))
        note_chosen(ctx, body.choosing, variable)
        return OneOf(variable, options)
    if any(isinstance(v, OrNone) or v == Static(None) for v in (one, two)):
        return _join_none(body, name, one, two, out1, out2) or differ
    codes = [characters.code_of(v) for v in (one, two)]
    if codes[0] is not None and codes[1] is not None:
        variable = ctx.names.variable(name, "index")
        for code, out in ((codes[0], out1), (codes[1], out2)):
            out.append(n.Assign(variable.name, code, span=ctx.session.span))
        return Char(variable)
    if any(isinstance(v, JoinedText) for v in (one, two)):
        texts = [rows.text_of(v) for v in (one, two)]
        if texts[0] is None or texts[1] is None or not ctx.learned.spelling.may_copy:
            return differ
        held = join_lists(body, name, texts[0], texts[1], out1, out2)
        return JoinedText(held, "") if isinstance(held, GrowingList) else held
    lists = [ctx.deref(v) for v in (one, two)]
    known = not any(isinstance(v, GrowingList) for v in lists)
    if all(isinstance(v, (GrowingList, Seq)) for v in lists) and (not known or _differ_at_run_time(body, lists)):
        return join_lists(body, name, lists[0], lists[1], out1, out2)
    x, y = body.number_in(one, out1), body.number_in(two, out2)
    kind = scalar_kind(x, y)
    if kind is not None:
        variable = ctx.names.variable(name, kind[0])
        for joining, out in ((x, out1), (y, out2)):
            place = ctx.scopes.places.get(name, ctx.session.span)
            out.append(n.Assign(variable.name, b.cast(scalar_expr(ctx, joining), kind[0]), span=place))
        if isinstance(x, Array) and isinstance(y, Array):
            return Array((), variable)
        tag = None
        if any(isinstance(v, Scalar) and v.tag is not None for v in (x, y)):
            tag = ctx.names.variable(f"{name} type", "uint8")
            for joining, out in ((x, out1), (y, out2)):
                out.append(n.Assign(tag.name, list_types.tag_of(joining), span=ctx.session.span))
        split = doubts.joined_at(ctx, name, Scalar(variable, kind[1]), (x, y), (out1, out2))
        return doubts.shown(Scalar(variable, kind[1], tag, doubts.of_both(x, y, body.decides, split)))
    captured = [is_constant_array(v) for v in (one, two)]
    if any(captured) and all(c or isinstance(v, Array) for v, c in zip((one, two), captured, strict=True)):
        one, two = _array_in(body, one, out1), _array_in(body, two, out2)
    if isinstance(one, Array) and isinstance(two, Array) and one.ndim == two.ndim and one.dtype == two.dtype:
        joined = join_arrays(body, name, one, two, out1, out2)
        if any(captured) and isinstance(joined, Array):
            ctx.aliasing.chosen[joined.base] = name, body.decides
        return joined
    return differ


def _join_none(
    body: Branches, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]
) -> Value | None:
    """None or a value: a flag, and the value where there is one."""
    ctx = body.ctx
    nothing = [isinstance(v, Static) and v.value is None for v in (one, two)]
    inner = [v.value if isinstance(v, OrNone) else v for v in (one, two)]
    if any(_is_text(v) for v in inner):
        return None
    none = ctx.names.variable(f"{name} is None", "bool")
    for value, absent, out in zip((one, two), nothing, (out1, out2), strict=True):
        holds = value.none if isinstance(value, OrNone) else b.TRUE if absent else b.FALSE
        out.append(n.Assign(none.name, holds, span=ctx.session.span))
    joined: Value
    if any(nothing):
        joined = half(body, name, inner[nothing.index(False)], out1, out2, nothing[1])
    else:
        joined = inner[0] if inner[0] == inner[1] else join(body, name, inner[0], inner[1], out1, out2)
    if isinstance(joined, Unbound):
        return joined
    return OrNone(joined.value if isinstance(joined, Maybe) else joined, none)


def _differ_at_run_time(body: Branches, values: Sequence[Value]) -> bool:
    """Whether two tuples of numbers are of different lengths, and only the run knows which of them it is."""
    lengths = {len(v.items) for v in values if is_of_numbers(v)}
    by_arguments = body.decides is None or body.ctx.facts.is_of_arguments(body.decides)
    return len(lengths) == len(values) and not by_arguments and body.ctx.learned.has_tuples()


def _array_in(body: Branches, value: Value, out: list[n.Stmt]) -> Array:
    """An array, at the end of `out`."""
    return body.at_end(out, lambda: as_array(body.ctx, value))


def _bound(value: Value) -> Expr | None:
    """The condition under which a name has its value; None where a loop is to be translated again to tell."""
    if not isinstance(value, Maybe):
        return b.TRUE
    if value.bound is None and value.told is not None:
        value.told()
    return value.bound


def _choice(value: Value) -> OneOf | None:
    """A text or None as a choice."""
    if isinstance(value, Static) and (value.value is None or type(value.value) is str):
        return OneOf(b.ZERO, (value.value,))
    return value if isinstance(value, OneOf) else None


def _ascii(body: Branches, value: Char, out: list[n.Stmt]) -> OneOf:
    """A character that meets a text of another length, as one of those of ASCII."""
    ctx = body.ctx

    def made() -> OneOf:
        within = b.both(
            b.compare("greater_equal", value.code, b.ZERO), b.compare("less", value.code, b.index(len(CHARACTERS)))
        )
        ctx.guard(within, "RuntimeError", f"a character beyond ASCII beside a text of another length is {NOT_COMPILED}")
        return OneOf(value.code, CHARACTERS)

    return body.at_end(out, made)


def _is_text(value: Value) -> bool:
    return isinstance(value, (OneOf, Text)) or (isinstance(value, Static) and isinstance(value.value, str))


def _is_char(value: Value) -> bool:
    return characters.code_of(value) is not None


def has_texts_of_numbers(*lists: Value) -> bool:
    """Whether texts with run-time numbers stand in one of two lists: they meet only in lists that grow."""
    held = [item for one in lists if isinstance(one, Seq) and one.kind == "list" for item in one.items]
    return any(isinstance(item, Text) for item in held)


def _renumbered(choice: OneOf, options: tuple[str | None, ...]) -> Expr:
    """The choice's number among more options."""
    if options[: len(choice.options)] == choice.options:
        return choice.index
    numbers = [b.index(options.index(o)) for o in choice.options]
    return select(choice.index, numbers)


def _of_other_lengths(one: Value, two: Value) -> bool:
    """Whether `one` is a list that is known, and `two` one of another length."""
    if not isinstance(one, Seq) or one.kind != "list":
        return False
    return isinstance(two, GrowingList) or (isinstance(two, Seq) and len(two.items) != len(one.items))

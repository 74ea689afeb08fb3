"""What assignments put into arrays, lists, dicts and sets, by subscripts."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers import hashed, objects, pools, replacing
from transkern.frontend.containers.rows import as_table
from transkern.frontend.loops import iterating
from transkern.frontend.numpy import flats
from transkern.frontend.python.texts import is_character_or_text
from transkern.frontend.state import choices
from transkern.frontend.subscripts import positions, storing
from transkern.frontend.subscripts.keys import constant_object, constant_slice, key_of
from transkern.frontend.translate import special_methods
from transkern.frontend.values import classes, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import present, scalar_expr
from transkern.frontend.values.values import (
    FUNCTIONS,
    ITEM,
    Array,
    Dict,
    Flat,
    GrowingList,
    Hashed,
    Instance,
    Object,
    OrNone,
    Scalar,
    Seq,
    Slice,
    Static,
    Value,
    is_list,
)  # fmt: skip
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.translate.assigning import Assignments


def store_at(body: Assignments, target: ast.Subscript, owner: Value, items: Sequence[Value], value: Value) -> None:
    """Put a value into what `owner` is, at `items`."""
    if isinstance(owner, OrNone):
        owner = present(body.ctx, owner, "TypeError", "'NoneType' object does not support item assignment")
    base = body.ctx.deref(owner)
    python_types.check_item(body.ctx, lambda of, at: operator.setitem(of, at, ()), base, _key(items))
    if isinstance(base, Hashed):
        hashed.store(body.ctx, base, _key(items), body.kept(value, ITEM))
        return
    if isinstance(owner, Instance) and isinstance(base, Dict):
        objects.store(body.ctx, owner, key_of(body.ctx, items), body.kept(value, ITEM))
        return
    if isinstance(base, Dict):
        _keys_at_run_time(body, owner, items, value)
        body.ctx.change(owner, base.put(key_of(body.ctx, items), body.kept(value, ITEM)))
        return
    if isinstance(base, Seq) and base.kind == "list" and not isinstance(owner, Object):
        _store_inside(body, target)
    if isinstance(base, Seq) and base.kind == "list":
        _store_item(body, owner, base, items, value, target)
        return
    if isinstance(base, GrowingList):
        if isinstance(value, Array) and any(v is value for frame in body.ctx.scopes.frames for v in frame.values()):
            value = body.kept(value, ITEM)  # it stands there under its name, and perhaps elsewhere, too
        replacing.store_item(body.ctx, base, items, value)
        return
    if special_methods.store_item(body.ctx, owner, items, value):
        return
    if isinstance(base, Flat):
        flats.store(body.ctx, base, items, value)
        return
    if isinstance(base, Scalar) or (isinstance(base, Static) and is_number(base)):
        kind = classes.class_of(base)
        assert kind is not None
        name = kind.__name__ if is_python_number(base) else f"numpy.{kind.__name__}"
        body.ctx.guard(b.FALSE, "TypeError", f"'{name}' object does not support item assignment")
    storing.check_own(body.ctx, base, target)
    if not isinstance(base, Array):
        help = "make a list or an array of it first"
        body.ctx.fail(refusals.TARGET, f"a store into {describe(base)}", help, target)
    if not base.view:
        base = body.own(target.value.id if isinstance(target.value, ast.Name) else "", base)
    storing.write(body.ctx, base, items, value)


def _key(items: Sequence[Value]) -> Value:
    return items[0] if len(items) == 1 else Seq(tuple(items))


def _keys_at_run_time(body: Assignments, owner: Value, items: Sequence[Value], value: Value) -> None:
    """A dict gets a key that is known at run time: the translation begins anew, with one that may have such."""
    ctx, key = body.ctx, _key(items)
    choices.fork_for(ctx, key)
    if not hashed.is_run_time_key(ctx, key) or not isinstance(owner, Object):
        return
    if pools.is_object(ctx, value):
        if not isinstance(value, Instance):
            pools.wanted(ctx, value, "an object in a dict whose keys are known at run time only")
    elif not _is_numbers(ctx.deref(value)) and not is_list(ctx.deref(value)):
        _key_of_any_value(body, owner, key, value)
    ctx.must_grow(owner.token, "a dict's key that is known at run time only", refusals.RUN_TIME_KEYS)


def _key_of_any_value(body: Assignments, owner: Object, key: Value, value: Value) -> NoReturn:
    """The same where the values may be different things, as long as the keys are known one by one: what of the key
    can be known comes first."""
    ctx, held = body.ctx, body.ctx.deref(value)
    problem = f"{describe(held)} as a value of a dict whose keys are known at run time"
    try:
        constant_object(ctx, key, problem, refusals.RUN_TIME_KEYS, _in_a_dict(held))
    except (NotKnown, NeedsConstant) as error:
        if isinstance(error, NeedsConstant):
            if error.demand not in ctx.inputs.numbers or not ctx.session.reserves:
                raise
            # an element of a list of labels: no code of its own for each such list
            error = NotKnown(refusals.RUN_TIME_KEYS, problem, _in_a_dict(held), ctx.session.span, ctx.session.lines)
        placed = isinstance(value, Dict) and pools.key_of(value) in ctx.lists.pools
        if pools.key_of(held) is not None and not placed:
            pools.wanted(ctx, value, problem)
        of_keys = isinstance(held, (Dict, Hashed)) and not pools.is_keyed(ctx, held)
        if placed or not (of_keys or isinstance(held, FUNCTIONS)):
            error.finding = ctx.growing_at(owner.token)
        raise error
    raise AssertionError("a key that is known")


def _store_inside(body: Assignments, target: ast.Subscript) -> None:
    """``rows[i][k] = value`` where each row is a short list: the rows become those of a table."""
    if isinstance(target.value, ast.Subscript):
        ctx, owner = body.ctx, body.expr(target.value.value)
        rows = ctx.deref(owner)
        if isinstance(rows, GrowingList):
            as_table(ctx, rows)
        elif (
            isinstance(rows, Seq) and isinstance(owner, Object)
            and ctx.heap.sites[owner.token] not in ctx.learned.growing
        ):
            if all(isinstance(r, Seq) and all(map(_is_numbers, r.items)) for r in map(ctx.deref, rows.items)):
                ctx.learned.tables.add(ctx.heap.sites[owner.token])
                problem = "a store into a list in a list, which of them is known at run time only"
                ctx.must_grow(owner.token, problem, refusals.NESTED_LIST)


def _store_item(
    body: Assignments, owner: Value, base: Seq, items: Sequence[Value], value: Value, node: ast.AST
) -> None:
    """``list[k] = value``."""
    ctx = body.ctx
    positions.check_position(ctx, _key(items), lambda at: operator.setitem([], at, ()))
    at = items[0] if len(items) == 1 else None
    if isinstance(at, Scalar) or (isinstance(at, Array) and not at.axes):
        problem = "a store into a list at a position that is known at run time only"
        of_texts = all(map(is_character_or_text, base.items))
        some = [i.value if isinstance(i, OrNone) else i for i in base.items if i != Static(None)]
        if isinstance(owner, Object) and (of_texts or all(map(_is_numbers, some))):
            ctx.must_grow(owner.token, problem, refusals.SUBSCRIPT)
        help = "make the position a constant, or the elements of one type"
        try:
            ctx.must_be_known(Scalar(scalar_expr(ctx, at)), problem, help, refusals.SUBSCRIPT)
        except NotKnown as error:
            if error.finding is None and isinstance(owner, Object):
                error.finding = ctx.growing_at(owner.token)
            raise
    if isinstance(at, Slice):
        _store_slice(body, owner, base, at, value, node)
        return
    if at is None or not isinstance(at, Static):
        ctx.fail(refusals.SUBSCRIPT, f"a store into {describe(base)}", "give one position, or a slice", node)
    changed: list[Value] = list(base.items)
    try:
        changed[at.value] = at
    except IndexError as error:
        ctx.guard(b.FALSE, "IndexError", str(error))
    changed[at.value] = body.kept(value, ITEM)
    ctx.change(owner, Seq(tuple(changed), "list"))


def _store_slice(body: Assignments, owner: Value, base: Seq, at: Slice, value: Value, node: ast.AST) -> None:
    """``list[a:b] = values``."""
    ctx = body.ctx
    replacing.check_iterable(ctx, at, value)
    value = iterating.made_now(ctx, value)
    contents = ctx.deref(value)
    if isinstance(contents, (GrowingList, Array)) and b.constant(replacing.how_many(ctx, contents)) is None:
        problem = "a store into a slice of a list of so many elements as only the run knows"
        one_by_one = at.step in (None, Static(None), Static(1))
        if one_by_one and isinstance(owner, Object) and all(map(_is_numbers, base.items)):
            ctx.must_grow(owner.token, problem)
        ctx.fail(refusals.RUN_TIME_LENGTH, problem, replacing.IN_SLICES, node)
    changed = list(base.items)
    items = [body.kept(i, ITEM) for i in body.elements(value, None, node)]
    asked(ctx, operator.setitem, changed, constant_slice(ctx, at), items)
    ctx.change(owner, Seq(tuple(changed), "list"))


def _in_a_dict(value: Value) -> str:
    """What to write for a value that no dict holds whose keys are known at run time."""
    match value:
        case Dict() | Hashed():
            return "keep lists in it, or take keys that are pairs: d[a, b] = value"
        case Static(None):
            return "take a number that stands for it"
        case _ if isinstance(value, FUNCTIONS):
            return "keep numbers, and choose the function by them with `if`"
        case _:
            return "keep them in a list, and their positions in the dict: d[key] = len(held), held.append(value)"


def _is_numbers(value: Value) -> bool:
    """A number, or a tuple of numbers."""
    if isinstance(value, Seq) and value.kind == "tuple":
        return all(_is_numbers(i) for i in value.items)
    return is_number(value) or isinstance(value, Scalar)

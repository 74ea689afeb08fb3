"""Operators in place: `x += y` on numbers, arrays, lists and sets, under names, in items and attributes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from transkern import refusals
from transkern.frontend.bodies import At
from transkern.frontend.containers import hashed_sets, sequences
from transkern.frontend.containers.attribute_stores import check_frozen, put_attribute, set_by_property
from transkern.frontend.containers.item_stores import store_at
from transkern.frontend.numpy import flats, outputs
from transkern.frontend.numpy.elementwise import loop_types
from transkern.frontend.python import characters
from transkern.frontend.subscripts import storing
from transkern.frontend.subscripts.indexing import subscript
from transkern.frontend.syntax.own_lists import IS_SUM
from transkern.frontend.translate import attributes, object_operators, special_methods
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values import doubtful, doubts, large, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.scalars import present
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Char,
    Dict,
    Flat,
    GrowingList,
    Hashed,
    Object,
    OneOf,
    Record,
    Row,
    Seq,
    Slice,
    Static,
    Value,
    children,
    is_list,
    lies,
    with_children,
)
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.translate.assigning import Assignments


def augment(body: Assignments, target: ast.expr, op: str, value: ast.expr) -> None:
    ctx = body.ctx
    if isinstance(target, ast.Name):
        old = body.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        old, new = _beside(body, old, value)
        if op == "add" and isinstance(old, (Char, OneOf)):
            ctx.learned.spelling.names.add(target.id)
            ctx.learned.spelling.asked = True
        made = object_operators.in_place(ctx, op, old, new)
        if made is not None:
            body.assign(target, made)
            return
        held = ctx.deref(old)
        storing.check_own(ctx, held)
        if (not hasattr(target, IS_SUM) or is_list(ctx.deref(new))) and _is_changed(body, op, old, new):
            return
        if isinstance(old, Array):
            if not lies(old):
                old = body.own(target.id, old)
            storing.write(ctx, old, [Static(Ellipsis)], updated(body, op, old, new), casting=op)
            return
        body.assign(target, body.operate(op, old, new, in_place=not hasattr(target, IS_SUM)))
        return
    if isinstance(target, ast.Attribute):
        missing = f"'NoneType' object has no attribute '{target.attr}'"
        owner = present(ctx, body.expr(target.value), "AttributeError", missing)
        if isinstance(owner, Array) and not owner.view and isinstance(target.value, ast.Name):
            owner = body.own(target.value.id, owner)
        old = attributes.attribute(ctx, owner, target.attr)
        if special_methods.method(ctx, old, object_operators.in_place_name(op)) is not None:
            problem = "an operator in place on an object that is an attribute"
            sign = python_types.SYMBOLS.get(op, "**")
            help = f"give the object a name first: {target.attr} = …; {target.attr} {sign}= …"
            ctx.fail(refusals.OBJECT, problem, help, target)
        if isinstance(old, Array):
            result = updated(body, op, old, body.expr(value))
            storing.write(ctx, old, [Static(Ellipsis)], result, casting=op)
            _left_in_place(body, owner, target, [], old)
        elif _is_changed(body, op, old, new := body.expr(value)):
            _left_in_place(body, owner, target, [], old)
        else:
            put_attribute(body, target, owner, body.operate(op, old, new, in_place=True))
        return
    assert isinstance(target, ast.Subscript)
    owner = body.expr(target.value)
    base = ctx.deref(owner)
    items = [_settle_item(body, i) for i in body.items(target.slice, base)]
    with At(ctx, target, body.scope.file):
        if isinstance(owner, Object) and isinstance(base, Dict):
            old = body.at_key(owner, items)
        else:
            old = subscript(ctx, owner if isinstance(base, Record) else base, items)
    if isinstance(base, Array) and not base.view:
        base = body.own(target.value.id if isinstance(target.value, ast.Name) else "", base)
        old = subscript(ctx, base, items)
    if isinstance(base, (Seq, Dict, GrowingList, Hashed, Record)) and isinstance(old, Array) and lies(old):
        storing.write(ctx, old, [Static(Ellipsis)], updated(body, op, old, body.expr(value)), casting=op)
        _left_in_place(body, owner, target, items, old)
        return
    if special_methods.method(ctx, old, object_operators.in_place_name(op)) is not None:
        problem = "an operator in place on an object that is an item"
        help = f"give the object a name first: item = …; item {python_types.SYMBOLS.get(op, '**')}= …"
        ctx.fail(refusals.OBJECT, problem, help, target)
    old, new = _beside(body, old, value)
    if _is_changed(body, op, old, new):
        _left_in_place(body, owner, target, items, old)
        return
    result = updated(body, op, old, new)
    if isinstance(base, Dict) and (conditions := characters.matches(base.keys, items[0])) is not None:
        # the key is one of the dict's, as it has been read
        changed = [
            body.either(c, result, v, [], []) for c, v in zip(conditions, base.items, strict=True)
        ]  # fmt: skip
        ctx.change(owner, with_children(base, tuple(body.kept(v, ITEM) for v in changed)))
        return
    if isinstance(base, Flat):
        flats.store(ctx, base, items, result)
    elif isinstance(base, Array):
        storing.write(ctx, base, items, result, casting=op if lies(old) else None)
    else:
        store_at(body, target, owner, items, result)


def _beside(body: Assignments, old: Value, value: ast.expr) -> tuple[Value, Value]:
    """What an operator in place updates, and the other operand."""
    with waiting(body.ctx) as those:
        those.put(old)
        new = body.expr(value)
    return those.values[0], new


def _left_in_place(
    body: Assignments, owner: Value, target: ast.Subscript | ast.Attribute, items: Sequence[Value], value: Value
) -> None:  # fmt: skip
    """What an operator has changed in place is then assigned to where it stood, which may not be allowed, or be a
    function of the user's."""
    ctx = body.ctx
    base = ctx.deref(owner)
    if isinstance(target, ast.Subscript):
        if isinstance(base, Seq) and base.kind == "tuple":
            ctx.guard(b.FALSE, "TypeError", "'tuple' object does not support item assignment")
        elif isinstance(base, Record) and not special_methods.store_item(ctx, owner, items, value):
            problem = f"an operator in place on an item of {describe(base)}"
            ctx.fail(refusals.OBJECT, problem, "give what it changes a name", target)
    elif isinstance(base, Record) and base.is_tuple:
        ctx.guard(b.FALSE, "AttributeError", "can't set attribute")
    else:
        check_frozen(body, base, target)
        set_by_property(body, owner, target.attr, value)


def _is_changed(body: Assignments, op: str, old: Value, new: Value) -> bool:
    """Whether ``old op= new`` has changed the very list or set; with NumPy's numbers and arrays a list is an array
    afterwards."""
    ctx = body.ctx
    held, given = ctx.deref(old), ctx.deref(new)
    if is_list(held) and op in ("add", "multiply"):
        if op == "add" and python_types.is_numpy(given):
            return False
        python_types.check(ctx, python_types.BINARY[op][1], held, given)
        if op == "add":
            sequences.extend(ctx, old, new)
            return True
    elif not isinstance(python_types.example(ctx, held), set):
        return False
    if op in hashed_sets.OPERATORS and (isinstance(held, Hashed) or python_types.known_set(given) is None):
        python_types.check(ctx, python_types.BINARY[op][1], held, given)
        if isinstance(held, Hashed):
            hashed_sets.change(ctx, held, op, new)
            return True
        if isinstance(old, Object):
            problem = f"`{python_types.SYMBOLS[op]}=` of a set and one that is known at run time only"
            ctx.must_grow(old.token, problem)
    made = ctx.deref(body.operate(op, old, new, in_place=True))
    if isinstance(old, Object) and isinstance(made, Seq):
        ctx.change(old, made)
        return True
    names = [name for frame in ctx.scopes.frames for name, value in frame.items() if value == old]
    if (
        len(names) > 1 or isinstance(old, Row)
        or any(old in (children(v) or ()) for v in ctx.heap.contents.values())
    ):
        problem = "an operator in place on a list or set that has several names"
        ctx.fail(refusals.TWO_NAMES, problem, "call its method instead: `extend` of a list, `update` of a set")
    return False


def _settle_item(body: Assignments, item: Value) -> Value:
    return item if isinstance(item, Slice) else body.settle(item, "at")


def updated(body: Assignments, op: str, old: Value, new: Value) -> Value:
    """What ``old op= new`` leaves; an array takes it in place."""
    if isinstance(old, Array):
        new = outputs.operand(body.ctx, new)
        outputs.check_writable(body.ctx, [old])
    if isinstance(old, Array) and doubts.doubts_of([new]) and _depends_on_type(body, op, old, new):
        dtype = old.dtype

        def compute(given: Sequence[Value]) -> Value:
            made = updated(body, op, *given)
            return replace(made, body=b.cast(made.body, dtype)) if isinstance(made, Array) else made

        chosen = doubtful.chosen_array(body.ctx, [old, new], compute)
        if chosen is not None:
            return chosen
    if isinstance(old, Array) and op != "matmul":
        if large.is_large(new):
            asked(body.ctx, getattr(np, op), np.ones(1, old.dtype), new.value)
        outputs.check_casts(body.ctx, op, [old, new], [old])
        old, new = outputs.fitting(body.ctx, [old, new], [old])
    return body.operate(op, old, new, in_place=True)


def _depends_on_type(body: Assignments, op: str, old: Array, new: Value) -> bool:
    """Whether NumPy computes ``old op= new`` in another dtype for each type that a number may have."""
    if op == "matmul":
        return False
    return len(doubts.outcomes([old, new], lambda given: loop_types(body.ctx, getattr(np, op), given, None))) > 1

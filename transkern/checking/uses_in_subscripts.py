"""What subscripts say of the names that they take from, and of those they look up."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.checking.axes import COUNT, UNKNOWN, VECTOR, Axes, together
from transkern.checking.uses_in_operators import (
    compared_with,
    is_new,
    texts_of,
)

if TYPE_CHECKING:
    from transkern.checking.uses import Looking


def subscripted(look: Looking, node: ast.Subscript) -> Axes:
    if isinstance(node.value, ast.Dict):
        return looked_up(look, node.value, node.slice)
    owner = look.value(node.value)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if path := look.path(node.value):
        return grid(look, path, items)
    if owner.shape is not None:
        return size_of(look, owner.shape, node.slice)
    if owner.text is not None:
        texts_of(look, look.value(node.slice), owner.text)
        return UNKNOWN
    if any(isinstance(i, ast.Constant) and isinstance(i.value, str) for i in items):
        for name, _ in owner.of:
            look.uses[name].other = look.uses[name].other or "it is subscripted with texts"
        return UNKNOWN
    place = _number(node.slice)
    if owner.items is not None and place is not None and -len(owner.items) <= place < len(owner.items):
        return owner.items[place]
    if owner.parameter:
        use = look.uses[owner.parameter]
        use.items = max(use.items, place + 1 if place is not None and place >= 0 else 0)
        use.beyond |= place is None
    return indexed(look, owner, items)


def grid(look: Looking, path: str, items: Sequence[ast.expr]) -> Axes:
    """``np.c_[x, y]``, ``np.mgrid[:n, :m]``."""
    name = path.rpartition(".")[2]
    for item in items:
        for part in (item.lower, item.upper) if isinstance(item, ast.Slice) else (item,):
            if part is not None:
                look.value(part)
    if name in ("mgrid", "ogrid"):
        return Axes(items=(Axes(least=len(items)),) * len(items))
    return Axes(least=2) if name == "c_" else VECTOR if name == "r_" else UNKNOWN


def indexed(look: Looking, owner: Axes, items: Sequence[ast.expr]) -> Axes:
    taken, made, known, arrays, least = 0, 0, True, list[Axes](), 0
    for item in items:
        if isinstance(item, ast.Slice):
            for part in (item.lower, item.upper, item.step):
                if part is not None:
                    look.count(look.value(part))
            least += 1
        elif is_new(item):
            made += 1
        elif isinstance(item, ast.Constant) and item.value is Ellipsis:
            continue
        else:
            found = look.value(item)
            if not found.mask:
                look.count(found)
            for name in found.whole:
                look.uses[name].index = True
            least += 1
            if found.mask:
                rank = look.rank(found)
                if isinstance(item, ast.UnaryOp) or not found.of:
                    look.at_least(found, 1)
                known = known and rank is not None
                taken, made = taken + max(rank or 1, 1), made + 1
            elif look.is_place(found):
                taken += 1
                if found.of:
                    arrays.append(found)
            else:
                known = known and found.known
                taken += 1
                arrays.append(found)
    real = [a for a in arrays if look.is_array(a)]
    for open_ in arrays if real else []:  # what stands beside an array of places is one, too
        look.at_least(open_, 1)
    if real:
        made += max(look.rank(a) or 1 for a in real)
    look.at_least(owner, max(least, any(not below for _, below in owner.of)))
    made_of = replace(owner.without(taken - made), known=owner.known and known, integer=owner.integer)
    if len(items) == len(arrays) == 1 and arrays[0].parameter and not real and (look.rank(owner) or 0) > 1:
        return replace(made_of, key=(arrays[0].parameter, look.rank(owner) or 0))
    return made_of


def looked_up(look: Looking, table: ast.Dict, key: ast.expr) -> Axes:
    """``{'mean': 0, 'max': 1}[kind]``."""
    found = look.value(key)
    for known in table.keys[:1]:
        if known is not None:
            compared_with(look, found, known)
    return together([look.value(v) for v in table.values]).alone()


def size_of(look: Looking, owner: Axes, index: ast.expr) -> Axes:
    """``x.shape[k]``, ``x.shape[:2]``."""
    place = _number(index)
    if place is not None:
        look.at_least(owner, place + 1 if place >= 0 else -place)
        return COUNT
    if isinstance(index, ast.Slice):
        for bound in (index.lower, index.upper):
            if (number := _number(bound)) is not None:
                look.at_least(owner, number if number >= 0 else -number)
        return Axes(least=1, integer=True)
    look.count(look.value(index))
    return COUNT


def _number(node: ast.expr | None) -> int | None:
    """The integer that an expression is written as."""
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None

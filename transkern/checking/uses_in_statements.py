"""What branches, loops and checks say of names."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from transkern.checking.axes import COUNT, VECTOR, Axes, either, together
from transkern.checking.uses_in_operators import (
    compared_with,
    truth,
)

if TYPE_CHECKING:
    from transkern.checking.uses import Looking


def branch(look: Looking, node: ast.If) -> bool:
    truth(look, node.test)
    before = dict(look.names)
    ended = look.block(node.body)
    first, look.names = look.names, before
    if ended and not node.orelse and isinstance(node.body[-1], ast.Raise):
        holds(look, node.test, False)
    other_ended = look.block(node.orelse)
    if other_ended:
        look.names = first
    elif not ended:
        for name in first.keys() & look.names.keys():
            look.names[name] = either(look.names[name], first[name])
        look.names = first | look.names
    return ended and other_ended


def matched(look: Looking, subject: ast.expr, cases: Sequence[ast.match_case]) -> None:
    found = look.value(subject)
    for case in cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchValue):
                compared_with(look, found, pattern.value)
        look.block(case.body)


def holds(look: Looking, test: ast.expr, wanted: bool = True) -> None:
    """A condition without which the function raises."""
    match test:
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == wanted:
            for value in values:
                holds(look, value, wanted)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            holds(look, operand, not wanted)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            equal = isinstance(op, ast.Eq if wanted else ast.NotEq)
            bounds: dict[type[ast.cmpop], int] = {ast.GtE: 0, ast.Gt: 1} if wanted else {ast.Lt: 0, ast.LtE: 1}
            number = right.value if isinstance(right, ast.Constant) and type(right.value) is int else None
            if number is not None and (owner := ranked(look, left)) is not None:
                if equal:
                    look.exactly(owner, number)
                elif type(op) in bounds:
                    look.at_least(owner, number + bounds[type(op)])
            elif number is not None and equal:
                sized(look, left, number)


def ranked(look: Looking, node: ast.expr) -> Axes | None:
    """The array whose number of axes an expression is."""
    match node:
        case ast.Attribute(value=value, attr="ndim"):
            return look.value(value)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=value, attr="shape")]):
            return look.value(value)
        case ast.Call(func=ast.Attribute(attr="ndim"), args=[value]):
            return look.value(value)
    return None


def sized(look: Looking, node: ast.expr, size: int) -> None:
    """An expression that is a size, and which."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            owner, axis = look.value(value), 0
        case ast.Subscript(
            value=ast.Attribute(value=value, attr="shape"), slice=ast.Constant(value=int() as axis)
        ):
            owner = look.value(value)
        case _:
            return
    look.at_least(owner, axis + 1)
    for name, below in owner.of[: len(owner.of) == 1]:
        look.uses[name].sizes[axis + below] = size


def unpacked(look: Looking, targets: Sequence[ast.expr], found: Axes) -> None:
    if any(isinstance(t, ast.Starred) for t in targets):
        part = found.without(1)
    elif found.items is not None and len(found.items) == len(targets):
        for target, item in zip(targets, found.items, strict=True):
            look.bind(target, item)
        return
    elif found.shape is not None:
        look.exactly(found.shape, len(targets))
        part = COUNT
    elif found.each is not None:
        look.exactly(found.each, len(targets))
        part = found.alone() if found.known else VECTOR
    else:
        look.at_least(found, 1)
        if len(found.of) == 1:
            ((name, below),) = found.of
            look.uses[name].sizes[below] = len(targets)
            if not below:
                look.uses[name].items = max(look.uses[name].items, len(targets))
        part = element(look, found)
    for target in targets:
        look.bind(target, part)


def element(look: Looking, found: Axes) -> Axes:
    """An element of it: what loops go through."""
    if found.items:
        return together(found.items)
    if found.integer or found.shape is not None:
        return COUNT if found.least <= 1 else replace(found.without(1), integer=True)
    look.at_least(found, 1)
    return found.without(1)


def iterate(look: Looking, target: ast.expr | None, source: ast.expr) -> None:
    """A loop over an expression."""
    part = gone_through(look, source)
    if target is None:
        return
    if isinstance(target, ast.Tuple) and part.items is None and len(part.of) == 1 and not part.least:
        ((name, below),) = part.of
        look.uses[name].axes(below + 1)
        look.uses[name].sizes[below] = len(target.elts)
    look.bind(target, part)


def gone_through(look: Looking, source: ast.expr) -> Axes:
    match source:
        case ast.Call(func=ast.Name(id="range"), args=args):
            for a in args:
                look.count(look.value(a))
            return COUNT
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
            return Axes(items=(COUNT, gone_through(look, first)))
        case ast.Call(func=ast.Name(id="zip"), args=args):
            plain = [a for a in args if not isinstance(a, ast.Starred)]
            for a, other in pairwise(plain):
                look.paired(look.value(a), look.value(other))
            return Axes(items=tuple(gone_through(look, a) for a in plain))
        case ast.Call(func=ast.Name(id="reversed" | "sorted"), args=[first, *_]):
            return gone_through(look, first)
    found = look.value(source)
    look.whole_array(found)
    return element(look, found)


def comprehension(look: Looking, generators: Sequence[ast.comprehension], values: Sequence[ast.expr]) -> Axes:
    names = dict(look.names)
    for generator in generators:
        iterate(look, generator.target, generator.iter)
        for test in generator.ifs:
            truth(look, test)
    found = together([look.value(v) for v in values])
    look.names = names
    return found.alone()

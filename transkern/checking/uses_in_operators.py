"""What operators and comparisons say of the names in their operands."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.checking.axes import NUMBER, UNKNOWN, VECTOR, Axes, together
from transkern.checking.names import is_plural

if TYPE_CHECKING:
    from transkern.checking.uses import Looking


ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)


def bits(look: Looking, *sides: tuple[ast.expr, Axes]) -> None:
    for (_, found), (other_node, other) in (sides, sides[::-1]):
        number = isinstance(other_node, ast.Constant) and type(other_node.value) is int
        for name in found.whole if not found.mask else ():
            if number or other.integer:
                look.uses[name].count = True
            else:
                look.uses[name].bits = True


def unary(look: Looking, op: ast.unaryop, operand: ast.expr) -> Axes:
    if isinstance(op, ast.Not):
        return truth(look, operand)
    found = look.value(operand)
    if isinstance(op, ast.Invert):
        for name in found.whole if not found.mask else ():
            look.uses[name].bits = True
        return replace(found, mask=True, whole=())
    return replace(found, parameter="")


def truth(look: Looking, node: ast.expr) -> Axes:
    """An expression that must be true or not, as a whole."""
    match node:
        case ast.BoolOp(values=values):
            return together([truth(look, v) for v in values])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return truth(look, operand)
    found = look.value(node)
    if isinstance(node, ast.Name) and found.parameter:
        look.uses[found.parameter].truth = True
    else:
        look.at_most(found, 0)
    return found


def operated(look: Looking, left: ast.expr, op: ast.operator, right: ast.expr) -> Axes:
    first, second = look.value(left), look.value(right)
    both = together((first, second))
    look.whole_array(first)
    look.whole_array(second)
    if _gets_axes(left) != _gets_axes(right):
        wider, other = (first, second) if _gets_axes(left) else (second, first)
        if wider.known and (name := other.parameter) and (isinstance(op, ast.Sub) or is_plural(name)):
            look.beside[wider.alone(), name] = None
    match op:
        case ast.MatMult():
            return look.product(first, second, left, right)
        case ast.LShift() | ast.RShift():
            look.count(both)
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            bits(look, (left, first), (right, second))
            return replace(both, mask=first.mask or second.mask, whole=())
        case ast.Mult() if isinstance(left, ast.List) or isinstance(right, ast.List):
            look.count(second if isinstance(left, ast.List) else first)
            return VECTOR
        case ast.Add() if isinstance(left, ast.Tuple) or isinstance(right, ast.Tuple):
            look.shape_or_more(second if isinstance(left, ast.Tuple) else first)
            return replace(UNKNOWN, integer=True)
        case ast.Add() | ast.Sub() | ast.Mult() | ast.Div():
            look.paired(first, second)
    match op:
        case ast.FloorDiv():
            look.maybe_count(first)
        case ast.Mod():
            if isinstance(right, ast.Constant) and type(right.value) is int:
                look.maybe_count(first)
        case ast.Pow():
            if isinstance(left, ast.Constant) and type(left.value) is int:
                look.maybe_count(second)
    constants = [x.value for x in (left, right) if isinstance(x, ast.Constant)]
    if isinstance(op, ast.Div) or any(isinstance(value, (float, complex)) for value in constants):
        if not any(isinstance(value, complex) for value in constants):
            look.real(both)
        return replace(both, whole=(), integer=False)
    return both


def comparison(look: Looking, node: ast.Compare) -> Axes:
    sides = [node.left, *node.comparators]
    found = [look.value(s) for s in sides]
    for op, (left, first), (right, second) in zip(
        node.ops, zip(sides, found, strict=True), zip(sides[1:], found[1:], strict=True), strict=False
    ):
        if isinstance(op, (ast.Is, ast.IsNot)):
            return NUMBER
        for value, other_node, other in ((first, right, second), (second, left, first)):
            compared_with(look, value, other_node)
            whole = isinstance(other_node, ast.Constant) and type(other_node.value) is int
            if other.integer or (whole and isinstance(op, (ast.Eq, ast.NotEq))):
                look.maybe_count(value)
        if isinstance(op, (ast.In, ast.NotIn)):
            if second.text is not None:
                texts_of(look, first, second.text)
            return NUMBER
        look.paired(first, second)
    return replace(together(found), mask=True, whole=(), integer=False)


def compared_with(look: Looking, found: Axes, other: ast.expr) -> None:
    """What is compared with texts is one; what an element of is holds them."""
    texts = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
    for text in texts:
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and found.known:
            texts_of(look, found, text.value)


def texts_of(look: Looking, found: Axes, text: str = "") -> None:
    """An expression is a text, for example this one; what it is an element of holds them."""
    if found.parameter:
        use = look.uses[found.parameter]
        use.text = text if use.text is None else use.text
    for name, below in found.of:
        if below > 0:
            look.uses[name].other = look.uses[name].other or "it holds texts"


def _gets_axes(node: ast.expr) -> bool:
    """Whether it is a subscript that makes an axis: ``masses[:, None]``."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(index, ast.Tuple) and any(map(is_new, index.elts))


def is_new(item: ast.expr) -> bool:
    """Whether a subscript takes no axis, and makes one: ``None``."""
    if isinstance(item, ast.Attribute):
        return item.attr == "newaxis"
    return isinstance(item, ast.Constant) and item.value is None

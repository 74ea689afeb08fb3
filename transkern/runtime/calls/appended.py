"""Lists of an argument that a function does nothing with but append to them, as its text says.

    class Model:
        def step(self, x, y):
            loss = ...
            self.history.append(loss)

What such a list holds already takes no part in the call, however much it is and of whatever types: it is not passed,
and what the function has appended is appended to it afterwards. A place in an argument is the attribute of an object,
and the keys and positions in dicts and lists in it or in the argument itself: ``self.logs["loss"]`` is
``("logs", "loss")``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable

Place = tuple[str | int, ...]


class Places(ast.NodeVisitor):
    """The places of a parameter that a function appends to in statements, and those that it uses in any other way.

    `is_object` whether the parameter stands for an object; `mangled` gives the names of its attributes; `left_out` are
    the nodes where it stands for itself and nothing is read."""

    def __init__(
        self, parameter: str, is_object: bool, mangled: Callable[[str], str], left_out: Collection[int] = ()
    ) -> None:
        self.parameter, self.is_object, self.mangled, self.left_out = parameter, is_object, mangled, left_out
        self.appended: set[Place] = set()
        self.used: set[Place] = set()

    def only_appended(self) -> frozenset[Place]:
        return only_appended(self.appended, self.used)

    def visit_Expr(self, node: ast.Expr) -> None:
        match node.value:
            case ast.Call(ast.Attribute(of, "append" | "extend"), [value], []) if not isinstance(value, ast.Starred):
                place, is_whole = self._place(of)
                if place is not None and is_whole:
                    self.appended.add(place)
                    self.visit(value)
                    return
            case _:
                pass
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            place, _ = self._place(node)
            if place is not None:
                self.used.add(place)
                while isinstance(node, (ast.Attribute, ast.Subscript)):
                    if isinstance(node, ast.Subscript):
                        self.visit(node.slice)
                    node = node.value
                return
        super().generic_visit(node)

    def _place(self, node: ast.expr) -> tuple[Place | None, bool]:
        """The place that an expression is in, and whether it is all of it, or of what is there a part."""
        match node:
            case ast.Name(name) if name == self.parameter and id(node) not in self.left_out:
                return (), True
            case ast.Attribute(of, attribute):
                place, is_whole = self._place(of)
                if is_whole and place == () and self.is_object:
                    return (self.mangled(attribute),), True
            case ast.Subscript(of, index):
                place, is_whole = self._place(of)
                if is_whole and place is not None and (place or not self.is_object):
                    if isinstance(index, ast.Constant) and isinstance(index.value, (str, int)):
                        return (*place, index.value), True  # (a position from the end is no constant: -1 is ``-`` of 1)
            case _:
                return None, False
        return place, False


def only_appended(appended: Iterable[Place], used: Collection[Place]) -> frozenset[Place]:
    """Of the places that are appended to those that nothing else is done with, nor with what they are in or hold."""
    return frozenset(p for p in appended if not any(p[: len(q)] == q[: len(p)] for q in used))


def below(places: Iterable[Place], step: object) -> frozenset[Place]:
    """The places in what is at the first step of them."""
    return frozenset(p[1:] for p in places if p and p[0] == step)

"""Pieces of JAX's text: numbers, subscripts, tuples."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

import numpy as np

from transkern.targets.pallas.printing.quote import call, constant, quote


def literal(value: bool | int | float | complex, dtype: str) -> ast.expr:
    """A number as text; of Python's, JAX takes none that needs all bits of a type without a sign."""
    written = constant(value)
    needs_all = dtype in ("uint32", "uint64") and isinstance(value, int) and value >= np.iinfo(dtype).max // 2 + 1
    return quote(f"np.{dtype}(_0)", written) if needs_all else written


def is_literal(node: ast.expr) -> bool:
    """Whether a value is written as a Python number."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def is_true(node: ast.expr) -> bool:
    """Whether the text is that of a truth that holds."""
    return ast.unparse(node) in ("True", "jnp.bool_(True)")


def is_zero(node: ast.expr, sign: float) -> bool:
    """Whether a value is written as the zero of that sign."""
    if not is_literal(node):
        return False
    value = ast.literal_eval(node)
    return value == 0 and math.copysign(1.0, value) == sign


def subscript(node: ast.expr, items: list[ast.expr]) -> ast.expr:
    return ast.Subscript(node, pack(items), ast.Load())


def pack(items: list[ast.expr]) -> ast.expr:
    return items[0] if len(items) == 1 else ast.Tuple(items, ast.Load())


def as_index(items: list[ast.expr]) -> ast.expr:
    """What stands in square brackets, as a value of its own."""
    made = [
        call("slice", [x or ast.Constant(None) for x in (i.lower, i.upper, i.step)]) if isinstance(i, ast.Slice) else i
        for i in items
    ]
    return pack(made)


def constant_tuple(values: Iterable[int]) -> ast.expr:
    return ast.Tuple([ast.Constant(v) for v in values], ast.Load())

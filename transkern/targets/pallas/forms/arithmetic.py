"""Where XLA's arithmetic is not NumPy's: sums that it merges, zeros that it drops, quotients of indices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.targets.pallas.forms.pieces import is_zero
from transkern.targets.pallas.forms.values import Value
from transkern.targets.pallas.printing.quote import assign, call, name, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.vector import Vector


def merged(vector: Vector, e: Apply) -> list[bool]:
    """For each operand whether XLA may merge it with the operation, or know it for a zero that it leaves out."""
    of = vector.module.origins
    zeros = e.op in ("add", "subtract")
    return [
        merged or (zeros and not is_apart(vector, a) and of.may_be_constant(a))
        for a, merged in zip(e.args, of.are_merged(e), strict=True)
    ]


def is_apart(vector: Vector, expr: Expr) -> bool:
    """Whether XLA does not know a value, though it may be a constant: a name's were kept apart as it was bound."""
    named = isinstance(expr, Var) and expr.name not in vector.module.static
    return named or isinstance(expr, Const) or (isinstance(expr, Load) and not expr.index)


def plus_zero(vector: Vector, e: Apply, args: list[Value]) -> Value | None:
    """What 0.0 is added to, or -0.0 taken from: XLA leaves that out, so that -0.0 stays."""
    if e.op == "add":
        return next((y for x, y in (args, args[::-1]) if is_zero(x.node, 1.0)), None)
    return args[0] if e.op == "subtract" and is_zero(args[1].node, -1.0) else None


def may_be_reciprocal(vector: Vector, e: Apply, args: list[Value]) -> bool:
    """Whether XLA would multiply by a reciprocal: it may know the divisor, or that is the same along an axis."""
    divisor = vector.module.origins.may_be_constant(e.args[1])
    return divisor or args[0].axes != args[1].axes or not args[0].axes


def index_division(vector: Vector, e: Apply, args: list[Value]) -> ast.expr:
    """Python's `//` and `%`; by a power of two as a shift, as vectors divide slowly."""
    x, y = e.args
    value = b.constant(y)
    if value is not None and value > 0 and value & (value - 1) == 0:
        template = f"_0 >> {value.bit_length() - 1}" if e.op == "floor_divide" else f"_0 & {value - 1}"
        return quote(template, args[0].node)
    if b.is_nonnegative(x) and b.is_nonnegative(y):
        both = [vector.typed(a, "index") if a.static else a.node for a in args]
        return quote("lax.div(_0, _1)" if e.op == "floor_divide" else "lax.rem(_0, _1)", *both)
    if e.op == "floor_divide":
        return call(vector.module.helper("_floor_divided"), [args[0].node, args[1].node])
    return quote("jnp.remainder(_0, _1)", args[0].node, args[1].node)


def spell(vector: Vector, template: str, args: list[Value]) -> ast.expr:
    """`template` of the arguments; one that it names twice gets a name first."""
    nodes = []
    for position, a in enumerate(args):
        node = a.node
        if template.count(f"_{position}") > 1 and not isinstance(node, (ast.Name, ast.Constant)):
            temporary = vector.module.fresh("value")
            vector.out.append(assign(temporary, node))
            node = name(temporary)
        nodes.append(node)
    return quote(template, *nodes)

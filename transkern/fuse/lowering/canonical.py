"""One spelling for what is the same whatever it stands in:

    if not c: A; else: B        if c: B; else: A
    if a: (if b: A)             if a and b: A
    a & b, of truth values      a and b (both are computed)

Passes behind need to know one of each then.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.traverse import map_block, with_bodies
from transkern.records import replace

_LOGICAL = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not",
}  # fmt: skip


def canonicalise(program: n.Program) -> n.Program:
    """The program with conditions and truth values in one form."""
    return replace(program, body=_block(map_block(program.body, _expression)))


def name_squares(program: n.Program) -> n.Program:
    """The program with squares by their name: ``x * x`` is ``square(x)``, and `x` is computed once."""
    return replace(program, body=map_block(program.body, _square))


def _square(e: Expr) -> Expr | None:
    match e:
        case Apply("multiply", (x, y), dtype) if x == y and dtype.startswith("float") and not isinstance(x, Const):
            return Apply("square", (b.map_expr(x, _square),), dtype)
        case _:
            return None


def _expression(e: Expr) -> Expr | None:
    match e:
        case Apply(op, args, "bool") if op in _LOGICAL and all(x.dtype == "bool" for x in args):
            args = tuple(b.map_expr(x, _expression) for x in args)
            return b.logical_not(args[0]) if op == "invert" else Apply(_LOGICAL[op], args, "bool")
        case _:
            return None


def _block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    return tuple(_branch(s) if isinstance(s, n.If) else s for s in (with_bodies(s, _block) for s in statements))


def _branch(s: n.If) -> n.If:
    match s:
        case n.If(Apply("logical_not", (condition,), _), then, orelse) if orelse and condition.dtype == "bool":
            return _branch(replace(s, condition=condition, then=orelse, orelse=then))
        case n.If(condition, (), orelse) if orelse:
            return _branch(replace(s, condition=b.logical_not(condition), then=orelse, orelse=()))
        case n.If(outer, (n.If(inner, then, ()),), ()):
            return replace(s, condition=b.both(outer, inner), then=then)
        case _:
            return s

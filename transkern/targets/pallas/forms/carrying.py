"""What loops and branches carry: its types, its values as one tuple, and what stands for what has no value yet."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import bodies, variables_read
from transkern.targets.pallas.forms.pieces import is_literal
from transkern.targets.pallas.forms.values import Inexpressible, Value
from transkern.targets.pallas.printing.quote import assign, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.statements import Statements


def carried_number(vector: Statements, value: Value, dtype: str) -> ast.expr:
    """A scalar that is carried, with its type; XLA does not see where it begins, or would know it for 0.0."""
    node = quote(f"jnp.{vector.module.dtype(dtype)}(_0)", value.node)
    constant = (value.static or is_literal(value.node)) and dtype.startswith("float")
    return vector.kept(Value(node, dtype)).node if constant else node


def carried_block(vector: Statements, value: Value, slots: Iterable[int]) -> ast.expr:
    """What a loop begins with over the block. Mosaic lays out what is one number everywhere as that number, and in a
    loop what is carried as it begins: it must not see that it begins with one number."""
    node = vector.spread(value, sorted(slots))
    return quote("_0(_1)", vector.module.helper("_laid_out"), node) if vector.mosaic else node


def dtype_of(vector: Statements, of: str) -> str:
    if of in vector.declared:
        return vector.declared[of][0].dtype
    if of in vector.env:
        return vector.program.variables.get(of, vector.env[of].dtype)
    return vector.module.details.get(of, vector.program.variables.get(of, "index"))


def settle(vector: Statements, carried: list[str]) -> None:
    """After a function from state to state, all is what that left."""
    for of in carried:
        if of not in vector.program.buffers:
            old = vector.env.get(of)
            axes = old.axes if old else frozenset()
            vector.env[of] = Value(name(vector.module.identifier(of)), dtype_of(vector, of), axes)
        vector.fresh_accumulators.discard(of)


def state(vector: Statements, carried: list[str]) -> ast.expr:
    """The carried state as an expression; each scalar as its own type."""
    items: list[ast.expr] = []
    for of in carried:
        if of in vector.program.buffers:
            items.append(name(vector.python(of)))
            continue
        value = vector.env[of]
        slots = own_slots(vector, of)
        if slots:
            items.append(vector.spread(Value(value.node, value.dtype, value.axes, not value.axes), sorted(slots)))
        elif value.static:
            items.append(carried_number(vector, value, dtype_of(vector, of)))
        else:
            items.append(value.node)
    return sequence(items)


def unpack(vector: Statements, carried: list[str], value: ast.expr) -> ast.stmt:
    if not carried:
        return ast.Expr(value)
    targets: list[ast.expr] = [ast.Name(vector.python(c), ast.Store()) for c in carried]
    return ast.Assign([ast.Tuple(targets, ast.Store())], value, lineno=0)


def materialise(vector: Statements, handed: list[str]) -> None:
    """Give carried scalars a typed value of their own name."""
    for of in handed:
        value = vector.env[of]
        target = vector.python(of)
        if value.static or not (isinstance(value.node, ast.Name) and value.node.id == target):
            vector.out.append(assign(target, value.node if value.axes else carried_number(vector, value, value.dtype)))
        vector.env[of] = Value(name(target), value.dtype, value.axes)


def nothing(vector: Statements, of: str, value: Value) -> ast.stmt:
    """A number of a value's type under a scalar's name."""
    nothing = number_of_type(vector, value.dtype)
    node = vector.spread(nothing, sorted(value.axes)) if value.axes else vector.typed(nothing, value.dtype)
    return assign(vector.python(of), node)


def number_of_type(vector: Statements, dtype: str) -> Value:
    return Value(vector.neutral("sum", dtype), dtype, static=True)


def own_slots(vector: Statements, of: str) -> frozenset[int]:
    """Along which slots a scalar may vary: an accumulator along those that were open where it was declared."""
    return vector.declared[of][1] if of in vector.declared else vector.open_slots()


def perhaps_guards(vector: Statements, block: Iterable[n.Stmt], moving: set[str], inside: bool) -> Iterable[n.Guard]:
    """The checks that may not be met."""

    def known(*exprs: Expr) -> bool:
        return all(vector.is_static(e) and not variables_read(e) & moving for e in exprs)

    for s in block:
        here = inside
        match s:
            case n.Guard() if inside:
                yield s
            case n.If(condition):
                here |= not known(condition)
            case n.Loop(_, start, stop):
                here |= not known(start, stop)
            case n.While():
                here = True
            case _:
                pass
        for body in bodies(s):
            yield from perhaps_guards(vector, body, moving, here)


def condition(vector: Statements, expr: Expr, guarded: bool) -> ast.expr:
    value = vector.expr(expr)
    if value.axes:
        raise Inexpressible("a loop whose length differs within the block")
    node = quote("jnp.bool_(_0)", value.node) if value.static else value.node
    if guarded:  # after an error nothing can be relied on, not even that the loop ends
        node = quote("_0 & (_1 == 0)", node, vector.env["error."].node)
    return node

"""Checks: what is noted where one fails, and the text that raises."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.containers import error_text, with_changes
from transkern.ir.expr import Expr, Span
from transkern.parsing import parse_expression
from transkern.targets.pallas.forms.carrying import number_of_type
from transkern.targets.pallas.forms.reductions import Reductions
from transkern.targets.pallas.forms.values import Module, Value
from transkern.targets.pallas.passes.windows import is_size
from transkern.targets.pallas.printing.quote import assign, call, name, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.statements import Statements


def _told_as(a: Expr) -> str:
    """The dtype of a number that a message tells, on its way out of kernels: that of integers, where they hold it."""
    return a.dtype if a.dtype.startswith("float") or a.dtype == "uint64" else "index"


def raise_unless(vector: Reductions, s: n.Guard, condition: ast.expr) -> ast.stmt:
    """A check of what is known while JAX traces, where nothing that goes into arguments has a value yet."""
    return ast.If(quote("not _0", condition), [raising(s, [vector.expr(a).node for a in s.args], vector.module)], [])


def raising(s: n.Guard, args: list[ast.expr], module: Module, changes: str = "") -> ast.stmt:
    """The failure of a check, as a statement of Python; `args` are the numbers that its message tells, and that what
    goes into arguments, `changes`, is made of."""
    message: ast.expr = ast.Constant(s.message)
    if args or "{" in s.message:
        message = call(quote("_0.format", message), args)
    error = "_NoRoom" if s.error == n.NO_ROOM else error_text(s.error)
    made = call(parse_expression(error), [message] if s.message else [])
    if changes:
        made = call(parse_expression(f"lambda e, *a: {with_changes('e', changes)}"), [made, *args])
    return ast.Raise(placed(module, made, s.span), None)


def placed(module: Module, error: ast.expr, span: Span) -> ast.expr:
    """An exception that knows at which place it is raised, where somebody asks."""
    return error if module.places is None else quote(f"_at(_0, {module.places.number(span)})", error)


def note_failure(vector: Statements, s: n.Guard, condition: Value) -> None:
    """Leave the number of a check in `error` unless its condition holds, or one before it has failed."""
    if vector.module.check(s) is None:
        vector.module.guards.append(s)
    number = (vector.module.check(s) or 0) + 1
    for of, a in details(vector, s).items():
        value = vector.cast(vector.expr(a), _told_as(a))
        before = vector.env.get("error.", no_error(vector)).node
        has_one = of in vector.env
        kept = vector.env[of].node if has_one else vector.typed(number_of_type(vector, value.dtype), value.dtype)
        target = vector.module.identifier(of)
        vector.out.append(assign(target, quote("jnp.where(_0 == 0, _1, _2)", before, value.node, kept)))
        vector.env[of] = Value(name(target), value.dtype)
    error = vector.module.identifier("error.")
    old = vector.env.get("error.", no_error(vector))
    vector.out.append(
        assign(error, quote("jnp.where((_0 == 0) & ~_1, _2, _0)", old.node, condition.node, ast.Constant(number)))
    )
    vector.env["error."] = Value(name(error), "index")


def no_error(vector: Statements) -> Value:
    return Value(quote(f"jnp.{vector.module.integer}(0)"), "index")


def details(vector: Statements, s: n.Guard) -> dict[str, Expr]:
    """What a guard's message tells of data: its name among the carried scalars, and its value."""
    at = vector.module.check(s)
    if at is None:
        return {}
    number = at + 1
    found = {
        f"detail{number}_{k}.": a
        for k, a in enumerate(s.args)
        if not (is_size(a, vector.module.static) or vector._is_hoistable(a))
    }
    vector.module.details |= {of: _told_as(a) for of, a in found.items()}
    return found

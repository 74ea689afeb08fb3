"""The checks of a program: what they raise, who catches it, and what has been put into the arguments until then."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend.anew import TRIED, Finding, NotKnown, Terminated
from transkern.frontend.state.control import Catch, Crossed
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import OF_NUMPY, text_of_numbers
from transkern.ir.expr import Expr
from transkern.ir.facts import implied
from transkern.ir.traverse import scalars_set, variables_read, walk

if TYPE_CHECKING:
    from transkern.frontend.context import Context


def raise_unless(ctx: Context, condition: Expr, error: str, message: str, args: tuple[Expr, ...]) -> None:
    """A guard, and with it what has been put into the arguments so far."""
    control, emitter = ctx.control, ctx.emitter
    changes_now, control.changes_now = control.changes_now, None  # what is handed over has no checks of its own
    with emitter.block() as out:
        changes = changes_now() if changes_now is not None else ()
    control.changes_now = changes_now
    if not changes:
        ctx.emit(n.Guard(condition, error, message, args))
        return
    numbers = list(args)
    text = text_of_numbers(n.TupleResult(changes), numbers)
    if text is not None and not out and len(numbers) <= n.GUARD_NUMBERS and condition != b.FALSE:
        ctx.emit(n.Guard(condition, error, message, tuple(numbers), text))
        return
    told = tuple(n.ScalarResult(a, a.dtype not in OF_NUMPY and a.dtype != "uint64") for a in args)
    raised = n.TupleResult(told, "raise", (message,), error, ctx.session.place())
    leaves = n.Return(n.TupleResult((raised, *changes)), span=ctx.session.place())
    if condition == b.FALSE:  # it leaves here, also while JAX traces
        emitter.out.extend(out)
        ctx.emit(leaves)
    else:
        ctx.emit(n.If(b.logical_not(condition), (*out, leaves)))


def raise_made(ctx: Context, error: str, message: str, parts: Sequence[n.Result]) -> NoReturn:
    """Raises an exception here, whose message is made of more than numbers."""
    control = ctx.control
    changes_now, control.changes_now = control.changes_now, None
    changes = changes_now() if changes_now is not None else ()
    control.changes_now = changes_now
    raised = n.TupleResult(tuple(parts), "raise", (message,), error, ctx.session.place())
    result = n.TupleResult((raised, *changes)) if changes else raised
    ctx.emit(n.Return(result, span=ctx.session.place()))
    raise Terminated


def room(ctx: Context, dims: Sequence[Expr]) -> Expr:
    """The length of memory for a list without a bound, of elements of the shape `dims`."""
    if ctx.session.reserves:
        return b.index(n.RESERVED_ROWS if dims else n.RESERVED)
    most = b.size(n.ROOM)
    return b.floordiv(most, b.index(n.RESERVED // n.RESERVED_ROWS)) if dims else most


def must_have_room(ctx: Context, condition: Expr) -> None:
    """The check that there is room for an element more of such a list. No `try` takes that a call begins anew."""
    if ctx.session.reserves:
        ctx.guard(condition, "MemoryError", "")
    elif not implied(condition, ctx.facts.conditions):
        ctx.emit(n.Guard(condition, n.NO_ROOM, ""))


def caught(ctx: Context, error: type[BaseException]) -> tuple[Catch, int] | None:
    """The `try` whose handler takes an exception, and the handler's number."""
    for one in reversed(ctx.control.catching):
        number = one.handler(error)
        if number:
            if ctx.control.in_head or one.depth in ctx.control.comprehended:
                where = "the condition of a loop" if ctx.control.in_head else "a comprehension"
                problem = f"the {error.__name__} here is caught outside of where it is raised, in {where}"
                help = "test for what would raise it, or catch it where it is raised"
                if ctx.control.in_head:
                    ctx.fail(refusals.CAUGHT, problem, help)
                told = ctx.error(refusals.CAUGHT, problem, help)
                found = NotKnown(refusals.CAUGHT, problem, help, told.span, told.lines)
                # the comprehension may be a loop before its statement
                found.finding = Finding("early", TRIED)
                raise found
            return one, number
    return None


def _left(ctx: Context, catch: Catch) -> list[Crossed]:
    """The loops, in functions that are called, which an exception leaves on its way to a `try`."""
    return [loop for loop in ctx.control.crossed if loop.depth > catch.depth]


def leave_try(
    ctx: Context, condition: Expr, catch: Catch, number: int, error: str, message: str, args: Sequence[Expr] = ()
) -> None:
    """Leave a `try` for its handler, with an exception's message, unless the condition holds."""
    with ctx.emitter.block() as out:
        for loop in _left(ctx, catch):
            loop.used.add(loop.left.name)
            ctx.emit(n.Assign(loop.left.name, b.TRUE))
        catch.leave(number, error, message, args)
    ctx.emit(n.If(b.logical_not(condition), tuple(out)))


def guard_early(ctx: Context, condition: Expr, error: str, message: str) -> None:
    """A guard on numbers among the arguments goes before the work, also before stores into arguments: what stands
    between is one loop then. (Where it fails, these stores have not been made.)"""
    needs, root = variables_read(condition), ctx.emitter.root
    late = ctx.emitter.out is not root or bool(ctx.control.catching)
    if late or not needs <= ctx.facts.entry or condition == b.TRUE:
        ctx.guard(condition, error, message)
        return
    if condition != b.FALSE and ctx.inputs.has_changes():  # a call that raises gets other code
        ctx.facts.assume(condition)
        return
    at = len(root)
    while at and not any(_decides(s) or scalars_set(s) & needs for s in walk((root[at - 1],))):
        at -= 1
    root.insert(at, n.Guard(condition, error, message, span=ctx.session.place()))


def error_class(error: str) -> type[BaseException]:
    """The class of a guard's error."""
    error = error.removeprefix(n.SEVERAL)
    if ":" in error:
        module, _, name = error.partition(":")
        found: Any = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part)
    else:
        found = np.linalg.LinAlgError if error.endswith("LinAlgError") else getattr(builtins, error, Exception)
    assert isinstance(found, type) and issubclass(found, BaseException)
    return found


def _decides(s: n.Stmt) -> bool:
    """Whether it may depend on this statement what runs after it."""
    return isinstance(s, (n.Guard, n.Return, n.While, n.Break, n.Continue, n.Library))

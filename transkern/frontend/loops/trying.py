"""The body of a `try`, and the classes that its handlers name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.state.control import Catch
from transkern.frontend.values import classes
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import Known, Static, Value
from transkern.ir import nodes as n
from transkern.ir.expr import Expr

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops


def tried(
    loops: Loops, body: Sequence[ast.stmt], name: str, types: Sequence[ast.expr | None], told: Sequence[str | None],
    lets_pass: Sequence[bool],
) -> bool:  # fmt: skip
    """The body of a `try`, which exceptions of the handlers' `types` leave, but those that a handler `lets_pass`;
    `name` tells the handler's number, and the names in `told` the message, where a handler looks at it."""
    ctx = loops.ctx
    kinds = tuple((Exception,) if t is None else _exception_classes(loops, t) for t in types)

    def leave(number: int, error: str, message: str, args: Sequence[Expr]) -> None:
        before = dict(loops.env)
        loops.env[name] = Static(number)
        shown = told[number - 1]
        if shown is not None:
            text = None if args else text_of(error, message.format())
            if text is None:
                problem = "the message of an exception that is caught, of run-time numbers or made by its class,"
                help = "do not read it, or test for what would raise it"
                ctx.fail(refusals.TEXT, f"{problem} is read: {message!r}", help)
            loops.env[shown] = Static(text)
        loops.loops[-1].leave(loops, True)
        loops.env.clear()
        loops.env.update(before)

    loops.env.update({shown: Static("") for shown in told if shown is not None})  # nothing may be raised at all
    looks = tuple(t is not None for t in told)
    ctx.control.catching.append(Catch(kinds, tuple(lets_pass), ctx.session.depth, leave, looks))
    try:
        return loops.block(body)
    finally:
        ctx.control.catching.pop()


def text_of(error: str, message: str) -> str | None:
    """``str(e)`` of an exception that a guard raises: a KeyError shows its key, one without arguments nothing. None
    where its arguments are no constants of Python's."""
    kind = KeyError if error.removeprefix(n.SEVERAL) == "KeyError" else Exception
    if not error.startswith(n.SEVERAL):
        return str(kind(message) if message else kind())
    try:
        return str(kind(*ast.literal_eval(message)))
    except (ValueError, SyntaxError):
        return None


def _exception_classes(loops: Loops, node: ast.expr) -> tuple[type[BaseException], ...]:
    """The classes that an `except` names."""
    if isinstance(node, ast.Tuple):
        return tuple(c for e in node.elts for c in _exception_classes(loops, e))
    return (exception_class(loops, loops.expr(node), node, True),)


def exception_class(loops: Loops, kind: Value, node: ast.expr, is_caught: bool = False) -> type[BaseException]:
    """The class that `kind` is, which is raised or caught."""
    if isinstance(kind, Known) and isinstance(found := classes.named_object(kind.path), type):
        kind = Static(found)
    if not (isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
        what = describe(loops.ctx.deref(kind))
        if is_caught:
            problem = f"`except` of {what}, where a class of exceptions must be named"
            loops.ctx.fail(refusals.CAUGHT, problem, "name it there, or several: (IndexError, ValueError)", node)
        loops.ctx.fail(refusals.MESSAGE, f"`raise` of {what}", "raise a class of exceptions: ValueError(…)", node)
    found_class: type[BaseException] = kind.value
    return found_class

"""All that is in the way of a function: where one statement is refused, the function is translated without it.

What a statement that is left out would have bound or changed has no value from there on; other statements that need it
are left out too, and nothing is said of them. So each refusal that is told is one by itself.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Collection

from transkern import limits
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.values.values import Array, Unbound, Value
from transkern.ir.expr import NOWHERE
from transkern.parsing import all_nodes

LEFT_OUT = "a statement that is left out"
"""The problem of what depends on one."""

SECONDS = 1.0
"""What the refusals behind the first one may take."""

_MOST = 20

_Out = Callable[[Collection[ast.stmt]], object]


def all_refusals(translate: _Out, first: CompileError, seconds: float = SECONDS) -> list[CompileError]:
    """The refusals of a function, in the order of its text; as many as are found in so many seconds.

    Args:
        translate: translates the function without some statements; raises as `specialise`.
        first: the refusal of the whole function.
        seconds: what may be taken.
    """
    if isinstance(first, limits.Exhausted):
        return [first]
    found, left, until = [first], set[ast.stmt](), time.thread_time() + seconds
    while found[-1].path and found[-1].path[0] not in left and len(found) < _MOST:
        left.add(found[-1].path[0])
        try:
            with limits.within(max(until - time.thread_time(), 0)), limits.compilation("", NOWHERE):
                translate(frozenset(left))
        except limits.Exhausted:
            break
        except (CompileError, NeedsConstant) as error:
            problem = error if isinstance(error, CompileError) else error.problem
            if not problem.path:
                break
            found.append(problem)
        except Exception:  # what is left of the function is no function: nobody's bug
            break
        else:
            break
    shown = {(e.span, e.problem): e for e in reversed(found) if LEFT_OUT not in e.problem}
    return sorted(shown.values(), key=lambda e: (e.span.file != first.span.file, e.span.line, e.span.column))


def with_others(translate: _Out, first: CompileError) -> CompileError:
    """The refusal of a function, with all the others, for the one who reads it."""
    found, *others = all_refusals(translate, first)
    found.others = tuple(others)
    return found


def leave_out(env: dict[str, Value], statement: ast.stmt) -> None:
    """Goes on without a statement.

    What it binds, and the lists, dicts and objects that it changes, are not known any more. Arrays that it stores into
    are: they have the same type whatever it stores.
    """
    for x in all_nodes(statement):
        match x:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                env[name] = Unbound(LEFT_OUT)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                env[name] = Unbound(LEFT_OUT)
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                _forget(env, x)
            case ast.Call(func=ast.Attribute(value=owner)):
                _forget(env, owner)


def _forget(env: dict[str, Value], changed: ast.expr) -> None:
    while isinstance(changed, (ast.Subscript, ast.Attribute)):
        changed = changed.value
    if isinstance(changed, ast.Name) and changed.id in env and not isinstance(env[changed.id], Array):
        env[changed.id] = Unbound(LEFT_OUT)

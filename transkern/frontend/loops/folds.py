"""Generators that a function uses up: loops that carry one value."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.loops.trips import condition_of
from transkern.frontend.python import compensated
from transkern.frontend.python.truth import truth
from transkern.frontend.values.set_order import ORDERLESS, is_orderless
from transkern.frontend.values.values import Known, Maybe, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.traverse import walk

if TYPE_CHECKING:
    from transkern.frontend.bodies import Body

_FOLDS = ("sum", "any", "all", "min", "max", "next")


def used_up(path: str, call: ast.Call) -> ast.GeneratorExp | ast.ListComp | None:
    """The generator that a function goes through alone, or a list made for `any` and `all`."""
    match call.args:
        case [ast.GeneratorExp() as source] if path.removeprefix("builtins.") in _FOLDS:
            return source
        case [ast.GeneratorExp() as source, _] if path == "builtins.next":
            return source
        case [ast.ListComp() as source] if path in ("builtins.any", "builtins.all"):
            return source
        case [ast.Call(ast.Name("iter"), [whole], []), *_] if path == "builtins.next" and len(call.args) < 3:
            name = "next value"
            each = ast.comprehension(ast.Name(name, ast.Store()), whole, [], 0)
            return ast.copy_location(ast.GeneratorExp(ast.Name(name, ast.Load()), [each]), call)
        case _:
            return None


def folded(
    translator: Body, path: str, source: ast.GeneratorExp | ast.ListComp, call: ast.Call
) -> Value | None:
    """``sum``, ``any``, ``all``, ``min``, ``max``, ``next`` over a generator: a loop that carries one value.

    Of a list all elements are computed, also where the first one tells.
    """
    ctx, name = translator.ctx, path.removeprefix("builtins.")
    default = call.args[1] if name == "next" and len(call.args) == 2 else None
    if name in ("min", "max") and [k.arg for k in call.keywords] == ["default"]:
        default = call.keywords[0].value
    elif call.keywords:
        return None
    each = "folded element"
    carried, first, lost, add = "folded value", "is first", "lost bits", "compensated addition"
    load = ast.Name(carried, ast.Load())
    put: Callable[[ast.expr], ast.stmt] = lambda e: ast.Assign([ast.Name(carried, ast.Store())], e)  # noqa: E731
    stops = isinstance(source, ast.GeneratorExp) and len(source.generators) == 1
    started = ast.Assign([ast.Name(first, ast.Store())], ast.Constant(False))
    before: list[ast.stmt] = [] if default is None else [put(default)]
    step: list[ast.stmt]
    if name == "sum" and compensated.IS_COMPENSATED:
        before = [put(ast.Constant(0)), ast.Assign([ast.Name(lost, ast.Store())], ast.Constant(0.0))]
        both = ast.Tuple([ast.Name(carried, ast.Store()), ast.Name(lost, ast.Store())], ast.Store())
        added = ast.Call(ast.Name(add, ast.Load()), [load, ast.Name(lost, ast.Load()), source.elt], [])
        step = [ast.Assign([both], added)]
    elif name == "sum":
        before = [put(ast.Constant(0))]
        step = [put(ast.BinOp(load, ast.Add(), source.elt))]
    elif name in ("any", "all"):
        before = [put(ast.Constant(name == "all"))]
        test = source.elt if name == "any" else ast.UnaryOp(ast.Not(), source.elt)
        found = put(ast.Constant(name == "any"))
        step = [ast.If(test, [found, ast.Break()] if stops else [found], [])]
    elif name == "next":
        if not stops:
            ctx.fail(refusals.OPTION, "`next` of a generator with several loops", "write the loops", call)
        before.append(ast.Assign([ast.Name(first, ast.Store())], ast.Constant(True)))
        step = [put(source.elt), started, ast.Break()]
    else:
        element = ast.Name(each, ast.Load())
        order: ast.cmpop = ast.Lt() if name == "min" else ast.Gt()
        better = ast.If(ast.Compare(element, [order], [load]), [put(element)], [])
        before.append(ast.Assign([ast.Name(first, ast.Store())], ast.Constant(True)))
        step = [
            ast.Assign([ast.Name(each, ast.Store())], source.elt),
            ast.If(ast.Name(first, ast.Load()), [put(element)], [better]),
            started,
        ]
    body = step
    outermost = translator.source_of(source.generators)
    for k, generator in reversed(list(enumerate(source.generators))):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter if k else outermost, body, [])]
        setattr(body[0], ORDERLESS, is_orderless(name, source.elt, generator.ifs) and len(source.generators) == 1)
    outer = {k: translator.env.pop(k) for k in (carried, first, lost, add, each) if k in translator.env}
    translator.env[add] = Known(compensated.ADDITION)
    begun = len(ctx.emitter.out)
    with translator.inner_names(source.generators, source, *before, *body):
        for s in [*before, *body]:
            translator.statement(s)
        if name in ("min", "max", "next"):
            none = translator.env.pop(first)
            if default is None:
                error = "StopIteration" if name == "next" else "ValueError"
                text = "" if name == "next" else empty_text(name)
                ctx.guard(b.logical_not(condition_of(truth(ctx, none))), error, text)
        value = translator.env.pop(carried)
        if (rest := translator.env.pop(lost, None)) is not None:
            value = compensated.completed(ctx, value, rest)
        translator.env.pop(each, None)
    translator.env.pop(add)
    translator.env.update(outer)
    value = value.value if isinstance(value, Maybe) else value
    if name in ("any", "all") and not _is_set(value, ctx.emitter.out[begun:]):
        return Static(name == "all")
    return value


def empty_text(name: str) -> str:
    """What `min` and `max` of nothing say."""
    if sys.version_info < (3, 12):
        return f"{name}() arg is an empty sequence"
    return f"{name}() iterable argument is empty"


def _is_set(value: Value, statements: Sequence[n.Stmt]) -> bool:
    """Whether a loop's variable gets another value than its first in it."""
    if not isinstance(value, Scalar) or not isinstance(value.expr, Var):
        return True
    return sum(isinstance(s, n.Assign) and s.name == value.expr.name for s in walk(statements)) != 1

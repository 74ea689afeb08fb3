"""Names of modules in a translation: those that a manager has bound for its block, and those that are arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import opened
from transkern.frontend.sources.module_names import (
    IN_A_PROGRAM,
    OF_MODULE,
    Name,
    ThroughModule,
    demand_for,
    parameters_for,
    space_of_kind,
)  # fmt: skip
from transkern.frontend.sources.observed import passing
from transkern.frontend.sources.source import LiveScope
from transkern.frontend.state import handing
from transkern.frontend.values.types import ArgType, StructType
from transkern.frontend.values.values import Dict, Record, Scope, Seq, Static, Value
from transkern.plain import is_plain_object

_LOOKED_INTO = 64
"""Items of a list or dict."""


def space_of(scope: Scope) -> int:
    """The globals that a scope looks names up in."""
    return id(scope.owner.__globals__) if isinstance(scope, LiveScope) else id(scope)


def looked_up(ctx: Context, scope: Scope, name: str) -> Value | None:
    """What a name stands for that is none of the function's own."""
    is_free = isinstance(scope, LiveScope) and name in scope.owner.__code__.co_freevars
    with passing():
        value = (None if is_free else found(ctx, scope, name)) or scope.lookup(name)
    if value is None:
        return None
    if not isinstance(scope, LiveScope):
        return taken(ctx, value, handing.AT_A_CALL)
    return taken(ctx, value, None if is_free else demand_for(Name(scope.owner.__globals__, name)))


def taken(ctx: Context, value: Value, demand: str | None) -> Value:
    """What has been found outside the function as it takes part; `demand`: what to ask for where it changes."""
    made = opened(ctx, value)
    if demand is not None:
        note(ctx, value, demand)
        note(ctx, made, demand)
    return made


def note(ctx: Context, value: Value, demand: str) -> None:
    """That arrays, lists, dicts or objects have been found outside the function, and what to ask for where they are to
    change."""
    match value:
        case Static(found) if isinstance(found, np.ndarray) or is_plain_object(found):
            ctx.scopes.origins[id(found)] = found, demand
        case Seq(items, outside=True) | Dict(_, items, outside=True):
            ctx.scopes.origins[id(value)] = value, demand
            for item in items[:_LOOKED_INTO]:
                note(ctx, item, demand)
        case _:
            pass


def found(ctx: Context, scope: Scope, name: str) -> Value | None:
    """What a name stands for that is none of the function's own, where it is not what it is found as outside."""
    space = space_of(scope)
    return ctx.scopes.of_modules.get(space) if name == OF_MODULE else found_in(ctx, space, name)


def found_in(ctx: Context, space: int, name: str) -> Value | None:
    """The same, among the names of one module."""
    bound = ctx.scopes.globals_now.get((space, name))
    return bound or _attributes(ctx, space).get(name)


def _attributes(ctx: Context, space: int) -> dict[str, Value]:
    if space not in ctx.scopes.of_modules:
        return {}
    contents = ctx.deref(ctx.scopes.of_modules[space])
    assert isinstance(contents, Record)
    return dict(zip(contents.names, contents.items, strict=True))


def parameters(types: Sequence[ArgType], own: Sequence[str]) -> list[str]:
    """What the parameters of the `types` behind a function's own are called, where they are for names of modules."""
    kinds = [kind.of for kind in types if isinstance(kind, StructType) and space_of_kind(kind.of) is not None]
    return parameters_for([kind for kind in kinds if kind is not None], own) if len(kinds) == len(types) else []


def take(ctx: Context, kind: ArgType, value: Value) -> None:
    """From now on names of a module are looked up in an argument that is for them."""
    assert isinstance(kind, StructType)
    space = space_of_kind(kind.of)
    assert space is not None
    ctx.scopes.of_modules[id(space)] = value


def are_arguments(ctx: Context, scope: Scope, node: ast.Global) -> None:
    """Asks for the names that a function binds as arguments; refuses those that its text cannot have as such."""
    names = node.names
    if isinstance(node, ThroughModule):
        known = _attributes(ctx, space_of(scope))
        names = [name for name in names if name not in known]
        if not names:
            return
    problem = f"`global {', '.join(node.names)}`: assigning a global name"
    help = "pass the value in and return it" if scope.is_live else IN_A_PROGRAM
    error = ctx.error(refusals.OUTSIDE_CHANGED, problem, help, node)
    if isinstance(scope, LiveScope) and isinstance(node, ThroughModule):
        first, *more = [demand_for(Name(scope.owner.__globals__, name)) for name in names]
        raise NeedsConstant(first, error, more=more)
    error.as_text = not scope.is_live
    raise error

"""What a `while` loop asks first is its condition:

    while c:                               while c and not done:
        if done: break            to           …
        …

Spellings of one loop meet: `while True` with a `break` at its start, and the condition as it stands in the loop. Names
of values that are computed for the exit alone go with it. (An exit behind anything that can be seen stays.)
"""

from __future__ import annotations

from transkern.fuse.states.reading import is_cheap
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Reduce
from transkern.ir.traverse import own_exprs, scalars_set, scalars_used, walk, walk_expr, with_bodies
from transkern.records import replace


def test_first(program: n.Program) -> n.Program:
    """The program whose `while` loops have exits at the start of their bodies in their conditions."""
    if not any(isinstance(s, n.While) for s in walk(program.body)):
        return program

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            s = with_bodies(s, block)
            if isinstance(s, n.While):
                s = _with_condition(s)
                if s.condition == b.FALSE:  # nobody comes by, and what nobody checks may be anything
                    out += s.head
                    continue
            out.append(s)
        return tuple(out)

    return replace(program, body=block(program.body))


def _with_condition(loop: n.While) -> n.While:
    while (found := _first_exit(loop.body)) is not None:
        stays, body = found
        loop = replace(loop, condition=b.both(loop.condition, stays), body=body)
    return loop


def _first_exit(body: tuple[n.Stmt, ...]) -> tuple[Expr, tuple[n.Stmt, ...]] | None:
    """When the loop goes on at an exit before which there are only names for values, and the body without it."""
    named: dict[str, Expr] = {}
    for k, s in enumerate(body):
        match s:
            case n.Let(name, value):
                named[name] = b.substitute(value, named)
            case n.If(condition, (n.Break(),), rest):
                stays = b.logical_not(condition)
            case n.If(condition, rest, (n.Break(),)):
                stays = condition
            case _:
                return None
        if isinstance(s, n.If):
            stays = b.substitute(stays, named)
            if any(isinstance(e, Reduce) for e in walk_expr(stays)):
                return None
            after = (*rest, *body[k + 1 :])
            used = {v for x in after for v in scalars_used(x)}
            kept: list[n.Stmt] = []
            for x in reversed(body[:k]):
                if scalars_set(x) & used:
                    kept.insert(0, x)
                    used |= scalars_used(x)
            if not all(is_cheap(e) for x in kept for e in own_exprs(x)):  # they would be computed twice
                return None
            return stays, (*kept, *after)
    return None

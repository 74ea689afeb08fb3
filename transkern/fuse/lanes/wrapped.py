"""Places that count from the end where they are negative have a name, if what is looked up tells which:

    out[i] = x[(k[i] + n if k[i] < 0 else k[i]), 0]           let at = (k[i] + n if k[i] < 0 else k[i])
        + x[(k[i] + n if k[i] < 0 else k[i]), 1]       to     out[i] = x[at, 0] + x[at, 1]

A C compiler takes ``3 * (a if c else b)`` apart into a product on each way, and the load behind it into two loads under
masks: it has no vectors of several such, and each asks again. What has a name is chosen first, and loaded then.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lanes.together import always
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    with_bodies,
)
from transkern.records import replace


def name_wrapped(program: n.Program) -> n.Program:
    """The program with names for such places in the loops that look them up."""
    names = Names.of(program)
    return replace(program, body=_block(program.body, names, in_loop=False))


def _block(statements: Sequence[n.Stmt], names: Names, in_loop: bool) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    named: dict[Expr, Var] = {}
    for s in statements:
        if in_loop and isinstance(s, _PLAIN):
            for place in _wrapped(s):
                if place not in named:
                    at = Var(names.fresh("at"), "index")
                    named[place] = at
                    out.append(n.Let(at.name, place, span=s.span))
            if named:
                s = map_own(s, named.get)
        inside = in_loop or isinstance(s, n.Loop)
        made = with_bodies(s, lambda body, inside=inside: _block(body, names, inside))  # type: ignore[misc]
        out.append(made)
        written, changed = buffers_written(s), scalars_set(s)
        if not isinstance(s, _PLAIN) or written or changed:
            named = {
                e: v for e, v in named.items()
                if isinstance(s, _PLAIN) and not (buffers_read(e) & written or variables_read(e) & changed)
            }  # fmt: skip
    return tuple(out)


_PLAIN = (n.Let, n.Assign, n.Store, n.Accumulate)
"""What reads elements, and has no statements in it."""


def _wrapped(s: n.Stmt) -> list[Expr]:
    """The places among the subscripts of a statement, each once, that it comes to in any case."""
    found: dict[Expr, None] = {}
    for own in own_exprs(s):
        for e in always(own):
            if isinstance(e, Load):
                for i in e.index:
                    for x in always(i):
                        if _wraps(x):
                            found[x] = None
    return list(found)


def _wraps(e: Expr) -> bool:
    match e:
        case Apply("where", (Apply("less", (x, zero), _), Apply("add"), y), "index"):
            return x == y and b.constant(zero) == 0 and bool(buffers_read(x))
        case _:
            return False

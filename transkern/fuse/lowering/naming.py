"""Give loop variables the names a person would:   ii_7, jj_3   to   i, j

Every axis has a name of its own while passes move loops about. In the end a loop only has to differ from what it is
nested in and from the names its body reads.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TypeAlias

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import printed
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    map_statement,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_Looping: TypeAlias = n.Loop | n.Compact | n.Scanning

_LETTERS = "ijklmpqrst"
_MADE_UP = re.compile(r"(ii|jj|kk|ll|mm|pp|qq|rr|ss|oo|[ikopqr])(_\d+)?")


def name_axes(program: n.Program) -> n.Program:
    """The program with short names for the axes that the compiler made up."""
    return replace(program, body=_block(program.body, program, frozenset()))


def _block(statements: tuple[n.Stmt, ...], program: n.Program, outer: frozenset[str]) -> tuple[n.Stmt, ...]:
    out = []
    for s in statements:
        here = outer
        if isinstance(s, (n.Loop, n.Compact, n.Scanning)):
            if _MADE_UP.fullmatch(s.axis):
                s = _renamed(s, program, outer)
            here = outer | {s.axis}
        out.append(with_bodies(s, partial(_block, program=program, outer=here)))
        if isinstance(s, (n.Let, n.Accumulator)):
            outer |= {s.name}
    return tuple(out)


def _renamed(s: _Looping, program: n.Program, outer: frozenset[str]) -> _Looping:
    made = {x.buffer for x in walk(s.body) if isinstance(x, n.Alloc)} & program.buffers.keys()
    if any(s.axis in variables_read(d) for name in made for d in program.buffers[name].dims):
        return s  # the arrays made inside have sizes in its terms
    inner = {x.axis for x in walk(s.body) if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
    used = scalars_used(s) | scalars_set(s) | buffers_used(s) | buffers_written(s) | outer
    for name in buffers_used(s) | buffers_written(s):
        if name in program.buffers:
            sizes = {v for d in program.buffers[name].dims for v in variables_read(d)}
            if s.axis in sizes:
                return s  # an array made in the loop is as long as its variable says
            used |= sizes
    used |= {a.name for x in walk((s,)) if isinstance(x, n.Compact) for a in x.inner}
    # A variable of that name may be handed to the loop's kernel, whatever the loop itself reads.
    scalars = program.variables.keys() | {p.name for p in program.params if isinstance(p, n.ScalarParam)}
    taken = {printed(u) for u in used - {s.axis} - inner} | outer | scalars
    wished = s.axis[0] if not s.axis.startswith(("rr", "oo", "r", "o")) else "j"
    if wished in scalars:
        return s
    for letter in (wished, *_LETTERS):
        if letter not in taken and (letter not in inner or letter == s.axis):
            return _rename(s, letter)
    return s


def _rename(s: _Looping, name: str) -> _Looping:
    old = s.axis

    def change(e: Expr) -> Expr | None:
        return Var(name, "index") if isinstance(e, Var) and e.name == old else None

    changed = map_statement(s, change)
    assert isinstance(changed, (n.Loop, n.Compact, n.Scanning))
    return replace(changed, axis=name)

"""`continue` and `break` as conditions: JAX's loops have neither.

for i:                            for i:                        for i:                 while i < n and not left:
    if a: continue       to           if not a: rest                if a: break   to       if a: left = 1
    rest                                                            rest                   else: rest
"""

from __future__ import annotations

from dataclasses import replace

from transkern.fuse.choices.jumps import nested, own
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import with_bodies

_ZERO, _ONE = b.index(0), b.index(1)


def structure_jumps(program: n.Program) -> n.Program:
    """The program without `continue` and `break` wherever they end a branch of their loop."""
    state = _Structuring(Names.of(program), dict(program.variables))
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables)


class _Structuring:
    def __init__(self, names: Names, variables: dict[str, str]) -> None:
        self.names, self.variables = names, variables

    def block(self, block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in block for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, (n.Loop, n.While)):
            return [with_bodies(s, self.block)]
        s = with_bodies(s, self.block)
        assert isinstance(s, (n.Loop, n.While))
        if not any(isinstance(x, (n.Break, n.Continue)) for x in own(s.body)):
            return [s]
        left = ""
        if any(isinstance(x, n.Break) for x in own(s.body)):
            left = self.names.fresh("left")
            self.variables[left] = "index"
        leave = n.Assign(left, _ONE, span=s.span)
        body = nested(s.body, lambda jump: (replace(leave, span=jump.span),) if isinstance(jump, n.Break) else ())
        if not left:
            return [replace(s, body=body)]
        goes_on = b.compare("equal", Var(left), _ZERO)
        start = n.Assign(left, _ZERO, span=s.span)
        if isinstance(s, n.While):
            return [start, replace(s, condition=b.both(s.condition, goes_on), body=body)]
        counter = Var(s.axis, "index")
        self.variables[s.axis] = "index"
        condition: Expr = b.both(
            Apply("less" if (b.constant(s.step) or 1) > 0 else "greater", (counter, s.stop), "bool"), goes_on
        )
        step = n.Assign(s.axis, b.add(counter, s.step), span=s.span)
        return [start, n.Assign(s.axis, s.start, span=s.span), n.While((), condition, (*body, step), span=s.span)]

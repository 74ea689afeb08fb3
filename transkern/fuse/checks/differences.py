"""An axis less one of NumPy's integers cannot wrap where neither is below 0, which is asked before a loop:

    for s in v .. n + 1:                        if 0 <= v <= 2**60:
        … w[index(int64(s) - v)]       to           for s in v .. n + 1: … w[s - index(v)]
                                                else: the loop as it was

so that what follows sees places that go along with the loop, and checks that its range decides. The other bound leaves
room for what threads add to where such a loop begins.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_STATEMENTS = 40
"""A loop with more of them is not written twice."""
_LARGEST = 1 << 60


def settle_differences(program: n.Program) -> n.Program:
    """The program with such loops in two versions."""
    if not any(_taken(e) is not None for own in exprs(program.body) for e in walk_expr(own)):
        return program
    state = _Settling(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Settling:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Loop) or s.kind != "sequential" or s.fails:
            return with_bodies(s, self.block)
        taken = self.taken(s)
        inside = list(walk(s.body))
        plain = all(isinstance(x, (n.Let, n.Store, n.If, n.Guard)) for x in inside)
        if not taken or not plain or len(inside) > _STATEMENTS:
            return with_bodies(s, self.block)
        least = s.start if s.step == b.ONE else b.add(s.stop, b.ONE)
        condition = b.compare("greater_equal", least, b.ZERO)
        for x in taken:
            condition = b.both(condition, b.compare("greater_equal", b.cast(x, "index"), b.ZERO))
            condition = b.both(condition, b.compare("less_equal", b.cast(x, "index"), b.index(_LARGEST)))

        def settled(e: Expr) -> Expr | None:
            x = _taken(e)
            if x is None or x not in taken or _axis(e) != s.axis:
                return None
            return b.sub(Var(s.axis, "index"), b.cast(x, "index"))

        other = with_own_names(s, self.names, self.variables, self.buffers, ())
        return n.If(condition, (replace(s, body=map_block(s.body, settled)),), (other,), span=s.span)

    def taken(self, s: n.Loop) -> list[Expr]:
        """What is taken from the axis of a loop, and is the same in all its iterations."""
        if s.step not in (b.ONE, b.index(-1)):
            return []
        changed, written = scalars_set(s) | {s.axis}, buffers_written(s)
        found: dict[Expr, None] = {}
        for own in exprs(s.body):
            for e in walk_expr(own):
                x = _taken(e)
                if x is not None and _axis(e) == s.axis and not (
                    variables_read(x) & changed or buffers_read(x) & written
                ):  # fmt: skip
                    found[x] = None
        return list(found)


def _taken(e: Expr) -> Expr | None:
    """What ``index(int64(axis) - x)`` takes from an axis."""
    match e:
        case Apply("cast", (Apply("subtract", (Apply("cast", (Var(_, "index"),), "int64"), x), "int64"),), "index"):
            return x
        case _:
            return None


def _axis(e: Expr) -> str:
    assert isinstance(e, Apply) and isinstance(e.args[0], Apply) and isinstance(e.args[0].args[0], Apply)
    axis = e.args[0].args[0].args[0]
    assert isinstance(axis, Var)
    return axis.name

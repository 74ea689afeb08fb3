"""Loops that add to elements which data choose: all their iterations are one scatter, not a loop of XLA ops.

    for i in 0 .. n:                                first at := the first i that fails the check
        guard (x[i] < k)                            if at >= 0: guard (x[at] < k)
        counts[x[i]] := counts[x[i]] + 1    to      parallel i in 0 .. n: where at < 0 or i < at: counts[x[i]] +:= 1

XLA takes the updates of an element in their order on a CPU; on a TPU in one that is the same each time.
"""

from __future__ import annotations

from transkern.fuse.lowering.updates import update_at_once
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_written, own_exprs, walk, with_bodies
from transkern.records import replace


def scatter_updates(program: n.Program) -> n.Program:
    """The program with such loops parallel."""
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE and (
                made := _checked(program, s, names)
            ):
                out += made
            else:
                out.append(with_bodies(s, block))
        return tuple(out)

    return update_at_once(replace(program, body=block(program.body)), _is_scattered)


def _is_scattered(op: str, dtype: str) -> bool:
    """Whether a kernel or XLA's scatter combines as the operation does, down to zeros and what is no number."""
    return op in ("add", "subtract", "maximum", "minimum") and (
        dtype.startswith(("int", "uint")) or dtype in ("float32", "float64")
    )


def _checked(program: n.Program, s: n.Loop, names: Names) -> list[n.Stmt]:
    """A loop of updates without its checks, and these before it; nothing where it has none, or is no such loop."""
    guards = [x for x in s.body if isinstance(x, n.Guard)]
    bare = replace(s, body=tuple(x for x in s.body if not isinstance(x, n.Guard)))
    trial = update_at_once(replace(program, body=(bare,)), _is_scattered).body[0]
    if not guards or trial == bare or len(guards) != sum(isinstance(x, n.Guard) for x in walk(s.body)):
        return []
    written = buffers_written(s)
    last = max(position for position, x in enumerate(s.body) if isinstance(x, n.Guard))
    head = s.body[: last + 1]
    if not all(isinstance(x, (n.Let, n.Guard)) for x in head):
        return []
    if any(buffers_read(e) & written for x in head for e in own_exprs(x)):
        return []
    found = Var(names.fresh("failing"), "index")
    made: list[n.Stmt] = []

    def renamed(axis: Expr, guard: bool) -> tuple[list[n.Stmt], Expr]:
        """The checks with names of their own, and whether all of them hold."""
        known: dict[str, Expr] = {s.axis: axis}
        out: list[n.Stmt] = []
        holds: Expr = b.TRUE
        for x in head:
            if isinstance(x, n.Let):
                own = Var(names.fresh(x.name), x.value.dtype)
                out.append(replace(x, name=own.name, value=b.substitute(x.value, known)))
                known[x.name] = own
            elif isinstance(x, n.Guard) and guard:
                args = tuple(b.substitute(a, known) for a in x.args)
                out.append(replace(x, condition=b.substitute(x.condition, known), args=args))
            elif isinstance(x, n.Guard):
                holds = b.both(holds, b.substitute(x.condition, known))
        return out, holds

    counter = Var(names.fresh(s.axis), "index")
    inside, holds = renamed(counter, False)
    failing = n.Accumulate(found.name, "first", b.logical_not(holds), counter, span=s.span)
    made.append(n.Accumulator(found.name, "first", "index", span=s.span))
    made.append(n.Loop(counter.name, s.start, s.stop, b.ONE, "parallel", (*inside, failing), span=s.span))
    fails = b.compare("greater_equal", found, b.ZERO)
    made.append(n.If(fails, tuple(renamed(found, True)[0]), (), span=s.span))
    before = b.either(b.compare("less", found, b.ZERO), b.compare("less", Var(s.axis, "index"), found))
    lets = tuple(x for x in bare.body if isinstance(x, n.Let))
    updates = tuple(x for x in bare.body if not isinstance(x, n.Let))
    made.append(replace(bare, body=(*lets, n.If(before, updates, (), span=s.span))))
    return made

"""A loop in order over batches: each problem of a batch goes through all steps by itself.

    for t in 0 .. n:                                  parallel s in 0 .. b:
        parallel s in 0 .. b:              to             for t in 0 .. n:
            parallel j in 0 .. m: …s, j…                      parallel j in 0 .. m: …s, j…

- *Property.* All that a loop in order does are parallel loops over one range, the problems, with parallel loops inside.
- *Legality.* Nothing that is done for one problem, at any time, meets what is done for another (`lanes_apart`).
- *Schedule.* Then a block takes a problem, and its threads wait for nobody else between two steps (0.03 µs for 1.5),
  nor does a thread take a problem. That pays where problems are small, or many enough for all multiprocessors; where
  they are few and large, all threads work on one step: the loop is there as it was, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.analysis.lanes import lane_loops, lanes_apart
from transkern.analysis.verdicts import Walk
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, map_block, scalars_set, variables_read, walk
from transkern.records import replace

SMALL, MANY = 4096, 128
"""Points of a problem up to which one block is enough for it; problems from which on all multiprocessors have one."""
_STAYING = (n.Guard, n.Compact, n.Scanning, n.While, n.Break, n.Continue, n.Library, n.Return)


def batches_outside(program: n.Program) -> n.Program:
    """The program with such loops inside the loops over the problems."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in program.body):
        return program
    walk_ = _Outside(program)
    return replace(program, body=walk_.block(program.body), variables=walk_.variables, buffers=walk_.buffers)


class _Outside(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop):
            return [self.inside(s)]
        made = self.outside(s) if s.kind == "sequential" and not s.fails else None
        return [s] if made is None else [made]

    def outside(self, s: n.Loop) -> n.Stmt | None:
        """The loop within the loops over problems, where that pays."""
        lanes = [x for x in s.body if isinstance(x, n.Loop) and x.kind == "parallel"]
        lets = s.body[: len(s.body) - len(lanes)]
        if not lanes or not all(isinstance(x, n.Let) for x in lets) or any(map(_stays, lanes)):
            return None
        verdict = self.judged(s)
        if not verdict.by_memory_alone or lane_loops(verdict) is None or not lanes_apart(self.program, verdict):
            return None
        points = _points(lanes, scalars_set(s))
        if points is None or any(buffers_read(x.value) for x in lets if isinstance(x, n.Let)):
            return None
        first = lanes[0]
        body: list[n.Stmt] = [*lets]
        for x in lanes:
            same: dict[Expr, Expr] = {Var(x.axis, "index"): Var(first.axis, "index")}
            body += x.body if x is first else map_block(x.body, same.get)
        made = replace(first, body=(replace(s, body=tuple(body)),))
        whole = with_own_names(s, self.names, self.variables, self.buffers)
        pays = b.either(
            b.compare("less_equal", points, b.index(SMALL)),
            b.compare("greater_equal", b.sub(first.stop, first.start), b.index(MANY)),
        )
        return n.If(pays, (made,), (whole,), span=s.span)


def _stays(lane: n.Loop) -> bool:
    """Whether a problem has no parallel loops of its own, or something that all problems must know of."""
    inside = list(walk(lane.body))
    parallel = any(isinstance(x, n.Loop) and x.kind == "parallel" for x in inside)
    return lane.step != b.ONE or not parallel or any(isinstance(x, _STAYING) for x in inside)


def _points(lanes: Sequence[n.Loop], changing: frozenset[str]) -> Expr | None:
    """How many points the largest parallel nest of a problem has; None where that changes from step to step."""
    most: Expr = b.ZERO

    def nest(block: Sequence[n.Stmt], so_far: Expr) -> bool:
        nonlocal most
        for s in block:
            if not isinstance(s, n.Loop):
                if any(isinstance(x, n.Loop) for x in walk((s,))):
                    return False
                continue
            extent = b.sub(s.stop, s.start)
            if s.step != b.ONE or variables_read(extent) & changing:
                return False
            here = b.mul(so_far, extent)
            most = b.maximum(most, here)
            if not nest(s.body, here):
                return False
        return True

    return most if all(nest(x.body, b.ONE) for x in lanes) else None

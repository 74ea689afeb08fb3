"""Independent lanes run through time each for itself: the loop over the lanes goes outside.

    for t in 1 .. n:                              parallel l in 0 .. m:
        parallel l in 0 .. m:              to         for t in 1 .. n:
            y[t, l] = a * y[t - 1, l] + x[t, l]           y[t, l] = a * y[t - 1, l] + x[t, l]

Legal where nothing that one lane does, at any time, meets what another lane does. One launch then does all of it, a
thread a lane, without a barrier.
"""

from __future__ import annotations

from dataclasses import replace

from transkern.analysis.lanes import lanes_apart
from transkern.analysis.verdicts import Walk
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def lanes_outside(program: n.Program) -> n.Program:
    """The program with recurrences of independent lanes inside the loop over the lanes."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return replace(program, body=_Interchanging(program).block(program.body))


class _Interchanging(Walk):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.Loop(kind="sequential", body=(n.Loop(kind="parallel") as lane,)) if _plain(lane):
                verdict = self.judged(s)
                if verdict.by_memory_alone and lanes_apart(self.program, verdict):
                    return [replace(lane, body=(replace(s, body=lane.body),))]
            case _:
                pass
        return [self.inside(s)]


def _plain(lane: n.Loop) -> bool:
    """Whether the loop over the lanes is all there is in parallel: loops inside it keep their threads otherwise."""
    return not any(
        isinstance(s, (n.Accumulate, n.Guard, n.Alloc, n.Compact, n.Scanning, n.While, n.Break, n.Continue))
        or (isinstance(s, n.Loop) and s.kind == "parallel")
        for s in walk(lane.body)
    )

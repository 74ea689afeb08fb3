"""A first fill of an array goes where each element is stored again before anyone looks:

    alloc y                                          alloc y
    parallel i in 0 .. n: y[i] = 0.0           to    for i in 0 .. n: y[i] = f(x[i])
    for i in 0 .. n: y[i] = f(x[i])                  return y
    return y
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transkern.analysis.coverage import written_before_read
from transkern.analysis.verdicts import Walk
from transkern.ir import nodes as n
from transkern.ir.traverse import buffers_used, buffers_written, walk


def drop_dead_fills(program: n.Program) -> n.Program:
    """The program without fills of new arrays that nobody sees."""
    return replace(program, body=_Dropping(program).block(program.body))


class _Dropping(Walk):
    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        saved = list(self.facts), dict(self.lets)
        kept: list[n.Stmt] = []
        for k, s in enumerate(statements):
            fresh = {x.buffer for x in kept if isinstance(x, n.Alloc)}
            if not self.dead(s, fresh, kept, statements[k + 1 :]):
                kept.append(s)
            self.learn(s)
        self.facts, self.lets = saved
        return super().block(kept)

    def dead(self, s: n.Stmt, fresh: set[str], before: Sequence[n.Stmt], after: Sequence[n.Stmt]) -> bool:
        """Whether a statement fills an array that was made before it in its block, and everything is overwritten."""
        buffer = _filled(s)
        if buffer is None or buffer not in fresh or self.program.buffers[buffer].role == "argument":
            return False
        if any(buffer in buffers_used(x) | buffers_written(x) for x in before):
            return False
        returns = [x for x in walk(after) if isinstance(x, n.Return) and buffer in buffers_used(x)]
        if any(x not in after for x in returns):
            return False
        if self.program.buffers[buffer].role != "temporary" and not returns:
            return False
        behind = tuple(x for x in after if x not in returns)
        return written_before_read(self.program.buffers, buffer, behind, self.surroundings(), bool(returns))


def _filled(s: n.Stmt) -> str | None:
    """The array that loops in parallel fill, and do nothing else."""
    if not isinstance(s, n.Loop):
        return None
    while isinstance(s, n.Loop) and s.kind == "parallel" and len(s.body) == 1:
        s = s.body[0]
    return s.buffer if isinstance(s, n.Store) and s.buffer not in buffers_used(s) else None

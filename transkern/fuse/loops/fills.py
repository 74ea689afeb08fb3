"""A first fill of an array goes where each element is stored again before anyone looks:

    alloc y                                          alloc y
    parallel i in 0 .. n: y[i] = 0.0           to    for i in 0 .. n: y[i] = f(x[i])
    for i in 0 .. n: y[i] = f(x[i])                  return y
    return y

An array that lives on behind the block is stored as a whole within it. Where all but the first elements along each
dimension are stored again (the first row and the first column of a table), only those are filled.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.analysis.coverage import Behind
from transkern.analysis.verdicts import Walk
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_used, buffers_written
from transkern.records import replace


def drop_dead_fills(program: n.Program) -> n.Program:
    """The program without fills of new arrays that nobody sees."""
    return replace(program, body=_Dropping(program, partly=True).block(program.body))


def drop_dead_fills_for_cuda(program: n.Program) -> n.Program:
    """The program without fills of which nobody sees anything: two launches for a row and a column take as long as one
    for all of a table."""
    return replace(program, body=_Dropping(program, partly=False).block(program.body))


class _Dropping(Walk):
    def __init__(self, program: n.Program, partly: bool) -> None:
        super().__init__(program)
        self.partly = partly  # whether what is left is stored by itself
        self.names = Names.of(program)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        if not any(_fill(s)[1] for s in statements):
            return super().block(statements)
        kept: list[n.Stmt] = []
        behind = Behind(self.program.buffers, statements)
        made: set[str] = set()  # allocated so far in this block
        touched: set[str] = set()
        with self.scope():
            for s in statements:
                behind.step()
                for x in self.seen(s, made, touched, behind):
                    kept.append(x)
                    touched |= buffers_used(x) | buffers_written(x)
                if isinstance(s, n.Alloc):
                    made.add(s.buffer)
                self.learn(s)
        return super().block(kept)

    def seen(self, s: n.Stmt, made: set[str], touched: set[str], behind: Behind) -> list[n.Stmt]:
        """What anyone sees of a statement: of one that fills an array made before it in its block, perhaps nothing."""
        nest, buffer = _fill(s)
        info = self.program.buffers.get(buffer)
        if info is None or info.role == "argument":
            return [s]
        around = self.surroundings()
        if buffer not in made or buffer in touched:  # there is something in it, and somebody may look behind the block
            return [] if behind.written_before_read(buffer, around, beyond=True) else [s]
        returned = behind.returns(buffer)
        if returned is None or (info.role != "temporary" and not returned):
            return [s]
        if behind.written_before_read(buffer, around):
            return []
        if len(nest) < 2 or not self.partly or not behind.written_before_read(buffer, around, 1):
            return [s]
        return [self.first(nest, k) for k in range(len(nest))]

    def first(self, nest: Sequence[n.Loop], short: int) -> n.Loop:
        """The nest, with one iteration at most of one of its loops."""
        made: tuple[n.Stmt, ...] = nest[-1].body
        for k, loop in reversed(list(enumerate(nest))):
            made = (replace(loop, body=made, stop=b.minimum(loop.stop, b.ONE) if k == short else loop.stop),)
        assert isinstance(made[0], n.Loop)
        return with_own_names(made[0], self.names, {}, {}) if short else made[0]


def _fill(s: n.Stmt) -> tuple[list[n.Loop], str]:
    """The loops in parallel that fill an array, and do nothing else: one for each dimension in turn. And the array."""
    nest: list[n.Loop] = []
    while isinstance(s, n.Loop) and s.kind == "parallel" and len(s.body) == 1:
        nest.append(s)
        s = s.body[0]
    if not isinstance(s, n.Store) or s.buffer in buffers_used(s):
        return [], ""
    plain = s.index == tuple(Var(loop.axis) for loop in nest) and all(
        (loop.start, loop.step) == (b.ZERO, b.ONE) for loop in nest
    )
    return nest if plain else [], s.buffer

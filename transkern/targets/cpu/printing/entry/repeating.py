"""What stays where it is while loops of the host repeat their steps: memory, and the arrays that show it to libraries.

An iteration that took memory anew, and made an array of NumPy's of it, would take as long for that as a library takes
for a small product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import bodies, buffers_read, scalars_set, variables_read, walk


class Repeating:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        loops = list(_loops(program.body))
        self.changing = {name for s in loops for name in scalars_set(s)}
        self.changing |= {s.axis for s in loops if isinstance(s, n.Loop)}
        allocs = [s.buffer for s in walk(program.body) if isinstance(s, n.Alloc)]
        self.once = {buffer for buffer in allocs if allocs.count(buffer) == 1}
        self.anew = {s.buffer for loop in loops for s in walk((loop,)) if isinstance(s, n.Alloc)}

    def is_same(self, exprs: Iterable[Expr]) -> bool:
        """Whether some numbers are the same in each iteration of all loops."""
        return not any(variables_read(e) & self.changing or buffers_read(e) for e in exprs)

    def keeps(self, buffer: str) -> bool:
        """Whether a temporary that is made in a loop may have the memory of the iteration before."""
        info = self.program.buffers[buffer]
        return info.role == "temporary" and buffer in self.once and self.is_same(info.dims)

    def stays(self, buffer: str) -> bool:
        """Whether a buffer lies where it lay in the iteration before."""
        return buffer not in self.anew or self.keeps(buffer)


def _loops(block: Iterable[n.Stmt]) -> Iterator[n.Loop | n.While]:
    """The loops of the host."""
    for s in block:
        if isinstance(s, (n.Loop, n.While)):
            yield s
        if not isinstance(s, n.Kernel):
            for body in bodies(s):
                yield from _loops(body)

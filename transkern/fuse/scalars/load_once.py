"""What a loop in order loads again and again, far from what its neighbours in lanes load, is loaded before it:

    parallel j in 0 .. m:                            parallel j in 0 .. m:
        for t in 0 .. n:                                 let part = c[j, 1]
            z := z * z + c[j, 1]            to           for t in 0 .. n:
                                                             z := z * z + part

It must be there even if the loop makes no iteration, and the loop must not change it. What lies beside the neighbours'
elements a vector loads as fast as it would its own memory.

What an iteration of such a loop loads for all lanes, if for some of them alone, is loaded before they ask:

    s := s + (w[t] if x[t, j] == x[t, j] else 0.0)   to   let part = w[t];  s := s + (part if … else 0.0)

A load that not all lanes come to is a branch in each, and the loop over them has no vectors then. So is one under a
condition (`if i != t: s += w[t]`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.together import always
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_written,
    exprs,
    is_in_order,
    map_own,
    map_statement,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace


def load_once(program: n.Program) -> n.Program:
    """The program with such elements in names in front of the loops in order inside parallel ones."""
    if not any(is_in_order(s) for s in walk(program.body)):
        return program
    return replace(program, body=_Loading(program).block(program.body))


class _Loading(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names = Names.of(program)
        self.axis = ""  # of the parallel loop around
        self.written: frozenset[str] | None = None  # in the loop in order inside it
        self.steady: set[str] = set()  # axes of loops in order inside it

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, (n.Loop, n.While)) and is_in_order(s):
            return self.loaded(s) if self.axis else [self.inside(s)]
        if self.written is not None and isinstance(s, (n.Let, n.Assign, n.Accumulate, n.Store)):
            return self.asked(s, self.written)
        if self.written is not None and isinstance(s, n.If) and not any(isinstance(x, n.Loop) for x in walk((s,))):
            return self.asked(s, self.written)
        axis, written, steady = self.axis, self.written, self.steady
        if isinstance(s, n.Loop):
            self.axis, self.written, self.steady = s.axis, None, set()
        made = self.inside(s)
        self.axis, self.written, self.steady = axis, written, steady
        return [made]

    def asked(self, s: n.Stmt, written: Collection[str]) -> list[n.Stmt]:
        """A statement of an iteration, behind what it loads for all lanes where a condition of theirs holds."""
        surely = {e for own in own_exprs(s) for e in always(own)}
        found = [
            e for e in dict.fromkeys(e for e in exprs((s,)) if isinstance(e, Load) and e.index and e not in surely)
            if variables_read(e) & self.steady and self.is_steady(e) and e.buffer not in written and is_within(self, e)
        ]  # fmt: skip
        names: dict[Expr, Expr] = {e: Var(self.names.fresh(e.buffer), e.dtype) for e in found}
        changed = map_statement(s, names.get) if isinstance(s, n.If) else map_own(s, names.get)
        return [*(n.Let(v.name, e, span=s.span) for e, v in names.items() if isinstance(v, Var)), changed]

    def is_steady(self, e: Load) -> bool:
        """Whether an element is known from the iteration alone, and sizes."""
        names = variables_read(e) - self.steady
        return all(map(b.is_size_name, names)) and not any(isinstance(x, Load) for i in e.index for x in walk_expr(i))

    def loaded(self, s: n.Loop | n.While) -> list[n.Stmt]:
        own, written = scalars_set(s) | {x.axis for x in walk((s,)) if isinstance(x, n.Loop)}, buffers_written(s)
        found = [
            e for e in dict.fromkeys(e for e in exprs((s,)) if isinstance(e, Load) and e.index)
            if stays(e, own) and e.buffer not in written and not is_beside(e, self.axis, self.program.buffers)
            and is_within(self, e)
        ]  # fmt: skip
        names: dict[Expr, Expr] = {e: Var(self.names.fresh(e.buffer), e.dtype) for e in found}
        lets = [n.Let(v.name, e, span=s.span) for e, v in names.items() if isinstance(v, Var)]
        changed = map_statement(s, names.get)
        outer, steady = self.written, self.steady
        self.written = frozenset(written) if outer is None else outer
        self.steady = steady | ({s.axis} if isinstance(s, n.Loop) else set())
        made = self.inside(changed)
        self.written, self.steady = outer, steady
        return [*lets, made]


def stays(e: Load, own: Collection[str]) -> bool:
    """Whether an element is one and the same while names in `own` change."""
    return not variables_read(e) & set(own) and not any(isinstance(x, Load) for i in e.index for x in walk_expr(i))


def is_beside(e: Load, axis: str, buffers: Mapping[str, n.Buffer]) -> bool:
    """Whether an element is the same for all lanes along an axis, or they have neighbours."""
    buffer = buffers[e.buffer]
    used = [k for k, i in enumerate(e.index) if axis in variables_read(i)]
    if not used:
        return True
    unit = b.affine(e.index[-1])[0].get(Var(axis)) == 1
    return used == [len(e.index) - 1] and unit and buffer.layout == "C" and buffer.aligned


def is_within(walk: Walk, e: Load) -> bool:
    """Whether an element lies in its array, as far as is known where the walk stands."""
    dims = walk.program.buffers[e.buffer].dims
    if len(e.index) != len(dims):  # a place in the memory of an array
        dims = (b.product(dims),)
    return all(
        walk.holds(b.both(b.compare("less_equal", b.ZERO, at), b.compare("less", at, dim)))
        for at, dim in zip(e.index, dims, strict=True)
    )

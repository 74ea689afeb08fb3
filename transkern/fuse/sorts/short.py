"""Short sorts in loops, by the rank of each element:

    for i in 0 .. n:                                for i in 0 .. n:
        sorted = library sort(x[i + p])                 if k <= 64:
        y[i] = sorted[k // 2]                  to           for p in 0 .. k:
                                                                rank = sum of x[i + q] <= x[i + p] for q < p
                                                                     + sum of x[i + q] < x[i + p] for q > p
                                                                sorted[rank] = x[i + p]
                                                        else: sorted = library sort(x[i + p])
                                                        y[i] = sorted[k // 2]

A call of a library takes as long as it takes to compare each of some dozen elements with each, in vectors and without a
branch. It is a stable sort, with NaN last.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from transkern.fuse.lowering.copies import element_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace

_MOST = 64
"""Elements that are sorted in the time of a call."""


def sort_short(program: n.Program) -> n.Program:
    """The program with such sorts, and selections, where they are short."""
    if not any(isinstance(s, n.Library) and s.name in ("sort", "select") for s in walk(program.body)):
        return program
    return _Sorting(program).program()


class _Sorting:
    def __init__(self, program: n.Program) -> None:
        self.given, self.names, self.buffers = program, Names.of(program), program.buffers

    def program(self) -> n.Program:
        return replace(self.given, body=self.block(self.given.body, False))

    def block(self, statements: Iterable[n.Stmt], in_loop: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if in_loop and isinstance(s, n.Library) and s.name in ("sort", "select") and self.suits(s):
                out.append(self.sort(s))
            else:
                inside = in_loop or isinstance(s, (n.Loop, n.While))
                out.append(with_bodies(s, partial(self.block, in_loop=inside)))
        return tuple(out)

    def suits(self, s: n.Library) -> bool:
        (name,), (source, view) = s.outs, s.operands[0]
        made = self.buffers[name]
        if source == name or made.element or is_complex(made.dtype) or len(made.dims) != 1:
            return False
        if made.dtype != self.buffers[source].dtype or (b.constant(made.dims[0]) or 2) > _MOST:
            return False
        return view is None or (len(view.offset) == len(self.buffers[source].dims) and not view.part)

    def sort(self, s: n.Library) -> n.Stmt:
        (name,), (source, view) = s.outs, s.operands[0]
        made = self.buffers[name]
        size, dtype = made.dims[0], made.dtype
        at, before, behind = (Var(self.names.fresh(x), "index") for x in ("at", "before", "behind"))
        value, rank = Var(self.names.fresh("value"), dtype), Var(self.names.fresh("rank"), "int64")

        def element(place: Expr) -> Expr:
            return element_of(self.buffers[source], view, (place,))

        def counted(place: Var, start: Expr, stop: Expr, is_before: Expr) -> n.Loop:
            one = n.Accumulate(rank.name, "sum", b.cast(is_before, "int64"))
            return n.Loop(place.name, start, stop, b.ONE, "parallel", (one,), span=s.span)

        body = (
            n.Let(value.name, element(at), span=s.span),
            n.Accumulator(rank.name, "sum", "int64", span=s.span),
            counted(before, b.ZERO, at, b.logical_not(_precedes(value, element(before)))),
            counted(behind, b.add(at, b.ONE), size, _precedes(element(behind), value)),
            n.Store(name, (b.as_index(rank),), value, span=s.span),
        )
        loop = n.Loop(at.name, b.ZERO, size, b.ONE, "sequential", body, span=s.span)
        few = b.compare("less_equal", size, b.index(_MOST))
        return loop if few == b.TRUE else n.If(few, (loop,), (s,), span=s.span)


def _precedes(one: Expr, other: Expr) -> Expr:
    """Whether an element comes before another one, to which it is not equal; NaN comes before none."""
    if not one.dtype.startswith("float"):
        return Apply("less", (one, other), "bool")
    is_number = Apply("equal", (one, one), "bool")
    return b.both(is_number, b.logical_not(Apply("less_equal", (other, one), "bool")))

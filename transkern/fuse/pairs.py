"""Short reductions of pairs in order, so that lanes go over the pairs: distances, nearest centres, small products.

    parallel i in 0 .. m:                               if (p <= 16):
        parallel j in 0 .. n:                               parallel i in 0 .. m:
            accumulator total by sum             to             parallel j in 0 .. n:
            parallel k in 0 .. p:                                   total := 0
                total sum= (x[i, k] - y[j, k]) ** 2                 for k in 0 .. p: total := total + …
            d[i, j] = total                                         d[i, j] = total
                                                            else: as it was

A vector along a short axis is mostly empty, and its lanes have to be added up for each pair. What each `j` goes over is
the same for every `i`: a turned copy of it serves them all (`turn_arrays`), so that lanes of neighbours load it side by
side. In order, few terms are as exact as NumPy's sum of them; more are left as they were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.fuse.choices import choose, may_choose
from transkern.fuse.columns import Ordering
from transkern.fuse.copies import with_own_names
from transkern.fuse.lanes import contiguous
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import exprs, variables_read, with_bodies

SHORT = 16
"""Terms up to which a sum in order is as exact as one in pairs."""


def order_pairs(program: n.Program) -> n.Program:
    """The program with such reductions in order where they are short."""
    state = _Pairs(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Pairs(Ordering):
    exact = False

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """The statements, nests with themselves in order for where their reductions are short."""
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if not isinstance(s, n.Loop) or s.kind != "parallel":
                out.append(with_bodies(s, self.block))
                continue
            lengths: list[Expr] = []
            made = self.ordered(s, (), lengths)
            condition: Expr = b.TRUE
            for length in dict.fromkeys(lengths):
                condition = b.both(condition, b.compare("less_equal", length, b.index(SHORT)))
            if not lengths or condition in (b.TRUE, b.FALSE):
                out.append(s if condition == b.FALSE else made)
            elif may_choose(out, s, rest):
                other = with_own_names(s, self.names, self.variables, self.buffers)
                rest = choose(out, condition, ((made,), (other,)), rest, self.names, self.variables)
            else:
                out.append(s)
        return tuple(out)

    def ordered(self, s: n.Loop, around: tuple[n.Loop, ...], lengths: list[Expr]) -> n.Loop:
        """The nest with its reductions of pairs in order, whose lengths go into `lengths`."""
        found = self.of_pairs(s, around)
        if found:
            lengths += [b.sub(x.stop, x.start) for x in found]
            return replace(s, body=self.in_order(s.body, s.axis))
        inner = (
            self.ordered(x, (*around, s), lengths) if isinstance(x, n.Loop) and x.kind == "parallel" else x
            for x in s.body
        )
        return replace(s, body=tuple(inner))

    def of_pairs(self, s: n.Loop, around: tuple[n.Loop, ...]) -> list[n.Loop]:
        """The reductions for each iteration of `s`, if all that they read is that iteration's for all around it."""
        rest = tuple(x for x in s.body if not isinstance(x, n.Accumulate))  # what the pairs' own are reduced to
        found = self.columns(replace(s, body=rest)) if s.step == b.ONE else []
        return found if all(self.is_of_pairs(s, x, {loop.axis for loop in around}) for x in found) else []

    def is_of_pairs(self, s: n.Loop, x: n.Loop, outside: set[str]) -> bool:
        if any(isinstance(y, n.Store) for y in x.body) or (variables_read(x.start) | variables_read(x.stop)) & outside:
            return False
        loads = [e for e in exprs(x.body) if isinstance(e, Load)]
        own = [e for e in loads if any(s.axis in variables_read(i) for i in e.index)]
        shared = all(not any(variables_read(i) & outside for i in e.index) for e in own)
        return bool(own) and shared and len(own) < len(loads) and contiguous(s.axis, (x,), self.buffers) <= 0

"""Whether an operand has one element, for all, is asked before a statement, not in its subscripts:

    write m[i] = max(m[0 if size == 1 else i], x[i])      if not size == 1: write m[i] = max(m[i], x[i])
                                                     to   else:             write m[i] = max(m[0], x[i])

Arrays whose lengths only the run knows have such subscripts wherever they meet. The first statement stores each element
from its own, and needs no array in between; it is what nearly all calls come to (loop unswitching).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, own_exprs, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_CONDITIONS = 4
"""So many at most: what asks more is no pair of arrays."""


def unswitch_subscripts(program: n.Program) -> n.Program:
    """The program with stores of which a condition, the same for all elements, chooses the subscripts, in two forms."""
    if not any(isinstance(s, n.Write) for s in walk(program.body)):
        return program
    names = Names.of(program)

    def block(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            made = _in_two(s, names) if isinstance(s, n.Write) else None
            out.append(with_bodies(s, block) if made is None else made)
        return tuple(out)

    return replace(program, body=block(program.body))


def _in_two(s: n.Write, names: Names) -> n.If | None:
    conditions = _conditions(s)
    if not 0 < len(conditions) <= _CONDITIONS:
        return None

    def chosen(e: Expr) -> Expr | None:
        match e:
            case Apply("where", (condition, _, other)) if condition in conditions:
                return b.map_expr(other, chosen)
            case _:
                return None

    index = tuple(b.map_expr(i, chosen) for i in s.index)
    value = b.map_expr(s.value, chosen)
    mask = None if s.mask is None else b.map_expr(s.mask, chosen)
    axes = tuple(Axis(names.fresh(a.name), b.map_expr(a.extent, chosen)) for a in s.axes)
    own: dict[str, Expr] = {a.name: x.var for a, x in zip(s.axes, axes, strict=True)}
    many = replace(
        s, axes=axes, index=tuple(b.substitute(i, own) for i in index), value=b.substitute(value, own),
        mask=None if mask is None else b.substitute(mask, own),
    )  # fmt: skip
    several = reduce(b.both, map(b.logical_not, conditions))
    return n.If(several, (many,), (s,), span=s.span)


def _conditions(s: n.Write) -> dict[Expr, None]:
    """The comparisons of sizes with 1 that choose in subscripts of what the statement reads of its own target."""
    inside = {a.name for a in s.axes}
    found: dict[Expr, None] = {}
    own = False
    for e in (x for whole in own_exprs(s) for x in walk_expr(whole)):
        if isinstance(e, Reduce):
            return {}
        if not isinstance(e, Load):
            continue
        for x in (x for i in e.index for x in walk_expr(i)):
            match x:
                case Apply("where", (condition, one, _)) if b.constant(one) == 0:
                    if not variables_read(condition) & inside and not buffers_read(condition):
                        found[condition] = None
                        own = own or e.buffer == s.buffer
                case _:
                    pass
    return found if own else {}

"""A choice between versions of a loop, with the reductions that it takes part in:

    accumulator total by sum                       if (p <= 16):
    parallel i in 0 .. n: total sum= …                 accumulator total_1 by sum; parallel …; total_2 = total_1
    y = total / n                          to      else:
                                                       accumulator total_3 by sum; parallel …; total_2 = total_3
                                                   y = total_2 / n

A loop and the reductions that it makes are one kernel, so that each version has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lowering.copies import with_names
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import continued, map_block


def may_choose(before: Sequence[n.Stmt], s: n.Stmt, behind: Sequence[n.Stmt]) -> bool:
    """Whether a statement may become a choice: the reductions that it goes on with are its own, and begin before it
    among the same statements."""
    names = continued((s,))
    declared = {x.name for x in before if isinstance(x, n.Accumulator)}
    return names <= declared and not names & (continued(before) | continued(behind))


def choose(
    before: list[n.Stmt], conditions: Sequence[Expr], versions: Sequence[Sequence[n.Stmt]],
    behind: Sequence[n.Stmt], names: Names, variables: dict[str, str],
) -> list[n.Stmt]:
    """Appends the choice to what stands before: of the version whose condition is the first to hold, or of the last
    one, which needs none. Returns what stands behind it, which reads what any comes to."""
    going_on = continued(versions[0])
    begun = [x for x in before if isinstance(x, n.Accumulator) and x.name in going_on]
    before[:] = [x for x in before if not any(x is y for y in begun)]
    totals = {x.name: Var(names.fresh(x.name), x.dtype) for x in begun}
    variables.update({v.name: v.dtype for v in totals.values()})
    branches: list[tuple[n.Stmt, ...]] = []
    for block in versions:
        own = {x.name: names.fresh(x.name) for x in begun}
        ends = (n.Assign(totals[x.name].name, Var(own[x.name], x.dtype), span=x.span) for x in begun)
        branches.append((*with_names((*begun, *block), own), *ends))
    chosen = branches[-1]
    for condition, branch in reversed(list(zip(conditions, branches[:-1], strict=True))):
        chosen = (n.If(condition, branch, chosen, span=versions[0][-1].span),)
    before += chosen
    if not begun:
        return list(behind)
    return list(map_block(tuple(behind), lambda e: totals.get(e.name) if isinstance(e, Var) else None))



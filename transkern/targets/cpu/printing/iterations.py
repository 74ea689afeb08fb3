"""What iterations of a loop have for themselves, and what they hand to each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.fuse.schedule.columns import PART
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Var
from transkern.ir.traverse import own_exprs, variables_read, walk, walk_expr
from transkern.targets.operands import kind_of

_LANES = 64  # elements of the narrowest type in the widest vector


def is_serial(s: n.Loop) -> bool:
    """Whether a parallel loop has no vectors: it may end early, or what it looks for depends on the order."""
    declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    return any(
        isinstance(x, (n.Guard, n.Compact))
        or (isinstance(x, n.Accumulate) and x.name not in declared and x.op in ("argmax", "argmin", "first", "last"))
        for x in walk(s.body)
    )


def is_for_one_thread(s: n.Loop) -> bool:
    """Whether a parallel loop is for one thread: as `is_serial`, but threads can tell which of their iterations is the
    first or the last, where these are what is counted."""
    if (b.constant(s.step) or 0) < 1:
        return is_serial(s)
    declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    return any(
        isinstance(x, (n.Guard, n.Compact))
        or (isinstance(x, n.Accumulate) and x.name not in declared and not _is_for_threads(x, s))
        for x in walk(s.body)
    )


def _is_for_threads(x: n.Accumulate, s: n.Loop) -> bool:
    return x.op not in ("argmax", "argmin", "first", "last") or (
        x.op in ("first", "last") and x.position == Var(s.axis, "index")
    )


def sums_a_part(s: n.Loop) -> set[str]:
    """The sums that a loop makes of no more terms than are added up in a block, where it does nothing else."""
    extent = b.constant(b.sub(s.stop, s.start))
    plain = all(isinstance(x, n.Let) or (isinstance(x, n.Accumulate) and x.op == "sum") for x in s.body)
    if s.kind != "parallel" or s.step != b.ONE or extent is None or extent > PART or not plain:
        return set()
    return {x.name for x in s.body if isinstance(x, n.Accumulate)}


def private_variables(block: Iterable[n.Stmt]) -> set[str]:
    """The variables that belong to an iteration of a parallel loop."""
    return {
        x.name for s in walk(block) if isinstance(s, n.Loop) and s.kind == "parallel"
        for x in walk(s.body) if isinstance(x, n.Assign)
    }  # fmt: skip


def own_variables(loop: n.Loop) -> set[str]:
    """The variables that an iteration of this loop declares: those that no loop inside it has for itself."""
    assigned = {x.name for x in walk(loop.body) if isinstance(x, n.Assign)}
    assigned -= {x.name for x in walk(loop.body) if isinstance(x, n.Let)}  # declared where they are bound
    inner = [x for x in walk(loop.body) if isinstance(x, n.Loop) and x.kind == "parallel"]
    for name in list(assigned):
        if any(_mentions((x,), name) == _mentions(loop.body, name) for x in inner):
            assigned.discard(name)
    return assigned


def _mentions(block: Iterable[n.Stmt], name: str) -> int:
    """How often statements read or set a scalar."""
    return sum(
        (isinstance(s, n.Assign) and s.name == name)
        + sum(isinstance(e, Var) and e.name == name for own in own_exprs(s) for e in walk_expr(own))
        for s in walk(block)
    )


def chains(s: n.Loop) -> bool:
    """Whether each iteration adds to a float that the one before it left."""
    return any(
        isinstance(x, n.Assign) and kind_of(x.value.dtype) == "f" and x.name in variables_read(x.value)
        for x in walk(s.body)
    )


def rounded(s: n.Loop) -> n.Loop:
    """The range widened to whole vectors, where that does no harm: no scalar iterations are left at its ends."""
    assert s.spare is not None
    lanes = b.index(_LANES)
    start = b.mul(lanes, Apply("floor_divide", (s.start, lanes), "index")) if b.constant(s.start) is None else s.start
    up = b.mul(lanes, Apply("floor_divide", (b.add(s.stop, b.index(_LANES - 1)), lanes), "index"))
    stop = b.minimum(up, s.spare) if s.stop != s.spare else s.stop
    return replace(s, start=start, stop=stop)

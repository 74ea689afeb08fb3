"""Points leave a loop in order whose iterations change nothing of theirs any more:

    for t in 0 .. n:                                 for t in 0 .. n:
        live := live & (z < 4)                           live := live & (z < 4)
        z := (z * z + c) if live else z         to       if not live: break
                                                         z := (z * z + c) if live else z

A mask that only shrinks is an exit (as is one that what it guards alone decides): once it is false, an iteration leaves
all as it was, and so does the next. That is found by running the body with the mask false, in symbols: every variable
must come out as itself, and every element be stored as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial

from transkern.analysis.symbols import Symbols, knowing
from transkern.analysis.verdicts import own_variables, reads_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_written, map_block, scalars_set, walk, walk_expr, with_bodies
from transkern.records import replace

_FEW = 8
"""Iterations of a loop that no point leaves."""


def leave_early(program: n.Program) -> n.Program:
    """The program whose loops in order inside parallel ones end for a point when nothing changes for it any more."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    reads, names, variables = reads_of(program.body), Names.of(program), program.variables

    def block(body: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            if inside and isinstance(s, n.Loop) and s.kind == "sequential" and not _is_short(s):
                s = _with_exit(s, out, reads, names, own_variables(s, variables, reads))
            deeper = inside or (isinstance(s, n.Loop) and s.kind == "parallel")
            out.append(with_bodies(s, partial(block, inside=deeper)))
        return tuple(out)

    return replace(program, body=block(program.body, False))


def _is_short(s: n.Loop) -> bool:
    """Whether a loop has so few iterations that vectors of points run all of them before one finds its last."""
    extent = b.difference(s.stop, s.start)
    return extent is not None and extent <= _FEW


def _with_exit(
    loop: n.Loop, before: Sequence[n.Stmt], reads: Mapping[str, int], names: Names, own: Set[str]
) -> n.Loop:
    """The loop with a `Break` behind the first mask that allows one; `before`: the statements in front of it, `own`:
    the variables that each iteration has for itself."""
    if not all(isinstance(s, (n.Let, n.Assign, n.Store, n.If)) for s in walk(loop.body)):
        return loop
    sets: dict[str, int] = {}  # the last statement that sets a truth
    for k, s in enumerate(loop.body):
        found = [x for x in walk((s,)) if isinstance(x, n.Assign) or (isinstance(x, n.Let) and x is s)]
        sets |= {x.name: k for x in found if x.value.dtype == "bool"}
    for mask, k in sets.items():
        if _settles(loop, k, mask, own):
            off: dict[Expr, Expr] = {Var(mask, "bool"): b.FALSE}
            for behind in range(k, len(loop.body)):  # the first place from where on nothing is to be done
                rest = Symbols(off)
                if rest.run(loop.body[behind + 1 :]) and not _kept(rest.changed(), loop.body, own):
                    return _left(loop, k, behind, mask, before, reads, names)
    return loop


def _left(
    loop: n.Loop, k: int, last: int, mask: str, before: Sequence[n.Stmt], reads: Mapping[str, int], names: Names
) -> n.Loop:
    """The loop that is left behind its statement `last` where its statement `k` has left the mask false."""
    first, s, between, rest = loop.body[:k], loop.body[k], loop.body[k + 1 : last + 1], loop.body[last + 1 :]
    holds: Expr = Var(mask, "bool")
    if mask not in {x.name for x in walk((*first, *between, *rest)) if isinstance(x, (n.Let, n.Assign))}:
        rest = knowing(rest, holds)  # whoever comes here has not left
        begun = next((x for x in reversed(before) if mask in scalars_set(x)), None)
        alone = scalars_set(s) == {mask} and not buffers_written(s)
        if isinstance(begun, n.Assign) and begun.value == b.TRUE and alone:
            first, running = knowing(first, holds), Symbols({holds: b.TRUE})
            if running.run((s,)) and reads[mask] == reads_of(loop.body)[mask]:
                s = n.Let(names.fresh(mask), running.values[holds], span=s.span)
                own = Var(s.name, "bool")
                between, holds = map_block(between, {holds: own}.get), own
    stop = n.If(b.logical_not(holds), (n.Break(span=s.span),), span=s.span)
    return replace(loop, body=(*first, s, *between, stop, *rest))


def _settles(loop: n.Loop, k: int, mask: str, own: Set[str]) -> bool:
    """Whether the iterations change nothing that follow one whose statement `k` left the mask false."""
    off: dict[Expr, Expr] = {Var(mask, "bool"): b.FALSE}
    whole = Symbols(off)
    s = loop.body[k]
    if not isinstance(s, n.Let) and whole.run(loop.body) and not _kept(whole.changed(), loop.body, own):
        return True  # once false, it stays so
    if not isinstance(s, (n.Let, n.Assign)):
        return False
    # what decides it is as it was, so that it comes out the same: false
    whole = Symbols()
    if not whole.run(loop.body[: k + 1]) or _kept(whole.changed(), loop.body, own) - {mask}:
        return False
    decided = {e.name for e in walk_expr(whole.values[Var(mask, "bool")]) if isinstance(e, Var)}
    rest = Symbols(off)
    if loop.axis in decided or mask in decided or not rest.run(loop.body[k + 1 :]):
        return False
    return not _kept(rest.changed(), loop.body, own)


def settled_at_end(loop: n.Loop) -> Expr | None:
    """What holds where a loop is left at the end of an iteration behind which all others would change nothing."""
    match loop.body[-1]:
        case n.If(condition, (n.Break(),), ()):
            off: dict[Expr, Expr] = {condition: b.TRUE, b.logical_not(condition): b.FALSE}
            before, whole = loop.body[:-1], Symbols(off)
            if all(isinstance(s, n.Let | n.Assign) for s in before) and whole.run(before):
                return None if _kept(whole.changed(), before, set()) else condition
    return None


def _kept(changed: Sequence[Expr], body: Sequence[n.Stmt], own: Set[str]) -> set[str]:
    """What of it an iteration hands on: variables, and elements."""
    lets = {s.name for s in walk(body) if isinstance(s, n.Let)}
    return {e.name if isinstance(e, Var) else e.buffer for e in changed if isinstance(e, (Var, Load))} - own - lets

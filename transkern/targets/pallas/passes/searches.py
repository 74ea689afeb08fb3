"""A mask that only shrinks and is searched for its first or last element in each iteration of a loop:

    while:
        last = the last alive p < high
        and while last >= 0:
        …; parallel p < last: alive[p] = alive[p] and c
        high := last

The kernel keeps the position itself, as a float, where the mask holds, and less than any position elsewhere. The
search is then one maximum, taken where the array is written; ``p < last`` compares the array with its own maximum, and
no index arithmetic is left.

Positions are the floats 2**23 + p: their bits are those of 2**23 plus p, so that both directions of the conversion are
one integer addition (an integer maximum takes twice as long on a TPU, and float-to-int conversion four bundles).
"""

from __future__ import annotations

from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_written, exprs, walk


@dataclass(frozen=True, slots=True)
class Search:
    """The accumulator `result` is the `op` ("first" or "last") position where `mask` holds within `window`."""

    loop: n.While
    result: str
    op: str
    mask: str
    extent: Expr
    window: tuple[Expr, ...]
    axis: str
    update: n.Loop
    inside: tuple[n.Stmt, ...]
    bound: tuple[Expr, ...]
    condition: Expr

    @property
    def dead(self) -> str:
        return "0.0" if self.op == "last" else "jnp.inf"


def _reads(loop: n.While, mask: str) -> int:
    """How often a loop reads a mask."""
    return sum(isinstance(e, Load) and e.buffer == mask for e in exprs((loop,)))


def search_of(loop: n.While, siblings: tuple[n.Stmt, ...]) -> Search | None:
    """The search that the loop's head is made of, where its mask is used for nothing else in the kernel."""
    match loop.head:
        case (
            n.Accumulator(result, "first" | "last" as op),
            n.Loop(axis=axis, start=start, stop=extent, body=body, kind="parallel"),
        ) if b.constant(start) == 0:
            window: tuple[Expr, ...] = ()
            if len(body) == 1 and isinstance(body[0], n.If) and not body[0].orelse:
                window, body = tuple(conjuncts(body[0].condition)), body[0].then
        case _:
            return None
    match body:
        case (n.Accumulate(_, _, Load(mask, (Var() as at,), "bool"), position),) if (
            at == Var(axis, "index") == position
        ):
            pass
        case _:
            return None
    updates = [s for s in loop.body if mask in buffers_written(s)]
    loads = [e for s in siblings for e in exprs((s,)) if isinstance(e, Load) and e.buffer == mask]
    if len(updates) != 1 or len(loads) != 2 or _reads(loop, mask) != 2:
        return None
    (update,) = updates
    if not isinstance(update, n.Loop) or b.difference(update.stop, extent) != 0:
        return None
    inside = update.body
    bound: tuple[Expr, ...] = ()
    if len(inside) == 1 and isinstance(inside[0], n.If) and not inside[0].orelse:
        bound, inside = tuple(conjuncts(inside[0].condition)), inside[0].then
    here = Load(mask, (Var(update.axis, "index"),), "bool")
    match inside[-1]:
        case n.Store(_, index, Apply("logical_and" | "and_then", (x, y), _)) if index == here.index and here in (x, y):
            condition = y if x == here else x
        case _:
            return None
    if any(isinstance(s, (n.Accumulate, n.Loop, n.If)) for s in walk(inside)):
        return None
    after = {s.name: s.value for s in loop.body if isinstance(s, n.Assign)}
    later = {b.substitute(b.substitute(w, {axis: Var(update.axis, "index")}), after) for w in window}
    if later != set(bound):  # what the update leaves alone must be outside the next search's window
        return None
    return Search(loop, result, op, mask, extent, window, axis, update, inside, bound, condition)

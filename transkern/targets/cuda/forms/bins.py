"""Counts of a block in memory of its own: where many threads count in few places, they wait for each other there alone.

    atomicAdd(&h[x[i]], 1);          to          if (few) atomicAdd(&h_bins[x[i]], 1u); else atomicAdd(&h[x[i]], 1);
                                                 …
                                                 for (k …) if (h_bins[k]) atomicAdd(&h[k], h_bins[k]);

A bin has 32 bits, as a block has fewer iterations than that; what it is worth in the array, all updates have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transkern.fuse.lowering.updates import operand
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load
from transkern.ir.storage import itemsize, storage
from transkern.ir.traverse import exprs, walk
from transkern.targets.clike import ident
from transkern.targets.cuda.spelling import TYPES

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

BINS = 1024
"""Places up to which a block counts by itself."""
_EACH = 16
"""Iterations for each place from which that is worth its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Bins:
    """A buffer's bins: the array of a block, the variable that says whether it counts there, the parameter that says
    how many places the buffer has at most, and what each count adds."""

    array: str
    few: str
    places: str
    worth: int


def bins_of(group: GroupBody, inner: Sequence[n.Stmt]) -> dict[str, Bins]:
    """The bins of the buffers in which the iterations of a grid kernel do nothing but to count."""
    worth: dict[str, set[int]] = {}
    others: set[str] = set()
    loads = Counter(e.buffer for e in exprs(tuple(inner)) if isinstance(e, Load))
    for s in walk(inner):
        found = operand(s) if isinstance(s, n.Store) and s.atomic else None
        match s, found and times(found[1], found[0]):
            case n.Store(buffer), (int(value), _):
                worth.setdefault(buffer, set()).add(value)
                loads[buffer] -= 1  # that of the element itself
            case (n.Store(buffer), _) | (n.Alloc(buffer), _):
                others.add(buffer)
            case _:
                pass
    unit, buffers = group.unit, group.unit.program.buffers

    def bins(name: str, value: int) -> Bins:
        array, few, places = (unit.local(f"{ident(name)}_{what}") for what in ("bins", "few", "places"))
        return Bins(array, few, places, value)

    return {
        name: bins(name, *values)
        for name, values in worth.items()
        if len(values) == 1 and name not in others and not loads[name]
        and buffers[name].layout == "C" and buffers[name].aligned and buffers[name].dims
    }  # fmt: skip


def times(added: Expr, op: str = "add") -> tuple[int, Expr | None] | None:
    """What an update adds, and the condition under which it adds that and not zero; None where it is no count."""
    match added:
        case Const(int(value)) if op == "add":
            return value, None
        case Apply("where", (condition, Const(int(value)), Const(0))) if op == "add":
            return value, condition
        case _:
            return None


def open_bins(group: GroupBody, bins: dict[str, Bins], total: Expr) -> None:
    """Declares the bins, and empties them."""
    c, k = group.c, group.unit.local("k")
    for of in bins.values():
        group.line(f"__shared__ unsigned {of.array}[{BINS}];")
        enough = f"{_EACH} * {of.places} <= {c.expr(total)}"
        group.line(f"const bool {of.few} = {of.places} <= {BINS} && {enough};")
        group.line(f"if ({of.few})")
        group.line(f"    for (int {k} = threadIdx.x; {k} < {of.places}; {k} += blockDim.x) {of.array}[{k}] = 0;")
    if bins:
        group.line("__syncthreads();")


def close_bins(group: GroupBody, bins: dict[str, Bins]) -> None:
    """Adds to the arrays what the block has counted."""
    k = group.unit.local("k")
    if bins:
        group.line("__syncthreads();")
    for name, of in bins.items():
        buffer = group.unit.program.buffers[name]
        unsigned = TYPES[f"uint{8 * itemsize(storage(buffer.dtype))}"]
        count = f"({unsigned}){of.array}[{k}]" + ("" if of.worth == 1 else f" * ({unsigned})({of.worth})")
        group.open(f"if ({of.few})")
        group.open(f"for (int {k} = threadIdx.x; {k} < {of.places}; {k} += blockDim.x)")
        group.line(f"if ({of.array}[{k}]) atomicAdd(({unsigned} *)&{ident(name)}[{k}], {count});")
        group.close()
        group.close()

"""Which slot of a block each axis has: the order is that in which most accesses walk them, and a kernel's own arrays
follow.

    for j: for i: e[j, i] := exp(x[i, j]); for i: out[i, j] := e[j, i] / …      to      blocks of i, j with e[i, j]
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import bodies, buffers_read, exprs, map_block, variables_read, walk, with_bodies

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host

_MOST = 5
"""Slots of which all orders are tried."""


def slots_of(statements: Iterable[n.Stmt], depth: int = 0) -> tuple[int, dict[str, int]]:
    """The slot of each axis by how deep its loop stands, and how many there are."""
    rank, slots = depth, {}
    for s in statements:
        inner = depth
        match s:
            case n.Loop(axis=axis, kind="parallel") | n.Scanning(axis=axis):
                slots[axis] = depth
                inner = depth + 1
            case n.Compact(axis=axis, inner=axes):
                slots[axis] = depth
                slots |= {a.name: depth + 1 + k for k, a in enumerate(axes)}
                inner = depth + 1
                rank = max(rank, depth + 1 + len(axes))
            case _:
                pass
        rank = max(rank, inner)
        for body in bodies(s):
            found, more = slots_of(body, inner)
            rank, slots = max(rank, found), slots | more
    return rank, slots


def turned(kernel: n.Kernel, rank: int, slots: dict[str, int], own: AbstractSet[str]) -> dict[str, int]:
    """The slots in the order in which most accesses walk them; arrays of the kernel's `own` have no say."""
    if not 2 <= rank <= _MOST:
        return slots
    walked = [
        [slots[v] for i in index for v in sorted(variables_read(i)) if v in slots]
        for of, index in _accesses(kernel) if of not in own
    ]  # fmt: skip

    def score(order: tuple[int, ...]) -> int:
        """How many accesses of several slots walk them in this order, less those that do not."""
        ranks = [[order[s] for s in w] for w in walked if len(set(w)) == len(w) > 1]
        return sum(1 if r == sorted(r) else -1 for r in ranks)

    best = max(itertools.permutations(range(rank)), key=score)  # the first is the order as it is
    return {a: best[s] for a, s in slots.items()}


def turned_arrays(host: Host, kernel: n.Kernel, slots: Mapping[str, int], own: AbstractSet[str]) -> n.Kernel:
    """The kernel with its `own` arrays' dimensions in the order of the slots, where all accesses walk them alike. The
    host gets to know these arrays; those of the kernel as given stay, as it may become XLA ops after all."""
    walked: dict[str, set[tuple[int, ...]]] = {}
    for of, index in _accesses(kernel):
        if of in own:
            at = tuple(slots.get(e.name, -1) if isinstance(e, Var) else -1 for e in index)
            walked.setdefault(of, set()).add(at)
    orders: dict[str, tuple[int, ...]] = {}
    names: dict[str, str] = {}
    for of, ways in walked.items():
        buffer, (way, *others) = host.program.buffers[of], sorted(ways)
        if others or buffer.element or -1 in way or len(set(way)) != len(buffer.dims) or list(way) == sorted(way):
            continue
        order = orders[of] = tuple(sorted(range(len(way)), key=way.__getitem__))
        made = names[of] = host.module.fresh(f"{host.module.identifier(of)}_turned")
        host.module.identifiers[made] = made
        turned_one = replace(buffer, name=made, dims=tuple(buffer.dims[k] for k in order))
        program = replace(host.program, buffers={**host.program.buffers, made: turned_one})
        host.module.program = host.program = program
    if not orders:
        return kernel

    def load(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer not in orders:
            return None
        return Load(names[e.buffer], tuple(e.index[k] for k in orders[e.buffer]), e.dtype)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(map(statement, statements))

    def statement(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Alloc) and s.buffer in orders:
            return replace(s, buffer=names[s.buffer])
        if isinstance(s, n.Store) and s.buffer in orders:
            return replace(s, buffer=names[s.buffer], index=tuple(s.index[k] for k in orders[s.buffer]))
        return with_bodies(s, block)

    return replace(kernel, body=block(map_block(kernel.body, load)))


_PLACES = ("add", "maximum", "minimum", "subtract")


def with_places(kernel: n.Kernel, variables: Container[str]) -> n.Kernel:
    """The kernel whose subscripts say what they are, where a name stands for ``min(j + 1, n - 1)`` and the like."""

    def stays(e: Expr) -> bool:
        """Whether a value is a place, and the same wherever it stands in an iteration."""
        if not isinstance(e, Apply) or e.op not in _PLACES or e.dtype != "index" or buffers_read(e):
            return False
        return not any(v in variables for v in variables_read(e))

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for k, s in enumerate(statements):
            if isinstance(s, n.Let) and stays(s.value):
                named: dict[Expr, Expr] = {Var(s.name, s.value.dtype): s.value}
                return (*out, *block(map_block(statements[k + 1 :], named.get)))
            out.append(with_bodies(s, block))
        return tuple(out)

    return replace(kernel, body=block(kernel.body))


def _accesses(kernel: n.Kernel) -> list[tuple[str, tuple[Expr, ...]]]:
    found = [(s.buffer, s.index) for s in walk(kernel.body) if isinstance(s, n.Store)]
    return found + [(e.buffer, e.index) for e in exprs(kernel.body) if isinstance(e, Load)]

"""Kernels of few points that follow each other are one, of one block:

    kernel f_edges:  parallel i in 0 .. 257: edges[i] = …
    kernel f_each:   parallel i in 0 .. 256: each[i] = … edges[i + 1]        one launch, and a barrier where
    kernel f_counts: parallel i in 0 .. 256: counts[place[i]] += each[i]     threads touch what others have

A launch takes longer than all of their work. They are those whose loops have up to as many points as a block has
threads, by constants: bins, levels, rows of a table. What is allocated between them is there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    map_block,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.targets.cuda.launches import BLOCK_THREADS
from transkern.targets.cuda.nests import nest

_TOGETHER = (n.Let, n.Accumulator, n.Accumulate, n.Loop, n.Scanning, n.Store, n.Guard, n.If)


def merge_small_kernels(program: n.Program) -> n.Program:
    """The program with kernels of few points joined to those of few points before them."""

    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        run: int | None = None  # where a kernel stands that the next one may join
        for s in statements:
            if isinstance(s, n.Kernel):
                joined = _joined(out[run], s, names) if run is not None and _is_small(s) else None
                if joined is not None and run is not None:
                    out[run] = joined
                    continue
                run = len(out) if _is_small(s) else None
                out.append(s)
            elif run is not None and _goes_before(program, s, out[run]):
                out.insert(run, s)
                run += 1
            else:
                run = None
                out.append(with_bodies(s, block))
        return tuple(out)

    return replace(program, body=block(program.body))


def _joined(first: n.Stmt, then: n.Kernel, names: Names) -> n.Kernel | None:
    """Both kernels as one; None where variables of theirs have one name. What the second one has loaded from where the
    first one leaves it gets a name of its own."""
    assert isinstance(first, n.Kernel)
    body, taken = then.body, scalars_set(first)
    for k, s in enumerate(body):
        if isinstance(s, n.Let) and s.name in taken:
            new = names.fresh(s.name)
            body = (*body[:k], replace(s, name=new), *_renamed(body[k + 1 :], s.name, new))
    if any(isinstance(s, (n.Accumulator, n.Assign)) and s.name in taken for s in body):
        return None
    return replace(first, body=(*first.body, *body), placement="block")


def _renamed(block: tuple[n.Stmt, ...], old: str, new: str) -> tuple[n.Stmt, ...]:
    return map_block(block, lambda e: replace(e, name=new) if isinstance(e, Var) and e.name == old else None)


def _is_small(kernel: n.Kernel) -> bool:
    """Whether a block has a thread for each point of a kernel's loops, none of which goes in order."""
    return all(isinstance(s, _TOGETHER) for s in walk(kernel.body)) and _few(kernel.body)


def _few(statements: Iterable[n.Stmt]) -> bool:
    for s in statements:
        inner: Sequence[n.Stmt] = ()
        if isinstance(s, n.Scanning):
            extents = [b.constant(s.stop)]
        elif isinstance(s, n.Loop):
            axes, inner = nest(s)
            extents = [b.difference(a.stop, a.start) for a in axes]
            if s.kind != "parallel":
                return False
        else:
            if not all(map(_few, bodies(s))):
                return False
            continue
        points = 1
        for e in extents:
            points *= BLOCK_THREADS + 1 if e is None else abs(e)
        if points > BLOCK_THREADS or any(isinstance(x, (n.Loop, n.Scanning)) for x in walk(inner)):
            return False
    return True


_PLAIN = frozenset(("add", "subtract", "multiply", "minimum", "maximum", "cast", "where"))
"""Operations that raise nothing on the host."""


def _goes_before(program: n.Program, s: n.Stmt, kernel: n.Stmt) -> bool:
    """Whether the host may make an array, or compute a number, before a kernel that stands before it."""
    if not isinstance(s, (n.Alloc, n.Let)):
        return False
    read = program.buffers[s.buffer].dims if isinstance(s, n.Alloc) else (s.value,)
    if any(buffers_read(e) or variables_read(e) & scalars_set(kernel) for e in read):
        return False
    return all(x.op in _PLAIN for e in read for x in walk_expr(e) if isinstance(x, Apply))

"""Give every parallel loop bounds that are known when JAX traces:

    parallel p in low .. high: f(x[p])      to      parallel q in 0 .. n: if low <= q < high: f(x[q])

Shapes are static in JAX, so a loop over a part of an array that moves runs over all of it under a mask.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import buffers_read, exprs, map_block, variables_read, walk, with_bodies
from transkern.targets.pallas.static import privatise, static_scalars
from transkern.targets.pallas.values import Module


def mask_windows(program: n.Program) -> tuple[n.Program, dict[str, str]]:
    """The program with static bounds in all parallel loops, scans and compactions, and in all buffers' dims.

    Also gives the scalar arguments that must be known when JAX traces, with their dtypes.
    """

    def bounded(e: Expr) -> Expr | None:
        return (
            b.substitute(program.bounds[e.name], program.bounds)
            if isinstance(e, Var) and e.name in program.bounds
            else None
        )

    buffers = {
        name: replace(buffer, dims=tuple(b.map_expr(d, bounded) for d in buffer.dims))
        for name, buffer in program.buffers.items()
    }
    program, static = static_scalars(replace(program, buffers=buffers))
    return privatise(replace(program, body=_block(program, program.body, frozenset(static)))), static


def _block(program: n.Program, block: tuple[n.Stmt, ...], static: frozenset[str]) -> tuple[n.Stmt, ...]:
    return tuple(_statement(program, s, static) for s in block)


def _statement(program: n.Program, s: n.Stmt, static: frozenset[str]) -> n.Stmt:
    def known(*es: Expr) -> bool:
        return all(is_size(e, static) for e in es)

    match s:
        case n.Loop(axis, start, stop, step, "parallel", _) if not known(start, stop, step):
            shift, extent = _domain(program, s, static)
            p = Var(axis, "index")

            def change(e: Expr) -> Expr | None:
                return b.sub(p, shift) if e == p else None

            inside = b.both(
                b.compare("less_equal", b.add(start, shift), p) if not _is_zero(b.add(start, shift)) else b.TRUE,
                b.compare("less", p, b.add(stop, shift)) if b.difference(b.add(stop, shift), extent) != 0 else b.TRUE,
            )
            body = _block(program, map_block(s.body, change), static)
            return replace(s, start=b.ZERO, stop=extent, body=(n.If(inside, body, span=s.span),))
        case n.Compact(start=start, stop=stop) if not known(start, stop):
            raise Module.of(program, False).error("a compaction over a range that changes as the function runs", s.span)
        case _:
            return with_bodies(s, lambda body: _block(program, body, static))


def _domain(program: n.Program, s: n.Loop, static: frozenset[str]) -> tuple[Expr, Expr]:
    """By how much to shift the axis so that it walks an array from its start, and that array's length."""
    if s.step == b.ONE:
        extents: list[tuple[Expr, Expr]] = []
        for buffer, index in _accesses(s):
            for at, dim in zip(index, program.buffers[buffer].dims, strict=False):
                if len(index) != len(program.buffers[buffer].dims) or s.axis not in variables_read(at):
                    continue
                terms, total = b.affine(at)
                if terms.get(Var(s.axis, "index")) != 1:
                    continue
                shift = b.from_affine(
                    {t: c for t, c in terms.items() if t != Var(s.axis, "index") and not is_size(t, static)}, 0
                )
                if total == 0 and all(t == Var(s.axis, "index") or not is_size(t, static) for t in terms):
                    extents.insert(0, (shift, dim))
                else:
                    extents.append((shift, dim))
        if extents:
            return extents[0]
        length = b.sub(s.stop, s.start)
        if is_size(length, static):
            return b.neg(s.start), length
    raise Module.of(program, False).error("a loop whose length is not known from the shapes", s.span)


def _accesses(s: n.Stmt) -> list[tuple[str, tuple[Expr, ...]]]:
    found = [(x.buffer, x.index) for x in walk((s,)) if isinstance(x, n.Store)]
    return found + [(e.buffer, e.index) for e in exprs((s,)) if isinstance(e, Load)]


def _is_zero(expr: Expr) -> bool:
    return b.constant(expr) == 0


def is_size(expr: Expr, static: Collection[str] = ()) -> bool:
    """Whether an index expression is made of shapes alone, so that it is a Python integer when JAX traces."""
    return not buffers_read(expr) and all(
        v in static or (b.is_size_name(v) and not v.endswith(".size")) for v in variables_read(expr)
    )

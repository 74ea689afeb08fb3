"""Give every parallel loop bounds that are known when JAX traces:

    parallel p in low .. high: f(x[p])      to      parallel q in 0 .. n: if low <= q < high: f(x[q])

Shapes are static in JAX, so a loop over a part of an array that moves runs over all of it under a mask. A loop that no
array bounds runs its iterations one after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.polynomials import multiplied, polynomial
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    exprs,
    map_block,
    own_exprs,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.targets.pallas.forms.values import Module
from transkern.targets.pallas.passes.static import is_seen_whole, privatise, static_scalars


def mask_windows(program: n.Program) -> tuple[n.Program, dict[str, str], list[str]]:
    """The program with static bounds in all parallel loops, scans and compactions, and in all buffers' dims.

    Also gives the scalar arguments that must be known when JAX traces, with their dtypes, and the sizes of which that
    holds, too.
    """

    def bounded(e: Expr) -> Expr | None:
        return (
            b.substitute(program.bounds[e.name], program.bounds)
            if isinstance(e, Var) and e.name in program.bounds
            else None
        )

    def roomy(d: Expr, of: n.Buffer) -> Expr:
        """A dim of which data make less than `n` of what has `n` places, as all of them: where a loop goes over all of
        that, with others beside it, no array is too short."""
        terms, total = b.affine(b.inhabited(d))
        open_names = [t for t in terms if isinstance(t, Var) and t.name in program.bounds]
        if of.role != "temporary" or total >= 0 or list(terms.values()) != [1] or not open_names:
            return b.map_expr(d, bounded)
        whole = not is_seen_whole(program, of.name)
        return b.map_expr(open_names[0] if whole else d, bounded)

    buffers = {
        name: replace(buffer, dims=tuple(roomy(d, buffer) for d in buffer.dims))
        for name, buffer in program.buffers.items()
    }
    program, static, asked = static_scalars(replace(program, buffers=buffers))
    known = frozenset(static) | set(asked)
    return privatise(replace(program, body=_block(program, program.body, known))), static, asked


def _block(program: n.Program, block: tuple[n.Stmt, ...], static: frozenset[str]) -> tuple[n.Stmt, ...]:
    return tuple(_statement(program, s, static) for s in block)


def _statement(program: n.Program, s: n.Stmt, static: frozenset[str]) -> n.Stmt:
    def known(*es: Expr) -> bool:
        return all(is_size(e, static) for e in es)

    match s:
        case n.Loop(axis, start, stop, Const(1), "parallel", _) if _side_by_side(program, start, stop, static):
            place, p = b.add(start, Var(axis, "index")), Var(axis, "index")
            body = map_block(s.body, lambda e: place if e == p else None)
            return replace(s, start=b.ZERO, stop=b.sub(stop, start), body=_block(program, body, static))
        case n.Loop(axis, start, stop, step, "parallel", _) if not known(start, stop, step):
            found = _domain(program, s, static)
            if found is None:  # any order will do: one after the other
                return replace(s, kind="sequential", body=_block(program, s.body, static))
            shift, extent = found
            p = Var(axis, "index")
            place, inside = _masked(s, shift, extent)
            body = _block(program, map_block(s.body, lambda e: place if e == p else None), static)
            body = body if inside == b.TRUE else (n.If(inside, body, span=s.span),)
            return replace(s, start=b.ZERO, stop=extent, step=b.ONE, body=body)
        case n.Compact(start=start, stop=stop) if not known(start, stop):
            return _whole_compaction(program, s, static)
        case n.Scanning(stop=stop) if not known(stop):
            return _whole_scan(program, s, static)
        case _:
            return with_bodies(s, lambda body: _block(program, body, static))


def _side_by_side(program: n.Program, start: Expr, stop: Expr, static: frozenset[str]) -> bool:
    """Whether a window moves by its own length, which is known when JAX traces: ``i * k .. i * k + k``. Together such
    windows are the array in another shape; under a mask, each would go through all of it."""
    extent = b.sub(stop, start)
    length, terms = polynomial(extent), polynomial(start)
    if length is None or terms is None or not is_size(extent, static):
        return False
    moved = {factors: count for factors, count in terms.items() if not all(is_size(f, static) for f in factors)}
    axes = {f for factors in moved for f in factors if not is_size(f, static)}
    if len(axes) != 1 or not isinstance(axis := axes.pop(), Var):
        return False
    around = any(isinstance(s, n.Loop) and s.axis == axis.name and s.kind == "parallel" for s in walk(program.body))
    return around and moved == multiplied(length, {(axis,): 1})


def _masked(s: n.Loop, shift: Expr | None, extent: Expr) -> tuple[Expr, Expr]:
    """What the axis stands for when it walks all of a dimension, and where the loop does."""
    p, size = Var(s.axis, "index"), b.constant(s.step)
    assert size is not None
    if shift is None:
        place = b.add(s.start, b.mul(b.index(size), p))
        return place, b.compare("less", place, s.stop) if size > 0 else b.compare("less", s.stop, place)
    start, stop = b.add(s.start, shift), b.add(s.stop, shift)
    inside = b.both(
        b.compare("less_equal", start, p) if not _is_zero(start) else b.TRUE,
        b.compare("less", p, stop) if b.difference(stop, extent) != 0 else b.TRUE,
    )
    return b.sub(p, shift), inside


def _whole_compaction(program: n.Program, s: n.Compact, static: frozenset[str]) -> n.Compact:
    """A compaction over a range that moves, as one over all of an array that it reads."""
    at, p = Var(s.count, "index"), Var(s.axis, "index")
    kept = tuple(n.Store(out, (at,), value) for out, value in zip(s.outputs, s.values, strict=True) if not s.inner)
    loop = n.Loop(s.axis, s.start, s.stop, b.ONE, "parallel", (*s.body, n.If(s.mask, kept, ())), span=s.span)
    found = _domain(program, loop, static)
    if found is None or not all(is_size(a.extent, static) for a in s.inner):
        raise Module.of(program, False).error("a compaction over a range that changes as the function runs", s.span)
    place, inside = _masked(loop, *found)

    def placed(e: Expr) -> Expr | None:
        return place if e == p else None

    return replace(
        s, start=b.ZERO, stop=found[1], body=map_block(_block(program, s.body, static), placed),
        mask=b.both(inside, b.map_expr(s.mask, placed)), values=tuple(b.map_expr(v, placed) for v in s.values),
    )  # fmt: skip


def _whole_scan(program: n.Program, s: n.Scanning, static: frozenset[str]) -> n.Scanning:
    """A scan up to a place that moves, as one of all that there may be: what is behind changes nothing before it."""
    loop = n.Loop(s.axis, b.ZERO, s.stop, b.ONE, "parallel", (n.Store(s.buffer, s.index, s.value),), span=s.span)
    found = _domain(program, replace(loop, body=(*s.body, *loop.body)), static)
    if found is None or found[0] is None or not _is_zero(found[0]):
        raise Module.of(program, False).error("a scan over a range that changes as the function runs", s.span)
    return replace(s, stop=found[1], body=_block(program, s.body, static))


def _domain(program: n.Program, s: n.Loop, static: frozenset[str]) -> tuple[Expr | None, Expr] | None:
    """By how much to shift the axis so that it walks an array from its start, and that array's length.

    What has an effect touches the array, so there are no more such iterations than places in that dimension. Without a
    shift, the axis counts iterations instead. None where no array bounds the loop.
    """
    axis = Var(s.axis, "index")
    extents, counted = list[tuple[Expr | None, Expr]](), list[tuple[Expr | None, Expr]]()
    exact = list[tuple[Expr, Expr]]()
    if b.constant(s.step) in (None, 0) or any(isinstance(x, n.Guard) for x in walk(s.body)):
        return None
    for buffer, index in _accesses(s):
        dims = program.buffers[buffer].dims
        for position, (at, dim) in enumerate(zip(index, dims, strict=False)):
            if len(index) != len(dims) or s.axis not in variables_read(at):
                continue
            terms, total = b.affine(at)
            factor = terms.get(axis, 0)
            if factor == 0 or any(t != axis and s.axis in variables_read(t) for t in terms):
                continue
            if any(variables_read(t) & _bound_in(s) for t in terms) or not is_size(dim, static):
                continue
            if not _covered(s.body, buffer, position, at):
                continue
            if s.step != b.ONE or factor != 1:
                counted.append((None, dim))
                continue
            shift = b.from_affine({t: c for t, c in terms.items() if t != axis and not is_size(t, static)}, 0)
            if total == 0 and all(t == axis or not is_size(t, static) for t in terms):
                exact.append((shift, dim))
            else:
                extents.append((shift, dim))
    if exact:  # of arrays of several lengths, what runs is within the shortest
        shift = exact[-1][0]
        return shift, functools.reduce(_shorter, (dim for at, dim in reversed(exact) if at == shift))
    if extents or counted:
        return (extents or counted)[0]
    length = b.sub(s.stop, s.start)
    if s.step == b.ONE and is_size(length, static):
        return b.neg(s.start), length
    return None


def _shorter(one: Expr, other: Expr) -> Expr:
    return one if b.at_least(other, one) else other if b.at_least(one, other) else b.minimum(one, other)


def _bound_in(s: n.Stmt) -> set[str]:
    """The names that have a value inside the statement only."""
    found = {x.name for x in walk((s,)) if isinstance(x, (n.Let, n.Assign, n.Accumulator))}
    return found | {x.axis for x in walk((s,)) if isinstance(x, n.Loop)} - {s.axis if isinstance(s, n.Loop) else ""}


def _covered(block: Iterable[n.Stmt], buffer: str, position: int, at: Expr) -> bool:
    """Whether nothing takes effect without an access to the buffer at that place of that dimension."""

    def touches(index: tuple[Expr, ...]) -> bool:
        return len(index) > position and index[position] == at

    def sure(e: Expr) -> bool:
        match e:
            case Load(of, index):
                return (of == buffer and touches(index)) or any(sure(i) for i in index)
            case Apply("where" | "and_then" | "or_else", args):
                return sure(args[0])
            case Apply(_, args):
                return any(sure(a) for a in args)
            case _:
                return False

    effects = []
    for s in block:
        if any(sure(e) for e in own_exprs(s)) and not isinstance(s, (n.Loop, n.While, n.Compact, n.Scanning)):
            return True
        if isinstance(s, n.Store) and s.buffer == buffer and touches(s.index):
            return True
        if not isinstance(s, (n.Let, n.Assign, n.Alloc, n.Accumulator)):
            effects.append(s)
    return all(
        any(True for _ in bodies(s)) and all(_covered(body, buffer, position, at) for body in bodies(s))
        for s in effects
    )


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

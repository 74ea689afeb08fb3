"""Of an array of sums only the part is computed that anyone reads:

    c[i] = sum(x[i + r - n + 1] * y[r] …) for i < 2 * n - 1        c[i] = sum(x[i + r] * y[r] …) for i < k
    out[i] = c[i + n - 1]                 for i < k          to    out[i] = c[i]                 for i < k

(``c = np.convolve(a, b)``, of which later lines take ``c[n - 1 : n - 1 + k]``.) All reads must begin at the same
place. Nobody sees it: what is computed of elements raises nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    is_longer,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace

_READERS = (n.Define, n.Let, n.Assign, n.Write, n.Guard)
"""What reads elements alone, along axes of its own."""

_PARTS = 32
"""Of a place whose names are looked through, at most: names of names may have parts without end."""


def compute_read(program: n.Program) -> n.Program:
    """The program without elements of sums that nobody reads."""
    for position, s in enumerate(program.body):
        if isinstance(s, n.Define) and _is_dear(s, program):
            part = _part(program, position, s)
            if part is not None:
                return compute_read(_narrowed(program, s, *part))
    return program


def _is_dear(s: n.Define, program: n.Program) -> bool:
    """Whether a temporary of one dimension has sums for elements."""
    info = program.buffers[s.buffer]
    sums = any(isinstance(e, Reduce) for e in walk_expr(s.value))
    return sums and info.role == "temporary" and len(s.axes) == len(info.dims) == 1 and s.buffer not in program.bounds


def _part(program: n.Program, position: int, s: n.Define) -> tuple[Expr, Expr] | None:
    """Where the elements that are read begin, and how many there are; None where it is all, or not known."""
    extent = s.axes[0].extent
    statements = list(walk(program.body))
    lets = {x.name: x.value for x in program.body if isinstance(x, n.Let) and x.value.dtype == "index"}
    times = Counter(name for x in statements for name in scalars_set(x))
    before = {x.name for x in program.body[:position] if isinstance(x, n.Let)}
    if sum(s.buffer in buffers_written(x) for x in statements) != 1:
        return None
    sizes = (d for x in program.buffers.values() for d in (*x.dims, x.low, x.high) if d is not None)
    if any(s.buffer in buffers_read(d) for d in sizes):
        return None
    first: Expr | None = None
    count: Expr = b.ZERO
    for x in program.body[position + 1 :]:
        if s.buffer not in buffers_used(x):
            continue
        if not isinstance(x, _READERS):
            return None
        for load, around in _loads(x, s.buffer):
            found = _range(load, around, extent)
            if found is None:
                return None
            at, length = (_told(e, lets) for e in found)
            if first is not None and b.difference(first, at) != 0:
                return None
            first, count = at, b.maximum(count, length)
    if first is None or any(buffers_read(e) for e in (first, count)):
        return None
    for name in variables_read(first) | variables_read(count):
        if times[name] and not (name in before and times[name] == 1):
            return None
    if first == b.ZERO and (b.difference(count, extent) == 0 or not b.is_nonnegative(b.sub(extent, count))):
        return None
    return first, count


def _told(e: Expr, lets: dict[str, Expr]) -> Expr:
    """An expression, of what names stand for."""
    while variables_read(e) & lets.keys() and not is_longer(e, _PARTS):
        e = b.substitute(e, lets)
    return e


def _loads(s: n.Stmt, buffer: str) -> Iterator[tuple[Load | None, tuple[Axis, ...]]]:
    """Where a statement reads elements in any case, with the axes around; None for what it may not come to."""
    left: list[tuple[Expr, tuple[Axis, ...], bool]] = [(e, getattr(s, "axes", ()), True) for e in own_exprs(s)]
    while left:
        e, around, surely = left.pop()
        match e:
            case Load(name, index):
                if name == buffer:
                    yield (e if surely else None), around
                left += [(i, around, surely) for i in index]
            case Apply("where" | "and_then" | "or_else", (condition, *others)):
                left.append((condition, around, surely))
                left += [(x, around, False) for x in others]
            case Apply(_, args):
                left += [(x, around, surely) for x in args]
            case Reduce(_, axes, body):
                left.append((body, (*around, *axes), surely))
            case _:
                pass


def _range(load: Load | None, around: tuple[Axis, ...], extent: Expr) -> tuple[Expr, Expr] | None:
    """Where what is read along the axes begins, and how long it is: of one place that a check has still to find in the
    array, nothing where it is not."""
    if load is None or len(load.index) != 1:
        return None
    (place,) = load.index
    terms, _ = b.affine(place)
    moving = [a for a in around if a.name in variables_read(place)]
    if not moving:
        there = b.both(b.compare("less_equal", b.ZERO, place), b.compare("less", place, extent))
        return place, b.where(there, b.ONE, b.ZERO)
    (axis, *others) = moving
    if others or terms.get(axis.var) != 1:
        return None
    return b.substitute(place, {axis.name: b.ZERO}), axis.extent


def _narrowed(program: n.Program, s: n.Define, first: Expr, count: Expr) -> n.Program:
    (axis,) = s.axes
    value = b.substitute(s.value, {axis.name: b.add(axis.var, first)})
    made = replace(s, axes=(replace(axis, extent=count),), value=value)

    def moved(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer == s.buffer:
            return replace(e, index=(b.sub(e.index[0], first),))
        return None

    body = map_block(tuple(made if x is s else x for x in program.body), moved)
    buffers = {**program.buffers, s.buffer: replace(program.buffers[s.buffer], dims=(count,))}
    return replace(program, body=body, buffers=buffers)

"""What a nest of parallel loops holds for its outer loops alone, or one behind the other, gets loops of its own:

    parallel i in 0 .. n:                         parallel i in 0 .. n:
        parallel j in 0 .. m:                         parallel j in 0 .. m:
            inter[i, j] = f(a[i], b[j])      to           inter[i, j] = f(a[i], b[j])
        area[i] = g(a[i])                         parallel i in 0 .. n: area[i] = g(a[i])

    parallel k in 0 .. 9:                         parallel k in 0 .. 9:
        t = new array of n                            parallel i in 0 .. n: t[k, i] = f(k, i)
        parallel i in 0 .. n: t[i] = f(k, i)  to  parallel k in 0 .. 9:
        parallel i in 0 .. n: y[k, i] = t[n - i]      parallel i in 0 .. n: y[k, i] = t[k, n - i]

- *Property.* In a parallel loop stands one long parallel loop, and beside it statements without loops that hand no
  variables to it, and take none from it. Or the loop is known to have up to 32 iterations, and has long parallel loops
  one behind the other; what an iteration has for itself gets memory for all of them. Or it stands in no loop in order,
  and has parallel loops one behind the other of which one has loops for each point: groups of channels in images, which
  are normalised, and then scaled.
- *Legality.* No iteration meets another, so all of one part may come before all of the next; where one stores what
  another one touches, they keep their order. No part may end an iteration.
- *Schedule.* A thread takes a point of a perfect nest, but a whole row of one that is not: fused for one launch less,
  a matrix of 700 rows had 700 threads; so had nine directions nine, and eight images eight blocks. In a loop in order a
  group of threads has the nest, whose warps take a row each where its elements are neighbours: there it stays, without
  another barrier in each step.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_LONG = 32
"""A loop that is known to have no more iterations is a thread's own."""
_PLAIN = (n.Let, n.Assign, n.Store, n.If, n.Loop, n.Accumulator, n.Accumulate)


def part_nests(program: n.Program) -> n.Program:
    """The program with such statements in loops of their own."""
    if not any(isinstance(s, n.Loop) and s.kind == "parallel" for s in walk(program.body)):
        return program
    names, variables, buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "parallel":
                out += parted(s, outermost=True)
            elif isinstance(s, n.Loop | n.While):
                out.append(with_bodies(s, inside))
            else:
                out.append(with_bodies(s, block))
        return tuple(out)

    def inside(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """The statements of a loop in order."""
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "parallel":
                out += [s] if _is_for_warps(s) else parted(s)
            else:
                out.append(with_bodies(s, inside))
        return tuple(out)

    def parted(loop: n.Loop, outermost: bool = False) -> list[n.Stmt]:
        axes, body = [loop], loop.body
        while len(body) == 1 and isinstance(body[0], n.Loop) and body[0].kind == "parallel":
            axes.append(body[0])
            body = body[0].body
        out: list[n.Stmt] = []
        parts = _steps(axes, body, buffers, outermost)
        if parts is not None:
            out += [s for s in body if isinstance(s, n.Alloc)]
            parts = [_for_all(part, axes, out) for part in parts]
            for s in out:
                assert isinstance(s, n.Alloc)
                old = buffers[s.buffer]
                buffers[s.buffer] = replace(old, dims=(*(a.stop for a in axes), *old.dims))
        else:
            parts = _parts(body)
        if parts is None:
            return [loop]
        for k, part in enumerate(parts):
            whole = _around(axes, part)
            if k:
                whole = with_own_names(whole, names, variables, buffers)
            out += parted(whole, outermost) if any(isinstance(s, n.Loop) for s in part) else [whole]
        return out

    return replace(program, body=block(program.body), variables=variables, buffers=buffers)


def _is_for_warps(s: n.Loop) -> bool:
    """Whether a row of a nest is all elements side by side, so that a warp takes it."""
    loops = [x for x in s.body if isinstance(x, n.Loop)]
    if len(loops) != 1 or len(loops[0].body) != 1 or not isinstance(loops[0].body[0], n.Store):
        return False
    axis = loops[0].axis
    touched = [loops[0].body[0].index, *(e.index for e in exprs(loops) if isinstance(e, Load))]
    along = [index for index in touched if any(axis in variables_read(i) for i in index)]
    return bool(along) and all(
        axis in variables_read(index[-1]) and not any(axis in variables_read(i) for i in index[:-1]) for index in along
    )


def _around(axes: Sequence[n.Loop], body: tuple[n.Stmt, ...]) -> n.Loop:
    for a in reversed(axes):
        body = (replace(a, body=body),)
    (whole,) = body
    assert isinstance(whole, n.Loop)
    return whole


def _steps(
    axes: Sequence[n.Loop], body: Sequence[n.Stmt], buffers: dict[str, n.Buffer], outermost: bool
) -> list[tuple[n.Stmt, ...]] | None:
    """The statements of few iterations, or those of which one has loops for each of its points, each with the names
    that it needs; None where they do not go apart, or where nothing is gained."""
    count = b.constant(b.product(tuple(a.stop for a in axes)))
    if any(a.start != b.ZERO or a.step != b.ONE for a in axes):
        return None
    lets = [s for s in body if isinstance(s, n.Let)]
    steps = [s for s in body if not isinstance(s, n.Let | n.Alloc)]
    if count is None or count > _LONG:
        if not outermost or len(lets) + len(steps) < len(body) or not _have_rows(steps):
            return None
    long = sum(isinstance(s, n.Loop) and s.kind == "parallel" and _is_long(s) for s in steps)
    if len(steps) < 2 or not long or not all(isinstance(s, _PLAIN) for s in walk(steps)):
        return None
    own = [buffers[s.buffer] for s in body if isinstance(s, n.Alloc)]
    inside = {*(a.axis for a in axes), *(name for s in body for name in scalars_set(s))}
    if any(x.layout != "C" or x.element or x.is_reserved for x in own):
        return None
    if any(variables_read(d) & inside for x in own for d in x.dims):
        return None
    written = {name for s in body for name in buffers_written(s)}
    changed = {name for s in steps for name in scalars_set(s)}
    if any({*buffers_used(s)} & written or scalars_used(s) & changed for s in lets):
        return None
    for k, s in enumerate(steps):
        mine = scalars_set(s)
        if any(mine & (scalars_used(x) | scalars_set(x)) for x in (*steps[:k], *steps[k + 1 :])):
            return None
    return [_with_names(lets, body, [s]) for s in steps]


def _have_rows(steps: Sequence[n.Stmt]) -> bool:
    """Whether all are parallel loops, and one of them has loops for each point of its nest."""
    innermost = list[n.Stmt]()
    for s in steps:
        if not isinstance(s, n.Loop) or s.kind != "parallel":
            return False
        at = s
        while len(at.body) == 1 and isinstance(at.body[0], n.Loop) and at.body[0].kind == "parallel":
            at = at.body[0]
        innermost += at.body
    return any(isinstance(x, n.Loop) for x in walk(innermost))


def _for_all(part: tuple[n.Stmt, ...], axes: Sequence[n.Loop], allocs: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The statements with arrays of one iteration as those of all."""
    own = {s.buffer for s in allocs if isinstance(s, n.Alloc)}
    at = tuple(Var(a.axis, "index") for a in axes)

    def read(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in own:
            return Load(e.buffer, (*at, *(b.map_expr(i, read) for i in e.index)), e.dtype)
        return None

    def stored(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Store) and s.buffer in own:
            return replace(s, index=(*at, *s.index))
        return with_bodies(s, lambda inner: tuple(map(stored, inner)))

    return tuple(map(stored, map_block(part, read)))


def _parts(body: Sequence[n.Stmt]) -> list[tuple[n.Stmt, ...]] | None:
    """The one long loop of an iteration and the statements beside it, in their order, each with the names that it
    needs; None where they do not go apart."""
    loops = [s for s in body if isinstance(s, n.Loop)]
    if len(loops) != 1 or loops[0].kind != "parallel" or len(body) < 2 or not _is_long(loops[0]):
        return None
    if not all(isinstance(s, _PLAIN) for s in walk(body)):
        return None
    (loop,) = loops
    written = {name for s in body for name in buffers_written(s)}
    lets = [s for s in body if isinstance(s, n.Let) and not set(buffers_used(s)) & written]
    beside = [s for s in body if s is not loop and not any(s is x for x in lets)]
    if not any(isinstance(x, n.Store) for x in walk(beside)):
        return None
    set_here = scalars_set(loop)
    for s in beside:
        touched = scalars_used(s) | scalars_set(s)
        if any(isinstance(x, n.Loop) for x in walk((s,))) or touched & set_here or scalars_set(s) & scalars_used(loop):
            return None
    changed = {name for s in (loop, *beside) for name in scalars_set(s)}
    if any(scalars_used(x) & changed for x in lets):
        return None
    at = next(k for k, s in enumerate(body) if s is loop)
    before = [s for s in beside if any(s is x for x in body[:at])]
    if not any(_meets(s, loop) for s in before):
        before = []  # one loop for all that stands beside
    behind = [s for s in beside if not any(s is x for x in before)]
    return [_with_names(lets, body, part) for part in (before, [loop], behind) if part]


def _meets(s: n.Stmt, loop: n.Loop) -> bool:
    """Whether one of the two stores what the other one touches."""
    made, in_loop = set(buffers_written(s)), set(buffers_written(loop))
    return bool(made & {*buffers_used(loop), *in_loop} or in_loop & set(buffers_used(s)))


def _with_names(lets: Sequence[n.Let], body: Sequence[n.Stmt], wanted: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The statements wanted, with the names that they need, in their order."""
    needed = {name for s in wanted for name in scalars_used(s)}
    kept: list[n.Stmt] = []
    for s in reversed(body):
        if any(s is x for x in wanted):
            kept.append(s)
        elif isinstance(s, n.Let) and any(s is x for x in lets) and s.name in needed:
            kept.append(s)
            needed |= scalars_used(s)
    return tuple(reversed(kept))


def _is_long(s: n.Loop) -> bool:
    extent: int | None = 1
    at: n.Stmt = s
    while extent is not None and isinstance(at, n.Loop) and at.kind == "parallel":
        here = b.constant(b.sub(at.stop, at.start))
        extent = None if here is None else extent * here
        if len(at.body) != 1:
            break
        (at,) = at.body
    return extent is None or extent > _LONG

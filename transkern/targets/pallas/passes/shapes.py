"""Arrays that are given another shape when they are done have a kernel of their own, and XLA gives them the shape:

    parallel i: parallel j: t[i, j] = f(x[i, j])          parallel i: parallel j: t[i, j] = f(x[i, j])
                parallel k: y[i, k] = t[…k // m, k % m]   to   parallel i: parallel k: y[i, k] = t[…k // m, k % m]

- *Property.* In parallel loops stand nests one behind the other. One of them only stores elements of an array that the
  nests before it have made; the subscripts are quotients or remainders of axes.
- *Legality.* No iteration of a parallel loop meets another, so all of one part may come before all of the next. One
  hands no variables to the other.
- *Schedule.* A block has no place for a position in memory: the kernel of both would be operations of XLA's as a whole.
"""

from __future__ import annotations

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_used, buffers_written, scalars_set, scalars_used, walk, walk_expr
from transkern.records import replace

_DIVISIONS = ("floor_divide", "remainder")


def part_shapes(program: n.Program) -> n.Program:
    """The program whose loops end before an array has another shape."""
    names, variables, buffers = Names.of(program), dict(program.variables), dict(program.buffers)
    body: list[n.Stmt] = []
    for s in program.body:
        if isinstance(s, n.Loop) and s.kind == "parallel" and (parts := _parted(s)) is not None:
            body += [parts[0], with_own_names(parts[1], names, variables, buffers)]
        else:
            body.append(s)
    return replace(program, body=tuple(body), variables=variables, buffers=buffers)


def _parted(loop: n.Loop) -> tuple[n.Loop, n.Loop] | None:
    around, body = [loop], loop.body
    while len(body) == 1 and isinstance(body[0], n.Loop) and body[0].kind == "parallel":
        around.append(body[0])
        body = body[0].body
    for k in range(1, len(body)):
        before, behind = body[:k], body[k:]
        if _gives_shape(body[k], before) and _part(before, behind):
            return _within(around, before), _within(around, behind)
    return None


def _gives_shape(s: n.Stmt, before: tuple[n.Stmt, ...]) -> bool:
    """Whether a nest only stores elements of an array that statements before it make, at quotients."""
    while isinstance(s, n.Loop) and s.kind == "parallel" and len(s.body) == 1:
        (s,) = s.body
    if not isinstance(s, n.Store):
        return False
    made = {name for x in before for name in buffers_written(x)}
    return any(isinstance(e, Load) and e.buffer in made and any(map(_divides, e.index)) for e in walk_expr(s.value))


def _divides(e: Expr) -> bool:
    return any(isinstance(x, Apply) and x.op in _DIVISIONS and x.dtype == "index" for x in walk_expr(e))


def _part(before: tuple[n.Stmt, ...], behind: tuple[n.Stmt, ...]) -> bool:
    """Whether one part of an iteration hands nothing but elements of arrays of all iterations to the other."""
    own = {s.name for s in walk(before) if isinstance(s, (n.Let, n.Accumulator))}
    arrays = {s.buffer for s in walk(before) if isinstance(s, n.Alloc)}
    named = {name for s in before for name in scalars_set(s)}
    used = {name for s in behind for name in (*scalars_used(s), *scalars_set(s))}
    if any(isinstance(s, (n.Guard, n.Continue, n.Break, n.Return, n.Library)) for s in walk((*before, *behind))):
        return False
    return named <= own and not named & used and not any(arrays & set(buffers_used(s)) for s in behind)


def _within(around: list[n.Loop], body: tuple[n.Stmt, ...]) -> n.Loop:
    for loop in reversed(around):
        body = (replace(loop, body=body),)
    (whole,) = body
    assert isinstance(whole, n.Loop)
    return whole

"""A temporary that ends as a result of another shape lives in the result's memory:

    z[i, j] = …                    for i < n, j < m                  y[i * m + j] = …       for i < n, j < m
    y[e] = z[e // m, e % m]        for e < n * m           to

NumPy's ``return z.reshape(-1)`` copies nothing, either.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.polynomials import polynomial
from transkern.ir.traverse import buffers_used, buffers_written, map_own, walk, with_bodies
from transkern.records import replace


def reshape_in_place(program: n.Program) -> n.Program:
    """The program without such copies."""
    for position, s in enumerate(program.body):
        names = _copied(s, program)
        if names is not None and _is_free(program, position, *names):
            return reshape_in_place(_together(program, position, *names))
    return program


def _copied(s: n.Stmt, program: n.Program) -> tuple[str, str] | None:
    """A temporary all of whose elements a statement stores into a result, in their order, and the result."""
    axes: list[Expr] = []
    extents: list[Expr] = []
    while isinstance(s, n.Loop) and s.kind == "parallel" and s.start == b.ZERO and s.step == b.ONE and len(s.body) == 1:
        axes.append(Var(s.axis))
        extents.append(s.stop)
        s = s.body[0]
    if not axes or not isinstance(s, n.Store) or not isinstance(s.value, Load):
        return None
    mine, theirs = program.buffers[s.value.buffer], program.buffers[s.buffer]
    if (mine.role, theirs.role) != ("temporary", "result"):
        return None
    if (mine.dtype, mine.element) != (theirs.dtype, theirs.element):
        return None
    sizes = [b.product(dims) for dims in (tuple(extents), mine.dims, theirs.dims)]
    places = [b.ravel(axes, extents), _place(s.value.index, mine.dims), _place(s.index, theirs.dims)]
    alike = all(_same(few[0], x) for few in (sizes, places) for x in few[1:])
    return (mine.name, theirs.name) if alike else None


def _place(index: Sequence[Expr], dims: Sequence[Expr]) -> Expr:
    return b.ravel(index, dims) if len(index) == len(dims) else index[0]


def _same(x: Expr, y: Expr) -> bool:
    one = polynomial(x)
    return one is not None and one == polynomial(y)


def _is_free(program: n.Program, position: int, mine: str, theirs: str) -> bool:
    """Whether nobody sees a temporary behind its copy, nor the result before; no library has either."""
    if mine in program.bounds or theirs in program.bounds or program.buffers[mine].is_reserved:
        return False
    before, behind = program.body[:position], program.body[position + 1 :]
    if sum(isinstance(s, n.Alloc) and s.buffer == mine for s in before) != 1:
        return False
    for s in walk(before):
        if isinstance(s, n.Return) or (isinstance(s, n.Library) and mine in buffers_used(s) | buffers_written(s)):
            return False
        if isinstance(s, n.Alloc) and s.buffer in (mine, theirs) and s not in before:
            return False
        if not isinstance(s, n.Alloc) and theirs in buffers_used(s) | buffers_written(s):
            return False
    return not any(mine in buffers_used(s) | buffers_written(s) for s in behind)


def _together(program: n.Program, position: int, mine: str, theirs: str) -> n.Program:
    dims = program.buffers[mine].dims
    groups = _merged(dims, program.buffers[theirs].dims)

    def at(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if groups is None or len(index) != len(dims):
            return (_place(index, dims),)
        return tuple(b.ravel([index[k] for k in group], [dims[k] for k in group]) for group in groups)

    def read(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer != mine:
            return None
        return Load(theirs, at(tuple(b.map_expr(i, read) for i in e.index)), e.dtype)

    def changed(s: n.Stmt) -> n.Stmt:
        s = map_own(s, read)
        if isinstance(s, (n.Store, n.Scanning)) and s.buffer == mine:
            s = replace(s, buffer=theirs, index=at(s.index))
        elif isinstance(s, n.Alloc) and s.buffer == mine:
            s = replace(s, buffer=theirs)
        return with_bodies(s, lambda body: tuple(map(changed, body)))

    body = [
        changed(s) for k, s in enumerate(program.body)
        if k != position and not (isinstance(s, n.Alloc) and s.buffer == theirs)
    ]  # fmt: skip
    buffers = {name: buffer for name, buffer in program.buffers.items() if name != mine}
    buffers[theirs] = replace(buffers[theirs], low=None, high=None, permutation=False)
    return replace(program, body=tuple(body), buffers=buffers)


def _merged(dims: Sequence[Expr], into: Sequence[Expr]) -> list[list[int]] | None:
    """Which dims stand together in each of other dims; None where these are not made of whole ones."""
    groups: list[list[int]] = []
    k = 0
    for extent in into:
        group: list[int] = []
        while not _same(b.product(tuple(dims[d] for d in group)), extent):
            if k == len(dims):
                return None
            group.append(k)
            k += 1
        groups.append(group)
    return groups if all(b.constant(d) == 1 for d in dims[k:]) else None

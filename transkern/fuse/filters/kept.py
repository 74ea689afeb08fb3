"""Filters by the same condition keep side by side, in one loop:

    filter places = i + 1 if x[i] > t              filter places, values = i + 1, x[i] if x[i] > t
    …                                         to   …
    filter values = x[i] if x[i] > t

`places = np.flatnonzero(x > t)`, `x[places]` and `len(places)` ask three times otherwise, as each is made where it is
needed. What they read must be what it was.
"""

from __future__ import annotations

from collections import defaultdict

from transkern.fuse.lowering.copies import with_arrays
from transkern.fuse.lowering.unchanged import stays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import (
    alone,
    buffers_read,
    buffers_used,
    buffers_written,
    own_exprs,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_Block = tuple[n.Stmt, ...]


def combine_filters(program: n.Program) -> n.Program:
    """The program with filters of the same elements made by the first of them."""
    if sum(isinstance(s, n.Filter) for s in walk(program.body)) < 2:
        return program
    body = _block(program.body, program.buffers)
    return _without_copies(replace(program, body=body)) if body != program.body else program


def _without_copies(program: n.Program) -> n.Program:
    """The program in which a temporary that keeps what a result keeps is that result, where nobody changes either."""
    for s in [s for s in walk(program.body) if isinstance(s, n.Filter)]:
        by_value: dict[Expr, list[str]] = defaultdict(list)
        for name, value in zip(s.outputs, s.values, strict=True):
            by_value[value].append(name)
        for names in by_value.values():
            roles = {name: program.buffers[name].role for name in names}
            kept = next((name for name in names if roles[name] == "result"), names[0])
            for name in names:
                if name != kept and roles[name] == "temporary" and _is_same(program, name, kept):
                    program = _renamed(program, name, kept)
    return program


def _is_same(program: n.Program, name: str, kept: str) -> bool:
    one, two = program.buffers[name], program.buffers[kept]
    alike = replace(one, name=kept, role=two.role, line=two.line) == two
    return alike and sum(bool({name, kept} & buffers_written(alone(s))) for s in walk(program.body)) == 1


def _renamed(program: n.Program, name: str, kept: str) -> n.Program:
    def block(statements: _Block) -> _Block:
        made: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Alloc) and s.buffer == name:
                continue
            if isinstance(s, n.Filter) and name in s.outputs:
                left = [k for k, out in enumerate(s.outputs) if out != name]
                s = replace(s, outputs=tuple(s.outputs[k] for k in left), values=tuple(s.values[k] for k in left))
            made.append(with_bodies(s, block))
        return tuple(made)

    body = with_arrays(block(program.body), {name: kept})
    return replace(program, body=body, buffers={k: v for k, v in program.buffers.items() if k != name})


def _block(statements: _Block, buffers: dict[str, n.Buffer]) -> _Block:
    made = list(statements)
    first = 0
    while first < len(made):
        one = made[first]
        if isinstance(one, n.Filter) and _is_plain(one):
            tried = (_joined(made, first, later, buffers) for later in range(first + 1, len(made)))
            joined = next((x for x in tried if x is not None), None)
            if joined is not None:
                made = joined
                continue  # where the allocations went, the first filter stands a few places further on
        first += 1
    return tuple(with_bodies(s, lambda inner: _block(inner, buffers)) for s in made)


def _is_plain(s: n.Filter) -> bool:
    return not s.append and not s.inner and len(s.axes) == 1


def _joined(block: list[n.Stmt], first: int, later: int, buffers: dict[str, n.Buffer]) -> list[n.Stmt] | None:
    """The block with what a later filter keeps kept by the first one; None where that is something else."""
    one, two = block[first], block[later]
    assert isinstance(one, n.Filter)
    if not (isinstance(two, n.Filter) and _is_plain(two) and one.axes[0].extent == two.axes[0].extent):
        return None
    here = {two.axes[0].name: one.axes[0].var}
    outs = frozenset(two.outputs)
    allocated = [s for s in block[first + 1 : later] if isinstance(s, n.Alloc) and s.buffer in outs]
    between = [s for s in block[first + 1 : later] if not (isinstance(s, n.Alloc) and s.buffer in outs)]
    if b.substitute(two.mask, here) != one.mask or len(allocated) != len(outs):
        return None
    reads = set[str]().union(*map(buffers_read, own_exprs(two)))
    sizes = (d for name in outs for d in buffers[name].dims)
    numbers = {two.count}.union(*map(variables_read, (*own_exprs(two), *sizes)))
    if not stays((one, *between), reads, numbers, buffers) or not stays(between, set(), {one.count}, buffers):
        return None
    if any((buffers_written(s) | buffers_used(s)) & outs for s in (one, *between)):
        return None
    values = tuple(b.substitute(v, here) for v in two.values)
    both = replace(one, outputs=(*one.outputs, *two.outputs), values=(*one.values, *values))
    counted = n.Assign(two.count, Var(one.count, "index"), span=two.span)
    return [*block[:first], *allocated, both, *between, counted, *block[later + 1 :]]

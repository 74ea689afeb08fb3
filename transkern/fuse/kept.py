"""Filters by the same condition keep side by side, in one loop:

    filter places = i + 1 if x[i] > t              filter places, values = i + 1, x[i] if x[i] > t
    …                                         to   …
    filter values = x[i] if x[i] > t

`places = np.flatnonzero(x > t)`, `x[places]` and `len(places)` ask three times otherwise, as each is made where it is
needed. What they read must be what it was.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from transkern.fuse.copies import with_arrays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)

_Block = tuple[n.Stmt, ...]


def combine_filters(program: n.Program) -> n.Program:
    """The program with filters of the same elements made by the first of them."""
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
    return alike and sum(bool({name, kept} & _own(s)) for s in walk(program.body)) == 1


def _own(s: n.Stmt) -> frozenset[str]:
    """What a statement itself writes."""
    return buffers_written(with_bodies(s, lambda _: ()))


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
            later = next((k for k in range(first + 1, len(made)) if _joins(made, first, k, buffers)), None)
            if later is not None:
                made = _joined(made, first, later)
                continue  # where the allocations went, the first filter stands a few places further on
        first += 1
    return tuple(with_bodies(s, lambda inner: _block(inner, buffers)) for s in made)


def _is_plain(s: n.Filter) -> bool:
    return not s.append and not s.inner and len(s.axes) == 1


def _joins(block: list[n.Stmt], first: int, later: int, buffers: dict[str, n.Buffer]) -> bool:
    """Whether what a later filter keeps may be kept by the first one."""
    one, two = block[first], block[later]
    if not (isinstance(one, n.Filter) and isinstance(two, n.Filter) and _is_plain(two)):
        return False
    if one.axes[0].extent != two.axes[0].extent or _like(two.mask, two, one) != one.mask:
        return False
    asked = [*own_exprs(two)]
    reads, numbers = (set[str]().union(*map(ask, asked)) for ask in (buffers_read, variables_read))
    allocated = [s for s in block[first + 1 : later] if isinstance(s, n.Alloc) and s.buffer in two.outputs]
    if len(allocated) != len(two.outputs):
        return False
    for name in two.outputs:
        numbers |= set[str]().union(*map(variables_read, buffers[name].dims))
    given = any(buffers[name].role == "argument" for name in reads)
    for s in block[first:later]:
        if s in allocated:
            continue
        written = buffers_written(s)
        if (written | buffers_used(s)) & {*two.outputs} or written & reads or scalars_set(s) & {*numbers, two.count}:
            return False
        if s is not one and one.count in scalars_set(s):
            return False
        if given and any(buffers[name].role == "argument" for name in written):
            return False
    return True


def _like(e: Expr, two: n.Filter, one: n.Filter) -> Expr:
    return b.substitute(e, {two.axes[0].name: one.axes[0].var})


def _joined(block: list[n.Stmt], first: int, later: int) -> list[n.Stmt]:
    one, two = block[first], block[later]
    assert isinstance(one, n.Filter) and isinstance(two, n.Filter)
    allocated = [s for s in block[first + 1 : later] if isinstance(s, n.Alloc) and s.buffer in two.outputs]
    values = tuple(_like(v, two, one) for v in two.values)
    both = replace(one, outputs=(*one.outputs, *two.outputs), values=(*one.values, *values))
    between = [s for s in block[first + 1 : later] if not any(s is x for x in allocated)]
    counted = n.Assign(two.count, Var(one.count, "index"), span=two.span)
    return [*block[:first], *allocated, both, *between, counted, *block[later + 1 :]]

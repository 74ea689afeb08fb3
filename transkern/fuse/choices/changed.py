"""Arrays that are chosen, point by point, between what they were and a copy that has changed are stored where it has:

    new[i] = u[i]  for i < n
    write new[i + 1] = f(u, i)  for i < n - 2                  to    write u[i + 1] = (u[i + 1] if fixed[i + 1]
    write u[i] = (u[i] if fixed[i] else new[i])  for i < n                              else f(u, i))  for i < n - 2

Where the copy is as it was, what is chosen is, too. What is left is a next state of the array (`double_buffer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transkern.analysis.symbols import simplified
from transkern.fuse.states.reading import touched, whole_copy
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Reduce
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace


def store_changes(program: n.Program) -> n.Program:
    """The program with stores of what has changed in copies, in place of copies and choices."""
    if not any(whole_copy(s, program.buffers) for s in walk(program.body)):
        return program
    touches = Counter(name for s in walk(program.body) for name in touched(s))

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out, k = list(statements), 0
        while k < len(out):
            found = _stored(out, k, program, touches)
            out, k = (found, k) if found is not None else (out, k + 1)
        return tuple(with_bodies(s, block) for s in out)

    return replace(program, body=block(program.body))


def _stored(block: list[n.Stmt], first: int, program: n.Program, touches: Counter[str]) -> list[n.Stmt] | None:
    """The block with one store for the copy that its statement `first` makes, what changes the copy, and the choice."""
    copy = whole_copy(block[first], program.buffers) if isinstance(block[first], n.Define) else None
    if copy is None or program.buffers[copy[0]].role != "temporary" or touches[copy[0]] != 3:
        return None
    new, old = copy
    at = [k for k in range(first + 1, len(block)) if new in touched(block[k])]
    if len(at) != 2:
        return None
    change, choice = block[at[0]], block[at[1]]
    if not isinstance(change, n.Write) or not isinstance(choice, n.Write):
        return None
    if not _changes(change, new) or not _chooses(choice, new, old, program.buffers[old].dims):
        return None
    if not _may_wait(change, block[at[0] + 1 : at[1]], old, block[first + 1 : at[1]]):
        return None
    was = Load(old, change.index, choice.value.dtype)
    names = {a.name: i for a, i in zip(choice.axes, change.index, strict=True)}
    loaded: dict[Expr, Expr] = {Load(new, change.index, was.dtype): change.value}
    value = b.map_expr(b.substitute(choice.value, names), loaded.get)
    if choice.mask is not None:
        value = b.where(b.map_expr(b.substitute(choice.mask, names), loaded.get), value, was)
    store = replace(choice, axes=change.axes, index=change.index, value=value, mask=None)
    return [*block[:first], *block[first + 1 : at[0]], *block[at[0] + 1 : at[1]], store, *block[at[1] + 1 :]]


def _changes(s: n.Write, new: str) -> bool:
    """Whether a statement gives some elements of the copy other values, each once."""
    if s.buffer != new or s.mask is not None or len(s.index) != len(s.axes):
        return False
    if any(isinstance(x, Reduce) or (isinstance(x, Load) and x.buffer == new) for x in walk_expr(s.value)):
        return False
    steps = (b.constant(b.sub(i, a.var)) for i, a in zip(s.index, s.axes, strict=True))
    return all(step is not None for step in steps)


def _chooses(s: n.Write, new: str, old: str, dims: Sequence[Expr]) -> bool:
    """Whether a statement stores into all of the array what leaves an element as it was where the copy has it so."""
    own = tuple(a.var for a in s.axes)
    if s.buffer != old or s.index != own or tuple(a.extent for a in s.axes) != tuple(dims):
        return False
    values = (s.value, *([] if s.mask is None else [s.mask]))
    if any(isinstance(x, Load) and x.buffer == new and x.index != own for e in values for x in walk_expr(e)):
        return False
    was = Load(old, own, s.value.dtype)
    same: dict[Expr, Expr] = {Load(new, own, s.value.dtype): was}
    return simplified(b.map_expr(s.value, same.get)) == was


def _may_wait(change: n.Write, between: Sequence[n.Stmt], old: str, behind: Sequence[n.Stmt]) -> bool:
    """Whether what changes the copy is the same at the choice, and the array what it was when it was copied."""
    reads = {name for e in own_exprs(change) for name in buffers_read(e)}
    names = {name for e in own_exprs(change) for name in variables_read(e)}
    for s in walk(between):
        made = {s.buffer} if isinstance(s, n.Alloc) else set()
        if (made | buffers_written(s)) & reads or set(scalars_set(s)) & names:
            return False
    return not any(old in buffers_written(s) or (isinstance(s, n.Alloc) and s.buffer == old) for s in walk(behind))

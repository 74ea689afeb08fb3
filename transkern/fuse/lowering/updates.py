"""Loops that add to elements which data choose: on a device all their iterations at once, by atomic operations.

`counts[x[i]] += 1` runs in order where nothing is known of `x`. A sum of integers is the same in any order, though, and
so are their extremes and bits; a device has operations for them that no other thread comes between. A sum of floats is
not: NumPy's order is part of its answer. Where a check fails, the earliest iteration raises; nobody may see what the
others have changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load
from transkern.ir.traverse import buffers_read, own_exprs, walk, with_bodies
from transkern.records import replace

ANY_ORDER = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
"""Operations that may be made on one element in any order."""
_DTYPES = ("int32", "uint32", "int64", "uint64")
"""What devices have atomic operations for."""


def update_atomically(program: n.Program) -> n.Program:
    """The program with such loops parallel."""
    return update_at_once(program, _is_atomic, within_loops=True)


def updates_at_once(s: n.Loop, buffers: Mapping[str, n.Buffer] | None = None) -> bool:
    """Whether a loop in order is one of these; of `buffers`, with checks if nobody sees what it changes."""
    return s.kind == "sequential" and s.step == b.ONE and _updates(s.body, _is_atomic, True, buffers)


def _is_atomic(_: str, dtype: str) -> bool:
    return dtype in _DTYPES


def update_at_once(
    program: n.Program, possible: Callable[[str, str], bool], within_loops: bool = False
) -> n.Program:
    """The program with such loops parallel, if their operations are `possible` for the types of the elements; also
    where updates stand `within_loops` that are parallel themselves."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(one(s) for s in statements)

    def one(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE and not s.fails:
            if within_loops:  # a loop of such loops is one of them
                s = with_bodies(s, block)
                assert isinstance(s, n.Loop)
            if not _updates(s.body, possible, within_loops, program.buffers if within_loops else None):
                return s if within_loops else with_bodies(s, block)
            return replace(s, kind="parallel", body=_atomic(s.body))
        return with_bodies(s, block)

    return replace(program, body=block(program.body))


def operand(s: n.Store) -> tuple[str, Expr] | None:
    """The operation by which a statement changes the element it stores to, and its other operand."""
    if (found := combined(s)) is None:
        return None
    op, other, swapped = found
    commutes = op in ANY_ORDER and (op != "subtract" or not swapped)
    return (op, other) if commutes and other.dtype == s.value.dtype else None


def combined(s: n.Store) -> tuple[str, Expr, bool] | None:
    """The operation of two operands of which one is the element itself that is stored to, the other operand, and
    whether this one comes first."""
    value = s.value
    if not isinstance(value, Apply) or len(value.args) != 2:
        return None
    swapped = _is_place(value.args[1], s)
    place, other = value.args[::-1] if swapped else value.args
    return (value.op, other, swapped) if _is_place(place, s) else None


def _is_place(e: Expr, s: n.Store) -> bool:
    return isinstance(e, Load) and (e.buffer, e.index) == (s.buffer, s.index) and e.dtype == s.value.dtype


def _updates(
    body: Sequence[n.Stmt], possible: Callable[[str, str], bool], within_loops: bool,
    buffers: Mapping[str, n.Buffer] | None = None,
) -> bool:  # fmt: skip
    """Whether the iterations only change elements, by operations of any order, and read nothing that they change. Of
    `buffers`, they may be checked if none of these arrays is the caller's."""
    stores = [s for s in walk(body) if isinstance(s, n.Store)]
    changed = {s.buffer for s in stores}
    kinds: tuple[type[n.Stmt], ...] = (n.Let, n.Store, n.If)
    if buffers is not None and all(buffers[name].role != "argument" for name in changed):
        kinds = (*kinds, n.Guard)
    plain = all(isinstance(s, kinds) or _is_parallel(s, within_loops) for s in walk(body))
    if not stores or not plain or any(isinstance(s, n.Guard) and s.changes for s in walk(body)):
        return False
    ways: set[tuple[str, str]] = set()
    for s in stores:
        found = operand(s)
        if found is None or not possible(found[0], s.value.dtype):
            return False
        ways.add((s.buffer, "add" if found[0] == "subtract" else found[0]))
    return len(ways) == len(changed) and not any(buffers_read(e) & changed for e in _other_exprs(body))


def _is_parallel(s: n.Stmt, within_loops: bool) -> bool:
    return within_loops and isinstance(s, n.Loop) and s.kind == "parallel"


def _other_exprs(body: Sequence[n.Stmt]) -> Iterator[Expr]:
    """All that the iterations compute, without the elements themselves that are changed."""
    for s in walk(body):
        if isinstance(s, n.Store):
            found = operand(s)
            assert found is not None
            yield from (*s.index, found[1])
        else:
            yield from own_exprs(s)


def _atomic(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    return tuple(replace(s, atomic=True) if isinstance(s, n.Store) else with_bodies(s, _atomic) for s in body)

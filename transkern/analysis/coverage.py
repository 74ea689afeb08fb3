"""Is every element that statements read one that they have written before? Then nobody sees what was there earlier.

For an element that is read, and a store to its buffer, it is known which iteration of the store may have written it:
the one that the subscripts say; where they leave a loop open, the iteration of the read, or the first one. The question
is whether there is a read of an element that no such iteration, earlier than the read, has written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from transkern.analysis import integers
from transkern.analysis.accesses import Access, Body, accesses_of
from transkern.analysis.affine import Question
from transkern.analysis.dependence import Surroundings
from transkern.analysis.integers import Condition, Either, Form
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_read, buffers_written, walk

_STORES = 4
"""Stores into one buffer: with more of them, the question has too many cases."""


def written_before_read(
    buffers: Mapping[str, n.Buffer], buffer: str, block: Sequence[n.Stmt], around: Surroundings, all_at_end: bool,
    least: int = 0,
) -> bool:  # fmt: skip
    """Whether `block` reads only elements of `buffer` that it has written, of those whose subscripts all are at least
    `least`; with `all_at_end`, all of them are read behind it."""
    if not _orderly(block, buffer):
        return False
    body = accesses_of(block)
    mine = [a for a in body.accesses if a.buffer == buffer]
    stores = _joined([a for a in mine if a.write])
    certain = [a for a in stores if not a.arms and all(abs(level.step) == 1 for level in a.levels)]
    if len(certain) > _STORES or any(a.index is None or len(a.index) != len(buffers[buffer].dims) for a in mine):
        return False
    base = _base(buffers, body, around)
    reads: dict[object, Access | None] = {}
    for a in mine:
        if not a.write:
            reads.setdefault((a.index, a.levels, a.conditions), a)  # the first of them has the fewest stores before it
    if all_at_end:
        reads["end"] = None
    for read in reads.values():
        q = base.copy()
        where, names = _element(q, buffers[buffer], read, body)
        if least:
            q.require(*(integers.at_least(at, {"": least}) for at in where))
        for store in certain:
            q.require(*_not_by(q, store, where, read, names))
        q.nonnegative_sizes()
        if q.possible():
            return False
    return True


def _joined(stores: Sequence[Access]) -> list[Access]:
    """The stores, where both arms of an `if` store the same element as one that no longer asks for its condition."""
    joined: list[Access] = []
    for store in stores:
        while store.arms:
            other = next((a for a in joined if _other_arm(a, store)), None)
            if other is None:
                break
            joined.remove(other)
            store = replace(store, conditions=store.conditions[:-1], arms=store.arms[:-1])  # the later of the two
        joined.append(store)
    return joined


def _other_arm(one: Access, two: Access) -> bool:
    return (
        (one.index, one.levels, one.arms[:-1]) == (two.index, two.levels, two.arms[:-1])
        and len(one.arms) == len(two.arms)
        and one.arms[-1] ^ two.arms[-1] == 1
    )


def _orderly(block: Sequence[n.Stmt], buffer: str) -> bool:
    """Whether statements that write the buffer do so in counted loops that run to their end, each under a name of its
    own."""
    axes = [s.axis for s in walk(block) if isinstance(s, (n.Loop, n.Compact, n.Scanning))]
    if len(axes) != len(set(axes)):
        return False
    writing = [s for s in block if buffer in buffers_written(s)]
    return not any(isinstance(x, (n.While, n.Break, n.Continue, n.Return)) for x in walk(writing))


def _base(buffers: Mapping[str, n.Buffer], body: Body, around: Surroundings) -> Question:
    """What holds around the block."""
    q = Question(buffers, set(body.varying), body.written, {**around.lets, **body.lets})
    for level in around.levels:
        q.inside(level, {level.axis: q.linear(Var(level.axis), {}, "0")}, "0")
    for fact in around.facts:
        if q.invariant(fact):
            q = q.with_fact(fact)
    return q


def _element(q: Question, info: n.Buffer, read: Access | None, body: Body) -> tuple[list[Form], dict[str, Form]]:
    """Any element that a read may look at (any at all behind the block), and the read's iteration."""
    names: dict[str, Form] = {}
    if read is None:
        where = [q.unknown() for _ in info.dims]
    else:
        for level in read.levels:
            names[level.axis] = q.unknown()
            q.inside(level, names, "read")
        for condition in read.conditions:
            if not buffers_read(condition) & body.written:
                q.require(*q.condition(condition, names, "read"))
        where = [q.linear(i, names, "read") for i in read.index or ()]
    for at, dim in zip(where, info.dims, strict=True):
        q.between(at, {}, q.linear(dim, {}, "0"))
    return where, names


def _not_by(
    q: Question, store: Access, where: Sequence[Form], read: Access | None, ran: Mapping[str, Form]
) -> list[Condition]:
    """That the store has not written the element before the read: one thing that would have to hold does not."""
    names = _iteration(q, store, where, ran)
    instance = f"store {store.order}"
    fails: list[tuple[Condition, ...]] = []
    for level in store.levels:
        v = names[level.axis]
        start, stop = q.linear(level.start, names, instance), q.linear(level.stop, names, instance)
        up = level.step > 0
        fails.append((integers.less(v, start) if up else integers.less(start, v),))
        fails.append((integers.at_least(v, stop) if up else integers.at_least(stop, v),))
    for i, at in zip(store.index or (), where, strict=True):
        fails.append((integers.unequal(q.linear(i, names, instance), at),))
    if read is not None:
        fails += _not_before(store, names, read, ran)
    return [Either(tuple(fails))]


def _not_before(
    store: Access, names: Mapping[str, Form], read: Access, ran: Mapping[str, Form]
) -> list[tuple[Condition, ...]]:
    """The ways in which the store's iteration does not come before that of the read."""
    ways: list[tuple[Condition, ...]] = []
    same: tuple[Condition, ...] = ()
    for one, two in zip(store.levels, read.levels, strict=False):
        if one.axis != two.axis:
            break
        v, w = names[one.axis], ran[one.axis]
        ways.append((*same, integers.less(w, v) if one.step > 0 else integers.less(v, w)))
        same = (*same, integers.equal(v, w))
    if store.order > read.order:
        ways.append(same)
    return ways


def _iteration(q: Question, store: Access, where: Sequence[Form], ran: Mapping[str, Form]) -> dict[str, Form]:
    """The iteration of a store that may have written an element."""
    names: dict[str, Form] = {}
    own = {level.axis for level in store.levels}
    for i, at in zip(store.index or (), where, strict=True):
        terms, _ = b.affine(i)
        axes = [t.name for t in terms if isinstance(t, Var) and t.name in own]
        if len(axes) == 1 and axes[0] not in names and terms[Var(axes[0])] in (1, -1):
            rest = q.linear(b.sub(i, _times(Var(axes[0]), terms[Var(axes[0])])), names, "rest")
            names[axes[0]] = integers.combined({}, integers.combined(at, rest, -1), terms[Var(axes[0])])
    for level in store.levels:
        if level.axis not in names:
            found = ran.get(level.axis)
            names[level.axis] = q.linear(level.start, names, "first") if found is None else found
    return names


def _times(e: Expr, factor: int) -> Expr:
    return b.mul(b.index(factor), e)

"""Is every element that statements read one that they have written before? Then nobody sees what was there earlier.

For an element that is read, and a store to its buffer, it is known which iteration of the store may have written it:
the one that the subscripts say; where they leave a loop open, the iteration of the read, or the first one. The question
is whether there is a read of an element that no such iteration, earlier than the read, has written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from transkern.analysis import integers
from transkern.analysis.accesses import Access, Body, bodies_of
from transkern.analysis.affine import Question
from transkern.analysis.dependence import Surroundings
from transkern.analysis.integers import Condition, Either, Form
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import bodies, buffers_read, buffers_used, buffers_written, walk

_T = TypeVar("_T")

_STORES = 4
"""Stores into one buffer: with more of them, the question has too many cases."""


class Behind:
    """What stands behind a statement of a block, as it is gone through from its beginning to its end."""

    def __init__(self, buffers: Mapping[str, n.Buffer], block: Sequence[n.Stmt]) -> None:
        self.buffers = buffers
        self.position = -1  # all that comes later is behind
        self.body = Body()  # what it binds and writes
        self._accesses: defaultdict[str, list[tuple[int, Access]]] = defaultdict(list)
        self._returns: defaultdict[str, list[tuple[int, bool]]] = defaultdict(list)  # whether in the block itself
        self._writing: defaultdict[str, list[tuple[int, bool]]] = defaultdict(list)  # whether orderly
        self._ends: defaultdict[int, list[tuple[Collection[str], str]]] = defaultdict(list)
        self._leaves = -1  # the last statement that may leave the block
        self._note(block)

    def _note(self, block: Sequence[n.Stmt]) -> None:
        last: dict[int, dict[str, int]] = {}
        axes: Counter[str] = Counter()
        twice = -1  # the last statement with an axis that one behind it has, too
        for k, (s, body) in reversed(list(enumerate(zip(block, bodies_of(block), strict=True)))):
            own = [x.axis for x in walk((s,)) if isinstance(x, (n.Loop, n.Compact, n.Scanning))]
            axes.update(own)
            if twice < 0 and any(axes[axis] > 1 for axis in own):
                twice = k
            inside = list(walk((s,)))
            leaves = _leaves(s)
            orderly = not leaves and not any(isinstance(x, n.While) for x in inside)
            if leaves and self._leaves < 0:
                self._leaves = k
            for buffer in buffers_written(s):
                self._writing[buffer].append((k, orderly))
            for x in inside:
                if isinstance(x, n.Return):
                    for buffer in buffers_used(x):
                        self._returns[buffer].append((k, x is s))
            for access in reversed(body.accesses):
                self._accesses[access.buffer].append((k, access))
            for live, names in (
                (self.body.varying, body.varying), (self.body.local, body.local), (self.body.written, body.written)
            ):  # fmt: skip
                known = last.setdefault(id(live), {})
                for name in names:
                    if name not in known:
                        known[name] = k
                        live.add(name)
                        self._ends[k].append((live, name))
            for name, value in body.lets.items():
                if name not in self.body.lets:
                    self.body.lets[name] = value
                    self._ends[k].append((self.body.lets, name))
        self._unique_from = twice + 1

    def step(self) -> None:
        """One statement more is passed."""
        self.position += 1
        for live, name in self._ends.pop(self.position, ()):
            live.pop(name) if isinstance(live, dict) else live.discard(name)  # type: ignore[attr-defined]

    def _later(self, found: list[tuple[int, _T]]) -> list[tuple[int, _T]]:
        """What comes later of a list that begins with the last."""
        while found and found[-1][0] <= self.position:
            found.pop()
        return found

    def returns(self, buffer: str) -> bool | None:
        """Whether the block returns a buffer, all its elements; None where statements inside others do."""
        found = self._later(self._returns[buffer])
        return bool(found) if all(top for _, top in found) else None

    def written_before_read(
        self, buffer: str, around: Surroundings, least: int = 0, beyond: bool = False
    ) -> bool:  # fmt: skip
        """Whether only those elements of `buffer` are read that have been written, of those whose subscripts all are
        at least `least`. What the block returns is read behind it, all of it; so is what lives `beyond` the block."""
        if beyond and self._leaves > self.position:
            return False
        all_at_end = beyond or bool(self.returns(buffer))
        orderly = all(orderly for _, orderly in self._later(self._writing[buffer]))
        if self.position + 1 < self._unique_from or not orderly:
            return False
        returned = {k for k, _ in self._returns[buffer]}
        found = [] if buffer in self.body.local else self._later(self._accesses[buffer])
        mine = [a for k, a in reversed(found) if k not in returned]
        stores = _joined([a for a in mine if a.write])
        certain = [a for a in stores if not a.arms and all(abs(level.step) == 1 for level in a.levels)]
        rank = len(self.buffers[buffer].dims)
        if len(certain) > _STORES or any(a.write if a.index is None else len(a.index) != rank for a in mine):
            return False
        reads: dict[object, Access | None] = {}
        for a in mine:
            if not a.write:
                reads.setdefault((a.index, a.levels, a.conditions), a)  # the first has the fewest stores before it
        if all_at_end:
            reads["end"] = None
        if not reads or not certain:
            return not reads
        base = _base(self.buffers, self.body, around)
        for read in reads.values():
            q = base.copy()
            where, names = _element(q, self.buffers[buffer], read, self.body)
            if least:
                q.require(*(integers.at_least(at, {"": least}) for at in where))
            q.supposed = True
            for store in certain:
                q.require(*_not_by(q, store, where, read, names))
            q.nonnegative_sizes()
            if q.possible():
                return False
        return True


def _leaves(s: n.Stmt) -> bool:
    """Whether a store in the statement, or what is behind it, may be passed by. Leaving a loop without stores passes
    none by."""
    if isinstance(s, (n.Break, n.Continue, n.Return)):
        return True
    if isinstance(s, n.Loop) and not buffers_written(s):
        return any(isinstance(x, n.Return) for x in walk(s.body))
    return any(_leaves(x) for block in bodies(s) for x in block)


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


def _base(buffers: Mapping[str, n.Buffer], body: Body, around: Surroundings) -> Question:
    """What holds around the block."""
    q = Question(buffers, set(body.varying), body.changed, {**around.lets, **body.lets})
    for level in around.levels:
        q.inside(level, {level.axis: q.linear(Var(level.axis), {}, "0")}, "0")
    for fact in around.facts:
        if q.invariant(fact):
            q.suppose(fact)
    return q


def _element(q: Question, info: n.Buffer, read: Access | None, body: Body) -> tuple[list[Form], dict[str, Form]]:
    """Any element that a read may look at (any at all behind the block, or where a library step reads), and the read's
    iteration."""
    names: dict[str, Form] = {}
    where = [q.unknown() for _ in info.dims]
    if read is not None:
        for level in read.levels:
            names[level.axis] = q.unknown()
            q.inside(level, names, "read")
        for condition in read.conditions:
            if not buffers_read(condition) & q.written:
                q.require(*q.condition(condition, names, "read"))
        if read.index is not None:
            where = [q.linear(i, names, "read") for i in read.index]
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

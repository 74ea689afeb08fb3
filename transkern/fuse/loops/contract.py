"""Shrink temporaries to what one iteration needs:

    parallel i: t[i] = f(x[i]); y[i] = g(t[i])    to    parallel i: let t = f(x[i]); y[i] = g(t)

A temporary that lives inside one loop loses the dimensions that the loop's axis selects; without dimensions left it is
a scalar, and so are the elements of a small one that are always named by numbers (``x.mean(keepdims=True)``). A
temporary whose elements die where the elements of a result are stored takes the result's memory.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import has_part
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.library import RAISING
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    map_own,
    own_exprs,
    result_buffers,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_MANY = 17
"""Elements of an array that is no longer small."""


def contract_temporaries(program: n.Program) -> n.Program:
    """The program with temporaries of one loop shrunk, and dead ones gone."""
    return _drop_unused(_Contracting(program).run())


class _Contracting:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)
        self.variables = dict(program.variables)
        self.names = Names.of(program)
        self.returned = _returned(program.body)
        self.measuring = {x for buffer in program.buffers.values() for d in buffer.dims for x in buffers_read(d)}

    def run(self) -> n.Program:
        body = self.block(self.program.body)
        return replace(self.program, body=body, buffers=self.buffers, variables=self.variables)

    def block(self, statements: tuple[n.Stmt, ...], around: frozenset[str] = frozenset()) -> tuple[n.Stmt, ...]:
        """A block; `around`: the buffers that the statement which it is the body of reads by itself. What a `return`
        elsewhere looks at is not the block's own either, nor what says how large others are."""
        around = around | {name for name, count in (self.returned - _returned(statements)).items() if count}
        around |= self.measuring
        statements = self._with_numbers(statements, around)
        place = _Place(statements, around)
        out = list(statements)
        for position, s in enumerate(statements):
            if isinstance(s, (n.Loop, n.Compact)) and (names := self._private(s, position, place)):
                out[position] = _Contraction(self, s, position, place).of(names)
        kept = [
            s for _, s in sorted(enumerate(out), key=lambda item: place.key(*item))
            if not (isinstance(s, n.Alloc) and s.buffer in place.moved)
        ]  # fmt: skip
        return tuple(self._inside(s) for s in kept)

    def _inside(self, s: n.Stmt) -> n.Stmt:
        return with_bodies(s, lambda body: self.block(body, _read_around(body, s)))

    def _with_numbers(self, statements: tuple[n.Stmt, ...], around: frozenset[str]) -> tuple[n.Stmt, ...]:
        """The block with scalars for those small arrays that it makes, whose elements it always names by numbers, and
        sets one after the other."""
        names = {s.buffer for s in statements if isinstance(s, n.Alloc) and self._is_small(s.buffer)} - around
        inside = list(walk(statements)) if names else []
        for s in inside:
            if isinstance(s, n.Library):
                names.difference_update(s.outs, s.ins)
            elif isinstance(s, n.Return):
                names -= result_buffers(s.result)
            elif isinstance(s, n.Compact | n.Scanning) or (isinstance(s, n.Loop) and s.kind == "parallel"):
                names -= buffers_written(s)
            elif isinstance(s, n.Store) and s.buffer in names and self._place(s) is None:
                names.discard(s.buffer)
            for e in itertools.chain.from_iterable(map(walk_expr, own_exprs(s))):
                if isinstance(e, Load) and e.buffer in names and self._place(e) is None:
                    names.discard(e.buffer)
        if not names:
            return statements
        stored: Counter[tuple[str, Any]] = Counter()
        early: set[tuple[str, Any]] = set()  # what is read before anything is stored, and so is anything
        for s in inside:
            reads = (e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load) and e.buffer in names)
            early.update(key for key in map(self._element, reads) if key not in stored)
            if isinstance(s, n.Store) and s.buffer in names:
                stored[self._element(s)] += 1
        once = {self._element(s) for s in statements if isinstance(s, n.Store) and s.buffer in names}
        once = {x for x in once - early if stored[x] == 1}
        dtypes = {name: self.buffers[name].dtype for name in names}
        scalars: dict[tuple[str, Any], str] = {}
        for name, place in stored:
            alone = sum(other == name for other, _ in stored) == 1
            scalars[name, place] = name if alone else self.names.fresh(name)
            if (name, place) not in once:
                self.variables[scalars[name, place]] = dtypes[name]

        def read(e: Expr) -> Expr | None:
            if not isinstance(e, Load) or e.buffer not in names:
                return None
            found = scalars.get(self._element(e))
            return _zero(e.dtype) if found is None else Var(found, e.dtype)  # never set: it is anything

        def changed(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
            out: list[n.Stmt] = []
            for s in block:
                s = with_bodies(map_own(s, read), changed)
                if isinstance(s, n.Store) and s.buffer in names:
                    key = self._element(s)
                    out.append((n.Let if key in once else n.Assign)(scalars[key], s.value, span=s.span))
                elif isinstance(s, n.Alloc) and s.buffer in names:
                    out += [
                        n.Assign(scalar, _zero(dtypes[s.buffer]))
                        for (name, place), scalar in scalars.items() if name == s.buffer and (name, place) not in once
                    ]  # fmt: skip
                else:
                    out.append(s)
            return tuple(out)

        made = changed(statements)
        for name in names:
            del self.buffers[name]
        return made

    def _element(self, access: Load | n.Store) -> tuple[str, tuple[int, ...] | None]:
        return access.buffer, self._place(access)

    def _place(self, access: Load | n.Store) -> tuple[int, ...] | None:
        """Where in memory an element stands that is named by numbers, and which part of it, if it is complex: by one
        subscript for each axis, or by one for all."""
        index, part = (access.index[:-1], access.index[-1:]) if has_part(access.index) else (access.index, ())
        dims = self.buffers[access.buffer].dims
        if len(index) not in (1, len(dims)):
            return None
        found = [b.constant(i) for i in (b.ravel(index, dims) if len(index) == len(dims) else index[0], *part)]
        return None if None in found else tuple(k for k in found if k is not None)

    def _is_small(self, name: str) -> bool:
        buffer = self.buffers[name]
        size = math.prod(b.constant(d) or _MANY for d in buffer.dims)
        return buffer.role == "temporary" and bool(buffer.dims) and size < _MANY

    def _private(self, loop: n.Stmt, position: int, place: _Place) -> list[str]:
        """Temporaries that are allocated and used for this loop alone."""
        found = {
            name for name in buffers_used(loop) | buffers_written(loop)
            if name in self.buffers and self.buffers[name].role == "temporary" and name not in place.around
            and place.users[name] == 1 and place.allocated.get(name, position) < position
        }  # fmt: skip
        for s in walk((loop,)) if found else ():
            if isinstance(s, n.Library):
                found.difference_update(s.outs, s.ins)
            elif isinstance(s, n.Compact):
                found.difference_update(s.outputs)
        return sorted(found)


class _Place:
    """A block: which of its statements touch an array, and where its arrays are made."""

    def __init__(self, statements: Sequence[n.Stmt], around: frozenset[str]) -> None:
        self.around = around
        self.users: Counter[str] = Counter()  # how many of the statements touch an array
        self.first: dict[str, int] = {}  # the first of them
        self.allocated: dict[str, int] = {}
        self.moved: set[str] = set()  # temporaries that are no longer allocated at this level
        self._keys: dict[str, tuple[int, int]] = {}  # of allocations that go elsewhere
        for k, s in enumerate(statements):
            if isinstance(s, n.Alloc):
                self.allocated.setdefault(s.buffer, k)
            for name in buffers_used(s) | buffers_written(s):
                self.users[name] += 1
                self.first.setdefault(name, k)

    def key(self, position: int, s: n.Stmt) -> tuple[int, int]:
        """Where a statement goes: the position in the block, and before it how far ahead of what stood there."""
        if isinstance(s, n.Alloc) and self.allocated[s.buffer] == position:
            return self._keys.get(s.buffer, (position, 0))
        return position, 0

    def take(self, name: str, other: str) -> None:
        """Allocates `other` where the first of both is allocated: `name` lives there, too."""
        mine, its = (self._keys.get(x, (self.allocated[x], 0)) for x in (name, other))
        if mine < its:
            self._keys[other] = mine[0], mine[1] - 1


@dataclass(frozen=True, slots=True)
class _Stored:
    """A store in a loop: its place in program order, the number of its block (0: the loop's own body)."""

    s: n.Store | n.Scanning
    order: int
    block: int


class _Contraction:
    """What becomes of the temporaries of one loop: decided one after the other by an index of who touches what in the
    loop as it was, and done in one go."""

    def __init__(self, outer: _Contracting, loop: n.Loop | n.Compact, position: int, place: _Place) -> None:
        self.buffers, self.variables, self.place = outer.buffers, outer.variables, place
        self.loop, self.position = loop, position
        self.loads: defaultdict[str, list[Load]] = defaultdict(list)
        self.stores: defaultdict[str, list[_Stored]] = defaultdict(list)
        self.readers: defaultdict[str, list[_Stored]] = defaultdict(list)  # stores of values that read an array
        self.first: dict[str, int] = {}  # the first statement that reads an array by itself
        self.last: dict[str, int] = {}  # the last one
        self.places: defaultdict[str, Counter[int]] = defaultdict(Counter)  # how often blocks touch an array
        self.bound: set[str] = set()  # axes and names that the body binds
        self.used = set(buffers_used(loop))
        self.memory: dict[str, str] = {}  # where an array lives that has taken a result's memory
        self.living: dict[str, list[str]] = {}  # the arrays that live in such memory
        self.kept: dict[str, list[int]] = {}  # of arrays that are shrunk, the dims that are left
        self.scalars: dict[str, tuple[str, bool]] = {}  # of those without any, the dtype, and whether stored once
        self.begin: list[n.Stmt] = []  # what the body begins with, the last first
        self._count = self._blocks = 0
        self._note(loop, -1)

    def _note(self, s: n.Stmt, block: int) -> None:
        order = self._count
        self._count += 1
        for own in own_exprs(s):
            for e in walk_expr(own):
                if isinstance(e, Load):
                    self.loads[e.buffer].append(e)
                    if order:  # what the loop itself reads, a filter's mask, comes behind its body
                        self.first.setdefault(e.buffer, order)
                    self.last[e.buffer] = order
        if isinstance(s, (n.Store, n.Scanning)):
            stored = _Stored(s, order, block)
            self.stores[s.buffer].append(stored)
            for name in buffers_read(s.value) if isinstance(s, n.Store) else ():
                self.readers[name].append(stored)
        if isinstance(s, (n.Store, n.Let, n.Accumulate)):
            for name in buffers_used(s) | buffers_written(s):
                self.places[name][block] += 1
        if order and isinstance(s, (n.Loop, n.Compact, n.Scanning)):
            self.bound.add(s.axis)
        elif isinstance(s, n.Let):
            self.bound.add(s.name)
        for body in bodies(s):
            inner = self._blocks
            self._blocks += 1
            for x in body:
                self._note(x, inner)

    def of(self, names: Iterable[str]) -> n.Stmt:
        """The loop with the temporaries `names`, which nothing else touches, as small as can be."""
        for name in names:
            if self._take_result(name) or self._shrink(name):
                self.place.moved.add(name)
        if not self.memory and not self.kept:
            return self.loop
        made = self._changed(self.loop)
        assert isinstance(made, (n.Loop, n.Compact))
        return replace(made, body=(*reversed(self.begin), *made.body))

    def _in(self, name: str) -> list[str]:
        """The arrays that live in the memory `name`."""
        return self.living.get(name, [name])

    def _stores_to(self, name: str) -> list[_Stored]:
        return [x for one in self._in(name) for x in self.stores[one]]

    # --- taking a result's memory

    def _take_result(self, name: str) -> bool:
        """Let the temporary live in the memory of an array that is stored, element by element, where it dies."""
        if not isinstance(self.loop, n.Loop) or not self._needs_row(name):
            return False
        mine = self.buffers[name]
        for stored in sorted((x for one in self._in(name) for x in self.readers[one]), key=lambda x: x.order):
            other = self.memory.get(stored.s.buffer, stored.s.buffer)
            if other == name or other in self.kept:
                continue
            target = self.buffers[other]
            if target.role == "argument" or (target.dtype, target.dims) != (mine.dtype, mine.dims):
                continue
            if other in self.used or self.place.first.get(other, self.position) < self.position:
                continue
            if other not in self.place.allocated:  # in a block around, where it may hold what is still needed
                continue
            stores = [x for x in self._stores_to(other) if isinstance(x.s, n.Store)]
            if len(stores) == 1 and self._dies_at(name, stored):
                self._live_in(name, other)
                return True
        return False

    def _live_in(self, name: str, other: str) -> None:
        self.place.take(name, other)
        self.used.discard(name)
        self.used.add(other)
        self.last[other] = max(self.last.get(other, 0), self.last[name])
        self.places[other] += self.places[name]
        self.living[other] = [*self._in(other), *self._in(name)]
        self.memory |= dict.fromkeys(self._in(name), other)
        del self.buffers[name]

    def _needs_row(self, name: str) -> bool:
        """Whether the temporary would still be an array inside the loop (a scalar costs nothing)."""
        return sum(count > 0 for count in self.places[name].values()) > 1

    def _dies_at(self, name: str, store: _Stored) -> bool:
        """Whether all accesses have the store's subscript and none comes after its loop, nor a store after it."""
        if any(x.order > store.order for x in self._stores_to(name)):
            return False
        loads = (e.index for one in self._in(name) for e in self.loads[one])
        stores = (x.s.index for x in self._stores_to(name) if isinstance(x.s, n.Store))
        same = all(_same_shape_of_index(index, store.s.index) for index in itertools.chain(loads, stores))
        return same and self.last[name] <= store.order

    # --- shrinking

    def _shrink(self, name: str) -> bool:
        loop = self.loop
        accesses = [e.index for one in self._in(name) for e in self.loads[one]]
        accesses += [x.s.index for x in self._stores_to(name)]
        if not accesses:
            return False
        buffer = self.buffers[name]
        if any(len(a) != len(buffer.dims) for a in accesses):
            return False
        drop = [
            d for d in range(len(buffer.dims))
            if all(a[d] == accesses[0][d] for a in accesses) and self._selected(accesses[0][d])
        ]  # fmt: skip
        if not any(loop.axis in variables_read(accesses[0][d]) for d in drop):
            return False
        keep = [d for d in range(len(buffer.dims)) if d not in drop]
        if keep and isinstance(loop, n.Compact) and not _read_around(loop.body, loop).isdisjoint(self._in(name)):
            return False  # rows that are kept whole: they must be there behind the body
        self.kept |= dict.fromkeys(self._in(name), keep)
        if keep:
            self.buffers[name] = replace(buffer, dims=tuple(buffer.dims[d] for d in keep))
            self.begin.append(n.Alloc(name))
        else:
            self._make_scalar(name)
        return True

    def _selected(self, index: Expr) -> bool:
        """Whether the subscript is fixed during an iteration of the loop."""
        return self.bound.isdisjoint(variables_read(index)) and not buffers_read(index)

    def _make_scalar(self, name: str) -> None:
        """``t[] = v; … t[] …`` as a `Let`, or as a local variable where it is stored conditionally."""
        dtype = self.buffers.pop(name).dtype
        stores = self._stores_to(name)
        early = min(self.first.get(one, self._count) for one in self._in(name))
        direct = len(stores) == 1 and stores[0].block == 0 and stores[0].order < early  # else it is anything at first
        self.scalars |= dict.fromkeys(self._in(name), (dtype, direct))
        if direct:
            return
        self.variables[name] = dtype
        self.begin.append(n.Let(name, _zero(dtype)))
        for x in stores:  # assignments from now on
            for touched in buffers_used(x.s) | buffers_written(x.s):
                self.places[touched][x.block] -= 1

    # --- all of it in one go

    def _changed(self, s: n.Stmt) -> n.Stmt:
        s = map_own(s, self._read)
        if isinstance(s, (n.Store, n.Scanning)):
            name = self.memory.get(s.buffer, s.buffer)
            if isinstance(s, n.Store) and s.buffer in self.scalars:
                _, direct = self.scalars[s.buffer]
                return n.Let(name, s.value, span=s.span) if direct else n.Assign(name, s.value, span=s.span)
            if s.buffer in self.memory or s.buffer in self.kept:
                keep = self.kept.get(s.buffer)
                s = replace(s, buffer=name, index=s.index if keep is None else tuple(s.index[d] for d in keep))
        return with_bodies(s, lambda body: tuple(map(self._changed, body)))

    def _read(self, e: Expr) -> Expr | None:
        if not isinstance(e, Load):
            return None
        name, keep = self.memory.get(e.buffer, e.buffer), self.kept.get(e.buffer)
        if e.buffer in self.scalars:
            return Var(name, self.scalars[e.buffer][0])
        if keep is None and name == e.buffer:
            return None
        kept = e.index if keep is None else (e.index[d] for d in keep)
        return Load(name, tuple(b.map_expr(i, self._read) for i in kept), e.dtype)


def _zero(dtype: str) -> Expr:
    return Const(False, "bool") if dtype == "bool" else Const(0 if dtype.startswith(("i", "u")) else 0.0, dtype)


def _returned(block: Sequence[n.Stmt]) -> Counter[str]:
    """How many `return`s look at each array."""
    return Counter(x for s in walk(block) if isinstance(s, n.Return) for x in result_buffers(s.result))


def _read_around(body: tuple[n.Stmt, ...], s: n.Stmt) -> frozenset[str]:
    """The buffers that `s` reads outside its `body`: what a compaction keeps, the condition of a loop."""
    found = {x for e in own_exprs(s) for x in buffers_read(e)}
    for other in bodies(s):
        if other is not body:
            found |= {x for o in other for x in buffers_used(o)}
    return frozenset(found)


def _same_shape_of_index(one: tuple[Expr, ...], two: tuple[Expr, ...]) -> bool:
    """Equal up to the names of inner axes: each component is the same expression or both are bare axes."""
    return len(one) == len(two) and all(
        x == y or (isinstance(x, Var) and isinstance(y, Var)) for x, y in zip(one, two, strict=True)
    )


def _without_result(s: n.Compact) -> tuple[n.Stmt, ...]:
    """What a filter that nobody needs leaves: the work of the loops that went into it."""
    lasting = (n.Store, n.Assign, n.Accumulate, n.Scanning, n.Compact, n.Library)
    if not any(isinstance(x, lasting) for x in walk(s.body)):
        return ()
    return (n.Loop(s.axis, s.start, s.stop, b.ONE, "parallel", s.body, span=s.span),)


def _drop_unused(program: n.Program) -> n.Program:
    """Without stores to temporaries that nothing reads, and without what only served them."""
    while True:
        read: set[str] = set()
        for s in program.body:
            read |= buffers_used(s)
        counted = {v for s in program.body for v in scalars_used(s)} | {
            v for buffer in program.buffers.values() for d in buffer.dims for v in variables_read(d)
        }
        for s in walk(program.body):  # a filter whose count is used needs its memory
            if isinstance(s, n.Compact) and s.count in counted:
                read |= set(s.outputs)
            if isinstance(s, n.Library) and (set(s.outs) & read or s.name in RAISING):  # what it makes besides
                read |= set(s.outs)
        dead = {
            name for name, buffer in program.buffers.items()
            if buffer.role == "temporary" and name not in read
        }  # fmt: skip

        def clean(block: tuple[n.Stmt, ...], dead: set[str] = dead) -> tuple[n.Stmt, ...]:
            out: list[n.Stmt] = []
            for s in block:
                match s:
                    case n.Alloc(buffer=stored) | n.Store(buffer=stored) | n.Scanning(buffer=stored) if stored in dead:
                        continue
                    case n.Compact(outputs=outputs) if set(outputs) <= dead:
                        out.extend(clean(_without_result(s)))
                        continue
                    case n.Compact(outputs=outputs, values=values) if set(outputs) & dead:
                        left = [(o, v) for o, v in zip(outputs, values, strict=True) if o not in dead]
                        s = replace(s, outputs=tuple(o for o, _ in left), values=tuple(v for _, v in left))
                    case n.Library(outs=outs) if outs and set(outs) <= dead:
                        continue
                    case _:
                        pass
                s = with_bodies(s, clean)
                if isinstance(s, n.Loop) and not s.body:
                    continue
                if isinstance(s, n.If) and not s.then and not s.orelse:
                    continue
                out.append(s)
            return tuple(out)

        body = clean(program.body)
        used_names = {x for s in body for x in buffers_used(s) | buffers_written(s)} | {
            s.buffer for s in walk(body) if isinstance(s, n.Alloc)
        }
        kept = {k: v for k, v in program.buffers.items() if v.role == "argument" or k in used_names}
        if body == program.body and len(kept) == len(program.buffers):
            return program
        program = replace(program, body=body, buffers=kept)

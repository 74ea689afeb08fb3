"""Sorts of which a few places are read, as selections: ``np.sort(x)[k]``, medians, percentiles.

    sorted = library sort(x)                        kth[0], kth[1] = (n - 1) // 2, n // 2
    low = sorted[(n - 1) // 2]             to       sorted = library select(x, kth)
    high = sorted[n // 2]                           low = sorted[(n - 1) // 2] …

NumPy's `partition` puts these elements where a sort would have put them, and the others anywhere: linear, not
n log n. A place that is none is not read, and stands for one of the array's here. A loop over a few places
(``np.percentile(x, [25, 75])``) reads those of each of its positions.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from transkern.fuse.sorts.names import given, set_once
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Expr, Load
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    own_parts,
    resolved,
    touched,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_PLACES = 8
"""More of them are found by a sort."""

_SHORT = 32
"""Elements that are sorted as fast."""


def select_sorted(program: n.Program) -> n.Program:
    """The program with such sorts as selections."""
    if not any(isinstance(s, n.Library) and s.name == "sort" for s in walk(program.body)):
        return program
    state = _Selecting(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


class _Selecting:
    def __init__(self, program: n.Program) -> None:
        self.names, self.buffers, self.body = Names.of(program), dict(program.buffers), program.body
        statements = list(walk(program.body))
        sorts = [s.outs[0] for s in statements if isinstance(s, n.Library) and s.name == "sort"]
        there = {v for name in sorts for d in program.buffers[name].dims for v in variables_read(d)}
        self.lets = {name: value for name, value in set_once(program).items() if name not in there}
        self.given = given(program)
        self.places: dict[str, dict[tuple[Expr, ...], None]] = {name: {} for name in sorts}  # where each is read
        self.find_places(program.body, {})
        self.written: dict[str, list[int]] = {}  # which statements of the program change each array
        for k, s in enumerate(program.body):
            for name in buffers_written(s):
                self.written.setdefault(name, []).append(k)
        self.position = -1  # of the statement of the program that is looked at
        memory = (s for s in statements if not isinstance(s, n.Alloc))
        self.others = Counter(name for s in memory for name in touched(s))  # how else it is used

    def find_places(self, block: Iterable[n.Stmt], few: Mapping[str, int]) -> None:
        """`few`: the axes of loops around the statements that have a few positions, from 0 on."""
        for s in block:
            for e in own_parts(s):
                if isinstance(e, Load) and e.buffer in self.places:
                    self.places[e.buffer] |= dict.fromkeys(self.positions(e.index, few))
            inside = few
            if isinstance(s, n.Loop) and (s.start, s.step) == (b.ZERO, b.ONE):
                extent = b.constant(s.stop)
                inside = {**few, s.axis: extent} if extent is not None and extent <= _PLACES else few
            for body in bodies(s):
                self.find_places(body, inside)

    def positions(self, index: tuple[Expr, ...], few: Mapping[str, int]) -> Iterator[tuple[Expr, ...]]:
        """The index at each position of the few that it depends on."""
        index = tuple(resolved(i, self.lets) for i in index)
        axes = [v for v in few if any(v in variables_read(i) for i in index)]
        for at in itertools.product(*(range(few[v]) for v in axes)):
            where: dict[str, Expr] = {v: b.index(k) for v, k in zip(axes, at, strict=True)}
            yield tuple(b.substitute(i, where) for i in index)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for k, s in enumerate(statements):
            self.position = k if statements is self.body else self.position
            if isinstance(s, n.Library) and s.name == "sort" and (places := self.wanted(s)):
                out += self.selection(s, places)
            else:
                out.append(with_bodies(s, self.block))
        return tuple(out)

    def wanted(self, s: n.Library) -> list[Expr]:
        """The places along the axis that are read of a sort, where these are few, and known when it is made."""
        (name,), attributes = s.outs, dict(s.attributes)
        made = self.buffers[name]
        axis = attributes["axis"]
        if made.role != "temporary" or self.others[name] != 1 or is_complex(made.dtype) or made.element:
            return []
        if not isinstance(axis, int) or attributes.get("kind", "quicksort") != "quicksort":
            return []  # of a stable sort the signs of zeros are known
        extent = made.dims[axis]
        if (b.constant(extent) or _SHORT + 1) <= _SHORT:
            return []
        there = {v for d in made.dims for v in variables_read(d)}
        found: dict[Expr, None] = {}
        for index in self.places.get(name, {}):
            if len(index) != len(made.dims):
                return []
            place = index[axis]
            if not all(map(self.is_known, buffers_read(place))):
                return []
            if variables_read(place) - self.given - there:
                return []
            found[place] = None
        return [*found] if len(found) <= _PLACES else []

    def is_known(self, name: str) -> bool:
        """Whether an array holds at the statement that is looked at what it holds wherever it is read."""
        writes = self.written.get(name, [])
        return self.buffers[name].role == "temporary" and len(writes) == 1 and writes[0] < self.position

    def selection(self, s: n.Library, places: list[Expr]) -> list[n.Stmt]:
        axis = dict(s.attributes)["axis"]
        last = b.sub(self.buffers[s.outs[0]].dims[axis], b.ONE)
        kth = self.names.fresh("kth")
        self.buffers[kth] = n.Buffer(kth, "int64", (b.index(len(places)),), "temporary")
        stores = [
            n.Store(kth, (b.index(k),), b.cast(b.maximum(b.minimum(p, last), b.ZERO), "int64"), span=s.span)
            for k, p in enumerate(places)
        ]  # fmt: skip
        step = replace(
            s, name="select", ins=(*s.ins, kth), attributes=(("axis", axis),), views=(*(v for _, v in s.operands), None)
        )
        return [n.Alloc(kth, span=s.span), *stores, step]

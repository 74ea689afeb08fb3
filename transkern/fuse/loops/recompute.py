"""What costs less to compute than to read is computed where it is read:

    define rows[i, j] = int64(i)                   out[i, j] = a[i, j] * float64(i)
    out[i, j] = a[i, j] * float64(rows[i, j])      to
    …                                              …

Coordinates (`np.indices`, `np.meshgrid`, `np.arange`), masks of them, and constants: arrays of which each element is
known from its subscripts alone. Fusion takes them into one loop that reads them; read by several, each element went to
memory and back, and nobody behind knows what it is.

So are deviations (``x - x.mean(axis=0)``), masks (``~np.isnan(x)``) and what else takes a few operations on what it is
made of, where that still is what it was, and each element is read a few times: a sum along another axis than the last,
which goes through memory in another order, would read them from memory. Copies of what stands side by side
(``image.flatten()``, ``x[1:-1].copy()``) are not made where they are only read and their origin does not change: it is
as good.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from transkern.fuse.lowering.unchanged import stays
from transkern.fuse.scalars.places import divides_for
from transkern.fuse.states.reading import slides
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    alone,
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    is_in_order,
    map_block,
    own_exprs,
    scalars_set,
    stride_along,
    touched,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_CHEAP = frozenset(
    ("add", "subtract", "multiply", "negative", "cast", "minimum", "maximum", "where", "less", "less_equal", "greater",
     "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "and_then", "or_else",
     "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "isnan", "isfinite", "absolute", "square")
)  # fmt: skip
_OPERATIONS = 6
"""Up to as many are worth while for each time that an element is read."""
_IN_STEPS, _TIMES, _LONG = 16, 3, 256
"""The same in a loop in order on a GPU, whose threads all meet behind each array that an iteration makes; how often an
element may be read then, and how long the value's text may be."""
_READERS = (n.Define, n.Let, n.Write, n.Filter, n.Assign, n.Store, n.Accumulate, n.If, n.Scatter, n.Scan)
"""What reads elements, and nothing but elements."""
_TAKERS = (n.Define, n.Let, n.Write, n.Filter, n.Guard, n.Scatter)
"""What may compute an element where it reads one: what goes along axes."""
_NEAR = 64
"""Statements behind which it is read: what is read later comes from memory anyway."""
_CLOSE = 2
"""Readers of an array so near to each other are taken to share a loop, if they visit as many points."""
_ROUNDS = 4
"""How often what has become part of a value may become part of another."""
_MEMORY = 3
"""What a byte of a temporary costs that is written and read once, in bytes that are read."""


def recompute(program: n.Program) -> n.Program:
    """The program without temporaries that are computed as easily as they are read."""
    return _recomputed(program, in_steps=False)


def recompute_for_cuda(program: n.Program) -> n.Program:
    """The same; of those that iterations of a loop in order make, also some that take more operations."""
    return _recomputed(program, in_steps=True)


def _recomputed(program: n.Program, in_steps: bool) -> n.Program:
    program = _without(program, _known_from_subscripts(program))
    for _ in range(_ROUNDS):
        found = _Fresh(program, in_steps).found()
        if not found:
            break
        program = _without(program, found)
    return program


def _without(program: n.Program, defines: Sequence[n.Define]) -> n.Program:
    """The program in which readers compute what the statements define, none of which reads what another defines."""
    if not defines:
        return program
    by_name = {s.buffer: s for s in defines}
    body = _dropped(map_block(program.body, lambda e: _computed(e, by_name)), by_name.keys())
    sizes = (d for x in program.buffers.values() for d in (*x.dims, x.low, x.high) if d is not None)
    left = set[str]().union(*map(buffers_used, body), *map(buffers_read, sizes)) & by_name.keys()
    if left:  # sizes are read from them
        return _without(program, [s for s in defines if s.buffer not in left])
    return replace(program, body=body, buffers={k: v for k, v in program.buffers.items() if k not in by_name})


def _computed(e: Expr, defines: Mapping[str, n.Define]) -> Expr | None:
    if not isinstance(e, Load) or e.buffer not in defines:
        return None
    define = defines[e.buffer]
    index = (b.map_expr(i, lambda x: _computed(x, defines)) for i in e.index)
    return b.substitute(define.value, {a.name: i for a, i in zip(define.axes, index, strict=True)})


def _known_from_subscripts(program: n.Program) -> list[n.Define]:
    """What defines such arrays, which nobody else writes, and of which single elements are read alone."""
    statements = list(walk(program.body))
    known = {
        s.buffer: s for s in statements
        if isinstance(s, n.Define) and not buffers_read(s.value) and _is_cheap_temporary(s, program)
    }  # fmt: skip
    if not known:
        return []
    changing = set[str]()
    top = set(map(id, program.body))
    for s in statements:
        for name in touched(s) & known.keys():
            if known[name] is not s:
                del known[name]
        for e in chain.from_iterable(map(walk_expr, own_exprs(s))):
            if isinstance(e, Load) and e.buffer in known and len(e.index) != len(known[e.buffer].axes):
                del known[e.buffer]
        if isinstance(s, (n.Loop, n.Compact, n.Scanning)):
            changing.add(s.axis)
        if not (isinstance(s, n.Let) and id(s) in top):
            changing |= scalars_set(alone(s))
    again = Counter(s.name for s in statements if isinstance(s, n.Let))
    changing |= {name for name, times in again.items() if times > 1}
    return [
        s for s in known.values() if not (variables_read(s.value) - {a.name for a in s.axes}) & changing
    ]  # fmt: skip


def _is_cheap_temporary(s: n.Define, program: n.Program, most: int = _OPERATIONS) -> bool:
    made = program.buffers[s.buffer]
    return made.role == "temporary" and made.dtype == s.value.dtype and _is_cheap(s.value, most)


def _is_cheap(value: Expr, most: int) -> bool:
    """Whether a value takes few operations, and none that may fail, on elements, subscripts and numbers.

    What a value takes twice is computed once.
    """
    count = 0
    for e in dict.fromkeys(walk_expr(value)):
        match e:
            case Apply(op):
                count += op != "cast" or e.dtype != e.args[0].dtype
                if op not in _CHEAP or count > most or e.dtype.startswith("complex"):
                    return False
            case Load(_, index) if any(map(buffers_read, index)):
                return False
            case Reduce():
                return False
            case _:
                pass
    return True


def _dropped(block: tuple[n.Stmt, ...], names: Container[str]) -> tuple[n.Stmt, ...]:
    return tuple(
        with_bodies(s, lambda inner: _dropped(inner, names)) for s in block
        if not (isinstance(s, n.Define) and s.buffer in names)
    )  # fmt: skip


class _Read(NamedTuple):
    """A subscript of an array, and the axes around it."""

    place: tuple[Expr, ...]
    around: tuple[Axis, ...]

    def is_once(self, s: n.Define) -> bool:
        """Whether each element is read for a few points at most: not for all of a sum, nor for all windows over it."""
        moving = set[str]().union(*map(variables_read, self.place))
        return (
            len(self.place) == len(s.axes)
            and all(a.name in moving for a in self.around if a.extent != b.ONE)
            and not any(slides(i, self.around) for i in self.place)
        )

    def is_in_order(self, s: n.Define) -> bool:
        """Whether elements are read as they are made: loops fuse there, and the user's name stays."""
        mine = tuple(a.extent for a in self.around)
        return self.place == tuple(a.var for a in self.around) and mine == tuple(a.extent for a in s.axes)


class _Fresh:
    """Finds what may be computed again because what it is made of has not changed."""

    def __init__(self, program: n.Program, in_steps: bool) -> None:
        self.program = program
        loops = (s for s in walk(program.body) if in_steps and is_in_order(s))
        self.in_steps = {id(x) for s in loops for x in walk((s,)) if isinstance(x, n.Define)}
        self.readers: dict[str, list[n.Stmt]] = defaultdict(list)
        self.writers: Counter[str] = Counter()
        self.cheap: dict[str, n.Define] = {}
        self.chosen: dict[str, n.Define] = {}

    def found(self) -> list[n.Define]:
        """What is defined so, none of it of what another of them defines."""
        statements = list(walk(self.program.body))
        cheap = [
            s for s in statements
            if isinstance(s, n.Define) and (_is_cheap_temporary(s, self.program, self.most(s)) or self.is_copy(s))
        ]  # fmt: skip
        if not cheap:
            return []
        self.cheap = {s.buffer: s for s in cheap}
        for s in statements:
            own = alone(s)
            for name in buffers_used(own):
                self.readers[name].append(s)
            self.writers.update(buffers_written(own))
        self.block(self.program.body)
        return list(self.chosen.values())

    def most(self, s: n.Define) -> int:
        """The most operations that a value may take."""
        return _IN_STEPS if id(s) in self.in_steps else _OPERATIONS

    def block(self, statements: tuple[n.Stmt, ...]) -> None:
        for k, s in enumerate(statements):
            if isinstance(s, n.Define) and self.cheap.get(s.buffer) is s:
                if self.suits(s, statements[k + 1 :]):
                    self.chosen[s.buffer] = s
            for inner in bodies(s):
                self.block(inner)

    def suits(self, s: n.Define, behind: tuple[n.Stmt, ...]) -> bool:
        readers, inputs = self.readers[s.buffer], buffers_read(s.value)
        if self.writers[s.buffer] > 1 or not readers or inputs & self.chosen.keys():
            return False
        if self.is_copy(s):
            return self.is_only_read(s, behind)
        behind = behind[:_NEAR]
        last = next((k for k, x in enumerate(behind) if x is readers[-1]), None)  # they are in order
        if last is None or not set(map(id, readers)) <= set(map(id, behind[: last + 1])):
            return False
        if not stays(behind[: last + 1], inputs, variables_read(s.value), self.program.buffers):
            return False
        if any(s.buffer in touched(x) or not isinstance(x, _TAKERS) for x in readers):
            return False
        found = [x for reader in readers for x in self.reads(reader, s)]
        fuses = all(x.is_in_order(s) for x in found) and not any(isinstance(x, n.Scatter) for x in readers)
        if fuses or not all(x.is_once(s) for x in found):
            return False
        if not _is_cheap(s.value, _OPERATIONS) and (len(set(found)) > _TIMES or len([*walk_expr(s.value)]) > _LONG):
            return False
        if any(divides_for(x, s.buffer) for x in readers) or self.asks_places(s):
            return False
        again = sum(self.bytes(s, beside=self.with_others(k, readers)) for k in range(len(readers))) - self.bytes(s)
        return again <= _MEMORY * itemsize(self.program.buffers[s.buffer].dtype)

    def asks_places(self, s: n.Define) -> bool:
        """Whether a narrow element depends on a comparison of subscripts, which have half as many lanes or fewer."""
        narrow = itemsize(self.program.buffers[s.buffer].dtype) < itemsize("index")
        asked = (x for e in walk_expr(s.value) if isinstance(e, Apply) and e.dtype == "bool" for x in e.args)
        return narrow and any(x.dtype == "index" for x in asked)

    def with_others(self, at: int, readers: Sequence[n.Stmt]) -> set[str]:
        """What a reader reads, and what readers close to it do that visit as many points: they share a loop."""
        points = _points(readers[at])
        close = readers[max(at - _CLOSE, 0) : at + _CLOSE + 1]
        return set[str]().union(*(buffers_used(x) for x in close if x is readers[at] or _points(x) == points))

    def is_copy(self, s: n.Define) -> bool:
        """Whether a temporary's elements are those of one array, in its own order."""
        made = self.program.buffers[s.buffer]
        axes = {a.name for a in s.axes}
        match s.value:
            case Load(name, index, dtype) if axes and index and self.program.buffers[name].layout == "C":
                moved = [variables_read(i) & axes for i in index]
                return (
                    made.role == "temporary" and made.dtype == dtype
                    and sorted(x for names in moved for x in names) == sorted(axes)
                    and moved[-1] == {s.axes[-1].name}
                    and all(len(names) <= 1 for names in moved)
                    and all(stride_along((i,), *names) == 1 for i, names in zip(index, moved, strict=True) if names)
                    and not any(map(buffers_read, index))
                )  # fmt: skip
            case _:
                return False

    def is_only_read(self, s: n.Define, behind: tuple[n.Stmt, ...]) -> bool:
        """Whether single elements are read, and what it is a copy of does not change before the last time."""
        users = [k for k, x in enumerate(behind) if s.buffer in buffers_used(x) or s.buffer in touched(x)]
        reads = [
            e for x in self.readers[s.buffer] for own in own_exprs(x) for e in walk_expr(own)
            if isinstance(e, Load) and e.buffer == s.buffer
        ]  # fmt: skip
        inside = {id(x) for k in users for x in walk((behind[k],))}
        return (
            all(id(x) in inside and isinstance(x, _READERS) for x in self.readers[s.buffer])
            and all(len(e.index) == len(s.axes) for e in reads)
            and stays(behind[: users[-1] + 1], buffers_read(s.value), variables_read(s.value), self.program.buffers)
        )

    def reads(self, reader: n.Stmt, s: n.Define) -> list[_Read]:
        """Where a statement reads elements, by the axes around each."""
        found: list[_Read] = []

        def look(e: Expr, around: tuple[Axis, ...]) -> None:
            match e:
                case Load(name, index) if name == s.buffer:
                    found.append(_Read(index, around))
                case Load(_, args) | Apply(_, args):
                    for x in args:
                        look(x, around)
                case Reduce(_, inner, body):
                    look(body, (*around, *inner))
                case _:
                    pass

        for e in own_exprs(reader):
            look(e, getattr(reader, "axes", ()))
        return found

    def bytes(self, s: n.Define, beside: Container[str] = ()) -> int:
        """What is read for one element: of each array that has as many axes, and is not read `beside` it anyway."""
        full = {a.name for a in s.axes}
        loads = {e for e in walk_expr(s.value) if isinstance(e, Load) and e.buffer not in beside}
        return sum(itemsize(e.dtype) for e in loads if set[str]().union(*map(variables_read, e.index)) >= full)


def _points(s: n.Stmt) -> Counter[Expr]:
    """The extents of all axes that a statement goes along, in any order; without those that `keepdims` leaves."""
    inner = (a for e in own_exprs(s) for x in walk_expr(e) if isinstance(x, Reduce) for a in x.axes)
    return Counter(a.extent for a in (*getattr(s, "axes", ()), *inner) if a.extent != b.ONE)

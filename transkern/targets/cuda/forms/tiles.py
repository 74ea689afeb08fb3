"""Rows that a block goes through stay in its threads' registers: a thread has the first of its elements there.

    for (r = rank; r < m; r += size)         share.load(x_held, x);
        max = larger(max, x[r])              for k < 8: if (share.has(k)) max = larger(max, x_held[k]);
    max = reduce(max)                   to   for (r = 8 * size + rank; r < m; r += size) max = larger(max, x[r]);
    for (j = rank; j < m; j += size)         max = reduce(max);
        y[j] = exp(x[j] - max)               for k < 8: if (share.has(k)) y_held[k] = exp(x_held[k] - max);
                                             share.store(y_held, y);
                                             …

Each element is read once, all of a thread's at the same time, and what a later loop stores again is not stored before.
Where rows can be read in words, a thread has those of its words, else each is a block's size behind the one before
(`Share`). What is behind them in a longer row goes through memory, as it would without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import buffers_written, exprs, map_statement, scalars_set, variables_read, walk
from transkern.records import replace
from transkern.targets.clike import ident
from transkern.targets.cuda.forms.flat import loads_of
from transkern.targets.cuda.nests import search, shared
from transkern.targets.cuda.spelling import TYPES

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_WORDS = 2
"""Words of each array that a thread keeps: as many loads are in flight, and a block has half the threads to reduce."""
_WORD, _WIDEST = 16, 4
"""Bytes and elements of a word, at most."""
_BYTES = 128
"""Of all that a thread keeps: a quarter of the registers that it has."""

_Key = tuple[str, int, tuple[Expr, ...]]


@dataclass(slots=True)
class _Place:
    """The elements of an array along the loops' axis, at dimension `dim`; `rest` are the other subscripts."""

    buffer: n.Buffer
    dim: int
    rest: tuple[Expr, ...]
    number: int
    loaded_first: bool
    loops: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)  # the loops that store it whatever is there

    @property
    def suffix(self) -> str:
        return str(self.number) if self.number > 1 else ""

    @property
    def held(self) -> str:
        return f"{ident(self.buffer.name)}_held{self.suffix}"

    @property
    def here(self) -> Var:
        return Var(f"{ident(self.buffer.name)}_here{self.suffix}", self.buffer.dtype)

    def index(self, at: Expr) -> tuple[Expr, ...]:
        return (*self.rest[: self.dim], at, *self.rest[self.dim :])


@dataclass(frozen=True, slots=True)
class Tile:
    """What is held of a row, by loops along it."""

    loops: tuple[n.Loop, ...]
    places: tuple[_Place, ...]
    width: int  # elements of a word

    @property
    def held(self) -> int:
        """Elements of each array that a thread has."""
        return _WORDS * self.width

    @property
    def share(self) -> str:
        """The C++ type of what tells which ones."""
        return f"Share<{self.width}, {self.held}>"

    def of(self, s: n.Loop) -> int | None:
        """The number of a loop, where it is one of those along the row."""
        return next((k for k, one in enumerate(self.loops) if one is s), None)


def tile_of(program: n.Program, inner: Sequence[n.Stmt]) -> Tile | None:
    """What the threads of a block may hold of a row, whose statements are `inner`; None where loops are not plain."""
    loops = [s for s in inner if isinstance(s, n.Loop)]
    if not loops or [*map(id, shared(inner))] != [*map(id, loops)] or not all(_is_plain(s, loops[0]) for s in loops):
        return None
    if any(isinstance(x, n.Guard) for x in walk(inner)):
        return None  # what it leaves stored is seen
    if variables_read(loops[0].stop) & scalars_set_in(inner):
        return None  # the row says how long it is, behind what its threads hold
    found: dict[_Key, _Place] = {}
    spoilt: set[str] = set()  # arrays with accesses elsewhere
    changed, written = scalars_set_in(inner) | {s.axis for s in loops}, buffers_written(n.Kernel("", tuple(inner)))
    for k, s in enumerate(loops):
        for key, kind, sure in _accesses(s, changed - {s.axis}, written, spoilt):
            if key not in found and not sure:
                spoilt.add(key[0])
            place = found.get(key)
            if place is None:
                number = 1 + sum(x.buffer.name == key[0] for x in found.values())
                place = found[key] = _Place(program.buffers[key[0]], key[1], key[2], number, kind == "load")
            if k not in place.loops:
                place.loops.append(k)
            if kind == "store" and sure:
                place.whole.append(k)
    outside = [s for s in inner if s not in loops]
    spoilt |= {e.buffer for e in exprs(outside) if isinstance(e, Load)} & written
    spoilt |= {name for s in outside for name in buffers_written(s)}
    several = {x.buffer.name for x in found.values() if x.number > 1} & written
    kept = [x for x in found.values() if x.buffer.name not in spoilt | several and x.buffer.layout == "C"]
    kept = [x for x in kept if x.loaded_first or len(x.loops) > 1 or (x.whole and _is_along(x))]
    kept.sort(key=lambda x: (-len(x.loops), not x.loaded_first))  # what is stored once is held to be stored in words
    width = min(_WIDEST, _WORD // max((itemsize(x.buffer.dtype) for x in kept), default=_WORD))
    size, places = 0, []
    for x in kept:
        size += _WORDS * width * max(4, itemsize(x.buffer.dtype))
        if size <= _BYTES:
            places.append(x)
    return Tile(tuple(loops), tuple(places), width) if places else None


def scalars_set_in(statements: Iterable[n.Stmt]) -> set[str]:
    return {name for s in statements for name in scalars_set(s)}


def _is_plain(s: n.Loop, first: n.Loop) -> bool:
    if s.kind != "parallel" or s.start != b.ZERO or s.step != b.ONE or s.stop != first.stop or search(s) is not None:
        return False
    return all(
        isinstance(x, (n.Let, n.Store, n.Accumulate, n.If)) and not (isinstance(x, n.Store) and x.atomic)
        for x in walk(s.body)
    )


def _accesses(
    s: n.Loop, changed: set[str], written: set[str] | frozenset[str], spoilt: set[str]
) -> Iterator[tuple[_Key, str, bool]]:
    """The elements that an iteration touches which are its own, how, and whether in every case; arrays that are stored
    to, and touched anywhere else, are noted as `spoilt`."""
    axis = Var(s.axis, "index")

    def key(buffer: str, index: tuple[Expr, ...]) -> _Key | None:
        at = [d for d, e in enumerate(index) if e == axis]
        rest = tuple(e for d, e in enumerate(index) if d not in at)
        own = len(at) == 1 and not any(
            variables_read(e) & (changed | {s.axis}) or any(isinstance(x, Load) for x in exprs((n.Let("", e),)))
            for e in rest
        )
        if not own and buffer in written:
            spoilt.add(buffer)
        return (buffer, at[0], rest) if own else None

    def look(statements: Iterable[n.Stmt], certain: bool) -> Iterator[tuple[_Key, str, bool]]:
        for x in statements:
            for load, sure in loads_of(x):
                found = key(load.buffer, load.index)
                if found is not None:
                    yield found, "load", sure and certain
            if isinstance(x, n.Store):
                found = key(x.buffer, x.index)
                if found is not None:
                    yield found, "store", certain
            if isinstance(x, n.If):
                yield from look((*x.then, *x.orelse), False)

    yield from look(s.body, True)


# ---- printing --------------------------------------------------------------------------------------------------------


def print_tile(of: GroupBody, tile: Tile, allocs: Sequence[n.Stmt]) -> None:
    """Says which elements of the row the thread has, and loads them, at the beginning of a row, behind the memory that
    the row gets."""
    for s in allocs:
        of.statement(s)
    of.unit.pieces |= {"pack", "share"}
    share, stop = of.unit.local("share"), of.c.operand(tile.loops[0].stop)
    words = "false"
    if tile.width > 1 and all(map(_is_along, tile.places)):
        rows = ", ".join(_row(of, x) for x in tile.places if x.loaded_first or x.whole)
        words = f"{stop} % {tile.width} == 0 && in_words<{tile.width}>({rows})"
    of.line(f"const {tile.share} {share}({of.group}, {stop}, {words});")
    for x in tile.places:
        of.line(f"{TYPES[x.buffer.dtype]} {x.held}[{tile.held}];")
    for x in tile.places:
        if x.loaded_first and _is_along(x):
            of.line(f"{share}.load({x.held}, {_row(of, x)});")
    across = [x for x in tile.places if x.loaded_first and not _is_along(x)]
    if across:
        at = Var(tile.loops[0].axis, "index")
        k = _open_held(of, tile, tile.loops[0])
        for x in across:
            of.line(f"{x.held}[{k}] = {of.c.element(x.buffer.name, x.index(at))};")
        of.close()
        of.close()


def _is_along(x: _Place) -> bool:
    """Whether the elements stand side by side."""
    return x.dim == len(x.buffer.dims) - 1


def _row(of: GroupBody, x: _Place) -> str:
    """Where the row of a place begins, whose elements stand side by side."""
    offset = of.c.offset(x.buffer.name, x.index(b.ZERO))
    name = ident(x.buffer.name)
    return name if offset == b.ZERO else f"{name} + {of.c.operand(offset)}"


def _open_held(of: GroupBody, tile: Tile, s: n.Loop, places: bool = True) -> str:
    """Opens the loop over the elements that a thread holds, those of them that the row has, with their `places` in it;
    the name of the number."""
    k, share = of.unit.local("k"), of.unit.local("share")
    of.lines.append("#pragma unroll")
    of.open(f"for (int {k} = 0; {k} < {tile.held}; ++{k})")
    of.open(f"if ({share}.has({k}))")
    if places:
        of.line(f"const long long {ident(s.axis)} = {share}.at({k});")
    return k


def print_held(of: GroupBody, tile: Tile, s: n.Loop) -> None:
    """The iterations of a loop along a row: those whose elements are held, and the others."""
    number = tile.of(s)
    assert number is not None
    g, i, stop = of.group, ident(s.axis), of.c.operand(s.stop)
    used = [x for x in tile.places if number in x.loops]
    axis = Var(s.axis, "index")
    names = {(x.buffer.name, x.index(axis)): x for x in used}
    stored: list[_Place] = []
    together = {id(x) for x in used if number in x.whole and _is_along(x)}  # stored behind the loop, in words

    def read(e: Expr) -> Expr | None:
        return names[e.buffer, e.index].here if isinstance(e, Load) and (e.buffer, e.index) in names else None

    def held(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for x in statements:
            place = names.get((x.buffer, x.index)) if isinstance(x, n.Store) else None
            if isinstance(x, n.If):
                bare = map_statement(replace(x, then=(), orelse=()), read)
                out.append(replace(bare, then=held(x.then), orelse=held(x.orelse)))
            elif place is not None and isinstance(x, n.Store):
                value = map_statement(n.Let("", x.value), read)
                assert isinstance(value, n.Let)
                out.append(n.Assign(place.here.name, value.value, span=x.span))
                if not any(later > number for later in place.whole) and id(place) not in together:
                    out.append(n.Store(x.buffer, x.index, place.here, span=x.span))
                stored.append(place)
            else:
                out.append(map_statement(x, read))
        return tuple(out)

    body = held(s.body)
    k = _open_held(of, tile, s, any(s.axis in variables_read(e) for e in exprs(body)))
    for x in used:
        const = "" if x in stored else "const "
        value = "" if number == x.loops[0] and not x.loaded_first else f" = {x.held}[{k}]"
        of.line(f"{const}{TYPES[x.buffer.dtype]} {x.here.name}{value};")
    _print(of, axis, body)
    for x in used:
        if x in stored and (id(x) in together or any(later > number for later in x.loops)):
            of.line(f"{x.held}[{k}] = {x.here.name};")
    of.close()
    of.close()
    for x in used:
        if id(x) in together and not any(later > number for later in x.whole):
            of.line(f"{of.unit.local('share')}.store({x.held}, {_row(of, x)});")
    of.lines.append("#pragma unroll 1")  # seldom needed; its trips would be counted by a division
    of.open(f"for (long long {i} = {tile.held} * {g}.size() + {g}.rank(); {i} < {stop}; {i} += {g}.size())")
    _print(of, axis, s.body)
    of.close()


def _print(of: GroupBody, order: Expr, statements: Sequence[n.Stmt]) -> None:
    body = of.thread_body(order)
    body.loops = 1
    body.nested(statements)
    of.take(body)


"""How many bytes kernels move, against the fewest that they could: an estimate in the sizes of the arguments.

A nest of loops moves each element that it touches once, however often it reads it: windows, rows that all points read
and small tables stay in caches. What an outer loop in order goes over again it moves again each turn, as arrays that
caches hold cost little anyway. The fewest is each array of the kernel once in and once out. Only the leading terms are
kept: ``8 (n - 2) (m - 2)`` is ``8·n·m``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import alone, bodies, own_exprs, variables_read, walk, walk_expr

_ZERO, _ONE = Const(0, "index"), Const(1, "index")

_SOME = "some"

Term = tuple[str, ...]
"""The sizes that are multiplied, sorted."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """A sum of products of sizes; `unknown`: something is left out whose extent only the data tell."""

    terms: dict[Term, Fraction] = field(default_factory=dict)
    unknown: bool = False

    def __add__(self, other: Bytes) -> Bytes:
        terms = dict(self.terms)
        for term, times in other.terms.items():
            terms[term] = terms.get(term, Fraction(0)) + times
        return Bytes(terms, self.unknown or other.unknown)

    def __sub__(self, other: Bytes) -> Bytes:
        return self + Bytes({term: -times for term, times in other.terms.items()}, other.unknown)

    def __truediv__(self, by: int) -> Bytes:
        return Bytes({term: times / by for term, times in self.terms.items()}, self.unknown)

    def __mul__(self, other: Bytes) -> Bytes:
        terms: dict[Term, Fraction] = {}
        for one, times in self.terms.items():
            for two, more in other.terms.items():
                term = tuple(sorted((*one, *two)))
                terms[term] = terms.get(term, Fraction(0)) + times * more
        return Bytes(terms, self.unknown or other.unknown)

    def leading(self) -> Bytes:
        """The terms that no other one contains."""
        kept = {
            term: times for term, times in self.terms.items()
            if not any(other != term and not Counter(term) - Counter(other) for other in self.terms)
        }  # fmt: skip
        return Bytes(kept, self.unknown)

    def __str__(self) -> str:
        found = sorted(self.leading().terms.items(), key=lambda item: (item[1] < 0, -len(item[0]), item[0]))
        text = ""
        for term, times in found:
            sign = " - " if times < 0 else " + "
            text += (sign if text or times < 0 else "") + "·".join([*_number(abs(times), term), *term])
        return text.lstrip() or "0"


def _number(value: Fraction, term: Term) -> list[str]:
    if value == 1 and term:
        return []
    return [str(value.numerator) if value.denominator == 1 else f"{float(value):.3g}"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a kernel moves in one turn of the loop in order around its nests, how many turns that has (`turns`: empty
    where there is none), and the fewest that it could move in all of them."""

    moved: Bytes
    turns: str
    fewest: Bytes

    def __str__(self) -> str:
        each = "" if not self.turns else " in each turn" if self.turns == _SOME else f" in each of {self.turns} turns"
        if self.moved.unknown or self.fewest.unknown:
            return f"moves as many bytes as the data say{each}"
        return f"moves {self.moved} bytes{each}; the fewest are {self.fewest}"


def traffic(program: n.Program, kernel: n.Kernel) -> Traffic:
    """The bytes of a kernel."""
    return _Kernel(program).of(kernel)


def in_all(program: n.Program) -> Bytes:
    """The fewest bytes that the function could move: each of its arguments and results that are read, once, and each
    that is written."""
    read, written = set[str](), set[str]()
    for s in walk(program.body):
        match s:
            case n.Kernel(body=body):
                for access, reading in _accesses(body):
                    (read if reading else written).add(access.buffer)
            case n.Library():
                read.update(s.ins)
                written.update(s.outs)
            case _:
                pass
    total, of = Bytes(), _Kernel(program)
    for name in [*sorted(read), *sorted(written)]:
        if name in program.buffers and program.buffers[name].role != "temporary":
            total += of.whole(program.buffers[name])
    return total


@dataclass(frozen=True, slots=True)
class _Range:
    """Of a loop: what it goes over, and its iterations."""

    whole: Bytes
    steps: Bytes


@dataclass(frozen=True, slots=True)
class _Access:
    buffer: str
    index: tuple[Expr, ...]


def _accesses(block: Iterable[n.Stmt]) -> Iterator[tuple[_Access, bool]]:
    """What statements touch, and whether they read it."""
    for s in walk(block):
        for whole in own_exprs(s):
            for e in walk_expr(whole):
                if isinstance(e, Load):
                    yield _Access(e.buffer, e.index), True
        match s:
            case n.Store(buffer=buffer, index=index):
                yield _Access(buffer, index), False
            case n.Compact(outputs=outputs, axis=axis):
                yield from ((_Access(buffer, (Var(axis),)), False) for buffer in outputs)
            case n.Scanning(buffer=buffer, axis=axis):
                yield _Access(buffer, (Var(axis),)), False
            case _:
                pass


class _Kernel:
    def __init__(self, program: n.Program) -> None:
        self._program = program
        sizes = [
            (d.name, f"{p.name}.shape[{k}]") for p in program.params if isinstance(p, n.ArrayParam) and not p.base
            for k, d in enumerate(program.buffers[p.name].dims) if isinstance(d, Var)
        ]  # fmt: skip
        self._named = {
            name: shown if re.search(r"[._]\d+\.?$", name) else name.rstrip(".") for name, shown in reversed(sizes)
        }
        self._named |= {p.name: p.name for p in program.params if isinstance(p, n.ScalarParam)}

    def of(self, kernel: n.Kernel) -> Traffic:
        turns, body = "", kernel.body
        loops = [s for s in body if isinstance(s, (n.Loop, n.While))]
        if len(loops) == 1 and _is_over_nests(loops[0]):
            outer = loops[0]
            turns = _SOME if isinstance(outer, n.While) else self._turns(outer)
            body = outer.body
        moved, touched = Bytes(), dict[tuple[str, bool], Bytes]()
        allocated = {s.buffer for s in walk(kernel.body) if isinstance(s, n.Alloc)}
        for nest in body:
            found = self._touched((nest,), {}, {})
            for key, size in found.items():
                if key[0] not in allocated:  # rows and lanes of an iteration's own stay in caches
                    moved += size
                    touched[key] = _larger(touched.get(key), size)
        fewest = Bytes()
        for size in touched.values():
            fewest += size
        return Traffic(moved, turns, fewest)

    def _turns(self, loop: n.Loop) -> str:
        found = self._extent(loop.start, loop.stop, loop.step)
        return _SOME if found.unknown or not found.terms else str(found)

    def _touched(
        self, block: Sequence[n.Stmt], extents: dict[str, _Range], over: dict[str, frozenset[str]]
    ) -> dict[tuple[str, bool], Bytes]:
        """By buffer, and whether it is read: the bytes of the elements that a nest touches. `over` has the axes that
        names depend on, through which places are found."""
        found: dict[tuple[str, bool], Bytes] = {}
        over = dict(over)
        for s in block:
            here = extents
            match s:
                case n.Loop(axis=axis, start=start, stop=stop, step=step):
                    here = {**extents, axis: _Range(self._extent(start, stop), self._extent(start, stop, step))}
                case n.Compact(axis=axis, start=start, stop=stop):
                    here = {**extents, axis: _Range(*[self._extent(start, stop)] * 2)}
                case n.Scanning(axis=axis, stop=stop):
                    here = {**extents, axis: _Range(*[self._extent(_ZERO, stop)] * 2)}
                case n.Let(name=name, value=value) | n.Assign(name=name, value=value):
                    over[name] = over.get(name, frozenset()) | _axes(value, over)
                case _:
                    pass
            sizes = [(access.buffer, read, self._size(access, here, over)) for access, read in _accesses((alone(s),))]
            for inner in bodies(s):
                sizes += [(name, read, size) for (name, read), size in self._touched(inner, here, over).items()]
            for name, read, size in sizes:
                found[name, read] = _larger(found.get((name, read)), size)
        return found

    def _size(self, access: _Access, extents: dict[str, _Range], over: dict[str, frozenset[str]]) -> Bytes:
        size = Bytes({(): Fraction(itemsize(self._program.buffers[access.buffer].dtype))})
        seen: set[str] = set()
        for e in access.index:
            axes = sorted((_axes(e, over) & extents.keys()) - seen)
            seen.update(axes)
            for axis in axes:  # what an axis that is alone steps over is touched as well, by accesses beside this one
                size *= extents[axis].whole if len(axes) == 1 else extents[axis].steps
        return size

    def whole(self, buffer: n.Buffer) -> Bytes:
        size = Bytes({(): Fraction(itemsize(buffer.dtype))})
        for dim in buffer.dims:
            size *= self._polynomial(dim)
        return size

    def _extent(self, start: Expr, stop: Expr, step: Expr = _ONE) -> Bytes:
        match stop:
            case Apply("minimum", (Apply("add", (x, Const(block)), _), _), _) if x == start:
                return Bytes({(): Fraction(_whole(block))})  # a block of a loop that goes by blocks
        if not isinstance(step, Const) or not step.value:
            return Bytes({}, True)
        made = (self._polynomial(stop) - self._polynomial(start)) / abs(_whole(step.value))
        return Bytes({term: times for term, times in made.terms.items() if times}, made.unknown).leading()

    def _polynomial(self, e: Expr) -> Bytes:
        match e:
            case Const(value):
                return Bytes({(): Fraction(_whole(value))} if value else {})
            case Var(name) if name in self._named:
                return Bytes({(self._named[name],): Fraction(1)})
            case Apply("add", (x, y)):
                return self._polynomial(x) + self._polynomial(y)
            case Apply("subtract", (x, y)):
                return self._polynomial(x) - self._polynomial(y)
            case Apply("multiply", (x, y)):
                return self._polynomial(x) * self._polynomial(y)
            case Apply("maximum", (x, Const())) | Apply("maximum", (Const(), x)):
                return self._polynomial(x)
            case Apply("minimum", (x, y)):  # never more than each of them
                one, two = self._polynomial(x), self._polynomial(y)
                return two if one.unknown or (not two.unknown and _larger(one, two) is one) else one
            case Apply("where", (_, x, y)):
                return _larger(self._polynomial(x), self._polynomial(y))
            case Apply("floor_divide", (x, Const(by))) if by:
                return self._polynomial(x) / _whole(by)
            case Apply("remainder", (_, Const(by))):
                return Bytes({(): Fraction(_whole(by))})
            case _:
                return Bytes({}, True)


def _whole(value: Any) -> int:
    return int(value)


def _larger(one: Bytes | None, two: Bytes) -> Bytes:
    """The one with the larger leading term, as what the accesses of a buffer touch overlaps; before one of which
    nothing is known, as of what is left of a loop that goes by blocks, one that is."""
    if one is None or one.unknown:
        return two
    if two.unknown:
        return one
    rank = max((len(t) for t in one.terms), default=-1), max((len(t) for t in two.terms), default=-1)
    if rank[0] != rank[1]:
        return one if rank[0] > rank[1] else two
    return one if sum(one.terms.values()) >= sum(two.terms.values()) else two


def _is_over_nests(loop: n.Loop | n.While) -> bool:
    """Whether a loop in order goes over nests of loops, each turn anew."""
    if isinstance(loop, n.Loop) and loop.kind == "parallel":
        return False
    inner = [s for s in walk(loop.body) if isinstance(s, (n.Loop, n.Compact, n.Scanning))]
    axes = {loop.axis} if isinstance(loop, n.Loop) else set[str]()
    stored = [x for x, read in _accesses(loop.body) if not read]
    return bool(inner) and not any(axes & _axes(e, {}) for x in stored for e in x.index)


def _axes(e: Expr, over: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The axes that a value depends on."""
    names = variables_read(e)
    return frozenset(names).union(*(over.get(name, frozenset()) for name in names))

"""What holds of every element that a nest of loops has visited, and of one of them where a proof asks for it.

    parallel k < n: most max= idx[k]          for all k < n: idx[k] <= most
    parallel k < n: low any= idx[k] < 0       for all k < n: low or idx[k] >= 0
    parallel k < n: a[k] = min(b[k], 7)       for all k < n: a[k] == min(b[k], 7)
    parallel k < n: ok[k] = a[k] < m          for all k < n: not ok[k] or a[k] < m
    parallel k < n: if a[k] > 7: a[k] = 7     for all k < n: a[k] <= 7, and what held of all before and holds of 7
    for k in range(n): guard (idx[k] < m)     for all k < n: idx[k] < m

It holds until one of the names or arrays that it speaks of changes. A question about ``idx[e]`` gets what is known of
all elements for ``e``, where ``e`` is a position that was visited: isl has no quantifiers, and needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from transkern.analysis.affine import AS_POSITIONS
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    is_longer,
    once_a_statement,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)

_AT_ONCE = 8
"""How many facts one question gets."""

_BEHIND = 2
"""How far facts are followed that speak of further elements."""

_LONG = 100
"""Parts of a fact, at most."""

_LEAVES = (n.Break, n.Continue, n.Return, n.While)
"""With these inside, a loop may not visit all of its elements."""


@dataclass(frozen=True, slots=True)
class Everywhere:
    """`condition` holds for all `axes` in their ranges, a start and a stop each. `names` are what else it speaks of."""

    axes: tuple[tuple[str, Expr, Expr], ...]
    condition: Expr
    names: frozenset[str]

    def loads(self) -> Iterator[Load]:
        for e in walk_expr(self.condition):
            if isinstance(e, Load) and (e.dtype in AS_POSITIONS or e.dtype == "bool"):
                yield e

    def at(self, load: Load) -> tuple[Expr, Expr] | None:
        """Where `load` is an element that was visited, and what then holds of it."""
        for own in self.loads():
            if own.buffer != load.buffer or len(own.index) != len(load.index):
                continue  # (an array of several axes may be read as one line)
            places: dict[str, Expr] = {}
            axes = {axis for axis, _, _ in self.axes}
            for mine, asked in zip(own.index, load.index, strict=True):
                if isinstance(mine, Var) and mine.name in axes and places.setdefault(mine.name, asked) == asked:
                    continue
                if variables_read(mine) & axes or mine != asked:
                    break
            else:
                if places.keys() >= axes:
                    visited: Expr = b.TRUE
                    for axis, start, stop in self.axes:
                        e = places[axis]
                        inside = b.both(b.compare("less_equal", start, e), b.compare("less", e, stop))
                        visited = b.both(visited, inside)
                    return visited, b.substitute(self.condition, places)
        return None

    def unless(self, condition: Expr) -> Everywhere:
        """The same where `condition` does not hold."""
        return _of(self.axes, b.either(condition, self.condition))

    def called(self, old: str, new: Var) -> Everywhere:
        return _of(self.axes, b.substitute(self.condition, {old: new}))


def _of(axes: tuple[tuple[str, Expr, Expr], ...], condition: Expr) -> Everywhere:
    own = {axis for axis, _, _ in axes}
    said = [condition, *(e for _, *ends in axes for e in ends)]
    names = {name for e in said for name in variables_read(e) - own | buffers_read(e)}
    return Everywhere(axes, condition, frozenset(names))


@once_a_statement
def visited_by(loop: n.Stmt) -> list[Everywhere]:
    """What holds of all elements behind a loop."""
    inside = list(walk((loop,)))
    if not isinstance(loop, n.Loop) or any(isinstance(s, _LEAVES) for s in inside):
        return []
    return list(_Visited(inside).by(loop, (), {}))


class _Visited:
    def __init__(self, inside: list[n.Stmt]) -> None:
        """`inside`: the nest's statements."""
        self.leaves = [s for s in inside if not isinstance(s, (n.Loop, n.If))]
        self.changed = {name for s in self.leaves for name in scalars_set(s)}
        self.written = {name for s in self.leaves for name in buffers_written(s)}

    def by(
        self, loop: n.Loop, around: tuple[tuple[str, Expr, Expr], ...], lets: Mapping[str, Expr]
    ) -> Iterator[Everywhere]:
        axes = (*around, (loop.axis, loop.start, loop.stop))
        own = {axis for axis, _, _ in axes}
        ends = [e for _, *ends in axes for e in ends]
        if loop.step != b.ONE or any(buffers_read(e) or variables_read(e) & (own | self.changed) for e in ends):
            return  # no box
        lets = dict(lets)
        for s in loop.body:
            if isinstance(s, n.Let):
                value = _short(s.value, lets)
                lets.pop(s.name, None)
                if value is not None:
                    lets[s.name] = value
            elif isinstance(s, n.Loop):
                yield from self.by(s, axes, lets)
            else:
                for said, told_by in self.said(s, own, lets):
                    for condition in parts(said):
                        found = _of(axes, condition)
                        if found.names.isdisjoint((self.changed | self.written) - told_by) and any(found.loads()):
                            yield found

    def said(self, s: n.Stmt, own: set[str], lets: Mapping[str, Expr]) -> Iterator[tuple[Expr, set[str]]]:
        """What a statement says in each iteration, and the one name that it gives a value."""
        match s:
            case n.Guard(condition):
                if (told := _short(condition, lets)) is not None:
                    yield told, set()
            case n.Accumulate(name, op, taken) if self.is_one(name, op):
                value = _short(taken, lets)
                if value is None:
                    return
                result = Var(name, "bool" if op in ("any", "all") else "index" if op == "first" else value.dtype)
                if op in ("max", "min") and value.dtype in AS_POSITIONS:
                    yield b.compare("less_equal" if op == "max" else "greater_equal", value, result), {name}
                elif op == "any":
                    yield b.either(result, b.logical_not(value)), {name}
                elif op == "all":
                    yield b.either(b.logical_not(result), value), {name}
                elif op == "first":
                    yield b.either(b.compare("greater_equal", result, b.ZERO), b.logical_not(value)), {name}
            case n.Store(buffer, index, given) if given.dtype in (*AS_POSITIONS, "bool") and self.is_once(s, own):
                value = _short(given, lets)
                if value is None or buffer in buffers_read(value):
                    return
                stored = Load(buffer, index, value.dtype)
                if value.dtype == "bool":
                    for part in parts(value):
                        yield b.either(b.logical_not(stored), part), {buffer}
                else:
                    yield b.compare("equal", stored, value), {buffer}
            case _:
                pass

    def is_once(self, s: n.Store, own: set[str]) -> bool:
        """Whether the nest stores into each element of a part of the array once, and nothing else into the array."""
        places = [x.name for x in s.index if isinstance(x, Var)]
        alone = sum(s.buffer in buffers_written(x) for x in self.leaves) == 1
        return alone and sorted(places) == sorted(own) and len(places) == len(s.index)

    def is_one(self, name: str, op: str) -> bool:
        """Whether all iterations of the nest accumulate in one number."""
        return all(isinstance(s, n.Accumulate) and s.op == op for s in self.leaves if name in scalars_set(s))


def _short(e: Expr, lets: Mapping[str, Expr]) -> Expr | None:
    """An expression without names of the loop's, if it is not long: what is computed again and again is shared, and a
    tree of any size."""
    made = None if is_longer(e, _LONG) else b.substitute(e, lets)
    return None if made is None or is_longer(made, _LONG) else made


def behind_masked(
    loop: n.Loop, before: Iterable[Everywhere], holds: Callable[[Expr], bool]
) -> list[Everywhere]:
    """What holds behind ``for k < n: if condition: a[k] = value`` of all of `a`, where it held or not before.

    Elements that stay do not fulfil the condition. If the value does not either, none does; and what held of all before
    still does if it holds of the value.
    """
    axes: list[tuple[str, Expr, Expr]] = []
    inner: n.Stmt = loop
    while isinstance(inner, n.Loop) and inner.step == b.ONE:
        axes.append((inner.axis, inner.start, inner.stop))
        if len(inner.body) != 1:
            return []
        (inner,) = inner.body
    match inner:
        case n.If(condition, (n.Store(buffer, index, value) as store,), ()):
            pass
        case _:
            return []
    own = {axis for axis, _, _ in axes}
    ends = [e for _, *ends in axes for e in ends]
    if is_longer(value, _LONG) or is_longer(condition, _LONG):
        return []
    if any(buffers_read(e) or variables_read(e) & own for e in ends) or buffer in buffers_read(value):
        return []
    if value.dtype not in AS_POSITIONS or not _Visited([store]).is_once(store, own):
        return []
    stored = Load(buffer, index, value.dtype)
    if any(e.buffer == buffer and e != stored for e in walk_expr(condition) if isinstance(e, Load)):
        return []

    def of_the_value(e: Expr) -> Expr:
        return b.map_expr(e, lambda x: value if x == stored else None)

    out = [_of(tuple(axes), part) for part in parts(condition, False) if holds(of_the_value(part))]
    for fact in before:
        found = fact.at(stored) if buffer in fact.names else None
        if found is not None and len({e.index for e in fact.loads() if e.buffer == buffer}) == 1:
            if holds(of_the_value(found[1])):
                out.append(fact)
    return out


def facts_about(
    condition: Expr, everywhere: Iterable[Everywhere], lets: Mapping[str, Expr], facts: Iterable[Expr],
    holds: Callable[[Expr], bool],
) -> list[Expr]:  # fmt: skip
    """What is known of the elements that a question reads."""
    everywhere = list(everywhere)
    out: list[Expr] = []
    waiting, seen = [(load, 0) for load in _loads(condition, lets, set())], set[Load]()
    told: set[Expr] | None = None  # long to find out, and seldom asked for
    while waiting and len(out) < _AT_ONCE:
        load, behind = waiting.pop(0)
        if load in seen or behind > _BEHIND:
            continue
        seen.add(load)
        for fact in everywhere:
            found = fact.at(load)
            if found is None or not holds(found[0]):
                continue
            said = found[1]
            if isinstance(said, Apply) and said.op == "or_else":
                if told is None:
                    told = {p for f in facts for p in parts(_resolved(f, lets))}
                said = _without_what_fails(said, told, lets)
            out.append(said)
            waiting += [(x, behind + 1) for x in _loads(said, lets, set())]
    return out


def _loads(e: Expr, lets: Mapping[str, Expr], seen: set[str]) -> Iterator[Load]:
    for x in walk_expr(e):
        if isinstance(x, Load) and x.dtype in AS_POSITIONS:
            yield x
        elif isinstance(x, Var) and x.name in lets and x.name not in seen:
            seen.add(x.name)
            yield from _loads(lets[x.name], lets, seen)


def _without_what_fails(e: Expr, told: set[Expr], lets: Mapping[str, Expr]) -> Expr:
    """``x or y`` where it is known that ``x`` does not hold: ``y``."""
    match e:
        case Apply("or_else", (x, y), _) if told.issuperset(parts(_resolved(x, lets), False)):
            return _without_what_fails(y, told, lets)
        case Apply("or_else", (x, y), _):
            return b.either(x, _without_what_fails(y, told, lets))
        case _:
            return e


def _resolved(e: Expr, lets: Mapping[str, Expr]) -> Expr:
    """A condition with what its names stand for."""
    match e:
        case Var(name, "bool") if name in lets:
            return _resolved(lets[name], lets)
        case Apply(op, args, "bool") if op in _AND or op in _OR or op in _NOT:
            return Apply(op, tuple(_resolved(x, lets) for x in args), "bool")
        case _:
            return e


_AND = frozenset(("and_then", "logical_and", "bitwise_and"))
_OR = frozenset(("or_else", "logical_or", "bitwise_or"))
_NOT = frozenset(("logical_not", "invert"))


def parts(e: Expr, holds: bool = True) -> list[Expr]:
    """What all hold where a condition does (does not)."""
    match e:
        case Apply(op, (x,), "bool") if op in _NOT and x.dtype == "bool":
            return parts(x, not holds)
        case Apply(op, (x, y), "bool") if x.dtype == y.dtype == "bool" and (op in _AND or op in _OR):
            if holds == (op in _AND):
                return parts(x, holds) + parts(y, holds)
            return [b.either(_all(parts(x, holds)), _all(parts(y, holds)))]
        case _:
            return [e if holds else b.logical_not(e)]


def _all(conditions: list[Expr]) -> Expr:
    whole: Expr = b.TRUE
    for c in conditions:
        whole = b.both(whole, c)
    return whole

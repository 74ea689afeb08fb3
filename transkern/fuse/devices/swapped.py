"""Two rows that change places in each iteration, as the front end writes such loops: two iterations in one.

    for i in 0 .. n - n % 2 by 2:              for i in 0 .. n:
        cur[:] = first(i)                          a row [:] = first(i)
        for j: cur[j + 1] = f(cur, prev)           for j: a row [j + 1] = f(a row, the row before)
        prev[:] = first(i + 1)          is
        for j: prev[j + 1] = f(prev, cur)
    if n % 2 == 1:
        … the first half, for i = n - 1

That the halves are one iteration is asked of what they are without the names of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import buffers_written, map_own, walk
from transkern.records import replace


@dataclass(frozen=True, slots=True)
class Swapped:
    """One iteration, the loop of all `count` of them, the row that it makes and the one before; of what follows,
    the last iteration of an odd number (`ahead`) and what else is done then (`rest`)."""

    loop: n.Loop
    count: Expr
    row: str
    last: str
    ahead: tuple[n.Stmt, ...]
    rest: tuple[n.Stmt, ...]


def swapped(s: n.Stmt, follow: n.Stmt) -> Swapped | None:
    """The loop as one over all rows, with what follows it; None where they are anything else."""
    if not isinstance(s, n.Loop) or s.kind != "sequential" or s.fails or b.constant(s.step) != 2:
        return None
    if not isinstance(follow, n.If) or follow.orelse:
        return None
    match follow.condition:
        case Apply("equal", (Apply("remainder", (count, two), _), one), _) if (
            b.constant(two) == 2 and b.constant(one) == 1
        ):
            pass
        case _:
            return None
    if s.stop != b.add(s.start, b.sub(count, b.mod(count, b.index(2)))):
        return None
    halves, third = [*_halves(s.body)], [*_halves(follow.then)]
    if len(halves) != 3 or halves[2] or not third or not third[0]:
        return None
    written = [{name for x in half for name in buffers_written(x)} for half in halves[:2]]
    if any(len(names) != 1 for names in written) or written[0] == written[1]:
        return None
    (row,), (last,) = written
    axis = Var(s.axis, "index")
    later = _normal(halves[0], {s.axis: b.add(axis, b.ONE)}, {row: last, last: row})
    at_end = _normal(halves[0], {s.axis: s.stop}, {})
    if later != _normal(halves[1], {}, {}) or at_end != _normal(third[0], {}, {}):
        return None
    whole = replace(s, stop=b.add(s.start, count), step=b.ONE, body=tuple(halves[0]))
    ahead = tuple(third[0])
    kept = tuple(x for x in ahead if isinstance(x, n.Let))
    rest = tuple(follow.then[len(ahead) :])
    return Swapped(whole, count, row, last, ahead, (*kept, *rest) if rest else ())


def _halves(block: Sequence[n.Stmt]) -> Iterator[list[n.Stmt]]:
    """The statements up to each loop in order, and those behind the last."""
    part: list[n.Stmt] = []
    for s in block:
        part.append(s)
        if isinstance(s, n.Loop) and s.kind == "sequential":
            yield part
            part = []
    yield part


@dataclass(slots=True)
class _Names:
    """What names stand for, and how many have been met."""

    values: dict[str, Expr]
    buffers: Mapping[str, str]
    count: int = field(default=0)

    def fresh(self) -> str:
        self.count += 1
        return f".{self.count}"


def _normal(block: Sequence[n.Stmt], values: Mapping[str, Expr], buffers: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """Statements with values for their names, and loops and variables called by when they come."""
    names = _Names(dict(values), buffers)
    return tuple(_normal_of(block, names))


def _normal_of(block: Sequence[n.Stmt], names: _Names) -> Iterator[n.Stmt]:
    def change(e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return names.values.get(e.name)
        if isinstance(e, Load) and e.buffer in names.buffers:
            return Load(names.buffers[e.buffer], tuple(b.map_expr(i, change) for i in e.index), e.dtype)
        return None

    for s in block:
        s = map_own(s, change)
        match s:
            case n.Let(name, value):
                names.values[name] = value
            case n.Assign(name, value):
                known = names.values.get(name)
                made = known.name if isinstance(known, Var) else names.fresh()
                names.values[name] = Var(made, value.dtype)
                yield replace(s, name=made)
            case n.Loop(axis):
                made = names.fresh()
                names.values[axis] = Var(made, "index")
                yield replace(s, axis=made, body=tuple(_normal_of(s.body, names)))
            case n.If():
                then = tuple(_normal_of(s.then, names))
                yield replace(s, then=then, orelse=tuple(_normal_of(s.orelse, names)))
            case n.Store(buffer):
                yield replace(s, buffer=names.buffers.get(buffer, buffer))
            case _:
                yield s


def is_whole(block: Sequence[n.Stmt], row: str, width: Expr) -> bool:
    """Whether statements store each element of a row: at places named by numbers, and in loops along it."""
    found: list[tuple[Expr, Expr]] = []
    for s in block:
        match s:
            case n.Store(buffer, (at,)) if buffer == row:
                found.append((at, b.add(at, b.ONE)))
            case n.Loop(axis, start, stop, step) if b.constant(step) == 1:
                for x in _certain(s.body):
                    if x.buffer == row and len(x.index) == 1 and (gap := _gap(x.index[0], axis)) is not None:
                        found.append((b.add(start, b.index(gap)), b.add(stop, b.index(gap))))
            case _:
                pass
    reached: Expr = b.ZERO
    for _ in found:
        following = [end for begin, end in found if begin == reached]
        if not following:
            break
        reached = following[0]
    return reached == width and not any(isinstance(x, (n.Break, n.Continue)) for x in walk(tuple(block)))


def _gap(at: Expr, axis: str) -> int | None:
    return b.constant(b.sub(at, Var(axis, "index")))


def _certain(block: Sequence[n.Stmt]) -> Iterator[n.Store]:
    """The stores that each iteration makes: those of both branches are one."""
    for s in block:
        if isinstance(s, n.Store):
            yield s
        elif isinstance(s, n.If):
            others = [(x.buffer, x.index) for x in _certain(s.orelse)]
            yield from (x for x in _certain(s.then) if (x.buffer, x.index) in others)

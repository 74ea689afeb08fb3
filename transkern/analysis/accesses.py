"""Which elements the statements of a loop touch: every load and store as a subscript under its loops and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Span
from transkern.ir.traverse import own_exprs, variables_read


@dataclass(frozen=True, slots=True)
class Level:
    """A counted loop around an access: `axis` runs from `start` towards `stop` (exclusive) by `step`."""

    axis: str
    start: Expr
    stop: Expr
    step: int = 1


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store of a loop's body. `index` is None where it may be any element of the buffer.

    `levels` are the counted loops between the analysed loop and the access, outer first; `conditions` must hold for it
    to happen (those that are not linear are left out by whoever asks). `arms` says the same by the branches that lead
    to it: the two of one `if` are an even number and the next. `order` counts accesses in program order; a store comes
    after the loads of its own statement.
    """

    buffer: str
    write: bool
    index: tuple[Expr, ...] | None
    levels: tuple[Level, ...]
    conditions: tuple[Expr, ...]
    span: Span = field(compare=False)
    order: int = field(compare=False)
    arms: tuple[int, ...] = field(compare=False, default=())


@dataclass(slots=True)
class Body:
    """The accesses of a block, and what it binds: `lets` by name, `varying` every scalar that changes inside."""

    accesses: list[Access] = field(default_factory=list)
    lets: dict[str, Expr] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)  # buffers allocated inside: an iteration has its own
    written: set[str] = field(default_factory=set)  # by the accesses

    @property
    def changed(self) -> set[str]:
        """The buffers that hold something else from one iteration, or one statement, to the next."""
        return self.written | self.local


def accesses_of(block: Iterable[n.Stmt], scalars: frozenset[str] = frozenset()) -> Body:
    """The accesses of the statements in `block`, in program order; those of `scalars` too, as arrays without dims."""
    collector = _Collector(scalars)
    collector.block(block)
    body = collector.body
    body.accesses = [a for a in body.accesses if a.buffer not in body.local]
    body.written = {a.buffer for a in body.accesses if a.write}
    return body


def bodies_of(block: Iterable[n.Stmt]) -> list[Body]:
    """The accesses of each statement by itself, also of memory that the block allocates, counted on from one to the
    next."""
    collector = _Collector(frozenset())
    found = []
    for s in block:
        before = len(collector.body.accesses)
        collector.body = Body(collector.body.accesses)
        collector.visit(s)
        mine = collector.body.accesses[before:]
        found.append(replace(collector.body, accesses=mine, written={a.buffer for a in mine if a.write}))
    return found


class _Collector:
    def __init__(self, scalars: frozenset[str]) -> None:
        self.scalars = scalars
        self.body = Body()
        self.levels: list[Level] = []
        self.conditions: list[Expr] = []
        self.arms: list[int] = []
        self.branches = 0

    def block(self, statements: Iterable[n.Stmt]) -> None:
        for s in statements:
            self.visit(s)

    def touch(self, buffer: str, index: tuple[Expr, ...] | None, write: bool, span: Span) -> None:
        self.body.accesses.append(
            Access(
                buffer, write, index, tuple(self.levels), tuple(self.conditions), span, len(self.body.accesses),
                tuple(self.arms),
            )
        )  # fmt: skip

    def loads(self, exprs: Iterable[Expr], span: Span) -> None:
        for e in exprs:
            for load in _loads(e):
                self.touch(load.buffer, load.index, False, span)
            if self.scalars:
                for name in sorted(variables_read(e) & self.scalars):
                    self.touch(name, (), False, span)

    def visit(self, s: n.Stmt) -> None:
        body = self.body
        match s:
            case n.Let(name, value):
                self.loads([value], s.span)
                body.lets[name] = value
            case n.Assign(name, value):
                self.loads([value], s.span)
                body.varying.add(name)
                if name in self.scalars:
                    self.touch(name, (), True, s.span)
            case n.Store(buffer, index, value):
                self.loads([*index, value], s.span)
                self.touch(buffer, index, True, s.span)
            case n.Accumulator(name):
                body.varying.add(name)
            case n.Accumulate(name):
                self.loads(own_exprs(s), s.span)
                body.varying.add(name)
            case n.Alloc(buffer):
                body.local.add(buffer)
            case n.Loop(axis, start, stop, step, _, inner):
                self.loads([start, stop], s.span)
                body.varying.add(axis)
                self.counted(Level(axis, start, stop, b.constant(step) or 1), inner)
            case n.While(head, condition, inner):
                self.block(head)
                self.loads([condition], s.span)
                self.block(inner)
            case n.If(condition, then, orelse):
                self.loads([condition], s.span)
                first = self.branches
                self.branches += 2
                for k, (holds, part) in enumerate(((condition, then), (b.logical_not(condition), orelse))):
                    self.conditions.append(holds)
                    self.arms.append(first + k)
                    self.block(part)
                    self.arms.pop()
                    self.conditions.pop()
            case n.Scanning(_, buffer, axis, stop, inner, value, index):
                body.varying.add(axis)
                self.levels.append(Level(axis, b.ZERO, stop))
                self.block(inner)
                self.loads([value], s.span)
                self.touch(buffer, index, True, s.span)
                self.levels.pop()
            case n.Compact():
                body.varying |= {s.axis, s.count, *(a.name for a in s.inner)}
                self.levels.append(Level(s.axis, s.start, s.stop))
                self.block(s.body)
                self.levels += [Level(a.name, b.ZERO, a.extent) for a in s.inner]
                self.loads([s.mask, *s.values], s.span)
                for out in s.outputs:
                    self.touch(out, None, True, s.span)
                del self.levels[-1 - len(s.inner) :]
            case n.Library(_, outs, ins):
                for name in ins:
                    self.touch(name, None, False, s.span)
                for name in outs:
                    self.touch(name, None, True, s.span)
            case n.Kernel():
                self.block(s.body)
            case _:
                self.loads(own_exprs(s), s.span)

    def counted(self, level: Level, inner: Iterable[n.Stmt]) -> None:
        self.levels.append(level)
        self.block(inner)
        self.levels.pop()


def _loads(e: Expr) -> Iterator[Load]:
    match e:
        case Load(_, index, _):
            for i in index:
                yield from _loads(i)
            yield e
        case Apply(_, args, _):
            for a in args:
                yield from _loads(a)
        case Reduce(_, _, body, _):
            yield from _loads(body)
        case _:
            pass

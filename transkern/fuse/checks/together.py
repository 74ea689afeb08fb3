"""Checks of places over one range are asked together, where the places are made, whether any of them fails:

    accumulator first by first                      accumulator some by any
    parallel k in 0 .. n:                           parallel k in 0 .. n:
        i[k] = int64(x[k])                              i[k] = int64(x[k])
        first first= i[k] >= m at k         to          some any= i[k] >= m
    guard first < 0 else IndexError(…)                  some any= i[k] + 1 >= m
    accumulator second by first                     if some: … the searches and the guards, as they were
    parallel k in 0 .. n:
        second first= i[k] + 1 >= m at k
    guard second < 0 else IndexError(…)

so that places at all corners (``f[i, j]``, ``f[i + 1, j]``, …) take one pass, with vectors and threads, and none of its
own where they are made. A search is for the first element, one check after the other; nearly always it finds nothing.

- *Property.* Searches over one range and their guards in a row, with nothing between them but loops over this range
  that make arrays of the function's own.
- *Legality.* Nobody sees these arrays when a guard raises its error, and no iteration touches more of them than its
  own element, so that the loops may be one. None of them that stands behind a guard looks up a place, or divides
  integers: what the guard says must not be what keeps the loop from harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, own_exprs, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_TOGETHER = 16
"""Searches that become one question, at most."""

_HARMFUL = {"floor_divide", "remainder", "fmod", "divmod", "left_shift", "right_shift"}
"""What a processor, or C, does not do with all integers."""


def ask_together(program: n.Program) -> n.Program:
    """The program with one question for checks that follow each other, or stand where their places are made."""
    if not any(isinstance(s, n.Accumulate) and s.op == "first" for s in walk(program.body)):
        return program
    return replace(program, body=_Asking(program).block(program.body))


@dataclass(slots=True)
class _Run:
    """Searches with their guards, and the loops that make what they look at, in their order."""

    statements: list[n.Stmt] = field(default_factory=list)
    firsts: set[str] = field(default_factory=set)

    @property
    def loops(self) -> list[n.Loop]:
        return [s for s in self.statements if isinstance(s, n.Loop)]


class _Asking:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.used = _reads(program.body)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            run = self.run(rest)
            if run is not None:
                out += self.together(run)
                del rest[: len(run.statements)]
                continue
            s = rest.pop(0)
            out.append(s if isinstance(s, n.Loop) and s.kind == "parallel" else with_bodies(s, self.block))
        return tuple(out)

    def run(self, statements: Sequence[n.Stmt]) -> _Run | None:
        """What begins here and can be asked together, if it makes something: what is only read is soon gone through."""
        if not _is_search(statements[0]) and not isinstance(statements[0], n.Alloc):
            return None
        run, ended = _Run(), 0
        for s in statements:
            if not self.belongs(s, run):
                break
            run.statements.append(s)
            if isinstance(s, n.Guard):
                ended = len(run.statements)
        del run.statements[ended:]
        if run.statements and isinstance(run.statements[0], n.Alloc) and not _is_made(run, run.statements[0]):
            return None
        searches = [x for loop in run.loops for x in loop.body if isinstance(x, n.Accumulate)]
        run.firsts = {x.name for x in searches}
        makes = any(isinstance(x, n.Store) for loop in run.loops for x in loop.body)
        if not searches or len(searches) > _TOGETHER or not makes:
            return None
        if _reads(run.statements, run.firsts) != {name: self.used.get(name, 0) for name in run.firsts}:
            return None  # somebody else asks for a place
        return run if _is_of_own_elements(run.loops) and _is_made_first(run) else None

    def belongs(self, s: n.Stmt, run: _Run) -> bool:
        match s:
            case n.Accumulator(name=name, op="first"):
                run.firsts.add(name)
                return True
            case n.Alloc():
                return True
            case n.Let(value=value):
                return bool(variables_read(value) & run.firsts) and not buffers_read(value)
            case n.Guard(condition=condition):
                return len(variables_read(condition)) == 1 and variables_read(condition) <= run.firsts
            case n.Loop(kind="parallel"):
                first = next(iter(run.loops), s)
                return (first.start, first.stop) == (s.start, s.stop) and s.step == b.ONE and self.is_plain(s, run)
            case _:
                return False

    def is_plain(self, loop: n.Loop, run: _Run) -> bool:
        """Whether a loop only makes elements of the function's own arrays and looks for places, and does no harm where
        a guard before it would have raised its error."""
        for s in loop.body:
            match s:
                case n.Accumulate(name=name, op="first", position=Var(axis)) if axis == loop.axis:
                    if name not in run.firsts:
                        return False
                case n.Store(buffer, (Var(axis),)) if axis == loop.axis and not s.atomic:
                    if self.program.buffers[buffer].role == "argument":
                        return False
                case n.Let():
                    pass
                case _:
                    return False
        if not any(isinstance(s, n.Guard) for s in run.statements):
            return True  # it runs as it did
        for e in exprs(loop.body):
            if isinstance(e, Load) and any(buffers_read(i) for i in e.index):
                return False
            if isinstance(e, Apply) and e.op in _HARMFUL and not e.dtype.startswith("float"):
                return False
        return True

    def together(self, run: _Run) -> list[n.Stmt]:
        """One loop for all that is made and asked; the searches, where one has something to find."""
        before = [s for s in run.statements if isinstance(s, n.Alloc)]
        loops = run.loops
        some, axis = self.names.fresh("some"), loops[0].axis
        body: list[n.Stmt] = []
        for loop in loops:
            own = with_names(loop.body, {loop.axis: axis}) if loop.axis != axis else loop.body
            for s in own:
                body.append(n.Accumulate(some, "any", s.value, span=s.span) if isinstance(s, n.Accumulate) else s)
        span = loops[0].span
        made = replace(loops[0], body=tuple(body), spare=None)
        searches: list[n.Stmt] = []
        for s in run.statements:
            if isinstance(s, n.Loop):
                searches += self.search(s)
            elif not isinstance(s, n.Alloc):
                searches.append(s)
        found = n.If(Var(some, "bool"), tuple(searches), (), span=span)
        return [*before, n.Accumulator(some, "any", "bool", span=span), made, found]

    def search(self, loop: n.Loop) -> Iterator[n.Loop]:
        """The searches in a loop, one by one, without what it makes."""
        for x in loop.body:
            if isinstance(x, n.Accumulate):
                lets = tuple(y for y in loop.body if isinstance(y, n.Let))
                yield with_own_names(replace(loop, body=(*lets, x), spare=None), self.names, {}, {})


def _is_search(s: n.Stmt) -> bool:
    return isinstance(s, n.Accumulator) and s.op == "first"


def _is_made(run: _Run, s: n.Alloc) -> bool:
    return any(isinstance(x, n.Store) and x.buffer == s.buffer for loop in run.loops for x in loop.body)


def _is_made_first(run: _Run) -> bool:
    """Whether nothing is read before it is made, nor made twice: searches that run behind it all see what they saw."""
    seen: set[str] = set()
    for s in (x for y in run.statements for x in (y.body if isinstance(y, n.Loop) else (y,))):
        seen.update(name for e in own_exprs(s) for name in buffers_read(e))
        if isinstance(s, n.Store):
            if s.buffer in seen:
                return False
            seen.add(s.buffer)
    return True


def _is_of_own_elements(loops: Sequence[n.Loop]) -> bool:
    """Whether each iteration reads, of what any of the loops store, the elements with its own number alone."""
    stored = {x.buffer for loop in loops for x in loop.body if isinstance(x, n.Store)}
    return all(
        e.index == (Var(loop.axis, "index"),)
        for loop in loops for e in exprs(loop.body) if isinstance(e, Load) and e.buffer in stored
    )  # fmt: skip


def _reads(block: Iterable[n.Stmt], names: set[str] | None = None) -> dict[str, int]:
    """How often statements read variables."""
    found: dict[str, int] = {}
    for s in walk(block):
        for own in own_exprs(s):
            for e in walk_expr(own):
                if isinstance(e, Var) and (names is None or e.name in names):
                    found[e.name] = found.get(e.name, 0) + 1
    return found

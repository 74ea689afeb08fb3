"""A loop whose steps end when a mask is false for all lanes ends for each lane by itself:

    for t in 0 .. n:                                  parallel l in 0 .. m:
        accumulator some: bool by any                     for t in 0 .. n:
        parallel l in 0 .. m:                                 let on = z[l] < 4
            live[l] = z[l] < 4                    to          live[l] = on
            some any= live[l]                                 z[l] = z[l] * z[l] if live[l] else z[l]
        if not some: break
        parallel l in 0 .. m:
            z[l] = z[l] * z[l] if live[l] else z[l]

Legal where lanes are apart (`lanes_outside`), and where nothing of a lane changes any more once its mask is false: it
does not matter then how often the others go on. A step is run in symbols to find that out, with the mask false, and the
next one with what is known behind the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.analysis.symbols import Symbols, knowing
from transkern.analysis.verdicts import Walk
from transkern.fuse.schedule.interchange import inside_lanes, nest_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    is_in_order,
    map_block,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace


def end_by_lane(program: n.Program) -> n.Program:
    """The program with such loops inside their lanes."""
    if not any(isinstance(s, n.Accumulator) and s.op == "any" for s in walk(program.body)):
        return program
    return replace(program, body=_Ending(program).block(program.body))


class _Ending(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names = Names.of(program)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, (n.Loop, n.While)) and is_in_order(s):
            found = _Steps.of(s, self.names)
            if found is not None and found.settles() and (made := self.by_lane(s, found)):
                return made
        return [self.inside(s)]

    def by_lane(self, s: n.Loop | n.While, found: _Steps) -> list[n.Stmt]:
        body = tuple(x for part in found.parts for x in part)
        values = {x.buffer: self.names.fresh(x.buffer) for x in found.arrays if _is_value(x.buffer, body)}
        arrays = [x for x in found.arrays if x.buffer not in values]
        before, behind = (_with_values(part, values) for part in found.parts)
        axis = self.names.fresh("t")
        time = s if isinstance(s, n.Loop) else n.Loop(axis, b.ZERO, b.size(axis), b.ONE, "sequential", ())
        moved = inside_lanes(self, replace(time, body=(found.nest((*before, *behind)),)))
        if moved is None:
            return []
        if isinstance(s, n.While):
            if not found.head_changes:
                behind = knowing(behind, found.decided)  # a lane that goes on knows why
            moved = found.nest((n.While(before, Var(found.mask, "bool"), behind, span=s.span),))
        return [*arrays, moved]


def _is_value(name: str, body: Sequence[n.Stmt]) -> bool:
    """Whether an array of a step is a value of a lane: stored once, before it is read."""
    for k, s in enumerate(body):
        if name in buffers_used(s) or name in buffers_written(s):
            others = any(name in buffers_written(x) for x in body[k + 1 :])
            reads = any(name in buffers_read(e) for e in own_exprs(s))
            return isinstance(s, n.Store) and s.buffer == name and not reads and not others
    return False


def _with_values(body: tuple[n.Stmt, ...], values: dict[str, str]) -> tuple[n.Stmt, ...]:
    """The statements of a lane with names for the elements of these arrays."""

    def change(e: Expr) -> Expr | None:
        return Var(values[e.buffer], e.dtype) if isinstance(e, Load) and e.buffer in values else None

    return tuple(
        n.Let(values[s.buffer], s.value, span=s.span) if isinstance(s, n.Store) and s.buffer in values else s
        for s in map_block(body, change)
    )


class _Steps:
    """A loop in order whose steps are nests over the same lanes, and end it where a mask is false for all: the loops of
    a nest, the statements of a lane before and behind the test, the mask's name, and the arrays of a step."""

    def __init__(
        self, loops: tuple[n.Loop, ...], parts: list[tuple[n.Stmt, ...]], mask: str, arrays: list[n.Alloc], axis: str
    ) -> None:
        self.loops, self.parts, self.mask, self.arrays, self.axis = loops, parts, mask, arrays, axis
        self.decided: Expr = b.TRUE  # what the mask is, of what is there as the step begins
        self.head_changes = False  # whether something else is there when it has been found

    @staticmethod
    def of(s: n.Loop | n.While, names: Names) -> _Steps | None:
        steps = _tested(s)
        if steps is None:
            return None
        before, behind, test = steps
        arrays = [x for x in (*before, *behind) if isinstance(x, n.Alloc)]
        nests = [[x for x in part if isinstance(x, n.Loop)] for part in (before, behind)]
        first = next((x for part in nests for x in part), None)
        others = [x for x in (*before, *behind) if not isinstance(x, (n.Alloc, n.Loop, n.Accumulator))]
        if first is None or others or not all(_plain_but(x, test) for part in nests for x in part):
            return None
        loops = nest_of(first)
        mask = names.fresh("on")
        parts: list[tuple[n.Stmt, ...]] = []
        for part in nests:
            own: list[n.Stmt] = []
            for nest in part:
                other = nest_of(nest)
                if [(x.start, x.stop, x.step) for x in other] != [(x.start, x.stop, x.step) for x in loops]:
                    return None
                axes: dict[Expr, Expr] = {Var(x.axis): Var(y.axis) for x, y in zip(other, loops, strict=True)}
                for x in map_block(other[-1].body, axes.get):
                    own.append(n.Let(mask, x.value, span=x.span) if isinstance(x, n.Accumulate) else x)
            parts.append(tuple(own))
        bound = {v for x in loops for e in (x.start, x.stop) for v in variables_read(e)}
        lets = [x.name for part in parts for x in walk(part) if isinstance(x, n.Let)]
        if lets.count(mask) != 1 or len(set(lets)) != len(lets) or bound & set(lets):
            return None
        return _Steps(loops, parts, mask, arrays, s.axis if isinstance(s, n.Loop) else "")

    def nest(self, body: tuple[n.Stmt, ...]) -> n.Loop:
        for loop in reversed(self.loops):
            body = (replace(loop, body=body),)
        (made,) = body
        assert isinstance(made, n.Loop)
        return made

    def settles(self) -> bool:
        """Whether nothing of a lane changes behind a test at which its mask was false."""
        own = {x.buffer for x in self.arrays}
        before, behind = self.parts
        off: Expr = Var(self.mask, "bool")
        # a step up to the test, which found the mask false, and so is all that is the same
        first = Symbols()
        if not first.run(before):
            return False
        decided = self.decided = first.values[off]
        self.head_changes = any(isinstance(e, Load) for e in first.changed())
        known: dict[Expr, Expr] = {off: b.FALSE, decided: b.FALSE}
        known |= {e: b.FALSE for e, value in first.values.items() if value == decided and e.dtype == "bool"}
        known = {e: v for e, v in known.items() if isinstance(e, (Var, Load))}
        rest = Symbols(known)
        if not rest.run(behind) or self.handed_on(rest, own):
            return False
        # the next step, which begins with what is known of this one's end
        kept: dict[Expr, Expr] = {e: v for e, v in known.items() if isinstance(e, Load) and e.buffer not in own}
        again = Symbols(kept)
        if not again.run(before) or self.handed_on(again, own):
            return False
        if again.values[off] != b.FALSE:  # it is found again what was found before, of what is as it was
            names = {e.name for e in walk_expr(decided) if isinstance(e, Var)}
            if self.handed_on(first, own) or again.values[off] != decided or self.axis in names:
                return False
        return True

    def handed_on(self, symbols: Symbols, own: set[str]) -> bool:
        """Whether an element has changed that the next step, or somebody behind the loop, may read."""
        return any(isinstance(e, Load) and e.buffer not in own for e in symbols.changed())


def _tested(s: n.Loop | n.While) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...], str] | None:
    """The statements of a step before and behind the test that ends the loop where a mask is false for all lanes, and
    the mask's accumulator."""
    if isinstance(s, n.While):
        head = [x for x in s.head if not isinstance(x, n.Let)]
        names = {Var(x.name, "bool"): x.value for x in s.head if isinstance(x, n.Let)}
        test = names.get(s.condition, s.condition) if isinstance(s.condition, Var) else None
        if not isinstance(test, Var) or not _is_any(head, test.name):
            return None
        gone = {test.name, *(x.name for x in s.head if isinstance(x, n.Let))}
        if gone & {e.name for e in exprs((*head, *s.body)) if isinstance(e, Var)}:
            return None  # somebody else asks for it
        return tuple(head), s.body, test.name
    for k, x in enumerate(s.body):
        match x:
            case n.If(Apply("logical_not", (Var() as test,)), (*left, n.Break()), ()) if _is_any(s.body[:k], test.name):
                behind = s.body[k + 1 :]
                if test in exprs((*s.body[:k], *left, *behind)):
                    return None  # somebody else asks for it
                if not left:
                    return s.body[:k], behind, test.name
                if tuple(left) == behind:  # done in any case, before or behind the test
                    return (*s.body[:k], *behind), (), test.name
                return None
            case _:
                pass
    return None


def _is_any(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether all that the statements accumulate is whether a truth holds anywhere."""
    made = [x for x in walk(body) if isinstance(x, n.Accumulator)]
    return [(x.name, x.op) for x in made] == [(name, "any")]


def _plain_but(nest: n.Loop, test: str) -> bool:
    """Whether a nest is plain, but that it accumulates into `test`."""
    body = tuple(x for x in nest_of(nest)[-1].body if not (isinstance(x, n.Accumulate) and x.name == test))
    return nest.kind == "parallel" and all(isinstance(x, (n.Let, n.Store, n.If)) for x in walk(body))

"""Rows of a triangle that go together start together:

    parallel a in 0 .. m:                     parallel a_block in 0 .. 4 * (m // 4) by 4:
        parallel b in a .. m:                     parallel a in a_block .. a_block + 4:
            s := 0                                    parallel b in a_block .. m:
            for i in 0 .. n:             to               s := 0
                s := s + x[i, a] * x[i, b]                for i in 0 .. n: s := s + x[i, a] * x[i, b]
            c[a, b] = s                                   if a <= b: c[a, b] = s
                                              parallel a in 4 * (m // 4) .. m: …

Four rows over the same lanes share what these load (`block_lanes`). A row's first lane moves with the row, in pairs of
columns, of points, in sums over lower triangles; three lanes more at most are computed then, and not stored.

Legal where what is computed in vain is there to be read, whatever the row, and can do nothing but give a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import MakingWalk
from transkern.fuse.lanes.blocks import ROWS
from transkern.fuse.lanes.memory import contiguous
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_read, exprs, own_exprs, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_DIVISIONS = frozenset(("divide", "floor_divide", "remainder", "fmod"))


def pad_triangles(program: n.Program) -> n.Program:
    """The program in which four rows of a triangle at a time go over the lanes that any of them has."""
    if program.warns or not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Padding(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


class _Padding(MakingWalk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and (made := self.padded(s)):
            return made
        return [self.inside(s)]

    def padded(self, s: n.Loop) -> list[n.Stmt]:
        """Blocks of four rows, and the rows that are left; nothing where `s` has no such rows."""
        if not _is_parallel(s) or len(s.body) != 1 or not isinstance(s.body[0], n.Loop):
            return []
        known = b.constant(b.sub(s.stop, s.start))
        if known is not None and known < ROWS:
            return []
        lanes, row = s.body[0], Var(s.axis)
        after_start, after_stop = b.sub(lanes.start, row), b.sub(lanes.stop, row)
        starts = s.axis not in variables_read(after_start)
        ends = s.axis not in variables_read(after_stop)
        if not _is_parallel(lanes) or starts == ends or buffers_read(lanes.start) | buffers_read(lanes.stop):
            return []
        if s.axis in variables_read(lanes.stop if starts else lanes.start):
            return []
        parts = self.head_and_tail(lanes.body)
        if parts is None or contiguous(lanes.axis, lanes.body, self.buffers) <= 0:
            return []
        head, tail = parts
        block = Var(self.names.fresh(f"{s.axis}_block"))
        size, last = b.index(ROWS), b.sub(s.stop, b.ONE)
        if starts:
            hull = Level(lanes.axis, b.add(s.start, after_start), lanes.stop)
            around = replace(lanes, start=b.add(block, after_start))
            belongs = b.compare("less_equal", lanes.start, Var(lanes.axis))
        else:
            hull = Level(lanes.axis, lanes.start, b.add(last, after_stop))
            around = replace(lanes, stop=b.add(b.add(block, b.sub(size, b.ONE)), after_stop))
            belongs = b.compare("less", Var(lanes.axis), lanes.stop)
        if not _share(head, s.axis, lanes.axis) or not self.are_there(head, s, hull):
            return []
        around = replace(around, body=(*head, n.If(belongs, tuple(tail), span=lanes.span)), spare=None)
        together = replace(s, start=block, stop=b.add(block, size), body=(around,), spare=None)
        extent = b.maximum(b.sub(s.stop, s.start), b.ZERO)
        full = b.add(s.start, b.mul(size, b.floordiv(extent, size)))
        rest = with_own_names(replace(s, start=full, spare=None), self.names, self.variables, self.buffers)
        return [replace(s, axis=block.name, stop=full, step=size, body=(together,), spare=None), rest]

    def head_and_tail(self, body: tuple[n.Stmt, ...]) -> tuple[list[n.Stmt], list[n.Stmt]] | None:
        """A lane's loops in order, with what stands before them, and what it stores behind them. Values that are
        stored are computed by all lanes, which are vectors then."""
        ends = [k for k, x in enumerate(body) if isinstance(x, n.Loop)]
        if not ends:
            return None
        head, tail = list(body[: ends[-1] + 1]), list(body[ends[-1] + 1 :])
        if not tail or not _computes(head) or not all(isinstance(x, (n.Let, n.Store)) for x in tail):
            return None
        stores: list[n.Stmt] = []
        late: set[str] = set()  # names of what is loaded
        named: dict[Expr, Var] = {}
        for x in tail:
            if isinstance(x, n.Store) and not isinstance(x.value, (Var, Const)):
                if not buffers_read(x.value) and not variables_read(x.value) & late and not _may_trap(x.value):
                    if x.value not in named:
                        named[x.value] = Var(self.names.fresh("stored"), x.value.dtype)
                        head.append(n.Let(named[x.value].name, x.value, span=x.span))
                    x = replace(x, value=named[x.value])
            elif isinstance(x, n.Let):
                if not buffers_read(x.value) and not variables_read(x.value) & late and not _may_trap(x.value):
                    head.append(x)
                    continue
                late.add(x.name)
            stores.append(x)
        return head, stores

    def are_there(self, head: Sequence[n.Stmt], rows: n.Loop, hull: Level) -> bool:
        """Whether each row and each lane of any row may load what the statements do."""
        inner = [x for x in walk(head) if isinstance(x, n.Loop)]
        levels = [Level(rows.axis, rows.start, rows.stop), hull, *(Level(x.axis, x.start, x.stop) for x in inner)]
        before = len(self.levels)
        self.levels += levels
        loads = {e for x in exprs(head) for e in walk_expr(x) if isinstance(e, Load)}
        places = [(e.index, self.buffers[e.buffer].dims) for e in loads]
        found = all(len(index) == len(dims) for index, dims in places) and all(
            not buffers_read(i)
            and self.holds(b.compare("less_equal", b.ZERO, i))
            and self.holds(b.compare("less", i, dim))
            for index, dims in places for i, dim in zip(index, dims, strict=True)
        )  # fmt: skip
        del self.levels[before:]
        return found


def _is_parallel(s: n.Loop) -> bool:
    return s.kind == "parallel" and s.step == b.ONE


def _computes(head: Sequence[n.Stmt]) -> bool:
    """Whether statements do nothing but compute variables, whatever there is to be read."""
    loops = [x for x in walk(head) if isinstance(x, n.Loop)]
    return (
        all(isinstance(x, (n.Let, n.Assign, n.Loop)) for x in walk(head))
        and all(x.kind == "sequential" and (b.constant(x.step) or 0) > 0 for x in loops)
        and not any(map(_may_trap, exprs(head)))
    )


def _may_trap(value: Expr) -> bool:
    """Whether integers are divided: by zero, a processor would end the program."""
    return any(
        isinstance(e, Apply) and e.op in _DIVISIONS and not e.dtype.startswith("float") for e in walk_expr(value)
    )


def _share(head: Sequence[n.Stmt], row: str, lane: str) -> bool:
    """Whether all rows go through the same loops, and load something of a lane that is the same for all of them."""
    loops = [x for x in walk(head) if isinstance(x, n.Loop)]
    bounds: list[Expr] = [e for x in loops for e in (x.start, x.stop)]
    if any(variables_read(e) & {row, lane} for e in bounds):
        return False
    inner = (e for x in loops for y in x.body for own in own_exprs(y) for e in walk_expr(own) if isinstance(e, Load))
    read = [variables_read(e) for e in inner]
    return any(lane in names and row not in names for names in read)


def ask_for_all_lanes(program: n.Program) -> n.Program:
    """The program in which a block of lanes asks once whether all of them are in the triangle: stores under a condition
    on each lane are no vectors."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        inner = (with_bodies(s, block) for s in statements)
        return tuple(_asked(s) if isinstance(s, n.Loop) and s.kind == "parallel" else s for s in inner)

    return replace(program, body=block(program.body))


def _asked(s: n.Loop) -> n.Stmt:
    """Lanes of a known number with conditions that hold for all if they do for the first, or for the last."""
    conditions = [x.condition for x in s.body if isinstance(x, n.If)]
    extreme = [_for_all(e, s) for e in conditions]
    held = [e for e in extreme if e is not None]
    if not held or len(held) < len(extreme) or b.constant(b.sub(s.stop, s.start)) is None:
        return s
    if any(isinstance(x, n.If) and x.orelse for x in s.body):
        return s
    inside = tuple(y for x in s.body for y in (x.then if isinstance(x, n.If) else (x,)))
    return n.If(reduce(b.both, dict.fromkeys(held)), (replace(s, body=inside),), (s,), span=s.span)


def _for_all(condition: Expr, s: n.Loop) -> Expr | None:
    """What holds if, and only if, a comparison with the lane does for all lanes."""
    match condition:
        case Apply("less_equal" | "less", (x, y)) if x.dtype == y.dtype == "index":
            factor = b.affine(b.sub(y, x))[0].get(Var(s.axis), 0)
            rest = b.sub(b.sub(y, x), b.mul(b.index(factor), Var(s.axis)))
            if abs(factor) != 1 or s.axis in variables_read(rest) or buffers_read(rest):
                return None
            at = s.start if factor > 0 else b.sub(s.stop, b.ONE)
            return b.substitute(condition, {s.axis: at})
        case _:
            return None

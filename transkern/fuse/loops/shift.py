"""Bring loops into the form that vectorises.

`shift_loops`: a loop whose axis only occurs as ``k + e`` runs over that position itself:

    parallel k in 0 .. n - i - 1: flag[i + 1 + k] = …     to     parallel p in i + 1 .. n: flag[p] = …

`predicate_stores`: a conditional store of a parallel loop stores the old value where the condition does not hold; each
position belongs to one iteration alone, so nobody can tell:

    if (c): flag[p] = v                                   to     flag[p] = v if c else flag[p]
"""

from __future__ import annotations

from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.together import always
from transkern.fuse.scalars.load_once import is_within
from transkern.fuse.states.reading import may_trap
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    exprs,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace


def shift_loops(program: n.Program) -> n.Program:
    """The program with parallel loops running over the positions they touch."""
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out = []
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "parallel" and s.start == b.ZERO and s.step == b.ONE:
                s = _shift(s, names)
            out.append(with_bodies(s, block))
        return tuple(out)

    return replace(program, body=block(program.body))


def _shift(s: n.Loop, names: Names) -> n.Loop:
    axis = Var(s.axis)
    offset: Expr | None = None
    for e in _index_uses(s):
        terms, total = b.affine(e)
        if terms.get(axis) != 1 or any(s.axis in variables_read(t) for t in terms if t != axis):
            return s
        rest = b.from_affine({t: c for t, c in terms.items() if t != axis}, total)
        if offset is None:
            offset = rest
        elif rest != offset:
            return s
    if offset is None or isinstance(offset, Const) or buffers_read(offset):
        return s
    bound = {x.axis for x in walk(s.body) if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
    if variables_read(offset) & bound.union(*map(scalars_set, s.body)):  # the range is computed before the body
        return s
    if any(map(may_trap, walk_expr(offset))):  # an empty loop computes its range: `k % max(n, 1)` is `k % n` inside
        return s
    p = Var(names.fresh("p"))
    back = b.sub(p, offset)
    body = map_block(s.body, lambda e: back if e == axis else None)
    body = map_block(body, _normal)
    stop = b.inhabited(s.stop)  # max(u, 0) + offset: an empty range stays empty without the max
    return replace(s, axis=p.name, start=offset, stop=b.add(stop, offset), body=body)


def _normal(e: Expr) -> Expr | None:
    """Sums of positions in normal form again."""
    if isinstance(e, Apply) and e.op in ("add", "subtract") and e.dtype == "index":
        return b.rebuild(e, e.args)
    return None


def _index_uses(s: n.Loop) -> list[Expr]:
    """The largest index expressions in which the axis occurs."""
    found: list[Expr] = []

    def visit(e: Expr) -> None:
        if s.axis not in variables_read(e):
            return
        match e:
            case Var():
                found.append(e)
            case Apply(op, args, "index") if op in ("add", "subtract", "multiply", "negative"):
                found.append(e)
            case Apply(_, args, _):
                for a in args:
                    visit(a)
            case Load(_, index, _):
                for i in index:
                    visit(i)
            case Reduce():
                found.append(e)
            case Const():
                pass

    for x in walk(s.body):
        for e in own_exprs(x):
            visit(e)
    return found


def predicate_stores(program: n.Program) -> n.Program:
    """The program with conditional stores of innermost parallel loops made unconditional: an element is written again
    as it was where the condition does not hold. It must be there then, and no other iteration may look at it."""
    if not any(isinstance(s, n.If) for s in walk(program.body)):
        return program
    there = _There(program)
    there.block(program.body)
    return replace(program, body=_Predicating(program, frozenset(map(id, there.found))).block(program.body))


class _There(Walk):
    """Finds conditional stores to elements that lie in their arrays whether the condition holds or not."""

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.found: list[n.If] = []

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.If(condition, (n.Store(buffer, index, value),), ()):
                read = Load(buffer, index, value.dtype) in always(condition)
                if read or is_within(self, Load(buffer, index, value.dtype)):
                    self.found.append(s)
            case _:
                pass
        return [self.inside(s)]


class _Predicating(Walk):
    loops_only = True

    def __init__(self, program: n.Program, there: frozenset[int]) -> None:
        super().__init__(program)
        self.there = there

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            made = _all_predicated(s, self.there, everywhere=True)
            if made == s or self.apart(made):
                return [made]
            return [_all_predicated(s, self.there, everywhere=False)]
        return [self.inside(s)]

    def apart(self, loop: n.Loop) -> bool:
        """Whether the iterations of the loop, and of the parallel loops in it, are still independent."""
        checking = _Checking(self.program)
        checking.levels, checking.facts, checking.lets = list(self.levels), list(self.facts), dict(self.lets)
        checking.statement(loop)
        return checking.apart


class _Checking(Walk):
    loops_only = True
    apart = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel" and self.apart:
            self.apart = Carried(self.program.buffers, s, self.surroundings()).independent()
        return [self.inside(s)] if self.apart else [s]


def _all_predicated(s: n.Loop, there: frozenset[int], everywhere: bool) -> n.Loop:
    def statement(x: n.Stmt) -> n.Stmt:
        if isinstance(x, n.Loop) and x.kind == "parallel":
            return _all_predicated(x, there, everywhere)
        return with_bodies(x, block)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(map(statement, statements))

    return replace(s, body=block(tuple(_predicated(x, s, everywhere) if id(x) in there else x for x in s.body)))


def _predicated(s: n.Stmt, loop: n.Loop, everywhere: bool) -> n.Stmt:
    match s:
        case n.If(condition, (n.Store(buffer, index, value) as store,), ()):
            own = any(b.affine(i)[0].get(Var(loop.axis)) for i in index)
            alone = all(e.index == index for e in exprs(loop.body) if isinstance(e, Load) and e.buffer == buffer)
            if own and (alone or everywhere) and not any(buffers_read(i) for i in index):
                old = Load(buffer, index, value.dtype)
                return replace(store, value=b.where(condition, value, old))
    return s

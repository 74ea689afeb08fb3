"""Truth values that branches set are expressions:

    if a[i - 1]:                               keep := a[i - 1] and a[i + 1]
        keep := a[i + 1]              to
    else:
        keep := False

Branches are run in symbols: a truth that a condition decides, in the branch that it leads to, is what it is there.
What is loaded where a condition holds alone, an expression loads then alone (`and`, `or`). Conditions over elements
that are there in any case, and soon asked, are all asked (`ask_all`): a loop of vectors has no jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from transkern.analysis.symbols import Symbols, simplified
from transkern.analysis.verdicts import Walk, reads_of
from transkern.fuse.scalars.load_once import is_within
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.traverse import exprs, map_own, own_exprs, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_BOTH = {"and_then": "logical_and", "or_else": "logical_or"}


def decide_truths(program: n.Program) -> n.Program:
    """The program with truths in place of branches that set nothing else, in parallel loops."""
    if not any(isinstance(s, n.If) and _sets_truths(s) for s in walk(program.body)):
        return program
    reads = reads_of(program.body)

    def block(statements: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        group: list[n.Stmt] = []
        for s in statements:
            if inside and _sets_truths(s):
                group.append(s)
                continue
            out += [*_decided(group, reads), s]
            group = []
        out += _decided(group, reads)
        return tuple(with_bodies(s, partial(block, inside=inside or _is_parallel(s))) for s in out)

    return replace(program, body=block(program.body, False))


def _is_parallel(s: n.Stmt) -> bool:
    return isinstance(s, n.Loop) and s.kind == "parallel"


def _sets_truths(s: n.Stmt) -> bool:
    """Whether a statement does nothing but to set truths."""
    match s:
        case n.Let(value=value) | n.Assign(value=value):
            return value.dtype == "bool"
        case n.If(then=then, orelse=orelse):
            return all(isinstance(x, n.Let) or _sets_truths(x) for x in (*then, *orelse))
        case _:
            return False


def _decided(group: Sequence[n.Stmt], reads: dict[str, int]) -> Sequence[n.Stmt]:
    """Statements that set truths as one for each that others read, unless that would ask more than they do."""
    if not any(isinstance(s, n.If) for s in group) or any(map(_is_dear, exprs(group))):  # what is dear keeps its name
        return group
    state = _Truths()
    if not state.run(group):
        return group
    inner = reads_of(group)
    made: list[n.Stmt] = []
    begun: set[str] = set()
    own = {s.name for s in group if isinstance(s, n.Let)}
    for name in dict.fromkeys(s.name for s in walk(group) if isinstance(s, n.Let | n.Assign)):
        if reads[name] == inner[name]:
            continue  # nobody else asks
        value = state.values.get(Var(name, "bool"))
        if value is None or variables_read(value) & begun or name in own:
            return group
        made.append(n.Assign(name, value, span=group[-1].span))
        begun.add(name)
    parts = sum(1 for s in walk(group) for e in own_exprs(s) for _ in walk_expr(e))
    return made if sum(1 for s in made for e in own_exprs(s) for _ in walk_expr(e)) <= 2 * parts else group


def _is_dear(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= TRANSCENDENTAL


class _Truths(Symbols):
    """Truths in symbols, where a branch knows its condition."""

    def _branches(self, condition: Expr, then: Sequence[n.Stmt], orelse: Sequence[n.Stmt]) -> bool:
        if isinstance(condition, Const):
            return self.run(then if condition.value else orelse)
        ways: list[dict[Expr, Expr]] = []
        before = dict(self.values)
        for holds, way in ((True, then), (False, orelse)):
            self.values = {e: _where(condition, holds, value) for e, value in before.items()}
            if not self.run(way):
                return False
            ways.append({e: _where(condition, holds, value) for e, value in self.values.items()})
        yes, no = ways
        self.values = {}
        for e in dict.fromkeys((*yes, *no)):
            here, there = yes.get(e, e), no.get(e, e)
            kept = before.get(e, e)
            stays = here == _where(condition, True, kept) and there == _where(condition, False, kept)
            self.values[e] = kept if stays else _chosen(condition, here, there)
        return True


def _where(condition: Expr, holds: bool, value: Expr) -> Expr:
    """A value where a condition holds, or does not."""
    known: dict[Expr, Expr] = {condition: b.TRUE if holds else b.FALSE}
    if isinstance(condition, Apply) and condition.op == "logical_not":
        known[condition.args[0]] = b.FALSE if holds else b.TRUE
    return simplified(b.map_expr(value, known.get))


def _chosen(condition: Expr, here: Expr, there: Expr) -> Expr:
    """``here if condition else there``, of truths without a choice where one of them is known."""
    opposite = b.logical_not(condition)
    if here == there:
        return here
    if here == b.FALSE:
        return b.both(opposite, there)
    if there == b.FALSE:
        return b.both(condition, here)
    if here == b.TRUE:
        return b.either(condition, there)
    if there == b.TRUE:
        return b.either(opposite, here)
    return simplified(b.where(condition, here, there))


# ---- Truths that are counted --------------------------------------------------------------------------------------


def count_truths(program: n.Program) -> n.Program:
    """The program whose parallel loops add up truths where they added one under a condition: a sum of narrow terms."""
    if not any(_counts(s) for s in walk(program.body)):
        return program

    def block(statements: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        made = [_counted(s) if inside and _counts(s) else s for s in statements]
        return tuple(with_bodies(s, partial(block, inside=_is_parallel(s))) for s in made)

    return replace(program, body=block(program.body, False))


def _counts(s: n.Stmt) -> bool:
    """Whether a statement adds one to a sum of integers where a condition holds."""
    match s:
        case n.If(condition, (n.Accumulate(op="sum", value=Const(1, dtype)),), ()):
            return condition.dtype == "bool" and not dtype.startswith(("float", "complex", "bool"))
        case _:
            return False


def _counted(s: n.Stmt) -> n.Stmt:
    assert isinstance(s, n.If) and isinstance(s.then[0], n.Accumulate)
    return replace(s.then[0], value=b.cast(s.condition, s.then[0].value.dtype))


# ---- Conditions that are all asked -----------------------------------------------------------------------------------


def ask_all(program: n.Program) -> n.Program:
    """The program whose innermost parallel loops ask the second of two conditions in any case, where that may be; as it
    was where flags of floats are read."""
    if program.warns:
        return program
    return replace(program, body=_Asking(program).block(program.body))


class _Asking(Walk):
    innermost = False  # whether the walk is in a parallel loop without loops inside

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        before = self.innermost
        if isinstance(s, n.Loop):
            plain = all(isinstance(x, n.Let | n.Assign | n.Store | n.If | n.Accumulate) for x in walk(s.body))
            self.innermost = s.kind == "parallel" and plain
        changed = map_own(s, self.asked) if self.innermost and not isinstance(s, n.Loop) else s
        made = self.inside(changed)
        self.innermost = before
        return [made]

    def asked(self, e: Expr) -> Expr | None:
        match e:
            case Apply("and_then" | "or_else" as op, (one, two), "bool") if one.dtype == two.dtype == "bool":
                one, two = b.map_expr(one, self.asked), b.map_expr(two, self.asked)
                return Apply(_BOTH[op] if self.may_be_asked(two) else op, (one, two), "bool")
            case _:
                return None

    def may_be_asked(self, e: Expr) -> bool:
        """Whether a condition is soon asked, of elements that are there in any case."""
        parts = list(walk_expr(e))
        soon = all(not isinstance(x, Apply) or OPS[x.op].cost == 1 for x in parts)
        loads = [x for x in parts if isinstance(x, Load)]
        plain = all(not isinstance(y, Load) for x in loads for i in x.index for y in walk_expr(i))  # no tables
        return bool(loads) and soon and plain and all(is_within(self, x) for x in loads)

"""Points leave a loop in order whose iterations change nothing of theirs any more:

    for t in 0 .. n:                                 for t in 0 .. n:
        live := live & (z < 4)                           live := live & (z < 4)
        z := (z * z + c) if live else z         to       if not live: break
                                                         z := (z * z + c) if live else z

A mask that only shrinks is an exit (as is one that what it guards alone decides): once it is false, an iteration leaves
all as it was, and so does the next. That is found by running the body with the mask false, in symbols: every variable
must come out as itself, and every element be stored as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from transkern.analysis.verdicts import reads_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_written, map_block, map_own, scalars_set, walk, walk_expr, with_bodies

_LONG = 400
"""Parts of an expression in symbols at most."""


def leave_early(program: n.Program) -> n.Program:
    """The program whose loops in order inside parallel ones end for a point when nothing changes for it any more."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    reads, names = reads_of(program.body), Names.of(program)

    def block(body: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            if inside and isinstance(s, n.Loop) and s.kind == "sequential":
                s = _with_exit(s, out, reads, names)
            deeper = inside or (isinstance(s, n.Loop) and s.kind == "parallel")
            out.append(with_bodies(s, partial(block, inside=deeper)))
        return tuple(out)

    return replace(program, body=block(program.body, False))


def _with_exit(loop: n.Loop, before: Sequence[n.Stmt], reads: Mapping[str, int], names: Names) -> n.Loop:
    """The loop with a `Break` behind the first mask that allows one; `before`: the statements in front of it."""
    if not all(isinstance(s, (n.Let, n.Assign, n.Store, n.If)) for s in walk(loop.body)):
        return loop
    sets: dict[str, int] = {}  # the last statement that sets a truth
    for k, s in enumerate(loop.body):
        found = [x for x in walk((s,)) if isinstance(x, n.Assign) or (isinstance(x, n.Let) and x is s)]
        sets |= {x.name: k for x in found if x.value.dtype == "bool"}
    for mask, k in sets.items():
        if _is_exit(loop, k, mask):
            return _left(loop, k, mask, before, reads, names)
    return loop


def _left(
    loop: n.Loop, k: int, mask: str, before: Sequence[n.Stmt], reads: Mapping[str, int], names: Names
) -> n.Loop:
    """The loop that is left behind its statement `k` where that leaves the mask false."""
    first, s, rest = loop.body[:k], loop.body[k], loop.body[k + 1 :]
    holds: Expr = Var(mask, "bool")
    if mask not in {x.name for x in walk((*first, *rest)) if isinstance(x, (n.Let, n.Assign))}:
        rest = _knowing(rest, mask)  # whoever comes here has not left
        begun = next((x for x in reversed(before) if mask in scalars_set(x)), None)
        alone = scalars_set(s) == {mask} and not buffers_written(s)
        if isinstance(begun, n.Assign) and begun.value == b.TRUE and alone:
            first = _knowing(first, mask)
            running = _Running({mask: b.TRUE})
            if running.runs((s,)) and reads[mask] == reads_of(loop.body)[mask]:
                s = n.Let(names.fresh(mask), running.values[mask], span=s.span)
                holds = Var(s.name, "bool")
    stop = n.If(b.logical_not(holds), (n.Break(span=s.span),), span=s.span)
    return replace(loop, body=(*first, s, stop, *rest))


def _knowing(body: tuple[n.Stmt, ...], mask: str) -> tuple[n.Stmt, ...]:
    """The statements where a mask is true."""
    out: list[n.Stmt] = []
    for s in map_block(body, lambda e: b.TRUE if isinstance(e, Var) and e.name == mask else None):
        s = map_own(s, lambda e: made if (made := _simple(e)) != e else None)
        s = with_bodies(s, lambda inner: _knowing(inner, mask))
        if isinstance(s, n.If) and isinstance(s.condition, Const):
            out += s.then if s.condition.value else s.orelse
        else:
            out.append(s)
    return tuple(out)


def _is_exit(loop: n.Loop, k: int, mask: str) -> bool:
    """Whether nothing changes once statement `k` leaves the mask false: not behind it, whatever the statements before
    it have done, and not in the iterations that follow."""
    if not _Running({mask: b.FALSE}).changes_nothing(loop.body[k + 1 :]):
        return False
    s = loop.body[k]
    if not isinstance(s, n.Let) and _Running({mask: b.FALSE}).changes_nothing(loop.body):
        return True  # once false, it stays so
    if not isinstance(s, (n.Let, n.Assign)):
        return False
    # what decides it is as it was, so that it comes out the same: false
    running = _Running({}, forced=k)
    if not running.changes_nothing(loop.body) or running.decided is None:
        return False
    decided = {e.name for e in walk_expr(running.decided) if isinstance(e, Var)}
    return loop.axis not in decided and mask not in decided


class _Running:
    """An iteration in symbols: what each name then stands for."""

    def __init__(self, values: dict[str, Expr], forced: int = -1) -> None:
        self.begun, self.values = values, dict(values)
        self.forced = forced  # the statement of the body that sets the mask, which is taken to be false
        self.decided: Expr | None = None  # what it set it to

    def changes_nothing(self, body: Sequence[n.Stmt]) -> bool:
        """Whether every variable is what it was behind the statements, and every element what it was."""
        if not self.runs(body, top=True):
            return False
        assigned = {s.name for s in walk(body) if isinstance(s, n.Assign)}
        if self.forced >= 0:
            assigned.discard(getattr(body[self.forced], "name", ""))
        found = {x: self.values[x] for x in assigned & self.values.keys()}
        return all(value == self.begun.get(x, Var(x, value.dtype)) for x, value in found.items())

    def runs(self, body: Sequence[n.Stmt], top: bool = False) -> bool:
        """Runs statements; whether none of them stores anything else than what is there."""
        for k, s in enumerate(body):
            match s:
                case n.Let(name, value) | n.Assign(name, value):
                    found = self.now(value)
                    if top and k == self.forced:
                        self.decided, found = found, b.FALSE
                    if found is None:
                        return False
                    self.values[name] = found
                case n.Store(buffer, index, value):
                    places = [self.now(i) for i in index]
                    if None in places or self.now(value) != Load(buffer, tuple(places), value.dtype):  # type: ignore[arg-type]
                        return False
                case n.If(condition, then, orelse):
                    found = self.now(condition)
                    if found is None or not self.branches(found, then, orelse):
                        return False
                case _:
                    return False
        return True

    def branches(self, condition: Expr, then: Sequence[n.Stmt], orelse: Sequence[n.Stmt]) -> bool:
        """Runs what a condition decides on, both where it is not known."""
        if isinstance(condition, Const):
            return self.runs(then if condition.value else orelse)
        before, self.values = self.values, dict(self.values)
        if not self.runs(then):
            return False
        held, self.values = self.values, dict(before)
        if not self.runs(orelse):
            return False
        for name in {x.name for x in walk((*then, *orelse)) if isinstance(x, n.Assign)}:
            here, there = held.get(name), self.values.get(name)
            if (some := here if here is not None else there) is not None:
                own = Var(name, some.dtype)
                made = b.where(condition, own if here is None else here, own if there is None else there)
                self.values[name] = _simple(made)
        return True

    def now(self, e: Expr) -> Expr | None:
        """An expression of what held when the iteration began; None where it is too long."""
        found = _simple(b.substitute(e, self.values))
        return found if sum(1 for _ in _some(found)) < _LONG else None


def _some(e: Expr) -> Iterator[Expr]:
    for k, x in enumerate(walk_expr(e)):
        if k >= _LONG:
            return
        yield x


def _simple(e: Expr) -> Expr:
    """An expression in which known truths decide."""
    match e:
        case Apply("where", (condition, then, orelse)):
            condition = _simple(condition)
            if isinstance(condition, Const):
                return _simple(then if condition.value else orelse)
            then, orelse = _simple(then), _simple(orelse)
            if then == b.FALSE and orelse == b.TRUE:
                return b.logical_not(condition)
            if then == b.TRUE and orelse == b.FALSE:
                return condition
            return then if then == orelse else replace(e, args=(condition, then, orelse))
        case Apply(op, args, dtype):
            args = tuple(map(_simple, args))
            false = [x for x in args if isinstance(x, Const) and x.dtype == "bool" and not x.value]
            if op in ("logical_and", "and_then", "bitwise_and") and dtype == "bool" and false:
                return b.FALSE
            if op in ("logical_or", "or_else", "bitwise_or") and dtype == "bool" and false:
                return next((x for x in args if x != b.FALSE), b.FALSE)
            true = [x for x in args if isinstance(x, Const) and x.dtype == "bool" and x.value]
            if op in ("logical_and", "and_then", "bitwise_and") and dtype == "bool" and true:
                return next((x for x in args if x != b.TRUE), b.TRUE)
            if op in ("logical_or", "or_else", "bitwise_or") and dtype == "bool" and true:
                return b.TRUE
            if op == "logical_not" and isinstance(args[0], Const):
                return b.logical_not(args[0])
            if op == "cast" and isinstance(args[0], Const):
                return b.cast(args[0], dtype)
            if op in ("add", "subtract") and _is_zero(args[1]) and args[0].dtype == dtype:
                return args[0]
            if op == "add" and _is_zero(args[0]) and args[1].dtype == dtype:
                return args[1]
            return replace(e, args=args)
        case Load(_, index):
            return replace(e, index=tuple(map(_simple, index)))
        case _:
            return e


def _is_zero(e: Expr) -> bool:
    """Whether it is a zero of an integer: that of a float changes the sign of another one."""
    return isinstance(e, Const) and e.dtype.startswith(("int", "uint", "index")) and not e.value

"""Loops of updates whose checks are made apart: what is left of the loop may run in any order, or by sorted places.

    for i in 0 .. n:                                  first at := the first i that fails the check
        guard (x[i] < k)                    to        guard (at < 0 or x[at] < k)
        sums[x[i]] := sums[x[i]] + w[i]               for i in 0 .. n: sums[x[i]] := sums[x[i]] + w[i]

The checks ask of nothing that the loop changes. Where the caller sees what it changes, what came before the first check
that fails is done first: the loop goes as far as that, and the check stands behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.devices.sorting import folds_of
from transkern.fuse.lowering.updates import updates_at_once
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_written, own_exprs, variables_read, walk, with_bodies
from transkern.records import replace


def check_updates(program: n.Program) -> n.Program:
    """The program with the checks of such loops apart."""
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            made: tuple[n.Stmt, ...] = ()
            if isinstance(s, n.Loop) and s.fails:
                made = (s,)
            elif isinstance(s, n.Loop) and s.kind == "sequential":
                made = _apart(s, names, program.buffers)
            out += made or (with_bodies(s, block),)
        return tuple(out)

    return replace(program, body=block(program.body))


def normal(s: n.Loop) -> n.Loop:
    """A loop whose updates are stores of what they are made of, and whose checks stand before an inner loop that makes
    the same one in each iteration."""

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for x in statements:
            if isinstance(x, n.If) and len(out) > 1 and (check := _same_check(out[-2], out[-1], x)) is not None:
                out[-2:] = [check, *block(x.then)]
            elif isinstance(x, n.Store) and out and isinstance(out[-1], n.Let) and x.value == _named(out[-1]):
                out[-1] = replace(x, value=out[-1].value)
            else:
                out.append(with_bodies(x, block))
        return tuple(out)

    return replace(s, body=block(s.body))


def _named(s: n.Let) -> Expr:
    return Var(s.name, s.value.dtype)


def _same_check(declared: n.Stmt, asking: n.Stmt, branch: n.If) -> n.Guard | None:
    """The check that decides a branch, if an inner loop makes the same one in each iteration."""
    match declared, asking, branch:
        case n.Accumulator(ok, "all"), n.Loop(axis, start, stop, step, "parallel", inside), n.If(
            Var(asked), _, (n.Loop(body=checking, axis=other),)
        ) if asked == ok and start == b.ZERO and step == b.ONE:
            *lets, told = inside
            if not isinstance(told, n.Accumulate) or not all(isinstance(x, n.Let) for x in lets):
                return None
            holds = _written_out(lets, told.value)
            at = next((k for k, x in enumerate(checking) if isinstance(x, n.Guard)), None)
            if at is None or not all(isinstance(x, n.Let) for x in checking[:at]):
                return None
            check = checking[at]
            assert isinstance(check, n.Guard)
            condition, *args = (_written_out(checking[:at], e) for e in (check.condition, *check.args))
            if condition != holds or any(variables_read(e) & {axis, other} for e in (condition, *args)):
                return None
            condition = b.either(b.compare("less_equal", stop, b.ZERO), condition)
            return replace(check, condition=condition, args=tuple(args))
        case _:
            return None


def _written_out(lets: Sequence[n.Stmt], e: Expr) -> Expr:
    """`e` without the names of some statements."""
    known: dict[str, Expr] = {}
    for x in lets:
        assert isinstance(x, n.Let)
        known[x.name] = b.substitute(x.value, known)
    return b.substitute(e, known)


def _apart(s: n.Loop, names: Names, buffers: dict[str, n.Buffer]) -> tuple[n.Stmt, ...]:
    s = normal(s)
    if updates_at_once(s, buffers):
        return (s,)  # whose kernel checks each iteration itself
    guards = [x for x in s.body if isinstance(x, n.Guard)]
    if not guards and folds_of(s, buffers):
        return (s,)
    if not guards or len(guards) != sum(isinstance(x, n.Guard) for x in walk(s.body)):
        return ()
    bare = replace(s, body=tuple(x for x in s.body if not isinstance(x, n.Guard)))
    if not folds_of(bare, buffers) and not updates_at_once(bare):
        return ()
    written = buffers_written(s)
    is_seen = any(buffers[x].role == "argument" for x in written)
    last = max(position for position, x in enumerate(s.body) if isinstance(x, n.Guard))
    head = [x for x in s.body[: last + 1] if isinstance(x, (n.Let, n.Guard))]
    if is_seen and len(head) <= last:
        return ()  # an update of the iteration that fails comes before the check
    if any(buffers_read(e) & written for x in head for e in own_exprs(x)):
        return ()

    def checks(axis: Expr) -> list[n.Guard]:
        """The checks of an iteration; each reads only what those before it allow."""
        known: dict[str, Expr] = {s.axis: axis}
        out: list[n.Guard] = []
        for x in head:
            if isinstance(x, n.Let):
                known[x.name] = b.substitute(x.value, known)
            elif isinstance(x, n.Guard):
                args = tuple(b.substitute(a, known) for a in x.args)
                out.append(replace(x, condition=b.substitute(x.condition, known), args=args))
        return out

    counter, found = Var(names.fresh(s.axis), "index"), Var(names.fresh("failing"), "index")
    holds: Expr = b.TRUE
    for x in checks(counter):
        holds = b.both(holds, x.condition)
    failing = n.Accumulate(found.name, "first", b.logical_not(holds), counter, span=s.span)
    search = (
        n.Accumulator(found.name, "first", "index", span=s.span),
        n.Loop(counter.name, s.start, s.stop, b.ONE, "parallel", (failing,), span=s.span),
    )
    none = b.compare("less", found, b.ZERO)
    raised = [replace(x, condition=b.either(none, x.condition)) for x in checks(found)]
    if not is_seen:
        return (*search, *raised, bare)
    before = b.either(none, b.compare("less", Var(s.axis, "index"), found))
    return (*search, replace(bare, body=(n.If(before, bare.body, (), span=s.span),)), *raised)

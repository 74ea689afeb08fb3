"""Loops that the user wrote run in parallel where it is proven that they may.

    for i in range(n):                 parallel i in 0 .. n:
        t = x[i] * 2          to         t := x[i] * 2         (t: one for each iteration)
        y[i] = t + 1                     y[i] = t + 1

A variable that each iteration sets before it reads it is private: in a parallel loop, `Assign` means the iteration's
own variable. A scalar that integers are summed (multiplied, compared) into becomes an accumulator, whose order cannot
be seen; floats are summed in the order in which the loop stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from transkern.analysis.scalars import Running
from transkern.analysis.verdicts import Verdict, Walk, reads_of
from transkern.fuse.checks.late import dear_values, dtype_compared, with_late_checks
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Span, Var
from transkern.ir.facts import conjuncts
from transkern.ir.highest import at_worst
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def parallelise(program: n.Program) -> n.Program:
    """The program with loops that are proven independent marked as parallel."""
    return _parallelised(program, late=True)


def parallelise_for_cuda(program: n.Program) -> n.Program:
    """`parallelise`, but for loops whose checks need what they compute: `parallelise_with_checks` takes those."""
    return _parallelised(program, late=False)


def parallelise_with_checks(program: n.Program) -> n.Program:
    """The program with loops parallel that are in order for their checks alone: where some fail, the target raises
    what the earliest iteration does, and what the others have stored nobody sees.

        for i in range(n):                           parallel i in 0 .. n:
            guard not isnan(x[i])           to           guard not isnan(x[i])
            y[i] = int(x[i])                             y[i] = int(x[i])
    """
    if not any(isinstance(s, n.Guard) for s in walk(program.body)):
        return program
    return _walked(program, _WithChecks(program))


def _parallelised(program: n.Program, late: bool) -> n.Program:
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return _walked(program, _Parallelising(program, late))


def _walked(program: n.Program, walker: _Parallelising) -> n.Program:
    return replace(program, body=walker.block(program.body), variables=walker.variables, buffers=walker.buffers)


class _Parallelising(Walk):
    loops_only = True

    def __init__(self, program: n.Program, late: bool = True) -> None:
        self.late_checks = late
        self.buffers = dict(program.buffers)
        super().__init__(replace(program, buffers=self.buffers))
        self.names = Names.of(program)
        self.variables = dict(program.variables)
        self.sets = Counter(s.name for s in walk(program.body) if isinstance(s, n.Assign))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop) or s.kind != "sequential":
            return [self.inside(s)]
        if s.fails:
            return [s]
        verdict = self.judged(s)
        if verdict.parallel_but_last and not verdict.raises:
            return self.peeled(s, verdict)
        if verdict.parallel and verdict.raises:
            return self.checked(s, verdict)
        made = self.inside(s)
        assert isinstance(made, n.Loop)
        if verdict.parallel:
            return [self.own(replace(made, kind="parallel"), verdict)]
        if verdict.reducible and not verdict.raises:
            return self.reduced(made, verdict)
        return [made]

    def reduced(self, loop: n.Loop, verdict: Verdict) -> list[n.Stmt]:
        """The loop with its running scalars as accumulators, which are added to the scalars behind it."""
        before: list[n.Stmt] = []
        after: list[n.Stmt] = []
        body = loop.body
        for running in verdict.scalars.running:
            dtype = self.variables[running.name]
            total = self.names.fresh(f"{running.name}_all")
            before.append(n.Accumulator(total, running.op, dtype, span=loop.span))
            if running.op == "any" and _is_set_in_loops(body, running.name):
                body = self.found_by_iteration(body, running, total, loop.span)
            else:
                body = _accumulated(body, running, total)
            combined = _combined(running, Var(running.name, dtype), Var(total, dtype))
            after.append(n.Assign(running.name, combined, span=loop.span))
        made = replace(loop, kind="parallel", body=body)
        return [*before, self.own(made, verdict), *after]

    def found_by_iteration(
        self, body: tuple[n.Stmt, ...], running: Running, total: str, span: Span
    ) -> tuple[n.Stmt, ...]:
        """The body of an iteration that looks in loops in order for what sets a truth: it has a flag of its own, as
        wide as what it compares, so that iterations go in lanes."""
        values = [s.value for s in walk(body) if isinstance(s, n.Assign) and s.name == running.name]
        dtype = dtype_compared(values)
        own = Var(self.names.fresh(running.name), dtype)
        self.variables[own.name] = dtype
        no, yes = (b.cast(Const(x, "bool"), dtype) for x in (False, True))

        def set_own(block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
            return tuple(
                replace(s, name=own.name, value=b.where(_other(s.value, running.name, running.op), yes, own))
                if isinstance(s, n.Assign) and s.name == running.name else with_bodies(s, set_own) for s in block
            )  # fmt: skip

        found = own if dtype == "bool" else b.compare("not_equal", own, no)
        return (
            n.Assign(own.name, no, span=span), *set_own(body), n.Accumulate(total, running.op, found, span=span),
        )  # fmt: skip

    def peeled(self, loop: n.Loop, verdict: Verdict) -> list[n.Stmt]:
        """All iterations but the last in parallel; the last one leaves its variables to what follows."""
        at = b.maximum(loop.start, b.sub(loop.stop, b.ONE))
        rest = self.inside(replace(loop, stop=at))
        assert isinstance(rest, n.Loop)
        private = verdict.scalars.private
        first = with_own_names(replace(rest, kind="parallel"), self.names, self.variables, self.buffers, private)
        return [first, replace(loop, start=at)]

    def checked(self, loop: n.Loop, verdict: Verdict) -> list[n.Stmt]:
        """A loop that may raise: all its checks first, which any order may do; if one fails, the loop in order, so that
        it raises where Python does and leaves behind what Python leaves. Checks of values that cost something come
        where these are computed, if they may."""
        dear = dear_values(loop)
        made = self.checked_ahead(loop, verdict, dear) if dear else None
        return made or self.checked_ahead(loop, verdict) or self.checked_late(loop, verdict) or [self.inside(loop)]

    def checked_ahead(
        self, loop: n.Loop, verdict: Verdict, dear: frozenset[str] = frozenset()
    ) -> list[n.Stmt] | None:
        """The loop behind its checks, but for those of `dear` values; None where an iteration may leave before one, or
        where checks of `dear` values cannot be late."""
        ok = self.names.fresh("in_bounds")
        parted = _parted(loop.body, ok, verdict, dear)
        if parted is None:
            return None
        checks, rest = parted
        known, checks = _settled(checks, (loop,), frozenset(scalars_set(loop)))
        in_turn = _in_turn(checks)
        if in_turn is None:
            return None if dear else [self.inside(loop)]
        checks = in_turn
        fine = self.unchecked(replace(loop, body=rest), verdict, dear)
        if fine is None:
            return None if dear else [self.inside(loop)]
        in_order = self.in_order(verdict)
        if not checks:
            return fine if known == b.TRUE else [n.If(known, tuple(fine), (in_order,), span=loop.span)]
        asked: n.Stmt = replace(loop, kind="parallel", body=checks)
        assert isinstance(asked, n.Loop)
        asked = with_own_names(asked, self.names, self.variables, self.buffers)
        unasked = b.logical_not(_whatever_branches_ask(checks, (loop,), frozenset(scalars_set(loop))))
        if any(isinstance(e, Load) for e in exprs((asked,))):
            unasked = b.both(known, unasked)  # also of positions that are looked up here
        if unasked != b.TRUE:
            asked = n.If(unasked, (asked,), span=loop.span)
        return [
            n.Accumulator(ok, "all", "bool", span=loop.span),
            asked,
            n.If(b.both(known, Var(ok, "bool")), tuple(fine), (in_order,), span=loop.span),
        ]

    def in_order(self, verdict: Verdict) -> n.Loop:
        """The loop as it was written, with names of its own."""
        private = verdict.scalars.private
        made = with_own_names(verdict.loop, self.names, self.variables, self.buffers, private)
        return replace(made, fails=True)

    def unchecked(self, loop: n.Loop, verdict: Verdict, dear: frozenset[str]) -> list[n.Stmt] | None:
        """A loop whose checks ahead have held, in parallel: what it checks still are checks of what it computes."""
        if any(isinstance(s, n.Guard) for s in walk(loop.body)):
            return self.checked_late(loop, verdict, dear)
        made = self.inside(replace(loop, kind="parallel"))
        assert isinstance(made, n.Loop)
        return [self.own(made, verdict)]

    def checked_late(
        self, loop: n.Loop, verdict: Verdict, dear: frozenset[str] = frozenset()
    ) -> list[n.Stmt] | None:
        """A loop that may raise for what it computes: it runs as if it did not, and again, in order, if it should.
        None where it must not."""
        if not self.late_checks:
            return None
        wrong = self.names.fresh("wrong")
        body = self.late(loop, verdict, "bool", wrong, dear)
        if body is None:
            return None
        if any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(body.body)):
            dtype = dtype_compared(s.condition for s in walk(loop.body) if isinstance(s, n.Guard))
            wide = self.late(loop, verdict, dtype, wrong, dear)
            if wide is not None and _parallel_loops(wide) == _parallel_loops(body):  # one that is no truth is in order
                body = wide
        again = self.in_order(verdict)
        return [
            n.Accumulator(wrong, "any", "bool", span=loop.span),
            self.own(body, verdict),
            n.If(Var(wrong, "bool"), (again,), span=loop.span),
        ]

    def late(self, loop: n.Loop, verdict: Verdict, dtype: str, wrong: str, dear: frozenset[str]) -> n.Loop | None:
        failed = Var(self.names.fresh("failed"), dtype)
        private = verdict.scalars.private & set(self.variables)
        made = with_late_checks(loop, self.buffers, private, failed, wrong, dear)
        if made is None or any(isinstance(s, n.Guard) for s in walk(made.body)):
            return None
        self.variables[failed.name] = dtype
        body = self.inside(replace(made, kind="parallel"))
        assert isinstance(body, n.Loop)
        return body

    def own(self, loop: n.Loop, verdict: Verdict) -> n.Loop:
        """The loop with names of its own for its private variables, where others use the same."""
        renamed = {}
        inner = reads_of(verdict.loop.body)
        for name in sorted(verdict.scalars.private & set(self.variables)):
            sets = sum(isinstance(x, n.Assign) and x.name == name for x in walk(loop.body))
            if self.reads[name] > inner[name] or self.sets[name] > sets:
                renamed[name] = self.names.fresh(name)
                self.variables[renamed[name]] = self.variables[name]
        return replace(loop, body=with_names(loop.body, renamed)) if renamed else loop


def _parallel_loops(s: n.Loop) -> int:
    return sum(isinstance(x, n.Loop) and x.kind == "parallel" for x in walk((s,)))


_CHECKED = (n.Let, n.Assign, n.Store, n.If, n.Loop, n.While, n.Break, n.Continue, n.Guard)
"""What a loop with checks may have inside."""


class _WithChecks(_Parallelising):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop) or s.fails:
            return [s if isinstance(s, n.Loop) else self.inside(s)]
        if s.kind != "sequential" or not any(isinstance(x, n.Guard) for x in walk(s.body)):
            return [self.inside(s)]
        verdict = self.judged(s) if self.is_unseen(s) else None
        made = self.inside(s)
        assert isinstance(made, n.Loop)
        if verdict is None or not verdict.parallel:
            return [made]
        return [self.own(replace(made, kind="parallel"), verdict)]

    def is_unseen(self, s: n.Loop) -> bool:
        """Whether nobody sees what a loop has stored where it raises."""
        inside = [*walk(s.body)]
        written = {name for x in inside for name in buffers_written(x)}
        plain = all(isinstance(x, _CHECKED) and not (isinstance(x, n.Guard) and x.changes) for x in inside)
        return plain and all(self.buffers[name].role != "argument" for name in written)


def _parted(
    block: Iterable[n.Stmt], ok: str, verdict: Verdict, computed: frozenset[str] = frozenset()
) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]] | None:
    """The checks of a loop's body alone, as far as they do not need what the loop computes (`computed` is known to be),
    and the body without them. None where an iteration may leave before it comes to a check."""
    changing = set(verdict.scalars.private) | {name for s in verdict.loop.body for name in scalars_set(s)}
    changing -= {s.name for s in walk(verdict.loop.body) if isinstance(s, n.Let)}
    changing |= computed
    written = verdict.carried.body.written | verdict.carried.body.local

    def plain(*exprs: Expr) -> bool:
        return not any(variables_read(e) & changing or buffers_read(e) & written for e in exprs)

    out: list[n.Stmt] = []
    left: list[n.Stmt] = []
    for s in block:
        if not any(isinstance(x, n.Guard) for x in walk((s,))) and not isinstance(s, n.Let):
            if any(isinstance(x, (n.Continue, n.Break)) for x in walk((s,))):
                return None
            left.append(s)
            continue
        match s:
            case n.Guard(condition) if plain(condition):
                out.append(n.Accumulate(ok, "all", condition, span=s.span))
            case n.Let(_, value):
                if plain(value):
                    out.append(s)
                else:
                    changing.add(s.name)
                left.append(s)
            case n.Loop(_, start, stop) if plain(start, stop):
                parted = _parted(s.body, ok, verdict, frozenset(changing))
                if parted is None:
                    return None
                out.append(replace(s, body=parted[0], kind="sequential"))
                left.append(replace(s, body=parted[1]))
            case n.If(condition) if plain(condition):
                then, orelse = (_parted(x, ok, verdict, frozenset(changing)) for x in (s.then, s.orelse))
                if then is None or orelse is None:
                    return None
                out.append(replace(s, then=then[0], orelse=orelse[0]))
                left.append(replace(s, then=then[1], orelse=orelse[1]))
            case _:
                left.append(s)
    return _needed(out), tuple(left)


def _needed(checks: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The checks without bindings that none of them looks at, and without what checks nothing."""
    out = [s for s in checks if isinstance(s, n.Let) or any(isinstance(x, n.Accumulate) for x in walk((s,)))]
    needed = {v for s in out for v in scalars_used(s)}
    while True:
        kept = [s for s in out if not isinstance(s, n.Let) or s.name in needed]
        if len(kept) == len(out):
            return tuple(out)
        out, needed = kept, {v for s in kept for v in scalars_used(s)}


def _settled(
    block: tuple[n.Stmt, ...], around: tuple[n.Loop, ...], inside: frozenset[str]
) -> tuple[Expr, tuple[n.Stmt, ...]]:
    """What the checks come to that the loops' bounds alone decide, and the other checks.

    ``for j in 0 .. n: all= j < m`` is ``n - 1 < m``: in no iteration is more. Where no iteration runs that asks too
    much, and then the loop in order does nothing. `inside` are the names that have a value in the loops only.
    """
    known: Expr = b.TRUE
    rest: list[n.Stmt] = []
    for s in block:
        match s:
            case n.Accumulate(value=condition):
                left: Expr = b.TRUE
                for c in conjuncts(condition):
                    found = at_worst(c, around)
                    if found is None or variables_read(found) & inside or buffers_read(found):
                        left = b.both(left, c)
                    else:
                        known = b.both(known, found)
                if left != b.TRUE:
                    rest.append(replace(s, value=left))
            case n.Loop(body=body):
                inner, body = _settled(body, (*around, s), inside)
                known = b.both(known, inner)
                if any(isinstance(x, n.Accumulate) for x in walk(body)):
                    rest.append(replace(s, body=body))
            case _:
                rest.append(s)
    return known, tuple(rest) if any(isinstance(x, n.Accumulate) for x in walk(rest)) else ()


def _whatever_branches_ask(checks: Iterable[n.Stmt], around: tuple[n.Loop, ...], inside: frozenset[str]) -> Expr:
    """A condition that the loops' bounds decide, under which all checks hold, also those that no iteration comes to."""
    holds: Expr = b.TRUE
    for s in checks:
        match s:
            case n.Accumulate(value=condition):
                found = at_worst(condition, around)
                if found is None or variables_read(found) & inside or buffers_read(found):
                    return b.FALSE
                holds = b.both(holds, found)
            case n.Loop(body=body):
                holds = b.both(holds, _whatever_branches_ask(body, (*around, s), inside))
            case n.If(then=then, orelse=orelse):
                holds = b.both(holds, _whatever_branches_ask((*then, *orelse), around, inside))
            case _:
                pass
    return holds


def _in_turn(block: Sequence[n.Stmt], loaded: frozenset[Expr] = frozenset()) -> tuple[n.Stmt, ...] | None:
    """The checks of an iteration, of which none looks at an element that one before it has found not to be there.

    None where that would need a check inside a loop before it. `loaded` is what has been looked at already.
    """
    out: list[n.Stmt] = []
    passed: Expr = b.TRUE
    for k, s in enumerate(block):
        own = frozenset(e for e in exprs((s,)) if isinstance(e, Load))
        if not own <= loaded:
            if any(isinstance(x, n.Accumulate) for x in walk(out) if x not in out):
                return None
            if passed != b.TRUE:
                rest = _in_turn(block[k:], loaded)
                return None if rest is None else (*out, n.If(passed, rest, span=s.span))
        inner = [_in_turn(body, loaded) for body in bodies(s)]
        if any(body is None for body in inner):
            return None
        parts = iter(inner)
        out.append(with_bodies(s, lambda body, parts=parts: next(parts)))  # type: ignore[misc]
        match s:
            case n.Accumulate(value=condition):
                passed, loaded = b.both(passed, condition), loaded | own
            case n.Let():
                loaded |= own
            case _:
                pass
    return tuple(out)


def _is_set_in_loops(body: Iterable[n.Stmt], name: str) -> bool:
    """Whether loops in order set a variable, at any depth."""
    loops = (s for s in walk(body) if isinstance(s, n.Loop) and s.kind == "sequential")
    return any(isinstance(x, n.Assign) and x.name == name for s in loops for x in walk(s.body))


_NAMES = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "or_else", "all": "and_then"}


def _combined(running: Running, one: Expr, two: Expr) -> Expr:
    return Apply(_NAMES[running.op], (one, two), running.node.value.dtype)


def _accumulated(block: Iterable[n.Stmt], running: Running, total: str) -> tuple[n.Stmt, ...]:
    """``s := s + e`` as ``total sum= e``; under ``if e > s`` too: a maximum may look at every element."""
    out: list[n.Stmt] = []
    for s in block:
        match s:
            case n.Assign(name, value) if name == running.name:
                out.append(n.Accumulate(total, running.op, _other(value, name, running.op), span=s.span))
            case n.If(condition, then, ()) if running.name in variables_read(condition):
                out.extend(_accumulated(then, running, total))
            case _:
                out.append(with_bodies(s, lambda inner: _accumulated(inner, running, total)))
    return tuple(out)


_NEUTRAL = {"sum": 0, "prod": 1}


def _other(value: Expr, name: str, op: str) -> Expr:
    """What ``name = name op other`` combines `name` with."""
    match value:
        case Var() if value.name == name:
            return b.cast(b.index(_NEUTRAL[op]), value.dtype)
        case Apply("where", (condition, x, y), _) if name in variables_read(condition) or op not in _NEUTRAL:
            return y if isinstance(x, Var) and x.name == name else x
        case Apply("where", (condition, x, y), _):
            return b.where(condition, _other(x, name, op), _other(y, name, op))
        case Apply("subtract", (Var(left), other), dtype) if left == name:
            return Apply("negative", (other,), dtype)
        case Apply(_, (Var(left), other), _) if left == name:
            return other
        case Apply(_, (other, Var(right)), _) if right == name:
            return other
        case Apply("add" | "subtract" as sign, (inner, other), dtype) if name in variables_read(inner):
            return Apply(sign, (_other(inner, name, op), other), dtype)
        case _:
            return value

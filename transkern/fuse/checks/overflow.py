"""Check that Python's integers stay within the 64 bits that they have here:

fact = fact * i        to        guard (abs(float64(fact) * float64(i)) < 2^63 - 4096) else OverflowError(…)
                                 fact = fact * i

A different number would be the answer otherwise. Checked is what may leave 64 bits as far as intervals tell: what
stands in arrays and lists may be any number of 64 bits, arguments that go into sums and products are checked once to
be within `GIVEN` (those that are negated alone, to have a negative), and what a loop adds to again and again grows with
each of its `STEPS`. Arithmetic that only finds places in arrays is not looked at.

A loop with checks in it has to run in order. Where what its integers come to can be told before it runs
(`fuse.magnitudes`), it is there twice, and the version without checks may become parallel:

for i in range(n):                                 if (n * n < 2^63):
    guard … else OverflowError(…)        to            for i in range(n): total = total + i
    total = total + i                              else:
                                                       for i in range(n): guard …; total = total + i

A value that a loop's last iteration computes for a next one that does not come is not checked (the last sum of
``a, b = b, a + b``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain

from transkern.analysis.intervals import GIVEN, HIGHEST, LOWEST, NARROW, Intervals, numbers_of
from transkern.analysis.scalars import exposed, scalars_of
from transkern.analysis.verdicts import exact, reads_of
from transkern.errors import TOO_LARGE
from transkern.fuse.checks.magnitudes import enough_bits, usual
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    always_read,
    bodies,
    buffers_read,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_STATEMENTS = 40
"""A loop with more of them is not written twice."""


def check_integers(program: n.Program) -> n.Program:
    """The program with an OverflowError before each statement whose integers may need more than 64 bits."""
    known = Intervals(program)
    given = known.computed_with()
    checks = _Checks(program, known)
    body = checks.block(program.body)
    negated = [name for name in known.negated() if name not in given]
    if not given and not negated and body == program.body:
        return replace(program, checked=True)
    limits = [*checks.narrow_sizes(), *map(_within, given), *(_not_lowest(Var(name)) for name in negated)]
    guards = tuple(n.Guard(c, "OverflowError", TOO_LARGE) for c in limits)
    return replace(program, body=(*guards, *body), variables=checks.variables, buffers=checks.buffers, checked=True)


def _within(name: str) -> Expr:
    k = Var(name)
    return b.both(b.compare("less_equal", b.index(-GIVEN), k), b.compare("less_equal", k, b.index(GIVEN)))


class _Checks:
    """Puts checks before statements, and loops in two versions where that spares them."""

    def __init__(self, program: n.Program, known: Intervals) -> None:
        self.program, self.known = program, known
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)
        self.reads: Counter[str] | None = None
        self.within_narrow = False

    @cached_property
    def narrow(self) -> Intervals:
        """What is known where no axis of an argument is longer than `NARROW`."""
        return Intervals(self.program, NARROW)

    def narrow_sizes(self) -> list[Expr]:
        """The conditions under which `narrow` holds, if it was used."""
        dims = [d for p in self.program.params if isinstance(p, n.ArrayParam) for d in p.dims]
        sizes = {v for d in dims for v in variables_read(d)}
        return [b.compare("less_equal", Var(v), b.index(NARROW)) for v in sorted(sizes)] if self.within_narrow else []

    def block(
        self, statements: tuple[n.Stmt, ...], around: tuple[n.Stmt, ...] = (), twice: bool = True
    ) -> tuple[n.Stmt, ...]:
        """The statements with checks; `around` are the loops that they stand in, outermost first."""
        out: list[n.Stmt] = []
        for k, s in enumerate(statements):
            if twice and isinstance(s, n.Loop) and s.kind == "sequential" and (pair := self.versions(s, around)):
                out += pair
                continue
            found = self.conditions(s)
            if found and around and isinstance(around[-1], n.Loop) and around[-1].body is statements:
                found = self.before_the_last(s, statements[k + 1 :], around, found)
            checks = _guards(s, found)
            inner = (*around, s) if isinstance(s, (n.Loop, n.While)) else around
            made = with_bodies(s, lambda body, inner=inner: self.block(body, inner, twice))  # type: ignore[misc]
            if isinstance(made, n.While):  # asked before each iteration
                made = replace(made, head=(*made.head, *checks))
            else:
                out += checks
            out.append(made)
        return tuple(out)

    def checks(self, s: n.Stmt) -> list[n.Guard]:
        return _guards(s, self.conditions(s))

    def conditions(self, s: n.Stmt) -> list[Expr]:
        """What must hold before a statement runs."""
        found = _conditions(s, self.known)
        if found and len(_conditions(s, self.narrow)) < len(found):
            self.within_narrow = True
            return _conditions(s, self.narrow)
        return found

    def versions(self, loop: n.Loop, around: tuple[n.Stmt, ...]) -> list[n.Stmt]:
        """`loop` without checks where a test says that it needs none, else with them; nothing if no test can."""
        inside = [*walk(loop.body)]
        flagged = [e for s in inside for x in numbers_of(s, self.known.needed) for e, _ in self.known.overflowing(x)]
        if not flagged:
            return [*self.checks(loop), loop]
        test = enough_bits(flagged, loop, self.known)
        if test == b.TRUE:
            return [*self.checks(loop), loop]
        if len(inside) > _STATEMENTS:
            return []
        if test is None or not usual(test):
            tried = self.tried(loop, flagged, around)
            if tried or test is None:
                return tried
        *before, checked = self.block((loop,), around, twice=False)
        return [*before, n.If(test, (loop,), (self.copied(checked, loop),), span=loop.span)]

    def copied(self, changed: n.Stmt, loop: n.Loop) -> n.Loop:
        """What has become of `loop`, with names of its own."""
        assert isinstance(changed, n.Loop)
        private = scalars_of(loop.body).private - self.read_outside(loop)
        return with_own_names(changed, self.names, self.variables, self.buffers, private)

    def tried(self, loop: n.Loop, flagged: list[Apply], around: tuple[n.Stmt, ...]) -> list[n.Stmt]:
        """A loop that only adds up what it computes from elements: first without checks, and the largest element is
        noted along the way; where that may have been too much, again with checks.

        for i in range(n):                   to       total_1, largest = total, 0
            total += int(a[i]) * k                    for i in range(n):
                                                          largest = max(largest, |a[i]|); total_1 += int(a[i]) * k
                                                      if (|total| + n * largest * k < 2^63): total = total_1
                                                      else: for i in range(n): guard …; total += int(a[i]) * k
        """
        scalars = scalars_of(loop.body)
        if not all(isinstance(s, (n.Let, n.Assign, n.If, n.Loop)) for s in walk((loop,))) or scalars.carried:
            return []
        if not all(map(exact, scalars.running)) or scalars.private & self.read_outside(loop):
            return []
        always = {e.buffer for e in _loads(loop, sometimes=False) if e.dtype.startswith(("int", "uint", "index"))}
        noted = always - {e.buffer for e in _loads(loop, sometimes=True)}
        largest = {name: self.names.fresh("largest") for name in sorted(noted)}
        one = Const(1.0, "float64")
        seen: dict[str, Expr] = {
            name: Apply("add", (b.cast(Var(v, self.noted(name)), "float64"), one), "float64")
            for name, v in largest.items()
        }  # fmt: skip
        test = enough_bits(flagged, loop, self.known, seen)
        if test is None:
            return []
        looked_at = {name: v for name, v in largest.items() if v in variables_read(test)}
        first = self.copied(replace(loop, body=_seen(loop.body, looked_at)), loop)
        own = {r.name: self.names.fresh(r.name) for r in scalars.running}
        self.variables |= {new: self.variables[name] for name, new in own.items()}
        self.variables |= {v: self.noted(name) for name, v in looked_at.items()}
        *before, checked = self.block((loop,), around, twice=False)
        kinds = {name: self.variables[name] for name in own}
        taken = tuple(n.Assign(name, Var(new, kinds[name]), span=loop.span) for name, new in own.items())
        return [
            *before,
            *(n.Assign(new, Var(name, kinds[name]), span=loop.span) for name, new in own.items()),
            *(n.Assign(v, Const(0, self.noted(name)), span=loop.span) for name, v in looked_at.items()),
            *with_names((first,), own),
            n.If(test, taken, (checked,), span=loop.span),
        ]

    def noted(self, buffer: str) -> str:
        """The type in which the largest magnitude of a buffer's elements is noted."""
        dtype = self.buffers[buffer].dtype
        return "int64" if dtype == "index" else dtype

    def read_outside(self, loop: n.Loop) -> frozenset[str]:
        """The scalars that are read anywhere but in `loop`."""
        if self.reads is None:
            self.reads = reads_of(self.program.body)
        inner = reads_of(loop.body)
        return frozenset(name for name, count in self.reads.items() if count > inner[name])

    def before_the_last(
        self, s: n.Stmt, rest: tuple[n.Stmt, ...], around: tuple[n.Stmt, ...], found: list[Expr]
    ) -> list[Expr]:
        """The checks of a statement in a loop's body, but not in the last iteration where that one's is of no use.

        It is of none if nothing reads it before the next iteration does. What wraps must then harm nobody: sums and
        products do not.
        """
        loop = around[-1]
        assert isinstance(loop, n.Loop)
        by = b.constant(loop.step)
        if not isinstance(s, (n.Let, n.Assign)) or not _wraps(s.value) or not by:
            return found
        changed = {name for x in loop.body for name in scalars_set(x)}
        if buffers_read(loop.stop) or (variables_read(loop.stop) | {loop.axis}) & changed:
            return found
        name, elsewhere = s.name, self.read_outside(loop)
        if isinstance(s, n.Let):
            takes = [x for x in rest if name in scalars_used(x)]
            if len(takes) != 1 or not isinstance(takes[0], n.Assign) or takes[0].value != Var(name):
                return found
            name, rest = takes[0].name, rest[rest.index(takes[0]) + 1 :]
        again = len(around) > 1 and exposed(tuple(chain(*bodies(around[-2]))), name)
        if name in elsewhere or again or any(name in scalars_used(x) for x in rest):
            return found
        op = "greater_equal" if by > 0 else "less_equal"
        last = b.compare(op, Var(loop.axis), b.sub(loop.stop, loop.step))
        return [Apply("or_else", (last, c), "bool") for c in found]


def _loads(loop: n.Loop, sometimes: bool) -> Iterator[Load]:
    """The elements that statements of a loop read whenever they run, or those that a choice decides about."""
    for s in walk((loop,)):
        always = {e for x in own_exprs(s) for e in always_read(x)}
        for e in (e for x in own_exprs(s) for e in walk_expr(x) if isinstance(e, Load)):
            if (e in always) != sometimes:
                yield e


def _seen(block: tuple[n.Stmt, ...], largest: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """The statements, each behind one that notes in `largest`, for each buffer, the largest magnitude of the elements
    read (of negative ones less 1, as that of -2^63 has 64 bits)."""
    out: list[n.Stmt] = []
    for s in block:
        loads = {e: largest[e.buffer] for x in own_exprs(s) for e in always_read(x) if e.buffer in largest}
        for e, name in loads.items():
            dtype = "int64" if e.dtype == "index" else e.dtype
            x = b.cast(e, dtype)
            negative = Apply("less", (x, Const(0, dtype)), "bool")
            size = x if dtype.startswith("u") else Apply("where", (negative, Apply("invert", (x,), dtype), x), dtype)
            out.append(n.Assign(name, Apply("maximum", (Var(name, dtype), size), dtype), span=s.span))
        out.append(with_bodies(s, lambda body: _seen(body, largest)))
    return tuple(out)


def _wraps(e: Expr) -> bool:
    """Whether an expression may be computed also where it does not fit: nothing but sums and products."""
    if isinstance(e, Apply):
        return e.op in ("add", "subtract", "multiply", "square", "negative") and all(map(_wraps, e.args))
    return isinstance(e, (Var, Const))


def _guards(s: n.Stmt, conditions: Iterable[Expr]) -> list[n.Guard]:
    return [n.Guard(c, "OverflowError", TOO_LARGE, span=s.span) for c in conditions]


def _conditions(s: n.Stmt, known: Intervals) -> list[Expr]:
    """What must hold before a statement runs."""
    found: list[Expr] = []
    for e, path in chain.from_iterable(known.overflowing(x) for x in numbers_of(s, known.needed)):
        fits = _fits(e)
        for said in reversed(path):
            fits = Apply("or_else", (b.logical_not(said), fits), "bool")
        found.append(fits)
    return list(dict.fromkeys(found))


def _not_lowest(x: Expr) -> Expr:
    """Whether a number has a negative of 64 bits."""
    return Apply("greater", (b.cast(x, "int64"), Const(LOWEST, "int64")), "bool")


def _fits(e: Apply) -> Expr:
    """Whether the result of an operation has 64 bits."""
    one = e.args[0]
    two = e.args[1] if len(e.args) > 1 else one
    if e.op in ("negative", "absolute"):
        return _not_lowest(one)
    if e.op == "floor_divide":
        other = Apply("not_equal", (b.cast(two, "int64"), Const(-1, "int64")), "bool")
        return Apply("or_else", (_not_lowest(one), other), "bool")
    if e.op in ("multiply", "square", "left_shift"):
        factor = b.cast(two, "float64")
        if e.op == "left_shift":
            factor = Apply("exp2", (factor,), "float64")
        size = Apply("absolute", (Apply("multiply", (b.cast(one, "float64"), factor), "float64"),), "float64")
        return Apply("less", (size, Const(2.0**63 - 4096, "float64")), "bool")  # for sure: it has been rounded
    x = b.cast(one, "int64")
    if isinstance(two, Const):
        by = int(two.value.real) if e.op == "add" else -int(two.value.real)
        limit = Const((HIGHEST if by >= 0 else LOWEST) - by, "int64")
        return Apply("less_equal" if by >= 0 else "greater_equal", (x, limit), "bool")
    y = b.cast(two, "int64")
    made = Apply(e.op, (x, y), "int64")  # which wraps: then it has another sign than both operands of a sum have
    other = Apply("bitwise_xor", (y, made) if e.op == "add" else (x, y), "int64")
    both = Apply("bitwise_and", (Apply("bitwise_xor", (x, made), "int64"), other), "int64")
    return Apply("greater_equal", (both, Const(0, "int64")), "bool")



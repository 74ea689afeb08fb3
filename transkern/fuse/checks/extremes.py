"""Maxima and minima with a value that a loop does not change, without a test for NaN in each iteration:

    parallel p: … maximum(best[i], x[p]) …    to    best_i = best[i]; nan = best_i if best_i is NaN else −0.0
                                                    parallel p: … number_maximum(best_i, x[p]) + nan …

NumPy's maximum is NaN where either operand is. Processors have one instruction for the maximum of numbers that also
gives the second operand where that is NaN; only for a NaN in the first is there a comparison, a mask and a blend. The
first does not change here: adding it where it is NaN, else −0.0 (which changes no number, not even the sign of a zero),
gives the same result. Worth while where the loop runs again and again on arrays in the cache: inside another loop.
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_written, map_own, scalars_set, variables_read, walk_expr, with_bodies
from transkern.records import replace

_FLOATS = ("float32", "float64")


def lifted_nan_tests(loop: n.Loop, names: Names) -> list[n.Stmt]:
    """`loop` with extremes of an invariant and a varying operand as one instruction and a sum, after what it needs."""
    invariants = Invariants(names, loop)
    body = tuple(map_own(s, invariants.quiet_extreme) for s in loop.body)
    return [*invariants.before, replace(loop, body=body)]


def repeated_loops(program: n.Program, change: Callable[[n.Loop], list[n.Stmt] | None]) -> n.Program:
    """The program with `change` applied to parallel loops inside others whose bodies are straight."""

    def deep(block: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in block:
            straight = inside and isinstance(s, n.Loop) and s.kind == "parallel" and all(
                isinstance(x, (n.Let, n.Store, n.Accumulate)) for x in s.body
            )  # fmt: skip
            changed = change(s) if straight and isinstance(s, n.Loop) else None
            if changed is not None:
                out += changed
                continue
            within = inside or isinstance(s, (n.Loop, n.While))
            out.append(with_bodies(s, lambda body, within=within: deep(body, within)))  # type: ignore[misc]
        return tuple(out)

    return replace(program, body=deep(program.body, False))


class Invariants:
    """What a loop does not change, computed once before it."""

    def __init__(self, names: Names, loop: n.Loop) -> None:
        self.names, self.loop = names, loop
        self.written = buffers_written(loop)
        self.changing = scalars_set(loop) | {loop.axis}
        self.before: list[n.Stmt] = []
        self._values: dict[Expr, Expr] = {}
        self._nans: dict[Expr, Expr] = {}
        self._assumed: dict[Expr, None] = {}

    def holds(self, e: Expr) -> bool:
        """Whether `e` is the same in all iterations."""
        return not variables_read(e) & self.changing and not any(
            isinstance(x, Load) and x.buffer in self.written for x in walk_expr(e)
        )

    def bind(self, base: str, e: Expr) -> Expr:
        """A variable for `e` before the loop."""
        name = self.names.fresh(base)
        self.before.append(n.Let(name, e, span=self.loop.span))
        return Var(name, e.dtype)

    def value(self, e: Expr) -> Expr:
        """A variable for an invariant; a loop without iterations reads no element."""
        if isinstance(e, (Var, Const)):
            return e
        if e not in self._values:
            value: Expr = e
            if any(isinstance(x, Load) for x in walk_expr(e)):
                runs = b.compare("less", self.loop.start, self.loop.stop)
                value = b.where(runs, e, Const(0.0, e.dtype))
            base = "_".join([e.buffer, *_words(e)]) if isinstance(e, Load) else "bound"
            self._values[e] = self.bind(base, value)
        return self._values[e]

    def are_numbers(self) -> list[Expr]:
        """That the operands `number_extreme` saw are not NaN."""
        return [Apply("equal", (x, x), "bool") for x in self._assumed]

    def number_extreme(self, e: Expr) -> Expr | None:
        """The form of a maximum or minimum for an invariant operand that is not NaN (see `are_numbers`)."""

        def assume(form: Apply, value: Expr) -> Expr:
            self._assumed.setdefault(value)
            return form

        return self._extreme(e, assume)

    def quiet_extreme(self, e: Expr) -> Expr | None:
        """The form of a maximum or minimum for any invariant operand."""
        return self._extreme(e, lambda form, value: Apply("add", (form, self._nan(value)), form.dtype))

    def _extreme(self, e: Expr, settle: Callable[[Apply, Expr], Expr]) -> Expr | None:
        if not (isinstance(e, Apply) and e.op in ("maximum", "minimum") and e.dtype in _FLOATS):
            return None
        first, second = e.args
        if isinstance(first, Const) or isinstance(second, Const) or self.holds(first) == self.holds(second):
            return None  # of a constant it is known whether it is NaN when the text is made
        if self.holds(first):
            value = first = self.value(first)
            second = b.map_expr(second, lambda x: self._extreme(x, settle))
            return settle(Apply(f"number_{e.op}", (first, second), e.dtype), value)
        value = second = self.value(second)
        first = b.map_expr(first, lambda x: self._extreme(x, settle))
        return settle(Apply(f"{e.op}_number", (first, second), e.dtype), value)

    def _nan(self, value: Expr) -> Expr:
        """`value` where it is NaN, else what changes no number in a sum."""
        if value not in self._nans:
            is_nan = Apply("not_equal", (value, value), "bool")
            self._nans[value] = self.bind("nan", b.where(is_nan, value, Const(-0.0, value.dtype)))
        return self._nans[value]


def _words(e: Load) -> list[str]:
    return [str(i.value) if isinstance(i, Const) else i.name for i in e.index if isinstance(i, (Const, Var))]

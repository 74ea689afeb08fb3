"""Checks of what a loop itself computes are looked at behind it:

    for j in 0 .. n:                           wrong := any of
        p := 1                                     parallel j in 0 .. n:
        for t in 0 .. m:                               p, failed := 1, False
            guard (p + c != 0)                         for t in 0 .. m:
            g := p / (p + c)              to               failed := failed or p + c == 0
            p := (1 - g) * p                               g := p / (p + c)
            out[j, t] = g                                  p := (1 - g) * p
                                                           out[j, t] = g
                                               if wrong: the loop in order

The loop runs in any order as if all checks held. If one did not, it runs again, in order: it raises where Python does.
So what it stores must not be seen by itself nor, when it raises, by the caller; and nothing that stands behind a check
may do harm where the check fails: places in memory and lengths of loops do not depend on what the loop computes, and
neither do divisors and shifts of integers.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    dearest,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace

_STATEMENTS = 40
"""A loop with more of them is not written twice."""
_DEAR = 4
"""What a value costs that is not computed once for its check and once more: a division, a root."""
_PLAIN = (n.Let, n.Assign, n.Store, n.If, n.Loop, n.Guard)
_PARTIAL = frozenset(["floor_divide", "remainder", "fmod", "left_shift", "right_shift", "power"])
"""What integers may not do with every integer."""


def dear_values(loop: n.Loop) -> frozenset[str]:
    """The values of an iteration that would cost too much to be computed for a check ahead, and again for the rest."""
    lets = [s for s in walk(loop.body) if isinstance(s, n.Let)]
    return frozenset(s.name for s in lets if s.value.dtype.startswith("float") and dearest(s.value) >= _DEAR)


def with_late_checks(
    loop: n.Loop, buffers: dict[str, n.Buffer], private: Iterable[str], failed: Var, wrong: str,
    dear: Iterable[str] = (),
) -> n.Loop | None:  # fmt: skip
    """The loop with those of its checks that look at what it computes, or at `dear` values, put off until the end of an
    iteration: `failed`, which is 0 until then, notes them, and `wrong` is told (not that all is well: of an ``&`` over
    vectors GCC makes one over elements, and keeps those of a block in memory). None where that cannot be."""
    inside = list(walk(loop.body))
    if len(inside) > _STATEMENTS or not all(isinstance(s, _PLAIN) for s in inside):
        return None
    if not are_unseen(inside, buffers):
        return None
    if any(s.name not in set(private) for s in inside if isinstance(s, n.Assign)):
        return None
    computed = _computed(inside, dear)
    if not all(_does_no_harm(e, computed) for s in inside for e in own_exprs(s)):
        return None
    for s in inside:
        fixed = (s.start, s.stop, s.step) if isinstance(s, n.Loop) else s.index if isinstance(s, n.Store) else ()
        if any(variables_read(e) & computed for e in fixed):
            return None

    def noted(block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in block:
            match s:
                case n.Guard(condition) if variables_read(condition) & computed:
                    out.append(n.Assign(failed.name, _noted(failed, condition), span=s.span))
                case n.If(asked, (n.Guard(condition),), ()) if variables_read(condition) & computed:
                    held = b.either(b.logical_not(asked), condition)  # no branch, so that lanes need none
                    out.append(n.Assign(failed.name, _noted(failed, held), span=s.span))
                case n.If(then=then, orelse=orelse):
                    out.append(replace(s, then=noted(then), orelse=noted(orelse)))
                case n.Loop(body=body):
                    out.append(replace(s, body=noted(body)))
                case _:
                    out.append(s)
        return tuple(out)

    zero = b.FALSE if failed.dtype == "bool" else Const(0.0, failed.dtype)
    begin = n.Assign(failed.name, zero, span=loop.span)
    any_failed = failed if failed.dtype == "bool" else Apply("not_equal", (failed, zero), "bool")
    end = n.Accumulate(wrong, "any", any_failed, span=loop.span)
    return replace(loop, body=(begin, *noted(loop.body), end))


def are_unseen(statements: Iterable[n.Stmt], buffers: dict[str, n.Buffer]) -> bool:
    """Whether nobody sees what iterations behind one that raises an error store: neither the caller nor they."""
    parts = list(statements)
    written = {name for s in parts for name in buffers_written(s)}
    read = {name for s in parts for name in buffers_used(s)}
    return not written & read and not any(buffers[name].role == "argument" for name in written)


def _noted(failed: Var, condition: Expr) -> Expr:
    if failed.dtype == "bool":
        return Apply("or_else", (failed, b.logical_not(condition)), "bool")
    return b.where(condition, failed, Const(1.0, failed.dtype))


def dtype_compared(conditions: Iterable[Expr]) -> str:
    """That of the floats that conditions compare, so that a flag takes a lane as wide as theirs; else ``bool``."""
    compared = [x for e in conditions for x in walk_expr(e) if isinstance(x, Apply) and x.dtype == "bool"]
    found = {x.args[0].dtype for x in compared} - {"bool"}
    return found.pop() if found in ({"float64"}, {"float32"}) else "bool"


def _computed(inside: Iterable[n.Stmt], dear: Iterable[str]) -> set[str]:
    """The scalars whose values depend on what variables hold, or on `dear` ones."""
    found = {s.name for s in inside if isinstance(s, n.Assign)}.union(dear)
    lets = [s for s in inside if isinstance(s, n.Let)]
    while True:
        more = {s.name for s in lets if variables_read(s.value) & found} - found
        if not more:
            return found
        found |= more


def _does_no_harm(e: Expr, computed: set[str]) -> bool:
    """Whether an expression can be evaluated whatever the scalars `computed` hold."""
    for x in walk_expr(e):
        if isinstance(x, Load) and any(variables_read(i) & computed for i in x.index):
            return False
        if not isinstance(x, Apply) or not any(variables_read(a) & computed for a in x.args):
            continue
        if x.dtype.startswith(("float", "complex", "bool")):
            continue
        if x.op in _PARTIAL and not (isinstance(x.args[1], Const) and x.args[1].value not in (0, -1)):
            return False
    return True

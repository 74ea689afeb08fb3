"""Drop guards that a condition on the path already holds:

    while (order.size > 0):                  while (order.size > 0):
        guard (order.size >= 1)      to          let i = order[0]
        let i = order[0]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr
from transkern.ir.traverse import buffers_read, buffers_written, scalars_set, variables_read, with_bodies

Fact = tuple[frozenset[tuple[Expr, int]], int]  # a linear form that is at least the number


def drop_proven_guards(program: n.Program) -> n.Program:
    """The program without guards that cannot fail where they stand."""
    return replace(program, body=_block(program.body, []))


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of ``a and b and …``."""
    match condition:
        case Apply("and_then", (x, y), _):
            return conjuncts(x) + conjuncts(y)
        case _:
            return [condition]


def _facts(condition: Expr) -> list[Fact]:
    found = []
    for part in conjuncts(condition):
        match part:
            case Apply("greater" | "greater_equal" | "less" | "less_equal" | "not_equal" as op, (x, y), _) if (
                x.dtype == "index" and y.dtype == "index"
            ):
                if op == "not_equal":
                    if b.constant(y) != 0 or not b.is_nonnegative(x):
                        continue
                    op = "greater"
                if op in ("less", "less_equal"):
                    x, y = y, x
                terms, total = b.affine(b.sub(x, y))
                found.append((frozenset(terms.items()), (1 if op in ("less", "greater") else 0) - total))
            case _:
                pass
    return found


def _implied(condition: Expr, facts: Iterable[Fact]) -> bool:
    wanted = _facts(condition)
    if len(wanted) != len(conjuncts(condition)):
        return False
    facts = list(facts)
    return all(any(terms == t and k >= need for t, k in facts) for terms, need in wanted)


def _block(statements: tuple[n.Stmt, ...], facts: list[Fact]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    facts = list(facts)
    for s in statements:
        if isinstance(s, n.Guard):
            if _implied(s.condition, facts):
                continue
            facts += _facts(s.condition)
            out.append(s)
            continue
        changed = scalars_set(s)
        written = buffers_written(s)
        stable = [f for f in facts if not _touched(f, changed, written)]
        match s:
            case n.While(head, condition, body):
                inner = stable + ([] if head else _facts(condition))
                out.append(replace(s, head=_block(head, stable), body=_block(body, inner)))
            case n.If(condition, then, orelse):
                out.append(replace(s, then=_block(then, facts + _facts(condition)), orelse=_block(orelse, facts)))
            case _:
                out.append(with_bodies(s, lambda body: _block(body, stable)))
        facts = stable
    return tuple(out)


def _touched(fact: Fact, scalars: set[str], buffers: set[str]) -> bool:
    return any(variables_read(t) & scalars or buffers_read(t) & buffers for t, _ in fact[0])

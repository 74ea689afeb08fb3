"""What conditions say about sizes: linear forms that are at least a number."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr
from transkern.ir.ops import OPPOSITE
from transkern.ir.traverse import buffers_read, variables_read

Fact = tuple[frozenset[tuple[Expr, int]], int]  # a linear form that is at least the number


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of ``a and b and …``."""
    match condition:
        case Apply("and_then", (x, y), _):
            return conjuncts(x) + conjuncts(y)
        case Apply("logical_not", (Apply("or_else", (x, y), _),), _):
            return conjuncts(b.logical_not(x)) + conjuncts(b.logical_not(y))
        case Apply("logical_not", (Apply(op, (x, y), _),), _) if op in OPPOSITE and x.dtype == y.dtype == "index":
            return [b.compare(OPPOSITE[op], x, y)]
        case _:
            return [condition]


def conjunction(parts: Iterable[Expr]) -> Expr:
    """``a and b and …``, of parts."""
    whole: Expr = b.TRUE
    for part in parts:
        whole = b.both(whole, part)
    return whole


def facts_of(condition: Expr) -> list[Fact]:
    """The parts of a condition that are linear inequalities of integers."""
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


def implied(condition: Expr, facts: Iterable[Fact]) -> bool:
    """Whether facts make the whole condition true."""
    wanted = facts_of(condition)
    if len(wanted) != len(conjuncts(condition)):
        return False
    facts = list(facts)
    return all(any(terms == t and k >= need for t, k in facts) for terms, need in wanted)


def touched(fact: Fact, scalars: AbstractSet[str], buffers: AbstractSet[str]) -> bool:
    """Whether a fact speaks of something that changes."""
    return any(variables_read(t) & scalars or buffers_read(t) & buffers for t, _ in fact[0])

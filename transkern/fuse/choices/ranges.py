"""What a loop asks of its variable alone is its range:

    for j in 0 .. m:                                  for j in max(0, h - i) .. min(m, n + h - i):
        if 0 <= i + j - h and i + j - h < n:    to        s := s + x[i + j - h] * w[j]
            s := s + x[i + j - h] * w[j]

and what it asks of no iteration in particular is asked before it. So a window that was written with conditions is one
that was written with ranges. A sum of values that are zero elsewhere (``x if i + j < n else 0``, as in `np.correlate`)
is one over a shorter range, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.facts import conjunction, conjuncts
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    resolved,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace


def narrow_ranges(program: n.Program) -> n.Program:
    """The program with loops in order, and reductions, over the iterations alone that do anything."""
    if not any(isinstance(s, n.Loop) for s in walk(program.body)):
        return program
    return replace(program, body=_block(program.body))


def _block(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    for s in statements:
        s = with_bodies(s, _block)
        out.append(_narrowed(s) if isinstance(s, n.Loop) and s.step == b.ONE else s)
    return tuple(out)


def _narrowed(s: n.Loop) -> n.Stmt:
    body = _under_a_condition(s.body)
    match body:
        case (*lets, n.If(condition, then, ()) as asked) if all(isinstance(x, n.Let) for x in lets):
            pass
        case _:
            return s
    if s.kind != "sequential" and not any(isinstance(x, n.Accumulate) for x in walk(then)):
        return s
    names = {x.name: x.value for x in lets if isinstance(x, n.Let)}
    firsts: list[Expr] = []
    lasts: list[Expr] = []
    before: list[Expr] = []
    left: list[Expr] = []
    changed = scalars_set(s) | buffers_written(s)
    for part in conjuncts(condition):
        whole = resolved(part, names)
        if buffers_read(whole) or variables_read(whole) & changed - {s.axis}:
            left.append(part)
        elif s.axis not in variables_read(whole):
            before.append(whole)
        elif (bound := _bound(whole, Var(s.axis))) is not None:
            (firsts if bound[0] else lasts).append(bound[1])
        else:
            left.append(part)
    if not (before or firsts or lasts):
        return s
    inside = (replace(asked, condition=conjunction(left)),) if left else then
    made = replace(
        s, start=reduce(b.maximum, firsts, s.start), stop=reduce(b.minimum, lasts, s.stop), body=(*lets, *inside),
        spare=None,
    )  # fmt: skip
    return n.If(conjunction(before), (made,), span=s.span) if before else made


def _under_a_condition(body: Sequence[n.Stmt]) -> Sequence[n.Stmt]:
    """A body that reduces values which are nothing unless a condition holds, as one that reduces them if it does."""
    lets = [s for s in body if isinstance(s, n.Let)]
    sums = [s for s in body if isinstance(s, n.Accumulate)]
    if not sums or len(lets) + len(sums) != len(body) or list(body) != [*lets, *sums]:
        return body
    conditions, made = set[Expr](), list[n.Stmt]()
    for s in sums:
        match s.value:
            case Apply("where", (condition, value, Const(nothing)), _) if s.op == "sum" and nothing == 0:
                conditions.add(condition)
                made.append(replace(s, value=value))
            case _:
                return body
    return (*lets, n.If(conditions.pop(), tuple(made), span=sums[0].span)) if len(conditions) == 1 else body


def _bound(condition: Expr, axis: Var) -> tuple[bool, Expr] | None:
    """What an axis is at least (true), or below, where a comparison holds."""
    match condition:
        case Apply("less" | "less_equal" | "greater" | "greater_equal" as op, (x, y), "bool"):
            if not x.dtype == y.dtype == "index":
                return None
        case _:
            return None
    form = b.sub(y, x) if op.startswith("less") else b.sub(x, y)  # at least 0, or 1
    least = b.index(1 if op in ("less", "greater") else 0)
    factor = b.affine(form)[0].get(axis, 0)
    rest = b.sub(form, b.mul(b.index(factor), axis))
    if abs(factor) != 1 or axis.name in variables_read(rest):
        return None
    if factor == 1:  # axis + rest >= least
        return True, b.sub(least, rest)
    return False, b.add(b.sub(rest, least), b.ONE)  # rest - axis >= least


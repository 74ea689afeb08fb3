"""A loop that skips the positions where a flag is set, as a search for the next one where it is not:

    for p in 0 .. n: if skip[p]: continue         while (p = first alive) >= 0: rest; low := p + 1
                     rest                    to

Iterations that do nothing are not run, and what is left has the form of an array that shrinks. It holds for any flags:
between two iterations that do something, none of the flags changes.
"""

from __future__ import annotations

from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_used, buffers_written, exprs, scalars_set, scalars_used, with_bodies


def search_next(program: n.Program) -> n.Program:
    """The program with such loops, where a block kernel holds them and nothing else needs the flags."""
    names = Names.of(program)
    out: list[n.Stmt] = []
    for position, s in enumerate(program.body):
        made = None
        if isinstance(s, n.Kernel) and s.placement == "block":
            others = list(program.body[position + 1 :])
            made = _rewrite(program, names, s, others)
        if made is None:
            out.append(s)
        else:
            program, statements = made
            out += statements
    return replace(program, body=tuple(out))


def _rewrite(
    program: n.Program, names: Names, kernel: n.Kernel, others: list[n.Stmt]
) -> tuple[n.Program, list[n.Stmt]] | None:
    found = [(k, s) for k, s in enumerate(kernel.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    if len(found) != 1:
        return None
    place, loop = found[0]
    match loop.body:
        case (*before, n.If(condition, then, orelse)) if not then or not orelse:
            rest, skip = (orelse, condition) if not then else (then, b.logical_not(condition))
        case _:
            return None
    alive_when = _is_flag(skip, loop.axis)
    if (
        alive_when is None
        or loop.step != b.ONE
        or b.constant(loop.start) != 0
        or not all(isinstance(s, n.Let) for s in before)
    ):
        return None
    flags, set_means_alive = alive_when
    if any(
        flags in buffers_used(s) | buffers_written(s)
        for s in (*others, *kernel.body[:place], *kernel.body[place + 1 :])
    ):
        return None
    if b.difference(program.buffers[flags].dims[0], loop.stop) != 0 or program.buffers[flags].role != "temporary":
        return None
    if loop.axis in {v for s in (*others, *kernel.body[place + 1 :]) for v in scalars_used(s)} | {
        v for s in rest for v in scalars_set(s)
    }:
        return None
    alive = names.fresh("alive")
    changed = _thinned(rest, flags, alive, set_means_alive)
    if changed is None:
        return None
    buffers = dict(program.buffers)
    buffers[alive] = replace(program.buffers[flags], name=alive)
    low, first = names.fresh(f"low_{loop.axis}"), loop.axis
    p, q = Var(names.fresh("p"), "index"), Var(names.fresh("p"), "index")
    initial: Expr = Load(flags, (p,), "bool")
    if not set_means_alive:
        initial = b.logical_not(initial)
    start = n.Kernel(names.fresh(f"{program.name}_{alive}"), (
        n.Loop(p.name, b.ZERO, loop.stop, b.ONE, "parallel", (
            n.Store(alive, (p,), initial, span=loop.span),
        ), span=loop.span),
    ), "grid", span=loop.span)  # fmt: skip
    head = (
        n.Accumulator(first, "first", "index", span=loop.span),
        n.Loop(q.name, Var(low), loop.stop, b.ONE, "parallel", (
            n.Accumulate(first, "first", Load(alive, (q,), "bool"), q, span=loop.span),
        ), span=loop.span),
    )  # fmt: skip
    after = n.Assign(low, b.add(Var(first), b.ONE), span=loop.span)
    search = n.While(head, b.compare("greater_equal", Var(first), b.ZERO), (*before, *changed, after), span=loop.span)
    body = (*kernel.body[:place], n.Assign(low, b.ZERO, span=loop.span), search, *kernel.body[place + 1 :])
    program = replace(program, buffers=buffers, variables={**program.variables, low: "index"})
    return program, [n.Alloc(alive, span=loop.span), start, replace(kernel, body=body)]


def _is_flag(skip: Expr, axis: str) -> tuple[str, bool] | None:
    """The flags that say whether to skip, and whether a set one says not to."""
    match skip:
        case Load(flags, (Var(name),), "bool") if name == axis:
            return flags, False
        case Apply("logical_not", (Load(flags, (Var(name),), "bool"),), _) if name == axis:
            return flags, True
        case _:
            return None


def _thinned(rest: tuple[n.Stmt, ...], flags: str, alive: str, set_means_alive: bool) -> tuple[n.Stmt, ...] | None:
    """The statements with `alive` in place of the flags, where they only ever say "no longer"."""
    good = True

    def store(s: n.Store) -> n.Store:
        nonlocal good
        own = Load(flags, s.index, "bool")
        match s.value:
            case Apply("where", (c, Const(value), orelse), _) if orelse == own and bool(value) != set_means_alive:
                stays = b.logical_not(c)
            case Apply("where", (c, then, Const(value)), _) if then == own and bool(value) != set_means_alive:
                stays = c
            case Apply("logical_or" | "bitwise_or" | "or_else", (x, y), _) if own in (x, y) and not set_means_alive:
                stays = b.logical_not(y if x == own else x)
            case Apply("logical_and" | "bitwise_and" | "and_then", (x, y), _) if own in (x, y) and set_means_alive:
                stays = y if x == own else x
            case _:
                good = False
                return s
        return replace(s, buffer=alive, value=Apply("logical_and", (Load(alive, s.index, "bool"), stays), "bool"))

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            store(s) if isinstance(s, n.Store) and s.buffer == flags else with_bodies(s, block) for s in statements
        )

    made = block(rest)
    if not good or any(isinstance(e, Load) and e.buffer == flags for e in exprs(made)):
        return None
    return made

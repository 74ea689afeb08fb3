"""Close the gaps in masked arrays now and then:

    while …:                                     while …:
        …                                            …
        parallel p: alive[p] = alive[p] and …  to    parallel p: alive[p] = alive[p] and …
                                                     every few times, if a quarter is not alive:
                                                         move what is alive together; low, high = 0, count

A masked pass also computes where nothing is alive any more. Moving the living elements of all arrays that the loop
reads by position together costs one pass and shortens all that follow. For targets where moving is cheap (the CPU).
"""

from __future__ import annotations

from transkern.fuse.filters.left import COMPARISONS
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_used, buffers_written, exprs, own_exprs, walk
from transkern.records import replace

_EVERY = 8  # iterations between looks
_WORTHWHILE = 128  # positions below which a pass costs nothing


def close_gaps(program: n.Program) -> n.Program:
    """The program with masked loops that move their living elements together."""
    names = Names.of(program)
    body = list(program.body)
    variables = dict(program.variables)
    for position, s in enumerate(body):
        if isinstance(s, n.While):
            made = _close(program, names, variables, s, body[position + 1 :])
            if made is not None:
                before, loop = made
                body[position : position + 1] = [*before, loop]
                return close_gaps_rest(replace(program, variables=variables), body, position + len(before) + 1)
    return program


def close_gaps_rest(program: n.Program, body: list[n.Stmt], start: int) -> n.Program:
    """What stands behind the loop just changed."""
    rest = close_gaps(replace(program, body=tuple(body[start:])))
    return replace(rest, body=(*body[:start], *rest.body))


def _close(
    program: n.Program, names: Names, variables: dict[str, str], loop: n.While, after: list[n.Stmt]
) -> tuple[list[n.Stmt], n.While] | None:
    update = next((s for s in loop.body if isinstance(s, n.Loop) and _shrinks(s)), None)
    searches = [s for s in loop.head if isinstance(s, n.Loop)]
    if update is None or not searches:
        return None
    beside = [s for s in (*loop.head, *loop.body) if s is not update]
    loops = [s for s in walk(beside) if isinstance(s, (n.Loop, n.Compact, n.Scanning, n.While))]
    if len(loops) != len(searches):
        return None
    store = update.body[-1]
    if not isinstance(store, n.Store):
        return None
    alive = store.buffer
    low_old, high_old = searches[0].start, searches[0].stop
    if any((s.start, s.stop) != (low_old, high_old) or buffers_used(s) != {alive} for s in searches):
        return None
    moved = _by_position(program, loop, update, searches)
    behind = _seen_behind(after, alive, low_old, high_old)
    if moved is None or behind is None or set(moved) & behind:
        return None
    if _is_told(loop, update, searches, {*moved, alive}):
        return None
    low, high = (Var(names.fresh(f"{w}_{alive}")) for w in ("low", "high"))
    changing = set(variables)
    before: list[n.Stmt] = []
    bounds: dict[Expr, Expr] = {}
    for old, new in ((low_old, low), (high_old, high)):
        if isinstance(old, Var) and old.name in changing:
            bounds[old] = old
            continue
        variables[new.name] = "index"
        before.append(n.Assign(new.name, old, span=loop.span))
        bounds[old] = new
    low, high = (bounds[e] for e in (low_old, high_old))  # type: ignore[assignment]
    head = tuple(replace(s, start=low, stop=high) if isinstance(s, n.Loop) else s for s in loop.head)
    start = low if update.start == low_old else update.start
    stop = high if update.stop == high_old else update.stop
    body = tuple(replace(s, start=start, stop=stop) if s is update else s for s in loop.body)
    tick = Var(names.fresh("passes"))
    variables[tick.name] = "index"
    before.append(n.Assign(tick.name, b.ZERO, span=loop.span))
    return before, replace(
        loop, head=head, body=(*body, *_look(program, names, variables, alive, moved, low, high, tick, loop))
    )


def _seen_behind(after: list[n.Stmt], alive: str, low: Expr, high: Expr) -> set[str] | None:
    """The arrays whose elements somebody looks at behind the loop where the loop has left them. None: the mask, too,
    but by what puts together what is left of an array between the two ends that the loop moves."""
    seen: set[str] = set()
    again: set[str] = set()
    for s in after:
        if alive not in buffers_used(s):
            seen |= (buffers_used(s) | buffers_written(s)) - again
            continue
        match s:
            case n.Compact(outputs=(array,), mask=Load(mask, (at,), _), values=(Load(source, _, _),)) if (
                mask == alive and source == array and isinstance(low, Var) and isinstance(high, Var)
                and at == b.add(low, Var(s.axis, "index"))
                and (s.start, s.stop) == (b.ZERO, b.maximum(b.sub(high, low), b.ZERO))
            ):
                again.add(array)
            case _:
                return None
    return seen


def _shrinks(s: n.Loop) -> bool:
    """Whether a pass ends with leaving what is alive alive only where a condition holds."""
    match s.body[-1] if s.body else None:
        case n.Store(buffer, (Var(at),), Apply("logical_and", (Load(alive, (Var(here),), _), _), "bool")):
            return s.kind == "parallel" and alive == buffer and at == here == s.axis
        case _:
            return False


def _by_position(program: n.Program, loop: n.While, update: n.Loop, searches: list[n.Loop]) -> list[str] | None:
    """The arrays whose elements belong to positions, where all of them are the loop's own; else None."""
    found: set[str] = set()
    axis = Var(update.axis)
    for e in exprs(update.body):
        if isinstance(e, Load) and axis in e.index:
            if len(e.index) != 1:
                return None
            found.add(e.buffer)
    positions = {x.name for s in searches for x in s.body if isinstance(x, n.Accumulate)}
    for e in exprs((loop,)):
        if isinstance(e, Load) and e.buffer in found and not isinstance(e.index[0], Var):
            return None
        if isinstance(e, Load) and len(e.index) == 1 and isinstance(e.index[0], Var) and e.index[0].name in positions:
            found.add(e.buffer)
    store = update.body[-1]
    assert isinstance(store, n.Store)
    found.discard(store.buffer)
    if any(program.buffers[f].role != "temporary" or len(program.buffers[f].dims) != 1 for f in found):
        return None
    if any(f in buffers_written(loop) for f in found):
        return None
    if any(isinstance(s, n.Library) and found & set(s.ins) for s in walk((loop,))):
        return None
    return sorted(found)


def _is_told(loop: n.While, update: n.Loop, searches: list[n.Loop], moved: set[str]) -> bool:
    """Whether anything but the elements at them depends on positions: these are others once elements have moved."""
    positions = {Var(x.name, "index") for s in searches for x in s.body if isinstance(x, n.Accumulate)}
    found = frozenset(positions)
    positions.add(Var(update.axis, "index"))
    told = False

    def look(e: Expr) -> Expr | None:
        nonlocal told
        match e:
            case Load(buffer, (Var() as at,)) if buffer in moved and at in positions:
                return e
            case Apply("less" | "greater_equal", (Var() as at, Const(0))) if at in positions:
                return e  # whether there is one
            case Apply(op, (Var() as one, Var() as two)) if op in COMPARISONS and {one, two} <= found:
                return e  # elements keep their order
            case Var() if e in positions:
                told = True
        return None

    for s in walk((loop,)):
        match s:
            case n.Loop() if s in searches or s is update:
                continue  # their ends are positions, and move
            case n.Assign(value=value) if b.affine(value)[0].keys() <= positions and Var(s.name, "index") in (
                searches[0].start, searches[0].stop
            ):
                continue
            case n.Accumulate() if any(s in x.body for x in searches):
                continue
            case n.Store(buffer, (Var() as at,), value) if buffer in moved and at in positions:
                b.map_expr(value, look)
            case _:
                for e in own_exprs(s):
                    b.map_expr(e, look)
    return told


def _look(
    program: n.Program, names: Names, variables: dict[str, str], alive: str, moved: list[str], low: Expr, high: Expr,
    tick: Var, loop: n.While,
) -> list[n.Stmt]:  # fmt: skip
    p, q, r = (Var(names.fresh("p")) for _ in range(3))
    live, count = names.fresh("living"), f"{names.fresh(f'{alive}_moved')}.size"
    variables[count] = "index"
    extent = b.sub(high, low)
    assert isinstance(low, Var) and isinstance(high, Var)
    few = b.both(
        b.compare("less", b.mul(b.index(4), Var(live)), b.mul(b.index(3), extent)),
        b.compare("greater", extent, b.index(_WORTHWHILE)),
    )
    close = (
        n.Compact(
            tuple(moved), count, q.name, low, high, (), Load(alive, (q,), "bool"),
            tuple(Load(m, (q,), program.buffers[m].dtype) for m in moved), span=loop.span,
        ),
        n.Loop(r.name, b.ZERO, b.size(count), b.ONE, "parallel", (n.Store(alive, (r,), b.TRUE),), span=loop.span),
        n.Assign(low.name, b.ZERO),
        n.Assign(high.name, b.size(count)),
    )  # fmt: skip
    look = (
        n.Assign(tick.name, b.ZERO),
        n.Accumulator(live, "count", "index"),
        n.Loop(p.name, low, high, b.ONE, "parallel", (n.Accumulate(live, "count", Load(alive, (p,), "bool")),)),
        n.If(few, close),
    )
    return [
        n.Assign(tick.name, b.add(tick, b.ONE), span=loop.span),
        n.If(b.compare("equal", tick, b.index(_EVERY)), look),
    ]

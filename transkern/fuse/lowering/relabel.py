"""Store an array in the order it is used in:

    flag[order[p]]  everywhere      to      flag_order[p]

Holds for a temporary that starts out uniform and is only ever reached through one permutation of its positions: which
element stands where is then nobody's business, and gathers and scatters become plain loads and stores. Where that holds
within a loop in order alone, which goes through the permutation again and again, the loop has a copy in that order:

    for k: for p: flag[order[p]] = …        for p: copy[p] = flag[order[p]]
    found = np.where(flag)[0]           to  for k: for p: copy[p] = …
                                            for p: flag[order[p]] = copy[p]
                                            found = np.where(flag)[0]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_used,
    buffers_written,
    exprs,
    is_in_order,
    map_block,
    result_buffers,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def relabel_permuted(program: n.Program) -> n.Program:
    """The program with arrays that are only used through a permutation laid out in its order."""
    if not any(buffer.permutation for buffer in program.buffers.values()):
        return program
    program = _look_through(program)
    touched = _touched(program)
    for name, buffer in program.buffers.items():
        if buffer.role == "temporary" and len(buffer.dims) == 1 and name in touched:
            order = _permutation_of(program, buffer, *touched[name])
            if order is not None:
                program = _relabel(program, name)
                touched = _touched(program)
    return _within_loops(program)


def _touched(program: n.Program) -> dict[str, tuple[list[Load], list[n.Stmt]]]:
    """By array: the loads of its elements, and the statements that write it, hand it back or give it to a library."""
    found: dict[str, tuple[list[Load], list[n.Stmt]]] = defaultdict(lambda: ([], []))
    for e in exprs(program.body):
        if isinstance(e, Load):
            found[e.buffer][0].append(e)
    for s in walk(program.body):
        match s:
            case n.Store(buffer=name) | n.Scanning(buffer=name):
                names = {name}
            case n.Compact(outputs=outputs):
                names = set(outputs)
            case n.Library(outs=outs, ins=ins):
                names = {*outs, *ins}
            case n.Return(result=result):
                names = result_buffers(result)
            case _:
                continue
        for name in names:
            found[name][1].append(s)
    return found


def _look_through(program: n.Program) -> n.Program:
    """Subscripts that are a scalar ``i = order[p]`` as ``order[p]`` again, to be recognised."""
    held = {
        s.name: s.value for s in walk(program.body)
        if isinstance(s, n.Let) and isinstance(s.value, Load) and program.buffers[s.value.buffer].permutation
    }  # fmt: skip

    def change(e: Expr) -> Expr | None:
        match e:
            case Load(buffer, (Apply("cast", (Var(name),), "index"),), dtype) if name in held:
                return Load(buffer, (b.cast(held[name], "index"),), dtype)
            case _:
                return None

    def stores(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out = []
        for s in block:
            match s:
                case n.Store(index=(Apply("cast", (Var(name),), "index"),)) if name in held:
                    s = replace(s, index=(b.cast(held[name], "index"),))
                case _:
                    pass
            out.append(with_bodies(s, stores))
        return tuple(out)

    return replace(program, body=stores(map_block(program.body, change)))


def _permutation_of(
    program: n.Program, buffer: n.Buffer, loads: Sequence[Load], statements: Sequence[n.Stmt]
) -> str | None:
    """The one permutation that all accesses go through, or None."""
    orders: set[str] = set()
    for e in loads:
        order = _through(program, e.index)
        if order is None:
            return None
        orders.add(order)
    for s in statements:
        if not isinstance(s, n.Store):  # the caller sees the order, or a library
            return None
        if _is_fill(program, s):
            continue
        order = _through(program, s.index)
        if order is None:
            return None
        orders.add(order)
    if len(orders) != 1:
        return None
    (order,) = orders
    return order if program.buffers[order].dims == buffer.dims else None


def _within_loops(program: n.Program) -> n.Program:
    """The program with copies, in the order of a permutation, of what a loop in order only reaches through it."""
    names = Names.of(program)
    buffers, body = dict(program.buffers), list(program.body)
    for loop in [s for s in body if is_in_order(s)]:
        at = next(k for k, s in enumerate(body) if s is loop)
        for name in sorted(buffers_written(loop)):
            order = _order_within(replace(program, buffers=buffers), body[at], name)
            if order is None:
                continue
            copy = names.fresh(f"{name}_of_{order}")
            buffers[copy] = replace(buffers[name], name=copy, role="temporary", line=loop.span.line)
            before, (made,) = body[:at], _directly((body[at],), name, copy)
            begun = _begun(before, buffers[name], copy)
            if begun is None:
                p = Var(names.fresh("p"), "index")
                value = Load(name, (_place(order, p, buffers),), buffers[name].dtype)
                begun = [*before, n.Alloc(copy, span=loop.span), _pass(copy, (p,), p, value, buffers, loop)]
            behind = []
            if any(name in buffers_used(s) for s in body[at + 1 :]):
                p = Var(names.fresh("p"), "index")
                value = Load(copy, (p,), buffers[name].dtype)
                behind.append(_pass(name, (_place(order, p, buffers),), p, value, buffers, loop))
            body = [*begun, made, *behind, *body[at + 1 :]]
            at = len(begun)
    return replace(program, buffers=buffers, body=tuple(body))


def _order_within(program: n.Program, loop: n.Stmt, name: str) -> str | None:
    """The permutation that all accesses of a loop to an array go through, some of them in loops inside it."""
    buffer = program.buffers.get(name)
    if buffer is None or buffer.role not in ("temporary", "result") or len(buffer.dims) != 1:
        return None
    if any(isinstance(s, (n.Return, n.Kernel)) or (isinstance(s, n.Alloc) and s.buffer == name) for s in walk((loop,))):
        return None
    loads, statements = _touched(replace(program, body=(loop,)))[name]
    if not all(isinstance(s, n.Store) for s in statements):
        return None
    places = [e.index for e in loads] + [s.index for s in statements if isinstance(s, n.Store)]
    orders = {_through(program, place) for place in places}
    order = orders.pop()
    if orders or order is None or order in buffers_written(loop) or program.buffers[order].dims != buffer.dims:
        return None
    axes = {s.axis for block in bodies(loop) for s in walk(block) if isinstance(s, n.Loop)}
    return order if any(variables_read(i) & axes for place in places for i in place) else None


def _begun(before: Sequence[n.Stmt], buffer: n.Buffer, copy: str) -> list[n.Stmt] | None:
    """The statements before a loop where the copy is filled instead of the array, if that is all that is done to it."""
    name = buffer.name
    using = [k for k, s in enumerate(before) if name in buffers_used(s) or name in buffers_written(s)]
    allocated = [k for k, s in enumerate(before) if isinstance(s, n.Alloc) and s.buffer == name]
    stores = [s for k in using for s in walk((before[k],)) if isinstance(s, n.Store) and s.buffer == name]
    loads = (e for k in using for e in exprs((before[k],)) if isinstance(e, Load) and e.buffer == name)
    match before[using[-1]] if using else None:
        case n.Loop(axis, b.ZERO, stop, b.ONE, "parallel") as filled if stop == buffer.dims[0]:
            pass
        case _:
            return None
    if len(allocated) != 1 or {*using} - {*allocated, using[-1]} or any(True for _ in loads) or len(stores) != 1:
        return None
    (store,) = stores
    if not isinstance(store.value, Const) or store.index != (Var(axis, "index"),):
        return None
    if not any(s is store for s in filled.body):
        return None
    body = tuple(replace(s, buffer=copy) if s is store else s for s in filled.body)
    made = list(before)
    made[using[-1]] = replace(filled, body=body)
    return [*made[: allocated[0]], n.Alloc(copy, span=before[allocated[0]].span), *made[allocated[0] :]]


def _place(order: str, p: Var, buffers: Mapping[str, n.Buffer]) -> Expr:
    return b.cast(Load(order, (p,), buffers[order].dtype), "index")


def _pass(
    name: str, index: tuple[Expr, ...], p: Var, value: Expr, buffers: Mapping[str, n.Buffer], beside: n.Stmt
) -> n.Loop:
    """A loop over a whole array that stores a value at a place for each position."""
    store = n.Store(name, index, value, span=beside.span)
    return n.Loop(p.name, b.ZERO, buffers[name].dims[0], b.ONE, "parallel", (store,), span=beside.span)


def _is_fill(program: n.Program, store: n.Store) -> bool:
    """``flag[i] = constant`` for every i."""
    dims = program.buffers[store.buffer].dims
    for s in walk(program.body):
        if isinstance(s, n.Loop) and any(x is store for x in s.body):
            whole = s.start == b.ZERO and s.stop == dims[0] and store.index == (Var(s.axis),)
            return whole and isinstance(store.value, Const)
    return False


def _through(program: n.Program, index: tuple[Expr, ...]) -> str | None:
    match index:
        case (Apply("cast", (Load(order, _),), "index"),) if program.buffers[order].permutation:
            return order
        case _:
            return None


def _relabel(program: n.Program, name: str) -> n.Program:
    return replace(program, body=_directly(program.body, name, name))


def _directly(block: tuple[n.Stmt, ...], name: str, made: str) -> tuple[n.Stmt, ...]:
    """A block where an array that is reached through a permutation is `made`, which has its order."""

    def direct(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        match index:
            case (Apply("cast", (Load(_, at),), "index"),):
                return at
            case _:
                return index

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer == name:
            return Load(made, direct(e.index), e.dtype)
        return None

    def stores(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out = []
        for s in block:
            if isinstance(s, n.Store) and s.buffer == name:
                s = replace(s, buffer=made, index=direct(s.index))
            s = with_bodies(s, stores)
            if isinstance(s, n.Loop) and made in buffers_written(s) and _is_in_any_order(s):
                s = replace(s, kind="parallel")
            out.append(s)
        return tuple(out)

    return stores(map_block(block, change))


def _is_in_any_order(loop: n.Loop) -> bool:
    """Whether each iteration of a loop has its own place in what they change, and nothing to do with others."""
    inside = list(walk(loop.body))
    if loop.fails or loop.step != b.ONE or not all(isinstance(s, (n.Store, n.If, n.Let, n.Alloc)) for s in inside):
        return False
    here = (Var(loop.axis, "index"),)
    written = buffers_written(loop) - {s.buffer for s in inside if isinstance(s, n.Alloc)}
    stores = [(s.buffer, s.index) for s in inside if isinstance(s, n.Store)]
    loads = [(e.buffer, e.index) for e in exprs(loop.body) if isinstance(e, Load)]
    return all(index == here for buffer, index in (*stores, *loads) if buffer in written)

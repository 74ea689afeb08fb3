"""Store an array in the order it is used in:

    flag[order[p]]  everywhere      to      flag_order[p]

Holds for a temporary that starts out uniform and is only ever reached through one permutation of its positions: which
element stands where is then nobody's business, and gathers and scatters become plain loads and stores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_written, exprs, map_block, result_buffers, walk, with_bodies
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
    return program


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
    def direct(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        match index:
            case (Apply("cast", (Load(_, at),), "index"),):
                return at
            case _:
                return index

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer == name:
            return Load(name, direct(e.index), e.dtype)
        return None

    def stores(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out = []
        for s in block:
            if isinstance(s, n.Store) and s.buffer == name:
                s = replace(s, index=direct(s.index))
            s = with_bodies(s, stores)
            if isinstance(s, n.Loop) and name in buffers_written(s) and _is_in_any_order(s):
                s = replace(s, kind="parallel")
            out.append(s)
        return tuple(out)

    return replace(program, body=stores(map_block(program.body, change)))


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

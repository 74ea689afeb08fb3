"""Arrays that begin as filters, and then shrink in a loop, with all elements and a mask:

    compact order over k < n: keep v(k) if m(k)             for k < n: order[k] = v(k)
    …                                              to       for k < n: alive[k] = m(k)
    while: …                                                while: …

Of a loop over what is alive nobody knows who was not from the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_used, buffers_written, map_block, scalars_set, scalars_used, variables_read


def begins_as(before: Sequence[n.Stmt], program: n.Program, array: str, size: str) -> n.Compact | None:
    """The filter that an array and its size come from, if nothing between it and the loop asks for the array."""
    length: Expr = Var(size, "index")
    for s in reversed(before):
        if isinstance(s, n.Compact) and array in s.outputs:
            alone = s.outputs == (array,) and not (s.append or s.inner) and b.constant(s.start) == 0
            whole = b.difference(program.buffers[array].dims[0], s.stop) == 0
            return s if alone and whole and length == Var(s.count, "index") and array not in buffers_used(s) else None
        if isinstance(s, n.Assign) and length == Var(s.name, "index"):
            length = s.value
        elif array in buffers_used(s) or array in buffers_written(s) or variables_read(length) & set(scalars_set(s)):
            return None
    return None


def with_all_elements(
    block: Sequence[n.Stmt], filtered: n.Compact, names: Names, outside: frozenset[str], buffers: Mapping[str, n.Buffer]
) -> list[n.Stmt]:
    """A block with all elements where a filter left some, and how many these are if somebody asks."""
    (array,), (value,), k, span = filtered.outputs, filtered.values, filtered.axis, filtered.span
    at = next(position for position, s in enumerate(block) if s is filtered)
    others = [s for s in block if s is not filtered]
    made: list[n.Stmt] = []
    lengths = (d for buffer in buffers.values() for d in buffer.dims)
    if filtered.count in outside.union(*map(scalars_used, others), *map(variables_read, lengths)):
        p, total = names.fresh(k), names.fresh("count")
        lets, mask = at_first(filtered, p, names)
        counted = n.Accumulate(total, "count", mask, span=span)
        made += [
            n.Accumulator(total, "count", "index", span=span),
            n.Loop(p, filtered.start, filtered.stop, b.ONE, "parallel", (*lets, counted), span=span),
            n.Assign(filtered.count, Var(total, "index"), span=span),
        ]
    match value:
        case Load(base, (Var(of),)) if of == k and not any(base in buffers_written(s) for s in others[at:]):
            if buffers[base].dtype == buffers[array].dtype:  # it has these elements already
                rest = [s for s in (*block[:at], *made, *block[at + 1 :]) if not _is_memory(s, array)]
                return list(map_block(tuple(rest), lambda e: _moved(e, array, base)))
        case _:
            pass
    store = n.Store(array, (Var(k, "index"),), value, span=span)
    filled = n.Loop(k, filtered.start, filtered.stop, b.ONE, "parallel", (*filtered.body, store), span=span)
    return [*block[:at], filled, *made, *block[at + 1 :]]


def _is_memory(s: n.Stmt, array: str) -> bool:
    return isinstance(s, n.Alloc) and s.buffer == array


def _moved(e: Expr, array: str, base: str) -> Expr | None:
    if not isinstance(e, Load) or e.buffer != array:
        return None
    return Load(base, tuple(b.map_expr(i, lambda x: _moved(x, array, base)) for i in e.index), e.dtype)


def at_first(filtered: n.Compact, p: str, names: Names) -> tuple[tuple[n.Stmt, ...], Expr]:
    """The mask of a filter at the place `p`, and what must be computed for it."""
    again = {filtered.axis: p} | {s.name: names.fresh(s.name) for s in filtered.body if isinstance(s, n.Let)}

    def change(e: Expr) -> Expr | None:
        return Var(again[e.name], e.dtype) if isinstance(e, Var) and e.name in again else None

    renamed = map_block(filtered.body, change)
    body = tuple(n.Let(again[s.name], s.value, span=s.span) if isinstance(s, n.Let) else s for s in renamed)
    return body, b.map_expr(filtered.mask, change)

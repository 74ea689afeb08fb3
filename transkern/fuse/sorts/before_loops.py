"""Sorts that a loop makes again and again, made before it; devices: what sorts an array that a mask has filtered is
filtered after the sort.

    for c in 0 .. m:                                  keys[i] := -scores[i]
        kept := scores[i] if labels[i] == c           all := argsort(keys)
        keys[k] := -kept[k]                     to    for c in 0 .. m:
        order := argsort(keys)                            order := all[k] if labels[all[k]] == c
        … positions[order[k]] …                           … order[k] …

A loop with a library's step in it runs on the host, which launches all that an iteration does. Without one it is a
kernel, loops in it and all: suppression in each class, ranks within groups.

- *Property.* A sort whose keys are made of what the loop does not change: of the same elements in each iteration, of
  those at the loop's own place (a column a class, a row an image), or of those of either that the iteration's mask lets
  pass.
- *Legality.* A stable sort leaves equal keys in the order in which they stand, and so does a filter: it does not matter
  which comes first. (NumPy's default leaves that order open; on devices it is the stable sort's.) The order of a
  filtered array holds positions in it; here it holds positions in the array that is filtered. So all that is done with
  them must be the same: they are stored, compared with each other, and elements of arrays that the same mask has
  filtered are read at them, which then are those of the arrays before. Keys of elements that no mask lets pass are
  computed as well: all of them must be there, which the sizes of the arrays say, and nobody asks for their warnings.
- *Schedule.* Where it leaves the loop without any library's step. Keys of all iterations are no more than an array has
  elements that the loop walks in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.analysis.scalars import exposed
from transkern.fuse.sorts.ranks import Other, Relabelling, Sort, outside, without_memory
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_statement,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_Block = tuple[n.Stmt, ...]


def sort_before_loops(program: n.Program) -> n.Program:
    """The program with sorts before the loops that they stood in."""
    return _moved(program, False)


def sort_before_loops_for_cuda(program: n.Program) -> n.Program:
    """The same but for rows of independent iterations, which `batch_sorts` sorts as many at a time as memory holds."""
    return _moved(program, True)


def _moved(program: n.Program, batched: bool) -> n.Program:
    while not program.warns and any(isinstance(s, n.Library) and s.name == "argsort" for s in walk(program.body)):
        made = _Moving(program, batched).moved()
        if made is None:
            break
        program = made
    return program


class _Moving:
    def __init__(self, program: n.Program, batched: bool) -> None:
        self.program, self.names, self.batched = program, Names.of(program), batched
        self.buffers = dict(program.buffers)

    def moved(self) -> n.Program | None:
        """The program with the sorts of one loop before it; None where there is no such loop."""
        body = self.block(self.program.body)
        if body is None:
            return None
        named = {x for s in walk(body) for x in (*buffers_used(s), *buffers_written(s))}
        gone = {x for x, buffer in self.program.buffers.items() if buffer.role == "temporary" and x not in named}
        body = without_memory(body, gone)
        return replace(self.program, body=body, buffers={k: x for k, x in self.buffers.items() if k not in gone})

    def block(self, statements: _Block) -> _Block | None:
        for position, s in enumerate(statements):
            found: list[_Block | None] = [self.block(inner) for inner in bodies(s)]  # inner loops first
            if any(x is not None for x in found):
                changed = {id(was): new for new, was in zip(found, bodies(s), strict=True) if new is not None}
                whole = with_bodies(s, lambda old, changed=changed: changed.get(id(old), old))  # type: ignore[misc]
                return (*statements[:position], whole, *statements[position + 1 :])
            if isinstance(s, n.Loop) and s.kind == "sequential":
                made = self.loop(s)
                if made is not None:
                    return (*statements[:position], *made, *statements[position + 1 :])
        return None

    def loop(self, loop: n.Loop) -> _Block | None:
        """A loop behind all sorts that stood in it."""
        steps = [s for s in walk(loop.body) if isinstance(s, n.Library)]
        if not steps or not all(s.name == "argsort" for s in steps):
            return None
        saved = dict(self.buffers)
        before: list[n.Stmt] = []
        try:
            for s in steps:
                made, loop = self.apart(loop, self.sort(loop, s))
                before += made
        except Other:
            self.buffers = saved
            return None
        return (*before, loop)

    def sort(self, loop: n.Loop, step: n.Library) -> Sort:
        """What a sort in a loop is made of."""
        if len(step.ins) != 1 or any(step.views) or len(self.buffers[step.ins[0]].dims) != 1:
            raise Other
        before = _before(loop.body, step)
        if before is None or dict(step.attributes).get("axis") != 0:
            raise Other
        (keys,) = step.ins
        writers = [s for s in walk(loop.body) if keys in buffers_written(s) and not any(bodies(s))]
        if len(writers) != 1 or writers[0] not in before or self.buffers[keys].role != "temporary":
            raise Other
        made = writers[0]
        if not isinstance(made, n.Define) or len(made.axes) != 1 or self.buffers[keys].element:
            raise Other
        (axis,) = made.axes
        filters = [s for s in before if isinstance(s, n.Filter) and not s.append and len(s.axes) == 1]
        of_keys = [s for s in filters if set(s.outputs) & buffers_read(made.value)]
        if not of_keys:
            return Sort(step, made, ())
        alike = tuple(s for s in filters if _mask_over(s, axis) == _mask_over(of_keys[0], axis))
        if axis.extent not in [Var(s.count, "index") for s in alike] or not all(s in alike for s in of_keys):
            raise Other
        between = before[before.index(alike[0]) : before.index(alike[-1])]
        changed = {x for s in between for x in (*buffers_written(s), *scalars_set(s))}
        if changed & (buffers_read(alike[0].mask) | variables_read(alike[0].mask)):
            raise Other
        return Sort(step, made, alike)

    # --- a loop and its sort

    def apart(self, loop: n.Loop, sort: Sort) -> tuple[list[n.Stmt], n.Loop]:
        """What stands before the loop, and the loop with the order that is made of it."""
        order, span = self.buffers[sort.order], sort.step.span
        (axis,) = sort.keys.axes
        writers = [s for s in walk(loop.body) if sort.order in buffers_written(s) and not any(bodies(s))]
        if order.role != "temporary" or len(writers) != 1:
            raise Other
        value, extent = sort.keys.value, axis.extent
        if sort.kept:
            extent = sort.kept[0].axes[0].extent
            value, axis = _before_filters(value, sort.kept, axis), Axis(axis.name, extent)
        rows = self.rows(loop, value, axis)
        if rows and self.batched and not sort.kept and not _carries(loop):
            raise Other
        lead = (Axis(self.names.fresh(loop.axis), loop.stop),) if rows else ()
        at = Axis(self.names.fresh(axis.name), extent)
        renamed: dict[str, Expr] = {axis.name: at.var}
        if lead:
            renamed[loop.axis] = lead[0].var
        keys, whole = self.names.fresh(sort.keys.buffer), self.names.fresh(sort.order)
        dims = (*(a.extent for a in lead), extent)
        old = self.buffers[sort.keys.buffer]
        self.buffers[keys] = replace(old, name=keys, dims=dims)
        self.buffers[whole] = replace(order, name=whole, dims=dims, low=b.ZERO, high=extent, permutation=not lead)
        attributes = tuple(
            (key, len(lead) if key == "axis" else "stable" if key == "kind" and sort.kept else value)
            for key, value in sort.step.attributes
        )
        before: list[n.Stmt] = [
            n.Define(keys, (*lead, at), b.substitute(value, renamed), span=sort.keys.span),
            n.Alloc(whole, span=span),
            replace(sort.step, outs=(whole,), ins=(keys,), attributes=attributes),
        ]

        def sorted_at(place: Expr) -> Expr:
            return Load(whole, (*(Var(loop.axis, "index") for _ in lead), place), order.dtype)

        if not sort.kept:
            body = sort.rest(loop)
            if sort.order in outside(self.program.body, loop):
                raise Other
            read: dict[Expr, Expr] = {
                e: sorted_at(*e.index) for e in exprs(body) if isinstance(e, Load) and e.buffer == sort.order
            }
            body = tuple(map_statement(s, read.get) for s in body)
            if sort.order in {x for s in walk(body) for x in buffers_used(s)}:
                raise Other
            return before, replace(loop, body=without_memory(body, {sort.order}))
        relabelling = Relabelling(self.program, self.names, self.buffers, loop, sort, sorted_at, extent)
        body = relabelling.body()
        return [*before, *relabelling.before], replace(loop, body=body)

    def rows(self, loop: n.Loop, value: Expr, axis: Axis) -> bool:
        """Whether each iteration sorts keys of its own; raises where they cannot be computed before the loop."""
        if buffers_read(value) & set(buffers_written(loop)) or variables_read(axis.extent) & set(scalars_set(loop)):
            raise Other
        free = variables_read(value) - {axis.name}
        if free & (set(scalars_set(loop)) - {loop.axis}) or loop.axis in variables_read(axis.extent):
            raise Other
        walked = {axis.name: axis.extent}
        own = loop.axis in free
        if own:
            if b.constant(loop.start) != 0 or b.constant(loop.step) != 1:
                raise Other
            if variables_read(loop.stop) & set(scalars_set(loop)) or buffers_read(loop.stop):
                raise Other
            walked[loop.axis] = loop.stop
        loads = [e for e in walk_expr(value) if isinstance(e, Load)]
        for e in loads:
            for place, dim in zip(e.index, self.buffers[e.buffer].dims, strict=True):
                if not _is_within(place, dim, walked):
                    raise Other
        if own and not any({loop.axis, axis.name} <= variables_read(e) for e in loads):
            raise Other
        return own


def _before(block: _Block, s: n.Stmt) -> list[n.Stmt] | None:
    """The statements that have run whenever `s` does, in this iteration; None where it is in a loop of its own."""
    for position, x in enumerate(block):
        if x is s:
            return list(block[:position])
        if isinstance(x, n.If):
            for inner in bodies(x):
                found = _before(inner, s)
                if found is not None:
                    return [*block[:position], *found]
    return None


def _carries(loop: n.Loop) -> bool:
    """Whether an iteration needs what those before it leave in a name, or checks what it computes."""
    made = set(scalars_set(loop))
    checks = (s for s in walk(loop.body) if isinstance(s, n.Guard))
    return any(variables_read(s.condition) & made for s in checks) or any(exposed(loop.body, name) for name in made)


def _before_filters(value: Expr, kept: Sequence[n.Filter], axis: Axis) -> Expr:
    """What is computed of filtered arrays' elements, of those before the filters."""
    values = {of: (s, given) for s in kept for of, given in zip(s.outputs, s.values, strict=True)}

    def change(e: Expr) -> Expr | None:
        match e:
            case Load(of, (at, *more)) if of in values:
                s, given = values[of]
                if at != axis.var:
                    raise Other
                return b.substitute(given, {a.name: i for a, i in zip((*s.axes, *s.inner), (at, *more), strict=True)})
            case Var(of) if of == axis.name or of in {s.count for s in kept}:
                raise Other
            case _:
                return None

    return b.map_expr(value, change)


def _mask_over(s: n.Filter, axis: Axis) -> tuple[Expr, Expr]:
    """What a filter over one axis asks, and of how many, in terms of `axis`."""
    return b.substitute(s.mask, {s.axes[0].name: axis.var}), s.axes[0].extent


def _is_within(place: Expr, dim: Expr, walked: dict[str, Expr]) -> bool:
    """Whether a place is in an array for all that names run over."""
    if b.constant(place) is not None:
        size = b.constant(dim)
        return size is not None and 0 <= (b.constant(place) or 0) < size
    return isinstance(place, Var) and place.name in walked and b.difference(dim, walked[place.name]) == 0

"""Gather once, before the loop, what a loop gathers again and again:

    while …:                                             parallel p: x_order[p] = x[order[p]]
        i = order[last]; … x[i] …                 to     while …:
        parallel p: … x[order[p]] …                          … x_order[last] …
                                                             parallel p: … x_order[p] …

Holds where neither array changes in the loop. One pass over memory then replaces one in every iteration, and what is
left are plain vector loads. Columns of a matrix with short rows (the corners of boxes) are brought together so, too:
``x[p, 2]`` for all p is a vector only there.

The loop may read only some of the positions (those counted, or those that a condition lets through). The others may be
anything: memory that a filter has not filled, or positions outside of `x`. They are brought into `x` before they are
followed, but where it is known that all of them are positions there.

A TPU gathers whole rows so, too (`x[order[p], r]` for all r): its kernels have no gather.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_written,
    is_in_order,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_TIMES = 4
"""Iterations that read a column again, at least."""

_SHORT = 16
"""Elements of a row whose columns are brought together."""


_ALONG = Var("along", "index")
"""Stands in a subscript for a loop over all of an axis."""


def hoist_gathers(program: n.Program) -> n.Program:
    """The program with gathers that its loops in order repeat done once before them: before the outermost that changes
    neither array."""
    return _hoisted(program, rows=False)


def hoist_gathers_of_rows(program: n.Program) -> n.Program:
    """The same, of whole rows as well."""
    return _hoisted(program, rows=True)


def _hoisted(program: n.Program, rows: bool) -> n.Program:
    names = Names.of(program)
    buffers = dict(program.buffers)

    def block(body: Sequence[n.Stmt], earlier: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            if isinstance(s, (n.While, n.Loop)) and is_in_order(s):
                before, s = _Hoisting(buffers, names, s, [*earlier, *out], rows=rows).run()
                out += before
            if not (isinstance(s, n.Loop) and s.kind == "parallel"):
                s = with_bodies(s, partial(block, earlier=[*earlier, *out]))
            out.append(s)
        return tuple(out)

    return replace(program, body=block(program.body, ()), buffers=buffers)


def hoist_columns(program: n.Program) -> n.Program:
    """The program with columns of short rows brought together before parallel loops as well, each of whose iterations
    reduces them. (A CPU's vectors gain by it, not a device's threads.)"""
    names = Names.of(program)
    buffers = dict(program.buffers)

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            if not isinstance(s, n.Loop) or s.kind != "parallel":
                out.append(with_bodies(s, block))
                continue
            again = [x for x in s.body if _reduces_again(x, s)]
            before, made = _Hoisting(buffers, names, s, [], again).run() if again else ([], s)
            out += [*before, made]
        return tuple(out)

    return replace(program, body=block(program.body), buffers=buffers)


def _reduces_again(s: n.Stmt, around: n.Loop) -> bool:
    """Whether a loop reduces over the same range in each of the iterations around it."""
    if not isinstance(s, n.Loop) or s.kind != "parallel" or not any(isinstance(x, n.Accumulate) for x in walk(s.body)):
        return False
    own = scalars_set(around) | {around.axis}
    extent = b.constant(b.sub(around.stop, around.start))
    return not (variables_read(s.start) | variables_read(s.stop)) & own and (extent is None or extent >= _TIMES)


class _Hoisting:
    def __init__(
        self, buffers: dict[str, n.Buffer], names: Names, loop: n.Stmt, earlier: list[n.Stmt],
        again: Sequence[n.Stmt] = (), rows: bool = False,
    ) -> None:  # fmt: skip
        """`again`: of a parallel loop, the loops inside whose columns, and nothing but those, are brought together."""
        inside = [x for x in walk((loop,)) if isinstance(x, n.Loop) and x.start == b.ZERO and x.step == b.ONE]
        self.along = {x.axis: x.stop for x in inside if x.kind == "parallel"} if rows else {}
        self.buffers, self.names, self.loop, self.earlier = buffers, names, loop, tuple(earlier)
        self.again = again
        self.written = buffers_written(loop)
        self.changing = scalars_set(loop) | {
            s.axis for s in walk((loop,)) if isinstance(s, (n.Loop, n.Compact, n.Scanning))
        }
        self.made: dict[tuple[str, str, tuple[Expr, ...], int], str] = {}
        self.before: list[n.Stmt] = []

    def run(self) -> tuple[list[n.Stmt], n.Stmt]:
        names = {
            s.name: s.value for s in walk((self.loop,))
            if isinstance(s, n.Let) and isinstance(s.value, Load) and s.value.buffer not in self.written
        }  # fmt: skip
        for s in self.again or walk((self.loop,)):
            if isinstance(s, n.Loop) and s.kind == "parallel":
                for inner in walk(s.body):
                    for own in own_exprs(inner):
                        for e in walk_expr(own):
                            self._note(_resolved(e, names), s.axis)
        if not self.made:
            return [], self.loop
        self._gather_no_more(names)
        return self.before, self._replace(self.loop, {})

    def _match(self, e: Expr) -> tuple[str, str, tuple[Expr, ...], int, Expr, tuple[Expr, ...]] | None:
        """``x[…, index(order[at]), …]``: (x, order, the subscript with a hole, the hole, at, the axes that it
        goes along); of a column, ``x[at, 2]``, without an order."""
        if not isinstance(e, Load) or e.buffer in self.written:
            return None
        if self._is_column(e):
            return e.buffer, "", (b.ZERO, *e.index[1:]), 0, e.index[0], ()
        if self.again:
            return None
        holes = [
            (d, i.args[0].buffer, i.args[0].index[0]) for d, i in enumerate(e.index)
            if isinstance(i, Apply) and i.op == "cast" and isinstance(i.args[0], Load) and len(i.args[0].index) == 1
            and i.args[0].buffer not in self.written
        ]  # fmt: skip
        if len(holes) != 1:
            return None
        d, order, at = holes[0]
        dims = self.buffers[e.buffer].dims
        walked = {
            k for k, i in enumerate(e.index) if k != d and isinstance(i, Var) and self.along.get(i.name) == dims[k]
        }
        rest = tuple(Const(0, "index") if k == d else _ALONG if k in walked else i for k, i in enumerate(e.index))
        if any(variables_read(i) & self.changing or not isinstance(i, (Const, Var)) for i in rest):
            return None
        if len(self.buffers[order].dims) != 1 or self.buffers[order].is_reserved:
            return None
        return e.buffer, order, rest, d, at, tuple(e.index[k] for k in sorted(walked))

    def _note(self, e: Expr, axis: str) -> None:
        found = self._match(e)
        if found is None or axis not in variables_read(found[4]):
            return
        source, order, rest, d, at, _ = found
        key = (source, order, rest, d)
        if key in self.made or (not order and b.affine(at)[0].get(Var(axis)) != 1):
            return
        suffix = "_".join(str(i.value) for k, i in enumerate(rest) if k != d and isinstance(i, Const))
        name = self.names.fresh("_".join(part for part in (source, order, suffix) if part))
        self.made[key] = name
        if not order:
            self._bring_together(name, source, rest)
            return
        base = self.buffers[order]
        dims = self.buffers[source].dims
        rows = {k: Var(self.names.fresh("r"), "index") for k, i in enumerate(rest) if i == _ALONG}
        extents = (*base.dims, *(dims[k] for k in rows))
        self.buffers[name] = n.Buffer(name, self.buffers[source].dtype, extents, line=base.line)
        p = Var(self.names.fresh("p"), "index")
        at = b.cast(Load(order, (p,), base.dtype), "index")
        inside: Expr = b.TRUE
        if not self._holds_positions(base, dims[d]):
            at = b.maximum(b.minimum(at, b.sub(dims[d], b.ONE)), b.ZERO)
            inside = b.compare("greater", dims[d], b.ZERO)
        for k, i in enumerate(rest):
            if k != d and k not in rows:  # checked in the loop, which may have no iteration
                inside = b.both(inside, b.both(b.compare("greater_equal", i, b.ZERO), b.compare("less", i, dims[k])))
        stop = b.where(inside, base.dims[0], b.ZERO)
        index = tuple(at if k == d else rows.get(k, i) for k, i in enumerate(rest))
        value = Load(source, index, self.buffers[source].dtype)
        made: n.Stmt = n.Store(name, (p, *rows.values()), value, span=self.loop.span)
        for k, r in reversed(rows.items()):
            made = n.Loop(r.name, b.ZERO, dims[k], b.ONE, "parallel", (made,), span=self.loop.span)
        self.before += [
            n.Alloc(name, span=self.loop.span),
            n.Loop(p.name, b.ZERO, stop, b.ONE, "parallel", (made,), span=self.loop.span),
        ]

    def _gather_no_more(self, names: Mapping[str, Expr]) -> None:
        """Ends the gathers where all that the loop reads of them ends."""
        loops = {s.axis: s for s in walk((self.loop,)) if isinstance(s, n.Loop)}
        ends: dict[str, set[Expr | None]] = {}
        searched = [(s.axis, x) for s in loops.values() for x in s.body if isinstance(x, n.Accumulate)]
        positions: dict[str, set[Expr | None]] = {axis: {s.stop} for axis, s in loops.items()}
        for x in (x for x in walk((self.loop,)) if isinstance(x, n.Accumulate)):
            found = [axis for axis, y in searched if y is x and x.op in ("first", "last")]
            inside = bool(found) and x.position == Var(found[0], "index")
            positions.setdefault(x.name, set()).add(loops[found[0]].stop if inside else None)
        for s in walk((self.loop,)):
            for e in (e for own in own_exprs(s) for e in walk_expr(own)):
                match = self._match(_resolved(e, names))
                if match is not None and match[:4] in self.made:
                    at = match[4]
                    known = positions.get(at.name, {None}) if isinstance(at, Var) else {None}
                    ends.setdefault(self.made[match[:4]], set()).update(known)
        for k, s in enumerate(self.before):
            if isinstance(s, n.Loop) and isinstance(s.body[0], n.Store) and len(end := ends[s.body[0].buffer]) == 1:
                (stop,) = end
                if stop is not None and not variables_read(stop) & self.changing and not any(
                    isinstance(e, Load) for e in walk_expr(stop)
                ):
                    self.before[k] = replace(s, stop=b.minimum(s.stop, stop))

    def _is_column(self, e: Load) -> bool:
        """Whether an element is at a known place in one of many short rows."""
        info = self.buffers[e.buffer]
        if len(e.index) != 2 or len(info.dims) != 2 or info.is_reserved or not info.aligned:
            return False
        width, at = b.constant(info.dims[1]), b.constant(e.index[1])
        return width is not None and at is not None and 0 <= at < width and 1 < width <= _SHORT and not any(
            isinstance(x, Load) for x in walk_expr(e.index[0])
        )

    def _bring_together(self, name: str, source: str, rest: tuple[Expr, ...]) -> None:
        """Copies a column of a matrix before the loop."""
        info = self.buffers[source]
        self.buffers[name] = n.Buffer(name, info.dtype, info.dims[:1], line=info.line)
        p = Var(self.names.fresh("p"), "index")
        value = Load(source, (p, *rest[1:]), info.dtype)
        self.before += [
            n.Alloc(name, span=self.loop.span),
            n.Loop(p.name, b.ZERO, info.dims[0], b.ONE, "parallel", (
                n.Store(name, (p,), value, span=self.loop.span),
            ), span=self.loop.span),
        ]  # fmt: skip

    def _holds_positions(self, order: n.Buffer, extent: Expr) -> bool:
        """Whether every element that there is memory for is within ``range(extent)`` before the loop."""
        if order.low is None or order.high is None or not b.is_nonnegative(order.low):
            return False
        return b.at_least(extent, order.high) and any(self._fills(s, order) for s in self.earlier)

    def _fills(self, s: n.Stmt, order: n.Buffer) -> bool:
        match s:
            case n.Library(outs=outs):
                return order.name in outs
            case n.Loop(axis=axis, start=start, stop=stop, step=step, body=body):
                whole = start == b.ZERO and stop == order.dims[0] and step == b.ONE
                return whole and any(
                    isinstance(x, n.Store) and x.buffer == order.name and x.index == (Var(axis),) for x in body
                )
            case _:
                return False

    def _replace(self, s: n.Stmt, known: dict[str, Expr]) -> n.Stmt:
        """Uses of the gathered arrays, also through scalars that hold one of the indices."""

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, Load):
                return None
            found = self._match(_resolved(e, known))
            if found is not None and (name := self.made.get(found[:4])) is not None:
                return Load(name, (found[4], *found[5]), e.dtype)
            return None

        def deep(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
            around, out = dict(known), list[n.Stmt]()
            for inner in block:
                # What a name holds is no longer what its load would give when a scalar in the subscript is set anew.
                changed = scalars_set(inner)
                for name in [k for k, value in known.items() if k in changed or variables_read(value) & changed]:
                    del known[name]
                inner = map_own(inner, change)
                if isinstance(inner, n.While):  # what its head names stands in its body, too
                    both = deep((*inner.head, *inner.body))
                    head, body = both[: len(inner.head)], both[len(inner.head) :]
                    out.append(replace(inner, head=head, body=body))
                else:
                    out.append(with_bodies(inner, deep))
                if (
                    isinstance(inner, n.Let)
                    and isinstance(inner.value, Load)
                    and inner.value.buffer not in self.written
                    and inner.name not in variables_read(inner.value)
                ):
                    known[inner.name] = inner.value
            known.clear()
            known.update(around)
            return tuple(out)

        return deep((s,))[0]


def _resolved(e: Expr, names: Mapping[str, Expr]) -> Expr:
    """A load with what names in its subscript stand for."""
    if not isinstance(e, Load):
        return e
    index = (b.map_expr(i, lambda v: names.get(v.name) if isinstance(v, Var) else None) for i in e.index)
    return Load(e.buffer, tuple(index), e.dtype)

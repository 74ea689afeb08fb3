"""Updates of a matrix that a loop in order only adds to wait for each other:

    for i in 0 .. n:                                  for i_block in 0 .. n by 64:
        for j in 0 .. m: d[j] = x[i, j] - mean[j]         for i in i_block .. i_block + 64:
        for j in 0 .. m:                                      for j in 0 .. m: d[j] = x[i, j] - mean[j]
            for k in 0 .. m:                  to              for j in 0 .. m: rows[i - i_block, j] = d[j]
                c[j, k] += d[j] * d[k]                    for i in i_block .. i_block + 64:
                                                              for j in 0 .. m:
                                                                  for k in 0 .. m:
                                                                      c[j, k] += rows[i - i_block, j] * rows[…, k]

An update of rank one (`c += np.outer(d, d)`) goes through all of the matrix for one operation an element. Behind a
block of iterations it is a loop in order of lanes alone, which goes inside them (`lanes_outside`): an element stays in
a register for the whole block. That is so however what goes into it is made, and named: where it is made by iterations
in order (means that follow their data, gradients through time) as well. Of what an iteration has made by then, rows
keep a copy (array expansion), variables an element.

Legal where nothing else in the loop touches the matrix, and where nobody sees it if an iteration raises an error. What
is copied has fewer axes than the nest that reads it; an array of as many is as soon gone through itself. Several nests
of one matrix (of two iterations whose arrays have changed places) wait as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from transkern.analysis.verdicts import MakingWalk
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.fuse.schedule.interchange import are_few, nest_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_allocated,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace

_TOGETHER = 64
"""Iterations that wait: a matrix is loaded and stored once for as many, and what they keep stays in the cache."""
_LONGEST = 16384
"""Elements of a row at most: so many iterations' rows are a few megabytes still."""
_MAY_RAISE = (n.Guard, n.Library)


def defer_updates(program: n.Program) -> n.Program:
    """The program in which updates of matrices that nothing else in their loop touches are made behind blocks of
    iterations."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Deferring(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


class _Deferring(MakingWalk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential" and len(s.body) > 1 and not _leaves(s):
            step, extent = b.constant(s.step) or 0, b.constant(b.sub(s.stop, s.start))
            if 0 < step < _TOGETHER and (extent is None or extent >= _TOGETHER):
                groups = [g for g in _by_matrix(s.body) if self.may_wait(g, s)]
                if groups:
                    return [self.where_short(s, self.deferred(s, groups, _TOGETHER - _TOGETHER % step))]
        return [self.inside(s)]

    def may_wait(self, nests: Sequence[n.Loop], around: n.Loop) -> bool:
        """Whether nests of `around` update a matrix with what has fewer axes, and may do so later."""
        updated = buffers_written(nests[0])
        read = frozenset[str]().union(*map(buffers_used, nests))
        others = _without(around.body, nests)
        if any(updated & (buffers_used(x) | buffers_written(x) | buffers_allocated(x)) for x in others):
            return False
        if any(isinstance(x, _MAY_RAISE) for x in walk(others)) and any(
            self.buffers[name].role == "argument" for name in updated
        ):
            return False
        changed, written = _changed(others) | {around.axis}, _written(others)
        made = read & written
        sizes = [e for nest in nests for x in nest_of(nest) for e in (x.start, x.stop)]
        sizes += [d for name in made for d in self.buffers[name].dims]
        if any(variables_read(e) & changed or buffers_read(e) & written for e in sizes):
            return False
        if any(scalars_used(x) & _changed(others) - self.types(around).keys() for x in nests):
            return False
        loads = [(e, nest) for nest in nests for e in _loads(nest) if e.buffer in made]
        return bool(loads) and all(self.is_row(e, nest_of(nest)) for e, nest in loads)

    def is_row(self, e: Load, loops: Sequence[n.Loop]) -> bool:
        """Whether an array of fewer axes than the nest has is read along some of these, as a whole."""
        made, spans = self.buffers[e.buffer], {x.axis: x for x in loops}
        axes = [spans.get(i.name) if isinstance(i, Var) else None for i in e.index]
        return (
            len(made.dims) == len(axes) < len(loops)
            and all(x is not None and x.start == b.ZERO and x.stop == d for x, d in zip(axes, made.dims, strict=True))
            and len({i.name for i in e.index if isinstance(i, Var)}) == len(axes)
        )

    def where_short(self, s: n.Loop, made: n.Loop) -> n.Stmt:
        """The loop as `made`, if what it keeps of an iteration is short enough."""
        rows = [b.product(self.buffers[x.buffer].dims[1:]) for x in made.body if isinstance(x, n.Alloc)]
        asked = [e for e in dict.fromkeys(rows) if b.constant(e) is None]
        short = [b.compare("less_equal", e, b.index(_LONGEST)) for e in asked]
        if not short:
            return made
        made = with_own_names(made, self.names, self.variables, self.buffers)
        return n.If(reduce(b.both, short), (made,), (s,), span=s.span)

    def deferred(self, s: n.Loop, groups: Sequence[Sequence[n.Loop]], together: int) -> n.Loop:
        """Blocks of the iterations of `s`: without the nests that wait, and then with these alone."""
        block = Var(self.names.fresh(f"{s.axis}_block"))
        size, at = b.index(together), b.sub(Var(s.axis), block)
        types = self.types(s)
        waiting = [x for g in groups for x in g]
        others = _without(s.body, waiting)
        changed, written = _changed(others), _written(others)
        same: dict[str, Expr] = {}  # names of what is as well computed again
        kept: dict[str, str] = {}  # what rows know of the present iteration
        allocs: list[n.Stmt] = []
        rows: list[n.Stmt] = []
        late: dict[int, n.Stmt] = {}

        def keep(name: str, dtype: str, dims: tuple[Expr, ...] = ()) -> str:
            kept[name] = self.names.fresh(f"{name}_rows")
            self.buffers[kept[name]] = n.Buffer(kept[name], dtype, (size, *dims), line=s.span.line)
            allocs.append(n.Alloc(kept[name], span=s.span))
            return kept[name]

        def later(e: Expr) -> Expr | None:
            match e:
                case Var(name, dtype):
                    return Load(kept[name], (at,), dtype) if name in kept else same.get(name)
                case Load(name, index, dtype) if name in kept:
                    return Load(kept[name], (at, *index), dtype)
                case _:
                    return None

        for x in s.body:
            if not any(x is y for y in waiting):
                rows.append(x)
                for name in _changed((x,)) | _written((x,)) | buffers_allocated(x):
                    kept.pop(name, None)
                if isinstance(x, n.Let):
                    value = b.substitute(x.value, same)
                    if not variables_read(value) & changed and not buffers_read(value) & written:
                        same[x.name] = value
                continue
            for name in sorted(scalars_used(x) & changed - same.keys() - kept.keys()):
                rows.append(n.Store(keep(name, types[name]), (at,), Var(name, types[name]), span=x.span))
            for name in sorted(buffers_used(x) & written - kept.keys()):
                made = self.buffers[name]
                rows.append(self.copied(made, keep(name, made.dtype, made.dims), at, x))
            (late[id(x)],) = map_block((x,), later)
        stop = b.minimum(b.add(block, size), s.stop)
        loops = [replace(s, start=block, stop=stop, body=tuple(rows))]
        for g in groups:
            nests = [late[id(x)] for x in g]
            last = replace(s, start=block, stop=stop, body=(_together([x for x in nests if isinstance(x, n.Loop)]),))
            loops.append(with_own_names(last, self.names, self.variables, self.buffers))
        return replace(s, axis=block.name, step=size, body=(*allocs, *loops))

    def types(self, s: n.Loop) -> dict[str, str]:
        """The types of what is known in an iteration."""
        types = {x.name: x.value.dtype for x in s.body if isinstance(x, (n.Let, n.Assign))} | self.variables
        return types | {x.name: x.dtype for x in s.body if isinstance(x, n.Accumulator)}

    def copied(self, made: n.Buffer, rows: str, at: Expr, nest: n.Stmt) -> n.Stmt:
        """What `made` is in this iteration, into its row."""
        axes = [Var(self.names.fresh("e")) for _ in made.dims]
        stmt: n.Stmt = n.Store(rows, (at, *axes), Load(made.name, tuple(axes), made.dtype), span=nest.span)
        for axis, extent in reversed(list(zip(axes, made.dims, strict=True))):
            stmt = n.Loop(axis.name, b.ZERO, extent, b.ONE, "parallel", (stmt,), span=nest.span)
        return stmt


def _by_matrix(block: Iterable[n.Stmt]) -> list[list[n.Loop]]:
    """Nests that update matrices; those of the same ones together, where an element's updates are its own."""
    found: dict[object, list[n.Loop]] = {}
    for x in block:
        if isinstance(x, n.Loop) and _is_update(x):
            updated = buffers_written(x)
            places = {e.index for e in _loads(x) if e.buffer in updated} | {
                y.index for y in nest_of(x)[-1].body if isinstance(y, n.Store)
            }
            axes = tuple(Var(y.axis) for y in nest_of(x))
            spans = tuple((y.start, y.stop) for y in nest_of(x)) if places == {axes} else id(x)
            found.setdefault((updated, spans), []).append(x)
    return list(found.values())


def _is_update(nest: n.Loop) -> bool:
    """Whether a nest of parallel loops changes all that it stores, and has more points than are written out."""
    loops = nest_of(nest)
    return (
        len(loops) > 1
        and not are_few(nest)
        and all(x.kind == "parallel" and x.step == b.ONE for x in loops)
        and all(isinstance(x, (n.Let, n.Store)) for x in loops[-1].body)
        and buffers_written(nest) <= buffers_used(nest)
    )


def _together(nests: Sequence[n.Loop]) -> n.Loop:
    """One nest that does what nests over the same ranges do, element by element."""
    loops = nest_of(nests[0])
    body = list(loops[-1].body)
    for other in nests[1:]:
        axes = {x.axis: y.axis for x, y in zip(nest_of(other), loops, strict=True)}
        body += with_names(nest_of(other)[-1].body, axes)
    nest = replace(loops[-1], body=tuple(body))
    for x in reversed(loops[:-1]):
        nest = replace(x, body=(nest,))
    return nest


def _leaves(s: n.Loop) -> bool:
    return any(isinstance(x, (n.Break, n.Continue, n.Return)) for x in walk(s.body))


def _without(block: Iterable[n.Stmt], nests: Iterable[n.Loop]) -> list[n.Stmt]:
    waiting = set(map(id, nests))
    return [x for x in block if id(x) not in waiting]


def _changed(block: Iterable[n.Stmt]) -> set[str]:
    return {name for x in block for name in scalars_set(x)}


def _written(block: Iterable[n.Stmt]) -> set[str]:
    return {name for x in block for name in buffers_written(x)}


def _loads(nest: n.Loop) -> list[Load]:
    return [e for x in exprs((nest,)) for e in walk_expr(x) if isinstance(e, Load)]

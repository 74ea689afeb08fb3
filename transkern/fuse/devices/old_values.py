"""A loop that stores only what no later iteration reads computes all of its values before it stores them:

    for j in 0 .. i + 1:                              parallel j in 0 .. i + 1:
        v[j] = p * v[j + 1] + q * v[j]      to            made[j] = p * v[j + 1] + q * v[j]
                                                      parallel j in 0 .. i + 1: v[j] = made[j]

- *Property.* A loop in order has one store, at its end, into another element each time: prices of options going
  back in a tree, a knapsack that is filled from its end, elements that move up.
- *Legality.* No iteration reads what an earlier one has stored: what it reads was there before the loop (isl). Where
  the sign of a distance decides that, which is known before the loop, both versions are there.
- *Schedule.* In order, one thread had it. The array takes memory, and a barrier more; short loops stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from transkern.analysis.splitting import before_loop
from transkern.analysis.verdicts import MakingWalk, Verdict
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import (
    buffers_allocated,
    buffers_read,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_SHORT = 32
"""Iterations up to which a thread alone is as fast."""


def compute_before_stores(program: n.Program) -> n.Program:
    """The program with such loops as two, of which each is parallel."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Apart(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Values:
    """The store of a loop, the names that it needs, the dimension along which it goes, and where that decides."""

    lets: tuple[n.Stmt, ...]
    store: n.Store
    dim: int


class _Apart(MakingWalk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.around: list[n.Loop | n.While] = []
        self.made: list[n.Stmt] = []  # memory that the outermost loop needs

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop | n.While):
            return [self.inside(s)]
        if isinstance(s, n.Loop):
            if s.kind != "sequential" or s.fails:
                return [s]
            values = self.values(s)
            if values is not None:
                made = self.apart(s, values)
                if made is not None:
                    return made if self.around else [*self.taken(), *made]
        self.around.append(s)
        inner = self.inside(s)
        self.around.pop()
        return [inner] if self.around else [*self.taken(), inner]

    def taken(self) -> list[n.Stmt]:
        made, self.made = self.made, []
        return made

    def values(self, s: n.Loop) -> _Values | None:
        """What a loop in order stores; None where it does anything else, or is short."""
        extent = b.constant(b.sub(s.stop, s.start))
        if abs(b.constant(s.step) or 0) != 1 or (extent is not None and abs(extent) <= _SHORT) or not s.body:
            return None
        *lets, last = s.body
        if isinstance(last, n.If) and not last.orelse and last.then:
            *inner, store = last.then
            if not isinstance(store, n.Store):
                return None
            old = Load(store.buffer, store.index, store.value.dtype)
            lets, last = [*lets, *inner], replace(store, value=b.where(last.condition, store.value, old))
            if any(isinstance(x, n.Let) and _may_not_be_there(x.value) for x in inner):
                return None
        if not isinstance(last, n.Store) or last.atomic or not all(isinstance(x, n.Let) for x in lets):
            return None
        places = {x.name: x.value for x in lets if isinstance(x, n.Let) and x.value.dtype == "index"}
        places = {name: e for name, e in places.items() if not buffers_read(e)}
        if places:  # so that it can be seen which elements they are

            def place(e: Expr) -> Expr | None:
                return b.map_expr(places[e.name], place) if isinstance(e, Var) and e.name in places else None

            *lets, last = map_block((*(x for x in lets if x.name not in places), last), place)  # type: ignore[union-attr]
            assert isinstance(last, n.Store)
        bound = {x.name for x in lets if isinstance(x, n.Let)}
        along = [k for k, e in enumerate(last.index) if s.axis in variables_read(e)]
        info = self.buffers[last.buffer]
        if len(along) != 1 or len(last.index) != len(info.dims) or info.is_reserved or info.element:
            return None
        if abs(b.affine(last.index[along[0]])[0].get(Var(s.axis, "index"), 0)) != 1:
            return None
        if any(variables_read(e) & bound or buffers_read(e) for e in last.index):
            return None
        read = [e.index for e in exprs((*lets, last)) if isinstance(e, Load) and e.buffer == last.buffer]
        if all(index == last.index for index in read):
            return None
        return _Values(tuple(lets), last, along[0])

    def apart(self, s: n.Loop, values: _Values) -> list[n.Stmt] | None:
        """The two loops, in a choice with the one as it was where the run decides."""
        verdict = self.judged(s)
        if verdict.meeting is None or not verdict.by_memory_alone or verdict.raises:
            return None
        facts = self.facts_for(s, verdict)
        info = self.buffers[values.store.buffer]
        dim = info.dims[values.dim]
        outermost = self.around[0] if self.around else s
        if facts is None or values.store.buffer in buffers_allocated(outermost):
            return None
        inside = scalars_set(outermost) | {x.axis for x in walk((outermost,)) if isinstance(x, n.Loop)}
        if variables_read(dim) & {*inside, *self.variables} or buffers_read(dim):
            return None
        made = self.names.fresh(f"{values.store.buffer.partition('.')[0]}_made")
        self.buffers[made] = n.Buffer(made, values.store.value.dtype, (dim,), line=s.span.line)
        self.made.append(n.Alloc(made, span=s.span))
        at = (values.store.index[values.dim],)
        first = replace(s, body=(*values.lets, replace(values.store, buffer=made, index=at)))
        second = replace(s, body=(replace(values.store, value=Load(made, at, values.store.value.dtype)),))
        second = with_own_names(second, self.names, self.variables, self.buffers)
        if not facts:
            return [first, second]
        condition: Expr = b.TRUE
        for fact in facts:
            condition = b.both(condition, fact)
        plain = with_own_names(s, self.names, self.variables, self.buffers)
        return [n.If(condition, (first, second), (plain,), span=s.span)]

    def facts_for(self, s: n.Loop, verdict: Verdict) -> list[Expr] | None:
        """Conditions under which no iteration reads what an earlier one has stored; none where that is so in any
        case, None where nothing is found that makes it so."""
        facts: list[Expr] = []
        carried = verdict.carried
        for meeting in carried.meetings():
            if meeting.kind == "anti":
                continue
            if meeting.kind == "output":
                return None
            places = zip(meeting.first.index or (), meeting.second.index or (), strict=False)
            gaps = [b.sub(y, x) for x, y in places if x != y]
            gap = before_loop(gaps[0], carried.body.lets) if len(gaps) == 1 else None
            if gap is None or b.constant(gap) is not None or not carried.fixed(gap) or buffers_read(gap):
                return None
            # what is read lies behind in the loop's direction
            facts.append(b.compare("greater_equal" if carried.level.step > 0 else "less_equal", gap, b.ZERO))
        facts = list(dict.fromkeys(facts))
        if not facts:
            return facts
        found = self.judged(s, facts)
        return facts if all(m.kind == "anti" for m in found.carried.meetings()) else None


def _may_not_be_there(e: Expr) -> bool:
    """Whether a value must not be computed where nobody asks for it."""
    return any(
        isinstance(x, Load) or (isinstance(x, Apply) and x.op in ("floor_divide", "remainder")) for x in walk_expr(e)
    )

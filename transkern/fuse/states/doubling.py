"""Next states that change places with a copy, so that no iteration has to put its values somewhere first.

    sequential t in 0 .. steps:                 v[i] = u[i]  for i < n
        write u[i + 1] = f(u[i], u[i + 2])      sequential t in 0 .. steps by 2:
                                          to        write v[i + 1] = f(u[i], u[i + 2])
                                                    write u[i + 1] = f(v[i], v[i + 2])

The copy is made before the loop: what is not stored into is the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.states.reading import shared_bases
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, own_exprs, variables_read, walk_expr, with_bodies
from transkern.records import replace

_AXES = ("ii", "jj", "kk", "ll", "mm", "pp", "qq", "rr")


_ENOUGH = 4
"""Iterations from which on a copy of the state pays."""


def double_buffer(program: n.Program) -> n.Program:
    """The program whose loops, where all they do is to compute an array's next state from its last one, compute it in
    another array, and the one after that in the first."""
    doubling = _Doubling(program)
    body = doubling.block(program.body)
    return replace(program, body=body, buffers=doubling.buffers)


class _Doubling:
    def __init__(self, program: n.Program) -> None:
        self.buffers = dict(program.buffers)
        self.names = Names.of(program)
        self.shared = shared_bases(program)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            found = self._doubled(s) if isinstance(s, n.Loop) else None
            out += found if found is not None else [with_bodies(s, self.block)]
        return tuple(out)

    def _doubled(self, loop: n.Loop) -> list[n.Stmt] | None:
        store = _state(loop)
        if store is None or store.buffer in self.shared:  # memory that arguments share has no size of its own
            return None
        state = self.buffers[store.buffer]
        other = replace(
            state, name=self.names.fresh(f"{store.buffer}_next"), role="temporary", layout="C", line=loop.span.line,
            aligned=True, permutation=False,
        )  # fmt: skip
        if state.is_reserved or len(state.dims) > len(_AXES):
            return None
        self.buffers[other.name] = other
        axes = tuple(Axis(self.names.fresh(a), d) for a, d in zip(_AXES, state.dims, strict=False))
        index = tuple(a.var for a in axes)
        copy = n.Define(other.name, axes, Load(state.name, index, state.dtype), span=loop.span)
        count = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        pairs = b.sub(count, b.mod(count, b.index(2)))
        second = {loop.axis: b.add(Var(loop.axis, "index"), b.ONE)}
        one = self._step(loop.body, store, state.name, other.name, {})
        two = self._step(loop.body, store, other.name, state.name, second)
        last = self._step(loop.body, store, state.name, state.name, {loop.axis: b.add(loop.start, pairs)})
        checks = tuple(s for s in loop.body if isinstance(s, n.Guard))
        by_two = replace(loop, stop=b.add(loop.start, pairs), step=b.index(2), body=(*checks, *one, *two))
        rest = n.If(b.compare("equal", b.mod(count, b.index(2)), b.ONE), last, span=loop.span)
        many = b.compare("greater_equal", count, b.index(_ENOUGH))
        return [n.If(many, (copy, by_two, rest), (loop,), span=loop.span)]

    def _step(
        self, body: Sequence[n.Stmt], store: n.Write, old: str, new: str, at: dict[str, Expr]
    ) -> tuple[n.Stmt, ...]:
        """An iteration without its checks, that stores the state into `new`, from that in `old`, with its own names."""
        names, out = dict(at), list[n.Stmt]()

        def moved(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer == store.buffer:
                return Load(old, e.index, e.dtype)
            return None

        for s in body:
            match s:
                case n.Let(name, value):
                    own = self.names.fresh(name)
                    out.append(replace(s, name=own, value=b.substitute(value, names)))
                    names[name] = Var(own, value.dtype)
                case n.Assign(_, value):
                    out.append(replace(s, value=b.substitute(value, names)))
                case n.Write():
                    axes = tuple(
                        Axis(self.names.fresh(a.name.split("_")[0]), b.substitute(a.extent, names)) for a in s.axes
                    )
                    names |= {a.name: x.var for a, x in zip(s.axes, axes, strict=True)}
                    index = tuple(b.substitute(i, names) for i in s.index)
                    value = b.map_expr(b.substitute(s.value, names), moved)
                    out.append(replace(s, buffer=new, axes=axes, index=index, value=value))
        return tuple(out)


def _state(loop: n.Loop) -> n.Write | None:
    """The one store of a loop that computes an array's next state from its last one: always into the same elements,
    of others than those that they replace."""
    if loop.kind != "sequential" or b.constant(loop.step) != 1 or loop.fails:
        return None
    stores = [s for s in loop.body if not isinstance(s, (n.Guard, n.Let, n.Assign))]
    if len(stores) != 1 or not isinstance(stores[0], n.Write) or stores[0].mask is not None:
        return None
    store = stores[0]
    if any(isinstance(x, Reduce) for e in own_exprs(store) for x in walk_expr(e)):
        return None
    loads = [x for x in walk_expr(store.value) if isinstance(x, Load) and x.buffer == store.buffer]
    where = (*store.index, *(a.extent for a in store.axes), loop.start, loop.stop)
    scalars = [s for s in loop.body if isinstance(s, (n.Let, n.Assign))]
    changing = {loop.axis, *(s.name for s in scalars)}
    fixed = (*where, *exprs(s for s in loop.body if isinstance(s, n.Guard)))
    if any(store.buffer in buffers_read(e) or changing & variables_read(e) for e in fixed):
        return None
    if any(store.buffer in buffers_read(s.value) for s in scalars):
        return None
    if all(x.index == store.index for x in loads) or any(
        store.buffer in buffers_read(i) for x in loads for i in x.index
    ):
        return None
    return store

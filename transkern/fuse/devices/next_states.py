"""Next states in arrays of their own, which change places with those of the last states:

    sequential t in 0 .. steps:                    sequential t in 0 .. steps by 2:
        define w[i] = u[i] * v[i]                      define w[i] = u[i] * v[i]
        write u[i] = f(u[i - 1], w[i])       to        write u_next[i] = f(u[i - 1], w[i])
        write v[i] = g(v[i + 1], w[i])                 write v_next[i] = g(v[i + 1], w[i])
                                                       define w_1[i] = u_next[i] * v_next[i]
                                                       write u[i] = f(u_next[i - 1], w_1[i])
                                                       …

A state that neighbours read has to be put somewhere before it is stored, and the threads of a grid meet between: twice
a step. Here they meet once, nothing is copied, and what reads the last states of several arrays is one loop. What no
iteration stores is copied before the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from transkern.fuse.lowering.copies import with_arrays, with_own_names
from transkern.fuse.states.reading import shared_bases, touched
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, map_statement, own_exprs, variables_read, walk, walk_expr
from transkern.records import replace

_AXES = ("ii", "jj", "kk", "ll", "mm", "pp", "qq", "rr")
_WITHIN = (n.Define, n.Write, n.Let, n.Assign, n.Guard)
"""What may stand in an iteration."""
_STATEMENTS = 24
"""Of an iteration, without checks, at most: it is written three times."""


def double_states(program: n.Program) -> n.Program:
    """The program whose outermost loops in order compute next states in other arrays."""
    doubling = _Doubling(program)
    body = doubling.block(program.body)
    return replace(program, body=body, variables=doubling.variables, buffers=doubling.buffers)


class _Doubling:
    def __init__(self, program: n.Program) -> None:
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.names = Names.of(program)
        self.shared = shared_bases(program)
        self.touched = Counter(name for s in walk(program.body) for name in touched(s))

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.If):
                out.append(replace(s, then=self.block(s.then), orelse=self.block(s.orelse)))
            else:
                out += (isinstance(s, n.Loop) and self._doubled(s)) or [s]
        return tuple(out)

    def _doubled(self, loop: n.Loop) -> list[n.Stmt]:
        """The loop with two iterations in each, and the last one where their number is odd; nothing where it has no
        states."""
        states = self._states(loop)
        if not states:
            return []
        first = list[n.Stmt]()
        other: dict[str, str] = {}
        for store in states:
            state = self.buffers[store.buffer]
            made = replace(
                state, name=self.names.fresh(f"{store.buffer}_next"), role="temporary", layout="C",
                line=loop.span.line, aligned=True, permutation=False,
            )  # fmt: skip
            self.buffers[made.name], other[state.name] = made, made.name
            if _is_whole(store, state):
                first.append(n.Alloc(made.name, span=loop.span))
            else:
                axes = tuple(Axis(self.names.fresh(a), d) for a, d in zip(_AXES, state.dims, strict=False))
                value = Load(state.name, tuple(a.var for a in axes), state.dtype)
                first.append(n.Define(made.name, axes, value, span=loop.span))
        count = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        odd = b.mod(count, b.index(2))
        pairs = b.sub(count, odd)
        back = {new: old for old, new in other.items()}
        checks = tuple(s for s in loop.body if isinstance(s, n.Guard))
        rest = replace(loop, body=tuple(s for s in loop.body if not isinstance(s, n.Guard)))
        axis = Var(loop.axis, "index")
        one = self._iteration(rest, axis, {name: name for name in other}, other)
        two = self._iteration(self._copy(rest), b.add(axis, b.ONE), other, back)
        own = {name: name for name in other}
        last = self._iteration(self._copy(rest), b.add(loop.start, pairs), own, own)
        by_two = replace(loop, stop=b.add(loop.start, pairs), step=b.index(2), body=(*checks, *one, *two))
        is_odd = b.compare("equal", odd, b.ONE)
        return [*first, by_two, n.If(is_odd, (*checks, *last), span=loop.span)]

    def _copy(self, loop: n.Loop) -> n.Loop:
        return with_own_names(loop, self.names, self.variables, self.buffers)

    def _iteration(
        self, loop: n.Loop, at: Expr, old: Mapping[str, str], new: Mapping[str, str]
    ) -> tuple[n.Stmt, ...]:
        """The iteration `at`, which reads each state in the array `old` until it has stored the next one, in `new`: of
        the name in `old` where that has changed its name already."""
        now, out = dict(old), list[n.Stmt]()
        for s in loop.body:
            (moved,) = with_arrays((s,), now)
            if isinstance(s, n.Write) and isinstance(moved, n.Write) and s.buffer in old:
                now[s.buffer] = new[old[s.buffer]]
                moved = replace(moved, buffer=now[s.buffer])
            out.append(map_statement(moved, lambda e: at if e == Var(loop.axis, "index") else None))
        return tuple(out)

    def _states(self, loop: n.Loop) -> list[n.Write]:
        """The stores that may go into other arrays; none, where no state is read at another element than its own."""
        if loop.kind != "sequential" or b.constant(loop.step) != 1 or loop.fails:
            return []
        inside = [s for s in loop.body if not isinstance(s, n.Guard)]
        if len(inside) > _STATEMENTS or not all(isinstance(s, _WITHIN) for s in loop.body):
            return []
        if any(isinstance(x, Reduce) for e in exprs(inside) for x in walk_expr(e)):
            return []
        stored = Counter(s.buffer for s in inside if isinstance(s, n.Write))
        changing = {loop.axis, *(s.name for s in inside if isinstance(s, (n.Let, n.Assign)))}
        changed = stored.keys() | {s.buffer for s in inside if isinstance(s, n.Define)}
        for s in inside:  # what an iteration makes is its own
            made = s.buffer if isinstance(s, n.Define) else ""
            if made and (stored[made] or self.touched[made] != sum(made in touched(x) for x in inside)):
                return []
            if isinstance(s, n.Let) and s.name in self.variables:
                return []

        def stays(e: Expr) -> bool:
            return not (buffers_read(e) & changed or variables_read(e) & changing)

        checks = exprs(s for s in loop.body if isinstance(s, n.Guard))
        if not all(stays(e) for e in (loop.start, loop.stop, *checks)):
            return []
        found = [s for s in inside if isinstance(s, n.Write) and stored[s.buffer] == 1 and self._may_double(s)]
        found = [s for s in found if all(stays(e) for e in (*s.index, *(a.extent for a in s.axes)))]
        names = {s.buffer for s in found}
        for s in inside:
            for x in (x for e in own_exprs(s) for x in walk_expr(e) if isinstance(x, Load) and x.buffer in names):
                if isinstance(s, (n.Let, n.Assign)) or any(variables_read(i) & changing for i in x.index):
                    return []  # a step acts on the others through one element
        return found if any(_is_in_the_way(inside, s) for s in found) else []

    def _may_double(self, store: n.Write) -> bool:
        state = self.buffers[store.buffer]
        return not bool(
            store.mask is not None or store.buffer in self.shared or state.is_reserved
            or state.element or len(state.dims) > len(_AXES)
        )  # fmt: skip


def _is_in_the_way(inside: Sequence[n.Stmt], store: n.Write) -> bool:
    """Whether the last state is read at other elements than a statement's own, up to where the next one is stored, and
    threads would not meet there anyway: two arrays that are made of each other in turn have nothing to put aside."""
    at = next(k for k, s in enumerate(inside) if s is store)
    for first in range(at + 1):
        if store.buffer not in _read_elsewhere(inside[first]):
            continue
        made = set[str]()
        for s in inside[first : at + 1]:
            if _read_elsewhere(s) & made:
                break
            made |= {s.buffer} if isinstance(s, (n.Define, n.Write)) else set()
        else:
            return True
    return False


def _read_elsewhere(s: n.Stmt) -> set[str]:
    """The arrays of which a statement reads other elements than its own."""
    at = s.index if isinstance(s, n.Write) else tuple(a.var for a in getattr(s, "axes", ()))
    return {x.buffer for e in own_exprs(s) for x in walk_expr(e) if isinstance(x, Load) and x.index != at}


def _is_whole(store: n.Write, state: n.Buffer) -> bool:
    """Whether each element of the state is stored."""
    return store.index == tuple(a.var for a in store.axes) and tuple(a.extent for a in store.axes) == state.dims

"""States that hand their arrays on change names, and nothing is copied:

    sequential t in 0 .. steps:                  sequential t in 0 .. steps by 3:
        next[i] = f(u[i - 1], u[i + 1], v[i])        next[i] = f(u[i - 1], u[i + 1], v[i])
        write v[i] = u[i]                   to       write v[i] = f(next[i - 1], next[i + 1], u[i])
        write u[i] = next[i]                         write u[i] = f(v[i - 1], v[i + 1], next[i])

That is for elements which meet others (neighbours, sums): where each goes its own way, it is a variable of a loop over
the steps, inside a loop over the elements, and nothing is copied anyhow (`lanes_outside`).

What an iteration makes anew has nothing to lose, so that names and memory go round: after as many iterations as there
are arrays on a round, each name is where it was. What is left of the iterations copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from transkern.fuse.lowering.copies import with_arrays, with_own_names
from transkern.fuse.states.reading import shared_bases, touched, whole_copy
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_statement, own_exprs, walk, walk_expr, with_bodies
from transkern.records import replace

_ROUND = 3
"""Arrays on a round, at most: as often the iteration is written."""

_STATEMENTS = 24
"""Of an iteration, without checks, at most."""

_WITHIN = (n.Alloc, n.Define, n.Write, n.Store, n.Let, n.Assign, n.If)
"""What may stand in it: nothing that leaves it."""


def rotate_states(program: n.Program) -> n.Program:
    """The program whose loops in order do not copy what they hand on."""
    rotating = _Rotating(program)
    body = rotating.block(program.body)
    return replace(program, body=body, variables=rotating.variables, buffers=rotating.buffers)


class _Rotating:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.shared = shared_bases(program)
        self.touched = Counter(name for s in walk(program.body) for name in touched(s))

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            found = self._rotated(s) if isinstance(s, n.Loop) else None
            out += found if found is not None else [with_bodies(s, self.block)]
        return tuple(out)

    def _rotated(self, loop: n.Loop) -> list[n.Stmt] | None:
        copies = self._copies(loop)
        if not copies:
            return None
        body = loop.body[: len(loop.body) - len(copies)]
        turn = self._turn(body, copies)
        if turn is None or not any(_meet(s, turn) for s in walk(body)):
            return None
        steps = [{name: name for name in turn}]
        while (last := {name: turn[at] for name, at in steps[-1].items()}) != steps[0]:
            steps.append(last)
        if len(steps) > _ROUND:
            return None
        count = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        rounds = b.add(loop.start, b.sub(count, b.mod(count, b.index(len(steps)))))
        made: list[n.Stmt] = []
        for k, at in enumerate(steps):
            made += self._iteration(replace(loop, body=body), k, at)
        by_rounds = replace(loop, stop=rounds, step=b.index(len(steps)), body=tuple(made))
        rest = with_own_names(loop, self.names, self.variables, self.buffers)
        return [by_rounds, replace(rest, start=rounds)]

    def _copies(self, loop: n.Loop) -> list[tuple[str, str]]:
        """The copies with which the iterations of a loop end, of whole arrays: each one's, and whose it is of."""
        if loop.kind != "sequential" or b.constant(loop.step) != 1 or loop.fails:
            return []
        found: list[tuple[str, str]] = []
        for s in reversed(loop.body):
            copy = whole_copy(s, self.buffers) if isinstance(s, n.Write) else None
            if copy is None:
                break
            found.insert(0, copy)
        inside = [s for s in walk(loop.body) if not isinstance(s, n.Guard)]  # which all iterations share, or are cheap
        return found if len(inside) <= _STATEMENTS and all(isinstance(s, _WITHIN) for s in inside) else []

    def _turn(self, body: Sequence[n.Stmt], copies: Sequence[tuple[str, str]]) -> dict[str, str] | None:
        """In which array each of those that take part is one iteration later; `body` is the rest of an iteration."""
        now: dict[str, str] = {}
        for to, of in copies:
            now[to] = now.get(of, of)
        arrays = dict.fromkeys((*now, *now.values()))
        if len(set(now.values())) != len(now):
            return None
        anew = [name for name in arrays if name not in now]
        for name in arrays:
            info = self.buffers[name]
            if info.role == "argument" or info.is_reserved or info.layout != "C" or name in self.shared:
                return None
        for name in anew:
            inside = sum(name in touched(s) for s in walk(body)) + sum(name in copy for copy in copies)
            first = next((s for s in body if any(name in touched(x) for x in walk((s,)))), None)
            if not isinstance(first, (n.Alloc, n.Define)) or self.touched[name] != inside:
                return None
        free = [name for name in arrays if name not in now.values()]
        return now | dict(zip(anew, free, strict=True))

    def _iteration(self, loop: n.Loop, k: int, at: Mapping[str, str]) -> list[n.Stmt]:
        """The iteration of number `k` on a round, with its arrays where they are then."""
        others = {name: info for name, info in self.buffers.items() if name not in at}
        one = with_own_names(loop, self.names, self.variables, others) if k else loop
        self.buffers |= others
        now = {one.axis: b.add(Var(loop.axis, "index"), b.index(k))}
        out: list[n.Stmt] = []
        for s in with_arrays(one.body, at):
            s = map_statement(s, lambda e: now.get(e.name) if isinstance(e, Var) else None)
            if k and isinstance(s, n.Alloc) and s.buffer in at:
                continue  # it is there already
            if k and isinstance(s, n.Define) and s.buffer in at:
                s = n.Write(s.buffer, s.axes, tuple(a.var for a in s.axes), s.value, span=s.span)
            out.append(s)
        return out


def _meet(s: n.Stmt, arrays: Container[str]) -> bool:
    """Whether a statement looks at another element of one of the arrays than at its own."""
    own = tuple(a.var for a in getattr(s, "axes", ()))
    return any(
        isinstance(e, Load) and e.buffer in arrays and e.index != own for x in own_exprs(s) for e in walk_expr(x)
    )

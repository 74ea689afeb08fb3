"""What is the same for all lanes of a body: values, bounds of loops, branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import bodies, buffers_read, buffers_written, exprs, scalars_set, variables_read, walk


def has_uniform_loops(axis: str, body: Sequence[n.Stmt]) -> bool:
    """Whether the loops in `body` have the same bounds for every value of `axis`."""
    uniform = Uniform(axis, body)
    return all(uniform.holds(e) for s in walk(body) if isinstance(s, n.Loop) for e in (s.start, s.stop))


def uniform_lets(axis: str, body: Sequence[n.Stmt]) -> set[str]:
    """The lets that have one value for all lanes: they stay scalars."""
    written = {name for s in body for name in buffers_written(s)}
    assigned = {s.name for s in walk(body) if isinstance(s, n.Assign)}
    found: set[str] = set()
    moving = {axis} | assigned
    for s in walk(body):
        if isinstance(s, n.Let):
            if not variables_read(s.value) & moving and not buffers_read(s.value) & written and s.name not in assigned:
                found.add(s.name)
            else:
                moving.add(s.name)
    branches = [x for s in walk(body) if isinstance(s, n.If) for x in walk((*s.then, *s.orelse))]
    return found - {x.name for x in branches if isinstance(x, n.Let)}


class Uniform:
    """What is the same for all lanes of a body."""

    def __init__(self, axis: str, body: Sequence[n.Stmt]) -> None:
        self.lets = uniform_lets(axis, body)
        self.moving = {name for s in body for name in scalars_set(s)} - self.lets | {axis}
        self.written = {name for s in body for name in buffers_written(s)}

    def holds(self, e: Expr) -> bool:
        """Whether an expression has one value for all of them."""
        return not variables_read(e) & self.moving and not buffers_read(e) & self.written


def set_innermost(block: Iterable[n.Stmt], held: set[str]) -> int:
    """How many of what lanes hold a loop without loops inside sets, at most: through others it may lie in memory."""
    loops = [s for s in walk(block) if isinstance(s, n.Loop) and not any(isinstance(x, n.Loop) for x in walk(s.body))]
    return max((len(held & scalars_set(s)) for s in loops), default=len(held))


def runs(body: Iterable[n.Stmt], uniform: Uniform) -> Iterator[list[n.Stmt]]:
    """Maximal runs of statements without loops, or branches that all lanes take, at every depth."""
    run: list[n.Stmt] = []
    for s in body:
        if isinstance(s, n.Loop) or (isinstance(s, n.If) and uniform.holds(s.condition)):
            if run:
                yield run
            run = []
            for inner in bodies(s):
                yield from runs(inner, uniform)
        else:
            run.append(s)
    if run:
        yield run


def scalars_in(run: Iterable[n.Stmt]) -> set[str]:
    return {e.name for e in exprs(run) if isinstance(e, Var)} | {name for s in run for name in scalars_set(s)}

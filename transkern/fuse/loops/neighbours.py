"""Windows of a few neighbours around each point, written out:

    parallel j in 1 .. n - 1:                          parallel j in 1 .. n - 1:
        s := 0.0                                           s := 0.0
        for d in -1 .. 2: s := s + x[j + d]       to       s := s + x[j - 1]
        y[j] = s                                           s := s + x[j]
                                                           s := s + x[j + 1]
                                                           y[j] = s

Lanes go over the points then, what a window adds up stays in a register, and what it asks of places is decided between
the borders (`split_borders`). Reductions of integers and truths, which are of any order, become variables. What follows
an exit stands in the branch that does not take it. Longer windows go through memory sooner lane by lane.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from transkern.fuse.loops.unroll import extent_of, iterations
from transkern.fuse.schedule.columns import REDUCTIONS, first_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import continued, walk, with_bodies
from transkern.records import replace

_FEW = 16
"""Iterations of a window, at most: those of more hold more elements than there are registers."""
_FEW_EXITS = 4
"""The same where iterations leave the window with numbers: of more, C compilers make branches."""
_STATEMENTS = 64
"""Statements that it becomes, at most."""
_PLAIN = (n.Loop, n.Let, n.Assign, n.If, n.Accumulator, n.Accumulate, n.Break, n.Continue)
_REDUCTIONS = ("sum", "prod", "max", "min", "all", "any")


def write_out_windows(program: n.Program) -> n.Program:
    """The program with the nests over a few neighbours in parallel loops written out."""
    if not any(isinstance(s, n.Loop) and _is_a_window(s) for s in walk(program.body)):
        return program
    state = _Windows(program)
    body = state.block(program.body, inside=False)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Windows:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)

    def block(self, statements: Sequence[n.Stmt], inside: bool) -> tuple[n.Stmt, ...]:
        """A block; `inside`: the next loop around it is parallel."""
        windows = [s for s in statements if isinstance(s, n.Loop) and _is_a_window(s)] if inside else []
        windows, reduced = _in_variables(windows, statements)
        out: list[n.Stmt] = []
        for s in statements:
            if any(s is x for x in windows):
                out += self.written_out(self.in_order(s))
            elif isinstance(s, n.Accumulator) and s.name in reduced:
                out.append(self.in_order(s))
            else:
                deeper = s.kind == "parallel" if isinstance(s, n.Loop) else inside and isinstance(s, n.If)
                out.append(with_bodies(s, lambda inner, deeper=deeper: self.block(inner, deeper)))  # type: ignore[misc]
        return tuple(out)

    def in_order(self, s: n.Stmt) -> n.Stmt:
        """A statement of a window whose reductions are variables."""
        match s:
            case n.Accumulator(name, _, dtype):
                self.variables[name] = dtype
                return n.Assign(name, first_of(s, b.ZERO), span=s.span)
            case n.Accumulate(name, op, value):
                dtype = self.variables[name]
                joined = Apply(REDUCTIONS[op], (Var(name, dtype), b.cast(value, dtype)), dtype)
                return n.Assign(name, joined, span=s.span)
            case _:
                return with_bodies(s, lambda inner: tuple(map(self.in_order, inner)))

    def written_out(self, s: n.Stmt) -> list[n.Stmt]:
        """A nest as the statements of all its iterations."""
        assert isinstance(s, n.Loop)
        own = {x.name for x in walk(s.body) if isinstance(x, n.Let)}
        rest: list[n.Stmt] = []
        for one in reversed(list(iterations(s, self.names, self.variables, self.buffers, own))):
            rest = self.followed(one, rest)
        return rest

    def followed(self, block: Sequence[n.Stmt], rest: list[n.Stmt]) -> list[n.Stmt]:
        """An iteration, and behind it those that are left, unless it leaves the loop."""
        out: list[n.Stmt] = []
        for k, s in enumerate(block):
            match s:
                case n.Break():
                    return out
                case n.Continue():
                    return [*out, *rest]
                case n.Loop():
                    out += self.written_out(s)
                case n.If(Const(value), then, orelse):
                    return [*out, *self.followed((*(then if value else orelse), *block[k + 1 :]), rest)]
                case n.If(condition, then, orelse) if (leaves := _leaving(s)) is not None:
                    behind = self.followed((*(orelse if leaves is then else then), *block[k + 1 :]),
                                           rest if isinstance(leaves[-1], n.Break) else [])
                    one, other = (leaves[:-1], behind) if leaves is then else (behind, leaves[:-1])
                    out.append(_branch(s, condition, tuple(one), tuple(other)))
                    return out if isinstance(leaves[-1], n.Break) else [*out, *rest]
                case _:
                    out.append(s)
        return [*out, *rest]


def _branch(s: n.If, condition: Expr, then: tuple[n.Stmt, ...], orelse: tuple[n.Stmt, ...]) -> n.If:
    if not then:
        return replace(s, condition=b.logical_not(condition), then=orelse, orelse=())
    return replace(s, condition=condition, then=then, orelse=orelse)


def _leaving(s: n.If) -> tuple[n.Stmt, ...] | None:
    """The branch that ends its iteration."""
    return next((x for x in (s.then, s.orelse) if x and isinstance(x[-1], n.Break | n.Continue)), None)


def _in_variables(windows: Sequence[n.Loop], block: Sequence[n.Stmt]) -> tuple[list[n.Loop], set[str]]:
    """Those of a block's windows whose reductions may be variables, and the reductions that begin in the block."""
    declared = {s.name: s for s in block if isinstance(s, n.Accumulator)}
    taken = [x for s in windows for x in walk((s,)) if isinstance(x, n.Accumulate)]
    elsewhere = {x.name for x in walk(block) if isinstance(x, n.Accumulate) and not any(x is y for y in taken)}
    fine = {name for name, s in declared.items() if name not in elsewhere and _may_be_a_variable(s)}
    kept = [s for s in windows if continued((s,)) <= fine]
    left = {name for s in windows if s not in kept for name in continued((s,))}
    kept = [s for s in kept if not continued((s,)) & left]
    return kept, {name for s in kept for name in continued((s,))}


def _may_be_a_variable(s: n.Accumulator) -> bool:
    """Whether a reduction is the same in any order, one term after the other."""
    if s.op not in _REDUCTIONS or s.dtype.startswith(("float", "complex")):
        return False
    return s.dtype != "bool" or s.op not in ("sum", "prod")


def _is_a_window(s: n.Loop) -> bool:
    """Whether a nest goes over a few neighbours, with nothing but numbers in it."""
    inside = list(walk((s,)))
    count = math.prod(extent_of(x) or 0 for x in inside if isinstance(x, n.Loop))
    if not all(isinstance(x, _PLAIN) for x in inside) or not 1 < count <= _FEW:
        return False
    if any(isinstance(x, n.Accumulator) and not _may_be_a_variable(x) for x in inside):
        return False
    if any(isinstance(x, n.Accumulate) and x.position is not None for x in inside):
        return False
    if count > _FEW_EXITS and any(isinstance(x, n.Break) for x in inside) and not all(
        x.value.dtype == "bool" for x in inside if isinstance(x, n.Assign)
    ):  # fmt: skip
        return False
    return _written((s,)) <= _STATEMENTS and all(_leaves_at_ends(x.body) for x in inside if isinstance(x, n.Loop))


def _written(block: Iterable[n.Stmt]) -> int:
    """How many statements a block becomes."""
    return sum(
        _written(s.body) * (extent_of(s) or 0) if isinstance(s, n.Loop)
        else 1 + (_written((*s.then, *s.orelse)) if isinstance(s, n.If) else 0) for s in block
    )  # fmt: skip


def _leaves_at_ends(body: Iterable[n.Stmt]) -> bool:
    """Whether an iteration is left at the end of one of its branches alone."""
    for s in body:
        branches: tuple[tuple[n.Stmt, ...], ...] = (s.then, s.orelse) if isinstance(s, n.If) else ()
        first = [x for block in branches for x in block]
        if branches and _leaving(s) is not None:  # type: ignore[arg-type]
            leaving = _leaving(s)  # type: ignore[arg-type]
            first = [x for block in branches for x in (block[:-1] if block is leaving else block)]
        if any(isinstance(x, n.Break | n.Continue) for x in _outside_loops(first)):
            return False
    return True


def _outside_loops(block: Iterable[n.Stmt]) -> Iterable[n.Stmt]:
    """The statements of a block, and of its branches."""
    for s in block:
        yield s
        if isinstance(s, n.If):
            yield from _outside_loops((*s.then, *s.orelse))

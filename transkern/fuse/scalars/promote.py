"""An element that a loop in order updates again and again is held in a variable meanwhile:

    for k in 0 .. j:                                 x_held := x[i, j]
        x[i, j] = x[i, j] - x[i, k] * x[k, j]   to   for k in 0 .. j:
                                                         x_held := x_held - x[i, k] * x[k, j]
                                                     x[i, j] = x_held

Legal where the loop does not change which element it is, and touches it in no other way: isl shows that all other
subscripts into the buffer stay away from it. The loop may make no iteration, so that the element must be there in any
case, and nobody else's: parallel loops around are looked at again. Where the loop returns the array, the element is
put there first. A compiler of C cannot see this: for it, `x[i, k]` may be the element that was just written.

So is an element that a search stores where it ends (``out[i] = k; break``), as if it had a name until then.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.analysis.accesses import Access
from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_written,
    is_in_order,
    map_own,
    result_buffers,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_Index = tuple[Expr, ...]


def promote_elements(program: n.Program) -> n.Program:
    """The program with elements that loops in order update in variables."""
    if not any(isinstance(s, (n.Loop, n.While)) and is_in_order(s) for s in walk(program.body)):
        return program
    promoting = _Promoting(program)
    body = promoting.block(program.body)
    return replace(program, body=body, variables=promoting.variables)


class _Promoting(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.variables = Names.of(program), dict(program.variables)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        made = self.inside(s)
        if isinstance(s, n.Loop) and s.kind == "parallel" and made != s and not self.independent(made):
            return [s]
        s = made
        if not isinstance(s, (n.Loop, n.While)) or not is_in_order(s) or not buffers_written(s):
            return [s]
        if isinstance(s, n.While) and any(isinstance(x, n.Return) for x in walk((s,))):
            return [s]
        before: list[n.Stmt] = []
        after: list[n.Stmt] = []
        loop = s if isinstance(s, n.Loop) else self.counted(s)
        carried = Carried(self.program.buffers, loop, self.surroundings())
        for buffer, index in self.candidates(loop, carried):
            held = self.names.fresh(f"{buffer.partition('.')[0]}_held")
            dtype = self.program.buffers[buffer].dtype
            self.variables[held] = dtype
            before.append(n.Assign(held, Load(buffer, index, dtype), span=s.span))
            after.append(n.Store(buffer, index, Var(held, dtype), span=s.span))
            (s,) = _held((s,), buffer, index, Var(held, dtype), carried)
        return [*before, s, *after]

    def counted(self, s: n.While) -> n.Loop:
        """A loop of the same accesses that counts its iterations."""
        axis, asked = self.names.fresh("t"), n.Let(self.names.fresh("goes"), s.condition, span=s.span)
        return n.Loop(axis, b.ZERO, b.size(axis), b.ONE, "sequential", (*s.head, asked, *s.body), span=s.span)

    def independent(self, loop: n.Stmt) -> bool:
        """Whether no iteration of a parallel loop touches what another one writes, now that an element is read and
        written also where the loop in order makes no iteration."""
        assert isinstance(loop, n.Loop)
        return Carried(self.program.buffers, loop, self.surroundings()).independent()

    def candidates(self, loop: n.Loop, carried: Carried) -> list[tuple[str, _Index]]:
        """The elements that the loop reads and writes by one subscript that it does not change, and by no other."""
        raises = any(isinstance(x, (n.Guard, n.Return, n.Library, n.Kernel)) for x in walk(loop.body))
        in_lanes = {name for x in walk(loop.body) if isinstance(x, n.Loop) and x.kind == "parallel"
                    for name in buffers_written(x)}  # fmt: skip
        accesses: dict[str, list[tuple[_Index | None, Access]]] = {}
        for a in carried.body.accesses:
            accesses.setdefault(a.buffer, []).append((_resolved(a.index, carried), a))
        ends = _may_end(loop.body)
        found: list[tuple[str, _Index]] = []
        for buffer, touched in accesses.items():
            info = self.program.buffers.get(buffer)
            if info is None or buffer in in_lanes or (raises and info.role == "argument"):
                continue
            written = {index: None for index, a in touched if a.write and index is not None}
            for index in written:
                same = [a for i, a in touched if i == index]
                others = _alike_once([a for i, a in touched if i != index and not _apart(i, index)])
                if (
                    len(index) == len(info.dims)
                    and all(carried.fixed(e) for e in index)
                    and not any(variables_read(e) & carried.body.lets.keys() for e in index)
                    and (ends or any(not a.write for a in same))
                    and all(self.there(e, dim) for e, dim in zip(index, info.dims, strict=True))
                    # each of them: one may stand where no iteration comes by, and meets nothing
                    and not any(carried.question(one, a)[0].possible() for one in _alike_once(same) for a in others)
                ):
                    found.append((buffer, index))
        return found

    def there(self, e: Expr, dim: Expr) -> bool:
        """Whether the subscript is within the dimension where the loop begins, also if it makes no iteration."""
        return self.holds(b.compare("greater_equal", e, b.ZERO)) and self.holds(b.compare("less", e, dim))


def _may_end(block: Iterable[n.Stmt]) -> bool:
    """Whether statements of a loop's body end the loop."""
    return any(
        isinstance(s, n.Break) or (isinstance(s, n.If) and (_may_end(s.then) or _may_end(s.orelse))) for s in block
    )


def _apart(one: _Index | None, two: _Index) -> bool:
    """Whether two subscripts are two elements whatever the variables are: in some axis two numbers."""
    both = zip(one, two, strict=False) if one is not None else ()
    return any(isinstance(x, Const) and isinstance(y, Const) and x.value != y.value for x, y in both)


def _alike_once(accesses: list[Access]) -> list[Access]:
    """One of those that may meet the same others: what they do, and their place among the others, is not asked for."""
    return list({(a.index, a.levels, a.conditions): a for a in reversed(accesses)}.values())[::-1]


def _resolved(index: _Index | None, carried: Carried) -> _Index | None:
    """A subscript without the names that the loop's body gives to parts of it."""
    lets = carried.body.lets

    def change(e: Expr) -> Expr | None:
        return b.map_expr(lets[e.name], change) if isinstance(e, Var) and e.name in lets else None

    return None if index is None else tuple(b.map_expr(e, change) for e in index)


def _held(
    statements: tuple[n.Stmt, ...], buffer: str, index: _Index, held: Var, carried: Carried
) -> tuple[n.Stmt, ...]:
    """The statements with the variable for the element."""

    def change(e: Expr) -> Expr | None:
        return held if isinstance(e, Load) and e.buffer == buffer and _resolved(e.index, carried) == index else None

    out: list[n.Stmt] = []
    for s in statements:
        s = map_own(s, change)
        if isinstance(s, n.Store) and s.buffer == buffer and _resolved(s.index, carried) == index:
            out.append(n.Assign(held.name, s.value, span=s.span))
        elif isinstance(s, n.Return) and buffer in result_buffers(s.result):
            out += [n.Store(buffer, index, held, span=s.span), s]
        elif any(bodies(s)):
            out.append(with_bodies(s, lambda inner: _held(inner, buffer, index, held, carried)))
        else:
            out.append(s)
    return tuple(out)

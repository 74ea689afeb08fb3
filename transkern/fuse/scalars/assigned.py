"""A name for each value: a variable that one block sets several times, one statement after the other, is as many names.

    let t = a[i - 1] + a[i + 1]             let t = a[i - 1] + a[i + 1]
    t := t + b[i]                     to    let t_1 = t + b[i]
    out[i] = t * t                          out[i] = t_1 * t_1

In-place operators on arrays (``t += b``) become such variables once the arrays have become numbers. So do the variables
that one branch sets before it reads them, and nobody else reads: what they were before it is of no account, and is
dropped (`drop_dead_scalars`). Passes that ask what a name stands for, and where it changes, find one answer then.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from transkern.fuse.lowering.copies import with_names
from transkern.fuse.scalars.scalars import uses_of
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, scalars_set, scalars_used, variables_read, walk, with_bodies
from transkern.records import replace

_Block = tuple[n.Stmt, ...]


def name_values(program: n.Program) -> n.Program:
    """The program in which what one block alone reads, and sets before, is set once."""
    sets = Counter(s.name for s in walk(program.body) if isinstance(s, (n.Let, n.Assign)))
    several = {name for name, times in sets.items() if times > 1 and name in program.variables}
    if not several:
        return program
    naming = _Naming(several, sets, uses_of(program), Names.of(program), dict(program.variables))
    body = naming.block(program.body)
    return replace(program, body=body, variables=naming.variables)


@dataclass(slots=True)
class _Naming:
    """`several`: variables that are set more than once; `sets` and `uses`: how often each is set by a statement that
    does nothing else, and read."""

    several: set[str]
    sets: Counter[str]
    uses: Counter[str]
    names: Names
    variables: dict[str, str]

    def block(self, statements: _Block) -> _Block:
        direct = Counter(s.name for s in statements if isinstance(s, (n.Let, n.Assign)))
        mine = self.several & direct.keys()
        if mine:
            touching: dict[str, list[n.Stmt]] = {v: [] for v in mine}
            for s in statements:
                for v in (scalars_set(s) & mine) | (scalars_used(s) & mine):
                    touching[v].append(s)
            mine = {v for v in mine if self.begins(v, touching[v])}
        if mine:
            read = Counter(e.name for e in exprs(statements) if isinstance(e, Var) and e.name in mine)
            mine = {v for v in mine if read[v] == self.uses[v]}
        if mine:
            statements = self.named(mine, {v for v in mine if direct[v] != self.sets[v]}, statements)
        return tuple(with_bodies(s, self.block) for s in statements)

    def begins(self, name: str, touching: list[n.Stmt]) -> bool:
        """Whether the first of the statements that read or set a variable sets it, and those that set it do so
        directly."""
        first = touching[0]
        return (
            isinstance(first, (n.Let, n.Assign))
            and name not in variables_read(first.value)
            and all(
                isinstance(s, (n.Let, n.Assign)) and s.value.dtype == self.variables[name]
                for s in touching if name in scalars_set(s)
            )
        )

    def named(self, mine: set[str], elsewhere: set[str], statements: _Block) -> _Block:
        """The block with a name for each value of the variables that are `mine`; the name itself stands for what those
        that are set `elsewhere`, too, are there."""
        now: dict[str, str] = {}
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, (n.Let, n.Assign)) and s.name in mine:
                (read,) = with_names((replace(s, name=""),), now)
                assert isinstance(read, (n.Let, n.Assign))
                now[s.name] = self.names.fresh(s.name) if s.name in now or s.name in elsewhere else s.name
                out.append(n.Let(now[s.name], read.value, span=s.span))
            else:
                out += with_names((s,), now)
        for name in mine - elsewhere:
            del self.variables[name]
        return tuple(out)

"""Sums of narrow integers are added up in parts, in a type that is as narrow as their terms allow:

    accumulator total: int64 by sum               accumulator total: int64 by sum
    parallel k in 0 .. m:                         parallel k_block in 0 .. m by 512:
        total sum= int64(x[k] != y[k])     to         accumulator part: int16 by sum
                                                      parallel k in k_block .. minimum(k_block + 512, m):
                                                          part sum= int16(x[k] != y[k])
                                                      total sum= int64(part)

so that a vector holds as many sums as it holds terms, or as it compares elements. A part has few enough terms that its
type holds it.
"""

from __future__ import annotations

from transkern.fuse.schedule.columns import PART, narrow_sum, narrow_term
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace

_LEAST = 128
"""Terms below which there is little to gain."""


def sum_parts(program: n.Program) -> n.Program:
    """The program with such sums in parts."""
    sums = {s.name: s for s in walk(program.body) if isinstance(s, n.Accumulator) and s.op in ("sum", "count")}
    if not sums:
        return program
    state = _Parts(Names.of(program), sums)
    body = state.block(program.body)
    return replace(program, body=state.declared(body)) if state.made else program


class _Parts:
    def __init__(self, names: Names, sums: dict[str, n.Accumulator]) -> None:
        self.names, self.sums = names, sums
        self.made: set[str] = set()

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(self.statement(s) for s in statements)

    def declared(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """The statements with sums of parts where terms were counted."""
        def change(s: n.Stmt) -> n.Stmt:
            if isinstance(s, (n.Accumulator, n.Accumulate)) and s.name in self.made and s.op == "count":
                s = replace(s, op="sum")
                if isinstance(s, n.Accumulate):
                    s = replace(s, value=b.cast(s.value, self.sums[s.name].dtype))
            return with_bodies(s, self.declared)

        return tuple(map(change, statements))

    def statement(self, s: n.Stmt) -> n.Stmt:
        plain = isinstance(s, n.Loop) and all(isinstance(x, (n.Let, n.Accumulate)) for x in s.body)
        if not plain or not isinstance(s, n.Loop) or s.kind != "parallel" or s.step != b.ONE:
            return with_bodies(s, self.block)
        extent = b.constant(b.sub(s.stop, s.start))
        if extent is not None and extent < _LEAST:
            return s
        terms = [x for x in s.body if isinstance(x, n.Accumulate)]
        parts = {
            x.name: dtype for x in terms
            if x.name in self.sums and (dtype := narrow_sum(self.sums[x.name], s)) is not None
        }  # fmt: skip
        names = {name: self.names.fresh(f"{name}_part") for name in parts}
        if not parts or any(x.position is not None for x in terms):  # which are looked for in larger blocks
            return s
        self.made |= names.keys()
        block = Var(self.names.fresh(f"{s.axis}_block"), "index")
        begin = [n.Accumulator(names[name], "sum", dtype, span=s.span) for name, dtype in parts.items()]
        inner: list[n.Stmt] = []
        for x in s.body:
            if isinstance(x, n.Accumulate) and x.name in parts:
                value = b.cast(narrow_term(x), parts[x.name])
                x = replace(x, name=names[x.name], op="sum", value=value)
            inner.append(x)
        last = b.minimum(b.add(block, b.index(PART)), s.stop)
        rows = replace(s, start=block, stop=last, body=tuple(inner), spare=None)
        end: list[n.Stmt] = []
        for name, dtype in parts.items():
            total = self.sums[name]
            part: Expr = b.cast(Var(names[name], dtype), total.dtype)
            end.append(n.Accumulate(name, "sum", part, span=s.span))
        return replace(s, axis=block.name, step=b.index(PART), body=(*begin, rows, *end), spare=None)

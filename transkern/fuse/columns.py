"""Sums along rows of memory, for many columns at a time: ``a.sum(axis=0)``.

    parallel i in 0 .. m:                     parallel i in 0 .. m:
        accumulator total by sum                  high, low := 0, 0
        parallel j in 0 .. n:                     for j_block in 0 .. n by 512:
            total sum= a[j, i]            to          part := 0
        s[i] = total                                  for j in j_block .. min(j_block + 512, n):
                                                          part := part + a[j, i]
                                                      high, low := high + part, and what that rounded away
                                                  s[i] = high + low

What each `i` adds up lies far apart in memory, and what neighbours add up lies side by side: in order, lanes of
neighbours go through whole rows (`lanes.py`). The sums are as exact as before: parts of 512 terms, and no error from
adding those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.fuse.lanes import contiguous
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Span, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, variables_read, with_bodies

PART = 512
"""Terms of a sum that are added up in lanes before their total is added exactly."""
_WIDE = "float64"
_FEW = 8
"""Columns below which there is little to gain from lanes."""


def order_columns(program: n.Program) -> n.Program:
    """The program with such sums in order."""
    state = _Ordering(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables)


class _Ordering:
    def __init__(self, program: n.Program) -> None:
        self.buffers, self.names, self.variables = program.buffers, Names.of(program), dict(program.variables)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(self.statement(s) for s in statements)

    def statement(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and s.kind == "parallel" and self.suits(s):
            return replace(s, body=self.in_order(s.body))
        return with_bodies(s, self.block)

    def suits(self, s: n.Loop) -> bool:
        """Whether all that stands in the loop is sums of columns, and plain statements around them."""
        extent = b.constant(b.sub(s.stop, s.start))
        if extent is not None and extent < _FEW:
            return False
        sums = [x for x in s.body if isinstance(x, n.Loop)]
        declared = {x.name for x in s.body if isinstance(x, n.Accumulator) and _is_sum(x)}
        plain = (n.Loop, n.Accumulator, n.Let, n.Store)
        return (
            bool(sums)
            and all(isinstance(x, plain) for x in s.body)
            and declared == {x.name for x in s.body if isinstance(x, n.Accumulator)}
            and all(self.is_column(s.axis, x, declared) for x in sums)
        )

    def is_column(self, axis: str, s: n.Loop, declared: set[str]) -> bool:
        return (
            s.kind == "parallel"
            and s.step == b.ONE
            and all(isinstance(x, n.Let) or (isinstance(x, n.Accumulate) and x.name in declared) for x in s.body)
            and axis not in variables_read(s.start) | variables_read(s.stop)
            and not buffers_read(s.start) | buffers_read(s.stop)
            and contiguous(axis, (s,), self.buffers) > 0 > contiguous(s.axis, (s,), self.buffers)
        )

    def in_order(self, body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """The statements with the sums in order."""
        made: list[n.Stmt] = []
        kinds = {s.name: s for s in body if isinstance(s, n.Accumulator)}
        for s in body:
            if isinstance(s, n.Loop):
                names = sorted({x.name for x in s.body if isinstance(x, n.Accumulate)})
                made += self.column(s, [kinds[name] for name in names])
            elif not isinstance(s, n.Accumulator):
                made.append(s)
        return tuple(made)

    def column(self, s: n.Loop, sums: list[n.Accumulator]) -> list[n.Stmt]:
        span = s.span
        before: list[n.Stmt] = []
        begin: list[n.Stmt] = []
        end: list[n.Stmt] = []
        after: list[n.Stmt] = []
        parts: dict[str, Var] = {}
        for x in sums:
            high, low, part = (self.variable(f"{x.name}_{what}") for what in ("high", "low", "part"))
            parts[x.name] = part
            zero = Const(0.0, _WIDE)
            before += [n.Assign(high.name, zero, span=span), n.Assign(low.name, zero, span=span)]
            begin.append(n.Assign(part.name, zero, span=span))
            end += self.added(x.name, high, low, part, span)
            after.append(n.Let(x.name, b.cast(_add(high, low), x.dtype), span=span))
        block = Var(self.names.fresh(f"{s.axis}_block"), "index")
        last = b.minimum(b.add(block, b.index(PART)), s.stop)
        inner: list[n.Stmt] = []
        for y in s.body:
            if isinstance(y, n.Accumulate):
                part = parts[y.name]
                inner.append(n.Assign(part.name, _add(part, b.cast(y.value, _WIDE)), span=y.span))
            else:
                inner.append(y)
        rows = replace(s, start=block, stop=last, kind="sequential", body=tuple(inner), spare=None, large=False)
        blocks = n.Loop(block.name, s.start, s.stop, b.index(PART), "sequential", (*begin, rows, *end), span=span)
        return [*before, blocks, *after]

    def added(self, name: str, high: Var, low: Var, part: Var, span: Span) -> list[n.Stmt]:
        """Adds a part: what the addition rounds away goes into `low`."""
        total, back, lost = (Var(self.names.fresh(f"{name}_{what}"), _WIDE) for what in ("sum", "back", "lost"))
        error = _add(_sub(high, _sub(total, back)), _sub(part, back))
        finite = b.compare("equal", _sub(lost, lost), Const(0.0, _WIDE))
        return [
            n.Let(total.name, _add(high, part), span=span),
            n.Let(back.name, _sub(total, high), span=span),
            n.Let(lost.name, error, span=span),
            n.Assign(low.name, b.where(finite, _add(low, lost), low), span=span),
            n.Assign(high.name, total, span=span),
        ]

    def variable(self, base: str) -> Var:
        made = Var(self.names.fresh(base), _WIDE)
        self.variables[made.name] = _WIDE
        return made


def _is_sum(s: n.Accumulator) -> bool:
    return s.op == "sum" and s.dtype in ("float64", "float32")


def _add(x: Expr, y: Expr) -> Expr:
    return Apply("add", (x, y), _WIDE)


def _sub(x: Expr, y: Expr) -> Expr:
    return Apply("subtract", (x, y), _WIDE)


__all__ = ["PART", "order_columns"]

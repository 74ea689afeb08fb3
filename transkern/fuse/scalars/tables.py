"""What is computed of single bytes is computed of each byte once, where there are many:

    parallel i in 0 .. n:                      if n >= 4096:
        y[i] = power(x[i] / 255, 2.2)   to         parallel v in 0 .. 256: table[v] = power(v / 255, 2.2)
                                                   parallel i in 0 .. n: y[i] = table[x[i]]
                                               else: …

A value that depends on one element of a byte, or on a name for one that an iteration computes, and on what the loops do
not change, has 256 values. Where a power, a sine or an exponential is among what it takes, these are soon computed, and
looked up in the fastest cache. So it is in loops in order, too, which nothing leaves early.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial
from itertools import takewhile

from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.scalars.scalars import drop_dead_scalars
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_own,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_VALUES = {"uint8": 256, "int8": 256, "bool": 2}
_MANY = 4096
"""Elements from which on it is."""
_EXITS = (n.Break, n.Return, n.While)
"""With these in a nest nobody knows how many of its points there will be."""


def tabulate(program: n.Program) -> n.Program:
    """The program with tables for what is dear and made of single bytes."""
    if not any(map(_is_dear, exprs(program.body))) or not _VALUES.keys() & {x.dtype for x in program.buffers.values()}:
        return program
    names = Names.of(program)
    buffers, variables = dict(program.buffers), dict(program.variables)

    def changed(s: n.Stmt) -> tuple[n.Stmt, ...]:
        if isinstance(s, n.If):
            return (with_bodies(s, lambda block: tuple(x for y in block for x in changed(y))),)
        if not isinstance(s, n.Loop) or _counts_on(s) or (many := _elements(s)) is None:
            return (s,)
        tables = _Tables(s, names, variables.keys())
        body = tables.block((s,), {})
        if not tables.made:
            return (s,)
        body = drop_dead_scalars(replace(program, body=body)).body
        read = {name for x in body for name in buffers_used(x)}
        fills: list[n.Stmt] = []
        for value, (name, dtype) in tables.made.items():
            if name not in read:
                continue
            size, axis = b.index(_VALUES[dtype]), names.fresh("value")
            buffers[name] = n.Buffer(name, value.dtype, (size,), line=s.span.line)
            byte = b.cast(b.cast(Var(axis), "uint8"), dtype)
            store = n.Store(name, (Var(axis),), b.substitute(value, {tables.byte: byte}), span=s.span)
            # in order as the nest is: C's functions for one number may differ from those for vectors in the last bit
            fills += [n.Alloc(name), n.Loop(axis, b.ZERO, size, b.ONE, s.kind, (store,), span=s.span)]
        enough = b.compare("greater_equal", many, b.index(_MANY))
        if enough == b.TRUE:
            return (*fills, *body)
        if enough == b.FALSE:
            return (s,)
        return (n.If(enough, (*fills, *body), (with_own_names(s, names, variables, buffers),)),)

    body = tuple(x for s in program.body for x in changed(s))
    return replace(program, body=body, buffers=buffers, variables=variables)


def _counts_on(s: n.Loop) -> bool:
    """Whether a nest adds to what was there before it, which two copies of it cannot share."""
    own = {x.name for x in walk((s,)) if isinstance(x, n.Accumulator)}
    return any(isinstance(x, n.Accumulate) and x.name not in own for x in walk((s,)))


def _elements(s: n.Loop) -> Expr | None:
    """How many points a nest of loops has; None where that is not known before it runs."""
    nest = [s]
    while len(inner := [x for x in nest[-1].body if isinstance(x, n.Loop)]) == 1:
        nest += inner
    nest = list(takewhile(lambda x: x.start == b.ZERO and x.step == b.ONE, nest))
    inside = {x.axis for x in nest} | set(scalars_set(s))
    if not nest or any(variables_read(x.stop) & inside or buffers_read(x.stop) for x in nest):
        return None
    if any(isinstance(x, _EXITS) for x in walk((s,))):
        return None
    return b.product(tuple(x.stop for x in nest))


class _Tables:
    """The tables of one nest: `made` has their names and types of byte by what is in them, of a byte named `byte`."""

    def __init__(self, nest: n.Loop, names: Names, variables: Set[str]) -> None:
        self.names, self.byte = names, names.fresh("byte")
        self.made: dict[Expr, tuple[str, str]] = {}
        axes = {x.axis for x in walk((nest,)) if isinstance(x, n.Loop | n.Compact | n.Scanning)}
        self.inner = axes | set(scalars_set(nest))
        self.changing = variables & self.inner  # another number at each place
        self.written = set(buffers_written(nest))

    def block(self, statements: tuple[n.Stmt, ...], known: Mapping[Expr, Expr]) -> tuple[n.Stmt, ...]:
        """The statements, with what the names and elements that were set in front of them stand for."""
        known = dict(known)
        out: list[n.Stmt] = []
        for s in statements:
            made = map_own(s, partial(self.looked_up, known=known))
            changed = buffers_written(s)
            known = {e: v for e, v in known.items() if not (isinstance(e, Load) and e.buffer in changed)}
            out.append(with_bodies(made, partial(self.block, known=known)))
            match s:
                case n.Let(name, value) if self.byte_of(_whole(value, known)) is not None:
                    known[Var(name, value.dtype)] = _whole(value, known)
                case n.Store(buffer, index, value) if self.byte_of(_whole(value, known)) is not None:
                    known[Load(buffer, index, value.dtype)] = _whole(value, known)
                case _:
                    pass
        return tuple(out)

    def looked_up(self, e: Expr, known: Mapping[Expr, Expr]) -> Expr | None:
        """The element of a table that a value is; None to look into it."""
        if not isinstance(e, Apply) or e.dtype == "index" or e.dtype.startswith("complex"):
            return None
        whole = _whole(e, known)
        load = self.byte_of(whole) if any(map(_is_dear, walk_expr(whole))) else None
        if load is None:
            return None
        value = b.map_expr(whole, lambda x: Var(self.byte, load.dtype) if x == load else None)
        if value not in self.made:
            self.made[value] = self.names.fresh("table"), load.dtype
        return Load(self.made[value][0], (b.cast(b.cast(load, "uint8"), "index"),), e.dtype)

    def byte_of(self, e: Expr) -> Load | Var | None:
        """The only element that a value depends on, or the only name that the nest sets, if it is one of a byte."""
        found: Load | Var | None = None
        parts = [e]
        while parts:
            x = parts.pop()
            if isinstance(x, Reduce):
                return None
            if isinstance(x, Load) or (isinstance(x, Var) and x.name in self.inner):
                changes = x.buffer in self.written if isinstance(x, Load) else x.name in self.changing
                if found not in (None, x) or x.dtype not in _VALUES or changes:
                    return None
                found = x
            elif isinstance(x, Apply):
                parts += x.args
        return found


def _whole(e: Expr, known: Mapping[Expr, Expr]) -> Expr:
    return b.map_expr(e, lambda x: known.get(x) if isinstance(x, Var | Load) else None) if known else e


def _is_dear(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= TRANSCENDENTAL

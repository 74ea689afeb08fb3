"""What is computed of single bytes is computed of each byte once, where there are many:

    parallel i in 0 .. n:                      if n >= 4096:
        y[i] = power(x[i] / 255, 2.2)   to         parallel v in 0 .. 256: table[v] = power(v / 255, 2.2)
                                                   parallel i in 0 .. n: y[i] = table[x[i]]
                                               else: …

A value that depends on one element of a byte, and on what the loops do not change, has 256 values. Where a power, a
sine or an exponential is among what it takes, these are soon computed, and looked up in the fastest cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from transkern.fuse.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)

_VALUES = {"uint8": 256, "int8": 256, "bool": 2}
_DEAR = 20
"""What an operation costs, in multiplications, for which a table is made."""
_MANY = 4096
"""Elements from which on it is."""


def tabulate(program: n.Program) -> n.Program:
    """The program with tables for what is dear and made of single bytes."""
    names = Names.of(program)
    buffers, variables = dict(program.buffers), dict(program.variables)

    def changed(s: n.Stmt) -> tuple[n.Stmt, ...]:
        if not isinstance(s, n.Loop) or _counts_on(s) or set(scalars_set(s)) & variables.keys():
            return (s,)
        if (many := _elements(s)) is None:
            return (s,)
        tables = _Tables(program, s, names)
        made = tables.of(s)
        if not tables.made:
            return (s,)
        read = {name for x in walk((made,)) for e in own_exprs(x) for name in buffers_read(e)}
        fills: list[n.Stmt] = []
        for value, name in tables.made.items():
            if name not in read:
                continue
            values = tables.values[name]
            buffers[name] = n.Buffer(name, value.dtype, (b.index(values),), line=s.span.line)
            axis = names.fresh("value")
            byte = b.cast(b.cast(Var(axis), "uint8"), tables.dtypes[name])
            store = n.Store(name, (Var(axis),), b.substitute(value, {tables.byte: byte}), span=s.span)
            fills += [n.Alloc(name), n.Loop(axis, b.ZERO, b.index(values), b.ONE, "parallel", (store,), span=s.span)]
        enough = b.compare("greater_equal", many, b.index(_MANY))
        if enough == b.TRUE:
            return (*fills, made)
        if enough == b.FALSE:
            return (s,)
        return (n.If(enough, (*fills, made), (with_own_names(s, names, variables, buffers),)),)

    body = tuple(x for s in program.body for x in changed(s))
    return replace(program, body=body, buffers=buffers, variables=variables)


def _counts_on(s: n.Loop) -> bool:
    """Whether a nest adds to what was there before it, which two copies of it cannot share."""
    own = {x.name for x in walk((s,)) if isinstance(x, n.Accumulator)}
    return any(isinstance(x, n.Accumulate) and x.name not in own for x in walk((s,)))


def _elements(s: n.Loop) -> Expr | None:
    """How many points a nest of loops that may run in any order has; None where that is not known before it runs."""
    many: Expr = b.ONE
    axes: set[str] = set()
    x: n.Stmt = s
    while isinstance(x, n.Loop) and x.kind == "parallel" and x.start == b.ZERO and x.step == b.ONE:
        if variables_read(x.stop) & axes:
            return None
        many = b.mul(many, x.stop)
        axes.add(x.axis)
        if len(x.body) != 1:
            break
        x = x.body[0]
    return many if axes else None


@dataclass(slots=True)
class _Tables:
    """The tables of one nest: `made` has their names by what is in them, of a byte with the name `byte`."""

    program: n.Program
    nest: n.Loop
    names: Names
    byte: str = ""
    made: dict[Expr, str] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    inner: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()

    def of(self, s: n.Loop) -> n.Stmt:
        """The nest with its dear values looked up."""
        self.byte = self.names.fresh("byte")
        axes = {x.axis for x in walk((s,)) if isinstance(x, n.Loop | n.Compact | n.Scanning)}
        self.inner = frozenset(axes | set(scalars_set(s)))
        self.written = frozenset(buffers_written(s))
        (made,) = self.block((s,), {})
        return made if not self.made else _without_unread(made)

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
        if not any(isinstance(x, Apply) and x.op in OPS and OPS[x.op].cost >= _DEAR for x in walk_expr(whole)):
            return None
        load = self.byte_of(whole)
        if load is None:
            return None
        value = b.map_expr(whole, lambda x: Var(self.byte, load.dtype) if x == load else None)
        if value not in self.made:
            name = self.made[value] = self.names.fresh("table")
            self.values[name], self.dtypes[name] = _VALUES[load.dtype], load.dtype
        return Load(self.made[value], (b.cast(b.cast(load, "uint8"), "index"),), e.dtype)

    def byte_of(self, e: Expr) -> Load | None:
        """The only element that a value depends on, if it is one of a byte."""
        found: Load | None = None
        parts = [e]
        while parts:
            x = parts.pop()
            if isinstance(x, Reduce) or (isinstance(x, Var) and x.name in self.inner):
                return None
            if isinstance(x, Load):
                if found not in (None, x) or x.dtype not in _VALUES or x.buffer in self.written:
                    return None
                found = x
            elif isinstance(x, Apply):
                parts += x.args
        return found


def _whole(e: Expr, known: Mapping[Expr, Expr]) -> Expr:
    return b.map_expr(e, lambda x: known.get(x) if isinstance(x, Var | Load) else None) if known else e


def _without_unread(s: n.Stmt) -> n.Stmt:
    """A nest without names that nobody reads."""
    while True:
        read = {v for x in walk((s,)) for e in own_exprs(x) for v in variables_read(e)}
        dead = {x.name for x in walk((s,)) if isinstance(x, n.Let)} - read
        if not dead:
            return s
        s = _dropped(s, dead)


def _dropped(s: n.Stmt, dead: set[str]) -> n.Stmt:
    def kept(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(_dropped(x, dead) for x in body if not (isinstance(x, n.Let) and x.name in dead))

    return with_bodies(s, kept)

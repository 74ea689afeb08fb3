"""Counts in a small table go to four tables in turn:

    for i in 0 .. n:                     for i in 0 .. n - n % 4 by 4:
        c[k[i]] = c[k[i]] + 1    to          c[k[i]] = c[k[i]] + 1
                                             t[0, k[i + 1]] = t[0, k[i + 1]] + 1 …
                                         for i in n - n % 4 .. n: as before
                                         c += t[0] + t[1] + t[2]

An element that was stored a moment ago is loaded from where the processor keeps its stores, five cycles later: where
keys come several times in a row (flat parts of an image, classes in order), each count waits for the one before. Of
four tables none waits for another. Sums of integers wrap, so that they may be added in any order; those of floats stay
as they are. Three tables more have to be cleared and added, which pays for loops much longer than the table, and for
tables that stay in the first cache along with the keys. Checks of the keys stay where they are, in the order of the
iterations; nobody sees what was counted until one fails, but in arrays of the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import buffers_read, map_statement, own_exprs, variables_read, walk, with_bodies
from transkern.records import replace

_TABLES = 4
_ELEMENTS = 1024
"""Elements of a table: three more of them take half of a first cache."""
_OFTEN = 16
"""Iterations for each element of the table, at least."""
_INTEGERS = ("int", "uint", "index")
_STATEMENTS = 6
"""Longer iterations do more than to wait for a count."""


def count_in_tables(program: n.Program) -> n.Program:
    """The program with four tables for what loops in order count in a small one."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Counting(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Counting:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, self.block)
            store = self.counted(s) if isinstance(s, n.Loop) else None
            out += [s] if store is None or not isinstance(s, n.Loop) else self.in_tables(s, store)
        return tuple(out)

    def counted(self, s: n.Loop) -> n.Store | None:
        """The store of a loop that does nothing but to count in a table that may be small."""
        if s.kind != "sequential" or s.step != b.ONE or not 0 < len(s.body) <= _STATEMENTS:
            return None
        *lets, store = s.body
        if not isinstance(store, n.Store) or not all(isinstance(x, (n.Let, n.Guard)) for x in lets):
            return None
        info = self.buffers[store.buffer]
        if info.role == "argument" and any(isinstance(x, n.Guard) for x in lets):
            return None  # which shows what has been counted where a check fails
        if not info.dtype.startswith(_INTEGERS) or info.element or info.is_reserved or not info.dims:
            return None
        value = _added(store)
        if value is None:
            return None
        others = [*(e for x in lets for e in own_exprs(x)), *store.index, value, s.start, s.stop]
        if len(store.index) != len(info.dims) or any(store.buffer in buffers_read(e) for e in others):
            return None
        made = [x.name for x in lets if isinstance(x, n.Let)]
        names = {*made}
        if len(names) < len(made) or (variables_read(s.start) | variables_read(s.stop)) & names:
            return None
        varying = _varying(s, store)
        size = b.constant(b.product(tuple(info.dims[d] for d in varying)))
        return store if varying and (size is None or size <= _ELEMENTS) else None

    def in_tables(self, s: n.Loop, store: n.Store) -> list[n.Stmt]:
        info = self.buffers[store.buffer]
        varying, many = _varying(s, store), b.index(_TABLES)
        counted = tuple(info.dims[d] for d in varying)
        size = b.product(counted)
        runs = b.maximum(b.sub(s.stop, s.start), b.ZERO)
        pays = b.both(
            b.compare("less_equal", size, b.index(_ELEMENTS)),
            b.compare("greater_equal", runs, b.mul(b.index(_OFTEN), size)),
        )
        if pays == b.FALSE:
            return [s]
        name = self.names.fresh(f"{store.buffer}_beside")
        dims = (b.index(_TABLES - 1), *counted)
        self.buffers[name] = n.Buffer(name, info.dtype, dims)
        stop = b.add(s.start, b.mul(b.floordiv(runs, many), many))
        body = tuple(x for k in range(_TABLES) for x in self.iteration(s, store, k, name))
        made = [
            n.Alloc(name),
            self.each(dims, lambda at: n.Store(name, at, Const(0, info.dtype), span=s.span), s),
            replace(s, stop=stop, step=many, body=body, spare=None),
            with_own_names(replace(s, start=stop, spare=None), self.names, self.variables, self.buffers),
            self.each(counted, lambda at: self.sum(store, name, dict(zip(varying, at, strict=True))), s),
        ]
        if pays == b.TRUE:
            return made
        otherwise = with_own_names(s, self.names, self.variables, self.buffers)
        return [n.If(pays, tuple(made), (otherwise,), span=s.span)]

    def iteration(self, s: n.Loop, store: n.Store, k: int, name: str) -> list[n.Stmt]:
        """One of four iterations, which counts in a table of its own."""
        known: dict[str, Expr] = {s.axis: b.add(Var(s.axis, "index"), b.index(k))}
        out: list[n.Stmt] = []
        for x in s.body[:-1]:
            if isinstance(x, n.Let):
                own = self.names.fresh(x.name) if k else x.name
                out += _with((replace(x, name=own),), known)
                known[x.name] = Var(own, x.value.dtype)
            else:
                out += _with((x,), known)
        (made,) = _with((store,), known)
        assert isinstance(made, n.Store)
        if k:
            at = (b.index(k - 1), *(made.index[d] for d in _varying(s, store)))
            value = b.map_expr(made.value, lambda e: replace(e, buffer=name, index=at) if _is_of(e, store) else None)
            made = replace(made, buffer=name, index=at, value=value)
        return [*out, made]

    def sum(self, store: n.Store, beside: str, varying: Mapping[int, Expr]) -> n.Store:
        """An element of the table with what the others have for it."""
        at = tuple(varying.get(d, i) for d, i in enumerate(store.index))
        total: Expr = Load(store.buffer, at, self.buffers[store.buffer].dtype)
        for k in range(_TABLES - 1):
            total = Apply("add", (total, Load(beside, (b.index(k), *varying.values()), total.dtype)), total.dtype)
        return replace(store, index=at, value=total)

    def each(self, dims: Sequence[Expr], store: Callable[[tuple[Expr, ...]], n.Store], s: n.Loop) -> n.Stmt:
        """A loop over all elements of an array."""
        axes = [self.names.fresh(s.axis) for _ in dims]
        made: n.Stmt = store(tuple(Var(axis, "index") for axis in axes))
        for axis, extent in zip(reversed(axes), reversed(dims), strict=True):
            made = n.Loop(axis, b.ZERO, extent, b.ONE, "parallel", (made,), span=s.span)
        return made


def _varying(s: n.Loop, store: n.Store) -> list[int]:
    """The dimensions along which iterations count in several places; none where they add to one element."""
    own = {s.axis, *(x.name for x in s.body if isinstance(x, n.Let))}
    return [d for d, i in enumerate(store.index) if variables_read(i) & own or buffers_read(i)]


def _added(store: n.Store) -> Expr | None:
    """What is added to the element; a sum of longer integers that is cut to these is one of them."""
    made, here = store.value, Load(store.buffer, store.index, store.value.dtype)
    whole = itemsize(made.dtype)
    match made:
        case Apply("cast", (inner,), _):
            made = inner
        case _:
            pass
    if not made.dtype.startswith(_INTEGERS) or itemsize(made.dtype) < whole:
        return None
    match made:
        case Apply("add", (one, other), _):
            pass
        case _:
            return None
    for x, value in ((one, other), (other, one)):
        match x:
            case Apply("cast", (inner,), _) if inner == here:
                return value
            case _ if x == here:
                return value
    return None


def _is_of(e: Expr, store: n.Store) -> bool:
    return isinstance(e, Load) and e.buffer == store.buffer


def _with(block: Sequence[n.Stmt], known: Mapping[str, Expr]) -> tuple[n.Stmt, ...]:
    return tuple(map_statement(x, lambda e: known.get(e.name) if isinstance(e, Var) else None) for x in block)

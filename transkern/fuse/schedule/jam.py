"""Four rows of a recurrence go through its columns together:

    for i in 1 .. n:                               for i_block in 1 .. n by 4:
        for j in 1 .. m:                    to         for j in 1 .. m:
            d[i, j] = f(d[i - 1, j],                       now := f(d[i_block - 1, j], …, left)
                        d[i - 1, j - 1],                   now_1 := f(now, left, left_1)
                        d[i, j - 1])                       …
                                                           left, left_1, … = now, now_1, …

One row alone waits for each element before the next one; four rows are four such chains, and a processor works on all
of them. Legal where nothing comes from a later column of a row above; then each element is computed from the same
elements by the same operations. What the rows hand to each other, and from column to column, stays in variables: a
compiler of C cannot tell which elements the stores of the other rows have changed.

`choose_stores`: where both branches store one element, the value is chosen, and stored once.
"""

from __future__ import annotations

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.together import always
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    map_block,
    map_own,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_ROWS = 4


def choose_stores(program: n.Program) -> n.Program:
    """The program with one store of a chosen value for two branches that store to one element."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, block)
            match s:
                case n.If(condition, (n.Store(buffer, index, one),), (n.Store(other, at, two),)):
                    if (buffer, index) == (other, at):
                        s = n.Store(buffer, index, b.where(condition, one, two), span=s.span)
                case _:
                    pass
            out.append(s)
        return tuple(out)

    return replace(program, body=block(program.body))


def jam_rows(program: n.Program) -> n.Program:
    """The program with rows of recurrences that go through their columns together."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Jamming(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables)


class _Jamming(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.variables = Names.of(program), dict(program.variables)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.Loop(kind="sequential", step=b.ONE, body=(n.Loop(kind="sequential", step=b.ONE) as inner,)):
                store = self.recurrence(s, inner)
                if store is not None:
                    return self.together(s, inner, store)
            case _:
                pass
        return [self.inside(s)]

    def recurrence(self, outer: n.Loop, inner: n.Loop) -> n.Store | None:
        """The one store of the columns, where rows may go together and a column waits for the one before it."""
        stores = [s for s in inner.body if isinstance(s, n.Store)]
        if len(stores) != 1 or not all(isinstance(s, (n.Let, n.Store)) for s in inner.body):
            return None
        store = stores[0]
        for e in (inner.start, inner.stop):
            if outer.axis in variables_read(e) or buffers_read(e):
                return None
        loads = [e for x in inner.body for own in own_exprs(x) for e in walk_expr(own)
                 if isinstance(e, Load) and e.buffer == store.buffer]  # fmt: skip
        certain = {e for x in inner.body for own in own_exprs(x) for e in always(own)}
        distances = [self.offset(e, store, outer, inner) for e in loads]
        for load, distance in zip(loads, distances, strict=True):
            if distance is None:
                return None
            up, back = distance
            if (0 < up < _ROWS and back < 0) or (-_ROWS < up < 0 and back > 0):
                return None
            if back == 1 and load not in certain and not self.there(load, outer, inner):
                return None  # before the first column, it may be no element
        return store if any(distance is not None and distance[0] == 0 < distance[1] for distance in distances) else None

    # --- what is made of it

    def together(self, outer: n.Loop, inner: n.Loop, store: n.Store) -> list[n.Stmt]:
        block = Var(self.names.fresh(f"{outer.axis}_block"))
        extent = b.sub(outer.stop, outer.start)
        if not b.is_nonnegative(extent):
            extent = b.maximum(extent, b.ZERO)
        full = b.add(outer.start, b.mul(b.index(_ROWS), b.floordiv(extent, b.index(_ROWS))))
        dtype = self.program.buffers[store.buffer].dtype
        left = [Var(self.names.fresh("left"), dtype) for _ in range(_ROWS)]
        now = [Var(self.names.fresh("now"), dtype) for _ in range(_ROWS)]
        body: list[n.Stmt] = []
        for row in range(_ROWS):
            body += self.one_row(outer, inner, store, row, block, left, now)
        read = {v for s in body for e in own_exprs(s) for v in variables_read(e)}
        before: list[n.Stmt] = []
        for row, (old, new) in enumerate(zip(left, now, strict=True)):
            if old.name in read:
                self.variables[old.name] = dtype
                here = {outer.axis: b.add(block, b.index(row)), inner.axis: b.sub(inner.start, b.ONE)}
                at = tuple(b.substitute(i, here) for i in store.index)
                before.append(n.Assign(old.name, Load(store.buffer, at, dtype), span=store.span))
                body.append(n.Assign(old.name, new, span=store.span))
        columns = replace(inner, body=tuple(body))
        made: tuple[n.Stmt, ...] = (*before, columns)
        if before:  # the column before the first one is there if there is a first one
            made = (n.If(b.compare("less", inner.start, inner.stop), made, span=inner.span),)
        rows = replace(outer, axis=block.name, stop=full, step=b.index(_ROWS), body=made)
        return [rows, replace(outer, start=full)]

    def one_row(
        self, outer: n.Loop, inner: n.Loop, store: n.Store, row: int, block: Var, left: list[Var], now: list[Var]
    ) -> list[n.Stmt]:
        """The body of the columns for one of the rows, elements of the others in variables."""
        names = {s.name: self.names.fresh(s.name) for s in inner.body if isinstance(s, n.Let)} if row else {}
        loaded: dict[Load, Var] = {}
        before: list[n.Stmt] = []
        stored = False

        def change(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer == store.buffer:
                up, back = self.offset(e, store, outer, inner) or (-1, 0)
                if back == 0 and 0 <= up <= row and (up or stored):
                    return now[row - up]
                if back == 1 and 0 <= up <= row:
                    return left[row - up]
                if self.there(e, outer, inner) and not stored:  # loaded in any case: no branch decides on it
                    if e not in loaded:
                        loaded[e] = Var(self.names.fresh("above"), e.dtype)
                        before.append(n.Let(loaded[e].name, e, span=store.span))
                    return loaded[e]
            return None

        def rename(e: Expr) -> Expr | None:
            if isinstance(e, Var):
                return Var(names[e.name], e.dtype) if e.name in names else here.get(e.name)
            return None

        here: dict[str, Expr] = {outer.axis: b.add(block, b.index(row))}
        out: list[n.Stmt] = []
        for s in inner.body:
            s = map_own(s, change)
            out += before
            before.clear()
            if isinstance(s, n.Store):
                out += self.chosen(now[row].name, s)
                s, stored = replace(s, value=now[row]), True
            if isinstance(s, n.Let) and s.name in names:
                s = replace(s, name=names[s.name])
            out.append(s)
        return [x for s in out for x in map_block((s,), rename)]

    def chosen(self, name: str, store: n.Store) -> list[n.Stmt]:
        """What is stored, under a name; both values of a choice first where that costs little: GCC then chooses without
        a branch."""
        made: list[n.Stmt] = []
        value = store.value
        match value:
            case Apply("where", (condition, *values), dtype) if all(map(_cheap, values)):
                names = [Var(self.names.fresh("choice"), dtype) for _ in values]
                made += [n.Let(v.name, e, span=store.span) for v, e in zip(names, values, strict=True)]
                value = Apply("where", (condition, *names), dtype)
            case _:
                pass
        return [*made, n.Let(name, value, span=store.span)]

    def offset(self, load: Load, store: n.Store, outer: n.Loop, inner: n.Loop) -> tuple[int, int] | None:
        """How many rows above and columns before the element that is stored a load looks; None where that is not one
        and the same everywhere."""
        i, j = Var(outer.axis), Var(inner.axis)
        terms = [b.affine(e)[0] for e in store.index]
        rows = [k for k, t in enumerate(terms) if t.get(i) == 1 and j not in t]
        columns = [k for k, t in enumerate(terms) if t.get(j) == 1 and i not in t]
        others = [variables_read(e) for k, e in enumerate(store.index) if k not in rows + columns]
        inside = {outer.axis, inner.axis, *(s.name for s in inner.body if isinstance(s, n.Let))}
        if len(rows) != 1 or len(columns) != 1 or len(load.index) != len(store.index):
            return None
        if any(names & inside for names in others) or any(buffers_read(e) for e in store.index):
            return None
        gaps = [b.difference(x, y) for x, y in zip(load.index, store.index, strict=True)]
        if any(gap is None or (gap and k not in (rows[0], columns[0])) for k, gap in enumerate(gaps)):
            return None
        return -(gaps[rows[0]] or 0), -(gaps[columns[0]] or 0)

    def there(self, load: Load, outer: n.Loop, inner: n.Loop) -> bool:
        """Whether what is loaded is an element for all rows and columns, under no condition."""
        info = self.program.buffers[load.buffer]
        if len(load.index) != len(info.dims) or any(buffers_read(i) for i in load.index):
            return False
        lets = {s.name for s in inner.body if isinstance(s, n.Let)}
        if any(variables_read(i) & lets for i in load.index):
            return False
        self.levels += [Level(loop.axis, loop.start, loop.stop) for loop in (outer, inner)]
        found = all(
            self.holds(b.compare("greater_equal", i, b.ZERO)) and self.holds(b.compare("less", i, dim))
            for i, dim in zip(load.index, info.dims, strict=True)
        )
        del self.levels[-2:]
        return found


_CHEAP = {"add", "subtract", "maximum", "minimum", "negative"}


def _cheap(e: Expr) -> bool:
    """Whether computing a value that may not be chosen costs next to nothing and touches no memory."""
    return not any(isinstance(x, Load) or (isinstance(x, Apply) and x.op not in _CHEAP) for x in walk_expr(e))

"""Tables that loops go through by diagonals lie in memory by diagonals:

    alloc t: [n, m]                           let down = least + (n <= m); let right = least + (n > m)
    for wave in …:                            alloc t: [n + m - 1, least]
        parallel row in …:                    for wave in …:
            let i = row + 1                       parallel row in …:
            let j = wave - row + 1      to            let i = row + 1; let j = wave - row + 1
            t[i, j] = t[i - 1, j] + …                 t[i * down + j * right] = t[(i - 1) * down + j * right] + …

Threads of a warp that have a diagonal's points stand in as many rows: each of them asks for a sector of its own, of
which it takes one element. With as many places for each diagonal as the shorter axis has (`least`), their elements are
neighbours.

- *Property.* A table of the function's own, of two axes, that is loaded and stored element by element alone; more
  places in the text go along diagonals, in parallel loops, than go along rows in a nest. Fills with a number go over
  the memory as it is.
- *Legality.* Each element has a place of its own, and all that touches it knows where that is.
- *Schedule.* At most twice the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import bodies, exprs, map_block, own_parts, touched, walk, with_bodies
from transkern.records import replace


def skew_tables(program: n.Program) -> n.Program:
    """The program with such tables by diagonals."""
    tables = {name: x for name, x in program.buffers.items() if _may_be_skewed(x)}
    if not tables:
        return program
    others = {name for s in walk(program.body) if not isinstance(s, (n.Alloc, n.Store)) for name in touched(s)}
    others |= {e.buffer for e in exprs(program.body) if isinstance(e, Load) and len(e.index) != 2}
    others |= {s.buffer for s in walk(program.body) if isinstance(s, n.Store) and len(s.index) != 2}
    tables = {name: x for name, x in tables.items() if name not in others}
    made = Counter(s.buffer for s in walk(program.body) if isinstance(s, n.Alloc))
    along = Counter[str]()
    for name, weight in _directions(program.body, tables, (), {}):
        along[name] += weight
    tables = {name: x for name, x in tables.items() if made[name] == 1 and along[name] > 0}
    if not tables:
        return program
    skewing = _Skewing(tables, Names.of(program))
    body = skewing.block(map_block(program.body, skewing.load))
    buffers = program.buffers | {name: replace(x, dims=_dims(x)) for name, x in tables.items()}
    return replace(program, body=body, buffers=buffers)


def _may_be_skewed(x: n.Buffer) -> bool:
    plain = x.layout == "C" and not x.element and not x.is_reserved and not x.permutation and not x.kept
    return x.role == "temporary" and len(x.dims) == 2 and plain


def _dims(x: n.Buffer) -> tuple[Expr, Expr]:
    """How many diagonals, and how many places each has."""
    rows, columns = x.dims
    return b.maximum(b.sub(b.add(rows, columns), b.ONE), b.ZERO), b.minimum(rows, columns)


def _directions(
    statements: Iterable[n.Stmt], buffers: Mapping[str, n.Buffer], loops: tuple[n.Loop, ...], lets: Mapping[str, Expr]
) -> Iterator[tuple[str, int]]:
    """Of each place that touches a table in a parallel loop: 1 along a diagonal, -2 along a row, where loops stand
    around that."""
    known = dict(lets)
    for s in statements:
        if isinstance(s, n.Let) and s.value.dtype == "index":
            known[s.name] = b.substitute(s.value, known)
        if isinstance(s, n.Loop) and _filled(s, buffers) is not None:
            continue
        found = [(e.buffer, e.index) for e in own_parts(s) if isinstance(e, Load) and e.buffer in buffers]
        found += [(s.buffer, s.index)] if isinstance(s, n.Store) and s.buffer in buffers else []
        if loops and loops[-1].kind == "parallel":
            lane = Var(loops[-1].axis, "index")
            for name, index in found:
                down, right = (b.affine(b.substitute(i, known))[0].get(lane, 0) for i in index)
                if abs(down) == 1 and down == -right:
                    yield name, 1
                elif right and len(loops) > 1:
                    yield name, -2
        for body in bodies(s):
            yield from _directions(body, buffers, (*loops, s) if isinstance(s, n.Loop) else loops, known)


def _filled(s: n.Loop, buffers: Mapping[str, n.Buffer]) -> n.Store | None:
    """The store of a nest that fills a table with a number."""
    match s:
        case n.Loop(i, b.ZERO, rows, b.ONE, "parallel", (n.Loop(j, b.ZERO, columns, b.ONE, "parallel", (store,)),)):
            if isinstance(store, n.Store) and store.buffer in buffers and isinstance(store.value, Const):
                whole = store.index == (Var(i, "index"), Var(j, "index"))
                return store if whole and buffers[store.buffer].dims == (rows, columns) else None
    return None


class _Skewing:
    """The statements on tables as they lie then; of each, how far apart the elements of two rows and columns stand."""

    def __init__(self, tables: Mapping[str, n.Buffer], names: Names) -> None:
        self.tables, self.names = tables, names
        self.apart = {
            name: tuple(Var(names.fresh(f"{name}_{way}"), "index") for way in ("down", "right")) for name in tables
        }

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = list[n.Stmt]()
        for s in statements:
            if isinstance(s, n.Alloc) and s.buffer in self.tables:
                rows, columns = self.tables[s.buffer].dims
                least, flat = b.minimum(rows, columns), b.compare("less_equal", rows, columns)
                for x, one, other in zip(self.apart[s.buffer], (b.ONE, b.ZERO), (b.ZERO, b.ONE), strict=True):
                    out.append(n.Let(x.name, b.add(least, b.where(flat, one, other)), span=s.span))
            out.append(self.statement(s))
        return tuple(out)

    def statement(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Store) and s.buffer in self.tables:
            return replace(s, index=self.place(s.buffer, s.index))
        if isinstance(s, n.Loop) and (fill := _filled(s, self.tables)) is not None:
            diagonals, places = _dims(self.tables[fill.buffer])
            (inner,) = s.body
            assert isinstance(inner, n.Loop)
            return replace(s, stop=diagonals, body=(replace(inner, stop=places),))
        return with_bodies(s, self.block)

    def place(self, name: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Counted from the beginning of the memory."""
        down, right = (b.mul(i, apart) for i, apart in zip(index, self.apart[name], strict=True))
        return (b.add(down, right),)

    def load(self, e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer not in self.tables:
            return None
        return Load(e.buffer, self.place(e.buffer, tuple(b.map_expr(i, self.load) for i in e.index)), e.dtype)

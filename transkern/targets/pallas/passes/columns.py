"""Rows of a few elements are turned for loops in order that go over many of them: each column is an array of its own.

    while …:                                        parallel p in 0 .. n: x_0[p] = x[p, 0]; x_2[p] = x[p, 2]
        i = …; … x[i, 2] …                          while …:
        parallel j in 0 .. n:               to          … x_2[i] …
            x[j, 0] = f(x[j, 0], x[j, 2])               parallel j in 0 .. n: x_0[j] = f(x_0[j], x_2[j])
                                                    parallel p in 0 .. n: x[p, 0] = x_0[p]

A last axis of four lies along the lanes of a TPU and fills 4 of 128; a column of its own fills all of them. The columns
are copied once before the loop, and those that it changes once behind it. Short parallel loops over such an axis are
written out first: those that stand in others, and copies and exchanges of rows (`x[i] = x[m]`) of what is turned then.

It holds where the loop names all of an array's elements by a number along one axis (the others may be anything): two
numbers are two arrays, which share no element, so each dependence is one within a column. What columns the loop names
decides, not how wide the array is: no more of it is held than was.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from transkern.fuse.loops.unroll import extent_of, iterations
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    exprs,
    is_in_order,
    map_own,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_COLUMNS = 16
"""Columns of one array, at most."""
_STATEMENTS = 256
"""Statements that a short loop becomes, at most."""
_MERGED = {"sum": "add", "max": "maximum", "min": "minimum", "any": "logical_or", "all": "logical_and"}
"""How the terms of one row are put together, of what is reduced in any order."""
_PLAIN = (n.Alloc, n.Let, n.Assign, n.Store, n.Accumulator, n.Accumulate, n.If)

Index = tuple[Expr, ...]
Place = tuple[int, ...]


def hold_columns(program: n.Program) -> n.Program:
    """The program with such arrays turned, for its outermost loops in order."""
    state = _Turning(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


class _Turning:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.given = {p.name for p in program.params if isinstance(p, n.ArrayParam)}

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if is_in_order(s):
                out += self.turned(s)
            elif isinstance(s, n.If):
                out.append(with_bodies(s, self.block))
            else:
                out.append(s)
        return tuple(out)

    def turned(self, loop: n.Stmt) -> list[n.Stmt]:
        """The loop with what stands before and behind it; alone where no array of it is turned."""
        kept = dict(self.buffers), dict(self.variables)
        every = _parts(with_bodies(loop, lambda body: self.written_out(body, True, None)), self.buffers)
        self.buffers, self.variables = dict(kept[0]), dict(kept[1])
        short = with_bodies(loop, lambda body: self.written_out(body, False, every))
        parts = _parts(short, self.buffers)
        if not parts:
            self.buffers, self.variables = kept
            return [loop]
        names = {
            (of, at): self.names.fresh("_".join([of, *map(str, at)]))
            for of, (_, places) in parts.items() for at in places
        }  # fmt: skip
        for (of, _), name in names.items():
            info, axes = self.buffers[of], parts[of][0]
            dims = tuple(d for k, d in enumerate(info.dims) if k not in axes)
            self.buffers[name] = replace(
                info, name=name, dims=dims, role="temporary", layout="C", permutation=False, aligned=True
            )
        made = _Renaming({of: axes for of, (axes, _) in parts.items()}, names)
        within = {s.buffer for s in walk((short,)) if isinstance(s, n.Alloc)}
        before: list[n.Stmt] = []
        behind: list[n.Stmt] = []
        changed = {(s.buffer, _at(s.index, parts[s.buffer][0])) for s in _stores(short) if s.buffer in parts}
        for of, (axes, places) in parts.items():
            if of in within:
                continue
            before += [n.Alloc(names[of, at], span=loop.span) for at in places]
            if self.is_known_before(of, loop):
                before += [self.copied(of, axes, at, names[of, at], True, loop) for at in places]
            others = _others(self.program.body, loop)
            if of in self.given or any(of in buffers_used(s) | buffers_written(s) for s in others):
                back = [at for at in places if (of, at) in changed]
                behind += [self.copied(of, axes, at, names[of, at], False, loop) for at in back]
        (inner,) = made.block((short,))
        return [*before, inner, *behind]

    def is_known_before(self, of: str, loop: n.Stmt) -> bool:
        return of in self.given or any(of in buffers_written(s) for s in _others(self.program.body, loop))

    def copied(self, of: str, axes: Place, at: Place, part: str, there: bool, loop: n.Stmt) -> n.Stmt:
        """Loops that copy a column into an array of its own, or back."""
        info = self.buffers[of]
        rest = [k for k in range(len(info.dims)) if k not in axes]
        walked = {k: Var(self.names.fresh("p"), "index") for k in rest}
        own, index = tuple(walked[k] for k in rest), list[Expr]()
        exists: Expr = b.TRUE  # where not, the loop names it in no iteration, or behind a check
        for k, dim in enumerate(info.dims):
            index.append(walked[k] if k in walked else b.index(at[axes.index(k)]))
            if k in axes:
                exists = b.both(exists, b.compare("less", b.index(at[axes.index(k)]), dim))
        s: n.Stmt = n.Store(of, tuple(index), Load(part, own, info.dtype), span=loop.span)
        if there:
            s = n.Store(part, own, Load(of, tuple(index), info.dtype), span=loop.span)
        for k in reversed(rest):
            stop = b.where(exists, info.dims[k], b.ZERO) if k == rest[0] else info.dims[k]
            s = n.Loop(walked[k].name, b.ZERO, stop, b.ONE, "parallel", (s,), span=loop.span)
        return s

    # --- short loops

    def written_out(self, block: tuple[n.Stmt, ...], inside: bool, turned: Container[str] | None) -> tuple[n.Stmt, ...]:
        """A block of the loop with short parallel loops written out: those `inside` of others, and those that go along
        a row of an array that is `turned` when they are (None: all)."""
        out: list[n.Stmt] = []
        for s in block:
            if isinstance(s, n.Loop) and self.is_short(s):
                if inside or turned is None or any(of in turned for of in {*buffers_used(s), *buffers_written(s)}):
                    out += self.iterations(replace(s, body=self.written_out(s.body, True, turned)))
                    continue
            deep = inside or (isinstance(s, n.Loop) and s.kind == "parallel")
            out.append(with_bodies(s, lambda body, deep=deep: self.written_out(body, deep, turned)))  # type: ignore[misc]
        return tuple(out)

    def is_short(self, s: n.Loop) -> bool:
        extent = extent_of(s)
        if s.kind != "parallel" or extent is None or not 0 < extent <= _COLUMNS:
            return False
        if not all(isinstance(x, _PLAIN) for x in walk(s.body)) or sum(1 for _ in walk(s.body)) * extent > _STATEMENTS:
            return False
        own = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
        terms = [x for x in walk(s.body) if isinstance(x, n.Accumulate) and x.name not in own]
        plain = all(any(x is y for y in s.body) and x.op in _MERGED and x.position is None for x in terms)
        return plain and len({x.name for x in terms}) == len(terms) and _names_a_column(s)

    def iterations(self, s: n.Loop) -> Iterator[n.Stmt]:
        """The iterations; what they reduce for a loop outside is one term."""
        own = {x.name for x in walk(s.body) if isinstance(x, n.Let | n.Assign)}
        declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
        terms: dict[str, tuple[n.Accumulate, list[Expr]]] = {}
        for one in iterations(s, self.names, self.variables, self.buffers, own):
            for x in one:
                if isinstance(x, n.Accumulate) and x.name not in declared:
                    term = self.names.fresh("term")
                    yield n.Let(term, x.value, span=x.span)
                    terms.setdefault(x.name, (x, []))[1].append(Var(term, x.value.dtype))
                    continue
                declared |= {y.name for y in walk((x,)) if isinstance(y, n.Accumulator)}
                yield x
        for x, values in terms.values():
            total = values[0]
            for value in values[1:]:
                total = Apply(_MERGED[x.op], (total, value), x.value.dtype)
            yield replace(x, value=total)


class _Renaming:
    """Elements of arrays as those of their parts."""

    def __init__(self, axes: dict[str, Place], names: dict[tuple[str, Place], str]) -> None:
        self.axes, self.names = axes, names

    def place(self, of: str, index: Index) -> tuple[str, Index]:
        axes = self.axes[of]
        rest = tuple(b.map_expr(i, self.load) for k, i in enumerate(index) if k not in axes)
        return self.names[of, _at(index, axes)], rest

    def load(self, e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in self.axes:
            part, index = self.place(e.buffer, e.index)
            return Load(part, index, e.dtype)
        return None

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Alloc) and s.buffer in self.axes:
                out += [replace(s, buffer=part) for (of, _), part in self.names.items() if of == s.buffer]
                continue
            if isinstance(s, n.Store) and s.buffer in self.axes:
                part, index = self.place(s.buffer, s.index)
                out.append(replace(s, buffer=part, index=index, value=b.map_expr(s.value, self.load)))
                continue
            out.append(with_bodies(map_own(s, self.load), self.block))
        return tuple(out)


def _names_a_column(s: n.Loop) -> bool:
    """Whether the loop's axis is a place of its own along an array's axis."""
    axis = Var(s.axis, "index")
    indices = [x.index for x in _stores(s)] + [e.index for e in exprs(s.body) if isinstance(e, Load)]
    return any(len(index) > 1 and axis in index for index in indices)


def _stores(s: n.Stmt) -> list[n.Store]:
    return [x for x in walk((s,)) if isinstance(x, n.Store)]


def _at(index: Index, axes: tuple[int, ...]) -> Place:
    found = [b.constant(index[k]) for k in axes]
    return tuple(c for c in found if c is not None)


def _parts(loop: n.Stmt, buffers: dict[str, n.Buffer]) -> dict[str, tuple[Place, list[Place]]]:
    """The arrays that are turned: along which axes the loop names places by numbers, and which places."""
    parallel = {s.axis for s in walk((loop,)) if isinstance(s, n.Loop) and s.kind == "parallel"}
    accesses: dict[str, list[Index]] = {}
    for store in _stores(loop):
        accesses.setdefault(store.buffer, []).append(store.index)
    others: set[str] = set()
    for s in walk((loop,)):
        for e in (e for own in own_exprs(s) for e in walk_expr(own)):
            if isinstance(e, Load):
                accesses.setdefault(e.buffer, []).append(e.index)
        if isinstance(s, (n.Library, n.Scanning, n.Compact, n.Return)):
            others |= {*buffers_used(s), *buffers_written(s)}
    found = {}
    for of, indices in accesses.items():
        info = buffers[of]
        if of in others or info.element or info.is_reserved or any(len(i) != len(info.dims) for i in indices):
            continue
        axes = tuple(k for k, dim in enumerate(info.dims) if all(_is_place(i[k], dim) for i in indices))
        walked = any(variables_read(e) & parallel for i in indices for k, e in enumerate(i) if k not in axes)
        places = sorted({_at(i, axes) for i in indices})
        if axes and walked and len(places) <= _COLUMNS:
            found[of] = axes, places
    return found


def _is_place(e: Expr, dim: Expr) -> bool:
    at, extent = b.constant(e), b.constant(dim)
    return at is not None and at >= 0 and (extent is None or at < extent)


def _others(block: Sequence[n.Stmt], loop: n.Stmt) -> Iterator[n.Stmt]:
    """The statements that are neither the loop nor in it, without those around it."""
    for s in block:
        if s is loop:
            continue
        if isinstance(s, n.If):
            yield replace(s, then=(), orelse=())
            yield from _others(s.then, loop)
            yield from _others(s.orelse, loop)
        else:
            yield s

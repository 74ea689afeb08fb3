"""Shrink temporaries to what one iteration needs:

    parallel i: t[i] = f(x[i]); y[i] = g(t[i])    to    parallel i: let t = f(x[i]); y[i] = g(t)

A temporary that lives inside one loop loses the dimensions that the loop's axis selects; without dimensions left it is
a scalar. A temporary whose elements die where the elements of a result are stored takes the result's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.library import RAISING
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    map_statement,
    own_exprs,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip


def contract_temporaries(program: n.Program) -> n.Program:
    """The program with temporaries of one loop shrunk, and dead ones gone."""
    return _drop_unused(_Contracting(program).run())


class _Contracting:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)
        self.variables = dict(program.variables)
        self.names = Names.of(program)

    def run(self) -> n.Program:
        body = self.block(self.program.body)
        return replace(self.program, body=body, buffers=self.buffers, variables=self.variables)

    def block(self, statements: tuple[n.Stmt, ...], around: frozenset[str] = frozenset()) -> tuple[n.Stmt, ...]:
        """A block; `around`: the buffers that the statement which it is the body of reads by itself."""
        out = list(statements)
        moved: set[str] = set()  # temporaries that are no longer allocated at this level
        for position, s in enumerate(statements):
            if not isinstance(s, (n.Loop, n.Compact)):
                continue
            for name in self._private(s, position, out, around):
                if self._take_result(name, position, out) or self._shrink(name, position, out):
                    moved.add(name)
        kept = [s for s in out if not (isinstance(s, n.Alloc) and s.buffer in moved)]
        return tuple(self._inside(s) for s in kept)

    def _inside(self, s: n.Stmt) -> n.Stmt:
        return with_bodies(s, lambda body: self.block(body, _read_around(body, s)))

    def _private(self, loop: n.Stmt, position: int, siblings: list[n.Stmt], around: frozenset[str]) -> list[str]:
        """Temporaries that are allocated and used for this loop alone."""
        used = buffers_used(loop) | buffers_written(loop)
        found = []
        for name in sorted(used):
            if name not in self.buffers or self.buffers[name].role != "temporary" or name in around:
                continue
            others = [
                s for k, s in enumerate(siblings) if k != position and not (isinstance(s, n.Alloc) and s.buffer == name)
            ]
            if any(name in buffers_used(s) | buffers_written(s) for s in others):
                continue
            if not any(isinstance(s, n.Alloc) and s.buffer == name for s in siblings[:position]):
                continue
            if any(isinstance(s, (n.Library,)) and name in s.outs + s.ins for s in walk((loop,))):
                continue
            if any(isinstance(s, n.Compact) and name in s.outputs for s in walk((loop,))):
                continue
            found.append(name)
        return found

    # --- taking a result's memory

    def _take_result(self, name: str, position: int, siblings: list[n.Stmt]) -> bool:
        """Let the temporary live in the memory of an array that is stored, element by element, where it dies."""
        loop = siblings[position]
        if not isinstance(loop, n.Loop) or not self._needs_row(name, loop):
            return False
        mine = self.buffers[name]
        for s in walk((loop,)):
            if not isinstance(s, n.Store) or s.buffer == name or name not in buffers_read(s.value):
                continue
            target = self.buffers[s.buffer]
            if target.role == "argument" or (target.dtype, target.dims) != (mine.dtype, mine.dims):
                continue
            if s.buffer in buffers_used(loop) or any(
                s.buffer in buffers_used(o) | buffers_written(o)
                for o in siblings[:position]
                if not isinstance(o, n.Alloc)
            ):
                continue
            stores = [w for w in walk((loop,)) if isinstance(w, n.Store) and w.buffer == s.buffer]
            allocation = next((o for o in siblings if isinstance(o, n.Alloc) and o.buffer == s.buffer), None)
            if allocation is None:  # in a block around this one, where it may hold what is still needed
                continue
            if len(stores) != 1 or not self._dies_at(name, s, loop):
                continue
            other = s.buffer

            def change(e: Expr, other: str = other) -> Expr | None:
                if isinstance(e, Load) and e.buffer == name:
                    return Load(other, tuple(b.map_expr(i, change) for i in e.index), e.dtype)
                return None

            siblings[position] = _rename_stores(map_statement(loop, change), name, other)
            first = min(k for k, o in enumerate(siblings) if isinstance(o, n.Alloc) and o.buffer in (name, other))
            siblings.remove(allocation)
            siblings.insert(first, allocation)
            del self.buffers[name]
            return True
        return False

    def _needs_row(self, name: str, loop: n.Loop) -> bool:
        """Whether the temporary would still be an array inside the loop (a scalar costs nothing)."""
        places = [body for body in _blocks_of(loop.body) if any(_touches(s, name) for s in body)]
        innermost = [
            body
            for body in places
            if any(isinstance(s, (n.Store, n.Let, n.Accumulate)) and _touches(s, name) for s in body)
        ]
        return len(innermost) > 1

    def _dies_at(self, name: str, store: n.Store, loop: n.Loop) -> bool:
        """Whether all accesses have the store's subscript and none comes after its loop."""
        for e in (x for s in walk((loop,)) for own in own_exprs(s) for x in walk_expr(own)):
            if isinstance(e, Load) and e.buffer == name and not _same_shape_of_index(e.index, store.index):
                return False
        for s in walk((loop,)):
            if isinstance(s, n.Store) and s.buffer == name and not _same_shape_of_index(s.index, store.index):
                return False
        order = list(walk((loop,)))
        last = max(k for k, s in enumerate(order) if any(name in buffers_read(e) for e in own_exprs(s)))
        return order[last] is store or last < order.index(store)

    # --- shrinking

    def _shrink(self, name: str, position: int, siblings: list[n.Stmt]) -> bool:
        loop = siblings[position]
        assert isinstance(loop, (n.Loop, n.Compact))
        accesses = _accesses(loop, name)
        if not accesses:
            return False
        buffer = self.buffers[name]
        if any(len(a) != len(buffer.dims) for a in accesses):
            return False
        drop = [
            d for d in range(len(buffer.dims))
            if all(a[d] == accesses[0][d] for a in accesses) and self._selected(accesses[0][d], loop)
        ]  # fmt: skip
        if not any(loop.axis in variables_read(accesses[0][d]) for d in drop):
            return False
        keep = [d for d in range(len(buffer.dims)) if d not in drop]
        if keep and isinstance(loop, n.Compact) and name in _read_around(loop.body, loop):
            return False  # rows that are kept whole: they must be there behind the body
        self.buffers[name] = replace(buffer, dims=tuple(buffer.dims[d] for d in keep))

        def change(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer == name:
                return Load(name, tuple(b.map_expr(e.index[d], change) for d in keep), e.dtype)
            return None

        def restore(s: n.Stmt) -> n.Stmt:
            if isinstance(s, n.Store) and s.buffer == name:
                return replace(s, index=tuple(s.index[d] for d in keep))
            if isinstance(s, n.Scanning) and s.buffer == name:
                s = replace(s, index=tuple(s.index[d] for d in keep))
            return with_bodies(s, lambda body: tuple(restore(x) for x in body))

        changed = restore(map_statement(loop, change))
        assert isinstance(changed, (n.Loop, n.Compact))
        inner: tuple[n.Stmt, ...] = (n.Alloc(name), *changed.body)
        if not keep:
            inner = self._to_scalar(name, changed.body)
            if isinstance(changed, n.Compact):
                read = _scalar_reader(name, buffer.dtype)
                changed = replace(changed, mask=b.map_expr(changed.mask, read), values=tuple(
                    b.map_expr(v, read) for v in changed.values
                ))  # fmt: skip
        siblings[position] = replace(changed, body=inner)
        return True

    def _selected(self, index: Expr, loop: n.Loop | n.Compact) -> bool:
        """Whether the subscript is fixed during an iteration of the loop."""
        inner = {s.axis for s in walk(loop.body) if isinstance(s, (n.Loop, n.Compact, n.Scanning))}
        inner |= {s.name for s in walk(loop.body) if isinstance(s, n.Let)}
        return not (variables_read(index) & inner) and not buffers_read(index)

    def _to_scalar(self, name: str, body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """``t[] = v; … t[] …`` as a `Let`, or as a local variable where it is stored conditionally."""
        dtype = self.buffers.pop(name).dtype
        stores = [s for s in walk(body) if isinstance(s, n.Store) and s.buffer == name]
        direct = len(stores) == 1 and any(s is stores[0] for s in body)
        read = _scalar_reader(name, dtype)
        if not direct:
            self.variables[name] = dtype

        def convert(s: n.Stmt) -> n.Stmt:
            if isinstance(s, n.Store) and s.buffer == name:
                value = b.map_expr(s.value, read)
                return n.Let(name, value, span=s.span) if direct else n.Assign(name, value, span=s.span)
            return s

        def deep(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
            return tuple(with_bodies(convert(s), deep) for s in block)

        made = tuple(map_statement(s, read) for s in deep(body))
        if not direct:
            zero = Const(False, "bool") if dtype == "bool" else Const(0 if dtype.startswith(("i", "u")) else 0.0, dtype)
            made = (n.Let(name, zero), *made)
        return made


def _scalar_reader(name: str, dtype: str) -> Callable[[Expr], Expr | None]:
    return lambda e: Var(name, dtype) if isinstance(e, Load) and e.buffer == name else None


def _accesses(loop: n.Stmt, name: str) -> list[tuple[Expr, ...]]:
    found = [
        e.index for s in walk((loop,)) for own in own_exprs(s) for e in walk_expr(own)
        if isinstance(e, Load) and e.buffer == name
    ]  # fmt: skip
    return found + [s.index for s in walk((loop,)) if isinstance(s, (n.Store, n.Scanning)) and s.buffer == name]


def _read_around(body: tuple[n.Stmt, ...], s: n.Stmt) -> frozenset[str]:
    """The buffers that `s` reads outside its `body`: what a compaction keeps, the condition of a loop."""
    found = {x for e in own_exprs(s) for x in buffers_read(e)}
    for other in bodies(s):
        if other is not body:
            found |= {x for o in other for x in buffers_used(o)}
    return frozenset(found)


def _touches(s: n.Stmt, name: str) -> bool:
    return name in buffers_used(s) | buffers_written(s)


def _blocks_of(block: tuple[n.Stmt, ...]) -> Iterable[tuple[n.Stmt, ...]]:
    yield block
    for s in block:
        for inner in bodies(s):
            yield from _blocks_of(inner)


def _same_shape_of_index(one: tuple[Expr, ...], two: tuple[Expr, ...]) -> bool:
    """Equal up to the names of inner axes: each component is the same expression or both are bare axes."""
    return len(one) == len(two) and all(
        x == y or (isinstance(x, Var) and isinstance(y, Var)) for x, y in zip(one, two, strict=True)
    )


def _rename_stores(s: n.Stmt, name: str, other: str) -> n.Stmt:
    if isinstance(s, n.Store) and s.buffer == name:
        return replace(s, buffer=other)
    return with_bodies(s, lambda body: tuple(_rename_stores(x, name, other) for x in body))


def _without_result(s: n.Compact) -> tuple[n.Stmt, ...]:
    """What a filter that nobody needs leaves: the work of the loops that went into it."""
    lasting = (n.Store, n.Assign, n.Accumulate, n.Scanning, n.Compact, n.Library)
    if not any(isinstance(x, lasting) for x in walk(s.body)):
        return ()
    return (n.Loop(s.axis, s.start, s.stop, b.ONE, "parallel", s.body, span=s.span),)


def _drop_unused(program: n.Program) -> n.Program:
    """Without stores to temporaries that nothing reads, and without what only served them."""
    while True:
        read: set[str] = set()
        for s in program.body:
            read |= buffers_used(s)
        counted = {v for s in program.body for v in scalars_used(s)} | {
            v for buffer in program.buffers.values() for d in buffer.dims for v in variables_read(d)
        }
        for s in walk(program.body):  # a filter whose count is used needs its memory
            if isinstance(s, n.Compact) and s.count in counted:
                read |= set(s.outputs)
            if isinstance(s, n.Library) and (set(s.outs) & read or s.name in RAISING):  # what it makes besides
                read |= set(s.outs)
        dead = {
            name for name, buffer in program.buffers.items()
            if buffer.role == "temporary" and name not in read
        }  # fmt: skip

        def clean(block: tuple[n.Stmt, ...], dead: set[str] = dead) -> tuple[n.Stmt, ...]:
            out: list[n.Stmt] = []
            for s in block:
                match s:
                    case n.Alloc(buffer=stored) | n.Store(buffer=stored) | n.Scanning(buffer=stored) if stored in dead:
                        continue
                    case n.Compact(outputs=outputs) if set(outputs) <= dead:
                        out.extend(clean(_without_result(s)))
                        continue
                    case n.Library(outs=outs) if outs and set(outs) <= dead:
                        continue
                    case _:
                        pass
                s = with_bodies(s, clean)
                if isinstance(s, n.Loop) and not s.body:
                    continue
                if isinstance(s, n.If) and not s.then and not s.orelse:
                    continue
                out.append(s)
            return tuple(out)

        body = clean(program.body)
        used_names = {x for s in body for x in buffers_used(s) | buffers_written(s)} | {
            s.buffer for s in walk(body) if isinstance(s, n.Alloc)
        }
        kept = {k: v for k, v in program.buffers.items() if v.role == "argument" or k in used_names}
        if body == program.body and len(kept) == len(program.buffers):
            return program
        program = replace(program, body=body, buffers=kept)

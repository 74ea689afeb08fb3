"""Arrays as blocks have them: without dimensions of one place, and each place of a short one as an array of its own.

    out[i, 0] := a; out[i, 1] := b      to      out_0[i] := a; out_1[i] := b      and behind the kernel a stack of both

A dimension of one to eight places that no loop walks would lie along the lanes, 128 to the row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load
from transkern.ir.traverse import buffers_written, exprs, map_block, walk, with_bodies
from transkern.targets.pallas.printing.quote import assign, name, quote, sequence

if TYPE_CHECKING:
    import ast

    from transkern.targets.pallas.module.host import Host

_SHORT = 8
Index = tuple[Expr, ...]


def laid_out(host: Host, kernel: n.Kernel) -> tuple[n.Kernel, list[ast.stmt], list[ast.stmt]]:
    """The kernel with such arrays, and the host's statements before and behind it. The host gets to know the arrays."""
    accesses: dict[str, list[Index]] = {}
    for s in walk(kernel.body):
        if isinstance(s, n.Store):
            accesses.setdefault(s.buffer, []).append(s.index)
    for e in exprs(kernel.body):
        if isinstance(e, Load):
            accesses.setdefault(e.buffer, []).append(e.index)
    others = {s.buffer for s in walk(kernel.body) if isinstance(s, n.Scanning)}
    written = buffers_written(kernel)
    parts = {
        of: places for of, indices in accesses.items()
        if of not in others and (places := _short(host.program.buffers[of], indices, of in written))
    }  # fmt: skip
    if not parts:
        return kernel, [], []
    made = _Parts(host, parts, written)
    kernel = replace(kernel, body=made.block(map_block(kernel.body, made.load)))
    return kernel, made.before, made.behind()


def only_moves(kernel: n.Kernel) -> bool:
    """Whether a kernel computes nothing."""
    return all(
        not isinstance(e, Apply) or e.op in ("cast", "logical_not") or e.dtype == "index" for e in exprs(kernel.body)
    ) and not any(isinstance(s, n.Accumulate) for s in walk(kernel.body))


def without_fills(kernel: n.Kernel) -> tuple[n.Kernel, tuple[n.Stmt, ...]]:
    """A kernel, and what it fills with a constant beside what it computes: XLA has no need of memory for that."""
    stores = [s.buffer for s in walk(kernel.body) if isinstance(s, n.Store)]
    used = {e.buffer for e in exprs(kernel.body) if isinstance(e, Load)}

    def is_fill(s: n.Stmt) -> bool:
        return (
            isinstance(s, n.Store) and bool(s.index) and isinstance(s.value, Const)
            and stores.count(s.buffer) == 1 and s.buffer not in used
        )

    def apart(block: tuple[n.Stmt, ...]) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]]:
        rest, fills = list[n.Stmt](), list[n.Stmt]()
        for s in block:
            if isinstance(s, n.Loop) and s.kind == "parallel":
                (mine, others) = apart(s.body)
                rest += [replace(s, body=mine)] if mine else []
                fills += [replace(s, body=others)] if others else []
            else:
                (fills if is_fill(s) else rest).append(s)
        return tuple(rest), tuple(fills)

    rest, fills = apart(kernel.body)
    if not fills or not any(isinstance(s, n.Store) for s in walk(rest)):
        return kernel, ()
    return replace(kernel, body=rest), fills


def _short(buffer: n.Buffer, indices: list[Index], written: bool) -> list[int]:
    """The dimensions of one place, and of what is written a short one, if no loop walks them."""
    if any(len(i) != len(buffer.dims) for i in indices):
        return []
    still = [
        k for k, dim in enumerate(buffer.dims)
        if b.constant(dim) is not None and all(b.constant(i[k]) is not None for i in indices)
    ]  # fmt: skip
    ones = [k for k in still if b.constant(buffer.dims[k]) == 1]
    short = [k for k in still if k not in ones and 1 < (b.constant(buffer.dims[k]) or 0) <= _SHORT]
    found = ones if not written or len(short) != 1 else [*ones, *short]
    return sorted(found) if 0 < len(found) < len(buffer.dims) else []


class _Parts:
    def __init__(self, host: Host, dims: dict[str, list[int]], written: frozenset[str]) -> None:
        self.host, self.dims, self.written = host, dims, written
        self.names: dict[tuple[str, Index], str] = {}
        self.before: list[ast.stmt] = []

    def name(self, of: str, index: Index) -> tuple[str, Index]:
        """The array that a place lies in, and where."""
        dims = self.dims[of]
        at = tuple(index[k] for k in dims)
        if (of, at) not in self.names:
            host, buffer = self.host, self.host.program.buffers[of]
            part = host.module.fresh(f"{host.module.identifier(of)}_part")
            host.module.identifiers[part] = self.names[of, at] = part
            rest = tuple(d for k, d in enumerate(buffer.dims) if k not in dims)
            program = host.module.program
            own = replace(buffer, name=part, dims=rest, element="")
            program = replace(program, buffers={**program.buffers, part: own})
            host.module.program = host.program = program
            if of in host.defined or of not in self.written:
                host.ensure(of)
                places = [":" if k not in dims else str(b.constant(index[k])) for k in range(len(index))]
                self.before.append(assign(part, quote(f"_0[{', '.join(places)}]", name(host.array(of).name))))
                host.defined.add(part)
        return self.names[of, at], tuple(i for k, i in enumerate(index) if k not in dims)

    def load(self, e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in self.dims:
            part, index = self.name(e.buffer, e.index)
            return Load(part, tuple(b.map_expr(i, self.load) for i in index), e.dtype)
        return None

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Store) and s.buffer in self.dims:
            part, index = self.name(s.buffer, s.index)
            return replace(s, buffer=part, index=index)
        return with_bodies(s, self.block)

    def behind(self) -> list[ast.stmt]:
        """What is written gets its shape back."""
        out: list[ast.stmt] = []
        host = self.host
        for of in [x for x in self.dims if x in self.written]:
            buffer, dims = host.program.buffers[of], self.dims[of]
            made = {at: part for (x, at), part in self.names.items() if x == of}
            shape = sequence([host.size(d) for d in buffer.dims])
            own = host.array(of).name
            short = next((k for k in dims if b.constant(buffer.dims[k]) != 1), None)
            if short is not None and b.constant(buffer.dims[short]) != len(made):
                host.ensure(of)
            host.defined.add(of)
            if short is None:
                out.append(assign(own, quote("_0.reshape(_1)", name(*made.values()), shape)))
                continue
            axis = sum(k not in dims for k in range(short))
            by_place = {b.constant(at[dims.index(short)]): part for at, part in made.items()}
            count = b.constant(buffer.dims[short])
            assert count is not None
            items = []
            for place in range(count):
                old = quote(f"jnp.take(_0.reshape(_1), {place}, {axis})", name(own), sequence(
                    [host.size(d) for k, d in enumerate(buffer.dims) if k not in dims or k == short]))  # fmt: skip
                items.append(name(by_place[place]) if place in by_place else old)
            out.append(assign(own, quote(f"jnp.stack(_0, {axis}).reshape(_1)", sequence(items), shape)))
        return out

"""Loops in order that go along arrays of one axis, however long: blocks of them in SMEM, one after the other.

    for i: s := a * s + x[i]; y[i] := s + y[i - 1]      to      a grid over blocks of x and y; s is handed on in SMEM

All arrays that the loop names at ``i + k`` come in blocks, which Pallas moves while the one before is worked on; a few
places before and behind are looked up in the blocks beside it, or, of what the loop writes, among the last elements of
the one before. What it names in any other way, and only reads, lies in SMEM as a whole.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import exprs, variables_read, walk
from transkern.targets.pallas.forms.carrying import settle, state, unpack
from transkern.targets.pallas.forms.interface import Interface, array_of
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.printing.quote import assign, call, comment, function, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host

_NEAR = 8
"""Places that a loop may look back to, or ahead."""


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible."""
    loop = _only_loop(kernel)
    stream = Streams(host, kernel, loop)
    start, before, had = len(host.out), dict(host.env), set(host.defined)
    stream.run()
    made = host.out[start:]
    del host.out[start:]
    after, defined = host.env, host.defined
    host.env, host.defined = before, had  # the other form starts from what there was before this one
    host.inline(kernel)
    other = host.out[start:]
    del host.out[start:]
    host.env, host.defined = after, defined & host.defined
    tables = array_of(sequence([host.size(d) for d in host.program.buffers[x].dims]) for x in stream.tables)
    first, last = (host.size(x) for x in (loop.start, loop.stop))
    runs = quote("_0 < _1", *((first, last) if stream.step > 0 else (last, first)))
    conditions = [runs] if not stream.tables else [runs, call(host.module.helper("_in_smem"), [tables])]
    conditions += [host.expr(e).node for e in host.there]
    host.out.append(comment(f"{kernel.name}: a kernel where it has a step, over blocks of its arrays in SMEM"))
    test = ast.BoolOp(ast.And(), conditions) if len(conditions) > 1 else runs
    host.out.append(ast.If(test, made, other))


def _only_loop(kernel: n.Kernel) -> n.Loop:
    """The kernel's only loop, behind and before which only numbers are set."""
    loops = [s for s in kernel.body if isinstance(s, n.Loop)]
    if len(loops) != 1 or abs(b.constant(loops[0].step) or 0) != 1:
        raise Inexpressible("more than one loop in order")
    inside = list(walk(kernel.body))
    if any(isinstance(s, n.Loop) and s.kind == "parallel" for s in inside):
        raise Inexpressible("a pass in a loop in order")
    for s in inside:
        if isinstance(s, (n.Compact, n.Scanning, n.Library)):
            raise Inexpressible(f"a {type(s).__name__.lower()} in a kernel")
    if any(isinstance(s, n.Store) and not s.index for s in walk(loops[0].body)):  # each block begins them anew
        raise Inexpressible("a number in memory that a loop in order sets")
    for s in kernel.body:
        if s is loops[0] or isinstance(s, (n.Let, n.Assign, n.Accumulator, n.Alloc, n.Guard)):
            continue
        ahead = kernel.body.index(s) < kernel.body.index(loops[0])
        if not isinstance(s, n.Store) or (s.index and not ahead) or len(s.index) > 1:
            raise Inexpressible("a step beside a loop in order")
    return loops[0]


class Streams(Interface):
    """A kernel of one loop over blocks of arrays; `near` says how far from its own place it looks in each."""

    mosaic = True

    def __init__(self, host: Host, kernel: n.Kernel, loop: n.Loop) -> None:
        super().__init__(host, kernel, 0, {})
        self.main, self.step = loop, b.constant(loop.step) or 1
        self.here = self.module.fresh("here")
        shifts = {self.shift_of(s.index) for s in walk(loop.body) if isinstance(s, n.Store) and s.index}
        if len(shifts) > 1 or None in shifts:
            raise Inexpressible("stores at different places")
        self.moved: int = next(iter(shifts), 0) or 0
        self.kinds: list[ast.expr] = []  # the types of what the loop carries
        self.near: dict[str, tuple[int, int]] = {}
        for e in exprs(loop.body):
            if isinstance(e, Load) and e.index:
                self.look_at(e)
        for of in self.written:
            if self.program.buffers[of].dims:
                self.near.setdefault(of, (0, 0))
        sizes = {self.program.buffers[of].dims for of in self.written if self.program.buffers[of].dims}
        if len(sizes) > 1 or not self.near:
            raise Inexpressible("arrays of different sizes")

    def shift_of(self, index: tuple[Expr, ...]) -> int | None:
        """How far from the loop's own place a subscript is; None where it is anything else."""
        return b.difference(index[0], Var(self.main.axis, "index")) if len(index) == 1 else None

    def look_at(self, e: Load) -> None:
        shift = self.shift_of(e.index) if len(self.program.buffers[e.buffer].dims) == 1 else None
        if shift is None or abs(shift - self.moved) > _NEAR:
            if e.buffer in self.written or e.buffer in self.near:
                raise Inexpressible("an element that the run chooses of an array that is written")
            self.table(e.buffer)
            return
        if e.buffer in self.tables:
            raise Inexpressible("an array that is looked up, too")
        back, ahead = self.near.get(e.buffer, (0, 0))
        shift -= self.moved
        if e.buffer in self.written and shift * self.step > 0:
            raise Inexpressible("an element that a later step writes")
        self.near[e.buffer] = min(back, shift), max(ahead, shift)

    # --- statements

    def sequential(self, s: n.Loop) -> None:
        if s is not self.main:
            super().sequential(s)
            return
        carried = self.carried(s.body)
        self.prepare(carried)
        counter = self.module.identifier(s.axis)
        step = self.module.fresh(f"{counter}_step")
        own = quote(f"_0.astype(jnp.{self.module.integer})", name(counter))  # Pallas counts in 32 bits
        first = [assign(counter, own)] if self.module.wide else []
        body = self.inner(s.body, carried, first, {s.axis: Value(name(counter), "index")})
        self.out.append(function(step, [counter, "state"], body))
        self.out.append(unpack(self, carried, call(f"{self.here}.loop", [name(step), state(self, carried)])))
        self.kinds = [self.kind_of(of) for of in carried]
        settle(self, carried)

    def kind_of(self, of: str) -> ast.expr:
        dtype = self.env[of].dtype
        return quote(f"jnp.{'bool_' if dtype == 'bool' else self.module.dtype(dtype)}")

    def load(self, e: Load) -> Value:
        if not e.index:
            return self.number(e)
        if not self.nested:
            return self.element(e)
        if e.buffer in self.near:
            node: ast.expr = quote("_0.read(_1)", name(self.vector(e.buffer)), self.expr(e.index[0]).node)
        else:
            dims = self.program.buffers[e.buffer].dims
            at = self.expr(b.ravel(e.index, dims[: len(e.index)])).node
            node = quote("_0[_1]", name(self.table(e.buffer)), at)
        return Value(quote("_0 != 0", node) if e.dtype == "bool" else node, e.dtype)

    def element(self, e: Load) -> Value:
        """An element that the kernel takes as a number, before its loop or behind it."""
        if e.buffer in self.written or variables_read(e) & set(self.env):
            raise Inexpressible("an element beside a loop in order")
        param = self.module.fresh(f"{self.module.identifier(e.buffer)}_element")
        self.numbers[param] = self.host.expr(e).node
        return Value(name(param), e.dtype)

    def store(self, s: n.Store, mask: Value | None) -> None:
        if not s.index:
            self.set_number(s)
            return
        dtype = self.program.buffers[s.buffer].dtype
        value = self.expr(s.value)
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        node = self.typed(self.cast(value, dtype), dtype)
        if dtype == "bool":
            node = quote("jnp.where(_0, 1.0, 0.0)", node)
        if not self.nested and not self.is_static(s.index[0]):
            raise Inexpressible("an element beside a loop in order")
        way = "write" if self.nested else "start"
        self.out.append(ast.Expr(call(f"{self.vector(s.buffer)}.{way}", [self.expr(s.index[0]).node, node])))

    def is_filled(self, of: str) -> bool:
        """Whether the loop stores all of an array, and looks at no element before it has."""
        (dim,) = self.program.buffers[of].dims
        first, last = self.main.start, self.main.stop
        if self.step < 0:
            first, last = b.add(last, b.ONE), b.add(first, b.ONE)
        moved = b.index(self.moved)
        below, above = b.constant(b.add(first, moved)), b.difference(dim, b.add(last, moved))
        if below is None or above is None or not (0 <= below <= _NEAR and 0 <= above <= _NEAR):
            return False
        begun = [s.index[0] for s in self.kernel.body if isinstance(s, n.Store) and s.buffer == of and s.index]
        beside = [b.index(k) for k in range(below)] + [b.sub(dim, b.index(k + 1)) for k in range(above)]
        whole = all(any(b.difference(x, at) == 0 for at in begun) for x in beside)
        for s in self.main.body if whole else ():
            if isinstance(s, n.Guard):
                return False
            loads = [e for e in exprs((s,)) if isinstance(e, Load) and e.buffer == of]
            own = any(self.shift_of(e.index) == self.moved for e in loads)
            if own or (isinstance(s, n.Store) and s.buffer == of and s.index):
                return not own
        return False

    # --- the call

    def run(self) -> None:
        host, module = self.host, self.module
        self.all_statements()
        local = {s.buffer for s in walk(self.kernel.body) if isinstance(s, n.Alloc)}
        written = [x for x in self.near if x in self.written]
        read = [x for x in self.near if x not in self.written]
        kept = self.kept_numbers(local)
        ins = array_of(sequence([self.given(x), *map(ast.Constant, self.near[x])]) for x in read)
        outs = array_of(self.described_out(x, local) for x in written)
        tables = {t: quote("_0.reshape(-1)", self.given(x)) for x, t in self.tables.items()}
        params = [*self.numbers, *tables, self.here, *(self.vector(x) for x in (*read, *written)),
                  *self.number_results.values()]  # fmt: skip
        of = module.fresh(self.kernel.name)
        host.out.append(function(of, params, [*kept, *self.out]))
        bounds = sequence([host.size(self.main.start), host.size(self.main.stop), ast.Constant(self.step)])
        scalars = array_of(self.scalar_type(x) for x in self.number_results)
        arguments = [array_of(self.numbers.values()), array_of(tables.values()), ins, outs, scalars, bounds]
        made = call(module.helper("_stream"), [name(of), *arguments, ast.Constant(self.moved), array_of(self.kinds)])
        self.taken([*written, *self.number_results], made)

    def described_out(self, of: str, local: set[str]) -> ast.expr:
        """What an array that the loop writes begins as, its size and type, and how far the loop looks back in it."""
        started = of in self.host.defined and of not in local and not self.is_filled(of)
        size = self.host.size(self.program.buffers[of].dims[0])
        dtype = quote("jnp.float32") if self.program.buffers[of].dtype == "bool" else quote(
            f"jnp.{self.module.dtype(self.program.buffers[of].dtype)}"
        )
        back = any(self.near[of])
        return sequence([self.given(of) if started else ast.Constant(None), size, dtype, ast.Constant(back)])

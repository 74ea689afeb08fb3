"""Grid kernels: one pure function of a block, which `_grid` (see `helpers`) runs over all blocks.

An array whose dims walk the block's slots in order is cut into blocks; one that is read in another way (a column, a
transpose) is brought into that form by XLA first. Slots that are reduced or sliced lie whole in every block.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load
from transkern.ir.traverse import buffers_read, buffers_used, buffers_written, is_in_order, variables_read, walk
from transkern.targets.pallas.forms.interface import live_outside
from transkern.targets.pallas.forms.layout import laid_out, only_moves, without_fills
from transkern.targets.pallas.forms.loads import (
    counted,
    in_order,
    is_doubtful,
    is_looked_up,
    is_slice,
    load_moved,
    turns_of,
)
from transkern.targets.pallas.forms.slots import slots_of, turned, turned_arrays, with_places
from transkern.targets.pallas.forms.statements import Statements, trips
from transkern.targets.pallas.forms.subscripts import Gather, Span_, sort
from transkern.targets.pallas.forms.values import Columns, Inexpressible, Value, product_like
from transkern.targets.pallas.forms.vector import Array, AxisInfo
from transkern.targets.pallas.passes.wide import SHORT, in_words
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import assign, call, function, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host

_COMBINABLE = ("sum", "max", "min", "any", "all", "count", "first", "last", "argmax", "argmin")
_PLACES = ("argmax", "argmin")


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible."""
    given, (kernel, fills) = kernel, without_fills(kernel)
    if fills:
        host.inline(replace(kernel, body=fills))
    kernel = with_places(kernel, host.program.variables)
    kernel, first, last = laid_out(host, kernel)
    host.out += first
    rank, slots = slots_of(kernel.body)
    live = live_outside(host.program, given)
    own = {x.buffer for x in walk(kernel.body) if isinstance(x, n.Alloc) and x.buffer not in live}
    slots = turned(kernel, rank, slots, own)
    kernel = turned_arrays(host, kernel, slots, own)
    loops = [s for s in kernel.body if isinstance(s, n.Loop)]
    rest = [s for s in kernel.body if not isinstance(s, (n.Loop, n.Accumulator))]
    before = (
        [s for s in rest if isinstance(s, n.Let) and kernel.body.index(s) < kernel.body.index(loops[0])]
        if loops
        else []
    )
    rest = [s for s in rest if s not in before]
    if rank == 0 or len(loops) != 1 or not all(isinstance(s, n.Store) and not s.index for s in rest):
        raise Inexpressible("more than one loop")
    if only_moves(kernel):
        raise Inexpressible("it only moves data")
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning, n.Guard)) or (is_in_order(s) and buffers_written(s)):
            raise Inexpressible("a loop in order")
    for s in before:
        host.rank, host.slots = 0, {}
        host.statement(s)
    kernel = replace(kernel, body=tuple(s for s in kernel.body if s not in before))
    if any(host.program.buffers[x].dtype in SHORT for x in buffers_used(kernel) | buffers_written(kernel)):
        found = in_words(kernel)
        if found is None:
            raise Inexpressible("arithmetic of short integers")
        kernel = found
    try:
        Body(host, rank, slots, kernel, given).run(kernel)
    except Columns:  # of one axis: as rows, which XLA takes apart when blocks are loaded
        if rank > 1:
            raise
        Body(host, 2, {axis: slot + 1 for axis, slot in slots.items()}, kernel, given).run(kernel)
    host.out += last


class Body(Statements):
    """The function of one block."""

    mosaic = True

    def __init__(self, host: Host, rank: int, slots: dict[str, int], kernel: n.Kernel, whole: n.Kernel) -> None:
        super().__init__(host.module, rank, slots)
        self.host = host
        self.written = buffers_written(kernel)
        self.used = buffers_used(kernel)
        self.scalar_operands: dict[str, ast.expr] = {}
        self.operands: dict[str, ast.expr] = {}
        self.buffer_operands: dict[str, str] = {}
        self.given_as = {x.name: x.dtype for x in whole.body if isinstance(x, n.Accumulator)}
        live = live_outside(host.program, whole)
        self.local = {x.buffer for x in walk(kernel.body) if isinstance(x, n.Alloc) and x.buffer not in live}
        self.results: list[str] = []
        self.extents: dict[int, Expr] = dict.fromkeys(set(range(rank)) - set(slots.values()), b.ONE)
        self.whole: set[int] = set()
        self.uses_block = False
        self.seen: dict[str, str] = {}  # operands by what XLA makes them of
        self.made_whole: set[str] = set()  # the operands that XLA makes, each as large as the block
        self.short: set[str] = set()  # the operands of short integers, which a block has in 32 bits
        variables = self.program.variables
        self.program = replace(self.program, variables={k: self.held_as(t) for k, t in variables.items()})
        for s in walk(kernel.body):
            if isinstance(s, n.Loop) and s.kind == "parallel":
                slot = slots[s.axis]
                extent = trips(s)
                if b.difference(self.extents.setdefault(slot, extent), extent) != 0 or extent != s.stop:
                    self.whole.add(slot)

    # --- short integers

    def held_as(self, dtype: str) -> str:
        return "int32" if dtype in SHORT else super().held_as(dtype)

    def cast(self, value: Value, dtype: str) -> Value:
        if dtype not in SHORT:
            return super().cast(value, dtype)
        return Value(self.typed(value, "int32"), dtype, value.axes)  # `in_words` has cut it off

    def typed(self, value: Value, dtype: str) -> ast.expr:
        return super().typed(value, "int32" if dtype in SHORT else dtype)

    def as_stored(self, buffer: str) -> ast.expr:
        dtype, value = self.program.buffers[buffer].dtype, name(self.arrays[buffer].name)
        return quote(f"_0.astype(jnp.{dtype})", value) if dtype in SHORT else value

    # --- the call

    def run(self, kernel: n.Kernel) -> None:
        host, module = self.host, self.module
        outer = [s for s in kernel.body if isinstance(s, n.Accumulator)]
        for buffer in sorted(self.used | self.written):
            if host.program.buffers[buffer].dtype not in {*spelling.MOSAIC_DTYPES, *SHORT}:
                raise Inexpressible(f"{host.program.buffers[buffer].dtype} in a TPU kernel")
        if outer:
            self.reduce_all(outer)
        self.block(s for s in kernel.body if not isinstance(s, n.Store))
        if self.operands and all(o in self.made_whole for o in self.operands):
            raise Columns("its operands are columns")
        returned: list[ast.expr] = [self.as_stored(r) for r in self.results]
        returned += [node for a in outer for node in self.handed_back(a)]
        self.out.append(ast.Return(sequence(returned)))
        block = "block" if self.uses_block else "_"
        arguments = [block, *self.scalar_operands, *(o.removeprefix("view.") for o in self.operands)]
        of = module.fresh(kernel.name)
        short = [assign(x, quote("_0.astype(jnp.int32)", name(x))) for x in sorted(self.short)]
        host.out.append(function(of, arguments, [*short, *self.out]))
        tiled = sequence([ast.Constant(s not in self.whole) for s in range(self.rank)])
        extents = sequence([host.size(self.extents[s]) for s in range(self.rank)])
        results = [
            sequence([self.shape(r), quote(f"jnp.{module.dtype(self.program.buffers[r].dtype)}")]) for r in self.results
        ]
        numbers = [(module.identifier(a.name), op, dtype) for a in outer for op, dtype in self.numbers_of(a)]
        results += [sequence([sequence([]), quote(f"jnp.{dtype}"), ast.Constant(op)]) for _, op, dtype in numbers]
        order = list(self.operands)
        aliases = {
            order.index(self.buffer_operands[r]): k for k, r in enumerate(self.results) if r in self.buffer_operands
        }
        made = call(
            module.helper("_grid"),
            [name(of), extents, tiled, ast.List(list(self.scalar_operands.values()), ast.Load()),
             ast.List(list(self.operands.values()), ast.Load()), ast.List(results, ast.Load()),
             ast.Dict([ast.Constant(k) for k in aliases], [ast.Constant(v) for v in aliases.values()])],
        )  # fmt: skip
        targets = [host.array(r).name for r in self.results]
        targets += ["_" if op == "extreme" else of for of, op, _ in numbers]
        host.out.append(
            ast.Assign([ast.Tuple([ast.Name(t, ast.Store()) for t in targets], ast.Store())], made, lineno=0)
        )
        for r in self.results:
            host.defined.add(r)
            slots = self.arrays[r].slots
            assert slots is not None
            if len(slots) != self.rank:
                dims = sequence([host.size(d) for d in self.program.buffers[r].dims])
                host.out.append(assign(host.array(r).name, quote("_0.reshape(_1)", name(host.array(r).name), dims)))
        for a in outer:
            own = name(module.identifier(a.name))
            host.env[a.name] = Value(quote("_0 != 0", own) if a.dtype == "bool" else own, a.dtype)
            if (kind := self.given_as.get(a.name, "")) in SHORT:
                host.env[a.name] = Value(quote(f"_0.astype(jnp.{kind})", own), kind)
        host.rank, host.slots = 0, {}
        for s in kernel.body:
            if isinstance(s, n.Store):
                host.statement(s)

    def shape(self, buffer: str) -> ast.expr:
        slots = self.arrays[buffer].slots
        assert slots is not None
        dims = dict(zip(slots, self.program.buffers[buffer].dims, strict=True))
        return sequence([self.host.size(dims[s]) if s in dims else ast.Constant(1) for s in range(self.rank)])

    def reduce_all(self, outer: list[n.Accumulator]) -> None:
        """Reductions over everything: blocks may be ragged, so what lies beyond the end is masked."""
        for a in outer:
            if a.op not in _COMBINABLE or a.dtype not in ("float32", "int32", "index", "float64", "bool"):
                raise Inexpressible(f"`{a.op}` of {a.dtype} over everything")
            if a.op in _PLACES:
                self.extremes[a.name] = None
        self.ragged = True

    ragged = False

    def handed_back(self, a: n.Accumulator) -> list[ast.expr]:
        """What a block finds of a reduction over everything: truths as numbers, places with the extremes there."""
        own = self.env[a.name].node
        if a.dtype == "bool":
            return [quote("_0.astype(jnp.int32)", self.typed(self.env[a.name], "bool"))]
        extreme = self.extremes.get(a.name)
        return [own] if extreme is None else [own, extreme.node]

    def numbers_of(self, a: n.Accumulator) -> list[tuple[str, str]]:
        """How the blocks' numbers are combined, and their types."""
        if a.dtype == "bool":
            return [("min" if a.op == "all" else "max", "int32")]
        made = [(a.op, self.module.dtype(a.dtype))]
        extreme = self.extremes.get(a.name)
        return made if extreme is None else [*made, ("extreme", self.module.dtype(extreme.dtype))]

    def accumulate(self, s: n.Accumulate) -> None:
        _, kept = self.declared[s.name]
        closed = self.open_slots() - kept
        if kept or not self.ragged:
            self.whole |= closed
            super().accumulate(s)
            return
        outer = self.mask
        for info in list(self.axes.values()):
            if info.slot not in self.whole:
                inside = quote("_0 < _1", self.position(info).node, self.host.size(info.extent))
                axes = frozenset({info.slot})
                if self.mask is not None:
                    inside, axes = quote("_0 & _1", self.mask.node, inside), axes | self.mask.axes
                self.mask = Value(inside, "bool", axes)
        super().accumulate(s)
        self.mask = outer

    def reduction(
        self, s: n.Accumulate, declaration: n.Accumulator, value: Value, closed: list[int], mask: Value | None
    ) -> Value:  # fmt: skip
        """Truths over everything as numbers: Mosaic neither chooses between vectors of truths nor reduces them."""
        if declaration.dtype != "bool" or not self.ragged or self.declared[s.name][1] or not closed:
            return super().reduction(s, declaration, value, closed, mask)
        op = "min" if s.op == "all" else "max"
        number = Value(quote("jnp.where(_0, 1, 0)", self.typed(value, "bool")), "int32", value.axes)
        as_numbers = replace(declaration, op=op, dtype="int32")
        made = super().reduction(replace(s, op=op), as_numbers, number, closed, mask)
        return Value(quote("_0 > 0", made.node), "bool", made.axes)

    def sequential(self, s: n.Loop) -> None:
        if self.moves_window(s):
            raise Inexpressible("a window that a loop moves")
        super().sequential(s)

    # --- operands

    def expr(self, e: Expr) -> Value:
        if self.hoisting and self._is_hoistable(e) and not self.is_static(e):
            made = self.module.hoist(e)
            assert isinstance(made.node, ast.Name)
            self.scalar_operands.setdefault(made.node.id, made.node)
            return made
        if (
            isinstance(e, Apply)
            and e.dtype != "bool"
            and not self.varies(e)
            and not self.is_static(e)
            and not self._local(e)
        ):
            param = self.module.fresh("scalar")
            self.host.rank, self.host.slots = 0, {}
            self.scalar_operands[param] = self.host.expr(e).node
            return Value(name(param), e.dtype)
        return super().expr(e)

    def _local(self, e: Expr) -> bool:
        """Whether `e` depends on what this kernel computes."""
        return bool(variables_read(e) & set(self.env)) or bool(buffers_read(e) & self.written)

    def variable(self, of: str, dtype: str) -> Value:
        if of not in self.axes and of not in self.env and of in self.host.env:
            value = self.host.env[of]
            if value.static:
                return value
            param = self.module.identifier(of)
            self.scalar_operands.setdefault(param, value.node)
            return Value(name(param), value.dtype)
        return super().variable(of, dtype)

    def is_static(self, expr: Expr) -> bool:
        return super().is_static(expr) or self.host_static(expr)

    def host_static(self, expr: Expr) -> bool:
        return (
            bool(variables_read(expr))
            and not (variables_read(expr) & (set(self.axes) | set(self.env)))
            and self.host.is_static(expr)
        )

    def position(self, info: AxisInfo) -> Value:
        if info.slot in self.whole:
            return super().position(info)
        self.uses_block = True
        shape = [quote(f"block.shape[{s}]") if s == info.slot else ast.Constant(1) for s in range(self.rank)]
        node = quote(
            f"lax.broadcasted_iota(jnp.{self.module.integer}, _0, {info.slot}) + block.start[{info.slot}]",
            ast.Tuple(shape, ast.Load()),
        )
        return Value(node, "index", frozenset({info.slot}))

    def slot_size(self, slot: int, extents: dict[int, Expr]) -> ast.expr:
        if slot in self.whole and b.difference(self.extents[slot], extents[slot]) != 0:
            return self.size(extents[slot])
        self.uses_block = True
        return quote(f"block.shape[{slot}]")

    def extent_of(self, s: Span_) -> ast.expr:
        return self.slot_size(s.slot, {s.slot: s.extent})

    def load(self, e: Load) -> Value:
        if e in self.views:
            return self.views[e]
        if turns := turns_of(self, e, self.program.buffers[e.buffer].dims):
            moved = load_moved(self, e, self.program.buffers[e.buffer].dims)
            self.whole |= {found.slot for found in turns.values()}
            assert moved is not None
            return moved
        if e.buffer in self.arrays:
            if (picked := self.picked(e)) is not None:
                return picked
            try:
                return self.note(super().load(e), e)
            except Inexpressible:
                if e.buffer in self.written:
                    raise
                return self.view(e)
        dims = self.program.buffers[e.buffer].dims
        if len(e.index) == len(dims) and dims:
            subscripts = sort(self, e.index, dims, is_doubtful(self))
            slots = [x.slot for x in subscripts if isinstance(x, Span_) and x.stride == 1]
            if len(slots) == len(dims) and slots == sorted(set(slots)):
                self.bind_operand(e.buffer, tuple(slots))
                return self.note(super().load(e), e)
        if e.buffer in self.written:
            raise Inexpressible("an array that is read and written in different ways")
        return self.view(e)

    def picked(self, e: Load) -> Value | None:
        """One element of each row of a block, where data choose it."""
        chosen = self.chosen_of_rows(e.buffer, e.index) or self.chosen_of_one(e)
        if chosen is None:
            return None
        at, along, rows = chosen
        node = call(self.module.helper("_picked"), [name(self.arrays[e.buffer].name), at.node, ast.Constant(along)])
        return Value(node, e.dtype, rows)

    def chosen_of_rows(self, buffer: str, index: tuple[Expr, ...]) -> tuple[Value, int, frozenset[int]] | None:
        """Where in each row of a block the element stands that data choose, along which slot, and the rows' own."""
        slots = self.arrays[buffer].slots
        dims = self.program.buffers[buffer].dims
        if slots is None or len(index) != len(dims):
            return None
        subscripts = sort(self, index, dims)
        chosen = [k for k, x in enumerate(subscripts) if isinstance(x, Gather)]
        rest = [(x, slot) for k, (x, slot) in enumerate(zip(subscripts, slots, strict=True)) if k not in chosen]
        if len(chosen) != 1 or not all(isinstance(x, Span_) and x.whole and x.slot == slot for x, slot in rest):
            return None
        (k,) = chosen
        at = self.expr(index[k])
        rows = frozenset(slot for _, slot in rest)
        if slots[k] in self.open_slots() or at.axes - rows:
            return None
        self.whole.add(slots[k])
        return at, slots[k], rows

    def chosen_of_one(self, e: Load) -> tuple[Value, int, frozenset[int]] | None:
        """The same of an array along one slot, of which each row chooses an element."""
        slots = self.arrays[e.buffer].slots
        if slots is None or len(slots) != 1 or len(e.index) != 1:
            return None
        at = self.expr(e.index[0])
        if not at.axes or slots[0] in self.open_slots() | at.axes:
            return None
        self.whole.add(slots[0])
        return at, slots[0], at.axes

    def note(self, value: Value, e: Load) -> Value:
        """Slots of which an access takes a part lie whole in each block."""
        for x in sort(self, e.index, self.program.buffers[e.buffer].dims, is_doubtful(self)):
            if isinstance(x, Span_) and not x.whole:
                self.whole.add(x.slot)
        slots = self.arrays[e.buffer].slots
        assert slots is not None
        self.whole |= set(slots) - value.axes
        return value

    def bind_operand(self, buffer: str, slots: tuple[int, ...]) -> None:
        host = self.host
        host.ensure(buffer)
        param = host.array(buffer).name
        node: ast.expr = name(param)
        if len(slots) != self.rank:
            shape = dict(zip(slots, self.program.buffers[buffer].dims, strict=True))
            node = quote(
                "_0.reshape(_1)",
                node,
                sequence([host.size(shape[s]) if s in shape else ast.Constant(1) for s in range(self.rank)]),
            )
        self.operands[param] = node
        if self.program.buffers[buffer].dtype in SHORT:
            self.short.add(param)
        self.buffer_operands[buffer] = param
        self.arrays[buffer] = Array(param, slots)

    def view(self, e: Load) -> Value:
        """An operand that XLA makes: a column, a transpose, one element."""
        host = self.host
        local = variables_read(e) - set(self.axes)
        if local & set(self.env) or any(buffers_read(i) & self.written for i in e.index):
            raise Inexpressible("a gather")
        host.rank, host.slots, host.axes, host.mask = self.rank, self.slots, dict(self.axes), self.mask
        try:
            walks = counted(host, e)
            dims = self.program.buffers[e.buffer].dims
            gathers = walks is None and any(isinstance(x, Gather) for x in sort(self, e.index, dims))
            one_by_one = gathers and is_looked_up(host, e, dims)
            one_by_one = one_by_one and not any(isinstance(x, Span_) for x in sort(self, e.index, dims))
            if gathers and not turns_of(host, e, dims) and not one_by_one:
                raise Inexpressible("a gather")
            made = host.load(e)
            as_it_lies = walks is not None and in_order(host, walks[1])  # then it has another shape, and is not moved
        finally:
            host.axes, host.mask = {}, None
        shown = ast.dump(made.node)
        if shown in self.seen:
            self.views[e] = Value(name(self.seen[shown]), e.dtype, made.axes)
            return self.views[e]
        param = self.seen[shown] = self.module.fresh(f"{host.array(e.buffer).name}_part")
        if made.axes:
            self.operands[f"view.{param}"] = made.node
            if e.dtype in SHORT:
                self.short.add(param)
            if len(made.axes) == self.rank and not as_it_lies and not (walks is None and is_slice(self, e)):
                self.made_whole.add(f"view.{param}")
        else:
            self.scalar_operands[param] = quote("_0.astype(jnp.int32)", made.node) if e.dtype in SHORT else made.node
        value = Value(name(param), e.dtype, made.axes)
        self.views[e] = value
        return value

    def store(self, s: n.Store, mask: Value | None) -> None:
        dims = self.program.buffers[s.buffer].dims
        subscripts = sort(self, s.index, dims)
        slots = [x.slot for x in subscripts if isinstance(x, Span_) and x.stride == 1]
        if len(slots) != len(dims) or slots != sorted(set(slots)):
            self.store_chosen(s, mask)
            return
        partial = mask is not None or not all(isinstance(x, Span_) and x.whole for x in subscripts)
        if s.buffer not in self.arrays:
            if partial or s.buffer in buffers_read(s.value):
                self.bind_operand(s.buffer, tuple(slots))
            else:
                self.arrays[s.buffer] = Array(self.host.array(s.buffer).name, tuple(slots))
        for x in subscripts:
            if isinstance(x, Span_) and not x.whole:
                self.whole.add(x.slot)
        if s.buffer not in self.results and s.buffer not in self.local:
            self.results.append(s.buffer)
        super().store(s, mask)

    def store_chosen(self, s: n.Store, mask: Value | None) -> None:
        """A store of one element of each row, where data choose it: all others stay as they are."""
        chosen = self.chosen_of_rows(s.buffer, s.index) if s.buffer in self.arrays and not s.atomic else None
        value = self.expr(s.value)
        if chosen is None or (value.axes | (mask.axes if mask is not None else value.axes)) - chosen[2]:
            raise Inexpressible("a store across the block")
        at, along, _ = chosen
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        dtype, array = self.program.buffers[s.buffer].dtype, name(self.arrays[s.buffer].name)
        here = quote(f"lax.broadcasted_iota(jnp.{self.module.integer}, _0.shape, {along}) == _1", array, at.node)
        if mask is not None:
            here = quote("_0 & _1", here, mask.node)
        node = self.typed(self.cast(value, dtype), dtype)
        self.out.append(assign(array.id, self.chosen(here, node, array, dtype)))
        if s.buffer not in self.results and s.buffer not in self.local:
            self.results.append(s.buffer)

"""Stores into buffers that are values: each makes a new value under the buffer's name."""

from __future__ import annotations

import ast

from transkern.fuse.lowering.updates import operand
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.targets.pallas.forms.loads import any_may_leave, maybe_empty
from transkern.targets.pallas.forms.pieces import as_index, pack
from transkern.targets.pallas.forms.subscripts import Place, Span_, Subscript, slice_of, sort
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.forms.vector import Array, Vector
from transkern.targets.pallas.printing.quote import assign, call, constant, name, quote


class Stores(Vector):
    """A `Vector` that stores."""

    def store(self, s: n.Store, mask: Value | None) -> None:
        if s.atomic:
            self.update(s, mask)
            return
        buffer = self.program.buffers[s.buffer]
        array = self.array(s.buffer)
        value = self.expr(s.value)
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        value = self.cast(value, buffer.dtype)
        if not s.index:
            new = self.bound(Value(self.typed(value, buffer.dtype), buffer.dtype, value.axes), s.value).node
            if mask is not None:
                new = self.chosen(mask.node, new, name(array.name), buffer.dtype)
            self.out.append(assign(array.name, new))
            return
        if array.slots is not None:
            self.store_aligned(s, array, value, mask)
            return
        dims = buffer.dims
        if len(s.index) != len(dims):
            self.store_flat(s, array, value, mask)
            return
        subscripts = sort(self, s.index, dims)
        slots = [x.slot for x in subscripts if isinstance(x, Span_)]
        if all(isinstance(x, Span_) and x.whole for x in subscripts) and slots == list(range(self.rank)):
            node = self.filled(value, buffer.dtype, dims, slots)
            if mask is not None:
                self.ensure(s.buffer)
                node = self.chosen(mask.node, node, name(array.name), buffer.dtype)
            self.out.append(assign(array.name, node))
            return
        if (
            mask is None
            and all(isinstance(x, Span_) and x.whole for x in subscripts)
            and len(slots) == len(set(slots))
            and value.axes <= set(slots)
        ):
            if not value.axes:
                value = Value(self.filled(value, buffer.dtype, dims, slots), buffer.dtype)
                self.out.append(assign(array.name, value.node))
                return
            self.out.append(assign(array.name, self.arranged(value, subscripts, dims)))
            return
        fresh = self.ensure(s.buffer)
        if self.mosaic:
            raise Inexpressible("a scatter")
        self.scatter(s, array, value, mask, subscripts, fresh)

    def update(self, s: n.Store, mask: Value | None) -> None:
        """The updates that all iterations make, of elements that may be the same: one scatter."""
        found = operand(s)
        assert found is not None
        op, other = found
        if self.mosaic:
            raise Inexpressible("updates of elements that data choose")
        self.ensure(s.buffer)
        array, buffer = self.array(s.buffer), self.program.buffers[s.buffer]
        value = self.cast(self.rounded(self.expr(other), other), buffer.dtype)
        node = self.typed(value, buffer.dtype)
        items = [self.expr(i) for i in s.index]
        whole = self.spread(Value(items[0].node, "index", items[0].axes, items[0].static), sorted(self.open_slots()))
        if mask is not None:  # what is masked out is stored nowhere
            limit = quote("_0.size", name(array.name))
            if len(items) == len(buffer.dims):
                limit = quote("_0.shape[0]", name(array.name))
            whole = quote("jnp.where(_0, _1, _2)", mask.node, whole, limit)
        index = [whole, *(i.node for i in items[1:])]
        way = {"add": "add", "subtract": "add", "maximum": "max", "minimum": "min"}[op]
        if op == "subtract":
            node = quote("-_0", node)
        places = ast.Tuple([self.typed(Value(i, "index"), "index") for i in index], ast.Load())
        flat = len(items) != len(buffer.dims)
        own: ast.expr = quote("_0.reshape(-1)", name(array.name)) if flat else name(array.name)
        made = call(self.module.helper("_updated"), [own, places, node, ast.Constant(way)])
        self.out.append(assign(array.name, quote("_0.reshape(_1.shape)", made, name(array.name)) if flat else made))

    def open_slots(self) -> frozenset[int]:
        return frozenset(info.slot for info in self.axes.values())

    def store_flat(self, s: n.Store, array: Array, value: Value, mask: Value | None) -> None:
        """A store by linear index."""
        if self.mosaic:
            raise Inexpressible("a linear index")
        self.ensure(s.buffer)
        (at,) = (self.expr(i) for i in s.index)
        node = at.node
        if mask is not None:  # what is masked out is stored nowhere
            node = quote("jnp.where(_0, _1, _2.size)", mask.node, node, name(array.name))
        flat = quote("_0.reshape(-1).at[_1].set(_2, mode='drop')", name(array.name), node, value.node)
        self.out.append(assign(array.name, quote("_0.reshape(_1.shape)", flat, name(array.name))))

    def scatter(
        self, s: n.Store, array: Array, value: Value, mask: Value | None, subscripts: list[Subscript], fresh: bool
    ) -> None:
        """Everything that is not a whole array: ``.at[…].set(…)``, which XLA does in place. Nothing has been read of an
        array that is `fresh`."""
        slots = [x.slot for x in subscripts if isinstance(x, Span_)]
        plain = all(isinstance(x, Place) or (isinstance(x, Span_) and x.stride > 0) for x in subscripts)
        plain = plain and not any_may_leave(self, subscripts, self.program.buffers[s.buffer].dims)
        if (
            (mask is None
            and plain
            and slots == list(range(self.rank)))
            or (not slots and not value.axes and plain and mask is None)
        ):
            items = [slice_of(self, x) if isinstance(x, Span_) else self.expr(x.at).node for x in subscripts]
            helper = "_with" if maybe_empty(self, subscripts, self.program.buffers[s.buffer].dims) else ""
            if slots and not fresh and self.module.is_made_from(s.value, s.buffer):
                helper = "_stored"
            if helper:
                made = call(self.module.helper(helper), [name(array.name), as_index(items), value.node])
                self.out.append(assign(array.name, made))
                return
            self.out.append(assign(array.name, quote("_0.at[_1].set(_2)", name(array.name), pack(items), value.node)))
            return
        distinct = slots and len(slots) == len(set(slots)) and value.axes <= set(slots)
        if mask is None and plain and distinct and (not fresh or slots != sorted(slots)):
            dims = self.program.buffers[s.buffer].dims
            if not maybe_empty(self, subscripts, dims) and not self.module.is_made_from(s.value, s.buffer):
                extents = tuple(x.extent for x in subscripts if isinstance(x, Span_))
                node = self.arranged(value, subscripts, extents)
                items = [slice_of(self, x) if isinstance(x, Span_) else self.expr(x.at).node for x in subscripts]
                self.out.append(assign(array.name, quote("_0.at[_1].set(_2)", name(array.name), pack(items), node)))
                return
        index = [self.expr(i) for i in s.index]
        if mask is not None:  # what is masked out is stored nowhere
            limit = self.size(self.program.buffers[s.buffer].dims[0])
            index[0] = Value(
                quote("jnp.where(_0, _1, _2)", mask.node, index[0].node, limit), "index", index[0].axes | mask.axes
            )
        if value.axes - frozenset[int]().union(*(i.axes for i in index)):  # a loop of one iteration leaves no trace
            raise Inexpressible("a store that repeats")
        items = [i.node for i in index]
        if maybe_empty(self, subscripts, self.program.buffers[s.buffer].dims):
            made = call(self.module.helper("_with"), [name(array.name), as_index(items), value.node])
            self.out.append(assign(array.name, made))
            return
        self.out.append(
            assign(array.name, quote("_0.at[_1].set(_2, mode='drop')", name(array.name), pack(items), value.node))
        )

    def arranged(self, value: Value, subscripts: list[Subscript], extents: tuple[Expr, ...]) -> ast.expr:
        """`value` over the slots that subscripts walk, as an array whose dimensions come in their order."""
        slots = [x.slot for x in subscripts if isinstance(x, Span_)]
        order = sorted(range(len(slots)), key=slots.__getitem__)  # which dimension each slot's is, ascending
        shape = ast.Tuple([self.size(extents[k]) for k in order], ast.Load())
        node = quote("_0.reshape(_1)", self.spread(value, slots), shape)
        turned = [order.index(k) for k in range(len(slots))]
        return node if turned == sorted(turned) else quote("jnp.transpose(_0, _1)", node, constant(tuple(turned)))

    def store_aligned(self, s: n.Store, array: Array, value: Value, mask: Value | None) -> None:
        """A store into a block that has the slots' dimensions; a part is replaced by joining the rest to it."""
        assert array.slots is not None
        buffer = self.program.buffers[s.buffer]
        subscripts = sort(self, s.index, buffer.dims)
        parts = []
        for x, slot in zip(subscripts, array.slots, strict=True):
            if not isinstance(x, Span_) or x.slot != slot or x.stride != 1:
                raise Inexpressible("a store that is not a slice")
            if not x.whole:
                parts.append(x)
        extra = value.axes | (mask.axes if mask is not None else frozenset())
        if extra - set(array.slots):
            raise Inexpressible("a store that repeats")
        node = self.typed(value, buffer.dtype)
        if mask is not None:
            if parts:
                raise Inexpressible("a masked store to a part")
            node = self.chosen(mask.node, node, name(array.name), buffer.dtype)
        elif value.axes != set(array.slots) or parts:
            node = call(self.module.helper("_fill"), [node, self.block_shape(array, buffer, subscripts)])
        if len(parts) > 1:
            raise Inexpressible("a store to a part in several dimensions")
        for x in parts:
            start, stop = self.size(x.offset), self.size(b.add(x.offset, x.extent))
            truths = self.mosaic and buffer.dtype == "bool"  # Mosaic cannot join vectors of truths
            whole: ast.expr = name(array.name)
            if truths:
                whole, node = (quote("_0.astype(jnp.int32)", y) for y in (whole, node))
            node = call(self.module.helper("_put"), [whole, ast.Constant(x.slot), start, stop, node])
            node = quote("_0 != 0", node) if truths else node
        self.out.append(assign(array.name, node))

    def block_shape(self, array: Array, buffer: n.Buffer, subscripts: list[Subscript]) -> ast.expr:
        """The shape of the part of a block that a store fills: a whole dimension may be cut to a tile."""
        items: list[ast.expr] = [ast.Constant(1)] * self.rank
        for x in subscripts:
            assert isinstance(x, Span_)
            items[x.slot] = self.extent_of(x)
        return ast.Tuple(items, ast.Load())

    def extent_of(self, s: Span_) -> ast.expr:
        return self.size(s.extent)

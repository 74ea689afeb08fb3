"""Block kernels over arrays as they are: stencils and recurrences, whose passes read slices, rows and columns.

Arrays lie whole in VMEM, one-dimensional ones as a row; arrays of which only single elements are used lie in SMEM. A
pass is one expression over the whole of its axes, so what is large (`_fits` decides when JAX traces) is left to XLA.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import bodies, resolved, walk
from transkern.targets.pallas.forms.interface import Interface
from transkern.targets.pallas.forms.loads import any_may_leave
from transkern.targets.pallas.forms.statements import trips
from transkern.targets.pallas.forms.subscripts import Gather, Place, Span_, Subscript, slice_of, sort
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.printing.quote import call, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible."""
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning)):
            raise Inexpressible(f"a {type(s).__name__.lower()} in a kernel")
    slots, depth = _slots(kernel.body)
    if depth > 2:
        raise Inexpressible("more than two axes")
    if depth == 1:  # vectors lie along the lanes
        slots = dict.fromkeys(slots, 1)
    inside = {x.name: x.value for x in walk(kernel.body) if isinstance(x, n.Let)}
    passes = [tuple(resolved(e, inside) for e in nest) for nest in _nests(kernel.body, ())]
    whole = Whole(host, kernel, 2, slots)
    start, before, had = len(host.out), dict(host.env), set(host.defined)
    whole.run()
    made = host.out[start:]
    del host.out[start:]
    after, defined = host.env, host.defined
    host.env, host.defined = before, had  # the other form starts from what there was before this one
    host.inline(kernel)
    other = host.out[start:]
    del host.out[start:]
    host.env, host.defined = after, defined & host.defined  # what either has made for itself, the other lacks
    arrays = [sequence([host.size(d) for d in host.program.buffers[x].dims]) for x in whole.vectors]
    elements = [sequence([host.size(d) for d in host.program.buffers[x].dims]) for x in whole.tables]
    work = [sequence([host.size(e) for e in nest]) for nest in passes]
    test = call(host.module.helper("_fits"), [ast.List(x, ast.Load()) for x in (arrays, elements, work)])
    host.out.append(ast.If(test, made, other))


def _slots(block: tuple[n.Stmt, ...], depth: int = 0) -> tuple[dict[str, int], int]:
    slots: dict[str, int] = {}
    deepest = depth
    for s in block:
        inner = depth
        if isinstance(s, n.Loop) and s.kind == "parallel":
            slots[s.axis] = depth
            inner = depth + 1
        deepest = max(deepest, inner)
        for body in bodies(s):
            more, d = _slots(body, inner)
            slots |= more
            deepest = max(deepest, d)
    return slots, deepest


def _nests(block: tuple[n.Stmt, ...], outer: tuple[Expr, ...]) -> list[tuple[Expr, ...]]:
    """How many iterations the axes of each pass have."""
    found = []
    for s in block:
        here = (*outer, trips(s)) if isinstance(s, n.Loop) and s.kind == "parallel" else outer
        inner = [x for body in bodies(s) for x in _nests(body, here)]
        if len(here) > len(outer) and not any(len(x) > len(here) for x in inner) and here not in found:
            found.append(here)
        found += [x for x in inner if x not in found]
    return found


class Whole(Interface):
    """A kernel whose values have two dimensions: rows and lanes."""

    helper_name = "_whole"

    def load(self, e: Load) -> Value:
        dims = self.program.buffers[e.buffer].dims
        if not e.index:
            return self.number(e)
        if len(e.index) != len(dims):
            raise Inexpressible("a linear index")
        if e.buffer in self.scalar_only:
            node = call(self.module.helper("_element"), [name(self.table(e.buffer)), self.linear(e.index, dims)])
            return Value(self.as_mask(node, e.dtype), e.dtype)
        subscripts = sort(self, e.index, dims)
        node, slots = self.region(e.buffer, subscripts)
        if (
            slots == [1, 0]
            or (slots == [0] and not self.is_column(subscripts))
            or (slots == [1] and self.is_column(subscripts))
        ):
            node = quote("_0.T", node)
        return Value(self.as_mask(node, e.dtype), e.dtype, frozenset(slots))

    def as_mask(self, node: ast.expr, dtype: str) -> ast.expr:
        return quote("_0 != 0", node) if dtype == "bool" else node

    def linear(self, index: tuple[Expr, ...], dims: tuple[Expr, ...]) -> ast.expr:
        at = b.ravel(index, dims[: len(index)])  # or a position already
        if self.axes_of(at):
            raise Inexpressible("a gather")
        return self.expr(at).node

    def is_column(self, subscripts: list[Subscript]) -> bool:
        """Whether a region with one axis comes out of its array as a column."""
        return len(subscripts) > 1 and isinstance(subscripts[-2], Span_) and not isinstance(subscripts[-1], Span_)

    def items(self, buffer: str, subscripts: list[Subscript]) -> tuple[list[ast.expr], list[int], ast.expr | None]:
        """The subscript of a reference, the slots of its dimensions, and the place in a row, where that moves."""
        items: list[ast.expr] = []
        slots: list[int] = []
        lane: ast.expr | None = None
        if self.mask is not None and any_may_leave(self, subscripts, self.program.buffers[buffer].dims):
            raise Inexpressible("a slice that a mask keeps within its array")
        for k, s in enumerate(subscripts):
            last, row = k == len(subscripts) - 1, k == len(subscripts) - 2
            match s:
                case Span_(stride=1):
                    if not (last or row):
                        raise Inexpressible("an axis beyond the last two dimensions")
                    items.append(slice_of(self, s))
                    slots.append(s.slot)
                case Place(at, static):
                    node = self.expr(at).node
                    if static and (last or row):
                        items.append(ast.Slice(node, self.size(b.add(at, b.ONE))))
                    elif last:
                        items.append(ast.Slice())
                        lane = node
                    else:
                        items.append(quote("pl.ds(_0, 1)", node) if row else node)
                case _:
                    raise Inexpressible("a gather")
        if len(set(slots)) != len(slots):
            raise Inexpressible("a diagonal")
        if len(subscripts) == 1:
            items = [ast.Slice(), *items]
        return items, slots, lane

    def region(self, buffer: str, subscripts: list[Subscript]) -> tuple[ast.expr, list[int]]:
        items, slots, lane = self.items(buffer, subscripts)
        node: ast.expr = ast.Subscript(name(self.vector(buffer)), ast.Tuple(items, ast.Load()), ast.Load())
        if lane is not None:
            node = call(self.module.helper("_column"), [node, lane])
        if not slots:
            node = quote("jnp.max(_0)", node)
        return node, slots

    def store(self, s: n.Store, mask: Value | None) -> None:
        buffer = self.program.buffers[s.buffer]
        if not s.index:
            self.set_number(s)
            return
        value = self.expr(s.value)
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        value = self.cast(value, buffer.dtype)
        node = self.typed(value, buffer.dtype) if not value.axes else value.node
        if buffer.dtype == "bool":
            node = quote("jnp.where(_0, 1.0, 0.0)", node)
        if s.buffer in self.scalar_only:
            if value.axes or mask is not None:
                raise Inexpressible("a store of one element inside a pass")
            self.out.append(
                ast.Expr(
                    call(
                        self.module.helper("_set"),
                        [name(self.table(s.buffer)), self.linear(s.index, buffer.dims), node],
                    )
                )
            )
            return
        subscripts = sort(self, s.index, buffer.dims)
        if any(isinstance(x, Gather) for x in subscripts):
            raise Inexpressible("a scatter")
        items, slots, lane = self.items(s.buffer, subscripts)
        if value.axes - set(slots) or (mask is not None and mask.axes - set(slots)):
            raise Inexpressible("a store that repeats")
        turned = (
            slots == [1, 0]
            or (slots == [0] and not self.is_column(subscripts))
            or (slots == [1] and self.is_column(subscripts))
        )
        target = ast.Subscript(name(self.vector(s.buffer)), ast.Tuple(items, ast.Load()), ast.Load())
        keep = mask.node if mask is not None else None
        if turned:
            node = quote("_0.T", node) if value.axes else node
            keep = quote("_0.T", keep) if keep is not None else None
        if lane is not None:
            here = quote("lax.broadcasted_iota(jnp.int32, _0.shape, 1) == _1", target, lane)
            keep = here if keep is None else quote("_0 & _1", here, keep)
        if keep is not None:
            node = quote("jnp.where(_0, _1, _2)", keep, node, target)
        elif value.axes != set(slots) or not slots:
            node = quote("jnp.broadcast_to(_0, _1.shape)", node, target)
        self.out.append(ast.Assign([ast.Subscript(target.value, target.slice, ast.Store())], node, lineno=0))

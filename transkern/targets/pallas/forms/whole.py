"""Block kernels over arrays as they are: stencils and recurrences, whose passes read slices, rows and columns.

Arrays lie whole in VMEM, one-dimensional ones as a row; arrays of which only single elements are used lie in SMEM. A
pass goes over some rows at a time (`_by_rows`), as many as registers hold. One that adds up over its rows, or turns
what it reads, is one expression over all of them. What VMEM does not hold (`_fits` decides when JAX traces) is left to
XLA.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import bodies, buffers_written, is_in_order, map_block, resolved, walk
from transkern.targets.pallas.forms.carrying import settle
from transkern.targets.pallas.forms.interface import Interface
from transkern.targets.pallas.forms.loads import any_may_leave
from transkern.targets.pallas.forms.pieces import as_index
from transkern.targets.pallas.forms.slots import with_places
from transkern.targets.pallas.forms.statements import trips
from transkern.targets.pallas.forms.subscripts import Gather, Place, Span_, Subscript, Turn, slice_of, sort, turn
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.forms.vector import AxisInfo
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import assign, call, comment, function, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible."""
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning)):
            raise Inexpressible(f"a {type(s).__name__.lower()} in a kernel")
    kernel = with_places(kernel, host.program.variables)
    slots, depth = _slots(kernel.body)
    if depth > 2:
        raise Inexpressible("more than two axes")
    if depth == 1:  # vectors lie along the lanes
        slots = dict.fromkeys(slots, 1)
    inside = {x.name: x.value for x in walk(kernel.body) if isinstance(x, n.Let)}
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
    arrays += [sequence([host.size(host.program.buffers[x].dims[0]), ast.Constant(1)]) for x in whole.columns]
    tables = [*whole.tables, *whole.started]
    elements = [sequence([host.size(d) for d in host.program.buffers[x].dims]) for x in tables]
    passes = [tuple(resolved(e, inside) for e in nest) for nest in _nests(kernel.body, (), whole.by_rows)]
    work = [sequence([host.size(e) for e in nest]) for nest in passes]
    host.out.append(comment(f"{kernel.name}: a kernel where VMEM holds its arrays, else left to XLA"))
    conditions = (arrays, elements, work, whole.unrolled)
    test = call(host.module.helper("_fits"), [ast.List(x, ast.Load()) for x in conditions])
    there = [host.expr(e).node for e in host.there]  # a place that is not there raises when JAX traces a kernel
    host.out.append(ast.If(ast.BoolOp(ast.And(), [*there, test]) if there else test, made, other))


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


def _nests(block: tuple[n.Stmt, ...], outer: tuple[Expr, ...], by_rows: set[str]) -> list[tuple[Expr, ...]]:
    """How many iterations the axes of each pass have at a time: eight of those that go by rows."""
    found = []
    for s in block:
        here = outer
        if isinstance(s, n.Loop) and s.kind == "parallel":
            here = (*outer, b.index(8) if s.axis in by_rows else trips(s))
        inner = [x for body in bodies(s) for x in _nests(body, here, by_rows)]
        if len(here) > len(outer) and not any(len(x) > len(here) for x in inner) and here not in found:
            found.append(here)
        found += [x for x in inner if x not in found]
    return found


def _index_of(items: list[ast.expr]) -> ast.expr:
    """A subscript as a tuple."""
    made = as_index(items)
    return made if isinstance(made, ast.Tuple) else ast.Tuple([made], ast.Load())


def _row_of(items: list[ast.expr]) -> tuple[ast.expr | None, list[ast.expr]]:
    """Where the rows of a pass by rows begin, and the rest of a subscript around them."""
    for position, item in enumerate(items):
        match item:
            case ast.Call(ast.Name("_Row"), [offset]):
                return offset, [*items[:position], *items[position + 1 :]]
            case _:
                pass
    return None, items


_FOLDED = ("sum", "max", "min", "count", "first", "last")


def _left_behind(s: n.Stmt) -> list[n.Accumulate]:
    """What a pass adds up over its rows."""
    own = {x.name for x in walk((s,)) if isinstance(x, n.Accumulator)}
    return [x for x in walk((s,)) if isinstance(x, n.Accumulate) and x.name not in own]


class _TurnedError(Exception):
    """A pass that walks its rows along the lanes of an array."""


class Whole(Interface):
    """A kernel whose values have two dimensions: rows and lanes."""

    helper_name = "_whole"
    chunk: str | None = None  # the rows of a pass by rows, a `_Rows`
    origin: Expr | None = None  # where in the array that such a pass stores to its rows begin

    def __init__(self, host: Host, kernel: n.Kernel, rank: int, slots: dict[str, int]) -> None:
        super().__init__(host, kernel, rank, slots)
        self.by_rows: set[str] = set()  # the axes of passes that go by rows
        self.unrolled: list[ast.expr] = []  # the bounds of loops that are written out

    # --- passes by rows

    def parallel(self, s: n.Loop) -> None:
        if self.axes or self.slots[s.axis] != 0 or not self.has_rows_apart(s):
            super().parallel(s)
            return
        saved = list(self.out), dict(self.env), set(self.fresh_accumulators), dict(self.declared)
        try:
            self.pass_by_rows(s)
        except _TurnedError:
            self.out[:], self.env, self.fresh_accumulators, self.declared = saved
            self.axes, self.mask, self.chunk = {}, None, None
            super().parallel(s)

    def has_rows_apart(self, s: n.Loop) -> bool:
        """Whether a pass has an axis of columns, and leaves nothing behind but what it stores and adds up."""
        inner = [x for x in walk(s.body) if isinstance(x, n.Loop) and x.kind == "parallel"]
        return (
            bool(inner)
            and all(self.is_static(e) for x in (s, *inner) for e in (x.start, x.stop))
            and b.constant(s.step) == 1
            and not any(isinstance(x, n.Guard) for x in walk(s.body))
            and all(
                x.op in _FOLDED and self.declared[x.name][0].dtype != "bool" and not self.declared[x.name][1]
                for x in _left_behind(s)
            )
            and not any(_left_behind(x) or buffers_written(x) for x in walk(s.body) if is_in_order(x))
        )

    def pass_by_rows(self, s: n.Loop) -> None:
        """A pass as a function of its first row and how many rows, and its call for all of them."""
        extent = trips(s)
        if b.constant(s.start) != 0:
            shifted = b.add(Var(s.axis, "index"), s.start)
            counter = Var(s.axis, "index")
            s = replace(s, body=map_block(s.body, lambda e: shifted if e == counter else None))
        inner = [x for x in walk(s.body) if isinstance(x, n.Loop) and x.kind == "parallel"]
        axis = self.module.identifier(s.axis)
        rows = self.module.fresh(f"{axis}_rows")
        self.forget(s)
        saved, env, before = self.out, dict(self.env), set(self.fresh_accumulators)
        self.out, self.chunk, self.origin = [], rows, None
        self.axes[s.axis] = AxisInfo(0, extent, b.ZERO, 1)
        folded = {x.name: x.op for x in _left_behind(s)}
        begun = self.fresh_accumulators - set(folded)
        self.fresh_accumulators = begun | set(folded)  # each part adds up for itself
        self.block(s.body)
        parts = {of: self.env[of] for of in folded}
        fresh = {of for of in folded if of in before}
        self.fresh_accumulators = begun
        if parts:
            self.out.append(ast.Return(ast.Tuple([v.node for v in parts.values()], ast.Load())))
        made, self.out, self.env, self.chunk = self.out, saved, env, None
        del self.axes[s.axis]
        of = self.module.fresh(f"over_{axis}")
        self.out.append(function(of, [rows], made))
        inside = {x.name: x.value for x in walk(self.kernel.body) if isinstance(x, n.Let)}
        widths = [self.size(resolved(trips(x), inside)) for x in inner]
        self.by_rows.add(s.axis)
        origin = self.size(self.origin if self.origin is not None else b.ZERO)
        kinds = ast.List([ast.Constant(op) for op in folded.values()], ast.Load())
        over = [name(of), self.size(extent), ast.List(widths, ast.Load()), origin, kinds]
        passed = call(self.module.helper("_by_rows"), over)
        if not parts:
            self.out.append(ast.Expr(passed))
            return
        targets = {x: self.module.fresh(f"{self.module.identifier(x)}_of_rows") for x in parts}
        names_ = ast.Tuple([ast.Name(t, ast.Store()) for t in targets.values()], ast.Store())
        self.out.append(ast.Assign([names_], passed, lineno=0))
        for x, part in parts.items():
            node: ast.expr = name(targets[x])
            if x not in fresh:
                node = quote(spelling.COMBINE[folded[x]], self.env[x].node, node)
            self.out.append(assign(self.module.identifier(x), node))
            self.env[x] = Value(name(self.module.identifier(x)), part.dtype, part.axes)

    def position(self, info: AxisInfo) -> Value:
        if self.chunk is None or info.slot != 0:
            return super().position(info)
        template = f"lax.broadcasted_iota(jnp.{self.module.integer}, (_0.count, 1), 0) + _0.first"
        return Value(quote(template, name(self.chunk)), "index", frozenset({0}))

    def slot_size(self, slot: int, extents: dict[int, Expr]) -> ast.expr:
        if self.chunk is None or slot != 0:
            return super().slot_size(slot, extents)
        return quote("_0.count", name(self.chunk))

    def slice_of(self, s: Span_, is_row: bool) -> ast.expr:
        """The slice of a walk; of the rows of a pass by rows, where they begin in the array."""
        if self.chunk is None or s.slot != 0:
            return slice_of(self, s)
        if not is_row:
            raise _TurnedError
        return call("_Row", [self.size(s.offset)])  # taken out by `read`

    def read(self, buffer: str, items: list[ast.expr]) -> ast.expr:
        """A region of an array."""
        ref, (row, items) = name(self.vector(buffer)), _row_of(items)
        if row is None:
            return ast.Subscript(ref, ast.Tuple(items, ast.Load()), ast.Load())
        assert self.chunk is not None
        return quote("_0.read(_1, _2, _3)", name(self.chunk), ref, row, _index_of(items))

    def write(self, buffer: str, items: list[ast.expr], node: ast.expr) -> ast.stmt:
        ref, (row, items) = name(self.vector(buffer)), _row_of(items)
        if row is None:
            return ast.Assign([ast.Subscript(ref, ast.Tuple(items, ast.Load()), ast.Store())], node, lineno=0)
        assert self.chunk is not None
        return ast.Expr(quote("_0.write(_1, _2, _3, _4)", name(self.chunk), ref, row, _index_of(items), node))

    def begins_at(self, offset: Expr) -> None:
        """Notes where the rows of a pass lie in an array it stores to: all must begin at one place of eight rows."""
        if self.origin is None:
            self.origin = offset
        elif b.difference(self.origin, offset) != 0:
            raise _TurnedError

    # --- loops that move a window

    def sequential(self, s: n.Loop) -> None:
        """A loop of few steps by which subscripts move along an axis is written out when JAX traces."""
        if not self.moves_window(s):
            super().sequential(s)
            return
        carried = self.carried(s.body)
        self.prepare(carried)
        self.unrolled.append(sequence([self.size(s.start), self.size(s.stop), self.size(s.step)]))
        self.out.append(self.written_out(s, carried))
        settle(self, carried)

    # --- elements

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
        turns = {k: found for k, x in enumerate(subscripts) if (found := turn(self, x, dims[k])) is not None}
        last = len(dims) - 1
        moved = None
        if [*turns] == [last] and last and all(isinstance(x, Place) for x in subscripts[:-1]):  # one row's
            moved = turns[last]
            subscripts[-1] = Span_(moved.slot, b.ZERO, 1, dims[-1], True)
        elif turns:
            return self.turned(e, turns)
        node, slots = self.region(e.buffer, subscripts)
        if moved is not None:
            node = call(self.module.helper("_moved"), [node, self.size(moved.shift), ast.Constant(moved.ends)])
        if (
            slots == [1, 0]
            or (slots == [0] and self.chunk is None and not self.is_column(subscripts))
            or (slots == [1] and self.is_column(subscripts))
        ):
            node = quote("_0.T", node)
        return Value(self.as_mask(node, e.dtype), e.dtype, frozenset(slots))

    def turned(self, e: Load, turns: dict[int, Turn]) -> Value:
        """All of an array along its rows and columns, either turned or moved."""
        dims = self.program.buffers[e.buffer].dims
        index = tuple(turns[k].axis if k in turns else i for k, i in enumerate(e.index))
        subscripts = sort(self, index, dims)
        slots = [x.slot for x in subscripts if isinstance(x, Span_) and x.whole]
        if slots not in ([0, 1], [1]) or len(slots) != len(dims):
            raise Inexpressible("a gather")
        ref = name(self.vector(e.buffer))
        shifts = [self.size(turns[k].shift) if k in turns else ast.Constant(0) for k in range(len(dims))]
        ends = [turns[k].ends if k in turns else False for k in range(len(dims))]
        rows = name(self.chunk) if self.chunk is not None and len(dims) == 2 else ast.Constant(None)
        if self.chunk is not None and 0 in turns:
            shift = b.constant(turns[0].shift)
            if shift is None or abs(shift) > 8:  # reads of the rows between the first and the last must not turn
                raise _TurnedError
            self.begins_at(b.ZERO)
        first = [ast.Constant(0)] if len(dims) == 1 else []
        which = [sequence([*map(ast.Constant, [False] * len(first) + ends)])] if any(ends) else []
        node = call(self.module.helper("_rolled"), [ref, *first, *shifts, rows, *which])
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
                    items.append(self.slice_of(s, row))
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
        if self.chunk is not None and [getattr(x, "slot", None) for x in subscripts] == [0]:
            return self.column(buffer, subscripts), [0]
        items, slots, lane = self.items(buffer, subscripts)
        if lane is not None:
            if self.chunk is not None and any(x is not items[-1] and _row_of([x])[0] is not None for x in items):
                raise _TurnedError
            node = call(self.module.helper("_lane"), [name(self.vector(buffer)), _index_of(items[:-1]), lane])
        else:
            node = self.read(buffer, items)
        if not slots:
            node = quote("jnp.max(_0)", node)
        return node, slots

    def column(self, buffer: str, subscripts: list[Subscript]) -> ast.expr:
        """Some elements of an array of one axis, for the rows of a pass by rows: the array as a column, too."""
        if buffer in self.written:
            raise _TurnedError
        (s,) = subscripts
        assert isinstance(s, Span_) and self.chunk is not None
        if s.stride != 1:
            raise Inexpressible("a gather")
        if buffer not in self.columns:
            self.columns[buffer] = self.module.fresh(f"{self.module.identifier(buffer)}_column")
        column = name(self.columns[buffer])
        return quote("_0.read(_1, _2, (slice(None),))", name(self.chunk), column, self.size(s.offset))

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
        if self.chunk is not None:
            if 0 not in slots or turned:
                raise _TurnedError
            self.begins_at(next(x.offset for x in subscripts if isinstance(x, Span_) and x.slot == 0))
        if not value.axes and not turned and mask is None and lane is None and self.chunk is None and len(slots) == 2:
            if all(isinstance(x, Span_) and x.whole for x in subscripts):
                self.by_rows.add(next(a for a, info in self.axes.items() if info.slot == 0))
                filled = call(self.module.helper("_filled"), [name(self.vector(s.buffer)), node])
                self.out.append(ast.Expr(filled))
                return
        if lane is not None:
            self.store_lane(s.buffer, items, slots, value, node, mask, lane, turned)
            return
        target = self.read(s.buffer, items)
        keep = mask.node if mask is not None else None
        if turned:
            node = quote("_0.T", node) if value.axes else node
            keep = quote("_0.T", keep) if keep is not None else None
        if keep is not None:
            node = quote("jnp.where(_0, _1, _2)", keep, node, target)
        elif value.axes != set(slots) or not slots:
            node = quote("jnp.broadcast_to(_0, _1.shape)", node, target)
        self.out.append(self.write(s.buffer, items, node))

    def store_lane(
        self, buffer: str, items: list[ast.expr], slots: list[int], value: Value, node: ast.expr, mask: Value | None,
        lane: ast.expr, turned: bool,
    ) -> None:  # fmt: skip
        """A store to one place of each row, which moves as the kernel runs."""
        if self.chunk is not None:
            raise _TurnedError
        keep = mask.node if mask is not None else ast.Constant(None)
        if turned:
            node = quote("_0.T", node) if value.axes else node
            keep = quote("_0.T", keep) if mask is not None and mask.axes else keep
        given = [name(self.vector(buffer)), _index_of(items[:-1]), lane, node, keep]
        self.out.append(ast.Expr(call(self.module.helper("_set_lane"), given)))

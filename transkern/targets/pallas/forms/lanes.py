"""Block kernels over one axis: each array as rows of 128 lanes in VMEM, passes over them in chunks of rows.

Up to 64 rows are one chunk; beyond that a pass is a loop over chunks of 32 rows, from the first to the last that it
concerns. Single elements are read from a copy in SMEM while all such copies fit there, else out of their row.

What exceeds VMEM stays in HBM: that is settled when JAX traces and shapes are known, and the kernel's text is the same.
References are then `_Far` (`helpers/lanes.py`), so a pass has to say which arrays it reads and writes.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import buffers_read, scalars_set, scalars_used, variables_read, walk
from transkern.targets.pallas.forms.carrying import condition, settle
from transkern.targets.pallas.forms.interface import Interface
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.forms.vector import AxisInfo
from transkern.targets.pallas.passes.extremes import EXTREMES, search_passes
from transkern.targets.pallas.passes.lists import join_in_order
from transkern.targets.pallas.passes.searches import Search, search_of
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import assign, call, function, name, names, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host

_RUNNING = {
    "sum": "sum",
    "max": "max",
    "min": "min",
    "any": "max",
    "all": "min",
    "count": "sum",
    "first": "min",
    "last": "max",
}


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible."""
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning)):
            raise Inexpressible(f"a {type(s).__name__.lower()} in a kernel")
    if not any(isinstance(s, n.Loop) and s.kind == "parallel" for s in walk(kernel.body)):
        raise Inexpressible("no parallel loop")
    Lanes(host, join_in_order(kernel, host.is_static)).run()


class Lanes(Interface):
    """A kernel whose vectors have one axis."""

    def __init__(self, host: Host, kernel: n.Kernel) -> None:
        super().__init__(host, kernel, 1, {s.axis: 0 for s in walk(kernel.body) if isinstance(s, n.Loop)})
        self.extent: Expr | None = None
        self.outer: list[ast.stmt] | None = None
        self.elements: dict[Load, Value] = {}
        self.searching: Search | None = None
        self.writes_here: set[str] = set()

    def rows(self) -> ast.expr:
        assert self.extent is not None
        return call(self.module.helper("_rows"), [self.size(self.extent)])

    def check_extent(self, extent: Expr) -> None:
        if self.extent is None:
            self.extent = extent
        elif b.difference(self.extent, extent) != 0:
            raise Inexpressible("axes of different length")

    # --- elements

    def load(self, e: Load) -> Value:
        buffer = self.program.buffers[e.buffer]
        if not e.index:
            return self.number(e)
        if not any(map(self.varies, e.index)):
            return self.element(e)
        if len(buffer.dims) != 1:
            raise Inexpressible("an array of several dimensions")
        if e.index != tuple(Var(a, "index") for a in self.axes):
            raise Inexpressible("a gather")
        self.check_extent(buffer.dims[0])
        node = quote("_0[at, :]", name(self.vector(e.buffer)))
        if buffer.dtype == "bool":
            node = quote("_0 != 0", node)
        return Value(node, e.dtype, frozenset({0}))

    def element(self, e: Load) -> Value:
        """One element; inside a pass it is read once, before the pass."""
        if self.outer is None or e.buffer in self.writes_here or variables_read(e) & self.inner_names:
            return self.read_element(e, "_element")
        if e not in self.elements:
            saved, self.out = self.out, self.outer
            outer, self.outer = self.outer, None
            value = self.read_element(e, "_splat")
            target = self.module.fresh(f"{self.module.identifier(e.buffer)}_one")
            self.out.append(assign(target, value.node))
            self.out, self.outer = saved, outer
            self.elements[e] = Value(name(target), e.dtype)
        return self.elements[e]

    inner_names: frozenset[str] = frozenset()

    def read_element(self, e: Load, helper: str) -> Value:
        index = self.place(e.buffer, e.index)
        buffer = self.program.buffers[e.buffer]
        self.check_or_list(e.buffer)
        node = call(self.module.helper(helper), [name(self.table(e.buffer)), index])
        if buffer.dtype == "bool":
            node = quote("_0 != 0", node)
        return Value(node, e.dtype)

    def place(self, buffer: str, index: tuple[Expr, ...]) -> ast.expr:
        """Where an element lies in its array, which is a line here."""
        dims = self.program.buffers[buffer].dims
        return self.expr(b.ravel(index, dims[: len(index)])).node  # or a position already

    def check_or_list(self, buffer: str) -> None:
        if buffer not in self.scalar_only:
            if len(self.program.buffers[buffer].dims) != 1:
                raise Inexpressible("an array of several dimensions")
            self.check_extent(self.program.buffers[buffer].dims[0])

    def store(self, s: n.Store, mask: Value | None) -> None:
        buffer = self.program.buffers[s.buffer]
        if not s.index:
            self.set_number(s)
            return
        value = self.expr(s.value)
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        value = self.cast(value, buffer.dtype)
        if not any(map(self.varies, s.index)):
            if value.axes or self.axes:
                raise Inexpressible("a store of one element inside a pass")
            node = self.typed(value, buffer.dtype)
            if buffer.dtype == "bool":
                node = quote("jnp.where(_0, 1.0, 0.0)", node)
            self.check_or_list(s.buffer)
            self.out.append(
                ast.Expr(
                    call(self.module.helper("_set"), [name(self.table(s.buffer)), self.place(s.buffer, s.index), node])
                )
            )
            return
        if len(buffer.dims) != 1:
            raise Inexpressible("an array of several dimensions")
        if s.index != tuple(Var(a, "index") for a in self.axes):
            raise Inexpressible("a scatter")
        self.check_extent(buffer.dims[0])
        ref = name(self.vector(s.buffer))
        node = value.node
        if buffer.dtype == "bool":
            node = quote("jnp.where(_0, 1.0, 0.0)", node)
        elif value.static or not value.axes:
            node = self.typed(value, buffer.dtype)
        if mask is not None:
            node = quote("jnp.where(_0, _1, _2[at, :])", mask.node, node, ref)
        elif not value.axes:
            node = quote("jnp.broadcast_to(_0, (at.size, 128))", node)
        self.out += [ast.Assign([quote_store(ref)], node, lineno=0)]

    def position(self, info: AxisInfo) -> Value:
        return Value(self.as_integer(call(self.module.helper("_positions"), [name("at")])), "index", frozenset({0}))

    def as_integer(self, node: ast.expr) -> ast.expr:
        """What the helpers count with 32 bits, as Python's integers are here."""
        return quote("_0.astype(jnp.int64)", node) if self.module.wide else node

    def decoded(self, of: str) -> ast.expr:
        return self.as_integer(call(self.module.helper("_decode"), [name(of)]))

    # --- passes

    def parallel(self, s: n.Loop) -> None:
        if self.axes:
            raise Inexpressible("two axes")
        if b.constant(s.start) != 0 or b.constant(s.step) != 1:
            raise Inexpressible("a pass over a part")
        self.check_extent(s.stop)
        if any(x.op in EXTREMES for x in walk(s.body) if isinstance(x, n.Accumulate)):
            self.search_extreme(s)
            return
        running = [x for x in walk(s.body) if isinstance(x, n.Accumulate)]
        if len({x.name for x in running}) != len(running):
            raise Inexpressible("an accumulator with several terms")
        self.run_pass(s, list(s.body), running)

    def search_extreme(self, s: n.Loop) -> None:
        """`argmax` and `argmin` as two passes: what the extreme is, and where it is first."""
        found = {x.name for x in walk(s.body) if isinstance(x, n.Accumulate) and x.op in EXTREMES}
        if not found <= self.fresh_accumulators:
            raise Inexpressible("an extreme in several parts")
        for part in search_passes(s, self.module.fresh):
            self.statement(part)

    def begin_pass(self, s: n.Loop) -> tuple[list[ast.stmt], dict[str, Value]]:
        saved = self.out, dict(self.env)
        self.outer, self.elements = self.out, {}
        self.writes_here = {x.buffer for x in walk((s,)) if isinstance(x, n.Store)}
        self.inner_names = frozenset(x.name for x in walk(s.body) if isinstance(x, n.Let | n.Assign)) | {s.axis}
        self.axes[s.axis] = AxisInfo(0, s.stop, b.ZERO, 1)
        self.out = []
        return saved

    def end_pass(self, s: n.Loop, saved: tuple[list[ast.stmt], dict[str, Value]]) -> list[ast.stmt]:
        made = self.out
        self.out, self.env = saved
        self.outer, self.elements = None, {}
        del self.axes[s.axis]
        return made

    def run_pass(self, s: n.Loop, body: list[n.Stmt], running: list[n.Accumulate]) -> None:
        """One pass: a function of a chunk, and its call for all chunks."""
        if any(isinstance(x, (n.While, n.Guard, n.Loop, n.Alloc, n.Accumulator)) for x in walk(tuple(body))):
            raise Inexpressible("a pass that is not parallel throughout")
        saved = self.begin_pass(s)
        self.forget(s)
        self.reduced: list[tuple[str, ast.expr]] = []
        self.block(body)
        made = self.end_pass(s, saved)
        of = self.module.fresh(f"pass_{self.module.identifier(s.axis)}")
        collected = [v for _, v in self.reduced]
        made.append(ast.Return(ast.Tuple(collected, ast.Load())))
        self.out.append(function(of, ["at"], made))
        passed = self.over(of, made, ast.Tuple([self.kind_of(x) for x in running], ast.Load()))
        if not running:
            self.out.append(ast.Expr(passed))
            return
        targets = [self.module.fresh("folded") for _ in running]
        self.out.append(
            ast.Assign([ast.Tuple([ast.Name(t, ast.Store()) for t in targets], ast.Store())], passed, lineno=0)
        )
        for x, target in zip(running, targets, strict=True):
            self.finish_reduction(x, target)

    def over(self, of: str, made: list[ast.stmt], kinds: ast.expr, **bounds: ast.expr) -> ast.expr:
        """The call that takes the function `of`, with the statements `made`, over the chunks of all arrays."""
        touched: dict[type, list[ast.expr]] = {ast.Load: [], ast.Store: []}
        for x in (x for s in made for x in ast.walk(s)):
            match x:
                case ast.Subscript(ast.Name(ref), ast.Tuple([ast.Name("at"), ast.Slice()]), context):
                    if not any(isinstance(t, ast.Name) and t.id == ref for t in touched[type(context)]):
                        touched[type(context)].append(name(ref))
                case _:
                    pass
        reads, writes = (ast.List(touched[kind], ast.Load()) for kind in (ast.Load, ast.Store))
        return call(self.module.helper("_over"), [self.rows(), name(of), kinds, reads, writes], **bounds)

    def kind_of(self, s: n.Accumulate) -> ast.expr:
        """How a reduction folds, and over what."""
        dtype = self.declared[s.name][0].dtype
        if s.op == "count":
            dtype = "index"
        elif s.op not in ("sum", "max", "min"):
            dtype = "float32"
        return quote(f"(_0, jnp.{self.module.dtype(dtype)})", ast.Constant(_RUNNING[s.op]))

    def accumulate(self, s: n.Accumulate) -> None:
        """A term of a reduction: folded over the chunks lane by lane, across lanes once at the end."""
        if not self.axes:  # a loop in order adds up numbers
            super().accumulate(s)
            return
        value = self.expr(s.value)
        if product_like(s.value):
            value = self.rounded(value, s.value)
        dtype = self.declared[s.name][0].dtype
        if s.op not in _RUNNING:
            raise Inexpressible(f"an {s.op} over lanes")
        mask = self.inside()
        if s.op in ("first", "last", "count", "any"):
            mask = quote("_0 & _1", mask, value.node)
            if s.op in ("first", "last"):
                assert s.position is not None
                where = call(self.module.helper("_encode"), [self.expr(s.position).node])
                node = quote("jnp.where(_0, _1, _2)", mask, where, quote("jnp.inf" if s.op == "first" else "0.0"))
            else:
                node = quote("jnp.where(_0, 1.0, 0.0)" if s.op == "any" else "jnp.where(_0, 1, 0)", mask)
        elif s.op == "all":
            node = quote("jnp.where(_0 & ~_1, 0.0, 1.0)", mask, value.node)
        else:
            node = quote(
                "jnp.where(_0, _1, _2)", mask, self.typed(value, dtype), self.neutral(s.op, dtype)
            )
        if buffers_read(s.value) & self.writes_here:  # the term is what it is now, not at the end of the pass
            term = self.module.fresh("term")
            self.out.append(assign(term, node))
            node = name(term)
        self.reduced.append((s.name, node))

    def static_branch(self, s: n.If, condition: Value) -> None:
        if self.axes and any(isinstance(x, n.Accumulate) for x in walk((s,))):  # terms are handed out of the pass
            raise Inexpressible("a term that sizes decide about")
        super().static_branch(s, condition)

    def inside(self) -> ast.expr:
        """Where in a chunk there are elements at all: the last row is padded."""
        (info,) = self.axes.values()
        node = quote("_0 < _1", self.position(info).node, self.size(info.extent))
        return quote("_0 & _1", self.mask.node, node) if self.mask is not None else node

    def finish_reduction(self, s: n.Accumulate, folded: str) -> None:
        declaration = self.declared[s.name][0]
        kind = _RUNNING[s.op]
        node = quote(f"jnp.{kind}(_0)", name(folded))
        if s.op in ("first", "last"):
            found = self.module.fresh("found")
            self.out.append(assign(found, node))
            node = quote(
                f"jnp.where(_0 {'< jnp.inf' if s.op == 'first' else '> 0'}, _1, -1)",
                name(found),
                self.decoded(found),
            )
        elif s.op in ("any", "all"):
            node = quote("_0 > 0", node)
        target = self.module.identifier(s.name)
        if s.name not in self.fresh_accumulators:
            node = quote(spelling.COMBINE[s.op], self.env[s.name].node, node)
        self.fresh_accumulators.discard(s.name)
        self.out.append(assign(target, node))
        self.env[s.name] = Value(name(target), declaration.dtype)

    # --- loops with a search

    def repeat(self, s: n.While) -> None:
        search = search_of(s, self.kernel.body)
        if search is None or search.mask in self.live_after:
            super().repeat(s)
            return
        self.check_extent(search.extent)
        self.searching = search
        held, state = self.keep_positions(search.mask)
        best, result = self.module.fresh(f"{search.op}_{state}"), search.result
        axis = n.Loop(search.axis, b.ZERO, search.extent, b.ONE, "parallel", ())
        saved = self.begin_pass(axis)
        where: ast.expr = self.inside_window(search.window)
        start = quote(
            "jnp.where(_0 & (_1[at, :] != 0), _2, _3)",
            where,
            name(held),
            call(self.module.helper("_encode"), [self.position(self.axes[search.axis]).node]),
            quote(search.dead),
        )
        self.out += [
            assign(f"{state}_here", start),
            ast.Assign([quote_store(name(state))], name(f"{state}_here"), lineno=0),
        ]
        self.out.append(ast.Return(ast.Tuple([name(f"{state}_here")], ast.Load())))
        made = self.end_pass(axis, saved)
        first = self.module.fresh("begin")
        self.out.append(function(first, ["at"], made))
        self.out.append(self.best_of(best, search, first, made, None))
        s = self.without_window(s, search)
        carried = self.carried(s.body)
        self.prepare(carried)
        everything = [*(self.python(c) for c in carried), best]
        go_on, body = self.module.fresh("go_on"), self.module.fresh("body")
        unpack: ast.stmt = ast.Assign([names(everything, store=True)], name("state"), lineno=0)
        before = self.out, dict(self.env)
        self.out, self.env = [unpack], dict(self.env)
        settle(self, carried)
        self.found(search, best)
        self.out.append(ast.Return(condition(self, s.condition, "error." in carried)))
        test = self.out
        self.out, self.env = [unpack], dict(before[1])
        settle(self, carried)
        self.found(search, best)
        self.out.append(assign(self.module.identifier(result), self.decoded(best)))
        self.env[result] = Value(name(self.module.identifier(result)), "index")
        position = s.body.index(search.update)
        self.block(s.body[:position])
        self.update_pass(search, best, state)
        self.block(s.body[position + 1 :])
        items = [self.typed(self.env[c], self.env[c].dtype) for c in carried]
        self.out.append(ast.Return(ast.Tuple([*items, name(best)], ast.Load()) if items else name(best)))
        loop = self.out
        self.out, self.env = before
        self.out.append(function(go_on, ["state"], test))
        self.out.append(function(body, ["state"], loop))
        self.out.append(
            ast.Assign(
                [names(everything, store=True)],
                quote("lax.while_loop(_0, _1, _2)", name(go_on), name(body), names(everything)),
                lineno=0,
            )
        )
        settle(self, carried)
        self.found(search, best)
        self.searching = None

    def without_window(self, s: n.While, search: Search) -> n.While:
        """The loop without what only moves the window of its search: the positions themselves know it."""
        moved = {v for w in search.window for v in variables_read(w)}
        rest = replace(s, head=(), body=tuple(x for x in s.body if not (isinstance(x, n.Assign) and x.name in moved)))
        needed = scalars_used(rest) | {v for x in self.kernel.body if x is not s for v in scalars_used(x)}
        return replace(s, body=tuple(x for x in s.body if not (isinstance(x, n.Assign) and x.name in moved - needed)))

    def found(self, search: Search, best: str) -> None:
        """What the result of the search is outside the loop's body, where there may be none."""
        there = quote(f"_0 {'> 0' if search.op == 'last' else '< jnp.inf'}", name(best))
        self.there = Value(there, "bool")
        node = quote("jnp.where(_0, _1, -1)", there, self.decoded(best))
        self.env[search.result] = Value(node, "index")

    there: Value

    def apply(self, e: Apply) -> Value:
        if (
            self.searching is not None
            and e.op in ("greater_equal", "less")
            and e.args[0] == Var(self.searching.result, "index")
            and b.constant(e.args[1]) == 0
        ):
            return self.there if e.op == "greater_equal" else Value(quote("~_0", self.there.node), "bool")
        return super().apply(e)

    def update_pass(self, search: Search, best: str, state: str) -> None:
        """The pass that thins the mask out, and finds the next element while it is at it."""
        update = search.update
        self.cite(update)
        saved = self.begin_pass(update)
        self.block(search.inside[:-1])
        keep = self.expr(search.condition).node
        here = f"{state}_here"
        self.out.append(assign(here, quote("_0[at, :]", name(state))))
        inside = _within(search, here, best)
        node: ast.expr = name(here)
        if inside is not None:
            node = quote("jnp.where(_0, _1, _2)", inside, node, quote(search.dead))
        self.out.append(assign(here, quote("jnp.where(_0, _1, _2)", keep, node, quote(search.dead))))
        self.out.append(ast.Assign([quote_store(name(state))], name(here), lineno=0))
        self.out.append(ast.Return(ast.Tuple([name(here)], ast.Load())))
        made = self.end_pass(update, saved)
        of = self.module.fresh("update")
        self.out.append(function(of, ["at"], made))
        self.out.append(
            self.best_of(best, search, of, made, self.module.identifier(search.result) if inside is not None else None)
        )

    def best_of(self, best: str, search: Search, of: str, made: list[ast.stmt], bound: str | None) -> ast.stmt:
        kind = "max" if search.op == "last" else "min"
        keywords = {} if bound is None else {"stop" if search.op == "last" else "start": name(bound)}
        passed = self.over(of, made, quote("((_0, jnp.float32),)", ast.Constant(kind)), **keywords)
        return assign(best, quote(f"jnp.{kind}(_0[0])", passed))

    def inside_window(self, window: tuple[Expr, ...]) -> ast.expr:
        node = self.inside()
        for part in window:
            node = quote("_0 & _1", node, self.expr(part).node)
        return node


def _within(search: Search, here: str, best: str) -> ast.expr | None:
    """The window of the update, as a comparison of positions with the one just found."""
    result, axis = Var(search.result, "index"), Var(search.update.axis, "index")
    parts = []
    for part in search.bound:
        if search.op == "last" and part == b.compare("less", axis, result):
            parts.append(quote("_0 < _1", name(here), name(best)))
        elif search.op == "first" and part == b.compare("less_equal", b.add(result, b.ONE), axis):
            parts.append(quote("_0 > _1", name(here), name(best)))
        elif not _holds_from_the_start(search, part):
            raise Inexpressible("a window of another kind")
    return parts[0] if parts else None


def _holds_from_the_start(search: Search, part: Expr) -> bool:
    """Whether a part of the update's window never moves: what lies outside has no position from the start on."""
    moving = scalars_set(search.loop) | {search.update.axis}
    here = b.substitute(part, {search.update.axis: Var(search.axis, "index")})
    return here in search.window and not (variables_read(part) - {search.update.axis}) & moving


def quote_store(ref: ast.expr) -> ast.expr:
    node = quote("_0[at, :]", ref)
    assert isinstance(node, ast.Subscript)
    return ast.Subscript(node.value, node.slice, ast.Store())

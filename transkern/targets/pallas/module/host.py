"""The jitted function: host statements in order; kernels as a `pallas_call`, or as XLA ops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import constant
from transkern.ir.complexes import is_complex
from transkern.ir.expr import NOWHERE, Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.facts import conjuncts
from transkern.ir.library import LIBRARY, Step, has, spell
from transkern.ir.traverse import (
    bodies,
    buffers_used,
    buffers_written,
    exprs,
    own_exprs,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.targets.pallas.forms import grid, lanes, streams, whole
from transkern.targets.pallas.forms.carrying import settle
from transkern.targets.pallas.forms.failures import note_failure
from transkern.targets.pallas.forms.pieces import subscript
from transkern.targets.pallas.forms.slots import slots_of
from transkern.targets.pallas.forms.statements import Statements
from transkern.targets.pallas.forms.values import Inexpressible, Module, Value
from transkern.targets.pallas.module import forms as tried
from transkern.targets.pallas.module.starts import apart
from transkern.targets.pallas.passes.exits import decides
from transkern.targets.pallas.printing.quote import assign, comment, name, quote, sequence

NOTHING = Step("")
_MOVES = {n.Compact: "a filter, whose elements a kernel moves", n.Scanning: "a scan, which is a kernel on a TPU"}


class Host(Statements):
    """The statements between kernels, over whole arrays."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, 0, {})
        self.defined = {p.name for p in self.program.params if isinstance(p, n.ArrayParam)}
        self.returns: list[n.Result] = []
        self.decided: set[int] = set()  # the numbers of those among which data chooses
        self.cut: dict[int, list[tuple[int, Expr]]] = {}  # which dims of a result, by its id, only the call tells
        dims = [d for p in self.program.params if isinstance(p, n.ArrayParam) for d in p.dims]
        self.known_outside = {v for d in dims for v in variables_read(d)} | self.scalars | set(self.module.static)
        self.early = self.early_guards()
        self.nonempty = {d for g in self.early if g.error == "IndexError" for d in _sizes_above_zero(g.condition)}
        # what arrays must have for subscripts of code that may not run, which a kernel is traced with all the same
        self.there = [e for g in self.early for e in _sizes_asked_if_run(g.condition, self.is_static)]

    def statement(self, s: n.Stmt) -> None:
        try:
            self.one(s)
        except Inexpressible as error:
            error.span = error.span or s.span
            raise

    def whole_body(self) -> None:
        """All statements of the function; raises CompileError where one cannot be had."""
        try:
            self.block(self.program.body)
        except Inexpressible as error:
            problem = f"neither a Pallas kernel nor XLA can express {error.reason}"
            raise self.module.error(problem, error.span or NOWHERE) from None

    def block(self, statements: Iterable[n.Stmt]) -> None:
        """Statements in order; at the end, outside of JAX's loops and branches, data may decide what is returned."""
        before, last = _decisions(tuple(statements)) if not self.nested else (tuple(statements), ())
        super().block(before)
        if any(isinstance(s, n.If) and not self.is_static(s.condition) for s in walk(last)):
            self.decide(last)
        else:
            super().block(last)

    def early_guards(self) -> list[n.Guard]:
        """The checks of shapes and scalar arguments that come before all that depends on data: those that the function
        around the jitted one makes, before JAX sees subscripts that no array of these shapes has."""
        found: list[n.Guard] = []
        for s in self.program.body:
            match s:
                case n.Guard(condition, _, _, args) if all(map(self.is_outside, (condition, *args))):
                    found.append(s)
                case n.Let() | n.Assign() | n.Alloc() | n.Store() | n.Accumulator():
                    pass
                case _ if any(isinstance(x, (n.Guard, n.Return, n.Library)) for x in walk((s,))):
                    break
                case _:
                    pass
        return found

    def guard(self, s: n.Guard) -> None:
        if any(s is known for known in self.early):
            return
        first = "error." not in self.env
        if first or self.is_behind_check() or self.mask is not None or not self.is_static(s.condition):
            super().guard(s)
            return
        saved, self.out, env = self.out, [], dict(self.env)  # one before it may have failed, which comes first
        note_failure(self, s, Value(quote("jnp.bool_(False)"), "bool"))
        self.give_back(n.ConstantResult(None), n.Return(n.ConstantResult(None)))
        failed, self.out, self.env = self.out, saved, env
        self.out.append(ast.If(quote("not _0", self.expr(s.condition).node), failed, []))

    def one(self, s: n.Stmt) -> None:
        match s:
            case n.Kernel():
                self.kernel(s)
            case n.Library():
                self.cite(s)
                self.library(s)
            case n.Return(result):
                self.cite(s)
                self.give_back(result, s)
            case n.Loop(kind="parallel") | n.Scanning() | n.Compact() if not self.axes:
                self.rank, self.slots = slots_of((s,))
                super().statement(s)
            case _:
                super().statement(s)

    def bind(self, of: str, expr: Expr, variable: bool) -> None:
        if of not in self.module.asked:
            super().bind(of, expr, variable)
            return
        value, given = self.expr(expr), name(self.module.identifier(of))
        if not value.static:
            node = value.node
            if "error." in self.env:  # after an error it may be anything
                node = quote("jnp.where(_0 == 0, _1, 0)", self.env["error."].node, node)
            told = ast.Dict([ast.Constant(f"asked_{given.id}")], [node])
            self.out.append(ast.If(quote("_0 is None", given), [ast.Return(told)], []))
            value = Value(given, "index", static=True)
        self.env[of] = value

    # --- loops

    def sequential(self, s: n.Loop) -> None:
        """A loop of few steps that moves a window is written out when JAX traces: XLA then sees slices in one pass."""
        if not self.axes or not self.moves_window(s):
            super().sequential(s)
            return
        carried = self.carried(s.body)
        self.prepare(carried)
        saved, env, defined = self.out, dict(self.env), set(self.defined)
        fresh = set(self.fresh_accumulators)
        steps = self.written_out(s, carried)
        self.env, self.defined, self.fresh_accumulators = env, defined, fresh
        self.out = []
        super().sequential(s)
        looped, self.out = self.out, saved
        bounds = [self.size(s.start), self.size(s.stop), self.size(s.step)]
        self.out.append(ast.If(quote("len(range(_0, _1, _2)) <= 64", *bounds), [steps], looped))
        settle(self, carried)

    # --- memory

    def ensure(self, buffer: str) -> bool:
        if buffer in self.defined:
            return False
        self.defined.add(buffer)
        b = self.program.buffers[buffer]
        shape = sequence([self.size(d) for d in b.dims])
        self.out.append(
            assign(self.array(buffer).name, quote(f"jnp.zeros(_0, jnp.{self.module.dtype(b.dtype)})", shape))
        )
        return True

    def store(self, s: n.Store, mask: Value | None) -> None:
        super().store(s, mask)
        self.defined.add(s.buffer)

    def allocate(self, buffer: str) -> None:
        self.defined.discard(buffer)

    def load(self, e: Load) -> Value:
        self.ensure(e.buffer)
        return super().load(e)

    def allocated(self, block: tuple[n.Stmt, ...]) -> set[str]:
        """Memory made in a branch may be what follows reads: then it is no local."""
        found = super().allocated(block)
        if not found or self.axes:
            return found
        inside = {id(s) for s in walk(block)}
        return found - _used_outside(self.program.body, inside)

    # --- kernels

    def kernel(self, s: n.Kernel) -> None:
        """As a Pallas kernel, else inline."""
        self.cited = ""
        forms: list[tried.Form] = [grid] if s.placement == "grid" else [lanes, streams, whole]
        if s.placement == "grid" and any(isinstance(x, n.Loop) and x.kind == "sequential" for x in walk(s.body)):
            forms.append(whole)
        moves = {type(x) for x in walk(s.body)} & {n.Compact, n.Scanning}
        if moves:
            kinds = " and ".join(text for kind, text in _MOVES.items() if kind in moves)
            self.out.append(comment(f"{s.name}: {kinds}; what is around it is left to XLA"))
            self.inline(s)
            return
        try:
            tried.emit(self, s, forms)
            return
        except Inexpressible as error:
            reason = error.reason
        parts = apart(s) if s.placement != "grid" else [s]
        if len(parts) > 1:
            for part in parts:
                self.kernel(part)
            return
        self.out.append(comment(f"{s.name}: left to XLA ({reason})"))
        self.inline(s)

    def inline(self, s: n.Kernel) -> None:
        """The kernel's statements as XLA ops over whole arrays; what is no array expression runs one by one."""
        saved, nested = (list(self.out), dict(self.env), set(self.defined), list(self.module.guards)), self.nested
        perhaps, nonempty, returns = self.perhaps, self.nonempty, len(self.returns)
        out = self.out
        try:
            self.whole_arrays(s)
            return
        except Inexpressible as error:
            self.out = out
            self.out[:], self.env, self.defined, self.module.guards = saved
            self.axes, self.mask, self.nested, self.perhaps, self.nonempty = {}, None, nested, perhaps, nonempty
            del self.returns[returns:]
            first = error
        if not any(isinstance(x, n.Loop) and x.kind == "parallel" for x in walk(s.body)):
            raise first
        self.out.append(comment(f"{s.name}: in order ({first.reason})"))
        try:
            self.whole_arrays(replace(s, body=_in_order(s.body)))
        except Inexpressible:
            raise first from None

    def whole_arrays(self, s: n.Kernel) -> None:
        self.cited = ""
        self.rank, self.slots = slots_of(s.body)
        self.block(s.body)

    # --- libraries

    def library(self, s: n.Library) -> None:
        if not s.outs:  # a warning: JAX has none
            return
        for buffer in s.ins:
            self.ensure(buffer)
        ins = [self.seen(i) for i in s.ins]
        if not has(s.name, "jnp"):
            raise self.module.error(f"`{s.name}` has no JAX form", s.span)
        attributes = s.attributes
        if "{out}" in LIBRARY.get(s.name, NOTHING).jax:  # for its shape alone
            self.ensure(s.outs[0])
            attributes = (*attributes, ("out", f"_{len(ins)}"))
            ins.append(name(self.array(s.outs[0]).name))
        given = tuple(f"_{k}" for k in range(len(s.ins)))
        node = quote(spell(s.name, "jnp", given, attributes), *ins)
        made = [node]
        if len(s.outs) > 1:
            held = self.module.fresh("made")
            self.out.append(assign(held, node))
            made = [quote(f"_0[{k}]", name(held)) for k in range(len(s.outs))]
        for buffer, value in zip(s.outs, made, strict=True):
            dtype = self.module.dtype(self.program.buffers[buffer].dtype)
            if s.name == "searchsorted" or (s.name == "argsort" and dtype != "int32"):
                value = quote(f"_0.astype(jnp.{dtype})", value)
            self.out.append(assign(self.array(buffer).name, value))
            if self.program.buffers[buffer].element:
                own = name(self.array(buffer).name)
                parts = quote("jnp.stack([jnp.real(_0), jnp.imag(_0)], -1)", own)
                self.out.append(assign(self.array(buffer).name, parts))
            self.defined.add(buffer)

    def seen(self, buffer: str) -> ast.expr:
        """A buffer as the caller and libraries see it."""
        whole = name(self.array(buffer).name)
        return quote("lax.complex(_0[..., 0], _0[..., 1])", whole) if self.program.buffers[buffer].element else whole

    # --- results

    def give_back(self, result: n.Result, s: n.Return) -> None:
        """Leave the function with a result."""
        if self.nested:
            raise self.module.error("a `return` from inside a loop or a branch that JAX traces", s.span)
        self.hand_back([result])

    def decide(self, last: tuple[n.Stmt, ...]) -> None:
        """Leave the function where data decides what is returned: with all that may be, and the number of what is."""
        results: list[n.Result] = []
        first = len(self.returns) + 1

        def number(statements: tuple[n.Stmt, ...]) -> Expr:
            for position, s in enumerate(statements):
                match s:
                    case n.Return(result):
                        self.cite(s)
                        results.append(result)
                        return b.index(first + len(results) - 1)
                    case n.If(condition, then, orelse):
                        rest = statements[position + 1 :]
                        return b.where(condition, number((*then, *rest)), number((*orelse, *rest)))
                    case _:
                        self.statement(s)
            raise AssertionError("a path without a return")

        case = number(last)
        self.decided |= {first + k for k in range(len(results))}
        self.hand_back(results, case)

    def hand_back(self, results: list[n.Result], case: Expr | None = None) -> None:
        """Return the leaves of the results, then what every call hands back."""
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for result in results:
            self.returns.append(result)
            leaves: list[ast.expr] = []
            self.leaves(result, leaves)
            keys.append(ast.Constant(f"result_{len(self.returns)}"))
            values.append(sequence(leaves))
        if case is not None:
            keys.append(ast.Constant("case"))
            values.append(self.expr(case).node)
        written = [p.name for p in self.program.params if isinstance(p, n.ArrayParam) and p.written]
        if written:
            keys.append(ast.Constant("written"))
            values.append(sequence([self.seen(w) for w in written]))
        if "error." in self.env:
            found = [k for k in sorted(self.env) if k == "error." or (k.startswith("detail") and k.endswith("."))]
            keys += [ast.Constant(k.rstrip(".")) for k in found]
            values += [self.env[k].node for k in found]
        self.out.append(ast.Return(ast.Dict(keys, values)))

    def leaves(self, result: n.Result, out: list[ast.expr]) -> None:
        """The arrays that a result is made of; a dynamic size follows its array."""
        match result:
            case n.ArrayResult(buffer, dims, _):
                self.ensure(buffer)
                node: ast.expr = self.seen(buffer)
                info = self.program.buffers[buffer]
                have = info.dims[:-1] if info.element else info.dims
                if have != dims and all(self.is_static(d) for d in dims) and len(have) == len(dims):
                    node = subscript(node, [ast.Slice(None, self.size(d)) for d in dims])
                out.append(node)
                self.cut[id(result)] = [(k, d) for k, d in enumerate(dims) if not self.is_static(d)]
                out += [self.expr(d).node for _, d in self.cut[id(result)]]
            case n.ListResult(buffer, count, _):
                if not buffer:
                    return
                self.ensure(buffer)
                out.append(self.seen(buffer))
                out.append(quote(f"jnp.{self.module.integer}(_0)", self.expr(count).node))
            case n.ScalarResult(Apply("complex", parts, _), _):
                made_parts = [self.expr(p) for p in parts]
                out.append(quote("lax.complex(_0, _1)", *(self.typed(m, m.dtype) for m in made_parts)))
            case n.ScalarResult(value, _):
                if not self.is_outside(value):
                    made = self.expr(value)
                    out.append(self.typed(made, made.dtype))
            case n.TupleResult(items):
                for item in items:
                    self.leaves(item, out)
            case n.ViewResult():
                out.append(self.view(result))
            case n.ArgumentResult() | n.ConstantResult():
                pass

    def is_outside(self, value: Expr) -> bool:
        """Whether the function around the jitted one computes a number by itself: from shapes and scalar arguments."""
        if is_complex(value.dtype):
            return False
        return not any(isinstance(e, (Load, Reduce)) for e in walk_expr(value)) and (
            variables_read(value) <= self.known_outside
        )

    def view(self, r: n.ViewResult) -> ast.expr:
        """A view as an array of its own: JAX arrays are values."""
        items: list[ast.expr] = []
        for offset, steps in zip(r.offset, r.steps, strict=True):
            node = self.expr(offset).node
            for k, (step, dim) in enumerate(zip(steps, r.dims, strict=True)):
                if constant(step) == 0:
                    continue
                shape = [self.size(dim) if k == q else ast.Constant(1) for q in range(len(r.dims))]
                walk_ = quote(f"lax.broadcasted_iota(jnp.{self.module.integer}, _0, {k})", ast.Tuple(shape, ast.Load()))
                node = quote("_0 + _1 * _2", node, self.expr(step).node, walk_)
            items.append(node)
        whole = sequence([self.size(d) for d in r.dims])
        base: ast.expr = name(self.array(r.buffer).name) if not r.part else quote(
            f"_0[..., {int(r.part == 'imag')}]", name(self.array(r.buffer).name)
        )
        info = self.program.buffers[r.buffer]
        if info.element and not r.part:
            base = self.seen(r.buffer)
        if len(items) < len(info.dims) - bool(info.element):
            base = quote("_0.reshape(-1)", base)
        return quote("jnp.broadcast_to(_0, _1)", subscript(base, items), whole)


def _sizes_asked_if_run(condition: Expr, is_static: Callable[[Expr], bool]) -> list[Expr]:
    """What sizes decide of a check that asks for it only if the code is reached: `m > 5` of `not k > 0 or m > 5`."""
    found: list[Expr] = []
    for c in conjuncts(condition):
        against = conjuncts(b.logical_not(c))  # all of them hold where the check fails
        sizes = [b.logical_not(x) for x in against if is_static(x)]
        if 0 < len(sizes) < len(against):
            found.append(reduce(lambda x, y: Apply("or_else", (x, y), "bool"), sizes))
    return found


def _sizes_above_zero(condition: Expr) -> list[Expr]:
    """The sizes that have a place where a subscript is within their bounds."""
    parts = conjuncts(condition)
    found: list[Expr] = []
    for c in parts:
        match c:
            case Apply("less", (at, size), _) if (
                b.is_nonnegative(at) or b.compare("greater_equal", at, b.neg(size)) in parts
            ):
                found.append(size)
            case Apply("greater_equal", (size, Const(value)), "bool") if value == 1:
                found.append(size)
            case _:
                pass
    return found


def _in_order(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    return tuple(
        replace(s, kind="sequential", body=_in_order(s.body)) if isinstance(s, n.Loop) else with_bodies(s, _in_order)
        for s in block
    )


def _used_outside(block: Iterable[n.Stmt], inside: set[int]) -> set[str]:
    """The buffers that statements other than those `inside` read or write."""
    found: set[str] = set()
    for s in block:
        if id(s) in inside:
            continue
        found |= {e.buffer for top in own_exprs(s) for e in walk_expr(top) if isinstance(e, Load)}
        inner = list(bodies(s))
        for body in inner:
            found |= _used_outside(body, inside)
        if not any(inner) or isinstance(s, (n.Compact, n.Scanning)):
            found |= buffers_used(s) | buffers_written(s)
    return found


def sizes_used(program: n.Program) -> set[str]:
    found: set[str] = set()
    for e in exprs(program.body):
        if isinstance(e, Var):
            found.add(e.name)
    for buffer in program.buffers.values():
        for d in buffer.dims:
            found |= variables_read(d)
    return found


def _decisions(block: tuple[n.Stmt, ...]) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]]:
    """A body, and its end, where nothing is done but decided what is returned."""
    for position in range(len(block)):
        if decides(block[position:]):
            return block[:position], block[position:]
    return block, ()

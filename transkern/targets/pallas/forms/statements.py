"""Statements over array values: parallel loops open slots of the block, sequential loops become loops of `lax`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_written, exprs, map_block, scalars_set, scalars_used, variables_read, walk
from transkern.limits import check_time
from transkern.targets.pallas.forms.carrying import (
    carried_block,
    carried_number,
    condition,
    dtype_of,
    materialise,
    nothing,
    own_slots,
    perhaps_guards,
    settle,
    state,
    unpack,
)
from transkern.targets.pallas.forms.failures import details, note_failure, raise_unless
from transkern.targets.pallas.forms.filters import compact, scanning
from transkern.targets.pallas.forms.pieces import is_literal
from transkern.targets.pallas.forms.reductions import Reductions
from transkern.targets.pallas.forms.values import Inexpressible, Module, Value, product_like
from transkern.targets.pallas.forms.vector import AxisInfo
from transkern.targets.pallas.passes import ragged
from transkern.targets.pallas.printing.quote import (
    assign,
    call,
    comment,
    constant,
    function,
    name,
    names,
    quote,
)


class Statements(Reductions):
    """Everything of a function body: statements, loops, branches, and what is carried through them."""

    def __init__(self, module: Module, rank: int, slots: dict[str, int]) -> None:
        super().__init__(module, rank, slots)
        self.cited = ""
        self.nested = 0  # how many functions deep: JAX cannot return from inside its loops
        self.perhaps = 0  # how many branches and loops deep whose text is traced, but which may not run
        self.handed: set[str] = set()  # what the heads of loops compute for their conditions and bodies
        self.read_before: set[str] = set()  # what functions inside read of the one around, before they have their own

    def block(self, statements: Iterable[n.Stmt]) -> None:
        """Statements in order; where they may not run, what a check of sizes keeps from running is not even traced."""
        statements = tuple(statements)
        for position, s in enumerate(statements):
            rest = statements[position + 1 :]
            if rest and isinstance(s, n.Guard) and self.is_behind_check() and self.is_static(s.condition):
                self.statement(n.If(s.condition, rest, (s,), span=s.span))
                return
            self.statement(s)

    def is_behind_check(self) -> bool:
        """Whether what is written now may not be reached: in a branch, or in a loop where a check may have failed."""
        return self.perhaps > 0 or (self.nested > 0 and "error." in self.env)

    def cite(self, s: n.Stmt) -> None:
        """The user's line above what is made of it."""
        text = self.program.cited(s.span)
        if text and text != self.cited:
            self.cited = text
            self.out.append(comment(text.partition(": ")[2]))

    def statement(self, s: n.Stmt) -> None:
        check_time()
        if not isinstance(s, (n.If, n.Accumulator, n.Kernel, n.Alloc)):
            self.cite(s)
        match s:
            case n.Let(of, value) | n.Assign(of, value):
                self.bind(of, value, isinstance(s, n.Assign))
            case n.Store():
                self.store(s, self.mask)
            case n.Accumulator(of, op, dtype):
                self.declared[of] = (s, self.open_slots())
                self.fresh_accumulators.add(of)
                self.env[of] = Value(self.neutral(op, dtype), dtype)
            case n.Accumulate():
                self.accumulate(s)
            case n.Loop(kind="parallel"):
                self.parallel(s)
            case n.Loop():
                self.sequential(s)
            case n.While():
                self.repeat(s)
            case n.If():
                self.branch(s)
            case n.Scanning():
                scanning(self, s)
            case n.Compact():
                compact(self, s)
            case n.Guard():
                self.guard(s)
            case n.Alloc(buffer):
                self.allocate(buffer)
            case n.Kernel(body=body):
                self.block(body)
            case _:
                raise self.module.error(f"a `{type(s).__name__.lower()}` here cannot be traced by JAX", s.span)

    # --- scalars

    def bind(self, of: str, expr: Expr, variable: bool) -> None:
        value = self.expr(expr)
        if variable and value.dtype != self.program.variables.get(of, value.dtype):
            value = self.cast(value, self.program.variables[of])
        if product_like(expr) and of in self.module.summands:
            value = self.rounded(value, expr)
        if variable and self.mask is not None and of in self.env:
            old = self.env[of]
            value = Value(
                self.chosen(self.mask.node, value.node, old.node, value.dtype), value.dtype,
                value.axes | old.axes | self.mask.axes,
            )  # fmt: skip
        if isinstance(expr, Const) and value.static:
            self.env[of] = value
            return
        target = self.module.identifier(of)
        if isinstance(value.node, ast.Name) and value.node.id == target:
            self.env[of] = value
            return
        value = self.bound(value, expr)
        if self.nested and not variable and of not in self.handed:
            if of in self.read_before or self.is_bound_as(of, target):
                self.read_before.add(of)  # in this function, whose own it would be for Python, and unbound
                target = self.module.fresh(target)
        self.out.append(assign(target, value.node if value.static else self.typed(value, value.dtype)))
        self.env[of] = Value(name(target), value.dtype, value.axes, value.static)

    def is_bound_as(self, of: str, target: str) -> bool:
        held = self.env.get(of)
        return held is not None and isinstance(held.node, ast.Name) and held.node.id == target

    # --- loops

    def parallel(self, s: n.Loop) -> None:
        step = b.constant(s.step)
        if step is None or not (self.is_static(s.start) and self.is_static(s.stop)):
            raise Inexpressible("a loop whose length depends on data")
        extent = trips(s)
        if (b.constant(extent) or 0) < 1 and b.constant(extent) is not None:  # what it stores may not name its axis
            self.out.append(ast.Pass())
            return
        if step != 1:  # the axis counts steps; what it stands for is computed from it
            counter = Var(s.axis, "index")
            value = b.add(s.start, b.mul(s.step, counter))
            s = replace(s, body=map_block(s.body, lambda e: value if e == counter else None))
        elif b.constant(s.start) != 0:
            shifted = b.add(Var(s.axis, "index"), s.start)
            counter = Var(s.axis, "index")
            s = replace(s, body=map_block(s.body, lambda e: shifted if e == counter else None))
        slot = self.slots[s.axis]
        self.forget(s)
        self.axes[s.axis] = AxisInfo(slot, extent, b.ZERO, 1)
        self.block(s.body)
        del self.axes[s.axis]
        self.forget(s)

    def forget(self, s: n.Loop) -> None:
        """What is assigned in a parallel loop is each iteration's own: it has no value before, and none behind."""
        for x in walk(s.body):
            if isinstance(x, n.Assign):
                self.env.pop(x.name, None)

    def sequential(self, s: n.Loop) -> None:
        sure = self.is_static(s.start) and self.is_static(s.stop)
        self.perhaps += not sure
        try:
            self.in_order(s)
        finally:
            self.perhaps -= not sure

    def moves_window(self, s: n.Loop) -> bool:
        """Whether a loop's axis is part of a subscript that a parallel axis walks, and JAX knows its steps."""
        if b.constant(s.step) is None or not (self.is_static(s.start) and self.is_static(s.stop)):
            return False
        if any(isinstance(x, (n.Guard, n.Alloc, n.Compact, n.Scanning)) for x in walk(s.body)):
            return False
        indices = [x.index for x in walk(s.body) if isinstance(x, n.Store)]
        indices += [e.index for e in exprs(s.body) if isinstance(e, Load)]
        axes = {x.axis for x in walk(s.body) if isinstance(x, n.Loop) and x.kind == "parallel"} | set(self.axes)
        reads = [variables_read(i) for index in indices for i in index]
        return any(s.axis in r and r & axes for r in reads)

    def written_out(self, s: n.Loop, carried: list[str]) -> ast.stmt:
        """A loop whose axis is a number of Python's, a step at a time."""
        counter = self.module.identifier(s.axis)
        bounds = [self.size(s.start), self.size(s.stop), self.size(s.step)]
        saved, env = self.out, dict(self.env)
        self.out = []
        settle(self, carried)
        self.env[s.axis] = Value(name(counter), "index", static=True)
        self.block(s.body)
        if carried:
            self.out.append(unpack(self, carried, state(self, carried)))
        made, self.out, self.env = self.out, saved, env
        target = ast.Name(counter, ast.Store())
        return ast.For(target, call("range", bounds), made or [ast.Pass()], [], lineno=0)

    def in_order(self, s: n.Loop) -> None:
        carried = self.carried(s.body)
        self.prepare(carried)
        start, stop, step = self.expr(s.start), self.expr(s.stop), self.expr(s.step)
        if start.axes or stop.axes:
            ragged.loop(self, s, carried, start, stop)
            return
        counter = self.module.identifier(s.axis)
        inner_name = self.module.fresh(f"{counter}_step")
        bounds = [quote(f"jnp.{self.module.integer}(_0)", v.node) if v.static else v.node for v in (start, stop)]
        first: list[ast.stmt] = []
        index = counter
        if b.constant(s.step) != 1:
            if not step.static or b.constant(s.step) is None:
                raise self.module.error("a loop whose step is not a constant", s.span)
            index = self.module.fresh(f"{counter}_trip")
            size = b.constant(s.step)
            assert size is not None
            trips = (
                "lax.div(jnp.maximum(_1 - _0 + _2, 0), _3)" if size > 0 else "lax.div(jnp.maximum(_0 - _1 + _2, 0), _3)"
            )
            divisor = quote(f"jnp.{self.module.integer}(_0)", constant(abs(size)))
            count = quote(trips, *bounds, constant(abs(size) - 1), divisor)
            first = [assign(counter, quote("_0 + _1 * _2", bounds[0], name(index), constant(size)))]
            bounds = [quote(f"jnp.{self.module.integer}(0)"), count]
        known = self.nonempty
        if start.static and b.is_nonnegative(s.start):  # the text runs where there is an iteration
            self.nonempty = known | {s.stop}
        body = self.inner(s.body, carried, first, {s.axis: Value(name(counter), "index")})
        self.nonempty = known
        body_function = function(inner_name, [index, "state"], body)
        loop = [
            body_function,
            unpack(self, carried, call("lax.fori_loop", [*bounds, name(inner_name), state(self, carried)])),
        ]
        if start.static and stop.static:  # a body that never runs may not even be traced: its arrays may be empty
            sign = ">" if (b.constant(s.step) or 1) > 0 else "<"
            self.out.append(ast.If(quote(f"_0 {sign} _1", stop.node, start.node), loop, []))
        else:
            self.out += loop
        settle(self, carried)

    def inner(
        self, block: tuple[n.Stmt, ...], carried: list[str], first: list[ast.stmt], bound: dict[str, Value]
    ) -> list[ast.stmt]:  # fmt: skip
        """The body of a function from state to state."""
        self.nested += 1
        saved = self.out, dict(self.env), set(self.fresh_accumulators), set(self.defined)
        self.out = [unpack(self, carried, name("state")), *first] if carried else list(first)
        settle(self, carried)
        self.env.update(bound)
        self.block(block)
        self.out.append(ast.Return(state(self, carried)))
        made = self.out
        self.out, self.env, self.fresh_accumulators, self.defined = saved
        self.nested -= 1
        return made

    def repeat(self, s: n.While) -> None:
        """``while``, turned: the head runs before the loop and at the end of its body, its condition carried."""
        self.perhaps += 1
        try:
            self.loop(s)
        finally:
            self.perhaps -= 1

    def loop(self, s: n.While) -> None:
        carried = self.carried((*s.head, *s.body))
        used = scalars_used(n.While((), s.condition, s.body))
        made = {x.name for x in walk(s.head) if isinstance(x, (n.Let, n.Accumulator))}
        handed = [x for x in sorted(made) if x in used]
        self.prepare(carried)
        self.handed.update(handed)
        self.block(s.head)
        materialise(self, handed)
        if self.open_slots():
            ragged.repeat(self, s, carried, handed)
            return
        go = self.module.fresh("go_on")
        self.out.append(assign(go, condition(self, s.condition, "error." in carried)))
        step, state = self.module.fresh("body"), [*carried, *handed]
        saved = self.out, dict(self.env), set(self.fresh_accumulators), set(self.defined)
        everything = [*(self.python(c) for c in state), go]
        self.out = [ast.Assign([names(everything, store=True)], name("state"), lineno=0)]
        settle(self, state)
        self.nested += 1
        self.block(s.body)
        self.block(s.head)
        self.nested -= 1
        materialise(self, [c for c in state if c not in self.program.buffers])  # constants have no name yet
        self.out.append(assign(go, condition(self, s.condition, "error." in carried)))
        self.out.append(ast.Return(names(everything)))
        body = self.out
        self.out, self.env, self.fresh_accumulators, self.defined = saved
        self.out.append(function(step, ["state"], body))
        last = ast.Constant(-1)
        loop = quote("lax.while_loop(lambda state: state[_0], _1, _2)", last, name(step), names(everything))
        if len(everything) == 1:
            loop = quote("lax.while_loop(lambda state: state, _0, _1)", name(step), names(everything))
        self.out.append(ast.Assign([names(everything, store=True)], loop, lineno=0))
        settle(self, state)

    # --- carried state

    def carried(self, block: tuple[n.Stmt, ...]) -> list[str]:
        """The buffers and scalars that the block changes and that outlive it."""
        local = {s.name for s in walk(block) if isinstance(s, (n.Let, n.Accumulator))}
        local |= self.allocated(block) | _private(block)
        changed = {name for s in block for name in buffers_written(s)}
        moving = {name for s in block for name in scalars_set(s)}
        failed = "error." in self.env  # inside a loop, a check may then not be reached
        open_guards = {id(s) for s in perhaps_guards(self, block, moving, self.perhaps > 0 or failed)}
        for s in walk(block):
            match s:
                case n.Assign(name=of) | n.Accumulate(name=of) | n.Compact(count=of):
                    changed.add(of)
                case n.Guard() if id(s) in open_guards or not self.is_static(s.condition) or (
                    variables_read(s.condition) & moving
                ):
                    if self.module.check(s) is None:
                        self.module.guards.append(s)
                    changed.add("error.")
                    changed.update(details(self, s))
                case _:
                    pass
        return sorted(changed - local)

    def allocated(self, block: tuple[n.Stmt, ...]) -> set[str]:
        """The buffers that nothing needs outside the block."""
        return {s.buffer for s in walk(block) if isinstance(s, n.Alloc)}

    def python(self, of: str) -> str:
        return self.arrays[of].name if of in self.arrays else self.module.identifier(of)

    def prepare(self, carried: list[str]) -> None:
        """Before a loop everything carried must have a value of its lasting type and shape."""
        for of in carried:
            if of in self.program.buffers:
                self.ensure(of)
                continue
            dtype = dtype_of(self, of)
            value = self.env.get(of, Value(self.neutral("sum", dtype), dtype))
            slots = own_slots(self, of)
            node = value.node
            if slots:
                node = carried_block(self, Value(node, dtype, value.axes, not value.axes), slots)
                if (value.static or is_literal(value.node)) and dtype.startswith("float"):
                    node = self.kept(Value(node, dtype)).node
            else:
                node = carried_number(self, value, dtype)
            target = self.module.identifier(of)
            self.out.append(assign(target, node))
            self.env[of] = Value(name(target), dtype, slots)
            self.fresh_accumulators.discard(of)

    def has_value(self, of: str) -> bool:
        return of in self.env or of in self.program.buffers

    # --- branches

    def branch(self, s: n.If) -> None:
        condition = self.expr(s.condition)
        if condition.static:
            self.static_branch(s, condition)
        elif condition.axes or self.open_slots():
            self.masked_branch(s, condition)
        else:
            self.conditional(s, condition)

    def static_branch(self, s: n.If, condition: Value) -> None:
        carried = self.carried((*s.then, *s.orelse))
        decides = self.held(s.condition, condition, carried)
        self.prepare([c for c in carried if self.has_value(c) or c == "error." or c.startswith("detail")])
        saved, env, defined = self.out, dict(self.env), set(self.defined)
        parts = []
        handed: list[dict[str, Value]] = []
        for block in (s.then, s.orelse):
            self.out, self.env, self.defined = [], dict(env), set(defined)
            self.block(block)
            for c in carried:
                if c not in self.program.buffers and c in self.env:
                    materialise(self, [c])
            changed = sorted(x for x in self.handed & set(self.env) if self.env[x] is not env.get(x))
            materialise(self, changed)
            handed.append({x: self.env[x] for x in changed})
            parts.append(self.out)
        self.out, self.env, self.defined = saved, env, defined
        settle(self, carried)
        for of, value in {**handed[0], **handed[1]}.items():
            for part, made in zip(parts, handed, strict=True):
                if of not in made and of not in env:  # a check has failed there, and the loop does not begin
                    part.append(nothing(self, of, value))
            self.env[of] = value
        self.out.append(ast.If(decides, parts[0] or [ast.Pass()], parts[1]))

    def held(self, condition: Expr, value: Value, carried: list[str]) -> ast.expr:
        """A condition on what Python knows, where it is still found when what is carried has become JAX's."""
        if not variables_read(condition) & set(carried):
            return value.node
        holds = self.module.fresh("holds")
        self.out.append(assign(holds, value.node))
        return name(holds)

    def masked_branch(self, s: n.If, condition: Value) -> None:
        """Both sides run; each takes effect where its condition holds."""
        outer = self.mask
        chosen = self.module.fresh("chosen")
        self.out.append(assign(chosen, condition.node))
        for block, template in ((s.then, "_0"), (s.orelse, "~_0")):
            if not block:
                continue
            node = quote(template, name(chosen))
            self.mask = Value(node, "bool", condition.axes)
            if outer is not None:
                self.mask = Value(quote("_0 & _1", outer.node, node), "bool", outer.axes | condition.axes)
            self.block(block)
        self.mask = outer

    def conditional(self, s: n.If, condition: Value) -> None:
        """A branch on data; what sizes decide of its condition, they decide when JAX traces: a side that no array of
        these sizes can take is not traced at all."""
        parts, of_data = conjuncts(s.condition), s.condition
        sizes = [c for c in parts if self.is_static(c) and self.expr(c).static]
        if sizes:
            of_data = functools.reduce(b.both, (c for c in parts if c not in sizes))
            condition = self.expr(of_data)
        self.perhaps += 1
        carried = self.carried((*s.then, *s.orelse))
        if sizes:
            known = functools.reduce(b.both, sizes)
            decides = self.held(known, self.expr(known), carried)
        chosen = self.held(of_data, condition, [c for c in carried if c in self.env and self.env[c].static])
        self.prepare(carried)
        functions = []
        for block, label in ((s.then, "then"), (s.orelse, "otherwise")):
            of = self.module.fresh(label)
            functions.append(name(of))
            self.out.append(function(of, ["state"], self.inner(block, carried, [], {})))
        self.perhaps -= 1
        made = unpack(self, carried, call("lax.cond", [chosen, *functions, state(self, carried)]))
        if sizes:
            made = ast.If(decides, [made], [unpack(self, carried, call(functions[1], [state(self, carried)]))])
        self.out.append(made)
        settle(self, carried)

    # --- scans, compactions, guards, memory: what XLA does; kernels override or refuse

    def guard(self, s: n.Guard) -> None:
        """A condition on data: the first that fails leaves its number in `error`, for the wrapper to raise."""
        condition = self.expr(s.condition)
        if condition.static and not self.is_behind_check() and self.mask is None:
            self.out.append(raise_unless(self, s, condition.node))
            return
        if condition.static:
            condition = Value(quote("jnp.bool_(_0)", condition.node), "bool")
        if condition.axes or (self.mask is not None and self.mask.axes):
            raise Inexpressible("a guard on each element")
        note_failure(self, s, condition)

    def allocate(self, buffer: str) -> None:
        """Memory comes with the first store; a loop or a partial store asks `ensure` for it."""


def trips(s: n.Loop) -> Expr:
    """How many iterations a loop with a constant step has."""
    step = b.constant(s.step)
    if step is None:
        raise Inexpressible("a loop whose step is not a constant")
    first, last = (s.start, s.stop) if step > 0 else (s.stop, s.start)
    if step == 1 and b.constant(s.start) == 0:
        return s.stop
    length = b.maximum(b.sub(last, first), b.ZERO)
    return length if abs(step) == 1 else b.floordiv(b.add(length, b.index(abs(step) - 1)), b.index(abs(step)))


def _private(block: Iterable[n.Stmt]) -> set[str]:
    """The variables that the iterations of parallel loops have for themselves."""
    loops = [s for s in walk(tuple(block)) if isinstance(s, n.Loop) and s.kind == "parallel"]
    return {x.name for s in loops for x in walk(s.body) if isinstance(x, n.Assign)}

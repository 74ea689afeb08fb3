"""What a block kernel is given and gives back: numbers, tables of elements in SMEM, arrays in VMEM, results."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import bodies, buffers_used, buffers_written, exprs, variables_read, walk
from transkern.targets.pallas.forms.carrying import dtype_of
from transkern.targets.pallas.forms.failures import details
from transkern.targets.pallas.forms.statements import Statements
from transkern.targets.pallas.forms.values import Inexpressible, Value, product_like
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import assign, call, function, name, quote, sequence

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host


class Interface(Statements):
    """A kernel over references; subclasses say how arrays are laid out and read."""

    mosaic = True
    helper_name = "_block"

    def __init__(self, host: Host, kernel: n.Kernel, rank: int, slots: dict[str, int]) -> None:
        super().__init__(host.module, rank, slots)
        self.host, self.kernel = host, kernel
        self.written = buffers_written(kernel)
        self.used = buffers_used(kernel)
        self.numbers: dict[str, ast.expr] = {}
        self.tables: dict[str, str] = {}
        self.vectors: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        self.masks: dict[str, str] = {}
        self.kept_positions: dict[str, str] = {}  # of the masks that the kernel makes itself
        self.number_results: dict[str, str] = {}
        self.started: list[str] = []  # lists of single elements that come in, too
        self.live_after = live_outside(host.program, kernel)
        axes = {s.axis for s in walk(kernel.body) if isinstance(s, n.Loop) and s.kind == "parallel"}
        walked = {x.buffer for x in _accesses(kernel) if any(variables_read(i) & axes for i in x.index)}
        self.scalar_only = {x.buffer for x in _accesses(kernel)} - walked
        for buffer in sorted(self.used | self.written):
            if host.program.buffers[buffer].dtype not in spelling.MOSAIC_DTYPES:
                raise Inexpressible(f"{host.program.buffers[buffer].dtype} in a TPU kernel")

    # --- references

    def vector(self, buffer: str) -> str:
        """The reference to an array that passes walk."""
        if buffer not in self.vectors:
            self.vectors[buffer] = self.module.identifier(buffer)
        return self.vectors[buffer]

    def table(self, buffer: str) -> str:
        """The reference for single elements: a copy in SMEM where nothing writes the array, or walks it."""
        if buffer in self.written and buffer not in self.scalar_only:
            return self.vector(buffer)
        if buffer not in self.tables:
            base = self.module.identifier(buffer)
            self.tables[buffer] = base if buffer in self.scalar_only else self.module.fresh(f"{base}_table")
        return self.tables[buffer]

    def keep_positions(self, mask: str) -> tuple[str, str]:
        """The mask as it comes in, or as the kernel makes it, and what holds the positions that the kernel keeps."""
        own = self.module.identifier(mask)
        if any(isinstance(s, n.Alloc) and s.buffer == mask for s in walk(self.kernel.body)):
            self.kept_positions[mask] = self.module.fresh(f"{own}_places")
            return self.vector(mask), self.kept_positions[mask]
        self.masks[mask] = self.module.fresh(f"{own}_start")
        return self.masks[mask], own

    def number(self, e: Load) -> Value:
        if e.buffer in self.written:
            node = quote("_0[0] != 0" if e.dtype == "bool" else "_0[0]", name(self.number_result(e.buffer)))
            return Value(node, e.dtype)
        param = self.module.identifier(e.buffer)
        self.numbers.setdefault(param, self.host.load(e).node)
        return Value(name(param), e.dtype)

    def number_result(self, buffer: str) -> str:
        return self.number_results.setdefault(buffer, self.module.identifier(buffer))

    def set_number(self, s: n.Store) -> None:
        dtype = self.program.buffers[s.buffer].dtype
        value = self.expr(s.value)
        if product_like(s.value) and s.buffer in self.module.summands:
            value = self.rounded(value, s.value)
        node = self.bound(Value(self.typed(value, dtype), dtype), s.value).node
        if dtype == "bool":
            node = quote("_0.astype(jnp.int32)", node)
        self.out.append(assign_item(self.number_result(s.buffer), node))

    def expr(self, e: Expr) -> Value:
        if self.hoisting and self._is_hoistable(e) and not self.is_static(e):
            made = self.module.hoist(e)
            assert isinstance(made.node, ast.Name)
            self.numbers.setdefault(made.node.id, made.node)
            return made
        return super().expr(e)

    def variable(self, of: str, dtype: str) -> Value:
        if of not in self.axes and of not in self.env and of in self.host.env:
            value = self.host.env[of]
            if value.static:
                return value
            param = self.module.identifier(of)
            self.numbers.setdefault(param, value.node)
            return Value(name(param), value.dtype)
        return super().variable(of, dtype)

    def is_static(self, expr: Expr) -> bool:
        if super().is_static(expr):
            return True
        names = variables_read(expr)
        return bool(names) and not (names & (set(self.axes) | set(self.env))) and self.host.is_static(expr)

    def is_behind_check(self) -> bool:
        """JAX traces a kernel after a check that may have failed."""
        return super().is_behind_check() or "error." in self.env

    def prepare(self, carried: list[str]) -> None:
        """What the host has set starts as it is there."""
        for of in carried:
            if of not in self.env and of in self.host.env:
                self.env[of] = self.variable(of, dtype_of(self, of))
        super().prepare(carried)

    def has_value(self, of: str) -> bool:
        return super().has_value(of) or of in self.host.env

    # --- references are not carried

    def carried(self, block: tuple[n.Stmt, ...]) -> list[str]:
        return [c for c in super().carried(block) if c not in self.program.buffers]

    # --- the call

    def all_statements(self) -> None:
        """The kernel's statements, between what it finds of checks before it and what it leaves of its own."""
        host, module = self.host, self.module
        guards = [s for s in walk(self.kernel.body) if isinstance(s, n.Guard)]
        for of in ["error.", *(d for s in guards for d in details(self, s))] if guards else []:
            if of in host.env and of not in self.env:  # a check before the kernel may have failed
                before = module.fresh(f"{of.rstrip('.')}_start")
                self.numbers[before] = host.env[of].node
                self.env[of] = Value(name(before), host.env[of].dtype)
        self.block(self.kernel.body)
        self.keep_error()

    def kept_numbers(self, local: set[str]) -> list[ast.stmt]:
        """Numbers that the kernel changes start as they are."""
        host, kept = self.host, list[ast.stmt]()
        for b, ref in self.number_results.items():
            if b in host.program.buffers and b in host.defined and b not in local:
                start = self.module.fresh(f"{ref}_start")
                node: ast.expr = name(host.array(b).name)
                if host.program.buffers[b].dtype == "bool":
                    node = quote("_0.astype(jnp.int32)", node)
                self.numbers[start] = node
                kept.append(assign_item(ref, name(start)))
        return kept

    def taken(self, outs: Iterable[str], made: ast.expr) -> None:
        """The call, whose results the host knows from then on."""
        host, module, outs = self.host, self.module, list(outs)
        targets = [host.array(b).name if b in self.program.buffers else module.identifier(b) for b in outs]
        host.out.append(
            ast.Assign([ast.Tuple([ast.Name(t, ast.Store()) for t in targets], ast.Store())], made, lineno=0)
        )
        for b in outs:
            host.defined.add(b)
            if b in self.program.buffers and self.program.buffers[b].dtype == "bool":
                host.out.append(assign(host.array(b).name, quote("_0 != 0", name(host.array(b).name))))
            if b not in self.program.buffers:
                host.env[b] = Value(name(module.identifier(b)), dtype_of(self, b))

    def run(self) -> None:
        host, module = self.host, self.module
        self.all_statements()
        copied = [b for b in self.vectors if b in self.written]
        local = {s.buffer for s in walk(self.kernel.body) if isinstance(s, n.Alloc)}
        ins = [b for b in self.vectors if b not in self.written]
        given: dict[str, ast.expr] = {}
        for b in ins:
            given[self.vectors[b]] = self.given(b)
        for b, column in self.columns.items():
            given[column] = quote("_0[:, None]", self.given(b))
        lists = [b for b in self.tables if b in self.written]
        started = [b for b in (*copied, *lists) if b in host.defined and b not in local]
        self.started = [b for b in started if b in lists]
        starts = {b: module.fresh(f"{self.python_of(b)}_start") for b in started}
        for b in started:
            if b not in lists:
                given[starts[b]] = self.given(b)
        for b, held in self.masks.items():
            given[held] = self.given(b)
        tables = {t: self.given(b) for b, t in self.tables.items() if b not in self.written}
        tables |= {starts[b]: self.given(b) for b in lists if b in starts}
        results = [b for b in copied if b in self.live_after]
        scratch = [*(b for b in copied if b not in results), *self.masks]
        kept = self.kept_numbers(local)
        params = [*self.numbers, *tables, *given, *(self.tables[b] for b in lists), *(self.vectors[b] for b in results),
                  *self.number_results.values(), *(module.identifier(b) for b in scratch),
                  *self.kept_positions.values()]  # fmt: skip
        first = [ast.Expr(call(module.helper("_copy"), [name(starts[b]), name(self.python_of(b))])) for b in started]
        of = module.fresh(self.kernel.name)
        host.out.append(function(of, params, [*kept, *first, *self.out]))
        outs = [*lists, *results, *self.number_results]
        made = call(
            module.helper(self.helper_name),
            [
                name(of),
                *(array_of(x) for x in (self.numbers.values(), tables.values(), given.values())),
                array_of(self.described(b) for b in lists),
                array_of(self.described(b) for b in results),
                array_of(self.scalar_type(b) for b in self.number_results),
                array_of(
                    [
                        *(self.described(b, b in self.masks) for b in scratch),
                        *(self.described(b, True) for b in self.kept_positions),
                    ]
                ),
            ],
        )  # fmt: skip
        self.taken(outs, made)

    def python_of(self, buffer: str) -> str:
        return self.vectors[buffer] if buffer in self.vectors else self.tables[buffer]

    def keep_error(self) -> None:
        """Failed guards leave the kernel as numbers."""
        for of in [k for k in self.env if k == "error." or (k.startswith("detail") and k.endswith("."))]:
            if self.env[of].dtype not in spelling.MOSAIC_DTYPES:
                raise Inexpressible(f"{self.env[of].dtype} in a TPU kernel")
            ref = self.module.fresh(f"{of.rstrip('.')}_ref")
            self.number_results[of] = ref
            self.out.append(assign_item(ref, self.env[of].node))

    def scalar_type(self, buffer: str) -> ast.expr:
        dtype = self.program.buffers[buffer].dtype if buffer in self.program.buffers else dtype_of(self, buffer)
        return quote(f"jnp.{'int32' if dtype == 'bool' else self.module.dtype(dtype)}")

    def given(self, buffer: str) -> ast.expr:
        """An array as the kernel takes it: masks as numbers."""
        self.host.ensure(buffer)
        node: ast.expr = name(self.host.array(buffer).name)
        if self.program.buffers[buffer].dtype == "bool":
            node = quote("_0.astype(jnp.float32)", node)
        return node

    def described(self, buffer: str, positions: bool = False) -> ast.expr:
        """(shape, dtype) of an array that the kernel makes."""
        of = self.program.buffers[buffer]
        dtype = "float32" if positions or of.dtype == "bool" else self.module.dtype(of.dtype)
        return sequence([sequence([self.host.size(d) for d in of.dims]), quote(f"jnp.{dtype}")])


def _accesses(kernel: n.Kernel) -> list[n.Store | Load]:
    found: list[n.Store | Load] = [s for s in walk(kernel.body) if isinstance(s, n.Store)]
    return found + [e for e in exprs(kernel.body) if isinstance(e, Load)]


def live_outside(program: n.Program, kernel: n.Kernel) -> set[str]:
    """The buffers that something other than the kernel looks at, which the program may have in another form yet."""
    live = {p.name for p in program.params if isinstance(p, n.ArrayParam)}
    own = {s.buffer for s in walk(kernel.body) if isinstance(s, n.Alloc)}

    def block(statements: tuple[n.Stmt, ...], again: bool = False) -> None:
        for s in statements:
            if isinstance(s, n.Kernel) and s.name == kernel.name:
                if again:  # it goes on with what it left
                    live.update(buffers_used(s) - own)
                continue
            inner = list(bodies(s))
            if inner:
                for body in inner:
                    block(body, again or isinstance(s, (n.Loop, n.While)))
            if not inner or isinstance(s, n.Kernel):
                live.update(buffers_used(s))

    block(program.body)
    return live


def array_of(items: Iterable[ast.expr]) -> ast.expr:
    return ast.List(list(items), ast.Load())


def assign_item(ref: str, node: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Subscript(name(ref), ast.Constant(0), ast.Store())], node, lineno=0)

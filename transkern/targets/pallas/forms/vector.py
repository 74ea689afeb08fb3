"""Loops over axes as array expressions: the one place that knows how index notation becomes jax.numpy.

A parallel loop opens a slot (a dimension of the block), and every value that varies along it is an array there, of size
1 in the slots it does not vary along. Buffers are values too: a store makes a new one, so that the result is a pure
function, which a Pallas kernel applies to blocks and XLA to whole arrays. Subclasses keep buffers in references.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import walk_expr
from transkern.targets.pallas.forms.arithmetic import index_division, may_be_reciprocal, merged, plus_zero, spell
from transkern.targets.pallas.forms.loads import (
    is_doubtful,
    load_aligned,
    load_counted,
    load_gathered,
    load_moved,
    load_slices,
    maybe_empty,
)
from transkern.targets.pallas.forms.pieces import is_literal, is_true, literal
from transkern.targets.pallas.forms.subscripts import Gather, Span_, sort
from transkern.targets.pallas.forms.values import Inexpressible, Module, Value, product_like, scalar_params
from transkern.targets.pallas.passes.exits import is_pythons
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import call, constant, name, quote

_EXTREMES = {"maximum": "_larger", "minimum": "_smaller"}


@dataclass(frozen=True, slots=True)
class AxisInfo:
    slot: int
    extent: Expr
    start: Expr
    step: int


@dataclass(frozen=True, slots=True)
class Array:
    """A buffer as a value: its Python name, and the slots of its dims where it has the block's dimensions already."""

    name: str
    slots: tuple[int, ...] | None = None


class Vector:
    """Expressions, loads and stores over a block of `rank` slots; `slots` says which one an axis takes."""

    mosaic = False

    def __init__(self, module: Module, rank: int, slots: dict[str, int]) -> None:
        self.module, self.rank, self.slots = module, rank, slots
        self.program = module.program
        self.out: list[ast.stmt] = []
        self.env: dict[str, Value] = {}
        self.defined: set[str] = set()  # the buffers that have a value
        self.arrays: dict[str, Array] = {}
        self.views: dict[Load, Value] = {}
        self.axes: dict[str, AxisInfo] = {}
        self.scalars = scalar_params(self.program) - set(module.static)
        self.hoisting = True
        self.mask: Value | None = None  # where in the block what is written now applies; None: everywhere
        self.unsure = 0  # inside a `where`, whose other side may be what is valid
        self.nonempty: set[Expr] = set()  # sizes that are not 0 where the text that is being written runs

    # --- what is known when JAX traces

    def is_static(self, expr: Expr) -> bool:
        """Whether `expr` is a Python number when JAX traces: made of shapes and constants."""
        for e in walk_expr(expr):
            if isinstance(e, (Load, Reduce)):
                return False
            if isinstance(e, Apply) and not is_pythons(e):
                return False  # as `apply` has it
            if (
                isinstance(e, Var)
                and not (e.name in self.env and self.env[e.name].static)
                and not self._is_size(e.name)
                and e.name not in self.module.static
            ):
                return False
        return True

    def _is_size(self, of: str) -> bool:
        return of not in self.env and of not in self.axes and b.is_size_name(of) and not of.endswith(".size")

    def varies(self, expr: Expr) -> bool:
        """Whether `expr` differs within the block."""
        return bool(self.axes_of(expr))

    def axes_of(self, expr: Expr) -> frozenset[int]:
        found: set[int] = set()
        for e in walk_expr(expr):
            if isinstance(e, Var):
                if e.name in self.axes:
                    found.add(self.axes[e.name].slot)
                elif e.name in self.env:
                    found |= self.env[e.name].axes
        return frozenset(found)

    def size(self, expr: Expr) -> ast.expr:
        """A static index expression."""
        value = self.expr(expr)
        if not value.static:
            raise Inexpressible("a size that depends on data")
        return value.node

    # --- expressions

    def expr(self, e: Expr) -> Value:
        match e:
            case Const(value, dtype):
                return Value(literal(value, dtype), dtype, static=True)
            case _ if self.hoisting and self._is_hoistable(e):
                return self.module.hoist(e)
            case Var(of, dtype):
                return self.variable(of, dtype)
            case Load():
                return self.load(e)
            case Apply():
                return self.apply(e)
            case _:
                raise AssertionError(e)

    def _is_hoistable(self, e: Expr) -> bool:
        found = False
        for x in walk_expr(e):
            if isinstance(x, (Load, Reduce)):
                return False
            if isinstance(x, Var):
                if x.name in self.scalars:
                    found = True
                elif not (self._is_size(x.name) or x.name in self.module.static):
                    return False
        return found

    def variable(self, of: str, dtype: str) -> Value:
        if of in self.axes:
            return self.position(self.axes[of])
        if of in self.env:
            return self.env[of]
        if of in self.module.static:
            return Value(name(of), self.module.static[of], static=True)
        if not self._is_size(of):
            raise Inexpressible(f"`{of.split('.')[0]}` as another kernel left it")
        return Value(name(self.module.identifier(of)), "index", static=True)

    def position(self, info: AxisInfo) -> Value:
        shape = [self.size(info.extent) if s == info.slot else ast.Constant(1) for s in range(self.rank)]
        node = quote(
            f"lax.broadcasted_iota(jnp.{self.module.integer}, _0, _1)",
            ast.Tuple(shape, ast.Load()),
            ast.Constant(info.slot),
        )
        if info.step != 1:
            node = quote("_0 * _1", node, constant(info.step))
        if b.constant(info.start) != 0:
            node = quote("_0 + _1", node, self.size(info.start))
        return Value(node, "index", frozenset({info.slot}))

    def chosen(self, mask: ast.expr, new: ast.expr, old: ast.expr, dtype: str) -> ast.expr:
        """``mask ? new : old``; truths by logic in a kernel, since Mosaic has no choice between vectors of them."""
        if dtype != "bool" or not self.mosaic:
            return quote("jnp.where(_0, _1, _2)", mask, new, old)
        if is_true(new):
            return quote("_0 | _1", mask, old)
        typed = (quote("jnp.bool_(_0)", x) if is_literal(x) else x for x in (new, old))
        return quote("_0 & _1 | ~_0 & _2", mask, *typed)

    def apply(self, e: Apply) -> Value:
        if e.op == "cast":
            return self.cast(self.expr(e.args[0]), e.dtype)
        if e.op in ("where", "and_then", "or_else"):
            first = self.expr(e.args[0])
            self.unsure += 1
            args = [first, *(self.expr(a) for a in e.args[1:])]
            self.unsure -= 1
        else:
            args = [self.expr(a) for a in e.args]
        if all(a.static for a in args) and all(a.dtype in ("index", "bool") for a in args):
            table = spelling.STATIC_BOOLEAN if args[0].dtype == "bool" else spelling.STATIC
            return Value(spell(self, table[e.op], args), e.dtype, static=True)
        if all(is_literal(a.node) for a in args):  # JAX's functions are not for Python's numbers
            args = [Value(self.typed(a, a.dtype), a.dtype) for a in args]
        args = [self.as_data(a) for a in args]
        if e.op == "where" and e.dtype not in ("bool", "float64") and all(is_literal(a.node) for a in args[1:]):
            args[1] = Value(self.typed(args[1], e.dtype), e.dtype)  # JAX would take both for its widest type
        floored = e.op == "floor_divide" and e.dtype.startswith("float")
        if self.mosaic and (floored or e.op in spelling.NOT_IN_MOSAIC or e.dtype not in spelling.MOSAIC_DTYPES):
            raise Inexpressible(f"`{e.op}` over {e.dtype}")
        axes = frozenset[int]().union(*(a.axes for a in args))
        if e.dtype.startswith("float"):
            if (summand := plus_zero(self, e, args)) is not None:
                return Value(call(self.module.helper("_unsigned"), [summand.node]), e.dtype, axes)
            summands = e.op in ("add", "subtract")
            args = [
                self.apart(self.rounded(v, x) if summands and product_like(x) else v, merged)
                for v, x, merged in zip(args, e.args, merged(self, e), strict=True)
            ]
        if e.op == "divide" and e.dtype.startswith("float") and may_be_reciprocal(self, e, args):
            return Value(call(self.module.helper("_quotient"), [self.typed(a, e.dtype) for a in args]), e.dtype, axes)
        if e.op in _EXTREMES and e.dtype.startswith("float"):
            return Value(call(self.module.helper(_EXTREMES[e.op]), [a.node for a in args]), e.dtype, axes)
        if self.mosaic and e.op in spelling.IN_MOSAIC:
            return Value(call(self.module.helper(spelling.IN_MOSAIC[e.op]), [args[0].node]), e.dtype, axes)
        kind = args[-1].dtype if e.op == "where" else args[0].dtype
        if e.op in ("floor_divide", "remainder") and e.dtype == "index":
            return Value(index_division(self, e, args), "index", axes)
        if e.op in ("floor_divide", "remainder") and e.dtype.startswith("float"):
            helper = self.module.helper("_floored" if e.op == "floor_divide" else "_modulo")
            return Value(call(helper, [a.node for a in args]), e.dtype, axes)
        if e.op == "where" and kind == "bool":
            return Value(self.chosen(args[0].node, args[1].node, args[2].node, "bool"), "bool", axes)
        template = spelling.table(kind)[e.op]
        if template.startswith(("_reciprocal", "_floor_divided")):
            self.module.helper(template.partition("(")[0])
        if kind == "bool" and "~" in template:  # which makes -2 of Python's True
            args = [Value(self.typed(a, "bool"), "bool", a.axes) if is_literal(a.node) else a for a in args]
        return Value(spell(self, template, args), e.dtype, axes)

    # --- what XLA must not see

    def apart(self, value: Value, merged: bool) -> Value:
        """`value`, of which XLA does not see how it was made, where it would merge it with something."""
        return value if not merged or value.static or is_literal(value.node) else self.kept(value)

    def kept(self, value: Value) -> Value:
        node = call(self.module.helper("_kept"), [self.typed(value, value.dtype)])
        return Value(node, value.dtype, value.axes)

    def bound(self, value: Value, expr: Expr) -> Value:
        """`value`, which gets a name, where XLA would know what stands for that name."""
        constant = value.dtype.startswith("float") and self.module.origins.may_be_constant(expr)
        return self.kept(value) if constant else value

    def rounded(self, value: Value, expr: Expr) -> Value:
        if not product_like(expr) or value.static:
            return value
        return Value(call(self.module.helper("_rounded"), [value.node]), value.dtype, value.axes)

    def cast(self, value: Value, dtype: str) -> Value:
        """`value` as `dtype`, as ndarray.astype does it."""
        old, new = self.module.dtype(value.dtype), self.module.dtype(dtype)
        if old == new and not (value.static and dtype != value.dtype):
            return Value(value.node, dtype, value.axes, value.static)
        if value.static:
            if dtype in ("index", "int64") and value.dtype.startswith(("index", "bool", "int", "uint")):
                plain = dtype == "index" or is_literal(value.node)
                node = value.node if plain else quote(f"np.{new}(_0)", value.node)
                return Value(node, dtype, static=dtype == "index")
            if new.startswith(("int", "uint")) and value.dtype != "bool":  # a NumPy type refuses what it cannot hold
                exact = "int64" if value.dtype.startswith(("index", "int")) else value.dtype
                return Value(quote(f"np.{exact}(_0).astype(np.{new})", value.node), dtype)
            return Value(quote(f"np.{new}(_0)", value.node), dtype)
        if is_literal(value.node):  # JAX's functions are not for Python's numbers
            value = Value(self.typed(value, value.dtype), value.dtype)
        if dtype == "bool":
            return Value(quote("_0 != 0", value.node), dtype, value.axes)
        if value.dtype == "bool" and new.startswith("float"):  # XLA takes a product with a cast for a choice
            one, zero = (f"jnp.{new}({k})" for k in (1, 0))
            return Value(quote(f"jnp.where(_0, {one}, {zero})", value.node), dtype, value.axes)
        made = f"_0.astype(jnp.{new})"
        if new == "float16" and old in ("float64", "complex128"):
            real = value.node if old == "float64" else quote("_0.real", value.node)
            return Value(call(self.module.helper("_half"), [real]), dtype, value.axes)
        if (old, new) == ("float32", "float16"):
            return Value(call(self.module.helper("_rounded"), [quote(made, value.node)]), dtype, value.axes)
        if old.startswith("float") and new in ("uint8", "uint16", "uint32", "uint64", "int8", "int16"):
            wrapped = call(self.module.helper("_wrapped"), [value.node, quote(f"jnp.{new}")])
            return Value(wrapped, dtype, value.axes)
        if old.startswith("float") and dtype in ("int32", "int64"):
            truncated = call(self.module.helper("_truncated"), [value.node, quote(f"jnp.{new}")])
            return Value(truncated, dtype, value.axes)
        return Value(quote(made, value.node), dtype, value.axes)

    def held_as(self, dtype: str) -> str:
        """The type that elements of arrays of a type have here."""
        return self.module.dtype(dtype)

    # --- arrays

    def array(self, buffer: str) -> Array:
        if buffer not in self.arrays:
            self.arrays[buffer] = Array(self.module.identifier(buffer))
        return self.arrays[buffer]

    def ensure(self, buffer: str) -> bool:
        """Give a buffer that has no value yet one; whether it had none."""
        return False

    def load(self, e: Load) -> Value:
        if e in self.views:
            return self.views[e]
        buffer = self.program.buffers[e.buffer]
        array = self.array(e.buffer)
        if not e.index:
            return Value(name(array.name), e.dtype)
        if array.slots is not None:
            return load_aligned(self, e, array)
        dims: tuple[Expr, ...] = buffer.dims
        node: ast.expr = name(array.name)
        if not self.mosaic and (counted := load_counted(self, e, node)) is not None:
            return counted
        if len(e.index) != len(dims):  # a linear index
            node, dims = quote("_0.reshape(-1)", node), (b.product(dims),)
        if (moved := load_moved(self, e, dims)) is not None:
            return moved
        subscripts = sort(self, e.index, dims, not self.mosaic and is_doubtful(self))
        empty = maybe_empty(self, subscripts, dims) if not self.mosaic else []
        if empty:
            node = call(self.module.helper("_nonempty"), [node, *map(ast.Constant, empty)])
        slots = [s.slot for s in subscripts if isinstance(s, Span_)]
        if (
            any(isinstance(s, Gather) for s in subscripts)
            or len(set(slots)) != len(slots)
            or any(isinstance(s, Span_) and s.stride < -1 for s in subscripts)
        ):
            return load_gathered(self, e, node, dims)
        return load_slices(self, e, node, subscripts, dims)

    # --- shapes

    def typed(self, value: Value, dtype: str) -> ast.expr:
        """The node as a JAX value of `dtype`, also where it is a Python number."""
        if value.static or is_literal(value.node):
            return quote(f"jnp.{self.module.dtype(dtype)}(_0)", value.node)
        return value.node

    def as_data(self, value: Value) -> Value:
        """`value`, where it is an argument that JAX knows when it traces, with the arithmetic of its own type."""
        if not value.static or value.dtype in ("index", "bool") or is_literal(value.node):
            return value
        return Value(self.typed(value, value.dtype), value.dtype)

    def filled(self, value: Value, dtype: str, dims: tuple[Expr, ...], slots: list[int]) -> ast.expr:
        """`value` over all of the dims."""
        if value.axes == set(slots):
            return value.node
        shape = ast.Tuple([self.size(b.maximum(d, b.ZERO)) for d in dims], ast.Load())  # range(-1) is empty
        if not value.axes:
            return quote(f"jnp.full(_0, _1, jnp.{self.module.dtype(dtype)})", shape, value.node)
        return quote("jnp.broadcast_to(_0, _1)", value.node, shape)

    def spread(self, value: Value, slots: Iterable[int]) -> ast.expr:
        """`value` as an array that has the full extent of the open axes in `slots`."""
        missing = [s for s in slots if s not in value.axes]
        node = self.typed(value, value.dtype)
        if not missing:
            return node
        extents = {info.slot: info.extent for info in self.axes.values()}
        shape = [
            self.slot_size(s, extents) if s in set(slots) | value.axes else ast.Constant(1) for s in range(self.rank)
        ]
        return quote("jnp.broadcast_to(_0, _1)", node, ast.Tuple(shape, ast.Load()))

    def slot_size(self, slot: int, extents: dict[int, Expr]) -> ast.expr:
        return self.size(extents[slot])

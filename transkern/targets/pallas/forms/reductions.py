"""Reductions over the slots that are open at an `Accumulate` and were not at its `Accumulator`."""

from __future__ import annotations

import ast
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.targets.pallas.forms.pieces import literal
from transkern.targets.pallas.forms.stores import Stores
from transkern.targets.pallas.forms.values import Inexpressible, Module, Value, product_like
from transkern.targets.pallas.printing import spelling
from transkern.targets.pallas.printing.quote import assign, call, name, quote


class Reductions(Stores):
    """A `Vector` that reduces; `mask` says where in the block statements take effect."""

    def __init__(self, module: Module, rank: int, slots: dict[str, int]) -> None:
        super().__init__(module, rank, slots)
        self.declared: dict[str, tuple[n.Accumulator, frozenset[int]]] = {}
        self.fresh_accumulators: set[str] = set()
        self.extremes: dict[str, Value | None] = {}  # of places that parts find: what is there decides between them

    def neutral(self, op: str, dtype: str) -> ast.expr:
        """What `op` leaves unchanged, as a literal."""
        of = self.module.integer if dtype in ("index", "int64") else dtype
        return literal(spelling.identity(op, of), of)

    def accumulate(self, s: n.Accumulate) -> None:
        declaration, kept = self.declared[s.name]
        closed = sorted(self.open_slots() - kept)
        value = self.expr(s.value)
        if product_like(s.value):
            value = self.rounded(value, s.value)
        mask = self.mask
        if s.op in ("argmax", "argmin"):
            new = self.arg_reduction(s, value, closed, mask)
        elif s.op in ("first", "last", "count"):
            new = self.positions(s, value, closed, mask)
        else:
            new = self.bound(self.reduction(s, declaration, value, closed, mask), s.value)
        target = self.module.identifier(s.name)
        old = self.env[s.name]
        if s.name in self.fresh_accumulators:
            self.fresh_accumulators.discard(s.name)
            node, axes = new.node, new.axes
        elif s.op in ("argmax", "argmin"):
            raise Inexpressible(f"an {s.op} in several parts")
        else:
            template = "_0 | _1" if s.op == "sum" and declaration.dtype == "bool" else spelling.COMBINE[s.op]
            node, axes = quote(template, old.node, new.node), new.axes | old.axes
        self.out.append(assign(target, node))
        self.env[s.name] = Value(name(target), declaration.dtype, axes)

    def axis_arguments(self, closed: list[int]) -> str:
        if set(closed) == self.open_slots():
            return ""
        axis = closed[0] if len(closed) == 1 else tuple(closed)
        return f", axis={axis}, keepdims=True"

    def reduction(
        self, s: n.Accumulate, declaration: n.Accumulator, value: Value, closed: list[int], mask: Value | None
    ) -> Value:  # fmt: skip
        dtype = declaration.dtype
        if not closed:
            node = self.typed(value, value.dtype)
            if mask is not None:
                node = quote("jnp.where(_0, _1, _2)", mask.node, node, self.neutral(s.op, dtype))
            if s.op == "sum" and dtype.startswith("float") and s.name in self.fresh_accumulators:
                node = call(self.module.helper("_unsigned"), [node])
            return Value(node, dtype, value.axes | (mask.axes if mask else frozenset()))
        if self.mosaic and s.op == "prod":
            raise Inexpressible("a product over an axis")
        node = self.masked(value, closed, mask, self.neutral(s.op, dtype))
        extra = self.axis_arguments(closed)
        if s.op in ("sum", "prod") and dtype != "bool" and not dtype.startswith("float"):
            extra += f", dtype=jnp.{self.module.dtype(dtype)}"
        op = "any" if s.op == "sum" and dtype == "bool" else s.op
        initial = ""
        if op in ("max", "min") and self.may_be_nothing(closed):  # JAX does not trace that
            neutral = quote(f"jnp.{self.module.dtype(dtype)}(_0)", self.neutral(op, dtype))
            initial = f", initial={ast.unparse(neutral)}"
        axes = value.axes | (mask.axes if mask else frozenset())
        template = spelling.REDUCE[op]
        if op in ("max", "min") and dtype.startswith("float"):
            self.module.helpers.add(f"_{op}")
            template = template.replace("jnp.", "_")
        template = template.format(axis=extra + initial)
        made = quote(template, node)
        if s.op == "sum" and dtype.startswith("float"):  # which begins with 0.0; of one element XLA makes that element
            made = call(self.module.helper("_unsigned"), [made])
        return self.of_reduction(made, dtype, axes, closed)

    def of_reduction(self, node: ast.expr, dtype: str, axes: frozenset[int], closed: list[int]) -> Value:
        """The value of a reduction over `closed`; one that varies along no other slot is a scalar."""
        left = frozenset(axes - set(closed))
        if not left and set(closed) != self.open_slots():
            node = quote(f"_0[{', '.join('0' * self.rank)}]", node)
        return Value(node, dtype, left)

    def may_be_nothing(self, closed: list[int]) -> bool:
        """Whether there may be no element along some of the slots (`_grid` then gives the kernel's body to XLA)."""
        extents = [info.extent for info in self.axes.values() if info.slot in closed]
        return not all(b.at_least(e, b.ONE) or e in self.nonempty for e in extents)

    def masked(self, value: Value, closed: list[int], mask: Value | None, neutral: ast.expr) -> ast.expr:
        """`value` over the slots to be reduced, and what changes nothing where the mask does not hold."""
        if mask is None:
            return self.spread(value, closed)
        chosen = Value(
            quote("jnp.where(_0, _1, _2)", mask.node, self.typed(value, value.dtype), neutral),
            value.dtype,
            value.axes | mask.axes,
        )
        return self.spread(chosen, closed)

    def positions(self, s: n.Accumulate, value: Value, closed: list[int], mask: Value | None) -> Value:
        """Positions where something holds: the first, the last, or how many."""
        if mask is not None:
            value = Value(quote("_0 & _1", self.typed(value, "bool"), mask.node), "bool", value.axes | mask.axes)
        if not closed:
            if s.op == "count":
                node = quote(f"_0.astype(jnp.{self.module.integer})", self.typed(value, "bool"))
                return Value(node, "index", value.axes)
            assert s.position is not None
            at = self.expr(s.position)
            return Value(quote("jnp.where(_0, _1, -1)", value.node, at.node), "index", value.axes | at.axes)
        holds = self.spread(value, closed)
        extra = self.axis_arguments(closed)
        if s.op == "count":
            total = quote(f"jnp.sum(_0{extra}, dtype=jnp.{self.module.integer})", holds)
            return self.of_reduction(total, "index", value.axes, closed)
        assert s.position is not None
        position = self.expr(s.position)
        target = name(self.module.fresh("found"))
        if s.op == "last":
            initial = ", initial=-1" if not self.mosaic or self.may_be_nothing(closed) else ""
            last = quote(f"jnp.max(jnp.where(_0, _1, -1){extra}{initial})", holds, position.node)
            return self.of_reduction(last, "index", value.axes, closed)
        initial = ", initial=0x7fffffff" if not self.mosaic or self.may_be_nothing(closed) else ""
        self.out.append(
            assign(target.id, quote(f"jnp.min(jnp.where(_0, _1, 0x7fffffff){extra}{initial})", holds, position.node))
        )
        return self.of_reduction(quote("jnp.where(_0 == 0x7fffffff, -1, _0)", target), "index", value.axes, closed)

    def arg_reduction(self, s: n.Accumulate, value: Value, closed: list[int], mask: Value | None) -> Value:
        """NumPy and JAX agree: the first of equals, and NaN before all else."""
        assert s.position is not None
        if not closed and mask is None:  # one element
            at = self.expr(s.position)
            return Value(self.typed(at, "index"), "index", at.axes | value.axes)
        info = self.axes.get(s.position.name) if isinstance(s.position, Var) else None
        by_parts = mask is not None or s.name in self.extremes
        by_parts |= self.mosaic and value.dtype not in ("bool", "float32")  # Mosaic looks for no other numbers
        if by_parts or info is None or closed != [info.slot] or b.constant(info.start) != 0 or info.step != 1:
            return self.arg_of_part(s, value, closed, mask)
        node = self.spread(value, closed)
        if value.dtype == "bool":
            node = quote("_0.astype(jnp.float32)" if self.mosaic else "_0.astype(jnp.int32)", node)
        if self.may_be_nothing(closed):  # JAX does not trace that, though no row may ask for it
            node = call(self.module.helper("_nonempty"), [node, ast.Constant(closed[0])])
        found = quote(f"jnp.{s.op}(_0, axis={closed[0]}, keepdims=True).astype(jnp.{self.module.integer})", node)
        left = frozenset(value.axes - set(closed))
        if not left:
            found = quote(f"_0[{', '.join('0' * self.rank)}]", found)
        return Value(found, "index", left)

    def arg_of_part(self, s: n.Accumulate, value: Value, closed: list[int], mask: Value | None) -> Value:
        """The first place of the extreme where the mask holds: that is found first."""
        if not closed:
            raise Inexpressible(f"an {s.op} in several parts")
        assert s.position is not None
        op, dtype = s.op.removeprefix("arg"), value.dtype
        if dtype == "bool":
            value, dtype = self.cast(value, "int32"), "int32"
        node, extra = self.masked(value, closed, mask, self.neutral(op, dtype)), self.axis_arguments(closed)
        here, initial = self.module.fresh("here"), ""
        self.out.append(assign(here, node))
        if self.may_be_nothing(closed):
            neutral = quote(f"jnp.{self.module.dtype(dtype)}(_0)", self.neutral(op, dtype))
            initial = f", initial={ast.unparse(neutral)}"
        if dtype.startswith("float"):
            self.module.helpers.add(f"_{op}")
        library = "_" if dtype.startswith("float") else "jnp."
        extreme = self.module.fresh(f"{op}_here")
        self.out.append(assign(extreme, quote(f"{library}{op}(_0{extra}{initial})", name(here))))
        if s.name in self.extremes:
            self.extremes[s.name] = Value(name(extreme), dtype)
        holds = quote("(_0 == _1) | (_0 != _0)" if dtype.startswith("float") else "_0 == _1", name(here), name(extreme))
        axes = value.axes | (mask.axes if mask else frozenset()) | set(closed)
        return self.positions(replace(s, op="first"), Value(holds, "bool", axes), closed, mask)

"""What a run-time loop carries: the names its body assigns become slots, whose types are widened until they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transkern.frontend.context import Context
from transkern.frontend.elementwise import describe, is_number, is_python_number, scalar_expr, static_expr
from transkern.frontend.trips import bound_of
from transkern.frontend.types_of_scalars import join_dtypes
from transkern.frontend.values import Array, Function, Known, Scalar, Seq, Static, Unbound, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    from transkern.frontend.translate import Translator


class LoopState:
    """The names that one run-time loop carries, and the types they have settled to.

    `assigned` are those of the names that the body binds (`all_assigned`) whose values the next iteration may read;
    `later` are the names that somebody may read after the loop.
    """

    def __init__(
        self, owner: Translator, assigned: set[str], before: dict[str, Value], later: frozenset[str],
        all_assigned: set[str], stored: set[str],
    ) -> None:  # fmt: skip
        self.stored = stored
        self.assigned, self.before, self.later = assigned, before, later
        self.all_assigned = all_assigned
        self.slots: dict[str, Value] = {}
        self.kinds: dict[str, Any] = {}
        self.widened = False
        self.shrinking = ""  # the count whose decrease bounds the trips of a `while`
        for name in sorted(assigned):
            value = before.get(name)
            if value is not None and not isinstance(value, (Unbound, Function, Known)):
                self.kinds[name] = kind_of(owner.ctx, value)

    def enter(self, owner: Translator) -> None:
        """Make the slots and set them to the values before the loop."""
        self.slots = {}
        for name, kind in self.kinds.items():
            self.slots[name] = self._slot(owner, name, kind, self.before.get(name))
        owner.env.update(self.slots)

    def _slot(self, owner: Translator, name: str, kind: Any, initial: Value | None) -> Value:
        ctx = owner.ctx
        match kind:
            case ("scalar", dtype, python, low_high):
                variable = ctx.variable(name, dtype)
                if low_high is not None:
                    ctx.ranges[variable.name] = low_high
                value = Const(0, dtype) if initial is None else b.cast(scalar_expr(ctx, initial), dtype)
                ctx.emit(n.Assign(variable.name, value))
                return Scalar(variable, python)
            case ("array", dtype, dims, facts):
                buffer = ctx.buffer(name, dtype, dims, **facts)
                if initial is not None:
                    assert isinstance(initial, Array)
                    ctx.emit(n.Define(buffer.name, initial.axes, b.cast(initial.body, dtype)))
                else:
                    ctx.emit(n.Alloc(buffer.name))
                return ctx.whole(buffer)
            case ("dynamic", dtype, bound, rest, facts):
                buffer = ctx.buffer(name, dtype, (bound, *rest), **facts)
                count = ctx.count(buffer.name, bound)
                ctx.emit(n.Alloc(buffer.name))
                if initial is not None:
                    assert isinstance(initial, Array)
                    owner.fill(buffer, count, initial)
                else:
                    ctx.emit(n.Assign(count.name, b.ZERO))
                return ctx.whole(buffer, (count, *rest))
            case ("seq", kinds, seq_kind):
                items = [None] * len(kinds) if not isinstance(initial, Seq) else list(initial.items)
                return Seq(tuple(self._slot(owner, name, k, i) for k, i in zip(kinds, items, strict=True)), seq_kind)
            case ("same", value):
                return value  # type: ignore[no-any-return]
        raise AssertionError(kind)

    def back(self, owner: Translator) -> None:
        """The end of an iteration: the names' values go into their slots."""
        self._sync(owner)

    def leave(self, owner: Translator, is_break: bool) -> None:
        self._sync(owner, leaving=is_break)
        owner.ctx.emit(n.Break() if is_break else n.Continue())

    def _sync(self, owner: Translator, leaving: bool = False) -> None:
        ctx = owner.ctx
        pending: list[tuple[Value, Value]] = []
        for name in sorted(self.all_assigned):
            value = owner.env.get(name)
            if value is None or isinstance(value, (Unbound, Function, Known)):
                continue
            if name in self.kinds and name not in self.slots:
                continue  # found at another end of this iteration: the loop is translated again
            if name not in self.kinds:
                if name in self.later:
                    self.kinds[name] = kind_of(ctx, value)
                    self.widened = True
                continue
            wanted = join_kinds(ctx, name, self.kinds[name], kind_of(ctx, value), value, self.slots[name])
            if wanted != self.kinds[name]:
                self.kinds[name] = wanted
                self.widened = True
                continue
            if value != self.slots[name]:
                self._check_alias(owner, name, value)
                pending += _pairs(self.slots[name], value)
        if self.widened:
            return
        if self.shrinking and not leaving and not self._shrinks(pending):
            ctx.deferred = ctx.deferred or ctx.error(
                "a list whose length cannot be bounded: it is not clear that every iteration shortens the array that "
                "the loop's condition looks at",
                "limit the loop (`while len(keep) < n and …`), or drop the element taken with a slice",
            )  # fmt: skip
        self._assign_all(owner, pending)

    def _check_alias(self, owner: Translator, name: str, value: Value) -> None:
        """Two names for one array at the end of an iteration, one of them stored into: copies would not do."""
        if not isinstance(value, Array) or not value.view:
            return
        same = [
            k for k, v in owner.env.items() if k != name and isinstance(v, Array) and v.view and v.base == value.base
        ]
        stored = self.stored & {name, *same}
        if same and stored:
            owner.ctx.fail(
                f"`{name}` and `{same[0]}` are one array at the end of an iteration, and the loop stores into "
                f"`{sorted(stored)[0]}`", f"write {name} = {same[0]}.copy(), or {name}[:] = {same[0]}",
            )  # fmt: skip

    def _shrinks(self, pending: list[tuple[Value, Value]]) -> bool:
        """Whether the array that bounds the trips is shorter at the end of the iteration."""
        for slot, value in pending:
            if (
                isinstance(slot, Array)
                and slot.dims
                and slot.dims[0] == Var(self.shrinking)
                and isinstance(value, Array)
            ):
                dim = value.dims[0]
                match dim:
                    case Apply("maximum", (inner, Const(0)), "index"):
                        dim = inner
                    case _:
                        pass
                gap = b.difference(dim, Var(self.shrinking))
                return gap is not None and gap < 0
        return False

    def _assign_all(self, owner: Translator, pending: list[tuple[Value, Value]]) -> None:
        """The slots take their values at once: what reads a slot that changes is evaluated first."""
        ctx = owner.ctx
        changing = {s.expr.name for s, _ in pending if isinstance(s, Scalar) and isinstance(s.expr, Var)}
        moving = {s.base for s, _ in pending if isinstance(s, Array)}
        changing |= {v for s, _ in pending if isinstance(s, Array) for d in s.dims for v in variables_read(d)}
        settled: list[tuple[Value, Value]] = []
        for slot, value in pending:
            if isinstance(slot, Scalar):
                expr = b.cast(scalar_expr(ctx, value), slot.dtype)
                others = changing - {slot.expr.name}  # type: ignore[union-attr]
                if len(pending) > 1 and (variables_read(expr) & others or buffers_read(expr) & moving):
                    expr = ctx.let(expr, "next")
                    if isinstance(expr, Var) and expr.name in changing:
                        held = ctx.fresh("next")
                        ctx.emit(n.Let(held, expr))
                        expr = Var(held, slot.dtype)
                settled.append((slot, Scalar(expr, slot.python)))
            elif isinstance(slot, Array) and isinstance(value, Array):
                reads = buffers_read(value.body) | (set() if value.mask is None else buffers_read(value.mask))
                if len(pending) > 1 and reads & (moving - {slot.base}):
                    value = ctx.define(value, f"next_{slot.base}")
                settled.append((slot, value))
            else:
                settled.append((slot, value))
        for slot, value in settled:
            if isinstance(slot, Scalar):
                assert isinstance(slot.expr, Var) and isinstance(value, Scalar)
                ctx.emit(n.Assign(slot.expr.name, value.expr))
            elif isinstance(slot, Array):
                assert isinstance(value, Array)
                size = slot.dims[0] if slot.dims else None
                if isinstance(size, Var) and size.name == f"{slot.base}.size":
                    owner.fill(ctx.buffers[slot.base], size, value)
                else:
                    ctx.emit(n.Write(slot.base, value.axes, tuple(a.var for a in value.axes), value.body))

    def after(self, owner: Translator) -> dict[str, Value]:
        env = dict(self.before)
        env.update(self.slots)
        for name in self.all_assigned - self.slots.keys():
            if not isinstance(self.before.get(name), (Function, Known)):
                env[name] = Unbound(f"`{name}` is only set inside the loop")
        # what the body did to lists and in place is in their own memory
        return env


def _pairs(slot: Value, value: Value) -> list[tuple[Value, Value]]:
    if isinstance(slot, Seq) and isinstance(value, Seq):
        return [p for s, v in zip(slot.items, value.items, strict=True) if s != v for p in _pairs(s, v)]
    return [(slot, value)]


def kind_of(ctx: Context, value: Value) -> Any:
    """The type of a carried value: what a slot for it must be."""
    match value:
        case Static() if is_number(value):
            expr = static_expr(value.value)
            return ("scalar", expr.dtype, is_python_number(value), ctx.range_of(expr))
        case Scalar(expr, python):
            return ("scalar", expr.dtype, python, ctx.range_of(expr))
        case Array(axes=()) if value.mask is None:
            return ("scalar", value.dtype, False, None)
        case Array():
            low_high = ctx.range_of(value.body)
            facts = {} if low_high is None else {"low": low_high[0], "high": low_high[1]}
            if value.mask is None:
                return ("array", value.dtype, value.dims, facts)
            return ("dynamic", value.dtype, bound_of(ctx, value.dims[0]), value.dims[1:], facts)
        case Seq(items, kind):
            return ("seq", tuple(kind_of(ctx, i) for i in items), kind)
        case _:
            return ("same", value)


def join_kinds(ctx: Context, name: str, old: Any, new: Any, value: Value, slot: Value) -> Any:
    if old == new:
        return old
    match old, new:
        case ("scalar", d1, p1, r1), ("scalar", d2, p2, r2):
            joined = join_dtypes(d1, p1, d2, p2)
            if joined is None:
                ctx.fail(
                    f"`{name}` changes its type in the loop, from {d1} to {d2}", "give it one type before the loop"
                )
            return ("scalar", *joined, r1 if r1 == r2 else None)
        case ("array", d1, s1, f1), ("array", d2, s2, f2) if d1 == d2 and len(s1) == len(s2):
            facts = f1 if f1 == f2 else {}
            if s1 == s2:
                return ("array", d1, s1, facts)
            if s1[1:] == s2[1:]:
                return _dynamic(ctx, name, d1, s1[0], s2[0], s1[1:], facts, slot)
        case ("array", d1, s1, f1), ("dynamic", d2, bound, rest, f2) if d1 == d2 and s1[1:] == rest:
            return _dynamic(ctx, name, d1, s1[0], bound, rest, f1 if f1 == f2 else {}, slot)
        case ("dynamic", d1, bound, rest, f1), ("array", d2, s2, f2) if d1 == d2 and s2[1:] == rest:
            inner = bound_of(ctx, s2[0])
            if inner is not None and b.at_least(bound, inner):
                return ("dynamic", d1, bound, rest, f1 if f1 == f2 else {})
        case ("dynamic", d1, bound, rest, f1), ("dynamic", d2, inner, rest2, f2) if d1 == d2 and rest == rest2:
            if inner is not None and b.at_least(bound, inner):
                return ("dynamic", d1, bound, rest, f1 if f1 == f2 else {})
        case ("seq", k1, kind), ("seq", k2, _) if len(k1) == len(k2) and isinstance(slot, Seq):
            return ("seq", tuple(
                join_kinds(ctx, name, x, y, value, s) for x, y, s in zip(k1, k2, slot.items, strict=True)
            ), kind)  # fmt: skip
        case _:
            pass
    ctx.fail(
        f"`{name}` changes its type or shape in the loop: {describe(slot)} before, {describe(value)} after",
        "give it one dtype and shape before the loop, or a shape that only shrinks",
    )


def _dynamic(
    ctx: Context,
    name: str,
    dtype: str,
    before: Expr,
    after: Expr,
    rest: tuple[Expr, ...],
    facts: dict[str, Any],
    slot: Value,
) -> Any:
    bound = bound_of(ctx, before)
    inner = bound_of(ctx, after)
    if bound is None or inner is None or not b.at_least(bound, inner):
        ctx.fail(f"`{name}` may grow in the loop", "allocate it at its final size before the loop, or append to a list")
    return ("dynamic", dtype, bound, rest, facts)

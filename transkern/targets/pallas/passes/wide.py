"""Short integers of loops in order are held in 32 bits:

    gone: uint8[n]                               gone_held: int32[n]
    for k in range(n):                           for k in range(n):
        if gone[k]: continue             to          if gone_held[k] != 0: continue
        picked[count] = i                            picked_held[count] = i << 16 >> 16
    return picked                                picked[p] = picked_held[p]  for all p

A TPU's registers hold 32 bits, and its compiler has few operations on less. An array that is neither an argument nor a
library's is held in int32 where all that is asked of its elements is what they are: converted, compared, chosen,
computed with, stored. What is stored is cut off as its type does; an array that is a result gets it at the end. Where
one of its elements is kept by a filter, it stays.

A kernel of parallel loops (`in_words`) has the short integers of its block in 32 bits from the load to the store:

    out[i] = x[i] * 3 + y[i]     to     out[i] = (cast(x[i], int32) * 3 & 255) + cast(y[i], int32) & 255
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    is_in_order,
    map_block,
    own_exprs,
    result_buffers,
    walk,
    with_bodies,
)
from transkern.records import replace

SHORT = {"int8": 8, "int16": 16, "uint8": 8, "uint16": 16}
"""The types of short integers, and their bits."""
_WRAPPING = (
    "add", "subtract", "multiply", "negative", "absolute", "square", "invert", "floor_divide", "remainder",
    "left_shift", "right_shift",
)  # fmt: skip
"""What has the same last bits in more of them, cut off as the type does."""
_CHOOSING = ("maximum", "minimum", "where", "bitwise_and", "bitwise_or", "bitwise_xor", "positive")
"""What makes no number that the type does not have."""
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def hold_wide(program: n.Program) -> n.Program:
    """The program with the short integers of its loops in order in 32 bits."""
    loops = [s for s in program.body if any(map(is_in_order, walk((s,))))]
    here = {name for s in loops for name in buffers_written(s)}
    for name in sorted(here):
        buffer = program.buffers[name]
        if buffer.dtype in SHORT and buffer.role in ("temporary", "result"):
            program = _Holding(program, name).made() or program
    return program


class _Elements(Exception):
    """More is asked of an element than what it is."""


class _Holding:
    def __init__(self, program: n.Program, name: str) -> None:
        self.program, self.name = program, name
        self.names = Names.of(program)
        self.held = self.names.fresh(f"{name}_held")
        self.dtype = program.buffers[name].dtype

    def made(self) -> n.Program | None:
        """The program with the array held; None where that cannot be."""
        returns = [s for s in self.program.body if isinstance(s, n.Return)]
        if len(returns) != sum(isinstance(s, n.Return) for s in walk(self.program.body)):
            return None
        try:
            body = self.block(self.program.body)
        except _Elements:
            return None
        old = self.program.buffers[self.name]
        buffers = {**self.program.buffers, self.held: replace(old, name=self.held, dtype="int32", role="temporary")}
        if not any(self.name in result_buffers(s.result) for s in returns):
            del buffers[self.name]
        return replace(self.program, body=body, buffers=buffers)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.Alloc(buffer) if buffer == self.name:
                return [replace(s, buffer=self.held)]
            case n.Store(buffer, index, value) if buffer == self.name:
                index = tuple(b.map_expr(i, self.change) for i in index)
                return [replace(s, buffer=self.held, index=index, value=self.whole(value))]
            case n.Return(result) if self.name in result_buffers(result):
                return [n.Alloc(self.name, span=s.span), self.copied(s), s]
            case n.Library() | n.Scanning() if self.name in buffers_used(s) | buffers_written(s):
                raise _Elements
            case n.Compact(outputs=outputs) if self.name in outputs:
                raise _Elements
            case _:
                (made,) = map_block((with_bodies(s, lambda body: ()),), self.change)
                if any(self.name in buffers_read(e) for e in own_exprs(made)):
                    raise _Elements
                bodies = iter([self.block(body) for body in _bodies(s)])
                return [with_bodies(made, lambda body: next(bodies))]

    def copied(self, s: n.Return) -> n.Stmt:
        """The array as it is handed back."""
        dims = self.program.buffers[self.name].dims
        axes = [self.names.fresh("p") for _ in dims]
        at = tuple(Var(a, "index") for a in axes)
        made: n.Stmt = n.Store(self.name, at, b.cast(Load(self.held, at, "int32"), self.dtype), span=s.span)
        for axis, dim in reversed(list(zip(axes, dims, strict=True))):
            made = n.Loop(axis, b.ZERO, dim, b.ONE, "parallel", (made,), span=s.span)
        return made

    # --- elements

    def change(self, e: Expr) -> Expr | None:
        """What asks an element what it is, of the one that is held."""
        if self.name not in buffers_read(e):
            return None
        match e:
            case Apply("cast", (x,), dtype) if x.dtype == self.dtype:
                return b.cast(self.whole(x), dtype)
            case Apply(op, (x, y), dtype) if op in _COMPARISONS and x.dtype == y.dtype == self.dtype:
                return Apply(op, (self.whole(x), self.whole(y)), dtype)
            case _:
                return None

    def whole(self, e: Expr) -> Expr:
        """A short integer in 32 bits."""
        match e:
            case Const(int() as value):
                return Const(int(value), "int32")
            case Load(buffer, index) if buffer == self.name:
                return Load(self.held, tuple(b.map_expr(i, self.change) for i in index), "int32")
            case Apply("where", (condition, x, y)):
                return b.where(b.map_expr(condition, self.change), self.whole(x), self.whole(y))
            case Apply("cast", (x,), dtype) if dtype == self.dtype and x.dtype == "bool":
                return b.cast(b.map_expr(x, self.change), "int32")
            case Apply("cast", (x,), dtype) if dtype == self.dtype and x.dtype in ("index", "int32", "int64"):
                return self.cut(b.cast(b.map_expr(x, self.change), "int32"))
            case Apply(op, args, dtype) if op in (*_WRAPPING, *_CHOOSING) and dtype == self.dtype:
                if any(a.dtype != dtype for a in args):
                    raise _Elements
                made = Apply(op, tuple(map(self.whole, args)), "int32")
                return self.cut(made) if op in _WRAPPING else made
            case _:
                raise _Elements

    def cut(self, e: Expr) -> Expr:
        """Of 32 bits those of the type, and its sign."""
        return _cut(e, self.dtype)


def _cut(e: Expr, dtype: str) -> Expr:
    """A number of 32 bits as a short type has it."""
    bits = SHORT[dtype]
    if dtype.startswith("uint"):
        return Apply("bitwise_and", (e, Const((1 << bits) - 1, "int32")), "int32")
    by = Const(32 - bits, "int32")
    return Apply("right_shift", (Apply("left_shift", (e, by), "int32"), by), "int32")


def in_words(kernel: n.Kernel) -> n.Kernel | None:
    """A kernel of parallel loops whose short integers have 32 bits; None where one is computed with in another way.
    Its loads and stores stay what they are."""
    own = {s.name for s in walk(kernel.body) if isinstance(s, (n.Let, n.Assign, n.Accumulator))}
    for s in walk(kernel.body):
        if isinstance(s, n.Accumulator) and s.dtype in SHORT and s.op not in ("max", "min"):
            return None

    def whole(e: Expr) -> Expr:
        match e:
            case Const(value):
                return Const(value, "int32")
            case Var(name) if name in own:
                return Var(name, "int32")
            case Load(buffer, index, dtype):
                return Apply("cast", (Load(buffer, tuple(b.map_expr(i, change) for i in index), dtype),), "int32")
            case Apply("cast", (x,), dtype):
                inner = whole(x) if x.dtype in SHORT else b.cast(b.map_expr(x, change), "int32")
                return inner if x.dtype in (dtype, "bool") else _cut(inner, dtype)
            case Apply(op, args, dtype) if op in (*_WRAPPING, *_CHOOSING):
                made = Apply(op, tuple(whole(a) if a.dtype in SHORT else b.map_expr(a, change) for a in args), "int32")
                return _cut(made, dtype) if op in _WRAPPING else made
            case _:
                raise _Elements

    def change(e: Expr) -> Expr | None:
        if e.dtype in SHORT:
            return whole(e)
        match e:
            case Apply("cast", (x,), dtype) if x.dtype in SHORT:
                return b.cast(whole(x), dtype)
            case Apply(op, args, "bool") if op in _COMPARISONS and args[0].dtype in SHORT:
                return Apply(op, tuple(map(whole, args)), "bool")
            case Apply(op, args, _) if any(a.dtype in SHORT for a in args):
                raise _Elements
            case _:
                return None

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(with_bodies(declared(s), block) for s in statements)

    def declared(s: n.Stmt) -> n.Stmt:
        return replace(s, dtype="int32") if isinstance(s, n.Accumulator) and s.dtype in SHORT else s

    try:
        return replace(kernel, body=block(map_block(kernel.body, change)))
    except _Elements:
        return None


def _bodies(s: n.Stmt) -> list[tuple[n.Stmt, ...]]:
    """The blocks of a statement, as `with_bodies` goes through them."""
    found: list[tuple[n.Stmt, ...]] = []

    def note(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        found.append(body)
        return body

    with_bodies(s, note)
    return found

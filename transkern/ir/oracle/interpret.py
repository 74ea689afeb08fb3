"""Runs a program of the IR in NumPy, node by node, at any stage of the pipeline: the oracle of the passes.

    program = pipeline.run(specialise(function, types), passes[:k])
    interpret(program, arguments)

Numbers are NumPy scalars of their dtypes, positions Python's integers. What a correct program never does is an
`Invalid`: an access outside of a buffer, a name without a value, a value of another dtype than its node says. Memory
that nothing has written holds NaN or bytes 0xCD, and parallel loops run their iterations in the order `shuffle` gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from transkern.ir import nodes as n
from transkern.ir.containers import container_text, error_text, print_text, with_changes
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.library import spell
from transkern.ir.ops import OPS
from transkern.ir.oracle import memory
from transkern.ir.oracle.numbers import (
    ON_INDICES,
    Invalid,
    begin,
    cast,
    checked,
    combined,
    continued,
    finished,
    is_better,
    plain,
    shown,
    typed,
)
from transkern.ir.traverse import walk

_ITERATIONS = 10_000_000


class WrongCode(Exception):
    """The program is for other arguments: one of its assumptions does not hold, or a layout is not its own."""


def interpret(program: n.Program, args: Sequence[Any], shuffle: Callable[[list[int]], None] | None = None) -> Any:
    """The result of a program for arguments as `Compiled` passes them; writes into them as the program does.

    `shuffle` puts the iterations of a parallel loop into the order in which they run (reversed, say).

    Raises:
        Invalid: the program is not correct.
        WrongCode: the program is not for these arguments.
        Exception: what the function raises.
    """
    with np.errstate(all="ignore"):
        return _Machine(program, shuffle).run([*args, *program.captured])


class _Machine:
    def __init__(self, program: n.Program, shuffle: Callable[[list[int]], None] | None) -> None:
        self.program, self.shuffle = program, shuffle
        self.values: dict[str, Any] = {n.ROOM: n.RESERVED}
        self.memory: dict[str, np.ndarray[Any, Any]] = {}
        self.arguments: dict[str, Any] = {}
        self.best: dict[str, Any] = {}  # what the position of an arg-reduction holds
        self.compiled: dict[Expr, Callable[[], Any]] = {}
        self.left = _ITERATIONS
        self.dtypes = {s.name: s.dtype for s in walk(program.body) if isinstance(s, n.Accumulator)}

    # --- the call

    def run(self, args: Sequence[Any]) -> Any:
        p = self.program
        if len(args) != len(p.params):
            raise WrongCode("another number of arguments")
        groups: dict[str, list[n.ArrayParam]] = {}
        for param, arg in zip(p.params, args, strict=True):
            self.arguments[param.name] = arg
            match param:
                case n.ArrayParam():
                    self._array(param, arg)
                    if param.base:
                        groups.setdefault(param.base, []).append(param)
                case n.ScalarParam(name, dtype):
                    self.values[name] = typed(arg, dtype)
                case _:
                    pass
        for base, members in groups.items():
            self.memory[base], offsets = memory.around([self.arguments[x.name] for x in members])
            self.values.update({f"{x.name}_offset": at for x, at in zip(members, offsets, strict=True)})
        for condition in p.assumptions:
            if not self.value(condition):
                raise WrongCode("sizes")
        left = self.block(p.body)
        if not isinstance(left, n.Return):
            return None
        made = self.result(left.result)
        if isinstance(made, BaseException):
            raise made
        return made

    def _array(self, param: n.ArrayParam, arg: Any) -> None:
        if arg.ndim != len(param.dims) or arg.dtype.name != param.dtype:
            raise WrongCode("types")
        for extent, d in zip(arg.shape, param.dims, strict=True):
            if isinstance(d, Var):
                if extent == 1 or self.values.setdefault(d.name, extent) != extent:
                    raise WrongCode("types")
            elif self.value(d) != extent:
                raise WrongCode("types")
        if param.layout == "C" and not arg.flags.c_contiguous:
            raise WrongCode("types")
        for k, stride in enumerate(arg.strides):
            self.values[f"{param.name}_stride{k}"] = stride // arg.itemsize
        if param.written and not arg.flags.writeable:
            raise ValueError(("output array" if param.in_place else "assignment destination") + " is read-only")
        if not param.base:
            self.memory[param.name] = arg

    # --- expressions

    def value(self, e: Expr) -> Any:
        made = self.compiled.get(e)
        if made is None:
            made = self.compiled[e] = self._expr(e)
        return made()

    def _expr(self, e: Expr) -> Callable[[], Any]:
        """A function that computes an expression."""
        match e:
            case Const(value, dtype):
                constant = typed(value, dtype)
                return lambda: constant
            case Var(name, dtype):
                values = self.values
                kind = int if dtype == "index" else np.dtype(dtype).type

                def variable() -> Any:
                    if name not in values:
                        raise Invalid(f"`{name}` has no value")
                    value = values[name]
                    if type(value) is list:  # the parts of a float sum
                        value = finished(value, dtype)
                    if type(value) is not kind and not isinstance(value, kind):
                        raise Invalid(f"`{name}` is {value!r}, not of {dtype}")
                    return value

                return variable
            case Load(buffer, index, dtype):
                at = [self._expr(i) for i in index]

                def load() -> Any:
                    found = self.place(buffer, [i() for i in at])
                    value = found[0][found[1]]
                    if dtype == "index":
                        return int(value)
                    if value.dtype.name != dtype:
                        raise Invalid(f"`{buffer}` holds {value.dtype}, not {dtype}")
                    return value

                return load
            case Apply("where", (c, x, y), dtype):
                condition, then, orelse = self._expr(c), self._expr(x), self._expr(y)
                return lambda: checked(then() if condition() else orelse(), dtype, e)
            case Apply("and_then", (x, y), _):
                one, two = self._expr(x), self._expr(y)
                return lambda: np.bool_(one() and two())
            case Apply("or_else", (x, y), _):
                one, two = self._expr(x), self._expr(y)
                return lambda: np.bool_(one() or two())
            case Apply("cast", (x,), dtype):
                inner = self._expr(x)
                return lambda: cast(inner(), dtype)
            case Apply(op, args, dtype):
                return self._apply(op, [self._expr(a) for a in args], [a.dtype for a in args], dtype, e)
            case Reduce():
                return lambda: self.reduce(e)

    def _apply(
        self, op: str, args: list[Callable[[], Any]], kinds: list[str], dtype: str, e: Expr
    ) -> Callable[[], Any]:  # fmt: skip
        function = OPS[op].numpy
        if "index" in kinds:
            python = ON_INDICES.get(op)
            if python is not None and set(kinds) == {"index"}:
                return lambda: checked(python(*[a() for a in args]), dtype, e)
            return lambda: checked(function(*[a() for a in args]), dtype, e)
        if len(args) == 1:
            (one,) = args
            return lambda: checked(function(one()), dtype, e)
        return lambda: checked(function(*[a() for a in args]), dtype, e)

    def place(self, buffer: str, index: list[Any]) -> tuple[np.ndarray[Any, Any], Any]:
        """The memory of a buffer and the place in it."""
        if buffer not in self.memory:
            raise Invalid(f"`{buffer}` has no memory")
        held = self.memory[buffer]
        if index and isinstance(index[-1], str):
            held, index = getattr(held, index[-1]), index[:-1]
        if len(index) == held.ndim:
            for i, extent in zip(index, held.shape, strict=True):
                if not 0 <= i < extent:
                    raise Invalid(f"`{buffer}{index}` is outside of {list(held.shape)}")
            return held, tuple(index)
        if not index and held.size == 1:
            return held.reshape(-1), 0
        if len(index) != 1 or not held.flags.c_contiguous:
            raise Invalid(f"`{buffer}{index}`, of {list(held.shape)}")
        if not 0 <= index[0] < held.size:
            raise Invalid(f"`{buffer}{index}` is outside of {held.size} elements")
        return held.reshape(-1), index[0]

    def store(self, buffer: str, index: list[Any], value: Any) -> None:
        held, at = self.place(buffer, index)
        dtype = "int64" if isinstance(value, int) else value.dtype.name
        if dtype != held.dtype.name:
            raise Invalid(f"`{buffer}` holds {held.dtype}, and {dtype} is stored")
        held[at] = value

    def points(self, axes: Sequence[Axis]) -> Iterator[None]:
        """Every point of the axes, in order."""
        for point in itertools.product(*(range(self.value(a.extent)) for a in axes)):
            self.tick()
            for a, i in zip(axes, point, strict=True):
                self.values[a.name] = i
            yield

    def tick(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Invalid("the program does not come to an end")

    def reduce(self, r: Reduce) -> Any:
        parts = [self.value(r.body) for _ in self.points(r.axes)]
        if r.op in ("argmax", "argmin", "first", "last"):
            if r.op in ("first", "last"):
                found = [k for k, holds in enumerate(parts) if holds]
                return typed((found[0] if r.op == "first" else found[-1]) if found else -1, r.dtype)
            return typed(int(getattr(np, r.op)(np.array(parts))) if parts else 0, r.dtype)
        state = begin(r.op, r.dtype)
        for part in parts:
            state = combined(r.op, state, part, r.dtype)
        return finished(state, r.dtype)

    # --- statements

    def block(self, statements: Sequence[n.Stmt]) -> n.Stmt | None:
        """Runs statements; the Break, Continue or Return that left them."""
        for s in statements:
            left = self.statement(s)
            if left is not None:
                return left
        return None

    def statement(self, s: n.Stmt) -> n.Stmt | None:
        match s:
            case n.Let(name, value) | n.Assign(name, value):
                self.values[name] = self.value(value)
                if isinstance(s, n.Assign) and name not in self.program.variables:
                    raise Invalid(f"`{name}` is assigned and is no variable")
            case n.Store(buffer, index, value):
                self.store(buffer, [self.value(i) for i in index], self.value(value))
            case n.Accumulator(name, op, dtype):
                self.values[name] = -1 if op in _POSITIONS else begin(op, dtype)
                self.best.pop(name, None)
            case n.Accumulate():
                self.accumulate(s)
            case n.Loop():
                return self.loop(s)
            case n.While(head, condition, body):
                while True:
                    self.tick()
                    left = self.block(head)
                    if left is None and not self.value(condition):
                        return None
                    left = left or self.block(body)
                    if isinstance(left, n.Break):
                        return None
                    if isinstance(left, n.Return):
                        return left
            case n.If(condition, then, orelse):
                return self.block(then if self.value(condition) else orelse)
            case n.Guard(condition, error, message, args, changes):
                if not self.value(condition):
                    kind = eval(error_text(error), {"np": np, "__builtins__": __builtins__})
                    told = tuple(shown(self.value(a)) for a in args)
                    raised = kind(message.format(*told)) if message else kind()
                    raise eval(with_changes("e", changes), {"a": told, "e": raised})
            case n.Alloc(buffer):
                self.alloc(buffer)
            case n.Kernel(body=body):
                return self.block(body)
            case n.Break() | n.Continue() | n.Return():
                return s
            case n.Fetch():
                pass
            case n.Compact():
                self.compact(s)
            case n.Scanning():
                self.scanning(s)
            case n.Library():
                self.library(s)
            case _:
                self.array_statement(s)
        return None

    def array_statement(self, s: n.Stmt) -> None:
        """A statement of the first stage: all reads come before all writes."""
        match s:
            case n.Define(buffer, axes, value):
                self.alloc(buffer)
                done = [([self.values[a.name] for a in axes], self.value(value)) for _ in self.points(axes)]
                for at, x in done:
                    self.store(buffer, at, x)
            case n.Write(buffer, axes, index, value, mask):
                made = []
                for _ in self.points(axes):
                    if mask is None or self.value(mask):
                        made.append(([self.value(i) for i in index], self.value(value)))
                for at, x in made:
                    self.store(buffer, at, x)
            case n.Scatter(buffer, axes, index, value, mask):
                for _ in self.points(axes):
                    if mask is None or self.value(mask):
                        self.store(buffer, [self.value(i) for i in index], self.value(value))
            case n.Scan(op, buffer, axes, value, along):
                if buffer not in self.memory:
                    self.alloc(buffer)
                for _ in self.points([a for a in axes if a is not axes[along]]):
                    running: Any = None
                    for _ in self.points([axes[along]]):
                        running = continued(op, running, self.value(value), self.program.buffers[buffer].dtype)
                        self.store(buffer, [self.values[a.name] for a in axes], running)
            case n.Filter(outputs, count, axes, mask, values, inner, append):
                kept = []
                for _ in self.points(axes):
                    if self.value(mask):
                        kept.append([[self.value(v) for v in values] for _ in self.points(inner)])
                extents = [self.value(a.extent) for a in inner]
                first = self.values[count] if append else 0
                for k, rows in enumerate(kept):
                    for point, row in zip(itertools.product(*map(range, extents)), rows, strict=True):
                        for out, x in zip(outputs, row, strict=True):
                            self.store(out, [first + k, *point], x)
                self.values[count] = first + len(kept)
            case _:
                raise Invalid(f"not a statement: {s}")

    def alloc(self, buffer: str) -> None:
        info = self.program.buffers[buffer]
        self.memory[buffer] = memory.unwritten(info, tuple(max(0, self.value(d)) for d in info.dims))

    def accumulate(self, s: n.Accumulate) -> None:
        if s.name not in self.values:
            raise Invalid(f"accumulator `{s.name}` is not declared")
        value = self.value(s.value)
        if s.op in _POSITIONS:
            assert s.position is not None
            position, at = self.value(s.position), self.values[s.name]
            if s.op in ("first", "last"):
                better = bool(value) and (at < 0 or (position < at) == (s.op == "first"))
            else:
                better = at < 0 or is_better(s.op, value, self.best[s.name], position, at)
            if better:
                self.values[s.name], self.best[s.name] = position, value
            return
        self.values[s.name] = combined(s.op, self.values[s.name], value, self.dtypes[s.name])

    def loop(self, s: n.Loop) -> n.Stmt | None:
        order = list(range(self.value(s.start), self.value(s.stop), self.value(s.step)))
        parallel = s.kind == "parallel"
        bound = {x.name for x in walk(s.body) if isinstance(x, n.Let)} if parallel else set()
        if parallel and self.shuffle is not None:
            self.shuffle(order)
        for i in order:
            self.tick()
            for name in bound:
                self.values.pop(name, None)
            self.values[s.axis] = i
            left = self.block(s.body)
            if isinstance(left, n.Break):
                break
            if isinstance(left, n.Return):
                return left
        self.values.pop(s.axis, None)
        return None

    def compact(self, s: n.Compact) -> None:
        count = self.values[s.count] if s.append else 0
        for i in range(self.value(s.start), self.value(s.stop)):
            self.tick()
            self.values[s.axis] = i
            self.block(s.body)
            if not self.value(s.mask):
                continue
            for _ in self.points(s.inner):
                at = [count, *(self.values[a.name] for a in s.inner)]
                for out, x in zip(s.outputs, [self.value(v) for v in s.values], strict=True):
                    self.store(out, at, x)
            count += 1
        self.values[s.count] = count

    def scanning(self, s: n.Scanning) -> None:
        running: Any = None
        for i in range(self.value(s.stop)):
            self.tick()
            self.values[s.axis] = i
            self.block(s.body)
            running = continued(s.op, running, self.value(s.value), self.program.buffers[s.buffer].dtype)
            self.store(s.buffer, [self.value(x) for x in s.index], running)

    def library(self, s: n.Library) -> None:
        operands = [(self.memory[name], view) for name, view in s.operands]
        ins = [held if view is None else memory.seen(held, view, self.value) for held, view in operands]
        names = {f"a{k}": a for k, a in enumerate(ins)}
        if s.name == "print":
            eval(print_text(tuple(names), dict(s.attributes)), {"np": np, **names})
            return
        outs = [self.memory[name] for name in s.outs]
        given = {f"out{k or ''}": out for k, out in enumerate(outs)}
        text = spell(s.name, "np", tuple(names), (*s.attributes, *((o, o) for o in given)))
        value = eval(text, {"np": np, **names, **given})
        for out, one in zip(outs, [value] if len(outs) < 2 else value, strict=bool(outs)):  # a warning has none
            np.copyto(out, one)

    # --- results

    def result(self, r: n.Result) -> Any:
        match r:
            case n.ConstantResult(value):
                return value
            case n.ArgumentResult(name):
                return self.arguments[name]
            case n.ScalarResult(value, python):
                made = self.value(value)
                return plain(made) if python else typed(made, "int64") if isinstance(made, int) else made
            case n.ArrayResult(buffer, dims, dtype, empty):
                shape = tuple(self.value(d) for d in dims)
                array = self.memory[buffer]
                info = self.program.buffers[buffer]
                if shape != array.shape or info.role != "result":
                    array = array.reshape(-1)[: math.prod(shape)].reshape(shape).copy()
                if empty and empty != dtype and not shape[0]:
                    return np.empty(shape, empty)
                return array
            case n.ListResult(buffer, count, dtype, python, dims):
                if not buffer:
                    return []
                shape = (self.value(count), *(self.value(d) for d in dims))
                array = self.memory[buffer].reshape(-1)[: math.prod(shape)].reshape(shape)
                if dims:
                    return [row.copy() for row in array]
                return array.tolist() if python else list(array)
            case n.ViewResult():
                return self.view(r)
            case n.TupleResult(items, kind):
                made = [self.result(item) for item in items]
                if kind in ("tuple", "list"):
                    return tuple(made) if kind == "tuple" else made
                return eval(container_text(r), {"np": np})(*made)

    def view(self, r: n.ViewResult) -> Any:
        made = memory.seen(self.arguments[r.buffer], n.View(r.dims, r.offset, r.steps, r.part), self.value)
        if r.readonly:
            made.flags.writeable = False
        return made


_POSITIONS = ("argmax", "argmin", "first", "last")

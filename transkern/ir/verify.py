"""The invariants of `ir.nodes` and `ir.expr`, checked on a whole program.

What a value is depends on where it stands: a `Let` is seen behind it in its block and in the blocks inside; variables,
counts and parameters are seen everywhere. Whether the iterations of a ``parallel`` loop may run in any order is no
question of form: the interpreter runs them so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir import printer
from transkern.ir.complexes import float_of, has_part, is_complex, parts_of_scalar
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.extremes import is_held
from transkern.ir.ops import OPS
from transkern.ir.storage import storage
from transkern.ir.traverse import own_exprs, variables_read, walk

VERIFY = "TRANSKERN_VERIFY_IR"
"""The variable of the environment with which all pipelines are `verified`."""

_LOWERING = "lower"
"""The pass behind which no array statements are left."""
_ARRAY_STATEMENTS = (n.Define, n.Write, n.Filter, n.Scan, n.Scatter)


def violations(program: n.Program, lowered: bool = True) -> list[str]:
    """What is not as it must be, in words; nothing where all is. `lowered`: after `fuse.lower`."""
    checking = _Checking(program, lowered)
    checking.block(program.body, {})
    return list(dict.fromkeys(checking.found))


def verified(after: Callable[[str, n.Program], None] | None, first: n.Program) -> Callable[[str, n.Program], None]:
    """What a pipeline is to call behind each pass, beside `after`: raises AssertionError with what is not as it must
    be, and the program, behind a pass that has changed it. The program goes into the pipeline as `first`."""
    before, lowered = first, False

    def look(name: str, program: n.Program) -> None:
        nonlocal before, lowered
        if after is not None:
            after(name, program)
        lowering = name == _LOWERING
        lowered = lowered or lowering
        if lowering or (program is not before and program != before):  # else it has been checked
            problems = violations(program, lowered)
            assert not problems, f"after {name}: {'; '.join(problems)}\n{printer.program(program)}"
        before = program

    return look


def _allocated(statements: Sequence[n.Stmt]) -> set[str]:
    """The buffers whose memory a block asks for; kernels are no blocks of their own."""
    found = set()
    for s in statements:
        if isinstance(s, n.Alloc):
            found.add(s.buffer)
        elif isinstance(s, n.Kernel):
            found |= _allocated(s.body)
    return found


class _Checking:
    def __init__(self, program: n.Program, lowered: bool) -> None:
        self.program, self.lowered = program, lowered
        self.found: list[str] = []
        self.handed: set[str] = set()  # what kernels bind: the host may get it from memory, under the same name
        self.everywhere = _parameters(program) | dict(program.variables) | {n.ROOM: "index"}
        self.hidden = {s.buffer for s in walk(program.body) if isinstance(s, n.Alloc)}  # outside of their blocks
        self.axes = {s.axis for s in walk(program.body) if isinstance(s, n.Loop)}
        for s in walk(program.body):
            if isinstance(s, (n.Filter, n.Compact)):
                self.everywhere.setdefault(s.count, "index")

    def fail(self, problem: str) -> None:
        self.found.append(problem)

    # --- statements

    def block(self, statements: Sequence[n.Stmt], seen: dict[str, str]) -> None:
        seen, hidden = dict(seen), self.hidden
        self.hidden = hidden - _allocated(statements)
        for s in statements:
            self.statement(s, seen)
        self.hidden = hidden

    def statement(self, s: n.Stmt, seen: dict[str, str]) -> None:
        """Checks one statement; what it binds for those behind it in the block goes into `seen`."""
        if self.lowered and isinstance(s, _ARRAY_STATEMENTS):
            self.fail(f"{type(s).__name__} is left after `lower`")
        match s:
            case n.Loop(axis, start, stop, step, kind, body):
                self.exprs((start, stop, step), seen)
                if kind not in ("parallel", "sequential"):
                    self.fail(f"a loop over {axis} is {kind}")
                self.block(body, self.bound((axis,), seen))
            case n.While(head, condition, body):
                inner, hidden = dict(seen), self.hidden
                self.hidden = hidden - _allocated(head)
                for x in head:
                    self.statement(x, inner)
                self.expr(condition, inner)
                self.block(body, inner)
                self.hidden = hidden
            case n.If(condition, then, orelse):
                self.expr(condition, seen)
                self.block(then, seen)
                self.block(orelse, seen)
            case n.Compact(axis=axis, start=start, stop=stop, body=body, inner=inner_axes):
                self.exprs((start, stop), seen)
                inside, hidden = self.bound((axis,), seen), self.hidden
                self.hidden = hidden - _allocated(body)
                for x in body:
                    self.statement(x, inside)
                self.expr(s.mask, inside)
                self.exprs(s.values, self.with_axes(inner_axes, inside))
                self.hidden = hidden
                self.buffers(s.outputs)
            case n.Scanning(axis=axis, stop=stop, body=body):
                self.expr(stop, seen)
                inside, hidden = self.bound((axis,), seen), self.hidden
                self.hidden = hidden - _allocated(body)
                for x in body:
                    self.statement(x, inside)
                self.exprs((s.value, *s.index), inside)
                self.hidden = hidden
                self.buffers((s.buffer,))
            case n.Kernel(body=body):
                before = set(seen)
                for x in body:
                    self.statement(x, seen)
                self.handed |= seen.keys() - before
            case n.Filter(outputs=outputs, axes=axes, mask=mask, values=values):
                inside = self.with_axes(axes, seen)
                self.expr(mask, inside)
                self.exprs(values, self.with_axes(s.inner, inside))
                self.buffers(outputs)
            case n.Define(axes=axes) | n.Write(axes=axes) | n.Scan(axes=axes) | n.Scatter(axes=axes):
                self.exprs(own_exprs(s), self.with_axes(axes, seen))
                self.buffers((s.buffer,))
                if isinstance(s, n.Define):
                    self.shape(s)
            case _:
                self.exprs(own_exprs(s), seen)
                self.plain(s, seen)

    def shape(self, s: n.Define) -> None:
        """What is computed has the shape of the memory that it is put into: as far as can be told, where other names
        for the same size have been put into one of both. A size that changes with a loop's axis does so in both."""
        dims, extents = self.program.buffers[s.buffer].dims, tuple(a.extent for a in s.axes)
        if len(dims) != len(extents):
            self.fail(f"`{s.buffer}` has other dims than what it is made of")
        for dim, extent in zip(dims, extents, strict=False):
            if (variables_read(extent) - variables_read(dim)) & self.axes and b.difference(dim, extent) != 0:
                self.fail(f"`{s.buffer}` has other dims than what it is made of")

    def plain(self, s: n.Stmt, seen: dict[str, str]) -> None:
        match s:
            case n.Let(name, value):
                known = self.program.variables.get(name)  # a variable of this block alone, with its first value
                if name in seen.keys() - self.handed or (name in self.everywhere and known is None):
                    self.fail(f"`{name}` is bound twice on a path")
                elif known not in (None, value.dtype):
                    self.fail(f"`{name}` is {known} and begins as {value.dtype}")
                seen[name] = value.dtype
            case n.Assign(name, value):
                if self.program.variables.get(name) != value.dtype:
                    self.fail(f"`{name}` gets a {value.dtype} and is {self.program.variables.get(name, 'no variable')}")
            case n.Accumulator(name, _, dtype):
                seen[name] = dtype
            case n.Accumulate(name=name):
                if name not in seen and name not in self.everywhere:
                    self.fail(f"accumulator `{name}` is not declared")
            case n.Store(buffer, index, value):
                self.buffers((buffer,))
                self.subscripts(buffer, index)
                if storage(value.dtype) != (held := self.element(buffer, index, value.dtype)):
                    self.fail(f"`{buffer}` holds {held}, and {value.dtype} is stored")
            case n.Alloc(buffer):
                self.buffers((buffer,))
                if buffer in self.program.buffers:  # its sizes are known from here on
                    self.exprs(self.program.buffers[buffer].dims, seen)
            case n.Fetch(buffer=buffer):
                self.buffers((buffer,))
            case n.Library(outs=outs, ins=ins):
                self.buffers((*outs, *ins))
            case _:
                pass

    def bound(self, names: Iterable[str], seen: dict[str, str]) -> dict[str, str]:
        for name in names:
            if name in seen or name in self.everywhere:
                self.fail(f"`{name}` is bound twice on a path")
        return seen | dict.fromkeys(names, "index")

    def with_axes(self, axes: Sequence[Axis], seen: dict[str, str]) -> dict[str, str]:
        self.exprs((a.extent for a in axes), seen)
        return self.bound([a.name for a in axes], seen)

    def buffers(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.program.buffers:
                self.fail(f"`{name}` is no buffer")
            elif self.lowered and name in self.hidden:
                self.fail(f"`{name}` is used outside the block that its memory is for")

    # --- expressions

    def exprs(self, several: Iterable[Expr], seen: dict[str, str]) -> None:
        for e in several:
            self.expr(e, seen)

    def expr(self, e: Expr, seen: dict[str, str]) -> None:
        match e:
            case Var(name, dtype):
                known = seen.get(name) or self.everywhere.get(name)
                if known is None:
                    self.fail(f"`{name}` has no value")
                elif known != dtype:
                    self.fail(f"`{name}` is {known} and read as {dtype}")
            case Load(buffer, index, dtype):
                self.buffers((buffer,))
                self.subscripts(buffer, index)
                if storage(dtype) != (held := self.element(buffer, index, dtype)):
                    self.fail(f"`{buffer}` holds {held} and is read as {dtype}")
                self.exprs(index, seen)
            case Apply(op, args, _):
                if op not in OPS:
                    self.fail(f"{op} is no operation")
                self.exprs(args, seen)
            case Reduce(axes=axes, body=body):
                self.expr(body, self.with_axes(axes, seen))
            case Const():
                if not is_held(e):
                    self.fail(f"{e.value} is no {e.dtype}")

    def element(self, buffer: str, index: tuple[Expr, ...], otherwise: str) -> str:
        """How what stands at a subscript lies in memory."""
        info = self.program.buffers.get(buffer)
        dtype = otherwise if info is None else info.dtype
        return float_of(dtype) if is_complex(dtype) and has_part(index) else storage(dtype)

    def subscripts(self, buffer: str, index: Sequence[Expr]) -> None:
        info = self.program.buffers.get(buffer)
        if info is None:
            return
        if has_part(tuple(index)) and is_complex(info.dtype):
            index = index[:-1]
        if any(i.dtype != "index" for i in index):
            self.fail(f"a subscript of `{buffer}` is no index")
        if len(index) != len(info.dims) and (len(index) != 1 or info.layout != "C") and index:
            self.fail(f"`{buffer}` of {len(info.dims)} dimensions has {len(index)} subscripts")


def _parameters(program: n.Program) -> dict[str, str]:
    """The names that a call gives values, with their dtypes."""
    found: dict[str, str] = {}
    for p in program.params:
        match p:
            case n.ArrayParam(name, _, dims):
                found |= {v: "index" for d in dims for v in variables_read(d)}
                found |= {f"{name}_stride{k}": "index" for k in range(len(dims))} | {f"{name}_offset": "index"}
            case n.ScalarParam(name, dtype):
                found[name] = dtype
                if is_complex(dtype):
                    found |= dict.fromkeys(parts_of_scalar(name), float_of(dtype))
            case _:
                pass
    return found

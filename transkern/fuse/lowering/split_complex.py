"""Complex numbers as pairs of floats:

    w[i] = (z[i] * c)      to      w_real[i] = ((z[i, 0] * c_real) - (z[i, 1] * c_imag))
                                   w_imag[i] = ((z[i, 0] * c_imag) + (z[i, 1] * c_real))

Behind this pass nothing is complex. What the caller or a library sees keeps NumPy's layout, as floats with a last axis
of 2 (`Buffer.element` says so); a temporary becomes two buffers, which fuse and vanish like any others. A part of an
element, ``z.real[i]``, is a subscript with one more place, a constant of type ``part`` (0 or 1).

An operand that a formula uses more than once gets a name before the statement. What stands on one side of a condition
is then computed under this condition, as it may read what is not there otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transkern import refusals
from transkern.errors import CompileError
from transkern.fuse.lowering import complex_functions as f
from transkern.fuse.lowering import complex_parts as c
from transkern.fuse.lowering.complex_parts import Pair
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import IMAG, PART, REAL, float_of, has_part, is_complex, parts_of_scalar
from transkern.ir.expr import NOWHERE, Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, own_exprs, variables_read, walk, walk_expr
from transkern.records import replace

_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def split_complex(program: n.Program) -> n.Program:
    """The program without complex numbers."""
    if not any(is_complex(d) for d in _dtypes(program)):
        return program
    return _Splitting(program).program()


def split_complex_for_devices(program: n.Program) -> n.Program:
    """The same where there is no C library: its complex functions are written out, too."""
    if not any(is_complex(d) for d in _dtypes(program)):
        return program
    return _Splitting(program, library=False).program()


def _dtypes(program: n.Program) -> Iterable[str]:
    yield from (x.dtype for x in program.buffers.values())
    yield from program.variables.values()
    yield from (p.dtype for p in program.params if isinstance(p, (n.ScalarParam, n.ArrayParam)))
    yield from (e.dtype for e in exprs(program.body))


def _concerns(expr: Expr) -> bool:
    """Whether there is anything complex in an expression."""
    return any(is_complex(e.dtype) or e.dtype == PART for e in walk_expr(expr))


def _results(r: n.Result) -> Iterable[n.Result]:
    yield r
    if isinstance(r, n.TupleResult):
        for item in r.items:
            yield from _results(item)


class _Splitting:
    def __init__(self, program: n.Program, library: bool = True) -> None:
        self.old, self.names, self.library = program, Names.of(program), library
        self.span = NOWHERE
        self.buffers: dict[str, n.Buffer] = {}
        self.variables: dict[str, str] = {}
        self.scalars: dict[str, tuple[str, str]] = {}
        self.pairs: dict[str, tuple[str, str]] = {}  # a temporary -> its two buffers
        self.out: list[n.Stmt] = []
        self.path: Expr | None = None  # what must hold for what is being computed

    def program(self) -> n.Program:
        p = self.old
        for param in p.params:
            if isinstance(param, n.ScalarParam) and is_complex(param.dtype):
                self.scalars[param.name] = parts_of_scalar(param.name)
                self.names.taken |= set(self.scalars[param.name])
        whole: set[str] = {x.name for x in p.buffers.values() if x.role == "result"}  # with NumPy's layout
        filtered: set[str] = set()
        for s in walk(p.body):
            match s:
                case n.Library(outs=outs, ins=ins):
                    whole |= {*outs, *ins}
                case n.Compact(outputs=outputs):
                    filtered |= set(outputs)
                case n.Return(result=result):
                    whole |= {r.buffer for r in _results(result) if isinstance(r, (n.ArrayResult, n.ListResult))}
                case _:
                    pass
        for name, buffer in p.buffers.items():
            if not is_complex(buffer.dtype):
                self.buffers[name] = buffer
                continue
            kind = float_of(buffer.dtype)
            if buffer.role == "argument" or name in whole - filtered:
                self.buffers[name] = self._whole(buffer)
            else:
                self.pairs[name] = (self.names.fresh(f"{name}_real"), self.names.fresh(f"{name}_imag"))
                for part in self.pairs[name]:
                    self.buffers[part] = replace(buffer, name=part, dtype=kind, role="temporary")
        for name, dtype in p.variables.items():
            if is_complex(dtype):
                self.variables |= dict.fromkeys(self.parts_of(name), float_of(dtype))
            else:
                self.variables[name] = dtype
        body = self.block(p.body)
        return replace(p, buffers=self.buffers, variables=self.variables, body=body)

    def _whole(self, buffer: n.Buffer) -> n.Buffer:
        return replace(
            buffer, dtype=float_of(buffer.dtype), dims=(*buffer.dims, b.index(2)), element=buffer.dtype
        )  # fmt: skip

    def parts_of(self, name: str) -> tuple[str, str]:
        """The names of the parts of a complex scalar."""
        if name not in self.scalars:
            self.scalars[name] = (self.names.fresh(f"{name}_real"), self.names.fresh(f"{name}_imag"))
        return self.scalars[name]

    # --- statements

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        saved, self.out = self.out, []
        for s in statements:
            start, self.span = len(self.out), s.span
            self.statement(s)
            self.out[start:] = [x if x.span.line else replace(x, span=s.span) for x in self.out[start:]]
        made, self.out = self.out, saved
        return tuple(made)

    def emit(self, *statements: n.Stmt) -> None:
        self.out.extend(statements)

    def statement(self, s: n.Stmt) -> None:
        match s:
            case n.Let(name, value) if is_complex(value.dtype):
                real, imag = self.parts(value)
                first, second = self.parts_of(name)
                self.emit(n.Let(first, real), n.Let(second, imag))
            case n.Assign(name, value) if is_complex(self.old.variables[name]):
                first, second = self.parts_of(name)
                real, imag = self.parts(value)
                if first in variables_read(imag):
                    imag = self.named(imag)
                self.emit(n.Assign(first, real), n.Assign(second, imag))
            case n.Store(buffer, index, value):
                self.store(buffer, index, value)
            case n.Accumulator(name, op, dtype) if is_complex(dtype):
                assert op == "sum", s
                for part in self.parts_of(name):
                    self.emit(n.Accumulator(part, op, float_of(dtype)))
            case n.Accumulate(name, op, value, None) if is_complex(value.dtype):
                for part, inner in zip(self.parts_of(name), self.parts(value), strict=True):
                    self.emit(n.Accumulate(part, op, inner))
            case n.If(condition, then, orelse):
                condition = self.value(condition)
                self.emit(n.If(condition, self.block(then), self.block(orelse)))
            case n.While(head, condition, body):
                saved, self.out = self.out, list(self.block(head))
                condition = self.value(condition)
                before, self.out = self.out, saved
                self.emit(n.While(tuple(before), condition, self.block(body)))
            case n.Loop(body=body):
                start, stop, step = self.value(s.start), self.value(s.stop), self.value(s.step)
                self.emit(replace(s, start=start, stop=stop, step=step, body=self.block(body)))
            case n.Compact():
                self.compact(s)
            case n.Scanning(body=body, value=value):
                saved, self.out = self.out, list(self.block(body))
                value = self.value(value)
                before, self.out = self.out, saved
                self.emit(replace(s, body=tuple(before), value=value))
            case n.Alloc(buffer):
                self.emit(*(replace(s, buffer=x) for x in self.pairs.get(buffer, (buffer,))))
            case n.Library():
                self.emit(replace(s, ins=tuple(self.together(x, self.old.buffers[x].dims) for x in s.ins)))
            case n.Return(result):
                self.emit(n.Return(self.result(result)))
            case n.Let() | n.Assign() | n.Accumulate() | n.Guard():
                if any(_concerns(e) for e in own_exprs(s)):
                    s = self._changed(s)
                self.emit(s)
            case _:
                self.emit(s)

    def _changed(self, s: n.Stmt) -> n.Stmt:
        match s:
            case n.Guard(condition, args=args):
                return replace(s, condition=self.value(condition), args=tuple(map(self.value, args)))
            case n.Accumulate(value=value, position=position):
                return replace(s, value=self.value(value), position=None if position is None else self.value(position))
            case n.Let(value=value) | n.Assign(value=value):
                return replace(s, value=self.value(value))
            case _:
                raise AssertionError(s)

    def store(self, buffer: str, index: tuple[Expr, ...], value: Expr) -> None:
        info = self.old.buffers[buffer]
        if not is_complex(info.dtype) or has_part(index):
            target = self.place(buffer, index)
            self.emit(n.Store(target.buffer, target.index, self.value(value)))
            return
        first, second = self.place(buffer, (*index, REAL)), self.place(buffer, (*index, IMAG))
        real, imag = self.parts(value)
        if first.buffer in buffers_read(imag):
            imag = self.named(imag)
        self.emit(n.Store(first.buffer, first.index, real), n.Store(second.buffer, second.index, imag))

    def compact(self, s: n.Compact) -> None:
        start, stop = self.value(s.start), self.value(s.stop)
        saved, self.out = self.out, list(self.block(s.body))
        mask = self.value(s.mask)
        outputs: list[str] = []
        values: list[Expr] = []
        for name, value in zip(s.outputs, s.values, strict=True):
            outputs += self.pairs.get(name, (name,))
            values += self.parts(value) if is_complex(value.dtype) else (self.value(value),)
        inner, self.out = self.out, saved
        self.emit(
            replace(
                s, outputs=tuple(outputs), start=start, stop=stop, body=tuple(inner), mask=mask, values=tuple(values)
            )
        )

    def together(self, name: str, dims: tuple[Expr, ...], role: str = "temporary") -> str:
        """The buffer with NumPy's layout that holds what two buffers hold, up to `dims`."""
        if name not in self.pairs:
            return name
        old = self.old.buffers[name]
        made = replace(self._whole(replace(old, dims=dims)), name=self.names.fresh(f"{name}_whole"), role=role)
        self.buffers[made.name] = made
        axes = [self.names.fresh("i") for _ in dims]
        body: tuple[n.Stmt, ...] = tuple(
            n.Store(made.name, (*map(Var, axes), b.index(k)), Load(part, tuple(map(Var, axes)), made.dtype))
            for k, part in enumerate(self.pairs[name])
        )
        for axis, extent in zip(reversed(axes), reversed(dims), strict=True):
            body = (n.Loop(axis, b.ZERO, extent, b.ONE, "parallel", body),)
        self.emit(n.Alloc(made.name), *body)
        return made.name

    def result(self, r: n.Result) -> n.Result:
        match r:
            case n.ScalarResult(value, python) if is_complex(value.dtype):
                return n.ScalarResult(Apply("complex", self.parts(value), value.dtype), python)
            case n.ScalarResult(value, python):
                return n.ScalarResult(self.value(value), python)
            case n.ArrayResult(buffer=buffer) if buffer in self.pairs:
                return replace(r, buffer=self.together(buffer, r.dims, "result"))
            case n.ListResult(buffer=buffer) if buffer in self.pairs:
                return replace(r, buffer=self.together(buffer, (r.count, *r.dims)))
            case n.TupleResult(items=items):
                return replace(r, items=tuple(map(self.result, items)))
            case _:
                return r

    # --- expressions

    def hold(self, expr: Expr) -> Expr:
        """`expr` under a name, unless it is one, or a constant or an element."""
        return expr if isinstance(expr, (Const, Var, Load)) else self.named(expr)

    def named(self, expr: Expr) -> Expr:
        if self.path is not None:
            zero = Const(False if expr.dtype == "bool" else 0.0, expr.dtype)
            expr = b.where(self.path, expr, zero) if expr.dtype in ("bool", "float32", "float64") else expr
        name = self.names.fresh("flag" if expr.dtype == "bool" else "part")
        self.emit(n.Let(name, expr))
        return Var(name, expr.dtype)

    def held(self, pair: Pair) -> Pair:
        return self.hold(pair[0]), self.hold(pair[1])

    def place(self, buffer: str, index: tuple[Expr, ...]) -> Load:
        """The element, or the part of one, in the buffers of this pass."""
        info = self.old.buffers[buffer]
        if not has_part(index):
            return Load(buffer, tuple(map(self.value, index)), info.dtype)
        *at, last = index
        assert isinstance(last, Const)
        part, dtype = int(last.value), float_of(info.dtype)  # type: ignore[arg-type]
        own = tuple(map(self.value, at))
        if buffer in self.pairs:
            return Load(self.pairs[buffer][part], own, dtype)
        if len(own) == len(info.dims):
            return Load(buffer, (*own, b.index(part)), dtype)
        return Load(buffer, (b.add(b.mul(b.index(2), own[0]), b.index(part)),), dtype)

    def under(self, condition: Expr, expr: Expr) -> Expr:
        """What is real of `expr`, computed where `condition` holds."""
        saved = self._enter(condition)
        made = self.value(expr)
        self.path = saved
        return made

    def pair_under(self, condition: Expr, expr: Expr) -> Pair:
        saved = self._enter(condition)
        made = self.parts(expr)
        self.path = saved
        return made

    def _enter(self, condition: Expr) -> Expr | None:
        saved = self.path
        self.path = condition if saved is None else self._condition(b.both(saved, condition))
        return saved

    def _condition(self, condition: Expr) -> Expr:
        """A condition under a name (on the path so far)."""
        return condition if isinstance(condition, (Const, Var)) else self.named(condition)

    def value(self, expr: Expr) -> Expr:
        """`expr`, which is not complex, without complex numbers in it."""
        if not _concerns(expr):
            return expr
        match expr:
            case Load(buffer, index, _):
                return self.place(buffer, index)
            case Apply("where", (condition, x, y), _):
                condition = self.value(condition)
                if _concerns(x) or _concerns(y):
                    condition = self._condition(condition)
                return b.where(condition, self.under(condition, x), self.under(b.logical_not(condition), y))
            case Apply("and_then" | "or_else" as op, (x, y), _):
                x = self._condition(self.value(x))
                y = self.under(x if op == "and_then" else b.logical_not(x), y)
                return b.both(x, y) if op == "and_then" else b.either(x, y)
            case Apply(op, args, dtype) if any(is_complex(a.dtype) for a in args):
                return self.real_valued(op, args, dtype)
            case Apply(_, args, _):
                return b.rebuild(expr, tuple(map(self.value, args)))
            case _:
                raise AssertionError(f"not expected here: {expr}")

    def real_valued(self, op: str, args: tuple[Expr, ...], dtype: str) -> Expr:
        """An operation on complex numbers whose result is not complex."""
        pairs = [self.parts(a) for a in args]
        x = pairs[0]
        match op:
            case "real":
                return x[0]
            case "imag":
                return x[1]
            case "absolute":
                return Apply("hypot", x, dtype)
            case "cast" if dtype == "bool":
                return c.nonzero(x)
            case "cast":
                return b.cast(x[0], dtype)
            case "isnan":
                return c.is_nan(self.held(x))
            case "isinf":
                return Apply("logical_or", tuple(Apply(op, (p,), "bool") for p in x), "bool")
            case "isfinite":
                return Apply("logical_and", tuple(Apply(op, (p,), "bool") for p in self.held(x)), "bool")
            case "logical_not":
                return b.logical_not(c.nonzero(x))
            case "logical_and" | "logical_or" | "logical_xor":
                return Apply(op, tuple(c.nonzero(p) for p in pairs), "bool")
            case _ if op in _COMPARISONS:
                return c.compare(op, self.held(x), self.held(pairs[1]))
            case _:
                raise AssertionError(f"{op} of complex numbers")

    def parts(self, expr: Expr) -> Pair:
        """The real and the imaginary part of a complex expression."""
        kind = float_of(expr.dtype)
        match expr:
            case Const(value, _):
                number = complex(value)
                return Const(number.real, kind), Const(number.imag, kind)
            case Var(name):
                first, second = self.parts_of(name)
                return Var(first, kind), Var(second, kind)
            case Load(buffer, index, _):
                own = tuple(map(self.value, index))
                return self.place(buffer, (*own, REAL)), self.place(buffer, (*own, IMAG))
            case Apply("complex", (x, y), _):
                return b.cast(self.value(x), kind), b.cast(self.value(y), kind)
            case Apply("cast", (x,), _) if is_complex(x.dtype):
                real, imag = self.parts(x)
                return b.cast(real, kind), b.cast(imag, kind)
            case Apply("cast", (x,), _):
                return b.cast(self.value(x), kind), Const(0.0, kind)
            case Apply("where", (condition, x, y), _):
                condition = self._condition(self.value(condition))
                then, orelse = self.pair_under(condition, x), self.pair_under(b.logical_not(condition), y)
                return b.where(condition, then[0], orelse[0]), b.where(condition, then[1], orelse[1])
            case Apply(op, args, _):
                return self.operation(op, args)
            case Reduce():
                raise AssertionError(f"a reduction behind lowering: {expr}")

    def operation(self, op: str, args: tuple[Expr, ...]) -> Pair:
        pairs = [self.parts(a) for a in args]
        x = pairs[0]
        kind = x[0].dtype
        match op:
            case "add" | "subtract":
                (p, q), (r, s) = pairs
                return Apply(op, (p, r), kind), Apply(op, (q, s), kind)
            case "negative" | "rint":
                return Apply(op, (x[0],), kind), Apply(op, (x[1],), kind)
            case "positive":
                return x
            case "conjugate":
                return x[0], Apply("negative", (x[1],), kind)
        x = self.held(x)
        y = self.held(pairs[1]) if len(pairs) > 1 else x
        match op:
            case "multiply":
                return c.multiply_arrays(x, y)
            case "plain_multiply":
                return c.multiply(x, y)
            case "square":
                return c.multiply_arrays(x, x)
            case "divide":
                return c.divide(x, y, self.hold)
            case "python_divide":
                return c.quotient(x, y, self.hold)
            case "reciprocal":
                return c.reciprocal(x, self.hold)
            case "sign":
                return c.sign(x, self.hold)
            case "maximum" | "minimum" | "fmax" | "fmin":
                return c.extremum(op, x, y, self.hold)
            case "power" | "python_power":
                return self.power(op == "python_power", x, y)
            case _:
                return self.function(op, x)

    def function(self, name: str, x: Pair) -> Pair:
        if self.library:
            return c.function(name, x, self.hold)
        if name in f.WRITTEN_OUT:
            return f.written_out(name, x, self.hold)
        if name in ("exp2", "log2", "log10"):
            return c.scaled(name, x, self.hold, self.function)
        raise CompileError(
            refusals.UNKNOWN_FUNCTION, f"cannot compile for this target: `np.{name}` of complex numbers",
            'use target="cpu" for this function', self.span, self.old.source,
        )  # fmt: skip

    def power(self, python: bool, x: Pair, y: Pair) -> Pair:
        match y:
            case Const(float() as real), Const(0.0) if real.is_integer() and abs(real) < (101 if python else 100):
                return c.whole_power(x, int(real), self.hold, python)
        if python:
            return c.python_power(x, y, self.hold)
        if not self.library:
            return f.power(x, y, self.hold)
        kind = x[0].dtype
        return Apply("complex_power_real", (*x, *y), kind), Apply("complex_power_imag", (*x, *y), kind)

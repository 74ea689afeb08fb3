"""64-bit data: whether a program needs it, and the program with 32 bits in its place.

Positions (sizes, subscripts, what argsort returns) fit 32 bits whatever their dtype says; data may not.
"""

from __future__ import annotations

from dataclasses import replace

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import bodies, buffers_written, map_block, own_exprs, walk, walk_expr, with_bodies
from transkern.targets.pallas.forms.values import scalar_params

_HALF = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
_WIDE = {"float64", "complex128", "uint64"}
_END = (1 << 63) - 2
"""The ends of 64 bits, which stand for those of the type: what a minimum begins with, what still has a successor."""

_STEP = 8  # what an index is counted up by, at most: the turns of a loop fit 32 bits several times


def needs_64_bits(program: n.Program) -> bool:
    """Whether device code computes with float64, complex128, uint64, or int64 that are not positions."""
    checking = _Checking(program)
    return checking.buffers() or checking.block(program.body)


class _Checking:
    def __init__(self, program: n.Program) -> None:
        self.program, self.scalars = program, scalar_params(program)
        self.positions: dict[str, bool] = {}  # variables: sums of them fit 32 bits,
        self.fitting: dict[str, bool] = {}  # or they themselves do
        self.lets: dict[str, Expr] = {}
        self.counts = _counts(program)
        plain = (n.Store, n.Loop, n.While, n.If, n.Kernel)
        others = {x for s in walk(program.body) if not isinstance(s, plain) for x in buffers_written(s)}
        own = {x for x, buffer in program.buffers.items() if buffer.role == "temporary"}
        self.checked = own - others
        """The arrays of which all that is stored is looked at here: it fits 32 bits, or the program does not."""

    def buffers(self) -> bool:
        return any(buffer.dtype in _WIDE for buffer in self.program.buffers.values())

    def block(self, block: tuple[n.Stmt, ...]) -> bool:
        for s in block:
            match s:
                case n.Let(name=of, value=value):
                    self.positions[of], self.fitting[of] = self.is_position(value), self.fits(value)
                    self.lets[of] = value
                case n.Assign(name=of, value=value):  # it may grow from one turn of a loop to the next
                    self.positions[of] = self.positions.get(of, True) and self.is_bounded(of, value)
                    self.fitting[of] = self.positions[of]
                    if value.dtype == "int64" and not self.positions[of]:  # also for what read it before, in a turn
                        return True
                case n.Accumulator(name=of, dtype=dtype) if dtype in _WIDE or dtype == "int64":
                    if of not in self.counts:
                        return True
                    self.positions[of] = self.fitting[of] = True
                case n.Store(buffer=buffer, value=value) if self.program.buffers[buffer].dtype == "int64":
                    if not self.fits(value):
                        return True
                case n.Scanning(buffer=buffer, op=op, value=value) if self.program.buffers[buffer].dtype == "int64":
                    if not (self.fits(value) if op in ("max", "min") else op == "sum" and _is_truth(value)):
                        return True
                case n.Return(result=n.ScalarResult(Apply("cast", (x,), _), _)):
                    if self.wide(x):
                        return True
                    continue
                case _:
                    pass
            inside = any(map(self.block, bodies(s)))  # first: what a filter keeps has its names from in there
            if inside or any(map(self.wide, own_exprs(s))):
                return True
        return False

    def wide(self, e: Expr) -> bool:
        """Whether computing `e` on the device takes 64 bits of data."""
        if self._from_arguments(e):
            return False
        match e:
            case Const() | Var(dtype="index"):
                return False
            case Var(of, dtype):
                return dtype in _WIDE or (dtype == "int64" and not self.fitting.get(of, False))
            case Load(_, index, _):
                return any(self.wide(i) for i in index)
            case Apply("cast", (Load(dtype="int64") as x,), "index"):
                return any(self.wide(i) for i in x.index)
            case Apply(_, args, dtype):
                if dtype in _WIDE or (dtype == "int64" and not self.fits(e)):
                    return True
                return any(self.wide(a) or (a.dtype == "int64" and not self.fits(a)) for a in args)
            case Reduce():
                return False

    def fits(self, e: Expr) -> bool:
        """Whether 32 bits hold `e`, though perhaps no sum of two such numbers."""
        match e:
            case Const(value, _):
                return isinstance(value, (bool, int)) and abs(value) < 2**31
            case Var(of, _) if self.fitting.get(of, False):
                return True
            case Load(buffer, _, "int64") if buffer in self.checked:
                return True
            case Apply("cast", (x,), _) if x.dtype == "int32" or (x.dtype == "int64" and self.fits(x)):
                return True
            case Apply("maximum" | "minimum" | "where", args, _):
                return all(self.fits(a) for a in args[-2:])
            case _:
                return self.is_position(e)

    def is_bounded(self, of: str, value: Expr) -> bool:
        """Whether a variable is a position still when this is assigned to it: it may be counted up, not added to."""
        match value:
            case Var(name) if name in self.lets:
                return self.is_bounded(of, self.lets[name])
            case Apply("add" | "subtract", (Var(name) as x, Const(step)), _) if self.origin(x) == of:
                return abs(step) <= _STEP
            case Apply("add" | "subtract" | "negative"):
                return False
            case Apply("where", (_, x, y), _):
                return self.is_bounded(of, x) and self.is_bounded(of, y)
            case _:
                return self.is_position(value)

    def origin(self, e: Expr) -> str:
        """The variable that `e` is, under another name perhaps."""
        while isinstance(e, Var) and isinstance(self.lets.get(e.name), Var):
            e = self.lets[e.name]
        return e.name if isinstance(e, Var) else ""

    def is_position(self, e: Expr) -> bool:
        """Whether 32 bits hold `e` and sums of a few such numbers."""
        match e:
            case Const(value, _):
                return isinstance(value, (bool, int)) and abs(value) < 2**30
            case Var(of, dtype):
                return dtype == "index" or self.positions.get(of, False)
            case Load(buffer, _, "int64"):
                return self.program.buffers[buffer].low is not None
            case Apply("cast", (x,), _):
                return x.dtype in ("index", "bool", "int8", "int16", "uint8", "uint16") or self.is_position(x)
            case Apply(
                "add" | "subtract" | "maximum" | "minimum" | "negative" | "remainder" | "floor_divide", args, _
            ):
                return all(self.is_position(a) for a in args)
            case Apply("where", (_, x, y), _):
                return self.is_position(x) and self.is_position(y)
            case _:
                return e.dtype == "index"

    def _from_arguments(self, e: Expr) -> bool:
        found = [x for x in walk_expr(e) if isinstance(x, (Var, Load, Reduce))]
        return all(
            isinstance(x, Var) and (x.name in self.scalars or ("." in x.name and not x.name.endswith(".size")))
            for x in found
        )


def _is_truth(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op == "cast" and e.args[0].dtype == "bool"


def _counts(program: n.Program) -> set[str]:
    """The accumulators that only count where something holds: they stay below the size of an array."""
    counts: dict[str, bool] = {}
    for s in walk(program.body):
        if isinstance(s, n.Accumulate):
            counts[s.name] = counts.get(s.name, True) and s.op == "sum" and _is_truth(s.value)
    return {of for of, only in counts.items() if only}


def narrow_program(program: n.Program) -> n.Program:
    """The program with 32-bit types where it had 64-bit ones; what is computed from scalar arguments alone stays."""
    scalars = scalar_params(program)

    def half(dtype: str) -> str:
        return _HALF.get(dtype, dtype)

    def change(e: Expr) -> Expr:
        found = [x for x in walk_expr(e) if isinstance(x, (Var, Load, Reduce))]
        if e.dtype in _HALF and found and all(isinstance(x, Var) and x.name in scalars for x in found):
            return Apply("cast", (e,), half(e.dtype))
        match e:
            case Const(value, "int64") if isinstance(value, int) and abs(value) >= _END:
                return Const(max(min(value, (1 << 31) - 1), -(1 << 31)), "int32")
            case Const(value, dtype):
                return Const(value, half(dtype))
            case Var(of, dtype):
                return Var(of, half(dtype))
            case Load(buffer, index, dtype):
                return Load(buffer, tuple(change(i) for i in index), half(dtype))
            case Apply("cast", (x,), dtype) if half(dtype) == half(x.dtype):
                return change(x)
            case Apply(op, args, dtype):
                return Apply(op, tuple(change(a) for a in args), half(dtype))
            case Reduce():
                return e

    buffers = {k: replace(v, dtype=half(v.dtype), element=half(v.element)) for k, v in program.buffers.items()}
    params = tuple(replace(p, dtype=half(p.dtype)) if isinstance(p, n.ArrayParam) else p for p in program.params)
    variables = {k: half(v) for k, v in program.variables.items()}
    body = _accumulators(map_block(program.body, change))
    return replace(program, buffers=buffers, params=params, variables=variables, body=body)


def _accumulators(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    made: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.Accumulator):
            made.append(replace(s, dtype=_HALF.get(s.dtype, s.dtype)))
        else:
            made.append(with_bodies(s, _accumulators))
    return tuple(made)

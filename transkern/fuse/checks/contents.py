"""What arrays of integers hold: if all that is ever stored into one lies within ``[0, n)``, so does what is read.

    parallel k < n: left[k] = k
    while left.size > 0:                          left: int64[n]  in [0, n)
        …                                to
        compact left over k < left.size:
            keep left[k] if …

By induction: what is stored is within, where it is read from the array itself, as everything stored before was. The
array is filled as a whole before anything else, so that nobody reads what was in its memory. The proof of each value is
isl's, with what holds where it is stored.
"""

from __future__ import annotations

from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import buffers_read, buffers_written, exprs, variables_read, walk
from transkern.records import replace


def know_contents(program: n.Program) -> n.Program:
    """The program with the bounds of what its arrays of positions hold."""
    for name in _asked(program):
        stores = [s for s in walk(program.body) if name in _own_outputs(s)]
        high = _highest(program, name, stores)
        if high is None or not _is_filled(program, name):
            continue
        known = replace(program.buffers[name], low=b.ZERO, high=high)
        assumed = replace(program, buffers={**program.buffers, name: known})
        if _Within(assumed, name, high).always():
            program = assumed
    return program


def _asked(program: n.Program) -> list[str]:
    """The arrays of integers that are stored into more than once, and whose elements are positions in others."""
    read = {
        name for e in exprs(program.body) if isinstance(e, Apply) and e.op == "cast" and e.dtype == "index"
        for name in buffers_read(e)
    }  # fmt: skip
    return [
        name for name, buffer in program.buffers.items()
        if name in read and buffer.low is None and buffer.role == "temporary" and len(buffer.dims) == 1
        and buffer.dtype.startswith(("int", "uint"))
    ]  # fmt: skip


def _own_outputs(s: n.Stmt) -> tuple[str, ...]:
    match s:
        case n.Store(buffer=buffer) | n.Scanning(buffer=buffer):
            return (buffer,)
        case n.Compact(outputs=outputs):
            return outputs
        case n.Library(outs=outs):
            return outs
        case _:
            return ()


def _highest(program: n.Program, name: str, stores: list[n.Stmt]) -> Expr | None:
    """The one size that what is stored may be below of: that of the loops whose axes are stored, or of what is read."""
    stops = {s.axis: s.stop for s in walk(program.body) if isinstance(s, n.Loop)}
    found: set[Expr] = set()
    for value in (v for s in stores for v in _stored(s, name)):
        while isinstance(value, Apply) and value.op == "cast":
            (value,) = value.args
        match value:
            case Load(buffer) if buffer == name:
                continue
            case Load(buffer) if (high := program.buffers[buffer].high) is not None:
                found.add(high)
            case Var(axis) if axis in stops:
                found.add(stops[axis])
            case _:
                return None
    if len(found) != 1:
        return None
    (high,) = found
    return high if variables_read(high).isdisjoint(program.variables) and not buffers_read(high) else None


def _stored(s: n.Stmt, name: str) -> tuple[Expr, ...]:
    match s:
        case n.Store(value=value):
            return (value,)
        case n.Compact(outputs=outputs, values=values) if not s.inner:
            return tuple(v for output, v in zip(outputs, values, strict=True) if output == name)
        case _:
            return (b.FALSE,)  # by others, of whom nothing is known


def _is_filled(program: n.Program, name: str) -> bool:
    """Whether the first thing that happens to the array's memory is that all of it is given a value."""
    for s in program.body:
        if name not in buffers_written(s):
            continue
        match s:
            case n.Loop(axis, start, stop, step, "parallel", (n.Store(buffer, (Var(at),)),)):
                whole = start == b.ZERO and step == b.ONE and stop == program.buffers[name].dims[0]
                return whole and buffer == name and at == axis
            case _:
                return False
    return False


class _Within(Walk):
    """Whether all that is stored into an array is within ``[0, high)``."""

    def __init__(self, program: n.Program, name: str, high: Expr) -> None:
        super().__init__(program)
        self.name, self.high = name, high
        self.proven = True

    def always(self) -> bool:
        self.block(self.program.body)
        return self.proven

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if self.name in _own_outputs(s):
            for value in _stored(s, self.name):
                at = b.cast(value, "index")
                inside = b.both(b.compare("greater_equal", at, b.ZERO), b.compare("less", at, self.high))
                self.proven = self.proven and self.holds(inside)
        return [self.inside(s)] if self.proven else [s]

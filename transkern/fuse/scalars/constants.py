"""Variables that are never anything but one number are that number.

Of a number that is one of Python's on one path and one of NumPy's on the other, both are variables; where Python's is a
constant (`prev = 0`, then `prev = row[j]`), checks of it would ask whether it fits each time, and keep loops in order.
"""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import map_block, variables_read, walk, with_bodies
from transkern.records import replace


def settle_constants(program: n.Program) -> n.Program:
    """The program without variables that all statements give the same number."""
    if not program.variables:
        return program
    numbers: dict[str, Const | None] = {}
    for s in walk(program.body):
        match s:
            case n.Assign(name, Const() as value):
                known = numbers.setdefault(name, value)
                if known is None or not _is_same(known, value):
                    numbers[name] = None
            case _:
                numbers |= dict.fromkeys(_sets(s))
    told = [*program.bounds.values(), *(d for x in program.buffers.values() for d in x.dims)]
    numbers |= {name: None for e in told for name in variables_read(e) if name in numbers}
    known_as: dict[Expr, Expr] = {
        Var(name, program.variables[name]): value
        for name, value in numbers.items()
        if value is not None and name in program.variables and program.variables[name] == value.dtype
    }
    if not known_as:
        return program
    gone = {v.name for v in known_as if isinstance(v, Var)}

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            with_bodies(s, block) for s in statements if not (isinstance(s, n.Assign) and s.name in gone)
        )

    body = map_block(block(program.body), known_as.get)
    variables = {name: dtype for name, dtype in program.variables.items() if name not in gone}
    return replace(program, body=body, variables=variables)


def _is_same(a: Const, b: Const) -> bool:
    """Also for zeros of either sign, and what is no number."""
    return a.dtype == b.dtype and repr(a.value) == repr(b.value)


def _sets(s: n.Stmt) -> tuple[str, ...]:
    """The scalars that a statement gives a value, without those inside it."""
    match s:
        case n.Let(name) | n.Assign(name) | n.Accumulator(name) | n.Accumulate(name):
            return (name,)
        case n.Loop(axis=axis) | n.Scanning(axis=axis):
            return (axis,)
        case n.Compact(axis=axis, count=count):
            return axis, count
        case n.Filter(count=count):
            return (count,)
        case _:
            return ()

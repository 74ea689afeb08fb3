"""A store into a matrix through a mask counts all its elements; it goes over its rows and columns:

    write a[k // m, k % m] = f(b[k // m, k % m], held[k]) if c[k // m, k % m]   for k < n * m
        to   write a[i, j] = f(b[i, j], held[i, j]) if c[i, j]   for i < n, j < m

It then meets the array statements over the same rows and columns, and no point divides. What only such stores read by
the number of their element is a matrix, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load
from transkern.ir.names import Names
from transkern.ir.polynomials import exact_quotient
from transkern.ir.traverse import alone, buffers_used, map_own, own_exprs, walk, walk_expr, with_bodies
from transkern.records import replace

_Dims = tuple[Expr, ...]


def delinearise(program: n.Program) -> n.Program:
    """The program whose stores by the number of an element, taken apart into its subscripts, go over these."""
    found: dict[int, _Dims] = {}
    statements = list(walk(program.body))
    for s in statements:
        if isinstance(s, n.Write) and len(s.axes) == 1 and (dims := _dims(s, s.axes[0])):
            found[id(s)] = dims
    if not found:
        return program
    arrays = _read_in(statements, found, program)
    names = Names.of(program)

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(_nested(with_bodies(s, block), found.get(id(s)), arrays, names) for s in body)

    buffers = {name: replace(x, dims=arrays.get(name, x.dims)) for name, x in program.buffers.items()}
    return replace(program, body=block(program.body), buffers=buffers)


def _dims(s: n.Write, axis: Axis) -> _Dims:
    """The dims of the array whose elements a statement counts along its axis; empty where it does not take the number
    apart."""
    parts = (e for own in own_exprs(s) for e in walk_expr(own))
    divided = dict.fromkeys(e for e in parts if isinstance(e, Apply) and len(e.args) == 2)
    rest: Expr = axis.var
    dims: list[Expr] = []
    while dim := next((e.args[1] for e in divided if e.op == "remainder" and e.args[0] == rest), None):
        dims.insert(0, dim)
        rest = b.floordiv(rest, dim)
    first = axis.extent
    for dim in dims:
        if (rest_of := exact_quotient(first, dim)) is None:
            return ()
        first = rest_of
    return (first, *dims) if dims and rest in divided else ()


def _read_in(statements: Sequence[n.Stmt], found: dict[int, _Dims], program: n.Program) -> dict[str, _Dims]:
    """The dims of the arrays that nobody but the stores in `found` reads, and that element by element; what makes them
    is put there, too."""
    made: dict[str, list[n.Define]] = defaultdict(list)
    users: dict[str, list[n.Stmt]] = defaultdict(list)
    for s in statements:
        if isinstance(s, n.Define) and len(s.axes) == 1 and program.buffers[s.buffer].role == "temporary":
            made[s.buffer].append(s)
        for name in buffers_used(alone(s)):
            users[name].append(s)
    arrays: dict[str, _Dims] = {}
    for name, (define, *others) in made.items():
        readers = [s for s in users[name] if s is not define]
        kinds = {found.get(id(s), ()) for s in readers}
        if others or len(kinds) != 1 or not (dims := kinds.pop()):
            continue
        if all(isinstance(s, n.Write) and _reads_in_order(s, name, define.axes[0].extent) for s in readers):
            arrays[name] = found[id(define)] = dims
    return arrays


def _reads_in_order(s: n.Write, name: str, extent: Expr) -> bool:
    """Whether each point of a store reads its own element of an array as long as there are points, and no other."""
    loads = [e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load) and e.buffer == name]
    return s.axes[0].extent == extent and all(e.index == (s.axes[0].var,) for e in loads)


def _nested(s: n.Stmt, dims: _Dims | None, arrays: dict[str, _Dims], names: Names) -> n.Stmt:
    """A store over `dims` instead of over the number of the element."""
    if dims is None:
        return s
    assert isinstance(s, (n.Write, n.Define))
    (axis,) = s.axes
    axes = tuple(Axis(names.fresh(axis.name), d) for d in dims)
    index = tuple(a.var for a in axes)
    values: dict[Expr, Expr] = {}
    rest: Expr = axis.var
    for one, dim in zip(reversed(index[1:]), reversed(dims[1:]), strict=True):
        values[b.mod(rest, dim)] = one
        rest = b.floordiv(rest, dim)
    values[rest] = index[0]
    values[axis.var] = b.ravel(index, dims)

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in arrays:
            return Load(e.buffer, index, e.dtype)
        return values.get(e)

    made = map_own(s, change)
    assert isinstance(made, (n.Write, n.Define))
    return replace(made, axes=axes)

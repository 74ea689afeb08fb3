"""Products of matrices with vectors in loops in order are sums, where nothing else in the loop is a library's:

    for k in 0 .. steps:                              for k in 0 .. steps:
        y = matmul(a, x)  (a step of a library) to       y[i] = sum(a[i, r] * x[r] for r < m)  for i < n
        x = y / norm(y)                                   x = y / norm(y)

- *Property.* Such a product reads each element of the matrix once: memory decides how long it takes, and rows with a
  warp each read it as fast as a library does.
- *Legality.* A library adds up in an order of its own, as sums of array statements may.
- *Schedule.* A step of a library is a launch by the host, and so is all around it, in each iteration; a loop without
  one is a kernel, whose conditions (has it converged?) no host has to wait for. Products of two matrices stay: of these
  a library makes more than memory allows.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.schedule.products import as_statement
from transkern.ir import nodes as n
from transkern.ir.names import Names
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace

_DTYPES = ("float32", "float64")


def multiply_in_loops(program: n.Program) -> n.Program:
    """The program with such products in loops as sums."""
    if not any(isinstance(s, n.Library) for s in walk(program.body)):
        return program
    names = Names.of(program)

    def product(s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Library):
            return with_bodies(s, lambda inner: tuple(map(product, inner)))
        return as_statement(s, program.buffers, names)

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(
            product(s) if isinstance(s, n.Loop | n.While) and _is_for_a_kernel(s, program) else with_bodies(s, block)
            for s in statements
        )

    return replace(program, body=block(program.body))


def _is_for_a_kernel(s: n.Stmt, program: n.Program) -> bool:
    """Whether a loop in order would be a kernel but for products with vectors."""
    inside = [*walk((s,))]
    steps = [x for x in inside if isinstance(x, n.Library)]
    return bool(steps) and not any(isinstance(x, n.Return) for x in inside) and all(
        _is_with_a_vector(x, program) for x in steps
    )  # fmt: skip


def _is_with_a_vector(s: n.Library, program: n.Program) -> bool:
    if s.name != "matmul" or {*s.outs} & {*s.ins} or any(s.views) or len(s.ins) != 2 or s.attributes:
        return False
    out, left, right = (program.buffers[name] for name in (*s.outs, *s.ins))
    ranks = [len(x.dims) for x in (left, right, out)]
    plain = all(x.dtype == out.dtype and not x.element and not x.is_reserved for x in (left, right, out))
    return ranks == [2, 1, 1] and plain and out.dtype in _DTYPES and out.role != "argument"

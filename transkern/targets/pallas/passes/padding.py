"""Give libraries arrays whose padding does no harm: of sizes that depend on data, JAX sees all that there may be.

    sorted = library sort(keys)          for p in kept.size .. n: keys[p] = nan
                                   to    sorted = library sort(keys)

What sorts looks last at what it takes for the largest; what multiplies adds zeros. Other steps are refused.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import scalars_set, variables_read, walk, with_bodies


def fill_padding(program: n.Program) -> n.Program:
    """The program with the ends of what libraries take filled; raises CompileError where nothing can stand there."""
    names = Names.of(program)
    sizes = {s.name: s.value for s in walk(program.body) if isinstance(s, n.Let) and isinstance(s.value, Load)}
    outside = {v for s in program.body if not isinstance(s, n.Kernel) for v in scalars_set(s)}

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Library) and s.outs:
                for position, buffer in enumerate(s.ins):
                    out += step(s, position, buffer)
            out.append(s if isinstance(s, n.Kernel) else with_bodies(s, block))
        return tuple(out)

    def step(s: n.Library, position: int, buffer: str) -> list[n.Stmt]:
        """What comes before a step for one of its inputs."""
        info, filled = program.buffers[buffer], list[n.Stmt]()
        dims = info.dims[:-1] if info.element else info.dims
        for k, dim in enumerate(dims):
            largest = _bounded(program, dim)
            if largest == dim or not _matters(s, position, k, len(dims)):
                continue
            value = Const(0, info.dtype) if s.name == "matmul" else _last(info.dtype)
            if s.name not in ("sort", "argsort", "lexsort", "matmul") or value is None:
                problem = f"`{s.name}` of an array whose size depends on data has no JAX form"
                help, lines = 'use target="cpu" for this function', program.lines_of(s.span)
                raise CompileError(refusals.PALLAS, problem, help, s.span, lines)
            filled.append(fill(s, buffer, k, dim, largest, value))
        return filled

    def fill(s: n.Library, buffer: str, k: int, dim: Expr, largest: Expr, value: Expr) -> n.Stmt:
        """The kernel that sets the elements from `dim` on."""
        read = sorted(v for v in variables_read(dim) if v in sizes and v not in outside)
        axes = [names.fresh("p") for _ in program.buffers[buffer].dims]
        body: n.Stmt = n.Store(buffer, tuple(Var(a, "index") for a in axes), value, span=s.span)
        for q, (axis, size) in reversed(list(enumerate(zip(axes, program.buffers[buffer].dims, strict=True)))):
            start, stop = (dim, largest) if q == k else (b.ZERO, _bounded(program, size))
            body = n.Loop(axis, start, stop, b.ONE, "parallel", (body,), span=s.span)
        lets = (n.Let(v, sizes[v], span=s.span) for v in read)
        return n.Kernel(names.fresh(f"{program.name}_{buffer}_end"), (*lets, body), "grid", span=s.span)

    return replace(program, body=block(program.body))


def _bounded(program: n.Program, dim: Expr) -> Expr:
    """What a size never exceeds: as large as JAX makes the array."""
    known = program.bounds
    return b.map_expr(
        dim, lambda e: b.substitute(known[e.name], known) if isinstance(e, Var) and e.name in known else None
    )


def _matters(s: n.Library, position: int, dim: int, rank: int) -> bool:
    """Whether elements behind the end of a dimension change those before it."""
    match s.name:
        case "sort" | "argsort":
            axis = dict(s.attributes).get("axis")
            return not isinstance(axis, int) or axis % rank == dim
        case "lexsort":
            return dim == rank - 1
        case "searchsorted":
            return position == 0
        case "matmul":
            return rank == 1 or dim == (rank - 1 if position == 0 else rank - 2)
        case _:
            return True


def _last(dtype: str) -> Expr | None:
    """What NumPy's order has nothing behind."""
    if is_complex(dtype):
        return None
    if dtype == "bool":
        return Const(True, dtype)
    if dtype.startswith("float"):
        return Const(float("nan"), dtype)
    return Const(int(np.iinfo("int64" if dtype == "index" else dtype).max), dtype)

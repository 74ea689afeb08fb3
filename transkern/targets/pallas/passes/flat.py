"""Where the best element of a matrix stands, in a loop in order, by axes: a TPU has no positions over several of them.

    argmax argmax= x[k] at k, k < n * m     to     max max= x[i, j]                               for all i, j
                                                   argmax min= i * m + j where x[i, j] == max     for all i, j

NumPy takes the first of equals, and NaN before all else: a maximum is NaN where there is one.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import is_in_order, walk, with_bodies
from transkern.records import replace
from transkern.targets.pallas.passes.extremes import EXTREMES


def search_by_axes(program: n.Program) -> n.Program:
    """The program with such searches by axes."""
    if not any(isinstance(s, n.Accumulate) and s.op in EXTREMES for s in walk(program.body)):
        return program
    names = Names.of(program)

    def block(body: tuple[n.Stmt, ...], in_order: bool) -> tuple[n.Stmt, ...]:
        declared = {x.name for x in body if isinstance(x, n.Accumulator)}
        searched: set[str] = set()  # positions that are minima now
        out: list[n.Stmt] = []
        for s in body:
            if in_order and isinstance(s, n.Loop) and all(_is_search(program, s, x) for x in s.body):
                searches = [x for x in s.body if isinstance(x, n.Accumulate) and x.name in declared]
                if len(searches) == len(s.body):
                    searched.update(x.name for x in searches)
                    out += [made for x in searches for made in _by_axes(program, names, s, x)]
                    continue
            inside = in_order or is_in_order(s)
            out.append(with_bodies(s, lambda inner, inside=inside: block(inner, inside)))  # type: ignore[misc]
        return tuple(replace(x, op="min") if isinstance(x, n.Accumulator) and x.name in searched else x for x in out)

    return replace(program, body=block(program.body, False))


def _is_search(program: n.Program, loop: n.Loop, s: n.Stmt) -> bool:
    """Whether a statement of a loop searches all elements of an array of several axes."""
    match s:
        case n.Accumulate(op=op, value=Load(buffer, (at,), dtype), position=position) if op in EXTREMES:
            dims = program.buffers[buffer].dims
            whole = (loop.start, loop.step) == (b.ZERO, b.ONE) and b.difference(loop.stop, b.product(dims)) == 0
            here = at == position == Var(loop.axis, "index")
            return loop.kind == "parallel" and whole and here and len(dims) > 1 and dtype != "bool"
        case _:
            return False


def _by_axes(program: n.Program, names: Names, s: n.Loop, x: n.Accumulate) -> list[n.Stmt]:
    """A search as two passes over the axes, and the best element declared before them."""
    value = x.value
    assert isinstance(value, Load)
    dims = program.buffers[value.buffer].dims
    best = Var(names.fresh(EXTREMES[x.op]), value.dtype)

    def over_all(made: n.Accumulate, axes: list[Var]) -> n.Stmt:
        nest: n.Stmt = made
        for axis, dim in reversed(list(zip(axes, dims, strict=True))):
            nest = n.Loop(axis.name, b.ZERO, dim, b.ONE, "parallel", (nest,), span=s.span)
        return nest

    axes = [Var(names.fresh(s.axis), "index") for _ in dims]
    what = over_all(n.Accumulate(best.name, EXTREMES[x.op], replace(value, index=(*axes,)), span=x.span), axes)
    axes = [Var(names.fresh(s.axis), "index") for _ in dims]
    element = replace(value, index=(*axes,))
    here: Expr = b.compare("equal", element, best)
    if value.dtype.startswith("float"):
        here = b.either(Apply("isnan", (element,), "bool"), here)
    place: Expr = b.ZERO
    for axis, dim in zip(axes, dims, strict=True):
        place = b.add(b.mul(place, dim), axis)
    where = over_all(n.Accumulate(x.name, "min", b.where(here, place, b.product(dims)), span=x.span), axes)
    return [n.Accumulator(best.name, EXTREMES[x.op], value.dtype, span=s.span), what, where]

"""Where an extreme is first, as two passes that fold what lanes can fold: what it is, and where that is.

    argmax argmax= x[i] at i     to     max max= x[i]; nan any= isnan(x[i])
                                        first first= (isnan(x[i]) if nan else x[i] == max) at i

NumPy takes the first of equals, and NaN before all else. A TPU has no positions over several axes: where a loop in
order searches all elements of a matrix, the second pass is over its axes, too (`search_by_axes`):

    argmax argmax= x[k] at k, k < n * m     to     max max= x[i, j]                                       for all i, j
                                                   argmax min= i * m + j where x[i, j] is max or NaN     for all i, j
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, is_in_order, walk, with_bodies
from transkern.records import replace
from transkern.targets.pallas.forms.values import Inexpressible

EXTREMES = {"argmax": "max", "argmin": "min"}


def search_passes(s: n.Loop, fresh: Callable[[str], str]) -> list[n.Stmt]:
    """The passes that a loop with such positions becomes, and the accumulators between them."""
    written = {x.buffer for x in walk(s.body) if isinstance(x, n.Store)}
    if any(buffers_read(own) & written for x in walk(s.body) for own in _values(x)):
        raise Inexpressible("an extreme of what the pass changes")
    declared: list[n.Stmt] = []
    searches: dict[str, tuple[str, str]] = {}
    for x in walk(s.body):
        if isinstance(x, n.Accumulate) and x.op in EXTREMES:
            if x.position != Var(s.axis, "index") or x.value.dtype == "bool":
                raise Inexpressible(f"an {x.op} of another kind")
            best, lost = fresh(EXTREMES[x.op]), fresh("lost")
            searches[x.name] = best, lost
            declared += [n.Accumulator(best, EXTREMES[x.op], x.value.dtype), n.Accumulator(lost, "any", "bool")]

    def first(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for x in block:
            if isinstance(x, n.Accumulate) and x.op in EXTREMES:
                best, lost = searches[x.name]
                out.append(replace(x, name=best, op=EXTREMES[x.op], position=None))
                if x.value.dtype.startswith("float"):
                    isnan = Apply("isnan", (x.value,), "bool")
                    out.append(replace(x, name=lost, op="any", value=isnan, position=None))
            else:
                out.append(with_bodies(x, first))
        return tuple(out)

    def second(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for x in block:
            if isinstance(x, n.Accumulate) and x.op in EXTREMES:
                best, lost = searches[x.name]
                here = b.compare("equal", x.value, Var(best, x.value.dtype))
                if x.value.dtype.startswith("float"):
                    here = b.where(Var(lost, "bool"), Apply("isnan", (x.value,), "bool"), here)
                out.append(replace(x, op="first", value=here))
            elif not isinstance(x, n.Accumulate | n.Store):
                out.append(with_bodies(x, second))
        return tuple(out)

    return [*declared, replace(s, body=first(s.body)), replace(s, body=second(s.body))]


def _values(s: n.Stmt) -> list[Expr]:
    match s:
        case n.Accumulate(op=op, value=value) if op in EXTREMES:
            return [value]
        case n.Let(value=value) | n.Assign(value=value) | n.If(condition=value):
            return [value]
        case _:
            return []


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

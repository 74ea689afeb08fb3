"""Where an extreme is first, as two passes that fold what lanes can fold: what it is, and where that is.

    argmax argmax= x[i] at i     to     max max= x[i]; nan any= isnan(x[i])
                                        first first= (isnan(x[i]) if nan else x[i] == max) at i

NumPy takes the first of equals, and NaN before all else.
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.traverse import buffers_read, walk, with_bodies
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

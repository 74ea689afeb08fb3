"""A variable that a loop in order counts along is a place on its axis:

    for t in 1 .. n:                                 for t in 1 .. n:
        out[size] = f(x[t])               to             out[size + (t - 1)] = f(x[t])
        size := size + 1                             size := size + max(n - 1, 0)

Lists that each iteration appends to are counted so. The iterations then hand nothing to each other in the variable, and
where each stores is seen from its axis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_statement,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_LEAVING = (n.Break, n.Continue, n.Return)


def count_by_axis(program: n.Program) -> n.Program:
    """The program with such variables as they were before the loops."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    buffers = dict(program.buffers)
    body = _block(program.body, buffers)
    return replace(program, body=body, buffers=buffers)


def _block(statements: Iterable[n.Stmt], buffers: dict[str, n.Buffer]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    known: dict[str, Expr] = {}  # what counts are here
    for s in statements:
        made = with_bodies(s, lambda block: _block(block, buffers))
        for x in _counted(made, known, buffers) if isinstance(made, n.Loop) and made.kind == "sequential" else [made]:
            for name in scalars_set(x) - {x.name if isinstance(x, n.Assign) else ""}:
                known.pop(name, None)
            if isinstance(x, n.Assign):
                value = b.substitute(x.value, known)
                known.pop(x.name, None)
                if value.dtype == "index" and isinstance(value, Const):
                    known[x.name] = value
            out.append(x)
    return tuple(out)


def _counted(s: n.Loop, known: Mapping[str, Expr], buffers: dict[str, n.Buffer]) -> list[n.Stmt]:
    """The loop without what it counts, and what that comes to; the sizes of what it makes are told by the axis, too."""
    if s.step != b.ONE or any(isinstance(x, _LEAVING) for x in walk(s.body)):
        return [s]
    own, written = scalars_set(s), buffers_written(s)
    ends = variables_read(s.start) | variables_read(s.stop)
    if ends & own or (buffers_read(s.start) | buffers_read(s.stop)) & written:
        return [s]
    times = Counter(name for x in walk(s.body) if not isinstance(x, (n.Loop, n.If, n.While)) for name in scalars_set(x))
    steps: dict[str, dict[int, int]] = {}  # by how much each variable is counted on, and where
    for k, x in enumerate(s.body):
        match x:
            case n.Assign(name, value) if value.dtype == "index":
                by = b.difference(value, Var(name, "index"))
                if by is not None and by > 0:
                    steps.setdefault(name, {})[k] = by
            case _:
                pass
    made_here = _made(s.body)
    limits = (end for name, held in buffers.items() if name not in made_here for end in (held.low, held.high))
    # what limits the elements of others' memory is what it is in each iteration
    limiting = set[str]().union(*(variables_read(end) for end in limits if end is not None))
    counted = {
        name: places for name, places in steps.items() if len(places) == times[name] and name not in limiting
    }  # fmt: skip
    if not counted:
        return [s]
    here = b.sub(Var(s.axis, "index"), s.start)
    begun: dict[str, Expr] = {name: known.get(name, Var(name, "index")) for name in counted}
    body: list[n.Stmt] = []
    for k, x in enumerate(s.body):
        if any(k in places for places in counted.values()):
            continue
        values: dict[Expr, Expr] = {}
        for name, places in counted.items():
            each, so_far = sum(places.values()), sum(by for place, by in places.items() if place < k)
            at = b.add(b.mul(b.index(each), here), b.index(so_far))
            values[Var(name, "index")] = b.add(begun[name], at)
        body.append(map_statement(x, values.get))
        names = {name: values[Var(name, "index")] for name in counted}
        for made in _made((x,)):
            held = buffers[made]
            low, high = (None if end is None else b.substitute(end, names) for end in (held.low, held.high))
            dims = tuple(b.substitute(d, names) for d in held.dims)
            buffers[made] = replace(held, dims=dims, low=low, high=high)
    trips = b.maximum(b.sub(s.stop, s.start), b.ZERO)
    last = [
        n.Assign(name, b.add(begun[name], b.mul(b.index(sum(places.values())), trips)), span=s.span)
        for name, places in counted.items()
    ]
    return [replace(s, body=tuple(body)), *last]


def _made(statements: Iterable[n.Stmt]) -> set[str]:
    """The buffers whose memory is made in statements."""
    return {s.buffer for s in walk(statements) if isinstance(s, (n.Alloc, n.Define))}

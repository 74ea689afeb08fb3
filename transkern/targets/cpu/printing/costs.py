"""What a loop takes: the steps that it makes, and what each of them costs."""

from __future__ import annotations

from collections.abc import Iterable

from transkern.fuse.lanes.blocks import at_most
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.storage import itemsize
from transkern.ir.traverse import bodies, buffers_read, own_exprs, scalars_set, variables_read, walk, walk_expr

_SHORT = 2  # bytes
_FEW = 2  # operations that vectors would save
_UNKNOWN = 32  # what is taken for the work of a loop whose trips only data tell, in iterations of a loop in vectors


def work_of(s: n.Loop) -> tuple[Expr, float]:
    """How many steps of one the loops make along the deepest nest in `s`, and what each costs."""
    extents: list[Expr] = [b.sub(s.stop, s.start)]
    steps = abs(b.constant(s.step) or 1)
    inner = list(direct(_usual(s)))
    most: dict[str, Expr] = {s.axis: s.stop}  # what changes inside, at its end
    least: dict[str, Expr] = {s.axis: s.start}  # and at its beginning
    local = {name for x in s.body for name in scalars_set(x)}
    while True:
        for x in inner:
            if isinstance(x, n.Let) and x.value.dtype == "index":
                most[x.name], least[x.name] = (b.substitute(x.value, at) for at in (most, least))
        found: tuple[n.Loop, Expr] | None = None
        for x in sorted(inner, key=_depth_and_work, reverse=True):
            if isinstance(x, n.Loop):
                first, extent = (b.sub(b.substitute(x.stop, at), b.substitute(x.start, at)) for at in (least, most))
                if (most_here := at_most(x)) is not None:
                    extent = b.index(most_here)  # a block of a range, of which the loop around goes over the blocks
                elif (known := b.constant(extent)) is not None and known <= 0:
                    extent = first  # a triangle that narrows
                # Memory is not read for an estimate: what is a subscript inside may be none at the loops' ends.
                if not variables_read(extent) & (local - set(most)) and not buffers_read(extent):
                    found = x, extent
                    break
        if found is None:
            break
        loop, extent = found
        extents.append(extent)
        steps *= abs(b.constant(loop.step) or 1)
        most[loop.axis] = b.substitute(loop.stop, most)
        least[loop.axis] = b.substitute(loop.start, least)
        inner = list(direct(_usual(loop)))
    unknown = any(isinstance(x, (n.Loop, n.While)) for y in inner for x in walk((y,)))
    return b.product(tuple(extents)), max(1, _cost(_usual(s))) / steps * (_UNKNOWN if unknown else 1)


def _usual(loop: n.Loop) -> list[n.Stmt]:
    """What an iteration of a loop over blocks does, but for the last one: of a branch that asks whether a whole block
    is left, that where one is."""
    whole = b.compare("less_equal", b.add(Var(loop.axis), loop.step), loop.stop)
    return [x for s in loop.body for x in (s.then if isinstance(s, n.If) and s.condition == whole else (s,))]


def direct(statements: Iterable[n.Stmt]) -> Iterable[n.Stmt]:
    """Statements of this loop's own iterations (inside branches too), not those of loops inside."""
    for s in statements:
        yield s
        if isinstance(s, n.If):
            for body in bodies(s):
                yield from direct(body)


def looks_up_bytes(s: n.Loop) -> bool:
    """Whether a loop does little but to look up short numbers at places that are short numbers, for which processors
    have no vectors: GCC makes some of single elements, which takes longer than these."""
    *lets, store = s.body or (None,)
    if not isinstance(store, n.Store) or not all(isinstance(x, n.Let) for x in lets):
        return False
    every = [e for x in s.body for own in own_exprs(x) for e in walk_expr(own)]
    computed = [e for e in every if isinstance(e, Apply) and e.dtype not in ("index", "bool")]
    if len(computed) > _FEW or any(itemsize(e.dtype) > _SHORT for e in computed):
        return False
    found = [e for e in every if isinstance(e, Load) and itemsize(e.dtype) <= _SHORT]
    inside = (x for e in found for i in e.index for x in walk_expr(i))
    return any(isinstance(x, Load) and itemsize(x.dtype) <= _SHORT for x in inside)


def _cost(block: Iterable[n.Stmt]) -> float:
    """What one run of the statements costs, each loop making one iteration, of two branches the dearer one."""
    total = 0.0
    for s in block:
        total += isinstance(s, (n.Store, n.Accumulate))
        computed = (e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Apply) and e.dtype != "index")
        total += sum(OPS[e.op].cost for e in computed)
        inner = [_cost(body) for body in bodies(s)]
        total += max(inner, default=0) if isinstance(s, n.If) else sum(inner)
    return total


def _depth_and_work(s: n.Stmt) -> tuple[int, bool]:
    """Of loops beside each other, what is in order are the borders of what is not."""
    return _depth(s), isinstance(s, n.Loop) and s.kind == "parallel"


def _depth(s: n.Stmt) -> int:
    """How many loops are nested in the statement, itself included."""
    inner = max((_depth(x) for body in bodies(s) for x in body), default=0)
    return inner + isinstance(s, n.Loop)

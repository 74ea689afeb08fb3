"""What kind a loop in order is: a reduction into elements, a scan, a wavefront."""

from __future__ import annotations

from collections.abc import Mapping

from transkern.analysis.bands import constant_distances
from transkern.analysis.scalars import combination, extreme
from transkern.analysis.verdicts import Verdict
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import variables_read, walk


def reduces_elements(verdict: Verdict) -> bool:
    """Whether all that iterations share are elements that one statement combines values into: ``a[f(i)] op= e``."""
    if verdict.scalars.carried:
        return False
    stores = [
        s for s in walk(verdict.loop.body) if isinstance(s, n.Store) and s.buffer in verdict.carried.body.written
    ]
    lets = verdict.carried.body.lets
    for meeting in verdict.carried.meetings():
        buffer = meeting.first.buffer
        own = [s for s in stores if s.buffer == buffer]
        if len(own) != 1 or any(
            not _same_index(m.index, own[0].index, lets) for m in (meeting.first, meeting.second)
        ):
            return False
        place = Load(buffer, own[0].index, own[0].value.dtype)

        def hold(e: Expr, place: Load = place) -> Expr | None:
            same = isinstance(e, Load) and e.buffer == place.buffer and _same_index(e.index, place.index, lets)
            return Var("held", e.dtype) if same else None

        if combination(b.map_expr(own[0].value, hold), "held") is None:
            return False
    return True


def _same_index(x: tuple[Expr, ...] | None, y: tuple[Expr, ...], lets: Mapping[str, Expr]) -> bool:
    return x is not None and len(x) == len(y) and all(
        _inlined(i, lets) == _inlined(j, lets) for i, j in zip(x, y, strict=True)
    )  # fmt: skip


def _inlined(e: Expr, lets: Mapping[str, Expr]) -> Expr:
    return b.map_expr(e, lambda x: _inlined(lets[x.name], lets) if isinstance(x, Var) and x.name in lets else None)


_LINEAR = {"add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or",
           "bitwise_xor", "logical_and", "logical_or", "negative", "cast", "and_then", "or_else", "where"}  # fmt: skip


def is_scan(verdict: Verdict) -> bool:
    """Whether an element (or a scalar) is made from the one of the iteration before by a linear or extreme step."""
    body = verdict.loop.body
    carried = set(verdict.scalars.carried)
    lets = verdict.carried.body.lets
    moving = {s.name for s in walk(body) if isinstance(s, n.Assign)}
    for s in walk(body):
        if isinstance(s, n.If) and variables_read(condition := _inlined(s.condition, lets)) & carried:
            match s:
                case n.If(then=(n.Assign(name, value),), orelse=()) if extreme(condition, _inlined(value, lets), name):
                    pass
                case _:
                    return False
    for name in carried:
        sets = [s for s in walk(body) if isinstance(s, n.Assign) and s.name == name]
        if len(sets) != 1 or not _linear_in(_inlined(sets[0].value, lets), name, moving):
            return False
    if verdict.meeting is None:
        return bool(carried)
    for m in verdict.carried.meetings():
        if m.kind != "flow" or verdict.carried.distance(m.first, m.second) is None:
            return False
        stores = [s for s in walk(body) if isinstance(s, n.Store) and s.buffer == m.first.buffer]
        if len(stores) != 1 or m.first.span.line != m.second.span.line:
            return False
        buffer = m.first.buffer
        held = b.map_expr(
            _inlined(stores[0].value, lets),
            lambda e, buffer=buffer: Var("held", e.dtype) if isinstance(e, Load) and e.buffer == buffer else None,  # type: ignore[misc]
        )
        if not _linear_in(held, "held", {"held"} | moving):
            return False
    return True


def _linear_in(e: Expr, name: str, moving: set[str]) -> bool:
    """Whether `e` is a linear (or max/min) function of `name`; the rest may be anything that does not move."""
    if name not in variables_read(e):
        return not (variables_read(e) & moving)
    match e:
        case Var():
            return True
        case Apply("multiply", (x, y), _):
            return (name in variables_read(x)) != (name in variables_read(y)) and all(
                _linear_in(z, name, moving) for z in (x, y)
            )
        case Apply("where", (condition, x, y), _):
            if name in variables_read(condition):  # only as the choice of a maximum or minimum
                chosen = isinstance(condition, Apply) and condition.op.startswith(("less", "greater"))
                if not (chosen and isinstance(condition, Apply) and set(condition.args) == {x, y}):
                    return False
            return all(_linear_in(z, name, moving) for z in (x, y))
        case Apply(op, args, _) if op in _LINEAR:
            return all(_linear_in(z, name, moving) for z in args)
        case Apply("divide", (x, y), _):
            return name not in variables_read(y) and _linear_in(x, name, moving)
        case _:
            return False


def is_wavefront(verdict: Verdict, kind_inside: str) -> bool:
    """Whether this loop and one inside it, of such a kind, carry dependences by constant distances only."""
    inner = [s for s in verdict.loop.body if isinstance(s, n.Loop)]
    if len(inner) != 1 or kind_inside not in ("scan", "wavefront", "sequential", "reduction"):
        return False
    return constant_distances(verdict, inner[0]) is not None

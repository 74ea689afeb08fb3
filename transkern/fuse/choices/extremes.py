"""Statements that look for what is most or least, and remember more: ``if value < best: best = value; …``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transkern.fuse.choices.jumps import without_continues
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_PARTIAL = frozenset(["floor_divide", "remainder", "fmod", "divmod", "left_shift", "right_shift", "power"])
"""What integers may not do with every integer."""
_TYPES = ("int", "uint", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Extreme:
    """``if value < best: best = value; …`` (`node`, with nothing but this): `op` is ``max`` or ``min``; `last` where
    equal values take the place of earlier ones."""

    node: n.If
    best: str
    value: Expr
    op: str
    last: bool

    @property
    def names(self) -> frozenset[str]:
        return frozenset(s.name for s in self.node.then if isinstance(s, n.Assign))

    @property
    def nothing(self) -> Const:
        """What no value is worse than."""
        return (lowest if self.op == "max" else highest)(self.value.dtype)


def may_look(s: n.Stmt) -> bool:
    """Whether a statement may be one that looks for an extreme."""
    match s:
        case n.If(_, then, ()):
            return bool(then) and all(isinstance(x, n.Assign) for x in then)
        case n.Assign(name, Apply("where", (condition, _, Var(kept)), _)):
            return name == kept and name in variables_read(condition)
        case _:
            return False


def written_out(loop: n.Loop) -> n.Loop:
    """With ``best := v if v < best else best`` as the condition that it is, and without ``continue``."""

    def made(s: n.Stmt) -> n.Stmt:
        match s:
            case n.Assign(name, Apply("where", (condition, value, Var(kept)), _)) if name == kept:
                if name in variables_read(condition) and name not in variables_read(value):
                    return n.If(condition, (n.Assign(name, value, span=s.span),), (), span=s.span)
            case _:
                pass
        return with_bodies(s, lambda block: tuple(map(made, block)))

    loop = without_continues(loop)
    return replace(loop, body=tuple(map(made, loop.body)))


def extremes(body: Iterable[n.Stmt]) -> Iterator[Extreme]:
    """All of a loop's body."""
    for s in walk(tuple(body)):
        if isinstance(s, n.If) and not s.orelse and all(isinstance(x, n.Assign) for x in s.then):
            found = _extreme(s)
            if found is not None:
                yield found


def _extreme(s: n.If) -> Extreme | None:
    sets = {x.name: x.value for x in s.then if isinstance(x, n.Assign)}
    compared = [c for c in conjuncts(s.condition) if variables_read(c) & set(sets)]
    if len(compared) != 1 or len(sets) != len(s.then) or any(variables_read(v) & set(sets) for v in sets.values()):
        return None
    match compared[0]:
        case Apply("less" | "less_equal" as op, (value, Var(best))) if sets.get(best) == value:
            kind = "min"
        case Apply("greater" | "greater_equal" as op, (Var(best), value)) if sets.get(best) == value:
            kind = "min"
        case Apply("greater" | "greater_equal" as op, (value, Var(best))) if sets.get(best) == value:
            kind = "max"
        case Apply("less" | "less_equal" as op, (Var(best), value)) if sets.get(best) == value:
            kind = "max"
        case _:
            return None
    if not value.dtype.startswith(_TYPES):
        return None
    return Extreme(s, best, value, kind, op.endswith("equal"))


def with_conditions(
    block: Sequence[n.Stmt], buffers: Mapping[str, n.Buffer], holds: Callable[[Expr], bool]
) -> tuple[n.Stmt, ...]:  # fmt: skip
    """A loop's body with a search in branches of branches (`if a: d = …; if b: if d < best: …`) as one that asks for
    all of it at once, where what the branches compute does no harm without their conditions, as far as is known."""

    def is_harmless(e: Expr) -> bool:
        for x in walk_expr(e):
            if isinstance(x, Load):
                for place, dim in zip(x.index, buffers[x.buffer].dims, strict=True):
                    if not holds(b.both(b.compare("greater_equal", place, b.ZERO), b.compare("less", place, dim))):
                        return False
            if isinstance(x, Apply) and x.op in _PARTIAL and not x.dtype.startswith("float"):
                return False
        return True

    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.If) and not s.orelse and not all(isinstance(x, n.Assign) for x in s.then):
            inner = with_conditions(s.then, buffers, holds)
            *lets, last = inner
            if isinstance(last, n.If) and not last.orelse and all(
                isinstance(x, n.Let) and is_harmless(x.value) for x in lets
            ) and _extreme(last) is not None and is_harmless(last.condition):  # fmt: skip
                condition = b.both(s.condition, last.condition)
                out += [*lets, replace(last, condition=condition)]
                continue
        out.append(s)
    return tuple(out)

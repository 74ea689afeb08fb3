"""An element that is stored where a comparison with it holds is stored in any case, perhaps as it was:

    for e in 0 .. n:                            for e in 0 .. n:
        if x[j[e]] < y[i[e]]:          to           y[i[e]] = x[j[e]] if x[j[e]] < y[i[e]] else y[i[e]]
            y[i[e]] = x[j[e]]

Whether it holds for elements that data choose no processor foresees: a branch costs what ten stores do. So it is also
what ``y[i[e]] = min(y[i[e]], x[j[e]])`` is. The element has been read, and so it is there; it must be of the function's
own memory, which nobody else looks at.
"""

from __future__ import annotations

from collections.abc import Iterator

from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load
from transkern.ir.ops import OPS
from transkern.ir.traverse import always_read, buffers_read, resolved, walk, walk_expr
from transkern.records import replace

_CHEAP = 4
"""What computing a value that is not stored may cost, in additions."""


def keep_elements(program: n.Program) -> n.Program:
    """The program with such stores under no condition, in loops in order."""
    if not any(isinstance(s, n.If) for s in walk(program.body)):
        return program
    return replace(program, body=_Keeping(program).block(program.body))


class _Keeping(Walk):

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.in_order = False

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop):
            before, self.in_order = self.in_order, s.kind == "sequential"
            made = self.inside(s)
            self.in_order = before
            return [made]
        if isinstance(s, n.If) and self.in_order and (kept := self.kept(s)) is not None:
            return kept
        return [self.inside(s)]

    def kept(self, s: n.If) -> list[n.Stmt] | None:
        match s:
            case n.If(Apply(dtype="bool") as condition, (*lets, n.Store(buffer, index, value) as store), ()):
                pass
            case _:
                return None
        if not all(isinstance(x, n.Let) for x in lets):
            return None
        if self.program.buffers[buffer].role == "argument" or not any(map(buffers_read, self.places(index, lets))):
            return None
        read = {self.placed(x, []): x for x in always_read(condition)}
        old = read.get(self.placed(Load(buffer, index, value.dtype), lets))
        if old is None:
            return None
        names = {x.name: x.value for x in lets if isinstance(x, n.Let)}
        value = b.map_expr(
            resolved(value, names), lambda x: read.get(self.placed(x, lets), x) if isinstance(x, Load) else None
        )
        if any(x not in read.values() for x in _elements(value)):
            return None
        operations = [x for x in walk_expr(value) if isinstance(x, Apply) and x.dtype != "index"]
        if not all(x.op in OPS for x in operations) or sum(OPS[x.op].cost for x in operations) > _CHEAP:
            return None
        return [replace(store, index=old.index, value=_chosen(condition, value, old))]

    def placed(self, x: Load, lets: list[n.Stmt]) -> Load:
        return Load(x.buffer, self.places(x.index, lets), x.dtype)

    def places(self, index: tuple[Expr, ...], lets: list[n.Stmt]) -> tuple[Expr, ...]:
        """Subscripts without names."""
        named = {**self.lets, **{x.name: x.value for x in lets if isinstance(x, n.Let)}}
        return tuple(resolved(i, named) for i in index)


def _elements(e: Expr) -> Iterator[Load]:
    """The elements of which a value is made, without those that their subscripts read."""
    match e:
        case Load():
            yield e
        case Apply(args=args):
            for x in args:
                yield from _elements(x)
        case _:
            pass


def _chosen(condition: Apply, value: Expr, old: Load) -> Expr:
    """The value where the condition holds, else what there was: of integers the lesser or greater, if it is that."""
    if value.dtype.startswith(("int", "uint")) and condition.args in ((value, old), (old, value)):
        less = condition.op in ("less", "less_equal")
        if less or condition.op in ("greater", "greater_equal"):
            return Apply("minimum" if less == (condition.args[0] == value) else "maximum", (old, value), value.dtype)
    return b.where(condition, value, old)

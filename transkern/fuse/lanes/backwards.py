"""A search of few elements, in lanes, goes through all of them, the last first, and leaves nowhere:

    parallel i in 0 .. n:                      parallel i in 0 .. n:
        k := 9                                     k := 9
        for j in 0 .. 9:                 to        for j in 0 .. 9:
            if x[i] < e[j]:                            if x[i] < e[8 - j]: k := 8 - j
                k := j
                break

Of all iterations in which the condition holds the one that is done last is the first one then. A lane neither remembers
whether it has left, nor are those counted that go on: a comparison and a choice for each element.
"""

from __future__ import annotations

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import Walk
from transkern.fuse.scalars.load_once import is_within, stays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Load, Var
from transkern.ir.traverse import buffers_written, exprs, map_block, scalars_set, variables_read, walk
from transkern.records import replace

_FEW = 16
"""Elements of which a vector's lanes hardly ever all leave before the end."""

_OPERATIONS = 8
"""Of a condition that is soon asked."""

_ASKED = frozenset(
    ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_not", "logical_and", "logical_or",
     "add", "subtract", "multiply", "absolute", "square", "maximum", "minimum", "isnan", "where", "and_then", "or_else",
     "cast")
)  # fmt: skip
"""What costs a vector no more than a few cycles, and raises nothing."""


def search_backwards(program: n.Program) -> n.Program:
    """The program without exits from short searches in lanes."""
    if program.warns or not any(isinstance(s, n.Break) for s in walk(program.body)):
        return program
    return replace(program, body=tuple(_Searches(program).block(program.body)))


class _Searches(Walk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop) or s.kind != "parallel":
            return [self.inside(s)]
        if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.If, n.Loop)) for x in s.body):
            return [self.inside(s)]
        loops = [x for x in s.body if isinstance(x, n.Loop)]
        self.levels.append(Level(s.axis, s.start, s.stop, b.constant(s.step) or 1))
        turned = [self.turned(x) for x in loops]
        self.levels.pop()
        if not loops or not all(turned):  # what others leave goes in lanes that leave
            return [self.inside(s)]
        by_id = {id(x): made for x, made in zip(loops, turned, strict=True)}
        return [replace(s, body=tuple(by_id.get(id(x)) or x for x in s.body))]

    def turned(self, s: n.Loop) -> n.Loop | None:
        """A search from its last iteration on; None for other loops."""
        first, last = b.constant(s.start), b.constant(s.stop)
        if s.kind != "sequential" or s.step != b.ONE or first is None or last is None or not 1 < last - first <= _FEW:
            return None
        match s.body:
            case (*lets, n.If(_, (*found, n.Break()), ()) as asks):
                pass
            case _:
                return None
        own = {x.name for x in lets if isinstance(x, n.Let)}
        if len(own) != len(lets) or not found or not all(isinstance(x, (n.Assign, n.Store)) for x in found):
            return None
        moving = {s.axis, *scalars_set(s)}
        if any(variables_read(i) & moving for x in found if isinstance(x, n.Store) for i in x.index):
            return None
        names = {v for e in exprs(s.body) for v in variables_read(e)}
        arrays = {e.buffer for e in exprs(s.body) if isinstance(e, Load)}
        if (scalars_set(s) - own) & names or buffers_written(s) & arrays:
            return None  # what it sets it asks for
        if not self.may_go_on(s, own):
            return None
        axis, mirrored = Var(s.axis), b.sub(b.index(first + last - 1), Var(s.axis))
        body = map_block((*lets, replace(asks, then=tuple(found))), lambda e: mirrored if e == axis else None)
        return replace(s, body=body)

    def may_go_on(self, s: n.Loop, own: set[str]) -> bool:
        """Whether iterations behind the one that the search ends with may run: soon, and on elements that are there."""
        self.levels.append(Level(s.axis, s.start, s.stop, 1))
        operations, there = 0, True
        for e in exprs(s.body):
            match e:
                case Load():
                    there = there and stays(e, own) and is_within(self, e)
                case Apply(op, _, dtype) if dtype != "index":
                    there = there and op in _ASKED and not dtype.startswith(("complex", "float16"))
                    operations += op != "cast"
                case Apply(op):
                    there = there and op in ("add", "subtract", "multiply")
                case _:
                    pass
        self.levels.pop()
        return there and operations <= _OPERATIONS

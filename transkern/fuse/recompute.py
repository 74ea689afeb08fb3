"""What costs less to compute than to read is computed where it is read:

    define rows[i, j] = int64(i)                   out[i, j] = a[i, j] * float64(i)
    out[i, j] = a[i, j] * float64(rows[i, j])      to
    …                                              …

Coordinates (`np.indices`, `np.meshgrid`, `np.arange`), masks of them, and constants: arrays of which each element is
known from its subscripts alone. Fusion takes them into one loop that reads them; read by several, each element went to
memory and back, and nobody behind knows what it is.

So are deviations (``x - x.mean(axis=0)``), masks (``~np.isnan(x)``) and what else takes a few operations on what it is
made of, where that still is what it was, and each element is read a few times: a sum along another axis than the last,
which goes through memory in another order, would read them from memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TypeGuard

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)

_CHEAP = frozenset(
    ("add", "subtract", "multiply", "negative", "cast", "minimum", "maximum", "where", "less", "less_equal", "greater",
     "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "and_then", "or_else",
     "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "isnan", "isfinite", "absolute", "square")
)  # fmt: skip
_OPERATIONS = 6
"""Up to as many are worth while for each time that an element is read."""
_MEMORY = 3
"""What a byte of a temporary costs that is written and read once, in bytes that are read."""


def recompute(program: n.Program) -> n.Program:
    """The program without temporaries that are computed as easily as they are read."""
    for define in _known_from_subscripts(program):
        program = _without(program, define)
    if any(isinstance(s, n.Define) and _is_cheap(s.value) for s in walk(program.body)):
        program = _Fresh(program).run()
    return program


def _without(program: n.Program, define: n.Define) -> n.Program:
    """The program in which readers compute what a statement defines."""
    body = _dropped(map_block(program.body, lambda e: _computed(e, define)), define)
    return replace(program, body=body, buffers={k: v for k, v in program.buffers.items() if k != define.buffer})


def _computed(e: Expr, define: n.Define) -> Expr | None:
    if not _reads(e, define.buffer):
        return None
    index = (b.map_expr(i, lambda x: _computed(x, define)) for i in e.index)
    return b.substitute(define.value, {a.name: i for a, i in zip(define.axes, index, strict=True)})


def _reads(e: Expr, name: str) -> TypeGuard[Load]:
    return isinstance(e, Load) and e.buffer == name


def _known_from_subscripts(program: n.Program) -> list[n.Define]:
    """What defines such arrays, which nobody else writes, and of which single elements are read alone."""
    statements = list(walk(program.body))
    known = {
        s.buffer: s for s in statements
        if isinstance(s, n.Define) and program.buffers[s.buffer].role == "temporary"
        and _is_cheap(s.value) and not buffers_read(s.value)
    }  # fmt: skip
    if not known:
        return []
    changing = set[str]()
    for s in statements:
        own = with_bodies(s, lambda _: ())
        loads = [e for x in own_exprs(s) for e in walk_expr(x) if isinstance(e, Load)]
        for name in buffers_written(own) | (buffers_used(own) - {e.buffer for e in loads}):
            if name in known and known[name] is not s:
                del known[name]
        for e in loads:
            if e.buffer in known and len(e.index) != len(known[e.buffer].axes):
                del known[e.buffer]
        if isinstance(s, (n.Loop, n.Compact, n.Scanning)):
            changing.add(s.axis)
        if not (isinstance(s, n.Let) and any(s is x for x in program.body)):
            changing |= scalars_set(own)
    again = Counter(s.name for s in statements if isinstance(s, n.Let))
    changing |= {name for name, times in again.items() if times > 1}
    return [
        s for s in known.values() if not (variables_read(s.value) - {a.name for a in s.axes}) & changing
    ]  # fmt: skip


def _is_cheap(value: Expr) -> bool:
    """Whether a value takes few operations, and none that may fail, on elements, subscripts and numbers."""
    count = 0
    for e in walk_expr(value):
        match e:
            case Apply(op):
                count += op != "cast" or e.dtype != e.args[0].dtype
                if op not in _CHEAP or count > _OPERATIONS or e.dtype.startswith("complex"):
                    return False
            case Load(_, index) if any(map(buffers_read, index)):
                return False
            case Reduce():
                return False
            case _:
                pass
    return True


def _dropped(block: tuple[n.Stmt, ...], define: n.Define) -> tuple[n.Stmt, ...]:
    return tuple(
        with_bodies(s, lambda inner: _dropped(inner, define)) for s in block
        if not (isinstance(s, n.Define) and s.buffer == define.buffer)
    )  # fmt: skip


@dataclass(slots=True)
class _Fresh:
    """Finds what may be computed again because what it is made of has not changed."""

    program: n.Program

    def run(self) -> n.Program:
        while (define := self.next(self.program.body)) is not None:
            self.program = _without(self.program, define)
        return self.program

    def next(self, block: tuple[n.Stmt, ...]) -> n.Define | None:
        for k, s in enumerate(block):
            if isinstance(s, n.Define) and self.suits(s, block[k + 1 :]):
                return s
            for inner in bodies(s):
                found = self.next(inner)
                if found is not None:
                    return found
        return None

    def suits(self, s: n.Define, behind: tuple[n.Stmt, ...]) -> bool:
        made = self.program.buffers[s.buffer]
        if made.role != "temporary" or not _is_cheap(s.value):
            return False
        readers = [x for x in walk(self.program.body) if s.buffer in buffers_used(with_bodies(x, lambda _: ()))]
        last = max((k for k, x in enumerate(behind) if any(x is y for y in readers)), default=-1)
        within = behind[: last + 1]
        if not readers or not all(any(x is y for y in within) for x in readers):
            return False
        if any(s.buffer in buffers_written(x) for x in walk(self.program.body) if x is not s):
            return False
        inputs, numbers = buffers_read(s.value), variables_read(s.value)
        given = any(self.program.buffers[name].role == "argument" for name in inputs)
        for x in within:
            written = buffers_written(x)
            if written & inputs or scalars_set(x) & numbers:
                return False
            if given and any(self.program.buffers[name].role == "argument" for name in written):
                return False
        if not all(self.reads_few(x, s) for x in readers):
            return False
        again = sum(self.bytes(s, beside=x) for x in readers) - self.bytes(s)
        return again <= _MEMORY * itemsize(made.dtype)

    def reads_few(self, reader: n.Stmt, s: n.Define) -> bool:
        """Whether a statement reads each element a few times, and nothing but elements."""
        if not isinstance(reader, (n.Define, n.Let, n.Write, n.Filter)):
            return False
        axes = frozenset(a.name for a in getattr(reader, "axes", ()))

        def few(e: Expr, scope: frozenset[str]) -> bool:
            match e:
                case Load(name, index) if name == s.buffer:
                    return len(index) == len(s.axes) and scope == variables_read(Apply("tuple", index, "")) & scope
                case Load(_, args) | Apply(_, args):
                    return all(few(x, scope) for x in args)
                case Reduce(_, inner, body):
                    return few(body, scope | {a.name for a in inner})
                case _:
                    return True

        loaded = {e.buffer for x in own_exprs(reader) for e in walk_expr(x) if isinstance(e, Load)}
        return s.buffer not in buffers_used(reader) - loaded and all(few(e, axes) for e in own_exprs(reader))

    def bytes(self, s: n.Define, beside: n.Stmt | None = None) -> int:
        """What is read for one element: of each array that has as many axes, and that a reader does not read anyway."""
        full = {a.name for a in s.axes}
        read = set[str]() if beside is None else buffers_used(beside)
        loads = {e for e in walk_expr(s.value) if isinstance(e, Load) and e.buffer not in read}
        return sum(itemsize(e.dtype) for e in loads if set[str]().union(*map(variables_read, e.index)) >= full)

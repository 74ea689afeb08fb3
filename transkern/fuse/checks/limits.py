"""Checks of places that are numbers of a few bits are asked of the array's size, once:

    accumulator first by first                              accumulator first by first
    parallel i in 0 .. n:                          to       if not 255 < k:
        first first= not (index(x[i] & 255) < k) at i           parallel i in 0 .. n: …

Look-ups in tables (``table[image]`` of bytes, ``perm[(x + 1) & 255]``, ``np.clip(v, 0, 9)``) nearly always have a table
that is long enough. Of places that are cut at sizes (``np.clip(v, 0, n - 1)`` in an array of `n`) it is asked whether
these are at least one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_read, buffers_written, resolved, variables_read, walk, with_bodies
from transkern.records import replace

_OF_TYPES = {"bool": 1, "uint8": 255, "uint16": 65535}


def ask_sizes_first(program: n.Program) -> n.Program:
    """The program with such questions before searches for places that are outside."""
    if not any(isinstance(s, n.Accumulate) and s.op == "first" for s in walk(program.body)):
        return program
    return replace(program, body=Asking(program).block(program.body))


class Asking:
    """What sizes say of the searches in a program."""

    def __init__(self, program: n.Program) -> None:
        self.names: dict[str, Expr] = {}
        self.elements: dict[str, Expr] = {}  # of arrays whose elements one statement stores, all of them
        self.moving = program.variables.keys() | {s.axis for s in walk(program.body) if isinstance(s, n.Loop)}
        times: Counter[str] = Counter()
        for s in walk(program.body):
            if isinstance(s, n.Let) and s.name not in program.variables:
                self.names[s.name] = s.value
            if not isinstance(s, n.Alloc | n.Loop | n.While | n.If):
                times.update(buffers_written(s))
        for s in program.body:
            nest: list[n.Loop] = []
            while isinstance(s, n.Loop) and s.kind == "parallel":
                nest.append(s)
                stores = [x for x in s.body if isinstance(x, n.Store)]
                for x in stores:
                    made = program.buffers[x.buffer]
                    if made.role == "temporary" and times[x.buffer] == 1 and _fills(nest, x, made.dims):
                        self.elements[x.buffer] = x.value
                s = s.body[0]

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = []
        for s in statements:
            made = self.asked(s)
            out.append(with_bodies(s, self.block) if made is s else made)
        return tuple(out)

    def asked(self, s: n.Stmt) -> n.Stmt:
        """A search behind the question whether sizes leave anything to find; another statement as it is."""
        if not isinstance(s, n.Loop) or s.kind != "parallel":
            return s
        *lets, last = s.body
        if not isinstance(last, n.Accumulate) or last.op != "first" or not all(isinstance(x, n.Let) for x in lets):
            return s
        match last.value:
            case Apply("logical_not", (inside,)):
                asked = [self.of_size(part, s.axis) for part in conjuncts(inside)]
                if None not in asked:
                    start: Expr = b.TRUE
                    holds = reduce(b.both, (x for x in asked if x is not None), start)
                    return n.If(b.logical_not(holds), (s,), (), span=s.span)
        return s

    def of_size(self, part: Expr, axis: str) -> Expr | None:
        """A condition on a size that makes a check hold everywhere; None where there is none."""
        match part:
            case Apply("less", (place, size)) if axis not in variables_read(size) and not buffers_read(size):
                highest = self.highest(place, 8)
                if highest is not None:
                    return b.compare("less", b.index(highest), size)
                clipped = self.clipped(place)
                return None if clipped is None else b.compare("less", clipped, resolved(size, self.names))
            case Apply("greater_equal", (place, size)) if b.is_nonnegative(b.neg(size)):
                if self.highest(place, 8) is not None:
                    return b.TRUE
                clipped = self.clipped(place)
                return None if clipped is None else b.compare("greater_equal", clipped, b.ZERO)
            case _:
                return None

    def clipped(self, e: Expr) -> Expr | None:
        """What a place is at most, that is not negative where this is not: a size or the like, at which it is cut."""
        match resolved(e, self.names):
            case Apply("cast", (x,), "index" | "int64"):
                return self.clipped(x)
            case Load(buffer) if buffer in self.elements:
                return self.clipped(self.elements[buffer])
            case Apply("where", (Apply("greater", (x, bound)), most, other)) if (x, bound) == (other, most):
                pass
            case Apply("where", (Apply("less", (bound, x)), most, other)) if (x, bound) == (other, most):
                pass
            case Apply("minimum", (x, bound)) | Apply("maximum", (Apply("minimum", (x, bound)), Const(0))):
                pass
            case _:
                return None
        at_most = b.as_index(bound)
        if buffers_read(at_most) or variables_read(at_most) & self.moving or not b.is_position(bound):
            return None
        return at_most if (isinstance(e, Apply) and e.op == "maximum") or self.is_cut_below(x) else None

    def is_cut_below(self, e: Expr) -> bool:
        """Whether an integer is zero where it were negative."""
        match e:
            case Apply("where", (Apply("less", (x, Const(0))), Const(0), y)):
                return x == y
            case Apply("maximum", (_, Const(0))) | Apply("maximum", (Const(0), _)):
                return True
            case _:
                return self.highest(e, 8) is not None

    def highest(self, e: Expr, depth: int) -> int | None:
        """The largest value of an integer that is not negative; None where it may be negative, or anything."""
        if not depth:
            return None
        if e.dtype in _OF_TYPES and not isinstance(e, Const):
            known = _OF_TYPES[e.dtype]
        elif e.dtype != "index" and not e.dtype.startswith(("int", "uint")):
            return None
        else:
            known = None
        match e:
            case Const(int() as value):
                return value if value >= 0 else None
            case Apply("cast", (x,)):
                below = self.highest(x, depth - 1)
                return below if below is not None and (below < 128 or e.dtype in ("index", "int64", "int32")) else known
            case Apply("bitwise_and", (x, Const(int() as bits))) | Apply("bitwise_and", (Const(int() as bits), x)):
                return bits if bits >= 0 else known
            case Apply("remainder", (_, Const(int() as by))) if by > 0:
                return by - 1
            case Apply("maximum", (x, y)):
                one, two = self.highest(x, depth - 1), self.highest(y, depth - 1)
                return max(one, two) if one is not None and two is not None else known
            case Apply("where", (_, x, y)):
                one, two = self.highest(x, depth - 1), self.highest(y, depth - 1)
                return max(one, two) if one is not None and two is not None else known
            case Var(name) if name in self.names:
                found = self.highest(self.names[name], depth - 1)
                return known if found is None else found
            case Load(buffer) if buffer in self.elements:
                found = self.highest(self.elements[buffer], depth - 1)
                return known if found is None else found
            case _:
                return known


def _fills(nest: list[n.Loop], s: n.Store, dims: tuple[Expr, ...]) -> bool:
    """Whether a store in loops goes over all elements of an array."""
    over = [(Var(x.axis, "index"), x.start, x.step, x.stop) for x in nest]
    return over == [(i, b.ZERO, b.ONE, d) for i, d in zip(s.index, dims, strict=True)]


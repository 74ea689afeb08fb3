"""Small products of matrices in loops are loops themselves:

    for t in 0 .. n:                               if m * k <= 4096:
        p = library matmul(a, x)                       for t in 0 .. n:
        x[i] = p[i] * w[t, i]          to                  p[i] = sum(a[i, r] * x[r])
                                                           x[i] = p[i] * w[t, i]
                                                   else: …       (as it was)

A call of a library takes as long as some thousand products, its operands have to be in memory, and the loop around it
waits for it on the host. What a size decides is asked once, before the outermost loop that does not change it, of which
there are two versions then; a size that each iteration has for itself is asked in it. Products of integers, for which
there is no BLAS, are loops at any size, and so are those of thin matrices (``points @ rotation``, the normal equations
of a line): a library packs its operands first, which takes longer than to add them up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import prod

from transkern.fuse.lowering.copies import element_of, with_own_names
from transkern.fuse.schedule.turn import GAIN, TERMS
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Expr, Reduce
from transkern.ir.names import Names
from transkern.ir.traverse import (
    alone,
    buffers_allocated,
    buffers_read,
    buffers_written,
    names_in,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_SMALL, _SMALL_OF_A_VECTOR = 4096, 8192
"""Products that loops add up in the time of a call of a library: of two matrices, and of one and a vector."""

_FEW = 16
"""Products for each element along the one long side of a thin matrix."""

_STATEMENTS = 200
"""A loop with more of them is not written twice."""


def loop_products(program: n.Program) -> n.Program:
    """The program with small products of matrices in loops, and those of integers, as array statements."""
    if not any(_is_product(s) for s in walk(program.body)):
        return program
    state = _Products(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


def _is_product(s: n.Stmt) -> bool:
    return isinstance(s, n.Library) and s.name in ("matmul", "dot")


class _Products:
    def __init__(self, program: n.Program) -> None:
        self.names, self.buffers, self.variables = Names.of(program), dict(program.buffers), dict(program.variables)
        self.used = _counted(program.body)
        self.depth = 0  # loops around

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """Statements that stand in no loop of which there are versions."""
        out: list[n.Stmt] = []
        for s in self.with_loops(statements, self.is_loop):
            is_loop = isinstance(s, (n.Loop, n.While))
            made = self.versions(s) if isinstance(s, (n.Loop, n.While)) else self.asked(s)
            self.depth += is_loop
            out += [with_bodies(s, self.block)] if made is None else made
            self.depth -= is_loop
        return tuple(out)

    def asked(self, s: n.Stmt) -> list[n.Stmt] | None:
        """A thin product outside of loops, or one in a loop whose iterations have sizes of their own (batches, of which
        the last is shorter): a sum of one element remains a library's."""
        if not _is_product(s) or not (self.depth or self.is_thin(s)):
            return None
        small = self.is_small(s)
        if small is None or small == b.FALSE or is_complex(self.buffers[s.outs[0]].dtype):  # type: ignore[union-attr]
            return None
        if not self.depth and variables_read(small) & self.variables.keys():
            return None
        loops = self.with_loops([s], lambda _: True)
        return [n.If(small, tuple(loops), (s,), span=s.span)]

    def is_loop(self, s: n.Stmt) -> bool:
        """Whether a product is a loop wherever it stands."""
        if not _is_product(s):
            return False
        small = self.is_small(s)
        # of complex numbers, of which parts are infinite, a library makes other parts NaN
        known = small == b.TRUE and not is_complex(self.buffers[s.outs[0]].dtype)  # type: ignore[union-attr]
        return small is not None and (self.is_exact(s) or known)

    def versions(self, s: n.Loop | n.While) -> list[n.Stmt] | None:
        """A loop twice, where the sizes of products in it tell which of the two is the faster one; once, where it is
        known."""
        inside = list(walk((s,)))
        changed = {*scalars_set(s), *(x.axis for x in inside if isinstance(x, n.Loop))}
        decided: dict[n.Stmt, Expr] = {}
        for x in inside:
            small = self.is_small(x) if _is_product(x) else None
            if small is not None:
                small = b.either(small, self.goes_again(x, s))
            if small is not None and small != b.FALSE and not (variables_read(small) & changed or buffers_read(small)):
                decided[x] = small
        if not decided:
            return None
        condition = reduce(b.both, dict.fromkeys(decided.values()))
        loops = with_bodies(s, lambda block: self.changed(block, decided))
        if condition == b.TRUE:
            return [loops]
        own = {*buffers_allocated(s), *(x.buffer for x in inside if isinstance(x, n.Define))}
        own |= {x.name for x in inside if isinstance(x, (n.Let, n.Accumulator))}
        here = _counted((s,))
        if len(inside) > _STATEMENTS or any(self.used[name] > here[name] for name in own):
            return None
        other = with_own_names(s, self.names, self.variables, self.buffers)
        return [n.If(condition, (loops,), (with_bodies(other, self.block),), span=s.span)]

    def changed(self, statements: Iterable[n.Stmt], decided: dict[n.Stmt, Expr]) -> tuple[n.Stmt, ...]:
        """The statements of a loop with the products of which it is known that they are small, or of integers, as
        array statements; in the others it is asked."""

        def suits(s: n.Stmt) -> bool:
            return s in decided or self.is_exact(s)

        return tuple(with_bodies(s, lambda x: self.changed(x, decided)) for s in self.with_loops(statements, suits))

    def with_loops(self, statements: Iterable[n.Stmt], suits: Callable[[n.Stmt], bool]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Library) and _is_product(s) and suits(s):
                made = as_statement(s, self.buffers, self.names)
                if out and isinstance(out[-1], n.Alloc) and out[-1].buffer == made.buffer:
                    out.pop()
                    out.append(made)
                else:
                    at = tuple(a.var for a in made.axes)
                    out.append(n.Write(made.buffer, made.axes, at, made.value, span=s.span))
            else:
                out.append(s)
        return out

    def is_exact(self, s: n.Stmt) -> bool:
        """Whether a product is one of integers. Of bools NumPy looks for the first truth, which may stand early."""
        return _is_product(s) and self.buffers[s.outs[0]].dtype.startswith(("int", "uint"))  # type: ignore[union-attr]

    def is_small(self, s: n.Stmt) -> Expr | None:
        """The condition under which a product is small; None where it is none of a matrix. A product of one element is
        no sum in BLAS, to which zeros have signs."""
        assert isinstance(s, n.Library)
        views = ((view, self.buffers[name]) for name, view in s.operands if view is not None)
        if any(view.part or len(view.offset) != len(buffer.dims) for view, buffer in views):
            return None
        one, two = (_dims(self.buffers, name, view) for name, view in s.operands)
        if self.buffers[s.outs[0]].dtype == "float16" or max(len(one), len(two)) != 2:
            return None
        inner = one[-1]
        if self.is_thin(s):
            return b.compare("greater", inner, b.ONE)
        count = b.product((*one, *two[1:]))
        most = _SMALL if len(one) == len(two) else _SMALL_OF_A_VECTOR
        at_most = b.compare("less_equal", count, b.index(most))
        return b.both(b.compare("greater", inner, b.ONE), at_most)


    def goes_again(self, s: n.Stmt, outer: n.Loop | n.While) -> Expr:
        """The condition under which a loop multiplies a matrix of few columns by a vector so often that it pays to turn
        the matrix once (`turn_reductions`): a library reads it row by row each time, and is called each time."""
        assert isinstance(s, n.Library)
        matrix, vector = sorted(s.operands, key=lambda x: -len(_dims(self.buffers, *x)))
        info, view = self.buffers[matrix[0]], matrix[1]
        whole = len(info.dims) == 2 and info.layout == "C" and (view is None or view.dims == info.dims[::-1])
        changed = {*buffers_written(outer), *buffers_allocated(outer)}
        changed |= {x.buffer for x in walk((outer,)) if isinstance(x, n.Define)}
        if not whole or len(_dims(self.buffers, *vector)) != 1 or info.name in changed or not isinstance(outer, n.Loop):
            return b.FALSE
        often = b.compare("greater_equal", b.sub(outer.stop, outer.start), b.index(GAIN))
        few = b.compare("less_equal", info.dims[1], b.index(TERMS))
        some = b.compare("greater", _dims(self.buffers, *s.operands[0])[-1], b.ONE)
        return b.both(some, b.both(often, few)) if b.constant(outer.step) == 1 else b.FALSE

    def is_thin(self, s: n.Stmt) -> bool:
        """Whether all sizes of a product but one are a few: it takes as long as to read its operands. (Of complex
        numbers, of which parts are infinite, a library makes other parts NaN.)"""
        assert isinstance(s, n.Library)
        if is_complex(self.buffers[s.outs[0]].dtype):
            return False
        one, two = (_dims(self.buffers, name, view) for name, view in s.operands)
        known = [b.constant(d) for d in (*one, *two[1:])]
        few = [size for size in known if size is not None]
        return len(few) == len(known) - 1 and prod(few) <= _FEW


def as_statement(s: n.Library, buffers: Mapping[str, n.Buffer], names: Names) -> n.Define:
    """A product of matrices, or of one and a vector, as the statement that it means."""
    (one, view), (two, other) = s.operands
    out, rank = buffers[s.outs[0]], len(_dims(buffers, one, view))
    inner = Axis(names.fresh("r"), _dims(buffers, one, view)[-1])
    axes = tuple(Axis(names.fresh(f"{out.name}_{k}"), d) for k, d in enumerate(out.dims))
    rows = axes[: rank - 1]
    left = element_of(buffers[one], view, (*(a.var for a in rows), inner.var))
    right = element_of(buffers[two], other, (inner.var, *(a.var for a in axes[len(rows) :])))
    product = Apply("multiply", (left, right), left.dtype)
    return n.Define(out.name, axes, Reduce("sum", (inner,), product, left.dtype, s.span), span=s.span)


def _dims(buffers: Mapping[str, n.Buffer], name: str, view: n.View | None) -> tuple[Expr, ...]:
    return buffers[name].dims if view is None else view.dims


def _counted(block: Iterable[n.Stmt]) -> Counter[str]:
    """How many statements use each name."""
    return Counter(name for s in walk(block) for name in names_in(alone(s)))

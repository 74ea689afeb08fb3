"""What depends on some of a statement's axes only is computed once for each of their elements:

    r[i, j] = x[i] * cos(y[j])    for i < m, j < n       to       t[j] = cos(y[j])         for j < n
                                                                  r[i, j] = x[i] * t[j]    for i < m, j < n

NumPy computes ``np.cos(y)`` before it stretches it over the rows. As one expression it would be computed in each of
them: an inner loop's values are not the same for all of it, so that no compiler moves them out. What depends on outer
axes alone is left: there compilers do. So it is with a table that an array of more dimensions looks things up in:

    r[i, j] = exp(x[k[i, j]])     for i < m, j < n       to       t[p] = exp(x[p])         for p < len(x)
                                                                  r[i, j] = t[k[i, j]]     for i < m, j < n
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce, Span, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import buffers_read, variables_read, walk_expr, with_bodies
from transkern.records import replace

_WORTH = 4
"""Additions that a value costs at least for which there is memory."""
_KINDS = ("float64", "float32", "int")
_NUMBERS = (*_KINDS, "uint", "bool")
_CHOICES = ("where", "and_then", "or_else")
"""What may leave out an operand, which then must not be looked at."""


def compute_once(program: n.Program) -> n.Program:
    """The program with such values in arrays of their own."""
    state = _Once(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


class _Once:
    def __init__(self, program: n.Program) -> None:
        self.names, self.buffers = Names.of(program), dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Define | n.Write):
                made = _Values(self, s.span)
                s = replace(s, value=made.rewritten(s.value, s.axes, False))
                out += made.before
            elif isinstance(s, n.Filter) and s.inner:  # rows of which few may be kept: NumPy has computed them, too
                made = _Values(self, s.span)
                s = replace(s, values=tuple(made.rewritten(v, (*s.axes, *s.inner), False) for v in s.values))
                out += made.before
            out.append(with_bodies(s, self.block))
        return tuple(out)


class _Values:
    """The values of one statement that get arrays."""

    def __init__(self, state: _Once, span: Span) -> None:
        self.state, self.span = state, span
        self.before: list[n.Stmt] = []
        self.known: dict[tuple[Expr, tuple[Expr, ...]], str] = {}

    def rewritten(self, e: Expr, axes: tuple[Axis, ...], chosen: bool) -> Expr:
        """An expression inside loops over `axes`; `chosen`: it may be left out."""
        match e:
            case Reduce(axes=own, body=body):
                return replace(e, body=self.rewritten(body, (*axes, *own), chosen))
            case Apply(op=op, args=args):
                if not chosen and (found := self.apart(e, axes) or self.looked_up(e, axes)) is not None:
                    return found
                made = tuple(
                    self.rewritten(x, axes, chosen or (op in _CHOICES and k > 0)) for k, x in enumerate(args)
                )
                return e if made == args else b.rebuild(e, made)
            case _:
                return e

    def apart(self, e: Apply, axes: tuple[Axis, ...]) -> Expr | None:
        """What is loaded in place of a value that some of the axes do not change."""
        read = variables_read(e)
        own = tuple(a for a in axes if a.name in read)
        if not own or not _is_in_inner(own, axes) or not e.dtype.startswith(_KINDS) or _cost(e) < _WORTH:
            return None
        if any(isinstance(x, Reduce) for x in walk_expr(e)) or any(variables_read(a.extent) & read for a in own):
            return None
        return Load(self.array(e, own), tuple(a.var for a in own), e.dtype)

    def looked_up(self, e: Apply, axes: tuple[Axis, ...]) -> Expr | None:
        """What is loaded in place of a value of an element that data choose, from a table of fewer dimensions."""
        if not e.dtype.startswith(_NUMBERS) or _cost(e) < _WORTH or any(isinstance(x, Reduce) for x in walk_expr(e)):
            return None
        named = {a.name for a in axes}
        for load in walk_expr(e):
            if not isinstance(load, Load) or (table := self.state.buffers[load.buffer]).is_reserved:
                continue
            for at, dim in zip(load.index, table.dims, strict=False):
                several = sum(b.constant(a.extent) != 1 for a in axes if a.name in variables_read(at)) > 1
                if not several or not buffers_read(at):
                    continue
                own = Axis(self.state.names.fresh("at"), dim)
                value = b.map_expr(e, lambda x, at=at, own=own: own.var if x == at else None)  # type: ignore[misc]
                if not variables_read(value) & named and self.is_there(value, own):
                    return Load(self.array(value, (own,)), (at,), e.dtype)
        return None

    def is_there(self, value: Expr, own: Axis) -> bool:
        """Whether a value looks at elements by an axis as it stands, in arrays that are as long."""
        for x in walk_expr(value):
            if isinstance(x, Load) and any(own.name in variables_read(i) for i in x.index):
                dims = self.state.buffers[x.buffer].dims
                if len(dims) != len(x.index):
                    return False
                pairs = zip(x.index, dims, strict=True)
                if any(own.name in variables_read(i) and (i != own.var or dim != own.extent) for i, dim in pairs):
                    return False
        return True

    def array(self, e: Expr, own: tuple[Axis, ...]) -> str:
        """The array of a value along some axes."""
        key = b.substitute(e, {a.name: Var(f"axis {k}") for k, a in enumerate(own)}), tuple(a.extent for a in own)
        if key not in self.known:
            name = self.known[key] = self.state.names.fresh("part")
            dims = tuple(a.extent for a in own)
            self.state.buffers[name] = n.Buffer(name, e.dtype, dims, line=self.span.line)
            new = tuple(Axis(self.state.names.fresh(a.name), a.extent) for a in own)
            value = b.substitute(e, {a.name: x.var for a, x in zip(own, new, strict=True)})
            self.before.append(n.Define(name, new, value, span=self.span))
        return self.known[key]


def _is_in_inner(own: tuple[Axis, ...], axes: tuple[Axis, ...]) -> bool:
    """Whether `own` are some of the axes, and one that goes over more than an element lies outside of one of them."""
    last = max(axes.index(a) for a in own)
    return any(a not in own and b.constant(a.extent) != 1 for a in axes[:last])


def _cost(e: Expr) -> int:
    return sum(OPS[x.op].cost for x in walk_expr(e) if isinstance(x, Apply) and x.op in OPS and x.dtype != "index")

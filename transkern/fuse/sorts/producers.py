"""What an element of an array is, where an array statement before has made the array: ``w[i, 4]`` of
``w[i, k] = x[i + k]`` is ``x[i + 4]``, also where `w` is read by places in its memory, as ``reshape`` has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.traverse import buffers_read, buffers_written, scalars_set, variables_read, walk_expr


class Made:
    """The array statements in front of a place, whose values would be the same there."""

    def __init__(self, before: Sequence[n.Stmt]) -> None:
        self.defined: dict[str, n.Define] = {}
        for s in before:
            written, set_here = buffers_written(s), scalars_set(s)
            for name, x in [*self.defined.items()]:
                if name in written or buffers_read(x.value) & written or variables_read(x.value) & set_here:
                    del self.defined[name]
            if isinstance(s, n.Define) and s.buffer not in buffers_read(s.value) and _is_copy(s.value):
                self.defined[s.buffer] = s

    def computed(self, e: Expr, rows: Sequence[Var], buffers: Mapping[str, n.Buffer]) -> Expr:
        """An expression in loops over `rows` with the copies that it reads in terms of what they are copies of."""

        def element(x: Expr) -> Expr | None:
            if not isinstance(x, Load) or x.buffer not in self.defined:
                return None
            made, index = self.defined[x.buffer], x.index
            if len(index) != len(made.axes):
                found = _apart(index[0], rows, buffers[x.buffer].dims) if len(index) == 1 else None
                if found is None:
                    return None
                index = found
            named = {axis.name: i for axis, i in zip(made.axes, index, strict=True)}
            return b.map_expr(b.substitute(made.value, named), element)

        return b.map_expr(e, element)


def _is_copy(value: Expr) -> bool:
    """Elements of other arrays, and choices between them by place: nothing is computed twice."""
    parts = [*walk_expr(value)]
    plain = (x for x in parts if isinstance(x, Apply) and x.dtype not in ("index", "bool"))
    return all(x.op == "where" for x in plain) and not any(isinstance(x, Reduce) for x in parts)


def _apart(place: Expr, rows: Sequence[Var], dims: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """The subscripts of a place in C-contiguous memory, `rows` first, then numbers in dims that are known."""
    known = [*dims]
    inner: list[int] = []
    while known and (size := b.constant(known[-1])) is not None:
        inner.insert(0, size)
        known.pop()
    terms, rest = b.affine(place)
    total = 1
    for size in inner:
        total *= size
    if not total or any(factor % total for factor in terms.values()):
        return None
    outer = b.from_affine({x: factor // total for x, factor in terms.items()}, rest // total)
    rest %= total
    found: list[Expr] = []
    for size in reversed(inner):
        found.insert(0, b.index(rest % size))
        rest //= size
    if len(known) != len(rows):
        return None
    # where the loops over the rows run at all, no row is empty
    inhabited = [b.inhabited(d) for d in known]
    alike = any(b.difference(outer, b.ravel(rows, sizes)) == 0 for sizes in (known, inhabited))
    return (*rows, *found) if alike else None

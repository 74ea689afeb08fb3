"""The names of a program: its buffers, its scalars, the axes of its loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from transkern.frontend.values.values import Array
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load, Var


class Saved(NamedTuple):
    """What there was at a place that a translation may go back to."""

    buffers: dict[str, n.Buffer]
    variables: dict[str, str]
    bounds: dict[str, Expr]
    taken: set[str]


class Names:
    """Names that are taken, and what is declared under them."""

    def __init__(self) -> None:
        self.buffers: dict[str, n.Buffer] = {}
        self.variables: dict[str, str] = {}
        self.bounds: dict[str, Expr] = {}
        self.taken: set[str] = set()
        self.lasting: set[str] = set()  # names that stay taken when a loop is translated again
        self.numbered: dict[str, int] = {}  # the last number that each name has got: below it none is free
        self.unsure: set[str] = set()  # scalars that are left out where nothing reads them

    def save(self) -> Saved:
        return Saved(dict(self.buffers), dict(self.variables), dict(self.bounds), set(self.taken))

    def restore(self, saved: Saved) -> None:
        self.buffers, self.variables, self.bounds = dict(saved.buffers), dict(saved.variables), dict(saved.bounds)
        self.taken = saved.taken | self.lasting
        self.numbered = {}

    def fresh(self, base: str) -> str:
        """A name not yet taken, starting with `base`."""
        base = re.sub(r"\W", "_", str(base)) or "t"
        if base not in self.taken and base not in self.buffers:
            self.taken.add(base)
            return base
        count = self.numbered.get(base, 1)
        while f"{base}_{count}" in self.taken or f"{base}_{count}" in self.buffers:
            count += 1
        self.numbered[base] = count
        self.taken.add(f"{base}_{count}")
        return f"{base}_{count}"

    def axis(self, letter: str, extent: Expr) -> Axis:
        """A fresh axis; its doubled letter leaves the single one to the user's own variables."""
        return Axis(self.fresh(letter * 2), extent)

    def axes(self, dims: Sequence[Expr]) -> tuple[Axis, ...]:
        """Fresh axes for the dims of an array."""
        return tuple(self.axis("ijklmpqrs"[d % 9], extent) for d, extent in enumerate(dims))

    def load(self, buffer: str, index: tuple[Expr, ...]) -> Load:
        """An element of `buffer`."""
        return Load(buffer, index, self.buffers[buffer].dtype)

    def whole(self, buffer: n.Buffer, dims: tuple[Expr, ...] | None = None, view: bool = True) -> Array:
        """The array that is all of `buffer`."""
        axes = self.axes(buffer.dims if dims is None else dims)
        return Array(axes, Load(buffer.name, tuple(a.var for a in axes), buffer.dtype), view=view)

    def variable(self, base: str, dtype: str) -> Var:
        """A scalar that will be assigned."""
        name = self.fresh(base)
        self.variables[name] = dtype
        return Var(name, dtype)

    def tentative(self, base: str, dtype: str) -> Var:
        """A scalar that will be assigned, and is left out if nothing reads it."""
        variable = self.variable(base, dtype)
        self.unsure.add(variable.name)
        return variable

    def count(self, base: str, bound: Expr | None) -> Var:
        """A size that is computed at run time and never exceeds `bound`."""
        name = f"{base}.size"
        self.variables[name] = "index"
        if bound is not None:
            self.bounds[name] = bound
        return b.size(name)

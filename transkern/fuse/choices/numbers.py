"""Whether an array has a NaN is asked once where windows over it would ask it of each element again and again:

                                               any NaN := any of isnan(x[e]) for e < n
    parallel i in 0 .. m:                      if not any NaN:
        best := -inf                               parallel i in 0 .. m:
        for k in 0 .. w:              to               best := -inf
            best := maximum(best, x[i + k])            for k in 0 .. w:
        out[i] = best                                      best := number_maximum(best, x[i + k])
                                                       out[i] = best
                                               else: as it was

A maximum of numbers is one instruction, NumPy's is four. Sizes decide whether there is enough to be gained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from transkern.fuse.checks.choices import choose, may_choose
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.states.reading import slides
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_written,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_AGAIN = 4
"""How often each element must be part of a window."""

_STATEMENTS = 20
"""A nest with more of them is not written twice."""

_OF_NUMBERS = {"maximum": ("number_maximum", "less_equal"), "minimum": ("number_minimum", "greater_equal")}


def expect_numbers(program: n.Program) -> n.Program:
    """The program in which extremes over windows are those of numbers where there is no NaN."""
    if program.warns or not any(True for s in walk(program.body) if _update(s) is not None):
        return program
    state = _Expecting(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Expecting:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if not isinstance(s, n.Loop) or s.kind != "parallel":
                out.append(with_bodies(s, self.block))
                continue
            array, work = self.window(s)
            if array and may_choose(out, s, rest):
                odd = Var(self.names.fresh("any_nan"), "bool")
                self.variables[odd.name] = "bool"
                out += self.asked(s, array, work, odd)
                versions = ((self.of_numbers(s, array),), (s,))
                rest = choose(out, (b.logical_not(odd),), versions, rest, self.names, self.variables)
            else:
                out.append(s)
        return tuple(out)

    def window(self, s: n.Loop) -> tuple[str, Expr]:
        """The one array over which windows of a nest slide, and how many elements they have together."""
        if sum(1 for _ in walk((s,))) > _STATEMENTS or any(isinstance(x, (n.Library, n.Guard)) for x in walk((s,))):
            return "", b.ZERO
        arrays: dict[str, Expr] = {}
        for around, x in _updates((s,), ()):
            load = _update(x)
            info = self.buffers[load.buffer] if load is not None else None
            if load is None or info is None or len(load.index) != len(info.dims):
                return "", b.ZERO
            work = b.product(tuple(b.maximum(b.sub(y.stop, y.start), b.ZERO) for y in around))
            moving = {*scalars_set(s), *(y.axis for y in around)}
            axes = [Axis(y.axis, b.sub(y.stop, y.start)) for y in around]
            fixed = not variables_read(work) & moving and all(y.step == b.ONE for y in around)
            if fixed and any(slides(i, axes) for i in load.index):
                arrays.setdefault(load.buffer, work)
        if len(arrays) != 1 or set(arrays) & buffers_written(s):
            return "", b.ZERO
        return next(iter(arrays.items()))

    def asked(self, s: n.Loop, array: str, work: Expr, odd: Var) -> Iterator[n.Stmt]:
        """The search for a NaN, where there is enough to be gained; else there may be one."""
        info = self.buffers[array]
        few = b.compare("less", work, b.mul(b.index(_AGAIN), b.product(info.dims)))
        axes = [Var(self.names.fresh("e")) for _ in info.dims]
        found = Var(self.names.fresh("is_nan"), "bool")
        asked = Apply("isnan", (Load(array, tuple(axes), info.dtype),), "bool")
        search: n.Stmt = n.Accumulate(found.name, "any", asked, span=s.span)
        for axis, extent in reversed(list(zip(axes, info.dims, strict=True))):
            search = n.Loop(axis.name, b.ZERO, extent, b.ONE, "parallel", (search,), span=s.span)
        begin = n.Accumulator(found.name, "any", "bool", span=s.span)
        yield n.Assign(odd.name, few, span=s.span)
        yield n.If(b.logical_not(odd), (begin, search, n.Assign(odd.name, found, span=s.span)), span=s.span)

    def of_numbers(self, s: n.Loop, array: str) -> n.Loop:
        """The nest, where the array has numbers alone."""
        begins = {x.name: _begins_as_number(s, x.name, array) for x in walk((s,)) if isinstance(x, n.Assign)}

        def change(x: n.Stmt) -> n.Stmt:
            load = _update(x)
            if load is None or load.buffer != array or not isinstance(x, n.Assign):
                return with_bodies(x, lambda inner: tuple(map(change, inner)))
            assert isinstance(x.value, Apply)
            return replace(x, value=_of_numbers(x.value, begins[x.name]))

        made = change(s)
        assert isinstance(made, n.Loop)
        private = {x.name for x in walk((s,)) if isinstance(x, n.Assign)}
        return with_own_names(made, self.names, self.variables, self.buffers, private)


def _of_numbers(value: Apply, begins: bool) -> Expr:
    """An extreme of what is a number, and of one that is a number from the beginning, or may be NaN, which stays."""
    op, keeps = _OF_NUMBERS[value.op]
    held, element = value.args
    if begins:
        return replace(value, op=op)
    return b.where(b.compare(keeps, held, element), element, held)


def _begins_as_number(s: n.Loop, name: str, array: str) -> bool:
    """Whether a variable is set to numbers and to elements of the array alone, but for its updates."""
    values = [x.value for x in walk((s,)) if isinstance(x, n.Assign) and x.name == name and _update(x) is None]
    return bool(values) and all(_is_number(v) or (isinstance(v, Load) and v.buffer == array) for v in values)


def _is_number(e: Expr) -> bool:
    return isinstance(e, Const) and isinstance(e.value, int | float) and not math.isnan(e.value)


def _update(s: n.Stmt) -> Load | None:
    """The element by which a statement updates an extreme of floats."""
    match s:
        case n.Assign(name, Apply("maximum" | "minimum", (Var(held), Load() as load), dtype)) if (
            name == held and dtype in ("float32", "float64")
        ):
            return load
        case _:
            return None


def _updates(block: Iterable[n.Stmt], around: tuple[n.Loop, ...]) -> Iterator[tuple[tuple[n.Loop, ...], n.Stmt]]:
    """The updates of extremes in the innermost loops in order, with the loops around them."""
    for s in block:
        if isinstance(s, n.Loop):
            yield from _updates(s.body, (*around, s))
        elif isinstance(s, n.If):
            yield from _updates((*s.then, *s.orelse), around)
        elif around and around[-1].kind == "sequential" and _update(s) is not None:
            yield around, s

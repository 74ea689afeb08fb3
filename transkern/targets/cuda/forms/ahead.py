"""A thread that goes through a loop in order has what its iterations load under way ahead of what follows from it:

    for (i = 0; i < n; ++i)                  for (base = 0; base + 8 <= n; base += 8) {
        y[i] = last = f(last, x[i]);             for (k < 8) term[k] = x[base + k];
                                      to         for (k < 8) y[base + k] = last = f(last, term[k]);
                                             }
                                             …, and what is left one by one

The compiler would not load before it has stored, as far as it knows that memory to be the same. What is loaded is told
by the parts of a sum in order (`folds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.storage import itemsize
from transkern.ir.traverse import exprs
from transkern.targets.clike import ident
from transkern.targets.cuda.forms.folds import Fold
from transkern.targets.cuda.spelling import TYPES

if TYPE_CHECKING:
    from transkern.targets.cuda.body import Body

_SHORT = 8
"""Statements of an iteration, at most, that may stand there many times."""
_BYTES = 128
"""That a thread has under way."""


def is_short(body: Sequence[n.Stmt]) -> bool:
    return len(body) <= _SHORT and not any(isinstance(s, n.If) for s in body)


def is_own(s: n.Scanning) -> bool:
    """Whether what a running total adds up can be loaded before it is stored to what came before."""
    values = [*(x.value for x in s.body if isinstance(x, n.Let)), s.value]
    loads = {e.buffer for v in values for e in exprs((n.Let("", v),)) if isinstance(e, Load)}
    return bool(loads) and s.buffer not in loads and len(values) == len(s.body) + 1 and len(values) <= _SHORT


def _several(
    of: Body, s: n.Loop | n.Scanning, start: str, many: int, first: Callable[[str], None], then: Callable[[str], None],
    rest: Callable[[], None],
) -> None:  # fmt: skip
    """A loop by `many` iterations at a time: what comes `first` of all of them, `then` the others; the `rest` alone."""
    base, k, end = (of.unit.local(name) for name in ("base_ahead", "k", "stop_ahead"))
    i = ident(s.axis)
    of.line(f"const long long {end} = {of.c.expr(s.stop)};")
    of.line(f"long long {base} = {start};")
    of.lines.append("#pragma unroll 1")
    of.open(f"for (; {base} + {many} <= {end}; {base} += {many})")
    for part in (first, then):
        part("")
        of.lines.append("#pragma unroll")
        of.open(f"for (int {k} = 0; {k} < {many}; ++{k})")
        of.line(f"const long long {i} = {base} + {k};")
        part(k)
        of.close()
    of.close()
    of.lines.append("#pragma unroll 1")
    of.open(f"for (long long {i} = {base}; {i} < {end}; ++{i})")
    rest()
    of.close()


def print_ahead(of: Body, s: n.Loop, fold: Fold) -> None:
    """The loop by some iterations at a time, whose terms come first."""
    unit, c = of.unit, of.c
    many = max(2, min(32, _BYTES // sum(max(4, itemsize(v.dtype)) for v, _ in fold.terms)))
    arrays = {v: unit.local(f"ahead{j}") for j, (v, _) in enumerate(fold.terms)}

    def load(k: str) -> None:
        if not k:
            for v, name in arrays.items():
                of.line(f"{TYPES[v.dtype]} {name}[{many}];")
            return
        of.nested(fold.lets)
        for v, e in fold.terms:
            of.line(f"{arrays[v]}[{k}] = {c.expr(e)};")

    def go_on(k: str) -> None:
        if not k:
            return
        for v, name in arrays.items():
            of.line(f"const {TYPES[v.dtype]} {ident(v.name)} = {name}[{k}];")
        of.inside(fold.steps)
        for v, x in fold.stored:
            of.line(f"{c.element(x.buffer, x.index)} = {ident(v.name)};")

    of.open("")  # the names below are its own
    _several(of, s, c.expr(s.start), many, load, go_on, lambda: of.inside(s.body))
    of.close()


def print_scan_ahead(of: Body, s: n.Scanning, go_on: Callable[[str], None]) -> None:
    """A running total by some elements at a time, which are loaded first; `go_on` adds one and stores what it gives."""
    c, name = of.c, of.unit.local("ahead0")
    many = max(2, min(32, _BYTES // max(4, itemsize(s.value.dtype))))

    def load(k: str) -> None:
        if not k:
            of.line(f"{TYPES[s.value.dtype]} {name}[{many}];")
            return
        of.nested(s.body)
        of.line(f"{name}[{k}] = {c.expr(s.value)};")

    def rest() -> None:
        of.nested(s.body)
        go_on(c.expr(s.value))

    of.open("")
    _several(of, s, "0", many, load, lambda k: go_on(f"{name}[{k}]") if k else None, rest)
    of.close()

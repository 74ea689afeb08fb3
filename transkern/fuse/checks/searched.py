"""A search over several axes asks first whether there is anything to be found:

    accumulator first by first                     accumulator some by any
    parallel i in 0 .. n:                          parallel i in 0 .. n: parallel j in 0 .. m: some any= odd(x[i, j])
        parallel j in 0 .. m:             to       accumulator first by first
            first first= odd(x[i, j]) at i * m + j     if some: … the search as it was …

A search keeps its order, element by element; whether any is found takes vectors and threads. Checks of places, which
are such searches, nearly always find nothing. Where a condition depends on two axes by their sum alone, as that of a
place in a window does (``x[i + j]``), each sum is asked for once.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_block, own_exprs, variables_read, walk, with_bodies
from transkern.records import replace


def ask_any_first(program: n.Program) -> n.Program:
    """The program with such a question before each search over several axes."""
    if not any(isinstance(s, n.Accumulate) and s.op == "first" for s in walk(program.body)):
        return program
    names = Names.of(program)

    def block(statements: Sequence[n.Stmt], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            found = None if inside else _searched(s)
            if found is None:
                deeper = inside or isinstance(s, n.Loop | n.While)
                out.append(with_bodies(s, functools.partial(block, inside=deeper)))
                continue
            nest, last = found
            some = names.fresh("some")
            asked = n.Accumulate(some, "any", last.value, span=last.span)
            made = _asking(nest, (*nest[-1].body[:-1], asked), names)
            out += [n.Accumulator(some, "any", "bool", span=s.span), with_own_names(made, names, {}, {})]
            out.append(n.If(Var(some, "bool"), (s,), (), span=s.span))
        return tuple(out)

    return replace(program, body=block(program.body, inside=False))


def _searched(s: n.Stmt) -> tuple[list[n.Loop], n.Accumulate] | None:
    """The loops of a search over two axes or more, which do nothing else, and its question."""
    nest: list[n.Loop] = []
    while isinstance(s, n.Loop) and s.kind == "parallel":
        nest.append(s)
        if len(s.body) != 1:
            break
        s = s.body[0]
    if len(nest) < 2 or not nest[-1].body:
        return None
    *lets, last = nest[-1].body
    if not all(isinstance(x, n.Let) for x in lets) or not isinstance(last, n.Accumulate) or last.op != "first":
        return None
    return nest, last


def _asking(nest: Sequence[n.Loop], body: tuple[n.Stmt, ...], names: Names) -> n.Loop:
    """The loops around a body, or one: two whose axes only matter by their sum are one over all sums, of which there
    are none where either has none."""
    one, two = nest[-2:]
    begin = len(nest) == 2 and all((x.start, x.step) == (b.ZERO, b.ONE) for x in nest)
    if begin and one.axis not in variables_read(two.stop):
        total = Var(names.fresh("total"), "index")
        rest = b.sub(total, Var(one.axis, "index"))
        changed = map_block(body, lambda e: rest if e == Var(two.axis, "index") else None)
        if not any(one.axis in variables_read(own) for x in changed for own in own_exprs(x)):
            some = b.both(b.compare("greater", one.stop, b.ZERO), b.compare("greater", two.stop, b.ZERO))
            sums = b.where(some, b.sub(b.add(one.stop, two.stop), b.ONE), b.ZERO)
            return replace(one, axis=total.name, stop=sums, body=changed, spare=None)
    for loop in reversed(nest):
        body = (replace(loop, body=body),)
    (made,) = body
    assert isinstance(made, n.Loop)
    return made

"""Parallel loops over a group of threads: each takes elements, or all search until one has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import (
    buffers_read,
    variables_read,
    walk,
)  # fmt: skip
from transkern.targets.clike import ident
from transkern.targets.cuda.barriers import Spread, within
from transkern.targets.cuda.body import has_guards
from transkern.targets.cuda.forms.tiles import print_held
from transkern.targets.cuda.nests import nest

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody


def print_search(of: GroupBody, s: n.Loop, found: n.Accumulate) -> None:
    """The first or last position where something holds: stops there."""
    of.unit.pieces.add("search")
    accesses = within(s.body, of.program.buffers, of.written, Spread((s.axis,), moving=of.moving))
    of.touch(accesses | of.reads(s.start, s.stop))
    held = of.held[found.name]
    target = f"const {held.how.type} {held.name}" if held.late else held.name
    c, i = of.c, ident(s.axis)
    call = f"{found.op}_of({of.group}, {c.expr(s.start)}, {c.expr(s.stop)}, [&](const long long {i})"
    lets = [x for x in s.body if x is not found]
    if not lets:
        of.line(f"{target} = {call} {{ return {c.expr(found.value)}; }});")
    else:
        of.open(f"{target} = {call}")
        inner = of.thread_body()
        inner.nested(lets)
        of.take(inner)
        of.line(f"return {c.expr(found.value)};")
        of.close("});")
    of.met()


def print_elements(of: GroupBody, s: n.Loop) -> None:
    """The iterations of a nest, over the threads."""
    axes, inner = nest(s)
    outer = accumulated(inner)
    parts = start_parts(of, outer, s)
    guarded = has_guards(s)
    single = len(axes) == 1
    aligned = single and s.step == b.ONE
    low = s.start if aligned else None
    names = tuple(a.axis for a in axes)
    spread = Spread(names, ranges(of, axes), aligned=aligned, start=low, moving=of.moving)
    bounds = of.reads(*(e for a in axes for e in (a.start, a.stop)))
    of.touch(within(inner, of.program.buffers, of.written, spread) | bounds)
    if guarded:
        of.expect_failures()
    of.source(s)
    order: Expr
    if aligned:
        start = (
            f"{of.group}.start({of.c.expr(s.start)})" if b.constant(s.start) != 0 else f"{of.group}.rank()"
        )
        i = ident(s.axis)
        if of.tile is not None and of.tile.of(s) is not None:
            print_held(of, of.tile, s)
            end_parts(of, parts)
            return
        if outer and all(isinstance(x, (n.Let, n.Accumulate)) for x in inner):
            of.lines.append("#pragma unroll 4")  # so many loads at the same time
        of.open(f"for (long long {i} = {start}; {i} < {of.c.operand(s.stop)}; {i} += {of.group}.size())")
        order = Var(s.axis, "index")
    else:
        order = of.open_nest(axes, f"{of.group}.rank()", f"{of.group}.size()")
    body = of.thread_body(order)
    body.loops = 1
    body.nested(inner)
    of.take(body)
    of.close()
    if guarded:
        of.stop_if_failed()
    end_parts(of, parts)


def ranges(of: GroupBody, axes: Sequence[n.Loop]) -> tuple[tuple[Expr, Expr, Expr], ...] | None:
    """The ranges of a nest, where the kernel does not change them: a thread then has the same points again."""
    found = tuple((a.start, a.stop, a.step) for a in axes)
    moves = any(variables_read(e) & of.moving or buffers_read(e) for r in found for e in r)
    return None if moves else found


def accumulated(statements: Sequence[n.Stmt]) -> list[str]:
    declared = {x.name for x in walk(statements) if isinstance(x, n.Accumulator)}
    used = [x.name for x in walk(statements) if isinstance(x, n.Accumulate)]
    return [name for name in dict.fromkeys(used) if name not in declared]


def start_parts(of: GroupBody, names: Sequence[str], s: n.Loop) -> list[tuple[str, str, bool]]:
    """Each thread combines into a part of its own: the accumulator itself, where nothing else goes into it.

    What is a larger group's stays in parts: that group puts them together.
    """
    parts = []
    for name in names:
        if not any(name in scope for scope in of.scopes):
            continue
        held = of.held[name]
        direct = held.statements == 1 and name in of.scopes[-1]
        whole = held.name
        if not direct:
            held.name = f"{whole}_part"
            of.line(f"{held.how.type} {held.name} = {held.how.functor}::start();")
        parts.append((name, whole, direct))
    return parts


def end_parts(of: GroupBody, parts: Sequence[tuple[str, str, bool]]) -> None:
    for name, whole, direct in parts:
        held = of.held[name]
        part = held.name
        of.unit.pieces.add("reduce")
        combined = f"{of.group}.reduce({part}, {held.how.functor}())"
        if held.node.op in ("any", "all"):
            combined = f"{of.group}.{held.node.op}({part})"
        of.line(f"{whole} = {combined if direct else f'{held.how.functor}()({whole}, {combined})'};")
        held.name = whole
        of.met()

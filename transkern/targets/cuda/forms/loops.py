"""Parallel loops over a group of threads: each takes elements, or all search until one has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_written,
    exprs,
    walk,
)  # fmt: skip
from transkern.records import replace
from transkern.targets.clike import ident
from transkern.targets.cuda.barriers import Spread, within
from transkern.targets.cuda.body import extent_of, has_guards, variable_at
from transkern.targets.cuda.forms.odometer import begin, close_to, comes_back, keep_rolled, open_points, ranges
from transkern.targets.cuda.forms.tiles import print_held
from transkern.targets.cuda.nests import nest
from transkern.targets.cuda.spelling import TYPES

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_SHORT = 2
"""Statements of a reduction that may stand there many times."""


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
    depth = of.depth
    if aligned:
        start = (
            f"{of.group}.start({of.c.expr(s.start)})" if b.constant(s.start) != 0 else f"{of.group}.rank()"
        )
        i = ident(s.axis)
        if of.tile is not None and of.tile.of(s) is not None:
            print_held(of, of.tile, s)
            end_parts(of, parts)
            return
        order = Var(s.axis, "index")
        if outer and all(isinstance(x, (n.Let, n.Accumulate)) for x in inner):
            print_sums(of, s, inner, start, f"{of.group}.size()", under_way(inner))
            end_parts(of, parts)
            return
        keep_rolled(of, inner)
        of.open(f"for (long long {i} = {start}; {i} < {of.c.operand(s.stop)}; {i} += {of.group}.size())")
    else:
        if outer and len(axes) > 1 and all(isinstance(x, (n.Let, n.Accumulate)) for x in inner):
            print_reduction(of, axes, inner)
            end_parts(of, parts)
            return
        order = open_points(of, axes, f"{of.group}.rank()", f"{of.group}.size()", inner)
    body = of.thread_body(order)
    body.loops = 1
    body.nested(inner)
    of.take(body)
    close_to(of, depth)
    if guarded:
        of.stop_if_failed()
    end_parts(of, parts)


def under_way(inner: Sequence[n.Stmt]) -> list[int]:
    """How many points of a reduction a thread goes through at a time, so that their loads are under way together, as
    long as so many are left: 64 bytes or so where a point has few loads, of which a text is short."""
    loads = {e for e in exprs(inner) if isinstance(e, Load)}
    return [16, 4] if len(loads) == 1 and len(inner) <= _SHORT else [4]


def print_sums(
    of: GroupBody, s: n.Loop, inner: Sequence[n.Stmt], start: str, size: str, many: Sequence[int]
) -> None:  # fmt: skip
    """A reduction over an axis, from `start` by `size`, `many` points at a time."""
    i, one, stop = ident(s.axis), of.unit.local("point"), of.c.operand(s.stop)
    if len(many) == 1:
        of.lines.append(f"#pragma unroll {many[0]}")  # so many loads at the same time
        of.open(f"for (long long {i} = {start}; {i} < {stop}; {i} += {size})")
        _print(of, Var(s.axis, "index"), inner)
        of.close()
        return
    of.open("")  # the names below are its own
    of.open(f"const auto {one} = [&](const long long {i})")
    _print(of, Var(s.axis, "index"), inner)
    of.close("};")
    of.line(f"long long {i} = {start};")
    k = of.unit.local("k")
    for count in many:
        of.lines.append("#pragma unroll 1")
        of.line(f"for (; {i} + {count - 1} * {size} < {stop}; {i} += {count} * {size})")
        of.lines.append("#pragma unroll")
        of.line(f"    for (int {k} = 0; {k} < {count}; ++{k}) {one}({i} + {k} * {size});")
    of.lines.append("#pragma unroll 1")
    of.line(f"for (; {i} < {stop}; {i} += {size}) {one}({i});")
    of.close()


def counts_alone(inner: Sequence[n.Stmt]) -> bool:
    """Whether points do nothing but to store, with checks, all of it perhaps under a condition."""
    return all(isinstance(x, (n.Let, n.Store, n.Guard)) for x in _asked(inner)[1])


def _asked(inner: Sequence[n.Stmt]) -> tuple[n.If | None, Sequence[n.Stmt]]:
    """The condition under which points do what they do, where there is one, and what that is."""
    match tuple(inner):
        case (n.If(_, then, ()) as around,):
            return around, then
        case _:
            return None, inner


def print_counts(
    of: GroupBody, s: n.Loop, inner: Sequence[n.Stmt], bins: Mapping[str, tuple[str, str]], start: str, size: str,
    many: int,
) -> None:  # fmt: skip
    """Counts of what the points of an axis say, from `start` by `size`: what `many` points load first is under way
    before any of them asks whether it may be counted."""
    i, one, k, c = ident(s.axis), of.unit.local("point"), of.unit.local("k"), of.c
    place = Var(s.axis, "index")
    around, inner = _asked(inner)
    written = frozenset[str]().union(*map(buffers_written, inner))
    loads: list[tuple[n.Let, Load]] = []
    for x in takewhile(lambda x: isinstance(x, n.Let), inner):
        match x:
            case n.Let(value=Load(buffer, (at,)) as load) if (
                at == place and buffer not in written and of.program.buffers[buffer].dims == (s.stop,)
            ):
                loads.append((x, load))
            case _:
                pass
    of.open("")  # the names below are its own
    given = [f"const {TYPES[load.dtype]} {ident(x.name)}" for x, load in loads]
    of.open(f"const auto {one} = [&]({', '.join([f'const long long {i}', *given])})")
    body = of.thread_body(place)
    body.loops, body.bins, body.leaving = 1, bins, "return;"
    rest = tuple(x for x in inner if not any(x is y for y, _ in loads))
    body.nested(rest if around is None else (replace(around, then=rest),))
    of.take(body)
    of.close("};")
    here = b.add(place, b.mul(Var(k, "index"), b.size(size)))
    each, stop = f"for (int {k} = 0; {k} < {many}; ++{k})", c.operand(s.stop)
    of.line(f"long long {i} = {start};")
    of.lines.append("#pragma unroll 1")
    of.open(f"for (; {i} + {many - 1} * {size} < {stop}; {i} += {many} * {size})")
    taken = [c.expr(here)]
    for x, load in loads:
        array = f"{ident(x.name)}_next"
        taken.append(f"{array}[{k}]")
        of.line(f"{TYPES[load.dtype]} {array}[{many}];")
        of.lines.append("#pragma unroll")
        of.line(f"{each} {array}[{k}] = {c.expr(Load(load.buffer, (here,), load.dtype))};")
    of.lines.append("#pragma unroll")
    of.line(f"{each} {one}({', '.join(taken)});")
    of.close()
    of.lines.append("#pragma unroll 1")
    of.line(f"for (; {i} < {stop}; {i} += {size}) {one}({', '.join([i, *(c.expr(load) for _, load in loads)])});")
    of.close()


def _print(of: GroupBody, order: Expr, inner: Sequence[n.Stmt]) -> None:
    body = of.thread_body(order)
    body.loops = 1
    body.nested(inner)
    of.take(body)


def print_reduction(of: GroupBody, axes: Sequence[n.Loop], inner: Sequence[n.Stmt]) -> None:
    """A reduction over several axes, with several loads under way."""
    unit, c = of.unit, of.c
    at, rank, size = unit.local("point"), f"{of.group}.rank()", f"{of.group}.size()"
    places = [unit.local(f"place_{k}") for k in range(len(axes))]
    of.open("")  # the names below are its own
    turns = begin(of, axes, rank, size, comes_back(of, axes))
    started = (f"{place} = {first}" for place, first in zip(places, turns.first, strict=True))
    of.line(f"long long {', '.join(started)};")
    total = c.operand(b.product(tuple(map(extent_of, axes))))
    one, turn = unit.local("one"), unit.local("k")
    of.line(f"long long {at} = {rank};")
    of.open(f"const auto {one} = [&]()")
    for a, place in zip(axes, places, strict=True):
        of.line(variable_at(unit, a, Var(place, "index")))
    _print(of, Var(at, "index"), inner)
    of.line(f"{at} += {size}, {turns.go_on(places)};")
    of.close("};")
    for count in under_way(inner):  # a loop that is left amid its copies would wait for each load
        of.lines.append("#pragma unroll 1")
        of.line(f"while ({at} + {count - 1} * {size} < {total})")
        of.lines.append("#pragma unroll")
        of.line(f"    for (int {turn} = 0; {turn} < {count}; ++{turn}) {one}();")
    of.lines.append("#pragma unroll 1")
    of.line(f"while ({at} < {total}) {one}();")
    of.close()


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

"""Arrays that one mask makes shorter step by step are read through positions, and only these get fewer:

    while order.size > 0:                               rest[p] = p  for all p
        …                                               while rest.size > 0:
        compact boxes_2 over k: boxes[k + 1] if c[k]        …
        compact order_2 over k: order[k + 1] if c[k]        compact rest over k: rest[k + 1] if c[k]
        boxes = boxes_2, order = order_2             to     (boxes[rest[k]] where boxes[k] was, as of order)

All of them have one length at each step, as they begin with one and lose the same elements. Where `mask_shrinking` then
keeps the positions that are left as a mask, the array of positions never changes, and is what it begins with
(`forward_positions`): nothing is gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    alone,
    bodies,
    buffers_read,
    buffers_written,
    exprs,
    is_in_order,
    map_block,
    names_in,
    own_exprs,
    result_buffers,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def shrink_together(program: n.Program) -> n.Program:
    """The program with one array of positions for the arrays that a loop makes shorter together."""
    if not any(isinstance(s, n.Compact) for s in walk(program.body)):
        return program
    state = _Joining(program)
    body = state.block(program.body)
    return replace(
        program, body=body, buffers=state.buffers, variables=state.variables, bounds=state.bounds
    )


@dataclass(frozen=True, slots=True)
class _Shorter:
    """An array that a step makes shorter: by which statement, from which position on."""

    array: str
    compact: n.Compact
    offset: int


@dataclass(frozen=True, slots=True)
class _Region:
    """The statements of a step, from `begin` up to `end`, that make arrays shorter, and the lengths that they hold."""

    begin: int
    end: int
    group: list[_Shorter]
    lets: list[n.Let]
    guards: list[n.Guard]


class _Joining:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables, self.bounds = dict(program.buffers), dict(program.variables), dict(program.bounds)

    def block(self, body: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for k, s in enumerate(body):
            if isinstance(s, (n.While, n.Loop)) and is_in_order(s) and any(isinstance(x, n.Compact) for x in s.body):
                made = self.joined(s, out, body[k + 1 :])
                if made is not None:
                    out += made
                    continue
            out.append(with_bodies(s, self.block))
        return tuple(out)

    def joined(self, s: n.While | n.Loop, before: Sequence[n.Stmt], behind: Sequence[n.Stmt]) -> list[n.Stmt] | None:
        given, s = s, replace(s, body=_one_by_one(s.body))
        region = _region(s.body)
        if region is None:
            return None
        begin, end, group = region.begin, region.end, region.group
        arrays = {one.array for one in group}
        sizes = {f"{x}.size" for x in arrays}
        extent = self.extent(sizes, before)
        if extent is None or not self.is_own(arrays, sizes, given, before) or any(
            (arrays | sizes) & names_in(x) for x in behind
        ):
            return None
        inner = (*s.body[:begin], *s.body[end:])
        if any(arrays & set(buffers_written(x)) or sizes & set(scalars_set(x)) for x in inner):
            return None
        if any(isinstance(x, (n.Library, n.Return)) and arrays & names_in(x) for x in walk(inner)):
            return None  # these take them as they are in memory
        made = {one.compact.outputs[0] for one in group} - arrays
        made |= {one.compact.count for one in group} - sizes
        if any(made & names_in(x) for x in inner if not isinstance(x, n.Alloc)):
            return None
        if len(group) == 1 and group[0].compact.outputs[0] in arrays and not group[0].compact.inner:
            return None  # as it should be
        first = group[0]
        rest = self.names.fresh("rest")
        size = b.size(f"{rest}.size")

        def change(e: Expr) -> Expr | None:
            match e:
                case Load(buffer, (at, *others), dtype) if buffer in arrays:
                    place = Load(rest, (b.map_expr(at, change),), "int64")
                    return Load(buffer, (b.as_index(place), *(b.map_expr(i, change) for i in others)), dtype)
                case Var(name) if name in sizes or name in held:
                    return size
                case _:
                    return None

        held: set[str] = {x.name for x in region.lets}  # within the region

        # each of them keeps the same elements
        kept = {self.kept(one, change) for one in group}
        if len(kept) != 1:
            return None
        k = Var(first.compact.axis)
        (block,) = map_block((replace(first.compact, inner=()),), change)
        if any(b.map_expr(x.condition, change) != b.TRUE for x in region.guards):
            return None
        held.clear()
        assert isinstance(block, n.Compact)
        value = Load(rest, (b.add(k, b.index(first.offset)),), "int64")
        made_before = self.held(block, rest, size)
        if made_before is None or any(not isinstance(x.value, Var) or x.value.name not in sizes for x in region.lets):
            return None
        lets, block = made_before
        compact = replace(block, outputs=(rest,), count=size.name, values=(value,))
        lengths = map_block(tuple(region.lets), change)
        body = (*map_block(s.body[:begin], change), *lengths, *lets, compact, *map_block(s.body[end:], change))
        (loop,) = map_block((replace(s, body=()),), change)
        assert isinstance(loop, (n.While, n.Loop))
        dim = self.buffers[first.array].dims[0]
        self.buffers = {
            name: replace(x, dims=tuple(b.map_expr(d, change) for d in x.dims)) for name, x in self.buffers.items()
        }
        self.buffers[rest] = n.Buffer(rest, "int64", (dim,), low=b.ZERO, high=dim, line=s.span.line)
        self.variables[size.name] = "index"
        self.bounds = {name: x for name, x in self.bounds.items() if name not in made | sizes}
        self.bounds[size.name] = dim
        p = self.names.fresh("p")
        fill = n.Store(rest, (Var(p),), b.cast(Var(p), "int64"), span=s.span)
        return [
            n.Alloc(rest, span=s.span),
            n.Loop(p, b.ZERO, extent, b.ONE, "parallel", (fill,), span=s.span),
            n.Assign(size.name, extent, span=s.span),
            replace(loop, body=self.block(body)),
        ]

    def held(self, compact: n.Compact, rest: str, size: Expr) -> tuple[list[n.Let], n.Compact] | None:
        """A compaction of `rest` in place, with what its mask reads of it at one place for all elements held before it:
        what is kept goes where that was. None where the mask reads what stands before an element."""
        lets: dict[Expr, n.Let] = {}
        for e in exprs((compact,)):
            if not isinstance(e, Load) or e.buffer != rest:
                continue
            terms, offset = b.affine(e.index[0])
            if compact.axis not in variables_read(e.index[0]):
                inside = b.both(b.compare("less_equal", b.ZERO, e.index[0]), b.compare("less", e.index[0], size))
                value = b.where(inside, e, Const(0, e.dtype))
                lets.setdefault(e, n.Let(self.names.fresh("kept"), value, span=compact.span))
            elif terms != {Var(compact.axis): 1} or offset < 0:
                return None
        bound = {x.name for x in walk(compact.body) if isinstance(x, n.Let)}
        if any(variables_read(e) & bound for e in lets):
            return None
        (made,) = map_block((compact,), lambda e: Var(lets[e].name, e.dtype) if e in lets else None)
        assert isinstance(made, n.Compact)
        return list(lets.values()), made

    def kept(self, one: _Shorter, change: Callable[[Expr], Expr | None]) -> tuple[object, ...]:
        """What a compaction keeps, in names that all of a group have."""
        k = Var(one.compact.axis)
        alike = replace(one.compact, outputs=(), count="", values=(), inner=(), axis="")
        made = map_block(map_block((alike,), change), lambda e: Var("", "index") if e == k else None)
        return made, one.offset

    def extent(self, sizes: set[str], before: Sequence[n.Stmt]) -> Expr | None:
        """The length that all arrays begin with."""
        found: dict[str, Expr] = {}
        changed: set[str] = set()
        for s in reversed(before):
            if isinstance(s, n.Assign) and s.name in sizes and s.name not in found:
                if variables_read(s.value) & (changed | sizes) or buffers_read(s.value):
                    return None
                found[s.name] = s.value
            changed |= set(scalars_set(s))
            if len(found) == len(sizes):
                break
        values = set(found.values())
        return values.pop() if found.keys() == sizes and len(values) == 1 else None

    def is_own(self, arrays: set[str], sizes: set[str], s: n.Stmt, before: Sequence[n.Stmt]) -> bool:
        """Whether nobody else in the program has the arrays and their lengths: they are made anew in front."""
        made = {x.buffer for x in before if isinstance(x, n.Alloc)}
        everywhere = sum(bool((arrays | sizes) & _names_here(x)) for x in walk(self.program.body))
        here = sum(bool((arrays | sizes) & _names_here(x)) for x in walk((*before, s)))
        return arrays <= made and here == everywhere


def _one_by_one(body: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The statements of a step with a compaction of its own, which counts its own length, for each array."""
    assigned = [(s.name, s.value) for s in body if isinstance(s, n.Assign)]
    made: list[n.Stmt] = []
    counted: set[str] = set()
    for s in body:
        if isinstance(s, n.Compact) and not s.append and len(s.outputs) > 1:
            sizes = [f"{out}.size" for out in s.outputs]
            others = {*sizes} - {s.count}
            lengths = [value for name, value in assigned if name in others]
            if s.count in sizes and lengths == [Var(s.count, "index")] * len(others):
                pairs = zip(s.outputs, s.values, strict=True)
                made += [replace(s, outputs=(out,), values=(v,), count=f"{out}.size") for out, v in pairs]
                counted |= others
                continue
        if not (isinstance(s, n.Assign) and s.name in counted):
            made.append(s)
    return tuple(made)


def _region(body: Sequence[n.Stmt]) -> _Region | None:
    """The statements of a step, side by side, that make arrays shorter: in place, or put aside and copied back."""
    compacts: dict[str, n.Compact] = {}
    copied: dict[str, str] = {}
    sized: dict[str, str] = {}
    lets: list[n.Let] = []  # lengths that are held meanwhile
    guards: list[n.Guard] = []  # that lengths are equal
    places: list[int] = []
    shorter: set[str] = set()  # what is no longer what it was
    for k, s in enumerate(body):
        match s:
            case n.Compact((out,), count, values=(Load(array),), append=False) if count == f"{out}.size":
                if shorter & {x for e in own_exprs(s) for x in variables_read(e) | buffers_read(e)} or shorter & {
                    x for y in s.body for x in names_in(y)
                }:
                    return None  # it looks at what is left already
                compacts[out] = s
                if out == array:
                    shorter |= {out, count}
            case n.Loop(kind="parallel") if (copy := _copy(s)) is not None and copy[1] in compacts:
                copied[copy[1]] = copy[0]
                shorter.add(copy[0])
            case n.Assign(name, Var(value)) if value.removesuffix(".size") in compacts and name.endswith(".size"):
                sized[value.removesuffix(".size")] = name.removesuffix(".size")
                shorter.add(name)
            case n.Let(_, Var(value)) if places or _goes_on(body, k):
                if value in shorter:
                    return None
                lets.append(s)
            case n.Guard(condition) if places and not shorter & (variables_read(condition) | buffers_read(condition)):
                guards.append(s)
                continue
            case n.Alloc():
                continue
            case _:
                if places:
                    break
                continue
        places.append(k)
    group = [one for out, c in compacts.items() if (one := _shorter(out, c, copied, sized)) is not None]
    if not group or len(group) != len(compacts) or len({one.array for one in group}) != len(group):
        return None
    inside = body[places[0] : places[-1]]
    return _Region(places[0], places[-1] + 1, group, lets, [x for x in guards if any(x is y for y in inside)])


def _goes_on(body: Sequence[n.Stmt], k: int) -> bool:
    """Whether nothing but lengths and memory stand between a statement and the one that makes an array shorter."""
    behind = next((x for x in body[k:] if not isinstance(x, (n.Let, n.Alloc))), None)
    return isinstance(behind, n.Compact)


def _shorter(out: str, c: n.Compact, copied: dict[str, str], sized: dict[str, str]) -> _Shorter | None:
    (value,) = c.values
    assert isinstance(value, Load)
    array, at = value.buffer, value.index[0] if value.index else b.ZERO
    offset = b.difference(at, Var(c.axis))
    whole = value.index[1:] == tuple(a.var for a in c.inner)
    if offset is None or not whole or c.start != b.ZERO:
        return None
    in_place = out == array and out not in copied and out not in sized
    return _Shorter(array, c, offset) if in_place or (copied.get(out) == array == sized.get(out)) else None


def _copy(s: n.Loop) -> tuple[str, str] | None:
    """The arrays of a nest that copies one into another, element by element: that one, and the one it is read from."""
    axes: list[Expr] = []
    inner: n.Stmt = s
    while isinstance(inner, n.Loop) and inner.kind == "parallel" and inner.start == b.ZERO and inner.step == b.ONE:
        axes.append(Var(inner.axis))
        if len(inner.body) != 1:
            return None
        inner = inner.body[0]
    match inner:
        case n.Store(buffer, index, Load(source, other)) if index == other == tuple(axes):
            return buffer, source
        case _:
            return None


def _names_here(s: n.Stmt) -> frozenset[str]:
    """What a statement has itself, without those inside it."""
    return names_in(alone(s))


def forward_positions(program: n.Program) -> n.Program:
    """The program without arrays that hold the positions of their own elements, and that nobody changes."""
    stores: dict[str, list[n.Store | None]] = {}

    def look(block: Sequence[n.Stmt], axis: str) -> None:
        for s in block:
            if isinstance(s, n.Store):
                own = s.index == (Var(axis),) and s.value == b.cast(Var(axis), "int64")
                stores.setdefault(s.buffer, []).append(s if own else None)
            else:
                others = set(buffers_written(replace(s, body=()) if isinstance(s, n.Loop) else s)) if _moves(s) else ()
                for name in others:
                    stores.setdefault(name, []).append(None)
            around = s.axis if isinstance(s, n.Loop) and s.kind == "parallel" and s.step == b.ONE else ""
            for inner in bodies(s):
                look(inner, around)

    look(program.body, "")
    handed = {x for s in walk(program.body) if isinstance(s, n.Return) for x in result_buffers(s.result)}
    handed |= {x for s in walk(program.body) if isinstance(s, n.Library) for x in (*s.ins, *s.outs)}
    known = {
        name for name, found in stores.items()
        if len(found) == 1 and found[0] is not None and program.buffers[name].role == "temporary"
        and name not in handed and program.buffers[name].dtype == "int64"
    }  # fmt: skip
    if not known:
        return program

    def change(e: Expr) -> Expr | None:
        match e:
            case Apply("cast", (Load(buffer, (at,)),), "index") if buffer in known:
                return b.map_expr(at, change)
            case Load(buffer, (at,), dtype) if buffer in known:
                return b.cast(b.map_expr(at, change), dtype)
            case _:
                return None

    return replace(program, body=map_block(program.body, change))


def _moves(s: n.Stmt) -> bool:
    return isinstance(s, (n.Compact, n.Scanning, n.Library))


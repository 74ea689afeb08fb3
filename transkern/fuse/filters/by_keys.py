"""Counts of what has each of several keys are made in one pass (a histogram), not in a pass for each key:

    parallel a in 0 .. k:                                counts = 0
        accumulator total by sum                         for j in 0 .. n:
        parallel j in 0 .. n:                    to          if 0 <= s[j] < k: counts[s[j]] += 1
            total sum= int64(s[j] == a)                  parallel a in 0 .. k:
        out[a] = f(total)                                    out[a] = f(counts[a])

(`np.array([np.sum(labels == c) for c in range(k)])`, matrices of confusion, of transitions). The condition is one
equality for each of the loops around, with a key that none of them changes, and whatever else none of them changes;
an interval of one (`(x >= a) & (x < a + 1)`, a histogram) is an equality, too ([intervals](intervals.py)).
Integers may be added up so, too: in any order they come to the same. A pass for each of a few keys has vectors, and is
left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from transkern.fuse.checks.choices import choose, may_choose
from transkern.fuse.filters.intervals import Interval, is_integer, with_intervals
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    alone,
    buffers_allocated,
    buffers_read,
    buffers_used,
    buffers_written,
    map_block,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_KEYS = 12
"""So many keys, and more, are counted in one pass: fewer in a pass for each, in vectors."""

_TOGETHER = 1024
"""So many keys are made before they are counted: they stay in the first cache."""

_AND = ("logical_and", "and_then", "bitwise_and")


def count_by_keys(program: n.Program) -> n.Program:
    """The program with such counts in one pass where there are many keys."""
    if not any(isinstance(s, n.Accumulate) and s.op in ("sum", "count") for s in walk(program.body)):
        return program
    state = _Counting(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Sum:
    """What an accumulator adds up: `value` of the iterations of `loops` in which all `asked` hold, one after the other:
    an axis around is equal to a key, or (without an axis) a condition holds. It is so if what is `assumed` is true.
    Keys made of `floats` may be computed of all elements."""

    name: str
    dtype: str
    loops: tuple[n.Loop, ...]
    asked: tuple[tuple[str, Expr], ...]
    value: Expr
    assumed: Expr
    floats: tuple[Expr, ...]

    @property
    def keys(self) -> list[Expr]:
        return [e for axis, e in self.asked if axis]


class _Counting:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            nest = _nest(s)
            sums = _sums(nest) if nest else []
            if not sums:
                out.append(with_bodies(s, self.block))
                continue
            extents = [b.sub(x.stop, x.start) for x in nest]
            many = b.compare("greater_equal", b.product(tuple(extents)), b.index(_KEYS))
            for x in sums:
                many = b.both(many, x.assumed)
            if many == b.FALSE or not may_choose(out, s, rest):
                out.append(s)
                continue
            made = self.in_one_pass(nest, sums)
            other: tuple[n.Stmt, ...] = (self.again(nest[0]),)
            maker = self.maker(out, nest[0]) if len(sums) == 1 and sums[0].floats else None
            if maker is not None:
                at, element = maker
                made, other = map_block(made, element), (out.pop(at), *other)
            if many == b.TRUE:
                out += made
            else:
                rest = choose(out, [many], [made, other], rest, self.names, self.variables)
        return tuple(out)

    def maker(self, before: Sequence[n.Stmt], s: n.Loop) -> tuple[int, Callable[[Expr], Expr | None]] | None:
        """Where a loop makes an array that `s` alone reads, and what a load of it is: that is computed with the key."""

        def uses(block: Sequence[n.Stmt], name: str) -> int:
            own = (alone(x) for x in walk(block))
            return sum(name in {*buffers_used(x), *buffers_written(x)} for x in own)

        for at, x in enumerate(before):
            if not (isinstance(x, n.Loop) and x.kind == "parallel" and len(x.body) == 1 and x.start == b.ZERO):
                continue
            store, between = x.body[0], (*before[at + 1 :], s)
            if not isinstance(store, n.Store) or store.index != (Var(x.axis, "index"),) or x.step != b.ONE:
                continue
            made = self.buffers[store.buffer]
            if made.role != "temporary" or made.dims != (x.stop,) or store.value.dtype != made.dtype:
                continue
            read, variables = buffers_read(store.value), variables_read(store.value)
            if any(read & {*buffers_written(y), *buffers_allocated(y)} or variables & scalars_set(y) for y in between):
                continue
            if store.buffer in read or uses(self.program.body, store.buffer) != uses((s,), store.buffer) + 1:
                continue
            return at, partial(_element, store=store, axis=x.axis)
        return None

    def again(self, s: n.Loop) -> n.Loop:
        return with_own_names(s, self.names, self.variables, self.buffers)

    def in_one_pass(self, nest: Sequence[n.Loop], sums: Sequence[_Sum]) -> tuple[n.Stmt, ...]:
        span = nest[0].span
        out: list[n.Stmt] = []
        counts: dict[str, Load] = {}
        dims = tuple(b.maximum(b.sub(x.stop, x.start), b.ZERO) for x in nest)
        here = tuple(b.sub(Var(x.axis, "index"), x.start) for x in nest)
        for x in sums:
            buffer = self.names.fresh(f"{x.name}_by_key")
            self.buffers[buffer] = n.Buffer(buffer, x.dtype, dims, line=span.line)
            counts[x.name] = Load(buffer, here, x.dtype)
            out.append(n.Alloc(buffer, span=span))
            fill = replace(nest[-1], body=(n.Store(buffer, here, Const(0, x.dtype), span=span),), spare=None)
            for loop in reversed(nest[:-1]):
                fill = replace(loop, body=(fill,), spare=None)
            out.append(self.again(fill))
            places = {loop.axis: Var(self.names.fresh("key"), "index") for loop in nest}
            at = tuple(b.sub(places[loop.axis], loop.start) for loop in nest)
            total = Apply("add", (Load(buffer, at, x.dtype), x.value), x.dtype)
            update: list[n.Stmt] = [n.Store(buffer, at, total, span=span)]
            ranges = {loop.axis: loop for loop in nest}
            for axis, e in reversed(x.asked):  # what is asked later may be there only where this holds
                if axis:
                    key, loop = places[axis], ranges[axis]
                    within = b.both(b.compare("less_equal", loop.start, key), b.compare("less", key, loop.stop))
                    update = [n.Let(key.name, b.cast(e, "index"), span=span), n.If(within, tuple(update), span=span)]
                else:
                    update = [n.If(e, tuple(update), span=span)]
            if x.floats:
                update = [self.keys_first(x.loops[-1], x.floats, update)]
            for loop in reversed(x.loops[:-1] if x.floats else x.loops):
                update = [replace(loop, kind="sequential", body=tuple(update), spare=None, large=False)]
            (made_loop,) = update
            assert isinstance(made_loop, n.Loop)
            out.append(self.again(made_loop))
        loops = {id(x.loops[0]) for x in sums}
        names = {x.name for x in sums}
        body = [
            x for x in nest[-1].body
            if id(x) not in loops and not (isinstance(x, n.Accumulator) and x.name in names)
        ]  # fmt: skip
        made: tuple[n.Stmt, ...] = map_block(
            tuple(body), lambda e: counts.get(e.name) if isinstance(e, Var) else None
        )
        for loop in reversed(nest):
            made = (replace(loop, body=made, spare=None),)
        return (*out, *made)

    def keys_first(self, s: n.Loop, keys: Iterable[Expr], update: Iterable[n.Stmt]) -> n.Loop:
        """The innermost loop, that makes keys of floats side by side before it counts them: what an element of the
        counts waits for is then a load."""
        block, size = Var(self.names.fresh(f"{s.axis}_block")), b.index(_TOGETHER)
        at, out, kept = b.sub(Var(s.axis), block), [], {}
        stores: list[n.Stmt] = []
        for e in keys:
            name = self.names.fresh("keys")
            self.buffers[name] = n.Buffer(name, "index", (size,), line=s.span.line)
            out.append(n.Alloc(name, span=s.span))
            stores.append(n.Store(name, (at,), e, span=s.span))
            kept[e] = Load(name, (at,), "index")
        part = replace(s, start=block, stop=b.minimum(b.add(block, size), s.stop), spare=None, large=False)
        counted = map_block(tuple(update), kept.get)
        body = (*out, replace(part, body=tuple(stores)), self.again(replace(part, kind="sequential", body=counted)))
        return replace(s, kind="sequential", axis=block.name, step=size, body=body, spare=None, large=False)


def _nest(s: n.Stmt) -> list[n.Loop]:
    """Parallel loops, each alone in the one around it, with bounds that none of them sets."""
    found: list[n.Loop] = []
    while isinstance(s, n.Loop) and s.kind == "parallel" and s.step == b.ONE:
        if (variables_read(s.start) | variables_read(s.stop)) & {x.axis for x in found}:
            return []
        found.append(s)
        if len(s.body) != 1:
            break
        s = s.body[0]
    return found


def _sums(nest: Sequence[n.Loop]) -> list[_Sum]:
    """What the iterations of a nest add up, if it is all that their loops do."""
    body = nest[-1].body
    made = {x.name: x for x in body if isinstance(x, n.Accumulator)}
    loops = [x for x in body if isinstance(x, n.Loop)]
    if not made or len(made) != len(loops) or any(isinstance(x, (n.Alloc, n.Guard)) for x in walk(body)):
        return []
    written = {name for s in nest for name in buffers_written(s)}
    found: list[_Sum] = []
    for loop in loops:
        one = _sum(loop, made, nest, written)
        if one is None or any(x.name == one.name for x in found):
            return []
        found.append(one)
    behind = [x for x in body if not isinstance(x, (n.Loop, n.Accumulator))]
    if not all(isinstance(x, (n.Let, n.Store)) for x in behind):
        return []
    return found


def _sum(
    loop: n.Loop, made: dict[str, n.Accumulator], nest: Sequence[n.Loop], written: set[str]
) -> _Sum | None:
    axes = [x.axis for x in nest]
    loops = [loop]
    while len(loops[-1].body) == 1 and isinstance(inner := loops[-1].body[0], n.Loop):
        loops.append(inner)
    *lets, last = loops[-1].body
    asked_first: list[Expr] = []
    while isinstance(last, n.If) and not last.orelse:
        asked_first.append(last.condition)
        *more, last = last.then
        if more:
            return None
    if not isinstance(last, n.Accumulate) or last.name not in made:
        return None
    if not all(isinstance(x, n.Let) for x in lets) or last.position is not None or last.op not in ("sum", "count"):
        return None
    dtype = made[last.name].dtype
    own = {x.name for x in nest[-1].body if isinstance(x, n.Let)}
    if not _is_signed(dtype) or own & scalars_used(loop) or buffers_used(loop) & written:
        return None
    if any(x.kind != "parallel" or x.step != b.ONE for x in loops):
        return None
    if any((variables_read(x.start) | variables_read(x.stop)) & {*axes, *own} for x in loops):
        return None
    known: dict[str, Expr] = {}
    for x in lets:
        if isinstance(x, n.Let):
            known[x.name] = b.substitute(x.value, known)
    condition, value = _split(b.substitute(last.value, known), dtype)
    if asked_first:  # what is added up there is any number
        asked_first = [b.substitute(e, known) for e in asked_first]
        condition, value = b.TRUE, b.substitute(last.value, known)
        if last.op == "count":
            condition, value = value, Const(1, dtype)
    asked: list[tuple[str, Expr]] = []
    assumed: Expr = b.TRUE
    floats: list[Expr] = []
    conditions = [x for whole in (*asked_first, condition) for x in _conjuncts(whole) if x != b.TRUE]
    ahead = not asked_first and not any(isinstance(x, Apply) and x.op == "and_then" for x in walk_expr(condition))
    for e in with_intervals(conditions, {x.axis: x for x in nest}):
        if isinstance(e, Interval):
            key = e.key
            if e.within != b.TRUE and ahead:
                before = next(x.start for x in nest if x.axis == e.axis)
                floats.append(key := b.where(e.within, key, b.sub(before, b.ONE)))
            elif e.within != b.TRUE:
                asked.append(("", e.within))
            asked.append((e.axis, key))
            assumed = b.both(assumed, e.assumed)
            continue
        found = _key(e, axes) if variables_read(e) & set(axes) else ("", e)
        if found is None:
            return None
        asked.append(found)
    if sorted(axis for axis, _ in asked if axis) != sorted(axes) or variables_read(value) & set(axes):
        return None
    if value.dtype != dtype:
        return None
    made_sum = _Sum(last.name, dtype, tuple(loops), tuple(asked), value, assumed, tuple(floats))
    return made_sum if any(isinstance(e, Load) for x in made_sum.keys for e in walk_expr(x)) else None


def _element(e: Expr, store: n.Store, axis: str) -> Expr | None:
    """What a load takes that is of the array that a loop over `axis` makes."""
    if not isinstance(e, Load) or e.buffer != store.buffer:
        return None
    return b.substitute(store.value, {axis: e.index[0]})


def _split(e: Expr, dtype: str) -> tuple[Expr, Expr]:
    """A term as the condition under which it is not zero, and its value then."""
    one = Const(1, dtype)
    match e:
        case Apply("cast", (x,), _) if x.dtype == "bool":
            return x, one
        case Apply("where", (condition, value, Const(0)), _) if _is_signed(value.dtype):
            return condition, b.cast(value, dtype)
        case _ if e.dtype == "bool":
            return e, one
        case _:
            return b.FALSE, one


def _conjuncts(e: Expr) -> list[Expr]:
    if isinstance(e, Apply) and e.op in _AND and e.dtype == "bool":
        return [x for a in e.args for x in _conjuncts(a)]
    return [e]


def _key(e: Expr, axes: Sequence[str]) -> tuple[str, Expr] | None:
    """The axis that a condition compares, and with what, if that is an integer that no axis changes."""
    if not isinstance(e, Apply) or e.op != "equal":
        return None
    for one, other in (e.args, e.args[::-1]):
        place, key = _without_casts(one), _without_casts(other)
        terms, _ = b.affine(place)
        found = [axis for axis in axes if terms.get(Var(axis, "index")) == 1]
        if place.dtype != "index" or len(found) != 1 or variables_read(other) & set(axes) or not is_integer(key.dtype):
            continue
        rest = b.sub(place, Var(found[0], "index"))
        if not variables_read(rest) & set(axes):
            return found[0], b.sub(b.cast(key, "index"), rest)
    return None


def _without_casts(e: Expr) -> Expr:
    """An integer that was only made wider."""
    while isinstance(e, Apply) and e.op == "cast" and _is_signed(e.dtype) and is_integer(e.args[0].dtype):
        if _bits(e.args[0].dtype) > _bits(e.dtype):
            break
        e = e.args[0]
    return e


def _bits(dtype: str) -> int:
    """Bits of a signed integer that holds all numbers of a type."""
    return 64 if dtype == "index" else 8 * itemsize(dtype) + dtype.startswith("u")


def _is_signed(dtype: str) -> bool:
    return dtype == "index" or dtype.startswith("int")

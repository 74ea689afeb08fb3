"""Two arrays as one, in memory of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.frontend.bodies import RETURN
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.state import aliasing, guards
from transkern.frontend.state.choices import Choice
from transkern.frontend.translate.joining.lists import as_given
from transkern.frontend.values import doubts, shaped
from transkern.frontend.values.reach import is_memory_of
from transkern.frontend.values.values import Array, Unbound, Value, children
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read, walk

if TYPE_CHECKING:
    from transkern.frontend.translate.branching import Branches


def join_arrays(body: Branches, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
    of_one, of_two = one.empty, two.empty
    same = of_one is not None and of_two is not None and of_one.some == of_two.some and (
        (of_one.value.shape, of_one.value.dtype) == (of_two.value.shape, of_two.value.dtype)
    )  # fmt: skip
    if not same:
        one = body.at_end(out1, lambda: doubts.settled_array(body.ctx, one))
        two = body.at_end(out2, lambda: doubts.settled_array(body.ctx, two))
    joined = _joined_arrays(body, name, one, two, out1, out2)
    if same and isinstance(joined, Array):
        joined = replace(joined, empty=of_one)
    if isinstance(joined, Array):
        as_given(body, one, two, joined)
        if joined.view:
            place = None if name is RETURN else body.choosing
            body.ctx.heap.choices.append(Choice(place, frozenset(), frozenset([joined.base])))
    shown = shown_elsewhere(body, name, one, two)
    if shown and isinstance(joined, Array):
        body.ctx.aliasing.note_copy(name, joined.base, shown, body.decides)
    return joined


def shown_elsewhere(body: Branches, name: str, *values: Array) -> frozenset[str]:
    """The buffers of `values` that other names show, or the caller's: `name` is about to be a copy of one."""
    ctx = body.ctx
    env1, env2, live = body.joining
    found = set()
    for value in values:
        if not value.view:
            continue
        frames = [f for f in ctx.scopes.frames if f is not body.env]
        inner = ((k, v) for env in (env1, env2) for k, v in env.items() if live is None or k in live)
        outer = (item for f in frames for item in f.items())
        held = ((" ", v) for contents in ctx.heap.contents.values() for v in children(contents) or ())
        beside = (v for those in ctx.emitter.waiting for v in those.values)
        others = (*(v for k, v in (*inner, *outer, *held) if k != name), *beside)
        if value.base in ctx.aliasing.doubtful:
            found |= {value.base, ctx.aliasing.doubtful[value.base][0]}
        if ctx.names.buffers[value.base].role == "argument" or any(
            is_memory_of(ctx.heap.contents, v, (value.base,)) for v in others
        ):
            found.add(value.base)
    return frozenset(found)


def _joined_arrays(body: Branches, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
    ctx = body.ctx
    seen = aliasing.is_seen(ctx, name, one) or aliasing.is_seen(ctx, name, two)
    if one.mask is None and two.mask is None and one.domain == two.domain:
        buffer = ctx.buffer(name, one.dtype, one.domain)
        if seen:
            ctx.aliasing.chosen[buffer.name] = name, body.decides
        for value, out in ((one, out1), (two, out2)):
            index = tuple(a.var for a in value.axes)
            out.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.session.span))
        ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
        return ctx.names.whole(buffer)
    known = [b.constant(d) for v in (one, two) for d in v.domain]
    if one.mask is None and two.mask is None and any(k is not None for k in known) and not all(known):
        # one is as long as the other happens to be: code for arguments where they agree
        if all(ctx.facts.assume_equal(p, q) for p, q in zip(one.domain, two.domain, strict=True)):
            same = replace(two, axes=tuple(replace(a, extent=d) for a, d in zip(two.axes, one.domain, strict=True)))
            return _joined_arrays(body, name, one, same, out1, out2)
    if one.domain[1:] != two.domain[1:]:
        if one.mask is None and two.mask is None and _have_same_sizes(body, one, two):
            axes = tuple(replace(a, extent=d) for a, d in zip(two.axes, one.domain, strict=True))
            return _joined_arrays(body, name, one, replace(two, axes=axes), out1, out2)
        return _joined_shapes(body, name, one, two, out1, out2)
    bounds = [bound_of(ctx, v.domain[0]) for v in (one, two)]
    here = let_in(out1) | let_in(out2)
    bound = room = guards.room(ctx, one.domain[1:])
    if any(known is None or variables_read(known) & here for known in bounds):  # known on its path only
        joined = _joined_behind(body, name, one, two, out1, out2)
        if joined is not None:
            return joined
    elif room not in bounds:  # else one of them may have any length: only what is touched becomes memory
        bound = b.maximum(bounds[0], bounds[1])  # type: ignore[arg-type]
    buffer, count = with_count(body, name, one.dtype, (bound, *one.domain[1:]))
    if seen:
        ctx.aliasing.chosen[buffer.name] = name, body.decides
    body.at_end(out1, lambda: shaped.fill_counted(body.ctx, buffer, count, one))
    body.at_end(out2, lambda: shaped.fill_counted(body.ctx, buffer, count, two))
    return ctx.names.whole(buffer, (count, *one.domain[1:]))


def _joined_shapes(
    body: Branches, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]
) -> Value:  # fmt: skip
    """Two arrays of different shapes as one, where data decide: code for either is what sizes and numbers get."""
    ctx = body.ctx
    decides = body.decides
    by_data = decides is not None and (
        bool(buffers_read(decides)) or not variables_read(decides) <= ctx.facts.entry
    )
    if not by_data or not ctx.session.reserves:
        return Unbound(f"`{name}` has different shapes on two paths", body.decides)
    joined = shaped.made(ctx, name, one.dtype, one.ndim)
    if aliasing.is_seen(ctx, name, one) or aliasing.is_seen(ctx, name, two):
        ctx.aliasing.chosen[joined.base] = name, body.decides
    body.at_end(out1, lambda: shaped.fill(ctx, joined, one))
    body.at_end(out2, lambda: shaped.fill(ctx, joined, two))
    return joined


def _joined_behind(
    body: Branches, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]
) -> Value | None:  # fmt: skip
    """Two arrays as one, whose memory is asked for when both paths have told its length; then it is filled. None
    where that needs what the paths have made.

    if c: k = …      v = np.empty(k)      if c: v[:] = …
    else: k = …                           else: v[:] = …
    """
    ctx, behind = body.ctx, body.behind
    made = [{s.buffer for s in walk(out) if isinstance(s, (n.Define, n.Alloc))} for out in (out1, out2)]
    if behind is None or any(
        value.mask is not None or buffers_read(value.body) & inside
        for value, inside in zip((one, two), made, strict=True)
    ):
        return None
    length = ctx.names.variable(f"{name}_length", "index")
    filled = []
    for value, out, other in ((one, out1, out2), (two, out2, out1)):
        out.append(n.Assign(length.name, value.dims[0], span=ctx.session.span))
        filled.append(_carried_out(body, value, out, other))
    with ctx.emitter.block() as memory:
        buffer = ctx.buffer(name, one.dtype, (ctx.extent(length), *one.dims[1:]))
        ctx.emit(n.Alloc(buffer.name, span=ctx.session.span))
    behind.memory += memory
    for value, later in zip(filled, (behind.then, behind.orelse), strict=True):
        index = tuple(a.var for a in value.axes)
        later.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.session.span))
    return ctx.names.whole(buffer)


def _carried_out(body: Branches, value: Array, out: list[n.Stmt], other: list[n.Stmt]) -> Array:
    """An array at the end of `out` as an expression over names that are seen behind it, too; on the `other` path
    they have a value that nobody reads."""
    known = {s.name: s.value.dtype for s in out if isinstance(s, n.Let)}
    read = variables_read(value.body).union(*(variables_read(a.extent) for a in value.axes))
    names: dict[str, Expr] = {}
    for of in sorted(read & known.keys()):
        variable = body.ctx.names.variable(of.partition(".")[0], known[of])
        out.append(n.Assign(variable.name, Var(of, known[of]), span=body.ctx.session.span))
        other.append(n.Assign(variable.name, Const(0, known[of]), span=body.ctx.session.span))
        names[of] = variable
    axes = tuple(replace(a, extent=b.substitute(a.extent, names)) for a in value.axes)
    return replace(value, axes=axes, body=b.substitute(value.body, names))


def _have_same_sizes(body: Branches, one: Array, two: Array) -> bool:
    """Whether two arrays have one shape where the call's sizes are as they may be assumed."""
    pairs = list(zip(one.dims, two.dims, strict=True)) if len(one.dims) == len(two.dims) else [(b.ZERO, b.ONE)]
    return all(body.ctx.facts.assume_equal(x, y) for x, y in pairs)


def with_count(body: Branches, name: str, dtype: str, dims: tuple[Expr, ...]) -> tuple[n.Buffer, Var]:
    """Memory for an array of at most so many elements, made before the paths, and the variable that counts them."""
    ctx = body.ctx
    buffer = ctx.buffer(name, dtype, dims)
    if dims[0] == guards.room(ctx, dims[1:]):
        ctx.lists.rooms.add(buffer.name)
    count = ctx.names.count(buffer.name, dims[0])
    ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
    return buffer, count


def let_in(out: list[n.Stmt]) -> set[str]:
    return {s.name for s in walk(out) if isinstance(s, n.Let)}

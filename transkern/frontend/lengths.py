"""Sizes that are lengths of lists, which change: ``p = np.array(found)``, and later ``found.append(x)``.

A list's length is a variable of the program, and arrays, views, ranges and slices are made of it as it is: so two
arrays of one list have one size. Where such a list gets another length while a value that was made of the length before
still has a name, the translation begins anew (`SIZES` among `Context.early`), and what gets a name, or memory, is made
of the length as it is then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from transkern.frontend.anew import NotKnown
from transkern.frontend.values import (
    Array,
    Bound,
    Concatenation,
    Flat,
    Maybe,
    Method,
    OrNone,
    Partial,
    Range,
    Scalar,
    Slice,
    Value,
    children,
    with_children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    from transkern.frontend.context import Context

SIZES = ("sizes of lists",)


@dataclass
class Lengths:
    """`now`: the lengths that lists have now, by their counts: their names, and the blocks in which these were given;
    `buffers`: the lists' memory."""

    now: dict[str, tuple[Var, list[n.Stmt]]] = field(default_factory=dict)
    buffers: set[str] = field(default_factory=set)


def before_change(ctx: Context, count: str) -> None:
    """A list is about to get another length. What was made of the one before has it under a name of its own, or the
    translation begins anew."""
    ctx.lengths.now.pop(count, None)
    for frame in ctx.frames:
        for name, value in frame.items():
            if any(count in variables_read(e) for e in _sizes(value)):
                _begin_anew(ctx, name)
    for contents in ctx.heap.values():
        if any(count in variables_read(e) for v in children(contents) or () for e in _sizes(v)):
            _begin_anew(ctx, "an item of a container")


def before_store(ctx: Context, buffer: str) -> None:
    """An element of a list is about to change: filters that are still to be read from it are computed now."""

    def changes(e: Expr) -> bool:
        return buffer in buffers_read(e)

    def is_read(value: Array) -> bool:
        return not value.view and any(map(changes, _sizes(value)))

    for frame in ctx.frames:
        for name in list(frame):
            ctx.evaluate_name(frame, name, is_read, changes)


def _begin_anew(ctx: Context, name: str) -> None:
    problem = f"a list changes its length while `{name}` is made of the one before"
    late = NotKnown(problem, "make a copy of the array first, or another list", ctx.span, ctx.lines)
    if SIZES not in ctx.early:
        late.early = SIZES
    raise late


def fixed(ctx: Context, value: Value) -> Value:
    """A value that gets a name, made of lengths that stay what they are now."""
    if SIZES not in ctx.early or not any(variables_read(e) & ctx.list_counts for e in _sizes(value)):
        return value
    return _mapped(value, lambda e: fixed_size(ctx, e))


def fixed_size(ctx: Context, size: Expr) -> Expr:
    """An expression, with the lengths that lists have now."""
    if SIZES not in ctx.early:
        return size
    counts = variables_read(size) & ctx.list_counts
    return b.substitute(size, {count: _now(ctx, count) for count in sorted(counts)})


def _now(ctx: Context, count: str) -> Var:
    known = ctx.lengths.now.get(count)
    if known is not None and any(known[1] is block for block in (ctx.out, *ctx.around)):
        return known[0]
    now = b.size(f"{ctx.fresh('length')}.size")
    if count in ctx.bounds:
        ctx.bounds[now.name] = ctx.bounds[count]
    ctx.emit(n.Let(now.name, b.size(count)))
    ctx.lengths.now[count] = now, ctx.out
    return now


def _sizes(value: Value) -> Iterator[Expr]:
    """The expressions that a value is made of; what is in a list is made of its length, whatever that is."""
    match value:
        case Array():
            yield from (value.body, *(a.extent for a in value.axes), *([] if value.mask is None else [value.mask]))
        case Scalar(expr):
            yield expr
        case Range(start, stop, step):
            yield from (start, stop, step)
        case Slice(start, stop, step):
            for part in (start, stop, step):
                yield from () if part is None else _sizes(part)
        case Concatenation(pieces):
            for piece in pieces:
                yield from _sizes(piece)
        case Flat(array):
            yield from _sizes(array)
        case OrNone(inner) | Maybe(inner) | Method(inner) | Bound(receiver=inner):
            yield from _sizes(inner)
        case Partial(_, args, keywords):
            for part in (*args, *(v for _, v in keywords)):
                yield from _sizes(part)
        case _:
            for item in children(value) or ():
                yield from _sizes(item)


def _of(array: Array, change: Callable[[Expr], Expr]) -> Array:
    axes = tuple(replace(a, extent=change(a.extent)) for a in array.axes)
    mask = None if array.mask is None else change(array.mask)
    return replace(array, axes=axes, body=change(array.body), mask=mask)


def _mapped(value: Value, change: Callable[[Expr], Expr]) -> Value:
    match value:
        case Array():
            return _of(value, change)
        case Scalar(expr):
            return replace(value, expr=change(expr))
        case Range(start, stop, step):
            return Range(change(start), change(stop), change(step))
        case Slice(start, stop, step):
            return Slice(*(None if p is None else _mapped(p, change) for p in (start, stop, step)))
        case Concatenation(pieces):
            return replace(value, pieces=tuple(_of(p, change) for p in pieces))
        case Flat(array):
            return replace(value, array=_of(array, change))
        case OrNone(inner) | Maybe(inner):
            return replace(value, value=_mapped(inner, change))
        case Method(inner) | Bound(receiver=inner):
            return replace(value, receiver=_mapped(inner, change))
        case Partial(_, args, keywords):
            named = tuple((k, _mapped(v, change)) for k, v in keywords)
            return replace(value, args=tuple(_mapped(a, change) for a in args), keywords=named)
        case _:
            items = children(value)
            return value if items is None else with_children(value, tuple(_mapped(i, change) for i in items))

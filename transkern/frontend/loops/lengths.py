"""Sizes and places that are made of what changes: ``p = np.array(found)``, and later ``found.append(x)``; ``x[:k[0]]``,
and later ``k[0] = 3``.

A list's length is a variable of the program, and arrays, views, ranges and slices are made of it, and of elements of
arrays, as they are: so two arrays of one list have one size. Where such a list gets another length, or such an array
another element, while a value that was made of what was there before still has a name, the translation begins anew
(`SIZES` among `Learned.early`), and what gets a name, or memory, is made of what is there then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.state import evaluating
from transkern.frontend.values.values import (
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
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import buffers_read, is_longer, variables_read, walk_expr

if TYPE_CHECKING:
    from transkern.frontend.context import Context

SIZES = ("sizes of lists",)


@dataclass
class Lengths:
    """`now`: what lengths of lists and elements are now, and the blocks in which these were named; `buffers`: the
    memory of lists."""

    now: dict[Expr, tuple[Expr, list[n.Stmt]]] = field(default_factory=dict)
    buffers: set[str] = field(default_factory=set)


def before_change(ctx: Context, count: str) -> None:
    """A list is about to get another length. What was made of the one before has it under a name of its own, or the
    translation begins anew."""
    _forget(ctx, lambda e: count in variables_read(e))
    _check(ctx, lambda value: any(count in variables_read(e) for e in (*_sizes(value), *_elements(value))))


def before_store(ctx: Context, buffer: str) -> None:
    """An element of an array, or of a list, is about to change, which sizes and places of others are made of."""
    _forget(ctx, lambda e: buffer in buffers_read(e))
    _check(ctx, lambda value: any(buffer in buffers_read(e) for e in _sizes(value)))


def before_store_in_list(ctx: Context, buffer: str) -> None:
    """An element of a list is about to change: filters that are still to be read from it are computed now, too."""
    before_store(ctx, buffer)

    def changes(e: Expr) -> bool:
        return buffer in buffers_read(e)

    def is_read(value: Array) -> bool:
        return not value.view and any(map(changes, _elements(value)))

    for frame in ctx.scopes.frames:
        for name in list(frame):
            evaluating.evaluate_name(ctx, frame, name, is_read, changes)


def _forget(ctx: Context, changes: Callable[[Expr], bool]) -> None:
    for e in [e for e in ctx.lists.lengths.now if changes(e)]:
        del ctx.lists.lengths.now[e]


def _check(ctx: Context, changes: Callable[[Value], bool]) -> None:
    for frame in ctx.scopes.frames:
        for name, value in frame.items():
            if changes(value):
                _begin_anew(ctx, name)
    for contents in ctx.heap.contents.values():
        if any(map(changes, children(contents) or ())):
            _begin_anew(ctx, "an item of a container")


def _begin_anew(ctx: Context, name: str) -> None:
    problem = f"a change of what the size of `{name}` is made of, or where it begins"
    help = "give that number a name first: n = len(found)"
    late = NotKnown(refusals.RUN_TIME_LENGTH, problem, help, ctx.session.span, ctx.session.lines)
    if SIZES not in ctx.learned.early:
        late.finding = Finding("early", SIZES)
    raise late


def fixed(ctx: Context, value: Value) -> Value:
    """A value that gets a name, made of lengths and elements that stay what they are now."""
    if SIZES not in ctx.learned.early or not any(_changing(ctx, e) for e in (*_sizes(value), *_elements(value))):
        return value
    return _mapped(value, lambda e: fixed_size(ctx, e), lambda e: _of_lengths(ctx, e))


def fixed_size(ctx: Context, size: Expr) -> Expr:
    """A size, of the lengths that lists have now and the elements that are there now."""
    if SIZES not in ctx.learned.early or not _changing(ctx, size):
        return size
    return b.map_expr(_of_lengths(ctx, size), lambda e: _now(ctx, e) if isinstance(e, Load) else None)


def _of_lengths(ctx: Context, e: Expr) -> Expr:
    return b.substitute(e, {c: _now(ctx, b.size(c)) for c in sorted(variables_read(e) & ctx.lists.counts)})


def _changing(ctx: Context, e: Expr) -> bool:
    return bool(buffers_read(e) or variables_read(e) & ctx.lists.counts)


def _now(ctx: Context, e: Expr) -> Expr:
    """The name of what a length or an element is now."""
    known = ctx.lists.lengths.now.get(e)
    if known is not None and any(known[1] is block for block in (ctx.emitter.out, *ctx.emitter.around)):
        return known[0]
    if isinstance(e, Var):
        now: Expr = b.size(f"{ctx.names.fresh('length')}.size")
        assert isinstance(now, Var)
        if e.name in ctx.names.bounds:
            ctx.names.bounds[now.name] = ctx.names.bounds[e.name]
        ctx.emit(n.Let(now.name, e))
    else:
        now = ctx.let(e, "number")
    ctx.lists.lengths.now[e] = now, ctx.emitter.out
    return now


_LONG, _LONG_IN_JAX = 40, 190
"""Parts of a size, or of where a slice begins, that get a name: slices of slices would have more each time. JAX must
know sizes before the call, and is told less of what stands under a name."""


def shortened(ctx: Context, value: Value) -> Value:
    """An array that gets a name, with long sizes and beginnings by names of their own."""
    most = _LONG if ctx.session.steps_take_views else _LONG_IN_JAX
    if not isinstance(value, Array) or not any(is_longer(e, most) for e in _sizes(value)):
        return value
    own = {a.name for a in value.axes}

    def beginning(e: Expr) -> Expr:
        if not is_longer(e, _LONG):
            return e
        terms, number = b.affine(e)
        moving = {t: c for t, c in terms.items() if variables_read(t) & own}
        rest = b.from_affine({t: c for t, c in terms.items() if t not in moving}, number)
        return b.add(b.from_affine(moving, 0), _by_name(ctx, rest, lambda x: ctx.let(x, "start")))

    def size(e: Expr) -> Expr:
        return beginning(e) if variables_read(e) & own else _by_name(ctx, e, ctx.extent)

    return _of(value, size, lambda e: e)


def _by_name(ctx: Context, e: Expr, name: Callable[[Expr], Expr]) -> Expr:
    """A long expression by its name, the same again while it has that value."""
    if not is_longer(e, _LONG):
        return e
    known = ctx.lists.lengths.now.get(e)
    if known is not None and any(known[1] is block for block in (ctx.emitter.out, *ctx.emitter.around)):
        return known[0]
    made = name(e)
    if isinstance(made, Var) and not buffers_read(e):
        ctx.names.bounds.setdefault(made.name, e)
        if not variables_read(e) & ctx.names.variables.keys():
            ctx.lists.lengths.now[e] = made, ctx.emitter.out
    return made


def _sizes(value: Value) -> Iterator[Expr]:
    """The expressions that a value's sizes and places are made of; what is in a list is made of its length, whatever
    that is."""
    match value:
        case Array():
            yield from (a.extent for a in value.axes)
            if value.view and isinstance(value.body, Load):
                yield from value.body.index
        case Range(start, stop, step):
            yield from (start, stop, step)
        case Slice(start, stop, step):
            for part in (start, stop, step):
                if isinstance(part, Scalar):
                    yield part.expr
        case _:
            for part in _parts(value):
                yield from _sizes(part)


def _elements(value: Value) -> Iterator[Expr]:
    """The expressions that elements are made of."""
    match value:
        case Array():
            yield from (value.body, *([] if value.mask is None else [value.mask]))
        case Scalar(expr):
            yield expr
        case _:
            for part in _parts(value):
                yield from _elements(part)


def _parts(value: Value) -> Sequence[Value]:
    match value:
        case Concatenation(pieces):
            return pieces
        case Flat(array):
            return (array,)
        case OrNone(inner) | Maybe(inner) | Method(inner) | Bound(receiver=inner):
            return (inner,)
        case Partial(_, args, keywords):
            return (*args, *(v for _, v in keywords))
        case _:
            return children(value) or ()


def _goes_along(index: Expr, axes: set[str]) -> bool:
    """Whether a subscript is looked up for each position by itself."""
    return any(isinstance(x, Load) and variables_read(x) & axes for x in walk_expr(index))


def _of(array: Array, size: Callable[[Expr], Expr], element: Callable[[Expr], Expr]) -> Array:
    axes = tuple(replace(a, extent=size(a.extent)) for a in array.axes)
    mask, body = None if array.mask is None else element(array.mask), array.body
    if array.view and isinstance(body, Load):
        own = {a.name for a in array.axes}
        body = replace(body, index=tuple(i if _goes_along(i, own) else size(i) for i in body.index))
    return replace(array, axes=axes, body=element(body), mask=mask)


def _mapped(value: Value, size: Callable[[Expr], Expr], element: Callable[[Expr], Expr]) -> Value:
    match value:
        case Array():
            return _of(value, size, element)
        case Scalar(expr):
            return replace(value, expr=element(expr))
        case Range(start, stop, step):
            return Range(size(start), size(stop), size(step))
        case Slice(start, stop, step):
            parts = (start, stop, step)
            return Slice(*(replace(p, expr=size(p.expr)) if isinstance(p, Scalar) else p for p in parts))
        case Concatenation(pieces):
            return replace(value, pieces=tuple(_of(p, size, element) for p in pieces))
        case Flat(array):
            return replace(value, array=_of(array, size, element))
        case OrNone(inner) | Maybe(inner):
            return replace(value, value=_mapped(inner, size, element))
        case Method(inner) | Bound(receiver=inner):
            return replace(value, receiver=_mapped(inner, size, element))
        case Partial(_, args, keywords):
            named = tuple((k, _mapped(v, size, element)) for k, v in keywords)
            return replace(value, args=tuple(_mapped(a, size, element) for a in args), keywords=named)
        case _:
            items = children(value)
            return value if items is None else with_children(value, tuple(_mapped(i, size, element) for i in items))

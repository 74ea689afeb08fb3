"""What a name has on one of two paths only: a flag tells whether it is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.frontend.loops.trips import bound_of
from transkern.frontend.state import guards
from transkern.frontend.translate.joining.arrays import let_in, shown_elsewhere, with_count
from transkern.frontend.translate.joining.lists import join_lists
from transkern.frontend.values import shaped
from transkern.frontend.values.values import (
    Array,
    Char,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Known,
    Maybe,
    Object,
    OneOf,
    OrNone,
    Range,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Unbound,
    Value,
    children,
    with_children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import variables_read

if TYPE_CHECKING:
    from transkern.frontend.translate.branching import Branches


def half(body: Branches, name: str, value: Value, out1: list[n.Stmt], out2: list[n.Stmt], first: bool) -> Value:
    """A name that has a value after `out1` only (`first`), or after `out2` only."""
    ctx = body.ctx
    if " " in name and not isinstance(value, (Scalar, Array, Seq)):
        return value  # only read where it was set
    if isinstance(value, (Unbound, Function, Known)):
        return Unbound(f"`{name}` has a value on one of two paths only")
    if isinstance(value, Maybe) and (isinstance(value.value, (GrowingList, Hashed, Object)) or children(value.value)):
        held = half(body, name, value.value, out1, out2, first)
        if isinstance(held, Maybe) and isinstance(held.bound, Var):
            is_set = n.Assign(held.bound.name, value.bound or b.FALSE, span=ctx.session.span)
            (out1 if first else out2).append(is_set)
        return held
    if isinstance(value, GrowingList):
        env1, env2, _ = body.joining
        if any(v is value for v in (env2 if first else env1).values()):  # it was there before the two paths
            return _object(body, name, value, out1, out2, first)
        if value.row_of is not None or value.prefix or value.is_queue:
            return Unbound(f"`{name}` has a value on one of two paths only")
        none = Seq((), value.kind)
        held = join_lists(body, name, value if first else none, none if first else value, out1, out2)
        flag = ctx.names.variable(f"{name} is set", "bool")
        for out in (out1, out2):
            out.append(n.Assign(flag.name, b.TRUE if (out is out1) == first else b.FALSE, span=ctx.session.span))
        return Maybe(held, flag)
    if isinstance(value, Hashed):
        return Unbound(f"`{name}` has a value on one of two paths only", body.decides)
    if isinstance(value, Object) and value.token not in body.forked:
        return _object(body, name, value, out1, out2, first)
    if children(value):
        parts = [half(body, name, i, out1, out2, first) for i in children(value) or ()]
        if not all(isinstance(p, Maybe) for p in parts):
            return Unbound(f"`{name}` has a value on one of two paths only")
        assert isinstance(parts[0], Maybe)
        inner = tuple(p.value for p in parts if isinstance(p, Maybe))
        return Maybe(with_children(value, inner), parts[0].bound)
    here, there = (out1, out2) if first else (out2, out1)
    if isinstance(value, OrNone):
        of_value = half(body, name, value.value, out1, out2, first)
        if not isinstance(of_value, Maybe):
            return of_value
        absent = _index(body, f"{name} is None", value.none, here, there)
        return Maybe(OrNone(of_value.value, absent), of_value.bound)
    bound: Expr = b.TRUE
    if isinstance(value, Maybe):
        bound = value.bound or b.FALSE
        value = value.value
    flag = ctx.names.variable(f"{name} is set", "bool")
    here.append(n.Assign(flag.name, bound, span=ctx.session.span))
    there.append(n.Assign(flag.name, b.FALSE, span=ctx.session.span))
    if isinstance(value, Scalar):
        return Maybe(_number(body, name, value, here, there), flag)
    told = _told(body, name, value, here, there)
    if told is not None:
        return Maybe(told, flag)
    if isinstance(value, Array) and not value.identity:
        if value.mask is not None or any(variables_read(d) - ctx.facts.entry for d in value.dims):
            return _counted(body, name, value, here, there, flag)
        buffer = ctx.buffer(name, value.dtype, value.dims)
        here.append(
            n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body, span=ctx.session.span)
        )
        ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
        held = ctx.names.whole(buffer)
        _note(body, name, value, held)
        return Maybe(held, flag)
    return Maybe(value, flag)


def _counted(
    body: Branches, name: str, value: Array, here: list[n.Stmt], there: list[n.Stmt], flag: Expr
) -> Value:  # fmt: skip
    """An array of one path whose length is known on that path only."""
    rest = value.domain[1:]
    if any(variables_read(d) - body.ctx.facts.entry for d in rest):
        if not body.ctx.session.reserves:
            return Unbound(f"`{name}` has a value on one of two paths only")
        held = shaped.made(body.ctx, name, value.dtype, value.ndim)
        body.at_end(here, lambda: shaped.fill(body.ctx, held, value))
    else:
        bound = bound_of(body.ctx, value.domain[0])
        if bound is None or variables_read(bound) & let_in(here):
            bound = guards.room(body.ctx, rest)
        buffer, count = with_count(body, name, value.dtype, (bound, *rest))
        held = body.ctx.names.whole(buffer, (count, *rest))
        body.at_end(here, lambda: shaped.fill_counted(body.ctx, buffer, count, value))
        there.append(n.Assign(count.name, b.ZERO, span=body.ctx.session.span))
    _note(body, name, value, held)
    return Maybe(held, flag)


def _note(body: Branches, name: str, value: Array, held: Array) -> None:
    """What is held of an array of one path is a copy of it, which others may see."""
    shown = shown_elsewhere(body, name, value)
    if shown:
        body.ctx.aliasing.chosen[held.base] = name, body.decides
        body.ctx.aliasing.note_copy(name, held.base, shown, body.decides)


def _object(body: Branches, name: str, value: Value, out1: list[n.Stmt], out2: list[n.Stmt], first: bool) -> Value:
    """A list, dict or object that one path has made: what is in it is there on that path only."""
    contents = body.ctx.deref(value)
    if isinstance(contents, Hashed):
        return Unbound(f"`{name}` has a value on one of two paths only", body.decides)
    flag: Expr | None = None
    if children(contents):
        held = half(body, name, contents, out1, out2, first)
        if not isinstance(held, Maybe):
            return held
        assert isinstance(value, Object)
        body.ctx.heap.contents[value.token], flag = held.value, held.bound
    if flag is None:
        flag = body.ctx.names.variable(f"{name} is set", "bool")
        for out in (out1, out2):
            out.append(
                n.Assign(flag.name, b.TRUE if (out is out1) == first else b.FALSE, span=body.ctx.session.span)
            )
    return Maybe(value, flag)


def _told(body: Branches, name: str, value: Value, here: list[n.Stmt], there: list[n.Stmt]) -> Value | None:
    """A value of one path that numbers tell: a text, a range, a list among rows, an object; None for others."""

    def half(expr: Expr) -> Expr:
        return expr if isinstance(expr, Const) else _index(body, name, expr, here, there)

    match value:
        case OneOf(at):
            return replace(value, index=half(at))
        case Char(code):
            return Char(half(code))
        case Row(of, at):
            return Row(of, half(at))
        case Instance(pool, at):
            return Instance(pool, half(at))
        case Range(start, stop, step):
            return replace(value, start=half(start), stop=half(stop), step=half(step))
        case Text(template, args) if all(isinstance(a, (Scalar, Static)) for a in args):
            halves = (_number(body, name, a, here, there) if isinstance(a, Scalar) else a for a in args)
            return Text(template, tuple(halves))
        case _:
            return None


def _index(body: Branches, name: str, value: Expr, here: list[n.Stmt], there: list[n.Stmt]) -> Expr:
    """What a value of one path is told by, behind both."""
    variable = body.ctx.names.variable(name, value.dtype)
    here.append(n.Assign(variable.name, value, span=body.ctx.session.span))
    there.append(n.Assign(variable.name, Const(0, value.dtype), span=body.ctx.session.span))
    return variable


def _number(body: Branches, name: str, value: Scalar, here: list[n.Stmt], there: list[n.Stmt]) -> Scalar:
    """A number of one path, with all that it may be: what it is read from may be there on that path alone."""
    ctx = body.ctx

    def half(expr: Expr, tentative: bool) -> Expr:
        if isinstance(expr, Const):
            return expr
        variable = ctx.names.tentative(name, expr.dtype) if tentative else ctx.names.variable(name, expr.dtype)
        here.append(n.Assign(variable.name, expr, span=ctx.session.span))
        there.append(n.Assign(variable.name, Const(0, expr.dtype), span=ctx.session.span))
        return variable

    held = replace(value, expr=half(value.expr, False), tag=None if value.tag is None else half(value.tag, True))
    if value.doubt is None or (split := value.doubt.split) is None:
        return held
    sides = [
        replace(v, expr=held.expr if v.expr == value.expr else half(v.expr, True)) if isinstance(v, Scalar) else v
        for v in (split.one, split.two)
    ]
    split = replace(split, tag=half(split.tag, True), one=sides[0], two=sides[1])
    return replace(held, doubt=replace(value.doubt, split=split))

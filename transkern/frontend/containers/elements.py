"""The elements of lists whose length is known at run time only, as they are read."""

from __future__ import annotations

from dataclasses import replace

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.python.whole import NO_POSITION, integer_expr
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.values import (
    CHARACTERS,
    OPTIONAL,
    Array,
    Char,
    Concatenation,
    GrowingList,
    Instance,
    OneOf,
    OrNone,
    Range,
    Record,
    Row,
    Rows,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir.expr import Expr, Load


def list_position(ctx: Context, item: Value, error: str = "IndexError", problem: str = NO_POSITION) -> Expr:
    """A subscript of a list (or an argument of one of its methods), not yet checked against its length."""
    return integer_expr(ctx, item, error, problem)


def is_typed(ctx: Context, owner: GrowingList) -> bool:
    """Whether it is known of what type a list's elements are. Where it is not, it is empty as far as the translation
    has come: what is appended further down in a loop is seen when that is translated again."""
    ctx.hold(owner)
    if not owner.dtype and not owner.columns:
        ctx.lists.untyped.append(owner.original)
        return False
    return True


def element(ctx: Context, owner: GrowingList, at: Expr) -> Value:
    """The element of a growing list at a position that it has."""
    if owner.columns:
        if owner.row == OPTIONAL:
            flags, held = owner.columns
            none = ctx.names.load(flags.buffer, flags.index(at))
            return OrNone(element(ctx, held, at), none) if is_typed(ctx, held) else Static(None)
        items = tuple(element(ctx, c, at) for c in owner.columns)
        if formatted.is_formatted(owner):
            return formatted.element(ctx, items)
        if owner.of is not None:
            return Record(owner.of, tuple(owner.of._fields), items)  # type: ignore[attr-defined]
        return Seq(items, owner.row, row_of=owner if owner.row == "list" else None)
    if owner.dims and owner.row:  # the very list, not a copy
        *outer, place = owner.index(at)
        index = (*outer, ctx.let(place, "row"))
        return replace(owner, dims=owner.dims[1:], prefix=index, extent=owner.dims[0], count="", head="")
    if owner.dims:
        axes = ctx.names.axes(owner.dims)
        return Array(axes, ctx.names.load(owner.buffer, (*owner.index(at), *(a.var for a in axes))), view=True)
    if not owner.dtype:
        problem = "an element of a list that nothing has been appended to yet"
        ctx.fail(refusals.SUBSCRIPT, problem, "start it with an element")
    loaded = ctx.names.load(owner.buffer, owner.index(at))
    if owner.rows is not None and owner.rows.kind == "array":
        return array_of(ctx, owner.rows, ctx.let(loaded, "number"))
    if owner.rows is not None:
        return Row(owner.rows, ctx.let(loaded, "number"))
    if owner.objects is not None:
        return Instance(owner.objects, ctx.let(loaded, "number"))
    if owner.options == CHARACTERS:
        return Char(ctx.let(b.as_index(loaded), "code"))
    if owner.options:
        return OneOf(ctx.let(loaded, "choice"), owner.options)
    number = b.cast(loaded, "index") if owner.dtype == "index" else loaded
    if owner.tags not in ctx.names.buffers:
        return Scalar(number, owner.python)
    return doubts.of_a_list(ctx, owner.site, number, owner.python, ctx.names.load(owner.tags, owner.index(at)))


def array_of(ctx: Context, rows: Rows, number: Expr) -> Array:
    """The array of a number."""
    size = ctx.extent(Load(rows.sizes.buffer, (number,), "index"))
    axes = ctx.names.axes((size, *rows.pool.dims))
    at = b.add(row_start(ctx, Row(rows, number)), axes[0].var)
    return Array(axes, ctx.names.load(rows.pool.buffer, (at, *(a.var for a in axes[1:]))), view=True)


def row_start(ctx: Context, row: Row) -> Expr:
    return ctx.let(Load(row.rows.starts.buffer, (row.number,), "index"), "start")


def numbers_of(ctx: Context, value: Value) -> tuple[Array, bool]:
    """The elements of an iterable of run-time length, and whether they are Python's numbers."""
    if isinstance(value, Range):
        axis = ctx.names.axis("i", trip_count(value.start, value.stop, value.step))
        return Array((axis,), b.add(value.start, b.mul(value.step, axis.var))), True
    if isinstance(value, GrowingList) and not value.columns:
        array = list_array(ctx, value)
        body = array.body
        return replace(array, body=b.cast(body, "index") if value.dtype == "index" else body), value.python
    if isinstance(value, (Array, Concatenation)):
        array = as_array(ctx, value)
        return ctx.kept(array), array.dtype == "index"  # numbers of texts are Python's
    help = "append in a loop, or use np.concatenate"
    ctx.fail(refusals.OPERANDS, f"extending a list by {describe(value)}", help)


def numbers(ctx: Context, value: Value) -> Array:
    """The elements of an iterable of run-time length, of their own type."""
    return numbers_of(ctx, value)[0]

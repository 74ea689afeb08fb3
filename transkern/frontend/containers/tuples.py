"""Tuples whose length only the run knows: lists that nothing changes."""

from __future__ import annotations

from dataclasses import replace

from transkern import refusals
from transkern.frontend.containers import growing, making
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.values import OPTIONAL, Array, Concatenation, GrowingList, Iterated, Scalar, Seq, Value
from transkern.ir import build as b

_FEW = 64  # columns, one by one


def as_list(ctx: Context, value: Value | None) -> Value | None:
    """The list of what a tuple holds; None for something else."""
    match value:
        case Seq(kind="tuple"):
            return growing.from_items(ctx, replace(value, kind="list"))
        case GrowingList(kind="tuple"):
            return replace(value, kind="list")
        case _:
            return None


def as_tuple(owner: Value | None) -> GrowingList:
    """A list that is nobody's as a tuple."""
    assert isinstance(owner, GrowingList)
    return replace(owner, kind="tuple")


def unzipped(ctx: Context, rows: Value) -> Iterated | None:
    """``zip(*rows)`` of a run-time number of rows of one known length: the columns. None where they are other things,
    or where there is known to be a row, or none."""
    held = ctx.deref(iterating.sequence(ctx, rows))
    if isinstance(held, GrowingList):
        if not is_typed(ctx, held) or b.constant(held.extent or held.length) is not None:
            return None
        columns, length = _columns_of_list(ctx, held), held.length
    elif isinstance(held, (Array, Concatenation)) and as_array(ctx, held).ndim == 2:
        array = ctx.kept(as_array(ctx, held))
        problem, help = "columns whose number only the run knows", "loop over them: for k in range(a.shape[1])"
        if b.constant(array.dims[0]) is None and b.constant(array.dims[1]) is None:
            ctx.must_be_known(Scalar(array.dims[1], True), problem, help, refusals.RUN_TIME_LENGTH)
        columns, length = _columns_of_array(ctx, array, False), array.dims[0]
    else:
        return None
    if columns is None or b.constant(length) is not None:
        return None
    some = b.compare("greater", ctx.let(length, "rows"), b.ZERO)
    return Iterated(zip, Seq(tuple(map(as_tuple, columns)), "list"), some=some)


def _columns_of_list(ctx: Context, owner: GrowingList) -> list[GrowingList] | None:
    if formatted.is_formatted(owner):
        return None
    if owner.columns and owner.row != OPTIONAL:
        return [growing.copied(ctx, replace(c, count=owner.count)) for c in owner.columns]
    if owner.row == "list" and len(owner.dims) == 1 and not owner.tags:
        return _columns_of_array(ctx, list_array(ctx, owner), owner.python)
    return None


def _columns_of_array(ctx: Context, array: Array, python: bool) -> list[GrowingList] | None:
    count = b.constant(array.dims[1])
    if array.mask is not None or count is None or count > _FEW:
        return None
    axis = array.axes[0]
    parts = (Array((axis,), array.at((axis.var, b.index(k)))) for k in range(count))
    return [making.list_of(ctx, part, python) for part in parts]

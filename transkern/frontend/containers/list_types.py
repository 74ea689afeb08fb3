"""The types of the elements of lists that grow, and their memory; in a list of several types, which is which."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from transkern import refusals
from transkern.errors import NOT_HELD
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.containers import rows
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.state import guards
from transkern.frontend.values import doubtful, doubts
from transkern.frontend.values.numbers import is_of_numbers, is_python_number
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.types_of_scalars import holding
from transkern.frontend.values.values import (
    CHARACTERS,
    OPTIONAL,
    Array,
    Char,
    Concatenation,
    GrowingList,
    JoinedText,
    Limits,
    OneOf,
    Scalar,
    Seq,
    Split,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Reduce, Var
from transkern.ir.nodes import RESERVED_ROWS, ROOM
from transkern.ir.traverse import buffers_read, variables_read, walk_expr
from transkern.records import replace

_SEVERAL = 3  # types of a number that loops cannot hand on


def must_hold(ctx: Context, owner: GrowingList, value: Value) -> None:
    """A number of Python's is another number in a list of NumPy's narrow floats; and an array of numbers which are
    one or the other has a type that the list's is not."""
    if not tells_its_type(value):
        if doubts.is_of_neither(value) or doubts.is_all_pythons(value):
            doubts.ask_for_split([value])
        if doubts.is_of_neither(value):
            doubts.depends(ctx, [value], "an element that is")
    kinds = doubts.kinds_of(value)
    if not any(of_python and dtype != "bool" for dtype, of_python in kinds):
        return
    if owner.dtype in ("float16", "float32", "complex64") and doubts.is_changed(value, owner.dtype):
        problem = (
            "a list whose elements differ in type: numbers of Python's, which a NumPy "
            f"{owner.dtype} does not hold"
        )
        ctx.fail(refusals.LIST_OF_TYPES, problem, "append elements of one type: x.dtype.type(number)")
    split = value.doubt.split if isinstance(value, Scalar) and value.doubt is not None else None
    names = {"int64" if dtype == "index" else dtype for dtype, _ in kinds}
    if len(names) > 1 and not (split and split.of_empty) and np.result_type(*names).name != owner.dtype:
        ctx.lists.doubted.add(owner.buffer)


def tells_its_type(value: Value) -> bool:
    """Whether it is known at run time, and is to be seen, of which of several types a number is."""
    if not isinstance(value, Scalar):
        return False
    split = None if value.doubt is None else value.doubt.split
    if value.tag is not None or split is None:
        return value.tag is not None
    return split.exact or doubts.is_all_pythons(value) or not (split.handed_on or split.of_empty)


def tag(ctx: Context, owner: GrowingList, at: Expr, value: Value) -> None:
    """Notes of which type a number in a list of several types is."""
    if owner.tags:
        note_kinds(ctx, owner, value)
        ctx.emit(n.Store(owner.tags, owner.index(at), tag_of(value)))


def note_kinds(ctx: Context, owner: GrowingList, value: Value) -> None:
    """Notes the types that a number which is put into a list of several types may have."""
    ctx.learned.held.note(owner.site, doubts.kinds_of(value))
    if isinstance(value, Scalar) and value.tag is None and value.doubt is not None and value.doubt.split is None:
        if not doubts.ask_for_split([value]):
            plain = doubts.is_of_neither(value) or doubts.is_all_pythons(value)
            few = len(value.doubt.kinds) < _SEVERAL and len({dtype for dtype, _ in value.doubt.kinds}) > 1
            if owner.site is None or plain or few:  # of floats, Python's beside NumPy's may go untold
                doubts.depends(ctx, [value], "an element that is")
            ctx.learned.held.leave_untold(owner.site)


def tag_of(value: Value) -> Expr:
    """The type of a number, as a position in `TAGS`."""
    if isinstance(value, Scalar) and value.tag is not None:
        return value.tag
    if isinstance(value, Scalar) and value.doubt is not None and value.doubt.split is not None:
        split = value.doubt.split
        return b.where(split.tag, tag_of(split.one), tag_of(split.two))
    kinds = doubts.kinds_of(value)
    return Const(doubts.tag_number(kinds[0]) if kinds else 0, "uint8")


def _fail_differ(ctx: Context) -> NoReturn:
    help = "append elements of one type and shape"
    ctx.must_be_known(Static(None), "a list whose elements differ in type", help, refusals.LIST_OF_TYPES)


def typed(ctx: Context, owner: GrowingList, value: Value) -> tuple[Expr, bool]:
    """A number as an element of a list, which may be known to hold numbers of other types, too; a text is a number of
    the list's texts."""
    if isinstance(value, Char):
        return _character(ctx, owner, value.code), True
    if isinstance(value, JoinedText) and value.characters is not None:
        rows.wanted(ctx, owner, "a text that the run makes, in a list")
    texts: tuple[str | None, ...] = ()
    if isinstance(value, OneOf):
        texts = value.options
    elif isinstance(value, Static) and isinstance(value.value, str):
        texts = (value.value,)
    if bool(texts) != bool(owner.options) and (owner.dtype or not texts):
        _fail_differ(ctx)
    if texts:
        _recall_texts(ctx, owner)
        missing = tuple(t for t in texts if t not in owner.options)
        if missing:
            _note_texts(ctx, owner, owner.options + missing)
        numbers = [b.index(owner.options.index(t)) for t in texts]
        return select(value.index, numbers) if isinstance(value, OneOf) else numbers[0], True
    if isinstance(value, (Array, Concatenation)) and owner.extent is not None and as_array(ctx, value).ndim:
        problem = "a list of numbers and arrays"
        ctx.must_be_known(Scalar(owner.extent, True), problem, "make it a list of arrays", refusals.LIST_OF_TYPES)
    expr, python = scalar_expr(ctx, value), is_python_number(value)
    if isinstance(value, Scalar) and value.doubt is not None and value.doubt.split is not None:
        _check_sides(ctx, value.doubt.split, expr.dtype)
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    if wanted is None or owner.dims:
        return expr, python
    if _widest(wanted[0], expr.dtype) not in (wanted[0], "int64"):
        begin_anew(ctx, owner, (expr.dtype, python))
    if _may_round(expr.dtype, wanted[0]):
        expr = _exactly(ctx, expr)
    return b.cast(expr, wanted[0]), wanted[1]


def _recall_texts(ctx: Context, owner: GrowingList) -> None:
    """The texts that a list is known to hold from another translation of the loop that makes it."""
    if not owner.options:
        known = ctx.lists.texts.get(owner.site or (owner.buffer,), ())
        owner.options = CHARACTERS if owner.site in ctx.learned.characters else known


def _note_texts(ctx: Context, owner: GrowingList, texts: tuple[str | None, ...]) -> None:
    owner.options = ctx.lists.texts[owner.site or (owner.buffer,)] = texts
    ctx.lists.untyped.append(owner)  # what has read it before sees it when it is translated again


def numbers_of_texts(ctx: Context, owner: GrowingList, value: Value) -> Value:
    """The texts of a list by their numbers among those of another list, which may get more; anything else as it is."""
    if not isinstance(value, GrowingList) or not value.options:
        return value
    _recall_texts(ctx, owner)
    missing = tuple(t for t in value.options if t not in owner.options)
    if missing:
        _note_texts(ctx, owner, owner.options + missing)
    plain = replace(value, options=())
    if owner.options[: len(value.options)] == value.options:
        return plain
    array = list_array(ctx, plain)
    return replace(array, body=select(array.body, [b.index(owner.options.index(t)) for t in value.options]))


def _character(ctx: Context, owner: GrowingList, code: Expr) -> Expr:
    """A character that only the run knows, as an element of a list: its code, which is its number among the texts."""
    if owner.dtype and not owner.options:
        _fail_differ(ctx)
    _recall_texts(ctx, owner)
    if not owner.options:
        _note_texts(ctx, owner, CHARACTERS)
    if owner.options[: len(CHARACTERS)] != CHARACTERS:
        error = NotKnown(
            refusals.LIST_OF_TYPES, "a character that only the run knows, in a list of texts",
            "append it to a list of its own", ctx.session.span, ctx.session.lines,
        )  # fmt: skip
        error.finding = ctx.learned.of_list("characters", owner.site)
        raise error
    inside = b.both(b.compare("greater_equal", code, b.ZERO), b.compare("less", code, b.index(len(CHARACTERS))))
    ctx.guard(inside, "RuntimeError", "a character beyond ASCII in a list is not compiled")
    return code


def _widest(one: str, other: str) -> str:
    """The type of memory for numbers of two types, of which each is known to be of the one or the other."""
    return str(np.result_type(*("int64" if d == "index" else d for d in (one, other))).name)


def _may_round(dtype: str, wanted: str) -> bool:
    return wanted in ("float64", "complex128") and dtype in ("index", "int64", "uint64")


def all_typed(ctx: Context, array: Array, dtype: str) -> Expr:
    """The elements of an array as numbers in a list of `dtype`, after a check that it holds them."""
    if not _may_round(array.dtype, dtype):
        return b.cast(array.body, dtype)
    large = b.logical_not(doubtful.is_held_by_floats(array.body))
    ctx.guard(b.logical_not(Reduce("any", array.axes, large, "bool", ctx.session.span)), "OverflowError", NOT_HELD)
    return b.cast(array.body, dtype)


def check_order(ctx: Context, owner: GrowingList, what: str) -> None:
    """Refuses to order numbers by the type of their memory where NumPy compares some in a narrower one."""
    if not owner.tags:
        return
    kinds = ctx.learned.held.tell(owner.site)
    if len(kinds) > 1 and any(dtype in ("float16", "float32", "complex64") for dtype, _ in kinds):
        problem = f"{what} of a list whose elements differ in type, some of them narrow floats"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "give them one type: x.dtype.type(number)")


def _exactly(ctx: Context, expr: Expr) -> Expr:
    """An integer that is put among floats, after a check that they hold it."""
    if ctx.facts.range_of(expr) is not None and not isinstance(expr, Const):  # within what memory there is
        return expr
    held = ctx.let(expr, "number")
    ctx.guard(doubtful.is_held_by_floats(held), "OverflowError", NOT_HELD)
    return held


def _check_sides(ctx: Context, split: Split, dtype: str) -> None:
    """Checks that the type which holds both numbers of a choice holds an integer among them."""
    for side, holds in ((split.one, split.tag), (split.two, b.logical_not(split.tag))):
        number = scalar_expr(ctx, side)
        if _may_round(number.dtype, dtype) and ctx.facts.range_of(number) is None:
            held = b.either(b.logical_not(holds), doubtful.is_held_by_floats(ctx.let(number, "number")))
            ctx.guard(held, "OverflowError", NOT_HELD)


def widen(ctx: Context, owner: GrowingList, expr: Expr) -> None:
    """What is known of the numbers in the list, after one more."""
    widen_by(ctx, owner, ctx.facts.range_of(expr))


def widen_by(ctx: Context, owner: GrowingList, low_high: tuple[Expr, Expr] | None) -> None:
    """What is known of the numbers in the list, after some of a range.

    Where a loop puts them there, and what is known has been asked for, its iterations begin with what one of them comes
    to, if that is all that the next one comes to (positions below one size); of others (`l.append(l[-1] + 1)`) nothing
    is known."""
    buffer = ctx.names.buffers[owner.buffer]
    if buffer.low is None or buffer.high is None:
        return
    reached = ctx.aliasing.reached
    known = reached.get(owner.buffer, (buffer.low, buffer.high))
    wider = None if low_high is None else (b.minimum(known[0], low_high[0]), b.maximum(known[1], low_high[1]))
    low, high = wider or (None, None)
    ctx.names.buffers[owner.buffer] = replace(buffer, low=low, high=high)
    if wider == known or owner.buffer not in ctx.aliasing.asked:
        return
    again = len(ctx.control.trips) > owner.around.depth
    if again and (wider is None or owner.buffer in reached):
        ctx.aliasing.stored.add(owner.buffer)  # what has been read of it in the loop may be of the next iteration
    elif wider is not None and (again or owner.buffer in reached):
        reached[owner.buffer] = wider


def list_type(
    ctx: Context, owner: GrowingList, dtype: str, dims: tuple[Expr, ...], python: bool, times: Expr | None = b.ONE
) -> None:
    """Room for `times` more elements of a type, wherever the loops around lead."""
    if owner.head or owner.limits.unbounded:
        times = None  # it has room on both sides, or more than anybody needs
    if times is not None and b.constant(times) is None:
        times = _trips_at_most(ctx, owner, times)
    around = ctx.control.trips[owner.around.depth :]
    if ctx.lists.replacing == owner.count and owner.count in ctx.names.bounds:
        times, around = b.ZERO, []
    trips: Expr | None = times
    if around:
        ctx.lists.grown.add(owner.count)
    for trip in around:
        if trip is not None and b.constant(trip) is None:
            owner.limits = replace(owner.limits, grown_by=trip)
            trip = _trips_at_most(ctx, owner, trip)
        trips = None if trips is None or trip is None else b.mul(trips, trip)
    bound = ctx.names.bounds.get(owner.count)
    known = owner.buffer in ctx.names.buffers
    if any(_trips_at_most(ctx, owner, d) != d for d in dims if b.constant(d) is None):
        problem = "a list of arrays whose sizes are not known before the list is made"
        if owner.row in ("", "list") and all(
            _trips_at_most(ctx, owner, d) == d for d in dims[1:] if b.constant(d) is None
        ):  # fmt: skip
            rows.wanted(ctx, owner, problem)
        ctx.must_be_known(Static(None), problem, "append arrays of one known shape", refusals.RUN_TIME_LENGTH)
    if not known:
        owner.dtype, owner.dims, owner.python = dtype, dims, python
        if trips is not None:
            bound = trips if bound is None or b.constant(bound) == 0 else b.add(bound, trips)
        bound = _room(ctx, owner, None if trips is None else bound)
        none = None if dims else b.ZERO  # of arrays nothing is known, of numbers so far that there are none
        ctx.names.buffers[owner.buffer] = n.Buffer(
            owner.buffer, dtype, (bound, *dims), line=ctx.session.span.line, low=none, high=none
        )
        ctx.names.bounds[owner.count] = bound
        ctx.lists.lengths.buffers.add(owner.buffer)
        make_tags(ctx, owner)
        return
    buffer = ctx.names.buffers[owner.buffer]
    if owner.dtype == dtype and owner.dims != dims and len(owner.dims) == len(dims):
        if all(ctx.facts.assume_equal(one, two) for one, two in zip(owner.dims, dims, strict=True)):
            dims = owner.dims
        elif dims and dims[1:] == owner.dims[1:] and not owner.row:
            rows.wanted(ctx, owner, "a list of arrays of different lengths")
    if (owner.dtype, owner.dims) != (dtype, dims) or owner.python != python:
        if owner.dims != dims:
            _fail_differ(ctx)
        mixed(ctx, owner, dtype, python, "append elements of one type and shape")
    assert bound is not None
    bound = _room(ctx, owner, None if trips is None else b.add(bound, trips))
    ctx.names.buffers[owner.buffer] = replace(buffer, dims=(bound, *dims))
    ctx.names.bounds[owner.count] = bound
    make_tags(ctx, owner)


def of_integers(ctx: Context, owner: GrowingList) -> None:
    """Makes an empty list one of Python's integers; a row that is one has its memory already."""
    if owner.row_of is None or not owner.dtype:
        list_type(ctx, owner, "index", (), True)
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])


def without_range(buffer: n.Buffer) -> n.Buffer:
    """A buffer of whose elements nothing is known."""
    return replace(buffer, low=None, high=None)


def make_tags(ctx: Context, owner: GrowingList) -> None:
    """Room for the tags of a list of several types, as much as for its numbers."""
    if owner.tags in ctx.names.buffers:
        ctx.names.buffers[owner.tags] = replace(
            ctx.names.buffers[owner.tags], dims=ctx.names.buffers[owner.buffer].dims
        )
        return
    if owner.site is None or owner.site not in ctx.learned.wanted or owner.dims or owner.columns or owner.untagged:
        return
    if owner.site in ctx.learned.held.untold:
        return
    if not owner.tags:
        owner.tags = ctx.names.fresh(f"{owner.buffer}_types")
        ctx.lists.columns[owner.buffer] = [owner.buffer, owner.tags]
    ctx.names.buffers[owner.tags] = n.Buffer(
        owner.tags, "uint8", ctx.names.buffers[owner.buffer].dims, line=ctx.session.span.line
    )


def untag(ctx: Context, owner: GrowingList) -> None:
    """The numbers of a list move in a way that its tags do not follow: all count as of the list's own type."""
    if owner.tags and owner.row_of is not None:
        problem = "a list in a list whose numbers are of several types, in another order"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "give them one type")
    owner.tags, owner.untagged = "", True


def _trips_at_most(ctx: Context, owner: GrowingList, trips: Expr) -> Expr | None:
    """How often a loop runs at most, over what is known where the list gets its memory: before the loops around."""
    bound = bound_of(ctx, trips)
    if bound is None and not buffers_read(trips) and not variables_read(trips) & set(ctx.names.variables):
        bound = trips
    names = set() if bound is None else variables_read(bound)
    before = all(v in ctx.facts.entry or v.removesuffix(".size") in owner.around.known for v in names)
    return bound if before else None


def _room(ctx: Context, owner: GrowingList, bound: Expr | None) -> Expr:
    """The length of a list's memory: its bound. Where there is none, it is more than will ever be needed, of which only
    what is touched becomes memory."""
    if bound is not None and not _is_huge(bound):
        _assume_short(ctx, bound)
        return bound
    most = guards.room(ctx, owner.dims)
    used = b.size(owner.count)
    end = b.add(Var(owner.head), used) if owner.head else used
    guards.must_have_room(ctx, b.compare("less", end, most))
    return most


def _assume_short(ctx: Context, bound: Expr) -> None:
    """A call with a number that nobody appends so often (`range(10**12)`, left by a `break`) gets other code, where
    the number is known, and with it that the bound is none."""
    numbers = dict.fromkeys(e for e in walk_expr(bound) if isinstance(e, Var) and e.name in ctx.facts.entry)
    for number in sorted(numbers, key=lambda e: e.name):
        if not b.is_size_name(number.name):
            kind = "index" if number.dtype == "index" else "float64"  # one of NumPy's has any width
            ctx.facts.assume(b.compare("less", b.cast(number, kind), b.cast(b.index(RESERVED_ROWS), kind)))


def _is_huge(bound: Expr) -> bool:
    """Whether a bound is made of that of a list which has none."""
    return ROOM in variables_read(bound) or any(
        isinstance(x, Const) and isinstance(x.value, int) and x.value >= RESERVED_ROWS for x in walk_expr(bound)
    )


def mixed(ctx: Context, owner: GrowingList, dtype: str, python: bool, help: str) -> None:
    """A list gets numbers of another type than it has: the translation begins anew, with one that holds all of them."""
    joined = holding(owner.dtype, owner.python, dtype, python) if owner.dtype else (dtype, python)
    begin_anew(ctx, owner, joined, help)


def begin_anew(
    ctx: Context, owner: GrowingList, joined: tuple[str, bool] | None, help: str = "append elements of one type"
) -> None:
    """Raises what begins anew with a list of such numbers; or returns, for the sake of what else is found out, where
    that is put off: what is translated then is for nobody."""
    error = NotKnown(
        refusals.LIST_OF_TYPES, "a list whose elements differ in type", help, ctx.session.span, ctx.session.lines
    )
    if owner.prefix or (owner.row and owner.dims):  # a table has one type; lists of lengths of their own have tags
        error.finding = ctx.learned.of_list("ragged", owner.site)
        raise error
    if joined is None or owner.site is None or owner.site[0] == "fixed":
        raise error
    before = ctx.learned.wanted.get(owner.site)
    if before is not None:
        joined = holding(*before, *joined) or (_widest(before[0], joined[0]), False)
    if joined == before:
        raise error
    error.finding = Finding("wanted", owner.site, joined)
    if owner.site not in ctx.learned.held.put_off and not put_off(ctx, error, "wanted"):
        raise error


def put_off(ctx: Context, error: NotKnown, kind: str) -> bool:
    """Whether a finding of a kind waits for what else is found out: then the translation goes on, for nobody."""
    if error.finding is None or not error.finds(kind) or ctx.control.may_be_written_out():
        return False
    ctx.learned.held.put_off[error.finding.of] = error.finding
    return True


COLUMNS = 16
"""The most items that tuples (short lists) in lists have, in a buffer for each place of theirs."""


def make_optional(ctx: Context, owner: GrowingList) -> None:
    """Makes an empty list one that may have None in it."""
    flags, _ = columns_of(ctx, owner, Seq((Static(True), Static(None)), OPTIONAL))
    list_type(ctx, flags, "bool", (), True)
    ctx.names.buffers[flags.buffer] = without_range(ctx.names.buffers[flags.buffer])


def fail_differ(ctx: Context) -> NoReturn:
    ctx.fail(refusals.LIST_OF_TYPES, "a list whose elements differ in type", "append elements of one type and shape")


def columns_of(ctx: Context, owner: GrowingList, value: Seq) -> list[GrowingList]:
    """The lists that the items of tuples stand in."""
    if value.kind == "list" and (owner.row == "list" or not owner.columns):
        different = owner.columns and len(owner.columns) != len(value.items)
        if different or len(value.items) > COLUMNS or (owner.dtype and owner.dims):
            rows.wanted(ctx, owner, "a list of lists of different lengths")
    if is_of_numbers(value) and len(owner.columns) not in (0, len(value.items)):
        if owner.row == "tuple" and all(c.dtype and not (c.options or c.objects or c.rows) for c in owner.columns):
            rows.wanted(ctx, owner, "a list of tuples of different lengths")
    if owner.dtype or len(value.items) > COLUMNS or (owner.columns and len(owner.columns) != len(value.items)):
        fail_differ(ctx)
    if not owner.columns:
        owner.row = value.kind
        for k in range(len(value.items)):
            buffer = fresh_name(ctx, f"{owner.buffer}_{k}")
            # the list is there before the loop, and keeps what is found out in it
            if owner.around.depth < len(ctx.control.trips):
                ctx.names.lasting.add(buffer)
            column = GrowingList(buffer, owner.count, around=owner.around.of_parts, head=owner.head)
            column.limits = Limits(unbounded=owner.limits.unbounded)
            owner.columns.append(column)
            column.ahead = owner.ahead
            if owner.site is not None:
                column.site = (*owner.site, k)
                column.rows = owner.ahead.get(column.site)
            if column.site is not None and column.site in ctx.learned.optional:
                make_optional(ctx, column)
        ctx.lists.columns[owner.buffer] = [c.buffer for c in owner.columns]
    if owner.row != value.kind:
        ctx.fail(refusals.LIST_OF_TYPES, "a list of lists and tuples", "append elements of one type")
    return owner.columns


def fresh_name(ctx: Context, name: str) -> str:
    """A name for a list: one of its name in a translation that has been taken back may have been one of tuples."""
    buffer = ctx.names.fresh(name)
    ctx.lists.columns.pop(buffer, None)
    return buffer

"""Lists whose length is known at run time only: a buffer with a bound, and a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend import compositions
from transkern.frontend.anew import MustGrow, NotKnown, Site
from transkern.frontend.containers import rows, twins
from transkern.frontend.containers.list_types import (
    all_typed,
    begin_anew,
    list_type,
    make_tags,
    must_hold,
    note_kinds,
    of_integers,
    tag,
    tag_of,
    tells_its_type,
    typed,
    untag,
    widen,
    without_range,
)
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of, trip_count
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.python.whole import NO_SIZE, integer_expr
from transkern.frontend.state import aliasing, guards, handing
from transkern.frontend.translate.indexing import element, is_typed, list_position
from transkern.frontend.values import doubts
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_of_numbers, is_python_number, type_name
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Concatenation,
    Dict,
    GrowingList,
    Instance,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import variables_read

_COLUMNS = 16  # items of tuples in lists
_NO_ARGUMENT = ("OverflowError", NO_SIZE)


def _fresh(ctx: Context, name: str) -> str:
    """A name for a list: one of its name in a translation that has been taken back may have been one of tuples."""
    buffer = ctx.names.fresh(name)
    ctx.lists.columns.pop(buffer, None)
    return buffer


def new(
    ctx: Context, name: str, items: Sequence[Value] = (), site: Site | None = None, queue: bool = False,
    unbounded: bool = False,
) -> GrowingList:  # fmt: skip
    """A list with `items` in it; a `queue` has room on both sides."""
    buffer = _fresh(ctx, name)
    count = ctx.names.count(buffer, b.index(len(items)))
    ctx.lists.counts.add(count.name)
    ctx.lists.depths[count.name] = len(ctx.control.trips)
    ctx.aliasing.made_in[buffer] = ctx.control.loop_path
    ctx.emit(n.Assign(count.name, b.ZERO))
    owner = GrowingList(buffer, count.name, depth=len(ctx.control.trips), site=site, known=frozenset(ctx.names.taken))
    owner.unbounded, owner.blocks = unbounded, (*ctx.emitter.around, ctx.emitter.out)
    if queue:
        owner.head = ctx.names.variable(f"{name}_head", "index").name
        least = guards.room(ctx, (b.ONE,))  # what is appended may be arrays, for which there is less room
        ctx.emit(n.Assign(owner.head, b.floordiv(least, b.index(2))))
    ctx.emit(n.Alloc(buffer))
    if site in ctx.learned.ragged:
        owner.rows = rows.made(ctx, name, site or ())
    elif site is not None:
        owner.ahead = {
            at: rows.made(ctx, name, at) for at in sorted(ctx.learned.ragged, key=repr) if _is_item_of(at, site)
        }
    if site in ctx.learned.optional:
        make_optional(ctx, owner)
    for item in items:
        append(ctx, owner, item)
    return owner


def _is_item_of(at: Site, site: Site) -> bool:
    """Whether a place is that of an item of the tuples in a list."""
    behind = at[len(site) :]
    return bool(behind) and at[: len(site)] == site and all(isinstance(k, int) for k in behind)


def make_optional(ctx: Context, owner: GrowingList) -> None:
    """Makes an empty list one that may have None in it."""
    flags, _ = _columns(ctx, owner, Seq((Static(True), Static(None)), OPTIONAL))
    list_type(ctx, flags, "bool", (), True)
    ctx.names.buffers[flags.buffer] = without_range(ctx.names.buffers[flags.buffer])


def nothings(ctx: Context, extent: Expr) -> GrowingList:
    """``[None] * extent``."""
    made = new(ctx, "items")
    flags = list_of(ctx, Array(ctx.names.axes((extent,)), b.TRUE), True)
    held = GrowingList(ctx.names.fresh(f"{made.buffer}_1"), made.count, depth=made.depth, known=made.known)
    made.row, made.columns = OPTIONAL, [replace(flags, count=made.count, extent=None), held]
    ctx.lists.columns[made.buffer] = [held.buffer]
    ctx.names.bounds[made.count] = ctx.names.bounds[flags.count]
    ctx.emit(n.Assign(made.count, extent))
    return made


def put_optional(ctx: Context, owner: GrowingList, value: Value, at: Expr) -> None:
    """None, or a value, as the element at a position."""
    if owner.prefix:
        ctx.fail(refusals.MAY_BE_NONE, "None in a list in a list", "take a number that stands for it")
    if owner.row_of is not None:  # what is there for the first time tells the type of all rows
        owner, at = owner.original, b.add(Var(owner.head), at)
    flags, held = owner.columns
    value, none = (value.value, value.none) if isinstance(value, OrNone) else (value, b.FALSE)
    if value != Static(None):
        put(ctx, held, value, at)
        put(ctx, flags, Scalar(none, True), at)
        return
    put(ctx, flags, Scalar(b.TRUE, True), at)
    _make_room_behind_none(ctx, held)


def _make_room_behind_none(ctx: Context, held: GrowingList) -> None:
    """A place that is there to be read, whatever stands in it."""
    for leaf in held.leaves:
        if leaf.buffer in ctx.names.buffers:
            list_type(ctx, leaf, leaf.dtype, leaf.dims, leaf.python)


def forget_behind_none(ctx: Context, owner: GrowingList) -> None:
    """Makes zeros of what stands where a list has None, which may be anything: it is handed back with the rest."""
    if owner.row == OPTIONAL:
        flags, held = owner.columns
        for leaf in held.leaves:
            for one in (leaf, replace(leaf, buffer=leaf.tags, dtype="uint8", python=False)):
                if one.buffer in ctx.names.buffers:
                    axis, *rest = ctx.names.axes((owner.length, *one.dims))
                    index = (*one.index(axis.var), *(a.var for a in rest))
                    none = ctx.names.load(flags.buffer, flags.index(axis.var))
                    kept = b.where(none, Const(0, one.dtype), ctx.names.load(one.buffer, index))
                    ctx.emit(n.Write(one.buffer, (axis, *rest), index, kept))
    if owner.rows is not None:
        forget_behind_none(ctx, owner.rows.pool)
    for column in owner.columns:
        forget_behind_none(ctx, column)


def optional_wanted(ctx: Context, owner: GrowingList) -> NoReturn:
    """A list has None in it: the translation begins anew, with such a one."""
    help = "take a number that stands for it"
    error = NotKnown(refusals.MAY_BE_NONE, "a list with None in it", help, ctx.session.span, ctx.session.lines)
    if owner.site is not None and owner.site[0] not in ("fixed", "argument") and owner.site not in ctx.learned.optional:
        error.optional = owner.site
    raise error


def must_be_own(ctx: Context, owner: GrowingList, grows: bool = True) -> None:
    """The list must not be an argument's own memory, which is as long as it is."""
    if owner.outside:
        handing.fail_outside(ctx)
    if owner.kind == "tuple":
        ctx.fail(refusals.OPERANDS, "a change of a tuple", "make a list of it: list(t)")
    if owner.prefix and (grows or twins.are_rows_shared(ctx, owner)):
        rows.wanted(ctx, owner, "a list in a list that changes its length, or stands in several")
    if owner.prefix:
        twins.check_originals(ctx, owner.buffer)
    if owner.row_of is not None:
        twins.check_originals(ctx, owner.row_of.rows.pool.buffer)
    if grows:
        aliasing.note_store(ctx, owner.buffer)
        ctx.emitter.before_change(owner.count)
        owner.extent = None
    buffer = ctx.names.buffers.get(owner.buffer)
    if buffer is not None and buffer.role == "argument":
        error = ctx.error(refusals.OUTSIDE_CHANGED, "this list cannot be changed", "pass an array")
        raise MustGrow(("argument", owner.buffer), error)


def must_be_fixed(
    ctx: Context, owner: GrowingList, problem: str, help: str, kind: refusals.Kind = refusals.RUN_TIME_LENGTH
) -> NoReturn:
    """The list's length must be known at specialisation."""
    ctx.must_be_known(Static(None) if owner.grown_by is None else Scalar(owner.grown_by, True), problem, help, kind)


def append(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.append``: one more element behind the others."""
    if owner.row_of is not None:
        twins.check_originals(ctx, owner.row_of.rows.pool.buffer)
        rows.append(ctx, owner.row_of, value)
        return
    must_be_own(ctx, owner)
    put(ctx, owner, value, b.size(owner.count))
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), b.ONE)))
    if owner.most is not None:
        ahead = n.Assign(owner.head, b.add(Var(owner.head), b.ONE), span=ctx.session.span)
        _shorten(ctx, owner, ahead)


def _shorten(ctx: Context, owner: GrowingList, *more: n.Stmt) -> None:
    """A queue that has got longer than it may be loses an element."""
    assert owner.most is not None
    count = b.size(owner.count)
    fewer = n.Assign(owner.count, b.sub(count, b.ONE), span=ctx.session.span)
    ctx.emit(n.If(b.compare("greater", count, owner.most), (*more, fewer)))


def queue(ctx: Context, items: Value | None, most: Value | None, site: Site) -> GrowingList:
    """``collections.deque(items, maxlen)``."""
    owner = new(ctx, "queue", (), site, queue=True)
    if most is not None and most != Static(None):
        owner.most = ctx.let(integer_expr(ctx, most), "maxlen")
        ctx.guard(b.compare("greater_equal", owner.most, b.ZERO), "ValueError", "maxlen must be non-negative")
    if items is not None:
        if owner.most is not None and items != Seq((), "list"):
            ctx.fail(refusals.DEQUE, "a deque with a maxlen and elements to begin with", "append them in a loop")
        extend(ctx, owner, items)
    return owner


def append_left(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``deque.appendleft``."""
    assert owner.head
    head = Var(owner.head)
    ctx.emit(n.Assign(owner.head, b.sub(head, b.ONE)))
    guards.must_have_room(ctx, b.compare("greater_equal", head, b.ZERO))
    put(ctx, owner, value, b.ZERO)
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), b.ONE)))
    if owner.most is not None:
        _shorten(ctx, owner)


def pop_left(ctx: Context, owner: GrowingList) -> Value:
    """``deque.popleft``."""
    assert owner.head
    count = b.size(owner.count)
    ctx.guard(b.compare("greater", count, b.ZERO), "IndexError", "pop from an empty deque")
    if not is_typed(ctx, owner):
        ctx.guard(b.FALSE, "IndexError", "pop from an empty deque")
    value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, b.ZERO)))
    ctx.emit(n.Assign(owner.head, b.add(Var(owner.head), b.ONE)))
    ctx.emit(n.Assign(owner.count, b.sub(count, b.ONE)))
    return value


def put(ctx: Context, owner: GrowingList, value: Value, count: Expr) -> None:
    """`value` as the element at `count`, where there is room made for it."""
    if owner.rows is not None:
        shown = value.rows if isinstance(value, Row) else None
        if shown is not None and rows.may_share(owner, shown):
            owner.rows = shown  # the very lists: who changes one of them changes it for both
        number = rows.number_of(ctx, owner.rows, value)
        list_type(ctx, owner, "index", (), True)
        ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
        ctx.emit(n.Store(owner.buffer, owner.index(count), number))
        return
    if isinstance(value, (Object, Dict)):
        if isinstance(value, Object) and isinstance(ctx.deref(value), Seq):
            twins.note_original(ctx, owner.buffer, value, owner.site)
        value = _as_object(ctx, value)
    value = value if isinstance(value, Instance) else ctx.deref(value)
    if owner.row == OPTIONAL:
        put_optional(ctx, owner, value, count)
        return
    if isinstance(value, OrNone) or (value == Static(None) and not owner.options):
        optional_wanted(ctx, owner)
    if isinstance(value, Instance) or owner.objects is not None:
        from transkern.frontend.containers import objects

        expr = objects.number_of(ctx, owner, value).expr
        of_integers(ctx, owner)
        ctx.emit(n.Store(owner.buffer, owner.index(count), expr))
        return
    if isinstance(value, Record) and value.is_tuple:
        if owner.of not in (None, value.kind) or (owner.of is None and owner.columns):
            _fail_differ(ctx)
        owner.of = value.kind
        value = Seq(value.items)
    elif owner.of is not None:
        _fail_differ(ctx)
    if isinstance(value, Seq) and value.row_of is not None:
        twins.join(ctx, owner.buffer, value.row_of.buffer)
    if isinstance(value, Seq) and owner.site in ctx.learned.tables:
        if len({kind for item in value.items for kind in doubts.kinds_of(item)}) > 1:
            rows.wanted(ctx, owner, "a list of lists whose elements differ in type")
        if any(isinstance(item, OrNone) or item == Static(None) for item in value.items):
            rows.wanted(ctx, owner, "a list with None in it, in a list")
        value = as_list(ctx, value)
    if isinstance(value, Seq) and value.kind.startswith("dict_"):
        problem = f"a {value.kind} in a list of run-time length: it is a view, and no list of its own"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "put a list of it there: list(…)")
    if isinstance(value, Seq) and value.kind in ("list", "tuple") and not value.items:
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    if isinstance(value, Seq):
        for column, item in zip(_columns(ctx, owner, value), value.items, strict=True):
            put(ctx, column, item, count)
        return
    if isinstance(value, GrowingList) and value.kind == "tuple":
        rows.wanted(ctx, owner, "a tuple in a list whose length only the run knows")
    if owner.columns and owner.row == "list" and isinstance(value, GrowingList):
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    if owner.columns:
        _fail_differ(ctx)
    if isinstance(value, GrowingList):
        _put_list(ctx, owner, value, count)
        return
    if isinstance(value, (Array, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        array = as_array(ctx, value)
        array = ctx.compact(array, "row") if array.mask is not None else array
        if array.view:
            aliasing.note_append(ctx, array.base)
            aliasing.note_held(ctx, owner.buffer, array.base)
            twins.note_array(ctx, owner, array)
            owner.shared = owner.shared or aliasing.is_of_argument(ctx, array.base)
        list_type(ctx, owner, array.dtype, array.dims, False)
        twins.check_left(ctx, owner)
        index = (*owner.index(count), *(a.var for a in array.axes))
        ctx.emit(n.Write(owner.buffer, array.axes, index, b.cast(array.body, owner.dtype)))
        return
    expr, python = typed(ctx, owner, value)
    if tells_its_type(value) and not owner.untagged and owner.site not in ctx.learned.wanted:
        begin_anew(ctx, owner, (expr.dtype, python))
    list_type(ctx, owner, expr.dtype, (), python)
    widen(ctx, owner, expr)
    tag(ctx, owner, count, value)
    must_hold(ctx, owner, value)
    ctx.emit(n.Store(owner.buffer, owner.index(count), b.cast(expr, owner.dtype)))


def _as_object(ctx: Context, value: Object | Dict) -> Value:
    """An object (dict) that is put into a list: a number stands for it there."""
    from transkern.frontend.containers import objects

    contents = ctx.deref(value)
    if isinstance(value, Dict) and objects.key_of(value) in ctx.lists.pools:
        return objects.placed_dict(ctx, value)
    if objects.key_of(contents) is not None:
        objects.wanted(ctx, value, f"{describe(contents)} in a list of run-time length")
    if isinstance(value, Object):
        handing.note_handed(ctx, value)
    return value


def _put_list(ctx: Context, owner: GrowingList, value: GrowingList, count: Expr) -> None:
    """A list of numbers as an element of a list, all of which are of one length."""
    length = value.extent
    if value.row == OPTIONAL:
        rows.wanted(ctx, owner, "a list with None in it, in a list")
    if length is None or value.columns or (value.dims and not value.row):
        rows.wanted(ctx, owner, "a list of lists of run-time length")
    if value.rows is not None:  # its numbers stand for lists, which are made anew where it is
        help = "put the lists into one: cells[row * n + column]"
        ctx.must_be_known(Static(None), "a list of lists of lists", help, refusals.NESTED_LIST)
    if value.objects is not None:
        rows.wanted(ctx, owner, "a list of lists of objects")
    if owner.row and owner.dims and owner.dims[0] != length and not ctx.facts.assume_equal(owner.dims[0], length):
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    array = list_array(ctx, value)
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    dtype, python = wanted or (value.dtype, value.python)
    aliasing.note_append(ctx, value.buffer)
    if names := twins.rows_named(ctx, owner) if owner.buffer in ctx.lists.twins.shorter else []:
        rows.wanted(ctx, owner, f"a list in place of one that is `{names[0]}`")
    if twins.note_row(ctx, owner, value):
        rows.wanted(ctx, owner, "a list in a list that stands in several, and is changed in a loop")
    owner.row = "list"
    list_type(ctx, owner, dtype, (length, *value.dims), python)
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
    index = (*owner.index(count), *(a.var for a in array.axes))
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))


def _fail_differ(ctx: Context) -> NoReturn:
    ctx.fail(refusals.LIST_OF_TYPES, "a list whose elements differ in type", "append elements of one type and shape")


def _columns(ctx: Context, owner: GrowingList, value: Seq) -> list[GrowingList]:
    """The lists that the items of tuples stand in."""
    if value.kind == "list" and (owner.row == "list" or not owner.columns):
        different = owner.columns and len(owner.columns) != len(value.items)
        if different or len(value.items) > _COLUMNS or (owner.dtype and owner.dims):
            rows.wanted(ctx, owner, "a list of lists of different lengths")
    if is_of_numbers(value) and len(owner.columns) not in (0, len(value.items)):
        if owner.row == "tuple" and all(c.dtype and not (c.options or c.objects or c.rows) for c in owner.columns):
            rows.wanted(ctx, owner, "a list of tuples of different lengths")
    if owner.dtype or len(value.items) > _COLUMNS or (owner.columns and len(owner.columns) != len(value.items)):
        _fail_differ(ctx)
    if not owner.columns:
        owner.row = value.kind
        for k in range(len(value.items)):
            buffer = _fresh(ctx, f"{owner.buffer}_{k}")
            # the list is there before the loop, and keeps what is found out in it
            if owner.depth < len(ctx.control.trips):
                ctx.names.lasting.add(buffer)
            column = GrowingList(buffer, owner.count, depth=owner.depth, head=owner.head, known=owner.known)
            column.unbounded = owner.unbounded
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


def as_table(ctx: Context, owner: GrowingList) -> None:
    """A list of short lists whose items change: the translation begins anew, with rows of one type."""
    if owner.site is None or owner.site in ctx.learned.tables or owner.row != "list":
        return
    help = "make it an array with two dimensions"
    error = NotKnown(refusals.NESTED_LIST, "a store into a list in a list", help, ctx.session.span, ctx.session.lines)
    error.table = owner.site
    raise error


def as_list(ctx: Context, value: Seq) -> GrowingList:
    """A list of numbers whose length is known."""
    array = as_array(ctx, value)
    if array.ndim != 1 or not all(is_number(i) or isinstance(i, Scalar) for i in value.items):
        ctx.fail(refusals.LIST_OF_TYPES, "a list of lists of different things", "use an array with two dimensions")
    python = all(is_python_number(i) for i in value.items)
    body = b.as_index(array.body) if python and array.dtype == "int64" else array.body
    return list_of(ctx, replace(array, body=body), python)


def with_types(ctx: Context, owner: GrowingList) -> GrowingList:
    """A list as one of the types that are put into it later."""
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    if wanted is None or owner.columns or not owner.dtype:
        return owner
    made = owner
    tagged = owner.tags in ctx.names.buffers
    if tagged:  # a copy, of which is not known of what list
        ctx.learned.held.note(owner.site, ctx.learned.held.tell(None))
    if (owner.dtype, owner.python) != wanted:
        array = list_array(ctx, owner)
        made = list_of(ctx, replace(array, body=all_typed(ctx, array, wanted[0]), view=False), wanted[1])
        made.site, made.row, made.extent = owner.site, owner.row, owner.extent
    make_tags(ctx, made)
    if tagged and made is not owner:
        kinds = list_array(ctx, replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags=""))
        ctx.emit(n.Write(made.tags, kinds.axes, tuple(a.var for a in kinds.axes), kinds.body))
    elif made.tags and not tagged:
        axis = ctx.names.axis("i", made.length)
        of_before = Scalar(Const(0, owner.dtype), owner.python)
        note_kinds(ctx, made, of_before)
        kind = tag_of(of_before)
        ctx.emit(n.Write(made.tags, (axis,), (axis.var,), kind))
    return made


def extend(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.extend``."""
    must_be_own(ctx, owner)
    contents = ctx.deref(value)
    if isinstance(contents, Static) and not isinstance(contents.value, np.ndarray):
        asked(ctx, iter, contents.value)
    if isinstance(contents, Scalar):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(contents)}' object is not iterable")
    if owner.row_of is not None and not isinstance(contents, Static):
        rows.extend(ctx, owner.row_of, contents)
        return
    of_numpy = isinstance(contents, Static) and isinstance(contents.value, (np.generic, np.ndarray))
    if isinstance(contents, (Seq, Static)) and not of_numpy:
        items = contents.items if isinstance(contents, Seq) else [Static(v) for v in contents.value]
        for item in items:
            append(ctx, owner, item)
        return
    if isinstance(contents, GrowingList) and not is_typed(ctx, contents):
        return
    if isinstance(contents, GrowingList) and rows.go_one_by_one(owner, contents):
        compositions.compose(ctx, "lists", "put_behind", [owner, contents], {})
        return
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), _put_behind(ctx, owner, contents))))


def _put_behind(ctx: Context, owner: GrowingList, contents: Value) -> Expr:
    """The elements of a list or an array, behind those that a list has; how many they are."""
    if isinstance(contents, GrowingList) and contents.columns:
        if (owner.columns or owner.of) and owner.of is not contents.of:
            _fail_differ(ctx)
        owner.of = contents.of
        columns = _columns(ctx, owner, Seq((Static(None),) * len(contents.columns), contents.row))
        for mine, its in zip(columns, contents.columns, strict=True):
            added = _put_behind(ctx, mine, its)
        return added
    if owner.columns:
        _fail_differ(ctx)
    contents = _of_one_class(ctx, owner, contents)
    contents = rows.as_numbers(ctx, owner, contents)
    array, python = _numbers(ctx, contents)
    twins.note_more(ctx, owner, contents)
    is_python = python
    _takes_types_of(ctx, owner, contents, (array.dtype, python))
    extent = bound_of(ctx, array.dims[0])
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    dtype, python = wanted or (array.dtype if array.dtype != "int64" or not python else "index", python)
    list_type(ctx, owner, dtype, array.dims[1:], python, extent)
    buffer = ctx.names.buffers[owner.buffer]
    ctx.names.buffers[owner.buffer] = replace(buffer, low=None, high=None)
    count = b.size(owner.count)
    index = (*owner.index(b.add(count, array.axes[0].var)), *(a.var for a in array.axes[1:]))
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))
    _tag_many(ctx, owner, contents, array, is_python, index)
    return array.dims[0]


def _takes_types_of(ctx: Context, owner: GrowingList, value: Value, kind: tuple[str, bool]) -> None:
    """A list that gets the numbers of one of several types is one as well."""
    if isinstance(value, GrowingList) and value.tags and not owner.untagged and owner.site not in ctx.learned.wanted:
        begin_anew(ctx, owner, kind)


def _of_one_class(ctx: Context, owner: GrowingList, more: Value) -> Value:
    """A list that is put behind another: of objects the numbers, where those of the other are of the same class."""
    of = more.objects if isinstance(more, GrowingList) else None
    if of is None and owner.objects is None:
        return more
    if of is None or owner.objects not in (None, of) or (owner.objects is None and owner.dtype):
        ctx.fail(refusals.LIST_OF_TYPES, "a list whose elements differ in type", "append objects of one class")
    owner.objects = of
    assert isinstance(more, GrowingList)
    return replace(more, objects=None)


def put_many(ctx: Context, owner: GrowingList, value: Value, at: Expr) -> None:
    """The elements of a list or an array from a position on, where there is room made for them."""
    if isinstance(value, GrowingList) and value.columns:
        columns = _columns(ctx, owner, Seq((Static(None),) * len(value.columns), value.row))
        for mine, its in zip(columns, value.columns, strict=True):
            if its.dtype or its.columns:
                put_many(ctx, mine, its, at)
            else:  # there is None alone in it, as far as is known
                ctx.lists.untyped.append(its.original)
                _make_room_behind_none(ctx, mine)
        return
    if owner.columns:
        _fail_differ(ctx)
    value = rows.as_numbers(ctx, owner, value)
    value = _of_one_class(ctx, owner, value)
    array, is_python = _numbers(ctx, value)
    python = is_python
    twins.note_more(ctx, owner, value)
    _takes_types_of(ctx, owner, value, (array.dtype, python))
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    dtype, python = wanted or (array.dtype if array.dtype != "int64" or not python else "index", python)
    list_type(ctx, owner, dtype, array.dims[1:], python)
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
    index = (b.add(at, array.axes[0].var), *(a.var for a in array.axes[1:]))
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))
    _tag_many(ctx, owner, value, array, is_python, index)


def _tag_many(
    ctx: Context, owner: GrowingList, value: Value, array: Array, python: bool, index: tuple[Expr, ...]
) -> None:
    """Notes of which types the numbers are that have been put into a list of several types."""
    if not owner.tags:
        return
    is_index = python and array.dtype == "int64"
    one = Scalar(b.as_index(array.body) if is_index else array.body, python)
    kinds = tag_of(one)
    if not (isinstance(value, GrowingList) and value.tags in ctx.names.buffers):
        note_kinds(ctx, owner, one)
    else:
        ctx.learned.held.note(owner.site, ctx.learned.held.tell(value.site))
        kinds = ctx.names.load(value.tags, value.index(array.axes[0].var))
    ctx.emit(n.Write(owner.tags, array.axes, index, kinds))


def _numbers(ctx: Context, value: Value) -> tuple[Array, bool]:
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
        return ctx.kept(array), False
    help = "append in a loop, or use np.concatenate"
    ctx.fail(refusals.OPERANDS, f"extending a list by {describe(value)}", help)


def numbers(ctx: Context, value: Value) -> Array:
    """The elements of an iterable of run-time length, of their own type."""
    return _numbers(ctx, value)[0]


def list_of(ctx: Context, array: Array, python: bool) -> GrowingList:
    """A new list of an array's elements (its rows)."""
    if python and array.dtype == "int64":
        array = replace(array, body=b.as_index(array.body))
    owner = new(ctx, "items")
    owner.extent = array.domain[0] if variables_read(array.domain[0]) <= ctx.facts.entry else None
    array = ctx.kept(array)
    _hold(ctx, owner, array, python)
    ctx.emit(n.Assign(owner.count, array.dims[0]))
    return owner


def _hold(ctx: Context, owner: GrowingList, array: Array, python: bool) -> None:
    """The elements of an array in the memory of a new list, or of one of its columns."""
    owner.depth = len(ctx.control.trips)
    ctx.names.bounds[owner.count] = b.ZERO
    list_type(ctx, owner, array.dtype, array.dims[1:], python, bound_of(ctx, array.dims[0]))
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
    ctx.emit(n.Write(owner.buffer, array.axes, tuple(a.var for a in array.axes), array.body))


def changed(ctx: Context, owner: GrowingList, part: Callable[[Array], Array]) -> GrowingList:
    """A new list of `part` of the elements, which `part` takes of each column."""
    if not owner.columns:
        array, python = _numbers(ctx, replace(owner, rows=None, options=(), objects=None))
        made = list_of(ctx, part(array), python)
        made.row, made.rows, made.options, made.objects = owner.row, owner.rows, owner.options, owner.objects
        made.shared, made.site = owner.shared, owner.site
        twins.note(ctx, made, owner)
        if owner.tags in ctx.names.buffers:
            kinds = part(list_array(ctx, replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags="")))
            tags = n.Buffer(ctx.names.fresh(f"{made.buffer}_types"), "uint8", ctx.names.buffers[made.buffer].dims)
            made.tags, ctx.names.buffers[tags.name] = tags.name, tags
            ctx.emit(n.Alloc(tags.name))
            ctx.emit(n.Write(tags.name, kinds.axes, tuple(a.var for a in kinds.axes), kinds.body))
        return made
    columns = [changed(ctx, c, part) for c in owner.columns]
    made = of_columns(ctx, columns, owner.row, b.size(columns[0].leaves[0].count))
    made.of, made.site = owner.of, owner.site
    twins.note(ctx, made, owner)
    return made


def gathered(ctx: Context, owner: GrowingList, positions: Array) -> GrowingList:
    """A new list of the elements at some positions, which it has; lists among them are the same lists."""
    if not is_typed(ctx, owner):
        return new(ctx, "items")
    if not owner.columns:
        axis = positions.axes[0]

        def part(array: Array) -> Array:
            rest = array.axes[1:]
            return Array((axis, *rest), array.at((b.as_index(positions.body), *(a.var for a in rest))))

        return changed(ctx, owner, part)
    made = of_columns(ctx, [gathered(ctx, c, positions) for c in owner.columns], owner.row, positions.dims[0])
    made.of, made.site = owner.of, owner.site
    twins.note(ctx, made, owner)
    return made


def of_columns(ctx: Context, columns: Sequence[GrowingList], row: str, length: Expr) -> GrowingList:
    """A list of tuples of the elements of lists of one length."""

    def counted(one: GrowingList, count: str) -> GrowingList:
        return replace(one, count=count, columns=[counted(c, count) for c in one.columns])

    made = new(ctx, "items")
    made.row, made.columns = row, [counted(c, made.count) for c in columns]
    ctx.lists.columns[made.buffer] = []
    ctx.names.bounds[made.count] = ctx.names.bounds[columns[0].count]
    ctx.emit(n.Assign(made.count, length))
    return made


def check_moved(ctx: Context, owner: GrowingList, why: str) -> None:
    """The arrays and lists in a list are about to change places: nobody may still look at one where it stood."""
    twins.check_views(ctx, owner, f"arrays in a list {why}")
    if names := twins.rows_named(ctx, owner):
        rows.wanted(ctx, owner, f"lists in a list {why}, while `{names[0]}` is one")


def reverse(ctx: Context, owner: GrowingList) -> None:
    """``list.reverse``."""
    must_be_own(ctx, owner, grows=False)
    check_moved(ctx, owner, "put into another order")
    aliasing.note_store(ctx, owner.buffer)
    if not is_typed(ctx, owner):
        return
    last = b.sub(owner.length, b.ONE)

    def turn(column: GrowingList) -> None:
        axes = ctx.names.axes((column.length, *column.dims))
        rest = tuple(a.var for a in axes[1:])
        held = ctx.names.load(column.buffer, (*column.index(b.sub(last, axes[0].var)), *rest))
        turned = ctx.define(Array(axes, held), "reversed")
        index = (*column.index(turned.axes[0].var), *(a.var for a in turned.axes[1:]))
        ctx.emit(n.Write(column.buffer, turned.axes, index, turned.body))

    each(ctx, owner, turn)


def put_all(ctx: Context, owner: GrowingList, array: Array) -> None:
    """As many numbers as the list has, into it."""
    untag(ctx, owner)
    must_be_own(ctx, owner, grows=False)
    aliasing.note_store(ctx, owner.buffer)
    index = owner.index(array.axes[0].var)
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))


def put_back(ctx: Context, owner: GrowingList, made: GrowingList) -> None:
    """The elements of another list of the same length, in the place of those of a list."""
    must_be_own(ctx, owner, grows=False)
    check_moved(ctx, owner, "put into another order")
    aliasing.note_store(ctx, owner.buffer)
    if owner.columns:
        for mine, its in zip(owner.columns, made.columns, strict=True):
            put_back(ctx, mine, its)
        return
    for mine_in, its_in in ((owner.buffer, made.buffer), (owner.tags, made.tags)):
        if its_in in ctx.names.buffers:
            axes = ctx.names.axes((made.length, *(owner.dims if mine_in == owner.buffer else ())))
            rest = tuple(a.var for a in axes[1:])
            held = ctx.names.load(its_in, (axes[0].var, *rest))
            ctx.emit(n.Write(mine_in, axes, (*owner.index(axes[0].var), *rest), held))


def copied(ctx: Context, owner: GrowingList) -> GrowingList:
    """``list.copy``."""
    if not owner.dtype and not owner.columns:
        is_typed(ctx, owner)
        return new(ctx, "items")
    made = changed(ctx, owner, lambda array: array)
    made.extent = owner.extent
    return made


def from_items(ctx: Context, value: Value, site: Site | None = None) -> GrowingList:
    """A list of what a tuple or list holds."""
    assert isinstance(value, Seq)
    made = new(ctx, "items", value.items, site)
    made.extent = b.index(len(value.items))
    return made


def each(ctx: Context, owner: GrowingList, change: Callable[[GrowingList], None]) -> None:
    for column in owner.leaves:
        change(column)
        if column.tags in ctx.names.buffers:
            change(replace(column, buffer=column.tags, dtype="uint8", tags=""))


def clear(ctx: Context, owner: GrowingList) -> None:
    must_be_own(ctx, owner)
    _set_length(ctx, owner, b.ZERO)


def _set_length(ctx: Context, owner: GrowingList, length: Expr) -> None:
    twins.note_shorter(ctx, owner)
    ctx.emit(n.Assign(owner.count, length))
    if owner.row_of is not None:
        rows.set_size(ctx, owner.row_of, b.size(owner.count))


def pop(ctx: Context, owner: GrowingList, item: Value | None) -> Value:
    """``list.pop``: the last element, or one further in front, behind which the others move up."""
    must_be_own(ctx, owner)
    at = b.neg(b.ONE) if item is None else list_position(ctx, item, *_NO_ARGUMENT)
    count = b.size(owner.count)
    kind = "an empty deque" if owner.is_queue else "empty list"
    ctx.guard(b.compare("greater", count, b.ZERO), "IndexError", f"pop from {kind}")
    if not is_typed(ctx, owner):
        ctx.guard(b.FALSE, "IndexError", f"pop from {kind}")
    last = b.sub(count, b.ONE)
    if b.constant(at) == -1:
        value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, last)))
        _set_length(ctx, owner, last)
        return value
    _not_queue(ctx, owner, "pop")
    at = position_in(ctx, owner, at, "pop index out of range")
    value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, at)))
    _close_gap(ctx, owner, at)
    return value


def delete(ctx: Context, owner: GrowingList, item: Value) -> None:
    """``del list[k]``."""
    must_be_own(ctx, owner)
    at = list_position(ctx, item)
    _not_queue(ctx, owner, "del")
    at = position_in(ctx, owner, at, "list assignment index out of range")
    if is_typed(ctx, owner):  # or it has no element
        _close_gap(ctx, owner, at)


def _close_gap(ctx: Context, owner: GrowingList, at: Expr) -> None:
    """What stands behind a position moves up by one."""
    check_moved(ctx, owner, "of which one is taken out")
    last = b.sub(b.size(owner.count), b.ONE)

    def move(column: GrowingList) -> None:
        axes = ctx.names.axes((b.sub(last, at), *column.dims))
        here = b.add(at, axes[0].var)
        rest = tuple(a.var for a in axes[1:])
        moved = ctx.names.load(column.buffer, (*column.index(b.add(here, b.ONE)), *rest))
        ctx.emit(n.Write(column.buffer, axes, (*column.index(here), *rest), moved))

    each(ctx, owner, move)
    _set_length(ctx, owner, last)


def _not_queue(ctx: Context, owner: GrowingList, name: str) -> None:
    if owner.is_queue:
        ctx.fail(refusals.DEQUE, f"`{name}` inside a deque", "use a list")


def held(ctx: Context, value: Value, moved: bool = True) -> Value:
    """`value` now, as the list that it is in is about to change; `moved`: it will not stand there, then."""
    match value:
        case Scalar(expr, python, tag, doubt):
            kept = None if tag is None else ctx.let(tag, "popped type")
            return Scalar(ctx.let(expr, "popped"), python, kept, doubts.named(ctx, doubt, "popped"))
        case OneOf(index, options):
            return OneOf(ctx.let(index, "popped"), options)
        case Seq(items, kind):
            return Seq(tuple(held(ctx, i) for i in items), kind)
        case OrNone(inner, none):
            return OrNone(held(ctx, inner), ctx.let(none, "popped is None"))
        case Array():
            return ctx.define(replace(value, view=False), "popped")
        case Instance(pool, number):
            return Instance(pool, ctx.let(number, "popped"))
        case GrowingList() if value.prefix:
            copy = list_of(ctx, list_array(ctx, value), value.python)
            if not moved:
                ctx.lists.twins.rows.copies[copy.buffer] = value.buffer
            return copy
        case _:
            return value


def position_in(ctx: Context, owner: GrowingList, at: Expr, message: str) -> Expr:
    """A position that a list has, of one that may count from its end; IndexError with `message` where it has none."""
    count = owner.length
    at = ctx.let(at, "at")
    if ctx.control.trusted:
        return at
    inside = b.both(b.compare("less", at, count), b.compare("greater_equal", at, b.neg(count)))
    ctx.guard(inside, "IndexError", message)
    return b.wrap_index(at, count)


def insert(ctx: Context, owner: GrowingList, item: Value, value: Value) -> None:
    """``list.insert``: put behind the others, the element changes places with those from `position` on."""
    must_be_own(ctx, owner)
    _not_queue(ctx, owner, "insert")
    count = owner.length
    at = list_position(ctx, item, *_NO_ARGUMENT)
    place = ctx.let(b.maximum(b.minimum(b.wrap_index(at, count), count), b.ZERO), "at")
    check_moved(ctx, owner, "behind one that is put among them")
    append(ctx, owner, value)
    here = owner if owner.row_of is None else handing.opened(ctx, owner.row_of)
    last = b.sub(here.length, b.ONE)

    def move(column: GrowingList) -> None:
        axis, *rest = ctx.names.axes((b.sub(last, place), *column.dims))
        behind = tuple(a.var for a in rest)
        lain = ctx.names.load(column.buffer, (*column.index(last), *behind))
        behind_all = ctx.define(Array(tuple(rest), lain), "inserted").at(behind) if rest else None
        new = ctx.let(lain, "inserted") if behind_all is None else behind_all
        above = b.add(place, axis.var)
        moved = ctx.names.load(column.buffer, (*column.index(above), *behind))
        ctx.emit(n.Write(column.buffer, (axis, *rest), (*column.index(b.add(above, b.ONE)), *behind), moved))
        if rest:
            ctx.emit(n.Write(column.buffer, tuple(rest), (*column.index(place), *behind), new))
        else:
            ctx.emit(n.Store(column.buffer, column.index(place), new))

    each(ctx, here, move)

"""What is put into lists whose length is known at run time only: numbers, tuples, arrays, lists and objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from transkern import refusals
from transkern.frontend.anew import Finding, MustGrow, NotKnown
from transkern.frontend.containers import list_types, pools, rows
from transkern.frontend.containers.elements import numbers, numbers_of, row_start
from transkern.frontend.containers.list_types import (
    all_typed,
    begin_anew,
    columns_of,
    fail_differ,
    list_type,
    must_hold,
    note_kinds,
    of_integers,
    put_off,
    tag,
    tag_of,
    tells_its_type,
    typed,
    widen,
    without_range,
)
from transkern.frontend.containers.making import as_list, become_optional
from transkern.frontend.containers.pools import check_attribute, is_list_now, key_of, wanted
from transkern.frontend.containers.rows import make_room, set_size, size_of
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.state import aliasing, guards, handing, twins
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Concatenation,
    Dict,
    GrowingList,
    Hashed,
    Instance,
    Object,
    OrNone,
    Pool,
    Record,
    Row,
    Rows,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var


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


def must_be_own(ctx: Context, owner: GrowingList, grows: bool = True) -> None:
    """The list must not be an argument's own memory, which is as long as it is."""
    if owner.outside:
        handing.fail_outside(ctx, owner)
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


def append(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.append``: one more element behind the others."""
    if owner.row_of is not None:
        twins.check_originals(ctx, owner.row_of.rows.pool.buffer)
        aliasing.note_store(ctx, owner.row_of.rows.pool.buffer)
        _put_each(ctx, owner.row_of, (value,))
        return
    must_be_own(ctx, owner)
    try:
        put(ctx, owner, value, b.size(owner.count))
    except NotKnown as error:
        if not put_off(ctx, error, "ragged"):
            raise
        ctx.session.look_on()
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), b.ONE)))
    if owner.limits.most is not None:
        ahead = n.Assign(owner.head, b.add(Var(owner.head), b.ONE), span=ctx.session.span)
        shorten(ctx, owner, ahead)


def shorten(ctx: Context, owner: GrowingList, *more: n.Stmt) -> None:
    """A queue that has got longer than it may be loses an element."""
    most, count = owner.limits.most, b.size(owner.count)
    assert most is not None
    fewer = n.Assign(owner.count, b.sub(count, b.ONE), span=ctx.session.span)
    twins.note_shorter(ctx, owner, in_front=bool(more))
    ctx.emit(n.If(b.compare("greater", count, most), (*more, fewer)))


def put(ctx: Context, owner: GrowingList, value: Value, count: Expr) -> None:
    """`value` as the element at `count`, where there is room made for it."""
    if owner.rows is not None:
        shown = value.rows if isinstance(value, Row) else None
        if shown is not None and rows.may_share(owner, shown):
            owner.rows = shown  # the very lists: who changes one of them changes it for both
        number = row_number(ctx, owner.rows, value)
        list_type(ctx, owner, "index", (), True)
        ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
        ctx.emit(n.Store(owner.buffer, owner.index(count), number))
        return
    if pools.is_keyed(ctx, value):
        value = placed_keyed(ctx, value)
    if isinstance(value, (Object, Dict)):
        if isinstance(value, Object) and isinstance(ctx.deref(value), Seq):
            twins.note_original(ctx, owner.buffer, value, owner.site)
        value = _as_object(ctx, value)
    value = value if isinstance(value, Instance) else ctx.deref(value)
    value = formatted.as_element(ctx, owner, value)
    if owner.row != OPTIONAL and (isinstance(value, OrNone) or (value == Static(None) and not owner.options)):
        become_optional(ctx, owner)
    if owner.row == OPTIONAL:
        put_optional(ctx, owner, value, count)
        return
    if isinstance(value, Instance) or owner.objects is not None:
        expr = object_number(ctx, owner, value).expr
        of_integers(ctx, owner)
        ctx.emit(n.Store(owner.buffer, owner.index(count), expr))
        return
    if isinstance(value, Record) and value.is_tuple:
        if owner.of not in (None, value.kind) or (owner.of is None and owner.columns):
            fail_differ(ctx)
        owner.of = value.kind
        value = Seq(value.items)
    elif owner.of is not None:
        fail_differ(ctx)
    if isinstance(value, Seq) and value.row_of is not None:
        twins.join(ctx, owner.buffer, value.row_of.buffer)
    if isinstance(value, Seq) and owner.site in ctx.learned.tables:
        if len({kind for item in value.items for kind in doubts.kinds_of(item)}) > 1:
            rows.wanted(ctx, owner, "a list of lists whose elements differ in type")
        if any(isinstance(item, OrNone) or item == Static(None) for item in value.items):
            rows.wanted(ctx, owner, "a list with None in it, in a list")
        value = as_list(ctx, value)
    elif isinstance(value, Seq) and value.kind == "list" and not (owner.columns or owner.dtype):
        if len(value.items) > list_types.COLUMNS and all(is_number(i) or isinstance(i, Scalar) for i in value.items):
            handing.fail_row(ctx, owner)  # not a buffer for each place, and no memory for each row, until one differs
    if isinstance(value, Seq) and value.kind.startswith("dict_"):
        problem = f"a {value.kind} in a list of run-time length: it is a view, and no list of its own"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "put a list of it there: list(…)")
    if isinstance(value, Seq) and value.kind in ("list", "tuple") and not value.items:
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    if isinstance(value, Seq):
        for column, item in zip(columns_of(ctx, owner, value), value.items, strict=True):
            put(ctx, column, item, count)
        return
    if isinstance(value, GrowingList) and value.kind == "tuple":
        rows.wanted(ctx, owner, "a tuple in a list whose length only the run knows")
    if owner.columns and owner.row == "list" and isinstance(value, GrowingList):
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    if owner.columns:
        fail_differ(ctx)
    if isinstance(value, GrowingList):
        _put_list(ctx, owner, value, count)
        return
    if isinstance(value, (Array, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        array = as_array(ctx, value)
        array = ctx.compact(array, "row") if array.mask is not None else array
        if array.view:
            owner.shared = handing.note_element(ctx, owner, array) or owner.shared
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
    contents = ctx.deref(value)
    if isinstance(value, Dict) and key_of(value) in ctx.lists.pools:
        return placed_dict(ctx, value)
    if key_of(contents) is not None:
        wanted(ctx, value, f"{describe(contents)} in a list of run-time length")
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


def takes_types_of(ctx: Context, owner: GrowingList, value: Value, kind: tuple[str, bool]) -> None:
    """A list that gets the numbers of one of several types is one as well."""
    if isinstance(value, GrowingList) and value.tags and not owner.untagged and owner.site not in ctx.learned.wanted:
        begin_anew(ctx, owner, kind)


def of_one_class(ctx: Context, owner: GrowingList, more: Value) -> Value:
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
        if (owner.columns or owner.of) and owner.of is not value.of:
            fail_differ(ctx)
        owner.of = value.of
        columns = columns_of(ctx, owner, Seq((Static(None),) * len(value.columns), value.row))
        for mine, its in zip(columns, value.columns, strict=True):
            if its.dtype or its.columns:
                put_many(ctx, mine, its, at)
            else:  # there is None alone in it, as far as is known
                ctx.lists.untyped.append(its.original)
                _make_room_behind_none(ctx, mine)
        return
    if owner.columns:
        fail_differ(ctx)
    value = rows.as_numbers(ctx, owner, value)
    value = of_one_class(ctx, owner, list_types.numbers_of_texts(ctx, owner, value))
    rows.must_be_alike(ctx, owner, value)
    array, is_python = numbers_of(ctx, value)
    twins.note_more(ctx, owner, value)
    takes_types_of(ctx, owner, value, (array.dtype, is_python))
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    dtype, python = wanted or (array.dtype if array.dtype != "int64" or not is_python else "index", is_python)
    list_type(ctx, owner, dtype, array.dims[1:], python)
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
    index = (b.add(at, array.axes[0].var), *(a.var for a in array.axes[1:]))
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))
    tag_many(ctx, owner, value, array, is_python, index)


def tag_many(
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


def row_number(ctx: Context, held: Rows, value: Value) -> Expr:
    """The number of the row that `value` is, or of a new one with its elements."""
    if isinstance(value, Row) and value.rows is held:
        return value.number
    contents = ctx.deref(value)
    if isinstance(contents, (Array, Concatenation)):
        return _array_number(ctx, held, contents)
    if (text := rows.text_of(contents)) is not None and held.kind in ("", "text"):
        held.kind = "text"
        return _row_of(ctx, held, text).number  # it gets no longer
    kind = rows.kind_of(ctx, contents)
    if kind not in (("list", "tuple", "deque") if not held.kind else (held.kind,)):
        among = held.kind or "list"
        help = f"append {among}s only" + {"tuple": ": (x,) for a number", "list": ": [x] for a number"}.get(among, "")
        ctx.fail(refusals.LIST_OF_TYPES, f"{describe(contents)} among {among}s", help)
    held.kind = kind
    if isinstance(value, Object):
        handing.note_handed(ctx, value)
    twins.note_original(ctx, held.pool.buffer, value if isinstance(value, Object) else contents, held.pool.site)
    if isinstance(contents, Seq) and contents.row_of is not None:
        twins.note_original(ctx, held.pool.buffer, contents.row_of, held.pool.site)
    assert isinstance(contents, (GrowingList, Seq))
    if isinstance(contents, GrowingList) and (isinstance(value, Row) or not handing.is_last_look(ctx, value)):
        aliasing.note_append(ctx, contents.buffer)
    number = _new_row(ctx, held)
    extend_row(ctx, Row(held, number), contents, is_new=True)
    return number


def _array_number(ctx: Context, held: Rows, value: Array | Concatenation) -> Expr:
    """The number of a new row with the elements of an array: that is what stands in the list around, then."""
    array = ctx.kept(as_array(ctx, value))
    if held.kind not in ("", "array"):
        ctx.fail(refusals.LIST_OF_TYPES, f"an array among {held.kind}s", "append arrays only")
    held.kind = "array"
    if array.view:
        held.shared = handing.note_element(ctx, held.pool, array) or held.shared
    number = _new_row(ctx, held)
    extend_row(ctx, Row(held, number), array, is_new=True)
    return number


def _new_row(ctx: Context, held: Rows, start: Expr | None = None, size: Expr = b.ZERO) -> Expr:
    """The number of a new row, without elements or with those that are put there."""
    number = ctx.let(b.size(held.starts.count), "number")
    start = b.size(held.pool.count) if start is None else start
    for one, value in ((held.starts, start), (held.sizes, size), (held.rooms, size)):
        append(ctx, one, Scalar(value, True))
        ctx.names.buffers[one.buffer] = list_types.without_range(ctx.names.buffers[one.buffer])
    return number


def _put_each(ctx: Context, row: Row, items: Sequence[Value]) -> None:
    """A known number of elements behind those of a row."""
    size = size_of(ctx, row)
    with ctx.emitter.block(ctx.emitter.out) as stores:  # it tells the elements' type
        for k, item in enumerate(items):
            put(ctx, row.rows.pool, item, b.add(row_start(ctx, row), b.add(size, b.index(k))))
    _behind(ctx, row, size, b.index(len(items)), stores)


def _behind(ctx: Context, row: Row, size: Expr, more: Expr, stores: Sequence[n.Stmt]) -> None:
    """The row gets as many more elements as these `stores` put there."""
    make_room(ctx, row, size, more)
    ctx.emitter.out.extend(stores)
    set_size(ctx, row, b.add(size, more))


def extend_row(ctx: Context, row: Row, value: Value, is_new: bool = False) -> None:
    """The elements of a list or an array behind those of a row; of a new one, nobody has seen it without."""
    if not is_new:
        aliasing.note_store(ctx, row.rows.pool.buffer)
    contents = ctx.deref(value)
    if isinstance(contents, Seq):
        if contents.items:
            _put_each(ctx, row, contents.items)
        return
    if isinstance(contents, GrowingList) and not contents.dtype and not contents.columns:
        ctx.lists.untyped.append(contents.original)
        return
    if not isinstance(contents, GrowingList):
        contents = ctx.kept(numbers(ctx, contents))
    size = size_of(ctx, row)
    more = ctx.let(contents.length if isinstance(contents, GrowingList) else contents.dims[0], "more")
    with ctx.emitter.block(ctx.emitter.out) as stores:
        put_many(ctx, row.rows.pool, contents, b.add(row_start(ctx, row), size))
    _behind(ctx, row, size, more, stores)


def placed_dict(ctx: Context, contents: Value) -> Value:
    """A dict that has just been made, in the lists of those with its keys where it has some."""
    held = ctx.lists.pools.get(key_of(contents) or ())
    if held is None or not isinstance(contents, Dict):
        return contents
    return put_object(ctx, held, dict(zip(contents.keys, contents.items, strict=True)))


def placed_keyed(ctx: Context, value: Value) -> Instance:
    """A set or a dict that is put into a list, in the lists of all: as a copy, unless it was made there."""
    contents = ctx.deref(value)
    if isinstance(contents, Hashed) and contents.instance is not None:
        return contents.instance
    problem = f"{describe(contents)} in a list or dict of run-time length"
    held = pools.pool_of(ctx, contents, problem)
    pools.check_like(ctx, held, contents)
    if isinstance(value, Object) and not handing.is_last_look(ctx, value):
        error = NotKnown(refusals.TWO_NAMES, problem, "put a copy there: set(s)", ctx.session.span, ctx.session.lines)
        site = ctx.heap.sites[value.token]
        if ctx.learned.of_list("together", site) is not None:
            error.finding = Finding("together", frozenset((site,)))
        raise error
    made: dict[str, Value] = {}
    for (name, part), column in zip(pools.parts_of(ctx, contents).items(), held.owner.columns, strict=True):
        assert column.rows is not None
        made[name] = _row_of(ctx, column.rows, part)
    if isinstance(value, Hashed) and not handing.is_last_look(ctx, value):
        handing.only_read(ctx, value)
    return put_object(ctx, held, made)


def _row_of(ctx: Context, held: Rows, part: Value) -> Row:
    """A new row that is as long as a list, with its elements."""
    pool, contents = held.pool, ctx.deref(part)
    assert isinstance(contents, (Seq, GrowingList))
    size = b.index(len(contents.items)) if isinstance(contents, Seq) else ctx.let(contents.length, "size")
    start, end = ctx.let(b.size(pool.count), "start"), ctx.let(b.add(b.size(pool.count), size), "end")
    guards.must_have_room(ctx, b.compare("less", end, guards.room(ctx, ())))
    number = _new_row(ctx, held, start, size)
    held.kind = held.kind or "list"
    ctx.emit(n.Assign(pool.count, end))
    if isinstance(contents, Seq):
        for k, item in enumerate(contents.items):
            put(ctx, pool, item, b.add(start, b.index(k)))
    elif contents.dtype or contents.columns:
        put_many(ctx, pool, contents, start)
    else:
        ctx.lists.untyped.append(contents.original)
    return Row(held, number)


def put_object(ctx: Context, held: Pool, items: Mapping[str, Value]) -> Instance:
    """A new object with these attributes."""
    name = held.kind.__name__
    number = ctx.let(b.size(held.owner.count), name.lower())
    for field, column in zip(held.names, held.owner.columns, strict=True):
        item = items[field]
        check_attribute(ctx, held, field, item)
        if is_list_now(ctx, item) and column.rows is None:
            rows.wanted(ctx, column, f"`{field}` of a `{name}` in a list is a list")
        put(ctx, column, item, number)
    ctx.emit(n.Assign(held.owner.count, b.add(b.size(held.owner.count), b.ONE)))
    return Instance(held, number)


def object_number(ctx: Context, owner: GrowingList, value: Value) -> Scalar:
    """What stands for an object in a list of objects, all of which are of one class."""
    if not isinstance(value, Instance):
        problem = f"{describe(value)} in a list of `{owner.objects.kind.__name__}`"  # type: ignore[union-attr]
        ctx.fail(refusals.LIST_OF_TYPES, problem, "append objects of one class")
    if owner.objects is None and (owner.dtype or owner.columns):
        problem = f"a `{value.pool.kind.__name__}` in a list of other things"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "append elements of one type")
    if owner.objects not in (None, value.pool):
        if owner.objects is not None and owner.objects.kind is dict is value.pool.kind:
            problem = "dicts with different keys in a list of run-time length"
            ctx.fail(refusals.LIST_OF_TYPES, problem, "give all of them the same keys, in the same order")
        ctx.fail(refusals.LIST_OF_TYPES, "objects of two classes in a list of run-time length", "give them one class")
    owner.objects = value.pool
    return Scalar(value.number, True)

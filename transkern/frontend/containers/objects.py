"""Objects of a class in lists and dicts of run-time length: each attribute has a list, and an object is a number.

    nodes.append(Node(x, y))   ->   x_of_node.append(x); y_of_node.append(y); nodes.append(count of nodes before)

All objects of such a class stand there from the moment `__init__` has made them. Names, lists and attributes that stand
for one object hold one number, so that `is` compares numbers, and what is stored is seen under all names.
"""

from __future__ import annotations

from transkern import refusals
from transkern.frontend.containers import list_types, making, replacing, rows
from transkern.frontend.containers.elements import element
from transkern.frontend.containers.pools import check_attribute, is_list_now
from transkern.frontend.containers.putting import put_object
from transkern.frontend.context import Context
from transkern.frontend.values.values import (
    Array,
    GrowingList,
    Instance,
    KeyedDict,
    Maybe,
    Object,
    OrNone,
    Pool,
    PoolKey,
    Record,
    Unbound,
    Value,
    children,
)


def pool(ctx: Context, key: PoolKey, names: tuple[str, ...]) -> Pool:
    """No objects of a class (dicts with certain keys) yet."""
    kind = key if isinstance(key, type) else dict
    is_keyed = kind in (set, KeyedDict)
    owner = making.new(ctx, kind.__name__.lower())
    owner.row = "object"
    made = Pool(kind, names, owner, attribute)
    for name in names:
        buffer = ctx.names.fresh(f"{name}_of_{owner.buffer}")
        column = GrowingList(buffer, owner.count, around=owner.around.of_parts)
        column.site = ("object", kind.__module__, kind.__qualname__, names, name)
        if column.site in ctx.learned.ragged or is_keyed:
            column.rows = making.new_rows(ctx, buffer, column.site)
        if is_keyed and column.rows is not None and name not in ("keys", "values"):
            list_types.of_integers(ctx, column.rows.pool)
        if column.site in ctx.learned.optional:
            list_types.make_optional(ctx, column)
        owner.columns.append(column)
    ctx.lists.columns[owner.buffer] = [c.buffer for c in owner.columns]
    if is_keyed:
        made.spare = making.new(ctx, "spare")
        list_types.of_integers(ctx, made.spare)
    return made


def placed(ctx: Context, made: Object) -> Value:
    """An object that has just been made, in the lists of its class where it has some."""
    record = ctx.deref(made)
    assert isinstance(record, Record)
    held = ctx.lists.pools.get(record.kind)
    if held is None:
        return made
    name = record.kind.__name__
    if set(record.names) != set(held.names):
        other = min(set(record.names) ^ set(held.names))
        problem = f"objects of `{name}` in a list, of which some have no `{other}`"
        ctx.fail(refusals.OBJECT, problem, "set it in `__init__`")
    if any(_holds(v, made) for k, v in ctx.heap.contents.items() if k != made.token) or any(
        _holds(v, made) for frame in ctx.scopes.frames for v in frame.values()
    ):
        problem = f"a `{name}` that others know before its `__init__` has ended"
        ctx.fail(refusals.OBJECT, problem, "tell them after it has been made")
    ctx.heap.contents[made.token] = Unbound(f"a `{name}` in its `__init__`")
    return put_object(ctx, held, dict(zip(record.names, record.items, strict=True)))


def _holds(value: Value, made: Object) -> bool:
    if isinstance(value, (Maybe, OrNone)):
        return _holds(value.value, made)
    return value == made or any(_holds(v, made) for v in children(value) or ())


def attribute(ctx: Context, value: Instance, name: str) -> Value:
    """``value.name``, of those that each object has."""
    column = value.pool.column(name)
    ctx.hold(column)  # a loop may read what it puts there further down
    found = element(ctx, column, value.number)
    return found if isinstance(found, Array) and found.axes else making.held(ctx, found)


def store(ctx: Context, value: Instance, name: str, new: Value) -> None:
    """``value.name = new``."""
    kind = value.pool.kind.__name__
    if name not in value.pool.names:
        problem = f"`{name}` of a `{kind}` in a list, which others of it do not have"
        ctx.fail(refusals.OBJECT, problem, "set it where they are made")
    check_attribute(ctx, value.pool, name, new)
    column = value.pool.column(name)
    ctx.hold(column)
    if is_list_now(ctx, new) and column.rows is None:
        rows.wanted(ctx, column, f"`{name}` of a `{kind}` in a list is a list")
    replacing.put_at(ctx, column, value.number, new)



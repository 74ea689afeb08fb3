"""Objects of a class in lists and dicts of run-time length: each attribute has a list, and an object is a number.

    nodes.append(Node(x, y))   ->   x_of_node.append(x); y_of_node.append(y); nodes.append(count of nodes before)

All objects of such a class stand there from the moment `__init__` has made them. Names, lists and attributes that stand
for one object hold one number, so that `is` compares numbers, and what is stored is seen under all names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from transkern import refusals
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers import growing, replacing, rows
from transkern.frontend.context import Context
from transkern.frontend.translate.indexing import element
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    Dict,
    GrowingList,
    Instance,
    Maybe,
    Object,
    OneOf,
    OrNone,
    Pool,
    PoolKey,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    children,
    is_list,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr


def is_object(ctx: Context, value: Value) -> bool:
    """Whether a value is an object of a class, and no named tuple."""
    if isinstance(value, Instance):
        return True
    contents = ctx.deref(value) if isinstance(value, Object) else value
    return isinstance(contents, Record) and not contents.is_tuple


def key_of(contents: Value) -> PoolKey | None:
    """What tells the objects that stand in the same lists: their class; of a dict of texts its keys."""
    if isinstance(contents, Record) and not contents.is_tuple:
        return contents.kind
    if isinstance(contents, Dict) and contents.keys and all(isinstance(k, str) for k in contents.keys):
        return contents.keys
    return None


def wanted(ctx: Context, value: Value, problem: str) -> NoReturn:
    """An object is where a number must stand for it: the translation begins anew, with all of its class in lists."""
    record = ctx.deref(value)
    key = key_of(record)
    assert isinstance(record, (Record, Dict)) and key is not None
    help = "keep its numbers in lists, or its number in a list"
    error = NotKnown(refusals.OBJECT, problem, help, ctx.session.span, ctx.session.lines)
    if isinstance(value, Object) and value.token in ctx.inputs.paths:
        raise ctx.error(refusals.OBJECT, f"{problem}: it is an argument", "pass its numbers in arrays")
    if key in ctx.learned.pooled:
        when = "before its `__init__` has ended" if isinstance(record, Record) else "which gets its keys one by one"
        raise ctx.error(refusals.OBJECT, f"{problem}, {when}", "do it after it has been made, with all that it holds")
    error.pooled = key, record.names if isinstance(record, Record) else record.keys
    raise error


def wanted_among(ctx: Context, kinds: Iterable[Any], problem: str) -> None:
    """The same for the first object that a loop carries, if there is one: `kinds` are as in `carried_kinds.kind_of`."""
    for kind in kinds:
        match kind:
            case ("object", Object() as value) if is_object(ctx, value):
                record = ctx.deref(value)
                if (
                    isinstance(record, Record) and record.kind not in ctx.learned.pooled
                    and value.token not in ctx.inputs.paths
                ):
                    wanted(ctx, value, problem)
            case ("fresh" | "or none", inner):
                wanted_among(ctx, (inner,), problem)
            case ("items", shell, inner):
                wanted_among(ctx, inner, problem)
                if isinstance(shell, Record) and not shell.is_tuple and shell.kind not in ctx.learned.pooled:
                    error = NotKnown(
                        refusals.OBJECT, problem, "keep its numbers in lists", ctx.session.span, ctx.session.lines
                    )
                    error.pooled = shell.kind, shell.names
                    raise error
            case _:
                pass


def pool(ctx: Context, key: PoolKey, names: tuple[str, ...]) -> Pool:
    """No objects of a class (dicts with certain keys) yet."""
    kind = key if isinstance(key, type) else dict
    owner = growing.new(ctx, kind.__name__.lower())
    owner.row = "object"
    made = Pool(kind, names, owner)
    for name in names:
        buffer = ctx.names.fresh(f"{name}_of_{owner.buffer}")
        column = GrowingList(buffer, owner.count, depth=owner.depth, known=owner.known)
        column.site = ("object", kind.__module__, kind.__qualname__, names, name)
        if column.site in ctx.learned.ragged:
            column.rows = rows.made(ctx, buffer, column.site)
        if column.site in ctx.learned.optional:
            growing.make_optional(ctx, column)
        owner.columns.append(column)
    ctx.lists.columns[owner.buffer] = [c.buffer for c in owner.columns]
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
    return _put(ctx, held, dict(zip(record.names, record.items, strict=True)))


def placed_dict(ctx: Context, contents: Value) -> Value:
    """A dict that has just been made, in the lists of those with its keys where it has some."""
    held = ctx.lists.pools.get(key_of(contents) or ())
    if held is None or not isinstance(contents, Dict):
        return contents
    return _put(ctx, held, dict(zip(contents.keys, contents.items, strict=True)))


def _put(ctx: Context, held: Pool, items: Mapping[str, Value]) -> Instance:
    """A new object with these attributes."""
    name = held.kind.__name__
    number = ctx.let(b.size(held.owner.count), name.lower())
    for field, column in zip(held.names, held.owner.columns, strict=True):
        item = items[field]
        _check(ctx, held, field, item)
        if _is_list(ctx, item) and column.rows is None:
            rows.wanted(ctx, column, f"`{field}` of a `{name}` in a list is a list")
        growing.put(ctx, column, item, number)
    ctx.emit(n.Assign(held.owner.count, b.add(b.size(held.owner.count), b.ONE)))
    return Instance(held, number)


def _holds(value: Value, made: Object) -> bool:
    if isinstance(value, (Maybe, OrNone)):
        return _holds(value.value, made)
    return value == made or any(_holds(v, made) for v in children(value) or ())


def _is_list(ctx: Context, value: Value) -> bool:
    contents = ctx.deref(value) if isinstance(value, (Object, Row)) else value
    return is_list(contents)


def _check(ctx: Context, held: Pool, field: str, value: Value) -> None:
    """Attributes are what may stand in lists."""
    inner = value.value if isinstance(value, OrNone) else value
    contents = ctx.deref(inner) if isinstance(inner, Object) else inner
    match contents:
        case Static(v) if v is None or isinstance(v, str) or is_number(contents):
            return
        case Scalar() | Array() | Concatenation() | GrowingList() | Instance() | Row() | OneOf() | Record():
            return
        case Seq(kind="list" | "tuple"):
            return
        case _:
            problem = f"{describe(contents)} as `{field}` of a `{held.kind.__name__}` in a list of run-time length"
            ctx.fail(refusals.OBJECT, problem, "give it numbers, texts, arrays, lists and other objects")


def number_of(ctx: Context, owner: GrowingList, value: Value) -> Scalar:
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


def contents(ctx: Context, value: Instance) -> Record | Dict:
    """An object as it is now."""
    items = tuple(attribute(ctx, value, name) for name in value.pool.names)
    if value.pool.kind is dict:
        return Dict(value.pool.names, items)
    return Record(value.pool.kind, value.pool.names, items)


def attribute(ctx: Context, value: Instance, name: str) -> Value:
    """``value.name``, of those that each object has."""
    column = value.pool.column(name)
    found = element(ctx, column, value.number)
    return found if isinstance(found, Array) and found.axes else growing.held(ctx, found)


def store(ctx: Context, value: Instance, name: str, new: Value) -> None:
    """``value.name = new``."""
    kind = value.pool.kind.__name__
    if name not in value.pool.names:
        problem = f"`{name}` of a `{kind}` in a list, which others of it do not have"
        ctx.fail(refusals.OBJECT, problem, "set it where they are made")
    _check(ctx, value.pool, name, new)
    column = value.pool.column(name)
    if _is_list(ctx, new) and column.rows is None:
        rows.wanted(ctx, column, f"`{name}` of a `{kind}` in a list is a list")
    replacing.put_at(ctx, column, value.number, new)


def same(one: Value, two: Value) -> Value | None:
    """Whether two objects (or None) are the same; None where neither is known by its number."""
    if not any(isinstance(v.value if isinstance(v, OrNone) else v, Instance) for v in (one, two)):
        return None
    held = [v.value if isinstance(v, OrNone) else v for v in (one, two)]
    none = [v.none if isinstance(v, OrNone) else b.FALSE for v in (one, two)]
    equal: Expr = b.FALSE
    if isinstance(held[0], Instance) and isinstance(held[1], Instance) and held[0].pool is held[1].pool:
        equal = b.compare("equal", held[0].number, held[1].number)
    some = b.both(b.both(b.logical_not(none[0]), b.logical_not(none[1])), equal)
    return Scalar(b.either(b.both(none[0], none[1]), some), True)

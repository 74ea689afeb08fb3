"""Lists, dicts and objects that become elements of others, or one of two on two paths: as copies, which nobody may see.

What has been copied so is not to be changed afterwards, nor in the next iteration of a loop around.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NoReturn

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.sources.module_names import IN_A_PROGRAM
from transkern.frontend.state import aliasing, choices, twins
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    GrowingList,
    Hashed,
    Object,
    Row,
    Static,
    Value,
    children,
    lies,
)
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.records import replace

if TYPE_CHECKING:
    from transkern.frontend.context import Context


def opened(ctx: Context, row: Row) -> GrowingList:
    """The list that a row is now; of a text, that of its characters."""
    rows, pool = row.rows, row.rows.pool
    head = ctx.let(Load(rows.starts.buffer, rows.starts.index(row.number), "index"), "start")
    count = ctx.names.count(ctx.names.fresh("length"), None)
    ctx.lists.counts.add(count.name)
    ctx.emit(n.Assign(count.name, Load(rows.sizes.buffer, rows.sizes.index(row.number), "index")))
    assert isinstance(head, Var)

    def placed(one: GrowingList) -> GrowingList:
        columns = [placed(c) for c in one.columns]
        return replace(one, head=head.name, count=count.name, columns=columns, row_of=row, extent=None)

    made = placed(pool)
    made.kind = rows.kind or "list"
    if made.kind == "text":
        made.kind, made.options = "list", CHARACTERS  # also of those that are all empty, as far as is known
    return made


def only_read(ctx: Context, value: Value) -> None:
    """Nobody may change a list, dict or object from here on."""
    if isinstance(value, Object):
        _note_read(ctx, value)
    for buffer in memory(ctx.deref(value)):
        aliasing.note_append(ctx, buffer)


def note_element(ctx: Context, owner: GrowingList, array: Array) -> bool:
    """A view of an array becomes an element of a list, as a copy: nobody may change it later. Whether it is one of an
    argument's."""
    aliasing.note_append(ctx, array.base)
    aliasing.note_held(ctx, owner.buffer, array.base)
    twins.note_array(ctx, owner, array)
    return aliasing.holds_arguments(ctx, array.base)


def memory(contents: Value) -> list[str]:
    """The buffers that tell whether a list of run-time length, a dict or a set is changed."""
    if isinstance(contents, Hashed):
        return [one.buffer for one in (contents.alive, contents.values) if one is not None]
    return [contents.buffer] if isinstance(contents, GrowingList) else []


def must_keep(ctx: Context, slot: Value) -> None:
    """Nobody may change, before or behind this, what a loop carries of something that stands in a list."""
    contents = ctx.deref(slot)
    if isinstance(slot, Object):
        if slot.token in ctx.heap.changed_at:
            fail_handed(ctx, slot.token)
        ctx.heap.handed.add(slot.token)
    for buffer in [contents.base] if isinstance(contents, Array) and lies(contents) else memory(contents):
        must_stay(ctx, buffer)


def must_stay(ctx: Context, buffer: str) -> None:
    """Nobody may change what is in a buffer, before or behind this."""
    if ctx.aliasing.is_changed(buffer):
        aliasing.fail_shared(ctx, buffer)
    ctx.aliasing.appended.add(buffer)
    ctx.aliasing.kept.add(buffer)


def note_handed(ctx: Context, value: Object) -> None:
    """What is in a list becomes an element of another, as a copy: nobody may change it later."""
    if not is_last_look(ctx, value):
        _note_read(ctx, value)


def is_last_look(ctx: Context, value: Value) -> bool:
    """Whether no name stands for a list behind the present statement: a copy can be told from it by nobody."""
    scopes = ctx.scopes
    if scopes.live_here is None or ctx.session.depth:
        return False
    names = [k for frame in scopes.frames for k, v in frame.items() if v is value or v == value]
    held = [v for v in ctx.heap.contents.values() if any(i is value or i == value for i in children(v) or ())]
    return not held and len(scopes.frames) == 1 and not scopes.live_here & set(names)


def _note_read(ctx: Context, value: Object) -> None:
    if ctx.heap.changes_again(value.token):
        fail_handed(ctx, value.token)
    ctx.heap.handed.add(value.token)


def fail_handed(ctx: Context, token: int) -> NoReturn:
    """A change of what others have as a copy."""
    choices.fork(ctx, token)
    problem = "a change of a list (dict, object) that stands in another, or is one of two on two paths"
    help = "append (choose) a copy: row[:], dict(row)"
    raise NotKnown(refusals.TWO_NAMES, problem, help, ctx.session.span, ctx.session.lines)


def fail_row(ctx: Context, owner: GrowingList) -> NoReturn:
    """A list that stands for one in another list was to be changed: then those lists are rows of a table."""
    problem, help = "a change of a list that stands in another one", "make it an array with two dimensions"
    error = NotKnown(refusals.NESTED_LIST, problem, help, ctx.session.span, ctx.session.lines)
    if owner.site is not None and owner.site not in ctx.learned.tables:
        error.finding = Finding("tables", owner.site)
    raise error


def fail_outside(ctx: Context, value: Value, what: str = "a list or dict", node: ast.AST | None = None) -> NoReturn:
    """Something that others have, too, was to be changed. What a module has under a name is to be an argument then."""
    problem = f"a change of {what} from outside the function"
    error = ctx.error(refusals.OUTSIDE_CHANGED, problem, "pass it as an argument, or copy it first", node)
    ask_for_name(ctx, value.value if isinstance(value, Static) else value, error)
    raise error


AT_A_CALL = "at a call"
"""In place of what to ask for: it can be asked for where the module runs, and is not read as text."""


def ask_for_name(ctx: Context, value: object, problem: CompileError) -> None:
    """Has the name of a module, under which `value` was found, as an argument, which may change; `problem` is what to
    raise where it cannot be one."""
    found = ctx.scopes.origins.get(id(value))
    if found is not None and found[1] == AT_A_CALL:
        problem.as_text, problem.help = True, IN_A_PROGRAM
    elif found is not None:
        raise NeedsConstant(found[1], problem)

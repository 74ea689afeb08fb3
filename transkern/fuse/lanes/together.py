"""Iterations that go together, statement by statement: what each of them has for itself."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    map_own,
    own_parts,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace


@dataclass(slots=True)
class Copy:
    """What one of the iterations that go together has for itself: values of loop variables, arrays, names, lanes of
    scalars."""

    values: dict[str, Expr]
    arrays: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    spread: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)  # arrays of one lane -> of all lanes, the lane last


def lanes_own(s: n.Stmt, copy: Copy, lane: Expr) -> n.Stmt:
    """The statement as one of the iterations that go together has it."""


    def change(e: Expr) -> Expr | None:
        match e:
            case Var(name, dtype) if name in copy.spread:
                return Load(copy.spread[name], (lane,), dtype)
            case Load(buffer, index, dtype) if buffer in copy.columns:
                return Load(copy.columns[buffer], (*(b.map_expr(i, change) for i in index), lane), dtype)
            case _:
                return None

    s = map_own(s, change)
    if isinstance(s, (n.Let, n.Assign)) and s.name in copy.spread:
        s = n.Store(copy.spread[s.name], (lane,), s.value, span=s.span)
    if isinstance(s, n.Store) and s.buffer in copy.columns:
        s = replace(s, buffer=copy.columns[s.buffer], index=(*s.index, lane))
    s = _with_names(s, copy)
    return with_bodies(s, lambda inner: tuple(lanes_own(x, copy, lane) for x in inner))


def renamed(s: n.Stmt, copy: Copy) -> n.Stmt:
    """A statement outside the lanes, as one of the iterations that go together has it."""
    return with_bodies(_with_names(s, copy), lambda inner: tuple(renamed(x, copy) for x in inner))


def _with_names(s: n.Stmt, copy: Copy) -> n.Stmt:
    """The statement itself with the copy's values, names and arrays."""

    def change(e: Expr) -> Expr | None:
        match e:
            case Load(buffer, index, dtype) if buffer in copy.arrays:
                return Load(copy.arrays[buffer], tuple(b.map_expr(i, change) for i in index), dtype)
            case Var(name, dtype) if name in copy.names:
                return Var(copy.names[name], dtype)
            case Var(name):
                return copy.values.get(name)
            case _:
                return None

    s = map_own(s, change)
    match s:
        case n.Let(name=name) if name in copy.names:
            return replace(s, name=copy.names[name])
        case (n.Store(buffer=buffer) | n.Alloc(buffer)) if buffer in copy.arrays:
            return replace(s, buffer=copy.arrays[buffer])
        case _:
            return s


def repeatable(body: Sequence[n.Stmt]) -> bool:
    """Whether each statement may run for several iterations before the next one: none hands another a variable."""
    if any(not isinstance(s, (n.Let, n.Alloc, n.Loop)) for s in body):
        return False
    for s in body:
        plain = all(isinstance(x, (n.Loop, n.Let, n.Assign, n.Store, n.If)) for x in walk((s,)) if x is not s)
        variables = {x.name for x in walk((s,)) if isinstance(x, n.Assign)}
        elsewhere = [x for x in body if x is not s]
        if not plain or any(variables & (scalars_used(x) | scalars_set(x)) for x in elsewhere):
            return False
    top = {s.name for s in body if isinstance(s, n.Let)}
    return not any(isinstance(x, n.Let) and x.name in top for s in body if isinstance(s, n.Loop) for x in walk(s.body))


def independent(body: Sequence[n.Stmt]) -> list[list[n.Stmt]]:
    """Statements in groups that may run in any order: none sets a variable or stores into an array that another has,
    and none decides whether another runs."""
    if any(_leaves(s) for s in body):
        return [list(body)]
    # each with what its statements set, and all that they touch
    groups: list[tuple[list[n.Stmt], frozenset[str], frozenset[str]]] = []
    for s in body:
        own = [x.buffer for x in walk((s,)) if isinstance(x, n.Alloc)]
        sets = scalars_set(s) | buffers_written(s) | frozenset(own)
        touches = sets | scalars_used(s) | buffers_used(s)
        members: list[n.Stmt] = []
        for group in [g for g in groups if g[1] & touches or sets & g[2]]:
            groups.remove(group)
            members += group[0]
            sets, touches = sets | group[1], touches | group[2]
        groups.append(([*members, s], sets, touches))
    return [members for members, _, _ in groups]


def _leaves(s: n.Stmt) -> bool:
    """Whether what stands behind the statement may not run."""
    return any(isinstance(x, (n.Guard, n.Return)) for x in walk((s,))) or isinstance(s, (n.Break, n.Continue)) or (
        isinstance(s, n.If) and any(_leaves(x) for x in (*s.then, *s.orelse))
    )  # fmt: skip


def only_lanes(block: Sequence[n.Stmt], lane: Var, certain: Container[Load] = frozenset()) -> bool:
    """Whether all that a branch does is arithmetic, and to store to what lives in lanes, and to elements `certain` to
    be the lane's own."""
    return all(
        only_lanes((*s.then, *s.orelse), lane, certain) if isinstance(s, n.If)
        else is_arithmetic(s.value) if isinstance(s, n.Let)
        else isinstance(s, n.Store) and (s.index == (lane,) or Load(s.buffer, s.index, s.value.dtype) in certain)
        for s in block
    )  # fmt: skip


def is_arithmetic(value: Expr) -> bool:
    """Whether a value may be computed where nobody asks for it: integers are not divided."""
    return not any(
        isinstance(e, Apply) and e.op in ("floor_divide", "remainder", "fmod") and not e.dtype.startswith("float")
        for e in walk_expr(value)
    )


def loaded_where(condition: Expr, value: Expr, lane: Var) -> Expr:
    """`value`, which loads what does not live in lanes only where `condition` holds: it may not be there otherwise."""

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.index == (lane,):
            return None
        index = tuple(b.map_expr(i, change) for i in e.index)
        return b.where(condition, replace(e, index=index), b.cast(Const(0, "int64"), e.dtype))

    return b.map_expr(value, change)


def always(e: Expr) -> Iterator[Expr]:
    """What is evaluated whenever `e` is."""
    yield e
    match e:
        case Load(_, index, _):
            for i in index:
                yield from always(i)
        case Apply("where" | "and_then" | "or_else", (first, *_), _):
            yield from always(first)
        case Apply(_, args, _):
            for a in args:
                yield from always(a)
        case _:
            pass


def may_go_again(body: Sequence[n.Stmt]) -> bool:
    """Whether an iteration that has run may run once more: of what it stores in memory of others, it reads what it has
    stored right before, whatever was there."""
    own = {x.buffer for x in walk(body) if isinstance(x, n.Alloc)}
    stored = {name for s in body for name in buffers_written(s)} - own
    changing = {x.name for x in walk(body) if isinstance(x, n.Assign)}
    certain: set[Expr] = set()
    for s in walk(body):
        if isinstance(s, n.Accumulate):
            return False
        for e in own_parts(s):
            if isinstance(e, Load) and e.buffer in stored and e not in certain:
                return False
        if isinstance(s, n.Store) and s in body and not any(variables_read(i) & changing for i in s.index):
            certain.add(Load(s.buffer, s.index, s.value.dtype))
    return True

"""The one generic traversal of statements and expressions."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from transkern.ir import nodes as n
from transkern.ir.build import ONE, ZERO, affine, compare, constant, map_expr, sub, substitute
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.expr import buffers_read as buffers_read
from transkern.ir.expr import variables_read as variables_read
from transkern.ir.ops import OPS
from transkern.records import replace

_EXPR = (Const, Var, Load, Apply, Reduce)


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it."""
    left = [expr]
    while left:  # a stack: passes spend much of their time here, and recursive generators take twice as long
        e = left.pop()
        yield e
        kind = type(e)
        if kind is Apply:
            left.extend(reversed(e.args))  # type: ignore[union-attr]
        elif kind is Load:
            left.extend(reversed(e.index))  # type: ignore[union-attr]
        elif kind is Reduce:
            left.append(e.body)  # type: ignore[union-attr]
            left.extend(a.extent for a in reversed(e.axes))  # type: ignore[union-attr]


def dearest(expr: Expr) -> int:
    """What the dearest operation of a value costs."""
    return max((OPS[e.op].cost for e in walk_expr(expr) if isinstance(e, Apply) and e.op in OPS), default=0)


def is_longer(expr: Expr, most: int) -> bool:
    """Whether an expression has more parts than that."""
    return next(itertools.islice(walk_expr(expr), most, None), None) is not None


def always_read(expr: Expr) -> Iterator[Load]:
    """The elements that an expression reads whenever it is computed, without those that their subscripts read."""
    if isinstance(expr, Load):
        yield expr
    elif isinstance(expr, Apply):
        for x in expr.args[:1] if expr.op in ("where", "and_then", "or_else") else expr.args:
            yield from always_read(x)


def stride_along(index: Sequence[Expr], axis: str) -> int | None:
    """By how many elements of a contiguous array subscripts go on with `axis`: through the last of them, by a constant
    (0 where they do not); None where that is not so."""
    if any(axis in variables_read(i) for i in index[:-1]):
        return None
    terms, _ = affine(index[-1]) if index else ({}, 0)
    stride = terms.pop(Var(axis, "index"), 0)
    return None if any(axis in variables_read(t) for t in terms) else stride


def own_exprs(statement: n.Stmt) -> tuple[Expr, ...]:
    """The expressions that stand in the statement itself, not in statements inside it."""
    try:  # as `once_a_statement`, without a call: most of what passes ask is this
        found: tuple[Expr, ...] = statement.known[own_exprs]
    except (AttributeError, KeyError):
        found = known_of(statement)[own_exprs] = tuple(_found_in(statement))
    return found


def own_parts(statement: n.Stmt) -> tuple[Expr, ...]:
    """`own_exprs`, and everything below them."""
    try:
        found: tuple[Expr, ...] = statement.known[own_parts]
    except (AttributeError, KeyError):
        found = known_of(statement)[own_parts] = tuple(e for x in own_exprs(statement) for e in walk_expr(x))
    return found


def _found_in(statement: n.Stmt) -> Iterator[Expr]:
    kind = type(statement)
    fields = _OWN.get(kind)
    if fields is None:
        said = ((f.name, str(f.type)) for f in dataclasses.fields(statement) if f.name != "span")
        fields = _OWN[kind] = tuple(name for name, t in said if any(word in t for word in _WITH_EXPRS))
    for name in fields:
        value = getattr(statement, name)
        if isinstance(value, _EXPR):
            yield value
        elif value is not None and value != ():
            yield from _exprs_in(value)


_PARTS = (n.ArrayResult, n.ViewResult, n.ScalarResult, n.ListResult, n.TupleResult, n.View)
"""Parts of statements in which expressions may stand."""

_WITH_EXPRS = ("Expr", "Axis", "Result", "View", "Any")
"""What the types of fields mention in which expressions may stand."""

_OWN: dict[type, tuple[str, ...]] = {}
_FIELDS: dict[type, tuple[str, ...]] = {}


def _field_names(node: n.Stmt | n.Result | n.View) -> tuple[str, ...]:
    """The fields of a node in which expressions may stand."""
    kind = type(node)
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(f.name for f in dataclasses.fields(node) if f.name != "span")
    return _FIELDS[kind]


def _exprs_in(value: Any) -> Iterator[Expr]:
    if isinstance(value, _EXPR):
        yield value
    elif isinstance(value, Axis):
        yield value.extent
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, n.Node):
                yield from _exprs_in(item)
    elif isinstance(value, _PARTS):
        for name in _field_names(value):
            yield from _exprs_in(getattr(value, name))


def bodies(statement: n.Stmt) -> Iterator[tuple[n.Stmt, ...]]:
    """The blocks directly inside the statement."""
    for name in reversed(_BLOCKS.get(type(statement), ())):
        yield getattr(statement, name)


def walk(block: Iterable[n.Stmt]) -> Iterator[n.Stmt]:
    """Every statement, outer before inner, in program order."""
    left = [*block][::-1]
    while left:
        statement = left.pop()
        yield statement
        kind = type(statement)
        if kind in _BLOCKS:
            for name in _BLOCKS[kind]:
                left.extend(reversed(getattr(statement, name)))


_BLOCKS: dict[type, tuple[str, ...]] = {
    n.Loop: ("body",), n.Compact: ("body",), n.Scanning: ("body",), n.Kernel: ("body",),
    n.While: ("body", "head"), n.If: ("orelse", "then"),
}  # fmt: skip
"""The blocks of statements with such, the last first."""


def exprs(block: Iterable[n.Stmt]) -> Iterator[Expr]:
    """Every expression node in the statements."""
    for statement in walk(block):
        yield from own_parts(statement)


def map_statement(statement: n.Stmt, change: Callable[[Expr], Expr | None]) -> n.Stmt:
    """The statement with the expressions in it, and in the statements inside it, changed as by `map_expr`."""
    values: dict[str, Any] = {}
    for name in _field_names(statement):
        old = getattr(statement, name)
        new = _map_value(old, change)
        if new is not old:
            values[name] = new
    return replace(statement, **values) if values else statement


def map_own(statement: n.Stmt, change: Callable[[Expr], Expr | None]) -> n.Stmt:
    """The statement with its own expressions changed; the statements inside it are left as they are."""
    values: dict[str, Any] = {}
    for name in _field_names(statement):
        old = getattr(statement, name)
        if isinstance(old, tuple) and old and isinstance(old[0], n.Node):
            continue
        new = _map_value(old, change)
        if new is not old:
            values[name] = new
    return replace(statement, **values) if values else statement


def resolved(e: Expr, lets: Mapping[str, Expr]) -> Expr:
    """`e` with what its names stand for, and what the names in that do: of names that go round, a few times."""
    for _ in range(8):
        names = {v: lets[v] for v in variables_read(e) & lets.keys()}
        if not names:
            break
        e = substitute(e, names)
    return e


def map_block(block: tuple[n.Stmt, ...], change: Callable[[Expr], Expr | None]) -> tuple[n.Stmt, ...]:
    return tuple(map_statement(s, change) for s in block)


def _map_value(value: Any, change: Callable[[Expr], Expr | None]) -> Any:
    if isinstance(value, _EXPR):
        return map_expr(value, change)
    if isinstance(value, Axis):
        extent = map_expr(value.extent, change)
        return value if extent is value.extent else Axis(value.name, extent)
    if isinstance(value, n.Node):
        return map_statement(value, change)  # type: ignore[arg-type]
    if isinstance(value, tuple) and value:
        new = tuple(_map_value(item, change) for item in value)
        return value if all(x is y for x, y in zip(new, value, strict=True)) else new
    if isinstance(value, _PARTS):
        changed = {
            name: new
            for name in _field_names(value)
            if (new := _map_value(getattr(value, name), change)) is not getattr(value, name)
        }
        return replace(value, **changed) if changed else value
    return value


def is_in_order(statement: n.Stmt) -> bool:
    """Whether the statement is a loop whose iterations go one after the other."""
    return isinstance(statement, n.While) or (isinstance(statement, n.Loop) and statement.kind == "sequential")


def runs(loop: n.Loop) -> Expr:
    """Whether the loop has an iteration, forwards or backwards."""
    forward = (constant(loop.step) or 1) > 0
    return compare("less", loop.start, loop.stop) if forward else compare("less", loop.stop, loop.start)


def with_bodies(statement: n.Stmt, change: Callable[[tuple[n.Stmt, ...]], tuple[n.Stmt, ...]]) -> n.Stmt:
    """The statement with the blocks directly inside it changed; itself where they are not, with all that is known of
    it."""
    made: dict[str, Any] = {}
    for name in reversed(_BLOCKS.get(type(statement), ())):
        block = getattr(statement, name)
        changed = change(block)
        if len(changed) != len(block) or not all(map(operator.is_, changed, block)):
            made[name] = changed
    return replace(statement, **made) if made else statement


def alone(statement: n.Stmt) -> n.Stmt:
    """The statement without those inside it."""
    return with_bodies(statement, lambda _: ())


_Answer = TypeVar("_Answer")


def once_a_statement(question: Callable[[n.Stmt], _Answer]) -> Callable[[n.Stmt], _Answer]:
    """`question`, answered once for each statement, for as long as that is there: passes ask again and again, and what
    a pass leaves inside a statement that it changes is known."""

    @functools.wraps(question)
    def answer(statement: n.Stmt) -> _Answer:
        try:
            found: _Answer = statement.known[question]
        except (AttributeError, KeyError):
            found = question(statement)
            known_of(statement)[question] = found
        return found

    return answer


def known_of(statement: n.Stmt) -> dict[object, Any]:
    """What was found out about the statement, by what was asked: as long as the statement is there."""
    known = getattr(statement, "known", None)
    if known is None:
        known = {}
        object.__setattr__(statement, "known", known)
    return known


def of_all_inside(names: Callable[[n.Stmt], Iterable[str]]) -> Callable[[n.Stmt], frozenset[str]]:
    """`names` of a statement and of those inside it."""

    @once_a_statement
    @functools.wraps(names)
    def asked(statement: n.Stmt) -> frozenset[str]:
        all_names = set(names(statement))
        for name in _BLOCKS.get(type(statement), ()):
            for inner in getattr(statement, name):
                all_names |= asked(inner)
        return frozenset(all_names)

    return asked


@of_all_inside
def buffers_written(statement: n.Stmt) -> Iterable[str]:
    """The buffers that the statement, or one inside it, writes."""
    match statement:
        case n.Define(buffer=buffer) | n.Write(buffer=buffer) | n.Store(buffer=buffer) | n.Scan(buffer=buffer):
            return (buffer,)
        case n.Scatter(buffer=buffer) | n.Scanning(buffer=buffer):
            return (buffer,)
        case n.Filter(outputs=names) | n.Compact(outputs=names) | n.Library(outs=names):
            return names
        case _:
            return ()


@of_all_inside
def buffers_allocated(statement: n.Stmt) -> Iterable[str]:
    """The buffers for which the statement, or one inside it, gets memory: what was in them is gone."""
    return (statement.buffer,) if isinstance(statement, n.Alloc) else ()


@of_all_inside
def buffers_used(statement: n.Stmt) -> Iterable[str]:
    """The buffers that the statement, or one inside it, reads."""
    found = {name for e in own_exprs(statement) for name in buffers_read(e)}
    if isinstance(statement, n.Library):
        found.update(statement.ins)
    if isinstance(statement, n.Return):
        found.update(result_buffers(statement.result))
    return found


def result_buffers(result: n.Result) -> set[str]:
    match result:
        case n.ArrayResult(buffer=buffer) | n.ListResult(buffer=buffer) | n.ViewResult(buffer=buffer):
            return {buffer}
        case n.TupleResult(items=items):
            return {name for item in items for name in result_buffers(item)}
        case _:
            return set()


@of_all_inside
def scalars_set(statement: n.Stmt) -> Iterable[str]:
    """The scalar names that the statement, or one inside it, gives a value."""
    match statement:
        case n.Let(name=name) | n.Assign(name=name) | n.Accumulator(name=name) | n.Accumulate(name=name):
            return (name,)
        case n.Compact(count=count) | n.Filter(count=count):
            return (count,)
        case _:
            return ()


def continued(block: Iterable[n.Stmt]) -> set[str]:
    """The accumulators of statements around `block` that it goes on with."""
    inside = list(walk(block))
    declared = {s.name for s in inside if isinstance(s, n.Accumulator)}
    return {s.name for s in inside if isinstance(s, n.Accumulate)} - declared


def places_named(block: Iterable[n.Stmt]) -> dict[str, Expr]:
    """What the names stand for that statements give to places, none of them in terms of another."""
    known: dict[str, Expr] = {}
    for s in block:
        if isinstance(s, n.Let) and s.value.dtype == "index":
            known[s.name] = substitute(s.value, known)
    return known


def touched(statement: n.Stmt) -> set[str]:
    """The arrays that a statement, without those inside it, writes or uses otherwise than by loads."""
    own = alone(statement)
    loaded = {name for e in own_exprs(own) for name in buffers_read(e)}
    return {*buffers_written(own), *(buffers_used(own) - loaded)}


@of_all_inside
def scalars_used(statement: n.Stmt) -> Iterable[str]:
    """The scalar names read in the statement or inside it (axes included)."""
    found = {name for e in own_exprs(statement) for name in variables_read(e)}
    if isinstance(statement, n.Accumulate):
        found.add(statement.name)
    if isinstance(statement, (n.Compact, n.Filter)) and statement.append:
        found.add(statement.count)
    return found


def names_in(statement: n.Stmt) -> frozenset[str]:
    """The buffers and scalars that the statement, or one inside it, reads or sets."""
    found = (buffers_used(statement), buffers_written(statement), scalars_used(statement), scalars_set(statement))
    return frozenset[str]().union(*found)


def upward(s: n.Loop) -> n.Loop:
    """A loop by one or minus one as one that counts its iterations, or begins where it did and goes up."""
    if constant(s.step) == 1:
        return s
    at = sub(s.start, Var(s.axis, "index"))
    body = map_block(s.body, lambda e: at if isinstance(e, Var) and e.name == s.axis else None)
    return replace(s, start=ZERO, stop=sub(s.start, s.stop), step=ONE, body=body)

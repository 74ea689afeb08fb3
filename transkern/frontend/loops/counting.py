"""A `while` that counts up or down to what it does not change is a loop over a range:

    while i < n:                              for trip in range(i, n, 2):
        if x[i] < 0:                              i = trip
            i += 2                                if x[i] < 0:
            continue               to                 i += 2
        y[i] = x[i]                                   continue
        i += 2                                    y[i] = x[i]
                                                  i += 2

The name counts on as it did: that it has the trip's value at the start of each iteration is all that is added, and it
holds because every way through the body adds the same constant to it once. What is asked beside the count leaves the
loop where it is asked. Loops that ask at the end (`while True: …; if i >= n: break`) run at least once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transkern.frontend.loops.turns import leaving_unless
from transkern.frontend.syntax.desugar import has_jumps, placed
from transkern.frontend.syntax.liveness import ORIGIN
from transkern.frontend.syntax.syntax import assigned_names
from transkern.parsing import all_nodes

TRIPS = "trips of a count"  # no identifier: the range that such a loop runs over
_TRIP = "trip of "
OF_GRID = " of grid "  # behind a name's own text: the trip of that axis of a shape
_COUNTED = "_transkern_counted"
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE,
}  # fmt: skip
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
}  # fmt: skip


@dataclass(frozen=True)
class Count:
    """`name` runs by `step` while ``name + beside`` is on this side of `bound` (at it too, where `reached`); `loop` is
    the loop over the range. `once`: the first iteration runs anyway, and the rest while that holds at their ends."""

    name: str
    step: int
    bound: ast.expr
    beside: int
    reached: bool
    once: bool
    loop: ast.For


def counted(node: ast.While) -> Count | None:
    """What a loop counts, as far as its text says."""
    if not hasattr(node, _COUNTED):
        setattr(node, _COUNTED, _found(node))  # the same loop twice must be the same tree twice
    found: Count | None = getattr(node, _COUNTED)
    return found


def shown(name: str) -> str:
    """What a trip is called in code."""
    return name.removeprefix(_TRIP).partition(OF_GRID)[0]


def _found(node: ast.While) -> Count | None:
    if node.orelse:
        return None
    test, body, once = node.test, list(node.body), False
    if isinstance(test, ast.Constant) and test.value:
        if (first := _exit(body[0])) is not None:
            test, body = first, body[1:]
        elif (last := _exit(body[-1])) is not None and not has_jumps(body, ast.Continue):
            test, body, once = last, body[:-1], True
    parts = list(_parts(test))
    asked = assigned_names([ast.Expr(node.test)])
    names = assigned_names(node.body) | asked
    for k, part in enumerate(parts):
        sides = _sides(part)
        if sides is None:
            return None
        for left, op, right in (sides, (sides[2], _MIRRORED[sides[1]], sides[0])):
            name, beside = _counter(left)
            if name not in names or not _stays(right, names) or name in asked:
                continue
            if once and k + 1 < len(parts):  # what is asked behind it would be asked where the count is over
                return None
            step = _step(body, name)
            if step and (step > 0) == (op in (ast.Lt, ast.LtE)):
                rest = [*parts[:k], *parts[k + 1 :]]
                loop = _loop(node, name, body, rest, once)
                return Count(name, step, right, beside, op in (ast.LtE, ast.GtE), once, loop)
        if not _is_of_numbers(part, names):  # it would no longer be asked where the count is over
            return None
    return None


def _loop(node: ast.While, name: str, body: list[ast.stmt], rest: list[ast.expr], once: bool) -> ast.For:
    trip = _TRIP + name
    leaving = [leaving_unless(part, part) for part in rest]
    body = [*body, *leaving] if once else [*leaving, *body]
    first = ast.Assign([ast.Name(name, ast.Store())], ast.Name(trip, ast.Load()))
    made = ast.For(ast.Name(trip, ast.Store()), ast.Name(TRIPS, ast.Load()), [first, *body], [])
    setattr(made, ORIGIN, getattr(node, ORIGIN, node))
    return placed(ast.copy_location(made, node), node.test)


def _exit(s: ast.stmt) -> ast.expr | None:
    """When a loop goes on at ``if …: break``."""
    match s:
        case ast.If(test, [ast.Break()], []):
            return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        case _:
            return None


def _parts(test: ast.expr, holds: bool = True) -> Iterator[ast.expr]:
    """What must hold, in the order in which it is asked."""
    match test:
        case ast.BoolOp(ast.And(), values) if holds:
            for v in values:
                yield from _parts(v)
        case ast.BoolOp(ast.Or(), values) if not holds:
            for v in values:
                yield from _parts(v, False)
        case ast.UnaryOp(ast.Not(), operand):
            yield from _parts(operand, not holds)
        case ast.Compare(left, [op, *ops], [right, *others]) if ops and holds and isinstance(right, ast.Name):
            yield ast.copy_location(ast.Compare(left, [op], [right]), test)
            yield from _parts(ast.copy_location(ast.Compare(right, ops, others), test))
        case _:
            yield test if holds else ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _sides(part: ast.expr) -> tuple[ast.expr, type[ast.cmpop], ast.expr] | None:
    match part:
        case ast.Compare(left, [op], [right]) if type(op) in _MIRRORED:
            return left, type(op), right
        case ast.UnaryOp(ast.Not(), ast.Compare(left, [op], [right])) if type(op) in _OPPOSITE:  # of whole numbers
            return left, _OPPOSITE[type(op)], right
        case _:
            return None


def _counter(e: ast.expr) -> tuple[str, int]:
    """The name and the number in ``name + number``."""
    match e:
        case ast.Name(name):
            return name, 0
        case ast.BinOp(ast.Name(name), ast.Add(), value) if (number := _number(value)) is not None:
            return name, number
        case ast.BinOp(ast.Name(name), ast.Sub(), value) if (number := _number(value)) is not None:
            return name, -number
        case _:
            return "", 0


def _is_of_numbers(part: ast.expr, names: set[str]) -> bool:
    """Whether a comparison is of names that count and of constants."""
    return all(
        isinstance(x, (ast.Compare, ast.cmpop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.expr_context))
        or (isinstance(x, ast.Constant) and isinstance(x.value, int)) or (isinstance(x, ast.Name) and x.id in names)
        for x in all_nodes(part)
    )  # fmt: skip


def _is_size(e: ast.expr) -> bool:
    match e:
        case ast.Call(ast.Name("len"), [ast.Name()], []) | ast.Attribute(ast.Name(), "size"):
            return True
        case ast.Subscript(ast.Attribute(ast.Name(), "shape"), ast.Constant(int())):
            return True
        case _:
            return False


def sizes_of(bound: ast.expr) -> set[str]:
    """The names of arrays whose sizes a bound is made of."""
    found = set()
    for x in all_nodes(bound):
        match x:
            case ast.Call(ast.Name("len"), [ast.Name(name)], []) | ast.Attribute(ast.Name(name), "size" | "shape"):
                found.add(name)
            case _:
                pass
    return found


def numbers_of(bound: ast.expr) -> set[str]:
    """The names of numbers that a bound is made of."""
    called = {x.func.id for x in all_nodes(bound) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)}
    return {x.id for x in all_nodes(bound) if isinstance(x, ast.Name)} - sizes_of(bound) - called


def _stays(bound: ast.expr, names: set[str]) -> bool:
    """Whether a bound is made of numbers and sizes that the loop does not bind anew."""
    match bound:
        case _ if _number(bound) is not None:
            return True
        case ast.Name(name):
            return name not in names
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right):
            return _stays(left, names) and _stays(right, names)
        case _:
            return _is_size(bound) and not sizes_of(bound) & names


def _step(body: Sequence[ast.stmt], name: str) -> int:
    """What every way through a loop's body adds to a name, once; 0 where there is no such number."""
    added: set[int] = set()
    if any(isinstance(x, (ast.Global, ast.Nonlocal)) and name in x.names for s in body for x in all_nodes(s)):
        return 0

    def ways(statements: Sequence[ast.stmt], before: set[bool]) -> set[bool] | None:
        """Whether the name has counted, on the ways that come to the end of the statements from those `before`; None
        where it does otherwise."""
        now = before
        for s in statements:
            if not now:
                return now
            match s:
                case ast.If(_, then, orelse) if name not in assigned_names([ast.Expr(s.test)]):
                    both = ways(then, now), ways(orelse, now)
                    if both[0] is None or both[1] is None:
                        return None
                    now = both[0] | both[1]
                case ast.Break() | ast.Return() | ast.Raise():
                    return set()
                case ast.Continue():
                    return set() if now == {True} else None
                case _ if (number := _addition(s, name)) is not None:
                    added.add(number)
                    if now != {False}:
                        return None
                    now = {True}
                case _ if name in assigned_names([s]):
                    return None
                case ast.For() | ast.While():
                    pass
                case _ if has_jumps([s], ast.Break, ast.Continue):
                    return None
        return now

    end = ways(body, {False})
    return added.pop() if end is not None and end <= {True} and len(added) == 1 else 0


def _addition(s: ast.stmt, name: str) -> int | None:
    """The number in ``name += number`` and the like."""
    match s:
        case ast.AugAssign(ast.Name(x), op, value) if x == name:
            added = _number(value)
        case ast.Assign([ast.Name(x)], ast.BinOp(ast.Name(y), op, value)) if x == y == name:
            added = _number(value)
        case ast.Assign([ast.Name(x)], ast.BinOp(value, ast.Add() as op, ast.Name(y))) if x == y == name:
            added = _number(value)
        case _:
            return None
    if added is None or not isinstance(op, (ast.Add, ast.Sub)):
        return None
    return added if isinstance(op, ast.Add) else -added


def _number(e: ast.expr) -> int | None:
    match e:
        case ast.Constant(int(number)) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(ast.USub(), ast.Constant(int(number))) if not isinstance(number, bool):
            return -number
        case _:
            return None

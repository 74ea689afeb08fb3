"""Names of arrays that change places in each iteration of a loop: ``u, v = v, u``, also by way of a third name or of a
function that gives them back in another order.

Memory of the names' own would not do where the loop stores into arrays that others see. After two iterations (three,
where three names go round) each name is back, and stands for the array that it began with. So the loop's body is
translated that often, one behind the other, and nothing is copied. What is left of the iterations comes after the loop;
where the loop may be left on the way, a variable tells how often the names have changed places.

How they do is not read off the text, but off what the names stand for where the translated body ends. Attributes of
objects and items of lists are such names, too (`self.u, self.v = self.v, self.u`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from transkern.frontend.syntax.desugar import placed
from transkern.frontend.values.values import Value, children, lies
from transkern.ir.expr import Var

_MOST = 4  # iterations after which names are back

Place: TypeAlias = str | tuple[int, int]
"""A name, or what stands in an object, a list or a dict: its token, and the position in it."""


class OtherTurns(Exception):
    """The names stand for something else at the end of an iteration than was taken for granted: `turns`, or nothing."""

    def __init__(self, turns: Turns | None) -> None:
        self.turns = turns


@dataclass(frozen=True, slots=True)
class Turns:
    """What names and items stand for before the loop (`bound[0]`), after one iteration, and so on until they are back.
    `turn`: the variable that tells, where the loop is left, after how many they did."""

    bound: tuple[Mapping[Place, Value], ...]
    turn: Var | None = None

    @property
    def names(self) -> set[str]:
        return {k for k in self.bound[0] if isinstance(k, str)}

    @property
    def items(self) -> set[tuple[int, int]]:
        return {k for k in self.bound[0] if isinstance(k, tuple)}

    @property
    def period(self) -> int:
        return len(self.bound)

    def check(self, count: int, env: Mapping[str, Value], heap: Mapping[int, Value]) -> None:
        """Raises OtherTurns where the names do not stand for what they should after `count` iterations."""
        now = self._now(env, heap)
        if now != self.bound[count % self.period]:
            raise OtherTurns(_seen(self.bound[0], now) if self.period == count == 1 else None)

    def where_left(self, env: Mapping[str, Value], heap: Mapping[int, Value]) -> int:
        """After how many iterations the names stand for what they do now."""
        now = self._now(env, heap)
        if now in self.bound:
            return self.bound.index(now)
        raise OtherTurns(_seen(self.bound[0], now) if self.period == 1 else None)

    def _now(self, env: Mapping[str, Value], heap: Mapping[int, Value]) -> dict[Place, Value | None]:
        found: dict[Place, Value | None] = {}
        for place in self.bound[0]:
            if isinstance(place, str):
                found[place] = env.get(place)
            else:
                items = children(heap[place[0]]) or ()
                found[place] = items[place[1]] if place[1] < len(items) else None
        return found


def at_first(names: set[str], before: Mapping[str, Value], heap: Mapping[int, Value]) -> Turns | None:
    """The arrays among `names` and those in objects, lists and dicts, as if each stayed what it is."""
    arrays: dict[Place, Value] = {k: v for k in sorted(names) if (v := before.get(k)) is not None and lies(v)}
    for token, contents in heap.items():
        arrays |= {(token, k): v for k, v in enumerate(children(contents) or ()) if lies(v)}
    return Turns((arrays,)) if arrays else None


def _seen(before: Mapping[Place, Value], now: Mapping[Place, Value | None]) -> Turns | None:
    """The turns of the names that stand for one of the arrays after an iteration that they stood for before it."""
    source = {name: next((k for k, v in before.items() if v == now.get(name)), None) for name in before}
    kept = [name for name, k in source.items() if k is not None]
    if len(kept) < len(before):
        return Turns(({k: before[k] for k in kept},)) if kept else None
    if len(set(source.values())) < len(source):
        return None
    bound = [dict(before)]
    while len(bound) <= _MOST:
        last = {name: bound[-1][k] for name, k in source.items() if k is not None}
        if last == before:
            return Turns(tuple(bound))
        bound.append(last)
    return None


def leaving_unless(test: ast.expr, at: ast.AST) -> ast.stmt:
    """``if not test: break``."""
    return placed(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), at)


def rebinding(turns: Turns, after: int, prefix: str) -> tuple[list[ast.stmt], dict[str, Value]]:
    """Statements that bind the names to what they stand for after so many iterations, and the names that they read."""
    read = {k: f"{prefix} {k}" for k in sorted(turns.names)}
    assigned = [ast.Assign([ast.Name(k, ast.Store())], ast.Name(v, ast.Load())) for k, v in read.items()]
    return list(assigned), {v: turns.bound[after][k] for k, v in read.items()}

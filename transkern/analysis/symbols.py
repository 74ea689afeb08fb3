"""Statements in symbols: what variables and elements are behind them, of what they were before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    map_own,
    scalars_set,
    variables_read,
    walk_expr,
    with_bodies,
)  # fmt: skip

_LONG = 400
"""Parts of an expression in symbols at most."""


class Symbols:
    """What each variable, and each element that is stored, stands for: an expression of what held at first. `known` is
    what is known of that."""

    def __init__(self, known: Mapping[Expr, Expr] | None = None) -> None:
        self.known = dict(known or {})
        self.values = dict(self.known)
        self.stored: dict[str, tuple[Expr, ...]] = {}  # a buffer, and which element of it is stored

    def run(self, body: Sequence[n.Stmt]) -> bool:
        """Runs plain statements; whether that could be followed."""
        return all(self._step(s) for s in body)

    def changed(self) -> list[Expr]:
        """The variables and elements that are not what they were."""
        return [e for e, value in self.values.items() if value != self.known.get(e, e)]

    def now(self, e: Expr) -> Expr | None:
        """An expression of what held at first; None where it cannot be followed."""
        lost = False

        def change(x: Expr) -> Expr | None:
            nonlocal lost
            if isinstance(x, Load) and x.index:
                index = tuple(b.map_expr(i, change) for i in x.index)
                place = replace(x, index=index)
                lost = lost or self.stored.get(x.buffer, index) != index  # it may be the one that is stored
                return self.values.get(place, place)
            return self.values.get(x)

        found = simplified(b.map_expr(e, change))
        return None if lost or sum(1 for _ in _some(found)) >= _LONG else found

    def _step(self, s: n.Stmt) -> bool:
        match s:
            case n.Let(name, value) | n.Assign(name, value):
                found = self.now(value)
                if found is None:
                    return False
                self.values[Var(name, value.dtype)] = found
            case n.Store(buffer, index, value):
                places, found = [self.now(i) for i in index], self.now(value)
                if found is None or None in places:
                    return False
                place = Load(buffer, tuple(places), value.dtype)  # type: ignore[arg-type]
                if found == place and buffer not in self.stored:
                    return True  # as it was
                if self.stored.setdefault(buffer, place.index) != place.index:
                    return False
                self.values[place] = found
            case n.If(condition, then, orelse):
                holds = self.now(condition)
                return holds is not None and self._branches(holds, then, orelse)
            case _:
                return False
        return True

    def _branches(self, condition: Expr, then: Sequence[n.Stmt], orelse: Sequence[n.Stmt]) -> bool:
        """Runs what a condition decides on, both where it is not known."""
        if isinstance(condition, Const):
            return self.run(then if condition.value else orelse)
        before = dict(self.values)
        if not self.run(then):
            return False
        held, self.values = self.values, before
        if not self.run(orelse):
            return False
        for e in (*held, *(x for x in self.values if x not in held)):
            here, there = held.get(e, e), self.values.get(e, e)
            self.values[e] = simplified(b.where(condition, here, there))
        return True


def _some(e: Expr) -> Iterator[Expr]:
    for k, x in enumerate(walk_expr(e)):
        if k >= _LONG:
            return
        yield x


def knowing(body: Sequence[n.Stmt], truth: Expr) -> tuple[n.Stmt, ...]:
    """The statements of a block at whose begin a condition holds, as long as it is what it was."""
    out: list[n.Stmt] = []
    names, arrays = variables_read(truth), buffers_read(truth)
    for k, s in enumerate(body):
        known = map_own(s, lambda e: b.TRUE if e == truth else None)
        known = map_own(known, lambda e: made if (made := simplified(e)) != e else None)
        changes = bool(names & set(scalars_set(s)) or arrays & set(buffers_written(s)))
        if changes and any(bodies(s)):
            return (*out, *body[k:])  # it may change in the midst of it
        known = with_bodies(known, lambda inner: knowing(inner, truth))
        if isinstance(known, n.If) and isinstance(known.condition, Const):
            out += known.then if known.condition.value else known.orelse
        else:
            out.append(known)
        if changes:
            return (*out, *body[k + 1 :])
    return tuple(out)


def simplified(e: Expr) -> Expr:
    """An expression in which known truths decide."""
    match e:
        case Apply("where", (condition, then, orelse)):
            condition = simplified(condition)
            if isinstance(condition, Const):
                return simplified(then if condition.value else orelse)
            then, orelse = simplified(then), simplified(orelse)
            if then == b.FALSE and orelse == b.TRUE:
                return b.logical_not(condition)
            if then == b.TRUE and orelse == b.FALSE:
                return condition
            return then if then == orelse else replace(e, args=(condition, then, orelse))
        case Apply(op, args, dtype):
            args = tuple(map(simplified, args))
            false = [x for x in args if isinstance(x, Const) and x.dtype == "bool" and not x.value]
            if op in ("logical_and", "and_then", "bitwise_and") and dtype == "bool" and false:
                return b.FALSE
            if op in ("logical_or", "or_else", "bitwise_or") and dtype == "bool" and false:
                return next((x for x in args if x != b.FALSE), b.FALSE)
            true = [x for x in args if isinstance(x, Const) and x.dtype == "bool" and x.value]
            if op in ("logical_and", "and_then", "bitwise_and") and dtype == "bool" and true:
                return next((x for x in args if x != b.TRUE), b.TRUE)
            if op in ("logical_or", "or_else", "bitwise_or") and dtype == "bool" and true:
                return b.TRUE
            if op == "logical_not" and isinstance(args[0], Const):
                return b.logical_not(args[0])
            if op == "cast" and isinstance(args[0], Const):
                return b.cast(args[0], dtype)
            if op in ("add", "subtract") and _is_zero(args[1]) and args[0].dtype == dtype:
                return args[0]
            if op == "add" and _is_zero(args[0]) and args[1].dtype == dtype:
                return args[1]
            return replace(e, args=args)
        case Load(_, index):
            return replace(e, index=tuple(map(simplified, index)))
        case _:
            return e


def _is_zero(e: Expr) -> bool:
    """Whether it is a zero of an integer: that of a float changes the sign of another one."""
    return isinstance(e, Const) and e.dtype.startswith(("int", "uint", "index")) and not e.value

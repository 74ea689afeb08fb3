"""What a loop goes over, step by step: Python's iterators look at what a list, a dict or an array holds by then."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from transkern import refusals
from transkern.frontend.containers import hashed
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.sizes import constant_int
from transkern.frontend.subscripts.keys import view
from transkern.frontend.values.values import Dict, Hashed, Iterated, Method, Object, Seq, Static, Trips, Value, View
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import buffers_written, scalars_set, walk
from transkern.parsing import all_nodes


def changed_by(statements: Sequence[n.Stmt]) -> set[str]:
    """The variables that statements set, and the memory that they write."""
    return {name for s in walk(statements) for name in (*scalars_set(s), *buffers_written(s))}


class Resized(Exception):
    """A dict or a set that a loop goes over has more or fewer keys by now: the message of Python's RuntimeError."""


@dataclass
class Over:
    """What the iterator of a loop goes over, through `zip` and the like, as it is when the loop begins: `held`, what is
    in known lists, dicts and sets; dicts and sets with run-time keys, `alone` the one whose size tells how it ends; the
    memory that is `shown` by views of them; iterators whose elements have been `made`."""

    held: dict[int, Value] = field(default_factory=dict)
    keyed: list[Hashed] = field(default_factory=list)
    alone: tuple[Value, Hashed] | None = None
    shown: set[str] = field(default_factory=set)
    made: list[Iterated] = field(default_factory=list)

    @property
    def counts(self) -> set[str]:
        """The lengths and the memory that tell how many keys there are."""
        return {name for one in self.keyed for name in (one.keys.count, one.alive.buffer)}

    def changed(self, ctx: Context) -> list[int]:
        """The known lists, dicts and sets that something else is in by now."""
        return [token for token, contents in self.held.items() if ctx.heap.contents.get(token) is not contents]

    def check_made(
        self, ctx: Context, statements: Sequence[n.Stmt], before: Mapping[int, Value], node: ast.For
    ) -> None:  # fmt: skip
        """Refuses a loop, which has become `statements`, if its body changes what an iterator is made of, all of whose
        elements have been made."""
        if not self.made:
            return
        written = changed_by(statements)
        bound = {x.id for x in all_nodes(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        for one in self.made:
            changed = any(ctx.heap.contents.get(t) is not before.get(t) for t in one.opened)
            if changed or not (one.names.isdisjoint(bound) and one.read.isdisjoint(written)):
                problem = f"a loop over a {one.kind.__name__} object whose elements are made of what its body changes"
                help = "write a loop over what it goes over, or make a list before: list(…)"
                ctx.fail(refusals.STATEMENT, problem, help, node)


def over(ctx: Context, source: Value) -> Over:
    """What a loop over `source` goes over."""
    found = Over()
    pending = [(source, True)]
    while pending:
        value, alone = pending.pop()
        match value:
            case Method(Seq((inner, _)), "enumerate"):
                pending.append((inner, alone))
            case Method(Seq(items), "zip"):
                pending.extend((item, False) for item in items)
            case Method(inner, "reversed"):
                pending.append((inner, alone))
            case Iterated():
                found.made.append(value)
            case View(owner, name):
                keyed = ctx.deref(owner)
                assert isinstance(keyed, Hashed)
                if name != "keys" and keyed.values is not None:
                    found.shown |= {x for leaf in keyed.values.leaves for x in (leaf.buffer, leaf.tags) if x}
                pending.append((owner, alone))
            case Seq(shows=Object() as owner):
                found.held[owner.token] = ctx.deref(owner)
            case Object(token) if isinstance(contents := ctx.deref(value), (Seq, Dict)):
                found.held[token] = contents
            case Object() | Hashed() if isinstance(contents := ctx.deref(value), Hashed):
                found.keyed.append(contents)
                found.alone = (value, contents) if alone else None
            case _:
                pass
    return found


def live(ctx: Context, source: Value) -> Value:
    """`source` with the views in it as what shows the values of the moment."""
    match source:
        case View(owner, name):
            keyed = ctx.deref(owner)
            assert isinstance(keyed, Hashed)
            return Trips(hashed.live(ctx, keyed, name))
        case Method(Seq(items, kind), "enumerate" | "zip" as name):
            return Method(Seq(tuple(live(ctx, item) for item in items), kind), name)
        case Method(inner, "reversed"):
            return Method(live(ctx, inner), "reversed")
        case _:
            return source


def stepper(ctx: Context, source: Value) -> Callable[[int], Value | None]:
    """What an iterator gives at a step, counted from 0; None where it ends."""
    match source:
        case Method(Seq((inner, number)), "enumerate"):
            step, first = stepper(ctx, inner), constant_int(ctx, number, "enumerate's start")

            def numbered(k: int) -> Value | None:
                value = step(k)
                return None if value is None else Seq((Static(first + k), value))

            return numbered
        case Method(Seq((_, *_) as items), "zip"):
            parts = [stepper(ctx, item) for item in items]

            def zipped(k: int) -> Value | None:
                values = list[Value]()
                for part in parts:
                    if (value := part(k)) is None:
                        return None
                    values.append(value)
                return Seq(tuple(values))

            return zipped
        case Method(inner, "reversed"):
            now = _now(ctx, inner)
            begun = len(now())

            def backwards(k: int) -> Value | None:
                items, at = now(), begun - 1 - k
                return items[at] if 0 <= at < len(items) else None

            return backwards
        case _:
            now = _now(ctx, source)

            def forwards(k: int) -> Value | None:
                items = now()
                return items[k] if k < len(items) else None

            return forwards


def _now(ctx: Context, source: Value) -> Callable[[], Sequence[Value]]:
    """What tells the items that a list, or a dict, has now."""
    contents = ctx.deref(source)
    if isinstance(source, Object) and isinstance(contents, Seq) and contents.kind == "list":
        return lambda: _items(ctx.deref(source))
    if isinstance(source, Object) and isinstance(contents, Seq):
        return _of_one_size(ctx, lambda: _items(ctx.deref(source)), "Set")
    if isinstance(source, Object) and isinstance(contents, Dict):
        return _of_one_size(ctx, lambda: _keys(ctx.deref(source)), "dictionary")
    if isinstance(source, Seq) and isinstance(owner := source.shows, Object):
        keys = _of_one_size(ctx, lambda: _keys(ctx.deref(owner)), "dictionary")
        name = source.kind.removeprefix("dict_")

        def shown() -> Sequence[Value]:
            keys()
            made = view(ctx, owner, name)
            assert made is not None
            return _items(made)

        return shown
    counted = iterating.iteration(ctx, source)
    if isinstance(counted, list):
        return lambda: counted
    start, stop, step, element = counted
    count = b.constant(trip_count(start, stop, step))
    assert count is not None, "a loop over values that are known one by one"
    return lambda: [element(b.add(start, b.mul(step, b.index(k)))) for k in range(count)]


def _items(value: Value) -> Sequence[Value]:
    assert isinstance(value, Seq)
    return value.items


def _keys(value: Value) -> Sequence[Value]:
    assert isinstance(value, Dict)
    return [Static(k) for k in value.keys]


def _of_one_size(ctx: Context, now: Callable[[], Sequence[Value]], kind: str) -> Callable[[], Sequence[Value]]:
    """The same for what must not change its size while a loop goes over it."""
    begun = list(now())

    def checked() -> Sequence[Value]:
        items = now()
        if len(items) != len(begun):
            raise Resized(f"{kind} changed size during iteration")
        if list(items) != begun:
            problem = "a loop over a dict or a set that gets other keys in it"
            ctx.fail(refusals.STATEMENT, problem, "loop over a copy: list(…)")
        return items

    return checked

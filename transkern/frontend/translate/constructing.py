"""The making of objects: of the user's classes, dataclasses, named tuples, and of Python's containers."""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools as tools
import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import dict_types, growing, hashed, objects
from transkern.frontend.loops import iterating
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.random import pythons
from transkern.frontend.sources.identity import path_of
from transkern.frontend.sources.measures import check_items
from transkern.frontend.sources.source import from_object
from transkern.frontend.subscripts.keys import constant_object
from transkern.frontend.syntax import composed_iterators, iterators
from transkern.frontend.translate import attributes, functions
from transkern.frontend.translate.conditions import Conditions
from transkern.frontend.values import classes
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Bound,
    Function,
    Method,
    Range,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b

_CHOOSING: dict[Any, dict[int, str]] = {  # what stands for them, by how many are chosen of a run-time number of things
    itertools.combinations: {1: "singles", 2: "pairs", 3: "triples", 4: "quadruples"},
    itertools.permutations: {1: "singles", 2: "ordered_pairs", 3: "ordered_triples"},
    itertools.combinations_with_replacement: {1: "singles", 2: "pairs_with_themselves", 3: "triples_with_themselves"},
}

CLASSES: dict[str, type] = {
    f"{kind.__module__}.{kind.__name__}": kind
    for kind in (collections.deque, collections.defaultdict, *dict_types.KINDS, random.Random)
}
"""Classes of Python's that are made here, by their paths."""
_MADE_OF_CLASS = cast(ast.Lambda, ast.parse("lambda: made()", mode="eval").body)


def _count(kind: Any, of: int, chosen: int) -> int:
    """How many choices there are."""
    if kind is itertools.combinations_with_replacement:
        return math.comb(of + chosen - 1, chosen) if of or chosen else 1
    return math.comb(of, chosen) if kind is itertools.combinations else math.perm(of, chosen)


class Constructions(Conditions):
    """Calls of classes, and of what arranges things: combinations, permutations, products."""

    def construct(
        self, kind: type, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """``Class(*args)`` of a named tuple, a dataclass, or a plain class with an `__init__`."""
        ctx = self.ctx
        if kind is itertools.product or kind in _CHOOSING:
            return iterators.made_now(ctx, kind, tools.partial(self.arranged, kind, positional, keywords, node))
        if classes.is_plain_enum(kind) and len(positional) == 1 and not keywords:
            value = constant_object(ctx, positional[0], "a member of an enum by a run-time value")
            return Static(asked(ctx, kind, value))
        path = path_of(kind)
        if path is not None and (made := composed_iterators.called(ctx, path, positional, keywords)) is not None:
            return made
        if kind in dict_types.KINDS and not keywords and len(positional) <= 1:
            return dict_types.made(ctx, kind, positional, self.site("dict"))
        if kind in (collections.deque, collections.defaultdict):
            positional = [iterating.made_now(ctx, p) for p in positional]
        if kind is collections.deque:
            given = dict(zip(("iterable", "maxlen"), positional, strict=False)) | keywords
            return growing.queue(ctx, given.get("iterable"), given.get("maxlen"), self.site("queue"))
        if kind is collections.defaultdict and positional and not keywords:
            factory = positional[0]
            if isinstance(factory, Static) and isinstance(factory.value, type):  # of the user's, or a deque
                factory = Function("<lambda>", _MADE_OF_CLASS, self.scope, {"made": factory})
            table = hashed.new(ctx, "dict", "dict", self.site("dict"), factory)
            if positional[1:]:
                hashed.update(ctx, table, positional[1])
            return table
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            defaults = {k: from_object(v) for k, v in getattr(kind, "_field_defaults", {}).items()}
            names: tuple[str, ...] = tuple(kind._fields)
            found = self._fields(kind, names, defaults, positional, keywords)
            return Record(kind, names, tuple(found[k] for k in names))
        if kind is random.Random:
            kind = pythons.seeded(ctx, positional, keywords)
        else:
            self._check_plain(kind, node)
        if dataclasses.is_dataclass(kind):
            return self._dataclass(kind, positional, keywords, node)
        made = ctx.heap.allocate(Record(kind, (), ()), ("fixed",))
        init = attributes.of_class(ctx, made, "__init__")
        if isinstance(init, Bound):
            told = self.inline(init.function, [made, *positional], keywords, node)
            if told != Static(None):
                problem = f"a `{kind.__name__}.__init__` that returns {describe(told)}"
                ctx.fail(refusals.OBJECT, problem, "return nothing from it", node)
        elif positional or keywords or kind.__module__ == "builtins":
            ctx.fail(refusals.OBJECT, f"making a `{kind.__name__}`", "pass it as an argument", node)
        return objects.placed(ctx, made)

    def _check_plain(self, kind: type, node: ast.AST) -> None:
        """Refuses classes that make, or look up, what their objects are by functions of their own."""
        frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        for name in ("__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__"):
            own = next((c for c in kind.__mro__ if name in vars(c)), object)
            if own is not object and not (frozen and name in ("__setattr__", "__delattr__")):
                problem = f"an object of `{kind.__name__}`, which has a `{name}`"
                self.ctx.fail(refusals.OBJECT, problem, "use plain attributes", node)

    def arranged(
        self, kind: Any, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:  # fmt: skip
        """``itertools.product`` of ranges, of which nothing is written out; of what is known one by one, and with it
        `combinations` and `permutations`."""
        ctx = self.ctx
        ranges = [p for p in positional if isinstance(p, Range)]
        if kind is itertools.product and positional and len(ranges) == len(positional):
            ranges *= self._repeated(keywords)
            if ranges and all(r.start == b.ZERO and r.step == b.ONE for r in ranges):
                return Method(Seq(tuple(Scalar(b.maximum(r.stop, b.ZERO), True) for r in ranges)), "ndindex")
            return Method(Seq(tuple(ranges)), "product") if ranges else Seq((Seq(()),), "list")
        if kind in _CHOOSING and len(positional) == 2 and not keywords and isinstance(positional[1], Static):
            name = _CHOOSING[kind].get(positional[1].value)
            source = iterating.all_of(ctx, positional[0])
            counted = [] if name is None else iterating.iteration(ctx, source)
            if name is not None and not isinstance(counted, list) and b.constant(trip_count(*counted[:3])) is None:
                given = source if isinstance(source, Range) else functions.call(ctx, "builtins.list", [source], {})
                return compose(ctx, "lists", name, [given], {})
        size = positional[1] if len(positional) > 1 else keywords.get("r", Static(None))
        of = None  # how many are chosen: where that is not known, how many there are need not be
        if kind is not itertools.product:
            of = constant_object(ctx, size, f"`{kind.__name__}` of a run-time size")
            positional = positional[:1] or [keywords[k] for k in keywords if k == "iterable"]
            if not positional:
                ctx.fail(refusals.WRONG_ARGUMENTS, f"`{kind.__name__}` needs `iterable`", "pass what it chooses from")
        pools = list(positional)
        known: list[list[Value]] = []
        for pool in pools:
            items = iterating.iteration(ctx, pool)
            if not isinstance(items, list):
                start, stop, step, element = items
                trips = trip_count(start, stop, step)
                count = b.constant(trips)
                if count is None:
                    problem = f"`{kind.__name__}` of a run-time number of things"
                    ctx.must_be_known(Scalar(trips, True), problem, "make it a constant, or write the loops yourself")
                items = [element(b.add(start, b.mul(step, b.index(k)))) for k in range(count)]
                items = [
                    Static(b.constant(i.expr)) if isinstance(i, Scalar) and b.constant(i.expr) is not None else i
                    for i in items
                ]  # fmt: skip
            known.append(items)
        if kind is itertools.product:
            times = self._repeated(keywords)
            check_items(math.prod(map(len, known)) ** min(times, 16) if known else 1)
            return Seq(tuple(Seq(tuple(t)) for t in itertools.product(*known, repeat=times)), "list")
        if isinstance(of, (int, type(None))):
            length = len(known[0]) if of is None else of
            check_items(_count(kind, len(known[0]), max(0, length)))
        return Seq(tuple(Seq(tuple(t)) for t in kind(known[0], of)), "list")

    def _repeated(self, keywords: Mapping[str, Value]) -> int:
        """How often each of its iterables stands in an `itertools.product`."""
        times = constant_object(self.ctx, keywords.get("repeat", Static(1)), "`repeat=`")
        asked(self.ctx, itertools.product, repeat=times)  # which says what it may not be
        return int(times)

    def _fields(
        self, kind: type, names: Sequence[str], defaults: dict[str, Value | None], positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> dict[str, Value]:  # fmt: skip
        ctx, help = self.ctx, f"its arguments are: {', '.join(names)}"
        if len(positional) > len(names):
            problem = f"{kind.__name__}() takes {len(names)} arguments but {len(positional)} were given"
            ctx.fail(refusals.WRONG_ARGUMENTS, problem, help)
        found = dict(zip(names, positional, strict=False))
        for name, value in keywords.items():
            if name not in names or name in found:
                ctx.fail(refusals.WRONG_ARGUMENTS, f"{kind.__name__}() got an unexpected argument '{name}'", help)
            found[name] = value
        for name in names:
            if name not in found:
                default = defaults.get(name)
                if default is None:
                    ctx.fail(refusals.WRONG_ARGUMENTS, f"{kind.__name__}() is missing an argument: '{name}'", help)
                found[name] = default
        return {k: self.kept(found[k], k) for k in names}

    def _made_by(self, factory: Callable[[], Any], node: ast.AST) -> Value | None:
        """What a field has that an object is made without: each has its own."""
        made_by = from_object(factory)
        if made_by is None:
            return None
        self.env["made by"] = made_by
        call = ast.fix_missing_locations(ast.copy_location(ast.Call(ast.Name("made by", ast.Load()), [], []), node))
        try:
            return self.expr(call)
        finally:
            self.env.pop("made by", None)

    def _dataclass(
        self, kind: type, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        ctx = self.ctx
        fields = [f for f in dataclasses.fields(kind) if f.init]
        given = {f.name for f, _ in zip(fields, positional, strict=False)} | keywords.keys()
        defaults: dict[str, Value | None] = {}
        for f in dataclasses.fields(kind):
            if f.default is not dataclasses.MISSING:
                defaults[f.name] = from_object(f.default)
            elif f.default_factory is not dataclasses.MISSING and f.name not in given:
                defaults[f.name] = self._made_by(f.default_factory, node)
        found = self._fields(kind, [f.name for f in fields], defaults, positional, keywords)
        for f in dataclasses.fields(kind):
            if not f.init and (default := defaults.get(f.name)) is not None:
                found[f.name] = self.kept(default, f.name)
        names = tuple(f.name for f in dataclasses.fields(kind) if f.name in found)
        made = ctx.heap.allocate(Record(kind, names, tuple(found[k] for k in names)), ("fixed",))
        after = attributes.of_class(ctx, made, "__post_init__")
        if isinstance(after, Bound):
            self.inline(after.function, [made], {}, node)
        return objects.placed(ctx, made)

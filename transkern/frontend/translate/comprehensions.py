"""Comprehensions, and what `map` and `filter` make: as the loops that they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from transkern.frontend.anew import MustGrow
from transkern.frontend.bodies import At
from transkern.frontend.syntax.desugar import placed
from transkern.frontend.translate.calling import Calls
from transkern.frontend.values.set_order import ORDERLESS, is_orderless
from transkern.frontend.values.values import (
    GrowingList,
    Method,
    Seq,
    Static,
    Value,
)  # fmt: skip
from transkern.ir.traverse import buffers_read, variables_read
from transkern.parsing import all_nodes

UNROLLED = "_transkern_unrolled"  # on a loop: a few iterations are better translated one by one


class Comprehensions(Calls):
    """Comprehensions of a function's text."""

    def comprehension(self, node: ast.expr, elt: ast.expr, generators: Sequence[ast.comprehension]) -> Value:
        """The list of a comprehension (a generator's elements are all made at once where it matters to nobody)."""
        ctx = self.ctx
        add = ast.Attribute(ast.Name("items made", ast.Load()), "append", ast.Load())
        value = ctx.deref(self.comprehended(node, Seq((), "list"), ast.Expr(ast.Call(add, [elt], [])), generators))
        loop, trips = self.last_trips
        alone = len(generators) == 1 and not generators[0].ifs
        its_own = alone and loop is not None and loop.target is generators[0].target
        if isinstance(value, GrowingList) and trips is not None and its_own:
            if variables_read(trips) <= ctx.facts.entry and not buffers_read(trips):
                value.extent = trips
        return value

    def source_of(self, generators: Sequence[ast.comprehension]) -> ast.expr:
        """What a comprehension takes its first items from: in there, its names are the function's around it."""
        own = {x.id for g in generators for x in all_nodes(g.target) if isinstance(x, ast.Name)}
        first = generators[0].iter
        if not own & {x.id for x in all_nodes(first) if isinstance(x, ast.Name)}:
            return first
        self.env["source of items"] = self.expr(first)
        return ast.copy_location(ast.Name("source of items", ast.Load()), first)

    def comprehended(
        self, node: ast.expr, contents: Value, store: ast.stmt, generators: Sequence[ast.comprehension]
    ) -> Value:
        """What a loop over names of its own has put into `contents` with `store`."""
        ctx = self.ctx
        name, first = "items made", self.source_of(generators)
        for k, generator in reversed(list(enumerate(generators))):
            for test in reversed(generator.ifs):
                store = ast.If(test, [store], [])
            store = ast.For(generator.target, generator.iter if k else first, [store], [])
            setattr(store, UNROLLED, True)
            if isinstance(node, ast.SetComp) and len(generators) == 1:
                setattr(store, ORDERLESS, is_orderless("set", node.elt, generator.ifs))
        with self.inner_names(generators, node, store):
            with At(ctx, node, self.scope.file):
                site, span, reset = self.site("items"), ctx.session.span, self.resetting()
                self.env[name] = self.allocate(contents, "items")
            try:
                self.statement(store)
            except MustGrow as must:
                # in a loop around it may have a known length in each iteration, and so where it has had one before
                if must.site != site or ctx.control.trips or self.loops or site in ctx.learned.fixed:
                    raise
                reset()
                ctx.learned.growing.add(site)
                with At(ctx, node, self.scope.file):
                    ctx.session.span = span
                    self.env[name] = self.allocate(contents, "items")
                self.statement(store)
            if site not in ctx.learned.growing:
                ctx.learned.fixed.add(site)
            return self.env[name]

    def mapped(self, is_map: bool, function: Value, iterables: Sequence[Value], node: ast.Call) -> Value:
        """``map(function, *iterables)`` and ``filter(function, iterable)``: comprehensions."""
        names = [f"mapped {k}" for k in range(len(iterables))]
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        target = targets[0] if len(names) == 1 else ast.Tuple(targets, ast.Store())
        source = iterables[0] if len(names) == 1 else Method(Seq(tuple(iterables)), "zip")
        call: ast.expr = ast.Call(ast.Name("mapped by", ast.Load()), [ast.Name(name, ast.Load()) for name in names], [])
        item: ast.expr = call if is_map else ast.Name(names[0], ast.Load())
        if not is_map and function == Static(None):
            call = item
        names = ["mapped by", "mapped from"]
        outer = {k: self.env[k] for k in names if k in self.env}
        self.env["mapped by"], self.env["mapped from"] = function, source
        generator = ast.comprehension(target, ast.Name("mapped from", ast.Load()), [] if is_map else [call], 0)
        made = ast.fix_missing_locations(ast.copy_location(ast.ListComp(item, [generator]), node))
        try:
            return self.comprehension(made, item, [generator])
        finally:
            for k in names:
                self.env.pop(k, None)
            self.env.update(outer)

    @contextmanager
    def inner_names(
        self, generators: Sequence[ast.comprehension], node: ast.AST, *made: ast.stmt
    ) -> Iterator[None]:
        """Inside, a comprehension's own names hide the function's; `made` are its statements, placed at `node`."""
        for statement in made:
            placed(statement, node)
        names = {x.id for g in generators for x in all_nodes(g.target) if isinstance(x, ast.Name)} | {"items made"}
        saved = {k: self.env[k] for k in names if k in self.env}
        for k in names:
            self.env.pop(k, None)
        self.ctx.control.comprehended.append(self.ctx.session.depth)
        try:
            yield
        finally:
            self.ctx.control.comprehended.pop()
            for k in names:
                self.env.pop(k, None)
            self.env.update(saved)

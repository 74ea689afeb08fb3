"""Values that wait while what stands beside them is evaluated: ``a[m] + change(a)``, ``a[m], b[m] = b[m], a[m]``.

Expressions are read where they are used. What is bound to a name is computed before a store into what it reads
(`stores.before_write`); the values here, which have no name yet, are computed then, too (`Emitter.before_change`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.context import Context
from transkern.frontend.values import doubts
from transkern.frontend.values.values import Array, Method, Scalar, Slice, Value, children, with_children
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read, variables_read


@dataclass
class Waiting:
    """The values of expressions so far, in order; `out` is the block in which they were evaluated."""

    ctx: Context
    out: list[n.Stmt]
    values: list[Value] = field(default_factory=list)
    places: list[tuple[object, ...]] = field(default_factory=list)

    def put(self, value: Value) -> None:
        """One value more, at the present place in the source."""
        span = self.ctx.session.span
        place = (span.file, span.line, span.column, span.end_line, span.end_column, len(self.values))
        if place in self.ctx.learned.early:
            value = _computed(self.ctx, value, self.may_change)
        self.values.append(value)
        self.places.append(place)

    def may_change(self, expr: Expr) -> bool:
        """Whether an expression reads what a store may change: an array's elements, or the count of a list."""
        return bool(buffers_read(expr) or variables_read(expr) & self.ctx.lists.counts)

    def before_change(self, name: str) -> None:
        """What is still to be read from a buffer (or depends on the count of a list) is computed now; a store in a
        branch or a loop comes too late for that: the translation begins anew, and computes it where it is evaluated."""
        ctx = self.ctx

        def changes(expr: Expr) -> bool:
            return name in buffers_read(expr) or name in variables_read(expr)

        for k, value in enumerate(self.values):
            if not _reads(value, changes):
                continue
            if self.out is not ctx.emitter.out:
                problem = "a store into what an expression beside it still reads"
                help = "give what is read a name before it"
                late = NotKnown(refusals.EXPRESSION, problem, help, ctx.session.span, ctx.session.lines)
                late.finding = Finding("early", self.places[k])
                raise late
            self.values[k] = _computed(ctx, value, changes)

    def taken(self) -> Value:
        """The first value, which waits no longer."""
        self.places.pop(0)
        return self.values.pop(0)


@contextmanager
def waiting(ctx: Context) -> Iterator[Waiting]:
    """Inside, the values that are put there are computed before a store changes what they read."""
    made = Waiting(ctx, ctx.emitter.out)
    ctx.emitter.waiting.append(made)
    try:
        yield made
    finally:
        ctx.emitter.waiting.pop()


def _reads(value: Value, changes: Callable[[Expr], bool]) -> bool:
    """Whether a value is still to be computed of expressions that change."""
    match value:
        case Array():
            read = (value.body, *value.domain, *([] if value.mask is None else [value.mask]))
            return not value.view and any(map(changes, read))
        case Scalar(expr, _, tag):
            return changes(expr) or (tag is not None and changes(tag))
        case Method(receiver):
            return _reads(receiver, changes)
        case Slice():
            return any(_reads(v, changes) for v in (value.start, value.stop, value.step) if v is not None)
        case _:
            return any(_reads(v, changes) for v in children(value) or ())


def _computed(ctx: Context, value: Value, changes: Callable[[Expr], bool]) -> Value:
    """`value`, with what it reads that changes computed now."""
    if not _reads(value, changes):
        return value
    match value:
        case Array():
            lengths = (_now(ctx, d) if variables_read(d) & ctx.lists.counts else d for d in value.domain)
            axes = tuple(replace(a, extent=d) for a, d in zip(value.axes, lengths, strict=True))
            return ctx.held_aside(replace(value, axes=axes), "value", changes)
        case Scalar(expr, python, tag, doubt):
            held = None if tag is None else ctx.let(tag, "value type")
            return Scalar(ctx.let(expr, "value"), python, held, doubts.named(ctx, doubt, "value"))
        case Method(receiver):
            return replace(value, receiver=_computed(ctx, receiver, changes))
        case Slice():
            parts = (value.start, value.stop, value.step)
            return Slice(*(None if v is None else _computed(ctx, v, changes) for v in parts))
        case _:
            return with_children(value, tuple(_computed(ctx, v, changes) for v in children(value) or ()))


def _now(ctx: Context, length: Expr) -> Expr:
    """A length that the count of a list is in, as it is now."""
    now = b.size(f"{ctx.names.fresh('length')}.size")
    ctx.emit(n.Let(now.name, length))
    return now

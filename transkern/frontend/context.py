"""The state of one translation, in its parts, and what a translation does with several of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.anew import Finding, MustGrow, NotKnown, Site, Terminated
from transkern.frontend.loops import lengths
from transkern.frontend.state import aliasing, choices, facts, guards, handing, names, twins
from transkern.frontend.state.control import Control
from transkern.frontend.state.emitter import Emitter
from transkern.frontend.state.facts import Counted, Facts
from transkern.frontend.state.heap import Heap
from transkern.frontend.state.inputs import Inputs
from transkern.frontend.state.learned import Learned
from transkern.frontend.state.lists import Lists
from transkern.frontend.state.scopes import Scopes
from transkern.frontend.state.session import Session
from transkern.frontend.values.values import (
    Array,
    Dict,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    KeyedDict,
    Object,
    OrNone,
    Record,
    Row,
    Scalar,
    Seq,
    Value,
    is_outside,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.facts import implied, touched
from transkern.ir.traverse import buffers_read, buffers_written, scalars_set, variables_read, walk_expr
from transkern.records import replace

_CHAIN = 8  # variables that are followed from one to the next, to the argument that they depend on
_LONG_SIZE = 12  # parts of a size that gets a name of its own
_SNAPSHOT = 10  # steps: whoever takes one may translate the same text again


class Snapshot(NamedTuple):
    """What a translation goes back to that translates the same text again."""

    names: names.Saved
    facts: facts.Saved
    out: list[n.Stmt]  # the block that is being filled
    aliasing: aliasing.Saved
    handed: set[int]
    rows: twins.Rows


class Context:
    """Shared by a function and everything inlined into it."""

    def __init__(self, lines: Sequence[str], file: str, learned: Learned | None = None) -> None:
        self.session = Session(lines, file)
        self.learned = learned or Learned()
        self.names = names.Names()
        self.emitter = Emitter()
        self.scopes = Scopes()
        self.control = Control()
        self.aliasing = aliasing.Aliasing()
        self.facts = Facts(self.names, self.aliasing)
        self.heap = Heap(self.control)
        self.lists = Lists(self.control)
        self.inputs = Inputs(self.heap)

    def fail(self, kind: refusals.Kind, problem: str, help: str = "", node: ast.AST | None = None) -> NoReturn:
        """Refuses what is at `node`, or at the present place."""
        raise self.error(kind, problem, help, node)

    def error(
        self, kind: refusals.Kind, problem: str, help: str = "", node: ast.AST | None = None
    ) -> CompileError:
        """A refusal of what is at `node`, or at the present place."""
        return self.session.error(kind, problem, help, node)

    def snapshot(self) -> Snapshot:
        """What `restore` takes back everything to that is made after this."""
        self.session.step(_SNAPSHOT)
        return Snapshot(
            self.names.save(), self.facts.save(), list(self.emitter.out), self.aliasing.save(),
            set(self.heap.handed), self.lists.twins.rows.copy(),
        )  # fmt: skip

    def restore(self, state: Snapshot) -> None:
        self.names.restore(state.names)
        self.facts.restore(state.facts)
        self.emitter.out[:] = state.out  # checks may have been put before its end, too
        self.aliasing.restore(state.aliasing)
        self.heap.handed = set(state.handed)
        self.lists.twins.rows = state.rows.copy()
        self.lists.lengths.now.clear()

    # --- lists, dicts, objects

    def deref(self, value: Value) -> Value:
        """What is in a list, dict or object now; any other value as it is."""
        heap = self.heap
        if heap.opening and isinstance(value, Object):
            for tokens in heap.opening:
                tokens.add(value.token)
        if isinstance(value, Row):
            held = handing.opened(self, value)
            return JoinedText(held, "") if value.rows.kind == "text" else held
        if isinstance(value, Instance):
            pool = value.pool
            items = tuple(pool.attribute(self, value, name) for name in pool.names)
            if pool.kind is set:
                keys, alive, codes, table, info = map(self.deref, items)
                return Hashed("set", keys, alive, codes, table, info, pool.spare, instance=value)  # type: ignore[arg-type]
            if pool.kind is KeyedDict:
                keys, alive, codes, table, info, values = map(self.deref, items)
                default, of = pool.like or (None, None)
                lists = (keys, alive, codes, table, info, pool.spare, values)
                return Hashed("dict", *lists, default, of=of, instance=value)  # type: ignore[arg-type]
            return Dict(pool.names, items) if pool.kind is dict else Record(pool.kind, pool.names, items)
        return heap.contents[value.token] if isinstance(value, Object) else value

    def contents(self, value: Value) -> Value:
        """What is in a list, and in the lists in it; any other value as it is."""
        value = self.deref(value)
        if not isinstance(value, Seq):
            return value
        self.session.step(len(value.items) // 64)  # a list may hold one and the same list a thousand times
        if any(isinstance(i, (Object, Seq)) for i in value.items):
            self.session.step(1 + len(value.items) // 16)
            return replace(value, items=tuple(self.contents(i) for i in value.items))
        return value

    def change(self, value: Value, contents: Value) -> None:
        """A list, dict or object gets other contents, under all its names."""
        before = self.deref(value)
        if isinstance(before, Seq) and before.row_of is not None:
            handing.fail_row(self, before.row_of)
        if is_outside(before):
            handing.fail_outside(self, before)
        if not isinstance(value, Object):
            if isinstance(value, Seq):
                choices.stand_together(self, choices.sites_of(self, value.of), "a change of one of several lists")
            self.fail(refusals.TARGET, "a change of a list or dict that has no name", "give it a name first")
        if value.token in self.heap.handed:
            handing.fail_handed(self, value.token)
        for copy in self.heap.copied.get(value.token, ()):
            if self.scopes.still_named(lambda v, copy=copy: v == copy):  # type: ignore[misc]
                handing.fail_handed(self, copy.token)
        self.heap.put(value.token, contents)

    def must_look_up(self, token: int) -> NoReturn:
        """A key is looked up in a dict, of which only the run knows which it is."""
        problem, site = "a dict's key that is known at run time only", self.heap.sites[token]
        if self.heap.is_dict_of_caller(token) and site not in self.learned.growing:
            raise MustGrow(site, self.error(refusals.RUN_TIME_KEYS, problem, "copy it first: d = dict(d)"))
        self.must_grow(token, problem, refusals.RUN_TIME_KEYS)

    def must_grow(
        self, token: int, problem: str, kind: refusals.Kind = refusals.RUN_TIME_LENGTH, others: Iterable[int] = ()
    ) -> NoReturn:
        """The list changes its length where it is not known whether, or how often; so do the `others` there."""
        of_argument = self.heap.is_dict_of_caller(token)
        help = "copy it first: d = dict(d)" if of_argument else "make it an array, or a list of one kind of element"
        error = self.error(kind, problem, help)
        site = self.grows_at(token)
        if site is None:
            raise error
        sites = map(self.grows_at, others)
        raise MustGrow(site, error, [one for one in sites if one is not None])

    def grows_at(self, token: int) -> Site | None:
        """Where a list or dict is made that another translation may have as one that grows; None where it may not."""
        site = self.heap.sites[token]
        fixed = site in self.learned.growing or site[0] == "fixed" or self.heap.is_dict_of_caller(token)
        return None if fixed else site

    def growing_at(self, token: int) -> Finding | None:
        """What to begin anew with, for a list or dict that becomes one that grows."""
        site = self.grows_at(token)
        return None if site is None else Finding("growing", site)

    def must_be_known(
        self, value: Value, problem: str, help: str = "", kind: refusals.Kind = refusals.NEEDS_CONSTANT
    ) -> NoReturn:
        """`value` is needed at specialisation: where it is an argument, its value becomes part of the types."""
        help = help or "make it a constant, or a loop over what is known"
        error = NotKnown(kind, problem, help, self.session.span, self.session.lines)
        if isinstance(value, OrNone):  # that it is None is known first
            value = Scalar(value.none)
        entry = self.facts.entry
        if isinstance(value, Scalar) and not buffers_read(value.expr):
            made = self.facts.unnamed(value.expr)
            for _ in range(_CHAIN):
                left = variables_read(made) - entry
                made = b.substitute(made, {name: self._last_assigned(name) for name in left})
                if not left or variables_read(made) - entry == left:
                    break
            made = b.substitute(made, self.facts.extent_values)
            found = sorted(variables_read(made) & entry)
            # a list that has got longer is as long as what was put into it, and that as the arguments tell
            if found and variables_read(made) - entry <= self.lists.counts:
                raise NeedsConstant(found[0], error)
        if isinstance(value, Scalar):
            lists = sorted(buffers_read(value.expr) & self.inputs.numbers)
            if lists:
                raise NeedsConstant(lists[0], error)
        raise error

    def _last_assigned(self, name: str) -> Expr:
        """What a variable, such as the length of a list, got in the statements before this one, or around it."""
        for statements in (self.emitter.out, *reversed(self.emitter.around)):
            found = self.facts.assigned_in(statements, name)
            if found is not None:
                return found
        return Var(name, self.names.variables.get(name, "index"))

    # --- statements

    def emit(self, statement: n.Stmt) -> None:
        """The next statement of the block that is being filled."""
        if isinstance(statement, n.Assign) and statement.name in self.lists.counts:
            lengths.before_change(self, statement.name)
        elif isinstance(statement, (n.Store, n.Write)) and statement.buffer in self.lists.lengths.buffers:
            lengths.before_store_in_list(self, statement.buffer)
        if self.facts.conditions:
            scalars, buffers = scalars_set(statement), buffers_written(statement)
            self.facts.forget(lambda fact: touched(fact, scalars, buffers))
        self.emitter.out.append(replace(statement, span=self.session.place()))

    def guard(self, condition: Expr, error: str, message: str, args: tuple[Expr, ...] = ()) -> None:
        """Raise `error` at run time unless `condition`; ends the block where it is known to fail."""
        if condition == b.TRUE or implied(condition, self.facts.conditions):
            return
        if self.control.raised is not None:
            error, message, args = self.control.raised
        caught = guards.caught(self, guards.error_class(error)) if self.control.catching else None
        if caught is None:
            guards.raise_unless(self, condition, error, message, args)
            if self.emitter.out is self.emitter.root:
                self.facts.hold(condition)
        else:
            guards.leave_try(self, condition, *caught, error, message, args)
        if condition == b.FALSE:
            raise Terminated

    def let(self, value: Expr, base: str = "t") -> Expr:
        """`value` evaluated here and now, under a name."""
        if isinstance(value, (Const, Var)) and not (isinstance(value, Var) and value.name in self.names.variables):
            return value
        low_high = self.facts.range_of(value)
        name = self.names.fresh(base)
        self.emit(n.Let(name, value))
        if value.dtype == "index" and not buffers_read(value):
            self.facts.named[name] = value
        if low_high is not None:
            self.facts.ranges[name] = low_high
        return Var(name, value.dtype)

    def let_tentative(self, value: Expr, base: str) -> Expr:
        """`value` evaluated here and now, if anything reads it."""
        made = self.let(value, base)
        if made != value and isinstance(made, Var):
            self.names.unsure.add(made.name)
        return made

    def extent(self, value: Expr) -> Expr:
        """A run-time integer as a size, one name a value: what is made of the arguments alone is named at the start."""
        if isinstance(value, Const):
            return value
        facts = self.facts
        made = facts.unnamed(value)  # ``half = n // 2; np.arange(half)``: of the arguments, too
        if facts.is_of_arguments(made):
            value = made
            if isinstance(value, Const):
                return value
            if value not in facts.extents:
                facts.extents[value] = b.size(f"extent{len(facts.extents) or ''}.size")
                facts.entry.add(facts.extents[value].name)
                facts.extent_values[facts.extents[value].name] = value
            return facts.extents[value]
        name = f"{self.names.fresh('length')}.size"
        self.emit(n.Let(name, value))
        if not buffers_read(value):
            facts.named[name] = value
        return b.size(name)

    def short(self, size: Expr) -> Expr:
        """A size, by a name where it is a long expression: what is made of it would be longer each time."""
        return size if len(list(islice(walk_expr(size), _LONG_SIZE))) < _LONG_SIZE else self.extent(size)

    # --- arrays

    def buffer(self, base: str, dtype: str, dims: tuple[Expr, ...], **facts: Any) -> n.Buffer:
        """New memory of ``dtype[dims]``."""
        dims = tuple(lengths.fixed_size(self, d) for d in dims)
        buffer = n.Buffer(self.names.fresh(base), dtype, dims, line=self.session.span.line, **facts)
        self.names.buffers[buffer.name] = buffer
        self.aliasing.made_in[buffer.name] = self.control.loop_path
        self.aliasing.spaced.discard(buffer.name)
        return buffer

    def hold(self, owner: GrowingList) -> None:
        """Makes sure of the memory of a list whose type is known, also where a translation has been taken back."""
        buffers = self.names.buffers
        for one in owner.leaves:
            if one.dtype and one.buffer not in buffers:
                length = self.names.bounds.get(one.count, b.ZERO)
                dims = length, *one.dims
                buffers[one.buffer] = n.Buffer(one.buffer, one.dtype, dims, line=self.session.span.line)
            if one.dtype and one.tags and one.tags not in buffers:
                buffers[one.tags] = replace(buffers[one.buffer], name=one.tags, dtype="uint8")

    def define(self, value: Array, base: str, **facts: Any) -> Array:
        """`value` put into a buffer of its own."""
        if value.mask is not None:
            return self.compact(value, base)
        low_high = self.facts.array_range(value)
        if low_high is not None and "low" not in facts and value.dtype.startswith(("int", "uint")):
            facts = {**facts, "low": low_high[0], "high": low_high[1]}
        buffer = self.buffer(base, value.dtype, value.dims, **facts)
        self.emit(n.Define(buffer.name, value.axes, value.body))
        self.facts.makers[buffer.name] = value.body
        return replace(self.names.whole(buffer), empty=value.empty)

    def held_aside(self, value: Array, base: str, changes: Callable[[Expr], bool]) -> Array:
        """`value` computed now, as something that it is made of changes. The elements of a filter stay where they are,
        as long as the same mask chooses them: what is stored back through it, element by element, is never moved."""
        if value.mask is None or any(map(changes, (value.mask, *value.domain))):
            return self.define(value, base)
        kept = b.where(value.mask, value.body, b.cast(Const(0, "int64"), value.dtype))
        held = self.define(replace(value, body=kept, mask=None), base)
        body = b.substitute(held.body, {a.name: x.var for a, x in zip(held.axes, value.axes, strict=True)})
        return replace(value, body=body)

    def compact(self, value: Array, base: str) -> Array:
        """A filter put into a buffer: the elements kept, in order, and their count."""
        assert value.mask is not None
        facts: dict[str, Any] = {}
        low_high = self.facts.array_range(value)
        if low_high is not None:
            facts = {"low": low_high[0], "high": low_high[1]}
        buffer = self.buffer(base, value.dtype, value.domain, **facts)
        if value.spaced:
            self.aliasing.spaced.add(buffer.name)
        count = self.names.count(buffer.name, value.axes[0].extent)
        self.emit(n.Alloc(buffer.name))
        self.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
        kept = self._count_of(value, count)
        return replace(self.names.whole(buffer, (kept, *value.domain[1:])), empty=value.empty)

    def _count_of(self, value: Array, count: Expr) -> Expr:
        """How many elements a filter keeps, which `count` has just been set to: of equal masks the first one's count,
        so that arrays that one mask has filtered have one size."""
        assert value.mask is not None
        extent = value.axes[0].extent
        mask = value.mask_at(Var("at", "index"))
        if (variables_read(mask) | variables_read(extent)) & self.names.variables.keys():
            return count
        known, out, here = self.facts.counted.get((extent, mask)), self.emitter.out, self.control.loop_path
        blocks = (out, *self.emitter.around)
        if known is not None and any(known.block is x for x in blocks) and any(known.made is s for s in known.block):
            read = buffers_read(mask)
            if known.loops == here or not read & self.aliasing.stored:
                return known.size
        defined = {s.buffer for x in blocks for s in x if isinstance(s, n.Define)}
        if all(x in defined or self.names.buffers[x].role == "argument" for x in buffers_read(mask)):
            self.facts.counted[extent, mask] = Counted(count, out, out[-1], here)
        return count

    def kept(self, value: Array) -> Array:
        """`value`, out of a filter's elements an array of its own."""
        return value if value.mask is None else self.compact(value, "kept")

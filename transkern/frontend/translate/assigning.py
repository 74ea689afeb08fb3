"""Assignments: names, elements, attributes, and what a name stands for once it is bound."""

from __future__ import annotations

import ast
import operator
import types
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.anew import Site
from transkern.frontend.bodies import At
from transkern.frontend.containers import (
    dict_types,
    empties,
    growing,
    hashed,
    hashed_sets,
    pools,
    putting,
    sequences,
)
from transkern.frontend.containers.attribute_stores import put_attribute
from transkern.frontend.containers.elements import element as list_element
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.containers.item_stores import store_at
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating, lengths
from transkern.frontend.numpy import library_calls
from transkern.frontend.numpy.arrays import as_array, concatenate_now
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.python.arithmetic import PYTHON_OPERATORS
from transkern.frontend.python.texts import is_text, text_operation
from transkern.frontend.sources.measures import check_items
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import aliasing, choices, evaluating
from transkern.frontend.subscripts.arrays import array_item
from transkern.frontend.syntax.sharing import is_read_in_a_loop, is_read_next, shared_stores
from transkern.frontend.translate import managers, object_operators
from transkern.frontend.translate.binding.unpacking import unpack
from transkern.frontend.translate.results import Results
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values import classes, doubts, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, type_name
from transkern.frontend.values.scalars import present
from transkern.frontend.values.set_order import check_order
from transkern.frontend.values.strides import from_outside, in_memory
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    Flat,
    GrowingList,
    Hashed,
    Iterated,
    Method,
    Object,
    OrNone,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Value,
    as_outside,
    as_plain_tuple,
    children,
    lies,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_read, is_longer, variables_read, walk_expr

_PARTS = 200  # of a size that is kept as it was computed


class Assignments(Results):
    """Plain and augmented assignments, and the operators that both use."""

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.ctx.scopes.places[name] = self.ctx.session.span
                if name in self.globals:
                    managers.bind_global(self.ctx, self.scope, name, value)
                    return
                self.env[name] = self.bind(name, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                unpack(self, target, targets, value)
            case ast.Subscript():
                with At(self.ctx, target, self.scope.file):
                    self.store(target, value)
            case ast.Attribute():
                with At(self.ctx, target, self.scope.file):
                    self.set_attribute(target, value)
            case _:
                problem, help = "an assignment to this target", "assign to a name or a subscript"
                self.ctx.fail(refusals.TARGET, problem, help, target)

    def bind(self, name: str, value: Value) -> Value:
        """`value` as it is kept under a name: evaluated now; views stay views, filters that no loop reads filters,
        also in a tuple (what `np.where` gives)."""
        if ("name", name) in self.ctx.learned.early:
            value = evaluating.evaluated(self.ctx, value, name, lambda v: not v.view)
        value = lengths.fixed(self.ctx, value)
        match value:
            case Seq(items, "tuple") if any(isinstance(i, Array) and i.mask is not None for i in items):
                self.ctx.session.step(len(items))
                return replace(value, items=tuple(
                    self.settle(i, name) if isinstance(i, Array) and i.mask is not None else self.kept(i, name)
                    for i in items
                ))  # fmt: skip
            case _:
                return self.settle(value, name)

    def settle(self, value: Value, name: str) -> Value:
        ctx = self.ctx
        value = lengths.shortened(ctx, value)
        for dim in value.domain if isinstance(value, Array) else ():
            if is_longer(dim, _PARTS):  # in a function that calls itself with a part of its array, say
                problem = f"a size that is computed of others in more than {_PARTS} steps"
                ctx.must_be_known(Scalar(dim, True), problem, "write a loop over positions, and slice once")
        match value:
            case Scalar(expr, True, None, doubt) if _symbolic(ctx, expr) and not is_longer(expr, _PARTS):
                return value if doubt is None else replace(value, doubt=doubts.named(ctx, doubt, name))
            case Scalar(expr, python, tag, doubt):
                held = None if tag is None else ctx.let(tag, f"{name} type")
                return Scalar(ctx.let(expr, name), python, held, doubts.named(ctx, doubt, name))
            case Array(axes=()) if not value.view and name not in shared_stores(self.node):
                return replace(value, body=ctx.let(value.body, name))
            case Array(mask=None, view=False) if (shown := from_outside(ctx, value)) is not None:
                return shown
            case Array(mask=None, view=False):
                if isinstance(value.body, Const) or _is_position(value):
                    if isinstance(value.body, Const) and name not in shared_stores(self.node):
                        return value
                    if not isinstance(value.body, Const):
                        return value if name not in shared_stores(self.node) else ctx.define(value, name)
                if name in shared_stores(self.node):
                    value = in_memory(ctx, value, name)
                permuted = name not in shared_stores(self.node) and _is_permuted(ctx, value)
                made = value if value.view else ctx.define(value, name, **({"permutation": True} if permuted else {}))
                return replace(made, readonly=value.readonly) if value.readonly else made
            case Array(mask=None, view=True, identity="") if self._reordered(value, name):
                source = ctx.names.buffers[value.base]
                whole = source.permutation and source.name not in ctx.aliasing.stored and value.dims == source.dims
                return ctx.define(replace(value, view=False), name, permutation=whole)
            case Array(mask=mask) if mask is not None:
                return ctx.compact(value, name) if self._stands_in_memory(name) else value
            case Concatenation(pieces, dtype):
                if is_read_next(self.node, name, self.ctx.session.span.line):
                    return value
                return concatenate_now(ctx, pieces, dtype, name)
            case Seq(shows=Object()):
                return value
            case Seq() | Dict() | Record():
                ctx.session.step(len(children(value) or ()))
                kept = {id(i): self.kept(i, name) for i in children(value) or ()}  # [a] * 3 is one array
                one = self.allocate(with_children(value, tuple(kept[id(i)] for i in children(value) or ())), name)
                if isinstance(value, Seq) and value.of and isinstance(one, Object):
                    choices.note_copy(ctx, one, value.of)
                return one
            case Text(template, args):
                return Text(template, tuple(self.settle(a, name) for a in args))
            case GrowingList(site=None, prefix=()) if value.dtype and not value.columns:
                value.site = self.site(name)
                return growing.with_types(ctx, value)
            case Char(code):
                return Char(ctx.let(code, name))
            case Flat():
                return replace(value, named=True)
            case OrNone(inner, none):
                return OrNone(self.settle(inner, name), ctx.let(none, f"{name} is None"))
            case Iterated(value=made):
                return replace(value, value=self.settle(made, name))
            case _:
                return value

    def _stands_in_memory(self, name: str) -> bool:
        """Whether what a mask chooses is stored once where it is bound to a name: what stores into it needs a place,
        and a loop that reads it would choose it at each turn."""
        return name in shared_stores(self.node) or is_read_in_a_loop(self.node, name, self.ctx.session.span.line)

    def kept(self, value: Value, name: str) -> Value:
        """`value` as it is kept in a container: what has a place there can be stored into."""
        settled = self.settle(value, name)
        if not isinstance(settled, Array) or not settled.axes or lies(settled):
            return settled
        made = from_outside(self.ctx, settled) or self.ctx.define(settled, name)
        if any(v is settled for state in self.loops for v in state.before.values()):
            self.ctx.aliasing.made_in[made.base] = ()  # in each iteration it is the same
        for frame in self.ctx.scopes.frames:  # the names it has are names of the same array
            frame.update({k: made for k, v in frame.items() if v is settled})
        return made

    def allocate(self, contents: Value, name: str) -> Value:
        """A list, dict or object that is given a name, or put into another; tuples are values."""
        if (isinstance(contents, Seq) and contents.kind == "tuple") or (
            isinstance(contents, Record) and contents.is_tuple
        ):
            return contents
        site = self.site(name)
        self.ctx.learned.note_stack(site)
        hashes = isinstance(contents, Dict) or (isinstance(contents, Seq) and contents.kind == "set")
        if site in self.ctx.learned.together and pools.is_keyed(self.ctx, contents):
            return putting.placed_keyed(self.ctx, contents)
        if site in self.ctx.learned.growing and hashes:
            assert isinstance(contents, (Dict, Seq))
            made = hashed.of_items(self.ctx, name, contents, site)
            made = hashed.as_frozen(made) if isinstance(contents, Seq) and contents.frozen else made
            return self.ctx.heap.allocate(as_outside(made) if contents.outside else made, site)
        if isinstance(contents, Dict) and pools.key_of(contents) in self.ctx.lists.pools:
            return putting.placed_dict(self.ctx, contents)
        if isinstance(contents, Seq) and contents.kind == "list" and site in self.ctx.learned.together:
            held = self.ctx.lists.together[self.ctx.learned.together[site]]
            return Row(held, putting.row_number(self.ctx, held, contents))
        if isinstance(contents, Seq) and site in self.ctx.learned.growing:
            grown = growing.filled(self.ctx, name, contents.items, site)
            grown.outside = contents.outside
            return self.ctx.heap.allocate(grown, site)
        return self.ctx.heap.allocate(contents, site)

    def site(self, name: str) -> Site:
        """Where a list is made."""
        span = self.ctx.session.span
        return (span.file, span.line, span.column, span.end_line, span.end_column, name)

    def _reordered(self, value: Array, name: str) -> bool:
        """A view that runs backwards over memory which nothing else shows: a copy in order serves all later reads. (Of
        what is stored into, `ravel` and the like are copies, where those of a copy in order were views.)"""
        if not isinstance(value.body, Load) or self.ctx.names.buffers[value.base].role == "argument":
            return False
        if name in shared_stores(self.node):
            return False
        own = {a.name for a in value.axes}
        backwards = any(
            c < 0 for i in value.body.index for t, c in b.affine(i)[0].items() if isinstance(t, Var) and t.name in own
        )
        return backwards and not aliasing.is_seen(self.ctx, name, value)

    def elements(self, value: Value, wanted: int | None, node: ast.AST) -> list[Value]:
        """The elements of an iterable whose length is known."""
        ctx = self.ctx
        if isinstance(value, Iterated) and value.some is not None and wanted:
            ctx.guard(value.some, "ValueError", f"not enough values to unpack (expected {wanted}, got 0)")
        value = iterating.all_of(ctx, value)
        value = present(ctx, ctx.deref(value), "TypeError", "cannot unpack non-iterable NoneType object")
        match value:
            case Dict(keys):
                return [Static(k) for k in keys]
            case Seq(items) | Record(items=items) if not isinstance(value, Record) or value.is_tuple:
                check_order(ctx, value)
                return list(items)
            case Method():
                counted = iterating.iteration(ctx, value)
                if isinstance(counted, list):
                    return counted
                problem = f"unpacking `{value.name}` of run-time length"
                ctx.fail(refusals.RUN_TIME_LENGTH, problem, "make a list of it, and take its items by position", node)
            case GrowingList() if (length := b.constant(value.extent or value.length)) is not None:
                return [list_element(ctx, value, b.index(k)) for k in range(length)]
            case GrowingList() if wanted is not None and is_typed(ctx, value):
                self._must_be_as_long(value.length, wanted)
                return [list_element(ctx, value, b.index(k)) for k in range(wanted)]
            case GrowingList():
                problem = "unpacking a list of run-time length"
                growing.must_be_fixed(ctx, value, problem, "unpack an array of known shape")
            case Static(tuple() | list() | str() as items):
                return [Static(i) for i in items]
            case Array() | Static(np.ndarray()) | Concatenation():
                array = as_array(ctx, value)
                if not array.ndim:
                    ctx.guard(b.FALSE, "TypeError", "iteration over a 0-d array")
                array = ctx.kept(array)
                extent = b.constant(array.dims[0])
                if extent is None and wanted is not None and not variables_read(array.dims[0]) <= ctx.facts.entry:
                    self._must_be_as_long(array.dims[0], wanted)
                    extent = wanted
                if extent is None:
                    self.demand_dim(array.dims[0], node, "unpacking an array of run-time length")
                ctx.session.step(extent or 0)
                return [array_item(ctx, array, [Static(i)]) for i in range(extent or 0)]
            case Range(start, stop, step):
                bounds = [b.constant(e) for e in (start, stop, step)]
                if None not in bounds:
                    ctx.session.step(len(range(*bounds)))  # type: ignore[arg-type]
                    return [Static(i) for i in range(*bounds)]  # type: ignore[arg-type]
                problem, help = "unpacking a range of run-time length", "take its numbers by position, or loop over it"
                ctx.fail(refusals.RUN_TIME_LENGTH, problem, help, node)
            case _:
                ctx.fail(refusals.NEEDED, f"unpacking {describe(value)}", "unpack a tuple, a list or an array", node)

    def _must_be_as_long(self, length: Expr, wanted: int) -> None:
        """What is unpacked must have as many elements as there are names."""
        few = f"not enough values to unpack (expected {wanted}, got {{}})"
        self.ctx.guard(b.compare("greater_equal", length, b.index(wanted)), "ValueError", few, (length,))
        many = f"too many values to unpack (expected {wanted})"
        self.ctx.guard(b.compare("less_equal", length, b.index(wanted)), "ValueError", many)

    def demand_dim(self, dim: Expr, node: ast.AST | None, problem: str) -> None:
        """Ask for a specialisation on the value of a size."""
        if isinstance(dim, Var) and b.is_size_name(dim.name):
            help = "its length must be known: give it in the types, such as float64[3]"
            raise NeedsConstant(dim.name, self.ctx.error(refusals.RUN_TIME_LENGTH, problem, help, node))
        if node is not None:
            self.ctx.session.span = span_of(node, self.scope.file)
        help = "take its elements by position, or loop over it"
        self.ctx.must_be_known(Scalar(dim, True), problem, help, refusals.RUN_TIME_LENGTH)

    def store(self, target: ast.Subscript, value: Value) -> None:
        """``base[items] = value``."""
        with waiting(self.ctx) as those:
            those.put(value)
            owner = self.expr(target.value)
            base = self.ctx.deref(owner)
            items = self.items(target.slice, base)
            value = those.values[0]
        store_at(self, target, owner, items, value)

    def set_attribute(self, target: ast.Attribute, value: Value) -> None:
        """``base.attr = value``."""
        ctx = self.ctx
        missing = f"'NoneType' object has no attribute '{target.attr}'"
        put_attribute(self, target, present(ctx, self.expr(target.value), "AttributeError", missing), value)

    def own(self, name: str, value: Array) -> Array:
        """The array under `name` in memory of its own, so that it can be stored to; without a name nobody will see what
        is stored, but the store may raise."""
        owned = self.ctx.define(value, name or "copy")
        if value.readonly:  # the imaginary parts of real numbers
            owned = replace(owned, readonly=value.readonly)
        if name:
            self.env[name] = owned
        return owned

    def operate(self, op: str, left: Value, right: Value, in_place: bool = False) -> Value:
        ctx = self.ctx
        made = object_operators.binary(ctx, op, left, right)
        if made is not None:
            return made
        left, right = ctx.deref(left), ctx.deref(right)
        if isinstance(left, OrNone) or isinstance(right, OrNone):
            left, right = self.operands(op, left, right)
        if isinstance(left, Flat) or isinstance(right, Flat):
            ctx.fail(refusals.OPERANDS, "an operator on `.flat`, which is an iterator", "write x.ravel()")
        if op != "remainder" or not is_text(left):
            python_types.check(ctx, python_types.BINARY[op][in_place], left, right)
        left, right = as_plain_tuple(left), as_plain_tuple(right)
        if op == "matmul":
            product = lambda given: library_calls.matmul(ctx, given[0], given[1])  # noqa: E731
            return empties.operation(ctx, op, [left, right], product)
        counts = None if in_place else dict_types.combined(ctx, op, left, right, self.site("counts"))
        sets = counts or hashed_sets.combined(ctx, op, left, right)
        if sets is not None:
            return sets
        texts = text_operation(ctx, op, left, right)
        if texts is not None:
            return texts
        if isinstance(left, Seq) or isinstance(right, Seq):
            if op == "add" and isinstance(left, Seq) and isinstance(right, Seq):
                check_items(len(left.items) + len(right.items))
                return Seq(left.items + right.items, left.kind)
            if op == "multiply":
                seq, times = (left, right) if isinstance(left, Seq) else (right, left)
                assert isinstance(seq, Seq)
                if isinstance(times, Static) and isinstance(times.value, (int, np.integer)) and seq.kind != "set":
                    check_items(len(seq.items) * int(times.value))
                    return Seq(asked(ctx, operator.mul, seq.items, int(times.value)), seq.kind)
                if isinstance(times, Scalar) and times.dtype.startswith(("index", "int", "uint")):
                    return sequences.repeated(ctx, seq, replace(times, expr=sequences.how_often(ctx, times)))
        if op == "multiply":
            for owner, times in ((left, right), (right, left)):
                if isinstance(owner, GrowingList) and sequences.is_count(times):
                    if in_place and owner is left:
                        problem = "`*=` of a list whose length is known at run time only"
                        ctx.fail(refusals.RUN_TIME_LENGTH, problem, "write a = a * n")
                    return sequences.repeated_list(ctx, owner, times)
        if (known := python_types.known_set(left)) is not None and (other := python_types.known_set(right)) is not None:
            made_set = asked(ctx, python_types.BINARY[op][0], known, other)
            frozen = isinstance(made_set, frozenset)
            return Seq(tuple(Static(v) for v in made_set), "set", outside=frozen, frozen=frozen)
        if op == "add" and isinstance(left, (Seq, GrowingList)) and isinstance(right, (Seq, GrowingList)):
            if left.kind == right.kind and left.kind in ("list", "tuple"):
                return sequences.joined(ctx, left, right)
        if isinstance(left, Static) and isinstance(right, Static) and not (is_number(left) and is_number(right)):
            if isinstance(left.value, (str, tuple, list)):
                return Static(asked(ctx, PYTHON_OPERATORS[op], left.value, right.value))
        if op == "bitwise_or":
            one, two = classes.object_at(left), classes.object_at(right)
            if isinstance(one, (type, types.UnionType)) and isinstance(two, (type, types.UnionType)):
                return Static(one | two)
        numbers = all(is_number(v) or isinstance(v, Scalar) for v in (left, right))
        if not numbers and not any(map(python_types.is_numpy, (left, right))):
            help = "compute with numbers and arrays"
            if isinstance(left, (Dict, Hashed)) and isinstance(right, (Dict, Hashed)):
                help = "put one into a copy of the other: made = dict(a), made.update(b)"
            problem = f"`{python_types.SYMBOLS.get(op, '**')}` of {describe(left)} and {describe(right)}"
            ctx.fail(refusals.OPERANDS, problem, help)
        return empties.operation(ctx, op, [left, right], lambda given: apply(ctx, op, given, operator_call=True))

    def operands(self, op: str, left: Value, right: Value) -> tuple[Value, Value]:
        """Operands of which one may be None: Python's error where it is."""
        symbol = {**python_types.SYMBOLS, "power": "** or pow()"}.get(op)
        if symbol is None:
            self.ctx.fail(refusals.MAY_BE_NONE, "a matrix product of what may be None", "test it with `is None` first")
        names = [type_name(v.value if isinstance(v, OrNone) else v) for v in (left, right)]
        left = present(
            self.ctx, left, "TypeError", f"unsupported operand type(s) for {symbol}: 'NoneType' and '{names[1]}'"
        )
        text = f"unsupported operand type(s) for {symbol}: '{names[0]}' and 'NoneType'"
        return left, present(self.ctx, right, "TypeError", text)


def _symbolic(ctx: Context, expr: Expr) -> bool:
    """A linear form of sizes that do not change before the end of the iteration, or a product of what the call is
    given: kept as it is, so that what is known of the sizes is known of it."""
    if expr.dtype != "index" or buffers_read(expr):
        return False
    terms, _ = b.affine(expr)
    if terms and variables_read(expr) <= ctx.facts.entry and all(
        isinstance(e, (Const, Var)) or (isinstance(e, Apply) and e.op in ("add", "multiply")) for e in walk_expr(expr)
    ):
        return True
    return bool(terms) and all(
        isinstance(t, Var) and b.is_size_name(t.name) and t.name not in ctx.lists.counts for t in terms
    )


def _is_position(value: Array) -> bool:
    """A bare arange: kept as arithmetic, not as memory."""
    match value.body:
        case Load():
            return False
        case _:
            return not buffers_read(value.body) and len(value.axes) == 1 and _cheap(value.body)


def _cheap(expr: Expr) -> bool:
    match expr:
        case Const() | Var():
            return True
        case Apply("cast" | "add" | "subtract" | "multiply", args):
            return all(_cheap(a) for a in args)
        case _:
            return False


def _is_permuted(ctx: Context, value: Array) -> bool:
    """Whether an array is a permutation of positions from the first to the last, or back, in a type that holds them:
    ``order[::-1].astype(np.int32)``."""
    match value:
        case Array((axis,), Apply("cast", (Load(buffer, (at,)),), "int32" | "int64" | "uint32" | "uint64")):
            source = ctx.names.buffers[buffer]
            terms, total = b.affine(at)
            forward, back = (terms == {axis.var: 1} and total == 0), b.add(at, axis.var) == b.sub(axis.extent, b.ONE)
            same = source.permutation and buffer not in ctx.aliasing.stored and source.dims == value.dims
            return same and (forward or back)
        case _:
            return False

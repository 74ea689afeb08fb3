"""What a function hands back: arrays, views of arguments, lists, and what it has changed in them."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.bodies import RETURN
from transkern.frontend.containers import growing, hashed
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.state import handing, memory
from transkern.frontend.state.inputs import Change
from transkern.frontend.syntax.syntax import PART
from transkern.frontend.translate.expressions import Expressions
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.kinds import formatted
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import static_expr
from transkern.frontend.values.strides import from_outside, place_in_memory
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    Bound,
    Char,
    Concatenation,
    Dict,
    Doubt,
    Empty,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Iterated,
    JoinedText,
    Known,
    Method,
    Object,
    OneOf,
    OrNone,
    Partial,
    Pool,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Shown,
    Split,
    Static,
    Text,
    Unbound,
    Value,
    View,
    children,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import DICTS, OF_NUMPY
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import variables_read

_MOST_NONE = 4


class Results(Expressions):
    """`return`, of whatever can be returned."""

    def return_(self, value: ast.expr | None) -> None:
        result = Static(None) if value is None else self.expr(value)
        if self.inlined:
            self.returned_at = self.ctx.session.span
            self.env[RETURN] = self.settle(result, "result")
            assert not self.loops, "`return` inside a loop is a flag and a break"
            self.ended = True
            raise Terminated
        self.hand_back(result)
        raise Terminated

    def hand_back(self, value: Value, decided: int = 0) -> None:
        """Return `value` from the compiled function; where something in it may be None, each way by itself."""
        ctx = self.ctx
        options = _or_none(ctx, value)
        found = options[0] if options else None
        many = not decided and len({o.none for o in options}) > _MOST_NONE
        if found is None or (many and all(_is_number(ctx, o) for o in options)):
            ctx.emit(n.Return(self.returned(value)))
            return
        if decided > _MOST_NONE:
            problem = f"returning more than {_MOST_NONE + 1} things that may be None"
            ctx.fail(refusals.RESULT, problem, "return fewer of them, or something else for None")
        for is_none in (True, False):
            heap = dict(ctx.heap.contents)
            with ctx.emitter.block() as out, suppress(Terminated):
                self.hand_back(_decided(ctx, value, found.none, is_none), decided + 1)
            ctx.heap.contents = heap
            if is_none:
                ctx.emit(n.If(found.none, tuple(out)))
            else:
                ctx.emitter.out.extend(out)

    def returned(self, value: Value) -> n.Result:
        """The result, and with it what was put into the arguments."""
        self.pools_handed_out: list[Pool] = []
        self.tokens_handed_out: set[int] = set()
        result = self.result(value)
        changes = self._changes()
        return n.TupleResult((result, *changes)) if changes else result

    def changes_now(self) -> tuple[n.Result, ...]:
        """What has been put into the arguments until here: a part for each of `Inputs.changes`."""
        self.pools_handed_out = []
        self.tokens_handed_out = set()
        return self._changes()

    def _changes(self) -> tuple[n.Result, ...]:
        ctx = self.ctx
        if not ctx.inputs.changes and not ctx.inputs.has_changes():
            return ()
        for token, given in ctx.inputs.given.items():
            path = ctx.inputs.paths[token]
            for change in _changes(path, given, ctx.heap.contents[token], path in ctx.inputs.appended):
                if change not in ctx.inputs.changes:
                    ctx.inputs.changes.append(change)
        if not ctx.inputs.changes:
            return ()
        tokens = {path: token for token, path in ctx.inputs.paths.items()}
        return tuple(self._change(tokens[path], kind, key) for path, kind, key in ctx.inputs.changes)

    def _change(self, token: int, kind: str, key: Any) -> n.Result:
        """What goes to one place in an argument."""
        ctx = self.ctx
        now, before = ctx.heap.contents[token], ctx.inputs.given[token]
        if kind in ("list", "appended"):
            return n.UNCHANGED if now is before else self.result(now)
        assert isinstance(now, (Dict, Record)) and isinstance(before, (Dict, Record))
        item = now.get(key)
        if kind == "without":
            return n.ConstantResult(None) if item is None else n.UNCHANGED
        return n.UNCHANGED if item is None or item == before.get(key) else self.result(item)

    def result(self, value: Value) -> n.Result:
        """What is handed to the caller, of the type that NumPy gives."""
        if isinstance(value, Object):
            if value.token in self.ctx.inputs.paths:
                name = f"{self.ctx.inputs.paths[value.token]}_itself"
                self.ctx.inputs.returned.add(name)
                return n.ArgumentResult(name)
            token, value = value.token, self.ctx.deref(value)
            if getattr(self.node, PART, False):
                self._refuse_twice(token)
        if self.ctx.inputs.lends_lists and _holds_lists(value):
            problem = "returning lists beside a list of more than a few lists among the arguments, of which they may be"
            self.ctx.fail(refusals.RESULT, problem, "return arrays, numbers, or lists of numbers")
        if isinstance(value, Row):
            row = handing.opened(self.ctx, value)
            held = replace(growing.copied(self.ctx, row), kind=row.kind)
            value = JoinedText(held, "") if value.rows.kind == "text" else held
        match value:
            case Instance(pool, number):
                return self._objects_result(pool, n.ScalarResult(number, True), "object")
            case GrowingList(kind="tuple"):
                return n.TupleResult((self.result(replace(value, kind="list")),), "tuple of list")
            case GrowingList(objects=Pool() as pool):
                numbers = n.ListResult(value.buffer if value.dtype else "", b.size(value.count), "index", True)
                return self._objects_result(pool, numbers, "objects")
            case Static(v) if isinstance(v, np.generic):
                return n.ScalarResult(static_expr(self.ctx, v), False)
            case Static(enum.Enum() as member):
                return self._member(member)
            case Static(v) if v is None or isinstance(v, (bool, int, float, complex, str)):
                return n.ConstantResult(v)
            case Seq(items, "set", frozen=frozen):
                return n.TupleResult(tuple(self.result(i) for i in items), "frozenset" if frozen else "set")
            case Seq(kind="dict_keys" | "dict_values" | "dict_items" as kind):
                self.ctx.fail(refusals.RESULT, f"returning a {kind}", "return a list or a tuple of it: list(…)")
            case Iterated() | View():
                self.ctx.fail(refusals.RESULT, f"returning {describe(value)}", "return a list of it: list(…)")
            case Scalar(doubt=Doubt(split=Split(tag, one, two, exact) as split, kinds=kinds) as doubted) if (
                # beside a number of NumPy's, one of Python's is held in NumPy's type where a loop would have to hand on
                # which it was
                exact
                or not split.handed_on
                or doubts.is_of_neither(value)
                or len({of_python for _, of_python in kinds}) == 1
                or doubts.is_rounded(doubted, value.dtype)
                or not variables_read(tag) & self.ctx.names.variables.keys()
            ):
                return n.TupleResult((n.ScalarResult(tag, True), self.result(one), self.result(two)), "either")
            case Scalar(tag=None, doubt=Doubt()) if doubts.is_of_neither(value):
                doubts.ask_for_split([value])
                doubts.depends(self.ctx, [value], "returning")
            case Scalar(expr, python, None):
                if doubts.is_all_pythons(value):
                    doubts.ask_for_split([value])
                return n.ScalarResult(expr, python)
            case Scalar(expr, python, tag):
                assert tag is not None
                kind_of = n.ScalarResult(b.as_index(tag), True)
                return n.TupleResult((n.ScalarResult(expr, python), kind_of), "tagged number")
            case Seq(items, kind):
                return n.TupleResult(tuple(self.result(i) for i in items), kind)
            case Dict(keys, items) if any(isinstance(k, enum.Enum) for k in keys):
                both = zip(map(Static, keys), items, strict=True)
                return n.TupleResult(tuple(self.result(v) for pair in both for v in pair), "dict of items")
            case Dict(keys, items):
                return n.TupleResult(tuple(self.result(i) for i in items), "dict", tuple(keys))
            case Record(kind, names, items):
                return n.TupleResult(
                    tuple(self.result(i) for i in items), "record", names, self._class_path(kind)
                )  # fmt: skip
            case Hashed(frozen=True):
                self.ctx.fail(refusals.RESULT, "returning a frozenset", "return a set, a list or a tuple")
            case Hashed(is_callers=True):
                problem = "returning a dict that is an argument, in which keys are looked up that only the run knows"
                self.ctx.fail(refusals.RESULT, problem, "return a copy of it: dict(d)")
            case Hashed(kind):
                parts = hashed.lists_of(self.ctx, value) if kind == "dict" else [hashed.keys(self.ctx, value, True)]
                for part in parts:
                    if isinstance(part, GrowingList) and _is_shared(part):
                        problem = "returning a dict whose arrays share memory with an argument"
                        help = "put copies into it: d[key] = x.copy()"
                        growing.must_be_fixed(self.ctx, part, problem, help, refusals.RESULT)
                of = hashed.factory(self.ctx, value.default, value.of)
                return n.TupleResult(tuple(self.result(p) for p in parts), f"{kind} of lists", (), of)
            case GrowingList() as owner:
                if _is_shared(owner):
                    problem = "returning a list whose arrays share memory with an argument"
                    growing.must_be_fixed(self.ctx, owner, problem, "append copies: .append(x.copy())", refusals.RESULT)
                if any(leaf.objects for leaf in owner.leaves):
                    problem = "returning objects in tuples in a list"
                    self.ctx.fail(refusals.RESULT, problem, "return a list of the objects")
                if owner.is_queue or any(part.rows is not None and part.rows.kind == "deque" for part in owner.parts):
                    self.ctx.fail(refusals.RESULT, "returning a deque", "return a list: list(queue)")
                if (owner.dims and owner.row) or owner.prefix:  # lists in a list
                    kind = "lists of numbers" if owner.python else "lists"
                    return n.TupleResult((self._array_result(as_array(self.ctx, owner)),), kind)
                growing.forget_behind_none(self.ctx, owner)
                return _list_result(owner, self._class_path)
            case Char(code):
                return n.TupleResult((n.ScalarResult(code, True),), "character")
            case OneOf(index, options):
                return n.TupleResult((n.ScalarResult(index, True),), "one of", options)
            case JoinedText(items, between):
                made = _list_result(items, self._class_path)
                assert isinstance(made, n.TupleResult), "a list of texts"
                return replace(made, kind=f"joined {made.kind}", of=between)
            case Text():
                return self._text_result(value)
            case Array(identity=identity) if identity:
                return n.ArgumentResult(identity)
            case Array(view=True) if self.ctx.names.buffers[value.base].role == "argument":
                return self._view_result(value)
            case Array(view=True) if (
                value.base in self.ctx.aliasing.doubtful and memory.is_of_argument(self.ctx, value.base)
            ):
                raise self.ctx.aliasing.doubtful[value.base][1]
            case Array(empty=Empty(some, of_empty)) if not _is_all_of_a_list(value):
                full, none = self.result(replace(value, empty=None)), self.result(Static(of_empty))
                return n.TupleResult((n.ScalarResult(some, True), full, none), "either")
            case Array() | Concatenation() | Static(np.ndarray()):
                array = as_array(self.ctx, value)
                shown = from_outside(self.ctx, array)
                return self._array_result(array) if shown is None else self._view_result(shown)
            case OrNone(inner, none) if _is_number(self.ctx, inner):
                return n.TupleResult((n.ScalarResult(none, True), self.result(inner)), "or none")
            case Unbound(why, help=help):
                self.ctx.fail(refusals.TYPE_DIFFERS, why, help)
            case Range():
                self.ctx.fail(refusals.RESULT, "returning a range", "return a list of it, list(…), or np.arange(…)")
            case Function() | Bound() | Partial() | Known():
                self.ctx.fail(refusals.RESULT, f"returning {describe(value)}", "return what a call of it gives")
            case Static(type()):
                help = "return its name, a text: its `__name__`"
                self.ctx.fail(refusals.RESULT, f"returning {describe(value)}", help)
            case Method(Seq(), name) | Method(name="reversed" as name):
                self.ctx.fail(refusals.RESULT, f"returning what `{name}` makes", "return a list of it: list(…)")
            case _:
                help = "return numbers, texts, arrays, and tuples, lists, sets and dicts of these"
                self.ctx.fail(refusals.RESULT, f"returning {describe(value)}", help)

    def _refuse_twice(self, token: int) -> None:
        """Of a part of a function, whose results go on under names, each would be one of its own."""
        held = self.ctx.heap.contents.get(token)
        read_only = isinstance(held, GrowingList) and held.buffer in self.ctx.aliasing.appended
        if token in self.tokens_handed_out or token in self.ctx.heap.handed or read_only:
            self.ctx.fail(refusals.TWO_NAMES, "results that are one list, dict or object", "make a copy for each")
        self.tokens_handed_out.add(token)

    def _objects_result(self, pool: Pool, numbers: n.Result, kind: str) -> n.Result:
        """Some of the objects of a class: all are made, so that one of them is one object wherever it stands."""
        ctx, name = self.ctx, pool.kind.__name__
        if pool in self.pools_handed_out:
            problem = f"several results with objects of `{name}`, which may be the same"
            ctx.fail(refusals.RESULT, problem, "return them in one list")
        self.pools_handed_out.append(pool)
        leaves = pool.owner.leaves
        if any(leaf.objects for leaf in leaves):
            problem = f"returning objects of `{name}`, which hold others"
            ctx.fail(refusals.RESULT, problem, "return what is needed of them in lists")
        if any(leaf.shared or (leaf.rows is not None and leaf.rows.shared) for leaf in leaves):
            problem = f"returning objects of `{name}` with arrays that are arguments, too"
            ctx.fail(refusals.RESULT, problem, "give them copies")
        growing.forget_behind_none(ctx, pool.owner)
        columns = tuple(_list_result(c, self._class_path) for c in pool.owner.columns)
        of = "" if pool.kind is dict else self._class_path(pool.kind)
        of = of if pool.like is None else DICTS + hashed.factory(ctx, *pool.like)
        return n.TupleResult((numbers, *columns), kind, pool.names, of)

    def _text_result(self, text: Text) -> n.Result:
        """A text with numbers, lists and dicts in it: Python makes it of these."""
        return n.TupleResult(tuple(map(self._in_text, text.args)), "text", (text.template,))

    def _in_text(self, value: Value) -> n.Result:
        """What a text has in it. Its template says how a number is shown, of Python's where NumPy's are the same."""
        match value:
            case Shown(GrowingList(kind=kind), (GrowingList() as held,)):
                return self.result(replace(held, kind=kind))
            case Shown(Array(), (held,)):
                return self.result(held)
            case Shown(JoinedText() as joined):
                return self.result(joined)
            case Shown(Hashed() as owner, lists):
                parts = tuple(self.result(one) for one in lists)
                return n.TupleResult(parts, "dict of lists", (), hashed.factory(self.ctx, owner.default, owner.of))
            case Scalar(expr, False) if expr.dtype == "uint64":
                return n.TupleResult((n.ScalarResult(expr, False),), "int")
            case Scalar(expr, False) if expr.dtype not in OF_NUMPY:
                return n.ScalarResult(b.as_index(expr) if expr.dtype.startswith(("int", "uint")) else expr, True)
            case _:
                return self.result(value)

    def _member(self, member: enum.Enum) -> n.Result:
        """A member of an enum, by its name; several flags at once by their number."""
        kind = type(member)
        by_name = member.name in kind.__members__
        text = n.ConstantResult(member.name if by_name else member.value)
        return n.TupleResult((text,), "member by name" if by_name else "member", (), self._class_path(kind))

    def _class_path(self, kind: type) -> str:
        if kind.__module__.startswith("transkern.frontend.compositions"):  # it stands for one of Python's
            self.ctx.fail(refusals.RESULT, "returning an iterator or a generator", "return what it gives")
        if "<locals>" in kind.__qualname__:
            self.ctx.fail(
                refusals.RESULT, f"returning an instance of `{kind.__name__}`, a class made inside a function",
                "define the class at the top of its module",
            )
        return f"{kind.__module__}:{kind.__qualname__}"

    def _view_result(self, value: Array) -> n.Result:
        base = self.ctx.names.buffers[value.base]
        if base.name in self.ctx.inputs.memories:
            self.ctx.fail(refusals.RESULT, "a view of arguments that share memory as a result", "return a copy of it")
        view = place_in_memory(self.ctx, value)
        if view is None:
            problem = "returning a view of an argument that strides cannot describe"
            self.ctx.fail(refusals.RESULT, problem, "return a copy of it")
        return n.ViewResult(
            base.name, value.dims, view.offset, view.steps, value.dtype, view.part, value.readonly is True
        )  # fmt: skip

    def _array_result(self, value: Array) -> n.Result:
        if value.view and value.base in self.ctx.inputs.handed_out:
            problem = "returning what a cached function has made, which others have, too"
            self.ctx.fail(refusals.RESULT, problem, "return a copy of it")
        ctx = self.ctx
        whole = (
            value.mask is None and isinstance(value.body, Load) and (value.view or self._unshared(value.body.buffer))
            and value.body.index == tuple(a.var for a in value.axes)
        )  # fmt: skip
        dims = value.domain
        if (whole and self._covers(value)) or (
            whole and len(dims) == len(ctx.names.buffers[value.base].dims) and self._prefix(value)
        ):
            buffer = ctx.names.buffers[value.base]
        else:
            stored = ctx.define(value, "result")
            dims = stored.dims
            buffer = ctx.names.buffers[stored.base]
        self.handed_out.add(buffer.name)
        if buffer.role == "temporary" and dims == buffer.dims:
            ctx.names.buffers[buffer.name] = replace(buffer, role="result")
        of_empty = None if value.empty is None else value.empty.value.dtype.name
        return n.ArrayResult(buffer.name, dims, value.dtype, of_empty)

    def _unshared(self, buffer: str) -> bool:
        """Whether a copy of a temporary that is handed out may be the temporary itself: nobody else will see it."""
        return self.ctx.names.buffers[buffer].role == "temporary" and buffer not in self.handed_out

    def _covers(self, value: Array) -> bool:
        return value.dims == self.ctx.names.buffers[value.base].dims

    def _prefix(self, value: Array) -> bool:
        """Whether only the first axis is shorter than the buffer: the data stand together."""
        dims = self.ctx.names.buffers[value.base].dims
        return value.dims[1:] == dims[1:]


def _is_all_of_a_list(value: Array) -> bool:
    """Whether an array is empty just where the list is that NumPy would make another array of, also an empty one."""
    return (
        value.empty is not None and value.mask is None and value.ndim == value.empty.value.ndim == 1
        and value.empty.value.size == 0 and value.empty.known == b.compare("greater", value.dims[0], b.ZERO)
    )  # fmt: skip


def _changes(path: str, given: Value, now: Value, is_appended: bool) -> list[Change]:
    """What is to be done to an argument so that it holds what it should."""
    if now is given or now == given:
        return []
    if isinstance(given, (Seq, GrowingList)):
        return [(path, "appended" if is_appended else "list", None)]
    assert isinstance(given, (Dict, Record)) and isinstance(now, (Dict, Record))
    kind = "item" if isinstance(given, Dict) else "attribute"
    mine, names = (v.keys if isinstance(v, Dict) else v.names for v in (given, now))
    changed = [(path, kind, k) for k in names if now.get(k) != given.get(k)]
    return changed + [(path, "without", k) for k in mine if k not in names]


def _or_none(ctx: Context, value: Value) -> list[OrNone]:
    """What in a result may be None."""
    value = value if isinstance(value, Instance) else ctx.deref(value)
    if isinstance(value, OrNone):
        return [value]
    return [found for i in children(value) or () for found in _or_none(ctx, i)]


def _is_number(ctx: Context, value: Value) -> bool:
    """Whether a value is a number, a tuple of numbers, or None: there is something to hand back where it is None."""
    value = ctx.deref(value.value if isinstance(value, OrNone) else value)
    if isinstance(value, Seq):
        return all(_is_number(ctx, i) for i in value.items)
    return isinstance(value, Scalar) or (isinstance(value, Static) and is_number(value))


def _decided(ctx: Context, value: Value, none: Expr, is_none: bool) -> Value:
    """A result in which what depends on `none` is decided."""
    if isinstance(value, Object):
        ctx.heap.contents[value.token] = _decided(ctx, ctx.heap.contents[value.token], none, is_none)
        return value
    if isinstance(value, OrNone):
        if value.none != none:
            return value
        return Static(None) if is_none else _decided(ctx, value.value, none, is_none)
    items = children(value)
    if not items:
        return value
    return with_children(value, tuple(_decided(ctx, i, none, is_none) for i in items))


def _holds_lists(value: Value) -> bool:
    """Whether a value is a list in a list, or a list of lists."""
    if not isinstance(value, GrowingList):
        return isinstance(value, Row)
    return value.rows is not None or bool(value.dims and value.row) or bool(value.prefix)


def _is_shared(owner: GrowingList) -> bool:
    """Whether arrays in a list share memory with what others have."""
    return owner.shared or (owner.rows is not None and owner.rows.shared)


def _list_result(owner: GrowingList, path: Callable[[type], str]) -> n.Result:
    """A list of run-time length: of numbers, of rows, or of tuples of these."""
    if owner.rows is not None:
        rows = owner.rows
        numbers = n.ListResult(owner.buffer if owner.dtype else "", b.size(owner.count), "index", True)
        parts = (numbers, *(_list_result(one, path) for one in (rows.starts, rows.sizes, rows.pool)))
        if rows.kind != "array":
            return n.TupleResult(parts, f"ragged {rows.kind or 'list'}s")
        pool = n.ArrayResult(rows.pool.buffer, (b.size(rows.pool.count), *rows.pool.dims), rows.pool.dtype)
        return n.TupleResult((*parts[:3], pool), "ragged arrays")
    if owner.columns:
        columns = tuple(_list_result(c, path) for c in owner.columns)
        if formatted.is_formatted(owner):
            return n.TupleResult(columns, "formatted")
        if owner.of is not None:
            return n.TupleResult(columns, "rows of record", of=path(owner.of))
        return n.TupleResult(columns, f"rows of {owner.row}")
    if owner.tags:
        kinds = n.ListResult(owner.tags, owner.length, "uint8", False)
        return n.TupleResult((n.ListResult(owner.buffer, owner.length, owner.dtype, owner.python), kinds), "tagged")
    if owner.options:
        numbers = n.ListResult(owner.buffer, owner.length, "index", True)
        if owner.options == CHARACTERS:
            return n.TupleResult((numbers,), "characters")
        return n.TupleResult((numbers,), "texts", owner.options)
    return n.ListResult(
        owner.buffer if owner.dtype else "", b.size(owner.count), owner.dtype or "index", owner.python, owner.dims
    )

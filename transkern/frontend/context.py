"""The state of one translation: buffers, names, facts, and the statements emitted so far."""

from __future__ import annotations

import ast
import builtins
import operator
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias

import numpy as np

from transkern import limits, refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.anew import Held, MustGrow, NotKnown, Site, Terminated
from transkern.frontend.containers import twins
from transkern.frontend.loops import lengths
from transkern.frontend.sources.source import span_of
from transkern.frontend.values.reach import shows as reaches
from transkern.frontend.values.values import (
    CHOSEN,
    ITEM,
    Array,
    Dict,
    Function,
    GrowingList,
    Instance,
    Object,
    OrNone,
    Pool,
    PoolKey,
    Row,
    Scalar,
    Seq,
    Unbound,
    Value,
    children,
    is_outside,
    lies,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import OF_NUMPY, text_of_numbers
from transkern.ir.expr import NOWHERE, Apply, Axis, Const, Expr, Frame, Load, Reduce, Span, Var
from transkern.ir.facts import Fact, facts_of, implied
from transkern.ir.traverse import buffers_read, scalars_set, variables_read, walk, walk_expr
from transkern.parsing import all_nodes
from transkern.records import replace

Inline: TypeAlias = Callable[[Function, Sequence[Value], dict[str, Value]], Value]

Change = tuple[str, str, Any]  # as in `runtime.structures`


_SHORT = ("int8", "int16", "uint8", "uint16")  # whose least and largest value is worth knowing


def _both(choose: Callable[[Expr, Expr], Expr], x: Expr | None, y: Expr | None) -> Expr | None:
    return None if x is None or y is None else choose(x, y)


def _either(choose: Callable[[Expr, Expr], Expr], x: Expr | None, y: Expr | None) -> Expr | None:
    return _both(choose, x, y) if x is not None and y is not None else x if y is None else y


class Catch(NamedTuple):
    """A `try` around: the kinds of exceptions that its handlers take, which handlers only raise them again, how deep in
    inlined functions it stands, and what leaves it for the handler of a number."""

    kinds: tuple[tuple[type[BaseException], ...], ...]
    lets_pass: tuple[bool, ...]
    depth: int
    leave: Callable[[int, str, str, Sequence[Expr]], None]

    def handler(self, error: type[BaseException]) -> int:
        """The number of the handler of an exception, from 1; 0 where there is none."""
        number = next((k for k, kinds in enumerate(self.kinds, 1) if issubclass(error, kinds)), 0)
        return 0 if number and self.lets_pass[number - 1] else number


class Copy(NamedTuple):
    """An array made of one of several on two paths, under a name: its buffer, theirs, and what decides. `noted` is
    called where one of them is stored into; without it, that is refused."""

    name: str
    buffer: str
    shown: frozenset[str]
    decides: Expr | None
    noted: Callable[[], None] | None = None
    problem: str = ""


class Counted(NamedTuple):
    """The count that a filter has set: the block with the statement, and the loops around it."""

    size: Expr
    block: list[n.Stmt]
    made: n.Stmt
    loops: tuple[int, ...]


_CHAIN = 8  # variables that are followed from one to the next, to the argument that they depend on
_LONG_SIZE = 12  # parts of a size that gets a name of its own


_SNAPSHOT = 10  # steps: whoever takes one may translate the same text again


class Waits(Protocol):
    """Values of expressions that have no name (`waiting.Waiting`)."""

    def before_change(self, name: str) -> None: ...


class Context:
    """Shared by a function and everything inlined into it."""

    def __init__(self, lines: Sequence[str], file: str) -> None:
        self.lines, self.file = lines, file
        self.budget = limits.budget()
        self.called: list[Function] = []  # the functions that are being translated in place
        self.called_there: tuple[ast.AST, ...] = ()  # the functions that were being translated there
        self.told: list[Any] = []  # what is known of the arguments of each
        self.texts_read: set[ast.AST] = set()  # functions
        self.too_deep: tuple[Span, bool] | None = None  # where Python's own stack has ended; whether by calls
        self.buffers: dict[str, n.Buffer] = {}
        self.variables: dict[str, str] = {}
        self.bounds: dict[str, Expr] = {}
        self.turns: tuple[tuple[int, int, int], ...] = ()  # as in `Span`, of what is being translated
        self.ranges: dict[str, tuple[Expr, Expr]] = {}  # scalar name -> [low, high)
        self.places: dict[str, Span] = {}  # where each name was assigned last
        self.counted: dict[tuple[Expr, Expr], Counted] = {}  # by a filter's extent and mask, over the axis `at`
        self.stored: set[str] = set()  # buffers that the user stores into; survives `restore`
        # arrays that are copies of one of several, as a run-time condition chooses: what they hold may be read, but a
        # store would have to go to the one chosen
        self.chosen: dict[str, tuple[str, Expr | None]] = {}
        # copies of what NumPy may show as a view: the buffer that is copied, and what is said where that matters
        self.doubtful: dict[str, tuple[str, CompileError]] = {}
        self.spaced: set[str] = set()  # arrays that NumPy has between other numbers
        self.makers: dict[str, Expr] = {}  # arrays that an expression was put into: it
        # what was computed of arrays of which one had been computed and then turned: by its axes, all of them
        self.operands: dict[tuple[Axis, ...], list[Array]] = {}
        self.filled_like = False  # an array was made in the order of one whose order only a call can tell
        self.begun: set[str] = set()  # what loops carry that begins as an array which is seen elsewhere
        self.memories: set[str] = set()  # what several arguments share: buffers that are no argument themselves
        self.writes: list[str] = []  # the buffers stored into, as they come: a loop's are those since its start
        self.taken: set[str] = set()
        self.lasting: set[str] = set()  # names that stay taken when a loop is translated again
        self.numbered: dict[str, int] = {}  # the last number that each name has got: below it none is free
        self.dims: set[str] = set()  # the sizes of the arguments
        self.parameters: frozenset[str] = frozenset()  # the names of the function's own
        self.sizes: set[str] = set()  # how the sizes of the arguments are written
        self.out: list[n.Stmt] = []
        self.around: list[list[n.Stmt]] = []  # what blocks outside of this one have so far
        self.root = self.out  # the statements outside branches and loops
        self._span: Span = NOWHERE
        self.pinned = False  # while a function of NumPy's is written out: all of it is at the user's call
        self.trusted = False  # while positions in lists are known to be there
        self.inline: Inline | None = None  # how a function's text is translated in place (set by the translator)
        self.trips: list[Expr | None] = []  # how often each enclosing run-time loop runs, where known
        self.depth = 0  # of inlining
        self.frame: Frame | None = None  # the function that is being translated
        self.written: set[str] = set()
        self.handed_out: set[str] = set()  # buffers of what cached functions have made: others have them, too
        self.readonly: set[str] = set()  # arguments that NumPy does not store into
        self.in_place: dict[str, bool] = {}  # arguments: whether the first store is by an operator or `out=`
        self.deferred: CompileError | None = None  # raised where the loops' types have settled and it still holds
        self.assumptions: list[Expr] = []
        # of the function of a library that was called last: where its statements stand, and where they begin there
        self.last_call: tuple[list[n.Stmt], int] = ([], 0)
        self.facts: list[Fact] = []  # what conditions on the way here say about sizes
        self.list_counts: set[str] = set()
        self.lengths = lengths.Lengths()
        self.doubted_lists: set[str] = set()  # whose numbers are of types of which an array has another than the list
        self.list_depths: dict[str, int] = {}  # the same: how many loops are around where each list is made
        self.grown: set[str] = set()  # those that a loop further inside makes larger; survives `restore`
        self.extents: dict[Expr, Var] = {}  # sizes made of the arguments: value -> name
        self.extent_values: dict[str, Expr] = {}  # the same by name
        self.unsure: set[str] = set()  # scalars that are left out where nothing reads them
        self.entry: set[str] = set()  # sizes and scalars that are known when a call begins
        self.frames: list[dict[str, Value]] = []
        self.called_in: list[list[n.Stmt]] = []  # the block in which each of these bodies begins
        self.copies: list[Copy] = []
        self.raised: tuple[str, str, tuple[Expr, ...]] | None = None  # the error of every guard
        self.of_elements: Expr = b.TRUE  # whether the lists have some that an operation is translated for
        self.later: list[Callable[[], None]] | None = None  # checks of positions, where others come before them
        self.is_flat = False  # whether subscripts count all elements of an array, and not those along an axis
        self.left_out: Collection[ast.stmt] = ()  # statements that are not translated
        self.unknown: set[tuple[ast.AST, str]] = set()  # names of functions that those, and what needs them, bind
        self.opening: list[set[int]] = []  # who wants to know which lists, dicts and objects are looked into
        self.live_here: frozenset[str] | None = None  # the names live behind the present statement
        self.heap: dict[int, Value] = {}  # what is in the lists, dicts and objects
        self.sites: dict[int, Site] = {}  # where each of them was made
        # lists of lists or tuples among the arguments: where what is behind their making begins in `out`, their memory,
        # and their kind
        self.lent: dict[str, tuple[int, frozenset[str], str]] = {}
        self.paths: dict[int, str] = {}  # those that are arguments: how they are reached (``model.layers``)
        self.given: dict[int, Value] = {}  # what was in them at the call
        self.tokens = 0
        self.globals_now: dict[tuple[int, str], Value] = {}  # names that a manager has bound for its block
        self.globals_first: dict[tuple[int, str], Value | None] = {}  # and what they stand for else
        self.managing: tuple[tuple[int, ...], int] | None = None  # where a manager is entered or left: it may bind them
        self.filters: list[str] | None = None  # what is done with warnings, within `warnings.catch_warnings`
        self.global_generator = ""  # the memory that says in what order NumPy's one generator is drawn from
        self.made_at: dict[int, tuple[int, ...]] = {}  # the loops around the making of each
        self.changed_at: dict[int, list[tuple[int, ...]]] = {}  # those around changes of it
        self.handed: set[int] = set()  # those whose contents have been copied into a list
        self.returned: set[str] = set()  # containers among the arguments that are results
        self.reserves = True  # whether there is memory for arrays that loops make longer
        self.steps_take_views = True  # whether library steps take any strides
        self.changes: list[Change] = []  # what the function puts into its arguments, at any of its returns
        self.changes_now: Callable[[], tuple[n.Result, ...]] | None = None  # what it has put there (set by translators)
        self.numbers: set[str] = set()  # arguments that are lists of numbers
        self.captured: list[tuple[str, Any]] = []  # arrays from outside the function in their memory: name and array
        self.outside: list[tuple[Array, Any]] = []  # those whose elements are constants, as they were made of them
        self.named: dict[str, Expr] = {}  # integers under a name: what they were made of
        self.loop_path: tuple[int, ...] = ()  # the loops around, numbered
        self.loops_begun = 0  # a number is never given twice: what was stored in one loop was not stored in another
        self.made_in: dict[str, tuple[int, ...]] = {}  # buffers: the loops around their making
        self.stored_in: dict[str, list[tuple[int, ...]]] = {}  # buffers: the loops around stores into them
        self.twins = twins.Twins()
        self.held_in: dict[str, set[str]] = {}  # buffers of lists of arrays: those of the arrays; survives `restore`
        self.appended: set[str] = set()  # buffers of arrays that stand in growing lists
        self.columns: dict[str, list[str]] = {}  # lists of tuples: the buffers that stand for one
        self.integers: set[str] = set()  # parameters that are Python's integers
        self.growing: set[Site] = set()  # lists that run-time code appends to
        self.fixed: set[Site] = set()  # comprehensions whose lists have been of known lengths so far
        self.wanted: dict[Site, tuple[str, bool]] = {}  # lists of several types of numbers: one that holds all
        self.held = Held()  # and the types
        self.catching: list[Catch] = []  # the `try` statements around, the innermost last
        self.in_head = 0  # conditions of loops that are being translated
        self.in_branch = 0  # branches of run-time conditions around
        self.texts: dict[str | bytes, np.ndarray[Any, Any]] = {}  # the codes of texts
        self.untyped: list[GrowingList] = []  # lists read before anything is known to be in them
        self.tables: set[Site] = set()  # lists of short lists whose items change
        self.ragged: set[Site] = set()  # lists of lists that have lengths of their own
        self.array_types: dict[str, str] = {}  # of what lists of several types become, which is checked
        self.apart = 0  # operations that are being written out: what empty lists are in NumPy is told around them
        self.texts_of_lists: dict[Site, tuple[str | None, ...]] = {}  # what lists hold in all translations of a loop
        self.characters: set[Site] = set()  # lists that have characters in them which only the run knows
        self.optional: set[Site] = set()  # lists that have None among their elements
        self.pooled: dict[PoolKey, tuple[str, ...]] = {}  # classes whose objects stand in lists, and their attributes
        self.pools: dict[PoolKey, Pool] = {}  # these lists
        self.replacing = ""  # the count of the list where what is put takes the place of an element
        self.lengthened: set[str] = set()  # names of arrays that loops make longer
        self.waiting: list[Waits] = []  # values of expressions beside those that are being evaluated
        self.looping: set[ast.FunctionDef] = set()  # functions that call themselves, and are loops over a stack
        self.spelling = self.may_spell = False  # whether texts that grow are lists; whether some might be
        self.grows = True  # whether the target has lists without a bound
        self.not_looping = ""  # why such a loop cannot be had
        self.early: set[Site] = set()  # where such values are computed at once
        self.rooms: set[str] = set()  # buffers of these

    @property
    def span(self) -> Span:
        """The place in the user's source that is being translated."""
        return self._span

    @span.setter
    def span(self, span: Span) -> None:
        if not self.pinned:
            self._span = span

    @contextmanager
    def pin(self) -> Iterator[None]:
        """Inside, everything is at the present place of the user's source."""
        before, self.pinned = self.pinned, True
        try:
            yield
        finally:
            self.pinned = before

    @contextmanager
    def trusting(self, trusted: bool) -> Iterator[None]:
        """Inside, subscripts of lists are known to be positions that these have."""
        before, self.trusted = self.trusted, trusted
        try:
            yield
        finally:
            self.trusted = before

    # --- names

    def recursion(self, chain: Sequence[ast.AST]) -> ast.FunctionDef | None:
        """The innermost function that is called again and again, where it may become a loop over a stack."""
        for position, node in reversed(list(enumerate(chain))):
            if node in chain[:position] and isinstance(node, ast.FunctionDef) and node not in self.looping:
                return node if self.grows and not self.not_looping else None
        return None

    def fresh(self, base: str) -> str:
        """A name not yet taken, starting with `base`."""
        base = re.sub(r"\W", "_", str(base)) or "t"
        if base not in self.taken and base not in self.buffers:
            self.taken.add(base)
            return base
        count = self.numbered.get(base, 1)
        while f"{base}_{count}" in self.taken or f"{base}_{count}" in self.buffers:
            count += 1
        self.numbered[base] = count
        self.taken.add(f"{base}_{count}")
        return f"{base}_{count}"

    def axis(self, letter: str, extent: Expr) -> Axis:
        """A fresh axis; its doubled letter leaves the single one to the user's own variables."""
        return Axis(self.fresh(letter * 2), extent)

    def axes(self, dims: Sequence[Expr]) -> tuple[Axis, ...]:
        """Fresh axes for the dims of an array."""
        return tuple(self.axis("ijklmpqrs"[d % 9], extent) for d, extent in enumerate(dims))

    # --- errors

    def fail(self, kind: refusals.Kind, problem: str, help: str = "", node: ast.AST | None = None) -> NoReturn:
        raise self.error(kind, problem, help, node)

    def error(
        self, kind: refusals.Kind, problem: str, help: str = "", node: ast.AST | None = None
    ) -> CompileError:
        span = span_of(node, self.file) if node is not None and not self.pinned else self.span
        return CompileError(kind, problem, help, span, self.lines)

    def step(self, count: int = 1) -> None:
        """Counts what is translated; raises Exhausted where that is too much for one compilation."""
        if why := self.budget.step(count, not self.pinned):
            where = f" in the call of `{self.called[-1].name}`" if self.called and not self.pinned else ""
            raise limits.exhausted(why + where, self.span, self.lines)

    def loop_number(self) -> int:
        """The number of another loop."""
        self.loops_begun += 1
        return self.loops_begun

    def read(self, node: ast.AST) -> None:
        """Takes the text of a function: one that is too long is refused before anybody goes through it."""
        if node not in self.texts_read:
            self.texts_read.add(node)
            most = int(limits.STEPS * self.budget.factor)
            if sum(1 for _ in all_nodes(node)) > most:
                why = f"a function of more than {most} nodes"
                raise limits.exhausted(why, span_of(node, self.file), self.lines)

    # --- emitting

    def emit(self, statement: n.Stmt) -> None:
        if isinstance(statement, n.Assign) and statement.name in self.list_counts:
            lengths.before_change(self, statement.name)
        elif isinstance(statement, (n.Store, n.Write)) and statement.buffer in self.lengths.buffers:
            lengths.before_store_in_list(self, statement.buffer)
        self.out.append(replace(statement, span=self.place()))

    def place(self) -> Span:
        """The present place with all that is known of it: the function, who calls it, the turn of its loop."""
        return replace(self.span, turns=self.turns, frame=self.frame)

    @contextmanager
    def block(self, ended: list[n.Stmt] | None = None) -> Iterator[list[n.Stmt]]:
        """Collects what is emitted inside; into `ended`, too, what does not get to its end, as it raises."""
        outer, self.out = self.out, []
        self.around.append(outer)
        try:
            yield self.out
        except Terminated:
            if ended is not None:
                ended.extend(self.out)
            raise
        finally:
            self.out = outer
            self.around.pop()

    def snapshot(self) -> tuple[Any, ...]:
        self.step(_SNAPSHOT)
        return (
            dict(self.buffers),
            dict(self.variables),
            dict(self.bounds),
            dict(self.ranges),
            set(self.taken),
            len(self.out),
            dict(self.made_in),
            {k: list(v) for k, v in self.stored_in.items()},
            set(self.appended),
            dict(self.chosen),
            list(self.copies),
            set(self.begun),
            set(self.handed),
            dict(self.doubtful),
            self.twins.rows.copy(),
        )

    def restore(self, state: tuple[Any, ...]) -> None:
        (buffers, variables, bounds, ranges, taken, length, made, stored, appended, chosen, copies, begun, handed,
         doubtful, rows) = state  # fmt: skip
        self.twins.rows = rows.copy()
        self.handed, self.doubtful = set(handed), dict(doubtful)
        self.chosen, self.copies, self.begun = dict(chosen), list(copies), set(begun)
        self.made_in, self.stored_in, self.appended = dict(made), {k: list(v) for k, v in stored.items()}, set(appended)
        self.buffers, self.variables, self.bounds = dict(buffers), dict(variables), dict(bounds)
        self.ranges, self.taken = dict(ranges), taken | self.lasting
        self.numbered = {}
        self.lengths.now.clear()
        del self.out[length:]

    # --- lists, dicts, objects

    def deref(self, value: Value) -> Value:
        """What is in a list, dict or object now; any other value as it is."""
        if self.opening and isinstance(value, Object):
            for tokens in self.opening:
                tokens.add(value.token)
        if isinstance(value, Row):
            return self.opened(value)
        if isinstance(value, Instance):
            from transkern.frontend.containers import objects

            return objects.contents(self, value)
        return self.heap[value.token] if isinstance(value, Object) else value

    def opened(self, row: Row) -> GrowingList:
        """The list that a row is now."""
        rows, pool = row.rows, row.rows.pool
        head = self.let(Load(rows.starts.buffer, rows.starts.index(row.number), "index"), "start")
        count = self.count(self.fresh("length"), None)
        self.list_counts.add(count.name)
        self.emit(n.Assign(count.name, Load(rows.sizes.buffer, rows.sizes.index(row.number), "index")))
        assert isinstance(head, Var)

        def placed(one: GrowingList) -> GrowingList:
            columns = [placed(c) for c in one.columns]
            return replace(one, head=head.name, count=count.name, columns=columns, row_of=row, extent=None)

        return placed(pool)

    def contents(self, value: Value) -> Value:
        """What is in a list, and in the lists in it; any other value as it is."""
        value = self.deref(value)
        if not isinstance(value, Seq):
            return value
        self.step(len(value.items) // 64)  # a list may hold one and the same list a thousand times
        if any(isinstance(i, (Object, Seq)) for i in value.items):
            self.step(1 + len(value.items) // 16)
            return replace(value, items=tuple(self.contents(i) for i in value.items))
        return value

    def allocate(self, contents: Value, site: Site) -> Object:
        """A new list, dict or object."""
        self.tokens += 1
        self.made_at[self.tokens] = self.loop_path
        self.heap[self.tokens] = contents
        self.sites[self.tokens] = site
        return Object(self.tokens)

    def change(self, value: Value, contents: Value) -> None:
        """A list, dict or object gets other contents, under all its names."""
        before = self.deref(value)
        if isinstance(before, Seq) and before.row_of is not None:
            self._fail_row(before.row_of)
        if is_outside(before):
            self.fail_outside()
        if not isinstance(value, Object):
            self.fail(refusals.TARGET, "a change of a list or dict that has no name", "give it a name first")
        if value.token in self.handed:
            self._fail_handed()
        self.changed_at.setdefault(value.token, []).append(self.loop_path)
        self.heap[value.token] = contents

    def _fail_row(self, owner: GrowingList) -> NoReturn:
        """A list that stands for one in another list was to be changed: then those lists are rows of a table."""
        problem = "a change of a list that stands in another one"
        error = NotKnown(refusals.NESTED_LIST, problem, "make it an array with two dimensions", self.span, self.lines)
        if owner.site is not None and owner.site not in self.tables:
            error.table = owner.site
        raise error

    def fail_outside(self) -> NoReturn:
        """A list, dict or set that others have, too, was to be changed."""
        problem = "a change of a list or dict from outside the function"
        self.fail(refusals.OUTSIDE_CHANGED, problem, "pass it as an argument, or copy it first")

    def is_last_look(self, value: Value) -> bool:
        """Whether no name stands for a list behind the present statement: a copy can be told from it by nobody."""
        if self.live_here is None or self.depth:
            return False
        names = [k for frame in self.frames for k, v in frame.items() if v is value or v == value]
        held = [v for v in self.heap.values() if any(i is value or i == value for i in children(v) or ())]
        return not held and len(self.frames) == 1 and not self.live_here & set(names)

    def only_read(self, value: Value) -> None:
        """Nobody may change a list, dict or object from here on."""
        if isinstance(value, Object):
            self._note_read(value)
        contents = self.deref(value)
        if isinstance(contents, GrowingList):
            self.note_append(contents.buffer)

    def must_keep(self, slot: Value) -> None:
        """Nobody may change, before or behind this, what a loop carries of something that stands in a list."""
        contents = self.deref(slot)
        if isinstance(slot, Object):
            if slot.token in self.changed_at:
                self._fail_handed()
            self.handed.add(slot.token)
        buffer = contents.buffer if isinstance(contents, GrowingList) else ""
        if isinstance(contents, Array) and lies(contents):
            buffer = contents.base
        if buffer:
            self.must_stay(buffer)

    def must_stay(self, buffer: str) -> None:
        """Nobody may change what is in a buffer, before or behind this."""
        if buffer in self.stored_in:
            self._fail_shared(buffer)
        self.appended.add(buffer)

    def note_handed(self, value: Object) -> None:
        """What is in a list becomes an element of another, as a copy: nobody may change it later."""
        if not self.is_last_look(value):
            self._note_read(value)

    def _note_read(self, value: Object) -> None:
        made = self.made_at.get(value.token, ())
        if any(set(self.loop_path) & set(path) - set(made) for path in self.changed_at.get(value.token, [])):
            self._fail_handed()  # in the loop's next iteration, that is
        self.handed.add(value.token)

    def _fail_handed(self) -> NoReturn:
        problem = "a change of a list (dict, object) that stands in another, or is one of two on two paths"
        raise NotKnown(refusals.TWO_NAMES, problem, "append (choose) a copy: row[:], dict(row)", self.span, self.lines)

    def must_look_up(self, token: int) -> NoReturn:
        """A key is looked up in a dict, of which only the run knows which it is."""
        problem, site = "a dict's key that is known at run time only", self.sites[token]
        if self._is_dict_of_caller(token) and site not in self.growing:
            raise MustGrow(site, self.error(refusals.RUN_TIME_KEYS, problem, "copy it first: d = dict(d)"))
        self.must_grow(token, problem, refusals.RUN_TIME_KEYS)

    def must_grow(self, token: int, problem: str, kind: refusals.Kind = refusals.RUN_TIME_LENGTH) -> NoReturn:
        """The list changes its length where it is not known whether, or how often."""
        of_argument = self._is_dict_of_caller(token)
        help = "copy it first: d = dict(d)" if of_argument else "make it an array, or a list of one kind of element"
        error = self.error(kind, problem, help)
        site = self.grows_at(token)
        if site is None:
            raise error
        raise MustGrow(site, error)

    def grows_at(self, token: int) -> Site | None:
        """Where a list or dict is made that another translation may have as one that grows; None where it may not."""
        site = self.sites[token]
        fixed = site in self.growing or site[0] == "fixed" or self._is_dict_of_caller(token)
        return None if fixed else site

    def _is_dict_of_caller(self, token: int) -> bool:
        return self.sites[token][0] == "argument" and isinstance(self.heap[token], Dict)

    def must_be_known(
        self, value: Value, problem: str, help: str = "", kind: refusals.Kind = refusals.NEEDS_CONSTANT
    ) -> NoReturn:
        """`value` is needed at specialisation: where it is an argument, its value becomes part of the types."""
        help = help or "make it a constant, or a loop over what is known"
        error = NotKnown(kind, problem, help, self.span, self.lines)
        if isinstance(value, OrNone):  # that it is None is known first
            value = Scalar(value.none)
        if isinstance(value, Scalar) and not buffers_read(value.expr):
            made = self.unnamed(value.expr)
            for _ in range(_CHAIN):
                left = variables_read(made) - self.entry
                made = b.substitute(made, {name: self.last_assigned(name) for name in left})
                if not left or variables_read(made) - self.entry == left:
                    break
            made = b.substitute(made, self.extent_values)
            names = sorted(variables_read(made))
            if names and set(names) <= self.entry:
                raise NeedsConstant(names[0], error)
        if isinstance(value, Scalar):
            lists = sorted(buffers_read(value.expr) & self.numbers)
            if lists:
                raise NeedsConstant(lists[0], error)
        raise error

    def last_assigned(self, name: str) -> Expr:
        """What a variable, such as the length of a list, got in the statements before this one, or around it."""
        for statements in (self.out, *reversed(self.around)):
            found = self._assigned_in(statements, name)
            if found is not None:
                return found
        return Var(name, self.variables.get(name, "index"))

    def _assigned_in(self, statements: Sequence[n.Stmt], name: str) -> Expr | None:
        for k in reversed(range(len(statements))):
            match statements[k]:
                case n.Assign(assigned, value) | n.Let(assigned, value) if assigned == name:
                    return self.unnamed(value)
                case n.If(condition, then, orelse):
                    one, two = (self._assigned_in(branch, name) for branch in (then, orelse))
                    if one is two is None:
                        continue
                    before = self._assigned_in(statements[:k], name)
                    one, two = (before if branch is None else branch for branch in (one, two))
                    return None if one is None or two is None else b.where(self.unnamed(condition), one, two)
                case _:
                    pass
        return None

    # --- making things

    def buffer(self, base: str, dtype: str, dims: tuple[Expr, ...], **facts: Any) -> n.Buffer:
        dims = tuple(lengths.fixed_size(self, d) for d in dims)
        buffer = n.Buffer(self.fresh(base), dtype, dims, line=self.span.line, **facts)
        self.buffers[buffer.name] = buffer
        self.made_in[buffer.name] = self.loop_path
        self.makers.pop(buffer.name, None)  # of a translation that was taken back
        self.spaced.discard(buffer.name)
        return buffer

    def load(self, buffer: str, index: tuple[Expr, ...]) -> Load:
        return Load(buffer, index, self.buffers[buffer].dtype)

    def whole(self, buffer: n.Buffer, dims: tuple[Expr, ...] | None = None, view: bool = True) -> Array:
        """The array that is all of `buffer`."""
        axes = self.axes(buffer.dims if dims is None else dims)
        return Array(axes, Load(buffer.name, tuple(a.var for a in axes), buffer.dtype), view=view)

    def let(self, value: Expr, base: str = "t") -> Expr:
        """`value` evaluated here and now, under a name."""
        if isinstance(value, (Const, Var)) and not (isinstance(value, Var) and value.name in self.variables):
            return value
        low_high = self.range_of(value)
        name = self.fresh(base)
        self.emit(n.Let(name, value))
        if value.dtype == "index" and not buffers_read(value):
            self.named[name] = value
        if low_high is not None:
            self.ranges[name] = low_high
        return Var(name, value.dtype)

    def variable(self, base: str, dtype: str) -> Var:
        """A scalar that will be assigned."""
        name = self.fresh(base)
        self.variables[name] = dtype
        return Var(name, dtype)

    def tentative(self, base: str, dtype: str) -> Var:
        """A scalar that will be assigned, and is left out if nothing reads it."""
        variable = self.variable(base, dtype)
        self.unsure.add(variable.name)
        return variable

    def let_tentative(self, value: Expr, base: str) -> Expr:
        """`value` evaluated here and now, if anything reads it."""
        made = self.let(value, base)
        if made != value and isinstance(made, Var):
            self.unsure.add(made.name)
        return made

    def extent(self, value: Expr) -> Expr:
        """A run-time integer as a size, one name a value: what is made of the arguments alone is named at the start."""
        if isinstance(value, Const):
            return value
        if not buffers_read(value) and variables_read(value) <= self.entry:
            if value not in self.extents:
                self.extents[value] = b.size(f"extent{len(self.extents) or ''}.size")
                self.entry.add(self.extents[value].name)
                self.extent_values[self.extents[value].name] = value
            return self.extents[value]
        name = f"{self.fresh('length')}.size"
        self.emit(n.Let(name, value))
        if not buffers_read(value):
            self.named[name] = value
        return b.size(name)

    def short(self, size: Expr) -> Expr:
        """A size, by a name where it is a long expression: what is made of it would be longer each time."""
        return size if len(list(islice(walk_expr(size), _LONG_SIZE))) < _LONG_SIZE else self.extent(size)

    def hold(self, owner: GrowingList) -> None:
        """Makes sure of the memory of a list whose type is known, also where a translation has been taken back."""
        for one in owner.leaves:
            if one.dtype and one.buffer not in self.buffers:
                length = self.bounds.get(one.count, b.ZERO)
                self.buffers[one.buffer] = n.Buffer(one.buffer, one.dtype, (length, *one.dims), line=self.span.line)
            if one.dtype and one.tags and one.tags not in self.buffers:
                self.buffers[one.tags] = replace(self.buffers[one.buffer], name=one.tags, dtype="uint8")

    def may_grow(self, count: str) -> bool:
        """Whether a list may have got longer by the next iteration of a loop around: its bound says nothing of that."""
        return count in self.grown and len(self.trips) > self.list_depths.get(count, 0)

    def count(self, base: str, bound: Expr | None) -> Var:
        """A size that is computed at run time and never exceeds `bound`."""
        name = f"{base}.size"
        self.variables[name] = "index"
        if bound is not None:
            self.bounds[name] = bound
        return b.size(name)

    def define(self, value: Array, base: str, **facts: Any) -> Array:
        """`value` put into a buffer of its own."""
        if value.mask is not None:
            return self.compact(value, base)
        low_high = self.array_range(value)
        if low_high is not None and "low" not in facts and value.dtype.startswith(("int", "uint")):
            facts = {**facts, "low": low_high[0], "high": low_high[1]}
        buffer = self.buffer(base, value.dtype, value.dims, **facts)
        self.emit(n.Define(buffer.name, value.axes, value.body))
        self.makers[buffer.name] = value.body
        return replace(self.whole(buffer), empty=value.empty)

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
        low_high = self.array_range(value)
        if low_high is not None:
            facts = {"low": low_high[0], "high": low_high[1]}
        buffer = self.buffer(base, value.dtype, value.domain, **facts)
        if value.spaced:
            self.spaced.add(buffer.name)
        count = self.count(buffer.name, value.axes[0].extent)
        self.emit(n.Alloc(buffer.name))
        self.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
        return replace(self.whole(buffer, (self._count_of(value, count), *value.domain[1:])), empty=value.empty)

    def _count_of(self, value: Array, count: Expr) -> Expr:
        """How many elements a filter keeps, which `count` has just been set to: of equal masks the first one's count,
        so that arrays that one mask has filtered have one size."""
        assert value.mask is not None
        extent = value.axes[0].extent
        mask = value.mask_at(Var("at", "index"))
        if (variables_read(mask) | variables_read(extent)) & self.variables.keys():
            return count
        known = self.counted.get((extent, mask))
        blocks = (self.out, *self.around)
        if known is not None and any(known.block is x for x in blocks) and any(known.made is s for s in known.block):
            read = buffers_read(mask)
            if known.loops == self.loop_path or not read & self.stored:
                return known.size
        defined = {s.buffer for x in blocks for s in x if isinstance(s, n.Define)}
        if all(x in defined or self.buffers[x].role == "argument" for x in buffers_read(mask)):
            self.counted[extent, mask] = Counted(count, self.out, self.out[-1], self.loop_path)
        return count

    def kept(self, value: Array) -> Array:
        """`value`, out of a filter's elements an array of its own."""
        return value if value.mask is None else self.compact(value, "kept")

    @contextmanager
    def raising(self, error: str, message: str, args: tuple[Expr, ...] = ()) -> Iterator[None]:
        """Inside, every guard raises this error."""
        before, self.raised = self.raised, (error, message, args)
        try:
            yield
        finally:
            self.raised = before

    def check_place(self, check: Callable[[], None]) -> None:
        """Makes a check of positions, or leaves it to who said `bounds_later`."""
        if self.later is None:
            check()
        else:
            self.later.append(check)

    @contextmanager
    def bounds_later(self) -> Iterator[list[Callable[[], None]]]:
        """Collects the checks of positions inside: what was asked for comes before them."""
        before, self.later = self.later, []
        try:
            yield self.later
        finally:
            self.later = before

    @contextmanager
    def counting_all(self) -> Iterator[None]:
        """Inside, subscripts count all elements of an array."""
        before, self.is_flat = self.is_flat, True
        try:
            yield
        finally:
            self.is_flat = before

    @contextmanager
    def knowing(self, condition: Expr) -> Iterator[None]:
        """Inside, `condition` holds."""
        count = len(self.facts)
        self.facts += facts_of(condition)
        try:
            yield
        finally:
            del self.facts[count:]

    def not_negative(self, expr: Expr) -> bool:
        """Whether an integer is certainly not negative here."""
        return b.is_nonnegative(expr) or implied(b.compare("greater_equal", expr, b.ZERO), self.facts)

    def assume(self, condition: Expr) -> None:
        """Hold `condition`, over sizes and parameters, for true: a call that breaks it gets other code."""
        while not variables_read(condition).isdisjoint(self.extent_values):
            condition = b.substitute(condition, self.extent_values)
        for e in walk_expr(condition):  # it is asked before anything is checked: by nothing nothing is divided
            if isinstance(e, Apply) and e.op in ("floor_divide", "remainder") and not isinstance(e.args[1], Const):
                condition = b.either(b.compare("equal", e.args[1], b.ZERO), condition)
        if condition != b.TRUE and condition not in self.assumptions:
            self.assumptions.append(condition)

    def assume_at_least(self, size: Expr, least: int) -> bool:
        """Hold a size for `least` or more, where a call can tell: ``x[n - 3]`` is one from the end else, if n is 2."""
        if not variables_read(size) <= self.entry or buffers_read(size):
            return False
        self.assume(b.compare("greater_equal", size, b.index(least)))
        return True

    def assume_equal(self, one: Expr, two: Expr) -> bool:
        """Hold two sizes for equal, where a call can tell: ``x[:k]`` before a loop and k elements made in it.

        What has been counted is taken for its bound: if it is less, the assumption says nothing about it.
        """
        difference = b.difference(one, two)
        if difference == 0:
            return True
        if difference is not None or not variables_read(one) | variables_read(two) <= self.entry:
            return False
        self.assume(b.compare("equal", one, two))
        return True

    def guard(self, condition: Expr, error: str, message: str, args: tuple[Expr, ...] = ()) -> None:
        """Raise `error` at run time unless `condition`; ends the block where it is known to fail."""
        if condition == b.TRUE or implied(condition, self.facts):
            return
        if self.raised is not None:
            error, message, args = self.raised
        caught = self.caught(error_class(error)) if self.catching else None
        if caught is None:
            self._raise_unless(condition, error, message, args)
        else:
            self.leave_try(condition, *caught, error, message, args)
        if condition == b.FALSE:
            raise Terminated

    def _raise_unless(self, condition: Expr, error: str, message: str, args: tuple[Expr, ...]) -> None:
        """A guard, and with it what has been put into the arguments so far."""
        changes_now, self.changes_now = self.changes_now, None  # what is handed over has no checks of its own
        with self.block() as out:
            changes = changes_now() if changes_now is not None else ()
        self.changes_now = changes_now
        if not changes:
            self.emit(n.Guard(condition, error, message, args))
            return
        numbers = list(args)
        text = text_of_numbers(n.TupleResult(changes), numbers)
        if text is not None and not out and len(numbers) <= n.GUARD_NUMBERS and condition != b.FALSE:
            self.emit(n.Guard(condition, error, message, tuple(numbers), text))
            return
        told = tuple(n.ScalarResult(a, a.dtype not in OF_NUMPY and a.dtype != "uint64") for a in args)
        raised = n.TupleResult(told, "raise", (message,), error, self.place())
        leaves = n.Return(n.TupleResult((raised, *changes)), span=self.place())
        if condition == b.FALSE:  # it leaves here, also while JAX traces
            self.out.extend(out)
            self.emit(leaves)
        else:
            self.emit(n.If(b.logical_not(condition), (*out, leaves)))

    def room(self, dims: Sequence[Expr]) -> Expr:
        """The length of memory for a list without a bound, of elements of the shape `dims`."""
        if self.reserves:
            return b.index(n.RESERVED_ROWS if dims else n.RESERVED)
        room = b.size(n.ROOM)
        return b.floordiv(room, b.index(n.RESERVED // n.RESERVED_ROWS)) if dims else room

    def must_have_room(self, condition: Expr) -> None:
        """The check that there is room for an element more of such a list. No `try` takes that a call begins anew."""
        if self.reserves:
            self.guard(condition, "MemoryError", "")
        elif not implied(condition, self.facts):
            self.emit(n.Guard(condition, n.NO_ROOM, ""))

    def caught(self, error: type[BaseException]) -> tuple[Catch, int] | None:
        """The `try` whose handler takes an exception, and the handler's number."""
        for one in reversed(self.catching):
            number = one.handler(error)
            if number:
                if one.depth != self.depth or self.in_head:
                    where = "in the condition of a loop" if self.in_head else "in a function that is called"
                    problem = f"the {error.__name__} here is caught outside of where it is raised, {where}"
                    help = "test for what would raise it, or catch it where it is raised"
                    self.fail(refusals.CAUGHT, problem, help)
                return one, number
        return None

    def leave_try(
        self, condition: Expr, catch: Catch, number: int, error: str, message: str, args: Sequence[Expr] = ()
    ) -> None:
        """Leave a `try` for its handler, with an exception's message, unless the condition holds."""
        with self.block() as out:
            catch.leave(number, error, message, args)
        self.emit(n.If(b.logical_not(condition), tuple(out)))

    def guard_early(self, condition: Expr, error: str, message: str) -> None:
        """A guard on numbers among the arguments goes before the work, also before stores into arguments: what stands
        between is one loop then. (Where it fails, these stores have not been made.)"""
        needs = variables_read(condition)
        if self.out is not self.root or not needs <= self.entry or condition == b.TRUE or self.catching:
            self.guard(condition, error, message)
            return
        if condition != b.FALSE and self.has_changes():  # a call that raises gets other code
            self.assume(condition)
            return
        at = len(self.root)
        while at and not any(_decides(s) or scalars_set(s) & needs for s in walk((self.root[at - 1],))):
            at -= 1
        self.root.insert(at, n.Guard(condition, error, message, span=self.place()))

    @property
    def lends_lists(self) -> bool:
        """Whether there are lists of lists among the arguments whose own lists nobody may be handed."""
        return any(kind == "ragged" for _, _, kind in self.lent.values())

    def has_changes(self) -> bool:
        """Whether anything has been put into the containers among the arguments."""
        return any(self.heap[token] is not contents for token, contents in self.given.items())

    def note_copy(
        self, name: str, buffer: str, shown: frozenset[str], decides: Expr | None,
        noted: Callable[[], None] | None = None, problem: str = "",
    ) -> None:  # fmt: skip
        """`buffer` holds a copy of one of several arrays that others show, too: while it may still be read, none
        of them may be stored into (or it is `noted`)."""
        all_shown = frozenset().union(*map(self.shown_by, shown))
        self.copies.append(Copy(name, buffer, all_shown, decides, noted, problem))

    def shown_by(self, buffer: str) -> set[str]:
        """A buffer, and those whose arrays stand in it as copies of what Python shows."""
        return {buffer}.union(*(c.shown for c in self.copies if c.buffer == buffer))

    def _check_copies(self, buffer: str) -> None:
        for c in self.copies:
            if buffer not in c.shown or not self._still_read(c.buffer):
                continue
            if c.noted is not None:
                c.noted()
            elif c.problem:
                help = f"copy it there: {c.name} = {c.name}.copy()"
                self.must_be_known(Unbound(""), c.problem, help, refusals.SHARED_MEMORY)
            else:
                self.must_be_known(
                    Scalar(b.TRUE if c.decides is None else c.decides),
                    f"`{c.name}` is one of two arrays, which of them is known at run time only, and one is stored into",
                    "store in each branch, or begin with a copy: x = (a if c else b).copy()",
                    refusals.SHARED_MEMORY,
                )

    def note_doubtful(self, copy: str, shown: str, problem: str, help: str) -> None:
        """The buffer `copy` is a copy of what NumPy may show as a view of `shown`: it may be read as long as none of
        both is stored into."""
        self.doubtful[copy] = shown, self.error(refusals.SHARED_MEMORY, problem, help)

    def is_of_argument(self, buffer: str) -> bool:
        """Whether an array in `buffer` shares memory with an argument, or may do so in NumPy."""
        return self.buffers[self.doubtful[buffer][0] if buffer in self.doubtful else buffer].role == "argument"

    def _check_doubtful(self, buffer: str) -> None:
        if buffer in self.doubtful:
            raise self.doubtful[buffer][1]
        for copy, (shown, error) in self.doubtful.items():

            def shows(value: Value, copy: str = copy) -> bool:
                return reaches(self.heap, value, lambda v: v.view and self.reads(v, copy))

            if shown == buffer and (self.still_named(shows) or any(map(shows, self.heap.values()))):
                raise error

    def _still_read(self, buffer: str) -> bool:
        """Whether a name through which `buffer` is read is live behind the present statement."""
        return bool(self.still_named(lambda v: reaches(self.heap, v, lambda a: self.reads(a, buffer))))

    def still_named(self, shows: Callable[[Value], bool]) -> list[str]:
        """The names that may still be read behind the present statement, of values of some kind."""
        return [
            name for frame in self.frames for name, value in frame.items()
            if shows(value) and (frame is not self.frames[-1] or self.live_here is None or name in self.live_here)
        ]  # fmt: skip

    def note_store(self, buffer: str) -> None:
        """The user's code stores into `buffer`."""
        if buffer in self.appended:
            self._fail_shared(buffer)
        self.before_change(buffer)
        self.stored_in.setdefault(buffer, []).append(self.loop_path)

    def note_append(self, buffer: str) -> None:
        """The array in `buffer` becomes an element of a growing list, as a copy: nobody may change it later."""
        made = self.made_in.get(buffer, ())
        if any(set(self.loop_path) & set(path) - set(made) for path in self.stored_in.get(buffer, [])):
            self._fail_shared(buffer)
        self.appended.add(buffer)

    def note_held(self, buffer: str, base: str) -> None:
        """The memory of a list gets the elements of an array, which others may see under a name of its own."""
        self.held_in.setdefault(buffer, set()).add(base)
        if base in self.lengths.buffers:
            twins.join(self, buffer, base)

    def check_held(self, buffer: str) -> None:
        """The user's code stores into an array that stands in a list, as a copy: nobody may see the original."""
        group = self.twins.groups.get(buffer, {buffer})
        for base in sorted(set().union(*(self.held_in.get(x, ()) for x in group))):
            contained = (v for held in self.heap.values() for v in children(held) or ())
            named = any(isinstance(v, Array) and self.reads(v, base) for v in contained)
            read = named or self._still_read(base)
            if read or base not in self.buffers or self.buffers[base].role == "argument":
                problem = f"a store into an array in a list, which is `{base}`, too"
                self.fail(refusals.TWO_NAMES, problem, f"append a copy: {base}.copy()")
        twins.check_twins(self, buffer)

    def _fail_shared(self, buffer: str) -> NoReturn:
        error = NotKnown(
            refusals.TWO_NAMES,
            f"`{buffer}` is appended to a list, or one of two on two paths, and changed in place afterwards",
            f"append (choose) a copy: {buffer}.copy()", self.span, self.lines,
        )  # fmt: skip
        raise error

    # --- facts

    def unnamed(self, expr: Expr) -> Expr:
        """An integer expression with what its names stand for."""
        while names := variables_read(expr) & self.named.keys():
            expr = b.substitute(expr, {name: self.named[name] for name in names})
        return expr

    @contextmanager
    def axis_ranges(self, axes: Sequence[Axis]) -> Iterator[None]:
        """Inside, each axis is known to run over its extent."""
        saved = dict(self.ranges)
        self.ranges.update({a.name: (b.ZERO, inhabited(a.extent)) for a in axes})
        try:
            yield
        finally:
            self.ranges = saved

    def array_range(self, value: Array) -> tuple[Expr, Expr] | None:
        """``[low, high)`` of all elements of an integer array, over what is known outside it."""
        with self.axis_ranges(value.axes):
            return self.range_of(value.body)

    def range_of(self, expr: Expr) -> tuple[Expr, Expr] | None:
        """``[low, high)`` of an integer expression, where it is known."""
        match expr:
            case Const(value, dtype) if dtype == "index" or dtype.startswith(("int", "uint")):
                return b.index(int(value)), b.index(int(value) + 1)  # type: ignore[arg-type]
            case Var(name):
                if name in self.ranges:
                    return self.ranges[name]
                return None
            case Load(buffer):
                found = self.buffers[buffer]
                if buffer not in self.stored and found.low is not None and found.high is not None:
                    return found.low, found.high
            case Apply("cast", (a,), dtype) if dtype in ("index", "int64", "int32") and a.dtype != "float64":
                return self.range_of(a) if a.dtype == "index" or a.dtype.startswith(("int", "uint")) else None
            case Apply("add" | "subtract" as op, (a, c), dtype) if dtype in ("index", "int64"):
                return self._linear_range(op, a, c)
            case Apply("where", (_, a, c), _):
                left, right = self.range_of(a), self.range_of(c)
                if left and right and a.dtype == c.dtype:
                    return b.minimum(left[0], right[0]), b.maximum(left[1], right[1])
            case Apply("remainder", (_, c), "index"):
                size = b.constant(c)
                if size and size > 0:
                    return b.ZERO, b.index(size)
            case Apply("maximum" | "minimum", _, "index" | "int64"):
                low, high = self._ends(expr)
                if low is not None and high is not None:
                    return low, high
            case _:
                pass
        return None

    def _ends(self, expr: Expr) -> tuple[Expr | None, Expr | None]:
        """The lowest value of an integer expression, and what it is less than, each where it is known."""
        match expr:
            case Apply("maximum" | "minimum" as op, (x, y), "index" | "int64"):
                (low, high), (other_low, other_high) = self._ends(x), self._ends(y)
                if op == "maximum":  # one of the two is enough below
                    return _either(b.maximum, low, other_low), _both(b.maximum, high, other_high)
                return _both(b.minimum, low, other_low), _either(b.minimum, high, other_high)
            case Apply("cast", (x,), "index" | "int64") if x.dtype in (*_SHORT, "index"):
                return self._ends(x)
            case Apply("cast", (x,), "int32") if x.dtype in _SHORT:
                return self._ends(x)
            case _:
                known = self.range_of(expr)
                if known is None and expr.dtype in _SHORT:
                    limits = np.iinfo(expr.dtype)
                    return b.index(int(limits.min)), b.index(int(limits.max) + 1)
                return known or (None, None)

    def _linear_range(self, op: str, a: Expr, c: Expr) -> tuple[Expr, Expr] | None:
        left, right = self.range_of(a), self.range_of(c)
        if left is None or right is None:
            if left is not None and _is_invariant(c):
                return (b.add(left[0], c), b.add(left[1], c)) if op == "add" else (b.sub(left[0], c), b.sub(left[1], c))
            return None
        if op == "add":
            return b.add(left[0], right[0]), b.sub(b.add(left[1], right[1]), b.ONE)
        return b.add(b.sub(left[0], right[1]), b.ONE), b.sub(left[1], right[0])

    def within(self, expr: Expr, extent: Expr) -> tuple[bool, bool]:
        """Whether ``expr >= 0`` and ``expr < extent`` are certain."""
        low, high = self._ends(expr)
        if high is None:
            below = self.not_negative(b.sub(b.sub(extent, expr), b.ONE))
        else:
            below = b.at_least(extent, high) or self.not_negative(b.sub(extent, high))
        return (low is not None and self.not_negative(low)) or self.not_negative(expr), below

    # --- hazards

    def before_write(self, buffer: str) -> None:
        """Values that are still to be read from `buffer` are evaluated now, as it is about to change.

        What was known of all its elements no longer holds, also not earlier in the loops around this store.
        """
        if any(buffer == name for name, _ in self.captured):
            problem = "a change of an array from outside the function"
            self.fail(refusals.OUTSIDE_CHANGED, problem, "pass it as an argument, or copy it first")
        if buffer in self.chosen:
            name, decides = self.chosen[buffer]
            what, copy = f"`{name}`", f"{name} = {name}.copy()"
            if name is CHOSEN:
                what, copy = "the array", "x = (a if condition else b).copy()"
            self.must_be_known(
                Unbound("") if decides is None else Scalar(decides),
                f"a store into {what}, which is one of several arrays, as a run-time condition chooses",
                f"store into the arrays themselves, or choose a copy: {copy}", refusals.SHARED_MEMORY,
            )  # fmt: skip
        self.stored.add(buffer)
        self.writes.append(buffer)
        self._check_copies(buffer)
        self._check_doubtful(buffer)
        self.before_change(buffer)
        lengths.before_store(self, buffer)

        def changes(e: Expr) -> bool:
            return buffer in buffers_read(e)

        for frame in self.frames:
            for name in list(frame):
                self.evaluate_name(frame, name, lambda v: not v.view and self.reads(v, buffer), changes)
        # what has just been computed counted what is about to change
        self.counted = {k: v for k, v in self.counted.items() if buffer not in buffers_read(k[1])}

    def evaluate_name(
        self, frame: dict[str, Value], name: str, chosen: Callable[[Array], bool],
        changes: Callable[[Expr], bool] | None = None,
    ) -> None:  # fmt: skip
        """Those `chosen` of the arrays that a name stands for are computed now, as what `changes` is about to. A name
        of a calling function cannot be computed in a branch or a loop of the one that is called: the translation begins
        anew, and computes it where it is bound."""
        value = frame[name]
        made = self.evaluated(value, name, chosen, changes)
        if made is value:
            return
        inner = next((k for k, f in enumerate(self.frames) if f is frame), len(self.frames)) + 1
        if inner < len(self.frames) and self.called_in[inner] is not self.out:
            problem = f"a store, in a branch or a loop of a function, into what `{name}` is still to be read from"
            help = f"copy it before: {name} = {name}.copy()"
            late = NotKnown(refusals.SHARED_MEMORY, problem, help, self.span, self.lines)
            late.early = ("name", name)
            raise late
        frame[name] = made

    def before_change(self, name: str) -> None:
        """The values beside what is being evaluated are computed now where they read from a buffer, or depend on the
        count of a list."""
        for those in self.waiting:
            those.before_change(name)

    def evaluated(
        self, value: Value, name: str, chosen: Callable[[Array], bool], changes: Callable[[Expr], bool] | None = None
    ) -> Value:
        """`value`, bound to `name`, with those `chosen` of its arrays, which may be items of a tuple, computed now."""
        match value:
            case Array() if chosen(value):
                return self.define(value, name) if changes is None else self.held_aside(value, name, changes)
            case Seq(items, "tuple"):
                made = tuple(self.evaluated(item, name, chosen, changes) for item in items)
                return value if all(map(operator.is_, made, items)) else replace(value, items=made)
            case _:
                return value

    def is_seen(self, name: str, value: Value) -> bool:
        """Whether a store into the array `value`, bound to `name`, is seen under another name, or by the caller."""
        if not isinstance(value, Array) or not lies(value):
            return False
        if self.is_of_argument(value.base) or value.base in (*self.doubtful, *self.chosen, *self.begun):
            return True
        heap = {} if name is ITEM else self.heap  # what stands in a container is seen through that
        others = [v for frame in self.frames for k, v in frame.items() if k != name]
        others += [v for contents in heap.values() for v in children(contents) or ()]
        return any(reaches(heap, v, lambda a: a.view and a.base == value.base) for v in others)

    def outdated(self, frame: dict[str, Value], buffers: set[str]) -> list[str]:
        """The names of filters, or of tuples with filters, that are still to be read from some buffers."""

        def is_outdated(v: Value) -> bool:
            if isinstance(v, Seq) and v.kind == "tuple":
                return any(map(is_outdated, v.items))
            return isinstance(v, Array) and self.is_filter_of(v, buffers)

        return [name for name, v in frame.items() if is_outdated(v)]

    def is_filter_of(self, value: Array, buffers: set[str]) -> bool:
        """Whether an array is a filter that is still to be read from some buffers."""
        return value.mask is not None and any(self.reads(value, x) for x in buffers)

    def reads(self, value: Array, buffer: str) -> bool:
        """Whether an array's elements, or which of them there are, are read from a buffer."""
        exprs = [value.body] if value.mask is None else [value.body, value.mask]
        return any(buffer in buffers_read(e) for e in exprs)


def error_class(error: str) -> type[BaseException]:
    """The class of a guard's error."""
    error = error.removeprefix(n.SEVERAL)
    if ":" in error:
        module, _, name = error.partition(":")
        found: Any = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part)
    else:
        found = np.linalg.LinAlgError if error.endswith("LinAlgError") else getattr(builtins, error, Exception)
    assert isinstance(found, type) and issubclass(found, BaseException)
    return found


def _decides(s: n.Stmt) -> bool:
    """Whether it may depend on this statement what runs after it."""
    return isinstance(s, (n.Guard, n.Return, n.While, n.Break, n.Continue, n.Library))


def inhabited(extent: Expr) -> Expr:
    """An extent as it is where the axis has a position at all: ``max(n - 1, 0)`` is ``n - 1`` there."""
    match extent:
        case Apply("maximum", (inner, Const(0)), "index"):
            return inner
        case _:
            return extent


def _is_invariant(expr: Expr) -> bool:
    match expr:
        case Const():
            return True
        case Var(name):
            return b.is_size_name(name)
        case Apply(_, args):
            return all(_is_invariant(a) for a in args)
        case Load() | Reduce():
            return False

"""What a Python name can stand for while a function is being translated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir.expr import Axis, Expr, Load, Var
from transkern.ir.traverse import variables_read


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known at specialisation: numbers (weakly typed, NEP 50), None, strings, dtypes, slices, …

    Two are equal where one can stand for the other: 1 and True, 0.0 and -0.0 cannot, nor can two arrays.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return NotImplemented
        one, two = self.value, other.value
        if one is two:
            return True
        if type(one) is not type(two) or isinstance(one, np.ndarray):
            return False
        if isinstance(one, (float, complex, np.inexact)):
            return np.asarray(one).tobytes() == np.asarray(two).tobytes()
        if isinstance(one, (tuple, list)):
            return len(one) == len(two) and all(Static(x) == Static(y) for x, y in zip(one, two, strict=True))
        return bool(one == two)

    def __hash__(self) -> int:
        return hash(slice if isinstance(self.value, slice) else self.value)  # before Python 3.12 slices have none


Kind: TypeAlias = tuple[str, bool]  # the type of a number: a dtype, and whether it is one of Python's


@dataclass(frozen=True, slots=True)
class Split:
    """The two numbers, each of a certain type, that a number of a doubtful type may be: `one` where `tag` holds. With
    `exact` the caller is to see which of them it is, also where one is Python's. With `of_empty`, `two` is made of a
    list that is empty, which the number is not held for (`frontend/containers/empties.py`). With `handed_on` a loop
    would have to hand on which it is."""

    tag: Expr
    one: Static | Scalar
    two: Static | Scalar
    exact: bool = False
    of_empty: bool = False
    handed_on: bool = False


@dataclass(frozen=True, slots=True)
class Doubt:
    """What type a number has where a branch or a loop decides it at run time: one of `kinds`, and one of `sure` if
    `runs` (that a loop before it has an iteration) holds. `decides` is the condition between them, where it is known.
    `python` are the numbers of Python's that it may be, where they are constants. `told` is called by who needs a
    `split` where there is none: the loop is then translated again, with one.
    """

    kinds: tuple[Kind, ...]
    python: tuple[Any, ...] | None = ()
    sure: tuple[Kind, ...] = ()
    runs: Expr | None = None
    decides: Expr | None = field(default=None, compare=False)
    split: Split | None = field(default=None, compare=False)
    told: Callable[[], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time number. `python`: a Python int (dtype ``index``), float, bool or complex; else a NumPy scalar.

    `tag`: of which of several types it is (a position in `nodes.TAGS`), where it comes from a list of such. With a
    `doubt` it is held in a type for all of those that it may have (`frontend/values/doubts.py`).
    """

    expr: Expr
    python: bool = False
    tag: Expr | None = None
    doubt: Doubt | None = None

    @property
    def dtype(self) -> str:
        return self.expr.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Empty:
    """The array (or number) that NumPy makes of an empty list: where `some`, evaluated as the list was read, is false.
    `known` is the same condition as it was written."""

    some: Expr
    value: np.ndarray[Any, Any] | np.generic
    known: Expr


@dataclass(frozen=True, slots=True)
class Array:
    """An array in index notation: its element at `axes` is `body`.

    With `mask` (over the first axis) it is a filter not yet compacted: its elements are those where the mask holds, and
    its first dim is their count. `view`: it shares memory with `body`'s buffer, as NumPy's basic slices do.
    `readonly`: it is a view that NumPy lets nobody store into, though others may show the same memory; "here" if only
    compiled code does not store into it.
    `identity`: the name of the argument that this is, unsliced. `empty`: what NumPy makes of an empty list.
    `origin`: of what was computed and then turned, reversed or sliced, the array as it was computed, whose order is
    that of NumPy's memory, and where in it each element is. `spaced`: NumPy has it between other numbers.
    """

    axes: tuple[Axis, ...]
    body: Expr
    mask: Expr | None = None
    view: bool = False
    identity: str = ""
    empty: Empty | None = field(default=None, compare=False)
    origin: tuple[Array, tuple[Expr, ...]] | None = field(default=None, compare=False, repr=False)
    readonly: bool | Literal["here"] = False
    spaced: bool = False

    @property
    def dtype(self) -> str:
        return self.body.dtype

    @property
    def ndim(self) -> int:
        return len(self.axes)

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The shape, of what is no filter (see `Context.kept`): the length of one is a count that nobody has taken."""
        assert self.mask is None, "a filter's elements have not been counted yet"
        return self.domain

    @property
    def domain(self) -> tuple[Expr, ...]:
        """The extents of the axes; of a filter the first is that of what its elements are chosen from."""
        return tuple(a.extent for a in self.axes)

    def at(self, index: tuple[Expr, ...]) -> Expr:
        """The element at `index`, of what is no filter (see `Context.kept`): its positions are not its elements'."""
        assert self.mask is None, "a filter's elements have no positions yet"
        return self.candidate(index)

    def candidate(self, index: tuple[Expr, ...]) -> Expr:
        """The element at `index`; of a filter that of its domain, kept or not."""
        return b.substitute(self.body, {a.name: i for a, i in zip(self.axes, index, strict=True)})

    def mask_at(self, index: Expr) -> Expr:
        assert self.mask is not None
        return b.substitute(self.mask, {self.axes[0].name: index})

    def seen(self, axes: tuple[Axis, ...], index: tuple[Expr, ...]) -> Array:
        """What a basic subscript, a transpose or the like shows of this: its element at `axes` is that at `index`."""
        return Array(axes, self.at(index), view=self.view, origin=self._origin_at(index), readonly=self.readonly)

    def turned(self, order: Sequence[int]) -> Array:
        """With its axes in another order."""
        origin = self._origin_at(tuple(a.var for a in self.axes)) if self.mask is None else None
        return replace(self, axes=tuple(self.axes[a] for a in order), identity="", origin=origin)

    @property
    def is_turned(self) -> bool:
        """Whether it shows what was computed with its axes in another order, and nothing was computed with it since."""
        if self.origin is None or self.view or self.ndim < 2:
            return False
        array, index = self.origin
        names = [a.name for a in self.axes]
        places = [names.index(name) for i in index for name in variables_read(i) if name in names]
        return places != sorted(places) and array.at(index) == self.body

    def _origin_at(self, index: tuple[Expr, ...]) -> tuple[Array, tuple[Expr, ...]] | None:
        if self.view:
            return None  # where its elements are, `body` says
        if self.origin is None:
            return self, index
        array, places = self.origin
        return array, tuple(b.substitute(p, {a.name: i for a, i in zip(self.axes, index, strict=True)}) for p in places)

    def with_axes(self, axes: tuple[Axis, ...]) -> Array:
        """The same with other names for the axes."""
        index = tuple(a.var for a in axes)
        mask = None if self.mask is None else self.mask_at(index[0])
        origin = None if self.origin is None else self._origin_at(index)
        return replace(self, axes=axes, body=self.candidate(index), mask=mask, origin=origin)

    @property
    def base(self) -> str:
        """The buffer that a view shares memory with."""
        assert isinstance(self.body, Load)
        return self.body.buffer


@dataclass(frozen=True, slots=True)
class Seq:
    """A tuple or list whose length is known. One from `outside` the function stands for what others have, too."""

    items: tuple[Value, ...]
    kind: str = "tuple"
    outside: bool = field(default=False, compare=False)
    row_of: GrowingList | None = field(default=None, compare=False)  # it stands for a list in this one, as a copy
    shows: Value | None = field(default=None, compare=False, repr=False)  # the dict that it is a view of
    frozen: bool = False  # it is a frozenset
    of: tuple[Value, ...] = field(default=(), compare=False, repr=False)  # the lists of which it is one, as a copy


@dataclass(frozen=True, slots=True)
class Dict:
    """A dict whose keys are known."""

    keys: tuple[Any, ...]
    items: tuple[Value, ...]
    outside: bool = field(default=False, compare=False)

    def get(self, key: Any) -> Value | None:
        return next((v for k, v in zip(self.keys, self.items, strict=True) if _is_key(k, key)), None)

    def put(self, key: Any, value: Value) -> Dict:
        at = [k for k, known in enumerate(self.keys) if _is_key(known, key)]
        if not at:
            return Dict((*self.keys, key), (*self.items, value))
        return Dict(self.keys, (*self.items[: at[0]], value, *self.items[at[0] + 1 :]))

    def without(self, key: Any) -> Dict:
        left = [(k, v) for k, v in zip(self.keys, self.items, strict=True) if not _is_key(k, key)]
        return Dict(tuple(k for k, _ in left), tuple(v for _, v in left))


def _is_key(known: Any, key: Any) -> bool:
    """Whether a dict takes two keys for one, as 1 and True are."""
    return known is key or (hash(known) == hash(key) and bool(known == key))


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of a class: a named tuple, a dataclass, or any object with attributes."""

    kind: type
    names: tuple[str, ...]
    items: tuple[Value, ...]

    def get(self, name: str) -> Value | None:
        return dict(zip(self.names, self.items, strict=True)).get(name)

    def put(self, name: str, value: Value) -> Record:
        found = dict(zip(self.names, self.items, strict=True))
        found[name] = value
        return Record(self.kind, tuple(found), tuple(found.values()))

    @property
    def is_tuple(self) -> bool:
        return issubclass(self.kind, tuple)


def as_plain_tuple(value: Value) -> Value:
    """A named tuple as the tuple that it is to operators."""
    return Seq(value.items) if isinstance(value, Record) and value.is_tuple else value


@dataclass(frozen=True, slots=True)
class Object:
    """A reference to a list, a dict or an object: several names may stand for the same. What is in it, `Heap.contents`
    says."""

    token: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of a user's object: `function` with `receiver` as its first argument."""

    function: Function
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial``: a function, and what it is given before and beside the arguments of a call."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def called(
        self, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> tuple[Value, list[Value], dict[str, Value]]:
        """The function and the arguments that a call with these comes to."""
        args, keywords = [*self.args, *args], {**dict(self.keywords), **keywords}
        return self.function.called(args, keywords) if isinstance(self.function, Partial) else (
            self.function, args, keywords
        )


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text or None, of which only a choice is known: ``options[index]``."""

    index: Expr
    options: tuple[str | None, ...]

    def where(self, holds: Callable[[Any], bool]) -> Expr:
        """The condition that the choice is one for which `holds`."""
        condition: Expr = b.FALSE
        for k, option in enumerate(self.options):
            if holds(option):
                condition = b.either(condition, b.compare("equal", self.index, b.index(k)))
        return condition


@dataclass(frozen=True, slots=True)
class Char:
    """A text of one character, whose code is known at run time."""

    code: Expr


@dataclass(frozen=True, slots=True)
class OrNone:
    """None where `none` holds, else `value`."""

    value: Value
    none: Expr


@dataclass(frozen=True, slots=True)
class Text:
    """A text with numbers that are known at run time: ``template.format(*args)``."""

    template: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A list, dict or array in a text: what it holds there stands in lists, or an array, which nobody changes."""

    value: GrowingList | Hashed | Array
    held: tuple[GrowingList | Array, ...]


OPTIONAL = "optional"
CHARACTERS: tuple[str | None, ...] = tuple(map(chr, range(128)))  # the texts of a list of characters, by their codes


@dataclass(slots=True)
class GrowingList:
    """A list that run-time code appends to: a buffer and a count. The element type is that of the first append.

    Elements with dims are arrays, or (with `row` "list") lists of numbers of one type; tuples of different things stand
    in a list for each of their items, all with one count (`columns`); None and what it stands among (`row` "optional")
    are such tuples of whether it is None, and what it is otherwise. With a `prefix` this is such a list in a list,
    which is `extent` long. With a `head` the first element stands there, not at the buffer's beginning.
    """

    buffer: str
    count: str
    dtype: str = ""
    dims: tuple[Expr, ...] = ()
    python: bool = False
    depth: int = 0  # loops around its creation
    known: frozenset[str] = frozenset()  # the names of that time
    row: str = ""
    grown_by: Expr | None = None  # how often a loop runs in which it grows
    shared: bool = False  # some of its arrays are views of arguments
    columns: list[GrowingList] = field(default_factory=list)
    site: tuple[Any, ...] | None = None  # where it was made
    extent: Expr | None = None  # its length, where it is known and never changes
    prefix: tuple[Expr, ...] = ()
    head: str = ""
    most: Expr | None = None  # the length that it never exceeds
    tags: str = ""  # a buffer that says of each of its numbers of which type it was, where there are several (`TAGS`)
    untagged: bool = False
    options: tuple[str | None, ...] = ()  # its elements are texts: these, by their numbers
    unbounded: bool = False  # how long it gets is nobody's business: it has all the room there is
    of: type | None = None  # the class of its elements, where they are named tuples
    rows: Rows | None = None  # its elements are lists of their own lengths: these, by their numbers
    ahead: dict[tuple[Any, ...], Rows] = field(default_factory=dict)  # those of items of its tuples, by their places
    row_of: Row | None = None  # the list of this moment that a row is
    objects: Pool | None = None  # its elements are objects: these, by their numbers
    outside: bool = False  # it stands for a list that others have, too
    kind: str = "list"  # "tuple": it is one, whose length only the run knows, and nothing changes it
    distinct: bool = field(default=False, compare=False)  # no two of its tuples begin with the same
    blocks: tuple[list[Any], ...] = field(default=(), compare=False, repr=False)  # of statements, around its making

    @property
    def length(self) -> Expr:
        return self.extent if self.prefix and self.extent is not None else b.size(self.count)

    @property
    def leaves(self) -> list[GrowingList]:
        """The lists that its elements stand in: of tuples, one for each number (text, array) in them."""
        return [leaf for c in self.columns for leaf in c.leaves] if self.columns else [self]

    @property
    def parts(self) -> list[GrowingList]:
        """This list and all that its elements stand in, one in the other."""
        return [self, *(part for c in self.columns for part in c.parts)]

    @property
    def original(self) -> GrowingList:
        """Of a row as it is at a moment, or a part of one, the list that it stands in; any other list itself."""
        pool = self if self.row_of is None else self.row_of.rows.pool
        return next((part for part in pool.parts if part.buffer == self.buffer), pool)

    @property
    def is_queue(self) -> bool:
        return bool(self.head) and self.row_of is None

    def index(self, at: Expr) -> tuple[Expr, ...]:
        """Where in its buffer the element at a position stands."""
        return (*self.prefix, b.add(Var(self.head), at) if self.head else at)


@dataclass(frozen=True, slots=True, eq=False)
class JoinedText:
    """``between.join(items)`` of a list of texts, which nobody changes any more."""

    items: GrowingList
    between: str

    @property
    def characters(self) -> GrowingList | None:
        """The list of its characters, if it is joined of characters with nothing between them."""
        return self.items if self.items.options == CHARACTERS and not self.between else None


@dataclass(frozen=True, slots=True, eq=False)
class Hashed:
    """A dict or a set (`kind`) whose keys are known at run time: lists, as `compositions.hashes` says. `default` makes
    the value of a key that a `defaultdict` has not got yet."""

    kind: str
    keys: GrowingList
    alive: GrowingList
    codes: GrowingList
    table: GrowingList
    info: GrowingList
    spare: GrowingList
    values: GrowingList | None = None
    default: Value | None = None
    frozen: bool = False  # it is a frozenset
    of: type | None = None  # a `Counter` or an `OrderedDict`
    is_callers: bool = False  # it is a copy of an argument, to look things up in

    @property
    def lists(self) -> list[Value]:
        """What the functions of `compositions.hashes` work on."""
        return [self.keys, self.alive, self.codes, self.table, self.info, self.spare]


@dataclass(slots=True, eq=False)
class Rows:
    """Lists that change their lengths one by one. That of number k has ``sizes[k]`` elements in `pool`, from
    ``starts[k]`` on, and room for ``rooms[k]``; where that is too little, it moves to the pool's end."""

    starts: GrowingList
    sizes: GrowingList
    rooms: GrowingList
    pool: GrowingList
    kind: str = ""  # what stands in the list: "list"s, "tuple"s or "array"s, which keep their lengths; nothing yet
    shared: bool = False  # some of them are views of arguments

    @property
    def lists(self) -> tuple[GrowingList, GrowingList, GrowingList, GrowingList]:
        return self.starts, self.sizes, self.rooms, self.pool


@dataclass(frozen=True, slots=True)
class Row:
    """A reference to the list of a number among `rows`; what is in it, `Context.deref` says."""

    rows: Rows
    number: Expr


PoolKey: TypeAlias = type | tuple[str, ...]  # a class, or the keys of dicts


@dataclass(slots=True, eq=False)
class Pool:
    """The objects of a class that lists of run-time length hold: in the columns of `owner`, one for each attribute."""

    kind: type
    names: tuple[str, ...]
    owner: GrowingList
    attribute: Callable[..., Value]  # of (ctx, instance, name): what an object has in a column

    def column(self, name: str) -> GrowingList:
        return self.owner.columns[self.names.index(name)]


@dataclass(frozen=True, slots=True)
class Instance:
    """A reference to the object of a number in a pool; what is in it, `Context.deref` says."""

    pool: Pool
    number: Expr


@dataclass(frozen=True, slots=True)
class Range:
    """``range(start, stop, step)``."""

    start: Expr
    stop: Expr
    step: Expr


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``, or ``slice(start, stop, step)``, with scalar values or None."""

    start: Value | None
    stop: Value | None
    step: Value | None


@dataclass(frozen=True, slots=True)
class Concatenation:
    """``np.concatenate`` of pieces not yet put into one buffer (some may be filters)."""

    pieces: tuple[Array, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Function:
    """A plain Python function of the user's, inlined where it is called. `defaults` are what its parameters had as
    they were evaluated, where that was while the compiled function runs: of others the scope knows them."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    closure: Mapping[str, Value] = field(default_factory=dict, compare=False)  # looked into at the call, as Python does
    defaults: tuple[tuple[str, Value], ...] | None = None
    cached: bool = False  # by `functools.cache`: called once for the same arguments
    decorated: bool = False  # it is what its decorators have made of it


@dataclass(frozen=True, slots=True)
class Known:
    """A function or module that the compiler knows: ``numpy.exp``, ``builtins.len``, ``math.pi``'s module."""

    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A bound method of a value: ``x.sum``."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """A name that has `value` where `bound` holds, and none elsewhere: reading it there is an UnboundLocalError.

    While it is not known whether that has to be told at run time, `bound` is None, and a reader calls `told`.
    """

    value: Value
    bound: Expr | None
    told: Callable[[], None] | None = field(default=None, compare=False)
    unknown: str = field(default="", compare=False)  # it has a value elsewhere, too: why nobody knows which


@dataclass(frozen=True, slots=True)
class Unbound:
    """A name that some path leaves without a value.

    `why` is the message, `help` what helps; `decides` the condition between the paths, where it is known.
    """

    why: str
    decides: Expr | None = None
    help: str = "give it a value of one type on every path"
    kind: refusals.Kind = refusals.TYPE_DIFFERS
    place: tuple[Any, ...] | None = field(default=None, compare=False)  # of the statement that chooses (`choices`)


@dataclass(frozen=True, slots=True)
class Flat:
    """``x.flat``, an iterator: `array` shows its elements. One that has a name goes on where it was."""

    array: Array
    named: bool = False


@dataclass(frozen=True, slots=True)
class Generator:
    """``np.random.default_rng(seed)``: the buffer that holds its state. A `RandomState` is of `kind` ``MT19937``, the
    one behind ``np.random.rand()`` ``global``. What is found outside of the function is ``global``, too, and `of` says
    where it is found; `legacy` has `RandomState`'s methods."""

    state: str
    kind: str = "PCG64"
    of: str = "np.random"
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Iterated:
    """An iterator of a class of Python's, a generator or `map`, say: the list of its elements, which have been made
    already. They were made of what stands in some memory (`read`: buffers, and lengths of lists), of what is in some
    lists, dicts and objects (`opened`: their tokens), and of what some `names` stood for."""

    kind: type
    value: Value
    read: frozenset[str] = frozenset()
    opened: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    some: Expr | None = None  # it has these elements where this holds, and none elsewhere


@dataclass(frozen=True, slots=True)
class View:
    """``d.keys()``, ``d.values()`` or ``d.items()`` (`name`) of a dict whose keys are known at run time."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Trips:
    """What a loop still has to run over: (start, stop, step, element at a position)."""

    counted: tuple[Expr, Expr, Expr, Callable[[Expr], Value]]


Value: TypeAlias = (
    Static | Scalar | Array | Seq | Dict | Record | Object | GrowingList | Hashed | Row | Instance | Range
    | Concatenation | Function | Known | Method | Bound | Partial | Text | JoinedText | OneOf | OrNone | Char | Slice
    | Maybe | Generator | Flat | Trips | Iterated | View | Shown | Unbound
)  # fmt: skip


FUNCTIONS = (Function, Known, Bound, Partial)
"""What is called."""


class OwnName(str):
    """A name of ours for what has none in the user's text; one of the user's that reads the same is another."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__


ITEM = OwnName("item")  # of a list, a dict or an object
CHOSEN = OwnName("chosen")  # by a conditional expression, `and` or `or`


def children(value: Value) -> tuple[Value, ...] | None:
    """The items of a container whose structure is known."""
    return value.items if isinstance(value, (Seq, Dict, Record)) else None


def with_children(value: Value, items: tuple[Value, ...]) -> Value:
    """The container with other items."""
    assert isinstance(value, (Seq, Dict, Record))
    return replace(value, items=items)


def deleted(name: str) -> Unbound:
    """What ``del name`` leaves."""
    return Unbound(f"`{name}` is deleted")


def is_list(value: Value) -> bool:
    return isinstance(value, (Seq, GrowingList)) and value.kind == "list"


def is_outside(value: Value) -> bool:
    """Whether a list, dict or set is one that others have, too."""
    return value.keys.outside if isinstance(value, Hashed) else getattr(value, "outside", False)


def as_outside(value: Value) -> Value:
    """A list, dict or set as one that others have, too."""
    match value:
        case Seq() | Dict():
            return replace(value, outside=True)
        case GrowingList():
            value.outside = True
        case Hashed():
            for part in (value.keys, value.alive, value.info, *filter(None, [value.values])):
                part.outside = True
        case _:
            pass
    return value


def same_structure(one: Value, two: Value) -> bool:
    """Whether two containers differ in their items only."""
    mine, other = children(one), children(two)
    return mine is not None and other is not None and len(mine) == len(other) and (
        with_children(one, ()) == with_children(two, ())
    )  # fmt: skip


def are_of_other_lengths(one: Value, two: Value) -> bool:
    """Whether two lists differ in more than their items."""
    return isinstance(one, Seq) and isinstance(two, Seq) and not same_structure(one, two)


class Scope:
    """Where a function's free names are looked up: a module's text, or a live function's globals and closure."""

    file: str = ""
    lines: tuple[str, ...] = ()
    is_live = False
    asserts = True  # whether they are run: not under `python -O`

    def lookup(self, name: str) -> Value | None:
        raise NotImplementedError

    def refusal(self, name: str) -> CompileError | None:
        """Why a name that the module binds is not known, if that is so."""
        return None

    def imported(self, path: str) -> Value | None:
        """What a dotted path (with leading dots where it is relative) stands for in another module of the user's."""
        raise NotImplementedError

    def default(self, name: str) -> Value | None:
        """What a parameter of the live function that this is the scope of has as its default."""
        return None

    def default_of(self, node: ast.expr) -> Value | None:
        """The value of a default in a module's text; None where it is what the expression is in a call."""
        return None

    def is_also(self, other: Scope) -> bool:
        """Whether names that a function there does not bind mean what they mean here."""
        return other is self


Handler: TypeAlias = Callable[..., Value]


def lies(value: Value) -> bool:
    """Whether it is an array that lies in memory: what is stored into it is seen under all names."""
    return isinstance(value, Array) and value.view and value.mask is None

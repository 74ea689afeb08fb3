"""What a Python name can stand for while a function is being translated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from transkern import refusals
from transkern.frontend.values.kinds.arrays import Array as Array
from transkern.frontend.values.kinds.arrays import Doubt as Doubt
from transkern.frontend.values.kinds.arrays import Empty as Empty
from transkern.frontend.values.kinds.arrays import Kind as Kind
from transkern.frontend.values.kinds.arrays import Scalar as Scalar
from transkern.frontend.values.kinds.arrays import Split as Split
from transkern.frontend.values.kinds.arrays import Static as Static
from transkern.frontend.values.kinds.functions import FUNCTIONS as FUNCTIONS
from transkern.frontend.values.kinds.functions import Bound as Bound
from transkern.frontend.values.kinds.functions import Function as Function
from transkern.frontend.values.kinds.functions import Known as Known
from transkern.frontend.values.kinds.functions import Method as Method
from transkern.frontend.values.kinds.functions import Partial as Partial
from transkern.frontend.values.kinds.functions import Scope as Scope
from transkern.frontend.values.kinds.lists import OPTIONAL as OPTIONAL
from transkern.frontend.values.kinds.lists import Around as Around
from transkern.frontend.values.kinds.lists import GrowingList as GrowingList
from transkern.frontend.values.kinds.lists import Hashed as Hashed
from transkern.frontend.values.kinds.lists import Instance as Instance
from transkern.frontend.values.kinds.lists import KeyedDict as KeyedDict
from transkern.frontend.values.kinds.lists import Limits as Limits
from transkern.frontend.values.kinds.lists import Pool as Pool
from transkern.frontend.values.kinds.lists import PoolKey as PoolKey
from transkern.frontend.values.kinds.lists import Row as Row
from transkern.frontend.values.kinds.lists import Rows as Rows
from transkern.ir import build as b
from transkern.ir.expr import Expr
from transkern.ir.generators import SharedGenerator


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

    value: GrowingList | Hashed | Array | JoinedText
    held: tuple[GrowingList | Array, ...]


CHARACTERS: tuple[str | None, ...] = tuple(map(chr, range(128)))  # the texts of a list of characters, by their codes


@dataclass(frozen=True, slots=True, eq=False)
class JoinedText:
    """``between.join(items)`` of a list of texts, which nobody changes any more."""

    items: GrowingList
    between: str

    @property
    def characters(self) -> GrowingList | None:
        """The list of its characters, if it is joined of characters with nothing between them."""
        return self.items if self.items.options == CHARACTERS and not self.between else None


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
class Flags:
    """``x.flags``: how an array lies in memory, of which each is told where it is asked for."""

    array: Array


@dataclass(frozen=True, slots=True)
class Generator:
    """``np.random.default_rng(seed)``: the buffer that holds its state. A `RandomState` is of `kind` ``MT19937``, the
    one behind ``np.random.rand()`` ``global``. What is found outside of the function is ``global``, too, and `of` says
    where it is found; `legacy` has `RandomState`'s methods. `shared`: of one whose state is lent for a call."""

    state: str
    kind: str = "PCG64"
    of: str = "np.random"
    legacy: bool = False
    shared: SharedGenerator | None = None


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
    | Maybe | Generator | Flat | Flags | Trips | Iterated | View | Shown | Unbound
)  # fmt: skip

Handler: TypeAlias = Callable[..., Value]


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


def lies(value: Value) -> bool:
    """Whether it is an array that lies in memory: what is stored into it is seen under all names."""
    return isinstance(value, Array) and value.view and value.mask is None

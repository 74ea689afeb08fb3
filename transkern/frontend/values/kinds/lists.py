"""Lists that the run fills, and what is made of such lists: dicts, lists in lists, objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from transkern.ir import build as b
from transkern.ir.expr import Expr, Var

if TYPE_CHECKING:
    from transkern.frontend.values.values import Value

OPTIONAL = "optional"
"""The `row` of lists whose elements may be None."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a list where it is made: so many loops, and blocks of statements; the names that there are.

    Of a part of another list the blocks are not noted: it goes with that one."""

    depth: int = 0
    known: frozenset[str] = frozenset()
    blocks: tuple[list[Any], ...] = field(default=(), compare=False, repr=False)

    @property
    def of_parts(self) -> Around:
        return replace(self, blocks=())


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a list gets: `most` at most, where that is asked of it; by how many iterations of a loop, the last one
    that made it longer, where only the run knows that. With `unbounded` that is nobody's business: it has all the room
    that there is."""

    most: Expr | None = None
    grown_by: Expr | None = None
    unbounded: bool = False


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
    around: Around = Around()
    limits: Limits = Limits()
    row: str = ""
    shared: bool = False  # some of its arrays are views of arguments
    columns: list[GrowingList] = field(default_factory=list)
    site: tuple[Any, ...] | None = None  # where it was made
    extent: Expr | None = None  # its length, where it is known and never changes
    prefix: tuple[Expr, ...] = ()
    head: str = ""
    tags: str = ""  # a buffer that says of each of its numbers of which type it was, where there are several (`TAGS`)
    untagged: bool = False
    options: tuple[str | None, ...] = ()  # its elements are texts: these, by their numbers
    of: type | None = None  # the class of its elements, where they are named tuples
    rows: Rows | None = None  # its elements are lists of their own lengths: these, by their numbers
    ahead: dict[tuple[Any, ...], Rows] = field(default_factory=dict)  # those of items of its tuples, by their places
    row_of: Row | None = None  # the list of this moment that a row is
    objects: Pool | None = None  # its elements are objects: these, by their numbers
    outside: bool = False  # it stands for a list that others have, too
    kind: str = "list"  # "tuple": it is one, whose length only the run knows, and nothing changes it; of a row "deque"
    distinct: bool = field(default=False, compare=False)  # no two of its tuples begin with the same

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
        return self.kind == "deque" if self.row_of is not None else bool(self.head)

    def index(self, at: Expr) -> tuple[Expr, ...]:
        """Where in its buffer the element at a position stands."""
        return (*self.prefix, b.add(Var(self.head), at) if self.head else at)


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
    instance: Instance | None = None  # the set in a list that this is at a moment

    @property
    def lists(self) -> list[Value]:
        """What the functions of `compositions.hashes` work on; of a set in a list these are rows, which they change."""
        parts = (self.keys, self.alive, self.codes, self.table, self.info, self.spare)
        return [one if one.row_of is None else one.row_of for one in parts]

    @property
    def held_values(self) -> Value:
        """The same for the values of a dict."""
        assert self.values is not None
        return self.values if self.values.row_of is None else self.values.row_of

    @property
    def itself(self) -> Value:
        """It, or the set in a list that it is, for what changes it."""
        return self if self.instance is None else self.instance


@dataclass(slots=True, eq=False)
class Rows:
    """Lists that change their lengths one by one. That of number k has ``sizes[k]`` elements in `pool`, from
    ``starts[k]`` on, and room for ``rooms[k]``; where that is too little, it moves to the pool's end."""

    starts: GrowingList
    sizes: GrowingList
    rooms: GrowingList
    pool: GrowingList
    kind: str = ""  # what is there: "list"s, "deque"s, what keeps its length ("tuple"s, "array"s, "text"s); nothing yet
    shared: bool = False  # some of them are views of arguments

    @property
    def lists(self) -> tuple[GrowingList, GrowingList, GrowingList, GrowingList]:
        return self.starts, self.sizes, self.rooms, self.pool


@dataclass(frozen=True, slots=True)
class Row:
    """A reference to the list of a number among `rows`; what is in it, `Context.deref` says."""

    rows: Rows
    number: Expr


class KeyedDict:
    """What dicts whose keys are known at run time are among the kinds of objects that stand in lists, as `set` is for
    sets."""


PoolKey: TypeAlias = type | tuple[str, ...]  # a class, or the keys of dicts


@dataclass(slots=True, eq=False)
class Pool:
    """The objects of a class that lists of run-time length hold: in the columns of `owner`, one for each attribute."""

    kind: type
    names: tuple[str, ...]
    owner: GrowingList
    attribute: Callable[..., Value]  # of (ctx, instance, name): what an object has in a column
    spare: GrowingList | None = None  # of sets and dicts: a list that all use while one gets another table
    like: tuple[Value | None, type | None] | None = None  # of dicts: the default and the class that all of them have

    def column(self, name: str) -> GrowingList:
        return self.owner.columns[self.names.index(name)]


@dataclass(frozen=True, slots=True)
class Instance:
    """A reference to the object of a number in a pool; what is in it, `Context.deref` says."""

    pool: Pool
    number: Expr
